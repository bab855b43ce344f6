/* module.h - the entries that Lua's loaders look for in soapstone.so. */
#ifndef SS_LUA_MODULE_H
#define SS_LUA_MODULE_H

#include <lua.h>

#if defined(__GNUC__)
#define SS_LUA_ENTRY __attribute__((visibility("default")))
#else
#define SS_LUA_ENTRY
#endif

SS_LUA_ENTRY int luaopen_soapstone(lua_State *L);
SS_LUA_ENTRY int luaopen_soapstone_calibrate(lua_State *L);
SS_LUA_ENTRY int luaopen_soapstone_costs(lua_State *L);
SS_LUA_ENTRY int luaopen_soapstone_dag(lua_State *L);
SS_LUA_ENTRY int luaopen_soapstone_model(lua_State *L);
SS_LUA_ENTRY int luaopen_soapstone_plot(lua_State *L);
SS_LUA_ENTRY int luaopen_soapstone_profile(lua_State *L);
SS_LUA_ENTRY int luaopen_soapstone_search(lua_State *L);
SS_LUA_ENTRY int luaopen_soapstone_topology(lua_State *L);
SS_LUA_ENTRY int luaopen_soapstone_trace(lua_State *L);
SS_LUA_ENTRY int luaopen_soapstone_unit(lua_State *L);

#endif
