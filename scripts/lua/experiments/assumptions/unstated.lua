-- unstated.lua - what the published simulator assumes without a word.
--
--   soapstone run scripts/lua/experiments/assumptions/unstated.lua [FOLDER] [--long]
--
-- Identical devices, updates of weights that cost nothing, sums of gradients that cost nothing, memory without end.
-- Each is broken alone, on the same strategies: devices whose speeds differ (lognormal, their coefficient of variation is
-- swept, and a few factors decide, so several draws of them are asked); updates that read weights and gradients and write weights (3 passes), and sums that take time, by cluster size;
-- and devices of less and less memory, with what the strategies of the list and of searches that know of no end take and hold.

local arguments = require "soapstone.arguments"
local report = require "soapstone.report"
local options = require "soapstone.options"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("unstated.lua: error, order and regret of what the simulator assumes without a word.", {
  networks = "alexnet,inception_v3,nmt,rnnlm", topologies = "p100_cluster,fat_tree", devices = "4,8", cv = "0.02,0.05,0.1,0.2,0.4", draws = options.count(5, { min = 1 }),
  memories = "0.25,0.5,1,2,4,8,16", proposals = options.count(60, { min = 0 }), searches = options.count(3, { min = 1 }), runs = options.count(1, { min = 0 }),
}, { topologies = "p100_cluster,fat_tree,torus", devices = "4,8,16,32", proposals = 2000, searches = 5, runs = 4 },
  { networks = "mlp", topologies = "p100_cluster", devices = "4", cv = "0.1", draws = 2, memories = "0.25,8", proposals = 5, searches = 2 })

local cvs, memories = common.strengths("cv", o.cv, 1e-6), common.strengths("memories", o.memories, 1e-6)
local cells = common.groups(o)

-- What each strategy of a list takes, and holds on its fullest device, in GiB.
local function held(problem, strategies)
  local list = {}
  for i, strategy in ipairs(strategies) do
    local r <close> = problem:simulate(strategy)
    list[i] = { name = strategy.name, seconds = r.step_time, gib = report.fullest(r).peak_memory / 2.0 ^ 30 }
  end
  return list
end

local results = trial.sweep(cells, function(cell)
  local given = common.given(o, cell)
  local simple, kept = soapstone.problem(given), {}
  local strategies = trial.strategies(simple)
  local function try(options_of, x, first)
    local function at(strength)
      local all = options_of(strength)
      for key, value in soapstone.pairs(given) do all[key] = value end
      return soapstone.problem(all)
    end
    return common.try(o, { simple = simple, at = at, x = x, from = first, strategies = strategies, kept = kept })
  end
  local draws = {}
  for d = 1, o.draws do
    draws[d] = try(function(cv) return { chance = soapstone.chance { seed = o.seed + d - 1, devices = { "lognormal", cv = cv } } } end, cvs, 1e-6)
  end
  local out = {
    devices = common.over(draws),
    updates = try(function() return { update_passes = 3 } end, { cell.devices }).verdicts[1],
    sums = try(function() return { partial_sums = true } end, { cell.devices }).verdicts[1],
  }
  local all = table.move(strategies, 1, #strategies, 1, {})
  for k, found in ipairs(kept[simple].found) do all[#strategies + k] = found end
  out.held = held(simple, all)
  return out
end, { workers = o.workers, cost = common.cost })

-- devices that differ, by how much
local devices = {}
for i, cell in ipairs(cells) do
  devices[i] = { network = cell.network, topology = cell.topology, devices = cell.devices, x = cvs, verdicts = results[i].devices.verdicts, changes = results[i].devices.changes }
end
local columns = { "network", "topology", "devices" }
print "devices that differ"
common.print_verdicts(columns, "cv", devices)
common.print_groups(columns, devices, {})
common.draw(o, "unstated-devices", devices, { title = "Devices that differ", xlabel = "coefficient of variation of their times" })

-- updates and sums, by cluster size
local sizes, free = common.values(cells, "devices"), {}
for _, broken in ipairs { "updates", "sums" } do
  for _, topology in ipairs(common.values(cells, "topology")) do
    for _, network in ipairs(common.values(cells, "network")) do
      local group = { broken = broken, topology = topology, network = network, x = sizes, verdicts = {}, changes = {} }
      for i, cell in ipairs(cells) do
        if cell.topology == topology and cell.network == network then table.insert(group.verdicts, results[i][broken]) end
      end
      free[#free + 1] = group
    end
  end
end
print "\nupdates and sums that take time"
common.print_verdicts({ "broken", "network", "topology" }, "devices", free)
common.print_groups({ "broken", "network", "topology" }, free, {})
common.draw(o, "unstated-updates", free, { title = "Updates and sums that take time", xlabel = "devices", logx = true, ticks_at_values = true },
  function(group) return ("%s, %s"):format(group.broken, group.topology) end)

-- memory: how much longer the fastest strategy that fits takes than the fastest
local curves, rows, does_not = {}, {}, {}
for i, cell in ipairs(cells) do
  local best = results[i].held[1]
  for _, one in ipairs(results[i].held) do
    if one.seconds < best.seconds then best = one end
  end
  local curve = { label = cell.network, panel = ("%d, %s"):format(cell.devices, cell.topology), look = "both", x = {}, y = {} }
  local cost = {}
  for k, gib in ipairs(memories) do
    local least
    for _, one in ipairs(results[i].held) do
      if one.gib <= gib then least = math.min(least or one.seconds, one.seconds) end
    end
    curve.x[k], curve.y[k] = gib, least and 100 * (least / best.seconds - 1) or 0 / 0
    cost[k] = least and common.percent(least / best.seconds - 1) or "nothing fits"
  end
  for k, name in ipairs(common.values(cells, "network")) do
    if name == cell.network then curve.colour = k end
  end
  curves[i] = curve
  rows[i] = table.move(cost, 1, #cost, 6, { cell.network, cell.topology, cell.devices, best.name == "" and "found by a search" or best.name, ("%.2f"):format(best.gib) })
  does_not[cell.network] = { math.min((does_not[cell.network] or { best.gib })[1], best.gib), math.max((does_not[cell.network] or { 0, 0 })[2], best.gib) }
end
local head = { "network", "topology", "devices", "fastest", "holds (GiB)" }
for _, gib in ipairs(memories) do head[#head + 1] = ("%g GiB"):format(gib) end
print "\nmemory of a device: how much longer the fastest that fits takes"
print(report.table(head, rows))
report.draw("lines", curves, o.folder .. "/unstated-memory.svg", { title = "The fastest strategy that fits, of those known", xlabel = "memory of a device (GiB)", logx = true,
  ylabel = "longer than the fastest (%)", columns = 2, width = 7, note = "no point: nothing fits" })

local parts = {}
for _, broken in ipairs { "updates", "sums" } do
  local those = common.those(free, { broken = broken })
  local dear, all = common.count(those)
  local least, most = math.huge, -math.huge
  for _, group in ipairs(those) do
    for _, v in ipairs(group.verdicts) do least, most = math.min(least, 1 / (1 + v.error) - 1), math.max(most, 1 / (1 + v.error) - 1) end
  end
  parts[#parts + 1] = ("%s make it longer by %s to %s, with a regret above 5 %% in %d of %d"):format(broken, common.percent(least), common.percent(most), dear, all)
end
local memory = {}
for _, name in ipairs(common.values(cells, "network")) do
  memory[#memory + 1] = ("%s %s"):format(name, common.places(does_not[name]))
end
trial.result("devices whose times differ by %g %% make the median step longer by %s, and not to know it %s; %s; and the fastest strategy known needs these GiB of memory: %s.",
  100 * cvs[#cvs], common.span(devices, function(v) return 1 / (1 + v.error) - 1 end, common.percent), common.conclusion(devices, {}), table.concat(parts, ", "), table.concat(memory, ", "))
