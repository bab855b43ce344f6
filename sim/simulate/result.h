/* result.h - what a simulation says: one step's time, and where it went.
 *
 * A result owns the task graph and timeline it speaks of, so it can be asked anything later.
 */
#ifndef SS_RESULT_H
#define SS_RESULT_H

#include "base/arena.h"
#include "graph/lower.h"
#include "simulate/critical.h"
#include "simulate/engine.h"
#include "simulate/held.h"
#include "simulate/run.h"

/* By device, [devices + 1]. Communication is the time during which at least one message that the
 * device sends or receives is crossing a link, on whichever hop; waiting for a link is none.  It
 * may overlap busy time.  Bytes are counted once at the source and once at the target
 * (ss_task_label's from and to), however many hops between; what the closed form of a meeting
 * charges crosses no link and is nobody's.  Busy is the time during which it has at least one task that it
 * computes, also one that stands still because the device does; with several streams they may be
 * more, and a copy that blocks the device is none. */
typedef struct ss_device_use {
    ss_time busy, idle, communicating;   /* busy + idle = step time */
    int64_t sent, received;              /* bytes, each message once */
    int64_t held_peak;                   /* bytes */
    int64_t held_peak_by[SS_HELD_KINDS]; /* what the peak is made of */
    ss_time held_peak_at;
} ss_device_use;

/* By link, [links + 1]. */
typedef struct ss_link_use {
    ss_time busy;      /* taken; of a shared link what its bytes take at full bandwidth, and if
                           * that changed on the way, at what it was on average over the step */
    int64_t bytes;     /* of every message that crossed it */
    uint32_t messages; /* that crossed it; a message cut into segments counts as that many */
    ss_time
        longest_wait; /* of a message that was there, for this link; of a shared one, the most that
                           * a message on it was slowed by others, on whichever link of its route */
} ss_link_use;

typedef struct ss_result {
    ss_lowered *lowered; /* owned */
    ss_timeline timeline;
    ss_time step_time; /* the makespan, and what the step has beside its tasks */
    ss_time overhead;  /* that (chance.h) */
    double samples, samples_per_s;
    double bytes_moved;
    ss_time compute; /* sum over devices of time spent computing */
    uint32_t devices, links;
    ss_device_use *device; /* [devices + 1] */
    ss_link_use *link;     /* [links + 1] */
    ss_held_change *held;  /* rows held_first[d] .. held_first[d+1]-1 are device d's */
    uint32_t *held_first;  /* [devices + 2] */
    ss_critical critical;
    ss_change *change; /* what happened to links and devices, [changes] in that order */
    uint32_t changes;
    uint32_t added;    /* the last so many tasks were added while it ran */
    const char **name; /* of these, [added]; NULL, or an element is: they have none */
    ss_arena names;
    double *mean_bytes_per_s;   /* by link, where one changed: on average; NULL: none did */
    bool over_capacity;         /* some device holds more than it has */
    char *costs;                /* where times came from, one line; NULL: nobody said */
    char *costs_notes;          /* what a reader must be warned of there, a sentence a line; NULL */
    double simulate_s, lower_s; /* wall clock: the only fields that differ between equal runs */
} ss_result;

/* Lowers, simulates, and draws up the account. `e` is working memory, and its watch watches all
 * of it.  By the engine, or where the options' run is not as published by a run. */
ss_status ss_result_new(const ss_model *m, const ss_topology *t, ss_routes *r, const ss_strategy *s,
                        const ss_timer *timer, const ss_lower_options *options, ss_engine *e,
                        ss_result **out, ss_error *err);
/* Of a bare task graph, which it takes over (also on failure): no model, no memory held. */
ss_status ss_result_of_tasks(ss_tasks *t, ss_engine *e, ss_result **out, ss_error *err);
/* Of a run that ended.  `l` is what was lowered for it, or has the bare task graph alone (then m, t, r
 * and s may be NULL): it is taken over, with the tasks that were added; also on failure.  name:
 * what those are called, [added], copied; NULL: nothing. */
ss_status ss_result_of_run(const ss_model *m, const ss_topology *t, ss_routes *r,
                           const ss_strategy *s, ss_lowered *l, const ss_run *run,
                           const char *const *name, ss_result **out, ss_error *err);
/* Of a timeline that came about elsewhere, such as a measured one: `line` is copied, and has the times of all tasks
 * of `l`, which is taken over, also on failure.  Links must not be shared. */
ss_status ss_result_of_line(const ss_model *m, const ss_topology *t, ss_routes *r, const ss_strategy *s,
                            ss_lowered *l, const ss_timeline *line, ss_result **out, ss_error *err);
void ss_result_free(ss_result *r);

#endif
