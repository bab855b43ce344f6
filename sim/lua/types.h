/* types.h - the types a script can hold, for bindings that take several. */
#ifndef SS_LUA_TYPES_H
#define SS_LUA_TYPES_H

#include <lua.h>

#include "graph/model.h"
#include "graph/topology.h"
#include "lua/box.h"

/* A model, and what new tensors of it are made of. */
typedef struct ss_lua_model {
    ss_model *model;
    ss_dtype dtype;
} ss_lua_model;

extern const ss_lua_type ss_lua_model_type, ss_lua_tensor_type;
extern const ss_lua_type ss_lua_topology_type, ss_lua_node_type;

/* A device of the topology at stack index `topology`: the node that t:device returned, its number,
 * or its name. */
ss_device ss_lua_device(lua_State *L, int index, int topology, const char *path);

/* An operator of the model: its name or its position. */
ss_op ss_lua_op(lua_State *L, int index, const ss_model *m, const char *path);

/* Each pushes the table of its part of the module. */
void ss_lua_open_unit(lua_State *L);
void ss_lua_open_model(lua_State *L);
void ss_lua_open_topology(lua_State *L);

#endif
