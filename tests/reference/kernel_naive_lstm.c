#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "graph/op_kinds.h"
#include "reference/kernel_naive_inside.h"

/* One sample at a time.  h[t + 1] and c[t + 1] are those after step t; gates in the order i, f, g, o. */
typedef struct run {
    int64_t steps, in, units;
    double *h, *c, *gate; /* [t][unit], [t][unit], [t][gate][unit] */
} run;

static run open_run(const naive *n)
{
    run r = {
        n->op->in[0].extent[1], n->op->in[0].extent[2], n->op->out[0].extent[2], NULL, NULL, NULL};
    size_t states = (size_t)((r.steps + 1) * r.units);
    r.h = ss_alloc_zeroed(states, sizeof *r.h);
    r.c = ss_alloc_zeroed(states, sizeof *r.c);
    r.gate = ss_alloc_zeroed(4 * states, sizeof *r.gate);
    if (!r.h || !r.c || !r.gate)
        abort();
    return r;
}

static void close_run(run *r)
{
    ss_free(r->h);
    ss_free(r->c);
    ss_free(r->gate);
}

/* What a row of w, `row` = gate x units + unit, makes of x and of the state before. */
static double z_at(const naive *n, const run *r, int64_t s, int64_t t, int64_t row)
{
    double z = 0;
    for (int64_t k = 0; k < r->in; k++)
        z += n->weight[0][AT(&n->weight_box[0], row, k)] * n->in[0][AT(&n->in_box[0], s, t, k)];
    for (int64_t k = 0; k < r->units; k++)
        z += n->weight[0][AT(&n->weight_box[0], row, r->in + k)] * r->h[t * r->units + k];
    if (n->op->weights > 1)
        z += n->weight[1][row] + n->weight[1][4 * r->units + row];
    return z;
}

static void play(const naive *n, run *r, int64_t s)
{
    for (int64_t u = 0; u < r->units && n->op->inputs > 1; u++) {
        r->h[u] = n->in[1][AT(&n->in_box[1], s, 0, u)];
        r->c[u] = n->in[2][AT(&n->in_box[2], s, 0, u)];
    }
    for (int64_t t = 0; t < r->steps; t++)
        for (int64_t u = 0; u < r->units; u++) {
            double *gate = r->gate + t * 4 * r->units + u;
            for (int64_t g = 0; g < 4; g++)
                gate[g * r->units] = naive_function(g == 2 ? SS_ACT_TANH : SS_ACT_SIGMOID,
                                                    z_at(n, r, s, t, g * r->units + u));
            double i = gate[0], f = gate[r->units], g = gate[2 * r->units], o = gate[3 * r->units];
            int64_t before = t * r->units + u, after = before + r->units;
            r->c[after] = f * r->c[before] + i * g;
            r->h[after] = o * tanh(r->c[after]);
        }
}

static ss_status lstm_forward(naive *n, ss_error *err)
{
    (void)err;
    run r = open_run(n);
    for (int64_t s = n->main.lo[0]; s < n->main.hi[0]; s++) {
        play(n, &r, s);
        for (int64_t u = 0; u < r.units; u++) {
            for (int64_t t = 0; t < r.steps; t++)
                n->out[0][AT(&n->out_box[0], s, t, u)] = r.h[(t + 1) * r.units + u];
            for (int64_t row = 0; row < n->op->out[1].extent[1]; row++) {
                n->out[1][AT(&n->out_box[1], s, row, u)] = r.h[r.steps * r.units + u];
                n->out[2][AT(&n->out_box[2], s, row, u)] = r.c[r.steps * r.units + u];
            }
        }
    }
    close_run(&r);
    return SS_OK;
}

/* Gradients of the states after each step, [t][unit], as far as they are known. */
static void z_back(naive *n, const run *r, double *dh, int64_t s, int64_t t, int64_t row, double dz)
{
    for (int64_t k = 0; k < r->in; k++) {
        int64_t w = AT(&n->weight_box[0], row, k), x = AT(&n->in_box[0], s, t, k);
        n->dweight[0][w] += dz * n->in[0][x];
        n->din[0][x] += dz * n->weight[0][w];
    }
    for (int64_t k = 0; k < r->units; k++) {
        int64_t w = AT(&n->weight_box[0], row, r->in + k), h = t * r->units + k;
        n->dweight[0][w] += dz * r->h[h];
        dh[h] += dz * n->weight[0][w];
    }
    if (n->op->weights > 1) {
        n->dweight[1][row] += dz;
        n->dweight[1][4 * r->units + row] += dz;
    }
}

static void unit_back(naive *n, const run *r, double *dh, double *dc, int64_t s, int64_t t,
                      int64_t u)
{
    int64_t before = t * r->units + u, after = before + r->units;
    const double *gate = r->gate + t * 4 * r->units + u;
    double i = gate[0], f = gate[r->units], g = gate[2 * r->units], o = gate[3 * r->units];
    double squashed = tanh(r->c[after]);
    dc[after] += dh[after] * o * (1 - squashed * squashed);
    dc[before] += dc[after] * f;
    z_back(n, r, dh, s, t, u, dc[after] * g * i * (1 - i));
    z_back(n, r, dh, s, t, r->units + u, dc[after] * r->c[before] * f * (1 - f));
    z_back(n, r, dh, s, t, 2 * r->units + u, dc[after] * i * (1 - g * g));
    z_back(n, r, dh, s, t, 3 * r->units + u, dh[after] * squashed * o * (1 - o));
}

static void sample_back(naive *n, const run *r, double *dh, double *dc, int64_t s)
{
    int64_t last = r->steps * r->units;
    for (int64_t u = 0; u < r->units; u++) {
        for (int64_t t = 0; t <= r->steps; t++)
            dc[t * r->units + u] = 0;
        for (int64_t t = 0; t <= r->steps; t++)
            dh[t * r->units + u] = t ? n->dout[0][AT(&n->out_box[0], s, t - 1, u)] : 0;
        for (int64_t row = 0; row < n->op->out[1].extent[1]; row++) {
            dh[last + u] += n->dout[1][AT(&n->out_box[1], s, row, u)];
            dc[last + u] += n->dout[2][AT(&n->out_box[2], s, row, u)];
        }
    }
    for (int64_t t = r->steps; t-- > 0;)
        for (int64_t u = 0; u < r->units; u++)
            unit_back(n, r, dh, dc, s, t, u);
    for (int64_t u = 0; u < r->units && n->op->inputs > 1; u++) {
        n->din[1][AT(&n->in_box[1], s, 0, u)] = dh[u];
        n->din[2][AT(&n->in_box[2], s, 0, u)] = dc[u];
    }
}

static void lstm_backward(naive *n)
{
    run r = open_run(n), d = open_run(n); /* of d only h and c are used */
    for (int64_t s = n->main.lo[0]; s < n->main.hi[0]; s++) {
        play(n, &r, s);
        sample_back(n, &r, d.h, d.c, s);
    }
    close_run(&r);
    close_run(&d);
}

const naive_kind naive_lstm = {"lstm", lstm_forward, lstm_backward};
