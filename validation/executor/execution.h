/* execution.h - the task graph of a strategy, executed on this machine.
 *
 * Each device of the topology is a thread of its own, pinned to a core.  It takes among its ready tasks the one
 * with the smallest (ready, id), the published rule, where a task is ready when the clock says that the last of its
 * predecessors was done; it computes with real kernels (operators/kernel.h), and what it measures has the shape of
 * a simulated timeline.
 *
 *   forward, backward  a kernel, on arrays of the part's own
 *   gather             pieces that a part reads, from its own device, are put together
 *   accumulate         gradients that meet are added up, and put together
 *   transfer           a piece is copied from an array of one device into one of another, or added to it, by the
 *                      thread of the device that receives it: there is no copy engine
 *   update             w -= rate * gradient, of a shard
 *   barrier            nothing
 *
 * A reader that reads just what one part on its device made reads it where it is.  Where lowering has no task for
 * putting together or adding (gather, partial_sums), it is done at the beginning of the task that needs it.
 * Gradients of weights begin at 0 in each iteration and are added to.
 *
 * What can be executed: whole training steps, or forward alone, with links of one hop between any two devices that
 * exchange something, whole messages (no segments, one message for each pair of parts), forward and backward as
 * tasks of their own, and gradients that meet by parameter server or by messages of an all-reduce (not in switches).
 * All else is refused (SS_EUNSUPPORTED) with the option that is in the way.  Element types are taken as floats of 32
 * bits.
 */
#ifndef SS_EXECUTION_H
#define SS_EXECUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/watch.h"
#include "graph/lower.h"
#include "simulate/engine.h"
#include "validation/operators/kernel.h"

typedef struct ss_execution ss_execution;

typedef struct ss_execution_options {
    uint64_t seed;      /* of weights, inputs and labels */
    double rate;        /* of updates */
    const uint32_t *core; /* by device, from 1: where its thread is pinned; NULL: device d on core d - 1 */
    bool pinned;        /* false: wherever the system puts it */
} ss_execution_options;

ss_execution_options ss_execution_options_start(void); /* seed 1, rate 0.001, pinned */

/* `l` is what ss_lower made of these; all of them, and the maker, must outlive the execution. */
ss_status ss_execution_new(const ss_model *m, const ss_topology *t, const ss_strategy *s,
                           const ss_lowered *l, const ss_kernel_maker *maker,
                           const ss_execution_options *o, ss_execution **out, ss_error *err);
void ss_execution_free(ss_execution *e);

/* One step: from the first task's start (0) to the last one's end.  Weights go on from where the step before left
 * them.  Refuses if there are fewer cores than devices, and what a kernel says. */
ss_status ss_execution_step(ss_execution *e, ss_timeline *out, ss_error *err);

/* ---- what the last step computed ----------------------------------------------------------------------------- */

/* Sum of the losses of all parts; 0 without a loss. */
double ss_execution_loss(const ss_execution *e);
/* A tensor that an operator made, whole, row by row. */
void ss_execution_output(const ss_execution *e, ss_tensor t, float *out);
/* A weight, or its gradient after gradients have met, whole, row by row; as device `holder` has it, from 0
 * among those that hold each shard (modulo how many these are): all of them should have the same. */
void ss_execution_weight(const ss_execution *e, ss_weight w, uint32_t holder, bool gradient, float *out);
/* Most devices that hold a shard of it. */
uint32_t ss_execution_holders(const ss_execution *e, ss_weight w);

#endif
