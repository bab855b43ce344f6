/* onednn_softmax.c - probabilities of classes, and the cross-entropy that is worked out from them. */
#include "validation/operators/onednn_inside.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* oneDNN is quick where the classes of a position lie together.  Elsewhere (images) the passes are ours, over
 * positions that do, and the exponentials alone are oneDNN's. */
ss_status ss_onednn_softmax_make(ss_onednn_part *p, ss_onednn_classes *s, int64_t outer,
                                 int64_t classes, int64_t inner, ss_error *err)
{
    s->outer = outer;
    s->classes = classes;
    s->inner = inner;
    if (inner > 1) {
        ss_status status = ss_onednn_floats(p, inner, &s->row, err);
        if (!status)
            status = ss_onednn_map_make(p, &s->call, "exponentials", dnnl_eltwise_exp,
                                        outer * classes * inner, err);
        return status;
    }
    dnnl_memory_desc_t rows = ss_onednn_dense(2, (int64_t[]){outer, classes});
    dnnl_softmax_desc_t desc;
    ss_status status = ss_onednn_status(
        dnnl_softmax_forward_desc_init(&desc, dnnl_forward_training, &rows, 1), "a softmax", err);
    if (!status)
        status = ss_onednn_call_make(p, &s->call, "a softmax", &desc, NULL, err);
    if (!status)
        status = ss_onednn_reads(p, &s->call, DNNL_ARG_SRC, &rows, err);
    if (!status)
        status = ss_onednn_writes(p, &s->call, DNNL_ARG_DST, &rows, err);
    return status;
}

/* y = x minus the largest of its classes, for positions i of one outer index. */
static void minus_largest(const ss_onednn_classes *s, const float *x, float *y)
{
    float *largest = s->row;
    int64_t inner = s->inner;
    memcpy(largest, x, (size_t)inner * sizeof *x);
    for (int64_t c = 1; c < s->classes; c++)
#pragma omp simd
        for (int64_t i = 0; i < inner; i++)
            largest[i] = largest[i] > x[c * inner + i] ? largest[i] : x[c * inner + i];
    for (int64_t c = 0; c < s->classes; c++)
#pragma omp simd
        for (int64_t i = 0; i < inner; i++)
            y[c * inner + i] = x[c * inner + i] - largest[i];
}

static void over_sum(const ss_onednn_classes *s, float *y)
{
    float *sum = s->row;
    int64_t inner = s->inner;
    memcpy(sum, y, (size_t)inner * sizeof *y);
    for (int64_t c = 1; c < s->classes; c++)
#pragma omp simd
        for (int64_t i = 0; i < inner; i++)
            sum[i] += y[c * inner + i];
    for (int64_t c = 0; c < s->classes; c++)
#pragma omp simd
        for (int64_t i = 0; i < inner; i++)
            y[c * inner + i] /= sum[i];
}

ss_status ss_onednn_softmax_forward(ss_onednn_part *p, ss_onednn_classes *s, const float *x,
                                    float *y, ss_error *err)
{
    if (s->inner > 1) {
        int64_t image = s->classes * s->inner;
        for (int64_t o = 0; o < s->outer; o++)
            minus_largest(s, x + o * image, y + o * image);
        ss_status status = ss_onednn_map(p, &s->call, y, y, err);
        for (int64_t o = 0; o < s->outer && !status; o++)
            over_sum(s, y + o * image);
        return status;
    }
    return ss_onednn_map(p, &s->call, x, y, err);
}

/* dx = y (dy - the sum of y dy over classes) */
static void backward_row(int64_t classes, const float *y, const float *dy, float *dx)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < classes; c++)
        sum += y[c] * dy[c];
#pragma omp simd
    for (int64_t c = 0; c < classes; c++)
        dx[c] = y[c] * (dy[c] - sum);
}

static void backward_image(const ss_onednn_classes *s, const float *y, const float *dy, float *dx)
{
    float *sum = s->row;
    int64_t inner = s->inner;
    memset(sum, 0, (size_t)inner * sizeof *sum);
    for (int64_t c = 0; c < s->classes; c++)
#pragma omp simd
        for (int64_t i = 0; i < inner; i++)
            sum[i] += y[c * inner + i] * dy[c * inner + i];
    for (int64_t c = 0; c < s->classes; c++)
#pragma omp simd
        for (int64_t i = 0; i < inner; i++)
            dx[c * inner + i] = y[c * inner + i] * (dy[c * inner + i] - sum[i]);
}

void ss_onednn_softmax_backward(const ss_onednn_classes *s, const float *y, const float *dy,
                                float *dx)
{
    int64_t image = s->classes * s->inner;
    for (int64_t o = 0; o < s->outer; o++) {
        if (s->inner > 1)
            backward_image(s, y + o * image, dy + o * image, dx + o * image);
        else
            backward_row(s->classes, y + o * image, dy + o * image, dx + o * image);
    }
}

/* A probability too small for a float counts as the least that is not, so that a loss ends at 87. */
ss_status ss_onednn_cross_entropy(const ss_onednn_classes *s, const float *y, const int32_t *label,
                                  double count, double *loss, ss_error *err)
{
    double sum = 0;
    for (int64_t o = 0; o < s->outer; o++)
        for (int64_t i = 0; i < s->inner; i++) {
            int32_t c = label[o * s->inner + i];
            if (c < 0 || c >= s->classes)
                return ss_fail(err, SS_EINVAL, "a label is %d: classes are 0 to %lld", (int)c,
                               (long long)s->classes - 1);
            float p = y[(o * s->classes + c) * s->inner + i];
            sum -= log(p > FLT_MIN ? (double)p : (double)FLT_MIN);
        }
    *loss = sum / count;
    return SS_OK;
}

void ss_onednn_cross_entropy_backward(const ss_onednn_classes *s, const float *y,
                                      const int32_t *label, double count, float *dx)
{
    int64_t n = s->outer * s->classes * s->inner;
    float share = (float)(1 / count);
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        dx[j] = y[j] * share;
    for (int64_t o = 0; o < s->outer; o++)
        for (int64_t i = 0; i < s->inner; i++)
            dx[(o * s->classes + label[o * s->inner + i]) * s->inner + i] -= share;
}
