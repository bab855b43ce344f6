/* engine_inside.h - working memory of the engine, for its two loops: engine.c takes tasks of exclusive
 * resources in the order of (ready, id); engine_shared.c goes from instant to instant, since nobody
 * knows beforehand when a flow over shared links ends.
 */
#ifndef SS_ENGINE_INSIDE_H
#define SS_ENGINE_INSIDE_H

#include "simulate/engine.h"
#include "simulate/fresh.h"
#include "simulate/queue.h"
#include "simulate/sharing.h"

/* All that a loop needs to know of a task: half a cache line. */
typedef struct ss_task_at_work {
    ss_time ready; /* latest finish of the predecessors so far */
    union {
        ss_time hold;  /* until it starts */
        ss_time start; /* from then on */
    };
    uint32_t missing; /* predecessors that have not started (shared: ended) */
    uint32_t where;
    uint32_t first, last; /* its successors: out[first] .. out[last-1] */
} ss_task_at_work;

typedef struct ss_resource_at_work {
    ss_time free, lag;
} ss_resource_at_work;

struct ss_engine {
    ss_task_at_work *node;
    uint32_t node_cap;
    ss_resource_at_work *resource;
    uint32_t resource_cap;
    ss_queue
        queue; /* engine.c: of tasks that are ready; engine_shared.c: of ends and flows to begin */
    const ss_watch *watch;
    uint32_t at_once; /* see ss_engine_take_at_once */

    ss_sharing *sharing; /* NULL until it is needed */
    ss_fresh fresh;      /* tasks ready at this instant, by id */
};

/* Of a finished graph in mode shared, with rows and resources set out; the queue is empty. */
ss_status ss_engine_run_shared(ss_engine *e, const ss_tasks *t, ss_timeline *out, ss_error *err);

ss_status ss_engine_refuse_overflow(uint32_t id, ss_error *err);

#endif
