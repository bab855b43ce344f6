/* pattern.h - what an operation between ranks asks of a link: how many messages in sequence, and how
 * many bytes in all.
 *
 * With a start-up time a of each message and a bandwidth b an operation on s bytes takes
 * steps * a + factor * s / b: the closed forms of Thakur, Rabenseifner, Gropp, "Optimization of
 * Collective Communication Operations in MPICH" (IJHPCA 2005), section 3.  The factors of the ring
 * are those by which nccl-tests turns algorithm bandwidth into bus bandwidth (its
 * doc/PERFORMANCE.md), and sizes are counted as there:
 *
 *   all_reduce                 the tensor that every rank has
 *   all_gather, reduce_scatter the whole tensor, not a rank's share
 *   all_to_all                 what one rank sends to all, itself among them
 *   broadcast, reduce          the tensor
 *   p2p                        the message
 */
#ifndef SS_PATTERN_H
#define SS_PATTERN_H

#include <stdint.h>

#include "base/status.h"
#include "base/text.h"

typedef struct ss_pattern {
    const char *operation, *algorithm; /* not copied: words of our own list */
    uint32_t ranks;
    double steps;  /* messages one after the other */
    double factor; /* their bytes over those of the operation */
} ss_pattern;

/* algorithm NULL: the first of ss_pattern_algorithms.  p2p is between 2 ranks; 0 ranks: 2 of p2p, else
 * refused.  One rank needs no message and is refused. */
ss_status ss_pattern_find(const char *operation, const char *algorithm, uint32_t ranks,
                          ss_pattern *out, ss_error *err);

/* "p2p|all_reduce|..." and, of all operations together, "direct|ring|..." */
extern const char ss_pattern_operations[], ss_pattern_algorithms[];

#endif
