/* tasks.h - the task graph: what the engine runs.
 *
 * A task holds one resource (a device or a link) or a set of them (a route, a ring) for a time,
 * uninterrupted.  Ids are 1 .. n in the order of adding.  Whoever adds tasks does it in structural
 * order: by what the task is (phase, operator position, part, edge, hop), never by when it came to
 * mind; then equal ready times are broken the same way whatever the history.
 *
 * Where links are shared, a transfer holds nothing: its set is the path of its flow, its hold the
 * latency before, and how long it takes is found by the simulation.
 *
 * The result of a simulation is unique if along every edge (ready, id) grows, that is, if a task that
 * takes no time has a smaller id than its successors.  ss_tasks_finish refuses other graphs.
 *
 * Columns, not rows, and edges in compressed rows: a million tasks with three edges each take some
 * 90 bytes a task with their timeline.
 */
#ifndef SS_TASKS_H
#define SS_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/units.h"
#include "base/watch.h"
#include "graph/ids.h"
#include "graph/link_law.h"

/* How links are used; cases/contention-*.json hold the answers. */
typedef enum ss_links_mode {
    SS_LINKS_FIFO_HOP, /* exclusive, one link after the other, each for latency + bytes/bandwidth */
    SS_LINKS_FIFO_PIPE, /* the same, but held for bytes/bandwidth only: latency passes outside */
    SS_LINKS_FIFO_PATH, /* exclusive, the whole route for sum(latency) + bytes/min(bandwidth) */
    SS_LINKS_SHARED,    /* a fluid flow over all links at once after sum(latency), max-min fair */
    SS_LINKS_MODES
} ss_links_mode;

/* A message is one task, however many links it crosses. */
static inline bool ss_links_are_crossed_at_once(ss_links_mode m)
{
    return m == SS_LINKS_FIFO_PATH || m == SS_LINKS_SHARED;
}

const char *ss_links_mode_name(ss_links_mode m); /* "fifo-hop" */
ss_status ss_links_mode_parse(const char *text, ss_links_mode *out, ss_error *err);

typedef enum ss_task_kind {
    SS_TASK_NONE,
    SS_TASK_COMPUTE, /* of a bare task graph: no operator known */
    SS_TASK_FORWARD,
    SS_TASK_BACKWARD,
    SS_TASK_LUMPED,     /* forward and backward in one, as the 2018 simulator has it */
    SS_TASK_ACCUMULATE, /* partial sums of a gradient */
    SS_TASK_BARRIER,    /* takes no time */
    SS_TASK_UPDATE,     /* of weights */
    SS_TASK_TRANSFER,   /* a message or one hop or segment of it */
    SS_TASK_COLLECTIVE, /* an all-reduce as one task */
    SS_TASK_GATHER,     /* what a part reads is put together */
    SS_TASK_KINDS
} ss_task_kind;

const char *ss_task_kind_name(ss_task_kind k);

/* What a transfer carries; 0 for compute. */
typedef enum ss_cargo {
    SS_CARGO_NONE,
    SS_CARGO_ACTIVATION,
    SS_CARGO_GRADIENT, /* of an activation */
    SS_CARGO_WEIGHT_GRADIENT,
    SS_CARGO_WEIGHT,
    SS_CARGOS
} ss_cargo;

const char *ss_cargo_name(ss_cargo c);

/* Who a task is, for reports, traces and the record. Not read by the engine. */
typedef struct ss_task_label {
    uint8_t kind;            /* ss_task_kind */
    uint8_t cargo;           /* ss_cargo */
    uint16_t hop;            /* position in the route, from 0 */
    uint32_t op;             /* operator, or weight for weight gradients and updates; 0: none */
    uint32_t part;           /* part of the operator; transfers: of the producing one */
    uint32_t to_op, to_part; /* transfers: who receives */
    ss_device from,
        to; /* transfers: the device the message leaves and the one it is for, the same in
                         * every hop and segment; 0: not known, or a switch (then nobody is charged there) */
    uint32_t
        turn; /* tells apart what would else be alike: the input of the reader that a message or
               * sum is for, or the message of a collective; of a collective that is one task how
               * many messages follow each other in it */
} ss_task_label;

typedef struct ss_tasks {
    uint32_t n; /* tasks 1 .. n */
    uint32_t devices,
        links; /* resources 1 .. devices are devices, devices+1 .. devices+links links */
    ss_links_mode mode;

    /* by task, [n + 1] */
    ss_time
        *hold; /* how long its resource is taken; of a shared transfer how long before it flows */
    uint32_t *where; /* resource, or devices + links + set (from ss_tasks_set) */
    int64_t *bytes;  /* payload of a transfer; 0 of compute */
    ss_task_label *label;

    /* edges, both ways, in rows: those of task t are at first[t] .. first[t+1]-1; [n + 2] */
    uint32_t edges;
    uint32_t *first_in, *in;   /* predecessors, in the order they were given */
    uint32_t *first_out, *out; /* successors, ascending; filled by ss_tasks_finish */

    /* by resource, [devices + links + 1]: successors are ready this much after the end.  Latency of
     * a link in fifo-pipe, else 0.  A set has none: whoever makes a task of several resources puts
     * all of its time into the hold. */
    ss_time *lag;
    double *bytes_per_s, *latency_s; /* by link, [links + 1] */
    const ss_link_law *const *law;   /* by link, [links + 1], the caller's: asked while messages are
                                      * added; NULL: none has any */
    int64_t *last_bytes; /* by link: of its last message, whose hold is last_hold; -1: of none */
    ss_time *last_hold;

    /* What chance makes of the times that are added (luck.h); NULL: nothing. */
    const struct ss_luck *luck;
    /* What a flow has to carry, by task, where chance makes it differ from `bytes`; else NULL. */
    int64_t *flow;
    uint32_t flow_cap;
    bool draws_flows;
    /* How far a task waits for memory that devices of its machine share, by task: 0 not at all, 1 all the time.
     * NULL, and of tasks that ss_tasks_bind did not speak of: 0. */
    float *bound;
    uint32_t bound_cap;
    bool binds; /* there are such tasks */
    bool
        amid; /* what is transferred belongs to a message that has begun, and has had its overhead */

    /* sets of resources, 1 .. sets: rows first_of_set[s] .. first_of_set[s+1]-1; [sets + 2] */
    uint32_t sets;
    uint32_t *first_of_set, *of_set;
    uint32_t *weight_of_set; /* [sets + 2] of a path's flows; 1 of all else */
    double *limit_of_set;    /* bytes a second that one of its flows can have; 0: no limit */
    /* Where that depends on the links (a law by size): the share of its bandwidth that a flow can have of
     * each link, beside of_set, and the limit that it has anyway, by set.  NULL: of no set. */
    double *share_of_set, *most_of_set;
    uint32_t flow_weight; /* of the paths of messages that are added */
    double flow_limit;
    uint32_t *set_slot; /* open addressing by contents, 0 is free; [set_slots], a power of two */

    uint32_t cap, edge_cap, set_cap, of_set_cap; /* capacities of the arrays above */
    uint32_t row_out_cap, out_cap, resource_cap, link_cap, set_slots;
    int64_t moved; /* see ss_tasks_bytes_moved */
    bool finished;
} ss_tasks; /* {0}, then ss_tasks_start */

/* Links are given by their bandwidth and latency, rows 1 .. links. Keeps the arrays of an earlier
 * use, so that lowering again asks the machine for no memory. */
ss_status ss_tasks_start(ss_tasks *t, uint32_t devices, uint32_t links, const double *bytes_per_s,
                         const double *latency_s, ss_links_mode mode, ss_error *err);
void ss_tasks_free(ss_tasks *t);

/* From here on times are drawn: of tasks by their labels, of messages once each. `luck` is the
 * caller's and must last as long as tasks are added; NULL: they are as given. */
ss_status ss_tasks_draw(ss_tasks *t, const struct ss_luck *luck, ss_error *err);

/* Makes room for so many tasks and edges in all, and no more: arrays that grow by themselves double,
 * which a graph of known size need not pay for.  Never necessary. */
ss_status ss_tasks_reserve(ss_tasks *t, uint32_t tasks, uint32_t edges, ss_error *err);

/* Room for so many more, so that adding these cannot fail for want of memory. */
ss_status ss_tasks_reserve_more(ss_tasks *t, uint32_t tasks, uint32_t edges, ss_error *err);

/* What is there, in arrays of its own. */
ss_status ss_tasks_copy(const ss_tasks *t, ss_tasks *out, ss_error *err);

/* The graph behind itself, `times` in all: a task of a copy also waits, in the copy before, for task
 * more[first_more[i]] .. more[first_more[i + 1] - 1]; rows 1 .. n, [n + 2].  After an error, and when
 * the watch (NULL: nobody's) ends it, there is nothing of use in it. */
ss_status ss_tasks_repeat(ss_tasks *t, uint32_t times, const uint32_t *first_more,
                          const uint32_t *more, const ss_watch *watch, ss_error *err);

/* A task on one resource, or on a set (`where` of ss_tasks_set).  Its predecessors follow by
 * ss_tasks_after, before the next task is added.  label may be NULL. */
ss_status ss_tasks_add(ss_tasks *t, uint32_t resource, ss_time hold, int64_t bytes,
                       const ss_task_label *label, ss_task *out, ss_error *err);
/* `before` must end before the task added last is ready.  It may have an id still to come; to say the
 * same edge twice does no harm. */
ss_status ss_tasks_after(ss_tasks *t, ss_task before, ss_error *err);

/* How far a task that was added waits for the memory of its machine, 0 to 1: what the interference of a run
 * (order.h) looks at. */
ss_status ss_tasks_bind(ss_tasks *t, ss_task task, double bound, ss_error *err);
static inline double ss_tasks_bound(const ss_tasks *t, ss_task task)
{
    return t->binds ? (double)t->bound[task.i] : 0;
}

/* A set of resources held together; equal sets get one id.  Resources ascending, none twice.  Even a
 * set of one is a set: it has no lag. */
ss_status ss_tasks_set(ss_tasks *t, const uint32_t *resource, uint32_t n, uint32_t *where,
                       ss_error *err);

/* How links fall short of bandwidth and latency, rows 1 .. links, NULL of those that do not; the array must
 * stay while messages are added.  A curve or half size lets a message take longer on each link it crosses
 * (fifo-hop, fifo-pipe), or limits its rate (fifo-path, shared) to that of its slowest link for its
 * size.  Refuses latency by size in fifo-pipe, where a latency belongs to the link. */
ss_status ss_tasks_set_laws(ss_tasks *t, const ss_link_law *const *law, ss_error *err);

/* Of the flows of messages that are added from now on, where links are shared: their weight (1 ..
 * SS_MAX_FLOW_WEIGHT) and the most that one can have, in bytes a second (0: no limit).  At first 1 and 0. */
enum { SS_MAX_FLOW_WEIGHT = 1 << 16 };
void ss_tasks_set_flows(ss_tasks *t, uint32_t weight, double limit);

/* The limit of a path's flows while its links have other bandwidths than the graph's: of a path (its number
 * among the sets), link after link in the order of the set.  What falls short by size has of each link the
 * same share of what that has now; while all are as in the graph, the limit found for it then. */
typedef struct ss_path_limit {
    const ss_tasks *tasks;
    uint32_t path, next; /* next: the row of of_set that comes now */
    double least;
    bool by_links; /* it depends on what links have */
    bool changed;
} ss_path_limit;
ss_path_limit ss_path_limit_of(const ss_tasks *t, uint32_t path);
void ss_path_limit_next(ss_path_limit *l, double bytes_per_s);
double ss_path_limit_end(const ss_path_limit *l); /* 0 where it is none; behind the last link */

enum { SS_SEGMENTS_MAX = 1024 };

/* A message over links (1 .. t->links, in order, none twice), after `before[0..befores-1]`, by the
 * mode of the graph: in fifo-hop and fifo-pipe a chain of tasks, one for each link and segment; in
 * fifo-path and shared one task.  Its last tasks, all of which a receiver must wait for, are
 * *first .. *first + *n - 1.
 * A message is cut into the fewest segments of at most segment_bytes, but never more than
 * max_segments (0 or 1, or segment_bytes 0: not cut); they differ by a byte at most, and each follows
 * its own chain.  Ids run through all segments of the first link, then of the second.
 * What comes after a message waits for each of its segments, and each of its own does: edges grow as the square, so
 * callers take SS_SEGMENTS_MAX at most.
 * The label's hop is that of the first link, and of a message that is one task.
 * Without links (source and target are one device) nothing is added and *n is 0. */
ss_status ss_tasks_transfer(ss_tasks *t, const uint32_t *link, uint32_t links, int64_t bytes,
                            int64_t segment_bytes, uint32_t max_segments,
                            const ss_task_label *label, const ss_task *before, uint32_t befores,
                            ss_task *first, uint32_t *n, ss_error *err);

/* Into how many segments a message is cut. */
uint32_t ss_tasks_segments(int64_t bytes, int64_t segment_bytes, uint32_t max_segments);
/* How many tasks ss_tasks_transfer would add, so that ids can be told beforehand. */
uint64_t ss_tasks_transfer_count(ss_links_mode mode, uint32_t links, int64_t bytes,
                                 int64_t segment_bytes, uint32_t max_segments);

/* Builds successor rows; refuses edges to tasks that do not exist and graphs whose result would not
 * be unique.  Cycles are found by the engine, which names one. */
ss_status ss_tasks_finish(ss_tasks *t, ss_error *err);

/* How long after its end the successors of a task are ready; of one at `where`. */
static inline ss_time ss_tasks_lag_at(const ss_tasks *t, uint32_t where)
{
    return where <= t->devices + t->links ? t->lag[where] : 0;
}

static inline ss_time ss_tasks_lag(const ss_tasks *t, ss_task task)
{
    return ss_tasks_lag_at(t, t->where[task.i]);
}

/* Whether a task is a transfer over shared links: it holds nothing, waits for its hold, and then is a flow
 * on the path that is its set. */
static inline bool ss_tasks_flows(const ss_tasks *t, ss_task task)
{
    return t->mode == SS_LINKS_SHARED && t->where[task.i] > t->devices + t->links;
}

/* Bytes that a flow carries: those of its message, or what chance makes of them. */
static inline int64_t ss_tasks_flow(const ss_tasks *t, ss_task task)
{
    return t->draws_flows ? t->flow[task.i] : t->bytes[task.i];
}

/* Whether a task takes no time.  A flow takes a picosecond at least. */
static inline bool ss_tasks_is_instant(const ss_tasks *t, ss_task task)
{
    bool flows = ss_tasks_flows(t, task) && t->bytes[task.i] > 0;
    return !flows && t->hold[task.i] == 0 && ss_tasks_lag(t, task) == 0;
}

/* The resources that a task holds, or flows over. */
const uint32_t *ss_tasks_resources(const ss_tasks *t, ss_task task, uint32_t *n);

/* Payload of all transfers, each message once however many hops and segments: the bytes of tasks
 * whose hop is 0.  Beyond 2^63 adding was refused. */
int64_t ss_tasks_bytes_moved(const ss_tasks *t);
size_t ss_tasks_memory(const ss_tasks *t); /* bytes of its arrays */

#endif
