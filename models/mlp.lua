-- mlp.lua - a stack of dense layers: the smallest model with something to split.
--
-- Sizes are those of one training step over the whole batch.  A model never names a device; which
-- device holds which part is the strategy's to say.

local model = require "soapstone.model"
local options = require "soapstone.options"

return function(o)
  o = options(o, { layers = 8, width = 4096, batch = 256, dtype = "f32", optimizer = "sgd" })
  local m = model.new { name = "mlp", dtype = o.dtype, optimizer = o.optimizer }
  local x = m:input("x", { o.batch, o.width })
  for i = 1, o.layers do
    x = m:linear("fc" .. i, x, { out = o.width, activation = "relu" })
  end
  m:squared_error("loss", x)
  return m
end
