/* lua_record.c - soapstone.record, soapstone.inspect and soapstone.repair: the HDF5 file of an
 * experiment. */
#include <string.h>

#include <lauxlib.h>

#include "io/inspect.h"
#include "io/record.h"
#include "io/trajectory.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/types.h"

enum { PATH = 200 };

/* -- what is to be written -------------------------------------------------------------------- */

typedef struct entry {
    const char *name; /* kept by the table of names, or on the stack */
    const ss_view *view;
    const ss_lua_result *result;
    const ss_lua_problem *problem; /* of the result */
    const char *joins;             /* of a result: the name of its strategy's entry */
    const ss_strategy *strategy;
} entry;

typedef struct request {
    const char *path;
    ss_manifest manifest;
    const ss_lua_problem *problem;
    entry *result, *strategy;
    uint32_t results, strategies;
    uint32_t given_strategies; /* those behind are of the results, see join */
    int keys; /* of the option at hand, on the stack: names that are nobody else's are kept in it */
} request;

static void refuse_other_problem(lua_State *L, const request *r, const ss_model *m,
                                 const ss_topology *t, const char *path)
{
    if (m != r->problem->model || t != r->problem->topology)
        ss_lua_refuse(L, "%s is of another problem than that of the record", path);
}

/* The name of entry `key` on top of the stack: itself, or for a list the object's own. */
static const char *name_of(lua_State *L, const char *own, const char *path)
{
    if (lua_type(L, -2) != LUA_TNUMBER)
        return ss_lua_text(L, -2, path);
    return own;
}

static void add_result(lua_State *L, request *r, entry *e, const char *path)
{
    ss_lua_box *box = ss_lua_box_test(L, -1, &ss_lua_result_type);
    if (!box)
        ss_lua_refuse(L, "%s should be a result, not %s", path, ss_lua_kind_of(L, -1));
    else {
        ss_lua_result *result = box->object;
        refuse_other_problem(L, r, result->model, result->topology, path);
        e->view = ss_lua_view(L, lua_gettop(L));
        e->result = result;
        e->problem = box->holds[SS_LUA_HOLD_PROBLEM]->object;
        e->name = name_of(L, result->name, path);
    }
}

static void add_strategy(lua_State *L, request *r, entry *e, const char *path)
{
    ss_lua_box *box = ss_lua_box_test(L, -1, &ss_lua_strategy_type);
    if (!box)
        ss_lua_refuse(L, "%s should be a strategy, not %s", path, ss_lua_kind_of(L, -1));
    else {
        ss_lua_strategy *s = box->object;
        refuse_other_problem(L, r, s->strategy->model, s->strategy->topology, path);
        e->strategy = s->strategy;
        e->name = name_of(L, NULL, path);
        if (!e->name) { /* of a list: what reports call it, kept with the keys */
            e->name = ss_lua_strategy_push_name(L, s);
            lua_rawseti(L, r->keys, (lua_Integer)lua_rawlen(L, r->keys) + 1);
        }
    }
}

/* The table `option` of argument 2, in the order of its keys; entries in Lua's memory. */
static entry *read_entries(lua_State *L, request *r, const char *option, uint32_t *n,
                           void (*add)(lua_State *, request *, entry *, const char *))
{
    char path[PATH];
    if (ss_lua_push_option(L, 2, option) == LUA_TNIL)
        return NULL;
    if (!lua_istable(L, -1))
        ss_lua_refuse(L, "soapstone.record: option '%s' should be a table, not %s", option,
                      ss_lua_kind_of(L, -1));
    int table = lua_gettop(L);
    ss_lua_push_sorted_keys(L, table);
    int keys = r->keys = lua_gettop(L);
    lua_Unsigned count = lua_rawlen(L, keys);
    entry *e = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *e, 0);
    memset(e, 0, ((size_t)count + 1) * sizeof *e);
    for (lua_Unsigned i = 0; i < count; i++) {
        lua_rawgeti(L, keys, (lua_Integer)i + 1);
        lua_pushvalue(L, -1);
        lua_rawget(L, table);
        if (lua_type(L, -2) == LUA_TSTRING)
            ss_lua_name(path, sizeof path, "soapstone.record: option '%s.%.60s'", option,
                        lua_tostring(L, -2));
        else
            ss_lua_name(path, sizeof path, "soapstone.record: option '%s[%d]'", option, (int)i + 1);
        add(L, r, &e[i], path);
        lua_pop(L, 2);
    }
    *n = (uint32_t)count;
    return e; /* stays on the stack, with the keys that the names are in */
}

/* -- which strategy a timeline is of ----------------------------------------------------------- */

static bool same_name(const entry *e, const char *name)
{
    return !strcmp(e->name, name);
}

/* The entry that is the strategy of a result as it was simulated: of several the one of its name.
 */
static const entry *strategy_of(const request *q, const entry *result)
{
    const entry *found = NULL;
    for (uint32_t i = 0; i < q->strategies; i++) {
        const entry *e = &q->strategy[i];
        if (!ss_strategy_same(e->strategy, result->result->strategy))
            continue;
        if (!found || same_name(e, result->result->name) || same_name(e, result->name))
            found = e;
    }
    return found;
}

static bool is_taken(const request *q, const char *name)
{
    for (uint32_t i = 0; i < q->strategies; i++)
        if (same_name(&q->strategy[i], name))
            return true;
    return false;
}

/* Every timeline has its strategy beside it: one that is not among those to be written, or was
 * changed since, is added under the timeline's name. */
static void join(lua_State *L, request *q)
{
    entry *all = lua_newuserdatauv(L, (q->results + (size_t)q->strategies + 1) * sizeof *all, 0);
    if (q->strategies)
        memcpy(all, q->strategy, q->strategies * sizeof *all);
    q->strategy = all;
    q->given_strategies = q->strategies;
    luaL_checkstack(L, (int)q->results + 1, "too many results");
    for (uint32_t i = 0; i < q->results; i++) {
        entry *result = &q->result[i];
        const entry *known = strategy_of(q, result);
        if (!known) {
            const char *name = result->name;
            while (is_taken(q, name))
                name = lua_pushfstring(L, "%s (as simulated)", name); /* stays on the stack */
            all[q->strategies] = (entry){.name = name, .strategy = result->result->strategy};
            known = &all[q->strategies++];
        }
        result->joins = known->name;
    }
}

/* -- writing ---------------------------------------------------------------------------------- */

static ss_status write_timeline(ss_record *r, const entry *e, ss_error *err)
{
    ss_text options = {0}, costs = {0};
    const ss_result *result = e->result->result;
    ss_lua_write_options(&result->lowered->options, e->result->topology,
                         result->costs ? result->costs : "", &options);
    ss_status s = ss_text_status(&options, err);
    if (!s)
        s = ss_costs_report(e->problem->costs, &costs, err);
    ss_record_origin origin = {e->joins, ss_text_get(&options), ss_text_get(&costs),
                               result->lowered->options.chance};
    if (!s)
        s = ss_record_timeline(r, e->name, e->view, &origin, err);
    ss_text_free(&options);
    ss_text_free(&costs);
    return s;
}

static ss_status write_parts(ss_record *r, const request *q, ss_error *err)
{
    ss_status s = ss_record_model(r, q->problem->model, err);
    if (!s)
        s = ss_record_topology(r, q->problem->topology, err);
    for (uint32_t i = 0; !s && i < q->given_strategies; i++)
        s = ss_record_strategy(r, q->strategy[i].name, q->strategy[i].strategy, err);
    for (uint32_t i = 0; !s && i < q->results; i++)
        s = write_timeline(r, &q->result[i], err);
    /* Last, since these have names of timelines: one that cannot be is refused as a timeline's. */
    for (uint32_t i = q->given_strategies; !s && i < q->strategies; i++)
        s = ss_record_strategy(r, q->strategy[i].name, q->strategy[i].strategy, err);
    return s;
}

static ss_status write_record(request *q, ss_error *err)
{
    ss_text options = {0};
    ss_record *r = NULL;
    ss_status s = ss_lua_problem_options(q->problem, &options, err);
    q->manifest.options = ss_text_get(&options);
    q->manifest.chance = q->problem->chance;
    if (!s)
        s = ss_record_create(q->path, &q->manifest, &r, err);
    if (!s) {
        s = write_parts(r, q, err);
        if (s)
            ss_record_abandon(r);
        else
            s = ss_record_finish(r, err);
    }
    ss_text_free(&options);
    return s;
}

static const ss_opt record_list[] = {
    {.name = "problem", .kind = SS_OPT_VALUE, .help = "whose model and topology are written"},
    {.name = "results", .kind = SS_OPT_VALUE, .help = "{ name = result, ... }, or a list of them"},
    {.name = "strategies",
     .kind = SS_OPT_VALUE,
     .help = "{ name = strategy, ... }, or a list of them; those of the results are there anyway"},
    {.name = "files",
     .kind = SS_OPT_VALUE,
     .help = "{ [path] = text, ... }: what else the run was made of"},
    {0},
};

/* soapstone.record(path, { problem =, results =, strategies = }) */
int ss_lua_record(lua_State *L)
{
    int unused;
    request q = {.path = ss_lua_text(L, 1, "soapstone.record: the path")};
    ss_lua_opts(L, 2, record_list, "soapstone.record", &unused);
    lua_settop(L, 2);
    if (!lua_istable(L, 2))
        return ss_lua_refuse(L, "soapstone.record takes a table of what to write");
    ss_lua_push_option(L, 2, "problem");
    ss_lua_box *problem = ss_lua_box_test(L, -1, &ss_lua_problem_type);
    if (!problem)
        return ss_lua_refuse(L, "soapstone.record: option 'problem' should be a problem, not %s",
                             ss_lua_kind_of(L, -1));
    q.problem = problem->object;
    q.result = read_entries(L, &q, "results", &q.results, add_result);
    q.strategy = read_entries(L, &q, "strategies", &q.strategies, add_strategy);
    join(L, &q);
    q.manifest.file = ss_lua_manifest_files(L, 2, "soapstone.record", &q.manifest.files);
    ss_lua_manifest(L, &q.manifest);

    ss_error err;
    if (ss_trajectory_check_ended(q.path, &err) || ss_record_check_place(q.path, &err) ||
        write_record(&q, &err))
        return ss_lua_raise(L, &err);
    return 0;
}

/* soapstone.repair(path) -> text: what was done */
int ss_lua_repair(lua_State *L)
{
    const char *path = ss_lua_text(L, 1, "soapstone.repair: the path");
    ss_text *text = ss_lua_text_new(L);

    ss_error err;
    if (ss_trajectory_repair(path, text, &err))
        return ss_lua_raise(L, &err);

    return ss_lua_text_push(L, text);
}

/* -- reading ---------------------------------------------------------------------------------- */

typedef struct inspect_options {
    bool json;
} inspect_options;

static const ss_opt inspect_list[] = {
    {.name = "json",
     .kind = SS_OPT_FLAG,
     .at = offsetof(inspect_options, json),
     .help = "for a program; else for a person"},
    {0},
};

/* soapstone.inspect(path, { json = }) -> text: what is in a file */
int ss_lua_inspect(lua_State *L)
{
    const char *path = ss_lua_text(L, 1, "soapstone.inspect: the path");
    inspect_options o;
    ss_lua_opts(L, 2, inspect_list, "soapstone.inspect", &o);
    ss_text *text = ss_lua_text_new(L);

    ss_error err;
    if (ss_inspect(path, o.json, text, &err))
        return ss_lua_raise(L, &err);

    return ss_lua_text_push(L, text);
}
