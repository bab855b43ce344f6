/* slowed.h - how much longer a transfer over shared links took than alone.
 *
 * Alone means on the links as they were: one that the script slowed down, or that failed for a while, is no
 * other transfer.  So what happened to links is put by link and time, and a flow alone goes through it
 * piece by piece.
 */
#ifndef SS_SLOWED_H
#define SS_SLOWED_H

#include "graph/order.h"
#include "simulate/engine.h"

/* What a link has from a time on. */
typedef struct ss_link_past {
    uint32_t link;
    ss_time at;
    double bytes_per_s, latency_s;
} ss_link_past;

typedef struct ss_slowed {
    const ss_tasks *tasks;
    const ss_timeline *line;
    ss_link_past *past; /* [pasts]: by link, then in the order of their happening */
    uint32_t pasts;
} ss_slowed;

/* change: what happened, in that order (ss_run_changes); may be none.  Tasks and line are kept, not copied. */
ss_status ss_slowed_start(ss_slowed *s, const ss_tasks *tasks, const ss_timeline *line,
                          const ss_change *change, uint32_t changes, ss_error *err);
void ss_slowed_free(ss_slowed *s);

/* Picoseconds that a flow and its latency take alone from when it started. */
double ss_slowed_alone(const ss_slowed *s, ss_task flow);
/* 0 of tasks that are no flows. */
ss_time ss_slowed_of(const ss_slowed *s, ss_task task);

#endif
