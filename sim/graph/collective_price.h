/* collective_price.h - what a collective takes on the links that its own messages cross.
 *
 * The forms of collective.h know a latency and a bandwidth of a message.  Messages that go far, and
 * several that cross one link at a time, take longer: a partner half way round a ring is many links
 * away, and on each of them are those of others.  So an algorithm is priced by its steps.  A step is
 * what goes at one time, each message's number being one more than the largest of those that it waits
 * for; it takes the longest latency of its messages and the most time that they take together on one
 * link (of shared links: bytes over bandwidth; of exclusive ones: what messages hold them).  Steps
 * follow each other; but where links are crossed one after the other (fifo-hop, fifo-pipe) who was first in a
 * queue goes on while the others are under way, so that waiting in queues is paid in one step, the worst, and
 * the others take what a message does alone or the busiest link is held.  Of k chunks, step i of chunk c goes
 * with step i + 1 of chunk c - 1.
 *
 * Where no step has messages that meet, this is the form of collective.h for the largest latency and
 * the least bandwidth of each step.  Where they meet on shared links it is what those take, as far as
 * members wait for each other.  It is an estimate where members run ahead of a step, and of messages
 * that hold several links at once and block each other on them (fifo-path).  There it is too much for tree and
 * two_level: what leaves one port at a step does so one after the other, and whoever hears first goes on; their
 * form is right (of 8 members in 2 machines by two_level 8 messages, by the price 11).
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

static inline double ss_price_seconds(ss_price p)
{
    return p.latency_s + p.transfer_s;
}

typedef struct ss_pricer ss_pricer; /* working memory */

ss_status ss_pricer_new(ss_pricer **out, ss_error *err);
void ss_pricer_free(ss_pricer *w);

/* As one task is priced: its messages are not cut, cross their links at once, and share those on which they
 * meet. */
ss_lower_options ss_options_at_once(const ss_lower_options *o);

/* c->chunks as they are; 0 is 1.  Of no bytes, or one member, nothing. */
ss_status ss_price_collective(ss_pricer *w, const ss_collective *c, const ss_party *p,
                              const ss_lower_options *o, ss_price *out, ss_error *err);

/* Sets c->chunks, where they are 0, to those of 1, 2, 3, 4, 6, 8, 12 .. 256 whose price is least; of
 * equal ones the fewest.  1 where the algorithm does not look at them. */
ss_status ss_price_chunks(ss_pricer *w, ss_collective *c, const ss_party *p,
                          const ss_lower_options *o, ss_price *out, ss_error *err);

/* The price of each number of chunks that ss_price_chunks looks at, in that order: of c->chunks alone, where
 * they are not 0.  out: [SS_MOST_PRICED].  Where a collective is one task (options.aggregate), the price is by
 * ss_options_at_once, and `form` is what the form has for the worst of its wires: it takes the larger. */
enum { SS_MOST_PRICED = 16 };
typedef struct ss_priced {
    uint32_t chunks;
    ss_price price, form; /* form: {0, 0} of one that is no one task */
} ss_priced;
ss_status ss_price_by_chunks(ss_pricer *w, const ss_collective *c, const ss_party *p,
                             const ss_lower_options *o, ss_priced *out, uint32_t *n, ss_error *err);

#endif
