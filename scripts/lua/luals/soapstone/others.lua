---@meta soapstone.others
-- For editors: what scripts/lua/soapstone/others.lua offers.

---@class soapstone.others_module
---@field most number what times are still trusted with, of all the cores' time: 0.03
local others = {}

---@class soapstone.others_seen
---@field known boolean false: the system does not say, and nothing else is here
---@field busy boolean above others.most together
---@field taken? number share of the cores' time in which other programs computed
---@field stolen? number and that which the hypervisor kept
---@field throttled? number and that for which a quota held this program back
---@field cores? integer that this process may use
---@field seconds? number

---What was since, each time that the function is called.
---@return fun(): soapstone.others_seen
function others.watch() end

---@param seen soapstone.others_seen
---@return string? warning nil: the machine was not busy
function others.warning(seen) end

---The cores that this process may use, by their numbers; empty: the system does not say.
---@return integer[]
function others.cores() end

return others
