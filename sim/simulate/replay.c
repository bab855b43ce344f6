#include "simulate/replay.h"

#include "base/array.h"
#include "base/mem.h"
#include "simulate/queue.h"
#include "simulate/tails.h"

typedef struct play {
    ss_time ready, start;
    uint32_t missing; /* predecessors that have not started */
    uint32_t id;      /* structural number in this run */
} play;

typedef struct resource {
    ss_time free, lag;
    uint64_t left; /* holds of tasks that have not started, ps, modulo 2^64 */
} resource;

struct ss_replay {
    play *now, *next; /* by slot: held, and of the last run */
    uint32_t now_cap, next_cap;
    ss_time makespan, next_makespan;
    resource *resource;
    uint32_t resource_cap;
    ss_queue queue;
    const ss_watch *watch;
    bool bounds;
    enum {
        TAILS_NONE,
        TAILS_HELD,
        TAILS_CHANGED
    } tails_of; /* of nothing, the graph that is held,
                                                              * the change under way */
    ss_tails tails;
};

/* Bit 31 of `missing` while a run is prepared: the task keeps its times. */
#define KEEPS 0x80000000u

ss_status ss_replay_new(bool bounds, ss_replay **out, ss_error *err)
{
    *out = ss_alloc_zeroed(1, sizeof **out);
    if (!*out)
        return ss_fail_memory(err, "a simulation", sizeof **out);
    (*out)->bounds = bounds;
    return SS_OK;
}

void ss_replay_free(ss_replay *r)
{
    if (!r)
        return;
    ss_free(r->now);
    ss_free(r->next);
    ss_free(r->resource);
    ss_queue_free(&r->queue);
    ss_tails_free(&r->tails);
    ss_free(r);
}

void ss_replay_set_watch(ss_replay *r, const ss_watch *watch)
{
    r->watch = watch;
}

size_t ss_replay_memory(const ss_replay *r)
{
    return sizeof *r + ((size_t)r->now_cap + r->next_cap) * sizeof *r->now +
           r->resource_cap * sizeof *r->resource + ss_queue_memory(&r->queue) +
           ss_tails_memory(&r->tails);
}

static ss_status no_room(ss_error *err)
{
    return ss_fail(err, SS_ENOMEM, "no memory for more waiting tasks");
}

/* ---- before a run ------------------------------------------------------------------------ */

static ss_status reserve(ss_replay *r, const ss_live *l, ss_error *err)
{
    const ss_tasks *t = l->pool;
    size_t slots = (size_t)t->n + 1, resources = (size_t)t->devices + t->links + 1;
    ss_status e = SS_RESERVE(r->next, r->next_cap, slots, "a timeline", err);
    if (!e)
        e = SS_RESERVE(r->now, r->now_cap, slots, "a timeline", err);
    if (!e)
        e = SS_RESERVE(r->resource, r->resource_cap, resources, "resources", err);
    if (!e)
        e = ss_queue_clear(&r->queue, err);
    if (e)
        return e;
    for (uint32_t i = 0; i < resources; i++)
        r->resource[i] = (resource){0, i ? t->lag[i] : 0, l->work[i]};
    return SS_OK;
}

static ss_time lag_of(const ss_replay *r, const ss_tasks *t, uint32_t where)
{
    return where <= t->devices + t->links ? r->resource[where].lag : 0;
}

/* All that is simulated is set to its beginning, and what waits for nothing is queued. */
static ss_status set_out_whole(ss_replay *r, const ss_live *l, ss_error *err)
{
    uint32_t id = 0;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            uint32_t before = l->row[i].before;
            r->next[i] = (play){0, 0, before, ++id};
            if (!before && !ss_queue_push(&r->queue, (ss_entry){0, id, i}))
                return no_room(err);
        }
    return SS_OK;
}

/* The ready time of a task whose predecessors are all kept, as they end now; else 0 and false. */
static bool ready_by_now(const ss_replay *r, const ss_live *l, uint32_t slot, uint32_t first_new,
                         ss_time *out)
{
    *out = 0;
    for (uint32_t k = l->in[slot].first; k < l->in[slot].last; k++) {
        uint32_t p = l->pool->in[k];
        if (p >= first_new)
            return false;
        const ss_live_row *row = &l->row[p];
        ss_time finish = r->now[p].start + row->hold + lag_of(r, l->pool, row->where);
        *out = finish > *out ? finish : *out;
    }
    return true;
}

static ss_time least(ss_time a, ss_time b)
{
    return a < b ? a : b;
}

static ss_time first_touched(const ss_replay *r, const ss_live *l)
{
    uint32_t first_new = ss_live_first_new(l);
    ss_time tau = SS_TIME_MAX, ready;
    for (uint32_t k = 0; k < l->gones; k++)
        for (uint32_t i = l->gone[k].first; i < l->gone[k].first + l->gone[k].n; i++)
            tau = least(tau, r->now[i].ready);
    for (uint32_t k = 0; k < l->rewireds; k++) {
        uint32_t i = l->rewired[k].slot;
        tau = least(tau, r->now[i].ready);
        if (ready_by_now(r, l, i, first_new, &ready))
            tau = least(tau, ready);
    }
    for (uint32_t k = 0; k < l->mades; k++)
        for (uint32_t i = l->made[k].first; i < l->made[k].first + l->made[k].n; i++) {
            r->now[i].ready = SS_TIME_MAX;
            if (ready_by_now(r, l, i, first_new, &ready))
                tau = least(tau, ready);
        }
    return tau;
}

static void take(resource *r, ss_time hold, ss_time end)
{
    r->left -= (uint64_t)hold;
    r->free = end > r->free ? end : r->free;
}

/* A task that keeps its times: its resource and its successors are told. */
static ss_status keep_times(ss_replay *r, const ss_live *l, uint32_t i, ss_error *err)
{
    const ss_tasks *t = l->pool;
    const ss_live_row *row = &l->row[i];
    ss_time end = r->now[i].start + row->hold;
    uint32_t n;
    if (row->where <= t->devices + t->links) {
        take(&r->resource[row->where], row->hold, end);
    } else {
        const uint32_t *res = ss_tasks_resources(t, (ss_task){i}, &n);
        for (uint32_t k = 0; k < n; k++)
            take(&r->resource[res[k]], row->hold, end);
    }
    ss_time finish = end + lag_of(r, t, row->where);
    if (finish > r->next_makespan)
        r->next_makespan = finish;
    for (uint32_t o = row->first; o < row->last; o++) {
        play *p = &r->next[l->out[o]];
        if (p->missing & KEEPS)
            continue;
        p->ready = finish > p->ready ? finish : p->ready;
        if (--p->missing == 0 && !ss_queue_push(&r->queue, (ss_entry){p->ready, p->id, l->out[o]}))
            return no_room(err);
    }
    return SS_OK;
}

static ss_status set_out_from(ss_replay *r, const ss_live *l, ss_time tau, uint32_t *visited,
                              ss_error *err)
{
    uint32_t id = 0, kept = 0;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            uint32_t before = l->row[i].before;
            id++;
            if (r->now[i].ready < tau) {
                r->next[i] = (play){r->now[i].ready, r->now[i].start, KEEPS, id};
                kept++;
                continue;
            }
            r->next[i] = (play){0, 0, before, id};
            if (!before && !ss_queue_push(&r->queue, (ss_entry){0, id, i}))
                return no_room(err);
        }
    *visited = id - kept;
    ss_status e = SS_OK;
    for (uint32_t b = 1; b <= l->blocks && kept && !e; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n && !e; i++)
            if (r->next[i].missing & KEEPS)
                e = keep_times(r, l, i, err);
    return e;
}

/* ---- a run ------------------------------------------------------------------------------- */

static ss_status refuse_overflow(uint32_t id, ss_error *err)
{
    return ss_fail(err, SS_ERANGE,
                   "task %u would end later than 106 days after the start, which times cannot hold",
                   id);
}

/* A task on a set starts when it is first at each resource. Returns the largest bound. */
static ss_time take_set(ss_replay *r, const ss_live *l, uint32_t slot, ss_time *start)
{
    uint32_t n;
    const uint32_t *res = ss_tasks_resources(l->pool, (ss_task){slot}, &n);
    ss_time hold = l->row[slot].hold, s = *start;
    uint64_t most = 0;
    for (uint32_t k = 0; k < n; k++)
        s = r->resource[res[k]].free > s ? r->resource[res[k]].free : s;
    *start = s;
    for (uint32_t k = 0; k < n && hold <= SS_TIME_MAX - s; k++) {
        resource *x = &r->resource[res[k]];
        most = x->left > most ? x->left : most;
        x->free = s + hold;
        x->left -= (uint64_t)hold;
    }
    return most > (uint64_t)(SS_TIME_MAX - s) ? SS_TIME_MAX : s + (ss_time)most;
}

static ss_status run(ss_replay *r, const ss_live *l, ss_time bound, ss_replayed *out, ss_error *err)
{
    uint32_t resources = l->pool->devices + l->pool->links, look = SS_LOOK_EVERY, done = 0;
    ss_queue *q = &r->queue;
    const ss_time *tail = r->bounds ? r->tails.tail : NULL;
    ss_time makespan = r->next_makespan;
    while (q->n || q->later) {
        if (q->n == 0 && !ss_queue_refill(q))
            return no_room(err);
        ss_entry x = ss_queue_pop(q);
        const ss_live_row *row = &l->row[x.where];
        ss_time start = x.ready, hold = row->hold, lag = 0, least_end;
        if (row->where <= resources) {
            resource *at = &r->resource[row->where];
            start = at->free > start ? at->free : start;
            lag = at->lag;
            if (hold > SS_TIME_MAX - lag || start > SS_TIME_MAX - lag - hold)
                return refuse_overflow(x.id, err);
            at->free = start + hold;
            least_end = start + (ss_time)at->left;
            at->left -= (uint64_t)hold;
        } else {
            least_end = take_set(r, l, x.where, &start);
            if (start > SS_TIME_MAX - hold)
                return refuse_overflow(x.id, err);
        }
        r->next[x.where].start = start;
        ss_time finish = start + hold + lag;
        makespan = finish > makespan ? finish : makespan;
        done++;
        if (bound < SS_TIME_MAX) {
            least_end = finish > least_end ? finish : least_end;
            if (tail && tail[x.where] > least_end - start - hold)
                least_end = start + hold + tail[x.where];
            if (least_end > bound) {
                *out = (ss_replayed){least_end, true, done};
                return SS_OK;
            }
        }
        for (uint32_t o = row->first; o < row->last; o++) {
            uint32_t to = l->out[o];
            play *p = &r->next[to];
            p->ready = finish > p->ready ? finish : p->ready;
            if (--p->missing == 0 && !ss_queue_push(q, (ss_entry){p->ready, p->id, to}))
                return no_room(err);
        }
        if (done == look) {
            ss_status e = ss_look_up(r->watch, "simulating", done, l->n, err);
            if (e)
                return e;
            look += SS_LOOK_EVERY;
        }
    }
    r->next_makespan = makespan;
    *out = (ss_replayed){makespan, false, done};
    return SS_OK;
}

/* Whether some resource has more work than the bound allows. */
static bool too_much_work(const ss_live *l, ss_time bound, ss_replayed *out)
{
    uint64_t most = 0;
    for (uint32_t i = 1; i <= l->pool->devices + l->pool->links; i++)
        most = l->work[i] > most ? l->work[i] : most;
    if (most <= (uint64_t)bound || most > (uint64_t)SS_TIME_MAX)
        return false;
    *out = (ss_replayed){(ss_time)most, true, 0};
    return true;
}

/* Brings tails up to the graph as it is. */
static ss_status find_tails(ss_replay *r, const ss_live *l, ss_error *err)
{
    if (!r->bounds || (l->changing && r->tails_of == TAILS_CHANGED))
        return SS_OK;
    bool whole = !l->changing || r->tails_of != TAILS_HELD;
    ss_status e = whole ? ss_tails_whole(&r->tails, l, err) : ss_tails_change(&r->tails, l, err);
    if (!e)
        r->tails_of = l->changing ? TAILS_CHANGED : TAILS_HELD;
    else if (whole)
        r->tails_of = TAILS_NONE;
    return e;
}

/* Whether a task that keeps its times, and has another tail than before, has one that is too long.
 */
static bool too_long_a_way(const ss_replay *r, const ss_live *l, ss_time tau, ss_time bound,
                           ss_replayed *out)
{
    ss_time most = 0;
    for (uint32_t k = 0; k < r->tails.saveds && r->bounds; k++) {
        uint32_t i = r->tails.saved[k].slot;
        if (r->now[i].ready >= tau)
            continue;
        ss_time end = r->now[i].start + l->row[i].hold, tail = r->tails.tail[i];
        ss_time way = tail > SS_TIME_MAX - end ? SS_TIME_MAX : end + tail;
        most = way > most ? way : most;
    }
    if (most <= bound)
        return false;
    *out = (ss_replayed){most, true, 0};
    return true;
}

ss_status ss_replay_whole(ss_replay *r, const ss_live *l, ss_time bound, ss_replayed *out,
                          ss_error *err)
{
    ss_status e = find_tails(r, l, err);
    if (e || too_much_work(l, bound, out))
        return e;
    r->next_makespan = 0;
    e = reserve(r, l, err);
    if (!e)
        e = set_out_whole(r, l, err);
    return e ? e : run(r, l, bound, out, err);
}

ss_status ss_replay_change(ss_replay *r, const ss_live *l, ss_time bound, ss_replayed *out,
                           ss_error *err)
{
    if (too_much_work(l, bound, out))
        return SS_OK;
    r->next_makespan = 0;
    ss_status e = find_tails(r, l, err);
    if (!e)
        e = reserve(r, l, err);
    if (e)
        return e;
    uint32_t left = 0;
    ss_time tau = first_touched(r, l);
    if (too_long_a_way(r, l, tau, bound, out))
        return SS_OK;
    e = set_out_from(r, l, tau, &left, err);
    return e ? e : run(r, l, bound, out, err);
}

void ss_replay_keep(ss_replay *r)
{
    play *old = r->now;
    uint32_t cap = r->now_cap;
    r->now = r->next;
    r->now_cap = r->next_cap;
    r->next = old;
    r->next_cap = cap;
    r->makespan = r->next_makespan;
    if (r->tails_of == TAILS_CHANGED)
        r->tails_of = TAILS_HELD;
}

void ss_replay_undo(ss_replay *r)
{
    if (r->tails_of == TAILS_CHANGED) {
        ss_tails_undo(&r->tails);
        r->tails_of = TAILS_HELD;
    }
}

/* ---- what was found ---------------------------------------------------------------------- */

uint32_t ss_replay_changed(const ss_replay *r, const ss_live *l)
{
    uint32_t first_new = ss_live_first_new(l), changed = 0;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++)
            changed += i >= first_new || r->now[i].ready != r->next[i].ready ||
                       r->now[i].start != r->next[i].start;
    return changed;
}

ss_status ss_replay_tidy(ss_replay *r, ss_live *l, ss_error *err)
{
    size_t rows = (size_t)l->n + 1;
    ss_status e = SS_RESERVE(r->next, r->next_cap, rows, "a timeline", err);
    if (e)
        return e;
    uint32_t id = 0;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++)
            r->next[++id] = r->now[i];
    if ((e = ss_live_tidy(l, err)))
        return e;
    r->next_makespan = r->makespan;
    r->tails_of = TAILS_NONE;
    ss_replay_keep(r);
    return find_tails(r, l, err);
}

ss_status ss_replay_timeline(const ss_replay *r, const ss_live *l, bool of_last_run,
                             ss_timeline *out, ss_error *err)
{
    size_t rows = (size_t)l->n + 1;
    const play *from = of_last_run ? r->next : r->now;
    ss_status e;
    if (rows > out->cap) {
        if ((e = SS_REGROW(out->ready, rows, "timeline", err)) ||
            (e = SS_REGROW(out->start, rows, "timeline", err)) ||
            (e = SS_REGROW(out->end, rows, "timeline", err)))
            return e;
        out->cap = (uint32_t)rows;
    }
    out->n = l->n;
    out->makespan = of_last_run ? r->next_makespan : r->makespan;
    out->ready[0] = out->start[0] = out->end[0] = 0;
    uint32_t id = 0;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            out->ready[++id] = from[i].ready;
            out->start[id] = from[i].start;
            out->end[id] = from[i].start + l->row[i].hold;
        }
    return SS_OK;
}
