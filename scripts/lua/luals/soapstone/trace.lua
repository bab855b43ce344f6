---@meta soapstone.trace
return require("soapstone").trace
