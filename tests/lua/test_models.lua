-- The models of the box against numbers from elsewhere.
--
-- Parameters and multiply-accumulates of AlexNet, VGG-16, Inception-v3, ResNet, GPT-2, BERT and U-Net
-- are those that the published networks are known by; per-layer ones were worked out by hand from the
-- published shapes.  Those of the recurrent networks follow from FlexFlow (MLSys 2019), table 4 and
-- figure 7b.  One sample, unless a test says otherwise.
local check = require "check"

local equal, near, fails, claim = check.equal, check.near, check.fails, check.claim

local function build(name, o)
  o = o or {}
  o.batch = o.batch or 1
  return require("models." .. name)(o)
end

local function totals(name, o)
  local t = build(name, o):totals()
  return t.parameters, t.macs, t.operators, t.output_elements
end

local function is(wanted, ...)
  local got = table.pack(...)
  for i, x in ipairs(wanted) do equal(got[i], x) end
end

local function shape_of(op)
  return table.concat(op.outputs[1].shape, "x", 2)
end

-- Sums over the operators whose name begins so; weights of convolutions without normalisation.
local function part(m, prefix)
  local sum = { weights = 0, macs = 0, operators = 0 }
  for op in m:ops() do
    if op.name:sub(1, #prefix) == prefix then
      local norm = op.attributes.norm == "batch" and 2 * op.attributes.out or 0
      sum.weights = sum.weights + op.parameters - norm
      sum.macs = sum.macs + op.macs
      sum.operators = sum.operators + 1
      sum.out = shape_of(op)
    end
  end
  return sum
end

local function parts(m, rows)
  for _, row in ipairs(rows) do
    local prefix, out, weights, macs = table.unpack(row)
    local p = part(m, prefix)
    local ok, message = pcall(is, { out, weights, macs }, p.out, p.weights, p.macs)
    if not ok then error(prefix .. ": " .. message, 2) end
  end
end

local function kinds(m)
  local n = setmetatable({}, { __index = function() return 0 end })
  for op in m:ops() do n[op.kind] = n[op.kind] + 1 end
  return n
end

-- Wrong options

claim("options of models are checked", function()
  fails("unknown option 'bacth'; did you mean 'batch'?", require "models.nmt", { bacth = 3 })
  fails("option 'batch' is 0; it must be at least 1", require "models.alexnet", { batch = 0 })
  fails("depth is 18; there are 50, 101 and 152", require "models.resnet", { depth = 18 })
  fails("steps is 41, which is not a multiple of steps_per_op, 8", require "models.rnnlm",
    { steps = 41 })
  fails("option 'states' is 2019", require "models.nmt", { states = 2019 })
  fails("option 'attention' cannot be 'loung'; did you mean 'luong'?", require "models.nmt",
    { attention = "loung" })
  fails("option 'size' cannot be '176B'; did you mean '175B'?", require "models.gpt",
    { size = "176B" })
  fails("a table of options is expected, not a text", require "models.gpt", "175B")
  fails("option 'norm' cannot be 'layer'", require "models.inception_v3", { norm = "layer" })
end)

claim("a network that an image does not fit is refused by the operator it fails at", function()
  fails("a kernel of 3 does not fit", require "models.alexnet", { image = 60 })
  fails("block1: hidden is 100, which is not a multiple of heads, 7", require "models.gpt",
    { hidden = 100, heads = 7 })
  fails("64 positions", require "models.bert", { sequence = 64, positions = 32 })
end)

-- Convolutional networks

claim("AlexNet, layer by layer", function()
  local m = build "alexnet"
  parts(m, {
    { "conv1", "64x55x55", 23296, 70276800 },
    { "pool2", "64x27x27", 0, 0 },
    { "conv3", "192x27x27", 307392, 223948800 },
    { "pool4", "192x13x13", 0, 0 },
    { "conv5", "384x13x13", 663936, 112140288 },
    { "conv6", "256x13x13", 884992, 149520384 },
    { "conv7", "256x13x13", 590080, 99680256 },
    { "pool8", "256x6x6", 0, 0 },
    { "flat", "9216", 0, 0 },
    { "linear9", "4096", 37752832, 37748736 },
    { "linear10", "4096", 16781312, 16777216 },
    { "linear11", "1000", 4097000, 4096000 },
  })
  is({ 61100840, 714188480, 12, 591720 }, totals "alexnet")
  is({ 57044810, 712712192 }, totals("alexnet", { image = 229, classes = 10 }))
end)

claim("VGG-16", function()
  is({ 138357544, 15470264320, 22, 15112168 }, totals "vgg16")
  parts(build "vgg16", {
    { "flat", "25088", 0, 0 },
    { "fc6", "4096", 102764544, 102760448 },
    { "fc7", "4096", 16781312, 16777216 },
    { "fc8", "1000", 4097000, 4096000 },
  })
end)

claim("Inception-v3, block by block", function()
  local m = build "inception_v3"
  parts(m, {
    { "stem", "192x35x35", 171872, 1340779616 },
    { "A1", "256x35x35", 254976, 312345600 },
    { "A2", "288x35x35", 276480, 338688000 },
    { "A3", "288x35x35", 284160, 348096000 },
    { "B1", "768x17x17", 1152000, 401937408 },
    { "C1", "768x17x17", 1294336, 374063104 },
    { "C2", "768x17x17", 1687552, 487702528 },
    { "C3", "768x17x17", 1687552, 487702528 },
    { "C4", "768x17x17", 2138112, 617914368 },
    { "D1", "1280x8x8", 1695744, 291004416 },
    { "E1", "2048x8x8", 5038080, 322437120 },
    { "E2", "2048x8x8", 6070272, 388497408 },
    { "linear", "1000", 2049000, 2048000 },
  })
  local n = kinds(m)
  is({ 94, 14, 11, 1, 1 }, n.conv2d, n.pool2d, n.concat, n.flatten, n.linear_softmax)
  is({ 23834568, 5713216096, 121, 14156648 }, totals "inception_v3")
end)

claim("Inception-v3 with biases, and with the padded stem", function()
  is({ 23817352, 5713216096, 121 }, totals("inception_v3", { norm = "none" }))
  is({ 23834568, 5816172640, 121 }, totals("inception_v3", { stem_padding = 1 }))
  equal(part(build("inception_v3", { stem_padding = 1 }), "A1").out, "256x36x36")
end)

claim("ResNet-101, stage by stage", function()
  local m = build "resnet"
  parts(m, {
    { "conv1", "64x112x112", 9408, 118013952 },
    { "stage1", "256x56x56", 212992, 667942912 },
    { "stage2", "512x28x28", 1212416, 1027604480 },
    { "stage3", "1024x14x14", 26017792, 5176557568 },
    { "stage4", "2048x7x7", 14942208, 809238528 },
    { "linear", "1000", 2049000, 2048000 },
  })
  local n = kinds(m)
  is({ 104, 33, 2, 1, 1 }, n.conv2d, n.add, n.pool2d, n.flatten, n.linear_softmax)
  is({ 44549160, 7801405440, 141, 25369064 }, totals "resnet")
end)

claim("other residual networks", function()
  is({ 25557032, 4089184256 }, totals("resnet", { depth = 50 }))
  is({ 60192808 }, totals("resnet", { depth = 152 }))
  is({ 41723752, 7441743872, 104 }, totals("resnet", { shortcuts = false, norm = "none" }))
end)

claim("LeNet and the multi-layer perceptron", function()
  is({ 61706, 416520, 8 }, totals "lenet")
  is({ 3 * (40 * 40 + 40), 3 * 40 * 40, 4 }, totals("mlp", { layers = 3, width = 40 }))
end)

claim("U-Net", function()
  -- The paper's: 388 x 388 of 572 x 572.  Its convolutions, seen from both ends.
  local m = build "unet"
  equal(shape_of(m:op "down1.conv2"), "64x568x568")
  equal(shape_of(m:op "bottom.conv2"), "1024x28x28")
  equal(shape_of(m:op "up4.join"), "1024x56x56")
  equal(shape_of(m:op "loss"), "2x388x388")
  equal(m:op("up4.crop_h").attributes.start, 4)
  equal(m:totals().parameters, 31030658)
  local padded = build("unet", { padding = 1, image = 256, channels = 3, classes = 1 })
  equal(shape_of(padded:op "loss"), "1x256x256")
  equal(kinds(padded).slice, 0)
  equal(padded:totals().parameters, 31031745)
end)

-- Recurrent networks

claim("the recurrent language model", function()
  local parameters, macs, operators = totals "rnnlm"
  is({ 108068864, 20 }, parameters, operators)
  near(2 * macs, 7.007e9, 1e-4)
  is({ 108111632 }, totals("rnnlm", { bias = true }))
  is({ 108068864, 2 * (20480000 + 2 * 33554432), 8 }, totals("rnnlm", { steps = 2, steps_per_op = 1 }))
end)

claim("text classification", function()
  local parameters, macs, operators = totals "rnntc"
  is({ 54036480, 26 }, parameters, operators)
  near(2 * macs, 2.684e9, 1e-3)
  is({ 66324480 }, totals("rnntc", { vocab = 32000 }))
end)

claim("translation, part by part", function()
  local m = build "nmt"
  local t = m:totals()
  is({ 140247040, 40 }, t.parameters, t.operators)
  near(2 * t.macs, 5.977e9, 1e-4)
  local layer = {}
  for op in m:ops() do
    local l = layer[op.layer] or { macs = 0, operators = 0 }
    l.macs, l.operators, l.parameters = l.macs + op.macs, l.operators + 1, op.parameters
    l.first = l.first or op.name
    layer[op.layer] = l
    equal(op.layer, (op.index - 1) // 5 + 1) -- blocks of five, in the order of the 2018 simulator
  end
  local lstm = 8 * 1024 * 1024
  for i, row in ipairs {
    { "source_embedding.1", 32768000, 0 }, { "target_embedding.1", 32768000, 0 },
    { "encoder1.1", lstm, 40 * lstm }, { "decoder1.1", lstm, 40 * lstm },
    { "encoder2.1", lstm, 40 * lstm }, { "decoder2.1", lstm, 40 * lstm },
    { "attention.1", lstm, 40 * lstm }, { "softmax.1", 32768000, 40 * 32768000 },
  } do
    is(row, layer[i].first, layer[i].parameters, layer[i].macs)
  end
  equal(t.parameter_bytes, 560988160)
  is({ 140320000 }, totals("nmt", { bias = true }))
end)

claim("a decoder starts from its encoder's last state, counted once or as in 2018", function()
  local m = build("nmt", { batch = 3 })
  local first = m:op "decoder2.1"
  is({ 3, "decoder1.1", "encoder2.5.hy", "encoder2.5.cy" }, #first.inputs, first.inputs[1].name,
    first.inputs[2].name, first.inputs[3].name)
  equal(table.concat(first.inputs[2].shape, "x"), "3x1x1024")
  equal(#m:op("encoder1.1").inputs, 1)
  equal(#m:op("attention.1").inputs, 1)
  m = build("nmt", { batch = 3, states = 2018 })
  equal(table.concat(m:op("decoder2.1").inputs[3].shape, "x"), "3x8x1024")
  equal(m:totals().macs, build("nmt", { batch = 3 }):totals().macs)
end)

claim("translation with general attention", function()
  local m = build("nmt", { attention = "luong" })
  local p = part(m, "attention")
  is({ 5, 129105920 }, p.operators, p.macs)
  equal(m:op("attention.1").parameters, 3145728)
  local t = m:totals()
  is({ 140247040 - 8388608 + 3145728, 40 }, t.parameters, t.operators)
  equal(m:op("attention.4").inputs[1].name, "decoder2.4")
  equal(m:op("attention.4").inputs[6].name, "encoder2.5")
end)

-- Transformers.  The GPT-2 and BERT counts are those of the published checkpoints.

claim("GPT-2", function()
  local parameters, _, operators = totals "gpt"
  is({ 124439808, 12 * 9 + 4 }, parameters, operators)
  for size, parameters in pairs {
    ["355M"] = 354823168, ["774M"] = 774030080, ["1.5B"] = 1557611200 } do
    is({ parameters }, totals("gpt", { size = size }))
  end
  is({ 124439808 + 50257 * 768 }, totals("gpt", { tied = false }))
end)

claim("GPT-3 has what its formula says", function()
  for size, billion in pairs {
    ["1.3B"] = 1.3, ["2.7B"] = 2.7, ["6.7B"] = 6.7, ["13B"] = 12.9, ["175B"] = 174.6 } do
    local m = build("gpt", { size = size })
    local t = m:totals()
    local h, s, l = m:op("norm").dims[3].extent, m:op("norm").dims[2].extent,
      m:op("output").layer
    equal(t.parameters, 50257 * h + s * h + l * (12 * h * h + 13 * h) + 2 * h)
    near(t.parameters, billion * 1e9, 0.02)
    -- Weights once for every position, and the half of q k and p v that is not masked.
    equal(t.macs, s * (l * 12.0 * h * h + 50257 * h) + l * s * (s + 1.0) * h)
  end
  is({ 174604259328 }, totals("gpt", { size = "175B" }))
end)

claim("BERT has the published counts less the biases of its vocabulary", function()
  is({ 110106428 - 30522 }, totals "bert")
  is({ 336226108 - 30522 }, totals("bert", { size = "large" }))
  local n = kinds(build("bert", { size = "large" }))
  is({ 24, 2, 2 }, n.multihead_attention, n.linear_softmax, n.embedding)
end)

claim("the vision transformer lacks two vectors, of the class token and its position", function()
  is({ 86567656 - 2 * 768 }, totals "vit")
  equal(shape_of(build "vit":op "sequence"), "196x768")
end)

-- All of them

claim("every model scales with its batch and keeps its weights", function()
  for _, name in ipairs { "alexnet", "bert", "gpt", "inception_v3", "lenet", "mlp", "nmt", "resnet",
    "rnnlm", "rnntc", "unet", "vgg16",
    "vit" } do
    local one, three = build(name, { batch = 1 }), build(name, { batch = 3 })
    equal(three.batch, 3)
    equal(three.name:find(name, 1, true), 1)
    equal(three:totals().parameters, one:totals().parameters)
    equal(three:totals().macs, 3 * one:totals().macs)
    equal(three:totals().output_elements, 3 * one:totals().output_elements)
    local narrow = build(name, { dtype = "f16" })
    equal(narrow:totals().parameter_bytes, 2 * one:totals().parameters)
  end
end)

check.done()
