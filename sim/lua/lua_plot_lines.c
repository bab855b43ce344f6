/* lua_plot_lines.c - soapstone.plot.throughput and .lines: figures of a script's own numbers. */
#include <math.h>
#include <string.h>

#include <lauxlib.h>

#include "io/plot_curves.h"
#include "io/plot_throughput.h"
#include "lua/lua_plot.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"

enum { MOST_POINTS = 10000000, PATH = 100 };

/* Length of the list at argument 1. */
static uint32_t list_length(lua_State *L, const char *what, const char *of)
{
    if (!lua_istable(L, 1))
        ss_lua_refuse(L, "%s takes a list of %s as argument 1, not %s", what, of,
                      ss_lua_kind_of(L, 1));
    lua_Unsigned n = lua_rawlen(L, 1);
    if (n > MOST_POINTS)
        ss_lua_refuse(L, "%s: %d %s are too many for one figure", what, (int)n, of);
    return (uint32_t)n;
}

/* -- throughput ------------------------------------------------------------------------------- */

typedef struct rate_options {
    const char *title, *ylabel, *note, *gnuplot;
    bool logy, ideal;
    uint32_t columns;
} rate_options;

static const ss_opt rate_list[] = {
    {.name = "title",
     .kind = SS_OPT_TEXT,
     .at = offsetof(rate_options, title),
     .help = "above the figure"},
    {.name = "ylabel",
     .kind = SS_OPT_TEXT,
     .at = offsetof(rate_options, ylabel),
     .help = "\"samples/s per device\" unless given"},
    {.name = "note",
     .kind = SS_OPT_TEXT,
     .at = offsetof(rate_options, note),
     .help = "below the figure"},
    {.name = "logy",
     .kind = SS_OPT_FLAG,
     .at = offsetof(rate_options, logy),
     .help = "a logarithmic axis of throughput; false"},
    {.name = "ideal",
     .kind = SS_OPT_FLAG,
     .at = offsetof(rate_options, ideal),
     .help = "a flat line at the first series' throughput on one device; false"},
    {.name = "columns",
     .kind = SS_OPT_COUNT,
     .at = offsetof(rate_options, columns),
     .max = SS_PLOT_MAX_PANELS,
     .help = "of panels; 0: as many as fit"},
    {.name = "width", .kind = SS_OPT_VALUE, .help = "inches on paper; 3.5 is a column"},
    {.name = "gnuplot",
     .kind = SS_OPT_TEXT,
     .at = offsetof(rate_options, gnuplot),
     .help = "the program; looked up in PATH unless given"},
    {0},
};

static const ss_opt row_list[] = {
    {.name = "panel", .kind = SS_OPT_TEXT, .at = offsetof(ss_plot_rate, panel)},
    {.name = "series",
     .kind = SS_OPT_TEXT,
     .at = offsetof(ss_plot_rate, series),
     .help = "what the curve is called",
     .preset = SS_OPT_REQUIRED},
    {.name = "devices",
     .kind = SS_OPT_COUNT,
     .at = offsetof(ss_plot_rate, devices),
     .help = "how many",
     .preset = SS_OPT_REQUIRED,
     .min = 1,
     .max = SS_MAX_DEVICES},
    {.name = "value",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(ss_plot_rate, value),
     .help = "throughput per device",
     .preset = SS_OPT_REQUIRED,
     .max = 1e15},
    {.name = "published", .kind = SS_OPT_FLAG, .at = offsetof(ss_plot_rate, published)},
    {0},
};

/* plot.throughput(rows, out, options) */
static int plot_throughput(lua_State *L)
{
    static const char what[] = "plot.throughput";
    char path[PATH];
    rate_options o;
    ss_lua_opts(L, 3, rate_list, what, &o);
    double width = ss_lua_plot_width(L, 3);
    const char *out = ss_lua_text(L, 2, "plot: the file to draw into");
    uint32_t n = list_length(L, what, "rows");
    ss_plot_options p = ss_lua_plot_options(L, width, o.gnuplot);
    ss_plot_rate *row = lua_newuserdatauv(L, (n + (size_t)1) * sizeof *row, 0);
    for (uint32_t i = 0; i < n; i++) {
        ss_lua_name(path, sizeof path, "%s: row %u", what, i + 1);
        lua_rawgeti(L, 1, i + 1);
        if (!lua_istable(L, -1))
            ss_lua_refuse(L, "%s should be { series =, devices =, value = }, not %s", path,
                          ss_lua_kind_of(L, -1));
        ss_lua_opts(L, -1, row_list, path, &row[i]);
        lua_pop(L, 1); /* its texts stay in the table */
    }

    ss_plot_rate_options ro = {.title = o.title,
                               .y = o.ylabel,
                               .note = o.note,
                               .log_y = o.logy,
                               .ideal = o.ideal,
                               .columns = o.columns};
    ss_error err;
    if (ss_plot_throughput(row, n, out, &ro, &p, &err))
        return ss_lua_raise(L, &err);
    return 0;
}

/* -- lines ------------------------------------------------------------------------------------ */

typedef struct lines_options {
    const char *title, *xlabel, *ylabel, *xunit, *yunit, *note, *gnuplot;
    bool logx, logy, ticks_at_values;
    double from_x, to_x, from_y, to_y;
    int look;
    uint32_t columns;
} lines_options;

#define LOOKS "lines|steps|points|both"
#define TEXT(option, told)                                                                         \
    {                                                                                              \
        .name = #option, .kind = SS_OPT_TEXT, .at = offsetof(lines_options, option), .help = told  \
    }
#define FLAG(option, told)                                                                         \
    {                                                                                              \
        .name = #option, .kind = SS_OPT_FLAG, .at = offsetof(lines_options, option), .help = told  \
    }
#define END(option, told)                                                                          \
    {                                                                                              \
        .name = #option, .kind = SS_OPT_QUANTITY, .at = offsetof(lines_options, option),           \
        .preset = SS_OPT_KEEP, .min = -1e300, .max = 1e300, .help = told                           \
    }

static const ss_opt lines_list[] = {
    TEXT(title, "above the figure"),
    TEXT(xlabel, "name of the axis"),
    TEXT(ylabel, "name of the axis"),
    TEXT(xunit, "\"s\" is shown as ns, us, ms or s, any other as it is"),
    TEXT(yunit, "likewise"),
    FLAG(logx, "a logarithmic axis, to base 2 if all x are powers of 2; false"),
    FLAG(logy, "a logarithmic axis; false"),
    END(from_x, "where the axis begins; with the values unless given"),
    END(to_x, "and where it ends"),
    END(from_y, "likewise"),
    END(to_y, "likewise"),
    {.name = "look",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(lines_options, look),
     .choices = LOOKS,
     .help = "of the series that do not say; lines"},
    FLAG(ticks_at_values, "numbers of x stand where the values are; false"),
    {.name = "ticks", .kind = SS_OPT_VALUE, .help = "a list of x: numbers stand there, and no others"},
    {.name = "columns",
     .kind = SS_OPT_COUNT,
     .at = offsetof(lines_options, columns),
     .max = SS_PLOT_MAX_PANELS,
     .help = "of panels; 0: as many as fit"},
    TEXT(note, "below the figure"),
    {.name = "width", .kind = SS_OPT_VALUE, .help = "inches on paper; 3.5 is a column"},
    TEXT(gnuplot, "the program; looked up in PATH unless given"),
    {0},
};

typedef struct series_options {
    const char *label, *panel;
    int look;
    bool published, pale;
    uint32_t colour;
} series_options;

static const ss_opt series_list[] = {
    {.name = "label", .kind = SS_OPT_TEXT, .at = offsetof(series_options, label)},
    {.name = "panel", .kind = SS_OPT_TEXT, .at = offsetof(series_options, panel)},
    {.name = "x", .kind = SS_OPT_VALUE},
    {.name = "y", .kind = SS_OPT_VALUE},
    {.name = "look",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(series_options, look),
     .choices = LOOKS,
     .preset = SS_OPT_KEEP},
    {.name = "published", .kind = SS_OPT_FLAG, .at = offsetof(series_options, published)},
    {.name = "pale", .kind = SS_OPT_FLAG, .at = offsetof(series_options, pale)},
    {.name = "colour", .kind = SS_OPT_COUNT, .at = offsetof(series_options, colour), .max = 10000},
    {0},
};

/* The list `key` of the table on top of the stack, in memory that stays on the stack below it. */
static const double *read_numbers(lua_State *L, const char *key, uint32_t *n, const char *path)
{
    int series = lua_gettop(L);
    lua_pushstring(L, key);
    lua_rawget(L, series);
    if (!lua_istable(L, -1))
        ss_lua_refuse(L, "%s: '%s' should be a list of numbers, not %s", path, key,
                      ss_lua_kind_of(L, -1));
    lua_Unsigned length = lua_rawlen(L, -1);
    if (length > MOST_POINTS)
        ss_lua_refuse(L, "%s: %d points are too many", path, (int)length);
    double *v = lua_newuserdatauv(L, ((size_t)length + 1) * sizeof *v, 0);
    for (uint32_t i = 0; i < length; i++) {
        lua_rawgeti(L, -2, i + 1);
        if (lua_type(L, -1) != LUA_TNUMBER)
            ss_lua_refuse(L, "%s: '%s[%d]' should be a number, not %s", path, key, (int)i + 1,
                          ss_lua_kind_of(L, -1));
        v[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    *n = (uint32_t)length;
    lua_insert(L, series); /* the memory */
    lua_pop(L, 1);         /* the list; the series is on top again */
    return v;
}

/* The option `ticks` of the options at 3, likewise; NULL and none if it is not given. */
static const double *read_ticks(lua_State *L, uint32_t *n)
{
    *n = 0;
    if (!lua_istable(L, 3))
        return NULL;
    lua_pushstring(L, "ticks");
    bool given = lua_rawget(L, 3) != LUA_TNIL;
    lua_pop(L, 1);
    if (!given)
        return NULL;
    lua_pushvalue(L, 3);
    const double *ticks = read_numbers(L, "ticks", n, "plot.lines");
    lua_pop(L, 1); /* the options; the memory stays */
    return ticks;
}

typedef struct panels {
    const char *name[SS_PLOT_MAX_PANELS];
    uint32_t n;
} panels;

static uint32_t find_panel(lua_State *L, panels *p, const char *name)
{
    name = name ? name : "";
    for (uint32_t i = 0; i < p->n; i++)
        if (!strcmp(p->name[i], name))
            return i;
    if (p->n == SS_PLOT_MAX_PANELS)
        ss_lua_refuse(L, "plot.lines: more than %d panels", SS_PLOT_MAX_PANELS);
    p->name[p->n] = name;
    return p->n++;
}

static void read_series(lua_State *L, uint32_t i, int look, panels *p, ss_plot_series *out)
{
    char path[PATH];
    ss_lua_name(path, sizeof path, "plot.lines: series %u", i + 1);
    lua_rawgeti(L, 1, i + 1);
    if (!lua_istable(L, -1))
        ss_lua_refuse(L, "%s should be { label =, x = {...}, y = {...} }, not %s", path,
                      ss_lua_kind_of(L, -1));
    series_options o = {.look = look};
    ss_lua_opts(L, -1, series_list, path, &o);
    if (o.published && o.pale)
        ss_lua_refuse(L, "%s is published and pale: choose one", path);
    uint32_t xs, ys;
    const double *x = read_numbers(L, "x", &xs, path), *y = read_numbers(L, "y", &ys, path);
    if (xs != ys)
        ss_lua_refuse(L, "%s has %d values of x and %d of y", path, (int)xs, (int)ys);
    *out = (ss_plot_series){.label = o.label,
                            .panel = find_panel(L, p, o.panel),
                            .colour = o.colour ? o.colour - 1 : i,
                            .look = (ss_plot_look)o.look,
                            .tone = o.published ? SS_PLOT_PUBLISHED
                                    : o.pale    ? SS_PLOT_PALE
                                                : SS_PLOT_PLAIN,
                            .x = x,
                            .y = y,
                            .n = xs};
    lua_pop(L, 1); /* its texts stay in the table */
}

static bool powers_of_two(const ss_plot_series *s, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < s[k].n; i++) {
            int exponent;
            if (!(s[k].x[i] > 0) || frexp(s[k].x[i], &exponent) != 0.5)
                return false;
        }
    return true;
}

/* plot.lines(series, out, options) */
static int plot_lines(lua_State *L)
{
    lines_options o = {.from_x = NAN, .to_x = NAN, .from_y = NAN, .to_y = NAN};
    ss_lua_opts(L, 3, lines_list, "plot.lines", &o);
    double width = ss_lua_plot_width(L, 3);
    const char *out = ss_lua_text(L, 2, "plot: the file to draw into");
    uint32_t n = list_length(L, "plot.lines", "series");
    if (n > SS_PLOT_MAX_SERIES)
        ss_lua_refuse(L, "plot.lines: %d series, and %d can be drawn at most", (int)n,
                      SS_PLOT_MAX_SERIES);
    ss_plot_options p = ss_lua_plot_options(L, width, o.gnuplot);
    luaL_checkstack(L, 2 * (int)n + 16, "plot.lines");
    uint32_t n_ticks;
    const double *ticks = read_ticks(L, &n_ticks);
    ss_plot_series *series = lua_newuserdatauv(L, (n + (size_t)1) * sizeof *series, 0);
    panels in = {.n = 0};
    for (uint32_t i = 0; i < n; i++)
        read_series(L, i, o.look, &in, &series[i]);

    uint32_t base = powers_of_two(series, n) ? 2 : 10;
    ss_plot_curves c = {
        .figure = "lines",
        .title = o.title ? o.title : "",
        .x = {o.xlabel ? o.xlabel : "", o.xunit, o.logx ? base : 0, o.from_x, o.to_x},
        .y = {o.ylabel ? o.ylabel : "", o.yunit, o.logy ? 10 : 0, o.from_y, o.to_y},
        .panel = in.name,
        .panels = in.n ? in.n : 1,
        .columns = o.columns,
        .series = series,
        .n = n,
        .note = &o.note,
        .notes = o.note ? 1 : 0,
        .ticks_at_values = o.ticks_at_values,
        .ticks = ticks,
        .n_ticks = n_ticks};
    ss_error err;
    if (ss_plot_curves_draw(&c, out, &p, &err))
        return ss_lua_raise(L, &err);
    return 0;
}

void ss_lua_add_plot_lines(lua_State *L)
{
    lua_pushnil(L);
    ss_lua_module_add(L, "plot", "throughput", plot_throughput);
    lua_pushnil(L);
    ss_lua_module_add(L, "plot", "lines", plot_lines);
}
