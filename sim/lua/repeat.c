/* repeat.c - what stock Lua leaves to chance, settled.
 *
 * Lua 5.4 seeds its string hash from addresses and the clock, so `pairs` gives another order in
 * each process; math.random starts from a random seed; table.sort draws its pivots by the clock,
 * which decides between elements that compare equal.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "base/hash.h"
#include "base/rng.h"
#include "lua/box.h"
#include "lua/state.h"

/* -- the order of keys ------------------------------------------------------------------------ */

typedef enum key_class { KEY_INTEGER, KEY_FLOAT, KEY_STRING, KEY_BOOLEAN } key_class;

typedef struct key {
    key_class cls;
    lua_Integer integer; /* also of a boolean */
    double number;
    const char *text; /* kept by the table */
    size_t n;
} key;

static key read_key(lua_State *L, int index)
{
    key k = {0};
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        k.cls = lua_isinteger(L, index) ? KEY_INTEGER : KEY_FLOAT;
        if (k.cls == KEY_INTEGER)
            k.integer = lua_tointeger(L, index);
        else
            k.number = lua_tonumber(L, index);
        break;
    case LUA_TSTRING:
        k.cls = KEY_STRING;
        k.text = lua_tolstring(L, index, &k.n);
        break;
    case LUA_TBOOLEAN:
        k.cls = KEY_BOOLEAN;
        k.integer = lua_toboolean(L, index);
        break;
    default:
        ss_lua_refuse(L,
                      "the order of keys would be chance: one of them is %s. Keep the keys in a "
                      "list beside the table and walk that",
                      ss_lua_kind_of(L, index));
    }
    return k;
}

static int compare_keys(const void *pa, const void *pb)
{
    const key *a = pa, *b = pb;
    if (a->cls != b->cls)
        return a->cls < b->cls ? -1 : 1;
    if (a->cls == KEY_FLOAT)
        return (a->number > b->number) - (a->number < b->number);
    if (a->cls != KEY_STRING)
        return (a->integer > b->integer) - (a->integer < b->integer);
    int d = memcmp(a->text, b->text, a->n < b->n ? a->n : b->n);
    return d ? d : (a->n > b->n) - (a->n < b->n);
}

static void push_key(lua_State *L, const key *k)
{
    switch (k->cls) {
    case KEY_INTEGER:
        lua_pushinteger(L, k->integer);
        return;
    case KEY_FLOAT:
        lua_pushnumber(L, k->number);
        return;
    case KEY_STRING:
        lua_pushlstring(L, k->text, k->n);
        return;
    case KEY_BOOLEAN:
        lua_pushboolean(L, (int)k->integer);
        return;
    }
}

/* How many keys there are, and whether the table gives them in order as it is. */
static lua_Unsigned count_keys(lua_State *L, int index, bool *in_order)
{
    lua_Unsigned n = 0;
    key last = {0};
    *in_order = true;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1), n++) {
        key k = read_key(L, -2);
        if (n && compare_keys(&last, &k) > 0)
            *in_order = false;
        last = k;
    }
    return n;
}

void ss_lua_push_sorted_keys(lua_State *L, int index)
{
    bool in_order;
    index = lua_absindex(L, index);
    luaL_checkstack(L, 6, "the keys of a table");
    lua_Unsigned n = count_keys(L, index, &in_order), i = 0;
    if (n > INT_MAX)
        luaL_error(L, "a table with more than %d keys has no order", INT_MAX);
    key *keys = lua_newuserdatauv(L, (size_t)n * sizeof *keys + 1, 0);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
        keys[i++] = read_key(L, -2);
    if (!in_order)
        qsort(keys, n, sizeof *keys, compare_keys);
    lua_createtable(L, (int)n, 0);
    for (i = 0; i < n; i++) {
        push_key(L, &keys[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_remove(L, -2);
}

/* -- pairs and next --------------------------------------------------------------------------- */

static int plain_next(lua_State *L)
{
    lua_settop(L, 2);
    return lua_next(L, 1) ? 2 : (lua_pushnil(L), 1);
}

/* Upvalues: the keys, how many were given. A key whose value is gone by now is passed over. */
static int walk(lua_State *L)
{
    lua_settop(L, 1);
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(2));
    for (;;) {
        i++;
        if (lua_rawgeti(L, lua_upvalueindex(1), i) == LUA_TNIL)
            return 1;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, 1) != LUA_TNIL)
            break;
        lua_settop(L, 1);
    }
    lua_pushinteger(L, i);
    lua_replace(L, lua_upvalueindex(2));
    return 2;
}

static int after_metamethod(lua_State *L, int status, lua_KContext context)
{
    (void)L, (void)status, (void)context;
    return 3;
}

int ss_lua_ordered_pairs(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_settop(L, 1);
    if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) { /* as in Lua's own */
        lua_pushvalue(L, 1);
        lua_callk(L, 1, 3, 0, after_metamethod);
        return 3;
    }
    if (!lua_istable(L, 1))
        return ss_lua_refuse(L, "'pairs' needs a table, not %s", ss_lua_kind_of(L, 1));
    bool in_order;
    count_keys(L, 1, &in_order);
    if (in_order) { /* lists, and most small tables: nothing to prepare */
        lua_pushcfunction(L, plain_next);
    } else {
        ss_lua_push_sorted_keys(L, 1);
        lua_pushinteger(L, 0);
        lua_pushcclosure(L, walk, 2);
    }
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

/* next(table [, key]): the least key above; a look at every key, but for lists. */
static int ordered_next(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    bool from_start = lua_isnil(L, 2), found = false;
    key after = {0}, best = {0};
    if (!from_start) {
        after = read_key(L, 2);
        if (after.cls == KEY_INTEGER && after.integer < LUA_MAXINTEGER &&
            lua_rawgeti(L, 1, after.integer + 1) != LUA_TNIL) {
            lua_pushinteger(L, after.integer + 1);
            lua_insert(L, -2);
            return 2;
        }
        lua_settop(L, 2);
    }
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        key k = read_key(L, -2);
        if ((from_start || compare_keys(&k, &after) > 0) &&
            (!found || compare_keys(&k, &best) < 0)) {
            best = k;
            found = true;
        }
    }
    if (!found) {
        lua_pushnil(L);
        return 1;
    }
    push_key(L, &best);
    lua_pushvalue(L, -1);
    lua_rawget(L, 1);
    return 2;
}

/* -- math.random ------------------------------------------------------------------------------ */

static const char RANDOM_TYPE[] = "soapstone.random stream";

typedef struct stream {
    ss_rng rng;
    uint64_t seed; /* of the run: what math.randomseed() without arguments goes back to */
} stream;

static stream *own_stream(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

static int stream_close(lua_State *L)
{
    stream *s = luaL_checkudata(L, 1, RANDOM_TYPE);
    ss_rng_close(&s->rng);
    return 0;
}

static void restart(lua_State *L, stream *s, uint64_t seed)
{
    ss_error err;
    ss_rng fresh = {0};
    if (ss_rng_open(&fresh, seed, "Lua math.random", &err))
        ss_lua_raise(L, &err);
    ss_rng_close(&s->rng);
    s->rng = fresh;
}

/* math.random([m [, n]]): as Lua's own, from our stream */
static int math_random(lua_State *L)
{
    stream *s = own_stream(L);
    lua_Integer low = 1, high;
    switch (lua_gettop(L)) {
    case 0:
        lua_pushnumber(L, ss_rng_uniform(&s->rng));
        return 1;
    case 1:
        high = luaL_checkinteger(L, 1);
        if (high == 0) {
            lua_pushinteger(L, (lua_Integer)ss_rng_bits(&s->rng));
            return 1;
        }
        break;
    case 2:
        low = luaL_checkinteger(L, 1);
        high = luaL_checkinteger(L, 2);
        break;
    default:
        return ss_lua_refuse(L, "math.random takes no, one or two numbers");
    }
    if (low > high)
        return ss_lua_refuse(L, "math.random: nothing lies between %lld and %lld", (long long)low,
                             (long long)high);
    uint64_t span = (uint64_t)high - (uint64_t)low + 1; /* 0: all 64 bits */
    uint64_t draw = span ? ss_rng_below(&s->rng, span) : ss_rng_bits(&s->rng);
    lua_pushinteger(L, (lua_Integer)((uint64_t)low + draw));
    return 1;
}

/* math.randomseed([x [, y]]): without arguments, back to the seed of the run */
static int math_randomseed(lua_State *L)
{
    stream *s = own_stream(L);
    uint64_t seed = s->seed;
    if (lua_gettop(L) > 0) {
        luaL_checknumber(L, 1);
        seed = SS_HASH_START;
        for (int i = 1; i <= 2 && i <= lua_gettop(L); i++)
            seed = lua_isinteger(L, i) ? ss_hash_u64(seed, (uint64_t)lua_tointeger(L, i))
                                       : ss_hash_double(seed, luaL_checknumber(L, i));
    }
    restart(L, s, seed);
    return 0;
}

/* -- table.sort ------------------------------------------------------------------------------- */

/* Whether the value at b must come before the one at a; argument 2 is the script's order, if any.
 * Called as Lua's own sort calls it; no memory of ours is held meanwhile. */
static bool comes_before(lua_State *L, int b, int a)
{
    if (lua_isnil(L, 2))
        return lua_compare(L, b, a, LUA_OPLT);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, b < 0 ? b - 1 : b);
    lua_pushvalue(L, a < 0 ? a - 2 : a);
    lua_call(L, 2, 1);
    bool before = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return before;
}

/* Merges from[lo..mid) and from[mid..hi) into `to`; of equals the left one goes first. */
static void merge(lua_State *L, int from, int to, lua_Integer lo, lua_Integer mid, lua_Integer hi)
{
    lua_Integer a = lo, b = mid;
    for (lua_Integer at = lo; at < hi; at++) {
        bool right = a >= mid;
        if (!right && b < hi) {
            lua_rawgeti(L, from, a);
            lua_rawgeti(L, from, b);
            right = comes_before(L, -1, -2);
            lua_pop(L, 2);
        }
        lua_rawgeti(L, from, right ? b++ : a++);
        lua_rawseti(L, to, at);
    }
}

/* table.sort(list [, before]): the same results as Lua's own, and equals keep their order */
static int table_sort(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    if (!lua_isnoneornil(L, 2))
        luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    lua_Integer n = luaL_len(L, 1);
    if (n < 2)
        return 0;
    luaL_argcheck(L, n < INT_MAX, 1, "array too big");
    int from = 3, to = 4;
    lua_createtable(L, (int)n, 0);
    lua_createtable(L, (int)n, 0);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_geti(L, 1, i);
        lua_rawseti(L, from, i);
    }
    for (lua_Integer width = 1; width < n; width *= 2) {
        for (lua_Integer lo = 1; lo <= n; lo += 2 * width) {
            lua_Integer mid = lo + width < n + 1 ? lo + width : n + 1;
            lua_Integer hi = mid + width < n + 1 ? mid + width : n + 1;
            merge(L, from, to, lo, mid, hi);
        }
        int swap = from;
        from = to;
        to = swap;
    }
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, from, i);
        lua_seti(L, 1, i);
    }
    return 0;
}

/* -- all of it -------------------------------------------------------------------------------- */

static void push_stream(lua_State *L, uint64_t seed)
{
    stream *s = lua_newuserdatauv(L, sizeof *s, 0);
    *s = (stream){.seed = seed};
    if (luaL_newmetatable(L, RANDOM_TYPE)) {
        lua_pushcfunction(L, stream_close);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    restart(L, s, seed);
}

void ss_lua_make_repeatable(lua_State *L, uint64_t seed)
{
    lua_pushcfunction(L, ss_lua_ordered_pairs);
    lua_setglobal(L, "pairs");
    lua_pushcfunction(L, ordered_next);
    lua_setglobal(L, "next");

    lua_getglobal(L, "math");
    push_stream(L, seed);
    lua_pushvalue(L, -1);
    lua_pushcclosure(L, math_random, 1);
    lua_setfield(L, -3, "random");
    lua_pushcclosure(L, math_randomseed, 1);
    lua_setfield(L, -2, "randomseed");

    lua_getglobal(L, "table");
    lua_pushcfunction(L, table_sort);
    lua_setfield(L, -2, "sort");
    lua_pop(L, 2);
}
