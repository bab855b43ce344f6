-- calibrate.lua - soapstone calibrate: latency, bandwidth and half size from measured times.

local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local report = require "soapstone.report"

local given = ...
local path = given[1]
local parts = require "scripts.lua.commands.parts".of(given)
local show = soapstone.unit.show

-- What the command line says completes what the table says, and does not contradict it.
local function complete(curve, name, value)
  if value == nil then return end
  if curve[name] and curve[name] ~= value then
    soapstone.refuse("--%s %s: the table says %s of %s", name, value, curve[name], curve.name)
  end
  curve[name] = value
end

local function called(curve)
  return curve.name ~= "" and curve.name or path
end

local function choose(curves)
  local wanted = parts.last "curve"
  if not wanted then return curves end
  local chosen, names = {}, {}
  for _, curve in ipairs(curves) do
    names[#names + 1] = curve.name
    if curve.name == wanted then chosen[#chosen + 1] = curve end
  end
  if #chosen == 0 then
    local near = soapstone.nearest(wanted, names)
    if #names == 1 and names[1] == "" then
      soapstone.refuse("%s has no curve '%s': it has one, without a name, so that --curve is not needed", path, wanted)
    end
    soapstone.refuse("%s has no curve '%s'%s", path, wanted, near and ("; did you mean '%s'?"):format(near) or
      (": %d curve%s, the first is '%s'"):format(#names, #names == 1 and "" or "s", names[1]))
  end
  return chosen
end

-- What is wrong with the command line is said before anything is computed or printed.
local width, ranks = tonumber(parts.last "width"), parts.count "ranks"
if given.width then
  if not given.output then soapstone.refuse "--width is of the figure: give --output FILE too" end
  if not (width and width >= 1 and width <= 40) then
    soapstone.refuse("--width should be a number of inches from 1 to 40, not '%s'", parts.last "width")
  end
end
if ranks and ranks < 1 then soapstone.refuse("--ranks is %d; it must be at least 1", ranks) end

local curves, skipped, other_rates = soapstone.calibrate.read(path, { columns = parts.columns() })
curves = choose(curves)
local fits, refused = {}, {}
for _, curve in ipairs(curves) do
  complete(curve, "operation", parts.last "operation")
  complete(curve, "algorithm", parts.last "algorithm")
  complete(curve, "ranks", ranks)
  curve.chunks = parts.count "chunks"
  curve.least_squares = given["least-squares"] or false
  curve.name = called(curve)
  local ok, fit = pcall(soapstone.calibrate.fit, curve)
  if ok then
    fits[#fits + 1] = fit
  else
    refused[#refused + 1] = fit:match "calibrate%.fit: (.*)$" or error(fit, 0)
  end
end
if #fits == 0 then
  local why = refused[1]
  if why:sub(1, #path + 2) ~= path .. ": " then why = path .. ": " .. why end
  soapstone.refuse("%s", why)
end
if given.output and #fits > 1 then
  soapstone.refuse("--output: the table has %d curves; --curve NAME chooses the one to draw, such as '%s'", #fits, fits[1].name)
end

local function percent(x)
  return ("%.1f"):format(100 * x)
end

-- All rows of all curves together.
local function add_up(field)
  local errors = {}
  for _, fit in ipairs(fits) do
    for _, row in ipairs(fit.rows) do
      if row[field] then errors[#errors + 1] = math.abs(row[field]) end
    end
  end
  table.sort(errors)
  return errors
end

local function tell_several()
  local rows = {}
  for i, fit in ipairs(fits) do
    rows[i] = { fit.name, #fit.rows, fit.latency and show(fit.latency, "s") or "-", show(fit.bandwidth, "B/s"),
      show(fit.half_size, "B"), percent(fit.line.median), percent(fit.line.p90), fit.outliers,
      fit.left_out.rows > 0 and percent(fit.left_out.median) or "-", fit.left_out.rows > 0 and percent(fit.left_out.p90) or "-",
      fit.bent and "bent" or "" }
  end
  print(report.table({ "curve", "rows", "latency", "bandwidth", "half size", "line off by %", "p90 %", "far off",
    "curve off by %", "p90 %", "" }, rows))
  local line, curve = add_up "error", add_up "left_out"
  print(("%d curves, %d rows: the lines are off by %s %% in the median, %s %% at the 90th percentile")
    :format(#fits, #line, percent(trial.quantile(line, 0.5)), percent(trial.quantile(line, 0.9))))
  if #curve > 0 then
    print(("the measured curves, each size left out in turn (%d rows): %s %% and %s %%")
      :format(#curve, percent(trial.quantile(curve, 0.5)), percent(trial.quantile(curve, 0.9))))
  end
  print "bent: no line is the shape of these times; a page of one, with what that means, is printed with --curve NAME"
end

if given.json then
  local texts = {}
  for i, fit in ipairs(fits) do texts[i] = fit:json() end
  print("[" .. table.concat(texts, ",\n") .. "]")
elseif #fits == 1 and #curves == 1 then
  io.write(tostring(fits[1]))
else
  tell_several()
end
local function also(format, ...)
  (given.json and io.stderr or io.stdout):write(format:format(...), "\n")
end
for i = 1, math.min(#refused, 5) do also("not fitted: %s", refused[i]) end
if #refused > 5 then also("and %d more curves", #refused - 5) end
if skipped > 0 then also("%d row%s without a size or a time left out", skipped, skipped == 1 and "" or "s") end
if other_rates > 0 then
  also("%d row%s with a bandwidth that is not its bytes over its seconds: the seconds count", other_rates,
    other_rates == 1 and "" or "s")
end
if given.output then
  soapstone.plot.calibration(fits[1], parts.last "output", { width = width })
  also("%s", parts.last "output")
end
