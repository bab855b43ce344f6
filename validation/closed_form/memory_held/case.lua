-- What a device holds of a chain of layers at the most, by hand.
--
--   soapstone run validation/closed_form/memory_held/case.lua

local law = require "validation.closed_form.common"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"

local case = law.open("memory_held", { "what", "layers", "optimizer" }, "B")

local element = 4
local states = { sgd = 0, momentum = 1, adam = 2 }

local function devices(n)
  local t = topology.new { name = "devices" }
  local switch = t:switch "switch"
  for i = 1, n do t:link(t:device("d" .. i, { kind = "p100" }), switch, { bandwidth = "10 GB/s" }) end
  return t
end

-- widths[0] is of the data, widths[i] of what layer i makes.
local function chain(batch, widths, optimizer, activation)
  local net = soapstone.model.new { name = "chain", optimizer = optimizer }
  local x = net:input("x", { batch, widths[0] })
  for i, width in ipairs(widths) do x = net:linear("fc" .. i, x, { out = width, bias = false, activation = activation }) end
  return net
end

-- The first `split` layers on device 1, the others on device 2; all on device 1 unless given.
local function simulate(net, options, split)
  options.model, options.topology = net, devices(2)
  local p = soapstone.problem(options)
  local s = p:strategy "whole"
  for i = (split or math.huge) + 1, net:totals().operators do s:set("fc" .. i, { devices = { 2 } }) end
  return p:simulate(s)
end

local function weights_of(widths)
  local sum = 0
  for i, width in ipairs(widths) do sum = sum + widths[i - 1] * width * element end
  return sum
end

-- Forward only: the weights, and the most that a layer reads and makes.
local function forward_only(batch, widths)
  local most = 0
  for i, width in ipairs(widths) do most = math.max(most, widths[i - 1] + width) end
  return weights_of(widths) + most * batch * element
end

-- A step: 2 + state times the weights; and at the worst moment what forward left, and two gradients.
--   forward of layer i holds the data and outputs 1 .. i;
--   backward of layer i holds the data and outputs 1 .. i - 1, which it and those below still read (and its own, if it has an
--   activation), the gradient of its output (of the last layer there is none, nothing gave it one, unless it was `given` by
--   another device) and the gradient of its input (of the first there is none, unless another device is to be `told`).
local function trained(batch, widths, optimizer, o)
  o = o or {}
  local layers = #widths
  local most, kept = 0, widths[0]
  for i = 1, layers do
    local gradients = ((i < layers or o.given) and widths[i] or 0) + ((i > 1 or o.told) and widths[i - 1] or 0)
    most = math.max(most, kept + widths[i], kept + gradients + (o.activation and widths[i] or 0))
    kept = kept + widths[i]
  end
  return (2 + states[optimizer]) * weights_of(widths) + most * batch * element
end

for _, layers in ipairs { 1, 2, 5 } do
  for _, optimizer in ipairs { "sgd", "momentum", "adam" } do
    local batch, width = 24, 50
    local widths = { [0] = width }
    for i = 1, layers do widths[i] = width end
    local r = simulate(chain(batch, widths, optimizer), { sync = "none" })
    local a, w = batch * width * element, layers * width * width * element
    case:equal({ "equal layers", layers, optimizer }, r.devices[1].peak_memory, (2 + states[optimizer]) * w + (layers + 1) * a)
  end
end

math.randomseed(1)
local random = case:group { "random widths", "1 to 9", "any" }
local activation = case:group { "with relu", "1 to 9", "any" }
local forward = case:group { "forward only", "1 to 9", "any" }
for _ = 1, 30 do
  local widths = { [0] = math.random(1, 300) }
  for i = 1, math.random(1, 9) do widths[i] = math.random(1, 300) end
  local optimizer, batch = ({ "sgd", "momentum", "adam" })[math.random(3)], math.random(1, 2000)
  random:equal(simulate(chain(batch, widths, optimizer), { sync = "none" }).devices[1].peak_memory, trained(batch, widths, optimizer))
  activation:equal(simulate(chain(batch, widths, optimizer, "relu"), { sync = "none" }).devices[1].peak_memory,
    trained(batch, widths, optimizer, { activation = true }))
  forward:equal(simulate(chain(batch, widths, optimizer), { training = false }).devices[1].peak_memory, forward_only(batch, widths))
end
random:close()
activation:close()
forward:close()

-- In two stages: what arrives is held like data, and the gradient of it is made; the first stage is given one.
local first_stage = case:group { "first of two stages", "2 to 9", "any" }
local second_stage = case:group { "second of two stages", "2 to 9", "any" }
for _ = 1, 30 do
  local layers = math.random(2, 9)
  local split = math.random(1, layers - 1)
  local widths, first, second = { [0] = math.random(1, 300) }, {}, {}
  for i = 1, layers do widths[i] = math.random(1, 300) end
  for i = 0, split do first[i] = widths[i] end
  for i = split, layers do second[i - split] = widths[i] end
  local optimizer, batch = ({ "sgd", "momentum", "adam" })[math.random(3)], math.random(1, 2000)
  local r = simulate(chain(batch, widths, optimizer), { sync = "none" }, split)
  first_stage:equal(r.devices[1].peak_memory, trained(batch, first, optimizer, { given = true }))
  second_stage:equal(r.devices[2].peak_memory, trained(batch, second, optimizer, { told = true }))
end
first_stage:close()
second_stage:close()

-- Samples dealt over devices: activations are shared out, weights are not.
for _, n in ipairs { 2, 4 } do
  local batch, widths = 96, { [0] = 20, 30, 40, 50 }
  local p = soapstone.problem { model = chain(batch, widths, "adam"), topology = devices(n), sync = "ring" }
  local r = p:simulate(p:strategy "data_parallel")
  local all = case:group { "by sample over " .. n, 3, "adam" }
  for d = 1, n do all:equal(r.devices[d].peak_memory, trained(batch // n, widths, "adam")) end
  all:close()
end

case:close()
