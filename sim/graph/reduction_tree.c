#include "graph/reduction_tree.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"

/* While it grows: the vertex of each node, and from whom the tree leads on towards member 0. */
typedef struct growth {
    const ss_topology *t;
    ss_reduction_tree *out;
    uint32_t *vertex; /* by node: vertex + 1; 0: not in the tree */
} growth;

static ss_status reserve(ss_reduction_tree *t, size_t n, ss_error *err)
{
    if (n <= t->cap)
        return SS_OK;
    uint32_t cap = ss_grown(t->cap, n);
    ss_status s;
    if ((s = SS_REGROW(t->parent, cap, "a tree of switches", err)) ||
        (s = SS_REGROW(t->order, cap, "a tree of switches", err)) ||
        (s = SS_REGROW(t->up, cap, "a tree of switches", err)) ||
        (s = SS_REGROW(t->down, cap, "a tree of switches", err)) ||
        (s = SS_REGROW(t->node, cap, "a tree of switches", err)) ||
        (s = SS_REGROW(t->up_latency_s, cap, "a tree of switches", err)) ||
        (s = SS_REGROW(t->up_bytes_per_s, cap, "a tree of switches", err)) ||
        (s = SS_REGROW(t->down_latency_s, cap, "a tree of switches", err)) ||
        (s = SS_REGROW(t->down_bytes_per_s, cap, "a tree of switches", err)))
        return s;
    t->cap = cap;
    return SS_OK;
}

static bool leads(const ss_topology *t, uint32_t link, ss_node from, ss_node to)
{
    return link >= 1 && link <= t->links && ss_topology_works(t, (ss_link){link}) &&
           ss_topology_across(t, (ss_link){link}, from).i == to.i;
}

/* The other direction of a cable: of neighbouring links the one that leads back, and of parallel cables the
 * one as far down the list.  0: none. */
static ss_link link_back(const ss_topology *t, ss_link link, ss_node from, ss_node to)
{
    if (leads(t, link.i, from, to))
        return link; /* half-duplex */
    bool before = leads(t, link.i - 1, from, to), behind = leads(t, link.i + 1, from, to);
    if (before != behind)
        return (ss_link){before ? link.i - 1 : link.i + 1};
    uint32_t there = 0, back = 0, found = 0;
    for (uint32_t l = 1; l <= link.i; l++)
        there += leads(t, l, to, from);
    for (uint32_t l = 1; l <= t->links && back < there; l++)
        if (leads(t, l, from, to)) {
            back++;
            found = l;
        }
    return (ss_link){found};
}

/* A vertex for a node, which hangs nowhere yet. */
static ss_status join(growth *g, ss_node node, ss_error *err)
{
    ss_reduction_tree *out = g->out;
    ss_status s = reserve(out, (size_t)out->n + 1, err);
    if (s)
        return s;
    out->node[out->n] = node;
    out->parent[out->n] = out->n;
    out->up[out->n] = out->down[out->n] = (ss_link){0};
    g->vertex[node.i] = ++out->n;
    return SS_OK;
}

static ss_status hang(growth *g, uint32_t v, uint32_t parent, ss_link up, ss_error *err)
{
    ss_reduction_tree *out = g->out;
    const ss_topology *t = g->t;
    ss_link down = link_back(t, up, out->node[parent], out->node[v]);
    if (!down.i)
        return ss_fail(
            err, SS_EINVAL,
            "in_network: no link leads back from %s to %s, so sums cannot come down there",
            t->node[out->node[parent].i].name, t->node[out->node[v].i].name);
    out->parent[v] = parent;
    out->up[v] = up;
    out->down[v] = down;
    return SS_OK;
}

/* The way of member i to member 0, until the tree begins. */
static ss_status grow(growth *g, ss_routes *r, const ss_device *device, uint32_t i, ss_error *err)
{
    const ss_topology *t = g->t;
    ss_route route;
    uint32_t n, v = i;
    ss_status s = ss_routes_find(r, device[i], device[0], &route, err);
    if (s)
        return s;
    const ss_link *link = ss_route_links(r, route, &n);
    ss_node at = t->device[device[i].i].node;
    for (uint32_t k = 0; k < n && !s; k++) {
        at = ss_topology_across(t, link[k], at);
        bool met = g->vertex[at.i];
        if (t->node[at.i].device.i && (k + 1 < n || k == 0))
            return ss_fail(
                err, SS_EINVAL, "in_network: the way from %s to %s %s, and only switches add up",
                ss_topology_device_name(t, device[i]), ss_topology_device_name(t, device[0]),
                k + 1 < n ? "leads through a device" : "crosses no switch");
        if (!met)
            s = join(g, at, err);
        if (!s)
            s = hang(g, v, g->vertex[at.i] - 1, link[k], err);
        if (met)
            return s;
        v = g->vertex[at.i] - 1;
    }
    return s;
}

/* ---- the middle -------------------------------------------------------------------------- */

/* Neighbours in the tree, and a walk over it. */
typedef struct walk {
    const ss_reduction_tree *t;
    uint32_t *first, *beside; /* rows, [n + 1] and [2 (n - 1)] */
    uint32_t *order, *from;   /* as visited; from whom */
    uint32_t *far;            /* links from the start */
} walk;

static ss_status start_walk(walk *w, const ss_reduction_tree *t, ss_error *err)
{
    uint32_t n = t->n;
    *w = (walk){.t = t};
    w->first = ss_alloc_zeroed((size_t)n + 1, 6 * sizeof *w->first);
    if (!w->first)
        return ss_fail_memory(err, "a tree of switches", 6 * (size_t)n * sizeof *w->first);
    w->beside = w->first + n + 2;
    w->order = w->beside + 2 * (size_t)n;
    w->from = w->order + n;
    w->far = w->from + n;
    for (uint32_t v = 0; v < n; v++)
        if (t->parent[v] != v) {
            w->first[v + 1]++;
            w->first[t->parent[v] + 1]++;
        }
    for (uint32_t v = 0; v < n; v++)
        w->first[v + 1] += w->first[v];
    for (uint32_t v = n; v-- > 0;) /* filled from behind: each row is left where it begins */
        if (t->parent[v] != v) {
            w->beside[--w->first[v + 1]] = t->parent[v];
            w->beside[--w->first[t->parent[v] + 1]] = v;
        }
    for (uint32_t v = 0; v < n; v++)
        w->first[v] = w->first[v + 1];
    w->first[n] = 2 * (n - 1);
    return SS_OK;
}

/* Visits all; the furthest member, and of several the lowest. */
static uint32_t visit(walk *w, uint32_t start)
{
    uint32_t seen = 1, furthest = start;
    w->order[0] = w->from[start] = start;
    w->far[start] = 0;
    for (uint32_t k = 0; k < seen; k++) {
        uint32_t v = w->order[k];
        if (v < w->t->members &&
            (w->far[v] > w->far[furthest] || (w->far[v] == w->far[furthest] && v < furthest)))
            furthest = v;
        for (uint32_t e = w->first[v]; e < w->first[v + 1]; e++) {
            uint32_t next = w->beside[e];
            if (next == w->from[v])
                continue;
            w->from[next] = v;
            w->far[next] = w->far[v] + 1;
            w->order[seen++] = next;
        }
    }
    return furthest;
}

static uint32_t middle(walk *w)
{
    uint32_t end = visit(w, visit(w, 0)), v = end, steps = w->far[end] / 2;
    for (uint32_t k = 0; k < steps; k++)
        v = w->from[v];
    return v;
}

/* Whoever lies between the new root and the old one hangs the other way round now. */
static void hang_from(ss_reduction_tree *t, uint32_t root)
{
    uint32_t v = root, above = root;
    ss_link up = {0}, down = {0};
    for (;;) {
        uint32_t next = t->parent[v];
        ss_link next_up = t->down[v], next_down = t->up[v];
        t->parent[v] = above;
        t->up[v] = up;
        t->down[v] = down;
        if (next == v)
            break;
        above = v;
        v = next;
        up = next_up;
        down = next_down;
    }
    t->root = root;
}

static void look_up_links(const ss_topology *topology, ss_reduction_tree *t)
{
    for (uint32_t v = 0; v < t->n; v++) {
        const ss_link_def *up = &topology->link[t->up[v].i].def;
        const ss_link_def *down = &topology->link[t->down[v].i].def;
        bool root = v == t->root;
        t->up_latency_s[v] = root ? 0 : up->latency_s;
        t->up_bytes_per_s[v] = root ? 0 : up->bytes_per_s;
        t->down_latency_s[v] = root ? 0 : down->latency_s;
        t->down_bytes_per_s[v] = root ? 0 : down->bytes_per_s;
    }
}

ss_status ss_reduction_tree_make(const ss_topology *t, ss_routes *r, const ss_device *device,
                                 uint32_t members, ss_reduction_tree *out, ss_error *err)
{
    if (members < 2)
        return ss_fail(err, SS_EINVAL, "in_network: %u member; two at least are needed", members);
    growth g = {t, out, ss_alloc_zeroed((size_t)t->nodes + 1, sizeof *g.vertex)};
    walk w = {0};
    ss_status s = SS_OK;
    if (!g.vertex)
        return ss_fail_memory(err, "a tree of switches", t->nodes * sizeof *g.vertex);
    out->n = 0;
    out->members = members;
    for (uint32_t i = 0; i < members && !s; i++)
        s = join(&g, t->device[device[i].i].node, err);
    for (uint32_t i = 1; i < members && !s; i++)
        s = grow(&g, r, device, i, err);
    if (!s)
        s = start_walk(&w, out, err);
    if (!s) {
        hang_from(out, middle(&w));
        (void)visit(&w, out->root);
        memcpy(out->order, w.order, out->n * sizeof *out->order);
        look_up_links(t, out);
    }
    ss_free(w.first);
    ss_free(g.vertex);
    return s;
}

void ss_reduction_tree_free(ss_reduction_tree *t)
{
    if (!t)
        return;
    ss_free(t->parent);
    ss_free(t->order);
    ss_free(t->up);
    ss_free(t->down);
    ss_free(t->up_latency_s);
    ss_free(t->up_bytes_per_s);
    ss_free(t->down_latency_s);
    ss_free(t->down_bytes_per_s);
    ss_free(t->node);
    *t = (ss_reduction_tree){0};
}
