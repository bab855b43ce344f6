#include <string.h>

#include "graph/op_kinds.h"
#include "reference/kernel_naive_inside.h"

/* Where element i of output 0 comes from: which input, and which of its elements.  Both named as in the whole
 * tensors. */
typedef uint32_t source(const ss_op_def *op, const int64_t *i, int64_t *in);

static ss_status take(naive *n, source *of)
{
    int64_t i[SS_MAX_DIMS], in[SS_MAX_DIMS];
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i)) {
        uint32_t k = of(n->op, i, in);
        n->out[0][naive_place(&n->main, i)] = n->in[k][naive_place(&n->in_box[k], in)];
    }
    return SS_OK;
}

static void give_back(naive *n, source *of)
{
    int64_t i[SS_MAX_DIMS], in[SS_MAX_DIMS];
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i)) {
        uint32_t k = of(n->op, i, in);
        n->din[k][naive_place(&n->in_box[k], in)] += n->dout[0][naive_place(&n->main, i)];
    }
}

static uint32_t concat_source(const ss_op_def *op, const int64_t *i, int64_t *in)
{
    uint32_t k = 0;
    memcpy(in, i, op->out[0].rank * sizeof *in);
    while (in[op->axis] >= op->in[k].extent[op->axis])
        in[op->axis] -= op->in[k++].extent[op->axis];
    return k;
}

static uint32_t slice_source(const ss_op_def *op, const int64_t *i, int64_t *in)
{
    memcpy(in, i, op->out[0].rank * sizeof *in);
    in[op->axis] += ss_kernel_attr(op, "start");
    return 0;
}

static uint32_t select_source(const ss_op_def *op, const int64_t *i, int64_t *in)
{
    in[0] = i[0];
    in[1] = ss_kernel_attr(op, "index");
    in[2] = i[1];
    return 0;
}

static uint32_t flatten_source(const ss_op_def *op, const int64_t *i, int64_t *in)
{
    int64_t rest = i[1];
    in[0] = i[0];
    for (uint32_t d = op->in[0].rank; d-- > 1;) {
        in[d] = rest % op->in[0].extent[d];
        rest /= op->in[0].extent[d];
    }
    return 0;
}

static uint32_t to_sequence_source(const ss_op_def *op, const int64_t *i, int64_t *in)
{
    int64_t width = op->in[0].extent[3];
    in[0] = i[0];
    in[1] = i[2];
    in[2] = i[1] / width;
    in[3] = i[1] % width;
    return 0;
}

#define COPIED(kind)                                                                               \
    static ss_status kind##_forward(naive *n, ss_error *err)                                       \
    {                                                                                              \
        (void)err;                                                                                 \
        return take(n, kind##_source);                                                             \
    }                                                                                              \
    static void kind##_backward(naive *n)                                                          \
    {                                                                                              \
        give_back(n, kind##_source);                                                               \
    }                                                                                              \
    const naive_kind naive_##kind = {#kind, kind##_forward, kind##_backward}

COPIED(concat);
COPIED(slice);
COPIED(select);
COPIED(flatten);
COPIED(to_sequence);
