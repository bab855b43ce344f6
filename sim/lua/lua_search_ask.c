/* lua_search_ask.c - what a search found, for a script: its best, its chains, its page. */
#include <string.h>

#include <lauxlib.h>

#include "lua/lua_search.h"
#include "lua/state.h"
#include "lua/strict.h"

enum { NAME = 160 };

static ss_lua_search *check(lua_State *L, int arg)
{
    return ss_lua_check(L, arg, &ss_lua_search_type);
}

/* "mcmc from expert_rnn" */
static int push_strategy(lua_State *L, int index, const ss_strategy *best, uint32_t chain)
{
    const ss_lua_search *s = check(L, index);
    char name[NAME];
    ss_lua_name(name, sizeof name, "%s from %.100s", ss_searcher_name(s->options.searcher),
                s->start[chain].name);
    ss_lua_box_push_held(L, index, SS_LUA_HOLD_PROBLEM);
    ss_lua_strategy_push_copy(L, lua_gettop(L), best, name);
    return 1;
}

/* One box until the next run: search.best == search.best, and names that are given to it stay. */
static int get_best(lua_State *L, int index)
{
    const ss_lua_search *s = check(L, index);
    if (lua_getiuservalue(L, index, SS_LUA_SEARCH_BEST) != LUA_TNIL)
        return 1;
    uint32_t chain;
    const ss_strategy *best = ss_search_best(s->search, &chain);
    push_strategy(L, index, best, chain);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, index, SS_LUA_SEARCH_BEST);
    return 1;
}

/* What was told of a chain may be older than its best, where a log could not be written. */
static ss_status look_at(ss_lua_search *s, uint32_t chain, const ss_search_standing *at,
                         ss_scorer *scorer, ss_error *err)
{
    ss_score score;
    ss_status status = ss_scorer_start(scorer, ss_search_best_of(s->search, chain), &score, err);
    bool costs_more =
        s->options.score.memory == SS_MEMORY_PENALTY && !status && at->best > score.cost;
    if (!status)
        s->best[chain] = (ss_lua_search_best){.known = true,
                                              .step = at->best_step,
                                              .step_time = score.cost,
                                              .penalty = costs_more ? at->best - score.cost : 0,
                                              .fits = !score.infeasible};
    return status;
}

/* Fills in `best` where a chain has found another one since.  A search that leaves memory alone
 * does not know what fits, and one that makes it cost knows the sum only: a simulation each. */
static ss_status look_at_bests(ss_lua_search *s, const ss_lua_problem *p, ss_error *err)
{
    ss_score_options o = s->options.score;
    ss_scorer *scorer = NULL;
    ss_status status = SS_OK;
    o.way = SS_SCORE_FULL;
    o.early_stop = o.count_changed = false;
    o.memory = SS_MEMORY_PENALTY; /* of nothing: it is looked at, and adds no time */
    o.penalty_s_per_byte = 0;
    for (uint32_t i = 0; i < s->starts && !status; i++) {
        ss_search_standing at;
        ss_search_chain(s->search, i, &at);
        if (s->best[i].known && s->best[i].step == at.best_step)
            continue;
        if (!scorer)
            status = ss_scorer_new(p->model, p->topology, p->costs, &o, &scorer, err);
        if (!status)
            status = look_at(s, i, &at, scorer, err);
    }
    ss_scorer_free(scorer);
    return status;
}

/* The search at `index`, whose bests were looked at. */
static ss_lua_search *check_looked(lua_State *L, int index)
{
    ss_lua_search *s = check(L, index);
    ss_error err;
    if (look_at_bests(s, ss_lua_search_problem(L, index), &err))
        ss_lua_raise(L, &err);
    return s;
}

static const ss_lua_search_best *best_of_all(const ss_lua_search *s)
{
    uint32_t chain;
    ss_search_best(s->search, &chain);
    return &s->best[chain];
}

/* The search at `index`, whose best of all was simulated with other durations. */
static ss_lua_search *check_noise(lua_State *L, int index)
{
    ss_lua_search *s = check_looked(L, index);
    uint32_t chain;
    ss_search_standing at;
    const ss_strategy *best = ss_search_best(s->search, &chain);
    ss_search_chain(s->search, chain, &at);
    if (s->noise.known && s->noise.chain == chain && s->noise.step == at.best_step)
        return s;
    ss_error err;
    if (ss_lua_noise_of(ss_lua_search_problem(L, index), best, ss_lua_watch(L), &s->noise.spread,
                        &err))
        ss_lua_raise(L, &err);
    s->noise.known = true;
    s->noise.chain = chain;
    s->noise.step = at.best_step;
    return s;
}

static int get_noise(lua_State *L, int index)
{
    lua_pushnumber(L, check_noise(L, index)->noise.spread);
    return 1;
}

static int get_cost(lua_State *L, int index)
{
    ss_search_standing at;
    const ss_lua_search *s = check(L, index);
    uint32_t chain;
    ss_search_best(s->search, &chain);
    ss_search_chain(s->search, chain, &at);
    lua_pushnumber(L, ss_time_seconds(at.best));
    return 1;
}

static int get_step_time(lua_State *L, int index)
{
    lua_pushnumber(L, ss_time_seconds(best_of_all(check_looked(L, index))->step_time));
    return 1;
}

static int get_penalty(lua_State *L, int index)
{
    lua_pushnumber(L, ss_time_seconds(best_of_all(check_looked(L, index))->penalty));
    return 1;
}

static int get_fits(lua_State *L, int index)
{
    lua_pushboolean(L, best_of_all(check_looked(L, index))->fits);
    return 1;
}

static int get_interrupted(lua_State *L, int index)
{
    lua_pushboolean(L, check(L, index)->interrupted);
    return 1;
}

static int get_proposals(lua_State *L, int index)
{
    lua_pushinteger(L, (lua_Integer)ss_lua_search_steps(check(L, index)));
    return 1;
}

static int get_seconds(lua_State *L, int index)
{
    lua_pushnumber(L, check(L, index)->seconds);
    return 1;
}

static int get_searcher(lua_State *L, int index)
{
    lua_pushstring(L, ss_searcher_name(check(L, index)->options.searcher));
    return 1;
}

static int get_problem(lua_State *L, int index)
{
    ss_lua_box_push_held(L, index, SS_LUA_HOLD_PROBLEM);
    return 1;
}

static int get_options(lua_State *L, int index)
{
    ss_lua_search *s = check(L, index);
    ss_text_clear(&s->limits_text);
    ss_lua_search_write_limits(&s->options, &s->limits_text);
    lua_pushfstring(L, "%s%s", ss_text_get(&s->options_text), ss_text_get(&s->limits_text));
    return 1;
}

static void push_chain(lua_State *L, const ss_lua_search *s, uint32_t i)
{
    ss_search_standing at;
    ss_search_chain(s->search, i, &at);
    lua_createtable(L, 0, 21);
    ss_lua_set_text(L, "name", s->start[i].name);
    ss_lua_set_time(L, "start", at.start);
    ss_lua_set_time(L, "current", at.current);
    ss_lua_set_time(L, "best", at.best);
    ss_lua_set_time(L, "penalty", s->best[i].penalty);
    ss_lua_set_integer(L, "best_at", (lua_Integer)at.best_step);
    ss_lua_set_number(L, "best_seconds", at.best_seconds);
    ss_lua_set_integer(L, "proposals", (lua_Integer)at.steps);
    ss_lua_set_integer(L, "descended", (lua_Integer)at.descended);
    ss_lua_set_integer(L, "accepted", (lua_Integer)at.accepted);
    ss_lua_set_integer(L, "stopped", (lua_Integer)at.stopped);
    ss_lua_set_integer(L, "infeasible", (lua_Integer)at.infeasible);
    ss_lua_set_integer(L, "fell_back", (lua_Integer)at.fell_back);
    ss_lua_set_number(L, "seconds", at.seconds);
    ss_lua_set_number(L, "visited_share", at.visited_share);
    ss_lua_set_number(L, "changed_share", at.changed_share);
    ss_lua_set_number(L, "beta", at.beta_per_s);
    ss_lua_set_flag(L, "fits", s->best[i].fits);
    if (at.end)
        ss_lua_set_text(L, "ended", ss_search_end_name(at.end));
    ss_lua_strict_row(L, "chain of a search", "ended");
}

static int get_chains(lua_State *L, int index)
{
    const ss_lua_search *s = check_looked(L, index);
    lua_createtable(L, (int)s->starts, 0);
    for (uint32_t i = 0; i < s->starts; i++) {
        push_chain(L, s, i);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    ss_lua_strict_list(L, "chain");
    return 1;
}

/* The chain that argument 2 says, by its name or number; from 0. */
static uint32_t read_chain(lua_State *L, const ss_lua_search *s, const char *what)
{
    char path[NAME];
    uint32_t chain = 0;
    if (lua_type(L, 2) != LUA_TSTRING) {
        ss_lua_name(path, sizeof path, "%s: the chain", what);
        return (uint32_t)ss_lua_integer(L, 2, 1, s->starts, path) - 1;
    }
    const char **names = lua_newuserdatauv(L, s->starts * sizeof *names, 0);
    for (uint32_t i = 0; i < s->starts; i++)
        names[i] = s->start[i].name;
    while (chain < s->starts && strcmp(names[chain], lua_tostring(L, 2)) != 0)
        chain++;
    ss_lua_name(path, sizeof path, "%s: there is no chain", what);
    if (chain == s->starts)
        ss_lua_unknown(L, path, lua_tostring(L, 2), names, s->starts);
    return chain;
}

/* search:best_of(chain) -> strategy */
int ss_lua_search_best_of(lua_State *L)
{
    const ss_lua_search *s = check(L, 1);
    uint32_t chain = read_chain(L, s, "search:best_of");
    return push_strategy(L, 1, ss_search_best_of(s->search, chain), chain);
}

/* search:start_of(chain) -> strategy */
int ss_lua_search_start_of(lua_State *L)
{
    const ss_lua_search *s = check(L, 1);
    uint32_t chain = read_chain(L, s, "search:start_of");
    ss_lua_box_push_held(L, 1, SS_LUA_HOLD_PROBLEM);
    return ss_lua_strategy_push_copy(L, lua_gettop(L), s->start[chain].strategy,
                                     s->start[chain].name);
}

/* search:json() -> text */
int ss_lua_search_json(lua_State *L)
{
    const ss_lua_search *s = check_noise(L, 1);
    ss_text *text = ss_lua_text_new(L);
    ss_lua_search_write_json(s, text);
    return ss_lua_text_push(L, text);
}

int ss_lua_search_text(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_search_type.name);
    if (box->closed || !box->object) {
        lua_pushliteral(L, "search (closed)");
        return 1;
    }
    const ss_lua_search *s = check_noise(L, 1);
    ss_text *text = ss_lua_text_new(L);
    ss_lua_search_write_page(s, text);
    return ss_lua_text_push(L, text);
}

const ss_lua_field ss_lua_search_fields[] = {
    {"best", get_best, "strategy: the best of all chains"},
    {"cost", get_cost, "seconds: its step time, with what memory adds"},
    {"step_time", get_step_time, "seconds: its step time alone"},
    {"penalty", get_penalty, "seconds: what memory adds to its cost"},
    {"fits", get_fits, "whether no device has too little memory for it"},
    {"noise", get_noise, "share by which its step time moves when durations do by a picosecond"},
    {"chains", get_chains, "list: name, start, current, best, proposals, accepted, ended, ..."},
    {"proposals", get_proposals, "of all chains so far"},
    {"seconds", get_seconds, "that its runs took"},
    {"interrupted", get_interrupted, "whether the last run was stopped by Ctrl-C"},
    {"searcher", get_searcher, "mcmc, greedy, annealing or random"},
    {"options", get_options, "text: what was in force, a line each"},
    {"problem", get_problem, "what it searches a strategy for"},
    {NULL, NULL, NULL},
};
