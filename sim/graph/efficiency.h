/* efficiency.h - the share of its bandwidth that a link gives to a message, by the message's size: a
 * measured curve.
 *
 * Between two measured sizes log efficiency is a straight line in log size, which is the same as a
 * straight line of log time.  Below the smallest size a message takes as long as that one; above the
 * largest the efficiency stays.
 */
#ifndef SS_EFFICIENCY_H
#define SS_EFFICIENCY_H

#include <stdint.h>

#include "base/status.h"

typedef struct ss_efficiency {
    double bytes_per_s; /* what an efficiency of 1 is */
    double *bytes;      /* [n], growing, above 0 */
    double *share;      /* [n], above 0, at most 1 */
    uint32_t n;
} ss_efficiency; /* {0} is empty */

/* Copies n points; refuses none, sizes that do not grow, and shares that are not above 0 and at most
 * 1. */
ss_status ss_efficiency_new(double bytes_per_s, const double *bytes, const double *share,
                            uint32_t n, ss_efficiency *out, ss_error *err);
double ss_efficiency_at(const ss_efficiency *e, double bytes);
/* bytes / (bytes_per_s * share); of 0 bytes what the smallest size takes. */
double ss_efficiency_seconds(const ss_efficiency *e, double bytes);
void ss_efficiency_free(ss_efficiency *e);

#endif
