/* replay_shared.h - replay.h for task graphs whose links are shared.
 *
 * When a flow ends depends on all that flows beside it, so a timeline alone does not tell how far the flows
 * are at an instant.  That is what a snapshot holds: for each flow under way what is left of it.  All
 * else at that instant follows from the timeline (what has ended, what computes until when), and the
 * rates from which flows there are, since they are unique to the last unit (sharing.h).  So a run that sets
 * out from a snapshot before the first time that a change can touch goes on in the very bits of a run
 * from the beginning.
 *
 * Snapshots are taken every so many instants; when there are too many, every second one goes.
 */
#ifndef SS_REPLAY_SHARED_H
#define SS_REPLAY_SHARED_H

#include "simulate/replay.h"

typedef struct ss_replay_shared ss_replay_shared;

ss_status ss_replay_shared_new(ss_replay_shared **out, ss_error *err);
void ss_replay_shared_free(ss_replay_shared *r);

/* As their namesakes in replay.h; `from_beginning` as ss_replay_whole, else as ss_replay_change. With a
 * bound a run stops at the instant after it, and where a device has more work left than fits. */
ss_status ss_replay_shared_run(ss_replay_shared *r, const ss_live *l, bool from_beginning,
                               ss_time bound, ss_replayed *out, ss_error *err);
void ss_replay_shared_keep(ss_replay_shared *r, const ss_live *l);
uint32_t ss_replay_shared_changed(const ss_replay_shared *r, const ss_live *l);
ss_status ss_replay_shared_tidy(ss_replay_shared *r, ss_live *l, ss_error *err);
ss_status ss_replay_shared_timeline(const ss_replay_shared *r, const ss_live *l, bool of_last_run,
                                    ss_timeline *out, ss_error *err);

#endif
