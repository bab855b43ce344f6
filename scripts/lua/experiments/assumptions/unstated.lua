-- unstated.lua - what the published simulator assumes without a word.
--
--   soapstone run scripts/lua/experiments/assumptions/unstated.lua [FOLDER] [--long]
--
-- Identical devices, updates of weights that cost nothing, sums of gradients that cost nothing, memory without end.
-- Each is broken alone, on the same strategies: devices whose speeds differ by 5 and 20 % (lognormal), updates that read weights
-- and gradients and write weights (3 passes), sums that take time, and strategies that do not fit left out.

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local BREAKS = { "devices 5 %", "devices 20 %", "updates", "sums", "memory" }

local o = common.options("unstated.lua: error, order and regret of what the simulator assumes without a word.", {
  networks = "alexnet,inception_v3,nmt,rnnlm", devices = options.count(16, { min = 2 }), sync = "ring", topology = common.topology "p100_cluster", proposals = options.count(100, { min = 0 }),
  memory = options.quantity("4 GiB", "B"), runs = options.count(1, { min = 0 }),
}, { proposals = 2000, runs = 4 }, { networks = "mlp", devices = 4, proposals = 5 })

local cells = common.cells({ "network", arguments.some("networks", o.networks, common.networks) }, { "broken", BREAKS })

-- Strategies that fit, and whether the best of all does.
local function fitting(problem, strategies)
  local list, best = {}, nil
  for _, strategy in ipairs(strategies) do
    local r = problem:simulate(strategy)
    local fits = report.fullest(r).peak_memory <= o.memory
    if fits then list[#list + 1] = strategy end
    if not best or r.step_time < best.step_time then best = { step_time = r.step_time, fits = fits, name = strategy.name } end
  end
  return list, best
end

local results = trial.sweep(cells, function(cell)
  local network = common.network(cell.network)
  local given = { model = common.model(network, o.devices), topology = common.cluster(o.topology, network, o.devices), sync = o.sync, coalesce = "per_device" }
  local simple = soapstone.problem(given)
  local strategies = trial.strategies(simple)
  if cell.broken == "memory" then
    local fits, best = fitting(simple, strategies)
    local least
    for _, strategy in ipairs(fits) do
      local time = simple:simulate(strategy).step_time
      least = least and math.min(least, time) or time
    end
    return { strategies = #strategies, fitting = #fits, best_fits = best.fits, best = best.name, loss = least and least / best.step_time - 1 }
  end
  local cv = cell.broken:match "^devices (%d+) %%"
  if cv then given.chance = soapstone.chance { seed = o.seed, devices = { "lognormal", cv = cv / 100 } } end
  if cell.broken == "updates" then given.update_passes = 3 end
  if cell.broken == "sums" then given.partial_sums = true end
  return common.judge { simple = simple, broken = soapstone.problem(given), strategies = strategies, proposals = o.proposals,
    seed = o.seed, runs = o.runs }
end, { workers = o.workers })

local judged, verdicts, memory = {}, {}, {}
for i, cell in ipairs(cells) do
  if cell.broken == "memory" then
    local m = results[i]
    memory[#memory + 1] = { cell.network, m.fitting, m.strategies, m.best, m.best_fits and "fits" or "does not fit",
      m.loss and common.percent(m.loss) or "nothing fits" }
  else
    judged[#judged + 1], verdicts[#verdicts + 1] = cell, results[i]
  end
end
common.print_verdicts({ "network", "broken" }, judged, verdicts)
print(("\nmemory of %s a device"):format(soapstone.unit.show(o.memory, "B")))
print(report.table({ "network", "fit", "of", "fastest", "which", "fastest that fits" }, memory))

-- networks as places on the axis, in the order of the table
local place, names = {}, {}
for _, cell in ipairs(judged) do
  if not place[cell.network] then
    names[#names + 1] = ("%d %s"):format(#names + 1, cell.network)
    place[cell.network] = #names
  end
end
for _, cell in ipairs(judged) do cell.place = place[cell.network] end
local function panels(quantity, value)
  local list = common.curves(judged, verdicts, "place", function(cell) return cell.broken end, function() return quantity end, value)
  for _, curve in ipairs(list) do curve.look = "points" end
  return list
end
local series = panels("step time too short by (%)", function(v) return -100 * v.error end)
for _, more in ipairs { panels("Kendall's tau", function(v) return v.tau end), panels("regret (%)", function(v) return 100 * v.regret end) } do
  table.move(more, 1, #more, #series + 1, series)
end
report.draw("lines", series, o.folder .. "/unstated.svg", { title = ("What is assumed without a word, %d in %s"):format(o.devices, o.topology),
  xlabel = table.concat(names, "   "), from_x = 0.5, to_x = #names + 0.5, columns = 3, width = 7 })

local parts = {}
for _, broken in ipairs(BREAKS) do
  local errors, taus, regret = {}, {}, nil
  for i, cell in ipairs(judged) do
    if cell.broken == broken then
      errors[#errors + 1], taus[#taus + 1] = 1 / (1 + verdicts[i].error) - 1, verdicts[i].tau
      regret = math.max(regret or -math.huge, verdicts[i].regret)
    end
  end
  if regret then
    parts[#parts + 1] = ("%s %s (tau %.2f, regret at most %s)"):format(broken, common.percent(trial.median(errors)), trial.median(taus), common.percent(regret))
  end
end
local without = 0
for _, row in ipairs(memory) do
  if row[5] ~= "fits" then without = without + 1 end
end
trial.result("on %d devices the median step is longer with %s; and with %s of memory the fastest strategy of the list does not fit for %d of %d networks.",
  o.devices, table.concat(parts, ", "), soapstone.unit.show(o.memory, "B"), without, #memory)
