---@meta soapstone
-- What an editor may know of soapstone, for the Lua language server:
--   { "runtime.version": "Lua 5.4", "workspace.library": [".../share/soapstone"] }
-- The Lua half of the library, models and topologies are read as they are.  A test holds the names and options here
-- equal to those of the program.  The methods of models that add operators are in operators.lua, which
-- generate.lua writes; soapstone/NAME.lua are the parts as modules of their own.

---@alias soapstone.quantity number|string a number in the base unit, or a text with a unit: "25 GB/s"
---@alias soapstone.dtype "f64"|"f32"|"tf32"|"bf16"|"f16"|"f8"|"i64"|"i32"|"i8"

---@class soapstone
---@field version string
---@field home string where models/, topologies/ and scripts/ are
---@field calibrate soapstone.calibrate_module
---@field profile soapstone.profile_module
---@field costs soapstone.costs_module
---@field dag soapstone.dag_module
---@field model soapstone.model_module
---@field plot soapstone.plot_module
---@field search soapstone.search_module
---@field topology soapstone.topology_module
---@field trace soapstone.trace_module
---@field unit soapstone.unit_module
local soapstone = {}

---How far simulated times are from measured ones, as shares of these, and whether they are in the same order.
---@param simulated number[] seconds
---@param measured number[] seconds
---@return { n: integer, mean: number, mean_absolute: number, median: number, q90: number, most: number, kendall?: number, spearman?: number }
function soapstone.compare(simulated, measured) end

---What is in a file: a record, a strategy, a task graph.
---@param path string
---@param options? { json?: boolean }
---@return string
function soapstone.inspect(path, options) end

---The name of the list that was meant, or nil.
---@param word string
---@param list string[]
---@return string?
function soapstone.nearest(word, list) end

---pairs in the order of the keys, also in a host's Lua.
---@generic K, V
---@param t table<K, V>
---@return fun(t: table<K, V>, k?: K): K, V
---@return table<K, V>
function soapstone.pairs(t) end

---@class soapstone.distribution
---@field [1] "constant"|"lognormal"|"gamma"|"samples"
---@field cv? number standard deviation over mean
---@field mean? soapstone.quantity
---@field values? soapstone.quantity[] of samples
---@field scaled? boolean samples of a factor are scaled to the mean
---@field tail? { share: number, factor: number }

---@class soapstone.chance_options
---@field seed? integer of every draw; that of the run unless given
---@field repetition? integer which is drawn where nothing else is said
---@field compute? soapstone.quantity|soapstone.distribution factor of each task that computes
---@field kinds? table<string, soapstone.quantity|soapstone.distribution> instead, of operators of a kind
---@field on? table<string|integer, soapstone.quantity|soapstone.distribution> instead, of the tasks of a device
---@field devices? soapstone.quantity|soapstone.distribution factor of each device, drawn once a step
---@field slow? table<string|integer, number> factor of a device
---@field transfer? soapstone.quantity|soapstone.distribution factor of each message's bytes on links
---@field launch? soapstone.quantity|soapstone.distribution seconds of each task that computes
---@field message? soapstone.quantity|soapstone.distribution seconds of each message
---@field step? soapstone.quantity|soapstone.distribution seconds of the step

---Which times are drawn, from which distributions.
---@param options soapstone.chance_options
---@return soapstone.chance
function soapstone.chance(options) end

---@class soapstone.problem_options
---@field model soapstone.model
---@field topology soapstone.topology
---@field costs? soapstone.costs the roofline unless given
---@field training? boolean backward, meeting of gradients and update too
---@field lumped? boolean forward and backward as one task
---@field coalesce? "none"|"per_device"
---@field sync? "none"|"closed_form"|"parameter_server"|"ring"|"tree"|"two_level"|"bidirectional_ring"|"double_tree"|"halving_doubling"|"hierarchical"|"in_network"|"auto"
---@field overlap? boolean gradients meet as they come
---@field aggregate? boolean a meeting is one task of closed-form time
---@field gather? boolean putting together what a part reads takes time
---@field partial_sums? boolean adding gradients takes time
---@field update_passes? number how often an update reads and writes its weights
---@field links? "fifo-hop"|"fifo-pipe"|"fifo-path"|"shared"
---@field ideal_links? boolean what links fall short of is left aside
---@field flow_limit? soapstone.quantity bytes a second that one message can have over shared links
---@field segment? soapstone.quantity messages are cut into pieces of this size
---@field max_segments? integer
---@field chunk? soapstone.quantity
---@field chance? soapstone.chance which times are drawn
---@field order? "fifo"|"program"|"priority"|"shortest" which of the waiting tasks is next
---@field streams? integer tasks that a device runs at once
---@field copies_block? boolean a transfer takes a stream of the devices at its ends
---@field blocked_end? "both"|"sender"|"receiver" which of them, where copies block
---@field slowed_by_copies? number speed of what a device computes while a message leaves or reaches it
---@field interference? number how much longer what waits for memory takes beside another such on its machine
---@field events? soapstone.event[] links and devices that change on the way

---@class soapstone.event
---@field at soapstone.quantity seconds from the start
---@field link? integer|string|soapstone.node a link, or a node: all its links
---@field device? integer|string|soapstone.node
---@field does? "change"|"fail"|"work"|"pause"|"resume"
---@field bandwidth? soapstone.quantity of a link
---@field share? number of the bandwidth it has
---@field latency? soapstone.quantity of a link
---@field speed? number of a device

---@param options soapstone.problem_options
---@return soapstone.problem
function soapstone.problem(options) end

---@class soapstone.collective_answer
---@field operation string
---@field algorithm string what was asked for, or chosen
---@field devices integer
---@field bytes integer
---@field chunks integer
---@field messages integer
---@field time number seconds, simulated
---@field closed_form number seconds
---@field algorithm_bandwidth number bytes / time
---@field bus_bandwidth number as nccl-tests has it
---@field result soapstone.result

---An operation between devices, without a model.
---@param options { topology: soapstone.topology, bytes: soapstone.quantity, devices?: (soapstone.node|string|integer)[], operation?: "all_reduce"|"all_gather"|"reduce_scatter"|"all_to_all"|"broadcast"|"reduce"|"p2p", algorithm?: "auto"|"ring"|"bidirectional_ring"|"tree"|"double_tree"|"halving_doubling"|"two_level"|"hierarchical"|"in_network"|"pairwise"|"direct", chunks?: integer, links?: "fifo-hop"|"fifo-pipe"|"fifo-path"|"shared", segment?: soapstone.quantity, max_segments?: integer, ideal_links?: boolean, flow_limit?: soapstone.quantity, name?: string }
---@return soapstone.collective_answer
function soapstone.collective(options) end

---A simulation that begins with no tasks.
---@param options { topology: soapstone.topology, links?: "fifo-hop"|"fifo-pipe"|"fifo-path"|"shared", order?: "fifo"|"shortest", streams?: integer, copies_block?: boolean, blocked_end?: "both"|"sender"|"receiver", slowed_by_copies?: number, events?: soapstone.event[], name?: string }
---@return soapstone.run
function soapstone.run(options) end

---A line on a terminal that the next one replaces; nil takes it away.
---@param text? string
function soapstone.progress(text) end

---Writes an HDF5 file.
---@param path string
---@param what { problem: soapstone.problem, results?: table<string|integer, soapstone.result>, strategies?: table<string|integer, soapstone.strategy>, files?: table<string, string> }
function soapstone.record(path, what) end

---Makes the log of a search that was killed whole; says what was done.
---@param path string
---@return string
function soapstone.repair(path) end

---An error with the place in the user's script.
---@param format string
---@param ... any
function soapstone.refuse(format, ...) end

---Replaces pairs, next, math.random, math.randomseed and table.sort in a host's Lua.
---@param options? { seed?: integer }
function soapstone.repeatable(options) end

---@class soapstone.model_module
local model_module = {}

---@param options { name: string, dtype?: soapstone.dtype, optimizer?: "sgd"|"momentum"|"adam", halo?: boolean }
---@return soapstone.model
function model_module.new(options) end

---@return { name: string, summary: string, attributes: table[], min_inputs: integer, max_inputs: integer }[]
function model_module.kinds() end

---@class soapstone.model
---@field name string
---@field batch integer samples of one step
---@field dtype soapstone.dtype of new inputs
local model = {}

---@param name string
---@param extents integer[] the first is the sample
---@param options? { dtype?: soapstone.dtype }
---@return soapstone.tensor
function model:input(name, extents, options) end

---@return { parameters: integer, parameter_bytes: integer, macs: integer|number, forward_flops: integer|number, output_elements: integer, operators: integer }
function model:totals() end

---@class soapstone.operator
---@field index integer
---@field name string
---@field kind string
---@field share? string
---@field layer integer
---@field parameters integer
---@field macs integer|number a number beyond 2^53
---@field flops integer|number
---@field attributes table<string, integer|boolean|string>
---@field dims { name: string, class: string, extent: integer, grain: integer }[]
---@field inputs soapstone.tensor[]
---@field outputs soapstone.tensor[]

---@return fun(): soapstone.operator?
function model:ops() end

---@param operator string|integer
---@return soapstone.operator
function model:op(operator) end

function model:close() end

---@class soapstone.tensor
---@field name string
---@field shape integer[]
---@field dtype soapstone.dtype

---@class soapstone.topology_module
local topology_module = {}

---@param options { name: string, routing?: "shortest"|"ecmp", routing_seed?: integer }
---@return soapstone.topology
function topology_module.new(options) end

---@return { name: string, summary: string, source: string, flops: table<string, number>, memory: number, memory_bandwidth: number }[]
function topology_module.kinds() end

---@class soapstone.node
---@field name string
---@field device? integer its number among the devices; nil of a switch

---@class soapstone.topology
---@field name string
---@field devices integer
---@field links integer
---@field machines integer
---@field routing "shortest"|"ecmp" which of several shortest paths is taken
---@field routing_seed integer of the hash that ecmp chooses by
---@field failed integer how many links failed, or lead to a switch that did
local topology = {}

---@class soapstone.device_options
---@field kind? string of the catalogue, or of one's own
---@field machine? integer devices of one machine share a number from 1
---@field flops? table<soapstone.dtype, soapstone.quantity>
---@field memory_bandwidth? soapstone.quantity
---@field memory? soapstone.quantity
---@field speed? number 0.5 takes twice as long
---@field forwards? boolean routes of others may pass through it

---@param name string
---@param options? soapstone.device_options
---@return soapstone.node
function topology:device(name, options) end

---@param name string
---@param options? { stages?: boolean }
---@return soapstone.node
function topology:switch(name, options) end

---@class soapstone.link_options
---@field bandwidth soapstone.quantity
---@field latency? soapstone.quantity
---@field kind? string
---@field duplex? "full"|"half"|"one_way"
---@field half_size? soapstone.quantity
---@field efficiency? { bytes: soapstone.quantity, efficiency: number }[]
---@field latency_by_size? { bytes: soapstone.quantity, latency: soapstone.quantity }[]
---@field load? number
---@field weight? integer

---@param from soapstone.node|string
---@param to soapstone.node|string
---@param options soapstone.link_options
---@return integer link
---@return integer? back
function topology:link(from, to, options) end

---@param from soapstone.node|string|integer
---@param to soapstone.node|string|integer
---@param links integer[]
---@param options? { weight?: integer, limit?: soapstone.quantity }
function topology:route(from, to, links, options) end

---@param routing "shortest"|"ecmp"
---@param options? { seed?: integer }
function topology:set_routing(routing, options) end

---@class soapstone.change_options
---@field bandwidth? soapstone.quantity
---@field share? number of the bandwidth it has
---@field latency? soapstone.quantity
---@field weight? integer
---@field half_size? soapstone.quantity
---@field efficiency? { bytes: soapstone.quantity, efficiency: number }[]
---@field latency_by_size? { bytes: soapstone.quantity, latency: soapstone.quantity }[]
---@field load? number

---@param what soapstone.node|string|integer a link, or a node: all links there
---@param options soapstone.change_options
---@return integer links
function topology:set_link(what, options) end

---@param ... soapstone.node|string|integer links and switches
function topology:fail(...) end

---@param ... soapstone.node|string|integer links and switches
function topology:restore(...) end

---@param from soapstone.node|string|integer
---@param to soapstone.node|string|integer
---@return integer[]
function topology:path(from, to) end

---@return table[]
function topology:device_list() end

---@return table[]
function topology:link_list() end

---@return table[]
function topology:switch_list() end

---@return table[]
function topology:route_list() end

function topology:close() end

---@class soapstone.profile
---@field rows { kind: string, attributes: string, shape: string, dtype: string, phase: string, device: string, median: number, mean: number, deviation: number, q05: number, q25: number, q75: number, q95: number, least: number, most: number, outliers: integer, samples: number[], memory_bound?: number }[]
---@field streams { what: "copy"|"sum"|"update"|"message", bytes: integer, median: number, deviation: number, q05: number, q25: number, q75: number, q95: number, memory_bound: number }[]
---@field interference number how much longer two streams of copies take beside each other; 0 unless measured
---@field device string the kind of device
---@field library string what computed the operators, with its version
---@field machine string
---@field processor string
---@field inputs "warm"|"cold"|"step"
---@field wallclock string when the last of it was measured
---@operator len: integer
local profile = {}

---@return string every row with its samples, as JSON
function profile:json() end

---How many times the strategies need that it does not have.
---@param strategies soapstone.strategy|soapstone.strategy[]
---@return integer
function profile:lacks(strategies) end

---@param path string
function profile:write(path) end

function profile:close() end

---@class soapstone.profile_module
local profile_module = {}

---Of what several have, the last one's.
---@param profiles soapstone.profile[]
---@param options? { pool?: boolean } of what several have, the samples of all
---@return soapstone.profile
function profile_module.merge(profiles, options) end

---One that was measured elsewhere: CSV with every sample.
---@param path string
---@return soapstone.profile
function profile_module.import(path) end

---@param path string
---@return soapstone.profile
function profile_module.read(path) end

---@class soapstone.trace
---@field rows { operator: string, shapes: string, types: string, kind?: string, phase?: string, why?: string, total: number, calls: integer, median: number, mean: number, deviation: number, q05: number, q25: number, q75: number, q95: number, least: number, most: number }[]
---@field parts { kind: string, attributes: string, shape: string, dtype: string, phase: string, calls: integer, median: number, mean: number, deviation: number, q05: number, q25: number, q75: number, q95: number, least: number, most: number }[]
---@field device string the name of the device; empty unless the trace has it
---@field times "device"|"host" whose time it is
---@field total number seconds of all of it
---@field mapped number seconds of operators of ours
---@field untied number seconds that no operator launched
---@operator len: integer
local trace = {}

---@return string all of it, as JSON
function trace:json() end

---The operators of ours, for costs.table.
---@param options? { kind?: string } of the device; its name in the trace unless given
---@return soapstone.profile
function trace:profile(options) end

---A page with so many rows at most.
---@param rows? integer 30 unless given; 0: all
---@return string
function trace:text(rows) end

function trace:close() end

---@class soapstone.trace_module
local trace_module = {}

---A Chrome trace of torch.profiler, gzip or not.
---@param path string
---@return soapstone.trace
function trace_module.read(path) end

---@class soapstone.calibrate_module
local calibrate_module = {}

---@class soapstone.sample
---@field bytes soapstone.quantity
---@field seconds soapstone.quantity
---@field weight? number how many rows like the others it counts for; 1 unless given
---@field method? "one_way"|"streamed"

---@class soapstone.fit_options
---@field rows soapstone.sample[]
---@field name? string
---@field operation? "p2p"|"all_reduce"|"all_gather"|"reduce_scatter"|"all_to_all"|"broadcast"|"reduce"
---@field algorithm? "direct"|"ring"|"tree"|"double_tree"|"halving_doubling"|"pairwise"
---@field ranks? integer
---@field chunks? integer into which trees and chains cut what they pass on; 0: as many as the form finds best
---@field least_squares? boolean every row counts in full

---From measured times to what a link is.
---@param options soapstone.fit_options
---@return soapstone.fit
function calibrate_module.fit(options) end

---The curves of a table, as fit takes them.
---@param path string
---@param options? { columns?: table<string, string> }
---@return soapstone.fit_options[]
---@return integer rows without a size or a time
function calibrate_module.read(path, options) end

---@param list { group: string, alone: soapstone.quantity, executed: soapstone.quantity, bound?: number, beside?: number }[]
---@param options? { interference?: number }
---@return { overhead: number, overhead_error: number, interference: number, interference_error: number, spread: number, factors: table<string, number>, groups: { name: string, tasks: integer, factor: number, error: number, alone: number, executed: number }[] }
function calibrate_module.tasks(list, options) end

---@param options { strategies: soapstone.strategy|soapstone.strategy[], test?: soapstone.strategy|soapstone.strategy[], profile?: soapstone.profile, costs?: soapstone.costs, kind?: string, hold_out?: number, seed?: integer }
---@return { kind: string, constants: table, builtin: table, builtin_source: string, told: table<string, string>, errors: table<string, number>, spread: number, outliers: integer, unknown: integer, on_fitted: table, on_held_out?: table, parts: table[] }
function calibrate_module.roofline(options) end

---@class soapstone.accuracy
---@field rows integer
---@field median number
---@field p90 number
---@field worst number
---@field mean number
---@field within_5 number
---@field within_10 number
---@field within_20 number

---@class soapstone.fit
---@field name string
---@field operation string
---@field algorithm string
---@field ranks integer
---@field chunks integer into which trees and chains cut what they pass on; 0: as many as the form finds best
---@field latency number? seconds of a message; nil if all rows are streamed
---@field bandwidth number bytes per second
---@field half_size number bytes
---@field errors { latency: number?, bandwidth: number, half_size: number } standard errors
---@field told { latency: boolean, bandwidth: boolean, half_size: boolean }
---@field covariance number[][] of latency, bandwidth, half size
---@field apart boolean streamed rows told latency from half size
---@field bent boolean no line is the shape of the times
---@field drift number correlation of the errors of neighbouring sizes
---@field spread number of a time, as a share of it
---@field freedom integer rows less parameters
---@field sizes integer
---@field outliers integer
---@field rows { bytes: number, seconds: number, weight: number, method: string, fitted: number, error: number, left_out: number?, trust: number, outlier: boolean }[]
---@field line soapstone.accuracy
---@field left_out soapstone.accuracy of the curve, each size left out in turn
---@field notes string
local fit = {}

---The measured efficiency by the size of a message, and the bandwidth that 1 is.
---@param options? { latency?: soapstone.quantity, monotone?: boolean }
---@return { bytes: number, efficiency: number }[]
---@return number
function fit:curve(options) end

---@return string
function fit:json() end

---By the line.
---@param bytes soapstone.quantity
---@param options? { method?: "one_way"|"streamed" }
---@return number
function fit:seconds(bytes, options) end

function fit:close() end

---@class soapstone.costs_module
local costs_module = {}

---@class soapstone.given_time
---@field forward? soapstone.quantity seconds
---@field backward? soapstone.quantity seconds

---Seconds by operator; per = "part" (unless given) or "whole".
---@param times { per?: "part"|"whole", [string]: soapstone.given_time }
---@return soapstone.costs
function costs_module.given(times) end

---@param options? { kind?: string, launch?: soapstone.quantity, flop_efficiency?: number, conv_efficiency?: number, conv_backward_efficiency?: number, operand_efficiency?: number, memory_efficiency?: number, half_flop?: soapstone.quantity }
---@return soapstone.costs
function costs_module.roofline(options) end

---Measured times from a file, CSV or HDF5.
---@param path string|soapstone.profile
---@param options? { columns?: table<string, string> } what a CSV file calls them
---@return soapstone.costs
function costs_module.table(path, options) end

---The first that knows wins.
---@param list soapstone.costs[]
---@return soapstone.costs
function costs_module.stack(list) end

---@class soapstone.costs
local costs = {}

---The same, every time so many times as long.
---@param factor number
---@return soapstone.costs
function costs:scale(factor) end

---The same, as tasks take in a step: overhead + factor x time. Factors are of "linear forward", "backward", "update", ...
---@param options { overhead?: soapstone.quantity, factors?: table<string, number> }
---@return soapstone.costs
function costs:correct(options) end

function costs:close() end

---@class soapstone.problem
---@field model soapstone.model
---@field topology soapstone.topology
---@field costs soapstone.costs where times come from
---@field options table<string, any> the assumptions in force
local problem = {}

---@alias soapstone.ready "data_parallel"|"model_parallel"|"expert"|"expert_cnn"|"expert_rnn"|"random"|"whole"

---@class soapstone.ready_options
---@field name? string what reports call it; its kind unless given
---@field by_depth? boolean of "expert_rnn": operators of equal depth go together
---@field seed? integer of "random"; that of the run unless given
---@field max_parts? integer of "random": of one operator

---@param kind soapstone.ready
---@param options? soapstone.ready_options
---@return soapstone.strategy
function problem:strategy(kind, options) end

---@param path string
---@param options? { name?: string, by_name?: boolean }
---@return soapstone.strategy
---@return { matched: integer, missing: integer, unknown: integer }
function problem:load_strategy(path, options) end

---@param strategy soapstone.strategy
---@param options? { name?: string, repetition?: integer }
---@return soapstone.result
function problem:simulate(strategy, options) end

---Again and again, each time with other luck.
---@param strategies soapstone.strategy|soapstone.strategy[]
---@param options? { n?: integer, first?: integer, confidence?: number, threads?: integer }
---@return soapstone.repetitions
function problem:repetitions(strategies, options) end

---@class soapstone.start_options
---@field order? "fifo"|"program"|"priority"|"shortest" the problem's unless given, as all of these
---@field priority? table<integer, integer> by task, the least first
---@field streams? integer
---@field copies_block? boolean
---@field blocked_end? "both"|"sender"|"receiver"
---@field slowed_by_copies? number
---@field events? soapstone.event[]
---@field repetition? integer which one is drawn by chance
---@field name? string what reports call it

---@param strategy soapstone.strategy
---@param options? soapstone.start_options
---@return soapstone.run
function problem:start(strategy, options) end

---The same, but that times come from there.
---@param costs soapstone.costs
---@return soapstone.problem
function problem:with_costs(costs) end

---@return string
function problem:costs_report() end

---With real operators on this machine.
---@param strategy soapstone.strategy
---@param options? { steps?: integer, warmup?: integer, seed?: integer, rate?: number, pinned?: boolean }
---@return soapstone.result[] results
---@return number[] losses
function problem:execute(strategy, options) end

---How far it computes other numbers than the whole model on one device.
---@param strategy soapstone.strategy
---@param options? { seed?: integer, rate?: number, pinned?: boolean }
---@return { outputs: number, gradients: number, weights: number, loss: number, worst: { output?: string, gradient?: string, weight?: string } }
function problem:proof(strategy, options) end

---What this machine cannot compute.
---@param strategy soapstone.strategy
---@return { op: string, why: string }[]
function problem:without_kernels(strategy) end

---@class soapstone.profile_options
---@field rounds? integer samples of each time; 15 unless given
---@field beside? integer another core, from 0, which copies while each time is measured once more
---@field warm_up? integer rounds before, which are not counted
---@field budget? soapstone.quantity no round begins after so long, but the first
---@field core? integer of this machine, from 0, to measure on
---@field seed? integer of weights, inputs and labels
---@field inputs? "warm"|"cold"
---@field parts_of_backward? boolean
---@field memory? soapstone.quantity of arrays at a time
---@field kind? string of the devices that this machine's cores stand for
---@field known? soapstone.profile what it has is not measured, and is in the new one too
---@field new_only? boolean what is known is not in the new one

---What the strategies need, measured on this machine.
---@param strategies soapstone.strategy|soapstone.strategy[]
---@param options? soapstone.profile_options
---@return soapstone.profile
---@return integer measured how many times were new
---@return number seconds that it took
function problem:profile(strategies, options) end

---@class soapstone.list_times_options
---@field parts_of_backward? boolean
---@field kind? string of the devices that the times are for
---@field known? soapstone.profile what it has is left out

---What the strategies need, as a list for another machine; where that is nothing, nothing is written.
---@param path string
---@param strategies soapstone.strategy|soapstone.strategy[]
---@param options? soapstone.list_times_options
---@return integer
function problem:list_times(path, strategies, options) end

function problem:close() end

---@class soapstone.chance
---@field seed integer of every draw
---@field repetition integer which is drawn where nothing else is said
local chance = {}

function chance:close() end

---@class soapstone.repetitions
---@field n integer
---@field first integer number of the first
---@field confidence number of the intervals
---@field strategies { name: string, times: number[], mean: number, deviation: number?, cv: number?, least: number, p05: number, p25: number, median: number, p75: number, p95: number, most: number, mean_interval: number[]?, median_interval: number[]? }[]
---@field pairs { first: string, second: string, difference: number, deviation: number?, interval: number[]?, correlation: number?, first_faster: integer, second_faster: integer }[]
---@field assumptions string
local repetitions = {}

---@param strategy string|integer
---@param share number from 0 to 1
---@return number seconds
function repetitions:quantile(strategy, share) end

---@return string
function repetitions:json() end

function repetitions:close() end

---@class soapstone.strategy
---@field name string
---@field problem soapstone.problem
local strategy = {}

---@class soapstone.configuration
---@field degrees table<string, integer>
---@field parts integer
---@field devices integer[]
---@field pinned string[]

---@param operator string|integer
---@param options { degrees?: table<string, integer>|integer[], devices?: integer|string|soapstone.node|(integer|string|soapstone.node)[] }
---@return soapstone.strategy
function strategy:set(operator, options) end

---@param operator string|integer
---@return soapstone.configuration
function strategy:get(operator) end

---@param operator string|integer
---@param what? string "all", "degrees", "devices" or the name of a dimension
---@return soapstone.strategy
function strategy:pin(operator, what) end

---@param operator string|integer
---@return soapstone.strategy
function strategy:unpin(operator) end

---@param kind soapstone.ready
---@param options? soapstone.ready_options
---@return soapstone.strategy
function strategy:apply(kind, options) end

---@param options? { name?: string }
---@return soapstone.strategy
function strategy:copy(options) end

---@param other soapstone.strategy
---@return { op: string, here: soapstone.configuration, there: soapstone.configuration }[]
---@return string
function strategy:diff(other) end

---@param path string
function strategy:save(path) end

function strategy:close() end

---@class soapstone.result
---@field name string
---@field step_time number seconds
---@field throughput number samples per second
---@field samples integer|number
---@field bytes_moved integer|number
---@field moved table<string, integer|number>
---@field compute_time number seconds, summed over the devices
---@field tasks integer
---@field over_capacity boolean
---@field devices soapstone.device_use[]
---@field links soapstone.link_use[]
---@field critical { compute: number, transfer: number, overhead: number, slowed: number, queueing: number, queueing_device: number, queueing_link: number, waited_for: { name: string, link: boolean, queueing: number }[], steps: soapstone.critical_step[] }
---@field assumptions string
---@field wall_clock { lower: number, simulate: number }
local result = {}

---@class soapstone.run
---@field now number seconds from the start
---@field next number? seconds: when something will happen next
---@field done integer
---@field tasks integer
---@field changes string[] what happened to links and devices
---@field finished boolean
---@field name string
---@field topology? soapstone.topology
local run = {}

---@alias soapstone.links integer|string|soapstone.node a link, or a node: all its links
---@alias soapstone.place integer|string|soapstone.node a device

---@return boolean happened
function run:step() end

---@param seconds soapstone.quantity
function run:advance(seconds) end

---@param seconds soapstone.quantity
function run:advance_to(seconds) end

---@return soapstone.result
function run:finish() end

---@param what soapstone.links
---@param options { bandwidth?: soapstone.quantity, share?: number, latency?: soapstone.quantity }
---@return integer
function run:set_link(what, options) end

---@param ... soapstone.links
function run:fail(...) end

---@param ... soapstone.links
function run:restore(...) end

---@param device soapstone.place
---@param options { speed: number }
function run:set_device(device, options) end

---@param device soapstone.place
function run:pause(device) end

---@param device soapstone.place
function run:resume(device) end

---@param device soapstone.place
function run:fail_device(device) end

---@param device soapstone.place
---@param seconds soapstone.quantity
---@param options? { after?: integer|integer[], name?: string }
---@return integer task
function run:compute(device, seconds, options) end

---@param from soapstone.place
---@param to soapstone.place
---@param bytes soapstone.quantity
---@param options? { after?: integer|integer[], route?: (integer|string)[], name?: string }
---@return integer task
function run:send(from, to, bytes, options) end

---@param number integer
---@return { stage: string, kind: string, operator?: string, weight?: string, part?: integer, name?: string, device?: integer, from?: integer, to?: integer, ready?: number, start?: number, finish?: number, rate: number, bytes: integer }
function run:task(number) end

---@return integer[]
function run:ended() end

function run:close() end

---@alias soapstone.start soapstone.strategy|string a strategy, the name of a ready-made one, a path
---@alias soapstone.move "free"|"block"|"pow2"|"place"|"list"

---@class soapstone.random_options
---@field start? soapstone.start|soapstone.start[] a chain each; data_parallel unless given
---@field effort? "seconds"|"minute"|"minutes"|"hour"|"hours"|soapstone.quantity presets for all the rest
---@field proposals? integer of each chain; 0: no limit
---@field seconds? soapstone.quantity that each chain is at work; 0: no limit
---@field seed? integer that of the run unless given
---@field moves? soapstone.move|table<soapstone.move, number>
---@field max_parts? integer of an operator, by free and block; 0: as many as devices
---@field configurations? table<string|integer, { degrees?: table<string, integer>|integer[], devices: integer|string|soapstone.node|(integer|string|soapstone.node)[] }[]>
---@field stop_half? boolean end when half of the time brought nothing better
---@field warm_up? integer proposals before stop_half is asked
---@field descent? boolean at the end every change of one operator, until none is better
---@field memory? "ignore"|"wall"|"penalty"
---@field penalty? number seconds for each byte too much
---@field way? "full"|"replay"|"delta"
---@field early_stop? boolean leave a proposal when it is certain to be rejected
---@field count_changed? boolean count the tasks whose times change
---@field threads? integer chains at work at once; 0: as many as processors
---@field log? string path of an HDF5 file
---@field resume? boolean go on where the log ends
---@field files? table<string, string> for the log, what else the search was made of

---@class soapstone.greedy_options: soapstone.random_options
---@field group? number chance that operators that share weights change together
---@field neighbour? number chance that a configuration is copied to neighbours

---@class soapstone.mcmc_options: soapstone.greedy_options
---@field beta? number per second of cost; 0: beta_relative counts
---@field beta_relative? number beta times the cost of the start
---@field hastings? boolean

---@class soapstone.annealing_options: soapstone.mcmc_options
---@field beta_growth? number beta at the last proposal over that at the first

---@class soapstone.search_module
local search_module = {}

---Metropolis and Hastings.
---@param problem soapstone.problem
---@param options? soapstone.mcmc_options
---@return soapstone.search
function search_module.mcmc(problem, options) end

---The same with a beta that grows.
---@param problem soapstone.problem
---@param options? soapstone.annealing_options
---@return soapstone.search
function search_module.annealing(problem, options) end

---What costs no more is accepted.
---@param problem soapstone.problem
---@param options? soapstone.greedy_options
---@return soapstone.search
function search_module.greedy(problem, options) end

---Each proposal is a whole strategy drawn anew.
---@param problem soapstone.problem
---@param options? soapstone.random_options
---@return soapstone.search
function search_module.random(problem, options) end

---@class soapstone.proof
---@field cost number seconds
---@field proven boolean no strategy of the space takes less
---@field least number seconds that none takes less than
---@field better boolean the start was beaten
---@field fits boolean the best fits into memory
---@field noise number share by which the best's step time moves when durations do by a picosecond
---@field broken? string why the log ended before the search did
---@field size integer|number strategies of the space
---@field nodes integer partial strategies that were looked at
---@field simulated integer
---@field cut { path: integer, work: integer, bytes: integer, symmetry: integer } subtrees left out
---@field inside { path: number, work: number, bytes: number, symmetry: number } strategies in them
---@field configurations integer of all operators
---@field hopeless integer of these
---@field symmetries integer
---@field share number of the space that is decided
---@field seconds number
---@field text string a page

---@class soapstone.exhaustive_options
---@field start? soapstone.start the strategy to be beaten
---@field moves? soapstone.move|table<soapstone.move, number>
---@field max_parts? integer of an operator, by free and block
---@field configurations? table<string|integer, { degrees?: table<string, integer>|integer[], devices: integer|string|soapstone.node|(integer|string|soapstone.node)[] }[]>
---@field bounds? ("path"|"work"|"bytes"|"symmetry")[] that may cut; all unless given
---@field seconds? soapstone.quantity at most
---@field simulations? integer at most
---@field memory? "ignore"|"wall"|"penalty" as of a search
---@field penalty? soapstone.quantity seconds for each byte too much
---@field log? string path of an HDF5 file: every strategy that is simulated
---@field files? table<string, string> for the log: texts by the names of their files
---@field progress? boolean a line on a terminal

---Every strategy of a small space, but for those that are proven not to be better.
---@param problem soapstone.problem
---@param options? soapstone.exhaustive_options
---@return soapstone.strategy
---@return soapstone.proof
function search_module.exhaustive(problem, options) end

---@class soapstone.search
---@field best soapstone.strategy
---@field cost number seconds: its step time and what memory adds
---@field step_time number seconds
---@field penalty number seconds that memory adds to its cost
---@field fits boolean whether no device has too little memory for it
---@field noise number share by which the best's step time moves when durations do by a picosecond
---@field chains soapstone.chain[]
---@field proposals integer of all chains
---@field seconds number that its runs took
---@field interrupted boolean whether Ctrl-C stopped the last run
---@field searcher "mcmc"|"greedy"|"annealing"|"random"
---@field options string what was in force, a line each
---@field problem soapstone.problem
local search = {}

---@class soapstone.chain
---@field name string of its start
---@field start number seconds
---@field current number seconds
---@field best number seconds
---@field penalty number seconds, in the cost of the best
---@field best_at integer proposals until the best
---@field best_seconds number
---@field proposals integer
---@field accepted integer
---@field stopped integer early
---@field infeasible integer
---@field descended integer
---@field fell_back integer
---@field seconds number at work
---@field visited_share number
---@field changed_share number
---@field beta number per second
---@field fits boolean
---@field ended? "proposals"|"seconds"|"no_better"|"descent"|"stopped"

---@param options? { progress?: boolean }
---@return soapstone.search
function search:run(options) end

---@param options { proposals?: integer, seconds?: soapstone.quantity }
---@return soapstone.search
function search:more(options) end

---@param chain integer|string
---@return soapstone.strategy
function search:best_of(chain) end

---@param chain integer|string
---@return soapstone.strategy
function search:start_of(chain) end

---@return string
function search:json() end

function search:close() end

---@class soapstone.device_use
---@field name string
---@field kind string
---@field busy number seconds
---@field idle number seconds
---@field communicating number seconds
---@field sent integer bytes
---@field received integer bytes
---@field peak_memory integer bytes
---@field peak_at number seconds
---@field peak table<string, integer> what the peak is made of
---@field capacity integer|number bytes; 0: not known

---@class soapstone.link_use
---@field name string
---@field kind string
---@field busy number seconds
---@field bytes integer
---@field messages integer
---@field longest_wait number seconds

---@class soapstone.critical_step
---@field task integer
---@field name string
---@field kind string
---@field start number
---@field finish number
---@field queueing number
---@field waited_for? string
---@field behind? string

---@param number integer
---@return { name: string, kind: string, cargo?: string, lane: string, ready: number, start: number, finish: number, bytes: integer, critical: boolean }
function result:task(number) end

---@param device integer|string|soapstone.node
---@return { time: number, bytes: integer }[]
function result:memory(device) end

---@return string
function result:json() end

---The step time with every duration moved by a picosecond, longer or shorter, in several runs.
---@param options? { runs?: integer, seed?: integer }
---@return { runs: integer, least: number, most: number, spread: number }
function result:sensitivity(options) end

---Steps in a row, in which a forward task waits for the weights of its operator and not for the end of the step before.
---@param options? { steps?: integer }
---@return { steps: integer, period: number, alone: number, ends: number[] }
function result:overlapped(options) end

---@param path string
---@param options? { from?: soapstone.quantity, to?: soapstone.quantity, only?: string, flows?: boolean, memory?: boolean }
---@return { slices: integer, flows: integer, counters: integer, left_out: integer }
function result:write_trace(path, options) end

---@param path string
---@param options? { max_nodes?: integer, device_order?: boolean }
function result:write_dot(path, options) end

function result:close() end

---@class soapstone.plot_options
---@field timeline? string
---@field width? number inches
---@field from? soapstone.quantity
---@field to? soapstone.quantity
---@field max_devices? integer
---@field max_links? integer
---@field gnuplot? string

---@class soapstone.plot_search_options
---@field x? "proposals"|"seconds"
---@field logx? boolean
---@field logy? boolean
---@field from_x? soapstone.quantity seconds with x = "seconds"
---@field to_x? soapstone.quantity
---@field from_y? soapstone.quantity seconds, of plot.search
---@field to_y? soapstone.quantity
---@field window? integer
---@field max_chains? integer
---@field width? number inches
---@field gnuplot? string

---@class soapstone.plot_throughput_options
---@field title? string
---@field ylabel? string
---@field note? string
---@field logy? boolean
---@field ideal? boolean
---@field columns? integer
---@field width? number inches
---@field gnuplot? string

---@class soapstone.plot_lines_options
---@field title? string
---@field xlabel? string
---@field ylabel? string
---@field xunit? string
---@field yunit? string
---@field logx? boolean
---@field logy? boolean
---@field from_x? number
---@field to_x? number
---@field from_y? number
---@field to_y? number
---@field look? "lines"|"steps"|"points"|"both"
---@field ticks_at_values? boolean
---@field ticks? number[]
---@field columns? integer
---@field note? string
---@field width? number inches
---@field gnuplot? string

---@class soapstone.plot_row
---@field series string
---@field devices integer
---@field value number
---@field published? boolean
---@field panel? string

---@class soapstone.plot_series
---@field label? string
---@field x number[]
---@field y number[]
---@field look? "lines"|"steps"|"points"|"both"
---@field published? boolean
---@field pale? boolean
---@field colour? integer
---@field panel? string

---@class soapstone.plot_module
local plot_module = {}

---@param what soapstone.result|string a result, or the path of a record
---@param out string .svg, .png or .pdf
---@param options? soapstone.plot_options
function plot_module.gantt(what, out, options) end

---@param what soapstone.result|string
---@param out string
---@param options? soapstone.plot_options
function plot_module.links(what, out, options) end

---@param what soapstone.result|string
---@param out string
---@param options? soapstone.plot_options
function plot_module.memory(what, out, options) end

---@param what string|string[]|table<string, string> paths of logs
---@param out string
---@param options? soapstone.plot_search_options
function plot_module.search(what, out, options) end

---@param what string|string[]|table<string, string>
---@param out string
---@param options? soapstone.plot_search_options
function plot_module.acceptance(what, out, options) end

---@param fit soapstone.fit
---@param out string
---@param options? { width?: number, gnuplot?: string }
function plot_module.calibration(fit, out, options) end

---@param strategy soapstone.strategy|string a strategy, or the path of a record or log
---@param out string
---@param options? { name?: string, width?: number, gnuplot?: string }
function plot_module.strategy(strategy, out, options) end

---@param rows soapstone.plot_row[]
---@param out string
---@param options? soapstone.plot_throughput_options
function plot_module.throughput(rows, out, options) end

---@param series soapstone.plot_series[]
---@param out string
---@param options? soapstone.plot_lines_options
function plot_module.lines(series, out, options) end

---@class soapstone.dag_module
local dag_module = {}

---@param path string
---@param options? { links?: string, segment?: soapstone.quantity, max_segments?: integer }
---@return soapstone.result
---@return number[] finish of each task of the file, seconds
function dag_module.simulate(path, options) end

---@param path string
---@param options? { links?: "fifo-hop"|"fifo-pipe"|"fifo-path"|"shared", segment?: soapstone.quantity, max_segments?: integer, order?: "fifo"|"program"|"priority"|"shortest", priority?: table<integer, integer>, streams?: integer, copies_block?: boolean, blocked_end?: "both"|"sender"|"receiver", slowed_by_copies?: number, name?: string }
---@return soapstone.run
function dag_module.start(path, options) end

---@param options? { tasks?: integer, devices?: integer, links?: integer, predecessors?: integer, seed?: integer }
---@return soapstone.result
---@return integer bytes
function dag_module.random(options) end

---@class soapstone.unit_module
local unit_module = {}

---@alias soapstone.unit_symbol "1"|"s"|"B"|"B/s"|"FLOP"|"FLOP/s"

---@param value soapstone.quantity
---@param unit? soapstone.unit_symbol
---@return number
function unit_module.read(value, unit) end

---@param value soapstone.quantity
---@param unit? soapstone.unit_symbol
---@return string
function unit_module.show(value, unit) end

---@param number number
---@return string as few digits as read back as the same number
function unit_module.exact(number) end

return soapstone
