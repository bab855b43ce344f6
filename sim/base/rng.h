/* rng.h - one named, seeded stream of random numbers for each use of chance.
 *
 * A stream is a GSL generator (mt19937) seeded by a hash of the run's seed and the stream's name,
 * so a new use of chance does not disturb the old ones.  Streams belong to whoever made them; there
 * is no global one.
 *
 * Where chance must be a function of where one is (step 500 of chain 3), a counted stream is moved
 * there instead: its n-th number is a mixing function of a key and of n, so that moving it costs
 * nanoseconds, and what one step draws has no effect on the next.  Counter-based generators: Salmon
 * and others, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011); the mixing function is that
 * of SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA
 * 2014).  Streams are 2^64 long on one circle, each begins where the hash of its place says: of a
 * million that take 1000 numbers each, two overlap with a chance of 6e-5.
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

/* A counted stream, at (0, 0, 0).  Only such a one can be moved.  Equal places give equal numbers on
 * every machine. */
ss_status ss_rng_open_counted(ss_rng *r, ss_error *err);
void ss_rng_seek(ss_rng *r, uint64_t seed, uint64_t a, uint64_t b);

double ss_rng_uniform(ss_rng *r);             /* [0, 1), 53 random bits */
uint64_t ss_rng_below(ss_rng *r, uint64_t n); /* 0 .. n-1, without bias; n > 0 */
uint64_t ss_rng_bits(ss_rng *r);              /* 64 random bits */

#endif
