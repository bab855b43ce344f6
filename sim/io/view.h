/* view.h - one simulated step as rows that any writer can write and any reader can give back.
 *
 * Traces, figures, the record and `inspect` all work on this, so a timeline read from a file is as
 * good as one just simulated.  A view owns its memory and refers to nothing else.
 *
 * Parts are numbered from 0 in names, as in strategies; "conv1[0] -> conv2[1]" is what part 0 of conv1
 * sends to part 1 of conv2, and a weight cut into several shards has their number in brackets.
 */
#ifndef SS_VIEW_H
#define SS_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/units.h"
#include "graph/model.h"
#include "graph/topology.h"
#include "simulate/result.h"

typedef struct ss_view_lane {
    const char *name; /* "gpu1", "gpu1->gpu2" */
    const char *kind; /* "p100", "nvlink"; "" where nothing is known */
    bool is_link;
    double capacity_bytes; /* of a device's memory; 0: not known */
    double bytes_per_s;    /* of a link */
    /* what the step did to it */
    ss_time busy, communicating, longest_wait;
    int64_t sent, received; /* of a device; a link counts what it carried in sent */
    uint32_t messages;
    int64_t held_peak, held_peak_by[SS_HELD_KINDS];
    ss_time held_peak_at;
} ss_view_lane;

typedef struct ss_view_task {
    uint32_t id;    /* the row it is in */
    uint32_t lane;  /* row of lane; a task on several resources has its first here */
    uint32_t lanes; /* how many resources it holds; the others are in ss_view.more */
    uint32_t first_more;
    uint8_t kind, cargo; /* ss_task_kind, ss_cargo */
    uint8_t on_critical_path;
    const char *name; /* "conv1.forward[3]", "conv1[0] -> conv2[1]" */
    const char *op;   /* operator or weight, for grouping and colour */
    /* Transfers: ids of a task it waits for and of one that waits for it; 0: none. */
    uint32_t from_task, to_task;
    uint32_t from, to; /* transfers: lanes of the devices it leaves and is for; 0: not known */
    uint32_t hop;      /* transfers: position in the route, from 0 */
    uint32_t behind;   /* on the critical path and queued: id of the task in front of it; else 0 */
    uint32_t waited;   /* the same: the lane that it waited for; else 0 */
    ss_time ready, start, end, finish; /* finish: end plus the lag of its link */
    int64_t bytes;
} ss_view_task;

/* A message, or the meeting of a weight's gradients as one task: bytes move, and nothing is computed. */
static inline bool ss_view_is_message(const ss_view_task *t)
{
    return t->kind == SS_TASK_TRANSFER || t->kind == SS_TASK_COLLECTIVE;
}

typedef struct ss_view_held {
    uint32_t lane;
    ss_time at;
    int64_t bytes; /* held from then on */
} ss_view_held;

/* A link or device was not what it is at first. */
typedef struct ss_view_stretch {
    uint32_t lane;
    ss_time from, to;
    bool still; /* nothing passed, or was computed; else another bandwidth, latency or speed */
} ss_view_stretch;

/* Something happened to a link or device, and what it has from then on. */
typedef struct ss_view_event {
    ss_time at;
    uint32_t lane;
    const char *what;              /* "link a->b 2.5 GB/s at 1 ms" */
    double bytes_per_s, latency_s; /* of a link; 0: nothing passes it */
    double speed;                  /* of a device; 0: it stands still */
} ss_view_event;

typedef struct ss_view {
    ss_arena arena;                                        /* holds every string and array */
    const char *model, *topology, *strategy, *assumptions; /* names; what was in force, one line */
    const char *cautions; /* of the costs, a sentence a line; NULL or "": none */
    ss_time step_time;
    double samples, bytes_moved;
    double moved[SS_CARGOS]; /* bytes_moved by cargo; SS_CARGO_NONE: of bare task graphs */
    double charged_bytes;    /* of bytes_moved: charged in closed form, so on no link */
    ss_time path_compute, path_transfer, path_queueing;
    ss_time path_queueing_device, path_queueing_link; /* of path_queueing: waiting for which */
    ss_time path_overhead;                            /* of the step, beside its tasks */
    ss_time path_slowed; /* of path_transfer: by what crossed the same shared links */
    uint32_t devices;    /* lanes 1 .. devices; links follow */
    uint32_t lanes, tasks, mores, helds, edges;
    ss_view_lane *lane;       /* [lanes + 1]: devices, then links; rows from 1 */
    ss_view_task *task;       /* [tasks + 1] */
    uint32_t *more;           /* [mores]: lanes of tasks that hold several */
    ss_view_held *held;       /* [helds], by lane, then time */
    uint32_t (*edge)[2];      /* [edges]: before, after */
    ss_view_stretch *stretch; /* [stretches], in no order */
    uint32_t stretches;
    ss_view_event *event; /* [events], as they happened */
    uint32_t events;
} ss_view; /* {0} */

/* What a lane does one after the other. */
typedef struct ss_view_turn {
    ss_time start;
    uint32_t lane, task;
} ss_view_turn;

/* By lane, then start, then task, for qsort of turns and of whatever begins with one. */
int ss_view_turn_order(const void *a, const void *b);

/* m and t may be NULL for a bare task graph, and `strategy_name` too: what has no name is numbered. */
ss_status ss_view_of_result(const ss_result *r, const ss_model *m, const ss_topology *t,
                            const char *strategy_name, ss_view *out, ss_error *err);
/* The same without tasks, edges, holds and the critical path: of a graph of 10^6 tasks a thousandth. */
ss_status ss_view_of_lanes(const ss_result *r, const ss_model *m, const ss_topology *t,
                           const char *strategy_name, ss_view *out, ss_error *err);
/* What changed on the way, in the arena's memory; at most as many as changes and lanes. */
ss_status ss_view_stretches(const ss_result *r, ss_arena *arena, ss_view_stretch **out, uint32_t *n,
                            ss_error *err);

/* All of it, one after the other; t: whose links and devices they are, NULL: numbers. */
ss_status ss_view_events(const ss_result *r, const ss_topology *t, ss_arena *arena, ss_view_event **out,
                         uint32_t *n, ss_error *err);

void ss_view_free(ss_view *v);

#endif
