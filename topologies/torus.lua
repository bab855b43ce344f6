-- torus.lua - devices on a grid of any number of dimensions; they forward for one another.
--
-- sizes = { 4, 4 } is a 2-D torus, { 4, 4, 4 } a 3-D one.  wrap = false leaves the ends of each row
-- open: a mesh.  A row of two has one link either way.  Every device is a machine of its own, as the
-- chips of such systems are.
--
-- Routes go dimension by dimension, first the first (Dally and Seitz, IEEE Transactions on Computers 36(5), 1987):
-- what tori of chips do, since it cannot deadlock and needs no table.  It comes of the links' numbers: those of
-- the first dimension are lowest, and `shortest` takes the lowest.  routing = "ecmp" spreads pairs over all
-- shortest routes instead.
--
--   bandwidth  of a link of TPU v4, 50 GB/s (Jouppi et al., ISCA 2023); v2 and v3: 496 and 656 Gb/s (Jouppi et al.,
--              Communications of the ACM 63(7), 2020)
--   latency    1 us (assumed)

local fabric = require "soapstone.fabric"
local options = require "soapstone.options"
local topology = require "soapstone.topology"

local function checked(sizes)
  local n = 1.0
  if #sizes == 0 then options.refuse("option 'sizes' is empty; { 4, 4 } is a torus of 16") end
  for i, size in ipairs(sizes) do
    if math.type(size) ~= "integer" or size < 1 then
      options.refuse("option 'sizes': size %d is %s; whole numbers from 1 are wanted", i, type(size) == "number" and size or "a " .. type(size))
    end
    n = n * size
  end
  fabric.refuse_size(n, 0, 2 * n * #sizes)
  return math.tointeger(n)
end

return function(o)
  o = options(o, {
    sizes = options.list({ 4, 4 }, "whole numbers, a size for each dimension"), kind = "tpu_v3", wrap = true,
    bandwidth = fabric.bandwidth("50 GB/s"),
    latency = fabric.latency("1 us"),
    routing = options.choice("shortest", { "shortest", "ecmp" }), routing_seed = 0,
  })
  local count = checked(o.sizes)
  local t = topology.new { name = "torus", routing = o.routing, routing_seed = o.routing_seed }
  local joint = fabric.cable { bandwidth = o.bandwidth, latency = o.latency }

  -- Device i has the coordinates (i - 1) // stride % size, the last dimension fastest.
  local strides, stride = {}, 1
  for d = #o.sizes, 1, -1 do
    strides[d] = stride
    stride = stride * o.sizes[d]
  end
  local devices = {}
  for i = 1, count do
    local at = {}
    for d, size in ipairs(o.sizes) do at[d] = (i - 1) // strides[d] % size + 1 end
    devices[i] = t:device("d" .. table.concat(at, "."), { kind = o.kind, forwards = true })
  end
  for d, size in ipairs(o.sizes) do
    for i = 1, count do
      local at = (i - 1) // strides[d] % size
      local last = at == size - 1
      if not last then
        t:link(devices[i], devices[i + strides[d]], joint)
      elseif o.wrap and size > 2 then
        t:link(devices[i], devices[i - at * strides[d]], joint)
      end
    end
  end
  return t
end
