-- Two runs of one script do the same thing, whatever the host's addresses and clock.
local check = require "check"

local fails, equal, claim = check.fails, check.equal, check.claim

-- What a run prints that stock Lua leaves to chance.
local probe = [[
  local t = {}
  for i = 1, 40 do t["key" .. i * 7919 % 101] = i end
  for i = 1, 9 do t[i * 3 - 8] = i; t[i + 0.5] = i end
  t[true], t[false] = 1, 2
  for k, v in pairs(t) do io.write(tostring(k), "=", v, " ") end
  for k in next, t do io.write(tostring(k), " ") end
  print()
  for i = 1, 5 do io.write(math.random(), " ", math.random(100), " ", math.random(0), " ") end
  local list = {}
  for i = 1, 3000 do list[i] = { i % 3, i } end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  for i = 1, #list, 97 do io.write(list[i][2], " ") end
]]

local function output(seed)
  local name = os.tmpname()
  local f = assert(io.open(name, "w"))
  f:write(probe)
  f:close()
  local run = io.popen(("'%s' run %s '%s'"):format(os.getenv "SOAPSTONE" or arg[-2], seed, name))
  local text = run:read "a"
  run:close()
  os.remove(name)
  return text
end

claim("three runs print the same bytes", function()
  local first = output ""
  assert(#first > 500, first)
  equal(output "", first)
  equal(output "--seed=0", first)
end)

claim("another seed gives other numbers", function()
  assert(output "--seed 1" ~= output "--seed 2")
end)

claim("pairs goes by integers, numbers, strings, false, true", function()
  local keys = {}
  for k in pairs { [3] = 0, x = 0, [2.5] = 0, [-4] = 0, ["B"] = 0, [true] = 0, a = 0, [false] = 0,
                   ["\u{e9}"] = 0, [1] = 0, [-1.5] = 0, [math.huge] = 0 } do
    keys[#keys + 1] = tostring(k)
  end
  equal(table.concat(keys, " "), "-4 1 3 -1.5 2.5 inf B a x \u{e9} false true")
end)

claim("next goes the same way", function()
  local t = { 10, 20, x = 1, [0.5] = 2, a = 3 }
  local keys, k = {}, nil
  repeat
    k = next(t, k)
    keys[#keys + 1] = tostring(k)
  until k == nil
  equal(table.concat(keys, " "), "1 2 0.5 a x nil")
  equal(next {}, nil)
  equal(select(2, next { 7 }), 7)
end)

claim("keys without an order are refused", function()
  fails("one of them is a table", pairs, { [{}] = 1, x = 2 })
  fails("one of them is a function", next, { [print] = 1 })
  fails("needs a table, not nil", pairs, nil)
end)

claim("fields may be taken away while pairs walks", function()
  local t = {}
  for i = 1, 50 do t["k" .. i] = i end
  local seen = 0
  for k, v in pairs(t) do
    seen = seen + 1
    t[k] = nil
    if k == "k1" then t.k2, t.k50 = nil, 99 end
  end
  equal(seen, 49)
  equal(next(t), nil)
end)

claim("__pairs is honoured", function()
  local t = setmetatable({}, { __pairs = function() return function(_, k) return not k or nil end end })
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  equal(n, 1)
end)

claim("math.random keeps Lua's manners", function()
  for _ = 1, 200 do
    local x, i = math.random(), math.random(-3, 4)
    assert(x >= 0 and x < 1 and i >= -3 and i <= 4 and math.type(i) == "integer")
  end
  equal(math.random(5, 5), 5)
  fails("nothing lies between 3 and 2", math.random, 3, 2)
  fails("nothing lies between 1 and -1", math.random, -1)
  math.randomseed(42)
  local a = math.random(0)
  math.randomseed(42)
  equal(math.random(0), a)
  math.randomseed(43)
  assert(math.random(0) ~= a)
  math.random(math.mininteger, math.maxinteger)
end)

claim("table.sort is stable and sorts", function()
  local list = {}
  for i = 1, 777 do list[i] = { math.random(10), i } end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  for i = 2, #list do
    local a, b = list[i - 1], list[i]
    assert(a[1] < b[1] or a[1] == b[1] and a[2] < b[2])
  end
  local words = { "b", "a", "C" }
  table.sort(words)
  equal(table.concat(words), "Cab")
  assert(not pcall(table.sort, { 1, "x" }))
end)

check.done()
