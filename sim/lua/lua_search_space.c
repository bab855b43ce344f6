/* lua_search_space.c - where a search begins and what it may do: starts, moves, configurations. */
#include <string.h>

#include <lauxlib.h>

#include "base/hash.h"
#include "lua/lua_search.h"
#include "lua/state.h"

enum { PATH = 200 };

typedef struct starts {
    const ss_lua_problem *p;
    int problem, strategies; /* stack: the problem; a list that keeps boxes and names */
    ss_search_start *start;
    uint32_t n, cap, randoms;
    int64_t seed;
    const char *what;
} starts;

static bool is_taken(const starts *s, const char *name)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (!strcmp(s->start[i].name, name))
            return true;
    return false;
}

/* The value on top of the stack is a strategy's box: it goes into the list, as the next start. */
static void add_box(lua_State *L, starts *s)
{
    int top = lua_gettop(L);
    const ss_lua_strategy *strategy = ((ss_lua_box *)lua_touserdata(L, -1))->object;
    ss_lua_refuse_other(L, s->what, s->p, strategy->strategy);
    lua_Integer at = (lua_Integer)lua_rawlen(L, s->strategies);
    lua_rawseti(L, s->strategies, at + 1);
    const char *own = ss_lua_strategy_push_name(L, strategy), *name = own;
    for (uint32_t k = 2; is_taken(s, name); k++) {
        lua_settop(L, top);
        name = lua_pushfstring(L, "%s (%d)", own, (int)k);
    }
    lua_rawseti(L, s->strategies, at + 2);
    lua_settop(L, top - 1);
    s->start[s->n++] = (ss_search_start){.name = name, .strategy = strategy->strategy};
}

static void add_random(lua_State *L, starts *s)
{
    lua_createtable(L, 0, 1);
    ss_lua_set_integer(L, "seed", (lua_Integer)((uint64_t)s->seed + s->randoms++));
    ss_lua_strategy_new(L, s->problem, "random", lua_gettop(L));
    lua_remove(L, -2);
    add_box(L, s);
}

static void add_ready(lua_State *L, starts *s, const char *word)
{
    lua_pushnil(L);
    ss_lua_strategy_new(L, s->problem, word, lua_gettop(L));
    lua_remove(L, -2);
    add_box(L, s);
}

/* A strategy, the name of a ready-made one, or a path: on top of the stack, popped. */
static void add_start(lua_State *L, starts *s, const char *path)
{
    int top = lua_gettop(L);
    if (ss_lua_box_test(L, -1, &ss_lua_strategy_type)) {
        add_box(L, s);
        return;
    }
    if (lua_type(L, -1) != LUA_TSTRING)
        ss_lua_refuse(
            L,
            "%s should be a strategy, the name of a ready-made one or the path of a saved "
            "one, not %s",
            path, ss_lua_kind_of(L, -1));
    const char *word = ss_lua_text(L, -1, path);
    if (strpbrk(word, "./")) {
        lua_pushnil(L);
        ss_lua_strategy_load(L, s->problem, word, lua_gettop(L));
        lua_pop(L, 1);
        add_box(L, s);
    } else if (!strcmp(word, "random")) {
        add_random(L, s);
    } else {
        add_ready(L, s, word);
    }
    lua_settop(L, top - 1);
}

static void read_starts(lua_State *L, starts *s, int table, const ss_lua_effort *e)
{
    char path[PATH];
    int top = lua_gettop(L);
    bool given = ss_lua_is_given(L, table, "start");
    if (given)
        ss_lua_push_option(L, table, "start");
    bool list = given && lua_istable(L, -1);
    uint32_t n = list ? (uint32_t)lua_rawlen(L, -1) : given || !e->name ? 1 : 2 + e->randoms;
    if (!n)
        ss_lua_refuse(L, "%s: option 'start' is an empty list", s->what);
    s->start = lua_newuserdatauv(L, n * sizeof *s->start, 0);
    lua_rawseti(L, s->strategies, (lua_Integer)lua_rawlen(L, s->strategies) + 1);
    ss_lua_name(path, sizeof path, "%s: option 'start'", s->what);
    if (!given) {
        add_ready(L, s, "data_parallel");
        if (e->name && ss_lua_strategy_push_expert(L, s->problem))
            add_box(L, s);
        for (uint32_t i = 0; i < e->randoms; i++)
            add_random(L, s);
    } else if (!list) {
        add_start(L, s, path);
    } else {
        for (uint32_t i = 0; i < n; i++) {
            ss_lua_name(path, sizeof path, "%s: option 'start[%u]'", s->what, (unsigned)i + 1);
            lua_rawgeti(L, top + 1, (lua_Integer)i + 1);
            add_start(L, s, path);
        }
    }
    lua_settop(L, top);
}

/* -------------------------------------------------------------------------------------- moves */

static void read_moves(lua_State *L, int table, const char *what, ss_space_options *o)
{
    char path[PATH];
    const char *names[SS_MOVES];
    bool own = ss_lua_is_given(L, table, "configurations");
    if (!ss_lua_is_given(L, table, "moves") && !own)
        return;
    for (int m = 0; m < SS_MOVES; m++) {
        o->weight[m] = 0;
        names[m] = ss_move_name((ss_move)m);
    }
    ss_lua_name(path, sizeof path, "%s: option 'moves'", what);
    if (ss_lua_push_option(L, table, "moves") == LUA_TNIL) {
        o->weight[SS_MOVE_LIST] = 1;
    } else if (lua_type(L, -1) == LUA_TSTRING) {
        o->weight[ss_lua_choice(L, -1, "free|block|pow2|place|list", path)] = 1;
    } else {
        if (!lua_istable(L, -1))
            ss_lua_refuse(
                L,
                "%s should be a name or a table of weights such as { block = 1, free = 0.5 }"
                ", not %s",
                path, ss_lua_kind_of(L, -1));
        ss_lua_opts_names(L, -1, NULL, names, SS_MOVES, path);
        for (int m = 0; m < SS_MOVES; m++) {
            ss_lua_name(path, sizeof path, "%s: option 'moves.%s'", what, names[m]);
            lua_pushstring(L, names[m]);
            if (lua_rawget(L, -2) != LUA_TNIL)
                o->weight[m] = ss_lua_quantity(L, -1, SS_UNIT_NONE, path);
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
}

static uint64_t hash_choice(uint64_t h, const ss_choice *c)
{
    h = ss_hash_bytes(h, &c->op.i, sizeof c->op.i);
    h = ss_hash_bytes(h, c->config.degree, sizeof c->config.degree);
    return ss_hash_bytes(h, c->config.device, c->config.parts * sizeof *c->config.device);
}

/* The lists of one operator, on top of the stack; from the `n`-th choice on. */
static uint32_t read_choices(lua_State *L, ss_lua_search_request *r, ss_choice *choice, uint32_t n,
                             ss_op op, const ss_model *m, int topology, const char *what)
{
    char path[PATH];
    int list = lua_gettop(L);
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, list); i++) {
        ss_lua_name(path, sizeof path, "%s: option 'configurations.%.60s[%d]'", what,
                    m->op[op.i].name, (int)i);
        lua_rawgeti(L, list, i);
        if (!lua_istable(L, -1))
            ss_lua_refuse(
                L,
                "%s should be a table such as { degrees = { n = 2 }, devices = { 1, 2 } }, "
                "not %s",
                path, ss_lua_kind_of(L, -1));
        const ss_config *c = ss_lua_config(L, lua_gettop(L), m->op[op.i].def, topology, path);
        choice[n] = (ss_choice){op, *c};
        r->configurations_hash = hash_choice(r->configurations_hash, &choice[n++]);
        lua_rawseti(L, r->kept, (lua_Integer)lua_rawlen(L, r->kept) + 1);
        lua_pop(L, 1);
    }
    return n;
}

static void read_configurations(lua_State *L, int problem, int table, const char *what,
                                ss_lua_search_request *r)
{
    char path[PATH];
    int top = lua_gettop(L);
    const ss_model *m = ((ss_lua_problem *)ss_lua_check(L, problem, &ss_lua_problem_type))->model;
    if (!ss_lua_is_given(L, table, "configurations"))
        return;
    ss_lua_box_push_held(L, problem, SS_LUA_HOLD_TOPOLOGY);
    ss_lua_push_option(L, table, "configurations");
    int all = lua_gettop(L);
    ss_lua_name(path, sizeof path, "%s: option 'configurations'", what);
    if (!lua_istable(L, all))
        ss_lua_refuse(L, "%s should be a table of lists by operator, not %s", path,
                      ss_lua_kind_of(L, all));
    ss_lua_push_sorted_keys(L, all);
    int keys = lua_gettop(L);
    size_t most = 0;
    for (lua_Integer k = 1; k <= (lua_Integer)lua_rawlen(L, keys); k++, lua_settop(L, keys)) {
        lua_rawgeti(L, keys, k);
        ss_lua_op(L, keys + 1, m, path);
        if (lua_rawget(L, all) != LUA_TTABLE)
            ss_lua_refuse(L, "%s should have a list for each operator, not %s", path,
                          ss_lua_kind_of(L, -1));
        most += lua_rawlen(L, -1);
    }
    ss_choice *choice = lua_newuserdatauv(L, (most + 1) * sizeof *choice, 0);
    lua_rawseti(L, r->kept, (lua_Integer)lua_rawlen(L, r->kept) + 1);
    uint32_t n = 0;
    r->configurations_hash = SS_HASH_START;
    for (lua_Integer k = 1; k <= (lua_Integer)lua_rawlen(L, keys); k++, lua_settop(L, keys)) {
        lua_rawgeti(L, keys, k);
        ss_op op = ss_lua_op(L, keys + 1, m, path);
        lua_rawget(L, all);
        n = read_choices(L, r, choice, n, op, m, top + 1, what);
    }
    r->options.space.list = choice;
    r->options.space.lists = n;
    lua_settop(L, top);
}

static void refuse_idle_space(lua_State *L, int table, const char *what, const ss_space_options *o)
{
    if (ss_lua_is_given(L, table, "configurations") && !(o->weight[SS_MOVE_LIST] > 0))
        ss_lua_refuse(L,
                      "%s: option 'configurations' is what the move list draws from, which option "
                      "'moves' leaves out: give it a weight, moves = { list = 1 }",
                      what);
    if (o->max_parts && !(o->weight[SS_MOVE_FREE] > 0) && !(o->weight[SS_MOVE_BLOCK] > 0))
        ss_lua_refuse(L,
                      "%s: option 'max_parts' is about the moves free and block, which option "
                      "'%s' leaves out",
                      what, ss_lua_is_given(L, table, "moves") ? "moves" : "configurations");
}

void ss_lua_search_read_space(lua_State *L, int problem, int table, const char *what,
                              const ss_lua_effort *e, ss_lua_search_request *r)
{
    lua_newtable(L);
    r->kept = lua_gettop(L);
    read_moves(L, table, what, &r->options.space);
    read_configurations(L, problem, table, what, r);
    refuse_idle_space(L, table, what, &r->options.space);
    starts s = {.p = ss_lua_check(L, problem, &ss_lua_problem_type),
                .problem = problem,
                .strategies = r->kept,
                .seed = (int64_t)r->options.seed,
                .what = what};
    read_starts(L, &s, table, e);
    r->start = s.start;
    r->starts = s.n;
}
