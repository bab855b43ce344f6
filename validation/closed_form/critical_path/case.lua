-- With a device for each task a step takes its longest path.
--
--   soapstone run validation/closed_form/critical_path/case.lua

local law = require "validation.closed_form.common"
local soapstone = require "soapstone"

local case = law.open("critical_path", { "graphs", "tasks", "waits for, each" }, "ps")

local function time() return math.random(0, 10 ^ 9) end

-- Task i on device i.
local function drawn(n, most)
  local tasks = law.draw_tasks(n, 1, most, 20, time)
  for i = 1, n do tasks[i].device = i end
  return tasks
end

math.randomseed(1)
for _, shape in ipairs { { 10, 2 }, { 100, 3 }, { 400, 1 }, { 400, 6 } } do
  local n, most = table.unpack(shape)
  local function group(what) return case:group { what, n, "0 to " .. most } end
  local streams = group "one device of as many streams"
  for _, loop in ipairs(law.loops) do
    local step, each, path = group("step time, " .. loop), group("end of each task, " .. loop), group("critical, " .. loop)
    for _ = 1, 6 do
      local tasks = drawn(n, most)
      local longest, ends = law.longest_path(tasks)
      local r = law.simulate_tasks(tasks, n, loop)
      step:equal(law.picoseconds(r.step_time), longest)
      for i = 1, n do each:equal(law.picoseconds(r:task(i).finish), ends[i]) end
      path:equal(law.picoseconds(r.critical.compute), longest)
      for i = 1, n do tasks[i].device = 1 end
      streams:equal(law.picoseconds(law.simulate_tasks(tasks, 1, "run", n).step_time), longest)
    end
    step:close()
    each:close()
    path:close()
  end
  streams:close()
end

-- With messages: each over a link of its own, which is one more task of the path.
for _, links in ipairs(law.meanings) do
  local messages = case:group { "with messages, " .. links, "60", "0 to 3" }
  for _ = 1, 5 do
    local tasks, ends, most = drawn(60, 3), {}, 0
    local t, bandwidth, latency, bytes = law.devices(60), {}, {}, {}
    for i, task in ipairs(tasks) do
      bytes[i] = {}
      for k, before in ipairs(task.after) do
        bandwidth[#bandwidth + 1], latency[#latency + 1] = math.random(10, 200) * 1e8, math.random(0, 2000) * 1e-9
        t:link("d" .. before, "d" .. i, { bandwidth = bandwidth[#bandwidth], latency = latency[#latency], duplex = "one_way" })
        bytes[i][k] = math.random(1, 10 ^ 6)
      end
    end
    local run, number, link = soapstone.run { topology = t, links = links }, {}, 0
    for i, task in ipairs(tasks) do
      local after, ready = {}, 0
      for k, before in ipairs(task.after) do
        link = link + 1
        after[k] = run:send(before, i, bytes[i][k], { after = number[before], route = { link } })
        ready = math.max(ready, ends[before] + law.over_link(links, bytes[i][k], bandwidth[link], latency[link]))
      end
      number[i] = run:compute(i, task.time * 1e-12, { after = after })
      ends[i] = ready + task.time
      most = math.max(most, ends[i])
    end
    messages:equal(law.picoseconds(run:finish().step_time), most)
  end
  messages:close()
end

case:close()
