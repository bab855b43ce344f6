-- placement.lua - whole operators on devices, against the full space: figure 9.
--
--   soapstone run scripts/lua/paper/flexflow/placement.lua [FOLDER] [--long]
--
-- FlexFlow (MLSys 2019), section 8.1.3.  (a): ColocRL learns a device for each operator; in our place stands a search of
-- that space, every degree 1, which is at least as kind to it.  (b), OptCNN, is shown as it was published.

local soapstone = require "soapstone"
local options = require "soapstone.options"
local report = require "soapstone.report"
local paper = require "scripts.lua.paper.flexflow.common"

local DEVICES = 4

local about = [[
placement.lua: the best placement of whole operators against the best of the full space, Inception-v3 and NMT on 4 K80
(figure 9 a), and the published numbers of figure 9 b.]]
local o = paper.options(arg, about, {
  networks = "all", proposals = options.count(5000, { min = 1 }), seconds = 0.0, descent = true,
}, { proposals = 500000 })

local published = paper.published "fig9_automated"

local function published_rate(panel, name, system)
  for _, row in ipairs(published) do
    if row.panel == panel and row.dnn == name and row.system == system then return row.samples_per_s end
  end
end

local function figure_6(name, cluster, devices)
  for _, row in ipairs(paper.published "fig6_throughput") do
    if row.dnn == name and row.cluster == cluster and row.gpus == devices and row.strategy == "flexflow" then
      return row.samples_per_s_per_gpu * devices
    end
  end
end

-- Both searches have as many proposals in each chain; the placements start from one device and from runs of balanced time.
local function searches(problem, log)
  local placed = paper.search(problem, o, { descent = o.descent, moves = "place", group = 0,
    start = { "whole", "model_parallel" }, log = log:format "placement" })
  local found = paper.search(problem, o, { descent = o.descent, log = log:format "full" })
  return placed, found
end

local function run(name)
  local problem = paper.problem(paper.network(name), paper.cluster "K80", DEVICES)
  local placed, found = searches(problem, o.folder .. "/" .. name .. "-%s.h5")
  local results = {
    problem:simulate(problem:strategy "data_parallel", { name = "data parallel" }),
    problem:simulate(problem:strategy "model_parallel", { name = "model parallel" }),
    problem:simulate(placed.best, { name = "best placement" }),
    problem:simulate(found.best, { name = "best of the full space" }),
  }
  print(("%s on %d K80: %d proposals of placements, %d of the full space"):format(name, DEVICES, placed.proposals,
    found.proposals))
  print(report.compare(results))
  print()
  paper.draw("search", { placement = o.folder .. "/" .. name .. "-placement.h5",
    ["full space"] = o.folder .. "/" .. name .. "-full.h5" }, o.folder .. "/placement-" .. name .. ".svg",
    { max_chains = 5, logy = true })
  return results[3].throughput, results[4].throughput
end

local rows, points, gains = {}, {}, {}
for _, name in ipairs(paper.some("networks", o.networks, { "Inception-v3", "NMT" })) do
  local placed, found = run(name)
  local ours = { ColocRL = placed, FlexFlow = found }
  for _, system in ipairs { "ColocRL", "FlexFlow" } do
    local theirs = published_rate("a", name, system)
    local series = system == "ColocRL" and "placement" or "full space"
    rows[#rows + 1] = { name, series, ("%.1f"):format(theirs), ("%.1f"):format(ours[system]),
      paper.difference(ours[system], theirs) }
    points[#points + 1] = { series = series, devices = DEVICES, value = ours[system] / DEVICES, panel = name }
    points[#points + 1] = { series = series, devices = DEVICES, value = theirs / DEVICES, panel = name, published = true }
  end
  gains[#gains + 1] = { name, ("%.2f"):format(published_rate("a", name, "FlexFlow") / published_rate("a", name, "ColocRL")),
    ("%.2f"):format(found / placed) }
end

print "\nfigure 9 a: samples/s on 4 K80 (decoded from the drawing)"
print(report.table({ "network", "space", "published", "here", "difference" }, rows))
print "\nfull space over placement"
print(report.table({ "network", "published", "here" }, gains))
print "\nwhere the paper contradicts itself: FlexFlow in figure 9 and in figure 6, samples/s"
rows = {}
for _, row in ipairs(published) do
  local other = row.system == "FlexFlow" and figure_6(row.dnn, row.cluster, row.gpus)
  if other then
    rows[#rows + 1] = { row.panel, row.dnn, ("%d %s"):format(row.gpus, row.cluster), ("%.1f"):format(row.samples_per_s),
      ("%.1f"):format(other), paper.difference(row.samples_per_s, other) }
  end
end
print(report.table({ "panel", "network", "devices", "figure 9", "figure 6", "difference" }, rows))
print "\nfigure 9 b, as published: samples/s on 16 P100"
rows = {}
for _, row in ipairs(published) do
  if row.panel == "b" and row.system == "OptCNN" then
    local full = published_rate("b", row.dnn, "FlexFlow")
    rows[#rows + 1] = { row.dnn, row.samples_per_s, full, ("%.2f"):format(full / row.samples_per_s) }
  end
end
print(report.table({ "network", "OptCNN", "FlexFlow", "ratio" }, rows))
paper.draw("throughput", points, o.folder .. "/placement.svg", { columns = 2 })
