-- options.lua - a table of options against a table of presets.
--
--   local o = options(o, { layers = 8, width = 4096, dtype = "bf16", residual = true })
--
-- gives back a new table with every preset that was not overridden.  A name that is not in the
-- presets is refused with the nearest one, and so is a value of another type; the error carries the
-- place in the user's script, not in the file that called this.
--
-- What a preset says about its option:
--   8        a whole number, at least 1      0        a whole number, at least 0
--   0.1      a number                        true     true or false
--   "f32"    a text                          { ... }  a table
-- A rule says more:
--   options.count(8, { min = 2, max = 64 })     options.number(0.5, { min = 0, max = 1 })
--   options.quantity("25 GB/s", "B/s")          a number, or a text with a unit; gives the number
--   options.choice("ring", { "ring", "tree" })  one of a list
--   options.any(nil)                            anything, nothing too
--   options.required "count"                    must be given: count, number, text, flag, list
--                                               or options.required("quantity", "B/s")

local soapstone = require "soapstone"

local nearest, ordered = soapstone.nearest, soapstone.pairs

-- Every refusal begins with whose options they are: "nmt: option 'batch' is 0 ...".
local whose = ""

local function refuse(format, ...)
  soapstone.refuse("%s" .. format, whose, ...)
end

local Rule = {} -- the metatable of rules: tells them from tables that are presets

local articles = {
  ["nil"] = "nothing", boolean = "a boolean", number = "a number", string = "a text",
  table = "a table", ["function"] = "a function",
}
local function kind_of(value)
  return articles[type(value)] or tostring(value)
end

local function wrong(name, wanted, value)
  refuse("option '%s' should be %s, not %s", name, wanted, kind_of(value))
end

local function bounded(name, value, r)
  if r.min and not (value >= r.min) then
    refuse("option '%s' is %s; it must be at least %s", name, value, r.min)
  elseif r.max and not (value <= r.max) then
    refuse("option '%s' is %s; it must be at most %s", name, value, r.max)
  end
  return value
end

local read = {}

function read.count(name, value, r)
  local number = value
  if type(value) == "string" then -- "4k", as the options of our C functions take it
    local ok, count = pcall(soapstone.unit.read, value, "1")
    number = ok and count or nil
  end
  if type(number) ~= "number" then wrong(name, "a whole number, such as 4000 or \"4k\"", value) end
  local whole = math.tointeger(number)
  if not whole then refuse("option '%s' is %s, which is not a whole number", name, value) end
  return bounded(name, whole, r)
end

function read.number(name, value, r)
  if type(value) ~= "number" then wrong(name, "a number", value) end
  if value ~= value then refuse("option '%s' is not a number (nan)", name) end
  return bounded(name, value, r)
end

function read.quantity(name, value, r)
  if type(value) ~= "number" and type(value) ~= "string" then
    wrong(name, ("a number or a text with its unit (%s)"):format(r.unit), value)
  end
  local ok, number = pcall(soapstone.unit.read, value, r.unit)
  if not ok then refuse("option '%s': %s", name, (number:gsub("^.-: the quantity:? ?", ""))) end
  return bounded(name, number, r)
end

function read.text(name, value)
  if type(value) ~= "string" then wrong(name, "a text", value) end
  return value
end

function read.flag(name, value)
  if type(value) ~= "boolean" then wrong(name, "true or false", value) end
  return value
end

function read.list(name, value)
  if type(value) ~= "table" then wrong(name, "a table", value) end
  return value
end

function read.choice(name, value, r)
  if type(value) ~= "string" then wrong(name, "a text", value) end
  for _, one in ipairs(r.choices) do
    if one == value then return value end
  end
  local near = nearest(value, r.choices)
  if near then refuse("option '%s' cannot be '%s'; did you mean '%s'?", name, value, near) end
  refuse("option '%s' cannot be '%s'; there are %s", name, value, table.concat(r.choices, ", "))
end

function read.any(_, value)
  return value
end

local function rule_of(preset)
  if getmetatable(preset) == Rule then return preset end
  if math.type(preset) == "integer" then
    return { kind = "count", preset = preset, min = preset >= 1 and 1 or preset == 0 and 0 or nil }
  end
  local kinds = { number = "number", string = "text", boolean = "flag", table = "list" }
  return { kind = kinds[type(preset)] or "any", preset = preset }
end

local function refuse_unknown(given, presets)
  local names = {}
  for name in ordered(presets) do names[#names + 1] = name end
  for name in ordered(given) do
    if presets[name] == nil then
      if type(name) ~= "string" then
        refuse("options have names, and there is %s without one", kind_of(given[name]))
      end
      local near = nearest(name, names)
      if near then refuse("unknown option '%s'; did you mean '%s'?", name, near) end
      refuse("unknown option '%s'; there are %s", name, table.concat(names, ", "))
    end
  end
end

local options = {}

local Listing = {} -- the metatable of what leaves a function that is only asked for its options
local listing = false

local function make(_, given, presets)
  if listing then error(setmetatable({ presets = presets }, Listing), 0) end
  local caller = debug.getinfo(2, "S")
  local file = caller and caller.source:match "^@.-([^/]+)%.lua$"
  whose = file and file .. ": " or ""
  if given ~= nil and type(given) ~= "table" then
    refuse("a table of options is expected, not %s", kind_of(given))
  end
  given = given or {}
  refuse_unknown(given, presets)
  local o = {}
  for name, preset in ordered(presets) do
    local r, value = rule_of(preset), rawget(given, name)
    if value ~= nil then
      o[name] = read[r.kind](name, value, r)
    elseif r.required then
      refuse("option '%s' is missing%s", name, r.unit and (" (%s)"):format(r.unit) or "")
    elseif r.kind == "quantity" and r.preset ~= nil then
      o[name] = soapstone.unit.read(r.preset, r.unit)
    else
      o[name] = r.preset
    end
  end
  return o
end

local function rule(kind, preset, more)
  local r = { kind = kind, preset = preset }
  for name, value in ordered(more or {}) do r[name] = value end
  return setmetatable(r, Rule)
end

function options.count(preset, bounds) return rule("count", preset, bounds) end
function options.number(preset, bounds) return rule("number", preset, bounds) end
function options.choice(preset, choices) return rule("choice", preset, { choices = choices }) end
function options.any(preset) return rule("any", preset) end

function options.quantity(preset, unit, bounds)
  local r = rule("quantity", preset, bounds)
  r.unit = unit
  return r
end

function options.required(kind, unit)
  if not read[kind] then error(("there is no kind of option '%s'"):format(kind), 2) end
  return rule(kind, nil, { required = true, unit = unit })
end

local function bounds(r)
  if r.min and r.max then return (", %s to %s"):format(r.min, r.max) end
  return r.min and ", at least " .. r.min or r.max and ", at most " .. r.max or ""
end

local says = {
  count = function(r) return "a whole number" .. bounds(r) end,
  number = function(r) return "a number" .. bounds(r) end,
  quantity = function(r) return "a quantity in " .. r.unit .. bounds(r) end,
  choice = function(r) return "one of " .. table.concat(r.choices, ", ") end,
  text = function() return "a text" end,
  flag = function() return "true or false" end,
  list = function() return "a table" end,
  any = function() return "of several kinds" end,
}

-- A line for each option that a function of options declares.  It is called with none and left at its
-- call of options(o, { ... }): what it makes is not made.
function options.help(declares)
  if type(declares) ~= "function" then
    soapstone.refuse("options.help: a function of options is needed, not %s", kind_of(declares))
  end
  listing = true
  local done, left = pcall(declares, {})
  listing = false
  if done or getmetatable(left) ~= Listing then return "" end
  local lines = {}
  for name, preset in ordered(left.presets) do
    local r = rule_of(preset)
    local unless = r.preset
    if type(unless) == "table" then unless = #unless == 0 and "{}" or "{ ... }" end
    lines[#lines + 1] = ("  %-20s %s; %s\n"):format(name, says[r.kind](r),
      r.required and "must be given" or tostring(unless) .. " unless given")
  end
  return table.concat(lines)
end

options.refuse = soapstone.refuse -- refuse(format, ...): for what only the model or topology can know

return setmetatable(options, { __call = make })
