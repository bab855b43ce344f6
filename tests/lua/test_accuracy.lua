-- Simulated against executed: which strategies are drawn, and what comes of a run. Times are not expected to be any: machines are
-- noisy.
local accuracy = require "soapstone.accuracy"
local accuracy_report = require "soapstone.accuracy_report"
local soapstone = require "soapstone"
local check = require "check"

local claim, equal, fails, contains = check.claim, check.equal, check.fails, check.contains

local mlp = require "models.mlp" { batch = 8, layers = 3, width = 16 }
local problem = soapstone.problem { model = mlp, topology = accuracy.cores() }

claim("strategies cut what their class says, the same for a seed", function()
  local list, again = accuracy.strategies(problem, { each = 3, seed = 5 }), accuracy.strategies(problem, { each = 3, seed = 5 })
  equal(#list, #again)
  local seen = {}
  for i, row in ipairs(list) do
    assert(row.strategy == again[i].strategy and row.strategy.name:find(row.class, 1, true))
    seen[row.class] = (seen[row.class] or 0) + 1
    for op in mlp:ops() do
      local got = row.strategy:get(op.name)
      for name, degree in pairs(got.degrees) do
        local dim
        for _, d in ipairs(op.dims) do if d.name == name then dim = d end end
        if degree > 1 and row.class ~= "mixed" then equal(dim.class, ({ sample = "s", parameter = "p", attribute = "a" })[row.class]) end
      end
      if row.class == "operator" then equal(got.parts, 1) end
    end
  end
  for _, class in ipairs { "sample", "parameter", "operator", "mixed" } do assert(seen[class] and seen[class] <= 3, class) end
  local other = accuracy.strategies(problem, { each = 3, seed = 6 })
  local same = #other == #list
  for i = 1, same and #list or 0 do same = same and list[i].strategy == other[i].strategy end
  assert(not same, "another seed draws others")
end)

claim("what makes no sense is refused", function()
  fails("accuracy.run needs a model", accuracy.run, {})
  fails("unknown option 'round'; did you mean 'rounds'?", accuracy.run, { model = mlp, round = 3 })
  fails("option 'rounds' is 1; it must be at least 2", accuracy.run, { model = mlp, rounds = 1 })
  fails("option 'strategies' should be a list of strategies, not a strategy", accuracy.run, { model = mlp, strategies = problem:strategy "whole" })
  fails("no strategies were given, and none are drawn", accuracy.run, { model = mlp, strategies = {} })
  fails("1000 devices want a core each, and there are ", accuracy.run, { model = mlp, devices = 1000 })
  fails("option 'problem' should be a table", accuracy.run, { model = mlp, problem = 3 })
  local one = soapstone.problem { model = mlp, topology = accuracy.cores(nil, 1) }
  fails("strategies are over two devices or more, and there is one", accuracy.strategies, one)
end)

claim("of more devices than two, all are used, and each cut is over two", function()
  local four, seen = soapstone.problem { model = mlp, topology = accuracy.cores(nil, 4) }, {}
  equal(four.topology.links, 12)
  for _, row in ipairs(accuracy.strategies(four, { each = 5 })) do
    for op in mlp:ops() do
      local devices = row.strategy:get(op.name).devices
      for _, device in ipairs(devices) do seen[device] = true end
      assert(#devices == 1 or #devices == 2 and devices[1] ~= devices[2])
    end
  end
  equal(#seen, 4)
end)

local available, got = pcall(accuracy.run, { model = mlp, each = 1, rounds = 2, steps = 1, warmup = 0, profile_rounds = 2, pinned = false,
  proof = true })
if not available then
  claim("a build without kernels says what is missing", function() contains(got, "this build has no oneDNN: install libdnnl-dev (Debian)") end)
  check.done()
  return
end

claim("each strategy is simulated, executed in every round, and compared", function()
  assert(#got.rows >= 4 and got.comparison.n == #got.rows and got.floor.n == #got.rows)
  for _, row in ipairs(got.rows) do
    equal(#row.steps, 2)
    assert(row.median > 0 and row.simulated > 0 and row.tasks == row.measured.tasks)
    assert(math.abs(row.error - (row.simulated / row.median - 1)) < 1e-12)
    equal(got.problem:simulate(row.strategy).step_time, row.simulated)
  end
  assert(#got.without >= #accuracy.switches - 1, "a roofline is fitted where there are times enough")
  local seconds, tasks = 0, 0
  for _, kind in ipairs(got.kinds) do seconds, tasks = seconds + kind.executed, tasks + kind.tasks end
  local all = 0
  for _, row in ipairs(got.rows) do all = all + row.tasks end
  equal(tasks, all)
  assert(seconds > 0)
  contains(tostring(got), "without interference")
  contains(tostring(got), "the machine against itself")
end)

claim("what the strategy computes is proven, beside it", function()
  for _, row in ipairs(got.rows) do assert(row.proof.gradients <= accuracy_report.same, row.name) end
  local worst, wrong = accuracy_report.proofs(got)
  assert(worst and #wrong == 0)
end)

claim("simulated and executed stand side by side by task, device and step", function()
  local busy = 0
  for _, row in ipairs(got.rows) do
    local simulated = row.result
    equal(#row.timeline, row.tasks)
    for i, task in ipairs(row.timeline) do
      local of = simulated:task(i)
      assert(task.name == of.name and task.simulated == of.finish - of.start and task.simulated_start == of.start and task.executed >= 0)
      assert((task.operator ~= nil) == (task.kind == "forward" or task.kind == "backward"), task.name)
    end
    for i, device in ipairs(row.devices) do
      equal(device.name, "core" .. i)
      equal(device.simulated_busy, simulated.devices[i].busy)
      assert(device.executed_busy > 0 or device.simulated_busy == 0)
      busy = busy + device.executed_busy
    end
  end
  check.near(got.devices[1].executed_busy + got.devices[2].executed_busy, busy)
  equal(#got.iterations, 2)
  equal(#got.iterations[1], 1)
  assert(got.iterations[1][1] <= 0 and got.iterations[2][1] >= 0 or got.iterations[1][1] >= 0 and got.iterations[2][1] <= 0,
    "of two steps one is below their median, or both are it")
  assert(got.others.known == false or got.others.seconds > 0)
end)

claim("given strategies take the place of drawn ones, and what is known is not measured again", function()
  local two = { problem:strategy "whole", problem:strategy "data_parallel", problem:strategy "whole" }
  local o = { model = mlp, strategies = two, rounds = 2, steps = 2, warmup = 0, profile_rounds = 2, pinned = false, problem = { sync = "parameter_server" } }
  local first = accuracy.run(o)
  equal(#first.rows, 2) -- of equal ones the first
  equal(first.rows[1].name .. ", " .. first.rows[2].name .. ", " .. first.rows[1].class, "whole, data_parallel, given")
  equal(first.measured_times, #first.profile)
  for _, row in ipairs(first.profile.rows) do equal(#row.samples, 2) end
  contains(first.rows[2].result.assumptions, "parameter_server")
  o.known, o.each, o.profile_rounds = first.profile, 1, 4
  local second = accuracy.run(o)
  assert(#second.rows > 2 and second.rows[3].class == "sample")
  equal(second.measured_times, #second.profile - #first.profile)
  assert(second.measured_times > 0)
  local of = {}
  for _, row in ipairs(first.profile.rows) do of[row.kind .. row.attributes .. row.shape .. row.phase] = row.samples end
  for _, row in ipairs(second.profile.rows) do -- what was known as it was, what is new from all rounds
    local samples = of[row.kind .. row.attributes .. row.shape .. row.phase]
    equal(#row.samples, samples and 2 or 4)
    if samples then equal(row.samples[1], samples[1]) end
  end
  o.known, o.each = second.profile, 1
  equal(accuracy.run(o).measured_times, 0)
end)

claim("where nothing can be left out, leaving it out changes nothing", function()
  for _, row in ipairs(got.rows) do
    equal(row.interference, row.simulated) -- nobody was beside: nothing was measured to wait for memory
    assert(row.update_passes <= row.simulated + 1e-12, "updates only take time")
  end
end)

check.done()
