-- collectives.lua - which all-reduce is fastest at which size: bus bandwidth against bytes.
--
--   soapstone run scripts/lua/experiments/collectives.lua [FOLDER] [MACHINES]
--
-- MACHINES (6 unless given) machines of 8 H100 on rails: each GPU reaches the GPUs of its place elsewhere through an
-- adapter of its own, and those of its machine through NVSwitch.  Links are shared, messages are sent one by one.  The
-- thin line is the closed form of the algorithm that `auto` takes at that size.  Prints a table, and draws the
-- curves into FOLDER.

local soapstone = require "soapstone"
local report = require "soapstone.report"

local folder, machines = arg[1] or ".", math.tointeger(tonumber(arg[2] or 6))
if not machines or machines < 1 then
  soapstone.refuse("the machines are '%s': a whole number is expected, at least 1", arg[2])
end

local cluster = require "topologies.rail_pods" { pods = 1, nodes = machines }
local algorithms = { "ring", "double_tree", "halving_doubling", "hierarchical", "in_network" }
local lines, rows = {}, {}
for i, algorithm in ipairs(algorithms) do
  lines[i] = { label = algorithm, x = {}, y = {}, look = "both" }
end
local chosen = { label = "auto, by its form", x = {}, y = {}, look = "lines", pale = true }

local function all_reduce(bytes, algorithm)
  return soapstone.collective { topology = cluster, bytes = bytes, algorithm = algorithm, links = "shared" }
end

for power = 10, 30, 2 do
  local bytes = 1 << power
  local row, fastest = { soapstone.unit.show(bytes, "B") }, nil
  for i, algorithm in ipairs(algorithms) do
    local c = all_reduce(bytes, algorithm)
    table.insert(lines[i].x, bytes)
    table.insert(lines[i].y, c.bus_bandwidth / 1e9)
    row[#row + 1] = soapstone.unit.show(c.time, "s")
    if algorithm ~= "in_network" and (not fastest or c.time < fastest.time) then fastest = c end
  end
  local auto = all_reduce(bytes, "auto")
  table.insert(chosen.x, bytes)
  table.insert(chosen.y, auto.bus_bandwidth / 1e9 * auto.time / auto.closed_form)
  row[#row + 1], row[#row + 2] = auto.algorithm, ("%.2f"):format(auto.time / fastest.time)
  rows[#rows + 1] = row
end
lines[#lines + 1] = chosen

print(report.table({ "bytes", "ring", "double_tree", "halving_doubling", "hierarchical", "in_network", "auto takes",
  "its time / least" }, rows))
local picture = folder .. "/collectives.svg"
soapstone.plot.lines(lines, picture, { title = ("All-reduce, %d x 8 H100"):format(machines), xlabel = "bytes", logx = true, logy = true,
  ylabel = "bus bandwidth [GB/s]", note = "links shared; chunks as the closed forms find best" })
print("written: " .. picture)
