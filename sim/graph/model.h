/* model.h - the operators, tensors and weights of one training step.
 *
 * A model names no device.  Operators are added after the tensors they read, so their order is a
 * topological order and there can be no cycle.  Operators with the same share label use the same
 * weights (the unrolled steps of a recurrent layer); their gradients meet once.
 */
#ifndef SS_MODEL_H
#define SS_MODEL_H

#include <stdint.h>

#include "base/arena.h"
#include "base/names.h"
#include "base/status.h"
#include "graph/ids.h"
#include "graph/op.h"

typedef struct ss_tensor_row {
    const char *name; /* the operator's; other outputs: "enc1.hy" */
    ss_shape shape;
    ss_op producer; /* 0: an input of the model */
    uint32_t slot;  /* which output of the producer, from 0 */
    uint32_t first_use, last_use; /* rows of ss_model.use; 0: nobody reads it */
} ss_tensor_row;

/* A reader of a tensor.  All of them, in the order of the operators:
 *     for (uint32_t u = m->tensor[t.i].first_use; u; u = m->use[u].next) ... */
typedef struct ss_use_row {
    ss_op op;
    uint32_t input; /* which input of the operator, from 0 */
    uint32_t next;
} ss_use_row;

typedef struct ss_weight_row {
    const char *name; /* share label or operator, dot, weight: "encoder1.w" */
    ss_shape shape;
    uint32_t group; /* operators that share have one group; from 1 */
} ss_weight_row;

typedef struct ss_op_row {
    const char *name;
    ss_op_def *def;        /* fixed address for the life of the model */
    const char *share;     /* label, or NULL */
    uint32_t group;        /* parameter group; 0: no weights */
    ss_tensor *in;         /* [def->inputs] */
    ss_tensor out[SS_MAX_OUTPUTS];
    ss_weight weight[SS_MAX_WEIGHTS];
    bool input_gradient;   /* some input has a producer, so a gradient must go back */
    uint32_t layer;        /* user's grouping for placement and pictures; 0: none */
} ss_op_row;

typedef struct ss_model {
    char *name;
    uint32_t ops, tensors, weights, groups, uses; /* rows 1 .. n */
    ss_op_row *op;
    ss_tensor_row *tensor;
    ss_weight_row *weight;
    ss_use_row *use;
    uint32_t op_cap, tensor_cap, weight_cap, use_cap;
    ss_names op_names, tensor_names; /* ids are those of ss_op and ss_tensor */
    ss_names share_names;
    uint32_t *share_op; /* [share_names.n + 1]: the first operator with that label */
    uint32_t share_cap;
    ss_arena memory; /* definitions, input lists and names of weights */
    int64_t bytes;   /* of all tensors and weights: kept below 2^62, so that sums fit */
    bool no_halo; /* of operators that are added; see ss_op_def */
    double optimizer_bytes_per_weight_byte; /* state beside weights and gradients: 0 SGD, 1 momentum, 2 Adam */
} ss_model;

/* Names, here and of inputs, operators and shares, have 1 to 200 bytes, none of them a control
 * character. */
ss_status ss_model_new(const char *name, ss_model **out, ss_error *err);
void ss_model_free(ss_model *m);

ss_status ss_model_input(ss_model *m, const char *name, const ss_shape *shape, ss_tensor *out,
                         ss_error *err);

typedef struct ss_op_spec {
    const ss_op_kind *kind;
    const char *name;
    const char *share;                /* NULL: weights of its own */
    const ss_tensor *in;
    uint32_t inputs;
    int64_t attr[SS_MAX_ATTRS];       /* all of them, presets filled in: see ss_op_spec_start */
    uint32_t layer;
} ss_op_spec;

/* A spec with every attribute at its preset (SS_ATTR_REQUIRED where there is none). */
ss_op_spec ss_op_spec_start(const ss_op_kind *kind, const char *name);

/* The error of a refusal begins with the operator's name and kind. */
ss_status ss_model_add(ss_model *m, const ss_op_spec *spec, ss_op *out, ss_error *err);

typedef struct ss_model_totals {
    int64_t parameters;       /* elements, shared ones once */
    int64_t parameter_bytes;
    double macs, forward_flops; /* of the whole batch, forward */
    int64_t output_elements;  /* of all operators, output 0 */
    uint32_t operators;
} ss_model_totals;

ss_model_totals ss_model_total(const ss_model *m);
int64_t ss_model_batch(const ss_model *m); /* largest sample extent; 0 without operators */
uint64_t ss_model_hash(const ss_model *m); /* of everything a simulation reads, names included */
ss_status ss_model_check(const ss_model *m, ss_error *err); /* invariants, for tests */

#endif
