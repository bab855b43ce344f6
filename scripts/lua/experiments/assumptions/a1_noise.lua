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
  proposals = options.count(100, { min = 0 }), searches = options.count(9, { min = 1 }),
}, { networks = "alexnet,inception_v3,nmt", topologies = "p100_cluster,fat_tree", devices = "4,8,16,32,64", cv = "0.003,0.01,0.03,0.06,0.1,0.2,0.3",
    repetitions = 200, proposals = 1000, searches = 15 },
  { networks = "mlp", topologies = "p100_cluster", devices = "4", noisy = "task", cv = "0.1", repetitions = 4, proposals = 3, searches = 2 })

local how = { task = "compute", device = "devices", message = "transfer" }
local cvs = common.strengths("cv", o.cv, 1e-6)
local cells = common.groups(o, { "noisy", arguments.some("noisy", o.noisy, { "task", "device", "message" }) })

-- How much slower in the mean is what searches that score by one draw find, than what those find that know of no noise: search by search the
-- `median`, the least and the most.  `half` is half of the interval of the pair in the middle, in the same draws, and `mark` says what stands in the
-- way of telling the two kinds apart: "luck" unless all of the one are slower than all of the others, "noise" where the median is within `half`.
local function learned_of(problem, verdict)
  local pairs_of, by_draw, simple = {}, {}, {}
  for k, search in ipairs(verdict.searches) do
    pairs_of[k], by_draw[k], simple[k] = { lost = search.broken / search.simple - 1, search = search }, search.broken, search.simple
  end
  table.sort(pairs_of, function(a, b) return a.lost < b.lost end)
  table.sort(by_draw)
  table.sort(simple)
  local middle, half = common.middle(pairs_of), 0
  local found = middle.search.found
  if found.broken ~= found.simple then
    local pair = problem:repetitions({ found.broken, found.simple }, { n = o.repetitions, threads = 1 }).pairs[1]
    half = (pair.interval[2] - pair.interval[1]) / 2 / middle.search.simple
  end
  local least, most = pairs_of[1].lost, pairs_of[#pairs_of].lost
  local apart = by_draw[1] > simple[#simple] or by_draw[#by_draw] < simple[1]
  return { median = middle.lost, least = least, most = most, half = half,
    mark = least == 0 and most == 0 and "none" or not apart and "luck" or math.abs(middle.lost) <= half and "noise" or nil }
end

local results = trial.sweep(cells, function(cell)
  local given = common.given(o, cell)
  local simple = soapstone.problem(given)
  local strength, last = {}, nil
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
  return common.try(o, { simple = simple, at = function(cv)
    last = drawn(cv, o.seed)
    return last
  end, x = cvs, from = 1e-6, time = time,
    scored_by = function(problem, k) return problem == simple and problem or drawn(strength[problem], o.seed + k) end, more = function(short, verdict)
    short.learned = learned_of(last, verdict)
    for _, row in ipairs(verdict.rows) do
      if row.name == "data_parallel" then short.data_parallel = row.broken / row.simple - 1 end
    end
  end })
end, { workers = o.workers, cost = common.cost })

local groups = common.grouped(cells, results, cvs)
local columns = { "network", "topology", "devices", "noisy" }
for _, group in ipairs(groups) do group.label = ("noisy %ss"):format(group.noisy) end
common.print_verdicts(columns, "cv", groups, "half interval", {
  { "by one draw", function(v) return common.percent(v.learned.median) .. (v.learned.mark and ": " .. v.learned.mark or "") end },
  { "by search", function(v) return common.least_to_most(v.learned) end },
  { "half interval", function(v) return ("%.2g %%"):format(100 * v.learned.half) end },
})
common.print_groups(columns, groups, {})
common.draw(o, "a1-noise", groups, { title = "Times that are not known beforehand", what = "what it does to the mean step of data parallelism and to the order of strategies",
  xlabel = "coefficient of variation of a time" }, function(group) return ("%s, %d devices of %s"):format(group.network, group.devices, group.topology) end,
  { { name = "longer (%)", lines = { 0 }, value = function(v) return 100 * v.data_parallel end }, common.tau, common.regret })

local parts = {}
for _, noisy in ipairs(common.values(groups, "noisy")) do
  local those = common.those(groups, { noisy = noisy })
  local dear, all = common.count(those)
  local told = {}
  for _, group in ipairs(those) do
    for _, v in ipairs(group.verdicts) do
      if not v.learned.mark then told[#told + 1] = v.learned.median end
    end
  end
  table.sort(told)
  parts[#parts + 1] = ("noisy %ss %s (tau %s; regret above 5 %% in %d of %d; what searches that score by one draw find is told apart from what those find that know of no noise in %d%s)"):format(noisy,
    common.span(those, function(v) return v.data_parallel end, common.percent), common.span(those, common.tau.value, function(tau) return ("%.2f"):format(tau) end),
    dear, all, #told, #told > 0 and (", by %s to %s"):format(common.percent(told[1]), common.percent(told[#told])) or "")
end
trial.result("noise of %g %%, of mean 1, makes the mean data-parallel step longer: %s.", 100 * cvs[#cvs], table.concat(parts, "; "))
