-- What the experiments on assumptions share: which links are a network's, what a cell gives, and the words for it.
local check = require "check"
local soapstone = require "soapstone"
local common = require "scripts.lua.experiments.assumptions.common"

local claim, equal, near, fails = check.claim, check.equal, check.near, check.fails

claim("numbers have the digits that they deserve", function()
  equal(common.percent(0.0243), "+2.4 %")
  equal(common.percent(-0.2437), "-24 %")
  equal(common.percent(0.0996), "+10 %")
  equal(common.show(1.3721), "1.4")
  equal(common.show(417.3), "420")
  equal(common.show(0.0631), "0.063")
  equal(common.show(7.689 * 2 ^ 20, "B"), "7.7 MiB")
  equal(common.show(415e-6, "s"), "420 us")
end)

claim("a curve passes a value between its points, at once, or nowhere", function()
  near(common.passes({ 1, 2, 4 }, { 0, 0.04, 0.06 }, 0.05), 3)
  near(common.passes({ 1, 100 }, { 0, 0.1 }, 0.05, true), 10)
  equal(common.passes({ 1, 2 }, { 0.06, 0.07 }, 0.05), 1)
  equal(common.passes({ 1, 2 }, { 0.01, 0.05 }, 0.05), math.huge)
  equal(common.places({ math.huge, 1.37, 4 }), "1.4 to nowhere")
  equal(common.places { 2 }, "2")
end)

claim("strengths go from the weakest to the strongest", function()
  equal(table.concat(common.strengths("slower", "3,1.5,2", 1), " "), "1.5 2 3")
  equal(table.concat(common.strengths("shares", "0.25,0.5,0.125", 0, true), " "), "0.5 0.25 0.125")
  fails("--cv has 0.1 in it twice", common.strengths, "cv", "0.3,0.1,0.2,0.1", 0)
  fails("--half_sizes has 4.000 MiB in it twice", common.strengths, "half_sizes", "4 MiB,1,4194304", 1, false, "B")
end)

claim("lists of numbers may be in thousands, and have units where they mean something", function()
  local numbers = require("soapstone.arguments").numbers
  local function of(...) return table.concat(numbers("x", ...), " ") end
  equal(of "1,2.5, 4k", "1 2.5 4000")
  equal(of "3 1e-5", "3 1e-05")
  equal(of("4 MiB, 16 KiB,4k,7", 0, "B"), "4194304 16384 4000 7")
  equal(of("10 us,2ms 1e-6", 0, "s"), "1e-05 0.002 1e-06")
  equal(of("10us 1", 0, "s"), "1e-05 1")
  fails("--x has 10 us in it; at least 20 is expected", numbers, "x", "10 us,3", 20, "s")
  fails("--x has 'us' in it, where numbers are expected", numbers, "x", "10 us")
  fails("--x has '3m' in it, where numbers are expected, such as 4 MiB or 4k", numbers, "x", "1,3m", 0, "B")
  fails("--x has '1e999' in it, where numbers are expected", numbers, "x", "1e999")
  fails("--x has nothing in it", numbers, "x", " , ")
end)

claim("the links of a network join switches, or are all", function()
  local tree = common.cluster("fat_tree", common.network "nmt", 16)
  equal(#common.network_links(tree), 2 * 2 * 4) -- two leaves, four spines, both ways
  local list = tree:link_list()
  for _, link in ipairs(common.network_links(tree)) do check.contains(list[link].from .. list[link].to, "spine") end
  local torus = common.cluster("torus", common.network "nmt", 8)
  equal(#common.network_links(torus), torus.links)
end)

claim("a topology of other memory is the same otherwise", function()
  local network = common.network "alexnet"
  for _, name in ipairs { "p100_cluster", "fat_tree", "torus" } do
    local t = common.cluster(name, network, 8)
    local other = common.with_memory(t, 2 ^ 30)
    local model = common.model(network, 8)
    local one, less = soapstone.problem { model = model, topology = t, sync = "ring" }, soapstone.problem { model = model, topology = other, sync = "ring" }
    for _, kind in ipairs { "data_parallel", "model_parallel" } do
      local r = less:simulate(less:strategy(kind))
      equal(r.step_time, one:simulate(one:strategy(kind)).step_time)
      equal(r.devices[5].capacity, 2 ^ 30)
    end
  end
end)

-- One slow device of four.
local model = require "models.alexnet" { batch = 256 }
local quad = require "topologies.p100_cluster" { nodes = 1, gpus = 4 }
local function slow(times)
  return soapstone.problem { model = model, topology = quad, chance = soapstone.chance { slow = { [1] = times } } }
end

claim("a cell has a verdict for each strength, with what each search found, and says where two strategies change places", function()
  local o = { proposals = 40, searches = 3, seed = 5, runs = 1 }
  local simple = soapstone.problem { model = model, topology = quad }
  local out = common.try(o, { simple = simple, at = slow, x = { 2, 50 }, from = 1 })
  equal(#out.verdicts, 2)
  equal(#out.changes, 3)
  local strong = out.verdicts[2]
  equal(#strong.regrets, 3)
  equal(strong.least, math.min(table.unpack(strong.regrets)))
  equal(strong.told, true)
  equal(strong.mark, nil)
  for _, at in ipairs(out.changes) do assert(type(at) == "number" and at > 1 and at < 50, at) end
end)

claim("places where strategies change are of regrets that are told apart", function()
  -- of one search alone no regret is above a noise of a hundred times the step
  local function time(problem, strategy) return problem:simulate(strategy).step_time, 100 end
  local o = { proposals = 40, searches = 3, seed = 5, runs = 1 }
  local out = common.try(o, { simple = soapstone.problem { model = model, topology = quad }, at = slow, x = { 50 }, from = 1, time = time })
  equal(out.verdicts[1].mark, "noise")
  equal(table.concat(out.changes, ", "), "not told, not told, not told")
end)

claim("draws of luck are one verdict, their median, which is told apart where most of them are", function()
  local function draw(error, tau, regret, mark, change)
    return { changes = { change, change, change }, verdicts = { { error = error, worst = 3 * error, tau = tau, pairs = { against = 1, tied = 2 }, best_simple = "a",
      best_broken = mark and "a" or "b", regret = regret, regret_noise = regret / 7, chosen = regret / 2, noise = 0.4 * regret, mark = mark, told = not mark, strategies = 5 } } }
  end
  local draws = { draw(-0.5, 0.9, 0.3, nil, 4), draw(0.1, 0.2, 0.9, nil, 2), draw(-0.2, nil, 0, "none", "never") }
  local out = common.over(draws)
  local v = out.verdicts[1]
  equal(v.error, -0.2)
  equal(v.error_least, -0.5)
  equal(v.error_most, 0.1)
  equal(v.worst, -1.5)
  near(v.tau, 0.55)
  equal(v.tau_least, 0.2)
  equal(v.regret, 0.3)
  equal(v.least, 0)
  equal(v.most, 0.9)
  near(v.regret_noise, 0.9 / 7)
  equal(v.pairs.tied, 6)
  equal(v.best_broken, "by draw")
  equal(v.told, true)
  equal(v.draws.told, 2)
  equal(table.concat(out.changes, " "), "4 2 never")
  draws[2].verdicts[1].told, draws[2].verdicts[1].mark = false, "luck"
  out = common.over(draws)
  equal(out.verdicts[1].told, false)
  equal(out.verdicts[1].mark, "luck")
  equal(table.concat(out.changes, ", "), "not told, not told, not told")
end)

claim("a wall compares searches with as many that do not know of it, and what is known of both", function()
  local function one(seconds, bytes, noise) return { seconds = seconds, bytes = bytes, noise = noise or 0 } end
  local list = { one(3, 10), one(2.4, 30) }
  local function wall(knowing, ignoring, bytes, more)
    local all = table.move(list, 1, #list, 1, {})
    for _, found in ipairs { knowing, ignoring } do table.move(found, 1, #found, #all + 1, all) end
    return common.behind_wall(list, knowing, ignoring, all, bytes, more)
  end
  local ignoring = { one(2, 21), one(2.5, 15), one(2.2, 40) }
  local w = wall({ one(2.3, 15), one(2.1, 18), one(2.2, 25) }, ignoring, 20) -- the third does not fit, and the list is at hand
  near(w.known, 0.05)
  near(w.knowing[1], 0.05)
  near(w.knowing[2], 0.15)
  near(w.knowing[3], 0.5)
  near(w.ignoring[1], 0.25)
  near(w.ignoring[3], 0.5)
  equal(w.mark, "luck")
  equal(wall({ one(2.3, 15), one(2.1, 18), one(2.2, 15) }, ignoring, 20).mark, nil)
  equal(wall({ one(2.3, 15), one(2.1, 18, 0.3), one(2.2, 15) }, { one(2, 21), one(2.5, 15, 0.2), one(2.2, 40) }, 20).mark, "noise")
  -- where the two kinds are apart, more runs say the noise of what does not know of the wall and of the fastest that fits
  local asked = {}
  local function more(its) asked[#asked + 1], its.noise = its.seconds, 0.3 end
  local function again(knowing, ignoring)
    asked = {}
    return wall(knowing, ignoring, 20, more).mark
  end
  equal(again({ one(2.3, 15), one(2.1, 18), one(2.2, 15) }, { one(2.9, 11), one(2.5, 15), one(2.4, 16) }), "noise")
  equal(table.concat(asked, " "), "2.9 2.1 2.5 2.1 2.4 2.1")
  equal(again({ one(2.3, 15), one(2.1, 18), one(2.2, 15) }, { one(2.25, 11) }), "luck")
  equal(#asked, 0)
  equal(wall({ one(2, 21) }, { one(2, 21) }, 50).mark, "none")
  local none = wall({ one(2, 21) }, ignoring, 5)
  equal(none.known, math.huge)
  equal(none.knowing[1], math.huge)
  equal(none.mark, "")
  equal(wall({ one(2.9, 6) }, { one(2, 21) }, 6).ignoring[1], math.huge) -- found nothing, and the others something
  equal(common.fastest_of(list, 9), nil)
  equal(common.fastest_of(list, 10).seconds, 3)
end)

-- What a function prints.
local function printed(f)
  local kept, lines = print, {}
  print = function(text) lines[#lines + 1] = text end
  local ok, wrong = pcall(f)
  print = kept
  if not ok then error(wrong, 0) end
  return table.concat(lines, "\n")
end

-- A group with these places of each search and, for each strength, a regret of each search and whether it is told apart.
local function group_of(x, changes, told, regrets)
  local group = { network = "net", topology = "quad", devices = 4, x = x, changes = changes, verdicts = {} }
  for i in ipairs(x) do
    group.verdicts[i] = { regret = regrets[i], told = told[i], mark = not told[i] and "luck" or nil, least = regrets[i] / 2, most = 2 * regrets[i],
      regrets = { regrets[i], regrets[i], regrets[i] }, noises = { 0, 0, 0 }, tau = 0.5, error = -0.5, worst = -0.6, pairs = { against = 0, tied = 0 }, strategies = 3,
      best_simple = "a", best_broken = "b", chosen = 0, regret_noise = 0, noise = 0, under_broken = { least = 0, most = 0.0125 } }
  end
  return group
end

claim("a place is the median of the searches' and what is luck begins nothing", function()
  local group = group_of({ 1, 1.25, 3 }, { 2.5, 1.2, 2 }, { false, false, true }, { 0, 0.2, 0.3 })
  check.contains(common.conclusion({ group }, {}), "from: net 3; the two strategies change places at: net 2; at most it costs +30 %")
  local text = printed(function() common.print_groups({ "network" }, { group }, {}) end)
  check.contains(text, "net                3           3          3                 2  1.2 to 2.5  +30 %            +15 % to +60 %   3       0.50")
  group.verdicts[2].told, group.verdicts[2].regret = true, 0.02 -- told apart, but below 5 %
  text = printed(function() common.print_groups({ "network" }, { group }, {}) end)
  check.contains(text, "net             1.25           3 ")
end)

claim("of an even number of places the median is the upper of the two in the middle, of draws and of searches", function()
  equal(common.middle { 1, 2, 3, 4 }, 3)
  equal(common.middle { 1, 2, 3 }, 2)
  check.contains(common.conclusion({ group_of({ 1, 3 }, { 2, 1.2 }, { true, true }, { 0.1, 0.3 }) }, {}), "change places at: net 2;")
  local draw = group_of({ 3 }, { 1.2, 2 }, { true }, { 0.3 })
  equal(common.over({ draw, draw, draw }).changes[1], 2)
end)

claim("where strengths fall, so do places", function()
  local falling = { group_of({ 0.5, 0.1 }, { 0.2, 0.4, 0.3 }, { true, true }, { 0.01, 0.3 }), group_of({ 0.5, 0.1 }, { 0.45 }, { true, true }, { 0.2, 0.3 }) }
  check.contains(common.conclusion(falling, {}), "from: net 0.5 to 0.1; the two strategies change places at: net 0.45 to 0.3;")
  falling[1].changes = { 0.2, "never", 0.3 }
  check.contains(printed(function() common.print_groups({ "network" }, falling, {}) end), "0.3 to nowhere")
end)

claim("a table has what searches under the broken problem found beside the regret, and columns of one's own", function()
  local text = printed(function() common.print_verdicts({ "network" }, "x", { group_of({ 2 }, {}, { false }, { 0.25 }) }, nil, { { "own", function(v) return v.best_broken .. "!" end } }) end)
  check.contains(text, "+25 %: luck  +12 % to +50 %  +0.0 % to +1.2 %")
  check.contains(text, "b!")
end)

-- What common.draw draws of groups: series and options by path.
local function figures(groups, look)
  local report, drawn = require "soapstone.report", {}
  local kept = report.draw
  report.draw = function(_, series, path, options) drawn[path] = { series = series, options = options } end
  local ok, wrong = pcall(common.draw, { folder = "f" }, "fig", groups, look)
  report.draw = kept
  assert(ok, wrong)
  return drawn
end

claim("a figure says what it shows, has numbers at its strengths, places beyond them, and no panel with nothing to see", function()
  local low, high = group_of({ 4, 8 }, {}, { false, false }, { 0.001, 0.004 }), group_of({ 4, 8 }, { 9 }, { true, true }, { 0.1, 0.3 })
  low.devices, high.devices = 2, 3
  local drawn = figures({ low, high }, { title = "t", ticks_at_values = true, logx = true, cost = "the cost", scale = 10 })
  local both, regret = drawn["f/fig.svg"], drawn["f/fig-regret.svg"]
  equal(both.options.title, "t: what it does to the step and to the order of strategies")
  equal(regret.options.title, "t: the cost")
  equal(both.options.ticks, nil)
  equal(table.concat(regret.options.ticks, " "), "40 80")
  assert(regret.options.to_x > 90 and both.options.to_x > 90, "the place at 9 is beyond the frame")
  for _, one in ipairs(regret.series) do check.contains(one.panel, "3 devices of quad") end
  check.contains(regret.options.note, "not drawn, with nothing above 1 %: 2 devices of quad")
  equal(both.options.note:find("not drawn", 1, true), nil)
  local flat = figures({ low }, { title = "t" })["f/fig-regret.svg"] -- rather than no figure
  check.contains(flat.series[1].panel, "2 devices of quad")
  equal(flat.options.title, "t: what it costs to choose without knowing of it")
  equal(flat.options.ticks, nil)
end)

claim("a figure has the reciprocal of what the simple problem says, and a point only where a regret is told apart", function()
  equal(common.longer.value { error = -0.5 }, 2)
  local drawn = figures({ group_of({ 1, 2, 4 }, { 3 }, { false, true, true }, { 0.002, 0.3, 14 }) }, { title = "t", note = "first" })
  local both, regret = drawn["f/fig.svg"], drawn["f/fig-regret.svg"]
  equal(both.options.from_x, regret.options.from_x)
  equal(both.options.to_x, regret.options.to_x)
  equal(regret.options.logy, true)
  check.contains(regret.options.note, "first; the median of 3 searches, bars from the least to the most")
  local points, lines = {}, {}
  for _, one in ipairs(regret.series) do
    if one.look == "points" then points[#points + 1] = one end
    if one.label then lines[#lines + 1] = one end
  end
  equal(#points, 2) -- where it is told apart, and where the best strategy changes
  equal(table.concat(points[1].x, " "), "2.0 4.0")
  near(points[1].y[2], 1400)
  equal(points[2].published, true)
  equal(points[2].x[1], 3.0)
  equal(lines[1].y[1], 1) -- 0.2 % stand at the lower edge
end)

claim("a regret that is not told apart counts as none", function()
  local function verdict(regret, told)
    return { regret = regret, told = told, mark = not told and "luck" or nil, least = 0.01, most = 1, regrets = { regret }, noises = { told and 0 or 1 }, tau = 0.5, error = 0 }
  end
  local function group(told)
    return { network = "net", topology = "quad", devices = 4, x = { 1, 1.25, 3 }, changes = { told and "before" or "not told" }, verdicts = { verdict(0, told), verdict(0.1, told), verdict(0.3, told) } }
  end
  equal(common.conclusion({ group(false) }, {}), "costs nothing that is told apart from luck, up to 3")
  check.contains(common.conclusion({ group(true) }, {}), "costs more than 5 % of a step from: net 1.25; the two strategies change places at: net the start; at most it costs +30 %")
  equal(select(1, common.count { group(false) }), 0)
  equal(select(1, common.count { group(true) }), 2)
  equal(select(2, common.count({ group(true) }, 3)), 1)
end)

check.done()
