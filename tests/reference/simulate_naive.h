/* simulate_naive.h - the slow, obvious twin of simulate/engine.c.
 *
 * No queue, no counters, nothing remembered but what is done: again and again, look at every task
 * that is not done and whose predecessors all are, and take the one with the least (ready, id).
 */
#ifndef SS_SIMULATE_NAIVE_H
#define SS_SIMULATE_NAIVE_H

#include <stdint.h>

#include "graph/tasks.h"

/* Arrays of t->n + 1, by the caller. Returns how many tasks could be run; fewer than t->n: a cycle.
 */
uint32_t simulate_naive(const ss_tasks *t, ss_time *ready, ss_time *start, ss_time *end);

#endif
