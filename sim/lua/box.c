#include "lua/box.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "base/text.h"
#include "lua/state.h"

/* -- the life of a box ------------------------------------------------------------------------ */

static void let_go_if_unused(ss_lua_box *box)
{
    if (!box->closed || box->users)
        return;
    void *object = box->object;
    box->object = NULL;
    if (object && box->type->free)
        box->type->free(object);
    for (int i = 0; i < SS_LUA_HOLDS; i++) {
        ss_lua_box *held = box->holds[i];
        box->holds[i] = NULL;
        if (!held)
            continue;
        held->users--;
        let_go_if_unused(held);
    }
}

const char *ss_lua_article(const ss_lua_type *type)
{
    if (type->many)
        return "";
    return strchr("aeiou", type->noun[0]) ? "an " : "a ";
}

/* A method on something else is mostly a dot where a colon was meant. */
static int called_on(lua_State *L, const char *method, const ss_lua_type *type)
{
    return ss_lua_refuse(L, "'%s' was called on %s, not on %s%s; use a colon: %s:%s(...)", method,
                         ss_lua_kind_of(L, 1), ss_lua_article(type), type->noun, type->noun,
                         method);
}

/* close, __gc and __close; upvalue: the type. Closing twice is once. */
static int box_close(lua_State *L)
{
    const ss_lua_type *type = lua_touserdata(L, lua_upvalueindex(1));
    ss_lua_box *box = luaL_testudata(L, 1, type->name);
    if (!box)
        return called_on(L, "close", type);
    box->closed = true;
    let_go_if_unused(box);
    return 0;
}

ss_lua_box *ss_lua_box_new(lua_State *L, const ss_lua_type *type)
{
    ss_lua_box *box = lua_newuserdatauv(L, sizeof *box, SS_LUA_HOLDS);
    *box = (ss_lua_box){.type = type};
    luaL_setmetatable(L, type->name);
    return box;
}

void ss_lua_box_hold(lua_State *L, int holder, int slot, int held)
{
    ss_lua_box *box = lua_touserdata(L, holder), *other = lua_touserdata(L, held);
    holder = lua_absindex(L, holder);
    lua_pushvalue(L, held);
    lua_setiuservalue(L, holder, slot + 1);
    box->holds[slot] = other;
    other->users++;
}

void ss_lua_box_push_held(lua_State *L, int holder, int slot)
{
    lua_getiuservalue(L, holder, slot + 1);
}

/* -- reading arguments ------------------------------------------------------------------------ */

const char *ss_lua_kind_of(lua_State *L, int index)
{
    static const char *const plain[] = {
        [LUA_TNIL] = "nil",
        [LUA_TBOOLEAN] = "a boolean",
        [LUA_TLIGHTUSERDATA] = "a pointer",
        [LUA_TNUMBER] = "a number",
        [LUA_TSTRING] = "a text",
        [LUA_TTABLE] = "a table",
        [LUA_TFUNCTION] = "a function",
        [LUA_TUSERDATA] = "a userdata",
        [LUA_TTHREAD] = "a coroutine",
    };
    int t = lua_type(L, index);
    if (t == LUA_TNONE)
        return "nothing";
    if (t == LUA_TUSERDATA && luaL_getmetafield(L, index, "__article") == LUA_TSTRING) {
        const char *noun = lua_tostring(L, -1);
        lua_pop(L, 1); /* the metatable keeps it */
        return noun;
    }
    return plain[t];
}

/* The name of the running function in the table of methods on top of the stack, or NULL.  The
 * debugger's name would be missing under pcall. */
static const char *name_among(lua_State *L)
{
    lua_Debug ar;
    const char *name = NULL;
    if (!lua_istable(L, -1) || !lua_getstack(L, 0, &ar))
        return NULL;
    lua_getinfo(L, "f", &ar);
    for (lua_pushnil(L); !name && lua_next(L, -3); lua_pop(L, 1))
        if (lua_rawequal(L, -1, -3))
            name = lua_tostring(L, -2); /* the table of methods keeps it */
    return name;
}

/* The name under which it is a method: of the type that argument 1 should have, or has. */
static const char *method_name(lua_State *L, const ss_lua_type *self_type)
{
    int top = lua_gettop(L);
    const char *name = NULL;
    luaL_checkstack(L, 8, NULL);
    if (luaL_getmetatable(L, self_type->name) == LUA_TTABLE) {
        lua_getfield(L, -1, "__methods");
        name = name_among(L);
    }
    lua_settop(L, top);
    if (!name && luaL_getmetafield(L, 1, "__methods") != LUA_TNIL)
        name = name_among(L);
    lua_settop(L, top);
    return name;
}

static int wrong_type(lua_State *L, int arg, const ss_lua_type *type)
{
    lua_Debug ar = {0};
    const char *method = method_name(L, type);
    if (method && arg == 1)
        return called_on(L, method, type);
    const char *function = method;
    if (!method && lua_getstack(L, 0, &ar) && lua_getinfo(L, "n", &ar))
        function = ar.name;
    return ss_lua_refuse(L, "'%s' needs %s%s as argument %d, not %s", function ? function : "?",
                         ss_lua_article(type), type->noun, method ? arg - 1 : arg,
                         ss_lua_kind_of(L, arg));
}

ss_lua_box *ss_lua_box_test(lua_State *L, int index, const ss_lua_type *type)
{
    ss_lua_box *box = luaL_testudata(L, index, type->name);
    return box && !box->closed && box->object ? box : NULL;
}

ss_lua_box *ss_lua_box_check(lua_State *L, int arg, const ss_lua_type *type)
{
    ss_lua_box *box = luaL_testudata(L, arg, type->name);
    if (!box)
        wrong_type(L, arg, type);
    else if (box->closed || !box->object)
        ss_lua_refuse(L, "this %s is closed", type->noun);
    return box;
}

void *ss_lua_check(lua_State *L, int arg, const ss_lua_type *type)
{
    return ss_lua_box_check(L, arg, type)->object;
}

void *ss_lua_check_change(lua_State *L, int arg, const ss_lua_type *type)
{
    ss_lua_box *box = ss_lua_box_check(L, arg, type);
    if (box->fixed)
        ss_lua_refuse(L, "this %s belongs to a problem and can no longer change", type->noun);
    return box->object;
}

void *ss_lua_value_new(lua_State *L, const ss_lua_type *type, size_t bytes, int owner)
{
    owner = lua_absindex(L, owner);
    void *value = lua_newuserdatauv(L, bytes, 1);
    memset(value, 0, bytes);
    lua_pushvalue(L, owner);
    lua_setiuservalue(L, -2, 1);
    luaL_setmetatable(L, type->name);
    return value;
}

void *ss_lua_value_test(lua_State *L, int index, const ss_lua_type *type)
{
    return luaL_testudata(L, index, type->name);
}

int ss_lua_value_same(lua_State *L)
{
    size_t bytes = lua_rawlen(L, 1);
    bool same = lua_type(L, 1) == LUA_TUSERDATA && lua_type(L, 2) == LUA_TUSERDATA &&
                lua_rawlen(L, 2) == bytes && lua_getmetatable(L, 1) && lua_getmetatable(L, 2) &&
                lua_rawequal(L, -1, -2) &&
                memcmp(lua_touserdata(L, 1), lua_touserdata(L, 2), bytes) == 0;
    if (same) {
        lua_getiuservalue(L, 1, 1);
        lua_getiuservalue(L, 2, 1);
        same = lua_rawequal(L, -1, -2);
    }
    lua_pushboolean(L, same);
    return 1;
}

/* -- fields and methods ----------------------------------------------------------------------- */

/* "name, step_time, task(), memory()": operator kinds, which a model has too, are too many. */
static const char *push_names(lua_State *L, const ss_lua_type *type)
{
    luaL_Buffer names;
    luaL_buffinit(L, &names);
    for (const ss_lua_field *f = type->fields; f && f->name; f++) {
        luaL_addstring(&names, f->name);
        luaL_addstring(&names, ", ");
    }
    for (const ss_lua_method *m = type->methods; m && m->name; m++) {
        luaL_addstring(&names, m->name);
        luaL_addstring(&names, "(), ");
    }
    if (luaL_bufflen(&names))
        luaL_buffsub(&names, 2);
    luaL_pushresult(&names);
    return lua_tostring(L, -1);
}

static int unknown_field(lua_State *L, const ss_lua_type *type)
{
    const char *names[128];
    uint32_t n = 0;
    for (const ss_lua_field *f = type->fields; f && f->name && n < 128; f++)
        names[n++] = f->name;
    if (luaL_getmetafield(L, 1, "__methods") == LUA_TTABLE) {
        /* the names live as long as the metatable does */
        for (lua_pushnil(L); lua_next(L, -2) && n < 128; lua_pop(L, 1))
            names[n++] = lua_tostring(L, -2);
        lua_settop(L, 2);
    }
    if (lua_type(L, 2) != LUA_TSTRING)
        return ss_lua_refuse(L, "a %s has fields and methods, and no element %s", type->noun,
                             luaL_tolstring(L, 2, NULL));
    const char *word = lua_tostring(L, 2), *near = ss_nearest(word, names, n);
    if (near)
        return ss_lua_refuse(L, "%s%s has no field or method '%s'; did you mean '%s'?",
                             ss_lua_article(type), type->noun, word, near);
    return ss_lua_refuse(L, "%s%s has no field or method '%s'; there are %s", ss_lua_article(type),
                         type->noun, word, push_names(L, type));
}

/* Upvalues: the type, its methods by name, its fields by name (numbers of rows). */
static int type_index(lua_State *L)
{
    const ss_lua_type *type = lua_touserdata(L, lua_upvalueindex(1));
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL)
        return 1;
    lua_pop(L, 1);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(3)) == LUA_TNIL)
        return unknown_field(L, type);
    const ss_lua_field *field = &type->fields[lua_tointeger(L, -1)];
    lua_settop(L, 2);
    return field->get(L, 1);
}

static int type_newindex(lua_State *L)
{
    const ss_lua_type *type = lua_touserdata(L, lua_upvalueindex(1));
    return ss_lua_refuse(L, "a %s's '%s' cannot be assigned to", type->noun,
                         luaL_tolstring(L, 2, NULL));
}

static void push_close(lua_State *L, const ss_lua_type *type)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)type);
    lua_pushcclosure(L, box_close, 1);
}

void ss_lua_push_functions(lua_State *L, const ss_lua_method *list)
{
    lua_newtable(L);
    for (; list && list->name; list++) {
        lua_pushcfunction(L, list->call);
        lua_setfield(L, -2, list->name);
    }
}

static void push_methods(lua_State *L, const ss_lua_type *type)
{
    ss_lua_push_functions(L, type->methods);
    if (type->free) {
        push_close(L, type);
        lua_setfield(L, -2, "close");
    }
}

void ss_lua_type_register(lua_State *L, const ss_lua_type *type)
{
    if (!luaL_newmetatable(L, type->name)) {
        lua_pop(L, 1);
        return;
    }
    int meta = lua_gettop(L);
    lua_pushfstring(L, "%s%s", ss_lua_article(type), type->noun);
    lua_setfield(L, meta, "__article");
    lua_pushstring(L, type->name); /* what getmetatable gives: the real one is not for scripts */
    lua_setfield(L, meta, "__metatable");
    push_methods(L, type);
    lua_pushvalue(L, -1);
    lua_setfield(L, meta, "__methods");

    lua_pushlightuserdata(L, (void *)(uintptr_t)type);
    lua_insert(L, -2);
    lua_newtable(L);
    for (int i = 0; type->fields && type->fields[i].name; i++) {
        lua_pushinteger(L, i);
        lua_setfield(L, -2, type->fields[i].name);
    }
    lua_pushvalue(L, -1);
    lua_setfield(L, meta, "__fields");
    lua_pushcclosure(L, type_index, 3);
    lua_setfield(L, meta, "__index");

    lua_pushlightuserdata(L, (void *)(uintptr_t)type);
    lua_pushcclosure(L, type_newindex, 1);
    lua_setfield(L, meta, "__newindex");

    const struct {
        const char *event;
        lua_CFunction call;
    } events[] = {
        {"__tostring", type->text},
        {"__eq", type->same},
        {"__len", type->length},
    };
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (!events[i].call)
            continue;
        lua_pushcfunction(L, events[i].call);
        lua_setfield(L, meta, events[i].event);
    }
    for (int i = 0; type->free && i < 2; i++) {
        push_close(L, type);
        lua_setfield(L, meta, i ? "__gc" : "__close");
    }
    lua_pop(L, 1);
}

/* -- texts that the core writes --------------------------------------------------------------- */

static const char TEXT_TYPE[] = "soapstone.text in the making";

static int text_close(lua_State *L)
{
    ss_text_free(luaL_checkudata(L, 1, TEXT_TYPE));
    return 0;
}

ss_text *ss_lua_text_new(lua_State *L)
{
    ss_text *text = lua_newuserdatauv(L, sizeof *text, 0);
    *text = (ss_text){0};
    if (luaL_newmetatable(L, TEXT_TYPE)) {
        lua_pushcfunction(L, text_close);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return text;
}

int ss_lua_text_push(lua_State *L, ss_text *text)
{
    ss_error err;
    if (ss_text_status(text, &err))
        return ss_lua_raise(L, &err);
    lua_pushlstring(L, ss_text_get(text), text->n);
    ss_text_free(text);
    return 1;
}

/* -- raising ---------------------------------------------------------------------------------- */

static const char LAST_STATUS = 0, LAST_TEXT = 0; /* addresses are the registry's keys */

/* Where the user's script was: the innermost Lua function that is not one of our files.  A command
 * line has no lines: then there is no place. */
static void push_place(lua_State *L)
{
    lua_Debug ar;
    for (int level = 0; lua_getstack(L, level, &ar); level++) { /* 0 is a script's in a hook */
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline > 0 && !ss_lua_is_own_source(L, ar.source)) {
            lua_pushfstring(L, "%s:%d: ", ar.short_src, ar.currentline);
            return;
        }
    }
    lua_pushliteral(L, "");
}

void ss_lua_push_raised(lua_State *L, const ss_error *err)
{
    char text[SS_ERROR_TEXT]; /* a copy: err may be in what Lua is about to collect */
    ss_status status = err->status ? err->status : SS_EINVAL;
    memcpy(text, err->text, sizeof text);
    luaL_checkstack(L, 8, "an error message");
    lua_pushstring(L, text);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &LAST_TEXT);
    lua_pushinteger(L, status);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &LAST_STATUS);
    push_place(L);
    lua_pushstring(L, text);
    lua_concat(L, 2);
}

int ss_lua_raise(lua_State *L, const ss_error *err)
{
    ss_lua_push_raised(L, err);
    return lua_error(L);
}

int ss_lua_refuse(lua_State *L, const char *format, ...)
{
    ss_error err = {.status = SS_EINVAL};
    va_list args;
    va_start(args, format);
    vsnprintf(err.text, sizeof err.text, format, args);
    va_end(args);
    return ss_lua_raise(L, &err);
}

bool ss_lua_was_refused(lua_State *L, const char *message)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &LAST_TEXT);
    const char *text = lua_tostring(L, -1);
    bool refused = text && strstr(message, text);
    lua_pop(L, 1);
    return refused;
}

/* A script may have put words around the sentence; it is still why it stopped. */
ss_status ss_lua_raised_status(lua_State *L, const char *message)
{
    ss_status status = SS_EINVAL;
    if (message && ss_lua_was_refused(L, message)) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &LAST_STATUS);
        status = (ss_status)lua_tointeger(L, -1);
        lua_pop(L, 1);
    }
    return status;
}
