-- trace.lua - soapstone trace: how long operators took in a trace of PyTorch's profiler.

local soapstone = require "soapstone"

local given = ...
local parts = require "scripts.lua.commands.parts".of(given)
local last, count = parts.last, parts.count

local output, rows = last "profile", count "top"
if not output then
  for _, name in ipairs { "add", "kind" } do
    if given[name] then soapstone.refuse("--%s is for what is written: give --profile FILE.h5 too", name) end
  end
end

local function there(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

local trace = soapstone.trace.read(given[1])
local profile = output and trace:profile { kind = last "kind" }
local new, known = profile and #profile, nil
if profile then
  known = given.add and there(output) and soapstone.profile.read(output) or nil
  if known then profile = soapstone.profile.merge { known, profile } end
  profile:write(output)
end
io.write((given.json and trace:json() or trace:text(rows)))
if given.json or not profile then return end
print(("written: %s, %d time%s of %s%s"):format(output, new, new == 1 and "" or "s", profile.device,
  known and (", %d known before"):format(#known) or ""))
