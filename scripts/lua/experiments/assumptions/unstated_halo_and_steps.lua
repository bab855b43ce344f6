-- unstated_halo_and_steps.lua - parts of images that read no more than their own, and steps that wait for each other.
--
--   soapstone run scripts/lua/experiments/assumptions/unstated_halo_and_steps.lua [FOLDER] [--long]
--
-- Two assumptions more that nobody states.  No halo: an image that is split by rows is cut in equal pieces, and a part of a
-- convolution or pooling reads nothing beyond its own (models with halo = false), against parts that read what their windows
-- see.  No overlap between steps: a step is simulated alone, against steps in a row of which the next begins where its
-- weights are new (result:overlapped).  By cluster size; a search for steps that overlap does not exist, so there the regret is
-- that of the list.

local options = require "soapstone.options"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("unstated_halo_and_steps.lua: error, order and regret of no halo, and of steps that do not overlap.", {
  networks = "alexnet,inception_v3,nmt", topologies = "p100_cluster,fat_tree", devices = "4,8,16", steps = options.count(3, { min = 2 }),
  proposals = options.count(60, { min = 0 }), searches = options.count(3, { min = 1 }), runs = options.count(1, { min = 0 }),
}, { networks = "alexnet,inception_v3,nmt,rnnlm", topologies = "p100_cluster,fat_tree,torus", devices = "4,8,16,32", steps = 5, proposals = 2000, searches = 5, runs = 4 },
  { networks = "mlp,alexnet", topologies = "p100_cluster", devices = "2", steps = 2, proposals = 5, searches = 2 })

-- The list, and every operator on images split by rows, in as many parts as there are devices or its rows allow.
local function strategies(problem)
  local list, devices = trial.strategies(problem), problem.topology.devices
  local rows, changed = problem:strategy("data_parallel", { name = "rows" }), false
  for op in problem.model:ops() do
    for _, d in ipairs(op.dims) do
      if d.name == "h" and d.extent // d.grain >= devices then
        local places = {}
        for i = 1, devices do places[i] = i end
        rows:set(op.name, { degrees = { h = devices }, devices = places })
        changed = true
      end
    end
  end
  if changed then list[#list + 1] = rows end
  return list, changed
end

local function in_a_row(steps, broken)
  return function(problem, strategy)
    local r <close> = problem:simulate(strategy)
    return problem == broken and r:overlapped({ steps = steps }).period or r.step_time, 0
  end
end

local results = trial.sweep(common.groups(o), function(cell)
  local network, out = common.network(cell.network), {}
  local given = common.given(o, cell)
  local halo = soapstone.problem(given)
  local again = soapstone.problem(given)
  local list, images = strategies(halo)
  out.steps = common.try({ proposals = 0, searches = 1, seed = o.seed, runs = 0 }, { simple = halo, at = function() return again end,
    x = { cell.devices }, strategies = list, time = in_a_row(o.steps, again) }).verdicts[1]
  if images then
    given.model = common.model(network, cell.devices, { halo = false })
    out.halo = common.try(o, { simple = soapstone.problem(given), at = function() return halo end, x = { cell.devices }, strategies = list }).verdicts[1]
  end
  return out
end, { workers = o.workers, cost = common.cost })

local groups, cells = {}, common.groups(o)
for _, broken in ipairs { "halo", "steps" } do
  local by = {}
  for i, cell in ipairs(cells) do
    local key = cell.network .. " " .. cell.topology
    if results[i][broken] then
      if not by[key] then
        by[key] = { broken = broken, network = cell.network, topology = cell.topology, x = {}, verdicts = {}, changes = {} }
        groups[#groups + 1] = by[key]
      end
      table.insert(by[key].x, cell.devices)
      table.insert(by[key].verdicts, results[i][broken])
    end
  end
end
local columns = { "broken", "network", "topology" }
common.print_verdicts(columns, "devices", groups)
common.draw(o, "unstated-halo-and-steps", groups, { title = "Parts of images read beyond their edge, and steps overlap", what = "what it does to the most sensitive strategy and to the order of strategies", xlabel = "devices", logx = true, ticks_at_values = true,
    note = ("most sensitive: the strategy of the list whose step time changes most; steps: %d in a row"):format(o.steps) },
  function(group) return ("%s, %s"):format(group.broken, group.topology) end,
  { { name = "most sensitive, times longer", lines = { 1 }, value = function(v) return 1 / (1 + v.worst) end }, common.tau })

-- From the least to the most at all sizes.
local function all_of(those, value, format)
  local least, most = math.huge, -math.huge
  for _, group in ipairs(those) do
    for _, v in ipairs(group.verdicts) do least, most = math.min(least, value(v)), math.max(most, value(v)) end
  end
  return ("%s to %s"):format(format(least), format(most))
end

local parts = {}
for _, broken in ipairs { "halo", "steps" } do
  local those = common.those(groups, { broken = broken })
  local dear, all = common.count(those)
  local function longer(v) return 1 / (1 + v.error) - 1 end
  local function worst(v) return 1 / (1 + v.worst) - 1 end
  parts[#parts + 1] = #those == 0 and broken .. " none" or ("%s the median strategy by %s and the most sensitive by %s, with tau %s and a regret above 5 %% in %d of %d"):format(
    broken == "halo" and "a halo changes" or "steps that overlap change", all_of(those, longer, common.percent), all_of(those, worst, common.percent),
    all_of(those, function(v) return v.tau or 1 end, function(tau) return ("%.2f"):format(tau) end), dear, all)
end
trial.result("%s.", table.concat(parts, "; "))
