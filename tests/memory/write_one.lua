-- write_one.lua - writes one file of the kind that is asked for.
--
--   soapstone run write_one.lua record|trace|graph|strategy|figure FILE

local soapstone = require "soapstone"
local model = require "soapstone.model"
local topology = require "soapstone.topology"

local kind, path = arg[1], arg[2]

local m = model.new { name = "net" }
local x = m:input("x", { 48, 370 })
for i = 1, 12 do
  x = m:linear("fc" .. i, x, { out = 111 + i, activation = "relu" })
end

local t = topology.new { name = "quad" }
local s = t:switch "sw"
for i = 1, 4 do
  local d = t:device("gpu" .. i, { kind = "p100", machine = (i + 1) // 2 })
  t:link(d, s, { bandwidth = "10 GB/s", latency = "3 us" })
end

local problem = soapstone.problem {
  model = m, topology = t, costs = soapstone.costs.roofline(), sync = "ring" }
local data = problem:strategy "data_parallel"
local result = problem:simulate(data)

local write = {
  record = function() soapstone.record(path, { problem = problem, results = { data = result } }) end,
  trace = function() result:write_trace(path) end,
  graph = function() result:write_dot(path) end,
  strategy = function() data:save(path) end,
  figure = function() soapstone.plot.gantt(result, path) end,
}
write[kind]()
