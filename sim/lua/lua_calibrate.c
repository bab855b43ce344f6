/* lua_calibrate.c - soapstone.calibrate: from measured times to what a link is. */
#include <math.h>
#include <string.h>

#include <lauxlib.h>

#include "base/mem.h"
#include "io/fit_report.h"
#include "io/plot_calibration.h"
#include "io/samples.h"
#include "lua/lua_fit.h"
#include "lua/lua_plot.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"

enum { PATH = 100 };

static const char *const estimate_names[SS_FIT_ESTIMATES] = {"latency", "bandwidth", "half_size"};

/* -- read ------------------------------------------------------------------------------------- */

static const char SAMPLES_TYPE[] = "soapstone.samples read from a file";

static int samples_close(lua_State *L)
{
    ss_samples_free(luaL_checkudata(L, 1, SAMPLES_TYPE));
    return 0;
}

/* Left on the stack, empty. */
static ss_samples *push_samples(lua_State *L)
{
    ss_samples *s = lua_newuserdatauv(L, sizeof *s, 0);
    *s = (ss_samples){0};
    if (luaL_newmetatable(L, SAMPLES_TYPE)) {
        lua_pushcfunction(L, samples_close);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return s;
}

static const ss_opt read_list[] = {
    {.name = "columns",
     .kind = SS_OPT_VALUE,
     .help = "what the file calls them: { seconds = \"time_us [us]\" }"},
    {0},
};

/* The texts stay in the table of the options. */
static void read_columns(lua_State *L, int options, const char **column)
{
    const char *known[SS_SAMPLES_COLUMNS];
    ss_lua_opts_names(L, options, read_list, NULL, 0, "calibrate.read");
    for (int c = 0; c < SS_SAMPLES_COLUMNS; c++) {
        known[c] = ss_samples_column_name((ss_samples_column)c);
        column[c] = NULL;
    }
    if (ss_lua_push_option(L, options, "columns") == LUA_TNIL)
        return;
    ss_lua_opts_names(L, lua_gettop(L), NULL, known, SS_SAMPLES_COLUMNS, "calibrate.read: columns");
    for (int c = 0; c < SS_SAMPLES_COLUMNS; c++) {
        char path[PATH];
        ss_lua_name(path, sizeof path, "calibrate.read: columns.%s", known[c]);
        if (ss_lua_push_option(L, -1, known[c]) != LUA_TNIL)
            column[c] = ss_lua_text(L, -1, path);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void push_curve(lua_State *L, const ss_samples_curve *c)
{
    lua_createtable(L, 0, 5);
    ss_lua_set_text(L, "name", c->name);
    if (*c->operation)
        ss_lua_set_text(L, "operation", c->operation);
    if (*c->algorithm)
        ss_lua_set_text(L, "algorithm", c->algorithm);
    if (c->ranks)
        ss_lua_set_integer(L, "ranks", c->ranks);
    lua_createtable(L, (int)c->n, 0);
    for (uint32_t i = 0; i < c->n; i++) {
        lua_createtable(L, 0, 4);
        ss_lua_set_count(L, "bytes", c->sample[i].bytes);
        ss_lua_set_number(L, "seconds", c->sample[i].seconds);
        ss_lua_set_number(L, "weight", c->sample[i].weight);
        ss_lua_set_text(L, "method", c->sample[i].streamed ? "streamed" : "one_way");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "rows");
}

/* calibrate.read(path, { columns = }) -> list of curves, number of rows without a time */
static int calibrate_read(lua_State *L)
{
    const char *column[SS_SAMPLES_COLUMNS];
    const char *path = ss_lua_text(L, 1, "calibrate.read: the path");
    read_columns(L, 2, column);
    ss_samples *s = push_samples(L);

    ss_error err;
    if (ss_samples_read(path, column, s, &err))
        return ss_lua_raise(L, &err);
    lua_createtable(L, (int)s->n, 0);
    for (uint32_t i = 0; i < s->n; i++) {
        push_curve(L, &s->curve[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_pushinteger(L, s->skipped);
    lua_pushinteger(L, s->other_rates);
    ss_samples_free(s); /* not to wait for the collector */
    return 3;
}

/* -- fit -------------------------------------------------------------------------------------- */

static void free_fit(void *object)
{
    ss_lua_fit *f = object;
    if (!f)
        return;
    ss_fit_free(f->fit);
    ss_free(f->name);
    ss_free(f);
}

typedef struct fit_options {
    const char *name, *operation, *algorithm;
    uint32_t ranks, chunks;
    bool least_squares;
} fit_options;

static const ss_opt fit_list[] = {
    {.name = "rows", .kind = SS_OPT_VALUE, .help = "a list of { bytes =, seconds = }"},
    {.name = "name",
     .kind = SS_OPT_TEXT,
     .at = offsetof(fit_options, name),
     .help = "of the curve, for pages and figures"},
    {.name = "operation",
     .kind = SS_OPT_TEXT,
     .at = offsetof(fit_options, operation),
     .help =
         "p2p unless given; all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce"},
    {.name = "algorithm",
     .kind = SS_OPT_TEXT,
     .at = offsetof(fit_options, algorithm),
     .help = "ring unless given (pairwise of all_to_all); tree, double_tree, "
             "halving_doubling, as of soapstone.collective"},
    {.name = "ranks",
     .kind = SS_OPT_COUNT,
     .at = offsetof(fit_options, ranks),
     .max = 1e9,
     .help = "how many take part; must be given, but of p2p"},
    {.name = "chunks",
     .kind = SS_OPT_COUNT,
     .at = offsetof(fit_options, chunks),
     .max = 65536,
     .help =
         "into which trees and chains cut what they pass on; 0: as many as the form finds best"},
    {.name = "least_squares",
     .kind = SS_OPT_FLAG,
     .at = offsetof(fit_options, least_squares),
     .help = "every row counts in full, none is an outlier; false"},
    {0},
};

typedef struct row_options {
    double bytes, seconds, weight;
    int method;
} row_options;

static const ss_opt row_list[] = {
    {.name = "bytes",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(row_options, bytes),
     .preset = SS_OPT_REQUIRED,
     .max = 1e18,
     .unit = SS_UNIT_BYTES},
    {.name = "seconds",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(row_options, seconds),
     .preset = SS_OPT_REQUIRED,
     .max = 1e9,
     .unit = SS_UNIT_SECONDS},
    {.name = "weight",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(row_options, weight),
     .preset = 1,
     .max = 1e12},
    {.name = "method",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(row_options, method),
     .choices = "one_way|streamed"},
    {0},
};

/* In Lua's memory, which stays on the stack. */
static const ss_sample *read_rows(lua_State *L, uint32_t *n)
{
    char path[PATH];
    if (ss_lua_push_option(L, 1, "rows") != LUA_TTABLE)
        ss_lua_refuse(L,
                      "calibrate.fit: option 'rows' should be a list of { bytes =, seconds = }, "
                      "not %s",
                      ss_lua_kind_of(L, -1));
    int list = lua_gettop(L);
    lua_Unsigned length = lua_rawlen(L, list);
    if (length > SS_FIT_ROWS)
        ss_lua_refuse(L, "calibrate.fit: %d rows are more than the %d that are fitted at once",
                      (int)length, SS_FIT_ROWS);
    ss_sample *row = lua_newuserdatauv(L, ((size_t)length + 1) * sizeof *row, 0);
    for (uint32_t i = 0; i < length; i++) {
        row_options o;
        ss_lua_name(path, sizeof path, "calibrate.fit: row %u", i + 1);
        lua_rawgeti(L, list, (lua_Integer)i + 1);
        if (!lua_istable(L, -1))
            ss_lua_refuse(L, "%s should be { bytes =, seconds = }, not %s", path,
                          ss_lua_kind_of(L, -1));
        ss_lua_opts(L, -1, row_list, path, &o);
        row[i] = (ss_sample){o.bytes, o.seconds, o.weight, o.method == 1};
        lua_pop(L, 1);
    }
    *n = (uint32_t)length;
    return row;
}

/* The work, which cannot jump. */
static ss_status make_fit(const fit_options *o, const ss_sample *row, uint32_t n, ss_lua_box *box,
                          ss_error *err)
{
    ss_fit_options fit = {.least_squares = o->least_squares};
    const char *operation = o->operation ? o->operation : "p2p";
    ss_status s = ss_pattern_find(operation, o->algorithm, o->ranks, o->chunks, &fit.pattern, err);
    if (s)
        return s;
    ss_lua_fit *f = ss_alloc_zeroed(1, sizeof *f);
    if (!f)
        return ss_fail_memory(err, "a fit", sizeof *f);
    box->object = f;
    f->name = ss_strdup(o->name ? o->name : "");
    if (!f->name)
        return ss_fail_memory(err, "a fit", 1);
    return ss_fit_new(row, n, &fit, &f->fit, NULL, err);
}

/* calibrate.fit { rows =, operation =, ranks =, ... } -> fit */
static int calibrate_fit(lua_State *L)
{
    fit_options o;
    uint32_t n;
    ss_lua_opts(L, 1, fit_list, "calibrate.fit", &o);
    const ss_sample *row = read_rows(L, &n);
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_fit_type);

    ss_error err;
    if (make_fit(&o, row, n, box, &err)) {
        if (o.name && *o.name)
            ss_fail_in(&err, "%.80s", o.name);
        ss_fail_in(&err, "calibrate.fit");
        return ss_lua_raise(L, &err);
    }
    return 1;
}

/* -- fields ----------------------------------------------------------------------------------- */

static const ss_lua_fit *fit_at(lua_State *L, int index)
{
    return ss_lua_check(L, index, &ss_lua_fit_type);
}

static const ss_fit *fit_of(lua_State *L, int box)
{
    return fit_at(L, box)->fit;
}

static int get_name(lua_State *L, int box)
{
    lua_pushstring(L, fit_at(L, box)->name);
    return 1;
}

static int get_operation(lua_State *L, int box)
{
    lua_pushstring(L, fit_of(L, box)->pattern.operation);
    return 1;
}

static int get_algorithm(lua_State *L, int box)
{
    lua_pushstring(L, fit_of(L, box)->pattern.algorithm);
    return 1;
}

static int get_ranks(lua_State *L, int box)
{
    lua_pushinteger(L, fit_of(L, box)->pattern.ranks);
    return 1;
}

static int get_chunks(lua_State *L, int box)
{
    lua_pushinteger(L, fit_of(L, box)->pattern.chunks);
    return 1;
}

/* nil where the rows say nothing of it. */
static void push_or_nil(lua_State *L, double value)
{
    if (isnan(value))
        lua_pushnil(L);
    else
        lua_pushnumber(L, value);
}

static int get_latency(lua_State *L, int box)
{
    push_or_nil(L, fit_of(L, box)->of[SS_FIT_LATENCY].value);
    return 1;
}

static int get_bandwidth(lua_State *L, int box)
{
    lua_pushnumber(L, fit_of(L, box)->of[SS_FIT_BANDWIDTH].value);
    return 1;
}

static int get_half_size(lua_State *L, int box)
{
    lua_pushnumber(L, fit_of(L, box)->of[SS_FIT_HALF].value);
    return 1;
}

static int get_errors(lua_State *L, int box)
{
    const ss_fit *f = fit_of(L, box);
    lua_createtable(L, 0, SS_FIT_ESTIMATES);
    for (int e = 0; e < SS_FIT_ESTIMATES; e++) {
        push_or_nil(L, f->of[e].error);
        lua_setfield(L, -2, estimate_names[e]);
    }
    ss_lua_strict_row(L, "fit's errors", "latency");
    return 1;
}

static int get_told(lua_State *L, int box)
{
    const ss_fit *f = fit_of(L, box);
    lua_createtable(L, 0, SS_FIT_ESTIMATES);
    for (int e = 0; e < SS_FIT_ESTIMATES; e++)
        ss_lua_set_flag(L, estimate_names[e], f->of[e].told);
    ss_lua_strict_row(L, "fit's told", NULL);
    return 1;
}

static int get_covariance(lua_State *L, int box)
{
    const ss_fit *f = fit_of(L, box);
    lua_createtable(L, SS_FIT_ESTIMATES, 0);
    for (int a = 0; a < SS_FIT_ESTIMATES; a++) {
        lua_createtable(L, SS_FIT_ESTIMATES, 0);
        for (int b = 0; b < SS_FIT_ESTIMATES; b++) {
            lua_pushnumber(L, f->covariance[a][b]);
            lua_rawseti(L, -2, b + 1);
        }
        lua_rawseti(L, -2, a + 1);
    }
    return 1;
}

static int get_apart(lua_State *L, int box)
{
    lua_pushboolean(L, fit_of(L, box)->apart);
    return 1;
}

static int get_bent(lua_State *L, int box)
{
    lua_pushboolean(L, fit_of(L, box)->bent);
    return 1;
}

static int get_drift(lua_State *L, int box)
{
    lua_pushnumber(L, fit_of(L, box)->drift);
    return 1;
}

static int get_spread(lua_State *L, int box)
{
    lua_pushnumber(L, fit_of(L, box)->spread);
    return 1;
}

static int get_freedom(lua_State *L, int box)
{
    lua_pushinteger(L, fit_of(L, box)->freedom);
    return 1;
}

static int get_sizes(lua_State *L, int box)
{
    lua_pushinteger(L, fit_of(L, box)->sizes);
    return 1;
}

static int get_outliers(lua_State *L, int box)
{
    lua_pushinteger(L, fit_of(L, box)->outliers);
    return 1;
}

static int get_rows(lua_State *L, int box)
{
    const ss_fit *f = fit_of(L, box);
    lua_createtable(L, (int)f->rows, 0);
    for (uint32_t i = 0; i < f->rows; i++) {
        const ss_fit_row *r = &f->row[i];
        lua_createtable(L, 0, 9);
        ss_lua_set_count(L, "bytes", r->sample.bytes);
        ss_lua_set_number(L, "seconds", r->sample.seconds);
        ss_lua_set_number(L, "weight", r->sample.weight);
        ss_lua_set_text(L, "method", r->sample.streamed ? "streamed" : "one_way");
        ss_lua_set_number(L, "fitted", r->fitted_s);
        ss_lua_set_number(L, "error", r->error);
        if (!isnan(r->left_out))
            ss_lua_set_number(L, "left_out", r->left_out);
        ss_lua_set_number(L, "trust", r->trust);
        ss_lua_set_flag(L, "outlier", r->outlier);
        ss_lua_strict_row(L, "row of a fit", "left_out");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    ss_lua_strict_list(L, "row of a fit");
    return 1;
}

static void push_accuracy(lua_State *L, const ss_accuracy *a)
{
    lua_createtable(L, 0, 8);
    ss_lua_set_integer(L, "rows", a->rows);
    ss_lua_set_number(L, "within_5", a->within_5);
    ss_lua_set_number(L, "within_10", a->within_10);
    ss_lua_set_number(L, "within_20", a->within_20);
    ss_lua_set_number(L, "median", a->median);
    ss_lua_set_number(L, "p90", a->p90);
    ss_lua_set_number(L, "worst", a->worst);
    ss_lua_set_number(L, "mean", a->mean);
    ss_lua_strict_row(L, "fit's accuracy", NULL);
}

static int get_line(lua_State *L, int box)
{
    push_accuracy(L, &fit_of(L, box)->line);
    return 1;
}

static int get_left_out(lua_State *L, int box)
{
    push_accuracy(L, &fit_of(L, box)->curve);
    return 1;
}

static int get_notes(lua_State *L, int box)
{
    ss_text *text = ss_lua_text_new(L);
    ss_fit_report_notes(fit_of(L, box), text);
    return ss_lua_text_push(L, text);
}

static const ss_lua_field fit_fields[] = {
    {"name", get_name, "of the curve"},
    {"operation", get_operation, "what was measured: p2p, all_reduce, ..."},
    {"algorithm", get_algorithm, "how: direct, ring, ..."},
    {"ranks", get_ranks, "how many took part"},
    {"chunks", get_chunks, "into which trees and chains cut it; 0: as many as the form finds best"},
    {"latency", get_latency, "seconds of a message; nil if all rows are streamed"},
    {"bandwidth", get_bandwidth, "bytes per second"},
    {"half_size", get_half_size, "bytes of a message at half of the bandwidth"},
    {"errors", get_errors, "standard errors of latency, bandwidth, half_size"},
    {"told", get_told, "of the same: whether the rows tell them from nothing"},
    {"covariance", get_covariance, "of the same, in this order"},
    {"apart", get_apart, "whether streamed rows told latency from half size"},
    {"bent", get_bent, "whether no line is the shape of the times"},
    {"drift", get_drift, "correlation of the errors of neighbouring sizes"},
    {"spread", get_spread, "of a time, as a share of it"},
    {"freedom", get_freedom, "rows less parameters, for Student's t"},
    {"sizes", get_sizes, "how many different ones"},
    {"outliers", get_outliers, "how many rows the estimate does not trust"},
    {"rows", get_rows, "with fitted, error, trust, outlier"},
    {"line", get_line, "how far the line is off: median, p90, worst, mean, within_5, ..."},
    {"left_out", get_left_out, "the same of the curve, each size left out in turn"},
    {"notes", get_notes, "what to be warned of, a line each"},
    {NULL, NULL, NULL},
};

/* -- methods ---------------------------------------------------------------------------------- */

typedef struct seconds_options {
    int method;
} seconds_options;

static const ss_opt seconds_list[] = {
    {.name = "method",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(seconds_options, method),
     .choices = "one_way|streamed",
     .help = "streamed: of many messages under way"},
    {0},
};

/* fit:seconds(bytes, { method = }) -> number: by the line */
static int fit_seconds(lua_State *L)
{
    seconds_options o;
    const ss_fit *f = fit_of(L, 1);
    double bytes = ss_lua_quantity(L, 2, SS_UNIT_BYTES, "fit:seconds: the size");
    ss_lua_opts(L, 3, seconds_list, "fit:seconds", &o);
    if (!(bytes >= 0 && isfinite(bytes)))
        return ss_lua_refuse(L, "fit:seconds: a size of %g bytes", bytes);
    lua_pushnumber(L, ss_fit_seconds(f, bytes, o.method == 1));
    return 1;
}

typedef struct curve_options {
    double latency;
    bool monotone;
} curve_options;

static const ss_opt curve_list[] = {
    {.name = "latency",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(curve_options, latency),
     .max = 1e9,
     .unit = SS_UNIT_SECONDS,
     .help = "that the link has besides, of each message"},
    {.name = "monotone",
     .kind = SS_OPT_FLAG,
     .at = offsetof(curve_options, monotone),
     .help = "dips are pooled with their neighbours; false"},
    {0},
};

static void push_efficiency(lua_State *L, const ss_efficiency *e)
{
    lua_createtable(L, (int)e->n, 0);
    for (uint32_t i = 0; i < e->n; i++) {
        lua_createtable(L, 0, 2);
        ss_lua_set_count(L, "bytes", e->bytes[i]);
        ss_lua_set_number(L, "efficiency", e->share[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_pushnumber(L, e->bytes_per_s);
}

static const char EFFICIENCY_TYPE[] = "soapstone.efficiency of a fit";

static int efficiency_close(lua_State *L)
{
    ss_efficiency_free(luaL_checkudata(L, 1, EFFICIENCY_TYPE));
    return 0;
}

/* fit:curve { latency =, monotone = } -> list of { bytes =, efficiency = }, bandwidth */
static int fit_curve(lua_State *L)
{
    curve_options o;
    const ss_fit *f = fit_of(L, 1);
    ss_lua_opts(L, 2, curve_list, "fit:curve", &o);
    ss_efficiency *e = lua_newuserdatauv(L, sizeof *e, 0);
    *e = (ss_efficiency){0};
    if (luaL_newmetatable(L, EFFICIENCY_TYPE)) {
        lua_pushcfunction(L, efficiency_close);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);

    ss_error err;
    if (ss_fit_curve(f, o.latency, o.monotone, e, &err)) {
        ss_fail_in(&err, "fit:curve");
        return ss_lua_raise(L, &err);
    }
    push_efficiency(L, e);
    ss_efficiency_free(e);
    return 2;
}

/* fit:json() -> text */
static int fit_json(lua_State *L)
{
    const ss_lua_fit *f = fit_at(L, 1);
    ss_text *text = ss_lua_text_new(L);
    ss_error err;
    if (ss_fit_report_json(f->fit, f->name, text, &err))
        return ss_lua_raise(L, &err);
    return ss_lua_text_push(L, text);
}

static int fit_text(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_fit_type.name);
    if (box->closed || !box->object) {
        lua_pushliteral(L, "fit (closed)");
        return 1;
    }
    const ss_lua_fit *f = box->object;
    ss_text *text = ss_lua_text_new(L);
    ss_error err;
    if (ss_fit_report_text(f->fit, f->name, text, &err))
        return ss_lua_raise(L, &err);
    return ss_lua_text_push(L, text);
}

static const ss_lua_method fit_methods[] = {
    {"curve", fit_curve,
     "({ latency =, monotone = }) -> list of { bytes =, efficiency = }, bandwidth"},
    {"json", fit_json, "() -> text: the page and every row, as JSON"},
    {"seconds", fit_seconds, "(bytes, { method = }) -> seconds: by the line"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_fit_type = {
    .name = "soapstone.fit",
    .noun = "fit",
    .free = free_fit,
    .fields = fit_fields,
    .methods = fit_methods,
    .text = fit_text,
};

/* -- the figure ------------------------------------------------------------------------------- */

typedef struct figure_options {
    const char *gnuplot;
} figure_options;

static const ss_opt figure_list[] = {
    {.name = "width", .kind = SS_OPT_VALUE, .help = "inches on paper; 3.5 is a column"},
    {.name = "gnuplot",
     .kind = SS_OPT_TEXT,
     .at = offsetof(figure_options, gnuplot),
     .help = "the program; looked up in PATH unless given"},
    {0},
};

/* plot.calibration(fit, out, options) */
static int plot_calibration(lua_State *L)
{
    figure_options o;
    ss_lua_opts(L, 3, figure_list, "plot.calibration", &o);
    double width = ss_lua_plot_width(L, 3);
    const ss_lua_fit *f = fit_at(L, 1);
    const char *out = ss_lua_text(L, 2, "plot: the file to draw into");
    ss_plot_options p = ss_lua_plot_options(L, width, o.gnuplot);

    ss_error err;
    if (ss_plot_calibration(f->fit, f->name, out, &p, &err))
        return ss_lua_raise(L, &err);
    return 0;
}

void ss_lua_add_plot_calibration(lua_State *L)
{
    lua_pushnil(L);
    ss_lua_module_add(L, "plot", "calibration", plot_calibration);
}

static const ss_lua_method functions[] = {
    {"fit", calibrate_fit,
     "({ rows =, operation =, ranks =, ... }) -> fit: latency, bandwidth, curve"},
    {"read", calibrate_read,
     "(path, { columns = }) -> list of curves, rows without a time, rows of another bandwidth"},
    {"roofline", ss_lua_calibrate_roofline,
     "({ strategies =, profile =, hold_out =, ... }) -> table: constants of a device kind, and how far off they are on what was held out"},
    {"tasks", ss_lua_calibrate_tasks,
     "(list of { group =, alone =, executed = }, { interference = }) -> table: overhead, factors, interference"},
    {NULL, NULL, NULL},
};

void ss_lua_open_calibrate(lua_State *L)
{
    ss_lua_type_register(L, &ss_lua_fit_type);
    ss_lua_push_module(L, "calibrate", functions);
}
