-- a1_noise.lua - what does it cost that task times are not known beforehand?
--
--   soapstone run scripts/lua/experiments/assumptions/a1_noise.lua [FOLDER] [--long]
--
-- A1 gives a task one time.  Here each task that computes, each device, or each message has a factor of mean 1 drawn from a
-- lognormal distribution, whose coefficient of variation is swept.  The mean time of a task stays, and the mean step
-- grows: a step waits for the last of its devices, and the last of many is late.  Strategies meet the same luck
-- (common random numbers), and the noise of a mean is half the confidence interval.  A search under noise scores by one
-- draw, each by another, so what it finds can be slower in the mean than what a search that knows of no noise does: it has
-- learned its luck.

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a1_noise.lua: how much longer the mean step is than the one of mean times, by who is noisy, how much, and on how many devices.", {
  networks = "alexnet,nmt", topologies = "p100_cluster,fat_tree", devices = "4,16", noisy = "all", cv = "0.01,0.03,0.1,0.3", repetitions = options.count(30, { min = 2 }),
  proposals = options.count(100, { min = 0 }), searches = options.count(3, { min = 1 }),
}, { networks = "alexnet,inception_v3,nmt", topologies = "p100_cluster,fat_tree", devices = "4,8,16,32,64", cv = "0.003,0.01,0.03,0.06,0.1,0.2,0.3",
    repetitions = 200, proposals = 1000, searches = 5 },
  { networks = "mlp", topologies = "p100_cluster", devices = "4", noisy = "task", cv = "0.1", repetitions = 4, proposals = 3, searches = 2 })

local how = { task = "compute", device = "devices", message = "transfer" }
local cvs = common.strengths("cv", o.cv, 1e-6)
local cells = common.groups(o, { "noisy", arguments.some("noisy", o.noisy, { "task", "device", "message" }) })

local results = trial.sweep(cells, function(cell)
  local given = common.given(o, cell)
  local simple = soapstone.problem(given)
  local strength = {}
  local function drawn(cv, seed)
    given.chance = soapstone.chance { seed = seed, [how[cell.noisy]] = { "lognormal", cv = cv } }
    local problem = soapstone.problem(given)
    strength[problem] = cv
    return problem
  end
  local function time(problem, strategy)
    if problem == simple then return problem:simulate(strategy).step_time, 0 end
    local one = problem:repetitions(strategy, { n = o.repetitions, threads = 1 }).strategies[1]
    return one.mean, (one.mean_interval[2] - one.mean_interval[1]) / 2 / one.mean
  end
  return common.try(o, { simple = simple, at = function(cv) return drawn(cv, o.seed) end, x = cvs, from = 1e-6, time = time,
    scored_by = function(problem, k) return problem == simple and problem or drawn(strength[problem], o.seed + k) end, more = function(short, verdict)
    local learned = {}
    for k, search in ipairs(verdict.searches) do learned[k] = search.broken / search.simple - 1 end
    short.learned = trial.median(learned)
    for _, row in ipairs(verdict.rows) do
      if row.name == "data_parallel" then short.data_parallel = row.broken / row.simple - 1 end
    end
  end })
end, { workers = o.workers, cost = common.cost })

local groups = common.grouped(cells, results, cvs)
local columns = { "network", "topology", "devices", "noisy" }
for _, group in ipairs(groups) do group.label = ("noisy %ss"):format(group.noisy) end
common.print_verdicts(columns, "cv", groups, "half interval")
common.print_groups(columns, groups, {})
common.draw(o, "a1-noise", groups, { title = "Times that are not known beforehand: what it does to the mean step of data parallelism, to the order of strategies, and to the choice",
  xlabel = "coefficient of variation of a time" }, function(group) return ("%s, %d devices of %s"):format(group.network, group.devices, group.topology) end,
  { { name = "longer (%)", lines = { 0 }, value = function(v) return 100 * v.data_parallel end }, common.tau, common.regret })

local parts = {}
for _, noisy in ipairs(common.values(groups, "noisy")) do
  local those = common.those(groups, { noisy = noisy })
  local dear, all = common.count(those)
  local learned = 0
  for _, group in ipairs(those) do
    for _, v in ipairs(group.verdicts) do learned = math.max(learned, v.learned) end
  end
  parts[#parts + 1] = ("noisy %ss %s (tau %s; regret above 5 %% in %d of %d, and a search that scores by one draw loses up to %s to one that knows of no noise, in the median of %d)"):format(noisy,
    common.span(those, function(v) return v.data_parallel end, common.percent), common.span(those, common.tau.value, function(tau) return ("%.2f"):format(tau) end),
    dear, all, common.percent(learned), o.searches)
end
trial.result("noise of %g %%, of mean 1, makes the mean data-parallel step longer: %s.", 100 * cvs[#cvs], table.concat(parts, "; "))
