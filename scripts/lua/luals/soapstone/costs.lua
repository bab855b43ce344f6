---@meta soapstone.costs
return require("soapstone").costs
