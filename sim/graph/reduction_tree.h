/* reduction_tree.h - the tree of switches that add up gradients on their way, as SHARP's do.
 *
 * The routes of all members to the first one are followed, one member after the other, each until it meets
 * what an earlier one laid: a tree whatever the routing, of the members as leaves and the switches on
 * their ways.  Its root is the switch in the middle: half way between the two members that are furthest
 * from each other in links (of several the first), and if there are two such switches the one nearer to the
 * second of them.  Every switch sends what
 * it added up over one link towards the root, and what comes back over the other direction of that cable.
 *
 * A device in between adds nothing up, so members that reach each other without a switch, or through
 * devices that forward, are refused.
 * (Graham et al., "Scalable Hierarchical Aggregation Protocol", COMHPC 2016, builds trees likewise from
 * what a subnet manager knows, not from routes.)
 */
#ifndef SS_REDUCTION_TREE_H
#define SS_REDUCTION_TREE_H

#include <stdint.h>

#include "base/status.h"
#include "graph/ids.h"
#include "graph/route.h"
#include "graph/topology.h"

/* By vertex: 0 .. members-1 are the members, in their order; then switches. */
typedef struct ss_reduction_tree {
    uint32_t members, n;
    uint32_t root;
    uint32_t *parent;   /* the root's is itself */
    uint32_t *order;    /* all vertices, the root first and parents before their children */
    ss_link *up, *down; /* between a vertex and its parent; 0 of the root */
    double *up_latency_s, *up_bytes_per_s, *down_latency_s, *down_bytes_per_s; /* of those links */
    ss_node *node;
    uint32_t cap;
} ss_reduction_tree; /* {0}; may be made again and again */

/* Two members at least, none twice. */
ss_status ss_reduction_tree_make(const ss_topology *t, ss_routes *r, const ss_device *device,
                                 uint32_t members, ss_reduction_tree *out, ss_error *err);
void ss_reduction_tree_free(ss_reduction_tree *t);

#endif
