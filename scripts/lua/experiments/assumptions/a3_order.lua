-- a3_order.lua - what if devices do not serve tasks in the order in which they became ready?
--
--   soapstone run scripts/lua/experiments/assumptions/a3_order.lua [FOLDER] [--long]
--
-- A3 says first come, first served, one task at a time.  Here devices and links go by program order or take the
-- shortest task first, or devices run several tasks at once, each at full speed (streams: an upper bound of what
-- overlap can bring).  Strategies are the ready-made ones, splits of parameters, and random ones.

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a3_order.lua: error, order and regret of first come, first served, against other orders and streams.", {
  networks = "alexnet,nmt,inception_v3", devices = options.count(8, { min = 2 }), sync = "ring", topology = common.topology "p100_cluster", orders = "all",
  random = options.count(12, { min = 0 }), proposals = options.count(40, { min = 0 }), runs = options.count(1, { min = 0 }),
}, { devices = 16, random = 40, proposals = 500, runs = 4 }, { networks = "mlp", devices = 4, orders = "shortest", random = 2, proposals = 5 })

local how = { program = { order = "program" }, shortest = { order = "shortest" }, ["2 streams"] = { streams = 2 }, ["4 streams"] = { streams = 4 } }
local cells = common.cells({ "network", arguments.some("networks", o.networks, common.networks) },
  { "order", arguments.some("orders", o.orders:gsub("streams", " streams"):gsub("  ", " "), { "program", "shortest", "2 streams", "4 streams" }) })

local results = trial.sweep(cells, function(cell)
  local network = common.network(cell.network)
  local model, machines = common.model(network, o.devices), common.cluster(o.topology, network, o.devices)
  local function problem(given)
    local all = { model = model, topology = machines, sync = o.sync, coalesce = "per_device" }
    for key, value in soapstone.pairs(given) do all[key] = value end
    return soapstone.problem(all)
  end
  local simple = problem {}
  return trial.compare { simple = simple, broken = problem(how[cell.order]), proposals = o.proposals, seed = o.seed, runs = o.runs,
    strategies = trial.strategies(simple, { random = o.random, seed = o.seed }) }
end, { workers = o.workers })

local verdicts = {}
for i, verdict in ipairs(results) do verdicts[i] = common.short(verdict) end
common.print_verdicts({ "network", "order" }, cells, verdicts)

-- strategies from the fastest to the slowest under FIFO: what another order makes of each
local series, colours, count = {}, {}, 0
for i, cell in ipairs(cells) do
  if not colours[cell.order] then
    count = count + 1
    colours[cell.order] = count
  end
  local rows = results[i].rows
  table.sort(rows, function(a, b) return a.simple < b.simple end)
  local curve = { label = cell.order, panel = cell.network, colour = colours[cell.order], look = "both", x = {}, y = {} }
  for k, row in ipairs(rows) do curve.x[k], curve.y[k] = k, row.broken / row.simple end
  series[i] = curve
end
report.draw("lines", series, o.folder .. "/a3-order.svg", { title = ("Other orders than first come, first served, %d in %s"):format(o.devices, o.topology),
  xlabel = "strategies, fastest first under FIFO", ylabel = "step time / that under FIFO", columns = 3, width = 7 })

local parts, seen = {}, {}
for _, cell in ipairs(cells) do
  if not seen[cell.order] then
    seen[cell.order] = true
    local errors, taus, regret = {}, {}, -math.huge
    for i, other in ipairs(cells) do
      if other.order == cell.order then
        errors[#errors + 1], taus[#taus + 1] = 1 / (1 + verdicts[i].error) - 1, verdicts[i].tau
        regret = math.max(regret, verdicts[i].regret)
      end
    end
    parts[#parts + 1] = ("%s %s (tau %.2f, regret at most %s)"):format(cell.order, common.percent(trial.median(errors)),
      #taus > 0 and trial.median(taus) or 0 / 0, common.percent(regret))
  end
end
trial.result("against first come, first served, step times on %d devices move in the median by: %s.", o.devices, table.concat(parts, ", "))
