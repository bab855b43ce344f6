/* lua_strategy.c - strategies from a script: ready-made, changed by hand, pinned, compared. */
#include <string.h>

#include <lauxlib.h>

#include "base/mem.h"
#include "io/record.h"
#include "io/record_layout.h"
#include "io/strategy_file.h"
#include "io/trajectory.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/types.h"

enum { PATH = 200, HOLD_PROBLEM = 0 };

static ss_lua_strategy *check(lua_State *L, int arg)
{
    return ss_lua_check(L, arg, &ss_lua_strategy_type);
}

static void free_strategy(void *object)
{
    ss_lua_strategy *s = object;
    if (!s)
        return;
    ss_strategy_free(s->strategy);
    ss_free(s->name);
    ss_free(s);
}

/* Takes `strategy` over, also on failure.  It is called `given`, or if that is NULL `otherwise`. */
static ss_status wrap(ss_strategy *strategy, const char *given, const char *otherwise,
                      ss_lua_strategy **out, ss_error *err)
{
    const char *name = given ? given : otherwise;
    ss_lua_strategy *s = ss_alloc_zeroed(1, sizeof *s);
    char *copy = ss_strdup(name);
    if (!s || !copy) {
        ss_free(s);
        ss_free(copy);
        ss_strategy_free(strategy);
        return ss_fail_memory(err, "a strategy", sizeof *s + strlen(name));
    }
    *s = (ss_lua_strategy){.strategy = strategy, .name = copy, .named = given != NULL};
    *out = s;
    return SS_OK;
}

static ss_status rename_strategy(ss_lua_strategy *s, const char *name, ss_error *err)
{
    char *copy = ss_strdup(name);
    if (!copy)
        return ss_fail_memory(err, "the name of a strategy", strlen(name) + 1);
    ss_free(s->name);
    s->name = copy;
    s->named = true;
    s->changed = false;
    return SS_OK;
}

const char *ss_lua_strategy_push_name(lua_State *L, const ss_lua_strategy *s)
{
    return lua_pushfstring(L, "%s%s", s->name, s->changed && !s->named ? " (changed)" : "");
}

/* -- ready-made ones -------------------------------------------------------------------------- */

static const char READY[] =
    "data_parallel|model_parallel|expert|expert_cnn|expert_rnn|random|whole";
enum { DATA_PARALLEL, MODEL_PARALLEL, EXPERT, EXPERT_CNN, EXPERT_RNN, RANDOM, WHOLE };

typedef struct ready_options {
    const char *name;
    int64_t seed;
    uint32_t max_parts;
    bool by_depth;
} ready_options;

#define NAME_OPTION                                                                                \
    {                                                                                              \
        .name = "name", .kind = SS_OPT_TEXT, .at = offsetof(ready_options, name),                  \
        .help = "what reports call it; its kind unless given"                                      \
    }

static const ss_opt plain_list[] = {NAME_OPTION, {0}};

static const ss_opt rnn_list[] = {
    NAME_OPTION,
    {.name = "by_depth",
     .kind = SS_OPT_FLAG,
     .at = offsetof(ready_options, by_depth),
     .help = "operators of equal depth go together, not those of equal layer"},
    {0},
};

static const ss_opt random_list[] = {
    NAME_OPTION,
    {.name = "seed",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(ready_options, seed),
     .preset = SS_OPT_KEEP,
     .help = "of the stream that it is drawn from; the run's unless given"},
    {.name = "max_parts",
     .kind = SS_OPT_COUNT,
     .at = offsetof(ready_options, max_parts),
     .preset = SS_OPT_KEEP,
     .min = 1,
     .max = SS_MAX_PARTS,
     .help = "of one operator; the number of devices unless given"},
    {0},
};

static const ss_opt *options_of(int kind)
{
    return kind == RANDOM ? random_list : kind == EXPERT_RNN ? rnn_list : plain_list;
}

void ss_lua_strategies_help(ss_text *out)
{
    static const char *const says[] = {
        [DATA_PARALLEL] = "every operator cut along the samples, a part on each device",
        [MODEL_PARALLEL] = "whole operators in order, cut into runs of balanced time, one a device",
        [EXPERT] = "expert_rnn of a network with lstm operators, expert_cnn of another",
        [EXPERT_CNN] = "fully connected operators split by channel, all others by sample",
        [EXPERT_RNN] = "data parallel across machines; inside, layers are dealt over the devices",
        [RANDOM] = "degrees and devices drawn from a seeded stream",
        [WHOLE] = "every operator in one part on the first device",
    };
    const char *name = READY;
    for (int k = 0; k <= WHOLE; k++) {
        int n = (int)strcspn(name, "|");
        ss_text_add(out, "%.*s%*s %s\n", n, name, 16 - n, "", says[k]);
        for (const ss_opt *o = options_of(k); o->name; o++)
            ss_text_add(out, "  %-14s %s\n", o->name, o->help);
        name += n + 1;
    }
}

/* For balancing: what the problem's costs say of a whole operator. */
static double whole_seconds(void *context, ss_op op, ss_device device)
{
    const ss_lua_problem *p = context;
    ss_box whole = ss_box_whole(&p->model->op[op.i].def->out[0]);
    ss_time forward = 0, backward = 0;
    p->timer.part(p->timer.context, p->model, op, SS_FORWARD, &whole, device, &forward, NULL);
    if (p->options.training)
        p->timer.part(p->timer.context, p->model, op, SS_BACKWARD, &whole, device, &backward, NULL);
    return ss_time_seconds(forward) + ss_time_seconds(backward);
}

static ss_status apply_random(ss_strategy *s, const ready_options *o, ss_error *err)
{
    ss_rng rng = {0};
    ss_status status = ss_rng_open(&rng, (uint64_t)o->seed, "random strategy", err);
    if (!status)
        status = ss_strategy_random(s, &rng, o->max_parts, err);
    ss_rng_close(&rng);
    return status;
}

/* What experts do for networks of this kind. */
static int resolve(const ss_model *m, int kind)
{
    if (kind != EXPERT)
        return kind;
    for (uint32_t i = 1; i <= m->ops; i++)
        if (!strcmp(m->op[i].def->kind->name, "lstm"))
            return EXPERT_RNN;
    return EXPERT_CNN;
}

static ss_status apply(ss_lua_problem *p, ss_strategy *s, int kind, const ready_options *o,
                       ss_error *err)
{
    ss_status status;
    switch (resolve(p->model, kind)) {
    case DATA_PARALLEL:
        return ss_strategy_data_parallel(s, err);
    case MODEL_PARALLEL:
        status = ss_strategy_model_parallel(s, whole_seconds, p, err);
        return status ? status : ss_costs_refuse_missing(p->costs, err);
    case EXPERT_CNN:
        return ss_strategy_expert_cnn(s, err);
    case EXPERT_RNN:
        return ss_strategy_expert_rnn(s, o->by_depth, err);
    case RANDOM:
        return apply_random(s, o, err);
    default:
        return ss_strategy_whole(s, err);
    }
}

static ready_options read_ready(lua_State *L, int index, int kind, const ss_lua_problem *p,
                                const char *call)
{
    ready_options o = {.seed = (int64_t)ss_lua_seed(L), .max_parts = p->topology->devices};
    ss_lua_opts(L, index, options_of(kind), call, &o);
    return o;
}

static ss_status make_ready(ss_lua_problem *p, int kind, const ready_options *o, const char *word,
                            ss_lua_strategy **out, ss_error *err)
{
    if (kind == EXPERT)
        word = resolve(p->model, kind) == EXPERT_RNN ? "expert_rnn" : "expert_cnn";
    ss_strategy *s = NULL;
    ss_status status = ss_strategy_new(p->model, p->topology, &s, err);
    if (!status)
        status = apply(p, s, kind, o, err);
    if (status) {
        ss_strategy_free(s);
        return status;
    }
    return wrap(s, o->name, word, out, err);
}

int ss_lua_strategy_new(lua_State *L, int problem, const char *word, int options)
{
    ss_lua_problem *p = ss_lua_check(L, problem, &ss_lua_problem_type);
    lua_pushstring(L, word);
    int kind = ss_lua_choice(L, -1, READY, "problem:strategy: the kind");
    ready_options o = read_ready(L, options, kind, p, "problem:strategy");
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_strategy_type);
    ss_lua_box_hold(L, lua_gettop(L), HOLD_PROBLEM, problem);

    ss_error err;
    ss_lua_strategy *s = NULL;
    if (make_ready(p, kind, &o, word, &s, &err))
        return ss_lua_raise(L, &err);

    box->object = s;
    return 1;
}

bool ss_lua_strategy_push_expert(lua_State *L, int problem)
{
    ss_lua_problem *p = ss_lua_check(L, problem, &ss_lua_problem_type);
    ready_options o = {0};
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_strategy_type);
    ss_lua_box_hold(L, lua_gettop(L), HOLD_PROBLEM, problem);

    ss_error err;
    ss_lua_strategy *s = NULL;
    ss_status status = make_ready(p, EXPERT, &o, "expert", &s, &err);
    if (status == SS_ENOMEM)
        return ss_lua_raise(L, &err);
    box->object = s;
    if (status)
        lua_pop(L, 1);
    return !status;
}

int ss_lua_strategy_push_copy(lua_State *L, int problem, const ss_strategy *from, const char *name)
{
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_strategy_type);
    ss_lua_box_hold(L, lua_gettop(L), HOLD_PROBLEM, problem);

    ss_error err;
    ss_strategy *copy = NULL;
    ss_lua_strategy *s = NULL;
    if (ss_strategy_copy(from, &copy, &err) || wrap(copy, name, NULL, &s, &err))
        return ss_lua_raise(L, &err);

    box->object = s;
    return 1;
}

static const ss_opt load_list[] = {
    NAME_OPTION,
    {.name = "by_name",
     .kind = SS_OPT_FLAG,
     .at = offsetof(ready_options, by_depth),
     .help = "onto another size of the model or another topology: operators are matched by name"},
    {0},
};

int ss_lua_strategy_load(lua_State *L, int problem, const char *path, int options)
{
    ss_lua_problem *p = ss_lua_check(L, problem, &ss_lua_problem_type);
    ready_options o = {0};
    ss_lua_opts(L, options, load_list, "problem:load_strategy", &o);
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_strategy_type);
    ss_lua_box_hold(L, lua_gettop(L), HOLD_PROBLEM, problem);

    ss_error err;
    ss_strategy *s = NULL;
    ss_lua_strategy *wrapped = NULL;
    ss_strategy_loading how = {.by_name = o.by_depth};
    char found[SS_RECORD_NAME + 1];
    bool record = ss_h5_begins(path);
    if (record ? ss_record_read_strategy(path, o.name, p->model, p->topology, &how, found, &s, &err)
               : ss_strategy_load(path, p->model, p->topology, &how, &s, &err))
        return ss_lua_raise(L, &err);
    if (wrap(s, o.name, record ? found : path, &wrapped, &err))
        return ss_lua_raise(L, &err);

    box->object = wrapped;
    lua_createtable(L, 0, 3);
    ss_lua_set_integer(L, "matched", how.matched);
    ss_lua_set_integer(L, "missing", how.missing);
    ss_lua_set_integer(L, "unknown", how.unknown);
    return 2;
}

/* The problem of the strategy at index 1. */
static ss_lua_problem *problem_of(lua_State *L)
{
    ss_lua_box *box = lua_touserdata(L, 1);
    return box->holds[HOLD_PROBLEM]->object;
}

/* strategy:apply(kind, options) -> the strategy: what is pinned stays */
static int strategy_apply(lua_State *L)
{
    ss_lua_strategy *s = check(L, 1);
    ss_lua_problem *p = problem_of(L);
    int kind = ss_lua_choice(L, 2, READY, "strategy:apply: the kind");
    ready_options o = read_ready(L, 3, kind, p, "strategy:apply");

    ss_error err;
    if (apply(p, s->strategy, kind, &o, &err))
        return ss_lua_raise(L, &err);
    s->changed = true;
    if (o.name && rename_strategy(s, o.name, &err))
        return ss_lua_raise(L, &err);

    lua_settop(L, 1);
    return 1;
}

/* -- changing by hand ------------------------------------------------------------------------- */

/* { n = 4, c = 2 }, or { 4, 1, 2 } in the order of the dimensions; absent ones are not cut. */
static void read_degrees(lua_State *L, int index, const ss_op_def *def, const char *what,
                         uint32_t *degree)
{
    char path[PATH];
    const char *names[SS_MAX_DIMS];
    uint32_t rank = def->out[0].rank;
    for (uint32_t d = 0; d < rank; d++) {
        names[d] = def->dim[d].name;
        degree[d] = 1;
    }
    if (!lua_istable(L, index))
        ss_lua_refuse(L, "%s: option 'degrees' should be a table such as { %s = 4 }, not %s", what,
                      names[0], ss_lua_kind_of(L, index));
    lua_Unsigned listed = lua_rawlen(L, index);
    if (listed > rank)
        ss_lua_refuse(L, "%s: option 'degrees' has %d numbers, and the output has %d dimension%s",
                      what, (int)listed, (int)rank, ss_plural(rank));
    if (!listed) {
        ss_lua_name(path, sizeof path, "%s: option 'degrees'", what);
        ss_lua_opts_names(L, index, NULL, names, rank, path);
    }
    for (uint32_t d = 0; d < rank; d++) {
        if (listed) {
            lua_rawgeti(L, index, (lua_Integer)d + 1);
        } else {
            lua_pushstring(L, names[d]);
            lua_rawget(L, index);
        }
        ss_lua_name(path, sizeof path, "%s: option 'degrees.%s'", what, names[d]);
        if (!lua_isnil(L, -1))
            degree[d] = (uint32_t)ss_lua_integer(L, -1, 1, SS_MAX_PARTS, path);
        lua_pop(L, 1);
    }
}

/* A device or a list of them, in Lua's memory; leaves one value on the stack. */
static const ss_device *read_devices(lua_State *L, int index, int topology, const char *what,
                                     uint32_t *n)
{
    char path[PATH];
    if (!lua_istable(L, index)) {
        ss_lua_name(path, sizeof path, "%s: option 'devices'", what);
        ss_device *one = lua_newuserdatauv(L, sizeof *one, 0);
        *one = ss_lua_device(L, index, topology, path);
        *n = 1;
        return one;
    }
    lua_Unsigned listed = lua_rawlen(L, index);
    if (listed < 1 || listed > SS_MAX_PARTS)
        ss_lua_refuse(L, "%s: option 'devices' lists %d device%s; 1 to %d are possible", what,
                      (int)listed, ss_plural(listed), SS_MAX_PARTS);
    ss_device *device = lua_newuserdatauv(L, (size_t)listed * sizeof *device, 0);
    for (lua_Unsigned i = 0; i < listed; i++) {
        ss_lua_name(path, sizeof path, "%s: option 'devices[%d]'", what, (int)i + 1);
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        device[i] = ss_lua_device(L, -1, topology, path);
        lua_pop(L, 1);
    }
    *n = (uint32_t)listed;
    return device;
}

static const ss_opt set_list[] = {
    {.name = "degrees",
     .kind = SS_OPT_VALUE,
     .help = "{ n = 4, c = 2 }; what is there unless given"},
    {.name = "devices",
     .kind = SS_OPT_VALUE,
     .help = "a device for each part, or one for all; what is there unless given"},
    {0},
};

const ss_config *ss_lua_config(lua_State *L, int index, const ss_op_def *def, int topology,
                               const char *what)
{
    int unused, top = lua_gettop(L);
    ss_lua_opts(L, index, set_list, what, &unused);
    ss_config *c = lua_newuserdatauv(L, sizeof *c, 1);
    *c = (ss_config){.parts = 1};
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        c->degree[d] = 1;
    lua_pushliteral(L, "degrees");
    if (lua_rawget(L, index) != LUA_TNIL)
        read_degrees(L, lua_gettop(L), def, what, c->degree);
    uint64_t product = 1;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        product = product > SS_MAX_PARTS ? product : product * c->degree[d];
    if (product > SS_MAX_PARTS)
        ss_lua_refuse(L, "%s: the degrees make more than %d parts", what, SS_MAX_PARTS);
    c->parts = (uint32_t)product;
    lua_pushliteral(L, "devices");
    if (lua_rawget(L, index) == LUA_TNIL)
        ss_lua_refuse(L, "%s: option 'devices' is missing (a device for each part, or one for all)",
                      what);
    uint32_t n;
    const ss_device *device = read_devices(L, lua_gettop(L), topology, what, &n);
    if (n != c->parts && n != 1)
        ss_lua_refuse(L, "%s: option 'devices' lists %u, and the degrees make %u part%s", what,
                      (unsigned)n, (unsigned)c->parts, ss_plural(c->parts));
    c->device = lua_newuserdatauv(L, c->parts * sizeof *c->device, 0);
    for (uint32_t k = 0; k < c->parts; k++)
        c->device[k] = device[n == 1 ? 0 : k];
    lua_setiuservalue(L, top + 1, 1);
    lua_settop(L, top + 1);
    return c;
}

/* strategy:set(operator, { degrees =, devices = }) -> the strategy */
static int strategy_set(lua_State *L)
{
    ss_lua_strategy *s = check(L, 1);
    const ss_model *m = s->strategy->model;
    ss_op op = ss_lua_op(L, 2, m, "strategy:set: the operator");
    char what[PATH];
    ss_lua_name(what, sizeof what, "strategy:set: operator %.80s", m->op[op.i].name);
    int unused;
    ss_lua_opts(L, 3, set_list, what, &unused);
    lua_settop(L, 3);
    ss_lua_box_push_held(L, 1, HOLD_PROBLEM); /* 4 */
    ss_lua_box_push_held(L, 4, 1);            /* 5: the topology */

    const ss_config *now = &s->strategy->config[op.i];
    uint32_t degree[SS_MAX_DIMS], rank = m->op[op.i].def->out[0].rank, n = now->parts;
    memcpy(degree, now->degree, sizeof degree);
    const ss_device *device = now->device;
    if (lua_istable(L, 3)) {
        lua_pushliteral(L, "degrees");
        lua_rawget(L, 3); /* 6 */
        if (!lua_isnil(L, 6))
            read_degrees(L, 6, m->op[op.i].def, what, degree);
        lua_pushliteral(L, "devices");
        lua_rawget(L, 3); /* 7 */
        if (!lua_isnil(L, 7))
            device = read_devices(L, 7, 5, what, &n);
    }

    ss_error err;
    if (ss_strategy_set(s->strategy, op, degree, rank, device, n, &err))
        return ss_lua_raise(L, &err);

    s->changed = true;
    lua_settop(L, 1);
    return 1;
}

/* strategy:pin(operator, what) -> the strategy; what: "all", "degrees", "devices", a dimension */
static int strategy_pin(lua_State *L)
{
    ss_lua_strategy *s = check(L, 1);
    const ss_model *m = s->strategy->model;
    ss_op op = ss_lua_op(L, 2, m, "strategy:pin: the operator");
    const char *word =
        lua_isnoneornil(L, 3) ? "all" : ss_lua_text(L, 3, "strategy:pin: what is to be pinned");
    const ss_op_def *def = m->op[op.i].def;
    const char *names[3 + SS_MAX_DIMS] = {"all", "degrees", "devices"};
    static const ss_pin pins[] = {SS_PIN_ALL, SS_PIN_DEGREES, SS_PIN_DEVICES};
    uint32_t n = 3, found = 0;
    for (uint32_t d = 0; d < def->out[0].rank; d++)
        names[n++] = def->dim[d].name;
    while (found < n && strcmp(names[found], word) != 0)
        found++;
    if (found == n)
        return ss_lua_unknown(L, "strategy:pin: there is nothing called", word, names, n);

    ss_error err;
    if (found < 3 ? ss_strategy_pin(s->strategy, op, pins[found], &err)
                  : ss_strategy_pin_degree(s->strategy, op, found - 3, &err))
        return ss_lua_raise(L, &err);

    lua_settop(L, 1);
    return 1;
}

/* strategy:unpin(operator) -> the strategy */
static int strategy_unpin(lua_State *L)
{
    ss_lua_strategy *s = check(L, 1);
    ss_strategy_unpin(s->strategy,
                      ss_lua_op(L, 2, s->strategy->model, "strategy:unpin: the operator"));
    lua_settop(L, 1);
    return 1;
}

/* -- asking it -------------------------------------------------------------------------------- */

/* { degrees = { n = 4 }, parts = 4, devices = { 1, 2, 3, 4 }, pinned = { "devices" } } */
static void push_config(lua_State *L, const ss_strategy *s, ss_op op)
{
    const ss_config *c = &s->config[op.i];
    const ss_op_def *def = s->model->op[op.i].def;
    uint32_t rank = def->out[0].rank;
    lua_Integer pins = 0;
    lua_createtable(L, 0, 4);
    lua_createtable(L, 0, (int)rank);
    for (uint32_t d = 0; d < rank; d++)
        ss_lua_set_integer(L, def->dim[d].name, c->degree[d]);
    lua_setfield(L, -2, "degrees");
    ss_lua_set_integer(L, "parts", c->parts);
    lua_createtable(L, (int)c->parts, 0);
    for (uint32_t k = 0; k < c->parts; k++) {
        lua_pushinteger(L, c->device[k].i);
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    lua_setfield(L, -2, "devices");
    lua_newtable(L);
    for (uint32_t d = 0; d < rank; d++) {
        if (!ss_strategy_pinned_degree(s, op, d))
            continue;
        lua_pushstring(L, def->dim[d].name);
        lua_rawseti(L, -2, ++pins);
    }
    if (s->pin[op.i] & SS_PIN_DEVICES) {
        lua_pushliteral(L, "devices");
        lua_rawseti(L, -2, ++pins);
    }
    lua_setfield(L, -2, "pinned");
}

/* strategy:get(operator) -> table */
static int strategy_get(lua_State *L)
{
    ss_lua_strategy *s = check(L, 1);
    push_config(L, s->strategy, ss_lua_op(L, 2, s->strategy->model, "strategy:get: the operator"));
    return 1;
}

static bool same_config(const ss_config *a, const ss_config *b)
{
    return a->parts == b->parts && !memcmp(a->degree, b->degree, sizeof a->degree) &&
           !memcmp(a->device, b->device, a->parts * sizeof *a->device);
}

/* Pushes the list of { op =, here =, there = } and what a person reads of it. */
static int push_diff(lua_State *L, const ss_strategy *a, const ss_strategy *b)
{
    lua_newtable(L);
    for (uint32_t i = 1, n = 0; i <= a->ops; i++) {
        if (same_config(&a->config[i], &b->config[i]))
            continue;
        lua_createtable(L, 0, 3);
        ss_lua_set_text(L, "op", a->model->op[i].name);
        push_config(L, a, (ss_op){i});
        lua_setfield(L, -2, "here");
        push_config(L, b, (ss_op){i});
        lua_setfield(L, -2, "there");
        lua_rawseti(L, -2, ++n);
    }
    int list = lua_gettop(L);
    ss_text *text = ss_lua_text_new(L);

    ss_error err;
    if (ss_strategy_diff(a, b, text, NULL, &err))
        return ss_lua_raise(L, &err);

    lua_pushvalue(L, list);
    return 1 + ss_lua_text_push(L, text);
}

/* strategy:diff(other) -> list of { op =, here =, there = }, text */
static int strategy_diff(lua_State *L)
{
    const ss_strategy *a = check(L, 1)->strategy, *b = check(L, 2)->strategy;
    if (a->model != b->model)
        return ss_lua_refuse(L,
                             "strategy:diff: one is of model %s, the other of another object (%s): "
                             "make both of problems with the same model",
                             a->model->name, b->model->name);
    return push_diff(L, a, b);
}

/* strategy:save(path) */
static int strategy_save(lua_State *L)
{
    ss_lua_strategy *s = check(L, 1);
    const char *path = ss_lua_text(L, 2, "strategy:save: the path");

    ss_error err;
    if (ss_strategy_check_place(path, &err) || ss_strategy_save(s->strategy, path, &err))
        return ss_lua_raise(L, &err);
    return 0;
}

static int strategy_same(lua_State *L)
{
    ss_lua_box *a = ss_lua_box_test(L, 1, &ss_lua_strategy_type);
    ss_lua_box *b = ss_lua_box_test(L, 2, &ss_lua_strategy_type);
    const ss_strategy *x = a ? ((ss_lua_strategy *)a->object)->strategy : NULL;
    const ss_strategy *y = b ? ((ss_lua_strategy *)b->object)->strategy : NULL;
    lua_pushboolean(L, x && y && x->model == y->model && x->topology == y->topology &&
                           ss_strategy_same(x, y));
    return 1;
}

/* strategy:copy({ name = }) -> strategy */
static int strategy_copy(lua_State *L)
{
    ss_lua_strategy *s = check(L, 1);
    ready_options o = {0};
    ss_lua_opts(L, 2, plain_list, "strategy:copy", &o);
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_strategy_type);
    int at = lua_gettop(L);
    ss_lua_box_push_held(L, 1, HOLD_PROBLEM);
    ss_lua_box_hold(L, at, HOLD_PROBLEM, at + 1);
    lua_settop(L, at);

    ss_error err;
    ss_strategy *copy = NULL;
    ss_lua_strategy *wrapped = NULL;
    if (ss_strategy_copy(s->strategy, &copy, &err) || wrap(copy, o.name, s->name, &wrapped, &err))
        return ss_lua_raise(L, &err);

    wrapped->named = o.name || s->named;
    wrapped->changed = s->changed && !o.name;
    box->object = wrapped;
    return 1;
}

static int get_name(lua_State *L, int index)
{
    const ss_lua_strategy *s = check(L, index);
    ss_lua_strategy_push_name(L, s);
    return 1;
}

static int get_problem(lua_State *L, int index)
{
    ss_lua_box_push_held(L, index, HOLD_PROBLEM);
    return 1;
}

static int strategy_text(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_strategy_type.name);
    if (box->closed || !box->object) {
        lua_pushliteral(L, "strategy (closed)");
        return 1;
    }
    ss_text *text = ss_lua_text_new(L);

    ss_error err;
    if (ss_strategy_print(((ss_lua_strategy *)box->object)->strategy, text, &err))
        return ss_lua_raise(L, &err);

    return ss_lua_text_push(L, text);
}

static const ss_lua_field strategy_fields[] = {
    {"name", get_name, "its kind, or the name that was given"},
    {"problem", get_problem, "what it is a strategy for"},
    {NULL, NULL, NULL},
};

static const ss_lua_method strategy_methods[] = {
    {"set", strategy_set, "(operator, { degrees =, devices = }): cuts and places one operator"},
    {"get", strategy_get, "(operator) -> table: degrees, parts, devices, pinned"},
    {"pin", strategy_pin, "(operator, what): all, degrees, devices or a dimension stays as it is"},
    {"unpin", strategy_unpin, "(operator): takes its pins away"},
    {"apply", strategy_apply, "(kind, options): a ready-made one, around what is pinned"},
    {"copy", strategy_copy, "({ name = }) -> strategy: one that can be changed on its own"},
    {"diff", strategy_diff, "(other) -> list of { op, here, there }, text: where they differ"},
    {"save", strategy_save, "(path): for problem:load_strategy"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_strategy_type = {
    .name = "soapstone.strategy",
    .noun = "strategy",
    .free = free_strategy,
    .fields = strategy_fields,
    .methods = strategy_methods,
    .text = strategy_text,
    .same = strategy_same,
};
