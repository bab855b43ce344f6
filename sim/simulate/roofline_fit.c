/* roofline_fit.c - where the fit begins, and which constants the rows tell. */
#include "simulate/roofline_fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "simulate/robust.h"

enum {
    CONSTANTS = SS_ROOFLINE_CONSTANTS,
    SWEEPS = 12,      /* over all constants, at most, until none moves */
    STEPS = 60,       /* over a constant's range */
    BEGIN_ROWS = 600, /* of many, so many are what it begins with */
    STARTS = 2,
    TURNS = 5 /* of a beginning and the estimate from there */
};
static const double TOLD =
    2; /* standard errors that a constant is above 0, and that it is off the built-in one */
static const double NOTHING =
    1e-6; /* of a row's time: what launch and half_flop begin with at least */
static const double ALONE =
    1e-10; /* of two constants that rows cannot tell apart: errors of 1e5 spreads, and not none */
static const double GOLDEN = 0.6180339887498949;
static const double BETTER = 0.999;
static const double FINE = 1.02; /* factor of the least step of a beginning */

typedef struct fit {
    const ss_roofline_row *row;
    uint32_t rows;
    ss_roofline constants;        /* what is not fitted stays here */
    ss_roofline_of of[CONSTANTS]; /* [free]: which constants are fitted */
    uint32_t free;
    double least[CONSTANTS], most[CONSTANTS];        /* by constant */
    double theta[CONSTANTS];                         /* [free] */
    double *log_seconds, *weight, *residual, *trust; /* [rows] */
    double scale, spread;
} fit;

/* -- what is refused -------------------------------------------------------------------------- */

static ss_status check(const ss_roofline_row *row, uint32_t rows, ss_error *err)
{
    if (!rows || rows > SS_ROOFLINE_ROWS)
        return ss_fail(err, SS_EINVAL, "%u times: 1 to %d can be fitted", rows, SS_ROOFLINE_ROWS);
    for (uint32_t i = 0; i < rows; i++) {
        const ss_roofline_row *r = &row[i];
        const ss_roofline_work *w = &r->work;
        if ((uint32_t)w->sort >= SS_WORK_SORTS || !(w->flops >= 0 && isfinite(w->flops)) ||
            !(w->bytes >= 0 && isfinite(w->bytes)) || !(w->flops + w->bytes > 0))
            return ss_fail(err, SS_EINVAL, "time %u is of %g FLOP and %g bytes: work is wanted",
                           i + 1, w->flops, w->bytes);
        if (!(r->seconds > 0 && isfinite(r->seconds)))
            return ss_fail(err, SS_EINVAL, "time %u is %g seconds: it must be above 0", i + 1,
                           r->seconds);
        if (w->flops > 0 && !(r->peak > 0 && isfinite(r->peak)))
            return ss_fail(err, SS_EINVAL, "time %u is of a device with a peak of %g FLOP/s", i + 1,
                           r->peak);
        if (w->bytes > 0 && !(r->bandwidth > 0 && isfinite(r->bandwidth)))
            return ss_fail(err, SS_EINVAL,
                           "time %u is of a device with a memory bandwidth of %g B/s", i + 1,
                           r->bandwidth);
    }
    return SS_OK;
}

/* -- the model -------------------------------------------------------------------------------- */

static ss_roofline constants_of(const fit *f, const double *theta)
{
    ss_roofline c = f->constants;
    for (uint32_t j = 0; j < f->free; j++)
        ss_roofline_set(&c, f->of[j], fmin(fmax(theta[j], f->least[f->of[j]]), f->most[f->of[j]]));
    return c;
}

static double log_time(const void *model, uint32_t i, const double *theta)
{
    const fit *f = model;
    const ss_roofline_row *r = &f->row[i];
    ss_roofline c = constants_of(f, theta);
    return log(ss_roofline_seconds(&c, &r->work, r->peak, r->bandwidth));
}

/* By how much the time grows with the logarithm of a constant. */
static double share(const ss_roofline *c, const ss_roofline_row *r, const ss_roofline_time *t,
                    ss_roofline_of which)
{
    bool computes = t->computing_s > t->moving_s;
    if (which == SS_ROOFLINE_LAUNCH)
        return t->launch_s;
    if (which == SS_ROOFLINE_HALF)
        return computes && r->work.sort != SS_WORK_STREAM
                   ? t->computing_s * c->half_flop / (r->work.flops + c->half_flop)
                   : 0;
    if (computes)
        return which == ss_roofline_computes_by(r->work.sort) ? -t->computing_s : 0;
    return which == ss_roofline_moves_by(r->work.sort) ? -t->moving_s : 0;
}

/* At an end of its range a constant moves nothing. */
static void slope(const void *model, uint32_t i, const double *theta, double *out)
{
    const fit *f = model;
    const ss_roofline_row *r = &f->row[i];
    ss_roofline c = constants_of(f, theta);
    ss_roofline_time t = ss_roofline_time_of(&c, &r->work, r->peak, r->bandwidth);
    double seconds = t.launch_s + fmax(t.computing_s, t.moving_s);
    for (uint32_t j = 0; j < f->free; j++) {
        ss_roofline_of which = f->of[j];
        bool inside = theta[j] > f->least[which] && theta[j] < f->most[which];
        out[j] = inside ? share(&c, r, &t, which) / seconds : 0;
    }
}

/* Of `n` rows, all or so many: by the golden section, which meets no pattern that rows may come in (forward, backward, forward ...). */
static double misses(const fit *f, const double *theta, uint32_t n)
{
    double sum = 0, at = 0;
    ss_roofline c = constants_of(f, theta);
    for (uint32_t k = 0; k < n; k++, at += GOLDEN - (at + GOLDEN >= 1)) {
        uint32_t i = n < f->rows ? (uint32_t)(at * f->rows) : k;
        const ss_roofline_row *r = &f->row[i];
        sum +=
            fabs(log(ss_roofline_seconds(&c, &r->work, r->peak, r->bandwidth)) - f->log_seconds[i]);
    }
    return sum;
}

/* -- where it begins -------------------------------------------------------------------------- */

/* What makes a difference: no launch above every time, no half_flop that is nothing beside the least product.  False: no row could
 * depend on it. */
static bool find_range(fit *f, ss_roofline_of which)
{
    const ss_roofline_constant *about = ss_roofline_describe(which);
    double least = about->least, most = about->most, shortest = INFINITY, small = INFINITY,
           large = 0;
    bool concerned = which == SS_ROOFLINE_LAUNCH;
    for (uint32_t i = 0; i < f->rows; i++) {
        const ss_roofline_row *r = &f->row[i];
        bool product = r->work.sort != SS_WORK_STREAM;
        shortest = fmin(shortest, r->seconds);
        if (which == SS_ROOFLINE_HALF
                ? product
                : (r->work.flops > 0 && which == ss_roofline_computes_by(r->work.sort)) ||
                      (r->work.bytes > 0 && which == ss_roofline_moves_by(r->work.sort)))
            concerned = true;
        if (product) {
            small = fmin(small, r->work.flops);
            large = fmax(large, r->work.flops);
        }
    }
    if (which == SS_ROOFLINE_LAUNCH) {
        least = NOTHING * shortest;
        most = fmin(most, 10 * shortest);
    }
    if (which == SS_ROOFLINE_HALF && concerned) {
        least = fmax(NOTHING * small, 1e-9);
        most = fmin(most, fmax(100 * large, 1e-6));
    }
    f->least[which] = least;
    f->most[which] = most;
    return concerned;
}

/* One constant over its whole range, then in smaller steps round the best. */
static bool move(const fit *f, double *theta, uint32_t j, uint32_t n, double *sum)
{
    double least = f->least[f->of[j]], most = f->most[f->of[j]],
           step = pow(most / least, 1.0 / STEPS), best = theta[j];
    bool moved = false;
    for (int k = 0; k <= STEPS; k++) {
        theta[j] = least * pow(step, k);
        double now = misses(f, theta, n);
        if (now < *sum * (1 - 1e-9)) {
            *sum = now;
            best = theta[j];
            moved = true;
        }
    }
    for (; step > FINE; step = sqrt(step))
        for (int up = 0; up < 2; up++) {
            theta[j] = fmin(fmax(up ? best * step : best / step, least), most);
            double now = misses(f, theta, n);
            if (now < *sum * (1 - 1e-9)) {
                *sum = now;
                best = theta[j];
                moved = true;
            }
        }
    theta[j] = best;
    return moved;
}

static void begin(const fit *f, double *theta)
{
    uint32_t n = f->rows < BEGIN_ROWS ? f->rows : BEGIN_ROWS;
    for (uint32_t j = 0; j < f->free; j++)
        theta[j] = fmin(fmax(theta[j], f->least[f->of[j]]), f->most[f->of[j]]);
    double sum = misses(f, theta, n);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool moved = false;
        for (uint32_t j = 0; j < f->free; j++)
            moved |= move(f, theta, j, n, &sum);
        if (!moved)
            return;
    }
}

/* Of no device: all efficiencies at their most, so that each constant begins with the rows that it may limit. */
static double start_of(const fit *f, int start, uint32_t j)
{
    ss_roofline_of which = f->of[j];
    if (start == 0)
        return ss_roofline_get(&f->constants, which);
    return which == SS_ROOFLINE_LAUNCH || which == SS_ROOFLINE_HALF ? f->least[which]
                                                                    : f->most[which];
}

/* -- the fit ---------------------------------------------------------------------------------- */

static ss_status solve_from(fit *f, double *theta, ss_error *err)
{
    const ss_robust_problem p = {.n = f->rows,
                                 .p = f->free,
                                 .log_seconds = f->log_seconds,
                                 .weight = f->weight,
                                 .model = f,
                                 .log_time = log_time,
                                 .slope = slope,
                                 .what = "roofline"};
    ss_robust_solution s = {.theta = theta, .residual = f->residual, .trust = f->trust};
    ss_status status = ss_robust_solve(&p, &s, err);
    for (uint32_t j = 0; j < f->free; j++)
        theta[j] = fmin(fmax(theta[j], f->least[f->of[j]]), f->most[f->of[j]]);
    f->scale = s.scale;
    f->spread = s.spread;
    return status;
}

static void find_residuals(fit *f, const double *theta)
{
    for (uint32_t i = 0; i < f->rows; i++)
        f->residual[i] = f->log_seconds[i] - log_time(f, i, theta);
}

/* In units of the scale: of no constants, too, which leave nothing to solve. */
static double loss(const fit *f, double scale)
{
    double sum = 0;
    for (uint32_t i = 0; i < f->rows; i++)
        sum += ss_robust_loss(f->residual[i] / scale);
    return sum;
}

/* From one start: as the longer of two times has kinks, what the search for the estimate ended at is begun from again, as
 * long as that is better. */
static ss_status solve_start(fit *f, int start, double *theta, double *sum, ss_error *err)
{
    double trial[CONSTANTS];
    for (uint32_t j = 0; j < f->free; j++)
        trial[j] = start_of(f, start, j);
    *sum = INFINITY;
    for (int turn = 0; turn < TURNS; turn++) {
        begin(f, trial);
        ss_status s = solve_from(f, trial, err);
        if (s)
            return s;
        double now = misses(f, trial, f->rows);
        if (now < *sum)
            memcpy(theta, trial, sizeof trial);
        if (now > *sum * BETTER)
            return SS_OK;
        *sum = fmin(now, *sum);
    }
    return SS_OK;
}

/* The better of the starts.  The solution's own weights are left in f. */
static ss_status solve(fit *f, ss_error *err)
{
    double best = INFINITY, sum, found[CONSTANTS];
    for (int start = 0; start < STARTS; start++) {
        ss_status s = solve_start(f, start, found, &sum, err);
        if (s)
            return s;
        if (sum < best) {
            best = sum;
            memcpy(f->theta, found, sizeof found);
        }
    }
    return solve_from(f, f->theta, err);
}

/* Of the logarithms of the constants; INFINITY where no row that counts depends on one, or only together with others. */
static ss_status find_errors(const fit *f, double *error, ss_error *err)
{
    uint32_t n = 0, place[CONSTANTS];
    double a[CONSTANTS][CONSTANTS] = {{0}}, mean = 0, d[CONSTANTS];
    for (uint32_t i = 0; i < f->rows; i++) {
        slope(f, i, f->theta, d);
        mean += f->trust[i] / f->rows;
        for (uint32_t j = 0; j < f->free; j++)
            for (uint32_t k = 0; k < f->free; k++)
                a[j][k] += f->trust[i] * d[j] * d[k];
    }
    for (uint32_t j = 0; j < f->free; j++) {
        error[j] = INFINITY;
        if (a[j][j] > 1e-12 * f->rows)
            place[n++] = j;
    }
    if (!n)
        return SS_OK;
    gsl_matrix *m = gsl_matrix_alloc(n, n);
    if (!m)
        return ss_fail_memory(err, "a fit", (size_t)n * n * sizeof(double));
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t k = 0; k < n; k++)
            gsl_matrix_set(m, j, k,
                           (j == k ? ALONE : 0) +
                               a[place[j]][place[k]] /
                                   sqrt(a[place[j]][place[j]] * a[place[k]][place[k]]));
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    int e = gsl_linalg_cholesky_decomp1(m);
    if (!e)
        e = gsl_linalg_cholesky_invert(m);
    gsl_set_error_handler(handler);
    for (uint32_t j = 0; j < n && !e; j++)
        error[place[j]] = f->spread * sqrt(mean * gsl_matrix_get(m, j, j) / a[place[j]][place[j]]);
    gsl_matrix_free(m);
    return SS_OK;
}

/* -- what the rows tell ----------------------------------------------------------------------- */

/* Takes constant j out of those that are fitted; it keeps the built-in value. */
static void put_back(fit *f, uint32_t j)
{
    for (f->free--; j < f->free; j++) {
        f->of[j] = f->of[j + 1];
        f->theta[j] = f->theta[j + 1];
    }
}

/* The one with the largest error of those that are told little of; CONSTANTS: none. */
static uint32_t weakest(const fit *f, const ss_roofline_fit *out, const double *error)
{
    uint32_t found = CONSTANTS;
    for (uint32_t j = 0; j < f->free; j++)
        if (out->told[f->of[j]] == SS_ROOFLINE_FITTED && !(error[j] * TOLD <= 1) &&
            (found == CONSTANTS || error[j] > error[found]))
            found = j;
    return found;
}

/* Puts constant j back where the rows are as well off with the built-in value. */
static ss_status try_without(fit *f, uint32_t j, bool *as_well, ss_error *err)
{
    fit other = *f;
    double scale = f->scale;
    find_residuals(f, f->theta);
    double with = loss(f, scale);
    put_back(&other, j);
    ss_status s = other.free ? solve(&other, err) : SS_OK;
    if (s)
        return s;
    find_residuals(&other, other.theta);
    *as_well = loss(&other, scale) <= with + TOLD * TOLD;
    if (!*as_well)
        return solve_from(f, f->theta, err); /* rows' weights are its own again */
    *f = other;
    return SS_OK;
}

static ss_status settle(fit *f, double *error, ss_roofline_fit *out, ss_error *err)
{
    ss_status s = f->free ? solve(f, err) : SS_OK;
    for (;;) {
        if (!s)
            s = find_errors(f, error, err);
        if (s)
            return s;
        uint32_t j = weakest(f, out, error);
        if (j == CONSTANTS)
            return SS_OK;
        ss_roofline_of which = f->of[j];
        bool as_well;
        s = try_without(f, j, &as_well, err);
        if (!s)
            out->told[which] = as_well ? SS_ROOFLINE_KEPT : SS_ROOFLINE_EDGE;
    }
}

static void take_results(const fit *f, const double *error, ss_roofline_fit *out)
{
    out->constants = constants_of(f, f->theta);
    out->rows = f->rows;
    out->spread = f->spread;
    out->outliers = 0;
    for (int c = 0; c < CONSTANTS; c++)
        out->error[c] = NAN;
    for (uint32_t j = 0; j < f->free; j++)
        out->error[f->of[j]] = error[j] * ss_roofline_get(&out->constants, f->of[j]);
    for (uint32_t i = 0; i < f->rows && f->free; i++)
        out->outliers += !(f->trust[i] > 0);
    /* what came out as nothing is nothing */
    for (int c = 0; c < CONSTANTS; c++)
        if ((c == SS_ROOFLINE_LAUNCH || c == SS_ROOFLINE_HALF) &&
            out->told[c] == SS_ROOFLINE_EDGE &&
            ss_roofline_get(&out->constants, c) <= f->least[c] * 1.5)
            ss_roofline_set(&out->constants, c, 0);
}

static ss_status reserve(fit *f, ss_error *err)
{
    f->log_seconds = ss_alloc(4 * (size_t)f->rows * sizeof *f->log_seconds);
    if (!f->log_seconds)
        return ss_fail_memory(err, "a fit", 4 * (size_t)f->rows * sizeof *f->log_seconds);
    f->weight = f->log_seconds + f->rows;
    f->residual = f->weight + f->rows;
    f->trust = f->residual + f->rows;
    for (uint32_t i = 0; i < f->rows; i++) {
        f->log_seconds[i] = log(f->row[i].seconds);
        f->weight[i] = 1;
        f->residual[i] = f->trust[i] = 0;
    }
    return SS_OK;
}

const char *ss_roofline_told_name(ss_roofline_told told)
{
    static const char *const name[] = {"fitted", "kept", "edge"};
    return name[told];
}

ss_status ss_roofline_fit_new(const ss_roofline_row *row, uint32_t rows, const ss_roofline *builtin,
                              ss_roofline_fit *out, ss_error *err)
{
    fit f = {.row = row, .rows = rows, .constants = *builtin};
    double error[CONSTANTS];
    ss_status s = check(row, rows, err);
    if (s)
        return s;
    for (int c = 0; c < CONSTANTS; c++) {
        bool concerned = find_range(&f, c);
        out->told[c] = concerned ? SS_ROOFLINE_FITTED : SS_ROOFLINE_KEPT;
        if (concerned)
            f.of[f.free++] = c;
    }
    if (rows <= f.free)
        return ss_fail(err, SS_EINVAL,
                       "%u time%s of parts of operators: more than the %u constants that they "
                       "depend on are wanted",
                       rows, ss_plural(rows), f.free);
    s = reserve(&f, err);
    if (!s)
        s = settle(&f, error, out, err);
    if (!s)
        take_results(&f, error, out);
    ss_free(f.log_seconds);
    return s;
}
