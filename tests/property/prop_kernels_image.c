/* prop_kernels_image.c - as prop_kernels.c, for what slides a window over images: convolution, its transpose,
 * pooling, upsampling.
 *
 *     prop_kernels_image [COUNT [SEED]]      operators of each kind
 */
#include "validation/operators/onednn.h"

#include "kernel_fixture.h"

static uint64_t count = 60, seed = 1;
static ss_kernels *kernels;
static ss_kernel_maker fast; /* none in a build without oneDNN: the twin is tried alone */

static const char *const functions[] = {"none", "relu", "gelu", "tanh", "sigmoid"};

static const char *draw_bool(void)
{
    return kernel_draw(0, 1) ? "true" : "false";
}

/* Windows of `least` to 4, strides that overlap, meet and skip; with paddings that some windows see nothing but. */
static int draw_window(char *text, size_t room, int least, int most_padding)
{
    int padding = kernel_draw(0, 3) ? 1 : most_padding;
    return snprintf(
        text, room, "kernel_h=%d kernel_w=%d stride_h=%d stride_w=%d padding_h=%d padding_w=%d",
        (int)kernel_draw(least, 4), (int)kernel_draw(least, 4), (int)kernel_draw(1, 3),
        (int)kernel_draw(1, 5), (int)kernel_draw(0, padding), (int)kernel_draw(0, padding));
}

static ss_shape images(int64_t channels)
{
    return SHAPE(kernel_draw(1, 3), channels, kernel_draw(1, 7), kernel_draw(1, 7));
}

/* Some windows do not fit into some images: drawn again.  To normalise, numbers have to differ: of a channel that
 * is one number everywhere, or two or three, what is left over is rounding. */
static void draw_conv(ss_op_def *op, bool norm)
{
    ss_status s;
    do {
        char attrs[256];
        int n = draw_window(attrs, sizeof attrs, norm ? 2 : 1, norm ? 1 : 6),
            groups = (int)kernel_draw(1, 3);
        snprintf(attrs + n, sizeof attrs - (size_t)n,
                 " out=%d groups=%d bias=%s norm=%s activation=%s", groups * (int)kernel_draw(1, 5),
                 groups, draw_bool(), norm ? "batch" : "none", functions[kernel_draw(0, 4)]);
        ss_shape in = images(groups * kernel_draw(1, 5));
        s = make(op, "conv2d", attrs, 1, &in);
    } while (s || (norm && ss_shape_elements(&op->out[0]) < 8 * op->out[0].extent[1]));
}

static void draw_conv2d(ss_op_def *op)
{
    draw_conv(op, false);
}

static void conv2d(void)
{
    kernel_trials(count, seed, draw_conv2d, fast);
}

static void draw_conv2d_norm(ss_op_def *op)
{
    draw_conv(op, true);
}

static void conv2d_norm(void)
{
    kernel_trials(count, seed, draw_conv2d_norm, fast);
}

static void draw_conv_transpose2d(ss_op_def *op)
{
    ss_status s;
    do {
        char attrs[256];
        int n = draw_window(attrs, sizeof attrs, 1, 3);
        snprintf(attrs + n, sizeof attrs - (size_t)n, " out=%d bias=%s activation=%s",
                 (int)kernel_draw(1, 9), draw_bool(), functions[kernel_draw(0, 4)]);
        ss_shape in = images(kernel_draw(1, 9));
        s = make(op, "conv_transpose2d", attrs, 1, &in);
    } while (s);
}

static void conv_transpose2d(void)
{
    kernel_trials(count, seed, draw_conv_transpose2d, fast);
}

static void draw_pool2d(ss_op_def *op)
{
    ss_status s;
    do {
        char attrs[256];
        int n = draw_window(attrs, sizeof attrs, 1, 2);
        snprintf(attrs + n, sizeof attrs - (size_t)n, " type=%s",
                 kernel_draw(0, 1) ? "max" : "avg");
        ss_shape in = images(kernel_draw(1, 9));
        s = make(op, "pool2d", attrs, 1, &in);
    } while (s);
}

static void pool2d(void)
{
    kernel_trials(count, seed, draw_pool2d, fast);
}

static void draw_upsample2d(ss_op_def *op)
{
    char attrs[64];
    snprintf(attrs, sizeof attrs, "factor_h=%d factor_w=%d", (int)kernel_draw(1, 4),
             (int)kernel_draw(1, 4));
    ss_shape in = images(kernel_draw(1, 9));
    if (make(op, "upsample2d", attrs, 1, &in))
        exit(1);
}

static void upsample2d(void)
{
    kernel_trials(count, seed, draw_upsample2d, fast);
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
    RUN(conv2d);
    RUN(conv2d_norm);
    RUN(conv_transpose2d);
    RUN(pool2d);
    RUN(upsample2d);
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
