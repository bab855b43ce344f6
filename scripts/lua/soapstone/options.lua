-- options.lua - a table of options against a table of presets.
--
--   local o = options(o, { layers = 8, width = 4096, dtype = "bf16", residual = true })
--
-- gives back a new table with every preset that was not overridden.  A name that is not in the
-- presets is refused with the nearest one, and so is a value of another type; the error carries the
-- place in the user's script, not in the file that called this.  It begins with the name of that file, or with
-- a third argument: options(o, { seed = 0 }, "trial.compare").
--
-- What a preset says about its option:
--   8        a whole number, at least 1      0        a whole number, at least 0
--   0.1      a number                        true     true or false
--   "f32"    a text                          { ... }  a table
-- A rule says more:
--   options.count(8, { min = 2, max = 64 })     options.number(0.5, { min = 0, max = 1 })
--   options.quantity("25 GB/s", "B/s")          a number, or a text with a unit; gives the number
--   options.choice("ring", { "ring", "tree" })  one of a list
--   options.list({ 4, 4 }, "sizes")             a list without holes and names; help says what of
--   options.any(nil, "a number or a list")      anything, nothing too; help says what
--   options.required "count"                    must be given: count, number, text, flag, list
--                                               or options.required("quantity", "B/s")

local soapstone = require "soapstone"
local wanted = require "soapstone.wanted"

local nearest, ordered, kind_of = soapstone.nearest, soapstone.pairs, wanted.kind_of

-- Every refusal begins with whose options they are: "nmt: option 'batch' is 0 ...".  Owners are the functions that
-- called this, by what the script called: a function that hands its options on to another's is still the one.
local owners = setmetatable({}, { __mode = "k" })
local made = setmetatable({}, { __mode = "k" }) -- tables that were given back, by where they came from
local whose = ""

local function refuse(format, ...)
  soapstone.refuse("%s" .. format, whose, ...)
end

-- For what only the model or topology can know.
local function refuse_later(format, ...)
  local level, prefix = 2, ""
  local at = debug.getinfo(level, "f")
  while at do
    if owners[at.func] then
      prefix = owners[at.func]
      break
    end
    level = level + 1
    at = debug.getinfo(level, "f")
  end
  soapstone.refuse("%s" .. format, prefix, ...)
end

local Rule = {} -- the metatable of rules: tells them from tables that are presets

local function wrong(name, noun, value)
  refuse("option '%s' should be %s, not %s", name, noun, kind_of(value))
end

local function limits(r, show)
  local parts = {}
  if r.above then parts[#parts + 1] = "above " .. show(r.above) end
  if r.min then parts[#parts + 1] = "at least " .. show(r.min) end
  if r.max then parts[#parts + 1] = "at most " .. show(r.max) end
  return table.concat(parts, " and ")
end

local function bounded(name, value, r, show)
  show = show or tostring
  if r.above and not (value > r.above and value <= r.max) then
    refuse("option '%s' is %s; it must be %s", name, show(value), limits(r, show))
  elseif r.min and not (value >= r.min) then
    refuse("option '%s' is %s; it must be at least %s", name, show(value), show(r.min))
  elseif r.max and not (value <= r.max) then
    refuse("option '%s' is %s; it must be at most %s", name, show(value), show(r.max))
  end
  return value
end

local read = {}

function read.count(name, value, r)
  local number = value
  if type(value) == "string" then -- "4k", as the options of our C functions take it
    local ok, count = pcall(soapstone.unit.read, value, "1")
    number = ok and count or nil
  end
  if type(number) ~= "number" then wrong(name, "a whole number, such as 4000 or \"4k\"", value) end
  local whole = math.tointeger(number)
  if number ~= number then refuse("option '%s' is not a number (nan)", name) end
  if not whole and number == math.floor(number) then
    refuse("option '%s' is %s; it must be %s", name, value, number < 0 and "at least " .. (r.min or math.mininteger) or
      "at most " .. (r.max or math.maxinteger))
  end
  if not whole then refuse("option '%s' is %s, which is not a whole number", name, value) end
  return bounded(name, whole, r)
end

function read.number(name, value, r)
  if type(value) ~= "number" then wrong(name, "a number", value) end
  if value ~= value then refuse("option '%s' is not a number (nan)", name) end
  return bounded(name, value, r)
end

-- A plain number that a link's figure hardly is, as t:link refuses it; with its unit it is taken.
local function refuse_slip(name, value, slip)
  if slip == "bandwidth" and value > 0 and value < 1000 then
    refuse("option '%s' = %.6g means %.6g B/s; write \"%.6g GB/s\" or \"%.6g Gb/s\", or \"%.6g B/s\"", name, value, value,
      value, value, value)
  elseif slip == "latency" and value >= 1 and value < 1e6 then
    refuse("option '%s' = %.6g means %.6g s; write \"%.6g us\" for microseconds, or \"%.6g s\"", name, value, value, value,
      value)
  end
end

function read.quantity(name, value, r)
  if type(value) ~= "number" and type(value) ~= "string" then
    wrong(name, ("a number or a text with its unit (%s)"):format(r.unit), value)
  end
  local ok, number = pcall(soapstone.unit.read, value, r.unit)
  if not ok then refuse("option '%s'%s", name, (number:gsub("^.-the quantity", ""))) end
  if r.slip and type(value) == "number" then refuse_slip(name, number, r.slip) end
  return bounded(name, number, r, function(x) return soapstone.unit.show(x, r.unit) end)
end

function read.text(name, value)
  if type(value) ~= "string" then wrong(name, "a text", value) end
  return value
end

function read.flag(name, value)
  if type(value) ~= "boolean" then wrong(name, "true or false", value) end
  return value
end

function read.list(name, value, r)
  if type(value) ~= "table" then wrong(name, r.says and "a list of " .. r.says or "a table", value) end
  if not r.says then return value end
  local n = #value
  for key in ordered(value) do
    if math.type(key) ~= "integer" then
      refuse("option '%s' should be a list of %s, and has '%s' in it", name, r.says, key)
    elseif key < 1 or key > n then
      refuse("option '%s' should be a list of %s, and has an entry %d and none before it", name, r.says, key)
    end
  end
  for i = 1, n do
    if value[i] == nil then refuse("option '%s' has no entry %d, and %d of them", name, i, n) end
  end
  return value
end

function read.choice(name, value, r)
  if type(value) ~= "string" then wrong(name, "a text", value) end
  for _, one in ipairs(r.choices) do
    if one == value then return value end
  end
  local near = nearest(value, r.choices)
  if near then refuse("option '%s' cannot be '%s'; did you mean '%s'?", name, value, near) end
  refuse("option '%s' cannot be '%s'; there are %s", name, value, table.concat(r.choices, ", "))
end

function read.any(_, value)
  return value
end

local function rule_of(preset)
  if getmetatable(preset) == Rule then return preset end
  if math.type(preset) == "integer" then
    return { kind = "count", preset = preset, min = preset >= 1 and 1 or preset == 0 and 0 or nil }
  end
  local kinds = { number = "number", string = "text", boolean = "flag", table = "list" }
  return { kind = kinds[type(preset)] or "any", preset = preset }
end

local function refuse_unknown(given, presets)
  local names = {}
  for name in ordered(presets) do names[#names + 1] = name end
  for name in ordered(given) do
    if presets[name] == nil then
      if type(name) ~= "string" then
        refuse("options have names, and there is %s without one", kind_of(given[name]))
      end
      local near = nearest(name, names)
      if near then refuse("unknown option '%s'; did you mean '%s'?", name, near) end
      refuse("unknown option '%s'; there are %s", name, table.concat(names, ", "))
    end
  end
end

local options = {}

local Listing = {} -- the metatable of what leaves a function that is only asked for its options
local listing = false

local function make(_, given, presets, owner)
  if listing then error(setmetatable({ presets = presets }, Listing), 0) end
  local caller = debug.getinfo(2, "Sf")
  local file = caller and caller.source:match "^@.-([^/]+)%.lua$"
  whose = made[given] and made[given].whose or (owner or file) and (owner or file) .. ": " or ""
  if file then owners[caller.func] = whose end
  if given ~= nil and type(given) ~= "table" then
    refuse("a table of options is expected, not %s", kind_of(given))
  end
  local before = made[given]
  given = given or {}
  refuse_unknown(given, presets)
  local o = {}
  for name, preset in ordered(presets) do
    local r, value = rule_of(preset), rawget(given, name)
    if value ~= nil and before and r.slip and type(value) == "number" then
      o[name] = value -- it was read already
    elseif value ~= nil then
      o[name] = read[r.kind](name, value, r)
    elseif r.required then
      refuse("option '%s' is missing%s", name, r.unit and (" (%s)"):format(r.unit) or "")
    elseif r.kind == "quantity" and r.preset ~= nil then
      o[name] = soapstone.unit.read(r.preset, r.unit)
    else
      o[name] = r.preset
    end
  end
  made[o] = { given = given, whose = whose }
  return o
end

local function rule(kind, preset, more)
  local r = { kind = kind, preset = preset }
  for name, value in ordered(more or {}) do r[name] = value end
  return setmetatable(r, Rule)
end

function options.count(preset, bounds) return rule("count", preset, bounds) end
function options.number(preset, bounds) return rule("number", preset, bounds) end
function options.choice(preset, choices, unless)
  return rule("choice", preset, { choices = choices, unless = unless })
end
function options.any(preset, says) return rule("any", preset, { says = says }) end
function options.list(preset, says) return rule("list", preset, { says = says }) end

function options.quantity(preset, unit, bounds)
  local r = rule("quantity", preset, bounds)
  r.unit = unit
  return r
end

function options.required(kind, unit)
  if not read[kind] then error(("there is no kind of option '%s'"):format(kind), 2) end
  return rule(kind, nil, { required = true, unit = unit })
end

-- Whether the script itself said it, and not a preset.
function options.is_given(o, name)
  local from = made[o]
  while from and made[from.given] do from = made[from.given] end
  return from ~= nil and rawget(from.given, name) ~= nil
end

-- One value by a rule, for options that are several.
function options.value(name, value, r)
  return read[r.kind](name, value, r)
end

local function bounds(r)
  if r.min and r.max and not r.unit then return (", %s to %s"):format(r.min, r.max) end
  local text = limits(r, function(x) return r.unit and x ~= 0 and soapstone.unit.show(x, r.unit) or tostring(x) end)
  return text ~= "" and ", " .. text or ""
end

local says = {
  count = function(r) return "a whole number" .. bounds(r) end,
  number = function(r) return "a number" .. bounds(r) end,
  quantity = function(r) return "a quantity in " .. r.unit .. (r.slip and "" or bounds(r)) end,
  choice = function(r) return "one of " .. table.concat(r.choices, ", ") end,
  text = function() return "a text" end,
  flag = function() return "true or false" end,
  list = function(r) return r.says and "a list of " .. r.says or "a table" end,
  any = function(r) return r.says or "of several kinds" end,
}

-- A preset as a script would write it.
local function written(value, inner)
  if type(value) == "string" then return inner and ("%q"):format(value) or value end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for key, one in ordered(value) do
    parts[#parts + 1] = (math.type(key) == "integer" and "" or key .. " = ") .. written(one, true)
  end
  return #parts == 0 and "{}" or "{ " .. table.concat(parts, ", ") .. " }"
end

-- A line for each option that a function of options declares.  It is called with none and left at its
-- call of options(o, { ... }): what it makes is not made.
function options.help(declares)
  if type(declares) ~= "function" then
    soapstone.refuse("options.help: a function of options is needed, not %s", kind_of(declares))
  end
  listing = true
  local done, left = pcall(declares, {})
  listing = false
  if done or getmetatable(left) ~= Listing then return "" end
  local lines = {}
  for name, preset in ordered(left.presets) do
    local r = rule_of(preset)
    local otherwise = r.required and "must be given" or r.unless or written(r.preset) .. " unless given"
    lines[#lines + 1] = ("  %-20s %s; %s\n"):format(name, says[r.kind](r), otherwise)
  end
  return table.concat(lines)
end

options.refuse = refuse_later -- refuse(format, ...)

return setmetatable(options, { __call = make })
