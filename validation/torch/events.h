/* events.h - what torch.profiler wrote: a Chrome trace (JSON), gzip or not, read event by event.
 *
 * A trace has hundreds of megabytes and more, so that it is never held: yajl cuts it as it is read, one event is kept, and whoever
 * wants to know is called with those that say how long operators took.  Facts about the format, as seen in traces of PyTorch 1.13 to 2.x:
 * an object with traceEvents (or the bare list), deviceProperties and record_shapes; events of phase X ("complete") with cat
 * cpu_op (an operator on the host), cuda_runtime or cuda_driver (it launched something) and kernel, gpu_memcpy or gpu_memset
 * (what the device did); args of operators: "External id", "Input Dims", "Input type", "Concrete Inputs", "Sequence number";
 * of launches and of what they launched: "correlation".  Times are microseconds in decimal text, since some begin or since 1970, and lose
 * nanoseconds as doubles: they are read as text.
 */
#ifndef SS_TORCH_EVENTS_H
#define SS_TORCH_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "base/watch.h"

typedef enum ss_torch_sort { SS_TORCH_OPERATOR, SS_TORCH_LAUNCH, SS_TORCH_WORK } ss_torch_sort;

/* Between items of `types` and `concrete`. */
#define SS_TORCH_NEXT '\x1f'

typedef struct ss_torch_event {
    uint64_t number; /* in the list, from 1 */
    ss_torch_sort sort;
    const char *name;
    const char *thread; /* process and thread, in one text */
    int64_t begin_ns, ns;
    bool has_external, has_correlation, has_sequence, has_dims;
    uint64_t external, correlation;
    int64_t sequence;
    const char *
        dims; /* "[[64,1024],[],[[3],[4]]]": of each argument, of lists of tensors a list; "" where too long */
    const char *types; /* "float", "Scalar", ... of each argument */
    const char *
        concrete; /* values of what is no tensor, "" for tensors; all "" where the trace has none */
} ss_torch_event; /* valid during the call */

typedef struct ss_torch_reader {
    void *context;
    ss_status (*take)(void *context, const ss_torch_event *e, ss_error *err);
    /* A device of the machine, by its name; in order. */
    ss_status (*device)(void *context, const char *name, ss_error *err);
} ss_torch_reader;

/* Refuses (SS_EFORMAT) with the file and the byte of the unpacked text what is no JSON, and with the number of the event what makes no
 * sense in it.  w may be NULL. */
ss_status ss_torch_read_events(const char *path, const ss_torch_reader *r, const ss_watch *w,
                               ss_error *err);

/* The same of text in memory, called `name` in messages; for tests. */
ss_status ss_torch_parse_events(const char *text, size_t n, const char *name,
                                const ss_torch_reader *r, ss_error *err);

/* "1694039994139246.123" microseconds as nanoseconds, exactly. */
bool ss_torch_nanoseconds(const char *text, size_t n, int64_t *out);

#endif
