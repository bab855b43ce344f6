-- Runs that a script drives, and the order and events of a problem.
local check = require "check"
local small = require "small"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"

local fails, equal, claim, near, contains = check.fails, check.equal, check.claim, check.near, check.contains

local quad = small.quad()
local problem = soapstone.problem { model = small.net(), topology = quad }
local data = problem:strategy "data_parallel"
local links = { "fifo-hop", "fifo-pipe", "fifo-path", "shared" }

-- Two devices, 1 MB/s and 5 ms each way: a byte is a microsecond.
local function pair()
  local t = topology.new { name = "pair" }
  t:link(t:device("a", { kind = "p100" }), t:device("b", { kind = "p100" }),
    { bandwidth = "1 MB/s", latency = "5 ms" })
  return t
end

local function a_run(mode, options)
  options = options or {}
  options.topology, options.links = pair(), mode
  return soapstone.run(options)
end

claim("a run that is left alone says what simulate says", function()
  for _, mode in ipairs(links) do
    local p = soapstone.problem { model = problem.model, topology = quad, links = mode }
    local s = p:strategy "data_parallel"
    local whole, run = p:simulate(s), p:start(s)
    equal(run.tasks, whole.tasks)
    local steps = 0
    while run:step() do
      steps = steps + 1
      assert(#run:ended() > 0 or mode ~= "fifo-path")
    end
    assert(steps > 3 and run.next == nil and run.done == run.tasks)
    for i = 1, run.tasks do
      equal(run:task(i).start, whole:task(i).start)
      equal(run:task(i).finish, whole:task(i).finish)
    end
    equal(run:finish():json(), whole:json())
  end
end)

claim("a message alone is slowed by nobody, whatever its link falls short of and the script takes of it", function()
  local t = topology.new { name = "short" }
  t:link(t:device("a", { kind = "p100" }), t:device("b", { kind = "p100" }), { bandwidth = "2 MB/s", half_size = 1000, load = 0.5 })
  local run = soapstone.run { topology = t, links = "shared" }
  run:send(1, 2, 3000) -- three quarters of 1 MB/s: 4 ms
  run:advance "1 ms"
  run:set_link("a->b", { share = 0.1 })
  run:advance "10 ms"
  run:set_link("a->b", { share = 10 })
  local r = run:finish()
  near(r.step_time, 1e-3 + 10e-3 + 2e-3)
  equal(r.critical.slowed, 0)
  equal(r.links[1].longest_wait, 0)
end)

claim("a route held as a whole is slowed by the link that is slowest for the message, and no other", function()
  for _, mode in ipairs { "fifo-path", "shared" } do
    for share, ms in pairs { [0.5] = 5, [0.1] = 10 } do
      local t = topology.new { name = "two" }
      local s = t:switch "s"
      t:link(t:device("a", { kind = "p100" }), s, { bandwidth = "2 MB/s", half_size = 9000 })
      t:link(s, t:device("b", { kind = "p100" }), { bandwidth = "1 MB/s" })
      local run = soapstone.run { topology = t, links = mode }
      run:send(1, 2, 1000) -- 0.2 MB/s on the first
      run:set_link("s->b", { share = share })
      near(run:finish().step_time, ms * 1e-3)
    end
  end
end)

claim("what a script adds starts at once, before an order sees what it adds next", function()
  local t = require "soapstone.topology".new { name = "one" }
  t:device("a", { kind = "p100" })
  local run = soapstone.run { topology = t, order = "shortest" }
  local long, longer, short = run:compute(1, 3), run:compute(1, 2), run:compute(1, 1)
  check.equal(run:task(long).stage, "runs")
  run:finish()
  check.equal(run:task(long).start, 0)
  check.equal(run:task(short).start, 3)
  check.equal(run:task(longer).start, 4)
end)

claim("what is changed on the way holds for what is left", function()
  for _, mode in ipairs(links) do
    local latency_first = mode ~= "fifo-pipe"
    local run = a_run(mode)
    local message = run:send("a", "b", 40e3, { name = "big" }) -- 40 ms and 5
    run:advance "25 ms"                                        -- 20 or 25 of the 40 are across
    equal(run:set_link("a->b", { share = 0.5 }), 1)
    local left = latency_first and 20 or 15
    near(run.next, 0.025 + 2 * left * 1e-3)
    run:advance "10 ms"
    run:fail "a"                                               -- all its links
    equal(run.next, nil)
    run:advance_to(1)
    run:restore("a->b", "b->a")
    local r = run:finish()
    near(r.step_time, 1 + 2 * (left - 5) * 1e-3 + (latency_first and 0 or 5e-3))
    equal(r:task(message).name, "big")
    near(r.links[1].busy, mode == "shared" and r.step_time * 40e3 / (25e3 + 10e3 / 2 + (r.step_time - 1) * 1e6 / 2)
      or r.step_time - (latency_first and 0 or 5e-3), 1e-9)
    contains(r.assumptions, "A2 broken: ")
    contains(r.assumptions, "link a->b 0.5 of its bandwidth at 25.00 ms, link a->b fails at 35.00 ms")
    contains(r.assumptions, "; 1 message added by the script")
    equal(#run.changes, 5)
    contains(run.changes[5], "link b->a works again at 1.000 s")
  end
end)

claim("devices slow down, pause, fail and go on", function()
  local run = a_run "fifo-hop"
  local work, other = run:compute("a", 0.1), run:compute("b", 0.1)
  run:advance(0.03)
  run:pause(1)
  run:fail_device "b"
  run:set_device("b", { speed = 0.5 })
  run:advance(0.02)
  equal(run.next, nil)
  run:resume "a"
  run:resume "b"
  local r = run:finish()
  equal(r:task(work).finish, 0.12)
  equal(r:task(other).finish, 0.25)
  near(r.devices[1].busy, 0.12)
  contains(r.assumptions, "device b fails at 30.00 ms, device b at 0.5 of its speed at 30.00 ms, ")
end)

claim("tasks are added, one after the other and side by side", function()
  for _, mode in ipairs(links) do
    local run = a_run(mode, { streams = 2, name = "mine" })
    local first = run:compute("a", "10 ms")
    local second = run:compute("a", "20 ms", { name = "second" })
    local message = run:send("a", "b", "1 kB", { after = { first, second }, name = "result" })
    local own = run:send("a", 1, "1 GB", { after = message })
    run:advance "13 ms"
    equal(run:task(first).stage, "done")
    equal(run:task(second).stage, "runs")
    equal(run:task(second).finish, nil)
    equal(run:task(message).stage, "waits")
    run:compute("b", "1 ms", { after = first }) -- which is done
    while run:task(message).stage == "waits" do run:step() end
    equal(run:task(message).from, 1)
    equal(run:task(message).to, 2)
    local r = run:finish()
    near(r.step_time, 0.026)
    equal(r.name, "mine")
    equal(r:task(own).finish, r.step_time)
    equal(r.bytes_moved, 1000)
    near(r.devices[1].busy, 0.020)
    contains(tostring(r), "3 computations and 2 messages added by the script")
    contains(r.assumptions, "A3 broken: 2 streams")
    equal(#r:memory "b", 0)
  end
end)

claim("a result of a run goes wherever results go", function()
  local name = os.tmpname()
  local run = problem:start(data, { name = "changed" })
  run:set_link("gpu1->sw", { bandwidth = "1 MB/s", latency = "1 ms" })
  run:send(1, 4, 1000, { name = "more" })
  run:send(2, 2, 1000, { name = "of its own" })
  local r = run:finish()
  r:write_trace(name)
  local f = assert(io.open(name))
  contains(f:read "a", '"of its own"')
  f:close()
  soapstone.record(name .. ".h5", { problem = problem, results = { r } })
  contains(soapstone.inspect(name .. ".h5"), "2 messages (2 hops) added by the script")
  soapstone.plot.gantt(r, name .. ".svg")
  local function drawn()
    local file <close> = assert(io.open(name .. ".svg.tsv"))
    return file:read "a"
  end
  local live = drawn()
  contains(live, "gpu1->sw\tchanged\t0.000000000000\t")
  contains(live, "0\t" .. r.assumptions .. "\tassumptions\t")
  soapstone.plot.gantt(name .. ".h5", name .. ".svg")
  equal(drawn(), live)
  r:write_dot(name)
  local dot <close> = assert(io.open(name))
  contains(dot:read "a", 'comment="' .. r.assumptions .. '"')
  equal(r.bytes_moved, problem:simulate(data).bytes_moved + 1000)
  equal(r.moved.weight, problem:simulate(data).moved.weight)
  fails("a script added tasks", r.sensitivity, r)
  for _, ending in ipairs { "", ".h5", ".svg", ".svg.tsv" } do os.remove(name .. ending) end
end)

claim("a run without a problem keeps its topology", function()
  local r = a_run("fifo-hop"):finish()
  collectgarbage()
  equal(r.step_time, 0)
  equal(r.tasks, 0)
  equal(r.devices[2].name, "b")
  equal(#r:memory "b", 0)
end)

claim("order, streams and copies are options of a problem and of a run", function()
  local broken = { order = "shortest", streams = 2, copies_block = true, blocked_end = "receiver", slowed_by_copies = 0.5 }
  local o = { model = problem.model, topology = quad }
  for name, value in pairs(broken) do o[name] = value end
  local other = soapstone.problem(o)
  local s = other:strategy "data_parallel"
  local by_problem, by_run = other:simulate(s), problem:start(data, broken):finish()
  equal(by_problem.step_time, by_run.step_time)
  assert(by_problem.step_time ~= problem:simulate(data).step_time)
  contains(by_problem.assumptions, "A3 broken: shortest first, 2 streams, copies block the receiver, "
    .. "devices at 0.5 of their speed while copying; A4")
  equal(other.options.streams, 2)
  equal(other.options.order, "shortest")
  equal(other.options.blocked_end, "receiver")
  equal(other.options.slowed_by_copies, 0.5)
  local spread = by_problem:sensitivity { runs = 3 }
  assert(spread.least <= by_problem.step_time and spread.most < by_problem.step_time * 1.5)
  -- what is not given to a run is the problem's
  equal(other:start(s, { order = "fifo", streams = 1, copies_block = false, slowed_by_copies = 1 }):finish().step_time,
    problem:simulate(data).step_time)
  equal(other:start(s):finish().assumptions, by_problem.assumptions)
end)

-- The share of its time in which a part moves its bytes, at half of the bandwidth (operands, of a kind that is nobody's).
claim("devices of one machine slow each other as far as they wait for memory", function()
  local function step_time(machines, more)
    local t = topology.new { name = "cores" }
    for i = 1, 3 do
      t:device("core" .. i, { kind = "mine", machine = machines[i], memory_bandwidth = "10 GB/s", flops = { f32 = "1 TFLOP/s" } })
    end
    local m = require("soapstone.model").new { name = "one" }
    m:linear("fc", m:input("x", { 96, 1000 }), { out = 500, bias = false })
    local o = { model = m, topology = t, training = false, costs = soapstone.costs.given { fc = { forward = "1 ms" }, per = "part" } }
    for name, value in pairs(more) do o[name] = value end
    local p = soapstone.problem(o)
    local s = p:strategy("data_parallel")
    return p:simulate(s), p, s
  end
  local bytes = 4 * (32 * 1000 + 1000 * 500 + 32 * 500)
  local bound = bytes / (10e9 * 0.5) / 1e-3
  assert(bound > 0.4 and bound < 0.5)
  local r, p, s = step_time({ 1, 1, 1 }, { interference = 0.5 })
  near(r.step_time, 1e-3 * (1 + 0.5 * bound * 2 * bound), 1e-6)
  near(step_time({ 1, 1, 0 }, { interference = 0.5 }).step_time, 1e-3 * (1 + 0.5 * bound * bound), 1e-6)
  equal(step_time({ 1, 2, 0 }, { interference = 0.5 }).step_time, 1e-3)
  equal(step_time({ 1, 1, 1 }, {}).step_time, 1e-3)
  equal(p.options.interference, 0.5)
  contains(r.assumptions, "A1 broken: devices of a machine slow each other, interference 0.5; A2")
  equal(p:start(s):finish().step_time, r.step_time)
  near(r:overlapped({ steps = 3 }).period, r.step_time, 1e-6)
  near(r:sensitivity({ runs = 2 }).most, r.step_time, 1e-6)
  local found = soapstone.search.mcmc(p, { proposals = 50, seed = 1 }):run()
  equal(p:simulate(found.best).step_time, found.cost)
  fails("leave order, streams, copies_block, slowed_by_copies, interference", soapstone.search.exhaustive, p, {})
  fails("option 'interference' is -1", soapstone.problem, { model = p.model, topology = p.topology, interference = -1 })
end)

claim("a link keeps its load when it gets another bandwidth on the way, as in a topology", function()
  local topology = require "soapstone.topology"
  local function pair(o)
    local t = topology.new { name = "pair" }
    t:link(t:device "a", t:device "b", o)
    return t
  end
  for _, mode in ipairs { "fifo-hop", "fifo-pipe", "fifo-path", "shared" } do
    local function takes(t, act, events)
      local run = soapstone.run { topology = t, links = mode, events = events }
      if act then act(run) end
      run:send(1, 2, 1e6)
      return run:finish()
    end
    local loaded = { bandwidth = "1 GB/s", latency = 0, load = 0.5 }
    equal(takes(pair(loaded)).step_time, 2e-3)
    equal(takes(pair(loaded), function(run) run:set_link(1, { bandwidth = "1 GB/s" }) end).step_time, 2e-3)
    equal(takes(pair(loaded), nil, { { at = 0, link = 1, bandwidth = "1 GB/s" } }).step_time, 2e-3)
    equal(takes(pair(loaded), function(run) run:set_link(1, { share = 0.5 }) end).step_time, 4e-3)
    local other = pair(loaded)
    other:set_link(1, { bandwidth = "4 GB/s" })
    equal(takes(other).step_time, 5e-4)
    local result = takes(pair(loaded), function(run) equal(run:set_link("a", { bandwidth = "4 GB/s" }), 2) end)
    equal(result.step_time, 5e-4)
    contains(result.assumptions, "link a->b 4.000 GB/s, of which others take 50 % at 0 s")
  end
  local steps = pair { bandwidth = "1 GB/s", latency_by_size = { { bytes = 0, latency = "1 us" }, { bytes = 1000, latency = "5 us" } } }
  fails("run:set_link: link a->b has a latency by size", soapstone.run { topology = steps }.set_link, soapstone.run { topology = steps }, 1,
    { latency = "20 us" })
  fails("soapstone.run: event 1: link a->b has a latency by size", soapstone.run,
    { topology = steps, events = { { at = 0, link = 1, latency = "20 us" } } })
end)

claim("names of what a script adds are names", function()
  local run = problem:start(data)
  fails("run:compute: option 'name' has 0 bytes; it has from 1 to 200", run.compute, run, 1, "1 ms", { name = "" })
  fails("run:send: option 'name' has 201 bytes", run.send, run, 1, 2, 8, { name = ("x"):rep(201) })
  fails("run:send: option 'name' has the control character 10", run.send, run, 1, 2, 8, { name = "a\nb" })
  fails("a message has a whole number of them, from 0 to 2^53", run.send, run, 1, 2, 1e18)
end)

claim("a run has the luck of its problem", function()
  for _, mode in ipairs { "fifo-hop", "shared" } do
    local lucky = soapstone.problem { model = problem.model, topology = quad, links = mode,
      chance = soapstone.chance { compute = { "lognormal", cv = 0.3 }, transfer = { "gamma", cv = 0.2 }, step = "1 us", seed = 5 } }
    local s = lucky:strategy "data_parallel"
    equal(lucky:start(s, { repetition = 3 }):finish():json(), lucky:simulate(s, { repetition = 3 }):json())
    assert(lucky:start(s):finish().step_time ~= lucky:simulate(s, { repetition = 3 }).step_time)
    local run = lucky:start(s)
    local task = run:send("gpu1", "gpu2", 1e6) -- which is not drawn
    local r = run:finish()
    assert(r:task(task).finish > 0 and r.bytes_moved > 1e6)
  end
  fails("in this problem none are", problem.start, problem, data, { repetition = 3 })
end)

claim("a search by another order finds what simulate says", function()
  local other = soapstone.problem { model = problem.model, topology = quad, order = "shortest", copies_block = true,
    events = { { at = "10 us", link = 1, does = "fail" }, { at = "90 us", link = 1, does = "work" } } }
  local found = soapstone.search.mcmc(other, { proposals = 40, seed = 3 }):run()
  equal(other:simulate(found.best).step_time, found.chains[1].best)
  contains(tostring(found), "way full")
  fails('"delta" reckons with tasks in the order', soapstone.search.mcmc, other, { proposals = 4, way = "delta" })
  fails("an exhaustive search has bounds for tasks in the order", soapstone.search.exhaustive, other)
end)

claim("priorities are given to the tasks of a run", function()
  local name = os.tmpname()
  local f = assert(io.open(name, "w"))
  f:write '{"devices": [1], "links": [], "routes": [], "tasks": [["c", 0, 1], ["c", 0, 2], ["c", 0, 4]], "deps": []}'
  f:close()
  local run = soapstone.dag.start(name, { order = "priority", priority = { [3] = -1, [1] = 7 } })
  run:finish()
  equal(run:task(3).start, 0.0)
  equal(run:task(2).start, 4.0)
  equal(run:task(1).start, 6.0)
  run = soapstone.dag.start(name)
  run:set_device(1, { speed = 2 })
  run:compute(1, 1, { after = 1 })
  equal(run:finish().step_time, 4.0)
  fails("option 'priority' goes with order", soapstone.dag.start, name, { priority = {} })
  fails("needs option 'priority'", soapstone.dag.start, name, { order = "priority" })
  fails("there are tasks 1 to 3", soapstone.dag.start, name, { order = "priority", priority = { [4] = 1 } })
  fails("the task graph has no links", function() soapstone.dag.start(name):fail(1) end)
  fails("must be at most 1", function() soapstone.dag.start(name):pause(2) end)
  fails("knows no routes", function() soapstone.dag.start(name):send(1, 1, 5) end)
  os.remove(name)
end)

claim("events happen to every simulation of a problem", function()
  local late = soapstone.problem { model = problem.model, topology = quad,
    events = { { at = 1, device = 2, speed = 0.5 } } } -- after the end
  equal(late:simulate(late:strategy "data_parallel").step_time, problem:simulate(data).step_time)
  local half = soapstone.problem { model = problem.model, topology = quad,
    events = { { at = 0, link = "gpu1", share = 0.5 }, { at = 0, link = "gpu1", latency = "4 us" } } }
  local t = small.quad()
  t:set_link("gpu1", { share = 0.5, latency = "4 us" })
  local slower = soapstone.problem { model = problem.model, topology = t }
  equal(half:simulate(half:strategy "data_parallel").step_time,
    slower:simulate(slower:strategy "data_parallel").step_time)
  contains(half.options.events, "link gpu1->sw 0.5 of its bandwidth at 0 s, ")
  equal(problem.options.events, "none")
end)

claim("a given route is taken, and must lead there", function()
  local t = topology.new { name = "triangle" }
  for _, name in ipairs { "a", "b", "c" } do t:device(name, { kind = "p100", forwards = true }) end
  t:link("a", "b", { bandwidth = "1 MB/s" })
  t:link("b", "c", { bandwidth = "2 MB/s" })
  t:link("c", "a", { bandwidth = "2 MB/s" })
  local run = soapstone.run { topology = t, links = "fifo-path" }
  run:fail "a->b"
  run:send("a", "b", 1000, { route = { "a->c", "c->b" } })
  local r = run:finish()
  near(r.step_time, 0.5e-3)
  run = soapstone.run { topology = t }
  fails("link c->b of the route begins at c, not at a", run.send, run, "a", "b", 1, { route = { "c->b" } })
  fails("the route ends at c, not at b", run.send, run, "a", "b", 1, { route = { "a->c" } })
  fails("element 1 is a node", run.send, run, "a", "b", 1, { route = { "c" } })
  fails("should be a list of links", run.send, run, "a", "b", 1, { route = "a->c" })
  equal(run.tasks, 0)
end)

claim("wrong words are refused, and nothing is changed", function()
  local run = a_run "shared"
  fails("unknown option 'bandwith'; did you mean 'bandwidth'?", run.set_link, run, "a->b", { bandwith = 1e9 })
  fails("no link, device or switch 'a->c'; did you mean", run.set_link, run, "a->c", { share = 1.5 })
  fails("give a bandwidth, a share of it, or a latency", run.set_link, run, "a->b", {})
  fails("did you mean 'b'", run.fail, run, "a->b", "bb")
  fails("run:fail takes links", run.fail, run)
  fails("no device or switch 'c'", run.pause, run, "c")
  fails("option 'speed' is missing", run.set_device, run, "a", {})
  fails("option 'speed' is -1", run.set_device, run, "a", { speed = -1 })
  fails("how long it takes is -1 s", run.compute, run, "a", -1)
  fails("there is no task yet", run.compute, run, "a", 1, { after = 1 })
  fails("whole number of them", run.send, run, "a", "b", 1.5)
  fails("is -1 s; a run goes on, and not back", run.advance, run, -1)
  equal(#run.changes, 0)
  equal(run.tasks, 0)
  local task = run:compute("a", 1)
  fails("task 2", run.compute, run, "a", 1, { after = { task, 2 } })
  fails("should be a task (its number) or a list", run.compute, run, "a", 1, { after = "work" })
  run:advance(0.5)
  fails("the run is at 0.5 s and cannot go back to 0.25 s", run.advance_to, run, 0.25)
  run:pause "a"
  fails("task 1 on a can never end: device a stands still", run.finish, run)
  run:resume "a"
  equal(run:finish().step_time, 1.0)
  equal(run.done, 1)
  for _, f in ipairs { "step", "finish", "advance", "compute", "send", "pause", "fail", "set_link" } do
    fails("the run is finished", run[f], run, 1)
  end
  fails("the number is 2", run.task, run, 2)
  fails("no field or method 'stepp'", function() return run.stepp end)
  run:close()
  fails("this run is closed", function() return run.now end)
  equal(tostring(run), "run (closed)")
end)

claim("wrong options of runs and problems are refused", function()
  fails("option 'order' cannot be 'shortst'; did you mean 'shortest'?", problem.start, problem, data, { order = "shortst" })
  fails("which there are is the strategy's to say", soapstone.problem,
    { model = problem.model, topology = quad, order = "priority" })
  fails("option 'streams' is 0", problem.start, problem, data, { streams = 0 })
  fails("option 'slowed_by_copies' is 0", problem.start, problem, data, { slowed_by_copies = 0 })
  fails("option 'topology' is missing", soapstone.run, {})
  fails("is of tasks that are there from the start", soapstone.run, { topology = pair(), order = "program" })
  local wrong = {
    { 'link = "gpu1->sv"', "did you mean 'gpu1->sw'?", { at = 1, link = "gpu1->sv", share = 0.5 } },
    { "no time", "option 'at' is missing", { link = 1, share = 0.5 } },
    { "nothing", "nothing says which link or device", { at = 1 } },
    { "both", "give a link or a device", { at = 1, link = 1, device = 1, speed = 1 } },
    { "no change", "say its bandwidth, share or latency", { at = 1, link = 1 } },
    { "no speed", "say its speed", { at = 1, device = 1 } },
    { "speed of a link", "speed is of devices", { at = 1, link = 1, speed = 1 } },
    { "share of a device", "are of links", { at = 1, device = 1, share = 1.5 } },
    { "negative", "option 'bandwidth' is -1", { at = 1, link = 1, bandwidth = -1 } },
    { "does", "did you mean 'pause'?", { at = 1, device = 1, does = "pauze" } },
    { "pause of a link", "a link does not pause", { at = 1, link = 1, does = "pause" } },
    { "figures", "give two events", { at = 1, link = 1, does = "fail", share = 0.5 } },
    { "no table", "event 1 should be a table", "fail" },
  }
  for _, w in ipairs(wrong) do
    fails(w[2], problem.start, problem, data, { events = { w[3] } })
  end
  fails("should be a list of tables", problem.start, problem, data, { events = "none" })
  fails("is a list, and has 'at' in it", problem.start, problem, data, { events = { at = 1 } })
end)

claim("what can never end is said in the names that the script gave", function()
  local run = soapstone.run { topology = pair(), links = "shared" }
  run:send("a", "b", "1 MiB", { name = "gradients" })
  run:fail "a->b"
  local said = fails("transfer 'gradients' can never end: link a->b stands still", run.finish, run)
  equal(said:find("not done", 1, true), nil)
  run:send("a", "b", 5)
  fails("stands still; 2 of 2 tasks are not done", run.finish, run)
  run = soapstone.run { topology = pair() }
  run:send("a", "b", 5)
  run:fail "a"
  fails("transfer 1 (a -> b) can never end: link a->b stands still", run.finish, run)

  local stuck = soapstone.problem { model = small.net(), topology = quad,
    events = { { at = 0, link = quad:link_list()[1].name, does = "fail" }, { at = 0, device = 2, does = "pause" } } }
  local device = quad:device_list()[2].name
  fails("can never end: device " .. device .. " stands still", stuck.simulate, stuck, stuck:strategy "data_parallel")
  fails("of ", stuck.simulate, stuck, stuck:strategy "data_parallel")
  fails("can never end: device " .. device .. " stands still", function() stuck:start(stuck:strategy "data_parallel"):finish() end)
end)

claim("what a run tells of its noise, and a collective, print themselves", function()
  local c = soapstone.collective { topology = quad, bytes = "1 MiB", algorithm = "ring" }
  contains(tostring(c), "all_reduce of 1.000 MiB over 4 devices by ring: ")
  contains(tostring(c), "; 24 messages")
  contains(tostring(c.result:sensitivity { runs = 2 }), " in 2 runs with durations moved by a picosecond, a spread of ")
end)

claim("seeds are whole numbers from 0, wherever they are given", function()
  local under = "option 'seed' is -1; it must be at least 0"
  fails(under, soapstone.chance, { seed = -1, compute = { "lognormal", cv = 0.1 } })
  fails(under, function() problem:simulate(data):sensitivity { seed = -1 } end)
  fails(under, soapstone.dag.random, { tasks = 4, seed = -1 })
  fails(under, soapstone.search.mcmc, problem, { seed = -1 })
  fails("option 'slow[1.5]'", soapstone.chance, { slow = { [1.5] = 2 } })
  fails("a cv (standard deviation over mean) of 1000; lognormal can have from above 0 to 10", soapstone.chance,
    { compute = { "lognormal", cv = 1000 } })
end)

claim("a Gantt chart shows what stood still and what had other figures", function()
  local run = soapstone.run { topology = pair(), links = "fifo-path" }
  run:send("a", "b", "10 kB")
  run:compute(1, "10 ms")
  run:advance "7 ms"
  run:fail "a->b"
  run:pause "a"
  run:advance "2 ms"
  run:restore "a->b"
  run:resume "a"
  run:set_link("a->b", { share = 0.5 })
  run:advance "1 ms"
  run:set_link("a->b", { share = 2 })
  local r = run:finish()
  local name = os.tmpname()
  local figure = name .. ".svg"
  soapstone.plot.gantt(r, figure)
  local file <close> = assert(io.open(figure .. ".tsv"))
  local rows = file:read "a"
  contains(rows, "\ta->b\tstill\t0.007000000000\t0.009000000000\t")
  contains(rows, "\ta\tstill\t0.007000000000\t0.009000000000\t")
  contains(rows, "\ta->b\tchanged\t0.009000000000\t0.010000000000\t")
  contains(rows, "Hatched: stands still.")
  equal(select(2, rows:gsub("\tchanged\t", "")), 1)
  soapstone.plot.gantt(soapstone.collective { topology = pair(), bytes = 10 }.result, figure)
  for _, left in ipairs { name, figure, figure .. ".tsv" } do os.remove(left) end
end)

claim("lists are lists: nothing written into them is passed over", function()
  local run = soapstone.run { topology = pair() }
  run:compute("a", 1)
  fails("run:compute: option 'after' is a list, and has 'first' in it", run.compute, run, "b", 1, { after = { first = 1 } })
  fails("is a list, and has an element 3 with none before it", run.compute, run, "b", 1, { after = { [3] = 1 } })
  fails("option 'route' is a list, and has 'x' in it", run.send, run, "a", "b", 1, { route = { 1, x = 1 } })
  equal(run.tasks, 1)
  fails("option 'events'", soapstone.run, { topology = pair(), events = { [2] = { at = 0, link = 1, share = 1 } } })
  fails("topology:route: the list of links is a list, and has 'x' in it", function() pair():route("a", "b", { 1, x = 2 }) end)
  fails("option 'devices' is a list, and has 'a' in it", soapstone.collective,
    { topology = quad, bytes = 1, devices = { 1, 2, a = 3 } })
end)

claim("a share of 1 is a share, and who is meant is looked at first", function()
  local run = soapstone.run { topology = pair() }
  equal(run:set_link(1, { share = 1 }), 1)
  equal(#run.changes, 1)
  fails("give a bandwidth, a share of it, or a latency", run.set_link, run, 1, {})
  equal(soapstone.run { topology = pair(), events = { { at = 0, link = 1, share = 1 } } }.finished, false)
  fails("has no link, device or switch 'a->c'", soapstone.run,
    { topology = pair(), events = { { at = 0, link = "a->c", share = 1 } } })
  fails("say its bandwidth, share or latency", soapstone.run, { topology = pair(), events = { { at = 0, link = 1 } } })
  fails("a device goes on with does = \"resume\"; \"work\" is of links", soapstone.run,
    { topology = pair(), events = { { at = 0, device = 1, does = "work" } } })
  fails("option 'speed' is -1; it must be at least 0", soapstone.run,
    { topology = pair(), events = { { at = 0, device = 1, speed = -1 } } })
  local t = pair()
  t:set_link(1, { share = 0.5, bandwidth = "1 GB/s" })
  equal(t:link_list()[1].bandwidth, 0.5e9)
end)

claim("a message holds a link once, in all meanings of links", function()
  for _, how in ipairs(links) do
    local t = pair()
    local run = soapstone.run { topology = t, links = how }
    fails("run:send: the route crosses link a->b twice", run.send, run, 1, 2, 1, { route = { 1, 2, 1 } })
    equal(run.tasks, 0)
    run:send(1, 2, 1, { route = { 1 } })
    run:finish()
  end
end)

claim("numbers that are none, or too great, are said as they were given", function()
  local t = pair()
  local run = soapstone.run { topology = t }
  local nan, none = 0 / 0, "is not a number (nan)"
  fails("run:set_link: the link " .. none, run.set_link, run, nan, { share = 1 })
  fails("there is no link 9.007", run.set_link, run, 2 ^ 53, { share = 1 })
  fails("there is no link 4294967297", run.set_link, run, (1 << 32) + 1, { share = 1 })
  fails("there is no link 1.5", run.set_link, run, 1.5, { share = 1 })
  fails(none, run.compute, run, nan, 1)
  run:compute(1, 1)
  fails(none, run.task, run, nan)
end)

check.done()
