-- local_optimum.lua - no change of one operator improves what a search found.
--
--   soapstone run scripts/lua/paper/flexflow/local_optimum.lua [FOLDER] [--long]
--
-- On 2, 4 and 8 P100: every configuration of every operator that block (devices that follow each other) and pow2 (powers of
-- two, devices a power of two apart) have, and random ones of any degrees on any devices, are tried one by one on what a
-- search with its descent found.  A random one that is better is taken, and all is tried again with other random ones,
-- until a round has none.  The printed FlexFlow (MLSys 2019) has no such test; digests of its preprint report one, for 2, 4
-- and 8 devices and all six networks.

local soapstone = require "soapstone"
local options = require "soapstone.options"
local report = require "soapstone.report"
local paper = require "scripts.lua.paper.flexflow.common"

local about = [[
local_optimum.lua: tries every single-operator change of the found strategies in block and pow2, and random ones in free, and
takes what is better, until a round has none.]]
local o = paper.options(arg, about, {
  networks = "AlexNet, NMT", devices = "2, 4", proposals = options.count(2000, { min = 1 }), seconds = 0.0,
  random = options.count(1000, { min = 1 }),
}, { networks = "all", devices = "all", proposals = 20000, random = 100000 })

-- As many random configurations as were asked for, dealt over the operators: { degrees, devices } by operator.  Each
-- random strategy gives one to every operator.
local function draw(problem, count, round)
  local lists, drawn, seed = {}, 0, o.seed * 1000003 + round * 1000000007
  for op in problem.model:ops() do lists[op.name] = {} end
  while drawn < count do
    seed = seed + 1
    local strategy = problem:strategy("random", { seed = seed })
    for op in problem.model:ops() do
      if drawn == count then break end
      local configuration = strategy:get(op.name)
      table.insert(lists[op.name], { degrees = configuration.degrees, devices = configuration.devices })
      drawn = drawn + 1
    end
  end
  for name, list in soapstone.pairs(lists) do
    if #list == 0 then lists[name] = nil end
  end
  return lists
end

-- A descent from there alone: the walk before it is one proposal long.
local function try_all(problem, strategy, more)
  local given = { start = strategy, proposals = 1, group = 0, neighbour = 0, descent = true, seed = o.seed }
  for name, value in pairs(more) do given[name] = value end
  local search = soapstone.search.greedy(problem, given):run { progress = true }
  local chain = search.chains[1]
  if chain.ended ~= "descent" and not search.interrupted then options.refuse("a descent ended by %s", chain.ended) end
  return search, chain.proposals - 2 -- less that of the walk and the return to the best
end

-- Both kinds of changes in rounds, until one has nothing better.
local MAX_ROUNDS = 50
local function settle(problem, strategy, cost)
  for round = 1, MAX_ROUNDS do
    local listed, tried = try_all(problem, strategy, { moves = { block = 1, pow2 = 1 } })
    local random, distinct = try_all(problem, listed.best, { configurations = draw(problem, o.random, round) })
    local last = { cost = random.cost, rounds = round, tried = tried, distinct = distinct, first = listed.cost < cost }
    if random.cost == cost then return last end
    if round == 1 and last.first then return last end -- the search's descent left something
    strategy, cost = random.best, random.cost
  end
  options.refuse("%d rounds still find something better", MAX_ROUNDS)
end

local rows, left = {}, 0
for _, network in ipairs(paper.some("networks", o.networks, paper.networks)) do
  for _, devices in ipairs(paper.some("devices", o.devices, { 2, 4, 8 })) do
    local problem = paper.problem(network, paper.cluster "P100", devices)
    local clock = os.clock()
    local found = paper.search(problem, o, { descent = true })
    local searched = os.clock() - clock
    local last = settle(problem, found.best, found.cost)
    if last.first then left = left + 1 end
    local data = problem:simulate(problem:strategy "data_parallel").step_time
    rows[#rows + 1] = { network.name, devices, ("%.3f"):format(1e3 * data), ("%.3f"):format(1e3 * found.cost),
      ("%.1f"):format(searched), last.first and "yes" or "no", ("%.3f"):format(1e3 * last.cost),
      ("%.3f %%"):format(100 * (1 - last.cost / found.cost)), last.rounds, last.tried, last.distinct }
  end
end

print "step times in ms; changes of one operator that were tried in the last round, in which none was better"
print(report.table({ "network", "P100", "data parallel", "found", "CPU s", "better in block, pow2", "at the end", "less",
  "rounds", "block and pow2", ("distinct of %d random"):format(o.random) }, rows))
if left > 0 then
  print(("%d of %d found strategies are improved by block or pow2: the descent did not do its work"):format(left, #rows))
  os.exit(1)
end
