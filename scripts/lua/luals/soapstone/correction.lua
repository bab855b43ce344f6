---@meta soapstone.correction
-- For editors: what scripts/lua/soapstone/correction.lua offers.
local correction = {}

---@class soapstone.correction
---@field overhead number seconds a task
---@field overhead_error number standard error
---@field factors table<string, number> by "linear forward", ..., "copy", "sum", "update", "message"
---@field interference number as a problem takes it
---@field interference_error number
---@field measured_interference number that was passed on
---@field spread number what is left, of a task of one microsecond, as a share
---@field groups { name: string, tasks: integer, factor: number, error: number, alone: number, executed: number }[]
---@field strategies integer that it was learnt from
---@field tasks integer

---@class soapstone.correction_options
---@field model soapstone.model
---@field interference? number measured; 0 unless given
---@field [integer] { alone: soapstone.result, executed: soapstone.result[] }

---@param options soapstone.correction_options
---@return soapstone.correction
function correction.fit(options) end

return correction
