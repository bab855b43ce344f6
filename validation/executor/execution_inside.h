/* execution_inside.h - what the files of the executor share.
 *
 *   execution.c   what can be executed; making and freeing one
 *   parts.c       arrays and kernels of the parts of operators; shards of weights on devices
 *   actions.c     what each task does
 *   threads.c     one step: threads, queues, clock
 *   ask.c         what a step computed
 */
#ifndef SS_EXECUTION_INSIDE_H
#define SS_EXECUTION_INSIDE_H

#include "base/arena.h"
#include "validation/executor/copies.h"
#include "validation/executor/execution.h"

/* An input of a part, as an array. */
typedef struct ss_part_input {
    ss_box box;
    float *at;       /* of its own, or the array that the one part makes which it reads */
    bool own;
    float *gradient; /* NULL: nobody wants it */
} ss_part_input;

typedef struct ss_part_output {
    ss_box box;
    float *at;
    float *gradient; /* what all readers' gradients come to; NULL: none comes */
    bool own;        /* gradient: of its own, or the gradient of the one reader's input */
} ss_part_output;

/* A weight as a part uses it. */
typedef struct ss_part_weight {
    ss_box box;
    float *at, *gradient;
    bool own; /* it is put together from several shards, or is a piece of one */
} ss_part_weight;

typedef struct ss_part {
    ss_op op;
    uint32_t part;
    ss_device device;
    ss_kernel *kernel;
    ss_kernel_io io;
    double loss;
    ss_part_input *input;   /* [def->inputs] */
    ss_part_output *output; /* [def->outputs] */
    ss_part_weight *weight; /* [def->weights] */
} ss_part;

/* A shard on one device: a row of shard_device. */
typedef struct ss_holding {
    float *at, *gradient;
} ss_holding;

typedef enum ss_action_kind { SS_DO_NOTHING, SS_DO_FORWARD, SS_DO_BACKWARD, SS_DO_UPDATE } ss_action_kind;

/* What a task does: copies, then a kernel or an update, then copies. */
typedef struct ss_action {
    ss_action_kind kind;
    uint32_t device;               /* whose thread */
    uint32_t of;                   /* row of part; SS_DO_UPDATE: of shard_device */
    uint32_t first_before, before; /* rows of copy */
    uint32_t first_after, after;
} ss_action;

struct ss_execution {
    const ss_model *model;
    const ss_topology *topology;
    const ss_strategy *strategy;
    const ss_lowered *lowered;
    ss_execution_options options;
    ss_arena memory; /* of all arrays of rows */
    float **array;   /* blocks of numbers, each freed by itself; [arrays] */
    uint32_t arrays, array_cap;

    uint32_t *first_part; /* by operator, [ops + 2], rows of part */
    ss_part *part;        /* from 0 */
    uint32_t parts;
    ss_holding *holding;  /* rows 1 .. shard_devices */

    ss_action *action; /* [tasks + 1] */
    ss_copy *copy;
    uint32_t copies, copy_cap;

    uint32_t *gather;     /* by row of part and input: the task that puts it together, 0: none */
    uint32_t *first_gather; /* by row of part: where its inputs begin */
    uint32_t *sum;        /* by row of part: the task that adds up its gradients, 0: none */

    struct ss_crew *crew; /* threads.c */
};

/* A new array of n floats, at 64 bytes; NULL: no memory.  Never of 0. */
float *ss_execution_array(ss_execution *e, int64_t n);
static inline ss_part *ss_part_of(const ss_execution *e, ss_op op, uint32_t part)
{
    return &e->part[e->first_part[op.i] + part];
}

/* Whether a gradient goes back through input v of an operator. */
bool ss_execution_carries(const ss_execution *e, ss_op op, uint32_t v);

/* parts.c */
ss_status ss_execution_make_parts(ss_execution *e, const ss_kernel_maker *maker, ss_error *err);
/* actions.c */
ss_status ss_execution_make_actions(ss_execution *e, ss_error *err);
ss_status ss_action_do(ss_execution *e, const ss_action *a, ss_error *err);
/* threads.c */
ss_status ss_crew_new(ss_execution *e, ss_error *err);
void ss_crew_free(ss_execution *e);

#endif
