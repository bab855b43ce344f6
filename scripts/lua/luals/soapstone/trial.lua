---@meta soapstone.trial
-- For editors: what scripts/lua/soapstone/trial.lua offers.

---@class soapstone.trial_module
local trial = {}

---@class soapstone.trial_row
---@field name string of the strategy
---@field simple number step time under the simple problem, seconds
---@field broken number step time under the broken one, seconds
---@field error number simple / broken - 1

---@class soapstone.trial_pairs
---@field agree integer pairs in the same order
---@field against integer pairs in opposite orders
---@field tied integer pairs tied in one list or in both

---@class soapstone.trial_search
---@field seed integer
---@field simple number step time under the broken problem of what was found under the simple one, seconds
---@field broken number and of what was found under the broken one
---@field regret number simple / the fastest known - 1
---@field noise number sum of what a picosecond moves these two by, as a share
---@field found { simple: soapstone.strategy, broken: soapstone.strategy }

---@class soapstone.verdict
---@field rows soapstone.trial_row[]
---@field error { median: number, worst: number } signed
---@field tau number? Kendall's tau-b; nil where an order is all ties
---@field pairs soapstone.trial_pairs
---@field noise { simple: number, broken: number } greatest spread of a step time
---@field best { simple: string, broken: string } of the list
---@field chosen number regret of deciding among the list
---@field searches soapstone.trial_search[]
---@field regret number median of the searches
---@field regrets { least: number, most: number }
---@field regret_noise number greatest noise of a search
---@field known { seconds: number, strategy: soapstone.strategy } the fastest under the broken problem, of the list and of all that was found
---@field told boolean no luck, and in the median above the noise
---@field mark? "none"|"luck"|"noise" why it is not told apart

---@class soapstone.trial_options
---@field simple soapstone.problem
---@field broken soapstone.problem
---@field strategies soapstone.strategy[]
---@field proposals? integer of a search from the best under each problem; 0 unless given: none
---@field searches? integer so many, from seeds that follow each other; 1 unless given
---@field seed? integer of the first
---@field kept? table keeps what a problem said, for more trials of it with the same strategies, seed, proposals, runs, time and scored_by
---@field runs? integer reruns that tell the noise; 4 unless given
---@field most_runs? integer that tell it of the strategies of a regret, where that is no luck; 16 unless given, 0 where `runs` is 0
---@field time? fun(problem: soapstone.problem, strategy: soapstone.strategy, runs?: integer): number, number? seconds and noise
---@field scored_by? fun(problem: soapstone.problem, search: integer): soapstone.problem what a search scores by in place of the problem

---A simple problem against a broken one: error, order and regret.
---@param options soapstone.trial_options
---@return soapstone.verdict
function trial.compare(options) end

---The strength at which the first strategy stops being better than the second; nil and "never" or "before".
---@param first soapstone.strategy
---@param second soapstone.strategy
---@param problem_at fun(x: number): soapstone.problem
---@param from number
---@param to number
---@param options? { log?: boolean, tolerance?: number, time?: fun(problem: soapstone.problem, strategy: soapstone.strategy): number }
---@return number?
---@return string?
function trial.overtaken(first, second, problem_at, from, to, options) end

---What people would try: ready-made strategies, parameters split over neighbours and over devices far apart, random ones.
---@param problem soapstone.problem
---@param options? { random?: integer, seed?: integer }
---@return soapstone.strategy[]
function trial.strategies(problem, options) end

---The same degrees and devices in another problem.
---@param problem soapstone.problem
---@param strategy soapstone.strategy
---@return soapstone.strategy
function trial.onto(problem, strategy) end

---Kendall's tau-b; values that differ by no more than the noise are tied.
---@param a number[]
---@param b number[]
---@param noise? (number|number[])[] of the first list, and of the second
---@return number? tau
---@return soapstone.trial_pairs
function trial.tau(a, b, noise) end

---Where two curves over x cross, and which is below before.
---@param x number[]
---@param a number[]
---@param b number[]
---@param options? { log?: boolean }
---@return { at: number, below: "a"|"b" }[]
function trial.crossing(x, a, b, options) end

---Where f changes its sign.
---@param f fun(x: number): number
---@param from number
---@param to number
---@param options? { log?: boolean, tolerance?: number }
---@return number?
function trial.bisect(f, from, to, options) end

---@param list number[]
---@return number
function trial.median(list) end

---The value at that share of a list, between two on a straight line.
---@param list number[]
---@param share number from 0 (the least) to 1
---@return number
function trial.quantile(list, share) end

---What run gives for each cell, spread over processes.
---@param cells any[]
---@param run fun(cell: any, number: integer): any
---@param options? { workers?: integer, cost?: fun(cell: any): number }
---@return any[]
function trial.sweep(cells, run, options) end

---Prints "result: " and a sentence.
---@param format string
---@param ... any
function trial.result(format, ...) end

return trial
