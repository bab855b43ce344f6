/* delta.c - the sweep.
 *
 * At any moment the sweep stands at a place (ready, block, slot).  All that is at or before it in the
 * new timeline is final: what was settled has its new times, what was not stopped at its old ones.
 *
 * A task's new ready time is kept up as the latest finish of its predecessors as far as they are
 * known: settled ones by their new finish, others by their old one.  A predecessor that has not been
 * settled when the sweep comes to its old finish is late; its successors then miss it.  A new task is
 * missed from the beginning.  So whenever the sweep comes to the place of a task that misses
 * nobody, every predecessor has been settled or keeps its finish.
 *
 * A list remembers when its resource is free where the sweep passed last.  Where that is what it was
 * in the old timeline, or the next task starts as it did all the same, nothing more has to be
 * looked at; else the sweep stops at the next task.  A stop further along, with tasks in between,
 * therefore finds these as they were.
 */
#include "simulate/delta.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "simulate/delta_inside.h"

ss_status ss_delta_new(bool bounds, ss_delta **out, ss_error *err)
{
    ss_delta *d = ss_alloc_zeroed(1, sizeof *d);
    if (!d)
        return ss_fail_memory(err, "a simulation", sizeof *d);
    ss_status e = ss_replay_new(bounds, &d->replay, err);
    if (!e)
        e = ss_replay_shared_new(&d->shared, err);
    if (e)
        ss_delta_free(d);
    else
        *out = d;
    return e;
}

void ss_delta_free(ss_delta *d)
{
    if (!d)
        return;
    ss_replay_free(d->replay);
    ss_replay_shared_free(d->shared);
    ss_delta_free_lists(d);
    ss_free(d->mark);
    ss_free(d->stops.heap);
    ss_free(d->settled);
    ss_free(d->move);
    ss_free(d->scratch);
    ss_free(d);
}

/* ---- where to stop ----------------------------------------------------------------------- */

static ss_status push(ss_delta *d, ss_head x, ss_error *err)
{
    ss_heads *h = &d->stops;
    ss_status e = SS_RESERVE(h->heap, h->cap, (size_t)h->n + 1, "waiting tasks", err);
    if (!e)
        ss_heads_push(h, x);
    return e;
}

static ss_time old_finish(const ss_delta *d, const ss_live *l, uint32_t slot)
{
    const ss_live_row *row = &l->row[slot];
    return d->replay->now[slot].start + row->hold + ss_tasks_lag_at(l->pool, row->where);
}

static ss_delta_mark *touch(ss_delta *d, uint32_t slot)
{
    ss_delta_mark *m = &d->mark[slot];
    if (m->run != d->run) {
        const ss_times *now = &d->replay->now[slot];
        *m = (ss_delta_mark){.ready = now->ready, .start = now->start, .run = d->run};
    }
    return m;
}

static ss_status stop_at_old_place(ss_delta *d, const ss_live *l, uint32_t slot, ss_delta_mark *m,
                                   ss_error *err)
{
    if (m->flags & SS_DELTA_DUE)
        return SS_OK;
    m->flags |= SS_DELTA_DUE;
    return push(d, (ss_head){d->replay->now[slot].ready, ss_delta_key(l, slot)}, err);
}

/* A task is not settled at its old place.  By now each predecessor is settled or late, so if it misses
 * none its new place is known; else, or if that is after its old finish, its successors have to know
 * when that comes.  Block 0 is before all tasks that may be ready then. */
static ss_status watch_finish(ss_delta *d, const ss_live *l, uint32_t slot, const ss_delta_mark *m,
                              ss_error *err)
{
    ss_time finish = old_finish(d, l, slot);
    return m->missing || m->ready >= finish ? push(d, (ss_head){finish, slot}, err) : SS_OK;
}

/* After its ready time or whom it misses has changed. */
static ss_status update(ss_delta *d, const ss_live *l, uint32_t slot, ss_delta_mark *m,
                        ss_error *err)
{
    ss_status e = SS_OK;
    if (!(m->flags & SS_DELTA_FRESH)) {
        if (!m->missing && m->ready == d->replay->now[slot].ready)
            return SS_OK; /* as it was; if its old place is due, it is settled there */
        e = stop_at_old_place(d, l, slot, m, err);
    }
    return e || m->missing ? e : push(d, (ss_head){m->ready, ss_delta_key(l, slot)}, err);
}

/* ---- what successors are told ------------------------------------------------------------- */

/* The latest finish of the predecessors that are known, and how many are not. */
static void ask_predecessors(const ss_delta *d, const ss_live *l, uint32_t slot, ss_delta_mark *m)
{
    ss_time ready = 0;
    uint32_t missing = 0;
    for (uint32_t k = l->in[slot].first; k < l->in[slot].last; k++) {
        uint32_t p = l->pool->in[k];
        const ss_delta_mark *before = &d->mark[p];
        bool marked = before->run == d->run;
        ss_time finish;
        if (marked && before->flags & SS_DELTA_SETTLED) {
            finish = before->start + l->row[p].hold + ss_tasks_lag_at(l->pool, l->row[p].where);
        } else if (p >= d->first_new || (marked && before->flags & SS_DELTA_LATE)) {
            missing++;
            continue;
        } else {
            finish = old_finish(d, l, p);
        }
        ready = finish > ready ? finish : ready;
    }
    m->ready = ready;
    m->missing = missing;
}

static ss_status tell_late(ss_delta *d, const ss_live *l, uint32_t slot, ss_error *err)
{
    const ss_live_row *row = &l->row[slot];
    ss_status e = SS_OK;
    d->mark[slot].flags |= SS_DELTA_LATE;
    for (uint32_t o = row->first; o < row->last && !e; o++) {
        ss_delta_mark *m = touch(d, l->out[o]);
        if (m->missing++ == 0)
            e = update(d, l, l->out[o], m, err);
    }
    return e;
}

/* Successors that missed it. */
static ss_status tell_arrived(ss_delta *d, const ss_live *l, const ss_live_row *row, ss_time finish,
                              ss_error *err)
{
    ss_status e = SS_OK;
    for (uint32_t o = row->first; o < row->last && !e; o++) {
        ss_delta_mark *m = touch(d, l->out[o]);
        m->ready = finish > m->ready ? finish : m->ready;
        if (--m->missing == 0)
            e = update(d, l, l->out[o], m, err);
    }
    return e;
}

static ss_status tell_later(ss_delta *d, const ss_live *l, const ss_live_row *row, ss_time finish,
                            ss_error *err)
{
    ss_status e = SS_OK;
    for (uint32_t o = row->first; o < row->last && !e; o++) {
        ss_delta_mark *m = touch(d, l->out[o]);
        if (finish <= m->ready)
            continue;
        m->ready = finish;
        e = update(d, l, l->out[o], m, err);
    }
    return e;
}

static ss_status tell_earlier(ss_delta *d, const ss_live *l, const ss_live_row *row, ss_time was,
                              ss_error *err)
{
    ss_status e = SS_OK;
    for (uint32_t o = row->first; o < row->last && !e; o++) {
        ss_delta_mark *m = touch(d, l->out[o]);
        if (m->ready != was)
            continue; /* another one is later, or is missed and will be */
        ask_predecessors(d, l, l->out[o], m);
        if (m->ready != was)
            e = update(d, l, l->out[o], m, err);
    }
    return e;
}

static ss_status tell(ss_delta *d, const ss_live *l, uint32_t slot, const ss_delta_mark *m,
                      ss_error *err)
{
    const ss_live_row *row = &l->row[slot];
    ss_time finish = m->start + row->hold + ss_tasks_lag_at(l->pool, row->where);
    if (m->flags & (SS_DELTA_FRESH | SS_DELTA_LATE))
        return tell_arrived(d, l, row, finish, err);
    ss_time was = old_finish(d, l, slot);
    if (finish > was)
        return tell_later(d, l, row, finish, err);
    return finish < was ? tell_earlier(d, l, row, was, err) : SS_OK;
}

/* ---- resources --------------------------------------------------------------------------- */

static ss_time old_end(const ss_delta *d, const ss_live *l, const ss_head *x)
{
    uint32_t slot = (uint32_t)x->key;
    return d->replay->now[slot].start + l->row[slot].hold;
}

/* Brings a list to a place of the sweep. */
static void reach(ss_delta *d, const ss_live *l, ss_delta_list *list, const ss_head *x)
{
    if (list->run != d->run) {
        list->run = d->run;
        list->passed = list->first_move = list->joined = 0;
        list->free = 0;
        list->extra = 0;
    }
    uint32_t low = list->passed, step = 1;
    if (low == list->n || !ss_head_before(list->at[low], *x))
        return;
    while (low + step < list->n && ss_head_before(list->at[low + step], *x)) {
        low += step;
        step *= 2;
    }
    uint32_t high = low + step < list->n ? low + step : list->n; /* at[low] is before x, */
    while (high - low > 1) {                                     /* at[high] is not */
        uint32_t middle = low + (high - low) / 2;
        if (ss_head_before(list->at[middle], *x))
            low = middle;
        else
            high = middle;
    }
    list->passed = high;
    list->free = old_end(d, l, &list->at[low]);
}

/* Stops at the next task of a list if it may have other times. */
static ss_status go_on(ss_delta *d, const ss_live *l, const ss_delta_list *list, ss_error *err)
{
    if (list->passed == list->n)
        return SS_OK;
    ss_time was = list->passed ? old_end(d, l, &list->at[list->passed - 1]) : 0;
    uint32_t next = (uint32_t)list->at[list->passed].key;
    const ss_times *now = &d->replay->now[next];
    if (list->free == was ||
        (list->free <= now->start && (now->ready == now->start || was < now->start)))
        return SS_OK;
    return stop_at_old_place(d, l, next, touch(d, next), err);
}

static ss_status note_move(ss_delta *d, ss_delta_list *list, uint32_t at, uint32_t slot,
                           ss_error *err)
{
    ss_status e = SS_RESERVE(d->move, d->move_cap, (size_t)d->moves + 2, "a timeline", err);
    if (e)
        return e;
    uint32_t i = ++d->moves;
    d->move[i] = (ss_delta_move){0, at, slot};
    if (list->first_move)
        d->move[list->last_move].next = i;
    else
        list->first_move = i;
    list->last_move = i;
    list->joined += slot != 0;
    return SS_OK;
}

/* ---- a stop ------------------------------------------------------------------------------ */

typedef struct stop {
    ss_head at;
    uint32_t slot;
    bool passes, settles; /* its old place is here; its new place is */
    ss_time bound, least_end;
} stop;

/* When the step ends at the earliest, by the work that a resource has left and by the task's tail. */
static ss_time least_end(const ss_delta *d, uint32_t slot, ss_time end, ss_time start,
                         uint64_t left)
{
    ss_time by_work = left > (uint64_t)(SS_TIME_MAX - start) ? SS_TIME_MAX : start + (ss_time)left;
    ss_time tail = d->replay->bounds ? d->replay->tails.tail[slot] : 0;
    ss_time by_way = tail > SS_TIME_MAX - end ? SS_TIME_MAX : end + tail;
    ss_time most = by_work > by_way ? by_work : by_way;
    return d->makespan > most ? d->makespan : most;
}

/* The task's start on its resources, which are then free at its end; and the bound of the makespan
 * that their work makes. */
static ss_status take(ss_delta *d, const ss_live *l, stop *x, ss_delta_mark *m, ss_error *err)
{
    uint32_t n;
    const uint32_t *r = ss_delta_resources(l, x->slot, &n);
    const ss_live_row *row = &l->row[x->slot];
    ss_time start = m->ready, lag = ss_tasks_lag_at(l->pool, row->where);
    uint64_t most = 0;
    for (uint32_t k = 0; k < n; k++) {
        ss_delta_list *list = &d->list[r[k]];
        reach(d, l, list, &x->at);
        start = list->free > start ? list->free : start;
        uint64_t left = l->work[r[k]] - list->before[list->passed] - list->extra;
        most = left > most ? left : most;
    }
    if (row->hold > SS_TIME_MAX - lag || start > SS_TIME_MAX - lag - row->hold)
        return ss_replay_refuse_overflow(x->slot, err);
    for (uint32_t k = 0; k < n; k++)
        d->list[r[k]].free = start + row->hold;
    m->start = start;
    ss_time finish = start + row->hold + lag;
    d->makespan = finish > d->makespan ? finish : d->makespan;
    if (x->bound < SS_TIME_MAX)
        x->least_end = least_end(d, x->slot, start + row->hold, start, most);
    return SS_OK;
}

/* Lists after the stop: what is passed, what is put in and taken out, and whether to stop at the next. */
static ss_status pass(ss_delta *d, const ss_live *l, const stop *x, ss_error *err)
{
    uint32_t n;
    const uint32_t *r = ss_delta_resources(l, x->slot, &n);
    uint64_t hold = (uint64_t)l->row[x->slot].hold;
    ss_status e = SS_OK;
    for (uint32_t k = 0; k < n && !e; k++) {
        ss_delta_list *list = &d->list[r[k]];
        if (x->passes != x->settles) {
            e = note_move(d, list, list->passed, x->settles ? x->slot : 0, err);
            list->extra += x->settles ? hold : -hold;
        }
        list->passed += x->passes;
        if (!e)
            e = go_on(d, l, list, err);
    }
    return e;
}

static ss_status settle(ss_delta *d, const ss_live *l, uint32_t slot, ss_delta_mark *m,
                        ss_error *err)
{
    ss_status e = SS_RESERVE(d->settled, d->settled_cap, (size_t)d->settleds + 1, "tasks", err);
    if (e)
        return e;
    const ss_times *now = &d->replay->now[slot];
    d->settled[d->settleds++] = slot;
    m->flags |= SS_DELTA_SETTLED;
    d->changed += m->flags & SS_DELTA_FRESH || now->ready != m->ready || now->start != m->start;
    return tell(d, l, slot, m, err);
}

static ss_status stop_here(ss_delta *d, const ss_live *l, stop *x, ss_error *err)
{
    ss_delta_mark *m = &d->mark[x->slot];
    uint32_t n;
    ss_status e = SS_OK;
    if (x->settles) {
        if ((e = take(d, l, x, m, err)) || x->least_end > x->bound)
            return e;
    } else {
        const uint32_t *r = ss_delta_resources(l, x->slot, &n);
        for (uint32_t k = 0; k < n; k++)
            reach(d, l, &d->list[r[k]], &x->at);
    }
    if (x->passes)
        m->flags |= SS_DELTA_PASSED;
    e = pass(d, l, x, err);
    if (e)
        return e;
    if (x->settles)
        return settle(d, l, x->slot, m, err);
    return m->flags & (SS_DELTA_GONE | SS_DELTA_SETTLED) ? SS_OK
                                                         : watch_finish(d, l, x->slot, m, err);
}

/* ---- a sweep ----------------------------------------------------------------------------- */

static ss_status reserve(ss_delta *d, const ss_live *l, ss_error *err)
{
    size_t slots = (size_t)l->pool->n + 1;
    uint32_t had = d->mark_cap;
    ss_status e = SS_RESERVE(d->mark, d->mark_cap, slots, "a timeline", err);
    if (e)
        return e;
    if (d->mark_cap > had)
        memset(d->mark + had, 0, (d->mark_cap - had) * sizeof *d->mark);
    if (++d->run == 0) {
        memset(d->mark, 0, d->mark_cap * sizeof *d->mark);
        for (uint32_t r = 0; r < d->lists; r++)
            d->list[r].run = 0;
        d->run = 1;
    }
    e = ss_delta_prepare_lists(d, l, err);
    d->lists_used = true;
    d->stops.n = d->settleds = d->moves = d->changed = 0;
    d->stops.hole = false;
    d->makespan = 0;
    d->first_new = ss_live_first_new(l);
    return e;
}

/* The change itself: what is gone, what is new, what has other predecessors. */
static ss_status set_out(ss_delta *d, const ss_live *l, ss_error *err)
{
    ss_status e = SS_OK;
    for (uint32_t k = 0; k < l->gones; k++)
        for (uint32_t i = l->gone[k].first; i < l->gone[k].first + l->gone[k].n && !e; i++) {
            ss_delta_mark *m = touch(d, i);
            m->flags = SS_DELTA_GONE;
            e = stop_at_old_place(d, l, i, m, err);
        }
    for (uint32_t k = 0; k < l->mades; k++)
        for (uint32_t i = l->made[k].first; i < l->made[k].first + l->made[k].n && !e; i++) {
            ss_delta_mark *m = &d->mark[i];
            *m = (ss_delta_mark){.run = d->run, .flags = SS_DELTA_FRESH};
            ask_predecessors(d, l, i, m);
            e = update(d, l, i, m, err);
        }
    for (uint32_t k = 0; k < l->rewireds && !e; k++) {
        ss_delta_mark *m = touch(d, l->rewired[k].slot);
        ask_predecessors(d, l, l->rewired[k].slot, m);
        e = update(d, l, l->rewired[k].slot, m, err);
    }
    return e;
}

/* The latest finish of the tasks that keep their times, if it is later than that of the others.  In a
 * list ends only grow; a task of several resources has no lag. */
static ss_time find_makespan(const ss_delta *d, const ss_live *l)
{
    ss_time makespan = d->makespan;
    for (uint32_t r = 1; r < d->lists; r++) {
        const ss_delta_list *list = &d->list[r];
        for (uint32_t k = list->n; k-- > 0;) {
            ss_time end = old_end(d, l, &list->at[k]);
            if (end + l->pool->lag[r] <= makespan)
                break;
            uint32_t slot = (uint32_t)list->at[k].key;
            const ss_delta_mark *m = &d->mark[slot];
            if (m->run == d->run && m->flags & (SS_DELTA_SETTLED | SS_DELTA_GONE))
                continue;
            end += ss_tasks_lag_at(l->pool, l->row[slot].where);
            makespan = end > makespan ? end : makespan;
        }
    }
    return makespan;
}

/* One stop; x->least_end stays 0 where nothing was settled. */
static ss_status stop_at_first(ss_delta *d, const ss_live *l, stop *x, ss_error *err)
{
    ss_head at = d->stops.heap[0];
    x->at = at;
    x->slot = (uint32_t)at.key;
    x->least_end = 0;
    const ss_delta_mark *m = &d->mark[x->slot];
    ss_status e = SS_OK;
    d->stops.hole = true;
    if (at.key >> 32 == 0) {
        if (!(m->flags & SS_DELTA_SETTLED))
            e = tell_late(d, l, x->slot, err);
    } else {
        x->passes = !(m->flags & (SS_DELTA_FRESH | SS_DELTA_PASSED)) &&
                    at.ready == d->replay->now[x->slot].ready;
        x->settles =
            !(m->flags & (SS_DELTA_GONE | SS_DELTA_SETTLED)) && !m->missing && at.ready == m->ready;
        if (x->passes || x->settles) /* else it was to be here, and is elsewhere now */
            e = stop_here(d, l, x, err);
    }
    ss_heads_close(&d->stops);
    return e;
}

/* Until all is settled, or the bound is passed, or so many tasks were settled as the limit is. */
static ss_status sweep(ss_delta *d, const ss_live *l, ss_time bound, uint32_t limit,
                       ss_deltaed *out, ss_error *err)
{
    stop x = {.bound = bound};
    while (d->stops.n) {
        if (d->settleds >= limit) {
            *out = (ss_deltaed){0, false, true, d->settleds};
            return SS_OK;
        }
        ss_status e = stop_at_first(d, l, &x, err);
        if (e)
            return e;
        if (x.least_end > bound) {
            *out = (ss_deltaed){x.least_end, true, false, d->settleds + 1};
            return SS_OK;
        }
    }
    d->makespan = find_makespan(d, l);
    *out = (ss_deltaed){d->makespan, d->makespan > bound, false, d->settleds};
    return ss_delta_reserve_moves(d, err);
}

static ss_deltaed as_deltaed(const ss_replayed *r, bool fell_back)
{
    return (ss_deltaed){r->makespan, r->stopped, fell_back, r->visited};
}

static ss_status run_shared(ss_delta *d, const ss_live *l, bool from_beginning, ss_time bound,
                            ss_deltaed *out, ss_error *err)
{
    ss_replayed r = {0};
    ss_status e = ss_replay_shared_run(d->shared, l, from_beginning, bound, &r, err);
    *out = as_deltaed(&r, !from_beginning);
    if (!e && !r.stopped)
        d->last = SS_DELTA_REPLAYED;
    return e;
}

ss_status ss_delta_whole(ss_delta *d, const ss_live *l, ss_time bound, ss_deltaed *out,
                         ss_error *err)
{
    ss_replayed r = {0};
    d->last = SS_DELTA_NOTHING;
    if (ss_delta_is_shared(l))
        return run_shared(d, l, true, bound, out, err);
    ss_status e = ss_delta_make_lists(d, l, err);
    if (!e)
        e = ss_replay_whole(d->replay, l, bound, &r, err);
    if (!e && !r.stopped)
        d->last = SS_DELTA_REPLAYED;
    *out = as_deltaed(&r, false);
    return e;
}

static ss_status fall_back(ss_delta *d, const ss_live *l, ss_time from, ss_time bound,
                           ss_deltaed *out, ss_error *err)
{
    uint32_t visited = out->visited;
    ss_replayed r = {0};
    ss_status e = ss_replay_from(d->replay, l, from, bound, &r, err);
    *out = as_deltaed(&r, true);
    out->visited += visited;
    if (!e && !r.stopped)
        d->last = SS_DELTA_REPLAYED;
    return e;
}

/* Whether sweeping costs less than simulating however many of the tasks from there on move. */
static bool pays(const ss_delta *d, const ss_live *l, ss_time from)
{
    uint32_t most = l->n / SS_DELTA_COST, first_new = ss_live_first_new(l), moved = 0;
    for (uint32_t b = l->blocks; b > 0; b--) /* what comes late is at the end */
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            moved += i >= first_new || d->replay->now[i].ready >= from;
            if (moved > most)
                return false;
        }
    return true;
}

static ss_status try_sweep(ss_delta *d, const ss_live *l, ss_time from, ss_time bound,
                           uint32_t limit, ss_deltaed *out, ss_error *err)
{
    ss_replayed r;
    ss_status e = ss_replay_find_tails(d->replay, l, err);
    if (!e)
        e = reserve(d, l, err);
    if (e)
        return e;
    if (ss_replay_too_long_a_way(d->replay, l, from, bound, &r)) {
        *out = as_deltaed(&r, false);
        return SS_OK;
    }
    e = set_out(d, l, err);
    if (!e)
        e = sweep(d, l, bound, limit, out, err);
    if (!e && !out->stopped && !out->fell_back)
        d->last = SS_DELTA_SWEPT;
    return e;
}

ss_status ss_delta_change(ss_delta *d, const ss_live *l, ss_time bound, uint32_t limit,
                          ss_deltaed *out, ss_error *err)
{
    ss_replayed r;
    d->last = SS_DELTA_NOTHING;
    *out = (ss_deltaed){.fell_back = true};
    if (ss_replay_too_much_work(l, bound, &r)) {
        *out = as_deltaed(&r, false);
        return SS_OK;
    }
    if (ss_delta_is_shared(l))
        return run_shared(d, l, false, bound, out, err);
    ss_status e = ss_replay_reserve_held(d->replay, l, err);
    if (e)
        return e;
    ss_time from = ss_replay_first_touched(d->replay, l);
    if (limit == SS_DELTA_AS_EXPECTED)
        limit = pays(d, l, from) ? SS_DELTA_NO_LIMIT : 0;
    if (limit)
        e = try_sweep(d, l, from, bound, limit, out, err);
    return e || !out->fell_back ? e : fall_back(d, l, from, bound, out, err);
}

static void keep_swept(ss_delta *d, const ss_live *l)
{
    ss_delta_apply_moves(d, l);
    for (uint32_t k = 0; k < d->settleds; k++) {
        const ss_delta_mark *m = &d->mark[d->settled[k]];
        d->replay->now[d->settled[k]] = (ss_times){m->ready, m->start};
    }
    ss_replay_hold(d->replay, d->makespan);
}

void ss_delta_keep(ss_delta *d, const ss_live *l)
{
    if (d->last == SS_DELTA_REPLAYED && ss_delta_is_shared(l)) {
        ss_replay_shared_keep(d->shared, l);
    } else if (d->last == SS_DELTA_REPLAYED) {
        ss_replay_keep(d->replay, l);
        ss_delta_follow_replay(d, l);
    } else if (d->last == SS_DELTA_SWEPT) {
        keep_swept(d, l);
    }
    d->last = SS_DELTA_NOTHING;
}

void ss_delta_undo(ss_delta *d)
{
    ss_replay_undo(d->replay);
    d->last = SS_DELTA_NOTHING;
}
