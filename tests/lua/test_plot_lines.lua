-- Figures of a script's own numbers and of strategies: what is refused, and what is in their tables.
local check = require "check"
local plot = require "soapstone.plot"

local claim, equal, fails = check.claim, check.equal, check.fails

local draws = os.execute "command -v gnuplot >/dev/null 2>&1"

local function table_of(path)
  local f = assert(io.open(path .. ".tsv"))
  local text = f:read "a"
  f:close()
  os.remove(path)
  os.remove(path .. ".tsv")
  return text
end

local function count(text, what)
  return select(2, text:gsub(what, "%0"))
end

claim("rows of throughput that make no sense are refused by their number", function()
  local function wrong(said, rows, options) fails(said, plot.throughput, rows, "no.svg", options) end
  wrong("takes a list of rows as argument 1, not nil", nil)
  wrong("needs rows", {})
  wrong("row 1 should be { series =, devices =, value = }, not a number", { 3 })
  wrong("row 1: option 'series' is missing", { { devices = 1, value = 2 } })
  wrong("row 2: option 'value' is missing", { { series = "a", devices = 1, value = 2 }, { series = "a", devices = 1 } })
  wrong("row 1: option 'devices' is 0", { { series = "a", devices = 0, value = 2 } })
  wrong("row 1: unknown option 'device'; did you mean 'devices'?", { { series = "a", device = 1, value = 2 } })
  wrong("row 1 has no series", { { series = "", devices = 1, value = 2 } })
  wrong("a throughput of 0 on a logarithmic axis", { { series = "a", devices = 1, value = 0 } }, { logy = true })
  wrong("two rows of a on 4 devices in nmt",
    { { series = "a", devices = 4, value = 2, panel = "nmt" }, { series = "a", devices = 4, value = 3, panel = "nmt" } })
  local many = {}
  for i = 1, 25 do many[i] = { series = "a", devices = 4, value = 2, panel = "p" .. i } end
  wrong("25 panels in one figure: there is room for 24", many)
  for i = 1, 41 do many[i] = { series = "s" .. i, devices = 4, value = 2 } end
  wrong("41 names in one legend", many)
end)

claim("series that make no sense are refused by their number", function()
  local function wrong(said, series, options) fails(said, plot.lines, series, "no.svg", options) end
  wrong("takes a list of series as argument 1, not nil", nil)
  wrong("there is nothing to draw", {})
  wrong("series 1 should be { label =, x = {...}, y = {...} }, not a text", { "a" })
  wrong("series 1: 'y' should be a list of numbers, not nil", { { x = { 1 } } })
  wrong("series 1: 'x[2]' should be a number, not a text", { { x = { 1, "2" }, y = { 1, 2 } } })
  wrong("series 1 has 2 values of x and 1 of y", { { x = { 1, 2 }, y = { 3 } } })
  wrong("series 1 is published and pale", { { x = { 1 }, y = { 3 }, published = true, pale = true } })
  wrong("point 1: (inf, 3) is nowhere", { { x = { math.huge }, y = { 3 } } })
  wrong("point 1: y is 0, and that axis is logarithmic", { { x = { 1 }, y = { 0 } } }, { logy = true })
  wrong("series \"b\", point 2: y is -3, and that axis is logarithmic",
    { { x = { 1 }, y = { 1 } }, { label = "b", x = { 1, 2 }, y = { 1, -3 } } }, { logy = true })
  wrong("series \"b\", point 2: x is 0, and that axis is logarithmic", { { label = "b", x = { 1, 0 }, y = { 3, 4 } } }, { logx = true })
  wrong("series 2, point 1: x is -2, and that axis is logarithmic",
    { { x = { 1 }, y = { 1 } }, { x = { -2 }, y = { 3 } } }, { logx = true })
  wrong("from_y is 0: an axis that is logarithmic begins above 0", { { x = { 1 }, y = { 3 } } }, { logy = true, from_y = 0 })
  wrong("nothing to see between the ends of the axes that are given: x goes from 1 to 1, y from 3 to 3",
    { { x = { 1 }, y = { 3 } } }, { to_x = 0.5 })
  wrong("axis y goes from 4 to 2", { { x = { 1 }, y = { 0 } } }, { from_y = 4, to_y = 2 })
end)

claim("a strategy to draw is one that is there", function()
  local small = require "small"
  local p = require("soapstone").problem { model = small.net(), topology = small.quad() }
  fails("needs a strategy as argument 1, not a table", plot.strategy, {}, "no.svg")
  fails("option 'name' goes with the path of a record", plot.strategy, p:strategy "whole", "no.svg", { name = "x" })
  fails("nowhere.h5", plot.strategy, "nowhere.h5", "no.svg")
  if not draws then return end
  plot.strategy(p:strategy("data_parallel", { name = "split" }), "strategy.svg")
  local text, ops = table_of "strategy.svg", 0
  for _ in p.model:ops() do ops = ops + 1 end
  assert(text:find(", split\t", 1, true))
  equal(count(text, "\noperator\t"), ops)
end)

claim("what is published shares colour and name with what is ours", function()
  if not draws then return end
  plot.throughput({
    { series = "found", devices = 4, value = 90 }, { series = "found", devices = 1, value = 100 },
    { series = "found", devices = 4, value = 88, published = true },
    { series = "theirs", devices = 4, value = 70, published = true } }, "rates.svg", { ideal = true, note = "a # note" })
  local text = table_of "rates.svg"
  local function has(what) assert(text:find(what, 1, true), what .. " is not in\n" .. text) end
  has "entry\tfound\tboth plain\t0\t0\n"
  has "entry\ttheirs\tboth published\t1\t0\n"
  has "entry\tpublished\tboth published\t-1\t0\n"
  has "entry\tideal\tlines pale\t-1\t0\n"
  has "point\t\t-\t1\t100\n0\t4\tpoint\t\t-\t4\t90\n" -- in order of devices
  has "note\ta # note\t"
  equal(count(text, "\tpoint\t"), 6)
end)

claim("an axis of powers of two goes by them", function()
  if not draws then return end
  local series = { { x = { 1, 2, 8 }, y = { 3, 0 / 0, 5 } } }
  plot.lines(series, "lines.svg", { logx = true, xlabel = "devices" })
  local text = table_of "lines.svg"
  assert(text:find("x_axis\tdevices\tlog2\t", 1, true) and count(text, "\tpoint\t") == 2, text)
  series[1].x[2] = 3
  plot.lines(series, "lines.svg", { logx = true, ylabel = "y \\ \"z\"" })
  text = table_of "lines.svg"
  assert(text:find("x_axis\t\tlog\t", 1, true) and text:find("y \\\\ \\042z\\042", 1, true), text)
end)

-- Numbers below the axes of an SVG file, by how far down they stand: lists of { at, half their width }, in points of the file.
local function numbers_below(path)
  local file = assert(io.open(path))
  local rows = {}
  for x, y, size, text in file:read "a":gmatch 'translate%(([%d.]+),([%d.]+)%)"[^>]-font%-size="([%d.]+)"%s+text%-anchor="middle">%s*<text>([%d.]+[kM]?)<' do
    rows[y] = rows[y] or {}
    table.insert(rows[y], { at = tonumber(x), half = 0.3 * size * #text })
  end
  file:close()
  table_of(path)
  return rows
end

claim("an axis has numbers at a list of ticks, and nowhere else", function()
  local series = { { x = { 3.7, 4.3, 16.9 }, y = { 1, 2, 3 } } }
  fails("'ticks' should be a list of numbers, not a number", plot.lines, series, "no.svg", { ticks = 4 })
  fails("'ticks[2]' should be a number, not a text", plot.lines, series, "no.svg", { ticks = { 4, "x" } })
  fails("tick 2 is inf, which is nowhere", plot.lines, series, "no.svg", { ticks = { 4, 1 / 0 } })
  fails("tick 1 is 0, and that axis is logarithmic", plot.lines, series, "no.svg", { ticks = { 0 }, logx = true })
  if not draws then return end
  plot.lines(series, "lines.svg", { ticks = { 4, 8, 16, 64 }, logx = true, logy = true, from_y = 0.5 })
  for _, row in pairs(numbers_below "lines.svg") do equal(#row, 3) end -- 64 is beyond the axis
  plot.lines(series, "lines.svg", { ticks = { 4, 16 }, ticks_at_values = true })
  local file = assert(io.open "lines.svg")
  local text = file:read "a"
  file:close()
  table_of "lines.svg"
  assert(text:find("<text>4<", 1, true) and text:find("<text>16<", 1, true) and not text:find("<text>4.3<", 1, true), "numbers stand elsewhere")
end)

claim("numbers of an axis stand beside each other, and at least two of them", function()
  if not draws then return end
  local pairs_seen = 0
  for _, range in ipairs { { 12000, 470000 }, { 1.3, 47 }, { 0.0031, 0.42 }, { 1, 2 ^ 18 }, { 30, 4.1e6 } } do
    local panels, n = {}, 18
    for i = 1, 3 do
      panels[i] = { panel = "p" .. i, x = {}, y = {} }
      for k = 0, n do
        panels[i].x[k + 1], panels[i].y[k + 1] = range[1] * (range[2] / range[1]) ^ (k / n), 3 + k
      end
    end
    for _, logx in ipairs { true, false } do
      plot.lines(panels, "lines.svg", { logx = logx, columns = 3 })
      for _, row in pairs(numbers_below "lines.svg") do
        table.sort(row, function(a, b) return a.at < b.at end)
        assert(#row >= 6, #row .. " numbers below three panels")
        for i = 2, #row do
          assert(row[i].at - row[i].half > row[i - 1].at + row[i - 1].half, "numbers overlap from " .. range[1])
          pairs_seen = pairs_seen + 1
        end
      end
    end
  end
  assert(pairs_seen >= 50, pairs_seen)
end)

claim("numbers far from 1, without a unit, are drawn on any axis", function()
  if not draws then return end
  for _, x in ipairs { { 1e-6, 1e-5 }, { 3e-12, 8e-12 }, { 1e13, 7e15 }, { 1e-9, 0.02 } } do
    for _, o in ipairs { {}, { logx = true, logy = true }, { ticks_at_values = true } } do
      plot.lines({ { label = "a", x = x, y = { x[2], x[1] } } }, "lines.svg", o)
      local file = assert(io.open "lines.svg")
      local text = file:read "a"
      file:close()
      table_of "lines.svg"
      assert(count(text, "<text>[%d.]+e?[-+]?%d*[kM]?</text>") >= 4, "numbers of both axes")
    end
  end
end)

claim("a logarithmic axis has a number at its very end", function()
  if not draws then return end
  plot.lines({ { x = { 10, 70, 2000 }, y = { 1, 2, 3 } } }, "lines.svg", { logx = true, from_x = 10 })
  local file = assert(io.open "lines.svg")
  local text = file:read "a"
  file:close()
  table_of "lines.svg"
  assert(text:find("<text>10<", 1, true) and text:find("<text>100<", 1, true), "no number at 10")
end)

check.done()
