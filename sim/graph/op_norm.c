/* op_norm.c - normalisation over the batch or over the features. */
#include <stddef.h>

#include "graph/op_kinds.h"

static void norm_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    (void)op;
    work->flops = (double)ss_box_elements(main) * SS_FLOPS_NORM;
}

/* Exact statistics of a split batch would take an exchange of 2c numbers; like every framework by
 * default, each part normalises over what it has. */
static ss_status batch_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_channels(op, err);
    if (s)
        return s;
    uint32_t channel = ss_op_channel(&op->in[0]);
    ss_op_like_input(op);
    ss_op_dims(op);
    op->dim[channel].cls = SS_DIM_PARAMETER;
    const int8_t follows[] = {(int8_t)channel};
    ss_op_weight(op, "scale", 1, &op->in[0].extent[channel], follows);
    ss_op_weight(op, "shift", 1, &op->in[0].extent[channel], follows);
    op->keeps_input = true;
    return SS_OK;
}

const ss_op_kind ss_op_kind_batch_norm = {
    .name = "batch_norm",
    .summary = "normalise each channel over the batch; statistics of each part are its own",
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = batch_infer,
    .input_box = ss_op_same_box,
    .forward = norm_forward,
};

enum { LAYER_BIAS };

static ss_status layer_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_channels(op, err);
    if (s)
        return s;
    uint32_t channel = ss_op_channel(&op->in[0]);
    ss_op_like_input(op);
    ss_op_dims(op);
    op->dim[channel].cls = SS_DIM_WHOLE;
    static const int8_t follows[] = {-1};
    ss_op_weight(op, "scale", 1, &op->in[0].extent[channel], follows);
    if (op->attr[LAYER_BIAS])
        ss_op_weight(op, "shift", 1, &op->in[0].extent[channel], follows);
    op->keeps_input = true;
    return SS_OK;
}

const ss_op_kind ss_op_kind_layer_norm = {
    .name = "layer_norm",
    .summary = "normalise over the channels of each position",
    .min_inputs = 1,
    .max_inputs = 1,
    .attr = {{"bias", 1, 0, 1, "bool", "shift as well as scale"}},
    .infer = layer_infer,
    .input_box = ss_op_same_box,
    .forward = norm_forward,
};

static ss_status rms_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_channels(op, err);
    if (s)
        return s;
    uint32_t channel = ss_op_channel(&op->in[0]);
    ss_op_like_input(op);
    ss_op_dims(op);
    op->dim[channel].cls = SS_DIM_WHOLE;
    static const int8_t follows[] = {-1};
    ss_op_weight(op, "scale", 1, &op->in[0].extent[channel], follows);
    op->keeps_input = true;
    return SS_OK;
}

/* Square, sum, scale by the root, weight. */
static void rms_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    (void)op;
    work->flops = 5 * (double)ss_box_elements(main);
}

const ss_op_kind ss_op_kind_rms_norm = {
    .name = "rms_norm",
    .summary = "scale the channels of each position by their root mean square",
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = rms_infer,
    .input_box = ss_op_same_box,
    .forward = rms_forward,
};
