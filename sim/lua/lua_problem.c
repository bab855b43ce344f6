/* lua_problem.c - soapstone.problem: a model on a topology, with costs and assumptions. */
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "base/mem.h"
#include "lua/lua_order.h"
#include "lua/lua_topology.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/types.h"

enum { PATH = 200 };

static const ss_opt problem_list[] = {
    {.name = "model", .kind = SS_OPT_VALUE, .help = "what is trained"},
    {.name = "topology", .kind = SS_OPT_VALUE, .help = "on what"},
    {.name = "costs",
     .kind = SS_OPT_VALUE,
     .help = "times of operators; the roofline unless given"},
    {.name = "training",
     .kind = SS_OPT_FLAG,
     .at = offsetof(ss_lower_options, training),
     .preset = SS_OPT_KEEP,
     .help = "backward, meeting of gradients and update too; else forward only"},
    {.name = "lumped",
     .kind = SS_OPT_FLAG,
     .at = offsetof(ss_lower_options, lumped),
     .preset = SS_OPT_KEEP,
     .help = "forward and backward as one task, as the 2018 simulator has them"},
    {.name = "coalesce",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(ss_lower_options, coalesce),
     .preset = SS_OPT_KEEP,
     .choices = "none|per_device",
     .help = "what several parts on one device need of one part is sent for each, or once"},
    {.name = "sync",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(ss_lower_options, sync),
     .preset = SS_OPT_KEEP,
     .choices = "none|closed_form|parameter_server|ring|tree|two_level|bidirectional_ring|"
                "double_tree|halving_doubling|hierarchical|in_network|auto",
     .help = "how gradients meet"},
    {.name = "overlap",
     .kind = SS_OPT_FLAG,
     .at = offsetof(ss_lower_options, overlap),
     .preset = SS_OPT_KEEP,
     .help = "gradients meet as they come; else after all backward work"},
    {.name = "aggregate",
     .kind = SS_OPT_FLAG,
     .at = offsetof(ss_lower_options, aggregate),
     .preset = SS_OPT_KEEP,
     .help = "each all-reduce is one task of closed-form time"},
    {.name = "chunk",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(ss_lower_options, chunk_bytes),
     .preset = SS_OPT_KEEP,
     .max = 4e18,
     .unit = SS_UNIT_BYTES,
     .help =
         "trees and switches pass gradients on in chunks of this size, 256 at most; 0: whole, or "
         "as auto finds best"},
    {.name = "gather",
     .kind = SS_OPT_FLAG,
     .at = offsetof(ss_lower_options, gather),
     .preset = SS_OPT_KEEP,
     .help = "putting together what a part reads takes time"},
    {.name = "partial_sums",
     .kind = SS_OPT_FLAG,
     .at = offsetof(ss_lower_options, partial_sums),
     .preset = SS_OPT_KEEP,
     .help = "adding several gradients of one tensor takes time"},
    {.name = "update_passes",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(ss_lower_options, update_passes),
     .preset = SS_OPT_KEEP,
     .max = 1e6,
     .help = "how often an update reads and writes its weights; 0: it is free"},
    {.name = "links",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(ss_lower_options, links),
     .preset = SS_OPT_KEEP,
     .choices = "fifo-hop|fifo-pipe|fifo-path|shared",
     .help = "what a transfer does to its links"},
    {.name = "ideal_links",
     .kind = SS_OPT_FLAG,
     .at = offsetof(ss_lower_options, ideal_links),
     .preset = SS_OPT_KEEP,
     .help = "efficiency, latency by size, load and staging of the topology are left aside"},
    {.name = "flow_limit",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(ss_lower_options, flow_limit),
     .preset = SS_OPT_KEEP,
     .unit = SS_UNIT_BYTES_PER_SECOND,
     .help = "shared links: the most that one message can have; 0: no limit"},
    {.name = "segment",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(ss_lower_options, segment_bytes),
     .preset = SS_OPT_KEEP,
     .max = 4e18,
     .unit = SS_UNIT_BYTES,
     .help = "messages are cut into pieces of this size; 0: never; fifo-path and shared: "
             "only where a node stages"},
    {.name = "max_segments",
     .kind = SS_OPT_COUNT,
     .at = offsetof(ss_lower_options, max_segments),
     .preset = SS_OPT_KEEP,
     .min = 1,
     .max = SS_SEGMENTS_MAX,
     .help = "and into no more than so many"},
    {.name = "chance",
     .kind = SS_OPT_VALUE,
     .help = "which times are drawn (of soapstone.chance); none unless given"},
    SS_LUA_ORDER_OPTIONS(ss_lower_options, run),
    {.name = "interference",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(ss_lower_options, run.interference),
     .preset = SS_OPT_KEEP,
     .max = 1000,
     .help = "how much longer what waits for memory takes beside another such on its machine"},
    SS_LUA_EVENTS_OPTION,
    {0},
};

void ss_lua_problem_help(ss_text *out)
{
    ss_lower_options presets = ss_lower_options_start();
    ss_opts_help(problem_list, &presets, out);
}

/* -- making one ------------------------------------------------------------------------------- */

static void free_problem(void *object)
{
    ss_lua_problem *p = object;
    if (!p)
        return;
    ss_engine_free(p->engine);
    ss_chance_free(p->chance);
    ss_costs_free(p->costs);
    ss_routes_free(p->routes);
    ss_free(p->event);
    ss_free(p);
}

static ss_status make_costs(ss_lua_problem *p, const ss_costs *given, ss_error *err)
{
    ss_status s = ss_costs_new(&p->costs, err);
    if (!s)
        s = given ? ss_costs_add_all(p->costs, given, err)
                  : ss_costs_add_roofline(p->costs, NULL, err);
    if (!s)
        s = ss_costs_check_given(p->costs, p->model, err);
    if (!s)
        s = ss_costs_check_devices(p->costs, p->topology, err);
    return s ? s : ss_costs_timer(p->costs, p->topology, &p->timer, err);
}

/* The options keep their events in the problem. */
static ss_status keep_events(ss_lua_problem *p, ss_error *err)
{
    ss_run_options *o = &p->options.run;
    if (!o->changes)
        return SS_OK;
    p->event = ss_alloc(o->changes * sizeof *p->event);
    if (!p->event)
        return ss_fail_memory(err, "events", o->changes * sizeof *p->event);
    memcpy(p->event, o->change, o->changes * sizeof *p->event);
    o->change = p->event;
    return SS_OK;
}

/* Of a kind that the model has not, nothing would be drawn, and the result would say that it was. */
static ss_status refuse_kinds(const ss_chance *c, const ss_model *m, ss_error *err)
{
    for (uint32_t k = 0; k < c->kinds; k++) {
        bool there = false;
        for (uint32_t i = 1; i <= m->ops && !there; i++)
            there = !strcmp(m->op[i].def->kind->name, c->kind[k].kind);
        if (there)
            continue;
        ss_text kinds = {0};
        for (uint32_t i = 1; i <= m->ops; i++) {
            bool again = false;
            for (uint32_t j = 1; j < i && !again; j++)
                again = m->op[j].def->kind == m->op[i].def->kind;
            if (!again)
                ss_text_add(&kinds, "%s%s", kinds.n ? ", " : "", m->op[i].def->kind->name);
        }
        ss_status s =
            ss_fail(err, SS_EINVAL,
                    "soapstone.problem: the chance is of operators of kind %s, and model %s "
                    "has none; it has %s",
                    c->kind[k].kind, m->name, ss_text_get(&kinds));
        ss_text_free(&kinds);
        return s;
    }
    return SS_OK;
}

/* Likewise what is drawn, and finds the devices that it names. */
static ss_status keep_chance(ss_lua_problem *p, ss_error *err)
{
    if (!p->options.chance)
        return SS_OK;
    ss_status s = refuse_kinds(p->options.chance, p->model, err);
    if (!s)
        s = ss_chance_copy(p->options.chance, &p->chance, err);
    p->options.chance = p->chance;
    return s ? s : ss_chance_bind(p->chance, p->topology, err);
}

static ss_status refuse_empty(const ss_model *m, const ss_topology *t, ss_error *err)
{
    if (!m->ops)
        return ss_fail(err, SS_EINVAL, "model %s has no operators", m->name);
    if (!t->devices)
        return ss_fail(err, SS_EINVAL, "topology %s has no devices", t->name);
    return SS_OK;
}

static ss_status make_problem(const ss_model *m, const ss_topology *t, const ss_costs *costs,
                              const ss_lower_options *options, ss_lua_problem **out, ss_error *err)
{
    ss_status s = refuse_empty(m, t, err);
    if (!s && (s = ss_lower_check_options(options, err)))
        ss_fail_in(err, "soapstone.problem");
    if (s)
        return s;
    ss_lua_problem *p = ss_alloc_zeroed(1, sizeof *p);
    if (!p)
        return ss_fail_memory(err, "a problem", sizeof *p);
    p->model = m;
    p->topology = t;
    p->options = *options;
    s = keep_events(p, err);
    if (!s)
        s = keep_chance(p, err);
    if (!s)
        s = ss_routes_new(t, &p->routes, err);
    if (!s)
        s = ss_engine_new(&p->engine, err);
    if (!s)
        s = make_costs(p, costs, err);
    if (s) {
        free_problem(p);
        return s;
    }
    *out = p;
    return SS_OK;
}

/* The box named `name` in the options, left on the stack. */
static ss_lua_box *take(lua_State *L, const char *name, const ss_lua_type *type)
{
    if (ss_lua_push_option(L, 1, name) == LUA_TNIL)
        ss_lua_refuse(L, "soapstone.problem: option '%s' is missing (%s%s)", name,
                      ss_lua_article(type), type->noun);
    ss_lua_box *box = ss_lua_box_test(L, -1, type);
    if (!box && luaL_testudata(L, -1, type->name))
        ss_lua_refuse(L, "soapstone.problem: option '%s': this %s is closed", name, type->noun);
    if (!box)
        ss_lua_refuse(L, "soapstone.problem: option '%s' should be %s%s, not %s", name,
                      ss_lua_article(type),
                      type == &ss_lua_costs_type    ? "costs (of soapstone.costs)"
                      : type == &ss_lua_chance_type ? "chance (of soapstone.chance)"
                                                    : type->noun,
                      ss_lua_kind_of(L, -1));
    return box;
}

/* soapstone.problem { model =, topology =, ... } -> problem */
int ss_lua_problem_new(lua_State *L)
{
    ss_lower_options options = ss_lower_options_start();
    ss_lua_opts(L, 1, problem_list, "soapstone.problem", &options);
    ss_lua_refuse_plain_bandwidth(L, 1, "flow_limit", "soapstone.problem");
    if (lua_isnoneornil(L, 1))
        return ss_lua_refuse(L, "soapstone.problem takes a table of options");
    lua_settop(L, 1);
    ss_lua_box *model = take(L, "model", &ss_lua_model_type);
    ss_lua_box *topology = take(L, "topology", &ss_lua_topology_type);
    ss_lua_box *costs =
        ss_lua_is_given(L, 1, "costs") ? take(L, "costs", &ss_lua_costs_type) : NULL;
    if (options.run.order == SS_ORDER_PRIORITY)
        return ss_lua_refuse(L,
                             "soapstone.problem: option 'order' = \"priority\" needs a number for "
                             "each task, and which there are is the strategy's to say: give it to "
                             "problem:start(strategy, { order = \"priority\", priority = ... })");
    ss_lua_read_events(L, 1, 3, options.ideal_links, "soapstone.problem", &options.run);
    if (ss_lua_is_given(L, 1, "chance"))
        options.chance = take(L, "chance", &ss_lua_chance_type)->object;
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_problem_type);
    int at = lua_gettop(L);
    ss_lua_box_hold(L, at, SS_LUA_HOLD_MODEL, 2);
    ss_lua_box_hold(L, at, SS_LUA_HOLD_TOPOLOGY, 3);

    options.run.model = ((ss_lua_model *)model->object)->model;
    options.run.topology = topology->object;

    ss_error err;
    ss_lua_problem *p = NULL;
    if (make_problem(((ss_lua_model *)model->object)->model, topology->object,
                     costs ? costs->object : NULL, &options, &p, &err))
        return ss_lua_raise(L, &err);

    box->object = p;
    model->fixed = topology->fixed = true; /* routes and strategies reckon with what is there */
    return 1;
}

/* -- what it does ----------------------------------------------------------------------------- */

void ss_lua_refuse_other(lua_State *L, const char *what, const ss_lua_problem *p,
                         const ss_strategy *s)
{
    if (s->model == p->model && s->topology == p->topology)
        return;
    bool model = s->model != p->model;
    const char *part = model ? "model" : "topology";
    const char *name = model ? s->model->name : s->topology->name;
    bool equal = (!model || ss_model_hash(s->model) == ss_model_hash(p->model)) &&
                 (s->topology == p->topology ||
                  ss_topology_hash(s->topology) == ss_topology_hash(p->topology));
    if (equal)
        ss_lua_refuse(L,
                      "%s: the strategy was made for another object of the "
                      "%s %s, which is equal to the problem's: give both problems the same "
                      "one (%s = other.%s), or save the strategy and load it with "
                      "problem:load_strategy",
                      what, part, name, part, part);
    char theirs[PATH], own[PATH];
    if (model && ss_model_hash(s->model) != ss_model_hash(p->model)) {
        ss_lua_name(theirs, sizeof theirs, "model %.60s of %u operator%s and batch %lld", name,
                    s->model->ops, ss_plural(s->model->ops), (long long)ss_model_batch(s->model));
        ss_lua_name(own, sizeof own, "%.60s of %u operator%s and batch %lld", p->model->name,
                    p->model->ops, ss_plural(p->model->ops), (long long)ss_model_batch(p->model));
    } else {
        const ss_topology *a = s->topology, *b = p->topology;
        ss_lua_name(theirs, sizeof theirs, "topology %.60s of %u device%s and %u link%s", a->name,
                    a->devices, ss_plural(a->devices), a->links, ss_plural(a->links));
        ss_lua_name(own, sizeof own, "%.60s of %u device%s and %u link%s", b->name, b->devices,
                    ss_plural(b->devices), b->links, ss_plural(b->links));
    }
    ss_lua_refuse(L,
                  "%s: the strategy was made for another %s than the "
                  "problem's, %s: save it and load it with problem:load_strategy(path, { "
                  "by_name = true }), which takes what fits",
                  what, theirs, own);
}

/* problem:strategy(kind, options) -> strategy */
static int problem_strategy(lua_State *L)
{
    ss_lua_check(L, 1, &ss_lua_problem_type);
    const char *kind = ss_lua_text(L, 2, "problem:strategy: the kind");
    lua_settop(L, 3);
    return ss_lua_strategy_new(L, 1, kind, 3);
}

/* problem:load_strategy(path, { name =, by_name = }) -> strategy, { matched =, missing =, unknown =
 * } */
static int problem_load_strategy(lua_State *L)
{
    ss_lua_check(L, 1, &ss_lua_problem_type);
    const char *path = ss_lua_text(L, 2, "problem:load_strategy: the path");
    lua_settop(L, 3);
    return ss_lua_strategy_load(L, 1, path, 3);
}

typedef struct simulate_options {
    const char *name;
    uint32_t repetition; /* 0: not given */
} simulate_options;

static const ss_opt simulate_list[] = {
    {.name = "name",
     .kind = SS_OPT_TEXT,
     .at = offsetof(simulate_options, name),
     .help = "what reports call it; the strategy's unless given"},
    {.name = "repetition",
     .kind = SS_OPT_COUNT,
     .at = offsetof(simulate_options, repetition),
     .preset = 0,
     .min = 1,
     .max = 4e9,
     .help = "which one is drawn by chance; that of the chance unless given"},
    {0},
};

/* problem:simulate(strategy, { name =, repetition = }) -> result */
static int problem_simulate(lua_State *L)
{
    const ss_lua_problem *p = ss_lua_check(L, 1, &ss_lua_problem_type);
    ss_lua_strategy *s = ss_lua_check(L, 2, &ss_lua_strategy_type);
    simulate_options o;
    ss_lua_opts(L, 3, simulate_list, "problem:simulate", &o);
    if (o.repetition && !p->chance)
        return ss_lua_refuse(L, "problem:simulate: option 'repetition' says which times are drawn, "
                                "and in this problem none are: give it the option chance");
    return ss_lua_result_new(L, 1, s, o.name, o.repetition);
}

/* problem:costs_report() -> text: where the times came from so far */
static int problem_costs_report(lua_State *L)
{
    ss_lua_problem *p = ss_lua_check(L, 1, &ss_lua_problem_type);
    ss_text *text = ss_lua_text_new(L);

    ss_error err;
    if (ss_costs_report(p->costs, text, &err))
        return ss_lua_raise(L, &err);

    return ss_lua_text_push(L, text);
}

/* problem:with_costs(costs) -> problem: the same, but that times come from there */
static int problem_with_costs(lua_State *L)
{
    const ss_lua_problem *from = ss_lua_check(L, 1, &ss_lua_problem_type);
    const ss_costs *costs = ss_lua_check(L, 2, &ss_lua_costs_type);
    lua_settop(L, 2);
    ss_lua_box_push_held(L, 1, SS_LUA_HOLD_MODEL);
    ss_lua_box_push_held(L, 1, SS_LUA_HOLD_TOPOLOGY);
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_problem_type);
    ss_lua_box_hold(L, 5, SS_LUA_HOLD_MODEL, 3);
    ss_lua_box_hold(L, 5, SS_LUA_HOLD_TOPOLOGY, 4);

    ss_error err;
    ss_lua_problem *p = NULL;
    if (make_problem(from->model, from->topology, costs, &from->options, &p, &err))
        return ss_lua_raise(L, &err);

    box->object = p;
    return 1;
}

static int get_costs(lua_State *L, int index)
{
    return ss_lua_costs_push_copy(
        L, ((ss_lua_problem *)ss_lua_check(L, index, &ss_lua_problem_type))->costs);
}

static int get_model(lua_State *L, int index)
{
    ss_lua_box_push_held(L, index, SS_LUA_HOLD_MODEL);
    return 1;
}

static int get_topology(lua_State *L, int index)
{
    ss_lua_box_push_held(L, index, SS_LUA_HOLD_TOPOLOGY);
    return 1;
}

static void set_events(lua_State *L, const ss_lower_options *o, const ss_topology *t)
{
    ss_text *text = ss_lua_text_new(L);
    ss_lua_write_events(&o->run, t, text);
    ss_lua_text_push(L, text);
    lua_setfield(L, -3, "events");
    lua_pop(L, 1);
}

static void set_chance(lua_State *L, const ss_chance *c)
{
    if (!c) {
        ss_lua_set_text(L, "chance", "none");
        return;
    }
    ss_text *text = ss_lua_text_new(L);
    ss_lua_chance_say(c, text);
    ss_lua_text_push(L, text);
    lua_setfield(L, -3, "chance");
    lua_pop(L, 1);
}

static int get_options(lua_State *L, int index)
{
    const ss_lower_options *o =
        &((ss_lua_problem *)ss_lua_check(L, index, &ss_lua_problem_type))->options;
    lua_createtable(L, 0, 12);
    ss_lua_set_flag(L, "training", o->training);
    ss_lua_set_flag(L, "lumped", o->lumped);
    ss_lua_set_text(L, "coalesce", o->coalesce == SS_COALESCE_NONE ? "none" : "per_device");
    ss_lua_set_text(L, "sync", ss_sync_name(o->sync));
    ss_lua_set_flag(L, "overlap", o->overlap);
    ss_lua_set_flag(L, "aggregate", o->aggregate);
    ss_lua_set_integer(L, "chunk", o->chunk_bytes);
    ss_lua_set_flag(L, "partial_sums", o->partial_sums);
    ss_lua_set_flag(L, "gather", o->gather);
    ss_lua_set_number(L, "update_passes", o->update_passes);
    ss_lua_set_text(L, "links", ss_links_mode_name(o->links));
    ss_lua_set_flag(L, "ideal_links", o->ideal_links);
    ss_lua_set_number(L, "flow_limit", o->flow_limit);
    ss_lua_set_integer(L, "segment", o->segment_bytes);
    ss_lua_set_integer(L, "max_segments", o->max_segments);
    ss_lua_set_text(L, "order", ss_order_name(o->run.order));
    ss_lua_set_integer(L, "streams", o->run.streams);
    ss_lua_set_flag(L, "copies_block", o->run.copies_block);
    ss_lua_set_text(L, "blocked_end", ss_blocked_end_name(o->run.blocked_end));
    ss_lua_set_number(L, "slowed_by_copies", o->run.slowed_by_copies);
    ss_lua_set_number(L, "interference", o->run.interference);
    set_chance(L, o->chance);
    set_events(L, o, ((ss_lua_problem *)ss_lua_check(L, index, &ss_lua_problem_type))->topology);
    return 1;
}

static int problem_text(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_problem_type.name);
    const ss_lua_problem *p = box->closed ? NULL : box->object;
    if (p)
        lua_pushfstring(L, "problem: %s on %s, links %s, gradients meet by %s", p->model->name,
                        p->topology->name, ss_links_mode_name(p->options.links),
                        ss_sync_name(p->options.sync));
    else
        lua_pushliteral(L, "problem (closed)");
    return 1;
}

static const ss_lua_field problem_fields[] = {
    {"model", get_model, "what is trained"},
    {"topology", get_topology, "on what"},
    {"costs", get_costs, "where times come from"},
    {"options", get_options, "table: the assumptions in force, by the names of the options"},
    {NULL, NULL, NULL},
};

static const ss_lua_method problem_methods[] = {
    {"strategy", problem_strategy, "(kind, options) -> strategy: a ready-made one"},
    {"load_strategy", problem_load_strategy, "(path, options) -> strategy, counts: a saved one"},
    {"simulate", problem_simulate, "(strategy, { name =, repetition = }) -> result: one step"},
    {"repetitions", ss_lua_problem_repetitions,
     "(strategy or list, options) -> repetitions: with other luck each time"},
    {"start", ss_lua_problem_start, "(strategy, options) -> run: a step that the script drives"},
    {"execute", ss_lua_problem_execute,
     "(strategy, options) -> results, losses: with real operators on this machine"},
    {"proof", ss_lua_problem_proof,
     "(strategy, options) -> how far it computes other numbers than the whole model"},
    {"profile", ss_lua_problem_profile,
     "(strategies, options) -> profile, number: what they need, measured on this machine"},
    {"list_times", ss_lua_problem_list_times,
     "(path, strategies, options) -> number: what they need, as a list for another machine"},
    {"without_kernels", ss_lua_problem_without_kernels,
     "(strategy) -> list of { op, why }: what this machine cannot compute"},
    {"with_costs", problem_with_costs,
     "(costs) -> problem: the same, but that times come from there"},
    {"costs_report", problem_costs_report, "() -> text: where the times came from so far"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_problem_type = {
    .name = "soapstone.problem",
    .noun = "problem",
    .free = free_problem,
    .fields = problem_fields,
    .methods = problem_methods,
    .text = problem_text,
};

void ss_lua_register_problem(lua_State *L)
{
    ss_lua_type_register(L, &ss_lua_problem_type);
    ss_lua_type_register(L, &ss_lua_chance_type);
    ss_lua_type_register(L, &ss_lua_repetitions_type);
    ss_lua_type_register(L, &ss_lua_strategy_type);
    ss_lua_type_register(L, &ss_lua_result_type);
    ss_lua_type_register(L, &ss_lua_run_type);
}
