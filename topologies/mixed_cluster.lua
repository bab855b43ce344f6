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

local options = require "soapstone.options"
local topology = require "soapstone.topology"

local function machine_of(given, n, o)
  if type(given) ~= "table" then
    options.refuse("option 'machines': machine %d should be a table { kind =, devices = }", n)
  end
  return options(given, {
    kind = options.required "text", devices = 1, speed = options.number(1, { min = 1e-6, max = 1e6 }),
    inside = options.quantity(o.inside, "B/s"), network = options.quantity(o.network, "B/s"),
  })
end

return function(o)
  o = options(o, {
    machines = { { kind = "v100", devices = 4 }, { kind = "p100", devices = 4 } },
    inside = options.quantity("11.3 GB/s", "B/s"),
    network = options.quantity("9 Gb/s", "B/s"),
    inside_latency = options.quantity("1 us", "s"),
    network_latency = options.quantity("15 us", "s"),
  })
  if #o.machines == 0 then options.refuse "option 'machines' is empty" end
  local t = topology.new { name = "mixed_cluster" }
  local network = #o.machines > 1 and t:switch "network"
  for n, given in ipairs(o.machines) do
    local m = machine_of(given, n, o)
    local host = t:switch(("node%d.host"):format(n))
    for d = 1, m.devices do
      local device = t:device(("node%d.%s-%d"):format(n, m.kind, d),
        { kind = m.kind, machine = n, speed = m.speed })
      t:link(device, host, { kind = "pcie", bandwidth = m.inside, latency = o.inside_latency })
    end
    if network then
      t:link(host, network, { kind = "ethernet", bandwidth = m.network,
        latency = o.network_latency })
    end
  end
  return t
end
