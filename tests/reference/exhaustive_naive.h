/* exhaustive_naive.h - every strategy of a space, one after the other. */
#ifndef SS_EXHAUSTIVE_NAIVE_H
#define SS_EXHAUSTIVE_NAIVE_H

#include "exhaustive_fixture.h"
#include "search/score.h"

/* Of x->strategy: its step time, what memory adds, and SS_TIME_MAX behind a wall. */
ss_time exhaustive_naive_cost(tiny *x, ss_memory_rule rule, double s_per_byte);

/* The least cost of all of them, and how many there are.  Leaves one that takes it in x->strategy. */
ss_time exhaustive_naive(tiny *x, ss_memory_rule rule, double s_per_byte, uint64_t *strategies);

#endif
