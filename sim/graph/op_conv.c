/* op_conv.c - what slides a window over images: convolution, its transpose, pooling, upsampling. */
#include <stddef.h>

#include "graph/op_kinds.h"

static int64_t at_least(int64_t x, int64_t least)
{
    return x < least ? least : x;
}

static int64_t at_most(int64_t x, int64_t most)
{
    return x > most ? most : x;
}

typedef struct window {
    int64_t size, stride, padding;
} window;

/* The rows of an input of `extent` rows that output rows lo .. hi-1 see.  Padding has no rows:
 * output rows whose window lies in it see none, and need none if all of them do. */
static void window_range(const window *w, int64_t extent, int64_t lo, int64_t hi, int64_t *in_lo,
                         int64_t *in_hi)
{
    int64_t first = lo, last = at_most(hi - 1, (extent - 1 + w->padding) / w->stride);
    if (w->padding >= w->size)
        first = at_least(lo, (w->padding - w->size) / w->stride + 1);
    *in_lo = at_most(at_least(first * w->stride - w->padding, 0), extent);
    *in_hi = at_least(at_most(last * w->stride - w->padding + w->size, extent), *in_lo);
}

static ss_status window_count(const window *w, int64_t extent, const char *what, int64_t *out,
                              ss_error *err)
{
    if (extent + 2 * w->padding < w->size)
        return ss_fail(err, SS_EINVAL,
                       "a kernel of %lld does not fit in a %s of %lld with a padding of %lld on "
                       "either side",
                       (long long)w->size, what, (long long)extent, (long long)w->padding);
    *out = (extent + 2 * w->padding - w->size) / w->stride + 1;
    return SS_OK;
}

#define MOST_CHANNELS (INT64_C(1) << 31)
#define MOST_WINDOW (INT64_C(1) << 20)

/* Convolution */

enum {
    CONV_OUT,
    CONV_KERNEL_H,
    CONV_KERNEL_W,
    CONV_STRIDE_H,
    CONV_STRIDE_W,
    CONV_PADDING_H,
    CONV_PADDING_W,
    CONV_GROUPS,
    CONV_BIAS,
    CONV_NORM,
    CONV_ACTIVATION
};

static window conv_h(const ss_op_def *op)
{
    return (window){op->attr[CONV_KERNEL_H], op->attr[CONV_STRIDE_H], op->attr[CONV_PADDING_H]};
}

static window conv_w(const ss_op_def *op)
{
    return (window){op->attr[CONV_KERNEL_W], op->attr[CONV_STRIDE_W], op->attr[CONV_PADDING_W]};
}

static void conv_weights(ss_op_def *op, int64_t inputs_each)
{
    int64_t out = op->attr[CONV_OUT];
    static const int8_t follows[] = {1, -1, -1, -1};
    ss_op_weight(op, "w", 4,
                 (int64_t[]){out, inputs_each, op->attr[CONV_KERNEL_H], op->attr[CONV_KERNEL_W]},
                 follows);
    if (op->attr[CONV_BIAS])
        ss_op_weight(op, "b", 1, &out, follows);
    if (op->attr[CONV_NORM]) {
        ss_op_weight(op, "scale", 1, &out, follows);
        ss_op_weight(op, "shift", 1, &out, follows);
    }
}

static ss_status conv_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_images(op, err);
    if (s)
        return s;
    const ss_shape *in = &op->in[0];
    int64_t groups = op->attr[CONV_GROUPS], out = op->attr[CONV_OUT];
    if (in->extent[1] % groups || out % groups)
        return ss_fail(err, SS_EINVAL,
                       "%lld groups do not divide %lld input and %lld output channels",
                       (long long)groups, (long long)in->extent[1], (long long)out);
    op->outputs = 1;
    op->out[0] = (ss_shape){.dtype = in->dtype, .rank = 4, .extent = {in->extent[0], out}};
    window h = conv_h(op), w = conv_w(op);
    s = window_count(&h, in->extent[2], "height", &op->out[0].extent[2], err);
    if (!s)
        s = window_count(&w, in->extent[3], "width", &op->out[0].extent[3], err);
    if (s)
        return s;
    ss_op_dims(op);
    op->dim[1].cls = SS_DIM_PARAMETER;
    conv_weights(op, in->extent[1] / groups);
    op->keeps_input = true;
    op->keeps_output = op->attr[CONV_ACTIVATION] || op->attr[CONV_NORM];
    return SS_OK;
}

/* With groups, only the input channels of the groups that the output channels belong to. */
static void conv_input(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    (void)i;
    const ss_shape *x = &op->in[0];
    int64_t groups = op->attr[CONV_GROUPS];
    int64_t in_each = x->extent[1] / groups, out_each = op->out[0].extent[1] / groups;
    window h = conv_h(op), w = conv_w(op);
    *in = *main;
    in->lo[1] = main->lo[1] / out_each * in_each;
    in->hi[1] = ((main->hi[1] - 1) / out_each + 1) * in_each;
    window_range(&h, x->extent[2], main->lo[2], main->hi[2], &in->lo[2], &in->hi[2]);
    window_range(&w, x->extent[3], main->lo[3], main->hi[3], &in->lo[3], &in->hi[3]);
}

static double conv_extra_flops(const ss_op_def *op)
{
    return (op->attr[CONV_BIAS] ? 1 : 0) + (op->attr[CONV_NORM] ? SS_FLOPS_NORM : 0) +
           ss_activation_flops(op->attr[CONV_ACTIVATION]);
}

static void conv_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    double n = (double)ss_box_elements(main);
    double each = (double)(op->in[0].extent[1] / op->attr[CONV_GROUPS]) *
                  (double)(op->attr[CONV_KERNEL_H] * op->attr[CONV_KERNEL_W]);
    work->macs = n * each; /* padding counts, as in every published figure */
    work->flops = 2 * work->macs + n * conv_extra_flops(op);
}

/* Normalisation and gelu need what they were applied to, which is neither input nor output. */
static double conv_saved(const ss_op_def *op, const ss_box *main)
{
    int kept = (op->attr[CONV_NORM] ? 1 : 0) + (op->attr[CONV_ACTIVATION] == SS_ACT_GELU);
    return kept * (double)ss_box_elements(main) * (double)ss_dtype_bytes(op->out[0].dtype);
}

const ss_op_kind ss_op_kind_conv2d = {
    .name = "conv2d",
    .summary =
        "convolution over images (n c h w), with optional bias, normalisation and activation",
    .slides = true,
    .min_inputs = 1,
    .max_inputs = 1,
    .attr = {{"out", SS_ATTR_REQUIRED, 1, MOST_CHANNELS, NULL, "output channels"},
             {"kernel_h", SS_ATTR_REQUIRED, 1, MOST_WINDOW, NULL, "height of the window"},
             {"kernel_w", SS_ATTR_REQUIRED, 1, MOST_WINDOW, NULL, "width of the window"},
             {"stride_h", 1, 1, MOST_WINDOW, NULL, "rows between windows"},
             {"stride_w", 1, 1, MOST_WINDOW, NULL, "columns between windows"},
             {"padding_h", 0, 0, MOST_WINDOW, NULL, "rows of zeros above and below"},
             {"padding_w", 0, 0, MOST_WINDOW, NULL, "columns of zeros left and right"},
             {"groups", 1, 1, MOST_CHANNELS, NULL, "groups of channels convolved on their own"},
             {"bias", 1, 0, 1, "bool", "add a number for each output channel"},
             {"norm", 0, 0, 0, "none|batch", "normalise the result over the batch"},
             {"activation", 0, 0, 0, SS_ACTIVATIONS, "function applied to the result"}},
    .infer = conv_infer,
    .input_box = conv_input,
    .forward = conv_forward,
    .saved = conv_saved,
};

/* Transposed convolution */

enum {
    TRANS_OUT,
    TRANS_KERNEL_H,
    TRANS_KERNEL_W,
    TRANS_STRIDE_H,
    TRANS_STRIDE_W,
    TRANS_PADDING_H,
    TRANS_PADDING_W,
    TRANS_BIAS,
    TRANS_ACTIVATION
};

static window trans_h(const ss_op_def *op)
{
    return (window){op->attr[TRANS_KERNEL_H], op->attr[TRANS_STRIDE_H], op->attr[TRANS_PADDING_H]};
}

static window trans_w(const ss_op_def *op)
{
    return (window){op->attr[TRANS_KERNEL_W], op->attr[TRANS_STRIDE_W], op->attr[TRANS_PADDING_W]};
}

static ss_status trans_count(const window *w, int64_t extent, const char *what, int64_t *out,
                             ss_error *err)
{
    if (extent > (INT64_C(1) << 40))
        return ss_fail(err, SS_ERANGE, "a %s of %lld is too large", what, (long long)extent);
    *out = (extent - 1) * w->stride - 2 * w->padding + w->size;
    if (*out < 1)
        return ss_fail(err, SS_EINVAL, "padding of %lld leaves nothing of the %s",
                       (long long)w->padding, what);
    return SS_OK;
}

static ss_status trans_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_images(op, err);
    if (s)
        return s;
    const ss_shape *in = &op->in[0];
    int64_t out = op->attr[TRANS_OUT];
    op->outputs = 1;
    op->out[0] = (ss_shape){.dtype = in->dtype, .rank = 4, .extent = {in->extent[0], out}};
    window h = trans_h(op), w = trans_w(op);
    s = trans_count(&h, in->extent[2], "height", &op->out[0].extent[2], err);
    if (!s)
        s = trans_count(&w, in->extent[3], "width", &op->out[0].extent[3], err);
    if (s)
        return s;
    ss_op_dims(op);
    op->dim[1].cls = SS_DIM_PARAMETER;
    static const int8_t follows[] = {1, -1, -1, -1};
    ss_op_weight(
        op, "w", 4,
        (int64_t[]){out, in->extent[1], op->attr[TRANS_KERNEL_H], op->attr[TRANS_KERNEL_W]},
        follows);
    if (op->attr[TRANS_BIAS])
        ss_op_weight(op, "b", 1, &out, follows);
    op->keeps_input = true;
    op->keeps_output = op->attr[TRANS_ACTIVATION] != SS_ACT_NONE;
    return SS_OK;
}

/* Input row i reaches output rows i*s - p .. i*s - p + k - 1; so the rows that reach lo .. hi-1. */
static void trans_range(const window *w, int64_t extent, int64_t lo, int64_t hi, int64_t *in_lo,
                        int64_t *in_hi)
{
    int64_t first = lo + w->padding - w->size + 1; /* may be below 0: round up by hand */
    *in_lo = at_most(first <= 0 ? 0 : (first + w->stride - 1) / w->stride, extent);
    *in_hi = at_least(at_most((hi - 1 + w->padding) / w->stride + 1, extent), *in_lo);
}

static void trans_input(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    (void)i;
    const ss_shape *x = &op->in[0];
    window h = trans_h(op), w = trans_w(op);
    *in = *main;
    in->lo[1] = 0;
    in->hi[1] = x->extent[1];
    trans_range(&h, x->extent[2], main->lo[2], main->hi[2], &in->lo[2], &in->hi[2]);
    trans_range(&w, x->extent[3], main->lo[3], main->hi[3], &in->lo[3], &in->hi[3]);
}

/* Every input element meets the whole window of every output channel; each output element gets an
 * equal share, so that the work of parts adds up to that of the whole. */
static void trans_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    double n = (double)ss_box_elements(main);
    double whole = (double)ss_shape_elements(&op->in[0]) * (double)op->attr[TRANS_OUT] *
                   (double)(op->attr[TRANS_KERNEL_H] * op->attr[TRANS_KERNEL_W]);
    work->macs = whole * (n / (double)ss_shape_elements(&op->out[0]));
    work->flops = 2 * work->macs + n * ((op->attr[TRANS_BIAS] ? 1 : 0) +
                                        ss_activation_flops(op->attr[TRANS_ACTIVATION]));
}

static double trans_saved(const ss_op_def *op, const ss_box *main)
{
    if (op->attr[TRANS_ACTIVATION] != SS_ACT_GELU)
        return 0;
    return (double)ss_box_elements(main) * (double)ss_dtype_bytes(op->out[0].dtype);
}

const ss_op_kind ss_op_kind_conv_transpose2d = {
    .name = "conv_transpose2d",
    .summary = "transposed convolution over images: makes them larger",
    .slides = true,
    .min_inputs = 1,
    .max_inputs = 1,
    .attr = {{"out", SS_ATTR_REQUIRED, 1, MOST_CHANNELS, NULL, "output channels"},
             {"kernel_h", SS_ATTR_REQUIRED, 1, MOST_WINDOW, NULL, "height of the window"},
             {"kernel_w", SS_ATTR_REQUIRED, 1, MOST_WINDOW, NULL, "width of the window"},
             {"stride_h", 1, 1, MOST_WINDOW, NULL, "output rows between windows"},
             {"stride_w", 1, 1, MOST_WINDOW, NULL, "output columns between windows"},
             {"padding_h", 0, 0, MOST_WINDOW, NULL, "output rows cut off above and below"},
             {"padding_w", 0, 0, MOST_WINDOW, NULL, "output columns cut off left and right"},
             {"bias", 1, 0, 1, "bool", "add a number for each output channel"},
             {"activation", 0, 0, 0, SS_ACTIVATIONS, "function applied to the result"}},
    .infer = trans_infer,
    .input_box = trans_input,
    .forward = trans_forward,
    .saved = trans_saved,
};

/* Pooling */

enum {
    POOL_TYPE,
    POOL_KERNEL_H,
    POOL_KERNEL_W,
    POOL_STRIDE_H,
    POOL_STRIDE_W,
    POOL_PADDING_H,
    POOL_PADDING_W
};
enum { POOL_MAX, POOL_AVG };

static window pool_h(const ss_op_def *op)
{
    return (window){op->attr[POOL_KERNEL_H], op->attr[POOL_STRIDE_H], op->attr[POOL_PADDING_H]};
}

static window pool_w(const ss_op_def *op)
{
    return (window){op->attr[POOL_KERNEL_W], op->attr[POOL_STRIDE_W], op->attr[POOL_PADDING_W]};
}

/* A window that sees nothing but padding has no maximum. */
static ss_status pool_count(const window *w, int64_t extent, const char *what, int64_t *out,
                            ss_error *err)
{
    if (w->padding > w->size / 2)
        return ss_fail(err, SS_EINVAL,
                       "padding of %lld is more than half of the window's %s of %lld",
                       (long long)w->padding, what, (long long)w->size);
    return window_count(w, extent, what, out, err);
}

static ss_status pool_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_images(op, err);
    if (s)
        return s;
    if (!op->attr[POOL_STRIDE_H])
        op->attr[POOL_STRIDE_H] = op->attr[POOL_KERNEL_H];
    if (!op->attr[POOL_STRIDE_W])
        op->attr[POOL_STRIDE_W] = op->attr[POOL_KERNEL_W];
    ss_op_like_input(op);
    window h = pool_h(op), w = pool_w(op);
    s = pool_count(&h, op->in[0].extent[2], "height", &op->out[0].extent[2], err);
    if (!s)
        s = pool_count(&w, op->in[0].extent[3], "width", &op->out[0].extent[3], err);
    ss_op_dims(op);
    op->keeps_input = op->keeps_output = op->attr[POOL_TYPE] == POOL_MAX;
    return s;
}

static void pool_input(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    (void)i;
    window h = pool_h(op), w = pool_w(op);
    *in = *main;
    window_range(&h, op->in[0].extent[2], main->lo[2], main->hi[2], &in->lo[2], &in->hi[2]);
    window_range(&w, op->in[0].extent[3], main->lo[3], main->hi[3], &in->lo[3], &in->hi[3]);
}

static void pool_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    work->flops =
        (double)ss_box_elements(main) * (double)(op->attr[POOL_KERNEL_H] * op->attr[POOL_KERNEL_W]);
}

const ss_op_kind ss_op_kind_pool2d = {
    .name = "pool2d",
    .summary = "largest or mean value of each window of an image",
    .slides = true,
    .min_inputs = 1,
    .max_inputs = 1,
    .attr = {{"type", POOL_MAX, 0, 0, "max|avg", "which value of a window; a mean leaves padding out"},
             {"kernel_h", SS_ATTR_REQUIRED, 1, MOST_WINDOW, NULL, "height of the window"},
             {"kernel_w", SS_ATTR_REQUIRED, 1, MOST_WINDOW, NULL, "width of the window"},
             {"stride_h", 0, 0, MOST_WINDOW, NULL, "rows between windows; 0: the window's height"},
             {"stride_w", 0, 0, MOST_WINDOW, NULL, "columns between windows; 0: its width"},
             {"padding_h", 0, 0, MOST_WINDOW, NULL, "rows of padding above and below"},
             {"padding_w", 0, 0, MOST_WINDOW, NULL, "columns of padding left and right"}},
    .infer = pool_infer,
    .input_box = pool_input,
    .forward = pool_forward,
};

/* Upsampling */

enum { UP_FACTOR_H, UP_FACTOR_W };

static ss_status up_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_images(op, err);
    if (s)
        return s;
    ss_op_like_input(op);
    for (uint32_t d = 2; d < 4; d++) {
        int64_t factor = op->attr[d == 2 ? UP_FACTOR_H : UP_FACTOR_W];
        if (op->in[0].extent[d] > INT64_MAX / factor)
            return ss_fail(err, SS_ERANGE, "%lld times an extent of %lld is too large",
                           (long long)factor, (long long)op->in[0].extent[d]);
        op->out[0].extent[d] *= factor;
    }
    ss_op_dims(op);
    return SS_OK;
}

static void up_input(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    (void)i;
    *in = *main;
    for (uint32_t d = 2; d < 4; d++) {
        int64_t factor = op->attr[d == 2 ? UP_FACTOR_H : UP_FACTOR_W];
        in->lo[d] = main->lo[d] / factor;
        in->hi[d] = (main->hi[d] - 1) / factor + 1;
    }
}

/* Forward copies, backward adds: one operation for each element of the larger image. */
static void up_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    (void)op;
    work->flops = (double)ss_box_elements(main);
}

const ss_op_kind ss_op_kind_upsample2d = {
    .name = "upsample2d",
    .summary = "each pixel becomes a block of equal ones (nearest neighbour)",
    .min_inputs = 1,
    .max_inputs = 1,
    .attr = {{"factor_h", 2, 1, MOST_WINDOW, NULL, "how many times as high"},
             {"factor_w", 2, 1, MOST_WINDOW, NULL, "how many times as wide"}},
    .infer = up_infer,
    .input_box = up_input,
    .forward = up_forward,
};
