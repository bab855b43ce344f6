-- inception_v3.lua - Inception-v3 without its auxiliary head (Szegedy et al., CVPR 2016).
--
-- 121 operators (94 convolutions, 14 poolings, 11 joins, flatten, linear) and 5,713,216,096
-- multiply-accumulates for an image of 299 x 299.  Batch normalisation and ReLU are fused into the
-- convolutions: 23,834,568 parameters.  norm = "none" gives the convolutions biases instead, as
-- FlexFlow has them.  stem_padding = 1 pads the sixth convolution, as FlexFlow's example does.

local model = require "soapstone.model"
local options = require "soapstone.options"

-- A module is a list of branches; a branch is a list of steps: a convolution { kernel, channels,
-- stride, padding }, "max" or "avg" pooling, or a list of branches that part from there.  Kernels
-- of one row or column keep the size of the image; so do 1 x 1 ones.

local function a(channels)
  return {
    { { 1, 64 } },
    { { 1, 48 }, { 5, 64, 1, 2 } },
    { { 1, 64 }, { 3, 96, 1, 1 }, { 3, 96, 1, 1 } },
    { "avg", { 1, channels } },
  }
end

local b = {
  { { 3, 384, 2, 0 } },
  { { 1, 64 }, { 3, 96, 1, 1 }, { 3, 96, 2, 0 } },
  { "max" },
}

local row, column = { 1, 7 }, { 7, 1 }

local function c(w)
  return {
    { { 1, 192 } },
    { { 1, w }, { row, w }, { column, 192 } },
    { { 1, w }, { column, w }, { row, w }, { column, w }, { row, 192 } },
    { "avg", { 1, 192 } },
  }
end

local d = {
  { { 1, 192 }, { 3, 320, 2, 0 } },
  { { 1, 192 }, { row, 192 }, { column, 192 }, { 3, 192, 2, 0 } },
  { "max" },
}

local fork = { { { { 1, 3 }, 384 } }, { { { 3, 1 }, 384 } } }
local e = {
  { { 1, 320 } },
  { { 1, 384 }, { branches = fork } },
  { { 1, 448 }, { 3, 384, 1, 1 }, { branches = fork } },
  { "avg", { 1, 192 } },
}

local modules = {
  { "A1", a(32) }, { "A2", a(64) }, { "A3", a(64) },
  { "B1", b },
  { "C1", c(128) }, { "C2", c(160) }, { "C3", c(160) }, { "C4", c(192) },
  { "D1", d },
  { "E1", e }, { "E2", e },
}

return function(o)
  o = options(o, { batch = 64, image = 299, classes = 1000, dtype = "f32", optimizer = "sgd", halo = true,
    norm = options.choice("batch", { "batch", "none" }),
    stem_padding = options.count(0, { min = 0, max = 1 }) })
  local m = model.new { name = "inception_v3", dtype = o.dtype, optimizer = o.optimizer, halo = o.halo }

  local function conv(name, x, kernel, out, stride, padding)
    if type(kernel) == "table" then padding = { kernel[1] // 2, kernel[2] // 2 } end
    return m:conv2d(name, x, { out = out, kernel = kernel, stride = stride or 1,
      padding = padding or 0, bias = o.norm == "none", norm = o.norm, activation = "relu" })
  end

  local function pool(name, x, type)
    if type == "avg" then
      return m:pool2d(name, x, { type = "avg", kernel = 3, stride = 1, padding = 1 })
    end
    return m:pool2d(name, x, { type = "max", kernel = 3, stride = 2 })
  end

  -- Adds the results of all branches to `out`.
  local function branches(name, x, list, out)
    for i, steps in ipairs(list) do
      local y, at = x, ("%s.%d"):format(name, i)
      for k, step in ipairs(steps) do
        local here = ("%s_%d"):format(at, k)
        if type(step) == "string" then
          y = pool(here .. step, y, step)
        elseif step.branches then
          branches(here, y, step.branches, out)
          y = nil
        else
          y = conv(here, y, table.unpack(step, 1, 4))
        end
      end
      out[#out + 1] = y
    end
    return out
  end

  local x = m:input("image", { o.batch, 3, o.image, o.image })
  x = conv("stem1", x, 3, 32, 2, 0)
  x = conv("stem2", x, 3, 32, 1, 0)
  x = conv("stem3", x, 3, 64, 1, 1)
  x = pool("stem4", x, "max")
  x = conv("stem5", x, 1, 80)
  x = conv("stem6", x, 3, 192, 1, o.stem_padding)
  x = pool("stem7", x, "max")
  for _, module in ipairs(modules) do
    local name, list = table.unpack(module)
    x = m:concat(name .. ".join", branches(name, x, list, {}), { axis = "c" })
  end
  x = m:pool2d("pool", x, { type = "avg", kernel = 8 })
  x = m:flatten("flat", x)
  m:linear_softmax("linear", x, { out = o.classes })
  return m
end
