-- torus.lua - devices on a grid of any number of dimensions; they forward for one another.
--
-- sizes = { 4, 4 } is a 2-D torus, { 4, 4, 4 } a 3-D one.  wrap = false leaves the ends of each row
-- open: a mesh.  A row of two has one link either way.  Every device is a machine of its own, as the
-- chips of such systems are.  The presets are round numbers and no machine's.

local options = require "soapstone.options"
local topology = require "soapstone.topology"

local function checked(sizes)
  local n = 1
  if #sizes == 0 then options.refuse("option 'sizes' is empty; { 4, 4 } is a torus of 16") end
  for i, size in ipairs(sizes) do
    if math.type(size) ~= "integer" or size < 1 then
      options.refuse("option 'sizes': size %d is %s; whole numbers from 1 are wanted", i, size)
    end
    n = n * size
    if n > 1000000 then options.refuse("option 'sizes' makes more than 1000000 devices") end
  end
  return n
end

return function(o)
  o = options(o, {
    sizes = { 4, 4 }, kind = "tpu_v3", wrap = true,
    bandwidth = options.quantity("50 GB/s", "B/s"),
    latency = options.quantity("1 us", "s"),
  })
  local count = checked(o.sizes)
  local t = topology.new { name = "torus" }
  local joint = { bandwidth = o.bandwidth, latency = o.latency }

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
  for i = 1, count do
    for d, size in ipairs(o.sizes) do
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
