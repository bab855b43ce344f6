/* search_view.h - logs of searches made up, for tests of what is drawn of them. */
#ifndef SS_SEARCH_VIEW_H
#define SS_SEARCH_VIEW_H

#include "io/trajectory.h"

/* Fills row[0 .. n-1] with a walk: costs between 2 and 3 ms that tend downwards, by chance that a
 * number decides.  Two steps of three are accepted; one of seven is stopped early. */
static inline ss_trajectory_chain walk_of(const char *name, ss_trajectory_step *row, uint32_t n,
                                          uint32_t chance)
{
    ss_time start = 3000000000, current = start, best = start;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t draw = (i * 2654435761u + chance * 40503u) >> 8;
        ss_time proposed = 2000000000 + (ss_time)(draw % 1000000) * 900 / (1 + 9 * i / n);
        bool accepted = draw % 3 != 0;
        current = accepted ? proposed : current;
        best = current < best ? current : best;
        row[i] = (ss_trajectory_step){.step = i + 1,
                                      .op = 1 + draw % 7,
                                      .ops = 1,
                                      .tasks = 400,
                                      .visited = draw % 397,
                                      .accepted = accepted,
                                      .stopped = !accepted && draw % 7 == 0,
                                      .proposed = proposed,
                                      .current = current,
                                      .best = best,
                                      .wallclock_s = 0.00137 * (i + 1)};
    }
    return (ss_trajectory_chain){.name = name,
                                 .start = name,
                                 .start_cost = start,
                                 .beta_per_s = 1e4,
                                 .seed = 7,
                                 .steps = n,
                                 .step = row};
}

static inline ss_trajectory_view view_of(const ss_trajectory_chain *chain, uint32_t chains)
{
    return (ss_trajectory_view){.model = "nmt",
                                .topology = "p100x4",
                                .options = "",
                                .limits = "",
                                .chains = chains,
                                .chain = chain};
}

#endif
