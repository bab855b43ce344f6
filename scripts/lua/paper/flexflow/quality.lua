-- quality.lua - how near a minute of search comes to the best of a long one, on 64 devices.
--
--   soapstone run scripts/lua/paper/flexflow/quality.lua [FOLDER] [--long] [--NAME VALUE]...
--
-- One search for each network from data parallelism, looked at again and again while it goes on.  What it has found
-- after --mark seconds is compared with what it has in the end, and its gain over data parallelism with the published
-- one (figure 6).

local soapstone = require "soapstone"
local options = require "soapstone.options"
local report = require "soapstone.report"
local paper = require "common"

local o = paper.options(arg, [[
Best step time against the time of the search, six networks on K80: after --mark seconds and in the end, and the gain
over data parallelism beside the published one.]], {
  networks = "all",                                -- names with commas between
  devices = 16,                                    -- K80: 2, 4, 8, 16, 32 or 64
  seconds = options.number(3.0, { min = 0.1 }),    -- of each chain
  mark = options.number(1.0, { min = 0.01 }),      -- seconds of each chain, at which the search is to be near its end
  chains = 2,                                      -- all from data parallelism
  threads = 0,                                     -- chains at work at once; 0: as many as there are processors
}, { devices = 64, seconds = 1800.0, mark = 60.0 })

local k80 = paper.cluster "K80"
paper.some("devices", tostring(o.devices), { 2, 4, 8, 16, 32, 64 })

-- Published throughput of a network on so many devices: data parallel, and found.
local function published(network)
  local at = {}
  for _, row in ipairs(paper.published "fig6_throughput") do
    if row.cluster == "K80" and row.dnn == network.name and row.gpus == o.devices then
      at[row.strategy] = row.samples_per_s_per_gpu
    end
  end
  return at.flexflow / at.data_parallel, at.flexflow
end

-- Seconds at which the search is looked at: a quarter more each time, the mark and the end among them.
local function looks()
  local list = { o.seconds }
  for k = -16, 80 do -- the mark is k = 0, exactly
    local at = o.mark * 2 ^ (k / 4)
    if at < o.seconds then list[#list + 1] = at end
  end
  table.sort(list)
  return list
end

local function best_of(found)
  local best = math.huge
  for _, chain in ipairs(found.chains) do best = math.min(best, chain.best) end
  return best
end

-- Seconds looked at and the best cost there.
local function search(network, problem)
  local starts, curve, last = {}, { seconds = {}, best = {} }, 0
  for k = 1, o.chains do starts[k] = "data_parallel" end
  local list = looks()
  local found <close> = paper.search(problem, { seed = o.seed, seconds = list[1], proposals = 0 },
    { start = starts, descent = false, threads = o.threads })
  curve.start = found.chains[1].start
  for i, at in ipairs(list) do
    if i > 1 and at > last then
      found:more { seconds = at - last }
      found:run { progress = true }
    end
    last = at
    table.insert(curve.seconds, at)
    table.insert(curve.best, best_of(found))
    if found.interrupted then break end
  end
  found.best:save(("%s/quality-%s.json"):format(o.folder, network.name:lower()))
  curve.proposals, curve.interrupted = found.proposals, found.interrupted
  return curve
end

-- The first look within a share of the last one.
local function when_within(curve, share)
  for i, best in ipairs(curve.best) do
    if best <= curve.best[#curve.best] * (1 + share) then return curve.seconds[i] end
  end
end

local function at_mark(curve)
  local best = curve.start
  for i, at in ipairs(curve.seconds) do
    if at <= o.mark then best = curve.best[i] end
  end
  return best
end

local rows, lines, file, near, gained = {}, {}, {}, 0, 0
local networks = paper.some("networks", o.networks, paper.networks)
for i, network in ipairs(networks) do
  local problem = paper.problem(network, k80, o.devices)
  local curve = search(network, problem)
  local gain, theirs = published(network)
  local last, marked = curve.best[#curve.best], at_mark(curve)
  near = near + (marked <= 1.01 * last and 1 or 0)
  gained = gained + (curve.start / last >= gain and 1 or 0)
  rows[#rows + 1] = { network.name, ("%.4f"):format(curve.start), ("%.4f"):format(marked), ("%.4f"):format(last),
    paper.difference(marked, last), ("%.3g"):format(when_within(curve, 0.01)), ("%.2f"):format(curve.start / last),
    ("%.2f"):format(gain), ("%.4g"):format(network.batch / last), ("%.4g"):format(theirs), curve.proposals }
  local gains, goal = {}, {}
  for k, best in ipairs(curve.best) do
    gains[k], goal[k] = curve.start / best, gain
    file[#file + 1] = { network.name, curve.seconds[k], best }
  end
  lines[#lines + 1] = { x = curve.seconds, y = gains, look = "steps", colour = 1, panel = network.name,
    label = i == 1 and "found" or nil }
  lines[#lines + 1] = { x = curve.seconds, y = goal, look = "lines", colour = 2, published = true, panel = network.name,
    label = i == 1 and "published" or nil }
  if curve.interrupted then break end
end

print(("%d chains for each network on %d K80 from data parallelism, %g s each; step times in seconds"):format(o.chains,
  o.devices, o.seconds))
print(report.table({ "network", "start", ("after %g s"):format(o.mark), "in the end", "off by", "within 1 % after s",
  "gain", "published", "samples/s each", "published", "proposals" }, rows))
print(("%d of %d are within 1 %% of their end after %g s; %d of %d gain at least what was published"):format(near, #rows,
  o.mark, gained, #rows))
paper.write(o.folder .. "/quality.tsv", { "network", "seconds", "best_s" }, file)
paper.draw("lines", lines, o.folder .. "/quality.svg", { title = ("Best strategy while searching, %d K80"):format(o.devices),
  xlabel = "time of each chain", xunit = "s", ylabel = "gain over data parallelism", logx = true, columns = 3, width = 7,
  note = "dashed: published (FlexFlow, MLSys 2019, figure 6)" })
