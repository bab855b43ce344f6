#include <string.h>

#include "reference/kernel_naive_inside.h"

double naive_product_at(const naive *n, const int64_t *i)
{
    uint32_t last = n->main.rank - 1;
    int64_t j[SS_MAX_DIMS], c = i[last];
    memcpy(j, i, sizeof j);
    double sum = n->op->weights > 1 ? n->weight[1][AT(&n->weight_box[1], c)] : 0;
    for (int64_t k = 0; k < n->op->in[0].extent[last]; k++) {
        j[last] = k;
        sum += n->in[0][naive_place(&n->in_box[0], j)] * n->weight[0][AT(&n->weight_box[0], c, k)];
    }
    return sum;
}

void naive_product_back(naive *n, const int64_t *i, double d)
{
    uint32_t last = n->main.rank - 1;
    int64_t j[SS_MAX_DIMS], c = i[last];
    memcpy(j, i, sizeof j);
    if (n->op->weights > 1)
        n->dweight[1][AT(&n->weight_box[1], c)] += d;
    for (int64_t k = 0; k < n->op->in[0].extent[last]; k++) {
        j[last] = k;
        int64_t in = naive_place(&n->in_box[0], j), w = AT(&n->weight_box[0], c, k);
        n->din[0][in] += d * n->weight[0][w];
        n->dweight[0][w] += d * n->in[0][in];
    }
}

static ss_status linear_forward(naive *n, ss_error *err)
{
    (void)err;
    int64_t f = ss_kernel_attr(n->op, "activation"), i[SS_MAX_DIMS];
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i))
        n->out[0][naive_place(&n->main, i)] = naive_function(f, naive_product_at(n, i));
    return SS_OK;
}

static void linear_backward(naive *n)
{
    int64_t f = ss_kernel_attr(n->op, "activation"), i[SS_MAX_DIMS];
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i))
        naive_product_back(n, i,
                           n->dout[0][naive_place(&n->main, i)] *
                               naive_derivative(f, naive_product_at(n, i)));
}

const naive_kind naive_linear = {"linear", linear_forward, linear_backward};
