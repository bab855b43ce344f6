/* topology.h - devices, switches and the links between them.
 *
 * Links are directed and have a bandwidth and a latency.  A half-duplex bus is one link that routes
 * cross in either direction, so what goes one way waits for what goes the other.  Several routes
 * may use one link: that is how a shared PCIe switch is told.  Devices have numbers of their own,
 * 1 .. devices, since strategies and Lua lists count devices and never switches.
 *
 * Links and switches that fail stay where they are, with their numbers and figures, and routes go
 * round them (route.h): a failure is a mark that can be taken away again.
 */
#ifndef SS_TOPOLOGY_H
#define SS_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "base/pairs.h"
#include "base/status.h"
#include "graph/ids.h"
#include "graph/link_law.h"
#include "graph/shape.h"

/* What a device can do.  Peaks are data-sheet numbers; cost models say how much is reached. */
typedef struct ss_device_def {
    const char *kind;             /* "p100": keys measured tables and rooflines; NULL: "device" */
    double flop_per_s[SS_DTYPES]; /* 0: this element type is not offered */
    double memory_bytes_per_s;    /* 0: not known; then only given and measured times serve */
    double memory_bytes;          /* capacity; 0: not known, never exceeded */
    uint32_t machine;             /* devices of one machine share a number from 1; 0: alone */
    double speed;                 /* 1: as its kind; 0.5: takes twice as long (a slow device) */
    bool forwards;                /* routes of others may pass through it (ring, torus) */
} ss_device_def;

typedef struct ss_link_def {
    const char *kind; /* "nvlink", "pcie", "ib": for reports and colours; NULL is "link" */
    double bytes_per_s;
    double latency_s;
    bool half_duplex; /* may be crossed from either end */
    uint32_t weight;  /* in the shortest-path sum; 1 unless there is a reason (0 is taken as 1) */
    const ss_link_law
        *law; /* how it falls short of this; NULL: it does not.  The topology copies it */
} ss_link_def;

/* Which of several shortest paths is the route: route.h says how each is told. */
typedef enum ss_routing {
    SS_ROUTING_SHORTEST, /* the one with the lowest links */
    SS_ROUTING_ECMP,     /* any, by a hash of the pair: equal-cost multi-path */
    SS_ROUTINGS
} ss_routing;

typedef struct ss_node_row {
    const char *name;
    ss_device device; /* 0: a switch */
    bool forwards;    /* always true of a switch */
    bool failed;      /* never true of a device */
    bool stages;      /* messages are stored here whole, or segment by segment, before they go on */
} ss_node_row;

typedef struct ss_device_row {
    ss_node node;
    ss_device_def def; /* kind points into the topology */
} ss_device_row;

typedef struct ss_link_row {
    const char *name; /* "a->b", "a--b" for a half-duplex one; "#2" is appended to a second one */
    ss_node from, to;
    ss_link_def def;
    bool failed; /* itself; ss_topology_works also asks for the switches at its ends */
} ss_link_row;

typedef struct ss_given_route {
    ss_device from, to;
    ss_link *link; /* [links], in order */
    uint32_t links;
    uint32_t weight; /* of its flows where links are shared, 1 unless there is a reason */
    double limit;    /* bytes a second that one of them can have there; 0: no limit */
} ss_given_route;

enum { SS_MAX_MACHINE = 1 << 24, SS_MAX_NAME = 200 };
/* So that a count with digits too many is refused at once, and not when the machine has no memory
 * left. */
enum { SS_MAX_DEVICES = 1000000, SS_MAX_SWITCHES = 1000000, SS_MAX_LINKS = 10000000 };

typedef struct ss_topology {
    char *name;
    uint32_t nodes, devices, links; /* rows 1 .. n */
    uint32_t machines;              /* the highest machine number of a device */
    ss_node_row *node;
    ss_device_row *device;
    ss_link_row *link;
    uint32_t node_cap, device_cap, link_cap;
    ss_names names; /* of nodes: the id of a name is the id of its node */
    ss_names link_names, kinds;
    ss_given_route *given; /* routes that the user gave; rows from 0, in the order given */
    uint32_t givens, given_cap;
    ss_pairs given_of; /* devices -> row of given + 1 */
    ss_routing routing;
    uint64_t routing_seed;
    ss_link_law **law; /* [laws] of links */
    uint32_t laws, law_cap;
    uint32_t stagings; /* nodes that stage */
    uint32_t failures; /* links and switches marked as failed */
    uint64_t changes;  /* counts every change, so that what was made of it earlier can tell */
} ss_topology;

/* A name of 1 to SS_MAX_NAME bytes, none of them a control character. */
ss_status ss_topology_new(const char *name, ss_topology **out, ss_error *err);
void ss_topology_free(ss_topology *t);

/* Names are unique over devices and switches, of at most SS_MAX_NAME bytes, none of them a control
 * character. */
ss_status ss_topology_add_device(ss_topology *t, const char *name, const ss_device_def *def,
                                 ss_device *out, ss_error *err);
ss_status ss_topology_add_switch(ss_topology *t, const char *name, ss_node *out, ss_error *err);
ss_status ss_topology_add_link(ss_topology *t, ss_node from, ss_node to, const ss_link_def *def,
                               ss_link *out, ss_error *err);

/* A route that is taken instead of the shortest one.  Refused unless the links lead from `from` to
 * `to` without a gap, cross no link twice and work.  It may pass through devices that do not
 * forward: who gives a route knows that the device in between copies.  If a link of it fails later,
 * the pair is refused when its route is asked for, and not sent another way in silence. */
ss_status ss_topology_add_route(ss_topology *t, ss_device from, ss_device to, const ss_link *link,
                                uint32_t links, ss_error *err);
/* A given route whose flows over shared links have another weight than 1, 1 to SS_MAX_WEIGHT, or a limit
 * of their own (0: none). */
enum { SS_MAX_WEIGHT = 1 << 16 };
ss_status ss_topology_set_route_flows(ss_topology *t, ss_device from, ss_device to, uint32_t weight,
                                      double limit, ss_error *err);
/* Of the flows of a message: the route's weight, and the lesser of its limit and `limit`, 0 being none. */
uint32_t ss_topology_flows(const ss_topology *t, ss_device from, ss_device to, double *limit);
/* Staging through memory, as of copies between devices that go through their host. */
ss_status ss_topology_set_stages(ss_topology *t, ss_node node, bool stages, ss_error *err);

/* The row of `given` for two devices; NULL: none. */
const ss_given_route *ss_topology_given_route(const ss_topology *t, ss_device from, ss_device to);

/* Where a message that crosses its links at once falls into legs, since a node between them stages:
 * counts of links from the beginning of the route, the last of them `links`.  leg: [links]. */
uint32_t ss_topology_legs(const ss_topology *t, ss_node from, const ss_link *link, uint32_t links,
                          uint32_t *leg);

/* Which shortest path is taken; the seed is of the hash, and without meaning for `shortest`. */
void ss_topology_set_routing(ss_topology *t, ss_routing routing, uint64_t seed);
const char *ss_routing_name(ss_routing r); /* "shortest", "ecmp" */

/* Another bandwidth, latency, weight or law of a link; its kind and duplex stay as they are. */
ss_status ss_topology_set_link(ss_topology *t, ss_link link, const ss_link_def *def, ss_error *err);
/* Marks a link, or a switch and with it every link there, those to come too; or takes the mark away.
 * Refused of a device, which would be left to compute alone. */
ss_status ss_topology_set_link_failed(ss_topology *t, ss_link link, bool failed, ss_error *err);
ss_status ss_topology_set_node_failed(ss_topology *t, ss_node node, bool failed, ss_error *err);
bool ss_topology_works(const ss_topology *t, ss_link link); /* neither it nor an end failed */

/* Where a link leads from `at`; 0: it does not begin there. */
ss_node ss_topology_across(const ss_topology *t, ss_link link, ss_node at);

ss_node ss_topology_find(const ss_topology *t, const char *name); /* 0: no such node */
const char *ss_topology_device_name(const ss_topology *t, ss_device d);
uint64_t ss_topology_hash(const ss_topology *t);
ss_status ss_topology_check(const ss_topology *t, ss_error *err); /* invariants, for tests */

#endif
