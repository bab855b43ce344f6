/* kernel_elementwise.c - functions of single numbers, sums, products, dropout; and softmax.
 *
 * Such work waits for memory.  So an array is read and written once: sums and products of several inputs go block
 * by block, which stay in the first cache until all inputs are in them, and relu is applied there too.
 */
#include "validation/operators/onednn_inside.h"

#include <string.h>

#include "graph/op_kinds.h"

enum { BLOCK = 2048 }; /* floats: 8 KiB, and as much of each array that is read */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* relu, gelu, tanh, sigmoid */

typedef struct unary {
    ss_onednn_part part;
    ss_onednn_function function;
} unary;

static ss_status unary_make(ss_onednn_part *part, int64_t activation, ss_error *err)
{
    unary *u = (unary *)part;
    return ss_onednn_function_make(part, &u->function, activation,
                                   ss_box_elements(&part->kernel.main), err);
}

static ss_status unary_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    unary *u = (unary *)part;
    return ss_onednn_function_forward(part, &u->function, io->in[0], io->out[0], err);
}

static ss_status unary_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                ss_error *err)
{
    unary *u = (unary *)part;
    if (!ss_onednn_wants_input(io, what, 0))
        return SS_OK;
    return ss_onednn_function_backward(part, &u->function,
                                       u->function.from_argument ? io->in[0] : io->out[0],
                                       io->out_gradient[0], io->in_gradient[0], err);
}

#define UNARY(kind, activation)                                                                    \
    static ss_status kind##_make(ss_onednn_part *part, ss_error *err)                              \
    {                                                                                              \
        return unary_make(part, activation, err);                                                  \
    }                                                                                              \
    const ss_onednn_kind ss_onednn_##kind = {                                                      \
        #kind, sizeof(unary), kind##_make, unary_forward, unary_backward,                          \
    }

UNARY(relu, SS_ACT_RELU);
UNARY(gelu, SS_ACT_GELU);
UNARY(tanh, SS_ACT_TANH);
UNARY(sigmoid, SS_ACT_SIGMOID);

/* scale */

static ss_status nothing_to_make(ss_onednn_part *part, ss_error *err)
{
    (void)part, (void)err;
    return SS_OK;
}

static void times(int64_t n, const float *x, float by, float *y)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * by;
}

static ss_status scale_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    (void)err;
    times(ss_box_elements(&part->kernel.main), io->in[0], SS_KERNEL_SCALE, io->out[0]);
    return SS_OK;
}

static ss_status scale_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                ss_error *err)
{
    (void)err;
    if (ss_onednn_wants_input(io, what, 0))
        times(ss_box_elements(&part->kernel.main), io->out_gradient[0], SS_KERNEL_SCALE,
              io->in_gradient[0]);
    return SS_OK;
}

const ss_onednn_kind ss_onednn_scale = {
    "scale", sizeof(ss_onednn_part), nothing_to_make, scale_forward, scale_backward,
};

/* dropout: what is kept is made larger, so that the mean stays.  What is dropped is the same in every step, since
 * parts must drop what the whole drops; a byte for each number is read where a library would draw and write it. */

typedef struct dropout {
    ss_onednn_part part;
    uint8_t *kept; /* 0 or 1 */
} dropout;

static void draw_kept(const ss_op_def *op, const ss_box *main, uint8_t *kept)
{
    int64_t i[SS_MAX_DIMS];
    memcpy(i, main->lo, sizeof i);
    for (int64_t n = 0, all = ss_box_elements(main); n < all; n++) {
        int64_t place = 0;
        for (uint32_t d = 0; d < main->rank; d++)
            place = place * op->out[0].extent[d] + i[d];
        kept[n] = ss_kernel_keeps(place);
        for (uint32_t d = main->rank; d-- > 0 && ++i[d] == main->hi[d];)
            i[d] = main->lo[d];
    }
}

static ss_status dropout_make(ss_onednn_part *part, ss_error *err)
{
    dropout *d = (dropout *)part;
    const ss_box *main = &part->kernel.main;
    void *kept = NULL;
    ss_status s = ss_onednn_memory(part, (size_t)ss_box_elements(main), &kept, err);
    if (s)
        return s;
    d->kept = kept;
    draw_kept(part->kernel.op, main, d->kept);
    return SS_OK;
}

static void drop(const dropout *d, const float *x, float *y)
{
    const uint8_t *kept = d->kept;
    const float larger = 10.0f / 9;
    int64_t n = ss_box_elements(&d->part.kernel.main);
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * ((float)kept[i] * larger);
}

static ss_status dropout_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    (void)err;
    drop((dropout *)part, io->in[0], io->out[0]);
    return SS_OK;
}

static ss_status dropout_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                  ss_error *err)
{
    (void)err;
    if (ss_onednn_wants_input(io, what, 0))
        drop((dropout *)part, io->out_gradient[0], io->in_gradient[0]);
    return SS_OK;
}

const ss_onednn_kind ss_onednn_dropout = {
    "dropout", sizeof(dropout), dropout_make, dropout_forward, dropout_backward,
};

/* add */

typedef struct add {
    ss_onednn_part part;
    int64_t activation;
    ss_onednn_function function; /* of those that are not relu */
    float *argument;             /* what it was applied to, if its derivative needs it */
} add;

static ss_status add_make(ss_onednn_part *part, ss_error *err)
{
    add *a = (add *)part;
    int64_t n = ss_box_elements(&part->kernel.main);
    a->activation = ss_kernel_attr(part->kernel.op, "activation");
    if (a->activation == SS_ACT_NONE || a->activation == SS_ACT_RELU)
        return SS_OK;
    ss_status s = ss_onednn_function_make(part, &a->function, a->activation, n, err);
    if (!s && a->function.from_argument)
        s = ss_onednn_floats(part, n, &a->argument, err);
    return s;
}

static void sum_of_two(int64_t n, const float *a, const float *b, float *y)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] + b[i];
}

static void positive_sum_of_two(int64_t n, const float *a, const float *b, float *y)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        float sum = a[i] + b[i];
        y[i] = sum > 0 ? sum : 0;
    }
}

/* With the last input the sum is complete. */
static void sum_of_all(const ss_onednn_part *part, const ss_kernel_io *io, bool positive, float *y)
{
    uint32_t last = part->kernel.op->inputs - 1;
    int64_t n = ss_box_elements(&part->kernel.main);
    for (int64_t at = 0; at < n; at += BLOCK) {
        int64_t some = least(n - at, BLOCK);
        const float *sum = (const float *)io->in[0] + at;
        for (uint32_t i = 1; i <= last; i++) {
            const float *x = (const float *)io->in[i] + at;
            if (positive && i == last)
                positive_sum_of_two(some, sum, x, y + at);
            else
                sum_of_two(some, sum, x, y + at);
            sum = y + at;
        }
    }
}

static ss_status add_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    add *a = (add *)part;
    float *sum = a->argument ? a->argument : io->out[0];
    sum_of_all(part, io, a->activation == SS_ACT_RELU, sum);
    if (a->activation == SS_ACT_NONE || a->activation == SS_ACT_RELU)
        return SS_OK;
    return ss_onednn_function_forward(part, &a->function, sum, io->out[0], err);
}

static void where_positive(int64_t n, const float *y, const float *dy, float *dx)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        float d = dy[i]; /* read whether needed or not: a loop with a branch is not made wide */
        dx[i] = y[i] > 0 ? d : 0;
    }
}

static ss_status sum_gradient(add *a, const ss_kernel_io *io, float *dx, ss_error *err)
{
    int64_t n = ss_box_elements(&a->part.kernel.main);
    switch (a->activation) {
    case SS_ACT_NONE:
        memcpy(dx, io->out_gradient[0], (size_t)n * sizeof *dx);
        return SS_OK;
    case SS_ACT_RELU:
        where_positive(n, io->out[0], io->out_gradient[0], dx);
        return SS_OK;
    default:
        return ss_onednn_function_backward(&a->part, &a->function,
                                           a->argument ? a->argument : io->out[0],
                                           io->out_gradient[0], dx, err);
    }
}

/* The gradient of the sum is that of every input: worked out for the first that is wanted, then copied. */
static ss_status add_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                              ss_error *err)
{
    size_t bytes = (size_t)ss_box_elements(&part->kernel.main) * sizeof(float);
    const float *known = NULL;
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < part->kernel.op->inputs && !s; i++) {
        if (!ss_onednn_wants_input(io, what, i))
            continue;
        if (known)
            memcpy(io->in_gradient[i], known, bytes);
        else
            s = sum_gradient((add *)part, io, io->in_gradient[i], err);
        known = io->in_gradient[i];
    }
    return s;
}

const ss_onednn_kind ss_onednn_add = {
    "add", sizeof(add), add_make, add_forward, add_backward,
};

/* mul */

static void product_of_two(int64_t n, const float *a, const float *b, float *y)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] * b[i];
}

/* y = the product of all inputs but one, and of `first` if there is one. */
static void product_but(const ss_onednn_part *part, const ss_kernel_io *io, const float *first,
                        uint32_t but, float *y)
{
    uint32_t inputs = part->kernel.op->inputs;
    int64_t n = ss_box_elements(&part->kernel.main);
    for (int64_t at = 0; at < n; at += BLOCK) {
        const float *product = first ? first + at : NULL;
        for (uint32_t i = 0; i < inputs; i++) {
            if (i == but)
                continue;
            const float *x = (const float *)io->in[i] + at;
            if (product)
                product_of_two(least(n - at, BLOCK), product, x, y + at);
            product = product ? y + at : x;
        }
    }
}

static ss_status mul_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    (void)err;
    product_but(part, io, NULL, UINT32_MAX, io->out[0]);
    return SS_OK;
}

static ss_status mul_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                              ss_error *err)
{
    (void)err;
    for (uint32_t i = 0; i < part->kernel.op->inputs; i++)
        if (ss_onednn_wants_input(io, what, i))
            product_but(part, io, io->out_gradient[0], i, io->in_gradient[i]);
    return SS_OK;
}

const ss_onednn_kind ss_onednn_mul = {
    "mul", sizeof(ss_onednn_part), nothing_to_make, mul_forward, mul_backward,
};

/* softmax */

typedef struct softmax {
    ss_onednn_part part;
    ss_onednn_classes softmax;
} softmax;

static ss_status softmax_make(ss_onednn_part *part, ss_error *err)
{
    softmax *s = (softmax *)part;
    ss_onednn_channels by = ss_onednn_by_channel(part);
    return ss_onednn_softmax_make(part, &s->softmax, by.outer, by.channels, by.inner, err);
}

static ss_status softmax_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    softmax *s = (softmax *)part;
    return ss_onednn_softmax_forward(part, &s->softmax, io->in[0], io->out[0], err);
}

static ss_status softmax_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                  ss_error *err)
{
    (void)err;
    if (ss_onednn_wants_input(io, what, 0))
        ss_onednn_softmax_backward(&((softmax *)part)->softmax, io->out[0], io->out_gradient[0],
                                   io->in_gradient[0]);
    return SS_OK;
}

const ss_onednn_kind ss_onednn_softmax = {
    "softmax", sizeof(softmax), softmax_make, softmax_forward, softmax_backward,
};
