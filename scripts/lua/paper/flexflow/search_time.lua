-- search_time.lua - table 5: the time of a search with full and with delta simulation.
--
--   soapstone run scripts/lua/paper/flexflow/search_time.lua [FOLDER] [--long] [--NAME VALUE]...
--
-- The same proposals four ways, from the same random strategies: everything anew (full, the published meaning), the graph
-- changed in place and simulated whole (replay), only what changes (delta), and delta that leaves a proposal once it is
-- certain to be rejected.  The cluster of the table is not stated; ours is that of K80, which alone has 64 devices.
-- Seconds are those of the processor, which other work on the machine moves least.

local soapstone = require "soapstone"
local options = require "soapstone.options"
local report = require "soapstone.report"
local paper = require "common"

local o = paper.options(arg, [[
Table 5 of FlexFlow: search time with full and with delta simulation, the same proposals, beside the published seconds
and ratios.]], {
  networks = "all",      -- names with commas between
  devices = "4,16",      -- of 4, 8, 16, 32 and 64
  proposals = 60,        -- of each start
  starts = 1,            -- random strategies, each with its own seed
  start = options.choice("random", { "random", "data_parallel", "expert" }),
}, { devices = "all", proposals = 300, starts = 3 })

local sizes = { 4, 8, 16, 32, 64 }
local networks, devices = paper.some("networks", o.networks, paper.networks), paper.some("devices", o.devices, sizes)
local k80 = paper.cluster "K80"

local ways = {
  { "full", { way = "full", early_stop = false } },
  { "replay", { way = "replay", early_stop = false } },
  { "delta", { way = "delta", early_stop = false } },
  { "delta, early stop", { way = "delta", early_stop = true } },
}

local published = {}
for _, row in ipairs(paper.published "table5_search_time") do
  published[row.dnn .. row.gpus] = row
end

-- Seconds of all starts, a text of what they found, and the share of tasks that were simulated or, counted, changed.
local function measure(problem, way)
  local seconds, visited, changed, costs = 0, 0, 0, {}
  for k = 1, o.starts do
    local search <close> = soapstone.search.mcmc(problem, { start = o.start, seed = o.seed + k, proposals = o.proposals,
      threads = 1, moves = { block = 1, pow2 = 1, free = 0.5 }, group = 0, neighbour = 0, way = way.way, early_stop = way.early_stop,
      count_changed = way.count_changed })
    local before = os.clock()
    search:run { progress = true }
    local chain = search.chains[1]
    seconds = seconds + os.clock() - before
    visited, changed = visited + chain.visited_share / o.starts, changed + chain.changed_share / o.starts
    costs[k] = ("%.12g after %d"):format(chain.best, chain.best_at)
  end
  return seconds, table.concat(costs, ", "), visited, changed
end

local rates, ratios, file = {}, {}, {}
for _, network in ipairs(networks) do
  for _, n in ipairs(devices) do
    local problem = paper.problem(network, k80, n)
    local theirs = published[network.name .. n]
    local rate, ratio, seconds, found = { network.name, n }, { network.name, n }, {}, nil
    local shares = {}
    for i, way in ipairs(ways) do
      local s, best, visited = measure(problem, way[2])
      if found and best ~= found then
        error(("%s on %d devices: %s found %s, full found %s"):format(network.name, n, way[1], best, found))
      end
      found, seconds[i], shares[i] = best, s, visited
      rate[#rate + 1] = ("%.4g"):format(o.proposals * o.starts / s)
    end
    local _, _, _, changed = measure(problem, { way = "delta", early_stop = false, count_changed = true })
    for i = 2, #ways do ratio[#ratio + 1] = ("%.2f"):format(seconds[1] / seconds[i]) end
    ratio[#ratio + 1] = theirs.printed_speedup
    ratio[#ratio + 1] = ("%.1f %%"):format(100 * changed)
    ratio[#ratio + 1] = ("%.1f %%"):format(100 * shares[3])
    ratio[#ratio + 1] = ("%g/%g"):format(theirs.full_s, theirs.delta_s)
    rates[#rates + 1], ratios[#ratios + 1] = rate, ratio
    file[#file + 1] = { network.name, n, o.proposals * o.starts, seconds[1], seconds[2], seconds[3], seconds[4], shares[3],
      changed, theirs.full_s, theirs.delta_s, theirs.printed_speedup }
  end
end

print(("%d proposals each way, from %d strategies (%s); every way found the same\n"):format(o.proposals * o.starts, o.starts,
  o.start))
print "proposals per second"
print(report.table({ "network", "devices", "full", "replay", "delta", "delta, early stop" }, rates))
print "\nfull search time over that of the other ways; published: delta, and its seconds full/delta"
print(report.table({ "network", "devices", "replay", "delta", "delta, early stop", "published", "tasks changed",
  "simulated", "published s" }, ratios))
paper.write(o.folder .. "/search_time.tsv", { "network", "devices", "proposals", "full_s", "replay_s", "delta_s",
  "delta_early_stop_s", "share_simulated", "share_changed", "published_full_s", "published_delta_s", "published_ratio" }, file)
