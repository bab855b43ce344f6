-- bench.lua - soapstone bench: how fast the simulator is on this machine.

local soapstone = require "soapstone"
local report = require "soapstone.report"

local given = ...

local parts = require "scripts.lua.commands.parts".of(given)
local most = parts.count "tasks" or 1000000
if most < 1 then soapstone.refuse("--tasks is %d; it must be at least 1", most) end
local seed = math.tointeger(parts.last "seed" or 0)

local function processor()
  local file = io.open "/proc/cpuinfo"
  if not file then return "an unknown processor" end
  local name = file:read "a":match "model name%s*:%s*([^\n]+)"
  file:close()
  return name or "an unknown processor"
end

-- The best of three: what the machine can do, not what else it was doing.
local function measure(tasks)
  local best, bytes
  for run = 1, 3 do
    soapstone.progress(("%d tasks, run %d of 3"):format(tasks, run))
    local result <close>, used = soapstone.dag.random { tasks = tasks, seed = seed }
    local seconds = result.wall_clock.simulate
    if not best or seconds < best then best = seconds end
    bytes = used
  end
  soapstone.progress()
  return { tasks = tasks, ns = best / tasks * 1e9, bytes = bytes / tasks }
end

local sizes = {}
for size = 4, 8 do
  if 10 ^ size < most then sizes[#sizes + 1] = math.tointeger(10 ^ size) end
end
sizes[#sizes + 1] = most

local rows, json = {}, {}
for i, tasks in ipairs(sizes) do
  local m = measure(tasks)
  rows[i] = { m.tasks, ("%.1f"):format(m.ns), ("%.1f"):format(m.bytes) }
  json[i] = ('{"tasks": %d, "ns_per_task": %.4g, "bytes_per_task": %.4g}'):format(m.tasks, m.ns, m.bytes)
end

if given.json then
  print(('{"version": %q, "processor": %q, "simulate": [%s]}'):format(soapstone.version, processor(),
    table.concat(json, ", ")))
else
  print(("soapstone %s on %s"):format(soapstone.version, processor()))
  print(report.table({ "tasks", "ns/task", "bytes/task" }, rows))
end
