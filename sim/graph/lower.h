/* lower.h - model x strategy x topology -> task graph ("lowering").
 *
 * Structural order (docs/decisions/0002-structural-ids.md): phase 0 forward, 1 backward, 2 barrier,
 * 3 gradient transfers, 4 update, 5 weight transfers; within forward by operator position, within
 * backward by reverse position; within an operator first the transfers into it (edge slot, producer part,
 * consumer part, hop, segment), then accumulations, then its parts.  FlexFlow (MLSys 2019)
 * section 5.1 has the forward rules; backward, gradient meeting and update follow the authors' 2018
 * simulator and are options here.  Backward tasks exist where a gradient is wanted: for operators
 * with weights and those after them.
 *
 * This layer has no clock of its own: durations come through an ss_timer that simulate/cost.h
 * fills.
 */
#ifndef SS_LOWER_H
#define SS_LOWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/units.h"
#include "base/watch.h"
#include "graph/chance.h"
#include "graph/collective.h"
#include "graph/model.h"
#include "graph/order.h"
#include "graph/route.h"
#include "graph/strategy.h"
#include "graph/tasks.h"

/* What goes through memory beside the work of operators. */
typedef enum ss_stream {
    SS_STREAM_COPY,    /* to = from */
    SS_STREAM_SUM,     /* to = from + and */
    SS_STREAM_UPDATE,  /* to -= rate * from */
    SS_STREAM_MESSAGE, /* to = from, which another device wrote */
    SS_STREAMS
} ss_stream;

const char *ss_stream_name(ss_stream s); /* "copy", ... */

typedef struct ss_timer {
    void *context;
    /* Time of one part (box of output 0) of an operator on a device. */
    ss_status (*part)(void *context, const ss_model *m, ss_op op, ss_phase phase,
                      const ss_box *main, ss_device device, ss_time *out, ss_error *err);
    /* Time to read and write `bytes` in a device's memory: copies, partial sums, weight updates. */
    ss_status (*memory)(void *context, ss_stream what, double bytes, ss_device device, ss_time *out,
                        ss_error *err);
    /* How far a part (of both phases together: backward), or reading and writing `bytes`, waits for memory that
     * devices of one machine share: 0 not at all, 1 all the time.  Asked where runs have interference.
     * NULL: parts do not, streams always do. */
    ss_status (*part_bound)(void *context, const ss_model *m, ss_op op, ss_phase phase,
                            const ss_box *main, ss_device device, double *out, ss_error *err);
    double (*memory_bound)(void *context, ss_stream what, double bytes, ss_device device);
    /* By device: where the numbers are equal, parts that differ at most in where in the batch they
     * lie take equal times, so that one of them is asked for.  NULL: every part is asked for. */
    const uint32_t *alike;
} ss_timer;

/* How the gradients of a weight that several devices hold meet. */
typedef enum ss_sync {
    /* They do not: inference, or one asks what compute alone would take. */
    SS_SYNC_NONE,
    /* The 2018 simulator: W (g - 1) / b_intra + W (m - 1) / b_cross after everything else, for m
     * machines with at most g holders each.  Tasks that hold all links, so that they add up. */
    SS_SYNC_CLOSED_FORM,
    /* To the master, which updates and sends weights back. */
    SS_SYNC_PARAMETER_SERVER,
    /* All-reduces (collective.h), after which every holder updates its own copy. */
    SS_SYNC_RING,
    SS_SYNC_TREE,
    SS_SYNC_TWO_LEVEL,
    SS_SYNC_BIDIRECTIONAL_RING,
    SS_SYNC_DOUBLE_TREE,
    SS_SYNC_HALVING_DOUBLING,
    SS_SYNC_HIERARCHICAL,
    SS_SYNC_IN_NETWORK,
    /* The all-reduce whose price is least, for each shard by its size, its holders and the links that
     * messages between them cross: ss_choose_collective. */
    SS_SYNC_AUTO,
    SS_SYNCS
} ss_sync;

const char *ss_sync_name(ss_sync s); /* "parameter_server" */

typedef enum ss_coalesce {
    /* A message for each pair of parts: the published rule. */
    SS_COALESCE_NONE,
    /* What the parts of one reader on one device need of one part, through one input, is one
     * message with each element once; their gradients are added up there and go back as one. */
    SS_COALESCE_PER_DEVICE
} ss_coalesce;

typedef struct ss_lower_options {
    bool training; /* backward, meeting and update; false: forward only */
    bool lumped;   /* forward and backward as one task, activations charged once */
    ss_coalesce coalesce;
    ss_sync sync;
    bool overlap;      /* meeting starts with each gradient; false: after all backward work */
    bool aggregate;    /* each all-reduce is one task of closed-form time (or its price, where its
                        * messages meet on links and that is more) that holds all of its links; or, where links are shared, a flow over all of them that alone
                        * takes that time */
    bool partial_sums; /* adding n gradients takes a task that reads n and writes 1, element by
                        * element; false: it is free */
    bool gather;       /* what a part reads lies in one piece: where it does not read just what one part on its
                        * device made, a task of its device reads and writes what comes from there (what comes
                        * from elsewhere is written there by its message); and so it is with gradients, whose
                        * elements that need no adding are then read and written; false: it is free */
    double update_passes; /* update reads and writes its shard so often; 0: it is free */
    ss_links_mode links;
    bool ideal_links;      /* laws of links (link_law.h) and staging are left aside */
    double flow_limit;     /* shared: bytes a second that one message can have; 0: no limit */
    int64_t chunk_bytes;   /* all-reduces that pass on a tensor as a whole (tree, double_tree,
                          * in_network, and what auto chooses) do it in chunks of this size, 256 at
                          * most; 0: in one, or as auto finds best */
    int64_t segment_bytes; /* messages are cut into pieces of this size, 0: never */
    uint32_t max_segments;
    /* How the task graph is run; it changes no task.  Not by priority: numbers are given to tasks, which
     * are not known before. */
    ss_run_options run;
    const ss_chance
        *chance;         /* of the caller, bound, for as long as the options are used; NULL: none */
    uint32_t repetition; /* which one is drawn; 0: that of the chance */
} ss_lower_options;

/* Training, fifo-hop, parameter server, overlapped, free updates and sums, messages whole. */
ss_lower_options ss_lower_options_start(void);

/* One shard of a weight: a box of it and the devices that hold it (replicas).  Where operators that
 * share a weight cut it differently, the shards are the pieces that all of them can be put together
 * from.  The first device is the master, that of the lowest (operator, part); the others follow by
 * ascending number, round from the master's, so that neighbours in a ring are in one machine. */
typedef struct ss_shard {
    ss_weight weight;
    ss_box box;
    int64_t bytes;
    uint32_t first_device, devices; /* rows of ss_lowered.shard_device */
    ss_algorithm algorithm; /* of its meeting, where that is an all-reduce of several devices */
    uint32_t chunks;
} ss_shard;

/* Of a gather `op` and `part` are who reads, `turn` the input. */

/* What labels say of weights (of others: tasks.h): `op` is the weight and `part` the row of the
 * shard, of updates, collectives and transfers alike, to_part its number among the shards of the
 * weight, from 1; `from` and `to` tell the devices of a transfer, to_op nothing.  Of a barrier `part` is the device; 0: that of all devices.
 */

typedef struct ss_lowered {
    ss_tasks tasks;
    ss_lower_options options;
    uint32_t ops;
    ss_task *forward, *backward; /* [ops + 1]: task of part 0; parts follow in order; 0: none */
    uint32_t op_cap;
    ss_shard *shard; /* rows 1 .. shards: by weight, then place in the weight */
    uint32_t shards, shard_cap;
    ss_device *shard_device; /* rows 1 .. shard_devices */
    uint32_t shard_devices, shard_device_cap;
    int64_t moved[SS_CARGOS]; /* payload by cargo, each message once however many hops */
    double charged_bytes;     /* by SS_SYNC_CLOSED_FORM, whose bytes cross no simulated link */
    const ss_watch *watch;    /* of the caller, who may set it; NULL: none */
    struct ss_lower_scratch *scratch;
} ss_lowered; /* {0}; may be lowered into again and again */

/* Refuses options that contradict each other, as ss_lower does. */
ss_status ss_lower_check_options(const ss_lower_options *o, ss_error *err);

/* Refuses options that contradict each other, a strategy for something else, devices that cannot
 * reach each other, and what the timer refuses.  After a refusal `out` holds nothing of use and may
 * be lowered into again. */
ss_status ss_lower(const ss_model *m, const ss_topology *t, ss_routes *r, const ss_strategy *s,
                   const ss_timer *timer, const ss_lower_options *options, ss_lowered *out,
                   ss_error *err);
/* No tasks yet, on the devices and links of a topology: what a run may begin with (simulate/run.h). */
ss_status ss_lower_nothing(const ss_topology *t, ss_links_mode links, ss_lowered *out,
                           ss_error *err);
/* The messages of a collective as transfers, by the options that are about links and messages; labels have the
 * message's row as turn.  *messages (NULL: not asked) is how many there were.  Working memory is given back. */
struct ss_party;
ss_status ss_lower_collective(const ss_collective *c, const struct ss_party *p,
                              const ss_lower_options *options, ss_lowered *out, uint32_t *messages,
                              ss_error *err);
void ss_lowered_free(ss_lowered *l);

/* Bytes moved in all: every cargo, and the closed form's. */
double ss_lowered_bytes_moved(const ss_lowered *l);

/* What is held in a device's memory, from the start of one task until the end of the last of
 * others. Weights, their gradients and optimizer state are held throughout. */
typedef enum ss_held {
    SS_HELD_WEIGHTS,
    SS_HELD_WEIGHT_GRADIENTS,
    SS_HELD_OPTIMIZER,
    SS_HELD_ACTIVATIONS,
    SS_HELD_GRADIENTS,
    SS_HELD_KINDS
} ss_held;

const char *ss_held_name(ss_held h);

typedef struct ss_hold {
    ss_held what;
    ss_device device;
    int64_t bytes;
    ss_task from;                 /* 0: from the beginning */
    uint32_t first_until, untils; /* rows of ss_holds.until; none: to the end of the step */
} ss_hold;

typedef struct ss_holds {
    ss_hold *hold;
    uint32_t n, cap;
    ss_task *until;
    uint32_t untils, until_cap;
} ss_holds; /* {0} */

/* An activation is held from the start of its part's forward task (a received copy: of the last hop
 * of its message) until the last task that reads it has ended: forward readers, the first hops of
 * messages, and backward tasks of operators that keep their input or output (op.h).  Of `l` as
 * ss_lower left it; lower_memory.c has the rest of the rules. */
ss_status ss_lower_holds(const ss_model *m, const ss_strategy *s, const ss_lowered *l,
                         ss_holds *out, ss_error *err);
void ss_holds_free(ss_holds *h);

#endif
