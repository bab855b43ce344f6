-- p100_cluster.lua - machines of four P100 with an NVLink between every two, joined by InfiniBand.
--
-- The first cluster of FlexFlow (Jia, Zaharia, Aiken, MLSys 2019, figure 5): 4 machines, 100 Gb/s
-- EDR.  The paper gives no bandwidth of NVLink or PCIe and no latency; the presets are measurements:
--
--   nvlink      one NVLink 1 between two P100 SXM2 of a Dell C4130: 18.31 GB/s of 20
--   pcie        host to device, pinned, PCIe 3.0 x16: 11.3 GB/s of 15.75
--   infiniband  EDR, 100 Gb/s of data
--   latencies   FlexFlow's example of a machine file (machine_config_example, 2021): 1 us for NVLink
--               and PCIe, 0.507 us for a network adapter
--
-- A transfer between machines goes GPU, host, switch, host, GPU; GPUs do not forward.

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local topology = require "soapstone.topology"

return function(o)
  o = options(o, {
    nodes = 4, gpus = 4, kind = "p100",
    nvlink = fabric.bandwidth("18.3 GB/s"),
    pcie = fabric.bandwidth("11.3 GB/s"),
    infiniband = fabric.bandwidth("100 Gb/s"),
    nvlink_latency = fabric.latency("1 us"),
    pcie_latency = fabric.latency("1 us"),
    infiniband_latency = fabric.latency("507 ns"),
  })
  fabric.refuse_size(1.0 * o.nodes * o.gpus, 1.0 * o.nodes + 1, 2.0 * o.nodes * (1 + o.gpus * (o.gpus + 1.0) / 2))
  local nvlink = fabric.cable { kind = "nvlink", bandwidth = o.nvlink, latency = o.nvlink_latency }
  local pcie = fabric.cable { kind = "pcie", bandwidth = o.pcie, latency = o.pcie_latency }
  local infiniband = fabric.cable { kind = "ib", bandwidth = o.infiniband, latency = o.infiniband_latency }

  local t = topology.new { name = "p100_cluster" }
  local network = o.nodes > 1 and t:switch "network"
  for n = 1, o.nodes do
    local host = t:switch("node" .. n .. ".host")
    local gpus = {}
    for g = 1, o.gpus do
      gpus[g] = t:device(("node%d.gpu%d"):format(n, g), { kind = o.kind, machine = n })
      for other = 1, g - 1 do t:link(gpus[other], gpus[g], nvlink) end
      t:link(gpus[g], host, pcie)
    end
    if network then t:link(host, network, infiniband) end
  end
  return t
end
