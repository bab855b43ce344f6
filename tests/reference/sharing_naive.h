/* sharing_naive.h - the slow, obvious twin of simulate/sharing.h, and of simulate/engine_shared.c.
 *
 * Every flow by itself; at every instant all that was served is taken off, and all rates are found anew
 * by filling: the link with the least share of what is left is full next (of equals the first; a flow's
 * own cap after all links), its flows keep their rates, and so on.  The same whole numbers mean the same
 * things as there, so all results must be equal.
 */
#ifndef SS_SHARING_NAIVE_H
#define SS_SHARING_NAIVE_H

#include <stdbool.h>

#include "base/wide.h"
#include "graph/tasks.h"
#include "simulate/sharing.h"

enum { NAIVE_LINKS = 160 };

typedef struct naive_flow {
    uint32_t number, path;
    ss_wide left;  /* to be served, in units times picoseconds */
    int64_t rate;  /* in units */
    uint32_t held; /* by this link; 0: by its cap */
    ss_time end;   /* SS_TIME_MAX: never */
} naive_flow;

typedef struct naive_sharing {
    uint32_t links;
    int scale;
    int64_t capacity[NAIVE_LINKS + 1], used[NAIVE_LINKS + 1];
    const ss_paths *paths;
    naive_flow *flow; /* [n], in order of beginning */
    uint32_t n, cap;
    ss_time now;
} naive_sharing;

void naive_start(naive_sharing *s, uint32_t links, const double *bytes_per_s,
                 const ss_paths *paths);
void naive_free(naive_sharing *s);
void naive_begin(naive_sharing *s, ss_time now, uint32_t path, int64_t bytes, uint32_t number);
bool naive_end(naive_sharing *s, ss_time now, uint32_t *number); /* the least of those that end */
void naive_set_link(naive_sharing *s, uint32_t link, double bytes_per_s);
void naive_settle(naive_sharing *s, ss_time now);
ss_time naive_next(const naive_sharing *s);

/* A whole simulation in mode shared.  Arrays of t->n + 1, by the caller.  Returns how many tasks could be
 * run; fewer than t->n: a cycle. */
uint32_t simulate_shared_naive(const ss_tasks *t, ss_time *ready, ss_time *start, ss_time *end);

#endif
