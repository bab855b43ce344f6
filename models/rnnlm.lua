-- rnnlm.lua - a language model of LSTM layers, softmax over the words at every step.
--
-- Layers, hidden size and steps are those of FlexFlow (MLSys 2019, table 4: Penn Treebank); it gives
-- no embedding size or vocabulary, so the embedding is taken to be as wide as the hidden layer and
-- the vocabulary to be the 10,000 words of that corpus.  108,068,864 weights.
-- Operators have the `layer` 1 (embedding), 2 ... (LSTM layers), and last the softmax.

local layers = require "soapstone.layers"
local model = require "soapstone.model"
local options = require "soapstone.options"

return function(o)
  o = options(o, { batch = 64, hidden = 2048, layers = 2, vocab = 10000, steps = 40,
    steps_per_op = 8, bias = false, dtype = "f32", optimizer = "sgd" })
  local m = model.new { name = "rnnlm", dtype = o.dtype, optimizer = o.optimizer }
  local x = layers.words(m, "words", o)
  x = layers.each(m, "embedding", "embedding", x, { vocab = o.vocab, out = o.hidden, layer = 1 })
  for i = 1, o.layers do
    x = layers.lstm(m, "lstm" .. i, x, nil, { hidden = o.hidden, bias = o.bias, layer = i + 1 })
  end
  layers.each(m, "linear_softmax", "softmax", x,
    { out = o.vocab, bias = o.bias, layer = o.layers + 2 })
  return m
end
