/* delta.h - the timeline of a task graph that changes in place, visiting only what the change moves.
 *
 * After "FlexFlow" (MLSys 2019), section 5.3, whose printed algorithm gives wrong timelines in many
 * single changes (tests/reference/delta_published.c); this one is another.  It sweeps over time once,
 * in the order of (ready, id) in which a whole simulation takes tasks, but stops only
 *   where a task of the old timeline has its place and may not keep it: it is gone, or later, or what
 *     comes before it on its resource ends at another time;
 *   where a task has its new place, which is known when all predecessors have been passed.
 * What is not stopped at keeps its times.  So each task is settled once, with times that are final;
 * nothing is ever corrected.  The result is the timeline of a whole simulation in every field.
 *
 * A change mostly moves most of what follows, and then it is cheaper to simulate all that follows
 * (replay.h), which needs less time for a task.  So a run that has settled `limit` tasks goes over to
 * that, and SS_DELTA_AS_EXPECTED begins with it unless little follows.
 *
 * It holds one timeline, in a replay of its own.
 *
 * Over shared links nothing is swept: when a flow ends depends on all that flows beside it, so every
 * change is replayed from the last snapshot before the first affected time (replay_shared.h).
 */
#ifndef SS_DELTA_H
#define SS_DELTA_H

#include "simulate/replay.h"

typedef struct ss_deltaed {
    ss_time makespan; /* stopped: the bound that was passed, a true one of the makespan */
    bool stopped;
    bool fell_back;   /* simulated from the first affected time */
    uint32_t visited; /* tasks that were settled or simulated, also before falling back */
} ss_deltaed;

/* As a limit: sweep only where that is cheaper even if all that follows moves.  It depends on the graph,
 * the timeline and the change alone, not on clocks nor on what was tried before, so that a search
 * that is resumed counts the same. */
enum { SS_DELTA_AS_EXPECTED = UINT32_MAX - 1, SS_DELTA_NO_LIMIT = UINT32_MAX };

typedef struct ss_delta ss_delta;

/* bounds: as in ss_replay_new. */
ss_status ss_delta_new(bool bounds, ss_delta **out, ss_error *err);
void ss_delta_free(ss_delta *d);

/* As their namesakes in replay.h. */
ss_status ss_delta_whole(ss_delta *d, const ss_live *l, ss_time bound, ss_deltaed *out,
                         ss_error *err);
/* limit: how many tasks may be settled before all that follows is simulated (0: at once). */
ss_status ss_delta_change(ss_delta *d, const ss_live *l, ss_time bound, uint32_t limit,
                          ss_deltaed *out, ss_error *err);
void ss_delta_keep(ss_delta *d, const ss_live *l);
void ss_delta_undo(ss_delta *d);
uint32_t ss_delta_changed(const ss_delta *d, const ss_live *l);
ss_status ss_delta_tidy(ss_delta *d, ss_live *l, ss_error *err);
ss_status ss_delta_timeline(const ss_delta *d, const ss_live *l, bool of_last_run, ss_timeline *out,
                            ss_error *err);

/* E1 to E4 (engine.h), of exclusive links, for the timeline that is held or was found, and whether the lists of what is
 * held are in order; for tests.  The sentence names the first slot that breaks one. */
ss_status ss_delta_check(const ss_delta *d, const ss_live *l, bool of_last_run, ss_error *err);

#endif
