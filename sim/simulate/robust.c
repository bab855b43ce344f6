/* robust.c - least squares by GSL's trust region, its weights made anew until they stay. */
#include "simulate/robust.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

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
/* Of a constant's logarithm: a step of the search may go far, and its times must stay numbers. */
static const double FURTHEST = 500;
static const double LEAST_SCALE = 1e-10; /* rows that lie on the line to rounding have no other */

typedef struct solver {
    const ss_robust_problem *p;
    ss_robust_solution *s;
    gsl_multifit_nlinear_workspace *work;
    gsl_vector *weight, *start; /* [n], [p] */
    double *scratch;            /* [n] */
    double *theta, *slope;      /* [p], of a trial */
    double *from;               /* [p], logarithms that a search begins at */
} solver;

/* -- the model, in logarithms of its constants so that these stay above 0 -------------------- */

/* Logarithms are counted from where the search begins: its first steps are as large as they are, and those of a launch of a
 * microsecond would reach far beyond where the model is like its slope. */
static void powers(const solver *v, const gsl_vector *logs, double *theta)
{
    for (size_t j = 0; j < logs->size; j++)
        theta[j] = exp(fmax(-FURTHEST, fmin(v->from[j] + gsl_vector_get(logs, j), FURTHEST)));
}

static int residuals(const gsl_vector *logs, void *data, gsl_vector *out)
{
    const solver *v = data;
    const ss_robust_problem *p = v->p;
    powers(v, logs, v->theta);
    for (uint32_t i = 0; i < p->n; i++)
        gsl_vector_set(out, i, p->log_time(p->model, i, v->theta) - p->log_seconds[i]);
    return GSL_SUCCESS;
}

static int jacobian(const gsl_vector *logs, void *data, gsl_matrix *out)
{
    const solver *v = data;
    const ss_robust_problem *p = v->p;
    powers(v, logs, v->theta);
    for (uint32_t i = 0; i < p->n; i++) {
        p->slope(p->model, i, v->theta, v->slope);
        for (uint32_t j = 0; j < p->p; j++)
            gsl_matrix_set(out, i, j, v->slope[j]);
    }
    return GSL_SUCCESS;
}

static ss_status minimise(solver *v, ss_error *err)
{
    gsl_multifit_nlinear_fdf fdf = {
        .f = residuals, .df = jacobian, .n = v->p->n, .p = v->p->p, .params = v};
    for (uint32_t j = 0; j < v->p->p; j++)
        v->from[j] = log(v->s->theta[j]);
    gsl_vector_set_zero(v->start);
    int info, e = gsl_multifit_nlinear_winit(v->start, v->weight, &fdf, v->work);
    if (!e)
        e = gsl_multifit_nlinear_driver(STEPS, 1e-12, 1e-14, 0, NULL, NULL, &info, v->work);
    powers(v, gsl_multifit_nlinear_position(v->work), v->s->theta);
    if (e == GSL_EBADFUNC)
        return ss_fail(err, SS_EINVAL, "no %s can be put through these times (%s)", v->p->what,
                       gsl_strerror(e));
    return SS_OK; /* one that had to stop early is as near as it comes: the minimum is flat there */
}

/* -- weights --------------------------------------------------------------------------------- */

double ss_robust_median(double *value, uint32_t n)
{
    gsl_sort(value, 1, n);
    return gsl_stats_median_from_sorted_data(value, 1, n);
}

static void find_residuals(solver *v)
{
    for (uint32_t i = 0; i < v->p->n; i++)
        v->s->residual[i] = v->p->log_seconds[i] - v->p->log_time(v->p->model, i, v->s->theta);
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

double ss_robust_trust(double scales)
{
    double u = scales / BISQUARE;
    return fabs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0;
}

double ss_robust_loss(double scales)
{
    double u = scales / BISQUARE, rest = fabs(u) < 1 ? 1 - u * u : 0;
    return BISQUARE * BISQUARE / 3 * (1 - rest * rest * rest);
}

/* How far the weights moved. */
static double find_trust(solver *v, double scale)
{
    double moved = 0;
    for (uint32_t i = 0; i < v->p->n; i++) {
        double trust = ss_robust_trust(deviation(v, i) / scale);
        moved = fmax(moved, fabs(trust - v->s->trust[i]));
        v->s->trust[i] = trust;
        gsl_vector_set(v->weight, i, trust * v->p->weight[i]);
    }
    return moved;
}

/* -- errors ---------------------------------------------------------------------------------- */

static double find_spread(const solver *v, double scale)
{
    uint32_t n = v->p->n, p = v->p->p;
    double squares = 0, slope = 0, slope2 = 0;
    for (uint32_t i = 0; i < n; i++) {
        double r = deviation(v, i), scales = v->p->least_squares ? 0 : r / scale,
               u = scales / BISQUARE;
        double psi = r * ss_robust_trust(scales);
        double d = fabs(u) < 1 ? (1 - u * u) * (1 - 5 * u * u) : 0;
        squares += psi * psi;
        slope += d / n;
        slope2 += d * d / n;
    }
    double correction = 1 + p * (slope2 - slope * slope) / (n * slope * slope);
    return correction * sqrt(squares / (n - p)) / slope;
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
        v->s->scale = 1;
        v->s->spread = find_spread(v, 1);
        return s;
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
    v->s->scale = scale;
    v->s->spread = find_spread(v, scale);
    return SS_OK;
}

ss_status ss_robust_solve(const ss_robust_problem *p, ss_robust_solution *s, ss_error *err)
{
    /* QR: normal equations would lose a small latency beside a long transfer, and complain through GSL's
     * handler, which ends a host's program. */
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    how.solver = gsl_multifit_nlinear_solver_qr;
    solver v = {.p = p, .s = s};
    v.work = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, p->n, p->p);
    v.weight = gsl_vector_alloc(p->n);
    v.start = gsl_vector_alloc(p->p);
    v.scratch = ss_alloc(((size_t)p->n + 3 * (size_t)p->p) * sizeof *v.scratch);
    v.theta = v.scratch ? v.scratch + p->n : NULL;
    v.slope = v.scratch ? v.theta + p->p : NULL;
    v.from = v.scratch ? v.slope + p->p : NULL;
    gsl_error_handler_t *handler =
        gsl_set_error_handler_off(); /* rows none of which counts have no rank */
    ss_status status = v.work && v.weight && v.start && v.scratch
                           ? iterate(&v, err)
                           : ss_fail_memory(err, "a fit", p->n * (p->p + 8) * sizeof(double));
    gsl_set_error_handler(handler);
    if (v.work)
        gsl_multifit_nlinear_free(v.work);
    if (v.weight)
        gsl_vector_free(v.weight);
    if (v.start)
        gsl_vector_free(v.start);
    ss_free(v.scratch);
    return status;
}
