-- bert.lua - BERT with both of its pre-training tasks (Devlin et al. 2019).
--
-- Base has 110,075,906 parameters and large 336,195,586: those of the published checkpoints
-- (110,106,428 and 336,226,108) less the 30,522 biases of the output over the vocabulary, which
-- shares its weights with the token embedding, which has none.  Dropout is left out.  The words are
-- predicted at every position; the authors' program gathers the masked ones (15 %) first.
-- `layer` is that of the transformer block; embeddings are in the first and the heads in the last.
--
-- `size` presets layers, hidden and heads; any of them can be given on its own.

local layers = require "soapstone.layers"
local model = require "soapstone.model"
local options = require "soapstone.options"

local sizes = {
  base = { layers = 12, hidden = 768, heads = 12 },
  large = { layers = 24, hidden = 1024, heads = 16 },
}

return function(o)
  local preset = type(o) == "table" and sizes[o.size] or sizes.base
  o = options(o, { size = options.choice("base", { "base", "large" }), layers = preset.layers,
    hidden = preset.hidden, heads = preset.heads, sequence = 512, positions = 512, vocab = 30522,
    feed_forward = 4, batch = 8, dtype = "bf16", optimizer = "adam" })
  local m = model.new { name = "bert", dtype = o.dtype, optimizer = o.optimizer }
  local first, last = { layer = 1 }, { layer = o.layers }

  local tokens = m:input("tokens", { o.batch, o.sequence }, { dtype = "i32" })
  local segments = m:input("segments", { o.batch, o.sequence }, { dtype = "i32" })
  local x = m:embedding("embedding", tokens,
    { vocab = o.vocab, out = o.hidden, share = "embedding", layer = 1 })
  local s = m:embedding("segment", segments, { vocab = 2, out = o.hidden, layer = 1 })
  x = m:add("embeddings", { x, s }, first)
  x = m:position("position", x, { positions = o.positions, layer = 1 })
  x = m:layer_norm("norm", x, first)
  for i = 1, o.layers do
    x = layers.transformer(m, "block" .. i, x, { hidden = o.hidden, heads = o.heads,
      feed_forward = o.feed_forward, causal = false, norm = "after", layer = i })
  end

  local pooled = m:select("first", x, { index = 0, layer = o.layers })
  pooled = m:linear("pooler", pooled, { out = o.hidden, activation = "tanh", layer = o.layers })
  m:linear_softmax("next_sentence", pooled, { out = 2, layer = o.layers })

  x = m:linear("transform", x, { out = o.hidden, activation = "gelu", layer = o.layers })
  x = m:layer_norm("transform.norm", x, last)
  m:linear_softmax("words", x,
    { out = o.vocab, bias = false, share = "embedding", layer = o.layers })
  return m
end
