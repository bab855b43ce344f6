/* live_rows.c - rows of tasks, predecessors and successors, and how they change.
 *
 * Predecessors come with the tasks, as the lowering writes them.  Successors are rows too, because a
 * simulation walks along them; a row that changes is written anew behind the others, so that undoing
 * is to point to the old one again.
 */
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "graph/live_inside.h"

static ss_status reserve_slots(ss_live *l, ss_error *err)
{
    struct ss_live_inside *x = l->inside;
    size_t need = (size_t)l->pool->n + 1;
    if (need <= x->slot_cap)
        return SS_OK;
    uint32_t cap = ss_grown(x->slot_cap, need);
    ss_status e;
    if ((e = SS_REGROW(l->row, cap, "tasks", err)) || (e = SS_REGROW(l->in, cap, "tasks", err)) ||
        (e = SS_REGROW(x->turn, cap, "tasks", err)))
        return e;
    x->slot_cap = cap;
    return SS_OK;
}

ss_status ss_live_place(ss_live *l, uint32_t b, const ss_block *run, ss_error *err)
{
    const ss_tasks *t = l->pool;
    ss_status e = reserve_slots(l, err);
    for (uint32_t i = run->first; i < run->first + run->n && !e; i++) {
        ss_live_in in = {t->first_in[i], t->first_in[i + 1]};
        l->in[i] = in;
        l->row[i] = (ss_live_row){
            .hold = t->hold[i], .where = t->where[i], .block = b, .before = in.last - in.first};
        l->inside->turn[i] = 0;
    }
    return e;
}

/* A flow does not hold its links; what its bytes take at full bandwidth, less the picosecond by which
 * ends are rounded, is as certain. */
static uint64_t work_on(const ss_tasks *t, uint32_t slot, uint32_t resource, uint64_t hold,
                        uint64_t sign)
{
    if (!ss_tasks_flows(t, (ss_task){slot}))
        return hold;
    double ps = (double)ss_tasks_flow(t, (ss_task){slot}) / t->bytes_per_s[resource - t->devices] *
                SS_PICOSECONDS;
    return ps >= 2 && ps < 9e18 ? ((uint64_t)(ps * (1 - 1e-12)) - 1) * sign : 0;
}

void ss_live_count_work(ss_live *l, const ss_block *run, uint64_t sign)
{
    const ss_tasks *t = l->pool;
    bool parts = run->kind == SS_BLOCK_FORWARD || run->kind == SS_BLOCK_BACKWARD;
    for (uint32_t i = run->first; i < run->first + run->n; i++) {
        uint64_t hold = (uint64_t)l->row[i].hold * sign;
        if (parts)
            l->inside->compute[l->row[i].where] += hold;
        if (l->row[i].where <= t->devices + t->links) {
            l->work[l->row[i].where] += hold;
            continue;
        }
        uint32_t n;
        const uint32_t *r = ss_tasks_resources(t, (ss_task){i}, &n);
        for (uint32_t k = 0; k < n; k++)
            l->work[r[k]] += work_on(t, i, r[k], hold, sign);
    }
}

ss_status ss_live_replace(ss_live *l, uint32_t b, const ss_block *run, ss_error *err)
{
    struct ss_live_inside *x = l->inside;
    size_t need = (size_t)l->mades + 1;
    if (need > x->replaced_cap) {
        uint32_t cap = ss_grown(x->replaced_cap, need);
        ss_status e;
        if ((e = SS_REGROW(x->gone, cap, "a change", err)) ||
            (e = SS_REGROW(x->made, cap, "a change", err)) ||
            (e = SS_REGROW(x->replaced, cap, "a change", err)))
            return e;
        x->replaced_cap = cap;
        l->gone = x->gone;
        l->made = x->made;
        l->replaced = x->replaced;
    }
    x->gone[l->gones++] = l->block[b];
    x->made[l->mades] = *run;
    x->replaced[l->mades++] = b;
    ss_live_count_work(l, run, 1);
    l->n += run->n - l->block[b].n;
    l->block[b] = *run;
    return SS_OK;
}

static bool same_in(const uint32_t *in, ss_live_in a, ss_live_in b)
{
    uint32_t n = a.last - a.first;
    return n == b.last - b.first && !memcmp(in + a.first, in + b.first, n * sizeof *in);
}

ss_status ss_live_rewire(ss_live *l, uint32_t b, const ss_block *run, ss_error *err)
{
    struct ss_live_inside *x = l->inside;
    const ss_block *block = &l->block[b];
    uint32_t *in = x->w.tasks->in;
    if (run->n != block->n)
        return ss_fail(err, SS_EINVAL, "a block of %u tasks was to be kept, and has %u now",
                       block->n, run->n);
    ss_status e =
        SS_RESERVE(x->rewired, x->rewired_cap, (size_t)l->rewireds + run->n, "a change", err);
    l->rewired = x->rewired;
    for (uint32_t k = 0; k < run->n && !e; k++) {
        uint32_t slot = block->first + k;
        ss_live_in now = l->in[run->first + k];
        for (uint32_t i = now.first; i < now.last; i++) /* a barrier may wait for others */
            if (in[i] - run->first < run->n)
                in[i] = in[i] - run->first + block->first;
        if (same_in(in, now, l->in[slot]))
            continue;
        x->rewired[l->rewireds++] = (ss_live_rewired){slot, l->in[slot]};
        l->in[slot] = now;
        l->row[slot].before = now.last - now.first;
    }
    return e;
}

/* ---- successors -------------------------------------------------------------------------- */

static bool is_made(const ss_live *l, uint32_t slot)
{
    return slot > l->inside->mark.tasks;
}

/* A kept task whose successors change: its place in turned. */
static ss_live_turned *turn(ss_live *l, uint32_t slot, ss_error *err)
{
    struct ss_live_inside *x = l->inside;
    uint32_t at = x->turn[slot];
    if (at < l->turneds && x->turned[at].slot == slot)
        return &x->turned[at];
    if (SS_RESERVE(x->turned, x->turned_cap, (size_t)l->turneds + 1, "a change", err))
        return NULL;
    l->turned = x->turned;
    x->turn[slot] = l->turneds;
    x->turned[l->turneds] = (ss_live_turned){slot, l->row[slot].first, l->row[slot].last, 0};
    return &x->turned[l->turneds++];
}

/* Calls for each task that is new or has other predecessors. */
typedef ss_status (*each_task)(ss_live *l, uint32_t slot, ss_error *err);

static ss_status for_hooked(ss_live *l, each_task f, ss_error *err)
{
    ss_status e = SS_OK;
    for (uint32_t k = 0; k < l->mades && !e; k++)
        for (uint32_t i = l->made[k].first; i < l->made[k].first + l->made[k].n && !e; i++)
            e = f(l, i, err);
    for (uint32_t k = 0; k < l->rewireds && !e; k++)
        e = f(l, l->rewired[k].slot, err);
    return e;
}

/* A task's predecessors get one successor more each. */
static ss_status count_task(ss_live *l, uint32_t slot, ss_error *err)
{
    const uint32_t *in = l->pool->in;
    for (uint32_t i = l->in[slot].first; i < l->in[slot].last; i++) {
        if (is_made(l, in[i])) {
            l->row[in[i]].last++;
            continue;
        }
        ss_live_turned *t = turn(l, in[i], err);
        if (!t)
            return SS_ENOMEM;
        t->more++;
    }
    return SS_OK;
}

static ss_status fill_task(ss_live *l, uint32_t slot, ss_error *err)
{
    (void)err;
    const uint32_t *in = l->pool->in;
    for (uint32_t i = l->in[slot].first; i < l->in[slot].last; i++)
        l->out[l->row[in[i]].last++] = slot;
    return SS_OK;
}

/* Those of which a task is no longer a successor. */
static ss_status turn_sources(ss_live *l, ss_live_in in, ss_error *err)
{
    for (uint32_t i = in.first; i < in.last; i++) {
        uint32_t source = l->pool->in[i];
        if (l->row[source].stamp != l->inside->stamps + 1 && !turn(l, source, err))
            return SS_ENOMEM;
    }
    return SS_OK;
}

static void next_stamp(ss_live *l)
{
    struct ss_live_inside *x = l->inside;
    if (x->stamps > UINT32_MAX - 8) {
        for (uint32_t i = 1; i <= l->pool->n; i++)
            l->row[i].stamp = 0;
        x->stamps = 0;
    }
    x->stamps += 2;
}

static ss_status turn_all(ss_live *l, ss_error *err)
{
    struct ss_live_inside *x = l->inside;
    ss_status e = SS_OK;
    next_stamp(l);
    for (uint32_t k = 0; k < l->gones; k++)
        for (uint32_t i = l->gone[k].first; i < l->gone[k].first + l->gone[k].n; i++)
            l->row[i].stamp = x->stamps + 1;
    for (uint32_t k = 0; k < l->rewireds; k++)
        l->row[l->rewired[k].slot].stamp = x->stamps + 2;
    for (uint32_t k = 0; k < l->gones && !e; k++)
        for (uint32_t i = l->gone[k].first; i < l->gone[k].first + l->gone[k].n && !e; i++)
            e = turn_sources(l, l->in[i], err);
    for (uint32_t k = 0; k < l->rewireds && !e; k++)
        e = turn_sources(l, l->rewired[k].was, err);
    return e ? e : for_hooked(l, count_task, err);
}

ss_status ss_live_hook(ss_live *l, ss_error *err)
{
    struct ss_live_inside *x = l->inside;
    ss_status e = turn_all(l, err);
    size_t need = x->outs;
    for (uint32_t k = 0; k < l->turneds; k++)
        need += (size_t)(x->turned[k].last - x->turned[k].first) + x->turned[k].more;
    for (uint32_t k = 0; k < l->mades; k++)
        for (uint32_t i = l->made[k].first; i < l->made[k].first + l->made[k].n; i++)
            need += l->row[i].last;
    if (!e)
        e = SS_RESERVE(l->out, x->out_cap, need + 1, "dependencies", err);
    if (e) { /* nothing is turned yet; undoing must not turn back */
        l->turneds = 0;
        return e;
    }
    for (uint32_t k = 0; k < l->turneds; k++) {
        const ss_live_turned *t = &x->turned[k];
        ss_live_row *row = &l->row[t->slot];
        row->first = x->outs;
        for (uint32_t i = t->first; i < t->last; i++)
            if (l->row[l->out[i]].stamp <= x->stamps)
                l->out[x->outs++] = l->out[i];
        row->last = x->outs;
        x->outs += t->more;
    }
    for (uint32_t k = 0; k < l->mades; k++)
        for (uint32_t i = l->made[k].first; i < l->made[k].first + l->made[k].n; i++) {
            ss_live_row *row = &l->row[i];
            uint32_t n = row->last;
            row->first = row->last = x->outs;
            x->outs += n;
        }
    (void)for_hooked(l, fill_task, err);
    return SS_OK;
}

void ss_live_unhook(ss_live *l)
{
    struct ss_live_inside *x = l->inside;
    for (uint32_t k = 0; k < l->turneds; k++) {
        l->row[x->turned[k].slot].first = x->turned[k].first;
        l->row[x->turned[k].slot].last = x->turned[k].last;
    }
    for (uint32_t k = l->rewireds; k-- > 0;) {
        uint32_t slot = l->rewired[k].slot;
        l->in[slot] = l->rewired[k].was;
        l->row[slot].before = l->in[slot].last - l->in[slot].first;
    }
    for (uint32_t k = l->mades; k-- > 0;) {
        ss_live_count_work(l, &l->made[k], UINT64_MAX);
        l->block[x->replaced[k]] = l->gone[k];
    }
    l->gones = l->mades = l->rewireds = l->turneds = 0;
}
