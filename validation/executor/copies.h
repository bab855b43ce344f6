/* copies.h - pieces of arrays that are copied or added, prepared once and done again and again.
 *
 * An array is dense, row by row, and holds a box of a tensor.  A piece is a box inside both.
 */
#ifndef SS_COPIES_H
#define SS_COPIES_H

#include <stdint.h>

#include "graph/shape.h"

typedef enum ss_copy_mode {
    SS_COPY,     /* to = from */
    SS_COPY_ADD, /* to += from */
    SS_COPY_SUM, /* to = from + and; all three of one box, whole */
    SS_COPY_STEP, /* to -= rate * from: an update; both of one box, whole */
    SS_COPY_ZERO  /* to = 0 */
} ss_copy_mode;

typedef struct ss_copy {
    ss_copy_mode mode;
    float *to;
    const float *from, *and;
    float rate; /* SS_COPY_STEP */
    /* Loops from the outside in; what is contiguous in both is one, and the innermost has stride 1. */
    uint32_t loops;
    int64_t extent[SS_MAX_DIMS], to_stride[SS_MAX_DIMS], from_stride[SS_MAX_DIMS];
} ss_copy;

/* Of a piece, which is not empty and lies in both boxes. */
ss_copy ss_copy_piece(ss_copy_mode mode, float *to, const ss_box *to_box, const float *from,
                      const ss_box *from_box, const ss_box *piece);
/* Of n numbers in a row; from and `and` as the mode wants. */
ss_copy ss_copy_row(ss_copy_mode mode, float *to, const float *from, const float *and, int64_t n);

void ss_copy_do(const ss_copy *c);

#endif
