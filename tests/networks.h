/* networks.h - models and clusters for tests of whatever comes after them.
 *
 * A net is built by calls that cannot fail quietly: the first refusal stops the program with its
 * sentence, since a test with half a model proves nothing.
 */
#ifndef SS_NETWORKS_H
#define SS_NETWORKS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/model.h"
#include "graph/route.h"
#include "graph/strategy.h"
#include "graph/topology.h"

static inline void net_must(ss_status s, const ss_error *err)
{
    if (s) {
        fprintf(stderr, "fixture: %s\n", err->text);
        exit(99);
    }
}

static inline ss_model *net_new(const char *name)
{
    ss_error err;
    ss_model *m;
    net_must(ss_model_new(name, &m, &err), &err);
    return m;
}

static inline ss_tensor net_input(ss_model *m, const char *name, ss_dtype type, uint32_t rank,
                                  const int64_t *extent)
{
    ss_error err;
    ss_tensor t;
    ss_shape s = {.dtype = type, .rank = rank};
    memcpy(s.extent, extent, rank * sizeof *extent);
    net_must(ss_model_input(m, name, &s, &t, &err), &err);
    return t;
}

/* For the next net_op: a share label and a layer. */
typedef struct net_place {
    const char *share;
    uint32_t layer;
} net_place;

/* Attributes follow as (const char *) name, (int) value, ..., NULL. */
static inline ss_op net_op(ss_model *m, net_place place, const char *kind, const char *name,
                           const ss_tensor *in, uint32_t inputs, ...)
{
    ss_error err;
    const ss_op_kind *k = ss_op_kind_find(kind);
    if (!k) {
        fprintf(stderr, "fixture: no kind %s\n", kind);
        exit(99);
    }
    ss_op_spec spec = ss_op_spec_start(k, name);
    spec.in = in;
    spec.inputs = inputs;
    spec.share = place.share;
    spec.layer = place.layer;
    va_list args;
    va_start(args, inputs);
    for (const char *attr; (attr = va_arg(args, const char *)) != NULL;) {
        uint32_t i = 0;
        while (i < ss_op_kind_attrs(k) && strcmp(k->attr[i].name, attr) != 0)
            i++;
        if (i == ss_op_kind_attrs(k)) {
            fprintf(stderr, "fixture: %s has no attribute %s\n", kind, attr);
            exit(99);
        }
        spec.attr[i] = va_arg(args, int);
    }
    va_end(args);
    ss_op op;
    net_must(ss_model_add(m, &spec, &op, &err), &err);
    return op;
}

static inline ss_tensor net_out(const ss_model *m, ss_op op)
{
    return m->op[op.i].out[0];
}

/* One input, output 0. */
static inline ss_tensor net_then(ss_model *m, const char *kind, const char *name, ss_tensor x,
                                 const char *attr, int value)
{
    return net_out(m, net_op(m, (net_place){0}, kind, name, &x, 1, attr, value, NULL));
}

/* Machines of so many devices, each device joined to its machine's switch, the switches to one
 * more. */
static inline ss_topology *net_cluster(uint32_t machines, uint32_t each, double inside_bytes_per_s,
                                       double across_bytes_per_s, double latency_s)
{
    ss_error err;
    ss_topology *t;
    ss_node root, hub;
    ss_link link;
    char name[40];
    net_must(ss_topology_new("cluster", &t, &err), &err);
    net_must(ss_topology_add_switch(t, "root", &root, &err), &err);
    for (uint32_t m = 1; m <= machines; m++) {
        snprintf(name, sizeof name, "hub%u", m);
        net_must(ss_topology_add_switch(t, name, &hub, &err), &err);
        ss_link_def across = {
            .bytes_per_s = across_bytes_per_s, .latency_s = latency_s, .weight = 1};
        net_must(ss_topology_add_link(t, hub, root, &across, &link, &err), &err);
        net_must(ss_topology_add_link(t, root, hub, &across, &link, &err), &err);
        for (uint32_t i = 1; i <= each; i++) {
            ss_device_def def = {.kind = "p100",
                                 .flop_per_s = {[SS_F32] = 10.6e12},
                                 .memory_bytes_per_s = 732e9,
                                 .memory_bytes = 16e9,
                                 .machine = m,
                                 .speed = 1};
            ss_link_def inside = {
                .bytes_per_s = inside_bytes_per_s, .latency_s = latency_s, .weight = 1};
            ss_device device;
            snprintf(name, sizeof name, "gpu%u.%u", m, i);
            net_must(ss_topology_add_device(t, name, &def, &device, &err), &err);
            ss_node node = t->device[device.i].node;
            net_must(ss_topology_add_link(t, node, hub, &inside, &link, &err), &err);
            net_must(ss_topology_add_link(t, hub, node, &inside, &link, &err), &err);
        }
    }
    return t;
}

/* ---- the translation network of FlexFlow's evaluation, as its 2018 simulator has it ------ */

/* Vocabulary 32,000, embedding and hidden size 1,024, two encoder and two decoder layers of 40
 * steps in blocks of 8, attention as one more recurrent layer, softmax: 140,247,040 weights without
 * biases. Layers are numbered as the 2018 expert placement deals them: 1 source embedding, 2 target
 * embedding, 3 encoder 1, 4 decoder 1, 5 encoder 2, 6 decoder 2, 7 attention, 8 softmax. */
enum { NMT_HIDDEN = 1024, NMT_VOCABULARY = 32000, NMT_BLOCKS = 5, NMT_BLOCK_STEPS = 8 };

typedef struct net_states {
    ss_tensor h, c; /* 0: none yet */
} net_states;

static inline ss_tensor nmt_embed(ss_model *m, const char *side, uint32_t layer, int b,
                                  int64_t batch)
{
    char name[40];
    snprintf(name, sizeof name, "%s_words%d", side, b);
    ss_tensor words = net_input(m, name, SS_I32, 2, (int64_t[]){batch, NMT_BLOCK_STEPS});
    snprintf(name, sizeof name, "%s_embed%d", side, b);
    char share[40];
    snprintf(share, sizeof share, "%s_embed", side);
    return net_out(m, net_op(m, (net_place){share, layer}, "embedding", name, &words, 1, "vocab",
                             NMT_VOCABULARY, "out", NMT_HIDDEN, NULL));
}

static inline ss_tensor nmt_lstm(ss_model *m, const char *share, uint32_t layer, int b, ss_tensor x,
                                 net_states *s, int state_steps)
{
    char name[40];
    snprintf(name, sizeof name, "%s_%d", share, b);
    ss_tensor in[3] = {x, s->h, s->c};
    ss_op op = net_op(m, (net_place){share, layer}, "lstm", name, in, s->h.i ? 3 : 1, "hidden",
                      NMT_HIDDEN, "state_steps", state_steps, NULL);
    *s = (net_states){m->op[op.i].out[1], m->op[op.i].out[2]};
    return net_out(m, op);
}

/* state_steps: 8 counts the states that go from block to block as the 2018 simulator did; 1: once.
 */
static inline ss_model *net_nmt(int64_t batch, int state_steps)
{
    ss_model *m = net_new("nmt");
    ss_tensor source[NMT_BLOCKS], target[NMT_BLOCKS];
    net_states one = {0}, two = {0}, attention = {0};
    char name[40];
    for (int b = 0; b < NMT_BLOCKS; b++)
        source[b] = nmt_embed(m, "source", 1, b, batch);
    for (int b = 0; b < NMT_BLOCKS; b++)
        target[b] = nmt_embed(m, "target", 2, b, batch);
    for (int b = 0; b < NMT_BLOCKS; b++)
        source[b] = nmt_lstm(m, "encoder1", 3, b, source[b], &one, state_steps);
    for (int b = 0; b < NMT_BLOCKS; b++)
        source[b] = nmt_lstm(m, "encoder2", 5, b, source[b], &two, state_steps);
    for (int b = 0; b < NMT_BLOCKS; b++)
        target[b] = nmt_lstm(m, "decoder1", 4, b, target[b], &one, state_steps);
    for (int b = 0; b < NMT_BLOCKS; b++)
        target[b] = nmt_lstm(m, "decoder2", 6, b, target[b], &two, state_steps);
    for (int b = 0; b < NMT_BLOCKS; b++)
        target[b] = nmt_lstm(m, "attention", 7, b, target[b], &attention, state_steps);
    for (int b = 0; b < NMT_BLOCKS; b++) {
        snprintf(name, sizeof name, "softmax_%d", b);
        net_op(m, (net_place){"softmax", 8}, "linear_softmax", name, &target[b], 1, "out",
               NMT_VOCABULARY, "bias", 0, NULL);
    }
    return m;
}

/* ---- networks of images ------------------------------------------------------------------ */

static inline ss_tensor net_conv(ss_model *m, const char *name, ss_tensor x, int out, int kh,
                                 int kw, int stride, int ph, int pw)
{
    return net_out(m, net_op(m, (net_place){0}, "conv2d", name, &x, 1, "out", out, "kernel_h", kh,
                             "kernel_w", kw, "stride_h", stride, "stride_w", stride, "padding_h",
                             ph, "padding_w", pw, "activation", 1, NULL));
}

static inline ss_tensor net_pool(ss_model *m, const char *name, ss_tensor x, int k, int stride,
                                 int padding)
{
    return net_out(m, net_op(m, (net_place){0}, "pool2d", name, &x, 1, "kernel_h", k, "kernel_w", k,
                             "stride_h", stride, "stride_w", stride, "padding_h", padding,
                             "padding_w", padding, NULL));
}

/* Krizhevsky's network in one tower, as FlexFlow's evaluation has it: 12 operators. */
static inline ss_model *net_alexnet(int64_t batch)
{
    ss_model *m = net_new("alexnet");
    ss_tensor x = net_input(m, "image", SS_F32, 4, (int64_t[]){batch, 3, 224, 224});
    x = net_pool(m, "pool1", net_conv(m, "conv1", x, 64, 11, 11, 4, 2, 2), 3, 2, 0);
    x = net_pool(m, "pool2", net_conv(m, "conv2", x, 192, 5, 5, 1, 2, 2), 3, 2, 0);
    x = net_conv(m, "conv3", x, 384, 3, 3, 1, 1, 1);
    x = net_conv(m, "conv4", x, 256, 3, 3, 1, 1, 1);
    x = net_pool(m, "pool5", net_conv(m, "conv5", x, 256, 3, 3, 1, 1, 1), 3, 2, 0);
    x = net_out(m, net_op(m, (net_place){0}, "flatten", "flat", &x, 1, NULL));
    x = net_then(m, "linear", "fc6", x, "out", 4096);
    x = net_then(m, "linear", "fc7", x, "out", 4096);
    net_then(m, "linear_softmax", "fc8", x, "out", 1000);
    return m;
}

/* One branch of an inception module: convolutions "out,kernel height,kernel width,stride" in a row,
 * each padded to keep its size unless its stride is 2. */
static inline ss_tensor net_branch(ss_model *m, const char *module, const char *branch, ss_tensor x,
                                   const char *convolutions)
{
    char name[80];
    int out, kh, kw, stride, used, n = 0;
    for (; sscanf(convolutions, " %d,%d,%d,%d%n", &out, &kh, &kw, &stride, &used) == 4;
         convolutions += used) {
        snprintf(name, sizeof name, "%s.%s.%d", module, branch, ++n);
        bool same = stride == 1;
        x = net_conv(m, name, x, out, kh, kw, stride, same ? kh / 2 : 0, same ? kw / 2 : 0);
    }
    return x;
}

static inline ss_tensor net_pooled(ss_model *m, const char *module, ss_tensor x, int stride)
{
    char name[80];
    snprintf(name, sizeof name, "%s.pool", module);
    return net_pool(m, name, x, 3, stride, stride == 1);
}

static inline ss_tensor net_joined(ss_model *m, const char *module, const ss_tensor *branch,
                                   uint32_t n)
{
    char name[80];
    snprintf(name, sizeof name, "%s.join", module);
    return net_out(m, net_op(m, (net_place){0}, "concat", name, branch, n, NULL));
}

/* Szegedy and others, "Rethinking the Inception Architecture" (CVPR 2016), without the auxiliary
 * head. */
static inline ss_model *net_inception(int64_t batch)
{
    ss_model *m = net_new("inception");
    ss_tensor x = net_input(m, "image", SS_F32, 4, (int64_t[]){batch, 3, 299, 299}), b[6];
    char name[40];
    x = net_conv(m, "stem1", x, 32, 3, 3, 2, 0, 0);
    x = net_conv(m, "stem2", x, 32, 3, 3, 1, 0, 0);
    x = net_pool(m, "stem_pool1", net_conv(m, "stem3", x, 64, 3, 3, 1, 1, 1), 3, 2, 0);
    x = net_conv(m, "stem4", x, 80, 1, 1, 1, 0, 0);
    x = net_pool(m, "stem_pool2", net_conv(m, "stem5", x, 192, 3, 3, 1, 0, 0), 3, 2, 0);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "a%d", i + 1);
        b[0] = net_branch(m, name, "one", x, "64,1,1,1");
        b[1] = net_branch(m, name, "five", x, "48,1,1,1 64,5,5,1");
        b[2] = net_branch(m, name, "three", x, "64,1,1,1 96,3,3,1 96,3,3,1");
        b[3] =
            net_branch(m, name, "pooled", net_pooled(m, name, x, 1), i ? "64,1,1,1" : "32,1,1,1");
        x = net_joined(m, name, b, 4);
    }
    b[0] = net_branch(m, "b", "three", x, "384,3,3,2");
    b[1] = net_branch(m, "b", "double", x, "64,1,1,1 96,3,3,1 96,3,3,2");
    b[2] = net_pooled(m, "b", x, 2);
    x = net_joined(m, "b", b, 3);
    for (int i = 0; i < 4; i++) {
        static const char *const seven[] = {
            "128,1,1,1 128,1,7,1 192,7,1,1", "160,1,1,1 160,1,7,1 192,7,1,1",
            "160,1,1,1 160,1,7,1 192,7,1,1", "192,1,1,1 192,1,7,1 192,7,1,1"};
        static const char *const twice[] = {"128,1,1,1 128,7,1,1 128,1,7,1 128,7,1,1 192,1,7,1",
                                            "160,1,1,1 160,7,1,1 160,1,7,1 160,7,1,1 192,1,7,1",
                                            "160,1,1,1 160,7,1,1 160,1,7,1 160,7,1,1 192,1,7,1",
                                            "192,1,1,1 192,7,1,1 192,1,7,1 192,7,1,1 192,1,7,1"};
        snprintf(name, sizeof name, "c%d", i + 1);
        b[0] = net_branch(m, name, "one", x, "192,1,1,1");
        b[1] = net_branch(m, name, "seven", x, seven[i]);
        b[2] = net_branch(m, name, "twice", x, twice[i]);
        b[3] = net_branch(m, name, "pooled", net_pooled(m, name, x, 1), "192,1,1,1");
        x = net_joined(m, name, b, 4);
    }
    b[0] = net_branch(m, "d", "three", x, "192,1,1,1 320,3,3,2");
    b[1] = net_branch(m, "d", "seven", x, "192,1,1,1 192,1,7,1 192,7,1,1 192,3,3,2");
    b[2] = net_pooled(m, "d", x, 2);
    x = net_joined(m, "d", b, 3);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "e%d", i + 1);
        b[0] = net_branch(m, name, "one", x, "320,1,1,1");
        ss_tensor wide = net_branch(m, name, "split", x, "384,1,1,1");
        b[1] = net_branch(m, name, "flat", wide, "384,1,3,1");
        b[2] = net_branch(m, name, "tall", wide, "384,3,1,1");
        wide = net_branch(m, name, "deep", x, "448,1,1,1 384,3,3,1");
        b[3] = net_branch(m, name, "deep_flat", wide, "384,1,3,1");
        b[4] = net_branch(m, name, "deep_tall", wide, "384,3,1,1");
        b[5] = net_branch(m, name, "pooled", net_pooled(m, name, x, 1), "192,1,1,1");
        x = net_joined(m, name, b, 6);
    }
    x = net_pool(m, "last_pool", x, 8, 1, 0);
    x = net_out(m, net_op(m, (net_place){0}, "flatten", "flat", &x, 1, NULL));
    net_then(m, "linear_softmax", "classes", x, "out", 1000);
    return m;
}

#endif
