/* collective.h - how one tensor's copies on several devices become their sum on all of them.
 *
 * An algorithm is written as a list of messages.  Each goes from one member to another, carries a
 * share of the tensor, and says which messages must have arrived before it is sent: those whose
 * data it passes on and, in the ring, the sender's own one before, so that a member takes its
 * rounds in order.  The lowering expands the list to transfers, or asks for the closed form and
 * makes one task of it.
 *
 * Closed forms are for members that send one message and receive one at a time, each pair with
 * latency a and bandwidth b, nothing else under way: the model of Thakur, Rabenseifner, Gropp,
 * "Optimization of Collective Communication Operations in MPICH" (IJHPCA 2005), section 3.  The
 * ring is that of Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
 * workstations" (JPDC 2009).
 *
 * A tensor of 0 bytes, and a single member, need no message.
 */
#ifndef SS_COLLECTIVE_H
#define SS_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ss_message {
    uint32_t from, to;            /* members, from 0 */
    int64_t offset, bytes;        /* the share: bytes offset .. offset + bytes - 1 of the tensor */
    uint32_t first_after, afters; /* rows of ss_messages.after; several messages may share rows */
    bool adds;                    /* the receiver adds it to its own copy; else it replaces */
} ss_message;

typedef struct ss_messages {
    ss_message *row; /* [n + 1], 1 .. n, in a topological order */
    uint32_t n, cap;
    uint32_t *after; /* rows of messages, each smaller than that of the message it is for */
    uint32_t afters, after_cap;
    uint32_t ring_of; /* members of the ring that is in here, 0: something else */
    int64_t ring_bytes;
} ss_messages; /* {0}; may be filled again and again, and keeps its arrays */

void ss_messages_free(ss_messages *m);

/* Ring all-reduce of `bytes` over `members`: 2 (n-1) rounds, in each every member sends to the
 * next, n messages a round in the order of senders.  Shares differ by at most one byte and sum to
 * the tensor; with fewer bytes than members some are empty and only keep the order.  The messages
 * of a ring depend on the members alone: asked again for as many, `out` gets new sizes only, and
 * for the same tensor size nothing is done. */
ss_status ss_collective_ring(uint32_t members, int64_t bytes, ss_messages *out, ss_error *err);

/* Binary tree: the children of member i are 2i + 1 and 2i + 2.  Reduce towards member 0, then
 * broadcast; whole tensor each time.  Messages that add are the first half. */
ss_status ss_collective_tree(uint32_t members, int64_t bytes, ss_messages *out, ss_error *err);

/* machine[i] of each member (0: alone): members to the first of their machine, those to member 0,
 * and back: the scheme of FlexFlow's 2018 runtime.  Messages that add are the first half. */
ss_status ss_collective_two_level(uint32_t members, const uint32_t *machine, int64_t bytes,
                                  ss_messages *out, ss_error *err);

/* Seconds by the closed form; a in seconds, b in bytes per second. */
double ss_collective_ring_seconds(uint32_t members, double bytes, double a, double b);
double ss_collective_tree_seconds(uint32_t members, double bytes, double a, double b);
/* With the latency and bandwidth inside a machine and across; exact if every machine has as many
 * members, else that of the fullest one. */
double ss_collective_two_level_seconds(uint32_t members, const uint32_t *machine, double bytes,
                                       double a_inside, double b_inside, double a_across,
                                       double b_across);

#endif
