/* lua_result.c - what a simulation says, as Lua values, as a page, as files. */
#include <string.h>

#include <lauxlib.h>

#include "base/mem.h"
#include "io/dot.h"
#include "io/report.h"
#include "io/trace.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"

enum { CACHE = 3 /* a user value that no hold takes */ };

static ss_lua_result *check(lua_State *L, int arg)
{
    return ss_lua_check(L, arg, &ss_lua_result_type);
}

static void free_result(void *object)
{
    ss_lua_result *r = object;
    if (!r)
        return;
    ss_view_free(&r->view);
    ss_view_free(&r->lanes);
    ss_result_free(r->result);
    ss_strategy_free(r->strategy);
    ss_free(r->name);
    ss_free(r);
}

/* -- making one ------------------------------------------------------------------------------- */

static ss_status keep_costs(const ss_costs *c, ss_result *r, ss_error *err)
{
    ss_text line = {0}, notes = {0};
    ss_status s = ss_costs_say(c, &line, &notes, err);
    if (!s) {
        r->costs = ss_strdup(ss_text_get(&line));
        r->costs_notes = ss_strdup(ss_text_get(&notes));
        if (!r->costs || !r->costs_notes)
            s = ss_fail_memory(err, "a result", line.n + notes.n);
    }
    ss_text_free(&line);
    ss_text_free(&notes);
    return s;
}

static ss_status simulate(ss_lua_problem *p, const ss_strategy *s, const char *name,
                          uint32_t repetition, ss_lua_result **out, ss_error *err)
{
    ss_lower_options o = p->options;
    if (repetition)
        o.repetition = repetition;
    ss_lua_result *r = ss_alloc_zeroed(1, sizeof *r);
    if (!r)
        return ss_fail_memory(err, "a result", sizeof *r);
    r->model = p->model;
    r->topology = p->topology;
    r->name = ss_strdup(name);
    ss_status status = r->name ? SS_OK : ss_fail_memory(err, "a result", strlen(name));
    if (!status)
        status = ss_strategy_copy(s, &r->strategy, err);
    ss_costs_count(p->costs);
    if (!status)
        status = ss_result_new(p->model, p->topology, p->routes, s, &p->timer, &o, p->engine,
                               &r->result, err);
    if (!status)
        status = ss_costs_refuse_missing(p->costs, err);
    if (!status)
        status = keep_costs(p->costs, r->result, err);
    if (status) {
        free_result(r);
        return status;
    }
    *out = r;
    return SS_OK;
}

ss_lua_result *ss_lua_result_push_empty(lua_State *L)
{
    ss_error err;
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_result_type);
    ss_lua_result *r = ss_alloc_zeroed(1, sizeof *r);
    if (!r) {
        ss_fail_memory(&err, "a result", sizeof *r);
        ss_lua_raise(L, &err);
    }
    box->object = r;
    return r;
}

int ss_lua_result_new(lua_State *L, int problem, const ss_lua_strategy *s, const char *name,
                      uint32_t repetition)
{
    ss_lua_problem *p = ss_lua_check(L, problem, &ss_lua_problem_type);
    ss_lua_refuse_other(L, "problem:simulate", p, s->strategy);
    if (!name)
        name = ss_lua_strategy_push_name(L, s);
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_result_type);
    ss_lua_box_hold(L, lua_gettop(L), SS_LUA_HOLD_PROBLEM, problem);

    ss_error err;
    ss_lua_result *r = NULL;
    const ss_watch *watch = ss_lua_watch(L);
    ss_engine_set_watch(p->engine, watch);
    ss_status status = simulate(p, s->strategy, name, repetition, &r, &err);
    ss_look_away(watch);
    if (status)
        return ss_lua_raise(L, &err);

    box->object = r;
    return 1;
}

const ss_view *ss_lua_view(lua_State *L, int index)
{
    ss_lua_result *r = check(L, index);
    ss_error err;
    if (!r->viewed &&
        ss_view_of_result(r->result, r->model, r->topology, r->name, &r->view, &err)) {
        ss_view_free(&r->view);
        ss_lua_raise(L, &err);
    }
    r->viewed = true;
    return &r->view;
}

const ss_view *ss_lua_view_of_lanes(lua_State *L, int index)
{
    ss_lua_result *r = check(L, index);
    ss_error err;
    if (r->viewed)
        return &r->view;
    if (!r->has_lanes &&
        ss_view_of_lanes(r->result, r->model, r->topology, r->name, &r->lanes, &err))
        ss_lua_raise(L, &err);
    r->has_lanes = true;
    return &r->lanes;
}

/* -- lists that are made once and kept -------------------------------------------------------- */

/* Pushes the kept value called `name`; false and nothing pushed if it was not made yet. */
static bool push_kept(lua_State *L, int index, const char *name)
{
    if (lua_getiuservalue(L, index, CACHE) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, index, CACHE);
    }
    bool there = lua_getfield(L, -1, name) != LUA_TNIL;
    lua_remove(L, -2);
    if (!there)
        lua_pop(L, 1);
    return there;
}

static void keep(lua_State *L, int index, const char *name)
{
    lua_getiuservalue(L, index, CACHE);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

static void push_peak(lua_State *L, const ss_device_use *u)
{
    lua_createtable(L, 0, SS_HELD_KINDS);
    for (int h = 0; h < SS_HELD_KINDS; h++)
        ss_lua_set_integer(L, ss_held_name((ss_held)h), u->held_peak_by[h]);
    ss_lua_strict_row(L, "peak of a device", NULL);
}

static void push_device(lua_State *L, const ss_view *v, const ss_device_use *u, uint32_t i)
{
    lua_createtable(L, 0, 12);
    ss_lua_set_text(L, "name", v->lane[i].name);
    ss_lua_set_text(L, "kind", v->lane[i].kind);
    ss_lua_set_time(L, "busy", u->busy);
    ss_lua_set_time(L, "idle", u->idle);
    ss_lua_set_time(L, "communicating", u->communicating);
    ss_lua_set_integer(L, "sent", u->sent);
    ss_lua_set_integer(L, "received", u->received);
    ss_lua_set_integer(L, "peak_memory", u->held_peak);
    ss_lua_set_time(L, "peak_at", u->held_peak_at);
    ss_lua_set_count(L, "capacity", v->lane[i].capacity_bytes);
    push_peak(L, u);
    lua_setfield(L, -2, "peak");
    ss_lua_strict_row(L, "device of a result", NULL);
}

static int get_devices(lua_State *L, int index)
{
    if (push_kept(L, index, "devices"))
        return 1;
    const ss_result *r = check(L, index)->result;
    const ss_view *v = ss_lua_view_of_lanes(L, index);
    lua_createtable(L, (int)r->devices, 0);
    for (uint32_t i = 1; i <= r->devices; i++) {
        push_device(L, v, &r->device[i], i);
        lua_rawseti(L, -2, i);
    }
    ss_lua_strict_list(L, "device");
    keep(L, index, "devices");
    return 1;
}

static int get_links(lua_State *L, int index)
{
    if (push_kept(L, index, "links"))
        return 1;
    const ss_result *r = check(L, index)->result;
    const ss_view *v = ss_lua_view_of_lanes(L, index);
    lua_createtable(L, (int)r->links, 0);
    for (uint32_t i = 1; i <= r->links; i++) {
        const ss_link_use *u = &r->link[i];
        lua_createtable(L, 0, 6);
        ss_lua_set_text(L, "name", v->lane[r->devices + i].name);
        ss_lua_set_text(L, "kind", v->lane[r->devices + i].kind);
        ss_lua_set_time(L, "busy", u->busy);
        ss_lua_set_integer(L, "bytes", u->bytes);
        ss_lua_set_integer(L, "messages", u->messages);
        ss_lua_set_time(L, "longest_wait", u->longest_wait);
        ss_lua_strict_row(L, "link of a result", NULL);
        lua_rawseti(L, -2, i);
    }
    ss_lua_strict_list(L, "link");
    keep(L, index, "links");
    return 1;
}

static void push_critical_step(lua_State *L, const ss_view *v, const ss_critical_step *s)
{
    const ss_view_task *t = &v->task[s->task.i];
    lua_createtable(L, 0, 8);
    ss_lua_set_integer(L, "task", s->task.i);
    ss_lua_set_text(L, "name", t->name);
    ss_lua_set_text(L, "kind", ss_task_kind_name((ss_task_kind)t->kind));
    ss_lua_set_time(L, "start", t->start);
    ss_lua_set_time(L, "finish", t->finish);
    ss_lua_set_time(L, "queueing", s->queueing);
    if (s->blocker.i)
        ss_lua_set_text(L, "behind", v->task[s->blocker.i].name);
    if (s->resource)
        ss_lua_set_text(L, "waited_for", v->lane[s->resource].name);
    ss_lua_strict_row(L, "critical step", "behind|waited_for");
}

/* Sets the list of what was waited for, the longest first. */
static void set_waited(lua_State *L, const ss_view *v)
{
    ss_error err;
    uint32_t n;
    ss_waited *list;
    ss_waited *kept = lua_newuserdatauv(L, (v->lanes + (size_t)1) * sizeof *kept, 0);
    if (ss_report_waited(v, &list, &n, &err))
        ss_lua_raise(L, &err);
    memcpy(kept, list, n * sizeof *kept);
    ss_free(list);
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        const ss_view_lane *lane = &v->lane[kept[i].lane];
        lua_createtable(L, 0, 3);
        ss_lua_set_text(L, "name", lane->name);
        ss_lua_set_flag(L, "link", lane->is_link);
        ss_lua_set_time(L, "queueing", kept[i].queueing);
        ss_lua_strict_row(L, "row of what was waited for", NULL);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -3, "waited_for");
    lua_pop(L, 1);
}

static int get_critical(lua_State *L, int index)
{
    if (push_kept(L, index, "critical"))
        return 1;
    const ss_critical *c = &check(L, index)->result->critical;
    const ss_view *v = ss_lua_view(L, index);
    lua_createtable(L, 0, 8);
    ss_lua_set_time(L, "compute", c->compute);
    ss_lua_set_time(L, "transfer", c->transfer);
    ss_lua_set_time(L, "queueing", c->queueing);
    ss_lua_set_time(L, "overhead", check(L, index)->result->overhead);
    ss_lua_set_time(L, "slowed", c->slowed);
    ss_lua_set_time(L, "queueing_device", c->queueing_device);
    ss_lua_set_time(L, "queueing_link", c->queueing_link);
    set_waited(L, v);
    lua_createtable(L, (int)c->n, 0);
    for (uint32_t i = 0; i < c->n; i++) {
        push_critical_step(L, v, &c->step[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    ss_lua_strict_list(L, "critical step");
    lua_setfield(L, -2, "steps");
    ss_lua_strict_row(L, "critical path", NULL);
    keep(L, index, "critical");
    return 1;
}

/* -- single figures --------------------------------------------------------------------------- */

static int get_name(lua_State *L, int index)
{
    lua_pushstring(L, check(L, index)->name);
    return 1;
}

static int get_step_time(lua_State *L, int index)
{
    lua_pushnumber(L, ss_time_seconds(check(L, index)->result->step_time));
    return 1;
}

static int get_throughput(lua_State *L, int index)
{
    lua_pushnumber(L, check(L, index)->result->samples_per_s);
    return 1;
}

static int get_samples(lua_State *L, int index)
{
    ss_lua_push_count(L, check(L, index)->result->samples);
    return 1;
}

static int get_bytes_moved(lua_State *L, int index)
{
    ss_lua_push_count(L, check(L, index)->result->bytes_moved);
    return 1;
}

static int get_compute_time(lua_State *L, int index)
{
    lua_pushnumber(L, ss_time_seconds(check(L, index)->result->compute));
    return 1;
}

static int get_tasks(lua_State *L, int index)
{
    lua_pushinteger(L, check(L, index)->result->lowered->tasks.n);
    return 1;
}

static int get_over_capacity(lua_State *L, int index)
{
    lua_pushboolean(L, check(L, index)->result->over_capacity);
    return 1;
}

static int get_moved(lua_State *L, int index)
{
    const ss_lowered *l = check(L, index)->result->lowered;
    lua_createtable(L, 0, SS_CARGOS);
    for (int c = 1; c < SS_CARGOS; c++)
        ss_lua_set_integer(L, ss_cargo_name((ss_cargo)c), l->moved[c]);
    ss_lua_set_count(L, "closed_form", l->charged_bytes);
    ss_lua_strict_row(L, "table of bytes moved", NULL);
    return 1;
}

static int get_assumptions(lua_State *L, int index)
{
    lua_pushstring(L, ss_lua_view_of_lanes(L, index)->assumptions);
    return 1;
}

static int get_wall_clock(lua_State *L, int index)
{
    const ss_result *r = check(L, index)->result;
    lua_createtable(L, 0, 2);
    ss_lua_set_number(L, "lower", r->lower_s);
    ss_lua_set_number(L, "simulate", r->simulate_s);
    ss_lua_strict_row(L, "wall clock", NULL);
    return 1;
}

/* -- single tasks and memory ------------------------------------------------------------------ */

/* result:task(i) -> { name =, kind =, lane =, ready =, start =, finish =, bytes = }; with interference also bound */
static int result_task(lua_State *L)
{
    const ss_result *r = check(L, 1)->result;
    const ss_view *v = ss_lua_view(L, 1);
    lua_Integer i = ss_lua_integer(L, 2, 1, r->lowered->tasks.n, "result:task: the number");
    const ss_view_task *t = &v->task[i];
    lua_createtable(L, 0, 10);
    ss_lua_set_text(L, "name", t->name);
    ss_lua_set_text(L, "kind", ss_task_kind_name((ss_task_kind)t->kind));
    if (t->cargo)
        ss_lua_set_text(L, "cargo", ss_cargo_name((ss_cargo)t->cargo));
    ss_lua_set_text(L, "lane", v->lane[t->lane].name);
    ss_lua_set_time(L, "ready", t->ready);
    ss_lua_set_time(L, "start", t->start);
    ss_lua_set_time(L, "finish", t->finish);
    ss_lua_set_integer(L, "bytes", t->bytes);
    ss_lua_set_flag(L, "critical", t->on_critical_path);
    if (r->lowered->tasks.binds)
        ss_lua_set_number(L, "bound", ss_tasks_bound(&r->lowered->tasks, (ss_task){(uint32_t)i}));
    ss_lua_strict_row(L, "task", "bound|cargo");
    return 1;
}

/* A device of the result by number or name, or the node where there is a topology. */
static uint32_t read_device(lua_State *L, const ss_view *v, const ss_result *r)
{
    static const char path[] = "result:memory: the device";
    if (check(L, 1)->topology) {
        bool of_problem = check(L, 1)->model;
        if (of_problem)
            ss_lua_box_push_held(L, 1, SS_LUA_HOLD_PROBLEM);
        ss_lua_box_push_held(L, of_problem ? lua_gettop(L) : 1, SS_LUA_HOLD_TOPOLOGY);
        return ss_lua_device(L, 2, lua_gettop(L), path).i;
    }
    if (lua_type(L, 2) == LUA_TSTRING)
        for (uint32_t d = 1; d <= r->devices; d++)
            if (!strcmp(v->lane[d].name, lua_tostring(L, 2)))
                return d;
    return (uint32_t)ss_lua_integer(L, 2, 1, r->devices, path);
}

/* result:memory(device) -> list of { time =, bytes = }: held from then on */
static int result_memory(lua_State *L)
{
    const ss_result *r = check(L, 1)->result;
    uint32_t d = read_device(L, ss_lua_view(L, 1), r);
    uint32_t first = r->held_first[d], end = r->held_first[d + 1];
    lua_createtable(L, (int)(end - first), 0);
    for (uint32_t i = first; i < end; i++) {
        lua_createtable(L, 0, 2);
        ss_lua_set_time(L, "time", r->held[i].at);
        ss_lua_set_integer(L, "bytes", r->held[i].bytes);
        ss_lua_strict_row(L, "step of the memory held", NULL);
        lua_rawseti(L, -2, (lua_Integer)(i - first) + 1);
    }
    return 1;
}

/* -- pages and files -------------------------------------------------------------------------- */

/* result:json() -> text */
static int result_json(lua_State *L)
{
    const ss_view *v = ss_lua_view(L, 1);
    ss_text *text = ss_lua_text_new(L);

    ss_error err;
    if (ss_report_json(v, text, &err))
        return ss_lua_raise(L, &err);

    return ss_lua_text_push(L, text);
}

typedef struct trace_options {
    double from, to;
    const char *only;
    bool flows, memory;
} trace_options;

static const ss_opt trace_list[] = {
    {.name = "from",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(trace_options, from),
     .max = 1e7,
     .unit = SS_UNIT_SECONDS,
     .help = "only tasks that end after it"},
    {.name = "to",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(trace_options, to),
     .max = 1e7,
     .unit = SS_UNIT_SECONDS,
     .help = "only tasks that begin before it; 0: to the end"},
    {.name = "only",
     .kind = SS_OPT_TEXT,
     .at = offsetof(trace_options, only),
     .help = "tasks whose name has this in it, or matches it (* ? [])"},
    {.name = "flows",
     .kind = SS_OPT_FLAG,
     .at = offsetof(trace_options, flows),
     .preset = 1,
     .help = "arrows for messages"},
    {.name = "memory",
     .kind = SS_OPT_FLAG,
     .at = offsetof(trace_options, memory),
     .preset = 1,
     .help = "counters of memory held"},
    {0},
};

/* result:write_trace(path, { from =, to =, only =, flows =, memory = }) -> counts */
static int result_write_trace(lua_State *L)
{
    const ss_view *v = ss_lua_view(L, 1);
    const char *path = ss_lua_text(L, 2, "result:write_trace: the path");
    trace_options o;
    ss_lua_opts(L, 3, trace_list, "result:write_trace", &o);

    ss_error err;
    ss_trace_counts counts;
    ss_trace_options t = {.only = o.only, .no_flows = !o.flows, .no_memory = !o.memory};
    if (ss_time_from_seconds(o.from, "from", &t.from, &err) ||
        ss_time_from_seconds(o.to, "to", &t.to, &err) || ss_trace_write(v, path, &t, &counts, &err))
        return ss_lua_raise(L, &err);

    lua_createtable(L, 0, 4);
    ss_lua_set_integer(L, "slices", counts.slices);
    ss_lua_set_integer(L, "flows", counts.flows);
    ss_lua_set_integer(L, "counters", counts.counters);
    ss_lua_set_integer(L, "left_out", counts.left_out);
    return 1;
}

static const ss_opt dot_list[] = {
    {.name = "max_nodes",
     .kind = SS_OPT_COUNT,
     .at = offsetof(ss_dot_options, max_nodes),
     .preset = 200,
     .min = 1,
     .max = 1e6,
     .help = "tasks are merged until so few nodes are left"},
    {.name = "device_order",
     .kind = SS_OPT_FLAG,
     .at = offsetof(ss_dot_options, device_order),
     .help = "dashed edges from each task to the next on its device"},
    {0},
};

/* result:write_dot(path, { max_nodes =, device_order = }) */
static int result_write_dot(lua_State *L)
{
    const ss_view *v = ss_lua_view(L, 1);
    const char *path = ss_lua_text(L, 2, "result:write_dot: the path");
    ss_dot_options o = {0};
    ss_lua_opts(L, 3, dot_list, "result:write_dot", &o);

    ss_error err;
    if (ss_dot_write(v, path, &o, NULL, &err))
        return ss_lua_raise(L, &err);
    return 0;
}

static int result_text(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_result_type.name);
    if (box->closed || !box->object) {
        lua_pushliteral(L, "result (closed)");
        return 1;
    }
    const ss_view *v = ss_lua_view(L, 1);
    ss_text *text = ss_lua_text_new(L);

    ss_error err;
    if (ss_report_text(v, text, &err))
        return ss_lua_raise(L, &err);

    return ss_lua_text_push(L, text);
}

static const ss_lua_field result_fields[] = {
    {"name", get_name, "of the strategy"},
    {"step_time", get_step_time, "seconds: when the last task ends"},
    {"throughput", get_throughput, "samples per second"},
    {"samples", get_samples, "of one step"},
    {"bytes_moved", get_bytes_moved, "by all transfers, each message once"},
    {"moved", get_moved, "table: bytes by what they were"},
    {"compute_time", get_compute_time, "seconds, summed over the devices"},
    {"tasks", get_tasks, "how many there were"},
    {"over_capacity", get_over_capacity, "whether some device holds more than it has"},
    {"devices", get_devices, "list: busy, idle, communicating, sent, received, peak_memory, ..."},
    {"links", get_links, "list: busy, bytes, messages, longest_wait"},
    {"critical", get_critical, "table: compute, transfer, queueing and for what, steps"},
    {"assumptions", get_assumptions, "text: what was in force"},
    {"wall_clock", get_wall_clock, "table: seconds that lowering and simulating took here"},
    {NULL, NULL, NULL},
};

static const ss_lua_method result_methods[] = {
    {"task", result_task, "(number) -> table: name, kind, lane, ready, start, finish, bytes"},
    {"memory", result_memory, "(device) -> list of { time, bytes }: held from then on"},
    {"sensitivity", ss_lua_result_sensitivity,
     "({ runs = 8, seed = 0 }) -> table: step times with durations moved by a picosecond"},
    {"overlapped", ss_lua_result_overlapped,
     "({ steps = 4 }) -> table: steps in a row, each task as soon as the weights are there"},
    {"json", result_json, "() -> text: everything that the page says, and every device and link"},
    {"write_trace", result_write_trace, "(path, options) -> counts: for a trace viewer"},
    {"write_dot", result_write_dot, "(path, options): the task graph for Graphviz"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_result_type = {
    .name = "soapstone.result",
    .noun = "result",
    .free = free_result,
    .fields = result_fields,
    .methods = result_methods,
    .text = result_text,
};
