-- All-gather, reduce-scatter, broadcast, reduce, all-to-all and all-reduces other than the ring, where their forms are exact.
--
--   soapstone run validation/closed_form/other_collectives/case.lua

local law = require "validation.closed_form.common"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"

local case = law.open("other_collectives", { "operation", "algorithm", "network", "links", "devices", "bytes" }, "ps")

local b, a = 7e9, 1.3e-6

-- A link each way for each pair, or one each way to a switch.
local networks = {}

function networks.mesh(n)
  local t = topology.new { name = "mesh" }
  for i = 1, n do t:device("d" .. i) end
  for i = 1, n do
    for k = i + 1, n do t:link("d" .. i, "d" .. k, { bandwidth = b, latency = a }) end
  end
  return t
end

function networks.star(n)
  local t = topology.new { name = "star" }
  local switch = t:switch "switch"
  for i = 1, n do t:link(t:device("d" .. i), switch, { bandwidth = b, latency = a }) end
  return t
end

-- What a message takes alone.
local function message(network, links, bytes)
  if network == "mesh" then return law.over_link(links, bytes, b, a) end
  if links == "fifo-path" then return law.rounded(2 * a + bytes / b) end
  return law.rounded(2 * a) + law.rounded(bytes / b)
end

local function log2(n) -- rounded up
  local rounds = 0
  while 1 << rounds < n do rounds = rounds + 1 end
  return rounds
end

local function simulate(operation, algorithm, t, links, bytes, chunks)
  local c = soapstone.collective { topology = t, operation = operation, algorithm = algorithm, links = links, bytes = bytes, chunks = chunks }
  return law.picoseconds(c.time), c
end

-- The laws for a port a member or a link a pair: operation, algorithm, devices, the form of (devices, bytes, what a message of so
-- many bytes takes, chunks), sizes, chunks, and the networks.
local uneven, even, divisible = 1000003, 2040 * 1001, 17 << 16
local function rounds_of_halving(n, s, one)
  local sum, share = 0, s
  for _ = 1, log2(n) do
    share = share // 2
    sum = sum + one(share)
  end
  return sum
end

local anywhere = { { "mesh", law.meanings }, { "star", { "fifo-path", "shared" } } }
local on_mesh = { { "mesh", law.meanings } }
local some, powers = { 2, 3, 5, 8, 17 }, { 2, 4, 8, 16, 32 }
local laws = {
  { "all_gather", "ring", some, function(n, s, one) return (n - 1) * one(law.largest_share(s, n)) end, uneven, { 1 }, anywhere },
  { "reduce_scatter", "ring", some, function(n, s, one) return (n - 1) * one(law.largest_share(s, n)) end, uneven, { 1 }, anywhere },
  { "all_gather", "halving_doubling", powers, rounds_of_halving, divisible, { 1 }, anywhere },
  { "reduce_scatter", "halving_doubling", powers, rounds_of_halving, divisible, { 1 }, anywhere },
  { "all_reduce", "halving_doubling", powers, function(n, s, one) return 2 * rounds_of_halving(n, s, one) end, divisible, { 1 }, anywhere },
  -- beyond a power of two: a whole tensor there and back
  { "all_reduce", "halving_doubling", { 3, 5, 11, 24 }, function(n, s, one)
    return 2 * rounds_of_halving(1 << log2(n) - 1, s, one) + 2 * one(s)
  end, divisible, { 1 }, anywhere },
  { "all_to_all", "pairwise", some, function(n, s, one) return (n - 1) * one(s // n) end, even, { 1 }, anywhere },
  -- a device whose own share is a small one sends all the large ones
  { "all_to_all", "pairwise", some, function(n, s, one)
    return s % n * one(s // n + 1) + (n - 1 - s % n) * one(s // n)
  end, uneven, { 1 }, on_mesh },
  { "broadcast", "ring", some, function(n, s, one, k) return (n - 2 + k) * one(s // k) end, even, { 1, 4, 10 }, anywhere },
  { "reduce", "ring", some, function(n, s, one, k) return (n - 2 + k) * one(s // k) end, even, { 1, 4, 10 }, anywhere },
  { "broadcast", "tree", some, function(n, s, one) return log2(n) * one(s) end, uneven, { 1 }, anywhere },
  { "reduce", "tree", some, function(n, s, one) return log2(n) * one(s) end, uneven, { 1 }, anywhere },
  -- two trees of height log2 n, half of the tensor each
  { "all_reduce", "double_tree", { 4, 8, 16, 32 }, function(n, s, one, k) return (2 * log2(n) + k - 1) * one(s // (2 * k)) end, even, { 1, 2 }, on_mesh },
  { "p2p", "direct", { 2 }, function(_, s, one) return one(s) end, uneven, { 1 }, anywhere },
}
for _, row in ipairs(laws) do
  local operation, algorithm, members, form, bytes, chunks, where = table.unpack(row)
  for _, place in ipairs(where) do
    local network, meanings = table.unpack(place)
    for _, links in ipairs(meanings) do
      local many = case:group { operation, algorithm, network, links, members[1] .. " to " .. members[#members], bytes }
      local told = not (operation == "all_to_all" and bytes == uneven) -- the form takes the largest share for each
      local own = told and case:group { operation, "its closed_form", network, links, members[1] .. " to " .. members[#members], bytes }
      for _, n in ipairs(members) do
        local t = networks[network](n)
        local function one(size) return message(network, links, size) end
        for _, k in ipairs(chunks) do
          local time, c = simulate(operation, algorithm, t, links, bytes, k)
          local by_law = form(n, bytes, one, k)
          many:equal(time, by_law)
          if told then own:within(c.closed_form * 1e12, by_law, c.messages / 2) end -- not rounded at each message
        end
      end
      many:close()
      if told then own:close() end
    end
  end
end

-- All-reduce over a binary tree through one port a member, complete: in fifo-path a parent takes two messages one after the other,
-- over shared links both at half the rate.
for _, h in ipairs { 2, 3, 4 } do
  local n, bytes = (1 << h) - 1, 1000003
  local d = law.rounded(2 * a + bytes / b)
  case:equal({ "all_reduce", "tree", "star", "fifo-path", n, bytes }, simulate("all_reduce", "tree", networks.star(n), "fifo-path", bytes, 1),
    4 * (h - 1) * d)
  case:equal({ "all_reduce", "tree", "star", "shared", n, bytes }, simulate("all_reduce", "tree", networks.star(n), "shared", bytes, 1),
    2 * (h - 1) * (law.rounded(2 * a) + law.rounded(2 * bytes / b)))
end

-- Half of the tensor each way round a ring.
for _, links in ipairs(law.meanings) do
  local many = case:group { "all_reduce", "bidirectional_ring", "ring", links, "3 to 17", "even" }
  for _, n in ipairs { 3, 5, 8, 17 } do
    local t = require "topologies.ring" { devices = n, bandwidth = b, latency = a }
    local bytes = 2 * n * 10007
    many:equal(simulate("all_reduce", "bidirectional_ring", t, links, bytes), 2 * (n - 1) * law.over_link(links, 10007, b, a))
  end
  many:close()
end

-- m machines of l members.  By two levels: to the first of a machine, to the first of all, and back; by rings inside and across.
for _, grid in ipairs { { 2, 4 }, { 3, 2 }, { 4, 4 } } do
  local m, l = table.unpack(grid)
  local function machines(t, switch)
    for i = 1, m * l do
      local device = t:device("d" .. i, { machine = (i - 1) // l + 1 })
      if switch then t:link(device, switch, { bandwidth = b, latency = a }) end
    end
    return t
  end
  local t = topology.new { name = "machines" }
  machines(t, t:switch "switch")
  case:equal({ "all_reduce", "two_level", "star", "fifo-path", m .. " x " .. l, uneven }, simulate("all_reduce", "two_level", t, "fifo-path", uneven),
    2 * (l - 1 + m - 1) * law.rounded(2 * a + uneven / b))
  local mesh = machines(topology.new { name = "machines" })
  for i = 1, m * l do
    for k = i + 1, m * l do mesh:link("d" .. i, "d" .. k, { bandwidth = b, latency = a }) end
  end
  local bytes = m * l * 10007
  for _, links in ipairs(law.meanings) do
    case:equal({ "all_reduce", "hierarchical", "mesh", links, m .. " x " .. l, bytes }, simulate("all_reduce", "hierarchical", mesh, links, bytes),
      2 * (l - 1) * law.over_link(links, m * 10007, b, a) + 2 * (m - 1) * law.over_link(links, 10007, b, a))
  end
end

-- Switches that add up: h links up and h down, k chunks behind each other.
for _, links in ipairs(law.meanings) do
  for _, k in ipairs { 1, 5 } do
    local bytes = 5 * 20011
    case:equal({ "all_reduce", "in_network", "star", links, 6, bytes }, simulate("all_reduce", "in_network", networks.star(6), links, bytes, k),
      (2 + k - 1) * law.over_link(links, bytes // k, b, a))
  end
end

-- What nccl-tests calls bus bandwidth is that of a link, whatever the number of devices, where latency is nothing.
for _, n in ipairs { 2, 4, 16 } do
  local t = require "topologies.ring" { devices = n, bandwidth = 1e9, latency = 0, one_way = true }
  local _, c = simulate("all_reduce", "ring", t, "fifo-hop", n * 4096)
  case:within({ "bus bandwidth [B/s]", "ring", "ring", "fifo-hop", n, n * 4096 }, c.bus_bandwidth, 1e9, 1e9 * 2 ^ -50)
end

case:close()
