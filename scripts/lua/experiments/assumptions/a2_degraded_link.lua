-- a2_degraded_link.lua - one cable at a part of its bandwidth: which strategies suffer, and does it matter when?
--
--   soapstone run scripts/lua/experiments/assumptions/a2_degraded_link.lua [FOLDER] [--long]
--
-- A2 takes every link at its full bandwidth.  First the cable of one device has a half, a quarter, ... of it; the step
-- time of each strategy is compared with that of sound cables.  Then it falls to a quarter in the middle of a step, by
-- events, at a share of the sound step time.

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a2_degraded_link.lua: step times with one slow cable, by strategy, by how slow it is and by when it became so.", {
  network = "nmt", devices = options.count(16, { min = 4 }), sync = "ring", topology = common.topology "fat_tree", shares = "0.5,0.25,0.125,0.0625", quarter_at = "0,0.2,0.4,0.6,0.8",
  proposals = options.count(60, { min = 0 }), runs = options.count(1, { min = 0 }),
}, { devices = 32, proposals = 500, runs = 4 }, { network = "mlp", devices = 4, shares = "0.25", quarter_at = "0.5", proposals = 5 })

local shares, moments = arguments.numbers("shares", o.shares, 1e-4), arguments.numbers("quarter_at", o.quarter_at, 0)
local cells = {}
for i, share in ipairs(shares) do cells[i] = { share = share } end
for _, moment in ipairs(moments) do cells[#cells + 1] = { moment = moment } end

local network = common.network(o.network)
local CABLE = common.cluster(o.topology, network, o.devices):device_list()[1].name -- all its links: of a fat tree one cable, both ways

local function problem(share, events)
  local tree = common.cluster(o.topology, network, o.devices)
  if share then tree:set_link(CABLE, { share = share }) end
  return soapstone.problem { model = common.model(network, o.devices), topology = tree, sync = o.sync, links = "shared",
    coalesce = "per_device", events = events }
end

local results = trial.sweep(cells, function(cell)
  local sound = problem()
  local strategies = trial.strategies(sound)
  if cell.share then
    local verdict = trial.compare { simple = sound, broken = problem(cell.share), strategies = strategies, proposals = o.proposals,
      seed = o.seed, runs = o.runs }
    return verdict
  end
  local slowed = {}
  for i, strategy in ipairs(strategies) do
    local before = sound:simulate(strategy).step_time
    local late = problem(nil, { { at = cell.moment * before, link = CABLE, share = 0.25 } })
    slowed[i] = { name = strategy.name, times = late:simulate(trial.onto(late, strategy)).step_time / before }
  end
  return slowed
end, { workers = o.workers })

local rows, by_share, by_moment = {}, {}, {} -- curves of splits apart lie on those of neighbours, and are left to the table
local function add(list, name, x, y)
  for _, curve in ipairs(list) do
    if curve.label == name then
      table.insert(curve.x, x)
      table.insert(curve.y, y)
      return
    end
  end
  list[#list + 1] = { label = name, x = { x }, y = { y }, look = "both", colour = #list + 1 }
end
for i, cell in ipairs(cells) do
  for _, row in ipairs(cell.share and results[i].rows or results[i]) do
    local times = row.times or row.broken / row.simple
    rows[#rows + 1] = { cell.share or 0.25, cell.moment or 0, row.name, ("%.3f"):format(times) }
    if not row.name:find "apart" then add(cell.share and by_share or by_moment, row.name, cell.share or cell.moment, times) end
  end
end
print(report.table({ "cable at", "from (share of the step)", "strategy", "times slower" }, rows))

report.draw("lines", by_share, o.folder .. "/a2-degraded-link.svg", { title = ("One slow cable, %s on %d devices"):format(network.name, o.devices),
  xlabel = "bandwidth left of one cable (share)", logx = true, ylabel = "times slower", logy = true, width = 5 })
report.draw("lines", by_moment, o.folder .. "/a2-degraded-link-when.svg", { title = ("A cable falls to a quarter, %s on %d devices"):format(network.name, o.devices),
  xlabel = "when, as a share of the sound step", ylabel = "times slower", width = 5 })

local least, most, share, verdict
for i, cell in ipairs(cells) do
  if cell.share and (not share or math.abs(cell.share - 0.25) < math.abs(share - 0.25)) then share, verdict = cell.share, results[i] end
end
for _, row in ipairs(verdict.rows) do
  row.times = row.broken / row.simple
  if not least or row.times < least.times then least = row end
  if not most or row.times > most.times then most = row end
end
trial.result("with the cable of one of %d devices at %g of its bandwidth a step of %s takes %.2f times as long with %s and %.2f times with %s; the order of strategies has a tau of %.2f with that of sound cables, and choosing as if all were sound costs %s.",
  o.devices, share, network.name, least.times, least.name, most.times, most.name, verdict.tau or 0 / 0, common.percent(verdict.regret))
