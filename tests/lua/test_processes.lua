-- Processes on a run, and the three experiments that are made of them.
local check = require "check"
local process = require "soapstone.process"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"

local fails, equal, claim, near, contains = check.fails, check.equal, check.claim, check.near, check.contains

-- Three devices on a switch, 1 GB/s and 1 ms each way.
local function star()
  local t = topology.new { name = "star" }
  local s = t:switch "s"
  for _, name in ipairs { "a", "b", "c" } do
    t:link(t:device(name, { kind = "p100" }), s, { bandwidth = "1 GB/s", latency = "0.5 ms" })
  end
  return t
end

local function new(links)
  return process.new { topology = star(), links = links or "shared" }
end

-- What every process says, with the time in milliseconds, in the order in which they say it.
local function told()
  local lines = {}
  return lines, function(p, what) lines[#lines + 1] = ("%s %g %s"):format(p.name, p.now * 1e3, tostring(what)) end
end

claim("processes wait, compute, send and receive", function()
  for _, links in ipairs { "shared", "fifo-path", "fifo-hop", "fifo-pipe" } do
    local sim = new(links)
    local lines, say = told()
    sim:spawn("server", function(p)
      for _ = 1, 2 do
        local value, from = p:receive()
        say(p, value .. " of " .. from.name)
      end
    end, { device = "c" })
    local server = sim.processes[1]
    sim:spawn("early", function(p)
      p:execute("a", "2 ms")
      say(p, p:send(server, 10e6, "hello"))
    end, { device = "a" })
    sim:spawn("late", function(p)
      p:wait "40 ms"
      p:execute(2, "2 ms")
      p:post(server, 10e6, "again")
      say(p, "sent")
    end, { device = "b" })
    local through = (links == "shared" or links == "fifo-path") and 10 or 20 -- store and forward twice
    near(sim:run(), (43 + through) * 1e-3)
    equal(table.concat(lines, "; "), ("server %d hello of early; early %d true; late 42 sent; server %d again of late")
      :format(3 + through, 3 + through, 43 + through))
    near(sim:finish().step_time, (43 + through) * 1e-3)
  end
end)

claim("who goes on first at one instant is told by the events alone", function()
  local sim = new()
  local lines, say = told()
  for _, name in ipairs { "x", "y", "z" } do
    sim:spawn(name, function(p)
      p:wait(name == "y" and "1 ms" or "2 ms")
      if name == "y" then p:wait "1 ms" end
      say(p, 1)
      p:execute("a", "1 ms")
      say(p, 2)
      p:receive("b", { timeout = "5 ms" })
      say(p, 3)
    end)
  end
  sim:spawn("ends", function(p)
    p:execute("b", "2 ms")
    say(p, 0)
  end)
  sim:run()
  equal(table.concat(lines, "; "), "ends 2 0; x 2 1; z 2 1; y 2 1; x 3 2; z 4 2; y 5 2; x 8 3; z 9 3; y 10 3")
end)

claim("messages wait in a mailbox, and receivers in a line", function()
  local sim = new()
  local lines, say = told()
  local box = sim:mailbox("box", "c")
  sim:spawn("first", function(p) say(p, (p:receive(box))) end)
  sim:spawn("second", function(p) say(p, (p:receive "box")) end)
  sim:spawn("sender", function(p)
    for i = 1, 4 do p:send("box", 1e6, i) end
  end, { device = "a" })
  sim:spawn("third", function(p)
    p:wait "100 ms"
    say(p, (p:receive(box)))
    local value, from = p:receive(box)
    say(p, value)
    equal(from.name, "sender")
    equal((p:receive(box, { timeout = "1 ms" })), nil)
    say(p, "none")
  end)
  sim:run()
  equal(table.concat(lines, "; "), "first 2 1; second 4 2; third 100 3; third 100 4; third 101 none")
end)

claim("what takes no time is told at once, also to others", function()
  local sim = new()
  local lines, say = told()
  sim:spawn("other", function(p) say(p, (p:receive "a")) end)
  sim:spawn("own", function(p)
    p:wait "1 ms"
    say(p, p:send("a", "1 GB", "to itself"))
    p:execute("b", 0)
    say(p, "done")
  end, { device = "a" })
  sim:run()
  equal(table.concat(lines, "; "), "own 1 true; own 1 done; other 1 to itself")
end)

claim("two things at a time are begun, then joined", function()
  local sim = new()
  local lines, say = told()
  sim:spawn("p", function(p)
    local a, b = p:start("a", "3 ms"), p:start("b", "7 ms", { name = "long" })
    local c = p:post("c", 1e6, nil, { from = "b" })
    equal(p:join(a), true)
    say(p, "a")
    equal(p:join(a, b, c, { timeout = "1 ms" }), false)
    say(p, "not yet")
    equal(p:join(a, b, c), true)
    say(p, "all")
    equal(p:join(b, { timeout = 0 }), true)
  end)
  sim:run()
  equal(table.concat(lines, "; "), "p 3 a; p 4 not yet; p 7 all")
  equal(sim:finish():task(2).name, "long")
end)

claim("a simulation goes up to a time, and further", function()
  local sim = new()
  local lines, say = told()
  sim:spawn("p", function(p)
    while true do
      p:wait "10 ms"
      say(p, "")
    end
  end)
  equal(sim:run { ["until"] = "25 ms" }, 0.025)
  equal(#lines, 2)
  equal(sim:run { ["until"] = 0.03 }, 0.03)
  equal(#lines, 3)
  sim:spawn("q", function(p) p:execute("a", "1 s") end)
  equal(sim:run { ["until"] = "31 ms" }, 0.031)
  equal(sim.world:task(1).stage, "runs")
end)

claim("what is in the background does not keep it going", function()
  local sim = new()
  sim:spawn("server", function(p)
    while true do p:receive "a" end
  end, { background = true })
  sim:spawn("p", function(p)
    p:wait "1 ms"
    sim:spawn("born later", function(q) q:execute("b", "2 ms") end)
  end)
  equal(sim:run(), 0.003)
end)

claim("a process acts on the step of a problem", function()
  local small = require "small"
  local problem = soapstone.problem { model = small.net(), topology = small.quad() }
  local data = problem:strategy "data_parallel"
  local alone = problem:simulate(data)
  local sim = process.new { run = problem:start(data) }
  sim:spawn("trouble", function(p)
    p:wait(alone.step_time / 4)
    sim.world:pause "gpu4" -- the slowest
    p:wait "1 ms"
    sim.world:resume "gpu4"
  end)
  sim:run()
  local r = sim:finish()
  assert(r.step_time > alone.step_time + 0.9e-3 and r.step_time < alone.step_time + 1.1e-3)
  contains(r.assumptions, "device gpu4 is paused")
end)

claim("a deadlock says who waits for what", function()
  local sim = new()
  sim:spawn("reader", function(p) p:receive(sim:mailbox("in", "a")) end)
  sim:spawn("worker", function(p) p:wait "1 ms" p:execute("b", "2 ms", { name = "layer" }) end)
  sim:spawn("sender", function(p) p:send("c", 1000, 1) end, { device = "a" })
  sim:spawn("idle", function(p) p:receive() end, { background = true })
  sim.world:pause "b"
  sim.world:fail "s->c"
  local message = fails("nothing can happen any more, and 3 processes wait: ", sim.run, sim)
  contains(message, "process 'reader' waits for a message in mailbox 'in' since 0 s; ")
  contains(message, "process 'worker' waits for task 2 (compute layer, which runs) since 1.000 ms; ")
  contains(message, "process 'sender' waits for task 1 (transfer sender, which flows) since 0 s")
  sim.world:restore "s->c"
  sim.world:resume "b"
  fails("1 process waits: process 'reader'", sim.run, sim)
end)

claim("nobody but sim:run lets time pass while processes wait", function()
  local function trouble(f)
    local sim = new()
    sim:spawn("worker", function(p) p:execute("a", "3 ms") end)
    sim:spawn("waiter", function(p) p:wait "2 ms" end)
    sim:spawn("meddler", function(p)
      p:wait "1 ms"
      f(sim.world, p, sim)
    end)
    return sim
  end
  local said = "process 'meddler' let sim.world go on from 1.000 ms to 4.000 ms, past what processes wait for: time is for sim:run"
  fails(said, function() trouble(function(world) world:advance "3 ms" end):run() end)
  fails("process 'meddler': this process let sim.world go on from 1.000 ms to 2.500 ms",
    function() trouble(function(world, p) world:advance_to "2.5 ms" p:wait "1 ms" end):run() end)
  fails("process 'meddler': this process let sim.world go on", function()
    trouble(function(world, p)
      while world:step() do end
      p:execute("a", 1)
    end):run()
  end)
  fails("sim:run: process 'meddler' is at work in it already", function() trouble(function(_, _, sim) sim:run() end):run() end)

  local sim = trouble(function() end)
  sim:run { ["until"] = "1 ms" }
  sim.world:advance "1.5 ms"
  fails("sim:run: the script let sim.world go on from 1.000 ms to 2.500 ms", sim.run, sim)

  sim = new() -- while nobody waits it is nobody's trouble
  sim.world:advance "1 ms"
  sim:spawn("late", function(p) p:wait "1 ms" end)
  near(sim:run(), 2e-3)
  sim.world:advance "1 ms"
  sim:spawn("later", function(p) p:execute("a", "1 ms") end)
  near(sim:run(), 4e-3)
  near(sim:finish().step_time, 4e-3)
end)

claim("an error in a process has its name and the line of the script", function()
  local function in_process(f, o)
    local sim = new()
    sim:spawn("culprit", f, o)
    return sim.run, sim
  end
  local line = debug.getinfo(1, "l").currentline
  contains(fails("process 'culprit': attempt to index a nil value", in_process(function() local x; return x.y end)),
    "test_processes.lua:" .. line + 1)
  contains(fails("process 'culprit': p:wait: how long is -1", in_process(function(p) p:wait(-1) end)),
    "test_processes.lua:" .. line + 3)
  fails("process 'culprit': there is no device 'd'", in_process(function(p)
    local ok, message = pcall(p.execute, p, "d", 1)
    assert(not ok and message:find("the device: there is no device 'd'", 1, true))
    error "there is no device 'd'"
  end))
  fails("there is no device 'bb'; did you mean 'b'?", in_process(function(p) p:execute("bb", 1) end))
  fails("there is no mailbox or device 'boxx'", in_process(function(p) p:receive "boxx" end))
  fails("is on no device: spawn it with", in_process(function(p) p:send("a", 1) end))
  fails("mailbox of culprit is on no device", in_process(function(p) p:send(p, 1, 1, { from = "a" }) end))
  fails("unknown option 'form'; did you mean 'from'?", in_process(function(p) p:send("a", 1, 1, { form = "a" }) end))
  fails("whole number of them", in_process(function(p) p:send("b", 0.5) end, { device = "a" }))
  fails("there is no device 4; there are 1 to 3", in_process(function(p) p:execute(4, 1) end))
end)

claim("what the run refuses is refused by the name that the script called", function()
  local function refused(said, f)
    local sim = new()
    sim:spawn("w", f, { device = "a" })
    contains(fails("process 'w': " .. said, sim.run, sim), "test_processes.lua:")
  end
  refused("p:wait: how long is not a number (nan)", function(p) p:wait(0 / 0) end)
  refused("p:wait: how long should be a number of seconds or a text", function(p) p:wait {} end)
  refused('p:wait: how long: "3 B" is in bytes', function(p) p:wait "3 B" end)
  refused("p:execute: how long it takes is -1 s; it must be at least 0 s", function(p) p:execute("b", -1) end)
  refused("p:execute: how long it takes is not a number (nan)", function(p) p:execute("b", 0 / 0) end)
  refused("p:execute: option 'name' should be a text, not a boolean", function(p) p:execute("b", 1, { name = false }) end)
  refused("p:start: how long it takes is -1 s", function(p) p:start("b", -1) end)
  refused("p:start: how long it takes is -1 s", function(p) return p:start("b", -1) end)
  refused("p:send: -7 bytes; a message has a whole number of them", function(p) p:send("b", -7) end)
  refused("p:send: option 'route' should be a list of links, not a number", function(p) p:send("b", 7, nil, { route = 3 }) end)
  refused("p:send: option 'timeout' is not a number (nan)", function(p) p:send("b", 7, nil, { timeout = 0 / 0 }) end)
  refused("p:post: -7 bytes", function(p) p:post("b", -7) end)
  refused("p:join: there is no task yet", function(p) p:join(3) end)
  fails("process.new: option 'links' cannot be 'shred'; did you mean 'shared'?", process.new, { topology = star(), links = "shred" })
end)

claim("wrong words outside are refused", function()
  local sim = new()
  fails("should be a function, not a nil", sim.spawn, sim, "p")
  fails("the name should be a text", sim.spawn, sim, print)
  fails("there is a mailbox 'in' already", function() sim:mailbox("in", 1) sim:mailbox("in", 2) end)
  fails("unknown option 'till'", sim.run, sim, { till = 1 })
  fails("option 'topology' is missing", process.new, {})
  fails("unknown option 'topolgy'; did you mean 'topology'?", process.new, { topolgy = 1 })
  fails("is of the run that was given", process.new, { run = sim.world, links = "shared" })
  fails("was called with a colon", process.new, process)
  local p = sim:spawn("p", function(p) p:wait(1) end)
  fails("process 'p' is not at work", p.wait, p, 1)
  fails("a process has no field or method 'exceute'; did you mean 'execute'?", function() return p.exceute end)
  fails("has no field or method 'wrld'; did you mean 'world'?", function() return sim.wrld end)
  equal(p.device, nil)
  equal(tostring(p), "process p")
  equal(tostring(sim:mailbox("out", "b")), "mailbox out")
end)

-- -- the experiments ------------------------------------------------------------------------------

local function lines_of(name, ...)
  local lines = {}
  local path = (os.getenv "SS_SRCDIR" or soapstone.home) .. "/scripts/lua/experiments/processes/" .. name .. ".lua"
  local env = { arg = { ... }, print = function(text) lines[#lines + 1] = text end }
  assert(loadfile(path, "t", setmetatable(env, { __index = _G })))(...)
  return lines
end

claim("a ring all-reduce of processes is the built-in one", function()
  for _, n in ipairs { "8", "5" } do
    local lines = lines_of("ring_all_reduce", n)
    contains(lines[1], n .. " devices, 11.72 MiB")
    assert(lines[3]:match ", equal$", lines[3])
  end
  -- 14 rounds of an eighth of 12288000 bytes at 25 GB/s, 2 us each, after 3 ms
  contains(lines_of("ring_all_reduce")[2], soapstone.unit.show(3e-3 + 14 * (12288000 / 8 / 25e9 + 2e-6), "s"))
end)

claim("a server that drops the slowest keeps its pace", function()
  local lines = lines_of("backup_worker", "6")
  local function show(seconds) return soapstone.unit.show(seconds, "s") end
  local way = 40e6 / 12.5e9
  -- 10 ms, eight gradients through one link, eight weights back, four latencies
  for step = 1, 3 do
    equal(select(2, lines[step + 1]:gsub(show(10e-3 + 16 * way + 20e-6), "")), 2)
  end
  for step = 4, 6 do contains(lines[step + 1], show(10e-3 + 15 * way + 20e-6)) end
  -- the slow one's 40 ms, its gradient alone, all weights
  contains(lines[7], show(40e-3 + 9 * way + 20e-6))
end)

claim("a script that goes another way is done before the repair", function()
  local lines = lines_of "reroute"
  local piece = 20e6 / 10e9 + 10e-6
  contains(lines[1], soapstone.unit.show(0.170 + 50 * piece, "s"))
  -- 14 pieces, 10 ms of patience, 36 at half the speed
  contains(lines[2], soapstone.unit.show(14 * piece + 10e-3 + 36 * (20e6 / 5e9 + 10e-6), "s") .. ", 1 piece lost")
end)

claim("what is refused has changed nothing: no message, no receiver, nobody who waits", function()
  local sim = new()
  sim:mailbox("m", "b")
  local got
  sim:spawn("ghost", function(p)
    contains(select(2, pcall(p.receive, p, "m", { timeout = "-1 ms" })), "it must be at least 0 s")
    p:wait "1 ms"
    equal(p.now, 1e-3)
  end)
  sim:spawn("real", function(p) got = p:receive "m" end)
  sim:spawn("sender", function(p)
    equal(pcall(p.send, p, "m", 1, "never", { timeout = -1 }), false)
    p:send("m", 100, "hello")
  end, { device = "a" })
  sim:spawn("joiner", function(p)
    local task = p:start("a", "0.5 ms")
    equal(pcall(p.join, p, task, { timeout = "-1 ms" }), false)
    equal(pcall(p.join, p, task, 99), false)
    p:wait "10 ms"
    equal(p.now, 10e-3)
  end)
  sim:run()
  equal(got, "hello")
end)

claim("times that are none are refused wherever they are given", function()
  for _, time in ipairs { 1 / 0, 1e300, 9.21e6 } do
    for what, f in soapstone.pairs {
      ["p:wait: how long"] = function(p) p:wait(time) end,
      ["p:receive: option 'timeout'"] = function(p) p:receive(nil, { timeout = time }) end,
      ["p:join: option 'timeout'"] = function(p) p:join(p:start("a", 1), { timeout = time }) end,
    } do
      local sim = new()
      sim:spawn("w", f)
      contains(fails("times end after 106 days", sim.run, sim), what)
    end
    local sim = new()
    fails("sim:run: option 'until'", sim.run, sim, { ["until"] = time })
  end
end)

claim("a process that gives way by itself, fails with a value, or never ends to begin is told so", function()
  local function run(f, o)
    local sim = new()
    sim:spawn("w", f, o)
    return select(2, pcall(sim.run, sim))
  end
  contains(run(function() coroutine.yield() end), "process 'w' called coroutine.yield")
  contains(run(function() coroutine.yield() end), "test_processes.lua:")
  contains(run(function(p) return p:receive "nobox" end), "test_processes.lua:")
  equal(run(function() error { code = 7 } end).code, 7)
  contains(run(function() error() end), "process 'w': error() without a message")
  local finished = soapstone.run { topology = star() }
  finished:finish()
  fails("process.new: the run that was given is finished", process.new, { run = finished })
  local sim = new()
  local function again() sim:spawn("w", again) end
  sim:spawn("w", again)
  contains(select(2, pcall(sim.run, sim)), "that begin at 0 s: they spawn each other without end")
end)

check.done()
