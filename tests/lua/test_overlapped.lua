-- Steps that overlap, against times worked out by hand.
local check = require "check"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"

local claim, equal, fails, contains = check.claim, check.equal, check.fails, check.contains

-- a, then b; 3 and 1 ms forward, 6 and 2 ms backward; a message between them takes 4 ms, half of a weight 125 ms.
local function problem(options)
  local model = soapstone.model.new { name = "two" }
  local x = model:input("x", { 4, 250 })
  model:linear("b", model:linear("a", x, { out = 250, bias = false }), { out = 250, bias = false })
  local t = topology.new { name = "pair" }
  t:link(t:device("d1", { kind = "p100" }), t:device("d2", { kind = "p100" }), { bandwidth = "1 MB/s" })
  options.model, options.topology = model, t
  options.costs = soapstone.costs.given {
    a = { forward = "3 ms", backward = "6 ms" }, b = { forward = "1 ms", backward = "2 ms" }, per = "part" }
  return soapstone.problem(options)
end

local function in_two(p)
  local s = p:strategy "whole"
  s:set("b", { devices = { 2 } })
  return p:simulate(s)
end

local function ms(seconds) return ("%.6f"):format(1000 * seconds) end

claim("without training a step more takes what its fullest device or link does", function()
  for _, links in ipairs { "fifo-hop", "fifo-path", "shared" } do
    local p = problem { training = false, links = links }
    local pipeline = in_two(p):overlapped { steps = 5 }
    equal(ms(pipeline.alone), "8.000000")
    equal(ms(pipeline.period), "4.000000") -- the link: 3 + 5 * 4 + 1 in all
    equal(#pipeline.ends, 5)
    equal(ms(pipeline.ends[5]), "24.000000")
    local both = p:simulate(p:strategy "data_parallel"):overlapped { steps = 3 }
    equal(ms(both.period), ms(both.alone)) -- a device has nothing else to do
  end
end)

claim("devices do not run ahead, and what happens later happens", function()
  local model = soapstone.model.new { name = "three" }
  local x = model:linear("a1", model:input("x", { 2, 2 }), { out = 2, bias = false })
  model:linear("b", model:linear("a2", x, { out = 2, bias = false }), { out = 2, bias = false })
  local t = topology.new { name = "pair" }
  t:link(t:device("d1", { kind = "p100" }), t:device("d2", { kind = "p100" }), { bandwidth = "1 GB/s" })
  local costs = soapstone.costs.given { a1 = { forward = "2 ms" }, a2 = { forward = "2 ms" }, b = { forward = "4 ms" }, per = "part" }
  local function steps(n, more)
    more.model, more.topology, more.costs, more.training = model, t, costs, false
    local p = soapstone.problem(more)
    local s = p:strategy "whole"
    s:set("b", { devices = { 2 } })
    return p:simulate(s):overlapped { steps = n }
  end
  equal(("%.3f"):format(1000 * steps(20, {}).period), "4.000")
  equal(("%.3f"):format(1000 * steps(3, { streams = 2 }).period), "4.000")
  local slow = steps(3, { events = { { at = "14 ms", device = 2, speed = 0.5 } } }) -- in the third step
  equal(("%.3f"):format(1000 * slow.ends[3]), "18.000")
end)

claim("a step waits for the weights of its first operator, and these come last", function()
  local p = problem { sync = "ring", overlap = true }
  local split = in_two(p):overlapped()
  equal(split.steps, 4)
  equal(ms(split.alone), "20.000000")
  equal(ms(split.period), "20.000000")
  local both = p:simulate(p:strategy "data_parallel"):overlapped()
  equal(ms(both.alone), "506.000000") -- b meets from 6 ms on, a after it
  equal(ms(both.period), "506.000000")
end)

claim("weights that are there early let the next step begin while others still meet", function()
  local p = problem { sync = "ring", overlap = false }
  local both = p:simulate(p:strategy "data_parallel"):overlapped { steps = 3 }
  equal(ms(both.alone), "512.000000")  -- a and then b meet after 12 ms
  equal(ms(both.period), "509.000000") -- 3 ms of a, while b meets
  contains(tostring(both), "3 steps that overlap: 509.0 ms a step, 512.0 ms alone")
  local update = problem { sync = "ring", overlap = false, update_passes = 1 }
  local slower = update:simulate(update:strategy "data_parallel")
  assert(slower:overlapped().period > both.period)
  assert(slower:overlapped().period < slower.step_time)
end)

claim("a meeting that is one task, and one with a server, are waited for", function()
  local p = problem { sync = "ring", overlap = false, aggregate = true }
  local r = p:simulate(p:strategy "data_parallel")
  equal(ms(r:overlapped().period), ms(r.step_time - 3e-3))
  p = problem { sync = "parameter_server", overlap = true }
  r = p:simulate(p:strategy "data_parallel")
  assert(r:overlapped().period <= r.step_time and r:overlapped().period > 0.9 * r.step_time)
end)

claim("what cannot be asked is refused", function()
  local p = problem { sync = "closed_form" }
  local r = p:simulate(p:strategy "data_parallel")
  fails("closed_form", r.overlapped, r)
  fails("at least 2", r.overlapped, r, { steps = 1 })
  fails("unknown option 'step'", r.overlapped, r, { step = 3 })
  local run = soapstone.run { topology = p.topology }
  run:compute(1, "1 ms")
  local bare = run:finish()
  fails("no weights", bare.overlapped, bare)
  local model = soapstone.model.new { name = "deep" }
  local x = model:input("x", { 2, 2 })
  for i = 1, 2200 do x = model:linear("l" .. i, x, { out = 2, bias = false }) end
  local deep = soapstone.problem { model = model, topology = p.topology, sync = "ring" }
  local many = deep:simulate(deep:strategy "data_parallel")
  fails("1000 steps of " .. many.tasks .. " tasks each would be", many.overlapped, many, { steps = 1000 })
  fails("GiB of memory", many.overlapped, many, { steps = 1000 })
  assert(many:overlapped { steps = 2 }.period > 0)
end)

check.done()
