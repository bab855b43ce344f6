-- roofline.lua - the constants of a device kind, fitted to what was measured on it and tested on what was left out.
--
--   local roofline = require "soapstone.roofline"
--   local got = roofline.fit { strategies = { a, b }, profile = profile, hold_out = 0.5 }
--   print(got, got.on_held_out.fitted.median, got.on_held_out.builtin.median)
--   local costs = soapstone.costs.roofline(got.constants)
--
-- soapstone.calibrate.roofline is the fit; here are its tables.  docs/decisions/0047-the-roofline-is-fitted-on-what-was-measured.md
-- says how it is fitted and what the times have to tell of a constant.

local report = require "soapstone.report"
local soapstone = require "soapstone"

local roofline = {}

local show = soapstone.unit.show

-- In the order in which they are always given, with their units; "" for shares.
local constants <const> = { { "launch", "s" }, { "flop_efficiency", "" }, { "conv_efficiency", "" }, { "conv_backward_efficiency", "" },
  { "operand_efficiency", "" }, { "memory_efficiency", "" }, { "half_flop", "FLOP" } }

local function percent(x) return ("%.1f %%"):format(100 * x) end
local function signed(x) return ("%+.1f %%"):format(100 * x) end
local function value(x, unit) return unit == "" and ("%.3g"):format(x) or show(x, unit) end

local meaning <const> = { fitted = "", kept = "not told: the built-in one", edge = "only that it is not the built-in one" }

-- A header and rows, as report.table takes them: constants, with their standard errors.
function roofline.rows(c)
  local rows = {}
  for i, of in ipairs(constants) do
    local name, unit = of[1], of[2]
    local error = c.errors[name]
    rows[i] = { name, value(c.constants[name], unit), error and value(error, unit) or "-", value(c.builtin[name], unit), meaning[c.told[name]] }
  end
  return { "constant", "value", "error", "built-in", "" }, rows
end

local function line(name, of, c) return { name, of, c.n, percent(c.median), percent(c.q90), signed(c.mean) } end

-- The same of how far times are off by them; q90: nine in ten are within that.
function roofline.error_rows(c)
  local rows = { line("fitted", "fitted", c.on_fitted.fitted), line("fitted", "built-in", c.on_fitted.builtin) }
  if c.on_held_out then
    rows[3], rows[4] = line("held out", "fitted", c.on_held_out.fitted), line("held out", "built-in", c.on_held_out.builtin)
  end
  return { "times", "constants", "number", "median error", "90 of 100", "mean" }, rows
end

-- How far off the times of the parts of some kind are that were held out (`held_out = true`) or fitted, by what they do: streams,
-- products, convolutions, convolutions backward.
function roofline.by_work(c, held_out)
  local measured, fitted, builtin, rows = {}, {}, {}, {}
  for _, part in ipairs(c.parts) do
    if part.held_out == held_out then
      measured[part.work], fitted[part.work], builtin[part.work] = measured[part.work] or {}, fitted[part.work] or {}, builtin[part.work] or {}
      table.insert(measured[part.work], part.measured)
      table.insert(fitted[part.work], part.fitted)
      table.insert(builtin[part.work], part.builtin)
    end
  end
  for _, work in ipairs { "streams", "products", "convolutions", "convolutions backward" } do
    if measured[work] then
      rows[#rows + 1] = line(work, "fitted", soapstone.compare(fitted[work], measured[work]))
      rows[#rows + 1] = line(work, "built-in", soapstone.compare(builtin[work], measured[work]))
    end
  end
  return { held_out and "held out" or "fitted", "constants", "number", "median error", "90 of 100", "mean" }, rows
end

function roofline.text(c)
  local outliers = c.outliers == 0 and "none is" or c.outliers == 1 and "1 is" or c.outliers .. " are"
  local text = ("of %d times that were fitted %s far off the others; a time is off by %s in the deviation"):format(c.on_fitted.fitted.n, outliers,
    percent(c.spread))
  if c.unknown > 0 then text = ("%s; %d time%s not known and left out"):format(text, c.unknown, c.unknown == 1 and " was" or "s were") end
  return text
end

local function text_of(c)
  return ("roofline of %s\n%s\n\n%s\n\n%s\n\n%s"):format(c.kind, report.table(roofline.rows(c)), report.table(roofline.error_rows(c)),
    report.table(roofline.by_work(c, c.on_held_out ~= nil)), roofline.text(c))
end

-- As soapstone.calibrate.roofline, and prints a page; names that are not in it are refused as there.
function roofline.fit(o)
  local got = soapstone.calibrate.roofline(o)
  return setmetatable(got, { __index = getmetatable(got).__index, __tostring = text_of })
end

return roofline
