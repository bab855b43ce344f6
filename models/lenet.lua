-- lenet.lua - LeNet-5 for digits of 28 x 28 (LeCun et al., Proc. IEEE 86(11), 1998).
--
-- As it is usually built today: the second convolution sees all six maps, pooling has no weights,
-- and the output is a softmax.  61,706 parameters, 416,520 multiply-accumulates a sample.

local model = require "soapstone.model"
local options = require "soapstone.options"

return function(o)
  o = options(o, { batch = 64, classes = 10, dtype = "f32", optimizer = "sgd", halo = true })
  local m = model.new { name = "lenet", dtype = o.dtype, optimizer = o.optimizer, halo = o.halo }
  local x = m:input("image", { o.batch, 1, 28, 28 })
  x = m:conv2d("conv1", x, { out = 6, kernel = 5, padding = 2, activation = "tanh" })
  x = m:pool2d("pool2", x, { type = "avg", kernel = 2 })
  x = m:conv2d("conv3", x, { out = 16, kernel = 5, activation = "tanh" })
  x = m:pool2d("pool4", x, { type = "avg", kernel = 2 })
  x = m:flatten("flat", x)
  x = m:linear("linear5", x, { out = 120, activation = "tanh" })
  x = m:linear("linear6", x, { out = 84, activation = "tanh" })
  m:linear_softmax("linear7", x, { out = o.classes })
  return m
end
