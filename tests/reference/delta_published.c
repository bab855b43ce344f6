#include "delta_published.h"

#include <stdlib.h>

typedef struct task {
    uint32_t before, after; /* preTask, nextTask; 0: none */
    bool queued, listed;
} task;

typedef struct run {
    const ss_live *l;
    published_times *t;
    task *task;
    uint32_t *first; /* by device */
    published_reading reading;
} run;

static bool comes_before(const run *x, uint32_t a, uint32_t b)
{
    if (x->t[a].ready != x->t[b].ready)
        return x->t[a].ready < x->t[b].ready;
    if (x->l->row[a].block != x->l->row[b].block)
        return x->l->row[a].block < x->l->row[b].block;
    return a < b;
}

static void take_out(run *x, uint32_t i)
{
    task *t = &x->task[i];
    if (t->before)
        x->task[t->before].after = t->after;
    else
        x->first[x->l->row[i].where] = t->after;
    if (t->after)
        x->task[t->after].before = t->before;
    t->before = t->after = 0;
    t->listed = false;
}

static void put_in(run *x, uint32_t i)
{
    task *t = &x->task[i];
    uint32_t *first = &x->first[x->l->row[i].where], before = 0, after = *first;
    while (after && comes_before(x, after, i)) {
        before = after;
        after = x->task[after].after;
    }
    t->before = before;
    t->after = after;
    if (before)
        x->task[before].after = i;
    else
        *first = i;
    if (after)
        x->task[after].before = i;
    t->listed = true;
}

static ss_time latest_input(const run *x, uint32_t i)
{
    ss_time ready = 0;
    for (uint32_t k = x->l->in[i].first; k < x->l->in[i].last; k++) {
        ss_time end = x->t[x->l->pool->in[k]].end;
        ready = end > ready ? end : ready;
    }
    return ready;
}

static ss_time start_of(const run *x, uint32_t i)
{
    uint32_t before = x->task[i].before;
    ss_time free = before ? x->t[before].end : 0;
    return x->t[i].ready > free ? x->t[i].ready : free;
}

static bool is_in_order(const run *x, uint32_t i)
{
    const task *t = &x->task[i];
    return (!t->before || comes_before(x, t->before, i)) &&
           (!t->after || comes_before(x, i, t->after));
}

static bool update(run *x, uint32_t i)
{
    published_times was = x->t[i];
    x->t[i].ready = latest_input(x, i);
    if (!is_in_order(x, i)) {
        uint32_t was_next = x->task[i].after;
        take_out(x, i);
        put_in(x, i);
        if (x->reading == PUBLISHED_REPAIRED) {
            x->task[was_next].queued = was_next != 0;
            x->task[x->task[i].after].queued = x->task[i].after != 0;
        }
    }
    x->t[i].start = start_of(x, i);
    return x->t[i].ready != was.ready || x->t[i].start != was.start;
}

/* The task graph, and L: what is queued. */
static void update_task_graph(run *x)
{
    const ss_live *l = x->l;
    uint32_t first_new = ss_live_first_new(l);
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++)
            if (i < first_new)
                put_in(x, i);
    for (uint32_t k = 0; k < l->gones; k++)
        for (uint32_t i = l->gone[k].first; i < l->gone[k].first + l->gone[k].n; i++)
            put_in(x, i);
    for (uint32_t k = 0; k < l->gones; k++)
        for (uint32_t i = l->gone[k].first; i < l->gone[k].first + l->gone[k].n; i++) {
            uint32_t after = x->task[i].after;
            take_out(x, i);
            if (after && x->reading != PUBLISHED_LETTER)
                x->task[after].queued = true;
        }
    for (uint32_t k = 0; k < l->gones; k++) /* of those that were next some are gone themselves */
        for (uint32_t i = l->gone[k].first; i < l->gone[k].first + l->gone[k].n; i++)
            x->task[i].queued = false;
    for (uint32_t k = 0; k < l->mades; k++)
        for (uint32_t i = l->made[k].first; i < l->made[k].first + l->made[k].n; i++) {
            x->t[i].ready = latest_input(x, i);
            put_in(x, i);
            x->t[i].start = start_of(x, i);
            x->t[i].end = x->t[i].start + l->row[i].hold;
            x->task[i].queued = true;
        }
    for (uint32_t k = 0; k < l->rewireds; k++) {
        uint32_t i = l->rewired[k].slot;
        if (latest_input(x, i) == x->t[i].ready)
            continue;
        (void)update(x, i);
        x->task[i].queued = true;
    }
}

static uint32_t dequeue(run *x)
{
    uint32_t least = 0;
    for (uint32_t i = 1; i <= x->l->pool->n; i++)
        if (x->task[i].queued && (!least || comes_before(x, i, least)))
            least = i;
    if (least)
        x->task[least].queued = false;
    return least;
}

static void enqueue_if_updated(run *x, uint32_t i)
{
    if (update(x, i))
        x->task[i].queued = true;
}

ss_time delta_published(const ss_live *l, published_reading reading, published_times *times)
{
    run x = {.l = l,
             .reading = reading,
             .t = times,
             .task = calloc(l->pool->n + (size_t)1, sizeof *x.task),
             .first = calloc(l->pool->devices + l->pool->links + (size_t)1, sizeof *x.first)};
    if (!x.task || !x.first)
        exit(99);
    update_task_graph(&x);
    uint64_t left = (uint64_t)l->pool->n * l->pool->n;
    for (uint32_t t = dequeue(&x); t && left; t = dequeue(&x), left--) {
        times[t].start = start_of(&x, t);
        times[t].end = times[t].start + l->row[t].hold;
        for (uint32_t o = l->row[t].first; o < l->row[t].last; o++)
            enqueue_if_updated(&x, l->out[o]);
        if (x.task[t].after)
            enqueue_if_updated(&x, x.task[t].after);
    }
    ss_time makespan = 0;
    for (uint32_t i = 1; i <= l->pool->n; i++)
        if (x.task[i].listed && times[i].end > makespan)
            makespan = times[i].end;
    free(x.task);
    free(x.first);
    return makespan;
}
