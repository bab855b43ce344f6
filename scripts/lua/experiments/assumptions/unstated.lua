-- unstated.lua - what the published simulator assumes without a word.
--
--   soapstone run scripts/lua/experiments/assumptions/unstated.lua [FOLDER] [--long]
--
-- Identical devices, updates of weights that cost nothing, sums of gradients that cost nothing, memory without end.
-- Each is broken alone, on the same strategies: devices whose speeds differ (lognormal, their coefficient of variation is
-- swept, and a few factors decide, so several draws of them are asked); updates that read weights and gradients and write weights (3 passes), and sums that take time, by cluster size;
-- and devices whose memory is a share of what the fastest strategy known needs, swept: what does the fastest that fits cost, and
-- what did a search miss that knows of no end?  What fits takes as long as before, so there is neither error nor tau.

local arguments = require "soapstone.arguments"
local report = require "soapstone.report"
local options = require "soapstone.options"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("unstated.lua: error, order and regret of what the simulator assumes without a word.", {
  networks = "alexnet,inception_v3,nmt,rnnlm", topologies = "p100_cluster,fat_tree", devices = "4,8", cv = "0.02,0.05,0.1,0.2,0.4", draws = options.count(5, { min = 1 }),
  shares = "0.95,0.9,0.8,0.7,0.6", proposals = options.count(60, { min = 0 }), searches = options.count(3, { min = 1 }), runs = options.count(1, { min = 0 }),
}, { topologies = "p100_cluster,fat_tree,torus", devices = "4,8,16,32", proposals = 2000, searches = 5, runs = 4 },
  { networks = "mlp", topologies = "p100_cluster", devices = "4", cv = "0.1", draws = 2, shares = "0.9,0.5", proposals = 5, searches = 2 })

local cvs, shares = common.strengths("cv", o.cv, 1e-6), common.strengths("shares", o.shares, 1e-6, true)
local cells = common.groups(o)

-- What a strategy takes, and holds on its fullest device, in bytes.
local function held(problem, strategy, found)
  local r <close> = problem:simulate(strategy)
  return { name = found or strategy.name, strategy = strategy, seconds = r.step_time, bytes = report.fullest(r).peak_memory }
end

local function fastest_of(list, bytes)
  local best
  for _, one in ipairs(list) do
    if one.bytes <= bytes and (not best or one.seconds < best.seconds) then best = one end
  end
  return best
end

-- The fastest strategy known to a search without end and, for each share of what that needs, the fastest known that fits:
-- `ignoring`, to that search, and `knowing`, with searches that accept nothing else, which begin there or at what needs least.
local function with_walls(given, simple, strategies, found)
  local list = {}
  for i, strategy in ipairs(strategies) do list[i] = held(simple, strategy) end
  for _, strategy in ipairs(found) do list[#list + 1] = held(simple, strategy, "found by a search") end
  local fastest, least, out = fastest_of(list, math.huge), list[1], { walls = {} }
  for _, one in ipairs(list) do
    if one.bytes < least.bytes then least = one end
  end
  out.name, out.bytes, out.least = fastest.name, fastest.bytes, least.bytes
  local all, ignoring = table.move(list, 1, #list, 1, {}), {}
  for k, share in ipairs(shares) do
    local own = {}
    for key, value in soapstone.pairs(given) do own[key] = value end
    own.topology = common.with_memory(given.topology, math.floor(share * fastest.bytes))
    local walled = soapstone.problem(own)
    ignoring[k] = fastest_of(list, share * fastest.bytes)
    local start = trial.onto(walled, (ignoring[k] or least).strategy)
    for seed = o.seed, o.proposals > 0 and o.seed + o.searches - 1 or 0 do
      local search <close> = soapstone.search.mcmc(walled, { start = start, proposals = o.proposals, seed = seed, threads = 1, memory = "wall" })
      all[#all + 1] = held(simple, trial.onto(simple, search:run().best), "found by a search")
    end
  end
  out.seconds = fastest_of(all, math.huge).seconds
  for k, share in ipairs(shares) do -- what fits a lower wall fits a higher one
    local knowing = fastest_of(all, share * fastest.bytes)
    out.walls[k] = { ignoring = ignoring[k] and ignoring[k].seconds, knowing = knowing and knowing.seconds }
  end
  return out
end

local results = trial.sweep(cells, function(cell)
  local given = common.given(o, cell)
  local simple, kept = soapstone.problem(given), {}
  local strategies = trial.strategies(simple)
  local function try(options_of, x, first, seed, its)
    local function at(strength)
      local all = options_of(strength)
      for key, value in soapstone.pairs(given) do all[key] = value end
      return soapstone.problem(all)
    end
    return common.try({ proposals = o.proposals, searches = o.searches, seed = seed or o.seed, runs = o.runs },
      { simple = simple, at = at, x = x, from = first, strategies = strategies, kept = its or kept })
  end
  local draws = {}
  for d = 1, o.draws do
    local function drawn(cv) return { chance = soapstone.chance { seed = o.seed + d - 1, devices = { "lognormal", cv = cv } } } end
    draws[d] = try(drawn, cvs, 1e-6, o.seed + (d - 1) * o.searches, {}) -- with searches of its own
  end
  local out = {
    devices = common.over(draws),
    updates = try(function() return { update_passes = 3 } end, { cell.devices }).verdicts[1],
    sums = try(function() return { partial_sums = true } end, { cell.devices }).verdicts[1],
  }
  out.memory = with_walls(given, simple, strategies, kept[simple].found)
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
common.draw(o, "unstated-devices", devices, { title = "Devices differ in speed: what it does to the step, to the order of strategies, and to the choice", xlabel = "coefficient of variation of the devices' times" })

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

-- memory: what the fastest that fits costs, and what of that a search which knew of the wall would have saved
local curves, rows, needs, walled = {}, {}, {}, {}
for i, cell in ipairs(cells) do
  local memory, network = results[i].memory, cell.network
  local panel = ("%d devices of %s"):format(cell.devices, cell.topology)
  local curve = { label = network, panel = panel, look = "both", x = { 1 }, y = { 0 } }
  for k, name in ipairs(common.values(cells, "network")) do
    if name == network then curve.colour = k end
  end
  local row = { network, cell.topology, cell.devices, memory.name, ("%.2f"):format(memory.bytes / 2.0 ^ 30), ("%.2f"):format(memory.least / 2.0 ^ 30) }
  needs[network] = needs[network] or { math.huge, 0 }
  needs[network] = { math.min(needs[network][1], memory.bytes / 2.0 ^ 30), math.max(needs[network][2], memory.bytes / 2.0 ^ 30) }
  for k, wall in ipairs(memory.walls) do
    local cost = wall.knowing and wall.knowing / memory.seconds - 1
    local regret = wall.ignoring and wall.ignoring / wall.knowing - 1
    row[#row + 1] = not cost and "nothing fits" or ("%s (%s)"):format(common.percent(cost), regret and common.percent(regret) or "knew none")
    curve.x[k + 1], curve.y[k + 1] = shares[k], cost and 100 * cost or 0 / 0
    walled[k] = walled[k] or { costs = {}, regrets = {}, nothing = 0 }
    local its = walled[k]
    if cost then its.costs[#its.costs + 1] = cost else its.nothing = its.nothing + 1 end
    its.regrets[#its.regrets + 1] = regret
  end
  curves[i], rows[i] = curve, row
end
local head = { "network", "topology", "devices", "fastest", "holds (GiB)", "least of all (GiB)" }
for _, share in ipairs(shares) do head[#head + 1] = ("%g of it"):format(share) end
print "\nmemory of a device, as a share of what the fastest strategy holds: how much longer the fastest that fits takes (and regret of a search that ignored it)"
print(report.table(head, rows))
report.draw("lines", curves, o.folder .. "/unstated-memory.svg", { title = "What it costs that a device has less memory than the fastest strategy holds", xlabel = "memory of a device, as a share of what the fastest strategy known holds",
  ylabel = "longer than the fastest (%)", columns = 2, width = 7, from_y = 0, note = "of the strategies known the fastest that fits; no point: none does" })

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
for k, share in ipairs(shares) do
  local its = walled[k]
  local function most(list) return #list > 0 and common.percent(math.max(table.unpack(list))) or "none" end
  memory[k] = #its.costs == 0 and ("%g: nothing fits"):format(share) or ("%g: %s in the median and %s at most (%s more at most where the search does not know of the wall; nothing fits in %d)"):format(
    share, common.percent(trial.median(its.costs)), most(its.costs), most(its.regrets), its.nothing)
end
local hold = {}
for _, name in ipairs(common.values(cells, "network")) do
  hold[#hold + 1] = ("%s %s"):format(name, common.places(needs[name]))
end
trial.result("devices whose times differ by %g %% make the median step longer by %s, and not to know it %s; %s; and the fastest strategy known holds these GiB: %s; with a share of that as memory of a device the fastest that fits is slower, in %d clusters, at %s.",
  100 * cvs[#cvs], common.span(devices, function(v) return 1 / (1 + v.error) - 1 end, common.percent), common.conclusion(devices, {}), table.concat(parts, ", "), table.concat(hold, ", "),
  #cells, table.concat(memory, "; "))
