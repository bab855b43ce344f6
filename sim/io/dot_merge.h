/* dot_merge.h - which tasks of a step become one node of a drawing.
 *
 * Tasks are put into classes, by levels that get coarser (dot.h).  The coarsest level needed is
 * applied to the classes of the level below one by one, those that are active for the shortest time
 * first, until the nodes are few enough; so the limit is nearly reached, and what takes long stays
 * apart.
 *
 * What is merged never closes a circle of arrows.  A class whose merging would is cut into stages:
 * the stage of a task is how many changes of class the longest way to it has, within the classes
 * that are on a circle together.  Stages never fall along an arrow and rise where the class changes,
 * so nothing leads back.  This is linear in tasks and edges, and asks for no search for paths.
 */
#ifndef SS_DOT_MERGE_H
#define SS_DOT_MERGE_H

#include "io/dot.h"

typedef struct ss_dot_nodes {
    uint32_t *node_of; /* [tasks + 1]: 1 .. nodes, by the lowest task in each */
    uint32_t nodes;
    ss_dot_merging merging; /* of all tasks */
    ss_dot_merging beyond;  /* of the least active of them; equal to `merging`: of none */
} ss_dot_nodes;             /* {0}; node_of is to be freed */

/* At most max_nodes, which is 1 or more. */
ss_status ss_dot_merge(const ss_view *v, uint32_t max_nodes, ss_dot_nodes *out, ss_error *err);

/* Is `b` the name `a` but for the numbers in it? */
bool ss_dot_same_but_numbers(const char *a, const char *b);

/* What a task and its messages are a part of: "forward", "update"; "work" where nothing is known. */
const char *ss_dot_phase(const ss_view_task *t);

#endif
