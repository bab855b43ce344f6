/* kernel_norm.c - normalisation over the batch or over the features of each position.
 *
 * oneDNN has both where the features of a position lie together; the rest is ours: images (it has their batches, but
 * 2.6 takes four times as long as these loops where channels lie apart), and roots of mean squares.
 *
 * Statistics of a batch are those of the part, in training as everywhere.  The averages of them that libraries
 * keep for later use are left out: two numbers a channel.
 */
#include "validation/operators/onednn_inside.h"

#include <math.h>
#include <string.h>

/* Of oneDNN's: rows of batch_norm and of layer_norm */

typedef struct norm {
    ss_onednn_part part;
    ss_onednn_channels by;
    ss_onednn_call forward, backward;
    float *weights, *weight_gradients; /* scales, then shifts: as oneDNN wants them */
    float *gradient; /* of the input where nobody wants it: oneDNN writes it all the same */
} norm;

static ss_status norm_make_forward(norm *k, const dnnl_memory_desc_t *data,
                                   const dnnl_memory_desc_t *weights, const_dnnl_op_desc_t desc,
                                   ss_error *err)
{
    ss_onednn_part *p = &k->part;
    ss_onednn_call *c = &k->forward;
    ss_status s = ss_onednn_call_make(p, c, "a normalisation", desc, NULL, err);
    if (!s)
        s = ss_onednn_reads(p, c, DNNL_ARG_SRC, data, err);
    if (!s)
        s = ss_onednn_reads(p, c, DNNL_ARG_SCALE_SHIFT, weights, err);
    if (!s)
        s = ss_onednn_writes(p, c, DNNL_ARG_DST, data, err);
    if (!s)
        s = ss_onednn_keeps(p, c, DNNL_ARG_MEAN, err);
    if (!s)
        s = ss_onednn_keeps(p, c, DNNL_ARG_VARIANCE, err);
    return s;
}

static ss_status norm_make_backward(norm *k, const dnnl_memory_desc_t *data,
                                    const dnnl_memory_desc_t *weights, const_dnnl_op_desc_t desc,
                                    ss_error *err)
{
    ss_onednn_part *p = &k->part;
    ss_onednn_call *c = &k->backward;
    ss_status s = ss_onednn_call_make(p, c, "gradients of a normalisation", desc, &k->forward, err);
    if (!s)
        s = ss_onednn_reads(p, c, DNNL_ARG_SRC, data, err);
    if (!s)
        s = ss_onednn_reads(p, c, DNNL_ARG_SCALE_SHIFT, weights, err);
    if (!s)
        s = ss_onednn_reads(p, c, DNNL_ARG_DIFF_DST, data, err);
    if (!s)
        s = ss_onednn_shares(c, DNNL_ARG_MEAN, &k->forward, DNNL_ARG_MEAN, err);
    if (!s)
        s = ss_onednn_shares(c, DNNL_ARG_VARIANCE, &k->forward, DNNL_ARG_VARIANCE, err);
    if (!s)
        s = ss_onednn_writes(p, c, DNNL_ARG_DIFF_SRC, data, err);
    if (!s)
        s = ss_onednn_writes(p, c, DNNL_ARG_DIFF_SCALE_SHIFT, weights, err);
    return s;
}

static ss_status norm_make(norm *k, const dnnl_memory_desc_t *data, const_dnnl_op_desc_t forward,
                           const_dnnl_op_desc_t backward, ss_error *err)
{
    dnnl_memory_desc_t weights = ss_onednn_dense(2, (int64_t[]){2, k->by.channels});
    ss_status s = ss_onednn_floats(&k->part, 2 * k->by.channels, &k->weights, err);
    if (!s)
        s = ss_onednn_floats(&k->part, 2 * k->by.channels, &k->weight_gradients, err);
    if (!s)
        s = ss_onednn_floats(&k->part, ss_box_elements(&k->part.kernel.main), &k->gradient, err);
    if (!s)
        s = norm_make_forward(k, data, &weights, forward, err);
    if (!s)
        s = norm_make_backward(k, data, &weights, backward, err);
    return s;
}

static ss_status norm_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    norm *k = (norm *)part;
    for (uint32_t w = 0; w < part->kernel.op->weights; w++)
        memcpy(k->weights + w * k->by.channels, io->weight[w],
               (size_t)k->by.channels * sizeof(float));
    ss_onednn_bind(&k->forward, DNNL_ARG_SRC, io->in[0]);
    ss_onednn_bind(&k->forward, DNNL_ARG_SCALE_SHIFT, k->weights);
    ss_onednn_bind(&k->forward, DNNL_ARG_DST, io->out[0]);
    return ss_onednn_run(part, &k->forward, err);
}

static ss_status norm_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                               ss_error *err)
{
    norm *k = (norm *)part;
    if (!what)
        return SS_OK;
    ss_onednn_bind(&k->backward, DNNL_ARG_SRC, io->in[0]);
    ss_onednn_bind(&k->backward, DNNL_ARG_SCALE_SHIFT, k->weights);
    ss_onednn_bind(&k->backward, DNNL_ARG_DIFF_DST, io->out_gradient[0]);
    ss_onednn_bind(&k->backward, DNNL_ARG_DIFF_SRC,
                   ss_onednn_wants_input(io, what, 0) ? io->in_gradient[0] : k->gradient);
    ss_onednn_bind(&k->backward, DNNL_ARG_DIFF_SCALE_SHIFT, k->weight_gradients);
    ss_status s = ss_onednn_run(part, &k->backward, err);
    for (uint32_t w = 0; w < part->kernel.op->weights && !s; w++)
        if (ss_onednn_wants_weight(io, what, w))
            ss_onednn_sum_rows(1, k->by.channels, k->weight_gradients + w * k->by.channels,
                               io->add_weight_gradient, io->weight_gradient[w]);
    return s;
}

/* batch_norm */

typedef struct batch {
    norm norm;          /* first; of images no more of it is used than part and sizes */
    float *mean, *root; /* of each channel; root is 1 over that of variance and epsilon */
} batch;

/* Rows of channels are to oneDNN the pixels of one image with its channels last: as rows they are slow. */
static ss_status batch_make_rows(norm *k, ss_error *err)
{
    dnnl_memory_desc_t data;
    (void)dnnl_memory_desc_init_by_tag(&data, 4, (dnnl_dims_t){1, k->by.channels, k->by.outer, 1},
                                       dnnl_f32, dnnl_nhwc);
    dnnl_batch_normalization_desc_t forward, backward;
    ss_status s = ss_onednn_status(
        dnnl_batch_normalization_forward_desc_init(&forward, dnnl_forward_training, &data,
                                                   SS_KERNEL_EPSILON, dnnl_use_scaleshift),
        "a normalisation", err);
    if (!s)
        s = ss_onednn_status(
            dnnl_batch_normalization_backward_desc_init(&backward, dnnl_backward, &data, &data,
                                                        SS_KERNEL_EPSILON, dnnl_use_scaleshift),
            "gradients of a normalisation", err);
    return s ? s : norm_make(k, &data, &forward, &backward, err);
}

static ss_status batch_make(ss_onednn_part *part, ss_error *err)
{
    batch *k = (batch *)part;
    k->norm.by = ss_onednn_by_channel(part);
    if (k->norm.by.inner == 1)
        return batch_make_rows(&k->norm, err);
    ss_status s = ss_onednn_floats(part, k->norm.by.channels, &k->mean, err);
    if (!s)
        s = ss_onednn_floats(part, k->norm.by.channels, &k->root, err);
    return s;
}

/* Images: n pixels of a channel lie together.  Of long runs floats would lose what is added last, so sums of images
 * are added as doubles. */

static float run_sum(int64_t n, const float *x)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

static float run_squares(int64_t n, const float *x, float mean)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum;
}

static float run_products(int64_t n, const float *x, float mean, const float *dy)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += (x[i] - mean) * dy[i];
    return sum;
}

static void run_forward(int64_t n, const float *x, float mean, float by, float shift, float *y)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * by + shift;
}

static void run_input(int64_t n, const float *x, float mean, const float *dy, float by,
                      float gradient, float back, float *dx)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        dx[i] = by * (dy[i] - gradient - (x[i] - mean) * back);
}

static ss_status batch_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    batch *k = (batch *)part;
    int64_t outer = k->norm.by.outer, n = k->norm.by.inner, image = n * k->norm.by.channels;
    if (n == 1)
        return norm_forward(part, io, err);
    for (int64_t c = 0; c < k->norm.by.channels; c++) {
        const float *x = (const float *)io->in[0] + c * n;
        double sum = 0, squares = 0, all = (double)(outer * n);
        for (int64_t o = 0; o < outer; o++)
            sum += (double)run_sum(n, x + o * image);
        k->mean[c] = (float)(sum / all);
        for (int64_t o = 0; o < outer; o++)
            squares += (double)run_squares(n, x + o * image, k->mean[c]);
        k->root[c] = 1 / sqrtf((float)(squares / all) + SS_KERNEL_EPSILON);
        for (int64_t o = 0; o < outer; o++)
            run_forward(n, x + o * image, k->mean[c], k->root[c] * io->weight[0][c],
                        io->weight[1][c], io->out[0] + o * image + c * n);
    }
    return SS_OK;
}

static ss_status batch_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                ss_error *err)
{
    batch *k = (batch *)part;
    int64_t outer = k->norm.by.outer, n = k->norm.by.inner, image = n * k->norm.by.channels;
    if (n == 1)
        return norm_backward(part, io, what, err);
    for (int64_t c = 0; c < k->norm.by.channels; c++) {
        const float *x = (const float *)io->in[0] + c * n, *dy = io->out_gradient[0] + c * n;
        double gradient = 0, back = 0, all = (double)(outer * n);
        float mean = k->mean[c], root = k->root[c];
        for (int64_t o = 0; o < outer; o++) {
            gradient += (double)run_sum(n, dy + o * image);
            back += (double)run_products(n, x + o * image, mean, dy + o * image);
        }
        back *= (double)root;
        for (int64_t o = 0; o < outer && ss_onednn_wants_input(io, what, 0); o++)
            run_input(n, x + o * image, mean, dy + o * image, root * io->weight[0][c],
                      (float)(gradient / all), (float)(back / all) * root,
                      io->in_gradient[0] + o * image + c * n);
        float total[2] = {(float)back, (float)gradient};
        for (uint32_t w = 0; w < 2; w++)
            if (ss_onednn_wants_weight(io, what, w))
                io->weight_gradient[w][c] =
                    total[w] + (io->add_weight_gradient ? io->weight_gradient[w][c] : 0);
    }
    return SS_OK;
}

const ss_onednn_kind ss_onednn_batch_norm = {
    "batch_norm", sizeof(batch), batch_make, batch_forward, batch_backward,
};

/* Ours: y = (x - mean) root scale + shift, of each position; root is 1 over that of variance and epsilon.  Of
 * rms_norm the mean counts as 0, and there is no shift. */

typedef struct positions {
    norm norm; /* first; where this is ours no more of it is used than part and sizes */
    bool ours, centred;
    float *mean, *root;             /* of each position; a mean that counts as 0 stays 0 */
    float *gradient_sum, *back_sum; /* over channels, of the positions of one image */
} positions;

static ss_status positions_make(positions *k, bool centred, ss_error *err)
{
    ss_onednn_part *p = &k->norm.part;
    int64_t inner = k->norm.by.inner, n = k->norm.by.outer * inner;
    k->ours = true;
    k->centred = centred;
    ss_status s = ss_onednn_floats(p, n, &k->mean, err);
    if (!s)
        s = ss_onednn_floats(p, n, &k->root, err);
    if (!s)
        s = ss_onednn_floats(p, inner, &k->gradient_sum, err);
    if (!s)
        s = ss_onednn_floats(p, inner, &k->back_sum, err);
    return s;
}

/* Rows of channels: no mean, no shift. */
static void row_forward(int64_t n, const float *x, const float *scale, float *root, float *y)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < n; c++)
        sum += x[c] * x[c];
    float r = 1 / sqrtf(sum / (float)n + SS_KERNEL_EPSILON);
#pragma omp simd
    for (int64_t c = 0; c < n; c++)
        y[c] = x[c] * r * scale[c];
    *root = r;
}

static void row_input(int64_t n, const float *x, const float *scale, float r, const float *dy,
                      float *dx)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < n; c++)
        sum += dy[c] * scale[c] * x[c];
    float back = sum * r * r / (float)n;
#pragma omp simd
    for (int64_t c = 0; c < n; c++)
        dx[c] = r * (dy[c] * scale[c] - x[c] * back);
}

static void row_scale(int64_t n, const float *x, float r, const float *dy, float *total)
{
#pragma omp simd
    for (int64_t c = 0; c < n; c++)
        total[c] += dy[c] * x[c] * r;
}

/* Images: n channels of `inner` positions each.  Passes are along positions. */

static void image_mean(int64_t n, int64_t inner, const float *x, float *mean)
{
    memset(mean, 0, (size_t)inner * sizeof *mean);
    for (int64_t c = 0; c < n; c++)
#pragma omp simd
        for (int64_t i = 0; i < inner; i++)
            mean[i] += x[c * inner + i];
    for (int64_t i = 0; i < inner; i++)
        mean[i] /= (float)n;
}

static void image_root(int64_t n, int64_t inner, const float *x, const float *mean, float *root)
{
    memset(root, 0, (size_t)inner * sizeof *root);
    for (int64_t c = 0; c < n; c++)
#pragma omp simd
        for (int64_t i = 0; i < inner; i++) {
            float from = x[c * inner + i] - mean[i];
            root[i] += from * from;
        }
    for (int64_t i = 0; i < inner; i++)
        root[i] = 1 / sqrtf(root[i] / (float)n + SS_KERNEL_EPSILON);
}

static void image_forward(const positions *k, const float *x, const float *mean, const float *root,
                          const ss_kernel_io *io, float *y)
{
    int64_t inner = k->norm.by.inner;
    bool shifts = k->norm.part.kernel.op->weights > 1;
    for (int64_t c = 0; c < k->norm.by.channels; c++) {
        float scale = io->weight[0][c], shift = shifts ? io->weight[1][c] : 0;
#pragma omp simd
        for (int64_t i = 0; i < inner; i++)
            y[c * inner + i] = (x[c * inner + i] - mean[i]) * root[i] * scale + shift;
    }
}

/* For each position the means over channels of the gradient of what is scaled, and of that gradient times what
 * is scaled. */
static void image_sums(positions *k, const float *x, const float *mean, const float *root,
                       const float *scale, const float *dy)
{
    int64_t inner = k->norm.by.inner, n = k->norm.by.channels;
    float *gradient = k->gradient_sum, *back = k->back_sum;
    memset(gradient, 0, (size_t)inner * sizeof *gradient);
    memset(back, 0, (size_t)inner * sizeof *back);
    for (int64_t c = 0; c < n; c++)
#pragma omp simd
        for (int64_t i = 0; i < inner; i++) {
            float g = dy[c * inner + i] * scale[c];
            gradient[i] += g;
            back[i] += g * (x[c * inner + i] - mean[i]) * root[i];
        }
    float share = 1 / (float)n, of_mean = k->centred ? share : 0;
#pragma omp simd
    for (int64_t i = 0; i < inner; i++) {
        gradient[i] *= of_mean;
        back[i] *= share;
    }
}

static void image_input(positions *k, const float *x, const float *mean, const float *root,
                        const float *scale, const float *dy, float *dx)
{
    int64_t inner = k->norm.by.inner;
    image_sums(k, x, mean, root, scale, dy);
    const float *gradient = k->gradient_sum, *back = k->back_sum;
    for (int64_t c = 0; c < k->norm.by.channels; c++)
#pragma omp simd
        for (int64_t i = 0; i < inner; i++) {
            int64_t at = c * inner + i;
            dx[at] =
                root[i] * (dy[at] * scale[c] - gradient[i] - (x[at] - mean[i]) * root[i] * back[i]);
        }
}

static void image_scale(const positions *k, const float *x, const float *mean, const float *root,
                        const float *dy, float *total)
{
    int64_t inner = k->norm.by.inner;
    for (int64_t c = 0; c < k->norm.by.channels; c++) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < inner; i++)
            sum += dy[c * inner + i] * (x[c * inner + i] - mean[i]) * root[i];
        total[c] += sum;
    }
}

static void image_shift(const positions *k, const float *dy, float *total)
{
    int64_t inner = k->norm.by.inner;
    for (int64_t c = 0; c < k->norm.by.channels; c++) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < inner; i++)
            sum += dy[c * inner + i];
        total[c] += sum;
    }
}

/* Either, for each row or image */

static ss_status positions_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    positions *k = (positions *)part;
    if (!k->ours)
        return norm_forward(part, io, err);
    int64_t inner = k->norm.by.inner, n = k->norm.by.channels;
    for (int64_t o = 0; o < k->norm.by.outer; o++) {
        const float *x = (const float *)io->in[0] + o * n * inner;
        float *y = io->out[0] + o * n * inner, *mean = k->mean + o * inner,
              *root = k->root + o * inner;
        if (inner == 1) {
            row_forward(n, x, io->weight[0], root, y);
            continue;
        }
        if (k->centred)
            image_mean(n, inner, x, mean);
        image_root(n, inner, x, mean, root);
        image_forward(k, x, mean, root, io, y);
    }
    return SS_OK;
}

static void positions_input(positions *k, const ss_kernel_io *io)
{
    int64_t inner = k->norm.by.inner, n = k->norm.by.channels;
    for (int64_t o = 0; o < k->norm.by.outer; o++) {
        const float *x = (const float *)io->in[0] + o * n * inner,
                    *dy = io->out_gradient[0] + o * n * inner;
        float *dx = io->in_gradient[0] + o * n * inner;
        if (inner == 1)
            row_input(n, x, io->weight[0], k->root[o], dy, dx);
        else
            image_input(k, x, k->mean + o * inner, k->root + o * inner, io->weight[0], dy, dx);
    }
}

static void positions_scale(const positions *k, const ss_kernel_io *io)
{
    int64_t inner = k->norm.by.inner, n = k->norm.by.channels;
    for (int64_t o = 0; o < k->norm.by.outer; o++) {
        const float *x = (const float *)io->in[0] + o * n * inner,
                    *dy = io->out_gradient[0] + o * n * inner;
        if (inner == 1)
            row_scale(n, x, k->root[o], dy, io->weight_gradient[0]);
        else
            image_scale(k, x, k->mean + o * inner, k->root + o * inner, dy, io->weight_gradient[0]);
    }
}

static ss_status positions_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                    ss_error *err)
{
    positions *k = (positions *)part;
    if (!k->ours)
        return norm_backward(part, io, what, err);
    int64_t image = k->norm.by.inner * k->norm.by.channels;
    for (uint32_t w = 0; w < part->kernel.op->weights; w++)
        if (ss_onednn_wants_weight(io, what, w) && !io->add_weight_gradient)
            memset(io->weight_gradient[w], 0, (size_t)k->norm.by.channels * sizeof(float));
    if (ss_onednn_wants_input(io, what, 0))
        positions_input(k, io);
    if (ss_onednn_wants_weight(io, what, 0))
        positions_scale(k, io);
    if (part->kernel.op->weights > 1 && ss_onednn_wants_weight(io, what, 1))
        for (int64_t o = 0; o < k->norm.by.outer; o++)
            image_shift(k, io->out_gradient[0] + o * image, io->weight_gradient[1]);
    return SS_OK;
}

/* layer_norm, rms_norm */

static ss_status layer_make(ss_onednn_part *part, ss_error *err)
{
    positions *k = (positions *)part;
    k->norm.by = ss_onednn_by_channel(part);
    if (k->norm.by.inner > 1)
        return positions_make(k, true, err);
    dnnl_memory_desc_t data =
                           ss_onednn_dense(2, (int64_t[]){k->norm.by.outer, k->norm.by.channels}),
                       each = ss_onednn_dense(1, &k->norm.by.outer);
    dnnl_layer_normalization_desc_t forward, backward;
    ss_status s = ss_onednn_status(
        dnnl_layer_normalization_forward_desc_init(&forward, dnnl_forward_training, &data, &each,
                                                   SS_KERNEL_EPSILON, dnnl_use_scaleshift),
        "a normalisation", err);
    if (!s)
        s = ss_onednn_status(dnnl_layer_normalization_backward_desc_init(
                                 &backward, dnnl_backward, &data, &data, &each, SS_KERNEL_EPSILON,
                                 dnnl_use_scaleshift),
                             "gradients of a normalisation", err);
    return s ? s : norm_make(&k->norm, &data, &forward, &backward, err);
}

const ss_onednn_kind ss_onednn_layer_norm = {
    "layer_norm", sizeof(positions), layer_make, positions_forward, positions_backward,
};

static ss_status rms_make(ss_onednn_part *part, ss_error *err)
{
    positions *k = (positions *)part;
    k->norm.by = ss_onednn_by_channel(part);
    return positions_make(k, false, err);
}

const ss_onednn_kind ss_onednn_rms_norm = {
    "rms_norm", sizeof(positions), rms_make, positions_forward, positions_backward,
};
