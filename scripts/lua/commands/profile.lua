-- profile.lua - soapstone profile: how long what strategies need takes on this machine.

local soapstone = require "soapstone"

local given = ...
local parts = require "scripts.lua.commands.parts".of(given)
local last, count = parts.last, parts.count

local function there(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

local output = last "output"

-- What was measured elsewhere, into the file of --output, or beside what that has already.
local function import(path)
  parts.refuse_with("--import, which measures nothing", { "model", "devices", "topology", "strategy", "option", "by-name", "random",
    "seed", "rounds", "warm-up", "budget", "core", "cold", "parts-of-backward", "kind", "list" })
  if given.add and not output then soapstone.refuse "--add completes the file of --output: give --output FILE.h5 too" end
  local profile = soapstone.profile.import(path)
  local new, known = #profile, given.add and there(output) and soapstone.profile.read(output) or nil
  if known then profile = soapstone.profile.merge { known, profile } end
  if output then profile:write(output) end
  if given.json then return io.write((profile:json())) end
  io.write((tostring(profile)))
  print(("%d time%s of %s%s"):format(new, new == 1 and "" or "s", path, known and (", %d known before"):format(#known) or ""))
  if output then print("written: " .. output) end
end
if given.import then return import(last "import") end

-- What is wrong with the command line is said before anything is measured.
if given.list then
  parts.refuse_with("--list, which measures nothing", { "rounds", "warm-up", "budget", "core", "cold", "json" })
  if output and not given.add then soapstone.refuse "--list leaves out what the file of --output has already: give --add too" end
end
if not given.model then soapstone.refuse "--model is missing" end
if given.add and not given.output then soapstone.refuse "--add completes the file of --output: give --output FILE.h5 too" end
local randoms, seed = count "random" or 0, count "seed" or 0
if randoms < 0 then soapstone.refuse("--random is %d; it must be at least 0", randoms) end

local options = parts.read_options()
parts.take_cores(options)
local names, all = parts.strategy_names { "whole", "data_parallel", "model_parallel", "expert_cnn", "expert_rnn" }
if randoms > 0 and not given.strategy then names = {} end
local problem = parts.make_problem(options)
local strategies, notes = parts.make_strategies(problem, names, all)
for i = 1, randoms do strategies[#strategies + 1] = problem:strategy("random", { seed = seed + i - 1 }) end

local known = given.add and there(output) and soapstone.profile.read(output) or nil
if given.list then
  local path = last "list"
  local times = problem:list_times(path, strategies, { kind = last "kind", known = known,
    parts_of_backward = given["parts-of-backward"] and true or nil })
  for _, line in ipairs(notes) do print(require("soapstone.report").wrap(line, 100, 2)) end
  print(("%d strateg%s: %d time%s to be measured%s"):format(#strategies, #strategies == 1 and "y" or "ies", times,
    times == 1 and "" or "s", known and (", %d known before"):format(#known) or ""))
  if times > 0 then print("written: " .. path) end
  return
end
local profile, measured = problem:profile(strategies, {
  rounds = count "rounds", warm_up = count "warm-up", budget = last "budget", core = count "core", kind = last "kind",
  inputs = given.cold and "cold" or nil, parts_of_backward = given["parts-of-backward"] and true or nil, known = known,
  seed = given.seed and seed or nil,
})
if output and (measured > 0 or not known) then profile:write(output) end

if given.json then
  io.write((profile:json()))
  return
end
io.write((tostring(profile)))
for _, line in ipairs(notes) do print(require("soapstone.report").wrap(line, 100, 2)) end
print(("%d strateg%s: %d time%s measured%s"):format(#strategies, #strategies == 1 and "y" or "ies", measured,
  measured == 1 and "" or "s", known and (", %d known before"):format(#known) or ""))
local lacks = profile:lacks(strategies)
if lacks > 0 then
  print(("interrupted: %d time%s not measured%s"):format(lacks, lacks == 1 and " is" or "s are",
    output and ", which --add does" or ""))
end
if output then print(measured > 0 and "written: " .. output or not known and "written: " .. output or "left as it is: " .. output) end
