/* tails.h - how long after the end of a task the step goes on at least.
 *
 * The tail of a task is the longest way from its end to the end of the step, each task on it taking
 * its hold and each resource its lag, and nobody waiting for anybody:
 *     tail(t) = lag(t) + the largest hold(s) + tail(s) of its successors s
 * So end(t) + tail(t) bounds the makespan from below whatever else happens.  Tails are kept while the
 * graph changes; only those are visited that change, from the last block to the first.
 */
#ifndef SS_TAILS_H
#define SS_TAILS_H

#include "base/status.h"
#include "base/units.h"
#include "graph/live.h"

typedef struct ss_tail_saved {
    uint32_t slot;
    ss_time was;
} ss_tail_saved;

typedef struct ss_tails {
    ss_time *tail; /* by slot */
    uint32_t cap;
    /* of the change under way: tasks kept whose tails are not what they were */
    ss_tail_saved *saved;
    uint32_t saveds, saved_cap;
    uint64_t *todo; /* a bit for each block */
    uint32_t todo_cap;
    uint32_t *stamp; /* by slot: in which change it was marked */
    uint32_t stamp_cap, stamps;
} ss_tails; /* {0} */

ss_status ss_tails_whole(ss_tails *x, const ss_live *l, ss_error *err);
/* Of the change under way; undo, or go on. */
ss_status ss_tails_change(ss_tails *x, const ss_live *l, ss_error *err);
void ss_tails_undo(ss_tails *x);
void ss_tails_free(ss_tails *x);

#endif
