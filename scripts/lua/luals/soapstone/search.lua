---@meta soapstone.search
return require("soapstone").search
