/* lua_fit.h - what a script holds of a fit. */
#ifndef SS_LUA_FIT_H
#define SS_LUA_FIT_H

#include "lua/box.h"
#include "simulate/fit.h"
#include "validation/compare/compare.h"

typedef struct ss_lua_fit {
    ss_fit *fit;
    char *name; /* of the curve, or "" */
} ss_lua_fit;

extern const ss_lua_type ss_lua_fit_type;

/* calibrate.tasks (lua_calibrate_tasks.c) */
int ss_lua_calibrate_tasks(lua_State *L);

/* calibrate.roofline (lua_calibrate_roofline.c) */
int ss_lua_calibrate_roofline(lua_State *L);

/* As soapstone.compare gives it. */
void ss_lua_push_comparison(lua_State *L, const ss_comparison *c);

#endif
