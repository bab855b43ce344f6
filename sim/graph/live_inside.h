/* live_inside.h - for live*.c alone. */
#ifndef SS_LIVE_INSIDE_H
#define SS_LIVE_INSIDE_H

#include "graph/live.h"
#include "graph/lowering.h"

/* How far everything was written before a change. */
typedef struct ss_live_mark {
    uint32_t tasks, edges, outs, n;
    uint32_t sents, pieces, ranges, froms, waits, shards, shard_devices;
} ss_live_mark;

typedef struct ss_live_saved {
    uint32_t *at, was;
} ss_live_saved;

typedef struct ss_live_config {
    ss_op op;
    ss_config config; /* the old one; its room is used for the next */
} ss_live_config;

struct ss_live_inside {
    ss_lowering w;
    ss_lowered lowered;
    ss_strategy *strategy;
    ss_routes *routes;
    ss_timer timer;
    uint32_t slot_cap, out_cap;
    uint32_t outs;                      /* of l->out */
    uint32_t fewest_outs, fewest_edges; /* when it was last in order */

    /* block numbers, 0 where there is none: by feed, operator, weight */
    uint32_t *numbers, *forward_messages, *backward_messages, *forward, *sums, *backward, *meeting;
    uint32_t barriers;
    /* by device, [devices + 1]: holds of forward and backward parts; the same, for an answer */
    uint64_t *compute, *computed;

    /* the change under way */
    ss_live_mark mark;
    uint64_t change; /* even: number of the last change */
    uint64_t
        *todo; /* by block: change (keep it) or change + 1 (make it anew); else of an old one */
    uint32_t *order; /* the blocks of this change */
    uint32_t orders, order_cap;
    bool lifted; /* the tasks of the blocks that are to be made anew count as work no more */
    ss_live_saved *saved;
    uint32_t saveds, saved_cap;
    ss_live_config *config;
    uint32_t configs, configs_made, config_cap;
    ss_block *gone, *made; /* of the same block at the same place */
    uint32_t *replaced;    /* its number */
    uint32_t replaced_cap;
    ss_live_rewired *rewired;
    uint32_t rewired_cap;
    ss_live_turned *turned;
    uint32_t turned_cap;
    uint32_t *turn;  /* by slot: where it is in turned, if it is there */
    uint32_t stamps; /* in this change: + 1 gone, + 2 rewired */
};

/* live_rows.c */

/* Columns of the tasks that were written last: a run of block b. */
ss_status ss_live_place(ss_live *l, uint32_t b, const ss_block *run, ss_error *err);
/* The run takes the place of the block's tasks, which are gone, and whose work counts no more. */
ss_status ss_live_replace(ss_live *l, uint32_t b, const ss_block *run, ss_error *err);
/* The block's tasks stay and wait for what those of the run would. */
ss_status ss_live_rewire(ss_live *l, uint32_t b, const ss_block *run, ss_error *err);
/* Work that tasks bring (sign 1) or take away (sign -1), modulo 2^64. */
void ss_live_count_work(ss_live *l, const ss_block *run, uint64_t sign);
/* Brings the rows of successors up to what was replaced and rewired; and back. */
ss_status ss_live_hook(ss_live *l, ss_error *err);
void ss_live_unhook(ss_live *l);

#endif
