/* paths.h - the paths of flows in a task graph, for the sharing. */
#ifndef SS_PATHS_H
#define SS_PATHS_H

#include "graph/tasks.h"
#include "simulate/sharing.h"

static inline ss_paths ss_paths_of(const ss_tasks *t)
{
    return (ss_paths){.n = t->sets,
                      .first = t->first_of_set,
                      .link = t->of_set,
                      .link_before = t->devices,
                      .weight = t->weight_of_set,
                      .cap = t->limit_of_set};
}

#endif
