/* lua_topology_change.c - what a script changes of a topology that is there: routing, figures of
 * links, failures.  See lua_topology.c, which builds topologies. */
#include <lauxlib.h>

#include "base/mem.h"
#include "lua/lua_topology.h"
#include "lua/opts.h"
#include "lua/types.h"

enum { PATH = 200 };

/* -- routing ----------------------------------------------------------------------------------- */

typedef struct routing_options {
    int64_t seed;
} routing_options;

static const ss_opt routing_list[] = {
    {.name = "seed",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(routing_options, seed),
     .max = 0x1p53,
     .help = "of the hash that ecmp chooses by"},
    {0},
};

/* topology:set_routing(routing, { seed = }) */
int ss_lua_topology_set_routing(lua_State *L)
{
    ss_topology *t = ss_lua_check_change(L, 1, &ss_lua_topology_type);
    int routing = ss_lua_choice(L, 2, SS_LUA_ROUTINGS, "topology:set_routing: the routing");
    routing_options o;
    ss_lua_opts(L, 3, routing_list, "topology:set_routing", &o);
    ss_topology_set_routing(t, (ss_routing)routing, (uint64_t)o.seed);
    return 0;
}

/* -- which links ------------------------------------------------------------------------------- */

static int no_such_part(lua_State *L, const ss_topology *t, const char *name, const char *path)
{
    const char *near = ss_names_nearest(&t->names, name);
    if (!near)
        near = ss_names_nearest(&t->link_names, name);
    if (near)
        return ss_lua_refuse(
            L, "%s: topology %s has no link, device or switch '%s'; did you mean '%s'?", path,
            t->name, name, near);
    return ss_lua_refuse(L, "%s: topology %s has no link, device or switch '%s'", path, t->name,
                         name);
}

ss_lua_part ss_lua_part_read(lua_State *L, int index, int topology, const char *path)
{
    const ss_topology *t = ((ss_lua_box *)lua_touserdata(L, topology))->object;
    if (lua_type(L, index) == LUA_TNUMBER)
        return (ss_lua_part){.link = ss_lua_link(L, index, t, path)};
    if (lua_type(L, index) == LUA_TSTRING) {
        const char *name = lua_tostring(L, index);
        ss_lua_part p = {.node = ss_topology_find(t, name)};
        if (!p.node.i)
            p.link.i = ss_names_find(&t->link_names, name);
        if (!p.node.i && !p.link.i)
            no_such_part(L, t, name, path);
        return p;
    }
    if (!ss_lua_value_test(L, index, &ss_lua_node_type))
        ss_lua_refuse(L, "%s should be a link (its number or name) or a node, not %s", path,
                      ss_lua_kind_of(L, index));
    return (ss_lua_part){.node = ss_lua_node(L, index, topology, path)};
}

bool ss_lua_part_has(const ss_topology *t, ss_lua_part p, uint32_t link)
{
    const ss_link_row *l = &t->link[link];
    return p.link.i ? p.link.i == link : l->from.i == p.node.i || l->to.i == p.node.i;
}

/* -- figures ----------------------------------------------------------------------------------- */

typedef struct change_options {
    double bandwidth, share, latency;
    uint32_t weight;
} change_options;

static const ss_opt change_list[] = {
    {.name = "bandwidth",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(change_options, bandwidth),
     .preset = -1,
     .unit = SS_UNIT_BYTES_PER_SECOND,
     .help = "in each direction; as it is unless given"},
    {.name = "share",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(change_options, share),
     .preset = 1,
     .help = "of the bandwidth it has, or of the one that is given beside it: 0.25 leaves a "
             "quarter"},
    {.name = "latency",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(change_options, latency),
     .preset = -1,
     .unit = SS_UNIT_SECONDS,
     .help = "of every message; as it is unless given"},
    {.name = "weight",
     .kind = SS_OPT_COUNT,
     .at = offsetof(change_options, weight),
     .max = 1 << 20,
     .help = "in the sum that the shortest path has least of; as it is unless given"},
    {.name = "half_size",
     .kind = SS_OPT_VALUE,
     .help = "bytes: a message of so many gets half of the bandwidth, s / (s + half_size); as it "
             "is unless given"},
    {.name = "efficiency",
     .kind = SS_OPT_VALUE,
     .help = "list of { bytes =, efficiency = }: the share of the bandwidth by size, measured; as "
             "it is unless given"},
    {.name = "latency_by_size",
     .kind = SS_OPT_VALUE,
     .help = "list of { bytes =, latency = }: of messages of at least so many bytes; as it is "
             "unless given"},
    {.name = "load",
     .kind = SS_OPT_VALUE,
     .help =
         "the part of the bandwidth that others take, from 0 to below 1; as it is unless given"},
    {0},
};

/* The presets say "as it is": what is given must not. */
static void refuse_below_zero(lua_State *L, const char *name, double given, double preset)
{
    lua_pushstring(L, name);
    bool there = lua_istable(L, 3) && lua_rawget(L, 3) != LUA_TNIL;
    if (there && given == preset)
        ss_lua_refuse(L, "topology:set_link: option '%s' is %g; it must be at least 0", name,
                      given);
    lua_pop(L, 1);
}

/* topology:set_link(part, { bandwidth =, share =, latency =, weight = }) */
int ss_lua_topology_set_link(lua_State *L)
{
    ss_topology *t = ss_lua_check_change(L, 1, &ss_lua_topology_type);
    ss_lua_part p = ss_lua_part_read(L, 2, 1, "topology:set_link: what to change");
    change_options o;
    ss_lua_opts(L, 3, change_list, "topology:set_link", &o);
    if (!lua_istable(L, 3) || (lua_pushnil(L), !lua_next(L, 3)))
        return ss_lua_refuse(
            L, "topology:set_link: nothing is to change: give a bandwidth, a share of "
               "it, a latency, a weight, or how the link falls short");
    lua_settop(L, 3);
    ss_lua_refuse_plain_bandwidth(L, 3, "bandwidth", "topology:set_link");
    ss_lua_refuse_plain_seconds(L, 3, "topology:set_link");
    refuse_below_zero(L, "bandwidth", o.bandwidth, -1);
    refuse_below_zero(L, "latency", o.latency, -1);
    if (!(o.share > 0))
        return ss_lua_refuse(L, "topology:set_link: option 'share' is %g; it must be above 0",
                             o.share);

    ss_error err;
    ss_status s = SS_OK;
    uint32_t links = 0;
    for (uint32_t i = 1; !s && i <= t->links; i++) {
        if (!ss_lua_part_has(t, p, i))
            continue;
        ss_link_def def = t->link[i].def;
        def.bytes_per_s = (o.bandwidth == -1 ? def.bytes_per_s : o.bandwidth) * o.share;
        def.latency_s = o.latency == -1 ? def.latency_s : o.latency;
        def.weight = o.weight ? o.weight : def.weight;
        int top = lua_gettop(L);
        def.law = ss_lua_link_law(L, 3, "topology:set_link", def.law);
        s = ss_topology_set_link(t, (ss_link){i}, &def, &err);
        lua_settop(L, top);
        links++;
    }
    if (s)
        return ss_lua_raise(L, &err);
    lua_pushinteger(L, links);
    return 1;
}

/* -- failures ---------------------------------------------------------------------------------- */

/* Everything is read, then everything is marked: a name that is wrong leaves all as it was. */
static int mark(lua_State *L, bool failed, const char *method)
{
    ss_topology *t = ss_lua_check_change(L, 1, &ss_lua_topology_type);
    int n = lua_gettop(L) - 1;
    if (!n)
        return ss_lua_refuse(L, "%s takes links and switches, and there are none", method);
    ss_lua_part *p = lua_newuserdatauv(L, (size_t)n * sizeof *p, 0);
    for (int i = 0; i < n; i++) {
        char path[PATH];
        ss_lua_name(path, sizeof path, "%s: argument %d", method, i + 1);
        p[i] = ss_lua_part_read(L, i + 2, 1, path);
    }

    ss_error err;
    ss_status s = SS_OK;
    for (int i = 0; i < n && !s; i++)
        if (p[i].node.i && t->node[p[i].node.i].device.i)
            s = ss_topology_set_node_failed(t, p[i].node, failed, &err);
    for (int i = 0; i < n && !s; i++)
        s = p[i].link.i ? ss_topology_set_link_failed(t, p[i].link, failed, &err)
                        : ss_topology_set_node_failed(t, p[i].node, failed, &err);
    return s ? ss_lua_raise(L, &err) : 0;
}

/* topology:fail(part, ...) */
int ss_lua_topology_fail(lua_State *L)
{
    return mark(L, true, "topology:fail");
}

/* topology:restore(part, ...) */
int ss_lua_topology_restore(lua_State *L)
{
    return mark(L, false, "topology:restore");
}
