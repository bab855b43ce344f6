/* collective.h - how one tensor's copies on several devices become their sum on all of them.
 *
 * An algorithm is written as rounds of messages: in a round each message goes from one member to
 * another and carries a share of the tensor.  The lowering expands rounds to transfers, or asks for
 * the closed form and makes one task of it.  Sources of the closed forms: Thakur, Rabenseifner,
 * Gropp, "Optimization of Collective Communication Operations in MPICH" (IJHPCA 2005), section 4;
 * Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms" (JPDC 2009) for the ring.
 */
#ifndef SS_COLLECTIVE_H
#define SS_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "graph/ids.h"

typedef struct ss_message {
    uint32_t from, to;       /* members, from 0 */
    int64_t bytes;
    uint32_t after[2];       /* messages that must have arrived (rows, from 1; 0: none): data it forwards, */
                             /* and the sender's own message before, which keeps its order */
    bool adds;               /* the receiver adds it to its own copy; else it replaces */
} ss_message;

typedef struct ss_messages {
    ss_message *row; /* [n + 1], 1 .. n, in a topological order */
    uint32_t n, cap;
} ss_messages; /* {0} */

void ss_messages_free(ss_messages *m);

/* Ring all-reduce of `bytes` over `members`: 2 (n-1) rounds, each member sends to the next. Shares
 * differ by at most one byte and sum to the tensor. */
ss_status ss_collective_ring(uint32_t members, int64_t bytes, ss_messages *out, ss_error *err);
/* Binary tree rooted at member 0: reduce towards it, then broadcast; whole tensor each time. */
ss_status ss_collective_tree(uint32_t members, int64_t bytes, ss_messages *out, ss_error *err);
/* machine[i] of each member: members to the first of their machine, those to the first of all, and
 * back: the 2018 runtime's scheme. */
ss_status ss_collective_two_level(uint32_t members, const uint32_t *machine, int64_t bytes,
                                  ss_messages *out, ss_error *err);

/* Seconds without contention when every pair has latency a and bandwidth b. */
double ss_collective_ring_seconds(uint32_t members, double bytes, double a, double b);
double ss_collective_tree_seconds(uint32_t members, double bytes, double a, double b);

#endif
