-- repair.lua - soapstone repair: the log of a search that was killed, made a file like any other.

local soapstone = require "soapstone"

local given = ...

io.write((soapstone.repair(given[1])))
