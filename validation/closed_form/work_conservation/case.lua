-- A device that has something to do does it: busy times are sums, no device idles while one of its tasks waits, and Graham's bound.
--
--   soapstone run validation/closed_form/work_conservation/case.lua

local law = require "validation.closed_form.common"

local case = law.open("work_conservation", { "what", "devices", "tasks" }, "ps")

-- Few different durations, so that much happens at one time.
local function time()
  return math.random() < 0.5 and math.random(1, 5) * 1000 or math.random(0, 10 ^ 5)
end

-- Adds ready, start and finish, in picoseconds, to each task.
local function simulate(tasks, m, loop, streams)
  local r = law.simulate_tasks(tasks, m, loop, streams)
  for i, task in ipairs(tasks) do
    local x = r:task(i)
    task.ready, task.start, task.finish = law.picoseconds(x.ready), law.picoseconds(x.start), law.picoseconds(x.finish)
  end
  return r
end

-- Tasks that have a device: the published rule, task by task.
math.randomseed(1)
for _, m in ipairs { 1, 3, 8 } do
  local n = 150
  local busy = case:group { "busy", m, n }
  local start = case:group { "start = max(ready, end before)", m, n }
  local ready = case:group { "ready = last end of those before", m, n }
  local least = case:group { "step time >= busiest device", m, n }
  local path = case:group { "step time >= longest path", m, n }
  for turn = 1, 6 do
    local tasks = law.draw_tasks(n, m, 3, 30, time)
    local r = simulate(tasks, m, law.loops[turn % 2 + 1])
    local line, work = {}, {}
    for d = 1, m do line[d], work[d] = {}, 0 end
    for i, task in ipairs(tasks) do
      task.id = i
      table.insert(line[task.device], task)
      work[task.device] = work[task.device] + task.time
      local last = 0
      for _, before in ipairs(task.after) do last = math.max(last, tasks[before].finish) end
      ready:equal(task.ready, last)
    end
    for d = 1, m do
      table.sort(line[d], function(x, y) return x.ready < y.ready or (x.ready == y.ready and x.id < y.id) end)
      local before = 0
      for _, task in ipairs(line[d]) do
        start:equal(task.start, math.max(task.ready, before))
        before = task.start + task.time
      end
      busy:equal(law.picoseconds(r.devices[d].busy), work[d])
      least:at_least(law.picoseconds(r.step_time), work[d])
    end
    path:at_least(law.picoseconds(r.step_time), (law.longest_path(tasks)))
  end
  for _, group in ipairs { busy, start, ready, least, path } do group:close() end
end

-- Tasks that any of m may take (streams of one device), first come first served: a task waits only while all are at work, so
-- the step is no longer than work / m + (1 - 1 / m) of the longest path.
for _, m in ipairs { 2, 3, 8 } do
  local n = 150
  local graham = case:group { "Graham's bound, m times the step", m, n }
  local least = case:group { "m times the step >= work", m, n }
  local at_work = case:group { "at work while one waits", m, n }
  for _ = 1, 8 do
    local tasks = law.draw_tasks(n, 1, 3, 30, time)
    local r = simulate(tasks, 1, "run", m)
    local work, step = 0, law.picoseconds(r.step_time)
    for _, task in ipairs(tasks) do work = work + task.time end
    graham:at_most(m * step, work + (m - 1) * (law.longest_path(tasks)))
    least:at_least(m * step, work)
    for _, task in ipairs(tasks) do
      if task.start > task.ready then
        local overlap = 0 -- of the others with the time that it waits
        for _, other in ipairs(tasks) do
          overlap = overlap + math.max(0, math.min(other.finish, task.start) - math.max(other.start, task.ready))
        end
        at_work:equal(overlap, m * (task.start - task.ready))
      end
    end
  end
  for _, group in ipairs { graham, least, at_work } do group:close() end
end

-- The bound is reached: m (m - 1) short tasks and a long one behind them, Graham's example.
for _, m in ipairs { 2, 3, 8 } do
  local tasks = {}
  for i = 1, m * (m - 1) do tasks[i] = { time = 1000, after = {}, device = 1 } end
  tasks[#tasks + 1] = { time = m * 1000, after = {}, device = 1 }
  local r = simulate(tasks, 1, "run", m)
  case:equal({ "the worst there is", m, #tasks }, law.picoseconds(r.step_time), (2 * m - 1) * 1000)
end

case:close()
