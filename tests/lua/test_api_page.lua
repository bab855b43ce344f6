-- docs/lua-api.md against the program, both ways.
--
-- On the page a call is written with its options, `r:write_dot(path, { max_nodes = 200, device_order })`,
-- or has a table of them; the program lists its own when it refuses one that it does not know.
local check = require "check"
local offered = require "offered"
local small = require "small"
local soapstone = require "soapstone"

local equal, claim, sorted = check.equal, check.claim, check.keys

local file = assert(io.open((os.getenv "SS_SRCDIR" or soapstone.home) .. "/docs/lua-api.md"))
local page = file:read "a"
file:close()

-- Sections by title; of each what is set as code: blocks and `spans`.
local sections, title = {}, nil
for line in page:gmatch "[^\n]*" do
  if line:match "^## " then
    title = line:sub(4)
    sections[title] = {}
  elseif title then
    table.insert(sections[title], line)
  end
end

-- What a section says in code: its spans, then the lines of its blocks.
local function spans_of(name)
  local spans, lines, text, block = {}, {}, {}, false
  for _, line in ipairs(assert(sections[name], name)) do
    if line:match "^%s*```" then
      block = not block
    else
      table.insert(block and lines or text, line)
    end
  end
  for span in table.concat(text, "\n"):gmatch "`([^`]+)`" do spans[#spans + 1] = span:gsub("%s+", " ") end
  return spans, lines
end

local function code_of(name)
  local code, lines = spans_of(name)
  return table.move(lines, 1, #lines, #code + 1, code)
end

local function words_of(name)
  local words = {}
  for _, code in ipairs(code_of(name)) do
    code = code:gsub("%-%-.*$", "") -- a comment is no code
    for word in code:gmatch "[%a_][%w_]*" do words[word] = true end
  end
  return words
end

-- Calls stand with what they are called on, `costs.stack` or `s:pin`.
local function calls_on_page(section, names, owner)
  local code, absent = table.concat(code_of(section), "\n"), {}
  for name in pairs(names) do
    if not code:find("%f[%w_]" .. owner .. name .. "%f[^%w_]") then absent[#absent + 1] = owner .. name end
  end
  equal(table.concat(absent, " "), "")
end

local function on_page(section, names, of)
  local words, absent = words_of(section), {}
  for name in pairs(names) do
    if not words[name] then absent[#absent + 1] = of .. name end
  end
  equal(table.concat(absent, " "), "")
end

-- What the page says: the names between the braces of the call, or in the first column of a table.
local function options_of_call(section, call)
  for _, span in ipairs(spans_of(section)) do
    local braces = span:sub(1, #call) == call and span:sub(#call + 1):match "^%s*%(?[^{]*(%b{})"
    if braces then
      local names = {}
      for part in (braces:sub(2, -2) .. ","):gmatch "([^,]*)," do
        names[assert(part:match "[%a_][%w_]*", span)] = true
      end
      return names
    end
  end
  error("the page has no call of " .. call .. " with its options", 2)
end

local function first_column(section, header)
  local names, inside = {}, false
  for _, line in ipairs(sections[section]) do
    if line:sub(1, #header) == header then
      inside = true
    elseif inside and line:sub(1, 1) == "|" then
      for name in line:match "^|([^|]*)|":gmatch "`([%a_][%w_]*)" do names[name] = true end
    elseif inside then
      return names
    end
  end
  error("the page has no table " .. header, 2)
end

local function keys(t)
  local names = {}
  for name in pairs(t) do names[name] = true end
  return names
end

local m, t = small.net(), small.quad()
local p = soapstone.problem { model = m, topology = t }
local s = p:strategy "data_parallel"
local r = p:simulate(s)
local search = soapstone.search.mcmc(p, { proposals = 20 }):run()
local luck = soapstone.chance { compute = { "lognormal", cv = 0.1 } }
local lucky = soapstone.problem { model = m, topology = t, chance = luck }
local many = lucky:repetitions(s, { n = 2 })
local node = t:device_list() and require("soapstone.topology").new({ name = "n" }):switch "s"
local objects = {
  { "Models", m, "m" }, { "Models", m:op(1).inputs[1], "x" }, { "Topologies", t, "t" },
  { "Topologies", node, "a" }, { "Costs", soapstone.costs.roofline(), "c" },
  { "Problems", p, "problem" }, { "Strategies", s, "s" }, { "Results", r, "r" },
  { "Chance", luck, "luck" }, { "Chance", many, "many" }, { "Acting during a run", p:start(s), "run" }, { "Searches", search, "found" }, { "Calibration", small.fit(), "fit" },
  { "Measuring operators", small.profile(), "profile" }, { "Measuring operators", small.trace(), "trace" },
}
local kinds = {}
for _, kind in ipairs(soapstone.model.kinds()) do kinds[kind.name] = true end
local modules = {
  { "Scripts", soapstone, "soapstone" }, { "Costs", soapstone.costs, "costs" },
  { "Bare task graphs", soapstone.dag, "dag" }, { "Calibration", soapstone.calibrate, "calibrate" }, { "Models", soapstone.model, "model" },
  { "Measuring operators", soapstone.profile, "profile" }, { "Measuring operators", soapstone.trace, "trace" }, { "Records and figures", soapstone.plot, "plot" }, { "Searches", soapstone.search, "search" }, { "Topologies", soapstone.topology, "topology" },
  { "Units", soapstone.unit, "unit" },
  { "Options and reports", require "soapstone.options", "options" },
  { "Options and reports", require "soapstone.report", "report" },
  { "Options and reports", require "soapstone.layers", "layers" },
  { "Processes", require "soapstone.process", "process" },
}

claim("every function of every module is on the page", function()
  for _, it in ipairs(modules) do
    if it[2] == soapstone then
      on_page(it[1], keys(it[2]), "soapstone.")
    else
      calls_on_page(it[1], keys(it[2]), it[3] .. ".")
    end
  end
end)

claim("every field and method of every type is on the page", function()
  for _, it in ipairs(objects) do
    local meta, methods = debug.getmetatable(it[2]), {}
    for name in pairs(meta.__methods or {}) do
      methods[name] = not kinds[name] and name ~= "close" or nil
    end
    on_page(it[1], meta.__fields or {}, it[3] .. ".")
    calls_on_page(it[1], methods, it[3] .. ":")
  end
  assert(words_of("Scripts").close)
end)

claim("what processes and their simulation do is on the page", function()
  local sim = require("soapstone.process").new { topology = t }
  local process = sim:spawn("p", function() end)
  calls_on_page("Processes", debug.getmetatable(sim).__methods, "sim:")
  calls_on_page("Processes", debug.getmetatable(process).__methods, "p:")
end)

claim("every option of a call is on the page, and no other", function()
  local of_section = {
    { "Models", "model.new" }, { "Models", "m:input" }, { "Topologies", "topology.new" },
    { "Topologies", "t:set_routing" }, { "Topologies", "t:set_link" },
    { "Costs", "costs.roofline" }, { "Costs", "costs.table" }, { "Costs", "costs.given { fc1 =" },
    { "Problems", "problem:load_strategy" }, { "Problems", "problem:simulate" }, { "Chance", "problem:repetitions" },
    { "Strategies", "s:set" }, { "Strategies", "s:copy" },
    { "Acting during a run", "problem:start" }, { "Acting during a run", "soapstone.run" },
    { "Acting during a run", "run:set_link" }, { "Acting during a run", "run:set_device" },
    { "Acting during a run", "run:compute" }, { "Acting during a run", "run:send" },
    { "Bare task graphs", "dag.start" }, { "Collectives", "soapstone.collective" },
    { "Searches", "search.exhaustive" }, { "Searches", "found:run", "search:run" },
    { "Searches", "found:more", "search:more" },
    { "Results", "r:write_trace" }, { "Results", "r:write_dot" },
    { "Records and figures", "soapstone.record" }, { "Records and figures", "soapstone.inspect" },
    { "Records and figures", "soapstone.plot.gantt" }, { "Records and figures", "soapstone.plot.search" },
    { "Records and figures", "soapstone.plot.lines" }, { "Records and figures", "soapstone.plot.throughput" },
    { "Records and figures", "soapstone.plot.strategy" },
    { "Records and figures", "soapstone.plot.calibration" },
    { "Executing a step", "problem:execute" }, { "Executing a step", "problem:proof" },
    { "Measuring operators", "problem:profile" }, { "Measuring operators", "problem:list_times" },
    { "Measuring operators", "trace:profile" },
    { "Calibration", "calibrate.fit" }, { "Calibration", "calibrate.read" },
    { "Calibration", "fit:curve" }, { "Calibration", "fit:seconds" },
    { "Bare task graphs", "dag.simulate" }, { "Bare task graphs", "dag.random" },
    { "A stock Lua", "soapstone.repeatable" },
  }
  local all = offered.options()
  local tables = { "problem:strategy", "soapstone.chance", "soapstone.problem", "t:device", "t:link" } -- below
  for _, c in ipairs(of_section) do
    local call = c[3] or c[2]:match "^[%w_.:]+"
    equal(c[2] .. " " .. sorted(options_of_call(c[1], c[2])), c[2] .. " " .. sorted(assert(all[call], call)))
    all[call] = nil
  end
  equal(sorted(first_column("Topologies", "| option of a device")),
    sorted(all["t:device"]))
  equal(sorted(first_column("Topologies", "| option of a link")),
    sorted(all["t:link"]))
  local of_problem = first_column("Problems", "| option ")
  for _, name in ipairs { "model", "topology", "costs" } do
    assert(not of_problem[name])
    of_problem[name] = true
  end
  equal(sorted(of_problem), sorted(all["soapstone.problem"]))
  equal(sorted(first_column("Chance", "| option of chance")), sorted(all["soapstone.chance"]))
  for _, call in ipairs(tables) do all[call] = nil end
  local of_search = first_column("Searches", "| option ")
  for name in pairs(all["search.annealing"]) do -- which has them all
    assert(of_search[name], name)
  end
  equal(sorted(of_search), sorted(all["search.annealing"]))
  local without = { mcmc = "beta_growth", greedy = "beta beta_growth beta_relative hastings",
    random = "beta beta_growth beta_relative group hastings neighbour" }
  for searcher, names in pairs(without) do
    local left = {}
    for name in pairs(of_search) do
      left[name] = not (" " .. names .. " "):find(" " .. name .. " ", 1, true) or nil
    end
    equal(sorted(all["search." .. searcher]), sorted(left))
  end
  for _, name in ipairs { "annealing", "mcmc", "greedy", "random" } do all["search." .. name] = nil end
  equal(sorted(all), "") -- none was forgotten
end)

claim("what a problem's options are unless given stands beside them", function()
  for _, line in ipairs(sections.Problems) do
    local name, preset = line:match "^| `([%w_]+)` | ([^|]*) |"
    if name then equal(name .. " " .. preset:gsub('[`"]', ""), name .. " " .. tostring(p.options[name]):gsub("%.0$", "")) end
  end
end)

claim("what the options of a search are unless given stands beside them", function()
  local s = soapstone.search.annealing(p, { stop_half = true })
  local there = 0
  for _, line in ipairs(sections.Searches) do
    local name, preset = line:match "^| `([%w_]+)` | ([^|]*) |"
    local value = name and name ~= "stop_half" and s.options:match("%f[%w_]" .. name .. " = ([^\n]*)")
    if value and preset:find '^[`"%d]' then
      equal(name .. " " .. preset:gsub('[`"]', ""), name .. " " .. value)
      there = there + 1
    end
  end
  equal(there, 14)
  equal(soapstone.search.mcmc(p).options:match "stop_half = (%w+)", "false")
end)

claim("the ready-made strategies and their options are on the page, and no others", function()
  local named = first_column("Strategies", "| kind ")
  local ok, message = pcall(p.strategy, p, "zzzzzzzzzzzz")
  assert(not ok)
  local ready = {}
  for name in message:match "there are (.*)$":gsub(" and ", ", "):gmatch "[%w_]+" do ready[name] = true end
  equal(sorted(named), sorted(ready))
  for _, line in ipairs(sections.Strategies) do
    local kind, last = line:match "^| `([%w_]+)` |[^|]*|([^|]*)|$"
    if kind then
      local names = { name = true }
      for name in last:gsub("%b()", ""):gmatch "`([%w_]+)`" do names[name] = true end
      equal(kind .. " " .. sorted(names), kind .. " " .. sorted(offered.options_of(p.strategy, p, kind)))
    end
  end
end)

claim("what is in the tables that calls give is on the page", function()
  on_page("Models", keys(m:totals()), "totals.")
  local shared = soapstone.model.new { name = "shared" }
  shared:linear("fc", shared:input("x", { 4, 4 }), { out = 3, share = "w" })
  on_page("Models", keys(shared:op "fc"), "op.")
  on_page("Models", keys(shared:op("fc").dims[1]), "dims.")
  for _, kind in ipairs(soapstone.model.kinds()) do
    on_page("Models", keys(kind), "kinds.")
    for _, a in ipairs(kind.attributes) do on_page("Models", keys(a), "attributes.") end
  end
  on_page("Topologies", keys(t:device_list()[1]), "device_list.")
  on_page("Topologies", keys(t:link_list()[1]), "link_list.")
  on_page("Topologies", keys(soapstone.topology.kinds()[1]), "kinds.")
  on_page("Problems", keys(p.options), "options.")
  local other = s:copy { name = "other" }
  other:set(1, { devices = { 4, 3, 2, 1 } })
  local differences = s:diff(other)
  on_page("Strategies", keys(s:get(1)), "get.")
  on_page("Strategies", keys(differences[1]), "diff.")
  for _, of in ipairs { "devices", "links" } do
    on_page("Results", keys(r[of][1]), of .. ".")
  end
  on_page("Results", keys(r.devices[1].peak), "peak.")
  on_page("Results", keys(r.moved), "moved.")
  on_page("Results", keys(r.critical), "critical.")
  for _, step in ipairs(r.critical.steps) do on_page("Results", keys(step), "steps.") end
  on_page("Results", keys(r.wall_clock), "wall_clock.")
  for i = 1, r.tasks do on_page("Results", keys(r:task(i)), "task.") end
  on_page("Results", keys(r:memory(1)[1]), "memory.")
  local run = p:start(s)
  for i = 1, run.tasks do on_page("Acting during a run", keys(run:task(i)), "task.") end
  on_page("Collectives", keys(soapstone.collective { topology = t, bytes = 1 }), "collective.")
  on_page("Searches", keys(search.chains[1]), "chains.")
  local fit = small.fit()
  for _, of in ipairs { fit.errors, fit.told, fit.line, fit.rows[1], fit.rows[2], fit:curve()[1] } do
    on_page("Calibration", keys(of), "fit.")
  end
  local _, proof = soapstone.search.exhaustive(p)
  on_page("Searches", keys(proof), "proof.")
  on_page("Searches", keys(proof.cut), "cut.")
end)

claim("what the page names exists", function()
  local there = {}
  local function add(name, names)
    there[name] = there[name] or {}
    for key in pairs(names) do there[name][key] = true end
  end
  for _, it in ipairs(modules) do add(it[3], keys(it[2])) end
  for _, it in ipairs(objects) do
    local meta = debug.getmetatable(it[2])
    add(it[3], meta.__fields or {})
    add(it[3], meta.__methods or {})
  end
  there.x.close = true -- any type
  for _, name in ipairs { "accuracy", "accuracy_report", "arguments", "correction", "layers", "measured", "options", "others", "process", "report", "roofline", "trial" } do
    there.soapstone[name] = pcall(require, "soapstone." .. name) -- the Lua half
  end
  local absent = {}
  for section in pairs(sections) do
    for _, span in ipairs(spans_of(section)) do
      for owner, name in span:gmatch "%f[%w_]([%a_]+)[.:]([%a_][%w_]*)" do
        if there[owner] and not there[owner][name] and name ~= "KIND" and name ~= "lua" and name ~= "NAME" then
          absent[#absent + 1] = owner .. "." .. name
        end
      end
    end
  end
  equal(table.concat(absent, " "), "")
end)

check.done()
