-- a1_slow_device.lua - one device is slower than its kind: which strategies wait for it?
--
--   soapstone run scripts/lua/experiments/assumptions/a1_slow_device.lua [FOLDER] [--long]
--
-- A1 knows every time beforehand, and all devices are alike.  Here one of them takes 1.1, 1.5, 2, ... times as long.
-- If the step of a strategy grew as much, it would wait for that device alone; a search that knows of it can move work
-- away, and the regret is what not knowing costs.

local options = require "soapstone.options"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a1_slow_device.lua: error, order and regret of devices that are alike, by how slow one of them is.", {
  networks = "alexnet,nmt,inception_v3", topologies = "p100_cluster,fat_tree", devices = "4,8", slower = "1.05,1.1,1.25,1.5,2,3,4",
  proposals = options.count(200, { min = 0 }), searches = options.count(5, { min = 1 }), runs = options.count(2, { min = 0 }),
}, { topologies = "p100_cluster,fat_tree,torus", devices = "4,8,16", proposals = 4000, runs = 4 },
  { networks = "mlp", topologies = "p100_cluster", devices = "4", slower = "2", proposals = 5, searches = 2 })

local slower = common.strengths("slower", o.slower, 1)
local cells = common.groups(o)

local results = trial.sweep(cells, function(cell)
  local given = common.given(o, cell)
  local function at(times)
    given.chance = soapstone.chance { slow = { [1] = times } }
    return soapstone.problem(given)
  end
  return common.try(o, { simple = soapstone.problem(given), at = at, x = slower, from = 1, more = function(short, verdict)
    for _, row in ipairs(verdict.rows) do
      if row.name == "data_parallel" then short.data_parallel = row.broken / row.simple end
    end
  end })
end, { workers = o.workers, cost = common.cost })

local groups = common.grouped(cells, results, slower)
local columns = { "network", "topology", "devices" }
common.print_verdicts(columns, "slower", groups)
common.print_groups(columns, groups, {})
common.draw(o, "a1-slow-device", groups, { title = "One device is slower than the others", xlabel = "times slower one device is" }, nil,
  { { name = "data parallel, times", lines = { 1 }, value = function(v) return v.data_parallel end }, common.longer, common.tau, common.regret })

local parts = {}
for _, name in ipairs(common.values(groups, "network")) do
  parts[#parts + 1] = name .. " " .. common.span(common.those(groups, { network = name }), function(v) return v.data_parallel end,
    function(times) return ("%.1f"):format(times) end)
end
trial.result("one device that is up to %g times slower makes a data-parallel step longer by these times: %s; and not to know it %s.",
  slower[#slower], table.concat(parts, ", "), common.conclusion(groups, {}))
