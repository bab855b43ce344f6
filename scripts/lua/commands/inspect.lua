-- inspect.lua - soapstone inspect: what is in a file.

local soapstone = require "soapstone"

local given = ...

io.write((soapstone.inspect(given[1], { json = given.json or false })))
-- A profile is a table of measured times, and more: what was measured on, and how far samples are apart.
local is_profile, profile = pcall(soapstone.profile.read, given[1])
if is_profile and not given.json then io.write((tostring(profile))) end
