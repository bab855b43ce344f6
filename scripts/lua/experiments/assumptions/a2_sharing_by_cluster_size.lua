-- a2_sharing_by_cluster_size.lua - from which cluster size on does it matter that links are shared?
--
--   soapstone run scripts/lua/experiments/assumptions/a2_sharing_by_cluster_size.lua [FOLDER] [--long]
--
-- The published model (A2) gives a link to one message at a time, which it crosses whole before the next link has it
-- (fifo-hop).  Here it is tried against links that messages flow over together at max-min fair rates (shared), on fat
-- trees of leaves of eight devices, for several networks, sizes and oversubscriptions.  Beside it stand two simple
-- models that are as cheap: messages in pieces (fifo-hop in up to 16 segments), and whole routes held at once
-- (fifo-path).  So what storing and forwarding does is told apart from what sharing does.

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local about = [[
a2_sharing_by_cluster_size.lua: error, order and regret of exclusive links against shared ones, by network, cluster size
and oversubscription of a fat tree.]]
local o = common.options(about, {
  networks = "alexnet,nmt", devices = "8,16,32,64", oversubscription = "1,4", simple = "fifo-hop,segments,fifo-path",
  most_segments = options.count(32, { min = 1 }), sync = "ring", topology = common.topology "fat_tree", proposals = options.count(20, { min = 0 }),
  runs = options.count(2, { min = 0 }),
}, { networks = "alexnet,inception_v3,nmt,rnnlm", devices = "8,16,32,64,128", oversubscription = "1,2,4,8", most_segments = 64, proposals = 50, runs = 4 },
  { networks = "mlp", devices = "8,16", oversubscription = "4", simple = "fifo-hop", proposals = 5, runs = 1 })

local how = { ["fifo-hop"] = { links = "fifo-hop" }, ["fifo-path"] = { links = "fifo-path" },
  segments = { links = "fifo-hop", segment = "64 KiB", max_segments = 16 } }
local cells = common.cells({ "network", arguments.some("networks", o.networks, common.networks) },
  { "oversubscription", arguments.numbers("oversubscription", o.oversubscription, 1) },
  { "simple", arguments.some("simple", o.simple, { "fifo-hop", "segments", "fifo-path" }) },
  { "devices", arguments.numbers("devices", o.devices, 2) })
-- segments are sixteen times as many tasks, and up to eight devices have no spines to be oversubscribed
local few = {}
for _, cell in ipairs(cells) do
  if cell.simple ~= "segments" or cell.devices <= o.most_segments then few[#few + 1] = cell end
end
cells = few

local verdicts = trial.sweep(cells, function(cell)
  local network = common.network(cell.network)
  local model = common.model(network, cell.devices)
  local tree = common.cluster(o.topology, network, cell.devices, cell.oversubscription)
  local function problem(given)
    local all = { model = model, topology = tree, sync = o.sync, coalesce = "per_device" }
    for key, value in soapstone.pairs(given) do all[key] = value end
    return soapstone.problem(all)
  end
  local simple = problem(how[cell.simple])
  return common.judge { simple = simple, broken = problem { links = "shared" }, strategies = trial.strategies(simple),
    proposals = o.proposals, seed = o.seed, runs = o.runs }
end, { workers = o.workers })

common.print_verdicts({ "network", "oversubscription", "simple", "devices" }, cells, verdicts)

local function label(cell) return ("%s, 1:%g"):format(cell.simple, cell.oversubscription) end
local function panel(cell) return cell.network end
local function draw(name, ylabel, value, more)
  local look = { title = "Exclusive links against shared ones, " .. o.topology, xlabel = "devices", logx = true, ylabel = ylabel, columns = 2, width = 7,
    note = "segments: fifo-hop in up to 16 pieces; 1:4 is oversubscription" }
  for key, given in soapstone.pairs(more or {}) do look[key] = given end
  report.draw("lines", common.curves(cells, verdicts, "devices", label, panel, value), ("%s/a2-sharing-%s.svg"):format(o.folder, name), look)
end
draw("error", "step time, exclusive / shared", function(v) return 1 + v.error end, { logy = true })
draw("order", "Kendall's tau", function(v) return v.tau end, { to_y = 1 })
draw("regret", "regret (%)", function(v) return 100 * v.regret end)

local function of(simple)
  local list, found = {}, {}
  for i, cell in ipairs(cells) do
    if cell.simple == simple then list[#list + 1], found[#found + 1] = cell, verdicts[i] end
  end
  return list, found
end
local function first_at(list, found) -- the fewest devices at which the choice costs more than 5 %
  local least
  for i, v in ipairs(found) do
    if v.regret > 0.05 and (not least or list[i].devices < least) then least = list[i].devices end
  end
  return least and ("from %d devices on"):format(least) or "nowhere"
end
local parts = {}
for _, simple in ipairs(arguments.some("simple", o.simple, { "fifo-hop", "segments", "fifo-path" })) do
  local list, found = of(simple)
  if #list > 0 then
    local errors, taus = {}, {}
    for i, v in ipairs(found) do errors[i], taus[#taus + 1] = v.error, v.tau end
    local worst, where = common.most(list, found, function(v) return v.regret end)
    parts[#parts + 1] = ("%s is off by %s in the median (tau %.2f), and choosing by it costs more than 5 %% %s, at most %s (%s, %d devices, 1:%g)"):format(
      simple, common.percent(trial.median(errors)), trial.median(taus), first_at(list, found), common.percent(worst.regret),
      where.network, where.devices, where.oversubscription)
  end
end
trial.result("against links that are shared, %s.", table.concat(parts, "; "))
