/* wide.h - whole numbers of 128 bits, for products of a rate and a time that must be exact.
 *
 * Every compiler for 64-bit machines has them, under a name that ISO C does not know; on others this
 * does not compile, and soapstone needs a 64-bit machine.
 */
#ifndef SS_WIDE_H
#define SS_WIDE_H

#include <stdint.h>

__extension__ typedef unsigned __int128 ss_wide;

/* To the nearest double, or one of its neighbours. */
static inline double ss_wide_double(ss_wide x)
{
    return (double)(uint64_t)(x >> 64) * 0x1p64 + (double)(uint64_t)x;
}

#endif
