/* lua_search.c - soapstone.search: searches for a strategy that costs less, from a script.
 *
 * A run is one call: chains work on threads of their own, and none of them knows of Lua.  The log is
 * open from the making of a search to the end of its first run, and again during each later one, so
 * that a script may draw it when a run is over.
 */
#include <config.h>

#include <math.h>
#include <string.h>

#include <lauxlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "lua/lua_search.h"
#include "lua/state.h"
#include "lua/strict.h"

enum { BEST = 3 /* a user value that no hold takes: the best's box */ };
enum { NAME = 160, LINE = 240 };

static ss_lua_search *check(lua_State *L, int arg)
{
    return ss_lua_check(L, arg, &ss_lua_search_type);
}

static const ss_lua_problem *problem_of(lua_State *L, int index)
{
    const ss_lua_box *box = lua_touserdata(L, index);
    return box->holds[SS_LUA_HOLD_PROBLEM]->object;
}

/* -- the log ---------------------------------------------------------------------------------- */

static ss_trajectory_inputs inputs_of(ss_lua_search *s, const ss_lua_problem *p)
{
    ss_text_clear(&s->limits_text);
    ss_lua_search_write_limits(&s->options, &s->limits_text);
    return (ss_trajectory_inputs){.manifest = &s->manifest,
                                  .model = p->model,
                                  .topology = p->topology,
                                  .start = s->start,
                                  .starts = s->starts,
                                  .options = ss_text_get(&s->options_text),
                                  .limits = ss_text_get(&s->limits_text),
                                  .seed = s->options.seed};
}

static ss_status open_log(ss_lua_search *s, const ss_lua_problem *p, bool resume, ss_error *err)
{
    ss_trajectory_inputs in = inputs_of(s, p);
    ss_status status = ss_text_status(&s->limits_text, err);
    if (status)
        return status;
    return resume ? ss_trajectory_resume(s->log_path, &in, &s->log, err)
                  : ss_trajectory_create(s->log_path, &in, &s->log, err);
}

static ss_status close_log(ss_lua_search *s, bool with_best, ss_error *err)
{
    ss_trajectory *log = s->log;
    s->log = NULL;
    if (!log)
        return SS_OK;
    return ss_trajectory_close(log, with_best ? ss_search_best(s->search, NULL) : NULL, err);
}

/* -- making one ------------------------------------------------------------------------------- */

static void free_search(void *object)
{
    ss_lua_search *s = object;
    if (!s)
        return;
    ss_error err;
    (void)close_log(s, false, &err); /* nobody is left to be told */
    ss_search_free(s->search);
    for (uint32_t i = 0; i < s->starts; i++)
        ss_strategy_free((ss_strategy *)(uintptr_t)s->start[i].strategy);
    ss_free(s->start);
    ss_free(s->best);
    ss_free(s->log_path);
    ss_text_free(&s->problem_text);
    ss_text_free(&s->options_text);
    ss_text_free(&s->limits_text);
    ss_arena_free(&s->arena);
    ss_free(s);
}

static const char *keep_text(ss_lua_search *s, const char *text, ss_status *status, ss_error *err)
{
    size_t n = strlen(text) + 1;
    char *copy = *status ? NULL : ss_arena_take(&s->arena, n);
    if (copy)
        memcpy(copy, text, n);
    else if (!*status)
        *status = ss_fail_memory(err, "a search", n);
    return copy;
}

static ss_status keep_starts(ss_lua_search *s, const ss_lua_search_request *r, ss_error *err)
{
    ss_status status = SS_OK;
    s->start = ss_alloc_zeroed(r->starts, sizeof *s->start);
    s->best = ss_alloc_zeroed(r->starts, sizeof *s->best);
    if (!s->start || !s->best)
        return ss_fail_memory(err, "the starts of a search", r->starts * sizeof *s->start);
    for (uint32_t i = 0; i < r->starts && !status; i++) {
        ss_strategy *copy = NULL;
        status = ss_strategy_copy(r->start[i].strategy, &copy, err);
        s->start[i].strategy = copy;
        s->start[i].name = keep_text(s, r->start[i].name, &status, err);
        s->starts = i + 1;
    }
    return status;
}

static ss_status keep_manifest(ss_lua_search *s, const ss_manifest *m, ss_error *err)
{
    ss_status status = SS_OK;
    ss_manifest_file *file = ss_arena_take(&s->arena, (m->files + (size_t)1) * sizeof *file);
    if (!file)
        return ss_fail_memory(err, "a search", m->files * sizeof *file);
    for (uint32_t i = 0; i < m->files; i++) {
        file[i].name = keep_text(s, m->file[i].name, &status, err);
        file[i].text = keep_text(s, m->file[i].text, &status, err);
    }
    s->manifest = (ss_manifest){.version = m->version, /* a constant */
                                .command = keep_text(s, m->command, &status, err),
                                .script_name = keep_text(s, m->script_name, &status, err),
                                .script_text = keep_text(s, m->script_text, &status, err),
                                .seed = m->seed,
                                .file = file,
                                .files = m->files};
    return status;
}

static ss_status keep_texts(ss_lua_search *s, const ss_lua_problem *p,
                            const ss_lua_search_request *r, ss_error *err)
{
    ss_status status = ss_lua_problem_options(p, &s->problem_text, err);
    s->manifest.options = ss_text_get(&s->problem_text);
    ss_lua_search_write_options(r, &s->options_text);
    ss_text_add(&s->options_text, "costs_hash = %016llx\n%s",
                (unsigned long long)ss_costs_hash(p->costs), s->manifest.options);
    if (!status)
        status = ss_text_status(&s->options_text, err);
    ss_lua_search_write_limits(&s->options, &s->limits_text);
    return status ? status : ss_text_status(&s->limits_text, err);
}

static ss_status keep_all(ss_lua_search *s, const ss_lua_problem *p, const ss_lua_search_request *r,
                          const ss_manifest *manifest, ss_error *err)
{
    ss_status status = keep_starts(s, r, err);
    if (!status)
        status = keep_manifest(s, manifest, err);
    if (!status)
        status = keep_texts(s, p, r, err);
    if (!status && r->log && !(s->log_path = ss_strdup(r->log)))
        status = ss_fail_memory(err, "a search", strlen(r->log));
    return status;
}

static ss_status go_on(ss_lua_search *s, ss_error *err)
{
    ss_search_past past = ss_trajectory_past(s->log);
    return ss_search_resume(s->search, &past, err);
}

static ss_status make_search(const ss_lua_problem *p, const ss_lua_search_request *r,
                             const ss_manifest *manifest, ss_lua_search **out, ss_error *err)
{
    ss_lua_search *s = ss_alloc_zeroed(1, sizeof *s);
    if (!s)
        return ss_fail_memory(err, "a search", sizeof *s);
    s->options = r->options;
    ss_status status = keep_all(s, p, r, manifest, err);
    if (!status)
        status = ss_search_new(p->model, p->topology, p->costs, s->start, s->starts, &s->options,
                               &s->search, err);
    s->options.space.list = NULL; /* the script's */
    if (!status && s->log_path)
        status = open_log(s, p, r->resume, err);
    if (!status && r->resume)
        status = go_on(s, err);
    if (status) {
        free_search(s);
        return status;
    }
    *out = s;
    return SS_OK;
}

/* search.SEARCHER(problem, options) -> search; upvalue: the searcher */
static int search_new(lua_State *L)
{
    ss_searcher searcher = (ss_searcher)lua_tointeger(L, lua_upvalueindex(1));
    char what[NAME];
    ss_lua_name(what, sizeof what, "search.%s", ss_searcher_name(searcher));
    const ss_lua_problem *p = ss_lua_check(L, 1, &ss_lua_problem_type);
    lua_settop(L, 2);
    ss_lua_search_request r;
    ss_lua_search_read(L, 1, 2, searcher, what, &r);
    ss_manifest manifest = {.file = r.file, .files = r.files};
    ss_lua_manifest(L, &manifest);
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_search_type);
    ss_lua_box_hold(L, lua_gettop(L), SS_LUA_HOLD_PROBLEM, 1);

    ss_error err;
    ss_lua_search *s = NULL;
    if (make_search(p, &r, &manifest, &s, &err))
        return ss_lua_raise(L, &err);

    box->object = s;
    return 1;
}

/* -- running ---------------------------------------------------------------------------------- */

/* Between the search and whoever watches: what the line says. */
typedef struct sight {
    const ss_lua_search *s;
    const ss_watch *watch; /* of the program */
    double began, share;   /* s; done before this run */
    uint64_t steps;        /* likewise */
    bool shows;
} sight;

static uint64_t steps_of(const ss_lua_search *s)
{
    uint64_t steps = 0;
    for (uint32_t i = 0; i < s->starts; i++) {
        ss_search_standing at;
        ss_search_chain(s->search, i, &at);
        steps += at.steps;
    }
    return steps;
}

static ss_status look(void *context, const char *what, double done, double whole, ss_error *err)
{
    sight *g = context;
    char line[LINE];
    (void)what;
    if (!g->shows)
        return ss_look_up(g->watch, NULL, 0, 0, err);
    double share = whole > 0 ? done / whole : NAN, passed = ss_seconds_now() - g->began;
    if (g->share < 0)
        g->share = whole > 0 ? share : 0;
    double rate = passed > 0 ? (double)(steps_of(g->s) - g->steps) / passed : 0;
    double left = share > g->share ? passed / (share - g->share) * (1 - share) : NAN;
    ss_lua_search_line(g->s, share, rate, left, line, sizeof line);
    return ss_look_up(g->watch, line, 0, 0, err);
}

static void over(void *context)
{
    (void)context;
}

static bool was_stopped(const ss_lua_search *s)
{
    for (uint32_t i = 0; i < s->starts; i++) {
        ss_search_standing at;
        ss_search_chain(s->search, i, &at);
        if (at.end == SS_END_STOPPED)
            return true;
    }
    return false;
}

static ss_status run(ss_lua_search *s, const ss_watch *host, bool shows, ss_error *err)
{
    sight g = {s, host, ss_seconds_now(), -1, steps_of(s), shows};
    ss_watch watch = {.context = &g, .look = look, .over = over};
    ss_search_sink sink = {0};
    if (s->log)
        sink = ss_trajectory_sink(s->log);
    ss_status status = ss_search_run(s->search, s->log ? &sink : NULL, host ? &watch : NULL, err);
    s->seconds += ss_seconds_now() - g.began;
    s->interrupted = was_stopped(s);
    /* one that came when all was done is heeded as well */
    if (!status && ss_look_up(host, NULL, 0, 0, NULL) == SS_ESTOPPED)
        s->interrupted = true;
    if (s->interrupted)
        ss_look_heeded(host);
    ss_look_away(host);
    s->log_broken = status && s->log;
    ss_error second;
    ss_status closed = close_log(s, true, status ? &second : err);
    return status ? status : closed;
}

typedef struct run_options {
    bool progress;
} run_options;

static const ss_opt run_list[] = {
    {.name = "progress",
     .kind = SS_OPT_FLAG,
     .at = offsetof(run_options, progress),
     .help = "a line on a terminal: the best so far, proposals per second, what is left"},
    {0},
};

/* search:run { progress = } -> the search */
static int search_run(lua_State *L)
{
    ss_lua_search *s = check(L, 1);
    run_options o;
    ss_lua_opts(L, 2, run_list, "search:run", &o);
    if (s->log_broken)
        return ss_lua_refuse(L,
                             "search:run: the log %s could not be written, and ends before the "
                             "search does: make a new search with resume = true, which goes on "
                             "where the log ends",
                             s->log_path);

    ss_error err;
    if (s->log_path && !s->log && open_log(s, problem_of(L, 1), true, &err))
        return ss_lua_raise(L, &err);
    if (run(s, ss_lua_watch(L), o.progress, &err))
        return ss_lua_raise(L, &err);

    lua_pushnil(L);
    lua_setiuservalue(L, 1, BEST);
    lua_settop(L, 1);
    return 1;
}

typedef struct more_options {
    int64_t proposals;
    double seconds;
} more_options;

static const ss_opt more_list[] = {
    {.name = "proposals",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(more_options, proposals),
     .max = 4e9,
     .help = "of each chain, where they are limited"},
    {.name = "seconds",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(more_options, seconds),
     .max = 1e7,
     .unit = SS_UNIT_SECONDS,
     .help = "of each chain, where they are limited"},
    {0},
};

/* search:more { proposals =, seconds = } -> the search */
static int search_more(lua_State *L)
{
    ss_lua_search *s = check(L, 1);
    more_options o;
    ss_lua_opts(L, 2, more_list, "search:more", &o);
    if (o.proposals && !s->options.proposals)
        return ss_lua_refuse(L, "search:more: the proposals of this search have no limit");
    if (o.seconds > 0 && !(s->options.seconds > 0))
        return ss_lua_refuse(L, "search:more: the seconds of this search have no limit");
    if (!o.proposals && !(o.seconds > 0))
        return ss_lua_refuse(L,
                             "search:more: how many more: { proposals = 1000 }, { seconds = 10 }");

    s->options.proposals += (uint64_t)o.proposals;
    s->options.seconds += o.seconds;
    ss_search_more(s->search, (uint64_t)o.proposals, o.seconds);
    lua_settop(L, 1);
    return 1;
}

/* -- what it found ---------------------------------------------------------------------------- */

/* "mcmc from expert_rnn" */
static int push_strategy(lua_State *L, int index, const ss_strategy *best, uint32_t chain)
{
    const ss_lua_search *s = check(L, index);
    char name[NAME];
    ss_lua_name(name, sizeof name, "%s from %.100s", ss_searcher_name(s->options.searcher),
                s->start[chain].name);
    ss_lua_box_push_held(L, index, SS_LUA_HOLD_PROBLEM);
    ss_lua_strategy_push_copy(L, lua_gettop(L), best, name);
    return 1;
}

/* One box until the next run: search.best == search.best, and names that are given to it stay. */
static int get_best(lua_State *L, int index)
{
    const ss_lua_search *s = check(L, index);
    if (lua_getiuservalue(L, index, BEST) != LUA_TNIL)
        return 1;
    uint32_t chain;
    const ss_strategy *best = ss_search_best(s->search, &chain);
    push_strategy(L, index, best, chain);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, index, BEST);
    return 1;
}

/* What was told of a chain may be older than its best, where a log could not be written. */
static ss_status look_at(ss_lua_search *s, uint32_t chain, const ss_search_standing *at,
                         ss_scorer *scorer, ss_error *err)
{
    ss_score score;
    ss_status status = ss_scorer_start(scorer, ss_search_best_of(s->search, chain), &score, err);
    bool costs_more =
        s->options.score.memory == SS_MEMORY_PENALTY && !status && at->best > score.cost;
    if (!status)
        s->best[chain] = (ss_lua_search_best){.known = true,
                                              .step = at->best_step,
                                              .step_time = score.cost,
                                              .penalty = costs_more ? at->best - score.cost : 0,
                                              .fits = !score.infeasible};
    return status;
}

ss_status ss_lua_search_look(ss_lua_search *s, const ss_lua_problem *p, ss_error *err)
{
    ss_score_options o = s->options.score;
    ss_scorer *scorer = NULL;
    ss_status status = SS_OK;
    o.way = SS_SCORE_FULL;
    o.early_stop = o.count_changed = false;
    o.memory = SS_MEMORY_PENALTY; /* of nothing: it is looked at, and adds no time */
    o.penalty_s_per_byte = 0;
    for (uint32_t i = 0; i < s->starts && !status; i++) {
        ss_search_standing at;
        ss_search_chain(s->search, i, &at);
        if (s->best[i].known && s->best[i].step == at.best_step)
            continue;
        if (!scorer)
            status = ss_scorer_new(p->model, p->topology, p->costs, &o, &scorer, err);
        if (!status)
            status = look_at(s, i, &at, scorer, err);
    }
    ss_scorer_free(scorer);
    return status;
}

/* The search at `index`, whose bests were looked at. */
static ss_lua_search *check_looked(lua_State *L, int index)
{
    ss_lua_search *s = check(L, index);
    ss_error err;
    if (ss_lua_search_look(s, problem_of(L, index), &err))
        ss_lua_raise(L, &err);
    return s;
}

static const ss_lua_search_best *best_of_all(const ss_lua_search *s)
{
    uint32_t chain;
    ss_search_best(s->search, &chain);
    return &s->best[chain];
}

static int get_cost(lua_State *L, int index)
{
    ss_search_standing at;
    const ss_lua_search *s = check(L, index);
    uint32_t chain;
    ss_search_best(s->search, &chain);
    ss_search_chain(s->search, chain, &at);
    lua_pushnumber(L, ss_time_seconds(at.best));
    return 1;
}

static int get_step_time(lua_State *L, int index)
{
    lua_pushnumber(L, ss_time_seconds(best_of_all(check_looked(L, index))->step_time));
    return 1;
}

static int get_penalty(lua_State *L, int index)
{
    lua_pushnumber(L, ss_time_seconds(best_of_all(check_looked(L, index))->penalty));
    return 1;
}

static int get_fits(lua_State *L, int index)
{
    lua_pushboolean(L, best_of_all(check_looked(L, index))->fits);
    return 1;
}

static int get_interrupted(lua_State *L, int index)
{
    lua_pushboolean(L, check(L, index)->interrupted);
    return 1;
}

static int get_proposals(lua_State *L, int index)
{
    lua_pushinteger(L, (lua_Integer)steps_of(check(L, index)));
    return 1;
}

static int get_seconds(lua_State *L, int index)
{
    lua_pushnumber(L, check(L, index)->seconds);
    return 1;
}

static int get_searcher(lua_State *L, int index)
{
    lua_pushstring(L, ss_searcher_name(check(L, index)->options.searcher));
    return 1;
}

static int get_problem(lua_State *L, int index)
{
    ss_lua_box_push_held(L, index, SS_LUA_HOLD_PROBLEM);
    return 1;
}

static int get_options(lua_State *L, int index)
{
    ss_lua_search *s = check(L, index);
    ss_text_clear(&s->limits_text);
    ss_lua_search_write_limits(&s->options, &s->limits_text);
    lua_pushfstring(L, "%s%s", ss_text_get(&s->options_text), ss_text_get(&s->limits_text));
    return 1;
}

static void push_chain(lua_State *L, const ss_lua_search *s, uint32_t i)
{
    ss_search_standing at;
    ss_search_chain(s->search, i, &at);
    lua_createtable(L, 0, 21);
    ss_lua_set_text(L, "name", s->start[i].name);
    ss_lua_set_time(L, "start", at.start);
    ss_lua_set_time(L, "current", at.current);
    ss_lua_set_time(L, "best", at.best);
    ss_lua_set_time(L, "penalty", s->best[i].penalty);
    ss_lua_set_integer(L, "best_at", (lua_Integer)at.best_step);
    ss_lua_set_number(L, "best_seconds", at.best_seconds);
    ss_lua_set_integer(L, "proposals", (lua_Integer)at.steps);
    ss_lua_set_integer(L, "descended", (lua_Integer)at.descended);
    ss_lua_set_integer(L, "accepted", (lua_Integer)at.accepted);
    ss_lua_set_integer(L, "stopped", (lua_Integer)at.stopped);
    ss_lua_set_integer(L, "infeasible", (lua_Integer)at.infeasible);
    ss_lua_set_integer(L, "fell_back", (lua_Integer)at.fell_back);
    ss_lua_set_number(L, "seconds", at.seconds);
    ss_lua_set_number(L, "visited_share", at.visited_share);
    ss_lua_set_number(L, "changed_share", at.changed_share);
    ss_lua_set_number(L, "beta", at.beta_per_s);
    ss_lua_set_flag(L, "fits", s->best[i].fits);
    if (at.end)
        ss_lua_set_text(L, "ended", ss_search_end_name(at.end));
    ss_lua_strict_row(L, "chain of a search", "ended");
}

static int get_chains(lua_State *L, int index)
{
    const ss_lua_search *s = check_looked(L, index);
    lua_createtable(L, (int)s->starts, 0);
    for (uint32_t i = 0; i < s->starts; i++) {
        push_chain(L, s, i);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    ss_lua_strict_list(L, "chain");
    return 1;
}

/* The chain that argument 2 says, by its name or number; from 0. */
static uint32_t read_chain(lua_State *L, const ss_lua_search *s, const char *what)
{
    char path[NAME];
    uint32_t chain = 0;
    if (lua_type(L, 2) != LUA_TSTRING) {
        ss_lua_name(path, sizeof path, "%s: the chain", what);
        return (uint32_t)ss_lua_integer(L, 2, 1, s->starts, path) - 1;
    }
    const char **names = lua_newuserdatauv(L, s->starts * sizeof *names, 0);
    for (uint32_t i = 0; i < s->starts; i++)
        names[i] = s->start[i].name;
    while (chain < s->starts && strcmp(names[chain], lua_tostring(L, 2)) != 0)
        chain++;
    ss_lua_name(path, sizeof path, "%s: there is no chain", what);
    if (chain == s->starts)
        ss_lua_unknown(L, path, lua_tostring(L, 2), names, s->starts);
    return chain;
}

/* search:best_of(chain) -> strategy */
static int search_best_of(lua_State *L)
{
    const ss_lua_search *s = check(L, 1);
    uint32_t chain = read_chain(L, s, "search:best_of");
    return push_strategy(L, 1, ss_search_best_of(s->search, chain), chain);
}

/* search:start_of(chain) -> strategy */
static int search_start_of(lua_State *L)
{
    const ss_lua_search *s = check(L, 1);
    uint32_t chain = read_chain(L, s, "search:start_of");
    ss_lua_box_push_held(L, 1, SS_LUA_HOLD_PROBLEM);
    return ss_lua_strategy_push_copy(L, lua_gettop(L), s->start[chain].strategy,
                                     s->start[chain].name);
}

/* search:json() -> text */
static int search_json(lua_State *L)
{
    const ss_lua_search *s = check_looked(L, 1);
    ss_text *text = ss_lua_text_new(L);
    ss_lua_search_json(s, text);
    return ss_lua_text_push(L, text);
}

static int search_text(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_search_type.name);
    if (box->closed || !box->object) {
        lua_pushliteral(L, "search (closed)");
        return 1;
    }
    const ss_lua_search *s = check_looked(L, 1);
    ss_text *text = ss_lua_text_new(L);
    ss_lua_search_page(s, text);
    return ss_lua_text_push(L, text);
}

static const ss_lua_field search_fields[] = {
    {"best", get_best, "strategy: the best of all chains"},
    {"cost", get_cost, "seconds: its step time, with what memory adds"},
    {"step_time", get_step_time, "seconds: its step time alone"},
    {"penalty", get_penalty, "seconds: what memory adds to its cost"},
    {"fits", get_fits, "whether no device has too little memory for it"},
    {"chains", get_chains, "list: name, start, current, best, proposals, accepted, ended, ..."},
    {"proposals", get_proposals, "of all chains so far"},
    {"seconds", get_seconds, "that its runs took"},
    {"interrupted", get_interrupted, "whether the last run was stopped by Ctrl-C"},
    {"searcher", get_searcher, "mcmc, greedy, annealing or random"},
    {"options", get_options, "text: what was in force, a line each"},
    {"problem", get_problem, "what it searches a strategy for"},
    {NULL, NULL, NULL},
};

static const ss_lua_method search_methods[] = {
    {"run", search_run, "({ progress = }) -> search: until every chain has ended"},
    {"more", search_more, "({ proposals =, seconds = }) -> search: raises the limits"},
    {"best_of", search_best_of, "(chain) -> strategy: the best of one chain"},
    {"start_of", search_start_of, "(chain) -> strategy: where that chain began"},
    {"json", search_json, "() -> text: everything that the page says"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_search_type = {
    .name = "soapstone.search",
    .noun = "search",
    .free = free_search,
    .fields = search_fields,
    .methods = search_methods,
    .text = search_text,
};

void ss_lua_open_search(lua_State *L)
{
    ss_lua_type_register(L, &ss_lua_search_type);
    ss_lua_push_module(L, "search", NULL);
    for (int k = 0; k < SS_SEARCHERS; k++) {
        lua_pushinteger(L, k);
        ss_lua_module_add(L, "search", ss_searcher_name((ss_searcher)k), search_new);
    }
    lua_pushnil(L);
    ss_lua_module_add(L, "search", "exhaustive", ss_lua_search_exhaustive);
}
