-- rail_pods.lua - rail-optimised pods: the first GPUs of a pod's machines meet in the first switch, and so on.
--
--   require "topologies.rail_pods" { pods = 4, nodes = 32 }         -- 1024 GPUs: 8 rails in each of 4 pods
--   require "topologies.rail_pods" { pods = 1, spines = 0, relay = true }
--
-- GPUs of one place in their machines are two switches' links apart in a pod (GPU, adapter, rail, adapter, GPU);
-- what is for another rail or pod crosses a spine, or, with relay = true, changes rails over NVLink inside a
-- machine, as communication libraries do.  `nodes` are the machines of a pod; the presets are those of hgx_h100,
-- and a rail switch with 64 ports of 400 Gb/s (NVIDIA Quantum-2) takes 32 machines and as many ways up.

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local nvswitch = require "topologies.nvswitch"

return function(o)
  o = options(o, {
    pods = 2, nodes = 4, gpus = 8, kind = "h100",
    spines = options.count(4, { min = 0 }),
    oversubscription = options.number(1, { min = 1e-3, max = 1e6 }), relay = false,
    nvlink = fabric.bandwidth("376 GB/s"),
    pcie = fabric.bandwidth("45.2 GB/s"),
    infiniband = fabric.bandwidth("400 Gb/s"),
    nvlink_latency = fabric.latency("500 ns"),
    pcie_latency = fabric.latency("1 us"),
    infiniband_latency = fabric.latency("507 ns"),
    routing = options.choice("ecmp", { "shortest", "ecmp" }), routing_seed = 0,
  })
  o.name, o.fabric, o.pod = "rail_pods", "rails", o.nodes
  fabric.refuse_size(1.0 * o.nodes * o.pods * o.gpus, 1.0 * o.nodes * o.pods, 0)
  o.nodes, o.pods = o.nodes * o.pods, nil
  return nvswitch(o)
end
