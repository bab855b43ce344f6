-- What a script sees of measured times of operators: what is measured, files, and that a problem takes them. No time is
-- expected to be any: machines are noisy.
local soapstone = require "soapstone"
local topology = require "soapstone.topology"
local check = require "check"

local claim, equal, fails, contains = check.claim, check.equal, check.fails, check.contains

local function cores(n, kinds)
  local t = topology.new { name = "here" }
  local core = {}
  for i = 1, n do
    core[i] = t:device("core" .. i, { kind = kinds and kinds[i] or "cpu core", machine = 1, memory_bandwidth = "10 GB/s",
      flops = { f32 = "50 GFLOP/s" } })
    for k = 1, i - 1 do t:link(core[k], core[i], { bandwidth = "5 GB/s", latency = "1 us" }) end
  end
  return t
end

local mlp = require "models.mlp" { batch = 12, layers = 3, width = 24 }
local here = cores(2)
local function problem_with(costs, t)
  return soapstone.problem { model = mlp, topology = t or here, sync = "ring", costs = costs }
end
local problem = problem_with(nil)
local few <const> = { rounds = 3, warm_up = 1 }

claim("what makes no sense is refused", function()
  local whole = problem:strategy "whole"
  fails("problem:profile: option 'rounds' is 0; it must be at least 1", problem.profile, problem, whole, { rounds = 0 })
  fails("unknown option 'round'; did you mean 'rounds'?", problem.profile, problem, whole, { round = 3 })
  fails("option 'inputs' cannot be 'hot'; there are warm and cold", problem.profile, problem, whole, { inputs = "hot" })
  fails("option 'known' should be a profile (of problem:profile or soapstone.profile.read), not a text", problem.profile, problem,
    whole, { known = "profile.h5" })
  fails("problem:profile takes a strategy or a list of them, not a text", problem.profile, problem, "whole")
  fails("strategy 2 of the list is a number", problem.profile, problem, { whole, 3 })
  fails("the list has 0 strategies", problem.profile, problem, {})
  fails("option 'kind': topology here has no device of kind 'p100'", problem.profile, problem, whole, { kind = "p100" })
  local mixed = problem_with(nil, cores(2, { "cpu core", "slow core" }))
  fails("devices of the kinds cpu core and slow core, and what is measured is of one", mixed.profile, mixed,
    mixed:strategy "whole")
  fails("problem:profile: the strategy was made for another", problem.profile, problem, mixed:strategy "whole")
  fails("nowhere.h5", soapstone.profile.read, "nowhere.h5")
  fails("profile.merge takes a list of profiles, not a number", soapstone.profile.merge, 3)
  fails("element 1 is a number, not a profile", soapstone.profile.merge, { 3 })
  fails("there is no profile in the list", soapstone.profile.merge, {})
end)

local available, first, measured = pcall(problem.profile, problem, problem:strategy "whole", few)
if not available then
  claim("a build without kernels says what is missing and how to get it", function()
    contains(first, "problem:profile: this build has no oneDNN: install libdnnl-dev (Debian) and configure again")
  end)
  check.done()
  return
end

claim("what a strategy needs is measured, each operator of a size once", function()
  equal(measured, 5) -- the first layer reads only the data, the others are alike
  equal(#first, 5)
  local phases = {}
  for _, row in ipairs(first.rows) do
    phases[#phases + 1] = row.kind .. " " .. row.phase
    equal(row.device, "cpu core")
    equal(row.dtype, "f32")
    equal(row.shape, "12x24 < 12x24")
    equal(#row.samples, 3)
    assert(row.outliers >= 0 and row.deviation >= 0)
    local order = { row.least, row.q05, row.q25, row.median, row.q75, row.q95, row.most }
    for i = 2, #order do assert(order[i - 1] <= order[i] * (1 + 1e-12), "quantiles are in order, but for rounding") end
    for _, seconds in ipairs(row.samples) do assert(seconds > 0 and seconds >= row.least and seconds <= row.most) end
    assert(row.mean > 0)
  end
  table.sort(phases)
  equal(table.concat(phases, ", "),
    "linear backward, linear forward, linear weight_gradient, squared_error backward, squared_error forward")
  equal(first.inputs, "warm")
  equal(first.device, "cpu core")
  contains(first.library, "oneDNN")
  assert(#first.machine > 0 and #first.wallclock == 20 and first.processor)
  contains(tostring(first), "profile of 5 rows: cpu core, oneDNN")
  contains(tostring(first), "12x24 < 12x24")
  contains(first:json(), '"samples_s": [')
  fails("no field 'medain'; did you mean 'median'?", function() return first.rows[1].medain end)
end)

claim("only what is missing is measured, and what was known stays as it was", function()
  local data = problem:strategy "data_parallel"
  local more, new = problem:profile({ data, problem:strategy "whole" }, { rounds = 2, warm_up = 0, known = first })
  equal(new, 5)
  equal(#more, 10)
  for i = 1, 5 do
    equal(more.rows[i].samples[3], first.rows[i].samples[3])
    equal(#more.rows[i + 5].samples, 2)
    equal(more.rows[i + 5].shape, "6x24 < 6x24")
  end
  local again, none = problem:profile(data, { known = more })
  equal(none, 0)
  equal(#again, 10)
  fails("profiles of inputs \"warm\" and \"cold\" do not go together", problem.profile, problem, data, { known = first, inputs = "cold" })
end)

claim("a profile says how much it lacks", function()
  local whole, data = problem:strategy "whole", problem:strategy "data_parallel"
  equal(first:lacks(whole), 0)
  equal(first:lacks(data), 5)
  equal(first:lacks { whole, data, problem:strategy "data_parallel" }, 5)
  fails("profile:lacks takes a strategy or a list of them, not nil", first.lacks, first)
end)

claim("a budget ends the rounds, inputs may be cold, and backward be measured in its parts", function()
  local short = problem:profile(problem:strategy "whole", { rounds = 1000, budget = 1e-9, warm_up = 0, parts_of_backward = true })
  equal(#short, 7)
  for _, row in ipairs(short.rows) do equal(#row.samples, 1) end
  local cold = problem:profile(problem:strategy "whole", { rounds = 1, warm_up = 0, inputs = "cold" })
  equal(cold.inputs, "cold")
  fails('element 2: profiles of inputs "warm" and "cold" do not go together', soapstone.profile.merge, { first, cold })
end)

claim("a profile is written, read, and put together with another", function()
  local path = os.tmpname()
  os.remove(path)
  path = path .. ".h5"
  first:write(path)
  local back = soapstone.profile.read(path)
  equal(back:json(), first:json())
  first:write(path) -- in place of another
  local other = problem:profile(problem:strategy "data_parallel", few)
  local both = soapstone.profile.merge { back, other, other }
  equal(#both, 10)
  equal(both.rows[10].samples[1], other.rows[5].samples[1])
  local inspected = soapstone.inspect(path)
  os.remove(path)
  contains(inspected, "cpu core")
  local text = assert(io.open(path, "w"))
  text:write "mine\n"
  text:close()
  fails("profile of this soapstone", first.write, first, path)
  os.remove(path)
end)

claim("profiles of one kind are pooled: the samples of both, in the order of the list", function()
  local again = problem:profile(problem:strategy "whole", few)
  local both = soapstone.profile.merge({ first, again }, { pool = true })
  equal(#both, #first)
  for i, row in ipairs(both.rows) do
    equal(#row.samples, 6)
    for k = 1, 3 do
      equal(row.samples[k], first.rows[i].samples[k])
      equal(row.samples[3 + k], again.rows[i].samples[k])
    end
    local sorted = table.move(row.samples, 1, 6, 1, {})
    table.sort(sorted)
    assert(math.abs(row.median - (sorted[3] + sorted[4]) / 2) <= 1e-15)
  end
  fails("unknown option 'pol'; did you mean 'pool'?", soapstone.profile.merge, { first }, { pol = true })
end)

claim("beside another core streams are measured, and how far each time waits for memory", function()
  local cores_here = io.popen "nproc":read "n"
  fails("core 0 is to measure and to be beside what is measured", problem.profile, problem, problem:strategy "whole", { core = 0, beside = 0 })
  fails("there is no core 99999", problem.profile, problem, problem:strategy "whole", { beside = 99999 })
  if cores_here < 2 then return end
  local p = problem:profile(problem:strategy "whole", { rounds = 3, warm_up = 1, core = 0, beside = 1, known = first })
  equal(#p, #first) -- what was known is not measured again, the streams are
  assert(not p.rows[1].memory_bound and p.interference >= 0)
  local seen = {}
  for _, row in ipairs(p.streams) do
    seen[row.what] = (seen[row.what] or 0) + 1
    assert(row.median > 0 and row.q05 <= row.q95 * (1 + 1e-12) and row.memory_bound >= 0 and row.memory_bound <= 1,
      ("%s %s: %s %s %s %s"):format(row.what, row.bytes, row.median, row.q05, row.q95, row.memory_bound))
  end
  equal(seen.copy, seen.message)
  equal(seen.sum, seen.update)
  equal(p.streams[1].bytes, 64)
  equal(p.streams[seen.copy].bytes, 4096) -- no array of the model is larger
  -- streams that are known are not measured again, but where arrays are larger than they go
  local wider = soapstone.problem { model = require "models.mlp" { batch = 16, layers = 2, width = 128 }, topology = here }
  local more = wider:profile(wider:strategy "whole", { rounds = 2, warm_up = 0, core = 0, beside = 1, known = p })
  local largest = 0
  for _, row in ipairs(more.streams) do largest = math.max(largest, row.bytes) end
  equal(largest, 128 * 128 * 4)
  local narrow = wider:profile(wider:strategy "whole", { rounds = 1, warm_up = 0, core = 0, beside = 1, memory = "400 KiB" })
  for _, row in ipairs(narrow.streams) do assert(row.bytes <= 32768, "twelve times that is all the memory") end
  local both = problem:profile(problem:strategy "data_parallel", { rounds = 3, warm_up = 1, core = 0, beside = 1, known = p })
  local bounds = 0
  for _, row in ipairs(both.rows) do bounds = bounds + (row.memory_bound and 1 or 0) end
  equal(bounds, #both - #p)
  both:write "beside.h5"
  local back = soapstone.profile.read "beside.h5"
  equal(back.interference, both.interference)
  equal(#back.streams, #both.streams)
  equal(back.streams[7].median, both.streams[7].median)
  equal(back.rows[#back].memory_bound, both.rows[#both].memory_bound)
  -- the costs of the profile and of its file know of them
  local o = { model = mlp, topology = here, sync = "ring", costs = soapstone.costs.table(both), gather = true, partial_sums = true,
    update_passes = 3, interference = both.interference }
  local by_profile = soapstone.problem(o)
  o.costs = soapstone.costs.table "beside.h5"
  local by_file = soapstone.problem(o)
  equal(by_profile:simulate(by_profile:strategy "data_parallel").step_time, by_file:simulate(by_file:strategy "data_parallel").step_time)
  os.remove "beside.h5"
end)

claim("a problem takes the measured times, from the profile and from its file", function()
  local path = os.tmpname() .. ".h5"
  first:write(path)
  local whole = problem:strategy "whole"
  local from_object = problem_with(soapstone.costs.table(first)):simulate(whole)
  local from_file = problem_with(soapstone.costs.table(path)):simulate(whole)
  os.remove(path)
  equal(from_object.step_time, from_file.step_time)
  local of = {}
  for _, row in ipairs(first.rows) do of[row.kind .. " " .. row.phase] = row.median end
  local sum = 3 * of["linear forward"] + 2 * of["linear backward"] + of["linear weight_gradient"]
    + of["squared_error forward"] + of["squared_error backward"]
  assert(math.abs(from_object.step_time - sum) < 1e-10, "the step is the sum of its medians")
  local split = problem_with(soapstone.costs.table(first))
  fails("dimension n is 6, and was measured only from 12", split.simulate, split, split:strategy "data_parallel")
end)

check.done()
