-- approaches.lua - which dimensions each strategy uses: table 1, from the strategies themselves.
--
--   soapstone run scripts/lua/paper/flexflow/approaches.lua [FOLDER] [--long]
--
-- FlexFlow (MLSys 2019), table 1: sample, operator, attribute and parameter dimensions.  A strategy uses
--
--   S, A, P  where it cuts a dimension of that class of some operator, and the parts are on different devices
--   O        where some operator leaves devices out that another one uses
--   hybrid   where it cuts dimensions of more than one class of one operator
--
-- Attribute and parameter dimensions are those of the model's operators: a channel is a parameter dimension of a convolution
-- and an attribute of a pooling.

local options = require "soapstone.options"
local report = require "soapstone.report"
local drawn = require "scripts.lua.paper.flexflow.drawn"
local paper = require "scripts.lua.paper.flexflow.common"

local about = [[
approaches.lua: which of the dimensions S, O, A and P data parallelism, model parallelism, the experts' strategies, the best
placement and the found strategy use, of six networks on 8 P100, which are two machines; and those of figures 12 and 13.]]
local o = paper.options(arg, about, {
  networks = "all", devices = options.count(8, { min = 1 }), proposals = options.count(1000, { min = 1 }),
  seconds = 0.0, descent = false,
}, { proposals = 100000, descent = true })

local function used_by(strategy, op)
  local configuration = strategy:get(op.name)
  local used, devices, count = {}, {}, 0
  for _, device in ipairs(configuration.devices) do
    if not devices[device] then devices[device], count = true, count + 1 end
  end
  for _, dimension in ipairs(op.dims) do
    if count > 1 and (configuration.degrees[dimension.name] or 1) > 1 then used[dimension.class] = true end
  end
  return used, devices
end

-- How many operators use each of s, a and p, how many are hybrid, and how many leave devices out.
local function dimensions(problem, strategy)
  local counts, all, sets = { s = 0, a = 0, p = 0, hybrid = 0, o = 0 }, {}, {}
  for op in problem.model:ops() do
    local used, devices = used_by(strategy, op)
    local classes = 0
    for class in pairs(used) do
      counts[class] = counts[class] + 1
      classes = classes + 1
    end
    if classes > 1 then counts.hybrid = counts.hybrid + 1 end
    sets[#sets + 1] = devices
    for device in pairs(devices) do all[device] = true end
  end
  for _, devices in ipairs(sets) do
    for device in pairs(all) do
      if not devices[device] then
        counts.o = counts.o + 1
        break
      end
    end
  end
  return counts
end

-- "S O P", in the table's order.
local function letters_of(counts)
  local list = {}
  for _, class in ipairs { "s", "o", "a", "p" } do
    if counts[class] > 0 then list[#list + 1] = class:upper() end
  end
  return #list > 0 and table.concat(list, " ") or "none"
end

local approaches = { -- the names of table 1, and what is it here
  { name = "data parallelism", kind = "data_parallel" },
  { name = "model parallelism", kind = "model_parallel" },
  { name = "Krizhevsky 2014 (CNN expert)", kind = "expert_cnn", only = "cnn" },
  { name = "Wu et al. 2016 (RNN expert)", kind = "expert_rnn", only = "rnn" },
  { name = "ColocRL", search = { moves = "place", group = 0, start = { "whole", "model_parallel" } } },
  { name = "FlexFlow", search = {} },
}

local drawings = { -- of 4 P100
  ["Inception-v3"] = { name = "figure 12", make = drawn.inception },
  NMT = { name = "figure 13", make = drawn.nmt, model = { steps_per_op = 1 } },
}

local function is_recurrent(network)
  return network.name:find "^RNN" ~= nil or network.name == "NMT"
end

local function strategy_of(approach, problem)
  if approach.kind then return problem:strategy(approach.kind) end
  local more = { descent = o.descent }
  for name, value in pairs(approach.search) do more[name] = value end
  return paper.search(problem, o, more).best
end

local header = { "network", "approach", "uses", "hybrid", "S", "O", "A", "P", "both", "operators" }
local rows, union = {}, {}

local function add(problem, network, approach, strategy)
  local counts = dimensions(problem, strategy)
  rows[#rows + 1] = { network, approach, letters_of(counts), counts.hybrid > 0 and "yes" or "no", counts.s, counts.o,
    counts.a, counts.p, counts.hybrid, problem.model:totals().operators }
  local all = union[approach] or { s = 0, o = 0, a = 0, p = 0, hybrid = 0 }
  for name, count in pairs(counts) do all[name] = all[name] + count end
  union[approach] = all
end

for _, network in ipairs(paper.some("networks", o.networks, paper.networks)) do
  local problem = paper.problem(network, paper.cluster "P100", o.devices)
  for _, approach in ipairs(approaches) do
    if not approach.only or (approach.only == "rnn") == is_recurrent(network) then
      add(problem, network.name, approach.name, strategy_of(approach, problem))
    end
  end
  local drawing = drawings[network.name]
  if drawing then
    local four = paper.problem(network, paper.cluster "P100", 4, { model = drawing.model })
    add(four, network.name, drawing.name, drawing.make(four, {}))
  end
end

print "what strategies use: how many operators are cut by sample (S), attribute (A) and parameter (P) over several"
print "devices, leave devices out (O), and are cut by several classes"
print(report.table(header, rows))
paper.write(o.folder .. "/approaches.tsv", header, rows)

local function published_of(name)
  for _, row in ipairs(paper.published "table1_approaches") do
    if row.approach == name then return row.dimensions:gsub(";", " "), row.hybrid_within_one_operator end
  end
end

rows = {}
for _, approach in ipairs(approaches) do
  local counts = union[approach.name]
  if counts then
    local uses, hybrid = published_of(approach.name)
    local here, mixed = letters_of(counts), counts.hybrid > 0 and "yes" or "no"
    rows[#rows + 1] = { approach.name, uses, here, hybrid, mixed,
      uses == here and hybrid == mixed and "the same" or "not the same" }
  end
end
print "\ntable 1, what an approach may use, and what these strategies use"
print(report.table({ "approach", "published", "here", "hybrid", "here", "" }, rows))
