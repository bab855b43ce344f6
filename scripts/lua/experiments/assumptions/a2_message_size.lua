-- a2_message_size.lua - from which half size on does it matter that small messages get less of a link?
--
--   soapstone run scripts/lua/experiments/assumptions/a2_message_size.lua [FOLDER] [--long]
--
-- A2 says that a message has the full bandwidth whatever its size.  Measured links give s / (s + half size) of it: one
-- adapter of 200 Gb/s reaches half of its peak at 16 KiB, an all-reduce in a machine at 10 to 32 MiB.  Every link
-- gets a half size, swept; the simple problem is the same without.  Both share their links.

local options = require "soapstone.options"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a2_message_size.lua: error, order and regret of full bandwidth for every size, by half size of the links.", {
  networks = "alexnet,nmt", topologies = "fat_tree,torus", devices = "8,16",
  half_sizes = "16 KiB,1 MiB,4 MiB,8 MiB,16 MiB,32 MiB,64 MiB",
  proposals = options.count(60, { min = 0 }), searches = options.count(3, { min = 1 }), runs = options.count(1, { min = 0 }),
}, { networks = "alexnet,nmt,inception_v3", topologies = "fat_tree,torus,p100_cluster", devices = "8,16,32", proposals = 300, searches = 5, runs = 4,
    half_sizes = "1 KiB,4 KiB,16 KiB,64 KiB,256 KiB,1 MiB,4 MiB,16 MiB,64 MiB" },
  { networks = "mlp", topologies = "fat_tree", devices = "8", half_sizes = "64 KiB,4 MiB", proposals = 5, searches = 2 })

local half_sizes = common.strengths("half_sizes", o.half_sizes, 1, false, "B")
local cells = common.groups(o)

local results = trial.sweep(cells, function(cell)
  local function problem(half_size)
    local given = common.given(o, cell, { links = "shared" })
    for link = 1, half_size > 0 and given.topology.links or 0 do given.topology:set_link(link, { half_size = half_size }) end
    return soapstone.problem(given)
  end
  return common.try(o, { simple = problem(0), at = problem, x = half_sizes, from = 1, log = true })
end, { workers = o.workers, cost = common.cost })

local groups = common.grouped(cells, results, half_sizes)
local columns, look = { "network", "topology", "devices" }, { unit = "B" }
common.print_verdicts(columns, "half size", groups)
common.print_groups(columns, groups, look)
common.draw(o, "a2-message-size", groups, { title = "Small messages get less than the full bandwidth", xlabel = "size of a message that gets half of the bandwidth (MiB)", logx = true, scale = 2.0 ^ -20 })

-- where the median step of each network is 10 % longer
local parts = {}
for _, name in ipairs(common.values(groups, "network")) do
  local places = {}
  for _, group in ipairs(common.those(groups, { network = name })) do
    local y = {}
    for i, v in ipairs(group.verdicts) do y[i] = common.longer.value(v) end
    places[#places + 1] = common.passes(group.x, y, 1.1, true)
  end
  parts[#parts + 1] = name .. " " .. common.places(places, "B")
end
trial.result("the median step is 10 %% longer than with full bandwidth for all sizes from these half sizes on, by cluster: %s; and not to know it %s.",
  table.concat(parts, ", "), common.conclusion(groups, look))
