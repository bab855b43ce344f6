-- dgx_a100.lua - DGX A100 machines: eight A100 on NVSwitch, eight HDR InfiniBand adapters.
--
--   nvlink      twelve NVLink 3, measured through the crossbar for one pair: 274 GB/s of 300
--   pcie        PCIe 4.0 x16 between GPU and adapter: 31.5 GB/s less the same 28 % that PCIe 3.0 loses
--               (11.3 of 15.75, measured), which is assumed to hold
--   infiniband  HDR, 200 Gb/s for each adapter (NVIDIA DGX A100 data sheet)
--   latencies   those of p100_cluster; the crossbar's two links take as long as one direct NVLink
--
-- How many adapters a machine has and what they lead to (nics, fabric, pod, spines, ...) is as in nvswitch.lua.

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local nvswitch = require "topologies.nvswitch"

return function(o)
  o = options(o, fabric.options {
    nodes = 1, kind = options.choice("a100", { "a100", "a100_80gb" }),
    nvlink = fabric.bandwidth("274 GB/s"),
    pcie = fabric.bandwidth("22.6 GB/s"),
    infiniband = fabric.bandwidth("200 Gb/s"),
    nvlink_latency = fabric.latency("500 ns"),
    pcie_latency = fabric.latency("1 us"),
    infiniband_latency = fabric.latency("507 ns"),
  })
  o.name = "dgx_a100"
  return nvswitch(o)
end
