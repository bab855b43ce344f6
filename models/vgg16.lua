-- vgg16.lua - VGG-16 (Simonyan and Zisserman, ICLR 2015, configuration D).
--
-- 138,357,544 parameters and 15,470,264,320 multiply-accumulates for an image of 224 x 224.

local model = require "soapstone.model"
local options = require "soapstone.options"

local groups = { { 64, 64 }, { 128, 128 }, { 256, 256, 256 }, { 512, 512, 512 }, { 512, 512, 512 } }

return function(o)
  o = options(o, { batch = 64, image = 224, classes = 1000, dtype = "f32", optimizer = "sgd", halo = true })
  local m = model.new { name = "vgg16", dtype = o.dtype, optimizer = o.optimizer, halo = o.halo }
  local x = m:input("image", { o.batch, 3, o.image, o.image })
  for g, channels in ipairs(groups) do
    for i, out in ipairs(channels) do
      x = m:conv2d(("conv%d_%d"):format(g, i), x,
        { out = out, kernel = 3, padding = 1, activation = "relu" })
    end
    x = m:pool2d("pool" .. g, x, { type = "max", kernel = 2 })
  end
  x = m:flatten("flat", x)
  x = m:linear("fc6", x, { out = 4096, activation = "relu" })
  x = m:linear("fc7", x, { out = 4096, activation = "relu" })
  m:linear_softmax("fc8", x, { out = o.classes })
  return m
end
