-- dgx1_v100.lua - DGX-1 machines: eight V100 in a hybrid cube mesh of NVLinks, joined by InfiniBand.
--
-- Every GPU has six NVLinks; some neighbours are joined by two of them, which copies use together, so
-- they are one link of twice the bandwidth.  The table of links is what nvidia-smi prints on such a
-- machine.  GPUs without a common NVLink reach each other over PCIe and the hosts, or, with relay =
-- true, through the GPU in between, as collective libraries do.  Two GPUs share a PCIe switch and an
-- EDR adapter; two switches share a processor; QPI joins the two processors.
--
--   nvlink      one NVLink 2, measured on a DGX-1: 48.5 GB/s both ways together (two: 96.9)
--   pcie        host to device, pinned, PCIe 3.0 x16: 11.3 GB/s of 15.75
--   qpi         two links of 9.6 GT/s at 2 bytes: 19.2 GB/s each (Intel Xeon E5-2698 v4)
--   infiniband  EDR, 100 Gb/s of data, four adapters
--   latencies   FlexFlow's example of a machine file (machine_config_example, 2021): 1 us for NVLink
--               and PCIe, 0.4 us between processors, 0.507 us for a network adapter

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local topology = require "soapstone.topology"

-- NVLinks between GPUs i and k: cube[i][k] of them.
local cube = {
  { [2] = 1, [3] = 1, [4] = 2, [5] = 2 },
  { [3] = 2, [4] = 1, [6] = 2 },
  { [4] = 2, [7] = 1 },
  { [8] = 1 },
  { [6] = 1, [7] = 1, [8] = 2 },
  { [7] = 2, [8] = 1 },
  { [8] = 2 },
  {},
}

return function(o)
  o = options(o, {
    nodes = 1, kind = "v100", relay = false,
    nvlink = fabric.bandwidth("24.2 GB/s"),
    pcie = fabric.bandwidth("11.3 GB/s"),
    qpi = fabric.bandwidth("38.4 GB/s"),
    infiniband = fabric.bandwidth("100 Gb/s"),
    nvlink_latency = fabric.latency("1 us"),
    pcie_latency = fabric.latency("1 us"),
    qpi_latency = fabric.latency("400 ns"),
    infiniband_latency = fabric.latency("507 ns"),
  })
  fabric.refuse_size(8.0 * o.nodes, 6.0 * o.nodes + 1, 2 * 33.0 * o.nodes)
  local pcie = fabric.cable { kind = "pcie", bandwidth = o.pcie, latency = o.pcie_latency }
  local qpi = fabric.cable { kind = "qpi", bandwidth = o.qpi, latency = o.qpi_latency }
  local nvlink = {}
  for links = 1, 2 do
    nvlink[links] = fabric.cable { kind = "nvlink", bandwidth = links * o.nvlink, latency = o.nvlink_latency }
  end
  -- Weight 2: inside a machine the way over both processors has fewer links than that over the
  -- network only if the network's count more.
  local infiniband = fabric.cable { kind = "ib", bandwidth = o.infiniband, latency = o.infiniband_latency, weight = 2 }

  local t = topology.new { name = "dgx1_v100" }
  local network = o.nodes > 1 and t:switch "network"

  local function hosts(n)
    local cpus, switches = {}, {}
    for c = 1, 2 do cpus[c] = t:switch(("node%d.cpu%d"):format(n, c)) end
    t:link(cpus[1], cpus[2], qpi)
    for p = 1, 4 do
      switches[p] = t:switch(("node%d.pcie%d"):format(n, p))
      t:link(switches[p], cpus[(p + 1) // 2], pcie)
      if network then t:link(switches[p], network, infiniband) end
    end
    return switches
  end

  for n = 1, o.nodes do
    local switches, gpus = hosts(n), {}
    for g = 1, 8 do
      gpus[g] = t:device(("node%d.gpu%d"):format(n, g),
        { kind = o.kind, machine = n, forwards = o.relay })
      t:link(gpus[g], switches[(g + 1) // 2], pcie)
    end
    for i = 1, 8 do
      for k = i + 1, 8 do
        local links = cube[i][k]
        if links then
          t:link(gpus[i], gpus[k], nvlink[links])
        end
      end
    end
  end
  return t
end
