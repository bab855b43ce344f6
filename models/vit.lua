-- vit.lua - the vision transformer ViT-B/16 (Dosovitskiy et al., ICLR 2021).
--
-- The class token is left out and the first patch stands for it: 86,566,120 of 86,567,656 parameters.

local layers = require "soapstone.layers"
local model = require "soapstone.model"
local options = require "soapstone.options"

return function(o)
  o = options(o, { batch = 64, image = 224, patch = 16, layers = 12, hidden = 768, heads = 12,
    classes = 1000, dtype = "f32", optimizer = "adam", halo = true })
  local m = model.new { name = "vit", dtype = o.dtype, optimizer = o.optimizer, halo = o.halo }
  local x = m:input("image", { o.batch, 3, o.image, o.image })
  x = m:conv2d("patches", x, { out = o.hidden, kernel = o.patch, stride = o.patch })
  x = m:to_sequence("sequence", x)
  x = m:position("position", x)
  for i = 1, o.layers do
    x = layers.transformer(m, "block" .. i, x, { hidden = o.hidden, heads = o.heads,
      feed_forward = 4, causal = false, norm = "before", layer = i })
  end
  x = m:layer_norm("norm", x)
  x = m:select("first", x, { index = 0 })
  m:linear_softmax("classes", x, { out = o.classes })
  return m
end
