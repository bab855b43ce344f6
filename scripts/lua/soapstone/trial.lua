-- trial.lua - an assumption on trial: a simple problem and a broken one over the same strategies.
--
--   local trial = require "soapstone.trial"
--   local t = trial.compare { simple = one, broken = other, strategies = trial.strategies(one), proposals = 200 }
--   print(t.error.median, t.tau, t.regret)
--
-- Three questions.  How wrong is the step time that the simple model says (error)?  Does it order strategies as the
-- broken one does (Kendall's tau)?  And what does it cost to decide by it (regret)?  The second half spreads the cells
-- of a sweep over processes.

local options = require "soapstone.options"
local soapstone = require "soapstone"
local wanted = require "soapstone.wanted"

local trial = {}

local refuse = soapstone.refuse

local MOST_SEED <const> = 2 ^ 53 | 0 -- of a search

-- -- numbers ----------------------------------------------------------------------------------------------

function trial.median(list)
  wanted.numbers("trial.median", "the list", list, { infinite = true })
  if #list == 0 then refuse "trial.median: there is nothing in the list" end
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted)
  local half = #sorted // 2
  return #sorted % 2 == 1 and sorted[half + 1] or (sorted[half] + sorted[half + 1]) / 2
end

-- The value at that share of a list, from 0 (the least) to 1; between two on a straight line.
function trial.quantile(list, share)
  wanted.numbers("trial.quantile", "the list", list)
  if #list == 0 then refuse "trial.quantile: there is nothing in the list" end
  if math.type(share) == nil or not (share >= 0 and share <= 1) then
    refuse("trial.quantile: the share should be a number from 0 to 1, not %s", tostring(share))
  end
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted)
  local place = 1 + share * (#sorted - 1)
  local low = math.floor(place)
  local high = math.min(low + 1, #sorted)
  return sorted[low] + (sorted[high] - sorted[low]) * (place - low)
end

local function sign_of(a, b, noise)
  if a == b or math.abs(a - b) <= noise * math.min(math.abs(a), math.abs(b)) then return 0 end
  return a < b and -1 or 1
end

local function check_tau(a, b, noise)
  local owner <const> = "trial.tau"
  wanted.numbers(owner, "the first list", a, { above = 0, infinite = true })
  wanted.numbers(owner, "the second list", b, { above = 0, infinite = true })
  if #a ~= #b then refuse("%s: %d values and %d have no common order", owner, #a, #b) end
  if noise ~= nil then wanted.table(owner, "the noise", noise) end
  for key, one in soapstone.pairs(noise or {}) do
    if key ~= 1 and key ~= 2 then refuse("%s: the noise should be { of the first list, of the second }, and has '%s' in it", owner, key) end
    local name = ("the noise of the %s list"):format(key == 1 and "first" or "second")
    if type(one) ~= "table" then
      wanted.number(owner, name, one, { min = 0, infinite = true })
    elseif #wanted.numbers(owner, name, one, { min = 0, infinite = true }) ~= #a then
      refuse("%s: %s has %d entries for %d values", owner, name, #one, #a)
    end
  end
end

-- Kendall's tau-b (Kendall, The treatment of ties in ranking problems, Biometrika 33, 1945) between the orders of two lists
-- of positive values, and how many pairs `agree`, are `against`, and are `tied` in one of them or in both.  Two values that
-- differ by no more than the noise, as a share of the lesser one, are tied.  `noise` is { of the first list, of the second },
-- each a number or a list of a number for each value, of which the greater of the two counts; none unless given.  nil where
-- a list is all ties: it has no order.
function trial.tau(a, b, noise)
  check_tau(a, b, noise)
  local function of(list, i, k)
    if type(list) ~= "table" then return list or 0 end
    return math.max(list[i], list[k])
  end
  local first, second = (noise or {})[1], (noise or {})[2]
  local agree, against, tied_a, tied_b, both = 0, 0, 0, 0, 0
  for i = 1, #a do
    for k = i + 1, #a do
      local in_a, in_b = sign_of(a[i], a[k], of(first, i, k)), sign_of(b[i], b[k], of(second, i, k))
      if in_a == 0 and in_b == 0 then
        both = both + 1
      elseif in_a == 0 then
        tied_a = tied_a + 1
      elseif in_b == 0 then
        tied_b = tied_b + 1
      elseif in_a == in_b then
        agree = agree + 1
      else
        against = against + 1
      end
    end
  end
  local decided = agree + against
  local below = math.sqrt((decided + tied_a) * (decided + tied_b))
  local pairs_of = { agree = agree, against = against, tied = tied_a + tied_b + both }
  return below > 0 and (agree - against) / below or nil, pairs_of
end

local function between(x, k, a, b, log)
  local here, there = a[k] - b[k], a[k + 1] - b[k + 1]
  local part = here / (here - there)
  if log then return x[k] * (x[k + 1] / x[k]) ^ part end
  return x[k] + (x[k + 1] - x[k]) * part
end

local function check_curves(x, a, b, log)
  local owner <const> = "trial.crossing"
  wanted.numbers(owner, log and "x, of which the logarithm is taken," or "x", x, { above = log and 0 or nil })
  wanted.numbers(owner, "the first curve", a)
  wanted.numbers(owner, "the second curve", b)
  if #x ~= #a or #x ~= #b then refuse("%s: %d, %d and %d values are no two curves", owner, #x, #a, #b) end
  local rises, falls
  for k = 2, #x do
    if x[k] == x[k - 1] then refuse("%s: x is %s twice, in places %d and %d; it must rise or fall throughout", owner, x[k], k - 1, k) end
    rises, falls = rises or x[k] > x[k - 1], falls or x[k] < x[k - 1]
    if rises and falls then
      refuse("%s: x goes from %s on to %s and then to %s; it must rise or fall throughout", owner, x[1], x[k - 1], x[k])
    end
  end
end

-- Where two curves over the same x, which rises or falls throughout, cross: a list of { at, below = "a" or "b" }, which of them is below before.  Between two x
-- their difference is a straight line, over x or (log = true) over its logarithm.
function trial.crossing(x, a, b, o)
  o = options(o, { log = false }, "trial.crossing")
  check_curves(x, a, b, o.log)
  local log, found, before, at = o.log, {}, 0, nil
  for k = 1, #x do
    local now = sign_of(a[k], b[k], 0)
    if now ~= 0 and before ~= 0 and now ~= before then
      -- where the curves touched on the way, they crossed there
      found[#found + 1] = { at = at or between(x, k - 1, a, b, log), below = before < 0 and "a" or "b" }
    end
    if now == 0 then at = at or x[k] else before, at = now, nil end
  end
  return found
end

local function check_ends(owner, from, to, log)
  local bounds = log and { above = 0 } or nil
  wanted.number(owner, log and "from, of which the logarithm is taken," or "from", from, bounds)
  wanted.number(owner, log and "to, of which the logarithm is taken," or "to", to, bounds)
end

-- Halving ends where a number near 1 has its neighbour, 2^-53 from it.
local function tolerance_of(preset) return options.number(preset, { min = 1e-15, max = 1 }) end

-- The place between from and to where f(x), a difference, changes its sign, to a share of `tolerance` (0.001 unless given) of what
-- is between, halved in x or (log = true) in its logarithm; nil if the sign is the same at both ends.
function trial.bisect(f, from, to, o)
  o = options(o, { log = false, tolerance = tolerance_of(1e-3) }, "trial.bisect")
  wanted.func("trial.bisect", "the first argument", f)
  check_ends("trial.bisect", from, to, o.log)
  local log, tolerance = o.log, o.tolerance
  local function place(part) return log and from * (to / from) ^ part or from + (to - from) * part end
  local function at(x) return wanted.number("trial.bisect", ("what the function gave at %s"):format(x), f(x), { infinite = true }) end
  local low, high = 0, 1
  local below, above = at(from), at(to)
  if below == 0 then return from end
  if above == 0 then return to end
  if (below < 0) == (above < 0) then return nil end
  while high - low > tolerance do
    local middle = (low + high) / 2
    local value = at(place(middle))
    if value == 0 then return place(middle) end
    if (value < 0) == (below < 0) then low = middle else high = middle end
  end
  return place((low + high) / 2)
end

-- -- strategies -------------------------------------------------------------------------------------------

-- Strategies go from one problem to another that has the same operators and as many devices.  Fewer devices would be taken
-- without a word against more: the rest of them would stand idle.
local function check_alike(owner, one, its, other, others)
  local here, there = one.topology.devices, other.topology.devices
  if here ~= there then
    refuse("%s: %s has %s and %s %d; there should be as many", owner, its, here == 1 and "1 device" or here .. " devices", others, there)
  end
  if one.model == other.model then return end
  local names = {}
  for op in other.model:ops() do names[op.name] = true end
  for op in one.model:ops() do
    if not names[op.name] then refuse("%s: %s has an operator '%s' and %s none", owner, its, op.name, others) end
    names[op.name] = nil
  end
  for name in soapstone.pairs(names) do refuse("%s: %s has an operator '%s' and %s none", owner, others, name, its) end
end

-- The same degrees and devices in a problem whose model has those operators and whose topology as many devices.
function trial.onto(problem, strategy)
  wanted.problem("trial.onto", "the first argument", problem)
  wanted.strategy("trial.onto", "the second argument", strategy)
  local from = strategy.problem
  if from == problem or (from.model == problem.model and from.topology == problem.topology) then return strategy end
  check_alike("trial.onto", from, ("the problem of strategy '%s'"):format(strategy.name), problem, "the other")
  local copy = problem:strategy("whole", { name = strategy.name })
  for op in problem.model:ops() do
    local configuration = strategy:get(op.name)
    copy:set(op.name, { degrees = configuration.degrees, devices = configuration.devices })
  end
  return copy
end

local function dimension(op, class)
  for _, d in ipairs(op.dims) do
    if d.class == class then return d end
  end
end

-- Every operator with weights in `parts` by parameter and the rest of the devices by sample; the others by sample alone.
-- Parts of one parameter split are neighbours, or (apart) as far from each other as they can be.
local function mixed(problem, parts, apart)
  local devices = problem.topology.devices
  local strategy = problem:strategy("data_parallel", { name = ("tensor %d%s"):format(parts, apart and " apart" or "") })
  local changed = false
  for op in problem.model:ops() do
    local p, s = dimension(op, "p"), dimension(op, "s")
    local samples = devices // parts
    if op.parameters > 0 and p and s and p.extent // p.grain >= parts and s.extent // s.grain >= samples then
      local places = {}
      for i = 0, samples - 1 do
        for k = 0, parts - 1 do
          places[i * parts + k + 1] = apart and k * samples + i + 1 or i * parts + k + 1
        end
      end
      strategy:set(op.name, { degrees = { [s.name] = samples, [p.name] = parts }, devices = places })
      changed = true
    end
  end
  return changed and strategy
end

-- A list of strategies that people would try on a problem: the ready-made ones, parameters split in 2, 4, ... parts (of
-- neighbours, "tensor 4", and of devices far apart, "tensor 4 apart") with samples over the rest, and `random` ones (0
-- unless given) from `seed`.  What comes out equal is there once.
function trial.strategies(problem, o)
  wanted.problem("trial.strategies", "the first argument", problem)
  o = options(o, { random = 0, seed = options.count(0, { min = 0, max = MOST_SEED }) }, "trial.strategies")
  local random, seed, list = o.random, o.seed, {}
  local function add(strategy)
    for _, there in ipairs(list) do
      if there == strategy then return end
    end
    list[#list + 1] = strategy
  end
  for _, kind in ipairs { "data_parallel", "model_parallel", "expert_cnn", "expert_rnn" } do
    local ok, strategy = pcall(problem.strategy, problem, kind)
    if ok then add(strategy) end -- some networks have no expert of the other kind
  end
  local parts, devices = 2, problem.topology.devices
  while parts <= devices do
    if devices % parts == 0 then
      for _, apart in ipairs { false, true } do
        local strategy = mixed(problem, parts, apart)
        if strategy then add(strategy) end
      end
    end
    parts = 2 * parts
  end
  for i = 1, random do add(problem:strategy("random", { seed = seed + i, name = "random " .. i })) end
  return list
end

-- -- the trial --------------------------------------------------------------------------------------------

local MOST_RUNS <const> = 16 -- unless given, of a step that is simulated

-- The step time, and how far it moves when durations do by a picosecond, in so many runs.
local function simulated(runs)
  return function(problem, strategy, more) -- or in more of them
    local r <close> = problem:simulate(strategy)
    local n = more or runs
    return r.step_time, n > 0 and r:sensitivity { runs = n }.spread or 0
  end
end

-- The best that a short search finds from the best of the list: a strategy of `problem`.
local function search_from(problem, start, proposals, seed)
  if proposals == 0 then return start end
  local search <close> = soapstone.search.mcmc(problem, { start = trial.onto(problem, start), proposals = proposals, seed = seed, threads = 1 })
  return search:run().best
end

local function errors_of(rows)
  local errors, worst = {}, rows[1].error
  for i, row in ipairs(rows) do
    errors[i] = row.error
    if math.abs(row.error) > math.abs(worst) then worst = row.error end
  end
  return { median = trial.median(errors), worst = worst }
end

-- time(problem, strategy) of a script, of which nothing is taken unseen.
local function looked_at(owner, time)
  return function(problem, strategy, more)
    local seconds, noise = time(problem, strategy, more)
    local of = ("that option 'time' gave for strategy '%s'"):format(strategy.name)
    wanted.number(owner, "the seconds " .. of, seconds, { above = 0 })
    return seconds, noise == nil and 0 or wanted.number(owner, "the noise " .. of, noise, { min = 0 })
  end
end

local function read(o)
  local owner <const> = "trial.compare"
  o = options(o, {
    simple = options.any(), broken = options.any(), strategies = options.any(), kept = options.any(),
    proposals = 0, searches = 1, seed = options.count(0, { min = 0, max = MOST_SEED }),
    runs = options.count(4, { min = 0 }), most_runs = options.count(nil, { min = 0 }),
    time = options.any(), scored_by = options.any(),
  }, owner)
  wanted.problem(owner, "option 'simple'", o.simple)
  wanted.problem(owner, "option 'broken'", o.broken)
  wanted.strategies(owner, "option 'strategies'", o.strategies)
  if #o.strategies == 0 then refuse("%s: option 'strategies' is a list with nothing in it", owner) end
  check_alike(owner, o.simple, "option 'simple'", o.broken, "option 'broken'")
  for i, strategy in ipairs(o.strategies) do
    local its = ("the problem of entry %d of option 'strategies', '%s',"):format(i, strategy.name)
    check_alike(owner, strategy.problem, its, o.simple, "option 'simple'")
  end
  if o.kept ~= nil then wanted.table(owner, "option 'kept'", o.kept) end
  if o.scored_by ~= nil then wanted.func(owner, "option 'scored_by'", o.scored_by) end
  o.asked = { seed = o.seed, proposals = o.proposals, runs = o.runs, time = o.time or false, scored_by = o.scored_by or false }
  if o.time ~= nil then o.time = looked_at(owner, wanted.func(owner, "option 'time'", o.time)) end
  return o
end

-- What was kept answers one question: the same strategies, asked and searched from in the same way.
local function check_kept(o, problem, its)
  if type(its) ~= "table" or not its.on then refuse "trial.compare: option 'kept' has in it what no trial kept" end
  if #its.on ~= #o.strategies then
    refuse("trial.compare: what was kept is of %d strategies, and now there are %d", #its.on, #o.strategies)
  end
  for i, strategy in ipairs(o.strategies) do
    if its.on[i] ~= trial.onto(problem, strategy) then
      refuse("trial.compare: what was kept is of other strategies: entry %d was '%s', and '%s' is another one now", i, its.on[i].name, strategy.name)
    end
  end
  for name, value in soapstone.pairs(o.asked) do
    local before = its.asked[name]
    if before ~= value and (type(before) == "function" or type(value) == "function") then
      refuse("trial.compare: what was kept was asked with another option '%s'", name)
    elseif before ~= value then
      refuse("trial.compare: what was kept was asked with option '%s' %s, and now it is %s", name, before, value)
    end
  end
end

-- What a problem says of the strategies: them on it, seconds, the noise of each, the place of the best, and what each search
-- from there finds; asked once for all trials that share `kept`.
local function side(problem, o, time, proposals, searches, seed)
  local kept = o.kept or {}
  local its = kept[problem]
  if not its then
    its = { on = {}, seconds = {}, noise = {}, best = 1, found = {}, asked = o.asked }
    for i, strategy in ipairs(o.strategies) do
      its.on[i] = trial.onto(problem, strategy)
      its.seconds[i], its.noise[i] = time(problem, its.on[i])
      if its.seconds[i] == 0 then refuse("trial.compare: strategy '%s' takes no time, of which no share can be told", strategy.name) end
      if its.seconds[i] < its.seconds[its.best] then its.best = i end
    end
    kept[problem] = its
  else
    check_kept(o, problem, its)
  end
  for k = #its.found + 1, searches do
    local scored = problem
    if o.scored_by then
      scored = wanted.problem("trial.compare", ("what option 'scored_by' gave for search %d"):format(k), o.scored_by(problem, k))
    end
    its.found[k] = search_from(scored, its.on[its.best], proposals, seed + k - 1)
  end
  return its
end

-- What is known under the broken problem: `list` has the best of the list and then what each search found under the
-- `simple` and under the `broken` problem, each { strategy, seconds, noise }, and `fastest` is the fastest of all.
local function known_of(o, time, simple, broken, searches)
  local best = broken.best
  local list = { { strategy = broken.on[best], seconds = broken.seconds[best], noise = broken.noise[best] } }
  local function ask(strategy)
    for _, one in ipairs(list) do
      if one.strategy == strategy then return one end
    end
    local one = { strategy = strategy }
    one.seconds, one.noise = time(o.broken, strategy)
    list[#list + 1] = one
    return one
  end
  local known = { list = list, simple = {}, broken = {}, fastest = list[1] }
  for k = 1, searches do
    known.simple[k], known.broken[k] = ask(trial.onto(o.broken, simple.found[k])), ask(trial.onto(o.broken, broken.found[k]))
  end
  for _, one in ipairs(list) do
    if one.seconds < known.fastest.seconds then known.fastest = one end
  end
  return known
end

-- Whether all that was found under the simple problem is slower than all that was found under the broken one.
local function is_apart(known)
  local first, last = math.huge, 0
  for k, one in ipairs(known.simple) do
    first, last = math.min(first, one.seconds), math.max(last, math.min(known.broken[k].seconds, known.list[1].seconds))
  end
  return first > last
end

-- A picosecond does to both of a regret what it does to one, if they are the same.
local function noise_of(one, fastest) return one == fastest and 0 or one.noise + fastest.noise end

-- The regret of each search under the simple problem, and the noise of the two strategies that it is of.
local function searches_of(known, seed)
  local searches = {}
  for k, one in ipairs(known.simple) do
    searches[k] = { seed = seed + k - 1, simple = one.seconds, broken = known.broken[k].seconds, regret = one.seconds / known.fastest.seconds - 1,
      noise = noise_of(one, known.fastest), found = { simple = one.strategy, broken = known.broken[k].strategy } }
  end
  return searches
end

-- More runs, more(one), of all strategies that a regret is of: a few runs may have missed what moves them, however little they
-- showed.
local function settle(known, more)
  more(known.fastest)
  for _, one in ipairs(known.simple) do more(one) end
end

-- The median regret, the least and the most, the greatest noise, and what stands in the way of telling it apart, if anything.
local function regrets_of(searches, apart)
  local regrets, noise = {}, 0
  for k, search in ipairs(searches) do
    regrets[k], noise = search.regret, math.max(noise, search.noise)
  end
  table.sort(regrets)
  local median = trial.median(regrets)
  local mark = regrets[#regrets] == 0 and "none" or not apart and "luck" or median <= noise and "noise" or nil
  return median, { least = regrets[1], most = regrets[#regrets] }, noise, mark
end

-- A simple problem against a broken one over strategies (of one of the two).  Each row has `name`, the step times `simple` and
-- `broken`, and the `error` simple / broken - 1, of which result.error has the median and the `worst` of either sign.  `tau` and
-- `pairs` are as above, where the noise of a step time is the spread that so many `runs` with durations moved by a picosecond
-- show (0: none); result.noise has the greatest of each.
--
-- The regret of a search is the broken step time of the strategy found under the simple problem over that of the fastest one
-- known (result.known: `seconds` and `strategy`), less 1: found is the best of the list (`best`) and then a search of so many
-- `proposals` (0: no search), and known are the list and what all searches found under either problem.  So it is never below
-- 0, and it is a lower bound: a longer search may know a faster one.  There are so many `searches`, from seeds that follow each
-- other; each of result.searches has `seed`, under the broken problem the step times of what it found under the `simple` and
-- the `broken` one, `regret`, `noise` (the sum of what a picosecond moves the two strategies of the regret by) and `found`.
-- result.regret is the median of all, result.regrets has the `least` and the `most`, result.regret_noise is the greatest noise.
--
-- `told` says whether the regret is told apart from both kinds of luck, and `mark` why not: "none" where every search found
-- the fastest one known under the simple problem, too; "luck" where not all that was found under the simple problem is slower
-- than all that was found under the broken one (of three searches chance alone separates them once in 20, of five once in 252, of one once in 2);
-- "noise" where the median is no greater than the noise, which `most_runs` (16; none if there are no `runs`) say wherever a regret is no
-- luck: few miss most of what a picosecond can do.  `chosen` is the regret without a search, among the list.
--
-- time(problem, strategy), if given, says seconds and noise in place of one simulated step, but for the search; it is asked
-- for a noise of more runs, a third argument, where most_runs are given.  `kept`, a table, keeps what a problem said: trials that
-- share it ask a problem once; they must have the same strategies, seed, proposals, runs, time and scored_by.  scored_by(problem, k), if given, is the problem that search k scores
-- by in place of a problem: one that is alike, but has luck of its own.
function trial.compare(o)
  o = read(o)
  local proposals, seed, searches, runs = o.proposals, o.seed, o.searches, o.runs
  local time = o.time or simulated(runs)
  local simple = side(o.simple, o, time, proposals, searches, seed)
  local broken = side(o.broken, o, time, proposals, searches, seed)
  local rows = {}
  for i, strategy in ipairs(o.strategies) do
    rows[i] = { name = strategy.name, simple = simple.seconds[i], broken = broken.seconds[i], error = simple.seconds[i] / broken.seconds[i] - 1 }
  end
  local result = { rows = rows, error = errors_of(rows), best = { simple = rows[simple.best].name, broken = rows[broken.best].name },
    noise = { simple = math.max(table.unpack(simple.noise)), broken = math.max(table.unpack(broken.noise)) },
    chosen = broken.seconds[simple.best] / broken.seconds[broken.best] - 1 }
  result.tau, result.pairs = trial.tau(simple.seconds, broken.seconds, { simple.noise, broken.noise })
  local known, most, again = known_of(o, time, simple, broken, searches), o.most_runs or (o.time or runs == 0) and 0 or MOST_RUNS, {}
  local apart = is_apart(known)
  if apart and most > (o.time and 0 or runs) then
    settle(known, function(one)
      if not again[one] then one.noise, again[one] = select(2, time(o.broken, one.strategy, most)), true end
    end)
  end
  result.searches = searches_of(known, seed)
  result.regret, result.regrets, result.regret_noise, result.mark = regrets_of(result.searches, apart)
  result.told, result.known = result.mark == nil, { seconds = known.fastest.seconds, strategy = known.fastest.strategy }
  return result
end

-- Where a first strategy stops being better than a second, between from and to: problem_at(x) is the problem at a strength x, and
-- bisection finds a place where the difference of their step times changes its sign (there may be more).  nil and "never" where the
-- first is no worse at `to`, nil and "before" where the second is no worse at `from`.  options.time is that of trial.compare;
-- log and tolerance are those of trial.bisect, whose preset here is 0.01.
function trial.overtaken(first, second, problem_at, from, to, o)
  local owner <const> = "trial.overtaken"
  wanted.strategy(owner, "the first argument", first)
  wanted.strategy(owner, "the second argument", second)
  wanted.func(owner, "the third argument", problem_at)
  o = options(o, { log = false, tolerance = tolerance_of(0.01), time = options.any() }, owner)
  check_ends(owner, from, to, o.log)
  local time = o.time == nil and simulated(0) or looked_at(owner, wanted.func(owner, "option 'time'", o.time))
  local function ahead(x)
    local problem = wanted.problem(owner, ("what the third argument gave at %s"):format(x), problem_at(x))
    return (time(problem, trial.onto(problem, first))) - (time(problem, trial.onto(problem, second)))
  end
  if ahead(to) <= 0 then return nil, "never" end
  if ahead(from) >= 0 then return nil, "before" end
  return trial.bisect(ahead, from, to, { log = o.log, tolerance = o.tolerance })
end

-- -- sweeps over processes --------------------------------------------------------------------------------

local function packed(value, inside)
  local kind = type(value)
  if kind == "number" or kind == "string" or kind == "boolean" or kind == "nil" then
    return (("%q"):format(value):gsub("\\\n", "\\n"))
  end
  if kind ~= "table" or inside > 20 then
    error(("a cell gives numbers, texts and tables of them, not a %s"):format(kind == "table" and "deeper table" or kind), 0)
  end
  local parts = {}
  for key, element in soapstone.pairs(value) do
    parts[#parts + 1] = ("[%s]=%s"):format(packed(key, inside + 1), packed(element, inside + 1))
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

local function unpacked(text)
  return load("return " .. text, "=cell", "t", {})()
end

local function quoted(word) return "'" .. word:gsub("'", "'\\''") .. "'" end

-- What runs this script again: everything before its name, the name, and its words.
local function command()
  local words, first = {}, 0
  while arg[first - 1] do first = first - 1 end
  for i = first, #arg do words[#words + 1] = quoted(arg[i]) end
  return table.concat(words, " ")
end

local function processors()
  local pipe = io.popen "nproc 2>/dev/null"
  local number = pipe and pipe:read "n"
  if pipe then pipe:close() end
  return number or 1
end

local mark = "soapstone cell "

-- One cell as a line: whether it went well, and what it gave or why not.
local function done(cell, run, k)
  math.randomseed(k)
  local ok, value = pcall(run, cell, k)
  if ok then ok, value = pcall(packed, value, 0) end
  return ("%s%d %s %s"):format(mark, k, ok, ok and value or packed(tostring(value), 0))
end

-- Which of n processes has cell i: in each round of n cells each has one, in turns that do not come round (the sum of the
-- digits of i - 1 in base n, the Thue-Morse sequence for two), or one of two would have all of the large ones of a list
-- small, large, small, large.
local function turn(i, n)
  local sum, rest = 0, i - 1
  while rest > 0 and n > 1 do
    sum, rest = sum + rest % n, rest // n
  end
  return sum % n + 1
end

-- The process of each cell: by turns or, where cost(cell) says how long each takes, the longest first, each to the process that has the
-- least so far (Graham, Bounds on multiprocessing timing anomalies, 1969).
local function deal(cells, n, cost)
  local order, costs, load, turns = {}, {}, {}, {}
  for i, cell in ipairs(cells) do
    order[i], turns[i] = i, turn(i, n)
    costs[i] = cost and wanted.number("trial.sweep", ("what option 'cost' gave for cell %d"):format(i), cost(cell), { min = 0 })
  end
  if not cost then return turns end
  table.sort(order, function(a, b)
    if costs[a] ~= costs[b] then return costs[a] > costs[b] end
    return a < b
  end)
  for k = 1, n do load[k] = 0 end
  for _, i in ipairs(order) do
    local least = 1
    for k = 2, n do
      if load[k] < load[least] then least = k end
    end
    turns[i], load[least] = least, load[least] + costs[i]
  end
  return turns
end

local function serve(cells, run, k, turns)
  for i, cell in ipairs(cells) do
    if turns[i] == k then
      io.stdout:write(done(cell, run, i), "\n")
      io.stdout:flush()
    end
  end
  os.exit(0, true)
end

local function read_line(pipe)
  for line in pipe:lines() do
    if line:sub(1, #mark) == mark then return line end -- anything else is what the script printed
  end
end

local function describe(cell)
  if type(cell) ~= "table" then return tostring(cell) end
  local parts = {}
  for name, value in soapstone.pairs(cell) do
    if type(value) ~= "table" and type(value) ~= "userdata" then
      parts[#parts + 1] = type(name) == "string" and ("%s %s"):format(name, value) or tostring(value)
    end
  end
  return table.concat(parts, ", ")
end

local function start_all(n)
  local pipes = {}
  for k = 1, n do
    pipes[k] = assert(io.popen(("SOAPSTONE_SWEEP=%d/%d %s"):format(k, n, command())))
  end
  return pipes
end

local swept = false

-- run(cell, number) for each cell of a list, and the list of what these gave: numbers, texts and tables of them.  The
-- script is started again as `workers` processes (0, unless given: as many as there are processors), which take turns with
-- the cells, at the one sweep that a script may have; so nothing but the cell, its number and the script's words may
-- decide what comes out, and math.random begins anew in each cell.  What a cell prints is lost.  cost(cell), if given, is
-- about how long it takes, in any unit, so that the processes end at about the same time.
function trial.sweep(cells, run, o)
  wanted.list("trial.sweep", "the first argument", cells, "cells")
  wanted.func("trial.sweep", "the second argument", run)
  o = options(o, { workers = 0, cost = options.any() }, "trial.sweep")
  if o.cost ~= nil then wanted.func("trial.sweep", "option 'cost'", o.cost) end
  if swept then refuse "trial.sweep: a script can have one sweep; put all cells into one list" end
  swept = true
  local k, n = (os.getenv "SOAPSTONE_SWEEP" or ""):match "^(%d+)/(%d+)$"
  if k then serve(cells, run, math.tointeger(k), deal(cells, math.tointeger(n), o.cost)) end
  local workers = math.min(o.workers == 0 and processors() or o.workers, #cells)
  local turns = deal(cells, workers, o.cost)
  local pipes = workers > 1 and start_all(workers)
  local results, wrong = {}, nil
  for i, cell in ipairs(cells) do
    soapstone.progress(("cell %d of %d: %s"):format(i, #cells, describe(cell)))
    local line = pipes and read_line(pipes[turns[i]]) or not pipes and done(cell, run, i)
    local ok, value = (line or ""):match("^" .. mark .. i .. " (%l+) (.*)$")
    if ok ~= "true" then
      wrong = ("cell %d (%s): %s"):format(i, describe(cell), ok and unpacked(value) or "its process ended without a result")
      break
    end
    results[i] = unpacked(value)
  end
  soapstone.progress(nil)
  for _, pipe in ipairs(pipes or {}) do pipe:close() end
  if wrong then refuse("trial.sweep: %s", wrong) end
  return results
end

-- The one sentence that an experiment ends with.
function trial.result(format, ...)
  wanted.text("trial.result", "the format", format)
  local ok, text = pcall(string.format, format, ...)
  if ok then return print("\nresult: " .. text) end
  local number, why = text:match "^bad argument #(%d+) to '.-' %((.*)%)$"
  if number then refuse("trial.result: value %d of the format: %s", number - 1, why) end
  refuse("trial.result: the format is none: %s", text)
end

return trial
