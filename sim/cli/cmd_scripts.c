/* cmd_scripts.c - the commands that are ready-made scripts: scripts/lua/commands/NAME.lua. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/host.h"
#include "io/file.h"
#include "io/plot.h"
#include "io/record.h"
#include "io/strategy_file.h"
#include "io/trajectory.h"
#include "validation/profiler/profile.h"

#define DEBUG_FLAG                                                                                 \
    {                                                                                              \
        "debug", 0, NULL, "errors come with a traceback"                                           \
    }
#define JSON_FLAG                                                                                  \
    {                                                                                              \
        "json", 0, NULL, "results as JSON"                                                         \
    }

static const ss_flag simulate_flags[] = {
    {"dag", 0, "FILE", "a bare task graph in JSON, instead of a model"},
    {"links", 0, "MODE",
     "what a transfer does to its links: fifo-hop, fifo-pipe, fifo-path, shared"},
    {"segment", 0, "SIZE", "messages are cut into pieces of this size: \"4 MiB\""},
    {"max-segments", 0, "N", "and into no more than so many"},
    {"model", 'm', "NAME", "one of models/ (nmt), or the path of a file of your own"},
    {"topology", 't', "NAME", "one of topologies/ (ring), or the path of your own"},
    {"strategy", 's', "NAME,...", "ready-made strategies or files of saved ones"},
    {"option", 'o', "KEY=VALUE", "model.batch=64, topology.nodes=4, sync=ring (may be repeated)"},
    {"by-name", 0, NULL, "strategies from files were saved for another size: take what fits"},
    {"costs", 'c', "FILE", "measured times, CSV or HDF5, before the roofline (may be repeated)"},
    {"columns", 0, "OURS=THEIRS,...", "what these tables call theirs: \"kind=op,seconds=time [ms]\""},
    {"record", 'r', "FILE.h5", "writes everything there too"},
    {"repetitions", 0, "N", "so many steps with other luck each: see chance.NAME below"},
    {"seed", 0, "N", "of random strategies and of chance; 0 unless given"},
    JSON_FLAG,
    DEBUG_FLAG,
    {0},
};

/* A file of the user's own that is there and may not be read: said before anything else is done. */
static ss_status refuse_unreadable(const ss_cli *cli, const char *flag, ss_error *err)
{
    const char *path = ss_args_value(cli, flag);
    if (path && strpbrk(path, "/.") && access(path, R_OK) && errno == EACCES)
        return ss_file_fail(err, errno, "read", path);
    return SS_OK;
}

/* Whether a file can be written is asked first: hours of work that then cannot be kept are lost. */
static ss_status check_place(const ss_cli *cli, const char *flag,
                             ss_status (*check_kind)(const char *path, ss_error *err),
                             ss_error *err)
{
    const char *path = ss_args_value(cli, flag);
    ss_file f = {0};
    if (!path)
        return SS_OK;
    ss_status s = ss_file_check_regular(path, err);
    if (!s)
        s = ss_trajectory_check_ended(path, err);
    if (!s)
        s = ss_file_begin(path, &f, err);
    ss_file_abandon(&f);
    if (!s)
        s = check_kind(path, err);
    if (s)
        return ss_fail_in(err, "--%s", flag);
    return SS_OK;
}

static int simulate(ss_cli *cli)
{
    ss_error err;
    if (refuse_unreadable(cli, "model", &err) || refuse_unreadable(cli, "topology", &err) ||
        check_place(cli, "record", ss_record_check_place, &err))
        return ss_cli_fail(&err);
    return ss_host_script_command(cli);
}

const ss_command ss_command_simulate = {
    .name = "simulate",
    .summary = "Simulates one step and prints what it says",
    .usage = "simulate --model NAME --topology NAME [--strategy NAME,...] [--links MODE]\n"
             "                          [--option KEY=VALUE]...\n"
             "       soapstone simulate --dag FILE.json [--links MODE] [--segment SIZE]",
    .about =
        "Without --strategy all that fit are compared. With --dag the makespan and the finish\n"
        "of every task are printed. A NAME with a slash in it or .lua at its end is the path of a\n"
        "file that returns a function of options, as those of models/ do, or a model or topology.\n"
        "soapstone help models and help topologies list ours. What is drawn by chance is "
        "chance.NAME:\n"
        "-o 'chance.compute=lognormal cv 0.05' -o 'chance.launch=5 us' (help chances).",
    .flags = simulate_flags,
    .example = "soapstone simulate -m nmt -t p100_cluster -s data_parallel,expert_rnn "
               "-o model.batch=1024",
    .run = simulate,
};

static const ss_flag search_flags[] = {
    {"model", 'm', "NAME", "one of models/ (nmt), or the path of a file of your own"},
    {"topology", 't', "NAME", "one of topologies/ (ring), or the path of your own"},
    {"start", 's', "NAME,...",
     "where chains begin: data_parallel,expert unless given; random, FILE"},
    {"searcher", 0, "NAME", "mcmc (unless given), greedy, annealing, random or exhaustive"},
    {"effort", 'e', "TIME", "seconds, minute, minutes, hour, hours, or \"90 s\": sets the rest"},
    {"proposals", 'n', "N", "of each chain; 10000 unless something else limits it"},
    {"seconds", 0, "TIME", "that each chain is at work: \"2 min\""},
    {"threads", 0, "N", "chains at work at once; as many as processors unless given"},
    {"seed", 0, "N", "of every draw; 0 unless given"},
    {"log", 'l', "FILE.h5", "every proposal, and what is needed to go on"},
    {"resume", 0, "FILE.h5", "goes on where that log ends: with the other options as before"},
    {"save", 0, "FILE", "the best strategy, for --start and simulate --strategy"},
    {"measure", 0, "TIME", "operators of the best are measured on this machine, for so long"},
    {"execute", 0, "K", "so many of the best are executed here, and the fastest is taken"},
    {"measured", 0, "FILE.h5", "measured times: what it has is known, what is new is added"},
    {"devices", 'd', "N",
     "of --measure and --execute: cores, instead of a topology; 2 unless given"},
    {"not-pinned", 0, NULL, "of --execute: there may be more devices than cores"},
    {"option", 'o', "KEY=VALUE", "model.batch=64, sync=ring, search.moves=block (may be repeated)"},
    {"by-name", 0, NULL, "strategies from files were saved for another size: take what fits"},
    {"costs", 'c', "FILE", "measured times, CSV or HDF5, before the roofline (may be repeated)"},
    {"columns", 0, "OURS=THEIRS,...", "what these tables call theirs: \"kind=op,seconds=time [ms]\""},
    JSON_FLAG,
    DEBUG_FLAG,
    {0},
};

/* The best would replace the log of its search. */
static ss_status refuse_one_file(const ss_cli *cli, const char *flag, ss_error *err)
{
    const char *save = ss_args_value(cli, "save"), *log = ss_args_value(cli, flag);
    ss_text journal = {0};
    if (!save || !log)
        return SS_OK;
    ss_text_add(&journal, "%s.journal", log);
    ss_status s = ss_text_status(&journal, err);
    if (!s && (ss_file_same(save, log) || ss_file_same(save, ss_text_get(&journal))))
        s = ss_fail(err, SS_EINVAL, "--save %s and --%s %s are one file: give two", save, flag,
                    log);
    ss_text_free(&journal);
    return s;
}

static int search(ss_cli *cli)
{
    ss_error err;
    if (refuse_unreadable(cli, "model", &err) || refuse_unreadable(cli, "topology", &err) ||
        refuse_one_file(cli, "log", &err) || refuse_one_file(cli, "resume", &err) ||
        refuse_one_file(cli, "measured", &err) ||
        check_place(cli, "measured", ss_profile_check_place, &err) ||
        check_place(cli, "save", ss_strategy_check_place, &err))
        return ss_cli_fail(&err);
    return ss_host_script_command(cli);
}

const ss_command ss_command_search = {
    .name = "search",
    .summary = "Looks for a strategy whose step takes less time",
    .usage = "search --model NAME --topology NAME [--start NAME,...] [--effort TIME]\n"
             "                 [--log FILE.h5] [--save FILE] [--option KEY=VALUE]...\n"
             "       soapstone search --model NAME [--devices N] --measure TIME [--execute K]\n"
             "                 [--measured FILE.h5] [--start NAME,...] [--save FILE]...",
    .about =
        "Ctrl-C ends it well: what was found is printed and saved, and the log has it all (status\n"
        "130); a second one ends it at once. A log that was killed is made whole by --resume or "
        "by\n"
        "soapstone repair. Options of soapstone.search are search.NAME: search.beta_relative=20.\n"
        "With --measure it goes in rounds, on cores of this machine: what the best strategies "
        "need\n"
        "is measured, and they are looked for again; with --execute the best are executed.",
    .flags = search_flags,
    .example =
        "soapstone search -m nmt -t p100_cluster -o model.batch=1024 -e minute --save best.json",
    .run = search,
};

static const ss_flag plot_flags[] = {
    {"output", 'o', "FILE", "svg, png or pdf by its ending; KIND.svg unless given"},
    {"timeline", 't', "NAME", "which of the file; may be left out if there is one"},
    {"width", 0, "INCHES", "on paper; 3.5 is a column"},
    {"from", 0, "TIME", "where a Gantt chart, or of searches x, begins"},
    {"to", 0, "TIME", "and where it ends"},
    {"strategy", 's', "NAME", "which of the file; may be left out if there is one, or a best"},
    {"x", 0, "WHAT", "of searches: against proposals or seconds"},
    {"log", 0, "AXES", "of searches: logarithmic axes, x, y or xy"},
    {"window", 0, "N", "of acceptance: shares are means of so many proposals"},
    DEBUG_FLAG,
    {0},
};

/* A command that draws looks first whether the figure can be written. */
static int draw(ss_cli *cli)
{
    const char *output = ss_args_value(cli, "output");
    ss_error err;
    if (output && (ss_file_check_regular(output, &err) || ss_plot_check_ending(output, &err))) {
        ss_fail_in(&err, "--output");
        return ss_cli_fail(&err);
    }
    return ss_host_script_command(cli);
}

const ss_command ss_command_plot = {
    .name = "plot",
    .summary = "Draws a figure: of a record, of logs of searches, of throughput",
    .usage =
        "plot gantt|links|memory FILE.h5 [-o OUT] [--timeline NAME]\n"
        "       soapstone plot search|acceptance FILE.h5... [-o OUT] [--x seconds] [--log xy]\n"
        "       soapstone plot strategy FILE.h5 [-o OUT] [--strategy NAME]\n"
        "       soapstone plot throughput FILE.csv [-o OUT]",
    .about =
        "The data is kept beside the figure as OUT.tsv: gnuplot -c analysis/KIND.gp redraws it.",
    .flags = plot_flags,
    .example = "soapstone plot gantt nmt.h5 --timeline expert_rnn -o expert.pdf",
    .least = 2,
    .most = SS_MAX_GIVEN,
    .run = draw,
};

static const ss_flag inspect_flags[] = {JSON_FLAG, DEBUG_FLAG, {0}};

const ss_command ss_command_inspect = {
    .name = "inspect",
    .summary = "Says what is in a file: a record, a strategy, a task graph, measured times",
    .usage = "inspect FILE [--json]",
    .flags = inspect_flags,
    .example = "soapstone inspect nmt.h5",
    .least = 1,
    .most = 1,
    .run = ss_host_script_command,
};

static const ss_flag calibrate_flags[] = {
    {"curve", 0, "NAME", "of a table with several: this one"},
    {"operation", 0, "NAME", "p2p unless given or in the table; all_reduce, all_gather, ..."},
    {"algorithm", 0, "NAME",
     "ring unless given; tree, double_tree, ..., as of soapstone.collective"},
    {"ranks", 0, "N", "how many took part, unless the table says"},
    {"chunks", 0, "N", "into which trees and chains cut it; as many as are best unless given"},
    {"columns", 0, "OURS=THEIRS,...", "what the table calls them: \"seconds=time_us [us]\""},
    {"least-squares", 0, NULL, "every row counts in full: for data without outliers"},
    {"output", 'o', "FILE", "a figure too: svg, png or pdf by its ending"},
    {"width", 0, "INCHES", "of the figure, on paper; 3.5 is a column"},
    JSON_FLAG,
    DEBUG_FLAG,
    {0},
};

const ss_command ss_command_calibrate = {
    .name = "calibrate",
    .summary = "Fits latency, bandwidth and half size to measured times",
    .usage = "calibrate FILE.csv [--operation NAME] [--ranks N] [--curve NAME] [-o OUT]",
    .about =
        "The table has columns bytes and seconds (or bandwidth); where they are there: weight,\n"
        "curve, operation, algorithm, ranks, and method (one_way or streamed). Of one curve a\n"
        "page is printed, of several a line each; with --json all that there is to say.",
    .flags = calibrate_flags,
    .example = "soapstone calibrate all_reduce.csv --operation all_reduce --ranks 8 -o fit.svg",
    .least = 1,
    .most = 1,
    .run = draw,
};

#define MODEL_FLAGS                                                                                \
    {"model", 'm', "NAME", "one of models/ (mlp), or the path of a file of your own"},             \
        {"devices", 'd', "N", "how many cores the strategies are for; 2 unless given"},            \
        {"topology", 't', "NAME", "instead: one of topologies/, or the path of your own"},         \
        {"strategy", 's', "NAME,...", "ready-made strategies or files of saved ones"},             \
        {"option", 'o', "KEY=VALUE",                                                               \
         "model.batch=64, topology.bandwidth=5GB/s, sync=ring (may be repeated)"},                 \
    {                                                                                              \
        "by-name", 0, NULL, "strategies from files were saved for another size: take what fits"    \
    }

static const ss_flag profile_flags[] = {
    MODEL_FLAGS,
    {"random", 0, "N", "random strategies, and no ready-made ones unless --strategy is given"},
    {"seed", 0, "N", "of the first of these (the next has N + 1), and of what is computed with"},
    {"output", 0, "FILE.h5", "is written: a table of measured times, for --costs"},
    {"add", 0, NULL, "what FILE.h5 has already is not measured again"},
    {"rounds", 'n', "N", "samples of each time; 15 unless given"},
    {"warm-up", 0, "N", "rounds before, which are not counted; 2 unless given"},
    {"budget", 'b', "TIME", "no round begins after so long, but the first: \"2 min\""},
    {"core", 0, "N", "of this machine, from 0, to measure on; any unless given"},
    {"cold", 0, NULL, "what operators read is in no cache; else it was just written"},
    {"parts-of-backward", 0, NULL, "gradients of inputs and of weights apart, too"},
    {"kind", 0, "NAME", "of the devices that the times are for; the topology's unless given"},
    {"list", 0, "FILE.csv", "nothing is measured: what is needed is written there, for another machine"},
    {"import", 0, "FILE.csv", "what was measured there, with every sample, goes into --output"},
    JSON_FLAG,
    DEBUG_FLAG,
    {0},
};

static int profile(ss_cli *cli)
{
    ss_error err;
    if (refuse_unreadable(cli, "model", &err) || refuse_unreadable(cli, "topology", &err) ||
        check_place(cli, "output", ss_profile_check_place, &err))
        return ss_cli_fail(&err);
    return ss_host_script_command(cli);
}

const ss_command ss_command_profile = {
    .name = "profile",
    .summary = "Measures how long operators take on this machine",
    .usage = "profile --model NAME [--devices N] [--strategy NAME,...] [--random N]\n"
             "                         [--output FILE.h5 [--add]] [--rounds N] [--budget TIME]\n"
             "       soapstone profile --model NAME --topology NAME ... --list FILE.csv\n"
             "       soapstone profile --import FILE.csv [--output FILE.h5 [--add]]",
    .about = "What the strategies need is measured, each operator of a size once, in rounds over "
             "all of\n"
             "them; without --strategy that is all ready-made ones that fit. Operators are "
             "computed with\n"
             "oneDNN, on one core. FILE.h5 is for simulate --costs, search --costs and execute "
             "--profile.\n"
             "For another machine, with --list: validation/profile_torch.py measures what is listed "
             "with\n"
             "PyTorch, and --import takes what it wrote.",
    .flags = profile_flags,
    .example = "soapstone profile -m mlp -d 2 -o model.batch=64 -s data_parallel,whole "
               "--output here.h5 --add",
    .run = profile,
};

static const ss_flag execute_flags[] = {
    MODEL_FLAGS,
    {"steps", 'n', "N", "of each strategy; 5 unless given"},
    {"warmup", 0, "N", "steps before, which are not measured; 1 unless given"},
    {"proof", 0, NULL, "compares what is computed with what the whole model computes"},
    {"profile", 0, "FILE", "measured times: shows the simulated step beside it (may be repeated)"},
    {"record", 'r', "FILE.h5", "writes the step in the middle of each strategy, with its timeline"},
    {"rate", 0, "X", "of updates; 0.001 unless given"},
    {"not-pinned", 0, NULL, "there may be more devices than cores"},
    {"seed", 0, "N", "of random strategies, weights, inputs and labels"},
    JSON_FLAG,
    DEBUG_FLAG,
    {0},
};

const ss_command ss_command_execute = {
    .name = "execute",
    .summary = "Executes steps of strategies on this machine's cores",
    .usage = "execute --model NAME [--devices N] [--strategy NAME,...] [--steps N] [--proof]\n"
             "                         [--profile FILE] [--record FILE.h5] [--option KEY=VALUE]...",
    .about =
        "A thread with a core of its own is a device; operators are computed with oneDNN, and "
        "what\n"
        "parts read is copied between them. The options of the problem are those that say what is\n"
        "done: sync=ring, gather, partial_sums, update_passes=3, copies_block, "
        "blocked_end=receiver\n"
        "unless given otherwise. With --proof the status is 1 if something else is computed.",
    .flags = execute_flags,
    .example = "soapstone execute -m mlp -d 2 -o model.batch=64 -s data_parallel --proof "
               "--profile here.h5",
    .run = simulate,
};

static const ss_flag validate_flags[] = {
    {"model", 'm', "NAME", "one of models/ (lenet), or the path of a file of your own"},
    {"devices", 'd', "N", "how many cores the strategies are for; 2 unless given"},
    {"strategy", 's', "NAME,...", "ready-made strategies or files of saved ones"},
    {"each", 0, "N", "strategies drawn of each class; 2 unless --strategy is given, else 0"},
    {"train", 0, "N", "others of each class that it is learnt from what steps do to tasks; 1 unless given"},
    {"option", 'o', "KEY=VALUE", "model.batch=64, sync=parameter_server (may be repeated)"},
    {"by-name", 0, NULL, "strategies from files were saved for another size: take what fits"},
    {"profile", 0, "FILE.h5", "measured times: what it has is known, what is new is added"},
    {"rounds", 'n', "N", "over profile and all strategies in turn; 4 unless given"},
    {"steps", 0, "N", "of each strategy in a round; 5 unless given"},
    {"warmup", 0, "N", "steps before these, which are not measured; 2 unless given"},
    {"profile-rounds", 0, "N", "samples of each time in the profile; 15 unless given"},
    {"proof", 0, NULL, "compares gradients with those of the whole model"},
    {"tasks", 0, "N", "shows the N tasks that are furthest off; with --json all are there"},
    {"figures", 0, "FOLDER", "draws scatter.svg, histogram.svg and gantt.svg there"},
    {"not-pinned", 0, NULL, "there may be more devices than cores"},
    {"seed", 0, "N", "of drawn strategies, weights, inputs and labels; 1 unless given"},
    JSON_FLAG,
    DEBUG_FLAG,
    {0},
};

static int validate(ss_cli *cli)
{
    ss_error err;
    if (refuse_unreadable(cli, "model", &err) ||
        check_place(cli, "profile", ss_profile_check_place, &err))
        return ss_cli_fail(&err);
    return ss_host_script_command(cli);
}

const ss_command ss_command_validate = {
    .name = "validate",
    .summary = "Compares simulated steps with executed ones on this machine",
    .usage = "validate --model NAME [--devices N] [--strategy NAME,...] [--each N] [--profile FILE.h5]\n"
             "                         [--proof] [--tasks N] [--figures FOLDER] [--json]...",
    .about =
        "What the strategies need is profiled and they are executed, in rounds; then they are\n"
        "simulated with these times. Errors are simulated / executed - 1, by strategy, kind of task,\n"
        "device and step; the machine's own repeatability stands beside them. Where others took the\n"
        "cores meanwhile, it warns. With --proof the status is 1 if something else is computed.",
    .flags = validate_flags,
    .example = "soapstone validate -m lenet -d 2 -o model.batch=64 -s data_parallel,whole "
               "--profile here.h5",
    .run = validate,
};

static const ss_flag trace_flags[] = {
    {"profile", 0, "FILE.h5", "the operators of ours are written there, for --costs"},
    {"add", 0, NULL, "what FILE.h5 has already stays; of a time that both have, the new one"},
    {"kind", 0, "NAME", "of the device; its name in the trace unless given"},
    {"top", 'n', "N", "rows that are shown; 30 unless given, 0: all"},
    JSON_FLAG,
    DEBUG_FLAG,
    {0},
};

static int trace(ss_cli *cli)
{
    ss_error err;
    if (check_place(cli, "profile", ss_profile_check_place, &err))
        return ss_cli_fail(&err);
    return ss_host_script_command(cli);
}

const ss_command ss_command_trace = {
    .name = "trace",
    .summary = "Says how long operators took in a trace of PyTorch's profiler",
    .usage = "trace FILE.json[.gz] [--top N] [--profile FILE.h5 [--add] [--kind NAME]]",
    .about = "The trace is what torch.profiler's export_chrome_trace writes, with record_shapes=True. A line\n"
             "for each operator and shapes has the time of the kernels that it launched, and which operator\n"
             "of ours it is part of; what is none of ours is listed with its share. FILE.h5 is for\n"
             "simulate --costs and search --costs.",
    .flags = trace_flags,
    .example = "soapstone trace step.json.gz --profile a100.h5 --kind a100",
    .least = 1,
    .most = 1,
    .run = trace,
};

static const ss_flag bench_flags[] = {
    {"tasks", 'n', "N", "of the largest graph; 1000000 unless given"},
    {"seed", 0, "N", "of the graphs; 0 unless given"},
    JSON_FLAG,
    DEBUG_FLAG,
    {0},
};

const ss_command ss_command_bench = {
    .name = "bench",
    .summary = "Measures the simulator on this machine",
    .usage = "bench [--tasks N] [--json]",
    .about = "Random task graphs with three predecessors a task; nanoseconds and bytes a task.",
    .flags = bench_flags,
    .example = "soapstone bench --tasks 100000",
    .run = ss_host_script_command,
};
