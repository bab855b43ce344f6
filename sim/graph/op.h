/* op.h - the kinds of operators: one table row says all that soapstone knows of a kind.
 *
 * A row gives a kind's attributes, output shapes, the class of each output dimension, weights, the
 * region of each input that a box of the output needs, and the arithmetic.  Everything else (parts,
 * transfers, halos, partial sums, memory, costs, the Lua constructor and its help) follows from the
 * row, so a new kind is one entry and one test.  The kinds live in op_*.c by family; op.c has the
 * list and what is common.
 *
 * Work is counted for a box of output 0, the "main" output: its dimensions are what a configuration
 * splits.  Source of the dimension classes: FlexFlow (MLSys 2019), section 4 and table 2.
 */
#ifndef SS_OP_H
#define SS_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "graph/ids.h"
#include "graph/shape.h"

enum { SS_MAX_ATTRS = 12, SS_MAX_OUTPUTS = 3, SS_MAX_WEIGHTS = 6, SS_MAX_INPUTS = 64 };

/* The class of an output dimension: what splitting it splits besides the output. */
typedef enum ss_dim_class {
    SS_DIM_SAMPLE = 's',    /* the batch */
    SS_DIM_ATTRIBUTE = 'a', /* no weights are split with it */
    SS_DIM_PARAMETER = 'p', /* weights are split with it */
    SS_DIM_REDUCTION = 'r', /* a contraction; an extension of SOAP, offered by no kind yet */
    SS_DIM_WHOLE = '-'      /* may not be split */
} ss_dim_class;

typedef struct ss_dim {
    const char *name; /* "n" sample, "c" channel, "h" "w" height width, "l" sequence position */
    ss_dim_class cls;
    int64_t grain; /* parts are whole multiples of it; 1 where every element may be cut off */
} ss_dim;

#define SS_ATTR_REQUIRED INT64_MIN

typedef struct ss_attr_def {
    const char *name;
    int64_t preset, min, max; /* preset SS_ATTR_REQUIRED: must be given */
    const char *choices;      /* "none|relu|tanh": the value is the index; NULL: a number; "bool" */
    const char *help;
} ss_attr_def;

typedef struct ss_weight_def {
    const char *name; /* "w", "b" */
    ss_shape shape;
    int8_t follows[SS_MAX_DIMS]; /* the output dimension that splits each of its own; -1: none */
} ss_weight_def;

typedef struct ss_op_kind ss_op_kind;

/* One operator as the functions of its kind see it. */
typedef struct ss_op_def {
    const ss_op_kind *kind;
    int64_t attr[SS_MAX_ATTRS]; /* in the order of kind->attr */
    bool no_halo; /* images are cut in equal pieces, and a part sees no more than its own */
    uint32_t inputs;
    ss_shape in[SS_MAX_INPUTS];
    /* from here on filled by kind->infer: */
    uint32_t outputs;
    ss_shape out[SS_MAX_OUTPUTS];
    ss_dim dim[SS_MAX_DIMS]; /* of output 0 */
    uint32_t axis;           /* the dimension that an attribute "axis" names */
    uint32_t weights;
    ss_weight_def weight[SS_MAX_WEIGHTS];
    bool keeps_input,
        keeps_output; /* backward reads them again, so they are held from forward on */
} ss_op_def;

typedef struct ss_work {
    double macs;  /* multiply-accumulates of convolutions and matrix products */
    double flops; /* all floating-point operations: 2 * macs and the rest */
    double bytes; /* read and written in the device's memory, each once */
} ss_work;

/* The last two are parts of backward, of measured times alone (simulate/cost.h). */
typedef enum ss_phase {
    SS_FORWARD,
    SS_BACKWARD,
    SS_INPUT_GRADIENT,
    SS_WEIGHT_GRADIENT,
    SS_PHASES
} ss_phase;
const char *ss_phase_name(ss_phase p); /* "forward", ..., "weight_gradient" */

struct ss_op_kind {
    const char *name, *summary;
    uint32_t min_inputs, max_inputs;
    ss_attr_def attr[SS_MAX_ATTRS]; /* ends at the first without a name */

    /* Checks attributes and inputs; fills outputs, dim and weights. Messages name no operator: the
     * caller puts its name in front. */
    ss_status (*infer)(ss_op_def *op, ss_error *err);

    bool slides; /* a window, over rows and columns (dimensions 2 and 3 of inputs and of output 0) */

    /* The region of input i that box `main` of output 0 needs; may be empty. */
    void (*input_box)(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in);

    /* The region of output o that comes with box `main` of output 0; NULL: output 0 only. */
    void (*output_box)(const ss_op_def *op, uint32_t o, const ss_box *main, ss_box *out);

    /* Forward macs and flops of a box.  Bytes of inputs, outputs and weights are counted from the
     * boxes by ss_op_work; what a kind puts in work->bytes (scratch it writes and reads) is added.
     */
    void (*forward)(const ss_op_def *op, const ss_box *main, ss_work *work);

    /* Backward macs and flops; NULL: as forward for each of input gradient and weight gradient. */
    void (*backward)(const ss_op_def *op, const ss_box *main, bool input_gradient, ss_work *work);

    /* Bytes kept from forward for backward besides inputs and outputs: the gates of an LSTM; NULL:
     * none. */
    double (*saved)(const ss_op_def *op, const ss_box *main);

    const char *output_name[SS_MAX_OUTPUTS]; /* of outputs 1 and 2: "hy", "cy" */
    bool view;                               /* moves no data: flatten */
    bool sparse_input;      /* reads only the rows of its weights that it needs: embedding */
    bool no_input_gradient; /* its inputs are indices */
    bool is_loss;           /* ends in the loss: gradients start here */
};

const ss_op_kind *ss_op_kind_find(const char *name); /* NULL: unknown */
const ss_op_kind *const *ss_op_kinds(uint32_t *n);   /* all, in the order of the help */
uint32_t ss_op_kind_attrs(const ss_op_kind *kind);
/* Whether attribute `i` ("kernel_h") and the one after it ("kernel_w") are the two directions of
 * one thing; writes its name without the ending ("kernel"), SS_ATTR_STEM bytes at most. */
enum { SS_ATTR_STEM = 32 };
bool ss_op_kind_pair(const ss_op_kind *kind, uint32_t i, char *stem);
/* "relu" -> 1 for an attribute with choices. */
ss_status ss_attr_parse(const ss_attr_def *a, const char *text, int64_t *out, ss_error *err);
/* The other way: "relu", "true", or the number. */
enum { SS_ATTR_TEXT = 32 };
char *ss_attr_text(const ss_attr_def *a, int64_t value, char *buffer, size_t n);
/* Checks bounds, then infers. */
ss_status ss_op_def_finish(ss_op_def *op, ss_error *err);

/* What a kind that slides needs beyond its piece (a halo) is left out of an operator without. */
void ss_op_input_box(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in);
void ss_op_output_box(const ss_op_def *op, uint32_t o, const ss_box *main, ss_box *out);
void ss_op_weight_box(const ss_op_def *op, uint32_t w, const ss_box *main, ss_box *out);

/* Bytes that a part keeps for its backward besides inputs and outputs (keeps_input, keeps_output).
 */
double ss_op_saved_bytes(const ss_op_def *op, const ss_box *main);

/* Work of one part.  With input_gradient false (the operator reads only the data) backward has the
 * weight gradient alone. */
void ss_op_work(const ss_op_def *op, ss_phase phase, bool input_gradient, const ss_box *main,
                ss_work *work);

#endif
