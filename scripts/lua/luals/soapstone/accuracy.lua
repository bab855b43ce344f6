---@meta soapstone.accuracy
-- For editors: what scripts/lua/soapstone/accuracy.lua offers.

---@class soapstone.accuracy_module
---@field classes string[] "sample", "parameter", "attribute", "operator", "mixed"
---@field switches { name: string, without?: table, learnt?: table, times?: "builtin"|"fitted" }[] what is left out, one at a time
local accuracy = {}

---@class soapstone.accuracy_options
---@field model soapstone.model
---@field strategies? soapstone.strategy[] of that model
---@field each? integer strategies drawn of each class; 2 unless given, 0 if strategies are
---@field train? integer strategies of each class to learn from, in other draws; 1 unless given
---@field devices? integer 2 unless given
---@field rounds? integer over all of them in turn; 4 unless given
---@field steps? integer of each in a round; 5 unless given
---@field warmup? integer steps before, which are not counted; 2 unless given
---@field profile_rounds? integer samples of each time; 15 unless given
---@field seed? integer of strategies and of what is computed
---@field sync? "ring"|"parameter_server"
---@field problem? table more options of the problem
---@field pinned? boolean each device has a core of its own
---@field proof? boolean outputs and gradients are compared with those of the whole model
---@field known? soapstone.profile what it has is not measured
---@field progress? boolean

---@class soapstone.accuracy_row
---@field class string
---@field name string
---@field strategy soapstone.strategy
---@field steps number[] executed, in the order of rounds, seconds
---@field median number of these
---@field simulated number seconds
---@field error number simulated / median - 1
---@field first number median of the first half of the rounds
---@field second number and of the second
---@field repeatability number how far the first half of the rounds is from the second
---@field tasks integer
---@field measured soapstone.result a step of the last round
---@field result soapstone.result the simulated step
---@field timeline { name: string, kind: string, lane: string, operator?: string, simulated_start: number, simulated: number, executed_start: number, executed: number }[]
---@field devices soapstone.accuracy_device[]
---@field proof? { outputs: number, gradients: number, weights: number, loss: number, worst: table }

---@class soapstone.accuracy_device
---@field name string
---@field simulated_busy number
---@field simulated_idle number
---@field executed_busy number
---@field executed_idle number

---@class soapstone.accuracy_report
---@field rows soapstone.accuracy_row[]
---@field comparison { n: integer, mean: number, mean_absolute: number, median: number, q90: number, most: number, kendall?: number, spearman?: number }
---@field floor { n: integer, mean: number, mean_absolute: number, median: number, q90: number, most: number, kendall?: number, spearman?: number }
---@field kinds { name: string, tasks: integer, simulated: number, executed: number, error?: number, bias?: number }[] seconds, summed over all strategies
---@field devices soapstone.accuracy_device[] seconds, summed over all strategies
---@field iterations number[][] by round and step: longer than the strategy's median by this share, in the median of all strategies
---@field others soapstone.others_seen meanwhile
---@field correction? soapstone.correction what was learnt of tasks in steps
---@field roofline? table of soapstone.calibrate.roofline, fitted to what training strategies need
---@field without { name: string, comparison: table }[]
---@field profile soapstone.profile
---@field problem soapstone.problem
---@field measured_times integer that are new in the profile
---@field profile_seconds number

---Profiles, simulates and executes strategies of a model on cores of this machine.
---@param options soapstone.accuracy_options
---@return soapstone.accuracy_report
function accuracy.run(options) end

---@param problem soapstone.problem on two devices or more
---@param options? { each?: integer, seed?: integer }
---@return { class: string, strategy: soapstone.strategy }[]
function accuracy.strategies(problem, options) end

---@param profile? soapstone.profile whose messages are those of the links
---@param devices? integer 2 unless given
---@param corrected? { overhead?: number, factors?: table<string, number> } as costs:correct takes it
---@return soapstone.topology
function accuracy.cores(profile, devices, corrected) end

return accuracy
