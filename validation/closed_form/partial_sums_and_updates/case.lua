-- Adding n gradients reads n and writes one, element by element; an update passes its weights so often as is said.
--
--   soapstone run validation/closed_form/partial_sums_and_updates/case.lua
--
-- The memory of every device passes 1 TB/s and nothing is launched, so a byte takes a picosecond: times are bytes.

local law = require "validation.closed_form.common"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"

local case = law.open("partial_sums_and_updates", { "what", "size" }, "B, in ps")

local element = 4

local function devices(n)
  local t = topology.new { name = "devices" }
  local switch = t:switch "switch"
  for i = 1, n do
    t:link(t:device("d" .. i, { kind = "mine", memory_bandwidth = "1 TB/s", flops = { f32 = "1 TFLOP/s" } }), switch,
      { bandwidth = "1 GB/s", latency = "1 us" })
  end
  return t
end

local function problem(net, n, options)
  options.model, options.topology = net, devices(n)
  options.costs = soapstone.costs.roofline { launch = 0, memory_efficiency = 1 }
  return soapstone.problem(options)
end

-- The picoseconds that tasks of a kind take, all together.
local function taken(r, kind)
  local sum, count = 0, 0
  for i = 1, r.tasks do
    local task = r:task(i)
    if task.kind == kind then
      sum, count = sum + law.picoseconds(task.finish) - law.picoseconds(task.start), count + 1
    end
  end
  return sum, count
end

-- A tensor that several operators read, all on one device: as many gradients of all of it.
for _, readers in ipairs { 1, 2, 3, 7 } do
  local net = soapstone.model.new { name = "read" }
  local x = net:linear("made", net:input("x", { 13, 11 }), { out = 17 })
  for i = 1, readers do net:linear("reader" .. i, x, { out = 5 }) end
  local p = problem(net, 2, { partial_sums = true, sync = "none" })
  local bytes = 13 * 17 * element
  case:equal({ "read by several", readers .. " readers" }, taken(p:simulate(p:strategy "whole"), "accumulate"),
    readers > 1 and (readers + 1) * bytes or 0)
end

-- Out features cut in k: each part reads all of its input and gives back a gradient of all of it.
for _, k in ipairs { 2, 3, 5 } do
  local net = soapstone.model.new { name = "cut" }
  net:linear("b", net:linear("a", net:input("x", { 12, 9 }), { out = 14 }), { out = 15 })
  local p = problem(net, 5, { partial_sums = true, sync = "none" })
  local s = p:strategy "whole"
  local placed = {}
  for i = 1, k do placed[i] = i end
  s:set("b", { degrees = { c = k }, devices = placed })
  local r = p:simulate(s)
  local bytes = 12 * 14 * element
  case:equal({ "cut by output feature", k .. " parts" }, taken(r, "accumulate"), (k + 1) * bytes)
  case:equal({ "gradients sent", k .. " parts" }, r.moved.gradient, (k - 1) * bytes)
end

-- Windows that overlap: the rows that two parts read have two gradients; the others have one, which is added to nothing.
for _, kernel in ipairs { 3, 5, 7 } do
  local parts, height, width = 4, 32, 10
  local net = soapstone.model.new { name = "halo" }
  local a = net:conv2d("a", net:input("x", { 2, 3, height, width }), { out = 6, kernel = 1 })
  net:conv2d("b", a, { out = 4, kernel = kernel, padding = kernel // 2 })
  local p = problem(net, parts, { partial_sums = true, sync = "none" })
  local s = p:strategy "whole"
  for _, name in ipairs { "a", "b" } do s:set(name, { degrees = { h = parts }, devices = { 1, 2, 3, 4 } }) end
  local row = 2 * 6 * width * element
  case:equal({ "halo", "kernel " .. kernel }, taken(p:simulate(s), "accumulate"), 3 * (parts - 1) * (kernel - 1) * row)
end

-- Updates: every holder its own copy, of what it holds.
local weights = (20 * 30 + 30) * element
for _, sync in ipairs { "ring", "halving_doubling", "parameter_server" } do
  for _, passes in ipairs { 3, 7 } do
    local holders = 4
    local net = soapstone.model.new { name = "updates" }
    net:linear("fc", net:input("x", { 16, 20 }), { out = 30 })
    local p = problem(net, holders, { sync = sync, update_passes = passes })
    local updated = taken(p:simulate(p:strategy "data_parallel"), "update")
    local copies = sync == "parameter_server" and 1 or holders
    case:equal({ "updates by " .. sync, passes .. " passes" }, updated, copies * passes * weights)
    -- cut by output feature, nobody has a copy, and all of it is updated once
    local s = p:strategy "whole"
    s:set("fc", { degrees = { c = 3 }, devices = { 1, 2, 3 } })
    case:equal({ "of parts by " .. sync, passes .. " passes" }, taken(p:simulate(s), "update"), passes * weights)
  end
end

-- Free, unless asked for.
local net = soapstone.model.new { name = "free" }
local x = net:linear("made", net:input("x", { 13, 11 }), { out = 17 })
for i = 1, 3 do net:linear("reader" .. i, x, { out = 5 }) end
local free = problem(net, 2, {})
local r = free:simulate(free:strategy "whole")
case:equal({ "free sums", "3 readers" }, taken(r, "accumulate"), 0)
case:equal({ "free updates", "3 readers" }, taken(r, "update"), 0)

case:close()
