---@meta soapstone.profile
return require("soapstone").profile
