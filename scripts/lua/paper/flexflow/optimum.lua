-- optimum.lua - the proven optimum of two small networks on four devices, and whether the search reaches it.
--
--   soapstone run scripts/lua/paper/flexflow/optimum.lua [FOLDER] [--long]
--
-- FlexFlow (MLSys 2019), section 8.3: LeNet and a language model of two steps, by depth-first search with A* pruning in
-- 0.8 and 18 hours; its search found the same in less than a second.  Here every configuration on devices that follow each
-- other (block), and with --long also powers of two on devices a power of two apart; of strategies that differ in
-- the numbers of equal devices one is looked at.

local soapstone = require "soapstone"
local options = require "soapstone.options"
local report = require "soapstone.report"
local paper = require "scripts.lua.paper.flexflow.common"

local about = [[
optimum.lua: the optimum of LeNet and of a language model of 2 steps on 4 P100, proven by exhaustive search, and how often
and how fast the search reaches it.]]
local o = paper.options(arg, about, {
  networks = "all", devices = options.count(4, { min = 1, max = 4 }), seeds = options.count(10, { min = 1 }),
  proposals = options.count(10000, { min = 1 }), seconds = 0.0,
  moves = options.choice("block", { "block", "both" }), limit = 0,
  beta_relative = 200.0, -- a network of eight operators has to climb further, relative to its step, than a large one
}, { moves = "both", proposals = 100000 })

local networks = {
  { name = "LeNet", model = "lenet", published = "LeNet" },
  { name = "RNNLM, 2 steps", model = "rnnlm", options = { steps = 2, steps_per_op = 1 }, published = "RNNLM" },
}

local function published_hours()
  for _, row in ipairs(paper.published "text_claims") do
    if row.claim:find "^exhaustive search" then
      local lenet, rnnlm = row.stated:match "^([%d.]+) / ([%d.]+)$"
      return { LeNet = tonumber(lenet), RNNLM = tonumber(rnnlm) }
    end
  end
end

local function make(network)
  local given = { batch = 64 * o.devices }
  for name, value in pairs(network.options or {}) do given[name] = value end
  local problem = { model = require("models." .. network.model)(given), costs = soapstone.costs.roofline(),
    topology = require "topologies.p100_cluster" { nodes = 1, gpus = o.devices } }
  for name, value in pairs(paper.runtime) do problem[name] = value end
  return soapstone.problem(problem)
end

local space = o.moves == "both" and { block = 1, pow2 = 1 } or "block"

local function median(list)
  table.sort(list)
  return #list > 0 and soapstone.unit.show(list[(#list + 1) // 2], "s") or "-"
end

-- How many of the seeds come to the optimum; seconds until a chain was there, and of all chains to their ends.
local function reach(problem, proof)
  local reached, until_then, whole, best = 0, {}, {}, math.huge
  for seed = 1, o.seeds do
    local found = paper.search(problem, o, { seed = o.seed + seed, moves = space, descent = true,
      beta_relative = o.beta_relative })
    if found.cost < proof.least then
      options.refuse("the search found %.12g s, less than the proven %.12g s", found.cost, proof.least)
    end
    best = math.min(best, found.cost)
    local first = math.huge
    for _, chain in ipairs(found.chains) do
      if chain.best <= proof.cost then first = math.min(first, chain.best_seconds) end
    end
    if first < math.huge then
      reached = reached + 1
      until_then[#until_then + 1] = first
    end
    whole[#whole + 1] = found.seconds
  end
  return { reached = reached, until_then = median(until_then), whole = median(whole), best = best }
end

local hours = published_hours()
local rows, proofs = {}, {}
for _, network in ipairs(paper.some("networks", o.networks, networks)) do
  local problem = make(network)
  local best, proof = soapstone.search.exhaustive(problem, { moves = space, seconds = o.limit, progress = true })
  local search = reach(problem, proof)
  local show = soapstone.unit.show
  print(network.name)
  print(proof.text)
  print(best)
  rows[#rows + 1] = { network.name, ("%.4g h"):format(hours[network.published]), show(proof.seconds, "s"),
    proof.proven and "proven" or ("%.3g %% decided"):format(100 * proof.share), "< 1 s", search.until_then, search.whole,
    ("%d of %d"):format(search.reached, o.seeds) }
  proofs[#proofs + 1] = { network.name, proof.size, proof.nodes, proof.simulated, show(proof.cost, "s"),
    show(search.best, "s"),
    paper.difference(problem:simulate(problem:strategy "data_parallel").step_time, proof.cost) }
  best:save(("%s/optimum-%s.strategy"):format(o.folder, network.model))
end
print(("the space: %s; sizes in strategies"):format(o.moves == "both" and "block and pow2" or "block"))
print(report.table({ "network", "size", "looked at", "simulated", "optimum", "best search", "data parallel above it" },
  proofs))
print "\nexhaustive and search, published (section 8.3) and here (wall clock; of the searches the median over seeds)"
print(report.table({ "network", "exhaustive, published", "here", "", "search, published", "until it is reached",
  "to the end", "reached by" }, rows))
