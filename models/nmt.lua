-- nmt.lua - neural machine translation: LSTM encoder and decoder, attention, softmax at every step.
--
-- Layers, hidden size and steps are those of FlexFlow (MLSys 2019, table 4); the rest is that of the
-- authors' 2018 simulator, whose accounting reproduces the paper's figure 7b: vocabulary 32,000,
-- 40 + 40 steps in operators of 8, no biases; 140,247,040 weights in 40 operators.
--
--   attention = "proxy"  one more LSTM layer over the decoder's outputs, as in that simulator
--   attention = "luong"  general attention (Luong et al. 2015) of every decoder step to all encoder
--                        outputs: 3 H^2 weights
--   states = "plain"     a state is handed on once
--   states = 2018        a state counts for as many steps as an operator has, as in that simulator
--
-- Operators come in the order of that simulator, block after block, and `layer` is the block: source
-- embedding, target embedding, encoder 1, decoder 1, encoder 2, decoder 2, attention, softmax.

local layers = require "soapstone.layers"
local model = require "soapstone.model"
local options = require "soapstone.options"

local function state_steps(o)
  if o.states == "plain" then return 1 end
  if o.states == 2018 then return o.steps_per_op end
  options.refuse("option 'states' is %s; there are \"plain\" and 2018", o.states)
end

return function(o)
  o = options(o, { batch = 64, hidden = 1024, layers = 2, vocab = 32000, steps = 40,
    steps_per_op = 8, attention = options.choice("proxy", { "proxy", "luong" }),
    states = options.any("plain"), bias = false, dtype = "f32", optimizer = "sgd" })
  local m = model.new { name = "nmt", dtype = o.dtype, optimizer = o.optimizer }

  local block = 0
  local function next_block()
    block = block + 1
    return block
  end
  local function lstm(name, x, state)
    return layers.lstm(m, name, x, state, { hidden = o.hidden, bias = o.bias,
      state_steps = state_steps(o), layer = next_block() })
  end
  local function embed(name, x)
    return layers.each(m, "embedding", name, x,
      { vocab = o.vocab, out = o.hidden, layer = next_block() })
  end

  local x = embed("source_embedding", layers.words(m, "source", o))
  local y = embed("target_embedding", layers.words(m, "target", o))
  for i = 1, o.layers do
    local last
    x, last = lstm("encoder" .. i, x)
    y = lstm("decoder" .. i, y, last)
  end
  if o.attention == "proxy" then
    y = lstm("attention", y)
  else
    local with_source = {}
    for k, decoder in ipairs(y) do with_source[k] = { decoder, table.unpack(x) } end
    y = layers.each(m, "attention", "attention", with_source, { layer = next_block() })
  end
  layers.each(m, "linear_softmax", "softmax", y,
    { out = o.vocab, bias = o.bias, layer = next_block() })
  return m
end
