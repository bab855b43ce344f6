-- A ring all-reduce takes 2 (n - 1) messages after each other: 2 (n - 1) (a + s / (n b)).
--
--   soapstone run validation/closed_form/ring_all_reduce/case.lua

local law = require "validation.closed_form.common"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"

local case = law.open("ring_all_reduce", { "what", "links", "devices", "bytes" }, "ps")

local bandwidth, latency = 7e9, 1.3e-6 -- a byte takes 142.857 ps

local function simulate(t, links, bytes, options)
  options = options or {}
  return soapstone.collective { topology = t, operation = "all_reduce", algorithm = "ring", links = links, bytes = bytes,
    segment = options.segment, devices = options.devices }
end

-- Messages of a ring on links of their own, shares even and uneven, and fewer bytes than devices.
for _, links in ipairs(law.meanings) do
  for _, n in ipairs { 2, 3, 8, 33 } do
    local ring = require "topologies.ring" { devices = n, bandwidth = bandwidth, latency = latency, one_way = true }
    for _, bytes in ipairs { 1, 1000003, 64 << 20 } do
      local c = simulate(ring, links, bytes)
      case:equal({ "expanded", links, n, bytes }, law.picoseconds(c.time),
        2 * (n - 1) * law.over_link(links, law.largest_share(bytes, n), bandwidth, latency))
    end
  end
end

-- What crosses the links: everyone passes on every share but one, twice.
local moved = case:group { "bytes moved [B]", "any", "2 to 33", "random" }
math.randomseed(1)
for _ = 1, 20 do
  local n, bytes = math.random(2, 33), math.random(0, 10000000)
  local ring = require "topologies.ring" { devices = n, bandwidth = bandwidth, latency = latency, one_way = true }
  moved:equal(simulate(ring, "fifo-path", bytes).result.bytes_moved, 2 * (n - 1) * bytes)
end
moved:close()

-- Through a switch: a route as a whole pays its latencies and its bytes once, link after link pays the bytes twice.
for _, links in ipairs(law.meanings) do
  for _, n in ipairs { 5, 16 } do
    local t = topology.new { name = "star" }
    local switch = t:switch "switch"
    for i = 1, n do t:link(t:device("d" .. i), switch, { bandwidth = bandwidth, latency = latency }) end
    local bytes = 10000019
    local share = law.largest_share(bytes, n)
    local message
    if links == "fifo-path" then
      message = law.rounded(2 * latency + share / bandwidth)
    elseif links == "shared" then
      message = law.rounded(2 * latency) + law.rounded(share / bandwidth)
    else
      message = 2 * law.over_link(links, share, bandwidth, latency)
    end
    case:equal({ "over a switch", links, n, bytes }, law.picoseconds(simulate(t, links, bytes).time), 2 * (n - 1) * message)
  end
end

-- Neighbours with links of different kinds: the slowest for the share has all 2 (n - 1) messages, one after the other.
for _, links in ipairs(law.meanings) do
  local unequal = case:group { "unequal links", links, "2 to 12", "even shares" }
  for _ = 1, 20 do
    local n = math.random(2, 12)
    local share, slowest = math.random(1, 1000000), 0
    local t = topology.new { name = "unequal" }
    for i = 1, n do t:device("d" .. i, { forwards = true }) end
    for i = 1, n do
      local b, a = math.random(1000000, 50000000) * 1e3, math.random(0, 5000) * 1e-9
      t:link("d" .. i, "d" .. i % n + 1, { bandwidth = b, latency = a, duplex = "one_way" })
      slowest = math.max(slowest, law.over_link(links, share, b, a))
    end
    unequal:equal(law.picoseconds(simulate(t, links, share * n).time), 2 * (n - 1) * slowest)
  end
  unequal:close()
end

-- In a training step: forward, backward, and the ring of the one gradient.
for _, links in ipairs(law.meanings) do
  for _, n in ipairs { 2, 6 } do
    local ring = require "topologies.ring" { devices = n, bandwidth = bandwidth, latency = latency, one_way = true }
    local net = soapstone.model.new { name = "layer" }
    net:linear("fc", net:input("x", { 8 * n, 100 }), { out = 77, bias = false })
    local problem = soapstone.problem { model = net, topology = ring, sync = "ring", links = links,
      costs = soapstone.costs.given { fc = { forward = 1.1e-3, backward = 2.3e-3 } } }
    local bytes = 100 * 77 * 4
    local form = law.rounded(1.1e-3) + law.rounded(2.3e-3) +
      2 * (n - 1) * law.over_link(links, law.largest_share(bytes, n), bandwidth, latency)
    case:equal({ "in a step", links, n, bytes }, law.picoseconds(problem:simulate(problem:strategy "data_parallel").step_time), form)
  end
end

case:close()
