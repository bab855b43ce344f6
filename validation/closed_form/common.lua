-- common.lua - what the cases of closed forms share: whole numbers, a table, a verdict.
--
-- A case opens a law, compares what was simulated with what the law says, and closes it:
--
--   local case = law.open("ring_all_reduce", { "devices", "bytes" }, "ps")
--   case:equal({ 4, 1000 }, simulated, form)            -- the same number
--   case:within({ 4, 1000 }, simulated, form, 0.5)      -- no further off than that
--   case:at_most({ 4, 1000 }, simulated, bound)
--   local many = case:group { "random", "20 of them" }  -- one line of the table: that which is furthest off
--   many:equal(simulated, form)
--   many:close()
--   case:close()
--
-- Times are whole picoseconds and sizes whole bytes, so most laws are compared for equality.  With the word --bend
-- behind the script every form is taken a millionth and one unit too large: a case that still holds then compares
-- nothing.

local report = require "soapstone.report"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"

local law = {}

-- A time that a result gives, in seconds, as the whole picoseconds that it is.  Exact up to 2^53 ps (2.5 hours).
function law.picoseconds(seconds)
  return math.tointeger(math.floor(seconds * 1e12 + 0.5))
end

local function nearest(ps)
  local below = math.floor(ps)
  local over = ps - below
  local up = over > 0.5 or (over == 0.5 and below % 2 == 1)
  return math.tointeger(below) + (up and 1 or 0)
end

-- Seconds as they enter: the nearest picosecond, a half to the even one.
function law.rounded(seconds)
  return nearest(seconds * 1e12)
end

-- A duration of whole picoseconds that is so many times as long, rounded again.
function law.scaled(picoseconds, factor)
  return nearest(picoseconds * factor)
end

-- What a message of so many bytes takes over one link, in the four meanings of a link.
function law.over_link(links, bytes, bandwidth, latency)
  if links == "fifo-hop" or links == "fifo-path" then return law.rounded(bytes / bandwidth + latency) end
  return law.rounded(bytes / bandwidth) + law.rounded(latency)
end

law.meanings = { "fifo-hop", "fifo-pipe", "fifo-path", "shared" }

-- Of n shares the first (bytes mod n) have one byte more: the largest.
function law.largest_share(bytes, n)
  return (bytes + n - 1) // n
end

-- ---- task graphs by chance ------------------------------------------------------------------------

-- n tasks { device, time = picoseconds, after = { tasks } } on m devices; each waits for up to `most` of the `reach` before it.
-- `time()` draws a duration.
function law.draw_tasks(n, m, most, reach, time)
  local tasks = {}
  for i = 1, n do
    local after, seen = {}, {}
    for _ = 1, math.min(math.random(0, most), i - 1) do
      local before = math.random(math.max(1, i - reach), i - 1)
      if not seen[before] then after[#after + 1] = before end
      seen[before] = true
    end
    tasks[i] = { device = math.random(1, m), time = time(), after = after }
  end
  return tasks
end

-- When each would end if there were a device for each, and the last of these.
function law.longest_path(tasks)
  local ends, most = {}, 0
  for i, task in ipairs(tasks) do
    local ready = 0
    for _, before in ipairs(task.after) do ready = math.max(ready, ends[before]) end
    ends[i] = ready + task.time
    most = math.max(most, ends[i])
  end
  return most, ends
end

function law.devices(n)
  local t = topology.new { name = "devices" }
  for i = 1, n do t:device("d" .. i) end
  return t
end

-- The same tasks in two loops: added by a script, from instant to instant; and as a file, by the engine.
law.loops = { "run", "engine" }

function law.simulate_tasks(tasks, m, loop, streams)
  if loop == "run" then
    local run = soapstone.run { topology = law.devices(m), streams = streams }
    for i, task in ipairs(tasks) do assert(run:compute(task.device, task.time * 1e-12, { after = task.after }) == i) end
    return run:finish()
  end
  local list, deps, speeds = {}, {}, {}
  for i, task in ipairs(tasks) do
    list[i] = ('["c", %d, %s]'):format(task.device - 1, soapstone.unit.exact(task.time * 1e-12))
    for _, before in ipairs(task.after) do deps[#deps + 1] = ("[%d, %d]"):format(before - 1, i - 1) end
  end
  for d = 1, m do speeds[d] = "1" end
  local path <const> = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(('{"devices": [%s], "tasks": [%s], "deps": [%s]}'):format(table.concat(speeds, ", "), table.concat(list, ", "),
    table.concat(deps, ", ")))
  file:close()
  local ok, result = pcall(soapstone.dag.simulate, path)
  os.remove(path)
  if not ok then error(result, 0) end
  return result
end

-- ---- what is printed --------------------------------------------------------------------------------

local function text(x)
  if math.type(x) == "integer" or type(x) == "string" then return tostring(x) end
  return ("%.10g"):format(x)
end

local function relative(simulated, form)
  if simulated == form then return 0 end
  if form == 0 then return simulated end
  return (simulated - form) / math.abs(form)
end

-- ---- comparisons -------------------------------------------------------------------------------

local compare = {}

function compare.equal(simulated, form)
  return simulated == form
end

function compare.within(simulated, form, allowed)
  return math.abs(simulated - form) <= allowed
end

function compare.at_most(simulated, bound)
  return simulated <= bound
end

function compare.at_least(simulated, bound)
  return simulated >= bound
end

local said = { equal = "=", within = "near", at_most = "<=", at_least = ">=" }

local case, group = {}, {}
case.__index, group.__index = case, group

local function judge(self, how, simulated, form, allowed)
  if self.bent and (how == "equal" or how == "within") then form = form + form * 1e-6 + 1 end
  local holds = compare[how](simulated, form, allowed)
  self.compared = self.compared + 1
  if not holds then self.broken = self.broken + 1 end
  return holds, form
end

local function add_row(self, parameters, how, simulated, form, allowed, holds)
  local row = {}
  for i = 1, self.columns do row[i] = text(parameters[i] or "") end
  row[#row + 1] = text(simulated)
  row[#row + 1] = said[how]
  row[#row + 1] = text(form)
  row[#row + 1] = allowed and ("%.2g"):format(allowed) or "-"
  row[#row + 1] = ("%.1e"):format(relative(simulated, form))
  row[#row + 1] = holds and "" or "BROKEN"
  self.rows[#self.rows + 1] = row
end

for how in pairs(compare) do
  case[how] = function(self, parameters, simulated, form, allowed)
    local holds, compared = judge(self, how, simulated, form, allowed)
    add_row(self, parameters, how, simulated, compared, allowed, holds)
  end
  -- Of many comparisons the first that is broken is shown, else the one that is furthest off.
  group[how] = function(self, simulated, form, allowed)
    local holds, compared = judge(self.case, how, simulated, form, allowed)
    local worst, off = self.worst, math.abs(relative(simulated, compared))
    if how == "at_most" or how == "at_least" then off = -off end -- of bounds the tightest
    local further = worst and (off > worst.off or (off == worst.off and simulated > worst.simulated))
    if not worst or (worst.holds and (not holds or further)) then
      self.worst = { how = how, simulated = simulated, form = compared, allowed = allowed, holds = holds, off = off }
    end
  end
end

function case:group(parameters)
  return setmetatable({ case = self, parameters = parameters }, group)
end

function group:close()
  local w = self.worst
  if not w then error("nothing was compared: " .. table.concat(self.parameters, " "), 2) end
  add_row(self.case, self.parameters, w.how, w.simulated, w.form, w.allowed, w.holds)
end

-- ---- a law -------------------------------------------------------------------------------------

function law.open(name, columns, unit)
  local header = table.move(columns, 1, #columns, 1, {})
  for _, title in ipairs { "simulated [" .. unit .. "]", "", "closed form [" .. unit .. "]", "allowed", "difference", "" } do
    header[#header + 1] = title
  end
  return setmetatable({ name = name, header = header, columns = #columns, rows = {}, compared = 0, broken = 0,
    bent = arg ~= nil and arg[1] == "--bend" }, case)
end

-- Prints the table and the verdict, and ends the program: 0 where the law holds, 1 where it is broken.
function case:close()
  print(report.table(self.header, self.rows))
  if self.broken == 0 then
    print(("%s holds: %d comparisons"):format(self.name, self.compared))
  else
    print(("%s is BROKEN: %d of %d comparisons"):format(self.name, self.broken, self.compared))
  end
  os.exit(self.broken == 0 and self.compared > 0 and 0 or 1, true)
end

return law
