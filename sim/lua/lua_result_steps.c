/* lua_result_steps.c - result:overlapped, see simulate/steps.h. */
#include "simulate/steps.h"

#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"

typedef struct options {
    uint32_t steps;
} options;

static const ss_opt option_list[] = {
    {.name = "steps",
     .kind = SS_OPT_COUNT,
     .at = offsetof(options, steps),
     .preset = 4,
     .min = 2,
     .max = SS_STEPS_MOST,
     .help = "how many follow each other"},
    {0},
};

static ss_status find(const ss_lua_result *r, uint32_t steps, const ss_watch *watch, ss_time *end,
                      ss_error *err)
{
    ss_engine *e;
    ss_status s = ss_engine_new(&e, err);
    if (s)
        return s;
    ss_engine_set_watch(e, watch);
    s = ss_steps_of_result(r->result, r->model, e, steps, end, err);
    ss_look_away(watch);
    ss_engine_free(e);
    return s ? ss_fail_in(err, "result:overlapped") : SS_OK;
}

static int overlapped_text(lua_State *L)
{
    char period[SS_QUANTITY_TEXT], alone[SS_QUANTITY_TEXT];
    ss_text *text = ss_lua_text_new(L);
    ss_format_quantity(ss_lua_row_number(L, "period"), SS_UNIT_SECONDS, period, sizeof period);
    ss_format_quantity(ss_lua_row_number(L, "alone"), SS_UNIT_SECONDS, alone, sizeof alone);
    ss_text_add(text, "%u steps that overlap: %s a step, %s alone",
                (uint32_t)ss_lua_row_number(L, "steps"), period, alone);
    return ss_lua_text_push(L, text);
}

/* result:overlapped { steps = } -> { steps =, period =, alone =, ends = { ... } } */
int ss_lua_result_overlapped(lua_State *L)
{
    const ss_lua_result *r = ss_lua_check(L, 1, &ss_lua_result_type);
    options o;
    ss_lua_opts(L, 2, option_list, "result:overlapped", &o);
    if (!r->model)
        return ss_lua_refuse(L, "result:overlapped: a bare task graph has no weights, so nothing "
                                "says what the next step waits for");
    ss_time *end = lua_newuserdatauv(L, o.steps * sizeof *end, 0);

    ss_error err;
    if (find(r, o.steps, ss_lua_watch(L), end, &err))
        return ss_lua_raise(L, &err);

    lua_createtable(L, 0, 4);
    ss_lua_set_integer(L, "steps", o.steps);
    ss_lua_set_number(L, "period", ss_steps_period(end, o.steps, r->result->step_time));
    ss_lua_set_time(L, "alone", r->result->step_time);
    lua_createtable(L, (int)o.steps, 0);
    for (uint32_t k = 0; k < o.steps; k++) {
        lua_pushnumber(L, ss_time_seconds(end[k]));
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    lua_setfield(L, -2, "ends");
    ss_lua_strict_row(L, "steps that overlap", NULL);
    ss_lua_row_text(L, overlapped_text);
    return 1;
}
