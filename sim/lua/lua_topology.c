/* lua_topology.c - soapstone.topology: devices, switches and links from a script.  What a topology
 * says when it is asked is in lua_topology_ask.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "base/mem.h"
#include "graph/catalog.h"
#include "graph/route.h"
#include "lua/lua_topology.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"

enum { PATH = 200, LEAST_PLAIN_BANDWIDTH = 1000 /* B/s */ };

/* -- nodes ------------------------------------------------------------------------------------ */

typedef struct node_value {
    ss_node node;
} node_value;

static ss_topology *owner_of_node(lua_State *L, int index)
{
    lua_getiuservalue(L, index, 1);
    ss_lua_box *box = ss_lua_box_test(L, -1, &ss_lua_topology_type);
    lua_pop(L, 1); /* the node keeps it */
    if (!box)
        ss_lua_refuse(L, "the topology of this node is closed");
    return box ? box->object : NULL;
}

static void push_node(lua_State *L, int topology, ss_node node)
{
    node_value *v = ss_lua_value_new(L, &ss_lua_node_type, sizeof *v, topology);
    v->node = node;
}

static node_value *check_node_value(lua_State *L, int index)
{
    node_value *v = ss_lua_value_test(L, index, &ss_lua_node_type);
    if (!v)
        ss_lua_refuse(L, "a node is expected, not %s", ss_lua_kind_of(L, index));
    return v;
}

static int node_get_name(lua_State *L, int index)
{
    node_value *v = check_node_value(L, index);
    lua_pushstring(L, owner_of_node(L, index)->node[v->node.i].name);
    return 1;
}

static int node_get_device(lua_State *L, int index)
{
    node_value *v = check_node_value(L, index);
    uint32_t device = owner_of_node(L, index)->node[v->node.i].device.i;
    if (device)
        lua_pushinteger(L, device);
    else
        lua_pushnil(L);
    return 1;
}

static int node_text(lua_State *L)
{
    node_value *v = check_node_value(L, 1);
    const ss_node_row *row = &owner_of_node(L, 1)->node[v->node.i];
    lua_pushfstring(L, "%s %s", row->device.i ? "device" : "switch", row->name);
    return 1;
}

static const ss_lua_field node_fields[] = {
    {"name", node_get_name, "its name"},
    {"device", node_get_device, "its number among the devices; nil of a switch"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_node_type = {
    .name = "soapstone.node",
    .noun = "node",
    .fields = node_fields,
    .text = node_text,
    .same = ss_lua_value_same,
};

/* -- reading nodes and devices ---------------------------------------------------------------- */

static int no_such_node(lua_State *L, const ss_topology *t, const char *name, const char *path)
{
    const char *near = ss_names_nearest(&t->names, name);
    if (near)
        return ss_lua_refuse(L, "%s: topology %s has no device or switch '%s'; did you mean '%s'?",
                             path, t->name, name, near);
    return ss_lua_refuse(L, "%s: topology %s has no device or switch '%s'", path, t->name, name);
}

ss_node ss_lua_node(lua_State *L, int index, int topology, const char *path)
{
    const ss_topology *t = ((ss_lua_box *)lua_touserdata(L, topology))->object;
    node_value *v = ss_lua_value_test(L, index, &ss_lua_node_type);
    if (v) {
        lua_getiuservalue(L, index, 1);
        bool ours = lua_touserdata(L, -1) == lua_touserdata(L, topology);
        lua_pop(L, 1);
        if (!ours)
            ss_lua_refuse(L, "%s: this node belongs to another topology than %s", path, t->name);
        return v->node;
    }
    if (lua_type(L, index) != LUA_TSTRING)
        ss_lua_refuse(L,
                      "%s should be what t:device or t:switch returned, or the name of one, not %s",
                      path, ss_lua_kind_of(L, index));
    ss_node node = ss_topology_find(t, lua_tostring(L, index));
    if (!node.i)
        no_such_node(L, t, lua_tostring(L, index), path);
    return node;
}

ss_device ss_lua_device(lua_State *L, int index, int topology, const char *path)
{
    const ss_topology *t = ((ss_lua_box *)lua_touserdata(L, topology))->object;
    if (lua_type(L, index) == LUA_TNUMBER) {
        int whole;
        lua_Integer i = lua_tointegerx(L, index, &whole);
        if (isnan(lua_tonumber(L, index)))
            ss_lua_refuse(L, "%s is not a number (nan)", path);
        if (!whole || i < 1 || i > t->devices)
            ss_lua_refuse(L, "%s: there is no device %s; topology %s has %d device%s", path,
                          lua_tostring(L, index), t->name, (int)t->devices, ss_plural(t->devices));
        return (ss_device){(uint32_t)i};
    }
    ss_node node = ss_lua_node(L, index, topology, path);
    ss_device device = t->node[node.i].device;
    if (!device.i)
        ss_lua_refuse(L, "%s: %s is a switch, and a device is needed", path, t->node[node.i].name);
    return device;
}

ss_link ss_lua_link(lua_State *L, int index, const ss_topology *t, const char *path)
{
    int whole = 0;
    lua_Integer i = lua_type(L, index) == LUA_TNUMBER ? lua_tointegerx(L, index, &whole) : 0;
    if (lua_type(L, index) == LUA_TNUMBER && isnan(lua_tonumber(L, index)))
        ss_lua_refuse(L, "%s is not a number (nan)", path);
    if (lua_type(L, index) != LUA_TNUMBER)
        ss_lua_refuse(L, "%s should be a link (what t:link returned), not %s", path,
                      ss_lua_kind_of(L, index));
    if (!whole || i < 1 || i > t->links)
        ss_lua_refuse(L, "%s: there is no link %s; topology %s has %d link%s", path,
                      lua_tostring(L, index), t->name, (int)t->links, ss_plural(t->links));
    return (ss_link){(uint32_t)i};
}

/* -- making one ------------------------------------------------------------------------------- */

static void free_topology(void *t)
{
    ss_topology_free(t);
}

typedef struct new_options {
    const char *name;
    int routing;
    int64_t routing_seed;
} new_options;

static const ss_opt new_list[] = {
    {.name = "name",
     .kind = SS_OPT_TEXT,
     .at = offsetof(new_options, name),
     .preset = SS_OPT_REQUIRED,
     .help = "what reports and files call it"},
    {.name = "routing",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(new_options, routing),
     .choices = SS_LUA_ROUTINGS,
     .help = "which of several shortest paths: the one with the lowest links, or any, by a hash of "
             "the pair"},
    {.name = "routing_seed",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(new_options, routing_seed),
     .max = 0x1p53,
     .help = "of the hash that ecmp chooses by"},
    {0},
};

/* topology.new { name =, routing =, routing_seed = } -> topology */
static int topology_new(lua_State *L)
{
    new_options o;
    ss_lua_opts(L, 1, new_list, "topology.new", &o);
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_topology_type);
    ss_error err;
    ss_topology *t;
    if (ss_topology_new(o.name, &t, &err))
        return ss_lua_raise(L, &err);
    ss_topology_set_routing(t, (ss_routing)o.routing, (uint64_t)o.routing_seed);
    box->object = t;
    return 1;
}

typedef struct device_options {
    const char *kind;
    uint32_t machine;
    double speed, memory_bandwidth, memory;
    bool forwards;
} device_options;

static const ss_opt device_list[] = {
    {.name = "kind",
     .kind = SS_OPT_TEXT,
     .at = offsetof(device_options, kind),
     .help = "\"p100\": the key of measured tables and of the catalogue (topology.kinds())"},
    {.name = "machine",
     .kind = SS_OPT_COUNT,
     .at = offsetof(device_options, machine),
     .max = SS_MAX_MACHINE,
     .help = "devices of one machine share a number from 1; 0: a machine of its own"},
    {.name = "flops",
     .kind = SS_OPT_VALUE,
     .help = "peak by element type: { f32 = \"9.3 TFLOP/s\", f16 = ... }"},
    {.name = "memory_bandwidth",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(device_options, memory_bandwidth),
     .preset = -1,
     .unit = SS_UNIT_BYTES_PER_SECOND,
     .help = "of its own memory"},
    {.name = "memory",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(device_options, memory),
     .preset = -1,
     .unit = SS_UNIT_BYTES,
     .help = "capacity; 0: not known, never exceeded"},
    {.name = "speed",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(device_options, speed),
     .preset = 1,
     .help = "0.5 takes twice as long as its kind"},
    {.name = "forwards",
     .kind = SS_OPT_FLAG,
     .at = offsetof(device_options, forwards),
     .help = "routes of others may pass through it"},
    {0},
};

/* The table `flops` on top of the stack, over what the catalogue says. */
static void read_flops(lua_State *L, ss_device_def *def)
{
    const char *names[SS_DTYPES];
    char path[PATH];
    for (int d = 0; d < SS_DTYPES; d++)
        names[d] = ss_dtype_name((ss_dtype)d);
    ss_lua_opts_names(L, -1, NULL, names, SS_DTYPES, "topology:device: option 'flops'");
    for (int d = 0; d < SS_DTYPES; d++) {
        lua_pushstring(L, names[d]);
        lua_rawget(L, -2);
        ss_lua_name(path, sizeof path, "topology:device: option 'flops.%s'", names[d]);
        if (!lua_isnil(L, -1))
            def->flop_per_s[d] = ss_lua_quantity(L, -1, SS_UNIT_FLOP_PER_SECOND, path);
        lua_pop(L, 1);
    }
}

/* A kind that the catalogue lacks is somebody's own, and may do without figures where times are
 * given or measured.  But if it has none and looks like one of the catalogue's, it was misspelt. */
static ss_status refuse_misspelt_kind(const char *name, const ss_device_def *def, ss_error *err)
{
    const char *near = def->kind ? ss_device_kind_nearest(def->kind) : NULL;
    if (!near || def->memory_bytes_per_s > 0)
        return SS_OK;
    for (int d = 0; d < SS_DTYPES; d++)
        if (def->flop_per_s[d] > 0)
            return SS_OK;
    return ss_fail(
        err, SS_EINVAL,
        "device %s: kind \"%s\" is not in the catalogue; did you mean \"%s\"? (a kind of "
        "your own needs flops and memory_bandwidth)",
        name, def->kind, near);
}

/* Text at an option that is in bits, "24 Gb", is a slip where memory is meant. */
static void refuse_bits(lua_State *L, int index)
{
    char size[SS_QUANTITY_TEXT];
    if (!lua_istable(L, index))
        return;
    lua_pushliteral(L, "memory");
    lua_rawget(L, index);
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    size_t end = strlen(text);
    while (end && text[end - 1] == ' ')
        end--;
    if (end && text[end - 1] == 'b') {
        double bytes = ss_lua_quantity(L, -1, SS_UNIT_BYTES, "topology:device: option 'memory'");
        ss_lua_refuse(L,
                      "topology:device: option 'memory' is \"%s\", which is in bits (%s); write "
                      "\"%.*sB\"",
                      text, ss_format_quantity(bytes, SS_UNIT_BYTES, size, sizeof size),
                      (int)end - 1, text);
    }
    lua_pop(L, 1);
}

/* A plain number is in bytes per second.  No link and no memory is so slow: GB/s were meant. */
void ss_lua_refuse_plain_bandwidth(lua_State *L, int index, const char *name, const char *call)
{
    if (!lua_istable(L, index))
        return;
    lua_pushstring(L, name);
    lua_rawget(L, index);
    double given = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
    if (given > 0 && given < LEAST_PLAIN_BANDWIDTH)
        ss_lua_refuse(L,
                      "%s: option '%s' = %.6g means %.6g B/s; write \"%.6g GB/s\" or \"%.6g "
                      "Gb/s\", or \"%.6g B/s\"",
                      call, name, given, given, given, given, given);
    lua_pop(L, 1);
}

/* topology:device(name, { kind =, machine =, ... }) -> node */
static int topology_device(lua_State *L)
{
    ss_topology *t = ss_lua_check_change(L, 1, &ss_lua_topology_type);
    const char *name = ss_lua_text(L, 2, "topology:device: the name");
    device_options o;
    ss_lua_opts(L, 3, device_list, "topology:device", &o);
    refuse_bits(L, 3);
    ss_lua_refuse_plain_bandwidth(L, 3, "memory_bandwidth", "topology:device");
    lua_settop(L, 3);
    const ss_device_def *known = o.kind ? ss_device_kind_find(o.kind) : NULL;
    ss_device_def def = known ? *known : (ss_device_def){0};
    def.kind = o.kind;
    def.machine = o.machine;
    def.speed = o.speed;
    def.forwards = o.forwards;
    if (o.memory_bandwidth != -1)
        def.memory_bytes_per_s = o.memory_bandwidth;
    if (o.memory != -1)
        def.memory_bytes = o.memory;
    if (lua_istable(L, 3)) {
        lua_pushliteral(L, "flops");
        lua_rawget(L, 3);
        if (!lua_isnil(L, -1))
            read_flops(L, &def);
        lua_pop(L, 1);
    }
    push_node(L, 1, (ss_node){0});
    node_value *v = lua_touserdata(L, -1);

    ss_error err;
    ss_device device;
    if (!known && refuse_misspelt_kind(name, &def, &err))
        return ss_lua_raise(L, &err);
    if (ss_topology_add_device(t, name, &def, &device, &err))
        return ss_lua_raise(L, &err);

    v->node = t->device[device.i].node;
    return 1;
}

typedef struct switch_options {
    bool stages;
} switch_options;

static const ss_opt switch_list[] = {
    {.name = "stages",
     .kind = SS_OPT_FLAG,
     .at = offsetof(switch_options, stages),
     .help = "messages are stored here before they go on, as in the memory of a host"},
    {0},
};

/* topology:switch(name, { stages = }) -> node */
static int topology_switch(lua_State *L)
{
    ss_topology *t = ss_lua_check_change(L, 1, &ss_lua_topology_type);
    const char *name = ss_lua_text(L, 2, "topology:switch: the name");
    switch_options o;
    ss_lua_opts(L, 3, switch_list, "topology:switch", &o);
    push_node(L, 1, (ss_node){0});
    node_value *v = lua_touserdata(L, -1);

    ss_error err;
    ss_node node;
    if (ss_topology_add_switch(t, name, &node, &err) ||
        ss_topology_set_stages(t, node, o.stages, &err))
        return ss_lua_raise(L, &err);

    v->node = node;
    return 1;
}

typedef struct link_options {
    double bandwidth, latency;
    const char *kind;
    int duplex;
    uint32_t weight;
} link_options;

enum { DUPLEX_FULL, DUPLEX_HALF, DUPLEX_ONE_WAY };

static const ss_opt link_list[] = {
    {.name = "bandwidth",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(link_options, bandwidth),
     .preset = SS_OPT_REQUIRED,
     .unit = SS_UNIT_BYTES_PER_SECOND,
     .help = "in each direction"},
    {.name = "latency",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(link_options, latency),
     .unit = SS_UNIT_SECONDS,
     .help = "of every message"},
    {.name = "kind",
     .kind = SS_OPT_TEXT,
     .at = offsetof(link_options, kind),
     .help = "\"nvlink\", \"pcie\", \"ib\": for reports and colours"},
    {.name = "duplex",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(link_options, duplex),
     .choices = "full|half|one_way",
     .help = "two links, one link for both directions, or one link in one direction"},
    {.name = "weight",
     .kind = SS_OPT_COUNT,
     .at = offsetof(link_options, weight),
     .preset = 1,
     .min = 1,
     .max = 1 << 20,
     .help = "in the sum that the shortest path has least of"},
    {.name = "half_size",
     .kind = SS_OPT_VALUE,
     .help = "bytes: a message of so many gets half of the bandwidth, s / (s + half_size)"},
    {.name = "efficiency",
     .kind = SS_OPT_VALUE,
     .help = "list of { bytes =, efficiency = }: the share of the bandwidth by size, measured"},
    {.name = "latency_by_size",
     .kind = SS_OPT_VALUE,
     .help = "list of { bytes =, latency = }: of messages of at least so many bytes"},
    {.name = "load",
     .kind = SS_OPT_VALUE,
     .help = "the part of the bandwidth that others take, from 0 to below 1"},
    {0},
};

/* A plain number is in seconds.  No link has a latency of one: microseconds were meant.  Whoever
 * means it writes "2 s". */
void ss_lua_refuse_plain_seconds(lua_State *L, int index, const char *call)
{
    if (!lua_istable(L, index))
        return;
    lua_pushliteral(L, "latency");
    lua_rawget(L, index);
    double given = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
    if (given >= 1)
        ss_lua_refuse(L,
                      "%s: option 'latency' = %.6g means %.6g s; write \"%.6g us\" for "
                      "microseconds, or \"%.6g s\"",
                      call, given, given, given, given);
    lua_pop(L, 1);
}

/* topology:link(from, to, { bandwidth =, ... }) -> link [, link back] */
static int topology_link(lua_State *L)
{
    ss_topology *t = ss_lua_check_change(L, 1, &ss_lua_topology_type);
    ss_node from = ss_lua_node(L, 2, 1, "topology:link: the first end");
    ss_node to = ss_lua_node(L, 3, 1, "topology:link: the second end");
    link_options o;
    ss_lua_opts(L, 4, link_list, "topology:link", &o);
    ss_lua_refuse_plain_seconds(L, 4, "topology:link");
    ss_lua_refuse_plain_bandwidth(L, 4, "bandwidth", "topology:link");
    ss_link_def def = {.kind = o.kind,
                       .bytes_per_s = o.bandwidth,
                       .latency_s = o.latency,
                       .half_duplex = o.duplex == DUPLEX_HALF,
                       .weight = o.weight,
                       .law = ss_lua_link_law(L, 4, "topology:link", NULL)};

    ss_error err;
    ss_link there, back = {0};
    if (ss_topology_add_link(t, from, to, &def, &there, &err))
        return ss_lua_raise(L, &err);
    if (o.duplex == DUPLEX_FULL && ss_topology_add_link(t, to, from, &def, &back, &err))
        return ss_lua_raise(L, &err);

    lua_pushinteger(L, there.i);
    if (!back.i)
        return 1;
    lua_pushinteger(L, back.i);
    return 2;
}

typedef struct route_options {
    uint32_t weight;
    double limit;
} route_options;

static const ss_opt route_list[] = {
    {.name = "weight",
     .kind = SS_OPT_COUNT,
     .at = offsetof(route_options, weight),
     .preset = 1,
     .min = 1,
     .max = SS_MAX_WEIGHT,
     .help = "of its flows where links are shared: 2 gets twice as much as 1"},
    {.name = "limit",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(route_options, limit),
     .max = 1e18,
     .unit = SS_UNIT_BYTES_PER_SECOND,
     .help = "the most that one of its messages can have there; 0: no limit"},
    {0},
};

/* topology:route(from, to, { link, ... }, { weight =, limit = }) */
static int topology_route(lua_State *L)
{
    ss_topology *t = ss_lua_check_change(L, 1, &ss_lua_topology_type);
    ss_device from = ss_lua_device(L, 2, 1, "topology:route: the source");
    ss_device to = ss_lua_device(L, 3, 1, "topology:route: the target");
    if (!lua_istable(L, 4))
        return ss_lua_refuse(L, "topology:route takes a list of links, not %s",
                             ss_lua_kind_of(L, 4));
    route_options o;
    ss_lua_opts(L, 5, route_list, "topology:route", &o);
    ss_lua_refuse_plain_bandwidth(L, 5, "limit", "topology:route");
    uint32_t n = ss_lua_list(L, 4, "topology:route: the list of links");
    if (n > t->links)
        return ss_lua_refuse(L, "topology:route: %d link%s, and topology %s has %d", (int)n,
                             ss_plural(n), t->name, (int)t->links);
    ss_link *link = lua_newuserdatauv(L, (n + 1) * sizeof *link, 0);
    for (uint32_t i = 0; i < n; i++) {
        char path[PATH];
        ss_lua_name(path, sizeof path, "topology:route: link %d of the list", (int)i + 1);
        lua_rawgeti(L, 4, (lua_Integer)i + 1);
        link[i] = ss_lua_link(L, -1, t, path);
        lua_pop(L, 1);
    }

    ss_error err;
    if (ss_topology_add_route(t, from, to, link, (uint32_t)n, &err) ||
        ss_topology_set_route_flows(t, from, to, o.weight, o.limit, &err))
        return ss_lua_raise(L, &err);
    return 0;
}

/* -- what a script sees ------------------------------------------------------------------------ */

static const ss_lua_method topology_methods[] = {
    {"device", topology_device, "(name, options) -> node: adds a device"},
    {"switch", topology_switch, "(name, { stages = }) -> node: adds a switch"},
    {"link", topology_link, "(from, to, options) -> link, link back: joins two nodes"},
    {"route", topology_route,
     "(from, to, links, { weight =, limit = }): a route to take instead of the shortest one"},
    {"set_routing", ss_lua_topology_set_routing,
     "(routing, options): which of several shortest paths is taken"},
    {"set_link", ss_lua_topology_set_link,
     "(link or node, options) -> links: other figures of a link, or of all links of a node"},
    {"fail", ss_lua_topology_fail, "(link or switch, ...): routes go round it"},
    {"restore", ss_lua_topology_restore, "(link or switch, ...): it works again"},
    {"path", ss_lua_topology_path, "(from, to) -> links: the route that transfers take"},
    {"device_list", ss_lua_topology_device_list,
     "() -> list of tables: what is known of each device"},
    {"link_list", ss_lua_topology_link_list, "() -> list of tables: what is known of each link"},
    {"switch_list", ss_lua_topology_switch_list,
     "() -> list of tables: what is known of each switch"},
    {"route_list", ss_lua_topology_route_list, "() -> list of tables: the routes that were given"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_topology_type = {
    .name = "soapstone.topology",
    .noun = "topology",
    .free = free_topology,
    .fields = ss_lua_topology_fields,
    .methods = topology_methods,
    .text = ss_lua_topology_text,
};

/* -- the module ------------------------------------------------------------------------------- */

static const ss_lua_method functions[] = {
    {"kinds", ss_lua_topology_kinds, "() -> list of tables: the catalogue of devices"},
    {"new", topology_new, "({ name =, routing =, routing_seed = }) -> topology"},
    {NULL, NULL, NULL},
};

void ss_lua_open_topology(lua_State *L)
{
    ss_lua_type_register(L, &ss_lua_node_type);
    ss_lua_type_register(L, &ss_lua_topology_type);
    ss_lua_type_register(L, &ss_lua_routes_type);
    ss_lua_push_module(L, "topology", functions);
}
