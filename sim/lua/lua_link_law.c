/* lua_link_law.c - what scripts say of how a link falls short (graph/link_law.h): options of t:link and
 * t:set_link. */
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "base/text.h"
#include "lua/lua_topology.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/types.h"

enum { PATH = 200, MOST_POINTS = 100000 };

/* The list at option `name`, left on the stack; 0 if it is not given. */
static uint32_t push_list(lua_State *L, int index, const char *name, const char *call,
                          const char *row)
{
    if (ss_lua_push_option(L, index, name) == LUA_TNIL)
        return 0;
    if (!lua_istable(L, -1))
        ss_lua_refuse(L, "%s: option '%s' should be a list of %s, not %s", call, name, row,
                      ss_lua_kind_of(L, -1));
    char path[PATH];
    ss_lua_name(path, sizeof path, "%s: option '%s'", call, name);
    uint32_t n = ss_lua_list(L, -1, path);
    if (!n || n > MOST_POINTS)
        ss_lua_refuse(L, "%s: option '%s' has %d rows; give 1 to %d, each %s", call, name, (int)n,
                      MOST_POINTS, row);
    return n;
}

/* Field `key` of row i of the list on top of the stack. */
static double row_value(lua_State *L, uint32_t i, const char *key, ss_unit unit, const char *call,
                        const char *name)
{
    char path[PATH];
    lua_rawgeti(L, -1, (lua_Integer)i + 1);
    ss_lua_name(path, sizeof path, "%s: option '%s', row %u", call, name, i + 1);
    if (!lua_istable(L, -1))
        ss_lua_refuse(L, "%s should be a table { bytes =, %s = }, not %s", path,
                      strcmp(key, "bytes") == 0 ? "..." : key, ss_lua_kind_of(L, -1));
    lua_pushstring(L, key);
    lua_rawget(L, -2);
    ss_lua_name(path, sizeof path, "%s: option '%s', row %u: '%s'", call, name, i + 1, key);
    double value = ss_lua_quantity(L, -1, unit, path);
    lua_pop(L, 2);
    return value;
}

static void refuse_other_keys(lua_State *L, uint32_t i, const char *key, const char *call,
                              const char *name)
{
    const char *const keys[] = {"bytes", key};
    char path[PATH];
    ss_lua_name(path, sizeof path, "%s: option '%s', row %u", call, name, i + 1);
    if (lua_rawgeti(L, -1, (lua_Integer)i + 1) == LUA_TTABLE)
        ss_lua_opts_names(L, -1, NULL, keys, 2, path);
    lua_pop(L, 1);
}

/* As of the option latency: no link has one of seconds. */
static void refuse_plain_latency(lua_State *L, uint32_t i, const char *call, const char *name)
{
    char path[PATH];
    ss_lua_name(path, sizeof path, "%s: option '%s', row %u", call, name, i + 1);
    lua_rawgeti(L, -1, (lua_Integer)i + 1);
    ss_lua_refuse_plain_seconds(L, lua_gettop(L), path);
    lua_pop(L, 1);
}

/* Pairs of `bytes` and `key`, in Lua's memory, which stays on the stack; n numbers, then n. */
static double *read_pairs(lua_State *L, int index, const char *name, const char *key, ss_unit unit,
                          const char *call, uint32_t *n)
{
    char row[PATH];
    ss_lua_name(row, sizeof row, "{ bytes =, %s = }", key);
    *n = push_list(L, index, name, call, row);
    double *pair = lua_newuserdatauv(L, (2 * (size_t)*n + 1) * sizeof *pair, 0);
    lua_insert(L, -2);
    for (uint32_t i = 0; i < *n; i++) {
        refuse_other_keys(L, i, key, call, name);
        if (unit == SS_UNIT_SECONDS)
            refuse_plain_latency(L, i, call, name);
        pair[i] = row_value(L, i, "bytes", SS_UNIT_BYTES, call, name);
        pair[*n + i] = row_value(L, i, key, unit, call, name);
    }
    lua_pop(L, 1);
    return pair;
}

static double number_of(lua_State *L, int index, const char *name, ss_unit unit, const char *call,
                        double otherwise)
{
    char path[PATH];
    ss_lua_name(path, sizeof path, "%s: option '%s'", call, name);
    double value = otherwise;
    if (ss_lua_push_option(L, index, name) != LUA_TNIL)
        value = ss_lua_quantity(L, -1, unit, path);
    lua_pop(L, 1);
    return value;
}

/* A share of 1, or a text in percent. */
static double load_of(lua_State *L, int index, const char *call, double otherwise)
{
    char *end = NULL;
    double percent = 0;
    if (ss_lua_push_option(L, index, "load") == LUA_TSTRING)
        percent = strtod(lua_tostring(L, -1), &end);
    bool in_percent = end && end != lua_tostring(L, -1) && !strcmp(end + strspn(end, " "), "%");
    lua_pop(L, 1);
    return in_percent ? percent / 100 : number_of(L, index, "load", SS_UNIT_NONE, call, otherwise);
}

const ss_link_law *ss_lua_link_law(lua_State *L, int index, const char *call,
                                   const ss_link_law *was)
{
    ss_link_law *law = lua_newuserdatauv(L, sizeof *law, 0);
    *law = was ? *was : (ss_link_law){0};
    if (!lua_istable(L, index))
        return law;
    bool half = ss_lua_is_given(L, index, "half_size");
    law->half_bytes = number_of(L, index, "half_size", SS_UNIT_BYTES, call, law->half_bytes);
    law->load = load_of(L, index, call, law->load);
    if (half && !ss_lua_is_given(L, index, "efficiency"))
        law->curve = (ss_efficiency){0}; /* the new one takes the place of a curve */
    uint32_t n;
    double *pair = read_pairs(L, index, "efficiency", "efficiency", SS_UNIT_NONE, call, &n);
    if (n) {
        ss_error err;
        ss_efficiency checked = {0};
        if (ss_efficiency_new(1, pair, pair + n, n, &checked, &err)) {
            ss_fail_in(&err, "%s: option 'efficiency'", call);
            ss_lua_raise(L, &err);
        }
        ss_efficiency_free(&checked);
        law->curve = (ss_efficiency){1, pair, pair + n, n};
        law->half_bytes = half ? law->half_bytes : 0;
    }
    pair = read_pairs(L, index, "latency_by_size", "latency", SS_UNIT_SECONDS, call, &n);
    if (n) {
        law->step = lua_newuserdatauv(L, n * sizeof *law->step, 0);
        law->steps = n;
        for (uint32_t i = 0; i < n; i++)
            law->step[i] = (ss_link_step){pair[i], pair[n + i]};
    }
    return law;
}
