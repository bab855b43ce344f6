-- One of n devices is f times as slow: a step of data parallelism is longer by (f - 1) of what it computes, and by no more.
--
--   soapstone run validation/closed_form/slow_device/case.lua

local law = require "validation.closed_form.common"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"

local case = law.open("slow_device", { "how", "overlap", "devices", "layers", "f" }, "ps")

local bandwidth, latency = 11e9, 2e-6
local width = 210 -- 176400 bytes, which 2 to 8 divide

local function ring(n, slow, speed)
  local t = topology.new { name = "ring" }
  for i = 1, n do t:device("d" .. i, { forwards = true, speed = i == slow and speed or 1 }) end
  for i = 1, n do t:link("d" .. i, "d" .. i % n + 1, { bandwidth = bandwidth, latency = latency, duplex = "one_way" }) end
  return t
end

-- Layers of equal weights; times in seconds, of a part.
local function step(n, times, options)
  local net = soapstone.model.new { name = "layers" }
  local x = net:input("x", { 4 * n, width })
  local given = { per = "part" }
  for i, time in ipairs(times) do
    x = net:linear("fc" .. i, x, { out = width, bias = false })
    given["fc" .. i] = { forward = time.forward, backward = time.backward }
  end
  local problem = soapstone.problem { model = net, topology = ring(n, options.slow, options.speed), links = options.links, sync = "ring",
    overlap = options.overlap, chance = options.chance, costs = soapstone.costs.given(given) }
  return law.picoseconds(problem:simulate(problem:strategy "data_parallel").step_time)
end

-- What the slow device computes, each task rounded when it enters; and the meeting of one gradient.
local function computed(times, f)
  local whole = 0
  for _, time in ipairs(times) do
    whole = whole + law.scaled(law.rounded(time.forward), f) + law.scaled(law.rounded(time.backward), f)
  end
  return whole
end

local function meeting(n, links)
  return 2 * (n - 1) * law.over_link(links, law.largest_share(width * width * 4, n), bandwidth, latency)
end

local one = { { forward = 1.000000002e-3, backward = 2.000000004e-3 } } -- whole picoseconds, and half as much again
for _, f in ipairs { 1, 1.5, 3 } do
  for _, n in ipairs { 2, 5 } do
    local slow = math.random(1, n)
    case:equal({ "a fixed factor", "yes", n, 1, f }, step(n, one, { chance = soapstone.chance { slow = { [slow] = f } } }),
      computed(one, f) + meeting(n, "fifo-hop"))
    case:equal({ "its speed", "yes", n, 1, f }, step(n, one, { slow = slow, speed = 1 / f }),
      computed(one, f) + meeting(n, "fifo-hop"))
  end
end

-- Several layers whose gradients meet when all are there: the meetings of all layers follow each other on the links.
math.randomseed(1)
for _, links in ipairs(law.meanings) do
  local random = case:group { "random, " .. links, "no", "2 to 8", "1", "1 to 4" }
  for _ = 1, 15 do
    local n, f = math.random(2, 8), 1 + 3 * math.random()
    local times = { { forward = math.random(1, 10 ^ 9) * 1e-12, backward = math.random(1, 10 ^ 9) * 1e-12 } }
    random:equal(step(n, times, { overlap = false, links = links, chance = soapstone.chance { slow = { [math.random(1, n)] = f } } }),
      computed(times, f) + meeting(n, links))
  end
  random:close()
end

-- How much longer: (f - 1) times what is computed, whatever the meeting takes, for any number of layers.
local longer = case:group { "longer than without", "no", "2 to 6", "1 to 5", "1 to 4" }
for _ = 1, 15 do
  local n, f, layers = math.random(2, 6), 1 + 3 * math.random(), math.random(1, 5)
  local times = {}
  for i = 1, layers do times[i] = { forward = math.random(1, 10 ^ 9) * 1e-12, backward = math.random(1, 10 ^ 9) * 1e-12 } end
  local with = step(n, times, { overlap = false, chance = soapstone.chance { slow = { [math.random(1, n)] = f } } })
  longer:equal(with - step(n, times, { overlap = false }), computed(times, f) - computed(times, 1))
end
longer:close()

-- All devices slow are as one: no more than the slowest counts.
local several = case:group { "several are slow", "no", "2 to 6", "1", "1 to 4" }
for _ = 1, 15 do
  local n, slow, most = math.random(2, 6), {}, 1
  for i = 1, n do
    slow[i] = 1 + 3 * math.random()
    most = math.max(most, slow[i])
  end
  several:equal(step(n, one, { overlap = false, chance = soapstone.chance { slow = slow } }), computed(one, most) + meeting(n, "fifo-hop"))
end
several:close()

case:close()
