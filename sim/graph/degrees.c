#include "graph/degrees.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

void ss_degrees_open_of(const ss_strategy *s, ss_op op, ss_degrees_open *out)
{
    const ss_config *now = &s->config[op.i];
    memset(out, 0, sizeof *out);
    out->fixed = 1;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++) {
        out->degree[d] = 1;
        if (ss_strategy_pinned_degree(s, op, d)) {
            out->degree[d] = now->degree[d];
            out->fixed *= now->degree[d];
        } else if (ss_strategy_limit(s, op, d) > 1) {
            out->dim[out->n] = d;
            out->limit[out->n++] = ss_strategy_limit(s, op, d);
        }
    }
    if (s->pin[op.i] & SS_PIN_DEVICES)
        out->exact = now->parts / out->fixed;
}

uint32_t ss_degrees_budget(const ss_degrees_open *o, uint32_t max_parts)
{
    if (o->exact)
        return o->exact;
    uint64_t most = max_parts / o->fixed, product = 1;
    for (uint32_t k = 0; k < o->n && product < most; k++)
        product *= o->limit[k];
    most = most < product ? most : product;
    return most > 1 ? (uint32_t)most : 1;
}

/* ------------------------------------------------------------------------------------- divisors */

ss_status ss_divisors_new(uint32_t most, ss_divisors *out, ss_error *err)
{
    ss_divisors d = {.most = most};
    d.first = ss_alloc_zeroed((size_t)most + 2, sizeof *d.first);
    if (!d.first)
        return ss_fail_memory(err, "divisors", most * sizeof *d.first);
    for (uint32_t x = 1; x <= most; x++)
        for (uint32_t p = x; p <= most; p += x)
            d.first[p + 1]++;
    for (uint32_t p = 1; p <= most; p++)
        d.first[p + 1] += d.first[p];
    d.of = ss_alloc(d.first[most + 1] * sizeof *d.of);
    if (!d.of) {
        ss_divisors_free(&d);
        return ss_fail_memory(err, "divisors", most * sizeof *d.of);
    }
    /* Filling moves each beginning to the next one's: one down puts them back. */
    for (uint32_t x = 1; x <= most; x++)
        for (uint32_t p = x; p <= most; p += x)
            d.of[d.first[p]++] = x;
    memmove(d.first + 1, d.first, ((size_t)most + 1) * sizeof *d.first);
    d.first[0] = 0;
    *out = d;
    return SS_OK;
}

void ss_divisors_free(ss_divisors *d)
{
    ss_free(d->first);
    ss_free(d->of);
    *d = (ss_divisors){0};
}

/* --------------------------------------------------------------------------------------- counts */

static uint32_t *ways_from(const ss_degrees *t, uint32_t d)
{
    return t->ways + (size_t)d * (t->most + 1);
}

static bool allowed(const ss_degrees *t, uint32_t x)
{
    return !t->pow2 || !(x & (x - 1));
}

ss_status ss_degrees_new(const uint32_t *limit, uint32_t n, uint32_t most, bool pow2,
                         const ss_divisors *divisors, ss_degrees *out, ss_error *err)
{
    assert(n <= SS_MAX_DIMS && most >= 1 && most <= divisors->most);
    ss_degrees t = {.divisors = divisors, .n = n, .most = most, .pow2 = pow2};
    for (uint32_t k = 0; k < n; k++)
        t.limit[k] = limit[k] < most ? limit[k] : most;
    size_t row = (size_t)most + 1;
    t.ways = ss_alloc_zeroed((n + 1) * row, sizeof *t.ways);
    t.within = ss_alloc_zeroed(row, sizeof *t.within);
    if (!t.ways || !t.within) {
        ss_degrees_free(&t);
        return ss_fail_memory(err, "the numbers of degree vectors",
                              row * ((n + 1) * sizeof *t.ways + sizeof *t.within));
    }
    ways_from(&t, n)[1] = 1;
    for (uint32_t d = n; d-- > 0;)
        for (uint32_t x = 1; x <= t.limit[d]; x++)
            for (uint32_t rest = 1; allowed(&t, x) && rest <= most / x; rest++)
                ways_from(&t, d)[x * rest] += ways_from(&t, d + 1)[rest];
    for (uint32_t p = 1; p <= most; p++)
        t.within[p] = t.within[p - 1] + t.ways[p];
    *out = t;
    return SS_OK;
}

void ss_degrees_free(ss_degrees *t)
{
    ss_free(t->ways);
    ss_free(t->within);
    *t = (ss_degrees){0};
}

/* --------------------------------------------------------------------------- naming and drawing */

void ss_degrees_nth(const ss_degrees *t, uint32_t product, uint32_t nth, uint32_t *degree)
{
    assert(nth < ss_degrees_ways(t, product));
    for (uint32_t d = 0; d < t->n; d++) {
        const uint32_t *later = ways_from(t, d + 1), *x = t->divisors->of;
        /* Some divisor has the nth: the sum over all of them is what was counted. */
        for (x += t->divisors->first[product];; x++) {
            uint32_t here = allowed(t, *x) ? later[product / *x] : 0;
            if (nth < here)
                break;
            nth -= here;
        }
        degree[d] = *x;
        product /= *x;
    }
}

/* The least product with more than `pick` vectors up to it. */
static uint32_t product_at(const ss_degrees *t, uint32_t budget, uint64_t pick)
{
    uint32_t low = 1, high = budget;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->within[middle] > pick)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

uint32_t ss_degrees_draw(const ss_degrees *t, uint32_t budget, bool exact, ss_rng *rng,
                         uint32_t *degree)
{
    assert(budget <= t->most);
    uint32_t product = budget;
    uint64_t before = exact ? t->within[budget - 1] : 0;
    uint64_t pick = before + ss_rng_below(rng, t->within[budget] - before);
    if (!exact)
        product = product_at(t, budget, pick);
    ss_degrees_nth(t, product, (uint32_t)(pick - t->within[product - 1]), degree);
    return product;
}
