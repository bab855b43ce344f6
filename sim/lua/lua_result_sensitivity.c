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
     .max = 0x1p53,
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
    s = ss_sensitivity_of_result(r, e, o->runs, (uint64_t)o->seed, out, err);
    ss_look_away(watch);
    ss_engine_free(e);
    return s ? ss_fail_in(err, "result:sensitivity") : SS_OK;
}

ss_status ss_lua_noise_of(const ss_lua_problem *p, const ss_strategy *strategy,
                          const ss_watch *watch, double *spread, ss_error *err)
{
    ss_result *r = NULL;
    ss_sensitivity found;
    ss_engine_set_watch(p->engine, watch);
    ss_status s = ss_result_new(p->model, p->topology, p->routes, strategy, &p->timer, &p->options,
                                p->engine, &r, err);
    if (!s)
        s = ss_sensitivity_of_result(r, p->engine, SS_LUA_NOISE_RUNS, 0, &found, err);
    ss_look_away(watch);
    ss_result_free(r);
    if (!s)
        *spread = ss_sensitivity_spread(&found);
    return s;
}

void ss_lua_noise_say(double spread, const ss_lower_options *o, ss_text *out)
{
    if (spread >= 1e-6)
        ss_text_add(out,
                    "with durations moved by a picosecond the best moves by %.2g %%: smaller "
                    "differences are noise\n",
                    100 * spread);
    else if (o->links == SS_LINKS_SHARED)
        ss_text_add(out, "with durations moved by a picosecond the best moves by no more than a "
                         "millionth\n");
}

static int sensitivity_text(lua_State *L)
{
    char least[SS_QUANTITY_TEXT], most[SS_QUANTITY_TEXT];
    ss_text *text = ss_lua_text_new(L);
    uint32_t runs = (uint32_t)ss_lua_row_number(L, "runs");
    ss_format_quantity(ss_lua_row_number(L, "least"), SS_UNIT_SECONDS, least, sizeof least);
    ss_format_quantity(ss_lua_row_number(L, "most"), SS_UNIT_SECONDS, most, sizeof most);
    ss_text_add(text,
                "sensitivity: %s to %s in %u run%s with durations moved by a picosecond, a "
                "spread of %.2g %%",
                least, most, runs, ss_plural(runs), 100 * ss_lua_row_number(L, "spread"));
    return ss_lua_text_push(L, text);
}

/* result:sensitivity { runs =, seed = } -> { runs =, least =, most =, spread = } */
int ss_lua_result_sensitivity(lua_State *L)
{
    const ss_lua_result *r = ss_lua_check(L, 1, &ss_lua_result_type);
    options o;
    ss_lua_opts(L, 2, option_list, "result:sensitivity", &o);

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
    ss_lua_row_text(L, sensitivity_text);
    return 1;
}
