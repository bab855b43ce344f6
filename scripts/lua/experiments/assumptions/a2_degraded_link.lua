-- a2_degraded_link.lua - one cable at a part of its bandwidth: which strategies suffer, and does it matter when?
--
--   soapstone run scripts/lua/experiments/assumptions/a2_degraded_link.lua [FOLDER] [--long]
--
-- A2 takes every link at its full bandwidth.  First the links of one device have a half, a quarter, ... of it, all the time.
-- Then (kind "late") they fall to a quarter in the middle of a step, by events, at a share of the fastest sound step.  The
-- simple problem has sound cables.

local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a2_degraded_link.lua: error, order and regret of sound cables, by how slow that of one device is and by when it became so.", {
  networks = "alexnet,nmt,inception_v3", topologies = "fat_tree,torus", devices = "8,16", most_inception = options.count(8), shares = "0.5,0.25,0.125,0.0625", quarter_at = "0.8,0.6,0.4,0.2,0",
  proposals = options.count(60, { min = 0 }), searches = options.count(3, { min = 1 }), runs = options.count(1, { min = 0 }),
}, { topologies = "fat_tree,torus,p100_cluster", devices = "8,16,32", most_inception = 32, proposals = 500, searches = 5, runs = 4 },
  { networks = "mlp", topologies = "fat_tree", devices = "4", shares = "0.25", quarter_at = "0.5", proposals = 5, searches = 2 })

local strengths = { slow = common.strengths("shares", o.shares, 1e-4, true), late = common.strengths("quarter_at", o.quarter_at, 0, true) }
local cells = common.groups(o, { "kind", { "slow", "late" } })

local results = trial.sweep(cells, function(cell)
  local function problem(share, events)
    local given = common.given(o, cell, { links = "shared", events = events })
    local device = given.topology:device_list()[1].name
    if share < 1 then given.topology:set_link(device, { share = share }) end -- all its links: of a fat tree one cable, both ways
    return soapstone.problem(given), device
  end
  local sound, device = problem(1)
  local function rows(short, verdict)
    short.times = {}
    for i, row in ipairs(verdict.rows) do short.times[i] = { row.name, row.broken / row.simple } end
  end
  if cell.kind == "slow" then
    return common.try(o, { simple = sound, at = function(share) return (problem(share)) end, x = strengths.slow, from = 1, log = true, more = rows })
  end
  local strategies, fastest = trial.strategies(sound), math.huge
  for _, strategy in ipairs(strategies) do fastest = math.min(fastest, sound:simulate(strategy).step_time) end
  return common.try(o, { simple = sound, strategies = strategies, x = strengths.late, from = 1, more = rows,
    at = function(moment) return (problem(1, { { at = moment * fastest, link = device, share = 0.25 } })) end })
end, { workers = o.workers, cost = common.cost })

for i, cell in ipairs(cells) do
  cell.x, cell.verdicts, cell.changes = strengths[cell.kind], results[i].verdicts, results[i].changes
end
local columns = { "network", "topology", "devices" }
local slow, late = common.those(cells, { kind = "slow" }), common.those(cells, { kind = "late" })
for _, part in ipairs { { slow, "share", "bandwidth left of one device's links" }, { late, "moment", "a quarter is left from this share of the fastest step on" } } do
  print((part[1] == late and "\n" or "") .. part[3])
  common.print_verdicts(columns, part[2], part[1])
  common.print_groups(columns, part[1], {})
end
-- how many times longer each strategy takes
local function by_strategy(groups)
  local rows = {}
  for _, group in ipairs(groups) do
    for k, row in ipairs(group.verdicts[1].times) do
      local line = { group.network, group.topology, group.devices, row[1] }
      for _, v in ipairs(group.verdicts) do line[#line + 1] = ("%.2f"):format(v.times[k][2]) end
      rows[#rows + 1] = line
    end
  end
  return rows
end
for _, part in ipairs { { slow, "share %g" }, { late, "from %g" } } do
  local head = { "network", "topology", "devices", "strategy" }
  for _, x in ipairs(part[1][1].x) do head[#head + 1] = part[2]:format(x) end
  print("\ntimes longer\n" .. report.table(head, by_strategy(part[1])))
end
common.draw(o, "a2-degraded-link", slow, { title = "The links of one device have lost bandwidth", xlabel = "share of the bandwidth that is left", logx = true })
common.draw(o, "a2-degraded-link-when", late, { title = "The links of one device fall to a quarter of their bandwidth during a step", xlabel = "when, as a share of the fastest step without a fault" })

-- the strategies that suffer least and most at a quarter, and the part of that which a late fault costs
local least, most, late_least, late_most
for _, group in ipairs(slow) do
  for i, share in ipairs(group.x) do
    for _, row in ipairs(share == 0.25 and group.verdicts[i].times or {}) do
      if not least or row[2] < least[2] then least = { row[1], row[2], group } end
      if not most or row[2] > most[2] then most = { row[1], row[2], group } end
    end
  end
end
for _, group in ipairs(late) do
  for i, moment in ipairs(group.x) do
    for _, row in ipairs(moment == group.x[1] and group.verdicts[i].times or {}) do
      late_least, late_most = math.min(late_least or row[2], row[2]), math.max(late_most or row[2], row[2])
    end
  end
end
local function of(row) return ("%.1f times (%s, %s on %d devices of %s)"):format(row[2], row[1], row[3].network, row[3].devices, row[3].topology) end
local late_dear, late_all = common.count(late, late[1].x[1])
trial.result("%sone that falls to a quarter after %g of the fastest step costs %.1f to %.1f times, with a regret above 5 %% in %d of %d; and not to know of a slow cable %s.",
  least and ("with the cable of one device at a quarter a step takes %s to %s as long, "):format(of(least), of(most)) or "", late[1].x[1], late_least, late_most, late_dear, late_all,
  common.conclusion(slow, {}))
