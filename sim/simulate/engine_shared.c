/* engine_shared.c - from instant to instant: what ends, what is ready, what starts, the new rates.
 *
 * Since (ready, id) grows along every edge, the tasks that become ready at one instant are known when
 * all that ends then has been told; taken in order of id, each starts when it is ready and the one
 * before it on its device has ended, which is known at once.  A transfer starts when it is ready,
 * passes its latency as an entry of the queue, and flows; when flows end the sharing says.
 */
#include "simulate/engine_inside.h"

#include "base/mem.h"
#include "graph/cycle.h"
#include "simulate/paths.h"

typedef struct shared_run {
    ss_engine *e;
    const ss_tasks *t;
    ss_timeline *out;
    uint32_t done;
} shared_run;

static ss_status no_room(ss_error *err)
{
    return ss_fail(err, SS_ENOMEM, "no memory for more waiting tasks");
}

/* A task has ended: its successors are told. */
static ss_status end_task(shared_run *r, uint32_t id, ss_time now, ss_error *err)
{
    ss_engine *e = r->e;
    const ss_task_at_work *x = &e->node[id];
    ss_status s = SS_OK;
    r->out->end[id] = now;
    r->done++;
    for (uint32_t o = x->first; o < x->last && !s; o++) {
        ss_task_at_work *y = &e->node[r->t->out[o]];
        y->ready = now; /* instants follow each other */
        if (--y->missing == 0)
            s = ss_fresh_push(&e->fresh, r->t->out[o], err);
    }
    return s;
}

static bool is_flow(const ss_tasks *t, uint32_t where)
{
    return where > t->devices + t->links;
}

static ss_status flow_or_end(shared_run *r, uint32_t id, ss_time now, ss_error *err)
{
    const ss_tasks *t = r->t;
    int64_t bytes = ss_tasks_flow(t, (ss_task){id});
    if (!bytes)
        return end_task(r, id, now, err);
    ss_status s = ss_sharing_begin(r->e->sharing, now, r->e->node[id].where - t->devices - t->links,
                                   bytes, id, err);
    return s ? ss_fail_in(err, "task %u", id) : SS_OK;
}

static ss_status start_task(shared_run *r, uint32_t id, ss_time now, ss_error *err)
{
    ss_engine *e = r->e;
    ss_task_at_work *x = &e->node[id];
    ss_time start = now, hold = x->hold;
    bool flows = is_flow(r->t, x->where);
    if (!flows && e->resource[x->where].free > start)
        start = e->resource[x->where].free;
    if (hold > SS_TIME_MAX - start)
        return ss_engine_refuse_overflow(id, err);
    if (!flows)
        e->resource[x->where].free = start + hold;
    x->start = start;
    if (start + hold == now)
        return flows ? flow_or_end(r, id, now, err) : end_task(r, id, now, err);
    return ss_queue_push(&e->queue, (ss_entry){start + hold, id, x->where}) ? SS_OK : no_room(err);
}

/* All that happens at one instant. */
static ss_status pass_instant(shared_run *r, ss_time now, ss_error *err)
{
    ss_engine *e = r->e;
    ss_queue *q = &e->queue;
    ss_status s = SS_OK;
    for (uint32_t id; !s && (id = ss_sharing_end(e->sharing, now));) /* before any begins */
        s = end_task(r, id, now, err);
    while (!s && (q->n || q->later)) {
        if (!q->n && !ss_queue_refill(q))
            return no_room(err);
        if (q->near[0].ready != now)
            break;
        ss_entry x = ss_queue_pop(q);
        s = is_flow(r->t, x.where) ? flow_or_end(r, x.id, now, err) : end_task(r, x.id, now, err);
    }
    while (!s && e->fresh.n)
        s = start_task(r, (uint32_t)ss_fresh_pop(&e->fresh), now, err);
    if (!s)
        ss_sharing_settle(e->sharing, now);
    return s;
}

static ss_status set_out(shared_run *r, ss_error *err)
{
    ss_engine *e = r->e;
    const ss_tasks *t = r->t;
    ss_status s = SS_OK;
    if (!e->sharing)
        s = ss_sharing_new(&e->sharing, err);
    ss_paths paths = ss_paths_of(t);
    if (!s)
        s = ss_sharing_start(e->sharing, t->links, t->bytes_per_s, &paths, err);
    e->fresh.n = 0;
    for (uint32_t i = 1; i <= t->n && !s; i++)
        if (e->node[i].missing == 0)
            s = ss_fresh_push(&e->fresh, i, err);
    return s;
}

static ss_status refuse_endless(const shared_run *r, ss_error *err)
{
    if (!ss_sharing_flows(r->e->sharing))
        return ss_cycle_refuse(r->t->n, r->t->first_in, r->t->in, 1, err);
    return ss_fail(err, SS_ERANGE,
                   "%u transfers would end later than 106 days after the start, which times cannot "
                   "hold (rates are whole multiples of about 2^-57 of the fastest link's)",
                   ss_sharing_flows(r->e->sharing));
}

static void write_timeline(const shared_run *r)
{
    ss_timeline *out = r->out;
    ss_time makespan = 0;
    out->n = r->t->n;
    out->ready[0] = out->start[0] = out->end[0] = 0;
    for (uint32_t i = 1; i <= r->t->n; i++) {
        out->ready[i] = r->e->node[i].ready;
        out->start[i] = r->e->node[i].start;
        if (out->end[i] > makespan)
            makespan = out->end[i];
    }
    out->makespan = makespan;
}

ss_status ss_engine_run_shared(ss_engine *e, const ss_tasks *t, ss_timeline *out, ss_error *err)
{
    shared_run r = {e, t, out, 0};
    uint32_t look = SS_LOOK_EVERY;
    ss_time now = 0;
    ss_status s = set_out(&r, err);
    while (!s) {
        if ((s = pass_instant(&r, now, err)))
            break;
        if (r.done >= look) {
            if ((s = ss_look_up(e->watch, "simulating", r.done, t->n, err)))
                break;
            look = r.done + SS_LOOK_EVERY;
        }
        ss_time next = ss_sharing_next(e->sharing);
        ss_queue *q = &e->queue;
        if (!q->n && q->later && !ss_queue_refill(q))
            return no_room(err);
        if (q->n && q->near[0].ready < next)
            next = q->near[0].ready;
        if (next == SS_TIME_MAX)
            break;
        now = next;
    }
    if (s)
        return s;
    if (r.done < t->n)
        return refuse_endless(&r, err);
    write_timeline(&r);
    return SS_OK;
}
