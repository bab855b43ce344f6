/* collective_route.h - the messages of a collective on the links of a topology. */
#ifndef SS_COLLECTIVE_ROUTE_H
#define SS_COLLECTIVE_ROUTE_H

#include "graph/collective.h"
#include "graph/route.h"
#include "graph/topology.h"

/* Whose devices, over what. */
typedef struct ss_party {
    const ss_topology *topology;
    ss_routes *routes;
    const ss_device *device; /* [members] */
} ss_party;

/* The links that a message crosses, in order: the route between its devices, or in the network the one
 * link between two vertices of the tree.  They stay where they are as long as routes and tree do. */
ss_status ss_collective_way(const ss_collective *c, const ss_party *p, const ss_message *m,
                            const ss_link **link, uint32_t *links, ss_error *err);

/* What the closed form wants to know: the largest latency and the least bandwidth of the messages inside
 * machines, and of those across; {0, INFINITY} where there are none.  Of members of machine 0 all are
 * across.  In the network neither counts, and both are that. */
ss_status ss_collective_wires(const ss_collective *c, const ss_party *p, const ss_messages *m,
                              ss_wire *inside, ss_wire *across, ss_error *err);
#endif
