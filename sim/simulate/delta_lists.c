/* delta_lists.c - the order of the tasks on each resource.
 *
 * Arrays, since they are searched with every sweep and changed only when one is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "simulate/delta_inside.h"

void ss_delta_free_lists(ss_delta *d)
{
    for (uint32_t r = 0; r < d->lists; r++) {
        ss_free(d->list[r].at);
        ss_free(d->list[r].before);
    }
    ss_free(d->list);
}

/* ---- all anew ---------------------------------------------------------------------------- */

static ss_status reserve_list(ss_delta_list *list, size_t n, ss_error *err)
{
    if (n < list->cap)
        return SS_OK;
    uint32_t cap = ss_grown(list->cap, n + 1);
    ss_status e = SS_REGROW(list->at, cap, "the order of tasks", err);
    if (!e)
        e = SS_REGROW(list->before, cap, "the order of tasks", err);
    if (!e)
        list->cap = cap;
    return e;
}

static void append(ss_delta *d, const ss_live *l, uint32_t slot)
{
    uint32_t n;
    const uint32_t *r = ss_delta_resources(l, slot, &n);
    for (uint32_t k = 0; k < n; k++) {
        ss_delta_list *list = &d->list[r[k]];
        list->at[list->n] = (ss_head){d->replay->now[slot].ready, ss_delta_key(l, slot)};
        list->before[list->n + 1] = list->before[list->n] + (uint64_t)l->row[slot].hold;
        list->n++;
    }
}

/* Counts into `passed`, which means nothing before a sweep. */
static void count(ss_delta *d, const ss_live *l, uint32_t slot)
{
    uint32_t n;
    const uint32_t *r = ss_delta_resources(l, slot, &n);
    for (uint32_t k = 0; k < n; k++)
        d->list[r[k]].passed++;
}

static ss_status reserve_counted(ss_delta *d, ss_error *err)
{
    ss_status e = SS_OK;
    for (uint32_t r = 1; r < d->lists && !e; r++) {
        ss_delta_list *list = &d->list[r];
        e = reserve_list(list, (size_t)list->n + list->passed, err);
        list->run = 0; /* of no run */
        if (!e && !list->n)
            list->before[0] = 0;
    }
    return e;
}

static void cut_lists(ss_delta *d, ss_time from)
{
    for (uint32_t r = 0; r < d->lists; r++) {
        ss_delta_list *list = &d->list[r];
        uint32_t low = 0, high = list->n;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (list->at[middle].ready < from)
                low = middle + 1;
            else
                high = middle;
        }
        list->n = low;
        list->passed = 0;
    }
}

static int by_place(const void *a, const void *b)
{
    const ss_head *x = a, *y = b;
    return ss_head_before(*x, *y) ? -1 : ss_head_before(*y, *x);
}

static void gather(ss_delta *d, const ss_live *l, const ss_block *run, uint32_t *n)
{
    for (uint32_t i = run->first; i < run->first + run->n; i++) {
        d->scratch[(*n)++] = (ss_head){d->replay->now[i].ready, ss_delta_key(l, i)};
        count(d, l, i);
    }
}

/* The tasks that are held: those of the graph before the change under way. */
static ss_status sort_all(ss_delta *d, const ss_live *l, ss_error *err)
{
    uint32_t first_new = ss_live_first_new(l), n = 0;
    ss_status e = SS_RESERVE(d->scratch, d->scratch_cap, (size_t)first_new, "tasks", err);
    if (e)
        return e;
    cut_lists(d, 0);
    for (uint32_t b = 1; b <= l->blocks; b++)
        if (l->block[b].first < first_new)
            gather(d, l, &l->block[b], &n);
    for (uint32_t k = 0; k < l->gones; k++)
        gather(d, l, &l->gone[k], &n);
    if ((e = reserve_counted(d, err)))
        return e;
    qsort(d->scratch, n, sizeof *d->scratch, by_place);
    for (uint32_t k = 0; k < n; k++)
        append(d, l, (uint32_t)d->scratch[k].key);
    d->in_order = true;
    return SS_OK;
}

ss_status ss_delta_make_lists(ss_delta *d, const ss_live *l, ss_error *err)
{
    uint32_t lists = l->pool->devices + l->pool->links + 1, had = d->lists;
    if (lists > had) {
        ss_status e = SS_REGROW(d->list, lists, "resources", err);
        if (e)
            return e;
        memset(d->list + had, 0, (lists - had) * sizeof *d->list);
        d->lists = lists;
        d->in_order = false;
    }
    return SS_OK;
}

ss_status ss_delta_prepare_lists(ss_delta *d, const ss_live *l, ss_error *err)
{
    ss_status e = ss_delta_make_lists(d, l, err);
    return e || d->in_order ? e : sort_all(d, l, err);
}

/* A replay took what is ready from some time on in the order of all lists together. */
void ss_delta_follow_replay(ss_delta *d, const ss_live *l)
{
    const ss_replay *r = d->replay;
    bool known = d->in_order || !r->from, wanted = d->lists_used;
    d->in_order = d->lists_used = false;
    if (!known || !wanted)
        return; /* where no sweep needs them they are not worth their keep */
    cut_lists(d, r->from);
    for (uint32_t k = 0; k < r->takens; k++)
        count(d, l, r->taken[k]);
    if (reserve_counted(d, NULL))
        return; /* the next sweep will ask again, and tell */
    for (uint32_t k = 0; k < r->takens; k++)
        append(d, l, r->taken[k]);
    d->in_order = true;
}

/* ---- after a sweep ----------------------------------------------------------------------- */

ss_status ss_delta_reserve_moves(ss_delta *d, ss_error *err)
{
    ss_status e = SS_OK;
    for (uint32_t r = 1; r < d->lists && !e; r++) {
        ss_delta_list *list = &d->list[r];
        if (list->run != d->run || !list->first_move)
            continue;
        e = SS_RESERVE(d->scratch, d->scratch_cap, (size_t)list->n + 1, "tasks", err);
        if (!e)
            e = reserve_list(list, (size_t)list->n + list->joined, err);
    }
    return e;
}

static void apply_to_list(ss_delta *d, const ss_live *l, ss_delta_list *list)
{
    uint32_t first = d->move[list->first_move].at, from = first, to = first;
    memcpy(d->scratch + first, list->at + first, (list->n - first) * sizeof *list->at);
    for (uint32_t i = list->first_move; i; i = d->move[i].next) {
        const ss_delta_move *m = &d->move[i];
        memcpy(list->at + to, d->scratch + from, (m->at - from) * sizeof *list->at);
        to += m->at - from;
        from = m->at;
        if (m->slot)
            list->at[to++] = (ss_head){d->mark[m->slot].ready, ss_delta_key(l, m->slot)};
        else
            from++;
    }
    memcpy(list->at + to, d->scratch + from, (list->n - from) * sizeof *list->at);
    list->n = to + list->n - from;
    for (uint32_t i = first; i < list->n; i++)
        list->before[i + 1] = list->before[i] + (uint64_t)l->row[(uint32_t)list->at[i].key].hold;
}

void ss_delta_apply_moves(ss_delta *d, const ss_live *l)
{
    for (uint32_t r = 1; r < d->lists; r++)
        if (d->list[r].run == d->run && d->list[r].first_move)
            apply_to_list(d, l, &d->list[r]);
}

void ss_delta_renumber(ss_delta *d, const uint32_t *other)
{
    for (uint32_t r = 1; r < d->lists && d->in_order; r++)
        for (uint32_t i = 0; i < d->list[r].n; i++) {
            uint64_t *key = &d->list[r].at[i].key;
            *key = *key >> 32 << 32 | other[(uint32_t)*key];
        }
}
