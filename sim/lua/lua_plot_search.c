/* lua_plot_search.c - soapstone.plot.search and .acceptance: figures of logs of searches. */
#include <string.h>

#include <lauxlib.h>

#include "io/plot_search.h"
#include "lua/lua_plot.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"

/* -- logs read from files --------------------------------------------------------------------- */

static const char LOGS_TYPE[] = "soapstone.logs read from files";
enum { MAX_LOGS = 1000 };

typedef struct logs {
    uint32_t n;
    struct {
        ss_trajectory_view view;
        const char *path, *label; /* on the stack, or in the table of the script */
    } log[];
} logs;

static int logs_close(lua_State *L)
{
    logs *l = luaL_checkudata(L, 1, LOGS_TYPE);
    for (uint32_t i = 0; i < l->n; i++)
        ss_arena_free(&l->log[i].view.arena);
    l->n = 0;
    return 0;
}

/* Left on the stack, with logs that have nothing in them. */
static logs *push_logs(lua_State *L, uint32_t n)
{
    size_t bytes = sizeof(logs) + n * sizeof((logs *)0)->log[0];
    logs *l = lua_newuserdatauv(L, bytes, 0);
    memset(l, 0, bytes);
    l->n = n;
    if (luaL_newmetatable(L, LOGS_TYPE)) {
        lua_pushcfunction(L, logs_close);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return l;
}

/* "runs/seed1.h5" -> "seed1", pushed. */
static const char *push_short(lua_State *L, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t n = dot > name && !strcmp(dot, ".h5") ? (size_t)(dot - name) : strlen(name);
    return lua_pushlstring(L, name, n);
}

/* Files of one name in several folders go by their paths. */
static void tell_apart(logs *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(l->log[i].label, l->log[k].label)) {
                for (uint32_t j = 0; j < l->n; j++)
                    l->log[j].label = l->log[j].path;
                return;
            }
}

/* Argument 1: a path, a list of them, or a table of them by what they are called.  Names stay on
 * the stack, or in the table. */
static logs *read_logs(lua_State *L, const char *what)
{
    char path[100];
    if (lua_type(L, 1) == LUA_TSTRING) {
        logs *l = push_logs(L, 1);
        l->log[0].path = lua_tostring(L, 1);
        return l; /* one log needs no name */
    }
    if (!lua_istable(L, 1))
        ss_lua_refuse(L, "%s takes the path of a log, or a table of paths, as argument 1, not %s",
                      what, ss_lua_kind_of(L, 1));
    ss_lua_push_sorted_keys(L, 1);
    int keys = lua_gettop(L);
    lua_Unsigned n = lua_rawlen(L, keys);
    if (n > MAX_LOGS)
        ss_lua_refuse(L, "%s: %d logs are too many for one figure", what, (int)n);
    logs *l = push_logs(L, (uint32_t)n);
    bool unnamed = false;
    luaL_checkstack(L, 2 * (int)n + 4, what);
    for (uint32_t i = 0; i < n; i++) {
        lua_rawgeti(L, keys, i + 1);
        lua_pushvalue(L, -1);
        lua_rawget(L, 1);
        ss_lua_name(path, sizeof path, "%s: log %d", what, (int)i + 1);
        l->log[i].path = ss_lua_text(L, -1, path);
        bool named = lua_type(L, -2) == LUA_TSTRING;
        lua_pop(L, named ? 1 : 2); /* the path stays in the table, the name on the stack */
        l->log[i].label = named ? lua_tostring(L, -1) : push_short(L, l->log[i].path);
        unnamed = unnamed || !named;
    }
    if (n == 1 && unnamed)
        l->log[0].label = NULL;
    tell_apart(l);
    return l;
}

/* -- drawing ---------------------------------------------------------------------------------- */

typedef struct search_options {
    const char *gnuplot;
    int x;
    bool logx, logy;
    uint32_t window, max_chains;
} search_options;

static const ss_opt search_list[] = {
    {.name = "x",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(search_options, x),
     .choices = "proposals|seconds",
     .help = "of wall clock, each chain's own"},
    {.name = "logx",
     .kind = SS_OPT_FLAG,
     .at = offsetof(search_options, logx),
     .help = "a logarithmic axis; false"},
    {.name = "logy",
     .kind = SS_OPT_FLAG,
     .at = offsetof(search_options, logy),
     .help = "likewise; of costs only"},
    {.name = "from_x",
     .kind = SS_OPT_VALUE,
     .help = "proposals, or seconds (\"5 s\"); what is before is not drawn"},
    {.name = "to_x", .kind = SS_OPT_VALUE, .help = "and what is behind"},
    {.name = "from_y",
     .kind = SS_OPT_VALUE,
     .help = "seconds of a step (\"17 ms\"), or percent; with the values unless given"},
    {.name = "to_y", .kind = SS_OPT_VALUE, .help = "likewise"},
    {.name = "window",
     .kind = SS_OPT_COUNT,
     .at = offsetof(search_options, window),
     .max = UINT32_MAX,
     .help = "proposals that a share is the mean of; 0: a fiftieth of the longest chain"},
    {.name = "max_chains",
     .kind = SS_OPT_COUNT,
     .at = offsetof(search_options, max_chains),
     .max = SS_PLOT_MAX_CHAINS,
     .help = "beyond so many those that found the least are shown; 0: 8"},
    {.name = "width", .kind = SS_OPT_VALUE, .help = "inches on paper; 3.5 is a column"},
    {.name = "gnuplot",
     .kind = SS_OPT_TEXT,
     .at = offsetof(search_options, gnuplot),
     .help = "the program; looked up in PATH unless given"},
    {0},
};

/* Where no chain has a proposal, a log that was killed may have them in its journal. */
static ss_status check_rows(const logs *l, ss_error *err)
{
    for (uint32_t i = 0; i < l->n; i++)
        for (uint32_t k = 0; k < l->log[i].view.chains; k++)
            if (l->log[i].view.chain[k].steps)
                return SS_OK;
    for (uint32_t i = 0; i < l->n; i++)
        if (ss_trajectory_look(l->log[i].path) == SS_TRAJECTORY_KILLED)
            return ss_fail(err, SS_EINVAL,
                           "%s was killed before a proposal was in it; \"soapstone repair %s\" "
                           "brings in those of its journal",
                           l->log[i].path, l->log[i].path);
    return SS_OK;
}

/* Reads the logs into l and draws them; nothing here may jump. */
static ss_status draw(logs *l, ss_plot_log *list, ss_plot_search_kind kind, const char *out,
                      const ss_plot_search_options *so, const ss_plot_options *o, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t i = 0; !s && i < l->n; i++) {
        s = ss_trajectory_read(l->log[i].path, &l->log[i].view, err);
        list[i] = (ss_plot_log){l->log[i].label, &l->log[i].view};
    }
    if (!s)
        s = check_rows(l, err);
    return s ? s : ss_plot_search(list, l->n, kind, out, so, o, err);
}

/* Their units depend on the other options. */
static ss_plot_end read_end(lua_State *L, int index, const char *name, ss_unit unit,
                            const char *what)
{
    ss_plot_end end = {.given = false};
    char path[100];
    end.given = ss_lua_push_option(L, index, name) != LUA_TNIL;
    ss_lua_name(path, sizeof path, "%s: option '%s'", what, name);
    end.at = end.given ? ss_lua_quantity(L, -1, unit, path) : 0;
    lua_pop(L, 1);
    return end;
}

/* plot.search(path or paths, out, options), plot.acceptance; upvalue: the kind */
static int plot_search(lua_State *L)
{
    ss_plot_search_kind kind = (ss_plot_search_kind)lua_tointeger(L, lua_upvalueindex(1));
    char what[40];
    search_options o;
    lua_settop(L, 3);
    ss_lua_name(what, sizeof what, "plot.%s", ss_plot_search_kind_name(kind));
    ss_lua_opts(L, 3, search_list, what, &o);
    double width = ss_lua_plot_width(L, 3);
    const char *out = ss_lua_text(L, 2, "plot: the file to draw into");
    ss_plot_options p = ss_lua_plot_options(L, width, o.gnuplot);
    ss_plot_search_options so = {.seconds = o.x == 1,
                                 .log_x = o.logx,
                                 .log_y = o.logy,
                                 .window = o.window,
                                 .max_chains = o.max_chains};
    ss_unit of_x = so.seconds ? SS_UNIT_SECONDS : SS_UNIT_NONE;
    ss_unit of_y = kind == SS_PLOT_COST ? SS_UNIT_SECONDS : SS_UNIT_NONE;
    so.from_x = read_end(L, 3, "from_x", of_x, what);
    so.to_x = read_end(L, 3, "to_x", of_x, what);
    so.from_y = read_end(L, 3, "from_y", of_y, what);
    so.to_y = read_end(L, 3, "to_y", of_y, what);
    logs *l = read_logs(L, what);
    ss_plot_log *list = lua_newuserdatauv(L, (l->n + (size_t)1) * sizeof *list, 0);

    ss_error err;
    if (draw(l, list, kind, out, &so, &p, &err))
        return ss_lua_raise(L, &err);
    return 0;
}

void ss_lua_add_plot_search(lua_State *L)
{
    for (int k = 0; k < SS_PLOT_SEARCH_KINDS; k++) {
        lua_pushinteger(L, k);
        ss_lua_module_add(L, "plot", ss_plot_search_kind_name((ss_plot_search_kind)k), plot_search);
    }
}
