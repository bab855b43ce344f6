/* onednn_inside.h - what the families of kernels made with oneDNN share.  For validation/operators alone.
 *
 * A family is a file kernel_*.c with an ss_onednn_kind for each of its operator kinds.  To add a kind: write
 * its name in the list here and define ss_onednn_NAME in the file of its family.
 *
 * A part owns what it asks for while it is made (memory, primitives), and all of that goes when the kernel is
 * freed or its making fails: families free nothing.  Nothing is asked for later, so forward and backward are
 * arithmetic.
 *
 * Source: oneDNN 2.6, C interface (descriptors of operations, dnnl_primitive_desc_create).
 */
#ifndef SS_ONEDNN_INSIDE_H
#define SS_ONEDNN_INSIDE_H

#include <oneapi/dnnl/dnnl.h>

#include "validation/operators/onednn.h"

#define SS_ONEDNN_KINDS(X)                                                                         \
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

typedef struct ss_onednn_part ss_onednn_part;

typedef struct ss_onednn_kind {
    const char *name; /* of the operator kind */
    size_t
        bytes; /* of the family's struct, which begins with an ss_onednn_part and starts as zeros */
    ss_status (*make)(ss_onednn_part *p, ss_error *err);
    ss_status (*forward)(ss_onednn_part *p, const ss_kernel_io *io, ss_error *err);
    /* Only where a gradient comes in: of a kind with one output, out_gradient[0] is there. */
    ss_status (*backward)(ss_onednn_part *p, const ss_kernel_io *io, unsigned what, ss_error *err);
} ss_onednn_kind;

#define SS_ONEDNN_DECLARE(name) extern const ss_onednn_kind ss_onednn_##name;
SS_ONEDNN_KINDS(SS_ONEDNN_DECLARE)
#undef SS_ONEDNN_DECLARE

struct ss_onednn_part {
    ss_kernel kernel; /* first, so that either is the other */
    const ss_onednn_kind *kind;
    dnnl_engine_t engine; /* of its ss_kernels */
    dnnl_stream_t stream;
    struct ss_onednn_block *blocks; /* memory, newest first */
    struct ss_onednn_call *calls;   /* primitives, newest first */
};

/* The boxes of its arrays. */
static inline ss_box ss_onednn_in(const ss_onednn_part *p, uint32_t i)
{
    ss_box b;
    ss_op_input_box(p->kernel.op, i, &p->kernel.main, &b);
    return b;
}
static inline ss_box ss_onednn_weight(const ss_onednn_part *p, uint32_t w)
{
    ss_box b;
    ss_op_weight_box(p->kernel.op, w, &p->kernel.main, &b);
    return b;
}
static inline ss_box ss_onednn_out(const ss_onednn_part *p, uint32_t o)
{
    ss_box b;
    ss_op_output_box(p->kernel.op, o, &p->kernel.main, &b);
    return b;
}
static inline int64_t ss_onednn_extent(const ss_box *b, uint32_t d)
{
    return b->hi[d] - b->lo[d];
}
/* A tensor, or a part of one, as outer x channels x inner. */
typedef struct ss_onednn_channels {
    int64_t outer, channels, inner;
} ss_onednn_channels;
ss_onednn_channels ss_onednn_by_channel(const ss_onednn_part *p); /* of its main box */

/* Whether a gradient is asked for and there is a place for it. */
static inline bool ss_onednn_wants_input(const ss_kernel_io *io, unsigned what, uint32_t i)
{
    return (what & SS_OF_INPUTS) && io->in_gradient[i];
}
static inline bool ss_onednn_wants_weight(const ss_kernel_io *io, unsigned what, uint32_t w)
{
    return (what & SS_OF_WEIGHTS) && io->weight_gradient[w];
}

/* "oneDNN: WHAT: out of memory", as a status of ours. */
ss_status ss_onednn_status(dnnl_status_t s, const char *what, ss_error *err);

/* Memory of the part, aligned as arrays are and filled with zeros (so that its pages are there before anything
 * is timed). */
ss_status ss_onednn_memory(ss_onednn_part *p, size_t bytes, void **out, ss_error *err);
ss_status ss_onednn_floats(ss_onednn_part *p, int64_t n, float **out, ss_error *err);

/* Products (onednn.c) --------------------------------------------------------------------------------- */

typedef struct ss_matrix {
    const float *at;
    int64_t row;     /* from one row in memory to the next */
    bool transposed; /* what is meant is the transpose of what lies in memory */
} ss_matrix;

static inline ss_matrix ss_plain(const float *at, int64_t row)
{
    return (ss_matrix){at, row, false};
}
static inline ss_matrix ss_transposed(const float *at, int64_t row)
{
    return (ss_matrix){at, row, true};
}

/* c (m x n) = a (m x k) times b (k x n), and with `add` what c held. */
ss_status ss_onednn_product(int64_t m, int64_t n, int64_t k, ss_matrix a, ss_matrix b, bool add,
                            float *c, int64_t c_row, ss_error *err);

/* total[c] = the sum of x[r][c] over rows, and with `add` what total held. */
void ss_onednn_sum_rows(int64_t rows, int64_t columns, const float *x, bool add, float *total);

/* Primitives (onednn_call.c) -------------------------------------------------------------------------- */

/* An argument whose array lies as soapstone has it (row by row) and which the primitive may want otherwise:
 * then it is reordered, before the primitive if it is read and after it if it is written. */
typedef struct ss_onednn_argument {
    int name; /* DNNL_ARG_SRC */
    bool written;
    dnnl_memory_t plain;  /* over the array that is bound; NULL: the part's own */
    dnnl_memory_t wanted; /* what the primitive is given; owned unless it is `plain` or shared */
    bool shared;          /* `wanted` is another call's */
    dnnl_primitive_t reorder; /* NULL: `wanted` is `plain` */
} ss_onednn_argument;

enum { SS_ONEDNN_ARGUMENTS = 12 };

/* A primitive with its arguments.  Lies in a family's struct, which does not move. */
typedef struct ss_onednn_call {
    const char *what; /* for messages: "forward convolution" */
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    uint32_t arguments;
    ss_onednn_argument argument[SS_ONEDNN_ARGUMENTS];
    dnnl_exec_arg_t given[SS_ONEDNN_ARGUMENTS]; /* as the primitive takes them */
    struct ss_onednn_call *next;                /* of the part's */
} ss_onednn_call;

/* Rows by rows, of 32-bit floats; of the extents of a box. */
dnnl_memory_desc_t ss_onednn_dense(uint32_t rank, const int64_t *extent);
dnnl_memory_desc_t ss_onednn_dense_box(const ss_box *b);
/* The same with the layout left to the primitive. */
dnnl_memory_desc_t ss_onednn_any(uint32_t rank, const int64_t *extent);

/* Makes the primitive of a descriptor (`operation`: dnnl_eltwise_desc_t and so on) with its scratch memory.
 * `forward`: of backward, the forward call, else NULL. */
ss_status ss_onednn_call_make(ss_onednn_part *p, ss_onednn_call *c, const char *what,
                              const_dnnl_op_desc_t operation, const ss_onednn_call *forward,
                              ss_error *err);
/* An argument that is bound at each run, by how its array lies. */
ss_status ss_onednn_reads(ss_onednn_part *p, ss_onednn_call *c, int name,
                          const dnnl_memory_desc_t *lies, ss_error *err);
ss_status ss_onednn_writes(ss_onednn_part *p, ss_onednn_call *c, int name,
                           const dnnl_memory_desc_t *lies, ss_error *err);
/* An argument in memory of the part's own, in the layout that is wanted: a workspace, statistics. */
ss_status ss_onednn_keeps(ss_onednn_part *p, ss_onednn_call *c, int name, ss_error *err);
/* The very memory that another call was given as `of`, if layouts agree (else SS_EUNSUPPORTED). */
ss_status ss_onednn_shares(ss_onednn_call *c, int name, const ss_onednn_call *other, int of,
                           ss_error *err);

void ss_onednn_bind(ss_onednn_call *c, int name, const void *array);
ss_status ss_onednn_run(ss_onednn_part *p, ss_onednn_call *c, ss_error *err);

void ss_onednn_calls_free(ss_onednn_part *p);

/* Functions (onednn_function.c) ----------------------------------------------------------------------- */

/* A call that reads SRC and writes DST, one array each: y may be x. */
ss_status ss_onednn_map(ss_onednn_part *p, ss_onednn_call *c, const float *x, float *y,
                        ss_error *err);
/* Such a call for each of n numbers by itself: `algorithm` is one of oneDNN's, without parameters. */
ss_status ss_onednn_map_make(ss_onednn_part *p, ss_onednn_call *c, const char *what,
                             dnnl_alg_kind_t algorithm, int64_t n, ss_error *err);

/* A function of each of n numbers (SS_ACT_..., not none), and its derivative. */
typedef struct ss_onednn_function {
    bool from_argument; /* the derivative is worked out from x (gelu); else from y */
    ss_onednn_call forward, backward;
} ss_onednn_function;

ss_status ss_onednn_function_make(ss_onednn_part *p, ss_onednn_function *f, int64_t activation,
                                  int64_t n, ss_error *err);
/* y may be x. */
ss_status ss_onednn_function_forward(ss_onednn_part *p, ss_onednn_function *f, const float *x,
                                     float *y, ss_error *err);
/* dx, which may be dy; `known` is y, or x if from_argument. */
ss_status ss_onednn_function_backward(ss_onednn_part *p, ss_onednn_function *f, const float *known,
                                      const float *dy, float *dx, ss_error *err);

/* Probabilities (onednn_softmax.c) -------------------------------------------------------------------- */

/* Softmax over the classes of an array outer x classes x inner. */
typedef struct ss_onednn_classes {
    int64_t outer, classes, inner;
    ss_onednn_call call;
    float *row; /* scratch, a number for each inner index */
} ss_onednn_classes;

ss_status ss_onednn_softmax_make(ss_onednn_part *p, ss_onednn_classes *s, int64_t outer,
                                 int64_t classes, int64_t inner, ss_error *err);
/* y may be x. */
ss_status ss_onednn_softmax_forward(ss_onednn_part *p, ss_onednn_classes *s, const float *x,
                                    float *y, ss_error *err);
/* dx may be dy. */
void ss_onednn_softmax_backward(const ss_onednn_classes *s, const float *y, const float *dy,
                                float *dx);

/* The sum over positions of -log y[label], by `count`; labels outer x inner.  SS_EINVAL: a label is no class. */
ss_status ss_onednn_cross_entropy(const ss_onednn_classes *s, const float *y, const int32_t *label,
                                  double count, double *loss, ss_error *err);
/* Its gradient by what the softmax was applied to; labels are those of forward. */
void ss_onednn_cross_entropy_backward(const ss_onednn_classes *s, const float *y,
                                      const int32_t *label, double count, float *dx);

#endif
