---@meta soapstone.roofline
-- For editors: what scripts/lua/soapstone/roofline.lua offers.
local roofline = {}

---As soapstone.calibrate.roofline, and prints a page.
---@param options table
---@return table
function roofline.fit(options) end

---Headers and rows, as report.table takes them.
---@return string[], string[][]
function roofline.rows(fitted) end
function roofline.error_rows(fitted) end
function roofline.by_work(fitted, held_out) end

---@return string
function roofline.text(fitted) end

return roofline
