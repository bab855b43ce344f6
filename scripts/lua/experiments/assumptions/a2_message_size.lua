-- a2_message_size.lua - from which half size on does it matter that small messages get less of a link?
--
--   soapstone run scripts/lua/experiments/assumptions/a2_message_size.lua [FOLDER] [--long]
--
-- A2 says that a message has the full bandwidth whatever its size.  Measured links give s / (s + half size) of it: one
-- adapter of 200 Gb/s reaches half of its peak at 16 KiB, an all-reduce in a machine at 10 to 32 MiB.  Every link of a
-- fat tree gets a half size, swept; the simple problem is the same with `ideal_links`.  Both share their links.

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a2_message_size.lua: error, order and regret of full bandwidth for every size, by half size of the links.", {
  networks = "alexnet,nmt,inception_v3", devices = options.count(16, { min = 2 }), sync = "ring", topology = common.topology "fat_tree",
  half_sizes = "16384,262144,1048576,4194304,16777216,67108864",
  proposals = options.count(20, { min = 0 }), runs = options.count(1, { min = 0 }),
}, { devices = 32, proposals = 300, runs = 4, half_sizes = "1024,4096,16384,65536,262144,1048576,4194304,16777216,67108864" }, { networks = "mlp", devices = 8, half_sizes = "65536,4194304", proposals = 5 })

local cells = common.cells({ "network", arguments.some("networks", o.networks, common.networks) },
  { "half_size", arguments.numbers("half_sizes", o.half_sizes, 1) })

local verdicts = trial.sweep(cells, function(cell)
  local network = common.network(cell.network)
  local tree = common.cluster(o.topology, network, o.devices)
  for link = 1, tree.links do tree:set_link(link, { half_size = cell.half_size }) end
  local given = { model = common.model(network, o.devices), topology = tree, sync = o.sync, links = "shared", coalesce = "per_device" }
  local broken = soapstone.problem(given)
  given.ideal_links = true
  local simple = soapstone.problem(given)
  return common.judge { simple = simple, broken = broken, strategies = trial.strategies(simple), proposals = o.proposals,
    seed = o.seed, runs = o.runs }
end, { workers = o.workers })

common.print_verdicts({ "network", "half_size" }, cells, verdicts)

for _, cell in ipairs(cells) do cell.kib = cell.half_size / 1024 end
local function panels(quantity, value)
  return common.curves(cells, verdicts, "kib", function(cell) return cell.network end, function() return quantity end, value)
end
local series = panels("step time too short by (%)", function(v) return -100 * v.error end)
for _, more in ipairs { panels("Kendall's tau", function(v) return v.tau end), panels("regret (%)", function(v) return 100 * v.regret end) } do
  table.move(more, 1, #more, #series + 1, series)
end
report.draw("lines", series, o.folder .. "/a2-message-size.svg", { title = ("Half size left out, %s of %d"):format(o.topology, o.devices),
  xlabel = "half size of every link (KiB)", logx = true, columns = 3, width = 7,
  note = "error in the median over strategies" })

-- where each network's median error passes 10 %
local passed, regretted = {}, {}
for _, curve in ipairs(panels("", function(v) return 1 / (1 + v.error) end)) do
  local line = {}
  for i in ipairs(curve.x) do line[i] = 1.1 end
  local at = trial.crossing(curve.x, curve.y, line, { log = true })[1]
  passed[#passed + 1] = ("%s %s"):format(curve.label, at and "at " .. soapstone.unit.show(1024 * at.at, "B") or
    (curve.y[1] > 1.1 and "before " .. soapstone.unit.show(1024 * curve.x[1], "B") or "nowhere"))
end
local worst, where = common.most(cells, verdicts, function(v) return v.regret end)
trial.result("on %d devices the median step time is 10 %% longer than with full bandwidth for all sizes: %s; choosing without a half size costs at most %s (%s, half size %s), with a tau of %.2f there.",
  o.devices, table.concat(passed, ", "), common.percent(worst.regret), where.network, soapstone.unit.show(where.half_size, "B"), worst.tau or 0 / 0)
