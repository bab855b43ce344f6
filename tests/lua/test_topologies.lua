-- The topologies of the box, wrong options first.
local check = require "check"
local claim, equal, fails, near = check.claim, check.equal, check.fails, check.near

local names = { "dgx1_v100", "dgx_a100", "full_mesh", "hgx_h100", "k80_cluster", "mixed_cluster",
  "p100_cluster", "ring", "star", "torus", "two_level_tree" }
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
  fails("bandwidth is 0 B/s", make.star, { bandwidth = 0 })
  fails("bandwidth is -5 B/s", make.full_mesh, { bandwidth = -5 })
  fails("latency is -1 seconds", make.two_level_tree, { latency = -1 })
  fails("option 'oversubscription' is 0", make.two_level_tree, { oversubscription = 0 })
  fails("option 'devices' is 1; it must be at least 2", make.ring, { devices = 1 })
  fails("option 'one_way' should be true or false", make.ring, { one_way = 1 })
  fails("option 'relay' should be true or false", make.dgx1_v100, { relay = "yes" })
  fails("option 'sizes' is empty", make.torus, { sizes = {} })
  fails("size 2 is 0; whole numbers from 1 are wanted", make.torus, { sizes = { 3, 0 } })
  fails("size 1 is 2.5", make.torus, { sizes = { 2.5 } })
  fails("size 1 is four", make.torus, { sizes = { "four" } })
  fails("more than 1000000 devices", make.torus, { sizes = { 1000, 1000, 2 } })
  fails("option 'machines' is empty", make.mixed_cluster, { machines = {} })
  fails("machine 1 should be a table", make.mixed_cluster, { machines = { "v100" } })
  fails("option 'kind' is missing", make.mixed_cluster, { machines = { { devices = 2 } } })
  fails("unknown option 'count'", make.mixed_cluster, { machines = { { kind = "v100", count = 2 } } })
  fails("is missing", make.nvswitch, { kind = "a100" })
  fails("a table of options is expected, not a number", make.star, 8)
end)

claim("each has as many devices, links and machines as its machines have", function()
  -- links count both directions
  local wanted = {
    dgx1_v100 = { 8, 2 * (16 + 8 + 4 + 1), 1 },
    dgx_a100 = { 8, 2 * 8, 1 },
    full_mesh = { 8, 8 * 7, 1 },
    hgx_h100 = { 8, 2 * 8, 1 },
    k80_cluster = { 64, 2 * 16 * (4 + 2 + 1), 16 },
    mixed_cluster = { 8, 2 * (8 + 2), 2 },
    p100_cluster = { 16, 2 * 4 * (6 + 4 + 1), 4 },
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
      if not (device.memory > 1e9 and device.memory_bandwidth > 1e11 and next(device.flops)) then
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

  local torus = make.torus { sizes = { 3, 5, 4 } }
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

check.done()
