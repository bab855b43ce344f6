/* threshold.h - the largest cost that a proposal may have and be accepted.
 *
 * Metropolis and Hastings accept with chance min(1, exp(beta (current - proposed)) q(old) / q(new)).
 * With the uniform number u drawn first that is a rule without chance:
 *
 *     log u <= beta * (current - proposed) + log_hastings        in double arithmetic
 *
 * Subtracting whole picoseconds, turning them into seconds, multiplying and adding are each
 * monotone, rounding included; so the rule is true for all costs up to one number and false above.
 * That number is what scoring is told as its bound, and the decision is `proposed <= threshold`: with
 * early stop or without, it is the same for every cost.
 */
#ifndef SS_THRESHOLD_H
#define SS_THRESHOLD_H

#include <stdbool.h>

#include "base/units.h"

/* 0 <= uniform < 1; beta_per_s >= 0 and finite; log_hastings not NAN, below INFINITY; current >= 0.
 * -1: not even 0 is accepted; SS_TIME_MAX: everything is. */
ss_time ss_threshold(double uniform, double log_hastings, double beta_per_s, ss_time current);

/* The rule itself, for one cost; log_uniform is -INFINITY for a uniform number of 0. */
bool ss_threshold_accepts(double log_uniform, double log_hastings, double beta_per_s,
                          ss_time current, ss_time proposed);

#endif
