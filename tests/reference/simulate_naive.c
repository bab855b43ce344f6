#include "simulate_naive.h"

#include <stdlib.h>

/* Latest finish of the predecessors; -1 if one of them is not done. */
static ss_time ready_at(const ss_tasks *t, uint32_t i, const char *done, const ss_time *end)
{
    ss_time latest = 0;
    for (uint32_t e = t->first_in[i]; e < t->first_in[i + 1]; e++) {
        uint32_t p = t->in[e];
        if (!done[p])
            return -1;
        ss_time finish = end[p];
        if (t->where[p] <= t->devices + t->links)
            finish += t->lag[t->where[p]];
        if (finish > latest)
            latest = finish;
    }
    return latest;
}

uint32_t simulate_naive(const ss_tasks *t, ss_time *ready, ss_time *start, ss_time *end)
{
    char *done = calloc(t->n + 1, 1);
    ss_time *free_at = calloc((size_t)t->devices + t->links + 1, sizeof *free_at);
    uint32_t ran = 0;
    while (done && free_at && ran < t->n) {
        uint32_t next = 0;
        for (uint32_t i = 1; i <= t->n; i++) {
            if (done[i])
                continue;
            ss_time r = ready_at(t, i, done, end);
            if (r >= 0 &&
                (next == 0 || r < ready[next])) { /* i grows, so equal keeps the smaller */
                ready[i] = r;
                next = i;
            }
        }
        if (next == 0)
            break;
        uint32_t n;
        const uint32_t *resource = ss_tasks_resources(t, (ss_task){next}, &n);
        start[next] = ready[next];
        for (uint32_t k = 0; k < n; k++)
            if (free_at[resource[k]] > start[next])
                start[next] = free_at[resource[k]];
        end[next] = start[next] + t->hold[next];
        for (uint32_t k = 0; k < n; k++)
            free_at[resource[k]] = end[next];
        done[next] = 1;
        ran++;
    }
    free(done);
    free(free_at);
    return ran;
}
