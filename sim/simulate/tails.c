#include "simulate/tails.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"

static ss_status reserve(ss_tails *x, const ss_live *l, ss_error *err)
{
    size_t slots = (size_t)l->pool->n + 1;
    ss_status e = SS_RESERVE(x->tail, x->cap, slots, "ways to the end", err);
    if (!e)
        e = SS_RESERVE(x->todo, x->todo_cap, l->blocks / 64 + 1, "ways to the end", err);
    if (e || slots <= x->stamp_cap)
        return e;
    uint32_t old = x->stamp_cap;
    if ((e = SS_RESERVE(x->stamp, x->stamp_cap, slots, "ways to the end", err)))
        return e;
    memset(x->stamp + old, 0, (x->stamp_cap - old) * sizeof *x->stamp);
    return SS_OK;
}

/* A sum beyond SS_TIME_MAX stays there: such a step is refused when it is simulated. */
static ss_time plus(ss_time a, ss_time b)
{
    return a > SS_TIME_MAX - b ? SS_TIME_MAX : a + b;
}

static ss_time tail_of(const ss_tails *x, const ss_live *l, uint32_t slot)
{
    const ss_live_row *row = &l->row[slot];
    ss_time longest = 0;
    for (uint32_t o = row->first; o < row->last; o++) {
        uint32_t s = l->out[o];
        ss_time way = plus(l->row[s].hold, x->tail[s]);
        longest = way > longest ? way : longest;
    }
    return plus(longest, ss_tasks_lag_at(l->pool, row->where));
}

ss_status ss_tails_whole(ss_tails *x, const ss_live *l, ss_error *err)
{
    ss_status e = reserve(x, l, err);
    x->saveds = 0;
    for (uint32_t b = l->blocks; b > 0 && !e; b--)
        for (uint32_t i = l->block[b].first + l->block[b].n; i-- > l->block[b].first;)
            x->tail[i] = tail_of(x, l, i);
    return e;
}

static void mark(ss_tails *x, const ss_live *l, uint32_t slot)
{
    uint32_t b = l->row[slot].block;
    x->stamp[slot] = x->stamps;
    x->todo[b / 64] |= UINT64_C(1) << (b % 64);
}

static void mark_before(ss_tails *x, const ss_live *l, uint32_t slot)
{
    for (uint32_t k = l->in[slot].first; k < l->in[slot].last; k++)
        mark(x, l, l->pool->in[k]);
}

static ss_status change_block(ss_tails *x, const ss_live *l, const ss_block *b, uint32_t first_new,
                              ss_error *err)
{
    for (uint32_t i = b->first + b->n; i-- > b->first;) {
        if (x->stamp[i] != x->stamps)
            continue;
        ss_time tail = tail_of(x, l, i);
        if (i >= first_new) {
            x->tail[i] = tail;
            continue; /* who is before it has other successors, and so is marked */
        }
        if (tail == x->tail[i])
            continue;
        ss_status e =
            SS_RESERVE(x->saved, x->saved_cap, (size_t)x->saveds + 1, "ways to the end", err);
        if (e)
            return e;
        x->saved[x->saveds++] = (ss_tail_saved){i, x->tail[i]};
        x->tail[i] = tail;
        mark_before(x, l, i);
    }
    return SS_OK;
}

ss_status ss_tails_change(ss_tails *x, const ss_live *l, ss_error *err)
{
    uint32_t first_new = ss_live_first_new(l);
    x->saveds = 0;
    ss_status e = reserve(x, l, err);
    if (e)
        return e;
    if (++x->stamps == 0) { /* after 2^32 changes */
        memset(x->stamp, 0, x->stamp_cap * sizeof *x->stamp);
        x->stamps = 1;
    }
    memset(x->todo, 0, (l->blocks / 64 + 1) * sizeof *x->todo);
    for (uint32_t k = 0; k < l->mades; k++)
        for (uint32_t i = l->made[k].first; i < l->made[k].first + l->made[k].n; i++)
            mark(x, l, i);
    for (uint32_t k = 0; k < l->turneds; k++)
        mark(x, l, l->turned[k].slot);
    for (uint32_t w = l->blocks / 64 + 1; w-- > 0 && !e;)
        for (uint32_t bit = 64; x->todo[w] && bit-- > 0 && !e;)
            if (x->todo[w] >> bit & 1) {
                e = change_block(x, l, &l->block[w * 64 + bit], first_new, err);
                x->todo[w] &= ~(UINT64_C(1) << bit);
            }
    if (e)
        ss_tails_undo(x);
    return e;
}

void ss_tails_undo(ss_tails *x)
{
    for (uint32_t k = x->saveds; k-- > 0;)
        x->tail[x->saved[k].slot] = x->saved[k].was;
    x->saveds = 0;
}

void ss_tails_free(ss_tails *x)
{
    ss_free(x->tail);
    ss_free(x->saved);
    ss_free(x->todo);
    ss_free(x->stamp);
    *x = (ss_tails){0};
}
