#include "graph/collective_route.h"

#include <math.h>

#include "base/array.h"
#include "base/mem.h"

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

ss_status ss_collective_neighbours(const ss_collective *c, const ss_party *p, ss_wire *inside,
                                   ss_wire *across, ss_error *err)
{
    ss_status s = SS_OK;
    *inside = *across = (ss_wire){0, INFINITY};
    for (uint32_t i = 0; i < c->members && c->members > 1 && !s; i++)
        s = widen(c, p, i, (i + 1) % c->members, inside, across, err);
    return s;
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

/* The tasks of a message that has been added: the last ones, which others wait for. */
typedef struct arrival {
    uint32_t first, n;
} arrival;

static ss_device device_of(const ss_collective *c, const ss_party *p, uint32_t vertex)
{
    return vertex < c->members ? p->device[vertex] : (ss_device){0};
}

static ss_status expand(const ss_collective *c, const ss_party *p, const ss_messages *m,
                        int64_t segment_bytes, uint32_t max_segments, ss_tasks *out, arrival *at,
                        ss_task **before, uint32_t *before_cap, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t i = 1; i <= m->n && !s; i++) {
        const ss_message *x = &m->row[i];
        const ss_link *link;
        uint32_t links, n = 0;
        for (uint32_t a = 0; a < x->afters && !s; a++) {
            arrival y = at[m->after[x->first_after + a]];
            s = SS_RESERVE(*before, *before_cap, (size_t)n + y.n, "order of messages", err);
            for (uint32_t k = 0; k < y.n && !s; k++)
                (*before)[n++].i = y.first + k;
        }
        if (!s)
            s = ss_collective_way(c, p, x, &link, &links, err);
        ss_task_label label = {.kind = SS_TASK_TRANSFER,
                               .part = x->from,
                               .to_part = x->to,
                               .from = device_of(c, p, x->from),
                               .to = device_of(c, p, x->to),
                               .turn = i};
        ss_task first;
        if (!s)
            s = ss_tasks_transfer(out, &link->i, links, x->bytes, segment_bytes, max_segments,
                                  &label, *before, n, &first, &at[i].n, err);
        at[i].first = s ? 0 : first.i;
    }
    return s;
}

ss_status ss_collective_expand(const ss_collective *c, const ss_party *p, const ss_messages *m,
                               int64_t segment_bytes, uint32_t max_segments, ss_tasks *out,
                               ss_error *err)
{
    arrival *at = ss_alloc_zeroed((size_t)m->n + 1, sizeof *at);
    ss_task *before = NULL;
    uint32_t before_cap = 0;
    if (!at)
        return ss_fail_memory(err, "messages of a collective", m->n * sizeof *at);
    ss_status s = expand(c, p, m, segment_bytes, max_segments, out, at, &before, &before_cap, err);
    ss_free(at);
    ss_free(before);
    return s;
}
