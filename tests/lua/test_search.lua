-- Searches from a script: what is refused, what is found, the same again, and going on.
local check = require "check"
local small = require "small"
local soapstone = require "soapstone"

local equal, claim, fails, contains = check.equal, check.claim, check.fails, check.contains

local problem = soapstone.problem { model = small.net(), topology = small.quad(), sync = "ring" }
local make = soapstone.search
local folder = os.tmpname()
os.remove(folder)
assert(os.execute(("mkdir '%s'"):format(folder)))
local function path(name) return folder .. "/" .. name end

-- Everything of the chains but clocks.
local function rows(search)
  local text = {}
  for i, c in ipairs(search.chains) do
    for _, key in ipairs { "name", "start", "current", "best", "best_at", "proposals", "descended", "accepted", "infeasible", "beta",
      "fits", "ended" } do
      text[#text + 1] = ("%d %s %s"):format(i, key, tostring(c[key]))
    end
  end
  return table.concat(text, "\n")
end

claim("wrong options are refused in the user's words", function()
  local mcmc = make.mcmc
  fails("search has no function or field 'mcmcc'; did you mean 'mcmc'?", function() return make.mcmcc end)
  fails("a problem as argument 1, not a table", mcmc, {})
  fails("search.mcmc: unknown option 'proposal'; did you mean 'proposals'?", mcmc, problem, { proposal = 3 })
  fails("search.mcmc: option 'proposals' is 1.5, which is not a whole number", mcmc, problem, { proposals = 1.5 })
  fails("search.mcmc: option 'proposals' is -1; it must be at least 0", mcmc, problem, { proposals = -1 })
  fails("search.mcmc: option 'seconds'", mcmc, problem, { seconds = "3 B" })
  fails("search.mcmc: option 'start' should be a strategy, the name of a ready-made one or the path of a saved one, "
    .. "not a number", mcmc, problem, { start = 3 })
  fails("search.mcmc: option 'start' is an empty list", mcmc, problem, { start = {} })
  fails("did you mean 'data_parallel'?", mcmc, problem, { start = "data_paralel" })
  fails("there is no such file", mcmc, problem, { start = { "whole", path "nowhere.json" } })
  fails("search.mcmc: option 'moves' cannot be 'blok'; did you mean 'block'?", mcmc, problem, { moves = "blok" })
  fails("search.mcmc: option 'moves': unknown option 'fre'; did you mean 'free'?", mcmc, problem, { moves = { fre = 1 } })
  fails("should be a name or a table of weights", mcmc, problem, { moves = 3 })
  fails("the weight of move free is -1: it must be 0 or more", mcmc, problem, { moves = { free = -1 } })
  fails("give one above 0", mcmc, problem, { moves = {} })
  fails("no configurations are given", mcmc, problem, { moves = "list" })
  fails("option 'effort' is a time such as \"90 s\", or a name, and cannot be 'minuts'; did you mean", mcmc, problem,
    { effort = "minuts" })
  fails("option 'effort' is 0 s; it must be above 0", mcmc, problem, { effort = 0 })
  fails("option 'effort'", mcmc, problem, { effort = "3 kB" })
  fails("option 'memory' cannot be 'walls'; did you mean 'wall'?", mcmc, problem, { memory = "walls" })
  fails("option 'penalty' goes with memory = \"penalty\"", mcmc, problem, { penalty = 1e-9 })
  fails("option 'resume' needs the log to go on with", mcmc, problem, { resume = true })
  fails("option 'files' is for a log", mcmc, problem, { files = { a = "b" } })
  fails("search.greedy: option 'beta' is one of mcmc and annealing", make.greedy, problem, { beta = 3 })
  fails("search.mcmc: option 'beta_growth' is one of annealing", mcmc, problem, { beta_growth = 3 })
  fails("search.random: option 'group' is one of mcmc, greedy and annealing", make.random, problem, { group = 0.1 })
  fails("neighbour moves have no way back", mcmc, problem, { hastings = true, neighbour = 0.1 })
  fails("search.mcmc: options 'beta' and 'beta_relative' say the same thing twice", mcmc, problem,
    { beta = 3, beta_relative = 10 })
  fails("search.mcmc: option 'beta' is 1e+19; it must be at most 1e+18", mcmc, problem, { beta = 1e19 })
  fails("option 'proposals' is 5000000000; it must be at most 4000000000", mcmc, problem, { proposals = "5G" })
  fails("search.mcmc: option 'warm_up' goes with stop_half = true", mcmc, problem, { warm_up = 10 })
  fails("search.mcmc: option 'early_stop' does not go with way = \"full\"", mcmc, problem, { way = "full", early_stop = true })
  fails("search.mcmc: option 'max_parts' is about the moves free and block, which option 'moves' leaves out", mcmc, problem,
    { max_parts = 2, moves = "place" })
  local lists = { fc1 = { { devices = 2 } } }
  fails("option 'max_parts' is about the moves free and block, which option 'configurations' leaves out", mcmc, problem,
    { max_parts = 2, configurations = lists })
  fails("option 'configurations' is what the move list draws from, which option 'moves' leaves out", mcmc, problem,
    { configurations = lists, moves = { block = 1 } })
  for _, fine in ipairs { { beta = 0, beta_relative = 10 }, { effort = "seconds", configurations = lists },
    { effort = "seconds", max_parts = 2 }, { effort = "seconds", beta = 3, warm_up = 5, stop_half = true },
    { max_parts = 0, moves = "place" }, { way = "full" }, { way = "full", early_stop = false } } do
    mcmc(problem, fine):close()
  end
  fails("annealing needs a number of proposals", make.annealing, problem, { proposals = 0, seconds = 1 })
  fails("search.annealing: option 'effort' is a time, and beta grows over a number", make.annealing, problem,
    { effort = "minute" })
  make.annealing(problem, { effort = "minute", proposals = 300 })
end)

claim("configurations of one's own are checked one by one", function()
  local function with(configurations) return { proposals = 5, configurations = configurations } end
  fails("option 'configurations' should be a table of lists by operator, not a number", make.mcmc, problem, with(3))
  fails("did you mean 'fc1'?", make.mcmc, problem, with { fc11 = {} })
  fails("should have a list for each operator, not a number", make.mcmc, problem, with { fc1 = 3 })
  fails("option 'configurations.fc1[2]' should be a table such as", make.mcmc, problem,
    with { fc1 = { { devices = 1 }, 3 } })
  fails("option 'configurations.fc1[1]: option 'devices'", function()
    local ok, message = pcall(make.mcmc, problem, with { fc1 = { { degrees = { n = 2 } } } })
    assert(not ok)
    error((message:gsub("fc1%[1%]'", "fc1[1]")), 0)
  end)
  fails("lists 3, and the degrees make 2 parts", make.mcmc, problem,
    with { fc1 = { { degrees = { n = 2 }, devices = { 1, 2, 3 } } } })
  fails("unknown option 'degree'; did you mean 'degrees'?", make.mcmc, problem, with { fc1 = { { degree = { n = 2 } } } })
  fails("fc1", make.mcmc, problem, with { fc1 = { { degrees = { n = 25 }, devices = 1 } } })
  local s = make.mcmc(problem, { proposals = 200, start = "whole", seed = 3, configurations = {
    fc1 = { { degrees = { n = 2 }, devices = { 1, 3 } }, { devices = "gpu2" } },
    [2] = { { degrees = { 1, 5 }, devices = { 1, 2, 3, 1, 2 } } },
  } }):run()
  equal(s.best:get("loss").parts, 1) -- which has no list
  contains(s.options, "moves = list 1")
  local c = s.best:get "fc1"
  assert(c.parts == 2 and c.devices[2] == 3 or c.parts == 1 and c.devices[1] == 1 or c.devices[1] == 2)
end)

claim("an operator with one configuration of one's own gets it, also where that is proven best", function()
  local o = { start = "data_parallel", configurations = { fc1 = { { devices = 2 } }, loss = { { devices = 1 }, { devices = 2 } } } }
  local best, proof = make.exhaustive(problem, o)
  assert(proof.proven)
  equal(best:get("fc1").parts, 1)
  equal(best:get("fc1").devices[1], 2)
  local s = make.mcmc(problem, { start = "data_parallel", proposals = 5, beta_relative = 0,
    configurations = { fc1 = { { devices = 2 } } } }):run() -- takes what it is offered
  local mine = problem:strategy "data_parallel"
  mine:set("fc1", { degrees = { n = 1 }, devices = 2 })
  equal(s.chains[1].current, problem:simulate(mine).step_time)
end)

claim("what is found is what a simulation says", function()
  local s = make.mcmc(problem, { start = { "data_parallel", "whole" }, proposals = 300, seed = 5 })
  equal(s.proposals, 0)
  equal(s.cost, math.min(problem:simulate(problem:strategy "data_parallel").step_time,
    problem:simulate(problem:strategy "whole").step_time))
  equal(s.chains[1].ended, nil)
  equal(s:run(), s)
  equal(s.proposals, 600)
  equal(problem:simulate(s.best).step_time, s.cost)
  equal(s.best, s.best)
  equal(s.best.problem, problem)
  local least = math.huge
  for i, c in ipairs(s.chains) do
    equal(c.ended, "proposals")
    equal(c.proposals, 300)
    equal(problem:simulate(s:best_of(i)).step_time, c.best)
    equal(problem:simulate(s:start_of(c.name)).step_time, c.start)
    assert(c.accepted > 0 and c.accepted < 300 and c.seconds > 0)
    least = math.min(least, c.best)
  end
  equal(s.cost, least)
  assert(s.seconds > 0 and not s.interrupted and s.fits)
  contains(s.best.name, "mcmc from ")
  fails("there is no chain 'wholes'; did you mean 'whole'?", s.best_of, s, "wholes")
  fails("the chain is 3; it must be at most 2", s.start_of, s, 3)
  fails("a chain of a search has no field 'cost'", function() return s.chains[1].cost end)
  fails("there is no chain 7", function() return s.chains[7] end)
end)

claim("a search says how far its best moves when durations do by a picosecond", function()
  local nmt, p100 = require "models.nmt" { batch = 64 }, require "topologies.p100_cluster" { nodes = 1 }
  local function look_at(links, seed)
    local p = soapstone.problem { model = nmt, topology = p100, links = links, sync = "ring" }
    local s = make.greedy(p, { start = "random", proposals = 1, seed = seed }):run()
    equal(s.noise, p:simulate(s.best):sensitivity({ runs = 4 }).spread)
    contains(s:json(), ('"noise": %s'):format(soapstone.unit.exact(s.noise)))
    local page = tostring(s)
    equal(page:find("durations moved by a picosecond", 1, true) ~= nil, links == "shared" or s.noise >= 1e-6)
    if s.noise >= 1e-6 then
      contains(page, ("the best moves by %.2g %%: smaller differences are noise"):format(100 * s.noise))
    end
    return s
  end
  local moves = 0
  for seed = 1, 4 do moves = moves + (look_at("shared", seed).noise >= 1e-6 and 1 or 0) end
  assert(moves > 0, "none of the strategies moves")
  local s = look_at("fifo-hop", 1)
  local before = s.noise
  s:more { proposals = 200 }
  s:run()
  assert(s.noise ~= before, "that of an older best")
  local best, proof = make.exhaustive(problem, { moves = "place", start = "whole" })
  equal(proof.noise, problem:simulate(best):sensitivity({ runs = 4 }).spread)
end)

claim("the share of tasks whose times change is the same by replay and delta, and 0 if nobody counts", function()
  local function share(o)
    o.start, o.proposals, o.seed, o.early_stop = "data_parallel", 300, 7, false
    return make.mcmc(problem, o):run().chains[1].changed_share
  end
  local counted = share { count_changed = true }
  assert(counted > 0 and counted < 1)
  equal(share { count_changed = true, way = "replay" }, counted)
  equal(share {}, 0)
  fails("'count_changed' does not go with way = \"full\"", share, { count_changed = true, way = "full" })
end)

claim("the same options give the same search, others another", function()
  local function search(o)
    o.start, o.proposals = { "data_parallel", "random", "random" }, 400
    return rows(make.mcmc(problem, o):run())
  end
  local one = search { seed = 7 }
  equal(search { seed = 7 }, one)
  equal(search { seed = 7, threads = 1 }, one)
  equal(search { seed = 7, threads = 2 }, one)
  for _, way in ipairs { "full", "replay", "delta" } do
    equal(search({ seed = 7, way = way, early_stop = false }), one)
  end
  assert(search { seed = 8 } ~= one)
  assert(search { seed = 7, beta_relative = 5 } ~= one)
  assert(search { seed = 7, moves = "block" } ~= one)
  contains(one, "2 name random\n")
  contains(one, "3 name random (2)\n")
end)

claim("every searcher searches", function()
  local start = problem:simulate(problem:strategy "data_parallel").step_time
  for _, name in ipairs { "mcmc", "annealing", "greedy", "random" } do
    local s = make[name](problem, { proposals = 300, seed = 2 }):run()
    equal(s.searcher, name)
    assert(s.cost < start, name)
    contains(s.options, "searcher = " .. name .. "\n")
    contains(tostring(s), name .. ": best ")
    contains(s:json(), ('{"searcher": "%s"'):format(name))
  end
  local greedy = make.greedy(problem, { proposals = 300, seed = 2 }):run().chains[1]
  equal(greedy.current, greedy.best)
end)

claim("a descent ends where no change is better, and moves say which there are", function()
  local s = make.greedy(problem, { proposals = 20, seed = 2, moves = "place", start = "whole", descent = true }):run()
  equal(s.chains[1].ended, "descent")
  for op in problem.model:ops() do equal(s.best:get(op.name).parts, 1) end
  for op in problem.model:ops() do
    for device = 1, 4 do
      local other = s.best:copy():set(op.name, { devices = device })
      assert(problem:simulate(other).step_time >= s.cost)
    end
  end
end)

claim("more goes on where the search ended, as if it had been one", function()
  local whole = make.mcmc(problem, { proposals = 500, seed = 4 }):run()
  local parts = make.mcmc(problem, { proposals = 200, seed = 4 }):run()
  local best = parts.best
  equal(parts:more { proposals = 300 }, parts)
  equal(parts.chains[1].ended, nil)
  equal(parts.best, best) -- until it runs
  parts:run()
  equal(rows(parts), rows(whole))
  equal(parts.best, whole.best)
  fails("search:more: how many more", parts.more, parts)
  fails("search:more: the seconds of this search have no limit", parts.more, parts, { seconds = 3 })
end)

claim("a log goes on as if there had been no pause", function()
  local o = { start = { "data_parallel", "whole" }, proposals = 700, seed = 11, log = path "whole.h5" }
  local whole = make.mcmc(problem, o):run()
  o.proposals, o.log = 300, path "parts.h5"
  do
    local first <close> = make.mcmc(problem, o):run()
    equal(first.proposals, 600)
  end
  o.proposals, o.resume = 700, true
  local second = make.mcmc(problem, o)
  equal(second.proposals, 600) -- before it runs
  second:run()
  equal(rows(second), rows(whole))
  equal(second.best, whole.best)
  second:more { proposals = 50 }
  second:run() -- the log is opened again
  equal(second.proposals, 1500)
  equal(problem:load_strategy(path "parts.h5", { name = "best" }), second.best)
  o.seed = 12
  fails("seed", make.mcmc, problem, o)
  o.seed, o.beta_relative = 11, 20
  fails("beta_relative", make.mcmc, problem, o)
  o.beta_relative, o.log = nil, path "nowhere.h5"
  fails("nowhere.h5", make.mcmc, problem, o)
  contains(soapstone.inspect(path "whole.h5"), "data_parallel")
  contains(soapstone.repair(path "whole.h5"), "whole.h5")
  fails("nowhere", soapstone.repair, path "nowhere.h5")
end)

claim("efforts set what is not given", function()
  local s = make.mcmc(problem, { effort = "30 s", proposals = 20, threads = 1 })
  equal(#s.chains, 2)
  equal(s.chains[1].name .. " " .. s.chains[2].name, "data_parallel expert_cnn")
  contains(s.options, "moves = block 0.3, pow2 1\n")
  contains(s.options, "seconds = 15\n")
  contains(s.options, "stop_half = false\n")
  contains(s.options, "descent = true\n")
  contains(s.options, "group = 0.2\n")
  contains(s.options, "neighbour = 0.2\n")
  contains(s.options, "proposals = 20\n")
  contains(make.mcmc(problem, { effort = "1 s", hastings = true }).options, "group = 0.2\nneighbour = 0\n")
  contains(make.mcmc(problem, { effort = "1 s", group = 0.9 }).options, "group = 0.9\nneighbour = 0\n")
  contains(make.mcmc(problem, { effort = "1 s", neighbour = 0.9 }).options, "group = 0\nneighbour = 0.9\n")
  fails("together below 1", make.mcmc, problem, { effort = "1 s", group = 0.6, neighbour = 0.5 })
  s = make.greedy(problem, { effort = "hour", start = "whole", descent = false, moves = { pow2 = 2 } })
  equal(#s.chains, 1)
  contains(s.options, "moves = pow2 2\n")
  contains(s.options, "seconds = 3600\n")
  contains(s.options, "descent = false\n")
  contains(s.options, "proposals = 0\n")
  local m = soapstone.model.new { name = "recurrent, without layers" } -- nothing for an expert
  m:lstm("rnn", m:input("x", { 16, 4, 8 }), { hidden = 8 })
  s = make.mcmc(soapstone.problem { model = m, topology = small.quad() }, { effort = "1 s" })
  equal(#s.chains, 1)
  contains(s.options, "seconds = 1\n")
  s = make.random(problem, { effort = "minutes", threads = 2, seed = 3 })
  equal(#s.chains, 4)
  equal(s.chains[4].name, "random (2)")
  contains(s.options, "seconds = 300\n")
end)

claim("memory may be a wall, and pins are kept", function()
  local topology = require "soapstone.topology"
  local t = topology.new { name = "narrow" }
  local a = t:device("a", { kind = "p100", memory = "3 kB" })
  local b = t:device("b", { kind = "p100", memory = "3 kB" })
  t:link(a, b, { bandwidth = "10 GB/s" })
  local tight = soapstone.problem { model = small.net(), topology = t }
  local s = make.mcmc(tight, { memory = "wall", proposals = 30, seed = 1 }):run()
  equal(s.fits, false)
  contains(tostring(s), "nothing that was tried fits into memory")
  local cost = make.mcmc(tight, { memory = "penalty", penalty = 1, proposals = 30, seed = 1 }):run().cost
  assert(cost > 1000 * s.cost)
  local ignored = make.mcmc(tight, { proposals = 30, seed = 1 }):run()
  equal(ignored.fits, false)
  equal(ignored.chains[1].fits, false)
  equal(ignored.penalty, 0)
  equal(ignored.step_time, ignored.cost)
  contains(tostring(ignored), "the best needs more memory than there is")
  local start = problem:strategy "data_parallel":pin("fc1", "all")
  local pinned = make.mcmc(problem, { start = start, proposals = 200, seed = 1 }):run()
  equal(pinned.best:get("fc1").parts, 4)
  fails("search.mcmc: the strategy was made for another topology quad", make.mcmc, tight, { start = start })
end)

claim("a log whose proposals are all in its journal is to be repaired before it is drawn", function()
  local s = make.mcmc(problem, { log = path "begun.h5", proposals = 3 })
  local no = path "no.svg"
  fails("no chain of this log has made a proposal yet", soapstone.plot.search, path "begun.h5", no)
  for _, ending in ipairs { "", ".journal" } do -- nobody writes to a copy
    assert(os.execute(("cp '%s' '%s'"):format(path("begun.h5" .. ending), path("killed.h5" .. ending))))
  end
  fails("\"soapstone repair " .. path "killed.h5" .. "\" brings in those of its journal", soapstone.plot.search,
    { path "begun.h5", path "killed.h5" }, no)
  s:run()
end)

claim("an exhaustive search keeps a log, and heeds memory", function()
  local o = { log = path "all.h5", files = { ["note.txt"] = "why" } }
  local best, proof = make.exhaustive(problem, o)
  assert(proof.proven and proof.fits)
  equal(problem:load_strategy(path "all.h5", { name = "best" }), best)
  local text = soapstone.inspect(path "all.h5")
  contains(text, "note.txt")
  contains(text, ("data_parallel: %d proposals, step"):format(proof.simulated))
  contains(text, "; proven")
  assert(proof.better and proof.simulated > 0)
  if os.execute "command -v gnuplot >/dev/null 2>&1" then
    local function title(logs)
      soapstone.plot.search(logs, path "all.svg")
      local table_of = assert(io.open(path "all.svg.tsv"))
      local title = table_of:read "a":match "\ttitle\t([^\t]*)"
      table_of:close()
      return title
    end
    local plain = title(path "all.h5")
    equal(title { path "all.h5" }, plain)
    equal(title { mine = path "all.h5" }, "mine: " .. plain)
  end
  local kept = assert(io.open(path "all.h5", "rb")):read "a"
  local large = soapstone.problem { model = require "models.lenet" {}, topology = require "topologies.ring" {} }
  fails("configurations; an exhaustive search is for", make.exhaustive, large, { moves = "free", log = path "all.h5" })
  assert(assert(io.open(path "all.h5", "rb")):read "a" == kept, "a space that was refused replaced the log")
  local _, cut = make.exhaustive(problem, { start = "whole", moves = { block = 1, pow2 = 1 }, bounds = {}, simulations = 7,
    log = path "cut.h5" })
  assert(not cut.proven and cut.simulated == 7 and not rawget(cut, "broken"))
  contains(soapstone.inspect(path "cut.h5"), "whole: 7 proposals")
  contains(soapstone.inspect(path "cut.h5"), "; proposals")
  fails("search with other options", make.mcmc, problem, { log = path "all.h5", resume = true, moves = "block" })
  fails("option 'penalty' goes with", make.exhaustive, problem, { penalty = 1e-9 })
  fails("option 'files' is for a log", make.exhaustive, problem, { files = {} })
  make.exhaustive(problem, setmetatable({ simulations = 1 }, { __index = { penalty = 1e-9 } })) -- options are raw
  fails("nowhere", make.exhaustive, problem, { log = path "nowhere/x.h5" })
  local t = require "soapstone.topology".new { name = "one narrow" }
  local a = t:device("a", { kind = "p100", memory = "3 kB" })
  local b = t:device("b", { kind = "p100", memory = "1 GB" })
  t:link(a, b, { bandwidth = "10 GB/s" })
  local tight = soapstone.problem { model = small.net(), topology = t }
  local within
  within, proof = make.exhaustive(tight, { moves = "place", start = "whole", memory = "wall" })
  assert(proof.proven and proof.fits and proof.better)
  equal(within:get(1).devices[1], 2)
  _, proof = make.exhaustive(tight, { moves = "place", start = "whole", memory = "ignore" })
  equal(proof.better, false)
  t = require "soapstone.topology".new { name = "narrow" }
  a, b = t:device("a", { kind = "p100", memory = "2 kB" }), t:device("b", { kind = "p100", memory = "2 kB" })
  t:link(a, b, { bandwidth = "10 GB/s" })
  _, proof = make.exhaustive(soapstone.problem { model = small.net(), topology = t },
    { moves = "place", start = "whole", memory = "wall" })
  assert(proof.proven and not proof.fits)
  contains(proof.text, "no strategy of the space fits into memory")
end)

claim("a penalty for memory is told apart from the step time", function()
  local topology = require "soapstone.topology"
  local function problem_with(memory)
    local t = topology.new { name = "narrow" }
    local a = t:device("a", { kind = "p100", memory = memory })
    local b = t:device("b", { kind = "p100", memory = memory })
    t:link(a, b, { bandwidth = "10 GB/s" })
    return soapstone.problem { model = small.net(), topology = t }
  end
  local tight = problem_with "3 kB"
  local s = make.greedy(tight, { memory = "penalty", penalty = 1e-7, proposals = 40, seed = 2 }):run()
  local r = tight:simulate(s.best)
  assert(r.over_capacity)
  equal(s.fits, false)
  equal(s.step_time, r.step_time)
  assert(s.penalty > 0 and math.abs(s.step_time + s.penalty - s.cost) < 1e-12)
  equal(s.chains[1].penalty, s.penalty)
  equal(s.chains[1].fits, false)
  local unit = soapstone.unit
  contains(tostring(s), ("best %s and a penalty for memory of %s"):format(unit.show(s.step_time, "s"), unit.show(s.penalty, "s")))
  contains(tostring(s), "the best needs more memory than there is")
  contains(tostring(s), "memory penalty, penalty 1e-07 s/B")
  contains(s:json(), ('"step_time_s": %s'):format(unit.exact(s.step_time)))
  contains(s:json(), '"fits": false')
  local wide = make.greedy(problem_with "3 GB", { memory = "penalty", proposals = 40, seed = 2 }):run()
  assert(wide.fits and wide.penalty == 0 and wide.step_time == wide.cost)
  assert(wide:json():find '"fits": true')
end)

claim("a start that nothing beats took as long", function()
  local s = make.greedy(problem, { proposals = 50, start = "data_parallel", seed = 2 }):run()
  local again = make.greedy(problem, { proposals = 1, start = s.best, seed = 3 })
  contains(tostring(again), ", as long as " .. again.chains[1].name)
  contains(tostring(make.mcmc(problem, { proposals = 1, beta = 3 })), "beta 3 /s")
end)

claim("closing is well at any time", function()
  local s = make.mcmc(problem, { proposals = 50, log = path "closed.h5" })
  s:close()
  s:close()
  fails("this search is closed", s.run, s)
  equal(tostring(s), "search (closed)")
  local p = soapstone.problem { model = small.net(), topology = small.quad() }
  local open = make.mcmc(p, { proposals = 50, seed = 1 })
  p:close()
  assert(open:run().cost > 0)
  assert(open.best)
end)

assert(os.execute(("rm -r '%s'"):format(folder)))
check.done()
