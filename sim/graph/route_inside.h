/* route_inside.h - for route*.c alone.
 *
 * Nodes get places: first the core (nodes that are passed through and join at least two others that
 * are), then the edge (passed through, but on the way to devices only: a machine's crossbar, a network
 * adapter; it hangs on one core node or on none), then the devices that are not passed through.
 * Searches walk the core alone.  A place beyond the core costs nothing but its links.
 */
#ifndef SS_ROUTE_INSIDE_H
#define SS_ROUTE_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "graph/topology.h"

/* One way across a link, between places. */
typedef struct ss_arc {
    uint32_t tail, head, link;
} ss_arc;

/* Arcs in rows by one of their ends: those of place p are at first[p] .. first[p + 1] - 1. */
typedef struct ss_arc_rows {
    uint32_t *first;
    ss_arc *arc;
} ss_arc_rows;

typedef struct ss_way_cost {
    uint64_t weight, latency; /* picoseconds */
} ss_way_cost;

typedef struct ss_ways {
    const ss_topology *t;
    uint32_t core, through, nodes; /* places 1 .. core, .. through, .. nodes */
    uint32_t *place;               /* by node */
    uint32_t *hangs_on;            /* by place, of the edge: its core node; else 0 */
    ss_way_cost *cost;             /* by link */
    ss_arc_rows out;  /* by tail, then head, then link; heads that are passed through */
    ss_arc_rows into; /* by head, then tail, then link */
} ss_ways;            /* {0} is none */

ss_status ss_ways_open(ss_ways *w, const ss_topology *t, ss_error *err);
void ss_ways_close(ss_ways *w);

/* The first arc of a row, by tail or by head, whose other end is `other` or beyond. */
uint32_t ss_ways_first(const ss_arc_rows *rows, uint32_t place, uint32_t other, bool by_head);

/* Latencies that sum beyond 2^64 are all equal. */
static inline ss_way_cost ss_way_sum(ss_way_cost a, ss_way_cost b)
{
    ss_way_cost c = {a.weight + b.weight, a.latency + b.latency};
    if (c.latency < a.latency)
        c.latency = UINT64_MAX;
    return c;
}

static inline int ss_way_compare(ss_way_cost a, ss_way_cost b)
{
    if (a.weight != b.weight)
        return a.weight < b.weight ? -1 : 1;
    return (a.latency > b.latency) - (a.latency < b.latency);
}

/* No way: no sum of weights reaches it. */
static const ss_way_cost ss_no_way = {UINT64_MAX, UINT64_MAX};

/* Arcs sorted by one end; `list` keeps its order within a row. */
ss_status ss_arcs_sort(const ss_arc *list, uint32_t n, uint32_t nodes, bool by_head,
                       ss_arc_rows *out, ss_error *err);
void ss_arc_rows_free(ss_arc_rows *rows);

/* --- searches: least costs over the core to one place or one device --------------------------- */

typedef struct ss_searches ss_searches;

/* Where a search begins: a core place, at a cost. */
typedef struct ss_way_seed {
    uint32_t place;
    ss_way_cost cost;
} ss_way_seed;

typedef struct ss_way_search ss_way_search;

ss_status ss_searches_open(const ss_ways *w, uint32_t keys, ss_searches **out, ss_error *err);
void ss_searches_close(ss_searches *s);
/* The search kept under `key` (1 .. keys), or a new one from the seeds. */
ss_status ss_search_get(ss_searches *s, uint32_t key, const ss_way_seed *seed, uint32_t seeds,
                        ss_way_search **out, ss_error *err);
/* Goes on until the place is settled or everything within `most` of weight is. */
void ss_search_settle(const ss_ways *w, ss_way_search *s, uint32_t place, uint64_t most);
ss_way_cost ss_search_cost(const ss_way_search *s, uint32_t place); /* ss_no_way: not settled */

/* --- the sentence for a pair without a route --------------------------------------------------- */

ss_status ss_route_unreachable(const ss_topology *t, ss_device from, ss_device to, ss_error *err);

#endif
