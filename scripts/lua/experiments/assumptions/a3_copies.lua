-- a3_copies.lua - what if copies and computations get in each other's way?
--
--   soapstone run scripts/lua/experiments/assumptions/a3_copies.lua [FOLDER] [--long]
--
-- The simple model lets a device compute at full speed while messages leave and reach it.  The profiles of one planner
-- (Galvatron) put a factor of 1.126 on what overlaps.  Here the speed under copies is swept from 1 down, and at the end
-- copies block the device altogether (it has no copy engine).

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a3_copies.lua: error, order and regret of computing undisturbed by copies, by how much they disturb.", {
  networks = "alexnet,nmt,inception_v3", devices = options.count(8, { min = 2 }), sync = "ring", topology = common.topology "p100_cluster", speeds = "0.95,0.9,0.85,0.8,0.7,0.6,0.5",
  proposals = options.count(40, { min = 0 }), runs = options.count(1, { min = 0 }),
}, { devices = 16, proposals = 500, runs = 4 }, { networks = "mlp", devices = 4, speeds = "0.8", proposals = 5 })

local speeds = arguments.numbers("speeds", o.speeds, 1e-3)
speeds[#speeds + 1] = 0 -- stands for copies that block
local cells = common.cells({ "network", arguments.some("networks", o.networks, common.networks) }, { "speed", speeds })

local verdicts = trial.sweep(cells, function(cell)
  local network = common.network(cell.network)
  local given = { model = common.model(network, o.devices), topology = common.cluster(o.topology, network, o.devices), sync = o.sync, coalesce = "per_device" }
  local simple = soapstone.problem(given)
  if cell.speed == 0 then given.copies_block = true else given.slowed_by_copies = cell.speed end
  return common.judge { simple = simple, broken = soapstone.problem(given), strategies = trial.strategies(simple),
    proposals = o.proposals, seed = o.seed, runs = o.runs }
end, { workers = o.workers })

common.print_verdicts({ "network", "speed" }, cells, verdicts)

local slowed, blocked = { {}, {} }, { {}, {} }
for i, cell in ipairs(cells) do
  local list = cell.speed > 0 and slowed or blocked
  table.insert(list[1], cell)
  table.insert(list[2], verdicts[i])
end
local function panels(quantity, value)
  local curves = common.curves(slowed[1], slowed[2], "speed", function(cell) return cell.network end, function() return quantity end, value)
  local points = common.curves(blocked[1], blocked[2], "speed", function(cell) return cell.network end, function() return quantity end, value)
  for i, point in ipairs(points) do point.label, point.look, point.x[1], point.colour = nil, "points", 0.45, curves[i].colour end
  return table.move(points, 1, #points, #curves + 1, curves)
end
local series = panels("step time / undisturbed", function(v) return 1 / (1 + v.error) end)
for _, more in ipairs { panels("Kendall's tau", function(v) return v.tau end), panels("regret (%)", function(v) return 100 * v.regret end) } do
  table.move(more, 1, #more, #series + 1, series)
end
report.draw("lines", series, o.folder .. "/a3-copies.svg", { title = ("Copies that slow the device, %d in %s"):format(o.devices, o.topology),
  xlabel = "speed of a device while it copies", columns = 3, width = 7, note = "single points at 0.45: copies block the device" })

local parts = {}
for k, cell in ipairs(blocked[1]) do
  local v = blocked[2][k]
  local at_eight
  for i, other in ipairs(slowed[1]) do
    if other.network == cell.network and (not at_eight or math.abs(other.speed - 0.8) < math.abs(at_eight[1] - 0.8)) then
      at_eight = { other.speed, slowed[2][i] }
    end
  end
  parts[k] = ("%s %s at a speed of %g and %s when copies block (tau %.2f, regret %s)"):format(cell.network,
    common.percent(1 / (1 + at_eight[2].error) - 1), at_eight[1], common.percent(1 / (1 + v.error) - 1), v.tau or 0 / 0, common.percent(v.regret))
end
trial.result("copies that disturb computing make steps longer in the median: %s.", table.concat(parts, ", "))
