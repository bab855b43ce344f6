#include "base/rng.h"

#include <assert.h>

#include "base/hash.h"
#include "base/mem.h"

/* gsl_rng_alloc would take its memory elsewhere and abort when there is none. */
static ss_status make(ss_rng *r, const gsl_rng_type *type, ss_error *err)
{
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
    return SS_OK;
}

ss_status ss_rng_open(ss_rng *r, uint64_t seed, const char *name, ss_error *err)
{
    ss_status st = make(r, gsl_rng_mt19937, err);
    if (st)
        return st;
    /* mt19937 takes 32 bits and reads 0 as "your default". */
    uint64_t mixed = ss_hash_text(ss_hash_u64(SS_HASH_START, seed), name);
    unsigned long start = (unsigned long)(mixed >> 32);
    gsl_rng_set(r->gsl, start ? start : 1);
    return SS_OK;
}

/* -------------------------------------------------------------------------------------- counted */

typedef struct counted {
    uint64_t key, n;
} counted;

/* The finaliser of SplitMix64 (constants: Stafford's variant 13), and its odd step. */
static uint64_t counted_bits(counted *c)
{
    uint64_t z = c->key + ++c->n * 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

/* 32 bits at a time: an unsigned long has no more everywhere. */
static unsigned long counted_get(void *state)
{
    return (unsigned long)(counted_bits(state) >> 32);
}

static double counted_get_double(void *state)
{
    return (double)(counted_bits(state) >> 11) * 0x1p-53;
}

static void counted_set(void *state, unsigned long seed)
{
    *(counted *)state = (counted){.key = ss_hash_u64(SS_HASH_START, seed)};
}

static const gsl_rng_type counted_type = {
    .name = "soapstone-counted",
    .max = 0xffffffffUL,
    .min = 0,
    .size = sizeof(counted),
    .set = counted_set,
    .get = counted_get,
    .get_double = counted_get_double,
};

ss_status ss_rng_open_counted(ss_rng *r, ss_error *err)
{
    ss_status st = make(r, &counted_type, err);
    if (!st)
        ss_rng_seek(r, 0, 0, 0);
    return st;
}

void ss_rng_seek(ss_rng *r, uint64_t seed, uint64_t a, uint64_t b)
{
    assert(r->gsl->type == &counted_type);
    uint64_t key = ss_hash_u64(ss_hash_u64(ss_hash_u64(SS_HASH_START, seed), a), b);
    *(counted *)r->gsl->state = (counted){.key = key};
}

/* ---------------------------------------------------------------------------------------------- */

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
