-- alexnet.lua - AlexNet in one tower, without local response normalisation (Krizhevsky 2014).
--
-- 61,100,840 parameters and 714,188,480 multiply-accumulates for an image of 224 x 224; the 12
-- operators that FlexFlow (MLSys 2019) counts.  Dropout is left out: it moves no data.

local model = require "soapstone.model"
local options = require "soapstone.options"

return function(o)
  o = options(o, { batch = 256, image = 224, classes = 1000, dtype = "f32", optimizer = "sgd", halo = true })
  local m = model.new { name = "alexnet", dtype = o.dtype, optimizer = o.optimizer, halo = o.halo }

  local function conv(name, x, out, kernel, stride, padding)
    return m:conv2d(name, x,
      { out = out, kernel = kernel, stride = stride, padding = padding, activation = "relu" })
  end
  local function pool(name, x)
    return m:pool2d(name, x, { type = "max", kernel = 3, stride = 2 })
  end

  local x = m:input("image", { o.batch, 3, o.image, o.image })
  x = conv("conv1", x, 64, 11, 4, 2)
  x = pool("pool2", x)
  x = conv("conv3", x, 192, 5, 1, 2)
  x = pool("pool4", x)
  x = conv("conv5", x, 384, 3, 1, 1)
  x = conv("conv6", x, 256, 3, 1, 1)
  x = conv("conv7", x, 256, 3, 1, 1)
  x = pool("pool8", x)
  x = m:flatten("flat", x)
  x = m:linear("linear9", x, { out = 4096, activation = "relu" })
  x = m:linear("linear10", x, { out = 4096, activation = "relu" })
  m:linear_softmax("linear11", x, { out = o.classes })
  return m
end
