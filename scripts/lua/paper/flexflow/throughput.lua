-- throughput.lua - figure 6: samples per second and device of six networks on two clusters.
--
--   soapstone run scripts/lua/paper/flexflow/throughput.lua [FOLDER] [--long] [--NAME VALUE]...
--
-- Data parallel, the expert's strategy, and the best one that a search found, ours beside the published ones, each
-- batch per device (weak scaling).  One published number goes in for each network and cluster: that of one device.

local soapstone = require "soapstone"
local options = require "soapstone.options"
local report = require "soapstone.report"
local paper = require "common"

local o = paper.options(arg, [[
Figure 6 of FlexFlow: throughput per device of six networks on two clusters, ours beside the published.
Prints a table for each panel, the mean errors, and how many pairs of curves come out in the published order;
draws a figure for each cluster.]], {
  networks = "all",                                     -- names with commas between
  clusters = "all",
  devices = "all",                                      -- 1, 2, 4 ... of each cluster
  seconds = options.number(0.5, { min = 0 }),           -- of each of the three chains of a search
  proposals = 0,                                        -- of each chain; 0: no limit
  sync = "two_level",                                   -- how gradients meet (soapstone help options)
  others = false,                                       -- how other options would have come out, without searches
}, { seconds = 60.0 })

if o.seconds == 0 and o.proposals == 0 then
  options.refuse("--seconds and --proposals are both 0, so that a search would never end")
end
local networks = paper.some("networks", o.networks, paper.networks)
local clusters = paper.some("clusters", o.clusters, paper.clusters)
paper.some("devices", o.devices, paper.cluster "K80".devices)

paper.runtime.sync = o.sync

local curves = { "data_parallel", "expert", "found" }
local called = { data_parallel = "data parallel", expert = "expert", found = "found" }

-- published[cluster][network][devices][curve]
local published = {}
for _, row in ipairs(paper.published "fig6_throughput") do
  local at = published
  for _, key in ipairs { row.cluster, row.dnn, row.gpus } do
    at[key] = at[key] or {}
    at = at[key]
  end
  at[row.strategy == "flexflow" and "found" or row.strategy] = row.samples_per_s_per_gpu
end

local function devices_of(cluster)
  local wanted, list = {}, {}
  for _, n in ipairs(paper.some("devices", o.devices, paper.cluster "K80".devices)) do wanted[n] = true end
  for _, n in ipairs(cluster.devices) do
    if wanted[n] then list[#list + 1] = n end
  end
  return list
end

-- Samples per second and device by curve, and the factor of the costs.
local function simulate(network, cluster, devices, more, with_search)
  local problem, factor = paper.problem(network, cluster, devices, more)
  local at = {}
  for _, kind in ipairs { "data_parallel", "expert" } do
    at[kind] = problem:simulate(problem:strategy(kind)).throughput / devices
  end
  if with_search then
    at.found, at.proposals = at.data_parallel, 0
    if devices > 1 then
      local found = paper.search(problem, o)
      at.found, at.proposals = network.batch / found.cost, found.proposals
    end
  end
  return at, factor
end

-- Mean of |ours / theirs - 1| beyond one device.
local function mean_error(points, curve)
  local sum, n = 0, 0
  for _, p in ipairs(points) do
    if p.devices > 1 then
      sum, n = sum + math.abs(p.ours[curve] / p.theirs[curve] - 1), n + 1
    end
  end
  return n > 0 and ("%.1f %%"):format(100 * sum / n) or "-"
end

-- Pairs of curves that differ by more than 2 % as published: how many there are, how many come out in that order, and
-- the rest.
local function order(points, of)
  local pairs_, kept, lost = 0, 0, {}
  for _, p in ipairs(points) do
    for i = 1, #of do
      for j = i + 1, #of do
        local a, b = of[i], of[j]
        local theirs_a, theirs_b = p.theirs[a], p.theirs[b]
        if p.devices > 1 and math.abs(theirs_a - theirs_b) > 0.02 * math.max(theirs_a, theirs_b) then
          pairs_ = pairs_ + 1
          if (theirs_a - theirs_b) * (p.ours[a] - p.ours[b]) > 0 then
            kept = kept + 1
          else
            lost[#lost + 1] = { p.cluster, p.network, p.devices, called[a] .. ", " .. called[b],
              ("%.4g, %.4g"):format(theirs_a, theirs_b), ("%.4g, %.4g"):format(p.ours[a], p.ours[b]),
              paper.difference(p.ours[a], theirs_a) .. ", " .. paper.difference(p.ours[b], theirs_b) }
          end
        end
      end
    end
  end
  return pairs_, kept, lost
end

local function print_panel(network, cluster, points, factor)
  print(("%s on %s, %d samples a device; costs are the roofline's x %.3f, so that one device does %.4g samples/s as published")
    :format(network.name, cluster.name, network.batch, factor, points[1].theirs.data_parallel))
  local rows = {}
  for i, p in ipairs(points) do
    local row = { p.devices }
    for _, curve in ipairs(curves) do
      row[#row + 1] = ("%.4g"):format(p.ours[curve])
      row[#row + 1] = ("%.4g"):format(p.theirs[curve])
      row[#row + 1] = paper.difference(p.ours[curve], p.theirs[curve])
    end
    row[#row + 1] = p.ours.proposals
    rows[i] = row
  end
  print(report.table({ "devices", "data par.", "published", "diff.", "expert", "published", "diff.", "found",
    "published", "diff.", "proposals" }, rows))
  print(("mean error beyond one device: data parallel %s, expert %s, found %s\n"):format(mean_error(points,
    "data_parallel"), mean_error(points, "expert"), mean_error(points, "found")))
end

local function write_points(all)
  local rows = {}
  for _, p in ipairs(all) do
    for _, curve in ipairs(curves) do
      rows[#rows + 1] = { p.cluster, p.network, p.devices, curve, p.ours[curve], p.theirs[curve] }
    end
  end
  paper.write(o.folder .. "/throughput.tsv",
    { "cluster", "network", "devices", "curve", "samples_per_s_per_device", "published" }, rows)
end

local function draw(cluster, points)
  local rows = {}
  for _, p in ipairs(points) do
    for _, curve in ipairs(curves) do
      local row = { panel = p.network, series = called[curve], devices = p.devices }
      rows[#rows + 1] = { panel = p.network, series = called[curve], devices = p.devices, value = p.ours[curve] }
      row.value, row.published = p.theirs[curve], true
      rows[#rows + 1] = row
    end
  end
  paper.draw("throughput", rows, ("%s/throughput-%s.svg"):format(o.folder, cluster.name:lower()),
    { title = cluster.name .. " cluster", ideal = true, columns = 3, width = 7,
      note = "dashed, open points: published (FlexFlow, MLSys 2019, figure 6)" })
end

local function print_order(all)
  local n, kept, lost = order(all, curves)
  print(("Order: of %d pairs of curves that differ by more than 2 %% as published, %d come out in the published order")
    :format(n, kept))
  if #lost > 0 then
    print("and these do not (first the published samples/s per device, then ours):")
    print(report.table({ "cluster", "network", "devices", "curves", "published", "ours", "ours off by" }, lost))
  end
  print()
end

local function compare()
  local all = {}
  for _, cluster in ipairs(clusters) do
    local of_cluster = {}
    for _, network in ipairs(networks) do
      local points, factor = {}, nil
      for _, n in ipairs(devices_of(cluster)) do
        local p = { cluster = cluster.name, network = network.name, devices = n,
          theirs = published[cluster.name][network.name][n] }
        p.ours, factor = simulate(network, cluster, n, nil, true)
        points[#points + 1], of_cluster[#of_cluster + 1], all[#all + 1] = p, p, p
      end
      if #points > 0 then print_panel(network, cluster, points, factor) end
    end
    if #of_cluster > 0 then draw(cluster, of_cluster) end
  end
  if #all == 0 then options.refuse("--devices %s: the clusters chosen have no such points", o.devices) end
  print()
  print_order(all)
  write_points(all)
end

-- -- other options -------------------------------------------------------------------------------------

local others = {
  { "those chosen", {} },
  { "all gradients to one device", { sync = "parameter_server" } },
  { "gradients round a ring", { sync = "ring", aggregate = true } },
  { "the 2018 simulator's formula", { sync = "closed_form" } },
  { "gradients meet as they come", { overlap = true } },
  { "links forward what they have", { links = "fifo-pipe" } },
  { "a transfer holds its whole path", { links = "fifo-path" } },
  { "each consumer's copy is sent", { coalesce = "none" } },
  { "sums are free", { partial_sums = false } },
  { "updates are free", { update_passes = 0 } },
}

local function compare_others()
  local rows, two = {}, { "data_parallel", "expert" }
  for i, other in ipairs(others) do
    local points = {}
    for _, cluster in ipairs(clusters) do
      for _, network in ipairs(networks) do
        for _, n in ipairs(devices_of(cluster)) do
          if n > 1 then
            points[#points + 1] = { cluster = cluster.name, network = network.name, devices = n,
              ours = simulate(network, cluster, n, { problem = other[2] }),
              theirs = published[cluster.name][network.name][n] }
          end
        end
      end
    end
    local n, kept = order(points, two)
    rows[i] = { other[1], mean_error(points, "data_parallel"), mean_error(points, "expert"), kept .. " of " .. n }
  end
  print("Other options, one changed at a time: mean error of the two curves that need no search, and in how many of the")
  print("points where they differ by more than 2 % the better one is the published one")
  print(report.table({ "options", "data parallel", "expert", "order" }, rows))
end

print(("options: %s\n"):format(paper.described()))
if o.others then compare_others() else compare() end
