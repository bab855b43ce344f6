/* critical.h - the path that decides the step time, and what it is made of.
 *
 * From the task that ends last, back along the predecessor that made each task ready last (of equals
 * the smallest id).  Each task on the path adds its queueing (start - ready), then its hold and the
 * lag of its resource; since ready is the predecessor's finish, compute + transfer + queueing is the
 * makespan exactly.  Where a task queued, the resource that it waited for and the task in front of
 * it are named, and queueing is split by whether that was a device or a link.
 */
#ifndef SS_CRITICAL_H
#define SS_CRITICAL_H

#include "graph/order.h"
#include "simulate/engine.h"
#include "simulate/slowed.h"

typedef struct ss_critical_step {
    ss_task task;
    ss_time queueing;  /* waited for its resource */
    ss_task blocker;   /* the task that held the resource before it; 0 if it did not wait */
    uint32_t resource; /* that it waited for: of several the one that the blocker held; 0: none */
} ss_critical_step;

typedef struct ss_critical {
    ss_critical_step *step; /* in order of time */
    uint32_t n, cap;
    ss_time compute, transfer, queueing;    /* their sum is the makespan */
    ss_time queueing_device, queueing_link; /* their sum is queueing */
    ss_time slowed; /* of transfer: more than alone, by what crossed the same shared links */
} ss_critical;      /* {0} */

ss_status ss_critical_find(const ss_tasks *t, const ss_timeline *l, ss_critical *out,
                           ss_error *err);
/* The same of a run by options: of the tasks and line of `slowed`, which knows what happened to links; and
 * where, if copies block, a transfer holds devices at its ends. */
ss_status ss_critical_find_in_run(const ss_slowed *slowed, const ss_run_options *o,
                                  ss_critical *out, ss_error *err);
void ss_critical_free(ss_critical *c);

#endif
