/* Random strategies.  Degrees are uniform over all vectors that the rules allow, which drawing one
 * dimension after the other would not be: so vectors are counted first. */

#include "graph/strategy_ready.h"

typedef struct drawing {
    ss_rng *rng;
    uint32_t max_parts;
} drawing;

typedef struct range {
    uint32_t n;
    uint32_t limit[SS_MAX_DIMS]; /* of the open dimensions */
    bool exact;                  /* the product is the budget; else at most that */
} range;

/* How many vectors of degrees from dimension d on have a product within (or of) `budget`. Degrees
 * with the same quotient are counted together, so few are looked at. */
static uint64_t count(const range *r, uint32_t d, uint32_t budget)
{
    if (d == r->n)
        return !r->exact || budget == 1;
    uint64_t sum = 0;
    uint32_t most = r->limit[d] < budget ? r->limit[d] : budget;
    if (r->exact) {
        for (uint32_t x = 1; x <= most; x++)
            if (budget % x == 0)
                sum += count(r, d + 1, budget / x);
        return sum;
    }
    if (d + 1 == r->n)
        return most;
    for (uint32_t x = 1; x <= most;) {
        uint32_t last = budget / (budget / x);
        last = last < most ? last : most;
        sum += (last - x + 1) * count(r, d + 1, budget / x);
        x = last + 1;
    }
    return sum;
}

static void draw(const range *r, uint32_t d, uint32_t budget, ss_rng *rng, uint32_t *chosen)
{
    if (d == r->n)
        return;
    uint64_t pick = ss_rng_below(rng, count(r, d, budget));
    for (uint32_t x = 1;; x++) {
        if (r->exact && budget % x)
            continue;
        uint64_t here = count(r, d + 1, budget / x);
        if (pick < here) {
            chosen[d] = x;
            draw(r, d + 1, budget / x, rng, chosen);
            return;
        }
        pick -= here;
    }
}

static void draw_degrees(const ss_recipe *r, ss_op op, const bool *open, uint32_t *degree)
{
    const ss_strategy *s = r->strategy;
    const drawing *w = r->context;
    uint32_t parts = s->config[op.i].parts, fixed = ss_degree_product(degree);
    range free_dims = {.exact = s->pin[op.i] & SS_PIN_DEVICES};
    uint32_t dim[SS_MAX_DIMS], chosen[SS_MAX_DIMS];
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++) {
        uint32_t limit = open[d] ? ss_strategy_limit(s, op, d) : 1;
        if (limit == 1)
            continue;
        dim[free_dims.n] = d;
        free_dims.limit[free_dims.n++] = limit;
    }
    uint32_t budget = free_dims.exact ? parts / fixed : w->max_parts / fixed;
    if (!free_dims.n || budget < 2)
        return;
    draw(&free_dims, 0, budget, w->rng, chosen);
    for (uint32_t k = 0; k < free_dims.n; k++)
        degree[dim[k]] = chosen[k];
}

static ss_device draw_device(const ss_recipe *r, ss_op op, const uint32_t *degree, uint32_t part)
{
    (void)op, (void)degree, (void)part;
    const drawing *w = r->context;
    return (ss_device){(uint32_t)ss_rng_below(w->rng, r->strategy->topology->devices) + 1};
}

ss_status ss_strategy_random(ss_strategy *s, ss_rng *rng, uint32_t max_parts, ss_error *err)
{
    if (max_parts < 1 || max_parts > SS_MAX_PARTS)
        return ss_fail(err, SS_EINVAL, "max_parts is %u: it must be from 1 to %d", max_parts,
                       SS_MAX_PARTS);
    drawing w = {.rng = rng, .max_parts = max_parts};
    ss_recipe r = {.strategy = s, .context = &w, .degrees = draw_degrees, .device = draw_device};
    return ss_strategy_fill(s, &r, err);
}
