/* sharing_inside.h - what sharing.c (flows and their ends) and sharing_solve.c (rates) both see. */
#ifndef SS_SHARING_INSIDE_H
#define SS_SHARING_INSIDE_H

#include <stdbool.h>

#include "base/wide.h"
#include "simulate/ends.h"
#include "simulate/sharing.h"

/* One flow under way, in the heap of its class: a pairing heap, least (end, number) first (Fredman,
 * Sedgewick, Sleator, Tarjan, Algorithmica 1986): most flows come in the order in which they end. */
typedef struct ss_flow {
    ss_wide end; /* what its class has served each flow when this one ends */
    uint32_t number;
    uint32_t class;       /* 0: it is free */
    uint32_t child, next; /* flows; 0: none.  next also chains the free ones */
} ss_flow;

/* The flows of one path: what the solver looks at, a cache line. */
typedef struct ss_flow_class {
    int64_t rate, next_rate; /* of one flow; next: found by the solve under way */
    double level;            /* rate by weight at which it is held back; INFINITY: no rate yet */
    uint64_t
        marked; /* bit i: its lane of_class[first + i] is; of those with more than 64, nothing */
    uint32_t bottleneck;     /* the lane that holds it back */
    uint32_t count, counted; /* flows; those that `used` of its lanes has in it */
    uint32_t weight;
    uint32_t first, last; /* its lanes: of_class[first] .. of_class[last - 1] */
    uint32_t stamp;       /* the last solve that looked at it, and, one more, gave it a rate */
    bool dirty;
    bool moved; /* dirty, and its flows are more or fewer than at the last settle */
    bool exact; /* when its first flow ends is, and not a time before it */
} ss_flow_class;

/* And what tells when the first of them ends. */
typedef struct ss_class_clock {
    ss_wide served; /* to each flow, at `since` */
    ss_wide first;  /* what it will have served when its first flow ends */
    ss_time since;
    uint32_t heap; /* its first flow to end */
    uint32_t slot; /* in the ends, from 1; 0: it has no flows */
} ss_class_clock;

/* What can hold flows back: a link, or, numbered behind them, the cap of a class. */
typedef struct ss_lane {
    int64_t capacity;
    int64_t used;   /* not kept of caps, nor of marked lanes in the midst of a solve */
    int64_t left;   /* while solving: what is not given away */
    uint64_t open;  /* and the weight of those without a rate */
    double level;   /* rate by weight at which it is full; INFINITY: it is not */
    uint32_t stamp; /* the last solve that looks into it */
    bool
        marked; /* it is full, or wanted by this settle: classes that are filled again look into it */
} ss_lane;

/* What is less often asked of a lane. */
typedef struct ss_lane_more {
    uint64_t weight;     /* of all flows on it */
    double level_weight; /* of the flows that it holds back */
    uint64_t came;       /* weight that came since the last settle */
    uint32_t counted;    /* the settle that reset it */
    uint32_t filled;     /* the last solve in which it filled up, and then: */
    double next_level, next_weight;
    uint32_t first, n; /* classes with flows on it: row[first] .. row[first + n - 1] */
} ss_lane_more;

/* A class on a lane: the lane is the class's k-th. */
typedef struct ss_on_lane {
    uint32_t class, k;
} ss_on_lane;

/* A lane that may fill up next, with what it had when it was put in. */
typedef struct ss_filling {
    double key; /* left / open, rounded */
    int64_t left;
    uint64_t open;
    uint32_t lane;
} ss_filling;

struct ss_sharing {
    uint32_t links, lanes, classes;
    int scale;
    int64_t most; /* that a link may be set to */

    ss_flow_class *class;  /* [classes + 1] */
    ss_class_clock *clock; /* [classes + 1] */
    ss_lane *lane;         /* [lanes + 1] */
    ss_lane_more *more;    /* [lanes + 1] */
    uint32_t class_cap, lane_cap;

    uint32_t *of_class,
        *at; /* lanes of classes; at: where the class is in the lane's row, counted from lane.first */
    ss_on_lane *row;
    uint32_t of_cap;

    ss_flow *flow; /* [flows + 1] */
    uint32_t flows, flow_cap, free_flow, alive;

    ss_ends ends;
    uint32_t *of_slot; /* [slots + 1]: the class of a slot of the ends */
    uint32_t *free_slot;
    uint32_t slots, free_slots, slot_cap;

    uint32_t *dirty, *changed; /* classes [dirties], lanes with another capacity [changeds] */
    uint32_t dirties, changeds;
    uint32_t *solve_class, *solve_lane, *watch; /* of the solve under way */
    uint32_t solve_classes, solve_lanes, watches;
    uint32_t *forced; /* lanes that the settle under way marked */
    uint32_t forceds;
    ss_filling *filling; /* a heap, or a list if there are few */
    uint32_t fillings;
    uint32_t epoch, settles;
    double felt; /* by classes that flows left since the last settle: their least level */
};

/* Brings what the flows of a class were served up to `now`. */
static inline void ss_class_serve(ss_sharing *s, uint32_t class, ss_time now)
{
    ss_class_clock *t = &s->clock[class];
    t->served += (ss_wide)(uint64_t)s->class[class].rate * (uint64_t)(now - t->since);
    t->since = now;
}

/* The lane is marked, or is not any more. */
void ss_lane_mark(ss_sharing *s, uint32_t lane, bool marked);

/* After its rate or its first flow is another: when that ends, roughly, not before `earliest`. */
void ss_class_set_end(ss_sharing *s, uint32_t class, ss_time earliest);
/* It has no flows any more: off its lanes and out of the ends. */
void ss_class_leave(ss_sharing *s, uint32_t class);

#endif
