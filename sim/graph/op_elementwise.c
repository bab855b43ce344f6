/* op_elementwise.c - one number in, one number out: each output box needs the same box of inputs.
 *
 * They have no weights, so every dimension but the sample is an attribute.
 */
#include <stddef.h>

#include "graph/op_kinds.h"

static ss_status infer(ss_op_def *op, bool keeps_input, bool keeps_output, ss_error *err)
{
    ss_status s = ss_op_want_floats(op, err);
    if (!s)
        s = ss_op_want_same(op, err);
    if (s)
        return s;
    ss_op_like_input(op);
    ss_op_dims(op);
    op->keeps_input = keeps_input;
    op->keeps_output = keeps_output;
    return SS_OK;
}

static ss_status infer_keeping_nothing(ss_op_def *op, ss_error *err)
{
    return infer(op, false, false, err);
}

static ss_status infer_keeping_input(ss_op_def *op, ss_error *err)
{
    return infer(op, true, false, err);
}

static ss_status infer_keeping_output(ss_op_def *op, ss_error *err)
{
    return infer(op, false, true, err);
}

static void flops_each(const ss_box *main, double each, ss_work *work)
{
    work->flops = (double)ss_box_elements(main) * each;
}

static void relu_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    (void)op;
    flops_each(main, ss_activation_flops(SS_ACT_RELU), work);
}

static void gelu_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    (void)op;
    flops_each(main, ss_activation_flops(SS_ACT_GELU), work);
}

static void tanh_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    (void)op;
    flops_each(main, ss_activation_flops(SS_ACT_TANH), work);
}

static void sigmoid_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    (void)op;
    flops_each(main, ss_activation_flops(SS_ACT_SIGMOID), work);
}

static void one_flop(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    (void)op;
    flops_each(main, 1, work);
}

/* Sum and product */

static ss_status add_infer(ss_op_def *op, ss_error *err)
{
    return infer(op, false, op->attr[0] != SS_ACT_NONE, err);
}

static void add_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    flops_each(main, op->inputs - 1.0 + ss_activation_flops(op->attr[0]), work);
}

/* The gradient of a sum is passed on as it is, once it is through the activation. */
static void add_backward(const ss_op_def *op, const ss_box *main, bool input_gradient,
                         ss_work *work)
{
    if (input_gradient)
        flops_each(main, ss_activation_flops(op->attr[0]), work);
}

static double add_saved(const ss_op_def *op, const ss_box *main)
{
    if (op->attr[0] != SS_ACT_GELU)
        return 0;
    return (double)ss_box_elements(main) * (double)ss_dtype_bytes(op->out[0].dtype);
}

static void mul_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    flops_each(main, op->inputs - 1.0, work);
}

/* For each input the product of the gradient and all other inputs. */
static void mul_backward(const ss_op_def *op, const ss_box *main, bool input_gradient,
                         ss_work *work)
{
    if (input_gradient)
        flops_each(main, (double)op->inputs * (op->inputs - 1.0), work);
}

/* A random bit for each element, kept as a byte. */
static double dropout_saved(const ss_op_def *op, const ss_box *main)
{
    (void)op;
    return (double)ss_box_elements(main);
}

#define UNARY(kind, keeping, work, text)                                                           \
    const ss_op_kind ss_op_kind_##kind = {                                                         \
        .name = #kind,                                                                             \
        .summary = text,                                                                           \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = infer_keeping_##keeping,                                                          \
        .input_box = ss_op_same_box,                                                               \
        .forward = work,                                                                           \
    }

UNARY(relu, output, relu_forward, "the positive part of each number");
UNARY(gelu, input, gelu_forward, "Gaussian error linear unit of each number");
UNARY(tanh, output, tanh_forward, "hyperbolic tangent of each number");
UNARY(sigmoid, output, sigmoid_forward, "logistic function of each number");
UNARY(scale, nothing, one_flop, "each number times a constant");

const ss_op_kind ss_op_kind_dropout = {
    .name = "dropout",
    .summary = "random numbers are set to zero",
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = infer_keeping_nothing,
    .input_box = ss_op_same_box,
    .forward = one_flop,
    .saved = dropout_saved,
};

const ss_op_kind ss_op_kind_add = {
    .name = "add",
    .summary = "sum of tensors of one shape, with optional activation",
    .min_inputs = 2,
    .max_inputs = SS_MAX_INPUTS,
    .attr = {{"activation", 0, 0, 0, SS_ACTIVATIONS, "function applied to the sum"}},
    .infer = add_infer,
    .input_box = ss_op_same_box,
    .forward = add_forward,
    .backward = add_backward,
    .saved = add_saved,
};

const ss_op_kind ss_op_kind_mul = {
    .name = "mul",
    .summary = "product, number by number, of tensors of one shape",
    .min_inputs = 2,
    .max_inputs = SS_MAX_INPUTS,
    .infer = infer_keeping_input,
    .input_box = ss_op_same_box,
    .forward = mul_forward,
    .backward = mul_backward,
};
