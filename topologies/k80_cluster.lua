-- k80_cluster.lua - machines of four K80 on two PCIe switches, joined by InfiniBand.
--
-- The second cluster of FlexFlow (Jia, Zaharia, Aiken, MLSys 2019, figure 5): 16 machines; "each of
-- two pairs of adjacent GPUs has a switch of its own; all GPUs reach the CPUs through one shared
-- switch".  Each pair shares what leads from its switch to the host, and all four the adapter.  With
-- fewer `gpus` the first ones are there, so that two are a pair.
-- The text says EDR, but 56 Gb/s is the FDR rate.  Presets:
--
--   pair        peer copies under one switch, both directions together, between 21.2 and 23.8 GB/s
--               on a machine of 4 K80 boards: 11 GB/s each way
--   host        host to device, pinned, PCIe 3.0 x16: 11.3 GB/s of 15.75
--   infiniband  FDR: 56 Gb/s on the wire, 64/66 of it data
--   latencies   FlexFlow's example of a machine file (machine_config_example, 2021): 1 us for PCIe,
--               0.507 us for a network adapter

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local topology = require "soapstone.topology"

return function(o)
  o = options(o, {
    nodes = 16, gpus = options.count(4, { min = 1, max = 4 }), kind = "k80",
    pair = fabric.bandwidth("11 GB/s"),
    host = fabric.bandwidth("11.3 GB/s"),
    infiniband = fabric.bandwidth("54.3 Gb/s"),
    pcie_latency = fabric.latency("1 us"),
    infiniband_latency = fabric.latency("507 ns"),
  })
  fabric.refuse_size(1.0 * o.nodes * o.gpus, 1.0 * o.nodes * (1 + (o.gpus + 1) // 2) + 1, 2.0 * o.nodes * (o.gpus + 3))
  local pair = fabric.cable { kind = "pcie", bandwidth = o.pair, latency = o.pcie_latency }
  local up = fabric.cable { kind = "pcie", bandwidth = o.host, latency = o.pcie_latency }
  local infiniband = fabric.cable { kind = "ib", bandwidth = o.infiniband, latency = o.infiniband_latency }

  local t = topology.new { name = "k80_cluster" }
  local network = o.nodes > 1 and t:switch "network"
  for n = 1, o.nodes do
    local host = t:switch("node" .. n .. ".host")
    for p = 1, (o.gpus + 1) // 2 do
      local switch = t:switch(("node%d.pcie%d"):format(n, p))
      t:link(switch, host, up)
      for g = 2 * p - 1, math.min(2 * p, o.gpus) do
        local gpu = t:device(("node%d.gpu%d"):format(n, g), { kind = o.kind, machine = n })
        t:link(gpu, switch, pair)
      end
    end
    if network then t:link(host, network, infiniband) end
  end
  return t
end
