/* lua_dag.c - soapstone.dag: bare task graphs from JSON, for comparing simulators. */
#include <string.h>

#include <lauxlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "io/dag.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"

/* What is owned while a file is read and run: in Lua's hands, so that nothing is lost if it raises.
 */
typedef struct run {
    ss_dag dag;
    ss_engine *engine;
    const ss_watch *watch;
} run;

static const char RUN_TYPE[] = "soapstone.run of a task graph";

static int run_close(lua_State *L)
{
    run *r = luaL_checkudata(L, 1, RUN_TYPE);
    ss_dag_free(&r->dag);
    ss_engine_free(r->engine);
    *r = (run){0};
    return 0;
}

static run *push_run(lua_State *L)
{
    run *r = lua_newuserdatauv(L, sizeof *r, 0);
    *r = (run){.watch = ss_lua_watch(L)};
    if (luaL_newmetatable(L, RUN_TYPE)) {
        lua_pushcfunction(L, run_close);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return r;
}

static const ss_opt dag_list[] = {
    {.name = "links",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(ss_dag_options, mode),
     .choices = "fifo-hop|fifo-pipe|fifo-path|shared",
     .help = "what a transfer does to its links"},
    {.name = "segment",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(ss_dag_options, segment_bytes),
     .max = 4e18,
     .unit = SS_UNIT_BYTES,
     .help = "messages are cut into pieces of this size; 0: never; fifo-hop and "
             "fifo-pipe only"},
    {.name = "max_segments",
     .kind = SS_OPT_COUNT,
     .at = offsetof(ss_dag_options, max_segments),
     .preset = 16,
     .min = 1,
     .max = SS_SEGMENTS_MAX,
     .help = "and into no more than so many"},
    {0},
};

/* Reads, runs, and moves the task graph into a result. */
static ss_status simulate(run *r, const char *path, const ss_dag_options *o, ss_lua_result *out,
                          ss_error *err)
{
    ss_status s = ss_dag_read(path, o, &r->dag, err);
    if (!s)
        s = ss_engine_new(&r->engine, err);
    if (s)
        return s;
    ss_engine_set_watch(r->engine, r->watch);
    s = ss_result_of_tasks(&r->dag.tasks, r->engine, &out->result, err);
    ss_look_away(r->watch);
    r->dag.tasks = (ss_tasks){0}; /* the result's now, also on failure */
    if (s)
        return ss_fail_in(err, "%s", path);
    out->name = ss_strdup(path);
    return out->name ? SS_OK : ss_fail_memory(err, "the name of a task graph", strlen(path));
}

/* When each task of the file was done: with the last of its segments. */
static void push_finishes(lua_State *L, const ss_dag *d, const ss_result *r)
{
    lua_createtable(L, (int)d->n, 0);
    for (uint32_t i = 0; i < d->n; i++) {
        ss_time last = 0;
        for (uint32_t k = 0; k < d->count[i]; k++) {
            ss_time finish =
                ss_timeline_finish(&r->lowered->tasks, &r->timeline, (ss_task){d->first[i].i + k});
            last = finish > last ? finish : last;
        }
        lua_pushnumber(L, ss_time_seconds(last));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* dag.simulate(path, { links =, segment =, max_segments = }) -> result, list of finish times */
static int dag_simulate(lua_State *L)
{
    const char *path = ss_lua_text(L, 1, "dag.simulate: the path");
    ss_dag_options o;
    ss_lua_opts(L, 2, dag_list, "dag.simulate", &o);
    ss_lua_result *result = ss_lua_result_push_empty(L);
    ss_lua_box *box = lua_touserdata(L, -1);
    run *r = push_run(L);

    ss_error err;
    if (simulate(r, path, &o, result, &err)) {
        box->closed = true; /* nothing to be seen of it */
        return ss_lua_raise(L, &err);
    }

    push_finishes(L, &r->dag, result->result);
    lua_remove(L, -2);
    return 2;
}

/* -- random graphs, to measure with ----------------------------------------------------------- */

typedef struct random_options {
    uint32_t tasks, devices, links, predecessors;
    int64_t seed;
} random_options;

static const ss_opt random_list[] = {
    {.name = "tasks",
     .kind = SS_OPT_COUNT,
     .at = offsetof(random_options, tasks),
     .preset = 10000,
     .min = 1,
     .max = 1e8,
     .help = "how many; one in four is a transfer"},
    {.name = "devices",
     .kind = SS_OPT_COUNT,
     .at = offsetof(random_options, devices),
     .preset = 64,
     .min = 1,
     .max = 1e6,
     .help = "how many"},
    {.name = "links",
     .kind = SS_OPT_COUNT,
     .at = offsetof(random_options, links),
     .preset = 128,
     .min = 1,
     .max = 1e6,
     .help = "how many"},
    {.name = "predecessors",
     .kind = SS_OPT_COUNT,
     .at = offsetof(random_options, predecessors),
     .preset = 3,
     .max = 64,
     .help = "of each task, among the thousand before it"},
    {.name = "seed",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(random_options, seed),
     .max = 0x1p53,
     .help = "of the graph"},
    {0},
};

enum { WINDOW = 1000 };

static ss_status add_random(ss_tasks *t, const random_options *o, ss_rng *rng, ss_error *err)
{
    bool transfer = ss_rng_below(rng, 4) == 0;
    uint32_t resource = transfer ? o->devices + 1 + (uint32_t)ss_rng_below(rng, o->links)
                                 : 1 + (uint32_t)ss_rng_below(rng, o->devices);
    ss_task_label label = {.kind = (uint8_t)(transfer ? SS_TASK_TRANSFER : SS_TASK_COMPUTE)};
    ss_time hold = 1000000 + (ss_time)ss_rng_below(rng, 999000000); /* 1 us to 1 ms */
    ss_task id;
    ss_status s = ss_tasks_add(t, resource, hold, transfer ? hold / 100 : 0, &label, &id, err);
    for (uint32_t k = 0; !s && k < o->predecessors && id.i > k + 1; k++) {
        uint32_t window = id.i - 1 < WINDOW ? id.i - 1 : WINDOW;
        s = ss_tasks_after(t, (ss_task){id.i - 1 - (uint32_t)ss_rng_below(rng, window)}, err);
    }
    return s;
}

static ss_status make_random(ss_tasks *t, const random_options *o, const double *bytes_per_s,
                             const double *latency_s, ss_error *err)
{
    ss_rng rng = {0};
    ss_status s = ss_rng_open(&rng, (uint64_t)o->seed, "random task graph", err);
    if (!s)
        s = ss_tasks_start(t, o->devices, o->links, bytes_per_s, latency_s, SS_LINKS_FIFO_HOP, err);
    for (uint32_t i = 0; !s && i < o->tasks; i++)
        s = add_random(t, o, &rng, err);
    ss_rng_close(&rng);
    return s ? s : ss_tasks_finish(t, err);
}

static ss_status simulate_random(run *r, const random_options *o, const double *bytes_per_s,
                                 const double *latency_s, ss_lua_result *out, ss_error *err)
{
    ss_status s = make_random(&r->dag.tasks, o, bytes_per_s, latency_s, err);
    if (!s)
        s = ss_engine_new(&r->engine, err);
    if (s)
        return s;
    ss_engine_set_watch(r->engine, r->watch);
    s = ss_result_of_tasks(&r->dag.tasks, r->engine, &out->result, err);
    ss_look_away(r->watch);
    r->dag.tasks = (ss_tasks){0};
    if (!s)
        out->name = ss_strdup("random task graph");
    return s || out->name ? s : ss_fail_memory(err, "the name of a task graph", 20);
}

/* dag.random { tasks =, devices =, links =, predecessors =, seed = } -> result, bytes of memory */
static int dag_random(lua_State *L)
{
    random_options o;
    ss_lua_opts(L, 1, random_list, "dag.random", &o);
    double *figures = lua_newuserdatauv(L, ((size_t)o.links + 1) * 2 * sizeof *figures, 0);
    for (uint32_t i = 0; i <= o.links; i++) {
        figures[i] = 1e10;
        figures[o.links + 1 + i] = 0;
    }
    ss_lua_result *result = ss_lua_result_push_empty(L);
    ss_lua_box *box = lua_touserdata(L, -1);
    run *r = push_run(L);

    ss_error err;
    if (simulate_random(r, &o, figures, figures + o.links + 1, result, &err)) {
        box->closed = true;
        return ss_lua_raise(L, &err);
    }

    lua_pushinteger(L, (lua_Integer)(ss_tasks_memory(&result->result->lowered->tasks) +
                                     ss_engine_memory(r->engine) +
                                     3 * sizeof(ss_time) * ((size_t)o.tasks + 1)));
    lua_remove(L, -2);
    return 2;
}

static const ss_lua_method functions[] = {
    {"random", dag_random, "(options) -> result, bytes: to measure with"},
    {"start", ss_lua_dag_start, "(path, options) -> run: the same, driven by the script"},
    {"simulate", dag_simulate, "(path, options) -> result, finish times: a bare task graph"},
    {NULL, NULL, NULL},
};

void ss_lua_open_dag(lua_State *L)
{
    ss_lua_push_module(L, "dag", functions);
}
