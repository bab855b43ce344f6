/* exhaustive.h - the least step time over all strategies of a small space, and the proof of it.
 *
 * A space is a list of configurations for each operator; its strategies are all combinations.  They
 * are visited depth first, operator by operator, and a subtree is left out only where something
 * proves that nothing in it is less than the best so far:
 *
 *   path       the longest path through tasks and transfers that no completion can avoid
 *   work       what a device has to compute (and all devices together), between the least that
 *              comes before and the least that comes after it
 *   bytes      the same of a link and what has to cross it: activations and gradients between
 *              operators that are decided, the meeting of gradients of weights all of whose users are
 *   symmetry   an earlier strategy is the same up to the numbers of equal devices
 *
 * Never a partial simulation: with first-in-first-out lists a task more or a longer one may make a
 * step shorter (Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 1969), so
 * that the simulated time of a part of a strategy says nothing certain of the whole.  The bounds hold
 * whatever the order in which devices and links take what waits.  They are made of tasks that
 * ss_lower itself made (exhaustive_tables.c), in whole picoseconds.
 *
 * FlexFlow (MLSys 2019) section 8.3 compares its search with such an optimum, found by depth-first
 * search with A* pruning.
 */
#ifndef SS_EXHAUSTIVE_H
#define SS_EXHAUSTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/units.h"
#include "base/watch.h"
#include "graph/lower.h"
#include "search/score.h"
#include "search/search.h"
#include "search/space.h"

/* The configurations of each operator.  Rows of operator i: first[i] .. first[i+1] - 1. */
typedef struct ss_alternatives {
    uint32_t ops;
    uint32_t *first;    /* [ops + 2] */
    ss_config *config;  /* [first[ops + 1]] */
    uint32_t rows, cap; /* rows of config so far, and capacity: room that is not used is {0} */
} ss_alternatives;      /* {0}, then ss_alternatives_start */

ss_status ss_alternatives_start(ss_alternatives *a, uint32_t ops, ss_error *err);
/* Operators in ascending order.  What the operator has already is not added again. */
ss_status ss_alternatives_add(ss_alternatives *a, ss_op op, const ss_config *c, ss_error *err);
void ss_alternatives_free(ss_alternatives *a);

/* Every configuration that one of the moves (a bit for each, 1 << SS_MOVE_BLOCK) can draw; an
 * operator without a choice has the one that it has in `now`.  Refuses more than
 * SS_EXHAUSTIVE_CONFIGS of one operator. */
enum { SS_EXHAUSTIVE_CONFIGS = 4096, SS_EXHAUSTIVE_OPS = 500 };
ss_status ss_alternatives_of_space(const ss_space *space, unsigned moves, const ss_strategy *now,
                                   ss_alternatives *out, ss_error *err);

typedef enum ss_bound {
    SS_BOUND_PATH,
    SS_BOUND_WORK,
    SS_BOUND_BYTES,
    SS_BOUND_SYMMETRY,
    SS_BOUNDS
} ss_bound;

const char *ss_bound_name(ss_bound b); /* "path" */

typedef struct ss_exhaustive_options {
    ss_lower_options lower;
    ss_memory_rule memory; /* of strategies that need too much, as in a search: ignored at first */
    double penalty_s_per_byte; /* where that is the rule; bounds hold, since it only adds */
    unsigned bounds;   /* a bit for each that may cut, 1 << SS_BOUND_PATH; all of them at first */
    double seconds;    /* 0: no limit */
    uint64_t simulate; /* strategies at most, 0: no limit */
} ss_exhaustive_options;

ss_exhaustive_options ss_exhaustive_options_start(void);

typedef struct ss_exhaustive_result {
    ss_strategy *best; /* owned; a copy of the incumbent where nothing is less */
    ss_time cost;      /* of best */
    bool better;       /* than the incumbent */
    bool fits;         /* no device has too little memory for best, whatever the rule */
    bool
        walled; /* memory is a wall, and neither the incumbent nor any strategy that was simulated is
                  * within it; then `best` is the incumbent */
    bool proven;              /* no strategy of the space costs less than `cost` */
    ss_time least;            /* what no strategy of the space costs less than; `cost` if proven */
    double log10_size;        /* of the number of strategies in the space */
    uint64_t size;            /* the number; UINT64_MAX: 2^64 - 1 or more */
    uint64_t nodes;           /* partial strategies that were looked at */
    uint64_t simulated;       /* strategies that were simulated */
    uint64_t cut[SS_BOUNDS];  /* subtrees left out, by what proved it */
    double inside[SS_BOUNDS]; /* strategies in them; with `simulated` they add up to the size */
    uint32_t configurations;  /* of all operators */
    uint32_t hopeless; /* of these: no strategy with it can be better, whatever the others are */
    uint32_t
        symmetries; /* permutations of devices that were used, besides the one that moves none */
    double share;   /* of the space that is decided; 1 if proven */
    double seconds,
        tables_s;       /* wall clock, and that of it which went into the tables of the bounds */
} ss_exhaustive_result; /* {0} */

void ss_exhaustive_result_free(ss_exhaustive_result *r);

/* Among equals `best` is the incumbent; else the first in the order of visiting, which is a function
 * of the problem alone: operators so that tensors come before their readers, configurations by the
 * least that any strategy with them can cost.  The incumbent need not lie in the space.
 *
 * A limit that is reached, and a watch that stops, are no errors: `proven` is false and the best so
 * far stands.  Refuses a space of which some strategy cannot be lowered.
 *
 * The sink is told of one chain, from the incumbent, as of any searcher's: each strategy that is
 * simulated is a step of reach SS_REACH_ALL, which gives those operators a configuration that have
 * another in the best so far, and is accepted if it costs less.  SS_ESTOPPED from the sink ends the
 * search as a watch does. */
ss_status ss_exhaustive(const ss_model *m, const ss_topology *t, const ss_timer *timer,
                        const ss_alternatives *space, const ss_strategy *incumbent,
                        const ss_exhaustive_options *o, const ss_search_sink *sink_or_null,
                        const ss_watch *watch, ss_exhaustive_result *out, ss_error *err);

#endif
