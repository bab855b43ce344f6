/* score.h - what a strategy costs, asked again and again with a little changed.
 *
 * Three ways that give the same numbers to the picosecond:
 *   full    the task graph is lowered anew and simulated whole: the published baseline
 *   replay  the task graph is changed in place and simulated whole
 *   delta   the task graph is changed in place; only what the change can reach is simulated (over
 *           shared links: what follows the last snapshot before it)
 * A scorer holds one strategy and the timeline it has.  `try` asks what it would cost with some
 * operators changed; accept keeps that, reject goes back; one of the two must follow each try.
 *
 * One scorer is for one thread; it has working memory, routes and costs of its own.
 */
#ifndef SS_SCORE_H
#define SS_SCORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/units.h"
#include "graph/lower.h"
#include "search/space.h"
#include "simulate/cost.h"

typedef enum ss_score_way {
    SS_SCORE_FULL,
    SS_SCORE_REPLAY,
    SS_SCORE_DELTA,
    SS_SCORE_WAYS
} ss_score_way;

const char *ss_score_way_name(ss_score_way w); /* "delta" */

/* What a strategy costs that needs more memory than a device has. */
typedef enum ss_memory_rule {
    SS_MEMORY_IGNORED,
    SS_MEMORY_WALL,   /* it is never accepted */
    SS_MEMORY_PENALTY /* penalty_s_per_byte for each byte over, of all devices */
} ss_memory_rule;

typedef struct ss_score_options {
    ss_score_way way;
    bool early_stop; /* a try may end when it is certain that the bound is passed; not for full */
    bool count_changed; /* fills ss_score.changed, which costs a look at every task */
    ss_memory_rule memory;
    double penalty_s_per_byte; /* 1e-9, 1 ms for each MB, is what later releases took */
    ss_lower_options lower;
} ss_score_options;

/* Delta, early stop, memory ignored. */
ss_score_options ss_score_options_start(void);

typedef struct ss_score {
    ss_time cost; /* step time, with what memory adds; stopped: a bound below the true cost */
    bool stopped; /* cost > bound is certain, and no more is known */
    bool
        infeasible; /* some device has too little memory; found out only where memory is not ignored */
    bool fell_back;   /* delta went over to simulating all that follows */
    uint32_t tasks;   /* of the whole graph; 0: stopped before there was one */
    uint32_t touched; /* made, taken away or connected otherwise */
    uint32_t visited; /* simulated */
    uint32_t
        changed; /* whose times are not what they were; 0 where nobody counted (full, stopped) */
} ss_score;

typedef struct ss_scorer ss_scorer;

/* Where the options' run is not as published, every way is full.  The costs are copied; model and topology must
 * outlive the scorer. */
ss_status ss_scorer_new(const ss_model *m, const ss_topology *t, const ss_costs *costs,
                        const ss_score_options *o, ss_scorer **out, ss_error *err);
void ss_scorer_free(ss_scorer *s);

/* The strategy that it holds from now on, copied. */
ss_status ss_scorer_start(ss_scorer *s, const ss_strategy *strategy, ss_score *out, ss_error *err);

/* With these configurations in place of those that the operators have, operators ascending.  With
 * a bound below SS_TIME_MAX and early stop the answer may be `stopped`; a bound below 0 is passed
 * by everything.  After an error the scorer holds what it held, and nothing is to be rejected. */
ss_status ss_scorer_try(ss_scorer *s, const ss_choice *choice, uint32_t n, ss_time bound,
                        ss_score *out, ss_error *err);
ss_status ss_scorer_accept(ss_scorer *s, ss_error *err); /* not after a try that stopped */
void ss_scorer_reject(ss_scorer *s);

const ss_strategy *
ss_scorer_strategy(const ss_scorer *s);            /* what it holds; during a try: the old one */
const ss_score *ss_scorer_now(const ss_scorer *s); /* what that costs */

#endif
