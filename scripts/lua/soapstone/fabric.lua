-- fabric.lua - networks of switches in levels: what several topologies have in common.
--
--   local fabric = require "soapstone.fabric"
--   o = options(o, fabric.options { nodes = 2, kind = "a100" })   -- and those of machines on a network
--   fabric.join(t, leaves, spines, { bandwidth = fabric.share(sum, #spines, o.oversubscription) })

local options = require "soapstone.options"

local fabric = {}

-- Each of `below` with each of `above`.
function fabric.join(t, below, above, joint)
  for _, lower in ipairs(below) do
    for _, upper in ipairs(above) do t:link(lower, upper, joint) end
  end
end

-- What each of `ways` up carries if all together carry what comes from below, over the oversubscription.
function fabric.share(below, ways, oversubscription)
  return below / (ways * oversubscription)
end

-- An option that is one value for all levels, or a list with a value for each: the list.
function fabric.by_level(name, value, levels, read)
  if type(value) ~= "table" then
    local list, one = {}, read(name, value)
    for l = 1, levels do list[l] = one end
    return list
  end
  if #value ~= levels then
    options.refuse("option '%s' has %d values; there are %d levels between the leaves and the top", name, #value, levels)
  end
  local list = {}
  for l = 1, levels do list[l] = read(("%s[%d]"):format(name, l), value[l]) end
  return list
end

function fabric.factor(name, value)
  if type(value) ~= "number" then
    options.refuse("option '%s' should be a number, or a list with a number for each level, not %s", name, type(value))
  end
  if not (value >= 1e-3 and value <= 1e6) then
    options.refuse("option '%s' is %s; it must be between 0.001 and 1e6 (1 never blocks)", name, value)
  end
  return value
end

-- The options of machines on a network, added to others.
function fabric.options(presets)
  presets.nics = options.count(nil, { min = 1 })
  presets.fabric = options.choice("switch", { "switch", "leaves", "rails" })
  presets.pod = options.count(8, { min = 1 })
  presets.spines = options.count(4, { min = 0 })
  presets.oversubscription = options.number(1, { min = 1e-3, max = 1e6 })
  presets.relay = false
  presets.routing = options.choice(nil, { "shortest", "ecmp" })
  presets.routing_seed = 0
  return presets
end

return fabric
