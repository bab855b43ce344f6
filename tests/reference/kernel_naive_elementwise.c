#include <string.h>

#include "graph/op_kinds.h"
#include "reference/kernel_naive_inside.h"

/* Functions of one number and sums, element by element. */

static double sum_at(const naive *n, int64_t i)
{
    double sum = 0;
    for (uint32_t k = 0; k < n->op->inputs; k++)
        sum += n->in[k][i];
    return sum;
}

static ss_status function_forward(naive *n, int64_t activation)
{
    for (int64_t i = 0; i < ss_box_elements(&n->main); i++)
        n->out[0][i] = naive_function(activation, sum_at(n, i));
    return SS_OK;
}

static void function_backward(naive *n, int64_t activation)
{
    for (uint32_t k = 0; k < n->op->inputs; k++)
        for (int64_t i = 0; i < ss_box_elements(&n->main); i++)
            n->din[k][i] = n->dout[0][i] * naive_derivative(activation, sum_at(n, i));
}

#define FUNCTION(kind, activation)                                                                 \
    static ss_status kind##_forward(naive *n, ss_error *err)                                       \
    {                                                                                              \
        (void)err;                                                                                 \
        return function_forward(n, activation);                                                    \
    }                                                                                              \
    static void kind##_backward(naive *n)                                                          \
    {                                                                                              \
        function_backward(n, activation);                                                          \
    }                                                                                              \
    const naive_kind naive_##kind = {#kind, kind##_forward, kind##_backward}

FUNCTION(relu, SS_ACT_RELU);
FUNCTION(gelu, SS_ACT_GELU);
FUNCTION(tanh, SS_ACT_TANH);
FUNCTION(sigmoid, SS_ACT_SIGMOID);
FUNCTION(add, ss_kernel_attr(n->op, "activation"));

/* Each number times a factor of its own. */

static double scale_factor(const naive *n, const int64_t *i)
{
    (void)n, (void)i;
    return (double)SS_KERNEL_SCALE;
}

static double dropout_factor(const naive *n, const int64_t *i)
{
    ss_box all = ss_box_whole(&n->op->out[0]);
    return ss_kernel_keeps(naive_place(&all, i)) ? 1 / 0.9 : 0;
}

static void times_factor(const naive *n, double (*factor)(const naive *, const int64_t *),
                         const double *x, double *y)
{
    int64_t i[SS_MAX_DIMS];
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i)) {
        int64_t at = naive_place(&n->main, i);
        y[at] = x[at] * factor(n, i);
    }
}

#define FACTOR(kind)                                                                               \
    static ss_status kind##_forward(naive *n, ss_error *err)                                       \
    {                                                                                              \
        (void)err;                                                                                 \
        times_factor(n, kind##_factor, n->in[0], n->out[0]);                                       \
        return SS_OK;                                                                              \
    }                                                                                              \
    static void kind##_backward(naive *n)                                                          \
    {                                                                                              \
        times_factor(n, kind##_factor, n->dout[0], n->din[0]);                                     \
    }                                                                                              \
    const naive_kind naive_##kind = {#kind, kind##_forward, kind##_backward}

FACTOR(scale);
FACTOR(dropout);

/* The product of all inputs but one. */
static double product_but(const naive *n, uint32_t but, int64_t i)
{
    double product = 1;
    for (uint32_t k = 0; k < n->op->inputs; k++)
        if (k != but)
            product *= n->in[k][i];
    return product;
}

static ss_status mul_forward(naive *n, ss_error *err)
{
    (void)err;
    for (int64_t i = 0; i < ss_box_elements(&n->main); i++)
        n->out[0][i] = product_but(n, UINT32_MAX, i);
    return SS_OK;
}

static void mul_backward(naive *n)
{
    for (uint32_t k = 0; k < n->op->inputs; k++)
        for (int64_t i = 0; i < ss_box_elements(&n->main); i++)
            n->din[k][i] = n->dout[0][i] * product_but(n, k, i);
}

const naive_kind naive_mul = {"mul", mul_forward, mul_backward};

/* Softmax over the channels of each position. */

static void each_position(naive *n, void (*of)(naive *, int64_t classes, int64_t step, int64_t at))
{
    int64_t i[SS_MAX_DIMS], next[SS_MAX_DIMS];
    uint32_t channel = ss_op_channel(&n->op->out[0]);
    ss_box first = n->main; /* the first class of every position */
    first.hi[channel] = first.lo[channel] + 1;
    for (bool more = naive_first(&first, i); more; more = naive_next(&first, i)) {
        memcpy(next, i, sizeof next);
        next[channel]++;
        of(n, n->main.hi[channel] - n->main.lo[channel],
           naive_place(&n->main, next) - naive_place(&n->main, i), naive_place(&n->main, i));
    }
}

static void softmax_at(naive *n, int64_t classes, int64_t step, int64_t at)
{
    naive_probabilities(classes, step, n->in[0] + at, n->out[0] + at);
}

static void softmax_back_at(naive *n, int64_t classes, int64_t step, int64_t at)
{
    naive_probabilities_back(classes, step, n->out[0] + at, n->dout[0] + at, n->din[0] + at);
}

static ss_status softmax_forward(naive *n, ss_error *err)
{
    (void)err;
    each_position(n, softmax_at);
    return SS_OK;
}

static void softmax_backward(naive *n)
{
    each_position(n, softmax_back_at);
}

const naive_kind naive_softmax = {"softmax", softmax_forward, softmax_backward};
