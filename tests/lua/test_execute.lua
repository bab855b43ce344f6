-- What a script sees of an execution: that a strategy computes what the whole model computes, and what is refused.
local soapstone = require "soapstone"
local topology = require "soapstone.topology"
local check = require "check"

local claim, equal, fails, contains = check.claim, check.equal, check.fails, check.contains

local function cores(n)
  local t = topology.new { name = "here" }
  local core = {}
  for i = 1, n do
    core[i] = t:device("core" .. i, { kind = "cpu core", machine = 1, memory_bandwidth = "10 GB/s", flops = { f32 = "50 GFLOP/s" } })
    for k = 1, i - 1 do t:link(core[k], core[i], { bandwidth = "5 GB/s", latency = "1 us" }) end
  end
  return t
end

local function problem_of(model, devices, o)
  o = o or {}
  o.model, o.topology = model, cores(devices)
  o.sync = o.sync or "ring"
  return soapstone.problem(o)
end

local mlp = require "models.mlp" { batch = 12, layers = 3, width = 24 }
local problem = problem_of(mlp, 2, { gather = true, partial_sums = true, update_passes = 3 })
local available, why = pcall(problem.execute, problem, problem:strategy "whole", { steps = 1, pinned = false })

if not available then
  -- By hand: errors 0.1, -0.2, 0 and 0.5; of six pairs one is against (the last two); ranks 1 2 3 4 and 1 2 4 3.
claim("times are compared by errors and by order", function()
  local c = soapstone.compare({ 1.1, 1.6, 5, 6 }, { 1, 2, 5, 4 })
  local function near(a, b) assert(math.abs(a - b) < 1e-12, ("%s is not %s"):format(a, b)) end
  equal(c.n, 4)
  near(c.mean, 0.1)
  near(c.mean_absolute, 0.2)
  near(c.median, 0.15)
  near(c.q90, 0.2 + 0.7 * 0.3)
  near(c.most, 0.5)
  near(c.kendall, 4 / 6)
  near(c.spearman, 1 - 6 * 2 / (4 * 15))
  local one = soapstone.compare({ 1, 1 }, { 1, 2 })
  assert(one.kendall == nil and one.spearman == nil)
  near(soapstone.compare({ 1, 1, 2 }, { 1, 2, 3 }).kendall, 2 / math.sqrt(2 * 3))
  fails("2 simulated times and 1 measured ones are no pairs", soapstone.compare, { 1, 2 }, { 1 })
  fails("pair 2: 0 s simulated and 1 s measured", soapstone.compare, { 1, 0 }, { 1, 1 })
  fails("there are no times to compare", soapstone.compare, {}, {})
  fails("element 1 of the second list is a text", soapstone.compare, { 1 }, { "x" })
end)

claim("a build without kernels says what is missing and how to get it", function()
    contains(why, "this build has no oneDNN: install libdnnl-dev (Debian) and configure again")
  end)
  check.done()
  return
end

local function proves(p, strategy)
  local proof = p:proof(strategy, { pinned = false })
  for _, what in ipairs { "outputs", "gradients", "weights", "loss" } do
    assert(proof[what] <= 1e-4, ("%s: %s are off by %g (%s)"):format(strategy.name, what, proof[what],
      proof.worst[what:sub(1, -2)] or ""))
  end
end

claim("strategies compute what the whole model computes", function()
  for _, sync in ipairs { "parameter_server", "ring", "tree", "double_tree", "halving_doubling", "auto" } do
    for _, devices in ipairs { 2, 3 } do
      local p = problem_of(mlp, devices, { sync = sync, gather = devices == 2, partial_sums = devices == 3, update_passes = 3 })
      proves(p, p:strategy "data_parallel")
      proves(p, p:strategy "model_parallel")
      for seed = 1, 4 do proves(p, p:strategy("random", { seed = seed })) end
      local split = p:strategy "whole"
      split:set("fc1", { degrees = { n = 2, c = 2 }, devices = { 1, 2, 2, 1 } })
      split:set("fc2", { degrees = { c = 3 }, devices = { 2, 1, 2 } })
      proves(p, split)
    end
  end
end)

claim("a transformer computes the same however it is cut", function()
  for _, name in ipairs { "gpt", "bert" } do
    local m = require("models." .. name) { batch = 4, layers = 2, hidden = 24, heads = 2, sequence = 10, vocab = 50, dtype = "f32" }
    local p = problem_of(m, 2, { gather = true, partial_sums = true, update_passes = 3 })
    for _, strategy in ipairs { "data_parallel", "model_parallel" } do
      equal(#p:without_kernels(p:strategy(strategy)), 0)
      proves(p, p:strategy(strategy))
    end
  end
end)

claim("batch_norm cut by samples has statistics of each part, and cut by channels those of the whole", function()
  local m = require("soapstone.model").new { name = "normal", dtype = "f32" }
  local x = m:batch_norm("norm", m:linear("fc", m:input("x", { 8, 6 }), { out = 6 }))
  m:squared_error("loss", m:relu("relu", x))
  local p = problem_of(m, 2, { gather = true, partial_sums = true, update_passes = 3 })
  local channels = p:strategy "whole"
  channels:set("norm", { degrees = { c = 2 }, devices = { 1, 2 } })
  proves(p, channels)
  local samples = p:strategy "whole"
  samples:set("norm", { degrees = { n = 2 }, devices = { 1, 2 } })
  assert(p:proof(samples, { pinned = false }).outputs > 1e-3)
end)

claim("an executed step is a result like any other", function()
  local results, losses = problem:execute(problem:strategy "data_parallel", { steps = 3, warmup = 1, pinned = false })
  equal(#results, 3)
  equal(#losses, 3)
  assert(losses[3] < losses[1], "updates make the loss less")
  for _, r in ipairs(results) do
    equal(r.name, "data_parallel")
    equal(r.tasks, problem:simulate(problem:strategy "data_parallel").tasks)
    local last = 0.0
    for i = 1, r.tasks do
      local task = r:task(i)
      assert(task.start >= task.ready and task.finish >= task.start)
      last = math.max(last, task.finish)
    end
    equal(r.step_time, last)
    assert(r.step_time > 0 and r.devices[1].busy > 0 and r.devices[2].busy > 0)
  end
  contains(tostring(results[1]), "executed")
end)

claim("the same seed computes the same loss, another one another", function()
  local whole = problem:strategy "whole"
  local _, a = problem:execute(whole, { steps = 1, pinned = false })
  local _, b = problem:execute(whole, { steps = 1, pinned = false })
  local _, c = problem:execute(whole, { steps = 1, pinned = false, seed = 2 })
  equal(a[1], b[1])
  assert(a[1] ~= c[1])
end)

claim("what cannot be executed is refused with the option that is in the way", function()
  local function wrong(said, o)
    local p = problem_of(mlp, 2, o)
    fails(said, p.execute, p, p:strategy "data_parallel", { steps = 1, pinned = false })
  end
  wrong("forward and backward are one task (lumped)", { lumped = true })
  wrong("messages carry pieces of several parts", { coalesce = "per_device" })
  wrong("messages are cut into segments (segment)", { segment = 64 })
  wrong('gradients meet by a formula (sync = "closed_form")', { sync = "closed_form" })
  wrong("each meeting of gradients is one task (aggregate)", { aggregate = true })
  local t = topology.new { name = "far" }
  local hub = t:switch "hub"
  for i = 1, 2 do
    t:link(t:device("core" .. i, { kind = "cpu core", memory_bandwidth = "10 GB/s", flops = { f32 = "50 GFLOP/s" } }), hub,
      { bandwidth = "5 GB/s", latency = "1 us" })
  end
  local far = soapstone.problem { model = mlp, topology = t, sync = "ring" }
  fails("messages from core1 to core2 cross several links", far.execute, far, far:strategy "data_parallel", { steps = 1, pinned = false })
  fails("problem:execute: option 'steps' is 0; it must be at least 1", problem.execute, problem, problem:strategy "whole", { steps = 0 })
  fails("unknown option 'step'; did you mean 'steps'?", problem.execute, problem, problem:strategy "whole", { step = 1 })
  fails("problem:proof", problem.proof, problem, far:strategy "whole")
  local many = problem_of(mlp, 64)
  fails("64 devices want a core each, and there are", many.execute, many, many:strategy "whole", { steps = 1 })
end)

check.done()
