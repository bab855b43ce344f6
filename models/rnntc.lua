-- rnntc.lua - text classification by LSTM layers, softmax after the last step.
--
-- Layers, hidden size and steps are those of FlexFlow (MLSys 2019, table 4: Movie Reviews); it gives
-- no embedding size or vocabulary, so the embedding is taken to be as wide as the hidden layer, with
-- 20,000 words.  54,036,480 weights.  The last output is read from the state, which equals it.
-- Operators have the `layer` 1 (embedding), 2 ... (LSTM layers), and last the softmax.

local layers = require "soapstone.layers"
local model = require "soapstone.model"
local options = require "soapstone.options"

return function(o)
  o = options(o, { batch = 64, hidden = 1024, layers = 4, vocab = 20000, classes = 2, steps = 40,
    steps_per_op = 8, bias = false, dtype = "f32", optimizer = "sgd" })
  local m = model.new { name = "rnntc", dtype = o.dtype, optimizer = o.optimizer }
  local x = layers.words(m, "words", o)
  x = layers.each(m, "embedding", "embedding", x, { vocab = o.vocab, out = o.hidden, layer = 1 })
  local state
  for i = 1, o.layers do
    x, state = layers.lstm(m, "lstm" .. i, x, nil,
      { hidden = o.hidden, bias = o.bias, layer = i + 1 })
  end
  m:linear_softmax("softmax", state.h, { out = o.classes, bias = o.bias, layer = o.layers + 2 })
  return m
end
