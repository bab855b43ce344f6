-- The annotation file for editors names exactly what there is.
local check = require "check"
local offered = require "offered"
local small = require "small"
local soapstone = require "soapstone"

local equal, claim, sorted = check.equal, check.claim, check.keys

local function read(name)
  local f = assert(io.open(soapstone.home .. "/scripts/lua/luals/" .. name))
  local text = f:read "a"
  f:close()
  return text
end

local text = read "soapstone.lua" .. read "operators.lua"

-- Names that the file says: fields of a class, and functions and methods of its variable.
local function annotated(class, variable)
  local names, inside = {}, false
  for line in text:gmatch "[^\n]*" do
    local opened = line:match "^%-%-%-@class ([%w_.]+)"
    if opened then inside = opened == class end
    local field = line:match "^%-%-%-@field ([%w_]+)"
    if inside and field then names[field] = true end
    local owner, name = line:match "^function ([%w_]+)[.:]([%w_]+)%("
    if owner and owner == variable then names[name] = true end
  end
  return names
end

local function registered(object)
  local names, meta = {}, debug.getmetatable(object)
  for _, part in ipairs { "__fields", "__methods" } do
    for name in pairs(meta[part] or {}) do names[name] = true end
  end
  return names
end

local function entries(t)
  local names = {}
  for name in pairs(t) do names[name] = true end
  return names
end

claim("both files are Lua", function()
  assert(load(read "soapstone.lua", "soapstone.lua", "t"))
  assert(load(read "operators.lua", "operators.lua", "t"))
end)

claim("the module's functions and parts are all there", function()
  equal(sorted(annotated("soapstone", "soapstone")), sorted(entries(soapstone)))
  for _, part in ipairs { "calibrate", "costs", "dag", "model", "plot", "profile", "search", "topology", "trace", "unit" } do
    equal(sorted(annotated("soapstone." .. part .. "_module", part .. "_module")),
      sorted(entries(soapstone[part])))
  end
end)

claim("fields and methods of every type are all there", function()
  local p = soapstone.problem { model = small.net(), topology = small.quad() }
  local s = p:strategy "whole"
  local objects = {
    model = p.model, topology = p.topology, problem = p, strategy = s, result = p:simulate(s),
    costs = soapstone.costs.roofline(), search = soapstone.search.mcmc(p), fit = small.fit(), run = p:start(s), profile = small.profile(), trace = small.trace(),
    chance = soapstone.chance { step = 1 },
    repetitions = soapstone.problem { model = p.model, topology = p.topology,
      chance = soapstone.chance { step = { "gamma", mean = 1, cv = 1 } } }:repetitions(s, { n = 2 }),
  }
  for name, object in pairs(objects) do
    equal(sorted(annotated("soapstone." .. name, name)), sorted(registered(object)))
  end
  equal(sorted(annotated("soapstone.tensor", "tensor")), sorted(registered(p.model:op(1).inputs[1])))
end)

-- The names of the options that a call is annotated with: { a?: integer }, or the fields of a class.
local function annotated_options(variable, name)
  local last
  for line in text:gmatch "[^\n]*" do
    last = line:match "^%-%-%-@param options?%?? (.*)$" or line:match "^%-%-%-@param what (.*)$"
      or line:match "^%-%-%-@param times (.*)$" or last
    local owner, called = line:match "^function ([%w_]+)[.:]([%w_]+)%("
    if owner == variable and called == name then break end
    if owner then last = nil end
  end
  assert(last, name)
  local class = last:match "^soapstone%.[%w_]+$" or last:match "%[string%]: (soapstone%.[%w_]+)"
  if not class then
    local names = {}
    for option in last:gmatch '([%a_][%w_]*)"?%]?%??: ' do names[option] = true end
    return names
  end
  local names, inside = {}, false
  while class do
    local parent
    for line in text:gmatch "[^\n]*" do
      local opened = line:match "^%-%-%-@class ([%w_.]+)" == class
      inside = inside and line ~= "" or opened
      parent = opened and line:match ": ([%w_.]+)$" or parent
      local field = line:match '^%-%-%-@field %[?"?([%w_]+)'
      if inside and field then names[field] = true end
    end
    class = parent
  end
  return names
end

claim("the options of every call are all there, and no others", function()
  local variables = { calibrate = "calibrate_module", costs = "costs_module", dag = "dag_module", m = "model", model = "model_module",
    r = "result", s = "strategy", t = "topology", topology = "topology_module", plot = "plot_module" }
  for call, options in pairs(offered.options()) do
    local owner, name = call:match "([%w_]+)[.:]([%w_]+)$"
    local variable = call:find "^search%." and "search_module" or variables[owner] or owner
    equal(call .. " " .. sorted(annotated_options(variable, name)), call .. " " .. sorted(options))
  end
end)

claim("every part is a module of its own too", function()
  for name, part in pairs(soapstone) do
    if type(part) == "table" then
      equal(read("soapstone/" .. name .. ".lua"),
        ('---@meta soapstone.%s\nreturn require("soapstone").%s\n'):format(name, name))
      equal(require("soapstone." .. name), part)
    end
  end
end)

claim("operators.lua is what generate.lua writes", function()
  local run = io.popen(("'%s' run '%s/scripts/lua/luals/generate.lua'"):format(
    os.getenv "SOAPSTONE" or arg[-2], soapstone.home))
  local written = run:read "a"
  run:close()
  assert(written == read "operators.lua", "run scripts/lua/luals/generate.lua again")
end)

check.done()
