/* rng.h - one named, seeded stream of random numbers for each use of chance.
 *
 * A stream is a GSL generator (mt19937) seeded by a hash of the run's seed and the stream's name,
 * so a new use of chance does not disturb the old ones.  Streams belong to whoever made them; there
 * is no global one.
 */
#ifndef SS_RNG_H
#define SS_RNG_H

#include <stdint.h>

#include <gsl/gsl_rng.h>

#include "base/status.h"

typedef struct ss_rng {
    gsl_rng *gsl; /* for gsl_ran_...; NULL in an empty one */
} ss_rng;

ss_status ss_rng_open(ss_rng *r, uint64_t seed, const char *name, ss_error *err);
void ss_rng_close(ss_rng *r);

double ss_rng_uniform(ss_rng *r);             /* [0, 1), 53 random bits */
uint64_t ss_rng_below(ss_rng *r, uint64_t n); /* 0 .. n-1, without bias; n > 0 */
uint64_t ss_rng_bits(ss_rng *r);              /* 64 random bits */

#endif
