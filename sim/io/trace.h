/* trace.h - a step as trace events (JSON), for chrome://tracing and ui.perfetto.dev.
 *
 * A process for each device, with a lane of what it computes, and one for each kind of link, with a
 * lane for each link that was used.  Slices of a lane never overlap (the format wants them nested:
 * what would cross another gets a lane beside it), arrows lead from the task that made a message
 * over each hop to the task that waited for it, and a counter shows the memory held.  Times are
 * microseconds with six decimals, printed from whole picoseconds.
 *
 * Format: "Trace Event Format" (Google, 2016): complete events X, flows s and f, counters C,
 * metadata M. Viewers keep nanoseconds, so a flow begins in the last whole nanosecond of its slice:
 * any later instant could fall out of the slice when both are cut.
 */
#ifndef SS_TRACE_H
#define SS_TRACE_H

#include "base/status.h"
#include "io/view.h"

typedef struct ss_trace_options {
    ss_time from, to; /* only tasks that touch this window; to 0: to the end */
    const char *only; /* only tasks whose name or operator matches this pattern (fnmatch: * ? [])
                       * or, without such characters, contains it; NULL: all */
    bool no_flows, no_memory;
} ss_trace_options; /* {0}: everything */

typedef struct ss_trace_counts {
    uint32_t slices, flows, counters;
    uint32_t left_out; /* tasks that the options left out */
} ss_trace_counts;

/* Browsers manage about a million events; `counts` (may be NULL) tells how many there are, so that
 * a caller can recommend a window.  Refuses an empty window. The file appears whole or not at all.
 */
ss_status ss_trace_write(const ss_view *v, const char *path, const ss_trace_options *o,
                         ss_trace_counts *counts, ss_error *err);

#endif
