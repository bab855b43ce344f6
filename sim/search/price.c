#include "search/price.h"

ss_status ss_price_add(ss_price *p, const ss_strategy *strategy, const ss_lowered *l,
                       const ss_timeline *timeline, ss_score *score, ss_error *err)
{
    if (p->rule == SS_MEMORY_IGNORED)
        return SS_OK;
    const ss_topology *t = strategy->topology;
    ss_status status = ss_lower_holds(strategy->model, strategy, l, &p->holds, err);
    if (!status)
        status = ss_held_account_make(&p->holds, timeline, t->devices, &p->account, err);
    if (status)
        return status;
    double over = ss_held_excess(&p->account, t);
    score->infeasible = over > 0;
    if (p->rule != SS_MEMORY_PENALTY || !score->infeasible)
        return SS_OK;
    ss_time penalty;
    status = ss_time_from_seconds(over * p->s_per_byte, "the penalty for memory", &penalty, err);
    return status ? status : ss_time_add(score->cost, penalty, &score->cost, err);
}

void ss_price_free(ss_price *p)
{
    ss_holds_free(&p->holds);
    ss_held_account_free(&p->account);
    *p = (ss_price){0};
}
