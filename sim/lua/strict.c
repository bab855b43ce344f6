#include "lua/strict.h"

#include <string.h>

#include <lauxlib.h>

#include "lua/box.h"
#include "lua/opts.h"

enum { PATH = 200, NAMES = 64, WORD = 64, MORE = 12 };

/* Names of the table at index 1 and those of `more`, "a|b", cut into `words`. */
static uint32_t names_in(lua_State *L, const char *more, char words[][WORD], const char **names)
{
    uint32_t n = 0;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1))
        if (n < NAMES && lua_type(L, -2) == LUA_TSTRING)
            names[n++] = lua_tostring(L, -2); /* the table keeps it */
    for (int k = 0; more && *more && n < NAMES && k < MORE; k++) {
        size_t length = strcspn(more, "|");
        ss_lua_name(words[k], WORD, "%.*s", (int)length, more);
        names[n++] = words[k];
        more += length + (more[length] == '|');
    }
    return n;
}

/* Of a list the order of lua_next is chance. */
static void sort_names(const char **names, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && strcmp(names[k], names[k - 1]) < 0; k--) {
            const char *swapped = names[k];
            names[k] = names[k - 1];
            names[k - 1] = swapped;
        }
}

/* -- modules ---------------------------------------------------------------------------------- */

/* A part of the Lua half: `require` gets it, a field does not. */
static bool is_lua_half(const char *word)
{
    static const char *const parts[] = {"layers", "options", "process", "report"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(word, parts[i]))
            return true;
    return false;
}

/* __index of a module; upvalue: its name */
static int module_index(lua_State *L)
{
    const char *module = lua_tostring(L, lua_upvalueindex(1)), *names[NAMES];
    char what[PATH];
    if (lua_type(L, 2) != LUA_TSTRING)
        return ss_lua_refuse(L, "%s is a module, and has no element %s", module,
                             luaL_tolstring(L, 2, NULL));
    const char *word = lua_tostring(L, 2);
    if (!strcmp(module, "soapstone") && is_lua_half(word))
        return ss_lua_refuse(L, "soapstone.%s is a module of its own: require \"soapstone.%s\"",
                             word, word);
    uint32_t n = names_in(L, NULL, NULL, names);
    sort_names(names, n);
    ss_lua_name(what, sizeof what, "%s has no function or field", module);
    return ss_lua_unknown(L, what, word, names, n);
}

/* Upvalues: that of the function itself, the module, "costs.given", the function. */
static int module_call(lua_State *L)
{
    if (lua_rawequal(L, 1, lua_upvalueindex(2))) {
        const char *name = lua_tostring(L, lua_upvalueindex(3));
        return ss_lua_refuse(L, "%s was called with a colon; use a dot: %s(...)", name, name);
    }
    return lua_tocfunction(L, lua_upvalueindex(4))(L);
}

void ss_lua_module_add(lua_State *L, const char *module, const char *name, lua_CFunction call)
{
    lua_pushvalue(L, -2);
    lua_pushfstring(L, "%s.%s", module, name);
    lua_pushcfunction(L, call);
    lua_pushcclosure(L, module_call, 4);
    lua_setfield(L, -2, name);
}

void ss_lua_push_module(lua_State *L, const char *name, const ss_lua_method *list)
{
    lua_newtable(L);
    for (; list && list->name; list++) {
        lua_pushnil(L);
        ss_lua_module_add(L, name, list->name, list->call);
    }
    lua_newtable(L);
    lua_pushstring(L, name);
    lua_pushcclosure(L, module_index, 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/* -- rows and lists ---------------------------------------------------------------------------- */

/* __index of a row; upvalues: noun, optional fields */
static int row_index(lua_State *L)
{
    const char *noun = lua_tostring(L, lua_upvalueindex(1));
    const char *optional = lua_tostring(L, lua_upvalueindex(2)), *names[NAMES];
    char what[PATH], words[MORE][WORD];
    if (lua_type(L, 2) != LUA_TSTRING)
        return ss_lua_refuse(L, "a %s has named fields, and no element %s", noun,
                             luaL_tolstring(L, 2, NULL));
    const char *word = lua_tostring(L, 2);
    lua_settop(L, 2);
    uint32_t own = names_in(L, NULL, words, names), n = names_in(L, optional, words, names);
    for (uint32_t i = own; i < n; i++)
        if (!strcmp(word, names[i])) {
            lua_pushnil(L);
            return 1;
        }
    sort_names(names, n);
    uint32_t apart = 0; /* an optional field that is there is named once */
    for (uint32_t i = 0; i < n; i++)
        if (!apart || strcmp(names[apart - 1], names[i]))
            names[apart++] = names[i];
    n = apart;
    ss_lua_name(what, sizeof what, "a %s has no field", noun);
    return ss_lua_unknown(L, what, word, names, n);
}

/* __index of a list; upvalue: noun */
static int list_index(lua_State *L)
{
    const char *noun = lua_tostring(L, lua_upvalueindex(1));
    lua_Unsigned n = lua_rawlen(L, 1);
    int whole;
    lua_Integer i = lua_type(L, 2) == LUA_TNUMBER ? lua_tointegerx(L, 2, &whole) : 0;
    if (i > 0 && (lua_Unsigned)i == n + 1) { /* where ipairs stops */
        lua_pushnil(L);
        return 1;
    }
    return ss_lua_refuse(L, "there is no %s %s; the list has %d, numbered from 1", noun,
                         luaL_tolstring(L, 2, NULL), (int)n);
}

/* One metatable for each noun; the registry keeps it. */
static void set_index(lua_State *L, const char *key, const char *noun, const char *optional,
                      lua_CFunction index)
{
    luaL_checkstack(L, 6, NULL);
    if (lua_getfield(L, LUA_REGISTRYINDEX, key) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushstring(L, noun);
        lua_pushstring(L, optional);
        lua_pushcclosure(L, index, 2);
        lua_setfield(L, -2, "__index");
        lua_pushvalue(L, -1);
        lua_setfield(L, LUA_REGISTRYINDEX, key);
    }
    lua_setmetatable(L, -2);
}

void ss_lua_strict_row(lua_State *L, const char *noun, const char *optional)
{
    char key[PATH];
    ss_lua_name(key, sizeof key, "soapstone.row of %s", noun);
    set_index(L, key, noun, optional, row_index);
}

double ss_lua_row_number(lua_State *L, const char *name)
{
    lua_pushstring(L, name);
    lua_rawget(L, 1);
    double value = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return value;
}

void ss_lua_row_text(lua_State *L, lua_CFunction text)
{
    lua_getmetatable(L, -1);
    lua_pushcfunction(L, text);
    lua_setfield(L, -2, "__tostring");
    lua_pop(L, 1);
}

void ss_lua_strict_list(lua_State *L, const char *noun)
{
    char key[PATH];
    ss_lua_name(key, sizeof key, "soapstone.list of %s", noun);
    set_index(L, key, noun, NULL, list_index);
}
