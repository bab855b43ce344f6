/* exhaustive_naive.h - every strategy of a space, one after the other. */
#ifndef SS_EXHAUSTIVE_NAIVE_H
#define SS_EXHAUSTIVE_NAIVE_H

#include "exhaustive_fixture.h"

/* The least step time of all of them, and how many there are.  Leaves one that takes it in
 * x->strategy. */
ss_time exhaustive_naive(tiny *x, uint64_t *strategies);

#endif
