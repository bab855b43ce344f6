/* op_embedding.c - rows of a table: for words, and for positions. */
#include <stddef.h>

#include "graph/op_kinds.h"

#define MOST_ROWS (INT64_C(1) << 40)

enum { EMBED_VOCAB, EMBED_OUT, EMBED_DTYPE };

/* The choices of dtype are the first floating-point types of ss_dtype, in its order. */
static ss_status embed_infer(ss_op_def *op, ss_error *err)
{
    const ss_shape *in = &op->in[0];
    char text[SS_SHAPE_TEXT];
    if (in->dtype != SS_I64 && in->dtype != SS_I32 && in->dtype != SS_I8)
        return ss_fail(err, SS_EINVAL, "its input is %s: indices are integers, of dtype i32",
                       ss_dtype_name(in->dtype));
    if (in->rank > 2)
        return ss_fail(err, SS_EINVAL, "its input is %s: indices are n or n x l",
                       ss_shape_text(in, text, sizeof text));
    uint32_t last = in->rank;
    op->outputs = 1;
    op->out[0] = *in;
    op->out[0].dtype = (ss_dtype)op->attr[EMBED_DTYPE];
    op->out[0].rank = in->rank + 1;
    op->out[0].extent[last] = op->attr[EMBED_OUT];
    ss_op_dims(op);
    op->dim[last].cls = SS_DIM_PARAMETER;
    const int8_t follows[] = {-1, (int8_t)last};
    ss_op_weight(op, "w", 2, (int64_t[]){op->attr[EMBED_VOCAB], op->attr[EMBED_OUT]}, follows);
    op->keeps_input = true; /* which rows the gradient goes to */
    return SS_OK;
}

static void embed_input(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    (void)i;
    *in = *main;
    in->rank = op->in[0].rank;
    in->lo[in->rank] = in->hi[in->rank] = 0;
}

static void embed_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    (void)op, (void)main, (void)work;
}

/* Each row of gradient is added to a row of the table's. */
static void embed_backward(const ss_op_def *op, const ss_box *main, bool input_gradient,
                           ss_work *work)
{
    (void)op, (void)input_gradient;
    work->flops = (double)ss_box_elements(main);
}

const ss_op_kind ss_op_kind_embedding = {
    .name = "embedding",
    .summary = "the row of a table that each index names",
    .min_inputs = 1,
    .max_inputs = 1,
    .attr = {{"vocab", SS_ATTR_REQUIRED, 1, MOST_ROWS, NULL, "rows of the table"},
             {"out", SS_ATTR_REQUIRED, 1, MOST_ROWS, NULL, "numbers in a row"},
             {"dtype", SS_F32, 0, 0, "f64|f32|tf32|bf16|f16|f8", "element type of the table"}},
    .infer = embed_infer,
    .input_box = embed_input,
    .forward = embed_forward,
    .backward = embed_backward,
    .sparse_input = true,
    .no_input_gradient = true,
};

/* Learned positions */

enum { POS_POSITIONS };

/* A table longer than the sequence is not cut with it: which rows a part reads would no longer be
 * its own range of output positions. */
static ss_status pos_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_sequences(op, err);
    if (s)
        return s;
    int64_t length = op->in[0].extent[1], *positions = &op->attr[POS_POSITIONS];
    if (!*positions)
        *positions = length;
    if (*positions < length)
        return ss_fail(err, SS_EINVAL, "the sequence has %lld positions and the table %lld",
                       (long long)length, (long long)*positions);
    bool cut = *positions == length;
    ss_op_like_input(op);
    ss_op_dims(op);
    op->dim[1].cls = cut ? SS_DIM_PARAMETER : SS_DIM_ATTRIBUTE;
    op->dim[2].cls = SS_DIM_PARAMETER;
    const int8_t follows[] = {cut ? 1 : -1, 2};
    ss_op_weight(op, "w", 2, (int64_t[]){*positions, op->in[0].extent[2]}, follows);
    return SS_OK;
}

/* One addition, and one for the gradient of the table; that of the input is passed on. */
static void pos_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    (void)op;
    work->flops = (double)ss_box_elements(main);
}

static void pos_backward(const ss_op_def *op, const ss_box *main, bool input_gradient,
                         ss_work *work)
{
    (void)input_gradient;
    pos_forward(op, main, work);
}

const ss_op_kind ss_op_kind_position = {
    .name = "position",
    .summary = "a learned vector for each position is added to a sequence",
    .min_inputs = 1,
    .max_inputs = 1,
    .attr = {{"positions", 0, 0, MOST_ROWS, NULL,
              "rows of the table; 0: as many as the sequence has"}},
    .infer = pos_infer,
    .input_box = ss_op_same_box,
    .forward = pos_forward,
    .backward = pos_backward,
};
