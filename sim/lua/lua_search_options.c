/* lua_search_options.c - what a script may ask of a search: one list, presets for an effort, starts,
 * moves and configurations of its own. */
#include <config.h>

#include <math.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>

#include "base/hash.h"
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

/* Between seconds and hours: how long, over all chains, from how many random starts besides the
 * ready-made ones, and whether there is time for devices in any order.  What the presets do is
 * measured in docs/decisions/0031-presets-of-an-effort.md. */
typedef struct effort {
    const char *name;
    double seconds;
    uint32_t randoms;
    double free;
} effort;

static const effort efforts[] = {
    {"seconds", 10, 0, 0},  {"minute", 60, 0, 0.1},      {"minutes", 600, 2, 0.1},
    {"hour", 3600, 4, 0.1}, {"hours", 4 * 3600, 8, 0.1},
};
enum { EFFORTS = sizeof efforts / sizeof *efforts };

/* {0}: none was asked for.  A time has the presets of the longest that is not longer. */
static effort read_effort(lua_State *L, int table, const char *what)
{
    char path[PATH];
    effort e = {0};
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
static void set_presets(ss_search_options *o, const effort *e)
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
    effort none = {0};
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
static void set_budgets(lua_State *L, int table, const effort *e, uint32_t chains,
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

/* ------------------------------------------------------------------------------------- starts */

typedef struct starts {
    const ss_lua_problem *p;
    int problem, strategies; /* stack: the problem; a list that keeps boxes and names */
    ss_search_start *start;
    uint32_t n, cap, randoms;
    int64_t seed;
    const char *what;
} starts;

static bool is_taken(const starts *s, const char *name)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (!strcmp(s->start[i].name, name))
            return true;
    return false;
}

/* The value on top of the stack is a strategy's box: it goes into the list, as the next start. */
static void add_box(lua_State *L, starts *s)
{
    int top = lua_gettop(L);
    const ss_lua_strategy *strategy = ((ss_lua_box *)lua_touserdata(L, -1))->object;
    ss_lua_refuse_other(L, s->what, s->p, strategy->strategy);
    lua_Integer at = (lua_Integer)lua_rawlen(L, s->strategies);
    lua_rawseti(L, s->strategies, at + 1);
    const char *own = ss_lua_strategy_push_name(L, strategy), *name = own;
    for (uint32_t k = 2; is_taken(s, name); k++) {
        lua_settop(L, top);
        name = lua_pushfstring(L, "%s (%d)", own, (int)k);
    }
    lua_rawseti(L, s->strategies, at + 2);
    lua_settop(L, top - 1);
    s->start[s->n++] = (ss_search_start){.name = name, .strategy = strategy->strategy};
}

static void add_random(lua_State *L, starts *s)
{
    lua_createtable(L, 0, 1);
    ss_lua_set_integer(L, "seed", (lua_Integer)((uint64_t)s->seed + s->randoms++));
    ss_lua_strategy_new(L, s->problem, "random", lua_gettop(L));
    lua_remove(L, -2);
    add_box(L, s);
}

static void add_ready(lua_State *L, starts *s, const char *word)
{
    lua_pushnil(L);
    ss_lua_strategy_new(L, s->problem, word, lua_gettop(L));
    lua_remove(L, -2);
    add_box(L, s);
}

/* A strategy, the name of a ready-made one, or a path: on top of the stack, popped. */
static void add_start(lua_State *L, starts *s, const char *path)
{
    int top = lua_gettop(L);
    if (ss_lua_box_test(L, -1, &ss_lua_strategy_type)) {
        add_box(L, s);
        return;
    }
    if (lua_type(L, -1) != LUA_TSTRING)
        ss_lua_refuse(
            L,
            "%s should be a strategy, the name of a ready-made one or the path of a saved "
            "one, not %s",
            path, ss_lua_kind_of(L, -1));
    const char *word = ss_lua_text(L, -1, path);
    if (strpbrk(word, "./")) {
        lua_pushnil(L);
        ss_lua_strategy_load(L, s->problem, word, lua_gettop(L));
        lua_pop(L, 1);
        add_box(L, s);
    } else if (!strcmp(word, "random")) {
        add_random(L, s);
    } else {
        add_ready(L, s, word);
    }
    lua_settop(L, top - 1);
}

static void read_starts(lua_State *L, starts *s, int table, const effort *e)
{
    char path[PATH];
    int top = lua_gettop(L);
    bool given = ss_lua_is_given(L, table, "start");
    if (given)
        ss_lua_push_option(L, table, "start");
    bool list = given && lua_istable(L, -1);
    uint32_t n = list ? (uint32_t)lua_rawlen(L, -1) : given || !e->name ? 1 : 2 + e->randoms;
    if (!n)
        ss_lua_refuse(L, "%s: option 'start' is an empty list", s->what);
    s->start = lua_newuserdatauv(L, n * sizeof *s->start, 0);
    lua_rawseti(L, s->strategies, (lua_Integer)lua_rawlen(L, s->strategies) + 1);
    ss_lua_name(path, sizeof path, "%s: option 'start'", s->what);
    if (!given) {
        add_ready(L, s, "data_parallel");
        if (e->name && ss_lua_strategy_push_expert(L, s->problem))
            add_box(L, s);
        for (uint32_t i = 0; i < e->randoms; i++)
            add_random(L, s);
    } else if (!list) {
        add_start(L, s, path);
    } else {
        for (uint32_t i = 0; i < n; i++) {
            ss_lua_name(path, sizeof path, "%s: option 'start[%u]'", s->what, (unsigned)i + 1);
            lua_rawgeti(L, top + 1, (lua_Integer)i + 1);
            add_start(L, s, path);
        }
    }
    lua_settop(L, top);
}

/* -------------------------------------------------------------------------------------- moves */

static void read_moves(lua_State *L, int table, const char *what, ss_space_options *o)
{
    char path[PATH];
    const char *names[SS_MOVES];
    bool own = ss_lua_is_given(L, table, "configurations");
    if (!ss_lua_is_given(L, table, "moves") && !own)
        return;
    for (int m = 0; m < SS_MOVES; m++) {
        o->weight[m] = 0;
        names[m] = ss_move_name((ss_move)m);
    }
    ss_lua_name(path, sizeof path, "%s: option 'moves'", what);
    if (ss_lua_push_option(L, table, "moves") == LUA_TNIL) {
        o->weight[SS_MOVE_LIST] = 1;
    } else if (lua_type(L, -1) == LUA_TSTRING) {
        o->weight[ss_lua_choice(L, -1, "free|block|pow2|place|list", path)] = 1;
    } else {
        if (!lua_istable(L, -1))
            ss_lua_refuse(
                L,
                "%s should be a name or a table of weights such as { block = 1, free = 0.5 }"
                ", not %s",
                path, ss_lua_kind_of(L, -1));
        ss_lua_opts_names(L, -1, NULL, names, SS_MOVES, path);
        for (int m = 0; m < SS_MOVES; m++) {
            ss_lua_name(path, sizeof path, "%s: option 'moves.%s'", what, names[m]);
            lua_pushstring(L, names[m]);
            if (lua_rawget(L, -2) != LUA_TNIL)
                o->weight[m] = ss_lua_quantity(L, -1, SS_UNIT_NONE, path);
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
}

static uint64_t hash_choice(uint64_t h, const ss_choice *c)
{
    h = ss_hash_bytes(h, &c->op.i, sizeof c->op.i);
    h = ss_hash_bytes(h, c->config.degree, sizeof c->config.degree);
    return ss_hash_bytes(h, c->config.device, c->config.parts * sizeof *c->config.device);
}

/* The lists of one operator, on top of the stack; from the `n`-th choice on. */
static uint32_t read_choices(lua_State *L, ss_lua_search_request *r, ss_choice *choice, uint32_t n,
                             ss_op op, const ss_model *m, int topology, const char *what)
{
    char path[PATH];
    int list = lua_gettop(L);
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, list); i++) {
        ss_lua_name(path, sizeof path, "%s: option 'configurations.%.60s[%d]'", what,
                    m->op[op.i].name, (int)i);
        lua_rawgeti(L, list, i);
        if (!lua_istable(L, -1))
            ss_lua_refuse(
                L,
                "%s should be a table such as { degrees = { n = 2 }, devices = { 1, 2 } }, "
                "not %s",
                path, ss_lua_kind_of(L, -1));
        const ss_config *c = ss_lua_config(L, lua_gettop(L), m->op[op.i].def, topology, path);
        choice[n] = (ss_choice){op, *c};
        r->configurations_hash = hash_choice(r->configurations_hash, &choice[n++]);
        lua_rawseti(L, r->kept, (lua_Integer)lua_rawlen(L, r->kept) + 1);
        lua_pop(L, 1);
    }
    return n;
}

static void read_configurations(lua_State *L, int problem, int table, const char *what,
                                ss_lua_search_request *r)
{
    char path[PATH];
    int top = lua_gettop(L);
    const ss_model *m = ((ss_lua_problem *)ss_lua_check(L, problem, &ss_lua_problem_type))->model;
    if (!ss_lua_is_given(L, table, "configurations"))
        return;
    ss_lua_box_push_held(L, problem, SS_LUA_HOLD_TOPOLOGY);
    ss_lua_push_option(L, table, "configurations");
    int all = lua_gettop(L);
    ss_lua_name(path, sizeof path, "%s: option 'configurations'", what);
    if (!lua_istable(L, all))
        ss_lua_refuse(L, "%s should be a table of lists by operator, not %s", path,
                      ss_lua_kind_of(L, all));
    ss_lua_push_sorted_keys(L, all);
    int keys = lua_gettop(L);
    size_t most = 0;
    for (lua_Integer k = 1; k <= (lua_Integer)lua_rawlen(L, keys); k++, lua_settop(L, keys)) {
        lua_rawgeti(L, keys, k);
        ss_lua_op(L, keys + 1, m, path);
        if (lua_rawget(L, all) != LUA_TTABLE)
            ss_lua_refuse(L, "%s should have a list for each operator, not %s", path,
                          ss_lua_kind_of(L, -1));
        most += lua_rawlen(L, -1);
    }
    ss_choice *choice = lua_newuserdatauv(L, (most + 1) * sizeof *choice, 0);
    lua_rawseti(L, r->kept, (lua_Integer)lua_rawlen(L, r->kept) + 1);
    uint32_t n = 0;
    r->configurations_hash = SS_HASH_START;
    for (lua_Integer k = 1; k <= (lua_Integer)lua_rawlen(L, keys); k++, lua_settop(L, keys)) {
        lua_rawgeti(L, keys, k);
        ss_op op = ss_lua_op(L, keys + 1, m, path);
        lua_rawget(L, all);
        n = read_choices(L, r, choice, n, op, m, top + 1, what);
    }
    r->options.space.list = choice;
    r->options.space.lists = n;
    lua_settop(L, top);
}

/* ----------------------------------------------------------------------------------- together */

/* What was given and would do nothing beside what else was given is a slip of the pen; presets are
 * nobody's slips. */
static void refuse_idle(lua_State *L, int table, const char *what, const ss_search_options *o)
{
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

static void refuse_idle_space(lua_State *L, int table, const char *what, const ss_space_options *o)
{
    if (ss_lua_is_given(L, table, "configurations") && !(o->weight[SS_MOVE_LIST] > 0))
        ss_lua_refuse(L,
                      "%s: option 'configurations' is what the move list draws from, which option "
                      "'moves' leaves out: give it a weight, moves = { list = 1 }",
                      what);
    if (o->max_parts && !(o->weight[SS_MOVE_FREE] > 0) && !(o->weight[SS_MOVE_BLOCK] > 0))
        ss_lua_refuse(L,
                      "%s: option 'max_parts' is about the moves free and block, which option "
                      "'%s' leaves out",
                      what, ss_lua_is_given(L, table, "moves") ? "moves" : "configurations");
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

static void read_space(lua_State *L, int problem, int table, const char *what, const effort *e,
                       ss_lua_search_request *r)
{
    lua_newtable(L);
    r->kept = lua_gettop(L);
    read_moves(L, table, what, &r->options.space);
    read_configurations(L, problem, table, what, r);
    refuse_idle_space(L, table, what, &r->options.space);
    starts s = {.p = ss_lua_check(L, problem, &ss_lua_problem_type),
                .problem = problem,
                .strategies = r->kept,
                .seed = (int64_t)r->options.seed,
                .what = what};
    read_starts(L, &s, table, e);
    r->start = s.start;
    r->starts = s.n;
}

void ss_lua_search_read_space(lua_State *L, int problem, int table, const char *what,
                              ss_lua_search_request *r)
{
    effort none = {0};
    read_space(L, problem, table, what, &none, r);
}

void ss_lua_search_read(lua_State *L, int problem, int table, ss_searcher searcher,
                        const char *what, ss_lua_search_request *r)
{
    const ss_lua_problem *p = ss_lua_check(L, problem, &ss_lua_problem_type);
    *r = (ss_lua_search_request){.options = ss_search_options_start()};
    r->options.searcher = searcher;
    r->options.seed = ss_lua_seed(L);
    r->options.score.lower = p->options;
    effort e = read_effort(L, table, what);
    set_presets(&r->options, &e);
    read_plain(L, table, what, r);
    give_way(L, table, &r->options.space);
    read_space(L, problem, table, what, &e, r);
    set_budgets(L, table, &e, r->starts, &r->options);
    if (ss_lua_is_given(L, table, "files"))
        r->file = ss_lua_manifest_files(L, table, what, &r->files);
}
