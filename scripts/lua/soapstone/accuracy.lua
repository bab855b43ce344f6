-- accuracy.lua - simulated against executed: strategies of a network on this machine's cores, and where the error comes from.
--
--   local accuracy = require "soapstone.accuracy"
--   local got = accuracy.run { model = require "models.lenet" { batch = 64 }, each = 2 }
--   print(got, got.comparison.median, got.floor.median)
--
-- Strategies are given, or drawn by class (of what they cut), what they need is profiled, and all of them are executed: in rounds
-- over all of it in turn, so that a machine that drifts does so under all alike.  The floor is the machine's own
-- repeatability: the first half of the rounds as a simulation of the second.  Nothing is fitted to what is compared.
-- accuracy_report.lua has the tables and figures of what comes out.

local accuracy_report = require "soapstone.accuracy_report"
local correction = require "soapstone.correction"
local options = require "soapstone.options"
local others = require "soapstone.others"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"
local trial = require "soapstone.trial"
local wanted = require "soapstone.wanted"

local accuracy = {}

local OWNER <const> = "accuracy.run"
local refuse = soapstone.refuse

-- -- strategies ----------------------------------------------------------------------------------------------

accuracy.classes = { "sample", "parameter", "attribute", "operator", "mixed" }
local letter = { sample = "s", parameter = "p", attribute = "a" }

-- Cuts an operator once along a dimension of the class that takes it; false where none does.  Classes of linear_softmax are
-- not computed in parts.
local function cut(strategy, op, class, devices)
  for _, dim in ipairs(op.dims) do
    if dim.class == class and dim.extent >= 2 and not (op.kind == "linear_softmax" and class ~= "s") then
      if pcall(strategy.set, strategy, op.name, { degrees = { [dim.name] = 2 }, devices = devices }) then return true end
    end
  end
  return false
end

-- Two devices, the first by chance and the other beside it or, of more than two, by chance too.
local function pair(devices, random)
  local first = random(devices)
  local second = devices == 2 and 3 - first or random(devices - 1)
  if devices > 2 and second >= first then second = second + 1 end
  return { first, second }
end

local function draw(problem, class, name, random)
  local strategy, devices = problem:strategy("whole", { name = name }), problem.topology.devices
  local share = 0.3 + 0.7 * random()
  for op in problem.model:ops() do
    local of = letter[class]
    if class == "mixed" then of = ({ "s", "p", "a", "whole" })[random(4)] end
    local order = pair(devices, random)
    if not (of and random() < share and cut(strategy, op, of, order)) then
      strategy:set(op.name, { degrees = {}, devices = { random(devices) } })
    end
  end
  return strategy:copy { name = name }
end

-- So many strategies of each class: sample, parameter and attribute cut a share of the operators in two along such a dimension and
-- place the others whole, operator places all whole, mixed draws what to cut.  A list of { class, strategy }; of equal ones the
-- first.
function accuracy.strategies(problem, o)
  o = options(o, { each = options.count(2, { min = 1, max = 1000 }), seed = options.count(1, { min = 0 }) }, "accuracy.strategies")
  if problem.topology.devices < 2 then refuse "accuracy.strategies: strategies are over two devices or more, and there is one" end
  local state = o.seed * 2654435761 + 1013904223
  local function random(n) -- a stream of its own: what a script draws does not move
    state = state * 6364136223846793005 + 1442695040888963407
    local share = ((state >> 11) & 0xfffffffffffff) / 0x10000000000000
    return n and 1 + math.floor(share * n) or share
  end
  local list = {}
  for i = 1, o.each do
    for _, class in ipairs(accuracy.classes) do
      local strategy, new = draw(problem, class, ("%s %d"):format(class, i), random), true
      for _, other in ipairs(list) do new = new and not (other.strategy == strategy) end
      if new then list[#list + 1] = { class = class, strategy = strategy } end
    end
  end
  return list
end

-- -- the machine ---------------------------------------------------------------------------------------------

-- Cores that share memory, two unless given; with a profile whose streams were measured, links between them are as its messages
-- were, corrected (costs:correct) where a correction is given.
function accuracy.cores(profile, devices, corrected)
  devices = devices or 2
  local overhead, factor = corrected and corrected.overhead or 0, corrected and corrected.factors and corrected.factors.message or 1
  local t, core = topology.new { name = ({ "one core", "two cores" })[devices] or devices .. " cores" }, {}
  for i = 1, devices do
    core[i] = t:device("core" .. i, { kind = "cpu core", machine = 1, memory_bandwidth = "10 GB/s",
      flops = { f32 = "50 GFLOP/s", bf16 = "50 GFLOP/s", f16 = "50 GFLOP/s" } }) -- all is computed in f32
  end
  local best, curve = 0, {}
  for _, s in ipairs(profile and profile.streams or {}) do
    if s.what == "message" then best = math.max(best, s.bytes / (overhead + factor * s.median)) end
  end
  for _, s in ipairs(profile and profile.streams or {}) do
    if s.what == "message" then curve[#curve + 1] = { bytes = s.bytes, efficiency = s.bytes / (overhead + factor * s.median) / best } end
  end
  local link = { bandwidth = "10 GB/s", latency = 0 }
  if best > 0 then link.bandwidth, link.efficiency = ("%.17g B/s"):format(best), curve end
  for i = 2, devices do
    for k = 1, i - 1 do t:link(core[k], core[i], link) end
  end
  return t
end

-- What an executed step does; `more` changes it.
local function problem_of(o, t, costs, more)
  local all = { model = o.model, topology = t, costs = costs, sync = o.sync, gather = true, partial_sums = true, update_passes = 3,
    links = "fifo-path", copies_block = true, blocked_end = "receiver" }
  for _, given in ipairs { o.problem or {}, more or {} } do
    for name, value in pairs(given) do all[name] = value end
  end
  return soapstone.problem(all)
end

-- What is left out, one at a time: the share that each has in the error.
accuracy.switches = {
  { name = "correction", learnt = {} },
  { name = "factors", learnt = { overhead = true, interference = true } },
  { name = "overhead", learnt = { factors = true, interference = true } },
  { name = "interference", without = { interference = 0 } },
  { name = "gather", without = { gather = false } },
  { name = "partial_sums", without = { partial_sums = false } },
  { name = "update_passes", without = { update_passes = 0 } },
  { name = "copies_block", without = { copies_block = false } },
  { name = "ideal_links", without = { ideal_links = true } },
  { name = "builtin_roofline", times = "builtin" },
  { name = "fitted_roofline", times = "fitted" },
}

-- -- running -------------------------------------------------------------------------------------------------

local function median_of(samples, from, to) return trial.median(table.move(samples, from, to, 1, {})) end

-- When each task began and how long it took, and how busy each device was: a sample more.
local function keep_step(row, result)
  local kept = row.kept
  for i = 1, result.tasks do
    local task, of = result:task(i), kept.tasks[i] or { start = {}, seconds = {} }
    kept.tasks[i] = of
    table.insert(of.start, task.start)
    table.insert(of.seconds, task.finish - task.start)
  end
  for i, device in ipairs(result.devices) do
    local of = kept.devices[i] or { busy = {}, idle = {} }
    kept.devices[i] = of
    table.insert(of.busy, device.busy)
    table.insert(of.idle, device.idle)
  end
end

local function execute(problem, row, o)
  local results = problem:execute(row.strategy, { steps = o.steps, warmup = o.warmup, seed = o.seed, pinned = o.pinned })
  for _, r in ipairs(results) do table.insert(row.steps, r.step_time) end
  row.latest = results
end

-- What the steps of a round were, looked at when all strategies had theirs: nothing comes between two executions.
local function keep(row)
  for _, r in ipairs(row.latest) do
    if row.training then table.insert(row.results, r) else keep_step(row, r) end
  end
  table.sort(row.latest, function(a, b) return a.step_time < b.step_time end)
  row.measured, row.latest = row.latest[(#row.latest + 1) // 2], nil
end

-- In each round the profile has some of its rounds and all strategies execute: a machine that is slower for a while is so for
-- both.  Gives the profile, how many times are new, and the seconds that it took; ends with each strategy's step times, and the
-- result of a step of the last round.
local function profile_and_execute(problem, list, all, known, o)
  local parts, times, seconds, core, beside = {}, 0, 0, nil, nil
  if o.pinned then -- as the executor pins devices: the first cores that there are
    local cores = others.cores()
    core, beside = cores[1] or 0, cores[2] or o.devices > 1 and 1 or nil
  end
  for _, row in ipairs(list) do row.steps, row.kept, row.results = {}, { tasks = {}, devices = {} }, {} end
  for round = 1, o.rounds do
    local rounds = (o.profile_rounds * round) // o.rounds - (o.profile_rounds * (round - 1)) // o.rounds
    local part, new, took = problem:profile(all, { core = core, beside = beside, seed = o.seed,
      known = known, new_only = true, rounds = math.max(1, rounds), warm_up = 1 })
    if #part > 0 or #part.streams > 0 then parts[#parts + 1] = part end
    times, seconds = new, seconds + took
    for i, row in ipairs(list) do
      if o.progress then soapstone.progress(("round %d of %d: executing strategy %d of %d"):format(round, o.rounds, i, #list)) end
      execute(problem, row, o)
    end
    for _, row in ipairs(list) do keep(row) end
  end
  if o.progress then soapstone.progress() end
  local profile = #parts > 0 and soapstone.profile.merge(parts, { pool = true }) or nil
  if known then profile = profile and soapstone.profile.merge { known, profile } or known end
  return profile, times, seconds
end

-- -- side by side ---------------------------------------------------------------------------------------------

-- The simulated tasks beside the executed ones, in medians of all steps: row.timeline; and the same of devices.
local function put_side_by_side(row, kind_of, simulated)
  row.timeline, row.devices = {}, {}
  for i = 1, simulated.tasks do
    local task, kept = simulated:task(i), row.kept.tasks[i]
    local computes = task.kind == "forward" or task.kind == "backward"
    row.timeline[i] = {
      name = task.name, kind = task.kind, lane = task.lane,
      operator = computes and (kind_of[task.name:match "^(.-)%.[^.]*$" or ""] or kind_of[task.name:match "^([^.%[ ]+)" or ""]) or nil,
      simulated_start = task.start, simulated = task.finish - task.start,
      executed_start = trial.median(kept.start), executed = trial.median(kept.seconds),
    }
  end
  for i, device in ipairs(simulated.devices) do
    local kept = row.kept.devices[i]
    row.devices[i] = { name = device.name, simulated_busy = device.busy, simulated_idle = device.idle, executed_busy = trial.median(kept.busy),
      executed_idle = trial.median(kept.idle) }
  end
  row.kept = nil
end

-- Seconds by kind of task, and of operators by their kind and phase, over all strategies: sums, how far off a task is in the median
-- (`error`) and how far all together are (`bias`).
local function kinds_of(list)
  local kinds, order = {}, {}
  for _, row in ipairs(list) do
    for _, task in ipairs(row.timeline) do
      local name = task.operator and task.operator .. " " .. task.kind or task.kind
      local of = kinds[name]
      if not of then
        of = { name = name, tasks = 0, simulated = 0.0, executed = 0.0, off = {} }
        kinds[name], order[#order + 1] = of, of
      end
      of.tasks, of.simulated, of.executed = of.tasks + 1, of.simulated + task.simulated, of.executed + task.executed
      if task.executed > 0 then table.insert(of.off, math.abs(task.simulated / task.executed - 1)) end
    end
  end
  for _, of in ipairs(order) do
    of.error = #of.off > 0 and trial.median(of.off) or nil
    of.bias = of.executed > 0 and of.simulated / of.executed - 1 or nil
    of.off = nil
  end
  return order
end

-- Seconds of each device, over all strategies.
local function devices_of(list)
  local devices = {}
  for _, row in ipairs(list) do
    for i, device in ipairs(row.devices) do
      local of = devices[i] or { name = device.name, simulated_busy = 0.0, simulated_idle = 0.0, executed_busy = 0.0, executed_idle = 0.0 }
      devices[i] = of
      for name, seconds in pairs(device) do
        if name ~= "name" then of[name] = of[name] + seconds end
      end
    end
  end
  return devices
end

-- Of each step of each round, in their order, by how much it is longer than the strategy's median: the median over all strategies.
local function iterations_of(list, o)
  local iterations = {}
  for round = 1, o.rounds do
    iterations[round] = {}
    for step = 1, o.steps do
      local off = {}
      for i, row in ipairs(list) do off[i] = row.steps[(round - 1) * o.steps + step] / row.median - 1 end
      iterations[round][step] = trial.median(off)
    end
  end
  return iterations
end

local function compare(list, field)
  local simulated, measured = {}, {}
  for i, row in ipairs(list) do simulated[i], measured[i] = row[field], row.median end
  return soapstone.compare(simulated, measured)
end

-- -- what is learnt -------------------------------------------------------------------------------------------

local OTHERS <const> = 7919 -- added to the seed: another stream of draws
local BARELY <const> = 1e-12 -- an interference that moves no time by a picosecond, so that tasks have bounds

-- Strategies to learn from, none of which is compared; over one device there are none to draw.
local function others_to_learn_from(problem, list, o)
  local training = {}
  for _, drawn in ipairs(o.train > 0 and o.devices > 1 and accuracy.strategies(problem, { each = o.train, seed = o.seed + OTHERS }) or {}) do
    local new = true
    for _, other in ipairs(list) do new = new and not (other.strategy == drawn.strategy) end
    if new then training[#training + 1] = { class = drawn.class, strategy = drawn.strategy, training = true } end
  end
  return training
end

local function costs_of(profile) return soapstone.costs.stack { soapstone.costs.table(profile), soapstone.costs.roofline() } end

local function learn(o, training, profile)
  local problem = problem_of(o, accuracy.cores(profile, o.devices), costs_of(profile), { interference = BARELY })
  local from = { model = o.model, interference = profile.interference }
  for i, row in ipairs(training) do from[i] = { alone = problem:simulate(trial.onto(problem, row.strategy)), executed = row.results } end
  return correction.fit(from)
end

-- The roofline fitted to what the training strategies need; nil: there are too few times to fit one.
local function fitted_roofline(profile, training)
  local strategies = {}
  for i, row in ipairs(training) do strategies[i] = row.strategy end
  local ok, fitted = pcall(soapstone.calibrate.roofline, { strategies = strategies, profile = profile, hold_out = 0 })
  return ok and fitted or nil
end

-- The problem that is simulated; of a switch the same without what it leaves out.
local function problem_with(o, profile, learnt, switch, fitted)
  if switch and switch.times then -- measured links are all that is kept: what was learnt is of measured times
    local given = o.problem and o.problem.interference
    return problem_of(o, accuracy.cores(profile, o.devices), soapstone.costs.roofline(switch.times == "fitted" and fitted.constants or nil),
      { interference = given or profile.interference })
  end
  local keep = switch and switch.learnt or { factors = true, overhead = true, interference = true }
  local used = learnt and { factors = keep.factors and learnt.factors or {}, overhead = keep.overhead and learnt.overhead or 0 }
  local given = o.problem and o.problem.interference
  local more = { interference = given or learnt and keep.interference and learnt.interference or profile.interference }
  for name, value in pairs(switch and switch.without or {}) do more[name] = value end
  local costs = costs_of(profile)
  return problem_of(o, accuracy.cores(profile, o.devices, used), used and costs:correct(used) or costs, more)
end

-- -- the whole -------------------------------------------------------------------------------------------------

local page = {}

function page.__tostring(got) return accuracy_report.text(got) end

-- Of what is said twice the first.
local function add(list, class, strategy)
  for _, other in ipairs(list) do
    if other.strategy == strategy then return end
  end
  list[#list + 1] = { class = class, strategy = strategy, name = strategy.name }
end

local function read(o)
  if type(o) ~= "table" or not o.model then refuse("%s needs a model: { model = ... }", OWNER) end
  local model, known, strategies, plain = o.model, o.known, o.strategies, {}
  if strategies ~= nil then wanted.strategies(OWNER, "option 'strategies'", strategies) end
  for name, value in pairs(o) do
    if name ~= "model" and name ~= "known" and name ~= "strategies" then plain[name] = value end
  end
  o = options(plain, {
    each = options.count(strategies and 0 or 2, { min = strategies and 0 or 1, max = 1000 }), devices = options.count(2, { min = 1, max = 1000 }),
    rounds = options.count(4, { min = 2, max = 1000 }), steps = options.count(5, { min = 1, max = 1000 }),
    warmup = options.count(2, { min = 0, max = 1000 }), profile_rounds = options.count(15, { min = 1, max = 10000 }), seed = options.count(1, { min = 0 }),
    train = options.count(1, { min = 0, max = 1000 }), sync = options.choice("ring", { "ring", "parameter_server" }), problem = options.any(nil, "more options of the problem"), pinned = true,
    proof = false, progress = false,
  }, OWNER)
  if o.problem ~= nil then wanted.table(OWNER, "option 'problem'", o.problem) end
  local cores = #others.cores()
  if o.pinned and cores > 0 and o.devices > cores then -- before minutes of measuring; an execution to try it would disturb what follows
    refuse("%s: %d devices want a core each, and there are %d: give fewer devices, or pinned = false", OWNER, o.devices, cores)
  end
  o.model = model
  return o, known, strategies or {}
end

-- Profiles, simulates and executes; gives a table that prints itself.
function accuracy.run(o)
  local known, strategies
  o, known, strategies = read(o)
  local bare, list, all = problem_of(o, accuracy.cores(nil, o.devices)), {}, {}
  for _, strategy in ipairs(strategies) do add(list, "given", trial.onto(bare, strategy)) end
  for _, drawn in ipairs(o.each > 0 and accuracy.strategies(bare, { each = o.each, seed = o.seed }) or {}) do add(list, drawn.class, drawn.strategy) end
  local training = others_to_learn_from(bare, list, o)
  local everything = table.move(training, 1, #training, #list + 1, table.move(list, 1, #list, 1, {}))
  for i, row in ipairs(everything) do all[i] = row.strategy end
  if #list == 0 then refuse("%s: no strategies were given, and none are drawn (option 'each')", OWNER) end
  local watch = others.watch()
  local profile, times, seconds = profile_and_execute(bare, everything, all, known, o)
  local others_had = watch()
  local learnt = #training > 0 and learn(o, training, profile) or nil
  local fitted = #training > 0 and fitted_roofline(profile, training) or nil
  local full = problem_with(o, profile, learnt)
  local got = setmetatable({ rows = list, correction = learnt, roofline = fitted, without = {}, profile = profile, problem = full, measured_times = times, profile_seconds = seconds,
    others = others_had }, page)
  local kind_of, first, second = {}, {}, {}
  for op in o.model:ops() do kind_of[op.name] = op.kind end
  for i, row in ipairs(list) do
    row.strategy = trial.onto(full, row.strategy)
    local simulated, n = full:simulate(row.strategy), #row.steps
    row.median, row.simulated, row.tasks = trial.median(row.steps), simulated.step_time, simulated.tasks
    row.error, row.result = row.simulated / row.median - 1, simulated
    first[i], second[i] = median_of(row.steps, 1, n // 2), median_of(row.steps, n // 2 + 1, n)
    row.first, row.second, row.repeatability = first[i], second[i], math.abs(first[i] / second[i] - 1)
    if o.proof then row.proof = full:proof(row.strategy, { seed = o.seed, pinned = o.pinned }) end
    put_side_by_side(row, kind_of, simulated)
  end
  got.comparison, got.floor = compare(list, "simulated"), soapstone.compare(first, second)
  got.kinds, got.devices, got.iterations = kinds_of(list), devices_of(list), iterations_of(list, o)
  for _, switch in ipairs(accuracy.switches) do
    if switch.times ~= "fitted" or fitted then
      local without = problem_with(o, profile, learnt, switch, fitted)
      for _, row in ipairs(list) do row[switch.name] = without:simulate(trial.onto(without, row.strategy)).step_time end
      got.without[#got.without + 1] = { name = switch.name, comparison = compare(list, switch.name) }
    end
  end
  return got
end

return accuracy
