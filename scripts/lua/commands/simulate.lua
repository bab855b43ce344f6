-- simulate.lua - soapstone simulate: one step of a model, or of a bare task graph.

local soapstone = require "soapstone"
local report = require "soapstone.report"

local given = ...

local function last(name)
  return given[name] and given[name][#given[name]]
end

local function refuse_with(what, names)
  for _, name in ipairs(names) do
    if given[name] then soapstone.refuse("--%s does not go with %s", name, what) end
  end
end

-- "4" -> 4, "true" -> true, everything else is text.
local function value_of(text)
  if text == "true" or text == "false" then return text == "true" end
  return math.tointeger(text) or tonumber(text) or text
end

-- What other options of the command give, and what is meant by -o model=3.
local elsewhere = {
  model = "the model is given by --model, its options are model.NAME=VALUE",
  topology = "the topology is given by --topology, its options are topology.NAME=VALUE",
  costs = "measured times are given by --costs FILE",
}

-- --option model.batch=64: tables of options by what they are for.
local function read_options()
  local options = { model = {}, topology = {}, problem = {} }
  for _, word in ipairs(given.option or {}) do
    local key, value = word:match "^([%w_.]+)=(.*)$"
    if not key then soapstone.refuse("--option should be KEY=VALUE, not '%s'", word) end
    local part, name = key:match "^([%w_]+)%.([%w_]+)$"
    if not part then part, name = "problem", key end
    if part == "problem" and elsewhere[name] then
      soapstone.refuse("--option %s: %s", word, elsewhere[name])
    end
    if not options[part] then
      local near = soapstone.nearest(part, { "model", "topology" })
      if near then
        soapstone.refuse("--option %s: did you mean %s.%s?", key, near, name)
      end
      soapstone.refuse("--option %s: there are model.NAME, topology.NAME, and options of the problem",
        key)
    end
    options[part][name] = value_of(value)
  end
  return options
end

-- Files of the user's own that the run is made of, for the record, and the folders they lie in.
local files, beside = {}, {}

local function keep(path, text)
  if not text:find("\0", 1, true) then files[path] = text end -- else it is no text
end

-- What they required from beside them.
local function keep_required()
  for name in pairs(package.loaded) do
    for _, folder in ipairs(beside) do
      local path = package.searchpath(name, ("%s/?.lua;%s/?/init.lua"):format(folder, folder))
      local file = path and io.open(path, "rb")
      if file then
        keep(path, file:read "a" or "")
        file:close()
      end
    end
  end
end

-- What a file of the user's own returns; what it requires may lie beside it.
local function load_own(what, path)
  local file, wrong = io.open(path, "rb")
  if not file then soapstone.refuse("--%s %s", what, wrong) end
  local text, unreadable = file:read "a"
  file:close()
  if not text then soapstone.refuse("--%s %s: %s", what, path, unreadable) end
  keep(path, text)
  local folder = path:match "^(.*)/" or "."
  beside[#beside + 1] = folder
  package.path = ("%s/?.lua;%s/?/init.lua;%s"):format(folder, folder, package.path)
  local chunk, syntax = load((text:gsub("^#[^\n]*", "")), "@" .. path)
  if not chunk then
    soapstone.refuse("--%s should be the path of a Lua file: %s", what, syntax)
  end
  return chunk()
end

local function load_part(what, folder, name, options)
  local made
  if name:find "/" or name:find "%.lua$" then
    made = load_own(what, name)
  else
    made = require(folder .. "." .. name)
  end
  if type(made) == "function" then return made(options) end
  if type(made) ~= "userdata" then
    soapstone.refuse("--%s %s: the file should return a function of options, or the %s itself, not %s",
      what, name, what, ({ string = "a text", ["nil"] = "nothing" })[type(made)] or "a " .. type(made))
  end
  local option = next(options)
  if option then
    soapstone.refuse("--option %s.%s: %s returns a %s, not a function of options", what, option, name,
      what)
  end
  return made
end

-- Options without a dot are the problem's; who left the dot out is told where others go.
local function make_problem(o)
  local ok, problem = pcall(soapstone.problem, o)
  if ok then return problem end
  if problem:find("unknown option", 1, true) then
    soapstone.refuse("%s (options of the model are model.NAME, of the topology topology.NAME)", problem)
  end
  error(problem, 0)
end

-- Those that were asked for; else all, and those that do not fit the model are passed over.
local function strategy_names()
  if not given.strategy then
    return { "data_parallel", "model_parallel", "expert_cnn", "expert_rnn" }, true
  end
  local names, seen = {}, {}
  for _, word in ipairs(given.strategy) do
    for name in word:gmatch "[^,]+" do
      if seen[name] then soapstone.refuse("--strategy: %s is there twice", name) end
      names[#names + 1], seen[name] = name, true
    end
  end
  if #names == 0 then soapstone.refuse("--strategy has no name in it") end
  return names, false
end

local function is_file(name)
  return name:find "[./]" ~= nil
end

-- The strategy, and for one of another size what fitted.
local function make_strategy(problem, name)
  if not is_file(name) then return problem:strategy(name) end
  local by_name = given["by-name"] or false
  local strategy, counts = problem:load_strategy(name, { by_name = by_name })
  return strategy, by_name and ("%s, by name: %d operators of the model found in it, %d not; %d of its own not used")
    :format(name, counts.matched, counts.missing, counts.unknown) or nil
end

-- Measured tables in the order they were given, and the roofline for what they do not know.
local function read_costs()
  if not given.costs then return nil end
  local list = {}
  for i, path in ipairs(given.costs) do
    list[i] = soapstone.costs.table(path)
    local file = io.open(path, "rb")
    if file then
      keep(path, file:read "a" or "")
      file:close()
    end
  end
  list[#list + 1] = soapstone.costs.roofline()
  return soapstone.costs.stack(list)
end

-- Strategies, their results, and a line for each that does not fit.
local function simulate_all(problem, names, all)
  local made, results, notes = {}, {}, {}
  for i, name in ipairs(names) do
    soapstone.progress(("simulating %s (%d of %d)"):format(name, i, #names))
    local fits, strategy, note = pcall(make_strategy, problem, name)
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

local function simulate_model()
  refuse_with("--model", { "dag", "links", "segment", "max-segments" })
  if not given.model then soapstone.refuse("--model is missing (or --dag)") end
  if not given.topology then soapstone.refuse("--topology is missing") end
  local options = read_options()
  local names, all = strategy_names()
  if given["by-name"] and (all or not table.concat(names, " "):find "[./]") then
    soapstone.refuse("--by-name is for strategies from files: --strategy FILE")
  end
  local o = options.problem
  o.costs = read_costs()
  o.model = load_part("model", "models", last "model", options.model)
  o.topology = load_part("topology", "topologies", last "topology", options.topology)
  local problem = make_problem(o)
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
    keep_required()
    soapstone.record(last "record", { problem = problem, results = results, strategies = made, files = files })
  end
end

local function simulate_dag()
  refuse_with("--dag", { "model", "topology", "strategy", "by-name", "option", "costs", "record" })
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
