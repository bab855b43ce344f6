#include "simulate/replay.h"

#include "base/array.h"
#include "base/mem.h"
#include "simulate/replay_inside.h"

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

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
    ss_free(r->taken);
    ss_free(r->resource);
    ss_free(r->heads.heap);
    ss_tails_free(&r->tails);
    ss_free(r);
}

/* What is made anew with every run, and by itself. */
static void free_working_memory(ss_replay *r)
{
    ss_free(r->next);
    ss_free(r->taken);
    ss_free(r->heads.heap);
    ss_tails_free(&r->tails);
    r->next = NULL;
    r->taken = NULL;
    r->heads.heap = NULL;
    r->next_cap = r->taken_cap = r->heads.cap = r->takens = 0;
    r->tails_of = SS_TAILS_NONE;
}

/* ---- before a run ------------------------------------------------------------------------ */

ss_status ss_replay_reserve_held(ss_replay *r, const ss_live *l, ss_error *err)
{
    return SS_RESERVE(r->now, r->now_cap, (size_t)l->pool->n + 1, "a timeline", err);
}

static ss_status reserve(ss_replay *r, const ss_live *l, ss_error *err)
{
    const ss_tasks *t = l->pool;
    size_t slots = (size_t)t->n + 1, resources = (size_t)t->devices + t->links + 1;
    ss_status e = ss_replay_reserve_held(r, l, err);
    if (!e)
        e = SS_RESERVE(r->next, r->next_cap, slots, "a timeline", err);
    if (!e)
        e = SS_RESERVE(r->taken, r->taken_cap, slots, "a timeline", err);
    if (!e)
        e = SS_RESERVE(r->resource, r->resource_cap, resources, "resources", err);
    if (!e) /* each task comes into the heap once at most, and only one of a list is there */
        e = SS_RESERVE(r->heads.heap, r->heads.cap, (size_t)l->n + 1, "waiting tasks", err);
    if (e)
        return e;
    r->heads.n = 0;
    r->heads.hole = false;
    for (uint32_t i = 0; i < resources; i++)
        r->resource[i] = (ss_play_resource){0, i ? t->lag[i] : 0, l->work[i], 0};
    return SS_OK;
}

static ss_head head_of(const ss_play *p, uint32_t slot)
{
    return (ss_head){p->ready, (uint64_t)p->block << 32 | slot};
}

/* A task that is ready comes into the heap by itself. */
static inline void come(ss_replay *r, uint32_t slot)
{
    r->next[slot].list = 0;
    ss_heads_push(&r->heads, head_of(&r->next[slot], slot));
}

/* A task that is ready when one on `resource` finishes, for which it waited last. */
static inline void come_behind(ss_replay *r, uint32_t slot, uint32_t list)
{
    ss_play *p = &r->next[slot];
    uint32_t last = r->resource[list].last;
    if (last) {
        ss_play *q = &r->next[last];
        if (!ss_head_before(head_of(q, last), head_of(p, slot))) {
            come(r, slot);
            return;
        }
        q->next = slot;
    }
    p->next = 0;
    p->list = list;
    r->resource[list].last = slot;
    if (!last)
        ss_heads_push(&r->heads, head_of(p, slot));
}

/* Takes the first task, which there is; a hole may be left. */
static inline uint32_t take_first(ss_replay *r, const ss_live_row *row)
{
    ss_heads *h = &r->heads;
    uint32_t slot = (uint32_t)h->heap[0].key;
    const ss_play *p = &r->next[slot];
    if (p->list && p->next) {
        PREFETCH(&row[p->next]); /* it will be taken some dozens of tasks from now */
        ss_heads_down(h->heap, h->n, head_of(&r->next[p->next], p->next));
        return slot;
    }
    if (p->list)
        r->resource[p->list].last = 0;
    h->hole = true;
    return slot;
}

/* All that is simulated is set to its beginning, and what waits for nothing comes. */
static void set_out_whole(ss_replay *r, const ss_live *l)
{
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            r->next[i] = (ss_play){.missing = l->row[i].before, .block = b};
            if (!l->row[i].before)
                come(r, i);
        }
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
        ss_time finish = r->now[p].start + row->hold + ss_tasks_lag_at(l->pool, row->where);
        *out = finish > *out ? finish : *out;
    }
    return true;
}

static ss_time least(ss_time a, ss_time b)
{
    return a < b ? a : b;
}

ss_time ss_replay_first_touched(const ss_replay *r, const ss_live *l)
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

static void take(ss_play_resource *r, ss_time hold, ss_time end)
{
    r->left -= (uint64_t)hold;
    r->free = end > r->free ? end : r->free;
}

/* A task that keeps its times: its resource and its successors are told. */
static void keep_times(ss_replay *r, const ss_live *l, uint32_t i)
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
    ss_time finish = end + ss_tasks_lag_at(t, row->where);
    if (finish > r->next_makespan)
        r->next_makespan = finish;
    for (uint32_t o = row->first; o < row->last; o++) {
        ss_play *p = &r->next[l->out[o]];
        if (p->missing & SS_REPLAY_KEEPS)
            continue;
        p->ready = finish > p->ready ? finish : p->ready;
        if (--p->missing == 0)
            come(r, l->out[o]);
    }
}

static void set_out_from(ss_replay *r, const ss_live *l, ss_time tau)
{
    bool any = false;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            bool keeps = r->now[i].ready < tau;
            uint32_t before = l->row[i].before;
            any |= keeps;
            r->next[i] = (ss_play){.missing = keeps ? SS_REPLAY_KEEPS : before, .block = b};
            if (!before && !keeps)
                come(r, i);
        }
    for (uint32_t b = 1; b <= l->blocks && any; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++)
            if (r->next[i].missing & SS_REPLAY_KEEPS)
                keep_times(r, l, i);
}

/* ---- a run ------------------------------------------------------------------------------- */

ss_status ss_replay_refuse_overflow(uint32_t id, ss_error *err)
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
        ss_play_resource *x = &r->resource[res[k]];
        most = x->left > most ? x->left : most;
        x->free = s + hold;
        x->left -= (uint64_t)hold;
    }
    return most > (uint64_t)(SS_TIME_MAX - s) ? SS_TIME_MAX : s + (ss_time)most;
}

static ss_status run(ss_replay *r, const ss_live *l, ss_time bound, ss_replayed *out, ss_error *err)
{
    uint32_t resources = l->pool->devices + l->pool->links, done = 0;
    const ss_time *tail = r->bounds && bound < SS_TIME_MAX ? r->tails.tail : NULL;
    ss_time makespan = r->next_makespan;
    while (r->heads.n) {
        uint32_t slot = take_first(r, l->row), list = 0;
        const ss_live_row *row = &l->row[slot];
        ss_play *now = &r->next[slot];
        ss_time start = now->ready, hold = row->hold, lag = 0, least_end;
        if (row->where <= resources) {
            ss_play_resource *at = &r->resource[row->where];
            list = row->where;
            start = at->free > start ? at->free : start;
            lag = at->lag;
            if (hold > SS_TIME_MAX - lag || start > SS_TIME_MAX - lag - hold)
                return ss_replay_refuse_overflow(slot, err);
            at->free = start + hold;
            least_end = start + (ss_time)at->left;
            at->left -= (uint64_t)hold;
        } else {
            least_end = take_set(r, l, slot, &start);
            if (start > SS_TIME_MAX - hold)
                return ss_replay_refuse_overflow(slot, err);
        }
        now->start = start;
        ss_time finish = start + hold + lag;
        makespan = finish > makespan ? finish : makespan;
        r->taken[done++] = slot;
        if (bound < SS_TIME_MAX) {
            least_end = finish > least_end ? finish : least_end;
            if (tail && tail[slot] > least_end - start - hold)
                least_end = start + hold + tail[slot];
            if (least_end > bound) {
                *out = (ss_replayed){least_end, true, done};
                return SS_OK;
            }
        }
        for (uint32_t o = row->first; o < row->last; o++) {
            uint32_t to = l->out[o];
            ss_play *p = &r->next[to];
            ss_time ready = finish > p->ready ? finish : p->ready;
            p->ready = ready;
            if (--p->missing)
                continue;
            if (list && ready == finish)
                come_behind(r, to, list);
            else
                come(r, to);
        }
        ss_heads_close(&r->heads);
    }
    r->next_makespan = makespan;
    r->takens = done;
    bool over = makespan > bound; /* by a task that kept its times */
    *out = (ss_replayed){makespan, over, done};
    return SS_OK;
}

bool ss_replay_too_much_work(const ss_live *l, ss_time bound, ss_replayed *out)
{
    ss_time most = ss_live_work_over(l, bound);
    if (!most)
        return false;
    *out = (ss_replayed){most, true, 0};
    return true;
}

ss_status ss_replay_find_tails(ss_replay *r, const ss_live *l, ss_error *err)
{
    if (!r->bounds || (l->changing && r->tails_of == SS_TAILS_CHANGED))
        return SS_OK;
    bool whole = !l->changing || r->tails_of != SS_TAILS_HELD;
    ss_status e = whole ? ss_tails_whole(&r->tails, l, err) : ss_tails_change(&r->tails, l, err);
    if (!e)
        r->tails_of = l->changing ? SS_TAILS_CHANGED : SS_TAILS_HELD;
    else if (whole)
        r->tails_of = SS_TAILS_NONE;
    return e;
}

bool ss_replay_too_long_a_way(const ss_replay *r, const ss_live *l, ss_time tau, ss_time bound,
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
    ss_status e = ss_replay_find_tails(r, l, err);
    if (e || ss_replay_too_much_work(l, bound, out))
        return e;
    r->next_makespan = 0;
    e = reserve(r, l, err);
    if (e)
        return e;
    r->from = 0;
    set_out_whole(r, l);
    return run(r, l, bound, out, err);
}

ss_status ss_replay_from(ss_replay *r, const ss_live *l, ss_time from, ss_time bound,
                         ss_replayed *out, ss_error *err)
{
    r->next_makespan = 0;
    r->from = from;
    ss_status e = ss_replay_find_tails(r, l, err);
    if (!e)
        e = reserve(r, l, err);
    if (e || ss_replay_too_long_a_way(r, l, from, bound, out))
        return e;
    set_out_from(r, l, from);
    return run(r, l, bound, out, err);
}

ss_status ss_replay_change(ss_replay *r, const ss_live *l, ss_time bound, ss_replayed *out,
                           ss_error *err)
{
    if (ss_replay_too_much_work(l, bound, out))
        return SS_OK;
    ss_status e = ss_replay_reserve_held(r, l, err);
    return e ? e : ss_replay_from(r, l, ss_replay_first_touched(r, l), bound, out, err);
}

void ss_replay_hold(ss_replay *r, ss_time makespan)
{
    r->makespan = makespan;
    if (r->tails_of == SS_TAILS_CHANGED)
        r->tails_of = SS_TAILS_HELD;
}

void ss_replay_keep(ss_replay *r, const ss_live *l)
{
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++)
            if (!(r->next[i].missing & SS_REPLAY_KEEPS))
                r->now[i] = (ss_times){r->next[i].ready, r->next[i].start};
    ss_replay_hold(r, r->next_makespan);
}

void ss_replay_undo(ss_replay *r)
{
    if (r->tails_of == SS_TAILS_CHANGED) {
        ss_tails_undo(&r->tails);
        r->tails_of = SS_TAILS_HELD;
    }
}

/* ---- what was found ---------------------------------------------------------------------- */

uint32_t ss_replay_changed(const ss_replay *r, const ss_live *l)
{
    uint32_t first_new = ss_live_first_new(l), changed = 0;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++)
            changed +=
                i >= first_new ||
                (!(r->next[i].missing & SS_REPLAY_KEEPS) &&
                 (r->now[i].ready != r->next[i].ready || r->now[i].start != r->next[i].start));
    return changed;
}

ss_status ss_replay_tidy(ss_replay *r, ss_live *l, ss_error *err)
{
    size_t rows = (size_t)l->n + 1;
    ss_times *tidy = ss_alloc(rows * sizeof *tidy);
    if (!tidy)
        return ss_fail_memory(err, "a timeline", rows * sizeof *tidy);
    uint32_t id = 0;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++)
            tidy[++id] = r->now[i];
    free_working_memory(r); /* while the old graph and the new one are both there */
    ss_status e = ss_live_tidy(l, err);
    if (e) {
        ss_free(tidy);
        return e;
    }
    ss_free(r->now);
    r->now = tidy;
    r->now_cap = (uint32_t)rows;
    r->tails_of = SS_TAILS_NONE;
    return ss_replay_find_tails(r, l, err);
}

ss_status ss_replay_timeline(const ss_replay *r, const ss_live *l, bool of_last_run,
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
            bool last = of_last_run && !(r->next[i].missing & SS_REPLAY_KEEPS);
            out->ready[++id] = last ? r->next[i].ready : r->now[i].ready;
            out->start[id] = last ? r->next[i].start : r->now[i].start;
            out->end[id] = out->start[id] + l->row[i].hold;
        }
    return SS_OK;
}
