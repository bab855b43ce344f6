-- a2_two_jobs.lua - several jobs on one network: how much longer does a step take than alone?
--
--   soapstone run scripts/lua/experiments/assumptions/a2_two_jobs.lua [FOLDER] [--long]
--
-- A2 leaves a job its network.  Here several equal jobs begin a step at the same instant, each data parallel on eight
-- devices of its own, of an oversubscribed fat tree: packed (a leaf for each job) or spread (its devices in different
-- leaves).  They are one model, whose parts have nothing in common, and one task graph.  A job's step time is when the
-- last of its tasks ends.  Exclusive links, the published model, stand beside shared ones.

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local SIZE = 8 -- devices of a job, and of a leaf

local o = common.options("a2_two_jobs.lua: step times of equal jobs together over that of one alone, packed and spread, exclusive and shared links.", {
  networks = "alexnet,nmt", jobs = "1,2,3,4,6,8", leaves = options.count(8, { min = 1 }), oversubscription = options.number(4, { min = 1 }), sync = "ring",
}, { networks = "alexnet,inception_v3,nmt,rnnlm", jobs = "1,2,3,4,5,6,7,8,10,12,14,16", leaves = 16 },
  { networks = "mlp", jobs = "1,2", leaves = 2 })

local numbers = arguments.numbers("jobs", o.jobs, 1)
for _, number in ipairs(numbers) do
  if number > o.leaves then options.refuse("--jobs has %d in it, and there are %d leaves of %d devices", number, o.leaves, SIZE) end
end
local cells = common.cells({ "network", arguments.some("networks", o.networks, common.networks) }, { "placed", { "packed", "spread" } },
  { "links", { "fifo-hop", "shared" } }, { "jobs", numbers })

-- Device i of a job: in its own leaf, or in a different leaf for each i, as schedulers leave them.
local function device_of(placed, job, i)
  if placed == "packed" then return (job - 1) * SIZE + i end
  return (job + i - 2) % o.leaves * SIZE + i
end

local function data_parallel(problem, placed)
  local strategy = problem:strategy("whole", { name = "data parallel" })
  for op in problem.model:ops() do
    local job, devices = math.tointeger(op.name:match "^job(%d+)%."), {}
    for i = 1, SIZE do devices[i] = device_of(placed, job, i) end
    strategy:set(op.name, { degrees = { [op.dims[1].name] = SIZE }, devices = devices })
  end
  return strategy
end

local results = trial.sweep(cells, function(cell)
  local network = common.network(cell.network)
  local tree = require "topologies.fat_tree" { down = { SIZE, o.leaves }, up = { 4 }, oversubscription = o.oversubscription,
    kind = network.on.kind, bandwidth = network.on.bandwidth }
  local problem = soapstone.problem { model = common.jobs(network, cell.jobs, SIZE), topology = tree, sync = o.sync,
    links = cell.links, coalesce = "per_device" }
  local r = problem:simulate(data_parallel(problem, cell.placed))
  local ends = {}
  for i = 1, cell.jobs do ends[i] = 0 end
  for i = 1, r.tasks do
    local task = r:task(i)
    local job = math.tointeger(task.name:match "job(%d+)%.")
    ends[job] = math.max(ends[job], task.finish)
  end
  local sum = 0
  for _, at in ipairs(ends) do sum = sum + at end
  return { mean = sum / cell.jobs, most = math.max(table.unpack(ends)), least = math.min(table.unpack(ends)) }
end, { workers = o.workers })

local alone, rows = {}, {}
for i, cell in ipairs(cells) do
  if cell.jobs == math.min(table.unpack(numbers)) then alone[cell.network .. cell.placed .. cell.links] = results[i].mean end
end
for i, cell in ipairs(cells) do
  results[i].times = results[i].mean / alone[cell.network .. cell.placed .. cell.links]
  rows[i] = { cell.network, cell.placed, cell.links, cell.jobs, soapstone.unit.show(results[i].mean, "s"), soapstone.unit.show(results[i].least, "s"),
    soapstone.unit.show(results[i].most, "s"), ("%.3f"):format(results[i].times) }
end
print(report.table({ "network", "placed", "links", "jobs", "mean step", "fastest job", "slowest job", "times one job" }, rows))
report.draw("lines", common.curves(cells, results, "jobs", function(cell) return cell.placed .. ", " .. cell.links end,
  function(cell) return cell.network end, function(v) return 1e3 * v.mean end), o.folder .. "/a2-two-jobs.svg", {
    title = ("Jobs of %d devices on one fat tree 1:%g"):format(SIZE, o.oversubscription), xlabel = "jobs", ylabel = "mean step time (ms)",
    columns = 2, width = 7, from_y = 0 })

local function at(network, placed, links, jobs)
  for i, cell in ipairs(cells) do
    if cell.network == network and cell.placed == placed and cell.links == links and cell.jobs == jobs then return results[i] end
  end
end
local parts, few, many = {}, math.min(table.unpack(numbers)), math.max(table.unpack(numbers))
for _, network in ipairs(arguments.some("networks", o.networks, common.networks)) do
  local name = network.name
  local shared, hop = at(name, "spread", "shared", many), at(name, "spread", "fifo-hop", many)
  parts[#parts + 1] = ("%s %.2f times (exclusive links say %.2f, %s of the shared step with %d and %s with %d)"):format(name, shared.times, hop.times,
    common.percent(at(name, "spread", "fifo-hop", few).mean / at(name, "spread", "shared", few).mean - 1), few,
    common.percent(hop.mean / shared.mean - 1), many)
end
trial.result("%d jobs spread over the leaves, against %d, take on shared links: %s; packed ones do not meet.", many, few, table.concat(parts, ", "))
