-- effort.lua - what more time for a search brings: the step time found against the effort.
--
--   soapstone run scripts/lua/experiments/effort.lua [FOLDER] [SECONDS]
--
-- Searches anew with efforts from half a second to SECONDS (20 unless given; an hour is well spent), each twice as long
-- as the one before, with whatever an effort sets.  Prints a table, and draws the curves into FOLDER.  All gradients go
-- to one GPU here, which makes data parallelism slow and leaves much to find; with sync = "ring" AlexNet and RNNLM have
-- next to nothing to gain.

local soapstone = require "soapstone"
local report = require "soapstone.report"

local folder, longest = arg[1] or ".", tonumber(arg[2] or 20)
if not longest or longest < 1 then
  soapstone.refuse("the longest effort is '%s': seconds are expected, at least 1", arg[2])
end

local cluster = require "topologies.p100_cluster" { nodes = 4 }
local networks = {
  { "AlexNet", require "models.alexnet" { batch = 16 * 256 } },
  { "RNNLM", require "models.rnnlm" { batch = 16 * 64 } },
  { "NMT", require "models.nmt" { batch = 16 * 64 } },
}

local rows, lines = {}, {}
for i, network in ipairs(networks) do
  local problem = soapstone.problem { model = network[2], topology = cluster, sync = "parameter_server" }
  local start = problem:simulate(problem:strategy "data_parallel").step_time
  local line = { label = network[1], x = {}, y = {}, look = "both", colour = i }
  local effort = 0.5
  while effort <= longest do
    local found <close> = soapstone.search.mcmc(problem, { effort = effort, seed = 1 })
    found:run { progress = true }
    if found.interrupted then break end
    rows[#rows + 1] = { network[1], ("%g s"):format(effort), ("%.1f s"):format(found.seconds), found.proposals,
      soapstone.unit.show(found.cost, "s"), ("%.3f"):format(start / found.cost) }
    table.insert(line.x, effort)
    table.insert(line.y, start / found.cost)
    effort = 2 * effort
  end
  lines[i] = line
end

print(report.table({ "network", "effort", "it took", "proposals", "step time", "gain" }, rows))
local picture = folder .. "/effort.svg"
soapstone.plot.lines(lines, picture, { title = "What more time brings, 16 P100", xlabel = "effort", xunit = "s", logx = true,
  ylabel = "gain over data parallelism", from_y = 1, note = "all gradients on one GPU (sync parameter_server)" })
print("written: " .. picture)
