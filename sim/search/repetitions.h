/* repetitions.h - the same strategies again and again, each time with other luck.
 *
 * Repetition k of one strategy and of another draw the same for the same tasks (graph/chance.h), so their
 * difference says what the strategies do and not what they drew.  Repetitions are spread over threads; what
 * comes out does not depend on how many there are.
 */
#ifndef SS_REPETITIONS_H
#define SS_REPETITIONS_H

#include "base/watch.h"
#include "graph/lower.h"
#include "search/spread.h"
#include "simulate/cost.h"

enum { SS_REPETITIONS_STRATEGIES = 100 };

typedef struct ss_repetitions_ask {
    const ss_model *model;
    const ss_topology *topology;
    const ss_costs *costs;
    const ss_lower_options *lower; /* with chance */
    const ss_strategy *const *strategy;
    uint32_t strategies; /* 1 .. SS_REPETITIONS_STRATEGIES */
    uint32_t first, n;   /* repetitions first .. first + n - 1, from 1 */
    double confidence;   /* of the intervals */
    uint32_t threads;    /* 0: as many as there are processors */
} ss_repetitions_ask;

typedef struct ss_repetitions {
    uint32_t strategies, first, n;
    double confidence;
    double *seconds;   /* [strategies * n]: step times, strategy by strategy */
    ss_spread *spread; /* [strategies] */
    ss_paired *pair;   /* [pairs]: 0 and 1, 0 and 2, ..., 1 and 2, ... */
    uint32_t pairs;
} ss_repetitions; /* {0} */

/* Refuses a problem in which nothing is drawn: its repetitions would be equal.  A stop by the watch is an
 * error. */
ss_status ss_repetitions_run(const ss_repetitions_ask *ask, const ss_watch *watch,
                             ss_repetitions *out, ss_error *err);
void ss_repetitions_free(ss_repetitions *r);
/* The two strategies of a pair, from 0. */
void ss_repetitions_pair(const ss_repetitions *r, uint32_t pair, uint32_t *first, uint32_t *second);

#endif
