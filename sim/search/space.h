/* space.h - which configurations a search may give an operator, and how a proposal draws one.
 *
 * A move draws a configuration for one operator, independently of the one it has:
 *   free   degrees uniform among all vectors that the rules allow with at most max_parts parts
 *          (uneven ones too), then any device for each part: FlexFlow (MLSys 2019) section 6.2
 *   block  degrees as above, no more parts than devices, in order on devices that follow each
 *          other: first, first + 1, ... without wrapping; first uniform
 *   pow2   degrees uniform among powers of two with no more parts than devices, in order on devices
 *          first, first + stride, ..., the stride a power of two; uniform over the pairs that stay
 *          within the devices (one part: over the devices): the machine views of the later
 *          open-source releases
 *   place  one part, any device: the space of placement by reinforcement learning
 *   list   one of the configurations that the user gave for the operator; given twice counts once
 * Several moves may be mixed by weights; a move that offers an operator nothing (block for an
 * operator with more parts pinned than there are devices) is left out for that operator.  What is
 * drawn is an independence proposal: the Hastings factor of a change from a to b is q(a) / q(b), q
 * being the density of the mixture.  Where a has none (a start from outside of the space) the factor
 * counts as 1: such states are left and never come back.
 *
 * On top of that a proposal may change more than one operator:
 *   group      all operators that share the operator's weights, its limits and its pins get the one
 *              configuration that was drawn.  With Hastings on this is only proposed where they all
 *              have one configuration already, else it has no way back
 *   neighbour  the operator's present configuration is copied along a random walk over operators
 *              that can take it, each edge chosen by the bytes of its tensor, none visited twice,
 *              each step with chance 3/4 of a further one (the "propagation" of later releases).
 *              It has no way back: refused with Hastings on
 *
 * Pins (strategy.h) are kept: a pinned operator is never proposed, a pinned degree not varied, and
 * where devices are pinned a move varies the degrees alone, at the same number of parts.  Where what
 * is pinned makes more than max_parts, free leaves the other dimensions whole.
 */
#ifndef SS_SPACE_H
#define SS_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"
#include "graph/strategy.h"

typedef enum ss_move {
    SS_MOVE_FREE,
    SS_MOVE_BLOCK,
    SS_MOVE_POW2,
    SS_MOVE_PLACE,
    SS_MOVE_LIST,
    SS_MOVES
} ss_move;

const char *ss_move_name(ss_move m); /* "free" */

/* How a proposal came about.  The first three are ss_space_propose's; the others a searcher makes
 * (search.h): a new configuration for every operator, and a step of the descent at a chain's end. */
typedef enum ss_reach {
    SS_REACH_ONE,
    SS_REACH_GROUP,
    SS_REACH_NEIGHBOUR,
    SS_REACH_ALL,
    SS_REACH_DESCENT,
    SS_REACHES
} ss_reach;

const char *ss_reach_name(ss_reach r); /* "one", "group", "neighbour", "all", "descent" */

/* A configuration for one operator; the list of devices belongs to whoever made it. */
typedef struct ss_choice {
    ss_op op;
    ss_config config;
} ss_choice;

typedef struct ss_space_options {
    double weight[SS_MOVES]; /* of each move in the mixture, at least one above 0 */
    double group, neighbour; /* chance that a proposal is of this reach, together below 1 */
    uint32_t max_parts;      /* of free and block; 0: as many as there are devices */
    bool hastings;           /* see above: what has no way back is not proposed */
    const ss_choice *list;   /* of SS_MOVE_LIST: [lists], copied */
    uint32_t lists;
} ss_space_options;

/* free, block and pow2 equally; no group or neighbour moves; Hastings off. */
ss_space_options ss_space_options_start(void);

typedef struct ss_space ss_space;

/* The strategy gives model, topology and pins, and what an operator is left with that has no other
 * configuration; it is not kept, model and topology must outlive the space.  Refuses a space in which no operator has a choice, and lists that break a rule. */
ss_status ss_space_new(const ss_strategy *pinned, const ss_space_options *o, ss_space **out,
                       ss_error *err);
void ss_space_free(ss_space *s);

typedef struct ss_proposal {
    ss_reach reach;
    ss_move move;        /* which drew the configuration; SS_MOVES where none did */
    ss_choice *choice;   /* [n], operators ascending, those alone that change (unless same) */
    uint32_t n, cap;     /* 0: nothing to be proposed (a group or a walk that leads nowhere) */
    double log_hastings; /* log of q(old) / q(new); 0 with Hastings off */
    bool same;           /* the operators have that configuration already */
} ss_proposal;           /* {0}; may be filled again and again */

void ss_proposal_free(ss_proposal *p);
/* Room for so many choices in all, whose configurations are {0} or in use; n stays. */
ss_status ss_proposal_reserve(ss_proposal *p, uint32_t n, ss_error *err);

/* Uniform over the operators that have a choice, then as above.  Reads `now`, changes nothing; `now`
 * has the pins that the space was made with.  Fails for want of memory alone. */
ss_status ss_space_propose(const ss_space *s, const ss_strategy *now, ss_rng *rng, ss_proposal *out,
                           ss_error *err);

/* One operator's configuration drawn from the mixture, and the move that drew it.  `out` may be
 * drawn into again and again; its list of devices is the caller's.  An operator without a choice has
 * the one that there is; refuses one that no move offers any (which is not movable either). */
ss_status ss_space_draw(const ss_space *s, ss_op op, ss_rng *rng, ss_move *move, ss_config *out,
                        ss_error *err);

/* log q of a configuration of the mixture, for one operator; -INFINITY outside of the space. */
double ss_space_log_density(const ss_space *s, ss_op op, const ss_config *c);

/* All different configurations of one operator that a move can draw (whatever its weight), numbered
 * from 0, in an order that depends on nothing else: the number of parts, then the degrees, then the
 * devices.  UINT64_MAX: that many or more (of free).  nth refuses numbers that are not there. */
uint64_t ss_space_count(const ss_space *s, ss_move move, ss_op op);
ss_status ss_space_nth(const ss_space *s, ss_move move, ss_op op, uint64_t nth, ss_config *out,
                       ss_error *err);

bool ss_space_movable(const ss_space *s, ss_op op); /* whether the operator has a choice */

#endif
