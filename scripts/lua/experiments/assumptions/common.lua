-- common.lua - what the experiments on assumptions share: their options, and the networks and clusters that they use.

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"

local common = {}

-- Networks with samples for each device (weak scaling), and the machines that they are run on: the first four as FlexFlow
-- (MLSys 2019) did, on P100 with an adapter of 100 Gb/s each; a GPT-2 in bf16 on H100 with 400 Gb/s.
local p100 = { kind = "p100", bandwidth = "12 GB/s" }
local h100 = { kind = "h100", bandwidth = "48 GB/s" }
common.networks = {
  { name = "alexnet", samples = 64, on = p100 },
  { name = "inception_v3", samples = 32, on = p100, options = { norm = "none" } },
  { name = "nmt", samples = 64, on = p100 },
  { name = "mlp", samples = 64, on = p100 },
  { name = "rnnlm", samples = 64, on = p100 },
  { name = "gpt", samples = 4, on = h100, options = { size = "124M" } },
}

function common.network(name)
  return arguments.some("network", name, common.networks)[1]
end

-- The model for so many devices.
function common.model(network, devices, more)
  local o = { batch = network.samples * devices }
  for key, value in soapstone.pairs(network.options or {}) do o[key] = value end
  for key, value in soapstone.pairs(more or {}) do o[key] = value end
  return require("models." .. network.name)(o)
end

-- Leaves of eight devices under four spines, or one switch for up to eight.
function common.fat_tree(network, devices, oversubscription, more)
  local o = { down = { math.min(devices, 8) }, kind = network.on.kind, bandwidth = network.on.bandwidth }
  if devices > 8 then o.down, o.up, o.oversubscription = { 8, devices // 8 }, { 4 }, oversubscription or 1 end
  for key, value in soapstone.pairs(more or {}) do o[key] = value end
  return require "topologies.fat_tree" (o)
end

local clusters = {
  fat_tree = common.fat_tree,
  p100_cluster = function(network, devices)
    return require "topologies.p100_cluster" { nodes = math.max(devices // 4, 1), gpus = math.min(devices, 4), kind = network.on.kind }
  end,
  k80_cluster = function(_, devices)
    return require "topologies.k80_cluster" { nodes = math.max(devices // 4, 1), gpus = math.min(devices, 4) }
  end,
  torus = function(network, devices) -- as square as it can be
    local rows = math.floor(math.sqrt(devices))
    while devices % rows > 0 do rows = rows - 1 end
    return require "topologies.torus" { sizes = { rows, devices // rows }, kind = network.on.kind, bandwidth = network.on.bandwidth }
  end,
  ring = function(network, devices)
    return require "topologies.ring" { devices = devices, kind = network.on.kind, bandwidth = network.on.bandwidth }
  end,
}
common.clusters = { "fat_tree", "p100_cluster", "k80_cluster", "torus", "ring" }

-- So many devices in a ready-made topology, with the network's kind of device and bandwidth where it takes them.
function common.cluster(name, network, devices, oversubscription)
  local t = clusters[name](network, devices, oversubscription)
  if t.devices ~= devices then options.refuse("%s has %d devices, where %d are meant: machines have four", name, t.devices, devices) end
  return t
end

-- One model of several networks side by side, which share nothing: their operators and weights are called "job1.", "job2.", ...
-- and what they have alone.  The ready-made function makes its model of a table that passes all on to the common one.
function common.jobs(network, number, devices, more)
  local model = require "soapstone.model"
  local all = model.new { name = ("%d %s"):format(number, network.name), dtype = network.on == h100 and "bf16" or "f32" }
  local module, job = "models." .. network.name, 0
  local function stand_in()
    return setmetatable({}, { __metatable = "soapstone.model", __index = function(_, kind)
      return function(_, name, inputs, o)
        local own = {}
        for key, value in soapstone.pairs(o or {}) do own[key] = value end
        if own.share then own.share = ("job%d.%s"):format(job, own.share) end
        return all[kind](all, ("job%d.%s"):format(job, name), inputs, own)
      end
    end })
  end
  local kept = package.loaded[module]
  package.loaded["soapstone.model"], package.loaded[module] = { new = stand_in }, nil
  local ok, make = pcall(require, module)
  local o = { batch = network.samples * devices }
  for key, value in soapstone.pairs(network.options or {}) do o[key] = value end
  for key, value in soapstone.pairs(more or {}) do o[key] = value end
  while ok and job < number do
    job = job + 1
    local wrong
    ok, wrong = pcall(make, o)
    make = ok and make or wrong
  end
  package.loaded["soapstone.model"], package.loaded[module] = model, kept
  if not ok then error(make, 0) end
  return all
end

-- The rule of an option --topology.
function common.topology(preset) return options.choice(preset, common.clusters) end

-- The options that every experiment has, and its own.  `tiny` is the form that tests run.
function common.options(about, presets, long, tiny)
  local all = { workers = options.count(0, { min = 0 }), seed = options.count(1, { min = 0 }) }
  for name, rule in soapstone.pairs(presets) do all[name] = rule end
  return arguments.read(arg, about, all, { long = long, tiny = tiny })
end

-- The product of lists: a cell for each choice of one from each, the last list the fastest.  Each is { name, values }.
function common.cells(...)
  local cells = { {} }
  for _, list in ipairs { ... } do
    local more = {}
    for _, cell in ipairs(cells) do
      for _, value in ipairs(list[2]) do
        local longer = { [list[1]] = type(value) == "table" and value.name or value }
        for key, old in soapstone.pairs(cell) do longer[key] = old end
        more[#more + 1] = longer
      end
    end
    cells = more
  end
  return cells
end

-- A verdict less the single strategies.
function common.short(verdict)
  return { error = verdict.error.median, worst = verdict.error.worst, tau = verdict.tau, pairs = verdict.pairs,
    regret = verdict.regret, chosen = verdict.chosen, best_simple = verdict.best.simple, best_broken = verdict.best.broken,
    noise = math.max(verdict.noise.simple, verdict.noise.broken), strategies = #verdict.rows }
end

function common.judge(given) return common.short(trial.compare(given)) end

function common.percent(share) return ("%+.1f %%"):format(100 * share) end

local heads = { "strategies", "error", "worst", "tau", "pairs against, tied", "best, simple", "best, broken", "regret", "of the list", "noise" }

-- Cells and their verdicts as a table, the cells' own columns first.
function common.print_verdicts(columns, cells, verdicts)
  local rows, percent = {}, common.percent
  for i, v in ipairs(verdicts) do
    local row = {}
    for c, name in ipairs(columns) do row[c] = cells[i][name] end
    table.move({ v.strategies, percent(v.error), percent(v.worst), v.tau and ("%.2f"):format(v.tau) or "none",
      ("%d, %d"):format(v.pairs.against, v.pairs.tied), v.best_simple, v.best_broken, percent(v.regret), percent(v.chosen),
      ("%.1g %%"):format(100 * v.noise) }, 1, #heads, #row + 1, row)
    rows[i] = row
  end
  print(report.table(table.move(heads, 1, #heads, #columns + 1, table.move(columns, 1, #columns, 1, {})), rows))
end

-- Curves of what value(verdict) says over cell[x]: one for each that label(cell) names, in the panel that panel(cell) does.
function common.curves(cells, verdicts, x, label, panel, value)
  local list, by = {}, {}
  for i, cell in ipairs(cells) do
    local key = label(cell) .. "\n" .. (panel and panel(cell) or "")
    local curve = by[key]
    if not curve then
      curve = { label = label(cell), panel = panel and panel(cell), x = {}, y = {}, look = "both" }
      by[key] = curve
      list[#list + 1] = curve
    end
    table.insert(curve.x, cell[x])
    table.insert(curve.y, value(verdicts[i]) or 0 / 0)
  end
  local colours, count = {}, 0
  for _, curve in ipairs(list) do
    if not colours[curve.label] then
      count = count + 1
      colours[curve.label] = count
    end
    curve.colour = colours[curve.label]
  end
  return list
end

-- "1.3" or "nowhere": the first x at which a curve passes a value, from below, between its points.
function common.passes(curve, value, log)
  if curve.y[1] > value then return ("%.3g at the latest"):format(curve.x[1]) end
  local raised, line = {}, {}
  for i, y in ipairs(curve.y) do raised[i], line[i] = 1 + math.max(y, 0), 1 + value end
  for _, crossing in ipairs(trial.crossing(curve.x, raised, line, { log = log })) do
    if crossing.below == "a" then return ("%.3g"):format(crossing.at) end
  end
  return "nowhere"
end

-- The one of the cells that value(verdict) is greatest of: its verdict and the cell.
function common.most(cells, verdicts, value)
  local best
  for i, v in ipairs(verdicts) do
    if value(v) and (not best or value(v) > value(verdicts[best])) then best = i end
  end
  return verdicts[best], cells[best]
end

return common
