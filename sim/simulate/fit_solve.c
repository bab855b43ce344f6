/* fit_solve.c - the robust estimate: least squares by GSL's trust region, its weights made anew until
 * they stay. */
#include "simulate/fit_inside.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

enum {
    TURNS = 100,  /* of weights, at most */
    SETTLED = 30, /* after so many the scale stays, lest it go round in circles */
    STEPS = 100   /* of a trust region */
};

/* Efficiency 95 % on normal errors (Holland and Welsch, "Robust regression using iteratively reweighted
 * least-squares", 1977). */
static const double BISQUARE = 4.685;
static const double MAD_OF_NORMAL = 0.67448975019608171; /* its upper quartile */
/* Of a parameter's logarithm: a step of the search may go far, and its times must stay numbers. */
static const double FURTHEST = 500;
static const double LEAST_SCALE = 1e-10; /* rows that lie on the line to rounding have no other */

typedef struct solver {
    const ss_fit_problem *p;
    ss_fit_solution *s;
    gsl_multifit_nlinear_workspace *work;
    gsl_vector *weight;
    double *scratch; /* [n] */
} solver;

/* -- the model, in logarithms of its parameters so that these stay above 0 ------------------- */

static double time_of(const ss_fit_problem *p, uint32_t i, const double *theta)
{
    double t = 0;
    const double *x = p->x + (size_t)i * p->p;
    for (uint32_t j = 0; j < p->p; j++)
        t += x[j] * theta[j];
    return t;
}

static void powers(const gsl_vector *logs, double *theta)
{
    for (size_t j = 0; j < logs->size; j++)
        theta[j] = exp(fmax(-FURTHEST, fmin(gsl_vector_get(logs, j), FURTHEST)));
}

static int residuals(const gsl_vector *logs, void *data, gsl_vector *out)
{
    const ss_fit_problem *p = data;
    double theta[SS_FIT_PARAMETERS];
    powers(logs, theta);
    for (uint32_t i = 0; i < p->n; i++)
        gsl_vector_set(out, i, log(time_of(p, i, theta)) - p->log_seconds[i]);
    return GSL_SUCCESS;
}

static int jacobian(const gsl_vector *logs, void *data, gsl_matrix *out)
{
    const ss_fit_problem *p = data;
    double theta[SS_FIT_PARAMETERS];
    powers(logs, theta);
    for (uint32_t i = 0; i < p->n; i++) {
        double t = time_of(p, i, theta);
        for (uint32_t j = 0; j < p->p; j++)
            gsl_matrix_set(out, i, j, p->x[(size_t)i * p->p + j] * theta[j] / t);
    }
    return GSL_SUCCESS;
}

static ss_status minimise(solver *v, ss_error *err)
{
    double logs[SS_FIT_PARAMETERS];
    gsl_multifit_nlinear_fdf fdf = {
        .f = residuals, .df = jacobian, .n = v->p->n, .p = v->p->p, .params = (void *)v->p};
    for (uint32_t j = 0; j < v->p->p; j++)
        logs[j] = log(v->s->theta[j]);
    gsl_vector_view start = gsl_vector_view_array(logs, v->p->p);
    int info, e = gsl_multifit_nlinear_winit(&start.vector, v->weight, &fdf, v->work);
    if (!e)
        e = gsl_multifit_nlinear_driver(STEPS, 1e-12, 1e-14, 0, NULL, NULL, &info, v->work);
    powers(gsl_multifit_nlinear_position(v->work), v->s->theta);
    if (e == GSL_EBADFUNC)
        return ss_fail(err, SS_EINVAL, "no line can be put through these times (%s)",
                       gsl_strerror(e));
    return SS_OK; /* one that had to stop early is as near as it comes: the minimum is flat there */
}

/* -- weights --------------------------------------------------------------------------------- */

double ss_fit_median(double *value, uint32_t n)
{
    gsl_sort(value, 1, n);
    return gsl_stats_median_from_sorted_data(value, 1, n);
}

static void find_residuals(solver *v)
{
    for (uint32_t i = 0; i < v->p->n; i++)
        v->s->residual[i] = v->p->log_seconds[i] - log(time_of(v->p, i, v->s->theta));
}

/* In units of a row of weight 1. */
static double deviation(const solver *v, uint32_t i)
{
    return v->s->residual[i] * sqrt(v->p->weight[i]);
}

/* From the median absolute deviation without the p least, which a line through p points makes 0. */
static double find_scale(solver *v)
{
    uint32_t n = v->p->n, p = v->p->p;
    for (uint32_t i = 0; i < n; i++)
        v->scratch[i] = fabs(deviation(v, i));
    gsl_sort(v->scratch, 1, n);
    double mad = gsl_stats_median_from_sorted_data(v->scratch + p, 1, n - p);
    return fmax(mad / MAD_OF_NORMAL, LEAST_SCALE);
}

static double bisquare(double u)
{
    return fabs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0;
}

/* How far the weights moved. */
static double find_trust(solver *v, double scale)
{
    double moved = 0;
    for (uint32_t i = 0; i < v->p->n; i++) {
        double trust = bisquare(deviation(v, i) / (BISQUARE * scale));
        moved = fmax(moved, fabs(trust - v->s->trust[i]));
        v->s->trust[i] = trust;
        gsl_vector_set(v->weight, i, trust * v->p->weight[i]);
    }
    return moved;
}

/* -- errors ---------------------------------------------------------------------------------- */

/* The spread that belongs to J'J: of least squares the usual one; of the bisquare that of an
 * M-estimator with Huber's correction for few rows. */
static double find_spread(const solver *v, double scale)
{
    uint32_t n = v->p->n, p = v->p->p;
    double squares = 0, slope = 0, slope2 = 0;
    for (uint32_t i = 0; i < n; i++) {
        double r = deviation(v, i), u = v->p->least_squares ? 0 : r / (BISQUARE * scale);
        double psi = r * bisquare(u);
        double d = fabs(u) < 1 ? (1 - u * u) * (1 - 5 * u * u) : 0;
        squares += psi * psi;
        slope += d / n;
        slope2 += d * d / n;
    }
    double correction = 1 + p * (slope2 - slope * slope) / (n * slope * slope);
    return correction * sqrt(squares / (n - p)) / slope;
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
static ss_status find_covariance(solver *v, double scale, ss_error *err)
{
    const ss_fit_problem *p = v->p;
    double a[SS_FIT_PARAMETERS][SS_FIT_PARAMETERS] = {{0}}, mean = 0;
    v->s->spread = find_spread(v, scale);
    for (uint32_t i = 0; i < p->n; i++) {
        double t = time_of(p, i, v->s->theta), w = v->s->trust[i] * p->weight[i];
        const double *x = p->x + (size_t)i * p->p;
        mean += v->s->trust[i] / p->n;
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
            v->s->covariance[j][k] = v->s->spread * v->s->spread * mean * a[j][k];
    return SS_OK;
}

/* -- together -------------------------------------------------------------------------------- */

static ss_status iterate(solver *v, ss_error *err)
{
    double scale = LEAST_SCALE;
    for (uint32_t i = 0; i < v->p->n; i++) {
        v->s->trust[i] = 1;
        gsl_vector_set(v->weight, i, v->p->weight[i]);
    }
    if (v->p->least_squares) {
        ss_status s = minimise(v, err);
        find_residuals(v);
        return s ? s : find_covariance(v, 1, err);
    }
    find_residuals(v);
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn < SETTLED)
            scale = find_scale(v);
        double moved = find_trust(v, scale);
        if (turn && moved < 1e-9)
            break;
        ss_status s = minimise(v, err);
        if (s)
            return s;
        find_residuals(v);
    }
    return find_covariance(v, scale, err);
}

ss_status ss_fit_solve(const ss_fit_problem *p, ss_fit_solution *s, ss_error *err)
{
    /* QR: normal equations would lose a small latency beside a long transfer, and complain through GSL's
     * handler, which ends a host's program. */
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    how.solver = gsl_multifit_nlinear_solver_qr;
    solver v = {.p = p, .s = s};
    v.work = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, p->n, p->p);
    v.weight = gsl_vector_alloc(p->n);
    v.scratch = ss_alloc(p->n * sizeof *v.scratch);
    ss_status status = v.work && v.weight && v.scratch
                           ? iterate(&v, err)
                           : ss_fail_memory(err, "a fit", p->n * (p->p + 8) * sizeof(double));
    if (v.work)
        gsl_multifit_nlinear_free(v.work);
    if (v.weight)
        gsl_vector_free(v.weight);
    ss_free(v.scratch);
    return status;
}
