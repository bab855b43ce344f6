-- layers.lua - what several models are built of: unrolled recurrent layers, transformer blocks.
--
-- Time is not a dimension that can be split, since a step needs the one before.  So a recurrent
-- layer is several operators that share their weights, each a block of steps, and what can overlap
-- is one layer's later blocks with the next layer's earlier ones.

local options = require "soapstone.options"
local soapstone = require "soapstone"

local layers = {}

-- What goes wrong inside is said of the caller's argument, not of a line here.
local function check(value, kind, what)
  if type(value) ~= kind then
    soapstone.refuse("layers.%s should be a %s, not %s", what, kind, value == nil and "nothing" or type(value))
  end
end

local function check_model(m, call)
  if m == layers then
    soapstone.refuse("layers.%s was called with a colon; use a dot: layers.%s(...)", call, call)
  end
  if getmetatable(m) ~= "soapstone.model" then
    soapstone.refuse("layers.%s: the first argument should be a model, not %s", call,
      m == nil and "nothing" or type(m))
  end
end

local function check_options(o, call, ...)
  check(o, "table", call .. ": the options")
  for _, name in ipairs { ... } do
    if math.type(o[name]) ~= "integer" or o[name] < 1 then
      soapstone.refuse("layers.%s: option '%s' should be a whole number from 1, not %s", call, name,
        o[name] == nil and "nothing" or tostring(o[name]))
    end
  end
end

local function with(attributes, more)
  local all = {}
  for name, value in soapstone.pairs(attributes) do all[name] = value end
  for name, value in soapstone.pairs(more) do all[name] = value end
  return all
end

-- Word indices, one input tensor for each block of steps: "source.1", "source.2", ...
-- o: batch, steps, steps_per_op.
function layers.words(m, name, o)
  check_model(m, "words")
  check(name, "string", "words: the name")
  check_options(o, "words", "batch", "steps", "steps_per_op")
  if o.steps % o.steps_per_op ~= 0 then
    options.refuse("steps is %d, which is not a multiple of steps_per_op, %d", o.steps,
      o.steps_per_op)
  end
  local blocks = {}
  for k = 1, o.steps // o.steps_per_op do
    blocks[k] = m:input(name .. "." .. k, { o.batch, o.steps_per_op }, { dtype = "i32" })
  end
  return blocks
end

-- An operator for each block, all with the same weights: "softmax.1", "softmax.2", ...
function layers.each(m, kind, name, blocks, attributes)
  check_model(m, "each")
  check(name, "string", "each: the name")
  check(blocks, "table", "each: the list of blocks")
  check(attributes, "table", "each: the options")
  local out = {}
  for k, x in ipairs(blocks) do
    out[k] = m[kind](m, name .. "." .. k, x, with(attributes, { share = name }))
  end
  return out
end

-- A recurrent layer from an initial state { h, c } (nil: zero).  Returns the blocks of its output
-- and its last state.
function layers.lstm(m, name, blocks, state, attributes)
  check_model(m, "lstm")
  check(name, "string", "lstm: the name")
  check(blocks, "table", "lstm: the list of blocks")
  check(attributes, "table", "lstm: the options")
  local out = {}
  for k, x in ipairs(blocks) do
    local y, h, c = m:lstm(name .. "." .. k, state and { x, state.h, state.c } or x,
      with(attributes, { share = name }))
    out[k], state = y, { h = h, c = c }
  end
  return out, state
end

-- One transformer block: self-attention by heads and a feed-forward part, each added to its input.
-- o: hidden, heads, feed_forward (times as wide), causal, norm ("before" or "after" each part),
-- layer.
function layers.transformer(m, name, x, o)
  check_model(m, "transformer")
  check(name, "string", "transformer: the name")
  check_options(o, "transformer", "hidden", "heads", "feed_forward")
  if o.hidden % o.heads ~= 0 then
    soapstone.refuse("%s: hidden is %d, which is not a multiple of heads, %d", name, o.hidden, o.heads)
  end
  local at = { layer = o.layer }
  local function norm(part, input)
    return m:layer_norm(name .. "." .. part, input, at)
  end
  local function product(part, input, out, activation)
    return m:linear(name .. "." .. part, input,
      with(at, { out = out, activation = activation or "none" }))
  end
  local before = o.norm == "before"

  local a = before and norm("norm1", x) or x
  a = product("qkv", a, 3 * o.hidden)
  a = m:multihead_attention(name .. ".attention", a,
    with(at, { heads = o.heads, causal = o.causal }))
  a = product("projection", a, o.hidden)
  x = m:add(name .. ".add1", { x, a }, at)
  if not before then x = norm("norm1", x) end

  local f = before and norm("norm2", x) or x
  f = product("feed1", f, o.feed_forward * o.hidden, "gelu")
  f = product("feed2", f, o.hidden)
  x = m:add(name .. ".add2", { x, f }, at)
  if not before then x = norm("norm2", x) end
  return x
end

return layers
