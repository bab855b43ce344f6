-- parts.lua - what the commands that take a model and a topology share: reading their options, and files of the
-- user's own.

local soapstone = require "soapstone"

local parts = {}
local given -- what stands on the command line

function parts.of(arguments)
  given = arguments
  return parts
end

function parts.last(name)
  return given[name] and given[name][#given[name]]
end

function parts.refuse_with(what, names)
  for _, name in ipairs(names) do
    if given[name] then soapstone.refuse("--%s does not go with %s", name, what) end
  end
end

-- "4" -> 4, "true" -> true, everything else is text.
function parts.value_of(text)
  if text == "true" or text == "false" then return text == "true" end
  return math.tointeger(text) or tonumber(text) or text
end

-- "4000", "4k" or "1e4" of --NAME, as in every option that counts.
function parts.count(name)
  local text = parts.last(name)
  if not text then return nil end
  local ok, number = pcall(soapstone.unit.read, text, "1")
  return ok and math.tointeger(number) or
    soapstone.refuse("--%s should be a whole number, such as 4000 or 4k, not '%s'", name, text)
end

-- What other options of the command give, and what is meant by -o model=3.
local elsewhere = {
  model = "the model is given by --model, its options are model.NAME=VALUE",
  topology = "the topology is given by --topology, its options are topology.NAME=VALUE",
  costs = "measured times are given by --costs FILE",
  chance = "what is drawn is given by chance.NAME=VALUE, such as chance.compute='lognormal cv 0.05'",
}

-- --option model.batch=64: tables of options by what they are for; `more` are parts besides model, topology and chance.
function parts.read_options(more)
  local options = { model = {}, topology = {}, chance = {}, problem = {} }
  local known = { "model", "topology", "chance" }
  for _, part in ipairs(more or {}) do options[part], known[#known + 1] = {}, part end
  for _, word in ipairs(given.option or {}) do
    local key, value = word:match "^([%w_.]+)=(.*)$"
    if not key then soapstone.refuse("--option should be KEY=VALUE, not '%s'", word) end
    local part, name = key:match "^([%w_]+)%.([%w_]+)$"
    if not part then part, name = "problem", key end
    if part == "problem" and elsewhere[name] then
      soapstone.refuse("--option %s: %s", word, elsewhere[name])
    end
    if not options[part] then
      local near = soapstone.nearest(part, known)
      if near then
        soapstone.refuse("--option %s: did you mean %s.%s?", key, near, name)
      end
      soapstone.refuse("--option %s: there are %s.NAME, and options of the problem", key,
        table.concat(known, ".NAME, "))
    end
    if options[part][name] ~= nil then
      soapstone.refuse("--option %s is there twice, and the second time as %s", key, value)
    end
    options[part][name] = parts.value_of(value)
  end
  return options
end

-- Files of the user's own that the run is made of, for the record, and the folders they lie in.
local files, beside = {}, {}

local function keep(path, text)
  if not text:find("\0", 1, true) then files[path] = text end -- else it is no text
end

-- All of these, and what they required from beside them: texts by the names of their files.
function parts.own_files()
  for name in pairs(package.loaded) do
    for _, folder in ipairs(beside) do
      local path = package.searchpath(name, ("%s/?.lua;%s/?/init.lua"):format(folder, folder))
      local file = path and io.open(path, "rb")
      if file then
        keep(path, file:read "a" or "")
        file:close()
      end
    end
  end
  return files
end

-- What a file of the user's own returns; what it requires may lie beside it.
local function load_own(what, path)
  local file, wrong = io.open(path, "rb")
  if not file then soapstone.refuse("--%s %s", what, wrong) end
  local text, unreadable = file:read "a"
  file:close()
  if not text then soapstone.refuse("--%s %s: %s", what, path, unreadable) end
  keep(path, text)
  local folder = path:match "^(.*)/" or "."
  beside[#beside + 1] = folder
  package.path = ("%s/?.lua;%s/?/init.lua;%s"):format(folder, folder, package.path)
  local chunk, syntax = load((text:gsub("^#[^\n]*", "")), "@" .. path)
  if not chunk then
    soapstone.refuse("--%s should be the path of a Lua file: %s", what, syntax)
  end
  return chunk()
end

local function load_part(what, folder, name, options)
  local made
  if name:find "/" or name:find "%.lua$" then
    made = load_own(what, name)
  else
    made = require(folder .. "." .. name)
  end
  if type(made) == "function" then return made(options) end
  if type(made) ~= "userdata" then
    soapstone.refuse("--%s %s: the file should return a function of options, or the %s itself, not %s",
      what, name, what, ({ string = "a text", ["nil"] = "nothing" })[type(made)] or "a " .. type(made))
  end
  local option = next(options)
  if option then
    soapstone.refuse("--option %s.%s: %s returns a %s, not a function of options", what, option, name,
      what)
  end
  return made
end

-- Options without a dot are the problem's; who left the dot out is told where others go.
local function make_problem(o)
  local ok, problem = pcall(soapstone.problem, o)
  if ok then return problem end
  if problem:find("unknown option", 1, true) then
    soapstone.refuse("%s (options of the model are model.NAME, of the topology topology.NAME)", problem)
  end
  error(problem, 0)
end

function parts.is_file(name)
  return name:find "[./]" ~= nil
end

-- The strategy of that name or in that file, and for one of another size what fitted.
function parts.make_strategy(problem, name)
  if not parts.is_file(name) then return problem:strategy(name) end
  local by_name = given["by-name"] or false
  local strategy, counts = problem:load_strategy(name, { by_name = by_name })
  return strategy, by_name and ("%s, by name: %d operators of the model found in it, %d not; %d of its own not used")
    :format(name, counts.matched, counts.missing, counts.unknown) or nil
end

-- Strategies that were asked for; else all of `otherwise`, of which those that do not fit the model are passed over.
function parts.strategy_names(otherwise)
  if not given.strategy then return otherwise, true end
  local names, seen = {}, {}
  for _, word in ipairs(given.strategy) do
    for name in word:gmatch "[^,]+" do
      if seen[name] then soapstone.refuse("--strategy: %s is there twice", name) end
      names[#names + 1], seen[name] = name, true
    end
  end
  if #names == 0 then soapstone.refuse("--strategy has no name in it") end
  return names, false
end

-- These strategies, and a line for each that does not fit or came from a file of another size.
function parts.make_strategies(problem, names, all)
  local made, notes = {}, {}
  for _, name in ipairs(names) do
    local fits, strategy, note = pcall(parts.make_strategy, problem, name)
    if not fits and not all then error(strategy, 0) end
    if fits then made[#made + 1] = strategy end
    notes[#notes + 1] = fits and note or not fits and ("without %s: %s"):format(name, strategy) or nil
  end
  return made, notes
end

-- --columns "seconds=time_us [us],curve=id": what a file of the user's own calls them.
function parts.columns()
  if not given.columns then return nil end
  local columns = {}
  for _, word in ipairs(given.columns) do
    for pair in (word .. ","):gmatch "([^,]*)," do
      local ours, theirs = pair:match "^%s*([%w_]+)=(.+)$"
      if not ours then soapstone.refuse("--columns should be OURS=THEIRS,..., not '%s'", word) end
      columns[ours] = theirs
    end
  end
  return columns
end

-- Measured tables in the order they were given, and the roofline for what they do not know.
local function read_costs()
  local paths, columns = given.costs or given.profile, parts.columns()
  if columns and not given.costs then soapstone.refuse "--columns is what a table of --costs calls them: give --costs FILE.csv too" end
  if not paths then return nil end
  local list = {}
  for i, path in ipairs(paths) do
    local own = columns and not path:find "%.h5$" and not path:find "%.hdf5$"
    list[i] = soapstone.costs.table(path, own and { columns = columns } or nil)
    local file = io.open(path, "rb")
    if file then
      keep(path, file:read "a" or "")
      file:close()
    end
  end
  list[#list + 1] = soapstone.costs.roofline()
  return soapstone.costs.stack(list)
end

-- "lognormal cv 0.05", "gamma mean 3 us cv 0.5", "samples 1 1.02 1.1": what soapstone.chance takes; other texts and
-- numbers are constants.
local function distribution(name, value)
  local kind, rest = tostring(value):match "^(%a+)%s*(.*)$"
  if kind == "samples" then
    local values = {}
    for word in rest:gmatch "%S+" do values[#values + 1] = tonumber(word) or word end
    if #values == 0 then
      soapstone.refuse("--option chance.%s: '%s' should be like 'samples 1 1.02 1.1'", name, value)
    end
    return { kind, values = values }
  end
  if not kind then return value end
  if kind ~= "lognormal" and kind ~= "gamma" then
    local near = soapstone.nearest(kind, { "lognormal", "gamma", "samples" })
    soapstone.refuse("--option chance.%s: '%s' is no distribution; %s", name, kind,
      near and ("did you mean '%s'?"):format(near) or "there are lognormal, gamma and samples, and numbers")
  end
  local mean, cv = rest:match "^mean%s+(.-)%s+cv%s+(%S+)$"
  if not cv then cv = rest:match "^cv%s+(%S+)$" end
  if not tonumber(cv) then
    soapstone.refuse("--option chance.%s: '%s' should be like '%s cv 0.1' or '%s mean 3 us cv 0.5'", name, value, kind, kind)
  end
  return { kind, cv = tonumber(cv), mean = tonumber(mean) or mean }
end

-- chance.compute="lognormal cv 0.05" and so on; nil if there is none of them.
local function make_chance(options)
  if not next(options) then return nil end
  local o = {}
  for name, value in pairs(options) do
    if name == "kinds" or name == "on" or name == "slow" then
      soapstone.refuse("--option chance.%s: %s are said of operators and devices by name, in a table, which needs a script: "
        .. "soapstone.chance { %s = { ... } }", name, "kinds, on and slow", name)
    end
    o[name] = distribution(name, value)
  end
  return soapstone.chance(o)
end

-- What is to be executed or measured runs on this machine's cores, so many as --devices says, unless there is a --topology.
-- Whether all about these cores is left to the machine.
function parts.take_cores(options)
  if given.topology and given.devices then
    soapstone.refuse "--devices is for the cores that are meant without --topology; options of that one are topology.NAME"
  end
  if given.topology then return false end
  local left = next(options.topology) == nil
  if given.devices and options.topology.devices ~= nil then
    soapstone.refuse "--devices and --option topology.devices=... say the same: give one of them"
  end
  given.topology = { "cores" }
  options.topology.devices = parts.count "devices" or options.topology.devices
  return left
end

-- What an executed step does, a simulated one does too, unless something else is said.
function parts.as_executed(options)
  for name, value in pairs { sync = "ring", gather = true, partial_sums = true, update_passes = 3, copies_block = true,
    blocked_end = "receiver" } do
    if options.problem[name] == nil then options.problem[name] = value end
  end
end

-- The problem of --model, --topology, --costs (or --profile) and --option.
function parts.make_problem(options)
  local o = options.problem
  o.chance = make_chance(options.chance)
  o.costs = read_costs()
  o.model = load_part("model", "models", parts.last "model", options.model)
  o.topology = load_part("topology", "topologies", parts.last "topology", options.topology)
  return make_problem(o)
end

-- The same on another topology, with more options of the problem where they are not given.
function parts.remake_problem(options, topology, more)
  local o = options.problem
  o.topology = topology
  for name, value in pairs(more) do
    if o[name] == nil then o[name] = value end
  end
  return make_problem(o)
end

return parts
