-- cores.lua - cores of one machine, each a device, which copy to one another: what soapstone execute and profile run on.
--
-- The presets are round numbers and no machine's.  Times of operators are measured (soapstone profile); of the peak and
-- the bandwidths here those that matter are the memory's (updates, sums, putting together) and the copies'.

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local topology = require "soapstone.topology"

return function(o)
  o = options(o, {
    devices = options.count(2, { min = 1, max = 1000 }), kind = "cpu core",
    flops = options.quantity("50 GFLOP/s", "FLOP/s", { above = 0, max = 1e18 }),
    memory_bandwidth = fabric.bandwidth("10 GB/s"),
    bandwidth = fabric.bandwidth("5 GB/s"),
    latency = fabric.latency("1 us"),
  })
  local t = topology.new { name = "cores" }
  local devices, joint = {}, fabric.cable { bandwidth = o.bandwidth, latency = o.latency }
  for d = 1, o.devices do
    devices[d] = t:device("core" .. d, { kind = o.kind, machine = 1, flops = { f32 = o.flops },
      memory_bandwidth = ("%.17g B/s"):format(o.memory_bandwidth) })
    for other = 1, d - 1 do
      t:link(devices[other], devices[d], joint)
    end
  end
  return t
end
