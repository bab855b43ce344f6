/* crowd.h - another core that makes data, or does the same at the same time, while one measures.
 *
 * A thread pinned to a core of its own.  Between commands it sleeps, and disturbs nobody.
 */
#ifndef SS_CROWD_H
#define SS_CROWD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ss_crowd ss_crowd;

/* The largest cache that a core has, alone or with others; 32 MiB where the system does not say. */
size_t ss_largest_cache(void);
/* More than caches hold: four times the largest, at least 64 MiB. */
size_t ss_beyond_caches(void);

/* Refuses a core that is not there, or may not be used. */
ss_status ss_crowd_new(uint32_t core, ss_crowd **out, ss_error *err);
void ss_crowd_free(ss_crowd *c); /* NULL: nothing */

/* Begins work(context) on that core, and returns at once; what it did before is over then.  Until ss_crowd_rest that core
 * stays awake behind it, as one that computes: of one that sleeps, caches may be written back, from where they are
 * read faster. */
void ss_crowd_begin(ss_crowd *c, void (*work)(void *), void *context);
void ss_crowd_finish(ss_crowd *c); /* until it is done */
void ss_crowd_wake(ss_crowd *c);   /* begins nothing */
void ss_crowd_rest(ss_crowd *c);

/* Writes each word anew on that core, and returns when it has. */
void ss_crowd_rewrite(ss_crowd *c, void *at, size_t bytes);
/* The same on the core that calls, so that it is where who made it would have left it. */
void ss_rewrite(const void *at, size_t bytes);

/* Two threads meet here, as often as they like: none goes on before the other is there. */
typedef struct ss_meeting {
    atomic_uint came;
} ss_meeting;

void ss_meet(ss_meeting *m);

/* Pins the thread that calls; the same refusals. */
ss_status ss_pin_this_thread(uint32_t core, ss_error *err);

#endif
