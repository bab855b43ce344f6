-- a1_slow_device.lua - one device is slower than its kind: which strategies wait for it?
--
--   soapstone run scripts/lua/experiments/assumptions/a1_slow_device.lua [FOLDER] [--long]
--
-- A1 knows every time beforehand, and all devices are alike.  Here one of them takes 1.1, 1.5, 2, ... times as long.
-- If the step of a strategy grew as much, it would wait for that device alone; a search that knows of it can move work
-- away, and the regret is what not knowing costs.

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a1_slow_device.lua: error, order and regret of devices that are alike, by how slow one of them is.", {
  networks = "alexnet,nmt,inception_v3", devices = options.count(8, { min = 2 }), slower = "1.05,1.1,1.25,1.5,2,3,4", sync = "ring", topology = common.topology "p100_cluster",
  proposals = options.count(400, { min = 0 }), runs = options.count(1, { min = 0 }),
}, { devices = 16, proposals = 4000, runs = 4 }, { networks = "mlp", devices = 4, slower = "2", proposals = 5 })

local cells = common.cells({ "network", arguments.some("networks", o.networks, common.networks) },
  { "slower", arguments.numbers("slower", o.slower, 1) })

local results = trial.sweep(cells, function(cell)
  local network = common.network(cell.network)
  local given = { model = common.model(network, o.devices), topology = common.cluster(o.topology, network, o.devices), sync = o.sync, coalesce = "per_device" }
  local simple = soapstone.problem(given)
  given.chance = soapstone.chance { slow = { [1] = cell.slower } }
  local verdict = trial.compare { simple = simple, broken = soapstone.problem(given), strategies = trial.strategies(simple),
    proposals = o.proposals, seed = o.seed, runs = o.runs }
  local short = common.short(verdict)
  for _, row in ipairs(verdict.rows) do
    if row.name == "data_parallel" then short.data_parallel = row.broken / row.simple end
  end
  return short
end, { workers = o.workers })

common.print_verdicts({ "network", "slower" }, cells, results)

local function panels(quantity, value)
  return common.curves(cells, results, "slower", function(cell) return cell.network end, function() return quantity end, value)
end
local series = panels("data parallelism, times longer", function(v) return v.data_parallel end)
for _, more in ipairs { panels("median strategy, times longer", function(v) return 1 / (1 + v.error) end), panels("regret (%)", function(v) return 100 * v.regret end) } do
  table.move(more, 1, #more, #series + 1, series)
end
report.draw("lines", series, o.folder .. "/a1-slow-device.svg", { title = ("One slow device of %d in %s"):format(o.devices, o.topology),
  xlabel = "times slower one device is", columns = 3, width = 7 })

local parts = {}
for _, curve in ipairs(panels("", function(v) return v.regret end)) do
  local last = #curve.x
  for i, cell in ipairs(cells) do
    if cell.network == curve.label and cell.slower == curve.x[last] then
      local from = common.passes(curve, 0.05)
      parts[#parts + 1] = ("%s %s, and %s at %g times, where data parallelism takes %.2f times as long (tau %.2f)"):format(
        cell.network, from == "nowhere" and from or ("from %s times on"):format(from), common.percent(curve.y[last]), cell.slower, results[i].data_parallel, results[i].tau or 0 / 0)
    end
  end
end
trial.result("one of %d devices is slower, and not to know it costs more than 5 %% of a step: %s.", o.devices, table.concat(parts, "; "))
