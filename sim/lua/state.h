/* state.h - the Lua state of the program: its memory, where it finds files, and what is repeatable.
 *
 * Lua's memory comes from base/mem.h, so a test can fail it like any other.  Two runs of one script
 * do the same thing: `pairs` and `next` go by key order, `math.random` is one of our streams,
 * `table.sort` is stable (docs/decisions/0006-repeatable-scripts.md).  Under a stock lua5.4 nothing
 * of the host's is replaced until the script calls soapstone.repeatable().
 */
#ifndef SS_LUA_STATE_H
#define SS_LUA_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

#include "base/status.h"
#include "base/watch.h"

/* A bare state on ss_realloc, or NULL.  Everything after happens under a protected call, because it
 * may run out of memory. */
lua_State *ss_lua_new(void);

/* The standard libraries, the soapstone modules as preloads, the search path, and repeatability.
 * os.exit closes the state unless its second argument is false. */
void ss_lua_prepare(lua_State *L, uint64_t seed);

/* Lets `require` find files beside the script as well, before soapstone's own. */
void ss_lua_add_script_folder(lua_State *L, const char *script);

/* The folder with models/, topologies/, scripts/ and analysis/: $SOAPSTONE_HOME, or what the file
 * `soapstone-home` beside an uninstalled program (or module) says, or share/soapstone next to the
 * bin/ or lib/ it is installed in, or where `make install` was told to put it. */
const char *ss_lua_home(lua_State *L);
void ss_lua_find_home(lua_State *L);

/* Whether a chunk ("@/usr/share/soapstone/models/nmt.lua") is a library file of ours, so that an
 * error belongs to whoever called it. */
bool ss_lua_is_own_source(lua_State *L, const char *source);

/* Who watches long work (base/watch.h): the program notes it, a host's Lua has none (NULL).  The
 * watch is kept, not copied. */
void ss_lua_set_watch(lua_State *L, const ss_watch *watch);
const ss_watch *ss_lua_watch(lua_State *L);

/* The seed that was given to the run. */
uint64_t ss_lua_seed(lua_State *L);

/* Notes the script that is run, for the record (name on top of the stack, text below); and gives it
 * back, NULL if nothing was noted. */
void ss_lua_note_script(lua_State *L);
const char *ss_lua_script(lua_State *L, const char **text);

/* Replaces pairs, next, math.random, math.randomseed and table.sort in the state's globals. */
void ss_lua_make_repeatable(lua_State *L, uint64_t seed);
int ss_lua_ordered_pairs(lua_State *L); /* `pairs`, as a function of the module */

/* Pushes a list of the keys of the table at `index` in their fixed order: integers, other numbers,
 * strings byte by byte, false, true.  Raises for keys of other types, which have no order. */
void ss_lua_push_sorted_keys(lua_State *L, int index);

/* package.preload entries for `require "soapstone"` and its parts. */
void ss_lua_preload(lua_State *L);

/* For a host's Lua: our folders after its own in package.path. */
void ss_lua_append_home(lua_State *L);

#endif
