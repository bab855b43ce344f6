---@meta soapstone.unit
return require("soapstone").unit
