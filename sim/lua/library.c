#include "lua/library.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "lua/box.h"
#include "lua/opts.h"
#include "lua/state.h"

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

enum { LINE = 512 };

static const char *const folders[] = {"models", "topologies"};
enum { FOLDERS = sizeof folders / sizeof *folders };

/* -- what there is ---------------------------------------------------------------------------- */

/* Appends "NAME\n" for each Lua file; raises nothing, so the folder is closed again. */
static void read_folder(const char *path, ss_text *out)
{
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (const struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        size_t n = strlen(e->d_name);
        if (n > 4 && e->d_name[0] != '.' && !strcmp(e->d_name + n - 4, ".lua"))
            ss_text_add(out, "%.*s\n", (int)n - 4, e->d_name);
    }
    closedir(folder);
}

void ss_lua_push_library(lua_State *L, const char *folder)
{
    char path[PATH_MAX + 64];
    ss_lua_name(path, sizeof path, "%s/%s", ss_lua_home(L), folder);
    ss_text *text = ss_lua_text_new(L);
    read_folder(path, text);
    ss_lua_text_push(L, text);
    const char *names = lua_tostring(L, -1);
    lua_newtable(L);
    for (; *names; names += strcspn(names, "\n") + 1) {
        lua_pushlstring(L, names, strcspn(names, "\n"));
        lua_pushboolean(L, true);
        lua_rawset(L, -3);
    }
    ss_lua_push_sorted_keys(L, -1);
    lua_replace(L, -4);
    lua_pop(L, 2);
}

/* "-- nmt.lua - what it is" -> "what it is"; NULL: the comment has ended. */
static const char *comment_of(char *line, const char *name)
{
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "--", 2) != 0)
        return NULL;
    const char *text = line + 2;
    text += *text == ' ';
    size_t n = strlen(name);
    if (!strncmp(text, name, n) && !strncmp(text + n, ".lua - ", 7))
        text += n + 7;
    return text;
}

bool ss_lua_library_comment(lua_State *L, const char *folder, const char *name, bool all,
                            ss_text *out)
{
    char path[PATH_MAX + 64], line[LINE];
    ss_lua_name(path, sizeof path, "%s/%s/%s.lua", ss_lua_home(L), folder, name);
    FILE *f = strchr(name, '/') ? NULL : fopen(path, "r");
    if (!f)
        return false;
    for (int i = 0; fgets(line, sizeof line, f); i++) {
        const char *text = comment_of(line, name);
        if (!text || (!all && !*text))
            break;
        ss_text_add(out, "%s%s", i == 0 ? "" : all ? "\n" : " ", text);
    }
    fclose(f);
    return true;
}

/* -- what was meant --------------------------------------------------------------------------- */

/* The list on top of the stack as C's: good as long as the list lives. */
static const char **names_of(lua_State *L, uint32_t *n)
{
    int list = lua_gettop(L);
    *n = (uint32_t)lua_rawlen(L, list);
    const char **names = lua_newuserdatauv(L, ((size_t)*n + 1) * sizeof *names, 0);
    for (uint32_t i = 0; i < *n; i++) {
        lua_rawgeti(L, list, (lua_Integer)i + 1);
        names[i] = lua_tostring(L, -1);
        lua_pop(L, 1);
    }
    return names;
}

static int no_file(lua_State *L, const char *folder, const char *name)
{
    uint32_t n;
    ss_lua_push_library(L, folder);
    const char **names = names_of(L, &n);
    const char *near = ss_nearest(name, names, n);
    if (near)
        return ss_lua_refuse(L, "there is no %s/%s.lua; did you mean %s/%s.lua?", folder, name,
                             folder, near);
    luaL_Buffer list;
    luaL_buffinit(L, &list);
    for (uint32_t i = 0; i < n; i++) {
        luaL_addstring(&list, i ? ", " : "");
        luaL_addstring(&list, names[i]);
    }
    luaL_pushresult(&list);
    return ss_lua_refuse(L, "there is no %s/%s.lua; there are %s", folder, name,
                         lua_tostring(L, -1));
}

/* A part of the module, or a file of its Lua half. */
static int no_part(lua_State *L, const char *name)
{
    uint32_t n;
    ss_lua_push_library(L, "scripts/lua/soapstone");
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "preload");
    lua_remove(L, -2);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        const char *known = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        if (strncmp(known, "soapstone.", 10) != 0)
            continue;
        lua_pushstring(L, known + 10);
        lua_rawseti(L, -5, (lua_Integer)lua_rawlen(L, -5) + 1);
    }
    lua_pop(L, 1);
    const char **names = names_of(L, &n);
    const char *near = ss_nearest(name, names, n);
    if (near)
        return ss_lua_refuse(L, "there is no module soapstone.%s; did you mean soapstone.%s?", name,
                             near);
    return ss_lua_refuse(
        L, "there is no module soapstone.%s; soapstone help topics says what there is", name);
}

/* What a script that forgot the folder meant. */
static void refuse_without_folder(lua_State *L, const char *name)
{
    for (int i = 0; i < FOLDERS; i++) {
        ss_lua_push_library(L, folders[i]);
        uint32_t n;
        const char **names = names_of(L, &n);
        for (uint32_t k = 0; k < n; k++)
            if (!strcmp(names[k], name))
                ss_lua_refuse(L, "module '%s' not found; did you mean '%s.%s'?", name, folders[i],
                              name);
        lua_pop(L, 2);
    }
}

/* Asked by `require` when nobody else knows the module. */
static int last_searcher(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    luaL_checkstack(L, 16, "a list of names");
    for (int i = 0; i < FOLDERS; i++) {
        size_t n = strlen(folders[i]);
        if (!strncmp(name, folders[i], n) && name[n] == '.')
            return no_file(L, folders[i], name + n + 1);
    }
    if (!strncmp(name, "soapstone.", 10))
        return no_part(L, name + 10);
    refuse_without_folder(L, name);
    const char *file = luaL_gsub(L, name, ".", "/");
    return ss_lua_refuse(L,
                         "module '%s' not found: there is no %s.lua beside the script or where "
                         "package.path says",
                         name, file);
}

void ss_lua_add_searcher(lua_State *L)
{
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "searchers");
    lua_pushcfunction(L, last_searcher);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    lua_pop(L, 2);
}
