/* topology_change.c - what may change of links and nodes that are there: routing, figures, failures.
 */
#include "graph/topology_inside.h"

#include <math.h>

#include "base/text.h"

const char *ss_routing_name(ss_routing r)
{
    static const char *const name[] = {"shortest", "ecmp"};
    _Static_assert(sizeof name / sizeof *name == SS_ROUTINGS, "a routing has no name");
    return r < SS_ROUTINGS ? name[r] : "?";
}

void ss_topology_set_routing(ss_topology *t, ss_routing routing, uint64_t seed)
{
    t->routing = routing;
    t->routing_seed = seed;
    t->changes++;
}

static ss_status refuse_missing_link(const ss_topology *t, ss_link link, ss_error *err)
{
    if (link.i < 1 || link.i > t->links)
        return ss_fail(err, SS_EINVAL, "link %u: topology %s has %u link%s", link.i, t->name,
                       t->links, ss_plural(t->links));
    return SS_OK;
}

ss_status ss_topology_set_link(ss_topology *t, ss_link link, const ss_link_def *def, ss_error *err)
{
    ss_status s = refuse_missing_link(t, link, err);
    if (s)
        return s;
    ss_link_row *row = &t->link[link.i];
    const ss_link_law *law = NULL;
    s = ss_topology_refuse_figures(t, row->from, row->to, def, err);
    if (!s)
        s = ss_topology_keep_law(t, def->law, &law, err);
    if (s)
        return s;

    row->def.law = law;
    row->def.bytes_per_s = def->bytes_per_s;
    row->def.latency_s = def->latency_s + 0.0; /* -0 becomes 0, as when it was added */
    row->def.weight = def->weight ? def->weight : 1;
    t->changes++;
    return SS_OK;
}

/* A failure more, or one less. */
static void mark(ss_topology *t, bool *failed, bool now)
{
    if (*failed != now)
        t->failures = now ? t->failures + 1 : t->failures - 1;
    *failed = now;
    t->changes++;
}

ss_status ss_topology_set_link_failed(ss_topology *t, ss_link link, bool failed, ss_error *err)
{
    ss_status s = refuse_missing_link(t, link, err);
    if (!s)
        mark(t, &t->link[link.i].failed, failed);
    return s;
}

ss_status ss_topology_set_node_failed(ss_topology *t, ss_node node, bool failed, ss_error *err)
{
    if (node.i < 1 || node.i > t->nodes)
        return ss_fail(err, SS_EINVAL, "node %u: topology %s has %u node%s", node.i, t->name,
                       t->nodes, ss_plural(t->nodes));
    if (t->node[node.i].device.i)
        return ss_fail(err, SS_EINVAL,
                       "device %s: switches and links can fail; leave a device out of the "
                       "topology, or fail the links that join it",
                       t->node[node.i].name);
    mark(t, &t->node[node.i].failed, failed);
    return SS_OK;
}

bool ss_topology_works(const ss_topology *t, ss_link link)
{
    const ss_link_row *l = &t->link[link.i];
    return !l->failed && !t->node[l->from.i].failed && !t->node[l->to.i].failed;
}

ss_status ss_topology_set_route_flows(ss_topology *t, ss_device from, ss_device to, uint32_t weight,
                                      double limit, ss_error *err)
{
    const ss_given_route *g = ss_topology_given_route(t, from, to);
    const char *a = ss_topology_device_name(t, from), *b = ss_topology_device_name(t, to);
    if (!g)
        return ss_fail(err, SS_EINVAL, "route %s -> %s: it was not given", a, b);
    if (weight < 1 || weight > SS_MAX_WEIGHT)
        return ss_fail(err, SS_EINVAL, "route %s -> %s: weight is %u; it must be from 1 to %d", a,
                       b, weight, SS_MAX_WEIGHT);
    if (!(limit >= 0) || isinf(limit))
        return ss_fail(err, SS_EINVAL,
                       "route %s -> %s: limit is %g B/s; it must be 0 (none) or more", a, b, limit);
    t->given[g - t->given].weight = weight;
    t->given[g - t->given].limit = limit;
    t->changes++;
    return SS_OK;
}

uint32_t ss_topology_flows(const ss_topology *t, ss_device from, ss_device to, double *limit)
{
    const ss_given_route *g = t->givens ? ss_topology_given_route(t, from, to) : NULL;
    if (g && g->limit > 0 && !(*limit > 0 && *limit < g->limit))
        *limit = g->limit;
    return g ? g->weight : 1;
}

ss_status ss_topology_set_stages(ss_topology *t, ss_node node, bool stages, ss_error *err)
{
    if (node.i < 1 || node.i > t->nodes)
        return ss_fail(err, SS_EINVAL, "node %u: topology %s has %u", node.i, t->name, t->nodes);
    t->stagings += stages;
    t->stagings -= t->node[node.i].stages;
    t->node[node.i].stages = stages;
    t->changes++;
    return SS_OK;
}
