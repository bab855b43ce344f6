-- The topologies of the box, wrong options first.
local check = require "check"
local claim, equal, fails, near = check.claim, check.equal, check.fails, check.near

local names = { "cores", "dgx1_v100", "dgx_a100", "dragonfly", "fat_tree", "full_mesh", "hgx_h100", "k80_cluster",
  "mixed_cluster", "p100_cluster", "rail_pods", "ring", "star", "torus", "two_level_tree" }
local make = {}
for _, name in ipairs(names) do make[name] = require("topologies." .. name) end
make.nvswitch = require "topologies.nvswitch"

-- Links, narrowest bandwidth and summed latency of the route between two devices.
local function route(t, list, a, b)
  local path, bandwidth, latency = t:path(a, b), math.huge, 0
  for _, link in ipairs(path) do
    bandwidth = math.min(bandwidth, list[link].bandwidth)
    latency = latency + list[link].latency
  end
  return #path, bandwidth, latency
end

local function hops(t, a, b)
  return #t:path(a, b)
end

claim("options that are misspelt, mistyped or out of bounds are refused by name", function()
  fails("unknown option 'node'; did you mean 'nodes'?", make.p100_cluster, { node = 4 })
  fails("option 'nodes' is 0; it must be at least 1", make.p100_cluster, { nodes = 0 })
  fails("option 'nodes' is 2.5, which is not a whole number", make.k80_cluster, { nodes = 2.5 })
  fails("option 'nodes' is -1", make.dgx_a100, { nodes = -1 })
  fails("option 'infiniband'", make.p100_cluster, { infiniband = "100 Gb" })
  fails("option 'nvlink'", make.hgx_h100, { nvlink = true })
  fails("option 'kind' cannot be 'a10'; did you mean 'a100'?", make.dgx_a100, { kind = "a10" })
  fails("star: option 'bandwidth' is 0 B/s; it must be above 0 B/s and at most 1.000 EB/s", make.star, { bandwidth = 0 })
  fails("option 'bandwidth' is -5 B/s", make.full_mesh, { bandwidth = -5 })
  fails("option 'latency' is -1.000 s; it must be at least 0 s", make.two_level_tree, { latency = -1 })
  fails("option 'oversubscription' is 0", make.two_level_tree, { oversubscription = 0 })
  fails("option 'devices' is 1; it must be at least 2", make.ring, { devices = 1 })
  fails("option 'one_way' should be true or false", make.ring, { one_way = 1 })
  fails("option 'relay' should be true or false", make.dgx1_v100, { relay = "yes" })
  fails("option 'sizes' is empty", make.torus, { sizes = {} })
  fails("size 2 is 0; whole numbers from 1 are wanted", make.torus, { sizes = { 3, 0 } })
  fails("size 1 is 2.5", make.torus, { sizes = { 2.5 } })
  fails("size 1 is a string", make.torus, { sizes = { "four" } })
  fails("torus: this topology would have 2000000 devices; there are at most 1000000", make.torus,
    { sizes = { 1000, 1000, 2 } })
  fails("option 'machines' is empty", make.mixed_cluster, { machines = {} })
  fails("machine 1 should be a table", make.mixed_cluster, { machines = { "v100" } })
  fails("option 'kind' is missing", make.mixed_cluster, { machines = { { devices = 2 } } })
  fails("unknown option 'count'", make.mixed_cluster, { machines = { { kind = "v100", count = 2 } } })
  fails("is missing", make.nvswitch, { kind = "a100" })
  fails("a table of options is expected, not a number", make.star, 8)
end)

claim("counts that are too great are refused before anything is made", function()
  local most, began = math.maxinteger, os.clock()
  fails("dragonfly: this topology would have 3.200000006e+10 links; there are at most 10000000", make.dragonfly,
    { groups = 2, global_links = 4000000000 })
  fails("would have", make.dragonfly, { global_links = 1 << 53 })
  fails("would have 200040000 links", make.dragonfly, { routers = 10000, devices = 1, groups = 2, global_links = 1 })
  fails("devices; there are at most 1000000", make.dragonfly, { devices = most })
  fails("dragonfly: this topology would have 3.320413933e+20 devices", make.dragonfly, { devices = most, routers = 4, groups = 9 })
  fails("hgx_h100: this topology would have 2000000003 switches", make.hgx_h100, { nodes = 2, nics = 1000000000 })
  fails("8000000000 devices", make.dgx_a100, { nodes = 1000000000 })
  fails("rail_pods: this topology would have", make.rail_pods, { gpus = 1000000000 })
  fails("rail_pods: this topology would have 3.2e+10 devices", make.rail_pods, { pods = 1000000000 })
  fails("devices", make.rail_pods, { pods = most, nodes = most })
  fails("switches", make.rail_pods, { spines = 1000000000 })
  fails("devices", make.dgx1_v100, { nodes = most })
  fails("devices", make.k80_cluster, { nodes = most })
  fails("devices", make.p100_cluster, { nodes = most, gpus = most })
  fails("links", make.p100_cluster, { nodes = 1, gpus = 10000 })
  fails("devices", make.two_level_tree, { racks = most, devices = most })
  fails("devices", make.mixed_cluster, { machines = { { kind = "v100", devices = most }, { kind = "v100", devices = most } } })
  fails("links", make.fat_tree, { down = { 1, 1000 }, up = { 900000 } })
  fails("switches", make.fat_tree, { down = { 1, 1, 1000 }, up = { 1000, 1000 } })
  if os.clock() - began > 1 then error(("%g s"):format(os.clock() - began)) end
end)

claim("what is counted beforehand is what is made", function()
  local fabric = require "soapstone.fabric"
  local refuse_size, counted = fabric.refuse_size, nil
  fabric.refuse_size = function(devices, switches, links)
    counted = { devices, switches, links }
    refuse_size(devices, switches, links)
  end
  for _, case in ipairs {
    { "dgx1_v100", { nodes = 3 } }, { "k80_cluster", { nodes = 3, gpus = 3 } }, { "p100_cluster", { nodes = 3, gpus = 5 } },
    { "dragonfly", { groups = 4, routers = 5, devices = 3, global_links = 2 } }, { "torus", { sizes = { 3, 5, 4 } } },
    { "two_level_tree", { racks = 3, devices = 5 } }, { "fat_tree", { down = { 5, 2, 3 }, up = { 4, 2 } } },
    { "fat_tree", { radix = 6, levels = 3 } }, { "hgx_h100", { nodes = 3 } }, { "hgx_h100", { nodes = 3, nics = 2 } },
    { "hgx_h100", { nodes = 3, nics = 16, fabric = "leaves", pod = 2, spines = 5 } },
    { "rail_pods", { pods = 3, nodes = 2, gpus = 4, spines = 3 } }, { "mixed_cluster", {} },
  } do
    local t = make[case[1]](case[2])
    equal(("%s: %g devices, %g switches, %g links"):format(case[1], table.unpack(counted)),
      ("%s: %g devices, %g switches, %g links"):format(case[1], t.devices, tostring(t):match "(%d+) switch" or 0, t.links))
  end
  fabric.refuse_size = refuse_size
end)

claim("a value with its unit is taken as it is written, and a plain number that is a slip is not", function()
  fails("fat_tree: option 'latency' = 2 means 2 s; write \"2 us\" for microseconds, or \"2 s\"", make.fat_tree,
    { latency = 2 })
  fails("hgx_h100: option 'nvlink' = 376 means 376 B/s; write \"376 GB/s\"", make.hgx_h100, { nvlink = 376 })
  local list = make.fat_tree { radix = 4, latency = "2 s", bandwidth = "25 B/s" }:link_list()
  equal(list[1].latency, 2.0)
  equal(list[1].bandwidth, 25.0)
  equal(make.hgx_h100 { nodes = 2, pcie = "0.1 B/s" }:link_list()[3].bandwidth, 0.1)
  equal(make.mixed_cluster { inside = "3 B/s" }:link_list()[1].bandwidth, 3.0)
  equal(make.mixed_cluster { machines = { { kind = "v100", inside = "3 B/s" } } }:link_list()[1].bandwidth, 3.0)
end)

claim("figures are checked where nothing uses them", function()
  for _, name in ipairs { "hgx_h100", "dgx_a100" } do
    fails(name .. ": option 'infiniband' is -1 B/s; it must be above 0 B/s", make[name], { nodes = 1, infiniband = -1 })
    fails("option 'infiniband' is inf B/s", make[name], { infiniband = math.huge })
    fails("option 'infiniband' is 1e+300 B/s", make[name], { infiniband = 1e300 })
    fails("option 'infiniband' is -3.000 GB/s", make[name], { infiniband = "-3 GB/s" })
    fails("option 'infiniband_latency' is -5.000 s", make[name], { infiniband_latency = -5 })
    fails("option 'pcie' is 0 B/s", make[name], { pcie = 0 })
    fails("option 'pcie_latency' is 2000000 s", make[name], { pcie_latency = 2e6 })
  end
end)

claim("an option that would do nothing is refused", function()
  for _, name in ipairs { "pod", "spines", "oversubscription" } do
    fails(("hgx_h100: option '%s' is for fabric = \"leaves\" or \"rails\""):format(name), make.hgx_h100,
      { nodes = 2, [name] = 3 })
  end
  equal(make.hgx_h100 { nodes = 2, fabric = "leaves", pod = 3, spines = 0 }.devices, 16)
  fails("fat_tree: option 'radix' is for trees of switches with so many ports; this one is given by 'down'",
    make.fat_tree, { radix = 16, down = { 4, 2 }, up = { 2 } })
  fails("option 'levels' is for trees", make.fat_tree, { levels = 3, down = { 4, 2 }, up = { 2 } })
end)

claim("a list with names or holes in it is refused", function()
  fails("option 'down' should be a list of whole numbers", make.fat_tree, { down = { x = 4 }, up = { foo = 1 } })
  fails("has an entry 3 and none before it", make.fat_tree, { down = { [3] = 1 } })
  fails("option 'sizes' should be a list of whole numbers", make.torus, { sizes = { 2, 2, 2, 2, [6] = 3 } })
  fails("option 'sizes' should be a list of whole numbers, a size for each dimension, and has 'x' in it", make.torus,
    { sizes = { 2, x = 3 } })
  fails("fat_tree: option 'oversubscription' should be one value, or a list", make.fat_tree,
    { levels = 3, oversubscription = { 2, 4, x = 2 } })
  fails("entry 1 is 1000000000; whole numbers from 1 to 1000000 are wanted", make.fat_tree,
    { down = { 1000000000, 3 }, up = { 2 } })
end)

claim("shapes that cannot be built are refused in words of who asked", function()
  fails("fat_tree: option 'radix' is 7; half of the ports lead down, so it must be even", make.fat_tree, { radix = 7 })
  fails("option 'up' needs 'down'", make.fat_tree, { up = { 2 } })
  fails("option 'up' has 2 entries, and 'down' 2", make.fat_tree, { down = { 8, 4 }, up = { 2, 2 } })
  fails("option 'down': entry 2 is 0", make.fat_tree, { down = { 8, 0 }, up = { 2 } })
  fails("option 'up': entry 1 is 1.5", make.fat_tree, { down = { 8, 2 }, up = { 1.5 } })
  fails("option 'oversubscription' has 1 values; there are 2 levels", make.fat_tree,
    { levels = 3, oversubscription = { 2 } })
  fails("option 'oversubscription' is 0; it must be between", make.fat_tree, { oversubscription = 0 })
  fails("option 'oversubscription[2]' should be a number", make.fat_tree,
    { levels = 3, oversubscription = { 2, "4" } })
  fails("fat_tree: option 'switch_latency': \"5 GB\" is in bytes; expected seconds", make.fat_tree, { switch_latency = "5 GB" })
  fails("option 'switch_latency[2]' = 2 means 2 s", make.fat_tree, { levels = 3, switch_latency = { 1e-6, 2 } })
  fails("option 'switch_latency' is -1.000 s", make.fat_tree, { levels = 1, switch_latency = -1 })
  fails("would have 4194304 devices", make.fat_tree, { radix = 256, levels = 3 })
  fails("option 'routing' cannot be 'emcp'; did you mean 'ecmp'?", make.fat_tree, { routing = "emcp" })
  fails("10 groups need 9 global links each, and 4 routers with 2 global links have 8", make.dragonfly,
    { groups = 10 })
  fails("option 'groups' is 1; it must be at least 2", make.dragonfly, { groups = 1 })
  fails("8 GPUs", make.hgx_h100, { nodes = 2, nics = 3 })
  fails("the first adapter of a GPU alone, and 8 of 16 would be idle", make.hgx_h100,
    { nodes = 2, nics = 16, routing = "shortest" })
  equal(make.hgx_h100({ nodes = 2, nics = 16 }).routing .. make.hgx_h100({ nodes = 2 }).routing, "ecmpshortest")
  fails("option 'relay' is for fabric = \"rails\"", make.hgx_h100, { nodes = 2, relay = true })
  fails("2 pods of 4 machines need some", make.rail_pods, { spines = 0, relay = true })
  fails("leaves rails apart; relay = true", make.rail_pods, { pods = 1, spines = 0 })
  fails("option 'fabric' cannot be 'leafs'; did you mean 'leaves'?", make.dgx_a100, { fabric = "leafs" })
end)

claim("each has as many devices, links and machines as its machines have", function()
  -- links count both directions
  local wanted = {
    cores = { 2, 2, 1 },
    dgx1_v100 = { 8, 2 * (16 + 8 + 4 + 1), 1 },
    dgx_a100 = { 8, 2 * 8, 1 },
    dragonfly = { 72, 2 * (72 + 9 * 6 + 36), 36 },
    fat_tree = { 32, 2 * (32 + 8 * 4), 8 },
    full_mesh = { 8, 8 * 7, 1 },
    hgx_h100 = { 8, 2 * 8, 1 },
    k80_cluster = { 64, 2 * 16 * (4 + 2 + 1), 16 },
    mixed_cluster = { 8, 2 * (8 + 2), 2 },
    p100_cluster = { 16, 2 * 4 * (6 + 4 + 1), 4 },
    rail_pods = { 64, 2 * (64 * 3 + 2 * 8 * 4), 8 },
    ring = { 8, 2 * 8, 1 },
    star = { 8, 2 * 8, 1 },
    torus = { 16, 2 * 2 * 16, 0 },
    two_level_tree = { 32, 2 * (32 + 4), 4 },
  }
  for _, name in ipairs(names) do
    local t = make[name] {}
    equal(t.name, name)
    equal(name .. t.devices, name .. wanted[name][1])
    equal(name .. t.links, name .. wanted[name][2])
    equal(name .. t.machines, name .. wanted[name][3])
  end
end)

claim("every device reaches every other, and back by a route as long, wide and quick", function()
  for _, name in ipairs(names) do
    local t = make[name](name == "dgx1_v100" and { nodes = 2 } or {})
    local list = t:link_list()
    for a = 1, math.min(t.devices, 20) do
      for b = a + 1, t.devices do
        local n, bandwidth, latency = route(t, list, a, b)
        local back, bandwidth_back, latency_back = route(t, list, b, a)
        equal(n, back)
        equal(bandwidth, bandwidth_back)
        near(latency, latency_back, 1e-9)
      end
    end
  end
end)

claim("figures in the catalogue reach the devices", function()
  for _, name in ipairs(names) do
    for _, device in ipairs(make[name]():device_list()) do
      if device.kind ~= "cpu core" and not (device.memory > 1e9 and device.memory_bandwidth > 1e11 and next(device.flops)) then
        error(name .. ": " .. device.name .. " of kind " .. device.kind .. " has no figures")
      end
    end
  end
end)

claim("the P100 cluster: NVLink inside, four links between machines", function()
  local t = make.p100_cluster { nodes = 3 }
  local list = t:link_list()
  equal(t.devices, 12)
  local n, bandwidth, latency = route(t, list, 1, 4)
  equal(n, 1)
  near(bandwidth, 18.3e9)
  near(latency, 1e-6)
  n, bandwidth, latency = route(t, list, "node1.gpu2", "node3.gpu1")
  equal(n, 4)
  near(bandwidth, 11.3e9)
  near(latency, 2 * 1e-6 + 2 * 507e-9)
  equal(make.p100_cluster { nodes = 1 }.links, 2 * (6 + 4))
  t = make.p100_cluster { infiniband = "10 Gb/s" }
  local _, slow = route(t, t:link_list(), 1, 16)
  near(slow, 1.25e9)
end)

claim("the K80 cluster: pairs share a switch, machines an adapter", function()
  local t = make.k80_cluster { nodes = 2 }
  local list = t:link_list()
  equal(hops(t, 1, 2), 2)
  equal(hops(t, 1, 3), 4)
  equal(hops(t, 1, 8), 6)
  local _, bandwidth = route(t, list, 1, 8)
  near(bandwidth, 54.3e9 / 8)
  -- What leaves the pair leaves by one link, whoever sends.
  equal(t:path(1, 3)[2], t:path(2, 4)[2])
  equal(t:path(1, 8)[3], t:path(4, 5)[3])
end)

claim("DGX-1: six NVLinks a GPU, the way round without one, and relays", function()
  local t = make.dgx1_v100()
  local sum, list = {}, t:link_list()
  for _, link in ipairs(list) do
    if link.kind == "nvlink" then sum[link.from] = (sum[link.from] or 0) + link.bandwidth end
  end
  for g = 1, 8 do near(sum["node1.gpu" .. g], 6 * 24.2e9) end
  -- Bandwidths as measured on such a machine, from the first GPU to each other one.
  local links = { 0, 1, 1, 2, 2, 0, 0, 0 }
  for g = 2, 8 do
    local n, bandwidth = route(t, list, 1, g)
    equal(n, links[g] == 0 and 5 or 1)
    near(bandwidth, links[g] == 0 and 11.3e9 or links[g] * 24.2e9)
  end
  local relayed = make.dgx1_v100 { relay = true }
  equal(hops(relayed, 1, 6), 2)
  -- A second machine must not offer a short cut over the network.
  local two = make.dgx1_v100 { nodes = 2 }
  equal(hops(two, 1, 6), 5)
  equal(hops(two, 1, 9), 4)
  for _, link in ipairs(two:path(1, 6)) do
    if two:link_list()[link].kind == "ib" then error "over the network" end
  end
end)

claim("NVSwitch machines: two links inside, an adapter for each GPU", function()
  for name, wanted in pairs { dgx_a100 = { 274e9, 22.6e9 }, hgx_h100 = { 376e9, 45.2e9 } } do
    local t = make[name] { nodes = 2 }
    local list = t:link_list()
    equal(t.links, 2 * 2 * 8 * 3)
    local n, bandwidth, latency = route(t, list, 1, 8)
    equal(n, 2)
    near(bandwidth, wanted[1])
    near(latency, 1e-6)
    n, bandwidth = route(t, list, 1, 16)
    equal(n, 4)
    near(bandwidth, wanted[2])
    local used = {}
    for g = 1, 8 do
      for _, link in ipairs(t:path(g, 8 + g)) do
        if used[link] then error("GPU " .. g .. " shares link " .. link) end
        used[link] = true
      end
    end
  end
  equal(make.dgx_a100 { kind = "a100_80gb" }:device_list()[1].memory, 80 * 2 ^ 30)
end)

claim("rings and tori are as far across as they should be", function()
  local ring = make.ring { devices = 9 }
  for d = 2, 9 do equal(hops(ring, 1, d), math.min(d - 1, 10 - d)) end
  local one_way = make.ring { devices = 9, one_way = true }
  equal(one_way.links, 9)
  equal(hops(one_way, 1, 9), 8)
  equal(hops(one_way, 9, 1), 1)
  equal(make.ring { devices = 2 }.links, 2)

  -- Dimension by dimension.
  local torus = make.torus { sizes = { 4, 3, 5 } }
  local at, list = {}, torus:link_list()
  for i, d in ipairs(torus:device_list()) do
    at[d.name] = { (i - 1) // 15, (i - 1) // 5 % 3, (i - 1) % 5 }
  end
  local function dimension(link)
    for d = 1, 3 do if at[link.from][d] ~= at[link.to][d] then return d end end
  end
  for a = 1, 60, 7 do
    for b = 1, 60 do
      local last = 1
      for _, link in ipairs(torus:path(a, b)) do
        local d = dimension(list[link])
        if d < last then error(("%d to %d goes back to dimension %d"):format(a, b, d)) end
        last = d
      end
    end
  end
  -- ecmp takes others of the same length.
  local spread, firsts = make.torus { sizes = { 4, 3, 5 }, routing = "ecmp" }, {}
  for b = 1, 60 do
    equal(hops(spread, 1, b), hops(torus, 1, b))
    if b > 1 then firsts[spread:path(1, b)[1]] = true end
  end
  equal(#check.list(firsts), 6)

  torus = make.torus { sizes = { 3, 5, 4 } }
  equal(torus.devices, 60)
  equal(torus.links, 2 * 3 * 60)
  equal(torus:device_list()[2].name, "d1.1.2")
  equal(hops(torus, "d1.1.1", "d3.5.4"), 3)
  equal(hops(torus, "d1.1.1", "d2.3.3"), 1 + 2 + 2)
  local mesh = make.torus { sizes = { 3, 5, 4 }, wrap = false }
  equal(mesh.links, 2 * (2 * 20 + 4 * 12 + 3 * 15))
  equal(hops(mesh, "d1.1.1", "d3.5.4"), 2 + 4 + 3)
  equal(make.torus { sizes = { 2, 2 } }.links, 2 * 4)
  equal(make.torus { sizes = { 1 } }.links, 0)
end)

claim("star, mesh and tree: links and bottlenecks", function()
  local star = make.star { devices = 3, duplex = "half", bandwidth = 7e9 }
  equal(star.links, 3)
  equal(hops(star, 1, 3), 2)
  equal(hops(make.full_mesh { devices = 5 }, 2, 5), 1)

  local tree = make.two_level_tree { racks = 3, devices = 4, bandwidth = "10 GB/s", oversubscription = 8 }
  local list = tree:link_list()
  local n, bandwidth = route(tree, list, 1, 4)
  equal(n, 2)
  near(bandwidth, 10e9)
  n, bandwidth = route(tree, list, 1, 5)
  equal(n, 4)
  near(bandwidth, 10e9 * 4 / 8)
  equal(tree:device_list()[5].machine, 2)
end)

claim("machines may differ in kind, speed and links", function()
  local t = make.mixed_cluster { machines = {
    { kind = "v100", devices = 2 },
    { kind = "k80", devices = 3, speed = 0.5, inside = "8 GB/s", network = "1 Gb/s" },
  } }
  local devices, list = t:device_list(), t:link_list()
  equal(devices[1].kind .. devices[3].kind, "v100k80")
  equal(devices[1].speed, 1)
  equal(devices[5].speed, 0.5)
  equal(devices[5].machine, 2)
  equal(devices[5].name, "node2.k80-3")
  local n, bandwidth = route(t, list, 1, 5)
  equal(n, 4)
  near(bandwidth, 1e9 / 8)
  local _, inside = route(t, list, 3, 5)
  near(inside, 8e9)
end)

-- What links lead from the nodes for which side(name) is true to the others, in bytes per second.
local function cut(t, side)
  local sum = 0
  for _, link in ipairs(t:link_list()) do
    if side(link.from) and not side(link.to) then sum = sum + link.bandwidth end
  end
  return sum
end

local function diameter(t)
  local most = 0
  for a = 1, t.devices do
    for b = 1, t.devices do most = math.max(most, hops(t, a, b)) end
  end
  return most
end

local function named(t)
  local by_name = {}
  for _, link in ipairs(t:link_list()) do by_name[link.name] = link end
  return by_name
end

-- How many of the routes between all pairs cross each link.
local function loads(t)
  local count = {}
  for a = 1, t.devices do
    for b = 1, t.devices do
      for _, link in ipairs(t:path(a, b)) do count[link] = (count[link] or 0) + 1 end
    end
  end
  return count
end

claim("fat trees: switches, bisection and diameter as the arithmetic says", function()
  -- k-ary, k = 8, three levels: k^3/4 devices, k^2/2 leaves and as many above them, k^2/4 at the top.
  local t = make.fat_tree { radix = 8, levels = 3, bandwidth = "10 GB/s" }
  equal(t.devices, 128)
  equal(tostring(t):match "(%d+) switches", "80")
  equal(t.links, 2 * 3 * 128)
  equal(hops(t, 1, 4), 2)
  equal(hops(t, 1, 5), 4)
  equal(hops(t, 1, 17), 6)
  equal(diameter(t), 6)
  local function first_half(name) -- of four pods out of eight: 64 devices
    local pod = name:match "^pod(%d)"
    local leaf, d = tonumber(name:match "^leaf(%d+)"), tonumber(name:match "^d(%d+)")
    return (pod and tonumber(pod) <= 4) or (leaf and leaf <= 16) or (d and d <= 64) or false
  end
  near(cut(t, first_half), 64 * 10e9)
  near(cut(make.fat_tree { radix = 8, levels = 3, bandwidth = "10 GB/s", oversubscription = 3 }, first_half),
    64 * 10e9 / 9)
  t = make.fat_tree { radix = 8, levels = 3, bandwidth = "10 GB/s", oversubscription = { 2, 4 } }
  near(cut(t, first_half), 64 * 10e9 / 8)
  near(named(t)["leaf1->pod1.spine1"].bandwidth, 10e9 / 2)
  near(named(t)["pod1.spine1->core1"].bandwidth, 10e9 / 8)

  -- By hand: 3 pods of 2 leaves of 5 devices; 4 ways up from a leaf, 2 from each of a pod's 4 spines.
  t = make.fat_tree { down = { 5, 2, 3 }, up = { 4, 2 }, bandwidth = "12 GB/s", per_machine = 2,
    switch_latency = { "200 ns", "2 us" }, latency = "1 us" }
  equal(t.devices, 30)
  equal(tostring(t):match "(%d+) switches", tostring(6 + 3 * 4 + 8))
  equal(t.links, 2 * (30 + 6 * 4 + 12 * 2))
  equal(t.machines, 15)
  near(named(t)["leaf1->pod1.spine4"].bandwidth, 12e9 * 5 / 4)
  near(named(t)["pod1.spine4->core8"].bandwidth, 12e9 * 5 / 4 * 2 / 2)
  local n, bandwidth, latency = route(t, t:link_list(), 1, 30)
  equal(n, 6)
  near(bandwidth, 12e9)
  near(latency, 2 * (1e-6 + 0.2e-6 + 2e-6))
  equal(make.fat_tree { levels = 1, radix = 6 }.links, 2 * 6)
  equal(hops(make.fat_tree { levels = 4, radix = 4 }, 1, 32), 8)
end)

claim("fat trees spread all pairs over all ways up, and one way up carries all of `shortest`", function()
  local t = make.fat_tree {}
  local list, ups, least, most = t:link_list(), 0, math.huge, 0
  for link, n in pairs(loads(t)) do
    if list[link].from:match "^leaf" and list[link].to:match "^spine" then
      ups, least, most = ups + 1, math.min(least, n), math.max(most, n)
    end
  end
  equal(ups, 32)                        -- 4 devices to 28 others over 4 ways: 28 on average
  if least < 14 or most > 45 then error(("%d to %d routes on a link"):format(least, most)) end
  t:set_routing "shortest"
  local spines = {}
  for link in pairs(loads(t)) do
    local spine = list[link].to:match "^spine%d"
    if spine then spines[spine] = true end
  end
  equal(check.keys(spines), "spine1")
end)

claim("fat trees go round switches that failed until none is left", function()
  local t = make.fat_tree { radix = 4 }
  equal(diameter(t), 4)
  t:fail "spine1"
  equal(diameter(t), 4)
  t:fail "leaf1->spine2"
  fails("d8 cannot be reached from d1 any more: switch spine1, link leaf1->spine2 failed", t.path, t, "d1",
    "d8")
  equal(hops(t, "d1", "d2"), 2)
  equal(hops(t, "d8", "d1"), 4)
end)

claim("dragonflies: every two groups joined, a global link on each route at most", function()
  local t = make.dragonfly {}
  local list, pairs_of, of_router = t:link_list(), {}, {}
  for _, link in ipairs(list) do
    if link.kind == "global" then
      local key = link.from:match "group%d+" .. " " .. link.to:match "group%d+"
      pairs_of[key] = (pairs_of[key] or 0) + 1
      of_router[link.from] = (of_router[link.from] or 0) + 1
    end
  end
  equal(#check.list(pairs_of), 9 * 8)
  for key, n in pairs(pairs_of) do equal(key .. n, key .. 1) end
  equal(#check.list(of_router), 36)
  for router, n in pairs(of_router) do equal(router .. n, router .. 2) end
  equal(diameter(t), 5)
  for a = 1, 72, 5 do
    for b = 1, 72 do
      local kinds = ""
      for _, link in ipairs(t:path(a, b)) do
        kinds = kinds .. (list[link].kind == "global" and "G" or list[link].kind == "local" and "L" or "")
      end
      if not ({ [""] = 1, L = 1, G = 1, LG = 1, GL = 1, LGL = 1 })[kinds] then error(kinds) end
      equal(kinds:find "G" ~= nil, (a - 1) // 8 ~= (b - 1) // 8)
    end
  end
  near(cut(t, function(name) -- four groups against five
    local group, d = name:match "^group(%d)", tonumber(name:match "^d(%d+)")
    return group and tonumber(group) <= 4 or d and d <= 32 or false
  end), 4 * 5 * 24e9)

  -- Fewer groups than there could be: 8 ports for 3 others, so two links to each.
  t = make.dragonfly { groups = 4 }
  equal(t.links, 2 * (32 + 4 * 6 + 6 * 2))
  local used, by_number = {}, t:link_list()
  for a = 1, 8 do
    for b = 9, 16 do
      for _, link in ipairs(t:path(a, b)) do
        if by_number[link].kind == "global" then used[link] = true end
      end
    end
  end
  equal(#check.list(used), 2)
end)

claim("rails: four links on a rail, six across, and relays stay inside the machine", function()
  local t = make.rail_pods {}
  local list = t:link_list()
  equal(hops(t, "node1.gpu1", "node1.gpu8"), 2)
  local n, bandwidth, latency = route(t, list, "node1.gpu3", "node4.gpu3")
  equal(n, 4)
  near(bandwidth, 45.2e9)
  near(latency, 2 * 1e-6 + 2 * 507e-9)
  equal(list[t:path("node1.gpu3", "node4.gpu3")[2]].to, "pod1.rail3")
  equal(hops(t, "node1.gpu3", "node4.gpu4"), 6)
  equal(hops(t, "node1.gpu3", "node5.gpu3"), 6)
  equal(diameter(t), 6)
  local function first_pod(name)
    local node, pod = name:match "^node(%d)", name:match "^pod(%d)"
    return node and tonumber(node) <= 4 or pod == "1"
  end
  near(cut(t, first_pod), 8 * 4 * 50e9)
  near(cut(make.rail_pods { oversubscription = 4, spines = 2 }, first_pod), 8 * 4 * 50e9 / 4)

  local function crossed(of, a, b)
    local seen, links = {}, of:link_list()
    for _, link in ipairs(of:path(a, b)) do seen[links[link].to:match "[a-z]+%d*$"] = true end
    return seen
  end
  local relayed = make.rail_pods { relay = true }
  for g = 2, 8 do
    local seen = crossed(relayed, "node1.gpu1", "node2.gpu" .. g)
    equal(seen.nvswitch, true)
    equal(seen.spine1 or seen.spine2 or seen.spine3 or seen.spine4, nil)
  end
  equal(crossed(relayed, "node1.gpu1", "node5.gpu2").nvswitch, nil)
  local alone = make.rail_pods { pods = 1, spines = 0, relay = true }
  equal(diameter(alone), 6)
  alone:fail "pod1.rail1"
  equal(hops(alone, "node1.gpu1", "node2.gpu1"), 8) -- over another rail: NVLink on both sides
end)

claim("adapters may be shared or several, on one switch or leaves", function()
  local t = make.hgx_h100 { nodes = 2, nics = 4 }
  equal(t.links, 2 * 2 * (8 + 8 + 4))
  equal(t:path(1, 9)[2], t:path(2, 10)[2]) -- one way out for two GPUs
  equal(t:path(3, 9)[2] ~= t:path(2, 9)[2], true)
  local list = t:link_list()
  equal(list[t:path(1, 2)[1]].kind, "nvlink")
  equal(hops(t, 1, 2), 2)
  equal(t.routing, "shortest")

  t = make.dgx_a100 { nodes = 2, nics = 16 }
  equal(t.links, 2 * 2 * (8 + 16 + 16))
  local used = {}
  for b = 9, 16 do used[t:path(1, b)[1]] = true end
  equal(#check.list(used), 2)

  t = make.hgx_h100 { nodes = 5, fabric = "leaves", pod = 2, spines = 3, oversubscription = 2 }
  equal(tostring(t):match "(%d+) switches", tostring(5 * 9 + 3 + 3))
  equal(t.routing, "ecmp")
  equal(hops(t, 1, 9), 4)
  equal(hops(t, 1, 17), 6)
  near(named(t)["leaf1->spine2"].bandwidth, 2 * 8 * 50e9 / 3 / 2)
end)

claim("bisection of tori and trees", function()
  local t = make.torus { sizes = { 4, 4, 4 }, bandwidth = "50 GB/s" }
  near(cut(t, function(name) return tonumber(name:match "^d(%d)") <= 2 end), 2 * 16 * 50e9)
  equal(diameter(t), 6)
  t = make.torus { sizes = { 6, 4 }, bandwidth = "10 GB/s" }
  near(cut(t, function(name) return tonumber(name:match "^d(%d)") <= 3 end), 2 * 4 * 10e9)
  equal(diameter(t), 5)
  t = make.two_level_tree { racks = 4, devices = 4, bandwidth = "10 GB/s", oversubscription = 8 }
  near(cut(t, function(name) return name:match "^rack[12]" ~= nil end), 2 * 4 * 10e9 / 8)
end)

claim("a step of a small network runs on each", function()
  local soapstone = require "soapstone"
  for _, name in ipairs(names) do
    local net <close> = require "models.mlp" { batch = 512, layers = 2, width = 256,
      dtype = name == "torus" and "bf16" or "f32" } -- TPU v3 has no peak in f32
    local p <close> = soapstone.problem { model = net, topology = make[name] {}, sync = "ring" }
    local r <close> = p:simulate(p:strategy "data_parallel")
    if not (r.step_time > 0 and r.step_time < 1 and r.bytes_moved > 0) then error(name) end
  end
end)

claim("a result says how routes were chosen and that something failed", function()
  local soapstone = require "soapstone"
  local function assumptions(t)
    local net <close> = require "models.mlp" { batch = 64, layers = 1, width = 64 }
    local p <close> = soapstone.problem { model = net, topology = t }
    return p:simulate(p:strategy "data_parallel").assumptions
  end
  local t = make.fat_tree { radix = 4, routing_seed = 6 }
  t:fail("leaf1->spine1", "leaf2->spine2")
  check.contains(assumptions(t), "; routing ecmp, seed 6; 2 failed links or switches avoided;")
  equal(assumptions(make.star {}):find "routing", nil)
end)

check.done()
