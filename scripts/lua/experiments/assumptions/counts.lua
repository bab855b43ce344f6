-- counts.lua - in how many rows of all experiments do order, best and choice survive?
--
--   soapstone run scripts/lua/experiments/assumptions/counts.lua FOLDER
--
-- It reads what the other experiments printed, NAME.txt in FOLDER as `make experiments` leaves them, and counts rows by what
-- is broken: as printed, so a tau of 0.80 is not above 0.8.  Left out are packed jobs, which do not meet, and the overhead of each
-- step, which falls on all strategies alike.  A sweep is one cell under several strengths; of each the strongest is counted again,
-- since a count of all rows hangs on how many weak strengths were asked.

local arguments = require "soapstone.arguments"
local options = require "soapstone.options"
local report = require "soapstone.report"
local trial = require "soapstone.trial"

local o = arguments.read(arg, "counts.lua: in how many rows of what the experiments printed into --folder order, best and choice survive.", {})

-- In the order of the guide; the name of what is broken, of a row of the script's tables.
local experiments = {
  { "a1_noise", function() return "noise" end },
  { "a1_slow_device", function() return "a slow device" end },
  { "a2_sharing_by_cluster_size", function(row) return "shared links, against " .. row.simple end },
  { "a2_message_size", function() return "small messages" end },
  { "a2_background_load", function() return "load of others" end },
  { "a2_two_jobs", function(row) return row.placed == "spread" and "jobs that are spread" or nil end },
  { "a2_degraded_link", function() return "a slow cable" end },
  { "a3_order", function() return "other orders and streams" end },
  { "a3_copies", function(row) return row.speed and "copies that slow" or "copies that block" end },
  { "a4_overhead", function(row) return row.kind ~= "step" and "overhead of each " .. (row.kind == "launch" and "task" or row.kind) or nil end },
  { "unstated", function(row) return row.cv and "devices that differ" or row.broken end },
  { "unstated_halo_and_steps", function(row) return row.broken == "halo" and "halo" or "steps in a row" end },
}

local function cells_of(line)
  local cells = {}
  for cell in (line:gsub("^ +", "") .. "  "):gmatch "(.-)  +" do cells[#cells + 1] = cell end
  return cells
end

-- The rows of tables of verdicts, by the names of their columns; `sweep` is one cell of what is swept, if that is a strength.
local function rows_of(path)
  local rows, head, strength = {}, nil, nil
  local file = io.open(path) or options.refuse("there is no %s: `make experiments` writes it", path)
  for line in file:lines() do
    local cells = cells_of(line)
    if line:find "  best, simple  " then
      head = cells
      for i, name in ipairs(head) do strength = name == "strategies" and i - 1 or strength end
    elseif head and #cells == #head then
      local row, sweep = {}, {}
      for i, name in ipairs(head) do row[name] = row[name] or cells[i] end -- "by search" may be there twice
      for i = 1, strength - 1 do sweep[i] = cells[i] end
      row.sweep = head[strength] ~= "devices" and head[strength] .. " " .. table.concat(sweep, ", ") or nil
      rows[#rows + 1] = row
    else
      head = nil
    end
  end
  file:close()
  return rows
end

local columns = { "rows", "tau above 0.8", "same best", "regret above 5 %", "of 5 % or less", "luck or noise", "of it above 5 %", "none" }

local function add(counts, row)
  local regret, mark = row.regret:match "^([+-][%d.]+) %%:? ?(%a*)$"
  local dear = tonumber(regret) > 5
  local function one(name, yes) counts[name] = counts[name] + (yes and 1 or 0) end
  one("rows", true)
  one("tau above 0.8", (tonumber(row.tau:match "^-?[%d.]+") or -1) > 0.8)
  one("same best", row["best, simple"] == row["best, broken"])
  one("regret above 5 %", mark == "" and dear)
  one("of 5 % or less", mark == "" and not dear)
  one("luck or noise", mark == "luck" or mark == "noise")
  one("of it above 5 %", mark ~= "" and dear)
  one("none", mark == "none")
end

local function none()
  local counts = {}
  for _, name in ipairs(columns) do counts[name] = 0 end
  return counts
end

-- The counts by what is broken, as lines of a table, and all of them.
local function counted(rows)
  local by, lines, all = {}, {}, none()
  for _, row in ipairs(rows) do
    if not by[row.what] then
      by[row.what] = none()
      lines[#lines + 1] = row.what
    end
    add(by[row.what], row)
    add(all, row)
  end
  by["all"], lines[#lines + 1] = all, "all"
  for i, what in ipairs(lines) do
    lines[i] = { what }
    for k, name in ipairs(columns) do lines[i][k + 1] = by[what][name] end
  end
  return lines, all
end

local rows, strongest = {}, {}
for _, experiment in ipairs(experiments) do
  local last = nil
  for _, row in ipairs(rows_of(("%s/%s.txt"):format(o.folder, experiment[1]))) do
    row.what = experiment[2](row)
    if row.what then
      rows[#rows + 1] = row
      if row.sweep then -- the strengths of a sweep stand below each other, the strongest last
        strongest[#strongest + (last and last.sweep == row.sweep and 0 or 1)] = row
        last = row
      end
    end
  end
end
if #rows == 0 then options.refuse("what is in %s has no table of regrets", o.folder) end
local heads = table.move(columns, 1, #columns, 2, { "broken" })
local lines, all = counted(rows)
local at_most, most = counted(strongest)
print("all rows\n" .. report.table(heads, lines))
print("\nthe strongest of each sweep\n" .. report.table(heads, at_most))

local function says(c, which)
  return ("of %d %s tau is above 0.8 in %d and the best of the list the same in %d; a regret is told apart and above 5 %% in %d, told apart and no more than that in %d, luck or noise in %d (above 5 %% in %d) and none in %d"):format(
    c.rows, which, c["tau above 0.8"], c["same best"], c["regret above 5 %"], c["of 5 % or less"], c["luck or noise"], c["of it above 5 %"], c.none)
end
trial.result("%s; %s.", says(all, "rows"), says(most, "rows at the strongest of each sweep"))
