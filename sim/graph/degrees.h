/* degrees.h - vectors of degrees, counted, so that one can be drawn or the n-th one named.
 *
 * The vectors that the rules allow are counted by the product of their open degrees: how many have
 * product p, and of those, once the first degrees are chosen, how many remain.  With that a uniform
 * draw is one random number and a walk over the divisors of p, where drawing one dimension after
 * the other would favour vectors whose first degrees leave little room.  The order is by product,
 * then by the first degree, the second and so on.
 */
#ifndef SS_DEGREES_H
#define SS_DEGREES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"
#include "graph/strategy.h"

/* What is open of an operator's degrees. */
typedef struct ss_degrees_open {
    uint32_t n;                   /* dimensions that are neither pinned nor limited to 1 */
    uint32_t dim[SS_MAX_DIMS];    /* [n], ascending */
    uint32_t limit[SS_MAX_DIMS];  /* [n] the largest degree of each */
    uint32_t degree[SS_MAX_DIMS]; /* of all dimensions: as pinned, 1 where open */
    uint32_t fixed;               /* their product */
    uint32_t exact; /* devices are pinned, so the open degrees multiply to this; 0: to anything */
} ss_degrees_open;

void ss_degrees_open_of(const ss_strategy *s, ss_op op, ss_degrees_open *out);

/* The largest product of open degrees with at most max_parts parts.  At least 1: where what is
 * pinned makes more parts already, nothing else is cut. */
uint32_t ss_degrees_budget(const ss_degrees_open *o, uint32_t max_parts);

/* The divisors of 1 .. most, ascending. */
typedef struct ss_divisors {
    uint32_t most;
    uint32_t *first; /* [most + 2] where those of a number begin */
    uint32_t *of;
} ss_divisors; /* {0} */

ss_status ss_divisors_new(uint32_t most, ss_divisors *out, ss_error *err);
void ss_divisors_free(ss_divisors *d);

typedef struct ss_degrees {
    const ss_divisors *divisors;
    uint32_t n, limit[SS_MAX_DIMS]; /* limits at most `most` */
    uint32_t most;                  /* the largest product that is counted */
    bool pow2;                      /* every degree is a power of two */
    uint32_t *ways;                 /* [n + 1][most + 1]: vectors of dimensions d .. with product p;
                                     * at most d_5(55440) = 131250, the number for 5 dimensions */
    uint64_t *within;               /* [most + 1]: vectors with a product of at most p */
} ss_degrees;                       /* {0} */

/* The divisors outlive the counts and reach as far. */
ss_status ss_degrees_new(const uint32_t *limit, uint32_t n, uint32_t most, bool pow2,
                         const ss_divisors *divisors, ss_degrees *out, ss_error *err);
void ss_degrees_free(ss_degrees *t);

/* How many have this product; 0 beyond `most`. */
static inline uint32_t ss_degrees_ways(const ss_degrees *t, uint32_t product)
{
    return product <= t->most ? t->ways[product] : 0;
}

/* The nth (from 0) of those with this product. */
void ss_degrees_nth(const ss_degrees *t, uint32_t product, uint32_t nth, uint32_t *degree);

/* Uniform among those whose product is at most (exact: is) `budget`; there must be one.  Gives the
 * product. */
uint32_t ss_degrees_draw(const ss_degrees *t, uint32_t budget, bool exact, ss_rng *rng,
                         uint32_t *degree);

#endif
