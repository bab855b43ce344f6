/* sensitivity.h - how far a step time moves when every duration moves by a picosecond.
 *
 * Over shared links a long run of transfers that depend on each other is chaotic: a rounding of 1e-16 can
 * grow to a percent of the makespan over ten thousand contended tasks.  What such a run says is not
 * wrong, but a difference between two of them that is smaller than this spread says nothing.
 *
 * So the graph is run again with each hold a picosecond (1e-12 s, the least there is) longer, shorter or
 * as it was, by a hash of (seed, run, task).  A hold that is 0 stays so, but for the latency of a flow.
 */
#ifndef SS_SENSITIVITY_H
#define SS_SENSITIVITY_H

#include "graph/order.h"
#include "simulate/engine.h"
#include "simulate/result.h"

typedef struct ss_sensitivity {
    uint32_t runs;
    ss_time least, most; /* makespans, that of the graph as it is among them */
} ss_sensitivity;

enum { SS_SENSITIVITY_MOST_RUNS = 10000 };

/* The makespan is that of the graph as it is, by the order, where that is not NULL or as published. */
ss_status ss_sensitivity_find(const ss_tasks *t, const ss_run_options *order, ss_time makespan,
                              ss_engine *e, uint32_t runs, uint64_t seed, ss_sensitivity *out,
                              ss_error *err);

/* Of a step that was simulated, with what happened in it to links and devices.  The engine's watch watches.
 * Refuses one to which a script added tasks, and one with priorities: only the script could do it again. */
ss_status ss_sensitivity_of_result(const ss_result *r, ss_engine *e, uint32_t runs, uint64_t seed,
                                   ss_sensitivity *out, ss_error *err);

/* (most - least) / least; 0 of an empty step. */
double ss_sensitivity_spread(const ss_sensitivity *s);

#endif
