/* hash.h - a mixing function, for table look-ups, fingerprints of inputs, and chance.
 *
 * ss_hash_mix is a bijection on 64 bits with full avalanche (two multiply-xorshift rounds,
 * constants from a search for low bias); a draw that is ss_hash of (seed, id, repetition) depends
 * on nothing else, so two strategies meet the same luck and the order of asking does not matter.
 */
#ifndef SS_HASH_H
#define SS_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t ss_hash_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xe9846af9b1a615dULL;
    x ^= x >> 32;
    x *= 0xe9846af9b1a615dULL;
    x ^= x >> 28;
    return x;
}

/* Fingerprints: start from SS_HASH_START and fold in one thing after another. */
#define SS_HASH_START 0x736f617073746f6eULL

static inline uint64_t ss_hash_u64(uint64_t h, uint64_t x)
{
    return ss_hash_mix(h * 0x9e3779b97f4a7c15ULL + x + 1);
}

uint64_t ss_hash_bytes(uint64_t h, const void *bytes, size_t n);
uint64_t ss_hash_text(uint64_t h, const char *text); /* with its length, so "ab","c" != "a","bc" */
uint64_t ss_hash_double(uint64_t h, double x); /* -0 and 0 are the same, all NaN are the same */

#endif
