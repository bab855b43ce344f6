/* lua_execute.c - problem:execute, problem:proof and problem:without_kernels: a strategy's task graph with real operators
 * on this machine. */
#include <math.h>
#include <string.h>

#include <lauxlib.h>

#include "base/mem.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"
#include "validation/executor/execution.h"
#include "validation/operators/onednn.h"

typedef struct execute_options {
    uint32_t steps, warmup;
    double seed, rate;
    bool pinned;
} execute_options;

#define COMMON_OPTIONS                                                                             \
    {.name = "seed",                                                                               \
     .kind = SS_OPT_QUANTITY,                                                                      \
     .at = offsetof(execute_options, seed),                                                        \
     .preset = 1,                                                                                  \
     .min = 0,                                                                                     \
     .max = 0x1p53,                                                                                \
     .help = "of weights, inputs and labels"},                                                     \
        {.name = "rate",                                                                           \
         .kind = SS_OPT_QUANTITY,                                                                  \
         .at = offsetof(execute_options, rate),                                                    \
         .preset = 0.001,                                                                          \
         .min = 0,                                                                                 \
         .max = 1e6,                                                                               \
         .help = "of updates"},                                                                    \
    {                                                                                              \
        .name = "pinned", .kind = SS_OPT_FLAG, .at = offsetof(execute_options, pinned),            \
        .preset = 1, .help = "each device has a core of its own"                                   \
    }

static const ss_opt execute_list[] = {{.name = "steps",
                                       .kind = SS_OPT_COUNT,
                                       .at = offsetof(execute_options, steps),
                                       .preset = 5,
                                       .min = 1,
                                       .max = 1e6,
                                       .help = "how many are measured"},
                                      {.name = "warmup",
                                       .kind = SS_OPT_COUNT,
                                       .at = offsetof(execute_options, warmup),
                                       .preset = 1,
                                       .min = 0,
                                       .max = 1e6,
                                       .help = "how many before, which are not"},
                                      COMMON_OPTIONS,
                                      {0}};

static const ss_opt proof_list[] = {COMMON_OPTIONS, {0}};

/* ---- one execution and what it needs ------------------------------------------------------- */

typedef struct execution {
    ss_kernels *kernels;
    ss_kernel_maker maker;
    ss_lowered lowered;
    ss_execution *execution;
    ss_timeline line;
} execution;

static void close_execution(execution *x)
{
    ss_execution_free(x->execution);
    ss_kernels_free(x->kernels);
    ss_lowered_free(&x->lowered);
    ss_timeline_free(&x->line);
    *x = (execution){0};
}

static ss_status lower(const ss_lua_problem *p, const ss_strategy *s, ss_lowered *out,
                       ss_error *err)
{
    ss_lower_options o = p->options;
    o.chance = NULL; /* what happens is measured */
    if (o.links == SS_LINKS_SHARED)
        o.links = SS_LINKS_FIFO_PATH; /* a copy holds its link for as long as it takes */
    return ss_lower(p->model, p->topology, p->routes, s, &p->timer, &o, out, err);
}

static ss_status open_execution(execution *x, const ss_lua_problem *p, const ss_strategy *s,
                                const execute_options *o, ss_error *err)
{
    ss_execution_options e = ss_execution_options_start();
    e.seed = (uint64_t)o->seed;
    e.rate = o->rate;
    e.pinned = o->pinned;
    ss_status status = ss_kernels_new(&x->kernels, err);
    if (status)
        return status;
    x->maker = ss_kernels_maker(x->kernels);
    status = lower(p, s, &x->lowered, err);
    return status ? status
                  : ss_execution_new(p->model, p->topology, s, &x->lowered, &x->maker, &e,
                                     &x->execution, err);
}

/* ---- problem:execute ----------------------------------------------------------------------- */

static ss_status keep_step(const execution *x, const ss_lua_problem *p, const ss_strategy *s,
                           const char *name, ss_lua_result *r, ss_error *err)
{
    ss_lowered again = {0};
    r->model = p->model;
    r->topology = p->topology;
    r->name = ss_strdup(name);
    ss_status status = r->name ? SS_OK : ss_fail_memory(err, "a result", strlen(name));
    if (!status)
        status = ss_strategy_copy(s, &r->strategy, err);
    if (!status)
        status = lower(p, s, &again, err);
    if (status) {
        ss_lowered_free(&again);
        return status;
    }
    status =
        ss_result_of_line(p->model, p->topology, p->routes, s, &again, &x->line, &r->result, err);
    if (status)
        return status;
    r->result->costs = ss_strdup("measured: the step was executed");
    return r->result->costs ? SS_OK : ss_fail_memory(err, "a result", 1);
}

static ss_status all_steps(execution *x, const ss_lua_problem *p, const ss_strategy *s,
                           const execute_options *o, const char *name, ss_lua_result **row,
                           double *loss, const ss_watch *watch, ss_error *err)
{
    ss_status status = open_execution(x, p, s, o, err);
    uint32_t all = o->warmup + o->steps;
    for (uint32_t i = 0; i < all && !status; i++) {
        status = ss_look_up(watch, "executing steps", i, all, err);
        if (!status)
            status = ss_execution_step(x->execution, &x->line, err);
        if (status || i < o->warmup)
            continue;
        loss[i - o->warmup] = ss_execution_loss(x->execution);
        status = keep_step(x, p, s, name, row[i - o->warmup], err);
    }
    return status;
}

/* problem:execute(strategy, options) -> results, losses */
int ss_lua_problem_execute(lua_State *L)
{
    static const char what[] = "problem:execute";
    ss_lua_problem *p = ss_lua_check(L, 1, &ss_lua_problem_type);
    ss_lua_strategy *s = ss_lua_check(L, 2, &ss_lua_strategy_type);
    execute_options o;
    ss_lua_refuse_other(L, what, p, s->strategy);
    ss_lua_opts(L, 3, execute_list, what, &o);
    lua_settop(L, 3);
    const char *name = ss_lua_strategy_push_name(L, s);
    lua_createtable(L, (int)o.steps, 0);
    int list = lua_gettop(L);
    ss_lua_result **row = lua_newuserdatauv(L, o.steps * sizeof *row, 0);
    double *loss = lua_newuserdatauv(L, o.steps * sizeof *loss, 0);
    for (uint32_t i = 0; i < o.steps; i++) {
        row[i] = ss_lua_result_push_empty(L);
        ss_lua_box_hold(L, lua_gettop(L), SS_LUA_HOLD_PROBLEM, 1);
        lua_rawseti(L, list, (lua_Integer)i + 1);
    }

    ss_error err;
    execution x = {0};
    const ss_watch *watch = ss_lua_watch(L);
    ss_status status = all_steps(&x, p, s->strategy, &o, name, row, loss, watch, &err);
    ss_look_away(watch);
    close_execution(&x);
    if (status)
        return ss_lua_raise(L, &err);

    lua_pushvalue(L, list);
    lua_createtable(L, (int)o.steps, 0);
    for (uint32_t i = 0; i < o.steps; i++) {
        lua_pushnumber(L, loss[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 2;
}

/* ---- problem:proof ------------------------------------------------------------------------- */

typedef struct proof {
    double outputs, gradients, weights, loss; /* the worst, of the largest number of its tensor */
    const char *worst_output, *worst_gradient, *worst_weight;
} proof;

static double difference(const float *a, const float *b, int64_t n)
{
    double most = 0, largest = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = fabs((double)a[i] - (double)b[i]);
        most = x > most || isnan(x) ? x : most;
        largest = fmax(largest, fabs((double)b[i]));
    }
    return largest > 0 ? most / largest : most;
}

static void worse(double off, const char *name, double *most, const char **whose)
{
    if (!(off <= *most)) {
        *most = off;
        *whose = name;
    }
}

static void compare_weight(const ss_model *m, ss_weight w, const execution *a, const execution *b,
                           float *mine, float *whole, proof *out)
{
    int64_t n = ss_shape_elements(&m->weight[w.i].shape);
    bool server = a->lowered.options.sync == SS_SYNC_PARAMETER_SERVER; /* which alone has the sum */
    uint32_t holders = ss_execution_holders(a->execution, w);
    for (int gradient = 0; gradient < 2; gradient++)
        for (uint32_t h = 0; h < (gradient && server ? 1 : holders); h++) {
            ss_execution_weight(a->execution, w, h, gradient, mine);
            ss_execution_weight(b->execution, w, 0, gradient, whole);
            double off = difference(mine, whole, n);
            if (gradient)
                worse(off, m->weight[w.i].name, &out->gradients, &out->worst_gradient);
            else
                worse(off, m->weight[w.i].name, &out->weights, &out->worst_weight);
        }
}

static ss_status compare(const ss_model *m, const execution *a, const execution *b, proof *out,
                         ss_error *err)
{
    int64_t most = 1;
    for (uint32_t t = 1; t <= m->tensors; t++)
        most = ss_shape_elements(&m->tensor[t].shape) > most
                   ? ss_shape_elements(&m->tensor[t].shape)
                   : most;
    for (uint32_t w = 1; w <= m->weights; w++)
        most = ss_shape_elements(&m->weight[w].shape) > most
                   ? ss_shape_elements(&m->weight[w].shape)
                   : most;
    float *mine = ss_alloc(2 * (size_t)most * sizeof *mine), *whole = mine ? mine + most : NULL;
    if (!mine)
        return ss_fail_memory(err, "what is compared", 2 * (size_t)most * sizeof *mine);
    for (uint32_t t = 1; t <= m->tensors; t++) {
        if (!m->tensor[t].producer.i)
            continue;
        ss_execution_output(a->execution, (ss_tensor){t}, mine);
        ss_execution_output(b->execution, (ss_tensor){t}, whole);
        worse(difference(mine, whole, ss_shape_elements(&m->tensor[t].shape)), m->tensor[t].name,
              &out->outputs, &out->worst_output);
    }
    for (uint32_t w = 1; w <= m->weights; w++)
        compare_weight(m, (ss_weight){w}, a, b, mine, whole, out);
    ss_free(mine);
    double x = ss_execution_loss(a->execution), y = ss_execution_loss(b->execution);
    out->loss = y != 0 ? fabs(x / y - 1) : fabs(x);
    return SS_OK;
}

static ss_status prove(const ss_lua_problem *p, const ss_strategy *s, const execute_options *o,
                       proof *out, ss_error *err)
{
    execution a = {0}, b = {0};
    ss_strategy *whole = NULL;
    ss_status status = ss_strategy_new(p->model, p->topology, &whole, err);
    if (!status)
        status = open_execution(&a, p, s, o, err);
    if (!status)
        status = ss_execution_step(a.execution, &a.line, err);
    if (!status)
        status = open_execution(&b, p, whole, o, err);
    if (!status)
        status = ss_execution_step(b.execution, &b.line, err);
    if (!status)
        status = compare(p->model, &a, &b, out, err);
    close_execution(&a);
    close_execution(&b);
    ss_strategy_free(whole);
    return status;
}

/* problem:proof(strategy, options) -> { outputs =, gradients =, weights =, loss =, worst = { ... } } */
int ss_lua_problem_proof(lua_State *L)
{
    static const char what[] = "problem:proof";
    ss_lua_problem *p = ss_lua_check(L, 1, &ss_lua_problem_type);
    ss_lua_strategy *s = ss_lua_check(L, 2, &ss_lua_strategy_type);
    execute_options o;
    ss_lua_refuse_other(L, what, p, s->strategy);
    ss_lua_opts(L, 3, proof_list, what, &o);

    ss_error err;
    proof x = {0};
    if (prove(p, s->strategy, &o, &x, &err))
        return ss_lua_raise(L, &err);

    lua_createtable(L, 0, 5);
    ss_lua_set_number(L, "outputs", x.outputs);
    ss_lua_set_number(L, "gradients", x.gradients);
    ss_lua_set_number(L, "weights", x.weights);
    ss_lua_set_number(L, "loss", x.loss);
    lua_createtable(L, 0, 3);
    if (x.worst_output)
        ss_lua_set_text(L, "output", x.worst_output);
    if (x.worst_gradient)
        ss_lua_set_text(L, "gradient", x.worst_gradient);
    if (x.worst_weight)
        ss_lua_set_text(L, "weight", x.worst_weight);
    lua_setfield(L, -2, "worst");
    return 1;
}

/* ---- problem:without_kernels --------------------------------------------------------------- */

/* What is wrong with the first part of the operator that has no kernel; "": nothing. */
static void try_kernels(const ss_kernel_maker *maker, const ss_strategy *s, ss_op op, ss_error *why)
{
    why->text[0] = 0;
    for (uint32_t k = 0; k < s->config[op.i].parts; k++) {
        ss_kernel *kernel = NULL;
        ss_box main;
        ss_strategy_part_box(s, op, k, &main);
        if (maker->make(maker->context, s->model->op[op.i].def, &main, &kernel, why))
            return;
        ss_kernel_free(kernel);
    }
    why->text[0] = 0;
}

/* problem:without_kernels(strategy) -> list of { op =, why = }: what this machine cannot compute */
int ss_lua_problem_without_kernels(lua_State *L)
{
    ss_lua_problem *p = ss_lua_check(L, 1, &ss_lua_problem_type);
    ss_lua_strategy *s = ss_lua_check(L, 2, &ss_lua_strategy_type);
    ss_lua_refuse_other(L, "problem:without_kernels", p, s->strategy);
    lua_settop(L, 2);
    ss_error *why = lua_newuserdatauv(L, (p->model->ops + 1) * sizeof *why, 0);

    ss_error err;
    ss_kernels *kernels = NULL;
    if (ss_kernels_new(&kernels, &err))
        return ss_lua_raise(L, &err);
    ss_kernel_maker maker = ss_kernels_maker(kernels);
    for (uint32_t i = 1; i <= p->model->ops; i++)
        try_kernels(&maker, s->strategy, (ss_op){i}, &why[i]);
    ss_kernels_free(kernels);

    lua_newtable(L);
    for (uint32_t i = 1, n = 0; i <= p->model->ops; i++) {
        if (!why[i].text[0])
            continue;
        lua_createtable(L, 0, 2);
        ss_lua_set_text(L, "op", p->model->op[i].name);
        ss_lua_set_text(L, "why", why[i].text);
        lua_rawseti(L, -2, ++n);
    }
    return 1;
}
