/* replay.h - the timeline of a task graph that changes in place (graph/live.h).
 *
 * The timeline that is held belongs to the graph as it was when the last run was kept.  After a
 * change of the graph a run finds the new one beside it, so that to reject is to do nothing.
 *
 * A change leaves alone whatever was ready before the first time that it can touch: the least of
 *   the old ready time of each task that is gone or has other predecessors,
 *   the ready time of each such or new task whose predecessors are all kept, as these end now.
 * (The first task of the new timeline, in order of (ready, id), that differs from the old one would
 * have only predecessors that do not; so it is new or rewired, and ready no earlier than that.)  From
 * there on everything is simulated again: "replay from the first affected time".
 *
 * With a bound a run may stop when it is certain that the last task ends later: a resource cannot be
 * through before the time it is free plus all work that it has left, nor the step before the end of a
 * task plus its tail (tails.h).  Only times that are final are reckoned with, never those of a part of
 * the graph: tasks taken away may let a first-come-first-served step take longer.
 */
#ifndef SS_REPLAY_H
#define SS_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "graph/live.h"
#include "simulate/engine.h"

typedef struct ss_replayed {
    ss_time makespan; /* stopped: the bound that was passed, a true one of the makespan */
    bool stopped;
    uint32_t visited; /* tasks that were simulated */
} ss_replayed;

typedef struct ss_replay ss_replay;

/* bounds: tails are kept, so that runs with a bound stop early. */
ss_status ss_replay_new(bool bounds, ss_replay **out, ss_error *err);
void ss_replay_free(ss_replay *r);

/* Everything from the beginning; what is held does not matter. */
ss_status ss_replay_whole(ss_replay *r, const ss_live *l, ss_time bound, ss_replayed *out,
                          ss_error *err);
/* What the change under way can touch, if a timeline of the graph before it is held.  Delta goes over to
 * ss_replay_from in its midst; tests hold it to this, which has no list and no way of its own. */
ss_status ss_replay_change(ss_replay *r, const ss_live *l, ss_time bound, ss_replayed *out,
                           ss_error *err);
/* After a run: holds what it found (it did not stop), or what was held before.  Call before
 * ss_live_keep or ss_live_undo.  Runs may be repeated before that. */
void ss_replay_keep(ss_replay *r, const ss_live *l);
void ss_replay_undo(ss_replay *r);

/* How many tasks of the last run, which did not stop, were not there before or had other times. */
uint32_t ss_replay_changed(const ss_replay *r, const ss_live *l);

/* ss_live_tidy, and the timeline that is held with it. */
ss_status ss_replay_tidy(ss_replay *r, ss_live *l, ss_error *err);

/* The timeline that is held, or that the last run found, as ss_lower numbers the tasks. */
ss_status ss_replay_timeline(const ss_replay *r, const ss_live *l, bool of_last_run,
                             ss_timeline *out, ss_error *err);

#endif
