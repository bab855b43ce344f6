-- local_optimum.lua - no change of one operator improves what a search found.
--
--   soapstone run scripts/lua/paper/flexflow/local_optimum.lua [FOLDER] [--long]
--
-- After a search with its descent, on 2, 4 and 8 P100: every configuration of every operator that block (devices that follow
-- each other) and pow2 (powers of two, devices a power of two apart) have, and random ones of any degrees on any
-- devices.  The printed FlexFlow (MLSys 2019) has no such test; digests of its preprint report one, for 2, 4 and 8 devices
-- and all six networks.

local soapstone = require "soapstone"
local options = require "soapstone.options"
local report = require "soapstone.report"
local paper = require "scripts.lua.paper.flexflow.common"

local about = [[
local_optimum.lua: tries every single-operator change of the found strategies in block and pow2, and random ones in free, and
says whether any is better.]]
local o = paper.options(arg, about, {
  networks = "AlexNet, NMT", devices = "2, 4", proposals = options.count(2000, { min = 1 }), seconds = 0.0,
  random = options.count(1000, { min = 1 }),
}, { networks = "all", devices = "all", proposals = 20000, random = 100000 })

-- As many random configurations as were asked for, dealt over the operators: { degrees, devices } by operator.  Each
-- random strategy gives one to every operator.
local function draw(problem, count)
  local lists, drawn, seed = {}, 0, o.seed * 1000003
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
  local given = { start = strategy, proposals = 1, descent = true, seed = o.seed }
  for name, value in pairs(more) do given[name] = value end
  local search = soapstone.search.greedy(problem, given):run { progress = true }
  local chain = search.chains[1]
  if chain.ended ~= "descent" and not search.interrupted then options.refuse("a descent ended by %s", chain.ended) end
  return search, chain.proposals - 2 -- less that of the walk and the return to the best
end

local function gain(before, after)
  if after >= before then return "none" end
  return ("%.3g %%"):format(100 * (1 - after / before))
end

local rows, improved = {}, 0
for _, network in ipairs(paper.some("networks", o.networks, paper.networks)) do
  for _, devices in ipairs(paper.some("devices", o.devices, { 2, 4, 8 })) do
    local problem = paper.problem(network, paper.cluster "P100", devices)
    local clock = os.clock()
    local found = paper.search(problem, o, { descent = true })
    local searched = os.clock() - clock
    local listed, tried = try_all(problem, found.best, { moves = { block = 1, pow2 = 1 } })
    local drawn, luck = try_all(problem, found.best, { configurations = draw(problem, o.random) })
    local data = problem:simulate(problem:strategy "data_parallel").step_time
    rows[#rows + 1] = { network.name, devices, soapstone.unit.show(found.cost, "s"), paper.difference(found.cost, data),
      ("%.1f"):format(searched), tried, gain(found.cost, listed.cost), o.random, luck,
      gain(found.cost, drawn.cost) }
    if listed.cost < found.cost then improved = improved + 1 end
  end
end

print "changes of one operator of the found strategy, and what they take off its step time"
print(report.table({ "network", "P100", "found", "to data parallel", "search, CPU s", "block and pow2", "better", "random",
  "of them distinct", "better" }, rows))
if improved > 0 then
  print(("%d of %d found strategies are improved by block or pow2: the descent did not do its work"):format(improved, #rows))
  os.exit(1)
end
