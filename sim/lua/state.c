#include <config.h>

#include "lua/state.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/mem.h"
#include "lua/box.h"
#include "lua/library.h"
#include "lua/opts.h"

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

static const char HOME = 0, SEED = 0, WATCH = 0, SCRIPT_NAME = 0,
                  SCRIPT_TEXT = 0; /* addresses are the registry's keys */

/* -- memory ----------------------------------------------------------------------------------- */

static void *allocate(void *unused, void *block, size_t old_bytes, size_t bytes)
{
    (void)unused;
    if (!bytes) {
        ss_free(block);
        return NULL;
    }
    void *moved = ss_realloc(block, bytes);
    if (!moved && block && bytes <= old_bytes)
        return block; /* a block that could not be made smaller is big enough as it is */
    return moved;
}

/* Reached only if Lua raises where nothing is protected, which is a bug of ours. */
static int panic(lua_State *L)
{
    const char *text = lua_tostring(L, -1);
    fprintf(stderr, "soapstone: an error outside every protected call: %s\n",
            text ? text : "(not a text)");
    return 0;
}

lua_State *ss_lua_new(void)
{
    lua_State *L = lua_newstate(allocate, NULL);
    if (L)
        lua_atpanic(L, panic);
    return L;
}

/* -- where our files are ---------------------------------------------------------------------- */

static bool is_home(const char *folder)
{
    char path[PATH_MAX + 64];
    ss_lua_name(path, sizeof path, "%s/scripts/lua/soapstone/options.lua", folder);
    return access(path, R_OK) == 0;
}

/* The first line of FOLDER/soapstone-home, which configure writes into the build folder. */
static bool read_home_file(const char *folder, char *home)
{
    char path[PATH_MAX + 64];
    ss_lua_name(path, sizeof path, "%s/soapstone-home", folder);
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    bool read = fgets(home, PATH_MAX, f) != NULL;
    fclose(f);
    if (read)
        home[strcspn(home, "\n")] = '\0';
    return read && is_home(home);
}

/* The folder of the program, or of the module in a host's Lua. */
static bool own_folder(char *folder)
{
    static const char somewhere_in_us = 0;
    Dl_info info;
    char path[PATH_MAX];
    ssize_t n = -1;
    bool module =
        dladdr(&somewhere_in_us, &info) && info.dli_fname && strstr(info.dli_fname, ".so") != NULL;
    if (module) {
        if (!realpath(info.dli_fname, path))
            return false;
    } else {
        n = readlink("/proc/self/exe", path, sizeof path - 1);
        if (n < 0)
            return false;
        path[n] = '\0';
    }
    char *slash = strrchr(path, '/');
    if (!slash)
        return false;
    *slash = '\0';
    memcpy(folder, path, strlen(path) + 1);
    return true;
}

static bool find_home(char *home)
{
    /* of the program or the module in a build folder; of the program in bin/; of the module in
     * lib/lua/5.4/ or lib/<machine>/lua/5.4/ */
    static const char *const share[] = {"/../share/soapstone", "/../../../share/soapstone",
                                        "/../../../../share/soapstone"};
    const char *told = getenv("SOAPSTONE_HOME");
    char folder[PATH_MAX], path[PATH_MAX + 64];
    if (told && *told)
        return realpath(told, home) != NULL;
    if (own_folder(folder)) {
        if (read_home_file(folder, home))
            return true;
        for (size_t i = 0; i < sizeof share / sizeof *share; i++) {
            ss_lua_name(path, sizeof path, "%s%s", folder, share[i]);
            if (is_home(path) && realpath(path, home))
                return true;
        }
    }
    return realpath(SS_PKGDATADIR, home) != NULL;
}

void ss_lua_find_home(lua_State *L)
{
    char home[PATH_MAX];
    if (!find_home(home))
        snprintf(home, sizeof home, "%s", SS_PKGDATADIR); /* `require` will say what is missing */
    lua_pushstring(L, home);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &HOME);
}

const char *ss_lua_home(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &HOME);
    const char *home = lua_tostring(L, -1);
    lua_pop(L, 1); /* the registry keeps it */
    return home ? home : "";
}

bool ss_lua_is_own_source(lua_State *L, const char *source)
{
    static const char *const folders[] = {"/models/", "/topologies/", "/scripts/lua/soapstone/",
                                          "/scripts/lua/commands/"};
    const char *home = ss_lua_home(L);
    size_t n = strlen(home);
    if (!n || source[0] != '@' || strncmp(source + 1, home, n))
        return false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!strncmp(source + 1 + n, folders[i], strlen(folders[i])))
            return true;
    return false;
}

/* Joins `templates` and package.path, ours in front or behind. */
static void extend_path(lua_State *L, const char *templates, bool in_front)
{
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "path");
    const char *path = lua_tostring(L, -1);
    if (!path || !*path)
        lua_pushstring(L, templates);
    else
        lua_pushfstring(L, "%s;%s", in_front ? templates : path, in_front ? path : templates);
    lua_setfield(L, -3, "path");
    lua_pop(L, 2);
}

static void add_home(lua_State *L, bool in_front)
{
    const char *home = ss_lua_home(L);
    const char *templates =
        lua_pushfstring(L, "%s/?.lua;%s/?/init.lua;%s/scripts/lua/?.lua;%s/scripts/lua/?/init.lua",
                        home, home, home, home);
    extend_path(L, templates, in_front);
    lua_pop(L, 1);
}

void ss_lua_append_home(lua_State *L)
{
    ss_lua_find_home(L);
    add_home(L, false);
}

void ss_lua_add_script_folder(lua_State *L, const char *script)
{
    const char *slash = strrchr(script, '/');
    if (slash)
        lua_pushlstring(L, script, (size_t)(slash - script));
    else
        lua_pushliteral(L, ".");
    const char *folder = lua_tostring(L, -1);
    if (!*folder)
        folder = "/.";
    const char *templates = lua_pushfstring(L, "%s/?.lua;%s/?/init.lua", folder, folder);
    extend_path(L, templates, true);
    lua_pop(L, 2);
}

/* -- a state of our own ----------------------------------------------------------------------- */

void ss_lua_set_watch(lua_State *L, const ss_watch *watch)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)watch);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &WATCH);
}

const ss_watch *ss_lua_watch(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &WATCH);
    const ss_watch *watch = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return watch;
}

uint64_t ss_lua_seed(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &SEED);
    uint64_t seed = (uint64_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
    return seed;
}

void ss_lua_note_script(lua_State *L)
{
    lua_rawsetp(L, LUA_REGISTRYINDEX, &SCRIPT_NAME);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &SCRIPT_TEXT);
}

const char *ss_lua_script(lua_State *L, const char **text)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &SCRIPT_TEXT);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &SCRIPT_NAME);
    const char *name = lua_tostring(L, -1);
    *text = lua_tostring(L, -2);
    lua_pop(L, 2); /* the registry keeps both */
    return name;
}

/* os.exit of the program: unless told otherwise it closes the state, so that what is being written
 * is finished or taken away, not left as it is. */
static int close_and_exit(lua_State *L)
{
    lua_settop(L, 2);
    if (lua_isnil(L, 2)) {
        lua_pushboolean(L, 1);
        lua_replace(L, 2);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 2, 0);
    return 0;
}

static void replace_exit(lua_State *L)
{
    lua_getglobal(L, LUA_OSLIBNAME);
    lua_getfield(L, -1, "exit");
    lua_pushcclosure(L, close_and_exit, 1);
    lua_setfield(L, -2, "exit");
    lua_pop(L, 1);
}

/* A finalizer whose call has to grow the stack when memory has ended is lost, with all that it was to free.  Slots that
 * the first frame has asked for are never given back, and frames above it lie within them. */
enum { SLOTS = 200 };

void ss_lua_prepare(lua_State *L, uint64_t seed)
{
    luaL_checkstack(L, SLOTS, NULL);
    luaL_openlibs(L);
    replace_exit(L);
    ss_lua_find_home(L);
    add_home(L, true);
    lua_pushinteger(L, (lua_Integer)seed);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &SEED);
    ss_lua_make_repeatable(L, seed);
    ss_lua_preload(L);
    ss_lua_add_searcher(L);
}
