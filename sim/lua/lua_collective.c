/* lua_collective.c - soapstone.collective: an operation between devices, without a model. */
#include <string.h>

#include <lauxlib.h>

#include "base/mem.h"
#include "lua/lua_topology.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"
#include "simulate/collective_result.h"

static const char WHAT[] = "soapstone.collective";

typedef struct collective_options {
    ss_collective_ask ask;
    const char *name;
} collective_options;

/* As in the enums of collective.h; of algorithms the last is none of them. */
static const ss_opt collective_list[] = {
    {.name = "topology", .kind = SS_OPT_VALUE, .help = "on what"},
    {.name = "devices",
     .kind = SS_OPT_VALUE,
     .help = "a list, in the order of the ring; the first is the root; all unless given"},
    {.name = "operation",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(collective_options, ask.operation),
     .choices = "all_reduce|all_gather|reduce_scatter|all_to_all|broadcast|reduce|p2p",
     .help = "what is done"},
    {.name = "algorithm",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(collective_options, ask.algorithm),
     .preset = SS_ALGORITHMS,
     .choices = "ring|bidirectional_ring|tree|double_tree|halving_doubling|two_level|hierarchical|"
                "in_network|pairwise|direct|auto",
     .help = "how"},
    {.name = "bytes",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(collective_options, ask.bytes),
     .preset = SS_OPT_REQUIRED,
     .min = 1,
     .max = 4e18,
     .unit = SS_UNIT_BYTES,
     .help = "of the tensor"},
    {.name = "chunks",
     .kind = SS_OPT_COUNT,
     .at = offsetof(collective_options, ask.chunks),
     .max = 65536,
     .help = "into which what is passed on whole is cut; 0: as many as the closed form finds best"},
    {.name = "links",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(collective_options, ask.options.links),
     .choices = "fifo-hop|fifo-pipe|fifo-path|shared",
     .help = "what a transfer does to its links"},
    {.name = "segment",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(collective_options, ask.options.segment_bytes),
     .max = 4e18,
     .unit = SS_UNIT_BYTES,
     .help = "messages are cut into pieces of this size; 0: never; fifo-path and shared: "
             "only where a node stages"},
    {.name = "max_segments",
     .kind = SS_OPT_COUNT,
     .at = offsetof(collective_options, ask.options.max_segments),
     .preset = 16,
     .min = 1,
     .max = SS_SEGMENTS_MAX,
     .help = "and into no more than so many"},
    {.name = "ideal_links",
     .kind = SS_OPT_FLAG,
     .at = offsetof(collective_options, ask.options.ideal_links),
     .help = "the laws of links and staging are left aside"},
    {.name = "flow_limit",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(collective_options, ask.options.flow_limit),
     .unit = SS_UNIT_BYTES_PER_SECOND,
     .help = "shared links: the most that one message can have; 0: no limit"},
    {.name = "name",
     .kind = SS_OPT_TEXT,
     .at = offsetof(collective_options, name),
     .help = "what reports call it"},
    {0},
};

/* The engine and the routes, in Lua's hands while they are needed. */
typedef struct tools {
    ss_engine *engine;
    ss_routes *routes;
} tools;

static int tools_close(lua_State *L)
{
    tools *t = luaL_checkudata(L, 1, "soapstone.tools of a collective");
    ss_engine_free(t->engine);
    ss_routes_free(t->routes);
    *t = (tools){0};
    return 0;
}

static tools *push_tools(lua_State *L)
{
    tools *t = lua_newuserdatauv(L, sizeof *t, 0);
    *t = (tools){0};
    if (luaL_newmetatable(L, "soapstone.tools of a collective")) {
        lua_pushcfunction(L, tools_close);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return t;
}

/* In Lua's memory, on the stack. */
static const ss_device *read_devices(lua_State *L, int topology, const ss_topology *t, uint32_t *n)
{
    bool all = ss_lua_push_option(L, 1, "devices") == LUA_TNIL;
    int list = lua_gettop(L);
    char path[80];
    if (!all && !lua_istable(L, list))
        ss_lua_refuse(L, "%s: option 'devices' should be a list of devices, not %s", WHAT,
                      ss_lua_kind_of(L, list));
    ss_lua_name(path, sizeof path, "%s: option 'devices'", WHAT);
    *n = all ? t->devices : ss_lua_list(L, list, path);
    if (*n > t->devices)
        ss_lua_refuse(L, "%s: option 'devices' has %d of them, and topology %s has %d", WHAT,
                      (int)*n, t->name, (int)t->devices);
    ss_device *device = lua_newuserdatauv(L, ((size_t)*n + 1) * sizeof *device, 0);
    for (uint32_t i = 0; i < *n; i++) {
        device[i].i = i + 1;
        if (all)
            continue;
        lua_rawgeti(L, list, (lua_Integer)i + 1);
        ss_lua_name(path, sizeof path, "%s: device %d of the list", WHAT, (int)i + 1);
        device[i] = ss_lua_device(L, lua_gettop(L), topology, path);
        lua_pop(L, 1);
    }
    return device;
}

static ss_status work(const collective_options *o, tools *t, const ss_topology *topology,
                      const ss_device *device, const ss_watch *watch, ss_collective_answer *answer,
                      ss_lua_result *out, ss_error *err)
{
    ss_status s = ss_routes_new(topology, &t->routes, err);
    if (!s)
        s = ss_engine_new(&t->engine, err);
    if (s)
        return s;
    ss_engine_set_watch(t->engine, watch);
    ss_party p = {topology, t->routes, device};
    s = ss_collective_simulate(&o->ask, &p, t->engine, answer, err);
    ss_look_away(watch);
    if (s)
        return s;
    out->result = answer->result;
    out->topology = topology;
    const char *name = o->name ? o->name : ss_operation_name(o->ask.operation);
    out->name = ss_strdup(name);
    return out->name ? SS_OK : ss_fail_memory(err, "the name of a collective", strlen(name));
}

static void push_answer(lua_State *L, const collective_options *o, const ss_collective_answer *a)
{
    double time = ss_time_seconds(a->result->step_time);
    double rate = time > 0 ? (double)o->ask.bytes / time : 0;
    lua_createtable(L, 0, 11);
    ss_lua_set_text(L, "operation", ss_operation_name(o->ask.operation));
    ss_lua_set_text(L, "algorithm", ss_algorithm_name(a->algorithm));
    ss_lua_set_integer(L, "devices", o->ask.members);
    ss_lua_set_integer(L, "bytes", o->ask.bytes);
    ss_lua_set_integer(L, "chunks", a->chunks);
    ss_lua_set_integer(L, "messages", a->messages);
    ss_lua_set_number(L, "time", time);
    ss_lua_set_number(L, "closed_form", a->closed_form_s);
    ss_lua_set_number(L, "algorithm_bandwidth", rate);
    ss_lua_set_number(L, "bus_bandwidth",
                      rate * ss_collective_bus_factor(o->ask.operation, o->ask.members));
}

static const char *text_of(lua_State *L, const char *name)
{
    lua_pushstring(L, name);
    lua_rawget(L, 1);
    const char *text = lua_tostring(L, -1);
    lua_pop(L, 1); /* the row keeps it */
    return text ? text : "";
}

/* A page of one line: what was done, how long it took, and the rates that it comes to. */
static int collective_text(lua_State *L)
{
    char bytes[SS_QUANTITY_TEXT], time[SS_QUANTITY_TEXT], closed[SS_QUANTITY_TEXT],
        rate[SS_QUANTITY_TEXT], bus[SS_QUANTITY_TEXT];
    ss_text *text = ss_lua_text_new(L);
    uint32_t devices = (uint32_t)ss_lua_row_number(L, "devices"),
             messages = (uint32_t)ss_lua_row_number(L, "messages"),
             chunks = (uint32_t)ss_lua_row_number(L, "chunks");
    ss_text_add(
        text, "%s of %s over %u device%s by %s: %s (closed form %s), %s, bus %s; %u message%s",
        text_of(L, "operation"),
        ss_format_quantity(ss_lua_row_number(L, "bytes"), SS_UNIT_BYTES, bytes, sizeof bytes),
        devices, ss_plural(devices), text_of(L, "algorithm"),
        ss_format_quantity(ss_lua_row_number(L, "time"), SS_UNIT_SECONDS, time, sizeof time),
        ss_format_quantity(ss_lua_row_number(L, "closed_form"), SS_UNIT_SECONDS, closed,
                           sizeof closed),
        ss_format_quantity(ss_lua_row_number(L, "algorithm_bandwidth"), SS_UNIT_BYTES_PER_SECOND,
                           rate, sizeof rate),
        ss_format_quantity(ss_lua_row_number(L, "bus_bandwidth"), SS_UNIT_BYTES_PER_SECOND, bus,
                           sizeof bus),
        messages, ss_plural(messages));
    if (chunks > 1)
        ss_text_add(text, " in %u chunks", chunks);
    return ss_lua_text_push(L, text);
}

/* soapstone.collective { topology =, devices =, operation =, bytes =, ... } -> table */
int ss_lua_collective(lua_State *L)
{
    collective_options o = {0};
    ss_lower_options presets = ss_lower_options_start();
    o.ask.options = presets;
    ss_lua_opts(L, 1, collective_list, WHAT, &o);
    ss_lua_refuse_plain_bandwidth(L, 1, "flow_limit", WHAT);
    lua_settop(L, 1);
    if (ss_lua_push_option(L, 1, "topology") == LUA_TNIL)
        return ss_lua_refuse(L, "%s: option 'topology' is missing (a topology)", WHAT);
    ss_lua_box *topology = ss_lua_box_test(L, 2, &ss_lua_topology_type);
    if (!topology)
        return ss_lua_refuse(L, "%s: option 'topology' should be a topology, not %s", WHAT,
                             ss_lua_kind_of(L, 2));
    const ss_topology *t = topology->object;
    const ss_device *device = read_devices(L, 2, t, &o.ask.members);
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_result_type);
    int result_at = lua_gettop(L);
    tools *with = push_tools(L);

    ss_error err;
    ss_collective_answer answer;
    ss_lua_result *result = ss_alloc_zeroed(1, sizeof *result);
    if (!result) {
        ss_fail_memory(&err, "a result", sizeof *result);
        return ss_lua_raise(L, &err);
    }
    box->object = result;
    if (work(&o, with, t, device, ss_lua_watch(L), &answer, result, &err)) {
        box->closed = true; /* nothing to be seen of it */
        return ss_lua_raise(L, &err);
    }

    topology->fixed = true; /* the result speaks of what is there */
    ss_lua_box_hold(L, result_at, SS_LUA_HOLD_TOPOLOGY, 2);
    push_answer(L, &o, &answer);
    lua_pushvalue(L, result_at);
    lua_setfield(L, -2, "result");
    ss_lua_strict_row(L, "collective", NULL);
    ss_lua_row_text(L, collective_text);
    return 1;
}
