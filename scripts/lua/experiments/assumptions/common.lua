-- common.lua - what the experiments on assumptions share: their options, and the networks and clusters that they use.

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"
local soapstone = require "soapstone"
local trial = require "soapstone.trial"

local common = {}

-- Networks with samples for each device (weak scaling), and the machines that they are run on: the first four as FlexFlow
-- (MLSys 2019) did, on P100 with an adapter of 100 Gb/s each; a GPT-2 in bf16 on H100 with 400 Gb/s.
local p100 = { kind = "p100", bandwidth = "12 GB/s" }
local h100 = { kind = "h100", bandwidth = "48 GB/s" }
common.networks = {
  { name = "alexnet", samples = 64, on = p100 },
  { name = "inception_v3", samples = 32, on = p100, options = { norm = "none" } },
  { name = "nmt", samples = 64, on = p100 },
  { name = "mlp", samples = 64, on = p100 },
  { name = "rnnlm", samples = 64, on = p100 },
  { name = "gpt", samples = 4, on = h100, options = { size = "124M" } },
}

function common.network(name)
  return arguments.some("network", name, common.networks)[1]
end

-- The model for so many devices.
function common.model(network, devices, more)
  local o = { batch = network.samples * devices }
  for key, value in soapstone.pairs(network.options or {}) do o[key] = value end
  for key, value in soapstone.pairs(more or {}) do o[key] = value end
  return require("models." .. network.name)(o)
end

-- Leaves of eight devices under four spines, or one switch for up to eight.
function common.fat_tree(network, devices, oversubscription, more)
  local o = { down = { math.min(devices, 8) }, kind = network.on.kind, bandwidth = network.on.bandwidth }
  if devices > 8 then o.down, o.up, o.oversubscription = { 8, devices // 8 }, { 4 }, oversubscription or 1 end
  for key, value in soapstone.pairs(more or {}) do o[key] = value end
  return require "topologies.fat_tree" (o)
end

local clusters = {
  fat_tree = common.fat_tree,
  p100_cluster = function(network, devices)
    return require "topologies.p100_cluster" { nodes = math.max(devices // 4, 1), gpus = math.min(devices, 4), kind = network.on.kind }
  end,
  k80_cluster = function(_, devices)
    return require "topologies.k80_cluster" { nodes = math.max(devices // 4, 1), gpus = math.min(devices, 4) }
  end,
  torus = function(network, devices) -- as square as it can be
    local rows = math.floor(math.sqrt(devices))
    while devices % rows > 0 do rows = rows - 1 end
    return require "topologies.torus" { sizes = { rows, devices // rows }, kind = network.on.kind, bandwidth = network.on.bandwidth }
  end,
  ring = function(network, devices)
    return require "topologies.ring" { devices = devices, kind = network.on.kind, bandwidth = network.on.bandwidth }
  end,
}
common.clusters = { "fat_tree", "p100_cluster", "k80_cluster", "torus", "ring" }

-- The links between machines or leaves: those that join two switches, or all where no two switches are joined.  By number.
function common.network_links(t)
  local devices, between, all = {}, {}, {}
  for _, device in ipairs(t:device_list()) do devices[device.name] = true end
  for i, link in ipairs(t:link_list()) do
    all[i] = i
    if not (devices[link.from] or devices[link.to]) then between[#between + 1] = i end
  end
  return #between > 0 and between or all
end

-- So many devices in a ready-made topology, with the network's kind of device and bandwidth where it takes them.
function common.cluster(name, network, devices, oversubscription)
  local t = clusters[name](network, devices, oversubscription)
  if t.devices ~= devices then options.refuse("%s has %d devices, where %d are meant: machines have four", name, t.devices, devices) end
  return t
end

-- The same topology, of which every device has so many bytes of memory.
function common.with_memory(t, bytes)
  local copy, nodes = require("soapstone.topology").new { name = t.name, routing = t.routing, routing_seed = t.routing_seed }, {}
  for _, device in ipairs(t:device_list()) do
    local own = {}
    for key, value in soapstone.pairs(device) do own[key] = value end
    own.name, own.memory = nil, bytes
    nodes[device.name] = copy:device(device.name, own)
  end
  for _, switch in ipairs(t:switch_list()) do nodes[switch.name] = copy:switch(switch.name, { stages = switch.stages }) end
  for _, link in ipairs(t:link_list()) do
    copy:link(nodes[link.from], nodes[link.to], { bandwidth = link.bandwidth, latency = link.latency, weight = link.weight, kind = link.kind, duplex = "one_way" })
  end
  for _, route in ipairs(t:route_list()) do copy:route(nodes[route.from], nodes[route.to], route.links) end
  return copy
end

-- One model of several networks side by side, which share nothing: their operators and weights are called "job1.", "job2.", ...
-- and what they have alone.  The ready-made function makes its model of a table that passes all on to the common one.
function common.jobs(network, number, devices, more)
  local model = require "soapstone.model"
  local all = model.new { name = ("%d %s"):format(number, network.name), dtype = network.on == h100 and "bf16" or "f32" }
  local module, job = "models." .. network.name, 0
  local function stand_in()
    return setmetatable({}, { __metatable = "soapstone.model", __index = function(_, kind)
      return function(_, name, inputs, o)
        local own = {}
        for key, value in soapstone.pairs(o or {}) do own[key] = value end
        if own.share then own.share = ("job%d.%s"):format(job, own.share) end
        return all[kind](all, ("job%d.%s"):format(job, name), inputs, own)
      end
    end })
  end
  local kept = package.loaded[module]
  package.loaded["soapstone.model"], package.loaded[module] = { new = stand_in }, nil
  local ok, make = pcall(require, module)
  local o = { batch = network.samples * devices }
  for key, value in soapstone.pairs(network.options or {}) do o[key] = value end
  for key, value in soapstone.pairs(more or {}) do o[key] = value end
  while ok and job < number do
    job = job + 1
    local wrong
    ok, wrong = pcall(make, o)
    make = ok and make or wrong
  end
  package.loaded["soapstone.model"], package.loaded[module] = model, kept
  if not ok then error(make, 0) end
  return all
end

-- The options that every experiment has, and its own: those that rerun steps say how often at most.  `tiny` is the form that tests run.
function common.options(about, presets, long, tiny)
  local all = { workers = options.count(0, { min = 0 }), seed = options.count(1, { min = 0 }), sync = "ring" }
  if presets.runs then all.most_runs = options.count(16, { min = 0 }) end
  for name, rule in soapstone.pairs(presets) do all[name] = rule end
  return arguments.read(arg, about, all, { long = long, tiny = tiny })
end

-- The product of lists: a cell for each choice of one from each, the last list the fastest.  Each is { name, values }.
function common.cells(...)
  local cells = { {} }
  for _, list in ipairs { ... } do
    local more = {}
    for _, cell in ipairs(cells) do
      for _, value in ipairs(list[2]) do
        local longer = { [list[1]] = type(value) == "table" and value.name or value }
        for key, old in soapstone.pairs(cell) do longer[key] = old end
        more[#more + 1] = longer
      end
    end
    cells = more
  end
  return cells
end

-- The cells of networks, topologies and cluster sizes that the options ask for, and of more lists.  Inception-v3, which takes
-- ten times as long as others, is left out on more than `most_inception` devices.
function common.groups(o, ...)
  local all, cells = common.cells({ "topology", arguments.some("topologies", o.topologies, common.clusters) },
    { "devices", arguments.numbers("devices", o.devices, 2) }, { "network", arguments.some("networks", o.networks, common.networks) }, ...), {}
  for _, cell in ipairs(all) do
    if cell.network ~= "inception_v3" or cell.devices <= (o.most_inception or math.huge) then cells[#cells + 1] = cell end
  end
  if #cells == 0 then options.refuse("inception_v3 is asked on at most %d devices; --most_inception says on how many", o.most_inception) end
  return cells
end

-- About how long a cell takes, so that a sweep's processes end together: by network, as measured, and the square of the devices.
local takes = { inception_v3 = 10, nmt = 2, rnnlm = 2, gpt = 4 }
function common.cost(cell) return (takes[cell.network] or 1) * (cell.devices or 1) ^ 2 end

-- Strengths of a violation from the weakest to the strongest: numbers that rise, or (falling) fall, each once; of a unit, if they have one.
function common.strengths(what, text, least, falling, unit)
  local list = arguments.numbers(what, text, least, unit)
  table.sort(list, function(a, b) return falling and a > b or not falling and a < b end)
  for i = 2, #list do
    if list[i] == list[i - 1] then options.refuse("--%s has %s in it twice", what, unit and soapstone.unit.show(list[i], unit) or list[i]) end
  end
  return list
end

-- What all problems of a cell have in common, and the options that one of them has of its own.
function common.given(o, cell, more)
  local network = common.network(cell.network)
  local given = { model = common.model(network, cell.devices), sync = o.sync, coalesce = "per_device" }
  for key, value in soapstone.pairs(more or {}) do given[key] = value end
  given.topology = given.topology or common.cluster(cell.topology, network, cell.devices)
  return given
end

-- -- trials ---------------------------------------------------------------------------------------------------

-- A verdict as numbers and texts.  `under_broken` is the range of what each search under the broken problem knows, it or the list,
-- over the fastest strategy known: a regret is luck where it reaches the least of the regrets.
local function short(verdict)
  local regrets, noises, of_list, under = {}, {}, math.huge, {}
  for _, row in ipairs(verdict.rows) do of_list = math.min(of_list, row.broken) end
  for k, search in ipairs(verdict.searches) do
    regrets[k], noises[k], under[k] = search.regret, search.noise, math.min(search.broken, of_list) / verdict.known.seconds - 1
  end
  return { error = verdict.error.median, worst = verdict.error.worst, tau = verdict.tau, pairs = verdict.pairs,
    regret = verdict.regret, least = verdict.regrets.least, most = verdict.regrets.most, regret_noise = verdict.regret_noise,
    told = verdict.told, mark = verdict.mark, regrets = regrets, noises = noises,
    under_broken = { least = math.min(table.unpack(under)), most = math.max(table.unpack(under)) },
    chosen = verdict.chosen, best_simple = verdict.best.simple, best_broken = verdict.best.broken,
    noise = math.max(verdict.noise.simple, verdict.noise.broken), strategies = #verdict.rows }
end

-- What a cell of a sweep gives: a verdict for each of the strengths `x`, from the weakest to the strongest, and for each search
-- where the strategy found under the simple problem stops being the best (`changes`): where the fastest known under the
-- strongest violation overtakes it, between `from`, a strength that is none, and there.  "never": it is the fastest known there,
-- too; "not told": the regret at the strongest is luck or noise, and so is a place; "before": the second is the better one under the simple problem too, and all
-- searches there missed it.
--   given: simple, at(x) a broken problem, x, from (nil: no such place is looked for), log, time, scored_by, random, strategies, kept; more(short, verdict)
function common.try(o, given)
  local strategies = given.strategies or trial.strategies(given.simple, { random = given.random, seed = o.seed })
  local out, kept, last = { verdicts = {}, changes = {} }, given.kept or {}, nil
  for i, x in ipairs(given.x) do
    last = trial.compare { simple = given.simple, broken = given.at(x), strategies = strategies, time = given.time, scored_by = given.scored_by,
      proposals = o.proposals, searches = o.searches, seed = o.seed, runs = o.runs, most_runs = not given.time and o.most_runs or nil, kept = kept }
    out.verdicts[i] = short(last)
    if given.more then given.more(out.verdicts[i], last) end
  end
  for k, search in ipairs(given.from and last.searches or {}) do
    local at, why = nil, last.mark == "none" and "never" or "not told"
    if last.told then
      at, why = trial.overtaken(search.found.simple, last.known.strategy, given.at, given.from, given.x[#given.x], { log = given.log, time = given.time })
    end
    out.changes[k] = at or why
  end
  return out
end

-- The one rule for the median of what may be a place that there is none of (math.huge): of an even number the upper of the two in the middle, since
-- between a place and none there is none.  The list is sorted.
function common.middle(list) return list[#list // 2 + 1] end

-- The median of what value(verdict) says of verdicts, its least and its most; nil where it says nothing.
local function spread_of(verdicts, value)
  local list = {}
  for _, v in ipairs(verdicts) do list[#list + 1] = value(v) end
  if #list == 0 then return nil end
  return trial.median(list), math.min(table.unpack(list)), math.max(table.unpack(list))
end

-- Why the median of verdicts that are not told apart is not: what most stands in the way.
local function mark_of(verdicts)
  local marks = {}
  for _, v in ipairs(verdicts) do marks[v.mark or "told"] = true end
  return marks.noise and "noise" or marks.luck and "luck" or marks.told and "luck" or "none"
end

local function over_draws(verdicts)
  local out = { pairs = { against = 0, tied = 0 }, worst = 0, noise = 0, regrets = {}, noises = {}, strategies = verdicts[1].strategies,
    best_simple = verdicts[1].best_simple, best_broken = verdicts[1].best_broken, draws = { told = 0, all = #verdicts } }
  for d, v in ipairs(verdicts) do
    out.pairs.against, out.pairs.tied = out.pairs.against + v.pairs.against, out.pairs.tied + v.pairs.tied
    if math.abs(v.worst) > math.abs(out.worst) then out.worst = v.worst end
    if v.best_broken ~= out.best_broken then out.best_broken = "by draw" end
    out.regrets[d], out.noises[d], out.noise = v.regret, v.regret_noise, math.max(out.noise, v.noise)
    if v.told then out.draws.told = out.draws.told + 1 end
  end
  out.error, out.error_least, out.error_most = spread_of(verdicts, function(v) return v.error end)
  out.tau, out.tau_least, out.tau_most = spread_of(verdicts, function(v) return v.tau end)
  out.regret, out.least, out.most = spread_of(verdicts, function(v) return v.regret end)
  out.chosen, out.regret_noise = spread_of(verdicts, function(v) return v.chosen end), math.max(table.unpack(out.noises))
  out.told = 2 * out.draws.told > #verdicts
  out.mark = not out.told and mark_of(verdicts) or nil
  return out
end

-- Where two strategies change places in one draw: the median of its searches.
local function change_of(changes)
  local list = table.move(changes, 1, #changes, 1, {})
  local function rank(c) return c == "before" and -math.huge or tonumber(c) or math.huge end
  table.sort(list, function(a, b) return rank(a) < rank(b) end)
  return common.middle(list)
end

-- What common.try gave for several draws of luck, as one: of each strength the median over draws of their medians over searches,
-- and `regrets`, `changes`, the least and the most are those of draws.  It is told apart where it is in more than half of them.
function common.over(draws)
  local out = { verdicts = {}, changes = {} }
  for i in ipairs(draws[1].verdicts) do
    local verdicts = {}
    for d, draw in ipairs(draws) do verdicts[d] = draw.verdicts[i] end
    out.verdicts[i] = over_draws(verdicts)
  end
  local last = out.verdicts[#out.verdicts]
  for d, draw in ipairs(draws) do out.changes[d] = last.told and change_of(draw.changes) or last.mark == "none" and "never" or "not told" end
  return out
end

-- The cells of a sweep with what they gave, as groups: the cell's own columns, `x` the strengths, `verdicts`, `changes`.
function common.grouped(cells, results, x)
  for i, cell in ipairs(cells) do
    cell.x, cell.verdicts, cell.changes = x, results[i].verdicts, results[i].changes
  end
  return cells
end

-- -- memory ------------------------------------------------------------------------------------------------

local function better(one, other)
  if one and other then return one.seconds < other.seconds and one or other end
  return one or other
end

-- Of a list of { seconds, bytes } the fastest that has no more than so many bytes; nil if none has.
function common.fastest_of(list, bytes)
  local best
  for _, one in ipairs(list) do
    if one.bytes <= bytes then best = better(best, one) end
  end
  return best
end

-- How long what fits takes against the fastest of all that is known: `known`, the fastest known that fits, and, by search from the
-- quickest, of those that know of the wall (`knowing`) and of as many with as many proposals that do not (`ignoring`): each with the list
-- at hand, and math.huge where it has nothing that fits.  `mark` says what
-- stands between the two, as that of trial.compare does; it is empty where nothing is known that fits.  more(one), if given, asks for
-- the noise of one in more runs, where it decides.
function common.behind_wall(list, knowing, ignoring, all, bytes, more)
  local known, fastest, own = common.fastest_of(all, bytes), common.fastest_of(all, math.huge), common.fastest_of(list, bytes)
  local wall = { known = known and known.seconds / fastest.seconds - 1 or math.huge, knowing = {}, ignoring = {} }
  local function fits(its) return better(own, its and its.bytes <= bytes and its or nil) end
  local function behind(its)
    local one = fits(its)
    return one and one.seconds / fastest.seconds - 1 or math.huge
  end
  for k = 1, math.max(#knowing, 1) do wall.knowing[k], wall.ignoring[k] = behind(knowing[k]), behind(ignoring[k]) end
  table.sort(wall.knowing)
  table.sort(wall.ignoring)
  wall.mark = not known and "" or wall.ignoring[#wall.ignoring] == wall.known and "none" or wall.ignoring[1] <= wall.knowing[#wall.knowing] and "luck" or nil
  if wall.mark then return wall end
  local noise, extra = 0, (1 + common.middle(wall.ignoring)) / (1 + wall.known) - 1
  for k = 1, math.max(#ignoring, 1) do
    local one = fits(ignoring[k])
    if one and more then more(one) more(known) end
    noise = math.max(noise, one and one.noise + known.noise or 0)
  end
  wall.mark = extra <= noise and "noise" or nil
  return wall
end

-- -- words ------------------------------------------------------------------------------------------------

-- "+24 %", "+2.4 %": digits that a regret deserves.
function common.percent(share)
  local percent = 100 * share
  return (math.abs(percent) < 9.95 and "%+.1f %%" or "%+.0f %%"):format(percent)
end

-- "1.4", "420": two digits.
local function digits(number)
  if number == 0 then return "0" end
  local unit = 10.0 ^ (math.floor(math.log(math.abs(number), 10) + 1e-9) - 1)
  return ("%.6g"):format(math.floor(number / unit + 0.5) * unit)
end

-- The same with a unit: "7.7 MiB".
function common.show(number, unit)
  if not unit then return digits(number) end
  local amount, rest = soapstone.unit.show(number, unit):match "^([%d.e+-]+)(.*)$"
  return digits(tonumber(amount)) .. rest
end

-- The first x at which a curve passes a value from below (its first x if it is above there), or math.huge.
function common.passes(x, y, value, log)
  if y[1] > value then return x[1] end
  local line = {}
  for i in ipairs(x) do line[i] = value end
  for _, crossing in ipairs(trial.crossing(x, y, line, { log = log })) do
    if crossing.below == "a" then return crossing.at end
  end
  return math.huge
end

-- The first x that was asked at which a regret is above 5 %, or math.huge.  Regrets leap between two strengths, so no line is
-- drawn between them.
local function first_dear(x, y)
  for i, one in ipairs(x) do
    if y[i] > 0.05 then return one end
  end
  return math.huge
end

local BEFORE = -math.huge -- a place: the second is the better one from the start

-- What a group says beside its table: from where on the regret is told apart (`told`), where it is above 5 % (`passes`, and that of each search, from the earliest), where the
-- best strategy changes (`change`, likewise; no places where the strongest violation's regret is not told apart), the greatest
-- regret that is told apart, and the least tau.  A regret that is not told apart counts as none.  math.huge: nowhere.
local function conclude(group)
  local function early(a, b) -- in the order of the strengths
    if a == math.huge or b == math.huge then return a < b end
    if a == BEFORE or b == BEFORE then return a < b end
    if group.x[1] > group.x[#group.x] then return a > b end
    return a < b
  end
  local y, of_search, changes, best, tau, told = {}, {}, {}, nil, nil, math.huge
  for i, v in ipairs(group.verdicts) do
    y[i] = v.told and v.regret or 0
    if v.told and told == math.huge then told = group.x[i] end
    if v.told and (not best or v.regret > group.verdicts[best].regret) then best = i end
    if v.tau and (not tau or v.tau < tau) then tau = v.tau end
  end
  for k = 1, #group.verdicts[1].regrets do
    local own = {}
    for i, v in ipairs(group.verdicts) do own[i] = v.told and v.regrets[k] > v.noises[k] and v.regrets[k] or 0 end
    of_search[k] = first_dear(group.x, own)
  end
  for _, change in ipairs(group.changes) do
    if change ~= "not told" then changes[#changes + 1] = change == "before" and BEFORE or tonumber(change) or math.huge end
  end
  table.sort(of_search, early)
  table.sort(changes, early)
  return { told = told, passes = first_dear(group.x, y), of_search = of_search, change = common.middle(changes),
    changes = changes, best = best and group.verdicts[best], at = best and group.x[best], tau = tau, early = early }
end

-- A place in words: two digits of one that was found, all of a strength that was asked.
local function place(x, unit, asked)
  if x == math.huge then return "nowhere" end
  if x == BEFORE then return "the start" end
  if not asked then return common.show(x, unit) end
  if not unit then return ("%g"):format(x) end
  local amount, rest = soapstone.unit.show(x, unit):match "^([%d.e+-]+)(.*)$"
  return ("%g%s"):format(tonumber(amount), rest)
end

local function range(list, unit, asked)
  local first, last = place(list[1], unit, asked), place(list[#list], unit, asked)
  return first == last and first or first .. " to " .. last
end

function common.least_to_most(v) return ("%s to %s"):format(common.percent(v.least), common.percent(v.most)) end

-- Groups of which every `where` key has that value.
function common.those(groups, where)
  local list = {}
  for _, group in ipairs(groups) do
    local fits = true
    for key, value in soapstone.pairs(where) do fits = fits and group[key] == value end
    if fits then list[#list + 1] = group end
  end
  return list
end

-- The different values that groups have of a key, in their order.
function common.values(groups, key)
  local list, seen = {}, {}
  for _, group in ipairs(groups) do
    if not seen[group[key]] then
      seen[group[key]] = true
      list[#list + 1] = group[key]
    end
  end
  return list
end

-- Of what the regrets of a group are: each of a search, or the median of a draw of luck.
local function of_what(group) return group.verdicts[1].draws and "draw" or "search" end

-- A line for each group: from where on its regret is told apart from luck and noise, where it is above 5 %, where the two
-- strategies change places (if that was asked), its greatest regret, its least tau.
function common.print_groups(columns, groups, look)
  local rows, heads = {}, table.move(columns, 1, #columns, 1, {})
  local function add(list, ...) table.move({ ... }, 1, select("#", ...), #list + 1, list) end
  local asked, by = #groups[1].changes > 0, "by " .. of_what(groups[1])
  add(heads, "regret from", "> 5 % from", by)
  if asked then add(heads, "change places at", by) end
  add(heads, "greatest regret", by, "at", "least tau")
  for i, group in ipairs(groups) do
    local c, row = conclude(group), {}
    for k, name in ipairs(columns) do row[k] = group[name] end
    add(row, place(c.told, look.unit, true), place(c.passes, look.unit, true), range(c.of_search, look.unit, true))
    if asked then
      local told = #c.changes > 0
      add(row, told and place(c.change, look.unit) or "not told", told and range(c.changes, look.unit) or "")
    end
    add(row, c.best and common.percent(c.best.regret) or mark_of(group.verdicts), c.best and common.least_to_most(c.best) or "", c.best and place(c.at, look.unit, true) or "",
      c.tau and ("%.2f"):format(c.tau) or "none")
    rows[i] = row
  end
  print("\n" .. report.table(heads, rows))
end

-- "1.3 to 1.6": the least and the greatest place of a list, with math.huge for nowhere.
function common.places(list, unit)
  table.sort(list)
  return range(list, unit)
end

-- For each network the range over its clusters of where something begins: "alexnet 1.3 to 1.6, nmt nowhere".
local function by_network(groups, look, key)
  local parts = {}
  for _, name in ipairs(common.values(groups, "network")) do
    local list, early = {}, nil
    for _, group in ipairs(common.those(groups, { network = name })) do
      local c = conclude(group)
      list[#list + 1], early = c[key], c.early
    end
    table.sort(list, early)
    parts[#parts + 1] = name .. " " .. (#list > 0 and range(list, look.unit, key == "passes") or "not told")
  end
  return table.concat(parts, ", ")
end

-- "costs more than 5 % from ...; the two strategies change places at ...; at most it costs ..." of groups.
function common.conclusion(groups, look)
  local most, group_of
  for _, group in ipairs(groups) do
    local c = conclude(group)
    if c.best and (not most or c.best.regret > most.best.regret) then most, group_of = c, group end
  end
  if not most then return "costs nothing that is told apart from luck, up to " .. place(groups[1].x[#groups[1].x], look.unit, true) end
  local text = "costs more than 5 % of a step from: " .. by_network(groups, look, "passes")
  if #groups[1].changes > 0 then text = text .. "; the two strategies change places at: " .. by_network(groups, look, "change") end
  return ("%s; at most it costs %s (%s by %s; %s on %d devices of %s, at %s, where tau is %s)"):format(text, common.percent(most.best.regret),
    common.least_to_most(most.best), of_what(group_of), group_of.network, group_of.devices, group_of.topology, place(most.at, look.unit, true),
    most.best.tau and ("%.2f"):format(most.best.tau) or "none")
end

-- The range over groups of what value(verdict, group) says at the strength nearest to x (the strongest unless given): "1.02 to 1.4".
function common.span(groups, value, format, x)
  local least, most
  for _, group in ipairs(groups) do
    local near = #group.x
    for i, one in ipairs(group.x) do
      if x and math.abs(one - x) < math.abs(group.x[near] - x) then near = i end
    end
    local v = value(group.verdicts[near], group)
    if v then least, most = math.min(least or v, v), math.max(most or v, v) end
  end
  if not least then return "none" end
  local first, last = format(least), format(most)
  return first == last and first or first .. " to " .. last
end

-- How many verdicts of groups (at strength x, or at all) have a regret that is told apart and above 5 %, and of how many.
function common.count(groups, x)
  local dear, all = 0, 0
  for _, group in ipairs(groups) do
    for i, v in ipairs(group.verdicts) do
      if not x or group.x[i] == x then
        all = all + 1
        if v.told and v.regret > 0.05 then dear = dear + 1 end
      end
    end
  end
  return dear, all
end

local function noise(share)
  return share == 0 and "0 %" or share < 1e-5 and "< 0.001 %" or digits(100 * share) .. " %"
end

local function of_draws(value, least, most, format)
  if not value then return "none" end
  return most and ("%s (%s to %s)"):format(format(value), format(least), format(most)) or format(value)
end

-- A row for each strength of each group, the groups' own columns first; `name` is that of the strengths, and `noisy` what the
-- noise of a step time is, if it is not that of a picosecond.  `own`, if given, are columns { head, text(verdict) } after these.
function common.print_verdicts(columns, name, groups, noisy, own)
  local rows, percent, drawn, by = {}, common.percent, groups[1].verdicts[1].draws, of_what(groups[1])
  local function add(list, ...) table.move({ ... }, 1, select("#", ...), #list + 1, list) end
  for _, group in ipairs(groups) do
    for i, v in ipairs(group.verdicts) do
      local row = {}
      for c, column in ipairs(columns) do row[c] = group[column] end
      add(row, group.x[i], v.strategies, of_draws(v.error, v.error_least, v.error_most, percent), percent(v.worst),
        of_draws(v.tau, v.tau_least, v.tau_most, function(tau) return ("%.2f"):format(tau) end), ("%d, %d"):format(v.pairs.against, v.pairs.tied),
        v.best_simple, v.best_broken, percent(v.regret) .. (v.told and "" or ": " .. v.mark), common.least_to_most(v))
      add(row, drawn and ("%d of %d"):format(v.draws.told, v.draws.all) or common.least_to_most(v.under_broken))
      add(row, percent(v.chosen), noise(v.regret_noise), noise(v.noise))
      for _, column in ipairs(own or {}) do add(row, column[2](v)) end
      rows[#rows + 1] = row
    end
  end
  local heads = table.move(columns, 1, #columns, 1, {})
  add(heads, name, "strategies", "error", "worst", "tau", "pairs against, tied", "best, simple", "best, broken", "regret", "by " .. by)
  add(heads, drawn and "told in draws" or "found under broken")
  noisy = noisy or "noise"
  add(heads, "of the list", noisy .. " of the regret", noisy .. " of the list")
  for _, column in ipairs(own or {}) do add(heads, column[1]) end
  print(report.table(heads, rows))
end

-- -- figures ----------------------------------------------------------------------------------------------

local ROWS = 4 -- of panels in a figure, or of pairs of them
local GREY = 7 -- black, of which pale lines are grey
local FLOOR = 1 -- percent: below it a regret is drawn there, at the lower edge of a logarithmic axis

-- The strengths of groups, each once, from the least.
local function all_x(groups)
  local list, seen = {}, {}
  for _, group in ipairs(groups) do
    for _, x in ipairs(group.x) do
      if not seen[x] then
        seen[x] = true
        list[#list + 1] = x
      end
    end
  end
  table.sort(list)
  return list
end

-- So much of the whole range of x beyond x.
local function moved(look, all, x, part)
  if #all < 2 then return x == 0 and part or x * (1 + part) end
  return look.logx and x * (all[#all] / all[1]) ^ part or x + (all[#all] - all[1]) * part
end

-- Where something of the k-th of n colours stands, so that what is at one strength does not lie on top of each other.
local function aside(k, n) return (k - (n + 1) / 2) * math.min(0.02, 0.12 / n) end

-- Curves of a quantity { name, value(verdict), lines, bars } over the strengths of groups, in one panel: grey `lines` to measure
-- by, a curve for each network and, of regrets, bars from the least to the most of the searches, points where it is told apart,
-- and an open one where two strategies change places.
local function curves(groups, panel, quantity, colours, look, all)
  local list, nan, scale = {}, 0 / 0, look.scale or 1
  local function shown(percent) return quantity.bars and math.max(percent, FLOOR) or percent end
  for _, y in ipairs(quantity.lines or {}) do
    local grey = { panel = panel, colour = GREY, look = "lines", pale = true, x = {}, y = {} }
    for i, x in ipairs(all) do grey.x[i], grey.y[i] = x * scale, y end
    list[#list + 1] = grey
  end
  for _, group in ipairs(groups) do
    local label = group.label or group.network
    local colour = colours[label]
    local line = { label = label, panel = panel, colour = colour, look = quantity.bars and "lines" or "both", x = {}, y = {} }
    local bars = { panel = panel, colour = colour, look = "lines", pale = true, x = {}, y = {} }
    local told = { panel = panel, colour = colour, look = "points", x = {}, y = {} }
    for i, v in ipairs(group.verdicts) do
      local x = scale * (quantity.bars and moved(look, all, group.x[i], aside(colour, colours.count)) or group.x[i])
      local value = quantity.value(v, group)
      line.x[i], line.y[i] = x, value and shown(value) or nan
      if quantity.bars then
        for _, y in ipairs { shown(100 * v.least), shown(100 * v.most), nan } do
          bars.x[#bars.x + 1], bars.y[#bars.y + 1] = x, y
        end
        if v.told then told.x[#told.x + 1], told.y[#told.y + 1] = x, line.y[i] end
      end
    end
    if quantity.bars and #group.verdicts[1].regrets > 1 then list[#list + 1] = bars end
    list[#list + 1] = line
    if #told.x > 0 then list[#list + 1] = told end
    local change = quantity.bars and conclude(group).change
    if change and math.abs(change) < math.huge then
      list[#list + 1] = { panel = panel, colour = colour, look = "points", published = true, x = { change * scale }, y = { FLOOR } }
    end
  end
  return list
end

common.longer = { name = "median, times longer", value = function(v) return 1 / (1 + v.error) end, lines = { 1 } }
common.tau = { name = "tau", value = function(v) return v.tau end, lines = { 0, 1 } }
common.regret = { name = "regret", value = function(v) return 100 * v.regret end, bars = true, lines = { 5 } }

-- What the signs of a figure mean, as far as it has them; `luck` is the name of one draw of luck, "draw" unless given.
local function note_of(groups, quantities, luck)
  local parts, has = {}, {}
  for _, quantity in ipairs(quantities) do has[quantity.name] = true end
  if has[common.longer.name] then parts[#parts + 1] = "times longer: the median of the strategies" end
  if has[common.tau.name] then parts[#parts + 1] = "tau: 1 is the same order of strategies, 0 no relation" end
  if has[common.regret.name] then
    local searches, places, drawn = 0, 0, of_what(groups[1]) == "draw"
    for _, group in ipairs(groups) do searches, places = math.max(searches, #group.verdicts[1].regrets), math.max(places, #group.changes) end
    local many = drawn and (luck == "hash" and "hashes" or "draws") or "searches"
    parts[#parts + 1] = ("the median%s, a point where it is told apart from luck and noise%s; at the lower edge %d %% or less; the grey line is 5 %%%s"):format(
      searches > 1 and (" of %d %s, bars from the least to the most"):format(searches, many) or "",
      places > 0 and ", an open one there where the best strategy changes" or "", FLOOR, searches > 1 and "; points are moved aside so that bars can be seen" or "")
  end
  return table.concat(parts, "; ")
end

-- Rows of which some regret can be seen above the lower edge, and names of the others; all of them if there is none.
local function seen(rows, by)
  local high, flat = {}, {}
  for _, key in ipairs(rows) do
    local most = 0
    for _, group in ipairs(by[key]) do
      for _, v in ipairs(group.verdicts) do most = math.max(most, 100 * v.most) end
    end
    table.insert(most > FLOOR and high or flat, key)
  end
  if #high == 0 then return rows, {} end
  return high, flat
end

-- Where an axis of groups begins and ends: with the strengths, or where two strategies change places beyond them.
local function ends_of(groups, look, all)
  local least, most = all[1], all[#all]
  for _, group in ipairs(groups) do
    local change = conclude(group).change
    if change and math.abs(change) < math.huge then least, most = math.min(least, change), math.max(most, change) end
  end
  local scale = look.scale or 1
  return scale * moved(look, all, least, -0.08), scale * moved(look, all, most, 0.08)
end

-- Error and order of groups in one figure, and regret in another, NAME-regret.svg, with a logarithmic axis: a column for each of the
-- quantities, a row for what row(group) says (topology and devices unless given), in as many figures as they need, all with the same
-- x.  look: that of plot.lines (a note comes before those of the signs), and scale, of the strengths, luck, the name of one draw, and what
-- the two kinds of figures show, which goes behind the title: `what` the one and `cost` the other.
function common.draw(o, name, groups, look, row, quantities)
  row = row or function(group) return ("%d devices of %s"):format(group.devices, group.topology) end
  quantities = quantities or { common.longer, common.tau, common.regret }
  local rows, by, colours, all = {}, {}, { count = 0 }, all_x(groups)
  for _, group in ipairs(groups) do
    local key, label = row(group), group.label or group.network
    if not by[key] then
      by[key] = {}
      rows[#rows + 1] = key
    end
    table.insert(by[key], group)
    if not colours[label] then
      colours.count = colours.count + 1
      colours[label] = colours.count
    end
  end
  local from_x, to_x = ends_of(groups, look, all)
  local own = { scale = true, luck = true, what = true, cost = true } -- of `look`, and none of plot.lines
  local function draw(those, suffix, rows, shows, more)
    local options = { columns = #those, width = math.max(7, 2.8 * #those), note = note_of(groups, those, look.luck), from_x = from_x, to_x = to_x }
    for key, value in soapstone.pairs(look) do
      if key == "note" then value = value .. (options.note ~= "" and "; " .. options.note or "") end
      if not own[key] then options[key] = value end
    end
    options.title = ("%s: %s"):format(look.title, shows)
    if more.note then options.note, more.note = options.note .. more.note, nil end
    for key, value in soapstone.pairs(more) do options[key] = value end
    local most = #those == 1 and 2 * ROWS or ROWS
    for page = 0, (#rows - 1) // most do
      local series = {}
      for k = page * most + 1, math.min((page + 1) * most, #rows) do
        for _, quantity in ipairs(those) do
          local panel = #those > 1 and quantity.name .. ": " .. rows[k] or rows[k]
          local list = curves(by[rows[k]], panel, quantity, colours, look, all)
          table.move(list, 1, #list, #series + 1, series)
        end
      end
      report.draw("lines", series, ("%s/%s%s%s.svg"):format(o.folder, name, suffix, page > 0 and "-" .. page + 1 or ""), options)
    end
  end
  local others, regret = {}, nil
  for _, quantity in ipairs(quantities) do
    if quantity.bars then regret = quantity else others[#others + 1] = quantity end
  end
  if #others > 0 then
    draw(others, "", rows, look.what or "what it does to the step and to the order of strategies", #others == 1 and { ylabel = others[1].name, columns = 2 } or {})
  end
  if regret then
    local high, flat = seen(rows, by)
    local ticks = {} -- at the strengths, from which what is drawn is moved aside
    for i, x in ipairs(all) do ticks[i] = (look.scale or 1) * x end
    draw({ regret }, "-regret", high, look.cost or "what it costs to choose without knowing of it", { ylabel = "regret (%)", columns = 2, logy = true, from_y = FLOOR * 0.9,
      ticks = look.ticks_at_values and ticks or nil, note = #flat > 0 and ("; not drawn, with nothing above %d %%: %s"):format(FLOOR, table.concat(flat, ", ")) or nil })
  end
end

return common
