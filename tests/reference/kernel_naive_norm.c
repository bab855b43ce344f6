#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/op_kinds.h"
#include "reference/kernel_naive_inside.h"

/* Elements that are normalised together are a group: those of a channel (batch_norm), or of a position. */
typedef struct groups {
    bool by_channel, centred;
    uint32_t channel;
    int64_t n;
    double each;             /* elements of a group */
    double *mean, *root;     /* of each group */
    double *gradient, *back; /* of each group: means that backward needs */
} groups;

static int64_t group_of(const naive *n, const groups *g, const int64_t *i)
{
    if (g->by_channel)
        return i[g->channel] - n->main.lo[g->channel];
    int64_t position[SS_MAX_DIMS];
    memcpy(position, i, sizeof position);
    position[g->channel] = 0;
    ss_box positions = n->main;
    positions.lo[g->channel] = 0;
    positions.hi[g->channel] = 1;
    return naive_place(&positions, position);
}

static double *zeros(int64_t n)
{
    double *a = ss_alloc_zeroed((size_t)n, sizeof *a);
    if (!a)
        exit(1);
    return a;
}

static void groups_free(groups *g)
{
    ss_free(g->mean);
    ss_free(g->root);
    ss_free(g->gradient);
    ss_free(g->back);
}

static groups groups_of(const naive *n, bool by_channel, bool centred)
{
    groups g = {
        .by_channel = by_channel, .centred = centred, .channel = ss_op_channel(&n->op->out[0])};
    int64_t all = ss_box_elements(&n->main),
            channels = n->main.hi[g.channel] - n->main.lo[g.channel], i[SS_MAX_DIMS];
    g.n = by_channel ? channels : all / channels;
    g.each = (double)all / (double)g.n;
    g.mean = zeros(g.n);
    g.root = zeros(g.n);
    g.gradient = zeros(g.n);
    g.back = zeros(g.n);
    for (bool more = naive_first(&n->main, i); more && centred; more = naive_next(&n->main, i))
        g.mean[group_of(n, &g, i)] += n->in[0][naive_place(&n->main, i)] / g.each;
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i)) {
        int64_t k = group_of(n, &g, i);
        g.root[k] += pow(n->in[0][naive_place(&n->main, i)] - g.mean[k], 2) / g.each;
    }
    for (int64_t k = 0; k < g.n; k++)
        g.root[k] = 1 / sqrt(g.root[k] + (double)SS_KERNEL_EPSILON);
    return g;
}

static double normal(const naive *n, const groups *g, const int64_t *i)
{
    int64_t k = group_of(n, g, i);
    return (n->in[0][naive_place(&n->main, i)] - g->mean[k]) * g->root[k];
}

static int64_t weight_place(const naive *n, const groups *g, const int64_t *i)
{
    return AT(&n->weight_box[0], i[g->channel]);
}

static ss_status norm_forward(naive *n, bool by_channel, bool centred)
{
    groups g = groups_of(n, by_channel, centred);
    int64_t i[SS_MAX_DIMS];
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i)) {
        int64_t w = weight_place(n, &g, i);
        n->out[0][naive_place(&n->main, i)] =
            normal(n, &g, i) * n->weight[0][w] + (n->op->weights > 1 ? n->weight[1][w] : 0);
    }
    groups_free(&g);
    return SS_OK;
}

/* An element moves its group's mean and root, and so every element of the group. */
static void norm_backward(naive *n, bool by_channel, bool centred)
{
    groups g = groups_of(n, by_channel, centred);
    int64_t i[SS_MAX_DIMS];
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i)) {
        int64_t k = group_of(n, &g, i), w = weight_place(n, &g, i);
        double dy = n->dout[0][naive_place(&n->main, i)];
        n->dweight[0][w] += dy * normal(n, &g, i);
        if (n->op->weights > 1)
            n->dweight[1][w] += dy;
        g.gradient[k] += centred ? dy * n->weight[0][w] / g.each : 0;
        g.back[k] += dy * n->weight[0][w] * normal(n, &g, i) / g.each;
    }
    for (bool more = naive_first(&n->main, i); more; more = naive_next(&n->main, i)) {
        int64_t at = naive_place(&n->main, i), k = group_of(n, &g, i);
        n->din[0][at] = g.root[k] * (n->dout[0][at] * n->weight[0][weight_place(n, &g, i)] -
                                     g.gradient[k] - normal(n, &g, i) * g.back[k]);
    }
    groups_free(&g);
}

#define NORM(kind, by_channel, centred)                                                            \
    static ss_status kind##_forward(naive *n, ss_error *err)                                       \
    {                                                                                              \
        (void)err;                                                                                 \
        return norm_forward(n, by_channel, centred);                                               \
    }                                                                                              \
    static void kind##_backward(naive *n)                                                          \
    {                                                                                              \
        norm_backward(n, by_channel, centred);                                                     \
    }                                                                                              \
    const naive_kind naive_##kind = {#kind, kind##_forward, kind##_backward}

NORM(batch_norm, true, true);
NORM(layer_norm, false, true);
NORM(rms_norm, false, false);
