-- hgx_h100.lua - HGX H100 machines: eight H100 on NVSwitch, eight NDR InfiniBand adapters.
--
--   nvlink      eighteen NVLink 4, measured through the crossbar for one pair: 376 GB/s of 450
--   pcie        PCIe 5.0 x16 between GPU and adapter: 63 GB/s less the same 28 % that PCIe 3.0 loses
--               (11.3 of 15.75, measured), which is assumed to hold
--   infiniband  NDR, 400 Gb/s for each adapter (NVIDIA DGX H100 data sheet)
--   latencies   those of p100_cluster; the crossbar's two links take as long as one direct NVLink
--
-- How many adapters a machine has and what they lead to (nics, fabric, pod, spines, ...) is as in nvswitch.lua.

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local nvswitch = require "topologies.nvswitch"

return function(o)
  o = options(o, fabric.options {
    nodes = 1, kind = "h100",
    nvlink = fabric.bandwidth("376 GB/s"),
    pcie = fabric.bandwidth("45.2 GB/s"),
    infiniband = fabric.bandwidth("400 Gb/s"),
    nvlink_latency = fabric.latency("500 ns"),
    pcie_latency = fabric.latency("1 us"),
    infiniband_latency = fabric.latency("507 ns"),
  })
  o.name = "hgx_h100"
  return nvswitch(o)
end
