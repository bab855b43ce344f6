/* lua_run_act.c - what a script asks of a run, changes of it and adds to it; see lua_run.c, which makes
 * runs and passes time. */
#include <math.h>
#include <string.h>

#include <lauxlib.h>

#include "base/array.h"
#include "lua/lua_order.h"
#include "lua/lua_run.h"
#include "lua/lua_topology.h"
#include "lua/opts.h"
#include "lua/strict.h"

enum { PATH = 200 };

/* -- which links and devices ------------------------------------------------------------------ */

int ss_lua_run_push_topology(lua_State *L, const ss_lua_run *r)
{
    if (r->model)
        ss_lua_box_push_held(L, 1, SS_LUA_HOLD_PROBLEM);
    ss_lua_box_push_held(L, r->model ? lua_gettop(L) : 1, SS_LUA_HOLD_TOPOLOGY);
    return lua_gettop(L);
}

/* The links that are meant, in Lua's memory, on the stack; of a bare task graph by their number. */
static uint32_t *read_links(lua_State *L, const ss_lua_run *r, int index, const char *path,
                            uint32_t *n)
{
    uint32_t links = ss_run_tasks(r->run)->links;
    *n = 0;
    if (!r->topology) {
        uint32_t *one = lua_newuserdatauv(L, sizeof *one, 0);
        if (!links)
            ss_lua_refuse(L, "%s: the task graph has no links", path);
        *one = (uint32_t)ss_lua_integer(L, index, 1, links, path);
        *n = 1;
        return one;
    }
    ss_lua_part p = ss_lua_part_read(L, index, ss_lua_run_push_topology(L, r), path);
    uint32_t *link = lua_newuserdatauv(L, ((size_t)links + 1) * sizeof *link, 0);
    for (uint32_t i = 1; i <= links; i++)
        if (ss_lua_part_has(r->topology, p, i))
            link[(*n)++] = i;
    return link;
}

static ss_device read_device(lua_State *L, const ss_lua_run *r, int index, const char *path)
{
    if (!r->topology && !ss_run_tasks(r->run)->devices)
        ss_lua_refuse(L, "%s: the task graph has no devices", path);
    if (!r->topology)
        return (ss_device){
            (uint32_t)ss_lua_integer(L, index, 1, ss_run_tasks(r->run)->devices, path)};
    return ss_lua_device(L, index, ss_lua_run_push_topology(L, r), path);
}

/* -- changes ---------------------------------------------------------------------------------- */

typedef struct link_options {
    double bandwidth, share, latency;
} link_options;

static const ss_opt link_list[] = {
    {.name = "bandwidth",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(link_options, bandwidth),
     .preset = SS_OPT_KEEP,
     .max = 1e18,
     .unit = SS_UNIT_BYTES_PER_SECOND,
     .help = "as it is unless given; 0: nothing passes"},
    {.name = "share",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(link_options, share),
     .preset = SS_OPT_KEEP,
     .max = 1000,
     .help = "of the bandwidth it has"},
    {.name = "latency",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(link_options, latency),
     .preset = SS_OPT_KEEP,
     .max = 1e6,
     .unit = SS_UNIT_SECONDS,
     .help = "of what starts later; as it is unless given"},
    {0},
};

static ss_status change_all(ss_run *run, ss_change *c, const uint32_t *who, uint32_t n,
                            ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < n && !s; i++) {
        c->who = who[i];
        s = ss_run_change(run, c, err);
    }
    return s;
}

/* run:set_link(link, { bandwidth =, share =, latency = }) -> how many links */
int ss_lua_run_set_link(lua_State *L)
{
    ss_lua_run *r = ss_lua_run_check_change(L);
    link_options o = {-1, 1, -1};
    uint32_t n;
    ss_lua_opts(L, 3, link_list, "run:set_link", &o);
    ss_lua_refuse_plain_seconds(L, 3, "run:set_link");
    ss_lua_refuse_plain_bandwidth(L, 3, "bandwidth", "run:set_link");
    if (!ss_lua_is_given(L, 3, "bandwidth") && !ss_lua_is_given(L, 3, "share") &&
        !ss_lua_is_given(L, 3, "latency"))
        return ss_lua_refuse(L, "run:set_link: give a bandwidth, a share of it, or a latency");
    uint32_t *link = read_links(L, r, 2, "run:set_link: the link", &n);
    ss_change *change = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *change, 0);
    for (uint32_t i = 0; i < n; i++) {
        change[i] = (ss_change){.kind = SS_CHANGE_LINK,
                                .who = link[i],
                                .bytes_per_s = o.bandwidth,
                                .share = o.share,
                                .latency_s = o.latency};
        if (r->topology)
            ss_lua_change_as_topology(L, r->topology, r->ideal_links, "run:set_link", &change[i]);
    }

    ss_error err;
    for (uint32_t i = 0; i < n; i++)
        if (ss_run_change(r->run, &change[i], &err))
            return ss_lua_raise(L, &err);

    lua_pushinteger(L, n);
    return 1;
}

static int change_links(lua_State *L, ss_change_kind kind, const char *method)
{
    ss_lua_run *r = ss_lua_run_check_change(L);
    int arguments = lua_gettop(L);
    char path[PATH];
    if (arguments < 2)
        return ss_lua_refuse(L, "%s takes links, or nodes whose links are meant", method);
    luaL_checkstack(L, 4 * arguments + 8, "too many links");
    for (int pass = 0; pass < 2; pass++) /* a name that is wrong leaves all as it was */
        for (int i = 2; i <= arguments; i++) {
            uint32_t n;
            ss_lua_name(path, sizeof path, "%s: argument %d", method, i - 1);
            uint32_t *link = read_links(L, r, i, path, &n);

            ss_error err;
            ss_change c = {.kind = kind};
            if (pass && change_all(r->run, &c, link, n, &err))
                return ss_lua_raise(L, &err);

            lua_settop(L, arguments);
        }
    return 0;
}

int ss_lua_run_fail(lua_State *L)
{
    return change_links(L, SS_CHANGE_LINK_FAILS, "run:fail");
}

int ss_lua_run_restore(lua_State *L)
{
    return change_links(L, SS_CHANGE_LINK_WORKS, "run:restore");
}

static int change_device(lua_State *L, ss_change_kind kind, double speed, const char *path)
{
    ss_lua_run *r = ss_lua_run_check_change(L);
    ss_device d = read_device(L, r, 2, path);

    ss_error err;
    ss_change c = {.kind = kind, .speed = speed};
    if (change_all(r->run, &c, &d.i, 1, &err))
        return ss_lua_raise(L, &err);
    return 0;
}

typedef struct device_options {
    double speed;
} device_options;

static const ss_opt device_list[] = {
    {.name = "speed",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(device_options, speed),
     .preset = SS_OPT_REQUIRED,
     .max = 1000,
     .help = "against what its tasks say: 0.5 takes twice as long"},
    {0},
};

/* run:set_device(device, { speed = }) */
int ss_lua_run_set_device(lua_State *L)
{
    device_options o;
    ss_lua_run_check_change(L);
    ss_lua_opts(L, 3, device_list, "run:set_device", &o);
    return change_device(L, SS_CHANGE_SPEED, o.speed, "run:set_device: the device");
}

int ss_lua_run_pause(lua_State *L)
{
    return change_device(L, SS_CHANGE_PAUSE, 0, "run:pause: the device");
}

int ss_lua_run_resume(lua_State *L)
{
    return change_device(L, SS_CHANGE_RESUME, 0, "run:resume: the device");
}

int ss_lua_run_fail_device(lua_State *L)
{
    return change_device(L, SS_CHANGE_DEVICE_FAILS, 0, "run:fail_device: the device");
}

/* -- adding ----------------------------------------------------------------------------------- */

typedef struct add_options {
    const char *name;
} add_options;

#define AFTER                                                                                      \
    {                                                                                              \
        .name = "after", .kind = SS_OPT_VALUE, .help = "a task, or a list of those it waits for"   \
    }
#define NAME                                                                                       \
    {                                                                                              \
        .name = "name", .kind = SS_OPT_TEXT, .at = offsetof(add_options, name),                    \
        .help = "what reports call it"                                                             \
    }

static const ss_opt compute_list[] = {AFTER, NAME, {0}};
static const ss_opt send_list[] = {AFTER,
                                   {.name = "route",
                                    .kind = SS_OPT_VALUE,
                                    .help = "a list of links in place of the topology's route"},
                                   NAME,
                                   {0}};

/* As names of operators and devices are. */
static void check_name(lua_State *L, const char *name, const char *what)
{
    enum { MOST = 200 };
    if (!name)
        return;
    if (!*name || strlen(name) > MOST)
        ss_lua_refuse(L, "%s: option 'name' has %d bytes; it has from 1 to %d", what,
                      (int)strlen(name), MOST);
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            ss_lua_refuse(L, "%s: option 'name' has the control character %d", what, (int)*c);
}

/* The tasks of option `after`, in Lua's memory, on the stack. */
static ss_task *read_after(lua_State *L, const ss_lua_run *r, int index, const char *what,
                           uint32_t *n)
{
    char path[PATH];
    uint32_t tasks = ss_run_tasks(r->run)->n;
    int type = ss_lua_push_option(L, index, "after"), list = lua_gettop(L);
    if (type == LUA_TNUMBER) { /* one, as a list of it */
        lua_createtable(L, 1, 0);
        lua_insert(L, list);
        lua_rawseti(L, list, 1);
    } else if (type != LUA_TTABLE && type != LUA_TNIL) {
        ss_lua_refuse(L,
                      "%s: option 'after' should be a task (its number) or a list of them, not %s",
                      what, ss_lua_kind_of(L, list));
    }
    ss_lua_name(path, sizeof path, "%s: option 'after'", what);
    *n = type == LUA_TNIL ? 0 : ss_lua_list(L, list, path);
    ss_task *after = lua_newuserdatauv(L, ((size_t)*n + 1) * sizeof *after, 0);
    for (uint32_t i = 0; i < *n; i++) {
        ss_lua_name(path, sizeof path, "%s: option 'after': task %d", what, (int)i + 1);
        lua_rawgeti(L, list, (lua_Integer)i + 1);
        if (!tasks)
            ss_lua_refuse(L, "%s: there is no task yet", path);
        after[i].i = (uint32_t)ss_lua_integer(L, -1, 1, tasks, path);
        lua_pop(L, 1);
    }
    return after;
}

/* Room for the names of so many tasks more, and a copy of the name that they will have. */
static ss_status reserve_names(ss_lua_run *r, uint32_t more, const char **name, ss_error *err)
{
    ss_status s =
        SS_RESERVE(r->added, r->named_cap, (size_t)r->named + more, "names of tasks", err);
    if (s || !*name)
        return s;
    size_t n = strlen(*name) + 1;
    char *copy = ss_arena_take(&r->names, n);
    if (!copy)
        return ss_fail_memory(err, "the name of a task", n);
    *name = memcpy(copy, *name, n);
    return SS_OK;
}

/* All that was added. */
static void name_tasks(ss_lua_run *r, const char *name)
{
    while (r->named < ss_run_tasks(r->run)->n - ss_run_given(r->run))
        r->added[r->named++] = name;
}

/* run:compute(device, seconds, { after =, name = }) -> task */
int ss_lua_run_compute(lua_State *L)
{
    static const char what[] = "run:compute";
    ss_lua_run *r = ss_lua_run_check_change(L);
    lua_settop(L, 4);
    ss_device device = read_device(L, r, 2, "run:compute: the device");
    double seconds = ss_lua_quantity(L, 3, SS_UNIT_SECONDS, "run:compute: how long it takes");
    add_options o;
    ss_lua_opts(L, 4, compute_list, what, &o);
    check_name(L, o.name, what);
    uint32_t n;
    ss_task *after = read_after(L, r, 4, what, &n), task;

    ss_error err;
    ss_time hold;
    ss_task_label label = {.kind = SS_TASK_COMPUTE};
    if (seconds < 0)
        return ss_lua_refuse(L, "run:compute: how long it takes is %g s; it must be at least 0 s",
                             seconds);
    if (ss_time_from_seconds(seconds, "run:compute: how long it takes", &hold, &err) ||
        reserve_names(r, 1, &o.name, &err) ||
        ss_run_add(r->run, device, hold, &label, after, n, &task, &err))
        return ss_lua_raise(L, &err);

    name_tasks(r, o.name);
    lua_pushinteger(L, task.i);
    return 1;
}

/* Option `route`, or the topology's; in Lua's memory, on the stack. */
static uint32_t *read_route(lua_State *L, const ss_lua_run *r, ss_device from, ss_device to,
                            uint32_t *n)
{
    static const char path[] = "run:send: option 'route'";
    ss_error err;
    ss_route route = {0};
    const ss_link *link = NULL;
    int list = lua_gettop(L) + 1;
    *n = 0;
    if (ss_lua_push_option(L, 5, "route") == LUA_TNIL) {
        if (!r->routes)
            ss_lua_refuse(L,
                          "run:send: a bare task graph knows no routes: give one, route = { 1 }");
        if (from.i != to.i && ss_routes_find(r->routes, from, to, &route, &err))
            ss_lua_raise(L, &err);
        if (route.i)
            link = ss_route_links(r->routes, route, n);
    } else if (!lua_istable(L, list)) {
        ss_lua_refuse(L, "%s should be a list of links, not %s", path, ss_lua_kind_of(L, list));
    } else {
        *n = ss_lua_list(L, list, path);
    }
    uint32_t *out = lua_newuserdatauv(L, ((size_t)*n + 1) * sizeof *out, 0);
    for (uint32_t i = 0; i < *n; i++) {
        uint32_t one;
        if (link) {
            out[i] = link[i].i;
            continue;
        }
        lua_rawgeti(L, list, (lua_Integer)i + 1);
        uint32_t *meant = read_links(L, r, lua_gettop(L), path, &one);
        if (one != 1)
            ss_lua_refuse(L, "%s: element %d is a node, and a link is needed", path, (int)i + 1);
        out[i] = *meant;
        lua_settop(L, list + 1);
    }
    return out;
}

/* A message holds a link once, in all meanings of links. */
static void refuse_link_twice(lua_State *L, const ss_lua_run *r, const uint32_t *link, uint32_t n)
{
    uint32_t links = ss_run_tasks(r->run)->links;
    if (!ss_lua_is_given(L, 5, "route"))
        return;
    bool *seen = lua_newuserdatauv(L, (size_t)links + 1, 0);
    memset(seen, 0, (size_t)links + 1);
    for (uint32_t i = 0; i < n; i++) {
        if (seen[link[i]] && r->topology)
            ss_lua_refuse(L, "run:send: the route crosses link %s twice",
                          r->topology->link[link[i]].name);
        if (seen[link[i]])
            ss_lua_refuse(L, "run:send: the route crosses link %d twice", (int)link[i]);
        seen[link[i]] = true;
    }
    lua_pop(L, 1);
}

/* A route of one's own leads from the one to the other without a gap. */
static void refuse_gap(lua_State *L, const ss_lua_run *r, ss_device from, ss_device to,
                       const uint32_t *link, uint32_t n)
{
    const ss_topology *t = r->topology;
    if (!t || !ss_lua_is_given(L, 5, "route"))
        return;
    uint32_t node = t->device[from.i].node.i;
    for (uint32_t i = 0; i < n; i++) {
        if (t->link[link[i]].from.i != node)
            ss_lua_refuse(L, "run:send: link %s of the route begins at %s, not at %s",
                          t->link[link[i]].name, t->node[t->link[link[i]].from.i].name,
                          t->node[node].name);
        node = t->link[link[i]].to.i;
    }
    if (node != t->device[to.i].node.i)
        ss_lua_refuse(L, "run:send: the route ends at %s, not at %s", t->node[node].name,
                      ss_topology_device_name(t, to));
}

/* A route that the topology was given may weigh more, and have a limit; one's own weighs 1. */
static uint32_t weight_of(lua_State *L, const ss_lua_run *r, ss_device from, ss_device to,
                          double *limit)
{
    bool own = !r->topology || ss_lua_is_given(L, 5, "route");
    *limit = 0;
    return own ? 1 : ss_topology_flows(r->topology, from, to, limit);
}

/* Where nodes on the way stage, in Lua's memory, on the stack. */
static void push_legs(lua_State *L, const ss_lua_run *r, ss_device from, ss_run_message *m)
{
    const ss_topology *t = r->topology;
    if (!t || !t->stagings || r->ideal_links || m->links < 2 ||
        !ss_links_are_crossed_at_once(ss_run_tasks(r->run)->mode))
        return;
    ss_link *link = lua_newuserdatauv(L, m->links * sizeof *link, 0);
    uint32_t *leg = lua_newuserdatauv(L, m->links * sizeof *leg, 0);
    for (uint32_t i = 0; i < m->links; i++)
        link[i].i = m->link[i];
    m->leg = leg;
    m->legs = ss_topology_legs(t, t->device[from.i].node, link, m->links, leg);
}

/* run:send(from, to, bytes, { after =, route =, name = }) -> task */
int ss_lua_run_send(lua_State *L)
{
    static const char what[] = "run:send";
    ss_lua_run *r = ss_lua_run_check_change(L);
    lua_settop(L, 5);
    ss_device from = read_device(L, r, 2, "run:send: who sends");
    ss_device to = read_device(L, r, 3, "run:send: who receives");
    double bytes = ss_lua_quantity(L, 4, SS_UNIT_BYTES, "run:send: the bytes");
    add_options o;
    ss_lua_opts(L, 5, send_list, what, &o);
    check_name(L, o.name, what);
    if (!(bytes >= 0 && bytes <= 0x1p53) || bytes != floor(bytes))
        return ss_lua_refuse(
            L, "run:send: %g bytes; a message has a whole number of them, from 0 to 2^53", bytes);
    uint32_t n, links;
    ss_task *after = read_after(L, r, 5, what, &n), task;
    uint32_t *link = read_route(L, r, from, to, &links);
    refuse_link_twice(L, r, link, links);
    refuse_gap(L, r, from, to, link, links);

    ss_run_message m = {.link = link, .links = links, .bytes = (int64_t)bytes};
    m.weight = weight_of(L, r, from, to, &m.limit);
    push_legs(L, r, from, &m);

    ss_error err;
    ss_task_label label = {.kind = SS_TASK_TRANSFER, .from = from, .to = to};
    if (reserve_names(r, links + 1, &o.name, &err) ||
        ss_run_send(r->run, &m, &label, after, n, &task, &err))
        return ss_lua_raise(L, &err);

    name_tasks(r, o.name);
    lua_pushinteger(L, task.i);
    return 1;
}

/* -- asking ----------------------------------------------------------------------------------- */

static void set_known_time(lua_State *L, const char *key, ss_time t)
{
    if (t >= 0)
        ss_lua_set_time(L, key, t);
}

/* Whose it is: an operator's or a weight's. */
static void set_operator(lua_State *L, const ss_model *m, const ss_task_label *label)
{
    bool weight = label->kind == SS_TASK_UPDATE || label->kind == SS_TASK_COLLECTIVE ||
                  label->cargo == SS_CARGO_WEIGHT_GRADIENT || label->cargo == SS_CARGO_WEIGHT;
    if (!m || !label->op)
        return;
    ss_lua_set_text(L, weight ? "weight" : "operator",
                    weight ? m->weight[label->op].name : m->op[label->op].name);
    if (!weight)
        ss_lua_set_integer(L, "part", label->part);
}

static void set_place(lua_State *L, const ss_lua_run *r, const char *key, ss_device d)
{
    if (d.i && d.i <= ss_run_tasks(r->run)->devices)
        ss_lua_set_integer(L, key, d.i);
}

/* run:task(number) -> { stage =, kind =, ready =, start =, finish =, ... } */
int ss_lua_run_task(lua_State *L)
{
    const ss_lua_run *r = ss_lua_run_check(L);
    const ss_tasks *t = ss_run_tasks(r->run);
    if (!t->n)
        return ss_lua_refuse(L, "run:task: there is no task yet");
    ss_task task = {(uint32_t)ss_lua_integer(L, 2, 1, t->n, "run:task: the number")};
    const ss_task_label *label = &t->label[task.i];
    uint32_t given = ss_run_given(r->run);
    ss_time ready, start, end;
    ss_run_times(r->run, task, &ready, &start, &end);
    lua_createtable(L, 0, 14);
    ss_lua_set_text(L, "stage", ss_stage_name(ss_run_stage(r->run, task)));
    ss_lua_set_text(L, "kind", ss_task_kind_name((ss_task_kind)label->kind));
    set_operator(L, r->model, label);
    if (task.i > given && r->added[task.i - given - 1])
        ss_lua_set_text(L, "name", r->added[task.i - given - 1]);
    set_place(L, r, "device", (ss_device){t->where[task.i]});
    set_place(L, r, "from", label->from);
    set_place(L, r, "to", label->to);
    set_known_time(L, "ready", ready);
    set_known_time(L, "start", start);
    set_known_time(L, "finish", ss_run_finish_of(r->run, task));
    ss_lua_set_number(L, "rate", ss_run_rate(r->run, task));
    ss_lua_set_integer(L, "bytes", t->bytes[task.i]);
    ss_lua_strict_row(L, "task of a run",
                      "operator|weight|part|name|device|from|to|ready|start|finish");
    return 1;
}

/* run:ended() -> list of tasks */
int ss_lua_run_ended(lua_State *L)
{
    uint32_t n;
    const ss_task *ended = ss_run_ended(ss_lua_run_check(L)->run, &n);
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        lua_pushinteger(L, ended[i].i);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}
