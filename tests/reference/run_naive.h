/* run_naive.h - the slow, obvious twin of simulate/run.c, for links that are not shared.
 *
 * Nothing is scheduled: time passes picosecond by picosecond, and at each all tasks are looked at.  What runs
 * has latency and work left; a task has ended when less work is left than half of what a picosecond does.
 */
#ifndef SS_RUN_NAIVE_H
#define SS_RUN_NAIVE_H

#include <stdbool.h>

#include "graph/order.h"
#include "graph/tasks.h"

/* Speeds of devices, and bandwidths against those of the graph, are multiples of 1/4 (and half of it where
 * copies slow).  With interference 1 or 3, bounds of 0 or 1 and at most two devices, so that one divides by 2 or
 * 4; all devices are of one machine.  Arrays of t->n + 1, by the caller.  False: not all ended by `until`. */
bool run_naive(const ss_tasks *t, const ss_run_options *o, ss_time until, ss_time *ready,
               ss_time *start, ss_time *end, ss_time *finish);

#endif
