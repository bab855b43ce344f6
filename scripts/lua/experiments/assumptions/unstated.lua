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
  wall_proposals = options.count(500, { min = 0 }), wall_searches = options.count(9, { min = 1 }),
}, { topologies = "p100_cluster,fat_tree,torus", devices = "4,8,16,32", proposals = 2000, wall_proposals = 5000, searches = 5, runs = 4 },
  { networks = "mlp", topologies = "p100_cluster", devices = "4", cv = "0.1", draws = 2, shares = "0.9,0.5", proposals = 5, searches = 2, wall_proposals = 5, wall_searches = 2 })

local cvs, shares = common.strengths("cv", o.cv, 1e-6), common.strengths("shares", o.shares, 1e-6, true)
if shares[1] > 1 then options.refuse("--shares has %g in it, and a share of the memory that the fastest strategy holds is 1 at most", shares[1]) end
local cells = common.groups(o)

-- What a strategy takes, how far a picosecond moves it, and what it holds on its fullest device, in bytes.
local function held(problem, strategy, name)
  local r <close> = problem:simulate(strategy)
  return { name = name or strategy.name, strategy = strategy, seconds = r.step_time, bytes = report.fullest(r).peak_memory,
    noise = o.runs > 0 and r:sensitivity { runs = o.runs }.spread or 0 }
end

-- Asks for the noise of what was held in more runs, once.
local function settle(problem)
  return function(one)
    if one.settled or o.runs == 0 or o.most_runs <= o.runs then return end
    local r <close> = problem:simulate(one.strategy)
    one.noise, one.settled = r:sensitivity { runs = o.most_runs }.spread, true
  end
end

-- What each of the searches with these options finds, of those that accept nothing else than what fits, if they have a wall.
local function searched(simple, problem, start, memory, all)
  local found = {}
  for k = 1, o.wall_proposals > 0 and o.wall_searches or 0 do
    local search <close> = soapstone.search.mcmc(problem, { start = trial.onto(problem, start.strategy), proposals = o.wall_proposals, seed = o.seed + k - 1, threads = 1, memory = memory })
    found[k] = held(simple, trial.onto(simple, search:run().best), "found by a search")
    all[#all + 1] = found[k]
  end
  return found
end

-- The fastest strategy known to searches without end, and what is behind a wall for each share of what that needs.  Searches that
-- know of it begin at the fastest of the list that fits, or at what of it needs least.
local function with_walls(given, simple, strategies)
  local list, all, found, out = {}, {}, {}, { walls = {} }
  for i, strategy in ipairs(strategies) do
    list[i] = held(simple, strategy)
    all[i] = list[i]
  end
  local ignoring, least = searched(simple, simple, common.fastest_of(list, math.huge), "ignore", all), list[1]
  local fastest = common.fastest_of(all, math.huge)
  for _, one in ipairs(list) do
    if one.bytes < least.bytes then least = one end
  end
  out.name, out.bytes, out.least = fastest.name, fastest.bytes, least.bytes
  for k, share in ipairs(shares) do
    local own = {}
    for key, value in soapstone.pairs(given) do own[key] = value end
    own.topology = common.with_memory(given.topology, math.floor(share * fastest.bytes))
    found[k] = searched(simple, soapstone.problem(own), common.fastest_of(list, share * fastest.bytes) or least, "wall", all)
  end
  for k, share in ipairs(shares) do -- what fits a lower wall fits a higher one: all is known when all has been searched
    out.walls[k] = common.behind_wall(list, found[k], ignoring, all, share * fastest.bytes, settle(simple))
  end
  return out
end

-- Each cluster has draws of its own, whatever else is asked, so that a range over clusters is not one of the same few draws; networks
-- on one cluster meet the same devices.
local function cluster_seed(cell)
  local place = 1
  while common.clusters[place] ~= cell.topology do place = place + 1 end
  return o.seed + 1000000 * place + 1000 * cell.devices
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
    return common.try({ proposals = o.proposals, searches = o.searches, seed = seed or o.seed, runs = o.runs, most_runs = o.most_runs },
      { simple = simple, at = at, x = x, from = first, strategies = strategies, kept = its or kept })
  end
  local draws, cluster = {}, cluster_seed(cell)
  for d = 1, o.draws do
    local function drawn(cv) return { chance = soapstone.chance { seed = cluster + d - 1, devices = { "lognormal", cv = cv } } } end
    draws[d] = try(drawn, cvs, 1e-6, o.seed + (d - 1) * o.searches, {}) -- with searches of its own
  end
  local out = {
    devices = common.over(draws),
    updates = try(function() return { update_passes = 3 } end, { cell.devices }).verdicts[1],
    sums = try(function() return { partial_sums = true } end, { cell.devices }).verdicts[1],
  }
  out.memory = with_walls(given, simple, strategies)
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
common.draw(o, "unstated-devices", devices, { title = "Devices differ in speed", xlabel = "coefficient of variation of the devices' times" })

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

-- memory: how much longer what fits takes, by share; math.huge where nothing was found
local function longer(cost) return cost == math.huge and "nothing found" or common.percent(cost) end
local function of_searches(list)
  local first, last = longer(list[1]), longer(list[#list])
  return longer(common.middle(list)), first == last and first or first .. " to " .. last
end
local curves, rows, needs, walled = {}, {}, {}, {}
local names = common.values(cells, "network")
for i, cell in ipairs(cells) do
  local memory, network, nan = results[i].memory, cell.network, 0 / 0
  local panel = ("%d devices of %s"):format(cell.devices, cell.topology)
  local colour = 1
  while names[colour] ~= network do colour = colour + 1 end
  local aside = 0.004 * (colour - (#names + 1) / 2)
  local curve = { label = network, panel = panel, look = "both", colour = colour, x = { 1 }, y = { 0 } }
  local bars = { panel = panel, look = "lines", pale = true, colour = colour, x = {}, y = {} }
  needs[network] = needs[network] or { math.huge, 0 }
  needs[network] = { math.min(needs[network][1], memory.bytes / 2.0 ^ 30), math.max(needs[network][2], memory.bytes / 2.0 ^ 30) }
  for k, wall in ipairs(memory.walls) do
    local knowing, by_knowing = of_searches(wall.knowing)
    local ignoring, by_ignoring = of_searches(wall.ignoring)
    rows[#rows + 1] = { network, cell.topology, cell.devices, memory.name, ("%.2f"):format(memory.bytes / 2.0 ^ 30), ("%.2f"):format(memory.least / 2.0 ^ 30), shares[k],
      longer(wall.known), knowing, by_knowing, ignoring .. ((wall.mark or "") ~= "" and ": " .. wall.mark or ""), by_ignoring }
    local middle = common.middle(wall.knowing)
    curve.x[k + 1], curve.y[k + 1] = shares[k] + aside, middle < math.huge and 100 * middle or nan
    local last = 0
    for _, cost in ipairs(wall.knowing) do last = cost < math.huge and cost or last end
    for _, cost in ipairs { wall.knowing[1], last, nan } do
      bars.x[#bars.x + 1], bars.y[#bars.y + 1] = shares[k] + aside, cost < math.huge and 100 * cost or nan
    end
    local its = walled[k] or { close = 0, nothing = 0, slow = {}, told = {} }
    walled[k] = its
    if middle == math.huge then its.nothing = its.nothing + 1
    elseif middle <= 0.1 then its.close = its.close + 1
    else its.slow[#its.slow + 1] = middle end
    local extra = (1 + common.middle(wall.ignoring)) / (1 + wall.known) - 1
    if not wall.mark then its.told[#its.told + 1] = extra end
  end
  if curve.y[2] == curve.y[2] then -- a curve that ends at once is none
    curves[#curves + 1] = curve
    curves[#curves + 1] = bars
  end
end
print "\nmemory of a device, as a share of what the fastest strategy known holds: how much longer than that takes what fits"
print(report.table({ "network", "topology", "devices", "fastest", "holds (GiB)", "least of the list (GiB)", "share", "fastest known", "a search that knows", "by search", "one that does not", "by search" }, rows))
if #curves > 0 then
  report.draw("lines", curves, o.folder .. "/unstated-memory.svg", { title = "What it costs that a device has less memory than the fastest strategy holds", xlabel = "memory of a device, as a share of what the fastest strategy known holds",
    ylabel = "longer than the fastest (%)", columns = 2, width = 7, from_y = 0, from_x = shares[#shares] - 0.02, to_x = 1.02,
    note = ("the median of %d searches that know of the memory, bars from the least to the most of those that found something that fits, points moved aside so that bars can be seen; no point or curve: most found nothing"):format(o.wall_searches) })
end

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
  table.sort(its.slow)
  table.sort(its.told)
  memory[k] = ("%g: at most a tenth longer in %d, more than that in %d%s, nothing found in %d (a search that does not know of it is behind in %d that are told apart%s)"):format(share,
    its.close, #its.slow, #its.slow > 0 and (" (%s to %s)"):format(common.percent(its.slow[1]), common.percent(its.slow[#its.slow])) or "", its.nothing,
    #its.told, #its.told > 0 and (", by %s to %s"):format(longer(its.told[1]), longer(its.told[#its.told])) or "")
end
local hold = {}
for _, name in ipairs(common.values(cells, "network")) do
  hold[#hold + 1] = ("%s %s"):format(name, common.places(needs[name]))
end
trial.result("devices whose times differ by %g %% make the median step longer by %s, and not to know it %s; %s; and the fastest strategy known holds these GiB: %s; with a share of that as memory of a device a search that knows of it finds, in the median of %d and of %d groups, at %s.",
  100 * cvs[#cvs], common.span(devices, function(v) return 1 / (1 + v.error) - 1 end, common.percent), common.conclusion(devices, {}), table.concat(parts, ", "), table.concat(hold, ", "),
  o.wall_searches, #cells, table.concat(memory, "; "))
