---@meta soapstone.topology
return require("soapstone").topology
