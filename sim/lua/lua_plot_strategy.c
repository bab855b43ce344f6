/* lua_plot_strategy.c - soapstone.plot.strategy: a strategy drawn. */
#include <string.h>

#include <lauxlib.h>

#include "io/plot_strategy.h"
#include "lua/lua_plot.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"

static const char PICTURE_TYPE[] = "soapstone.picture of a strategy";

static int picture_close(lua_State *L)
{
    ss_picture_free(luaL_checkudata(L, 1, PICTURE_TYPE));
    return 0;
}

/* Left on the stack, empty. */
static ss_picture *push_picture(lua_State *L)
{
    ss_picture *p = lua_newuserdatauv(L, sizeof *p, 0);
    *p = (ss_picture){0};
    if (luaL_newmetatable(L, PICTURE_TYPE)) {
        lua_pushcfunction(L, picture_close);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return p;
}

typedef struct strategy_options {
    const char *name, *gnuplot;
} strategy_options;

static const ss_opt strategy_list[] = {
    {.name = "name",
     .kind = SS_OPT_TEXT,
     .at = offsetof(strategy_options, name),
     .help = "which of a record; may be left out if there is one, or a search has found one"},
    {.name = "width", .kind = SS_OPT_VALUE, .help = "inches on paper; 3.5 is a column"},
    {.name = "gnuplot",
     .kind = SS_OPT_TEXT,
     .at = offsetof(strategy_options, gnuplot),
     .help = "the program; looked up in PATH unless given"},
    {0},
};

/* Of a record, or of the strategy that a script holds; nothing here may jump. */
static ss_status read_picture(const char *path, const ss_strategy *s, const char *called,
                              const strategy_options *o, ss_picture *p, ss_error *err)
{
    return path ? ss_picture_read(path, o->name, p, err) : ss_picture_of(s, called, p, err);
}

/* plot.strategy(strategy or path, out, options) */
static int plot_strategy(lua_State *L)
{
    strategy_options o;
    ss_lua_opts(L, 3, strategy_list, "plot.strategy", &o);
    double width = ss_lua_plot_width(L, 3);
    const char *out = ss_lua_text(L, 2, "plot: the file to draw into");
    ss_plot_options options = ss_lua_plot_options(L, width, o.gnuplot);
    bool file = lua_type(L, 1) == LUA_TSTRING;
    const char *path = file ? lua_tostring(L, 1) : NULL, *called = NULL;
    const ss_strategy *s = NULL;
    if (!file && o.name)
        ss_lua_refuse(L, "plot.strategy: option 'name' goes with the path of a record");
    if (!file) {
        const ss_lua_strategy *given = ss_lua_check(L, 1, &ss_lua_strategy_type);
        s = given->strategy;
        called = ss_lua_strategy_push_name(L, given);
    }
    ss_picture *p = push_picture(L);

    ss_error err;
    if (read_picture(path, s, called, &o, p, &err) || ss_plot_strategy(p, out, &options, &err))
        return ss_lua_raise(L, &err);
    return 0;
}

void ss_lua_add_plot_strategy(lua_State *L)
{
    lua_pushnil(L);
    ss_lua_module_add(L, "plot", "strategy", plot_strategy);
}
