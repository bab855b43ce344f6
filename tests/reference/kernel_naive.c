#include "reference/kernel_naive_inside.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "graph/op_kinds.h"

#define KIND(name) &naive_##name,
static const naive_kind *const kinds[] = {NAIVE_KINDS(KIND)};
#undef KIND

enum { KINDS = sizeof kinds / sizeof kinds[0] };

int64_t naive_place(const ss_box *b, const int64_t *i)
{
    int64_t place = 0;
    for (uint32_t d = 0; d < b->rank; d++)
        place = place * (b->hi[d] - b->lo[d]) + i[d] - b->lo[d];
    return place;
}

bool naive_first(const ss_box *b, int64_t *i)
{
    memcpy(i, b->lo, b->rank * sizeof *i);
    return !ss_box_empty(b);
}

bool naive_next(const ss_box *b, int64_t *i)
{
    for (uint32_t d = b->rank; d-- > 0;) {
        if (++i[d] < b->hi[d])
            return true;
        i[d] = b->lo[d];
    }
    return false;
}

static const double pi = 3.14159265358979323846;

double naive_function(int64_t activation, double x)
{
    switch (activation) {
    case SS_ACT_RELU:
        return x > 0 ? x : 0;
    case SS_ACT_GELU:
        return x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
    case SS_ACT_TANH:
        return tanh(x);
    case SS_ACT_SIGMOID:
        return 1 / (1 + exp(-x));
    default:
        return x;
    }
}

double naive_derivative(int64_t activation, double x)
{
    double y = naive_function(activation, x);
    switch (activation) {
    case SS_ACT_RELU:
        return x > 0;
    case SS_ACT_GELU: {
        double t = tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x));
        return (1 + t) / 2 + x / 2 * (1 - t * t) * sqrt(2 / pi) * (1 + 3 * 0.044715 * x * x);
    }
    case SS_ACT_TANH:
        return 1 - y * y;
    case SS_ACT_SIGMOID:
        return y * (1 - y);
    default:
        return 1;
    }
}

void naive_probabilities(int64_t n, int64_t step, const double *x, double *y)
{
    double largest = x[0], sum = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, x[i * step]);
    for (int64_t i = 0; i < n; i++)
        sum += exp(x[i * step] - largest);
    for (int64_t i = 0; i < n; i++)
        y[i * step] = exp(x[i * step] - largest) / sum;
}

void naive_probabilities_back(int64_t n, int64_t step, const double *y, const double *dy, double *dx)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += y[i * step] * dy[i * step];
    for (int64_t i = 0; i < n; i++)
        dx[i * step] = y[i * step] * (dy[i * step] - sum);
}

/* Arrays of a part, from floats and back */

typedef struct naive_kernel {
    ss_kernel k;
    const naive_kind *kind;
} naive_kernel;

static double *doubles_of(const float *from, const ss_box *b)
{
    int64_t n = ss_box_elements(b);
    double *to = ss_alloc_zeroed((size_t)n, sizeof *to);
    for (int64_t i = 0; to && from && i < n; i++)
        to[i] = from[i];
    return to;
}

static void close_part(naive *n)
{
    for (uint32_t i = 0; i < n->op->inputs; i++) {
        ss_free(n->in[i]);
        ss_free(n->din[i]);
    }
    for (uint32_t w = 0; w < n->op->weights; w++) {
        ss_free(n->weight[w]);
        ss_free(n->dweight[w]);
    }
    for (uint32_t o = 0; o < n->op->outputs; o++) {
        ss_free(n->out[o]);
        ss_free(n->dout[o]);
    }
    ss_free(n);
}

static bool open_inputs(naive *n, const ss_kernel_io *io)
{
    bool ok = true;
    for (uint32_t i = 0; i < n->op->inputs; i++) {
        ss_op_input_box(n->op, i, &n->main, &n->in_box[i]);
        if (n->op->kind->no_input_gradient)
            n->index = io->in[0];
        n->in[i] = doubles_of(n->index ? NULL : io->in[i], &n->in_box[i]);
        n->din[i] = doubles_of(NULL, &n->in_box[i]);
        ok = ok && n->in[i] && n->din[i];
    }
    return ok;
}

static naive *open_part(const ss_kernel *k, const ss_kernel_io *io)
{
    const ss_op_def *op = k->op;
    naive *n = ss_alloc_zeroed(1, sizeof *n);
    if (!n)
        return NULL;
    n->op = op;
    n->main = k->main;
    n->label = io->label;
    bool ok = open_inputs(n, io);
    for (uint32_t w = 0; w < op->weights; w++) {
        ss_op_weight_box(op, w, &k->main, &n->weight_box[w]);
        n->weight[w] = doubles_of(io->weight[w], &n->weight_box[w]);
        n->dweight[w] = doubles_of(NULL, &n->weight_box[w]);
        ok = ok && n->weight[w] && n->dweight[w];
    }
    for (uint32_t o = 0; o < op->outputs; o++) {
        ss_op_output_box(op, o, &k->main, &n->out_box[o]);
        n->out[o] = doubles_of(NULL, &n->out_box[o]);
        n->dout[o] = doubles_of(io->out_gradient[o], &n->out_box[o]);
        ok = ok && n->out[o] && n->dout[o];
    }
    if (ok)
        return n;
    close_part(n);
    return NULL;
}

static void give(float *to, const double *from, const ss_box *b, bool add)
{
    for (int64_t i = 0, all = ss_box_elements(b); to && i < all; i++)
        to[i] = (float)(from[i] + (add ? to[i] : 0));
}

static ss_status forward(ss_kernel *k, const ss_kernel_io *io, ss_error *err)
{
    naive *n = open_part(k, io);
    if (!n)
        return ss_fail_memory(err, "a slow kernel", sizeof *n);
    ss_status s = ((naive_kernel *)k)->kind->forward(n, err);
    for (uint32_t o = 0; o < k->op->outputs && !s; o++)
        give(io->out[o], n->out[o], &n->out_box[o], false);
    if (!s && k->op->kind->is_loss)
        *io->loss = n->loss;
    close_part(n);
    return s;
}

static ss_status backward(ss_kernel *k, const ss_kernel_io *io, unsigned what, ss_error *err)
{
    naive *n = open_part(k, io);
    if (!n)
        return ss_fail_memory(err, "a slow kernel", sizeof *n);
    ss_status s = ((naive_kernel *)k)->kind->forward(n, err);
    if (!s)
        ((naive_kernel *)k)->kind->backward(n);
    for (uint32_t i = 0; i < k->op->inputs && (what & SS_OF_INPUTS) && !s; i++)
        give(io->in_gradient[i], n->din[i], &n->in_box[i], false);
    for (uint32_t w = 0; w < k->op->weights && (what & SS_OF_WEIGHTS) && !s; w++)
        give(io->weight_gradient[w], n->dweight[w], &n->weight_box[w], io->add_weight_gradient);
    close_part(n);
    return s;
}

static void free_kernel(ss_kernel *k)
{
    ss_free(k);
}

static ss_status make(void *context, const ss_op_def *op, const ss_box *main, ss_kernel **out,
                      ss_error *err)
{
    (void)context;
    *out = NULL;
    uint32_t i = 0;
    while (i < KINDS && strcmp(kinds[i]->name, op->kind->name) != 0)
        i++;
    if (i == KINDS)
        return ss_fail(err, SS_EUNSUPPORTED, "%s has no slow kernel", op->kind->name);
    ss_status s = ss_kernel_check(op, main, err);
    if (s)
        return s;
    naive_kernel *k = ss_alloc_zeroed(1, sizeof *k);
    if (!k)
        return ss_fail_memory(err, "a slow kernel", sizeof *k);
    k->k = (ss_kernel){op, *main, forward, backward, free_kernel};
    k->kind = kinds[i];
    *out = &k->k;
    return SS_OK;
}

ss_kernel_maker kernel_naive(void)
{
    return (ss_kernel_maker){NULL, make};
}
