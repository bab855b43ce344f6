-- The tables of a comparison, which gradients are the same, and its JSON: of made up numbers.
local accuracy_report = require "soapstone.accuracy_report"
local check = require "check"
local others = require "soapstone.others"
local report = require "soapstone.report"

local claim, equal, contains = check.claim, check.equal, check.contains

local function row(name, gradients, timeline)
  return { name = name, class = "given", median = 2e-3, simulated = 1e-3, error = -0.5, repeatability = 0.1, first = 2e-3, second = 2e-3,
    steps = { 2e-3, 2.5e-3 }, tasks = #timeline, timeline = timeline, devices = {}, ideal = 1e-3,
    proof = gradients and { gradients = gradients, worst = { gradient = "w." .. name } } }
end

local function task(name, simulated, executed, operator)
  return { name = name, kind = operator and "forward" or "transfer", operator = operator, lane = "core1", simulated_start = 0.0, simulated = simulated,
    executed_start = 0.25, executed = executed }
end

local function made(rows)
  local c = { n = #rows, median = 0.5, q90 = 0.5, most = 0.5, mean = -0.5, mean_absolute = 0.5 }
  return { rows = rows, comparison = c, floor = c, without = { { name = "ideal", comparison = c } }, others = others.watch(function() end)(),
    kinds = { { name = "short", tasks = 1, simulated = 1.0, executed = 2.0, error = 0.5, bias = -0.5 },
      { name = "long", tasks = 2, simulated = 3.0, executed = 3.0, error = 0.0, bias = 0.0 }, { name = "none", tasks = 1, simulated = 0.0, executed = 0.0 } },
    devices = { { name = "core1", simulated_busy = 1.0, simulated_idle = 3.0, executed_busy = 3.0, executed_idle = 1.0 } },
    iterations = { { 0.0, 0.1 }, { -0.2, 0.0 } } }
end

local got = made { row("first", 2e-6, { task("a", 1e-3, 2e-3, "linear"), task("b", 5e-3, 1e-3) }), row("second", 3e-6, { task("c", 1e-3, 0.0) }) }

claim("gradients are the same up to a ten-thousandth of the tensor's largest number", function()
  local worst, wrong = accuracy_report.proofs(got)
  equal(worst.name, "second")
  equal(#wrong, 0)
  for _, off in ipairs { 1.001e-4, 0 / 0 } do
    worst, wrong = accuracy_report.proofs(made { row("good", 1e-4, {}), row("bad", off, {}), row("well", 0.0, {}) })
    equal(#wrong, 1)
    equal(wrong[1].name, "bad")
    equal(worst.name, "bad")
    contains(accuracy_report.proof_text(wrong[1]), "of the largest number of w.bad")
    contains(accuracy_report.text(made { row("bad", off, {}) }), "NOT THE SAME: bad")
  end
  worst, wrong = accuracy_report.proofs(made { row("unproven", nil, {}) })
  assert(worst == nil and #wrong == 0)
end)

claim("kinds go by what they take, tasks by how far they are off", function()
  local _, kinds = accuracy_report.kinds(got)
  equal(kinds[1][1] .. " " .. kinds[2][1] .. " " .. kinds[3][1], "long short none")
  equal(kinds[2][6], "-50.0 %")
  equal(kinds[3][6], "-")
  local _, tasks = accuracy_report.tasks(got, 2)
  equal(#tasks, 2)
  equal(tasks[1][2] .. tasks[2][2], "ba") -- 4 ms, then one of those of 1 ms
  equal(#select(2, accuracy_report.tasks(got, 10)), 3)
  contains(report.table(accuracy_report.devices(got)), "75.0 %")
  contains(report.table(accuracy_report.iterations(got)), "+10.0 %")
  local page = accuracy_report.page(got, { tasks = 3 })
  for _, part in ipairs { "off by", "busy share: executed", "step 2", "tasks that are furthest off", "is not known" } do contains(page, part) end
  assert(not accuracy_report.page(got):find "furthest off:")
end)

claim("JSON has every number, escapes texts, and says null of what is none", function()
  equal(accuracy_report.json { b = { 1, 2.5 }, a = 'x"\\\n\1', c = {} }, '{"a": "x\\"\\\\\\n\\u0001",\n"b": [1,\n2.5],\n"c": []}')
  equal(accuracy_report.json { 0 / 0, math.huge, true, accuracy_report.null }, "[null,\nnull,\ntrue,\nnull]")
  got.profile = { machine = "m", processor = "p", library = "l", wallclock = "w" }
  local text = accuracy_report.json(accuracy_report.data(got))
  for _, part in ipairs { '"kendall": null', '"others": null', '"executed_start_s": 0.25', '"steps_s": [0.002, 0.0025]', '"without_ideal_s": 0.001', '"gradients": {"most": 3e-06',
    '"worst_gradient": "w.first"', '"operator": null', '"processor": "p"' } do contains(text:gsub(",\n", ", "), part) end
end)

check.done()
