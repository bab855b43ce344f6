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
