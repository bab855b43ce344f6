/* lua_result_sensitivity.c - result:sensitivity, see simulate/sensitivity.h. */
#include "simulate/sensitivity.h"

#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"

typedef struct options {
    uint32_t runs;
    int64_t seed;
} options;

static const ss_opt option_list[] = {
    {.name = "runs",
     .kind = SS_OPT_COUNT,
     .at = offsetof(options, runs),
     .preset = 8,
     .min = 1,
     .max = SS_SENSITIVITY_MOST_RUNS,
     .help = "how often the step is simulated again"},
    {.name = "seed",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(options, seed),
     .help = "of which durations are longer and which shorter"},
    {0},
};

static ss_status find(const ss_result *r, const options *o, const ss_watch *watch,
                      ss_sensitivity *out, ss_error *err)
{
    ss_engine *e;
    ss_status s = ss_engine_new(&e, err);
    if (s)
        return s;
    ss_engine_set_watch(e, watch);
    ss_run_options order = r->lowered->options.run;
    order.change = r->change; /* those of a script, too, at the times they had */
    order.changes = r->changes;
    s = ss_sensitivity_find(&r->lowered->tasks, &order, r->timeline.makespan, e, o->runs,
                            (uint64_t)o->seed, out, err);
    out->least += r->overhead; /* it made no longer step than a time can hold */
    out->most += r->overhead;
    ss_look_away(watch);
    ss_engine_free(e);
    return s;
}

/* result:sensitivity { runs =, seed = } -> { runs =, least =, most =, spread = } */
int ss_lua_result_sensitivity(lua_State *L)
{
    const ss_lua_result *r = ss_lua_check(L, 1, &ss_lua_result_type);
    options o;
    ss_lua_opts(L, 2, option_list, "result:sensitivity", &o);

    if (r->result->added)
        return ss_lua_refuse(
            L, "result:sensitivity: a script added tasks while this ran, and only it knows "
               "when: run it again with other durations");
    if (r->result->lowered->options.run.order == SS_ORDER_PRIORITY)
        return ss_lua_refuse(
            L, "result:sensitivity: the priorities of this run are not kept: run it again "
               "with other durations");

    ss_error err;
    ss_sensitivity found;
    if (find(r->result, &o, ss_lua_watch(L), &found, &err))
        return ss_lua_raise(L, &err);

    lua_createtable(L, 0, 4);
    ss_lua_set_integer(L, "runs", found.runs);
    ss_lua_set_time(L, "least", found.least);
    ss_lua_set_time(L, "most", found.most);
    ss_lua_set_number(L, "spread", ss_sensitivity_spread(&found));
    ss_lua_strict_row(L, "sensitivity", NULL);
    return 1;
}
