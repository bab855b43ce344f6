/* engine.c - the loop.
 *
 * A large graph does not fit the cache, and what one task touches lies anywhere in it.  Three
 * things keep the loop from waiting for memory (docs/decisions/0017-a-run-waits-for-memory.md):
 *
 * - All that a run needs to know of a task is one row of 32 bytes, half a cache line: `node`.  The
 *   timeline is written from these rows, in order of id, when all is over.
 * - What waits lies in a queue of which only a small heap is touched at random (simulate/queue.h);
 *   when that is filled, the rows of all that came are fetched ahead.
 * - In large graphs tasks are taken in batches, and the successors of a batch are told together, so
 *   that their rows are fetched side by side.  This changes no result: a successor is ready at the
 *   finish of a task of the batch or later, so as long as the next in the queue is ready before all
 *   these finishes, nothing that is still to be told can come before it.
 */
#include "simulate/engine_inside.h"
#include "simulate/slowed.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"
#include "graph/cycle.h"

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

/* 16 tasks with their successors are about what a core can have on its way from memory at once.
 * Where all rows lie in the cache (2 MiB of them) there is nothing to wait for, and less to gather
 * is less work. */
enum { BATCH = 16, SMALL_BATCH = 2, SMALL = 1 << 16, FRESH = 64 };

typedef struct started {
    ss_time finish;
    uint32_t first, last; /* rows of its successors */
} started;

ss_status ss_engine_new(ss_engine **out, ss_error *err)
{
    *out = ss_alloc_zeroed(1, sizeof **out);
    return *out ? SS_OK : ss_fail_memory(err, "engine", sizeof **out);
}

void ss_engine_free(ss_engine *e)
{
    if (!e)
        return;
    ss_free(e->node);
    ss_free(e->resource);
    ss_queue_free(&e->queue);
    ss_sharing_free(e->sharing);
    ss_free(e->fresh.key);
    ss_free(e);
}

void ss_engine_take_at_once(ss_engine *e, uint32_t tasks)
{
    e->at_once = tasks < BATCH ? tasks : BATCH;
}

size_t ss_engine_memory(const ss_engine *e)
{
    return sizeof *e + e->node_cap * sizeof *e->node + e->resource_cap * sizeof *e->resource +
           ss_queue_memory(&e->queue) + e->fresh.cap * sizeof *e->fresh.key +
           (e->sharing ? ss_sharing_memory(e->sharing) : 0);
}

static ss_status no_room(ss_error *err)
{
    return ss_fail(err, SS_ENOMEM, "no memory for more waiting tasks");
}

/* A run. */

ss_status ss_timeline_reserve(ss_timeline *l, uint32_t tasks, ss_error *err)
{
    size_t rows = (size_t)tasks + 1;
    ss_status s = SS_OK;
    if (rows <= l->cap)
        return SS_OK;
    if ((s = SS_REGROW(l->ready, rows, "timeline", err)) ||
        (s = SS_REGROW(l->start, rows, "timeline", err)) ||
        (s = SS_REGROW(l->end, rows, "timeline", err)))
        return s;
    l->cap = (uint32_t)rows;
    return SS_OK;
}

static ss_status reserve(ss_engine *e, const ss_tasks *t, ss_timeline *out, ss_error *err)
{
    size_t rows = (size_t)t->n + 1;
    ss_status s = SS_OK;
    if (rows > e->node_cap) {
        s = SS_REGROW(e->node, rows, "tasks at work", err);
        if (s)
            return s;
        e->node_cap = (uint32_t)rows;
    }
    if ((s = SS_RESERVE(e->resource, e->resource_cap, (size_t)t->devices + t->links + 1,
                        "resources", err)))
        return s;
    if ((s = ss_timeline_reserve(out, t->n, err)))
        return s;
    return ss_queue_clear(&e->queue, err);
}

/* Where links are shared, engine_shared.c looks itself for what is ready at first. */
static ss_status set_out(ss_engine *e, const ss_tasks *t, ss_error *err)
{
    uint32_t resources = t->devices + t->links;
    bool shared = t->mode == SS_LINKS_SHARED;
    for (uint32_t r = 0; r <= resources; r++)
        e->resource[r] = (ss_resource_at_work){0, r ? t->lag[r] : 0};
    for (uint32_t i = 1; i <= t->n; i++) {
        ss_task_at_work *x = &e->node[i];
        *x = (ss_task_at_work){.hold = t->hold[i],
                               .missing = t->first_in[i + 1] - t->first_in[i],
                               .where = t->where[i],
                               .first = t->first_out[i],
                               .last = t->first_out[i + 1]};
        if (x->missing == 0 && !shared && !ss_queue_push(&e->queue, (ss_entry){0, i, x->where}))
            return no_room(err);
    }
    return SS_OK;
}

ss_status ss_engine_refuse_overflow(uint32_t id, ss_error *err)
{
    return ss_fail(err, SS_ERANGE,
                   "task %u would end later than 106 days after the start, which times cannot hold",
                   id);
}

/* When a task on a set can start; the set is then taken until its end, which the caller has to
 * check for overflow before anyone asks. */
static ss_time take_set(ss_engine *e, const ss_tasks *t, uint32_t id, ss_time ready, ss_time hold)
{
    uint32_t n;
    const uint32_t *r = ss_tasks_resources(t, (ss_task){id}, &n);
    ss_time start = ready;
    for (uint32_t k = 0; k < n; k++)
        if (e->resource[r[k]].free > start)
            start = e->resource[r[k]].free;
    if (hold <= SS_TIME_MAX - start)
        for (uint32_t k = 0; k < n; k++)
            e->resource[r[k]].free = start + hold;
    return start;
}

/* Starts the task that is next; false: its finish does not fit. */
static inline bool start_task(ss_engine *e, const ss_tasks *t, ss_entry x, started *out)
{
    ss_task_at_work *row = &e->node[x.id];
    ss_time start = x.ready, hold = row->hold, lag = 0;
    if (x.where <= t->devices + t->links) {
        ss_resource_at_work *r = &e->resource[x.where];
        if (r->free > start)
            start = r->free;
        lag = r->lag;
        if (hold > SS_TIME_MAX - lag || start > SS_TIME_MAX - lag - hold)
            return false;
        r->free = start + hold;
    } else {
        start = take_set(e, t, x.id, start, hold);
        if (start > SS_TIME_MAX - hold)
            return false;
    }
    row->start = start;
    PREFETCH(&t->out[row->first]);
    *out = (started){start + hold + lag, row->first, row->last};
    return true;
}

/* Writes the entries of those that are ready now, and returns their number.
 *
 * No branch here: neither which predecessor is the latest nor which is the last can be foreseen,
 * and a wrong guess about a row that is still on its way costs more than a store.  So an entry is
 * written in any case, and counted if nothing is missing. */
static inline uint32_t tell_row(ss_engine *e, const ss_tasks *t, uint32_t first, uint32_t last,
                                ss_time finish, ss_entry *fresh)
{
    uint32_t n = 0;
    for (uint32_t o = first; o < last; o++) {
        uint32_t id = t->out[o];
        ss_task_at_work *x = &e->node[id];
        ss_time ready = finish > x->ready ? finish : x->ready;
        x->ready = ready;
        fresh[n] = (ss_entry){ready, id, x->where};
        n += --x->missing == 0;
    }
    return n;
}

static ss_status tell_successors(ss_engine *e, const ss_tasks *t, const started *b, uint32_t n,
                                 ss_error *err)
{
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t o = b[k].first; o < b[k].last && o < b[k].first + BATCH; o++)
            PREFETCH(&e->node[t->out[o]]);
    for (uint32_t k = 0; k < n; k++) {
        ss_entry fresh[FRESH];
        for (uint32_t o = b[k].first; o < b[k].last;) {
            uint32_t end = b[k].last - o > FRESH ? o + FRESH : b[k].last;
            uint32_t ready = tell_row(e, t, o, end, b[k].finish, fresh);
            for (uint32_t i = 0; i < ready; i++)
                if (!ss_queue_push(&e->queue, fresh[i]))
                    return no_room(err);
            o = end;
        }
    }
    return SS_OK;
}

/* What comes into the heap will be taken soon, in an order that jumps about: fetch the rows of all
 * of it side by side, and then what these rows say of the successors. */
static bool refill(ss_engine *e, const ss_tasks *t)
{
    ss_queue *q = &e->queue;
    if (!ss_queue_refill(q))
        return false;
    for (uint32_t i = 0; i < q->n; i++)
        PREFETCH(&e->node[q->near[i].id]);
    for (uint32_t i = 0; i < q->n; i++)
        PREFETCH(&t->out[e->node[q->near[i].id].first]);
    return true;
}

static void write_timeline(const ss_engine *e, const ss_tasks *t, ss_time makespan,
                           ss_timeline *out)
{
    out->n = t->n;
    out->makespan = makespan;
    out->ready[0] = out->start[0] = out->end[0] = 0;
    for (uint32_t i = 1; i <= t->n; i++) {
        out->ready[i] = e->node[i].ready;
        out->start[i] = e->node[i].start;
        out->end[i] = e->node[i].start + t->hold[i];
    }
}

void ss_engine_set_watch(ss_engine *e, const ss_watch *watch)
{
    e->watch = watch;
}

const ss_watch *ss_engine_watch(const ss_engine *e)
{
    return e->watch;
}

ss_status ss_engine_run(ss_engine *e, const ss_tasks *t, ss_timeline *out, ss_error *err)
{
    if (!t->finished)
        return ss_fail(err, SS_EINVAL, "the task graph was not finished (ss_tasks_finish)");
    ss_status s = reserve(e, t, out, err);
    if (s)
        return s;
    if ((s = set_out(e, t, err)))
        return s;
    if (t->mode == SS_LINKS_SHARED)
        return ss_engine_run_shared(e, t, out, err);
    started batch[BATCH];
    ss_time makespan = 0;
    uint32_t done = 0, look = SS_LOOK_EVERY;
    uint32_t most = e->at_once ? e->at_once : t->n < SMALL ? SMALL_BATCH : BATCH;
    ss_queue *q = &e->queue;
    while (q->n || q->later) {
        if (q->n == 0 && !refill(e, t))
            return no_room(err);
        ss_time bound = SS_TIME_MAX; /* nothing still to be told is ready before it */
        uint32_t n = 0;
        do {
            ss_entry x = ss_queue_pop(q);
            if (!start_task(e, t, x, &batch[n]))
                return ss_engine_refuse_overflow(x.id, err);
            ss_time finish = batch[n++].finish;
            if (finish < bound)
                bound = finish;
            if (finish > makespan)
                makespan = finish;
        } while (n < most && q->n && q->near[0].ready < bound);
        done += n;
        if ((s = tell_successors(e, t, batch, n, err)))
            return s;
        if (done >= look) {
            if ((s = ss_look_up(e->watch, "simulating", done, t->n, err)))
                return s;
            look = done + SS_LOOK_EVERY;
        }
    }
    if (done < t->n)
        return ss_cycle_refuse(t->n, t->first_in, t->in, 1, err);
    write_timeline(e, t, makespan, out);
    return SS_OK;
}

/* The timeline. */

ss_time ss_timeline_finish(const ss_tasks *t, const ss_timeline *l, ss_task task)
{
    return l->finish ? l->finish[task.i] : l->end[task.i] + ss_tasks_lag(t, task);
}

void ss_timeline_free(ss_timeline *l)
{
    if (!l)
        return;
    ss_free(l->ready);
    ss_free(l->start);
    ss_free(l->end);
    ss_free(l->finish);
    *l = (ss_timeline){0};
}

static int by_ready_then_id(const void *a, const void *b)
{
    const ss_entry *x = a, *y = b;
    return ss_entry_before(x, y) ? -1 : ss_entry_before(y, x);
}

/* A flow waits for nobody, and is no faster than alone on its narrowest link. */
static ss_status check_flow(const ss_tasks *t, const ss_timeline *l, uint32_t i, ss_error *err)
{
    ss_slowed as_it_was = {.tasks = t, .line = l};
    double alone = ss_slowed_alone(&as_it_was, (ss_task){i});
    double took = (double)(l->end[i] - l->start[i]);
    if (l->start[i] != l->ready[i])
        return ss_fail(err, SS_EINVAL, "E5: transfer %u is ready at %lld ps and starts at %lld ps",
                       i, (long long)l->ready[i], (long long)l->start[i]);
    if (!(took >= alone * (1 - 1e-12) - 1))
        return ss_fail(err, SS_EINVAL, "E6: transfer %u takes %g ps, and alone it would take %g ps",
                       i, took, alone);
    return SS_OK;
}

static ss_status check_ready_and_end(const ss_tasks *t, const ss_timeline *l, uint32_t i,
                                     ss_error *err)
{
    ss_time ready = 0;
    for (uint32_t e = t->first_in[i]; e < t->first_in[i + 1]; e++) {
        ss_time finish = ss_timeline_finish(t, l, (ss_task){t->in[e]});
        if (finish > ready)
            ready = finish;
    }
    if (l->ready[i] != ready)
        return ss_fail(err, SS_EINVAL,
                       "E1: task %u is ready at %lld ps, its predecessors are finished at %lld ps",
                       i, (long long)l->ready[i], (long long)ready);
    if (ss_tasks_flows(t, (ss_task){i}))
        return check_flow(t, l, i, err);
    if (l->end[i] - l->start[i] != t->hold[i])
        return ss_fail(err, SS_EINVAL, "E4: task %u runs from %lld ps to %lld ps and takes %lld ps",
                       i, (long long)l->start[i], (long long)l->end[i], (long long)t->hold[i]);
    return SS_OK;
}

/* Each resource's tasks in order of (ready, id): each starts when it is ready and the one before
 * it, on every resource that it holds, has ended. */
static ss_status check_starts(const ss_tasks *t, const ss_timeline *l, ss_entry *order,
                              ss_time *free, ss_error *err)
{
    for (uint32_t i = 1; i <= t->n; i++)
        order[i - 1] = (ss_entry){l->ready[i], i, 0};
    qsort(order, t->n, sizeof *order, by_ready_then_id);
    for (uint32_t k = 0; k < t->n; k++) {
        uint32_t i = order[k].id, n;
        if (ss_tasks_flows(t, (ss_task){i}))
            continue;
        const uint32_t *r = ss_tasks_resources(t, (ss_task){i}, &n);
        ss_time start = l->ready[i];
        for (uint32_t j = 0; j < n; j++)
            if (free[r[j]] > start)
                start = free[r[j]];
        if (l->start[i] != start)
            return ss_fail(
                err, SS_EINVAL,
                "E2, E3: task %u starts at %lld ps; it is ready at %lld ps and those before "
                "it on its resources have ended at %lld ps",
                i, (long long)l->start[i], (long long)l->ready[i], (long long)start);
        for (uint32_t j = 0; j < n; j++)
            free[r[j]] = l->end[i];
    }
    return SS_OK;
}

ss_status ss_timeline_check(const ss_tasks *t, const ss_timeline *l, ss_error *err)
{
    if (l->n != t->n)
        return ss_fail(err, SS_EINVAL, "the timeline has %u tasks, the graph %u", l->n, t->n);
    ss_time makespan = 0;
    for (uint32_t i = 1; i <= t->n; i++) {
        ss_status s = check_ready_and_end(t, l, i, err);
        if (s)
            return s;
        ss_time finish = ss_timeline_finish(t, l, (ss_task){i});
        if (finish > makespan)
            makespan = finish;
    }
    if (l->makespan != makespan)
        return ss_fail(err, SS_EINVAL, "the makespan is %lld ps, the last task finishes at %lld ps",
                       (long long)l->makespan, (long long)makespan);
    ss_entry *order = ss_alloc(t->n * sizeof *order);
    ss_time *free = ss_alloc_zeroed((size_t)t->devices + t->links + 1, sizeof *free);
    ss_status s = order && free ? check_starts(t, l, order, free, err)
                                : ss_fail_memory(err, "checking a timeline", t->n * sizeof *order);
    ss_free(order);
    ss_free(free);
    return s;
}
