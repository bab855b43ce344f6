/* lua_compare.c - soapstone.compare: simulated times against measured ones. */
#include <math.h>

#include <lauxlib.h>

#include "lua/lua_fit.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"
#include "validation/compare/compare.h"

/* A list of seconds, in Lua's memory, on the stack. */
static const double *read_times(lua_State *L, int index, const char *what, uint32_t *n)
{
    if (!lua_istable(L, index))
        ss_lua_refuse(L, "soapstone.compare: %s should be a list of seconds, not %s", what,
                      ss_lua_kind_of(L, index));
    *n = ss_lua_list(L, index, what);
    double *out = lua_newuserdatauv(L, ((size_t)*n + 1) * sizeof *out, 0);
    for (uint32_t i = 0; i < *n; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        if (lua_type(L, -1) != LUA_TNUMBER)
            ss_lua_refuse(L, "soapstone.compare: element %d of %s is %s, not a number of seconds",
                          (int)i + 1, what, ss_lua_kind_of(L, -1));
        out[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    return out;
}

static void set_order(lua_State *L, const char *name, double value)
{
    if (!isnan(value))
        ss_lua_set_number(L, name, value);
}

void ss_lua_push_comparison(lua_State *L, const ss_comparison *c)
{
    lua_createtable(L, 0, 8);
    ss_lua_set_integer(L, "n", c->n);
    ss_lua_set_number(L, "mean", c->mean);
    ss_lua_set_number(L, "mean_absolute", c->mean_absolute);
    ss_lua_set_number(L, "median", c->median);
    ss_lua_set_number(L, "q90", c->q90);
    ss_lua_set_number(L, "most", c->most);
    set_order(L, "kendall", c->kendall);
    set_order(L, "spearman", c->spearman);
    ss_lua_strict_row(L, "comparison", "kendall|spearman");
}

/* soapstone.compare(simulated, measured) -> { n, mean, mean_absolute, median, q90, most, kendall, spearman } */
int ss_lua_compare(lua_State *L)
{
    uint32_t n, m;
    lua_settop(L, 2);
    const double *simulated = read_times(L, 1, "the first list", &n);
    const double *measured = read_times(L, 2, "the second list", &m);
    if (n != m)
        return ss_lua_refuse(
            L, "soapstone.compare: %d simulated times and %d measured ones are no pairs", (int)n,
            (int)m);
    ss_comparison c;
    ss_error err;
    if (ss_compare(simulated, measured, n, &c, &err)) {
        ss_fail_in(&err, "soapstone.compare");
        return ss_lua_raise(L, &err);
    }
    ss_lua_push_comparison(L, &c);
    return 1;
}
