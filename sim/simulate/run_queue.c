/* run_queue.c - who may start: the queues of devices and links. */
#include "base/array.h"
#include "simulate/run_inside.h"

static bool goes_before(const ss_waiting *a, const ss_waiting *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    if (a->ready != b->ready)
        return a->ready < b->ready;
    return a->id < b->id;
}

static void sift_up(ss_waiting *heap, uint32_t i, ss_waiting x)
{
    for (; i && goes_before(&x, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = x;
}

/* Without its first; n is what is left. */
static void drop_first(ss_waiting *heap, uint32_t n)
{
    ss_waiting x = heap[n];
    uint32_t i = 0;
    for (uint32_t k; (k = 2 * i + 1) < n; i = k) {
        if (k + 1 < n && goes_before(&heap[k + 1], &heap[k]))
            k++;
        if (!goes_before(&heap[k], &x))
            break;
        heap[i] = heap[k];
    }
    heap[i] = x;
}

static bool is_device(const ss_run *r, uint32_t resource)
{
    return resource <= r->tasks.devices;
}

/* A transfer takes a stream of the devices at its ends, if asked for. */
static bool takes_ends(const ss_run *r, uint32_t id)
{
    return r->options.copies_block && r->tasks.where[id] > r->tasks.devices;
}

static void add_end(ss_run *r, ss_device d, uint32_t *n)
{
    if (!d.i || d.i > r->tasks.devices)
        return;
    for (uint32_t i = 0; i < *n; i++)
        if (r->held[i] == d.i)
            return;
    r->held[(*n)++] = d.i;
}

ss_status ss_run_held(ss_run *r, uint32_t id, uint32_t *n, ss_error *err)
{
    uint32_t of_set;
    const uint32_t *set = ss_tasks_resources(&r->tasks, (ss_task){id}, &of_set);
    ss_status s = SS_RESERVE(r->held, r->held_cap, (size_t)of_set + 2, "resources of a task", err);
    if (s)
        return s;
    *n = 0;
    if (r->task[id].stays)
        return SS_OK;
    if (!ss_tasks_flows(&r->tasks, (ss_task){id}))
        for (uint32_t i = 0; i < of_set; i++)
            r->held[(*n)++] = set[i];
    if (takes_ends(r, id)) {
        if (ss_run_options_block_sender(&r->options))
            add_end(r, r->tasks.label[id].from, n);
        if (ss_run_options_block_receiver(&r->options))
            add_end(r, r->tasks.label[id].to, n);
    }
    return SS_OK;
}

/* Tasks that were added later are in no program, nor are transfers that block a device. */
static bool in_program(const ss_run *r, uint32_t resource, uint32_t id)
{
    return is_device(r, resource) && r->tasks.where[id] == resource && id <= r->given;
}

static int64_t key_of(const ss_run *r, uint32_t resource, uint32_t id)
{
    switch (r->options.order) {
    case SS_ORDER_PROGRAM:
        return in_program(r, resource, id) ? id : 0;
    case SS_ORDER_PRIORITY:
        return id < r->priorities ? r->priority[id] : 0;
    case SS_ORDER_SHORTEST:
        return r->tasks.hold[id];
    case SS_ORDER_FIFO:
    case SS_ORDERS:
        break;
    }
    return 0;
}

/* The one that the program of a device says is next; 0: no matter. */
static uint32_t wanted_next(const ss_run *r, uint32_t resource)
{
    if (r->options.order != SS_ORDER_PROGRAM || !is_device(r, resource))
        return 0;
    uint32_t at = r->first_program[resource] + r->resource[resource].next;
    return at < r->first_program[resource + 1] ? r->program[at] : 0;
}

static bool may_start_at(const ss_run *r, uint32_t resource, uint32_t id)
{
    const ss_run_resource *x = &r->resource[resource];
    if (!x->room || !x->n || x->queue[0].id != id)
        return false;
    uint32_t wanted = wanted_next(r, resource);
    return !wanted || wanted == id || !in_program(r, resource, id);
}

/* Its place among those that may start is that of (ready, id). */
static ss_status propose(ss_run *r, uint32_t id, ss_error *err)
{
    ss_status s = SS_RESERVE(r->start, r->start_cap, (size_t)r->starts + 1, "ready tasks", err);
    if (!s)
        sift_up(r->start, r->starts++, (ss_waiting){0, r->task[id].ready, id});
    return s;
}

/* A task that is first in a queue where there is room may be able to start: it is looked at again
 * when its turn comes. */
ss_status ss_run_look_at_queue(ss_run *r, uint32_t resource, ss_error *err)
{
    const ss_run_resource *x = &r->resource[resource];
    return x->n && x->room ? propose(r, x->queue[0].id, err) : SS_OK;
}

ss_status ss_run_enqueue(ss_run *r, uint32_t id, ss_error *err)
{
    uint32_t n;
    ss_status s = ss_run_held(r, id, &n, err);
    r->task[id].stage = SS_STAGE_QUEUED;
    for (uint32_t i = 0; i < n && !s; i++) {
        ss_run_resource *x = &r->resource[r->held[i]];
        s = SS_RESERVE(x->queue, x->cap, (size_t)x->n + 1, "waiting tasks", err);
        if (!s)
            sift_up(x->queue, x->n++,
                    (ss_waiting){key_of(r, r->held[i], id), r->task[id].ready, id});
    }
    return s ? s : propose(r, id, err);
}

/* First everywhere, and room everywhere. */
static ss_status can_start(ss_run *r, uint32_t id, bool *can, uint32_t *n, ss_error *err)
{
    *can = false;
    if (r->task[id].stage != SS_STAGE_QUEUED)
        return SS_OK; /* it was proposed twice */
    ss_status s = ss_run_held(r, id, n, err);
    if (s)
        return s;
    *can = true;
    for (uint32_t i = 0; i < *n && *can; i++)
        *can = may_start_at(r, r->held[i], id);
    return SS_OK;
}

static ss_status take(ss_run *r, uint32_t id, uint32_t n, ss_error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        ss_run_resource *x = &r->resource[r->held[i]];
        ss_status s =
            SS_RESERVE(x->runs, x->runs_cap, (size_t)x->running + 1, "running tasks", err);
        if (s)
            return s;
    }
    for (uint32_t i = 0; i < n; i++) {
        ss_run_resource *x = &r->resource[r->held[i]];
        drop_first(x->queue, --x->n);
        x->room--;
        x->runs[x->running++] = id;
        x->next += in_program(r, r->held[i], id);
    }
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < n && !s; i++) /* with streams the next may start as well */
        s = ss_run_look_at_queue(r, r->held[i], err);
    return s;
}

ss_status ss_run_start_ready(ss_run *r, ss_error *err)
{
    ss_status s = SS_OK;
    while (r->starts && !s) {
        uint32_t id = r->start[0].id, n = 0;
        bool can;
        drop_first(r->start, --r->starts);
        s = can_start(r, id, &can, &n, err);
        if (!s && can)
            s = take(r, id, n, err);
        if (!s && can)
            s = ss_run_begin_task(r, id, err);
    }
    return s;
}

ss_status ss_run_release(ss_run *r, uint32_t id, ss_error *err)
{
    uint32_t n;
    ss_status s = ss_run_held(r, id, &n, err);
    for (uint32_t i = 0; i < n && !s; i++) {
        ss_run_resource *x = &r->resource[r->held[i]];
        uint32_t k = 0;
        while (x->runs[k] != id)
            k++;
        x->runs[k] = x->runs[--x->running];
        x->room++;
        s = ss_run_look_at_queue(r, r->held[i], err);
    }
    return s;
}
