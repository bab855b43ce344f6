#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reference/kernel_naive_inside.h"

/* Output (y[2], y[3]) and input (x[2], x[3]) meet at element (h, w) of the window, or do not. */
typedef struct meeting {
    bool transposed;
    int64_t groups, stride[2], padding[2], size[2];
} meeting;

static meeting meeting_of(const ss_op_def *op)
{
    meeting m = {.transposed = strcmp(op->kind->name, "conv2d") != 0, .groups = 1};
    if (!m.transposed)
        m.groups = ss_kernel_attr(op, "groups");
    m.size[0] = ss_kernel_attr(op, "kernel_h");
    m.size[1] = ss_kernel_attr(op, "kernel_w");
    m.stride[0] = ss_kernel_attr(op, "stride_h");
    m.stride[1] = ss_kernel_attr(op, "stride_w");
    m.padding[0] = ss_kernel_attr(op, "padding_h");
    m.padding[1] = ss_kernel_attr(op, "padding_w");
    return m;
}

static bool meet(const meeting *m, uint32_t d, int64_t y, int64_t x, int64_t *at)
{
    *at = m->transposed ? y - (x * m->stride[d] - m->padding[d])
                        : x - (y * m->stride[d] - m->padding[d]);
    return *at >= 0 && *at < m->size[d];
}

/* Calls `see` for each input that output y is a sum over, and each weight that it is weighed with. */
static void each_meeting(naive *n, const int64_t *y,
                         void (*see)(naive *n, int64_t x, int64_t w, double *number),
                         double *number)
{
    meeting m = meeting_of(n->op);
    const ss_box *in = &n->in_box[0];
    int64_t in_each = n->op->in[0].extent[1] / m.groups,
            out_each = n->op->out[0].extent[1] / m.groups, first = y[1] / out_each * in_each, h, w;
    for (int64_t c = 0; c < in_each; c++)
        for (int64_t i = in->lo[2]; i < in->hi[2]; i++)
            for (int64_t j = in->lo[3]; j < in->hi[3]; j++)
                if (meet(&m, 0, y[2], i, &h) && meet(&m, 1, y[3], j, &w))
                    see(n, AT(in, y[0], first + c, i, j), AT(&n->weight_box[0], y[1], c, h, w),
                        number);
}

static void add_product(naive *n, int64_t x, int64_t w, double *sum)
{
    *sum += n->in[0][x] * n->weight[0][w];
}

static void add_gradients(naive *n, int64_t x, int64_t w, double *d)
{
    n->din[0][x] += *d * n->weight[0][w];
    n->dweight[0][w] += *d * n->in[0][x];
}

static bool has_bias(const naive *n)
{
    return ss_kernel_attr(n->op, "bias") != 0;
}

/* What stands behind the product, of the part's outputs. */
typedef struct stages {
    double *product, *normal, *gradient;
} stages;

static bool normalises(const naive *n)
{
    return strcmp(n->op->kind->name, "conv2d") == 0 && ss_kernel_attr(n->op, "norm");
}

static void moments(const naive *n, const double *x, int64_t channel, double *mean,
                    double *variance)
{
    int64_t i[SS_MAX_DIMS];
    double sum = 0, squares = 0, count = 0;
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i))
        if (i[1] == channel) {
            sum += x[naive_place(&n->main, i)];
            count++;
        }
    *mean = sum / count;
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i))
        if (i[1] == channel) {
            double off = x[naive_place(&n->main, i)] - *mean;
            squares += off * off;
        }
    *variance = squares / count;
}

static void normalise(const naive *n, const double *x, double *y)
{
    uint32_t scale = has_bias(n) ? 2 : 1;
    int64_t i[SS_MAX_DIMS];
    for (int64_t c = n->main.lo[1]; c < n->main.hi[1]; c++) {
        double mean, variance, a = n->weight[scale][AT(&n->weight_box[scale], c)],
                               b = n->weight[scale + 1][AT(&n->weight_box[scale + 1], c)];
        moments(n, x, c, &mean, &variance);
        for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i))
            if (i[1] == c) {
                int64_t at = naive_place(&n->main, i);
                y[at] = a * (x[at] - mean) / sqrt(variance + (double)SS_KERNEL_EPSILON) + b;
            }
    }
}

/* d: from the gradient by what is normal to that by the product, in place. */
static void normalise_back(naive *n, const double *x, double *d)
{
    uint32_t scale = has_bias(n) ? 2 : 1;
    int64_t i[SS_MAX_DIMS];
    for (int64_t c = n->main.lo[1]; c < n->main.hi[1]; c++) {
        int64_t w = AT(&n->weight_box[scale], c);
        double mean, variance, count = 0, sum = 0, along = 0;
        moments(n, x, c, &mean, &variance);
        double root = sqrt(variance + (double)SS_KERNEL_EPSILON);
        for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i))
            if (i[1] == c) {
                int64_t at = naive_place(&n->main, i);
                count++;
                sum += d[at];
                along += d[at] * (x[at] - mean) / root;
            }
        n->dweight[scale][w] += along;
        n->dweight[scale + 1][w] += sum;
        for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i))
            if (i[1] == c) {
                int64_t at = naive_place(&n->main, i);
                d[at] = n->weight[scale][w] / root *
                        (d[at] - sum / count - (x[at] - mean) / root * along / count);
            }
    }
}

static bool open_stages(naive *n, stages *s)
{
    int64_t all = ss_box_elements(&n->main), i[SS_MAX_DIMS];
    s->product = ss_alloc_zeroed((size_t)all, sizeof(double));
    s->normal = ss_alloc_zeroed((size_t)all, sizeof(double));
    s->gradient = ss_alloc_zeroed((size_t)all, sizeof(double));
    if (!s->product || !s->normal || !s->gradient)
        return false;
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i)) {
        double sum = has_bias(n) ? n->weight[1][AT(&n->weight_box[1], i[1])] : 0;
        each_meeting(n, i, add_product, &sum);
        s->product[naive_place(&n->main, i)] = sum;
    }
    if (normalises(n))
        normalise(n, s->product, s->normal);
    else
        memcpy(s->normal, s->product, (size_t)all * sizeof(double));
    return true;
}

static void close_stages(stages *s)
{
    ss_free(s->product);
    ss_free(s->normal);
    ss_free(s->gradient);
}

static ss_status conv_forward(naive *n, ss_error *err)
{
    int64_t f = ss_kernel_attr(n->op, "activation"), all = ss_box_elements(&n->main);
    stages s = {0};
    bool ok = open_stages(n, &s);
    for (int64_t at = 0; ok && at < all; at++)
        n->out[0][at] = naive_function(f, s.normal[at]);
    close_stages(&s);
    return ok ? SS_OK : ss_fail_memory(err, "a slow convolution", sizeof(double));
}

static void conv_backward(naive *n)
{
    int64_t f = ss_kernel_attr(n->op, "activation"), all = ss_box_elements(&n->main),
            i[SS_MAX_DIMS];
    stages s = {0};
    if (!open_stages(n, &s))
        abort();
    for (int64_t at = 0; at < all; at++)
        s.gradient[at] = n->dout[0][at] * naive_derivative(f, s.normal[at]);
    if (normalises(n))
        normalise_back(n, s.product, s.gradient);
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i)) {
        double d = s.gradient[naive_place(&n->main, i)];
        if (has_bias(n) && !normalises(n)) /* else a sum of 0, but for rounding */
            n->dweight[1][AT(&n->weight_box[1], i[1])] += d;
        each_meeting(n, i, add_gradients, &d);
    }
    close_stages(&s);
}

const naive_kind naive_conv2d = {"conv2d", conv_forward, conv_backward};
const naive_kind naive_conv_transpose2d = {"conv_transpose2d", conv_forward, conv_backward};
