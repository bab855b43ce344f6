/* lua_strategy.h - what the bindings of strategies share; nobody else includes it. */
#ifndef SS_LUA_STRATEGY_H
#define SS_LUA_STRATEGY_H

#include "lua/opts.h"
#include "lua/types.h"

/* The box of a strategy of the problem at `problem`, without one yet; on top of the stack. */
ss_lua_box *ss_lua_strategy_box(lua_State *L, int problem);

/* Takes `strategy` over, also on failure.  It is called `given`, or if that is NULL `otherwise`. */
ss_status ss_lua_strategy_wrap(ss_strategy *strategy, const char *given, const char *otherwise,
                               ss_lua_strategy **out, ss_error *err);

/* From now on it is called `name`. */
ss_status ss_lua_strategy_rename(ss_lua_strategy *s, const char *name, ss_error *err);

/* strategy:apply(kind, options) -> the strategy */
int ss_lua_strategy_apply(lua_State *L);

/* What a script says of an operator's configuration. */
typedef struct ss_lua_cut {
    uint32_t degree[SS_MAX_DIMS];
    const ss_device *device; /* [devices] */
    uint32_t devices;
} ss_lua_cut;

/* Reads { degrees =, devices = } at `index` over what is in `cut`, which stays where nothing is
 * said.  `topology`: its box's index.  Devices that were read are kept by values left on the stack. */
void ss_lua_read_cut(lua_State *L, int index, const ss_op_def *def, int topology, const char *what,
                     ss_lua_cut *cut);

/* Pushes { degrees = { n = 4 }, parts = 4, devices = { 1, 2, 3, 4 }, pinned = { "devices" } }. */
void ss_lua_push_config(lua_State *L, const ss_strategy *s, ss_op op);

#endif
