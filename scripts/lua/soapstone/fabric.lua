-- fabric.lua - networks of switches in levels: what several topologies have in common.
--
--   local fabric = require "soapstone.fabric"
--   o = options(o, fabric.options { nodes = 2, kind = "a100" })   -- and those of machines on a network
--   fabric.join(t, leaves, spines, { bandwidth = fabric.share(sum, #spines, o.oversubscription) })

local options = require "soapstone.options"

local fabric = {}

-- What a topology may have (graph/topology.h): beyond it the core refuses, after all that is below it was made.
local most = { devices = 1000000, switches = 1000000, links = 10000000 }

-- Refuses counts that are too great before anything is made.  They are floats, since products of whole numbers wrap;
-- links are counted once for each direction.
function fabric.refuse_size(devices, switches, links)
  local counts = { devices = devices, switches = switches, links = links }
  for _, what in ipairs { "devices", "switches", "links" } do
    if not (counts[what] <= most[what]) then
      options.refuse("this topology would have %.10g %s; there are at most %d", counts[what], what, most[what])
    end
  end
end

-- Options that are figures of links, with the bounds that t:link has: they are refused where nothing uses them too.
function fabric.bandwidth(preset)
  return options.quantity(preset, "B/s", { above = 0, max = 1e18, slip = "bandwidth", required = preset == nil })
end

function fabric.latency(preset)
  return options.quantity(preset, "s", { min = 0, max = 1e6, slip = "latency", required = preset == nil })
end

-- What t:link takes, of figures that were read already: with their units, so that 25 B/s are no slip for 25 GB/s.
function fabric.cable(joint)
  local copy = {}
  for name, value in pairs(joint) do copy[name] = value end
  copy.bandwidth, copy.latency = ("%.17g B/s"):format(joint.bandwidth), ("%.17g s"):format(joint.latency or 0)
  return copy
end

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
  for key in pairs(value) do
    if math.type(key) ~= "integer" or key < 1 or key > #value then
      options.refuse("option '%s' should be one value, or a list with a value for each level; it has '%s' in it", name, key)
    end
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

function fabric.seconds(name, value)
  return options.value(name, value, fabric.latency())
end

-- The options of machines on a network, added to others.
function fabric.options(presets)
  presets.nics = options.count(nil, { min = 1, unless = "as many as GPUs unless given" })
  presets.fabric = options.choice("switch", { "switch", "leaves", "rails" })
  presets.pod = options.count(8, { min = 1 })
  presets.spines = options.count(4, { min = 0 })
  presets.oversubscription = options.number(1, { min = 1e-3, max = 1e6 })
  presets.relay = false
  presets.routing = options.choice(nil, { "shortest", "ecmp" }, "shortest for one switch, ecmp for leaves and rails, unless given")
  presets.routing_seed = 0
  return presets
end

return fabric
