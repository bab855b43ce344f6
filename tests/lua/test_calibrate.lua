-- What a script sees of a calibration: what is refused, and that what comes out went in.
local calibrate = require "soapstone.calibrate"
local check = require "check"
local plot = require "soapstone.plot"
local small = require "small"

local claim, equal, fails = check.claim, check.equal, check.fails

local function near(got, wanted, relative)
  assert(math.abs(got / wanted - 1) < (relative or 1e-6), ("%.9g is not %.9g"):format(got, wanted))
end

local function write(text)
  local file = assert(io.open("times.csv", "w"))
  file:write(text)
  file:close()
end

claim("what makes no sense is refused in the words of whoever wrote it", function()
  local function wrong(said, o) fails(said, calibrate.fit, o) end
  local good = { { bytes = 8, seconds = 1 }, { bytes = 9, seconds = 2 }, { bytes = 10, seconds = 3 } }
  wrong("option 'rows' should be a list of { bytes =, seconds = }, not nil", nil)
  wrong("option 'rows' should be a list of { bytes =, seconds = }, not nil", {})
  wrong("unknown option 'rank'; did you mean 'ranks'?", { rows = good, rank = 8 })
  wrong("row 2 should be { bytes =, seconds = }, not a number", { rows = { good[1], 7 } })
  wrong("row 2: option 'seconds' is missing", { rows = { good[1], { bytes = 9 } } })
  wrong("row 1: unknown option 'second'", { rows = { { bytes = 9, second = 1 } } })
  wrong("row 1: option 'seconds'", { rows = { { bytes = 9, seconds = "1 kg" } } })
  wrong("row 1: option 'method' cannot be 'stream'; did you mean 'streamed'?",
    { rows = { { bytes = 9, seconds = 1, method = "stream" } } })
  wrong("calibrate.fit: mine: 2 rows: a line and its errors need 3", { name = "mine", rows = { good[1], good[2] } })
  wrong("row 3: it took 0 seconds", { rows = { good[1], good[2], { bytes = 10, seconds = 0 } } })
  wrong("there is no operation 'all_reduse'; did you mean 'all_reduce'?", { rows = good, operation = "all_reduse" })
  wrong("all_reduce is between 0 ranks", { rows = good, operation = "all_reduce" })
  wrong("all_to_all has no algorithm 'tree'", { rows = good, operation = "all_to_all", ranks = 4, algorithm = "tree" })
  local fit = small.fit()
  fails("fit:seconds: a size of -1 bytes", fit.seconds, fit, -1)
  fails("fit:curve: a message of 1024 bytes took", fit.curve, fit, { latency = "1 s" })
  fails("latncy", function() return fit.latncy end)
  fails("needs a fit as argument 1", plot.calibration, 3, "no.svg")
  fit:close()
  fails("closed", fit.json, fit)
end)

claim("tables are refused by their line", function()
  write "bytes,seconds\n8,1e-6\n9,fast\n"
  fails("times.csv:3:3", calibrate.read, "times.csv")
  write "bytes,seconds,weight\n8,1e-6,1\n1e30,2,1\n"
  fails("times.csv:3:1: bytes is 1e30: at most 1e+18 is wanted", calibrate.read, "times.csv")
  write "bytes,seconds,weight\n8,1e20,1\n"
  fails("times.csv:2:3: it took 1e+20 s: at most 1e+09 s is wanted", calibrate.read, "times.csv")
  write "bytes,seconds,weight\n8,1,1e13\n"
  fails("times.csv:2:5: weight is 1e13: at most 1e+12 is wanted", calibrate.read, "times.csv")
  write "bytes,seconds\n8,1e-6\n9,fast\n"
  fails("nowhere.csv", calibrate.read, "nowhere.csv")
  fails("unknown option 'column'; did you mean 'columns'?", calibrate.read, "times.csv", { column = {} })
  fails("columns: unknown option 'second'; did you mean 'seconds'?", calibrate.read, "times.csv", { columns = { second = "x" } })
  fails("columns.seconds", calibrate.read, "times.csv", { columns = { seconds = {} } })
end)

claim("a column that looks like one of ours is refused with how to say what it is", function()
  write "operation,n_ranks,bytes,seconds\nall_reduce,8,8,1e-6\nall_reduce,8,9000,2e-6\nall_reduce,8,90000,8e-6\n"
  fails('there is no column n_ranks; did you mean ranks? Then say so, --columns ranks=n_ranks or columns = { ranks = "n_ranks" }',
    calibrate.read, "times.csv")
  equal(calibrate.read("times.csv", { columns = { ranks = "n_ranks" } })[1].ranks, 8)
end)

claim("times that do not grow with bytes have no bandwidth, and no start-up is one of 0", function()
  local function fit(times, o)
    local rows = {}
    for i, t in ipairs(times) do rows[i] = { bytes = 10 ^ (i + 2), seconds = t } end
    return calibrate.fit { name = "mine", rows = rows, least_squares = o }
  end
  for _, least_squares in ipairs { true, false } do
    for _, times in ipairs { { 1e-3, 1e-4, 1e-5 }, { 1e-3, 0.9e-3, 0.8e-3, 0.7e-3 }, { 1e-3, 1e-3, 1e-3 } } do
      fails("calibrate.fit: mine: no bandwidth: times do not grow with bytes", fit, times, least_squares)
    end
    local steep = fit({ 1e-6, 3e-5, 9e-4 }, least_squares)
    equal(steep.latency, 0)
    equal(steep.half_size, 0)
    assert(not tostring(steep):find "nan" and not tostring(steep):find "inf" and not tostring(steep):find "e%-%d%d%d")
  end
end)

claim("in a figure's title a unit stands on the line of its number", function()
  if not os.execute "command -v gnuplot >/dev/null 2>&1" then return end
  local fit, with_units = small.fit(), 0
  for width = 2, 3.5, 0.1 do
    plot.calibration(fit, "fit.svg", { width = width })
    local file = assert(io.open "fit.svg")
    for line in file:read "a":gmatch "<text>(.-)</text>" do
      assert(not line:find "^[µnGMk]*[sB][,/ ]" and not line:find "^[KM]iB", line)
      with_units = with_units + (line:find "[%d]\u{a0}[µGMK]?" and 1 or 0)
    end
    file:close()
  end
  assert(with_units >= 16, with_units)
  os.remove "fit.svg"
  os.remove "fit.svg.tsv"
end)

-- The two sides of one name: what soapstone.collective takes, uncontended, tells the latency and bandwidth of its links.
-- Sizes are multiples of 1536: even shares of chunks, of which two trees have half each.
claim("what a collective takes by its closed form gives its link back, whatever is done, how and by how many", function()
  local soapstone = require "soapstone"
  local algorithms = { "ring", "bidirectional_ring", "tree", "double_tree", "halving_doubling", "two_level", "hierarchical",
    "in_network", "pairwise", "direct" }
  local function star(n)
    local t = soapstone.topology.new { name = "star" }
    local s = t:switch "s"
    for i = 1, n do t:link(t:device("d" .. i, { kind = "p100" }), s, { bandwidth = "10 GB/s", latency = "4 us" }) end
    return t
  end
  local fitted, refused = {}, 0
  for _, ranks in ipairs { 2, 3, 4, 5, 6, 8, 11, 16 } do
    local t = star(ranks)
    for _, operation in ipairs { "p2p", "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce" } do
      for _, algorithm in ipairs(operation == "p2p" and ranks > 2 and {} or algorithms) do
        for _, chunks in ipairs { 0, 1, 3 } do
          local rows = {}
          local o = { name = "mine", operation = operation, algorithm = algorithm, ranks = ranks, chunks = chunks, rows = rows }
          for i, size in ipairs { 1536, 9216, 49152, 307200, 4194816, 70001664 } do
            local ok, c = pcall(soapstone.collective, { topology = t, operation = operation, algorithm = algorithm,
              bytes = math.floor(size), chunks = chunks, links = "shared" })
            rows[i] = { bytes = size, seconds = ok and c.closed_form or size }
            if not ok then o.unknown = true end
          end
          local unknown = o.unknown
          o.unknown = nil
          local ok, fit = pcall(calibrate.fit, o)
          local what = ("%s %s of %d in %d chunks"):format(operation, algorithm, ranks, chunks)
          if ok then
            assert(not unknown, what .. ": no collective has that")
            assert(math.abs(fit.latency / 8e-6 - 1) < 1e-9 and math.abs(fit.bandwidth / 10e9 - 1) < 1e-9,
              ("%s: %.12g s, %.12g B/s, worst %g"):format(what, fit.latency, fit.bandwidth, fit.line.worst))
            near(fit:seconds(15360), soapstone.collective { topology = t, operation = operation, algorithm = algorithm,
              bytes = 15360, chunks = chunks, links = "shared" }.closed_form, 1e-9)
            fitted[operation .. " " .. algorithm] = true
          else
            assert(fit:find("has no algorithm", 1, true) or fit:find("goes by machines, switches or links", 1, true) or
              fit:find("is not passed on in chunks", 1, true), what .. ": " .. fit)
            refused = refused + 1
          end
        end
      end
    end
  end
  local n = 0
  for _ in pairs(fitted) do n = n + 1 end
  equal(n, 14)
  assert(refused > 0)
end)

claim("a line with a row far off gives the line, and names the row", function()
  local fit = small.fit()
  equal(fit.name .. " " .. fit.operation .. " " .. fit.algorithm .. " " .. fit.ranks, "small p2p direct 2")
  near(fit.latency, 4e-6)
  near(fit.bandwidth, 20e9)
  near(fit.half_size, 80e3)
  near(fit:seconds "80 kB", 8e-6)
  equal(fit.outliers, 1)
  assert(fit.rows[4].outlier and fit.rows[4].trust == 0 and not fit.rows[5].outlier)
  near(fit.rows[4].error, -2 / 3)
  near(fit.line.within_5, 0.9)
  equal(fit.line.rows .. " " .. fit.sizes .. " " .. fit.freedom, "10 10 8")
  assert(fit.told.latency and fit.told.bandwidth and not fit.apart and not fit.bent)
  assert(tostring(fit):find("row 4: 64.00 KiB in", 1, true), tostring(fit))
  assert(fit:json():find('"outliers":1', 1, true))
  local points, full = fit:curve()
  equal(#points, 9) -- without the row that is far off
  near(points[1].bytes / (points[1].efficiency * full), fit.rows[1].seconds)
  equal(points[9].efficiency, 1)
  local plain = calibrate.fit { rows = fit.rows and {
    { bytes = 1, seconds = 1 }, { bytes = 2, seconds = 2, weight = 3 }, { bytes = 4, seconds = "5 s" } }, least_squares = true }
  assert(plain.errors.bandwidth > 0 and plain.outliers == 0)
end)

claim("streamed messages tell latency from half size", function()
  local rows = {}
  for i = 1, 8 do
    local held = (4 ^ (i + 3) + 20e3) / 10e9
    rows[2 * i - 1] = { bytes = 4 ^ (i + 3), seconds = 3e-6 + held }
    rows[2 * i] = { bytes = 4 ^ (i + 3), seconds = held, method = "streamed" }
  end
  local fit = calibrate.fit { rows = rows }
  fails("there are bandwidth, half_size and latency", function() return fit.errors.elephants end)
  assert(fit.apart)
  near(fit.latency, 3e-6)
  near(fit.half_size, 20e3)
  near(fit:seconds(30e3, { method = "streamed" }), 5e-6)
  local one = {}
  for i = 1, 8 do one[i] = rows[2 * i] end
  fit = calibrate.fit { rows = one }
  assert(fit.latency == nil and fit.errors.latency == nil and fit.told.latency == false)
  assert(fit.notes:find "streamed messages hide the latency")
end)

claim("curves of a table go into fit as they come", function()
  local lines = { "curve,operation,ranks,bytes,time [us],remark" }
  for i = 1, 12 do
    local bytes = 4 ^ i
    lines[#lines + 1] = ("ring,all_reduce,8,%d,%.17g,x"):format(bytes, 1e6 * 14 * (2e-6 + bytes / 8 / 50e9))
    lines[#lines + 1] = ("pair,p2p,,%d,%.17g,"):format(bytes, 1e6 * (2e-6 + bytes / 50e9))
  end
  lines[#lines + 1] = "pair,p2p,,4,,"
  write(table.concat(lines, "\n"))
  local curves, skipped = calibrate.read("times.csv", { columns = { seconds = "time" } })
  equal(#curves .. " " .. skipped .. " " .. curves[1].name .. " " .. #curves[2].rows, "2 1 ring 12")
  for _, curve in ipairs(curves) do
    local fit = calibrate.fit(curve)
    near(fit.latency, 2e-6)
    near(fit.bandwidth, 50e9)
  end
end)

claim("the figure's table has every row", function()
  if not os.execute "command -v gnuplot >/dev/null 2>&1" then return end
  for _, ending in ipairs { "svg", "png", "pdf" } do
    plot.calibration(small.fit(), "fit." .. ending)
    local file = assert(io.open("fit." .. ending .. ".tsv"))
    local text = file:read "a"
    file:close()
    equal(select(2, text:gsub("\nmeasured\t", "")) .. " " .. select(2, text:gsub("\nfar off\t", "")), "9 1")
    os.remove("fit." .. ending)
    os.remove("fit." .. ending .. ".tsv")
  end
end)

os.remove "times.csv"
claim("a fit takes about as long a row, however many there are", function()
  local function seconds(n)
    local rows = {}
    for i = 1, n do rows[i] = { bytes = 1023 + i, seconds = 4e-6 + (1023 + i) / 1e10 } end
    local began = os.clock()
    calibrate.fit { rows = rows }
    return os.clock() - began
  end
  local few, many = seconds(20000), seconds(120000)
  if many > 15 * few then error(("%g s and %g s for six times as many rows"):format(few, many)) end
end)

check.done()
