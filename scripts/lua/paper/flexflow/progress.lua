-- progress.lua - figure 11: the best step time against the time of the search, NMT on 16 P100.
--
--   soapstone run scripts/lua/paper/flexflow/progress.lua [FOLDER] [--long] [--NAME VALUE]...
--
-- One search with full and one with delta simulation, from the same start with the same seed: the same costs, at other
-- times.  The published curves begin at 281.7 ms and end at 151.8 ms, which is the time of another NMT than that of
-- figure 6 (261 ms): only their kind can be compared.

local soapstone = require "soapstone"
local report = require "soapstone.report"
local paper = require "common"

local o = paper.options(arg, [[
Figure 11 of FlexFlow: best step time against search time, NMT on 16 P100, with full and with delta simulation.]], {
  proposals = 600, -- of each search
  steps = 60,      -- how often the search is looked at
}, { proposals = 20000, steps = 400 })

local DEVICES = 16
local problem = paper.problem(paper.network "NMT", paper.cluster "P100", DEVICES)

-- The best cost (ms) against proposals and seconds of the processor, at every look.
local function search(way)
  local each = math.max(1, o.proposals // o.steps)
  local search <close> = soapstone.search.mcmc(problem, { start = "random", seed = o.seed + 1, threads = 1, way = way,
    proposals = each, early_stop = way == "delta", moves = { block = 1, pow2 = 1, free = 0.5 }, group = 0.2, neighbour = 0 })
  local curve = { proposals = { 0 }, seconds = { 0 }, best = {} }
  local seconds = 0
  while true do
    local before = os.clock()
    search:run { progress = true }
    seconds = seconds + os.clock() - before
    local chain = search.chains[1]
    curve.best[1] = 1e3 * chain.start
    table.insert(curve.proposals, chain.proposals)
    table.insert(curve.seconds, seconds)
    table.insert(curve.best, 1e3 * chain.best)
    if search.interrupted or chain.proposals + each > o.proposals then break end
    search:more { proposals = each }
  end
  return curve
end

local full, delta = search "full", search "delta"
for i = 1, math.min(#full.best, #delta.best) do
  if full.best[i] ~= delta.best[i] then
    error(("after %d proposals full has %.12g ms and delta %.12g ms"):format(full.proposals[i], full.best[i], delta.best[i]))
  end
end

local published = { full = { x = {}, y = {} }, delta = { x = {}, y = {} } }
for _, row in ipairs(paper.published "fig11_search_progress") do
  local curve = published[row.simulation]
  table.insert(curve.x, row.elapsed_min)
  table.insert(curve.y, row.best_iteration_ms)
end

-- When a curve had gained so much of what it gained in all: in seconds or minutes, whichever it has.
local function when(x, y, share)
  local goal = y[1] - share * (y[1] - y[#y])
  for i, value in ipairs(y) do
    if value <= goal * (1 + 1e-12) then return x[i] end
  end
end

local rows = {}
for i, share in ipairs { 0.5, 0.8, 0.9, 1 } do
  local f, d = when(full.seconds, full.best, share), when(delta.seconds, delta.best, share)
  local pf, pd = when(published.full.x, published.full.y, share), when(published.delta.x, published.delta.y, share)
  rows[i] = { ("%d %%"):format(100 * share), ("%.3f"):format(f), ("%.3f"):format(d), d > 0 and ("%.2f"):format(f / d) or "-",
    ("%.3f"):format(pf), ("%.3f"):format(pd), ("%.2f"):format(pf / pd) }
end
print(("NMT on 16 P100, from one random strategy: %.1f ms, after %d proposals %.1f ms, full and delta alike at all %d looks")
  :format(full.best[1], full.proposals[#full.proposals], full.best[#full.best], #full.best))
print(("published: %.1f ms, in the end %.1f ms, one list of values for both curves"):format(published.full.y[1],
  published.full.y[#published.full.y]))
print(("time in all: full %.2f s, delta %.2f s, the ratio %.2f; last better one of delta after %.2f s\n"):format(
  full.seconds[#full.seconds], delta.seconds[#delta.seconds], full.seconds[#full.seconds] / delta.seconds[#delta.seconds],
  when(delta.seconds, delta.best, 1)))
print(report.table({ "of the gain", "full s", "delta s", "ratio", "published full min", "delta min", "ratio" }, rows))

local file = {}
for i in ipairs(full.best) do
  file[i] = { full.proposals[i], full.best[i], full.seconds[i], delta.seconds[i] or "-" }
end
paper.write(o.folder .. "/progress.tsv", { "proposals", "best_ms", "full_s", "delta_s" }, file)

local function scaled(list, factor)
  local out = {}
  for i, value in ipairs(list) do out[i] = value * factor end
  return out
end
local lines = {}
for i, one in ipairs { { "full", full }, { "delta", delta } } do
  local theirs = published[one[1]]
  lines[#lines + 1] = { label = one[1], x = one[2].seconds, y = scaled(one[2].best, 1e-3), colour = i, panel = "ours" }
  lines[#lines + 1] = { x = scaled(theirs.x, 60), y = scaled(theirs.y, 1e-3), colour = i, published = true,
    panel = "published" }
end
paper.draw("lines", lines, o.folder .. "/progress.svg", { title = "NMT on 16 P100: best step time while searching",
  xlabel = "time of the search", ylabel = "step time", xunit = "s", yunit = "s", look = "steps", from_x = 0, columns = 2,
  width = 7 })
