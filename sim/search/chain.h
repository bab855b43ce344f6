/* chain.h - one walk through the space of strategies, step by step.
 *
 * A chain is a function of (options, start, its number): its random numbers are counted, by seed,
 * chain and step, so that step 500 draws the same whatever became of step 499.  It knows nothing of
 * threads, files or other chains.
 *
 * What it is about to do next, walk or descend or end, follows from counts and options alone
 * (ss_chain_end); so it is the same after a resume, and after its budget was raised.
 */
#ifndef SS_CHAIN_H
#define SS_CHAIN_H

#include "search/rows.h"
#include "search/search.h"

typedef struct ss_chain ss_chain;

/* Takes over the scorer and the space, also on failure.  The start is scored. */
ss_status ss_chain_new(uint32_t number, const ss_search_options *o, ss_scorer *scorer,
                       ss_space *space, const ss_strategy *start, ss_chain **out, ss_error *err);
void ss_chain_free(ss_chain *c);

/* Why there is no next step; SS_END_NOT: there is one. */
ss_search_end ss_chain_end(const ss_chain *c);

/* How long the chain has been at work, resumed parts added up. */
typedef struct ss_chain_clock {
    double (*seconds)(void *context);
    void *context;
} ss_chain_clock;

/* The next step, appended to `rows` (NULL: nobody wants it); ss_chain_end is SS_END_NOT.  After an
 * error the chain stands where it stood, and no step was appended. */
ss_status ss_chain_step(ss_chain *c, const ss_chain_clock *clock, ss_rows *rows, ss_error *err);
double ss_chain_seconds(const ss_chain *c); /* at the last step */

void ss_chain_more(ss_chain *c, uint64_t proposals, double seconds);
ss_status ss_chain_resume(ss_chain *c, const ss_search_past *past, ss_error *err);

void ss_chain_standing(const ss_chain *c, ss_search_standing *out);
double ss_chain_share_done(const ss_chain *c); /* of its budget, 0 .. 1; 0 where it has none */
const ss_strategy *ss_chain_best(const ss_chain *c);

#endif
