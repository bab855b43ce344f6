-- common.lua - what the scripts of the published evaluation share: their options, the published numbers, the six
-- networks, the two clusters, and costs calibrated on one device.
--
-- The evaluation is that of FlexFlow (Jia, Zaharia, Aiken, "Beyond Data and Model Parallelism for Deep Neural
-- Networks", MLSys 2019).  Its numbers are in validation/published/flexflow, with where each was read.

local soapstone = require "soapstone"
local options = require "soapstone.options"

local paper = {}

-- What the authors' runtime did, as far as it is known (docs/paper-flexflow.md, "The options"): the throughput is
-- measured, not simulated.
paper.runtime = {
  sync = "two_level", overlap = false, links = "fifo-hop", coalesce = "per_device", partial_sums = true,
  update_passes = 3,
}

-- -- options ------------------------------------------------------------------------------------------

local function value_of(word, preset)
  if type(preset) == "string" then return word end
  if word == "true" or word == "false" then return word == "true" end
  return math.tointeger(word) or tonumber(word) or word
end

-- --NAME VALUE, --NAME=VALUE, and --NAME alone of what is on or off; at most one word without dashes is the folder.
local function read_words(words, presets)
  local given, i = {}, 1
  while words[i] do
    local name, value = words[i]:match "^%-%-([%w_-]+)=(.*)$"
    name = name or words[i]:match "^%-%-([%w_-]+)$"
    if name == "help" or words[i] == "-h" then return nil end
    if not name then
      if given.folder then
        soapstone.refuse("one folder is expected: '%s' stands after '%s'", words[i], given.folder)
      end
      given.folder = words[i]
    elseif type(presets[name]) == "boolean" or name == "long" then
      if value == nil and (words[i + 1] == "true" or words[i + 1] == "false") then
        i = i + 1
        value = words[i]
      end
      given[name] = value == nil or value_of(value)
    else
      if not value then
        i = i + 1
        value = words[i] or soapstone.refuse("--%s needs a value after it", name)
      end
      given[name] = value_of(value, presets[name])
    end
    i = i + 1
  end
  return given
end

-- The options of a script from its arguments.  `presets` are rules as soapstone.options has them; those in `long`
-- take their place with --long.  All scripts have --folder, --long, --seed and --overlap (which goes into
-- paper.runtime).  With --help it prints `about` and the options, and ends the program.
function paper.options(words, about, presets, long)
  local rules = { folder = ".", long = false, seed = 0, overlap = paper.runtime.overlap }
  for name, rule in pairs(presets) do rules[name] = rule end
  local given = read_words(words, rules)
  if not given then
    print(about)
    print "\noptions, each with a value after it:"
    io.write((options.help(function(o) options(o, rules) end):gsub("%f[^\n%z]  ", "  --")))
    local more = {}
    for name, value in pairs(long or {}) do more[#more + 1] = ("--%s %s"):format(name, value) end
    if #more > 0 then print("with --long: " .. table.concat(more, " ") .. ", unless given") end
    os.exit(0)
  end
  if given.long == true then
    for name, value in pairs(long or {}) do rules[name] = value end
  end
  local o = options(given, rules)
  paper.runtime.overlap = o.overlap
  local probe = o.folder .. "/.written"
  local file, wrong = io.open(probe, "w")
  if not file then options.refuse("--folder %s: nothing can be written there (%s)", o.folder, wrong) end
  file:close()
  os.remove(probe)
  return o
end

-- "a, b" as a list, each one of `names` (numbers or texts, or tables with a name); "all": all of them.
function paper.some(what, text, names)
  local by, known, list = {}, {}, {}
  for i, one in ipairs(names) do
    local name = tostring(type(one) == "table" and one.name or one)
    by[name], known[i] = one, name
  end
  if text == "all" then return names end
  for word in text:gmatch "[^,%s]+" do
    if not by[word] then
      local near = soapstone.nearest(word, known)
      options.refuse("--%s has '%s' in it; %s", what, word,
        near and ("did you mean %s?"):format(near) or "there are " .. table.concat(known, ", "))
    end
    list[#list + 1] = by[word]
  end
  if #list == 0 then options.refuse("--%s has nothing in it", what) end
  return list
end

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

-- Columns of a table as a file for other programs.
function paper.write(path, header, rows)
  local file = assert(io.open(path, "w"))
  file:write(table.concat(header, "\t"), "\n")
  for _, row in ipairs(rows) do
    local cells = {}
    for c in ipairs(header) do
      local cell = row[c]
      cells[c] = math.type(cell) == "float" and soapstone.unit.exact(cell) or tostring(cell)
    end
    file:write(table.concat(cells, "\t"), "\n")
  end
  assert(file:close())
  print("written: " .. path)
end

-- Draws with plot.KIND into path, an .svg, and into a .png beside it, where there is a gnuplot; the numbers are kept
-- by paper.write in any case.
function paper.draw(kind, what, path, o)
  for _, ending in ipairs { ".svg", ".png" } do
    local picture = path:gsub("%.svg$", "") .. ending
    local ok, wrong = pcall(soapstone.plot[kind], what, picture, o)
    if ok then
      print("written: " .. picture)
    elseif tostring(wrong):find("gnuplot", 1, true) then
      print("not drawn: " .. tostring(wrong):gsub("^[^:]+:%d+: ", ""))
      return
    else
      error(wrong, 0)
    end
  end
end

return paper
