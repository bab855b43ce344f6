/* library.h - the files of ours that a script can require: models/, topologies/, and soapstone's
 * Lua half.
 *
 * A name that `require` does not find is answered with the one that was meant, in one sentence: the
 * stock message lists every path that was tried.
 */
#ifndef SS_LUA_LIBRARY_H
#define SS_LUA_LIBRARY_H

#include <stdbool.h>

#include <lua.h>

#include "base/text.h"

/* Pushes a list of the names of the Lua files in a folder of ours ("models"), sorted; empty if the
 * folder cannot be read. */
void ss_lua_push_library(lua_State *L, const char *folder);

/* Appends what the file says of itself at its top, the first sentence or all of it, without its
 * name and the marks of a comment; false: there is no such file. */
bool ss_lua_library_comment(lua_State *L, const char *folder, const char *name, bool all,
                            ss_text *out);

/* Makes the answer of `require` the last of package.searchers. */
void ss_lua_add_searcher(lua_State *L);

#endif
