-- others.lua - what share of this machine's cores was not this program's to have: while something is measured.
--
--   local others = require "soapstone.others"
--   local watch = others.watch()
--   ... what is measured ...
--   local seen = watch()
--   print(seen, seen.taken, seen.stolen, seen.throttled, seen.busy)
--
-- The kernel counts, core by core, the time that anybody computed (/proc/stat), and how long this process did (os.clock);
-- what is left is others' (`taken`).  The hypervisor's share is in /proc/stat too (`stolen`), and a quota of a container in
-- its control group (`throttled`).  All are shares of the time of the cores that this process may use.  Counters go by
-- hundredths of a second: over a second a share is right to about one in a hundred.
-- docs/decisions/0045-who-else-takes-the-cores.md has the reasons.

local soapstone = require "soapstone"

local others = {}

-- What times are still trusted with, and how much of it is needed to be no accident of counters.
others.most = 0.03
local LEAST <const> = 0.1 -- seconds

local TICKS <const> = 100 -- a second has, in /proc/stat, on every Linux of today (USER_HZ)

local function read_file(path)
  local file = io.open(path)
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

-- "0-2,5" -> { [0] = true, true, true, [5] = true }
local function cores_of(list)
  local cores = {}
  for first, last in list:gmatch "(%d+)%-?(%d*)" do
    for core = math.tointeger(first), math.tointeger(last) or math.tointeger(first) do cores[core] = true end
  end
  return cores
end

local function allowed_of(status) return cores_of(status and status:match "Cpus_allowed_list:%s*([%d,-]+)" or "") end

-- The cores that this process may use, by their numbers, from the least; of none where the system does not say.
function others.cores(read)
  local list = {}
  for core in soapstone.pairs(allowed_of((read or read_file) "/proc/self/status")) do list[#list + 1] = core end
  return list
end

-- Seconds for which the control group stood still at its quota; nil: there is none, or it is not shown.
local function throttled(read)
  local groups = read "/proc/self/cgroup" or ""
  local one, path = groups:match "%d+:([^:\n]*%f[%w]cpu%f[^%w][^:\n]*):([^\n]*)"
  local folders = one and { "/sys/fs/cgroup/" .. one .. path, "/sys/fs/cgroup/cpu" .. path, "/sys/fs/cgroup/cpu" }
    or { "/sys/fs/cgroup" .. (groups:match "0::([^\n]*)" or ""), "/sys/fs/cgroup" }
  for _, folder in ipairs(folders) do
    local text = read(folder .. "/cpu.stat")
    local micro, nano = text and text:match "throttled_usec (%d+)", text and text:match "throttled_time (%d+)"
    if micro then return tonumber(micro) / 1e6 end
    if nano then return tonumber(nano) / 1e9 end
  end
end

-- Counters of now, in seconds; nil where the system has none.
local function sample(read, clock)
  local text, allowed = read "/proc/stat", allowed_of(read "/proc/self/status")
  local now = { cores = 0, all = 0, computing = 0, stolen = 0, throttled = throttled(read) }
  for core, rest in (text or ""):gmatch "cpu(%d+) ([%d ]+)" do
    if allowed[math.tointeger(core)] or not next(allowed) then
      local t = {} -- user nice system idle iowait irq softirq steal; guests are in user and nice
      for word in rest:gmatch "%d+" do t[#t + 1] = tonumber(word) / TICKS end
      local computing, steal = (t[1] or 0) + (t[2] or 0) + (t[3] or 0) + (t[6] or 0) + (t[7] or 0), t[8] or 0
      now.cores, now.computing, now.stolen = now.cores + 1, now.computing + computing, now.stolen + steal
      now.all = now.all + computing + steal + (t[4] or 0) + (t[5] or 0)
    end
  end
  now.own = clock()
  return now.cores > 0 and now or nil
end

local function share(part, all) return math.max(0, math.min(1, part / all)) end

local function percent(x) return ("%.1f %%"):format(100 * x) end

local page = {}

function page.__tostring(seen)
  if not seen.known then return "who else computed is not known: it took no hundredth of a second, or this system does not say (/proc/stat)" end
  local text = ("others had %s of %d core%s for %.1f s, the hypervisor %s"):format(percent(seen.taken), seen.cores, seen.cores == 1 and "" or "s",
    seen.seconds, percent(seen.stolen))
  if seen.throttled > 0 then text = text .. (", and a quota held this program back for %s"):format(percent(seen.throttled)) end
  return seen.busy and text .. ": times are not to be trusted" or text
end

-- The sentence that warns, or nil.
function others.warning(seen)
  if not seen.busy then return nil end
  return "warning: the machine was busy: " .. tostring(seen)
end

-- A function that says what was since: `known`, and where it is `seconds`, `cores`, the shares `taken`, `stolen` and `throttled`, and
-- `busy`: their sum is above others.most.  read(path) and clock() are for tests.
function others.watch(read, clock)
  read, clock = read or read_file, clock or os.clock
  local first = sample(read, clock)
  return function()
    local last = first and sample(read, clock)
    local all = last and last.all - first.all or 0
    if all <= 0 then return setmetatable({ known = false, busy = false }, page) end
    local held = last.throttled and first.throttled and last.throttled - first.throttled or 0
    local seen = { known = true, cores = last.cores, seconds = all / last.cores,
      taken = share(last.computing - first.computing - (last.own - first.own), all), stolen = share(last.stolen - first.stolen, all),
      throttled = share(held, all) }
    local lost = seen.taken + seen.stolen + seen.throttled
    seen.busy = lost > others.most and lost * all > LEAST
    return setmetatable(seen, page)
  end
end

return others
