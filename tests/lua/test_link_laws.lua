-- Links that fall short of their bandwidth and latency, wrong input first.
local check = require "check"
local soapstone = require "soapstone"

local fails, equal, claim = check.fails, check.equal, check.claim

-- a, host, b; messages of 1000 bytes take 1 us on each link.
local function pair(link, host)
  local t = soapstone.topology.new { name = "pair" }
  local a, b = t:device("a", { kind = "p100" }), t:device("b", { kind = "p100" })
  local h = t:switch("host", host)
  local o = { bandwidth = "1 GB/s" }
  for k, v in pairs(link or {}) do o[k] = v end
  t:link(a, h, o)
  t:link(h, b, o)
  return t
end

-- One message of 4000 bytes from a to b, and nothing that takes time but it.
local function step(t, options)
  local m = soapstone.model.new { name = "two" }
  local x = m:input("x", { 10, 100 })
  m:linear("fc2", m:linear("fc1", x, { out = 100 }), { out = 100 })
  local none = { forward = 0, backward = 0 }
  local o = { model = m, topology = t, training = false, costs = soapstone.costs.given { fc1 = none, fc2 = none } }
  for k, v in pairs(options) do o[k] = v end
  local problem = soapstone.problem(o)
  local s = problem:strategy "whole"
  s:set("fc2", { devices = { 2 } })
  return problem:simulate(s)
end

claim("options are refused by name, kind and bound", function()
  fails("topology:link: option 'half_size': \"1 Mi\"", pair, { half_size = "1 Mi" })
  fails("link a -> host: the half size is -1 bytes", pair, { half_size = -1 })
  fails("link a -> host: the load is 1 of the bandwidth; it must be 0 or more and below 1", pair, { load = 1 })
  fails("option 'efficiency' should be a list of { bytes =, efficiency = }, not a number", pair, { efficiency = 0.5 })
  fails("option 'efficiency', row 1 should be a table", pair, { efficiency = { 0.5 } })
  fails("option 'efficiency': point 1 of a curve of efficiency, 8 bytes, has an efficiency of 2", pair,
    { efficiency = { { bytes = 8, efficiency = 2 } } })
  fails("a half size and a measured curve both say", pair,
    { half_size = 8, efficiency = { { bytes = 8, efficiency = 1 } } })
  fails("option 'latency_by_size', row 1: 'latency': \"3 m\"", pair,
    { latency_by_size = { { bytes = 8, latency = "3 m" } } })
  fails("unknown option 'half_sise'; did you mean 'half_size'?", pair, { half_sise = 8 })
  fails("option 'stages' should be true or false", pair, {}, { stages = 1 })
  fails("option 'latency_by_size', row 1: option 'latency' = 3 means 3 s; write \"3 us\"", pair,
    { latency_by_size = { { bytes = 8, latency = 3 } } })
  fails("option 'load': \"30 %%\"", pair, { load = "30 %%" })
  fails("the load is 1.3 of the bandwidth", pair, { load = "130 %" })
  equal(pair({ load = "30 %" }):link_list()[1].load, 0.3)
  equal(pair({ load = "30%" }):link_list()[1].load, 0.3)
  local t = pair()
  fails("topology:set_link: nothing is to change: give a bandwidth", t.set_link, t, 1, {})
  fails("topology:set_link: nothing is to change: give a bandwidth", t.set_link, t, 1)
  fails("option 'weight' is 1.5, which is not a whole number", t.route, t, "a", "b", { 1, 3 }, { weight = 1.5 })
  fails("option 'weight' is 0", t.route, t, "a", "b", { 1, 3 }, { weight = 0 })
  fails("aggregate knows the latency and bandwidth of links alone", step, pair { half_size = 8 },
    { sync = "ring", aggregate = true, training = true })
end)

claim("nothing in a measured curve is passed over", function()
  local function link(o)
    local t = soapstone.topology.new { name = "t" }
    o.bandwidth = "1 GB/s"
    t:link(t:device "a", t:device "b", o)
  end
  fails("option 'efficiency', row 1: unknown option 'foo'; there are bytes and efficiency", link,
    { efficiency = { { bytes = 1, efficiency = 0.5, foo = 3 } } })
  fails("option 'latency_by_size', row 2: unknown option 'latncy'; did you mean 'latency'?", link,
    { latency_by_size = { { bytes = 1, latency = 0 }, { bytes = 2, latncy = 0 } } })
  fails("option 'efficiency' is a list, and has 'x' in it", link, { efficiency = { { bytes = 1, efficiency = 0.5 }, x = 1 } })
end)

claim("a message takes what the law says, in each meaning of a link", function()
  local function takes(us, link, options, host)
    equal(("%.9f"):format(step(pair(link, host), options).step_time * 1e6), ("%.9f"):format(us))
  end
  for mode, hops in pairs { ["fifo-hop"] = 2, ["fifo-path"] = 1, shared = 1 } do
    takes(4 * hops, {}, { links = mode })
    takes(5 * hops, { half_size = 1000 }, { links = mode })
    takes(8 * hops, { load = 0.5 }, { links = mode })
    takes(8 * hops, { efficiency = { { bytes = 4000, efficiency = 0.5 } } }, { links = mode })
    takes(4 * hops + 6, { latency_by_size = { { bytes = 10, latency = "3 us" }, { bytes = 5000, latency = "9 us" } } },
      { links = mode })
    takes(4 * hops, { half_size = 1000, load = 0.5 }, { links = mode, ideal_links = true })
  end
  takes(16, {}, { links = "shared", flow_limit = "250 MB/s" })
end)

claim("a limit of flows is refused where there are none, and where it cannot be one", function()
  local function problem(o)
    return function() step(pair(), o) end
  end
  local p = "soapstone.problem: flow_limit is "
  fails(p .. "of messages that share links, and links are fifo-path", problem { links = "fifo-path", flow_limit = "1 GB/s" })
  fails(p .. "-1e+09 B/s: it must be 0 (none) or more", problem { links = "shared", flow_limit = "-1 GB/s" })
  fails(p .. "of one message, and aggregate makes one flow", problem { links = "shared", flow_limit = "1 GB/s",
    sync = "ring", aggregate = true, training = true })
  fails("option 'flow_limit' = 25 means 25 B/s", problem { links = "shared", flow_limit = 25 })
end)

claim("a host that stages stores a message, or each segment of it, before it goes on", function()
  local function takes(us, options)
    equal(("%.9f"):format(step(pair({}, { stages = true }), options).step_time * 1e6), ("%.9f"):format(us))
  end
  takes(8, { links = "shared" })
  takes(8, { links = "fifo-path" })
  takes(5, { links = "fifo-path", segment = 1000 })
  takes(5, { links = "shared", segment = 1000 })
  takes(20, { links = "shared", segment = 1000, flow_limit = "250 MB/s" })
  takes(4, { links = "shared", ideal_links = true })
  local r = step(pair({}, { stages = true }), { links = "shared", segment = 1000 })
  equal(r.bytes_moved, 4000)
  check.contains(r.assumptions, "staging at 1 node")
end)

claim("what was in force is said, and a link can be changed later", function()
  local t = pair()
  equal(t:set_link("host", { half_size = "1 kB", load = 0.25 }), 4)
  t:set_link("a->host", { half_size = 0, load = 0 })
  check.contains(step(t, { links = "shared" }).assumptions,
    "A2 broken: bandwidth shared max-min, links shared, efficiency by size of 3 links, load of up to 25% on 3 links")
  check.contains(step(t, { ideal_links = true }).assumptions,
    "A2 full bandwidth, links fifo-hop, what its links fall short of is left aside")
end)

claim("lists of links, switches and given routes have what was given, and serve as options again", function()
  local law = { efficiency = { { bytes = "1 kB", efficiency = 0.25 }, { bytes = 3000, efficiency = 0.75 } }, load = 0.125,
    latency_by_size = { { bytes = 10, latency = "3 us" } } }
  local t = pair(law, { stages = true })
  t:set_link("a->host", { half_size = "2 kB" })
  t:route("a", "b", { 1, 3 }, { weight = 7, limit = "25 GB/s" })
  local l = t:link_list()
  equal(l[1].half_size, 2000.0)
  equal(l[1].efficiency, nil)
  equal(l[3].half_size, nil)
  equal(l[3].efficiency[2].bytes, 3000.0)
  equal(l[3].efficiency[2].efficiency, 0.75)
  equal(l[3].latency_by_size[1].latency, 3e-6)
  equal(l[4].load, 0.125)
  equal(pair():link_list()[1].load, nil)
  local again = pair { efficiency = l[3].efficiency, latency_by_size = l[3].latency_by_size, load = l[3].load }
  equal(step(again, { links = "shared" }).step_time, step(pair(law), { links = "shared" }).step_time)
  local s, r = t:switch_list(), t:route_list()
  equal(#s, 1)
  equal(s[1].name .. " " .. tostring(s[1].stages) .. " " .. tostring(s[1].failed), "host true false")
  equal(#r, 1)
  equal(r[1].from .. " " .. r[1].to .. " " .. table.concat(r[1].links, " "), "a b 1 3")
  equal(r[1].weight, 7)
  equal(r[1].limit, 25e9)
end)

claim("problems, collectives and runs say the same of the same links", function()
  local links = "A2 broken: bandwidth shared max-min, links shared, efficiency by size of 3 links, latency by size of 4 "
    .. "links, load of up to 30% on 4 links, staging at 1 node, weight of up to 7 on 1 route; A3 FIFO"
  local ideal = "A2 full bandwidth, links fifo-path, what its links fall short of is left aside; A3 FIFO"
  local function slow()
    local t = pair({ half_size = 1000, load = 0.3, latency_by_size = { { bytes = 1, latency = "3 us" } } }, { stages = true })
    t:set_link("host->b", { half_size = 0 })
    t:route("a", "b", { 1, 3 }, { weight = 7 })
    return t
  end
  local function collective(o)
    o.topology, o.operation, o.bytes = slow(), "p2p", 4000
    return soapstone.collective(o).result.assumptions
  end
  check.contains(step(slow(), { links = "shared" }).assumptions, links)
  check.contains(collective { links = "shared" }, links)
  check.contains(soapstone.run({ topology = slow(), links = "shared" }):finish().assumptions, links)
  check.contains(step(slow(), { links = "fifo-path", ideal_links = true }).assumptions, ideal)
  check.contains(collective { links = "fifo-path", ideal_links = true }, ideal)
  check.contains(collective { links = "fifo-path", segment = 500 }, "; segments of 500 B, at most 16")
end)

claim("devices that share an adapter share what it can inject, and a bus is one for both directions", function()
  local t = soapstone.topology.new { name = "nic" }
  local nic, far = t:switch "nic", t:device("far", { kind = "p100" })
  for i = 1, 2 do t:link(t:device("near" .. i, { kind = "p100" }), nic, { bandwidth = "10 GB/s" }) end
  t:link(nic, far, { bandwidth = "1 GB/s" })
  local run = soapstone.run { topology = t, links = "shared" }
  local a, b = run:send("near1", "far", 1000), run:send("near2", "far", 1000)
  run:finish()
  equal(run:task(a).finish, 2e-6)
  equal(run:task(b).finish, 2e-6)
  local bus = soapstone.topology.new { name = "bus" }
  bus:link(bus:device("a", { kind = "p100" }), bus:device("b", { kind = "p100" }),
    { bandwidth = "1 GB/s", duplex = "half" })
  local there_and_back = soapstone.run { topology = bus, links = "shared" }
  there_and_back:send("a", "b", 1000)
  local back = there_and_back:send("b", "a", 1000)
  there_and_back:finish()
  equal(there_and_back:task(back).finish, 2e-6)
end)

claim("a route may have a limit for each of its messages", function()
  local t = pair()
  fails("option 'limit' = 25 means 25 B/s", t.route, t, "a", "b", { 1, 3 }, { limit = 25 })
  fails("unknown option 'limmit'; did you mean 'limit'?", t.route, t, "a", "b", { 1, 3 }, { limmit = 25 })
  t:route("a", "b", { 1, 3 }, { limit = "250 MB/s" })
  local r = step(t, { links = "shared" })
  check.near(r.step_time, 16e-6)
  check.contains(r.assumptions, "links shared, 1 route with a limit;")
  check.near(step(t, { links = "shared", flow_limit = "125 MB/s" }).step_time, 32e-6)
  check.near(step(t, { links = "shared", flow_limit = "500 MB/s" }).step_time, 16e-6)
  check.near(step(t, { links = "fifo-path" }).step_time, 4e-6)
  local run = soapstone.run { topology = t, links = "shared" }
  local limited, back = run:send("a", "b", 4000), run:send("b", "a", 4000)
  run:finish()
  check.near(run:task(limited).finish, 16e-6)
  check.near(run:task(back).finish, 4e-6)
  local c = soapstone.collective { topology = t, links = "shared", operation = "p2p", bytes = 4000 }
  check.near(c.time, 16e-6)
  check.near(c.closed_form, 16e-6)
end)

claim("a route may weigh more than another", function()
  local t = pair()
  t:route("a", "b", { 1, 3 }, { weight = 3 })
  equal(step(t, { links = "shared" }).step_time, 4e-6)
end)

claim("what a script sends weighs as its route does, and is stored where nodes stage", function()
  local t = soapstone.topology.new { name = "weighed" }
  local d, e = t:switch "d", t:device("e", { kind = "p100" })
  local up = t:link(t:device("a1", { kind = "p100" }), d, { bandwidth = "40 GB/s" })
  t:link(t:device("a2", { kind = "p100" }), d, { bandwidth = "40 GB/s" })
  local on = t:link(d, e, { bandwidth = "10 GB/s" })
  t:route("a1", "e", { up, on }, { weight = 3 })
  local run = soapstone.run { topology = t, links = "shared" }
  local heavy, light = run:send("a1", "e", 7500), run:send("a2", "e", 7500)
  equal(run:task(heavy).rate, 7.5e9)
  equal(run:task(light).rate, 2.5e9)
  run:finish()
  equal(run:task(light).finish, 1.5e-6)
  for _, mode in ipairs { "fifo-path", "shared" } do
    local staged = soapstone.topology.new { name = "staged" }
    local a, b = staged:device("a", { kind = "p100" }), staged:device("b", { kind = "p100" })
    local host = staged:switch("host", { stages = true })
    staged:link(a, host, { bandwidth = "4 GB/s", latency = "1 us" })
    staged:link(host, b, { bandwidth = "2 GB/s", latency = "3 us" })
    local sends = soapstone.run { topology = staged, links = mode }
    local task = sends:send("a", "b", 8000)
    sends:finish()
    equal(sends:task(task).finish, 10e-6) -- 1 + 2 us, then 3 + 4
  end
end)

claim("segments of a message have one message's share and limit, and are passed on as they come", function()
  for _, mode in ipairs { "fifo-path", "shared" } do
    local t = soapstone.topology.new { name = "staged" }
    local a, b = t:device("a", { kind = "p100" }), t:device("b", { kind = "p100" })
    local host = t:switch("host", { stages = true })
    t:link(a, host, { bandwidth = "10 GB/s", latency = "1 ms" })
    t:link(host, b, { bandwidth = "5 GB/s", latency = "2 ms" })
    local c = soapstone.collective { topology = t, links = mode, operation = "p2p", bytes = 1e9, devices = { 1, 2 },
      segment = "250 MB" }
    equal(("%.9f"):format(c.time), "0.234000000") -- 26 ms, then four times 52
  end
end)

claim("a link that changes on the way changes what a message of a size can have of it", function()
  for _, mode in ipairs { "fifo-path", "shared" } do
    local function sent(share, half_size)
      local t = soapstone.topology.new { name = "half" }
      t:link(t:device("a", { kind = "p100" }), t:device("b", { kind = "p100" }),
        { bandwidth = "1 GB/s", half_size = half_size })
      local run = soapstone.run { topology = t, links = mode }
      if share then run:set_link("a->b", { share = share }) end
      local first = run:send("a", "b", 3000)
      run:advance(1e-6)
      if share then run:set_link("a->b", { bandwidth = "1 GB/s" }) end
      run:finish()
      return run:task(first).finish * 1e6
    end
    equal(("%.5f"):format(sent(nil, 1000)), "4.00000")
    equal(("%.5f"):format(sent(0.25, 1000)), "4.75000")
    equal(("%.5f"):format(sent(4, 1000)), "1.00000")
  end
end)

claim("what is too slow for any time is named, with what it is on", function()
  for _, mode in ipairs { "fifo-hop", "fifo-path", "shared" } do
    local t = soapstone.topology.new { name = "slow" }
    t:link(t:device("a", { kind = "p100" }), t:device("b", { kind = "p100" }), { bandwidth = "10 GB/s" })
    local run = soapstone.run { topology = t, links = mode }
    run:send("a", "b", 1e6, { name = "weights" })
    run:set_link("a->b", { share = 1e-12 })
    fails("transfer 'weights' would end later than 106 days after the start, which times cannot hold; it is on link a->b", run.finish, run)
  end
  local t = soapstone.topology.new { name = "far apart" }
  t:link(t:device("a", { kind = "p100" }), t:device("b", { kind = "p100" }), { bandwidth = "1 B/s" })
  t:link("a", t:device("c", { kind = "p100" }), { bandwidth = 1e18 })
  local run = soapstone.run { topology = t, links = "shared" }
  run:send("a", "b", 10)
  fails("cannot hold (rates are whole multiples of about 2^-57 of the fastest link's); it is on link a->b", run.finish, run)
end)

check.done()
