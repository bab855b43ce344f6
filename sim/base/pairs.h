/* pairs.h - (a, b) -> number, for pairs of ids of which only some have one. */
#ifndef SS_PAIRS_H
#define SS_PAIRS_H

#include <stdint.h>

#include "base/status.h"

typedef struct ss_pairs {
    uint64_t *key;
    uint32_t *value; /* 0 is a free slot */
    uint32_t slots, n;
} ss_pairs; /* {0} is empty */

/* Room for one more. */
ss_status ss_pairs_reserve(ss_pairs *p, const char *what, ss_error *err);
/* There is room, the pair is not there yet, and the value is not 0. */
void ss_pairs_put(ss_pairs *p, uint32_t a, uint32_t b, uint32_t value);
uint32_t ss_pairs_find(const ss_pairs *p, uint32_t a, uint32_t b); /* 0: not there */
void ss_pairs_free(ss_pairs *p);

#endif
