/* streams.h - how long this machine takes for what a step does beside its operators: copying, adding up, updating,
 * and passing on what another core made.
 *
 * Each is measured over a range of sizes, in rounds over all of them in turn, as operators are.  What is written lay there
 * before as much as a step touches went through the caches; what is read was written just before, by who measures or
 * (messages) by the other core.
 */
#ifndef SS_STREAMS_H
#define SS_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/watch.h"
#include "graph/lower.h"
#include "validation/profiler/crowd.h"
#include "validation/profiler/statistics.h"

typedef struct ss_stream_row {
    ss_stream what;
    int64_t bytes; /* of the result */
    ss_statistics s;
    const double *sample; /* [s.n] seconds */
    /* How far it waits for memory that other cores use too, 0 to 1: the root of (time while the other core does the same /
     * time alone - 1) over the same of a copy that no cache holds. */
    bool has_bound;
    double bound;
} ss_stream_row;

typedef struct ss_streams_options {
    uint32_t rounds, warm_up, crowded; /* crowded: rounds with the other core */
    int64_t least, most;               /* bytes; from the one on by factors of 2 up to the other */
    size_t between_bytes;              /* go through the caches before what is read is written */
} ss_streams_options;

/* How far who waits for memory is slowed by another that does the same: times as long as alone, against that of who waits
 * all the time.  Slowdown is interference x bound x bound (simulate/run.h), so that the bound is a root. */
double ss_bound_of(double times_as_long, double interference);

/* On the thread that calls; `crowd` NULL: no messages, and no bounds.  Rows and samples are in the arena.  interference:
 * how much longer a copy that no cache holds takes beside another one. */
ss_status ss_streams_measure(const ss_streams_options *o, ss_crowd *crowd, const ss_watch *w, ss_arena *memory,
                             ss_stream_row **row, uint32_t *rows, double *interference, ss_error *err);

#endif
