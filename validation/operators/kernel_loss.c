/* kernel_loss.c - where a network ends: cross-entropy after a softmax, squared error. */
#include "validation/operators/onednn_inside.h"

/* softmax_cross_entropy */

typedef struct entropy {
    ss_onednn_part part;
    ss_onednn_classes softmax;
    double count;
} entropy;

static ss_status entropy_make(ss_onednn_part *part, ss_error *err)
{
    entropy *e = (entropy *)part;
    e->count = ss_kernel_loss_count(part->kernel.op);
    ss_onednn_channels by = ss_onednn_by_channel(part);
    return ss_onednn_softmax_make(part, &e->softmax, by.outer, by.channels, by.inner, err);
}

static ss_status entropy_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    entropy *e = (entropy *)part;
    ss_status s = ss_onednn_softmax_forward(part, &e->softmax, io->in[0], io->out[0], err);
    if (!s)
        s = ss_onednn_cross_entropy(&e->softmax, io->out[0], io->label, e->count, io->loss, err);
    return s;
}

static ss_status entropy_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                  ss_error *err)
{
    (void)err;
    entropy *e = (entropy *)part;
    if (ss_onednn_wants_input(io, what, 0))
        ss_onednn_cross_entropy_backward(&e->softmax, io->out[0], io->label, e->count,
                                         io->in_gradient[0]);
    return SS_OK;
}

const ss_onednn_kind ss_onednn_softmax_cross_entropy = {
    "softmax_cross_entropy", sizeof(entropy), entropy_make, entropy_forward, entropy_backward,
};

/* squared_error: against a second input, or against labels. */

static ss_status squared_make(ss_onednn_part *part, ss_error *err)
{
    (void)part, (void)err;
    return SS_OK;
}

static const float *other_of(const ss_onednn_part *part, const ss_kernel_io *io)
{
    return part->kernel.op->inputs > 1 ? io->in[1] : io->label;
}

static ss_status squared_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    (void)err;
    const float *a = io->in[0], *b = other_of(part, io);
    float *y = io->out[0];
    int64_t n = ss_box_elements(&part->kernel.main);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) {
        y[i] = (a[i] - b[i]) * (a[i] - b[i]);
        sum += (double)y[i];
    }
    *io->loss = sum / ss_kernel_loss_count(part->kernel.op);
    return SS_OK;
}

static void difference(int64_t n, const float *a, const float *b, float by, float *y)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = (a[i] - b[i]) * by;
}

static ss_status squared_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                  ss_error *err)
{
    (void)err;
    const float *a = io->in[0], *b = other_of(part, io);
    int64_t n = ss_box_elements(&part->kernel.main);
    float twice = (float)(2 / ss_kernel_loss_count(part->kernel.op));
    if (ss_onednn_wants_input(io, what, 0))
        difference(n, a, b, twice, io->in_gradient[0]);
    if (part->kernel.op->inputs > 1 && ss_onednn_wants_input(io, what, 1))
        difference(n, b, a, twice, io->in_gradient[1]);
    return SS_OK;
}

const ss_onednn_kind ss_onednn_squared_error = {
    "squared_error", sizeof(ss_onednn_part), squared_make, squared_forward, squared_backward,
};
