/* held.h - how much memory devices hold over time.
 *
 * What lowering says is held (ss_holds), laid out along a timeline.  A hold is there from its first
 * instant until, not including, its last: what ends when something else begins does not add to it.
 *
 * The account is one thing for whoever reports a result and for a search, which asks for it with
 * every proposal: arrays are kept for the next one.
 */
#ifndef SS_HELD_H
#define SS_HELD_H

#include <stdint.h>

#include "base/status.h"
#include "graph/lower.h"
#include "graph/topology.h"
#include "simulate/engine.h"

/* Memory held on a device over time: changes, in order of time. */
typedef struct ss_held_change {
    ss_time at;
    int64_t bytes;
} ss_held_change; /* held from then on */

typedef struct ss_held_peak {
    int64_t bytes;
    int64_t by[SS_HELD_KINDS]; /* what the peak is made of */
    ss_time at;                /* when it was reached first */
} ss_held_peak;

typedef struct ss_held_account {
    uint32_t devices;
    ss_held_peak *peak;     /* [devices + 1] */
    ss_held_change *change; /* rows first[d] .. first[d+1]-1 are device d's */
    uint32_t *first;        /* [devices + 2] */
    uint32_t peak_cap, change_cap, first_cap;
    struct ss_held_edge *edge; /* working memory */
    uint32_t edge_cap;
} ss_held_account; /* {0} */

/* Refuses more than 2^63 bytes on one device. */
ss_status ss_held_account_make(const ss_holds *holds, const ss_timeline *l, uint32_t devices,
                               ss_held_account *out, ss_error *err);
void ss_held_account_free(ss_held_account *a);

/* Bytes by which peaks pass what devices have, of all devices; 0: everything fits.  A device whose
 * memory is not known (0) is never too small. */
double ss_held_excess(const ss_held_account *a, const ss_topology *t);

#endif
