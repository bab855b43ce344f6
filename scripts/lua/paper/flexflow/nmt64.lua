-- nmt64.lua - figure 7: NMT on 64 K80, its step time, the bytes it moves, and the sum of its computation.
--
--   soapstone run scripts/lua/paper/flexflow/nmt64.lua [FOLDER] [--long] [--NAME VALUE]...
--
-- It writes nmt64.tsv, nmt64.svg, nmt64.png and nmt64-found.json, the strategy that was found, into FOLDER.
--
-- The published bytes are those that the authors' simulator counts, to the last digit; it takes the state that one recurrent
-- operator hands to the next for as many states as the operator has steps.  Both ways of counting are shown.

local soapstone = require "soapstone"
local options = require "soapstone.options"
local report = require "soapstone.report"
local paper = require "common"

local o = paper.options(arg, [[
Figure 7 of FlexFlow: NMT on 64 K80, one step: its time, the bytes moved, and the sum of computation, for data
parallelism, the expert's strategy and what a search finds.]], {
  seconds = options.number(5, { min = 0 }), -- of each of the three chains of the search
  proposals = 0,                            -- of each chain; 0: no limit
}, { seconds = 300.0 })

if o.seconds == 0 and o.proposals == 0 then
  options.refuse("--seconds and --proposals are both 0, so that the search would never end")
end

local DEVICES, GiB = 64, 2 ^ 30
local nmt, k80 = paper.network "NMT", paper.cluster "K80"
local problem, factor = paper.problem(nmt, k80, DEVICES)
local as_counted = paper.problem(nmt, k80, DEVICES, { model = { states = 2018 }, problem = { coalesce = "none" } })

local found = paper.search(problem, o)
found.best:save(o.folder .. "/nmt64-found.json")

local published = {}
for _, row in ipairs(paper.published "fig7_nmt_64_k80") do published[row.strategy] = row end

local cases = {
  { "data parallel", "data_parallel", problem:strategy "data_parallel", as_counted:strategy "data_parallel" },
  { "expert", "expert", problem:strategy "expert", as_counted:strategy "expert" },
  { "found", "flexflow", found.best,
    (as_counted:load_strategy(o.folder .. "/nmt64-found.json", { by_name = true })) },
}

local times, bytes, sums, file = {}, {}, {}, {}
for i, case in ipairs(cases) do
  local name, theirs = case[1], published[case[2]]
  local ours, counted = problem:simulate(case[3]), as_counted:simulate(case[4])
  local gib, their_gib = ours.bytes_moved / GiB, theirs.data_moved_gib
  times[i] = { name, ("%.3f s"):format(ours.step_time), ("%.2f s"):format(theirs.iteration_s),
    paper.difference(ours.step_time, theirs.iteration_s) }
  bytes[i] = { name, ("%.12g"):format(gib), ("%.12g"):format(counted.bytes_moved / GiB), ("%.12g"):format(their_gib),
    counted.bytes_moved / GiB == their_gib and "equal" or paper.difference(counted.bytes_moved / GiB, their_gib) }
  sums[i] = { name, ("%.2f s"):format(ours.compute_time), ("%.2f s"):format(theirs.sum_task_compute_s),
    paper.difference(ours.compute_time, theirs.sum_task_compute_s) }
  file[i] = { case[2], ours.step_time, theirs.iteration_s, gib, counted.bytes_moved / GiB, their_gib, ours.compute_time,
    theirs.sum_task_compute_s }
end

-- Ours and theirs, each against its data parallel one.
local function ratios(column, digits)
  local rows = {}
  for i = 2, #file do
    rows[#rows + 1] = { cases[i][1], digits:format(file[i][column] / file[1][column]),
      digits:format(file[i][column + 1] / file[1][column + 1]) }
  end
  return rows
end

print(("NMT on 64 K80, 64 samples a device; costs are the roofline's x %.3f, so that one device does 100 samples/s as published")
  :format(factor))
print(("options: %s"):format(paper.described()))
print(("found: best of %d proposals from data parallel, expert and random\n"):format(found.proposals))
print "(a) time of a step"
print(report.table({ "strategy", "ours", "published", "difference" }, times))
print "\n(b) GiB moved in a step"
print(report.table({ "strategy", "ours", "as in 2018", "published", "as in 2018 is" }, bytes))
print "\n(c) computation, summed over the devices"
print(report.table({ "strategy", "ours", "published", "difference" }, sums))
print "\nstep time as a multiple of data parallel"
print(report.table({ "strategy", "ours", "published" }, ratios(2, "%.3f")))
print "computation as a multiple of data parallel"
print(report.table({ "strategy", "ours", "published" }, ratios(7, "%.3f")))
print(([[

Published: 64 devices x 64 samples / 100 samples/s are %.2f s, the computation that figure 6 has for one device; (c) of
the published figure is %.1f %% below that, ours begins from it.]]):format(DEVICES * 0.64,
  100 * (1 - published.data_parallel.sum_task_compute_s / (DEVICES * 0.64))))
paper.write(o.folder .. "/nmt64.tsv", { "strategy", "step_s", "step_s_published", "gib", "gib_as_in_2018", "gib_published",
  "compute_s", "compute_s_published" }, file)

-- Each panel has the strategies beside each other, by their numbers, and a unit of its own.  Open squares of what is published
-- come last: what is equal is seen within.
local panels = { -- what it is of, and columns of `file`
  { "(a) seconds of a step", { ours = 2, published = 3 } },
  { "(b) GiB moved in a step", { ours = 4, published = 6, ["ours, counted as in 2018"] = 5 } },
  { "(c) seconds of computation", { ours = 7, published = 8 } },
}
local series, numbered = {}, {}
for i, case in ipairs(cases) do numbered[i] = ("%d: %s"):format(i, case[1]) end
for _, panel in ipairs(panels) do
  for _, look in ipairs { { "ours", 1 }, { "ours, counted as in 2018", 3 }, { "published", 2 } } do
    local label, colour = look[1], look[2]
    local column = panel[2][label]
    local one = { panel = panel[1], label = label, colour = colour, published = label == "published", x = {}, y = {} }
    for i, row in ipairs(file) do one.x[i], one.y[i] = i, row[column] end
    if column then series[#series + 1] = one end
  end
end
paper.draw("lines", series, o.folder .. "/nmt64.svg", { title = "NMT on 64 K80", look = "points", ticks_at_values = true,
  columns = 3, from_x = 0.5, to_x = 3.5, from_y = 0, width = 7, note = table.concat(numbered, ", ") .. "." })
