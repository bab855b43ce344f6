/* module.c - what `require "soapstone"` gives.
 *
 * The program has it in package.preload; a stock lua5.4 loads soapstone.so.  The parts are tables
 * in the module and modules of their own: soapstone.topology and require "soapstone.topology" are
 * the same table.
 */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>

#include "base/text.h"
#include "lua/module.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"

static const struct part {
    const char *name;
    void (*open)(lua_State *L);
} parts[] = {
    {"calibrate", ss_lua_open_calibrate},
    {"costs", ss_lua_open_costs},
    {"dag", ss_lua_open_dag},
    {"model", ss_lua_open_model},
    {"plot", ss_lua_open_plot},
    {"profile", ss_lua_open_profile},
    {"search", ss_lua_open_search},
    {"topology", ss_lua_open_topology},
    {"trace", ss_lua_open_trace},
    {"unit", ss_lua_open_unit},
};
enum { PARTS = sizeof parts / sizeof *parts };

/* -- functions of the module itself ----------------------------------------------------------- */

/* soapstone.refuse(format, ...): an error with the place in the user's script */
static int refuse(lua_State *L)
{
    ss_error err = {.status = SS_EINVAL};
    int n = lua_gettop(L);
    ss_lua_text(L, 1, "soapstone.refuse: the format");
    lua_getglobal(L, "string");
    lua_getfield(L, -1, "format");
    lua_replace(L, -2);
    lua_insert(L, 1);
    lua_call(L, n, 1); /* string.format is C and calls no script, but for a __tostring */
    ss_fail(&err, SS_EINVAL, "%s", luaL_tolstring(L, -1, NULL));
    return ss_lua_raise(L, &err);
}

/* soapstone.nearest(word, list) -> the name that was meant, or nil */
static int nearest(lua_State *L)
{
    const char *word = ss_lua_text(L, 1, "soapstone.nearest: the word");
    if (!lua_istable(L, 2))
        return ss_lua_refuse(L, "soapstone.nearest: a list of texts is needed, not %s",
                             ss_lua_kind_of(L, 2));
    uint32_t n = (uint32_t)lua_rawlen(L, 2);
    const char **names = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *names, 0);
    for (uint32_t i = 0; i < n; i++) {
        lua_rawgeti(L, 2, (lua_Integer)i + 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            return ss_lua_refuse(L, "nearest: element %d of the list is %s, not a text", (int)i + 1,
                                 ss_lua_kind_of(L, -1));
        names[i] = lua_tostring(L, -1); /* the list keeps it */
        lua_pop(L, 1);
    }
    lua_pushstring(L, ss_nearest(word, names, n)); /* NULL pushes nil */
    return 1;
}

typedef struct repeatable_options {
    int64_t seed;
} repeatable_options;

static const ss_opt repeatable_list[] = {
    {.name = "seed",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(repeatable_options, seed),
     .help = "of math.random"},
    {0},
};

/* soapstone.repeatable { seed = }: for a host's Lua, what the program does from the start */
static int repeatable(lua_State *L)
{
    repeatable_options o;
    ss_lua_opts(L, 1, repeatable_list, "soapstone.repeatable", &o);
    ss_lua_make_repeatable(L, (uint64_t)o.seed);
    return 0;
}

/* soapstone.progress(text): a line on a terminal that the next one replaces; nil takes it away */
static int progress(lua_State *L)
{
    const char *text =
        lua_isnoneornil(L, 1) ? "" : ss_lua_text(L, 1, "soapstone.progress: the line");
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[K%s", text);
        fflush(stderr);
    }
    return 0;
}

static const ss_lua_method functions[] = {
    {"chance", ss_lua_chance_new, "(options) -> chance: which times are drawn"},
    {"collective", ss_lua_collective,
     "(options) -> table: an operation between devices, and its closed form"},
    {"compare", ss_lua_compare,
     "(simulated, measured) -> table: errors, and how far the orders agree"},
    {"inspect", ss_lua_inspect, "(path, { json = }) -> text: what is in a record"},
    {"nearest", nearest, "(word, list) -> word or nil: the one that was meant"},
    {"pairs", ss_lua_ordered_pairs, "(table): pairs in the order of the keys"},
    {"problem", ss_lua_problem_new, "(options) -> problem: a model on a topology"},
    {"progress", progress, "(text): a line on a terminal, which the next one replaces"},
    {"record", ss_lua_record, "(path, { problem =, results =, strategies = }): writes HDF5"},
    {"repair", ss_lua_repair, "(path) -> text: makes the log of a killed search whole"},
    {"refuse", refuse, "(format, ...): an error with the place in the user's script"},
    {"repeatable", repeatable, "({ seed = }): replaces pairs, next, math.random, table.sort"},
    {"run", ss_lua_run_new, "(options) -> run: a simulation that begins with no tasks"},
    {NULL, NULL, NULL},
};

/* -- opening ---------------------------------------------------------------------------------- */

int luaopen_soapstone(lua_State *L)
{
    luaL_checkversion(L);
    if (!*ss_lua_home(L))
        ss_lua_append_home(L);
    ss_lua_push_module(L, "soapstone", functions);
    lua_pushliteral(L, PACKAGE_VERSION);
    lua_setfield(L, -2, "version");
    lua_pushstring(L, ss_lua_home(L));
    lua_setfield(L, -2, "home");
    ss_lua_register_problem(L);
    for (int i = 0; i < PARTS; i++) {
        parts[i].open(L);
        lua_setfield(L, -2, parts[i].name);
    }
    return 1;
}

/* require "soapstone.NAME": loads the whole, gives the part */
static int open_part(lua_State *L, const char *name)
{
    lua_getglobal(L, "require");
    lua_pushliteral(L, "soapstone");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, name);
    return 1;
}

int luaopen_soapstone_calibrate(lua_State *L)
{
    return open_part(L, "calibrate");
}

int luaopen_soapstone_costs(lua_State *L)
{
    return open_part(L, "costs");
}

int luaopen_soapstone_dag(lua_State *L)
{
    return open_part(L, "dag");
}

int luaopen_soapstone_model(lua_State *L)
{
    return open_part(L, "model");
}

int luaopen_soapstone_plot(lua_State *L)
{
    return open_part(L, "plot");
}

int luaopen_soapstone_profile(lua_State *L)
{
    return open_part(L, "profile");
}

int luaopen_soapstone_search(lua_State *L)
{
    return open_part(L, "search");
}

int luaopen_soapstone_topology(lua_State *L)
{
    return open_part(L, "topology");
}

int luaopen_soapstone_trace(lua_State *L)
{
    return open_part(L, "trace");
}

int luaopen_soapstone_unit(lua_State *L)
{
    return open_part(L, "unit");
}

void ss_lua_preload(lua_State *L)
{
    static const luaL_Reg preloads[] = {
        {"soapstone", luaopen_soapstone},
        {"soapstone.calibrate", luaopen_soapstone_calibrate},
        {"soapstone.costs", luaopen_soapstone_costs},
        {"soapstone.dag", luaopen_soapstone_dag},
        {"soapstone.model", luaopen_soapstone_model},
        {"soapstone.plot", luaopen_soapstone_plot},
        {"soapstone.profile", luaopen_soapstone_profile},
        {"soapstone.search", luaopen_soapstone_search},
        {"soapstone.topology", luaopen_soapstone_topology},
        {"soapstone.trace", luaopen_soapstone_trace},
        {"soapstone.unit", luaopen_soapstone_unit},
        {NULL, NULL},
    };
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    luaL_setfuncs(L, preloads, 0);
    lua_pop(L, 1);
}
