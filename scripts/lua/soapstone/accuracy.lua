-- accuracy.lua - simulated against executed: strategies of a network on this machine's cores, and where the error comes from.
--
--   local accuracy = require "soapstone.accuracy"
--   local got = accuracy.run { model = require "models.lenet" { batch = 64 }, each = 2 }
--   print(got, got.comparison.median, got.floor.median)
--
-- Strategies are drawn by class (of what they cut), what they need is profiled, and all of them are executed: in rounds over
-- all of it in turn, so that a machine that drifts does so under all alike.  The floor is the machine's own
-- repeatability: the first half of the rounds as a simulation of the second.  Nothing is fitted to what is compared.

local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"
local trial = require "soapstone.trial"

local accuracy = {}

local OWNER <const> = "accuracy.run"
local refuse, show = soapstone.refuse, soapstone.unit.show

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

local function draw(problem, class, name, random)
  local strategy = problem:strategy("whole", { name = name })
  local share = 0.3 + 0.7 * random()
  for op in problem.model:ops() do
    local of = letter[class]
    if class == "mixed" then of = ({ "s", "p", "a", "whole" })[random(4)] end
    local order = random(2) == 1 and { 1, 2 } or { 2, 1 }
    if not (of and random() < share and cut(strategy, op, of, order)) then
      strategy:set(op.name, { degrees = {}, devices = { random(2) } })
    end
  end
  return strategy:copy { name = name }
end

-- So many strategies of each class over two devices: sample, parameter and attribute cut a share of the operators along such a
-- dimension and place the others whole, operator places all whole, mixed draws what to cut.  A list of { class, strategy }; of equal
-- ones the first.
function accuracy.strategies(problem, o)
  o = options(o, { each = options.count(2, { min = 1, max = 1000 }), seed = options.count(1, { min = 0 }) }, "accuracy.strategies")
  if problem.topology.devices ~= 2 then refuse("accuracy.strategies: strategies are over two devices, and there are %d", problem.topology.devices) end
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

-- Two cores that share memory; with a profile whose streams were measured, the link between them is as its messages were.
function accuracy.cores(profile)
  local t = topology.new { name = "two cores" }
  local first, second
  for i = 1, 2 do
    local core = t:device("core" .. i, { kind = "cpu core", machine = 1, memory_bandwidth = "10 GB/s", flops = { f32 = "50 GFLOP/s" } })
    first, second = first or core, core
  end
  local best, curve = 0, {}
  for _, s in ipairs(profile and profile.streams or {}) do
    if s.what == "message" then best = math.max(best, s.bytes / s.median) end
  end
  for _, s in ipairs(profile and profile.streams or {}) do
    if s.what == "message" then curve[#curve + 1] = { bytes = s.bytes, efficiency = s.bytes / s.median / best } end
  end
  local link = { bandwidth = "10 GB/s", latency = 0 }
  if best > 0 then link.bandwidth, link.efficiency = ("%.17g B/s"):format(best), curve end
  t:link(first, second, link)
  return t
end

-- What an executed step does; `more` changes it.
local function problem_of(o, t, costs, more)
  local all = { model = o.model, topology = t, costs = costs, sync = o.sync, gather = true, partial_sums = true, update_passes = 3,
    links = "fifo-path", copies_block = true, blocked_end = "receiver" }
  for name, value in pairs(more or {}) do all[name] = value end
  return soapstone.problem(all)
end

-- What is left out, one at a time: the share that each has in the error.
accuracy.switches = {
  { name = "interference", without = { interference = 0 } },
  { name = "gather", without = { gather = false } },
  { name = "partial_sums", without = { partial_sums = false } },
  { name = "update_passes", without = { update_passes = 0 } },
  { name = "copies_block", without = { copies_block = false } },
  { name = "ideal_links", without = { ideal_links = true } },
}

-- -- running -------------------------------------------------------------------------------------------------

local function median_of(samples, from, to) return trial.median(table.move(samples, from, to, 1, {})) end

-- In each round the profile has some of its rounds and all strategies execute: a machine that is slower for a while is so for
-- both.  Gives the profile, how many times are new, and the seconds that it took; ends with each strategy's step times, and the
-- result of a step of the last round.
local function profile_and_execute(problem, list, all, known, o)
  local parts, times, seconds = {}, 0, 0
  for _, row in ipairs(list) do row.steps = {} end
  for round = 1, o.rounds do
    local part, new, took = problem:profile(all, { core = o.pinned and 0 or nil, beside = o.pinned and 1 or nil, seed = o.seed, known = known,
      rounds = math.max(1, (o.profile_rounds * round) // o.rounds - (o.profile_rounds * (round - 1)) // o.rounds) })
    parts[#parts + 1], times, seconds = part, new, seconds + took
    for i, row in ipairs(list) do
      if o.progress then soapstone.progress(("round %d of %d: executing strategy %d of %d"):format(round, o.rounds, i, #list)) end
      local results = problem:execute(row.strategy, { steps = o.steps, warmup = o.warmup, seed = o.seed, pinned = o.pinned })
      for _, r in ipairs(results) do row.steps[#row.steps + 1] = r.step_time end
      table.sort(results, function(a, b) return a.step_time < b.step_time end)
      row.measured = results[(#results + 1) // 2]
    end
  end
  if o.progress then soapstone.progress() end
  return known and parts[#parts] or soapstone.profile.merge(parts, { pool = true }), times, seconds
end

-- Seconds by kind of task, and of operators by their kind and phase.
local function add_tasks(kinds, order, model, simulated, measured)
  local kind_of = {}
  for op in model:ops() do kind_of[op.name] = op.kind end
  for i = 1, simulated.tasks do
    local a, b = simulated:task(i), measured:task(i)
    local operator = kind_of[a.name:match "^(.-)%.[^.]*$" or ""] or kind_of[a.name:match "^([^.%[ ]+)" or ""]
    local name = (a.kind == "forward" or a.kind == "backward") and operator and operator .. " " .. a.kind or a.kind
    local row = kinds[name]
    if not row then
      row = { name = name, tasks = 0, simulated = 0, measured = 0 }
      kinds[name], order[#order + 1] = row, row
    end
    row.tasks = row.tasks + 1
    row.simulated, row.measured = row.simulated + a.finish - a.start, row.measured + b.finish - b.start
  end
end

local function compare(list, field)
  local simulated, measured = {}, {}
  for i, row in ipairs(list) do simulated[i], measured[i] = row[field], row.median end
  return soapstone.compare(simulated, measured)
end

local function percent(x) return ("%.1f %%"):format(100 * x) end
local function signed(x) return ("%+.1f %%"):format(100 * x) end

local page = {}

function page.__tostring(got)
  local rows = {}
  for i, row in ipairs(got.rows) do
    rows[i] = { row.name, show(row.median, "s"), show(row.simulated, "s"), signed(row.error), percent(row.repeatability), row.tasks }
  end
  local lines = { report.table({ "strategy", "executed", "simulated", "off by", "repeated", "tasks" }, rows), "" }
  local c, f = got.comparison, got.floor
  local tau = c.kendall and (", tau %.2f"):format(c.kendall) or ""
  lines[#lines + 1] = ("error %s in the median, %s in 90 of 100, mean %s%s; the machine against itself %s and %s"):format(percent(c.median),
    percent(c.q90), signed(c.mean), tau, percent(f.median), percent(f.q90))
  for _, switch in ipairs(got.without) do
    lines[#lines + 1] = ("  without %-14s %s in the median, mean %s"):format(switch.name, percent(switch.comparison.median), signed(switch.comparison.mean))
  end
  return table.concat(lines, "\n")
end

-- Profiles, simulates and executes; gives a table that prints itself.
function accuracy.run(o)
  if type(o) ~= "table" or not o.model then refuse("%s needs a model: { model = ... }", OWNER) end
  local model, known = o.model, o.known
  local plain = {}
  for name, value in pairs(o) do if name ~= "model" and name ~= "known" then plain[name] = value end end
  o = options(plain, {
    each = options.count(2, { min = 1, max = 1000 }), rounds = options.count(4, { min = 2, max = 1000 }), steps = options.count(5, { min = 1, max = 1000 }),
    warmup = options.count(2, { min = 0, max = 1000 }), profile_rounds = options.count(15, { min = 1, max = 10000 }), seed = options.count(1, { min = 0 }),
    sync = options.choice("ring", { "ring", "parameter_server" }), pinned = true, progress = false,
  }, OWNER)
  o.model = model
  local bare = problem_of(o, accuracy.cores())
  local list = accuracy.strategies(bare, { each = o.each, seed = o.seed })
  local all = {}
  for i, row in ipairs(list) do all[i] = row.strategy end
  local profile, times, seconds = profile_and_execute(bare, list, all, known, o)
  local t, costs = accuracy.cores(profile), soapstone.costs.stack { soapstone.costs.table(profile), soapstone.costs.roofline() }
  local full = problem_of(o, t, costs, { interference = profile.interference })
  for i, row in ipairs(accuracy.strategies(full, { each = o.each, seed = o.seed })) do list[i].strategy = row.strategy end
  local got = setmetatable({ rows = list, kinds = {}, without = {}, profile = profile, problem = full, measured_times = times, profile_seconds = seconds }, page)
  local kinds, first, second = {}, {}, {}
  for i, row in ipairs(list) do
    local simulated, n = full:simulate(row.strategy), #row.steps
    row.name, row.median, row.simulated, row.tasks = row.strategy.name, trial.median(row.steps), simulated.step_time, simulated.tasks
    row.error, row.result = row.simulated / row.median - 1, simulated
    first[i], second[i] = median_of(row.steps, 1, n // 2), median_of(row.steps, n // 2 + 1, n)
    row.first, row.second, row.repeatability = first[i], second[i], math.abs(first[i] / second[i] - 1)
    add_tasks(kinds, got.kinds, model, simulated, row.measured)
  end
  got.comparison, got.floor = compare(list, "simulated"), soapstone.compare(first, second)
  for _, switch in ipairs(accuracy.switches) do
    local more = { interference = profile.interference }
    for name, value in pairs(switch.without) do more[name] = value end
    local without = problem_of(o, t, costs, more)
    for _, row in ipairs(accuracy.strategies(without, { each = o.each, seed = o.seed })) do
      for _, other in ipairs(list) do
        if other.name == row.strategy.name then other[switch.name] = without:simulate(row.strategy).step_time end
      end
    end
    got.without[#got.without + 1] = { name = switch.name, comparison = compare(list, switch.name) }
  end
  return got
end

return accuracy
