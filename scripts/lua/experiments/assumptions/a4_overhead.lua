-- a4_overhead.lua - what does starting a task cost, and where do fine splits stop to pay?
--
--   soapstone run scripts/lua/experiments/assumptions/a4_overhead.lua [FOLDER] [--long]
--
-- A4 says that starting a task costs nothing.  Here each task that computes takes some microseconds more, swept; the
-- roofline's own launch time (a few microseconds, by kind of device) is set to nothing, so that the sweep says all of
-- it.  The crossing asks at which overhead half of what the best strategy gains over one device alone is lost.

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a4_overhead.lua: error, order and regret of free starts, by overhead of each task that computes.", {
  networks = "alexnet,inception_v3,nmt,rnnlm", devices = options.count(8, { min = 2 }), samples = options.count(8, { min = 1 }),
  overheads = "1e-6,3e-6,1e-5,3e-5,1e-4,3e-4,1e-3,3e-3", sync = "ring", topology = common.topology "p100_cluster", proposals = options.count(100, { min = 0 }), runs = options.count(1, { min = 0 }),
}, { devices = 16, overheads = "1e-6,2e-6,5e-6,1e-5,2e-5,5e-5,1e-4,2e-4,5e-4,1e-3,2e-3,5e-3", proposals = 2000, runs = 4 },
  { networks = "mlp", devices = 4, overheads = "1e-5,1e-3", proposals = 5 })

local cells = common.cells({ "network", arguments.some("networks", o.networks, common.networks) },
  { "overhead", arguments.numbers("overheads", o.overheads, 0) })

local results = trial.sweep(cells, function(cell)
  local network = common.network(cell.network)
  local model = common.model(network, o.devices, { batch = o.samples * o.devices })
  local given = { model = model, topology = common.cluster(o.topology, network, o.devices), sync = o.sync, coalesce = "per_device", costs = soapstone.costs.roofline { launch = 0 } }
  local simple = soapstone.problem(given)
  given.chance = soapstone.chance { launch = cell.overhead }
  local broken = soapstone.problem(given)
  local verdict = trial.compare { simple = simple, broken = broken, strategies = trial.strategies(simple), proposals = o.proposals,
    seed = o.seed, runs = o.runs }
  local short = common.short(verdict)
  for _, row in ipairs(verdict.rows) do short.split = math.min(short.split or row.broken, row.broken) end
  short.whole = broken:simulate(broken:strategy "whole").step_time
  return short
end, { workers = o.workers })

common.print_verdicts({ "network", "overhead" }, cells, results)

local function panels(quantity, value)
  return common.curves(cells, results, "overhead", function(cell) return cell.network end, function() return quantity end, value)
end
local splits = panels("gain of the best over one device", function(v) return v.whole / v.split end)
local series = table.move(splits, 1, #splits, 1, {})
for _, more in ipairs { panels("step time too short by (%)", function(v) return -100 * v.error end), panels("regret (%)", function(v) return 100 * v.regret end) } do
  table.move(more, 1, #more, #series + 1, series)
end
report.draw("lines", series, o.folder .. "/a4-overhead.svg", { title = ("Starting a task costs time, %d in %s, %d samples each"):format(o.devices, o.topology, o.samples),
  xlabel = "overhead of each task", xunit = "s", logx = true, columns = 3, width = 7 })

local parts = {}
for _, curve in ipairs(splits) do
  local half, half_line = nil, {}
  for i in ipairs(curve.x) do half_line[i] = (1 + curve.y[1]) / 2 end
  half = trial.crossing(curve.x, curve.y, half_line, { log = true })[1]
  local tau, regret
  for i, cell in ipairs(cells) do
    if cell.network == curve.label and (not regret or results[i].regret > regret) then tau, regret = results[i].tau, results[i].regret end
  end
  parts[#parts + 1] = ("%s %.2f times, half of the gain lost %s (regret at most %s, tau %.2f there)"):format(curve.label, curve.y[1],
    half and "at " .. soapstone.unit.show(half.at, "s") or "nowhere", common.percent(regret), tau or 0 / 0)
end
trial.result("over %d devices with %d samples each the best strategy, with an overhead of %s a task, is faster than one device by: %s.", o.devices,
  o.samples, soapstone.unit.show(splits[1].x[1], "s"), table.concat(parts, ", "))
