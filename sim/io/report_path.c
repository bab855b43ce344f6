/* report_path.c - what the critical path is made of, and what its tasks queued for. */
#include "io/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int by_group(const void *a, const void *b)
{
    const ss_contributor *x = a, *y = b;
    int names = strcmp(x->op, y->op);
    if (names)
        return names;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->cargo < y->cargo ? -1 : x->cargo > y->cargo;
}

static int by_weight(const void *a, const void *b)
{
    const ss_contributor *x = a, *y = b;
    ss_time tx = x->active + x->queueing, ty = y->active + y->queueing;
    if (tx != ty)
        return tx > ty ? -1 : 1;
    return by_group(a, b);
}

static ss_time waited_for(const ss_view *v, uint32_t task)
{
    return v->task[task].start - v->task[task].ready;
}

static void fold(const ss_view *v, ss_contributor *into, const ss_contributor *one)
{
    into->tasks += one->tasks;
    into->active += one->active;
    into->queueing += one->queueing;
    if (!one->waited)
        return;
    ss_time wait = waited_for(v, one->waited);
    ss_time longest = into->waited ? waited_for(v, into->waited) : -1;
    if (wait > longest || (wait == longest && one->waited < into->waited))
        into->waited = one->waited;
}

ss_status ss_report_contributors(const ss_view *v, ss_contributor **out, uint32_t *n, ss_error *err)
{
    uint32_t steps = 0;
    for (uint32_t i = 1; i <= v->tasks; i++)
        steps += v->task[i].on_critical_path;
    ss_contributor *list = ss_alloc(steps * sizeof *list);
    if (!list)
        return ss_fail_memory(err, "the critical path", steps * sizeof *list);
    steps = 0;
    for (uint32_t i = 1; i <= v->tasks; i++) {
        const ss_view_task *t = &v->task[i];
        if (!t->on_critical_path)
            continue;
        ss_time wait = t->start - t->ready;
        list[steps++] = (ss_contributor){t->op, t->kind,         t->cargo, 1, t->finish - t->start,
                                         wait,  wait > 0 ? i : 0};
    }
    qsort(list, steps, sizeof *list, by_group);
    uint32_t groups = 0;
    for (uint32_t i = 0; i < steps; i++) {
        if (groups && !by_group(&list[groups - 1], &list[i]))
            fold(v, &list[groups - 1], &list[i]);
        else
            list[groups++] = list[i];
    }
    qsort(list, groups, sizeof *list, by_weight);
    *out = list;
    *n = groups;
    return SS_OK;
}

static int longest_first(const void *a, const void *b)
{
    const ss_waited *x = a, *y = b;
    if (x->queueing != y->queueing)
        return x->queueing > y->queueing ? -1 : 1;
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

ss_status ss_report_waited(const ss_view *v, ss_waited **out, uint32_t *n, ss_error *err)
{
    ss_waited *list = ss_alloc_zeroed((size_t)v->lanes + 1, sizeof *list);
    if (!list)
        return ss_fail_memory(err, "the critical path", v->lanes * sizeof *list);
    for (uint32_t i = 1; i <= v->tasks; i++) {
        const ss_view_task *t = &v->task[i];
        if (t->on_critical_path && t->waited && t->waited <= v->lanes)
            list[t->waited].queueing += t->start - t->ready;
    }
    *n = 0;
    for (uint32_t lane = 1; lane <= v->lanes; lane++)
        if (list[lane].queueing > 0)
            list[(*n)++] = (ss_waited){lane, list[lane].queueing};
    qsort(list, *n, sizeof *list, longest_first);
    *out = list;
    return SS_OK;
}
