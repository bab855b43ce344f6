-- a1_noise.lua - what does it cost that task times are not known beforehand?
--
--   soapstone run scripts/lua/experiments/assumptions/a1_noise.lua [FOLDER] [--long]
--
-- A1 gives a task one time.  Here each task that computes, each device, or each message has a factor of mean 1 drawn from a
-- lognormal distribution, whose coefficient of variation is swept.  The mean time of a task stays, and the mean step
-- grows: a step waits for the last of its devices, and the last of many is late.  Strategies meet the same luck
-- (common random numbers), and the noise of a mean is half the confidence interval.

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local common = require "scripts.lua.experiments.assumptions.common"

local o = common.options("a1_noise.lua: how much longer the mean step is than the one of mean times, by who is noisy, how much, and on how many devices.", {
  networks = "nmt", devices = "4,16", noisy = "all", cv = "0.01,0.03,0.1,0.3", repetitions = options.count(30, { min = 2 }), sync = "ring", topology = common.topology "p100_cluster",
  proposals = options.count(100, { min = 0 }),
}, { networks = "alexnet,inception_v3,nmt", devices = "4,8,16,32,64", cv = "0.003,0.01,0.03,0.06,0.1,0.2,0.3", repetitions = 200, proposals = 1000 },
  { networks = "mlp", devices = "4", noisy = "task", cv = "0.1", repetitions = 4, proposals = 3 })

local how = { task = "compute", device = "devices", message = "transfer" }
local cells = common.cells({ "network", arguments.some("networks", o.networks, common.networks) },
  { "devices", arguments.numbers("devices", o.devices, 2) }, { "noisy", arguments.some("noisy", o.noisy, { "task", "device", "message" }) },
  { "cv", arguments.numbers("cv", o.cv, 1e-6) })

local verdicts = trial.sweep(cells, function(cell)
  local network = common.network(cell.network)
  local given = { model = common.model(network, cell.devices), topology = common.cluster(o.topology, network, cell.devices), sync = o.sync, coalesce = "per_device" }
  local simple = soapstone.problem(given)
  given.chance = soapstone.chance { seed = o.seed, [how[cell.noisy]] = { "lognormal", cv = cell.cv } }
  local noisy = soapstone.problem(given)
  local function time(problem, strategy)
    if problem == simple then return problem:simulate(strategy).step_time, 0 end
    local one = problem:repetitions(strategy, { n = o.repetitions, threads = 1 }).strategies[1]
    return one.mean, (one.mean_interval[2] - one.mean_interval[1]) / 2 / one.mean
  end
  local verdict = trial.compare { simple = simple, broken = noisy, strategies = trial.strategies(simple), time = time,
    proposals = o.proposals, seed = o.seed }
  local short = common.short(verdict)
  for _, row in ipairs(verdict.rows) do
    if row.name == "data_parallel" then short.data_parallel = row.broken / row.simple - 1 end
  end
  return short
end, { workers = o.workers })

common.print_verdicts({ "network", "devices", "noisy", "cv" }, cells, verdicts)

report.draw("lines", common.curves(cells, verdicts, "cv", function(cell) return ("noisy %ss, %d devices"):format(cell.noisy, cell.devices) end,
  function(cell) return cell.network end, function(v) return math.max(100 * v.data_parallel, 1e-3) end), o.folder .. "/a1-noise.svg", {
    title = "Mean step under noise, data parallelism", xlabel = "coefficient of variation of a time", ylabel = "longer than without (%)",
    logx = true, logy = true, from_y = 0.01, width = 5, columns = 2 })

local network, greatest = cells[1].network, 0
for _, cell in ipairs(cells) do greatest = math.max(greatest, cell.cv) end
local parts, luckiest = {}, 0
for i, cell in ipairs(cells) do
  luckiest = math.min(luckiest, verdicts[i].regret)
  if cell.network == network and cell.cv == greatest then
    parts[#parts + 1] = ("%s by %ss on %d devices (tau %.2f)"):format(common.percent(verdicts[i].data_parallel), cell.noisy,
      cell.devices, verdicts[i].tau or 0 / 0)
  end
end
trial.result("noise of %g %%, of mean 1, makes the mean step of data-parallel %s longer: %s; and a search that scores by one draw loses up to %s against one that knows of no noise.",
  100 * greatest, network, table.concat(parts, ", "), common.percent(1 / (1 + luckiest) - 1))
