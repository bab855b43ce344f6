/* account_naive.h - the account of a step, each number by itself and as one would by hand.
 *
 * For every pair of neighbouring instants at which anything begins or ends, it asks every transfer
 * whether it is under way, and every hold whether it is there. Quadratic, and nothing to get wrong.
 */
#ifndef SS_ACCOUNT_NAIVE_H
#define SS_ACCOUNT_NAIVE_H

#include "simulate/result.h"

/* Time in which a transfer from or to the device (by its label) is crossing a link. */
ss_time naive_communicating(const ss_tasks *t, const ss_timeline *l, ss_device d);

/* Bytes held on a device at an instant, and by kind; what ends at that instant is gone, what begins
 * is there. */
int64_t naive_held(const ss_holds *h, const ss_timeline *l, ss_device d, ss_time at,
                   int64_t by[SS_HELD_KINDS]);

#endif
