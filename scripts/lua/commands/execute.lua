-- execute.lua - soapstone execute: steps of strategies on this machine's cores, with real operators.

local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"

local given = ...
local parts = require "scripts.lua.commands.parts".of(given)
local last, count = parts.last, parts.count
local exact, show = require("soapstone.unit").exact, soapstone.unit.show

-- Strategies add numbers up in other orders than the whole model does, in floats of 32 bits; what is wrong is wrong by
-- far more.
local SAME <const> = 1e-4

if not given.model then soapstone.refuse "--model is missing" end
local options = parts.read_options()
parts.take_cores(options)
parts.as_executed(options)
local names, all = parts.strategy_names { "whole", "data_parallel", "model_parallel", "expert_cnn", "expert_rnn" }
local problem = parts.make_problem(options)
local strategies, notes = parts.make_strategies(problem, names, all)
local common = { pinned = not given["not-pinned"], seed = given.seed and count "seed" or nil,
  rate = last "rate" and parts.value_of(last "rate") or nil }

local function with(more)
  local o = {}
  for name, value in pairs(common) do o[name] = value end
  for name, value in pairs(more) do o[name] = value end
  return o
end

-- Steps of one strategy: their times, also from the least to the largest, the one in the middle, and what was asked for besides.
local function execute(strategy)
  local results, losses = problem:execute(strategy, with { steps = count "steps", warmup = count "warmup" })
  local steps, times = {}, {}
  for i, r in ipairs(results) do steps[i] = r.step_time end
  table.sort(results, function(a, b) return a.step_time < b.step_time end)
  for i, r in ipairs(results) do times[i] = r.step_time end
  return {
    name = strategy.name, steps = steps, times = times, middle = results[(#results + 1) // 2], losses = losses,
    simulated = given.profile and problem:simulate(strategy) or nil,
    proof = given.proof and problem:proof(strategy, common) or nil,
  }
end

local function worst_of(proof)
  return math.max(proof.outputs, proof.gradients, proof.weights, proof.loss)
end

local function off(one)
  return one.simulated.step_time / trial.quantile(one.times, 0.5) - 1
end

local function print_json(done)
  local lines = {}
  for i, one in ipairs(done) do
    local steps, losses = {}, {}
    for k, t in ipairs(one.steps) do steps[k], losses[k] = exact(t), exact(one.losses[k]) end
    local line = ('{"strategy": %q, "median_s": %s, "q05_s": %s, "q95_s": %s, "steps_s": [%s], "losses": [%s]'):format(one.name,
      exact(trial.quantile(one.times, 0.5)), exact(trial.quantile(one.times, 0.05)), exact(trial.quantile(one.times, 0.95)),
      table.concat(steps, ", "), table.concat(losses, ", "))
    if one.simulated then line = line .. (', "simulated_s": %s'):format(exact(one.simulated.step_time)) end
    if one.proof then
      line = line .. (', "proof": {"outputs": %s, "gradients": %s, "weights": %s, "loss": %s}'):format(exact(one.proof.outputs),
        exact(one.proof.gradients), exact(one.proof.weights), exact(one.proof.loss))
    end
    lines[i] = line .. "}"
  end
  print("[" .. table.concat(lines, ",\n") .. "]")
end

local function print_table(done)
  local header, rows = { "strategy", "steps", "median", "5 %", "95 %", "least", "most" }, {}
  if given.profile then table.move({ "simulated", "off by" }, 1, 2, #header + 1, header) end
  table.move({ "first loss", "last loss" }, 1, 2, #header + 1, header)
  for i, one in ipairs(done) do
    local t = one.times
    local row = { one.name, #t, show(trial.quantile(t, 0.5), "s"), show(trial.quantile(t, 0.05), "s"), show(trial.quantile(t, 0.95), "s"),
      show(t[1], "s"), show(t[#t], "s") }
    if one.simulated then table.move({ show(one.simulated.step_time, "s"), ("%+.1f %%"):format(100 * off(one)) }, 1, 2, #row + 1, row) end
    table.move({ ("%.6g"):format(one.losses[1]), ("%.6g"):format(one.losses[#one.losses]) }, 1, 2, #row + 1, row)
    rows[i] = row
  end
  print(problem.model)
  print(problem.topology)
  print()
  print(report.table(header, rows))
end

local function print_proofs(done)
  local rows = {}
  for i, one in ipairs(done) do
    local p = one.proof
    rows[i] = { one.name, ("%.2g"):format(p.outputs), ("%.2g"):format(p.gradients), ("%.2g"):format(p.weights),
      ("%.2g"):format(p.loss), worst_of(p) <= SAME and "the same" or "NOT THE SAME" }
  end
  print()
  print(report.table({ "against the whole model", "outputs", "gradients", "weights", "loss", "" }, rows))
  print(report.wrap(("the largest difference over the largest number of its tensor; the same: at most %g"):format(SAME), 100, 2))
end

local done = {}
for i, strategy in ipairs(strategies) do
  soapstone.progress(("executing %s (%d of %d)"):format(strategy.name, i, #strategies))
  done[i] = execute(strategy)
end
soapstone.progress()

if given.json then
  print_json(done)
else
  print_table(done)
  for _, line in ipairs(notes) do print(report.wrap(line, 100, 2)) end
  if given.proof then print_proofs(done) end
  if given.profile then
    local results = {}
    for i, one in ipairs(done) do results[i] = one.simulated end
    print()
    print(report.wrap("simulated: " .. report.assumptions(results), 100, 2))
  end
end
if given.record then
  local results = {}
  for _, one in ipairs(done) do
    results[one.name] = one.middle
    if one.simulated then results[one.name .. " simulated"] = one.simulated end
  end
  soapstone.record(last "record", { problem = problem, results = results, strategies = strategies, files = parts.own_files() })
  if not given.json then print("written: " .. last "record") end
end
for _, one in ipairs(done) do
  if one.proof and worst_of(one.proof) > SAME then return 1 end
end
