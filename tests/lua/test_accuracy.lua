-- Simulated against executed: which strategies are drawn, and what comes of a run. Times are not expected to be any: machines are
-- noisy.
local accuracy = require "soapstone.accuracy"
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
  local three = soapstone.problem { model = mlp, topology = require "topologies.cores" { devices = 3 } }
  fails("strategies are over two devices, and there are 3", accuracy.strategies, three)
end)

local available, got = pcall(accuracy.run, { model = mlp, each = 1, rounds = 2, steps = 1, warmup = 0, profile_rounds = 2, pinned = false })
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
  equal(#got.without, #accuracy.switches)
  local seconds, tasks = 0, 0
  for _, kind in ipairs(got.kinds) do seconds, tasks = seconds + kind.measured, tasks + kind.tasks end
  local all = 0
  for _, row in ipairs(got.rows) do all = all + row.tasks end
  equal(tasks, all)
  assert(seconds > 0)
  contains(tostring(got), "without interference")
  contains(tostring(got), "the machine against itself")
end)

claim("where nothing can be left out, leaving it out changes nothing", function()
  for _, row in ipairs(got.rows) do
    equal(row.interference, row.simulated) -- nobody was beside: nothing was measured to wait for memory
    assert(row.update_passes <= row.simulated + 1e-12, "updates only take time")
  end
end)

check.done()
