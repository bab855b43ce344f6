-- check.lua - claims about what a script sees, counted.
--
--   local check = require "check"
--   check.claim("a switch is no device", function()
--     check.equal(s.device, nil)
--     check.fails("is a switch", t.route, t, a, s, {})
--   end)
--   check.done()
--
-- The last line is "N passed, N failed"; the exit status is 1 if any failed.

local check = {}

local passed, failed = 0, 0

function check.claim(name, f)
  local ok, message = xpcall(f, debug.traceback)
  if ok then
    passed = passed + 1
    print("ok     " .. name)
  else
    failed = failed + 1
    print("FAILED " .. name .. "\n  " .. tostring(message):gsub("\n", "\n  "))
  end
end

local function show(value)
  return type(value) == "string" and ("%q"):format(value) or tostring(value)
end

-- The keys of a set, in their order: a list, and one text.
function check.list(set)
  local list = {}
  for name in pairs(set) do list[#list + 1] = name end
  table.sort(list)
  return list
end

function check.keys(set)
  return table.concat(check.list(set), " ")
end

function check.equal(got, wanted)
  if got ~= wanted then error(("got %s, wanted %s"):format(show(got), show(wanted)), 2) end
end

function check.near(got, wanted, relative)
  if not (math.abs(got - wanted) <= (relative or 1e-12) * math.abs(wanted)) then
    error(("got %.17g, wanted %.17g"):format(got, wanted), 2)
  end
end

function check.contains(text, part)
  if not tostring(text):find(part, 1, true) then
    error(("%s is not in %s"):format(show(part), show(text)), 2)
  end
end

-- f(...) must raise an error that has `part` in it and begins with the place of a script.
function check.fails(part, f, ...)
  local ok, message = pcall(f, ...)
  if ok then error(("no error; wanted %s"):format(show(part)), 2) end
  message = tostring(message)
  if not message:find(part, 1, true) then
    error(("got %s, wanted %s"):format(show(message), show(part)), 2)
  end
  if not message:find("^[^\n]-%.lua:%d+: ") then
    error(("no place in front of %s"):format(show(message)), 2)
  end
  return message
end

function check.done()
  print(("%d passed, %d failed"):format(passed, failed))
  os.exit(failed == 0 and 0 or 1, true)
end

return check
