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

/* Names and classes of the dimensions of output 0: where features come last (n l c; n h w c); and
 * where nothing says so, when rank 4 is taken for images (n c h w) and all but the sample are
 * attributes. */
void ss_op_dims_features(ss_op_def *op, ss_dim_class middle, ss_dim_class last);
void ss_op_dims_elements(ss_op_def *op);
void ss_op_dim(ss_op_def *op, uint32_t d, const char *name, ss_dim_class cls, int64_t grain);

/* Output 0 as input 0: the usual case. */
void ss_op_like_input(ss_op_def *op);

/* One more weight, of the element type of output 0, `rank` extents and which dimension splits each.
 */
void ss_op_weight(ss_op_def *op, const char *name, uint32_t rank, const int64_t *extent,
                  const int8_t *follows);

ss_status ss_op_want_images(const ss_op_def *op, ss_error *err); /* input 0 is n x c x h x w */
ss_status ss_op_want_features(const ss_op_def *op,
                              ss_error *err); /* all inputs have rank 2 or more */
ss_status ss_op_want_floats(const ss_op_def *op, ss_error *err); /* all inputs, and of one type */
ss_status ss_op_want_same(const ss_op_def *op, ss_error *err);   /* all inputs are of one shape */

void ss_op_same_box(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in);

#endif
