/* cost_inside.h - what an ss_costs holds.  Private to cost.c, which keeps the sources,
 * cost_timer.c, which asks them, and cost_report.c, which says what came of that. */
#ifndef SS_COST_INSIDE_H
#define SS_COST_INSIDE_H

#include "base/names.h"
#include "simulate/cost_memo.h"
#include "simulate/correction.h"
#include "simulate/cost_sources.h"

typedef enum ss_cost_sort { SS_COST_GIVEN, SS_COST_TABLE, SS_COST_ROOFLINE } ss_cost_sort;

/* May belong to several ss_costs; one that does is never added to. */
typedef struct ss_cost_source {
    ss_cost_sort sort;
    uint32_t holders;
    ss_cost_given *given; /* the one that `sort` says */
    ss_cost_table *table;
    ss_cost_roofline *roofline;
} ss_cost_source;

enum { SS_COST_TOLD = 100 };

typedef struct ss_cost_slot {
    ss_cost_source *is;
    double scale;                 /* of the costs that it came from */
    ss_correction *correction;    /* of what it says, scaled; NULL: none */
    double after;                 /* scale of what is corrected */
    uint64_t exact, interpolated; /* new parts it answered for */
    uint64_t told;                /* parts, new or not, since ss_costs_count */
    ss_names unknown;  /* of a table: the first SS_COST_TOLD parts it did not know, and why */
    uint64_t unknowns; /* all of them */
} ss_cost_slot;

typedef struct ss_cost_timer ss_cost_timer;

struct ss_costs {
    ss_cost_slot *source; /* in the order in which they are asked */
    uint32_t sources, source_cap;
    double scale;
    uint32_t age; /* grows when an answer may change */
    ss_memo memo;
    ss_names given_names; /* of every given source */
    ss_names kinds;       /* device kinds that the memo names */
    ss_cost_timer **timer;
    uint32_t timers, timer_cap;
    uint64_t asked, fresh;
    ss_names missing;        /* what no source knew, in words */
    uint32_t *missing_round; /* by missing: when it was missed last */
    uint32_t missing_cap;
    uint32_t round, missed, first_missed; /* since refuse_missing */
};

void ss_cost_timer_free(ss_cost_timer *t);
ss_status ss_cost_note_missing(ss_costs *c, const char *key, uint32_t *number, ss_error *err);
void ss_cost_miss(ss_costs *c, uint32_t number);

#endif
