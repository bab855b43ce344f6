/* collective_choose.h - the algorithm and chunks whose price is least.
 *
 * As a communication library chooses by size, members and links.  Considered are the algorithms that need
 * nothing of the network: of all_reduce ring, double_tree, halving_doubling and hierarchical (where several
 * machines have several members); of others all.  Chunks are considered where they are 0.  Of equal prices
 * the first in the enum counts, and the fewest chunks.  Of a collective that is one task (options.aggregate)
 * the price is what that task takes: of links that are shared, or the form if that is more.
 */
#ifndef SS_COLLECTIVE_CHOOSE_H
#define SS_COLLECTIVE_CHOOSE_H

#include "graph/collective_price.h"

/* Sets c->algorithm and c->chunks; *out is their price. */
ss_status ss_choose_collective(ss_pricer *w, ss_collective *c, const ss_party *p,
                               const ss_lower_options *o, ss_price *out, ss_error *err);

/* The same for one collective of many.  Where prices are straight lines in bytes (no laws, no segments) they
 * are found for even shares, and serve all sizes.  What is found of some members is kept with p->routes,
 * for those who ask of the same ones by the same options; it is forgotten when the routes are, which a
 * topology that changes makes useless too.  What is chosen is a function of what is asked, not of the
 * calls before. */
ss_status ss_choose_collective_again(ss_collective *c, const ss_party *p, const ss_lower_options *o,
                                     ss_error *err);

#endif
