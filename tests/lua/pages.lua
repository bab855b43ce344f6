-- pages.lua - what README, DESIGN.md, docs/ and the manual page print, done as printed.  Run by
-- test_pages.sh in an empty folder where build/soapstone is the program.
local check = require "check"

local claim, equal = check.claim, check.equal
local source = os.getenv "SS_SRCDIR"

local function read(name)
  local f = assert(io.open(name))
  local text = f:read "a"
  f:close()
  return text
end

local function write(name, text)
  local f = assert(io.open(name, "w"))
  f:write(text)
  f:close()
end

-- What a command prints; it must not fail.
local function sh(command)
  local f = io.popen(command .. " 2>&1")
  local text = f:read "a"
  assert(f:close(), command .. ": " .. text)
  return text
end

local function run(name, text)
  write(name, text)
  return sh("build/soapstone run " .. name)
end

-- Without gnuplot there are no figures, and nothing else is lost.
local draws = os.execute "command -v gnuplot >/dev/null 2>&1"
local function without_figures(text)
  return draws and text or text:gsub("soapstone%.plot%.", "-- %0")
end

-- Blocks of a page between ``` and ```, whatever their indentation.
local function fenced(page, language)
  local blocks, block, on = {}, nil, false
  for line in read(source .. "/" .. page):gmatch "([^\n]*)\n" do
    local fence = line:match "^%s*```(.*)"
    if fence and not on then
      on, block = true, fence == language and {} or nil
    elseif fence then
      on = false
      if block then blocks[#blocks + 1] = table.concat(block, "\n") .. "\n" end
      block = nil
    elseif block then
      block[#block + 1] = line
    end
  end
  return blocks
end

-- Blocks of README: lines with four spaces in front.
local function indented(page)
  local blocks, block = {}, nil
  for line in read(source .. "/" .. page):gmatch "([^\n]*)\n" do
    if line:match "^    " then
      block = block or {}
      block[#block + 1] = line:sub(5)
    elseif line == "" and block then
      block[#block + 1] = ""
    elseif block then
      blocks[#blocks + 1] = (table.concat(block, "\n"):gsub("\n+$", "") .. "\n")
      block = nil
    end
  end
  return blocks
end

local readme = indented "README"
local function block_with(text)
  for _, block in ipairs(readme) do
    if block:find(text, 1, true) then return block end
  end
  error("README has no block with " .. text)
end

claim("README's first script runs as printed, and so does the change to it", function()
  local first = without_figures(block_with 'require "models.alexnet"')
  write("first.lua", first)
  local out = sh(block_with "run first.lua")
  check.contains(out, "data_parallel")
  if draws then read "data.svg" end
  check.contains(run("changed.lua", first .. block_with "mine:set"), "data_parallel (changed)")
end)

claim("README's search runs as printed, and says what is printed", function()
  local out = run("search.lua", without_figures(block_with 'require "models.alexnet"') .. block_with "mine:set"
    .. block_with "search:run")
  for line in block_with("mcmc: best"):gmatch "[^\n]+" do
    check.contains(out, (line:gsub(" ?%.%.%.$", "")))
  end
  read "best.json"
end)

claim("README's network and cluster of one's own go into a problem", function()
  local out = run("own.lua", 'local soapstone = require "soapstone"\nlocal topology = require "soapstone.topology"\n'
    .. block_with "linear_softmax" .. [[
local problem = soapstone.problem { model = m, topology = t }
print(problem:simulate(problem:strategy "data_parallel"))]])
  check.contains(out, "gpu4")
end)

claim("README's table is what quickstart prints", function()
  local out = sh(("mkdir quickstart && build/soapstone run '%s/scripts/lua/experiments/first.lua' quickstart"):format(source))
  local said = {}
  for line in out:gmatch "[^\n]+" do
    said[line:match "^%S*"] = line:gsub("%s+", " ")
  end
  for line in block_with("data_parallel "):gmatch "[^\n]+" do
    local words = line:gsub("%s+", " "):gsub(" ?%.%.%.$", "")
    equal((said[line:match "^%S*"] or ""):sub(1, #words), words)
  end
end)

claim("README counts the networks and clusters that there are", function()
  local names = { "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty" }
  local function count(folder) return tonumber(sh(("ls '%s/%s' | grep -c '[.]lua$'"):format(source, folder))) end
  local models, topologies = names[count "models"], names[count "topologies"]
  local text = read(source .. "/README"):gsub("%s+", " "):lower()
  check.contains(text, models .. " networks are in models/, " .. topologies .. " clusters in topologies/")
  check.contains(read(source .. "/CHANGES.md"):lower(),
    models .. " model files and " .. topologies .. " topology files")
end)

claim("the help that README names is there", function()
  for _, topic in ipairs { "", " operators", " options" } do sh("build/soapstone help" .. topic) end
end)

claim("commands in the middle of a sentence are commands, with flags that they have", function()
  local absent, seen = {}, 0
  for page in sh(("cd '%s' && ls README DESIGN.md docs/*.md docs/decisions/*.md"):format(source)):gmatch "[^\n]+" do
    local text = read(source .. "/" .. page):gsub("%s+", " ")
    for command, rest in text:gmatch "`[%l./]*soapstone (%l+)([^`]*)`" do
      local script, of_script = rest:match "^ (scripts/[%w_/.]+%.lua)(.*)$" -- of run: what follows is the script's
      local help_of = command == "run" and script and ("run '%s/%s'"):format(source, script) or command
      rest = of_script or rest
      local ok, help = pcall(sh, "build/soapstone " .. help_of .. " --help")
      seen = seen + 1
      for flag in rest:gmatch "%f[-]%-%-?%l[%l-]*" do
        if ok and not help:find(flag, 1, true) then absent[#absent + 1] = page .. ": " .. command .. " " .. flag end
      end
      if not ok then absent[#absent + 1] = page .. ": " .. command end
      local topic = command == "help" and rest:match "^ (%l[%w_]*)$"
      if topic and not pcall(sh, "build/soapstone help " .. topic) then absent[#absent + 1] = page .. ": help " .. topic end
    end
  end
  assert(seen > 8, seen)
  equal(table.concat(absent, "\n"), "")
end)

claim("a figure is drawn again from the table beside it, as the page on files says", function()
  if not draws then return end
  sh "build/soapstone plot gantt quickstart/nmt.h5 -t data_parallel -o step.svg"
  local command = read(source .. "/docs/file-format.md"):match "`(gnuplot %-c [^`]*)`"
  sh(("ln -s '%s/analysis' analysis"):format(source))
  sh(command)
  equal(read("again.pdf"):sub(1, 4), "%PDF")
end)

claim("README fits a screen of 110 columns", function()
  for line in read(source .. "/README"):gmatch "[^\n]+" do assert(utf8.len(line) <= 110, line) end
end)

claim("every file and folder that a page names is there", function()
  local absent = {}
  local yet = { ["sim/search"] = true, ["tests/run-cases"] = true } -- to come, and built
  local function look(page, name)
    local found = io.open(source .. "/" .. name)
    if found then found:close() else absent[#absent + 1] = page .. ": " .. name end
  end
  local pages = { "README", "DESIGN.md", "CHANGES.md", "scripts/check", "scripts/quickstart" }
  for page in sh(("cd '%s' && find docs -name '*.md' | sort"):format(source)):gmatch "[^\n]+" do
    pages[#pages + 1] = page
  end
  for _, page in ipairs(pages) do
    local text = read(source .. "/" .. page)
    for _, top in ipairs { "analysis", "docs", "models", "scripts", "sim", "tests", "topologies" } do
      for name in text:gmatch("%f[%w/.]" .. top .. "/[%w_./-]*[%w_]") do
        local built = io.open(source .. "/" .. name .. ".c") -- a test's program is named without .c
        if built then
          built:close()
        elseif not (name:find "%u%u" or yet[name]) then
          look(page, name)
        end
      end
    end
    for name in text:gmatch "%]%(([%w_./-]+%.md)[#%)]" do
      look(page, page:match "^(.-)[^/]*$" .. name)
    end
  end
  equal(table.concat(absent, "\n"), "")
end)

claim("DESIGN.md names every folder of sim and of tests", function()
  local text = read(source .. "/DESIGN.md")
  for _, top in ipairs { "sim", "tests" } do
    for folder in sh(("cd '%s' && find %s -mindepth 1 -maxdepth 1 -type d"):format(source, top)):gmatch "[^\n]+" do
      check.contains(text, "`" .. folder .. "`")
    end
  end
end)

claim("the pages on models and topologies print what is in the box", function()
  for page, file in pairs { model = "models/vit.lua", topology = "topologies/star.lua" } do
    local blocks = fenced("docs/how-to-add-a-" .. page .. ".md", "lua")
    equal(blocks[1], read(source .. "/" .. file))
    write(file:match "[^/]*$", blocks[1])
    assert(#blocks >= 2)
    for i = 2, #blocks do run(page .. i .. ".lua", blocks[i]) end
  end
end)

claim("the page on operators prints what is in the sources", function()
  local sources = {}
  for _, name in ipairs { "sim/graph/op_norm.c", "sim/graph/op_kinds.h", "tests/unit/test_op.c",
    "tests/unit/test_op_kinds.c" } do
    sources[#sources + 1] = read(source .. "/" .. name):gsub("%s+", " ")
  end
  local all = table.concat(sources, "\n")
  for _, block in ipairs(fenced("docs/how-to-add-an-operator.md", "c")) do
    check.contains(all, (block:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")))
  end
  for _, block in ipairs(fenced("docs/how-to-add-an-operator.md", "")) do
    for command in block:gmatch "%./soapstone[^\n]*" do sh("build/" .. command:sub(3)) end
  end
end)

claim("the task graph and the strategy of the pages are what they say", function()
  write("graph.json", fenced("docs/file-format.md", "json")[1])
  check.contains(sh "build/soapstone simulate --dag graph.json", "makespan")
  write("best.strategy", fenced("docs/strategy-files.md", "json")[1])
  check.contains(sh "build/soapstone inspect best.strategy", "p100x4")
end)

claim("the manual page's example runs, and it names every command and flag of the program", function()
  local page = read(source .. "/docs/soapstone.1")
  local example = page:match "%.nf\n(soapstone[^\n]*)\n%.fi"
  check.contains(sh("build/" .. example:gsub("\\", "")), "expert_rnn")
  local plain, absent = page:gsub("\\f.", ""):gsub("\\", ""), {}
  local help = sh "build/soapstone help"
  for command in help:gmatch "\n  (%l+) " do
    local flags = { command }
    for flag in sh("build/soapstone help " .. command):gmatch "\n *(%-[^\n]-)  " do
      for one in flag:gmatch "%-%-?[%l-]+" do flags[#flags + 1] = one end
    end
    for _, name in ipairs(flags) do
      if not plain:find(name, 1, true) then absent[#absent + 1] = command .. " " .. name end
    end
  end
  equal(table.concat(absent, ", "), "")
end)

check.done()
