/* lua_run.c - soapstone.run, problem:start and dag.start: a step that a script drives from instant to
 * instant.  See lua_run_act.c for what it may ask and change in between. */
#include "lua/lua_run.h"

#include <string.h>

#include <lauxlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/dag.h"
#include "lua/lua_order.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"

enum { PATH = 200 };

static void free_run(void *object)
{
    ss_lua_run *r = object;
    if (!r)
        return;
    ss_run_free(r->run);
    ss_lowered_free(&r->lowered);
    ss_strategy_free(r->strategy);
    ss_routes_free(r->own_routes);
    ss_arena_free(&r->names);
    ss_free(r->added);
    ss_free(r->name);
    ss_free(r->costs);
    ss_free(r->costs_notes);
    ss_free(r);
}

ss_lua_run *ss_lua_run_check(lua_State *L)
{
    return ss_lua_check(L, 1, &ss_lua_run_type);
}

ss_lua_run *ss_lua_run_check_change(lua_State *L)
{
    ss_lua_run *r = ss_lua_run_check(L);
    if (r->finished)
        ss_lua_refuse(L, "the run is finished, and its result is made: start another one");
    return r;
}

/* -- options ---------------------------------------------------------------------------------- */

typedef struct start_options {
    ss_run_options run;
    ss_dag_options dag;
    const char *name;
    uint32_t repetition; /* 0: not given */
} start_options;

#define NAME                                                                                       \
    {                                                                                              \
        .name = "name", .kind = SS_OPT_TEXT, .at = offsetof(start_options, name),                  \
        .help = "what reports call it"                                                             \
    }
#define PRIORITY                                                                                   \
    {                                                                                              \
        .name = "priority", .kind = SS_OPT_VALUE,                                                  \
        .help = "numbers by task, the least first; 0 where nothing is said"                        \
    }
#define LINKS                                                                                      \
    {                                                                                              \
        .name = "links", .kind = SS_OPT_CHOICE, .at = offsetof(start_options, dag.mode),           \
        .preset = SS_OPT_KEEP, .choices = "fifo-hop|fifo-pipe|fifo-path|shared",                   \
        .help = "what a transfer does to its links"                                                \
    }

static const ss_opt start_list[] = {
    SS_LUA_ORDER_OPTIONS(start_options, run),
    SS_LUA_EVENTS_OPTION,
    PRIORITY,
    NAME,
    {.name = "repetition",
     .kind = SS_OPT_COUNT,
     .at = offsetof(start_options, repetition),
     .min = 1,
     .max = 4e9,
     .help = "which one is drawn by chance; that of the chance unless given"},
    {0}};

static const ss_opt dag_list[] = {SS_LUA_ORDER_OPTIONS(start_options, run),
                                  PRIORITY,
                                  NAME,
                                  LINKS,
                                  {.name = "segment",
                                   .kind = SS_OPT_INTEGER,
                                   .at = offsetof(start_options, dag.segment_bytes),
                                   .max = 4e18,
                                   .unit = SS_UNIT_BYTES,
                                   .help = "messages are cut into pieces of this size; 0: never"},
                                  {.name = "max_segments",
                                   .kind = SS_OPT_COUNT,
                                   .at = offsetof(start_options, dag.max_segments),
                                   .preset = 16,
                                   .min = 1,
                                   .max = SS_SEGMENTS_MAX,
                                   .help = "and into no more than so many"},
                                  {0}};

static const ss_opt nothing_list[] = {{.name = "topology", .kind = SS_OPT_VALUE, .help = "on what"},
                                      LINKS,
                                      SS_LUA_ORDER_OPTIONS(start_options, run),
                                      SS_LUA_EVENTS_OPTION,
                                      NAME,
                                      {0}};

/* Numbers by task, in Lua's memory, on the stack. */
static void read_priorities(lua_State *L, int index, uint32_t tasks, const char *what,
                            ss_run_options *o)
{
    char path[PATH];
    bool given = ss_lua_push_option(L, index, "priority") != LUA_TNIL;
    if (given != (o->order == SS_ORDER_PRIORITY))
        ss_lua_refuse(L, "%s: %s", what,
                      given ? "option 'priority' goes with order = \"priority\""
                            : "order = \"priority\" needs option 'priority': numbers by task");
    if (!given)
        return;
    int list = lua_gettop(L);
    if (!lua_istable(L, list))
        ss_lua_refuse(L, "%s: option 'priority' should be a table of numbers by task, not %s", what,
                      ss_lua_kind_of(L, list));
    int32_t *priority = lua_newuserdatauv(L, ((size_t)tasks + 1) * sizeof *priority, 0);
    memset(priority, 0, ((size_t)tasks + 1) * sizeof *priority);
    for (lua_pushnil(L); lua_next(L, list); lua_pop(L, 1)) {
        int whole = 0;
        lua_Integer i = lua_type(L, -2) == LUA_TNUMBER ? lua_tointegerx(L, -2, &whole) : 0;
        if (!whole || i < 1 || i > tasks)
            ss_lua_refuse(L, "%s: option 'priority' is by task, and there are tasks 1 to %d", what,
                          (int)tasks);
        ss_lua_name(path, sizeof path, "%s: the priority of task %d", what, (int)i);
        priority[i] = (int32_t)ss_lua_integer(L, -1, INT32_MIN, INT32_MAX, path);
    }
    o->priority = priority;
}

/* -- making one ------------------------------------------------------------------------------- */

static ss_status keep_text(char **out, const char *text, ss_error *err)
{
    *out = ss_strdup(text);
    return *out ? SS_OK : ss_fail_memory(err, "a run", strlen(text));
}

/* A box with a run in it that has nothing but a name; the box is closed until there is more. */
static ss_lua_run *push_box(lua_State *L, const char *name)
{
    ss_error err;
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_run_type);
    ss_lua_run *r = ss_alloc_zeroed(1, sizeof *r);
    if (!r) {
        ss_fail_memory(&err, "a run", sizeof *r);
        ss_lua_raise(L, &err);
        return NULL;
    }
    box->object = r;
    box->closed = true;
    if (keep_text(&r->name, name, &err))
        ss_lua_raise(L, &err);
    return r;
}

/* What was lowered begins to run, in the box on top of the stack. */
static ss_status begin(ss_lua_run *r, const ss_run_options *o, const ss_watch *watch, ss_error *err)
{
    ss_status s = ss_run_new(&r->lowered.tasks, o, &r->run, err);
    if (s)
        return s;
    ss_run_set_watch(r->run, watch);
    r->lowered.options.run = *o;
    r->lowered.options.run.priority = NULL; /* the run has its own */
    return SS_OK;
}

static int open_box(lua_State *L, int box)
{
    ((ss_lua_box *)lua_touserdata(L, box))->closed = false;
    lua_settop(L, box);
    return 1;
}

/* As problem:simulate does: costs that nobody knew are refused, and where the others came from is kept. */
static ss_status lower_problem(ss_lua_run *r, ss_lua_problem *p, const ss_strategy *s,
                               uint32_t repetition, ss_error *err)
{
    ss_lower_options options = p->options;
    if (repetition)
        options.repetition = repetition;
    ss_text line = {0}, notes = {0};
    double began = ss_seconds_now();
    r->model = p->model;
    r->topology = p->topology;
    r->routes = p->routes;
    r->ideal_links = p->options.ideal_links;
    ss_costs_count(p->costs);
    ss_status status = ss_strategy_copy(s, &r->strategy, err);
    if (!status)
        status =
            ss_lower(p->model, p->topology, p->routes, s, &p->timer, &options, &r->lowered, err);
    if (!status)
        status = ss_costs_refuse_missing(p->costs, err);
    if (!status)
        status = ss_costs_say(p->costs, &line, &notes, err);
    if (!status)
        status = keep_text(&r->costs, ss_text_get(&line), err);
    if (!status)
        status = keep_text(&r->costs_notes, ss_text_get(&notes), err);
    ss_text_free(&line);
    ss_text_free(&notes);
    r->lower_s = ss_seconds_now() - began;
    return status;
}

/* problem:start(strategy, { order =, ..., events =, name = }) -> run */
int ss_lua_problem_start(lua_State *L)
{
    ss_lua_problem *p = ss_lua_check(L, 1, &ss_lua_problem_type);
    ss_lua_strategy *s = ss_lua_check(L, 2, &ss_lua_strategy_type);
    start_options o = {.run = p->options.run};
    ss_lua_refuse_other(L, "problem:start", p, s->strategy);
    ss_lua_opts(L, 3, start_list, "problem:start", &o);
    if (o.repetition && !p->chance)
        return ss_lua_refuse(
            L, "problem:start: option 'repetition' says which times are drawn, and in "
               "this problem none are: give it the option chance");
    lua_settop(L, 3);
    ss_lua_box_push_held(L, 1, SS_LUA_HOLD_TOPOLOGY); /* 4 */
    ss_lua_read_events(L, 3, 4, p->options.ideal_links, "problem:start", &o.run);
    const char *name = o.name ? o.name : ss_lua_strategy_push_name(L, s);
    ss_lua_run *r = push_box(L, name);
    int box = lua_gettop(L);
    ss_lua_box_hold(L, box, SS_LUA_HOLD_PROBLEM, 1);

    ss_error err;
    const ss_watch *watch = ss_lua_watch(L);
    r->lowered.watch = watch;
    if (lower_problem(r, p, s->strategy, o.repetition, &err))
        return ss_lua_raise(L, &err);
    read_priorities(L, 3, r->lowered.tasks.n, "problem:start", &o.run);
    if (begin(r, &o.run, watch, &err))
        return ss_lua_raise(L, &err);
    if (o.run.change != p->options.run.change) /* Lua's, which may go */
        r->lowered.options.run.change = NULL, r->lowered.options.run.changes = 0;
    return open_box(L, box);
}

/* soapstone.run { topology =, links =, ... } -> run: with no tasks yet */
int ss_lua_run_new(lua_State *L)
{
    static const char what[] = "soapstone.run";
    start_options o = {.run = ss_lua_order_start()};
    ss_lua_opts(L, 1, nothing_list, what, &o);
    lua_settop(L, 1);
    if (!lua_istable(L, 1) || ss_lua_push_option(L, 1, "topology") == LUA_TNIL)
        return ss_lua_refuse(L, "%s: option 'topology' is missing (a topology)", what);
    ss_lua_box *topology = ss_lua_box_test(L, 2, &ss_lua_topology_type);
    if (!topology)
        return ss_lua_refuse(L, "%s: option 'topology' should be a topology, not %s", what,
                             ss_lua_kind_of(L, 2));
    const ss_topology *t = topology->object;
    if (!t->devices)
        return ss_lua_refuse(L, "%s: topology %s has no devices", what, t->name);
    if (o.run.order == SS_ORDER_PRIORITY || o.run.order == SS_ORDER_PROGRAM)
        return ss_lua_refuse(L, "%s: order = \"%s\" is of tasks that are there from the start",
                             what, ss_order_name(o.run.order));
    ss_lua_read_events(L, 1, 2, false, what, &o.run);
    ss_lua_run *r = push_box(L, o.name ? o.name : t->name);
    int box = lua_gettop(L);
    ss_lua_box_hold(L, box, SS_LUA_HOLD_TOPOLOGY, 2);

    ss_error err;
    r->topology = o.run.topology = t;
    ss_status s = ss_routes_new(t, &r->own_routes, &err);
    r->routes = r->own_routes;
    if (!s)
        s = ss_lower_nothing(t, o.dag.mode, &r->lowered, &err);
    if (!s)
        s = begin(r, &o.run, ss_lua_watch(L), &err);
    if (s)
        return ss_lua_raise(L, &err);
    r->lowered.options.run.change = NULL, r->lowered.options.run.changes = 0;
    topology->fixed = true; /* routes reckon with what is there */
    return open_box(L, box);
}

/* dag.start(path, { links =, ..., order =, ... }) -> run */
int ss_lua_dag_start(lua_State *L)
{
    const char *path = ss_lua_text(L, 1, "dag.start: the path");
    start_options o = {.run = ss_lua_order_start()};
    ss_lua_opts(L, 2, dag_list, "dag.start", &o);
    lua_settop(L, 2);
    ss_lua_run *r = push_box(L, o.name ? o.name : path);
    int box = lua_gettop(L);

    ss_error err;
    ss_dag dag = {0};
    if (ss_dag_read(path, &o.dag, &dag, &err))
        return ss_lua_raise(L, &err);
    r->lowered.tasks = dag.tasks;
    r->lowered.options = ss_lower_options_start();
    dag.tasks = (ss_tasks){0};
    ss_dag_free(&dag);
    read_priorities(L, 2, r->lowered.tasks.n, "dag.start", &o.run);
    if (begin(r, &o.run, ss_lua_watch(L), &err)) {
        ss_fail_in(&err, "%s", path);
        return ss_lua_raise(L, &err);
    }
    return open_box(L, box);
}

/* -- time ------------------------------------------------------------------------------------- */

static int answer(lua_State *L, ss_lua_run *r, double began, ss_status s, const ss_error *err)
{
    r->simulate_s += ss_seconds_now() - began;
    ss_look_away(ss_lua_watch(L));
    return s ? ss_lua_raise(L, err) : 0;
}

/* run:step() -> whether anything happened */
static int run_step(lua_State *L)
{
    ss_lua_run *r = ss_lua_run_check_change(L);

    ss_error err;
    bool happened;
    double began = ss_seconds_now();
    answer(L, r, began, ss_run_step(r->run, &happened, &err), &err);
    lua_pushboolean(L, happened);
    return 1;
}

static ss_time read_time(lua_State *L, int index, const char *path)
{
    ss_error err;
    ss_time time;
    double seconds = ss_lua_quantity(L, index, SS_UNIT_SECONDS, path);
    if (seconds < 0)
        ss_lua_refuse(L, "%s is %g s; a run goes on, and not back", path, seconds);
    if (ss_time_from_seconds(seconds, path, &time, &err))
        ss_lua_raise(L, &err);
    return time;
}

static int advance_to(lua_State *L, ss_lua_run *r, ss_time until)
{
    ss_error err;
    double began = ss_seconds_now();
    return answer(L, r, began, ss_run_advance(r->run, until, &err), &err);
}

/* run:advance(by) */
static int run_advance(lua_State *L)
{
    ss_lua_run *r = ss_lua_run_check_change(L);
    ss_time by = read_time(L, 2, "run:advance: by how much"), now = ss_run_now(r->run);
    if (by > SS_TIME_MAX - now)
        return ss_lua_refuse(L, "run:advance: times end after 106 days");
    return advance_to(L, r, now + by);
}

/* run:advance_to(at) */
static int run_advance_to(lua_State *L)
{
    ss_lua_run *r = ss_lua_run_check_change(L);
    return advance_to(L, r, read_time(L, 2, "run:advance_to: the time"));
}

/* -- the end ---------------------------------------------------------------------------------- */

static ss_status make_result(ss_lua_run *r, ss_lua_result *out, ss_error *err)
{
    double began = ss_seconds_now();
    ss_run_set_names(r->run, r->added);
    ss_status s = ss_run_finish(r->run, err);
    r->simulate_s += ss_seconds_now() - began;
    if (!s)
        s = keep_text(&out->name, r->name, err);
    if (!s && r->strategy)
        s = ss_strategy_copy(r->strategy, &out->strategy, err);
    if (s)
        return s;
    r->finished = true; /* what was lowered is the result's, also on failure */
    s = ss_result_of_run(r->model, r->topology, r->routes, r->strategy, &r->lowered, r->run,
                         r->added, &out->result, err);
    if (s)
        return s;
    out->model = r->model;
    out->topology = r->topology;
    out->result->lower_s = r->lower_s;
    out->result->simulate_s = r->simulate_s;
    out->result->costs = r->costs;
    out->result->costs_notes = r->costs_notes;
    r->costs = r->costs_notes = NULL;
    return SS_OK;
}

/* run:finish() -> result */
static int run_finish(lua_State *L)
{
    ss_lua_run *r = ss_lua_run_check_change(L);
    ss_lua_result *result = ss_lua_result_push_empty(L);
    int box = lua_gettop(L);
    if (r->model) {
        ss_lua_box_push_held(L, 1, SS_LUA_HOLD_PROBLEM);
        ss_lua_box_hold(L, box, SS_LUA_HOLD_PROBLEM, box + 1);
    } else if (r->topology) {
        ss_lua_box_push_held(L, 1, SS_LUA_HOLD_TOPOLOGY);
        ss_lua_box_hold(L, box, SS_LUA_HOLD_TOPOLOGY, box + 1);
    }

    ss_error err;
    ss_status s = make_result(r, result, &err);
    ss_look_away(ss_lua_watch(L));
    if (s) {
        ((ss_lua_box *)lua_touserdata(L, box))->closed = true;
        return ss_lua_raise(L, &err);
    }
    lua_settop(L, box);
    return 1;
}

/* -- fields ----------------------------------------------------------------------------------- */

static ss_lua_run *at(lua_State *L, int index)
{
    return ss_lua_check(L, index, &ss_lua_run_type);
}

static int get_now(lua_State *L, int index)
{
    lua_pushnumber(L, ss_time_seconds(ss_run_now(at(L, index)->run)));
    return 1;
}

static int get_next(lua_State *L, int index)
{
    ss_time next = ss_run_next(at(L, index)->run);
    if (next == SS_TIME_MAX)
        lua_pushnil(L);
    else
        lua_pushnumber(L, ss_time_seconds(next));
    return 1;
}

static int get_done(lua_State *L, int index)
{
    lua_pushinteger(L, ss_run_done(at(L, index)->run));
    return 1;
}

static int get_tasks(lua_State *L, int index)
{
    lua_pushinteger(L, ss_run_tasks(at(L, index)->run)->n);
    return 1;
}

static int get_name(lua_State *L, int index)
{
    lua_pushstring(L, at(L, index)->name);
    return 1;
}

static int get_topology(lua_State *L, int index)
{
    const ss_lua_run *r = at(L, index);
    if (!r->topology) {
        lua_pushnil(L);
        return 1;
    }
    if (r->model)
        ss_lua_box_push_held(L, index, SS_LUA_HOLD_PROBLEM);
    ss_lua_box_push_held(L, r->model ? lua_gettop(L) : index, SS_LUA_HOLD_TOPOLOGY);
    return 1;
}

static int get_finished(lua_State *L, int index)
{
    lua_pushboolean(L, at(L, index)->finished);
    return 1;
}

static int get_changes(lua_State *L, int index)
{
    const ss_lua_run *r = at(L, index);
    uint32_t n;
    const ss_change *c = ss_run_changes(r->run, &n);
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        ss_text *text = ss_lua_text_new(L);
        ss_change_say(&c[i], r->topology, text);
        ss_lua_text_push(L, text);
        lua_rawseti(L, -3, (lua_Integer)i + 1);
        lua_pop(L, 1);
    }
    ss_lua_strict_list(L, "change");
    return 1;
}

static int run_text(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_run_type.name);
    const ss_lua_run *r = box->closed ? NULL : box->object;
    char now[SS_QUANTITY_TEXT];
    if (!r)
        lua_pushliteral(L, "run (closed)");
    else
        lua_pushfstring(L, "run %s: at %s, %d of %d tasks done%s", r->name,
                        ss_format_time(ss_run_now(r->run), now, sizeof now),
                        (int)ss_run_done(r->run), (int)ss_run_tasks(r->run)->n,
                        r->finished ? ", finished" : "");
    return 1;
}

static const ss_lua_field run_fields[] = {
    {"now", get_now, "seconds from the start"},
    {"next", get_next,
     "seconds: when something will happen next, as things are; nil: nothing will"},
    {"done", get_done, "how many tasks are done"},
    {"tasks", get_tasks, "how many there are, with those that were added"},
    {"changes", get_changes, "list of texts: what happened to links and devices"},
    {"finished", get_finished, "whether its result is made"},
    {"name", get_name, "what reports call it"},
    {"topology", get_topology, "on what; nil of a bare task graph"},
    {NULL, NULL, NULL},
};

static const ss_lua_method run_methods[] = {
    {"step", run_step, "() -> happened: passes the next instant at which something happens"},
    {"advance", run_advance, "(seconds): passes time"},
    {"advance_to", run_advance_to, "(seconds): up to and with that time"},
    {"finish", run_finish, "() -> result: to the end of the last task"},
    {"set_link", ss_lua_run_set_link, "(link, { bandwidth =, share =, latency = }) -> how many"},
    {"fail", ss_lua_run_fail, "(link, ...): nothing passes any more"},
    {"restore", ss_lua_run_restore, "(link, ...): as before"},
    {"set_device", ss_lua_run_set_device, "(device, { speed = })"},
    {"pause", ss_lua_run_pause, "(device): it stands still with what it computes"},
    {"resume", ss_lua_run_resume, "(device): it goes on after a pause or failure"},
    {"fail_device", ss_lua_run_fail_device, "(device): what it was computing is lost"},
    {"compute", ss_lua_run_compute, "(device, seconds, { after =, name = }) -> task"},
    {"send", ss_lua_run_send, "(from, to, bytes, { after =, route =, name = }) -> task"},
    {"task", ss_lua_run_task, "(number) -> table: stage, ready, start, finish, rate, name, ..."},
    {"ended", ss_lua_run_ended, "() -> list of tasks that were done at the last instant"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_run_type = {
    .name = "soapstone.run",
    .noun = "run",
    .free = free_run,
    .fields = run_fields,
    .methods = run_methods,
    .text = run_text,
};
