/* kernel_naive_inside.h - what the families of slow kernels share: kernel_naive_*.c.
 *
 * To add a kind: its name in the list here, and a naive_kind in the file of its family.
 */
#ifndef SS_KERNEL_NAIVE_INSIDE_H
#define SS_KERNEL_NAIVE_INSIDE_H

#include "reference/kernel_naive.h"

#define NAIVE_KINDS(X)                                                                             \
    X(relu)                                                                                        \
    X(gelu)                                                                                        \
    X(tanh)                                                                                        \
    X(sigmoid)                                                                                     \
    X(dropout)                                                                                     \
    X(scale)                                                                                       \
    X(add)                                                                                         \
    X(mul)                                                                                         \
    X(concat)                                                                                      \
    X(slice)                                                                                       \
    X(select)                                                                                      \
    X(flatten)                                                                                     \
    X(to_sequence)                                                                                 \
    X(softmax)                                                                                     \
    X(batch_norm)                                                                                  \
    X(layer_norm)                                                                                  \
    X(rms_norm)                                                                                    \
    X(linear)                                                                                      \
    X(embedding)                                                                                   \
    X(position)                                                                                    \
    X(lstm)                                                                                        \
    X(attention)                                                                                   \
    X(conv2d)                                                                                      \
    X(conv_transpose2d)                                                                            \
    X(pool2d)                                                                                      \
    X(upsample2d)                                                                                  \
    X(multihead_attention)                                                                         \
    X(softmax_cross_entropy)                                                                       \
    X(linear_softmax)                                                                              \
    X(squared_error)

/* A part with its arrays as doubles. */
typedef struct naive {
    const ss_op_def *op;
    ss_box main;
    ss_box in_box[SS_MAX_INPUTS], weight_box[SS_MAX_WEIGHTS], out_box[SS_MAX_OUTPUTS];
    double *in[SS_MAX_INPUTS], *weight[SS_MAX_WEIGHTS], *out[SS_MAX_OUTPUTS];
    const int32_t *index; /* input 0 where it holds indices */
    const void *label;
    double loss; /* starts as 0 */
    /* Backward; those that come in are 0 where nothing does, those that go out start as 0. */
    double *dout[SS_MAX_OUTPUTS], *din[SS_MAX_INPUTS], *dweight[SS_MAX_WEIGHTS];
} naive;

typedef struct naive_kind {
    const char *name;
    ss_status (*forward)(naive *n, ss_error *err); /* fills out and loss */
    void (*backward)(naive *n);                    /* after forward: fills din and dweight */
} naive_kind;

#define NAIVE_DECLARE(name) extern const naive_kind naive_##name;
NAIVE_KINDS(NAIVE_DECLARE)
#undef NAIVE_DECLARE

/* Where element (i, j, ...) of a tensor lies in the array of a box of it. */
int64_t naive_place(const ss_box *b, const int64_t *i);
#define AT(b, ...) naive_place(b, (int64_t[]){__VA_ARGS__})

/* for (bool more = naive_first(b, i); more; more = naive_next(b, i)): all elements of a box */
bool naive_first(const ss_box *b, int64_t *i);
bool naive_next(const ss_box *b, int64_t *i);

/* Softmax of the numbers x[0], x[step], ... x[(n - 1) step], and the gradient by them of what has gradient dy by
 * its result y; may be in place. */
void naive_probabilities(int64_t n, int64_t step, const double *x, double *y);
void naive_probabilities_back(int64_t n, int64_t step, const double *y, const double *dy, double *dx);

/* Of linear and linear_softmax: the product with its bias for element i of the output, and the gradients that
 * come of its gradient d. */
double naive_product_at(const naive *n, const int64_t *i);
void naive_product_back(naive *n, const int64_t *i, double d);

double naive_function(int64_t activation, double x);
double naive_derivative(int64_t activation, double x);

#endif
