---@meta soapstone.plot
return require("soapstone").plot
