-- Problems, costs and strategies from a script, wrong input first.
local check = require "check"
local small = require "small"
local soapstone = require "soapstone"

local fails, equal, claim = check.fails, check.equal, check.claim
local costs = soapstone.costs

local function problem(options)
  local o = { model = small.net(), topology = small.quad() }
  for k, v in pairs(options or {}) do o[k] = v end
  return soapstone.problem(o)
end

claim("a problem needs a model and a topology, open ones", function()
  fails("takes a table of options", soapstone.problem)
  fails("option 'model' is missing (a model)", soapstone.problem, { topology = small.quad() })
  fails("option 'topology' is missing (a topology)", soapstone.problem, { model = small.net() })
  fails("option 'model' should be a model, not a topology", soapstone.problem,
    { model = small.quad(), topology = small.quad() })
  fails("option 'costs' should be costs (of soapstone.costs), not a text", soapstone.problem,
    { model = small.net(), topology = small.quad(), costs = "roofline" })
  local m = small.net()
  m:close()
  fails("option 'model': this model is closed", soapstone.problem, { model = m, topology = small.quad() })
end)

claim("its options are refused by name, kind and bound", function()
  local function with(o) return pcall(problem, o) end
  fails("unknown option 'snyc'; did you mean 'sync'?", problem, { snyc = "ring" })
  fails("option 'sync' cannot be 'rign'; did you mean 'ring'?", problem, { sync = "rign" })
  fails("option 'links' cannot be 'fifo'", problem, { links = "fifo" })
  fails("option 'overlap' should be true or false, not a number", problem, { overlap = 1 })
  fails("option 'segment' is -1", problem, { segment = -1 })
  fails("option 'segment': \"4 Mi\"", problem, { segment = "4 Mi" })
  fails("option 'max_segments' is 0; it must be at least 1", problem, { max_segments = 0 })
  fails("option 'max_segments' is 1025; it must be at most 1024", problem, { max_segments = 1025 })
  fails("option 'update_passes' is -1; it must be at least 0", problem, { update_passes = -1 })
end)

claim("what was chosen is in force", function()
  for _, sync in ipairs { "none", "closed_form", "parameter_server", "ring", "tree", "two_level", "bidirectional_ring",
    "double_tree", "halving_doubling", "hierarchical", "in_network", "auto" } do
    equal(problem { sync = sync }.options.sync, sync)
  end
  for _, links in ipairs { "fifo-hop", "fifo-pipe", "fifo-path" } do
    equal(problem { links = links }.options.links, links)
  end
  for _, coalesce in ipairs { "none", "per_device" } do
    equal(problem { coalesce = coalesce }.options.coalesce, coalesce)
  end
  local o = problem({ segment = "4 MiB", max_segments = 7, overlap = false }).options
  equal(o.segment, 4 << 20)
  equal(o.max_segments, 7)
  equal(o.overlap, false)
  equal(o.training, true)
  equal(tostring(problem { sync = "ring" }), "problem: net on quad, links fifo-hop, gradients meet by ring")
end)

claim("what a problem was made of can no longer change", function()
  local p = problem()
  fails("belongs to a problem and can no longer change", p.model.input, p.model, "y", { 3 })
  fails("belongs to a problem and can no longer change", p.topology.switch, p.topology, "y")
  equal(p.model.batch, 24)
end)

claim("given costs name operators that are there", function()
  fails("takes a table of operators' times", costs.given)
  fails("operator fc1 takes { forward =, backward = }, not a number", costs.given, { fc1 = 1e-3 })
  fails("unknown option 'foward'; did you mean 'forward'?", costs.given, { fc1 = { foward = 1 } })
  fails("option 'per' cannot be 'hole'; did you mean 'whole'?", costs.given, { per = "hole" })
  fails("fc1", costs.given, { fc1 = { forward = -1 } })
  fails("fc3", problem, { costs = costs.stack { costs.given { fc3 = { forward = 1 } }, costs.roofline() } })
end)

claim("costs that do not know are reported, not taken as nothing", function()
  local p = problem { costs = costs.given { fc1 = { forward = "1 ms", backward = "2 ms" } } }
  fails("no time is known for 4 parts of operators; the first is fc2: linear", p.simulate, p, p:strategy "whole")
end)

claim("given times are taken as they are, and slow devices take longer", function()
  local times = {}
  for _, name in ipairs { "fc1", "fc2", "loss" } do times[name] = { forward = "1 ms", backward = "2 ms" } end
  local p = problem { costs = costs.given(times) }
  equal(p:simulate(p:strategy "whole").step_time, 0.009)
  local s = p:strategy "whole"
  for _, name in ipairs { "fc1", "fc2", "loss" } do s:set(name, { devices = "gpu4" }) end
  equal(p:simulate(s).step_time, 0.018)
  equal(p:simulate(s).name, "whole (changed)")
  equal(p:simulate(s, { name = "slow" }).name, "slow")
end)

claim("a roofline takes overrides", function()
  fails("unknown option 'lunch'; did you mean 'launch'?", costs.roofline, { lunch = 1 })
  fails("expected seconds", costs.roofline, { launch = "5 GB" })
  local p = problem { costs = costs.roofline { launch = "1 s" } }
  local r = p:simulate(p:strategy "whole")
  assert(r.step_time > 6 and r.step_time < 6.01, r.step_time)
  check.contains(p:costs_report(), "roofline")
end)

claim("the first of a stack wins", function()
  fails("takes a list of costs", costs.stack, 3)
  fails("element 2 is a table, not costs", costs.stack, { costs.roofline(), {} })
  local given = costs.given { fc1 = { forward = 5, backward = 7 } }
  local p = problem { costs = costs.stack { given, costs.roofline { launch = 0 } } }
  local r = p:simulate(p:strategy "whole")
  assert(r.step_time > 12 and r.step_time < 12.01, r.step_time)
end)

claim("ready-made strategies are known by name", function()
  local p = problem()
  fails("cannot be 'data_paralel'; did you mean 'data_parallel'?", p.strategy, p, "data_paralel")
  fails("the kind should be a text, not nothing", p.strategy, p)
  fails("unknown option 'seed'", p.strategy, p, "whole", { seed = 1 })
  fails("option 'max_parts' is 0", p.strategy, p, "random", { max_parts = 0 })
  for _, kind in ipairs { "data_parallel", "model_parallel", "expert_cnn", "expert_rnn", "random", "whole" } do
    local s = p:strategy(kind)
    equal(s.name, kind)
    assert(p:simulate(s).step_time > 0)
  end
  equal(p:strategy("random", { name = "r1", seed = 3 }).name, "r1")
  assert(p:strategy("random", { seed = 3 }) == p:strategy("random", { seed = 3 }))
  local r = p:strategy("random", { seed = 3, max_parts = 2 })
  for o in p.model:ops() do assert(r:get(o.name).parts <= 2) end
end)

claim("set says what is wrong with a configuration", function()
  local p = problem()
  local s = p:strategy "whole"
  fails("no operator 'fc11'; did you mean 'fc1'?", s.set, s, "fc11", {})
  fails("unknown option 'degree'; did you mean 'degrees'?", s.set, s, "fc1", { degree = {} })
  fails("option 'degrees' should be a table such as { n = 4 }, not a number", s.set, s, "fc1", { degrees = 4 })
  fails("option 'degrees': unknown option 'k'", s.set, s, "fc1", { degrees = { k = 2 } })
  fails("option 'degrees.n' is 0; it must be at least 1", s.set, s, "fc1", { degrees = { n = 0 } })
  fails("option 'devices[2]': there is no device 9", s.set, s, "fc1",
    { degrees = { n = 2 }, devices = { 1, 9 } })
  fails("no device or switch 'gpu5'; did you mean 'gpu", s.set, s, "fc1", { devices = "gpu5" })
  fails("sw is a switch, and a device is needed", s.set, s, "fc1", { devices = "sw" })
  fails("fc1", s.set, s, "fc1", { degrees = { n = 25 }, devices = 1 })
  fails("fc1", s.set, s, "fc1", { degrees = { n = 2, c = 2 }, devices = { 1, 2, 3 } })
  equal(s.name, "whole")
  assert(s == p:strategy "whole")
end)

claim("a name that was given stays, and others say that something was changed", function()
  local p = problem()
  local ready, mine = p:strategy "whole", p:strategy("whole", { name = "mine" })
  for _, s in ipairs { ready, mine } do s:set("fc1", { devices = 2 }):apply "data_parallel" end
  equal(ready.name, "whole (changed)")
  equal(mine.name, "mine")
  equal(p:simulate(mine).name, "mine")
  equal(mine:copy():set("fc1", { devices = 1 }).name, "mine")
  equal(ready:copy().name, "whole (changed)")
  equal(ready:copy({ name = "ours" }):set("fc1", { devices = 1 }).name, "ours")
  equal(ready:apply("whole", { name = "again" }):set("fc1", { devices = 2 }).name, "again")
end)

claim("set, get, pin and apply work together", function()
  local p = problem()
  local s = p:strategy "whole"
  equal(s:set("fc1", { degrees = { n = 2, c = 2 }, devices = { 4, 3, 2, 1 } }), s)
  local c = s:get "fc1"
  equal(c.parts, 4)
  equal(c.degrees.c, 2)
  equal(table.concat(c.devices, " "), "4 3 2 1")
  equal(s.name, "whole (changed)")
  s:set("fc1", { devices = { "gpu1", "gpu1", 2, 2 } })
  equal(table.concat(s:get("fc1").devices, " "), "1 1 2 2")
  fails("there is nothing called 'al'; did you mean 'all'?", s.pin, s, "fc1", "al")
  s:pin "fc1"
  fails("fc1", s.set, s, "fc1", { degrees = { n = 1 }, devices = 1 })
  s:apply "data_parallel"
  equal(s:get("fc1").degrees.c, 2)
  equal(s:get("fc2").degrees.n, 4)
  equal(table.concat(s:get("fc1").pinned, " "), "n c devices")
  s:unpin("fc1"):apply("data_parallel", { name = "dp" })
  equal(#s:get("fc1").pinned, 0)
  equal(s.name, "dp")
  assert(s == p:strategy "data_parallel")
  s:pin("fc2", "n")
  equal(s:get("fc2").pinned[1], "n")
end)

claim("copies are their own, and diff says where they part", function()
  local p = problem()
  local a = p:strategy "data_parallel"
  local b = a:copy { name = "b" }
  assert(a == b)
  b:set("fc2", { degrees = { 1, 5 }, devices = 2 })
  assert(a ~= b)
  local list, text = a:diff(b)
  equal(#list, 1)
  equal(list[1].op, "fc2")
  equal(list[1].here.degrees.n, 4)
  equal(list[1].there.degrees.c, 5)
  check.contains(text, "fc2")
  fails("'diff' needs a strategy as argument 1, not a table", a.diff, a, {})
  fails("another", a.diff, a, problem():strategy "whole")
  assert(a ~= problem():strategy "data_parallel")
end)

claim("a strategy goes to a file and comes back", function()
  local p = problem()
  local s = p:strategy("random", { seed = 11 }):pin "fc2"
  local path = os.tmpname()
  s:save(path)
  s:save(path) -- in place of itself
  local own = os.tmpname()
  local f <close> = assert(io.open(own, "w"))
  f:write "return 1\n"
  f:flush()
  fails("there is a file of that name which is no strategy file of soapstone", s.save, s, own)
  equal(io.open(own):read "a", "return 1\n")
  os.remove(own)
  local back, counts = p:load_strategy(path, { name = "again" })
  assert(back == s)
  equal(back.name, "again")
  equal(counts.matched, 3)
  equal(#back:get("fc2").pinned, #s:get("fc2").pinned)
  local pair = require "soapstone.topology".new { name = "pair" }
  pair:device("a", { kind = "p100" })
  local other = soapstone.problem { model = small.net(), topology = pair }
  fails("quad", other.load_strategy, other, path)
  os.remove(path)
  fails("nowhere.strategy", p.load_strategy, p, "nowhere.strategy")
  fails("no-such-folder", s.save, s, "no-such-folder/x.strategy")
end)

claim("a strategy of another problem is refused", function()
  local p, q = problem(), problem()
  fails("made for another object of the model net, which is equal", p.simulate, p, q:strategy "whole")
  fails("'simulate' needs a strategy as argument 1, not a text", p.simulate, p, "whole")
  fails("'simulate' was called on a model, not on a problem", p.simulate, p.model, p:strategy "whole")
end)

claim("things may be closed in any order", function()
  local p = problem()
  local m, t = p.model, p.topology
  local s = p:strategy "data_parallel"
  local r = p:simulate(s)
  m:close()
  t:close()
  p:close()
  equal(#r.devices, 4) -- what it rests on is still there
  check.contains(tostring(r), "net on quad")
  equal(s:copy().name, "data_parallel")
  fails("this problem is closed", p.strategy, p, "whole")
  fails("this model is closed", m.totals, m)
  s:close()
  r:close()
  equal(tostring(r), "result (closed)")
  fails("this result is closed", function() return r.step_time end)
  collectgarbage()
end)

claim("a model that asks for the impossible names the operator", function()
  fails("a table of options", soapstone.problem, 5)
end)

claim("costs can be scaled, and a stack keeps the scale of each", function()
  local given = soapstone.costs.given { fc1 = { forward = 1e-3, backward = 2e-3 } }
  local roofline = soapstone.costs.roofline()
  local function compute(costs)
    local p = soapstone.problem { model = small.net(), topology = small.quad(), costs = costs }
    return p:simulate(p:strategy "whole").compute_time, p:costs_report()
  end
  local none = soapstone.costs.stack { given:scale(1e-9), roofline }
  local rest, whole = compute(none), compute(soapstone.costs.stack { given, roofline })
  check.near(whole, rest + 3e-3, 1e-8)
  local scaled, report = compute(soapstone.costs.stack { given:scale(2):scale(5), roofline })
  check.near(scaled, rest + 30e-3, 1e-8)
  check.contains(report, "given times of 1 operator, times 10")
  check.near(compute(soapstone.costs.stack({ given, roofline }):scale(0.5)), whole / 2, 1e-9)
  equal(compute(soapstone.costs.stack { given, roofline }), whole) -- those stay as they were
  check.fails("costs:scale: times cannot become -1 times as long", given.scale, given, -1)
  check.fails("costs:scale: times cannot become 0 times as long", given.scale, given, 0)
  check.fails("costs:scale: the factor should be a number, not nothing", given.scale, given)
end)

claim("results say where their times came from", function()
  local report = require "soapstone.report"
  local roofline = soapstone.costs.roofline()
  local path = os.tmpname()
  local function table_of(...)
    local file = assert(io.open(path, "w"))
    file:write("kind,attributes,shape,dtype,phase,device,seconds\n", ...)
    file:close()
    return soapstone.costs.table(path)
  end
  local m, t = small.net(), small.quad()
  local function result(costs)
    local p = soapstone.problem { model = m, topology = t, costs = costs }
    return p:simulate(p:strategy "whole")
  end
  local function said(r) return r.assumptions:match "; costs: (.*)$" end
  local plain, scaled = result(), result(roofline:scale(100))
  equal(said(plain), "roofline")
  equal(said(scaled), "roofline scaled by 100")
  check.contains(scaled:json(), "costs: roofline scaled by 100")
  check.contains(tostring(scaled):gsub("%s+", " "), "costs: roofline scaled by 100")
  equal(said(result(soapstone.costs.roofline { launch = "7 us", half_flop = 3e8, kind = "p100" }:scale(0.5))),
    "roofline with launch 7.000 us, half_flop 300.0 MFLOP of p100 scaled by 0.5")
  local given = soapstone.costs.given { fc1 = { forward = 1, backward = 2 } }
  equal(said(result(soapstone.costs.stack { given, roofline })), "given times (2 of 6 parts), roofline for the rest")
  equal(said(result(soapstone.costs.stack { roofline, given })), "roofline (6 of 6 parts), given times (0 of 6 parts)")

  local fits = table_of("linear,activation=relu,24x11 < 24x37,f32,forward,p100,1 ms\n")
  local p = soapstone.problem { model = m, topology = t, costs = soapstone.costs.stack { fits, roofline } }
  for _ = 1, 2 do -- what is remembered counts as much as what is new
    local r = p:simulate(p:strategy "whole")
    equal(said(r), ("table %s (1 of 6 parts), roofline for the rest"):format(path))
    assert(not tostring(r):find "answered for none")
  end
  local never = result(soapstone.costs.stack {
    table_of("linear,activation=relu,24x12 < 24x37,f32,forward,p100,1 ms\n"), roofline })
  check.contains(tostring(never):gsub("%s+", " "),
    ("table %s answered for none of 6 parts; the first was fc1: linear 24x11 < 24x37, f32, forward, on p100")
      :format(path))
  fails("can time nothing here: it is of devices of kind P100, and those of topology quad are p100; was p100 meant?",
    result, table_of("linear,activation=relu,24x12 < 24x37,f32,forward,P100,1 ms\n"))
  fails("roofline of v101: neither topology quad nor the catalogue has devices of that kind; did you mean v100?",
    result, soapstone.costs.roofline { kind = "v101", launch = 1 })
  os.remove(path)

  local both = report.compare { plain, scaled }
  check.contains(both, "\nline 1, whole: costs: roofline\nline 2, whole: costs: roofline scaled by 100")
  assert(not report.compare({ plain, plain }):find "line 1")
  equal(report.assumptions { plain, scaled } .. "; costs: roofline", plain.assumptions)
end)

claim("over shared links a comparison says what is noise", function()
  local report = require "soapstone.report"
  local function data_parallel(links)
    local p = problem { links = links, sync = "ring" }
    return p:simulate(p:strategy "data_parallel")
  end
  local r = data_parallel "shared"
  local s = r:sensitivity { runs = 5 }
  assert(s.runs == 5 and s.least <= r.step_time and s.most >= r.step_time and s.spread < 1e-3)
  assert(r:sensitivity({ runs = 5 }).most == s.most)
  assert(report.compare({ r, r }):find "durations moved by a picosecond")
  assert(not pcall(r.sensitivity, r, { runs = 0 }))
  local e = data_parallel "fifo-hop"
  assert(not report.compare({ e, e }):find "moved by")
end)

-- Two tasks of device 1 are ready at once, and who is first decides whether 10 seconds begin a second later: a step
-- of 12 or 13 seconds.
local function of_dag(text)
  local file = assert(io.open("graph.json", "w"))
  file:write(text)
  file:close()
  local r = soapstone.dag.simulate "graph.json"
  os.remove "graph.json"
  return r
end
local undecided = [=[{"devices": [1, 1, 1, 1], "links": [], "routes": [], "deps": [[0, 2], [1, 3], [2, 4]],
  "tasks": [["c", 1, 1], ["c", 2, 1], ["c", 0, 1], ["c", 0, 1], ["c", 3, 10]]}]=]
local function steady(seconds)
  return of_dag(('{"devices": [1], "links": [], "routes": [], "deps": [], "tasks": [["c", 0, %g]]}'):format(seconds))
end

claim("two results are not told apart by the noise of either, and never by that of a third", function()
  local report = require "soapstone.report"
  local chaotic = of_dag(undecided)
  assert(math.abs(chaotic:sensitivity({ runs = 4 }).spread - 1 / 12) < 1e-9)
  local text = report.compare { steady(12.1), steady(12.3), chaotic, steady(13.5) }
  check.contains(text, "\nwith durations moved by a picosecond line 3 moves by 8.3 %: smaller differences to it are noise")
  check.contains(text, "\nlines 1 and 3 are not told apart")
  check.contains(text, "\nlines 2 and 3 are not told apart")
  equal(select(2, text:gsub("told apart", "")), 2)
  assert(not report.compare({ steady(12.1), steady(12.3) }):find "moved by")
end)

claim("a run with tasks of a script's own is compared, and its noise is not known", function()
  local report = require "soapstone.report"
  local p = problem { links = "shared" }
  local run = p:start(p:strategy "data_parallel")
  run:compute(1, 1)
  local text = report.compare { p:simulate(p:strategy "data_parallel"), run:finish() }
  check.contains(text, "a script added tasks in line 2: how far such a step time moves is not known")
end)

claim("a method called with a dot says how it is called", function()
  local p = problem()
  local strategy = p:strategy "data_parallel"
  local held = {
    model = { p.model, "input", "totals", "ops", "op", "linear", "conv2d" },
    topology = { p.topology, "device", "switch", "link", "route", "path", "device_list", "link_list", "switch_list",
      "route_list" },
    problem = { p, "strategy", "load_strategy", "simulate", "costs_report" },
    strategy = { strategy, "set", "get", "pin", "save", "copy", "apply" },
    result = { p:simulate(strategy), "task", "memory", "json", "write_trace", "write_dot" },
  }
  for noun, of in pairs(held) do
    for i = 2, #of do
      fails(("use a colon: %s:%s(...)"):format(noun, of[i]), function() of[1][of[i]]("fc1") end)
    end
    fails(("use a colon: %s:close(...)"):format(noun), function() of[1].close() end)
  end
end)

claim("a model without halo cuts images in equal pieces", function()
  local function step(halo)
    local m = soapstone.model.new { name = "images", halo = halo }
    local y = m:conv2d("c", m:input("x", { 2, 3, 12, 10 }), { out = 4, kernel = 5, padding = 2 })
    m:conv2d("d", m:pool2d("p", y, { kernel = 2 }), { out = 4, kernel = 3, padding = 1 })
    local p = soapstone.problem { model = m, topology = small.quad(), sync = "none" }
    local s = p:strategy "whole"
    for _, op in ipairs { "c", "p", "d" } do s:set(op, { degrees = { h = 2 }, devices = { 1, 2 } }) end
    return p:simulate(s)
  end
  -- d reads a row of the other part: 2 images, 4 channels, 5 columns, both ways, and its gradient goes back
  equal(step(true).bytes_moved, 4 * 160)
  assert(not step(nil).assumptions:find("no halo", 1, true))
  equal(step(false).bytes_moved, 0)
  check.contains(step(false).assumptions, "; no halo")
  assert(require "models.alexnet" { halo = false } and require "models.vit" { halo = false })
end)

claim("a problem with other costs is else the same, and has the strategies of the first", function()
  local p = soapstone.problem { model = small.net(), topology = small.quad(), sync = "ring", update_passes = 3,
    events = { { at = 0, device = "gpu1", speed = 0.5 } }, chance = soapstone.chance { step = "3 ms" } }
  local s = p:strategy "data_parallel"
  local twice = p:with_costs(p.costs:scale(2))
  equal(twice.model, p.model)
  equal(twice.topology, p.topology)
  for name, value in pairs(p.options) do equal(twice.options[name], value) end
  equal(p:with_costs(p.costs):simulate(s).step_time, p:simulate(s).step_time)
  assert(twice:simulate(s).step_time > p:simulate(s).step_time)
  fails("costs", p.with_costs, p, 3)
  local model = p.model
  p:close()
  assert(twice:simulate(s).step_time > 0 and twice.model == model, "it outlives the first")
end)

check.done()
