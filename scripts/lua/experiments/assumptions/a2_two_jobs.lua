-- a2_two_jobs.lua - several jobs on one network: how much longer does a step take than alone?
--
--   soapstone run scripts/lua/experiments/assumptions/a2_two_jobs.lua [FOLDER] [--long]
--
-- A2 leaves a job its network.  Here several equal jobs begin a step at the same instant, each on eight devices of its own, of
-- an oversubscribed fat tree: packed (a leaf for each job) or spread (its devices in different leaves).  They are one
-- model, whose parts have nothing in common, and one task graph.  A job's step time is when the last of its tasks ends.
-- First all are data parallel, and exclusive links, the published model, stand beside shared ones.  Then all jobs use
-- the same strategy, one of the list or what searches found for a job that is alone (the simple problem), and the
-- question is which is the best among them with others there: the broken problem has no search of its own.  Which flows meet
-- on a link is the luck of the hash that spreads them over the spines, so several hashes are asked.

local arguments = require "soapstone.arguments"
local report = require "soapstone.report"
local options = require "soapstone.options"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local SIZE = 8 -- devices of a job, and of a leaf

local o = common.options("a2_two_jobs.lua: step times of equal jobs together over that of one alone, packed and spread, exclusive and shared links.", {
  networks = "alexnet,nmt", jobs = "1,2,3,4,6,8", leaves = options.count(8, { min = 1 }), oversubscriptions = "1,4", hashes = options.count(3, { min = 1 }), random = options.count(8, { min = 0 }),
  proposals = options.count(100, { min = 0 }), searches = options.count(5, { min = 1 }), runs = options.count(1, { min = 0 }),
}, { networks = "alexnet,inception_v3,nmt,rnnlm", jobs = "1,2,3,4,5,6,7,8,10,12,14,16", leaves = 16, oversubscriptions = "1,2,4,8", runs = 4 },
  { networks = "mlp", jobs = "1,2", leaves = 2, oversubscriptions = "4", hashes = 2, random = 1, proposals = 5, searches = 2 })

local numbers = common.strengths("jobs", o.jobs, 1)
for i, number in ipairs(numbers) do
  numbers[i] = math.tointeger(number) or options.refuse("--jobs has %g in it, and a number of jobs is whole", number)
  if number > o.leaves then options.refuse("--jobs has %d in it, and there are %d leaves of %d devices", number, o.leaves, SIZE) end
end
local cells = common.cells({ "oversubscription", arguments.numbers("oversubscriptions", o.oversubscriptions, 1) },
  { "network", arguments.some("networks", o.networks, common.networks) }, { "placed", { "packed", "spread" } })

-- Device i of a job: in its own leaf, or in a different leaf for each i, as schedulers leave them.
local function device_of(placed, job, i)
  if placed == "packed" then return (job - 1) * SIZE + i end
  return (job + i - 2) % o.leaves * SIZE + i
end

-- A strategy of one job on devices 1 to SIZE, for each job on its own devices.
local function for_all(problem, strategy, placed)
  local all = problem:strategy("whole", { name = strategy.name })
  for op in problem.model:ops() do
    local job, name = op.name:match "^job(%d+)%.(.*)$"
    local one, devices = strategy:get(name), {}
    for i, device in ipairs(one.devices) do devices[i] = device_of(placed, math.tointeger(job), device) end
    all:set(op.name, { degrees = one.degrees, devices = devices })
  end
  return all
end

-- The mean over jobs of when the last task of each ends, and how far it moves when durations do by a picosecond, so many times.
local function mean_step(problem, strategy, jobs, runs)
  local r <close> = problem:simulate(strategy)
  local ends, sum = {}, 0
  for i = 1, jobs do ends[i] = 0 end
  for i = 1, r.tasks do
    local task = r:task(i)
    local job = math.tointeger(task.name:match "job(%d+)%.")
    ends[job] = math.max(ends[job], task.finish)
  end
  for _, at in ipairs(ends) do sum = sum + at end
  return sum / jobs, runs > 0 and r:sensitivity { runs = runs }.spread or 0
end

-- The first job's devices and all switches of a tree, without the other devices: the network of a job that is alone.
local function cut_out(tree, kind, placed)
  local t = require("soapstone.topology").new { name = "alone", routing = tree.routing, routing_seed = tree.routing_seed }
  local devices, nodes = tree:device_list(), {}
  for i = 1, SIZE do
    local name = devices[device_of(placed, 1, i)].name
    nodes[name] = t:device(name, { kind = kind })
  end
  local others = {}
  for _, device in ipairs(devices) do others[device.name] = not nodes[device.name] end
  for _, link in ipairs(tree:link_list()) do
    if not (others[link.from] or others[link.to]) then
      for _, name in ipairs { link.from, link.to } do nodes[name] = nodes[name] or t:switch(name) end
      t:link(nodes[link.from], nodes[link.to], { bandwidth = link.bandwidth, latency = link.latency, weight = link.weight, kind = link.kind, duplex = "one_way" })
    end
  end
  return t
end

-- One cell under one hash: verdicts by number of jobs, and the steps of data parallelism.
local function draw(cell, hash)
  local network = common.network(cell.network)
  local function tree()
    return require "topologies.fat_tree" { down = { SIZE, o.leaves }, up = { 4 }, oversubscription = cell.oversubscription, routing_seed = hash,
      kind = network.on.kind, bandwidth = network.on.bandwidth }
  end
  local function problem(jobs, links)
    return soapstone.problem { model = common.jobs(network, jobs, SIZE), sync = o.sync, links = links, coalesce = "per_device", topology = tree() }
  end
  -- strategies of one job: those that people would try, and what is found for a job that is alone
  local alone = soapstone.problem { model = common.model(network, SIZE), sync = o.sync, links = "shared", coalesce = "per_device",
    topology = cut_out(tree(), network.on.kind, cell.placed) }
  local strategies, found = trial.strategies(alone, { random = o.random, seed = o.seed }), {}
  local best
  for _, strategy in ipairs(strategies) do
    if not best or alone:simulate(strategy).step_time < alone:simulate(best).step_time then best = strategy end
  end
  for k = 1, o.searches do
    local search <close> = soapstone.search.mcmc(alone, { start = best, proposals = o.proposals, seed = o.seed + k - 1, threads = 1 })
    found[k] = search:run().best
    strategies[#strategies + 1] = found[k]
  end
  local function times(jobs, links, list, runs)
    local p, seconds, noise = problem(jobs, links), {}, {}
    for i, strategy in ipairs(list) do seconds[i], noise[i] = mean_step(p, for_all(p, strategy, cell.placed), jobs, runs) end
    return seconds, noise, function(i) return (select(2, mean_step(p, for_all(p, list[i], cell.placed), jobs, o.runs > 0 and math.max(o.runs, o.most_runs) or 0))) end
  end
  local out = { verdicts = {}, changes = {}, steps = {} }
  local one, one_noise = times(1, "shared", strategies, o.runs)
  for i, jobs in ipairs(numbers) do
    local together, noise, more = times(jobs, "shared", strategies, o.runs)
    local errors, worst, least, chosen = {}, 0, 1, 1
    for k in ipairs(strategies) do
      errors[k] = one[k] / together[k] - 1
      if math.abs(errors[k]) > math.abs(worst) then worst = errors[k] end
      if together[k] < together[least] then least = k end
      if k <= #strategies - o.searches and one[k] < one[chosen] then chosen = k end
    end
    local tau, counted = trial.tau(one, together, { one_noise, noise })
    local v = { error = trial.median(errors), worst = worst, tau = tau, pairs = counted, regrets = {}, noises = {}, strategies = #strategies,
      best_simple = strategies[chosen].name, best_broken = strategies[least].name, chosen = together[chosen] / together[least] - 1,
      noise = math.max(table.unpack(noise)) }
    local apart = true
    for its = #strategies - o.searches + 1, #strategies do apart = apart and together[its] > together[least] end
    if apart then -- more runs say the noise of what the regret is of
      noise[least] = more(least)
      for its = #strategies - o.searches + 1, #strategies do noise[its] = more(its) end
    end
    for k = 1, o.searches do
      local its = #strategies - o.searches + k
      v.regrets[k], v.noises[k] = together[its] / together[least] - 1, its == least and 0 or noise[its] + noise[least]
    end
    v.regret, v.regret_noise = trial.median(v.regrets), math.max(table.unpack(v.noises))
    v.least, v.most = math.min(table.unpack(v.regrets)), math.max(table.unpack(v.regrets))
    v.mark = v.most == 0 and "none" or v.least == 0 and "luck" or v.regret <= v.regret_noise and "noise" or nil
    v.told = v.mark == nil
    out.verdicts[i] = v
    local data_parallel = { alone:strategy "data_parallel" }
    out.steps[i] = { jobs = jobs, shared = times(jobs, "shared", data_parallel, 0)[1], hop = times(jobs, "fifo-hop", data_parallel, 0)[1] }
  end
  return out
end

-- What step(draw) says of each: the median, the least, the most.
local function median_of(draws, step)
  local list = {}
  for d, one in ipairs(draws) do list[d] = step(one) end
  return { trial.median(list), math.min(table.unpack(list)), math.max(table.unpack(list)) }
end

local results = trial.sweep(cells, function(cell)
  local draws = {}
  for d = 1, cell.placed == "packed" and 1 or o.hashes do draws[d] = draw(cell, o.seed + d - 1) end -- packed jobs do not meet
  local out = common.over(draws)
  out.steps = {}
  for i, jobs in ipairs(numbers) do
    local function of(links) return median_of(draws, function(one) return one.steps[i][links] end) end
    local function times(links) return median_of(draws, function(one) return one.steps[i][links] / one.steps[1][links] end) end
    out.steps[i] = { jobs = jobs, shared = of "shared", hop = of "hop", times_shared = times "shared", times_hop = times "hop",
      off = median_of(draws, function(one) return one.steps[i].hop / one.steps[i].shared - 1 end) }
  end
  return out
end, { workers = o.workers, cost = function(cell) return common.cost { network = cell.network, devices = cell.placed == "packed" and 1 or 2 } end })

local function range(list, format) return format(list[2]) == format(list[3]) and format(list[1]) or ("%s (%s to %s)"):format(format(list[1]), format(list[2]), format(list[3])) end
local function tenths(number) return ("%.1f"):format(number) end
local function hundredths(number) return ("%.2f"):format(number) end
local function seconds(number) return soapstone.unit.show(number, "s") end


local rows, curves = {}, {}
for i, cell in ipairs(cells) do
  cell.x, cell.verdicts, cell.changes, cell.steps = numbers, results[i].verdicts, {}, results[i].steps
  cell.label = cell.placed
  for _, links in ipairs { "shared", "hop" } do
    local curve = { label = ("%s, %s"):format(cell.placed, links == "hop" and "fifo-hop" or links), look = "both", x = {}, y = {},
      colour = (cell.placed == "packed" and 1 or 3) + (links == "hop" and 1 or 0), panel = ("%s, 1:%g"):format(cell.network, cell.oversubscription) }
    for k, step in ipairs(cell.steps) do curve.x[k], curve.y[k] = step.jobs, 1e3 * step[links][1] end
    curves[#curves + 1] = curve
  end
  for _, step in ipairs(cell.steps) do
    rows[#rows + 1] = { cell.network, cell.oversubscription, cell.placed, step.jobs, seconds(step.shared[1]), seconds(step.hop[1]),
      range(step.times_shared, hundredths), range(step.times_hop, hundredths), range(step.off, common.percent) }
  end
end
print(report.table({ "network", "oversubscription", "placed", "jobs", "data parallel, shared", "fifo-hop", "times one job", "fifo-hop", "fifo-hop is off by" }, rows))
print ""
local columns = { "network", "oversubscription", "placed" }
common.print_verdicts(columns, "jobs", cells)
common.print_groups(columns, cells, {})
report.draw("lines", curves, o.folder .. "/a2-two-jobs.svg", { title = ("Equal data-parallel jobs of %d devices on one fat tree: what a step takes"):format(SIZE), xlabel = "jobs",
  ylabel = "mean step time (ms)", columns = 2, width = 7, from_y = 0 })
common.draw(o, "a2-two-jobs-order", cells, { title = "Other jobs on the network", what = "what they do to the step and to the order of strategies", cost = "what it costs to choose as if alone", xlabel = "jobs", luck = "hash" },
  function(cell) return ("%s, 1:%g"):format(cell.network, cell.oversubscription) end)

local spread, parts = common.those(cells, { placed = "spread" }), {}
for _, cell in ipairs(spread) do
  local last, first = cell.steps[#numbers], cell.steps[1]
  parts[#parts + 1] = ("%s at 1:%g %s times (exclusive links say %s, and are off by %s with %d and %s with %d)"):format(cell.network, cell.oversubscription,
    range(last.times_shared, tenths), range(last.times_hop, tenths), common.percent(first.off[1]), numbers[1], common.percent(last.off[1]), numbers[#numbers])
end
local packed_most, worst, where, dear, all = 0, nil, nil, common.count(spread)
for _, cell in ipairs(cells) do
  for i, v in ipairs(cell.verdicts) do
    if cell.placed == "packed" then packed_most = math.max(packed_most, cell.steps[i].times_shared[3] - 1) end
    if cell.placed == "spread" and v.told and (not worst or v.regret > worst.regret) then worst, where = v, ("%s, 1:%g, %d jobs"):format(cell.network, cell.oversubscription, numbers[i]) end
  end
end
trial.result("in the median of %d hashes %d data-parallel jobs spread over the leaves, against %d, take on shared links: %s; packed ones become longer by %s at most; the strategy found for a job alone is more than 5 %% behind the best known in %d of %d, %s, with a tau of %s for %d jobs.",
  o.hashes, numbers[#numbers], numbers[1], table.concat(parts, ", "), common.percent(packed_most), dear, all,
  worst and ("at most %s (%s by hash; %s)"):format(common.percent(worst.regret), common.least_to_most(worst), where) or "none told apart from luck",
  common.span(spread, common.tau.value, function(tau) return ("%.2f"):format(tau) end), numbers[#numbers])
