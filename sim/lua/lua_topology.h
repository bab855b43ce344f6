/* lua_topology.h - what lua_topology.c, which builds topologies, lua_topology_ask.c, which asks them,
 * and lua_topology_change.c, which changes what is there, need of each other. */
#ifndef SS_LUA_TOPOLOGY_H
#define SS_LUA_TOPOLOGY_H

#include <lua.h>

#include "graph/topology.h"
#include "lua/box.h"

#define SS_LUA_ROUTINGS "shortest|ecmp" /* in the order of ss_routing */

extern const ss_lua_field ss_lua_topology_fields[];
extern const ss_lua_type ss_lua_routes_type; /* of no script's: the routes that path found */
int ss_lua_topology_path(lua_State *L);
int ss_lua_topology_device_list(lua_State *L);
int ss_lua_topology_link_list(lua_State *L);
int ss_lua_topology_switch_list(lua_State *L);
int ss_lua_topology_route_list(lua_State *L);
int ss_lua_topology_text(lua_State *L);
int ss_lua_topology_kinds(lua_State *L);

int ss_lua_topology_set_routing(lua_State *L);
int ss_lua_topology_set_link(lua_State *L);
int ss_lua_topology_fail(lua_State *L);
int ss_lua_topology_restore(lua_State *L);

/* A node that t:device or t:switch returned, or the name of one. */
ss_node ss_lua_node(lua_State *L, int index, int topology, const char *path);
ss_link ss_lua_link(lua_State *L, int index, const ss_topology *t, const char *path);
/* Which links: a link's number or name, or a node (or its name), which means all links there. */
typedef struct ss_lua_part {
    ss_link link; /* or, if this is 0, */
    ss_node node; /* every link of it */
} ss_lua_part;

ss_lua_part ss_lua_part_read(lua_State *L, int index, int topology, const char *path);
bool ss_lua_part_has(const ss_topology *t, ss_lua_part p, uint32_t link);
/* How a link falls short, by the options in the table at `index`; what is not given is as in `was`, which may
 * be NULL.  Leaves values on the stack, which keep it. */
const ss_link_law *ss_lua_link_law(lua_State *L, int index, const char *call,
                                   const ss_link_law *was);
/* Plain numbers that were meant in other units, in the table at `index`. */
void ss_lua_refuse_plain_bandwidth(lua_State *L, int index, const char *name, const char *call);
void ss_lua_refuse_plain_seconds(lua_State *L, int index, const char *call);

#endif
