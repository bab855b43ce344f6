-- accuracy.lua - simulated step times against executed ones, of five networks on two cores of this machine: make validation.
--
--   soapstone run validation/accuracy.lua [FOLDER] [--each 3] [--rounds 4] [--steps 5] [--seed 1] [--networks mlp,lenet]
--
-- Writes into FOLDER: report.html with the figures in it, accuracy.json with every number, a profile of each network (HDF5) and
-- the figures.  Strategies are drawn by class and nothing is fitted to them; docs/accuracy.md says what came of it once, and
-- what that means.

local accuracy = require "soapstone.accuracy"
local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local exact, show = require("soapstone.unit").exact, soapstone.unit.show

local known = {
  { name = "mlp", options = { batch = 64, layers = 4, width = 512 } },
  { name = "lenet", options = { batch = 64 } },
  { name = "alexnet", options = { batch = 8, image = 67, classes = 100 } },
  { name = "gpt", options = { batch = 4, layers = 2, hidden = 128, heads = 4, sequence = 64, vocab = 500 } },
  { name = "rnnlm", options = { batch = 16, hidden = 128, layers = 2, vocab = 500, steps = 16, steps_per_op = 4 } },
}

local o = arguments.read(arg, "Simulated step times against executed ones, of networks on two cores of this machine.", {
  each = options.count(3, { min = 1, max = 100 }), rounds = options.count(4, { min = 2, max = 100 }), steps = options.count(5, { min = 1, max = 100 }),
  profile_rounds = options.count(15, { min = 1, max = 10000 }), seed = options.count(1, { min = 0 }), networks = "all", pinned = true,
})
local folder = o.folder

local function percent(x) return ("%.1f %%"):format(100 * x) end
local function signed(x) return ("%+.1f %%"):format(100 * x) end
local function row_of(name, c, f)
  return { name, c.n, percent(c.median), percent(c.q90), percent(c.most), signed(c.mean), c.kendall and ("%.2f"):format(c.kendall) or "-",
    c.spearman and ("%.2f"):format(c.spearman) or "-", percent(f.median), percent(f.q90) }
end
local header <const> = { "network", "strategies", "median error", "90 of 100", "largest", "mean", "tau", "rho", "repeated: median", "90 of 100" }

-- -- running -------------------------------------------------------------------------------------------------

local done, rows = {}, {}
local simulated, executed, first, second, by_class, without = {}, {}, {}, {}, {}, {}
for _, network in ipairs(arguments.some("networks", o.networks, known)) do
  local got = accuracy.run { model = require("models." .. network.name)(network.options), each = o.each, rounds = o.rounds, steps = o.steps,
    profile_rounds = o.profile_rounds, seed = o.seed, pinned = o.pinned, progress = true }
  got.name = network.name
  got.profile:write(("%s/%s.profile.h5"):format(folder, network.name))
  print(network.name)
  print(got)
  print()
  done[#done + 1], rows[#rows + 1] = got, row_of(network.name, got.comparison, got.floor)
  for _, row in ipairs(got.rows) do
    table.insert(simulated, row.simulated)
    table.insert(executed, row.median)
    table.insert(first, row.first)
    table.insert(second, row.second)
    by_class[row.class] = by_class[row.class] or { simulated = {}, executed = {} }
    table.insert(by_class[row.class].simulated, row.simulated)
    table.insert(by_class[row.class].executed, row.median)
    for _, switch in ipairs(accuracy.switches) do
      without[switch.name] = without[switch.name] or {}
      table.insert(without[switch.name], row[switch.name])
    end
  end
end

local all, floor = soapstone.compare(simulated, executed), soapstone.compare(first, second)
rows[#rows + 1] = row_of("all", all, floor)
local classes, switches = {}, {}
for _, class in ipairs(accuracy.classes) do
  local of = by_class[class]
  if of then
    local c = soapstone.compare(of.simulated, of.executed)
    classes[#classes + 1] = { class, c.n, percent(c.median), percent(c.q90), signed(c.mean) }
  end
end
for _, switch in ipairs(accuracy.switches) do
  local c = soapstone.compare(without[switch.name], executed)
  switches[#switches + 1] = { switch.name, percent(c.median), percent(c.q90), signed(c.mean), c.kendall and ("%.2f"):format(c.kendall) or "-" }
end
print(report.table(header, rows))
print()
print(report.table({ "class", "strategies", "median error", "90 of 100", "mean" }, classes))
print()
print(report.table({ "without", "median error", "90 of 100", "mean", "tau" }, switches))

-- -- figures -------------------------------------------------------------------------------------------------

local function path(name) return folder .. "/" .. name end
local series, least, most = {}, math.huge, 0
for i, got in ipairs(done) do
  local line = { label = got.name, x = {}, y = {}, look = "points", colour = i }
  for k, row in ipairs(got.rows) do
    line.x[k], line.y[k] = row.median, row.simulated
    least, most = math.min(least, row.median, row.simulated), math.max(most, row.median, row.simulated)
  end
  series[i] = line
end
for _, band in ipairs { { 1, "as executed" }, { 1.1, "10 % off" }, { 1 / 1.1 } } do
  series[#series + 1] = { label = band[2], x = { least / 1.2, most * 1.2 }, y = { band[1] * least / 1.2, band[1] * most * 1.2 }, look = "lines",
    pale = band[1] ~= 1, colour = 8 }
end
soapstone.plot.lines(series, path "scatter.svg", { xlabel = "executed step", xunit = "s", ylabel = "simulated step", yunit = "s", logx = true, logy = true })

local bins, width = {}, 0.02
for i = 1, all.n do
  local bin = math.floor((simulated[i] / executed[i] - 1) / width + 0.5)
  bins[bin] = (bins[bin] or 0) + 1
end
local histogram = { label = "strategies", x = {}, y = {}, look = "steps", colour = 1 }
local low, high = math.huge, -math.huge
for bin in pairs(bins) do low, high = math.min(low, bin), math.max(high, bin) end
for bin = low - 1, high + 1 do
  table.insert(histogram.x, 100 * width * bin)
  table.insert(histogram.y, bins[bin] or 0)
end
soapstone.plot.lines({ histogram }, path "histogram.svg", { xlabel = "simulated / executed - 1 (%)", ylabel = "strategies", from_y = 0 })

-- The strategy that is furthest off, side by side.
local worst, whose = nil, nil
for _, got in ipairs(done) do
  for _, row in ipairs(got.rows) do
    if not worst or math.abs(row.error) > math.abs(worst.error) then worst, whose = row, got.name end
  end
end
soapstone.plot.gantt(worst.measured, path "worst_executed.svg", { width = 7 })
soapstone.plot.gantt(worst.result, path "worst_simulated.svg", { width = 7 })

-- -- files ---------------------------------------------------------------------------------------------------

local function json_of(c)
  return ('{"n": %d, "median": %s, "q90": %s, "most": %s, "mean": %s, "mean_absolute": %s, "kendall": %s, "spearman": %s}'):format(c.n, exact(c.median),
    exact(c.q90), exact(c.most), exact(c.mean), exact(c.mean_absolute), c.kendall and exact(c.kendall) or "null", c.spearman and exact(c.spearman) or "null")
end

local function write(name, text)
  local file = assert(io.open(path(name), "w"))
  assert(file:write(text))
  assert(file:close())
end

local lines = {}
for _, got in ipairs(done) do
  for _, row in ipairs(got.rows) do
    local more = {}
    for _, switch in ipairs(accuracy.switches) do more[#more + 1] = (', "without_%s_s": %s'):format(switch.name, exact(row[switch.name])) end
    lines[#lines + 1] = ('  {"network": %q, "class": %q, "strategy": %q, "executed_s": %s, "simulated_s": %s, "repeatability": %s, "tasks": %d%s}'):format(got.name,
      row.class, row.name, exact(row.median), exact(row.simulated), exact(row.repeatability), row.tasks, table.concat(more))
  end
end
local p = done[1].profile
write("accuracy.json", ('{"machine": %q, "processor": %q, "library": %q, "wallclock": %q,\n "all": %s,\n "floor": %s,\n "strategies": [\n%s\n ]}\n'):format(p.machine,
  p.processor, p.library, p.wallclock, json_of(all), json_of(floor), table.concat(lines, ",\n")))

local function escaped(text) return (tostring(text):gsub("&", "&amp;"):gsub("<", "&lt;")) end
local function html_table(head, body)
  local out = { "<table><tr>" }
  for _, cell in ipairs(head) do out[#out + 1] = "<th>" .. escaped(cell) .. "</th>" end
  out[#out + 1] = "</tr>"
  for _, row in ipairs(body) do
    out[#out + 1] = "<tr>"
    for _, cell in ipairs(row) do out[#out + 1] = "<td>" .. escaped(cell) .. "</td>" end
    out[#out + 1] = "</tr>\n"
  end
  out[#out + 1] = "</table>"
  return table.concat(out)
end
local function figure(name, caption)
  local file <close> = assert(io.open(path(name)))
  local text = file:read "a"
  return ("<figure>%s<figcaption>%s</figcaption></figure>"):format(text:sub(text:find "<svg"), escaped(caption))
end

local kinds = {}
for _, got in ipairs(done) do
  for _, kind in ipairs(got.kinds) do
    kinds[#kinds + 1] = { got.name, kind.name, kind.tasks, show(kind.measured, "s"), show(kind.simulated, "s"),
      kind.measured > 0 and signed(kind.simulated / kind.measured - 1) or "-" }
  end
end
local trusted = math.max(all.q90, floor.q90)
write("report.html", table.concat({
  "<!doctype html><meta charset=utf-8><title>Simulated against executed</title>",
  "<style>body{font-family:sans-serif;max-width:60em;margin:2em auto}td,th{padding:.1em .6em;text-align:right}td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto}</style>",
  "<h1>Simulated against executed</h1>",
  ("<p>%s strategies of %d networks on two cores of %s (%s; %s), %s. Errors are simulated / executed - 1; nothing was fitted to these strategies.</p>"):format(all.n, #done,
    escaped(p.processor), escaped(p.machine), escaped(p.library), p.wallclock),
  ("<p><b>What it means:</b> nine in ten strategies are within %s of what was executed. Differences between strategies below that are not to be trusted on this machine; the machine itself repeats steps within %s in nine of ten.</p>"):format(
    percent(trusted), percent(floor.q90)),
  html_table(header, rows), "<h2>By class of strategy</h2>", html_table({ "class", "strategies", "median error", "90 of 100", "mean" }, classes),
  "<h2>What each assumption is worth</h2><p>The same with one thing left out.</p>", html_table({ "without", "median error", "90 of 100", "mean", "tau" }, switches),
  figure("scatter.svg", "Each point is a strategy."), figure("histogram.svg", "Errors of all strategies."),
  "<h2>Furthest off</h2>", ("<p>%s, %s: %s</p>"):format(escaped(whose), escaped(worst.name), signed(worst.error)),
  figure("worst_executed.svg", "Executed."), figure("worst_simulated.svg", "Simulated."),
  "<h2>By kind of task</h2><p>Seconds added up over all strategies.</p>", html_table({ "network", "kind", "tasks", "executed", "simulated", "off by" }, kinds),
}, "\n"))
print()
print(("result: %d strategies of %d networks are %s off in the median, %s in nine of ten, %s on average, in an order of tau %s; the machine repeats itself within %s"):format(all.n,
  #done, percent(all.median), percent(all.q90), signed(all.mean), all.kendall and ("%.2f"):format(all.kendall) or "-", percent(floor.median)))
