-- plot.lua - soapstone plot: a figure from a record, or from logs of searches.

local soapstone = require "soapstone"

local given = ...
local kind = given[1]

local function last(name)
  return given[name] and given[name][#given[name]]
end

local draw = rawget(soapstone.plot, kind)
if not draw then
  local kinds = {}
  for name in pairs(soapstone.plot) do kinds[#kinds + 1] = name end
  local near = soapstone.nearest(kind, kinds)
  soapstone.refuse("there is no figure '%s'; %s", kind,
    near and ("did you mean '%s'?"):format(near) or "there are " .. table.concat(kinds, ", "))
end

-- What only some figures take: the options of the command that go with each kind.
local step = { timeline = true, from = true, to = true }
local search = { x = true, log = true, window = true, several = true }
local takes = { gantt = step, links = step, memory = step, search = search, acceptance = search }
for _, name in ipairs { "timeline", "from", "to", "x", "log", "window" } do
  if given[name] and not takes[kind][name] then
    soapstone.refuse("--%s does not go with a figure of kind %s", name, kind)
  end
end
if #given > 2 and not takes[kind].several then
  soapstone.refuse("plot has nothing to do with '%s': a figure of kind %s is of one file", given[3], kind)
end

local function number(name)
  return tonumber(last(name)) or last(name)
end

local out = last "output" or kind .. ".svg"
local files = { table.unpack(given, 2) }
draw(takes[kind].several and files or files[1], out, {
  timeline = last "timeline", from = last "from", to = last "to", x = last "x", log = last "log",
  window = math.tointeger(number "window") or number "window", width = number "width",
})
print(out)
