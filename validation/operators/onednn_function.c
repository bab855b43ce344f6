/* onednn_function.c - functions of single numbers, as oneDNN's element-wise primitives. */
#include "validation/operators/onednn_inside.h"

#include <assert.h>

#include "graph/op_kinds.h"

typedef struct pair {
    dnnl_alg_kind_t forward, backward;
} pair;

/* Where a function's derivative can be told from its result, what it was applied to need not be kept. */
static pair algorithms(int64_t activation)
{
    switch (activation) {
    case SS_ACT_RELU:
        return (pair){dnnl_eltwise_relu, dnnl_eltwise_relu_use_dst_for_bwd};
    case SS_ACT_GELU:
        return (pair){dnnl_eltwise_gelu_tanh, dnnl_eltwise_gelu_tanh};
    case SS_ACT_TANH:
        return (pair){dnnl_eltwise_tanh, dnnl_eltwise_tanh_use_dst_for_bwd};
    default:
        assert(activation == SS_ACT_SIGMOID);
        return (pair){dnnl_eltwise_logistic, dnnl_eltwise_logistic_use_dst_for_bwd};
    }
}

ss_status ss_onednn_map_make(ss_onednn_part *p, ss_onednn_call *c, const char *what,
                             dnnl_alg_kind_t algorithm, int64_t n, ss_error *err)
{
    dnnl_memory_desc_t row = ss_onednn_dense(1, &n);
    dnnl_eltwise_desc_t desc;
    ss_status s = ss_onednn_status(
        dnnl_eltwise_forward_desc_init(&desc, dnnl_forward_training, algorithm, &row, 0, 0), what,
        err);
    if (!s)
        s = ss_onednn_call_make(p, c, what, &desc, NULL, err);
    if (!s)
        s = ss_onednn_reads(p, c, DNNL_ARG_SRC, &row, err);
    if (!s)
        s = ss_onednn_writes(p, c, DNNL_ARG_DST, &row, err);
    return s;
}

ss_status ss_onednn_map(ss_onednn_part *p, ss_onednn_call *c, const float *x, float *y,
                        ss_error *err)
{
    ss_onednn_bind(c, DNNL_ARG_SRC, x);
    ss_onednn_bind(c, DNNL_ARG_DST, y);
    return ss_onednn_run(p, c, err);
}

static ss_status make_backward(ss_onednn_part *p, ss_onednn_function *f, dnnl_alg_kind_t algorithm,
                               const dnnl_memory_desc_t *row, ss_error *err)
{
    ss_onednn_call *c = &f->backward;
    dnnl_eltwise_desc_t desc;
    ss_status s = ss_onednn_status(
        dnnl_eltwise_backward_desc_init(&desc, algorithm, row, row, 0, 0), "a derivative", err);
    if (!s)
        s = ss_onednn_call_make(p, c, "a derivative", &desc, &f->forward, err);
    if (!s)
        s = ss_onednn_reads(p, c, f->from_argument ? DNNL_ARG_SRC : DNNL_ARG_DST, row, err);
    if (!s)
        s = ss_onednn_reads(p, c, DNNL_ARG_DIFF_DST, row, err);
    if (!s)
        s = ss_onednn_writes(p, c, DNNL_ARG_DIFF_SRC, row, err);
    return s;
}

ss_status ss_onednn_function_make(ss_onednn_part *p, ss_onednn_function *f, int64_t activation,
                                  int64_t n, ss_error *err)
{
    pair a = algorithms(activation);
    f->from_argument = a.forward == a.backward;
    dnnl_memory_desc_t row = ss_onednn_dense(1, &n);
    ss_status s = ss_onednn_map_make(p, &f->forward, "a function", a.forward, n, err);
    if (!s)
        s = make_backward(p, f, a.backward, &row, err);
    return s;
}

ss_status ss_onednn_function_forward(ss_onednn_part *p, ss_onednn_function *f, const float *x,
                                     float *y, ss_error *err)
{
    return ss_onednn_map(p, &f->forward, x, y, err);
}

ss_status ss_onednn_function_backward(ss_onednn_part *p, ss_onednn_function *f, const float *known,
                                      const float *dy, float *dx, ss_error *err)
{
    ss_onednn_bind(&f->backward, f->from_argument ? DNNL_ARG_SRC : DNNL_ARG_DST, known);
    ss_onednn_bind(&f->backward, DNNL_ARG_DIFF_DST, dy);
    ss_onednn_bind(&f->backward, DNNL_ARG_DIFF_SRC, dx);
    return ss_onednn_run(p, &f->backward, err);
}
