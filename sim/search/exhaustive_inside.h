/* exhaustive_inside.h - what the files of the exhaustive search share; for exhaustive*.c and tests.
 *
 *   exhaustive.c           the walk, its limits and its account
 *   exhaustive_space.c     lists of configurations
 *   exhaustive_tables.c    times and transfers by configuration and by pair of configurations
 *   exhaustive_sync.c      the meeting of a group's gradients by the configurations of its users
 *   exhaustive_paths.c     least paths through what is not decided
 *   exhaustive_bound.c     bounds of a partial strategy
 *   exhaustive_symmetry.c  permutations of devices that change no time
 *
 * A row is a configuration of an operator; rows of operator i are first[i] .. first[i+1] - 1.  A
 * slot is a part of a row: slots of row g are slot[g] .. slot[g] + parts[g] - 1.
 */
#ifndef SS_EXHAUSTIVE_INSIDE_H
#define SS_EXHAUSTIVE_INSIDE_H

#include "graph/lower.h"
#include "search/exhaustive.h"
#include "search/price.h"
#include "simulate/engine.h"

/* No path: far enough below 0 that a sum of a few stays below 0, far enough from the least number
 * that it stays a number. */
#define SS_NO_PATH (-(INT64_C(1) << 60))
#define SS_NO_ROW UINT32_MAX
/* A path has at most some thousand tasks, so that sums of such times stay below -SS_NO_PATH. */
#define SS_EXHAUSTIVE_MOST_TIME (INT64_C(1) << 48)

/* A task of a message between two operators. */
typedef struct ss_crossing {
    uint32_t resource; /* a set counts as one crossing for each */
    uint32_t from, to; /* parts: of the giver, of the receiver */
    ss_time hold;
    ss_time before,
        after; /* from the end of `from` to its start, from its end to the start of `to` */
} ss_crossing;

/* An edge of the model: operator `to` reads operator `from`. */
typedef struct ss_reads {
    uint32_t from, to;
    size_t pair; /* first pair: that of the first rows; by row of `from`, then row of `to` */
} ss_reads;

/* Configurations of both ends of an edge. */
typedef struct ss_pair {
    size_t forward;  /* [parts of from][parts of to] of `lag`: end of one to start of the other */
    size_t backward; /* [parts of to][parts of from] */
    size_t crossing; /* first row of crossing: forward ones, then those that go back */
    uint32_t forwards, backwards;
} ss_pair;

typedef struct ss_meeting_task {
    ss_time hold, lag, after; /* after: from its end to the end of the step */
    uint32_t first_resource, resources;
    uint32_t first_pred, preds;
} ss_meeting_task;

/* What a task of a meeting waits for. */
typedef struct ss_meeting_pred {
    enum { SS_PRED_TASK, SS_PRED_PART, SS_PRED_DEVICE, SS_PRED_ALL } kind;
    uint32_t who, part; /* task; user (from 0, of the group) and part; device */
} ss_meeting_pred;

/* How the gradients of a group's weights meet, given the rows of all users. */
typedef struct ss_meeting {
    uint32_t *row; /* [users] the key */
    ss_meeting_task *task;
    uint32_t tasks, task_cap;
    ss_meeting_pred *pred;
    uint32_t preds, pred_cap;
    uint32_t *resource;
    uint32_t resources, resource_cap;
    ss_time *after; /* by user and part, users one after the other: from the end of backward */
    uint32_t after_cap;
    ss_time *device; /* [devices + 1] from the end of all work on a device; row 0: of all devices */
    ss_time charged; /* closed form: holds of all its tasks, which hold all links */
} ss_meeting;        /* {0} */

typedef struct ss_group {
    uint32_t users, *user; /* operators, ascending */
    uint32_t last;         /* place in the order of deciding of the last one */
} ss_group;

typedef struct ss_exhaustive_tables {
    const ss_model *model;
    const ss_topology *topology;
    const ss_timer *timer;
    const ss_alternatives *space;
    const ss_watch *watch;
    ss_lower_options options;
    ss_time step; /* of every strategy, in its cost and in no bound */
    ss_routes *routes;
    ss_strategy *strategy; /* the one at hand */
    ss_lowered lowered;
    ss_engine *engine;
    ss_timeline timeline;
    ss_price price; /* its rule is set by the caller */

    uint32_t ops, rows, slots, devices, resources; /* resources: devices, then links */
    const uint32_t *first;                         /* of the space */
    uint32_t *op_of, *parts, *slot;                /* by row */
    uint32_t *device;                              /* by slot */
    ss_time *forward, *backward;                   /* by slot; backward of those that have it */
    bool *has_backward;                            /* by operator */
    ss_time *work;                                 /* by row: all parts, both ways */
    ss_reads *reads;
    uint32_t edges;
    uint32_t *first_in, *first_out,
        *out; /* edges by reader are rows of reads; by giver rows of out */
    ss_pair *pair;
    size_t pairs;
    ss_time *lag;
    size_t lags, lag_cap;
    ss_crossing *crossing;
    size_t crossings, crossing_cap;
    ss_score given; /* of the strategy that was there first */

    uint32_t *order, *place; /* operators as they are decided; places in it by operator */
    ss_group *group;         /* by group of the model */
    uint32_t *user;
    ss_meeting *alone; /* by row of operators that share with nobody */
    ss_meeting **kept; /* of groups with several users, a hash table */
    uint32_t kept_n, kept_slots;
    ss_meeting *spare; /* by group: where no more are kept */

    /* exhaustive_paths.c: by slot, over all completions whose rows are alive */
    bool *alive;      /* by row */
    ss_time *head;    /* to the start of forward */
    ss_time *onward;  /* from the start of forward to the end of the step */
    ss_time *tail;    /* from the end of backward to the end of the step */
    size_t *round_at; /* by row: [parts][parts] of round, start of forward to end of backward */
    ss_time *round;
    ss_time *least;      /* by row: of any strategy with it */
    ss_time *least_work; /* by operator */
    ss_time *scratch;    /* [2][most parts][most parts] */
    uint32_t most_parts;

    /* task at hand, while tables are filled */
    ss_time *reach, *rest, *task_time;
    uint32_t reach_cap, rest_cap, task_time_cap;
} ss_exhaustive_tables;

/* Tables for every row and pair of rows.  `t` is {0} and is freed by the caller in any case. */
ss_status ss_exhaustive_tables_fill(ss_exhaustive_tables *t, const ss_model *m,
                                    const ss_topology *topology, const ss_timer *timer,
                                    const ss_alternatives *space, const ss_strategy *any,
                                    const ss_lower_options *o, const ss_watch *watch,
                                    ss_error *err);
void ss_exhaustive_tables_free(ss_exhaustive_tables *t);
/* Gives operators the configurations of rows, and lowers. */
ss_status ss_exhaustive_put(ss_exhaustive_tables *t, uint32_t row, ss_error *err);
ss_status ss_exhaustive_lower(ss_exhaustive_tables *t, ss_error *err);
/* What the strategy at hand costs. */
ss_status ss_exhaustive_simulate(ss_exhaustive_tables *t, ss_score *out, ss_error *err);

/* By row of the giver and row of the reader. */
static inline const ss_pair *ss_exhaustive_pair(const ss_exhaustive_tables *t, const ss_reads *e,
                                                uint32_t from, uint32_t to)
{
    size_t wide = t->first[e->to + 1] - t->first[e->to];
    return &t->pair[e->pair + (from - t->first[e->from]) * wide + (to - t->first[e->to])];
}

/* exhaustive_sync.c; `row` by operator.  Valid until as many others have been asked for as there
 * are groups. */
ss_status ss_exhaustive_meetings_fill(ss_exhaustive_tables *t, ss_error *err);
ss_status ss_exhaustive_meeting(ss_exhaustive_tables *t, uint32_t group, const uint32_t *row,
                                const ss_meeting **out, ss_error *err);
void ss_exhaustive_meetings_free(ss_exhaustive_tables *t);

/* exhaustive_paths.c */
ss_status ss_exhaustive_paths_fill(ss_exhaustive_tables *t, ss_error *err);
void ss_exhaustive_paths_update(ss_exhaustive_tables *t); /* after rows have died */
/* Lets rows die whose least is `best` or more, until no more do; how many died. */
uint32_t ss_exhaustive_filter(ss_exhaustive_tables *t, ss_time best);

/* A task that has to be done by a resource, whatever the completion. */
typedef struct ss_due {
    ss_time head, hold, tail;
} ss_due;

/* A partial strategy: the first `decided` operators of the order have rows. */
typedef struct ss_partial {
    ss_exhaustive_tables *t;
    uint32_t decided;
    uint32_t *row;              /* by operator; SS_NO_ROW */
    uint32_t *at;               /* by operator: its parts in the arrays below, room for the most */
    ss_time *head;              /* of forward */
    ss_time *back;              /* head of backward */
    ss_time *tail;              /* from the end of forward */
    ss_time *back_tail;         /* from the end of backward */
    const ss_meeting **meeting; /* by group; NULL: not all users decided */
    ss_time *device_end;        /* [devices + 1]: of all decided work; row 0: of all devices */
    ss_time *device_tail;       /* [devices + 1]: from then on, where meetings wait for that */
    ss_time *in, *out;          /* of the parts of one row */
    ss_due *due, *sorted;
    uint32_t *where; /* by due: its resource */
    uint32_t dues, due_cap;
    uint32_t *first_due; /* [resources + 2] rows of sorted */
    ss_time *meeting_head;
    uint32_t meeting_head_cap;
    uint32_t *heap;
} ss_partial;

ss_status ss_partial_new(ss_exhaustive_tables *t, ss_partial *out, ss_error *err);
void ss_partial_free(ss_partial *p);
/* Decides the next operator of the order, or takes the last decision back. */
ss_status ss_partial_push(ss_partial *p, uint32_t row, ss_error *err);
void ss_partial_pop(ss_partial *p);
/* Lower bounds of the step time of every completion (of those whose rows are alive: others are
 * known to cost too much).  Looking ends when one of `enough` or more is found, and `which` says
 * what it is; with SS_TIME_MAX each is as good as it gets. */
typedef struct ss_bounds_found {
    ss_time bound[SS_BOUND_SYMMETRY]; /* of path, work and bytes */
    ss_time most;
    ss_bound which;
} ss_bounds_found;
ss_status ss_partial_bounds(ss_partial *p, unsigned bounds, ss_time enough, ss_bounds_found *out,
                            ss_error *err);
/* The least time in which a machine does all of it, tasks interrupted at will: Jackson's preemptive
 * schedule (Carlier, "The one-machine sequencing problem", EJOR 1982). */
ss_time ss_due_least(ss_due *due, uint32_t n, uint32_t *heap);

/* exhaustive_symmetry.c */
typedef struct ss_symmetries {
    uint32_t n;
    uint32_t *image;    /* [n][rows]: the row that a row becomes; SS_NO_ROW: none of the space */
    uint32_t *all_from; /* [n]: from this place in the order on, every row becomes one */
    uint32_t *device;   /* [n][devices + 1] */
    uint32_t cap;
} ss_symmetries; /* {0} */

ss_status ss_symmetries_find(ss_exhaustive_tables *t, ss_symmetries *out, ss_error *err);
void ss_symmetries_free(ss_symmetries *s);

/* exhaustive_tell.c: to a sink, which may be NULL, as a search of one chain tells it. */
typedef struct ss_exhaustive_teller {
    const ss_search_sink *sink;
    double began, flushed;
    ss_time shown;        /* cost of the best, also of an incumbent that does not fit */
    ss_choice *from, *to; /* [ops]; borrowed configurations */
    uint64_t steps;
} ss_exhaustive_teller; /* {0} but for sink and began */

ss_status ss_exhaustive_tell_begin(ss_exhaustive_teller *t, const ss_strategy *incumbent,
                                   ss_time cost, ss_error *err);
/* A strategy was simulated; `best` is the one before. */
ss_status ss_exhaustive_tell(ss_exhaustive_teller *t, const ss_strategy *strategy,
                             const ss_strategy *best, const ss_score *score, bool accepted,
                             ss_error *err);
ss_status ss_exhaustive_tell_flush(ss_exhaustive_teller *t, ss_error *err); /* now and then */
ss_status ss_exhaustive_tell_end(ss_exhaustive_teller *t, ss_search_end why, ss_error *err);
void ss_exhaustive_teller_free(ss_exhaustive_teller *t);

#endif
