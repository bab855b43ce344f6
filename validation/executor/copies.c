#include "validation/executor/copies.h"

#include <string.h>

/* Where element `at` of a tensor lies in the array of a box. */
static int64_t place(const ss_box *b, const int64_t *at)
{
    int64_t i = 0;
    for (uint32_t d = 0; d < b->rank; d++)
        i = i * (b->hi[d] - b->lo[d]) + at[d] - b->lo[d];
    return i;
}

/* One loop more, inside the others; it joins the one around it where both arrays go on without a gap. */
static void add_loop(ss_copy *c, int64_t extent, int64_t to_stride, int64_t from_stride)
{
    uint32_t last = c->loops - 1;
    if (c->loops && c->to_stride[last] == extent * to_stride &&
        c->from_stride[last] == extent * from_stride) {
        c->extent[last] *= extent;
        c->to_stride[last] = to_stride;
        c->from_stride[last] = from_stride;
        return;
    }
    c->extent[c->loops] = extent;
    c->to_stride[c->loops] = to_stride;
    c->from_stride[c->loops] = from_stride;
    c->loops++;
}

ss_copy ss_copy_piece(ss_copy_mode mode, float *to, const ss_box *to_box, const float *from,
                      const ss_box *from_box, const ss_box *piece)
{
    ss_copy c = {.mode = mode,
                 .to = to + place(to_box, piece->lo),
                 .from = from + place(from_box, piece->lo)};
    int64_t to_stride[SS_MAX_DIMS], from_stride[SS_MAX_DIMS], a = 1, b = 1;
    for (uint32_t d = piece->rank; d-- > 0;) {
        to_stride[d] = a;
        from_stride[d] = b;
        a *= to_box->hi[d] - to_box->lo[d];
        b *= from_box->hi[d] - from_box->lo[d];
    }
    for (uint32_t d = 0; d < piece->rank; d++)
        add_loop(&c, piece->hi[d] - piece->lo[d], to_stride[d], from_stride[d]);
    return c;
}

ss_copy ss_copy_row(ss_copy_mode mode, float *to, const float *from, const float *and, int64_t n)
{
    return (ss_copy){.mode = mode,
                     .to = to,
                     .from = from,
                     .and = and,
                     .loops = 1,
                     .extent = {n},
                     .to_stride = {1},
                     .from_stride = {1}};
}

static void do_row(const ss_copy *c, float *restrict to, const float *restrict from, int64_t n)
{
    switch (c->mode) {
    case SS_COPY:
        memcpy(to, from, (size_t)n * sizeof *to);
        return;
    case SS_COPY_ADD:
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            to[i] += from[i];
        return;
    case SS_COPY_SUM: {
        const float *restrict and = c->and;
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            to[i] = from[i] + and[i];
        return;
    }
    case SS_COPY_STEP: {
        float rate = c->rate;
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            to[i] -= rate * from[i];
        return;
    }
    case SS_COPY_ZERO:
        memset(to, 0, (size_t)n * sizeof *to);
        return;
    }
}

static void do_loops(const ss_copy *c, uint32_t loop, float *to, const float *from)
{
    if (loop + 1 >= c->loops) {
        do_row(c, to, from, c->extent[loop]);
        return;
    }
    for (int64_t i = 0; i < c->extent[loop]; i++)
        do_loops(c, loop + 1, to + i * c->to_stride[loop],
                 from ? from + i * c->from_stride[loop] : NULL);
}

void ss_copy_do(const ss_copy *c)
{
    if (c->loops)
        do_loops(c, 0, c->to, c->from);
}
