-- What soapstone.trial counts, against numbers by hand; wrong input first.
local check = require "check"
local small = require "small"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"

local claim, equal, near, fails = check.claim, check.equal, check.near, check.fails

local nan <const> = 0 / 0
local model, quad = small.net(), small.quad()
local simple = soapstone.problem { model = model, topology = quad }
local whole = simple:strategy "whole"

claim("what makes no sense is refused", function()
  fails("3 values and 2 have no common order", trial.tau, { 1, 2, 3 }, { 1, 2 })
  fails("2, 2 and 1 values are no two curves", trial.crossing, { 1, 2 }, { 3, 4 }, { 5 })
  fails("nothing in the list", trial.median, {})
  equal(trial.quantile({ 4, 1, 3 }, 0), 1)
  equal(trial.quantile({ 4, 1, 3 }, 1), 4)
  equal(trial.quantile({ 4, 1, 3 }, 0.75), 3.5)
  fails("the share should be a number from 0 to 1, not 1.5", trial.quantile, { 1 }, 1.5)
  fails("the share should be a number from 0 to 1, not nil", trial.quantile, { 1 })
end)

claim("a list that is none, or has something else in it, is refused", function()
  fails("trial.median: the list should be a list of numbers, not a number", trial.median, 3)
  fails("trial.median: the list should be a list of numbers, not nothing", trial.median)
  fails("trial.median: the list should be a list of numbers, and has 'first' in it", trial.median, { first = 1 })
  fails("trial.median: the list should be a list of numbers, and has an entry 7 and none before it", trial.median, { [7] = 1 })
  fails("trial.median: the list has no entry 2, and 3 of them", trial.median, { 1, nil, 3 })
  fails("trial.median: entry 2 of the list should be a number, not a text", trial.median, { 1, "x" })
  fails("trial.median: entry 3 of the list is not a number (nan)", trial.median, { 1, 2, nan })
  equal(trial.median { 1, math.huge, 3 }, 3)
end)

claim("values and noise that have no order are refused", function()
  fails("trial.tau: the first list should be a list of numbers, not a number", trial.tau, 3, 4)
  fails("trial.tau: the second list should be a list of numbers, not nothing", trial.tau, { 3 })
  fails("trial.tau: entry 2 of the first list should be a number, not a text", trial.tau, { 1, "x" }, { 1, 2 })
  fails("trial.tau: entry 2 of the first list is not a number (nan)", trial.tau, { 1, nan }, { 1, 2 })
  fails("trial.tau: entry 1 of the second list is -7; it must be above 0", trial.tau, { 1, 2 }, { -7, 2 })
  local a, b = { 1, 2 }, { 3, 4 }
  fails("trial.tau: the noise should be a table, not a number", trial.tau, a, b, 0.1)
  fails("trial.tau: the noise should be { of the first list, of the second }, and has 'a' in it", trial.tau, a, b, { a = 0.1 })
  fails("trial.tau: the noise of the first list should be a number, not a text", trial.tau, a, b, { "x" })
  fails("trial.tau: the noise of the second list is -0.1; it must be at least 0", trial.tau, a, b, { 0.1, -0.1 })
  fails("trial.tau: the noise of the first list has 3 entries for 2 values", trial.tau, a, b, { { 0, 0, 0 } })
  fails("trial.tau: entry 2 of the noise of the second list is not a number (nan)", trial.tau, a, b, { 0, { 0, nan } })
end)

claim("curves and functions of which no place can be told are refused", function()
  local x, a, b = { 1, 2 }, { 3, 4 }, { 4, 3 }
  fails("trial.crossing: x should be a list of numbers, not a number", trial.crossing, 3)
  fails("trial.crossing: entry 2 of the first curve is not a number (nan)", trial.crossing, x, { 1, nan }, b)
  fails("trial.crossing: entry 1 of the second curve is inf; it must be finite", trial.crossing, x, a, { 1 / 0, 1 })
  fails("trial.crossing: entry 1 of x, of which the logarithm is taken, is 0; it must be above 0", trial.crossing, { 0, 2 }, a, b, { log = true })
  equal(trial.crossing({ 0, 2 }, a, b)[1].at, 1)
  fails("trial.crossing: x goes from 1 on to 3 and then to 2; it must rise or fall throughout", trial.crossing, { 1, 3, 2 }, { 1, 2, 3 }, { 1, 2, 3 })
  fails("x goes from 3 on to 1 and then to 2;", trial.crossing, { 3, 2, 1, 2, 3 }, { 1, 2, 3, 4, 5 }, { 1, 2, 3, 4, 5 })
  fails("trial.crossing: x is 1 twice, in places 1 and 2; it must rise or fall throughout", trial.crossing, { 1, 1, 2 }, { 1, 2, 3 }, { 3, 2, 1 })
  fails("x is 2 twice, in places 2 and 3;", trial.crossing, { 3, 2, 2 }, { 1, 2, 3 }, { 3, 2, 1 })
  equal(#trial.crossing({ 3, 2, 1 }, { 1, 2, 3 }, { 3, 2, 1 }), 1)
  fails("trial.crossing: unknown option 'lgo'; did you mean 'log'?", trial.crossing, x, a, b, { lgo = true })
  fails("trial.crossing: option 'log' should be true or false, not a text", trial.crossing, x, a, b, { log = "x" })

  local function f(at) return at - 1.5 end
  fails("trial.bisect: the first argument should be a function, not a number", trial.bisect, 3, 1, 2)
  fails("trial.bisect: from should be a number, not a text", trial.bisect, f, "x", 2)
  fails("trial.bisect: to is not a number (nan)", trial.bisect, f, 1, nan)
  fails("trial.bisect: to is inf; it must be finite", trial.bisect, f, 1, 1 / 0)
  fails("trial.bisect: from, of which the logarithm is taken, is -1; it must be above 0", trial.bisect, f, -1, 2, { log = true })
  fails("trial.bisect: to, of which the logarithm is taken, is 0; it must be above 0", trial.bisect, f, 1, 0, { log = true })
  fails("trial.bisect: option 'tolerance' is 0; it must be at least 1e-15", trial.bisect, f, 1, 2, { tolerance = 0 })
  fails("trial.bisect: unknown option 'tolerence'; did you mean 'tolerance'?", trial.bisect, f, 1, 2, { tolerence = 0.1 })
  fails("trial.bisect: what the function gave at 1 should be a number, not nothing", trial.bisect, function() end, 1, 2)
  fails("trial.bisect: what the function gave at 2 is not a number (nan)", trial.bisect, function(at) return at < 2 and -1 or nan end, 1, 2)
  near(trial.bisect(f, 1, 2, { tolerance = 1e-15 }), 1.5)
  near(trial.bisect(f, 2, 1, { tolerance = 1e-15 }), 1.5)
end)

claim("strategies of what is no problem are refused", function()
  fails("trial.onto: the first argument should be a problem, not a strategy", trial.onto, whole, simple)
  fails("trial.onto: the second argument should be a strategy, not nothing", trial.onto, simple)
  fails("trial.strategies: the first argument should be a problem, not a number", trial.strategies, 3)
  fails("trial.strategies: option 'random' is -1; it must be at least 0", trial.strategies, simple, { random = -1 })
  fails("trial.strategies: option 'seed' is -1; it must be at least 0", trial.strategies, simple, { seed = -1 })
  fails("trial.strategies: unknown option 'randm'; did you mean 'random'?", trial.strategies, simple, { randm = 1 })
  fails("trial.strategies: a table of options is expected, not a number", trial.strategies, simple, 3)
end)

claim("a trial of something else, or with options that are none, is refused", function()
  local function refused(said, more)
    local o = { simple = simple, broken = simple, strategies = { whole } }
    for name, value in pairs(more) do o[name] = value end
    fails("trial.compare: " .. said, trial.compare, o)
  end
  fails("trial.compare: option 'simple' should be a problem, not nothing", trial.compare)
  fails("trial.compare: option 'strategies' should be a list of strategies, not nothing", trial.compare, { simple = simple, broken = simple })
  fails("trial.compare: a table of options is expected, not a problem", trial.compare, simple)
  refused("unknown option 'proposal'; did you mean 'proposals'?", { proposal = 3 })
  refused("option 'simple' should be a problem, not a number", { simple = 3 })
  refused("option 'broken' should be a problem, not a strategy", { broken = whole })
  refused("option 'strategies' should be a list of strategies, not a strategy", { strategies = whole })
  refused("option 'strategies' is a list with nothing in it", { strategies = {} })
  refused("entry 2 of option 'strategies' should be a strategy, not a number", { strategies = { whole, 3 } })
  refused("option 'searches' is 0; it must be at least 1", { searches = 0 })
  refused("option 'proposals' is -1; it must be at least 0", { proposals = -1 })
  refused("option 'runs' should be a whole number, such as 4000 or \"4k\", not a text", { runs = "x" })
  refused("option 'runs' is -5; it must be at least 0", { runs = -5 })
  refused("option 'most_runs' is 2.5, which is not a whole number", { most_runs = 2.5 })
  refused("option 'seed' is -1; it must be at least 0", { seed = -1 })
  refused("option 'seed' is 9007199254740993; it must be at most 9007199254740992", { seed = 9007199254740993 })
  refused("option 'kept' should be a table, not a boolean", { kept = true })
  refused("option 'kept' has in it what no trial kept", { kept = { [simple] = 3 } })
  refused("option 'time' should be a function, not a number", { time = 3 })
  refused("option 'scored_by' should be a function, not a problem", { scored_by = simple })
end)

claim("problems and strategies of another number of devices, or of other operators, are refused in words of their own", function()
  local eight = soapstone.problem { model = model, topology = require "topologies.p100_cluster" { nodes = 2, gpus = 4 } }
  local other = soapstone.problem { model = require "models.mlp" { batch = 64 }, topology = quad }
  local wide = eight:strategy "data_parallel"
  local list = { simple:strategy "data_parallel", whole }
  fails("trial.compare: option 'simple' has 4 devices and option 'broken' 8; there should be as many", trial.compare,
    { simple = simple, broken = eight, strategies = list })
  fails("trial.compare: option 'simple' has 8 devices and option 'broken' 4; there should be as many", trial.compare,
    { simple = eight, broken = simple, strategies = { wide } })
  fails("trial.compare: the problem of entry 2 of option 'strategies', 'data_parallel', has 8 devices and option 'simple' 4; there should be as many", trial.compare,
    { simple = simple, broken = simple, strategies = { whole, wide } })
  fails("trial.compare: option 'broken' has an operator 'fc3' and option 'simple' none", trial.compare,
    { simple = simple, broken = other, strategies = list })
  fails("trial.onto: the problem of strategy 'whole' has 4 devices and the other 8; there should be as many", trial.onto, eight, whole)
  fails("trial.onto: the problem of strategy 'data_parallel' has 8 devices and the other 4;", trial.onto, simple, wide)
  fails("trial.onto: the other has an operator 'fc3' and the problem of strategy 'whole' none", trial.onto, other, whole)
  fails("trial.onto: the problem of strategy 'whole' has an operator 'fc3' and the other none", trial.onto, simple, other:strategy "whole")
end)

claim("what functions of the script give to a trial is looked at", function()
  local function refused(said, seconds, noise)
    fails("trial.compare: " .. said, trial.compare, { simple = simple, broken = simple, strategies = { whole },
      time = function() return seconds, noise end })
  end
  refused("the seconds that option 'time' gave for strategy 'whole' should be a number, not nothing")
  refused("the seconds that option 'time' gave for strategy 'whole' is 0; it must be above 0", 0)
  refused("the seconds that option 'time' gave for strategy 'whole' is not a number (nan)", nan)
  refused("the seconds that option 'time' gave for strategy 'whole' is inf; it must be finite", 1 / 0)
  refused("the noise that option 'time' gave for strategy 'whole' should be a number, not a text", 3, "x")
  refused("the noise that option 'time' gave for strategy 'whole' is -0.5; it must be at least 0", 3, -0.5)
  fails("trial.compare: what option 'scored_by' gave for search 1 should be a problem, not nothing", trial.compare,
    { simple = simple, broken = simple, strategies = { whole }, scored_by = function() end })
  local free = soapstone.problem { model = model, topology = quad, costs = soapstone.costs.given {
    fc1 = { forward = 0, backward = 0 }, fc2 = { forward = 0, backward = 0 }, loss = { forward = 0, backward = 0 } } }
  fails("trial.compare: strategy 'whole' takes no time, of which no share can be told", trial.compare,
    { simple = free, broken = simple, strategies = { free:strategy "whole" } })
end)

claim("strengths of what is no problem are refused", function()
  local function at() return simple end
  local f = trial.overtaken
  fails("trial.overtaken: the first argument should be a strategy, not a number", f, 3, whole, at, 1, 2)
  fails("trial.overtaken: the second argument should be a strategy, not a problem", f, whole, simple, at, 1, 2)
  fails("trial.overtaken: the third argument should be a function, not a problem", f, whole, whole, simple, 1, 2)
  fails("trial.overtaken: from should be a number, not nothing", f, whole, whole, at)
  fails("trial.overtaken: to is not a number (nan)", f, whole, whole, at, 1, nan)
  fails("trial.overtaken: from, of which the logarithm is taken, is 0; it must be above 0", f, whole, whole, at, 0, 2, { log = true })
  fails("trial.overtaken: option 'tolerance' is -1; it must be at least 1e-15", f, whole, whole, at, 1, 2, { tolerance = -1 })
  fails("trial.overtaken: unknown option 'times'; did you mean 'time'?", f, whole, whole, at, 1, 2, { times = print })
  fails("trial.overtaken: option 'time' should be a function, not a number", f, whole, whole, at, 1, 2, { time = 3 })
  fails("trial.overtaken: what the third argument gave at 2 should be a problem, not a strategy", f, whole, whole, function() return whole end, 1, 2)
  fails("trial.overtaken: the seconds that option 'time' gave for strategy 'whole' is -3; it must be above 0", f, whole, whole, at, 1, 2,
    { time = function() return -3 end })
end)

claim("a sweep over no list, and a result that is no text, are refused", function()
  local f = trial.sweep
  fails("trial.sweep: the first argument should be a list of cells, not a number", f, 3, f)
  fails("trial.sweep: the first argument should be a list of cells, and has 'a' in it", f, { a = 3 }, f)
  fails("trial.sweep: the second argument should be a function, not nothing", f, { 3 })
  fails("trial.sweep: option 'workers' is -1; it must be at least 0", f, { 3 }, f, { workers = -1 })
  fails("trial.sweep: unknown option 'worker'; did you mean 'workers'?", f, { 3 }, f, { worker = 1 })
  fails("trial.sweep: option 'cost' should be a function, not a number", f, { 3 }, f, { cost = 3 })
  fails("trial.result: the format should be a text, not nothing", trial.result)
  fails("trial.result: value 2 of the format: number expected, got string", trial.result, "%s %d", 3, "x")
  fails("trial.result: the format is none: invalid conversion '%y'", trial.result, "%y", 3)
end)

claim("medians are in the middle", function()
  equal(trial.median { 7 }, 7)
  equal(trial.median { 9, -3, 5 }, 5)
  equal(trial.median { 9, -3, 5, 6 }, 5.5)
end)

claim("tau-b by hand", function()
  -- 10 pairs, of which (2, 3) and (4, 5) are turned round
  near(trial.tau({ 1, 2, 3, 4, 5 }, { 10, 30, 20, 50, 40 }), (8 - 2) / 10)
  near(trial.tau({ 3, 1, 2 }, { 1, 3, 2 }), -1)
  -- a: 1 2 2 4, b: 5 5 6 9: one pair tied in each, none in both: (4 - 0) / sqrt(5 * 5)
  local tau, pairs_of = trial.tau({ 1, 2, 2, 4 }, { 5, 5, 6, 9 })
  near(tau, 4 / 5)
  equal(pairs_of.agree, 4)
  equal(pairs_of.against, 0)
  equal(pairs_of.tied, 2)
  equal(trial.tau({ 3, 3, 3 }, { 1, 2, 3 }), nil)
end)

claim("values closer than the noise are tied", function()
  local a, b = { 100, 101, 200 }, { 100, 99, 200 }
  near(trial.tau(a, b), 1 / 3)
  near(trial.tau(a, b, { 0.011, 0.011 }), 1) -- pairs tied in both are left out
  near(trial.tau(a, b, { 0.011, 0 }), 2 / math.sqrt(2 * 3))
  near(trial.tau(a, b, { 0.009, 0.009 }), 1 / 3)
  -- of two values the noisier counts
  near(trial.tau(a, b, { { 0.011, 0, 0 }, { 0, 0.011, 0 } }), 1)
  near(trial.tau(a, b, { { 0, 0, 0.011 }, { 0, 0, 0.011 } }), 1 / 3)
end)

claim("curves cross where their difference is nought", function()
  local list = trial.crossing({ 1, 2, 4 }, { 1, 2, 4 }, { 2, 2.5, 2 })
  equal(#list, 1)
  equal(list[1].below, "a")
  near(list[1].at, 2 + 2 * 0.5 / (0.5 + 2))
  near(trial.crossing({ 1, 2 }, { -3, 1 }, { 0, 0 })[1].at, 1.75)
  near(trial.crossing({ 10, 1000 }, { 1, 4 }, { 4, 1 }, { log = true })[1].at, 100)
  near(trial.crossing({ 10, 1000 }, { 1, 4 }, { 4, 1 })[1].at, 505)
  equal(#trial.crossing({ 1, 2, 3 }, { 1, 2, 3 }, { 2, 3, 4 }), 0)
  equal(#trial.crossing({ 1, 2, 3 }, { 1, 3, 1 }, { 2, 3, 2 }), 0) -- touches, and goes back
  local touched = trial.crossing({ 1, 2, 3 }, { 3, 3, 3 }, { 2, 3, 4 })
  equal(#touched, 1)
  equal(touched[1].at, 2)
  equal(touched[1].below, "b")
  equal(#trial.crossing({ 1, 2, 3, 4 }, { 1, 3, 1, 3 }, { 2, 2, 2, 2 }), 3)
end)

claim("bisection comes as near as it was told", function()
  near(trial.bisect(function(x) return x * x - 2 end, 0.5, 9, { tolerance = 1e-9 }), math.sqrt(2), 1e-7)
  near(trial.bisect(function(x) return 300 - x end, 1, 1e6, { log = true, tolerance = 1e-9 }), 300, 1e-6)
  equal(trial.bisect(function(x) return x - 3 end, 3, 5), 3)
  equal(trial.bisect(function() return 1 end, 3, 5), nil)
end)

claim("a strategy goes onto a problem of another topology", function()
  local other = soapstone.problem { model = small.net(), topology = small.quad() }
  local strategy = simple:strategy("random", { seed = 5, name = "luck" })
  local there = trial.onto(other, strategy)
  equal(there.name, "luck")
  equal(there.problem == other, true)
  for op in model:ops() do
    equal(table.concat(there:get(op.name).devices, " "), table.concat(strategy:get(op.name).devices, " "))
  end
  equal(other:simulate(there).step_time, simple:simulate(strategy).step_time)
  equal(trial.onto(simple, strategy) == strategy, true)
end)

claim("strategies that people would try are there once each", function()
  local list, names = trial.strategies(simple, { random = 2, seed = 3 }), {}
  for i, strategy in ipairs(list) do
    names[strategy.name] = strategy
    for k = 1, i - 1 do assert(list[k] ~= strategy, strategy.name) end
  end
  for _, name in ipairs { "data_parallel", "model_parallel", "expert_cnn", "tensor 2", "tensor 2 apart", "random 2" } do
    assert(names[name], name)
  end
  equal(table.concat(names["tensor 2"]:get("fc1").devices, " "), "1 2 3 4")
  equal(table.concat(names["tensor 2 apart"]:get("fc1").devices, " "), "1 3 2 4")
end)

claim("errors, tau and regret of times by hand", function()
  local list = { simple:strategy "data_parallel", simple:strategy "model_parallel", simple:strategy "whole" }
  local seconds = { data_parallel = { 2, 5 }, model_parallel = { 3, 4 }, whole = { 9, 6 } }
  local broken = soapstone.problem { model = model, topology = quad, links = "shared" }
  local t = trial.compare { simple = simple, broken = broken, strategies = list,
    time = function(p, strategy) return seconds[strategy.name][p == simple and 1 or 2] end }
  near(t.error.median, 3 / 4 - 1)
  near(t.error.worst, 2 / 5 - 1)
  near(t.tau, 1 / 3)
  equal(t.best.simple, "data_parallel")
  equal(t.best.broken, "model_parallel")
  near(t.chosen, 5 / 4 - 1)
  near(t.regret, 5 / 4 - 1)
  near(t.rows[3].error, 9 / 6 - 1)
end)

claim("a trial of a problem against itself finds nothing", function()
  local t = trial.compare { simple = simple, broken = simple, strategies = trial.strategies(simple), proposals = 50, seed = 7 }
  equal(t.error.worst, 0)
  equal(t.regret, 0)
  equal(t.chosen, 0)
  equal(t.pairs.against, 0)
  assert(t.searches[1].simple <= t.rows[1].simple)
  equal(t.told, false)
end)

claim("a search under each problem starts from the best there, and regret compares them under the broken one", function()
  local broken = soapstone.problem { model = model, topology = quad, links = "shared" }
  local list = trial.strategies(simple)
  local t = trial.compare { simple = simple, broken = broken, strategies = list, proposals = 60, seed = 7, searches = 2 }
  local function found(p, best, seed)
    for _, s in ipairs(list) do
      if s.name == best then
        return soapstone.search.mcmc(p, { start = trial.onto(p, s), proposals = 60, seed = seed }):run().best
      end
    end
  end
  for k, search in ipairs(t.searches) do
    equal(search.seed, 6 + k)
    local by_simple = broken:simulate(trial.onto(broken, found(simple, t.best.simple, search.seed))).step_time
    local by_broken = broken:simulate(found(broken, t.best.broken, search.seed)).step_time
    equal(search.simple, by_simple)
    equal(search.broken, by_broken)
    equal(search.regret, by_simple / t.known.seconds - 1)
  end
  equal(#t.searches, 2)
  near(t.regret, (t.searches[1].regret + t.searches[2].regret) / 2)
  equal(t.regrets.least, math.min(t.searches[1].regret, t.searches[2].regret))
  equal(t.regrets.most, math.max(t.searches[1].regret, t.searches[2].regret))
end)

claim("a regret is against the fastest of all that is known, of the list and of what either side found", function()
  local broken = soapstone.problem { model = model, topology = quad, links = "shared" }
  local list = trial.strategies(simple)
  local t = trial.compare { simple = simple, broken = broken, strategies = list, proposals = 60, seed = 7, searches = 3 }
  local fastest = math.huge
  for _, row in ipairs(t.rows) do fastest = math.min(fastest, row.broken) end
  for _, search in ipairs(t.searches) do
    for _, strategy in pairs(search.found) do
      fastest = math.min(fastest, broken:simulate(trial.onto(broken, strategy)).step_time)
    end
  end
  equal(t.known.seconds, fastest)
  equal(broken:simulate(trial.onto(broken, t.known.strategy)).step_time, fastest)
  for _, search in ipairs(t.searches) do
    assert(search.regret >= 0)
    equal(search.regret, search.simple / fastest - 1)
  end
end)

claim("a regret is luck unless all that was found under the simple problem is slower than all found under the broken one", function()
  local broken = soapstone.problem { model = model, topology = quad, chance = soapstone.chance { slow = { [1] = 9 } } }
  local o = { simple = simple, broken = broken, strategies = trial.strategies(simple), proposals = 12, seed = 3, searches = 3 }
  local found, all = trial.compare(o).searches, {}
  for _, search in ipairs(found) do
    for _, strategy in pairs(search.found) do
      for _, other in ipairs(all) do assert(trial.onto(broken, strategy) ~= other) end
      all[#all + 1] = trial.onto(broken, strategy)
    end
  end
  local best = math.huge
  for _, strategy in ipairs(o.strategies) do best = math.min(best, broken:simulate(trial.onto(broken, strategy)).step_time) end
  -- the same searches, of which the step times under the broken problem are made up, and that of the best of the list
  local function of(by_simple, by_broken, noise, of_best)
    noise = type(noise) == "table" and noise or { noise or 0, noise or 0, noise or 0 }
    function o.time(problem, strategy)
      for k = 1, problem == broken and 3 or 0 do
        if strategy == trial.onto(broken, found[k].found.simple) then return by_simple[k], noise[k] end
        if strategy == trial.onto(broken, found[k].found.broken) then return by_broken[k], noise[k] end
      end
      return (of_best or 100) * (problem:simulate(strategy).step_time / best)
    end
    return trial.compare(o)
  end
  local t = of({ 5, 6, 9 }, { 4, 4.5, 4.9 })
  equal(t.told, true)
  equal(t.mark, nil)
  near(t.regret, 6 / 4 - 1)
  near(t.regrets.least, 5 / 4 - 1)
  t = of({ 4.7, 6, 9 }, { 4, 4.5, 4.9 }) -- each is slower than what the same seed found, the first not than what the third did
  equal(t.told, false)
  equal(t.mark, "luck")
  near(t.regret, 6 / 4 - 1)
  t = of({ 5, 3, 9 }, { 4, 4.5, 4.9 })
  equal(t.mark, "luck")
  near(t.searches[1].regret, 5 / 3 - 1)
  equal(t.searches[2].regret, 0)
  equal(of({ 5, 6, 9 }, { 4, 4.5, 4.9 }, 0.3).mark, "noise")
  equal(of({ 5, 6, 9 }, { 4, 4.5, 4.9 }, 0.2).mark, nil)
  equal(of({ 5, 6, 9 }, { 4, 4.5, 4.9 }, 0.25).mark, "noise") -- as much as the regret is too much
  equal(of({ 4, 4, 4 }, { 5, 5, 6 }).mark, "none")
  equal(of({ 4, 4, 9 }, { 5, 5, 6 }).mark, "luck") -- most searches found the fastest known, but not all
  equal(of({ 5, 6, 9 }, { 4, 4.5, 5 }).mark, "luck") -- as slow is not slower
  equal(of({ 5, 6, 9 }, { 4, 4.5, 5 - 1e-9 }).mark, nil)
  -- the best of the list is known to every search under the broken problem, so none found worse
  equal(of({ 5, 6, 9 }, { 4, 4.5, 20 }, 0, 4.9).mark, nil)
  equal(of({ 5, 6, 9 }, { 4, 4.5, 20 }, 0, 5.1).mark, "luck")
  -- of all noises the greatest counts, wherever it is
  for k = 1, 3 do
    local noise = { 0, 0, 0 }
    noise[k] = 0.6
    local noisy = of({ 5, 6, 9 }, { 4, 4.5, 4.9 }, noise)
    near(noisy.regret_noise, k == 1 and 2 * 0.6 or 0.6) -- the first is that of the fastest, too
    equal(noisy.mark, "noise")
  end
end)

claim("a regret is told from noise where it is above it and every search has one", function()
  local fast, slow = simple:strategy "data_parallel", simple:strategy "model_parallel"
  local broken = soapstone.problem { model = model, topology = quad, links = "shared" }
  local function told(noise)
    local t = trial.compare { simple = simple, broken = broken, strategies = { fast, slow }, searches = 3, time = function(p, strategy)
      return strategy.name == fast.name and (p == simple and 2 or 5.5) or (p == simple and 3 or 5), noise
    end }
    near(t.regret, 0.1)
    near(t.regret_noise, 2 * noise) -- of the two strategies
    return t.told
  end
  equal(told(0.049), true)
  equal(told(0.051), false)
end)

claim("more runs say the noise of the strategies that a regret is of, however little the first ones showed, unless it is luck or none", function()
  local fast, slow = simple:strategy "data_parallel", simple:strategy "model_parallel"
  local broken = soapstone.problem { model = model, topology = quad, links = "shared" }
  local function noise_of(first, regret, more)
    local asked = 0
    local t = trial.compare { simple = simple, broken = broken, strategies = { fast, slow }, most_runs = more, time = function(p, strategy, runs)
      if runs then asked = asked + 1 end
      equal(runs, runs and more)
      return strategy.name == fast.name and (p == simple and 2 or 3 * (1 + regret)) or 3, runs and 3 * first or first
    end }
    return t.regret_noise, t.mark, asked
  end
  near((noise_of(0.01, 0.3, 7)), 2 * 3 * 0.01)
  equal(select(3, noise_of(0.01, 0.3, 7)), 2) -- each of the two once
  equal(select(3, noise_of(0, 0.3, 7)), 2) -- a few runs may have missed all
  equal(select(3, noise_of(0.01, 0, 7)), 0)
  equal(select(3, noise_of(0.01, -0.3, 7)), 0)
  equal(select(2, noise_of(0.07, 0.3)), nil)
  equal(select(2, noise_of(0.07, 0.3, 7)), "noise")
  equal(select(3, noise_of(0.07, 0.3)), 0)
end)

claim("a chaotic step time is asked sixteen times where a regret could be told apart", function()
  local trained = require "models.alexnet" { batch = 32 }
  local machine = require "topologies.p100_cluster" { nodes = 1, gpus = 4 }
  local kept = soapstone.problem { model = trained, topology = machine, sync = "ring" }
  local broken = soapstone.problem { model = trained, topology = machine, sync = "ring", copies_block = true }
  local function noise(runs, most)
    local t = trial.compare { simple = kept, broken = broken, strategies = trial.strategies(kept), runs = runs, most_runs = most }
    return t.regret_noise, t
  end
  local once, t = noise(1, 1)
  local first, second = t.searches[1].found.simple, t.known.strategy
  local function spread(runs)
    return broken:simulate(trial.onto(broken, first)):sensitivity({ runs = runs }).spread + broken:simulate(second):sensitivity({ runs = runs }).spread
  end
  equal(once, spread(1))
  equal(noise(1), spread(16))
  equal(noise(1, 8), spread(8))
  equal(noise(20, 8), spread(20)) -- never fewer than were asked at first
  equal(noise(0), 0)
  equal(noise(0, 8), spread(8))
  assert(spread(8) > spread(1))
  assert(spread(16) > spread(8))
end)

claim("each search scores by a problem of its own where a script says so", function()
  local broken = soapstone.problem { model = model, topology = quad, links = "shared" }
  local slow, asked = {}, {}
  for k = 1, 3 do
    slow[k] = soapstone.problem { model = model, topology = quad, chance = soapstone.chance { slow = { [k] = 9 } } }
  end
  local start = simple:strategy "data_parallel"
  local t = trial.compare { simple = simple, broken = broken, strategies = { start }, proposals = 40, seed = 5, searches = 3,
    scored_by = function(problem, k)
      asked[#asked + 1] = (problem == simple and "simple " or problem == broken and "broken " or "") .. k
      return slow[k]
    end }
  equal(table.concat(asked, ", "), "simple 1, simple 2, simple 3, broken 1, broken 2, broken 3")
  for k, search in ipairs(t.searches) do
    local function best(p) -- under it from the same seed, as a strategy of the broken problem
      local found = soapstone.search.mcmc(p, { start = trial.onto(p, start), proposals = 40, seed = 4 + k, threads = 1 }):run().best
      return trial.onto(broken, found)
    end
    assert(search.found.simple == best(slow[k]))
    assert(best(slow[k]) ~= best(simple))
  end
end)

claim("what a problem said is kept, and is of those strategies alone", function()
  local broken = soapstone.problem { model = model, topology = quad, links = "shared" }
  local list, kept = trial.strategies(simple), {}
  local function regret(more)
    return trial.compare { simple = simple, broken = broken, strategies = list, proposals = 30, seed = 3, searches = 2, kept = more }
  end
  local anew, first, second = regret(), regret(kept), regret(kept)
  equal(first.regret, anew.regret)
  equal(second.regret, anew.regret)
  equal(second.tau, anew.tau)
  equal(second.rows[2].simple, anew.rows[2].simple)
  equal(#trial.compare({ simple = simple, broken = broken, strategies = list, proposals = 30, seed = 3, kept = kept }).searches, 1)
  equal(trial.compare { simple = broken, broken = simple, strategies = list, proposals = 30, seed = 3, kept = kept }.tau, anew.tau)
  local function refused(said, more)
    local o = { simple = simple, broken = broken, strategies = list, proposals = 30, seed = 3, searches = 2, kept = kept }
    for name, value in pairs(more) do o[name] = value end
    fails("trial.compare: what was kept " .. said, trial.compare, o)
  end
  refused("is of " .. #list .. " strategies, and now there are 1", { strategies = { list[1] } })
  local turned = table.move(list, 1, #list, 1, {})
  turned[2], turned[3] = turned[3], turned[2]
  refused(("is of other strategies: entry 2 was '%s', and '%s' is another one now"):format(list[2].name, list[3].name), { strategies = turned })
  refused("was asked with option 'seed' 3, and now it is 5", { seed = 5 })
  refused("was asked with option 'proposals' 30, and now it is 400", { proposals = 400 })
  refused("was asked with option 'runs' 4, and now it is 0", { runs = 0 })
  refused("was asked with another option 'time'", { time = function() return 3 end })
  refused("was asked with another option 'scored_by'", { scored_by = function(problem) return problem end })
  equal(regret(kept).regret, anew.regret) -- what was refused left it as it was
end)

claim("one strategy overtakes another where the difference of their times is nought", function()
  local one, other = simple:strategy "data_parallel", simple:strategy "model_parallel"
  local problems, at = {}, {}
  local function problem_at(x) -- seconds are made up of x
    local p = soapstone.problem { model = model, topology = quad }
    problems[#problems + 1], at[p] = p, x
    return p
  end
  local function time(p, strategy) return strategy.name == one.name and at[p] or 3 end
  near(trial.overtaken(one, other, problem_at, 1, 8, { time = time, tolerance = 1e-6 }), 3, 1e-4)
  near(trial.overtaken(one, other, problem_at, 1, 8, { time = time, tolerance = 1e-6, log = true }), 3, 1e-4)
  equal(select(2, trial.overtaken(one, other, problem_at, 1, 2, { time = time })), "never")
  equal(select(2, trial.overtaken(one, other, problem_at, 4, 5, { time = time })), "before")
end)

-- Sweeps are of a script of their own, which is started again.
local function script(text, words)
  local file = assert(io.open("swept.lua", "w"))
  file:write(text)
  file:close()
  local pipe = io.popen(("'%s' run swept.lua %s 2>&1"):format(arg[-2], words))
  local said = pipe:read "a"
  local _, _, status = pipe:close()
  os.remove "swept.lua"
  return said, status
end

local cells = [[
local trial = require "soapstone.trial"
local list = trial.sweep({ { a = 3 }, { a = 4, b = "it's" }, { a = 5 }, { a = 6 }, { a = 7 } }, function(cell, k)
  if arg[2] == "fails" and cell.a == 4 then error "oh\nno" end
  if arg[2] == "leaves" and cell.a == 5 then os.exit(0) end
  if arg[2] == "function" then return print end
  print "a cell talks"
  if arg[2] == "costs" then io.stderr:write(("cell %d in %s\n"):format(k, os.getenv "SOAPSTONE_SWEEP")) end
  return { k * cell.a, math.random(), "x\ny", { 0.1, cell.b } }
end, { workers = tonumber(arg[1]), cost = (arg[2] == "costs" or arg[2] == "free") and function(cell)
  if arg[2] == "free" and cell.a > 3 then return nil end
  return cell.a == 3 and 40 or cell.a
end or nil })
for i, r in ipairs(list) do print(i, r[1], r[2], r[3], r[4][1], r[4][2]) end
if arg[2] == "twice" then trial.sweep({}, print) end
]]

claim("a sweep gives the same whatever the number of workers", function()
  local one = script(cells, "1"):gsub("a cell talks\n", "")
  local two, three = script(cells, "2 'a b'"), script(cells, "3")
  check.contains(one, "5\t35\t")
  check.contains(one, "\t0.1\tit's\n")
  equal(two, one)
  equal(three, one)
  equal((script(cells, "9")), one)
end)

claim("where the cost of cells is known each goes to the process that has the least so far, the longest first", function()
  local said = script(cells, "2 costs")
  check.contains(said, "cell 1 in 1/2") -- as long as all others together
  for i = 2, 5 do check.contains(said, ("cell %d in 2/2"):format(i)) end
  equal((said:gsub("cell %d in %d/%d\n", "")), (script(cells, "3")))
end)

claim("a cell that fails names itself", function()
  for _, workers in ipairs { 1, 2 } do
    local said, status = script(cells, workers .. " fails")
    check.contains(said, "cell 2 (a 4, b it's): ")
    check.contains(said, "oh\nno")
    equal(status, 2)
  end
  check.contains(script(cells, "2 leaves"), "cell 3 (a 5): its process ended without a result")
  check.contains(script(cells, "2 function"), "cell 1 (a 3): a cell gives numbers, texts and tables of them, not a function")
  check.contains(script(cells, "1 twice"), "a script can have one sweep")
  local said, status = script(cells, "2 free")
  check.contains(said, "swept.lua:2: trial.sweep: what option 'cost' gave for cell 2 should be a number, not nothing")
  equal(status, 2)
end)

claim("editors and the page know every function", function()
  local function read(name)
    local file = assert(io.open((os.getenv "SS_SRCDIR" or soapstone.home) .. "/" .. name))
    local text = file:read "a"
    file:close()
    return text
  end
  local annotations, page, known = read "scripts/lua/luals/soapstone/trial.lua", read "docs/lua-api.md", {}
  for name in annotations:gmatch "\nfunction trial%.(%w+)%(" do known[name] = true end
  equal(check.keys(known), check.keys(trial))
  for name in pairs(trial) do check.contains(page, "`trial." .. name) end
end)

check.done()
