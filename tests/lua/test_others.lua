-- Who else takes the cores: of made up counters, and of this machine while something else computes.
local check = require "check"
local others = require "soapstone.others"

local claim, equal, near, contains = check.claim, check.equal, check.near, check.contains

-- What files say before and after; the clock goes on by `own` seconds.
local function between(before, after, own)
  local files, now = before, 1.5
  local seen = others.watch(function(path) return files[path] end, function() return now end)
  files, now = after, now + own
  return seen()
end

local function stat(...)
  local lines = { "cpu  9 9 9 9 9 9 9 9 9 9" }
  for i, line in ipairs { ... } do lines[i + 1] = ("cpu%d %s"):format(i - 1, line) end
  return table.concat(lines, "\n") .. "\nintr 5\n"
end

local status <const> = "Name:\tsoapstone\nCpus_allowed_list:\t0-1\n"
local group <const> = "4:memory:/box\n2:cpu,cpuacct:/box\n"

claim("the cores that may be used are a list", function()
  local function cores(text) return table.concat(others.cores(function() return text end), " ") end
  equal(cores "x:\t1\nCpus_allowed_list:\t0-2,5,7-8\nMems_allowed_list:\t0\n", "0 1 2 5 7 8")
  equal(cores "Cpus_allowed_list:\t3\n", "3")
  equal(cores(nil), "")
end)

claim("what is not ours is others', the hypervisor's and a quota's apart", function()
  -- Two cores for ten seconds: 6 s user, 1 s nice, 2 s system, 0.5 s of interrupts, 0.5 s steal on each, and a third that we may not use.
  local seen = between(
    { ["/proc/stat"] = stat("100 0 50 70 0 0 0 5 0 0", "0 0 0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0 0 0"), ["/proc/self/status"] = status,
      ["/proc/self/cgroup"] = group, ["/sys/fs/cgroup/cpu,cpuacct/box/cpu.stat"] = "nr_throttled 1\nthrottled_time 1000000000\n" },
    { ["/proc/stat"] = stat("700 100 250 70 0 20 30 55 0 0", "600 100 200 0 0 20 30 50 0 0", "1000 0 0 0 0 0 0 0 0 0"), ["/proc/self/status"] = status,
      ["/proc/self/cgroup"] = group, ["/sys/fs/cgroup/cpu,cpuacct/box/cpu.stat"] = "nr_throttled 9\nthrottled_time 3000000000\n" }, 15)
  assert(seen.known and seen.busy)
  equal(seen.cores, 2)
  near(seen.seconds, 10)
  near(seen.taken, (19 - 15) / 20)
  near(seen.stolen, 1 / 20)
  near(seen.throttled, 2 / 20)
  equal(tostring(seen), "others had 20.0 % of 2 cores for 10.0 s, the hypervisor 5.0 %, and a quota held this program back for 10.0 %: times are not to be trusted")
  contains(others.warning(seen), "warning: the machine was busy: others had 20.0 %")
end)

claim("a machine of our own is not busy, and some ticks are no others", function()
  local before = { ["/proc/stat"] = stat("0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0"), ["/proc/self/status"] = status }
  local seen = between(before, { ["/proc/stat"] = stat("100 0 0 0 0 0 0 0", "50 0 0 50 0 0 0 0"), ["/proc/self/status"] = status }, 1.51)
  assert(seen.known and not seen.busy and seen.taken == 0 and seen.throttled == 0 and others.warning(seen) == nil)
  seen = between(before, { ["/proc/stat"] = stat("10 0 0 0 0 0 0 0", "8 0 0 2 0 0 0 0"), ["/proc/self/status"] = status }, 0.1)
  assert(seen.taken > 0.3 and not seen.busy, "0.08 s may be the counters'")
  seen = between(before, { ["/proc/stat"] = stat("100 0 0 0 0 0 0 0", "50 0 0 50 0 0 0 0"), ["/proc/self/status"] = status }, 1.3)
  assert(seen.busy)
end)

claim("a control group of the second kind is read too", function()
  local of = function(held) return { ["/proc/stat"] = stat(("0 0 0 %d 0 0 0 0"):format(held // 10000), "0 0 0 0 0 0 0 0"), ["/proc/self/status"] = status,
    ["/proc/self/cgroup"] = "0::/a/b\n", ["/sys/fs/cgroup/a/b/cpu.stat"] = ("usage_usec 5\nthrottled_usec %d\n"):format(held) } end
  near(between(of(0), of(1000000), 0).throttled, 1)
end)

claim("a system that does not say is not known", function()
  for _, text in ipairs { "", stat("0 0 0 0 0 0 0 0") } do
    local seen = between({ ["/proc/stat"] = text }, { ["/proc/stat"] = text }, 1)
    assert(not seen.known and not seen.busy and others.warning(seen) == nil)
    contains(tostring(seen), "is not known")
  end
end)

-- This machine: whatever else it does, what a program beside us takes, or waits for, is not ours.
local watch = others.watch()
local pipe = assert(io.popen "i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done; echo done")
claim("a program that computes beside us is seen", function()
  equal(pipe:read "l", "done")
  pipe:close()
  local seen = watch()
  if not seen.known then return print "skipped /proc/stat: this system does not say who computes" end
  assert(seen.taken + seen.stolen + seen.throttled > 0.3 / seen.cores, tostring(seen))
end)

check.done()
