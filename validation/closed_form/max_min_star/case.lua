-- Flows over a star have the rates of progressive filling, and end when those say.
--
--   soapstone run validation/closed_form/max_min_star/case.lua

local law = require "validation.closed_form.common"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"

local case = law.open("max_min_star", { "pattern", "what" }, "B/s or ps")

-- Device i reaches the switch over link 2 i - 1, with up[i] bytes a second, and hears it over link 2 i, with down[i].
-- A flow is { from, to, weight =, limit =, bytes = }.
local function star(up, down, flows)
  local t = topology.new { name = "star" }
  local switch = t:switch "switch"
  for i = 1, #up do
    t:device("d" .. i)
    t:link("d" .. i, switch, { bandwidth = up[i], duplex = "one_way" })
    t:link(switch, "d" .. i, { bandwidth = down[i], duplex = "one_way" })
  end
  local given = {} -- a route is given once
  for _, f in ipairs(flows) do
    local pair = f[1] * 1000 + f[2]
    if (f.weight or f.limit) and not given[pair] then
      given[pair] = true
      t:route(f[1], f[2], { 2 * f[1] - 1, 2 * f[2] }, { weight = f.weight, limit = f.limit })
    end
  end
  return t
end

-- All flows begin at once; their rates, and when they end.
local function simulate(up, down, flows)
  local run = soapstone.run { topology = star(up, down, flows), links = "shared" }
  local task, rate, finish = {}, {}, {}
  for i, f in ipairs(flows) do task[i] = run:send(f[1], f[2], f.bytes or 10 ^ 9) end
  run:advance_to(1e-12)
  for i in ipairs(flows) do rate[i] = run:task(task[i]).rate end
  local result = run:finish()
  for i in ipairs(flows) do finish[i] = law.picoseconds(result:task(task[i]).finish) end
  return rate, finish
end

local function all(n, x)
  local list = {}
  for i = 1, n do list[i] = x end
  return list
end


-- By hand.  Each pattern: links up and down, flows, and their rates, as exact as floating-point numbers tell.
local b = 7e9
local near = b * 2 ^ -50
local function pattern(name, up, down, flows, rates)
  local rate = simulate(up, down, flows)
  for i, f in ipairs(flows) do
    case:within({ name, ("%d to %d"):format(f[1], f[2]) }, rate[i], rates[i], near)
  end
end

pattern("four to one", all(5, b), all(5, b), { { 1, 5 }, { 2, 5 }, { 3, 5 }, { 4, 5 } }, all(4, b / 4))
pattern("one to three", all(4, b), all(4, b), { { 1, 2 }, { 1, 3 }, { 1, 4 } }, all(3, b / 3))
pattern("round", all(3, b), all(3, b), { { 1, 2 }, { 2, 3 }, { 3, 1 } }, all(3, b))
-- the way down to 3 is full at b / 3; what 1 sends to 4 has the rest of the way up
pattern("two levels", all(4, b), all(4, b), { { 1, 3 }, { 1, 4 }, { 2, 3 }, { 2, 3 } }, { b / 3, 2 * b / 3, b / 3, b / 3 })
-- full one after the other: down to 4 at b / 4, up from 2 at 3 b / 8, down to 5 at 5 b / 8
pattern("three levels", all(6, b), all(6, b),
  { { 1, 4 }, { 3, 4 }, { 3, 4 }, { 2, 4 }, { 2, 5 }, { 2, 6 }, { 1, 5 } },
  { b / 4, b / 4, b / 4, b / 4, 3 * b / 8, 3 * b / 8, 5 * b / 8 })
-- a slow way up leaves more to the others
pattern("a slow sender", { b / 10, b, b, b }, all(4, b), { { 1, 4 }, { 2, 4 }, { 3, 4 } }, { b / 10, 9 * b / 20, 9 * b / 20 })
pattern("weights 1, 2, 5", all(4, b), all(4, b), { { 1, 4 }, { 2, 4, weight = 2 }, { 3, 4, weight = 5 } }, { b / 8, b / 4, 5 * b / 8 })
pattern("a limit", all(4, b), all(4, b), { { 1, 4, limit = b / 10 }, { 2, 4 }, { 3, 4 } }, { b / 10, 9 * b / 20, 9 * b / 20 })
pattern("a limit above the share", all(3, b), all(3, b), { { 1, 3, limit = b * 0.6 }, { 2, 3 } }, { b / 2, b / 2 })
-- by weight the first would have three quarters: its limit holds it before
pattern("weight and limit", all(3, b), all(3, b), { { 1, 3, weight = 3, limit = b / 9 }, { 2, 3, weight = 1 } }, { b / 9, 8 * b / 9 })

-- Drawn: rates that could be no others.  A link carries no more than it can; each flow has its limit, or crosses a full link
-- on which no other has more for its weight.
math.randomseed(1)
local function judge(carried, full, fair, many)
  local n = math.random(2, 9)
  local up, down, flows = {}, {}, {}
  for i = 1, n do up[i], down[i] = math.random(100, 1000) * 1e7, math.random(100, 1000) * 1e7 end
  local of_pair = {}
  for i = 1, many do
    local from = math.random(1, n)
    local to = (from + math.random(0, n - 2)) % n + 1
    local pair = from * 100 + to
    of_pair[pair] = of_pair[pair] or { weight = math.random(1, 4), limit = math.random() < 0.3 and math.random(1, 500) * 1e7 or nil }
    flows[i] = { from, to, weight = of_pair[pair].weight, limit = of_pair[pair].limit }
  end
  local rate = simulate(up, down, flows)
  local capacity, sum, weights, most, count = {}, {}, {}, {}, {}
  for i = 1, n do capacity[2 * i - 1], capacity[2 * i] = up[i], down[i] end
  for l = 1, 2 * n do sum[l], weights[l], most[l], count[l] = 0, 0, 0, 0 end
  for i, f in ipairs(flows) do
    for _, l in ipairs { 2 * f[1] - 1, 2 * f[2] } do
      sum[l], weights[l], count[l] = sum[l] + rate[i], weights[l] + f.weight, count[l] + 1
      most[l] = math.max(most[l], rate[i] / f.weight)
    end
  end
  -- a unit of rates, as told by a floating-point number of that size, as many as there are numbers to add, and a unit a weight
  local unit, told = 1e10 * 2 ^ -56, 1e10 * 2 ^ -53
  for l = 1, 2 * n do carried:at_most(sum[l], capacity[l] + 2 * count[l] * told) end
  for i, f in ipairs(flows) do
    if not (f.limit and math.abs(rate[i] - f.limit) <= unit + told) then
      local best = math.huge -- how far the better of its links is from holding it back
      for _, l in ipairs { 2 * f[1] - 1, 2 * f[2] } do
        local spare = capacity[l] - sum[l] - 2 * count[l] * told - weights[l] * unit
        local behind = most[l] - rate[i] / f.weight - 2 * told - unit
        best = math.min(best, math.max(spare, behind))
      end
      full:at_most(best, 0)
    else
      fair:within(rate[i], f.limit, unit + told)
    end
  end
end
local carried = case:group { "random", "a link carries at most" }
local full = case:group { "random", "short of being held back" }
local at_limit = case:group { "random", "rate at the limit" }
for _ = 1, 60 do judge(carried, full, at_limit, math.random(1, 30)) end
carried:close()
full:close()
at_limit:close()

-- When they end: flows by weight into one link leave it in the order of bytes by weight, and who is left has all of it.
local ends = case:group { "many to one, random", "ends" }
for _ = 1, 40 do
  local n = math.random(1, 12)
  local flows = {}
  for i = 1, n do flows[i] = { i, n + 1, weight = math.random(1, 5), bytes = math.random(1, 10 ^ 7) } end
  local _, finish = simulate(all(n + 1, b), all(n + 1, b), flows)
  local order = {}
  for i = 1, n do order[i] = i end
  table.sort(order, function(x, y) return flows[x].bytes * flows[y].weight < flows[y].bytes * flows[x].weight end)
  local weights, served, at, allowed = 0, 0, 0, 0.5
  for _, f in ipairs(flows) do weights = weights + f.weight end
  for _, i in ipairs(order) do
    local f = flows[i]
    at = at + (f.bytes / f.weight - served) * weights / b * 1e12
    ends:within(finish[i], at, allowed + at * 2 ^ -48) -- the last for the floating-point numbers of this script
    allowed = allowed + 0.5 * f.weight / weights
    served, weights = f.bytes / f.weight, weights - f.weight
  end
end
ends:close()

case:close()
