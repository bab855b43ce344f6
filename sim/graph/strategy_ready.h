/* strategy_ready.h - for the ready-made strategies: filling what is not pinned.
 *
 * A recipe says which degrees it wants and where parts go; ss_strategy_fill brings that together
 * with the pins and the bounds, gets all the memory, and then changes the strategy, all of it or
 * nothing.
 */
#ifndef SS_STRATEGY_READY_H
#define SS_STRATEGY_READY_H

#include "graph/strategy.h"

typedef struct ss_recipe ss_recipe;
struct ss_recipe {
    const ss_strategy *strategy;
    void *context;
    /* `degree` has the pinned degrees, and 1 where `open`; the recipe writes the open ones.  They
     * are cut down to the limits afterwards, and to SS_MAX_PARTS. NULL: nothing is cut. */
    void (*degrees)(const ss_recipe *r, ss_op op, const bool *open, uint32_t *degree);
    ss_device (*device)(const ss_recipe *r, ss_op op, const uint32_t *degree, uint32_t part);
};

ss_status ss_strategy_fill(ss_strategy *s, const ss_recipe *r, ss_error *err);

/* Which of the cuts along `dim` a part is, from 0. */
uint32_t ss_part_index(const uint32_t *degree, uint32_t dim, uint32_t part);
/* The first dimension of a class, or SS_MAX_DIMS. */
uint32_t ss_first_dim(const ss_op_def *def, ss_dim_class cls);
uint32_t ss_degree_product(const uint32_t *degree); /* SS_MAX_PARTS + 1 if it passes that */

#endif
