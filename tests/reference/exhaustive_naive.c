#include "reference/exhaustive_naive.h"

#include "simulate/held.h"

/* By how much the strategy at hand, just simulated, passes the memories of all devices together. */
static double bytes_over(tiny *x)
{
    ss_error err;
    ss_holds holds = {0};
    ss_held_account account = {0};
    double over = 0;
    net_must(ss_lower_holds(x->model, x->strategy, &x->lowered, &holds, &err), &err);
    net_must(ss_held_account_make(&holds, &x->timeline, x->topology->devices, &account, &err),
             &err);
    for (uint32_t d = 1; d <= x->topology->devices; d++) {
        double has = x->topology->device[d].def.memory_bytes, needs = (double)account.peak[d].bytes;
        if (has > 0 && needs > has)
            over += needs - has;
    }
    ss_held_account_free(&account);
    ss_holds_free(&holds);
    return over;
}

ss_time exhaustive_naive_cost(tiny *x, ss_memory_rule rule, double s_per_byte)
{
    ss_time cost = tiny_simulate(x);
    double over = rule == SS_MEMORY_IGNORED ? 0 : bytes_over(x);
    if (over > 0 && rule == SS_MEMORY_WALL)
        return SS_TIME_MAX;
    ss_error err;
    ss_time penalty = 0;
    if (over > 0)
        net_must(ss_time_from_seconds(over * s_per_byte, "a penalty", &penalty, &err), &err);
    return cost + penalty;
}

ss_time exhaustive_naive(tiny *x, ss_memory_rule rule, double s_per_byte, uint64_t *strategies)
{
    const ss_alternatives *a = &x->space;
    uint32_t row[64], best[64];
    ss_time least = SS_TIME_MAX;
    for (uint32_t i = 1; i <= a->ops; i++)
        tiny_put(x, i, best[i] = row[i] = a->first[i]);
    *strategies = 0;
    for (uint32_t i = 1; i; ++*strategies) {
        ss_time cost = exhaustive_naive_cost(x, rule, s_per_byte);
        if (cost < least) {
            least = cost;
            memcpy(best, row, sizeof best);
        }
        for (i = a->ops; i; i--) {
            if (++row[i] < a->first[i + 1]) {
                tiny_put(x, i, row[i]);
                break;
            }
            tiny_put(x, i, row[i] = a->first[i]);
        }
    }
    for (uint32_t i = 1; i <= a->ops; i++)
        tiny_put(x, i, best[i]);
    return least;
}
