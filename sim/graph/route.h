/* route.h - which links a transfer crosses.
 *
 * Static shortest paths: least sum of link weights, then least sum of latencies (in whole picoseconds,
 * so that the order of adding decides nothing), then the links with the lowest ids, compared hop by
 * hop from the source.  Only switches and devices that forward are passed through; a route that the
 * topology was given goes before the shortest one.
 *
 * A search from a device is done when first asked for, goes no further than it has to, and is taken
 * up again for the next target; a switch with ten thousand devices costs no more than one with ten.
 * Only routes that were asked for are kept, so memory grows with use, not with pairs.
 */
#ifndef SS_ROUTE_H
#define SS_ROUTE_H

#include <stdint.h>

#include "base/status.h"
#include "graph/ids.h"
#include "graph/topology.h"

typedef struct ss_routes ss_routes;

/* The topology must outlive the routes and not change under them. */
ss_status ss_routes_new(const ss_topology *t, ss_routes **out, ss_error *err);
void ss_routes_free(ss_routes *r);

/* *out is 0 if the two are the same device. Fails if `to` cannot be reached, naming both and a device
 * in between that does not forward, if that is what is in the way. */
ss_status ss_routes_find(ss_routes *r, ss_device from, ss_device to, ss_route *out, ss_error *err);

uint32_t ss_routes_count(const ss_routes *r);                /* routes kept so far: ids 1 .. n */
/* Stays where it is until ss_routes_free. */
const ss_link *ss_route_links(const ss_routes *r, ss_route route, uint32_t *n);
double ss_route_bytes_per_s(const ss_routes *r, ss_route route); /* of its narrowest link */
double ss_route_latency_s(const ss_routes *r, ss_route route);   /* sum over its links */

#endif
