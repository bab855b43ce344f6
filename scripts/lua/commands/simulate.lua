-- simulate.lua - soapstone simulate: one step of a model, or of a bare task graph.

local soapstone = require "soapstone"
local report = require "soapstone.report"

local given = ...
local parts = require "scripts.lua.commands.parts".of(given)
local last, refuse_with, value_of = parts.last, parts.refuse_with, parts.value_of

-- Strategies, their results, and a line for each that does not fit.
local function simulate_all(problem, names, all)
  local made, results, notes = {}, {}, {}
  for i, name in ipairs(names) do
    soapstone.progress(("simulating %s (%d of %d)"):format(name, i, #names))
    local fits, strategy, note = pcall(parts.make_strategy, problem, name)
    if not fits and not all then error(strategy, 0) end
    if fits then
      made[#made + 1] = strategy
      results[#results + 1] = problem:simulate(strategy)
      notes[#notes + 1] = note
    else
      notes[#notes + 1] = ("without %s: %s"):format(name, strategy)
    end
  end
  soapstone.progress()
  return made, results, notes
end

local function print_json(results)
  local texts = {}
  for i, r in ipairs(results) do texts[i] = r:json():gsub("%s+$", "") end
  print("[" .. table.concat(texts, ",\n") .. "]")
end

local function print_table(problem, results, notes)
  print(problem.model)
  print(problem.topology)
  print()
  print(report.compare(results))
  for _, line in ipairs(notes) do print(report.wrap(line, 100, 2)) end
  print()
  print(report.wrap("assumptions: " .. report.assumptions(results), 100, 2))
end

-- Into how many pieces says nothing of what is not cut.
local function refuse_idle_limit(segment)
  if given["max-segments"] and segment == nil then
    soapstone.refuse "--max-segments is for messages that are cut: give --segment SIZE too"
  end
end

-- What can be said in a word of its own as well as by --option.
local function take_over(problem)
  for _, name in ipairs { "links", "segment", "max-segments" } do
    local option = name:gsub("-", "_")
    if given[name] and problem[option] ~= nil then
      soapstone.refuse("--%s and --option %s=... say the same: give one of them", name, option)
    end
    if given[name] then
      problem[option] = name == "max-segments" and parts.count(name) or value_of(last(name))
    end
  end
  refuse_idle_limit(problem.segment)
end

-- The strategies again and again; those that do not fit are passed over if nobody asked for them.
local function simulate_repeatedly(problem, names, all)
  refuse_with("--repetitions", { "record" })
  local made, notes = parts.make_strategies(problem, names, all)
  local r = problem:repetitions(made, { n = parts.count "repetitions" })
  if given.json then
    io.write(r:json())
    return
  end
  print(problem.model)
  print(problem.topology)
  print()
  print(r)
  for _, line in ipairs(notes) do print(report.wrap(line, 100, 2)) end
end

local function simulate_model()
  refuse_with("--model", { "dag" })
  if not given.model then soapstone.refuse("--model is missing (or --dag)") end
  if not given.topology then soapstone.refuse("--topology is missing") end
  local options = parts.read_options()
  take_over(options.problem)
  local names, all = parts.strategy_names { "data_parallel", "model_parallel", "expert_cnn", "expert_rnn" }
  if given["by-name"] and (all or not table.concat(names, " "):find "[./]") then
    soapstone.refuse("--by-name is for strategies from files: --strategy FILE")
  end
  local problem = parts.make_problem(options)
  if given.repetitions then return simulate_repeatedly(problem, names, all) end
  local made, results, notes = simulate_all(problem, names, all)
  if given.json then
    print_json(results)
  elseif #results == 1 then
    print(results[1])
    for _, line in ipairs(notes) do print(report.wrap(line, 100, 2)) end
  else
    print_table(problem, results, notes)
  end
  if given.costs and not given.json then
    print()
    io.write(problem:costs_report())
  end
  if given.record then
    soapstone.record(last "record", { problem = problem, results = results, strategies = made,
                                      files = parts.own_files() })
  end
end

local function simulate_dag()
  refuse_with("--dag", { "model", "topology", "strategy", "by-name", "option", "costs", "record", "repetitions", "seed" })
  refuse_idle_limit(given.segment)
  local result, finish = soapstone.dag.simulate(last "dag", {
    links = last "links", segment = last "segment",
    max_segments = given["max-segments"] and value_of(last "max-segments"),
  })
  local lines = {}
  if given.json then
    local exact = require("soapstone.unit").exact
    for i, t in ipairs(finish) do lines[i] = exact(t) end
    print(('{"makespan": %s, "finish": [%s]}'):format(exact(result.step_time), table.concat(lines, ", ")))
    return
  end
  print(("makespan %.12g s"):format(result.step_time))
  for i, t in ipairs(finish) do lines[i] = ("%d\t%.12g"):format(i - 1, t) end
  print("task\tfinish_s")
  print(table.concat(lines, "\n"))
end

if given.dag then simulate_dag() else simulate_model() end
