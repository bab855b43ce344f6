/* topology_inside.h - for topology*.c alone. */
#ifndef SS_TOPOLOGY_INSIDE_H
#define SS_TOPOLOGY_INSIDE_H

#include "graph/topology.h"

/* Bandwidth and latency of a link between two nodes that are there. */
ss_status ss_topology_refuse_figures(const ss_topology *t, ss_node from, ss_node to,
                                     const ss_link_def *def, ss_error *err);

/* The topology's own copy of a law; NULL of none. */
ss_status ss_topology_keep_law(ss_topology *t, const ss_link_law *law, const ss_link_law **out,
                               ss_error *err);

#endif
