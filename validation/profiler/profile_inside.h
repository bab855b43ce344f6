/* profile_inside.h - what the files of the profiler share. */
#ifndef SS_PROFILE_INSIDE_H
#define SS_PROFILE_INSIDE_H

#include "base/names.h"
#include "validation/profiler/profile.h"

/* A key, with the first part that was found to have it. */
typedef struct ss_profiled {
    const ss_model *model;
    ss_op op;
    ss_box main;
    const char *attributes, *shape; /* in the profiler's memory */
    bool phase[SS_PHASES];          /* to be measured */
    uint32_t fresh, again; /* parts of strategies with the key: whose weights others come between, or were just used */
} ss_profiled;

struct ss_profiler {
    ss_kernel_maker maker;
    ss_profiler_options options;
    const char *device_kind, *version;
    ss_arena memory;
    ss_names known;      /* key and phase */
    ss_names keys;       /* ids are rows of `of`, from 1 */
    ss_profiled *of;
    uint32_t cap, rows;
    double working_bytes; /* of all arrays of one device, summed over `devices` devices of strategies that were added */
    uint32_t devices, strategies;
    double largest_bytes; /* of one array of the parts that were added */
    double known_stream; /* bytes of the largest that is known; 0: none is */
    double interference; /* of what is known; 0: not known */
};

/* Bytes of arrays that may be there at a time. */
double ss_profiler_memory(const ss_profiler *p);
/* The largest stream that is measured: as far as the arrays go that a step has, and the memory. */
int64_t ss_profiler_largest_stream(const ss_profiler *p);
/* Whether streams are known so far. */
bool ss_profiler_knows_streams(const ss_profiler *p);

/* Of all arrays of a part, gradients included; what a kernel keeps for itself is not known. */
double ss_profiled_bytes(const ss_model *m, ss_op op, const ss_box *main);
/* Of the largest of them. */
double ss_profiled_largest(const ss_model *m, ss_op op, const ss_box *main);
/* Copied into the arena; NULL: no memory. */
const char *ss_profile_keep(ss_arena *a, const char *text);
/* Room for one row more; its texts and samples are copied. */
ss_status ss_profile_add(ss_profile *p, const ss_measured *m, const double *sample, uint32_t n, ss_error *err);
/* Refuses what ss_profile_merge does. */
ss_status ss_profile_check_same(const ss_profile *a, const char *device_kind, const char *version,
                                const char *inputs, const char *element, ss_error *err);
/* What is said of inputs, and of the element type, of what a profiler measures. */
const char *ss_profiler_inputs(const ss_profiler *p);
const char *ss_profiler_element(void);
ss_status ss_profile_describe_machine(ss_profile *p, ss_error *err);

#endif
