-- plot.lua - soapstone plot: a figure from a record.

local soapstone = require "soapstone"

local given = ...
local kind, path = given[1], given[2]

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

local out = last "output" or kind .. ".svg"
local width = last "width"
draw(path, out, {
  timeline = last "timeline", from = last "from", to = last "to",
  width = width and (tonumber(width) or width),
})
print(out)
