/* lua_topology.h - what lua_topology.c, which builds topologies, needs of lua_topology_ask.c, which
 * asks them. */
#ifndef SS_LUA_TOPOLOGY_H
#define SS_LUA_TOPOLOGY_H

#include <lua.h>

#include "lua/box.h"

extern const ss_lua_field ss_lua_topology_fields[];
int ss_lua_topology_path(lua_State *L);
int ss_lua_topology_device_list(lua_State *L);
int ss_lua_topology_link_list(lua_State *L);
int ss_lua_topology_text(lua_State *L);
int ss_lua_topology_kinds(lua_State *L);

#endif
