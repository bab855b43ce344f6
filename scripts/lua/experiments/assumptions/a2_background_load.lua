-- a2_background_load.lua - how much load of others does a choice of strategy survive?
--
--   soapstone run scripts/lua/experiments/assumptions/a2_background_load.lua [FOLDER] [--long]
--
-- A2 leaves a job its network.  Here others take a part of the links between leaves and spines of a fat tree, all the
-- time (`load`), swept; the simple problem is the same without them (`ideal_links`).

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a2_background_load.lua: error, order and regret of a network of one's own, by load of the links between switches.", {
  networks = "alexnet,nmt,inception_v3", devices = options.count(16, { min = 16 }), sync = "ring", loads = "0.1,0.3,0.5,0.7,0.8,0.9,0.95",
  proposals = options.count(20, { min = 0 }), runs = options.count(1, { min = 0 }),
}, { devices = 32, proposals = 300, runs = 4 }, { networks = "mlp", loads = "0.5,0.9", proposals = 3 })

local cells = common.cells({ "network", arguments.some("networks", o.networks, common.networks) },
  { "load", arguments.numbers("loads", o.loads, 0) })

local verdicts = trial.sweep(cells, function(cell)
  local network = common.network(cell.network)
  local tree = common.fat_tree(network, o.devices)
  for spine = 1, 4 do tree:set_link("spine" .. spine, { load = cell.load }) end
  local given = { model = common.model(network, o.devices), topology = tree, sync = o.sync, links = "shared", coalesce = "per_device" }
  local broken = soapstone.problem(given)
  given.ideal_links = true
  local simple = soapstone.problem(given)
  local verdict = common.judge { simple = simple, broken = broken, strategies = trial.strategies(simple),
    proposals = o.proposals, seed = o.seed, runs = o.runs }
  return verdict
end, { workers = o.workers })

common.print_verdicts({ "network", "load" }, cells, verdicts)

local function panels(quantity, value)
  return common.curves(cells, verdicts, "load", function(cell) return cell.network end, function() return quantity end, value)
end
local series = panels("step time with load / without", function(v) return 1 / (1 + v.error) end)
for _, more in ipairs { panels("Kendall's tau", function(v) return v.tau end), panels("regret (%)", function(v) return 100 * v.regret end) } do
  table.move(more, 1, #more, #series + 1, series)
end
report.draw("lines", series, o.folder .. "/a2-background-load.svg", { title = ("Load of others left out, %d devices"):format(o.devices),
  xlabel = "share of the links between switches that others take", columns = 3, width = 7, from_x = 0, to_x = 1 })

local parts = {}
for _, curve in ipairs(panels("", function(v) return v.regret end)) do
  parts[#parts + 1] = ("%s %s"):format(curve.label, common.passes(curve, 0.05))
end
local worst, where = common.most(cells, verdicts, function(v) return v.regret end)
local heaviest, at = common.most(cells, verdicts, function(v) return 1 / (1 + v.error) end)
trial.result("on %d devices a choice made without the load of others costs more than 5 %% of a step from these loads on: %s; at most %s (%s, load %g), while step times grow by up to %.1f times in the median (%s, load %g).",
  o.devices, table.concat(parts, ", "), common.percent(worst.regret), where.network, where.load, 1 / (1 + heaviest.error), at.network, at.load)
