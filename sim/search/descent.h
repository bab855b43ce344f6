/* descent.h - every change of one operator that a search may still make at its end.
 *
 * The list of candidates is fixed for a space: for each operator that may change, every configuration
 * that block and pow2 can draw (where the space has these moves, or free, which draws all of these),
 * and those of place and list where it has these.  It is gone through in order, again and again, each
 * better one being taken, until a whole round found none.  So where a descent stands follows from how
 * many steps it has made, and a resume needs to know no more.
 */
#ifndef SS_DESCENT_H
#define SS_DESCENT_H

#include "search/space.h"

typedef struct ss_descent {
    const ss_space *space;
    uint64_t candidates;
    ss_op *op; /* [runs] candidates of one operator by one move, one after the other */
    ss_move *move;
    uint64_t *first; /* [runs + 1] */
    uint32_t runs, cap;
    bool has_block;
    uint32_t max_parts; /* of block */
} ss_descent;           /* {0} */

/* The space must outlive it.  Refuses 2^63 candidates. */
ss_status ss_descent_list(const ss_space *space, const ss_strategy *s, const ss_space_options *o,
                          ss_descent *out, ss_error *err);
void ss_descent_free(ss_descent *d);

/* A candidate, from 0, into choice[0] of the proposal; n = 0: it stands in the list twice, and the
 * other one is tried. */
ss_status ss_descent_candidate(const ss_descent *d, uint64_t number, ss_proposal *out,
                               ss_error *err);

#endif
