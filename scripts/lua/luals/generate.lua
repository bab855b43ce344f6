-- generate.lua - writes operators.lua beside this file from the table of operator kinds:
--
--   soapstone run scripts/lua/luals/generate.lua > scripts/lua/luals/operators.lua

local model = require "soapstone.model"

local pairs_of = { "kernel", "stride", "padding", "factor" }

local function type_of(a)
  if not a.choices then return "integer" end
  if a.choices == "bool" then return "boolean" end
  return '"' .. a.choices:gsub("|", '"|"') .. '"'
end

local function preset_of(a)
  if a.required then return "" end
  return ("; %s unless given"):format(a.preset)
end

local function field(name, optional, kind, help)
  print(("---@field %s%s %s %s"):format(name, optional and "?" or "", kind, help))
end

local function options_of(kind)
  print(("---@class soapstone.%s_options"):format(kind.name))
  local there = {}
  for _, a in ipairs(kind.attributes) do there[a.name] = true end
  for _, stem in ipairs(pairs_of) do
    if there[stem .. "_h"] and there[stem .. "_w"] then
      field(stem, true, "integer|integer[]", "both, or { h, w }")
    end
  end
  for _, a in ipairs(kind.attributes) do
    local half = a.name:match "^(%a+)_[hw]$"
    local paired = half and there[half .. "_h"] and there[half .. "_w"]
    field(a.name, not a.required or paired, type_of(a), a.help .. preset_of(a))
  end
  field("share", true, "string", "operators with one label share their weights")
  field("layer", true, "integer", "for grouping and placement")
end

print [[
---@meta
-- Written by generate.lua; a test holds it equal to what that writes.

---@class soapstone.model
local model = {}]]

for _, kind in ipairs(model.kinds()) do
  print()
  options_of(kind)
  print()
  print("---" .. kind.summary)
  print "---@param name string"
  print(kind.max_inputs == 1 and "---@param input soapstone.tensor"
    or "---@param input soapstone.tensor|soapstone.tensor[]")
  print(("---@param options? soapstone.%s_options"):format(kind.name))
  print "---@return soapstone.tensor ..."
  print(("function model:%s(name, input, options) end"):format(kind.name))
end
