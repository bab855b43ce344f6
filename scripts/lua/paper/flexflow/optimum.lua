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
}, { moves = "both" })

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

-- How many of the seeds come to the optimum, and the seconds until the best of the chain that did.
local function reach(problem, optimum, least)
  local reached, seconds, best = 0, {}, math.huge
  for seed = 1, o.seeds do
    local found = paper.search(problem, o, { seed = o.seed + seed, moves = space, descent = true,
      beta_relative = o.beta_relative })
    best = math.min(best, found.cost)
    if found.cost <= optimum then
      reached = reached + 1
      seconds[#seconds + 1] = found.seconds
    end
    if found.cost < least then
      options.refuse("the search found %.12g s, less than the proven %.12g s", found.cost, least)
    end
  end
  table.sort(seconds)
  return reached, seconds, best
end

local hours = published_hours()
local rows, proofs = {}, {}
for _, network in ipairs(paper.some("networks", o.networks, networks)) do
  local problem = make(network)
  local best, proof = soapstone.search.exhaustive(problem, { moves = space, seconds = o.limit, progress = true })
  local reached, seconds, least = reach(problem, proof.cost, proof.least)
  print(network.name)
  print(proof.text)
  print(best)
  local show = soapstone.unit.show
  rows[#rows + 1] = { network.name, ("%.4g h"):format(hours[network.published]), show(proof.seconds, "s"),
    proof.proven and "proven" or ("%.3g %% decided"):format(100 * proof.share), "< 1 s",
    #seconds > 0 and show(seconds[(#seconds + 1) // 2], "s") or "-", ("%d of %d"):format(reached, o.seeds) }
  proofs[#proofs + 1] = { network.name, proof.size, proof.nodes, proof.simulated, show(proof.cost, "s"), show(least, "s"),
    paper.difference(problem:simulate(problem:strategy "data_parallel").step_time, proof.cost) }
  best:save(("%s/optimum-%s.strategy"):format(o.folder, network.model))
end
print "the space: block is contiguous devices; sizes in strategies"
print(report.table({ "network", "size", "looked at", "simulated", "optimum", "best search", "data parallel above it" }, proofs))
print "\nexhaustive and search, published (section 8.3) and here (median of the seeds that reached it)"
print(report.table({ "network", "published", "here", "", "published search", "here", "reached by" }, rows))
