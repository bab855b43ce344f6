/* kernel.h - a part of an operator as arithmetic that this machine does.
 *
 * A kernel is made for a box of an operator's main output, as lowering cuts it.  It reads the boxes of the
 * inputs that ss_op_input_box names and of the weights that ss_op_weight_box names, and writes the boxes of the
 * outputs that ss_op_output_box names; backward it goes the other way.  So the parts of an operator, run
 * anywhere, give the numbers of the whole, and what lies between them is copies: the executor's.
 *
 * Every array is dense, row by row, of just the extents of its box, 64-byte aligned: floats of 32 bits, and
 * 32-bit integers where an operator reads indices.  A model whose element type is another is computed in
 * floats of 32 bits all the same only where whoever runs it says so: kernels look at shapes, not at types.
 *
 * A kernel keeps what its backward needs beside inputs and outputs (signs, masks, gates, statistics), so one
 * kernel serves one part, and one thread at a time.  It computes on the thread that calls it and on no other.
 *
 * Losses.  The loss is the mean over all positions of the whole operator (softmax_cross_entropy, linear_softmax)
 * or over all its elements (squared_error), so that the losses of parts add up to that of the whole, and so do
 * their gradients.  Their outputs: probabilities; of squared_error the squared differences.
 *
 * Statistics.  batch_norm normalises over what its part has, as libraries do: cut along anything but channels, its
 * parts do not give the numbers of the whole.
 *
 * Two are the makers of kernels: ss_kernels_maker (onednn.h), and a slow, obvious twin in tests/reference.
 */
#ifndef SS_KERNEL_H
#define SS_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "graph/op.h"

/* Arrays of one part; what the operator does not have is not looked at. */
typedef struct ss_kernel_io {
    const void *in[SS_MAX_INPUTS]; /* floats, or int32_t indices (embedding) */
    const float *weight[SS_MAX_WEIGHTS];
    float *out[SS_MAX_OUTPUTS]; /* written forward, read backward */

    /* Losses: int32_t classes by position; of squared_error with one input floats of its box. */
    const void *label;
    double *loss; /* the part's share, written forward */

    /* Backward.  A gradient that comes in and is NULL is all 0 (of an output that nobody reads); of a
     * loss it is not looked at: gradients begin there, with 1.  One that goes out is written; NULL:
     * not wanted.  Those of weights are added to what is there if add_weight_gradient. */
    const float *out_gradient[SS_MAX_OUTPUTS];
    float *in_gradient[SS_MAX_INPUTS];
    float *weight_gradient[SS_MAX_WEIGHTS];
    bool add_weight_gradient;
} ss_kernel_io;

/* Which gradients are worked out: bits. */
enum { SS_OF_INPUTS = 1, SS_OF_WEIGHTS = 2 };

typedef struct ss_kernel ss_kernel;
struct ss_kernel {
    const ss_op_def *op; /* of the model, which must outlive the kernel */
    ss_box main;
    /* The maker's: */
    ss_status (*forward)(ss_kernel *k, const ss_kernel_io *io, ss_error *err);
    /* After forward, with the same arrays. */
    ss_status (*backward)(ss_kernel *k, const ss_kernel_io *io, unsigned what, ss_error *err);
    void (*free)(ss_kernel *k); /* and k itself */
};

/* Who makes kernels.  Refuses (SS_EUNSUPPORTED) a part that cannot be computed from its boxes alone: classes
 * of linear_softmax that are split, for one, which would take an exchange that lowering leaves out. */
typedef struct ss_kernel_maker {
    void *context;
    ss_status (*make)(void *context, const ss_op_def *op, const ss_box *main, ss_kernel **out,
                      ss_error *err);
} ss_kernel_maker;

void ss_kernel_free(ss_kernel *k); /* NULL: nothing */

/* What is shared by makers. ------------------------------------------------------------------------------- */

/* The value of an attribute by its name, which the kind must have. */
int64_t ss_kernel_attr(const ss_op_def *op, const char *name);
/* Positions over which a loss is the mean: elements of output 0 over its classes, or all of them
 * (squared_error). */
double ss_kernel_loss_count(const ss_op_def *op);
/* Refuses parts that need more than their boxes. */
ss_status ss_kernel_check(const ss_op_def *op, const ss_box *main, ss_error *err);
/* Whether dropout keeps an element, by its place in the whole output (row by row): the same whoever computes
 * it, so that parts drop what the whole drops.  One in ten is dropped. */
bool ss_kernel_keeps(int64_t place);
/* What scale multiplies by: models name no number.  Exact, so that it rounds nothing. */
#define SS_KERNEL_SCALE 0.5f
/* Added to a variance, or to a mean of squares, before its root is divided by. */
#define SS_KERNEL_EPSILON 1e-5f

#endif
