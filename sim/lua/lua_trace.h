/* lua_trace.h - what a script holds of a trace: an ss_torch_trace. */
#ifndef SS_LUA_TRACE_H
#define SS_LUA_TRACE_H

#include "lua/box.h"

extern const ss_lua_type ss_lua_trace_type;

#endif
