-- accuracy.lua - simulated step times against executed ones, of five networks on two cores of this machine: make validation.
--
--   soapstone run validation/accuracy.lua [FOLDER] [--each 3] [--rounds 24] [--steps 3] [--seed 1] [--networks mlp,lenet] [--figures false]
--
-- Writes into FOLDER: report.html with the figures in it, accuracy.json with every number, a profile of each network (HDF5) and
-- the figures.  Strategies are drawn by class and nothing is fitted to them (what steps do to tasks is learnt from others); docs/accuracy.md says what came of it once, and
-- what that means.  Each strategy is proven: its gradients are those of the whole model, or the status is 1.

local accuracy = require "soapstone.accuracy"
local accuracy_report = require "soapstone.accuracy_report"
local arguments = require "soapstone.arguments"
local correction = require "soapstone.correction"
local options = require "soapstone.options"
local others = require "soapstone.others"
local report = require "soapstone.report"
local roofline = require "soapstone.roofline"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"

local show = soapstone.unit.show

-- As many rounds as take about half a minute, two for the largest.
local known = {
  { name = "mlp", rounds = 24, options = { batch = 64, layers = 4, width = 512 } },
  { name = "lenet", rounds = 24, options = { batch = 64 } },
  { name = "alexnet", rounds = 8, options = { batch = 8, image = 67, classes = 100 } },
  { name = "gpt", rounds = 24, options = { batch = 4, layers = 2, hidden = 128, heads = 4, sequence = 64, vocab = 500 } },
  { name = "rnnlm", rounds = 24, options = { batch = 16, hidden = 128, layers = 2, vocab = 500, steps = 16, steps_per_op = 4 } },
}

local o = arguments.read(arg, "Simulated step times against executed ones, of networks on two cores of this machine.", {
  each = options.count(3, { min = 1, max = 100 }), rounds = options.count(0, { min = 0, max = 1000 }), steps = options.count(3, { min = 1, max = 100 }),
  profile_rounds = options.count(0, { min = 0, max = 10000 }), seed = options.count(1, { min = 0 }), networks = "all", pinned = true, figures = true,
})
local folder = o.folder

local function percent(x) return ("%.1f %%"):format(100 * x) end
local function signed(x) return ("%+.1f %%"):format(100 * x) end
local header <const>, row_of = accuracy_report.header, accuracy_report.line

-- -- running -------------------------------------------------------------------------------------------------

local done, rows = {}, {}
local simulated, executed, first, second, by_class, without = {}, {}, {}, {}, {}, {}
for _, network in ipairs(arguments.some("networks", o.networks, known)) do
  local rounds = o.rounds > 0 and o.rounds or network.rounds
  local got = accuracy.run { model = require("models." .. network.name)(network.options), each = o.each, rounds = rounds, steps = o.steps,
    profile_rounds = o.profile_rounds > 0 and o.profile_rounds or 2 * rounds, seed = o.seed, pinned = o.pinned, proof = true, progress = true }
  got.profile:write(("%s/%s.profile.h5"):format(folder, network.name))
  print(network.name)
  print(accuracy_report.page(got))
  print()
  local warning = others.warning(got.others)
  if warning then io.stderr:write(network.name, ": ", warning, "\n") end
  done[#done + 1], rows[#rows + 1] = { name = network.name, got = got }, row_of(network.name, got.comparison, got.floor)
  for _, row in ipairs(got.rows) do
    table.insert(simulated, row.simulated)
    table.insert(executed, row.median)
    table.insert(first, row.first)
    table.insert(second, row.second)
    by_class[row.class] = by_class[row.class] or { simulated = {}, executed = {} }
    table.insert(by_class[row.class].simulated, row.simulated)
    table.insert(by_class[row.class].executed, row.median)
    for _, switch in ipairs(got.without) do
      without[switch.name] = without[switch.name] or { simulated = {}, executed = {} }
      table.insert(without[switch.name].simulated, row[switch.name])
      table.insert(without[switch.name].executed, row.median)
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
  local of = without[switch.name] -- nothing where no network has it
  local c = of and soapstone.compare(of.simulated, of.executed)
  if c then
    switches[#switches + 1] = { switch.name, percent(c.median), percent(c.q90), signed(c.mean), c.kendall and ("%.2f"):format(c.kendall) or "-" }
  end
end
print(report.table(header, rows))
print()
print(report.table({ "class", "strategies", "median error", "90 of 100", "mean" }, classes))
print()
print(report.table({ "without", "median error", "90 of 100", "mean", "tau" }, switches))

-- Strategies that interference moves by a hundredth or more: those that wait for memory while others do.
local moved, with, without_it = {}, {}, {}
for _, one in ipairs(done) do
  for _, row in ipairs(one.got.rows) do
    local off = row.interference / row.median - 1
    if math.abs(row.error - off) >= 0.01 then
      moved[#moved + 1] = { one.name, row.name, show(row.median, "s"), signed(off), signed(row.error) }
      with[#with + 1], without_it[#without_it + 1] = math.abs(row.error), math.abs(off)
    end
  end
end
local moved_header <const> = { "network", "strategy", "executed", "off by without interference", "with it" }
local moved_text = #moved == 0 and "interference moves no strategy by a hundredth" or
  ("interference moves %d strategies by a hundredth or more: their median error is %s with it, %s without"):format(#moved, percent(trial.median(with)),
    percent(trial.median(without_it)))
print()
if #moved > 0 then print(report.table(moved_header, moved)) end
print(moved_text)

-- -- gradients -----------------------------------------------------------------------------------------------

local proofs, wrong = {}, {}
for i, one in ipairs(done) do
  local worst, off = accuracy_report.proofs(one.got)
  proofs[i] = { one.name, #one.got.rows, ("%.2g"):format(worst.proof.gradients), worst.name, worst.proof.worst.gradient or "-" }
  for _, row in ipairs(off) do wrong[#wrong + 1] = one.name .. ", " .. accuracy_report.proof_text(row) end
end
local proof_header <const> = { "network", "strategies", "gradients off by", "in strategy", "of the largest number of" }
print()
print(report.table(proof_header, proofs))

-- -- files ---------------------------------------------------------------------------------------------------

if o.figures then accuracy_report.figures(done, folder) end
local function path(name) return folder .. "/" .. name end

local networks, lines, busy = {}, {}, {}
for i, one in ipairs(done) do
  networks[i] = accuracy_report.together_data(one.got)
  networks[i].network = one.name
  for _, row in ipairs(one.got.rows) do
    local line = accuracy_report.strategy_data(one.got, row)
    line.network = one.name
    lines[#lines + 1] = line
  end
  busy[i] = { one.name, tostring(one.got.others) }
end
local p = done[1].got.profile
local data = accuracy_report.machine_data(p)
data.all, data.floor = accuracy_report.comparison_data(all), accuracy_report.comparison_data(floor)
data.networks, data.strategies = networks, lines
accuracy_report.write_file(path "accuracy.json", accuracy_report.json(data) .. "\n")

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
  if not o.figures then return "" end
  local text = accuracy_report.read_file(path(name))
  return ("<figure>%s<figcaption>%s</figcaption></figure>"):format(text:sub((text:find "<svg")), escaped(caption))
end

-- Tables of all networks, one below the other, with the network in front.
local function together(table_of)
  local head, body
  for _, one in ipairs(done) do
    local of, its = table_of(one.got)
    head, body = table.move(of, 1, #of, 2, { "network" }), body or {}
    for _, row in ipairs(its) do body[#body + 1] = table.move(row, 1, #row, 2, { one.name }) end
  end
  return html_table(head, body)
end

local function learnt_tables()
  local parts = { together(function(got) return correction.rows(got.correction) end), "<p>" }
  for _, one in ipairs(done) do parts[#parts + 1] = ("%s: %s<br>"):format(one.name, escaped(correction.text(one.got.correction))) end
  return table.concat(parts) .. "</p>"
end

local function roofline_tables()
  local parts = {}
  for _, one in ipairs(done) do
    if one.got.roofline then parts[#parts + 1] = ("<p>%s</p>%s"):format(one.name, html_table(roofline.rows(one.got.roofline))) end
  end
  return table.concat(parts)
end

local worst, whose = accuracy_report.furthest(done)
local trusted = math.max(all.q90, floor.q90)
accuracy_report.write_file(path "report.html", table.concat({
  "<!doctype html><meta charset=utf-8><title>Simulated against executed</title>",
  "<style>body{font-family:sans-serif;max-width:60em;margin:2em auto}td,th{padding:.1em .6em;text-align:right}td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto}</style>",
  "<h1>Simulated against executed</h1>",
  ("<p>%s strategies of %d networks on two cores of %s (%s; %s), %s. Errors are simulated / executed - 1; nothing was fitted to these strategies.</p>"):format(all.n, #done,
    escaped(p.processor), escaped(p.machine), escaped(p.library), p.wallclock),
  ("<p><b>What it means:</b> nine in ten strategies are within %s of what was executed. Differences between strategies below that are not to be trusted on this machine; the machine itself repeats steps within %s in nine of ten.</p>"):format(
    percent(trusted), percent(floor.q90)),
  html_table(header, rows), "<h2>By class of strategy</h2>", html_table({ "class", "strategies", "median error", "90 of 100", "mean" }, classes),
  "<h2>What each assumption is worth</h2><p>The same with one thing left out.</p>", html_table({ "without", "median error", "90 of 100", "mean", "tau" }, switches),
  "<h2>Interference</h2>", ("<p>%s</p>"):format(moved_text), #moved > 0 and html_table(moved_header, moved) or "",
  "<h2>What steps do to their tasks</h2><p>Learnt from strategies of other draws, and taken into account in those that are compared.</p>", learnt_tables(),
  "<h2>Rooflines</h2><p>Constants of a core, fitted to what the strategies need from which was learnt. They are not used where times were measured.</p>", roofline_tables(),
  figure("scatter.svg", "Each point is a strategy."), figure("histogram.svg", "Errors of all strategies."),
  "<h2>Furthest off</h2>", ("<p>%s, %s: %s</p>"):format(escaped(whose), escaped(worst.name), signed(worst.error)),
  figure("gantt.svg", "The executed step above the simulated one, with one axis of time."),
  "<h2>By kind of task</h2><p>Seconds added up over all strategies, each task in the median of its steps.</p>", together(accuracy_report.kinds),
  "<h2>By device</h2><p>Seconds added up over all strategies.</p>", together(accuracy_report.devices),
  "<h2>By step</h2><p>Each step against its strategy's median, in the median of all strategies, in the order in which they ran: a machine that drifts shows here.</p>",
  together(accuracy_report.iterations),
  "<h2>Gradients</h2><p>How far they are from those of the whole model at most, of the largest number of their tensor.</p>", html_table(proof_header, proofs),
  "<h2>The machine meanwhile</h2>", html_table({ "network", "who else had its cores" }, busy),
}, "\n"))
print()
local disturbed = {}
for _, one in ipairs(done) do
  if one.got.others.busy then disturbed[#disturbed + 1] = ("; while %s ran, %s"):format(one.name, tostring(one.got.others)) end
end
print(("result: %d strategies of %d network%s are %s off in the median, %s in nine of ten, %s on average, in an order of tau %s; the machine repeats itself within %s%s"):format(all.n,
  #done, #done == 1 and "" or "s", percent(all.median), percent(all.q90), signed(all.mean), all.kendall and ("%.2f"):format(all.kendall) or "-",
  percent(floor.median), table.concat(disturbed)))
if #wrong > 0 then
  io.stderr:write("gradients are NOT those of the whole model:\n  ", table.concat(wrong, "\n  "), "\n")
  os.exit(1, true)
end
