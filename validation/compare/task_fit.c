/* task_fit.c - a linear fit with GSL. */
#include "validation/compare/task_fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>

#include "base/mem.h"

/* Where an unknown stands among those that are fitted; NONE: it is given. */
enum { NONE = -1 };

typedef struct fit {
    const ss_task_time *row;
    uint32_t rows, groups;
    double interference; /* measured */
    double typical;      /* time of a task: the median */
    int *factor, overhead, pressed; /* factor: [groups]; given: the least.  Given overhead and interference: 0 */
    size_t unknowns, equations;
    gsl_matrix *x, *covariance;
    gsl_vector *y, *c;
    gsl_multifit_robust_workspace *work;
} fit;

static ss_status check(const ss_task_time *row, uint32_t rows, uint32_t groups, ss_error *err)
{
    if (!rows || rows > SS_TASK_ROWS || !groups || groups > SS_TASK_GROUPS)
        return ss_fail(err, SS_EINVAL, "%u tasks of %u groups: 1 to %d of 1 to %d groups can be fitted", rows,
                       groups, SS_TASK_ROWS, SS_TASK_GROUPS);
    for (uint32_t i = 0; i < rows; i++) {
        const ss_task_time *x = &row[i];
        if (x->group >= groups)
            return ss_fail(err, SS_EINVAL, "task %u is of group %u of %u", i + 1, x->group + 1, groups);
        if (!(x->alone_s > 0 && isfinite(x->alone_s) && x->executed_s > 0 && isfinite(x->executed_s)))
            return ss_fail(err, SS_EINVAL, "task %u takes %g s alone and %g s executed: both must be above 0",
                           i + 1, x->alone_s, x->executed_s);
        if (!(x->bound >= 0 && x->bound <= 1 && x->beside >= 0 && isfinite(x->beside)))
            return ss_fail(err, SS_EINVAL, "task %u has a bound of %g, and %g beside it", i + 1, x->bound,
                           x->beside);
    }
    return SS_OK;
}

static ss_status find_typical(fit *f, ss_error *err)
{
    double *t = ss_alloc(f->rows * sizeof *t);
    if (!t)
        return ss_fail_memory(err, "a fit", f->rows * sizeof *t);
    for (uint32_t i = 0; i < f->rows; i++)
        t[i] = f->row[i].alone_s;
    gsl_sort(t, 1, f->rows);
    f->typical = gsl_stats_median_from_sorted_data(t, 1, f->rows);
    ss_free(t);
    return SS_OK;
}

static void release(fit *f)
{
    if (f->work)
        gsl_multifit_robust_free(f->work);
    if (f->x)
        gsl_matrix_free(f->x);
    if (f->covariance)
        gsl_matrix_free(f->covariance);
    if (f->y)
        gsl_vector_free(f->y);
    if (f->c)
        gsl_vector_free(f->c);
    f->work = NULL;
    f->x = f->covariance = NULL;
    f->y = f->c = NULL;
}

static void number_unknowns(fit *f)
{
    size_t n = 0;
    for (uint32_t g = 0; g < f->groups; g++)
        f->factor[g] = f->factor[g] == NONE ? NONE : (int)n++;
    f->overhead = f->overhead == NONE ? NONE : (int)n++;
    f->pressed = f->pressed == NONE ? NONE : (int)n++;
    f->unknowns = n;
}

static ss_status reserve(fit *f, ss_error *err)
{
    number_unknowns(f);
    f->equations = f->rows + f->unknowns;
    f->x = gsl_matrix_calloc(f->equations, f->unknowns);
    f->covariance = gsl_matrix_calloc(f->unknowns, f->unknowns);
    f->y = gsl_vector_calloc(f->equations);
    f->c = gsl_vector_calloc(f->unknowns);
    f->work = gsl_multifit_robust_alloc(gsl_multifit_robust_huber, f->equations, f->unknowns);
    return f->x && f->covariance && f->y && f->c && f->work
               ? SS_OK
               : ss_fail_memory(err, "a fit", f->equations * f->unknowns * sizeof(double));
}

/* An unknown as a task of the typical time would have shown it. */
static void expect(fit *f, size_t equation, size_t unknown, double times, double value)
{
    gsl_matrix_set(f->x, equation, unknown, times);
    gsl_vector_set(f->y, equation, times * value);
}

static void write_equations(fit *f)
{
    double root = sqrt(f->typical);
    size_t next = f->rows;
    for (uint32_t i = 0; i < f->rows; i++) {
        const ss_task_time *t = &f->row[i];
        double w = 1 / sqrt(t->alone_s);
        double given = 0;
        if (f->factor[t->group] != NONE)
            gsl_matrix_set(f->x, i, (size_t)f->factor[t->group], w * t->alone_s);
        else
            given = SS_TASK_LEAST_FACTOR * t->alone_s;
        if (f->overhead != NONE)
            gsl_matrix_set(f->x, i, (size_t)f->overhead, w);
        if (f->pressed != NONE)
            gsl_matrix_set(f->x, i, (size_t)f->pressed, w * t->alone_s * t->bound * t->beside);
        gsl_vector_set(f->y, i, w * (t->executed_s - given));
    }
    for (uint32_t g = 0; g < f->groups; g++)
        if (f->factor[g] != NONE)
            expect(f, next++, (size_t)f->factor[g], root, 1);
    if (f->overhead != NONE)
        expect(f, next++, (size_t)f->overhead, 1 / root, 0);
    if (f->pressed != NONE)
        expect(f, next++, (size_t)f->pressed, root, f->interference);
}

static ss_status solve(fit *f, ss_error *err)
{
    release(f);
    ss_status s = reserve(f, err);
    if (s)
        return s;
    write_equations(f);
    gsl_multifit_robust_maxiter(200, f->work);
    int e = gsl_multifit_robust(f->x, f->y, f->c, f->covariance, f->work);
    return e && e != GSL_EMAXITER ? ss_fail(err, SS_EINVAL, "these times cannot be fitted (%s)", gsl_strerror(e))
                                  : SS_OK;
}

static double value_of(const fit *f, int unknown, double *error)
{
    *error = unknown == NONE ? 0 : sqrt(gsl_matrix_get(f->covariance, (size_t)unknown, (size_t)unknown));
    return unknown == NONE ? 0 : gsl_vector_get(f->c, (size_t)unknown);
}

static void take_results(const fit *f, ss_task_fit *out, ss_task_group *group)
{
    double mean = 0, weight = 0;
    for (uint32_t g = 0; g < f->groups; g++) {
        group[g] = (ss_task_group){0};
        group[g].factor = value_of(f, f->factor[g], &group[g].error);
        if (f->factor[g] == NONE)
            group[g].factor = SS_TASK_LEAST_FACTOR;
    }
    for (uint32_t i = 0; i < f->rows; i++) {
        const ss_task_time *t = &f->row[i];
        ss_task_group *x = &group[t->group];
        x->tasks++;
        x->alone_s += t->alone_s;
        x->executed_s += t->executed_s;
        mean += t->alone_s * t->bound * t->beside * x->factor;
        weight += t->alone_s * t->bound * t->beside;
    }
    mean = weight > 0 ? mean / weight : 1;
    out->overhead_s = value_of(f, f->overhead, &out->overhead_error);
    out->interference = value_of(f, f->pressed, &out->interference_error) / mean;
    out->interference_error /= mean;
    out->spread = gsl_multifit_robust_statistics(f->work).sigma / sqrt(1e-6);
}

/* Gives what came out beyond what can be; false: nothing did.  The overhead first, which is taken from all. */
static bool give_in(fit *f)
{
    bool gave = false;
    if (f->overhead != NONE && gsl_vector_get(f->c, (size_t)f->overhead) < 0) {
        f->overhead = NONE;
        return true;
    }
    if (f->pressed != NONE && gsl_vector_get(f->c, (size_t)f->pressed) < 0) {
        f->pressed = NONE;
        return true;
    }
    for (uint32_t g = 0; g < f->groups; g++)
        if (f->factor[g] != NONE && !(gsl_vector_get(f->c, (size_t)f->factor[g]) >= SS_TASK_LEAST_FACTOR)) {
            f->factor[g] = NONE;
            gave = true;
        }
    return gave;
}

ss_status ss_task_fit_new(const ss_task_time *row, uint32_t rows, uint32_t groups, double measured_interference,
                          ss_task_fit *out, ss_task_group *group, ss_error *err)
{
    fit f = {.row = row, .rows = rows, .groups = groups, .interference = measured_interference, .pressed = NONE};
    ss_status s = check(row, rows, groups, err);
    for (uint32_t i = 0; i < rows && !s; i++)
        if (row[i].bound * row[i].beside > 0)
            f.pressed = 0;
    if (!s)
        s = find_typical(&f, err);
    if (!s && !(f.factor = ss_alloc_zeroed(groups, sizeof *f.factor)))
        s = ss_fail_memory(err, "a fit", groups * sizeof *f.factor);
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    if (!s)
        s = solve(&f, err);
    while (!s && give_in(&f) && f.unknowns > 1)
        s = solve(&f, err);
    gsl_set_error_handler(handler);
    if (!s)
        take_results(&f, out, group);
    release(&f);
    ss_free(f.factor);
    return s;
}
