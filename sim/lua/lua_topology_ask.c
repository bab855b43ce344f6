/* lua_topology_ask.c - what a topology and the catalogue of devices say when a script asks them.
 * See lua_topology.c, which builds topologies. */
#include <string.h>

#include <lauxlib.h>

#include "graph/catalog.h"
#include "graph/route.h"
#include "lua/lua_topology.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/types.h"

/* -- a topology ------------------------------------------------------------------------------- */

static void free_routes(void *routes)
{
    ss_routes_free(routes);
}

/* Scripts hold none: a topology keeps it for the next path.  It may outlive the topology's object,
 * which it does not look at when it goes. */
const ss_lua_type ss_lua_routes_type = {
    .name = "soapstone.routes", .noun = "table of routes", .free = free_routes};

/* Routes of the topology at index 1 as it is now; pushes the box that owns them. */
static ss_status push_routes(lua_State *L, const ss_topology *t, ss_routes **out, ss_error *err)
{
    lua_getiuservalue(L, 1, SS_LUA_HOLDS); /* a topology holds no other box */
    ss_lua_box *box = ss_lua_box_test(L, -1, &ss_lua_routes_type);
    if (!box || !ss_routes_hold(box->object)) {
        box = ss_lua_box_new(L, &ss_lua_routes_type);
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, 1, SS_LUA_HOLDS);
        ss_routes *routes;
        ss_status s = ss_routes_new(t, &routes, err);
        if (s)
            return s;
        box->object = routes;
    }
    *out = box->object;
    return SS_OK;
}

/* topology:path(from, to) -> list of links */
int ss_lua_topology_path(lua_State *L)
{
    ss_topology *t = ss_lua_check(L, 1, &ss_lua_topology_type);
    ss_device from = ss_lua_device(L, 2, 1, "topology:path: the source");
    ss_device to = ss_lua_device(L, 3, 1, "topology:path: the target");

    ss_error err;
    ss_routes *routes;
    ss_route route;
    uint32_t n;
    if (push_routes(L, t, &routes, &err) || ss_routes_find(routes, from, to, &route, &err))
        return ss_lua_raise(L, &err);

    const ss_link *link = ss_route_links(routes, route, &n);
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        lua_pushinteger(L, link[i].i);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static void push_flops(lua_State *L, const ss_device_def *def)
{
    lua_newtable(L);
    for (int d = 0; d < SS_DTYPES; d++)
        if (def->flop_per_s[d] > 0)
            ss_lua_set_number(L, ss_dtype_name((ss_dtype)d), def->flop_per_s[d]);
}

/* topology:device_list() -> { { name =, kind =, machine =, ... }, ... } */
int ss_lua_topology_device_list(lua_State *L)
{
    ss_topology *t = ss_lua_check(L, 1, &ss_lua_topology_type);
    lua_createtable(L, (int)t->devices, 0);
    for (uint32_t i = 1; i <= t->devices; i++) {
        const ss_device_def *def = &t->device[i].def;
        lua_createtable(L, 0, 8);
        ss_lua_set_text(L, "name", ss_topology_device_name(t, (ss_device){i}));
        ss_lua_set_text(L, "kind", def->kind);
        ss_lua_set_integer(L, "machine", def->machine);
        ss_lua_set_number(L, "memory_bandwidth", def->memory_bytes_per_s);
        ss_lua_set_number(L, "memory", def->memory_bytes);
        ss_lua_set_number(L, "speed", def->speed);
        lua_pushboolean(L, def->forwards);
        lua_setfield(L, -2, "forwards");
        push_flops(L, def);
        lua_setfield(L, -2, "flops");
        lua_rawseti(L, -2, i);
    }
    return 1;
}

/* Points of a law, as the options `efficiency` and `latency_by_size` take them. */
static void set_points(lua_State *L, const char *name, const char *key, uint32_t n,
                       const ss_link_law *l, bool steps)
{
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        lua_createtable(L, 0, 2);
        ss_lua_set_number(L, "bytes", steps ? l->step[i].bytes : l->curve.bytes[i]);
        ss_lua_set_number(L, key, steps ? l->step[i].latency_s : l->curve.share[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, name);
}

/* What is not there is left out, so that the table can be options of another link. */
static void set_law(lua_State *L, const ss_link_law *l)
{
    if (!l)
        return;
    if (l->half_bytes > 0)
        ss_lua_set_number(L, "half_size", l->half_bytes);
    if (l->load > 0)
        ss_lua_set_number(L, "load", l->load);
    if (l->curve.n)
        set_points(L, "efficiency", "efficiency", l->curve.n, l, false);
    if (l->steps)
        set_points(L, "latency_by_size", "latency", l->steps, l, true);
}

/* topology:link_list() -> { { name =, from =, to =, bandwidth =, latency =, ... }, ... } */
int ss_lua_topology_link_list(lua_State *L)
{
    ss_topology *t = ss_lua_check(L, 1, &ss_lua_topology_type);
    lua_createtable(L, (int)t->links, 0);
    for (uint32_t i = 1; i <= t->links; i++) {
        const ss_link_row *row = &t->link[i];
        lua_createtable(L, 0, 9);
        ss_lua_set_text(L, "name", row->name);
        ss_lua_set_text(L, "from", t->node[row->from.i].name);
        ss_lua_set_text(L, "to", t->node[row->to.i].name);
        ss_lua_set_text(L, "kind", row->def.kind);
        ss_lua_set_number(L, "bandwidth", row->def.bytes_per_s);
        ss_lua_set_number(L, "latency", row->def.latency_s);
        ss_lua_set_integer(L, "weight", row->def.weight);
        lua_pushboolean(L, row->def.half_duplex);
        lua_setfield(L, -2, "half_duplex");
        lua_pushboolean(L, !ss_topology_works(t, (ss_link){i}));
        lua_setfield(L, -2, "failed");
        set_law(L, row->def.law);
        lua_rawseti(L, -2, i);
    }
    return 1;
}

/* topology:switch_list() -> { { name =, stages =, failed = }, ... } */
int ss_lua_topology_switch_list(lua_State *L)
{
    ss_topology *t = ss_lua_check(L, 1, &ss_lua_topology_type);
    lua_Integer n = 0;
    lua_createtable(L, (int)(t->nodes - t->devices), 0);
    for (uint32_t i = 1; i <= t->nodes; i++) {
        if (t->node[i].device.i)
            continue;
        lua_createtable(L, 0, 3);
        ss_lua_set_text(L, "name", t->node[i].name);
        ss_lua_set_flag(L, "stages", t->node[i].stages);
        ss_lua_set_flag(L, "failed", t->node[i].failed);
        lua_rawseti(L, -2, ++n);
    }
    return 1;
}

/* topology:route_list() -> { { from =, to =, links =, weight =, limit = }, ... } */
int ss_lua_topology_route_list(lua_State *L)
{
    ss_topology *t = ss_lua_check(L, 1, &ss_lua_topology_type);
    lua_createtable(L, (int)t->givens, 0);
    for (uint32_t i = 0; i < t->givens; i++) {
        const ss_given_route *g = &t->given[i];
        lua_createtable(L, 0, 5);
        ss_lua_set_text(L, "from", ss_topology_device_name(t, g->from));
        ss_lua_set_text(L, "to", ss_topology_device_name(t, g->to));
        lua_createtable(L, (int)g->links, 0);
        for (uint32_t k = 0; k < g->links; k++) {
            lua_pushinteger(L, g->link[k].i);
            lua_rawseti(L, -2, (lua_Integer)k + 1);
        }
        lua_setfield(L, -2, "links");
        ss_lua_set_integer(L, "weight", g->weight);
        ss_lua_set_number(L, "limit", g->limit);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int get_name(lua_State *L, int index)
{
    lua_pushstring(L, ((ss_topology *)ss_lua_check(L, index, &ss_lua_topology_type))->name);
    return 1;
}

static int get_devices(lua_State *L, int index)
{
    lua_pushinteger(L, ((ss_topology *)ss_lua_check(L, index, &ss_lua_topology_type))->devices);
    return 1;
}

static int get_links(lua_State *L, int index)
{
    lua_pushinteger(L, ((ss_topology *)ss_lua_check(L, index, &ss_lua_topology_type))->links);
    return 1;
}

static int get_machines(lua_State *L, int index)
{
    lua_pushinteger(L, ((ss_topology *)ss_lua_check(L, index, &ss_lua_topology_type))->machines);
    return 1;
}

static int get_routing(lua_State *L, int index)
{
    const ss_topology *t = ss_lua_check(L, index, &ss_lua_topology_type);
    lua_pushstring(L, ss_routing_name(t->routing));
    return 1;
}

static int get_routing_seed(lua_State *L, int index)
{
    const ss_topology *t = ss_lua_check(L, index, &ss_lua_topology_type);
    lua_pushinteger(L, (lua_Integer)t->routing_seed);
    return 1;
}

static int get_failed(lua_State *L, int index)
{
    const ss_topology *t = ss_lua_check(L, index, &ss_lua_topology_type);
    uint32_t failed = 0;
    for (uint32_t i = 1; t->failures && i <= t->links; i++)
        failed += !ss_topology_works(t, (ss_link){i});
    lua_pushinteger(L, failed);
    return 1;
}

/* ", routing ecmp (seed 3), 2 failures": nothing of what is as it always is. */
static void push_routing(lua_State *L, const ss_topology *t)
{
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    if (t->routing != SS_ROUTING_SHORTEST) {
        lua_pushfstring(L, ", routing %s (seed %I)", ss_routing_name(t->routing),
                        (lua_Integer)t->routing_seed);
        luaL_addvalue(&b);
    }
    if (t->failures) {
        lua_pushfstring(L, ", %d failure%s", (int)t->failures, ss_plural(t->failures));
        luaL_addvalue(&b);
    }
    luaL_pushresult(&b);
}

int ss_lua_topology_text(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_topology_type.name);
    const ss_topology *t = box->closed ? NULL : box->object;
    if (t) {
        push_routing(L, t);
        lua_pushfstring(L, "topology %s: %d device%s, %d switch%s, %d link%s%s", t->name,
                        (int)t->devices, ss_plural(t->devices), (int)(t->nodes - t->devices),
                        t->nodes - t->devices == 1 ? "" : "es", (int)t->links, ss_plural(t->links),
                        lua_tostring(L, -1));
    } else
        lua_pushliteral(L, "topology (closed)");
    return 1;
}

const ss_lua_field ss_lua_topology_fields[] = {
    {"name", get_name, "what reports and files call it"},
    {"devices", get_devices, "how many there are"},
    {"links", get_links, "how many there are; each direction counts"},
    {"routing", get_routing, "which of several shortest paths is taken: \"shortest\", \"ecmp\""},
    {"routing_seed", get_routing_seed, "of the hash that ecmp chooses by"},
    {"failed", get_failed, "how many links failed, or lead to a switch that did"},
    {"machines", get_machines, "the highest machine number of a device"},
    {NULL, NULL, NULL},
};

/* -- the catalogue ----------------------------------------------------------------------------- */

/* topology.kinds() -> { { name =, summary =, flops =, memory =, ... source = }, ... } */
int ss_lua_topology_kinds(lua_State *L)
{
    uint32_t n;
    const ss_device_kind *kinds = ss_device_kinds(&n);
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        lua_createtable(L, 0, 6);
        ss_lua_set_text(L, "name", kinds[i].def.kind);
        ss_lua_set_text(L, "summary", kinds[i].summary);
        ss_lua_set_text(L, "source", kinds[i].source);
        ss_lua_set_number(L, "memory_bandwidth", kinds[i].def.memory_bytes_per_s);
        ss_lua_set_number(L, "memory", kinds[i].def.memory_bytes);
        push_flops(L, &kinds[i].def);
        lua_setfield(L, -2, "flops");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}
