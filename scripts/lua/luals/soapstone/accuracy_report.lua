---@meta soapstone.accuracy_report
-- For editors: what scripts/lua/soapstone/accuracy_report.lua offers.

---@class soapstone.accuracy_report_module
---@field same number gradients that are no further off are the same: 1e-4
local accuracy_report = {}

---All tables.
---@param got soapstone.accuracy_report
---@param options? { tasks?: integer } how many of the tasks that are furthest off
---@return string
function accuracy_report.page(got, options) end

---Everything, for accuracy_report.json.
---@param got soapstone.accuracy_report
---@return table
function accuracy_report.data(got) end

---@param value table of tables, texts, numbers and booleans
---@return string
function accuracy_report.json(value) end

---Draws scatter.svg, histogram.svg and gantt.svg.
---@param list { name: string, got: soapstone.accuracy_report }[]
---@param folder string that is there
function accuracy_report.figures(list, folder) end

---@param got soapstone.accuracy_report
---@return soapstone.accuracy_row? worst nil: none was proven
---@return soapstone.accuracy_row[] wrong whose gradients are not those of the whole model
function accuracy_report.proofs(got) end

return accuracy_report
