/* op_lstm.c - a block of steps of a long short-term memory layer.
 *
 * Steps follow one another, so the block is split by sample alone; several steps that could overlap
 * with other layers are several operators that share weights (the 2018 simulator has 8 steps in
 * each).  It has two state tensors that go from block to block.  The 2018 simulator took them to be
 * as large as all steps of a block: state_steps makes them so.
 */
#include <stddef.h>

#include "graph/op_kinds.h"

enum { LSTM_HIDDEN, LSTM_BIAS, LSTM_STATE_STEPS };

#define MOST_HIDDEN (INT64_C(1) << 24)

static ss_status check_state(const ss_op_def *op, uint32_t i, ss_error *err)
{
    char text[SS_SHAPE_TEXT];
    const ss_shape *s = &op->in[i];
    if (s->extent[0] == op->in[0].extent[0] && s->extent[2] == op->attr[LSTM_HIDDEN])
        return SS_OK;
    return ss_fail(err, SS_EINVAL, "input %u (%s) is %s: a state is %lld x steps x %lld", i + 1,
                   i == 1 ? "hx" : "cx", ss_shape_text(s, text, sizeof text),
                   (long long)op->in[0].extent[0], (long long)op->attr[LSTM_HIDDEN]);
}

static ss_status lstm_check(const ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_sequences(op, err);
    if (s)
        return s;
    if (op->inputs == 2)
        return ss_fail(err, SS_EINVAL, "2 inputs were given: it takes x, or x and both states");
    for (uint32_t i = 1; i < op->inputs && !s; i++)
        s = check_state(op, i, err);
    return s;
}

static ss_status lstm_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = lstm_check(op, err);
    if (s)
        return s;
    const ss_shape *x = &op->in[0];
    int64_t hidden = op->attr[LSTM_HIDDEN];
    op->outputs = 3;
    op->out[0] = *x;
    op->out[0].extent[2] = hidden;
    op->out[1] = op->out[0];
    op->out[1].extent[1] = op->attr[LSTM_STATE_STEPS];
    op->out[2] = op->out[1];
    ss_op_dims(op);
    op->dim[1].cls = op->dim[2].cls = SS_DIM_WHOLE;
    static const int8_t follows[] = {-1, -1};
    /* Four gates of the input and of the state before; cuDNN's layout has a bias for either. */
    ss_op_weight(op, "w", 2, (int64_t[]){4 * hidden, x->extent[2] + hidden}, follows);
    if (op->attr[LSTM_BIAS])
        ss_op_weight(op, "b", 1, (int64_t[]){8 * hidden}, follows);
    op->keeps_input = op->keeps_output = true;
    return SS_OK;
}

static void whole_but_samples(const ss_shape *s, const ss_box *main, ss_box *out)
{
    *out = ss_box_whole(s);
    out->lo[0] = main->lo[0];
    out->hi[0] = main->hi[0];
}

static void lstm_input(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    whole_but_samples(&op->in[i], main, in);
}

static void lstm_output(const ss_op_def *op, uint32_t o, const ss_box *main, ss_box *out)
{
    whole_but_samples(&op->out[o], main, out);
}

/* Beside the products: for each unit 5 nonlinear functions, 3 products, 2 sums (and 8 biases). */
static void lstm_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    double n = (double)ss_box_elements(main);
    work->macs = n * 4 * (double)(op->in[0].extent[2] + op->attr[LSTM_HIDDEN]);
    work->flops = 2 * work->macs + n * (op->attr[LSTM_BIAS] ? 18 : 10);
}

/* Four gates and the cell of each step. */
static double lstm_saved(const ss_op_def *op, const ss_box *main)
{
    return 5 * (double)ss_box_elements(main) * (double)ss_dtype_bytes(op->out[0].dtype);
}

const ss_op_kind ss_op_kind_lstm = {
    .name = "lstm",
    .summary = "steps of a long short-term memory layer: x, or x, hx, cx in; y, hy, cy out",
    .min_inputs = 1,
    .max_inputs = 3,
    .attr = {{"hidden", SS_ATTR_REQUIRED, 1, MOST_HIDDEN, NULL, "units"},
             {"bias", 0, 0, 1, "bool", "two biases for each gate of each unit"},
             {"state_steps", 1, 1, MOST_HIDDEN, NULL,
              "how many steps the states hy and cy are counted for"}},
    .infer = lstm_infer,
    .input_box = lstm_input,
    .output_box = lstm_output,
    .forward = lstm_forward,
    .saved = lstm_saved,
    .output_name = {NULL, "hy", "cy"},
};
