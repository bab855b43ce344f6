/* Random strategies: degrees uniform over all vectors that the rules allow (degrees.h). */

#include <string.h>

#include "base/mem.h"
#include "graph/degrees.h"
#include "graph/strategy_ready.h"

typedef struct drawing {
    ss_rng *rng;
    uint32_t (*degree)[SS_MAX_DIMS]; /* [ops + 1] */
} drawing;

static void drawn_degrees(const ss_recipe *r, ss_op op, const bool *open, uint32_t *degree)
{
    const drawing *w = r->context;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        if (open[d])
            degree[d] = w->degree[op.i][d];
}

static ss_device draw_device(const ss_recipe *r, ss_op op, const uint32_t *degree, uint32_t part)
{
    (void)op, (void)degree, (void)part;
    const drawing *w = r->context;
    return (ss_device){(uint32_t)ss_rng_below(w->rng, r->strategy->topology->devices) + 1};
}

/* Operators that are alike often follow each other: their counts are kept for the next one. */
static ss_status draw_degrees(const ss_strategy *s, const drawing *w, uint32_t max_parts,
                              const ss_divisors *divisors, ss_error *err)
{
    ss_degrees counts = {0};
    ss_degrees_open last = {0};
    ss_status st = SS_OK;
    for (uint32_t i = 1; i <= s->ops; i++) {
        ss_degrees_open o;
        uint32_t chosen[SS_MAX_DIMS];
        ss_degrees_open_of(s, (ss_op){i}, &o);
        uint32_t budget = ss_degrees_budget(&o, max_parts);
        if (i == 1 || memcmp(&o, &last, sizeof o)) {
            ss_degrees_free(&counts);
            st = ss_degrees_new(o.limit, o.n, budget, false, divisors, &counts, err);
            if (st)
                break;
        }
        last = o;
        ss_degrees_draw(&counts, budget, o.exact > 0, w->rng, chosen);
        memcpy(w->degree[i], o.degree, sizeof o.degree);
        for (uint32_t k = 0; k < o.n; k++)
            w->degree[i][o.dim[k]] = chosen[k];
    }
    ss_degrees_free(&counts);
    return st;
}

/* Pinned devices may be more than max_parts. */
static uint32_t most_parts(const ss_strategy *s, uint32_t max_parts)
{
    uint32_t most = max_parts;
    for (uint32_t i = 1; i <= s->ops; i++)
        if (s->config[i].parts > most)
            most = s->config[i].parts;
    return most;
}

ss_status ss_strategy_random(ss_strategy *s, ss_rng *rng, uint32_t max_parts, ss_error *err)
{
    if (max_parts < 1 || max_parts > SS_MAX_PARTS)
        return ss_fail(err, SS_EINVAL, "max_parts is %u: it must be from 1 to %d", max_parts,
                       SS_MAX_PARTS);
    ss_divisors divisors = {0};
    drawing w = {.rng = rng};
    w.degree = ss_alloc_zeroed((size_t)s->ops + 1, sizeof *w.degree);
    if (!w.degree)
        return ss_fail_memory(err, "a strategy's degrees", s->ops * sizeof *w.degree);
    ss_status st = ss_divisors_new(most_parts(s, max_parts), &divisors, err);
    if (!st)
        st = draw_degrees(s, &w, max_parts, &divisors, err);
    ss_recipe r = {.strategy = s, .context = &w, .degrees = drawn_degrees, .device = draw_device};
    if (!st)
        st = ss_strategy_fill(s, &r, err);
    ss_divisors_free(&divisors);
    ss_free(w.degree);
    return st;
}
