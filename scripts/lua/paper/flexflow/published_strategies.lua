-- published_strategies.lua - the best strategies that the paper draws for 4 P100, on our models, beside ours.
--
--   soapstone run scripts/lua/paper/flexflow/published_strategies.lua [FOLDER] [--long]
--
-- FlexFlow (MLSys 2019), figures 12 and 13 and section 8.4.  Prints what each strategy takes and synchronises, and both in
-- the letters of the drawings; writes the strategies into FOLDER, which `soapstone simulate --strategy` reads.

local soapstone = require "soapstone"
local options = require "soapstone.options"
local report = require "soapstone.report"
local drawn = require "scripts.lua.paper.flexflow.drawn"
local paper = require "scripts.lua.paper.flexflow.common"

local DEVICES = 4
local show = soapstone.unit.show

local about = [[
published_strategies.lua: the strategies of figures 12 (Inception-v3) and 13 (NMT) beside data parallelism, the expert's
and what a search finds here, all on 4 P100.]]
local o = paper.options(arg, about, {
  networks = "all", proposals = options.count(5000, { min = 1 }), seconds = 0.0, descent = false,
}, { proposals = 100000, descent = true })

-- in_turn: its modules follow each other.  A recurrent operator of NMT is one step, as it is drawn.
local cases = {
  { name = "Inception-v3", figure = "12", width = 7, in_turn = true, ways = {
    { name = "figure 12", make = drawn.inception },
    { name = "figure 12, 4 parts", make = drawn.inception, options = { each = true } },
  } },
  { name = "NMT", figure = "13", width = 7, model = { steps_per_op = 1 }, ways = {
    { name = "figure 13", make = drawn.nmt },
    { name = "figure 13, in turn", make = drawn.nmt, options = { undrawn = "in_turn" } },
  } },
}

local function percent(part, whole) return ("%.1f"):format(100 * part / whole) end

local function make_strategies(case, problem)
  local list = { problem:strategy("data_parallel", { name = "data parallel" }),
    problem:strategy("expert", { name = "expert" }) }
  for _, way in ipairs(case.ways) do
    local given = { name = way.name }
    for name, value in pairs(way.options or {}) do given[name] = value end
    list[#list + 1] = way.make(problem, given)
  end
  local theirs = #list
  local found = paper.search(problem, o, { descent = o.descent })
  list[#list + 1] = found.best:copy { name = "found" }
  local after = paper.search(problem, o, { descent = o.descent, start = { list[theirs - 1], list[theirs] } })
  list[#list + 1] = after.best:copy { name = "found from figure " .. case.figure }
  return list, theirs
end

local function print_bytes(problem, list, results)
  local rows = {}
  local data, data_ring = drawn.synchronised(problem, list[1])
  for i, strategy in ipairs(list) do
    local bytes, ring = drawn.synchronised(problem, strategy)
    local moved = results[i].moved.weight + results[i].moved.weight_gradient
    if math.abs(moved - bytes) > 1 then
      options.refuse("%s: %.0f bytes of weights are moved, and %.0f were counted", strategy.name, moved, bytes)
    end
    rows[i] = { strategy.name, show(bytes, "B"), percent(bytes, data), percent(data - bytes, data),
      percent(ring, data_ring) }
  end
  print(report.table({ "strategy", "synchronised", "% of data parallel", "% less", "% by ring volume" }, rows))
end

local function print_work(case, problem, list, results)
  local header, rows = { "strategy" }, {}
  for i = 1, DEVICES do header[#header + 1] = drawn.letter(i) .. " %" end
  header[#header + 1] = "busiest/mean"
  header[#header + 1] = "of time"
  if case.in_turn then header[#header + 1] = "module by module" end
  for i = 1, DEVICES do header[#header + 1] = ("on %d"):format(i) end
  for i, strategy in ipairs(list) do
    local work, all, one_by_one = drawn.work(problem, strategy)
    local row, most, busiest, busy = { strategy.name }, 0, 0, 0
    for d, share in ipairs(work) do
      row[#row + 1] = percent(share, all)
      most = math.max(most, share)
      busiest = math.max(busiest, results[i].devices[d].busy)
      busy = busy + results[i].devices[d].busy
    end
    row[#row + 1] = ("%.3f"):format(most * DEVICES / all)
    row[#row + 1] = ("%.3f"):format(busiest * DEVICES / busy)
    if case.in_turn then row[#row + 1] = ("%.3f"):format(one_by_one * DEVICES / all) end
    for _, count in ipairs(drawn.spread(problem, strategy)) do row[#row + 1] = count end
    rows[i] = row
  end
  print(report.table(header, rows))
end

local function published_rate(name, strategy)
  for _, row in ipairs(paper.published "fig6_throughput") do
    if row.dnn == name and row.cluster == "P100" and row.gpus == DEVICES and row.strategy == strategy then
      return row.samples_per_s_per_gpu
    end
  end
end

local function published_claim(text)
  for _, row in ipairs(paper.published "text_claims") do
    if row.claim:find(text, 1, true) then return row.stated end
  end
  options.refuse("the text has no claim on '%s'", text)
end

-- The same strategies where transfers take no time, and with half and twice the bandwidth of NVLink.
local function print_links(problem, factor, list)
  local header, rows = { "strategy" }, {}
  for i, strategy in ipairs(list) do rows[i] = { strategy.name } end
  for _, bandwidth in ipairs { "1e17 B/s", "36.6 GB/s", "18.3 GB/s", "9.15 GB/s" } do
    local given = { model = problem.model, costs = soapstone.costs.roofline():scale(factor),
      topology = require "topologies.p100_cluster" { nodes = 1, gpus = DEVICES, nvlink = bandwidth } }
    for name, value in pairs(paper.runtime) do given[name] = value end
    local other = soapstone.problem(given)
    header[#header + 1] = bandwidth == "1e17 B/s" and "free" or bandwidth
    for i, strategy in ipairs(list) do
      rows[i][#rows[i] + 1] = show(other:simulate(drawn.onto(other, strategy)).step_time, "s")
    end
  end
  print(report.table(header, rows))
end

local function print_published(case, problem, list, results, theirs)
  local rows = {}
  local function add(what, standing, published, ours)
    rows[#rows + 1] = { what, standing, ("%.4g"):format(published), ("%.4g"):format(ours), paper.difference(ours, published) }
  end
  local function add_share(what, standing, published, ours)
    rows[#rows + 1] = { what, standing, ("%.1f %%"):format(published), ("%.1f %%"):format(ours),
      ("%+.1f points"):format(ours - published) }
  end
  local function rate(i) return results[i].throughput / DEVICES end
  local data, expert = published_rate(case.name, "data_parallel"), published_rate(case.name, "expert")
  local best = published_rate(case.name, "flexflow")
  add("data parallel, samples/s/GPU", "figure 6", data, rate(1))
  add("expert, samples/s/GPU", "figure 6", expert, rate(2))
  for i = 3, theirs do add(list[i].name .. ", samples/s/GPU", "figure 6", best, rate(i)) end
  add("found here, samples/s/GPU", "figure 6", best, rate(theirs + 1))
  local gain = 100 * (1 - data / best)
  for i = 3, theirs + 1 do
    add_share(list[i].name .. ", less time than data parallel", "figure 6", gain,
      100 * (1 - results[i].step_time / results[1].step_time))
  end
  if case.name == "Inception-v3" then
    local bytes, all = drawn.synchronised(problem, list[3]), drawn.synchronised(problem, list[1])
    add_share("figure 12, less synchronised than data parallel", "text 8.4", published_claim "less parameter synchronization",
      100 * (1 - bytes / all))
    add_share("figure 12, less time than data parallel", "text 8.4", published_claim "less time per iteration",
      100 * (1 - results[3].step_time / results[1].step_time))
  end
  print(report.table({ "what", "published in", "published", "here", "difference" }, rows))
end

-- Operators by module or layer, in the letters of the drawings.
local function print_drawings(problem, list)
  local order, by = {}, {}
  for op in problem.model:ops() do
    local row = drawn.row_of(op)
    if not by[row] then by[row], order[#order + 1] = {}, row end
    table.insert(by[row], op)
  end
  local rows = {}
  for _, name in ipairs(order) do
    local ops = by[name]
    for s, strategy in ipairs(list) do
      local words = {}
      for i, op in ipairs(ops) do
        if #ops <= 16 or i <= 3 or i > #ops - 3 then
          words[#words + 1] = drawn.letters_of(strategy:get(op.name), op)
        elseif i == 4 then
          words[#words + 1] = "..."
        end
      end
      rows[#rows + 1] = { s == 1 and name or "", strategy.name, table.concat(words, " ") }
    end
  end
  print(report.table({ "", "strategy", "operators: devices of their parts" }, rows))
end

local function run(case)
  local problem, factor = paper.problem(paper.network(case.name), paper.cluster "P100", DEVICES, { model = case.model })
  local list, theirs = make_strategies(case, problem)
  local results = {}
  for i, strategy in ipairs(list) do results[i] = problem:simulate(strategy) end
  print(("%s on %d P100, figure %s; times of the roofline x %.3f"):format(case.name, DEVICES, case.figure, factor))
  print()
  print(report.compare(results))
  print "\nsynchronised bytes of a step, there and back"
  print_bytes(problem, list, results)
  print "\nmultiply-accumulates by GPU; the busiest to the mean by them, by time, and if each module began after the one before"
  print "ended; and operators with weights on so many GPUs"
  print_work(case, problem, list, results)
  print "\nstep time by the bandwidth of NVLink"
  print_links(problem, factor, list)
  print "\nagainst the paper"
  print_published(case, problem, list, results, theirs)
  print "\nas they are drawn"
  print_drawings(problem, { list[3], list[theirs + 1] })
  print()
  for i = 3, #list do
    local path = o.folder .. "/" .. (case.name .. "-" .. list[i].name):gsub(",? ", "-")
    list[i]:save(path .. ".strategy")
    print("written: " .. path .. ".strategy")
    paper.draw("strategy", list[i], path .. ".svg", { width = case.width })
  end
  print()
end

for _, case in ipairs(paper.some("networks", o.networks, cases)) do run(case) end
