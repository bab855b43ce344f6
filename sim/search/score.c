#include "search/score_inside.h"

#include <math.h>

#include "base/array.h"
#include "base/mem.h"

ss_score_options ss_score_options_start(void)
{
    return (ss_score_options){.way = SS_SCORE_DELTA,
                              .early_stop = true,
                              .memory = SS_MEMORY_IGNORED,
                              .penalty_s_per_byte = 1e-9,
                              .lower = ss_lower_options_start()};
}

/* --------------------------------------------------------------------------------- making one */

static ss_status check_options(const ss_score_options *o, ss_error *err)
{
    if ((unsigned)o->memory > SS_MEMORY_PENALTY)
        return ss_fail(err, SS_EINVAL, "no rule of memory has the number %d", (int)o->memory);
    if (o->memory == SS_MEMORY_PENALTY &&
        !(o->penalty_s_per_byte >= 0 && isfinite(o->penalty_s_per_byte)))
        return ss_fail(err, SS_EINVAL,
                       "the penalty for memory is %g seconds for each byte: it must be 0 or more",
                       o->penalty_s_per_byte);
    return SS_OK;
}

static ss_status open_parts(ss_scorer *s, const ss_costs *costs, ss_error *err)
{
    ss_status status =
        ss_chance_step(s->options.lower.chance, s->options.lower.repetition, &s->step, err);
    if (!status)
        status = ss_costs_copy(costs, &s->costs, err);
    if (!status)
        status = ss_costs_timer(s->costs, s->topology, &s->timer, err);
    if (!status)
        status = ss_routes_new(s->topology, &s->routes, err);
    if (!status)
        status = ss_engine_new(&s->engine, err);
    return status ? status : s->kind->open(s, err);
}

ss_status ss_scorer_new_kind(const ss_model *m, const ss_topology *t, const ss_costs *costs,
                             const ss_score_options *o, const ss_score_kind *kind, ss_scorer **out,
                             ss_error *err)
{
    ss_status status = check_options(o, err);
    if (status)
        return status;
    ss_scorer *s = ss_alloc_zeroed(1, sizeof *s);
    if (!s)
        return ss_fail_memory(err, "a scorer", sizeof *s);
    s->model = m;
    s->topology = t;
    s->options = *o;
    s->price = (ss_price){.rule = o->memory, .s_per_byte = o->penalty_s_per_byte};
    s->kind = kind;
    status = open_parts(s, costs, err);
    if (status) {
        ss_scorer_free(s);
        return status;
    }
    *out = s;
    return SS_OK;
}

ss_status ss_scorer_new(const ss_model *m, const ss_topology *t, const ss_costs *costs,
                        const ss_score_options *o, ss_scorer **out, ss_error *err)
{
    bool by_run = !ss_run_options_published(&o->lower.run);
    const ss_score_kind *kind = ss_score_kind_of(by_run ? SS_SCORE_FULL : o->way);
    if (!kind)
        return ss_fail(err, SS_EUNSUPPORTED, "scoring by %s is not in this build",
                       ss_score_way_name(o->way));
    return ss_scorer_new_kind(m, t, costs, o, kind, out, err);
}

void ss_scorer_free(ss_scorer *s)
{
    if (!s)
        return;
    s->kind->close(s);
    ss_engine_free(s->engine);
    ss_routes_free(s->routes);
    ss_costs_free(s->costs);
    ss_strategy_free(s->held);
    ss_strategy_free(s->next);
    ss_free(s->changed);
    ss_price_free(&s->price);
    ss_free(s);
}

/* ------------------------------------------------------------------------------------- asking */

ss_status ss_scorer_start(ss_scorer *s, const ss_strategy *strategy, ss_score *out, ss_error *err)
{
    if (strategy->model != s->model || strategy->topology != s->topology)
        return ss_fail(
            err, SS_EINVAL, "the strategy is for model %s on topology %s; the scorer for %s on %s",
            strategy->model->name, strategy->topology->name, s->model->name, s->topology->name);
    ss_strategy *held = NULL, *next = NULL;
    ss_status status = ss_strategy_copy(strategy, &held, err);
    if (!status)
        status = ss_strategy_copy(strategy, &next, err);
    if (status) {
        ss_strategy_free(held);
        return status;
    }
    if (s->trying)
        ss_scorer_reject(s);
    ss_strategy_free(s->held);
    ss_strategy_free(s->next);
    s->held = held;
    s->next = next;
    s->started = false;
    ss_score score = {0};
    status = s->kind->start(s, &score, err);
    if (status)
        return status;
    s->started = true;
    s->now = *out = score;
    return SS_OK;
}

/* Room was made on both sides, so this cannot fail. */
static void copy_changed(ss_scorer *s, const ss_strategy *from, ss_strategy *to)
{
    for (uint32_t i = 0; i < s->changes; i++) {
        uint32_t op = s->changed[i].i;
        (void)ss_config_copy(&from->config[op], &to->config[op], NULL);
    }
}

static void take_back(ss_scorer *s)
{
    copy_changed(s, s->held, s->next);
    s->changes = 0;
}

static ss_status apply_one(ss_scorer *s, const ss_choice *choice, ss_error *err)
{
    const ss_config *c = &choice->config;
    ss_op op = choice->op;
    if (s->changes && op.i <= s->changed[s->changes - 1].i)
        return ss_fail(err, SS_EINVAL,
                       "operator %u after operator %u: changes are tried in the order of operators",
                       op.i, s->changed[s->changes - 1].i);
    ss_status status =
        ss_strategy_set(s->next, op, c->degree, SS_MAX_DIMS, c->device, c->parts, err);
    if (status)
        return status;
    s->changed[s->changes++] = op;
    ss_config *held = &s->held->config[op.i];
    return SS_RESERVE(held->device, held->cap, c->parts, "the devices of an operator's parts", err);
}

ss_status ss_scorer_try(ss_scorer *s, const ss_choice *choice, uint32_t n, ss_time bound,
                        ss_score *out, ss_error *err)
{
    if (!s->started || s->trying)
        return ss_fail(err, SS_EINVAL, "%s",
                       s->trying ? "the change tried before is neither accepted nor rejected"
                                 : "a scorer needs a strategy before changes to it");
    ss_status status = SS_RESERVE(s->changed, s->changed_cap, n, "changed operators", err);
    s->changes = 0;
    for (uint32_t i = 0; i < n && !status; i++)
        status = apply_one(s, &choice[i], err);
    ss_score score = {0};
    if (!status)
        status = s->kind->attempt(s, s->options.early_stop ? bound : SS_TIME_MAX, &score, err);
    if (status) {
        take_back(s);
        return status;
    }
    s->trying = true;
    s->tried = *out = score;
    return SS_OK;
}

ss_status ss_scorer_accept(ss_scorer *s, ss_error *err)
{
    if (!s->trying || s->tried.stopped)
        return ss_fail(err, SS_EINVAL, "%s",
                       s->trying ? "a change whose cost is not known cannot be accepted"
                                 : "no change was tried that could be accepted");
    ss_status status = s->kind->accept(s, err);
    if (status)
        return status;
    copy_changed(s, s->next, s->held);
    s->changes = 0;
    s->trying = false;
    s->now = s->tried;
    return SS_OK;
}

void ss_scorer_reject(ss_scorer *s)
{
    if (!s->trying)
        return;
    s->kind->reject(s);
    take_back(s);
    s->trying = false;
}

const ss_strategy *ss_scorer_strategy(const ss_scorer *s)
{
    return s->held;
}

const ss_score *ss_scorer_now(const ss_scorer *s)
{
    return &s->now;
}
