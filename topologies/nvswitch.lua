-- nvswitch.lua - machines whose GPUs meet in one crossbar, with network adapters of their own or shared.
--
-- The crossbar (a set of NVSwitch chips) never blocks, so a GPU's own NVLinks are all that is shared.
-- Between machines a transfer goes GPU, adapter, network, adapter, GPU without touching the hosts.
-- dgx_a100 and hgx_h100 are this with their figures, rail_pods with rails.
--
--   nics    adapters of a machine, as many as GPUs unless given.  Fewer are shared by neighbouring GPUs: an
--           adapter is a switch with one link to the network.  Of more, each GPU has several, over which
--           its partners spread (routing "ecmp")
--   fabric  "switch"  one switch, as a fat tree without oversubscription behaves
--           "leaves"  a leaf for every `pod` machines, which have all their adapters there, and `spines`
--           "rails"   in every `pod` machines the first adapters meet in the first leaf, the second ones in the
--                     second, and so on, and all leaves in `spines`
--   oversubscription  a leaf's ways to the spines carry what its adapters do, divided by this
--   relay   GPUs pass on for those of their machine: what is for another rail changes over NVLink, before or
--           after the network (as communication libraries do), and `spines = 0` leaves rails alone
--   routing "shortest" for one switch and at most one adapter a GPU, else "ecmp", unless given

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local topology = require "soapstone.topology"

-- Options that do nothing on this fabric are refused: who gives them means something else.
local function refuse_idle(o)
  for _, name in ipairs { "pod", "spines", "oversubscription" } do
    if o.fabric == "switch" and options.is_given(o, name) then
      options.refuse("option '%s' is for fabric = \"leaves\" or \"rails\": one switch has no leaves", name)
    end
  end
  if o.relay and o.fabric ~= "rails" then
    options.refuse "option 'relay' is for fabric = \"rails\": on one switch or leaf every GPU reaches all others"
  end
end

local function refuse_size(o)
  local pods, machines = (o.nodes - 1) // o.pod + 1, 1.0 * o.nodes
  local networked = o.nodes > 1 and machines or 0
  local nics, joins = networked * o.nics, networked * math.max(o.nics, o.gpus)
  local leaves = networked == 0 and 0 or o.fabric == "rails" and 1.0 * pods * o.nics or o.fabric == "leaves" and pods or 1
  local spines = o.fabric ~= "switch" and leaves > 1 and o.spines or 0
  fabric.refuse_size(machines * o.gpus, machines + nics + leaves + spines,
    2 * (machines * o.gpus + joins + nics + 1.0 * leaves * spines))
end

local function refuse_shape(o)
  if o.routing == "shortest" and o.nodes > 1 and o.nics > o.gpus then
    options.refuse("option 'routing' = \"shortest\" takes the first adapter of a GPU alone, and %d of %d would be idle: "
      .. "give \"ecmp\", or fewer nics", o.nics - o.gpus, o.nics)
  end
  if o.gpus % o.nics ~= 0 and o.nics % o.gpus ~= 0 then
    options.refuse("option 'nics': %d adapters cannot be shared evenly by %d GPUs", o.nics, o.gpus)
  end
  local pods = (o.nodes - 1) // o.pod + 1
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
  local pods = (o.nodes - 1) // o.pod + 1
  local several = pods > 1 or (rails and o.nics > 1)
  for s = 1, several and o.spines or 0 do spines[s] = t:switch("spine" .. s) end
  local down = o.infiniband * o.pod * (rails and 1 or o.nics)
  local up = fabric.cable { kind = "ib", latency = o.infiniband_latency, weight = o.relay and 2 or 1,
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
    nvlink = fabric.bandwidth(),
    pcie = fabric.bandwidth(),
    infiniband = fabric.bandwidth(),
    nvlink_latency = fabric.latency(),
    pcie_latency = fabric.latency(),
    infiniband_latency = fabric.latency(),
  })
  o.nics = o.nics or o.gpus
  refuse_idle(o)
  refuse_shape(o)
  refuse_size(o)
  local nvlink = fabric.cable { kind = "nvlink", bandwidth = o.nvlink, latency = o.nvlink_latency }
  -- Over an adapter that two GPUs share there is a way between them with as few links as over the crossbar.
  local pcie = fabric.cable { kind = "pcie", bandwidth = o.pcie, latency = o.pcie_latency,
    weight = o.nics < o.gpus and 2 or 1 }
  local infiniband = fabric.cable { kind = "ib", bandwidth = o.infiniband, latency = o.infiniband_latency }

  local t = topology.new { name = o.name, routing_seed = o.routing_seed,
    routing = o.routing or (o.fabric == "switch" and o.nics <= o.gpus and "shortest" or "ecmp") }
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
