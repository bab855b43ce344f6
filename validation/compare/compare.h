/* compare.h - how far simulated times are from measured ones, and whether they are in the same order.
 *
 * Errors are shares of what was measured: simulated / measured - 1, above 0 where the simulation is too slow.
 */
#ifndef SS_COMPARE_H
#define SS_COMPARE_H

#include <stdint.h>

#include "base/status.h"

typedef struct ss_comparison {
    uint32_t n;
    double mean;              /* of errors, signed: the bias */
    double mean_absolute;     /* of absolute errors */
    double median, q90, most; /* of absolute errors; quantiles interpolated linearly */
    double kendall;           /* tau-b; NAN where one list is all ties, or has one entry */
    double spearman;          /* rho, of mean ranks; NAN likewise */
} ss_comparison;

/* Seconds above 0, both [n], n of at least 1.  Kendall (Biometrika 33, 1945) counts pairs: O(n^2). */
ss_status ss_compare(const double *simulated, const double *measured, uint32_t n,
                     ss_comparison *out, ss_error *err);

#endif
