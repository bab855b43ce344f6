-- A pipeline of s stages takes m micro-batches in (m + s - 1) t; unequal stages in the sum of all and m - 1 times the slowest.
--
--   soapstone run validation/closed_form/pipeline_bubble/case.lua
--
-- The script writes the tasks of a pipeline and what they wait for; a schedule is an order on each device.

local law = require "validation.closed_form.common"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"

local case = law.open("pipeline_bubble", { "schedule", "stages", "micro-batches" }, "ps")

local function chain(stages, bandwidth, latency)
  local t = topology.new { name = "stages" }
  for i = 1, stages do t:device("stage" .. i) end
  for i = 2, bandwidth and stages or 1 do
    t:link("stage" .. i - 1, "stage" .. i, { bandwidth = bandwidth[i - 1], latency = latency, duplex = "one_way" })
  end
  return t
end

local function finish(run)
  return law.picoseconds(run:finish().step_time)
end

local function sum(list)
  local s = 0
  for _, x in ipairs(list) do s = s + x end
  return s
end

local function whole_picoseconds(from, to)
  return math.random(from, to) * 1e-12
end

-- Forward only: every micro-batch through every stage, first come first served.
local function forward_only(times, m)
  local run = soapstone.run { topology = chain(#times) }
  for _ = 1, m do
    local before
    for i, time in ipairs(times) do before = run:compute(i, time, { after = before }) end
  end
  return finish(run)
end

-- A schedule is, for each stage, the list of { forward or backward, micro-batch } that it does in this order.  A task waits
-- for the one before it there and for the same micro-batch in the stage before, or for backward the one after.
local function by_schedule(order, forward, backward, m)
  local stages = #order
  local run = soapstone.run { topology = chain(stages) }
  local done, place, left = { f = {}, b = {} }, {}, 0
  for i = 1, stages do
    done.f[i], done.b[i], place[i] = {}, {}, 1
    left = left + #order[i]
  end
  while left > 0 do
    local went = false
    for i = 1, stages do
      while place[i] <= #order[i] do
        local way, k = table.unpack(order[i][place[i]])
        local after = {}
        local from
        if way == "f" then
          from = i == 1 or done.f[i - 1][k]
        else
          from = i == stages and done.f[i][k] or (i < stages and done.b[i + 1][k])
        end
        if not from then break end
        if from ~= true then after[1] = from end
        if place[i] > 1 then
          local way_before, k_before = table.unpack(order[i][place[i] - 1])
          after[#after + 1] = done[way_before][i][k_before]
        end
        done[way][i][k] = run:compute(i, (way == "f" and forward or backward)[i], { after = after })
        place[i], left, went = place[i] + 1, left - 1, true
      end
    end
    assert(went, "the schedule waits for itself")
  end
  assert(run.tasks == 2 * stages * m)
  return finish(run)
end

-- All forward, then all backward.
local function flushed(stages, m)
  local order = {}
  for i = 1, stages do
    order[i] = {}
    for k = 1, m do table.insert(order[i], { "f", k }) end
    for k = 1, m do table.insert(order[i], { "b", k }) end
  end
  return order
end

-- One forward, one backward, after as many forward as there are stages behind.
local function alternating(stages, m)
  local order = {}
  for i = 1, stages do
    order[i] = {}
    local ahead = math.min(stages - i, m)
    for k = 1, ahead do table.insert(order[i], { "f", k }) end
    for k = 1, m do
      if k + ahead <= m then table.insert(order[i], { "f", k + ahead }) end
      table.insert(order[i], { "b", k })
    end
  end
  return order
end

-- Device i holds v pieces of the network, i, i + s, i + 2 s, ...; micro-batches go in groups of s.
local function interleaved(stages, m, v, piece)
  local run = soapstone.run { topology = chain(stages) }
  local last = {}            -- of each device
  local done = {}            -- of micro-batch and place in the network
  for k = 1, m do done[k] = {} end
  for group = 0, m // stages - 1 do
    for c = 0, v - 1 do
      for i = 1, stages do
        for k = group * stages + 1, (group + 1) * stages do
          local place = c * stages + i
          done[k][place] = run:compute(i, piece, { after = { done[k][place - 1] or last[i], last[i] } })
          last[i] = done[k][place]
        end
      end
    end
  end
  return finish(run)
end

local function repeated(x, n)
  local list = {}
  for i = 1, n do list[i] = x end
  return list
end

local f, b = 1.000003e-3, 2.5e-3 -- whole picoseconds
local F, B = law.rounded(f), law.rounded(b)
for _, s in ipairs { 1, 2, 4, 7 } do
  for _, m in ipairs { 1, 3, 16 } do
    local fs, bs = repeated(f, s), repeated(b, s)
    case:equal({ "forward only", s, m }, forward_only(fs, m), (m + s - 1) * F)
    case:equal({ "all forward, all backward", s, m }, by_schedule(flushed(s, m), fs, bs, m), (m + s - 1) * (F + B))
    case:equal({ "one forward, one backward", s, m }, by_schedule(alternating(s, m), fs, bs, m), (m + s - 1) * (F + B))
  end
end
for _, v in ipairs { 2, 4 } do
  for _, s in ipairs { 2, 4 } do
    local m = 3 * s
    case:equal({ "interleaved, " .. v .. " pieces", s, m }, interleaved(s, m, v, f), (m * v + s - 1) * F)
  end
end

-- Unequal stages.
math.randomseed(1)
local unequal = case:group { "unequal, forward only", "random", "random" }
local both_ways = case:group { "unequal, all forward, all backward", "random", "random" }
local bound = case:group { "unequal, one forward, one backward", "random", "random" }
for _ = 1, 40 do
  local s, m = math.random(1, 9), math.random(1, 20)
  local fs, bs = {}, {}
  for i = 1, s do fs[i], bs[i] = whole_picoseconds(1, 5000000), whole_picoseconds(1, 9000000) end
  local whole_f, whole_b = {}, {}
  for i = 1, s do whole_f[i], whole_b[i] = law.rounded(fs[i]), law.rounded(bs[i]) end
  local most_f, most_b = math.max(table.unpack(whole_f)), math.max(table.unpack(whole_b))
  unequal:equal(forward_only(fs, m), sum(whole_f) + (m - 1) * most_f)
  both_ways:equal(by_schedule(flushed(s, m), fs, bs, m), sum(whole_f) + sum(whole_b) + (m - 1) * (most_f + most_b))
  local least, ahead = 0, 0
  for i = 1, s do
    least = math.max(least, ahead + m * (whole_f[i] + whole_b[i]))
    ahead = ahead + whole_f[i] + whole_b[i]
  end
  bound:at_least(by_schedule(alternating(s, m), fs, bs, m), least)
end
unequal:close()
both_ways:close()
bound:close()

-- Messages between stages are stages themselves: a link serves one after the other, and its latency is paid once.
for _, links in ipairs { "fifo-hop", "fifo-pipe", "fifo-path" } do
  local with_messages = case:group { "unequal, with messages, " .. links, "random", "random" }
  for _ = 1, 20 do
    local s, m = math.random(2, 7), math.random(1, 20)
    local bytes, latency = math.random(1, 3000), math.random(0, 3000) * 1e-9
    local bandwidth, times, slowest, total = {}, {}, 0, 0
    for i = 1, s do
      times[i] = whole_picoseconds(1, 5000000)
      slowest = math.max(slowest, law.rounded(times[i]))
      total = total + law.rounded(times[i])
      if i > 1 then
        bandwidth[i - 1] = math.random(1000, 5000) * 1e6
        local message = law.over_link(links, bytes, bandwidth[i - 1], latency)
        total = total + message
        slowest = math.max(slowest, links == "fifo-pipe" and message - law.rounded(latency) or message)
      end
    end
    local run = soapstone.run { topology = chain(s, bandwidth, latency), links = links }
    for _ = 1, m do
      local before = run:compute(1, times[1])
      for i = 2, s do
        before = run:send(i - 1, i, bytes, { after = before })
        before = run:compute(i, times[i], { after = before })
      end
    end
    with_messages:equal(finish(run), total + (m - 1) * slowest)
  end
  with_messages:close()
end

case:close()
