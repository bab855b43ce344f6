-- What a result says, and the files it writes.
local check = require "check"
local small = require "small"
local soapstone = require "soapstone"

local fails, equal, claim = check.fails, check.equal, check.claim

local problem = soapstone.problem { model = small.net(), topology = small.quad() }
local data = problem:strategy "data_parallel"
local r = problem:simulate(data)

local function read(path)
  local f = assert(io.open(path, "rb"))
  local text = f:read "a"
  f:close()
  return text
end

local function scratch(ending)
  local name = os.tmpname()
  os.remove(name)
  return name .. ending
end

claim("fields and methods that are not there are refused", function()
  fails("a result has no field or method 'steptime'; did you mean 'step_time'?",
    function() return r.steptime end)
  fails("cannot be assigned to", function() r.step_time = 0 end)
  fails("the number is 0; it must be at least 1", r.task, r, 0)
  fails("must be at most " .. r.tasks, r.task, r, r.tasks + 1)
  fails("there is no device 5; topology quad has 4 devices", r.memory, r, 5)
end)

claim("tables of a result refuse what they never have, and nothing else", function()
  fails("a device of a result has no field 'bussy'; did you mean 'busy'?",
    function() return r.devices[1].bussy end)
  fails("a peak of a device has no field 'wieghts'; did you mean 'weights'?",
    function() return r.devices[1].peak.wieghts end)
  fails("a link of a result has no field 'byts'", function() return r.links[1].byts end)
  fails("a critical path has no field 'step'; did you mean 'steps'?", function() return r.critical.step end)
  fails("a critical step has no field 'lane'", function() return r.critical.steps[1].lane end)
  fails("there is no device gpu1; the list has 4", function() return r.devices.gpu1 end)
  fails("there is no device 0; the list has 4", function() return r.devices[0] end)
  fails("there is no device 6; the list has 4", function() return r.devices[6] end)
  equal(r.devices[5], nil) -- so that loops end
  local n, compute = 0
  for i = 1, r.tasks do compute = compute or r:task(i).kind ~= "transfer" and r:task(i) end
  equal(compute.cargo, nil)
  for _ in ipairs(r.devices) do n = n + 1 end
  for _ in pairs(r.devices) do n = n + 1 end
  equal(n, 8)
  equal(rawget(r.devices[1], "bussy"), nil)
  for _, c in ipairs(r.critical.steps) do assert(c.behind == nil or #c.behind > 0) end
end)

claim("memory is asked of a device by number, name or node", function()
  equal(#r:memory "gpu2", #r:memory(2))
  fails("topology quad has no device or switch 'gpu9'; did you mean 'gpu", r.memory, r, "gpu9")
end)

claim("its figures agree with each other", function()
  equal(r.samples, 24.0)
  check.near(r.throughput, r.samples / r.step_time)
  local busy, sent, received = 0, 0, 0
  for i, d in ipairs(r.devices) do
    equal(d.name, "gpu" .. i)
    check.near(d.busy + d.idle, r.step_time)
    busy, sent, received = busy + d.busy, sent + d.sent, received + d.received
    local parts = 0
    for _, bytes in pairs(d.peak) do parts = parts + bytes end
    equal(parts, d.peak_memory)
    equal(d.capacity, 16.0 * 2 ^ 30)
    local most = 0
    for _, m in ipairs(r:memory(i)) do most = math.max(most, m.bytes) end
    equal(most, d.peak_memory)
  end
  check.near(busy, r.compute_time)
  equal(sent, received)
  equal(r.bytes_moved, sent + 0.0)
  -- data parallel with a parameter server: three replicas send gradients and get weights
  equal(r.bytes_moved, 2.0 * 3 * problem.model:totals().parameter_bytes)
  local moved = 0
  for _, bytes in pairs(r.moved) do moved = moved + bytes end
  equal(moved, r.bytes_moved)
  local carried = 0
  for _, l in ipairs(r.links) do carried = carried + l.bytes end
  equal(carried, 2 * sent) -- every message crosses two links
  equal(r.over_capacity, false)
end)

claim("the critical path is the step", function()
  local c = r.critical
  check.near(c.compute + c.transfer + c.queueing, r.step_time)
  check.near(c.queueing_device + c.queueing_link, c.queueing)
  local waited, of = 0, { [true] = 0, [false] = 0 }
  for i, w in ipairs(c.waited_for) do
    assert(i == 1 or w.queueing <= c.waited_for[i - 1].queueing, "longest first")
    waited, of[w.link] = waited + w.queueing, of[w.link] + w.queueing
  end
  check.near(waited, c.queueing)
  check.near(of[true], c.queueing_link)
  equal(c.steps[1].start - c.steps[1].queueing, 0.0)
  equal(c.steps[#c.steps].finish, r.step_time)
  local first = r:task(c.steps[1].task)
  equal(first.name, c.steps[1].name)
  equal(first.critical, true)
  assert(rawequal(r.critical, c), "made once")
end)

claim("a saturated parameter server is waited for at its own links", function()
  local m = soapstone.model.new { name = "wide" }
  local t = soapstone.topology.new { name = "narrow" }
  m:linear("fc", m:input("x", { 8, 1000 }), { out = 999 })
  local sw = t:switch "sw"
  for i = 1, 4 do t:link(t:device("d" .. i, { kind = "p100" }), sw, { bandwidth = "1 GB/s" }) end
  local p = soapstone.problem { model = m, topology = t, sync = "parameter_server" }
  local busy = p:simulate(p:strategy "data_parallel")
  local c = busy.critical
  assert(c.queueing_link > 0.5 * busy.step_time and c.queueing_device < 0.01 * busy.step_time)
  assert(c.waited_for[1].name:find "^d1%->sw" or c.waited_for[1].name:find "^sw%->d1", c.waited_for[1].name)
  check.contains(tostring(busy), "% for links, 0.0% for devices; most for " .. c.waited_for[1].name)
  local step
  for _, s in ipairs(c.steps) do if s.queueing > 0 then step = s end end
  assert(step.waited_for:find "%->" and step.behind)
end)

claim("tasks have names, lanes and times in order", function()
  local kinds = {}
  for i = 1, r.tasks do
    local t = r:task(i)
    assert(t.ready <= t.start and t.start <= t.finish and t.finish <= r.step_time)
    kinds[t.kind] = (kinds[t.kind] or 0) + 1
  end
  equal(kinds.forward, 12)
  equal(kinds.backward, 12)
  assert(kinds.transfer > 0)
end)

claim("equal runs give equal results and equal files", function()
  local again = soapstone.problem { model = small.net(), topology = small.quad() }
  local s = again:strategy "data_parallel"
  local q = again:simulate(s)
  equal(q.step_time, r.step_time)
  equal(tostring(q), tostring(r))
  equal(q:json(), r:json())
  local a, b = scratch ".json", scratch ".json"
  r:write_trace(a)
  q:write_trace(b)
  equal(read(a), read(b))
  r:write_dot(a)
  q:write_dot(b)
  equal(read(a), read(b))
  os.remove(a)
  os.remove(b)
end)

claim("a trace takes a window, and says what it left out", function()
  local path = scratch ".json"
  local counts = r:write_trace(path, { flows = false, memory = false })
  equal(counts.slices, r.tasks)
  equal(counts.flows, 0)
  local part = r:write_trace(path, { only = "fc2" })
  assert(part.left_out > 0 and part.slices + part.left_out == r.tasks)
  fails("unknown option 'form'; did you mean 'from'?", r.write_trace, r, path, { form = 1 })
  fails("expected seconds", r.write_trace, r, path, { from = "1 GB" })
  fails("no-such-folder", r.write_trace, r, "no-such-folder/x.json")
  fails("no-such-folder", r.write_dot, r, "no-such-folder/x.dot")
  fails("the path should be a text, not nothing", r.write_dot, r)
  os.remove(path)
end)

claim("wrong options of a figure are told in their units", function()
  local gantt = soapstone.plot.gantt
  for wrong, said in pairs { [0] = "0", [-3] = "-3", [41] = "41", [1 / 0] = "inf", wide = '"wide"', [""] = '""' } do
    fails(("plot: option 'width' is %s; it is a number of inches from 1 to 40 (3.5 is a column)"):format(said),
      gantt, r, "x.svg", { width = wrong })
  end
  fails("option 'width' is a table; it is a number of inches", gantt, r, "x.svg", { width = {} })
  fails("option 'from' is -1.000 s; it must be at least 0 s", gantt, r, "x.svg", { from = -1 })
  fails([["1 GB" is in bytes; expected seconds, for example "700 ns"]], gantt, r, "x.svg", { to = "1 GB" })
  fails("a chart from 3.000 ms to 1.000 ms: it has to end after it begins", gantt, r, "x.svg", { from = "3 ms", to = 1e-3 })
  fails("a chart from 10800 s on: the step is over at ", gantt, r, "x.svg", { from = "3 h" })
  fails("from and to choose the window of a gantt chart only", soapstone.plot.links, r, "x.svg", { to = 1 })
  fails("leave 'from' out", soapstone.plot.links, r, "x.svg", { from = 0 })
  fails("leave 'to' out", soapstone.plot.memory, r, "x.svg", { to = "0 s" })
  fails("unknown option 'until'", gantt, r, "x.svg", { ["until"] = 1 })
  fails("unknown option 'since'", r.write_trace, r, "x.json", { since = 1 })
end)

claim("a record takes results and strategies of one problem", function()
  local path = scratch ".h5"
  fails("takes a table of what to write", soapstone.record, path)
  fails("option 'problem' should be a problem, not nil", soapstone.record, path, { results = { r } })
  fails("unknown option 'result'; did you mean 'results'?", soapstone.record, path,
    { problem = problem, result = { r } })
  fails("option 'results.a' should be a result, not a strategy", soapstone.record, path,
    { problem = problem, results = { a = data } })
  local other = soapstone.problem { model = small.net(), topology = small.quad() }
  fails("is of another problem", soapstone.record, path,
    { problem = problem, strategies = { other:strategy "whole" } })
  assert(not io.open(path))
  fails("no-such-folder", soapstone.record, "no-such-folder/x.h5", { problem = problem })
  soapstone.record(path, { problem = problem, results = { r, data = r }, strategies = { mine = data } })
  local text = soapstone.inspect(path)
  for _, part in ipairs { "net", "quad", "mine", "data:", "data_parallel:", "test_result.lua" } do
    check.contains(text, part)
  end
  check.contains(soapstone.inspect(path, { json = true }), '"net"')
  os.remove(path)
end)

claim("every timeline of a record has its strategy beside it", function()
  local path = scratch ".h5"
  local function timelines()
    local of = {}
    for name, strategy in soapstone.inspect(path):gmatch "  timeline +(.-): (.-) of " do of[name] = strategy end
    return of, soapstone.inspect(path):match "  strategies +(.-)\n"
  end
  local tensor = problem:strategy "whole"
  local before = problem:simulate(tensor)
  tensor:set("fc1", { degrees = { c = 2 }, devices = { 1, 2 } })
  local after = problem:simulate(tensor)
  equal(after.name, "whole (changed)")
  soapstone.record(path, { problem = problem, results = { after, before }, strategies = { tensor = tensor } })
  local of, all = timelines()
  equal(of["whole (changed)"], "tensor")
  equal(of.whole, "whole")
  equal(all, "tensor, whole")
  -- a name that is taken by another strategy is not taken over
  soapstone.record(path, { problem = problem, results = { whole = before }, strategies = { whole = tensor } })
  of, all = timelines()
  equal(of.whole, "whole (as simulated)")
  equal(all, "whole, whole (as simulated)")
  -- of a list, under the names that they show: a changed one and what it was made as can stand side by side
  soapstone.record(path, { problem = problem, strategies = { problem:strategy "whole", tensor, data, tensor:copy { name = "x" } } })
  of, all = timelines()
  equal(all, "data_parallel, whole, whole (changed), x")
  equal(problem:load_strategy(path, { name = "whole (changed)" }) == tensor, true)
  -- of equal ones the one of its name
  local twin = data:copy { name = "twin" }
  soapstone.record(path, { problem = problem, results = { problem:simulate(twin), r }, strategies = { data, twin } })
  of, all = timelines()
  equal(of.twin, "twin")
  equal(of.data_parallel, "data_parallel")
  soapstone.record(path, { problem = problem, results = { r } })
  of, all = timelines()
  equal(of.data_parallel, all)
  os.remove(path)
end)

claim("a strategy is loaded from a record", function()
  local path = scratch ".h5"
  local mine = data:copy { name = "mine" }
  mine:set("fc1", { degrees = { n = 2, c = 2 }, devices = { 4, 3, 2, 1 } }):pin("fc1", "devices")
  soapstone.record(path, { problem = problem, strategies = { mine } })
  local again, counts = problem:load_strategy(path)
  assert(again == mine and counts.matched == 3)
  equal(again.name, "mine")
  equal(again:get("fc1").pinned[1], "devices")
  soapstone.record(path, { problem = problem, strategies = { mine, data } })
  assert(problem:load_strategy(path, { name = "data_parallel" }) == data)
  fails('holds 2 strategies, so say which: "data_parallel", "mine"', problem.load_strategy, problem, path)
  fails('holds no strategy "mime"; did you mean "mine"?', problem.load_strategy, problem, path, { name = "mime" })
  local other = soapstone.problem { model = small.net(), topology = require "topologies.star" { devices = 4 } }
  fails("/strategies/mine/file: ", other.load_strategy, other, path, { name = "mine" })
  assert(other:load_strategy(path, { name = "mine", by_name = true }):get("fc1").devices[1] == 4)
  soapstone.record(path, { problem = problem })
  fails("holds no strategy", problem.load_strategy, problem, path)
  os.remove(path)
end)

claim("results of several problems keep their options and costs apart", function()
  local path = scratch ".h5"
  local slow = soapstone.problem { model = problem.model, topology = problem.topology, sync = "ring",
    costs = soapstone.costs.roofline():scale(100) }
  local slower = slow:simulate(slow:strategy "whole")
  soapstone.record(path, { problem = problem, results = { quick = problem:simulate(problem:strategy "whole"), slow = slower } })
  local text = soapstone.inspect(path)
  check.contains(text, "sync parameter_server")
  check.contains(text, "sync ring, overlapped; free updates; free partial sums; costs: roofline scaled by 100")
  local bytes = read(path)
  check.contains(bytes, "times 100: ")
  check.contains(bytes, "costs = roofline scaled by 100\n")
  check.contains(bytes, "costs = roofline\n")
  check.contains(bytes, "\nsync = ring\n")
  check.contains(bytes, "\nsync = parameter_server\n")
  fails("option 'files' should be a table of texts", soapstone.record, path, { problem = problem, files = { "x" } })
  soapstone.record(path, { problem = problem, files = { ["net.lua"] = "return 7 -- seven" } })
  check.contains(soapstone.inspect(path), "files       net.lua (its text is in /manifest/files)")
  os.remove(path)
end)

claim("inspect tells strategies, task graphs and nonsense apart", function()
  local path = scratch ".strategy"
  data:save(path)
  check.contains(soapstone.inspect(path), "strategy for model net")
  check.contains(soapstone.inspect(path, { json = true }), '"kind": "strategy"')
  local function holds(text)
    local f = io.open(path, "w")
    f:write(text)
    f:close()
  end
  holds '{"devices": [1, 1], "links": [], "routes": [], "tasks": [["c", 0, 1.5], ["c", 1, 2]], "deps": []}'
  check.contains(soapstone.inspect(path), "2 tasks (2 compute, 0 transfers)")
  holds "{}"
  fails("neither a strategy nor a task graph", soapstone.inspect, path)
  holds "{"
  fails("line 1, column 1", soapstone.inspect, path)
  holds ""
  fails(path, soapstone.inspect, path)
  os.remove(path)
  fails(path, soapstone.inspect, path)
end)

claim("figures say what they cannot draw", function()
  local plot = soapstone.plot
  fails("unknown option 'widht'; did you mean 'width'?", plot.gantt, r, "x.svg", { widht = 3 })
  fails("x.gif", plot.gantt, r, "x.gif")
  fails("the file to draw into should be a text", plot.gantt, r)
  fails("nowhere.h5", plot.gantt, "nowhere.h5", "x.svg")
  fails("goes with the path of a record", plot.gantt, r, "x.svg", { timeline = "data" })
  fails("needs a result as argument 1, not a table", plot.gantt, {}, "x.svg")
  assert(not io.open "x.svg" and not io.open "x.svg.tsv")
end)

claim("bare task graphs are run and measured", function()
  local path = scratch ".json"
  local f = io.open(path, "w")
  f:write [=[{"devices": [1, 2], "links": [[1000, 0.5]], "routes": [[0]],
    "tasks": [["c", 0, 1.5], ["x", 0, 500], ["c", 1, 2]], "deps": [[0, 1], [1, 2]]}]=]
  f:close()
  local result, finish = soapstone.dag.simulate(path)
  equal(table.concat(finish, " "), "1.5 2.5 3.5")
  equal(result.step_time, 3.5)
  equal(result.tasks, 3)
  local path_mode = soapstone.dag.simulate(path, { links = "fifo-path" })
  equal(path_mode.step_time, 3.5)
  fails("cannot be 'fifo_hop'; did you mean 'fifo-hop'?", soapstone.dag.simulate, path, { links = "fifo_hop" })
  fails("nowhere.json", soapstone.dag.simulate, "nowhere.json")
  os.remove(path)
  local a = soapstone.dag.random { tasks = 500, seed = 7 }
  local b, bytes = soapstone.dag.random { tasks = 500, seed = 7 }
  equal(a.step_time, b.step_time)
  assert(bytes > 500 * 20)
  assert(soapstone.dag.random({ tasks = 500, seed = 8 }).step_time ~= a.step_time)
  fails("option 'tasks' is 0", soapstone.dag.random, { tasks = 0 })
end)

claim("counts are integers", function()
  for _, count in ipairs { r.samples, r.bytes_moved, r.moved.closed_form, r.devices[1].capacity } do
    equal(math.type(count), "integer")
  end
  equal(tostring(r.samples), "24")
end)

claim("training without a loss says where gradients start", function()
  local model = require "soapstone.model"
  local m = model.new { name = "endless" }
  m:linear("fc1", m:input("x", { 24, 37 }), { out = 11 })
  local t = require "topologies.ring" { devices = 3 }
  local function assumptions(training)
    local p = soapstone.problem { model = m, topology = t, training = training }
    return p:simulate(p:strategy "data_parallel").assumptions
  end
  check.contains(assumptions(true), "no loss: gradients start at the last operators")
  check.equal(assumptions(false):find("no loss", 1, true), nil)
end)

check.done()
