/* tasks_inside.h - what the parts of tasks.c see of each other: tasks_set.c (sets of resources) and
 * tasks_transfer.c (messages). */
#ifndef SS_TASKS_INSIDE_H
#define SS_TASKS_INSIDE_H

#include "graph/tasks.h"

/* Room for so many behind the last one. */
ss_status ss_tasks_reserve_tasks(ss_tasks *t, uint64_t more, ss_error *err);
ss_status ss_tasks_reserve_edges(ss_tasks *t, uint64_t more, ss_error *err);

/* What holds the flows of a path back beside its links. */
typedef struct ss_path_flows {
    uint32_t weight;
    double limit; /* bytes a second; 0: none */
    double
        bytes; /* of each, where links fall short by size, else 0: then the limit comes of that, */
    double most; /* and of this */
} ss_path_flows;

/* The set of the links of a route. */
ss_status ss_tasks_set_of_route(ss_tasks *t, const uint32_t *link, uint32_t links,
                                const ss_path_flows *flows, uint32_t *where, ss_error *err);

/* Nothing here can fail: whoever calls it has reserved. */
static inline uint32_t ss_tasks_push(ss_tasks *t, uint32_t where, ss_time hold, int64_t bytes,
                                     const ss_task_label *label)
{
    uint32_t i = ++t->n;
    t->hold[i] = hold;
    t->where[i] = where;
    t->bytes[i] = bytes;
    t->label[i] = *label;
    t->first_in[i + 1] = t->edges;
    if (t->draws_flows)
        t->flow[i] = bytes;
    if (t->binds)
        t->bound[i] = 0;
    if (label->hop == 0)
        t->moved += bytes;
    return i;
}

static inline void ss_tasks_push_edge(ss_tasks *t, uint32_t before)
{
    t->in[t->edges++] = before;
    t->first_in[t->n + 1] = t->edges;
}

#endif
