-- a3_copies.lua - what if copies and computations get in each other's way?
--
--   soapstone run scripts/lua/experiments/assumptions/a3_copies.lua [FOLDER] [--long]
--
-- The simple model lets a device compute at full speed while messages leave and reach it.  The profiles of one planner
-- (Galvatron) put a factor of 1.126 on what overlaps.  Here the speed under copies is swept from 1 down; and, beside it,
-- copies block the device altogether (it has no copy engine), by cluster size.  A message that waits for devices holds both
-- of its ends for every hop (fifo-hop), over switches too.

local options = require "soapstone.options"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a3_copies.lua: error, order and regret of computing undisturbed by copies, by how much they disturb.", {
  networks = "alexnet,nmt,inception_v3", topologies = "p100_cluster,fat_tree", devices = "4,8,16", speeds = "0.9,0.8,0.7,0.6,0.5", slowed_devices = "4,8",
  proposals = options.count(40, { min = 0 }), searches = options.count(3, { min = 1 }), runs = options.count(1, { min = 0 }),
}, { topologies = "p100_cluster,fat_tree,torus", devices = "4,8,16,32", slowed_devices = "8,16", proposals = 500, searches = 5, runs = 4 },
  { networks = "mlp", topologies = "p100_cluster", devices = "4", slowed_devices = "4", speeds = "0.8", proposals = 5, searches = 2 })

local speeds = common.strengths("speeds", o.speeds, 1e-3, true)
local cells = common.groups(o, { "kind", { "blocked" } })
local sizes = common.values(cells, "devices")
o.devices = o.slowed_devices
for _, cell in ipairs(common.groups(o, { "kind", { "slowed" } })) do cells[#cells + 1] = cell end

local results = trial.sweep(cells, function(cell)
  local given = common.given(o, cell)
  local simple = soapstone.problem(given)
  if cell.kind == "blocked" then
    given.copies_block = true
    return common.try(o, { simple = simple, at = function() return soapstone.problem(given) end, x = { cell.devices } })
  end
  local function at(speed)
    given.slowed_by_copies = speed
    return soapstone.problem(given)
  end
  return common.try(o, { simple = simple, at = at, x = speeds, from = 1 })
end, { workers = o.workers, cost = common.cost })

local slowed, blocked = {}, {}
for i, cell in ipairs(cells) do
  cell.x, cell.verdicts, cell.changes = speeds, results[i].verdicts, results[i].changes
  if cell.kind == "slowed" then slowed[#slowed + 1] = cell end
end
for _, topology in ipairs(common.values(cells, "topology")) do -- of these the number of devices is the strength
  for _, network in ipairs(common.values(cells, "network")) do
    local group = { topology = topology, network = network, x = sizes, verdicts = {}, changes = {} }
    for _, cell in ipairs(common.those(cells, { kind = "blocked", topology = topology, network = network })) do
      table.insert(group.verdicts, cell.verdicts[1])
    end
    blocked[#blocked + 1] = group
  end
end
local columns = { "network", "topology", "devices" }
print "devices slowed while they copy"
common.print_verdicts(columns, "speed", slowed)
common.print_groups(columns, slowed, {})
print "\ncopies block the device"
common.print_verdicts({ "network", "topology" }, "devices", blocked)
common.print_groups({ "network", "topology" }, blocked, {})
common.draw(o, "a3-copies", slowed, { title = "A device computes slower while it copies", xlabel = "speed of a device while it copies" })
common.draw(o, "a3-copies-blocked", blocked, { title = "A device cannot compute while it copies", xlabel = "devices", logx = true, ticks_at_values = true },
  function(group) return group.topology end)

local parts = {}
local function two(number) return ("%.2f"):format(number) end
for _, network in ipairs(common.values(blocked, "network")) do
  local least, most, low, high, noisy, dear, all = math.huge, 0, math.huge, -math.huge, 0, common.count(common.those(blocked, { network = network }))
  local worst
  for _, group in ipairs(common.those(blocked, { network = network })) do
    for _, v in ipairs(group.verdicts) do
      least, most = math.min(least, common.longer.value(v)), math.max(most, common.longer.value(v))
      low, high = math.min(low, v.tau or low), math.max(high, v.tau or high)
      if not v.told and v.most > 0 then noisy = noisy + 1 end
      if v.told and (not worst or v.regret > worst.regret) then worst = v end
    end
  end
  parts[#parts + 1] = ("%s %.1f to %.1f times (tau %s to %s; regret above 5 %% in %d of %d clusters%s, luck or noise in %d)"):format(network, least, most, two(low), two(high),
    dear, all, worst and (", at most %s, %s by search"):format(common.percent(worst.regret), common.least_to_most(worst)) or "", noisy)
end
local dear, all = common.count(slowed)
trial.result("copies that slow a device to %g make steps %s times longer in the median, with a regret above 5 %% in %d of %d; copies that block it: %s.", speeds[#speeds],
  common.span(slowed, common.longer.value, two), dear, all, table.concat(parts, ", "))
