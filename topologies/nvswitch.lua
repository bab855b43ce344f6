-- nvswitch.lua - machines whose GPUs meet in one crossbar, each GPU with a network adapter of its own.
--
-- The crossbar (a set of NVSwitch chips) never blocks, so a GPU's own NVLinks are all that is shared.
-- Between machines a transfer goes GPU, adapter, network, adapter, GPU without touching the hosts; the
-- network is one switch, as a fat tree without oversubscription behaves.  dgx_a100 and hgx_h100 are
-- this with their figures.

local options = require "soapstone.options"
local topology = require "soapstone.topology"

return function(o)
  o = options(o, {
    name = "nvswitch", nodes = 1, gpus = 8, kind = options.required "text",
    nvlink = options.required("quantity", "B/s"),
    pcie = options.required("quantity", "B/s"),
    infiniband = options.required("quantity", "B/s"),
    nvlink_latency = options.required("quantity", "s"),
    pcie_latency = options.required("quantity", "s"),
    infiniband_latency = options.required("quantity", "s"),
  })
  local nvlink = { kind = "nvlink", bandwidth = o.nvlink, latency = o.nvlink_latency }
  local pcie = { kind = "pcie", bandwidth = o.pcie, latency = o.pcie_latency }
  local infiniband = { kind = "ib", bandwidth = o.infiniband, latency = o.infiniband_latency }

  local t = topology.new { name = o.name }
  local network = o.nodes > 1 and t:switch "network"
  for n = 1, o.nodes do
    local crossbar = t:switch(("node%d.nvswitch"):format(n))
    for g = 1, o.gpus do
      local gpu = t:device(("node%d.gpu%d"):format(n, g), { kind = o.kind, machine = n })
      t:link(gpu, crossbar, nvlink)
      if network then
        local adapter = t:switch(("node%d.nic%d"):format(n, g))
        t:link(gpu, adapter, pcie)
        t:link(adapter, network, infiniband)
      end
    end
  end
  return t
end
