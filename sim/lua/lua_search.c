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

enum { NAME = 160, LINE = 240 };

static ss_lua_search *check(lua_State *L, int arg)
{
    return ss_lua_check(L, arg, &ss_lua_search_type);
}

const ss_lua_problem *ss_lua_search_problem(lua_State *L, int index)
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
    s->manifest.chance = p->chance; /* the search holds the problem */
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

uint64_t ss_lua_search_steps(const ss_lua_search *s)
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
    double rate = passed > 0 ? (double)(ss_lua_search_steps(g->s) - g->steps) / passed : 0;
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
    sight g = {s, host, ss_seconds_now(), -1, ss_lua_search_steps(s), shows};
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
    if (s->log_path && !s->log && open_log(s, ss_lua_search_problem(L, 1), true, &err))
        return ss_lua_raise(L, &err);
    if (run(s, ss_lua_watch(L), o.progress, &err))
        return ss_lua_raise(L, &err);

    lua_pushnil(L);
    lua_setiuservalue(L, 1, SS_LUA_SEARCH_BEST);
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

/* -- the type --------------------------------------------------------------------------------- */

static const ss_lua_method search_methods[] = {
    {"run", search_run, "({ progress = }) -> search: until every chain has ended"},
    {"more", search_more, "({ proposals =, seconds = }) -> search: raises the limits"},
    {"best_of", ss_lua_search_best_of, "(chain) -> strategy: the best of one chain"},
    {"start_of", ss_lua_search_start_of, "(chain) -> strategy: where that chain began"},
    {"json", ss_lua_search_json, "() -> text: everything that the page says"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_search_type = {
    .name = "soapstone.search",
    .noun = "search",
    .free = free_search,
    .fields = ss_lua_search_fields,
    .methods = search_methods,
    .text = ss_lua_search_text,
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
