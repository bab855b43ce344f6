/* kernel_embedding.c - rows of a table: by an index, and by position.  Copies and sums, in plain loops. */
#include "validation/operators/onednn_inside.h"

#include <string.h>

static void add_row(int64_t n, const float *from, float *to)
{
#pragma omp simd
    for (int64_t c = 0; c < n; c++)
        to[c] += from[c];
}

static ss_status nothing_to_make(ss_onednn_part *part, ss_error *err)
{
    (void)part, (void)err;
    return SS_OK;
}

/* embedding */

typedef struct table {
    int64_t rows, columns, read; /* of the part's columns of the table; how many indices */
} table;

static table table_of(const ss_onednn_part *part)
{
    ss_box w = ss_onednn_weight(part, 0);
    int64_t columns = ss_onednn_extent(&w, 1);
    return (table){ss_onednn_extent(&w, 0), columns, ss_box_elements(&part->kernel.main) / columns};
}

static ss_status embedding_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    table t = table_of(part);
    const int32_t *index = io->in[0];
    for (int64_t r = 0; r < t.read; r++) {
        if (index[r] < 0 || index[r] >= t.rows)
            return ss_fail(err, SS_EINVAL, "an index is %d: the table has rows 0 to %lld",
                           (int)index[r], (long long)t.rows - 1);
        memcpy(io->out[0] + r * t.columns, io->weight[0] + index[r] * t.columns,
               (size_t)t.columns * sizeof(float));
    }
    return SS_OK;
}

/* Indices are those of forward. */
static ss_status embedding_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                    ss_error *err)
{
    (void)err;
    if (!ss_onednn_wants_weight(io, what, 0))
        return SS_OK;
    table t = table_of(part);
    const int32_t *index = io->in[0];
    if (!io->add_weight_gradient)
        memset(io->weight_gradient[0], 0, (size_t)(t.rows * t.columns) * sizeof(float));
    for (int64_t r = 0; r < t.read; r++)
        add_row(t.columns, io->out_gradient[0] + r * t.columns,
                io->weight_gradient[0] + index[r] * t.columns);
    return SS_OK;
}

const ss_onednn_kind ss_onednn_embedding = {
    "embedding", sizeof(ss_onednn_part), nothing_to_make, embedding_forward, embedding_backward,
};

/* position */

typedef struct places {
    int64_t samples, length, columns;
    int64_t first,
        rows; /* of the part's rows of the table: that of its first position, and how many there are */
} places;

static places places_of(const ss_onednn_part *part)
{
    const ss_box *main = &part->kernel.main;
    ss_box w = ss_onednn_weight(part, 0);
    return (places){ss_onednn_extent(main, 0), ss_onednn_extent(main, 1), ss_onednn_extent(main, 2),
                    main->lo[1] - w.lo[0], ss_onednn_extent(&w, 0)};
}

static ss_status position_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    (void)err;
    places p = places_of(part);
    int64_t n = p.length * p.columns;
    const float *w = io->weight[0] + p.first * p.columns;
    for (int64_t s = 0; s < p.samples; s++) {
        const float *x = (const float *)io->in[0] + s * n;
        float *y = io->out[0] + s * n;
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            y[i] = x[i] + w[i];
    }
    return SS_OK;
}

static ss_status position_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                   ss_error *err)
{
    (void)err;
    places p = places_of(part);
    int64_t n = p.length * p.columns;
    if (ss_onednn_wants_input(io, what, 0))
        memcpy(io->in_gradient[0], io->out_gradient[0], (size_t)(p.samples * n) * sizeof(float));
    if (!ss_onednn_wants_weight(io, what, 0))
        return SS_OK;
    if (!io->add_weight_gradient)
        memset(io->weight_gradient[0], 0, (size_t)(p.rows * p.columns) * sizeof(float));
    ss_onednn_sum_rows(p.samples, n, io->out_gradient[0], true,
                       io->weight_gradient[0] + p.first * p.columns);
    return SS_OK;
}

const ss_onednn_kind ss_onednn_position = {
    "position", sizeof(ss_onednn_part), nothing_to_make, position_forward, position_backward,
};
