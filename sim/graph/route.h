/* route.h - which links a transfer crosses.
 *
 * A route that the topology was given goes first.  Any other is a shortest path: least sum of link
 * weights, then least sum of latencies (in whole picoseconds, so that the order of adding decides
 * nothing).  Only switches and devices that forward are passed through, and no link that failed.
 * Where several links begin a shortest path to the target, the topology's routing chooses, hop by
 * hop from the source:
 *
 *   shortest   the lowest link: the path whose links, compared hop by hop, are lowest
 *   ecmp       the link for which ss_route_draw(seed, source, target, link) is greatest, and of equal
 *              ones the lowest: equal-cost multi-path by a fixed hash.  Every link is drawn for anew,
 *              so switches do not all choose alike, and a link that fails moves only the routes that
 *              crossed it (highest random weight: Thaler and Ravishankar, IEEE/ACM Transactions on
 *              Networking 6(1), 1998).
 *
 * Both are functions of the topology and the pair, whatever was asked before.
 *
 * A search begins at the target, when a route to it is first asked for, goes no further than it has
 * to, and is taken up again for the next source.  Devices behind one switch share a search, and
 * switches that lead nowhere else (a machine's NVSwitch, a network adapter) are not searched at all.
 * Only routes that were asked for are kept, and of searches no more than the links are worth: memory
 * grows with links and use, not with pairs.
 */
#ifndef SS_ROUTE_H
#define SS_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "graph/ids.h"
#include "graph/topology.h"

typedef struct ss_routes ss_routes;

/* The topology must outlive the routes and not change under them. */
ss_status ss_routes_new(const ss_topology *t, ss_routes **out, ss_error *err);
void ss_routes_free(ss_routes *r);
bool ss_routes_hold(const ss_routes *r); /* the topology is as it was when they were made */

/* *out is 0 if the two are the same device.  Fails if `to` cannot be reached, naming both and what
 * is in the way: the links and switches that failed, or a device that does not forward; and if the
 * route was given over a link that failed since. */
ss_status ss_routes_find(ss_routes *r, ss_device from, ss_device to, ss_route *out, ss_error *err);

uint32_t ss_routes_count(const ss_routes *r); /* routes kept so far: ids 1 .. n */
/* Stays where it is until ss_routes_free. */
const ss_link *ss_route_links(const ss_routes *r, ss_route route, uint32_t *n);
double ss_route_bytes_per_s(const ss_routes *r, ss_route route); /* of its narrowest link */
double ss_route_latency_s(const ss_routes *r, ss_route route);   /* sum over its links */

/* What somebody found of these routes and keeps for as long as they hold (collective_choose.h): dropped with
 * them.  One who finds `what` NULL may put something there. */
typedef struct ss_routes_kept {
    void *what;
    void (*drop)(void *what);
} ss_routes_kept;
ss_routes_kept *ss_routes_keep(ss_routes *r);

/* What ecmp draws for a link on the way between two devices. */
uint64_t ss_route_draw(uint64_t seed, ss_device from, ss_device to, ss_link link);

#endif
