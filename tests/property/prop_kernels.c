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
