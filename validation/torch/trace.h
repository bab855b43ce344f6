/* trace.h - how long operators took in what torch.profiler recorded.
 *
 * Kernels are tied to the operator that launched them by the place of their launch in time: "correlation" says which launch that was, and
 * the innermost operator of its thread then is the one.  ("External id" of a kernel is asked only where the launch is not in the trace, and not
 * where it is the correlation once more, as old traces have it.)  Where a trace has no kernels, the time of an operator is its own on the
 * host, without that of the operators in it.
 *
 * An operator of ours is a call that maps onto one (map.h) with all that it calls; and of what autograd does, the node that the
 * call made ("Sequence number"): that is its backward, of inputs, weights or both, as what is computed in it says.
 *
 * Nothing is dropped: each nanosecond that kernels (or operators) took is in a row, or in untied_s.
 */
#ifndef SS_TORCH_TRACE_H
#define SS_TORCH_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/watch.h"
#include "validation/profiler/profile.h"
#include "validation/profiler/statistics.h"

/* Calls of one name, shapes and values, as part of one operator of ours or of none. */
typedef struct ss_torch_row {
    const char *name;
    const char *shapes; /* "64x1024, 1000x1024, 1000"; of what is no tensor "-" */
    const char *types;  /* "float, float, float" */
    const char *kind;   /* of ours that it is, or is part of; NULL: none */
    const char *why;    /* none: in a few words */
    ss_phase phase;     /* if it is one */
    double total_s;
    ss_statistics s; /* of calls that took time; their number is s.n */
} ss_torch_row;

/* A row of a profile. */
typedef struct ss_torch_part {
    const char *kind, *attributes, *shape;
    ss_dtype dtype;
    ss_phase phase;
    const double *sample; /* [s.n] seconds, in the order of the trace */
    ss_statistics s;
} ss_torch_part;

typedef struct ss_torch_trace {
    ss_arena memory;
    const char *path;
    const char *device;        /* the name of the first; "" where the trace has none */
    bool several;              /* there are devices of other names too */
    bool of_device;            /* times are those of kernels; else of the host */
    uint64_t operators, works; /* calls, and what the device did for them */
    double total_s, mapped_s, untied_s;
    ss_torch_row *row; /* by their total, largest first */
    uint32_t rows;
    ss_torch_part *part; /* in the order in which they come first */
    uint32_t parts;
} ss_torch_trace; /* {0} is empty */

/* SS_EFORMAT: what is no trace, and one without shapes (record_shapes=True was not asked for).  w may be NULL. */
ss_status ss_torch_trace_read(const char *path, const ss_watch *w, ss_torch_trace *out,
                              ss_error *err);
/* The same of text in memory, called `name` in messages; for tests. */
ss_status ss_torch_trace_parse(const char *text, size_t n, const char *name, ss_torch_trace *out,
                               ss_error *err);
void ss_torch_trace_free(ss_torch_trace *t);

/* Its parts as a profile of a kind of device; NULL: the device's name.  Its inputs are "step": as the step left them. */
ss_status ss_torch_trace_profile(const ss_torch_trace *t, const char *kind, ss_profile *out,
                                 ss_error *err);

/* For a person, so many rows at most, 0: all of them; and as JSON, all (report.c). */
ss_status ss_torch_trace_text(const ss_torch_trace *t, uint32_t most, ss_text *out, ss_error *err);
ss_status ss_torch_trace_json(const ss_torch_trace *t, ss_text *out, ss_error *err);

#endif
