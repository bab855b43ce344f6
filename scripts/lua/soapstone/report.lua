-- report.lua - tables for a terminal: any rows, and results side by side.

local soapstone = require "soapstone"

local show = soapstone.unit.show

local report = {}

-- "a number": what was given instead, in a sentence
local function kind_of(value)
  local kind = type(value)
  if kind == "userdata" then kind = tostring(getmetatable(value)):gsub("^soapstone%.", "") end
  return value == nil and "nothing" or (kind:find "^[aeiou]" and "an " or "a ") .. kind
end

local function refuse_colon(value, what)
  if value == report then
    local call = what:match "^[%w._]+"
    soapstone.refuse("%s was called with a colon; use a dot: %s(...)", call, call)
  end
end

local function check(value, kind, what)
  refuse_colon(value, what)
  if type(value) ~= kind then
    soapstone.refuse("%s should be a %s, not %s", what, kind == "string" and "text" or kind, kind_of(value))
  end
end

local function check_result(r, what)
  refuse_colon(r, what)
  if getmetatable(r) ~= "soapstone.result" then
    soapstone.refuse("%s should be a result (what problem:simulate returned), not %s", what, kind_of(r))
  end
end

local function width_of(text) -- in characters, not bytes
  return utf8.len(text) or #text
end

-- A table with a header line; columns whose cells all begin with a digit or a dash go to the right.
function report.table(header, rows)
  check(header, "table", "report.table: the header")
  check(rows, "table", "report.table: the list of rows")
  for i, row in ipairs(rows) do check(row, "table", "report.table: row " .. i) end
  local widths, right, lines = {}, {}, {}
  for c, title in ipairs(header) do
    widths[c], right[c] = width_of(title), #rows > 0
    for _, row in ipairs(rows) do
      local cell = tostring(row[c] or "")
      widths[c] = math.max(widths[c], width_of(cell))
      right[c] = right[c] and cell:find "^[%d-]" ~= nil
    end
  end
  local function line(cells)
    local out = {}
    for c in ipairs(header) do
      local cell = tostring(cells[c] or "")
      local pad = (" "):rep(widths[c] - width_of(cell))
      out[c] = right[c] and pad .. cell or cell .. pad
    end
    lines[#lines + 1] = (table.concat(out, "  "):gsub("%s+$", ""))
  end
  line(header)
  for _, row in ipairs(rows) do line(row) end
  return table.concat(lines, "\n")
end

-- The device that is busy longest and the one that is busy shortest: tables of r.devices.
function report.extremes(r)
  check_result(r, "report.extremes: the argument")
  local busiest, idlest = r.devices[1], r.devices[1]
  for _, d in ipairs(r.devices) do
    if d.busy > busiest.busy then busiest = d end
    if d.busy < idlest.busy then idlest = d end
  end
  return busiest, idlest
end

-- The device whose memory is fullest, by its peak.
function report.fullest(r)
  check_result(r, "report.fullest: the argument")
  local fullest = r.devices[1]
  for _, d in ipairs(r.devices) do
    if d.peak_memory > fullest.peak_memory then fullest = d end
  end
  return fullest
end

local function share(part, whole)
  return whole > 0 and ("%.1f %%"):format(100 * part / whole) or "0 %"
end

local function memory(r)
  local d = report.fullest(r)
  local text = show(d.peak_memory, "B")
  if d.capacity > 0 then text = text .. " of " .. show(d.capacity, "B") end
  return r.over_capacity and text .. " (too much)" or text
end

-- Words in lines of at most `width` characters; lines after the first are indented.
function report.wrap(text, width, indent)
  check(text, "string", "report.wrap: the text")
  check(width, "number", "report.wrap: the width")
  local lines, line = {}, ""
  for word in text:gmatch "%S+" do
    if line ~= "" and width_of(line) + 1 + width_of(word) > width then
      lines[#lines + 1] = line
      line = (" "):rep(indent or 0) .. word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

-- The parts of r.assumptions, and how many of the results have each.
local function parts_of(results)
  local parts, count = {}, {}
  for i, r in ipairs(results) do
    parts[i] = {}
    for part in (r.assumptions .. "; "):gmatch "(.-); " do
      parts[i][#parts[i] + 1] = part
      count[part] = (count[part] or 0) + 1
    end
  end
  return parts, count
end

-- What all of the results assume.
function report.assumptions(results)
  check(results, "table", "report.assumptions: the list of results")
  for i, r in ipairs(results) do check_result(r, "report.assumptions: element " .. i) end
  local parts, count = parts_of(results)
  local common = {}
  for _, part in ipairs(parts[1] or {}) do
    if count[part] == #results then common[#common + 1] = part end
  end
  return table.concat(common, "; ")
end

-- A line for each result that assumes what not all of them do.
local function differences(results)
  local parts, count = parts_of(results)
  local lines = {}
  for i, r in ipairs(results) do
    local own = {}
    for _, part in ipairs(parts[i]) do
      if count[part] < #results then own[#own + 1] = part end
    end
    if #own > 0 then
      lines[#lines + 1] = report.wrap(("line %d, %s: %s"):format(i, r.name, table.concat(own, "; ")), 100, 2)
    end
  end
  return lines
end

-- How far the step time moves when durations do by a picosecond, as a share; nil where a script acted in the run, which
-- alone could do so again.
local function spread_of(r)
  local ok, found = pcall(r.sensitivity, r, { runs = 4 })
  if ok then return found.spread end
  if not tostring(found):find("again with other durations", 1, true) then error(found, 0) end
end

local SMALL = 1e-6 -- what moves by less is told to all digits that are shown

-- Where tasks wait for each other long enough, a picosecond decides who is first, and the rest follows: differences
-- below what step times move by are noise.  Two results have that of theirs, not that of a third.
local function noise(results)
  local spread, moves, shared, unknown = {}, {}, false, {}
  for i, r in ipairs(results) do
    shared = shared or r.assumptions:find("links shared", 1, true) ~= nil
    spread[i] = spread_of(r)
    if not spread[i] then
      unknown[#unknown + 1] = i
    elseif spread[i] >= SMALL then
      moves[#moves + 1] = ("line %d %sby %.2g %%"):format(i, #moves == 0 and "moves " or "", 100 * spread[i])
    end
  end
  local lines, text = {}, "with durations moved by a picosecond"
  if #moves > 0 then
    lines[1] = report.wrap(("%s %s: smaller differences to %s are noise"):format(text, table.concat(moves, ", "),
      #moves == 1 and "it" or "these"), 100, 2)
  elseif shared and #unknown < #results then
    lines[1] = text .. " no step time moves by more than a millionth"
  end
  if shared and #unknown > 0 then
    lines[#lines + 1] = ("a script added tasks in line%s %s: how far such a step time moves is not known"):format(
      #unknown == 1 and "" or "s", table.concat(unknown, ", "))
  end
  for i, a in ipairs(results) do
    for k = i + 1, #results do
      local b, most = results[k], math.max(spread[i] or 0, spread[k] or 0)
      local apart = math.abs(a.step_time - b.step_time) / math.min(a.step_time, b.step_time)
      if most >= SMALL and apart > 0 and apart <= most then
        lines[#lines + 1] = ("lines %d and %d are not told apart"):format(i, k)
      end
    end
  end
  return lines
end

-- Results, one a line; where their assumptions differ, lines below say in what.
function report.compare(results)
  check(results, "table", "report.compare: the list of results")
  for i, r in ipairs(results) do check_result(r, "report.compare: element " .. i) end
  local rows = {}
  for i, r in ipairs(results) do
    local busiest, idlest = report.extremes(r)
    rows[i] = {
      r.name, show(r.step_time, "s"), ("%.1f"):format(r.throughput), show(r.bytes_moved, "B"),
      busiest.name .. " " .. share(busiest.busy, r.step_time),
      busiest.busy == idlest.busy and "all alike"
        or idlest.name .. " " .. share(idlest.busy, r.step_time),
      memory(r),
    }
  end
  local text = report.table({ "strategy", "step time", "samples/s", "bytes moved", "busiest device",
    "idlest device", "peak memory" }, rows)
  local lines = { text, table.unpack(differences(results)) }
  table.move(noise(results), 1, #results * #results + 1, #lines + 1, lines)
  return table.concat(lines, "\n")
end

-- Columns of a table as a file for other programs; numbers read back as they were.
function report.write(path, header, rows)
  check(path, "string", "report.write: the path")
  local file, wrong = io.open(path, "w")
  if not file then soapstone.refuse("report.write: %s", wrong) end
  file:write(table.concat(header, "\t"), "\n")
  for _, row in ipairs(rows) do
    local cells = {}
    for c in ipairs(header) do
      local cell = row[c]
      cells[c] = math.type(cell) == "float" and soapstone.unit.exact(cell) or tostring(cell)
    end
    file:write(table.concat(cells, "\t"), "\n")
  end
  assert(file:close())
  print("written: " .. path)
end

-- Draws with soapstone.plot[kind] into path, an .svg, and into a .png beside it; where there is no gnuplot it says so
-- and goes on.
function report.draw(kind, what, path, options)
  check(path, "string", "report.draw: the path")
  for _, ending in ipairs { ".svg", ".png" } do
    local picture = path:gsub("%.svg$", "") .. ending
    local ok, wrong = pcall(soapstone.plot[kind], what, picture, options)
    if ok then
      print("written: " .. picture)
    elseif tostring(wrong):find("gnuplot", 1, true) then
      print("not drawn: " .. tostring(wrong):gsub("^[^:]+:%d+: ", ""))
      return
    else
      error(wrong, 0)
    end
  end
end

return report
