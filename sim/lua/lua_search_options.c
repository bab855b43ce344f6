/* lua_search_options.c - what a script may ask of a search: one list, and presets for an effort. */
#include <config.h>

#include <math.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>

#include "lua/lua_search.h"
#include "lua/state.h"

enum { PATH = 200 };

#define CORE(field) offsetof(ss_lua_search_request, options.field)

static const ss_opt search_list[] = {
    {.name = "start",
     .kind = SS_OPT_VALUE,
     .help = "strategies, or names and paths of some: a chain each; data_parallel unless given"},
    {.name = "effort",
     .kind = SS_OPT_VALUE,
     .help = "seconds, minute, minutes, hour, hours, or a time: presets for all the rest"},
    {.name = "proposals",
     .kind = SS_OPT_INTEGER,
     .at = CORE(proposals),
     .preset = SS_OPT_KEEP,
     .max = 4e9,
     .help = "of each chain; 0: no limit, as with seconds or effort"},
    {.name = "seconds",
     .kind = SS_OPT_QUANTITY,
     .at = CORE(seconds),
     .preset = SS_OPT_KEEP,
     .max = 1e7,
     .unit = SS_UNIT_SECONDS,
     .help = "that each chain is at work; 0: no limit"},
    {.name = "seed",
     .kind = SS_OPT_INTEGER,
     .at = CORE(seed),
     .preset = SS_OPT_KEEP,
     .max = 0x1p53,
     .help = "of every draw; the run's unless given"},
    {.name = "beta",
     .kind = SS_OPT_QUANTITY,
     .at = CORE(beta_per_s),
     .max = 1e18,
     .help = "of exp(-beta cost), per second of cost; 0: beta_relative counts"},
    {.name = "beta_relative",
     .kind = SS_OPT_QUANTITY,
     .at = CORE(beta_relative),
     .preset = SS_OPT_KEEP,
     .max = 1e9,
     .help = "beta times the cost of the chain's start"},
    {.name = "beta_growth",
     .kind = SS_OPT_QUANTITY,
     .at = CORE(last_beta_factor),
     .preset = SS_OPT_KEEP,
     .max = 1e12,
     .help = "beta at the last of the proposals over that at the first"},
    {.name = "hastings",
     .kind = SS_OPT_FLAG,
     .at = CORE(space.hastings),
     .help = "proposals that are drawn more often are accepted less often"},
    {.name = "moves",
     .kind = SS_OPT_VALUE,
     .help = "one, or weights of several: free, block, pow2, place, list; "
             "free 0.1, block 0.3, pow2 1 unless given"},
    {.name = "group",
     .kind = SS_OPT_QUANTITY,
     .at = CORE(space.group),
     .preset = SS_OPT_KEEP,
     .max = 1,
     .help = "chance that all operators that share weights change together"},
    {.name = "neighbour",
     .kind = SS_OPT_QUANTITY,
     .at = CORE(space.neighbour),
     .preset = SS_OPT_KEEP,
     .max = 1,
     .help = "chance that an operator's configuration is copied to its neighbours"},
    {.name = "max_parts",
     .kind = SS_OPT_COUNT,
     .at = CORE(space.max_parts),
     .max = SS_MAX_PARTS,
     .help = "of an operator, by free and block; 0: as many as there are devices"},
    {.name = "configurations",
     .kind = SS_OPT_VALUE,
     .help =
         "{ operator = { { degrees =, devices = }, ... }, ... }: what the move list draws from"},
    {.name = "stop_half",
     .kind = SS_OPT_FLAG,
     .at = CORE(stop_half),
     .preset = SS_OPT_KEEP,
     .help = "end when half of the time, or of the proposals, brought nothing better"},
    {.name = "warm_up",
     .kind = SS_OPT_INTEGER,
     .at = CORE(warm_up),
     .preset = SS_OPT_KEEP,
     .max = 4e9,
     .help = "proposals before stop_half is asked"},
    {.name = "descent",
     .kind = SS_OPT_FLAG,
     .at = CORE(descent),
     .preset = SS_OPT_KEEP,
     .help = "at the end every change of one operator, from the best, until none is better"},
    {.name = "memory",
     .kind = SS_OPT_CHOICE,
     .at = CORE(score.memory),
     .preset = SS_OPT_KEEP,
     .choices = "ignore|wall|penalty",
     .help = "what strategies that need more than a device has are"},
    {.name = "penalty",
     .kind = SS_OPT_QUANTITY,
     .at = CORE(score.penalty_s_per_byte),
     .preset = SS_OPT_KEEP,
     .max = 1,
     .help = "seconds for each byte too much, of all devices"},
    {.name = "way",
     .kind = SS_OPT_CHOICE,
     .at = CORE(score.way),
     .preset = SS_OPT_KEEP,
     .choices = "full|replay|delta",
     .help = "how a proposal is simulated; the numbers are the same"},
    {.name = "early_stop",
     .kind = SS_OPT_FLAG,
     .at = CORE(score.early_stop),
     .preset = SS_OPT_KEEP,
     .help = "leave a proposal when it is certain to be rejected; not of full"},
    {.name = "count_changed",
     .kind = SS_OPT_FLAG,
     .at = CORE(score.count_changed),
     .preset = SS_OPT_KEEP,
     .help = "count the tasks whose times change, which takes a look at every task; not of full"},
    {.name = "threads",
     .kind = SS_OPT_COUNT,
     .at = CORE(threads),
     .max = 1024,
     .help = "chains at work at once; 0: as many as there are processors"},
    {.name = "log",
     .kind = SS_OPT_TEXT,
     .at = offsetof(ss_lua_search_request, log),
     .help = "the path of an HDF5 file: every proposal, and what is needed to go on"},
    {.name = "resume",
     .kind = SS_OPT_FLAG,
     .at = offsetof(ss_lua_search_request, resume),
     .help = "go on where the log ends"},
    {.name = "files",
     .kind = SS_OPT_VALUE,
     .help = "{ [path] = text, ... }: for the log, what else the search was made of"},
    {0},
};
enum { OPTIONS = sizeof search_list / sizeof *search_list };

/* Options that make no sense of every searcher. */
static const struct {
    const char *name;
    unsigned searchers;
} special[] = {
    {"beta", SS_LUA_WITH_BETA},
    {"beta_relative", SS_LUA_WITH_BETA},
    {"beta_growth", 1 << SS_SEARCH_ANNEALING},
    {"hastings", SS_LUA_WITH_BETA},
    {"group", SS_LUA_WITH_REACHES},
    {"neighbour", SS_LUA_WITH_REACHES},
};
enum { SPECIALS = sizeof special / sizeof *special };

static unsigned searchers_with(const char *name)
{
    for (int i = 0; i < SPECIALS; i++)
        if (!strcmp(special[i].name, name))
            return special[i].searchers;
    return ~0u;
}

static void refuse_others(lua_State *L, int table, ss_searcher searcher, const char *what)
{
    for (int i = 0; i < SPECIALS; i++) {
        if (special[i].searchers >> searcher & 1 || !ss_lua_is_given(L, table, special[i].name))
            continue;
        ss_lua_refuse(L, "%s: option '%s' is one of %s", what, special[i].name,
                      special[i].searchers == SS_LUA_WITH_REACHES ? "mcmc, greedy and annealing"
                      : special[i].searchers == SS_LUA_WITH_BETA  ? "mcmc and annealing"
                                                                  : "annealing");
    }
}

/* ------------------------------------------------------------------------------------- effort */

/* Between seconds and hours, each with the ready-made starts and some random ones.  What they do is
 * measured in docs/decisions/0031-presets-of-an-effort.md. */
static const ss_lua_effort efforts[] = {
    {"seconds", 10, 0, 0},  {"minute", 60, 0, 0.1},      {"minutes", 600, 2, 0.1},
    {"hour", 3600, 4, 0.1}, {"hours", 4 * 3600, 8, 0.1},
};
enum { EFFORTS = sizeof efforts / sizeof *efforts };

/* A time has the presets of the longest that is not longer. */
static ss_lua_effort read_effort(lua_State *L, int table, const char *what)
{
    char path[PATH];
    ss_lua_effort e = {0};
    if (!ss_lua_is_given(L, table, "effort"))
        return e;
    ss_lua_push_option(L, table, "effort");
    const char *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    for (int i = 0; i < EFFORTS; i++)
        if (!strcmp(word, efforts[i].name))
            e = efforts[i];
    if (!e.name && *word && !strpbrk(word, "0123456789")) {
        const char *names[EFFORTS];
        for (int i = 0; i < EFFORTS; i++)
            names[i] = efforts[i].name;
        ss_lua_name(path, sizeof path,
                    "%s: option 'effort' is a time such as \"90 s\", or a name, "
                    "and cannot be",
                    what);
        ss_lua_unknown(L, path, word, names, EFFORTS);
    }
    if (!e.name) {
        ss_lua_name(path, sizeof path, "%s: option 'effort'", what);
        double seconds = ss_lua_quantity(L, -1, SS_UNIT_SECONDS, path);
        if (!(seconds > 0) || seconds > 1e7)
            ss_lua_refuse(L, "%s is %g s; it must be above 0 and at most 1e7 s", path, seconds);
        e = efforts[0];
        for (int i = 1; i < EFFORTS && efforts[i].seconds <= seconds; i++)
            e = efforts[i];
        e.seconds = seconds;
    }
    lua_pop(L, 1);
    return e;
}

/* What of the moves was found to be good (docs/decisions/0031), with an effort or without. */
static void set_presets(ss_search_options *o, const ss_lua_effort *e)
{
    o->space.weight[SS_MOVE_POW2] = 1;
    o->space.weight[SS_MOVE_BLOCK] = 0.3;
    o->space.weight[SS_MOVE_FREE] = e->name ? e->free : 0.1;
    if (o->searcher != SS_SEARCH_RANDOM)
        o->space.group = o->space.neighbour = 0.2;
    o->descent = e->name != NULL;
}

/* A preset gives way to what was given and does not go with it. */
static void give_way(lua_State *L, int table, ss_space_options *o)
{
    bool own_group = ss_lua_is_given(L, table, "group"),
         own_neighbour = ss_lua_is_given(L, table, "neighbour");
    bool too_much = o->group + o->neighbour >= 1;
    if (!own_neighbour && (o->hastings || too_much))
        o->neighbour = 0;
    else if (!own_group && too_much)
        o->group = 0;
}

void ss_lua_searches_help(ss_text *out)
{
    ss_lua_search_request presets = {.options = ss_search_options_start()};
    ss_lua_effort none = {0};
    set_presets(&presets.options, &none);
    ss_text_add(out,
                "soapstone.search.mcmc, annealing, greedy and random (problem, { options }):\n");
    ss_opts_help(search_list, &presets, out);
    ss_text_add(out,
                "Of mcmc and annealing alone: beta, beta_relative, hastings; of annealing alone: "
                "beta_growth;\nnot of random: group, neighbour. docs/lua-api.md says more, also of "
                "soapstone.search.exhaustive.\n");
}

static uint32_t threads_of(const ss_search_options *o)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return o->threads ? o->threads : n > 0 ? (uint32_t)n : 1;
}

/* What limits it where the script did not say: the effort, shared among the chains that wait for
 * each other, or the preset number of proposals.  Annealing needs that one in any case. */
static void set_budgets(lua_State *L, int table, const ss_lua_effort *e, uint32_t chains,
                        ss_search_options *o)
{
    uint32_t threads = threads_of(o);
    bool seconds = ss_lua_is_given(L, table, "seconds");
    if (e->name && !seconds)
        o->seconds = e->seconds * (threads < chains ? threads : chains) / chains;
    if (!ss_lua_is_given(L, table, "proposals") && o->searcher != SS_SEARCH_ANNEALING &&
        (e->name || seconds))
        o->proposals = 0;
}

/* ----------------------------------------------------------------------------------- together */

/* What was given and would do nothing beside what else was given is a slip of the pen; presets are
 * nobody's slips. */
static void refuse_idle(lua_State *L, int table, const char *what, const ss_search_options *o)
{
    if (o->searcher == SS_SEARCH_ANNEALING && ss_lua_is_given(L, table, "effort") &&
        !ss_lua_is_given(L, table, "proposals"))
        ss_lua_refuse(L,
                      "%s: option 'effort' is a time, and beta grows over a number of proposals, "
                      "which no clock knows: say how many, proposals = 100000",
                      what);
    if (o->score.way == SS_SCORE_FULL && o->score.early_stop)
        ss_lua_refuse(L,
                      "%s: option 'early_stop' does not go with way = \"full\", which simulates "
                      "every proposal to its end",
                      what);
    if (o->beta_per_s > 0 && ss_lua_is_given(L, table, "beta_relative"))
        ss_lua_refuse(
            L, "%s: options 'beta' and 'beta_relative' say the same thing twice: give one", what);
    if (ss_lua_is_given(L, table, "warm_up") && !o->stop_half)
        ss_lua_refuse(L, "%s: option 'warm_up' goes with stop_half = true", what);
}

static void read_plain(lua_State *L, int table, const char *what, ss_lua_search_request *r)
{
    ss_opt list[OPTIONS];
    int n = 0;
    refuse_others(L, table, r->options.searcher, what);
    for (const ss_opt *o = search_list; o->name; o++)
        if (searchers_with(o->name) >> r->options.searcher & 1)
            list[n++] = *o;
    list[n] = (ss_opt){0};
    ss_lua_opts(L, table, list, what, r);
    ss_score_options *score = &r->options.score;
    bool by_run = !ss_run_options_published(&score->lower.run);
    if (by_run && score->way != SS_SCORE_FULL && ss_lua_is_given(L, table, "way"))
        ss_lua_refuse(
            L,
            "%s: option 'way' = \"%s\" reckons with tasks in the order in which they became "
            "ready; by the problem's order, streams, copies or events every proposal is "
            "simulated whole: \"full\"",
            what, ss_score_way_name(score->way));
    if (by_run)
        score->way = SS_SCORE_FULL;
    if (score->way == SS_SCORE_FULL && !ss_lua_is_given(L, table, "early_stop"))
        score->early_stop = false;
    if (score->count_changed && score->way == SS_SCORE_FULL)
        ss_lua_refuse(L,
                      "%s: option 'count_changed' does not go with way = \"full\", which keeps "
                      "nothing to compare",
                      what);
    if (ss_lua_is_given(L, table, "penalty") && score->memory != SS_MEMORY_PENALTY)
        ss_lua_refuse(L, "%s: option 'penalty' goes with memory = \"penalty\"", what);
    if (r->resume && !r->log)
        ss_lua_refuse(L, "%s: option 'resume' needs the log to go on with: log = \"run.h5\"", what);
    if (ss_lua_is_given(L, table, "files") && !r->log)
        ss_lua_refuse(L, "%s: option 'files' is for a log: log = \"run.h5\"", what);
    refuse_idle(L, table, what, &r->options);
}

void ss_lua_search_read(lua_State *L, int problem, int table, ss_searcher searcher,
                        const char *what, ss_lua_search_request *r)
{
    const ss_lua_problem *p = ss_lua_check(L, problem, &ss_lua_problem_type);
    *r = (ss_lua_search_request){.options = ss_search_options_start()};
    r->options.searcher = searcher;
    r->options.seed = ss_lua_seed(L);
    r->options.score.lower = p->options;
    ss_lua_effort e = read_effort(L, table, what);
    set_presets(&r->options, &e);
    read_plain(L, table, what, r);
    give_way(L, table, &r->options.space);
    ss_lua_search_read_space(L, problem, table, what, &e, r);
    set_budgets(L, table, &e, r->starts, &r->options);
    if (ss_lua_is_given(L, table, "files"))
        r->file = ss_lua_manifest_files(L, table, what, &r->files);
}
