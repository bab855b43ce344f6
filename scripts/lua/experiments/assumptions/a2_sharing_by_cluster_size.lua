-- a2_sharing_by_cluster_size.lua - from which cluster size on does it matter that links are shared?
--
--   soapstone run scripts/lua/experiments/assumptions/a2_sharing_by_cluster_size.lua [FOLDER] [--long]
--
-- The published model (A2) gives a link to one message at a time, which it crosses whole before the next link has it
-- (fifo-hop).  Here it is tried against links that messages flow over together at max-min fair rates (shared), on fat
-- trees of leaves of eight devices and other topologies, for several networks, sizes and oversubscriptions.  Beside it
-- stand two simple models that are as cheap: messages in pieces (fifo-hop in up to 16 segments), and whole routes held at
-- once (fifo-path).  So what storing and forwarding does is told apart from what sharing does.  Up to eight devices a
-- fat tree has no spines to be oversubscribed, and is asked once.

local arguments = require "soapstone.arguments"
local report = require "soapstone.report"
local options = require "soapstone.options"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local MODES = { "fifo-hop", "segments", "fifo-path" }
local about = [[
a2_sharing_by_cluster_size.lua: error, order and regret of exclusive links against shared ones, by network, topology, cluster
size and oversubscription of a fat tree.]]
local o = common.options(about, {
  networks = "alexnet,nmt,rnnlm", topologies = "fat_tree,p100_cluster", devices = "8,16,32,64", oversubscriptions = "1,4", simple = "all", most_segments = options.count(32, { min = 1 }),
  proposals = options.count(20, { min = 0 }), searches = options.count(3, { min = 1 }), runs = options.count(1, { min = 0 }),
}, { networks = "alexnet,inception_v3,nmt,rnnlm", topologies = "fat_tree,p100_cluster,torus", devices = "8,16,32,64,128", oversubscriptions = "1,2,4,8", most_segments = 64,
    proposals = 50, searches = 5, runs = 4 },
  { networks = "mlp", topologies = "fat_tree", devices = "8,16", oversubscriptions = "4", simple = "fifo-hop", proposals = 5, searches = 2 })

local how = { ["fifo-hop"] = { links = "fifo-hop" }, ["fifo-path"] = { links = "fifo-path" }, segments = { links = "fifo-hop", segment = "64 KiB", max_segments = 16 } }
local modes, overs = arguments.some("simple", o.simple, MODES), arguments.numbers("oversubscriptions", o.oversubscriptions, 1)
local cells = {}
for _, cell in ipairs(common.groups(o, { "oversubscription", overs })) do
  local spines = cell.topology == "fat_tree" and cell.devices > 8
  if spines or cell.oversubscription == overs[1] then cells[#cells + 1] = cell end
end

local function asked(cell, mode) return mode ~= "segments" or cell.devices <= o.most_segments end -- sixteen times as many tasks

local results = trial.sweep(cells, function(cell)
  local network = common.network(cell.network)
  local given, kept, by_mode = common.given(o, cell, { topology = common.cluster(cell.topology, network, cell.devices, cell.oversubscription) }), {}, {}
  local function problem(more)
    local all = {}
    for key, value in soapstone.pairs(given) do all[key] = value end
    for key, value in soapstone.pairs(more) do all[key] = value end
    return soapstone.problem(all)
  end
  local shared = problem { links = "shared" }
  local strategies = trial.strategies(shared)
  for _, mode in ipairs(modes) do
    if asked(cell, mode) then
      by_mode[mode] = common.try(o, { simple = problem(how[mode]), at = function() return shared end, x = { cell.devices }, strategies = strategies, kept = kept }).verdicts[1]
    end
  end
  return by_mode
end, { workers = o.workers, cost = common.cost })

-- groups of which the number of devices is the strength
local groups, by = {}, {}
for _, mode in ipairs(modes) do
  for i, cell in ipairs(cells) do
    if results[i][mode] then
      local key = ("%s %s %s %g"):format(mode, cell.network, cell.topology, cell.oversubscription)
      if not by[key] then
        by[key] = { simple = mode, network = cell.network, topology = cell.topology, oversubscription = cell.oversubscription, x = {}, verdicts = {}, changes = {},
          label = ("%s, 1:%g"):format(mode, cell.oversubscription) }
        groups[#groups + 1] = by[key]
      end
      table.insert(by[key].x, cell.devices)
      table.insert(by[key].verdicts, results[i][mode])
    end
  end
end
local columns = { "simple", "network", "topology", "oversubscription" }
common.print_verdicts(columns, "devices", groups)
common.print_groups(columns, groups, {})

local function row(group) return ("%s, %s"):format(group.network, group.topology) end
local function draw(name, title, quantity, look)
  local all = { title = "Links with one message at a time, against links that are shared", what = title, cost = title, xlabel = "devices", logx = true, columns = 2, width = 7, ticks_at_values = true,
    note = "segments: fifo-hop in up to 16 pieces; 1:4 is oversubscription" }
  for key, value in soapstone.pairs(look) do all[key] = value end
  common.draw(o, "a2-sharing" .. name, groups, all, row, { quantity })
end
local lowest = 0.9
for _, group in ipairs(groups) do
  for _, v in ipairs(group.verdicts) do lowest = math.min(lowest, v.tau or 1) end
end
draw("-error", "what they say of the median step", { name = "exclusive / shared", lines = { 1 }, value = function(v) return 1 + v.error end }, { logy = true })
draw("-order", "whether the order of strategies holds", common.tau, { from_y = math.min(0, math.floor(10 * lowest) / 10), to_y = 1 })
draw("", "what it costs to choose by them", common.regret, {})

-- "alexnet in 3 of 8, first on 16 devices": the fewest at which the regret is told apart from noise and above 5 %
local function from(those)
  local parts = {}
  for _, network in ipairs(common.values(those, "network")) do
    local least, dear, all = math.huge, common.count(common.those(those, { network = network }))
    for _, group in ipairs(common.those(those, { network = network })) do
      for i, v in ipairs(group.verdicts) do
        if v.told and v.regret > 0.05 then least = math.min(least, group.x[i]) end
      end
    end
    parts[#parts + 1] = least == math.huge and ("%s nowhere (of %d)"):format(network, all) or ("%s in %d of %d, first on %d devices"):format(network, dear, all, least)
  end
  return table.concat(parts, ", ")
end
local parts = {}
for _, mode in ipairs(modes) do
  local those, errors, taus, most, worst, where = common.those(groups, { simple = mode }), {}, {}, 0, nil, nil
  for _, group in ipairs(those) do
    for i, v in ipairs(group.verdicts) do
      errors[#errors + 1], taus[#taus + 1], most = v.error, v.tau, math.max(most, group.x[i])
      if v.told and (not worst or v.regret > worst.regret) then worst, where = v, ("%s on %d devices of %s, 1:%g"):format(group.network, group.x[i], group.topology, group.oversubscription) end
    end
  end
  table.sort(errors)
  if #those > 0 then
    parts[#parts + 1] = ("%s (up to %d devices) is off by %s in the median of all, %s to %s (tau %s), and choosing by it costs more than 5 %%: %s%s"):format(mode, most,
      common.percent(trial.median(errors)), common.percent(errors[1]), common.percent(errors[#errors]), #taus > 0 and ("%.2f"):format(trial.median(taus)) or "none", from(those),
      worst and ("; at most %s (%s by search; %s)"):format(common.percent(worst.regret), common.least_to_most(worst), where) or "")
  end
end
trial.result("against links that are shared, %s.", table.concat(parts, "; "))
