/* fit_curve.c - the measured curve of a fit: a rate for each size, and what it is worth between them. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "simulate/fit_inside.h"

/* A size with the median time of one message. */
typedef struct spot {
    double bytes, seconds;
} spot;

static int by_bytes_and_seconds(const void *a, const void *b)
{
    const spot *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return x->seconds < y->seconds ? -1 : x->seconds > y->seconds;
}

/* Rows that a curve is made of: of one kind, with bytes, and not doubted where a line says what to
 * doubt. */
static bool belongs(const ss_fit *f, const ss_fit_row *r)
{
    bool streamed = f->apart || f->only_streamed;
    return r->sample.bytes > 0 && r->sample.streamed == streamed && (f->bent || !r->outlier);
}

/* The medians, by size, of the times of a message.  To be freed; NULL: no memory. */
static spot *find_spots(const ss_fit *f, uint32_t *n, ss_error *err)
{
    spot *all = ss_alloc(((size_t)f->rows + 1) * sizeof *all);
    uint32_t rows = 0;
    if (!all) {
        ss_fail_memory(err, "a curve of efficiency", f->rows * sizeof *all);
        return NULL;
    }
    for (uint32_t i = 0; i < f->rows; i++) {
        const ss_sample *of = &f->row[i].sample;
        ss_path path = ss_fit_path(f, of->bytes);
        if (belongs(f, &f->row[i]) && path.bytes > 0)
            all[rows++] = (spot){path.bytes / path.steps, of->seconds / path.steps};
    }
    qsort(all, rows, sizeof *all, by_bytes_and_seconds);
    *n = 0;
    for (uint32_t i = 0, k; i < rows; i += k) {
        for (k = 1; i + k < rows && all[i + k].bytes == all[i].bytes; k++)
            ;
        double low = all[i + (k - 1) / 2].seconds, high = all[i + k / 2].seconds;
        all[(*n)++] = (spot){all[i].bytes, sqrt(low) * sqrt(high)};
    }
    return all;
}

/* The line between two spots in logarithms, at a size between them. */
static double between(const spot *a, const spot *b, double bytes)
{
    double part = log(bytes / a->bytes) / log(b->bytes / a->bytes);
    return a->seconds * pow(b->seconds / a->seconds, part);
}

/* The first spot of at least so many bytes; there is one. */
static uint32_t first_not_below(const spot *s, uint32_t n, double bytes)
{
    uint32_t low = 0, high = n - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s[middle].bytes < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Each row, by the curve without its size.  At the ends there is nothing to go by. */
ss_status ss_fit_try_curve(ss_fit *f, ss_error *err)
{
    uint32_t n, errors = 0;
    spot *s = find_spots(f, &n, err);
    if (!s)
        return SS_ENOMEM;
    double *error = ss_alloc(((size_t)f->rows + 1) * sizeof *error);
    if (!error) {
        ss_free(s);
        return ss_fail_memory(err, "a curve of efficiency", f->rows * sizeof *error);
    }
    bool streamed = f->apart || f->only_streamed;
    for (uint32_t i = 0; i < f->rows; i++) {
        const ss_sample *of = &f->row[i].sample;
        ss_path path = ss_fit_path(f, of->bytes);
        double bytes = path.bytes / path.steps;
        if (of->streamed != streamed || !(n && bytes > s[0].bytes && bytes < s[n - 1].bytes))
            continue;
        uint32_t at = first_not_below(s, n, bytes), low = at - 1;
        uint32_t high = s[at].bytes > bytes ? at : at + 1;
        double fitted = between(&s[low], &s[high], bytes) * path.steps;
        f->row[i].left_out = fitted / of->seconds - 1;
        error[errors++] = f->row[i].left_out;
    }
    ss_fit_judge(error, errors, &f->curve);
    ss_free(error);
    ss_free(s);
    return SS_OK;
}

/* Pools neighbours that fall until none does: the growing logarithms of least squares (Barlow and others,
 * "Statistical inference under order restrictions", 1972). */
static void make_monotone(double *share, uint32_t n, uint32_t *pooled)
{
    uint32_t pools = 0;
    for (uint32_t i = 0; i < n; i++) {
        share[pools] = log(share[i]);
        pooled[pools++] = 1;
        while (pools > 1 && share[pools - 2] > share[pools - 1]) {
            uint32_t a = pooled[pools - 2], b = pooled[pools - 1];
            share[pools - 2] = (a * share[pools - 2] + b * share[pools - 1]) / (a + b);
            pooled[pools - 2] = a + b;
            pools--;
        }
    }
    for (uint32_t i = n; pools; pools--)
        for (uint32_t k = pooled[pools - 1]; k; k--)
            share[--i] = exp(share[pools - 1]);
}

/* Shares of the highest rate, which *peak becomes. */
static void find_shares(double *rate, uint32_t n, double *peak)
{
    *peak = 0;
    for (uint32_t i = 0; i < n; i++)
        *peak = fmax(*peak, rate[i]);
    for (uint32_t i = 0; i < n; i++)
        rate[i] = fmin(rate[i] / *peak, 1);
}

static ss_status make_curve(const spot *s, uint32_t n, double latency_s, bool monotone,
                            double *number, ss_efficiency *out, ss_error *err)
{
    double *bytes = number, *rate = number + n, peak;
    char told[2][SS_QUANTITY_TEXT];
    for (uint32_t i = 0; i < n; i++) {
        bytes[i] = s[i].bytes;
        rate[i] = s[i].bytes / (s[i].seconds - latency_s);
        if (!(s[i].seconds > latency_s))
            return ss_fail(
                err, SS_EINVAL,
                "a message of %g bytes took %s, not more than the latency of %s that the "
                "link is to have besides its efficiency",
                s[i].bytes,
                ss_format_quantity(s[i].seconds, SS_UNIT_SECONDS, told[0], sizeof told[0]),
                ss_format_quantity(latency_s, SS_UNIT_SECONDS, told[1], sizeof told[1]));
    }
    if (monotone)
        make_monotone(rate, n, (uint32_t *)(number + 2 * (size_t)n));
    find_shares(rate, n, &peak);
    return ss_efficiency_new(peak, bytes, rate, n, out, err);
}

ss_status ss_fit_curve(const ss_fit *f, double latency_s, bool monotone, ss_efficiency *out,
                       ss_error *err)
{
    if (!(latency_s >= 0 && isfinite(latency_s)))
        return ss_fail(err, SS_EINVAL, "a latency of %g seconds", latency_s);
    uint32_t n;
    spot *s = find_spots(f, &n, err);
    double *number = s ? ss_alloc(3 * ((size_t)n + 1) * sizeof *number) : NULL;
    ss_status status = number ? make_curve(s, n, latency_s, monotone, number, out, err)
                       : s    ? ss_fail_memory(err, "a curve of efficiency", 3 * n * sizeof *number)
                              : SS_ENOMEM;
    ss_free(number);
    ss_free(s);
    return status;
}
