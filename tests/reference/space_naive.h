/* space_naive.h - what each move of a space can draw, by trying everything.
 *
 * Every vector of degrees, every list of devices, kept if the rules allow it and if it is what
 * space.h says of the move; the chance of each is 1 / (vectors of the move) / (lists of this vector).
 */
#ifndef SS_SPACE_NAIVE_H
#define SS_SPACE_NAIVE_H

#include <stdbool.h>

#include "search/space.h"

enum { NAIVE_PARTS = 12 };

typedef struct naive_config {
    uint32_t degree[SS_MAX_DIMS], parts, device[NAIVE_PARTS];
    double q[SS_MOVES];
} naive_config;

typedef struct naive_space {
    naive_config *at; /* [n], by degrees, then devices */
    uint32_t n, cap;
    bool offers[SS_MOVES]; /* whether a move can draw any of them */
} naive_space;             /* {0} */

/* The list is the one given to the space.  Configurations of up to NAIVE_PARTS parts. */
void naive_space_of(const ss_strategy *pinned, ss_op op, uint32_t max_parts, const ss_choice *list,
                    uint32_t lists, naive_space *out);
void naive_space_free(naive_space *s);

/* Its row, or n. */
uint32_t naive_space_find(const naive_space *s, const ss_config *c);

#endif
