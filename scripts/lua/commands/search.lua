-- search.lua - soapstone search: looks for a strategy that costs less.

local accuracy = require "soapstone.accuracy"
local others = require "soapstone.others"
local report = require "soapstone.report"
local soapstone = require "soapstone"

local given = ...
local parts = require "scripts.lua.commands.parts".of(given)
local last = parts.last

local function searcher()
  local word, names = last "searcher" or "mcmc", {}
  local make = rawget(soapstone.search, word)
  if make then return make end
  for name in pairs(soapstone.search) do names[#names + 1] = name end
  local near = soapstone.nearest(word, names)
  soapstone.refuse("--searcher %s: %s", word,
    near and ("did you mean %s?"):format(near) or "there are " .. table.concat(names, ", "))
end

-- Ready-made strategies and files of saved ones: a chain each.
local function read_starts(problem)
  if not given.start then
    if given.effort then return nil end -- which says
    local fits, expert = pcall(problem.strategy, problem, "expert")
    return { "data_parallel", fits and expert or nil }
  end
  local starts = {}
  for _, word in ipairs(given.start) do
    for name in word:gmatch "[^,]+" do
      starts[#starts + 1] = parts.is_file(name) and given["by-name"] and parts.make_strategy(problem, name) or name
    end
  end
  if #starts == 0 then soapstone.refuse("--start has no name in it") end
  return starts
end

-- The options of their own come to those that stand as search.NAME=VALUE.
local function join(o, own)
  for name, value in pairs(own) do
    if o[name] ~= nil then soapstone.refuse("--option search.%s: it is given by --%s", name, name) end
    o[name] = value
  end
  -- what stands behind --log and --resume is looked at before any script
  if given.save and o.log == last "save" then
    soapstone.refuse("--save %s and --option search.log=%s are one file: give two", o.log, o.log)
  end
  if o.log then o.files = parts.own_files() end
  return o
end

local function read_search(problem, o)
  local own = {
    start = read_starts(problem), proposals = parts.count "proposals", seconds = last "seconds",
    threads = parts.count "threads", effort = last "effort", log = last "log" or last "resume",
    resume = given.resume and true,
  }
  if given.log and given.resume then soapstone.refuse("--resume FILE.h5 goes on with that log: leave --log out") end
  return join(o, own)
end

local real <const> = given.measure ~= nil or given.execute ~= nil -- on this machine's cores

-- Before a search that may take hours: what would be refused after it.
local function refuse_early()
  if not given.model then soapstone.refuse("--model is missing") end
  if not (given.topology or real) then soapstone.refuse("--topology is missing") end
  for _, name in ipairs { "devices", "measured" } do
    if given[name] and not real then
      soapstone.refuse("--%s is for a search that measures (--measure TIME) or executes (--execute K)", name)
    end
  end
  if given.measure and not pcall(soapstone.unit.read, last "measure", "s") then
    soapstone.refuse("--measure should be a time, such as 30s or \"2 min\", not '%s'", last "measure")
  end
  local starts = given.start and table.concat(given.start, " ") or ""
  if given["by-name"] and not starts:find "[./]" then
    soapstone.refuse("--by-name is for strategies from files: --start FILE")
  end
end

local function print_all(problem, text, results)
  print(problem.model)
  print(problem.topology)
  print()
  print(text)
  print(report.compare(results))
  print()
  print(report.wrap("assumptions: " .. report.assumptions(results), 100, 2))
end

-- Nothing takes long after a search; what was found is safe first. Where it cannot be saved, the page is all that is
-- left of it: it comes before the error.
local function save(best)
  if not given.save then return true end
  return pcall(best.save, best, last "save")
end

local function print_search(problem, search, best)
  if given.json then
    io.write((search:json()))
    return
  end
  local results = {}
  for i = 1, math.min(#search.chains, 3) do results[i] = problem:simulate(search:start_of(i)) end
  results[#results + 1] = problem:simulate(best)
  print_all(problem, search, results)
end

-- A log that cannot be written (a full disk) ends the run, and what was found until then is there all the same.
local function walk(make, problem, o)
  local search = make(problem, read_search(problem, o))
  local ran, broken = pcall(search.run, search, { progress = true })
  if not ran and search.proposals == 0 then error(broken, 0) end
  local best = search.best
  local saved, unsaved = save(best)
  print_search(problem, search, best)
  if not ran then error(broken, 0) end
  if not saved then error(unsaved, 0) end
end

local with_unit = { cost = "cost_s", least = "least_s", seconds = "wallclock_s" }

local function proof_json(proof)
  local exact, lines = require("soapstone.unit").exact, {}
  for name, value in pairs(proof) do
    if type(value) == "table" then
      local inner = {}
      for bound, n in pairs(value) do inner[#inner + 1] = ('"%s": %s'):format(bound, exact(n)) end
      value = "{" .. table.concat(inner, ", ") .. "}"
    end
    if type(value) == "number" then value = exact(value) end
    if name ~= "text" and name ~= "broken" then lines[#lines + 1] = ('"%s": %s'):format(with_unit[name] or name, value) end
  end
  return "{" .. table.concat(lines, ", ") .. "}"
end

-- Every strategy of a small space.
local function exhaust(problem, o)
  parts.refuse_with("--searcher exhaustive", { "effort", "proposals", "threads", "resume" })
  local starts = read_starts(problem) or {}
  join(o, { start = given.start and starts[1] or nil, seconds = last "seconds", log = last "log", progress = true })
  if given.start and #starts > 1 then soapstone.refuse("--searcher exhaustive takes one --start") end
  local best, proof = soapstone.search.exhaustive(problem, o)
  local saved, unsaved = save(best)
  if given.json then
    print(proof_json(proof))
  else
    print_all(problem, proof.text, { problem:simulate(best) })
  end
  if proof.broken then error(proof.broken, 0) end
  if not saved then error(unsaved, 0) end
end

-- A number of a row, or null.
local function number(x) return x and require("soapstone.unit").exact(x) or "null" end

local function found_json(found)
  local rounds, rows = {}, {}
  for i, r in ipairs(found.rounds) do
    rounds[i] = ('{"round": %d, "optimism": %s, "cost_s": %s, "proposals": %d, "lacked": %d, "measured": %d}'):format(r.number,
      number(r.optimism), number(r.cost), r.proposals, r.lacked, r.measured)
  end
  for i, c in ipairs(found.rows) do
    rows[i] = ('{"strategy": %q, "round": %d, "simulated_s": %s, "lacks": %d, "executed_s": %s, "q05_s": %s, "q95_s": %s, "best": %s}')
      :format(c.name, c.round, number(c.simulated), c.lacks, number(c.executed), number(c.q05), number(c.q95), c.strategy == found.best)
  end
  return ('{"gain": %s, "measured": %d, "rounds": [%s],\n"strategies": [\n%s]}'):format(number(found.gain), found.measured,
    table.concat(rounds, ", "), table.concat(rows, ",\n"))
end

local function there(path)
  local file = path and io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

-- Cores of this machine whose links take as long as messages between two of them do here, and how they slow each other; what was
-- measured for that; and with which options of problem:profile.
local function as_they_are(options, problem)
  local cores, path = others.cores(), last "measured"
  local how = { core = cores[1], beside = cores[2] }
  local known = there(path) and soapstone.profile.read(path) or nil
  local profile = problem:profile(problem:strategy "whole", { known = known, core = how.core, beside = how.beside, rounds = 5, budget = last "measure" })
  return parts.remake_problem(options, accuracy.cores(profile, problem.topology.devices), { links = "fifo-path", interference = profile.interference }),
    profile, how
end

-- With times measured where the best need them, and the best executed.
local function walk_for_real(problem, options, word, left)
  local o, known, how = options.search, nil, nil
  if word == "exhaustive" then soapstone.refuse "--searcher exhaustive does not go with --measure and --execute" end
  parts.refuse_with("--measure and --execute", { "log", "resume" })
  for _, name in ipairs { "start", "proposals", "seconds", "threads", "effort", "seed" } do
    if given[name] and o[name] ~= nil then soapstone.refuse("--option search.%s: it is given by --%s", name, name) end
  end
  if left and not given["not-pinned"] and problem.topology.devices > 1 and #others.cores() > 1 then
    problem, known, how = as_they_are(options, problem)
  end
  local own = { start = o.start or read_starts(problem), proposals = parts.count "proposals", seconds = last "seconds",
    threads = parts.count "threads", effort = last "effort", seed = given.seed and parts.count "seed" or nil }
  for name, value in pairs(own) do o[name] = value end
  local found = require("soapstone.measured").search(problem, { searcher = word, search = o, file = last "measured",
    known = known, profile = how, budget = last "measure", execute = given.execute and parts.count "execute" or 0, pinned = not given["not-pinned"], progress = true })
  local saved, unsaved = save(found.best)
  if given.json then
    print(found_json(found))
  else
    print_all(problem, found, { found.problem:simulate(found.best) })
  end
  if not saved then error(unsaved, 0) end
end

refuse_early()
local make = searcher()
local options = parts.read_options { "search" }
local left = real and parts.take_cores(options)
if real then parts.as_executed(options) end
local problem = parts.make_problem(options)
if real then
  walk_for_real(problem, options, last "searcher" or "mcmc", left)
elseif make == soapstone.search.exhaustive then
  exhaust(problem, options.search)
else
  walk(make, problem, options.search)
end
