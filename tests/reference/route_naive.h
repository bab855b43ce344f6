/* route_naive.h - the slow, obvious twin of graph/route.c: Bellman-Ford that carries whole paths.
 */
#ifndef ROUTE_NAIVE_H
#define ROUTE_NAIVE_H

#include <stdint.h>

#include "graph/topology.h"

enum { NAIVE_MAX_LINKS = 64, NAIVE_MAX_NODES = 64 };

typedef struct naive_path {
    int reached;
    uint64_t weight;
    double picoseconds;
    uint32_t n;
    uint32_t link[NAIVE_MAX_LINKS];
} naive_path;

/* The best path from a device to every node, [nodes + 1]. */
void naive_routes(const ss_topology *t, ss_device from, naive_path *out);

#endif
