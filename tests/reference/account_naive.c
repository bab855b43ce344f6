#include "reference/account_naive.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool concerns(const ss_task_label *label, ss_device d)
{
    return label->kind == SS_TASK_TRANSFER && (label->from.i == d.i || label->to.i == d.i);
}

static bool under_way(const ss_tasks *t, const ss_timeline *l, ss_device d, ss_time at)
{
    for (uint32_t i = 1; i <= t->n; i++)
        if (concerns(&t->label[i], d) && l->start[i] <= at &&
            at < ss_timeline_finish(t, l, (ss_task){i}))
            return true;
    return false;
}

static int by_size(const void *a, const void *b)
{
    ss_time x = *(const ss_time *)a, y = *(const ss_time *)b;
    return x < y ? -1 : x > y;
}

ss_time naive_communicating(const ss_tasks *t, const ss_timeline *l, ss_device d)
{
    ss_time *instant = malloc(((size_t)t->n * 2 + 1) * sizeof *instant), sum = 0;
    uint32_t n = 0;
    if (!instant)
        abort();
    for (uint32_t i = 1; i <= t->n; i++) {
        instant[n++] = l->start[i];
        instant[n++] = ss_timeline_finish(t, l, (ss_task){i});
    }
    qsort(instant, n, sizeof *instant, by_size);
    for (uint32_t i = 0; i + 1 < n; i++)
        if (instant[i + 1] > instant[i] && under_way(t, l, d, instant[i]))
            sum += instant[i + 1] - instant[i];
    free(instant);
    return sum;
}

int64_t naive_held(const ss_holds *h, const ss_timeline *l, ss_device d, ss_time at,
                   int64_t by[SS_HELD_KINDS])
{
    int64_t sum = 0;
    memset(by, 0, SS_HELD_KINDS * sizeof *by);
    for (uint32_t i = 0; i < h->n; i++) {
        const ss_hold *one = &h->hold[i];
        bool begun = !one->from.i || l->start[one->from.i] <= at, over = one->untils > 0;
        for (uint32_t k = 0; k < one->untils; k++)
            over = over && l->end[h->until[one->first_until + k].i] <= at;
        if (one->device.i != d.i || !begun || over)
            continue;
        by[one->what] += one->bytes;
        sum += one->bytes;
    }
    return sum;
}
