/* statistics.c - the middle and the spread of samples, with GSL. */
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "validation/profiler/statistics.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

ss_status ss_statistics_of(const double *sample, uint32_t n, ss_statistics *out, ss_error *err)
{
    if (!n)
        return ss_fail(err, SS_EINVAL, "statistics of no samples");
    double *sorted = ss_alloc(n * sizeof *sorted);
    if (!sorted)
        return ss_fail_memory(err, "samples", n * sizeof *sorted);
    memcpy(sorted, sample, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    ss_statistics s = {.n = n, .least = sorted[0], .most = sorted[n - 1]};
    s.median = gsl_stats_median_from_sorted_data(sorted, 1, n);
    s.q05 = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.05);
    s.q25 = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.25);
    s.q75 = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.75);
    s.q95 = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.95);
    /* Of two samples that are a rounding apart, the quartiles may be the wrong way round: the median stops both. */
    double far = 3 * fabs(s.q75 - s.q25), low = fmin(s.q25 - far, s.median), high = fmax(s.q75 + far, s.median);
    uint32_t from = 0, to = n;
    while (from + 1 < n && sorted[from] < low)
        from++;
    while (to > from + 1 && sorted[to - 1] > high)
        to--;
    s.outliers = n - (to - from);
    s.mean = gsl_stats_mean(sorted + from, 1, to - from);
    s.deviation = to - from < 2 ? 0 : gsl_stats_sd(sorted + from, 1, to - from);
    ss_free(sorted);
    *out = s;
    return SS_OK;
}
