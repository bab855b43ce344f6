/* delta_inside.h - for delta*.c alone. */
#ifndef SS_DELTA_INSIDE_H
#define SS_DELTA_INSIDE_H

#include "simulate/delta.h"
#include "simulate/replay_inside.h"
#include "simulate/replay_shared.h"

/* A change of a resource's list: a task taken out, or one put in before place `at`. */
typedef struct ss_delta_move {
    uint32_t next; /* of the same resource, later in the sweep; 0: none */
    uint32_t at;
    uint32_t slot; /* to be put in; 0: what is at `at` is taken out */
} ss_delta_move;

/* The tasks of a resource, in the order in which they hold it. */
typedef struct ss_delta_list {
    ss_head *at;      /* [n] */
    uint64_t *before; /* [n + 1]: sum of the holds of at[0 .. i-1], ps */
    uint32_t n, cap;
    /* of run number `run`: */
    uint32_t run;
    uint32_t passed; /* all before at[passed] lie behind the sweep */
    ss_time free;    /* when the last task that was settled or kept its times ends */
    uint64_t extra;  /* what before[passed] lacks of the holds of the new timeline, modulo 2^64 */
    uint32_t first_move, last_move, joined; /* joined: how many are put in */
} ss_delta_list;

typedef struct ss_delta_mark {
    ss_time ready, start; /* of the new timeline; ready: as far as it is known */
    uint32_t run;         /* the rest is of this run */
    uint32_t missing;     /* predecessors of which it is not known when they finish */
    uint32_t flags;
    uint32_t unused;
} ss_delta_mark;

enum {
    SS_DELTA_FRESH = 1,  /* not of the old timeline */
    SS_DELTA_GONE = 2,   /* not of the new one */
    SS_DELTA_DUE = 4,    /* the sweep will stop at its old place */
    SS_DELTA_PASSED = 8, /* it has */
    SS_DELTA_SETTLED = 16,
    SS_DELTA_LATE = 32 /* nor was it at its old finish: its successors miss it */
};

/* What it costs to settle a task, in tasks that are simulated again
 * (docs/decisions/0022-what-a-delta-can-gain.md). */
enum { SS_DELTA_COST = 6 };

struct ss_delta {
    ss_replay *replay;
    ss_replay_shared *shared; /* instead of all else here, where links are shared */
    ss_delta_list *list;      /* [lists] by resource */
    uint32_t lists;
    bool in_order;   /* the lists are those of what is held */
    bool lists_used; /* since a replay was kept */

    ss_delta_mark *mark; /* by slot */
    uint32_t mark_cap;
    uint32_t run;
    ss_heads stops;    /* places of the sweep */
    uint32_t *settled; /* [settleds] in the order of the sweep */
    uint32_t settleds, settled_cap;
    ss_delta_move *move; /* [moves + 1] */
    uint32_t moves, move_cap;
    ss_head *scratch;
    uint32_t scratch_cap;
    uint32_t first_new;
    ss_time makespan; /* in a sweep: of what was settled */
    uint32_t changed;

    enum { SS_DELTA_NOTHING, SS_DELTA_SWEPT, SS_DELTA_REPLAYED } last;
};

static inline bool ss_delta_is_shared(const ss_live *l)
{
    return l->pool->mode == SS_LINKS_SHARED;
}

/* delta_lists.c */

/* A list for each resource. */
ss_status ss_delta_make_lists(ss_delta *d, const ss_live *l, ss_error *err);
/* The same, and sorts where the lists are not of what is held. */
ss_status ss_delta_prepare_lists(ss_delta *d, const ss_live *l, ss_error *err);
/* Room for what a sweep puts in, so that ss_delta_apply_moves cannot fail. */
ss_status ss_delta_reserve_moves(ss_delta *d, ss_error *err);
void ss_delta_apply_moves(ss_delta *d, const ss_live *l);
/* The lists after a replay was kept. */
void ss_delta_follow_replay(ss_delta *d, const ss_live *l);
/* Slots have other numbers: other[old] is the new one. */
void ss_delta_renumber(ss_delta *d, const uint32_t *other);
void ss_delta_free_lists(ss_delta *d);

static inline uint64_t ss_delta_key(const ss_live *l, uint32_t slot)
{
    return (uint64_t)l->row[slot].block << 32 | slot;
}

/* The resources of a task. */
static inline const uint32_t *ss_delta_resources(const ss_live *l, uint32_t slot, uint32_t *n)
{
    const ss_live_row *row = &l->row[slot];
    if (row->where > l->pool->devices + l->pool->links)
        return ss_tasks_resources(l->pool, (ss_task){slot}, n);
    *n = 1;
    return &row->where;
}

#endif
