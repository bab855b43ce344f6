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

/* Makes a list of the links of a route; what is found is copied into `links`, Lua's memory. */
static ss_status find_path(const ss_topology *t, ss_device from, ss_device to, ss_link *links,
                           uint32_t *n, ss_error *err)
{
    ss_routes *routes = NULL;
    ss_route route = {0};
    ss_status s = ss_routes_new(t, &routes, err);
    if (!s)
        s = ss_routes_find(routes, from, to, &route, err);
    *n = 0;
    if (!s && route.i) {
        const ss_link *found = ss_route_links(routes, route, n);
        memcpy(links, found, *n * sizeof *links);
    }
    ss_routes_free(routes);
    return s;
}

/* topology:path(from, to) -> list of links */
int ss_lua_topology_path(lua_State *L)
{
    ss_topology *t = ss_lua_check(L, 1, &ss_lua_topology_type);
    ss_device from = ss_lua_device(L, 2, 1, "topology:path: the source");
    ss_device to = ss_lua_device(L, 3, 1, "topology:path: the target");
    ss_link *link = lua_newuserdatauv(L, ((size_t)t->links + 1) * sizeof *link, 0);

    ss_error err;
    uint32_t n;
    if (find_path(t, from, to, link, &n, &err))
        return ss_lua_raise(L, &err);

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

/* topology:link_list() -> { { name =, from =, to =, bandwidth =, latency =, ... }, ... } */
int ss_lua_topology_link_list(lua_State *L)
{
    ss_topology *t = ss_lua_check(L, 1, &ss_lua_topology_type);
    lua_createtable(L, (int)t->links, 0);
    for (uint32_t i = 1; i <= t->links; i++) {
        const ss_link_row *row = &t->link[i];
        lua_createtable(L, 0, 8);
        ss_lua_set_text(L, "name", row->name);
        ss_lua_set_text(L, "from", t->node[row->from.i].name);
        ss_lua_set_text(L, "to", t->node[row->to.i].name);
        ss_lua_set_text(L, "kind", row->def.kind);
        ss_lua_set_number(L, "bandwidth", row->def.bytes_per_s);
        ss_lua_set_number(L, "latency", row->def.latency_s);
        ss_lua_set_integer(L, "weight", row->def.weight);
        lua_pushboolean(L, row->def.half_duplex);
        lua_setfield(L, -2, "half_duplex");
        lua_rawseti(L, -2, i);
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

int ss_lua_topology_text(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_topology_type.name);
    const ss_topology *t = box->closed ? NULL : box->object;
    if (t)
        lua_pushfstring(L, "topology %s: %d device%s, %d switch%s, %d link%s", t->name,
                        (int)t->devices, ss_plural(t->devices), (int)(t->nodes - t->devices),
                        t->nodes - t->devices == 1 ? "" : "es", (int)t->links, ss_plural(t->links));
    else
        lua_pushliteral(L, "topology (closed)");
    return 1;
}

const ss_lua_field ss_lua_topology_fields[] = {
    {"name", get_name, "what reports and files call it"},
    {"devices", get_devices, "how many there are"},
    {"links", get_links, "how many there are; each direction counts"},
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
