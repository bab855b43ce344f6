-- wanted.lua - what an argument of a function has to be, or a sentence that says what it is.
--
--   local wanted = require "soapstone.wanted"
--   wanted.number("trial.bisect", "from", from, { above = 0 })
--   wanted.numbers("trial.median", "the list", list)
--
-- Each takes whose argument it is, what it is called, and the value.  The error carries the line of the user's script.
-- Tables of options are for soapstone.options; where an option is of a kind that these know, it is called "option 'f'".

local soapstone = require "soapstone"

local refuse = soapstone.refuse

local wanted = {}

local articles = {
  ["nil"] = "nothing", boolean = "a boolean", number = "a number", string = "a text", table = "a table",
  ["function"] = "a function", thread = "a coroutine",
}

-- What a value is, as a sentence says it: "a text", "a strategy".
function wanted.kind_of(value)
  local ours = type(value) == "userdata" and getmetatable(value)
  local noun = type(ours) == "string" and ours:match "^soapstone%.(%a+)$"
  if noun then return (noun:find "^[aeiou]" and "an " or "a ") .. noun end
  return articles[type(value)] or "a " .. type(value)
end

local function wrong(owner, name, noun, value)
  refuse("%s: %s should be %s, not %s", owner, name, noun, wanted.kind_of(value))
end

local function of_type(kind)
  return function(owner, name, value)
    if type(value) ~= kind then wrong(owner, name, articles[kind], value) end
    return value
  end
end

wanted.text, wanted.table, wanted.func = of_type "string", of_type "table", of_type "function"

local function of_ours(noun)
  return function(owner, name, value)
    if type(value) ~= "userdata" or getmetatable(value) ~= "soapstone." .. noun then wrong(owner, name, "a " .. noun, value) end
    return value
  end
end

wanted.problem, wanted.strategy = of_ours "problem", of_ours "strategy"

-- { above = , min = } bound it; and it is finite, unless { infinite = true }.
function wanted.number(owner, name, value, bounds)
  local b = bounds or {}
  if type(value) ~= "number" then wrong(owner, name, "a number", value) end
  if value ~= value then refuse("%s: %s is not a number (nan)", owner, name) end
  if b.above and value <= b.above then refuse("%s: %s is %s; it must be above %s", owner, name, value, b.above) end
  if b.min and value < b.min then refuse("%s: %s is %s; it must be at least %s", owner, name, value, b.min) end
  if not b.infinite and math.abs(value) == math.huge then refuse("%s: %s is %s; it must be finite", owner, name, value) end
  return value
end

-- Any values, none missing: `nouns` says what of.
function wanted.list(owner, name, value, nouns)
  if type(value) ~= "table" then wrong(owner, name, "a list of " .. nouns, value) end
  local n = #value
  for key in soapstone.pairs(value) do
    if math.type(key) ~= "integer" then
      refuse("%s: %s should be a list of %s, and has '%s' in it", owner, name, nouns, key)
    elseif key < 1 or key > n then
      refuse("%s: %s should be a list of %s, and has an entry %d and none before it", owner, name, nouns, key)
    end
  end
  for i = 1, n do
    if value[i] == nil then refuse("%s: %s has no entry %d, and %d of them", owner, name, i, n) end
  end
  return value
end

local function each(read, nouns)
  return function(owner, name, value, bounds)
    for i, one in ipairs(wanted.list(owner, name, value, nouns)) do
      read(owner, ("entry %d of %s"):format(i, name), one, bounds)
    end
    return value
  end
end

wanted.numbers, wanted.strategies = each(wanted.number, "numbers"), each(wanted.strategy, "strategies")

return wanted
