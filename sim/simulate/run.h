/* run.h - a simulation that can be stopped in the middle, looked at and changed.
 *
 * The engine (engine.h) computes a whole timeline at once and knows when each task starts as soon as it is
 * ready.  Here nothing is decided before it happens: devices and links have queues, what runs has work
 * left, and time is advanced from instant to instant.  So speeds and bandwidths may change on the way,
 * devices may stop, tasks may be added, and what waits may be taken in another order than it came.  Left
 * alone, a run has the timeline of the engine to the picosecond (tests/property/prop_run.c).
 *
 * At an instant everything that ends is told first; then what is ready starts, in the order of (ready,
 * id), where it is first in the queues of all its resources and each has room; then new rates hold.
 *
 * A call that fails for want of memory or because times no longer fit leaves the run useless: it
 * refuses all but ss_run_free.
 */
#ifndef SS_RUN_H
#define SS_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/watch.h"
#include "graph/order.h"
#include "graph/tasks.h"
#include "simulate/engine.h"

typedef struct ss_run ss_run;

/* The task graph is copied and must be finished; it may have no more tasks than 2^31 with those added. */
ss_status ss_run_new(const ss_tasks *t, const ss_run_options *o, ss_run **out, ss_error *err);
void ss_run_free(ss_run *r);
void ss_run_set_watch(ss_run *r, const ss_watch *watch); /* kept, not copied */

/* What the script calls the tasks that it added, [n - given], each may be NULL: kept, not copied. */
void ss_run_set_names(ss_run *r, const char *const *added);

/* ---- time ---- */

ss_time ss_run_now(const ss_run *r);
/* When something will happen next, as things are; SS_TIME_MAX: nothing will. */
ss_time ss_run_next(ss_run *r);
/* Passes all instants up to and with `until`, which is then now. */
ss_status ss_run_advance(ss_run *r, ss_time until, ss_error *err);
/* Passes the next instant at which something happens; *happened false: there is none. */
ss_status ss_run_step(ss_run *r, bool *happened, ss_error *err);
/* To the end of the last task; what the options have happen later does not.  Fails if some task can never
 * end, and says what it waits for. */
ss_status ss_run_finish(ss_run *r, ss_error *err);

/* ---- what is ---- */

typedef enum ss_stage {
    SS_STAGE_WAITS,   /* for its predecessors */
    SS_STAGE_QUEUED,  /* for its resources */
    SS_STAGE_RUNS,    /* or crosses a link, or passes its latency */
    SS_STAGE_FLOWS,   /* over shared links */
    SS_STAGE_ARRIVES, /* has left its link (fifo-pipe) */
    SS_STAGE_DONE
} ss_stage;

const char *ss_stage_name(ss_stage s); /* "waits", ... */

const ss_tasks *ss_run_tasks(const ss_run *r); /* with those added; they move when some are added */
ss_stage ss_run_stage(const ss_run *r, ss_task task);
uint32_t ss_run_done(const ss_run *r); /* tasks that are done */
/* Tasks done at the last instant that was passed, ascending by when they were told; stays until the next. */
const ss_task *ss_run_ended(const ss_run *r, uint32_t *n);
/* Of tasks that are done all three times; of others those that are known so far, else -1. */
void ss_run_times(const ss_run *r, ss_task task, ss_time *ready, ss_time *start, ss_time *end);
ss_time ss_run_finish_of(const ss_run *r, ss_task task); /* when it was done; -1: it is not */
double ss_run_rate(const ss_run *r, ss_task task); /* bytes a second, of one that flows; else 0 */

/* All tasks are done.  `finish` is there if a latency changed under fifo-pipe. */
ss_status ss_run_timeline(const ss_run *r, ss_timeline *out, ss_error *err);
/* All of it: a run of the graph by the options, to its end. */
ss_status ss_run_simulate(const ss_tasks *t, const ss_run_options *o, const ss_watch *watch,
                          ss_timeline *out, ss_error *err);

/* ---- changes, from now on ---- */

/* Does what it says now, whatever its `at`, and remembers it with the time it happened at. */
ss_status ss_run_change(ss_run *r, const ss_change *c, ss_error *err);
/* What happened, by ss_run_change and by the options, in the order of its happening. */
const ss_change *ss_run_changes(const ss_run *r, uint32_t *n);
/* Tasks given at the start; those that were added follow. */
uint32_t ss_run_given(const ss_run *r);
double ss_run_bandwidth(const ss_run *r, uint32_t link); /* now; 0 of one that failed */
double ss_run_latency(const ss_run *r, uint32_t link);   /* now */
double ss_run_speed(const ss_run *r, ss_device device);  /* now; 0 of one that stands still */
/* What a link offered from the start until `until`, or its last change if that was later, on average:
 * that of the graph, to the bit, if it was never changed. */
double ss_run_mean_bandwidth(const ss_run *r, uint32_t link, ss_time until);

/* A link has another bandwidth (0: nothing passes) and latency.  What crosses it goes on with the new
 * bandwidth; the latency holds for what starts later.  Shared links: at most 16 times what the fastest
 * link of the graph had. */
ss_status ss_run_set_link(ss_run *r, uint32_t link, double bytes_per_s, double latency_s,
                          ss_error *err);
/* How fast a device works, against what the holds of its tasks say: 0.5 takes twice as long, 0 stops it
 * with what it runs.  At most 1000.  One that is paused or failed (ss_run_change) has it when it goes on. */
ss_status ss_run_set_speed(ss_run *r, ss_device device, double speed, ss_error *err);
/* What the device was computing is lost and begins anew when it may; with speed 0 it has failed until
 * the speed is set again. Transfers go on. */
ss_status ss_run_restart(ss_run *r, ss_device device, ss_error *err);

/* A task more, which may wait for any that exist; ready now at the earliest.  `hold` in ps at speed 1. */
ss_status ss_run_add(ss_run *r, ss_device device, ss_time hold, const ss_task_label *label,
                     const ss_task *before, uint32_t befores, ss_task *out, ss_error *err);
typedef struct ss_run_message {
    const uint32_t *link;
    uint32_t links;
    const uint32_t *leg; /* where links are crossed at once: ss_topology_legs of its route */
    uint32_t legs;       /* 0: it is stored nowhere, so it is one */
    int64_t bytes;
    uint32_t weight; /* of its flows where links are shared, 1 .. SS_MAX_FLOW_WEIGHT */
    double limit;    /* the most that one of them can have, beside that of all; 0: none */
} ss_run_message;

/* A message, whole; *out is the task that ends with its arrival.  Without links source and target are
 * one device, the `from` of the label: it takes no time and waits for nobody. */
ss_status ss_run_send(ss_run *r, const ss_run_message *m, const ss_task_label *label,
                      const ss_task *before, uint32_t befores, ss_task *out, ss_error *err);

#endif
