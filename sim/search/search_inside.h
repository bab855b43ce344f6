/* search_inside.h - what a search holds.  Private to search*.c. */
#ifndef SS_SEARCH_INSIDE_H
#define SS_SEARCH_INSIDE_H

#include "search/chain.h"
#include "search/rows.h"

typedef struct ss_lane ss_lane;

/* What a chain did in a slice of time, on its way to the sink. */
typedef struct ss_batch {
    ss_lane *lane;
    ss_rows rows;
    ss_search_standing after;
    double share_done;
    ss_status status; /* why the slice ended, if it failed */
    ss_error err;
} ss_batch;

enum { SS_LANE_BATCHES = 2 }; /* one is filled while the other is told */

/* A chain and all that is about it. */
struct ss_lane {
    uint32_t number;
    ss_chain *chain;
    char *name; /* of its start */
    ss_strategy *start;
    ss_batch batch[SS_LANE_BATCHES];
    /* by the thread that runs the search */
    ss_search_standing told;
    double share_done;
    bool begun;
    /* under the lock of search_run.c */
    ss_batch *spare[SS_LANE_BATCHES];
    uint32_t spares;
    bool queued, at_work, over; /* over: it does nothing more in this run */
};

struct ss_search {
    const ss_model *model;
    ss_search_options options;
    ss_lane *lane; /* [lanes] */
    uint32_t lanes;
};

ss_status ss_search_check_options(const ss_search_options *o, ss_error *err);

#endif
