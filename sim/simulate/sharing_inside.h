/* sharing_inside.h - what sharing.c (flows and their ends) and sharing_solve.c (rates) both see. */
#ifndef SS_SHARING_INSIDE_H
#define SS_SHARING_INSIDE_H

#include <stdbool.h>

#include "base/wide.h"
#include "simulate/ends.h"
#include "simulate/sharing.h"

/* A loop of its own has registers of its own; all in one, compilers keep half of them in memory. */
#if defined(__GNUC__)
#define SS_OWN_LOOP __attribute__((noinline)) static
#else
#define SS_OWN_LOOP static
#endif

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
    int64_t rate;         /* of one flow */
    int64_t sum;          /* of all that `used` of its lanes has in it */
    uint64_t open;        /* weight of all its flows */
    double level;         /* rate by weight at which it is held back; INFINITY: no rate yet */
    uint32_t count;       /* flows */
    uint32_t counted;     /* those that its lanes' `used` has in it */
    uint32_t weight;      /* of one */
    uint32_t bottleneck;  /* the lane that holds it back */
    uint32_t first, last; /* its lanes: of_class[first] .. of_class[last - 1] */
    uint32_t stamp;       /* the last solve in which it was open, and, one more, got its rate */
    bool dirty;           /* flows came or went since the last settle */
    bool moved;           /* dirty, and its flows are more or fewer than at the last settle */
    bool exact;           /* when its first flow ends is, and not a time before it */
    bool changed;         /* its rate is, by this settle */
} ss_flow_class;

/* And what tells when the first of them ends. */
typedef struct ss_class_clock {
    ss_wide served; /* to each flow, at `since` */
    ss_wide first;  /* what it will have served when its first flow ends */
    ss_time since;
    int64_t fast;  /* at no higher rate it ends no earlier than the ends say */
    uint32_t heap; /* its first flow to end */
    uint32_t slot; /* in the ends, from 1; 0: it has no flows */
    uint32_t busy; /* where it is in the classes that have flows */
} ss_class_clock;

/* What can hold flows back: a link, or, numbered behind them, the cap of a class.  A cache line.  Lane 0
 * is none, and nothing is ever read from it. */
typedef struct ss_lane {
    /* No two of `held`, `open` and `used` stand beside each other: compilers would read both at once
     * where they were written one by one, and machines wait then. */
    int64_t capacity;
    uint64_t held; /* while solving: what those without a rate had before */
    int64_t limit; /* of `used`: beyond it could be full; INT64_MAX: it is marked, or watched */
    uint64_t open; /* while solving: weight of those without a rate */
    double level;  /* rate by weight at which it is full; INFINITY: it is not */
    int64_t used;  /* by all flows; of caps it means nothing, and can wrap */
    uint32_t look; /* the last solve that has it in its heap, and, one more, that woke it or is done
                    * with it; UINT32_MAX: not marked */
    uint32_t first; /* classes with flows on it: row[first] .. row[first + n - 1] */
    uint32_t n;
    uint32_t number; /* of a marked link, less than SS_NUMBERS; SS_NUMBERS: it has none */
    bool marked;     /* it is full, or wanted by this settle: solves look into it */
    bool own;        /* while solving: it may hold back classes where it did, which wait for that */
} ss_lane;

/* What is less often asked of a lane. */
typedef struct ss_lane_more {
    uint64_t weight;    /* of all flows on it */
    double fill_key;    /* when it was full: left / open, rounded, */
    int64_t fill_left;  /* what was left for those that it holds back, */
    uint64_t fill_open; /* and their weight */
    uint64_t came;      /* weight that came since the last settle */
    uint32_t counted;   /* the settle that reset it */
    bool forced;        /* the settle under way marked it; it stays so until that is over */
} ss_lane_more;

/* A class on a lane: the lane is the class's k-th. */
typedef struct ss_on_lane {
    uint32_t class, k;
} ss_on_lane;

/* A lane that may fill up next, with what it had when it was looked at last. */
typedef struct ss_filling {
    double key; /* left / open, rounded */
    int64_t left;
    uint64_t open;
    uint32_t lane;
} ss_filling;

enum { SS_NUMBERS = 60 }; /* of marked links: bits of a word, with some to spare */

struct ss_sharing {
    uint32_t links, lanes, classes;
    int scale;
    int64_t most; /* that a link may be set to */
    ss_sharing_way way;

    ss_flow_class *class;  /* [classes + 1] */
    ss_class_clock *clock; /* [classes + 1] */
    ss_lane *lane;         /* [lanes + 1] */
    ss_lane_more *more;    /* [lanes + 1] */
    uint32_t class_cap, lane_cap;

    /* Lanes of classes, an even number for each: lane 0 behind an odd one.  at: where the class is in
     * the lane's row, counted from lane.first. */
    uint32_t *of_class, *at;
    ss_on_lane *row;
    uint32_t of_cap;

    ss_flow *flow; /* [flows + 1] */
    uint32_t flows, flow_cap, free_flow, alive;

    ss_ends ends;
    uint32_t *of_slot; /* [slots + 1]: the class of a slot of the ends */
    uint32_t *free_slot;
    uint32_t slots, free_slots, slot_cap;
    uint32_t next; /* the slot that ends first, from 1; 0: not known */

    /* For sharing_refill.c: classes with flows, and marked links by number. */
    uint32_t *busy;     /* [busies] */
    double *busy_level; /* their levels once more; -INFINITY: it is about to leave */
    uint32_t busies;
    uint64_t *numbers_of;          /* by class, bits: the numbers of its links */
    uint64_t numbers;              /* bits: those that are taken */
    uint32_t numbered[SS_NUMBERS]; /* the link of a number */
    uint32_t unnumbered;           /* marked links without a number */
    /* Since the last judgement: how many, of how many classes, of which with another rate. */
    uint32_t refills, refilled, refilled_anew;
    uint32_t refill_rest, refill_next_rest; /* so many times none is tried, now and the next time */

    uint32_t *dirty, *reset; /* classes [dirties]; lanes with another capacity [resets] */
    uint32_t dirties, resets;
    uint32_t *sleeper;                 /* lanes that may hold back again, [classes] */
    uint32_t *solve_lane, *fill_class; /* lanes that the solve under way woke; classes at work */
    uint32_t solve_lanes;
    uint32_t *forced; /* lanes that the settle under way marked, each once */
    uint32_t forceds;
    uint32_t *changed; /* classes whose rates it changed */
    uint32_t changeds;
    uint32_t *watch; /* lanes that were beyond their limit in the midst of the solve under way */
    uint32_t watches;
    uint32_t *seed;      /* lanes from which a solve sets out */
    ss_filling *filling; /* a heap, of two entries a lane at most */
    uint32_t fillings;
    uint32_t epoch, settles;
    ss_time now;
    double felt; /* by classes that flows left since the last settle: their least level */
};

static inline bool ss_lane_is_cap(const ss_sharing *s, uint32_t lane)
{
    return lane > s->links;
}

/* Brings what the flows of a class were served up to `now`. */
static inline void ss_class_serve(ss_sharing *s, uint32_t class, ss_time now)
{
    ss_class_clock *t = &s->clock[class];
    t->served += (ss_wide)(uint64_t)s->class[class].rate * (uint64_t)(now - t->since);
    t->since = now;
}

/* A marked link gets a number, or gives it back. */
void ss_lane_number(ss_sharing *s, uint32_t lane, bool marked);

/* The lane is marked, or is not any more; or what its limit depends on is another. */
static inline void ss_lane_mark(ss_sharing *s, uint32_t lane, bool marked)
{
    ss_lane *l = &s->lane[lane];
    if (l->marked != marked)
        ss_lane_number(s, lane, marked);
    if (l->marked != marked || !marked)
        l->look = marked ? 0 : UINT32_MAX;
    l->marked = marked;
    l->limit = marked ? INT64_MAX : l->capacity - (int64_t)s->more[lane].weight - 1;
}

/* It is full: this is left for those that it holds back, and this is their weight. */
static inline void ss_lane_fill(ss_sharing *s, uint32_t lane, double level, int64_t left,
                                uint64_t open)
{
    ss_lane_more *m = &s->more[lane];
    s->lane[lane].level = m->fill_key = level;
    m->fill_left = left;
    m->fill_open = open;
}

static inline void ss_class_set_level(ss_sharing *s, uint32_t class, double level)
{
    s->class[class].level = s->busy_level[s->clock[class].busy] = level;
}

/* In the midst of a solve sums of lanes that are only minded can pass all bounds: they wrap, and come
 * back (see sharing_fill.c). */
static inline void ss_lane_use(ss_lane *l, uint64_t more)
{
    l->used = (int64_t)((uint64_t)l->used + more);
}

static inline int64_t ss_class_sum(int64_t rate, uint32_t flows)
{
    return (int64_t)((uint64_t)rate * flows);
}

/* A lane that is only minded is beyond its limit. */
void ss_lane_watch(ss_sharing *s, uint32_t lane, bool far);

/* The flows of a class use so much more of each of its lanes. */
static inline void ss_lanes_use(ss_sharing *s, const ss_flow_class *c, uint64_t more)
{
    for (uint32_t k = c->first; k < c->last; k += 2) {
        ss_lane *a = &s->lane[s->of_class[k]], *b = &s->lane[s->of_class[k + 1]];
        ss_lane_use(a, more);
        ss_lane_use(b, more);
        if (a->used > a->limit)
            ss_lane_watch(s, s->of_class[k], false);
        if (b->used > b->limit)
            ss_lane_watch(s, s->of_class[k + 1], false);
    }
}

/* From these lanes on, and what they touch, all that is reached at `felt` or later is found again. */
void ss_sharing_fill(ss_sharing *s, double felt, const uint32_t *seed, uint32_t seeds);

/* All that is reached at `felt` or later; false, and nothing is done: that is too much, there are caps, or it was more
 * than needed the last times. */
bool ss_sharing_refill(ss_sharing *s, double felt);
void ss_sharing_judge_anew(ss_sharing *s); /* at the start */

/* After its first flow is another, or its rate: when that ends, roughly, not before `earliest`. */
void ss_class_set_end(ss_sharing *s, uint32_t class, ss_time earliest);
/* After its rate is another. */
static inline void ss_class_set_end_for_rate(ss_sharing *s, uint32_t class, ss_time earliest)
{
    s->class[class].exact = false;
    if (s->class[class].rate > s->clock[class].fast)
        ss_class_set_end(s, class, earliest);
}
/* It has no flows any more: off its lanes and out of the ends. */
void ss_class_leave(ss_sharing *s, uint32_t class);

#endif
