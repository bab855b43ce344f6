-- small.lua - a network and a cluster small enough to know by heart.

local model = require "soapstone.model"
local topology = require "soapstone.topology"

local small = {}

-- 24 samples, 37 -> 11 -> 5 features, and the loss.
function small.net()
  local m = model.new { name = "net" }
  local x = m:input("x", { 24, 37 })
  local h = m:linear("fc1", x, { out = 11, activation = "relu", layer = 1 })
  local y = m:linear("fc2", h, { out = 5, layer = 2 })
  m:softmax_cross_entropy("loss", y, { layer = 2 })
  return m
end

-- Two machines of two devices each around one switch; device 4 is half as fast.
function small.quad()
  local t = topology.new { name = "quad" }
  local s = t:switch "sw"
  for i = 1, 4 do
    local d = t:device("gpu" .. i, { kind = "p100", machine = (i + 1) // 2, speed = i == 4 and 0.5 or 1 })
    t:link(d, s, { bandwidth = "10 GB/s", latency = "3 us" })
  end
  return t
end

-- Times of messages on a line, 4 us and 20 GB/s, but for one.
function small.fit()
  local rows = {}
  for i = 1, 10 do rows[i] = { bytes = 4 ^ (i + 4), seconds = 4e-6 + 4 ^ (i + 4) / 20e9 } end
  rows[4].seconds = rows[4].seconds * 3
  return require("soapstone.calibrate").fit { name = "small", rows = rows }
end

-- Times of the network's parts on this machine; in a build without kernels a table that has the names of its fields and methods.
function small.profile()
  local p = require "soapstone".problem { model = small.net(), topology = small.quad() }
  local ok, profile = pcall(p.profile, p, p:strategy "whole", { rounds = 1, warm_up = 0 })
  if ok then return profile end
  local meta = debug.getregistry()["soapstone.profile"]
  return setmetatable({}, { __fields = meta.__fields, __methods = meta.__methods })
end

-- One call of an operator in a trace of PyTorch.
function small.trace()
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write [=[[{"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 1, "ts": 1, "dur": 2,
    "args": {"Input Dims": [[3, 4]], "Input type": ["float"]}}]]=]
  file:close()
  local trace = require "soapstone".trace.read(path)
  os.remove(path)
  return trace
end

return small
