-- measured.lua - a search whose times are measured as it goes, and whose best strategies are executed.
--
--   local measured = require "soapstone.measured"
--   local found = measured.search(problem, { search = { proposals = 2000 }, budget = "30 s", execute = 5 })
--   print(found, found.best, found.gain)
--
-- A round is a search (problem:with_costs of what was measured so far, and the problem's own costs for the rest), then
-- the best strategies of its chains are asked what they need that nobody measured, and that is measured: with nothing
-- else at work, unlike in the middle of a search, and only where the search means to stay.  It ends when the best need
-- nothing more.  docs/decisions/0043-measured-when-a-search-wants-to-stay.md has the reasons.

local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local wanted = require "soapstone.wanted"

local measured = {}

local OWNER <const> = "measured.search"
local refuse, show = soapstone.refuse, soapstone.unit.show

local function copy_of(t)
  local copy = {}
  for name, value in pairs(t or {}) do copy[name] = value end
  return copy
end

local function read_profile(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  file:close()
  return soapstone.profile.read(path)
end

local function check(problem, o)
  wanted.problem(OWNER, "the problem", problem)
  o = options(o, {
    searcher = options.choice("mcmc", { "annealing", "greedy", "mcmc", "random" }),
    search = options.any(nil, "options of that searcher"), profile = options.any(nil, "options of problem:profile"),
    known = options.any(nil, "a profile"), file = options.any(nil, "a path"),
    budget = options.quantity("1 min", "s", { min = 0, max = 1e9 }), rounds = options.count(4, { min = 1, max = 1000 }),
    optimism = options.number(0.5, { above = 0, max = 1 }),
    execute = options.count(5, { min = 0, max = 1000 }), steps = options.count(5, { min = 1, max = 1e6 }),
    passes = options.count(3, { min = 1, max = 1e6 }), pinned = true, progress = false,
  }, OWNER)
  if o.search ~= nil then wanted.table(OWNER, "option 'search'", o.search) end
  if o.profile ~= nil then wanted.table(OWNER, "option 'profile'", o.profile) end
  if o.file ~= nil then wanted.text(OWNER, "option 'file'", o.file) end
  for _, name in ipairs { "log", "resume" } do
    if (o.search or {})[name] ~= nil then
      refuse("%s: option 'search' has '%s', and each round is a search of its own", OWNER, name)
    end
  end
  for _, name in ipairs { "known", "budget" } do
    if (o.profile or {})[name] ~= nil then
      refuse("%s: option 'profile' has '%s': give it to %s itself", OWNER, name, OWNER)
    end
  end
  return o
end

-- -- what is known, and what is of interest -----------------------------------------------------------------

local Job = {}
Job.__index = Job

local function new_job(problem, o)
  local job = setmetatable({ problem = problem, o = o, candidates = {}, rounds = {}, profile = o.known, measured = 0,
    seconds = { searching = 0.0, measuring = 0.0 } }, Job)
  local kept = o.file and read_profile(o.file)
  if kept then job.profile = o.known and soapstone.profile.merge { o.known, kept } or kept end
  return job
end

function Job:say(format, ...)
  if self.o.progress then soapstone.progress(format and format:format(...)) end
end

-- A strategy that was of interest, from round `round` on (0: a start); each is there once.
function Job:note(strategy, name, round)
  for _, c in ipairs(self.candidates) do
    if c.strategy == strategy then return c end
  end
  local c = { name = name, strategy = strategy, round = round }
  self.candidates[#self.candidates + 1] = c
  return c
end

function Job:time_left()
  return self.o.budget == 0 and 0 or self.o.budget - self.seconds.measuring
end

-- Measures what these need and nobody measured, where there is time or nothing is known at all.  How many were new.
function Job:measure(strategies)
  local p, left = copy_of(self.o.profile), self:time_left()
  if self.profile and (left < 0 or left == 0 and self.o.budget > 0) then return 0 end
  p.known, p.budget = self.profile, left
  self:say "measuring"
  local profile, new, seconds = self.problem:profile(strategies, p)
  self.profile, self.measured, self.seconds.measuring = profile, self.measured + new, self.seconds.measuring + seconds
  if self.o.file and new > 0 then profile:write(self.o.file) end
  self.interrupted = profile:lacks(strategies) > 0 -- Ctrl-C, which keeps what was measured
  return new
end

-- The problem with what is known by now; what is not takes `share` of the time that the problem's own costs say.
function Job:problem_now(share)
  local own = self.problem.costs
  return self.problem:with_costs(soapstone.costs.stack { soapstone.costs.table(self.profile), share < 1 and own:scale(share) or own })
end

-- -- what this machine cannot compute ------------------------------------------------------------------------

-- Every operator that can be in two along the dimension `dim`, and the others whole.
local function split_along(problem, dim)
  local s = problem:strategy "whole"
  for op in problem.model:ops() do
    if s:get(op.name).degrees[dim] then pcall(s.set, s, op.name, { degrees = { [dim] = 2 }, devices = { 1, 2 } }) end
  end
  return s
end

-- Operators whose parts, cut along a dimension, have no kernels here: a list of { op =, dim =, why = }. Where whole ones
-- have none either, that is refused.
local function cuts_without_kernels(problem)
  local whole, cuts, dims = problem:strategy "whole", {}, {}
  local none = problem:without_kernels(whole)[1]
  if none then refuse("%s: operator %s: %s", OWNER, none.op, none.why) end
  if problem.topology.devices < 2 then return cuts end
  for op in problem.model:ops() do
    for dim in pairs(whole:get(op.name).degrees) do dims[dim] = true end
  end
  for dim in pairs(dims) do
    for _, it in ipairs(problem:without_kernels(split_along(problem, dim))) do cuts[#cuts + 1] = { op = it.op, dim = dim, why = it.why } end
  end
  return cuts
end

-- The strategy with these operators whole along these dimensions, and so they stay.
local function never_cut(strategy, cuts)
  local s = strategy:copy()
  for _, cut in ipairs(cuts) do
    if s:get(cut.op).degrees[cut.dim] > 1 then
      local ok, wrong = pcall(s.set, s, cut.op, { degrees = {}, devices = { 1 } })
      if not ok then refuse("%s: %s of %s: %s", OWNER, cut.op, strategy.name, wrong) end
    end
    s:pin(cut.op, cut.dim)
  end
  return s
end

-- -- rounds of searching and measuring ----------------------------------------------------------------------

-- Of each chain that which costs least by what is known now: its start, or the best it found so far.
local function least_of_chains(problem, chains)
  local starts = {}
  for i, chain in ipairs(chains) do
    local least
    for _, c in ipairs(chain) do
      local t = problem:simulate(c.strategy).step_time
      if not least or t < least then starts[i], least = c.strategy, t end
    end
  end
  return starts
end

-- Whether its best lack nothing any more (or there is no time to measure it), and whether it was interrupted.
function Job:search_round(number, share, make, chains)
  local problem, o = self:problem_now(share), copy_of(self.o.search)
  o.start = least_of_chains(problem, chains)
  o.seed = (o.seed or 0) + number - 1
  self:say()
  local search = make(problem, o):run { progress = self.o.progress }
  local best = {}
  for i = 1, #search.chains do
    best[i] = search:best_of(i)
    local chain = chains[i]
    chain[#chain + 1] = self:note(best[i], ("%s, round %d"):format(chain[1].name, number), number)
  end
  self.seconds.searching = self.seconds.searching + search.seconds
  local lacks = self.profile:lacks(best)
  local new = lacks > 0 and not search.interrupted and self:measure(best) or 0
  self.rounds[number] = { number = number, optimism = share, cost = search.cost, proposals = search.proposals, lacked = lacks,
    measured = new }
  return new == 0, search.interrupted or self.interrupted
end

-- Rounds that hope, until their best need nothing more, and at last one that does not: sums and updates, which are never
-- measured, are scaled as well.  Whether it was interrupted.
function Job:search()
  local make = soapstone.search[self.o.searcher]
  local first, chains, starts = make(self.problem, self.o.search or {}), {}, {}
  self.uncut = cuts_without_kernels(self.problem)
  for i = 1, #first.chains do
    starts[i] = never_cut(first:start_of(i), self.uncut)
    chains[i] = { self:note(starts[i], first.chains[i].name, 0) }
  end
  if self.o.execute > 0 then -- what cannot be executed is refused before anything takes long
    self.problem:execute(starts[1], { steps = 1, warmup = 0, pinned = self.o.pinned })
  end
  self:measure(starts)
  if self.interrupted then return true end
  local share = self.o.optimism
  for number = 1, self.o.rounds do
    if number == self.o.rounds then share = 1 end
    local settled, interrupted = self:search_round(number, share, make, chains)
    if interrupted then return true end
    if settled and share == 1 then return false end
    if settled then share = 1 end
  end
  return false
end

-- -- the best, simulated with all that is known, and executed -------------------------------------------------

function Job:simulate()
  local problem = self:problem_now(1)
  for _, c in ipairs(self.candidates) do
    c.simulated, c.lacks = problem:simulate(c.strategy).step_time, self.profile:lacks(c.strategy)
  end
  table.sort(self.candidates, function(a, b) return a.simulated < b.simulated end)
  return problem
end

-- In turn, so that a machine that drifts does so under all of them.
function Job:execute(list)
  local times = {}
  for i in ipairs(list) do times[i] = {} end
  for pass = 1, self.o.passes do
    for i, c in ipairs(list) do
      self:say("executing %s (%d of %d)", c.name, (pass - 1) * #list + i, self.o.passes * #list)
      local results = self.problem:execute(c.strategy, { steps = self.o.steps, pinned = self.o.pinned })
      for _, r in ipairs(results) do times[i][#times[i] + 1] = r.step_time end
    end
  end
  self:say()
  return times
end

-- The fastest of several measurements looks faster than it is; so what is gained is measured by steps of its own, of
-- the one that the simulation would have taken and of the one that is taken now.
function Job:gain(first, chosen)
  if first == chosen then return 0.0 end
  local times = self:execute { first, chosen }
  return 1 - trial.median(times[2]) / trial.median(times[1])
end

function Job:rerank()
  local list = table.move(self.candidates, 1, math.min(self.o.execute, #self.candidates), 1, {})
  local chosen = list[1]
  for i, times in ipairs(self:execute(list)) do
    list[i].executed, list[i].q05, list[i].q95, list[i].times = trial.median(times), trial.quantile(times, 0.05), trial.quantile(times, 0.95), times
    if list[i].executed < chosen.executed then chosen = list[i] end
  end
  return chosen, self:gain(list[1], chosen)
end

-- -- the page --------------------------------------------------------------------------------------------------

local Found = {}

local function plural(n, noun) return ("%d %s%s"):format(n, noun, n == 1 and "" or "s") end

local function rounds_page(found)
  local rows = {}
  for i, r in ipairs(found.rounds) do
    rows[i] = { r.number, r.proposals, show(r.cost, "s"), ("%g"):format(r.optimism), r.lacked, r.measured }
  end
  return report.table({ "round", "proposals", "best found", "optimism", "times it lacked", "measured" }, rows)
end

local function rows_page(found)
  local rows = {}
  for i, c in ipairs(found.rows) do
    rows[i] = { i, c.name, show(c.simulated, "s"), c.lacks, c.executed and show(c.executed, "s") or "-",
      c.executed and show(c.q05, "s") or "-", c.executed and show(c.q95, "s") or "-",
      c.executed and ("%+.1f %%"):format(100 * (c.simulated / c.executed - 1)) or "-", c.strategy == found.best and "taken" or "" }
  end
  return report.table({ "", "strategy", "simulated", "lacks", "executed", "5 %", "95 %", "off by", "" }, rows)
end

function Found.__tostring(found)
  local lines = { ("%s, %s measured in %s, %s of searching"):format(plural(#found.rounds, "round"), plural(found.measured, "time"),
    show(found.seconds.measuring, "s"), show(found.seconds.searching, "s")), rounds_page(found), rows_page(found) }
  if #found.uncut > 0 then
    local first = found.uncut[1]
    lines[#lines + 1] = report.wrap(("never cut: %s along %s%s: %s"):format(first.op, first.dim,
      #found.uncut > 1 and (" (and %d more)"):format(#found.uncut - 1) or "", first.why), 100, 2)
  end
  if found.gain then
    lines[#lines + 1] = found.best == found.rows[1].strategy and "the first by simulation is the first by execution"
      or ("gain of executing: %.1f %% of the step of the first by simulation (both executed again)"):format(100 * found.gain)
  end
  return table.concat(lines, "\n")
end

-- The best of a search under measured times, executed.  The fields of what it gives are in docs/lua-api.md.
function measured.search(problem, o)
  o = check(problem, o)
  local job = new_job(problem, o)
  local interrupted = job:search()
  local found = setmetatable({ rows = job.candidates, rounds = job.rounds, measured = job.measured, seconds = job.seconds,
    profile = job.profile, problem = job:simulate(), interrupted = interrupted, uncut = job.uncut }, Found)
  local chosen = found.rows[1]
  if o.execute > 0 and not interrupted then chosen, found.gain = job:rerank() end
  found.best = chosen.strategy
  return found
end

return measured
