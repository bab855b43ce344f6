-- inspect.lua - soapstone inspect: what is in a file.

local soapstone = require "soapstone"

local given = ...

io.write((soapstone.inspect(given[1], { json = given.json or false })))
