-- A convolution whose images are cut by rows reads k - s rows beyond each border, k the kernel and s the stride.
--
--   soapstone run validation/closed_form/halo_volume/case.lua

local law = require "validation.closed_form.common"
local soapstone = require "soapstone"

local case = law.open("halo_volume", { "what", "kernel", "stride", "parts" }, "B")

local samples, channels, element = 3, 5, 4

-- x -> a, which makes images of height and width -> the operator in question, both cut in rows and columns, a part a device
-- (or devices dealt out by `device_of`).  Result of a step.
local function simulate(o)
  local net = soapstone.model.new { name = "two", halo = o.halo }
  local a = net:conv2d("a", net:input("x", { samples, 2, o.height, o.width }), { out = channels, kernel = 1, bias = false })
  if o.pool then
    net:pool2d("b", a, { kernel = o.kernel, stride = o.stride, padding = o.padding })
  else
    net:conv2d("b", a, { out = 4, kernel = o.kernel, stride = o.stride, padding = o.padding, bias = false })
  end
  local rows, columns = o.rows or 1, o.columns or 1
  local devices = {}
  for i = 1, rows * columns do devices[i] = o.device_of and o.device_of(i) or i end
  local most = math.max(2, table.unpack(devices))
  local problem = soapstone.problem { model = net, topology = require "topologies.star" { devices = most },
    training = o.training or false, sync = "none", coalesce = o.coalesce }
  local s = problem:strategy "whole"
  for _, name in ipairs { "a", "b" } do s:set(name, { degrees = { h = rows, w = columns }, devices = devices }) end
  return problem:simulate(s)
end

-- Stride 1 or a divisor of the height, borders of both operators in one place: k - s rows at each of p - 1 borders.
for _, w in ipairs { { 1, 1, 0 }, { 3, 1, 1 }, { 5, 1, 2 }, { 9, 1, 4 }, { 1, 2, 0 }, { 2, 2, 0 }, { 3, 2, 1 }, { 7, 2, 3 }, { 3, 3, 0 }, { 11, 4, 5 } } do
  local k, s, padding = table.unpack(w)
  for _, p in ipairs { 2, 4 } do
    local r = simulate { height = 48, width = 60, kernel = k, stride = s, padding = padding, rows = p }
    local rows = (p - 1) * math.max(k - s, 0)
    case:equal({ "rows", k, s, p }, r.bytes_moved, rows * 60 * channels * samples * element)
  end
end

-- Rows and columns, corners too: p parts of the height see H + (p - 1) (k - s) rows together.
for _, grid in ipairs { { 2, 2 }, { 3, 4 } } do
  local p, q = table.unpack(grid)
  local k, s = 5, 1
  local r = simulate { height = 48, width = 60, kernel = k, stride = s, padding = 2, rows = p, columns = q }
  local seen = (48 + (p - 1) * (k - s)) * (60 + (q - 1) * (k - s))
  case:equal({ "rows and columns", k, s, p .. " x " .. q }, r.bytes_moved, (seen - 48 * 60) * channels * samples * element)
end

-- The gradient takes the way back; pooling has windows too; without halo nothing moves; neighbours on a device send nothing.
local rows3 = 3 * 2 * 60 * channels * samples * element
local trained = simulate { height = 48, width = 60, kernel = 3, stride = 1, padding = 1, rows = 4, training = true }
case:equal({ "activations of a step", 3, 1, 4 }, trained.moved.activation, rows3)
case:equal({ "their gradients", 3, 1, 4 }, trained.moved.gradient, rows3)
case:equal({ "pooling", 3, 1, 4 }, simulate { height = 48, width = 60, kernel = 3, stride = 1, padding = 1, rows = 4, pool = true }.bytes_moved, rows3)
case:equal({ "halo = false", 3, 1, 4 }, simulate { height = 48, width = 60, kernel = 3, stride = 1, padding = 1, rows = 4, halo = false }.bytes_moved, 0)
case:equal({ "two parts a device", 3, 1, 8 }, simulate { height = 48, width = 60, kernel = 3, stride = 1, padding = 1, rows = 8,
  device_of = function(i) return (i + 1) // 2 end }.bytes_moved, rows3)

-- Any sizes: rows that a part's windows see and its device does not have.  Of E rows in p parts the first E mod p have one more.
local function cut(extent, p, i)
  local each, longer = extent // p, extent % p
  local lo = i * each + math.min(i, longer)
  return lo, lo + each + (i < longer and 1 or 0)
end
math.randomseed(1)
local random = case:group { "random", "1 to 9", "1 to 4", "2 to 8" }
for _ = 1, 60 do
  local p, k, s = math.random(2, 8), math.random(1, 9), math.random(1, 4)
  local padding = math.random(0, (k - 1) // 2)
  local height, width = math.random(4 * p + k, 60), math.random(k, 20)
  local out = (height + 2 * padding - k) // s + 1
  local wide = (width + 2 * padding - k) // s + 1
  local columns = math.min(width, (wide - 1) * s - padding + k) -- those that some window sees
  local rows = 0
  if out >= p then
    for i = 0, p - 1 do
      local lo, hi = cut(out, p, i)
      local own_lo, own_hi = cut(height, p, i)
      for y = 0, height - 1 do -- row by row, by what a window is
        local seen = y >= lo * s - padding and y < (hi - 1) * s - padding + k
        if seen and (y < own_lo or y >= own_hi) then rows = rows + 1 end
      end
    end
    random:equal(simulate { height = height, width = width, kernel = k, stride = s, padding = padding, rows = p }.bytes_moved,
      rows * columns * channels * samples * element)
  end
end
random:close()

case:close()
