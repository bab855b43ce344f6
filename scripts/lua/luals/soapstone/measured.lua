---@meta soapstone.measured
-- For editors: what scripts/lua/soapstone/measured.lua offers.

---@class soapstone.measured_module
local measured = {}

---@class soapstone.measured_options
---@field searcher? "annealing"|"greedy"|"mcmc"|"random"
---@field search? table options of that searcher, for each round; not log, resume
---@field profile? soapstone.profile_options
---@field known? soapstone.profile
---@field file? string of a profile that is read, completed and written
---@field budget? soapstone.quantity of measuring, all rounds together; "1 min" unless given, 0: no limit
---@field rounds? integer at most; 4 unless given
---@field optimism? number what is not measured takes this share of the problem's own costs; 0.5 unless given
---@field execute? integer how many are executed; 5 unless given, 0: none
---@field steps? integer of each in a pass
---@field passes? integer over all of them in turn
---@field pinned? boolean
---@field progress? boolean

---@class soapstone.measured_row
---@field name string
---@field strategy soapstone.strategy
---@field round integer in which it was found; 0: a start
---@field simulated number step time with all that is known, seconds
---@field lacks integer times that it needs and nobody measured
---@field executed? number median of its executed steps, seconds
---@field q05? number quantiles of these
---@field q95? number
---@field times? number[] in the order in which they were executed

---@class soapstone.measured_found
---@field best soapstone.strategy the least executed; without execution the least simulated
---@field gain? number of executing: 1 - its step over that of the first by simulation, of steps of their own
---@field rows soapstone.measured_row[] by simulated time
---@field rounds { number: integer, optimism: number, cost: number, proposals: integer, lacked: integer, measured: integer }[]
---@field measured integer times that are new
---@field seconds { searching: number, measuring: number }
---@field profile soapstone.profile
---@field problem soapstone.problem with all that is known
---@field uncut { op: string, dim: string, why: string }[] what has no kernels when it is cut along a dimension
---@field interrupted boolean

---A search whose times are measured as it goes, and whose best strategies are executed.
---@param problem soapstone.problem
---@param options? soapstone.measured_options
---@return soapstone.measured_found
function measured.search(problem, options) end

return measured
