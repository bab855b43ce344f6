/* lua_calibrate_roofline.c - soapstone.calibrate.roofline: constants of a device kind from what was measured on one. */
#include <math.h>
#include <string.h>

#include <lauxlib.h>

#include "lua/lua_fit.h"
#include "lua/lua_profile.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"
#include "validation/compare/roofline_calibration.h"

enum { PATH = 100, STRATEGIES = 100000 };

static const char OWNER[] = "calibrate.roofline";
static const char OF_CONSTANTS[] =
    "launch|flop_efficiency|conv_efficiency|conv_backward_efficiency|operand_efficiency|"
    "memory_efficiency|half_flop";

typedef struct roofline_options {
    const char *kind;
    double hold_out, seed;
} roofline_options;

static const ss_opt roofline_list[] = {
    {.name = "strategies", .kind = SS_OPT_VALUE, .help = "one or a list: what they need is fitted"},
    {.name = "test",
     .kind = SS_OPT_VALUE,
     .help = "one or a list: what they need and the others do not is held out"},
    {.name = "profile", .kind = SS_OPT_VALUE, .help = "with the measured times"},
    {.name = "costs",
     .kind = SS_OPT_VALUE,
     .help = "with tables of measured times, instead of a profile"},
    {.name = "kind",
     .kind = SS_OPT_TEXT,
     .at = offsetof(roofline_options, kind),
     .help = "of the devices; the profile's, or that of all the strategies have, unless given"},
    {.name = "hold_out",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(roofline_options, hold_out),
     .preset = SS_OPT_KEEP,
     .max = 1,
     .help = "share of the parts, drawn for each kind of operator, that is not fitted; 0.5, with "
             "`test` 0"},
    {.name = "seed",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(roofline_options, seed),
     .preset = 1,
     .max = 0x1p53,
     .help = "of that draw"},
    {0},
};

typedef struct roofline_job {
    ss_roofline_calibration_options o;
    const ss_profile *profile;
    const ss_costs *costs;
    const ss_strategy **strategy, **test;
    uint32_t strategies, tests;
} roofline_job;

/* -- read -------------------------------------------------------------------------------------- */

/* Of an option that is a strategy or a list of them: in Lua's memory, on the stack as the list is. */
static const ss_strategy **read_strategies(lua_State *L, const char *option, uint32_t *n)
{
    *n = 0;
    if (ss_lua_push_option(L, 1, option) == LUA_TNIL)
        return NULL;
    int at = lua_gettop(L);
    bool list = lua_istable(L, at);
    lua_Unsigned count = list ? lua_rawlen(L, at) : 1;
    if (count < 1 || count > STRATEGIES)
        ss_lua_refuse(L, "%s: option '%s' has %d strategies; 1 to %d are possible", OWNER, option,
                      (int)count, STRATEGIES);
    const ss_strategy **s = lua_newuserdatauv(L, (size_t)count * sizeof *s, 0);
    for (lua_Unsigned i = 0; i < count; i++) {
        if (list)
            lua_rawgeti(L, at, (lua_Integer)i + 1);
        else
            lua_pushvalue(L, at);
        ss_lua_box *box = ss_lua_box_test(L, -1, &ss_lua_strategy_type);
        if (!box)
            ss_lua_refuse(L,
                          "%s: option '%s' should be a strategy or a list of them; %d of it is %s",
                          OWNER, option, (int)i + 1, ss_lua_kind_of(L, -1));
        s[i] = ((ss_lua_strategy *)box->object)->strategy;
        lua_pop(L, 1);
    }
    *n = (uint32_t)count;
    return s;
}

static void *read_object(lua_State *L, const char *option, const ss_lua_type *type)
{
    if (ss_lua_push_option(L, 1, option) == LUA_TNIL)
        return NULL;
    ss_lua_box *box = ss_lua_box_test(L, -1, type);
    if (!box)
        ss_lua_refuse(L, "%s: option '%s' should be %s%s, not %s", OWNER, option,
                      type->many ? "" : "a ", type->noun, ss_lua_kind_of(L, -1));
    return box->object;
}

/* Of all devices of the strategies' topologies. */
static const char *only_kind(lua_State *L, const roofline_job *j)
{
    const char *first = NULL;
    for (uint32_t k = 0; k < j->strategies; k++) {
        const ss_topology *t = j->strategy[k]->topology;
        for (uint32_t i = 1; i <= t->devices; i++) {
            const char *kind = t->device[i].def.kind;
            if (first && strcmp(kind, first) != 0)
                ss_lua_refuse(L,
                              "%s: topology %s has devices of the kinds %s and %s: say whose "
                              "constants are wanted with the "
                              "option 'kind'",
                              OWNER, t->name, first, kind);
            first = kind;
        }
    }
    return first;
}

static void read_job(lua_State *L, roofline_job *j)
{
    roofline_options o = {.hold_out = NAN};
    lua_settop(L, 1);
    ss_lua_opts(L, 1, roofline_list, OWNER, &o);
    j->strategy = read_strategies(L, "strategies", &j->strategies);
    j->test = read_strategies(L, "test", &j->tests);
    j->profile = read_object(L, "profile", &ss_lua_profile_type);
    j->costs = read_object(L, "costs", &ss_lua_costs_type);
    if (!j->strategies)
        ss_lua_refuse(L, "%s needs strategies: { strategies = ..., profile = ... }", OWNER);
    if (!j->profile == !j->costs)
        ss_lua_refuse(
            L,
            "%s takes measured times from one of the options 'profile' and 'costs', and %s given",
            OWNER, j->profile ? "both are" : "none is");
    j->o.kind = o.kind ? o.kind : j->profile ? j->profile->device_kind : only_kind(L, j);
    j->o.hold_out = !isnan(o.hold_out) ? o.hold_out : j->tests ? 0 : 0.5;
    j->o.seed = (uint64_t)o.seed;
}

/* -- work -------------------------------------------------------------------------------------- */

static ss_status work(const roofline_job *j, ss_roofline_calibration *c, ss_error *err)
{
    ss_costs *own = NULL;
    ss_status s = SS_OK;
    if (j->profile) {
        s = ss_costs_new(&own, err);
        if (!s)
            s = ss_profile_add_to_costs(j->profile, "profile", own, err);
    }
    if (!s)
        s = ss_roofline_calibrate(c, j->strategy, j->strategies, j->test, j->tests,
                                  own ? own : j->costs, &j->o, err);
    ss_costs_free(own);
    return s ? ss_fail_in(err, "%s", OWNER) : SS_OK;
}

/* -- answer ------------------------------------------------------------------------------------ */

static const char CALIBRATION_TYPE[] = "soapstone.calibration of a roofline";

static int calibration_close(lua_State *L)
{
    ss_roofline_calibration_free(luaL_checkudata(L, 1, CALIBRATION_TYPE));
    return 0;
}

/* Left on the stack, empty. */
static ss_roofline_calibration *push_calibration(lua_State *L)
{
    ss_roofline_calibration *c = lua_newuserdatauv(L, sizeof *c, 0);
    *c = (ss_roofline_calibration){0};
    if (luaL_newmetatable(L, CALIBRATION_TYPE)) {
        lua_pushcfunction(L, calibration_close);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return c;
}

/* As costs.roofline takes them. */
static void push_constants(lua_State *L, const ss_roofline *r, const char *kind)
{
    lua_createtable(L, 0, SS_ROOFLINE_CONSTANTS + 1);
    ss_lua_set_text(L, "kind", kind);
    for (int i = 0; i < SS_ROOFLINE_CONSTANTS; i++)
        ss_lua_set_number(L, ss_roofline_describe(i)->name, ss_roofline_get(r, i));
}

static void set_told(lua_State *L, const ss_roofline_fit *f)
{
    lua_createtable(L, 0, SS_ROOFLINE_CONSTANTS);
    for (int i = 0; i < SS_ROOFLINE_CONSTANTS; i++)
        ss_lua_set_text(L, ss_roofline_describe(i)->name, ss_roofline_told_name(f->told[i]));
    ss_lua_strict_row(L, "roofline", NULL);
    lua_setfield(L, -2, "told");
    lua_createtable(L, 0, SS_ROOFLINE_CONSTANTS);
    for (int i = 0; i < SS_ROOFLINE_CONSTANTS; i++)
        if (isfinite(f->error[i]))
            ss_lua_set_number(L, ss_roofline_describe(i)->name, f->error[i]);
    ss_lua_strict_row(L, "error of a roofline", OF_CONSTANTS);
    lua_setfield(L, -2, "errors");
}

static void set_errors(lua_State *L, const char *name, const ss_roofline_errors *e)
{
    if (!e->fitted.n)
        return;
    lua_createtable(L, 0, 2);
    ss_lua_push_comparison(L, &e->builtin);
    lua_setfield(L, -2, "builtin");
    ss_lua_push_comparison(L, &e->fitted);
    lua_setfield(L, -2, "fitted");
    ss_lua_strict_row(L, "comparison of rooflines", NULL);
    lua_setfield(L, -2, name);
}

static void set_parts(lua_State *L, const ss_roofline_calibration *c)
{
    lua_createtable(L, (int)c->parts, 0);
    for (uint32_t i = 0; i < c->parts; i++) {
        const ss_roofline_part *p = &c->part[i];
        lua_createtable(L, 0, 10);
        ss_lua_set_text(L, "key", ss_names_text(&c->keys, p->key));
        ss_lua_set_text(L, "kind", p->kind->name);
        ss_lua_set_text(L, "phase", ss_phase_name(p->phase));
        ss_lua_set_text(L, "work", ss_roofline_sort_name(p->row.work.sort));
        ss_lua_set_number(L, "flop", p->row.work.flops);
        ss_lua_set_number(L, "bytes", p->row.work.bytes);
        ss_lua_set_number(L, "measured", p->row.seconds);
        ss_lua_set_number(L, "builtin", p->builtin_s);
        ss_lua_set_number(L, "fitted", p->fitted_s);
        ss_lua_set_flag(L, "held_out", p->held_out);
        ss_lua_strict_row(L, "part", NULL);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    ss_lua_strict_list(L, "part");
    lua_setfield(L, -2, "parts");
}

static void push_answer(lua_State *L, const ss_roofline_calibration *c, const char *kind)
{
    lua_createtable(L, 0, 12);
    ss_lua_set_text(L, "kind", kind);
    push_constants(L, &c->fit.constants, kind);
    lua_setfield(L, -2, "constants");
    push_constants(L, c->builtin, kind);
    lua_setfield(L, -2, "builtin");
    ss_lua_set_text(L, "builtin_source", c->builtin->source);
    set_told(L, &c->fit);
    ss_lua_set_number(L, "spread", c->fit.spread);
    ss_lua_set_integer(L, "outliers", c->fit.outliers);
    ss_lua_set_integer(L, "unknown", c->unknown);
    set_errors(L, "on_fitted", &c->on_fitted);
    set_errors(L, "on_held_out", &c->on_held_out);
    set_parts(L, c);
    ss_lua_strict_row(L, "calibration of a roofline", "on_held_out");
}

/* calibrate.roofline { strategies =, test =, profile = or costs =, kind =, hold_out =, seed = }
 * -> { kind, constants, builtin, told, errors, spread, outliers, unknown, on_fitted, on_held_out, parts } */
int ss_lua_calibrate_roofline(lua_State *L)
{
    roofline_job j = {0};
    read_job(L, &j);
    ss_roofline_calibration *c = push_calibration(L);

    ss_error err;
    if (work(&j, c, &err))
        return ss_lua_raise(L, &err);
    push_answer(L, c, j.o.kind);
    ss_roofline_calibration_free(c); /* not to wait for the collector */
    return 1;
}
