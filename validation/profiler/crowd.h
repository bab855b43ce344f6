/* crowd.h - another core that makes data, or keeps the memory of the machine busy, while one measures.
 *
 * A thread pinned to a core of its own.  Between commands it sleeps, and disturbs nobody.
 */
#ifndef SS_CROWD_H
#define SS_CROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ss_crowd ss_crowd;

/* Bytes that a stream copies round and round: more than caches hold. */
size_t ss_crowd_stream_bytes(void);

/* Refuses a core that is not there, or may not be used. */
ss_status ss_crowd_new(uint32_t core, ss_crowd **out, ss_error *err);
void ss_crowd_free(ss_crowd *c); /* NULL: nothing */

/* Writes each word anew on that core, and returns when it has.  Until ss_crowd_rest that core stays awake, as one that
 * computes: of one that sleeps, caches may be written back, from where they are read faster. */
void ss_crowd_rewrite(ss_crowd *c, void *at, size_t bytes);
void ss_crowd_wake(ss_crowd *c); /* the same of nothing */
void ss_crowd_rest(ss_crowd *c);
/* Begins to copy from memory to memory, and returns when it does; or ends that, and returns when it has. */
void ss_crowd_stream(ss_crowd *c, bool on);

/* Writes each word of it anew, on the core that calls, so that it is where who made it would have left it. */
void ss_rewrite(const void *at, size_t bytes);

/* Pins the thread that calls; the same refusals. */
ss_status ss_pin_this_thread(uint32_t core, ss_error *err);

#endif
