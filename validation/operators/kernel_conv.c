/* kernel_conv.c - convolutions over images and their transposes, with bias, normalisation and function.
 *
 * oneDNN convolves whole groups, and windows that see something.  A part may begin or end within a group of
 * channels, so it is computed in up to three runs of channels: the rest of a group, whole groups, a begun group.
 * Output rows that only see padding (or between which a transpose leaves gaps at the rim) are bias and nothing
 * else; they are left out of the runs, and all of them are a part's that reads nothing.
 */
#include "validation/operators/onednn_inside.h"

#include <math.h>
#include <string.h>

#include "graph/op_kinds.h"

enum { RUNS = 3, N = 0, C = 1, H = 2, W = 3 };

/* Geometry of one spatial dimension of a part: the outputs that see inputs, and the padding of just those. */
typedef struct axis {
    int64_t size, stride; /* of the window */
    int64_t in;           /* inputs */
    int64_t first, out;   /* outputs lie at first .. first + out - 1 of the part's */
    int64_t before, after;
} axis;

typedef struct run {
    int64_t groups, in, out;       /* channels, of all groups */
    int64_t first_in, first_out;   /* in the part */
    dnnl_memory_desc_t x, w, b, y; /* how its arrays lie in the part's */
    dnnl_memory_desc_t wx, ww, wy; /* the same with layouts left open */
    ss_onednn_call forward, back_data, back_weights;
} run;

typedef struct slide {
    ss_onednn_part part;
    bool transposed, bias;
    int64_t images, in_channels, out_channels, in_each;
    int64_t out_h, out_w; /* of the part, without leaving anything out */
    axis h, w;
    uint32_t runs;
    run run[RUNS];
    float *some_weights; /* gradients of weights before they are added */

    bool norm, applies;
    ss_onednn_call normalise, normalise_back;
    float *product, *normal; /* what was normalised; what the function was applied to */
    ss_onednn_function function;
    float *gradient, *gradients_of_norm; /* of the product; of scale, then of shift */
} slide;

/* Geometry */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t up(int64_t a, int64_t b) /* a / b rounded up, of a that may be below 0 */
{
    return a <= 0 ? -(-a / b) : (a + b - 1) / b;
}

static int64_t down(int64_t a, int64_t b)
{
    return -up(-a, b);
}

/* Output o sees inputs at + o stride .. at + o stride + size - 1 of those that the part reads. */
static void conv_axis(axis *a, int64_t padding, int64_t lo, int64_t hi, int64_t in_lo)
{
    int64_t at = lo * a->stride - padding - in_lo;
    a->first = most(0, up(1 - a->size - at, a->stride));
    a->out = least(hi - lo, down(a->in - 1 - at, a->stride) + 1) - a->first;
    a->before = -(at + a->first * a->stride);
    a->after = (a->out - 1) * a->stride + a->size - a->before - a->in;
}

/* Input i reaches outputs at + i stride .. at + i stride + size - 1 of the part's. */
static void transposed_axis(axis *a, int64_t padding, int64_t lo, int64_t hi, int64_t in_lo)
{
    int64_t at = in_lo * a->stride - padding - lo;
    a->first = most(0, at);
    a->out = least(hi - lo, at + (a->in - 1) * a->stride + a->size) - a->first;
    a->before = a->first - at;
    a->after = (a->in - 1) * a->stride + a->size - a->before - a->out;
}

static void axes(slide *c, const ss_box *x)
{
    const ss_op_def *op = c->part.kernel.op;
    const ss_box *y = &c->part.kernel.main;
    c->h = (axis){.size = ss_kernel_attr(op, "kernel_h"),
                  .stride = ss_kernel_attr(op, "stride_h"),
                  .in = ss_onednn_extent(x, H)};
    c->w = (axis){.size = ss_kernel_attr(op, "kernel_w"),
                  .stride = ss_kernel_attr(op, "stride_w"),
                  .in = ss_onednn_extent(x, W)};
    void (*set)(axis *, int64_t, int64_t, int64_t, int64_t) =
        c->transposed ? transposed_axis : conv_axis;
    set(&c->h, ss_kernel_attr(op, "padding_h"), y->lo[H], y->hi[H], x->lo[H]);
    set(&c->w, ss_kernel_attr(op, "padding_w"), y->lo[W], y->hi[W], x->lo[W]);
}

/* Output channels lo .. hi-1, which are of whole groups or of one. */
static void add_run(slide *c, int64_t lo, int64_t hi, int64_t in_each, int64_t out_each)
{
    if (lo >= hi)
        return;
    int64_t begin = c->part.kernel.main.lo[C], group = lo / out_each,
            groups = most(1, (hi - lo) / out_each);
    c->run[c->runs++] = (run){.groups = groups,
                              .in = groups * in_each,
                              .out = hi - lo,
                              .first_in = (group - begin / out_each) * in_each,
                              .first_out = lo - begin};
}

static void set_runs(slide *c, int64_t groups)
{
    const ss_op_def *op = c->part.kernel.op;
    int64_t in_each = op->in[0].extent[C] / groups, out_each = op->out[0].extent[C] / groups;
    int64_t lo = c->part.kernel.main.lo[C], hi = c->part.kernel.main.hi[C];
    int64_t whole_lo = least(hi, up(lo, out_each) * out_each),
            whole_hi = most(whole_lo, hi / out_each * out_each);
    c->in_each = in_each;
    add_run(c, lo, whole_lo, in_each, out_each);
    add_run(c, whole_lo, whole_hi, in_each, out_each);
    add_run(c, whole_hi, hi, in_each, out_each);
}

/* Primitives */

static dnnl_memory_desc_t within(const int64_t *all, const int64_t *first, const int64_t *extent)
{
    dnnl_memory_desc_t whole = ss_onednn_dense(4, all), part;
    (void)dnnl_memory_desc_init_submemory(&part, &whole, extent, first);
    return part;
}

static void describe(const slide *c, run *r)
{
    dnnl_dims_t x = {c->images, r->in, c->h.in, c->w.in},
                y = {c->images, r->out, c->h.out, c->w.out},
                w = {r->groups, r->out / r->groups, c->in_each, c->h.size, c->w.size};
    uint32_t plain = r->groups == 1;
    r->x = within((dnnl_dims_t){c->images, c->in_channels, c->h.in, c->w.in},
                  (dnnl_dims_t){0, r->first_in, 0, 0}, x);
    r->y = within((dnnl_dims_t){c->images, c->out_channels, c->out_h, c->out_w},
                  (dnnl_dims_t){0, r->first_out, c->h.first, c->w.first}, y);
    r->w = ss_onednn_dense(5 - plain, w + plain);
    r->b = ss_onednn_dense(1, &r->out);
    r->wx = ss_onednn_any(4, x);
    r->wy = ss_onednn_any(4, y);
    r->ww = ss_onednn_any(5 - plain, w + plain);
}

static ss_status make_forward(slide *c, run *r, ss_error *err)
{
    ss_onednn_part *p = &c->part;
    dnnl_dims_t stride = {c->h.stride, c->w.stride}, before = {c->h.before, c->w.before},
                after = {c->h.after, c->w.after};
    const dnnl_memory_desc_t *bias = c->bias ? &r->b : NULL;
    dnnl_convolution_desc_t d;
    dnnl_status_t made =
        c->transposed
            ? dnnl_deconvolution_forward_desc_init(&d, dnnl_forward_training,
                                                   dnnl_deconvolution_direct, &r->wx, &r->ww, bias,
                                                   &r->wy, stride, before, after)
            : dnnl_convolution_forward_desc_init(&d, dnnl_forward_training, dnnl_convolution_direct,
                                                 &r->wx, &r->ww, bias, &r->wy, stride, before,
                                                 after);
    ss_status s = ss_onednn_status(made, "a convolution", err);
    if (!s)
        s = ss_onednn_call_make(p, &r->forward, "a convolution", &d, NULL, err);
    if (!s)
        s = ss_onednn_reads(p, &r->forward, DNNL_ARG_SRC, &r->x, err);
    if (!s)
        s = ss_onednn_reads(p, &r->forward, DNNL_ARG_WEIGHTS, &r->w, err);
    if (!s && c->bias)
        s = ss_onednn_reads(p, &r->forward, DNNL_ARG_BIAS, &r->b, err);
    if (!s)
        s = ss_onednn_writes(p, &r->forward, DNNL_ARG_DST, &r->y, err);
    return s;
}

static ss_status make_back_data(slide *c, run *r, ss_error *err)
{
    ss_onednn_part *p = &c->part;
    dnnl_dims_t stride = {c->h.stride, c->w.stride}, before = {c->h.before, c->w.before},
                after = {c->h.after, c->w.after};
    dnnl_convolution_desc_t d;
    dnnl_status_t made =
        c->transposed
            ? dnnl_deconvolution_backward_data_desc_init(&d, dnnl_deconvolution_direct, &r->wx,
                                                         &r->ww, &r->wy, stride, before, after)
            : dnnl_convolution_backward_data_desc_init(&d, dnnl_convolution_direct, &r->wx, &r->ww,
                                                       &r->wy, stride, before, after);
    static const char what[] = "a convolution's gradient by its input";
    ss_status s = ss_onednn_status(made, what, err);
    if (!s)
        s = ss_onednn_call_make(p, &r->back_data, what, &d, &r->forward, err);
    if (!s)
        s = ss_onednn_reads(p, &r->back_data, DNNL_ARG_DIFF_DST, &r->y, err);
    if (!s)
        s = ss_onednn_reads(p, &r->back_data, DNNL_ARG_WEIGHTS, &r->w, err);
    if (!s)
        s = ss_onednn_writes(p, &r->back_data, DNNL_ARG_DIFF_SRC, &r->x, err);
    return s;
}

static ss_status make_back_weights(slide *c, run *r, ss_error *err)
{
    ss_onednn_part *p = &c->part;
    dnnl_dims_t stride = {c->h.stride, c->w.stride}, before = {c->h.before, c->w.before},
                after = {c->h.after, c->w.after};
    dnnl_convolution_desc_t d;
    dnnl_status_t made =
        c->transposed ? dnnl_deconvolution_backward_weights_desc_init(&d, dnnl_deconvolution_direct,
                                                                      &r->wx, &r->ww, NULL, &r->wy,
                                                                      stride, before, after)
                      : dnnl_convolution_backward_weights_desc_init(&d, dnnl_convolution_direct,
                                                                    &r->wx, &r->ww, NULL, &r->wy,
                                                                    stride, before, after);
    static const char what[] = "a convolution's gradient by its weights";
    ss_status s = ss_onednn_status(made, what, err);
    if (!s)
        s = ss_onednn_call_make(p, &r->back_weights, what, &d, &r->forward, err);
    if (!s)
        s = ss_onednn_reads(p, &r->back_weights, DNNL_ARG_SRC, &r->x, err);
    if (!s)
        s = ss_onednn_reads(p, &r->back_weights, DNNL_ARG_DIFF_DST, &r->y, err);
    if (!s)
        s = ss_onednn_writes(p, &r->back_weights, DNNL_ARG_DIFF_WEIGHTS, &r->w, err);
    return s;
}

static ss_status make_run(slide *c, run *r, ss_error *err)
{
    describe(c, r);
    ss_status s = make_forward(c, r, err);
    if (!s)
        s = make_back_data(c, r, err);
    if (!s)
        s = make_back_weights(c, r, err);
    return s;
}

static ss_status make_norm(slide *c, ss_error *err)
{
    ss_onednn_part *p = &c->part;
    dnnl_memory_desc_t y = ss_onednn_dense_box(&p->kernel.main),
                       channels = ss_onednn_dense(1, &c->out_channels);
    unsigned flags = dnnl_use_scale | dnnl_use_shift;
    dnnl_batch_normalization_desc_t d;
    ss_onednn_call *f = &c->normalise, *b = &c->normalise_back;
    ss_status s = ss_onednn_status(dnnl_batch_normalization_forward_desc_init(
                                       &d, dnnl_forward_training, &y, SS_KERNEL_EPSILON, flags),
                                   "a normalisation", err);
    if (!s)
        s = ss_onednn_call_make(p, f, "a normalisation", &d, NULL, err);
    if (!s)
        s = ss_onednn_reads(p, f, DNNL_ARG_SRC, &y, err);
    if (!s)
        s = ss_onednn_reads(p, f, DNNL_ARG_SCALE, &channels, err);
    if (!s)
        s = ss_onednn_reads(p, f, DNNL_ARG_SHIFT, &channels, err);
    if (!s)
        s = ss_onednn_writes(p, f, DNNL_ARG_DST, &y, err);
    if (!s)
        s = ss_onednn_keeps(p, f, DNNL_ARG_MEAN, err);
    if (!s)
        s = ss_onednn_keeps(p, f, DNNL_ARG_VARIANCE, err);
    if (s)
        return s;
    s = ss_onednn_status(dnnl_batch_normalization_backward_desc_init(&d, dnnl_backward, &y, &y,
                                                                     SS_KERNEL_EPSILON, flags),
                         "a normalisation's gradient", err);
    if (!s)
        s = ss_onednn_call_make(p, b, "a normalisation's gradient", &d, f, err);
    if (!s)
        s = ss_onednn_reads(p, b, DNNL_ARG_SRC, &y, err);
    if (!s)
        s = ss_onednn_reads(p, b, DNNL_ARG_DIFF_DST, &y, err);
    if (!s)
        s = ss_onednn_reads(p, b, DNNL_ARG_SCALE, &channels, err);
    if (!s) /* not used, but asked for */
        s = ss_onednn_reads(p, b, DNNL_ARG_SHIFT, &channels, err);
    if (!s)
        s = ss_onednn_shares(b, DNNL_ARG_MEAN, f, DNNL_ARG_MEAN, err);
    if (!s)
        s = ss_onednn_shares(b, DNNL_ARG_VARIANCE, f, DNNL_ARG_VARIANCE, err);
    if (!s)
        s = ss_onednn_writes(p, b, DNNL_ARG_DIFF_SRC, &y, err);
    if (!s)
        s = ss_onednn_writes(p, b, DNNL_ARG_DIFF_SCALE, &channels, err);
    if (!s)
        s = ss_onednn_writes(p, b, DNNL_ARG_DIFF_SHIFT, &channels, err);
    return s;
}

/* What stands behind the product. */
static ss_status make_rest(slide *c, ss_error *err)
{
    ss_onednn_part *p = &c->part;
    int64_t n = ss_box_elements(&p->kernel.main),
            activation = ss_kernel_attr(p->kernel.op, "activation");
    c->applies = activation != SS_ACT_NONE;
    ss_status s = SS_OK;
    if (c->norm) {
        s = make_norm(c, err);
        if (!s)
            s = ss_onednn_floats(p, n, &c->product, err);
        if (!s)
            s = ss_onednn_floats(p, 2 * c->out_channels, &c->gradients_of_norm, err);
    }
    if (!s && c->applies)
        s = ss_onednn_function_make(p, &c->function, activation, n, err);
    if (!s && c->applies && c->function.from_argument)
        s = ss_onednn_floats(p, n, &c->normal, err);
    if (!s && (c->norm || c->applies))
        s = ss_onednn_floats(p, n, &c->gradient, err);
    return s;
}

static ss_status make_slide(slide *c, int64_t groups, ss_error *err)
{
    ss_onednn_part *p = &c->part;
    ss_box x = ss_onednn_in(p, 0), w = ss_onednn_weight(p, 0);
    c->bias = ss_kernel_attr(p->kernel.op, "bias") != 0;
    c->images = ss_onednn_extent(&p->kernel.main, N);
    c->in_channels = ss_onednn_extent(&x, C);
    c->out_channels = ss_onednn_extent(&p->kernel.main, C);
    c->out_h = ss_onednn_extent(&p->kernel.main, H);
    c->out_w = ss_onednn_extent(&p->kernel.main, W);
    ss_status s = SS_OK;
    if (!ss_box_empty(&x)) {
        axes(c, &x);
        set_runs(c, groups);
    }
    for (uint32_t r = 0; r < c->runs && !s; r++)
        s = make_run(c, &c->run[r], err);
    if (!s)
        s = ss_onednn_floats(p, ss_box_elements(&w), &c->some_weights, err);
    if (!s)
        s = make_rest(c, err);
    return s;
}

static ss_status conv2d_make(ss_onednn_part *part, ss_error *err)
{
    slide *c = (slide *)part;
    c->norm = ss_kernel_attr(part->kernel.op, "norm") != 0;
    return make_slide(c, ss_kernel_attr(part->kernel.op, "groups"), err);
}

static ss_status conv_transpose2d_make(ss_onednn_part *part, ss_error *err)
{
    slide *c = (slide *)part;
    c->transposed = true;
    return make_slide(c, 1, err);
}

/* Arithmetic */

/* Outputs that no run writes: all of them, where some are left out. */
static void fill(const slide *c, const float *bias, float *y)
{
    int64_t n = c->out_h * c->out_w;
    if (c->runs && c->h.out == c->out_h && c->w.out == c->out_w)
        return;
    for (int64_t i = 0; i < c->images; i++)
        for (int64_t o = 0; o < c->out_channels; o++, y += n)
            for (int64_t j = 0; j < n; j++)
                y[j] = bias ? bias[o] : 0;
}

static ss_status product(slide *c, const ss_kernel_io *io, float *y, ss_error *err)
{
    int64_t each = c->in_each * c->h.size * c->w.size;
    fill(c, c->bias ? io->weight[1] : NULL, y);
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < c->runs && !s; i++) {
        run *r = &c->run[i];
        ss_onednn_bind(&r->forward, DNNL_ARG_SRC, io->in[0]);
        ss_onednn_bind(&r->forward, DNNL_ARG_WEIGHTS, io->weight[0] + r->first_out * each);
        if (c->bias)
            ss_onednn_bind(&r->forward, DNNL_ARG_BIAS, io->weight[1] + r->first_out);
        ss_onednn_bind(&r->forward, DNNL_ARG_DST, y);
        s = ss_onednn_run(&c->part, &r->forward, err);
    }
    return s;
}

static ss_status slide_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    slide *c = (slide *)part;
    float *y = io->out[0], *normal = c->normal ? c->normal : y;
    ss_status s = product(c, io, c->norm ? c->product : normal, err);
    if (!s && c->norm) {
        ss_onednn_bind(&c->normalise, DNNL_ARG_SRC, c->product);
        ss_onednn_bind(&c->normalise, DNNL_ARG_SCALE, io->weight[c->bias + 1]);
        ss_onednn_bind(&c->normalise, DNNL_ARG_SHIFT, io->weight[c->bias + 2]);
        ss_onednn_bind(&c->normalise, DNNL_ARG_DST, normal);
        s = ss_onednn_run(part, &c->normalise, err);
    }
    if (!s && c->applies)
        s = ss_onednn_function_forward(part, &c->function, normal, y, err);
    return s;
}

static void put(const float *from, int64_t n, bool add, float *to)
{
    if (!add)
        memcpy(to, from, (size_t)n * sizeof *to);
    else
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            to[i] += from[i];
}

static ss_status back_norm(slide *c, const ss_kernel_io *io, unsigned what, const float *dy,
                           ss_error *err)
{
    ss_onednn_call *b = &c->normalise_back;
    uint32_t scale = c->bias + 1u, shift = c->bias + 2u;
    int64_t n = c->out_channels;
    ss_onednn_bind(b, DNNL_ARG_SRC, c->product);
    ss_onednn_bind(b, DNNL_ARG_DIFF_DST, dy);
    ss_onednn_bind(b, DNNL_ARG_SCALE, io->weight[scale]);
    ss_onednn_bind(b, DNNL_ARG_SHIFT, io->weight[shift]);
    ss_onednn_bind(b, DNNL_ARG_DIFF_SRC, c->gradient);
    ss_onednn_bind(b, DNNL_ARG_DIFF_SCALE, c->gradients_of_norm);
    ss_onednn_bind(b, DNNL_ARG_DIFF_SHIFT, c->gradients_of_norm + n);
    ss_status s = ss_onednn_run(&c->part, b, err);
    if (!s && ss_onednn_wants_weight(io, what, scale))
        put(c->gradients_of_norm, n, io->add_weight_gradient, io->weight_gradient[scale]);
    if (!s && ss_onednn_wants_weight(io, what, shift))
        put(c->gradients_of_norm + n, n, io->add_weight_gradient, io->weight_gradient[shift]);
    return s;
}

/* What a bias adds to a channel its normalisation takes away: what would be summed up is rounding. */
static void back_bias(const slide *c, const float *dy, bool add, float *db)
{
    int64_t n = c->out_h * c->out_w;
    if (!add)
        memset(db, 0, (size_t)c->out_channels * sizeof *db);
    if (c->norm)
        return;
    for (int64_t i = 0; i < c->images; i++)
        for (int64_t o = 0; o < c->out_channels; o++, dy += n) {
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t j = 0; j < n; j++)
                sum += dy[j];
            db[o] += sum;
        }
}

static ss_status back_input(slide *c, const ss_kernel_io *io, const float *dy, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < c->runs && !s; i++) {
        run *r = &c->run[i];
        ss_onednn_bind(&r->back_data, DNNL_ARG_DIFF_DST, dy);
        ss_onednn_bind(&r->back_data, DNNL_ARG_WEIGHTS,
                       io->weight[0] + r->first_out * c->in_each * c->h.size * c->w.size);
        ss_onednn_bind(&r->back_data, DNNL_ARG_DIFF_SRC, io->in_gradient[0]);
        s = ss_onednn_run(&c->part, &r->back_data, err);
    }
    return s;
}

static ss_status back_weights(slide *c, const ss_kernel_io *io, const float *dy, ss_error *err)
{
    ss_box w = ss_onednn_weight(&c->part, 0);
    bool add = io->add_weight_gradient;
    float *dw = add ? c->some_weights : io->weight_gradient[0];
    ss_status s = SS_OK;
    if (!c->runs)
        memset(dw, 0, (size_t)ss_box_elements(&w) * sizeof *dw);
    for (uint32_t i = 0; i < c->runs && !s; i++) {
        run *r = &c->run[i];
        ss_onednn_bind(&r->back_weights, DNNL_ARG_SRC, io->in[0]);
        ss_onednn_bind(&r->back_weights, DNNL_ARG_DIFF_DST, dy);
        ss_onednn_bind(&r->back_weights, DNNL_ARG_DIFF_WEIGHTS,
                       dw + r->first_out * c->in_each * c->h.size * c->w.size);
        s = ss_onednn_run(&c->part, &r->back_weights, err);
    }
    if (!s && add)
        put(dw, ss_box_elements(&w), true, io->weight_gradient[0]);
    return s;
}

static ss_status slide_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                ss_error *err)
{
    slide *c = (slide *)part;
    const float *dy = io->out_gradient[0];
    ss_status s = SS_OK;
    if (c->applies) {
        s = ss_onednn_function_backward(part, &c->function, c->normal ? c->normal : io->out[0], dy,
                                        c->gradient, err);
        dy = c->gradient;
    }
    if (!s && c->norm) {
        s = back_norm(c, io, what, dy, err);
        dy = c->gradient;
    }
    if (!s && ss_onednn_wants_input(io, what, 0))
        s = back_input(c, io, dy, err);
    if (!s && ss_onednn_wants_weight(io, what, 0))
        s = back_weights(c, io, dy, err);
    if (!s && c->bias && ss_onednn_wants_weight(io, what, 1))
        back_bias(c, dy, io->add_weight_gradient, io->weight_gradient[1]);
    return s;
}

const ss_onednn_kind ss_onednn_conv2d = {
    "conv2d", sizeof(slide), conv2d_make, slide_forward, slide_backward,
};

const ss_onednn_kind ss_onednn_conv_transpose2d = {
    "conv_transpose2d", sizeof(slide), conv_transpose2d_make, slide_forward, slide_backward,
};
