/* collective_price.h - what a collective takes on the links that its own messages cross.
 *
 * The forms of collective.h know a latency and a bandwidth of a message.  Messages that go far, and
 * several that cross one link at a time, take longer: a partner half way round a ring is many links
 * away, and on each of them are those of others.  So an algorithm is priced by its steps.  A step is
 * what goes at one time, each message's number being one more than the largest of those that it waits
 * for; it takes the longest latency of its messages and the most time that they take together on one
 * link (of shared links: bytes over bandwidth; of exclusive ones: what messages hold them).  Steps
 * follow each other.  Of k chunks, step i of chunk c goes with step i + 1 of chunk c - 1.
 *
 * Where no step has messages that meet, this is the form of collective.h for the largest latency and
 * the least bandwidth of each step.  Where they meet on shared links it is what those take, as far as
 * members wait for each other.  It is an estimate where members run ahead of a step, and of messages
 * that hold several links at once and block each other on them (fifo-path).
 *
 * Laws of links (link_law.h), staging, segments and the limit of a flow count as the options say; the
 * weights of routes do not.
 */
#ifndef SS_COLLECTIVE_PRICE_H
#define SS_COLLECTIVE_PRICE_H

#include "graph/collective_route.h"
#include "graph/lower.h"

typedef struct ss_price {
    double latency_s, transfer_s; /* the sum is what it takes */
} ss_price;

typedef struct ss_pricer ss_pricer; /* working memory, and what was found of the last members */

ss_status ss_pricer_new(ss_pricer **out, ss_error *err);
void ss_pricer_free(ss_pricer *w);

/* c->chunks as they are; 0 is 1.  Of no bytes, or one member, nothing. */
ss_status ss_price_collective(ss_pricer *w, const ss_collective *c, const ss_party *p,
                              const ss_lower_options *o, ss_price *out, ss_error *err);

/* Sets c->chunks, where they are 0, to those of 1, 2, 3, 4, 6, 8, 12 .. 256 whose price is least; of
 * equal ones the fewest.  1 where the algorithm does not look at them. */
ss_status ss_price_chunks(ss_pricer *w, ss_collective *c, const ss_party *p,
                          const ss_lower_options *o, ss_price *out, ss_error *err);

/* Sets algorithm and, where chunks are 0, chunks to those whose price is least, as a communication
 * library chooses by size, members and links.  Considered are the algorithms that need nothing of the
 * network: of all_reduce ring, double_tree, halving_doubling and hierarchical (where several machines
 * have several members); of others all.  Of equal ones the first in the enum. */
ss_status ss_price_choose(ss_pricer *w, ss_collective *c, const ss_party *p,
                          const ss_lower_options *o, ss_price *out, ss_error *err);
/* The same for one collective of many: where prices are straight lines in bytes (no laws, no segments)
 * they are found for even shares and kept for others of these members, until they are to be forgotten:
 * with another topology, other routes or options.  What is chosen is a function of what is asked, not of
 * the calls before. */
ss_status ss_price_choose_again(ss_pricer *w, ss_collective *c, const ss_party *p,
                                const ss_lower_options *o, ss_error *err);
void ss_pricer_forget(ss_pricer *w);

#endif
