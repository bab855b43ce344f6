/* delta_told.c - what a sweep found, told to others; and whether it is right. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "simulate/delta_inside.h"

static const ss_delta_mark *mark_of(const ss_delta *d, uint32_t slot)
{
    const ss_delta_mark *m = &d->mark[slot];
    return m->run == d->run && m->flags & SS_DELTA_SETTLED ? m : NULL;
}

uint32_t ss_delta_changed(const ss_delta *d, const ss_live *l)
{
    if (d->last == SS_DELTA_REPLAYED)
        return ss_delta_is_shared(l) ? ss_replay_shared_changed(d->shared, l)
                                     : ss_replay_changed(d->replay, l);
    return d->last == SS_DELTA_SWEPT ? d->changed : 0;
}

ss_status ss_delta_timeline(const ss_delta *d, const ss_live *l, bool of_last_run, ss_timeline *out,
                            ss_error *err)
{
    if (ss_delta_is_shared(l))
        return ss_replay_shared_timeline(d->shared, l, of_last_run, out, err);
    bool swept = of_last_run && d->last == SS_DELTA_SWEPT;
    ss_status e = ss_replay_timeline(d->replay, l, of_last_run && !swept, out, err);
    if (e || !swept)
        return e;
    out->makespan = d->makespan;
    uint32_t id = 0;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            if (ss_live_is_absent(l, i))
                continue;
            const ss_delta_mark *m = mark_of(d, i);
            id++;
            if (!m)
                continue;
            out->ready[id] = m->ready;
            out->start[id] = m->start;
            out->end[id] = m->start + l->row[i].hold;
        }
    return SS_OK;
}

ss_status ss_delta_tidy(ss_delta *d, ss_live *l, ss_error *err)
{
    if (ss_delta_is_shared(l)) {
        d->last = SS_DELTA_NOTHING;
        return ss_replay_shared_tidy(d->shared, l, err);
    }
    uint32_t *other = ss_alloc(((size_t)l->pool->n + 1) * sizeof *other), id = 0;
    if (!other)
        return ss_fail_memory(err, "tasks", ((size_t)l->pool->n + 1) * sizeof *other);
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++)
            other[i] = ++id;
    ss_status e = ss_replay_tidy(d->replay, l, err);
    if (e)
        d->in_order = false; /* it is not known how far it came */
    else
        ss_delta_renumber(d, other);
    d->last = SS_DELTA_NOTHING;
    ss_free(other);
    return e;
}

/* ---- E1 to E4 ---------------------------------------------------------------------------- */

typedef struct check {
    const ss_delta *d;
    const ss_live *l;
    bool of_last_run;
    ss_head *order; /* [n] all tasks */
    uint32_t n;
    ss_time *free; /* by resource */
    uint32_t *at;  /* by resource: how many of its list were met */
} check;

static ss_times times_of(const check *c, uint32_t slot)
{
    const ss_replay *r = c->d->replay;
    if (!c->of_last_run)
        return r->now[slot];
    if (c->d->last == SS_DELTA_REPLAYED)
        return r->next[slot].missing & SS_REPLAY_KEEPS
                   ? r->now[slot]
                   : (ss_times){r->next[slot].ready, r->next[slot].start};
    const ss_delta_mark *m = mark_of(c->d, slot);
    return m ? (ss_times){m->ready, m->start} : r->now[slot];
}

static ss_status check_ready(const check *c, uint32_t slot, ss_time is, ss_error *err)
{
    const ss_live *l = c->l;
    ss_time ready = 0;
    for (uint32_t k = l->in[slot].first; k < l->in[slot].last; k++) {
        uint32_t p = l->pool->in[k], where = l->row[p].where;
        ss_time finish = times_of(c, p).start + l->row[p].hold;
        finish += ss_tasks_lag_at(l->pool, where);
        ready = finish > ready ? finish : ready;
    }
    return ready == is ? SS_OK
                       : ss_fail(err, SS_EINVAL,
                                 "E1: slot %u is ready at %lld ps, what it waits for at %lld ps",
                                 slot, (long long)is, (long long)ready);
}

static ss_status check_start(check *c, const ss_head *x, ss_error *err)
{
    uint32_t slot = (uint32_t)x->key, n;
    const uint32_t *r = ss_delta_resources(c->l, slot, &n);
    ss_time start = x->ready, is = times_of(c, slot).start;
    bool listed = !c->of_last_run && c->d->in_order;
    for (uint32_t k = 0; k < n; k++) {
        const ss_delta_list *list = listed ? &c->d->list[r[k]] : NULL;
        start = c->free[r[k]] > start ? c->free[r[k]] : start;
        c->free[r[k]] = is + c->l->row[slot].hold;
        uint32_t at = c->at[r[k]]++;
        if (list && (at >= list->n || list->at[at].ready != x->ready || list->at[at].key != x->key))
            return ss_fail(err, SS_EINVAL, "E2: slot %u is not number %u on resource %u", slot, at,
                           r[k]);
        if (list && list->before[at + 1] - list->before[at] != (uint64_t)c->l->row[slot].hold)
            return ss_fail(err, SS_EINVAL, "the work before slot %u is wrong", slot);
    }
    return start == is
               ? SS_OK
               : ss_fail(err, SS_EINVAL, "E3: slot %u starts at %lld ps; it could at %lld ps", slot,
                         (long long)is, (long long)start);
}

static int by_place(const void *a, const void *b)
{
    const ss_head *x = a, *y = b;
    return ss_head_before(*x, *y) ? -1 : ss_head_before(*y, *x);
}

static ss_status check_all(check *c, ss_error *err)
{
    const ss_live *l = c->l;
    ss_status e = SS_OK;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n && !e; i++) {
            ss_time ready = times_of(c, i).ready;
            c->order[c->n++] = (ss_head){ready, ss_delta_key(l, i)};
            e = check_ready(c, i, ready, err);
        }
    qsort(c->order, c->n, sizeof *c->order, by_place);
    for (uint32_t k = 0; k < c->n && !e; k++)
        e = check_start(c, &c->order[k], err);
    bool listed = !c->of_last_run && c->d->in_order;
    for (uint32_t r = 1; r < c->d->lists && listed && !e; r++)
        if (c->at[r] != c->d->list[r].n)
            e = ss_fail(err, SS_EINVAL, "E2: resource %u has %u tasks, and lists %u", r, c->at[r],
                        c->d->list[r].n);
    return e;
}

ss_status ss_delta_check(const ss_delta *d, const ss_live *l, bool of_last_run, ss_error *err)
{
    size_t resources = (size_t)l->pool->devices + l->pool->links + 1;
    check c = {.d = d,
               .l = l,
               .of_last_run = of_last_run,
               .order = ss_alloc(((size_t)l->n + 1) * sizeof *c.order),
               .free = ss_alloc_zeroed(resources, sizeof *c.free),
               .at = ss_alloc_zeroed(resources, sizeof *c.at)};
    ss_status e = c.order && c.free && c.at
                      ? check_all(&c, err)
                      : ss_fail_memory(err, "checking a timeline", l->n * sizeof *c.order);
    ss_free(c.order);
    ss_free(c.free);
    ss_free(c.at);
    return e;
}
