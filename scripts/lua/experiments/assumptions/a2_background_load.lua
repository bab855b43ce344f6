-- a2_background_load.lua - how much load of others does a choice of strategy survive?
--
--   soapstone run scripts/lua/experiments/assumptions/a2_background_load.lua [FOLDER] [--long]
--
-- A2 leaves a job its network.  Here others take a part of the links between switches (between leaves and spines of a fat tree,
-- of the adapters of machines; all links where no two switches are joined), all the time (`load`), swept; the simple
-- problem is the same without them (`ideal_links`).

local options = require "soapstone.options"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a2_background_load.lua: error, order and regret of a network of one's own, by load of the links between switches.", {
  networks = "alexnet,nmt,inception_v3", topologies = "fat_tree,p100_cluster", devices = "16,32", most_inception = options.count(16), loads = "0.1,0.3,0.5,0.7,0.8,0.9,0.95",
  proposals = options.count(60, { min = 0 }), searches = options.count(3, { min = 1 }), runs = options.count(2, { min = 0 }),
}, { topologies = "fat_tree,p100_cluster,torus", devices = "16,32", most_inception = 32, proposals = 300, searches = 5, runs = 4 },
  { networks = "mlp", topologies = "fat_tree", devices = "16", loads = "0.5,0.9", proposals = 3, searches = 2 })

local loads = common.strengths("loads", o.loads, 0)
local cells = common.groups(o)

local results = trial.sweep(cells, function(cell)
  local function problem(load)
    local given = common.given(o, cell, { links = "shared" })
    for _, link in ipairs(load > 0 and common.network_links(given.topology) or {}) do given.topology:set_link(link, { load = load }) end
    return soapstone.problem(given)
  end
  return common.try(o, { simple = problem(0), at = problem, x = loads, from = 0 })
end, { workers = o.workers, cost = common.cost })

local groups = common.grouped(cells, results, loads)
local columns = { "network", "topology", "devices" }
common.print_verdicts(columns, "load", groups)
common.print_groups(columns, groups, {})
common.draw(o, "a2-background-load", groups, { title = "Others take a share of the links between switches", xlabel = "share of the links between switches that others take",
  from_x = 0, to_x = 1 })

trial.result("the load of others on the links between switches makes the median step longer by %s times at a load of %g; half of the links taken: %s times (tau %s); and not to know it %s.",
  common.span(groups, common.longer.value, function(times) return ("%.1f"):format(times) end), loads[#loads],
  common.span(groups, common.longer.value, function(times) return ("%.2f"):format(times) end, 0.5),
  common.span(groups, common.tau.value, function(tau) return ("%.2f"):format(tau) end, 0.5), common.conclusion(groups, {}))
