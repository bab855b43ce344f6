/* price.h - what needing too much memory adds to the cost of a strategy.
 *
 * Of a scorer and of an exhaustive search, which so mean the same by it.
 */
#ifndef SS_PRICE_H
#define SS_PRICE_H

#include "base/status.h"
#include "graph/lower.h"
#include "search/score.h"
#include "simulate/engine.h"
#include "simulate/held.h"

typedef struct ss_price {
    ss_memory_rule rule;
    double s_per_byte; /* where the rule is a penalty */
    ss_holds holds;    /* working memory */
    ss_held_account account;
} ss_price;

/* `score->infeasible`, and a penalty on `score->cost` where that is the rule; of a strategy, what it
 * was lowered to, and the timeline of that.  Where memory is ignored nothing is looked at. */
ss_status ss_price_add(ss_price *p, const ss_strategy *strategy, const ss_lowered *l,
                       const ss_timeline *timeline, ss_score *score, ss_error *err);
void ss_price_free(ss_price *p);

#endif
