-- correction.lua - what a step does to its tasks, learnt from executed steps and put into the costs of others.
--
--   local correction = require "soapstone.correction"
--   local learnt = correction.fit { model = model, interference = profile.interference,
--     { alone = problem:simulate(a), executed = problem:execute(a) }, ... }
--   print(learnt, learnt.overhead, learnt.factors["linear forward"], learnt.interference)
--   local costs = costs:correct { overhead = learnt.overhead, factors = learnt.factors }
--
-- A task takes other times in a step than alone: it is begun by somebody, finds other things in the caches, and has others
-- beside it.  docs/decisions/0046-a-step-is-not-its-parts.md says how that is written and fitted.

local report = require "soapstone.report"
local soapstone = require "soapstone"

local correction = {}

local OWNER <const> = "correction.fit"
local refuse, show = soapstone.refuse, soapstone.unit.show

local stream_of = { gather = "copy", accumulate = "sum", update = "update", transfer = "message" }

-- What a task's factor is called; nil: of none that is corrected.
local function group_of(kinds, task)
  if task.kind ~= "forward" and task.kind ~= "backward" then return stream_of[task.kind] end
  local op = kinds[task.name:match "^(.-)%.[^.]*$" or ""] or kinds[task.name:match "^([^.%[ ]+)" or ""]
  return op and op .. " " .. task.kind
end

-- The device that a task keeps busy in an execution: of a transfer its receiver.
local function device_of(task) return task.lane:match "([^>]+)$" end

-- How long each task of an executed step kept its device busy, from when it could have begun, and how far others waited for
-- memory beside it: sums of bounds of the other devices, on average over its time.
local function look_at(step, bounds, took, beside)
  local tasks, of = {}, {}
  for i = 1, step.tasks do
    local t = step:task(i)
    tasks[i] = { ready = t.ready, start = t.start, finish = t.finish, bound = bounds[i], device = device_of(t) }
    of[tasks[i].device] = of[tasks[i].device] or {}
    table.insert(of[tasks[i].device], tasks[i])
  end
  local devices = {}
  for device, list in soapstone.pairs(of) do
    table.sort(list, function(a, b) return a.start < b.start end)
    devices[#devices + 1] = device
    local free = 0
    for _, t in ipairs(list) do
      t.took, t.beside, free = t.finish - math.max(t.ready, free), 0, t.finish
    end
  end
  for _, a in ipairs(devices) do
    for _, b in ipairs(devices) do
      local first = 1
      for _, t in ipairs(a ~= b and of[a] or {}) do
        while of[b][first] and of[b][first].finish <= t.start do first = first + 1 end
        for k = first, #of[b] do
          local x = of[b][k]
          if x.start >= t.finish then break end
          local share = (math.min(x.finish, t.finish) - math.max(x.start, t.start)) / math.max(t.finish - t.start, 1e-12)
          t.beside = t.beside + x.bound * share
        end
      end
    end
  end
  for i, t in ipairs(tasks) do
    took[i], beside[i] = took[i] or {}, (beside[i] or 0) + t.beside
    table.insert(took[i], t.took)
  end
end

-- Of times without those far above the others: an interrupted task says nothing of tasks.
local function mean_of(list)
  table.sort(list)
  local n = #list
  local q1, q3 = list[1 + (n - 1) // 4], list[1 + 3 * (n - 1) // 4]
  local sum, count = 0, 0
  for _, x in ipairs(list) do
    if x <= q3 + 3 * (q3 - q1) then sum, count = sum + x, count + 1 end
  end
  return sum / count
end

local page = {}

-- A header and rows, as report.table takes them.
function correction.rows(c)
  local rows = {}
  for i, g in ipairs(c.groups) do
    rows[i] = { g.name, g.tasks, show(g.alone, "s"), show(g.executed, "s"), ("%.2f"):format(g.factor), ("%.2f"):format(g.error) }
  end
  return { "tasks", "number", "alone", "in steps", "factor", "error" }, rows
end

function correction.text(c)
  return ("%s a task, interference %.2f (measured: %.2f), from %d tasks of %d strategies"):format(show(c.overhead, "s"), c.interference,
    c.measured_interference, c.tasks, c.strategies)
end

function page.__tostring(c) return report.table(correction.rows(c)) .. "\n\n" .. correction.text(c) end

-- A list of { alone = result, executed = list of results } of strategies of a model; `alone` simulated with a problem whose
-- `interference` is above 0 but so small that it moves nothing, so that its tasks have bounds.
function correction.fit(o)
  if type(o) ~= "table" or not o.model then refuse("%s needs a model, and a list of { alone =, executed = }", OWNER) end
  if #o == 0 then refuse("%s: there are no strategies to learn from", OWNER) end
  local kinds, list = {}, {}
  for op in o.model:ops() do kinds[op.name] = op.kind end
  for _, row in ipairs(o) do
    local alone, bounds, took, beside = {}, {}, {}, {}
    for i = 1, row.alone.tasks do
      alone[i] = row.alone:task(i)
      bounds[i] = alone[i].bound or 0
    end
    for _, step in ipairs(row.executed) do look_at(step, bounds, took, beside) end
    for i, task in ipairs(alone) do
      local group, seconds = group_of(kinds, task), task.finish - task.start
      if group and seconds > 0 then
        list[#list + 1] = { group = group, alone = seconds, executed = math.max(mean_of(took[i]), 1e-9), bound = math.min(bounds[i], 1),
          beside = beside[i] / #row.executed }
      end
    end
  end
  local found = soapstone.calibrate.tasks(list, { interference = o.interference or 0 })
  local groups = {}
  for i, g in ipairs(found.groups) do groups[i] = g end
  table.sort(groups, function(a, b) return a.name < b.name end)
  return setmetatable({ overhead = found.overhead, overhead_error = found.overhead_error, interference = found.interference,
    interference_error = found.interference_error, spread = found.spread, factors = found.factors, groups = groups,
    measured_interference = o.interference or 0, strategies = #o, tasks = #list }, page)
end

return correction
