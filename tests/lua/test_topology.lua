-- What a script sees of topologies, wrong input first.
local check = require "check"
local topology = require "soapstone.topology"

local fails, equal, claim = check.fails, check.equal, check.claim

local function pair()
  local t = topology.new { name = "pair" }
  local a = t:device("gpu0", { kind = "p100", machine = 1 })
  local b = t:device("gpu1", {
    kind = "mine", machine = 1, flops = { f32 = "9 TFLOP/s" },
    memory_bandwidth = "700 GB/s", memory = "15 GiB",
  })
  local s = t:switch "pcie"
  return t, a, b, s
end

claim("a topology needs a name and nothing else", function()
  fails("option 'name' is missing", topology.new, {})
  fails("unknown option 'nam'; did you mean 'name'?", topology.new, { nam = "x" })
  fails("a table of options, not a text", topology.new, "pair")
  fails("should be a text, not a number", topology.new, { name = 3 })
  fails("needs a name", topology.new, { name = "" })
end)

claim("a device's options are refused by name, unit and bound", function()
  local t = pair()
  fails("unknown option 'speeed'; did you mean 'speed'?", t.device, t, "g", { speeed = 2 })
  fails("option 'flops': unknown option 'f33'; did you mean 'f32'?", t.device, t, "g",
    { flops = { f33 = 1e12 } })
  fails("option 'flops.f32'", t.device, t, "g", { flops = { f32 = "9 TB/s" } })
  fails("option 'machine' is 1.5, which is not a whole number", t.device, t, "g", { machine = 1.5 })
  fails("option 'machine' is -2; it must be at least 0", t.device, t, "g", { machine = -2 })
  fails("option 'forwards' should be true or false", t.device, t, "g", { forwards = 1 })
  fails("option 'memory'", t.device, t, "g", { memory = "16 GiBB" })
  fails("has a device of that name", t.device, t, "gpu0", {})
  fails("the name should be a text, not nothing", t.device, t)
  equal(t.devices, 2)
end)

claim("a link says which end or figure is wrong", function()
  local t, a, b, s = pair()
  fails("unknown option 'bandwith'; did you mean 'bandwidth'?", t.link, t, a, b, { bandwith = 1e9 })
  fails("option 'bandwidth' is missing (bytes per second", t.link, t, a, b, {})
  fails("option 'bandwidth' is missing (bytes per second", t.link, t, a, b)
  fails("should be a number of bytes per second or a text such as \"25 GB/s\", not a boolean",
    t.link, t, a, b, { bandwidth = true })
  fails("unknown unit \"Gbs\"", t.link, t, a, b, { bandwidth = "12 Gbs" })
  fails("cannot be 'ful'; did you mean 'full'?", t.link, t, a, b, { bandwidth = 1e9, duplex = "ful" })
  fails("the second end should be what t:device or t:switch returned", t.link, t, a, 3,
    { bandwidth = 1e9 })
  fails("no device or switch 'gpu'; did you mean 'gpu", t.link, t, "gpu", b, { bandwidth = 1e9 })
  local other = topology.new { name = "other" }
  fails("belongs to another topology", t.link, t, a, other:switch "x", { bandwidth = 1e9 })
  fails("'link' was called on a number, not on a topology", t.link, 5, a, b, { bandwidth = 1e9 })
  equal(t.links, 0)
end)

claim("a route is a list of links that lead somewhere", function()
  local t, a, b, s = pair()
  local there = t:link(a, s, { bandwidth = "12 GB/s", latency = "1 us", kind = "pcie" })
  local back, forth = t:link(b, s, { bandwidth = "12 GB/s" })
  fails("takes a list of links", t.route, t, a, b, there)
  fails("there is no link 9", t.route, t, a, b, { 9 })
  fails("link 2 of the list should be a link", t.route, t, a, b, { there, s })
  fails("pcie is a switch, and a device is needed", t.route, t, a, s, { there })
  t:route(a, b, { there, forth })
  equal(table.concat(t:path(a, b), " "), there .. " " .. forth)
  equal(#t:path("gpu0", 2), 2)
  equal(#t:path(b, b), 0)
  fails("there is no device 7", t.path, t, 1, 7)
end)

claim("duplex decides how many links there are", function()
  local t, a, b = pair()
  local one, none = t:link(a, b, { bandwidth = 1e9, duplex = "half" })
  equal(one, 1)
  equal(none, nil)
  equal(select("#", t:link(a, b, { bandwidth = 1e9, duplex = "one_way" })), 1)
  equal(select("#", t:link(a, b, { bandwidth = 1e9 })), 2)
  equal(t.links, 4)
  equal(t:link_list()[1].half_duplex, true)
  equal(t:link_list()[3].name, "gpu0->gpu1#2")
end)

claim("kinds of the catalogue bring figures that can be overridden", function()
  local t = pair()
  t:device("slow", { kind = "p100", speed = 0.5, memory = 1e9, flops = { f16 = 3 } })
  local list = t:device_list()
  equal(list[1].memory, 16 * 2 ^ 30)
  equal(list[3].memory, 1e9)
  equal(list[3].speed, 0.5)
  equal(list[3].flops.f16, 3.0)
  equal(list[3].flops.f32, list[1].flops.f32)
  equal(list[2].flops.f32, 9e12)
  local names = {}
  for _, k in ipairs(topology.kinds()) do
    names[k.name] = true
    assert(#k.source > 10 and #k.summary > 3)
  end
  assert(names.p100 and names.k80 and names.v100 and names.a100 and names.h100)
end)

claim("nodes know their names and numbers", function()
  local t, a, b, s = pair()
  equal(a.name, "gpu0")
  equal(b.device, 2)
  equal(s.device, nil)
  equal(tostring(a), "device gpu0")
  equal(tostring(s), "switch pcie")
  equal(tostring(t), "topology pair: 2 devices, 1 switch, 0 links")
  fails("a node has no field or method 'nam'; did you mean 'name'?", function() return a.nam end)
  fails("a topology has no field or method 'deviec'; did you mean 'device'?",
    function() return t.deviec end)
  fails("'devices' cannot be assigned to", function() t.devices = 4 end)
end)

-- Two devices on either side of two spines.
local function fabric(options)
  options = options or {}
  local t = topology.new { name = "fabric", routing = options.routing, routing_seed = options.seed }
  local left, right = t:switch "left", t:switch "right"
  for i = 1, 2 do
    t:link(t:device("a" .. i, {}), left, { bandwidth = 1e9 })
    t:link(t:device("b" .. i, {}), right, { bandwidth = 1e9 })
    local spine = t:switch("spine" .. i)
    t:link(left, spine, { bandwidth = 8e9, latency = 3e-6 })
    t:link(right, spine, { bandwidth = 8e9, latency = 3e-6 })
  end
  return t, left, right
end

local function way(t, from, to)
  local names, list = {}, t:link_list()
  for i, link in ipairs(t:path(from, to)) do names[i] = list[link].name end
  return table.concat(names, " ")
end

claim("routings have names and seeds, and others are refused", function()
  local t = fabric()
  fails("option 'routing' cannot be 'ecpm'; did you mean 'ecmp'?", topology.new,
    { name = "x", routing = "ecpm" })
  fails("option 'routing_seed' is -1", topology.new, { name = "x", routing_seed = -1 })
  fails("option 'routing_seed'", topology.new, { name = "x", routing_seed = 1.5 })
  fails("the routing cannot be 'adaptive'", t.set_routing, t, "adaptive")
  fails("unknown option 'sed'; did you mean 'seed'?", t.set_routing, t, "ecmp", { sed = 1 })
  equal(t.routing .. t.routing_seed, "shortest0")
  t = topology.new { name = "x", routing = "ecmp", routing_seed = 11 }
  equal(t.routing .. t.routing_seed, "ecmp11")
  equal(tostring(t), "topology x: 0 devices, 0 switches, 0 links, routing ecmp (seed 11)")
  t:set_routing "shortest"
  equal(t.routing .. t.routing_seed, "shortest0")
end)

claim("ecmp uses every spine over the seeds, and path follows what is changed", function()
  local t, used = fabric(), {}
  equal(way(t, "a1", "b2"), "a1->left left->spine1 spine1->right right->b2")
  for seed = 1, 20 do
    t:set_routing("ecmp", { seed = seed })
    local there = way(t, "a1", "b2")
    used[there:match "spine%d"] = true
    equal(there, way(fabric { routing = "ecmp", seed = seed }, "a1", "b2"))
  end
  equal(check.keys(used), "spine1 spine2")
end)

claim("figures of links change, and of all links of a node", function()
  local t = fabric()
  fails("no link, device or switch 'spine3'; did you mean 'spine", t.set_link, t, "spine3", {})
  fails("no link, device or switch 'left->spine'", t.set_link, t, "left->spine", {})
  fails("there is no link 99", t.set_link, t, 99, {})
  fails("should be a link (its number or name) or a node, not a table", t.set_link, t, {}, {})
  fails("unknown option 'bandwith'; did you mean 'bandwidth'?", t.set_link, t, 1, { bandwith = 3 })
  fails("option 'bandwidth' = 25 means 25 B/s", t.set_link, t, 1, { bandwidth = 25 })
  fails("option 'latency' = 3 means 3 s", t.set_link, t, 1, { latency = 3 })
  fails("option 'bandwidth' is -1", t.set_link, t, 1, { bandwidth = -1 })
  fails("option 'latency' is -1", t.set_link, t, 1, { latency = -1 })
  fails("topology:set_link: option 'share' is 0; it must be above 0", t.set_link, t, 1, { share = 0 })
  fails("option 'share' is -1; it must be above 0", t.set_link, t, "left->spine1", { share = -1 })
  equal(t:set_link("left->spine1", { bandwidth = "2 GB/s", share = 0.5, latency = "5 us" }), 1)
  equal(t:set_link("spine2", { share = 0.25, weight = 3 }), 4)
  local by_name = {}
  for _, link in ipairs(t:link_list()) do by_name[link.name] = link end
  equal(by_name["left->spine1"].bandwidth, 1e9)
  check.near(by_name["left->spine1"].latency, 5e-6)
  equal(by_name["spine1->left"].bandwidth, 8e9)
  equal(by_name["spine2->right"].bandwidth, 2e9)
  equal(by_name["right->spine2"].weight, 3)
  equal(by_name["a1->left"].bandwidth, 1e9)
  -- The slower link keeps its routes, a heavier one does not.
  equal(way(t, "a1", "b1"), "a1->left left->spine1 spine1->right right->b1")
  t:set_link("spine1", { weight = 4 })
  equal(way(t, "a1", "b1"), "a1->left left->spine2 spine2->right right->b1")
end)

claim("routes go round what failed, or the pair is refused with its name", function()
  local t, left = fabric()
  fails("takes links and switches, and there are none", t.fail, t)
  fails("argument 2: topology fabric has no link, device or switch 'spine9'", t.fail, t, "spine1",
    "spine9")
  fails("device a1: switches and links can fail", t.fail, t, "spine1", "a1")
  equal(t.failed, 0)
  t:fail "spine1"
  equal(t.failed, 4)
  equal(tostring(t), "topology fabric: 4 devices, 4 switches, 16 links, 1 failure")
  equal(way(t, "a1", "b1"), "a1->left left->spine2 spine2->right right->b1")
  t:fail("left->spine2")
  fails("b1 cannot be reached from a1 any more: switch spine1, link left->spine2 failed", t.path, t,
    "a1", "b1")
  equal(#t:path("b1", "a1"), 4)
  equal(t:link_list()[t:path("b1", "a1")[1]].failed, false)
  t:restore "spine1"
  equal(way(t, "a1", "b1"), "a1->left left->spine1 spine1->right right->b1")
  t:restore "left->spine2"
  equal(t.failed, 0)
  t:fail(left)
  equal(t.failed, 8)
  fails("a2 cannot be reached from a1 any more: switch left failed", t.path, t, 1, 3)
end)

claim("a given route is not sent another way in silence", function()
  local t = fabric()
  local over = t:path("a1", "b1")
  t:route("a1", "b1", over)
  t:fail(over[2])
  fails("route a1 -> b1 was given over link left->spine1, which failed", t.path, t, "a1", "b1")
  fails("route a2 -> b1: its link 2, left->spine1, failed", t.route, t, "a2", "b1",
    { t:path("a2", "b1")[1], over[2], over[3], over[4] })
  equal(way(t, "a2", "b1"), "a2->left left->spine2 spine2->right right->b1")
end)

claim("a topology of a problem fails no more", function()
  local soapstone = require "soapstone"
  local small = require "small"
  local t = small.quad()
  local p <close> = soapstone.problem { model = small.net(), topology = t }
  for _, method in ipairs { "fail", "restore", "set_link", "set_routing" } do
    fails("belongs to a problem and can no longer change", t[method], t, 1)
  end
end)

claim("a closed topology says so", function()
  local t, a = pair()
  t:close()
  t:close()
  equal(tostring(t), "topology (closed)")
  fails("this topology is closed", t.switch, t, "x")
  fails("the topology of this node is closed", function() return a.name end)
  do
    local u <close> = topology.new { name = "u" }
    t = u
  end
  fails("this topology is closed", function() return t.links end)
end)

check.done()
