-- common.lua - what the scripts of the published evaluation share: their options, the published numbers, the six
-- networks, the two clusters, and costs calibrated on one device.
--
-- The evaluation is that of FlexFlow (Jia, Zaharia, Aiken, "Beyond Data and Model Parallelism for Deep Neural
-- Networks", MLSys 2019).  Its numbers are in validation/published/flexflow, with where each was read.

local soapstone = require "soapstone"
local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"

local paper = {}

-- What the authors' runtime did, as far as it is known (docs/paper-flexflow.md, "The options"): the throughput is
-- measured, not simulated.
paper.runtime = {
  sync = "two_level", overlap = false, links = "fifo-hop", coalesce = "per_device", partial_sums = true,
  update_passes = 3,
}

-- -- options ------------------------------------------------------------------------------------------

-- The options of a script from its arguments, as soapstone.arguments reads them.  All scripts have --folder, --long,
-- --seed and --overlap (which goes into paper.runtime).
function paper.options(words, about, presets, long)
  local rules = { seed = 0, overlap = paper.runtime.overlap }
  for name, rule in pairs(presets) do rules[name] = rule end
  local o = arguments.read(words, about, rules, { long = long or {} })
  paper.runtime.overlap = o.overlap
  return o
end

paper.some = arguments.some

-- -- published numbers ---------------------------------------------------------------------------------

local function cells_of(line)
  local cells, at = {}, 1
  while at <= #line + 1 do
    local text, after = line:match('^"([^"]*)"()', at)
    if not text then text, after = line:match("^([^,]*)()", at) end
    cells[#cells + 1], at = text, after + 1
  end
  return cells
end

-- A list of rows by column of validation/published/flexflow/NAME.csv; what looks like a number is one.
function paper.published(name)
  local path = ("%s/validation/published/flexflow/%s.csv"):format(soapstone.home, name)
  local file, wrong = io.open(path)
  if not file then options.refuse("the published numbers are missing: %s", wrong) end
  local header, rows = nil, {}
  for line in file:lines() do
    if line:sub(1, 1) ~= "#" then
      local cells = cells_of(line)
      if header then
        local row = {}
        for c, title in ipairs(header) do row[title] = tonumber(cells[c]) or cells[c] end
        rows[#rows + 1] = row
      else
        header = cells
      end
    end
  end
  file:close()
  return rows
end

-- -- networks and clusters -------------------------------------------------------------------------------

-- Table 4; batches are per device.  Convolutions have biases and no normalisation, as FlexFlow has them; attention
-- is one more recurrent layer, as figures 7b and 13 have it.
paper.networks = {
  { name = "AlexNet", model = "alexnet", batch = 256 },
  { name = "Inception-v3", model = "inception_v3", batch = 64, options = { norm = "none" } },
  { name = "ResNet-101", model = "resnet", batch = 64, options = { norm = "none" } },
  { name = "RNNTC", model = "rnntc", batch = 64 },
  { name = "RNNLM", model = "rnnlm", batch = 64 },
  { name = "NMT", model = "nmt", batch = 64 },
}

-- Figure 5; fewer than four devices are on one machine, and two K80 are neighbours.
paper.clusters = {
  { name = "P100", topology = "p100_cluster", devices = { 1, 2, 4, 8, 16 } },
  { name = "K80", topology = "k80_cluster", devices = { 1, 2, 4, 8, 16, 32, 64 } },
}

local function by_name(list, name)
  for _, one in ipairs(list) do
    if one.name == name then return one end
  end
end

function paper.network(name) return by_name(paper.networks, name) end
function paper.cluster(name) return by_name(paper.clusters, name) end

function paper.topology(cluster, devices)
  return require("topologies." .. cluster.topology) {
    nodes = (devices + 3) // 4, gpus = math.min(devices, 4) }
end

function paper.model(network, devices, more)
  local o = { batch = network.batch * devices }
  for name, value in pairs(network.options or {}) do o[name] = value end
  for name, value in pairs(more or {}) do o[name] = value end
  return require("models." .. network.model)(o)
end

-- The same as a text.
function paper.described()
  local list = {}
  for name, value in pairs(paper.runtime) do list[#list + 1] = name .. " " .. tostring(value) end
  return table.concat(list, ", ")
end

-- The published samples per second of one device: the only published number that goes into a simulation.
local function one_device(network, cluster)
  for _, row in ipairs(paper.published "fig6_throughput") do
    if row.dnn == network.name and row.cluster == cluster.name and row.strategy == "data_parallel" and
        row.gpus == 1 then
      return row.samples_per_s_per_gpu
    end
  end
end

local function make(network, cluster, devices, costs, more)
  local o = { model = paper.model(network, devices, more and more.model), costs = costs,
    topology = paper.topology(cluster, devices) }
  for name, value in pairs(paper.runtime) do o[name] = value end
  for name, value in pairs(more and more.problem or {}) do o[name] = value end
  return soapstone.problem(o)
end

-- The roofline scaled so that a step on one device takes what was published; and that factor.
local function calibrate(network, cluster, more)
  local plain = soapstone.costs.roofline()
  local problem = make(network, cluster, 1, plain, more)
  local factor = network.batch / one_device(network, cluster) / problem:simulate(problem:strategy "whole").step_time
  return plain:scale(factor), factor
end

-- A problem of so many devices with calibrated costs, and their factor; more.problem are options of the problem, more.model
-- of the model.
function paper.problem(network, cluster, devices, more)
  local costs, factor = calibrate(network, cluster, more)
  return make(network, cluster, devices, costs, more), factor
end

-- -- searches --------------------------------------------------------------------------------------------

-- From data parallelism, the expert's strategy and a random one; o.seconds (0: no limit) and o.proposals (0: none) are
-- for each chain.  A final descent needs a limit of time: it tries every change of every operator.
function paper.search(problem, o, more)
  local given = { start = { "data_parallel", "expert", "random" }, seconds = o.seconds, proposals = o.proposals, seed = o.seed,
    descent = o.seconds > 0 }
  for name, value in pairs(more or {}) do given[name] = value end
  return soapstone.search.mcmc(problem, given):run { progress = true }
end

-- -- what is printed and written ---------------------------------------------------------------------------

-- Ours against theirs: "+3.1 %".
function paper.difference(ours, theirs)
  return ("%+.1f %%"):format(100 * (ours / theirs - 1))
end

paper.write, paper.draw = report.write, report.draw

return paper
