/* fit.c - the line through measured times: what is refused, where the estimate begins, what it says. */
#include "simulate/fit.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/fit_inside.h"
#include "simulate/robust.h"

enum {
    LEAST_ROWS = 3, /* two parameters, and one to see an error by */
    PAIRS_OF = 48,  /* groups whose pairs are tried as a beginning */
    SIZES_OF = 256, /* likewise, where chunks are chosen */
    LEAST_FOR_SHAPE = 8,
    TURNS = 50 /* of chunks and lines */
};
static const double CHANCE_OF_BENT =
    2.3263478740408408;       /* of a normal deviate: one in a hundred above */
static const double CLIP = 4; /* spreads */
static const double TOLD = 2; /* errors above 0 */
static const double LEAST =
    1e-6; /* of a time, what a parameter begins with if there seems to be none */
static const double NOTHING = 1e-9; /* of every time: a parameter that the estimate drove to 0 */

/* -- what is refused -------------------------------------------------------------------------- */

static ss_status check_row(const ss_sample *s, const ss_pattern *pattern, uint32_t i, ss_error *err)
{
    if (!(s->bytes >= 0 && s->bytes <= SS_SAMPLE_MOST_BYTES))
        return ss_fail(err, SS_EINVAL, "row %u: a size of %g bytes: from 0 to %g is wanted", i + 1,
                       s->bytes, SS_SAMPLE_MOST_BYTES);
    if (!(s->seconds >= SS_SAMPLE_LEAST_SECONDS && s->seconds <= SS_SAMPLE_MOST_SECONDS))
        return ss_fail(err, SS_EINVAL, "row %u: it took %g seconds: from %g to %g is wanted", i + 1,
                       s->seconds, SS_SAMPLE_LEAST_SECONDS, SS_SAMPLE_MOST_SECONDS);
    if (!(s->weight > 0 && s->weight <= SS_SAMPLE_MOST_WEIGHT))
        return ss_fail(err, SS_EINVAL, "row %u: a weight of %g: above 0, up to %g is wanted", i + 1,
                       s->weight, SS_SAMPLE_MOST_WEIGHT);
    if (s->streamed && strcmp(pattern->operation, "p2p"))
        return ss_fail(err, SS_EINVAL,
                       "row %u is streamed, which messages of p2p can be, and not %s", i + 1,
                       pattern->operation);
    return SS_OK;
}

static ss_status check(const ss_sample *sample, uint32_t n, const ss_pattern *pattern,
                       uint32_t *bad, ss_error *err)
{
    if (n < LEAST_ROWS)
        return ss_fail(err, SS_EINVAL,
                       "%u row%s: a line and its errors need %d or more, of two sizes at least", n,
                       ss_plural(n), LEAST_ROWS);
    if (n > SS_FIT_ROWS)
        return ss_fail(err, SS_EINVAL, "%u rows are more than the %d that are fitted at once", n,
                       SS_FIT_ROWS);
    for (uint32_t i = 0; i < n; i++) {
        ss_status s = check_row(&sample[i], pattern, i, err);
        if (s) {
            *bad = i + 1;
            return s;
        }
    }
    return SS_OK;
}

/* -- groups: rows of one size and kind -------------------------------------------------------- */

typedef struct group {
    double bytes, log_seconds; /* the median */
    uint32_t first, rows;      /* of `order` */
    bool streamed;
    ss_path path; /* what the operation asks for that size */
} group;

typedef struct work {
    const ss_sample *sample;
    uint32_t n;
    const ss_pattern *pattern;
    uint32_t *order;                            /* [n]: rows by kind, size and time */
    group *group;                               /* [groups] */
    uint32_t groups, one_way;                   /* groups of single messages come first */
    double *x, *log_seconds, *weight, *scratch; /* [3n], [n] */
    uint32_t p;
} work;

/* qsort has no argument for what is sorted by. */
typedef struct keyed {
    ss_sample sample;
    uint32_t row;
} keyed;

static int by_size(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->sample.streamed != y->sample.streamed)
        return x->sample.streamed ? 1 : -1;
    if (x->sample.bytes != y->sample.bytes)
        return x->sample.bytes < y->sample.bytes ? -1 : 1;
    if (x->sample.seconds != y->sample.seconds)
        return x->sample.seconds < y->sample.seconds ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static bool same_group(const ss_sample *a, const ss_sample *b)
{
    return a->bytes == b->bytes && a->streamed == b->streamed;
}

static ss_status sort_rows(work *w, ss_error *err)
{
    keyed *k = ss_alloc(w->n * sizeof *k);
    if (!k)
        return ss_fail_memory(err, "a fit", w->n * sizeof *k);
    for (uint32_t i = 0; i < w->n; i++)
        k[i] = (keyed){w->sample[i], i};
    qsort(k, w->n, sizeof *k, by_size);
    for (uint32_t i = 0; i < w->n; i++)
        w->order[i] = k[i].row;
    ss_free(k);
    return SS_OK;
}

static void find_groups(work *w)
{
    for (uint32_t i = 0, n; i < w->n; i += n) {
        const ss_sample *first = &w->sample[w->order[i]];
        for (n = 1; i + n < w->n && same_group(first, &w->sample[w->order[i + n]]); n++)
            ;
        double low = log(w->sample[w->order[i + (n - 1) / 2]].seconds);
        double high = log(w->sample[w->order[i + n / 2]].seconds);
        w->group[w->groups++] =
            (group){first->bytes, (low + high) / 2, i, n, first->streamed, {1, first->bytes}};
        w->one_way += !first->streamed;
    }
}

/* What each size asks for: streamed messages have one start-up each, as single ones.  Whether that is other than
 * it was. */
static bool find_paths(work *w, double start_s, double bytes_per_s)
{
    bool other = false;
    for (uint32_t g = 0; g < w->groups; g++) {
        group *x = &w->group[g];
        ss_path path = ss_pattern_path(w->pattern, x->bytes, start_s, bytes_per_s);
        other |= path.steps != x->path.steps || path.bytes != x->path.bytes;
        x->path = path;
    }
    return other;
}

/* Parameters: start-up of a message (or latency, then the half size's time), and seconds a byte. */
static void fill_problem(work *w)
{
    bool both = w->p == 3;
    for (uint32_t g = 0; g < w->groups; g++) {
        const group *of = &w->group[g];
        for (uint32_t k = of->first; k < of->first + of->rows; k++) {
            uint32_t i = w->order[k];
            double *x = w->x + (size_t)i * w->p;
            if (both)
                x[0] = !of->streamed;
            x[w->p - 2] = of->path.steps;
            x[w->p - 1] = of->path.bytes;
            w->log_seconds[i] = log(w->sample[i].seconds);
            w->weight[i] = w->sample[i].weight;
        }
    }
}

/* -- where it begins -------------------------------------------------------------------------- */

/* Sum of absolute deviations of the groups first .. end-1. */
static double misses(const work *w, uint32_t first, uint32_t end, double start, double per_byte)
{
    double sum = 0;
    for (uint32_t g = first; g < end; g++) {
        const group *of = &w->group[g];
        double seconds = start * of->path.steps + per_byte * of->path.bytes;
        sum += of->rows * fabs(of->log_seconds - log(seconds));
    }
    return sum;
}

/* The line through two groups, but never below 0; false: they say the same. */
static bool line_through(const group *a, const group *b, double *start, double *per_byte)
{
    double ta = exp(a->log_seconds), tb = exp(b->log_seconds);
    double apart = a->path.steps * b->path.bytes - b->path.steps * a->path.bytes;
    if (!(apart > 0))
        return false;
    double slope = (a->path.steps * tb - b->path.steps * ta) / apart;
    *per_byte = fmax(slope, LEAST * tb / b->path.bytes);
    double left = (ta - *per_byte * a->path.bytes) / a->path.steps;
    *start = fmax(left, LEAST * fmin(ta / a->path.steps, tb / b->path.steps));
    return true;
}

/* Of the lines through two groups, the one that leaves least.  Of many groups, some evenly. */
static void begin_line(const work *w, uint32_t first, uint32_t end, double *start, double *per_byte)
{
    uint32_t n = end - first, used = n < PAIRS_OF ? n : PAIRS_OF;
    double least = INFINITY;
    for (uint32_t i = 0; i < used; i++)
        for (uint32_t k = i + 1; k < used; k++) {
            const group *a = &w->group[first + (uint64_t)i * (n - 1) / (used - 1)];
            const group *b = &w->group[first + (uint64_t)k * (n - 1) / (used - 1)];
            double left, slope;
            if (!line_through(a, b, &left, &slope))
                continue;
            double sum = misses(w, first, end, left, slope);
            if (sum < least) {
                least = sum;
                *start = left;
                *per_byte = slope;
            }
        }
}

/* The median of what the groups first .. end-1 take beside the time of their bytes and `less`. */
static double rest_of(const work *w, uint32_t first, uint32_t end, double per_byte, double less)
{
    for (uint32_t g = first; g < end; g++) {
        double t = exp(w->group[g].log_seconds);
        w->scratch[g - first] = fmax(t - per_byte * w->group[g].bytes - less, LEAST * t);
    }
    return ss_robust_median(w->scratch, end - first);
}

/* Both kinds of rows: seconds a byte are those of the one kind, if it has two sizes. */
static double begin_both(const work *w, bool from_streamed, double *theta)
{
    uint32_t first = from_streamed ? w->one_way : 0, end = from_streamed ? w->groups : w->one_way;
    double start;
    if (end - first < 2)
        return INFINITY;
    begin_line(w, first, end, &start, &theta[2]);
    theta[1] = from_streamed ? start : rest_of(w, w->one_way, w->groups, theta[2], 0);
    theta[0] = from_streamed ? rest_of(w, 0, w->one_way, theta[2], start)
                             : fmax(start - theta[1], LEAST * start);
    return misses(w, 0, w->one_way, theta[0] + theta[1], theta[2]) +
           misses(w, w->one_way, w->groups, theta[1], theta[2]);
}

static void begin(const work *w, double *theta)
{
    double other[SS_FIT_PARAMETERS];
    if (w->p == 3) {
        if (begin_both(w, true, theta) > begin_both(w, false, other))
            memcpy(theta, other, sizeof other);
        return;
    }
    begin_line(w, 0, w->groups, &theta[0], &theta[1]);
}

/* -- where chunks are those that are best ------------------------------------------------------ */

/* Which chunks are best depends on one number alone, the bytes that a link passes in a start-up.  With that one, all
 * times are known but for a factor: the median.  What is left, as a sum of deviations; *factor: seconds a byte. */
static double misses_with(const work *w, double bytes_in_start, double *factor)
{
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t g = 0; g < w->groups; g += w->groups / SIZES_OF + 1) {
        ss_path path = ss_pattern_path(w->pattern, w->group[g].bytes, bytes_in_start, 1);
        w->scratch[n++] = w->group[g].log_seconds - log(path.steps * bytes_in_start + path.bytes);
    }
    double log_factor = ss_robust_median(w->scratch, n);
    for (uint32_t k = 0; k < n; k++)
        sum += fabs(w->scratch[k] - log_factor);
    *factor = exp(log_factor);
    return sum;
}

/* From a byte to a terabyte, then nearer to the best. */
static void begin_chosen(work *w, double *theta)
{
    double best = 1, least = INFINITY, factor;
    for (int i = 0; i <= 4 * 40; i++) {
        double at = exp2(i / 4.0), sum = misses_with(w, at, &factor);
        best = sum < least ? at : best;
        least = fmin(sum, least);
    }
    for (double step = exp2(1 / 8.0); step > 1 + 1e-4; step = sqrt(step))
        for (int up = 0; up < 2; up++) {
            double at = up ? best * step : best / step, sum = misses_with(w, at, &factor);
            best = sum < least ? at : best;
            least = fmin(sum, least);
        }
    (void)misses_with(w, best, &factor);
    theta[0] = best * factor;
    theta[1] = factor;
    (void)find_paths(w, theta[0], 1 / theta[1]);
}

/* -- what it says ----------------------------------------------------------------------------- */

static ss_estimate estimate(double value, double variance)
{
    double error = sqrt(variance);
    return (ss_estimate){value, error, value >= TOLD * error};
}

/* From (latency or start-up, the half size's time, seconds a byte) to latency, bandwidth and half size;
 * errors go along by the derivatives. */
static void tell(ss_fit *f, const ss_fit_solution *s, uint32_t p)
{
    double g = s->theta[p - 2], beta = s->theta[p - 1];
    double d[SS_FIT_ESTIMATES][SS_FIT_PARAMETERS] = {{0}};
    d[SS_FIT_LATENCY][0] = f->only_streamed ? 0 : 1;
    d[SS_FIT_BANDWIDTH][p - 1] = -1 / (beta * beta);
    d[SS_FIT_HALF][p - 2] = 1 / beta;
    d[SS_FIT_HALF][p - 1] = -g / (beta * beta);
    for (int a = 0; a < SS_FIT_ESTIMATES; a++)
        for (int b = 0; b < SS_FIT_ESTIMATES; b++)
            for (uint32_t j = 0; j < p; j++)
                for (uint32_t k = 0; k < p; k++)
                    f->covariance[a][b] += d[a][j] * s->covariance[j][k] * d[b][k];
    double value[SS_FIT_ESTIMATES] = {s->theta[0], 1 / beta, g / beta};
    for (int a = 0; a < SS_FIT_ESTIMATES; a++)
        f->of[a] = estimate(value[a], f->covariance[a][a]);
    if (f->only_streamed)
        f->of[SS_FIT_LATENCY] = (ss_estimate){NAN, NAN, false};
}

/* The greatest share that parameter j has in the time of a row. */
static double share_of(const work *w, const double *theta, uint32_t j)
{
    double most = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        const double *x = w->x + (size_t)i * w->p;
        double t = 0;
        for (uint32_t k = 0; k < w->p; k++)
            t += x[k] * theta[k];
        most = fmax(most, x[j] * theta[j] / t);
    }
    return most;
}

/* Logarithms of parameters go to minus infinity where a time has no part of them.  No start-up is a
 * start-up of 0; no time of bytes is no bandwidth at all. */
static ss_status drop_nothing(const work *w, double *theta, ss_error *err)
{
    if (share_of(w, theta, w->p - 1) < NOTHING)
        return ss_fail(err, SS_EINVAL,
                       "no bandwidth: times do not grow with bytes; larger messages, or fewer "
                       "rows that others disturbed, would tell it");
    for (uint32_t j = 0; j + 1 < w->p; j++)
        if (share_of(w, theta, j) < NOTHING)
            theta[j] = 0;
    return SS_OK;
}

static int by_magnitude(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return x < y ? -1 : x > y;
}

void ss_fit_judge(double *error, uint32_t n, ss_accuracy *out)
{
    *out = (ss_accuracy){.rows = n};
    if (!n)
        return;
    for (uint32_t i = 0; i < n; i++) {
        double e = fabs(error[i]);
        out->within_5 += e <= 0.05;
        out->within_10 += e <= 0.1;
        out->within_20 += e <= 0.2;
        out->mean += error[i] / n;
    }
    out->within_5 /= n;
    out->within_10 /= n;
    out->within_20 /= n;
    qsort(error, n, sizeof *error, by_magnitude);
    for (uint32_t i = 0; i < n; i++)
        error[i] = fabs(error[i]);
    out->median = gsl_stats_median_from_sorted_data(error, 1, n);
    out->p90 = gsl_stats_quantile_from_sorted_data(error, 1, n, 0.9);
    out->worst = error[n - 1];
}

/* Whether neighbouring sizes err alike, which errors of chance do not: the correlation of each size's
 * error with the next one's, of n sizes about normal with variance 1/n.  Errors beyond some spreads count
 * as so many, so that a row far off is no more than a large error, but a row of them is a bend. */
static void find_drift(ss_fit *f, const work *w, const ss_fit_solution *s)
{
    double *error = w->scratch, mean = 0, products = 0, squares = 0, most = CLIP * s->spread;
    uint32_t n = w->groups;
    for (uint32_t g = 0; g < n; g++) {
        const group *of = &w->group[g];
        error[g] = 0;
        for (uint32_t i = of->first; i < of->first + of->rows; i++)
            error[g] += fmax(-most, fmin(s->residual[w->order[i]], most)) / of->rows;
        mean += error[g] / n;
    }
    for (uint32_t g = 0; g < n; g++) {
        squares += (error[g] - mean) * (error[g] - mean);
        products += g ? (error[g] - mean) * (error[g - 1] - mean) : 0;
    }
    f->drift = squares > 0 && s->spread > 1e-9 ? products / squares : 0;
    f->bent = n >= LEAST_FOR_SHAPE && f->drift * sqrt(n) > CHANCE_OF_BENT;
}

static void fill_rows(ss_fit *f, const work *w, const ss_fit_solution *s)
{
    for (uint32_t i = 0; i < w->n; i++) {
        const ss_sample *of = &w->sample[i];
        double fitted = of->seconds * exp(-s->residual[i]);
        bool outlier = s->trust[i] <= 0;
        f->row[i] = (ss_fit_row){*of, fitted, fitted / of->seconds - 1, NAN, s->trust[i], outlier};
        f->outliers += outlier;
        w->scratch[i] = f->row[i].error;
    }
    ss_fit_judge(w->scratch, w->n, &f->line);
}

/* -- together --------------------------------------------------------------------------------- */

static ss_status reserve(work *w, ss_error *err)
{
    size_t n = w->n;
    w->order = ss_alloc(n * sizeof *w->order);
    w->group = ss_alloc(n * sizeof *w->group);
    w->x = ss_alloc(SS_FIT_PARAMETERS * n * sizeof *w->x);
    w->log_seconds = ss_alloc(n * sizeof *w->log_seconds);
    w->weight = ss_alloc(n * sizeof *w->weight);
    w->scratch = ss_alloc(n * sizeof *w->scratch);
    if (!w->order || !w->group || !w->x || !w->log_seconds || !w->weight || !w->scratch)
        return ss_fail_memory(err, "a fit", n * 8 * sizeof(double));
    return SS_OK;
}

static void drop(work *w)
{
    ss_free(w->order);
    ss_free(w->group);
    ss_free(w->x);
    ss_free(w->log_seconds);
    ss_free(w->weight);
    ss_free(w->scratch);
}

static ss_status group_rows(work *w, ss_error *err)
{
    ss_status s = sort_rows(w, err);
    if (s)
        return s;
    find_groups(w);
    double least = w->sample[w->order[0]].bytes, most = least;
    for (uint32_t g = 0; g < w->groups; g++) {
        least = fmin(least, w->group[g].bytes);
        most = fmax(most, w->group[g].bytes);
    }
    if (least == most)
        return ss_fail(err, SS_EINVAL, "all %u rows have %g bytes: a line needs two sizes at least",
                       w->n, least);
    w->p = w->one_way && w->one_way < w->groups ? 3 : 2;
    if (w->n <= w->p || w->groups < w->p)
        return ss_fail(
            err, SS_EINVAL,
            "%u rows of %u sizes: to tell latency from half size, %u or more are needed, of "
            "two sizes of single messages or of streamed ones",
            w->n, w->groups, w->p + 1);
    return SS_OK;
}

/* Chunks are those that are best for the line, and the line that of those chunks: until both stay. */
static ss_status solve_chosen(work *w, const ss_fit_problem *p, ss_fit_solution *s, ss_error *err)
{
    ss_status status = SS_OK;
    begin_chosen(w, s->theta);
    for (int turn = 0; turn < TURNS && !status; turn++) {
        fill_problem(w);
        status = ss_fit_solve(p, s, err);
        if (status || !find_paths(w, s->theta[0], 1 / s->theta[1]))
            break;
    }
    return status;
}

static ss_status solve(work *w, const ss_fit_problem *p, ss_fit_solution *s, ss_error *err)
{
    if (ss_pattern_chooses(w->pattern))
        return solve_chosen(w, p, s, err);
    (void)find_paths(w, 0, 1);
    fill_problem(w);
    begin(w, s->theta);
    return ss_fit_solve(p, s, err);
}

static ss_status make(work *w, const ss_fit_options *o, ss_fit *f, ss_error *err)
{
    ss_fit_solution s = {.spread = 0};
    ss_status status = group_rows(w, err);
    if (status)
        return status;
    s.residual = ss_alloc(2 * (size_t)w->n * sizeof *s.residual);
    if (!s.residual)
        return ss_fail_memory(err, "a fit", 2 * (size_t)w->n * sizeof *s.residual);
    s.trust = s.residual + w->n;
    ss_fit_problem p = {w->x, w->log_seconds, w->weight, w->n, w->p, o->least_squares};
    status = solve(w, &p, &s, err);
    if (!status)
        status = drop_nothing(w, s.theta, err);
    if (!status) {
        f->apart = w->p == 3;
        f->only_streamed = !w->one_way;
        f->spread = s.spread;
        f->freedom = w->n - w->p;
        f->sizes = w->groups;
        tell(f, &s, w->p);
        find_drift(f, w, &s);
        fill_rows(f, w, &s);
        status = ss_fit_try_curve(f, err);
    }
    ss_free(s.residual);
    return status;
}

ss_status ss_fit_new(const ss_sample *sample, uint32_t n, const ss_fit_options *o, ss_fit **out,
                     uint32_t *bad, ss_error *err)
{
    uint32_t none;
    bad = bad ? bad : &none;
    *bad = 0;
    ss_status s = check(sample, n, &o->pattern, bad, err);
    if (s)
        return s;
    ss_pattern pattern = o->pattern;
    if ((s = ss_pattern_prepare(&pattern, err)))
        return s;
    work w = {.sample = sample, .n = n, .pattern = &pattern};
    ss_fit *f = ss_alloc_zeroed(1, sizeof *f);
    ss_fit_row *row = ss_alloc_zeroed(n, sizeof *row);
    if (!f || !row)
        s = ss_fail_memory(err, "a fit", n * sizeof *row);
    if (!s)
        s = reserve(&w, err);
    if (!s) {
        *f = (ss_fit){.pattern = pattern, .row = row, .rows = n};
        s = make(&w, o, f, err);
    }
    drop(&w);
    if (s) {
        ss_free(row);
        ss_free(f);
        return s;
    }
    *out = f;
    return SS_OK;
}

void ss_fit_free(ss_fit *f)
{
    if (!f)
        return;
    ss_free(f->row);
    ss_free(f);
}

/* Seconds of the whole start-up of a message. */
static double start_up(const ss_fit *f)
{
    double half = f->of[SS_FIT_HALF].value / f->of[SS_FIT_BANDWIDTH].value;
    return f->only_streamed ? half : f->of[SS_FIT_LATENCY].value + (f->apart ? half : 0);
}

ss_path ss_fit_path(const ss_fit *f, double bytes)
{
    return ss_pattern_path(&f->pattern, bytes, start_up(f), f->of[SS_FIT_BANDWIDTH].value);
}

double ss_fit_seconds(const ss_fit *f, double bytes, bool streamed)
{
    double bandwidth = f->of[SS_FIT_BANDWIDTH].value;
    double start = !streamed || f->only_streamed ? start_up(f)
                   : f->apart                    ? f->of[SS_FIT_HALF].value / bandwidth
                                                 : 0;
    ss_path path = ss_fit_path(f, bytes);
    return start * path.steps + path.bytes / bandwidth;
}
