-- resnet.lua - residual networks of bottlenecks (He et al., CVPR 2016), stride in the 3 x 3
-- convolution.
--
-- ResNet-101: 141 operators (104 convolutions, 33 sums, 2 poolings, flatten, linear), 44,549,160
-- parameters, 7,801,405,440 multiply-accumulates for an image of 224 x 224; ResNet-50: 25,557,032
-- and 4,089,184,256.  Batch normalisation and ReLU are fused into convolutions and sums.
-- norm = "none" gives the convolutions biases instead; shortcuts = false leaves out the sums and the
-- projections, as FlexFlow's 2018 simulator did.

local model = require "soapstone.model"
local options = require "soapstone.options"

local blocks = { [50] = { 3, 4, 6, 3 }, [101] = { 3, 4, 23, 3 }, [152] = { 3, 8, 36, 3 } }

return function(o)
  o = options(o, { depth = 101, batch = 64, image = 224, classes = 1000, shortcuts = true,
    norm = options.choice("batch", { "batch", "none" }), dtype = "f32", optimizer = "sgd", halo = true })
  local stages = blocks[o.depth]
  if not stages then options.refuse("depth is %d; there are 50, 101 and 152", o.depth) end
  local m = model.new { name = "resnet" .. o.depth, dtype = o.dtype, optimizer = o.optimizer, halo = o.halo }

  local function conv(name, x, kernel, out, stride, activation)
    return m:conv2d(name, x, { out = out, kernel = kernel, stride = stride,
      padding = kernel // 2, bias = o.norm == "none", norm = o.norm, activation = activation })
  end

  local function bottleneck(name, x, width, stride)
    local last = o.shortcuts and "none" or "relu"
    local y = conv(name .. ".1", x, 1, width, 1, "relu")
    y = conv(name .. ".2", y, 3, width, stride, "relu")
    y = conv(name .. ".3", y, 1, 4 * width, 1, last)
    if not o.shortcuts then return y end
    if x.shape[2] ~= 4 * width then
      x = conv(name .. ".projection", x, 1, 4 * width, stride, "none")
    end
    return m:add(name .. ".add", { x, y }, { activation = "relu" })
  end

  local x = m:input("image", { o.batch, 3, o.image, o.image })
  x = conv("conv1", x, 7, 64, 2, "relu")
  x = m:pool2d("pool1", x, { type = "max", kernel = 3, stride = 2, padding = 1 })
  for stage, count in ipairs(stages) do
    for i = 1, count do
      local stride = i == 1 and stage > 1 and 2 or 1
      x = bottleneck(("stage%d.%d"):format(stage, i), x, 32 << stage, stride)
    end
  end
  x = m:pool2d("pool", x, { type = "avg", kernel = { x.shape[3], x.shape[4] } })
  x = m:flatten("flat", x)
  m:linear_softmax("linear", x, { out = o.classes })
  return m
end
