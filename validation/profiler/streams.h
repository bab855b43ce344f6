/* streams.h - how long this machine takes for what a step does beside its operators: copying, adding up, updating,
 * and passing on what another core made.
 *
 * Each is measured over a range of sizes, in rounds over all of them in turn, as operators are: what is read was written
 * just before, by who measures or (messages) by the other core.
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
    /* How far it waits for memory that other cores use too, 0 to 1: (time beside a stream of copies on the other core
     * / time alone - 1) over the same of the largest copy. */
    bool has_bound;
    double bound;
} ss_stream_row;

typedef struct ss_streams_options {
    uint32_t rounds, warm_up, crowded; /* crowded: rounds beside a stream of copies */
    int64_t least, most;               /* bytes; from the one on by factors of 2 to the other */
} ss_streams_options;

/* On the thread that calls; `crowd` NULL: no messages, and no bounds.  Rows and samples are in the arena. */
ss_status ss_streams_measure(const ss_streams_options *o, ss_crowd *crowd, const ss_watch *w, ss_arena *memory,
                             ss_stream_row **row, uint32_t *rows, double *interference, ss_error *err);

#endif
