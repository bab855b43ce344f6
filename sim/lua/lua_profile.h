/* lua_profile.h - what a script holds of a profile: an ss_profile. */
#ifndef SS_LUA_PROFILE_H
#define SS_LUA_PROFILE_H

#include "lua/box.h"
#include "validation/profiler/profile.h"

extern const ss_lua_type ss_lua_profile_type;

/* Pushes an empty one, to be filled. */
ss_profile *ss_lua_push_profile(lua_State *L);

#endif
