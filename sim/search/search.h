/* search.h - looking for a strategy that costs less.
 *
 * A search is a set of chains, one for each start, that share nothing: each has a scorer, a space
 * and random numbers of its own, which are a function of (seed, chain, step) and of nothing else.
 * So a chain gives the same rows with one thread or many, with any way of scoring, and after it was
 * interrupted and resumed.  Clocks decide when a chain ends, never what it does.
 *
 * Searchers, which differ in what they propose and accept and in nothing else:
 *   mcmc       Metropolis-Hastings for exp(-beta cost): FlexFlow (MLSys 2019) section 6.1
 *   greedy     accepts what is no worse
 *   annealing  mcmc whose beta grows, geometrically, over the budget
 *   random     each proposal is a new random strategy (drawn from the space, operator by operator);
 *              it is accepted if it is better, so that the best is kept
 *   exhaustive every strategy of a small space, in an order in which bounds cut off most (exhaustive.h)
 */
#ifndef SS_SEARCH_H
#define SS_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/units.h"
#include "base/watch.h"
#include "search/score.h"
#include "search/space.h"

/* What a chain does with a proposal is told by one number, the largest cost that it would accept,
 * which is found from the uniform number before the proposal is scored (threshold.h).  The best is
 * the best of the states that a chain was in: a better one that the Hastings factor turned away, or
 * whose scoring ended early, is nobody's.
 *
 * Where too little memory is a wall, a proposal that needs more is never accepted, and a start that
 * does counts as worse than any that does not. */

typedef enum ss_searcher {
    SS_SEARCH_MCMC,
    SS_SEARCH_GREEDY,
    SS_SEARCH_ANNEALING,
    SS_SEARCH_RANDOM,
    SS_SEARCHERS
} ss_searcher;

const char *ss_searcher_name(ss_searcher s);

/* Why a chain ended. */
typedef enum ss_search_end {
    SS_END_NOT, /* it has not */
    SS_END_PROPOSALS,
    SS_END_SECONDS,
    SS_END_NO_BETTER, /* half of its time, or of its proposals, passed without a better one */
    SS_END_STOPPED,   /* a person */
    SS_END_DESCENT,   /* the descent came to where no change is better any more */
    SS_END_PROVEN,    /* of an exhaustive search: nothing in the space is better */
    SS_ENDS
} ss_search_end;

const char *ss_search_end_name(ss_search_end e);

/* One proposal and what became of it. */
typedef struct ss_step {
    uint64_t step; /* from 1 */
    ss_reach reach;
    ss_move move;                 /* SS_MOVES: none drew it */
    uint32_t op;                  /* the operator, the first where several change */
    uint32_t ops;                 /* how many are given a configuration; 0: nothing was proposed */
    const ss_choice *from, *to;   /* [ops]; while the sink is called */
    ss_time proposed;             /* cost; with `stopped` a bound below it */
    ss_time current, best;        /* after the decision */
    double log_hastings, uniform; /* 0 <= uniform < 1, drawn before the proposal is scored */
    bool accepted, stopped, infeasible, fell_back;
    uint32_t tasks, touched, visited, changed;
    double wall_s; /* since the chain began, resumed parts added up; not the same from run to run */
} ss_step;

/* Who is told.  Called in the thread that runs the search, for each chain in the order of steps;
 * chains take turns.  A status other than SS_OK ends the search with it. */
typedef struct ss_search_sink {
    void *context;
    ss_status (*begin)(void *context, uint32_t chain, const ss_strategy *start, ss_time cost,
                       double beta_per_s, ss_error *err);
    ss_status (*step)(void *context, uint32_t chain, const ss_step *s, ss_error *err);
    /* Every tenth of a second or so, when all steps so far have been told: write them out. */
    ss_status (*flush)(void *context, ss_error *err);
    ss_status (*end)(void *context, uint32_t chain, ss_search_end why, ss_error *err);
} ss_search_sink;

typedef struct ss_search_start {
    const char *name;            /* "data_parallel" */
    const ss_strategy *strategy; /* copied */
} ss_search_start;

typedef struct ss_search_options {
    ss_searcher searcher;
    uint64_t seed;
    uint64_t proposals; /* of each chain; 0: no limit */
    double seconds;     /* of each chain, while it is at work; 0: no limit.  Without either limit
                         * stop_half has to be there */
    bool stop_half;     /* end when half of the time so far has passed since the best was found;
                         * where only proposals are limited, half of the proposals so far */
    uint64_t warm_up;   /* proposals before stop_half is asked */
    bool descent;       /* at the end of each chain: from its best, every change that block and pow2
                         * (place, list) can draw of every operator, as far as the space has these
                         * moves, until none is better.  Its steps are not counted as proposals. Of
                         * seconds it has what is left, at least a quarter. */
    double beta_per_s;  /* cost in seconds times this; 0: beta_relative is taken */
    double beta_relative; /* beta = this / cost of the chain's start */
    double
        last_beta_factor; /* annealing: beta at the last of the proposals over that at the first */
    uint32_t threads;     /* at most; 0: as many as there are processors */
    ss_space_options space; /* space.hastings decides whether the factor is applied */
    ss_score_options score;
} ss_search_options;

/* mcmc, seed 1, 10000 proposals, delta with early stop, beta relative, no descent. */
ss_search_options ss_search_options_start(void);

typedef struct ss_search ss_search;

ss_status ss_search_new(const ss_model *m, const ss_topology *t, const ss_costs *costs,
                        const ss_search_start *start, uint32_t starts, const ss_search_options *o,
                        ss_search **out, ss_error *err);
void ss_search_free(ss_search *s);

/* Where a record left a chain. */
typedef struct ss_search_left {
    uint64_t steps, best_step;    /* best_step 0: the start */
    double seconds, best_seconds; /* wall_s of the last step, and of that which found the best */
    uint64_t descended;           /* steps of reach SS_REACH_DESCENT, all of them */
    uint64_t descending;          /* of these those at the end, after the last of another reach */
    uint64_t stopped, infeasible, fell_back; /* steps that were so */
    double visited_share;                    /* mean of visited / tasks over steps; 0 of none */
} ss_search_left;

/* What a record knows of the past, chain by chain. */
typedef struct ss_search_past {
    void *context;
    /* The next accepted step after `after`: its number, new configurations and cost; *step 0: no
     * more. */
    ss_status (*accepted)(void *context, uint32_t chain, uint64_t after, uint64_t *step,
                          const ss_choice **to, uint32_t *n, ss_time *cost, ss_error *err);
    ss_status (*last)(void *context, uint32_t chain, ss_search_left *out, ss_error *err);
} ss_search_past;

/* Brings every chain to where a record left it: the accepted steps one after the other, and then
 * the cost of the best and of the last is worked out again, so that a record that was made of
 * something else is found out.  What follows is to the bit what would have followed (but for wall
 * clocks).  Of a search that has not run yet. */
ss_status ss_search_resume(ss_search *s, const ss_search_past *past, ss_error *err);

/* Until every chain has ended.  The watch is shown how far it is and may stop it: that is no error,
 * and what was found so far stands.  An error of one chain ends all, after everything that was done
 * before it has been told; one of the sink ends all at once.  May be called again: chains that were
 * stopped, or were given more by ss_search_more, go on.  `begin` is called for each chain before its
 * first step here, also after a resume: a record that has it may compare. */
ss_status ss_search_run(ss_search *s, const ss_search_sink *sink_or_null, const ss_watch *watch,
                        ss_error *err);
/* Raises the budgets of all chains, so that running again goes on. */
void ss_search_more(ss_search *s, uint64_t proposals, double seconds);

typedef struct ss_search_standing {
    uint64_t steps, accepted, stopped, infeasible, fell_back;
    uint64_t descended; /* of the steps: of a descent, which is no walk */
    ss_time start, current, best;
    uint64_t best_step;
    double seconds, best_seconds;
    double visited_share; /* of tasks simulated, mean over steps */
    double changed_share; /* of tasks whose times changed, mean over the steps since the search was
                           * made that were not stopped; 0 unless score.count_changed, and of full */
    double beta_per_s;    /* of greedy INFINITY, of random 0 */
    bool fits;            /* false: memory is a wall, and nothing so far was within it */
    ss_search_end end;
} ss_search_standing;

/* While a search runs, sink and watch may ask this, and are told of the steps that the sink was;
 * the strategies below may be asked for when it does not. */
void ss_search_chain(const ss_search *s, uint32_t chain, ss_search_standing *out);
/* The best of a chain (from 0), or of all: the least cost, of equals the first chain. */
const ss_strategy *ss_search_best_of(const ss_search *s, uint32_t chain);
const ss_strategy *ss_search_best(const ss_search *s, uint32_t *chain);

#endif
