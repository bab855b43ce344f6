/* ends.h - which of many changing times is the least.
 *
 * A tree of minima over slots, sixteen to a node: a time that changes and does not change the least of
 * its sixteen is done after one look at two cache lines, and most do not.  Slots are numbered from 0.
 */
#ifndef SS_ENDS_H
#define SS_ENDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/units.h"

enum { SS_ENDS_LEVELS = 8, SS_ENDS_WIDTH = 16 };

typedef struct ss_ends {
    ss_time *level[SS_ENDS_LEVELS]; /* level[0]: the times; each level a multiple of 16 long */
    uint32_t levels, slots;         /* the last level is one node */
    void *block;
} ss_ends; /* {0}: no slots */

/* At least so many slots; new ones hold SS_TIME_MAX, and so do all others if there are more than before. */
ss_status ss_ends_reserve(ss_ends *e, uint32_t slots, ss_error *err);
void ss_ends_clear(ss_ends *e); /* all SS_TIME_MAX */
void ss_ends_free(ss_ends *e);
size_t ss_ends_memory(const ss_ends *e);

static inline ss_time ss_ends_least_of(const ss_time *node)
{
    ss_time a = node[0], b = node[1], c = node[2], d = node[3];
    for (int i = 4; i < SS_ENDS_WIDTH; i += 4) {
        a = node[i] < a ? node[i] : a;
        b = node[i + 1] < b ? node[i + 1] : b;
        c = node[i + 2] < c ? node[i + 2] : c;
        d = node[i + 3] < d ? node[i + 3] : d;
    }
    a = b < a ? b : a;
    c = d < c ? d : c;
    return c < a ? c : a;
}

static inline void ss_ends_set(ss_ends *e, uint32_t slot, ss_time at)
{
    ss_time was = e->level[0][slot];
    e->level[0][slot] = at;
    for (uint32_t k = 1; k < e->levels; k++) {
        slot /= SS_ENDS_WIDTH;
        ss_time *up = &e->level[k][slot], before = *up;
        if (at > before && was > before)
            return;
        ss_time least =
            at <= before ? at : ss_ends_least_of(&e->level[k - 1][slot * SS_ENDS_WIDTH]);
        if (least == before)
            return;
        *up = at = least;
        was = before;
    }
}

/* SS_TIME_MAX if there is none. */
static inline ss_time ss_ends_least(const ss_ends *e)
{
    return e->levels ? ss_ends_least_of(e->level[e->levels - 1]) : SS_TIME_MAX;
}

/* The first slot that has the least time, which is not SS_TIME_MAX. */
uint32_t ss_ends_first(const ss_ends *e);

#endif
