-- Chance as a script sees it, wrong input first.
local check = require "check"
local small = require "small"
local soapstone = require "soapstone"

local fails, equal, near, claim, contains = check.fails, check.equal, check.near, check.claim, check.contains
local chance = soapstone.chance

-- One linear operator after another on the quad, each part of each 1 ms forward.
local function problem(options)
  local m = soapstone.model.new { name = "chain" }
  local x = m:input("x", { 24, 37 })
  local times = {}
  for i = 1, 4 do
    x = m:linear("fc" .. i, x, { out = 12 })
    times["fc" .. i] = { forward = "1 ms", backward = "1 ms" }
  end
  local t = soapstone.topology.new { name = "four" }
  local hub = t:switch "hub"
  for i = 1, 4 do
    t:link(t:device("gpu" .. i, { kind = "p100", machine = (i + 1) // 2 }), hub, { bandwidth = "10 GB/s", latency = "3 us" })
  end
  local o = { model = m, topology = t, training = false, costs = soapstone.costs.given(times) }
  for k, v in pairs(options or {}) do o[k] = v end
  return soapstone.problem(o)
end

claim("what makes no sense is refused in the words of the script", function()
  fails("soapstone.chance takes a table of options", chance)
  fails("nothing is drawn", chance, {})
  fails("unknown option 'computed'; did you mean 'compute'?", chance, { computed = 2 })
  fails("option 'compute': the distribution cannot be 'lognorm'; did you mean 'lognormal'?", chance,
    { compute = { "lognorm", cv = 1 } })
  fails("option 'compute': option 'cv' is missing", chance, { compute = { "gamma" } })
  fails("option 'compute': unknown option 'sd'", chance, { compute = { "gamma", sd = 1 } })
  fails("compute: a cv (standard deviation over mean) of 0.01; gamma can have from 0.05 to 2, and lognormal any up to 10",
    chance, { compute = { "gamma", cv = 0.01 } })
  fails("of -0.1; lognormal can have from above 0 to 10", chance, { compute = { "lognormal", cv = -0.1 } })
  fails("option 'cv' does nothing for samples", chance, { compute = { "samples", cv = 1, values = { 1 } } })
  fails("option 'scaled' does nothing for gamma", chance, { compute = { "gamma", cv = 1, scaled = false } })
  fails("option 'values' is missing (a list of factors)", chance, { compute = { "samples" } })
  fails("option 'values' should be a list of factors, not a number", chance, { compute = { "samples", values = 1 } })
  fails("option 'values[2]' should be", chance, { compute = { "samples", values = { 1, {} } } })
  fails("compute: 0 samples", chance, { compute = { "samples", values = {} } })
  fails("option 'compute' should be a number or a distribution", chance, { compute = true })
  fails("compute: a factor of 0; it must be above 0", chance, { compute = 0 })
  fails("option 'launch': option 'mean' is missing", chance, { launch = { "gamma", cv = 1 } })
  fails("option 'launch': \"5 MB\"", chance, { launch = "5 MB" })
  fails("launch: -1 s; it must be from 0", chance, { launch = -1 })
  fails("option 'tail' should be a table such as", chance, { compute = { "gamma", cv = 1, tail = 3 } })
  fails("option 'tail': option 'factor' is missing", chance, { compute = { "gamma", cv = 1, tail = { share = 0.1 } } })
  fails("there is no kind of operator \"lstn\"; did you mean \"lstm\"?", chance, { kinds = { lstn = 2 } })
  fails("option 'kinds' should be a table", chance, { kinds = 2 })
  fails("soapstone.problem: the chance is of operators of kind lstm, and model", problem,
    { chance = chance { kinds = { lstm = 2 } } })
  fails("option 'slow.gpu1' should be", chance, { slow = { gpu1 = {} } })
  fails("devices are named by a text or a number from 1", chance, { on = { [0] = 2 } })
  fails("option 'repetition' is 0", chance, { repetition = 0, step = 1 })
  fails("option 'chance' should be chance (of soapstone.chance), not a table", problem, { chance = {} })
  fails("topology four has no device \"gpu5\"; did you mean", problem, { chance = chance { slow = { gpu5 = 2 } } })
  fails("topology four has no device 7; there are 1 to 4", problem, { chance = chance { slow = { [7] = 2 } } })
  local p = problem()
  local s = p:strategy "whole"
  fails("option 'repetition' says which times are drawn, and in this problem none are", p.simulate, p, s,
    { repetition = 2 })
  fails("nothing is drawn in this problem", p.repetitions, p, s)
  local q = problem { chance = chance { step = "1 ms" } }
  fails("nothing is drawn in this problem", q.repetitions, q, q:strategy "whole")
  local r = problem { chance = chance { step = { "gamma", mean = 1, cv = 1 } } }
  fails("takes a strategy or a list of them, not a text", r.repetitions, r, "whole")
  fails("strategy 2 of the list is a number", r.repetitions, r, { r:strategy "whole", 2 })
  fails("the list has 0 strategies", r.repetitions, r, {})
  fails("made for another object of the model", r.repetitions, r, s)
  fails("option 'n' is 0", r.repetitions, r, r:strategy "whole", { n = 0 })
  fails("option 'confidence' is 1", r.repetitions, r, r:strategy "whole", { confidence = 1 })
end)

claim("it prints itself, and every result says what was in force", function()
  local c = chance { seed = 9, compute = { "lognormal", cv = 0.1 }, kinds = { linear = 2 }, devices = { "gamma", cv = 0.5 },
    slow = { gpu2 = 1.5 }, transfer = { "samples", values = { 1, 3 } }, launch = "5 us",
    message = { "gamma", mean = "3 us", cv = 0.5, tail = { share = 0.01, factor = 5 } }, step = 0.001 }
  equal(tostring(c), "chance: compute lognormal cv 0.1, linear 2 times, each device gamma cv 0.5, gpu2 1.5 times, " ..
    "transfers 2 samples cv 0.5; each launch 5.000 us, each message gamma mean 3.000 us cv 0.5 (1% of them 5 times that), " ..
    "the step 1.000 ms; seed 9, repetition 1")
  equal(c.seed, 9)
  equal(chance({ step = 1 }).seed, 0) -- that of the run
  local p = problem { chance = c }
  c:close() -- the problem has its own
  local r = p:simulate(p:strategy "data_parallel", { repetition = 4 })
  contains(r.assumptions, "A1 broken: compute lognormal cv 0.1, linear 2 times")
  contains(r.assumptions, "A4 broken: each launch 5.000 us")
  contains(r.assumptions, "chance of seed 9, repetition 4")
  contains(p.options.chance, "gpu2 1.5 times")
  near(r.critical.compute + r.critical.transfer + r.critical.queueing + r.critical.overhead, r.step_time)
  equal(r.critical.overhead, 0.001)
  local kept = problem()
  local plain = kept:simulate(kept:strategy "whole")
  contains(plain.assumptions, "A1 one duration a task;")
  contains(plain.assumptions, "A4 no overhead")
  equal(problem().options.chance, "none")
end)

claim("constants do what they say", function()
  local function step(c, kind)
    local p = problem { chance = chance(c) }
    return p:simulate(p:strategy(kind or "whole")).step_time
  end
  near(step { compute = 1.5 }, 6e-3)
  near(step { kinds = { linear = 3 } }, 12e-3)
  near(step { slow = { gpu1 = 1.25 } }, 5e-3)
  near(step { on = { [1] = 2 } }, 8e-3)
  near(step { launch = "7 us" }, 4e-3 + 28e-6)
  near(step { step = "7 us" }, 4e-3 + 7e-6)
  near(step({ slow = { gpu4 = 2 } }, "data_parallel"), 8e-3) -- the slowest decides
  near(step { compute = { "constant", mean = 2 } }, 8e-3)
end)

claim("repetitions differ, the same one does not, and strategies meet the same luck", function()
  local p = problem { chance = chance { compute = { "lognormal", cv = 0.2 } } }
  local whole, moved = p:strategy "whole", p:strategy "whole"
  for i = 1, 4 do moved:set("fc" .. i, { devices = { 3 } }) end
  local one = p:simulate(whole).step_time
  equal(p:simulate(whole, { repetition = 1 }).step_time, one)
  assert(p:simulate(whole, { repetition = 2 }).step_time ~= one)
  equal(p:simulate(moved).step_time, one)
  local r = p:repetitions({ whole, moved, p:strategy "data_parallel" }, { n = 30 })
  equal(r.strategies[1].times[1], one)
  equal(#r.strategies[1].times, 30)
  near(r.pairs[1].correlation, 1)
  equal(r.pairs[1].difference, 0)
  equal(r.pairs[1].first_faster + r.pairs[1].second_faster, 0)
  equal(#r.pairs, 3)
  equal(r.pairs[2].second, "data_parallel")
  equal(r.pairs[2].second_faster, 0) -- four devices that draw the same as one, and three more
  assert(r.pairs[2].first_faster > 15)
end)

claim("what strategies share drops out of their difference", function()
  local p = problem { chance = chance { compute = { "lognormal", cv = 0.3 } } }
  local whole, cut = p:strategy "whole", p:strategy "whole"
  cut:set("fc4", { degrees = { n = 2 }, devices = { 1, 2 } })
  local r = p:repetitions({ whole, cut }, { n = 100 })
  local a, b, pair = r.strategies[1], r.strategies[2], r.pairs[1]
  assert(pair.correlation > 0.8)
  -- a bit of what the interval would be if each had drawn for itself
  local apart = 1.984 * math.sqrt((a.deviation ^ 2 + b.deviation ^ 2) / 100)
  assert(pair.interval[2] - pair.difference < 0.6 * apart)
  assert(pair.interval[2] < 0 and pair.first_faster > pair.second_faster) -- the later of two parts is waited for
end)

claim("threads and where one begins change nothing", function()
  local p = problem { chance = chance { compute = { "gamma", cv = 0.5 }, message = { "gamma", mean = "1 us", cv = 1 } } }
  local s = { p:strategy "data_parallel", p:strategy "model_parallel" }
  local one = p:repetitions(s, { n = 24, threads = 1 })
  local four = p:repetitions(s, { n = 24, threads = 4 })
  equal(one:json(), four:json())
  local late = p:repetitions(s, { n = 5, first = 11 })
  for i = 1, 5 do equal(late.strategies[2].times[i], one.strategies[2].times[10 + i]) end
  equal(late.first, 11)
end)

claim("what repetitions say is what their times say", function()
  local p = problem { chance = chance { devices = { "lognormal", cv = 0.3 } } }
  local r = p:repetitions(p:strategy "whole", { n = 25, confidence = 0.9 })
  local s = r.strategies[1]
  local sum, squares, sorted = 0, 0, table.move(s.times, 1, 25, 1, {})
  for _, t in ipairs(s.times) do sum = sum + t end
  for _, t in ipairs(s.times) do squares = squares + (t - sum / 25) ^ 2 end
  table.sort(sorted)
  near(s.mean, sum / 25)
  near(s.deviation, math.sqrt(squares / 24))
  near(s.cv, s.deviation / s.mean)
  equal(s.median, sorted[13])
  equal(s.least, sorted[1])
  equal(s.most, sorted[25])
  equal(r:quantile("whole", 0.25), sorted[7])
  near(s.mean_interval[2] - s.mean, 1.7108820799094275 * s.deviation / 5, 1e-9) -- t of 24 degrees, 95 %
  equal(s.median_interval[1], sorted[8]) -- P(Bin(25, 1/2) <= 7) is 0.0216, <= 8 0.0539
  equal(s.median_interval[2], sorted[18])
  fails("the share is 2; it must be from 0 to 1", r.quantile, r, 1, 2)
  fails("repetitions:quantile: strategy", r.quantile, r, "hole", 0.5)
  local few = p:repetitions(p:strategy "whole", { n = 1 })
  equal(few.strategies[1].deviation, nil)
  equal(few.strategies[1].mean_interval, nil)
  fails("did you mean", function() return few.strategies[1].means end)
  equal(#few.pairs, 0)
  contains(tostring(r), "repetitions 1 to 25; intervals of 90%")
end)

claim("a record and a log keep what was drawn", function()
  local p = problem { chance = chance { seed = 5, compute = { "lognormal", cv = 0.1 } } }
  local path = os.tmpname()
  os.remove(path)
  soapstone.record(path, { problem = p, results = { p:simulate(p:strategy "data_parallel", { repetition = 2 }) } })
  contains(soapstone.inspect(path), "chance of seed 5, repetition 2")
  equal(p:load_strategy(path), p:strategy "data_parallel")
  os.remove(path)
  local o = { proposals = 60, seed = 2, log = path }
  local found = soapstone.search.mcmc(p, o):run()
  equal(p:simulate(found.best).step_time, found.cost)
  local q = problem { chance = chance { seed = 6, compute = { "lognormal", cv = 0.1 } } }
  o.resume = true
  fails("chance", function() soapstone.search.mcmc(q, o) end)
  os.remove(path)
  os.remove(path .. ".journal")
end)

claim("searches find the same whatever way they look, and an optimum is proven", function()
  local p = problem { chance = chance { compute = { "gamma", cv = 0.5 }, transfer = { "lognormal", cv = 0.3 }, step = "2 ms" } }
  local costs = {}
  for _, way in ipairs { "full", "replay", "delta" } do
    costs[#costs + 1] = soapstone.search.mcmc(p, { proposals = 300, seed = 4, way = way }):run().cost
  end
  equal(costs[1], costs[2])
  equal(costs[1], costs[3])
  local best, proof = soapstone.search.exhaustive(p, { moves = "place" })
  assert(proof.proven and proof.cost == p:simulate(best).step_time and proof.symmetries == 0)
end)

check.done()
