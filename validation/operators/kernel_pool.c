/* kernel_pool.c - pooling of images, and making each pixel a block. */
#include "validation/operators/onednn_inside.h"

#include <string.h>

#include "graph/op_kinds.h"

enum { N, C, H, W };

/* pool2d: the mean is over what a window sees, without padding. */

typedef struct pool {
    ss_onednn_part part;
    bool largest;
    ss_onednn_call forward, backward;
} pool;

/* Padding of a part: as much as its first and last window stick out of what they see. */
typedef struct frame {
    dnnl_dims_t size, stride, before, after;
} frame;

static frame frame_of(const ss_onednn_part *p)
{
    static const char *const size[] = {"kernel_h", "kernel_w"},
                             *const stride[] = {"stride_h", "stride_w"},
                             *const padding[] = {"padding_h", "padding_w"};
    const ss_box *y = &p->kernel.main, x = ss_onednn_in(p, 0);
    frame f;
    for (uint32_t d = 0; d < 2; d++) {
        f.size[d] = ss_kernel_attr(p->kernel.op, size[d]);
        f.stride[d] = ss_kernel_attr(p->kernel.op, stride[d]);
        int64_t at = y->lo[H + d] * f.stride[d] - ss_kernel_attr(p->kernel.op, padding[d]);
        f.before[d] = x.lo[H + d] - at;
        f.after[d] = at + (ss_onednn_extent(y, H + d) - 1) * f.stride[d] + f.size[d] - x.hi[H + d];
    }
    return f;
}

static ss_status make_forward(pool *l, const frame *f, dnnl_alg_kind_t algorithm,
                              const dnnl_memory_desc_t *x, const dnnl_memory_desc_t *y,
                              ss_error *err)
{
    ss_onednn_part *p = &l->part;
    ss_onednn_call *c = &l->forward;
    dnnl_pooling_desc_t d;
    ss_status s =
        ss_onednn_status(dnnl_pooling_forward_desc_init(&d, dnnl_forward_training, algorithm, x, y,
                                                        f->stride, f->size, f->before, f->after),
                         "pooling", err);
    if (!s)
        s = ss_onednn_call_make(p, c, "pooling", &d, NULL, err);
    if (!s)
        s = ss_onednn_reads(p, c, DNNL_ARG_SRC, x, err);
    if (!s)
        s = ss_onednn_writes(p, c, DNNL_ARG_DST, y, err);
    if (!s && l->largest)
        s = ss_onednn_keeps(p, c, DNNL_ARG_WORKSPACE, err);
    return s;
}

static ss_status make_backward(pool *l, const frame *f, dnnl_alg_kind_t algorithm,
                               const dnnl_memory_desc_t *x, const dnnl_memory_desc_t *y,
                               ss_error *err)
{
    ss_onednn_part *p = &l->part;
    ss_onednn_call *c = &l->backward;
    dnnl_pooling_desc_t d;
    ss_status s = ss_onednn_status(dnnl_pooling_backward_desc_init(&d, algorithm, x, y, f->stride,
                                                                   f->size, f->before, f->after),
                                   "pooling's gradient", err);
    if (!s)
        s = ss_onednn_call_make(p, c, "pooling's gradient", &d, &l->forward, err);
    if (!s)
        s = ss_onednn_reads(p, c, DNNL_ARG_DIFF_DST, y, err);
    if (!s)
        s = ss_onednn_writes(p, c, DNNL_ARG_DIFF_SRC, x, err);
    if (!s && l->largest)
        s = ss_onednn_shares(c, DNNL_ARG_WORKSPACE, &l->forward, DNNL_ARG_WORKSPACE, err);
    return s;
}

static ss_status pool2d_make(ss_onednn_part *p, ss_error *err)
{
    pool *l = (pool *)p;
    ss_box in = ss_onednn_in(p, 0);
    l->largest = ss_kernel_attr(p->kernel.op, "type") == 0;
    dnnl_alg_kind_t algorithm = l->largest ? dnnl_pooling_max : dnnl_pooling_avg_exclude_padding;
    frame f = frame_of(p);
    dnnl_memory_desc_t x = ss_onednn_dense_box(&in), y = ss_onednn_dense_box(&p->kernel.main);
    ss_status s = make_forward(l, &f, algorithm, &x, &y, err);
    if (!s)
        s = make_backward(l, &f, algorithm, &x, &y, err);
    return s;
}

static ss_status pool2d_forward(ss_onednn_part *p, const ss_kernel_io *io, ss_error *err)
{
    return ss_onednn_map(p, &((pool *)p)->forward, io->in[0], io->out[0], err);
}

static ss_status pool2d_backward(ss_onednn_part *p, const ss_kernel_io *io, unsigned what,
                                 ss_error *err)
{
    if (!ss_onednn_wants_input(io, what, 0))
        return SS_OK;
    ss_onednn_call *c = &((pool *)p)->backward;
    ss_onednn_bind(c, DNNL_ARG_DIFF_DST, io->out_gradient[0]);
    ss_onednn_bind(c, DNNL_ARG_DIFF_SRC, io->in_gradient[0]);
    return ss_onednn_run(p, c, err);
}

const ss_onednn_kind ss_onednn_pool2d = {
    "pool2d", sizeof(pool), pool2d_make, pool2d_forward, pool2d_backward,
};

/* upsample2d: copies and sums, for which oneDNN has nothing quicker. */

typedef struct upsample {
    ss_onednn_part part;
    int64_t rows, columns; /* of the factor */
    ss_box in;
} upsample;

static ss_status upsample2d_make(ss_onednn_part *p, ss_error *err)
{
    (void)err;
    upsample *u = (upsample *)p;
    u->rows = ss_kernel_attr(p->kernel.op, "factor_h");
    u->columns = ss_kernel_attr(p->kernel.op, "factor_w");
    u->in = ss_onednn_in(p, 0);
    return SS_OK;
}

/* The pixels of a row that the part has of column c of its input. */
static int64_t block(const upsample *u, int64_t c)
{
    const ss_box *y = &u->part.kernel.main;
    int64_t lo = (u->in.lo[W] + c) * u->columns, hi = lo + u->columns;
    return (hi < y->hi[W] ? hi : y->hi[W]) - (lo > y->lo[W] ? lo : y->lo[W]);
}

/* Whether row r of the part is made of the same input row as the one before it. */
static bool repeats(const upsample *u, int64_t r)
{
    return r > 0 && (u->part.kernel.main.lo[H] + r) % u->rows != 0;
}

static ss_status upsample2d_forward(ss_onednn_part *p, const ss_kernel_io *io, ss_error *err)
{
    (void)err;
    const upsample *u = (upsample *)p;
    const ss_box *box = &p->kernel.main;
    int64_t images = ss_onednn_extent(box, N) * ss_onednn_extent(box, C),
            height = ss_onednn_extent(box, H), width = ss_onednn_extent(box, W),
            columns = ss_onednn_extent(&u->in, W);
    const float *x = io->in[0];
    float *y = io->out[0];
    for (int64_t i = 0; i < images; i++)
        for (int64_t r = 0; r < height; r++, y += width) {
            if (repeats(u, r)) {
                memcpy(y, y - width, (size_t)width * sizeof *y);
                continue;
            }
            float *to = y;
            for (int64_t c = 0; c < columns; c++, x++)
                for (int64_t n = block(u, c); n > 0; n--)
                    *to++ = *x;
        }
    return SS_OK;
}

static ss_status upsample2d_backward(ss_onednn_part *p, const ss_kernel_io *io, unsigned what,
                                     ss_error *err)
{
    (void)err;
    if (!ss_onednn_wants_input(io, what, 0))
        return SS_OK;
    const upsample *u = (upsample *)p;
    const ss_box *box = &p->kernel.main;
    int64_t images = ss_onednn_extent(box, N) * ss_onednn_extent(box, C),
            height = ss_onednn_extent(box, H), columns = ss_onednn_extent(&u->in, W);
    const float *dy = io->out_gradient[0];
    float *next = io->in_gradient[0], *dx = next;
    for (int64_t i = 0; i < images; i++)
        for (int64_t r = 0; r < height; r++) {
            bool first = !repeats(u, r);
            if (first) {
                dx = next;
                next += columns;
            }
            for (int64_t c = 0; c < columns; c++) {
                float sum = first ? 0 : dx[c];
                for (int64_t n = block(u, c); n > 0; n--)
                    sum += *dy++;
                dx[c] = sum;
            }
        }
    return SS_OK;
}

const ss_onednn_kind ss_onednn_upsample2d = {
    "upsample2d", sizeof(upsample), upsample2d_make, upsample2d_forward, upsample2d_backward,
};
