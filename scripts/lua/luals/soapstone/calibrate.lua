---@meta soapstone.calibrate
return require("soapstone").calibrate
