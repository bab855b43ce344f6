/* bare_live.h - a task graph without a model that changes in place, as graph/live.h has them.
 *
 * A graph is written down as blocks of tasks, in structural order.  Other graphs with as many blocks
 * take its place: what a block holds is made anew where it differs, and where a task waits for one that
 * was made anew it is kept with other predecessors.  For tests of what simulates such graphs.
 */
#ifndef SS_BARE_LIVE_H
#define SS_BARE_LIVE_H

#include <stdlib.h>
#include <string.h>

#include "graph/live_inside.h"
#include "simulate/engine.h"

enum { BARE_BEFORE = 16 };

typedef struct bare_task {
    uint32_t resource;
    ss_time hold;
    uint32_t befores;
    struct {
        uint32_t block, task; /* from 1; from 0 */
    } before[BARE_BEFORE];
} bare_task;

typedef struct bare_block {
    bare_task *task;
    uint32_t n, cap;
} bare_block;

typedef struct bare_graph {
    uint32_t resources, blocks;
    bare_block *block; /* [blocks + 1], 1 .. blocks */
} bare_graph;

typedef struct bare_live {
    ss_live live;
    struct ss_live_inside inside;
    ss_tasks pool;
    bare_graph now, next; /* copies: what is held, and with the change under way */
    ss_live was;          /* its arrays are those of before the change */
    uint32_t edges_were;
} bare_live;

static void *bare_room(size_t count, size_t each)
{
    void *room = calloc(count + 1, each);
    if (!room)
        exit(99);
    return room;
}

static void bare_must(ss_status status, const ss_error *err)
{
    if (status) {
        printf("  %s\n", err->text);
        exit(99);
    }
}

/* ---- graphs ------------------------------------------------------------------------------ */

static bare_graph bare_new(uint32_t resources, uint32_t blocks)
{
    return (bare_graph){resources, blocks, bare_room(blocks + (size_t)1, sizeof(bare_block))};
}

static void bare_free(bare_graph *g)
{
    for (uint32_t b = 1; b <= g->blocks && g->block; b++)
        free(g->block[b].task);
    free(g->block);
    *g = (bare_graph){0};
}

static bare_task *bare_add(bare_graph *g, uint32_t block, uint32_t resource, ss_time hold)
{
    bare_block *b = &g->block[block];
    if (b->n == b->cap) {
        b->cap = 2 * b->cap + 4;
        b->task = realloc(b->task, b->cap * sizeof *b->task);
        if (!b->task)
            exit(99);
    }
    b->task[b->n] = (bare_task){.resource = resource, .hold = hold};
    return &b->task[b->n++];
}

/* The last task of `block` waits for one. */
static inline void bare_after(bare_graph *g, uint32_t block, uint32_t other, uint32_t task)
{
    bare_task *t = &g->block[block].task[g->block[block].n - 1];
    if (t->befores == BARE_BEFORE)
        exit(99);
    t->before[t->befores].block = other;
    t->before[t->befores++].task = task;
}

static bare_graph bare_copy(const bare_graph *g)
{
    bare_graph copy = bare_new(g->resources, g->blocks);
    for (uint32_t b = 1; b <= g->blocks; b++)
        for (uint32_t k = 0; k < g->block[b].n; k++)
            *bare_add(&copy, b, 1, 0) = g->block[b].task[k];
    return copy;
}

static inline void bare_empty(bare_graph *g, uint32_t block)
{
    g->block[block].n = 0;
}

/* The graph as the engine has it, tasks numbered in structural order. */
static inline void bare_to_tasks(const bare_graph *g, ss_tasks *t)
{
    ss_error err;
    uint32_t *first = bare_room(g->blocks + (size_t)1, sizeof *first), n = 1;
    for (uint32_t b = 1; b <= g->blocks; b++) {
        first[b] = n;
        n += g->block[b].n;
    }
    bare_must(ss_tasks_start(t, g->resources, 0, NULL, NULL, SS_LINKS_FIFO_HOP, &err), &err);
    for (uint32_t b = 1; b <= g->blocks; b++)
        for (uint32_t k = 0; k < g->block[b].n; k++) {
            const bare_task *x = &g->block[b].task[k];
            ss_task id;
            bare_must(ss_tasks_add(t, x->resource, x->hold, 0, NULL, &id, &err), &err);
            for (uint32_t i = 0; i < x->befores; i++) {
                ss_task before = {first[x->before[i].block] + x->before[i].task};
                bare_must(ss_tasks_after(t, before, &err), &err);
            }
        }
    bare_must(ss_tasks_finish(t, &err), &err);
    free(first);
}

/* ---- changing ---------------------------------------------------------------------------- */

static void bare_append(bare_live *x, const bare_block *b)
{
    ss_error err;
    for (uint32_t k = 0; k < b->n; k++) {
        ss_task id;
        bare_must(ss_tasks_add(&x->pool, b->task[k].resource, b->task[k].hold, 0, NULL, &id, &err),
                  &err);
        for (uint32_t i = 0; i < b->task[k].befores; i++) {
            uint32_t other = b->task[k].before[i].block;
            ss_task before = {x->live.block[other].first + b->task[k].before[i].task};
            bare_must(ss_tasks_after(&x->pool, before, &err), &err);
        }
    }
}

/* Rows for the slots from `first` on. */
static void bare_rows(bare_live *x, uint32_t block, uint32_t first, uint32_t n)
{
    ss_live *l = &x->live;
    const ss_tasks *t = &x->pool;
    for (uint32_t i = first; i < first + n; i++) {
        uint32_t last = i < t->n ? t->first_in[i + 1] : t->edges;
        l->in[i] = (ss_live_in){t->first_in[i], last};
        l->row[i] = (ss_live_row){.hold = t->hold[i],
                                  .where = t->where[i],
                                  .block = block,
                                  .before = last - t->first_in[i]};
    }
}

static void bare_successors(bare_live *x)
{
    ss_live *l = &x->live;
    for (uint32_t i = 1; i <= x->pool.n; i++)
        l->row[i].first = l->row[i].last = 0;
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t b = 1; b <= l->blocks; b++)
            for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++)
                for (uint32_t e = l->in[i].first; e < l->in[i].last; e++) {
                    uint32_t *last = &l->row[x->pool.in[e]].last;
                    if (fill)
                        l->out[*last] = i;
                    ++*last;
                }
        for (uint32_t i = 1, at = 0; i <= x->pool.n && !fill; i++) {
            uint32_t n = l->row[i].last;
            l->row[i].first = l->row[i].last = at;
            at += n;
        }
    }
}

static bool bare_same(const bare_block *a, const bare_block *b)
{
    bool same = a->n == b->n;
    for (uint32_t k = 0; k < a->n && same; k++)
        same = a->task[k].resource == b->task[k].resource && a->task[k].hold == b->task[k].hold;
    return same;
}

static void *bare_copied(const void *from, size_t count, size_t room, size_t each)
{
    void *copy = bare_room(room, each);
    if (count)
        memcpy(copy, from, count * each);
    return copy;
}

/* The arrays of the live graph, with room for those that a change can add. */
static void bare_set_aside(bare_live *x, const bare_graph *g)
{
    ss_live *l = &x->live;
    size_t more = 1, edges = 1;
    for (uint32_t b = 1; b <= g->blocks; b++)
        more += g->block[b].n;
    size_t slots = x->pool.n + more + 1, had = x->pool.n + (size_t)1;
    for (uint32_t b = 1; b <= g->blocks; b++)
        for (uint32_t k = 0; k < g->block[b].n; k++)
            edges += g->block[b].task[k].befores;
    x->was = *l;
    l->row = bare_copied(l->row, l->row ? had : 0, slots, sizeof *l->row);
    l->in = bare_copied(l->in, l->in ? had : 0, slots, sizeof *l->in);
    l->out = bare_room(edges, sizeof *l->out);
    l->block = bare_copied(l->block, l->block ? g->blocks + (size_t)1 : 0, g->blocks + (size_t)1,
                           sizeof *l->block);
    l->work = bare_room(g->resources + (size_t)1, sizeof *l->work);
    l->gone = bare_room(g->blocks, sizeof(ss_block));
    l->made = bare_room(g->blocks, sizeof(ss_block));
    l->replaced = bare_room(g->blocks, sizeof *l->replaced);
    l->rewired = bare_room(slots, sizeof(ss_live_rewired));
    l->turned = bare_room(slots, sizeof(ss_live_turned));
    l->gones = l->mades = l->rewireds = l->turneds = l->n = 0;
    l->blocks = g->blocks;
}

static void bare_drop(ss_live *l)
{
    free(l->row);
    free(l->in);
    free(l->out);
    free(l->block);
    free(l->work);
    free((void *)(uintptr_t)l->gone);
    free((void *)(uintptr_t)l->made);
    free((void *)(uintptr_t)l->replaced);
    free((void *)(uintptr_t)l->rewired);
    free((void *)(uintptr_t)l->turned);
}

static void bare_replace(bare_live *x, uint32_t b, const bare_block *next)
{
    ss_live *l = &x->live;
    ss_block run = {SS_BLOCK_FORWARD, b, x->pool.n + 1, next->n};
    ((ss_block *)(uintptr_t)l->gone)[l->gones++] = l->block[b];
    ((uint32_t *)(uintptr_t)l->replaced)[l->mades] = b;
    ((ss_block *)(uintptr_t)l->made)[l->mades++] = run;
    l->block[b] = run;
    bare_append(x, next);
    bare_rows(x, b, run.first, run.n);
}

static void bare_rewire(bare_live *x, uint32_t b, const bare_block *next)
{
    ss_live *l = &x->live;
    uint32_t first = x->pool.n + 1;
    bare_append(x, next);
    bare_rows(x, b, first, next->n);
    for (uint32_t k = 0; k < next->n; k++) {
        uint32_t slot = l->block[b].first + k;
        ss_live_in now = l->in[first + k], was = l->in[slot];
        ss_live_turned turned = {.slot = slot};
        ((ss_live_turned *)(uintptr_t)l->turned)[l->turneds++] = turned; /* perhaps */
        uint32_t n = now.last - now.first;
        if (n == was.last - was.first &&
            (n == 0 || !memcmp(x->pool.in + now.first, x->pool.in + was.first, n * sizeof n)))
            continue;
        ((ss_live_rewired *)(uintptr_t)l->rewired)[l->rewireds++] = (ss_live_rewired){slot, was};
        l->in[slot] = now;
        l->row[slot].before = now.last - now.first;
    }
}

/* g takes the place of what is held; undo or keep must follow. */
static void bare_change(bare_live *x, const bare_graph *g)
{
    ss_live *l = &x->live;
    x->inside.mark.tasks = x->pool.n;
    x->edges_were = x->pool.edges;
    bare_set_aside(x, g);
    x->next = bare_copy(g);
    l->changing = true;
    for (uint32_t b = 1; b <= g->blocks; b++) {
        if (bare_same(&x->now.block[b], &g->block[b]))
            bare_rewire(x, b, &g->block[b]);
        else
            bare_replace(x, b, &g->block[b]);
        l->n += g->block[b].n;
        for (uint32_t k = 0; k < g->block[b].n; k++)
            l->work[g->block[b].task[k].resource] += (uint64_t)g->block[b].task[k].hold;
    }
    bare_successors(x);
}

static void bare_keep(bare_live *x)
{
    bare_drop(&x->was);
    bare_free(&x->now);
    x->now = x->next;
    x->next = (bare_graph){0};
    x->live.changing = false;
}

static inline void bare_undo(bare_live *x)
{
    bare_drop(&x->live);
    x->live = x->was;
    bare_free(&x->next);
    x->pool.n = x->inside.mark.tasks;
    x->pool.edges = x->edges_were;
}

static void bare_open(bare_live *x, const bare_graph *g)
{
    ss_error err;
    *x = (bare_live){.live = {.pool = &x->pool, .inside = &x->inside}};
    bare_must(ss_tasks_start(&x->pool, g->resources, 0, NULL, NULL, SS_LINKS_FIFO_HOP, &err), &err);
    x->now = bare_new(g->resources, g->blocks);
    bare_change(x, g);
    bare_keep(x);
}

static void bare_close(bare_live *x)
{
    bare_drop(&x->live);
    bare_free(&x->now);
    ss_tasks_free(&x->pool);
}

#endif
