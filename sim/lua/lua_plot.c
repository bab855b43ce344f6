/* lua_plot.c - soapstone.plot: figures of a step, of a result or of a record on disk; those of
 * searches are in lua_plot_search.c, those of a script's own numbers in lua_plot_lines.c,
 * of strategies in lua_plot_strategy.c, of a fit in lua_calibrate.c. */
#include <math.h>
#include <string.h>

#include <lauxlib.h>

#include "io/plot.h"
#include "io/record.h"
#include "lua/lua_plot.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"

/* -- a view read from a file ------------------------------------------------------------------ */

static const char VIEW_TYPE[] = "soapstone.view read from a file";

static int view_close(lua_State *L)
{
    ss_view_free(luaL_checkudata(L, 1, VIEW_TYPE));
    return 0;
}

/* Left on the stack, empty. */
static ss_view *push_view(lua_State *L)
{
    ss_view *v = lua_newuserdatauv(L, sizeof *v, 0);
    *v = (ss_view){0};
    if (luaL_newmetatable(L, VIEW_TYPE)) {
        lua_pushcfunction(L, view_close);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return v;
}

/* Argument 1: a result, or the path of a record. */
static const ss_view *read_view(lua_State *L, const char *timeline)
{
    if (lua_type(L, 1) != LUA_TSTRING) {
        if (timeline)
            ss_lua_refuse(L, "plot: option 'timeline' goes with the path of a record");
        return ss_lua_view(L, 1);
    }
    ss_view *v = push_view(L);
    ss_error err;
    if (ss_record_read_timeline(lua_tostring(L, 1), timeline, v, &err))
        ss_lua_raise(L, &err);
    return v;
}

/* -- drawing ---------------------------------------------------------------------------------- */

typedef struct plot_options {
    const char *timeline, *gnuplot;
    double from, to;
    uint32_t max_devices, max_links;
} plot_options;

static const ss_opt plot_list[] = {
    {.name = "timeline",
     .kind = SS_OPT_TEXT,
     .at = offsetof(plot_options, timeline),
     .help = "which of a record; may be left out if there is one"},
    {.name = "width", .kind = SS_OPT_VALUE, .help = "inches on paper; 3.5 is a column"},
    {.name = "from",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(plot_options, from),
     .max = 1e7,
     .unit = SS_UNIT_SECONDS,
     .help = "where a Gantt chart begins"},
    {.name = "to",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(plot_options, to),
     .max = 1e7,
     .unit = SS_UNIT_SECONDS,
     .help = "and where it ends; 0: with the step"},
    {.name = "max_devices",
     .kind = SS_OPT_COUNT,
     .at = offsetof(plot_options, max_devices),
     .max = 10000,
     .help = "beyond so many the extremes are shown; 0: 64"},
    {.name = "max_links",
     .kind = SS_OPT_COUNT,
     .at = offsetof(plot_options, max_links),
     .max = 10000,
     .help = "so many; 0: 16 in a Gantt chart, more for the critical path; 24 of links"},
    {.name = "gnuplot",
     .kind = SS_OPT_TEXT,
     .at = offsetof(plot_options, gnuplot),
     .help = "the program; looked up in PATH unless given"},
    {0},
};

/* Read by hand: inches have no unit among the options', and a message is to name them. */
double ss_lua_plot_width(lua_State *L, int index)
{
    double inches = SS_PLOT_COLUMN_IN;
    int type = ss_lua_push_option(L, index, "width");
    if (type == LUA_TNUMBER)
        inches = lua_tonumber(L, -1);
    if ((type != LUA_TNUMBER && type != LUA_TNIL) ||
        !(inches >= SS_PLOT_SLIMMEST_IN && inches <= SS_PLOT_WIDEST_IN)) {
        const char *given = type == LUA_TSTRING ? lua_pushfstring(L, "\"%s\"", lua_tostring(L, -1))
                            : type != LUA_TNUMBER ? ss_lua_kind_of(L, -1)
                            : isnan(inches)       ? "nan"
                                                  : lua_tostring(L, -1);
        ss_lua_refuse(L,
                      "plot: option 'width' is %s; it is a number of inches from %d to %d (%g is a "
                      "column)",
                      given, SS_PLOT_SLIMMEST_IN, SS_PLOT_WIDEST_IN, SS_PLOT_COLUMN_IN);
    }
    lua_pop(L, 1);
    return inches;
}

ss_plot_options ss_lua_plot_options(lua_State *L, double width, const char *gnuplot_or_null)
{
    return (ss_plot_options){.scripts = lua_pushfstring(L, "%s/analysis", ss_lua_home(L)),
                             .gnuplot = gnuplot_or_null,
                             .width_in = width};
}

/* Whatever they are given as: zero and nothing would mean the whole step, but were not meant to. */
static void refuse_window(lua_State *L, int index, ss_plot_kind kind)
{
    static const char *const names[] = {"from", "to"};
    for (int i = 0; i < 2 && kind != SS_PLOT_GANTT; i++)
        if (ss_lua_is_given(L, index, names[i]))
            ss_lua_refuse(L,
                          "plot: a figure of %s is of the whole step: from and to choose the "
                          "window of a gantt chart only; leave '%s' out",
                          ss_plot_kind_name(kind), names[i]);
}

/* plot.KIND(result or path, out, options); upvalue: the kind */
static int plot(lua_State *L)
{
    ss_plot_kind kind = (ss_plot_kind)lua_tointeger(L, lua_upvalueindex(1));
    plot_options o;
    ss_lua_opts(L, 3, plot_list, "plot", &o);
    double width = ss_lua_plot_width(L, 3);
    refuse_window(L, 3, kind);
    const char *out = ss_lua_text(L, 2, "plot: the file to draw into");
    ss_plot_options p = ss_lua_plot_options(L, width, o.gnuplot);
    p.max_devices = o.max_devices;
    p.max_links = o.max_links;
    const ss_view *v = read_view(L, o.timeline);

    ss_error err;
    if (ss_time_from_seconds(o.from, "from", &p.from, &err) ||
        ss_time_from_seconds(o.to, "to", &p.to, &err) || ss_plot(v, kind, out, &p, &err))
        return ss_lua_raise(L, &err);
    return 0;
}

void ss_lua_open_plot(lua_State *L)
{
    ss_lua_push_module(L, "plot", NULL);
    for (int k = 0; k < SS_PLOT_KINDS; k++) {
        lua_pushinteger(L, k);
        ss_lua_module_add(L, "plot", ss_plot_kind_name((ss_plot_kind)k), plot);
    }
    ss_lua_add_plot_calibration(L);
    ss_lua_add_plot_search(L);
    ss_lua_add_plot_lines(L);
    ss_lua_add_plot_strategy(L);
}
