#include "base/hash.h"

#include <string.h>

uint64_t ss_hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    h = ss_hash_u64(h, n);
    while (n) {
        uint64_t word = 0;
        size_t take = n < 8 ? n : 8;
        for (size_t i = 0; i < take; i++) /* byte by byte: the same on either byte order */
            word |= (uint64_t)p[i] << (8 * i);
        h = ss_hash_u64(h, word);
        p += take;
        n -= take;
    }
    return h;
}

uint64_t ss_hash_text(uint64_t h, const char *text)
{
    return ss_hash_bytes(h, text, strlen(text));
}

uint64_t ss_hash_double(uint64_t h, double x)
{
    uint64_t bits;
    if (x == 0)
        x = 0;
    if (x != x)
        return ss_hash_u64(h, 0x7ff8000000000000ULL);
    memcpy(&bits, &x, sizeof bits);
    return ss_hash_u64(h, bits);
}
