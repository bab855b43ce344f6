/* profile.h - how long parts of operators take on this machine: what is measured, how, and its file.
 *
 * A profiler collects what strategies need: each key (kind, attributes, shape, element type, as ss_cost_key spells
 * them) once, with its phases.  Of an operator that passes a gradient on, that is forward and backward (all gradients
 * together); of one that reads only the data, forward and, where it has weights, the weight gradient; on request the
 * two parts of backward as well.  What is known already is left out.
 *
 * Measuring goes in rounds over all rows in turn, one measurement each, so that a machine that drifts does so under
 * all rows alike.  One measurement is one call of a kernel between two readings of CLOCK_MONOTONIC, on a thread of its
 * own, after what it reads was put in place: "warm", as much went through the caches as the strategies that were added
 * have in arrays on a device, on average (not before a part that goes on with the weights of the part before it), and then its
 * inputs (backward: the gradients that come in) were written, as by who makes them; "cold", so much else was written that
 * no cache holds them.
 *
 * The file is a table of measured times (io/measured_h5.h) with more columns and the single samples.
 */
#ifndef SS_PROFILE_H
#define SS_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/watch.h"
#include "graph/strategy.h"
#include "simulate/cost.h"
#include "validation/operators/kernel.h"
#include "validation/profiler/statistics.h"
#include "validation/profiler/streams.h"

/* ---- profiles (profile_file.c) ------------------------------------------------------------------------------- */

typedef struct ss_profile_row {
    ss_measured m;        /* seconds: the median; spread_s: the deviation; samples: how many */
    ss_statistics s;
    const double *sample; /* [s.n] seconds, in the order of rounds */
} ss_profile_row;

typedef struct ss_profile {
    ss_arena memory;         /* of all texts and samples */
    const char *device_kind; /* "cpu core" */
    const char *version;     /* what kernels are computed with: ss_kernels_version */
    const char *machine;     /* "Linux 6.1.0 x86_64" */
    const char *processor;   /* "" where the system does not say */
    const char *inputs;      /* "warm" or "cold" */
    const char *element;     /* what is computed in: "f32" */
    const char *wallclock;   /* when it was made: "2026-01-31T23:59:59Z" */
    uint64_t cores;          /* that the machine has */
    uint64_t rounds;         /* asked for */
    ss_profile_row *row;
    uint32_t rows, cap;
    /* Copies, sums, updates and messages by size, where another core was there to measure beside, and how much longer
     * two streams of copies take beside each other (what `interference` of a run asks for); else none and 0. */
    ss_stream_row *stream;
    uint32_t streams;
    double interference;
} ss_profile; /* {0} is empty */

void ss_profile_free(ss_profile *p); /* what is in it */

/* Adds the rows of another; of a key that both have, the other's.  What is said of the machine is then the other's too.
 * Refuses (SS_EINVAL) another device kind, version, kind of inputs or element type; an empty one takes them over. */
ss_status ss_profile_merge(ss_profile *into, const ss_profile *from, ss_error *err);

/* The same, but of a key that both have the samples of both, as if they were of one run of so many more rounds; bounds,
 * streams and interference are means, by the number of samples. */
ss_status ss_profile_pool(ss_profile *into, const ss_profile *from, ss_error *err);

/* Refuses a file there that is no profile: what is written replaces it.  None there is well. */
ss_status ss_profile_check_place(const char *path, ss_error *err);
/* HDF5, whole or not at all, in the place of what is there: docs/file-format.md. */
ss_status ss_profile_write(const char *path, const ss_profile *p, ss_error *err);
/* SS_EFORMAT: a table of measured times without samples, for one. */
ss_status ss_profile_read(const char *path, ss_profile *out, ss_error *err);

/* Its rows as a table of measured times, called `name` in messages: to be asked after what c has already. */
ss_status ss_profile_add_to_costs(const ss_profile *p, const char *name, ss_costs *c, ss_error *err);

/* A line for each row, in their order, under one that says what was measured on; and the same as JSON, with every sample
 * (profile_report.c). */
ss_status ss_profile_report_text(const ss_profile *p, ss_text *out, ss_error *err);
ss_status ss_profile_report_json(const ss_profile *p, ss_text *out, ss_error *err);

/* ---- profilers (profile.c, rounds.c) -------------------------------------------------------------------------- */

typedef struct ss_profiler_options {
    uint32_t rounds, warm_up; /* at least 1; warm-up rounds are not counted */
    double budget_s;          /* no round begins after so long, but the first of each batch; 0: no budget */
    int32_t core;             /* the thread that measures is pinned to it; -1: not pinned */
    int32_t beside;           /* another core: streams are measured, and in more rounds how far each row waits for memory
                                 while that core copies (m.bound); -1: nothing of that */
    uint32_t crowded;         /* so many rounds */
    uint64_t seed;            /* of the values */
    bool cold;                /* inputs */
    bool parts_of_backward;   /* input_gradient and weight_gradient as well */
    bool keep_stopped;        /* a stop ends the measuring well: what has samples by then is the profile */
    double memory_bytes;      /* of arrays at a time: what passes it is measured in batches, of one key at least;
                                 0: a quarter of the machine's */
} ss_profiler_options;

/* 15 rounds after 2, no budget, not pinned, beside nobody (else 5 rounds), seed 1, warm. */
ss_profiler_options ss_profiler_options_start(void);

typedef struct ss_profiler ss_profiler;

/* The maker must outlive the profiler. */
ss_status ss_profiler_new(const ss_kernel_maker *maker, const char *device_kind, const char *version,
                          const ss_profiler_options *o, ss_profiler **out, ss_error *err);
void ss_profiler_free(ss_profiler *p);

/* These rows (of this device kind) need not be measured.  To be told before parts are added. */
ss_status ss_profiler_known(ss_profiler *p, const ss_measured *row, ss_error *err);
/* Refuses (SS_EINVAL) what ss_profile_merge would refuse to put together with what is measured. */
ss_status ss_profiler_know_profile(ss_profiler *p, const ss_profile *known, ss_error *err);

/* A part of an operator: the box of its main output.  The model must outlive the profiler. */
ss_status ss_profiler_add(ss_profiler *p, const ss_model *m, ss_op op, const ss_box *main, ss_error *err);
ss_status ss_profiler_add_strategy(ss_profiler *p, const ss_strategy *s, ss_error *err);
uint32_t ss_profiler_rows(const ss_profiler *p); /* to be measured: keys times phases */
bool ss_profiler_is_idle(const ss_profiler *p);  /* neither rows nor streams are to be measured */

/* Measures all rows; `out` was empty and is filled only where all went well.  w may be NULL; a stop is an
 * error where nothing has samples yet, and unless keep_stopped; else it is heeded, and rows without samples are left out.
 * It may be called again, and measures the same once more. */
ss_status ss_profiler_measure(ss_profiler *p, const ss_watch *w, ss_profile *out, ss_error *err);

#endif
