/* lua_costs.c - soapstone.costs: where the times of operators come from. */
#include <math.h>
#include <string.h>

#include <lauxlib.h>

#include "io/measured.h"
#include "lua/lua_profile.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"

enum { PATH = 200 };

static void free_costs(void *costs)
{
    ss_costs_free(costs);
}

/* Pushes an empty one. */
static ss_costs *push_costs(lua_State *L)
{
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_costs_type);
    ss_error err;
    ss_costs *c = NULL;
    if (ss_costs_new(&c, &err))
        ss_lua_raise(L, &err);
    box->object = c;
    return c;
}

int ss_lua_costs_push_copy(lua_State *L, const ss_costs *from)
{
    ss_costs *c = push_costs(L);

    ss_error err;
    if (ss_costs_add_all(c, from, &err))
        return ss_lua_raise(L, &err);
    return 1;
}

/* -- roofline --------------------------------------------------------------------------------- */

static const ss_opt roofline_list[] = {
    {.name = "kind",
     .kind = SS_OPT_TEXT,
     .at = offsetof(ss_roofline, kind),
     .help = "of the devices that the other options are for; every kind unless given"},
    {.name = "launch",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(ss_roofline, launch_s),
     .preset = SS_OPT_KEEP,
     .unit = SS_UNIT_SECONDS,
     .help = "each task takes that does anything"},
    {.name = "flop_efficiency",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(ss_roofline, flop_efficiency),
     .preset = SS_OPT_KEEP,
     .help = "of the peak, that large matrix products reach"},
    {.name = "conv_efficiency",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(ss_roofline, conv_efficiency),
     .preset = SS_OPT_KEEP,
     .help = "the same of convolutions, forward"},
    {.name = "conv_backward_efficiency",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(ss_roofline, conv_backward_efficiency),
     .preset = SS_OPT_KEEP,
     .help = "and backward"},
    {.name = "operand_efficiency",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(ss_roofline, operand_efficiency),
     .preset = SS_OPT_KEEP,
     .help = "of the memory bandwidth, by products short of arithmetic"},
    {.name = "memory_efficiency",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(ss_roofline, memory_efficiency),
     .preset = SS_OPT_KEEP,
     .help = "the same of streams: element-wise work, norms, updates"},
    {.name = "half_flop",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(ss_roofline, half_flop),
     .preset = SS_OPT_KEEP,
     .unit = SS_UNIT_FLOP,
     .help = "a product of so many runs at half of that efficiency"},
    {0},
};

/* costs.roofline { launch =, ... } -> costs */
static int costs_roofline(lua_State *L)
{
    ss_roofline r = {.launch_s = NAN,
                     .flop_efficiency = NAN,
                     .conv_efficiency = NAN,
                     .conv_backward_efficiency = NAN,
                     .operand_efficiency = NAN,
                     .memory_efficiency = NAN,
                     .half_flop = NAN,
                     .source = "the script"};
    ss_lua_opts(L, 1, roofline_list, "costs.roofline", &r);
    bool given = lua_istable(L, 1) && (lua_settop(L, 1), lua_pushnil(L), lua_next(L, 1));
    lua_settop(L, 1);
    if (!r.kind)
        r.kind = "*";
    ss_costs *c = push_costs(L);

    ss_error err;
    if (ss_costs_add_roofline(c, given ? &r : NULL, &err))
        return ss_lua_raise(L, &err);
    return 1;
}

/* -- given ------------------------------------------------------------------------------------ */

typedef struct given_options {
    double forward, backward;
} given_options;

static const ss_opt given_list[] = {
    {.name = "forward",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(given_options, forward),
     .preset = SS_OPT_KEEP,
     .unit = SS_UNIT_SECONDS,
     .help = "time of the forward task"},
    {.name = "backward",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(given_options, backward),
     .preset = SS_OPT_KEEP,
     .unit = SS_UNIT_SECONDS,
     .help = "time of the backward task"},
    {0},
};

/* Whether times are for the whole operator; `per` is an entry among the operators' names. */
static bool read_per(lua_State *L)
{
    bool whole = ss_lua_push_option(L, 1, "per") != LUA_TNIL &&
                 ss_lua_choice(L, -1, "part|whole", "costs.given: option 'per'") == 1;
    lua_pop(L, 1);
    return whole;
}

/* costs.given { fc1 = { forward =, backward = }, ..., per = "part" } -> costs */
static int costs_given(lua_State *L)
{
    char path[PATH];
    if (!lua_istable(L, 1))
        return ss_lua_refuse(L, "costs.given takes a table of operators' times, not %s",
                             ss_lua_kind_of(L, 1));
    lua_settop(L, 1);
    bool whole = read_per(L);
    ss_lua_push_sorted_keys(L, 1);
    int keys = lua_gettop(L);
    ss_costs *c = push_costs(L);
    lua_Integer n = (lua_Integer)lua_rawlen(L, keys);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, keys, i);
        const char *name = ss_lua_text(L, -1, "costs.given: the name of an operator");
        if (!strcmp(name, "per")) {
            lua_pop(L, 1);
            continue;
        }
        ss_lua_name(path, sizeof path, "costs.given: operator %.80s", name);
        lua_pushvalue(L, -1);
        lua_rawget(L, 1);
        given_options o = {NAN, NAN};
        if (!lua_istable(L, -1))
            return ss_lua_refuse(L, "%s takes { forward =, backward = }, not %s", path,
                                 ss_lua_kind_of(L, -1));
        ss_lua_opts(L, -1, given_list, path, &o);

        ss_error err;
        if (ss_costs_add_given(c, name, o.forward, o.backward, whole, &err))
            return ss_lua_raise(L, &err);
        lua_pop(L, 2);
    }
    return 1;
}

/* -- measured --------------------------------------------------------------------------------- */

enum { MOST_COLUMNS = 32 };

static const ss_opt table_list[] = {
    {.name = "columns",
     .kind = SS_OPT_VALUE,
     .help = "what a CSV file calls them: { kind = \"op\", seconds = \"time [ms]\" }"},
    {0},
};

/* The texts stay in the table of the options; false: none was given. */
static bool read_columns(lua_State *L, int options, const char **theirs)
{
    uint32_t n;
    const char *const *known = ss_measured_columns(&n);
    ss_lua_opts_names(L, options, table_list, NULL, 0, "costs.table");
    if (ss_lua_push_option(L, options, "columns") == LUA_TNIL)
        return false;
    ss_lua_opts_names(L, lua_gettop(L), NULL, known, n, "costs.table: columns");
    for (uint32_t c = 0; c < n && c < MOST_COLUMNS; c++) {
        char path[64];
        ss_lua_name(path, sizeof path, "costs.table: columns.%s", known[c]);
        if (ss_lua_push_option(L, -1, known[c]) != LUA_TNIL)
            theirs[c] = ss_lua_text(L, -1, path);
        lua_pop(L, 1);
    }
    return true;
}

/* costs.table(path or profile, { columns = }) -> costs */
static int costs_table(lua_State *L)
{
    const char *theirs[MOST_COLUMNS] = {NULL};
    lua_settop(L, 2);
    ss_lua_box *profile = luaL_testudata(L, 1, ss_lua_profile_type.name)
                              ? ss_lua_box_check(L, 1, &ss_lua_profile_type)
                              : NULL;
    const char *path = profile ? NULL : ss_lua_text(L, 1, "costs.table: the path (or a profile)");
    bool renamed = read_columns(L, 2, theirs);
    if (renamed && profile)
        return ss_lua_refuse(L, "costs.table: columns are those of a CSV file, and this is a profile");
    ss_costs *c = push_costs(L);

    ss_error err;
    if (profile ? ss_profile_add_to_costs(profile->object, "profile", c, &err)
        : renamed ? ss_measured_read_as(path, theirs, c, &err)
                  : ss_measured_read(path, c, &err))
        return ss_lua_raise(L, &err);
    return 1;
}

/* -- together --------------------------------------------------------------------------------- */

/* costs.stack { first, second, ... } -> costs; the first that knows wins */
static int costs_stack(lua_State *L)
{
    if (!lua_istable(L, 1))
        return ss_lua_refuse(L, "costs.stack takes a list of costs, not %s", ss_lua_kind_of(L, 1));
    lua_settop(L, 1);
    ss_costs *c = push_costs(L);
    lua_Integer n = (lua_Integer)lua_rawlen(L, 1);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, 1, i);
        ss_lua_box *box = ss_lua_box_test(L, -1, &ss_lua_costs_type);
        if (!box)
            return ss_lua_refuse(L, "costs.stack: element %d is %s, not costs", (int)i,
                                 ss_lua_kind_of(L, -1));

        ss_error err;
        if (ss_costs_add_all(c, box->object, &err))
            return ss_lua_raise(L, &err);
        lua_pop(L, 1);
    }
    return 1;
}

/* costs:scale(factor) -> costs: the same, every time so many times as long */
static int costs_scale(lua_State *L)
{
    const ss_costs *from = ss_lua_check(L, 1, &ss_lua_costs_type);
    double factor = ss_lua_quantity(L, 2, SS_UNIT_NONE, "costs:scale: the factor");
    ss_costs *c = push_costs(L);

    ss_error err;
    if (ss_costs_add_all(c, from, &err))
        return ss_lua_raise(L, &err);
    if (ss_costs_set_scale(c, factor, &err)) {
        ss_fail_in(&err, "costs:scale");
        return ss_lua_raise(L, &err);
    }
    return 1;
}

/* The table of factors on top of the stack. */
static ss_status read_factors(lua_State *L, ss_correction *x, ss_error *err)
{
    ss_status s = SS_OK;
    ss_lua_push_sorted_keys(L, lua_gettop(L));
    lua_Unsigned n = lua_rawlen(L, -1);
    for (lua_Unsigned i = 1; i <= n && !s; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i);
        lua_pushvalue(L, -1);
        lua_rawget(L, -4);
        if (lua_type(L, -2) != LUA_TSTRING)
            s = ss_fail(err, SS_EINVAL, "a key of the factors is %s; the name of what they are of is wanted",
                        ss_lua_kind_of(L, -2));
        else if (lua_type(L, -1) != LUA_TNUMBER)
            s = ss_fail(err, SS_EINVAL, "the factor of '%s' is %s; a number is wanted", lua_tostring(L, -2),
                        ss_lua_kind_of(L, -1));
        else
            s = ss_correction_set(x, lua_tostring(L, -2), lua_tonumber(L, -1), err);
        lua_pop(L, 2);
    }
    lua_pop(L, 1);
    return s;
}

typedef struct correct_options {
    double overhead;
} correct_options;

static const ss_opt correct_list[] = {
    {.name = "overhead",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(correct_options, overhead),
     .max = 1,
     .unit = SS_UNIT_SECONDS,
     .help = "of each task that takes time"},
    {.name = "factors",
     .kind = SS_OPT_VALUE,
     .help = "by kind of operator and phase (\"linear forward\"), phase, or stream: how much longer"},
    {0},
};

/* The work, which cannot jump. */
static ss_status correct(lua_State *L, ss_costs *c, const correct_options *o, ss_error *err)
{
    ss_correction *x;
    ss_status s = ss_correction_new(&x, err);
    if (s)
        return s;
    s = ss_correction_set_overhead(x, o->overhead, err);
    if (!s && lua_istable(L, -1))
        s = read_factors(L, x, err);
    if (!s)
        s = ss_costs_correct(c, x, err);
    ss_correction_free(x);
    return s;
}

/* costs:correct { overhead =, factors = { ["linear forward"] =, update =, ... } } -> costs: as tasks take in a step */
static int costs_correct(lua_State *L)
{
    const ss_costs *from = ss_lua_check(L, 1, &ss_lua_costs_type);
    correct_options o;
    ss_error err;
    ss_lua_opts(L, 2, correct_list, "costs:correct", &o);
    ss_costs *c = push_costs(L);
    if (ss_costs_add_all(c, from, &err))
        return ss_lua_raise(L, &err);
    int kind = ss_lua_push_option(L, 2, "factors");
    if (kind != LUA_TNIL && kind != LUA_TTABLE)
        return ss_lua_refuse(L, "costs:correct: option 'factors' should be a table, not %s", ss_lua_kind_of(L, -1));
    if (correct(L, c, &o, &err)) {
        ss_fail_in(&err, "costs:correct");
        return ss_lua_raise(L, &err);
    }
    lua_pop(L, 1);
    return 1;
}

static int costs_text(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_costs_type.name);
    lua_pushstring(L, box->closed ? "costs (closed)" : "costs");
    return 1;
}

static const ss_lua_method costs_methods[] = {
    {"correct", costs_correct, "({ overhead =, factors = }) -> costs: the same, as tasks take in a step"},
    {"scale", costs_scale, "(factor) -> costs: the same, every time so many times as long"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_costs_type = {
    .name = "soapstone.costs",
    .noun = "costs",
    .many = true,
    .free = free_costs,
    .methods = costs_methods,
    .text = costs_text,
};

static const ss_lua_method functions[] = {
    {"given", costs_given, "(times by operator, per =) -> costs: known seconds"},
    {"roofline", costs_roofline, "(options) -> costs: from peaks and bandwidths"},
    {"table", costs_table, "(path or profile) -> costs: measured times; files are CSV or HDF5"},
    {"stack", costs_stack, "(list of costs) -> costs: the first that knows wins"},
    {NULL, NULL, NULL},
};

void ss_lua_open_costs(lua_State *L)
{
    ss_lua_type_register(L, &ss_lua_costs_type);
    ss_lua_push_module(L, "costs", functions);
}
