-- short_script.lua - a short script that touches every kind of thing a script can hold.
--
-- Run in-process by fail_in_lua.c with memory that ends, so the record is written last.

local soapstone = require "soapstone"
local model = require "soapstone.model"
local topology = require "soapstone.topology"

local m = model.new { name = "net", optimizer = "momentum" }
local x = m:input("x", { 24, 37 })
local h = m:linear("fc1", x, { out = 11, activation = "relu", layer = 1 })
local y = m:linear("fc2", h, { out = 5, layer = 2 })
m:softmax_cross_entropy("loss", y)

local t = topology.new { name = "pair" }
local a, b = t:device("a", { kind = "p100" }), t:device("b", { kind = "p100", speed = 0.5 })
t:link(a, b, { bandwidth = "10 GB/s", latency = "3 us" })

local problem = soapstone.problem {
  model = m, topology = t, sync = "ring",
  costs = soapstone.costs.stack {
    soapstone.costs.given { fc1 = { forward = 1e-3, backward = 2e-3 }, per = "whole" },
    soapstone.costs.roofline() } }

local data = problem:strategy "data_parallel"
local other = data:copy()
other:set("fc2", { degrees = { c = 2 }, devices = { 1, 2 } })
other:pin("fc2", "all")
local names = {}
for op in m:ops() do
  names[#names + 1] = op.name
end
table.sort(names)
local result = problem:simulate(other)
local search = soapstone.search.mcmc(problem, { start = { "data_parallel", other }, proposals = 3, threads = 1,
  seed = 1, configurations = { fc1 = { { degrees = { n = 2 }, devices = { 1, 2 } }, { devices = 2 } } } }):run()
local times = {}
for i = 1, 5 do times[i] = { bytes = 4 ^ i, seconds = 1e-6 + 4 ^ i / 1e7 } end
local fit = soapstone.calibrate.fit { name = "times", rows = times }
assert(#fit:curve { monotone = true } == 5 and #fit:json() + #tostring(fit) + #fit.notes > 100 and #fit.rows == 5)
local run = problem:start(other, { order = "shortest", events = { { at = 0, link = 1, share = 0.5 } }, name = "run" })
run:advance "10 us"
run:set_link("a->b", { latency = "1 us" })
run:pause "b"
run:resume "b"
run:send("a", "b", 100, { after = run:compute("a", "1 us", { name = "more" }), name = "message" })
assert(run:step() and #run.changes == 4 and run:task(1).kind and #run:ended() >= 0)
local ran = run:finish()
assert(ran:task(ran.tasks).name == "message" and ran.step_time > 0)
local sim = require("soapstone.process").new { topology = t, links = "shared" }
sim:spawn("sender", function(p) p:send("b", 1000, 1) end, { device = "a" })
sim:spawn("receiver", function(p) assert(p:receive "b" == 1) end)
assert(sim:run() == sim:finish().step_time)
local optimum, proof = soapstone.search.exhaustive(problem, { moves = "place" })
assert(search.cost > 0 and proof.cost == problem:simulate(optimum).step_time and #tostring(search) > 100)
assert(search.best and search.chains[2].proposals == 3 and #search:json() > 100)
local luck = soapstone.chance { compute = { "samples", values = { 1, 2 } }, kinds = { linear = { "gamma", cv = 1 } },
  slow = { a = 2 }, step = 1e-3 }
local lucky = soapstone.problem { model = m, topology = t, chance = luck }
local many = lucky:repetitions({ data, other }, { n = 3, threads = 1 })
assert(#tostring(luck) + #tostring(many) + #many:json() > 100 and #many.strategies == 2 and #many.pairs == 1)
local text = table.concat { tostring(m), tostring(t), tostring(other), tostring(result),
                            table.concat(names), tostring(data:diff(other)) }
assert(#text > 100 and result.step_time > 0 and #result.critical.steps > 0)
assert(not pcall(t.link, t, a, b, { bandwith = 1 }))
soapstone.record(arg[1], { problem = problem, results = { other = result } })
