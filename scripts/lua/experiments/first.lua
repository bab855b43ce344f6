-- first.lua - three ways to spread a translation network over sixteen GPUs: the main job.
--
--   soapstone run scripts/lua/experiments/first.lua [FOLDER]
--
-- Prints a table, and writes a record (nmt.h5) and pictures of each step (Gantt charts) into FOLDER.

local soapstone = require "soapstone"
local report = require "soapstone.report"

local folder = arg[1] or "."

local nmt = require "models.nmt" { batch = 1024 } -- 64 for each of 16 devices
local p100 = require "topologies.p100_cluster" { nodes = 4 }

local problem = soapstone.problem {
  model = nmt, topology = p100,
  costs = soapstone.costs.roofline(), -- by each device's kind
  sync = "parameter_server",          -- how gradients meet
}

local results, strategies = {}, {}
for i, kind in ipairs { "data_parallel", "model_parallel", "expert_rnn" } do
  strategies[i] = problem:strategy(kind)
  results[i] = problem:simulate(strategies[i])
end

print(nmt)
print(p100)
print()
print(report.compare(results))
print()
print(report.wrap("assumptions: " .. results[1].assumptions, 100, 2))
print()

local record = folder .. "/nmt.h5"
soapstone.record(record, { problem = problem, results = results, strategies = strategies })
print("written: " .. record)
for _, r in ipairs(results) do
  for _, ending in ipairs { "svg", "png" } do
    local picture = ("%s/%s.%s"):format(folder, r.name, ending)
    soapstone.plot.gantt(r, picture)
    print("written: " .. picture)
  end
end
