/* prop_kernels.c - kernels with oneDNN, and their parts, give the numbers of the slow twin, whose gradients are
 * slopes.  Products, losses, attention, LSTM, tables; the other families are in programs beside it.
 *
 *     prop_kernels [COUNT [SEED]]      operators of each kind
 */
#include "validation/operators/onednn.h"

#include "kernel_fixture.h"

static uint64_t count = 60, seed = 1;
static ss_kernels *kernels;
static ss_kernel_maker fast; /* none in a build without oneDNN: the twin is tried alone */

/* An operator of attributes in text, whose shapes are known to fit. */
static void must(ss_op_def *op, const char *kind, const char *attrs, uint32_t inputs,
                 const ss_shape *in)
{
    if (make(op, kind, attrs, inputs, in)) {
        printf("%s %s: %s\n", kind, attrs, err.text);
        exit(1);
    }
}

static ss_shape features(void)
{
    int64_t n = kernel_draw(1, 6), l = kernel_draw(1, 5), c = kernel_draw(1, 24);
    return kernel_draw(0, 1) ? SHAPE(n, c) : SHAPE(n, l, c);
}

static void draw_linear(ss_op_def *op)
{
    static const char *const functions[] = {"none", "relu", "gelu", "tanh", "sigmoid"};
    char attrs[128];
    snprintf(attrs, sizeof attrs, "out=%d bias=%s activation=%s", (int)kernel_draw(1, 20),
             kernel_draw(0, 1) ? "true" : "false", functions[kernel_draw(0, 4)]);
    ss_shape in = features();
    must(op, "linear", attrs, 1, &in);
}

static void linear(void)
{
    kernel_trials(count, seed, draw_linear, fast);
}

static void draw_linear_softmax(ss_op_def *op)
{
    char attrs[64];
    snprintf(attrs, sizeof attrs, "out=%d bias=%s", (int)kernel_draw(1, 20),
             kernel_draw(0, 1) ? "true" : "false");
    ss_shape in = features();
    must(op, "linear_softmax", attrs, 1, &in);
}

static void linear_softmax(void)
{
    kernel_trials(count, seed, draw_linear_softmax, fast);
}

/* Of 2 to 5 dimensions. */
static ss_shape any_shape(void)
{
    int64_t n = kernel_draw(1, 4), c = kernel_draw(1, 12), h = kernel_draw(1, 5),
            w = kernel_draw(1, 5);
    switch (kernel_draw(0, 3)) {
    case 0:
        return SHAPE(n, c);
    case 1:
        return SHAPE(n, h, c);
    case 2:
        return SHAPE(n, c, h, w);
    default:
        return SHAPE(n, c, 2, h, w);
    }
}

static void draw_softmax_cross_entropy(ss_op_def *op)
{
    ss_shape in = any_shape();
    must(op, "softmax_cross_entropy", "", 1, &in);
}

static void softmax_cross_entropy(void)
{
    kernel_trials(count, seed, draw_softmax_cross_entropy, fast);
}

static void draw_squared_error(ss_op_def *op)
{
    ss_shape in = any_shape();
    must(op, "squared_error", "", (uint32_t)kernel_draw(1, 2), (ss_shape[]){in, in});
}

static void squared_error(void)
{
    kernel_trials(count, seed, draw_squared_error, fast);
}

static void draw_embedding(ss_op_def *op)
{
    char attrs[64];
    snprintf(attrs, sizeof attrs, "vocab=%d out=%d", (int)kernel_draw(1, 30),
             (int)kernel_draw(1, 20));
    int64_t n = kernel_draw(1, 6), l = kernel_draw(1, 7);
    ss_shape in = kernel_draw(0, 1) ? SHAPE(n) : SHAPE(n, l);
    in.dtype = SS_I32;
    must(op, "embedding", attrs, 1, &in);
}

static void embedding(void)
{
    kernel_trials(count, seed, draw_embedding, fast);
}

/* Tables as long as the sequence, and longer. */
static void draw_position(ss_op_def *op)
{
    int64_t l = kernel_draw(1, 8);
    char attrs[64];
    snprintf(attrs, sizeof attrs, "positions=%d",
             (int)(kernel_draw(0, 1) ? l + kernel_draw(0, 5) : 0));
    ss_shape in = SHAPE(kernel_draw(1, 5), l, kernel_draw(1, 12));
    must(op, "position", attrs, 1, &in);
}

static void position(void)
{
    kernel_trials(count, seed, draw_position, fast);
}

/* With and without states, of one row or more, in and out. */
static void draw_lstm(ss_op_def *op)
{
    int64_t n = kernel_draw(1, 5), steps = kernel_draw(1, 6), units = kernel_draw(1, 9),
            rows = kernel_draw(1, 3);
    char attrs[96];
    snprintf(attrs, sizeof attrs, "hidden=%d bias=%s state_steps=%d", (int)units,
             kernel_draw(0, 1) ? "true" : "false", (int)kernel_draw(1, 3));
    ss_shape in[] = {SHAPE(n, steps, kernel_draw(1, 9)), SHAPE(n, rows, units),
                     SHAPE(n, rows, units)};
    must(op, "lstm", attrs, kernel_draw(0, 1) ? 3 : 1, in);
}

static void lstm(void)
{
    kernel_trials(count, seed, draw_lstm, fast);
}

static void draw_attention(ss_op_def *op)
{
    int64_t n = kernel_draw(1, 4), hidden = kernel_draw(1, 8);
    uint32_t inputs = (uint32_t)kernel_draw(2, 4);
    ss_shape in[4];
    for (uint32_t i = 0; i < inputs; i++)
        in[i] = SHAPE(n, kernel_draw(1, 5), hidden);
    must(op, "attention", "", inputs, in);
}

static void attention(void)
{
    kernel_trials(count, seed, draw_attention, fast);
}

/* Packed in one input or two; now and then more rows than one block of the fused kernel. */
static void draw_multihead_attention(ss_op_def *op)
{
    int64_t n = kernel_draw(1, 3), heads = kernel_draw(1, 3), size = kernel_draw(1, 6),
            queries = kernel_draw(0, 5) ? kernel_draw(1, 8) : kernel_draw(60, 140),
            keys = queries + kernel_draw(0, 5);
    char attrs[96];
    snprintf(attrs, sizeof attrs, "heads=%d causal=%s fused=%s", (int)heads,
             kernel_draw(0, 1) ? "true" : "false", kernel_draw(0, 1) ? "true" : "false");
    if (kernel_draw(0, 1)) {
        ss_shape in = SHAPE(n, queries, 3 * heads * size);
        must(op, "multihead_attention", attrs, 1, &in);
    } else {
        must(op, "multihead_attention", attrs, 2,
             (ss_shape[]){SHAPE(n, queries, heads * size), SHAPE(n, keys, 2 * heads * size)});
    }
}

static void multihead_attention(void)
{
    kernel_trials(count, seed, draw_multihead_attention, fast);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        count = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    printf("# %llu operators of each kind from seed %llu\n", (unsigned long long)count,
           (unsigned long long)seed);
    bool there = ss_kernels_new(&kernels, &err) == SS_OK;
    if (there)
        fast = ss_kernels_maker(kernels);
    RUN(linear);
    RUN(linear_softmax);
    RUN(softmax_cross_entropy);
    RUN(squared_error);
    RUN(embedding);
    RUN(position);
    RUN(lstm);
    RUN(attention);
    RUN(multihead_attention);
    printf("# %llu slopes, %llu at corners\n", (unsigned long long)kernel_slopes,
           (unsigned long long)kernel_kinks);
    if (kernel_kinks * 10 > kernel_slopes)
        check_failed++;
    ss_kernels_free(kernels);
    if (ss_mem_blocks()) {
        printf("%zu blocks of memory are lost\n", ss_mem_blocks());
        check_failed++;
    }
    if (!there && !check_failed)
        printf("skipped kernels with oneDNN: %s\n", err.text);
    return DONE() ? 1 : there ? 0 : 77;
}
