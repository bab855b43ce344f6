-- first.lua - how to spread a translation network over sixteen GPUs: the main job.
--
--   soapstone run scripts/lua/experiments/first.lua [FOLDER]
--
-- Three ready-made strategies, and one that a search finds in some seconds.  Prints a table, and writes into FOLDER a
-- record (nmt.h5), the log of the search (search.h5), pictures of each step (Gantt charts), of the search, and of the
-- strategy that it found.

local soapstone = require "soapstone"
local report = require "soapstone.report"

local folder = arg[1] or "."

local nmt = require "models.nmt" { batch = 1024 } -- 64 for each of 16 devices
local p100 = require "topologies.p100_cluster" { nodes = 4 }

local problem = soapstone.problem {
  model = nmt, topology = p100,
  costs = soapstone.costs.roofline(), -- by each device's kind
  sync = "ring",                      -- how gradients meet: all-reduces
}

local strategies = {}
for i, kind in ipairs { "data_parallel", "model_parallel", "expert_rnn" } do
  strategies[i] = problem:strategy(kind)
end

print(nmt)
print(p100)
print()

local log = folder .. "/search.h5"
local search = soapstone.search.mcmc(problem, {
  start = { "data_parallel", "expert_rnn" }, -- a chain from each
  proposals = 3000, seed = 1,                -- of each; effort = "minutes" goes on until a time has passed
  log = log,
})
search:run { progress = true }
strategies[#strategies + 1] = search.best
print(search)

local results = {}
for i, strategy in ipairs(strategies) do results[i] = problem:simulate(strategy) end
print(report.compare(results))
print()
print(report.wrap("assumptions: " .. results[1].assumptions, 100, 2))
print()

local record = folder .. "/nmt.h5"
soapstone.record(record, { problem = problem, results = results, strategies = strategies })
print("written: " .. record)
print("written: " .. log)
search.best:save(folder .. "/best.json")
print("written: " .. folder .. "/best.json")
for _, r in ipairs(results) do
  for _, ending in ipairs { "svg", "png" } do
    local picture = ("%s/%s.%s"):format(folder, r.name:gsub(" ", "-"), ending)
    soapstone.plot.gantt(r, picture)
    print("written: " .. picture)
  end
end
for _, ending in ipairs { "svg", "png" } do
  local curves, boxes = ("%s/search.%s"):format(folder, ending), ("%s/best.%s"):format(folder, ending)
  soapstone.plot.search(log, curves)
  soapstone.plot.strategy(search.best, boxes)
  print("written: " .. curves)
  print("written: " .. boxes)
end
