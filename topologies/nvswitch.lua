-- nvswitch.lua - machines whose GPUs meet in one crossbar, with network adapters of their own or shared.
--
-- The crossbar (a set of NVSwitch chips) never blocks, so a GPU's own NVLinks are all that is shared.
-- Between machines a transfer goes GPU, adapter, network, adapter, GPU without touching the hosts.
-- dgx_a100 and hgx_h100 are this with their figures, rail_pods with rails.
--
--   nics    adapters of a machine, as many as GPUs unless given.  Fewer are shared by neighbouring GPUs: an
--           adapter is a switch with one link to the network.  Of more, each GPU has several.
--   fabric  "switch"  one switch, as a fat tree without oversubscription behaves
--           "leaves"  a leaf for every `pod` machines, which have all their adapters there, and `spines`
--           "rails"   in every `pod` machines the first adapters meet in the first leaf, the second ones in the
--                     second, and so on, and all leaves in `spines`
--   oversubscription  a leaf's ways to the spines carry what its adapters do, divided by this
--   relay   GPUs pass on for those of their machine: what is for another rail changes over NVLink, before or
--           after the network (as communication libraries do), and `spines = 0` leaves rails alone
--   routing "shortest" for one switch, "ecmp" for leaves and rails, unless given

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local topology = require "soapstone.topology"

local function refuse_shape(o)
  if o.gpus % o.nics ~= 0 and o.nics % o.gpus ~= 0 then
    options.refuse("option 'nics': %d adapters cannot be shared evenly by %d GPUs", o.nics, o.gpus)
  end
  if o.relay and o.fabric ~= "rails" then
    options.refuse "option 'relay' is for fabric = \"rails\": on one switch or leaf every GPU reaches all others"
  end
  local pods = (o.nodes + o.pod - 1) // o.pod
  if o.fabric == "switch" or o.spines > 0 then return end
  if pods > 1 then
    options.refuse("option 'spines' is 0, and %d pods of %d machines need some between them", pods, o.pod)
  elseif o.fabric == "rails" and not o.relay and o.nics > 1 then
    options.refuse "option 'spines' is 0, which leaves rails apart; relay = true lets GPUs pass on between them"
  end
end

-- Where adapter n of a machine goes into the network: a function of both.  The leaves are made as they are needed.
local function network_of(t, o)
  if o.fabric == "switch" then
    local network = t:switch "network"
    return function() return network end
  end
  local rails = o.fabric == "rails"
  local leaves, spines = {}, {}
  local pods = (o.nodes + o.pod - 1) // o.pod
  local several = pods > 1 or (rails and o.nics > 1)
  for s = 1, several and o.spines or 0 do spines[s] = t:switch("spine" .. s) end
  local down = o.infiniband * o.pod * (rails and 1 or o.nics)
  local up = { kind = "ib", latency = o.infiniband_latency, weight = o.relay and 2 or 1,
    bandwidth = #spines > 0 and fabric.share(down, #spines, o.oversubscription) or 1 }
  return function(machine, adapter)
    local pod = (machine - 1) // o.pod + 1
    local name = rails and ("pod%d.rail%d"):format(pod, adapter) or "leaf" .. pod
    if not leaves[name] then
      leaves[name] = t:switch(name)
      fabric.join(t, { leaves[name] }, spines, up)
    end
    return leaves[name]
  end
end

return function(o)
  o = options(o, fabric.options {
    name = "nvswitch", nodes = 1, gpus = 8, kind = options.required "text",
    nvlink = options.required("quantity", "B/s"),
    pcie = options.required("quantity", "B/s"),
    infiniband = options.required("quantity", "B/s"),
    nvlink_latency = options.required("quantity", "s"),
    pcie_latency = options.required("quantity", "s"),
    infiniband_latency = options.required("quantity", "s"),
  })
  o.nics = o.nics or o.gpus
  refuse_shape(o)
  local nvlink = { kind = "nvlink", bandwidth = o.nvlink, latency = o.nvlink_latency }
  -- Over an adapter that two GPUs share there is a way between them with as few links as over the crossbar.
  local pcie = { kind = "pcie", bandwidth = o.pcie, latency = o.pcie_latency,
    weight = o.nics < o.gpus and 2 or 1 }
  local infiniband = { kind = "ib", bandwidth = o.infiniband, latency = o.infiniband_latency }

  local t = topology.new { name = o.name, routing_seed = o.routing_seed,
    routing = o.routing or (o.fabric == "switch" and "shortest" or "ecmp") }
  local entry = o.nodes > 1 and network_of(t, o)
  for n = 1, o.nodes do
    local crossbar, adapters = t:switch(("node%d.nvswitch"):format(n)), {}
    local function join(gpu, i)
      local first = not adapters[i]
      if first then adapters[i] = t:switch(("node%d.nic%d"):format(n, i)) end
      t:link(gpu, adapters[i], pcie)
      if first then t:link(adapters[i], entry(n, i), infiniband) end
    end
    for g = 1, o.gpus do
      local gpu = t:device(("node%d.gpu%d"):format(n, g),
        { kind = o.kind, machine = n, forwards = o.relay })
      t:link(gpu, crossbar, nvlink)
      if entry then
        local first = (g - 1) * o.nics // o.gpus + 1
        for i = first, math.max(first, g * o.nics // o.gpus) do join(gpu, i) end
      end
    end
  end
  return t
end
