/* bench_kernels.c - how near kernels come to what one core can do.
 *
 *     bench_kernels [RUNS]
 *
 * The best of RUNS in CPU time, of one thread; operations as the operator kinds count them, beside the best that
 * the first line, a large product, has reached; bytes as counted, for what is bound by memory. */
#include "config.h"

#include "bench.h"

#include "base/mem.h"
#include "validation/operators/onednn.h"

#include "op_make.h"

static int runs = 5;
static double peak; /* operations a second */

static float *numbers(const ss_box *b, bool are_indices)
{
    int64_t n = ss_box_elements(b);
    float *x = ss_alloc_zeroed((size_t)n, sizeof *x); /* as an index: row 0 */
    if (!x)
        exit(99);
    for (int64_t i = 0; i < n && !are_indices; i++)
        x[i] = (float)(i % 17 - 8) / 64;
    return x;
}

typedef struct arrays {
    ss_kernel_io io;
    float *all[2 * SS_MAX_INPUTS + 2 * SS_MAX_WEIGHTS + 2 * SS_MAX_OUTPUTS + 1];
    int n;
    double loss;
} arrays;

static float *hold(arrays *a, float *x)
{
    return a->all[a->n++] = x;
}

static void fill(arrays *a, const ss_op_def *op, const ss_box *main)
{
    ss_box b;
    for (uint32_t i = 0; i < op->inputs; i++) {
        ss_op_input_box(op, i, main, &b);
        a->io.in[i] = hold(a, numbers(&b, op->kind->no_input_gradient));
        a->io.in_gradient[i] = op->kind->no_input_gradient ? NULL : hold(a, numbers(&b, false));
    }
    for (uint32_t w = 0; w < op->weights; w++) {
        ss_op_weight_box(op, w, main, &b);
        a->io.weight[w] = hold(a, numbers(&b, false));
        a->io.weight_gradient[w] = hold(a, numbers(&b, false));
    }
    for (uint32_t o = 0; o < op->outputs; o++) {
        ss_op_output_box(op, o, main, &b);
        a->io.out[o] = hold(a, numbers(&b, false));
        a->io.out_gradient[o] = hold(a, numbers(&b, false));
    }
    a->io.label = hold(a, numbers(main, true));
    a->io.loss = &a->loss;
}

static double best(ss_kernel *k, const arrays *a, ss_phase phase)
{
    double least = 1e9;
    for (int r = 0; r < runs + 1; r++) { /* the first warms up */
        double began = bench_now();
        bench_must(phase == SS_FORWARD ? k->forward(k, &a->io, &err)
                                       : k->backward(k, &a->io, SS_OF_INPUTS | SS_OF_WEIGHTS, &err),
                   &err);
        double took = bench_now() - began;
        if (r && took < least)
            least = took;
    }
    return least;
}

static void measure(ss_kernel_maker m, const char *kind, const char *attrs, uint32_t inputs,
                    const ss_shape *in)
{
    ss_op_def op;
    bench_must(make(&op, kind, attrs, inputs, in), &err);
    ss_box main = ss_box_whole(&op.out[0]);
    ss_kernel *k;
    bench_must(m.make(m.context, &op, &main, &k, &err), &err);
    arrays a = {.n = 0};
    fill(&a, &op, &main);
    char shape_text[SS_SHAPE_TEXT];
    for (ss_phase p = SS_FORWARD; p <= SS_BACKWARD; p++) {
        ss_work work;
        ss_op_work(&op, p, true, &main, &work);
        double took = best(k, &a, p), rate = work.flops / took;
        peak = rate > peak ? rate : peak;
        printf("%-22s %-16s %-28s %-8s %9.3f ms %7.1f GFLOP/s %5.0f%% %7.2f GB/s\n", kind,
               ss_shape_text(&op.in[0], shape_text, sizeof shape_text), attrs, ss_phase_name(p),
               took * 1e3, rate / 1e9, 100 * rate / peak, work.bytes / took / 1e9);
        fflush(stdout);
    }
    ss_kernel_free(k);
    for (int i = 0; i < a.n; i++)
        ss_free(a.all[i]);
}

#define MEASURE(kind, attrs, ...)                                                                  \
    measure(m, kind, attrs, (uint32_t)(sizeof((ss_shape[]){__VA_ARGS__}) / sizeof(ss_shape)),      \
            (ss_shape[]){__VA_ARGS__})

static ss_shape indices(int64_t n, int64_t l)
{
    ss_shape s = SHAPE(n, l);
    s.dtype = SS_I32;
    return s;
}

int main(int argc, char **argv)
{
    runs = argc > 1 ? atoi(argv[1]) : runs;
    ss_kernels *kernels;
    if (ss_kernels_new(&kernels, &err)) {
        printf("skipped kernels: %s\n", err.text);
        return 0;
    }
    printf("%s, one thread\n", ss_kernels_version(kernels));
    ss_kernel_maker m = ss_kernels_maker(kernels);
    MEASURE("linear", "out=2048 bias=false", SHAPE(2048, 2048));
    MEASURE("linear", "out=1024", SHAPE(64, 1024));
    MEASURE("linear", "out=1024 activation=gelu", SHAPE(512, 1024));
    MEASURE("linear", "out=64", SHAPE(8, 64));
    MEASURE("linear_softmax", "out=8192", SHAPE(64, 512));
    MEASURE("softmax_cross_entropy", "", SHAPE(256, 10000));
    MEASURE("softmax_cross_entropy", "", SHAPE(4, 21, 128, 128));
    MEASURE("squared_error", "", SHAPE(64, 65536), SHAPE(64, 65536));
    MEASURE("embedding", "vocab=10000 out=512", indices(64, 64));
    MEASURE("position", "", SHAPE(16, 256, 512));
    MEASURE("lstm", "hidden=512", SHAPE(64, 8, 512));
    MEASURE("lstm", "hidden=128 bias=true", SHAPE(8, 16, 128));
    MEASURE("attention", "", SHAPE(32, 8, 512), SHAPE(32, 20, 512), SHAPE(32, 20, 512));
    MEASURE("multihead_attention", "heads=8", SHAPE(4, 512, 1536));
    MEASURE("multihead_attention", "heads=8 causal=true", SHAPE(4, 512, 1536));
    MEASURE("multihead_attention", "heads=8 fused=false", SHAPE(4, 512, 1536));
    MEASURE("multihead_attention", "heads=4", SHAPE(8, 64, 768));
    /* LeNet's and AlexNet's windows, the latter on images of 64 x 64 */
    MEASURE("conv2d", "out=6 kernel_h=5 kernel_w=5 padding_h=2 padding_w=2 activation=tanh",
            SHAPE(64, 1, 28, 28));
    MEASURE("conv2d", "out=16 kernel_h=5 kernel_w=5 activation=tanh", SHAPE(64, 6, 14, 14));
    MEASURE("conv2d",
            "out=64 kernel_h=11 kernel_w=11 stride_h=4 stride_w=4 padding_h=2 padding_w=2 "
            "activation=relu",
            SHAPE(16, 3, 64, 64));
    MEASURE("conv2d", "out=192 kernel_h=5 kernel_w=5 padding_h=2 padding_w=2 activation=relu",
            SHAPE(16, 64, 7, 7));
    MEASURE("conv2d", "out=384 kernel_h=3 kernel_w=3 padding_h=1 padding_w=1 activation=relu",
            SHAPE(16, 192, 13, 13));
    MEASURE("conv2d", "out=256 kernel_h=3 kernel_w=3 padding_h=1 padding_w=1 groups=2",
            SHAPE(16, 384, 13, 13));
    MEASURE("conv_transpose2d",
            "out=64 kernel_h=4 kernel_w=4 stride_h=2 stride_w=2 padding_h=1 padding_w=1",
            SHAPE(16, 128, 14, 14));
    MEASURE("pool2d", "type=avg kernel_h=2 kernel_w=2 stride_h=2 stride_w=2", SHAPE(64, 6, 28, 28));
    MEASURE("pool2d", "type=max kernel_h=3 kernel_w=3 stride_h=2 stride_w=2",
            SHAPE(16, 64, 15, 15));
    ss_kernels_free(kernels);
    return 0;
}
