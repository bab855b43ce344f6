#include "base/rng.h"

#include "base/hash.h"
#include "base/mem.h"

ss_status ss_rng_open(ss_rng *r, uint64_t seed, const char *name, ss_error *err)
{
    /* gsl_rng_alloc would take its memory elsewhere and abort when there is none. */
    const gsl_rng_type *type = gsl_rng_mt19937;
    gsl_rng *made = ss_alloc(sizeof *made);
    void *state = ss_alloc(type->size);
    if (!made || !state) {
        ss_free(made);
        ss_free(state);
        return ss_fail_memory(err, "a random stream", type->size);
    }
    made->type = type;
    made->state = state;
    r->gsl = made;
    /* mt19937 takes 32 bits and reads 0 as "your default". */
    uint64_t mixed = ss_hash_text(ss_hash_u64(SS_HASH_START, seed), name);
    unsigned long start = (unsigned long)(mixed >> 32);
    gsl_rng_set(r->gsl, start ? start : 1);
    return SS_OK;
}

void ss_rng_close(ss_rng *r)
{
    if (r->gsl)
        ss_free(r->gsl->state);
    ss_free(r->gsl);
    r->gsl = NULL;
}

uint64_t ss_rng_bits(ss_rng *r)
{
    uint64_t high = gsl_rng_get(r->gsl);
    return high << 32 | gsl_rng_get(r->gsl);
}

double ss_rng_uniform(ss_rng *r)
{
    return (double)(ss_rng_bits(r) >> 11) * 0x1p-53;
}

uint64_t ss_rng_below(ss_rng *r, uint64_t n)
{
    uint64_t reject = (0 - n) % n; /* 2^64 mod n: the draws that would favour small results */
    uint64_t bits;
    do
        bits = ss_rng_bits(r);
    while (bits < reject);
    return bits % n;
}
