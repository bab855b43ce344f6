#include "simulate/slowed.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* ---- what happened to links ---------------------------------------------------------------- */

/* The own bandwidth of a link that failed comes back with it. */
static void follow(ss_link_past *now, double *own, bool *failed, const ss_change *c)
{
    if (c->kind == SS_CHANGE_LINK) {
        *own = ss_change_bytes_per_s(c, *own);
        now->latency_s = c->latency_s < 0 ? now->latency_s : c->latency_s;
    } else {
        *failed = c->kind == SS_CHANGE_LINK_FAILS;
    }
    now->at = c->at;
    now->bytes_per_s = *failed ? 0 : *own;
}

typedef struct keyed {
    uint32_t link, row; /* of the changes */
} keyed;

static int by_link_then_row(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

ss_status ss_slowed_start(ss_slowed *s, const ss_tasks *tasks, const ss_timeline *line,
                          const ss_change *change, uint32_t changes, ss_error *err)
{
    uint32_t n = 0;
    *s = (ss_slowed){.tasks = tasks, .line = line};
    if (tasks->mode != SS_LINKS_SHARED || !changes)
        return SS_OK;
    keyed *key = ss_alloc(changes * sizeof *key);
    s->past = ss_alloc(changes * sizeof *s->past);
    if (!key || !s->past) {
        ss_free(key);
        ss_slowed_free(s);
        return ss_fail_memory(err, "what happened to links", changes * sizeof *s->past);
    }
    for (uint32_t i = 0; i < changes; i++)
        if (change[i].kind <= SS_CHANGE_LINK_WORKS)
            key[n++] = (keyed){change[i].who, i};
    qsort(key, n, sizeof *key, by_link_then_row);
    ss_link_past now = {0};
    double own = 0;
    bool failed = false;
    for (uint32_t i = 0; i < n; i++) {
        if (now.link != key[i].link) {
            now = (ss_link_past){.link = key[i].link, .latency_s = tasks->latency_s[key[i].link]};
            own = tasks->bytes_per_s[key[i].link];
            failed = false;
        }
        follow(&now, &own, &failed, &change[key[i].row]);
        s->past[s->pasts++] = now;
    }
    ss_free(key);
    return SS_OK;
}

void ss_slowed_free(ss_slowed *s)
{
    ss_free(s->past);
    s->past = NULL;
    s->pasts = 0;
}

/* The first row of the link that is later than `time`, or where it would stand. */
static uint32_t row_after(const ss_slowed *s, uint32_t link, ss_time time)
{
    uint32_t low = 0, high = s->pasts;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const ss_link_past *p = &s->past[middle];
        if (p->link < link || (p->link == link && p->at <= time))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* NULL: as at the start. */
static const ss_link_past *past_at(const ss_slowed *s, uint32_t link, ss_time time)
{
    uint32_t row = row_after(s, link, time);
    return row && s->past[row - 1].link == link ? &s->past[row - 1] : NULL;
}

/* ---- a flow alone -------------------------------------------------------------------------- */

typedef struct flow {
    const uint32_t *resource;
    uint32_t n, path;
    double bytes;
    ss_time start, hold;
} flow;

static flow flow_of(const ss_slowed *s, uint32_t i)
{
    const ss_tasks *t = s->tasks;
    flow f = {.path = t->where[i] - t->devices - t->links,
              .bytes = (double)ss_tasks_flow(t, (ss_task){i}),
              .start = s->line->start[i],
              .hold = t->hold[i]};
    f.resource = ss_tasks_resources(t, (ss_task){i}, &f.n);
    return f;
}

/* What the flow has at a time, and until when. */
static double rate_at(const ss_slowed *s, const flow *f, ss_time time, ss_time *until)
{
    double narrowest = INFINITY;
    ss_path_limit by_size = ss_path_limit_of(s->tasks, f->path);
    *until = SS_TIME_MAX;
    for (uint32_t k = 0; k < f->n; k++) {
        uint32_t link = f->resource[k] - s->tasks->devices, row = row_after(s, link, time);
        const ss_link_past *past = past_at(s, link, time);
        double rate = past ? past->bytes_per_s : s->tasks->bytes_per_s[link];
        narrowest = fmin(narrowest, rate);
        ss_path_limit_next(&by_size, rate);
        if (row < s->pasts && s->past[row].link == link && s->past[row].at < *until)
            *until = s->past[row].at;
    }
    double limit = ss_path_limit_end(&by_size);
    return limit > 0 ? fmin(narrowest, limit) : narrowest;
}

/* Its latency is that of its start. */
static ss_time latency_of(const ss_slowed *s, const flow *f)
{
    double more_s = 0;
    for (uint32_t k = 0; k < f->n; k++) {
        uint32_t link = f->resource[k] - s->tasks->devices;
        const ss_link_past *past = past_at(s, link, f->start);
        more_s += past ? past->latency_s - s->tasks->latency_s[link] : 0;
    }
    return f->hold + (ss_time)llrint(more_s * (double)SS_PICOSECONDS);
}

/* What a flow and its latency take where nobody else is, in picoseconds; *pieces: each may round one. */
static double time_alone(const ss_slowed *s, const flow *f, ss_time *pieces)
{
    ss_time at = f->start + latency_of(s, f), until;
    double left = f->bytes;
    for (*pieces = 0;; ++*pieces) {
        double rate = rate_at(s, f, at, &until), takes = left / rate * SS_PICOSECONDS;
        if (until == SS_TIME_MAX || takes <= (double)(until - at))
            return (double)(at - f->start) + takes;
        left -= rate * (double)(until - at) / SS_PICOSECONDS;
        at = until;
    }
}

double ss_slowed_alone(const ss_slowed *s, ss_task task)
{
    ss_time pieces;
    flow f = flow_of(s, task.i);
    return time_alone(s, &f, &pieces);
}

ss_time ss_slowed_of(const ss_slowed *s, ss_task task)
{
    if (!ss_tasks_flows(s->tasks, task))
        return 0;
    flow f = flow_of(s, task.i);
    ss_time took = s->line->end[task.i] - f.start, pieces;
    double alone = time_alone(s, &f, &pieces);
    if (!(alone < (double)took))
        return 0;
    ss_time slowed = took - (ss_time)llrint(alone);
    return slowed > pieces ? slowed : 0;
}
