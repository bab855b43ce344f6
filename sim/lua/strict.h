/* strict.h - tables of ours that refuse names that are not in them.
 *
 * A misspelt function would be Lua's "attempt to call a nil value", a misspelt field of a result a
 * nil that travels on.  Both answer with the name that was meant instead.  pairs, #, ipairs and
 * rawget see plain tables: `rawget(soapstone, "x")` asks without being refused.
 */
#ifndef SS_STRICT_H
#define SS_STRICT_H

#include <lua.h>

#include "lua/types.h"

/* Pushes a module of these functions, called `name` in messages ("costs").  A function called with
 * a colon, which hands the module over as its first argument, says that a dot is meant. */
void ss_lua_push_module(lua_State *L, const char *name, const ss_lua_method *list);

/* Adds one function to the module on top of the stack; pops what is above it, the function's
 * upvalue 1. */
void ss_lua_module_add(lua_State *L, const char *module, const char *name, lua_CFunction call);

/* The table on top of the stack is a row ("device"): fields that it lacks are refused, but for
 * those of `optional`, "cargo|behind" or NULL. */
void ss_lua_strict_row(lua_State *L, const char *noun, const char *optional);

/* What print shows of rows like the one on top of the stack. */
void ss_lua_row_text(lua_State *L, lua_CFunction text);
/* For that text: a number of the row, argument 1; 0 if it is none. */
double ss_lua_row_number(lua_State *L, const char *name);

/* The table on top of the stack is a list of such rows: elements beyond the one after its last,
 * where ipairs stops, are refused. */
void ss_lua_strict_list(lua_State *L, const char *noun);

#endif
