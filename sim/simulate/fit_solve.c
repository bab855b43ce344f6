/* fit_solve.c - the line's parameters by the robust estimate, and their covariance. */
#include "simulate/fit_inside.h"

#include <math.h>

#include "simulate/robust.h"

static double time_of(const ss_fit_problem *p, uint32_t i, const double *theta)
{
    double t = 0;
    const double *x = p->x + (size_t)i * p->p;
    for (uint32_t j = 0; j < p->p; j++)
        t += x[j] * theta[j];
    return t;
}

static double log_time(const void *model, uint32_t i, const double *theta)
{
    return log(time_of(model, i, theta));
}

static void slope(const void *model, uint32_t i, const double *theta, double *out)
{
    const ss_fit_problem *p = model;
    double t = time_of(p, i, theta);
    for (uint32_t j = 0; j < p->p; j++)
        out[j] = p->x[(size_t)i * p->p + j] * theta[j] / t;
}

/* The inverse of a symmetric matrix of p rows, by elimination with the pivot that is greatest; false: it
 * has none.  Scaled before to 1 on its diagonal: seconds and bytes are far apart. */
static bool invert(double a[SS_FIT_PARAMETERS][SS_FIT_PARAMETERS], uint32_t p)
{
    double scale[SS_FIT_PARAMETERS], m[SS_FIT_PARAMETERS][2 * SS_FIT_PARAMETERS] = {{0}};
    for (uint32_t j = 0; j < p; j++) {
        scale[j] = sqrt(a[j][j]);
        if (!(scale[j] > 0 && isfinite(scale[j])))
            return false;
    }
    for (uint32_t i = 0; i < p; i++) {
        for (uint32_t j = 0; j < p; j++)
            m[i][j] = a[i][j] / (scale[i] * scale[j]);
        m[i][p + i] = 1;
    }
    for (uint32_t k = 0; k < p; k++) {
        uint32_t pivot = k;
        for (uint32_t i = k + 1; i < p; i++)
            pivot = fabs(m[i][k]) > fabs(m[pivot][k]) ? i : pivot;
        if (fabs(m[pivot][k]) < 1e-13)
            return false;
        for (uint32_t j = 0; j < 2 * p; j++) {
            double other = m[k][j];
            m[k][j] = m[pivot][j];
            m[pivot][j] = other;
        }
        for (uint32_t i = 0; i < p; i++) {
            double times = i == k ? 0 : m[i][k] / m[k][k];
            for (uint32_t j = 0; j < 2 * p; j++)
                m[i][j] -= times * m[k][j];
        }
    }
    for (uint32_t i = 0; i < p; i++)
        for (uint32_t j = 0; j < p; j++)
            a[i][j] = m[i][p + j] / m[i][i] / (scale[i] * scale[j]);
    return true;
}

/* In the parameters themselves, whose derivatives do not vanish where a parameter does.  Rows that are
 * not trusted tell nothing, so the weights stand in the matrix; their mean keeps its size. */
static ss_status find_covariance(const ss_fit_problem *p, ss_fit_solution *s, ss_error *err)
{
    double a[SS_FIT_PARAMETERS][SS_FIT_PARAMETERS] = {{0}}, mean = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        double t = time_of(p, i, s->theta), w = s->trust[i] * p->weight[i];
        const double *x = p->x + (size_t)i * p->p;
        mean += s->trust[i] / p->n;
        for (uint32_t j = 0; j < p->p; j++)
            for (uint32_t k = 0; k < p->p; k++)
                a[j][k] += w * x[j] * x[k] / (t * t);
    }
    if (!invert(a, p->p))
        return ss_fail(
            err, SS_EINVAL,
            "these times do not tell latency from bandwidth: sizes that lie further apart "
            "are wanted");
    for (uint32_t j = 0; j < p->p; j++)
        for (uint32_t k = 0; k < p->p; k++)
            s->covariance[j][k] = s->spread * s->spread * mean * a[j][k];
    return SS_OK;
}

ss_status ss_fit_solve(const ss_fit_problem *p, ss_fit_solution *s, ss_error *err)
{
    const ss_robust_problem robust = {.n = p->n,
                                      .p = p->p,
                                      .log_seconds = p->log_seconds,
                                      .weight = p->weight,
                                      .least_squares = p->least_squares,
                                      .model = p,
                                      .log_time = log_time,
                                      .slope = slope,
                                      .what = "line"};
    ss_robust_solution found = {.theta = s->theta, .residual = s->residual, .trust = s->trust};
    ss_status status = ss_robust_solve(&robust, &found, err);
    s->spread = found.spread;
    return status ? status : find_covariance(p, s, err);
}
