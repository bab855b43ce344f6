-- What a step does to its tasks: what was put into steps comes out of them. Steps of a fabricated machine stand for executed ones.
local accuracy = require "soapstone.accuracy"
local correction = require "soapstone.correction"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"
local trial = require "soapstone.trial"
local check = require "check"

local claim, equal, fails, contains = check.claim, check.equal, check.fails, check.contains

local mlp = require "models.mlp" { batch = 64, layers = 4, width = 512 }

local function cores(latency)
  local t = topology.new { name = "two cores" }
  local a = t:device("core1", { kind = "cpu core", machine = 1, memory_bandwidth = "10 GB/s", flops = { f32 = "50 GFLOP/s" } })
  local b = t:device("core2", { kind = "cpu core", machine = 1, memory_bandwidth = "10 GB/s", flops = { f32 = "50 GFLOP/s" } })
  t:link(a, b, { bandwidth = "10 GB/s", latency = latency })
  return t
end

local function problem(costs, interference, latency)
  return soapstone.problem { model = mlp, topology = cores(latency or 0), costs = costs, sync = "ring", gather = true, partial_sums = true, update_passes = 3,
    links = "fifo-path", copies_block = true, blocked_end = "receiver", interference = interference }
end

local alone_costs = soapstone.costs.roofline { launch = 0 }
local put_in = { overhead = 2e-6, factors = { ["linear forward"] = 1.4, ["linear backward"] = 0.8, update = 2, copy = 3 } }

-- Steps of one problem as if they had been executed.
local function learn(costs, interference, measured, latency)
  local alone, steps = problem(alone_costs, 1e-12), problem(costs, interference, latency)
  local o = { model = mlp, interference = measured }
  for _, row in ipairs(accuracy.strategies(alone, { each = 1, seed = 3 })) do
    local result = steps:simulate(trial.onto(steps, row.strategy))
    o[#o + 1] = { alone = alone:simulate(row.strategy), executed = { result, result } }
  end
  return correction.fit(o)
end

local function near(a, b, share) assert(math.abs(a - b) <= share * math.abs(b), ("%g is not near %g"):format(a, b)) end

claim("factors and the overhead that steps were made with are found", function()
  local learnt = learn(alone_costs:correct(put_in), 0, 0, put_in.overhead)
  for name in pairs(put_in.factors) do near(learnt.factors[name], put_in.factors[name], 0.05) end
  near(learnt.factors.message, 1, 0.1) -- links had the latency alone
  near(learnt.overhead, put_in.overhead, 0.2)
  equal(learnt.strategies, 5)
  contains(tostring(learnt), "linear forward")
  contains(tostring(learnt), "us a task")
end)

claim("interference that steps were made with is found, whatever was measured", function()
  local learnt = learn(alone_costs, 0.6, 0.2)
  near(learnt.interference, 0.6, 0.25)
  equal(learnt.measured_interference, 0.2)
  assert(learn(alone_costs, 0, 0.2).interference < 0.05, "and none where there was none")
end)

claim("steps in which nothing was done to tasks teach nothing", function()
  local learnt = learn(alone_costs, 0)
  for _, g in ipairs(learnt.groups) do near(g.factor, 1, 0.02) end
  assert(learnt.overhead < 1e-7)
end)

claim("what makes no sense is refused", function()
  fails("correction.fit needs a model, and a list of { alone =, executed = }", correction.fit, {})
  fails("there are no strategies to learn from", correction.fit, { model = mlp })
  fails("calibrate.tasks takes a list of at most", soapstone.calibrate.tasks, 3)
  fails("task 1: unknown option 'alon'; did you mean 'alone'?", soapstone.calibrate.tasks, { { group = "a", alon = 1, executed = 1 } })
  fails("task 1 takes 0 s alone", soapstone.calibrate.tasks, { { group = "a", alone = 0, executed = 1 } })
  fails("did you mean 'linear forward'?", function() alone_costs:correct { factors = { ["linear forwards"] = 2 } } end)
  fails("the factor of 'update' is a text; a number is wanted", function() alone_costs:correct { factors = { update = "2" } } end)
  fails("corrected already", function() alone_costs:correct(put_in):correct(put_in) end)
  fails("option 'factors' should be a table", function() alone_costs:correct { factors = 2 } end)
end)

claim("a result says that its costs are corrected", function()
  local corrected = problem(alone_costs:correct(put_in))
  local said = tostring(corrected:simulate(corrected:strategy "whole").assumptions)
  contains(said, "corrected by 4 factors and 2 us a task")
end)

check.done()
