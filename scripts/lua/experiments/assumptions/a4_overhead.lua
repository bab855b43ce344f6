-- a4_overhead.lua - what does starting a task cost, and where do fine splits stop to pay?
--
--   soapstone run scripts/lua/experiments/assumptions/a4_overhead.lua [FOLDER] [--long]
--
-- A4 says that starting a task costs nothing.  Here each task that computes (launch), each message, or each step takes some
-- microseconds more, swept; the roofline's own launch time (a few microseconds, by kind of device) is set to nothing, so
-- that the sweep says all of it.  A crossing asks at which overhead half of what the best strategy of the list gains over
-- one device alone is lost.

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a4_overhead.lua: error, order and regret of free starts, by overhead of each task that computes, message or step.", {
  networks = "alexnet,inception_v3,nmt,rnnlm", topologies = "p100_cluster,fat_tree", devices = "4,8,16", most_inception = options.count(8), samples = options.count(8, { min = 1 }), kinds = "launch,message,step",
  overheads = "1 us,10 us,100 us,300 us,1 ms,3 ms", proposals = options.count(100, { min = 0 }), searches = options.count(3, { min = 1 }), runs = options.count(1, { min = 0 }),
}, { topologies = "p100_cluster,fat_tree,torus", most_inception = 16, overheads = "1 us,2 us,5 us,10 us,20 us,50 us,100 us,200 us,500 us,1 ms,2 ms,5 ms", proposals = 2000, searches = 5, runs = 4 },
  { networks = "mlp", topologies = "p100_cluster", devices = "4", kinds = "launch", overheads = "10 us,1 ms", proposals = 5, searches = 2 })

local overheads = common.strengths("overheads", o.overheads, 1e-12, false, "s")
local cells = common.groups(o, { "kind", arguments.some("kinds", o.kinds, { "launch", "message", "step" }) })

local results = trial.sweep(cells, function(cell)
  local network = common.network(cell.network)
  local given = common.given(o, cell, { model = common.model(network, cell.devices, { batch = o.samples * cell.devices }), costs = soapstone.costs.roofline { launch = 0 } })
  local simple = soapstone.problem(given)
  local broken
  local function at(overhead)
    given.chance = soapstone.chance { [cell.kind] = overhead }
    broken = soapstone.problem(given)
    return broken
  end
  return common.try(o, { simple = simple, at = at, x = overheads, from = 1e-9, log = true, more = function(short, verdict)
    for _, row in ipairs(verdict.rows) do short.split = math.min(short.split or row.broken, row.broken) end
    short.gain = broken:simulate(broken:strategy "whole").step_time / short.split
  end })
end, { workers = o.workers, cost = common.cost })

local groups = common.grouped(cells, results, overheads)
local columns, look = { "network", "topology", "devices", "kind" }, { unit = "s" }
common.print_verdicts(columns, "overhead", groups)
common.print_groups(columns, groups, look)
-- drawn: the largest clusters that all networks were asked on
local drawn
for _, size in ipairs(common.values(groups, "devices")) do
  if #common.values(common.those(groups, { devices = size }), "network") == #common.values(groups, "network") then drawn = math.max(drawn or 0, size) end
end
local words = { launch = "each task", message = "each message", step = "each step" }
for _, topology in ipairs(common.values(groups, "topology")) do
  common.draw(o, "a4-overhead-" .. topology:gsub("_", "-"), common.those(groups, { topology = topology, devices = drawn or groups[1].devices }), {
    title = ("Starting takes time, on %d devices of %s with %d samples each"):format(drawn or groups[1].devices, topology, o.samples),
    what = "what it does to what splits gain over one device, to the step, and to the order of strategies", xlabel = "time that each start takes", xunit = "s", logx = true }, function(group) return words[group.kind] end,
    { { name = "gain over one device", lines = { 1 }, value = function(v) return v.gain end }, common.longer, common.tau, common.regret })
end

local parts = {}
for _, kind in ipairs(common.values(groups, "kind")) do
  local those, halves = common.those(groups, { kind = kind }), {}
  for _, name in ipairs(common.values(groups, "network")) do
    local places = {}
    for _, group in ipairs(common.those(those, { network = name })) do
      local half, y = (1 + group.verdicts[1].gain) / 2, {}
      for i, v in ipairs(group.verdicts) do y[i] = -v.gain end
      places[#places + 1] = common.passes(group.x, y, -half, true)
    end
    halves[#halves + 1] = name .. " " .. common.places(places, "s")
  end
  parts[#parts + 1] = ("each %s takes half of the gain over one device from: %s, and not to know it %s"):format(kind == "launch" and "task" or kind, table.concat(halves, ", "),
    common.conclusion(those, look))
end
trial.result("over %s devices with %d samples each, an overhead of %s.", (tostring(o.devices):gsub(",", ", ")), o.samples, table.concat(parts, "; of "))
