/* shape.h - sizes of tensors, boxes inside them, and how an extent is cut into parts.
 *
 * An extent E cut into d parts gives the first E mod d parts one element more, so parts differ by
 * at most one and part k starts at k * (E / d) + min(k, E mod d).  A dimension may have a grain
 * (the size of an attention head): then whole grains are dealt out, and the last may be short.
 */
#ifndef SS_SHAPE_H
#define SS_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { SS_MAX_DIMS = 5 };

typedef enum ss_dtype {
    SS_F64,
    SS_F32,
    SS_TF32,
    SS_BF16,
    SS_F16,
    SS_F8,
    SS_I64,
    SS_I32,
    SS_I8,
    SS_DTYPES
} ss_dtype; /* tf32 is stored in 4 bytes: it names a speed of arithmetic */

int64_t ss_dtype_bytes(ss_dtype t);
const char *ss_dtype_name(ss_dtype t); /* "f32" */
ss_status ss_dtype_parse(const char *text, ss_dtype *out, ss_error *err);

typedef struct ss_shape {
    ss_dtype dtype;
    uint32_t rank;
    int64_t extent[SS_MAX_DIMS]; /* each at least 1; dimension 0 is the sample where there is one */
} ss_shape;

/* Refuses extents below 1 and sizes whose bytes pass 2^62. `what` names the tensor. */
ss_status ss_shape_check(const ss_shape *s, const char *what, ss_error *err);
int64_t ss_shape_elements(const ss_shape *s);
int64_t ss_shape_bytes(const ss_shape *s);
bool ss_shape_same(const ss_shape *a, const ss_shape *b);
enum { SS_SHAPE_TEXT = 112 };                                   /* room for any shape's text */
char *ss_shape_text(const ss_shape *s, char *buffer, size_t n); /* "64x3x224x224" */

/* Half-open ranges, one for each dimension: lo <= x < hi.  Empty if any range is. */
typedef struct ss_box {
    uint32_t rank;
    int64_t lo[SS_MAX_DIMS], hi[SS_MAX_DIMS];
} ss_box;

/* In line, because lowering asks for several a part. */
static inline ss_box ss_box_whole(const ss_shape *s)
{
    ss_box b;
    b.rank = s->rank;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++) { /* an initializer costs three times as much */
        b.lo[d] = 0;
        b.hi[d] = d < s->rank ? s->extent[d] : 0;
    }
    return b;
}

static inline bool ss_box_empty(const ss_box *b)
{
    for (uint32_t d = 0; d < b->rank; d++)
        if (b->lo[d] >= b->hi[d])
            return true;
    return false;
}

int64_t ss_box_elements(const ss_box *b);                             /* 0 if empty */
bool ss_box_intersect(const ss_box *a, const ss_box *b, ss_box *out); /* false: nothing in common */
bool ss_box_same(const ss_box *a, const ss_box *b);

/* Where part k (0 .. degree-1) of an extent begins and ends. */
void ss_part_range(int64_t extent, int64_t grain, uint32_t degree, uint32_t k, int64_t *lo,
                   int64_t *hi);
/* The same for all parts at once, without a division for each. */
void ss_part_ranges(int64_t extent, int64_t grain, uint32_t degree, int64_t *lo, int64_t *hi);

#endif
