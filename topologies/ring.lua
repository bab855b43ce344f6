-- ring.lua - devices in a circle, each joined to the next; they forward for one another.
--
-- The presets are round numbers and no machine's.  With one_way = true messages go round in one
-- direction only.

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local topology = require "soapstone.topology"

return function(o)
  o = options(o, {
    devices = options.count(8, { min = 2, max = 1000000 }), kind = "p100", one_way = false,
    bandwidth = fabric.bandwidth("25 GB/s"),
    latency = fabric.latency("1 us"),
  })
  local t = topology.new { name = "ring" }
  local devices = {}
  for d = 1, o.devices do
    devices[d] = t:device("d" .. d, { kind = o.kind, machine = 1, forwards = true })
  end
  local joint = fabric.cable { bandwidth = o.bandwidth, latency = o.latency,
    duplex = o.one_way and "one_way" or "full" }
  -- Two devices are neighbours once, not on both sides.
  local joints = (o.devices == 2 and not o.one_way) and 1 or o.devices
  for d = 1, joints do t:link(devices[d], devices[d % o.devices + 1], joint) end
  return t
end
