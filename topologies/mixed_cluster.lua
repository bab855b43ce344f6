-- mixed_cluster.lua - machines of different devices on one network: heterogeneous clusters.
--
--   require "topologies.mixed_cluster" {
--     machines = { { kind = "v100", devices = 4 }, { kind = "p100", devices = 4, speed = 0.9 } } }
--
-- Inside a machine every two devices are joined through its host; each machine has one way to the
-- network.  A machine may say `inside` and `network` for itself.
--
--   inside      host to device, pinned, PCIe 3.0 x16: 11.3 GB/s of 15.75, measured
--   network     10 Gb/s Ethernet, a tenth less for its headers (assumed)
--   latencies   1 us for PCIe (FlexFlow's machine_config_example, 2021); 15 us for Ethernet (assumed)

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local topology = require "soapstone.topology"

local function machine_of(given, n, o)
  if type(given) ~= "table" then
    options.refuse("option 'machines': machine %d should be a table { kind =, devices = }", n)
  end
  return options(given, {
    kind = options.required "text", devices = 1, speed = options.number(1, { min = 1e-6, max = 1e6 }),
    inside = fabric.bandwidth(o.inside), network = fabric.bandwidth(o.network),
  })
end

return function(o)
  o = options(o, {
    machines = { { kind = "v100", devices = 4 }, { kind = "p100", devices = 4 } },
    inside = fabric.bandwidth("11.3 GB/s"),
    network = fabric.bandwidth("9 Gb/s"),
    inside_latency = fabric.latency("1 us"),
    network_latency = fabric.latency("15 us"),
  })
  if #o.machines == 0 then options.refuse "option 'machines' is empty" end
  local machines, devices = {}, 0.0
  for n, given in ipairs(o.machines) do
    machines[n] = machine_of(given, n, o)
    devices = devices + machines[n].devices
  end
  fabric.refuse_size(devices, #machines + 1.0, 2 * (devices + #machines))
  local t = topology.new { name = "mixed_cluster" }
  local network = #o.machines > 1 and t:switch "network"
  for n, m in ipairs(machines) do
    local leg = fabric.cable { kind = "pcie", bandwidth = m.inside, latency = o.inside_latency }
    local host = t:switch(("node%d.host"):format(n))
    for d = 1, m.devices do
      local device = t:device(("node%d.%s-%d"):format(n, m.kind, d),
        { kind = m.kind, machine = n, speed = m.speed })
      t:link(device, host, leg)
    end
    if network then
      t:link(host, network,
        fabric.cable { kind = "ethernet", bandwidth = m.network, latency = o.network_latency })
    end
  end
  return t
end
