#include "reference/kernel_naive_inside.h"

/* The row of the table for element i of the output: input 0 lacks its last dimension. */
static int64_t row_of(const naive *n, const int64_t *i)
{
    return n->index[naive_place(&n->in_box[0], i)];
}

static ss_status embedding_forward(naive *n, ss_error *err)
{
    int64_t i[SS_MAX_DIMS], rows = n->op->weight[0].shape.extent[0];
    uint32_t last = n->main.rank - 1;
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i)) {
        if (row_of(n, i) < 0 || row_of(n, i) >= rows)
            return ss_fail(err, SS_EINVAL, "an index is %lld: the table has rows 0 to %lld",
                           (long long)row_of(n, i), (long long)rows - 1);
        n->out[0][naive_place(&n->main, i)] =
            n->weight[0][AT(&n->weight_box[0], row_of(n, i), i[last])];
    }
    return SS_OK;
}

static void embedding_backward(naive *n)
{
    int64_t i[SS_MAX_DIMS];
    uint32_t last = n->main.rank - 1;
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i))
        n->dweight[0][AT(&n->weight_box[0], row_of(n, i), i[last])] +=
            n->dout[0][naive_place(&n->main, i)];
}

const naive_kind naive_embedding = {"embedding", embedding_forward, embedding_backward};

static ss_status position_forward(naive *n, ss_error *err)
{
    (void)err;
    int64_t i[SS_MAX_DIMS];
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i))
        n->out[0][naive_place(&n->main, i)] = n->in[0][naive_place(&n->in_box[0], i)] +
                                              n->weight[0][AT(&n->weight_box[0], i[1], i[2])];
    return SS_OK;
}

static void position_backward(naive *n)
{
    int64_t i[SS_MAX_DIMS];
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i)) {
        double d = n->dout[0][naive_place(&n->main, i)];
        n->din[0][naive_place(&n->in_box[0], i)] += d;
        n->dweight[0][AT(&n->weight_box[0], i[1], i[2])] += d;
    }
}

const naive_kind naive_position = {"position", position_forward, position_backward};
