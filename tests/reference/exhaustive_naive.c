#include "reference/exhaustive_naive.h"

ss_time exhaustive_naive(tiny *x, uint64_t *strategies)
{
    const ss_alternatives *a = &x->space;
    uint32_t row[64], best[64];
    ss_time least = SS_TIME_MAX;
    for (uint32_t i = 1; i <= a->ops; i++)
        tiny_put(x, i, row[i] = a->first[i]);
    *strategies = 0;
    for (uint32_t i = 1; i; ++*strategies) {
        ss_time cost = tiny_simulate(x);
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
