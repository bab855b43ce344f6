-- a3_order.lua - what if devices do not serve tasks in the order in which they became ready?
--
--   soapstone run scripts/lua/experiments/assumptions/a3_order.lua [FOLDER] [--long]
--
-- A3 says first come, first served, one task at a time.  Here devices and links go by program order or take the
-- shortest task first, or devices run several tasks at once, each at full speed (streams: an upper bound of what
-- overlap can bring).  Strategies are the ready-made ones, splits of parameters, and random ones.  An order has no strength;
-- what is swept is the number of devices.

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a3_order.lua: error, order and regret of first come, first served, against other orders and streams, by cluster size.", {
  networks = "alexnet,nmt,inception_v3", topologies = "p100_cluster,fat_tree", devices = "4,8,16", most_inception = options.count(8), orders = "all", random = options.count(8, { min = 0 }),
  proposals = options.count(60, { min = 0 }), searches = options.count(3, { min = 1 }), runs = options.count(1, { min = 0 }),
}, { topologies = "p100_cluster,fat_tree,torus", devices = "4,8,16,32", most_inception = 32, random = 40, proposals = 500, searches = 5, runs = 4 },
  { networks = "mlp", topologies = "p100_cluster", devices = "4", orders = "shortest", random = 2, proposals = 5, searches = 2 })

local how = { program = { order = "program" }, shortest = { order = "shortest" }, ["2 streams"] = { streams = 2 }, ["4 streams"] = { streams = 4 } }
local orders = arguments.some("orders", o.orders, { "program", "shortest", "2_streams", "4_streams" })
for k, order in ipairs(orders) do orders[k] = (order:gsub("_", " ")) end
local cells = common.groups(o)

local results = trial.sweep(cells, function(cell)
  local given = common.given(o, cell)
  local function problem(order)
    local all = {}
    for key, value in soapstone.pairs(given) do all[key] = value end
    for key, value in soapstone.pairs(how[order] or {}) do all[key] = value end
    return soapstone.problem(all)
  end
  return common.try(o, { simple = problem(), at = problem, x = orders, random = o.random }).verdicts
end, { workers = o.workers, cost = common.cost })

-- groups of which the number of devices is the strength: one for each order, network and topology
local groups, sizes = {}, common.values(cells, "devices")
for _, order in ipairs(orders) do
  for _, topology in ipairs(common.values(cells, "topology")) do
    for _, network in ipairs(common.values(cells, "network")) do
      local group = { order = order, topology = topology, network = network, x = {}, verdicts = {}, changes = {} }
      for i, cell in ipairs(cells) do
        for k, its in ipairs(orders) do
          if its == order and cell.topology == topology and cell.network == network then
            table.insert(group.x, cell.devices)
            table.insert(group.verdicts, results[i][k])
          end
        end
      end
      groups[#groups + 1] = group
    end
  end
end
local columns = { "order", "topology", "network" }
common.print_verdicts(columns, "devices", groups)
common.print_groups(columns, groups, {})
common.draw(o, "a3-order", groups, { title = "Other orders than first come, first served", what = "what they do to the step and to the order of strategies",
  cost = "what it costs to choose by first come, first served",
  xlabel = "devices", logx = true, ticks_at_values = true },
  function(group) return ("%s, %s"):format(({ program = "program order", shortest = "shortest first" })[group.order] or group.order, group.topology) end)

local parts = {}
for _, order in ipairs(orders) do
  local those, changes = common.those(groups, { order = order }), 0
  local errors, taus, worst = {}, {}, nil
  for _, group in ipairs(those) do
    for _, v in ipairs(group.verdicts) do
      errors[#errors + 1], taus[#taus + 1] = 1 / (1 + v.error) - 1, v.tau
      if v.told then changes = changes + 1 end
      if v.told and (not worst or v.regret > worst.regret) then worst = v end
    end
  end
  local dear, all = common.count(those)
  parts[#parts + 1] = ("%s %s (tau %s; another strategy is the best in %d of %d, by more than 5 %% in %d%s)"):format(order, common.percent(trial.median(errors)),
    #taus > 0 and ("%.2f"):format(trial.median(taus)) or "none", changes, all, dear,
    worst and ", at most " .. common.percent(worst.regret) .. ", by search " .. common.least_to_most(worst) or "")
end
trial.result("against first come, first served, step times move in the median over networks, topologies and %d to %d devices by: %s.",
  math.min(table.unpack(sizes)), math.max(table.unpack(sizes)), table.concat(parts, ", "))
