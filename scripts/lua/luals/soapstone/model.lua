---@meta soapstone.model
return require("soapstone").model
