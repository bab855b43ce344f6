/* chain_inside.h - what a chain holds.  Private to chain*.c. */
#ifndef SS_CHAIN_INSIDE_H
#define SS_CHAIN_INSIDE_H

#include "search/chain.h"
#include "search/descent.h"

struct ss_chain {
    uint32_t number;
    ss_search_options options;
    ss_scorer *scorer; /* its own, as is the space */
    ss_space *space;
    ss_rng rng;
    ss_proposal proposal;
    ss_choice *from; /* what the operators of the proposal have; devices are the scorer's */
    uint32_t from_cap;
    double first_beta_per_s;  /* that of annealing grows */
    uint64_t annealing_steps; /* over so many */
    ss_search_standing at;
    double visited_shares; /* sum over steps */
    double changed_shares; /* sum over the steps whose changed tasks were counted */
    uint64_t counted;
    bool walled; /* where it is; only a start can be */
    ss_strategy *best;
    bool best_walled;
    /* Operators that may have another configuration in `best` than now; their number is 0 at the
     * best, so that keeping a new best costs what has changed since the last. */
    uint32_t *stale;
    bool *is_stale;
    uint32_t stales;
    /* Steps are a walk's, or a descent's, which may be taken up again after a longer walk. */
    ss_descent descent;
    uint64_t descended, descending; /* steps of descents; of the one that it is in */
    uint64_t barren;                /* candidates since the last that was better */
    uint64_t walk_best;             /* steps of walks until the best of them */
};

/* Puts the proposal to the scorer, accepts it if it costs no more than the bound, and appends the
 * step, of which reach and everything after `best` but counts is filled in. */
ss_status ss_chain_consider(ss_chain *c, ss_step *step, ss_time bound, const ss_chain_clock *clock,
                            ss_rows *rows, ss_error *err);

#endif
