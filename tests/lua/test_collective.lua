-- Collectives without a model: times, closed forms, bandwidths, and what is refused.
local check = require "check"
local soapstone = require "soapstone"

local equal, claim, fails = check.equal, check.claim, check.fails

local function star(n, o)
  o = o or {}
  local t = soapstone.topology.new { name = "star" }
  local hub = t:switch "hub"
  for i = 1, n do
    t:link(t:device("d" .. i, { kind = "mine", machine = o.machine }), hub, { bandwidth = "10 GB/s", latency = "1 us" })
  end
  return t
end

local function near(a, b, share) assert(math.abs(a - b) <= (share or 1e-12) * b, ("%.17g, not %.17g"):format(a, b)) end

claim("what is wrong is refused by name", function()
  local t = star(3)
  local function with(o)
    o.topology, o.bytes = o.topology or t, o.bytes or 1000
    return soapstone.collective(o)
  end
  fails("option 'bytes' is missing", soapstone.collective, { topology = t })
  fails("option 'topology' is missing", soapstone.collective, { bytes = 3 })
  fails("option 'topology' should be a topology, not a text", soapstone.collective, { bytes = 3, topology = "star" })
  fails("did you mean 'algorithm'?", with, { algoritm = "ring" })
  fails("option 'operation' cannot be 'allreduce'", with, { operation = "allreduce" })
  fails("option 'bytes' is 0; it must be at least 1", with, { bytes = 0 })
  fails("broadcast has no algorithm pairwise; it has ring, tree", with, { operation = "broadcast", algorithm = "pairwise" })
  fails("p2p is between 2 devices, not 3", with, { operation = "p2p" })
  fails("all_reduce between 1 device: two at least are needed", with, { devices = { 1 } })
  fails("device d2 is named twice", with, { devices = { "d2", 1, 2 } })
  fails("option 'devices' should be a list of devices, not a number", with, { devices = 3 })
  fails("chunks are 7, and all_reduce by ring cuts nothing into chunks; these algorithms do: tree, double_tree, in_network",
    with, { algorithm = "ring", chunks = 7 })
  fails("chunks are 7, and broadcast by tree cuts nothing into chunks; these algorithms do: ring", with,
    { operation = "broadcast", algorithm = "tree", chunks = 7 })
  fails("and all_to_all cuts nothing into chunks; none of its algorithms does", with,
    { operation = "all_to_all", chunks = 2 })
  fails("flow_limit is of messages that share links, and links are fifo-hop", with, { flow_limit = "1 GB/s" })
  fails("flow_limit is -1e+09 B/s", with, { flow_limit = "-1 GB/s", links = "shared" })
  fails("device 2 of the list", with, { devices = { 1, "d9" } })
  fails("has 4 of them, and topology star has 3", with, { devices = { 1, 2, 3, 1 } })
  fails("the way from 2 to 1 crosses no switch", function()
    local pair = soapstone.topology.new { name = "pair" }
    pair:link(pair:device("1", { kind = "mine" }), pair:device("2", { kind = "mine" }), { bandwidth = "1 GB/s" })
    with { topology = pair, algorithm = "in_network" }
  end)
end)

-- 2 us and 100 ps a byte: 14 messages of an eighth.
claim("a ring takes its closed form where links carry one message each", function()
  local t = star(8)
  for _, links in ipairs { "fifo-path", "shared" } do
    local c = soapstone.collective { topology = t, bytes = 8000000, algorithm = "ring", links = links }
    equal(c.time, 14 * (2e-6 + 1000000 / 1e10))
    near(c.closed_form, c.time)
    equal(c.messages, 112)
    equal(c.chunks, 1)
    near(c.algorithm_bandwidth, 8000000 / c.time)
    near(c.bus_bandwidth, 1.75 * 8000000 / c.time)
    equal(c.result.step_time, c.time)
    equal(c.result.bytes_moved, 14 * 8000000)
    equal(c.result.devices[3].sent, 14 * 1000000)
    equal(c.result.links[1].name, "d1->hub")
    equal(c.result.name, "all_reduce")
  end
  local hops = soapstone.collective { topology = t, bytes = 8000000, algorithm = "ring" } -- stored and forwarded
  near(hops.time, 14 * (2e-6 + 2 * 1000000 / 1e10))
end)

claim("switches that add up carry the tensor once each way", function()
  local t = star(5)
  local c = soapstone.collective { topology = t, bytes = 1000000, algorithm = "in_network", chunks = 10, links = "shared" }
  near(c.time, 11 * (1e-6 + 100000 / 1e10))
  near(c.closed_form, c.time)
  for _, link in ipairs(c.result.links) do equal(link.bytes, 1000000) end
  equal(c.result.devices[2].sent, 1000000)
  equal(c.result.devices[2].received, 1000000)
end)

claim("the order of devices is the order of the ring, and the first is the root", function()
  local t = star(4)
  local c = soapstone.collective { topology = t, bytes = 100, operation = "broadcast", algorithm = "ring", chunks = 1,
    devices = { "d3", 1, t:device_list() and 4 }, name = "chain" }
  equal(c.result.name, "chain")
  equal(c.result.devices[3].received, 0)
  equal(c.result.devices[2].sent, 0)
  equal(c.result.devices[1].received, 100)
  equal(c.result.devices[4].sent, 0)
  equal(c.devices, 3)
end)

claim("what is chosen takes no longer by its form than the others", function()
  local t = star(7)
  for _, operation in ipairs { "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce" } do
    for bytes = 10, 26, 8 do
      local best = soapstone.collective { topology = t, bytes = 1 << bytes, operation = operation, links = "shared" }
      for _, algorithm in ipairs { "ring", "double_tree", "halving_doubling", "tree", "pairwise" } do
        local ok, c = pcall(soapstone.collective,
          { topology = t, bytes = 1 << bytes, operation = operation, algorithm = algorithm, links = "shared" })
        local asked_for = operation == "all_reduce" and algorithm == "tree"
        assert(not ok or asked_for or c.closed_form >= best.closed_form, operation .. " " .. algorithm)
      end
    end
  end
  equal(soapstone.collective({ topology = star(2), bytes = 10, operation = "p2p" }).algorithm, "direct")
end)

claim("a ring on a fat tree takes its closed form with every link shared", function()
  local fat = require "topologies.fat_tree" { radix = 4, levels = 3, bandwidth = "50 GB/s" }
  local c = soapstone.collective { topology = fat, bytes = 16 * 500000, algorithm = "ring", links = "shared" }
  equal(c.devices, 16)
  equal(c.messages, 480)
  near(c.time, c.closed_form)
  for _, link in ipairs(c.result.links) do equal(link.longest_wait, 0) end
end)

claim("messages and closed forms go by the laws of links, unless these are left aside", function()
  local t = star(2)
  t:set_link("hub", { half_size = 1000000, load = 0.5, latency_by_size = { { bytes = 1000, latency = "3 us" } } })
  local function p2p(o)
    o.topology, o.bytes, o.operation, o.links = t, 1000000, "p2p", o.links or "shared"
    return soapstone.collective(o)
  end
  local c = p2p {}
  near(c.time, 6e-6 + 2 * 1000000 / 5e9)
  near(c.closed_form, c.time)
  local hops = p2p { links = "fifo-hop" }
  near(hops.time, 6e-6 + 4 * 1000000 / 5e9)
  near(hops.closed_form, hops.time)
  local ideal = p2p { ideal_links = true }
  near(ideal.time, 2e-6 + 1000000 / 1e10)
  near(ideal.closed_form, ideal.time)
end)

-- A partner half way round a ring is many links away, and each of those links is of others, too.
claim("auto is within a tenth of the best where the forms are what messages take", function()
  local topologies = {
    require "topologies.ring" { devices = 16 }, require "topologies.torus" { sizes = { 4, 4 } },
    require "topologies.dragonfly" { groups = 4 }, require "topologies.fat_tree" { radix = 4, levels = 3, oversubscription = 4 },
    require "topologies.p100_cluster" { nodes = 4 }, require "topologies.hgx_h100" { nodes = 3 }, star(13),
  }
  for _, t in ipairs(topologies) do
    for _, operation in ipairs { "all_reduce", "all_gather", "broadcast" } do
      for _, bytes in ipairs { 4096, 1 << 20, 1 << 26 } do
        local function take(algorithm)
          return soapstone.collective { topology = t, bytes = bytes, operation = operation, algorithm = algorithm,
            links = "shared" }
        end
        local auto = take "auto"
        for _, algorithm in ipairs { "ring", "double_tree", "halving_doubling", "hierarchical", "tree" } do
          local asked_for = operation == "all_reduce" and algorithm == "tree"
          local ok, c = pcall(take, algorithm)
          if ok and not asked_for and math.abs(c.time / c.closed_form - 1) < 0.1 then
            assert(auto.time < 1.1 * c.time, ("%s, %s of %d bytes: %s takes %g, %s %g"):format(t.name, operation, bytes,
              auto.algorithm, auto.time, algorithm, c.time))
          end
        end
      end
    end
  end
end)

claim("a message needs a way there, and none back", function()
  local t = soapstone.topology.new { name = "one way" }
  t:link(t:device("a", { kind = "mine" }), t:device("b", { kind = "mine" }), { bandwidth = "1 GB/s", duplex = "one_way" })
  local c = soapstone.collective { topology = t, operation = "p2p", bytes = 1000, links = "shared" }
  near(c.time, 1e-6)
  near(c.closed_form, 1e-6)
end)

claim("a limit of flows is one of every message", function()
  local c = soapstone.collective { topology = star(5), bytes = 5000000, algorithm = "ring", links = "shared",
    flow_limit = "1 GB/s" }
  near(c.time, 8 * (2e-6 + 1000000 / 1e9))
  near(c.closed_form, c.time)
  assert(c.result.assumptions:find("at most 1.000 GB/s a message", 1, true))
end)

claim("both ways round are one link of two devices, and one port of several", function()
  for n = 2, 8, 2 do
    local c = soapstone.collective { topology = star(n), bytes = n * 1000000, algorithm = "bidirectional_ring",
      links = "shared" }
    near(c.time, 2 * (n - 1) * (2e-6 + 1000000 / 1e10))
    near(c.closed_form, c.time)
  end
end)

claim("a result lasts when its topology is closed, which can no longer change", function()
  local t = star(3)
  local c = soapstone.collective { topology = t, bytes = 99 }
  fails("can no longer change", t.switch, t, "another")
  t:close()
  equal(c.result.devices[1].name, "d1")
  fails("collective", function() return c.bus_bandwith end)
end)

claim("link after link, a queue is waited in once, and auto takes what is fastest", function()
  local p100 = require "topologies.p100_cluster" {}
  for _, links in ipairs { "fifo-hop", "fifo-pipe" } do
    local function reduce(algorithm)
      return soapstone.collective { topology = p100, bytes = "64 MiB", links = links, algorithm = algorithm }
    end
    local levels, auto = reduce "hierarchical", reduce "auto"
    assert(math.abs(levels.time / levels.closed_form - 1) < 1e-3, levels.time / levels.closed_form)
    for _, other in ipairs { "ring", "double_tree", "halving_doubling", "hierarchical" } do
      assert(auto.time <= reduce(other).time, other)
    end
  end
end)

-- The step time of one weight of so many bytes, which is all that there is.
local function meet(topology, bytes, sync, o)
  local m = soapstone.model.new { name = "one" }
  m:linear("l", m:input("x", { 24 * 16, bytes // 16 }), { out = 4, bias = false })
  o.model, o.topology, o.sync = m, topology, sync
  o.costs = soapstone.costs.given { l = { forward = 0, backward = 0 } }
  local p = soapstone.problem(o)
  return p:simulate(p:strategy "data_parallel").step_time
end

local considered = { "ring", "double_tree", "halving_doubling", "hierarchical" }

claim("an all-reduce that is one task is chosen by what that task takes", function()
  local topologies = { require "topologies.p100_cluster" { nodes = 2 },
    require "topologies.fat_tree" { down = { 4, 2 }, up = { 2 }, kind = "p100" }, require "topologies.star" { devices = 8 } }
  for _, topology in ipairs(topologies) do
    for _, links in ipairs { "fifo-hop", "fifo-pipe", "fifo-path", "shared" } do
      for _, bytes in ipairs { 1600, 160000, 16000000 } do
        local auto = meet(topology, bytes, "auto", { links = links, aggregate = true })
        for _, sync in ipairs(considered) do
          local other = meet(topology, bytes, sync, { links = links, aggregate = true })
          assert(auto <= other * (1 + 1e-6), ("%s, %s, %d bytes: %g, %s takes %g"):format(topology.name, links, bytes, auto,
            sync, other))
        end
      end
    end
  end
end)

-- With half a size of 100 kB on links a message of a share is slow, and few large ones win: halving folds four in.
claim("auto knows that small messages are slow where links have laws", function()
  for _, bytes in ipairs { 1600, 160000, 16000000 } do
    for _, half in ipairs { 1e3, 1e5, 1e6 } do
      local t = soapstone.topology.new { name = "star" }
      local hub = t:switch "hub"
      for i = 1, 12 do
        t:link(t:device("d" .. i, { kind = "mine" }), hub, { bandwidth = 10e9, latency = 1e-7, half_size = half })
      end
      local auto = meet(t, bytes, "auto", { links = "shared" })
      for _, sync in ipairs(considered) do
        local other = meet(t, bytes, sync, { links = "shared" })
        assert(auto <= other * (1 + 1e-6), ("half of %g, %d bytes: %g, %s takes %g"):format(half, bytes, auto, sync, other))
      end
    end
  end
end)

claim("a tensor is cut into as many chunks as were asked for", function()
  local t = star(8)
  for _, algorithm in ipairs { "tree", "double_tree" } do
    for _, chunks in ipairs { 1, 3, 5, 7, 9, 100, 255, 300 } do
      equal(soapstone.collective { topology = t, bytes = 1000, algorithm = algorithm, chunks = chunks }.chunks, chunks)
    end
  end
end)

check.done()
