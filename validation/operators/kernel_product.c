/* kernel_product.c - products with a matrix of weights, alone or with the softmax and loss behind them. */
#include "validation/operators/onednn_inside.h"

#include <string.h>

#include "graph/op_kinds.h"

/* y (rows x out) = f(x (rows x in) times w (out x in) transposed, plus b) */
typedef struct product {
    ss_onednn_part part;
    int64_t rows, in, out;
    bool bias;
} product;

static void product_sizes(product *p)
{
    const ss_op_def *op = p->part.kernel.op;
    ss_box w = ss_onednn_weight(&p->part, 0);
    p->out = ss_onednn_extent(&w, 0);
    p->in = ss_onednn_extent(&w, 1);
    p->rows = ss_box_elements(&p->part.kernel.main) / p->out;
    p->bias = op->weights > 1;
}

static void add_bias(const product *p, const float *b, float *y)
{
    for (int64_t r = 0; r < p->rows; r++) {
        float *row = y + r * p->out;
#pragma omp simd
        for (int64_t c = 0; c < p->out; c++)
            row[c] += b[c];
    }
}

static ss_status product_forward(const product *p, const ss_kernel_io *io, float *y, ss_error *err)
{
    ss_status s = ss_onednn_product(p->rows, p->out, p->in, ss_plain(io->in[0], p->in),
                                    ss_transposed(io->weight[0], p->in), false, y, p->out, err);
    if (!s && p->bias)
        add_bias(p, io->weight[1], y);
    return s;
}

/* From the gradient of what the function was applied to. */
static ss_status product_backward(const product *p, const ss_kernel_io *io, unsigned what,
                                  const float *dy, ss_error *err)
{
    ss_status s = SS_OK;
    if (ss_onednn_wants_input(io, what, 0))
        s = ss_onednn_product(p->rows, p->in, p->out, ss_plain(dy, p->out),
                              ss_plain(io->weight[0], p->in), false, io->in_gradient[0], p->in,
                              err);
    if (!s && ss_onednn_wants_weight(io, what, 0))
        s = ss_onednn_product(p->out, p->in, p->rows, ss_transposed(dy, p->out),
                              ss_plain(io->in[0], p->in), io->add_weight_gradient,
                              io->weight_gradient[0], p->in, err);
    if (!s && p->bias && ss_onednn_wants_weight(io, what, 1))
        ss_onednn_sum_rows(p->rows, p->out, dy, io->add_weight_gradient, io->weight_gradient[1]);
    return s;
}

/* linear */

typedef struct linear {
    product product;
    bool applies;
    ss_onednn_function function;
    float *argument; /* what the function was applied to, if its derivative needs it */
    float *gradient; /* of the same */
} linear;

static ss_status linear_make(ss_onednn_part *part, ss_error *err)
{
    linear *l = (linear *)part;
    product_sizes(&l->product);
    int64_t n = l->product.rows * l->product.out,
            activation = ss_kernel_attr(part->kernel.op, "activation");
    l->applies = activation != SS_ACT_NONE;
    if (!l->applies)
        return SS_OK;
    ss_status s = ss_onednn_function_make(part, &l->function, activation, n, err);
    if (!s && l->function.from_argument)
        s = ss_onednn_floats(part, n, &l->argument, err);
    if (!s)
        s = ss_onednn_floats(part, n, &l->gradient, err);
    return s;
}

static ss_status linear_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    linear *l = (linear *)part;
    float *before = l->argument ? l->argument : io->out[0];
    ss_status s = product_forward(&l->product, io, before, err);
    if (!s && l->applies)
        s = ss_onednn_function_forward(part, &l->function, before, io->out[0], err);
    return s;
}

static ss_status linear_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                 ss_error *err)
{
    linear *l = (linear *)part;
    if (!l->applies)
        return product_backward(&l->product, io, what, io->out_gradient[0], err);
    ss_status s =
        ss_onednn_function_backward(part, &l->function, l->argument ? l->argument : io->out[0],
                                    io->out_gradient[0], l->gradient, err);
    if (!s)
        s = product_backward(&l->product, io, what, l->gradient, err);
    return s;
}

const ss_onednn_kind ss_onednn_linear = {
    "linear", sizeof(linear), linear_make, linear_forward, linear_backward,
};

/* linear_softmax */

typedef struct classify {
    product product;
    ss_onednn_classes softmax;
    double count;
    float *gradient; /* of what the softmax was applied to */
} classify;

static ss_status classify_make(ss_onednn_part *part, ss_error *err)
{
    classify *c = (classify *)part;
    product_sizes(&c->product);
    c->count = ss_kernel_loss_count(part->kernel.op);
    ss_status s =
        ss_onednn_softmax_make(part, &c->softmax, c->product.rows, c->product.out, 1, err);
    if (!s)
        s = ss_onednn_floats(part, c->product.rows * c->product.out, &c->gradient, err);
    return s;
}

static ss_status classify_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    classify *c = (classify *)part;
    ss_status s = product_forward(&c->product, io, io->out[0], err);
    if (!s)
        s = ss_onednn_softmax_forward(part, &c->softmax, io->out[0], io->out[0], err);
    if (!s)
        s = ss_onednn_cross_entropy(&c->softmax, io->out[0], io->label, c->count, io->loss, err);
    return s;
}

static ss_status classify_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                   ss_error *err)
{
    classify *c = (classify *)part;
    ss_onednn_cross_entropy_backward(&c->softmax, io->out[0], io->label, c->count, c->gradient);
    return product_backward(&c->product, io, what, c->gradient, err);
}

const ss_onednn_kind ss_onednn_linear_softmax = {
    "linear_softmax", sizeof(classify), classify_make, classify_forward, classify_backward,
};
