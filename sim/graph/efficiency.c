#include "graph/efficiency.h"

#include <gsl/gsl_interp.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

ss_status ss_efficiency_new(double bytes_per_s, const double *bytes, const double *share,
                            uint32_t n, ss_efficiency *out, ss_error *err)
{
    if (!n)
        return ss_fail(err, SS_EINVAL, "a curve of efficiency has no points");
    if (!(bytes_per_s > 0 && isfinite(bytes_per_s)))
        return ss_fail(err, SS_EINVAL, "a curve of efficiency of a bandwidth of %g B/s",
                       bytes_per_s);
    for (uint32_t i = 0; i < n; i++) {
        if (!(bytes[i] > 0 && isfinite(bytes[i])) || (i && bytes[i] <= bytes[i - 1]))
            return ss_fail(err, SS_EINVAL,
                           "point %u of a curve of efficiency has %g bytes: sizes are above 0 and "
                           "grow from point to point",
                           i + 1, bytes[i]);
        if (!(share[i] > 0 && share[i] <= 1))
            return ss_fail(err, SS_EINVAL,
                           "point %u of a curve of efficiency, %g bytes, has an efficiency of %g: "
                           "above 0 and at most 1 is wanted",
                           i + 1, bytes[i], share[i]);
    }
    double *both = ss_alloc(2 * (size_t)n * sizeof *both);
    if (!both)
        return ss_fail_memory(err, "a curve of efficiency", 2 * (size_t)n * sizeof *both);
    memcpy(both, bytes, n * sizeof *both);
    memcpy(both + n, share, n * sizeof *both);
    *out = (ss_efficiency){bytes_per_s, both, both + n, n};
    return SS_OK;
}

/* The last point whose size is not above `bytes`, of those that have a next one. */
static uint32_t point_before(const ss_efficiency *e, double bytes)
{
    return (uint32_t)gsl_interp_bsearch(e->bytes, bytes, 0, e->n - 1);
}

double ss_efficiency_at(const ss_efficiency *e, double bytes)
{
    if (bytes <= e->bytes[0])
        return e->share[0] * fmax(bytes, 0) / e->bytes[0];
    if (bytes >= e->bytes[e->n - 1])
        return e->share[e->n - 1];
    uint32_t i = point_before(e, bytes);
    double x[2] = {log(e->bytes[i]), log(e->bytes[i + 1])};
    double y[2] = {log(e->share[i]), log(e->share[i + 1])};
    if (!(x[1] > x[0])) /* neighbours among the numbers */
        return e->share[i];
    gsl_interp line = {.type = gsl_interp_linear, .size = 2};
    gsl_interp_init(&line, x, y, 2);
    return exp(gsl_interp_eval(&line, x, y, fmax(x[0], fmin(log(bytes), x[1])), NULL));
}

double ss_efficiency_seconds(const ss_efficiency *e, double bytes)
{
    if (bytes <= e->bytes[0])
        return e->bytes[0] / (e->bytes_per_s * e->share[0]);
    return bytes / (e->bytes_per_s * ss_efficiency_at(e, bytes));
}

void ss_efficiency_free(ss_efficiency *e)
{
    ss_free(e->bytes);
    *e = (ss_efficiency){0};
}
