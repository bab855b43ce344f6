/* collective_parts.h - for collective*.c: building a list of messages, and the algorithms' functions. */
#ifndef SS_COLLECTIVE_PARTS_H
#define SS_COLLECTIVE_PARTS_H

#include "graph/collective.h"

/* Empties the list and makes room; the rest cannot fail. Refuses no members and bytes below 0. */
ss_status ss_messages_start(ss_messages *m, uint32_t members, int64_t bytes, uint64_t messages,
                            uint64_t afters, ss_error *err);
ss_message *ss_messages_add(ss_messages *m, uint32_t from, uint32_t to, int64_t offset,
                            int64_t bytes, bool adds);
void ss_messages_after(ss_messages *m, uint32_t row); /* of the message added last */

/* Share k of n of a run of bytes: the first (bytes mod n) have one byte more. */
typedef struct ss_share {
    int64_t offset, bytes;
} ss_share;
ss_share ss_share_of(ss_share whole, uint32_t n, uint32_t k);
double ss_largest_share(int64_t bytes, uint32_t n);

/* Rounds: in each, members send what they had before it.  A message waits for the sender's last one, for
 * what the sender heard last, and for what the receiver did: three rows at most. */
typedef struct ss_rounds {
    ss_messages *m;
    uint32_t members;
    uint32_t *sent, *heard;         /* by member: rows before this round, 0: none */
    uint32_t *sent_now, *heard_now; /* and with it */
    uint32_t round;                 /* from 1 */
} ss_rounds;
ss_status ss_rounds_start(ss_rounds *r, ss_messages *m, uint32_t members, ss_error *err);
ss_message *ss_rounds_send(ss_rounds *r, uint32_t from, uint32_t to, ss_share what, bool adds);
void ss_rounds_next(ss_rounds *r);
void ss_rounds_mark_last(ss_rounds *r); /* what each member heard last is part of its result */
void ss_rounds_free(ss_rounds *r);

/* A tree with vertices 0 .. n-1, of which those from `members` on have no data of their own.  order NULL:
 * 0 .. n-1, parents before children. */
typedef struct ss_pipe_tree {
    uint32_t members, n;
    const uint32_t *parent, *order;
    ss_share what;
    bool up, down; /* adds towards the root, and then carries from it */
} ss_pipe_tree;
/* Trees side by side, in chunks that follow each other on each branch. */
ss_status ss_pipe_trees(const ss_pipe_tree *tree, uint32_t trees, uint32_t chunks, ss_messages *out,
                        ss_error *err);

uint32_t ss_collective_next_chunks(uint32_t k); /* that are tried: 1, 2, 3, 4, 6, 8, 12, ... */

/* The last member before i on i's machine, or i if it is the first, or alone. */
uint32_t ss_mate_before(const uint32_t *machine, uint32_t i);

static inline ss_wire ss_worse_wire(ss_wire a, ss_wire b)
{
    return (ss_wire){a.latency_s > b.latency_s ? a.latency_s : b.latency_s,
                     a.bytes_per_s < b.bytes_per_s ? a.bytes_per_s : b.bytes_per_s};
}

/* Steps of an algorithm: rows of a list, order[first[k]] .. order[first[k + 1] - 1] in step k, which is
 * done times[k] times. */
typedef struct ss_steps {
    ss_messages list;
    uint32_t *order, *first;
    double *times;
    uint32_t steps, cap, row_cap;
    bool streams; /* what goes at one time is of several chains that do not wait for each other */
} ss_steps;       /* {0} */
void ss_steps_free(ss_steps *x);
ss_status ss_steps_reserve(ss_steps *x, uint32_t steps, uint32_t rows, ss_error *err);
/* What was added to the list since the step before is a step, in the room that was made. */
void ss_steps_end(ss_steps *x, double times);
/* Of algorithms that do the same again and again, each of these once, the largest shares; *made says
 * whether it is such a one.  The list does not say what waits for what. */
ss_status ss_collective_steps(const ss_collective *c, ss_steps *out, bool *made, ss_error *err);
ss_status ss_steps_of_ring(const ss_collective *c, ss_steps *out, ss_error *err);
ss_status ss_steps_of_hierarchical(const ss_collective *c, ss_steps *out, ss_error *err);

/* One of each algorithm, and its closed form. */
typedef ss_status ss_collective_make(const ss_collective *c, ss_messages *out, ss_error *err);
typedef double ss_collective_form(const ss_collective *c, ss_wire inside, ss_wire across);
ss_collective_make ss_make_ring, ss_make_bidirectional_ring, ss_make_tree, ss_make_double_tree,
    ss_make_binomial, ss_make_chain, ss_make_halving, ss_make_two_level, ss_make_hierarchical,
    ss_make_in_network, ss_make_pairwise, ss_make_direct;
ss_collective_form ss_form_ring, ss_form_bidirectional_ring, ss_form_tree, ss_form_double_tree,
    ss_form_binomial, ss_form_chain, ss_form_halving, ss_form_two_level, ss_form_hierarchical,
    ss_form_in_network, ss_form_pairwise, ss_form_direct;

#endif
