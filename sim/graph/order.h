/* order.h - what a run may do otherwise than the published rule: in which order tasks are taken
 * (assumption A3), and what happens to links and devices while it is under way (of A2: links and devices
 * that fail or are slower from a given time on).
 *
 * Data alone, so that a lowering can carry it along; simulate/run.h is who obeys.
 */
#ifndef SS_ORDER_H
#define SS_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "base/units.h"
#include "graph/model.h"
#include "graph/topology.h"

/* Which of the waiting tasks a device takes next. */
typedef enum ss_order {
    SS_ORDER_FIFO,     /* least (ready, id): the published rule */
    SS_ORDER_PROGRAM,  /* by id, and it waits for the next in that order; links as fifo */
    SS_ORDER_PRIORITY, /* least given number, then (ready, id); links too */
    SS_ORDER_SHORTEST, /* least hold, then (ready, id); links too */
    SS_ORDERS
} ss_order;

const char *ss_order_name(ss_order o); /* "fifo", "program", "priority", "shortest" */

/* Which devices a transfer takes a stream of, where copies block: who does the copying. */
typedef enum ss_blocked_end {
    SS_BLOCKED_BOTH, /* of the device that its message leaves and of the one that it reaches */
    SS_BLOCKED_SENDER,
    SS_BLOCKED_RECEIVER,
    SS_BLOCKED_ENDS
} ss_blocked_end;

const char *ss_blocked_end_name(ss_blocked_end e); /* "both", "sender", "receiver" */

typedef enum ss_change_kind {
    SS_CHANGE_LINK,         /* has another bandwidth or latency */
    SS_CHANGE_LINK_FAILS,   /* nothing passes it until it works again */
    SS_CHANGE_LINK_WORKS,   /* as it did */
    SS_CHANGE_SPEED,        /* of a device, against what its tasks' holds say */
    SS_CHANGE_PAUSE,        /* a device stands still, with what it computes */
    SS_CHANGE_DEVICE_FAILS, /* the same, and what it was computing begins anew */
    SS_CHANGE_RESUME,       /* it works again */
    SS_CHANGES
} ss_change_kind;

/* One thing that happens to a link or device. */
typedef struct ss_change {
    ss_time at;
    ss_change_kind kind;
    uint32_t who;       /* a link or a device */
    double bytes_per_s; /* SS_CHANGE_LINK: from now on; below 0: as it is */
    double load;        /* the same: of bytes_per_s, if given, that others take at all times */
    double share;       /* the same: of what that is or was; 0 is taken at its word */
    double latency_s;   /* the same; below 0: as it is */
    double speed;       /* SS_CHANGE_SPEED */
} ss_change;

/* What a change of a link leaves it, from what it has. */
static inline double ss_change_bytes_per_s(const ss_change *c, double has)
{
    return (c->bytes_per_s < 0 ? has : c->bytes_per_s * (1 - c->load)) * c->share;
}

typedef struct ss_run_options {
    ss_order order;
    const int32_t *priority; /* [n + 1], for SS_ORDER_PRIORITY; copied */
    uint32_t streams;        /* tasks that a device runs at once, each at full speed; 0: 1 */
    bool copies_block;       /* a transfer takes a stream of the devices it leaves and reaches, */
    ss_blocked_end blocked_end; /* or of one of them */
    double slowed_by_copies;    /* speed of what computes on a device while a transfer leaves or
                              * reaches it (by the ends of its message); 0 or 1: not slowed */
    /* Devices of one machine share its memory.  While a task runs whose bound (tasks.h) is b, it takes 1 +
     * interference * b * B times as long, B the sum of the bounds of what runs on the machine's other devices:
     * computing, and, where copies block, transfers too.  0: they do not.  Without a topology all devices are
     * of one machine. */
    double interference;
    /* What happens on the way, in any order of time; of one time in this order.  At its instant after what
     * ends and before what starts.  Copied by a run; a lowering keeps the pointer. */
    const ss_change *change;
    uint32_t changes;
    /* Whose names refusals say; NULL: numbers. */
    const ss_model *model;
    const ss_topology *topology;
} ss_run_options; /* {0}: the published rule */

/* Whether copies block the device that a message leaves, and the one that it reaches. */
static inline bool ss_run_options_block_sender(const ss_run_options *o)
{
    return o->copies_block && o->blocked_end != SS_BLOCKED_RECEIVER;
}

static inline bool ss_run_options_block_receiver(const ss_run_options *o)
{
    return o->copies_block && o->blocked_end != SS_BLOCKED_SENDER;
}

bool ss_run_options_published(const ss_run_options *o); /* nothing is otherwise */
/* "A3 FIFO", or "A3 broken: shortest first, 2 streams, copies block the device". */
void ss_run_options_say(const ss_run_options *o, ss_text *out);

/* "link a->b 2.5 GB/s at 1 ms"; without a topology links and devices are numbers. */
void ss_change_say(const ss_change *c, const ss_topology *t, ss_text *out);

#endif
