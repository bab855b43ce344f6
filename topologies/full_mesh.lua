-- full_mesh.lua - a link of its own between every two devices.
--
-- The presets are round numbers and no machine's.

local options = require "soapstone.options"
local topology = require "soapstone.topology"

return function(o)
  o = options(o, {
    devices = options.count(8, { max = 3000 }), kind = "p100",
    bandwidth = options.quantity("25 GB/s", "B/s"),
    latency = options.quantity("1 us", "s"),
  })
  local t = topology.new { name = "full_mesh" }
  local devices = {}
  for d = 1, o.devices do
    devices[d] = t:device("d" .. d, { kind = o.kind, machine = 1 })
    for other = 1, d - 1 do
      t:link(devices[other], devices[d], { bandwidth = o.bandwidth, latency = o.latency })
    end
  end
  return t
end
