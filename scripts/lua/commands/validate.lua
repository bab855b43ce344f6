-- validate.lua - soapstone validate: simulated steps of strategies against executed ones, on this machine's cores.

local accuracy = require "soapstone.accuracy"
local accuracy_report = require "soapstone.accuracy_report"
local others = require "soapstone.others"
local report = require "soapstone.report"
local soapstone = require "soapstone"

local given = ...
local parts = require "scripts.lua.commands.parts".of(given)
local last, count = parts.last, parts.count

-- What is wrong with the command line is said before anything is measured.
if not given.model then soapstone.refuse "--model is missing" end
local path, folder, worst = last "profile", last "figures", count "tasks" or 0
given.profile = nil -- it need not be there yet, and is no table of costs to choose strategies by
if worst < 0 then soapstone.refuse("--tasks is %d; it must be at least 0", worst) end

local options = parts.read_options()
for _, part in ipairs { "topology", "chance" } do
  local name = next(options[part])
  if name then
    soapstone.refuse("--option %s.%s: steps are executed on cores of this machine, with its links and its luck", part, name)
  end
end
local names = given.strategy and parts.strategy_names {} or {}
local own = {} -- of the problem, as they were given: what an executed step does is accuracy.run's to say
for name, value in pairs(options.problem) do own[name] = value end
parts.take_cores(options)
local problem = parts.make_problem(options)
local strategies, notes = parts.make_strategies(problem, names, false)

-- Whether there is a folder to draw into, and who draws: minutes of measuring that then cannot be drawn are lost.
if folder then
  local trial = folder .. "/scatter.svg"
  soapstone.plot.lines({ { x = { 1, 2 }, y = { 1, 2 } } }, trial)
  os.remove(trial)
  os.remove(trial .. ".tsv")
end

local function there(name)
  local file = io.open(name, "rb")
  if file then file:close() end
  return file ~= nil
end

local known = path and there(path) and soapstone.profile.read(path) or nil
local got = accuracy.run {
  model = problem.model, strategies = #names > 0 and strategies or nil, each = count "each", train = count "train", devices = problem.topology.devices, problem = own,
  rounds = count "rounds", steps = count "steps", warmup = count "warmup", profile_rounds = count "profile-rounds", seed = count "seed",
  pinned = not given["not-pinned"], proof = given.proof and true or nil, known = known, progress = true,
}
local new = path and (not known or got.measured_times > 0 or #got.profile.streams > #known.streams)
if new then got.profile:write(path) end
if folder then accuracy_report.figures({ { name = problem.model.name, got = got } }, folder) end

if given.json then
  local data = accuracy_report.data(got)
  data.network = problem.model.name
  print(accuracy_report.json(data))
else
  print(problem.model)
  print(got.problem.topology)
  print()
  print(accuracy_report.page(got, { tasks = worst }))
  print()
  for _, line in ipairs(notes) do print(report.wrap(line, 100, 2)) end
  local results = {}
  for i, row in ipairs(got.rows) do results[i] = row.result end
  print(report.wrap("simulated: " .. report.assumptions(results), 100, 2))
  if path then print((new and "written: " or "left as it is: ") .. path) end
  if folder then print(("drawn: %s/scatter.svg, histogram.svg, gantt.svg"):format(folder)) end
end
local warning = others.warning(got.others)
if warning then io.stderr:write("soapstone: ", warning, "\n") end
local _, wrong = accuracy_report.proofs(got)
if #wrong > 0 then return 1 end
