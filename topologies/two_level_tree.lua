-- two_level_tree.lua - racks of devices, each rack with a switch, the switches joined by one more.
--
-- A rack's uplink carries what all its devices can send, divided by `oversubscription`: 1 never
-- blocks, 4 leaves a quarter to each device when all of them talk to other racks.  A rack is a
-- machine.  The presets are round numbers and no machine's.

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local topology = require "soapstone.topology"

return function(o)
  o = options(o, {
    racks = 4, devices = 8, kind = "p100",
    oversubscription = options.number(1, { min = 1e-3, max = 1e6 }),
    bandwidth = fabric.bandwidth("12.5 GB/s"),
    latency = fabric.latency("1 us"),
    uplink_latency = fabric.latency("1 us"),
  })
  local t = topology.new { name = "two_level_tree" }
  fabric.refuse_size(1.0 * o.racks * o.devices, o.racks + 1.0, 2.0 * o.racks * (o.devices + 1.0))
  local leg = fabric.cable { bandwidth = o.bandwidth, latency = o.latency }
  local up = fabric.cable { bandwidth = fabric.share(o.bandwidth * o.devices, 1, o.oversubscription),
    latency = o.uplink_latency }
  local root = o.racks > 1 and t:switch "root"
  for r = 1, o.racks do
    local switch = t:switch("rack" .. r)
    for d = 1, o.devices do
      local device = t:device(("rack%d.d%d"):format(r, d), { kind = o.kind, machine = r })
      t:link(device, switch, leg)
    end
    if root then t:link(switch, root, up) end
  end
  return t
end
