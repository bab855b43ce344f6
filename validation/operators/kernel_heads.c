/* kernel_heads.c - attention between all positions, head by head.
 *
 * For each sample and head: y = softmax(q k' / sqrt(size)) v, row by row of q.  Rows are taken in blocks; a block
 * of a causal operator looks at the keys up to those that its last row sees, and a row's own end is told by
 * scores of minus infinity.
 *
 * Fused: blocks are small, the scores of one lie in the cache, and backward works them out once more.  Else a
 * block is all rows against all keys, and its softmax is kept for backward: so much memory goes by as the
 * simulator counts for either.
 */
#include "validation/operators/onednn_inside.h"

#include <math.h>
#include <string.h>

enum { FUSED_ROWS = 64 }; /* as many scores of 2048 keys are half a megabyte */

/* q, k and v of one head of one sample, or their gradients.  Rows of k and v are of all keys. */
typedef struct head {
    float *q, *k, *v;
    int64_t q_row, kv_row;
} head;

typedef struct block {
    int64_t first, rows; /* of the part's queries */
    int64_t keys;        /* looked at */
    ss_onednn_classes softmax;
} block;

typedef struct heads {
    ss_onednn_part part;
    int64_t samples, heads, size;
    int64_t queries, keys; /* of the part */
    int64_t before;  /* row r of the part's queries sees r + before keys and one more, if causal */
    bool packed;     /* q comes with k and v */
    int64_t q_first; /* where the part's queries begin among its rows of q */
    bool causal, fused;
    int64_t blocks;
    block *block;
    float *scores, *dscores; /* of one block; scores of all if not fused */
    float scale;
} heads;

static void heads_sizes(heads *h)
{
    const ss_op_def *op = h->part.kernel.op;
    const ss_box *main = &h->part.kernel.main;
    ss_box q = ss_onednn_in(&h->part, 0), kv = ss_onednn_in(&h->part, op->inputs - 1);
    h->samples = ss_onednn_extent(main, 0);
    h->size = op->out[0].extent[2] / ss_kernel_attr(op, "heads");
    h->heads = ss_onednn_extent(main, 2) / h->size;
    h->queries = ss_onednn_extent(main, 1);
    h->keys = ss_onednn_extent(&kv, 1);
    h->before = main->lo[1] + op->in[op->inputs - 1].extent[1] - op->in[0].extent[1];
    h->packed = op->inputs == 1;
    h->q_first = main->lo[1] - q.lo[1];
    h->causal = ss_kernel_attr(op, "causal");
    h->fused = ss_kernel_attr(op, "fused");
    h->scale = (float)(1 / sqrt((double)h->size));
    h->blocks = h->fused ? (h->queries + FUSED_ROWS - 1) / FUSED_ROWS : 1;
}

static ss_status make_block(heads *h, int64_t i, ss_error *err)
{
    block *b = &h->block[i];
    b->first = h->fused ? i * FUSED_ROWS : 0;
    int64_t left = h->queries - b->first;
    b->rows = h->fused && left > FUSED_ROWS ? FUSED_ROWS : left;
    b->keys = h->causal && h->fused ? b->first + b->rows + h->before : h->keys;
    return ss_onednn_softmax_make(&h->part, &b->softmax, b->rows, b->keys, 1, err);
}

static ss_status heads_make(ss_onednn_part *part, ss_error *err)
{
    heads *h = (heads *)part;
    heads_sizes(h);
    void *blocks = NULL;
    ss_status s = ss_onednn_memory(part, (size_t)h->blocks * sizeof *h->block, &blocks, err);
    h->block = blocks;
    for (int64_t i = 0; i < h->blocks && !s; i++)
        s = make_block(h, i, err);
    int64_t one = (h->fused && h->queries > FUSED_ROWS ? FUSED_ROWS : h->queries) * h->keys;
    if (!s)
        s = ss_onednn_floats(part, h->fused ? one : one * h->samples * h->heads, &h->scores, err);
    if (!s)
        s = ss_onednn_floats(part, one, &h->dscores, err);
    return s;
}

/* One head of a sample in arrays of inputs: q k v (or k v) of a head lie side by side. */
static head head_of(const heads *h, float *const in[2], int64_t sample, int64_t i)
{
    int64_t size = h->size;
    if (h->packed) {
        int64_t row = 3 * size * h->heads;
        float *at = in[0] + sample * h->keys * row + i * 3 * size;
        return (head){at + h->q_first * row, at + size, at + 2 * size, row, row};
    }
    int64_t q_row = size * h->heads, kv_row = 2 * q_row;
    float *kv = in[1] ? in[1] + sample * h->keys * kv_row + i * 2 * size : NULL;
    return (head){in[0] ? in[0] + sample * h->queries * q_row + i * size : NULL, kv,
                  kv ? kv + size : NULL, q_row, kv_row};
}

static void mask(const heads *h, const block *b, float *scores)
{
    for (int64_t r = 0; h->causal && r < b->rows; r++)
        for (int64_t k = b->first + r + h->before + 1; k < b->keys; k++)
            scores[r * b->keys + k] = -INFINITY;
}

static void scale(const heads *h, int64_t n, float *x)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        x[i] *= h->scale;
}

/* The softmax of a block's scores. */
static ss_status weigh(heads *h, block *b, const head *in, float *scores, ss_error *err)
{
    ss_status s = ss_onednn_product(b->rows, b->keys, h->size,
                                    ss_plain(in->q + b->first * in->q_row, in->q_row),
                                    ss_transposed(in->k, in->kv_row), false, scores, b->keys, err);
    if (s)
        return s;
    scale(h, b->rows * b->keys, scores);
    mask(h, b, scores);
    return ss_onednn_softmax_forward(&h->part, &b->softmax, scores, scores, err);
}

static float *scores_of(const heads *h, int64_t sample, int64_t i)
{
    return h->fused ? h->scores : h->scores + (sample * h->heads + i) * h->queries * h->keys;
}

static ss_status head_forward(heads *h, const head *in, float *scores, float *y, ss_error *err)
{
    int64_t y_row = h->heads * h->size;
    ss_status s = SS_OK;
    for (int64_t i = 0; i < h->blocks && !s; i++) {
        block *b = &h->block[i];
        s = weigh(h, b, in, scores, err);
        if (!s)
            s = ss_onednn_product(b->rows, h->size, b->keys, ss_plain(scores, b->keys),
                                  ss_plain(in->v, in->kv_row), false, y + b->first * y_row, y_row,
                                  err);
    }
    return s;
}

static ss_status heads_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    heads *h = (heads *)part;
    float *const in[2] = {(float *)(uintptr_t)io->in[0],
                          h->packed ? NULL : (float *)(uintptr_t)io->in[1]};
    ss_status s = SS_OK;
    for (int64_t n = 0; n < h->samples; n++)
        for (int64_t i = 0; i < h->heads && !s; i++) {
            head one = head_of(h, in, n, i);
            s = head_forward(h, &one, scores_of(h, n, i),
                             io->out[0] + (n * h->queries * h->heads + i) * h->size, err);
        }
    return s;
}

/* Backward */

/* With p the softmax: dv += p' dy; ds = softmax backward of dy v'; dq = ds k / sqrt(size), dk += ds' q / sqrt(size). */
static ss_status block_backward(heads *h, const block *b, const head *in, const head *out,
                                const float *p, const float *dy, ss_error *err)
{
    int64_t dy_row = h->heads * h->size;
    ss_status s =
        ss_onednn_product(b->rows, b->keys, h->size, ss_plain(dy, dy_row),
                          ss_transposed(in->v, in->kv_row), false, h->dscores, b->keys, err);
    if (s)
        return s;
    ss_onednn_softmax_backward(&b->softmax, p, h->dscores, h->dscores);
    scale(h, b->rows * b->keys, h->dscores);
    if (out->q)
        s = ss_onednn_product(b->rows, h->size, b->keys, ss_plain(h->dscores, b->keys),
                              ss_plain(in->k, in->kv_row), false, out->q + b->first * out->q_row,
                              out->q_row, err);
    if (s || !out->k)
        return s;
    s = ss_onednn_product(b->keys, h->size, b->rows, ss_transposed(p, b->keys),
                          ss_plain(dy, dy_row), true, out->v, out->kv_row, err);
    if (!s)
        s = ss_onednn_product(b->keys, h->size, b->rows, ss_transposed(h->dscores, b->keys),
                              ss_plain(in->q + b->first * in->q_row, in->q_row), true, out->k,
                              out->kv_row, err);
    return s;
}

static ss_status head_backward(heads *h, const head *in, const head *out, float *scores,
                               const float *dy, ss_error *err)
{
    ss_status s = SS_OK;
    for (int64_t i = 0; i < h->blocks && !s; i++) {
        block *b = &h->block[i];
        if (h->fused)
            s = weigh(h, b, in, scores, err);
        if (!s)
            s = block_backward(h, b, in, out, scores, dy + b->first * h->heads * h->size, err);
    }
    return s;
}

/* Keys and values are read by several blocks, and rows of a packed q that are not the part's by none. */
static void clear(float *gradient, const ss_box *b)
{
    if (gradient)
        memset(gradient, 0, (size_t)ss_box_elements(b) * sizeof *gradient);
}

static ss_status heads_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                ss_error *err)
{
    heads *h = (heads *)part;
    const uint32_t last = h->packed ? 0 : 1;
    float *const in[2] = {(float *)(uintptr_t)io->in[0],
                          h->packed ? NULL : (float *)(uintptr_t)io->in[1]};
    float *const out[2] = {ss_onednn_wants_input(io, what, 0) ? io->in_gradient[0] : NULL,
                           !h->packed && ss_onednn_wants_input(io, what, 1) ? io->in_gradient[1]
                                                                            : NULL};
    if (!out[0] && !out[1])
        return SS_OK;
    ss_box box = ss_onednn_in(part, last);
    clear(out[last], &box);
    ss_status s = SS_OK;
    for (int64_t n = 0; n < h->samples; n++)
        for (int64_t i = 0; i < h->heads && !s; i++) {
            head from = head_of(h, in, n, i), to = head_of(h, out, n, i);
            s = head_backward(h, &from, &to, scores_of(h, n, i),
                              io->out_gradient[0] + (n * h->queries * h->heads + i) * h->size, err);
        }
    return s;
}

const ss_onednn_kind ss_onednn_multihead_attention = {
    "multihead_attention", sizeof(heads), heads_make, heads_forward, heads_backward,
};
