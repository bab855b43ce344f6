-- star.lua - devices around one switch that never blocks: what each can send and receive is all.
--
-- The presets are round numbers and no machine's.  duplex = "half" makes of each cable a bus.

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local topology = require "soapstone.topology"

return function(o)
  o = options(o, {
    devices = options.count(8, { max = 1000000 }), kind = "p100", duplex = options.choice("full", { "full", "half" }),
    bandwidth = fabric.bandwidth("25 GB/s"),
    latency = fabric.latency("1 us"),
  })
  local t = topology.new { name = "star" }
  local switch = t:switch "switch"
  local cable = fabric.cable { bandwidth = o.bandwidth, latency = o.latency, duplex = o.duplex }
  for d = 1, o.devices do
    local device = t:device("d" .. d, { kind = o.kind, machine = 1 })
    t:link(device, switch, cable)
  end
  return t
end
