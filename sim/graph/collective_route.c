#include "graph/collective_route.h"

#include <math.h>

ss_status ss_collective_way(const ss_collective *c, const ss_party *p, const ss_message *m,
                            const ss_link **link, uint32_t *links, ss_error *err)
{
    if (c->algorithm == SS_IN_NETWORK) {
        const ss_reduction_tree *t = c->tree;
        *links = 1;
        *link =
            t->parent[m->from] == m->to && m->from != t->root ? &t->up[m->from] : &t->down[m->to];
        return SS_OK;
    }
    ss_route route;
    ss_status s = ss_routes_find(p->routes, p->device[m->from], p->device[m->to], &route, err);
    if (!s)
        *link = ss_route_links(p->routes, route, links);
    return s;
}

static bool same_machine(const ss_collective *c, uint32_t a, uint32_t b)
{
    return c->machine && c->machine[a] && c->machine[a] == c->machine[b];
}

static ss_status widen(const ss_collective *c, const ss_party *p, uint32_t from, uint32_t to,
                       ss_wire *inside, ss_wire *across, ss_error *err)
{
    ss_route route;
    ss_status s = ss_routes_find(p->routes, p->device[from], p->device[to], &route, err);
    if (s)
        return s;
    ss_wire *x = same_machine(c, from, to) ? inside : across;
    x->latency_s = fmax(x->latency_s, ss_route_latency_s(p->routes, route));
    x->bytes_per_s = fmin(x->bytes_per_s, ss_route_bytes_per_s(p->routes, route));
    return SS_OK;
}

ss_status ss_collective_wires(const ss_collective *c, const ss_party *p, const ss_messages *m,
                              ss_wire *inside, ss_wire *across, ss_error *err)
{
    bool ring = m->n && (c->algorithm == SS_RING || c->algorithm == SS_BIDIRECTIONAL_RING);
    uint32_t looked = m->n;
    if (ring && c->algorithm == SS_RING && c->members < m->n)
        looked = c->members; /* all rounds are alike */
    ss_status s = SS_OK;
    *inside = *across = (ss_wire){0, INFINITY};
    for (uint32_t i = 1; i <= looked && c->algorithm != SS_IN_NETWORK && !s; i++)
        s = widen(c, p, m->row[i].from, m->row[i].to, inside, across, err);
    return s;
}
