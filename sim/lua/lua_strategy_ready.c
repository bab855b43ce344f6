/* lua_strategy_ready.c - ready-made strategies from a script: their kinds and options. */
#include <string.h>

#include <lauxlib.h>

#include "lua/lua_strategy.h"
#include "lua/state.h"

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
    return ss_lua_strategy_wrap(s, o->name, word, out, err);
}

int ss_lua_strategy_new(lua_State *L, int problem, const char *word, int options)
{
    ss_lua_problem *p = ss_lua_check(L, problem, &ss_lua_problem_type);
    lua_pushstring(L, word);
    int kind = ss_lua_choice(L, -1, READY, "problem:strategy: the kind");
    ready_options o = read_ready(L, options, kind, p, "problem:strategy");
    ss_lua_box *box = ss_lua_strategy_box(L, problem);

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
    ss_lua_box *box = ss_lua_strategy_box(L, problem);

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

/* strategy:apply(kind, options) -> the strategy: what is pinned stays */
int ss_lua_strategy_apply(lua_State *L)
{
    ss_lua_strategy *s = ss_lua_check(L, 1, &ss_lua_strategy_type);
    ss_lua_problem *p = ((ss_lua_box *)lua_touserdata(L, 1))->holds[SS_LUA_HOLD_PROBLEM]->object;
    int kind = ss_lua_choice(L, 2, READY, "strategy:apply: the kind");
    ready_options o = read_ready(L, 3, kind, p, "strategy:apply");

    ss_error err;
    if (apply(p, s->strategy, kind, &o, &err))
        return ss_lua_raise(L, &err);
    s->changed = true;
    if (o.name && ss_lua_strategy_rename(s, o.name, &err))
        return ss_lua_raise(L, &err);

    lua_settop(L, 1);
    return 1;
}
