/* op_linear.c - products with a matrix of weights, and softmax with the losses that end a network.
 */
#include <stddef.h>

#include "graph/op_kinds.h"

enum { LINEAR_OUT, LINEAR_BIAS, LINEAR_ACTIVATION };

#define MOST_FEATURES (INT64_C(1) << 40)

/* The last dimension of the input becomes `out`; any others stay. */
static ss_status product_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_features(op, err);
    if (s)
        return s;
    int64_t out = op->attr[LINEAR_OUT];
    uint32_t last = op->in[0].rank - 1;
    ss_op_like_input(op);
    op->out[0].extent[last] = out;
    ss_op_dims(op);
    op->dim[last].cls = SS_DIM_PARAMETER;
    const int8_t follows[] = {(int8_t)last, -1};
    ss_op_weight(op, "w", 2, (int64_t[]){out, op->in[0].extent[last]}, follows);
    if (op->attr[LINEAR_BIAS])
        ss_op_weight(op, "b", 1, &out, follows);
    op->keeps_input = true;
    return SS_OK;
}

static void product_input(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    uint32_t last = op->in[i].rank - 1;
    *in = *main;
    in->lo[last] = 0;
    in->hi[last] = op->in[i].extent[last];
}

static void product_work(const ss_op_def *op, const ss_box *main, double extra_flops, ss_work *work)
{
    double n = (double)ss_box_elements(main);
    work->macs = n * (double)op->in[0].extent[op->in[0].rank - 1];
    work->flops = 2 * work->macs + n * ((op->attr[LINEAR_BIAS] ? 1 : 0) + extra_flops);
}

static ss_status linear_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = product_infer(op, err);
    op->keeps_output = op->attr[LINEAR_ACTIVATION] != SS_ACT_NONE;
    return s;
}

static void linear_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    product_work(op, main, ss_activation_flops(op->attr[LINEAR_ACTIVATION]), work);
}

/* The derivative of gelu cannot be told from its result: what it was applied to is kept. */
static double linear_saved(const ss_op_def *op, const ss_box *main)
{
    if (op->attr[LINEAR_ACTIVATION] != SS_ACT_GELU)
        return 0;
    return (double)ss_box_elements(main) * (double)ss_dtype_bytes(op->out[0].dtype);
}

const ss_op_kind ss_op_kind_linear = {
    .name = "linear",
    .summary = "product of the features (last dimension) with a matrix, with optional bias and "
               "activation",
    .min_inputs = 1,
    .max_inputs = 1,
    .attr = {{"out", SS_ATTR_REQUIRED, 1, MOST_FEATURES, NULL, "output features"},
             {"bias", 1, 0, 1, "bool", "add a number for each output feature"},
             {"activation", 0, 0, 0, SS_ACTIVATIONS, "function applied to the result"}},
    .infer = linear_infer,
    .input_box = product_input,
    .forward = linear_forward,
    .saved = linear_saved,
};

/* Fused with its softmax and cross-entropy, the product may still be split by class: the exchange
 * of a maximum and a sum for each row (2 numbers against thousands) is left out, as in the 2018
 * simulator. */

static ss_status linear_softmax_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = product_infer(op, err);
    op->keeps_output = true;
    return s;
}

static void linear_softmax_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    product_work(op, main, SS_FLOPS_SOFTMAX, work);
}

const ss_op_kind ss_op_kind_linear_softmax = {
    .name = "linear_softmax",
    .summary = "linear, softmax and cross-entropy in one; ends in the loss",
    .min_inputs = 1,
    .max_inputs = 1,
    .attr = {{"out", SS_ATTR_REQUIRED, 1, MOST_FEATURES, NULL, "classes"},
             {"bias", 1, 0, 1, "bool", "add a number for each class"}},
    .infer = linear_softmax_infer,
    .input_box = product_input,
    .forward = linear_softmax_forward,
    .is_loss = true,
};

/* Softmax over the channels, which are therefore not split. */

static ss_status softmax_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_channels(op, err);
    if (s)
        return s;
    ss_op_like_input(op);
    ss_op_dims(op);
    op->dim[ss_op_channel(&op->in[0])].cls = SS_DIM_WHOLE;
    op->keeps_output = true;
    return SS_OK;
}

static void softmax_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    (void)op;
    work->flops = (double)ss_box_elements(main) * SS_FLOPS_SOFTMAX;
}

const ss_op_kind ss_op_kind_softmax = {
    .name = "softmax",
    .summary = "probabilities from the channels of each position",
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = softmax_infer,
    .input_box = ss_op_same_box,
    .forward = softmax_forward,
};

/* Probabilities minus labels. */
static void one_flop_back(const ss_op_def *op, const ss_box *main, bool input_gradient,
                          ss_work *work)
{
    (void)op;
    if (input_gradient)
        work->flops = (double)ss_box_elements(main);
}

const ss_op_kind ss_op_kind_softmax_cross_entropy = {
    .name = "softmax_cross_entropy",
    .summary = "softmax over the channels, here classes, and cross-entropy; ends in the loss",
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = softmax_infer,
    .input_box = ss_op_same_box,
    .forward = softmax_forward,
    .backward = one_flop_back,
    .is_loss = true,
};

static ss_status squared_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_floats(op, err);
    if (!s)
        s = ss_op_want_same(op, err);
    if (s)
        return s;
    ss_op_like_input(op);
    ss_op_dims(op);
    op->keeps_input = true;
    return SS_OK;
}

/* Difference, square, sum. */
static void squared_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    (void)op;
    work->flops = 3 * (double)ss_box_elements(main);
}

const ss_op_kind ss_op_kind_squared_error = {
    .name = "squared_error",
    .summary = "mean squared error against labels or against a second input; ends in the loss",
    .min_inputs = 1,
    .max_inputs = 2,
    .infer = squared_infer,
    .input_box = ss_op_same_box,
    .forward = squared_forward,
    .is_loss = true,
};
