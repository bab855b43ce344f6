/* engine.h - full simulation of a task graph.
 *
 * For what holds its resources, one rule: a free resource takes the waiting task with the smallest (ready, id); a task
 * that holds several resources starts when it is first at each of them.  Since (ready, id) grows along
 * every edge, taking tasks from one queue in that order and starting each at
 *     max(ready, end of the task before it on each of its resources)
 * gives the only timeline that satisfies, for every task:
 *   E1  ready = latest end (plus the lag of its resource) of its predecessors, or 0
 *   E2  each resource's list is sorted by (ready, id)
 *   E3  start = max(ready, end of the previous task on each resource)
 *   E4  end = start + hold
 * FlexFlow (MLSys 2019), algorithm 1, without its open ends (ties, cycles).
 *
 * A transfer over shared links (SS_LINKS_SHARED) holds nothing; for it
 *   E5  start = ready
 *   E6  end is where a flow that begins at start + hold ends, at the rates of sharing.h, in whole
 *       picoseconds: no earlier than alone on its narrowest link
 */
#ifndef SS_ENGINE_H
#define SS_ENGINE_H

#include <stdint.h>

#include "base/status.h"
#include "base/units.h"
#include "base/watch.h"
#include "graph/tasks.h"

typedef struct ss_timeline {
    uint32_t n;
    ss_time *ready, *start, *end; /* [n + 1]; end: the resource is free again */
    ss_time makespan;             /* latest finish: end plus lag */
    ss_time *finish;              /* [n + 1], where that is not end plus lag; else NULL */
    uint32_t cap;
} ss_timeline; /* {0}; arrays are kept for the next run */

typedef struct ss_engine ss_engine; /* working memory, kept between runs; one for each thread */

ss_status ss_engine_new(ss_engine **out, ss_error *err);
void ss_engine_free(ss_engine *e);

/* Whom runs with this working memory look up to, NULL for nobody (as at first).  Kept, not copied.
 */
void ss_engine_set_watch(ss_engine *e, const ss_watch *watch);
const ss_watch *ss_engine_watch(const ss_engine *e);

/* Refuses a cycle, naming the tasks of one, and times beyond SS_TIME_MAX. */
ss_status ss_engine_run(ss_engine *e, const ss_tasks *t, ss_timeline *out, ss_error *err);

/* How many tasks are taken before their successors are told, at most 16; 0: as suits the graph's
 * size. It changes no result, which is what tests use it for. */
void ss_engine_take_at_once(ss_engine *e, uint32_t tasks);

ss_time ss_timeline_finish(const ss_tasks *t, const ss_timeline *l, ss_task task); /* end + lag */
/* Room for so many tasks: ready, start and end. */
ss_status ss_timeline_reserve(ss_timeline *l, uint32_t tasks, ss_error *err);
void ss_timeline_free(ss_timeline *l);

/* E1 to E6 in code (of E6 the bound), O(n log n); the sentence names the first task that breaks one. */
ss_status ss_timeline_check(const ss_tasks *t, const ss_timeline *l, ss_error *err);

size_t ss_engine_memory(const ss_engine *e);

#endif
