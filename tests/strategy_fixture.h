/* strategy_fixture.h - models and clusters small enough to reason about. */
#ifndef SS_STRATEGY_FIXTURE_H
#define SS_STRATEGY_FIXTURE_H

#include "check.h"
#include "graph/strategy.h"

static ss_error err;

static inline void fixture_failed(void)
{
    printf("fixture: %s\n", err.text);
    exit(99);
}

/* Adds an operator; attributes are pairs of name and value, ended by NULL. */
static inline ss_tensor fixture_op(ss_model *m, const char *kind, const char *name, uint32_t layer,
                                   const ss_tensor *in, uint32_t inputs, const char *a, int64_t av,
                                   const char *b, int64_t bv)
{
    ss_op_spec spec = ss_op_spec_start(ss_op_kind_find(kind), name);
    spec.in = in;
    spec.inputs = inputs;
    spec.layer = layer;
    for (uint32_t i = 0; i < ss_op_kind_attrs(spec.kind); i++) {
        if (a && !strcmp(spec.kind->attr[i].name, a))
            spec.attr[i] = av;
        if (b && !strcmp(spec.kind->attr[i].name, b))
            spec.attr[i] = bv;
        if (!strncmp(spec.kind->attr[i].name, "kernel_", 7))
            spec.attr[i] = 3;
    }
    ss_op op;
    if (ss_model_add(m, &spec, &op, &err))
        fixture_failed();
    return m->op[op.i].out[0];
}

/* conv1 (n c h w), pool2, flat3, fc4 (n c), relu5, fc6, loss7; images of 3 x 13 x 11. */
static inline ss_model *fixture_cnn(int64_t batch)
{
    ss_model *m;
    ss_tensor x;
    ss_shape s = {.dtype = SS_F32, .rank = 4, .extent = {batch, 3, 13, 11}};
    if (ss_model_new("little", &m, &err) || ss_model_input(m, "x", &s, &x, &err))
        fixture_failed();
    x = fixture_op(m, "conv2d", "conv1", 0, &x, 1, "out", 10, NULL, 0);
    x = fixture_op(m, "pool2d", "pool2", 0, &x, 1, NULL, 0, NULL, 0);
    x = fixture_op(m, "flatten", "flat3", 0, &x, 1, NULL, 0, NULL, 0);
    x = fixture_op(m, "linear", "fc4", 0, &x, 1, "out", 77, NULL, 0);
    x = fixture_op(m, "relu", "relu5", 0, &x, 1, NULL, 0, NULL, 0);
    x = fixture_op(m, "linear", "fc6", 0, &x, 1, "out", 5, NULL, 0);
    fixture_op(m, "softmax_cross_entropy", "loss7", 0, &x, 1, NULL, 0, NULL, 0);
    return m;
}

/* The 2018 translation model in small: layers 1 source and 2 target embedding, 3 and 5 encoder, 4
 * and 6 decoder, 7 a layer in place of attention, 8 output. Two blocks of steps. */
static inline ss_model *fixture_rnn(int64_t batch)
{
    enum { BLOCKS = 2 };
    ss_model *m;
    ss_tensor words[2 * BLOCKS], state[3][2] = {{{0}}}, x[BLOCKS];
    ss_shape s = {.dtype = SS_I32, .rank = 2, .extent = {batch, 4}};
    static const char *const side[] = {"src", "dst"};
    char name[32];
    if (ss_model_new("rnn", &m, &err))
        fixture_failed();
    for (int k = 0; k < 2 * BLOCKS; k++) {
        snprintf(name, sizeof name, "words%d", k);
        if (ss_model_input(m, name, &s, &words[k], &err))
            fixture_failed();
    }
    for (int k = 0; k < 2; k++) {
        for (int b = 0; b < BLOCKS; b++) {
            snprintf(name, sizeof name, "%s_embed.%d", side[k], b);
            x[b] = fixture_op(m, "embedding", name, (uint32_t)k + 1, &words[BLOCKS * k + b], 1,
                              "vocab", 50, "out", 16);
        }
        for (uint32_t l = 0; l < (k ? 3U : 2U); l++)
            for (int b = 0; b < BLOCKS; b++) {
                ss_tensor in[3] = {x[b], state[l][0], state[l][1]};
                uint32_t layer = l == 2 ? 7 : 3 + (uint32_t)k + 2 * l;
                snprintf(name, sizeof name, "%s_lstm%u.%d", side[k], l + 1, b);
                x[b] = fixture_op(m, "lstm", name, layer, in, state[l][0].i ? 3 : 1, "hidden", 16,
                                  NULL, 0);
                const ss_op_row *row = &m->op[m->ops];
                state[l][0] = row->out[1];
                state[l][1] = row->out[2];
            }
    }
    for (int b = 0; b < BLOCKS; b++) {
        snprintf(name, sizeof name, "out.%d", b);
        ss_tensor y = fixture_op(m, "linear", name, 8, &x[b], 1, "out", 50, NULL, 0);
        snprintf(name, sizeof name, "loss.%d", b); /* no layer: goes with the output */
        fixture_op(m, "softmax_cross_entropy", name, 0, &y, 1, NULL, 0, NULL, 0);
    }
    return m;
}

/* Devices "m1.1" ... numbered machine by machine, without links: strategies need none. */
static inline ss_topology *fixture_cluster(const char *name, uint32_t machines,
                                           const uint32_t *each)
{
    ss_topology *t;
    if (ss_topology_new(name, &t, &err))
        fixture_failed();
    for (uint32_t k = 0; k < machines; k++)
        for (uint32_t g = 0; g < each[k]; g++) {
            char device[32];
            ss_device_def def = {.kind = "test", .machine = k + 1, .speed = 1};
            def.flop_per_s[SS_F32] = 1e12;
            def.memory_bytes_per_s = 1e11;
            ss_device d;
            snprintf(device, sizeof device, "m%u.%u", k + 1, g + 1);
            if (ss_topology_add_device(t, device, &def, &d, &err))
                fixture_failed();
        }
    return t;
}

static inline ss_op fixture_find(const ss_model *m, const char *name)
{
    ss_op op = {ss_names_find(&m->op_names, name)};
    if (!op.i) {
        printf("fixture: no operator %s\n", name);
        exit(99);
    }
    return op;
}

#endif
