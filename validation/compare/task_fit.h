/* task_fit.h - from executed tasks to what a step does to them: a correction (simulate/correction.h) and an interference.
 *
 * A task that takes t seconds alone, waits for memory with bound b, and had others beside it that waited with bounds of B in
 * all, on average over its time, takes
 *
 *     overhead + factor of its group x t x (1 + interference x b x B)
 *
 * The fit is linear in the overhead, in the factors, and in mean factor x interference: each row is divided by the root of t,
 * since what is off in tasks grows with them; Huber's estimate (GSL), so that a task that was interrupted counts little.
 * One row more for each unknown says that nothing is corrected (factors 1, no overhead, the interference that was measured), as if a
 * single task had shown it: groups of few tasks stay near it.  An overhead or an interference that would be below 0 is 0,
 * and a factor below SS_TASK_LEAST_FACTOR (of tasks that are nothing beside the overhead) is that.
 */
#ifndef SS_TASK_FIT_H
#define SS_TASK_FIT_H

#include <stdint.h>

#include "base/status.h"

typedef struct ss_task_time {
    uint32_t group;    /* from 0 */
    double alone_s;    /* above 0 */
    double executed_s; /* above 0 */
    double bound, beside; /* b and B */
} ss_task_time;

typedef struct ss_task_group {
    uint32_t tasks;
    double factor, error; /* standard error */
    double alone_s, executed_s; /* sums */
} ss_task_group;

typedef struct ss_task_fit {
    double overhead_s, overhead_error;
    double interference, interference_error;
    double spread; /* of what is left: of a task of one microsecond, in shares of it */
} ss_task_fit;

enum { SS_TASK_GROUPS = 1000, SS_TASK_ROWS = 1000000 };

#define SS_TASK_LEAST_FACTOR 0.25

/* group: [groups], written.  Refuses no rows, a group out of range, times that are not above 0, bounds below 0. */
ss_status ss_task_fit_new(const ss_task_time *row, uint32_t rows, uint32_t groups, double measured_interference,
                          ss_task_fit *out, ss_task_group *group, ss_error *err);

#endif
