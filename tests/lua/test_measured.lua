-- A search whose times are measured as it goes: what is refused, what is measured when, and what is executed. Times
-- are not expected to be any: machines are noisy.
local soapstone = require "soapstone"
local measured = require "soapstone.measured"
local check = require "check"

local claim, equal, fails, contains = check.claim, check.equal, check.fails, check.contains

local mlp = require "models.mlp" { batch = 12, layers = 3, width = 16 }
local here = require "topologies.cores" { devices = 2 }
local function problem_of(o)
  o = o or {}
  o.model, o.topology, o.sync = mlp, here, "ring"
  return soapstone.problem(o)
end
local problem = problem_of()
-- Where copies take next to nothing, whatever is hoped to be fast is taken.
local free_copies = require "topologies.cores" { devices = 2, latency = 0, bandwidth = 1e15 }
local search <const> = { start = { "data_parallel", "model_parallel" }, proposals = 40, seed = 3, threads = 1 }
local profile <const> = { rounds = 2, warm_up = 0 }

local function with(o)
  local all = { search = search, profile = profile, pinned = false, steps = 1, passes = 1 }
  for name, value in pairs(o or {}) do all[name] = value end
  return all
end

claim("what makes no sense is refused", function()
  local function wrong(said, o) fails(said, measured.search, problem, with(o)) end
  fails("measured.search: the problem should be a problem, not a table", measured.search, {}, {})
  wrong("measured.search: unknown option 'budgte'; did you mean 'budget'?", { budgte = 3 })
  wrong("option 'rounds' is 0; it must be at least 1", { rounds = 0 })
  wrong("option 'optimism' is 2; it must be above 0 and at most 1", { optimism = 2 })
  wrong("option 'budget' is -1.000 s", { budget = -1 })
  wrong("option 'searcher' cannot be 'exhaustive'", { searcher = "exhaustive" })
  wrong("option 'search' should be a table, not a number", { search = 3 })
  wrong("option 'search' has 'log', and each round is a search of its own", { search = { log = "a.h5" } })
  wrong("option 'profile' has 'known': give it to measured.search itself", { profile = { known = 3 } })
  wrong("search.mcmc: unknown option 'proposal'; did you mean 'proposals'?", { search = { proposal = 3 } })
  wrong("option 'file' should be a text, not a number", { file = 3 })
end)

local available, found = pcall(measured.search, problem, with { execute = 3 })
if not available then
  claim("a build without kernels says what is missing and how to get it", function()
    contains(found, "this build has no oneDNN: install libdnnl-dev (Debian) and configure again")
  end)
  check.done()
  return
end

claim("what the best need is measured, and the best are executed", function()
  equal(found.interrupted, false)
  local sum = 0
  for i, round in ipairs(found.rounds) do
    equal(round.number, i)
    equal(round.proposals, 2 * 40)
    assert(round.measured == round.lacked, "all that lacks, within the budget")
    assert(round.optimism == 0.5 or round.optimism == 1)
    sum = sum + round.measured
  end
  local last = found.rounds[#found.rounds]
  equal(last.optimism, 1)
  assert(last.lacked == 0 or #found.rounds == 4)
  equal(#found.profile, found.measured)
  assert(found.measured > sum, "the starts are measured before the first round")
  local executed, before, best = 0, 0, nil
  for i, row in ipairs(found.rows) do
    assert(row.simulated >= before, "in the order of their simulated times")
    before = row.simulated
    equal(row.simulated, found.problem:simulate(row.strategy).step_time)
    equal(row.lacks, 0)
    equal(found.profile:lacks(row.strategy), 0)
    equal(row.executed ~= nil, i <= 3)
    if row.executed then
      executed = executed + 1
      equal(#row.times, 1)
      equal(row.executed, row.times[1])
      if not best or row.executed < best.executed then best = row end
    end
    for k = 1, i - 1 do assert(found.rows[k].strategy ~= row.strategy, "each is there once") end
  end
  equal(executed, math.min(3, #found.rows))
  assert(found.best == best.strategy)
  if best == found.rows[1] then equal(found.gain, 0.0) else assert(found.gain < 1) end
  contains(tostring(found), "optimism")
  contains(tostring(found), "taken")
  contains(tostring(found), best.name)
end)

claim("nothing is measured twice, and a file is completed", function()
  local path = os.tmpname()
  os.remove(path)
  path = path .. ".h5"
  local first = measured.search(problem, with { execute = 0, file = path })
  equal(#soapstone.profile.read(path), #first.profile)
  equal(first.gain, nil)
  assert(first.best == first.rows[1].strategy)
  local starts = { problem:strategy "data_parallel", problem:strategy "model_parallel" }
  local again = measured.search(problem, with { execute = 0, file = path, rounds = 1 })
  os.remove(path)
  equal(#again.profile, #first.profile + again.measured)
  equal(again.measured, again.rounds[1].measured)
  equal(first.profile:lacks(starts), 0)
end)

claim("a budget that is spent ends the measuring, and what lacks is said", function()
  local quick = soapstone.problem { model = mlp, topology = free_copies, sync = "ring" }
  local short = measured.search(quick, with { budget = 1e-9, execute = 0, optimism = 1e-6, search = { start = "data_parallel",
    proposals = 200, seed = 1, moves = "free" } })
  equal(short.measured, #short.profile)
  equal(short.profile:lacks(quick:strategy "data_parallel"), 0)
  for _, round in ipairs(short.rounds) do equal(round.measured, 0) end
  equal(#short.rounds, 2) -- one that hoped, and one that did not
  assert(short.rounds[1].lacked > 0, "what nobody measured looks good")
  local lacks = 0
  for _, row in ipairs(short.rows) do lacks = lacks + row.lacks end
  assert(lacks > 0)
end)

claim("what has no kernel when it is cut is never cut, and what has none at all is refused", function()
  local rnn = require "models.rnnlm" { batch = 4, hidden = 8, vocab = 12, steps = 4, steps_per_op = 2, layers = 1 }
  local words = soapstone.problem { model = rnn, topology = free_copies, sync = "ring" }
  local cut = words:strategy "whole"
  equal(#words:without_kernels(cut), 0)
  cut:set("softmax.2", { degrees = { c = 2 }, devices = { 1, 2 } })
  local without = words:without_kernels(cut)
  equal(#without, 1)
  equal(without[1].op, "softmax.2")
  contains(without[1].why, "classes of linear_softmax are split")
  local got = measured.search(words, with { execute = 1, optimism = 1e-6, search = { start = cut, moves = "free", proposals = 300, seed = 2 } })
  equal(#got.uncut, 2)
  for i, it in ipairs(got.uncut) do
    equal(it.op, "softmax." .. i)
    equal(it.dim, "c")
  end
  for _, row in ipairs(got.rows) do
    for _, it in ipairs(got.uncut) do equal(row.strategy:get(it.op).degrees.c, 1) end
  end
  contains(tostring(got), "never cut: softmax.1 along c (and 1 more): classes of linear_softmax")
end)

claim("what cannot be executed is refused before the search", function()
  local lumped = problem_of { lumped = true }
  fails("forward and backward are one task (lumped)", measured.search, lumped, with { execute = 1 })
end)

claim("editors and the page know every function", function()
  local function read(name)
    local file = assert(io.open((os.getenv "SS_SRCDIR" or soapstone.home) .. "/" .. name))
    local text = file:read "a"
    file:close()
    return text
  end
  local annotations, page, known = read "scripts/lua/luals/soapstone/measured.lua", read "docs/lua-api.md", {}
  for name in annotations:gmatch "\nfunction measured%.(%w+)%(" do known[name] = true end
  equal(check.keys(known), check.keys(measured))
  for name in pairs(measured) do contains(page, "`measured." .. name) end
end)

check.done()
