-- search.lua - soapstone search: looks for a strategy that costs less.

local soapstone = require "soapstone"
local report = require "soapstone.report"

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
  if not given.start then return not given.effort and { "data_parallel", "expert" } or nil end
  local starts = {}
  for _, word in ipairs(given.start) do
    for name in word:gmatch "[^,]+" do
      starts[#starts + 1] = parts.is_file(name) and given["by-name"] and parts.make_strategy(problem, name) or name
    end
  end
  if #starts == 0 then soapstone.refuse("--start has no name in it") end
  return starts
end

local function whole_number(name)
  if not given[name] then return nil end
  return math.tointeger(last(name)) or soapstone.refuse("--%s should be a whole number, not '%s'", name, last(name))
end

-- The options of their own, and those that stand as search.NAME=VALUE.
local function read_search(problem, o)
  local own = {
    start = read_starts(problem), proposals = whole_number "proposals", seconds = last "seconds",
    threads = whole_number "threads", effort = last "effort", log = last "log" or last "resume",
    resume = given.resume and true,
  }
  if given.log and given.resume then soapstone.refuse("--resume FILE.h5 goes on with that log: leave --log out") end
  for name, value in pairs(own) do
    if o[name] ~= nil then soapstone.refuse("--option search.%s: it is given by --%s", name, name) end
    o[name] = value
  end
  if own.log then o.files = parts.own_files() end
  return o
end

-- Before a search that may take hours: what would be refused after it.
local function refuse_early()
  if not given.model then soapstone.refuse("--model is missing") end
  if not given.topology then soapstone.refuse("--topology is missing") end
  local starts = given.start and table.concat(given.start, " ") or ""
  if given["by-name"] and not starts:find "[./]" then
    soapstone.refuse("--by-name is for strategies from files: --start FILE")
  end
end

refuse_early()
local make = searcher()
local options = parts.read_options { "search" }
local problem = parts.make_problem(options)
local search = make(problem, read_search(problem, options.search))
search:run { progress = true }

-- From here on nothing takes long: what was found is safe first.
local best = search.best
if given.save then best:save(last "save") end
if given.json then
  io.write((search:json()))
  return
end
local results = {}
for i, chain in ipairs(search.chains) do
  if i > 3 then break end
  results[i] = problem:simulate(search:start_of(i), { name = chain.name })
end
results[#results + 1] = problem:simulate(best)
print(problem.model)
print(problem.topology)
print()
print(search)
print(report.compare(results))
print()
print(report.wrap("assumptions: " .. report.assumptions(results), 100, 2))
