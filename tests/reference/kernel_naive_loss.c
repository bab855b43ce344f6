#include <math.h>
#include <string.h>

#include "graph/op_kinds.h"
#include "reference/kernel_naive_inside.h"

/* The classes of a position lie `step` apart in the arrays of the part; positions are counted row by row. */
typedef struct classes {
    int64_t n, step, positions;
} classes;

static classes classes_of(const naive *n)
{
    classes c = {.step = 1};
    uint32_t channel = ss_op_channel(&n->op->out[0]);
    c.n = n->main.hi[channel] - n->main.lo[channel];
    for (uint32_t d = channel + 1; d < n->main.rank; d++)
        c.step *= n->main.hi[d] - n->main.lo[d];
    c.positions = ss_box_elements(&n->main) / c.n;
    return c;
}

static int64_t first_of(const classes *c, int64_t position)
{
    return position / c->step * c->n * c->step + position % c->step;
}

static ss_status entropy_of(naive *n, const double *x, ss_error *err)
{
    classes c = classes_of(n);
    const int32_t *label = n->label;
    for (int64_t p = 0; p < c.positions; p++) {
        int64_t at = first_of(&c, p);
        naive_probabilities(c.n, c.step, x + at, n->out[0] + at);
        if (label[p] < 0 || label[p] >= c.n)
            return ss_fail(err, SS_EINVAL, "a label is %d: classes are 0 to %lld", (int)label[p],
                           (long long)c.n - 1);
        n->loss -= log(n->out[0][at + label[p] * c.step]) / ss_kernel_loss_count(n->op);
    }
    return SS_OK;
}

static void entropy_back(const naive *n, double *dx)
{
    classes c = classes_of(n);
    const int32_t *label = n->label;
    for (int64_t p = 0; p < c.positions; p++)
        for (int64_t k = 0; k < c.n; k++) {
            int64_t at = first_of(&c, p) + k * c.step;
            dx[at] = (n->out[0][at] - (label[p] == k)) / ss_kernel_loss_count(n->op);
        }
}

static ss_status entropy_forward(naive *n, ss_error *err)
{
    return entropy_of(n, n->in[0], err);
}

static void entropy_backward(naive *n)
{
    entropy_back(n, n->din[0]);
}

const naive_kind naive_softmax_cross_entropy = {"softmax_cross_entropy", entropy_forward,
                                                entropy_backward};

/* The softmax is worked out over the products, in place. */
static ss_status linear_softmax_forward(naive *n, ss_error *err)
{
    int64_t i[SS_MAX_DIMS];
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i))
        n->out[0][naive_place(&n->main, i)] = naive_product_at(n, i);
    return entropy_of(n, n->out[0], err);
}

/* dout, which a loss does not look at, is room for the gradient of the products. */
static void linear_softmax_backward(naive *n)
{
    entropy_back(n, n->dout[0]);
    int64_t i[SS_MAX_DIMS];
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i))
        naive_product_back(n, i, n->dout[0][naive_place(&n->main, i)]);
}

const naive_kind naive_linear_softmax = {"linear_softmax", linear_softmax_forward,
                                         linear_softmax_backward};

/* The difference of element i from the second input or, without one, from the label. */
static double difference(const naive *n, int64_t i)
{
    return n->in[0][i] - (n->op->inputs > 1 ? n->in[1][i] : (double)((const float *)n->label)[i]);
}

static ss_status squared_forward(naive *n, ss_error *err)
{
    (void)err;
    for (int64_t i = 0; i < ss_box_elements(&n->main); i++) {
        n->out[0][i] = difference(n, i) * difference(n, i);
        n->loss += n->out[0][i] / ss_kernel_loss_count(n->op);
    }
    return SS_OK;
}

static void squared_backward(naive *n)
{
    for (int64_t i = 0; i < ss_box_elements(&n->main); i++) {
        n->din[0][i] = 2 * difference(n, i) / ss_kernel_loss_count(n->op);
        if (n->op->inputs > 1)
            n->din[1][i] = -n->din[0][i];
    }
}

const naive_kind naive_squared_error = {"squared_error", squared_forward, squared_backward};
