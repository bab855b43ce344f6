-- A roofline fitted to times: constants that times were made with come back, and what they say of parts that were held out.
local accuracy = require "soapstone.accuracy"
local roofline = require "soapstone.roofline"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"
local check = require "check"

local claim, equal, fails, contains = check.claim, check.equal, check.fails, check.contains

local model = require "models.mlp" { batch = 64, layers = 4, width = 96 }
local problem = soapstone.problem { model = model, topology = accuracy.cores(), sync = "ring" }
local strategies = {}
for i, row in ipairs(accuracy.strategies(problem, { each = 3 })) do strategies[i] = row.strategy end

claim("what makes no sense is refused", function()
  fails("unknown option 'hold'", soapstone.calibrate.roofline, { strategies = strategies, hold = 1 })
  fails("calibrate.roofline", soapstone.calibrate.roofline, {})
  fails("option 'hold_out' is 2", soapstone.calibrate.roofline, { strategies = strategies, costs = soapstone.costs.roofline(), hold_out = 2 })
end)

local measured, profile = pcall(problem.profile, problem, strategies, { rounds = 3, warm_up = 1 })
if measured then
  claim("constants are fitted to half of what was measured, and tested on the other", function()
    local got = roofline.fit { strategies = strategies, profile = profile }
    local fitted, held_out = 0, 0
    for _, part in ipairs(got.parts) do
      if part.held_out then held_out = held_out + 1 else fitted = fitted + 1 end
      assert(part.measured > 0 and part.fitted > 0 and part.builtin > 0)
    end
    equal(got.on_fitted.fitted.n, fitted)
    equal(got.on_held_out.fitted.n, held_out)
    assert(got.on_fitted.fitted.median < got.on_fitted.builtin.median, "what was fitted is nearer than what is built in")
    equal(got.told.conv_efficiency, "kept") -- there are no convolutions
    equal(got.constants.conv_efficiency, got.builtin.conv_efficiency)
    contains(tostring(got), "conv_efficiency")
    contains(tostring(got), "held out")
    local with = problem:with_costs(soapstone.costs.roofline(got.constants))
    assert(with:simulate(trial.onto(with, strategies[1])).step_time > 0)
    local all = soapstone.calibrate.roofline { strategies = strategies, profile = profile, hold_out = 0 }
    equal(all.on_fitted.fitted.n, fitted + held_out)
  end)
end

check.done()
