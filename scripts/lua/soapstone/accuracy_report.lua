-- accuracy_report.lua - what accuracy.run found: its tables, its figures, and all of it as JSON.
--
--   local accuracy_report = require "soapstone.accuracy_report"
--   print(accuracy_report.page(got, { tasks = 10 }))
--   accuracy_report.figures({ { name = "lenet", got = got } }, "figures")
--   print(accuracy_report.json(accuracy_report.data(got)))
--
-- A table is a header and rows, for a terminal (report.table) and for a page alike.

local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"

local exact, show = require("soapstone.unit").exact, soapstone.unit.show

local accuracy_report = {}

-- Gradients are the same if no number is further off than this, as a share of the largest number of its tensor: strategies add up
-- in other orders, in floats of 32 bits.
accuracy_report.same = 1e-4

local function percent(x) return ("%.1f %%"):format(100 * x) end
local function signed(x) return ("%+.1f %%"):format(100 * x) end
local function order(x) return x and ("%.2f"):format(x) or "-" end

-- -- tables --------------------------------------------------------------------------------------------------

function accuracy_report.strategies(got)
  local rows, proven = {}, got.rows[1] and got.rows[1].proof ~= nil
  for i, row in ipairs(got.rows) do
    rows[i] = { row.name, show(row.median, "s"), show(row.simulated, "s"), signed(row.error), percent(row.repeatability), row.tasks }
    if proven then table.insert(rows[i], ("%.2g"):format(row.proof.gradients)) end
  end
  return { "strategy", "executed", "simulated", "off by", "repeated", "tasks", proven and "gradients" or nil }, rows
end

-- Those that take the longest are the first.
function accuracy_report.kinds(got)
  local rows, kinds = {}, table.move(got.kinds, 1, #got.kinds, 1, {})
  table.sort(kinds, function(a, b) return a.executed > b.executed end)
  for i, kind in ipairs(kinds) do
    rows[i] = { kind.name, kind.tasks, show(kind.executed, "s"), show(kind.simulated, "s"), kind.error and percent(kind.error) or "-",
      kind.bias and signed(kind.bias) or "-" }
  end
  return { "kind", "tasks", "executed", "simulated", "median error", "off by" }, rows
end

local function part(seconds, other) return seconds + other > 0 and percent(seconds / (seconds + other)) or "-" end

function accuracy_report.devices(got)
  local rows = {}
  for i, d in ipairs(got.devices) do
    rows[i] = { d.name, show(d.executed_busy, "s"), show(d.simulated_busy, "s"), show(d.executed_idle, "s"), show(d.simulated_idle, "s"),
      part(d.executed_busy, d.executed_idle), part(d.simulated_busy, d.simulated_idle) }
  end
  return { "device", "busy: executed", "simulated", "idle: executed", "simulated", "busy share: executed", "simulated" }, rows
end

function accuracy_report.iterations(got)
  local header, rows = { "round" }, {}
  for round, steps in ipairs(got.iterations) do
    rows[round] = { round }
    for step, off in ipairs(steps) do header[step + 1], rows[round][step + 1] = "step " .. step, signed(off) end
  end
  return header, rows
end

-- The n tasks whose time is furthest off, in seconds.
function accuracy_report.tasks(got, n)
  local all, rows = {}, {}
  for _, row in ipairs(got.rows) do
    for _, task in ipairs(row.timeline) do all[#all + 1] = { row = row, task = task, off = math.abs(task.simulated - task.executed) } end
  end
  table.sort(all, function(a, b) return a.off > b.off end)
  for i = 1, math.min(n, #all) do
    local task = all[i].task
    rows[i] = { all[i].row.name, task.name, task.kind, task.lane, show(task.executed_start, "s"), show(task.executed, "s"),
      show(task.simulated_start, "s"), show(task.simulated, "s"), task.executed > 0 and signed(task.simulated / task.executed - 1) or "-" }
  end
  return { "strategy", "task", "kind", "device", "executed: from", "for", "simulated: from", "for", "off by" }, rows
end

-- One line for a network, and the header of such lines.
accuracy_report.header = { "network", "strategies", "median error", "90 of 100", "largest", "mean", "tau", "rho", "repeated: median", "90 of 100" }

function accuracy_report.line(name, c, f)
  return { name, c.n, percent(c.median), percent(c.q90), percent(c.most), signed(c.mean), order(c.kendall), order(c.spearman), percent(f.median),
    percent(f.q90) }
end

-- -- gradients -----------------------------------------------------------------------------------------------

-- The row whose gradients are furthest from those of the whole model, and all that are further than is the same; nil: none was proven.
function accuracy_report.proofs(got)
  local worst, most, wrong = nil, -1, {}
  for _, row in ipairs(got.rows) do
    local off = row.proof and row.proof.gradients or -1
    if off ~= off then off = math.huge end -- what is not a number is wrong too
    if off > most then worst, most = row, off end
    if off > accuracy_report.same then wrong[#wrong + 1] = row end
  end
  return worst, wrong
end

function accuracy_report.proof_text(row)
  return ("%s: gradients are %.2g off those of the whole model, of the largest number of %s"):format(row.name, row.proof.gradients,
    row.proof.worst.gradient or "no tensor")
end

-- -- text ----------------------------------------------------------------------------------------------------

function accuracy_report.text(got)
  local lines = { report.table(accuracy_report.strategies(got)), "" }
  local c, f = got.comparison, got.floor
  local function ranks(of) return of.kendall and (", tau %.2f, rho %.2f"):format(of.kendall, of.spearman) or "" end
  lines[#lines + 1] = ("error %s in the median, %s in 90 of 100, mean %s%s; the machine against itself %s and %s%s"):format(percent(c.median),
    percent(c.q90), signed(c.mean), ranks(c), percent(f.median), percent(f.q90), ranks(f))
  for _, switch in ipairs(got.without) do
    lines[#lines + 1] = ("  without %-14s %s in the median, mean %s"):format(switch.name, percent(switch.comparison.median), signed(switch.comparison.mean))
  end
  local worst, wrong = accuracy_report.proofs(got)
  if worst and #wrong == 0 then lines[#lines + 1] = "gradients of all are those of the whole model; furthest off, " .. accuracy_report.proof_text(worst) end
  for _, row in ipairs(wrong) do lines[#lines + 1] = "NOT THE SAME: " .. accuracy_report.proof_text(row) end
  lines[#lines + 1] = tostring(got.others)
  return table.concat(lines, "\n")
end

-- All tables, one after the other; { tasks = n }: the n worst tasks too.
function accuracy_report.page(got, o)
  local parts = { accuracy_report.text(got), "seconds of all strategies together, by kind:", report.table(accuracy_report.kinds(got)),
    "and by device:", report.table(accuracy_report.devices(got)), "each step against its strategy's median, in the median of all strategies:",
    report.table(accuracy_report.iterations(got)) }
  if got.correction then table.move({ "what steps do to tasks, learnt from other strategies:", tostring(got.correction) }, 1, 2, #parts + 1, parts) end
  local n = o and o.tasks or 0
  if n > 0 then table.move({ "tasks that are furthest off:", report.table(accuracy_report.tasks(got, n)) }, 1, 2, #parts + 1, parts) end
  return table.concat(parts, "\n\n")
end

-- -- JSON ----------------------------------------------------------------------------------------------------

accuracy_report.null = setmetatable({}, { __tostring = function() return "null" end })
local null = accuracy_report.null

local escape = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r" }
local function quoted(text)
  return '"' .. text:gsub('[%c"\\]', function(c) return escape[c] or ("\\u%04x"):format(c:byte()) end) .. '"'
end

-- Tables with a first entry, or empty ones, are lists; keys go in their order.  `lines` levels have a line for each entry.
local function encode(value, lines)
  if value == null then return "null" end
  if type(value) == "string" then return quoted(value) end
  if type(value) == "number" then
    if math.type(value) == "integer" then return tostring(value) end
    return value == value and math.abs(value) < math.huge and exact(value) or "null"
  end
  if type(value) ~= "table" then return tostring(value) end
  local parts, list = {}, value[1] ~= nil or next(value) == nil
  if list then
    for i, one in ipairs(value) do parts[i] = encode(one, lines - 1) end
  else
    for key, one in soapstone.pairs(value) do parts[#parts + 1] = quoted(key) .. ": " .. encode(one, lines - 1) end
  end
  local text = table.concat(parts, lines > 0 and ",\n" or ", ")
  return list and "[" .. text .. "]" or "{" .. text .. "}"
end

function accuracy_report.json(value) return encode(value, 3) end

local function comparison_data(c)
  return { n = c.n, median = c.median, q90 = c.q90, most = c.most, mean = c.mean, mean_absolute = c.mean_absolute, kendall = c.kendall or null,
    spearman = c.spearman or null }
end
accuracy_report.comparison_data = comparison_data

function accuracy_report.others_data(seen)
  if not seen.known then return null end
  return { seconds = seen.seconds, cores = seen.cores, taken = seen.taken, stolen = seen.stolen, throttled = seen.throttled, busy = seen.busy }
end

local function device_data(d)
  return { name = d.name, simulated_busy_s = d.simulated_busy, simulated_idle_s = d.simulated_idle, executed_busy_s = d.executed_busy,
    executed_idle_s = d.executed_idle }
end

local function each(list, data_of)
  local out = {}
  for i, one in ipairs(list) do out[i] = data_of(one) end
  return out
end

-- One strategy: numbers, and with { timeline = true } every task.
function accuracy_report.strategy_data(got, row, o)
  local data = { strategy = row.name, class = row.class, executed_s = row.median, simulated_s = row.simulated, error = row.error,
    repeatability = row.repeatability, first_s = row.first, second_s = row.second, steps_s = row.steps, tasks = row.tasks,
    devices = each(row.devices, device_data) }
  for _, switch in ipairs(got.without) do data["without_" .. switch.name .. "_s"] = row[switch.name] end
  if row.proof then data.gradients, data.worst_gradient = row.proof.gradients, row.proof.worst.gradient or null end
  if o and o.timeline then
    data.timeline = each(row.timeline, function(task)
      return { name = task.name, kind = task.kind, operator = task.operator or null, device = task.lane, simulated_start_s = task.simulated_start,
        simulated_s = task.simulated, executed_start_s = task.executed_start, executed_s = task.executed }
    end)
  end
  return data
end

-- Of a network: what is said of all its strategies together.
function accuracy_report.together_data(got)
  local worst = accuracy_report.proofs(got)
  return {
    comparison = comparison_data(got.comparison), floor = comparison_data(got.floor), others = accuracy_report.others_data(got.others),
    kinds = each(got.kinds, function(k)
      return { name = k.name, tasks = k.tasks, simulated_s = k.simulated, executed_s = k.executed, error = k.error or null, bias = k.bias or null }
    end),
    devices = each(got.devices, device_data), iterations = got.iterations,
    without = each(got.without, function(w) return { name = w.name, comparison = comparison_data(w.comparison) } end),
    correction = got.correction and { overhead_s = got.correction.overhead, interference = got.correction.interference,
      measured_interference = got.correction.measured_interference, factors = got.correction.factors, strategies = got.correction.strategies,
      tasks = got.correction.tasks } or null,
    gradients = worst and { most = worst.proof.gradients, strategy = worst.name, tensor = worst.proof.worst.gradient or null } or null,
  }
end

-- Where it was measured.
function accuracy_report.machine_data(profile)
  return { machine = profile.machine, processor = profile.processor, library = profile.library, wallclock = profile.wallclock }
end

-- Everything.
function accuracy_report.data(got)
  local data = accuracy_report.together_data(got)
  for name, value in pairs(accuracy_report.machine_data(got.profile)) do data[name] = value end
  data.strategies = each(got.rows, function(row) return accuracy_report.strategy_data(got, row, { timeline = true }) end)
  return data
end

-- -- figures -------------------------------------------------------------------------------------------------

-- A point for each strategy, on a bar from the quantile 0.05 to 0.95 of its executed steps, between lines that are a tenth off.
local function scatter(list, path)
  local series, least, most = {}, math.huge, 0
  for i, one in ipairs(list) do
    local points = { label = one.name, x = {}, y = {}, look = "points", colour = i }
    local bars = { x = {}, y = {}, look = "lines", pale = true, colour = i }
    for k, row in ipairs(one.got.rows) do
      local low, high = trial.quantile(row.steps, 0.05), trial.quantile(row.steps, 0.95)
      points.x[k], points.y[k] = row.median, row.simulated
      table.move({ low, high, high }, 1, 3, #bars.x + 1, bars.x)
      table.move({ row.simulated, row.simulated, 0 / 0 }, 1, 3, #bars.y + 1, bars.y)
      least, most = math.min(least, low, row.simulated), math.max(most, high, row.simulated)
    end
    table.move({ bars, points }, 1, 2, #series + 1, series)
  end
  for _, band in ipairs { { 1, "as executed" }, { 1.1, "10 % off" }, { 1 / 1.1 } } do
    series[#series + 1] = { label = band[2], x = { least / 1.2, most * 1.2 }, y = { band[1] * least / 1.2, band[1] * most * 1.2 }, look = "lines",
      pale = band[1] ~= 1, colour = 8 }
  end
  soapstone.plot.lines(series, path, { xlabel = "executed step", xunit = "s", ylabel = "simulated step", yunit = "s", logx = true, logy = true })
end

local function histogram(list, path)
  local bins, width, low, high = {}, 0.02, math.huge, -math.huge
  for _, one in ipairs(list) do
    for _, row in ipairs(one.got.rows) do
      local bin = math.floor(row.error / width + 0.5)
      bins[bin], low, high = (bins[bin] or 0) + 1, math.min(low, bin), math.max(high, bin)
    end
  end
  local steps = { label = "strategies", x = {}, y = {}, look = "steps", colour = 1 }
  for bin = low - 1, high + 1 do
    table.insert(steps.x, 100 * width * bin)
    table.insert(steps.y, bins[bin] or 0)
  end
  soapstone.plot.lines({ steps }, path, { xlabel = "simulated / executed - 1 (%)", ylabel = "strategies", from_y = 0 })
end

local function read_file(path)
  local file <close> = assert(io.open(path))
  return assert(file:read "a")
end

local function write_file(path, text)
  local file = assert(io.open(path, "w"))
  assert(file:write(text))
  assert(file:close())
end
accuracy_report.read_file, accuracy_report.write_file = read_file, write_file

-- The executed step above the simulated one, on one axis of time: PATH.svg, and both as PATH_executed.svg and PATH_simulated.svg.
local function gantt(row, path)
  local to = 1.02 * math.max(row.measured.step_time, row.result.step_time)
  local inner, width, height = {}, 0, 0
  for i, one in ipairs { { "executed", row.measured }, { "simulated", row.result } } do
    local name = ("%s_%s.svg"):format(path, one[1])
    soapstone.plot.gantt(one[2], name, { width = 7, from = 0, to = to })
    local text = read_file(name)
    local w, h = text:match '<svg%s[^>]-width="([%d.]+)', text:match '<svg%s[^>]-height="([%d.]+)'
    width = math.max(width, tonumber(w))
    inner[i] = ('<text x="4" y="%g" font-family="sans-serif" font-size="13">%s, %s</text>\n'):format(height + 14, one[1], show(one[2].step_time, "s"))
      .. text:sub((text:find "<svg")):gsub("^<svg", ('<svg x="0" y="%g"'):format(height + 18), 1)
    height = height + 18 + tonumber(h)
  end
  write_file(path .. ".svg", ('<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g">\n%s\n</svg>\n'):format(width, height,
    width, height, table.concat(inner, "\n")))
end

-- The row that is furthest off, and the name of whose it is.
function accuracy_report.furthest(list)
  local worst, whose
  for _, one in ipairs(list) do
    for _, row in ipairs(one.got.rows) do
      if not worst or math.abs(row.error) > math.abs(worst.error) then worst, whose = row, one.name end
    end
  end
  return worst, whose
end

-- scatter.svg, histogram.svg and gantt.svg (of the strategy that is furthest off) of a list of { name, got }, in a folder that is there.
function accuracy_report.figures(list, folder)
  scatter(list, folder .. "/scatter.svg")
  histogram(list, folder .. "/histogram.svg")
  gantt(accuracy_report.furthest(list), folder .. "/gantt")
end

return accuracy_report
