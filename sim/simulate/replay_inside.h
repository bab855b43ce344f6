/* replay_inside.h - for replay.c and delta*.c alone. */
#ifndef SS_REPLAY_INSIDE_H
#define SS_REPLAY_INSIDE_H

#include "simulate/heads.h"
#include "simulate/replay.h"
#include "simulate/tails.h"

typedef struct ss_times {
    ss_time ready, start;
} ss_times;

/* What a run knows of a task: half a cache line. */
typedef struct ss_play {
    ss_time ready, start;
    uint32_t missing; /* predecessors that have not started */
    uint32_t block;
    uint32_t next; /* once it is ready: who is behind it in its list, 0: nobody */
    uint32_t list; /* the resource whose list it is in, 0: none */
} ss_play;

/* Bit 31 of `missing`: the task keeps its times, and the row says no more. */
#define SS_REPLAY_KEEPS 0x80000000u

typedef struct ss_play_resource {
    ss_time free, lag;
    uint64_t left; /* holds of tasks that have not started, ps, modulo 2^64 */
    uint32_t last; /* of its list (heads.h), 0: the list is empty */
} ss_play_resource;

struct ss_replay {
    ss_times *now; /* by slot: what is held */
    ss_play *next; /* by slot: the last run */
    uint32_t now_cap, next_cap;
    ss_time makespan, next_makespan;
    ss_time from;    /* the last run simulated what is ready from here on, */
    uint32_t *taken; /* [takens] in this order, which is that of (ready, block, slot) */
    uint32_t takens, taken_cap;
    ss_play_resource *resource;
    uint32_t resource_cap;
    ss_heads heads;
    bool bounds;
    enum {
        SS_TAILS_NONE,
        SS_TAILS_HELD,
        SS_TAILS_CHANGED
    } tails_of; /* of nothing, the graph that is held, the change under way */
    ss_tails tails;
};

ss_status ss_replay_refuse_overflow(uint32_t id, ss_error *err);

/* Room in `now` for all slots. */
ss_status ss_replay_reserve_held(ss_replay *r, const ss_live *l, ss_error *err);

/* All that is ready from a time on that is not after the first affected one. */
ss_status ss_replay_from(ss_replay *r, const ss_live *l, ss_time from, ss_time bound,
                         ss_replayed *out, ss_error *err);

/* The first time that the change under way can touch; there is room in `now`. */
ss_time ss_replay_first_touched(const ss_replay *r, const ss_live *l);

/* Whether some resource has more work than the bound allows. */
bool ss_replay_too_much_work(const ss_live *l, ss_time bound, ss_replayed *out);

/* Brings tails up to the graph as it is. */
ss_status ss_replay_find_tails(ss_replay *r, const ss_live *l, ss_error *err);

/* What `now` says and the tails there are belong to the changed graph from now on. */
void ss_replay_hold(ss_replay *r, ss_time makespan);

/* Whether a task ready before tau, which so keeps its times, has another tail than before, and one
 * that is too long. */
bool ss_replay_too_long_a_way(const ss_replay *r, const ss_live *l, ss_time tau, ss_time bound,
                              ss_replayed *out);

#endif
