-- dragonfly.lua - groups of routers, each router joined to all of its group, each group to all others.
--
--   require "topologies.dragonfly" { routers = 8, devices = 4, global_links = 4, groups = 33 }
--
-- Kim, Dally, Scott and Abts, ISCA 2008: a group of a routers with p devices and h global links each; a = 2p = 2h
-- balances it, and a * h + 1 is the greatest number of groups.  With fewer groups every two of them are joined by
-- several links, as many as there are for all.  Global links weigh 3 in the sum that routes have least of, and
-- others 1: so a route is local, global, local, the paper's minimal one, and never two global links where one will
-- do.  Of several such routes one is taken by ecmp; the paper's other routing, over a group picked at random, is not
-- offered.  Each router's devices are a machine, or every `per_machine` devices.
--
--   bandwidth       one Slingshot adapter of 200 Gb/s: 23.97 GB/s of 25, measured; the routers have 64 such ports
--   latency         507 ns for a network adapter: FlexFlow's machine_config_example, 2021
--   switch_latency  350 ns from router to router in a group (assumed; such switches are sold with 130 to 400 ns)
--   global_latency  850 ns: the same and 100 m of fibre at 5 ns/m (assumed)

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local topology = require "soapstone.topology"

return function(o)
  o = options(o, {
    groups = options.count(9, { min = 2, max = 100000 }), routers = 4, devices = 2, global_links = 2,
    kind = "a100", per_machine = options.count(nil, { min = 1, unless = "the devices of a router unless given" }),
    bandwidth = fabric.bandwidth("24 GB/s"),
    local_bandwidth = fabric.bandwidth("24 GB/s"),
    global_bandwidth = fabric.bandwidth("24 GB/s"),
    latency = fabric.latency("507 ns"),
    switch_latency = fabric.latency("350 ns"),
    global_latency = fabric.latency("850 ns"),
    routing = options.choice("ecmp", { "shortest", "ecmp" }), routing_seed = 0,
  })
  local others, ports = o.groups - 1, 1.0 * o.routers * o.global_links -- a float: whole numbers would wrap
  if ports < others then
    options.refuse("%d groups need %d global links each, and %d routers with %d global links have %.0f", o.groups, others,
      o.routers, o.global_links, ports)
  end
  local routers, rounds = 1.0 * o.groups * o.routers, ports // others
  fabric.refuse_size(routers * o.devices, routers,
    2 * routers * o.devices + routers * (o.routers - 1) + o.groups * others * rounds)
  local leg = fabric.cable { bandwidth = o.bandwidth, latency = o.latency }
  local joint = fabric.cable { kind = "local", bandwidth = o.local_bandwidth, latency = o.switch_latency }

  local t = topology.new { name = "dragonfly", routing = o.routing, routing_seed = o.routing_seed }
  local router, d = {}, 0
  local per_machine = o.per_machine or o.devices
  for g = 1, o.groups do
    router[g] = {}
    for r = 1, o.routers do
      router[g][r] = t:switch(("group%d.router%d"):format(g, r))
      for _ = 1, o.devices do
        d = d + 1
        local device = t:device("d" .. d, { kind = o.kind, machine = (d - 1) // per_machine + 1 })
        t:link(device, router[g][r], leg)
      end
      for other = 1, r - 1 do
        t:link(router[g][other], router[g][r], joint)
      end
    end
  end

  -- Port p of a group (from 0), at router p // global_links, is for the group that is p % others + 1 further on; so
  -- the ends of a link are at ports that add up to others - 1, round by round.
  local global = fabric.cable { kind = "global", bandwidth = o.global_bandwidth, latency = o.global_latency, weight = 3 }
  for g = 1, o.groups do
    for p = 0, math.tointeger(rounds) * others - 1 do
      local further = p % others + 1
      local peer = (g - 1 + further) % o.groups + 1
      local back = p - p % others + others - further
      if g < peer then
        t:link(router[g][p // o.global_links + 1], router[peer][back // o.global_links + 1], global)
      end
    end
  end
  return t
end
