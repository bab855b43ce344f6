/* route_naive.h - the slow, obvious twins of graph/route.c: Bellman-Ford that carries whole paths, and
 * a list of every shortest path, from which links are chosen hop by hop as route.h defines it.
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

/* Every shortest path between two different devices; at most `most` are written, all are counted. */
uint32_t naive_all_routes(const ss_topology *t, ss_device from, ss_device to, naive_path *out,
                          uint32_t most);

/* The route that the topology's routing takes of those [n] paths; n is above 0. */
const naive_path *naive_choice(const ss_topology *t, ss_device from, ss_device to,
                               const naive_path *path, uint32_t n);

#endif
