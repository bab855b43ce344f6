-- star.lua - devices around one switch that never blocks: what each can send and receive is all.
--
-- The presets are round numbers and no machine's.  duplex = "half" makes of each cable a bus.

local options = require "soapstone.options"
local topology = require "soapstone.topology"

return function(o)
  o = options(o, {
    devices = options.count(8, { max = 1000000 }), kind = "p100", duplex = options.choice("full", { "full", "half" }),
    bandwidth = options.quantity("25 GB/s", "B/s"),
    latency = options.quantity("1 us", "s"),
  })
  local t = topology.new { name = "star" }
  local switch = t:switch "switch"
  for d = 1, o.devices do
    local device = t:device("d" .. d, { kind = o.kind, machine = 1 })
    t:link(device, switch, { bandwidth = o.bandwidth, latency = o.latency, duplex = o.duplex })
  end
  return t
end
