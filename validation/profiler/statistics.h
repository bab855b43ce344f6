/* statistics.h - of samples of one time, with GSL. */
#ifndef SS_STATISTICS_H
#define SS_STATISTICS_H

#include <stdint.h>

#include "base/status.h"

/* Seconds.  Outliers lie more than 3 interquartile ranges below the lower or above the upper quartile; they are left
 * out of mean and deviation, and of nothing else. */
typedef struct ss_statistics {
    double median, mean, deviation; /* deviation: of a sample (n - 1); 0 where there are fewer than two */
    double q05, q25, q75, q95;      /* interpolated linearly between order statistics */
    double least, most;
    uint32_t n, outliers;
} ss_statistics;

/* n of at least 1. */
ss_status ss_statistics_of(const double *sample, uint32_t n, ss_statistics *out, ss_error *err);

#endif
