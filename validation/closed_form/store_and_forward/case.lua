-- A message in k segments over h links, each of which passes on what has arrived: (h + k - 1) s / (k b).
--
--   soapstone run validation/closed_form/store_and_forward/case.lua

local law = require "validation.closed_form.common"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"

local case = law.open("store_and_forward", { "what", "links", "hops", "segments", "bytes" }, "ps")

local b, a = 7e9, 1.3e-6

-- Two devices and switches between them, so that there are as many links as bandwidths and latencies.
local function line(bandwidth, latency, stages)
  local t = topology.new { name = "line" }
  local before = t:device "from"
  local to = t:device "to"
  for i = 1, #bandwidth do
    local node = i == #bandwidth and to or t:switch("switch" .. i, { stages = stages or false })
    t:link(before, node, { bandwidth = bandwidth[i], latency = latency[i], duplex = "one_way" })
    before = node
  end
  return t
end

local function repeated(x, n)
  local list = {}
  for i = 1, n do list[i] = x end
  return list
end

local function simulate(t, links, bytes, segments)
  local c = soapstone.collective { topology = t, operation = "p2p", devices = { 1, 2 }, bytes = bytes, links = links,
    segment = segments > 1 and (bytes + segments - 1) // segments or 0, max_segments = 1024 }
  return law.picoseconds(c.time)
end

-- Equal links, segments of equal size or not: the first is the longest.
for _, links in ipairs { "fifo-hop", "fifo-pipe" } do
  for _, h in ipairs { 1, 2, 5 } do
    for _, k in ipairs { 1, 4, 16 } do
      local bytes = 1600000
      local each = bytes // k
      if links == "fifo-hop" then
        case:equal({ "equal", links, h, k, bytes }, simulate(line(repeated(b, h), repeated(a, h)), links, bytes, k),
          (h + k - 1) * law.rounded(each / b + a))
      else
        case:equal({ "equal", links, h, k, bytes }, simulate(line(repeated(b, h), repeated(a, h)), links, bytes, k),
          (h + k - 1) * law.rounded(each / b) + h * law.rounded(a))
      end
    end
  end
end

-- At once over the whole route: bytes are paid once, segments are none.
for _, h in ipairs { 1, 5 } do
  local bytes = 1600000
  local t = line(repeated(b, h), repeated(a, h))
  local sum = 0
  for _ = 1, h do sum = sum + a end
  case:equal({ "at once", "fifo-path", h, 1, bytes }, simulate(t, "fifo-path", bytes, 4), law.rounded(sum + bytes / b))
  case:equal({ "at once", "shared", h, 1, bytes }, simulate(t, "shared", bytes, 4), law.rounded(sum) + law.rounded(bytes / b))
end

-- Switches that stage make legs of one link each, however links are used.
for _, links in ipairs { "fifo-path", "shared" } do
  for _, h in ipairs { 2, 5 } do
    for _, k in ipairs { 1, 8 } do
      local bytes = 1600000
      local message = law.over_link(links, bytes // k, b, a)
      case:equal({ "staged", links, h, k, bytes }, simulate(line(repeated(b, h), repeated(a, h), true), links, bytes, k), (h + k - 1) * message)
    end
  end
end

-- Any links, any number of bytes: the links are stages of a pipeline, the segments what goes through.  Equal segments take all
-- links once and the slowest k - 1 times more; unequal ones on equal links all segments once and the longest h - 1 times more.
math.randomseed(1)
for _, links in ipairs { "fifo-hop", "fifo-pipe" } do
  local unequal_links = case:group { "unequal links", links, "1 to 8", "1 to 40", "random" }
  local unequal_segments = case:group { "unequal segments", links, "1 to 8", "2 to 40", "random" }
  for _ = 1, 40 do
    local h, k, each = math.random(1, 8), math.random(1, 40), math.random(1, 100000)
    local bandwidth, latency, total, slowest = {}, {}, 0, 0
    for i = 1, h do
      bandwidth[i], latency[i] = math.random(1, 400) * 1e8, math.random(0, 3000) * 1e-9
      local held = links == "fifo-hop" and law.rounded(each / bandwidth[i] + latency[i]) or law.rounded(each / bandwidth[i])
      total = total + held + (links == "fifo-pipe" and law.rounded(latency[i]) or 0)
      slowest = math.max(slowest, held)
    end
    unequal_links:equal(simulate(line(bandwidth, latency), links, each * k, k), total + (k - 1) * slowest)

    k = math.random(2, 40)
    local bytes = math.random(k * k, 100000) -- cut into as many as were asked for
    k = (bytes - 1) // ((bytes + k - 1) // k) + 1
    local function held(size)
      return links == "fifo-hop" and law.rounded(size / b + a) or law.rounded(size / b)
    end
    local short, longer = bytes // k, bytes % k
    local longest = held(longer > 0 and short + 1 or short)
    unequal_segments:equal(simulate(line(repeated(b, h), repeated(a, h)), links, bytes, k),
      longer * held(short + 1) + (k - longer) * held(short) + (h - 1) * longest + (links == "fifo-pipe" and h * law.rounded(a) or 0))
  end
  unequal_links:close()
  unequal_segments:close()
end

case:close()
