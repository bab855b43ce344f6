/* kernel_attention.c - attention of a decoder to its source (Luong).
 *
 *     u = q S; a = softmax over all source steps of u h'; v = a h; y = tanh(C [v q])
 *
 * q: the part's decoder steps; h: all source steps, from several inputs one behind the other; S = weight
 * "score", hidden x hidden; C = the part's rows of weight "combine", the first half of which meets v.
 * Source steps of several inputs are copied into one array, so that each sample takes one product.
 */
#include "validation/operators/onednn_inside.h"

#include <string.h>

#include "graph/op_kinds.h"

typedef struct attend {
    ss_onednn_part part;
    int64_t samples, steps, source, hidden, channels;
    ss_onednn_classes softmax;
    ss_onednn_function tanh;
    float *h, *dh;          /* samples x source x hidden */
    float *a, *da;          /* samples x steps x source */
    float *u, *v, *du, *dv; /* samples x steps x hidden */
    float *dq;              /* the same */
    float *dz;              /* of what tanh was applied to */
} attend;

static void attend_sizes(attend *t)
{
    const ss_op_def *op = t->part.kernel.op;
    const ss_box *main = &t->part.kernel.main;
    t->samples = ss_onednn_extent(main, 0);
    t->steps = ss_onednn_extent(main, 1);
    t->channels = ss_onednn_extent(main, 2);
    t->hidden = op->in[0].extent[2];
    for (uint32_t i = 1; i < op->inputs; i++)
        t->source += op->in[i].extent[1];
}

static ss_status attend_make(ss_onednn_part *part, ss_error *err)
{
    attend *t = (attend *)part;
    attend_sizes(t);
    int64_t rows = t->samples * t->steps, source = t->samples * t->source * t->hidden;
    const struct {
        float **at;
        int64_t n;
    } arrays[] = {{&t->h, source},
                  {&t->dh, source},
                  {&t->a, rows * t->source},
                  {&t->da, rows * t->source},
                  {&t->u, rows * t->hidden},
                  {&t->v, rows * t->hidden},
                  {&t->du, rows * t->hidden},
                  {&t->dv, rows * t->hidden},
                  {&t->dq, rows * t->hidden},
                  {&t->dz, rows * t->channels}};
    ss_status s = SS_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && !s; i++)
        s = ss_onednn_floats(part, arrays[i].n, arrays[i].at, err);
    if (!s)
        s = ss_onednn_softmax_make(part, &t->softmax, rows, t->source, 1, err);
    if (!s)
        s = ss_onednn_function_make(part, &t->tanh, SS_ACT_TANH, rows * t->channels, err);
    return s;
}

/* Source steps of all samples, from and to the inputs after the first. */
static void gather_source(const attend *t, const ss_kernel_io *io)
{
    const ss_op_def *op = t->part.kernel.op;
    int64_t at = 0;
    for (uint32_t i = 1; i < op->inputs; i++) {
        int64_t n = op->in[i].extent[1] * t->hidden;
        for (int64_t s = 0; s < t->samples; s++)
            memcpy(t->h + s * t->source * t->hidden + at, (const float *)io->in[i] + s * n,
                   (size_t)n * sizeof(float));
        at += n;
    }
}

static void scatter_source(const attend *t, const ss_kernel_io *io, unsigned what)
{
    const ss_op_def *op = t->part.kernel.op;
    int64_t at = 0;
    for (uint32_t i = 1; i < op->inputs; i++) {
        int64_t n = op->in[i].extent[1] * t->hidden;
        for (int64_t s = 0; s < t->samples && ss_onednn_wants_input(io, what, i); s++)
            memcpy(io->in_gradient[i] + s * n, t->dh + s * t->source * t->hidden + at,
                   (size_t)n * sizeof(float));
        at += n;
    }
}

static ss_status contexts(attend *t, ss_error *err)
{
    int64_t hidden = t->hidden, steps = t->steps, source = t->source;
    ss_status s = SS_OK;
    for (int64_t n = 0; n < t->samples && !s; n++)
        s = ss_onednn_product(steps, source, hidden, ss_plain(t->u + n * steps * hidden, hidden),
                              ss_transposed(t->h + n * source * hidden, hidden), false,
                              t->a + n * steps * source, source, err);
    if (!s)
        s = ss_onednn_softmax_forward(&t->part, &t->softmax, t->a, t->a, err);
    for (int64_t n = 0; n < t->samples && !s; n++)
        s = ss_onednn_product(steps, hidden, source, ss_plain(t->a + n * steps * source, source),
                              ss_plain(t->h + n * source * hidden, hidden), false,
                              t->v + n * steps * hidden, hidden, err);
    return s;
}

static ss_status attend_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    attend *t = (attend *)part;
    int64_t rows = t->samples * t->steps, hidden = t->hidden, channels = t->channels;
    const float *q = io->in[0], *combine = io->weight[1];
    gather_source(t, io);
    ss_status s = ss_onednn_product(rows, hidden, hidden, ss_plain(q, hidden),
                                    ss_plain(io->weight[0], hidden), false, t->u, hidden, err);
    if (!s)
        s = contexts(t, err);
    if (!s)
        s = ss_onednn_product(rows, channels, hidden, ss_plain(t->v, hidden),
                              ss_transposed(combine, 2 * hidden), false, io->out[0], channels, err);
    if (!s)
        s = ss_onednn_product(rows, channels, hidden, ss_plain(q, hidden),
                              ss_transposed(combine + hidden, 2 * hidden), true, io->out[0],
                              channels, err);
    if (!s)
        s = ss_onednn_function_forward(part, &t->tanh, io->out[0], io->out[0], err);
    return s;
}

/* Backward */

static ss_status combine_backward(attend *t, const ss_kernel_io *io, unsigned what, ss_error *err)
{
    int64_t rows = t->samples * t->steps, hidden = t->hidden, channels = t->channels,
            both = 2 * hidden;
    const float *combine = io->weight[1];
    ss_status s = ss_onednn_product(rows, hidden, channels, ss_plain(t->dz, channels),
                                    ss_plain(combine, both), false, t->dv, hidden, err);
    if (!s)
        s = ss_onednn_product(rows, hidden, channels, ss_plain(t->dz, channels),
                              ss_plain(combine + hidden, both), false, t->dq, hidden, err);
    if (s || !ss_onednn_wants_weight(io, what, 1))
        return s;
    s = ss_onednn_product(channels, hidden, rows, ss_transposed(t->dz, channels),
                          ss_plain(t->v, hidden), io->add_weight_gradient, io->weight_gradient[1],
                          both, err);
    if (!s)
        s = ss_onednn_product(channels, hidden, rows, ss_transposed(t->dz, channels),
                              ss_plain(io->in[0], hidden), io->add_weight_gradient,
                              io->weight_gradient[1] + hidden, both, err);
    return s;
}

/* The source steps take part twice: in scores and in the context. */
static ss_status contexts_backward(attend *t, ss_error *err)
{
    int64_t hidden = t->hidden, steps = t->steps, source = t->source;
    ss_status s = SS_OK;
    for (int64_t n = 0; n < t->samples && !s; n++) {
        const float *dv = t->dv + n * steps * hidden, *a = t->a + n * steps * source;
        s = ss_onednn_product(steps, source, hidden, ss_plain(dv, hidden),
                              ss_transposed(t->h + n * source * hidden, hidden), false,
                              t->da + n * steps * source, source, err);
        if (!s)
            s = ss_onednn_product(source, hidden, steps, ss_transposed(a, source),
                                  ss_plain(dv, hidden), false, t->dh + n * source * hidden, hidden,
                                  err);
    }
    ss_onednn_softmax_backward(&t->softmax, t->a, t->da, t->da);
    for (int64_t n = 0; n < t->samples && !s; n++) {
        const float *da = t->da + n * steps * source;
        s = ss_onednn_product(steps, hidden, source, ss_plain(da, source),
                              ss_plain(t->h + n * source * hidden, hidden), false,
                              t->du + n * steps * hidden, hidden, err);
        if (!s)
            s = ss_onednn_product(source, hidden, steps, ss_transposed(da, source),
                                  ss_plain(t->u + n * steps * hidden, hidden), true,
                                  t->dh + n * source * hidden, hidden, err);
    }
    return s;
}

static ss_status query_backward(attend *t, const ss_kernel_io *io, unsigned what, ss_error *err)
{
    int64_t rows = t->samples * t->steps, hidden = t->hidden;
    ss_status s = SS_OK;
    if (ss_onednn_wants_weight(io, what, 0))
        s = ss_onednn_product(hidden, hidden, rows, ss_transposed(io->in[0], hidden),
                              ss_plain(t->du, hidden), io->add_weight_gradient,
                              io->weight_gradient[0], hidden, err);
    if (s || !ss_onednn_wants_input(io, what, 0))
        return s;
    memcpy(io->in_gradient[0], t->dq, (size_t)(rows * hidden) * sizeof(float));
    return ss_onednn_product(rows, hidden, hidden, ss_plain(t->du, hidden),
                             ss_transposed(io->weight[0], hidden), true, io->in_gradient[0], hidden,
                             err);
}

static ss_status attend_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                 ss_error *err)
{
    attend *t = (attend *)part;
    ss_status s =
        ss_onednn_function_backward(part, &t->tanh, io->out[0], io->out_gradient[0], t->dz, err);
    if (!s)
        s = combine_backward(t, io, what, err);
    if (!s)
        s = contexts_backward(t, err);
    if (!s)
        s = query_backward(t, io, what, err);
    if (!s)
        scatter_source(t, io, what);
    return s;
}

const ss_onednn_kind ss_onednn_attention = {
    "attention", sizeof(attend), attend_make, attend_forward, attend_backward,
};
