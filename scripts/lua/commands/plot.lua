-- plot.lua - soapstone plot: a figure from a record, from logs of searches, or from a table of throughput.

local soapstone = require "soapstone"

local given = ...
local last = require "scripts.lua.commands.parts".of(given).last
local kind = given[1]

local draw = rawget(soapstone.plot, kind)
if kind == "lines" then
  soapstone.refuse "lines are drawn by a script, soapstone.plot.lines: what they are of, no file says"
elseif kind == "calibration" then
  soapstone.refuse "a calibration is drawn by soapstone calibrate FILE.csv -o OUT, or by a script, soapstone.plot.calibration"
elseif not draw then
  local kinds = {}
  for name in pairs(soapstone.plot) do
    if name ~= "lines" and name ~= "calibration" then kinds[#kinds + 1] = name end
  end
  local near = soapstone.nearest(kind, kinds)
  soapstone.refuse("there is no figure '%s'; %s", kind,
    near and ("did you mean '%s'?"):format(near) or "there are " .. table.concat(kinds, ", "))
end

-- What only some figures take: the options of the command that go with each kind.
local step = { timeline = true, from = true, to = true }
local search = { x = true, log = true, window = true, from = true, to = true, several = true }
local takes = { gantt = step, links = step, memory = step, search = search, acceptance = search,
  strategy = { strategy = true }, throughput = {} }
for _, name in ipairs { "timeline", "from", "to", "strategy", "x", "log", "window" } do
  if given[name] and not takes[kind][name] then
    soapstone.refuse("--%s does not go with a figure of kind %s", name, kind)
  end
end
if #given > 2 and not takes[kind].several then
  soapstone.refuse("plot has nothing to do with '%s': a figure of kind %s is of one file", given[3], kind)
end

local function number(name)
  return tonumber(last(name)) or last(name)
end

-- The fields of a line of CSV (RFC 4180, but lines do not go on in quotes); nil: a quote is open.
local function fields_of(line)
  local fields, at = {}, 1
  while at <= #line + 1 do
    local field, after = line:match("^([^,]*)()", at)
    if line:sub(at, at) == '"' then
      local close = at
      repeat -- two quotes are one that is meant
        close = line:find('"', close + 1, true)
        local pair = close and line:sub(close + 1, close + 1) == '"'
        if pair then close = close + 1 end
      until not pair
      if not close then return nil end
      field, after = line:sub(at + 1, close - 1):gsub('""', '"'), close + 1
    end
    if after <= #line and line:sub(after, after) ~= "," then return nil end
    fields[#fields + 1] = field
    at = after + 1
  end
  return fields
end

-- Rows of throughput: panel (or not), series, devices, value, published (or not), in any order.
local function read_rows(path)
  local file, why = io.open(path)
  if not file then soapstone.refuse("cannot read %s", why) end
  local names, rows, at = nil, {}, 0
  local known = { panel = true, series = true, devices = true, value = true, published = true }
  for line in file:lines() do
    at, line = at + 1, line:gsub("\r$", "")
    local fields = fields_of(line)
    if line:match "^#" or line == "" then -- a remark
    elseif not fields or names and #fields ~= #names then
      soapstone.refuse("%s:%d: this is no row of %d fields", path, at, names and #names or 3)
    elseif not names then
      names = fields
      for _, name in ipairs(names) do
        if not known[name] then
          soapstone.refuse("%s:%d: there is no column '%s'; there are panel, series, devices, value, published", path, at, name)
        end
      end
    else
      local row = {}
      for i, name in ipairs(names) do row[name] = fields[i] ~= "" and fields[i] or nil end
      row.devices, row.value = math.tointeger(tonumber(row.devices)), tonumber(row.value)
      if not (row.series and row.devices and row.value) then
        soapstone.refuse("%s:%d: a row has a series, a number of devices and a value", path, at)
      end
      local truth = { ["1"] = true, ["true"] = true, ["0"] = false, ["false"] = false }
      if row.published and truth[row.published] == nil then
        soapstone.refuse("%s:%d: published is '%s', neither 0 nor 1", path, at, row.published)
      end
      row.published = row.published and truth[row.published]
      rows[#rows + 1] = row
    end
  end
  file:close()
  return rows
end

local log = last "log"
if log and not log:find "^[xy]+$" then
  soapstone.refuse("--log should be x, y or xy, not '%s'", log)
end

local out = last "output" or kind .. ".svg"
local files = { table.unpack(given, 2) }
local what = files[1]
if kind == "throughput" then what = read_rows(files[1]) end
if takes[kind].several then what = files end
draw(what, out, {
  timeline = last "timeline", x = last "x",
  [takes[kind] == search and "from_x" or "from"] = last "from", [takes[kind] == search and "to_x" or "to"] = last "to",
  name = last "strategy",
  logx = log and log:find "x" ~= nil, logy = log and log:find "y" ~= nil,
  window = math.tointeger(number "window") or number "window", width = number "width",
})
print(out)
