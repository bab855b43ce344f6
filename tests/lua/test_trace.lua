-- What a script sees of traces of PyTorch's profiler: what they say of operators, and which of ours those are. The traces are made here, of
-- what the format's facts are (validation/torch/events.h).
local soapstone = require "soapstone"
local check = require "check"

local claim, equal, fails, contains = check.claim, check.equal, check.fails, check.contains

-- -- making traces ------------------------------------------------------------------------------

local NEXT <const> = ","

local function quoted(text) return '"' .. text .. '"' end

local function list_of(texts)
  local out = {}
  for i, text in ipairs(texts) do out[i] = quoted(text) end
  return "[" .. table.concat(out, ", ") .. "]"
end

-- An operator on the host: { name, begin, duration, dims = "[[5, 3]]", types = {...}, values = {...}, id =, sequence =, thread = }
local function operator(o)
  local args = { ('"External id": %d'):format(o.id or 0) }
  if o.sequence then args[#args + 1] = ('"Sequence number": %s, "Fwd thread id": 0'):format(o.sequence) end
  if o.dims then args[#args + 1] = ('"Input Dims": %s, "Input type": %s'):format(o.dims, list_of(o.types or {})) end
  if o.values then args[#args + 1] = ('"Concrete Inputs": %s'):format(list_of(o.values)) end
  return ('{"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 7, "tid": %d, "ts": %s, "dur": %s, "args": {%s}}')
    :format(o[1], o.thread or 7, o[2], o[3], table.concat(args, NEXT))
end

local function launch(correlation, at, thread, external)
  return ('{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": %d, "ts": %s, "dur": 2, "args": {"External id": %d, "correlation": %d}}')
    :format(thread or 7, at, external or correlation, correlation)
end

local function kernel(correlation, duration, external, cat)
  return ('{"args": {"device": 0, "stream": 7, "correlation": %d, "External id": %d}, "ph": "X", "cat": "%s", "name": "void k<float>(int)", "pid": 0, "tid": 7, "ts": 5000, "dur": %s}')
    :format(correlation, external or correlation, cat or "kernel", duration)
end

local GPU <const> = '{"id": 0, "name": "NVIDIA A100-SXM4-40GB", "numSms": 108}'

local function put(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  return path
end

local function whole(events, devices)
  return ('{"schemaVersion": 1, "deviceProperties": [%s], "record_shapes": 1, "traceEvents": [\n%s\n], "displayTimeUnit": "ms"}\n')
    :format(devices or GPU, table.concat(events, ",\n"))
end

local function read(events, devices) return soapstone.trace.read(put("made.json", whole(events, devices))) end

local FLOATS <const> = { "float", "float", "float" }

-- One call with a kernel of 10 us in it.
local function one(name, dims, types, values)
  return read { operator { name, 100, 50, dims = dims, types = types or FLOATS, values = values }, launch(1, 110), kernel(1, 10) }
end

local function part_of(trace)
  local p = trace.parts[1]
  return #trace.parts == 0 and "none: " .. trace.rows[1].why or ("%s {%s} %s %s %s"):format(p.kind, p.attributes, p.shape, p.dtype, p.phase)
end

-- -- wrong input ---------------------------------------------------------------------------------

claim("what is no trace is refused, with the place", function()
  local function refused(text, what) fails(what, soapstone.trace.read, put("wrong.json", text)) end
  fails("cannot read nowhere.json", soapstone.trace.read, "nowhere.json")
  fails("trace.read: the path", soapstone.trace.read, 3)
  refused("", "wrong.json: byte 0: parse error: premature EOF (a trace is JSON, gzip or not)")
  refused("not JSON", "wrong.json: byte ")
  refused("kind,attributes\n", "wrong.json: byte ")
  refused('{"traceEvents": [{"ph": "X"', "parse error: premature EOF")
  refused('{"traceEvents": []} x', "trailing garbage")
  refused('{"events": []}', "it has no list of events (traceEvents): is it a trace that torch.profiler wrote?")
  refused('{"traceEvents": {}}', "it has no list of events")
  refused('{"traceEvents": []}', "it has no operators (cat cpu_op): is it a trace that torch.profiler wrote?")
  refused('{"a": ' .. ("["):rep(100), "more than 64 lists and objects within each other")
  refused(whole { operator { "aten::relu", 1, 2 }, operator { "aten::relu", 1, 2 } },
    "its operators have no shapes: record them with torch.profiler.profile(record_shapes=True)")
  local function event(o, what) refused(whole { operator { "aten::relu", 1, 2, dims = "[[1]]" }, operator(o) }, "wrong.json: event 2: " .. what) end
  event({ "aten::relu", "1e300", 1 }, "its beginning (ts) should be a number of microseconds, not 1e300")
  event({ "aten::relu", "99999999999999999999", 1 }, "its beginning (ts) should be a number of microseconds, not 99999999999999999999")
  event({ "aten::relu", "null", 1 }, "its beginning (ts) should be a number of microseconds, not null")
  event({ "aten::relu", "[1]", 1 }, "its beginning (ts) should be a number of microseconds, not a list")
  event({ "aten::relu", 1, "-1" }, "its duration (dur) should be a number of microseconds, not -1")
  event({ "aten::relu", 1, '"long"' }, "its duration (dur) should be a number of microseconds, not long")
  event({ "aten::relu", 1, "1e14" }, "its duration (dur) should be a number of microseconds, not 1e14")
  event({ "aten::relu", 1, 1, dims = '[["x"]]' }, '"Input Dims" should be lists of numbers, not x')
  event({ "aten::relu", 1, 1, dims = "[[1.5]]" }, '"Input Dims" should be lists of numbers, not 1.5')
  event({ "aten::relu", 1, 1, dims = "3" }, '"Input Dims" should be lists of numbers, not 3')
  refused(whole { operator { "aten::relu", 1, "NaN", dims = "[[1]]" } }, "wrong.json: byte 2")
end)

claim("a gzip file that was cut or damaged is refused, a whole one is as good as plain", function()
  local events = {}
  for i = 1, 2000 do events[i] = operator { "aten::relu", 10 * i + i % 7 / 1000, 5, dims = "[[3, 4]]", types = FLOATS } end
  local plain = read(events)
  if not os.execute "gzip -kf made.json" then return end
  equal(soapstone.trace.read("made.json.gz"):json():gsub("made.json.gz", ""), (plain:json():gsub("made.json", "")))
  local file = assert(io.open("made.json.gz", "rb"))
  local bytes = file:read "a"
  file:close()
  fails("the gzip file ends in the middle: it was cut", soapstone.trace.read, put("cut.json.gz", bytes:sub(1, #bytes // 2)))
  fails("the gzip file ends in the middle: it was cut", soapstone.trace.read, put("cut.json.gz", bytes:sub(1, -5)))
  fails("cut.json.gz: byte ", soapstone.trace.read, put("cut.json.gz", bytes:sub(1, #bytes // 2) .. ("x"):rep(400)))
  os.remove "cut.json.gz"
  os.remove "made.json.gz"
end)

-- -- whose time it is ----------------------------------------------------------------------------

claim("a kernel is of the operator in which it was launched", function()
  -- "External id" of old traces is the correlation, which here is the id of another operator
  local events = {
    operator { "aten::empty", 100, 9, dims = "[[]]", id = 10 },
    operator { "aten::mul", 120, 50, dims = "[[3, 4], [3, 4]]", types = FLOATS, id = 2 },
    operator { "aten::copy_", 130, 30, dims = "[[3, 4], [3, 4]]", types = FLOATS, id = 3 },
    operator { "aten::copy_", 135, 30, dims = "[[3, 4], [3, 4]]", types = FLOATS, id = 4, thread = 8 },
    kernel(1, 10), launch(1, 140), kernel(4, 7), launch(4, 165), kernel(9, "0.125", 4), kernel(10, 3),
    kernel(11, 5, 11, "gpu_memcpy"), launch(11, 300),
  }
  local t = read(events)
  equal(t.times, "device")
  equal(t.device, "NVIDIA A100-SXM4-40GB")
  equal(#t, 3)
  equal(("%s %s %d %.9f"):format(t.rows[1].operator, t.rows[1].kind, t.rows[1].calls, t.rows[1].total * 1e6), "aten::copy_ mul 1 10.000000000")
  equal(("%s %s %.9f"):format(t.rows[2].operator, t.rows[2].phase, t.rows[2].total * 1e6), "aten::mul forward 7.000000000")
  -- 9 was launched by nobody that is there, and its External id is no correlation
  equal(("%s %s %.9f"):format(t.rows[3].operator, t.rows[3].why, t.rows[3].total * 1e6), "aten::copy_ no kind of operator 0.125000000")
  check.near(t.untied, 8e-6)
  check.near(t.total, 25.125e-6)
  check.near(t.mapped, 17e-6)
  equal(#t.parts, 1)
  check.near(t.parts[1].median, 17e-6)
  contains(tostring(t), "31.8 % was launched by no operator")
  contains(tostring(t), "0.5 %  aten::copy_: no kind of operator")
end)

claim("without kernels an operator's time is its own, without that of those in it", function()
  local t = read({
    operator { "aten::linear", 100, 50, dims = "[[5, 3], [4, 3], [4]]", types = FLOATS },
    operator { "aten::addmm", 110, 30, dims = "[[4], [5, 3], [3, 4]]", types = FLOATS },
    operator { "aten::linear", 200, 70, dims = "[[5, 3], [4, 3], [4]]", types = FLOATS },
  }, "")
  equal(t.times, "host")
  equal(t.device, "")
  equal(("%s %d %.3f %.3f"):format(t.rows[1].operator, t.rows[1].calls, t.rows[1].total * 1e6, t.rows[1].median * 1e6), "aten::linear 2 90.000 45.000")
  equal(("%s %.3f"):format(t.rows[2].operator, t.rows[2].total * 1e6), "aten::addmm 30.000")
  equal(#t.parts, 1) -- the call with all in it
  equal(t.parts[1].calls, 2)
  check.near(t.parts[1].median, 60e-6)
  contains(tostring(t), "no kernels: times are of the host, each without what it calls")
  fails("trace:profile: made.json does not name its device: say what kind it is", t.profile, t)
  equal(t:profile({ kind = "cpu core" }).device, "cpu core")
end)

claim("what begins at one instant is within each other by length, and a launch may be at that instant too", function()
  local t = read {
    operator { "aten::addmm", 100, 30, dims = "[[4], [5, 3], [3, 4]]", types = FLOATS },
    operator { "aten::linear", 100, 50, dims = "[[5, 3], [4, 3], [4]]", types = FLOATS },
    launch(1, 100), kernel(1, 6),
  }
  equal(t.rows[1].operator, "aten::addmm")
  equal(part_of(t), "linear {bias=true activation=none} 5x4 < 5x3 f32 forward")
  equal(#t.parts, 1)
end)

claim("times since 1970 keep their nanoseconds", function()
  local t = read({
    operator { "aten::relu", "1694039994139246.123", "0.111", dims = "[[3, 4]]", types = FLOATS },
    operator { "aten::tanh", "1694039994139246.234", "1000.0006", dims = "[[3, 4]]", types = FLOATS },
    operator { "aten::gelu", "1.694039994139246123e+15", 7, dims = "[[3, 4]]", types = FLOATS, thread = 9 },
  }, "")
  equal(("%.12f %.12f"):format(t.parts[1].median, t.parts[2].median), "0.000000111000 0.001000001000")
end)

-- -- which of ours it is -------------------------------------------------------------------------

local FORWARD <const> = {
  -- name, dims, values, types; what it is
  { "aten::linear", "[[8, 5, 3], [4, 3], []]", nil, nil, "linear {bias=false activation=none} 8x5x4 < 8x5x3 f32 forward" },
  { "aten::addmm", "[[4], [5, 3], [3, 4], [], []]", { "", "", "", "1", "1" }, nil, "linear {bias=true activation=none} 5x4 < 5x3 f32 forward" },
  { "aten::addmm", "[[5, 4], [5, 3], [3, 4]]", nil, nil, "none: a product that something else than a bias is added to" },
  { "aten::matmul", "[[2, 5, 3], [3, 4]]", nil, { "c10::BFloat16" }, "linear {bias=false activation=none} 2x5x4 < 2x5x3 bf16 forward" },
  { "aten::matmul", "[[2, 5, 3], [2, 3, 4]]", nil, nil, "none: a product of two that both have samples" },
  { "aten::linear", "[[5, 3], [4, 3]]", nil, { "long int" }, "none: it computes in no type of ours" },
  { "aten::conv2d", "[[2, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []]", { "", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "1" }, nil,
    "conv2d {kernel_h=7 kernel_w=7 stride_h=2 stride_w=2 padding_h=3 padding_w=3 groups=1 bias=false norm=none activation=none} 2x64x112x112 < 2x3x224x224 f32 forward" },
  { "aten::convolution", "[[2, 6, 9, 8], [4, 3, 3, 2], [4]]", { "", "", "", "[1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "2" }, nil,
    "conv2d {kernel_h=3 kernel_w=2 stride_h=1 stride_w=1 padding_h=0 padding_w=0 groups=2 bias=true norm=none activation=none} 2x4x7x7 < 2x6x9x8 f32 forward" },
  { "aten::conv2d", "[[2, 3, 9, 9], [4, 3, 3, 3], []]", nil, nil, "none: the values of its arguments are not in the trace (Concrete Inputs)" },
  { "aten::conv2d", "[[2, 3, 9, 9], [4, 3, 3, 3], []]", { "", "", "", "[1, 1]", "[0, 0]", "[2, 2]", "1" }, nil, "none: a convolution with dilation, or of no output" },
  { "aten::conv_transpose2d", "[[2, 3, 8, 8], [3, 5, 4, 4], []]", { "", "", "", "[2, 2]", "[1, 1]", "[0, 0]", "1", "[1, 1]" }, nil,
    "conv_transpose2d {kernel_h=4 kernel_w=4 stride_h=2 stride_w=2 padding_h=1 padding_w=1 bias=false activation=none} 2x5x16x16 < 2x3x8x8 f32 forward" },
  { "aten::max_pool2d", "[[2, 3, 8, 8]]", { "", "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]", "False" }, nil,
    "pool2d {type=max kernel_h=3 kernel_w=3 stride_h=2 stride_w=2 padding_h=1 padding_w=1} 2x3x4x4 < 2x3x8x8 f32 forward" },
  { "aten::avg_pool2d", "[[2, 3, 8, 8]]", { "", "[2, 2]", "[]", "[0, 0]", "False", "True", "" }, nil,
    "pool2d {type=avg kernel_h=2 kernel_w=2 stride_h=2 stride_w=2 padding_h=0 padding_w=0} 2x3x4x4 < 2x3x8x8 f32 forward" },
  { "aten::max_pool2d", "[[2, 3, 8, 8]]", { "", "[3, 3]", "[2, 2]", "[0, 0]", "[1, 1]", "True" }, nil,
    "none: pooling with dilation, or of windows that go over the edge (ceil_mode)" },
  { "aten::adaptive_avg_pool2d", "[[2, 3, 8, 6]]", { "", "[1, 2]" }, nil,
    "pool2d {type=avg kernel_h=8 kernel_w=3 stride_h=8 stride_w=3 padding_h=0 padding_w=0} 2x3x1x2 < 2x3x8x6 f32 forward" },
  { "aten::upsample_nearest2d", "[[2, 3, 8, 6]]", { "", "[16, 18]", "" }, nil, "upsample2d {factor_h=2 factor_w=3} 2x3x16x18 < 2x3x8x6 f32 forward" },
  { "aten::batch_norm", "[[2, 3, 7], [3], [3], [3], [3]]", nil, nil, "batch_norm {} 2x7x3 < 2x7x3 f32 forward" },
  { "aten::layer_norm", "[[2, 7, 3], [], [3], []]", nil, nil, "layer_norm {bias=false} 2x7x3 < 2x7x3 f32 forward" },
  { "aten::layer_norm", "[[2, 7, 3], [], [7, 3], [7, 3]]", nil, nil, "none: normalisation over something else than the last extent, or without a scale" },
  { "aten::rms_norm", "[[2, 3], [], [3]]", nil, { "c10::Half" }, "rms_norm {} 2x3 < 2x3 f16 forward" },
  { "aten::relu_", "[[2, 3]]", nil, nil, "relu {} 2x3 < 2x3 f32 forward" },
  { "aten::gelu", "[[2, 3]]", nil, { "double" }, "gelu {} 2x3 < 2x3 f64 forward" },
  { "aten::dropout", "[[2, 3], [], []]", nil, nil, "dropout {} 2x3 < 2x3 f32 forward" },
  { "aten::add", "[[2, 3], [2, 3], []]", nil, nil, "add {activation=none} 2x3 < 2x3, 2x3 f32 forward" },
  { "aten::add", "[[2, 3], [3], []]", nil, nil, "none: of tensors of two shapes" },
  { "aten::mul", "[[2, 3], [2, 3]]", nil, nil, "mul {} 2x3 < 2x3, 2x3 f32 forward" },
  { "aten::mul", "[[2, 3], []]", nil, nil, "scale {} 2x3 < 2x3 f32 forward" },
  { "aten::softmax", "[[2, 4, 3], [], []]", { "", "-1", "" }, nil, "softmax {} 2x4x3 < 2x4x3 f32 forward" },
  { "aten::softmax", "[[2, 4, 3], [], []]", { "", "1", "" }, nil, "none: softmax over something else than channels" },
  { "aten::cross_entropy_loss", "[[6, 10], [6], []]", nil, nil, "softmax_cross_entropy {} 6x10 < 6x10 f32 forward" },
  { "aten::mse_loss", "[[6, 10], [6, 10], []]", nil, nil, "squared_error {} 6x10 < 6x10 f32 forward" },
  { "aten::embedding", "[[1000, 16], [8, 5], [], [], []]", nil, { "float", "long int" }, "embedding {vocab=1000 dtype=f32} 8x5x16 < 8x5 f32 forward" },
  { "aten::lstm", "[[8, 5, 16], [[1, 8, 12], [1, 8, 12]], [[48, 16], [48, 12], [48], [48]], [], [], [], [], [], []]",
    { "", "", "", "True", "1", "0.", "True", "False", "True" }, nil, "lstm {bias=true state_steps=1} 8x5x12 < 8x5x16, 8x1x12, 8x1x12 f32 forward" },
  { "aten::lstm", "[[5, 8, 16], [[1, 8, 12], [1, 8, 12]], [[48, 16], [48, 12]], [], [], [], [], [], []]",
    { "", "", "", "False", "1", "0.", "True", "False", "False" }, nil, "lstm {bias=false state_steps=1} 8x5x12 < 8x5x16, 8x1x12, 8x1x12 f32 forward" },
  { "aten::lstm", "[[5, 8, 16], [[2, 8, 12], [2, 8, 12]], [[48, 16], [48, 12]], [], [], [], [], [], []]",
    { "", "", "", "False", "2", "0.", "True", "False", "False" }, nil, "none: an lstm of several layers, in both directions or projected" },
  { "aten::scaled_dot_product_attention", "[[2, 4, 7, 8], [2, 4, 7, 8], [2, 4, 7, 8], [], [], []]", { "", "", "", "", "0.", "True" }, nil,
    "multihead_attention {heads=4 causal=true fused=true} 2x7x32 < 2x7x96 f32 forward" },
  { "aten::scaled_dot_product_attention", "[[2, 4, 3, 8], [2, 4, 7, 8], [2, 4, 7, 8], [], [], []]", { "", "", "", "", "0.", "False" }, nil,
    "multihead_attention {heads=4 causal=false fused=true} 2x3x32 < 2x3x32, 2x7x64 f32 forward" },
  { "aten::scaled_dot_product_attention", "[[2, 4, 3, 8], [2, 4, 7, 8], [2, 4, 7, 8], [3, 7], [], []]", { "", "", "", "", "0.", "False" }, nil,
    "none: attention under a mask of its own" },
  { "aten::flatten", "[[2, 3, 4, 5], [], []]", { "", "1", "-1" }, nil, "flatten {} 2x60 < 2x3x4x5 f32 forward" },
  { "aten::cat", "[[[2, 3], [2, 4]], []]", { "", "1" }, { "TensorList", "Scalar" }, "none: the element type of a list of tensors is not in the trace" },
  { "aten::copy_", "[[2, 3]]", nil, nil, "none: no kind of operator" },
  { "triton_poi_fused_relu_0", "[[2, 3]]", nil, nil, "none: no kind of operator" },
  { "aten::relu", "[[[[[2]]]]]", nil, nil, "none: its shapes are not in the trace, or too many" },
  { "aten::relu", "[[2, 99999999999999999]]", nil, nil, "none: its shapes are not in the trace, or too many" },
}

claim("each call is the operator of ours that it should be, or says why it is none", function()
  for _, c in ipairs(FORWARD) do
    local t = one(c[1], c[2], c[4], c[3])
    equal(c[1] .. ": " .. part_of(t), c[1] .. ": " .. c[5])
    if #t.parts > 0 then equal(#t:profile(), 1) end
  end
end)

local function backward_of(name, dims, values, inside, types)
  local events = {
    operator { name, 100, 50, dims = dims, types = types or FLOATS, values = values, sequence = 5 }, launch(1, 110), kernel(1, 10),
    operator { "autograd::engine::evaluate_function: XBackward0", 300, 90, sequence = 5, thread = 8 },
    operator { "XBackward0", 310, 60, sequence = 5, thread = 8, dims = "[[5, 4]]" },
  }
  for i, o in ipairs(inside) do
    o[2], o[3], o.thread, o.types = 310 + 10 * i, 9, 8, FLOATS
    table.move({ operator(o), launch(10 + i, 311 + 10 * i, 8), kernel(10 + i, i) }, 1, 3, #events + 1, events)
  end
  return read(events)
end

claim("backward is of inputs, of weights or of both, as what is computed in it says", function()
  local function is(phase, seconds, t)
    equal(#t.parts, 2)
    equal(("%s %.1f"):format(t.parts[2].phase, t.parts[2].median * 1e6), ("%s %.1f"):format(phase, seconds))
    equal(t.parts[1].shape, t.parts[2].shape)
    check.near(t.mapped, t.total)
  end
  local function products(list, dims) return backward_of("aten::linear", dims or "[[5, 3], [4, 3], [4]]", nil, list) end
  local of_input, of_weight, sum = { "aten::mm", dims = "[[5, 4], [4, 3]]" }, { "aten::mm", dims = "[[4, 5], [5, 3]]" }, { "aten::sum", dims = "[[5, 4]]" }
  is("backward", 6, products { of_input, of_weight, sum })
  is("weight_gradient", 3, products { of_weight, sum })
  is("input_gradient", 1, products { of_input })
  is("backward", 3, products({ { "aten::mm", dims = "[[4, 4], [4, 4]]" }, { "aten::mm", dims = "[[4, 4], [4, 4]]" } }, "[[4, 4], [4, 4]]"))
  is("backward", 3, products({ { "aten::mm", dims = "[[10, 4], [4, 3]]" }, { "aten::mm", dims = "[[4, 10], [10, 3]]" } }, "[[2, 5, 3], [4, 3]]"))
  local function mask(mask)
    local values = { "", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", mask }
    return backward_of("aten::conv2d", "[[2, 3, 9, 9], [4, 3, 3, 3], [4]]", { "", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1" },
      { { "aten::convolution_backward", dims = "[[2, 4, 9, 9]]", values = values } })
  end
  is("backward", 1, mask "[True, True, True]")
  is("weight_gradient", 1, mask "[False, True, True]")
  is("input_gradient", 1, mask "[True, False, False]")
  is("backward", 1, backward_of("aten::relu", "[[5, 3]]", nil, { { "aten::threshold_backward", dims = "[[5, 3]]" } }))
  is("weight_gradient", 1, backward_of("aten::embedding", "[[100, 4], [5]]", nil, { { "aten::embedding_dense_backward", dims = "[[5, 4]]" } }))
  is("backward", 1, backward_of("aten::layer_norm", "[[5, 3], [], [3], [3]]", nil,
    { { "aten::native_layer_norm_backward", dims = "[[5, 3]]", values = { "", "[True, True, True]" } } }))
  local unclear = backward_of("aten::conv2d", "[[2, 3, 9, 9], [4, 3, 3, 3], [4]]", { "", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1" },
    { { "aten::convolution_backward", dims = "[[2, 4, 9, 9]]" } })
  equal(#unclear.parts, 1)
  contains(tostring(unclear), "aten::convolution_backward: of which gradients its backward is cannot be told")
end)

claim("the operator that began last with a number made the node of autograd, and numbers of two threads are not mixed up", function()
  local linear = operator { "aten::linear", 100, 50, dims = "[[5, 3], [4, 3], []]", types = FLOATS, sequence = 4 }
  local mm = operator { "aten::mm", 120, 20, dims = "[[5, 3], [3, 4]]", types = FLOATS, sequence = 5 }
  local inner = operator { "aten::empty", 125, 5, dims = "[[]]", sequence = 6 }
  local relu = operator { "aten::relu", 160, 20, dims = "[[5, 4]]", types = FLOATS, sequence = 6 }
  local function node(name, sequence, at) return operator { "autograd::engine::evaluate_function: " .. name, at, 20, sequence = sequence, thread = 8 } end
  local events = { linear, mm, inner, relu, launch(1, 130), kernel(1, 8), launch(2, 165), kernel(2, 4),
    node("ReluBackward0", 6, 300), node("MmBackward0", 5, 400), node("TBackward0", 4, 500),
    node("torch::autograd::AccumulateGrad", "18446744073709551615", 600), node("XBackward0", 99, 700),
    operator { "aten::mm", 405, 10, dims = "[[3, 5], [5, 4]]", types = FLOATS, thread = 8 },
    launch(3, 305, 8), kernel(3, 2), launch(4, 408, 8), kernel(4, 16), launch(5, 605, 8), kernel(5, 1), launch(6, 705, 8), kernel(6, 32) }
  local t = read(events)
  local seen = {}
  for _, p in ipairs(t.parts) do seen[#seen + 1] = ("%s %s %.0f"):format(p.kind, p.phase, p.median * 1e6) end
  equal(table.concat(seen, ", "), "linear forward 8, linear weight_gradient 16, relu forward 4, relu backward 2")
  contains(tostring(t), "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad: gradients are put where they are kept")
  contains(tostring(t), "autograd::engine::evaluate_function: XBackward0: backward of no operator of ours")
  check.near(t.mapped, 30e-6)
  events[#events + 1] = operator { "aten::relu", 160, 20, dims = "[[5, 4]]", types = FLOATS, sequence = 6, thread = 9 }
  equal(#read(events).parts, 3) -- whose backward it was cannot be told
end)

claim("under autocast the call within one of its own name counts, and what casts is none of ours", function()
  local t = read {
    operator { "aten::linear", 100, 90, dims = "[[5, 3], [4, 3], [4]]", types = FLOATS },
    operator { "aten::to", 105, 20, dims = "[[5, 3]]", types = FLOATS },
    operator { "aten::linear", 130, 50, dims = "[[5, 3], [4, 3], [4]]", types = { "c10::Half", "c10::Half", "c10::Half" } },
    launch(1, 110), kernel(1, 3), launch(2, 140), kernel(2, 9),
  }
  equal(part_of(t), "linear {bias=true activation=none} 5x4 < 5x3 f16 forward")
  check.near(t.parts[1].median, 9e-6)
  equal(t.rows[2].operator .. " " .. t.rows[2].why, "aten::to no kind of operator")
end)

claim("a view that costs nothing is a time, and so is nothing else", function()
  local t = read { operator { "aten::flatten", 100, 9, dims = "[[2, 3, 4, 5], [], []]", types = FLOATS, values = { "", "1", "-1" } },
    operator { "aten::relu", 120, 9, dims = "[[2, 3]]", types = FLOATS }, kernel(1, 5) }
  equal(part_of(t), "flatten {} 2x60 < 2x3x4x5 f32 forward")
  equal(#t.parts, 1)
  equal(t.parts[1].median, 0)
end)

claim("what is left of the format is taken as it comes: a bare list, other events, keys in any order, texts of any bytes", function()
  local text = '[{"ph": "M", "name": "process_name", "args": {"name": "python"}}, {"ph": "i", "s": "g", "ts": 1},'
    .. '{"args": {"more": {"deep": [[1, {"x": null}], true]}, "Input type": ["float"], "Input Dims": [[3, 4]]}, "dur": 5, "ts": 7,'
    .. ' "tid": "main", "pid": "host", "name": "aten::tanh", "cat": "Operator", "ph": "X"},'
    .. '{"ph": "s", "cat": "ac2g", "id": 4, "ts": 3}, {"ph": "X", "cat": "python_function", "name": "\xff\xfe\\u0000", "ts": 1, "dur": 3}, 7]'
  local t = soapstone.trace.read(put("bare.json", text))
  equal(part_of(t), "tanh {} 3x4 < 3x4 f32 forward")
  os.remove "bare.json"
end)

-- -- what becomes of it --------------------------------------------------------------------------

claim("the operators of ours are a profile, which is written, read and put together with others", function()
  local events, at, id = {}, 100, 0
  for step = 1, 3 do
    for _, width in ipairs { 16, 16, 32 } do
      id = id + 1
      table.move({ operator { "aten::linear", at, 40, dims = ("[[12, %d], [%d, %d], [%d]]"):format(width, width, width, width), types = FLOATS },
        launch(id, at + 9), kernel(id, width + step / 8) }, 1, 3, #events + 1, events)
      at = at + 50
    end
  end
  local t = read(events)
  local p = t:profile()
  equal(#p, 2)
  equal(p.device, "NVIDIA A100-SXM4-40GB")
  equal(p.library .. "|" .. p.inputs .. "|" .. p.processor, "PyTorch (trace)|step|NVIDIA A100-SXM4-40GB")
  equal(#p.rows[1].samples, 6)
  check.near(p.rows[1].median, 16.25e-6)
  local named = t:profile { kind = "a100" }
  equal(named.device, "a100")
  named:write "trace.h5"
  equal(soapstone.profile.read("trace.h5"):json(), named:json())
  contains(soapstone.inspect "trace.h5", "a100")
  equal(#soapstone.profile.merge { named, soapstone.profile.read "trace.h5" }, 2)
  os.remove "trace.h5"
  fails("unknown option 'kid'; did you mean 'kind'?", t.profile, t, { kid = "a100" })
  fails('trace:profile: the kind of device is ""', t.profile, t, { kind = "" })
  fails("trace:text: -1 rows", t.text, t, -1)
  equal(select(2, t:text(1):gsub("aten::linear", "")), 1)
  contains(t:text(1), "and 1 more with ")
  contains(t:json(), '"calls": 6, "median_s": 1.625e-05')
  local two = read(events, GPU .. ', {"id": 1, "name": "Tesla T4"}')
  fails("has devices of several names, NVIDIA A100-SXM4-40GB among them: say of which kind the times are", two.profile, two)
  equal(#read(events, GPU .. "," .. GPU):profile(), 2)
  fails("none of its operators is one of ours", function() one("aten::copy_", "[[3]]"):profile() end)
end)

claim("a simulation takes the times of a trace", function()
  local topology = require "soapstone.topology"
  local here = topology.new { name = "one" }
  here:device("gpu0", { kind = "a100", memory_bandwidth = "1 TB/s", flops = { f32 = "10 TFLOP/s" } })
  local model = soapstone.model.new { name = "two", dtype = "f32" }
  local x = model:input("x", { 5, 3 })
  x = model:relu("r", model:linear("fc", x, { out = 4 }))
  model:squared_error("loss", x)
  local t = read {
    operator { "aten::linear", 100, 50, dims = "[[5, 3], [4, 3], [4]]", types = FLOATS, sequence = 1 }, launch(1, 110), kernel(1, 11),
    operator { "aten::relu", 200, 50, dims = "[[5, 4]]", types = FLOATS, sequence = 2 }, launch(2, 210), kernel(2, 3),
    operator { "aten::mse_loss", 300, 50, dims = "[[5, 4], [5, 4], []]", types = FLOATS, sequence = 3 }, launch(3, 310), kernel(3, 2),
    operator { "MseLossBackward0", 400, 50, sequence = 3, thread = 8 }, launch(4, 410, 8), kernel(4, 5),
    operator { "ReluBackward0", 500, 50, sequence = 2, thread = 8 }, launch(5, 510, 8), kernel(5, 7),
    operator { "AddmmBackward0", 600, 50, sequence = 1, thread = 8 },
    operator { "aten::mm", 605, 20, dims = "[[3, 5], [5, 4]]", types = FLOATS, thread = 8 }, launch(6, 610, 8), kernel(6, 13),
  }
  equal(#t.parts, 6)
  local problem = soapstone.problem { model = model, topology = here, costs = soapstone.costs.table(t:profile { kind = "a100" }) }
  local profile = t:profile { kind = "a100" }
  local whole = problem:strategy "whole"
  equal(profile:lacks(whole), 0)
  check.near(problem:simulate(whole).step_time, 41e-6)
end)

os.remove "made.json"
os.remove "wrong.json"
check.done()
