/* kernel_lstm.c - a block of steps of a long short-term memory layer.
 *
 *     z(t) = x(t) Wx' + h(t-1) Wh' + b          w = [Wx Wh], 4 units rows: gates i, f, g, o
 *     i, f, o = sigmoid of their z; g = tanh of its own
 *     c(t) = f c(t-1) + i g;  h(t) = o tanh(c(t));  y(t) = h(t)
 *
 * b is two biases added: of the input the first 4 units numbers, of the state the rest (the layout of cuDNN and
 * PyTorch).  Without states in, h and c start as 0.  Of a state that comes in row 0 is read, and its other rows
 * get no gradient; a state that goes out holds the last step's in every row.  (More rows than one are there for
 * their bytes: state_steps.)
 *
 * Rows of all arrays here are step by step, of the tensors sample by sample; they are copied, so that what does
 * not wait for the step before is one product over all steps.
 */
#include "validation/operators/onednn_inside.h"

#include <string.h>

#include "graph/op_kinds.h"

enum { I, F, G, O, GATES };

typedef struct lstm {
    ss_onednn_part part;
    int64_t samples, steps, in, units, state_rows;
    int64_t given_rows; /* of the states that come in; 0: there are none */
    bool bias;
    ss_onednn_call sigmoid, tanh; /* of one step: all gates; cells */
    float *x;                     /* steps x samples x in */
    float *h, *c;                 /* (1 + steps) x samples x units: from before the first step on */
    float *gates, *squashed;      /* steps x samples x 4 units; tanh(c), steps x samples x units */
    float *dgates, *dx;           /* gradients of z, and of x */
    float *dh, *dc;               /* samples x units: what a step gets from the one behind it */
    float *db;                    /* 4 units */
} lstm;

static void lstm_sizes(lstm *l)
{
    const ss_op_def *op = l->part.kernel.op;
    ss_box x = ss_onednn_in(&l->part, 0), state = ss_onednn_out(&l->part, 1);
    l->samples = ss_onednn_extent(&x, 0);
    l->steps = ss_onednn_extent(&x, 1);
    l->in = ss_onednn_extent(&x, 2);
    l->units = ss_onednn_extent(&state, 2);
    l->state_rows = ss_onednn_extent(&state, 1);
    l->given_rows = op->inputs > 1 ? op->in[1].extent[1] : 0;
    l->bias = op->weights > 1;
}

static ss_status lstm_make(ss_onednn_part *part, ss_error *err)
{
    lstm *l = (lstm *)part;
    lstm_sizes(l);
    int64_t state = l->samples * l->units, rows = l->steps * l->samples;
    const struct {
        float **at;
        int64_t n;
    } arrays[] = {{&l->x, rows * l->in},
                  {&l->h, state + rows * l->units},
                  {&l->c, state + rows * l->units},
                  {&l->gates, rows * GATES * l->units},
                  {&l->squashed, rows * l->units},
                  {&l->dgates, rows * GATES * l->units},
                  {&l->dx, rows * l->in},
                  {&l->dh, state},
                  {&l->dc, state},
                  {&l->db, GATES * l->units}};
    ss_status s = SS_OK;
    for (size_t a = 0; a < sizeof arrays / sizeof arrays[0] && !s; a++)
        s = ss_onednn_floats(part, arrays[a].n, arrays[a].at, err);
    if (!s)
        s = ss_onednn_map_make(part, &l->sigmoid, "gates", dnnl_eltwise_logistic, GATES * state,
                               err);
    if (!s)
        s = ss_onednn_map_make(part, &l->tanh, "cells", dnnl_eltwise_tanh, state, err);
    return s;
}

/* Rows outer by outer (n of them) become rows inner by inner (m). */
static void swap_rows(int64_t n, int64_t m, int64_t width, const float *from, float *to)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            memcpy(to + (j * n + i) * width, from + (i * m + j) * width,
                   (size_t)width * sizeof *to);
}

/* Row 0 of a state of each sample, or zeros. */
static void read_state(const lstm *l, const float *given, float *to)
{
    if (!given)
        memset(to, 0, (size_t)(l->samples * l->units) * sizeof *to);
    for (int64_t n = 0; given && n < l->samples; n++)
        memcpy(to + n * l->units, given + n * l->given_rows * l->units,
               (size_t)l->units * sizeof *to);
}

static void write_state(const lstm *l, const float *last, float *to)
{
    for (int64_t n = 0; n < l->samples; n++)
        for (int64_t r = 0; r < l->state_rows; r++)
            memcpy(to + (n * l->state_rows + r) * l->units, last + n * l->units,
                   (size_t)l->units * sizeof *to);
}

static void add_biases(const lstm *l, const float *b)
{
    int64_t all = GATES * l->units;
    for (int64_t r = 0; r < l->steps * l->samples; r++) {
        float *z = l->gates + r * all;
#pragma omp simd
        for (int64_t u = 0; u < all; u++)
            z[u] += b[u] + b[all + u];
    }
}

static void scale_g(const lstm *l, float *gates, float by, float add)
{
    for (int64_t n = 0; n < l->samples; n++) {
        float *g = gates + (n * GATES + G) * l->units;
#pragma omp simd
        for (int64_t u = 0; u < l->units; u++)
            g[u] = g[u] * by + add;
    }
}

static void new_cells(const lstm *l, const float *gates, const float *before, float *c)
{
    int64_t units = l->units;
    for (int64_t n = 0; n < l->samples; n++) {
        const float *i = gates + (n * GATES + I) * units, *f = gates + (n * GATES + F) * units,
                    *g = gates + (n * GATES + G) * units;
#pragma omp simd
        for (int64_t u = 0; u < units; u++)
            c[n * units + u] = f[u] * before[n * units + u] + i[u] * g[u];
    }
}

static void new_outputs(const lstm *l, const float *gates, const float *squashed, float *h)
{
    int64_t units = l->units;
    for (int64_t n = 0; n < l->samples; n++) {
        const float *o = gates + (n * GATES + O) * units;
#pragma omp simd
        for (int64_t u = 0; u < units; u++)
            h[n * units + u] = o[u] * squashed[n * units + u];
    }
}

static ss_status step_forward(lstm *l, const ss_kernel_io *io, int64_t t, ss_error *err)
{
    int64_t state = l->samples * l->units, all = GATES * l->units;
    float *gates = l->gates + t * GATES * state, *h = l->h + t * state, *c = l->c + t * state,
          *squashed = l->squashed + t * state;
    ss_status s = ss_onednn_product(l->samples, all, l->units, ss_plain(h, l->units),
                                    ss_transposed(io->weight[0] + l->in, l->in + l->units), true,
                                    gates, all, err);
    if (s)
        return s;
    scale_g(l, gates, 2, 0); /* tanh(z) = 2 sigmoid(2 z) - 1: one call serves all four gates */
    s = ss_onednn_map(&l->part, &l->sigmoid, gates, gates, err);
    scale_g(l, gates, 2, -1);
    new_cells(l, gates, c, c + state);
    if (!s)
        s = ss_onednn_map(&l->part, &l->tanh, c + state, squashed, err);
    new_outputs(l, gates, squashed, h + state);
    return s;
}

static ss_status lstm_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    lstm *l = (lstm *)part;
    int64_t rows = l->steps * l->samples, state = l->samples * l->units, all = GATES * l->units;
    swap_rows(l->samples, l->steps, l->in, io->in[0], l->x);
    read_state(l, l->given_rows ? io->in[1] : NULL, l->h);
    read_state(l, l->given_rows ? io->in[2] : NULL, l->c);
    ss_status s = ss_onednn_product(rows, all, l->in, ss_plain(l->x, l->in),
                                    ss_transposed(io->weight[0], l->in + l->units), false, l->gates,
                                    all, err);
    if (!s && l->bias)
        add_biases(l, io->weight[1]);
    for (int64_t t = 0; t < l->steps && !s; t++)
        s = step_forward(l, io, t, err);
    swap_rows(l->steps, l->samples, l->units, l->h + state, io->out[0]);
    write_state(l, l->h + l->steps * state, io->out[1]);
    write_state(l, l->c + l->steps * state, io->out[2]);
    return s;
}

/* Backward */

/* The gradient of the last step's state: the sum over the rows that hold it. */
static void gather_state(const lstm *l, const float *given, float *to)
{
    for (int64_t n = 0; n < l->samples; n++) {
        float *row = to + n * l->units;
        if (given)
            ss_onednn_sum_rows(l->state_rows, l->units, given + n * l->state_rows * l->units, false,
                               row);
        else
            memset(row, 0, (size_t)l->units * sizeof *row);
    }
}

static void scatter_state(const lstm *l, const float *from, float *to)
{
    memset(to, 0, (size_t)(l->samples * l->given_rows * l->units) * sizeof *to);
    for (int64_t n = 0; n < l->samples; n++)
        memcpy(to + n * l->given_rows * l->units, from + n * l->units,
               (size_t)l->units * sizeof *to);
}

static void add_step_of(const lstm *l, const float *dy, int64_t t)
{
    for (int64_t n = 0; dy && n < l->samples; n++) {
        const float *from = dy + (n * l->steps + t) * l->units;
        float *to = l->dh + n * l->units;
#pragma omp simd
        for (int64_t u = 0; u < l->units; u++)
            to[u] += from[u];
    }
}

/* From the gradients of h and c of a step (dh, dc) those of its z, and of c of the step before (dc again). */
static void gates_backward(const lstm *l, int64_t t)
{
    int64_t units = l->units, state = l->samples * units;
    const float *gates = l->gates + t * GATES * state, *before = l->c + t * state,
                *squashed = l->squashed + t * state;
    float *dgates = l->dgates + t * GATES * state;
    for (int64_t n = 0; n < l->samples; n++) {
        const float *i = gates + (n * GATES + I) * units, *f = gates + (n * GATES + F) * units,
                    *g = gates + (n * GATES + G) * units, *o = gates + (n * GATES + O) * units;
        float *di = dgates + (n * GATES + I) * units, *df = dgates + (n * GATES + F) * units,
              *dg = dgates + (n * GATES + G) * units, *d_o = dgates + (n * GATES + O) * units;
#pragma omp simd
        for (int64_t u = 0; u < units; u++) {
            float tc = squashed[n * units + u], dh = l->dh[n * units + u];
            float dc = l->dc[n * units + u] + dh * o[u] * (1 - tc * tc);
            di[u] = dc * g[u] * i[u] * (1 - i[u]);
            df[u] = dc * before[n * units + u] * f[u] * (1 - f[u]);
            dg[u] = dc * i[u] * (1 - g[u] * g[u]);
            d_o[u] = dh * tc * o[u] * (1 - o[u]);
            l->dc[n * units + u] = dc * f[u];
        }
    }
}

static ss_status steps_backward(lstm *l, const ss_kernel_io *io, ss_error *err)
{
    int64_t state = l->samples * l->units, all = GATES * l->units;
    gather_state(l, io->out_gradient[1], l->dh);
    gather_state(l, io->out_gradient[2], l->dc);
    ss_status s = SS_OK;
    for (int64_t t = l->steps; t-- > 0 && !s;) {
        add_step_of(l, io->out_gradient[0], t);
        gates_backward(l, t);
        s = ss_onednn_product(
            l->samples, l->units, all, ss_plain(l->dgates + t * GATES * state, all),
            ss_plain(io->weight[0] + l->in, l->in + l->units), false, l->dh, l->units, err);
    }
    return s;
}

static ss_status inputs_backward(lstm *l, const ss_kernel_io *io, unsigned what, ss_error *err)
{
    ss_status s = SS_OK;
    if (ss_onednn_wants_input(io, what, 0)) {
        s = ss_onednn_product(l->steps * l->samples, l->in, GATES * l->units,
                              ss_plain(l->dgates, GATES * l->units),
                              ss_plain(io->weight[0], l->in + l->units), false, l->dx, l->in, err);
        swap_rows(l->steps, l->samples, l->in, l->dx, io->in_gradient[0]);
    }
    if (l->given_rows && ss_onednn_wants_input(io, what, 1))
        scatter_state(l, l->dh, io->in_gradient[1]);
    if (l->given_rows && ss_onednn_wants_input(io, what, 2))
        scatter_state(l, l->dc, io->in_gradient[2]);
    return s;
}

static ss_status weights_backward(lstm *l, const ss_kernel_io *io, unsigned what, ss_error *err)
{
    int64_t rows = l->steps * l->samples, all = GATES * l->units, row = l->in + l->units;
    ss_status s = SS_OK;
    if (ss_onednn_wants_weight(io, what, 0)) {
        float *dw = io->weight_gradient[0];
        s = ss_onednn_product(all, l->in, rows, ss_transposed(l->dgates, all),
                              ss_plain(l->x, l->in), io->add_weight_gradient, dw, row, err);
        if (!s)
            s = ss_onednn_product(all, l->units, rows, ss_transposed(l->dgates, all),
                                  ss_plain(l->h, l->units), io->add_weight_gradient, dw + l->in,
                                  row, err);
    }
    if (!l->bias || !ss_onednn_wants_weight(io, what, 1))
        return s;
    ss_onednn_sum_rows(rows, all, l->dgates, false, l->db);
    for (int64_t of = 0; of < 2; of++) /* both biases are added to the same z */
        ss_onednn_sum_rows(1, all, l->db, io->add_weight_gradient,
                           io->weight_gradient[1] + of * all);
    return s;
}

static ss_status lstm_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                               ss_error *err)
{
    lstm *l = (lstm *)part;
    ss_status s = steps_backward(l, io, err);
    if (!s)
        s = inputs_backward(l, io, what, err);
    if (!s)
        s = weights_backward(l, io, what, err);
    return s;
}

const ss_onednn_kind ss_onednn_lstm = {
    "lstm", sizeof(lstm), lstm_make, lstm_forward, lstm_backward,
};
