/* lua_search_exhaustive.c - search.exhaustive: the optimum of a small space, and what proved it.
 *
 * It is one call, and so is its log: made, written and closed in it.
 */
#include <math.h>
#include <string.h>

#include <lauxlib.h>

#include "lua/lua_search.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "search/exhaustive.h"

enum { PATH = 200, MOST = 1 << 30 };

static const char WHAT[] = "search.exhaustive";

typedef struct request {
    ss_lua_search_request common; /* starts, moves and configurations are read as a search's */
    double seconds;
    int64_t simulations;
    unsigned bounds;
    bool progress;
} request;

static const ss_opt exhaustive_list[] = {
    {.name = "start",
     .kind = SS_OPT_VALUE,
     .help = "the strategy to be beaten: a strategy, a name or a path; data_parallel unless given"},
    {.name = "moves",
     .kind = SS_OPT_VALUE,
     .help = "what makes the space, as of a search; block unless given"},
    {.name = "max_parts",
     .kind = SS_OPT_COUNT,
     .at = offsetof(request, common.options.space.max_parts),
     .max = SS_MAX_PARTS,
     .help = "of an operator, by free and block; 0: as many as there are devices"},
    {.name = "configurations",
     .kind = SS_OPT_VALUE,
     .help =
         "what the move list stands for: { operator = { { degrees =, devices = }, ... }, ... }"},
    {.name = "bounds",
     .kind = SS_OPT_VALUE,
     .help = "list of those that may cut: path, work, bytes, symmetry; all unless given"},
    {.name = "seconds",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(request, seconds),
     .max = 1e7,
     .unit = SS_UNIT_SECONDS,
     .help = "at most; 0: no limit"},
    {.name = "simulations",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(request, simulations),
     .max = 9e15,
     .help = "strategies simulated at most; 0: no limit"},
    {.name = "memory",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(request, common.options.score.memory),
     .preset = SS_OPT_KEEP,
     .choices = "ignore|wall|penalty",
     .help = "what strategies that need more than a device has are, as of a search"},
    {.name = "penalty",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(request, common.options.score.penalty_s_per_byte),
     .preset = SS_OPT_KEEP,
     .max = 1,
     .help = "seconds for each byte too much, of all devices"},
    {.name = "log",
     .kind = SS_OPT_TEXT,
     .at = offsetof(request, common.log),
     .help = "path of an HDF5 file: every strategy that is simulated"},
    {.name = "files",
     .kind = SS_OPT_VALUE,
     .help = "texts by the names of their files, for the log: what the problem was made of"},
    {.name = "progress",
     .kind = SS_OPT_FLAG,
     .at = offsetof(request, progress),
     .help = "a line on a terminal: how much of the space is decided"},
    {0},
};

/* -- reading ---------------------------------------------------------------------------------- */

static void read_bounds(lua_State *L, request *r)
{
    char path[PATH];
    r->bounds = ss_exhaustive_options_start().bounds;
    if (ss_lua_push_option(L, 2, "bounds") != LUA_TNIL) {
        if (!lua_istable(L, -1))
            ss_lua_refuse(L, "%s: option 'bounds' should be a list of names, not %s", WHAT,
                          ss_lua_kind_of(L, -1));
        r->bounds = 0;
        for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, -1); i++) {
            lua_rawgeti(L, -1, i);
            ss_lua_name(path, sizeof path, "%s: option 'bounds[%d]'", WHAT, (int)i);
            r->bounds |= 1u << ss_lua_choice(L, -1, "path|work|bytes|symmetry", path);
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
}

static unsigned moves_of(const ss_space_options *o)
{
    unsigned moves = 0;
    for (int m = 0; m < SS_MOVES; m++)
        if (o->weight[m] > 0)
            moves |= 1u << m;
    return moves;
}

/* -- searching -------------------------------------------------------------------------------- */

typedef struct quiet {
    const ss_watch *watch;
} quiet;

static ss_status look_quietly(void *context, const char *what, double done, double whole,
                              ss_error *err)
{
    (void)what;
    (void)done;
    (void)whole;
    return ss_look_up(((const quiet *)context)->watch, NULL, 0, 0, err);
}

static void over(void *context)
{
    (void)context;
}

static void heeded(void *context)
{
    ss_look_heeded(((const quiet *)context)->watch);
}

static ss_status prove(const ss_lua_problem *p, const request *r, const ss_search_sink *sink,
                       const ss_watch *watch, ss_exhaustive_result *out, ss_error *err)
{
    ss_space *space = NULL;
    ss_alternatives all = {0};
    ss_exhaustive_options o = ss_exhaustive_options_start();
    const ss_strategy *start = r->common.start[0].strategy;
    o.lower = p->options;
    o.memory = r->common.options.score.memory;
    o.penalty_s_per_byte = r->common.options.score.penalty_s_per_byte;
    o.bounds = r->bounds;
    o.seconds = r->seconds;
    o.simulate = (uint64_t)r->simulations;
    const ss_space_options *moves = &r->common.options.space;
    ss_status s = ss_space_new(start, moves, &space, err);
    if (!s)
        s = ss_alternatives_of_space(space, moves_of(moves), start, &all, err);
    if (!s)
        s = ss_exhaustive(p->model, p->topology, &p->timer, &all, start, &o, sink, watch, out, err);
    if (!s)
        s = ss_costs_refuse_missing(p->costs, err);
    ss_alternatives_free(&all);
    ss_space_free(space);
    return s;
}

/* -- the log ---------------------------------------------------------------------------------- */

typedef struct texts {
    ss_text problem, options, limits;
} texts; /* {0} */

static ss_status write_texts(const ss_lua_problem *p, const request *r, texts *t, ss_error *err)
{
    char digits[SS_DOUBLE_TEXT];
    ss_status s = ss_lua_problem_options(p, &t->problem, err);
    ss_lua_search_write_exhaustive(&r->common, &t->options);
    ss_text_add(&t->options, "costs_hash = %016llx\n%s",
                (unsigned long long)ss_costs_hash(p->costs), ss_text_get(&t->problem));
    ss_text_add(&t->limits, "seconds = %s\nsimulations = %lld\nbounds =",
                ss_format_double(r->seconds, digits, sizeof digits), (long long)r->simulations);
    for (int i = 0; i < SS_BOUNDS; i++)
        if (r->bounds >> i & 1)
            ss_text_add(&t->limits, " %s", ss_bound_name((ss_bound)i));
    ss_text_add(&t->limits, "\n");
    if (!s)
        s = ss_text_status(&t->options, err);
    return s ? s : ss_text_status(&t->limits, err);
}

static void free_texts(texts *t)
{
    ss_text_free(&t->problem);
    ss_text_free(&t->options);
    ss_text_free(&t->limits);
}

/* Made when the search begins: a space that is refused replaces no older log.  A log that can be
 * written no more ends the search as a stop does, with the best so far. */
typedef struct writer {
    const char *path;
    ss_trajectory_inputs in;
    ss_trajectory *log; /* NULL: not yet, or not any more */
    ss_search_sink sink;
    ss_error *broken; /* why; its status is SS_OK while all is well */
} writer;

static ss_status heed_log(writer *w, ss_status s, const ss_error *err)
{
    if (!s)
        return SS_OK;
    *w->broken = *err;
    w->broken->status = s;
    return SS_ESTOPPED;
}

static ss_status write_begin(void *context, uint32_t chain, const ss_strategy *start, ss_time cost,
                             double beta_per_s, ss_error *err)
{
    writer *w = context;
    ss_status s = ss_trajectory_create(w->path, &w->in, &w->log, err);
    if (s)
        return s;
    w->sink = ss_trajectory_sink(w->log);
    return w->sink.begin(w->sink.context, chain, start, cost, beta_per_s, err);
}

static ss_status write_step(void *context, uint32_t chain, const ss_step *step, ss_error *err)
{
    writer *w = context;
    if (w->broken->status)
        return SS_ESTOPPED;
    return heed_log(w, w->sink.step(w->sink.context, chain, step, err), err);
}

static ss_status write_flush(void *context, ss_error *err)
{
    writer *w = context;
    if (w->broken->status)
        return SS_ESTOPPED;
    return heed_log(w, w->sink.flush(w->sink.context, err), err);
}

static ss_status write_end(void *context, uint32_t chain, ss_search_end why, ss_error *err)
{
    writer *w = context;
    if (!w->broken->status)
        (void)heed_log(w, w->sink.end(w->sink.context, chain, why, err), err);
    return SS_OK;
}

/* prove, and a log of it; what is in the log stays there whatever happens. */
static ss_status prove_in_log(const ss_lua_problem *p, const request *r, ss_manifest *manifest,
                              const ss_watch *watch, ss_exhaustive_result *out, ss_error *broken,
                              ss_error *err)
{
    texts t = {0};
    ss_status s = write_texts(p, r, &t, err);
    manifest->options = ss_text_get(&t.problem);
    writer w = {.path = r->common.log,
                .in = {.manifest = manifest,
                       .model = p->model,
                       .topology = p->topology,
                       .start = r->common.start,
                       .starts = 1,
                       .options = ss_text_get(&t.options),
                       .limits = ss_text_get(&t.limits)},
                .broken = broken};
    ss_search_sink sink = {&w, write_begin, write_step, write_flush, write_end};
    if (!s)
        s = prove(p, r, &sink, watch, out, err);
    if (w.log) {
        ss_error closing = {.status = SS_OK};
        ss_status closed = ss_trajectory_close(w.log, s ? NULL : out->best, &closing);
        if (!s && !broken->status)
            (void)heed_log(&w, closed, &closing);
    }
    free_texts(&t);
    return s;
}

/* -- what came of it -------------------------------------------------------------------------- */

/* "1.4e+21", or all digits of what has few. */
static void write_count(double value, char *text, size_t n)
{
    if (value < 1e9)
        ss_lua_name(text, n, "%.0f", value);
    else
        ss_lua_name(text, n, "%.3g", value);
}

static double size_of(const ss_exhaustive_result *r)
{
    return r->size == UINT64_MAX ? pow(10, r->log10_size) : (double)r->size;
}

static void write_page(const ss_exhaustive_result *r, double noise, const ss_lower_options *o,
                       ss_text *out)
{
    char a[SS_QUANTITY_TEXT], b[SS_QUANTITY_TEXT];
    if (!r->walled)
        ss_text_add(out, "%s %s%s\n", r->proven ? "optimum" : "best so far",
                    ss_format_time(r->cost, a, sizeof a),
                    r->proven ? ": no strategy of the space costs less" : "");
    else
        ss_text_add(out, "%s fits into memory, nor does the start, of %s\n",
                    r->proven ? "no strategy of the space" : "nothing that was tried so far",
                    ss_format_time(r->cost, a, sizeof a));
    if (!r->walled && !r->fits)
        ss_text_add(out, "  it needs more memory than there is\n");
    ss_lua_noise_say(noise, o, out);
    if (!r->proven)
        ss_text_add(out,
                    "  no strategy of the space costs less than %s; %.3g %% of it is decided\n",
                    ss_format_time(r->least, a, sizeof a), 100 * r->share);
    write_count(size_of(r), a, sizeof a);
    ss_text_add(
        out,
        "  space      %s strategies of %u configurations, %u of which no better strategy has\n", a,
        (unsigned)r->configurations, (unsigned)r->hopeless);
    ss_text_add(out, "  looked at  %llu partial strategies, %llu whole ones simulated, in %s\n",
                (unsigned long long)r->nodes, (unsigned long long)r->simulated,
                ss_format_quantity(r->seconds, SS_UNIT_SECONDS, a, sizeof a));
    for (int i = 0; i < SS_BOUNDS; i++) {
        write_count(r->inside[i], a, sizeof a);
        ss_lua_name(b, sizeof b, "%llu", (unsigned long long)r->cut[i]);
        if (r->cut[i])
            ss_text_add(out, "  %-9s  left out %s strategies, in %s subtrees\n",
                        ss_bound_name((ss_bound)i), a, b);
    }
}

static void push_by_bound(lua_State *L, const ss_exhaustive_result *r, bool inside)
{
    lua_createtable(L, 0, SS_BOUNDS);
    for (int i = 0; i < SS_BOUNDS; i++)
        ss_lua_set_count(L, ss_bound_name((ss_bound)i), inside ? r->inside[i] : (double)r->cut[i]);
    ss_lua_strict_row(L, "table by bound", NULL);
}

/* Of the result without its strategy; leaves a table on the stack. */
static void push_proof(lua_State *L, const ss_exhaustive_result *r, double noise,
                       const ss_lower_options *o, const ss_error *broken)
{
    lua_createtable(L, 0, 21);
    ss_lua_set_time(L, "cost", r->cost);
    ss_lua_set_number(L, "noise", noise);
    ss_lua_set_flag(L, "better", r->better);
    ss_lua_set_flag(L, "fits", r->fits);
    ss_lua_set_flag(L, "proven", r->proven);
    ss_lua_set_time(L, "least", r->least);
    ss_lua_set_count(L, "size", size_of(r));
    ss_lua_set_count(L, "nodes", (double)r->nodes);
    ss_lua_set_count(L, "simulated", (double)r->simulated);
    push_by_bound(L, r, false);
    lua_setfield(L, -2, "cut");
    push_by_bound(L, r, true);
    lua_setfield(L, -2, "inside");
    ss_lua_set_integer(L, "configurations", r->configurations);
    ss_lua_set_integer(L, "hopeless", r->hopeless);
    ss_lua_set_integer(L, "symmetries", r->symmetries);
    ss_lua_set_number(L, "share", r->share);
    ss_lua_set_number(L, "seconds", r->seconds);
    if (broken->status) {
        ss_lua_push_raised(L, broken);
        lua_setfield(L, -2, "broken");
    }
    ss_text *text = ss_lua_text_new(L);
    write_page(r, noise, o, text);
    if (broken->status)
        ss_text_add(text, "  the log could not be written any further, which ended the search\n");
    ss_lua_text_push(L, text);
    lua_setfield(L, -3, "text");
    lua_pop(L, 1);
    ss_lua_strict_row(L, "proof", "broken");
}

static void read_request(lua_State *L, request *r)
{
    ss_lua_opts(L, 2, exhaustive_list, WHAT, r);
    read_bounds(L, r);
    ss_space_options *space = &r->common.options.space;
    memset(space->weight, 0, sizeof space->weight);
    space->weight[SS_MOVE_BLOCK] = 1;
    ss_lua_search_read_space(L, 1, 2, WHAT, &(ss_lua_effort){0}, &r->common);
    if (r->common.starts != 1)
        ss_lua_refuse(L, "%s: option 'start' should be one strategy", WHAT);
    if (ss_lua_is_given(L, 2, "penalty") && r->common.options.score.memory != SS_MEMORY_PENALTY)
        ss_lua_refuse(L, "%s: option 'penalty' goes with memory = \"penalty\"", WHAT);
    if (ss_lua_is_given(L, 2, "files")) {
        if (!r->common.log)
            ss_lua_refuse(L, "%s: option 'files' is for a log: log = \"run.h5\"", WHAT);
        r->common.file = ss_lua_manifest_files(L, 2, WHAT, &r->common.files);
    }
}

/* search.exhaustive(problem, options) -> strategy, proof */
int ss_lua_search_exhaustive(lua_State *L)
{
    const ss_lua_problem *p = ss_lua_check(L, 1, &ss_lua_problem_type);
    request r = {.common = {.options = ss_search_options_start()}};
    lua_settop(L, 2);
    read_request(L, &r);
    ss_manifest manifest = {.file = r.common.file, .files = r.common.files};
    ss_lua_manifest(L, &manifest);
    /* the strategy's box comes first: what it is to hold has no owner in between */
    ss_lua_strategy_push_copy(L, 1, r.common.start[0].strategy, "exhaustive");
    ss_lua_strategy *best = ((ss_lua_box *)lua_touserdata(L, -1))->object;

    ss_error err, broken = {.status = SS_OK};
    ss_exhaustive_result result = {0};
    const ss_watch *host = ss_lua_watch(L);
    quiet q = {host};
    ss_watch hidden = {.context = &q, .look = look_quietly, .over = over, .heeded = heeded};
    const ss_watch *watch = host && !r.progress ? &hidden : host;
    ss_status s = r.common.log ? prove_in_log(p, &r, &manifest, watch, &result, &broken, &err)
                               : prove(p, &r, NULL, watch, &result, &err);
    if (!s && ss_look_up(host, NULL, 0, 0, NULL) == SS_ESTOPPED)
        ss_look_heeded(host);
    ss_look_away(host);
    double noise = 0;
    if (!s)
        s = ss_lua_noise_of(p, result.best, NULL, &noise, &err);
    if (s) {
        ss_exhaustive_result_free(&result);
        return ss_lua_raise(L, &err);
    }

    ss_strategy_free(best->strategy);
    best->strategy = result.best;
    push_proof(L, &result, noise, &p->options, &broken);
    return 2;
}
