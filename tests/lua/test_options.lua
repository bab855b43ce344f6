-- options.lua and soapstone.unit, wrong input first.
local check = require "check"
local options = require "soapstone.options"
local soapstone = require "soapstone"

local fails, equal, claim = check.fails, check.equal, check.claim

local presets = {
  layers = 8, skip = 0, rate = 0.1, dtype = "f32", residual = true, sizes = { 1, 2 },
  speed = options.quantity("25 GB/s", "B/s"),
  mode = options.choice("ring", { "ring", "tree" }),
  heads = options.count(8, { min = 2, max = 64 }),
}

claim("unknown options are refused with the nearest name", function()
  fails("unknown option 'layer'; did you mean 'layers'?", options, { layer = 3 }, presets)
  fails("unknown option 'zzzzzz'; there are", options, { zzzzzz = 3 }, presets)
  fails("there is a text without one", options, { "x" }, presets)
  fails("a table of options is expected, not a number", options, 7, presets)
  fails("mine.own: unknown option 'layer'; did you mean 'layers'?", options, { layer = 3 }, presets, "mine.own")
  fails("option 'speed' is not a number (nan)", options, { speed = 0 / 0 }, presets)
end)

claim("a preset says what its option may be", function()
  fails("option 'layers' is 0; it must be at least 1", options, { layers = 0 }, presets)
  fails("option 'layers' is 2.5, which is not a whole number", options, { layers = 2.5 }, presets)
  fails("option 'layers' should be a whole number, such as 4000 or \"4k\", not a text", options, { layers = "3 B" }, presets)
  fails("option 'layers' should be a whole number", options, { layers = "many" }, presets)
  fails("option 'layers' should be a whole number", options, { layers = true }, presets)
  fails("option 'layers' is 0.0025k, which is not a whole number", options, { layers = "0.0025k" }, presets)
  equal(options({ layers = "2k" }, presets).layers, 2000)
  equal(math.type(options({ layers = "1e3" }, presets).layers), "integer")
  fails("option 'skip' is -1; it must be at least 0", options, { skip = -1 }, presets)
  fails("option 'rate' should be a number", options, { rate = "x" }, presets)
  fails("option 'rate' is not a number (nan)", options, { rate = 0 / 0 }, presets)
  fails("option 'dtype' should be a text", options, { dtype = 32 }, presets)
  fails("option 'residual' should be true or false", options, { residual = 1 }, presets)
  fails("option 'sizes' should be a table", options, { sizes = 1 }, presets)
  fails("\"25 GB\" is in bytes; expected bytes per second", options, { speed = "25 GB" }, presets)
  fails("option 'mode' cannot be 'rng'; did you mean 'ring'?", options, { mode = "rng" }, presets)
  fails("option 'heads' is not a number (nan)", options, { heads = 0 / 0 }, presets)
  fails("option 'heads' is 1e+300; it must be at most 64", options, { heads = 1e300 }, presets)
  fails("option 'heads' is -1e+300; it must be at least 2", options, { heads = -1e300 }, presets)
  fails("option 'heads' is 65; it must be at most 64", options, { heads = 65 }, presets)
  fails("option 'batch' is missing", options, {}, { batch = options.required "count" })
end)

claim("what is not given keeps its preset", function()
  local o = options({ layers = 3, speed = "100 Gb/s" }, presets)
  equal(o.layers, 3)
  equal(math.type(o.layers), "integer")
  equal(o.speed, 12.5e9)
  equal(o.rate, 0.1)
  equal(o.mode, "ring")
  equal(options(nil, presets).speed, 25e9)
  equal(options({ layers = 4.0 }, presets).layers, 4)
  equal(options({ residual = false }, presets).residual, false)
end)

claim("quantities are read and shown with their units", function()
  local unit = soapstone.unit
  check.near(unit.read("700 ns", "s"), 700e-9)
  equal(unit.read("2 GiB", "B"), 2 ^ 31)
  equal(unit.read(5, "B"), 5.0)
  equal(unit.show(25e9, "B/s"), "25.00 GB/s")
  equal(unit.show(1e300, "s"), "1e+300 s")
  equal(unit.show(-1.5e60, "B"), "-1.5e+60 B")
  equal(unit.show(2e21, "B"), "2e+21 B")
  equal(unit.show(1.25e-20, "s"), "1.25e-20 s")
  equal(unit.show(9223372, "s"), "9223372 s")
  equal(unit.show(0.25), "0.250")
  equal(unit.exact(0.1), "0.1")
  equal(unit.exact(1 / 3), "0.3333333333333333")
  fails("the number should be a number, not a table", unit.exact, {})
  fails("unknown unit 'Bs'", unit.read, "1 GB/s", "Bs")
  fails("expected seconds", unit.read, "1 GB", "s")
  fails("should be a number of seconds or a text such as", unit.read, {}, "s")
end)

claim("help tells what a function of options declares, and makes nothing", function()
  local made = 0
  local function make(o)
    o = options(o, { width = 4, share = 0.5, kind = "p100", flag = false, list = {},
      rate = options.quantity("25 GB/s", "B/s"), way = options.choice("up", { "up", "down" }),
      some = options.count(3, { min = 2, max = 7 }), must = options.required "count", any = options.any("x"),
      sizes = options.list({ 4, 4 }, "whole numbers"), machines = { { kind = "a", devices = 4 } },
      level = options.any(1, "a number or a list"), later = options.count(nil, { min = 1, unless = "as many as fit" }) })
    made = made + 1
  end
  equal(options.help(make), table.concat({
    "  any                  of several kinds; x unless given",
    "  flag                 true or false; false unless given",
    "  kind                 a text; p100 unless given",
    "  later                a whole number, at least 1; as many as fit",
    "  level                a number or a list; 1 unless given",
    "  list                 a table; {} unless given",
    "  machines             a table; { { devices = 4, kind = \"a\" } } unless given",
    "  must                 a whole number; must be given",
    "  rate                 a quantity in B/s; 25 GB/s unless given",
    "  share                a number; 0.5 unless given",
    "  sizes                a list of whole numbers; { 4, 4 } unless given",
    "  some                 a whole number, 2 to 7; 3 unless given",
    "  way                  one of up, down; up unless given",
    "  width                a whole number, at least 1; 4 unless given", "" }, "\n"))
  equal(made, 0)
  equal(options.help(function() made = made + 1 end), "")
  fails("a function of options is needed, not a number", options.help, 3)
  make { must = 1 }
  equal(made, 2)
end)

claim("refuse formats its sentence and nearest finds a word", function()
  fails("depth 7 is no good", soapstone.refuse, "depth %d is no good", 7)
  equal(soapstone.nearest("rign", { "tree", "ring" }), "ring")
  equal(soapstone.nearest("elephant", { "tree", "ring" }), nil)
end)

check.done()
