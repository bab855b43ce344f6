-- fat_tree.lua - leaves of devices, joined by as many levels of switches as wanted, with several ways up.
--
--   require "topologies.fat_tree" { radix = 16, levels = 3 }       -- 1024 devices, k-ary
--   require "topologies.fat_tree" { down = { 32, 16 }, up = { 8 }, oversubscription = 4 }
--
-- A k-ary fat tree of switches with `radix` ports: half of a switch's ports lead down and half up, and all
-- ports of the top lead down (Al-Fares et al., SIGCOMM 2008; radix^3 / 4 devices with three levels).  Or a shape
-- by hand: down[l] is how many devices (l = 1) or switches below each switch of level l has, up[l] how many of
-- the next level it is joined to (Ohring et al., Generalized fat trees, IPPS 1995).  All ways up of a switch
-- together carry what comes from below divided by `oversubscription`, a number or a list with one for each level:
-- 1 never blocks.  Routes are spread by ecmp unless told otherwise, since the first of several ways up would
-- carry all else.  The devices of a leaf are a machine, or every `per_machine` of them.
--
--   bandwidth       a 400 Gb/s port (64 of them: NVIDIA Quantum-2), less the 4 % that an adapter of 200 Gb/s
--                   loses (23.97 GB/s of 25, measured on Slingshot), which is assumed to hold
--   latency         507 ns for a network adapter: FlexFlow's machine_config_example, 2021
--   switch_latency  350 ns from switch to switch (assumed; such switches are sold with 130 to 400 ns)

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local topology = require "soapstone.topology"

local function checked(name, list)
  for l, n in ipairs(list) do
    if math.type(n) ~= "integer" or n < 1 or n > 1000000 then
      options.refuse("option '%s': entry %d is %s; whole numbers from 1 to 1000000 are wanted", name, l, n)
    end
  end
  return list
end

-- The number of devices, if all that there would be is not too much.  A switch of level l stands for down[1] * ... *
-- down[l] devices, up[1] * ... * up[l - 1] times.
local function refuse_size(down, up)
  local devices = 1.0
  for _, n in ipairs(down) do devices = devices * n end
  local groups, copies, switches, links = devices, 1.0, 0.0, 2 * devices
  for l, n in ipairs(down) do
    groups, copies = groups / n, l > 1 and copies * up[l - 1] or 1
    switches = switches + groups * copies
    links = links + 2 * groups * copies * (up[l] or 0)
  end
  fabric.refuse_size(devices, switches, links)
  return math.tointeger(devices)
end

-- How many there are below and above a switch of each level.
local function shape(o)
  local down, up = {}, {}
  if #o.down > 0 then
    down, up = checked("down", o.down), checked("up", o.up)
    for _, name in ipairs { "radix", "levels" } do
      if options.is_given(o, name) then
        options.refuse("option '%s' is for trees of switches with so many ports; this one is given by 'down' and 'up'", name)
      end
    end
    if #up ~= #down - 1 then
      options.refuse("option 'up' has %d entries, and 'down' %d; every level but the top has ways up", #up, #down)
    end
  elseif #o.up > 0 then
    options.refuse "option 'up' needs 'down': { 32, 16 } is 16 leaves of 32 devices"
  else
    if o.radix % 2 == 1 then options.refuse("option 'radix' is %d; half of the ports lead down, so it must be even", o.radix) end
    for l = 1, o.levels do
      down[l] = l < o.levels and o.radix // 2 or o.radix
      if l < o.levels then up[l] = o.radix // 2 end
    end
    if o.levels == 1 then down[1] = o.radix end
  end
  return down, up, refuse_size(down, up)
end

local function name_of(level, levels, group, groups, copy)
  if level == 1 then return "leaf" .. group end
  if level == levels then return (levels == 2 and "spine" or "core") .. copy end
  if level == 2 then return ("pod%d.spine%d"):format(group, copy) end
  return groups == 1 and ("level%d.%d"):format(level, copy) or ("level%d.%d.%d"):format(level, group, copy)
end

return function(o)
  o = options(o, {
    radix = options.count(8, { min = 2, max = 4096 }), levels = options.count(2, { min = 1, max = 8 }),
    down = options.list({}, "whole numbers, what is below a switch of each level"),
    up = options.list({}, "whole numbers, the ways up from each level but the top"),
    oversubscription = options.any(1, "a number, or a list with one for each level, 0.001 to 1e6"), kind = "h100",
    per_machine = options.count(nil, { min = 1, unless = "the devices of a leaf unless given" }),
    bandwidth = fabric.bandwidth("48 GB/s"),
    latency = fabric.latency("507 ns"),
    switch_latency = options.any("350 ns", "a time, or a list with one for each level"),
    routing = options.choice("ecmp", { "shortest", "ecmp" }), routing_seed = 0,
  })
  local down, up, devices = shape(o)
  local levels = #down
  local over = fabric.by_level("oversubscription", o.oversubscription, levels - 1, fabric.factor)
  local latency = fabric.by_level("switch_latency", o.switch_latency, levels - 1, fabric.seconds)
  local t = topology.new { name = "fat_tree", routing = o.routing, routing_seed = o.routing_seed }

  local leaves, groups = {}, devices // down[1]
  local per_machine = o.per_machine or down[1]
  local leg = fabric.cable { bandwidth = o.bandwidth, latency = o.latency }
  for leaf = 1, groups do
    leaves[leaf] = { t:switch(name_of(1, levels, leaf, groups, 1)) }
    for d = (leaf - 1) * down[1] + 1, leaf * down[1] do
      local device = t:device("d" .. d, { kind = o.kind, machine = (d - 1) // per_machine + 1 })
      t:link(device, leaves[leaf][1], leg)
    end
  end

  -- below[g] are the switches of a group: they have the same devices below them.  Each copy of a group's switches
  -- has switches of its own above it, up[l] of them, which it shares with the same copy of its sister groups.
  local below, bandwidth = leaves, o.bandwidth
  for l = 2, levels do
    local above = {}
    groups = groups // down[l]
    bandwidth = fabric.share(bandwidth * down[l - 1], up[l - 1], over[l - 1])
    local joint = fabric.cable { bandwidth = bandwidth, latency = latency[l - 1] }
    for g = 1, groups do
      above[g] = {}
      for copy = 1, #below[1] * up[l - 1] do
        above[g][copy] = t:switch(name_of(l, levels, g, groups, copy))
      end
    end
    for g, switches in ipairs(below) do
      for copy, switch in ipairs(switches) do
        for way = 1, up[l - 1] do
          t:link(switch, above[(g - 1) // down[l] + 1][(copy - 1) * up[l - 1] + way], joint)
        end
      end
    end
    below = above
  end
  return t
end
