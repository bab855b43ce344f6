/* live.h - the task graph of a strategy, changed in place while a search changes the strategy.
 *
 * A task graph falls into blocks, which the model alone decides: the messages of one feed, the parts
 * of one operator, the meeting of one weight's gradients, and so on, in structural order.  What a
 * block holds depends on a few operators only, so a new configuration of one operator makes its own
 * blocks and those beside it anew, and gives other predecessors to the parts that read it; all else
 * stays where it is.  The same functions make a block here and in ss_lower, so the tasks are the same.
 *
 * A task lies in a slot, a row of the columns, which it keeps as long as it lives; blocks are runs of
 * slots.  Structural order, which in ss_tasks is the order of ids, is here that of (block, slot).
 * New tasks are written behind all others and old ones are left lying, so that to undo is to forget
 * what was written last; ss_live_tidy numbers anew when too much lies about.
 *
 * Two things differ from ss_lower: where barriers are, every device has one, also those without tasks
 * (it takes no time and nobody waits for it); and labels of weights and sums of bytes mean nothing.
 */
#ifndef SS_LIVE_H
#define SS_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "graph/lower.h"

typedef enum ss_block_kind {
    SS_BLOCK_FORWARD_MESSAGES, /* of a feed */
    SS_BLOCK_FORWARD,          /* of an operator */
    SS_BLOCK_BACKWARD_MESSAGES,
    SS_BLOCK_SUMS,
    SS_BLOCK_BACKWARD,
    SS_BLOCK_BARRIERS, /* of all */
    SS_BLOCK_MEETING,  /* of a weight */
    SS_BLOCK_UPDATE,
    SS_BLOCK_WEIGHTS_BACK
} ss_block_kind;

typedef struct ss_block {
    ss_block_kind kind;
    uint32_t of;       /* feed (as the lowering numbers them), operator or weight */
    uint32_t first, n; /* slots first .. first + n - 1 */
} ss_block;

/* What a simulation needs of a task. */
typedef struct ss_live_row {
    ss_time hold;
    uint32_t where; /* a resource or a set, as in tasks.h */
    uint32_t block;
    uint32_t before;      /* how many predecessors */
    uint32_t first, last; /* successors: out[first] .. out[last - 1], in no order */
    uint32_t stamp;       /* for whoever walks over slots; 0 in new ones */
} ss_live_row;

/* Predecessors of a task: in[first] .. in[last - 1]. */
typedef struct ss_live_in {
    uint32_t first, last;
} ss_live_in;

/* A slot whose predecessors are not what they were, and these. */
typedef struct ss_live_rewired {
    uint32_t slot;
    ss_live_in was;
} ss_live_rewired;

/* A kept task whose successors are not what they were. */
typedef struct ss_live_turned {
    uint32_t slot, first, last; /* its old row of `out` */
    uint32_t more;              /* how many are new */
} ss_live_turned;

typedef struct ss_live {
    const ss_tasks
        *pool;        /* resources, sets and lags; `in`, and the slots there are: 1 .. pool->n */
    ss_live_row *row; /* [slots + 1] */
    ss_live_in *in;   /* [slots + 1], rows of pool->in */
    uint32_t *out;
    uint32_t n;      /* tasks */
    ss_block *block; /* [blocks + 1], 1 .. blocks */
    uint32_t blocks;
    uint64_t *work; /* by resource, [devices + links + 1]: sum of the holds of its tasks, ps;
                        * of a shared link of what its bytes take at full bandwidth, a little less */

    /* The change under way: tasks gone, tasks made, tasks kept with other predecessors. */
    const ss_block *gone, *made; /* runs of slots: of one block at one place */
    const uint32_t *replaced;    /* the number of that block */
    uint32_t gones, mades;
    const ss_live_rewired *rewired;
    uint32_t rewireds;
    const ss_live_turned *turned; /* tasks kept with other successors */
    uint32_t turneds;
    bool changing;

    struct ss_live_inside *inside;
} ss_live;

/* The strategy is copied; model, topology, routes and timer must outlive the graph, which asks them
 * again with every change. */
ss_status ss_live_new(const ss_strategy *s, ss_routes *r, const ss_timer *timer,
                      const ss_lower_options *options, ss_live **out, ss_error *err);
void ss_live_free(ss_live *l);

/* Other configurations for some operators, each named once; undo or keep must follow.  After an
 * error everything is as it was.  Given up as soon as some resource has more work than the bound
 * allows (SS_TIME_MAX: never); then *over is that work in ps, all is as it was, and nothing must
 * follow.  Else *over is 0.  A change that is given up costs a part of one that is made and undone. */
ss_status ss_live_change(ss_live *l, const ss_op *op, const ss_config *config, uint32_t n,
                         ss_time bound, ss_time *over, ss_error *err);
/* The most work that a resource has, in ps, if it is above the bound and can be a time; else 0. */
ss_time ss_live_work_over(const ss_live *l, ss_time bound);
void ss_live_undo(ss_live *l);
/* What the busiest device computes, forward and backward, with these configurations in place: a bound
 * of the step that needs no task graph.  Nothing may be under way.  The sum in ps, UINT64_MAX for more. */
ss_status ss_live_most_compute(ss_live *l, const ss_op *op, const ss_config *config, uint32_t n,
                               uint64_t *out, ss_error *err);
void ss_live_keep(ss_live *l);
/* Slots from here on were made by the change under way. */
uint32_t ss_live_first_new(const ss_live *l);

/* Whether more than a third of the slots are of tasks that are no more. */
bool ss_live_is_untidy(const ss_live *l);
/* Numbers the slots anew, in structural order from 1.  After an error all is as it was. */
ss_status ss_live_tidy(ss_live *l, ss_error *err);

/* Tasks, as ss_lower would have them: without barriers of devices that have none. */
uint32_t ss_live_tasks(const ss_live *l);
/* Whether a slot is such a barrier. */
static inline bool ss_live_is_absent(const ss_live *l, uint32_t slot)
{
    return l->row[slot].before == 0 && l->block[l->row[slot].block].kind == SS_BLOCK_BARRIERS;
}

#endif
