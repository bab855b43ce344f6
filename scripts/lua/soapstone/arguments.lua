-- arguments.lua - the words behind a script's name as options, with help and with forms of several sizes.
--
--   local arguments = require "soapstone.arguments"
--   local o = arguments.read(arg, "what.lua: what it asks.", { devices = "8,16,32", seed = 1 },
--     { long = { devices = "8,16,32,64,128" } })
--   for _, n in ipairs(arguments.some("devices", o.devices, { 8, 16, 32, 64, 128 })) do ... end

local soapstone = require "soapstone"
local options = require "soapstone.options"

local arguments = {}

local function value_of(word, preset)
  if type(preset) == "string" then return word end
  if word == "true" or word == "false" then return word == "true" end
  return math.tointeger(word) or tonumber(word) or word
end

-- --NAME VALUE, --NAME=VALUE, and --NAME alone of what is on or off; at most one word without dashes is the folder.
local function read_words(words, presets, forms)
  local given, i = {}, 1
  while words[i] do
    local name, value = words[i]:match "^%-%-([%w_-]+)=(.*)$"
    name = name or words[i]:match "^%-%-([%w_-]+)$"
    if name == "help" or words[i] == "-h" then return nil end
    if not name then
      if given.folder then
        soapstone.refuse("one folder is expected: '%s' stands after '%s'", words[i], given.folder)
      end
      given.folder = words[i]
    elseif type(presets[name]) == "boolean" or forms[name] then
      if value == nil and (words[i + 1] == "true" or words[i + 1] == "false") then
        i = i + 1
        value = words[i]
      end
      given[name] = value == nil or value_of(value)
    else
      if not value then
        i = i + 1
        value = words[i] or soapstone.refuse("--%s needs a value after it", name)
      end
      given[name] = value_of(value, presets[name])
    end
    i = i + 1
  end
  return given
end

local function print_help(about, rules, forms)
  print(about)
  print "\noptions, each with a value after it:"
  io.write((options.help(function(o) options(o, rules) end):gsub("%f[^\n%z]  ", "  --")))
  for form, presets in soapstone.pairs(forms) do
    local more = {}
    for name, value in soapstone.pairs(presets) do more[#more + 1] = ("--%s %s"):format(name, value) end
    if #more > 0 then print(("with --%s: %s, unless given"):format(form, table.concat(more, " "))) end
  end
end

-- The options of a script from its words.  `presets` are rules as soapstone.options has them; a form of another size,
-- such as --long, has presets of its own in `forms`.  All scripts have --folder.  With --help it prints `about` and the
-- options, and ends the program.
function arguments.read(words, about, presets, forms)
  forms = forms or {}
  local rules = { folder = "." }
  for form in soapstone.pairs(forms) do rules[form] = false end
  for name, rule in soapstone.pairs(presets) do rules[name] = rule end
  local given = read_words(words, rules, forms)
  if not given then
    print_help(about, rules, forms)
    os.exit(0)
  end
  for form, others in soapstone.pairs(forms) do
    if given[form] == true then
      for name, value in soapstone.pairs(others) do rules[name] = value end
    end
  end
  local o = options(given, rules)
  local probe = o.folder .. "/.written"
  local file, wrong = io.open(probe, "w")
  if not file then options.refuse("--folder %s: nothing can be written there (%s)", o.folder, wrong) end
  file:close()
  os.remove(probe)
  return o
end

-- "a, b" as a list, each one of `names` (numbers or texts, or tables with a name); "all": all of them.
function arguments.some(what, text, names)
  local by, known, list = {}, {}, {}
  for i, one in ipairs(names) do
    local name = tostring(type(one) == "table" and one.name or one)
    by[name], known[i] = one, name
  end
  if text == "all" then return names end
  for word in text:gmatch "[^,%s]+" do
    if not by[word] then
      local near = soapstone.nearest(word, known)
      options.refuse("--%s has '%s' in it; %s", what, word,
        near and ("did you mean %s?"):format(near) or "there are " .. table.concat(known, ", "))
    end
    list[#list + 1] = by[word]
  end
  if #list == 0 then options.refuse("--%s has nothing in it", what) end
  return list
end

-- A number as people write it: 2.5, 1e-5, 4k, or with its unit, if it has one.
local function number_of(text, unit)
  local number = math.tointeger(text) or tonumber(text)
  for _, its in ipairs { "1", unit } do
    local ok, read = pcall(soapstone.unit.read, text, its)
    number = number or ok and (math.tointeger(read) or read) or nil
  end
  return number and math.abs(number) < math.huge and number or nil
end

local examples = { s = "10 us", B = "4 MiB" }

-- "1, 2.5, 4k" as a list of numbers of at least `least` (0 unless given), or "10 us, 3 ms" of quantities, if they have a `unit`.
-- Commas part them, and blanks that are not within one of them.
function arguments.numbers(what, text, least, unit)
  local list = {}
  local function add(word)
    local number = number_of(word, unit)
    if not number then
      options.refuse("--%s has '%s' in it, where numbers are expected%s", what, word, unit and (", such as %s or 4k"):format(examples[unit] or 3) or "")
    end
    if number < (least or 0) then options.refuse("--%s has %s in it; at least %s is expected", what, word, least or 0) end
    list[#list + 1] = number
  end
  for part in tostring(text):gmatch "[^,]+" do
    part = part:match "^%s*(.-)%s*$"
    if number_of(part, unit) then
      add(part)
    else
      for word in part:gmatch "%S+" do add(word) end
    end
  end
  if #list == 0 then options.refuse("--%s has nothing in it", what) end
  return list
end

return arguments
