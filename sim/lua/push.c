/* push.c - fields of a table on top of the stack. */
#include <math.h>

#include "lua/types.h"

void ss_lua_set_number(lua_State *L, const char *key, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

void ss_lua_set_integer(lua_State *L, const char *key, lua_Integer value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, key);
}

/* Counts that the core keeps as doubles: up to 2^53 those are whole and exact. */
void ss_lua_push_count(lua_State *L, double value)
{
    if (fabs(value) <= 0x1p53 && value == floor(value))
        lua_pushinteger(L, (lua_Integer)value);
    else
        lua_pushnumber(L, value);
}

void ss_lua_set_count(lua_State *L, const char *key, double value)
{
    ss_lua_push_count(L, value);
    lua_setfield(L, -2, key);
}

void ss_lua_set_text(lua_State *L, const char *key, const char *value)
{
    lua_pushstring(L, value);
    lua_setfield(L, -2, key);
}

void ss_lua_set_flag(lua_State *L, const char *key, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, key);
}

void ss_lua_set_time(lua_State *L, const char *key, ss_time value)
{
    ss_lua_set_number(L, key, ss_time_seconds(value));
}
