-- training.lua - figure 8: the training curve of Inception-v3 on 16 P100, as the ratio of step times that it is.
--
--   soapstone run scripts/lua/paper/flexflow/training.lua [FOLDER] [--long] [--NAME VALUE]...
--
-- The two published curves are one list of losses with times in one ratio, 0.625: two trainings would not do that.  What
-- can be held against it is a ratio of step times.  A simulator trains nothing: no loss here is ours.

local soapstone = require "soapstone"
local options = require "soapstone.options"
local report = require "soapstone.report"
local paper = require "common"

local o = paper.options(arg, [[
Figure 8 of FlexFlow: the time of training with the found strategy as a share of the time of data parallelism,
Inception-v3 on 16 P100.]], {
  seconds = options.number(5, { min = 0 }), -- of each of the three chains of the search
  proposals = 0,                            -- of each chain; 0: no limit
}, { seconds = 300.0 })

if o.seconds == 0 and o.proposals == 0 then
  options.refuse("--seconds and --proposals are both 0, so that the search would never end")
end

local DEVICES = 16
local network = paper.network "Inception-v3"
local problem = paper.problem(network, paper.cluster "P100", DEVICES)
local data = problem:simulate(problem:strategy "data_parallel")
local found = paper.search(problem, o)
local ours = found.cost / data.step_time

-- The published curves, and how many of the losses of one stand in the other with the time in the same ratio.
local curves = { TensorFlow = { x = {}, y = {} }, FlexFlow = { x = {}, y = {} } }
for _, row in ipairs(paper.published "fig8_training_curve") do
  local curve = curves[row.system]
  table.insert(curve.x, row.time_h)
  table.insert(curve.y, row.average_training_loss)
end
local slow, fast = curves.TensorFlow, curves.FlexFlow
local time_of = {}
for i, loss in ipairs(slow.y) do time_of[loss] = slow.x[i] end
local shared, ratio = 0, nil
for i, loss in ipairs(fast.y) do
  local t = time_of[loss]
  if t and math.abs(fast.x[i] / t - 0.625) < 1e-9 then shared, ratio = shared + 1, fast.x[i] / t end
end

local figure6 = {}
for _, row in ipairs(paper.published "fig6_throughput") do
  if row.dnn == network.name and row.cluster == "P100" and row.gpus == DEVICES then
    figure6[row.strategy] = row.samples_per_s_per_gpu
  end
end

print(("The published curves: %d of the %d points of the faster one have the loss of a point of the slower one at %.3f of its time")
  :format(shared, #fast.y, ratio))
print(("found: best of %d proposals from data parallel, expert and random\n"):format(found.proposals))
print(report.table({ "time of a step, found over data parallel", "ratio", "samples/s per device" }, {
  { "ours", ("%.3f"):format(ours), ("%.1f over %.1f"):format(network.batch / found.cost, network.batch / data.step_time) },
  { "published, figure 6 (both in FlexFlow)", ("%.3f"):format(figure6.data_parallel / figure6.flexflow),
    ("%.1f over %.1f"):format(figure6.flexflow, figure6.data_parallel) },
  { "published, figure 8 (over TensorFlow)", ("%.3f"):format(ratio),
    ("%.1f over %.1f, if figure 6 holds"):format(figure6.flexflow, figure6.flexflow * ratio) },
}))
paper.write(o.folder .. "/training.tsv", { "what", "ratio" }, { { "ours", ours },
  { "figure 6", figure6.data_parallel / figure6.flexflow }, { "figure 8", ratio } })

local scaled = {}
for i, hours in ipairs(slow.x) do scaled[i] = hours * ours end
paper.draw("lines", { -- what is published lies above: at a ratio near 1 ours would hide it
  { label = "TensorFlow's at our ratio", x = scaled, y = slow.y, colour = 6 },
  { label = "TensorFlow", x = slow.x, y = slow.y, published = true, colour = 1 },
  { label = "FlexFlow", x = fast.x, y = fast.y, published = true, colour = 2 },
}, o.folder .. "/training.svg", { title = "Inception-v3 on 16 P100", xlabel = "hours", ylabel = "average training loss",
  from_x = 0, width = 5, note = "All losses are published; ours is a ratio of step times." })
