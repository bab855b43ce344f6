#include "simulate/replay_shared.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "simulate/fresh.h"
#include "simulate/paths.h"
#include "simulate/queue.h"
#include "simulate/replay_inside.h"
#include "simulate/sharing.h"

/* Snapshots are taken until there are so many, then every second one is dropped. */
enum { MOST_SNAPSHOTS = 32 };

typedef struct times {
    ss_time ready, start, end;
} times;

typedef struct play {
    times at;
    uint32_t missing;
    uint32_t block;
} play;

/* Flows first .. first + n - 1 of the list were under way when all of that instant was done. */
typedef struct snapshot {
    ss_time at;
    uint32_t first, n;
} snapshot;

typedef struct snapshots {
    snapshot *at;
    uint32_t n, cap;
    ss_flow_left *flow;
    uint32_t flows, flow_cap;
    uint32_t every; /* instants */
} snapshots;

typedef struct device {
    ss_time free;
    uint64_t left; /* holds of tasks that have not started, ps */
} device;

struct ss_replay_shared {
    times *now; /* by slot: what is held */
    play *next; /* by slot: the last run */
    uint32_t now_cap, next_cap;
    ss_time makespan, next_makespan;
    ss_time from; /* what was ready by then keeps its times in the last run; -1: nothing does */
    snapshots held, found;
    bool complete; /* the last run did not stop */

    device *device;
    uint32_t device_cap;
    ss_queue queue; /* ends of computing and of latencies, by slot */
    ss_fresh fresh; /* block and slot of what is ready at this instant */
    ss_sharing *sharing;
    uint32_t instants, visited;
};

ss_status ss_replay_shared_new(ss_replay_shared **out, ss_error *err)
{
    ss_replay_shared *r = ss_alloc_zeroed(1, sizeof *r);
    if (!r)
        return ss_fail_memory(err, "a simulation", sizeof *r);
    ss_status s = ss_sharing_new(&r->sharing, err);
    if (s)
        ss_replay_shared_free(r);
    else
        *out = r;
    return s;
}

void ss_replay_shared_free(ss_replay_shared *r)
{
    if (!r)
        return;
    ss_free(r->now);
    ss_free(r->next);
    ss_free(r->held.at);
    ss_free(r->held.flow);
    ss_free(r->found.at);
    ss_free(r->found.flow);
    ss_free(r->device);
    ss_free(r->fresh.key);
    ss_queue_free(&r->queue);
    ss_sharing_free(r->sharing);
    ss_free(r);
}

static ss_status no_room(ss_error *err)
{
    return ss_fail(err, SS_ENOMEM, "no memory for more waiting tasks");
}

/* ---- snapshots ----------------------------------------------------------------------------- */

static void drop_every_second(snapshots *s)
{
    uint32_t flows = 0, n = 0;
    for (uint32_t i = 1; i < s->n; i += 2) {
        memmove(s->flow + flows, s->flow + s->at[i].first, s->at[i].n * sizeof *s->flow);
        s->at[n++] = (snapshot){s->at[i].at, flows, s->at[i].n};
        flows += s->at[i].n;
    }
    s->n = n;
    s->flows = flows;
    s->every *= 2;
}

static ss_status take_snapshot(ss_replay_shared *r, ss_time now, ss_error *err)
{
    snapshots *s = &r->found;
    uint32_t n = ss_sharing_flows(r->sharing);
    if (s->n == MOST_SNAPSHOTS)
        drop_every_second(s);
    ss_status e = SS_RESERVE(s->at, s->cap, (size_t)s->n + 1, "snapshots", err);
    if (!e)
        e = SS_RESERVE(s->flow, s->flow_cap, (size_t)s->flows + n + 1, "snapshots", err);
    if (e)
        return e;
    ss_sharing_left(r->sharing, now, s->flow + s->flows);
    s->at[s->n++] = (snapshot){now, s->flows, n};
    s->flows += n;
    return SS_OK;
}

/* Those of what is held that lie before a time; the last of them is where the run sets out. */
static ss_status begin_snapshots(ss_replay_shared *r, ss_time before, ss_error *err)
{
    const snapshots *h = &r->held;
    snapshots *s = &r->found;
    uint32_t n = 0;
    while (n < h->n && h->at[n].at < before)
        n++;
    uint32_t flows = n ? h->at[n - 1].first + h->at[n - 1].n : 0;
    ss_status e = SS_RESERVE(s->at, s->cap, (size_t)n + 1, "snapshots", err);
    if (!e)
        e = SS_RESERVE(s->flow, s->flow_cap, (size_t)flows + 1, "snapshots", err);
    if (e)
        return e;
    if (n)
        memcpy(s->at, h->at, n * sizeof *s->at);
    if (flows)
        memcpy(s->flow, h->flow, flows * sizeof *s->flow);
    s->n = n;
    s->flows = flows;
    s->every = n ? h->every : 1;
    return SS_OK;
}

/* ---- setting out --------------------------------------------------------------------------- */

static ss_status reserve(ss_replay_shared *r, const ss_live *l, ss_error *err)
{
    const ss_tasks *t = l->pool;
    size_t slots = (size_t)t->n + 1;
    ss_paths paths = ss_paths_of(t);
    ss_status e = SS_RESERVE(r->now, r->now_cap, slots, "a timeline", err);
    if (!e)
        e = SS_RESERVE(r->next, r->next_cap, slots, "a timeline", err);
    if (!e)
        e = SS_RESERVE(r->device, r->device_cap, (size_t)t->devices + 1, "devices", err);
    if (!e)
        e = ss_sharing_start(r->sharing, t->links, t->bytes_per_s, &paths, err);
    if (!e)
        e = ss_queue_clear(&r->queue, err);
    if (e)
        return e;
    r->fresh.n = r->instants = r->visited = 0;
    r->next_makespan = 0;
    r->complete = false;
    for (uint32_t d = 0; d <= t->devices; d++)
        r->device[d] = (device){0, l->work[d]};
    return SS_OK;
}

static ss_status push_fresh(ss_replay_shared *r, uint32_t slot, ss_error *err)
{
    return ss_fresh_push(&r->fresh, (uint64_t)r->next[slot].block << 32 | slot, err);
}

static bool keeps(const ss_replay_shared *r, uint32_t slot)
{
    return r->now[slot].ready <= r->from;
}

static ss_status push_event(ss_replay_shared *r, const ss_live *l, uint32_t slot, ss_time at,
                            ss_error *err)
{
    return ss_queue_push(&r->queue, (ss_entry){at, slot, l->row[slot].where}) ? SS_OK
                                                                              : no_room(err);
}

/* A task that was ready by the snapshot: it has ended, computes, passes its latency, or flows, which the
 * snapshot knows. */
static ss_status set_out_kept(ss_replay_shared *r, const ss_live *l, uint32_t slot, ss_error *err)
{
    const times *x = &r->now[slot];
    const ss_live_row *row = &l->row[slot];
    bool flows = ss_tasks_flows(l->pool, (ss_task){slot});
    if (!flows) {
        device *d = &r->device[row->where];
        d->free = x->end > d->free ? x->end : d->free;
        d->left -= (uint64_t)row->hold;
    }
    if (x->end <= r->from) {
        r->next_makespan = x->end > r->next_makespan ? x->end : r->next_makespan;
        for (uint32_t o = row->first; o < row->last; o++)
            r->next[l->out[o]].missing--;
        return SS_OK;
    }
    if (!flows)
        return push_event(r, l, slot, x->end, err);
    return x->start + row->hold > r->from ? push_event(r, l, slot, x->start + row->hold, err)
                                          : SS_OK;
}

static ss_status begin_kept_flows(ss_replay_shared *r, const ss_live *l, ss_error *err)
{
    const snapshot *s = &r->found.at[r->found.n - 1];
    const ss_tasks *t = l->pool;
    ss_status e = SS_OK;
    for (uint32_t i = s->first; i < s->first + s->n && !e; i++) {
        const ss_flow_left *f = &r->found.flow[i];
        e = ss_sharing_begin_left(r->sharing, s->at,
                                  l->row[f->number].where - t->devices - t->links, f->left,
                                  f->number, err);
    }
    if (!e)
        ss_sharing_settle(r->sharing, s->at);
    return e;
}

static ss_status set_out(ss_replay_shared *r, const ss_live *l, ss_error *err)
{
    ss_status e = SS_OK;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++)
            r->next[i] = (play){.missing = l->row[i].before, .block = b};
    for (uint32_t b = 1; b <= l->blocks && !e; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n && !e; i++) {
            if (r->from >= 0 && keeps(r, i))
                e = set_out_kept(r, l, i, err);
            else if (r->from < 0 && !l->row[i].before)
                e = push_fresh(r, i, err);
        }
    return e || r->from < 0 ? e : begin_kept_flows(r, l, err);
}

/* ---- a run --------------------------------------------------------------------------------- */

static ss_status end_task(ss_replay_shared *r, const ss_live *l, uint32_t slot, ss_time now,
                          ss_error *err)
{
    const ss_live_row *row = &l->row[slot];
    ss_status e = SS_OK;
    r->next[slot].at.end = now;
    r->next_makespan = now;
    for (uint32_t o = row->first; o < row->last && !e; o++) {
        play *p = &r->next[l->out[o]];
        p->at.ready = now;
        if (--p->missing == 0)
            e = push_fresh(r, l->out[o], err);
    }
    return e;
}

static ss_status flow_or_end(ss_replay_shared *r, const ss_live *l, uint32_t slot, ss_time now,
                             ss_error *err)
{
    const ss_tasks *t = l->pool;
    int64_t bytes = ss_tasks_flow(t, (ss_task){slot});
    if (!bytes)
        return end_task(r, l, slot, now, err);
    return ss_sharing_begin(r->sharing, now, l->row[slot].where - t->devices - t->links, bytes,
                            slot, err);
}

/* *least_end: the step does not end before it. */
static ss_status start_task(ss_replay_shared *r, const ss_live *l, uint32_t slot, ss_time now,
                            ss_time *least_end, ss_error *err)
{
    play *x = &r->next[slot];
    ss_time start = now, hold = l->row[slot].hold;
    bool flows = ss_tasks_flows(l->pool, (ss_task){slot});
    device *d = &r->device[flows ? 0 : l->row[slot].where];
    if (!flows && d->free > start)
        start = d->free;
    if (hold > SS_TIME_MAX - start)
        return ss_replay_refuse_overflow(slot, err);
    if (!flows) {
        ss_time through =
            d->left > (uint64_t)(SS_TIME_MAX - start) ? SS_TIME_MAX : start + (ss_time)d->left;
        *least_end = through > *least_end ? through : *least_end;
        d->free = start + hold;
        d->left -= (uint64_t)hold;
    }
    x->at.start = start;
    r->visited++;
    if (start + hold == now)
        return flows ? flow_or_end(r, l, slot, now, err) : end_task(r, l, slot, now, err);
    return push_event(r, l, slot, start + hold, err);
}

static ss_status pass_instant(ss_replay_shared *r, const ss_live *l, ss_time now,
                              ss_time *least_end, ss_error *err)
{
    ss_queue *q = &r->queue;
    const ss_tasks *t = l->pool;
    ss_status e = SS_OK;
    for (uint32_t slot; !e && (slot = ss_sharing_end(r->sharing, now));) /* before any begins */
        e = end_task(r, l, slot, now, err);
    while (!e && (q->n || q->later)) {
        if (!q->n && !ss_queue_refill(q))
            return no_room(err);
        if (q->near[0].ready != now)
            break;
        ss_entry x = ss_queue_pop(q);
        /* a kept task's start and ready are not in the row of this run: they stay as they are */
        e = x.where > t->devices + t->links ? flow_or_end(r, l, x.id, now, err)
                                            : end_task(r, l, x.id, now, err);
    }
    while (!e && r->fresh.n)
        e = start_task(r, l, (uint32_t)ss_fresh_pop(&r->fresh), now, least_end, err);
    if (e)
        return e;
    ss_sharing_settle(r->sharing, now);
    if (++r->instants % r->found.every == 0)
        e = take_snapshot(r, now, err);
    return e;
}

static ss_status next_instant(ss_replay_shared *r, ss_time *out, ss_error *err)
{
    ss_queue *q = &r->queue;
    *out = ss_sharing_next(r->sharing);
    if (!q->n && q->later && !ss_queue_refill(q))
        return no_room(err);
    if (q->n && q->near[0].ready < *out)
        *out = q->near[0].ready;
    return SS_OK;
}

static ss_status run(ss_replay_shared *r, const ss_live *l, ss_time bound, ss_replayed *out,
                     ss_error *err)
{
    ss_time now = 0, least_end = 0;
    ss_status e = SS_OK;
    if (r->from >= 0)
        e = next_instant(r, &now, err);
    while (!e && now != SS_TIME_MAX) {
        least_end = now > least_end ? now : least_end;
        if (least_end <= bound)
            e = pass_instant(r, l, now, &least_end, err);
        if (!e && least_end > bound) {
            *out = (ss_replayed){least_end, true, r->visited};
            return SS_OK;
        }
        if (!e)
            e = next_instant(r, &now, err);
    }
    if (!e && ss_sharing_flows(r->sharing))
        e = ss_replay_refuse_overflow(0, err);
    r->complete = !e;
    *out = (ss_replayed){r->next_makespan, r->next_makespan > bound, r->visited};
    return e;
}

/* The first time that the change under way can touch: as in replay.c, with the ends that are held. */
static bool ready_by_now(const ss_replay_shared *r, const ss_live *l, uint32_t slot,
                         uint32_t first_new, ss_time *out)
{
    *out = 0;
    for (uint32_t k = l->in[slot].first; k < l->in[slot].last; k++) {
        uint32_t p = l->pool->in[k];
        if (p >= first_new)
            return false;
        *out = r->now[p].end > *out ? r->now[p].end : *out;
    }
    return true;
}

static ss_time first_touched(ss_replay_shared *r, const ss_live *l)
{
    uint32_t first_new = ss_live_first_new(l);
    ss_time tau = SS_TIME_MAX, ready;
    for (uint32_t k = 0; k < l->gones; k++)
        for (uint32_t i = l->gone[k].first; i < l->gone[k].first + l->gone[k].n; i++)
            tau = r->now[i].ready < tau ? r->now[i].ready : tau;
    for (uint32_t k = 0; k < l->rewireds; k++) {
        uint32_t i = l->rewired[k].slot;
        tau = r->now[i].ready < tau ? r->now[i].ready : tau;
        if (ready_by_now(r, l, i, first_new, &ready))
            tau = ready < tau ? ready : tau;
    }
    for (uint32_t k = 0; k < l->mades; k++)
        for (uint32_t i = l->made[k].first; i < l->made[k].first + l->made[k].n; i++) {
            r->now[i].ready = SS_TIME_MAX;
            if (ready_by_now(r, l, i, first_new, &ready))
                tau = ready < tau ? ready : tau;
        }
    return tau;
}

ss_status ss_replay_shared_run(ss_replay_shared *r, const ss_live *l, bool from_beginning,
                               ss_time bound, ss_replayed *out, ss_error *err)
{
    ss_status e = reserve(r, l, err);
    if (e)
        return e;
    e = begin_snapshots(r, from_beginning ? 0 : first_touched(r, l), err);
    r->from = r->found.n ? r->found.at[r->found.n - 1].at : -1;
    if (!e)
        e = set_out(r, l, err);
    return e ? e : run(r, l, bound, out, err);
}

/* ---- after a run --------------------------------------------------------------------------- */

static times times_of(const ss_replay_shared *r, uint32_t slot)
{
    times x = r->next[slot].at;
    if (r->from < 0 || !keeps(r, slot))
        return x;
    return r->now[slot].end <= r->from ? r->now[slot]
                                       : (times){r->now[slot].ready, r->now[slot].start, x.end};
}

void ss_replay_shared_keep(ss_replay_shared *r, const ss_live *l)
{
    if (!r->complete)
        return;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++)
            r->now[i] = times_of(r, i);
    r->makespan = r->next_makespan;
    snapshots held = r->held;
    r->held = r->found;
    r->found = held;
    r->complete = false;
}

uint32_t ss_replay_shared_changed(const ss_replay_shared *r, const ss_live *l)
{
    uint32_t first_new = ss_live_first_new(l), changed = 0;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            times x = times_of(r, i);
            changed += i >= first_new || x.ready != r->now[i].ready || x.start != r->now[i].start ||
                       x.end != r->now[i].end;
        }
    return changed;
}

/* Snapshots name flows by slot. */
static void renumber(snapshots *s, const uint32_t *other)
{
    for (uint32_t i = 0; i < s->flows; i++)
        s->flow[i].number = other[s->flow[i].number];
}

ss_status ss_replay_shared_tidy(ss_replay_shared *r, ss_live *l, ss_error *err)
{
    size_t rows = (size_t)l->n + 1;
    times *tidy = ss_alloc(rows * sizeof *tidy);
    uint32_t *other = ss_alloc_zeroed((size_t)l->pool->n + 1, sizeof *other), id = 0;
    ss_status e = tidy && other ? SS_OK : ss_fail_memory(err, "a timeline", rows * sizeof *tidy);
    for (uint32_t b = 1; b <= l->blocks && !e; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            tidy[++id] = r->now[i];
            other[i] = id;
        }
    if (!e)
        e = ss_live_tidy(l, err);
    if (!e) {
        renumber(&r->held, other);
        ss_free(r->now);
        r->now = tidy;
        r->now_cap = (uint32_t)rows;
        tidy = NULL;
    }
    ss_free(tidy);
    ss_free(other);
    return e;
}

ss_status ss_replay_shared_timeline(const ss_replay_shared *r, const ss_live *l, bool of_last_run,
                                    ss_timeline *out, ss_error *err)
{
    ss_status e = ss_timeline_reserve(out, l->n, err);
    if (e)
        return e;
    out->n = ss_live_tasks(l);
    out->makespan = of_last_run ? r->next_makespan : r->makespan;
    out->ready[0] = out->start[0] = out->end[0] = 0;
    uint32_t id = 0;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            if (ss_live_is_absent(l, i))
                continue;
            times x = of_last_run ? times_of(r, i) : r->now[i];
            out->ready[++id] = x.ready;
            out->start[id] = x.start;
            out->end[id] = x.end;
        }
    return SS_OK;
}
