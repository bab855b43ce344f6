/* prop_kernels_plain.c - kernels that wait for memory: functions of single numbers, sums, copies, normalisation.
 * As prop_kernels: with oneDNN, and in parts, they give the numbers of the slow twin, whose gradients are slopes.
 *
 *     prop_kernels_plain [COUNT [SEED]]      operators of each kind
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

#define OF_ANY_SHAPE(kind)                                                                         \
    static void draw_##kind(ss_op_def *op)                                                         \
    {                                                                                              \
        ss_shape in = any_shape();                                                                 \
        must(op, #kind, "", 1, &in);                                                               \
    }                                                                                              \
    static void try_##kind(void)                                                                   \
    {                                                                                              \
        kernel_trials(count, seed, draw_##kind, fast);                                             \
    }

OF_ANY_SHAPE(relu)
OF_ANY_SHAPE(gelu)
OF_ANY_SHAPE(tanh)
OF_ANY_SHAPE(sigmoid)
OF_ANY_SHAPE(dropout)
OF_ANY_SHAPE(scale)
OF_ANY_SHAPE(flatten)
OF_ANY_SHAPE(softmax)
OF_ANY_SHAPE(batch_norm)
OF_ANY_SHAPE(rms_norm)

static void draw_layer_norm(ss_op_def *op)
{
    ss_shape in = any_shape();
    must(op, "layer_norm", kernel_draw(0, 1) ? "bias=true" : "bias=false", 1, &in);
}

static void try_layer_norm(void)
{
    kernel_trials(count, seed, draw_layer_norm, fast);
}

/* Now and then longer than a block of the fast kernel. */
static ss_shape of_several(void)
{
    if (kernel_draw(0, 9))
        return any_shape();
    int64_t n = kernel_draw(1, 3);
    return SHAPE(n, kernel_draw(1000, 3000));
}

enum { SEVERAL = 4 };

static void draw_add(ss_op_def *op)
{
    static const char *const functions[] = {"none", "relu", "gelu", "tanh", "sigmoid"};
    char attrs[64];
    snprintf(attrs, sizeof attrs, "activation=%s", functions[kernel_draw(0, 4)]);
    ss_shape in = of_several();
    must(op, "add", attrs, (uint32_t)kernel_draw(2, SEVERAL), (ss_shape[SEVERAL]){in, in, in, in});
}

static void try_add(void)
{
    kernel_trials(count, seed, draw_add, fast);
}

static void draw_mul(ss_op_def *op)
{
    ss_shape in = of_several();
    must(op, "mul", "", (uint32_t)kernel_draw(2, SEVERAL), (ss_shape[SEVERAL]){in, in, in, in});
}

static void try_mul(void)
{
    kernel_trials(count, seed, draw_mul, fast);
}

/* A dimension of a shape that has a name, and the name. */
static uint32_t draw_axis(const ss_shape *s, const char **name)
{
    static const char *const of_rank[][3] = {
        {"c"}, {"l", "c"}, {"c", "h", "w"}, {"c", NULL, "h"}, /* volumes: c, d, h, w */
    };
    uint32_t axis;
    do {
        axis = (uint32_t)kernel_draw(1, s->rank < 4 ? s->rank - 1 : 3);
        *name = of_rank[s->rank - 2][axis - 1];
    } while (!*name);
    return axis;
}

static void draw_concat(ss_op_def *op)
{
    ss_shape in[SEVERAL];
    in[0] = any_shape();
    const char *name;
    uint32_t axis = draw_axis(&in[0], &name);
    char attrs[32];
    snprintf(attrs, sizeof attrs, "axis=%s", name);
    for (uint32_t i = 1; i < SEVERAL; i++) {
        in[i] = in[0];
        in[i].extent[axis] = kernel_draw(1, 7);
    }
    must(op, "concat", attrs, (uint32_t)kernel_draw(1, SEVERAL), in);
}

static void try_concat(void)
{
    kernel_trials(count, seed, draw_concat, fast);
}

static void draw_slice(ss_op_def *op)
{
    ss_shape in = any_shape();
    const char *name;
    int64_t extent = in.extent[draw_axis(&in, &name)], start = kernel_draw(0, extent - 1);
    char attrs[64];
    snprintf(attrs, sizeof attrs, "axis=%s start=%d size=%d", name, (int)start,
             (int)kernel_draw(1, extent - start));
    must(op, "slice", attrs, 1, &in);
}

static void try_slice(void)
{
    kernel_trials(count, seed, draw_slice, fast);
}

static void draw_select(ss_op_def *op)
{
    int64_t l = kernel_draw(1, 6);
    char attrs[32];
    snprintf(attrs, sizeof attrs, "index=%d", (int)kernel_draw(-l, l - 1));
    ss_shape in = SHAPE(kernel_draw(1, 5), l, kernel_draw(1, 12));
    must(op, "select", attrs, 1, &in);
}

static void try_select(void)
{
    kernel_trials(count, seed, draw_select, fast);
}

/* More than a square of the fast kernel, in either direction. */
static void draw_to_sequence(ss_op_def *op)
{
    ss_shape in =
        SHAPE(kernel_draw(1, 3), kernel_draw(1, 40), kernel_draw(1, 7), kernel_draw(1, 7));
    must(op, "to_sequence", "", 1, &in);
}

static void try_to_sequence(void)
{
    kernel_trials(count, seed, draw_to_sequence, fast);
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
    RUN(try_relu);
    RUN(try_gelu);
    RUN(try_tanh);
    RUN(try_sigmoid);
    RUN(try_dropout);
    RUN(try_scale);
    RUN(try_add);
    RUN(try_mul);
    RUN(try_concat);
    RUN(try_slice);
    RUN(try_select);
    RUN(try_flatten);
    RUN(try_to_sequence);
    RUN(try_softmax);
    RUN(try_batch_norm);
    RUN(try_layer_norm);
    RUN(try_rms_norm);
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
