/* compare.c - errors and orders, with GSL. */
#include "validation/compare/compare.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/mem.h"

static ss_status check(const double *simulated, const double *measured, uint32_t n, ss_error *err)
{
    if (!n)
        return ss_fail(err, SS_EINVAL, "there are no times to compare");
    for (uint32_t i = 0; i < n; i++)
        if (!(simulated[i] > 0 && isfinite(simulated[i]) && measured[i] > 0 &&
              isfinite(measured[i])))
            return ss_fail(err, SS_EINVAL,
                           "pair %u: %g s simulated and %g s measured: both must be above 0", i + 1,
                           simulated[i], measured[i]);
    return SS_OK;
}

static int order_of(double a, double b)
{
    return (a > b) - (a < b);
}

static double kendall(const double *x, const double *y, uint32_t n)
{
    double same = 0, tied_x = 0, tied_y = 0, decided = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++) {
            int a = order_of(x[i], x[k]), b = order_of(y[i], y[k]);
            same += a * b;
            decided += a && b;
            tied_x += !a && b;
            tied_y += a && !b;
        }
    double below = sqrt((decided + tied_x) * (decided + tied_y));
    return below > 0 ? same / below : NAN;
}

ss_status ss_compare(const double *simulated, const double *measured, uint32_t n,
                     ss_comparison *out, ss_error *err)
{
    ss_status s = check(simulated, measured, n, err);
    if (s)
        return s;
    double *work = ss_alloc(2 * (size_t)n * sizeof *work);
    if (!work)
        return ss_fail_memory(err, "a comparison", 2 * (size_t)n * sizeof *work);
    for (uint32_t i = 0; i < n; i++)
        work[i] = simulated[i] / measured[i] - 1;
    *out = (ss_comparison){.n = n, .mean = gsl_stats_mean(work, 1, n)};
    for (uint32_t i = 0; i < n; i++)
        work[i] = fabs(work[i]);
    out->mean_absolute = gsl_stats_mean(work, 1, n);
    gsl_sort(work, 1, n);
    out->median = gsl_stats_median_from_sorted_data(work, 1, n);
    out->q90 = gsl_stats_quantile_from_sorted_data(work, 1, n, 0.9);
    out->most = work[n - 1];
    out->kendall = kendall(simulated, measured, n);
    out->spearman =
        isnan(out->kendall) ? NAN : gsl_stats_spearman(simulated, 1, measured, 1, n, work);
    ss_free(work);
    return SS_OK;
}
