/* op_attention.c - attention of a decoder to its source (Luong), and between all positions, by
 * heads. */
#include <stddef.h>

#include "graph/op_kinds.h"

/* Source-target attention with general score (Luong et al. 2015): score = q W h over all source
 * steps, softmax, context, and tanh(C [context; q]).  W is H x H, C is H x 2H.
 *
 * Splitting the channels splits C alone: each part works out all scores itself, so it saves little
 * work; it is offered because C is most of the weights. */

static ss_status attend_infer(ss_op_def *op, ss_error *err)
{
    char text[SS_SHAPE_TEXT], first[SS_SHAPE_TEXT];
    ss_status s = ss_op_want_sequences(op, err);
    if (s)
        return s;
    const ss_shape *q = &op->in[0];
    for (uint32_t i = 1; i < op->inputs; i++) {
        const ss_shape *h = &op->in[i];
        if (h->extent[0] != q->extent[0] || h->extent[2] != q->extent[2])
            return ss_fail(err, SS_EINVAL,
                           "input %u, source steps, is %s and input 1, decoder steps, is %s: they "
                           "may differ in the number of steps alone",
                           i + 1, ss_shape_text(h, text, sizeof text),
                           ss_shape_text(q, first, sizeof first));
    }
    int64_t hidden = q->extent[2];
    ss_op_like_input(op);
    ss_op_dims(op);
    op->dim[2].cls = SS_DIM_PARAMETER;
    if (hidden > INT64_MAX / 2)
        return ss_fail(err, SS_ERANGE, "its input is too large");
    static const int8_t score[] = {-1, -1}, combine[] = {2, -1};
    ss_op_weight(op, "score", 2, (int64_t[]){hidden, hidden}, score);
    ss_op_weight(op, "combine", 2, (int64_t[]){hidden, 2 * hidden}, combine);
    op->keeps_input = op->keeps_output = true;
    return SS_OK;
}

static void attend_input(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    *in = ss_box_whole(&op->in[i]);
    in->lo[0] = main->lo[0];
    in->hi[0] = main->hi[0];
    if (i == 0) {
        in->lo[1] = main->lo[1];
        in->hi[1] = main->hi[1];
    }
}

static double source_steps(const ss_op_def *op)
{
    double n = 0;
    for (uint32_t i = 1; i < op->inputs; i++)
        n += (double)op->in[i].extent[1];
    return n;
}

static double steps(const ss_box *main)
{
    return (double)(main->hi[0] - main->lo[0]) * (double)(main->hi[1] - main->lo[1]);
}

static void attend_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    double hidden = (double)op->in[0].extent[2], source = source_steps(op);
    double channels = (double)(main->hi[2] - main->lo[2]);
    work->macs = steps(main) * (hidden * hidden + 2 * source * hidden + channels * 2 * hidden);
    work->flops = 2 * work->macs + steps(main) * (source * SS_FLOPS_SOFTMAX +
                                                  channels * ss_activation_flops(SS_ACT_TANH));
}

/* Each of the four products has two gradients, of a weight or of what takes its place. */
static void attend_backward(const ss_op_def *op, const ss_box *main, bool input_gradient,
                            ss_work *work)
{
    (void)input_gradient;
    attend_forward(op, main, work);
    work->macs *= 2;
    work->flops *= 2;
}

/* Weights of the source steps, and the context. */
static double attend_saved(const ss_op_def *op, const ss_box *main)
{
    return steps(main) * (source_steps(op) + (double)op->in[0].extent[2]) *
           (double)ss_dtype_bytes(op->out[0].dtype);
}

const ss_op_kind ss_op_kind_attention = {
    .name = "attention",
    .summary = "each decoder step (input 1) attends to all source steps (the other inputs)",
    .min_inputs = 2,
    .max_inputs = SS_MAX_INPUTS,
    .infer = attend_infer,
    .input_box = attend_input,
    .forward = attend_forward,
    .backward = attend_backward,
    .saved = attend_saved,
};

/* The core of multi-head attention: what lies between the linear operators before and after it.
 *
 * Queries, keys and values come packed head by head (q k v of head 1, q k v of head 2, ...), so
 * that a range of heads is a range of channels, and a split by head here fits a split by channel of
 * the linear before.  Splitting positions needs the keys and values of all of them (of all earlier
 * ones if causal); where q is packed with k and v it comes along, so give q and kv as two inputs
 * for that. */

enum { HEADS_HEADS, HEADS_CAUSAL, HEADS_FUSED };

static int64_t head_size(const ss_op_def *op)
{
    return op->out[0].extent[2] / op->attr[HEADS_HEADS];
}

static const ss_shape *keys(const ss_op_def *op)
{
    return &op->in[op->inputs - 1];
}

static ss_status heads_pair(const ss_op_def *op, ss_error *err)
{
    char q[SS_SHAPE_TEXT], kv[SS_SHAPE_TEXT];
    const ss_shape *a = &op->in[0], *b = &op->in[1];
    if (b->extent[0] != a->extent[0] || a->extent[2] > INT64_MAX / 2 ||
        b->extent[2] != 2 * a->extent[2])
        return ss_fail(err, SS_EINVAL,
                       "q is %s and kv is %s: kv has the same samples and twice the channels",
                       ss_shape_text(a, q, sizeof q), ss_shape_text(b, kv, sizeof kv));
    if (op->attr[HEADS_CAUSAL] && b->extent[1] < a->extent[1])
        return ss_fail(err, SS_EINVAL, "causal: q has %lld positions and kv only %lld",
                       (long long)a->extent[1], (long long)b->extent[1]);
    return SS_OK;
}

static ss_status heads_check(const ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_sequences(op, err);
    if (s)
        return s;
    int64_t packed = op->inputs == 1 ? 3 : 1, width = op->in[0].extent[2];
    if (width % packed || width / packed % op->attr[HEADS_HEADS])
        return ss_fail(err, SS_EINVAL, "%lld channels are not %sof %lld heads", (long long)width,
                       packed == 3 ? "queries, keys and values " : "",
                       (long long)op->attr[HEADS_HEADS]);
    return op->inputs == 2 ? heads_pair(op, err) : SS_OK;
}

static ss_status heads_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = heads_check(op, err);
    if (s)
        return s;
    ss_op_like_input(op);
    if (op->inputs == 1)
        op->out[0].extent[2] /= 3;
    ss_op_dims(op);
    op->dim[2].grain = head_size(op);
    op->keeps_input = op->keeps_output = true;
    return SS_OK;
}

/* Keys that the positions before `end` see. */
static int64_t keys_until(const ss_op_def *op, int64_t end)
{
    int64_t all = keys(op)->extent[1];
    return op->attr[HEADS_CAUSAL] ? end + all - op->in[0].extent[1] : all;
}

static void heads_input(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    int64_t size = head_size(op), packed = op->inputs == 1 ? 3 : i == 0 ? 1 : 2;
    *in = *main;
    in->lo[2] = main->lo[2] / size * size * packed;
    in->hi[2] = (main->hi[2] + size - 1) / size * size * packed;
    if (packed > 1) {
        in->lo[1] = 0;
        in->hi[1] = keys_until(op, main->hi[1]);
    }
}

/* Pairs of a query and a key in one head that are worked out.  A kernel that is not fused works out
 * the masked half too. */
static double pairs(const ss_op_def *op, const ss_box *main)
{
    double n = (double)(main->hi[0] - main->lo[0]), all = (double)keys(op)->extent[1];
    double lo = (double)main->lo[1], hi = (double)main->hi[1];
    if (!op->attr[HEADS_CAUSAL] || !op->attr[HEADS_FUSED])
        return n * (hi - lo) * all;
    double before = all - (double)op->in[0].extent[1];
    return n * ((hi - lo) * (before + 1) + (hi * (hi - 1) - lo * (lo - 1)) / 2);
}

static double heads_of(const ss_op_def *op, const ss_box *main)
{
    return (double)(main->hi[2] - main->lo[2]) / (double)head_size(op);
}

/* Without fusion the scores are written and read, and their softmax too. */
static double scores_traffic(const ss_op_def *op, const ss_box *main)
{
    if (op->attr[HEADS_FUSED])
        return 0;
    return 4 * pairs(op, main) * heads_of(op, main) * (double)ss_dtype_bytes(op->out[0].dtype);
}

static void heads_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    double both = pairs(op, main), channels = (double)(main->hi[2] - main->lo[2]);
    work->macs = 2 * both * channels;
    work->flops = 2 * work->macs + both * heads_of(op, main) * (SS_FLOPS_SOFTMAX + 1); /* scaling */
    work->bytes = scores_traffic(op, main);
}

/* Two products forward have four backward; a fused kernel works out the scores once more. */
static void heads_backward(const ss_op_def *op, const ss_box *main, bool input_gradient,
                           ss_work *work)
{
    if (!input_gradient)
        return;
    double times = op->attr[HEADS_FUSED] ? 2.5 : 2;
    heads_forward(op, main, work);
    work->macs *= times;
    work->flops *= times;
    work->bytes *= times;
}

/* Fused: the logarithm of each softmax's sum, in 4 bytes.  Otherwise: the softmax. */
static double heads_saved(const ss_op_def *op, const ss_box *main)
{
    if (op->attr[HEADS_FUSED])
        return 4 * steps(main) * heads_of(op, main);
    return pairs(op, main) * heads_of(op, main) * (double)ss_dtype_bytes(op->out[0].dtype);
}

const ss_op_kind ss_op_kind_multihead_attention = {
    .name = "multihead_attention",
    .summary =
        "attention by heads over packed q, k, v (one input), or over q and packed k, v (two)",
    .min_inputs = 1,
    .max_inputs = 2,
    .attr = {{"heads", SS_ATTR_REQUIRED, 1, INT64_C(1) << 24, NULL,
              "heads; they divide the channels"},
             {"causal", 0, 0, 1, "bool", "a position sees itself and earlier ones alone"},
             {"fused", 1, 0, 1, "bool",
              "one kernel that never stores the scores (as FlashAttention) and skips masked ones"}},
    .infer = heads_infer,
    .input_box = heads_input,
    .forward = heads_forward,
    .backward = heads_backward,
    .saved = heads_saved,
};
