/* op_kinds.h - the list of kinds, and what their families share.  For op*.c alone.
 *
 * To add a kind: write its ss_op_kind in the file of its family and its name in the list here, in
 * the order of the help; then a test (docs/how-to-add-an-operator.md).
 */
#ifndef SS_OP_KINDS_H
#define SS_OP_KINDS_H

#include "graph/op.h"

#define SS_OP_KINDS(X)                                                                             \
    X(conv2d)                                                                                      \
    X(conv_transpose2d)                                                                            \
    X(pool2d)                                                                                      \
    X(upsample2d)                                                                                  \
    X(batch_norm)                                                                                  \
    X(layer_norm)                                                                                  \
    X(rms_norm)                                                                                    \
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
    X(linear)                                                                                      \
    X(embedding)                                                                                   \
    X(position)                                                                                    \
    X(lstm)                                                                                        \
    X(attention)                                                                                   \
    X(multihead_attention)                                                                         \
    X(softmax)                                                                                     \
    X(softmax_cross_entropy)                                                                       \
    X(linear_softmax)                                                                              \
    X(squared_error)

#define SS_OP_DECLARE(name) extern const ss_op_kind ss_op_kind_##name;
SS_OP_KINDS(SS_OP_DECLARE)
#undef SS_OP_DECLARE

/* What an activation fused into another operator may be: a choice of an attribute. */
#define SS_ACTIVATIONS "none|relu|gelu|tanh|sigmoid"
enum { SS_ACT_NONE, SS_ACT_RELU, SS_ACT_GELU, SS_ACT_TANH, SS_ACT_SIGMOID };

/* Floating-point operations for one element, forward.  Such work is bound by memory, so what
 * matters is that it is not nothing; a transcendental function counts as one operation. */
double ss_activation_flops(int64_t activation);
enum {
    SS_FLOPS_SOFTMAX = 5, /* maximum, subtract, exponential, sum, divide */
    SS_FLOPS_NORM = 8     /* mean, variance (3), subtract and scale (2), weight and bias (2) */
};

/* The rank of a tensor tells what it holds: n x c features, n x l x c sequences of them, n x c x h
 * x w images, n x c x d x h x w volumes.  Names the dimensions of output 0 so; all but the sample
 * are attributes until the kind says otherwise. */
void ss_op_dims(ss_op_def *op);
uint32_t ss_op_channel(const ss_shape *s); /* which dimension is "c"; the rank is 2 or more */

/* Output 0 as input 0: the usual case. */
void ss_op_like_input(ss_op_def *op);

/* One more weight, of the element type of output 0, `rank` extents and which dimension splits each.
 */
void ss_op_weight(ss_op_def *op, const char *name, uint32_t rank, const int64_t *extent,
                  const int8_t *follows);

/* Refusals: input 0 is an image; has a rank of 2 or more; of 2 or 3; all inputs are sequences. */
ss_status ss_op_want_images(const ss_op_def *op, ss_error *err);
ss_status ss_op_want_channels(const ss_op_def *op, ss_error *err);
ss_status ss_op_want_features(const ss_op_def *op, ss_error *err);
ss_status ss_op_want_sequences(const ss_op_def *op, ss_error *err);
ss_status ss_op_want_floats(const ss_op_def *op, ss_error *err); /* all inputs, and of one type */
ss_status ss_op_want_same(const ss_op_def *op, ss_error *err);   /* all inputs are of one shape */

void ss_op_same_box(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in);

#endif
