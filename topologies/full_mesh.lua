-- full_mesh.lua - a link of its own between every two devices.
--
-- The presets are round numbers and no machine's.

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local topology = require "soapstone.topology"

return function(o)
  o = options(o, {
    devices = options.count(8, { max = 3000 }), kind = "p100",
    bandwidth = fabric.bandwidth("25 GB/s"),
    latency = fabric.latency("1 us"),
  })
  local t = topology.new { name = "full_mesh" }
  local devices, joint = {}, fabric.cable { bandwidth = o.bandwidth, latency = o.latency }
  for d = 1, o.devices do
    devices[d] = t:device("d" .. d, { kind = o.kind, machine = 1 })
    for other = 1, d - 1 do
      t:link(devices[other], devices[d], joint)
    end
  end
  return t
end
