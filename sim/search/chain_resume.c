/* Bringing a chain to where a record left it. */
#include <inttypes.h>

#include "base/mem.h"
#include "search/chain_inside.h"

typedef struct replay {
    ss_strategy *now, *best;
    uint64_t accepted, step, best_step, walk_best_step; /* the last accepted; 0: the start */
    ss_time current, best_cost;
    bool walled, best_walled;
} replay;

static ss_status foreign(const ss_chain *c, uint64_t step, const char *why, ss_error *err)
{
    return ss_fail(err, SS_EFORMAT,
                   "chain %" PRIu32 ", step %" PRIu64
                   " of the record: %s; the record is damaged, or was made with other options",
                   c->number + 1, step, why);
}

static ss_status keep(ss_strategy *to, const ss_strategy *from, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t op = 1; op <= to->ops && !s; op++)
        s = ss_config_copy(&from->config[op], &to->config[op], err);
    return s;
}

static ss_status apply(const ss_chain *c, replay *r, const ss_choice *to, uint32_t n, ss_error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        const ss_config *config = &to[i].config;
        ss_status s = ss_strategy_set(r->now, to[i].op, config->degree, SS_MAX_DIMS, config->device,
                                      config->parts, err);
        if (s)
            return ss_fail_in(err, "chain %" PRIu32 ", step %" PRIu64 " of the record",
                              c->number + 1, r->step);
    }
    return SS_OK;
}

/* A wall lets nothing in that is beyond it, so after the first step that led anywhere the chain is
 * within. */
static ss_status take_step(ss_chain *c, replay *r, const ss_search_left *left, const ss_choice *to,
                           uint32_t n, ss_time cost, ss_error *err)
{
    ss_status s = apply(c, r, to, n, err);
    if (s)
        return s;
    r->accepted++;
    r->current = cost;
    r->walled = false;
    if (!r->best_walled && cost >= r->best_cost)
        return SS_OK;
    r->best_walled = false;
    r->best_cost = cost;
    r->best_step = r->step;
    if (r->step <= left->steps - left->descending)
        r->walk_best_step = r->step;
    return keep(r->best, r->now, err);
}

static ss_status take_steps(ss_chain *c, replay *r, const ss_search_past *past,
                            const ss_search_left *left, ss_error *err)
{
    for (;;) {
        const ss_choice *to = NULL;
        uint32_t n = 0;
        uint64_t step = 0;
        ss_time cost = 0;
        ss_status s = past->accepted(past->context, c->number, r->step, &step, &to, &n, &cost, err);
        if (s || !step)
            return s;
        if (step <= r->step || step > left->steps)
            return foreign(c, step, "it is out of order", err);
        r->step = step;
        s = take_step(c, r, left, to, n, cost, err);
        if (s)
            return s;
    }
}

/* The scorer holds the strategy afterwards. */
static ss_status confirm(ss_chain *c, const ss_strategy *strategy, uint64_t step, ss_time cost,
                         ss_error *err)
{
    ss_score score;
    char said[SS_QUANTITY_TEXT], found[SS_QUANTITY_TEXT];
    ss_status s = ss_scorer_start(c->scorer, strategy, &score, err);
    if (s || score.cost == cost)
        return s;
    ss_format_time(cost, said, sizeof said);
    ss_format_time(score.cost, found, sizeof found);
    return ss_fail(err, SS_EFORMAT,
                   "chain %" PRIu32 ", step %" PRIu64
                   " of the record costs %s (%lld ps) there and %s (%lld ps) here: it was made of "
                   "something else, or with other options",
                   c->number + 1, step, said, (long long)cost, found, (long long)score.cost);
}

static void stand_there(ss_chain *c, const replay *r, const ss_search_left *left)
{
    ss_search_standing *at = &c->at;
    at->steps = left->steps;
    at->accepted = r->accepted;
    at->stopped = left->stopped;
    at->infeasible = left->infeasible;
    at->fell_back = left->fell_back;
    at->current = r->current;
    at->best = r->best_cost;
    at->best_step = r->best_step;
    at->seconds = left->seconds;
    at->best_seconds = left->best_seconds;
    c->visited_shares = left->visited_share * (double)left->steps;
    c->walled = r->walled;
    c->best_walled = r->best_walled;
    c->descended = left->descended;
    c->descending = left->descending;
    uint64_t since = left->steps - r->step; /* the first of a descent is none of its candidates */
    c->barren = !left->descending ? 0 : since < left->descending ? since : left->descending - 1;
    uint64_t before = left->descended - left->descending;
    c->walk_best = r->walk_best_step > before ? r->walk_best_step - before : 0;
    ss_strategy_free(c->best);
    c->best = r->best;
    c->stales = 0;
    for (uint32_t op = 1; op <= c->best->ops; op++) {
        c->is_stale[op] = !ss_config_same(&c->best->config[op], &r->now->config[op]);
        if (c->is_stale[op])
            c->stale[c->stales++] = op;
    }
}

static ss_status read_past(ss_chain *c, replay *r, const ss_search_past *past, ss_search_left *left,
                           ss_error *err)
{
    ss_status s = past->last(past->context, c->number, left, err);
    if (s)
        return s;
    if (left->descended > left->steps || left->descending > left->descended ||
        left->best_step > left->steps)
        return foreign(c, left->steps, "its counts contradict each other", err);
    s = take_steps(c, r, past, left, err);
    if (!s && r->best_step != left->best_step)
        s = foreign(c, left->best_step, "it is not the best of those before it", err);
    if (!s)
        s = confirm(c, r->best, r->best_step, r->best_cost, err);
    return s ? s : confirm(c, r->now, r->step, r->current, err);
}

ss_status ss_chain_resume(ss_chain *c, const ss_search_past *past, ss_error *err)
{
    if (c->at.steps)
        return ss_fail(err, SS_EINVAL, "chain %" PRIu32 " has made steps of its own already",
                       c->number + 1);
    replay r = {.current = c->at.current,
                .best_cost = c->at.best,
                .walled = c->walled,
                .best_walled = c->best_walled};
    ss_search_left left = {0};
    ss_status s = ss_strategy_copy(c->best, &r.now, err);
    if (!s)
        s = ss_strategy_copy(c->best, &r.best, err);
    if (!s)
        s = read_past(c, &r, past, &left, err);
    if (s)
        ss_strategy_free(r.best);
    else
        stand_there(c, &r, &left);
    ss_strategy_free(r.now);
    return s;
}
