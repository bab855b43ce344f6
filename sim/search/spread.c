#include "search/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>

#include "base/mem.h"

static ss_status refuse(uint32_t n, double confidence, ss_error *err)
{
    if (!n)
        return ss_fail(err, SS_EINVAL, "no values, no mean");
    if (!(confidence > 0 && confidence < 1))
        return ss_fail(err, SS_EINVAL, "a confidence of %g; it must be above 0 and below 1",
                       confidence);
    return SS_OK;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Half of the interval of a mean. */
static double half_of(double deviation, uint32_t n, double confidence)
{
    if (n < 2)
        return NAN;
    return gsl_cdf_tdist_Pinv((1 + confidence) / 2, n - 1) * deviation / sqrt(n);
}

/* The k-th value from below and from above, for the largest k that is sure enough: fewer than k of n
 * values lie on one side of the median with a chance of at most half of what may be missed. */
static void find_median_interval(ss_spread *s, double confidence)
{
    uint32_t k = 0;
    while (k < s->n / 2 && 2 * gsl_cdf_binomial_P(k, 0.5, s->n) <= 1 - confidence)
        k++;
    s->median_low = k ? s->sorted[k - 1] : NAN;
    s->median_high = k ? s->sorted[s->n - k] : NAN;
}

ss_status ss_spread_of(const double *value, uint32_t n, double confidence, ss_spread *out,
                       ss_error *err)
{
    ss_status s = refuse(n, confidence, err);
    if (s)
        return s;
    double *sorted = ss_alloc(n * sizeof *sorted);
    if (!sorted)
        return ss_fail_memory(err, "repetitions", n * sizeof *sorted);
    memcpy(sorted, value, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    *out = (ss_spread){.n = n, .least = sorted[0], .most = sorted[n - 1], .sorted = sorted};
    out->mean = gsl_stats_mean(value, 1, n);
    out->deviation = n > 1 ? gsl_stats_sd_m(value, 1, n, out->mean) : NAN;
    double half = half_of(out->deviation, n, confidence);
    out->mean_low = out->mean - half;
    out->mean_high = out->mean + half;
    find_median_interval(out, confidence);
    return SS_OK;
}

void ss_spread_free(ss_spread *s)
{
    ss_free(s->sorted);
    *s = (ss_spread){0};
}

double ss_spread_quantile(const ss_spread *s, double p)
{
    return gsl_stats_quantile_from_sorted_data(s->sorted, 1, s->n, p);
}

ss_status ss_paired_of(const double *first, const double *second, uint32_t n, double confidence,
                       ss_paired *out, ss_error *err)
{
    ss_status s = refuse(n, confidence, err);
    if (s)
        return s;
    double *difference = ss_alloc(n * sizeof *difference);
    if (!difference)
        return ss_fail_memory(err, "repetitions", n * sizeof *difference);
    *out = (ss_paired){0};
    for (uint32_t i = 0; i < n; i++) {
        difference[i] = first[i] - second[i];
        out->first_less += first[i] < second[i];
        out->second_less += second[i] < first[i];
    }
    out->mean = gsl_stats_mean(difference, 1, n);
    out->deviation = n > 1 ? gsl_stats_sd_m(difference, 1, n, out->mean) : NAN;
    double half = half_of(out->deviation, n, confidence);
    out->low = out->mean - half;
    out->high = out->mean + half;
    bool vary =
        n > 1 && gsl_stats_variance(first, 1, n) > 0 && gsl_stats_variance(second, 1, n) > 0;
    out->correlation = vary ? gsl_stats_correlation(first, 1, second, 1, n) : NAN;
    ss_free(difference);
    return SS_OK;
}
