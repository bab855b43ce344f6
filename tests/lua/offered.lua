-- offered.lua - what options the program takes, from its own mouth: a refusal lists the names.

local small = require "small"
local soapstone = require "soapstone"

local offered = {}

function offered.options_of(f, ...)
  local arguments = table.pack(...)
  arguments[arguments.n + 1] = { zzzzzzzzzzzzzzzz = 1 }
  local ok, message = pcall(f, table.unpack(arguments, 1, arguments.n + 1))
  assert(not ok, "an unknown option was taken")
  local names = {}
  for name in assert(message:match "there are (.*)$", message):gsub(" and ", ", "):gmatch "[%w_]+" do
    names[name] = true
  end
  return names
end

-- Every call that takes options: its name, with the variable that the page calls it on, and their names.
function offered.options()
  local f, of = soapstone, offered.options_of
  local m, t = small.net(), small.quad()
  local p = f.problem { model = m, topology = t }
  local s = p:strategy "data_parallel"
  local r = p:simulate(s)
  local search = f.search.mcmc(p, { proposals = 1 })
  local fit = small.fit()
  local run = p:start(s)
  local pair = f.topology.new { name = "pair" }
  pair:switch "a"
  pair:switch "b"
  local empty = f.model.new { name = "empty" }
  local ready = {}
  for _, kind in ipairs { "data_parallel", "expert_rnn", "random" } do
    for name in pairs(of(p.strategy, p, kind)) do ready[name] = true end
  end
  return {
    ["calibrate.fit"] = of(f.calibrate.fit),
    ["calibrate.read"] = of(f.calibrate.read, "none"),
    ["costs.given"] = of(function(o) f.costs.given { fc1 = o } end),
    ["costs.table"] = of(f.costs.table, "none"),
    ["costs.roofline"] = of(f.costs.roofline),
    ["dag.random"] = of(f.dag.random),
    ["dag.simulate"] = of(f.dag.simulate, "none"),
    ["fit:curve"] = of(fit.curve, fit),
    ["fit:seconds"] = of(fit.seconds, fit, 1),
    ["m:input"] = of(empty.input, empty, "x", { 3 }),
    ["model.new"] = of(f.model.new),
    ["problem:load_strategy"] = of(p.load_strategy, p, "none"),
    ["problem:execute"] = of(p.execute, p, s),
    ["problem:list_times"] = of(p.list_times, p, "none", s),
    ["problem:profile"] = of(p.profile, p, s),
    ["trace:profile"] = of(small.trace().profile, small.trace()),
    ["problem:proof"] = of(p.proof, p, s),
    ["problem:repetitions"] = of(p.repetitions, p, s),
    ["problem:simulate"] = of(p.simulate, p, s),
    ["problem:strategy"] = ready,
    ["r:write_dot"] = of(r.write_dot, r, "none"),
    ["r:write_trace"] = of(r.write_trace, r, "none"),
    ["problem:start"] = of(p.start, p, s),
    ["dag.start"] = of(f.dag.start, "none"),
    ["run:compute"] = of(run.compute, run, 1, 1),
    ["run:send"] = of(run.send, run, 1, 2, 1),
    ["run:set_device"] = of(run.set_device, run, 1),
    ["run:set_link"] = of(run.set_link, run, 1),
    ["soapstone.collective"] = of(f.collective),
    ["soapstone.run"] = of(f.run),
    ["s:copy"] = of(s.copy, s),
    ["s:set"] = of(s.set, s, 1),
    ["search.annealing"] = of(f.search.annealing, p),
    ["search.exhaustive"] = of(f.search.exhaustive, p),
    ["search.greedy"] = of(f.search.greedy, p),
    ["search.mcmc"] = of(f.search.mcmc, p),
    ["search.random"] = of(f.search.random, p),
    ["search:more"] = of(search.more, search),
    ["search:run"] = of(search.run, search),
    ["soapstone.chance"] = of(f.chance),
    ["soapstone.inspect"] = of(f.inspect, "none"),
    ["soapstone.plot.calibration"] = of(f.plot.calibration, fit, "none.svg"),
    ["soapstone.plot.gantt"] = of(f.plot.gantt, r, "none.svg"),
    ["soapstone.plot.lines"] = of(f.plot.lines, {}, "none.svg"),
    ["soapstone.plot.strategy"] = of(f.plot.strategy, s, "none.svg"),
    ["soapstone.plot.throughput"] = of(f.plot.throughput, {}, "none.svg"),
    ["soapstone.plot.search"] = of(f.plot.search, "none.h5", "none.svg"),
    ["soapstone.problem"] = of(f.problem),
    ["soapstone.record"] = of(f.record, "none"),
    ["soapstone.repeatable"] = of(f.repeatable),
    ["t:device"] = of(pair.device, pair, "d"),
    ["t:link"] = of(pair.link, pair, "a", "b"),
    ["t:set_link"] = of(pair.set_link, pair, "a"),
    ["t:set_routing"] = of(pair.set_routing, pair, "ecmp"),
    ["topology.new"] = of(f.topology.new),
  }
end

return offered
