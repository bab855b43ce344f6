/* lua_repetitions.c - problem:repetitions: strategies again and again, each time with other luck. */
#include <math.h>
#include <string.h>

#include <lauxlib.h>

#include "base/mem.h"
#include "io/repetitions_report.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"

enum { CACHE = 3 /* a user value that no hold takes */ };

typedef struct repetitions {
    ss_repetitions r;
    char **name; /* by strategy */
    char *assumptions;
} repetitions;

static void free_repetitions(void *object)
{
    repetitions *x = object;
    if (!x)
        return;
    for (uint32_t i = 0; i < x->r.strategies && x->name; i++)
        ss_free(x->name[i]);
    ss_free(x->name);
    ss_free(x->assumptions);
    ss_repetitions_free(&x->r);
    ss_free(x);
}

static repetitions *check(lua_State *L, int index)
{
    return ss_lua_check(L, index, &ss_lua_repetitions_type);
}

/* -- asking for them -------------------------------------------------------------------------- */

typedef struct ask_options {
    uint32_t n, first, threads;
    double confidence;
} ask_options;

static const ss_opt ask_list[] = {
    {.name = "n",
     .kind = SS_OPT_COUNT,
     .at = offsetof(ask_options, n),
     .preset = 100,
     .min = 1,
     .max = 1e6,
     .help = "how many"},
    {.name = "first",
     .kind = SS_OPT_COUNT,
     .at = offsetof(ask_options, first),
     .preset = 1,
     .min = 1,
     .max = 4e9,
     .help = "number of the first"},
    {.name = "confidence",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(ask_options, confidence),
     .preset = 0.95,
     .min = 0.01,
     .max = 0.999999,
     .help = "of the intervals"},
    {.name = "threads",
     .kind = SS_OPT_COUNT,
     .at = offsetof(ask_options, threads),
     .max = 1024,
     .help = "at work at once; as many as there are processors unless given"},
    {0},
};

/* Of one strategy or a list: strategies and what reports call them, in Lua's memory, on the stack. */
static const ss_strategy **read_strategies(lua_State *L, const ss_lua_problem *p, uint32_t *n,
                                           const char ***name)
{
    bool list = lua_istable(L, 2);
    lua_Unsigned count = list ? lua_rawlen(L, 2) : 1;
    if (count < 1 || count > SS_REPETITIONS_STRATEGIES)
        ss_lua_refuse(L, "problem:repetitions: the list has %d strategies; 1 to %d are possible",
                      (int)count, SS_REPETITIONS_STRATEGIES);
    luaL_checkstack(L, (int)count * 2 + 10, "too many strategies");
    const ss_strategy **s = lua_newuserdatauv(L, (size_t)count * sizeof *s, 0);
    *name = lua_newuserdatauv(L, (size_t)count * sizeof **name, 0);
    for (lua_Unsigned i = 0; i < count; i++) {
        if (list)
            lua_rawgeti(L, 2, (lua_Integer)i + 1);
        else
            lua_pushvalue(L, 2);
        ss_lua_box *box = ss_lua_box_test(L, -1, &ss_lua_strategy_type);
        if (!box && list)
            ss_lua_refuse(L, "problem:repetitions: strategy %d of the list is %s", (int)i + 1,
                          ss_lua_kind_of(L, -1));
        if (!box)
            ss_lua_refuse(L, "problem:repetitions takes a strategy or a list of them, not %s",
                          ss_lua_kind_of(L, -1));
        else {
            ss_lua_strategy *one = box->object;
            ss_lua_refuse_other(L, "problem:repetitions", p, one->strategy);
            s[i] = one->strategy;
            (*name)[i] = ss_lua_strategy_push_name(L, one);
        }
    }
    *n = (uint32_t)count;
    return s;
}

/* What was in force, as a result of the first one says it. */
static ss_status say_assumptions(ss_lua_problem *p, const ss_repetitions_ask *ask, char **out,
                                 ss_error *err)
{
    ss_result *r = NULL;
    ss_view view = {0};
    ss_text costs = {0}, notes = {0};
    ss_lower_options o = *ask->lower;
    o.repetition = ask->first;
    ss_costs_count(p->costs);
    ss_status s = ss_result_new(p->model, p->topology, p->routes, ask->strategy[0], &p->timer, &o,
                                p->engine, &r, err);
    ss_status missing = ss_costs_refuse_missing(p->costs, s ? NULL : err);
    if (!s)
        s = missing;
    if (!s)
        s = ss_costs_say(p->costs, &costs, &notes, err);
    if (!s && !(r->costs = ss_strdup(ss_text_get(&costs))))
        s = ss_fail_memory(err, "repetitions", costs.n);
    if (!s)
        s = ss_view_of_lanes(r, p->model, p->topology, "", &view, err);
    if (!s && !(*out = ss_strdup(view.assumptions)))
        s = ss_fail_memory(err, "repetitions", 0);
    ss_view_free(&view);
    ss_result_free(r);
    ss_text_free(&costs);
    ss_text_free(&notes);
    return s;
}

static ss_status keep_names(repetitions *x, const char *const *name, uint32_t n, ss_error *err)
{
    x->name = ss_alloc_zeroed(n, sizeof *x->name);
    for (uint32_t i = 0; i < n && x->name; i++)
        if (!(x->name[i] = ss_strdup(name[i])))
            return ss_fail_memory(err, "repetitions", strlen(name[i]));
    return x->name ? SS_OK : ss_fail_memory(err, "repetitions", n * sizeof *x->name);
}

static ss_status run(ss_lua_problem *p, const ss_repetitions_ask *ask, const char *const *name,
                     const ss_watch *watch, repetitions **out, ss_error *err)
{
    repetitions *x = ss_alloc_zeroed(1, sizeof *x);
    if (!x)
        return ss_fail_memory(err, "repetitions", sizeof *x);
    ss_status s = ss_repetitions_run(ask, watch, &x->r, err);
    if (!s)
        s = keep_names(x, name, ask->strategies, err);
    if (!s)
        s = say_assumptions(p, ask, &x->assumptions, err);
    if (s)
        free_repetitions(x);
    else
        *out = x;
    return s;
}

/* problem:repetitions(strategy or list, { n =, first =, confidence =, threads = }) -> repetitions */
int ss_lua_problem_repetitions(lua_State *L)
{
    ss_lua_problem *p = ss_lua_check(L, 1, &ss_lua_problem_type);
    ask_options o;
    const char **name;
    ss_lua_opts(L, 3, ask_list, "problem:repetitions", &o);
    lua_settop(L, 2);
    ss_repetitions_ask ask = {.model = p->model,
                              .topology = p->topology,
                              .costs = p->costs,
                              .lower = &p->options,
                              .n = o.n,
                              .first = o.first,
                              .confidence = o.confidence,
                              .threads = o.threads};
    ask.strategy = read_strategies(L, p, &ask.strategies, &name);
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_repetitions_type);

    ss_error err;
    repetitions *x = NULL;
    const ss_watch *watch = ss_lua_watch(L);
    ss_engine_set_watch(p->engine, watch);
    ss_status s = run(p, &ask, name, watch, &x, &err);
    ss_look_away(watch);
    if (s) {
        ss_fail_in(&err, "problem:repetitions");
        return ss_lua_raise(L, &err);
    }
    box->object = x;
    return 1;
}

/* -- what they say ---------------------------------------------------------------------------- */

static bool push_kept(lua_State *L, int index, const char *key)
{
    if (lua_getiuservalue(L, index, CACHE) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, index, CACHE);
    }
    bool there = lua_getfield(L, -1, key) != LUA_TNIL;
    lua_remove(L, -2);
    if (!there)
        lua_pop(L, 1);
    return there;
}

static void keep(lua_State *L, int index, const char *key)
{
    lua_getiuservalue(L, index, CACHE);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, key);
    lua_pop(L, 1);
}

static void set_if_known(lua_State *L, const char *key, double x)
{
    if (!isnan(x))
        ss_lua_set_number(L, key, x);
}

static void set_interval(lua_State *L, const char *key, double low, double high)
{
    if (isnan(low))
        return;
    lua_createtable(L, 2, 0);
    lua_pushnumber(L, low);
    lua_rawseti(L, -2, 1);
    lua_pushnumber(L, high);
    lua_rawseti(L, -2, 2);
    lua_setfield(L, -2, key);
}

static void push_strategy(lua_State *L, const repetitions *x, uint32_t i)
{
    const ss_spread *s = &x->r.spread[i];
    lua_createtable(L, 0, 14);
    ss_lua_set_text(L, "name", x->name[i]);
    ss_lua_set_number(L, "mean", s->mean);
    set_if_known(L, "deviation", s->deviation);
    if (s->n > 1 && s->mean > 0)
        ss_lua_set_number(L, "cv", s->deviation / s->mean);
    ss_lua_set_number(L, "least", s->least);
    ss_lua_set_number(L, "most", s->most);
    ss_lua_set_number(L, "median", ss_spread_quantile(s, 0.5));
    ss_lua_set_number(L, "p05", ss_spread_quantile(s, 0.05));
    ss_lua_set_number(L, "p25", ss_spread_quantile(s, 0.25));
    ss_lua_set_number(L, "p75", ss_spread_quantile(s, 0.75));
    ss_lua_set_number(L, "p95", ss_spread_quantile(s, 0.95));
    set_interval(L, "mean_interval", s->mean_low, s->mean_high);
    set_interval(L, "median_interval", s->median_low, s->median_high);
    lua_createtable(L, (int)x->r.n, 0);
    for (uint32_t k = 0; k < x->r.n; k++) {
        lua_pushnumber(L, x->r.seconds[(size_t)i * x->r.n + k]);
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    lua_setfield(L, -2, "times");
    ss_lua_strict_row(L, "strategy of repetitions", "deviation|cv|mean_interval|median_interval");
}

static int get_strategies(lua_State *L, int index)
{
    const repetitions *x = check(L, index);
    if (push_kept(L, index, "strategies"))
        return 1;
    lua_createtable(L, (int)x->r.strategies, 0);
    for (uint32_t i = 0; i < x->r.strategies; i++) {
        push_strategy(L, x, i);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    ss_lua_strict_list(L, "strategy of repetitions");
    keep(L, index, "strategies");
    return 1;
}

static void push_pair(lua_State *L, const repetitions *x, uint32_t pair)
{
    const ss_paired *p = &x->r.pair[pair];
    uint32_t a, b;
    ss_repetitions_pair(&x->r, pair, &a, &b);
    lua_createtable(L, 0, 9);
    ss_lua_set_text(L, "first", x->name[a]);
    ss_lua_set_text(L, "second", x->name[b]);
    ss_lua_set_number(L, "difference", p->mean);
    set_if_known(L, "deviation", p->deviation);
    set_interval(L, "interval", p->low, p->high);
    set_if_known(L, "correlation", p->correlation);
    ss_lua_set_integer(L, "first_faster", p->first_less);
    ss_lua_set_integer(L, "second_faster", p->second_less);
    ss_lua_strict_row(L, "pair of repetitions", "deviation|interval|correlation");
}

static int get_pairs(lua_State *L, int index)
{
    const repetitions *x = check(L, index);
    if (push_kept(L, index, "pairs"))
        return 1;
    lua_createtable(L, (int)x->r.pairs, 0);
    for (uint32_t p = 0; p < x->r.pairs; p++) {
        push_pair(L, x, p);
        lua_rawseti(L, -2, (lua_Integer)p + 1);
    }
    ss_lua_strict_list(L, "pair of repetitions");
    keep(L, index, "pairs");
    return 1;
}

static int get_n(lua_State *L, int index)
{
    lua_pushinteger(L, check(L, index)->r.n);
    return 1;
}

static int get_first(lua_State *L, int index)
{
    lua_pushinteger(L, check(L, index)->r.first);
    return 1;
}

static int get_confidence(lua_State *L, int index)
{
    lua_pushnumber(L, check(L, index)->r.confidence);
    return 1;
}

static int get_assumptions(lua_State *L, int index)
{
    lua_pushstring(L, check(L, index)->assumptions);
    return 1;
}

/* repetitions:quantile(strategy, p) -> seconds; the strategy by its name or place */
static int repetitions_quantile(lua_State *L)
{
    const repetitions *x = check(L, 1);
    uint32_t i = 0;
    if (lua_type(L, 2) == LUA_TSTRING) {
        const char *name = lua_tostring(L, 2);
        while (i < x->r.strategies && strcmp(x->name[i], name) != 0)
            i++;
        if (i == x->r.strategies)
            return ss_lua_unknown(L, "repetitions:quantile: strategy", name,
                                  (const char *const *)x->name, x->r.strategies);
    } else {
        i = (uint32_t)ss_lua_integer(L, 2, 1, x->r.strategies,
                                     "repetitions:quantile: the strategy") -
            1;
    }
    double p = ss_lua_quantity(L, 3, SS_UNIT_NONE, "repetitions:quantile: the share");
    if (!(p >= 0 && p <= 1))
        return ss_lua_refuse(L, "repetitions:quantile: the share is %g; it must be from 0 to 1", p);
    lua_pushnumber(L, ss_spread_quantile(&x->r.spread[i], p));
    return 1;
}

/* repetitions:json() -> text */
static int repetitions_json(lua_State *L)
{
    const repetitions *x = check(L, 1);
    ss_text *text = ss_lua_text_new(L);
    ss_repetitions_json(&x->r, (const char *const *)x->name, x->assumptions, text);
    return ss_lua_text_push(L, text);
}

static int repetitions_text(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_repetitions_type.name);
    const repetitions *x = box->closed ? NULL : box->object;
    if (!x) {
        lua_pushliteral(L, "repetitions (closed)");
        return 1;
    }
    ss_text *text = ss_lua_text_new(L);
    ss_repetitions_report(&x->r, (const char *const *)x->name, x->assumptions, text);
    return ss_lua_text_push(L, text);
}

static const ss_lua_field repetitions_fields[] = {
    {"n", get_n, "how many there are"},
    {"first", get_first, "number of the first"},
    {"confidence", get_confidence, "of the intervals"},
    {"strategies", get_strategies, "list: times of each, mean, quantiles, intervals"},
    {"pairs", get_pairs, "list: differences of two, repetition by repetition"},
    {"assumptions", get_assumptions, "what was in force, one line"},
    {NULL, NULL, NULL},
};

static const ss_lua_method repetitions_methods[] = {
    {"quantile", repetitions_quantile, "(strategy, share) -> seconds"},
    {"json", repetitions_json, "() -> text: all of it as JSON"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_repetitions_type = {
    .name = "soapstone.repetitions",
    .noun = "repetitions",
    .many = true,
    .free = free_repetitions,
    .fields = repetitions_fields,
    .methods = repetitions_methods,
    .text = repetitions_text,
};
