-- gpt.lua - decoder-only transformers: GPT-2 and GPT-3 (Radford et al. 2019, Brown et al. 2020).
--
-- Parameters are V h + S h + L (12 h^2 + 13 h) + 2 h, for vocabulary V, sequence S, L layers, hidden
-- size h: 124,439,808 for GPT-2 small and 174,604,259,328 for the largest GPT-3.  Token embedding
-- and output share their weights (tied = false: they do not).  Dropout is left out.
-- `layer` is that of the transformer block; embeddings are in the first and the output in the last.
--
-- `size` presets layers, hidden, heads and sequence; any of them can be given on its own.

local layers = require "soapstone.layers"
local model = require "soapstone.model"
local options = require "soapstone.options"

-- GPT-2: the published checkpoints; GPT-3: table 2.1 of the paper, where heads times head size is not
-- the hidden size for two of them: 1.3B has 16 heads here, not 24, and 13B is 5120 wide, not 5140.
local sizes = {
  ["124M"] = { layers = 12, hidden = 768, heads = 12, sequence = 1024 },
  ["355M"] = { layers = 24, hidden = 1024, heads = 16, sequence = 1024 },
  ["774M"] = { layers = 36, hidden = 1280, heads = 20, sequence = 1024 },
  ["1.5B"] = { layers = 48, hidden = 1600, heads = 25, sequence = 1024 },
  ["1.3B"] = { layers = 24, hidden = 2048, heads = 16, sequence = 2048 },
  ["2.7B"] = { layers = 32, hidden = 2560, heads = 32, sequence = 2048 },
  ["6.7B"] = { layers = 32, hidden = 4096, heads = 32, sequence = 2048 },
  ["13B"] = { layers = 40, hidden = 5120, heads = 40, sequence = 2048 },
  ["175B"] = { layers = 96, hidden = 12288, heads = 96, sequence = 2048 },
}
local names = { "124M", "355M", "774M", "1.5B", "1.3B", "2.7B", "6.7B", "13B", "175B" }

return function(o)
  local preset = type(o) == "table" and sizes[o.size] or sizes["124M"]
  o = options(o, { size = options.choice("124M", names), layers = preset.layers,
    hidden = preset.hidden, heads = preset.heads, sequence = preset.sequence, vocab = 50257,
    feed_forward = 4, batch = 8, causal = true, tied = true, dtype = "bf16", optimizer = "adam" })
  local m = model.new { name = "gpt", dtype = o.dtype, optimizer = o.optimizer }
  local x = m:input("tokens", { o.batch, o.sequence }, { dtype = "i32" })
  x = m:embedding("embedding", x,
    { vocab = o.vocab, out = o.hidden, share = "embedding", layer = 1 })
  x = m:position("position", x, { layer = 1 })
  for i = 1, o.layers do
    x = layers.transformer(m, "block" .. i, x, { hidden = o.hidden, heads = o.heads,
      feed_forward = o.feed_forward, causal = o.causal, norm = "before", layer = i })
  end
  x = m:layer_norm("norm", x, { layer = o.layers })
  m:linear_softmax("output", x, { out = o.vocab, bias = false,
    share = o.tied and "embedding" or "output", layer = o.layers })
  return m
end
