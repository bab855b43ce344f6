-- What a script sees of models, wrong input first.
local check = require "check"
local model = require "soapstone.model"

local fails, equal, claim = check.fails, check.equal, check.claim

local function mlp()
  local m = model.new { name = "mlp", dtype = "f32" }
  local x = m:input("x", { 24, 37 })
  return m, x
end

claim("model.new refuses what it does not know", function()
  fails("option 'name' is missing", model.new)
  fails("did you mean 'optimizer'?", model.new, { name = "m", optimiser = "adam" })
  fails("option 'optimizer' cannot be 'adm'; did you mean 'adam'?", model.new,
    { name = "m", optimizer = "adm" })
  fails("option 'dtype'", model.new, { name = "m", dtype = "f31" })
end)

claim("an input has a name and one to five extents", function()
  local m = mlp()
  fails("needs a list of extents, not nothing", m.input, m, "y")
  fails("has 0 extents", m.input, m, "y", {})
  fails("has 6 extents", m.input, m, "y", { 1, 2, 3, 4, 5, 6 })
  fails("extent 2 is 0; it must be at least 1", m.input, m, "y", { 3, 0 })
  fails("extent 1 is 2.5, which is not a whole number", m.input, m, "y", { 2.5 })
  fails("extent 1 should be a whole number, not a text", m.input, m, "y", { "3" })
  fails("unknown option 'dtyp'; did you mean 'dtype'?", m.input, m, "y", { 3 }, { dtyp = "f16" })
  equal(m:input("y", { 3 }, { dtype = "f16" }).dtype, "f16")
end)

claim("an operator's options come from its kind", function()
  local m, x = mlp()
  fails("linear fc: option 'out' is missing (output features)", m.linear, m, "fc", x)
  fails("linear fc: unknown option 'ouut'; did you mean 'out'?", m.linear, m, "fc", x, { ouut = 3 })
  fails("linear fc: option 'out' is 0; it must be at least 1", m.linear, m, "fc", x, { out = 0 })
  fails("option 'activation' cannot be 'rulu'; did you mean 'relu'?", m.linear, m, "fc", x,
    { out = 5, activation = "rulu" })
  fails("option 'layer' is -1", m.linear, m, "fc", x, { out = 5, layer = -1 })
  fails("option 'share' should be a text", m.linear, m, "fc", x, { out = 5, share = 1 })
  fails("linear fc: input 1 should be a tensor, not a text", m.linear, m, "fc", "x", { out = 5 })
  fails("a model has no field or method 'linaer'; did you mean 'linear'?",
    function() return m.linaer end)
  local other, y = mlp()
  fails("input 1 is a tensor of another model", m.linear, m, "fc", y, { out = 5 })
  fails("'linear' was called on a tensor, not on a model", m.linear, x, "fc", x, { out = 5 })
  equal(m:totals().operators, 0)
end)

claim("names are not given twice", function()
  local m, x = mlp()
  m:linear("fc", x, { out = 5 })
  fails("fc", m.linear, m, "fc", x, { out = 5 })
end)

claim("the error of a shape names the operator", function()
  local m, x = mlp()
  fails("sum", m.add, m, "sum", { x, m:linear("fc", x, { out = 5 }) })
  fails("sum2", m.add, m, "sum2", {})
end)

claim("kernel, stride and padding stand for two attributes each", function()
  local m = model.new { name = "m" }
  local x = m:input("x", { 2, 3, 31, 29 })
  m:conv2d("a", x, { out = 4, kernel = { 3, 5 }, stride = 2, padding = { 1, 2 } })
  local o = m:op "a"
  equal(o.attributes.kernel_h, 3)
  equal(o.attributes.kernel_w, 5)
  equal(o.attributes.stride_w, 2)
  equal(o.attributes.padding_w, 2)
  fails("option 'kernel' has 3 numbers", m.conv2d, m, "b", x, { out = 4, kernel = { 1, 2, 3 } })
  fails("option 'kernel[2]' should be a whole number", m.conv2d, m, "b", x,
    { out = 4, kernel = { 1, "2" } })
end)

claim("a model tells what it is made of", function()
  local m, x = mlp()
  local y = m:linear("fc1", x, { out = 11, activation = "relu" })
  local z = m:add("sum", { y, y }, { layer = 3 })
  equal(table.concat(z.shape, "x"), "24x11")
  equal(z.name, "sum")
  equal(tostring(x), "tensor x 24x37 f32")
  equal(m.batch, 24)
  equal(m:totals().parameters, 37 * 11 + 11)
  equal(m:totals().macs, 24 * 37 * 11)
  local names = {}
  for o in m:ops() do names[#names + 1] = o.name .. ":" .. o.kind end
  equal(table.concat(names, " "), "fc1:linear sum:add")
  equal(m:op("sum").layer, 3)
  equal(m:op(1).attributes.activation, "relu")
  equal(m:op("sum").inputs[2], y)
  equal(m:op("fc1").dims[1].class, "s")
  fails("no operator 'fc2'; did you mean 'fc1'?", m.op, m, "fc2")
  fails("is 3; it must be at most 2", m.op, m, 3)
  check.contains(tostring(m), "model mlp: 2 operators, batch 24, 418 parameters")
end)

claim("a closed model says so, also through its tensors", function()
  local m, x = mlp()
  m:close()
  fails("this model is closed", m.totals, m)
  fails("the model of this tensor is closed", function() return x.shape end)
  equal(tostring(m), "model (closed)")
end)

claim("counts are integers where they fit", function()
  local m, x = mlp()
  m:linear("fc", x, { out = 5, bias = false })
  local op = m:op "fc"
  equal(math.type(op.macs), "integer")
  equal(op.macs, 24 * 37 * 5)
  equal(math.type(op.flops), "integer")
  equal(math.type(m:totals().macs), "integer")
  equal(math.type(m:totals().forward_flops), "integer")
  equal(tostring(m:totals().macs), "4440")
  local huge = model.new { name = "huge" }
  huge:linear("fc", huge:input("x", { 1 << 20, 1 << 20 }), { out = 1 << 20, bias = false })
  equal(math.type(huge:op("fc").macs), "float")
  equal(huge:op("fc").macs, 2.0 ^ 60)
end)

check.done()
