/* spread.h - what repeated measurements say: mean, quantiles, and how sure they are.
 *
 * The interval of the mean is Student's t; the median's runs from one order statistic to another, which
 * needs no assumption of how values are distributed (GSL's binomial).  Two strategies that met the same luck are compared
 * repetition by repetition: what both were given by it drops out of the differences.
 */
#ifndef SS_SPREAD_H
#define SS_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ss_spread {
    uint32_t n;
    double mean, deviation; /* deviation: of the sample (n - 1); NAN of one value */
    double least, most;
    double mean_low, mean_high;     /* NAN of one value */
    double median_low, median_high; /* NAN: so few values cannot be that sure */
    double *sorted;                 /* [n], owned */
} ss_spread;                        /* {0} */

/* confidence: above 0, below 1. */
ss_status ss_spread_of(const double *value, uint32_t n, double confidence, ss_spread *out,
                       ss_error *err);
void ss_spread_free(ss_spread *s);
/* On straight lines between the values; p from 0 to 1. */
double ss_spread_quantile(const ss_spread *s, double p);

typedef struct ss_paired {
    double mean, deviation, low, high; /* of first less second */
    double correlation;                /* NAN where one of them is always the same */
    uint32_t first_less, second_less;  /* in so many repetitions; in the rest they are equal */
} ss_paired;

ss_status ss_paired_of(const double *first, const double *second, uint32_t n, double confidence,
                       ss_paired *out, ss_error *err);

#endif
