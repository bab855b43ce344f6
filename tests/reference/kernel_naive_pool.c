#include "reference/kernel_naive_inside.h"

/* The inputs of the part that a window sees; the mean is over those, without padding. */
typedef struct seen {
    int64_t lo[2], hi[2];
} seen;

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static seen see(const naive *n, const int64_t *y)
{
    static const char *const size[] = {"kernel_h", "kernel_w"},
                             *const stride[] = {"stride_h", "stride_w"},
                             *const padding[] = {"padding_h", "padding_w"};
    seen s;
    for (uint32_t d = 0; d < 2; d++) {
        int64_t at =
            y[d + 2] * ss_kernel_attr(n->op, stride[d]) - ss_kernel_attr(n->op, padding[d]);
        s.lo[d] = most(0, at);
        s.hi[d] = least(n->op->in[0].extent[d + 2], at + ss_kernel_attr(n->op, size[d]));
    }
    return s;
}

static bool means(const naive *n)
{
    return ss_kernel_attr(n->op, "type") == 1;
}

static double share(const seen *s)
{
    return 1.0 / (double)((s->hi[0] - s->lo[0]) * (s->hi[1] - s->lo[1]));
}

/* Where the largest is, the first of equal ones. */
static int64_t largest(const naive *n, const int64_t *y, const seen *s)
{
    int64_t found = -1;
    for (int64_t i = s->lo[0]; i < s->hi[0]; i++)
        for (int64_t j = s->lo[1]; j < s->hi[1]; j++) {
            int64_t at = AT(&n->in_box[0], y[0], y[1], i, j);
            if (found < 0 || n->in[0][at] > n->in[0][found])
                found = at;
        }
    return found;
}

static ss_status pool_forward(naive *n, ss_error *err)
{
    (void)err;
    int64_t y[SS_MAX_DIMS];
    for (bool more = naive_first(&n->main, y); more; more = naive_next(&n->main, y)) {
        seen s = see(n, y);
        double sum = 0;
        for (int64_t i = s.lo[0]; i < s.hi[0] && means(n); i++)
            for (int64_t j = s.lo[1]; j < s.hi[1]; j++)
                sum += n->in[0][AT(&n->in_box[0], y[0], y[1], i, j)];
        n->out[0][naive_place(&n->main, y)] =
            means(n) ? sum * share(&s) : n->in[0][largest(n, y, &s)];
    }
    return SS_OK;
}

static void pool_backward(naive *n)
{
    int64_t y[SS_MAX_DIMS];
    for (bool more = naive_first(&n->main, y); more; more = naive_next(&n->main, y)) {
        seen s = see(n, y);
        double d = n->dout[0][naive_place(&n->main, y)];
        if (!means(n))
            n->din[0][largest(n, y, &s)] += d;
        for (int64_t i = s.lo[0]; i < s.hi[0] && means(n); i++)
            for (int64_t j = s.lo[1]; j < s.hi[1]; j++)
                n->din[0][AT(&n->in_box[0], y[0], y[1], i, j)] += d * share(&s);
    }
}

const naive_kind naive_pool2d = {"pool2d", pool_forward, pool_backward};

static int64_t source(const naive *n, const int64_t *y)
{
    return AT(&n->in_box[0], y[0], y[1], y[2] / ss_kernel_attr(n->op, "factor_h"),
              y[3] / ss_kernel_attr(n->op, "factor_w"));
}

static ss_status up_forward(naive *n, ss_error *err)
{
    (void)err;
    int64_t y[SS_MAX_DIMS];
    for (bool more = naive_first(&n->main, y); more; more = naive_next(&n->main, y))
        n->out[0][naive_place(&n->main, y)] = n->in[0][source(n, y)];
    return SS_OK;
}

static void up_backward(naive *n)
{
    int64_t y[SS_MAX_DIMS];
    for (bool more = naive_first(&n->main, y); more; more = naive_next(&n->main, y))
        n->din[0][source(n, y)] += n->dout[0][naive_place(&n->main, y)];
}

const naive_kind naive_upsample2d = {"upsample2d", up_forward, up_backward};
