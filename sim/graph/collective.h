/* collective.h - operations that several devices do together, as lists of messages.
 *
 * An algorithm is written as a list of messages.  Each goes from one member to another, carries a
 * share of the tensor, and says which messages must have arrived before it is sent: those whose
 * data it passes on and, where a member sends several, its own one before, so that a member takes
 * its rounds in order and has one message of an algorithm under way at a time (trees: one on each
 * branch).  The lowering expands the list to transfers, or asks for the closed form and makes one
 * task of it.  docs/decisions/0038-collectives-and-their-closed-forms.md has the choices.
 *
 * Operations, and what `bytes` are of (as nccl-tests counts, doc/PERFORMANCE.md there):
 *   all_reduce      the tensor; everyone ends with the sum
 *   all_gather      the whole tensor; member i begins with share i, everyone ends with all
 *   reduce_scatter  the whole tensor, which everyone has; member i ends with the sum of share i
 *   all_to_all      what one member has for all, itself among them: share j of i becomes share i of j
 *   broadcast       the tensor, which member 0 has
 *   reduce          the tensor; member 0 ends with the sum
 *   p2p             the message, from member 0 to member 1
 * Of n shares the first (bytes mod n) have one byte more.
 *
 * Closed forms are in seconds, with a latency a and a bandwidth b of each message: the model of
 * Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH"
 * (IJHPCA 2005), section 3.  Each algorithm's comment says where its form is exact.  "A port a
 * member": members send one message and receive one at a time, as over a switch that each is joined
 * to by one link; "a link a pair": a full mesh.  Of unequal shares the largest counts.  Where messages
 * meet on links, collective_price.h has what they take.
 *
 * A tensor of 0 bytes, and a single member, need no message.
 */
#ifndef SS_COLLECTIVE_H
#define SS_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "graph/reduction_tree.h"

typedef struct ss_message {
    uint32_t from, to;     /* members, from 0; in the network also switches, from `members` */
    int64_t offset, bytes; /* the share: bytes offset .. offset + bytes - 1 of the tensor */
    uint32_t first_after, afters; /* rows of ss_messages.after; several messages may share rows */
    bool adds;                    /* the receiver adds it to its own copy; else it replaces */
    bool own;  /* it carries the sender's own data, which nothing that it waits for speaks for */
    bool last; /* the receiver has its result when all such messages have arrived */
    uint32_t round; /* from 1, of algorithms that go in rounds; else 0 */
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

typedef enum ss_operation {
    SS_ALL_REDUCE,
    SS_ALL_GATHER,
    SS_REDUCE_SCATTER,
    SS_ALL_TO_ALL,
    SS_BROADCAST,
    SS_REDUCE,
    SS_P2P,
    SS_OPERATIONS
} ss_operation;

typedef enum ss_algorithm {
    SS_RING,
    SS_BIDIRECTIONAL_RING,
    SS_TREE,
    SS_DOUBLE_TREE,
    SS_HALVING_DOUBLING,
    SS_TWO_LEVEL,
    SS_HIERARCHICAL,
    SS_IN_NETWORK,
    SS_PAIRWISE,
    SS_DIRECT,
    SS_ALGORITHMS
} ss_algorithm;

const char *ss_operation_name(ss_operation o); /* "all_reduce" */
const char *ss_algorithm_name(ss_algorithm a); /* "ring" */

typedef struct ss_collective {
    ss_operation operation;
    ss_algorithm algorithm;
    uint32_t members;
    int64_t bytes;
    /* Into so many pieces the tensor is cut that are sent one after the other, where the algorithm
     * passes it on whole: tree, double_tree, in_network, and the ring of broadcast and reduce.  The
     * others cut it into shares anyway, and do not look. */
    uint32_t chunks;
    const uint32_t
        *machine; /* [members], 0: alone; two_level and hierarchical; NULL: all are alone */
    const ss_reduction_tree *tree; /* in_network */
} ss_collective;

/* Whether there is such an algorithm for the operation; how, and when it is exact:
 *
 * all_reduce
 *   ring           2 (n-1) rounds; in each everyone sends a share to the next.  (Patarasuk, Yuan,
 *                  "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 2009.)
 *                  2 (n-1) (a + s/(n b)): a port a member, a link a pair; with the largest a and the
 *                  least b of unequal neighbours too, since everyone takes its rounds in order.
 *   bidirectional_ring  half of the tensor each way round: 2 (n-1) (a + s/(2 n b)) on a ring or mesh of
 *                  three or more whose links each way are apart.  Of two members, and through one port a
 *                  member, both ways share their links, and it takes what the ring does: the price.
 *   tree           binary: the children of i are 2i + 1 and 2i + 2.  Reduce towards member 0, then
 *                  broadcast, whole tensor each time.  A port a member that takes one message after
 *                  the other (fifo-path), in one chunk; with more an estimate: each further chunk costs
 *                  a latency, and as many of its bytes as the busiest member sends.  Over shared links
 *                  a member's two messages down go together and end together, and it takes longer:
 *                  of 8 members the bytes of 9 messages and not of 8.
 *   double_tree    two binary trees, each for half of the tensor, whose inner members are leaves of
 *                  the other (Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth
 *                  broadcast, reduction and scan", Parallel Computing 2009), laid as NCCL lays them:
 *                  ss_double_tree_parent.  (2 d + k - 1) a + (2 (d-1) + 4 k (n-1)/n) s/(2 k b), d the
 *                  height, k chunks: an estimate for a port a member, whose four messages of a chunk
 *                  come in an order that no formula has (shared links take 0.86 to 1.47 times as long;
 *                  from 8 chunks on 0.97 to 1.22); exact of two members.  A link a
 *                  pair, and k <= d, so that the trees do not meet on a link:
 *                  (2 d + k - 1) (a + s/(2 k b)), n > 3.
 *   halving_doubling  recursive halving, then doubling (Thakur et al. 4.5).  n = p + r, p a power of
 *                  two: the first r pairs first add up in one of the two, which in the end passes the
 *                  result back (Rabenseifner, "Optimization of collective reduction operations",
 *                  ICCS 2004).  2 log2 p a + 2 (p-1)/p s/b, and 2 (a + s/b) if r > 0: a port a member,
 *                  a link a pair; of unequal shares some bytes less.  A step all of whose pairs
 *                  are in machines takes the time of inside.
 *   two_level      members of a machine to their first, those to member 0, and back: FlexFlow's
 *                  runtime of 2018.  A port a member that takes one message after the other
 *                  (fifo-path), machines of equal size.  Over shared links all that the first one sends
 *                  ends together: of 8 members in 2 machines the bytes of 11 messages and not of 8.
 *   hierarchical   rings: reduce-scatter inside machines, all-reduce across, for each share apart,
 *                  all-gather inside.  Shares are as many as the smallest machine has members; where
 *                  there are more, they first add theirs to those, and hear the result last.
 *                  2 (l-1) (a + s/(l b)) inside, 2 (m-1) (a + s/(l m b)) across, l members in each of m
 *                  machines: a link a pair; or a way out of the machine for each member.
 *   in_network     switches add up what comes from below, pass it on, and send the sum back down a
 *                  tree (reduction_tree.h); one message up and one down each link, k chunks behind each
 *                  other.  Exact for a tree whose links carry nothing else.
 * all_gather, reduce_scatter
 *   ring           (n-1) (a + s/(n b)), as above
 *   halving_doubling  log2 n a + (n-1)/n s/b for powers of two; else as above, where one of a pair
 *                  has its share brought to it, or taken
 * all_to_all
 *   pairwise       in round r to the member r further on: (n-1) (a + s/(n b)), a port, a link
 * broadcast, reduce
 *   ring           a chain, in chunks: (n-2+k) (a + s/(k b)), a port, a link
 *   tree           binomial: ceil(log2 n) (a + s/b), a port, a link
 * p2p
 *   direct         a + s/b
 */
bool ss_collective_has(ss_operation o, ss_algorithm a);
bool ss_collective_is_chunked(ss_operation o, ss_algorithm a); /* it looks at chunks */
/* "ring, tree": of an operation, for messages. */
const char *ss_collective_algorithms(ss_operation o);

/* The list of messages; refuses an algorithm that the operation has not, and what it lacks. */
ss_status ss_collective_messages(const ss_collective *c, ss_messages *out, ss_error *err);

/* A message's latency in seconds and bandwidth in bytes per second. */
typedef struct ss_wire {
    double latency_s, bytes_per_s;
} ss_wire;

/* By the closed form.  Algorithms that know no machines (all but hierarchical, two_level and
 * halving_doubling) take the worse of the two; `across` is {0,
 * INFINITY} if all are in one machine, and so is `inside` if all are alone.  In the network neither
 * counts: the tree has its links. */
double ss_collective_seconds(const ss_collective *c, ss_wire inside, ss_wire across);

/* nccl-tests' factor from bytes / seconds to "bus bandwidth", which of an optimal algorithm is that of
 * the links whatever the number of members: 2 (n-1)/n of all_reduce, (n-1)/n of gathers and scatters
 * and all_to_all, else 1. */
double ss_collective_bus_factor(ss_operation o, uint32_t members);

/* Of the chunks 1, 2, 3, 4, 6, 8, 12 .. 256 those whose closed form takes least; of equal ones the
 * fewest.  1 where the algorithm does not look at them. */
uint32_t ss_collective_best_chunks(const ss_collective *c, ss_wire inside, ss_wire across);
/* Whether it is among those that are chosen from where nobody says which (collective_choose.h). */
bool ss_collective_is_considered(const ss_collective *c);

/* The trees of double_tree, t 0 or 1, and n members; the root's parent is itself.  In tree 0 member 0 is
 * the root, over the in-order tree of 1 .. n-1 whose leaves are odd; tree 1 is tree 0 mirrored (n even) or
 * shifted by one (n odd), so that what is a leaf in one is not in the other. */
uint32_t ss_double_tree_parent(uint32_t n, uint32_t t, uint32_t i);

/* Ring all-reduce of `bytes` over `members`: 2 (n-1) rounds, in each every member sends to the
 * next, n messages a round in the order of senders.  Shares differ by at most one byte and sum to
 * the tensor; with fewer bytes than members some are empty and only keep the order.  The messages
 * of a ring depend on the members alone: asked again for as many, `out` gets new sizes only, and
 * for the same tensor size nothing is done. */
ss_status ss_collective_ring(uint32_t members, int64_t bytes, ss_messages *out, ss_error *err);

/* Binary tree in one chunk.  Messages that add are the first half. */
ss_status ss_collective_tree(uint32_t members, int64_t bytes, ss_messages *out, ss_error *err);

/* machine[i] of each member (0: alone).  Messages that add are the first half. */
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
