---@meta soapstone.dag
return require("soapstone").dag
