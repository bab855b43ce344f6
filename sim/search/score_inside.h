/* score_inside.h - what a scorer holds, and by which functions a way of scoring is told.
 *
 * Private to score*.c, and to tests that bring a way of their own.  score.c keeps the strategies and
 * calls the way; a way keeps whatever it needs in `state`.  score_ways.c lists the ways.
 */
#ifndef SS_SCORE_INSIDE_H
#define SS_SCORE_INSIDE_H

#include "graph/route.h"
#include "search/price.h"
#include "search/score.h"
#include "simulate/engine.h"

typedef struct ss_score_kind {
    const char *name;
    ss_status (*open)(ss_scorer *s,
                      ss_error *err); /* makes s->state; close follows, also if it fails */
    void (*close)(ss_scorer *s);      /* s->state may be NULL */
    /* The score of s->next, which is held from now on; of the strategy before nothing is wanted any
     * more.  After an error another start follows, or close. */
    ss_status (*start)(ss_scorer *s, ss_score *out, ss_error *err);
    /* The score of s->next, which differs from s->held in the operators s->changed at most.  It may
     * end as `stopped` when the cost is certain to be above the bound (SS_TIME_MAX: never).  After
     * an error everything is as before, and neither accept nor reject follows. */
    ss_status (*attempt)(ss_scorer *s, ss_time bound, ss_score *out, ss_error *err);
    ss_status (*accept)(ss_scorer *s, ss_error *err); /* s->held is still the old one */
    void (*reject)(ss_scorer *s);                     /* s->next is still the one that was tried */
} ss_score_kind;

extern const ss_score_kind ss_score_full, ss_score_replay, ss_score_delta;

/* NULL: not in this build. */
const ss_score_kind *ss_score_kind_of(ss_score_way w);

struct ss_scorer {
    const ss_model *model;
    const ss_topology *topology;
    ss_score_options options;
    ss_costs *costs; /* its own, as are routes and engine */
    ss_timer timer;
    ss_routes *routes;
    ss_engine *engine;
    /* Two strategies that are equal but for `changed` between a try and what follows it. */
    ss_strategy *held, *next;
    ss_op *changed; /* [changes] */
    uint32_t changes, changed_cap;
    bool started, trying;
    ss_score now, tried;
    ss_price price;
    ss_time step; /* overhead of the step, in every cost */
    const ss_score_kind *kind;
    void *state;
};

/* A scorer with a way of the caller's own in place of the one that the options name. */
ss_status ss_scorer_new_kind(const ss_model *m, const ss_topology *t, const ss_costs *costs,
                             const ss_score_options *o, const ss_score_kind *kind, ss_scorer **out,
                             ss_error *err);

#endif
