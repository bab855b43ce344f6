#include "reference/route_naive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/route.h"

static int better(const naive_path *a, const naive_path *b)
{
    if (!b->reached)
        return 1;
    if (a->weight != b->weight)
        return a->weight < b->weight;
    if (a->picoseconds != b->picoseconds)
        return a->picoseconds < b->picoseconds;
    for (uint32_t i = 0; i < a->n && i < b->n; i++)
        if (a->link[i] != b->link[i])
            return a->link[i] < b->link[i];
    return a->n < b->n;
}

/* Tries to reach `to` through `from` and one link more. */
static int extend(const ss_topology *t, uint32_t source, uint32_t from, uint32_t to, uint32_t link,
                  naive_path *path)
{
    if (!path[from].reached || path[from].n == NAIVE_MAX_LINKS)
        return 0;
    if (from != source && !t->node[from].forwards)
        return 0;
    naive_path longer = path[from];
    longer.weight += t->link[link].def.weight;
    longer.picoseconds += nearbyint(t->link[link].def.latency_s * 1e12);
    longer.link[longer.n++] = link;
    if (!better(&longer, &path[to]))
        return 0;
    path[to] = longer;
    return 1;
}

void naive_routes(const ss_topology *t, ss_device from, naive_path *path)
{
    uint32_t source = t->device[from.i].node.i;
    memset(path, 0, (t->nodes + 1) * sizeof *path);
    path[source].reached = 1;
    for (int changed = 1; changed;) {
        changed = 0;
        for (uint32_t i = 1; i <= t->links; i++) {
            const ss_link_row *l = &t->link[i];
            if (l->failed || t->node[l->from.i].failed || t->node[l->to.i].failed)
                continue;
            changed |= extend(t, source, l->from.i, l->to.i, i, path);
            if (l->def.half_duplex)
                changed |= extend(t, source, l->to.i, l->from.i, i, path);
        }
    }
}

typedef struct enumeration {
    const ss_topology *t;
    uint32_t source, target;
    const naive_path *best; /* by node, from the source */
    naive_path path;
    naive_path *out;
    uint32_t n, most;
} enumeration;

/* The path so far ends at a node that it reached at the least cost: every beginning of a shortest path
 * is one. */
static void go_on(enumeration *e, uint32_t at)
{
    if (at == e->target) {
        if (e->n < e->most)
            e->out[e->n] = e->path;
        e->n++;
        return;
    }
    if (at != e->source && !e->t->node[at].forwards)
        return;
    for (uint32_t i = 1; i <= e->t->links; i++) {
        const ss_link_row *l = &e->t->link[i];
        uint32_t next = l->from.i == at                       ? l->to.i
                        : l->def.half_duplex && l->to.i == at ? l->from.i
                                                              : 0;
        if (!next || l->failed || e->t->node[l->from.i].failed || e->t->node[l->to.i].failed)
            continue;
        naive_path was = e->path;
        e->path.weight += l->def.weight;
        e->path.picoseconds += nearbyint(l->def.latency_s * 1e12);
        e->path.link[e->path.n++] = i;
        if (e->path.weight == e->best[next].weight && e->best[next].reached &&
            e->path.picoseconds == e->best[next].picoseconds && next != e->source)
            go_on(e, next);
        e->path = was;
    }
}

uint32_t naive_all_routes(const ss_topology *t, ss_device from, ss_device to, naive_path *out,
                          uint32_t most)
{
    static naive_path best[NAIVE_MAX_NODES + 1];
    naive_routes(t, from, best);
    enumeration e = {.t = t,
                     .source = t->device[from.i].node.i,
                     .target = t->device[to.i].node.i,
                     .best = best,
                     .path = {.reached = 1},
                     .out = out,
                     .most = most};
    go_on(&e, e.source);
    return e.n;
}

static int is_chosen_before(const ss_topology *t, ss_device from, ss_device to, uint32_t a,
                            uint32_t b)
{
    if (t->routing == SS_ROUTING_ECMP) {
        uint64_t x = ss_route_draw(t->routing_seed, from, to, (ss_link){a});
        uint64_t y = ss_route_draw(t->routing_seed, from, to, (ss_link){b});
        if (x != y)
            return x > y;
    }
    return a < b;
}

const naive_path *naive_choice(const ss_topology *t, ss_device from, ss_device to,
                               const naive_path *path, uint32_t n)
{
    char *gone = calloc(n, 1);
    const naive_path *last = NULL;
    for (uint32_t hop = 0; gone; hop++) {
        uint32_t link = 0;
        for (uint32_t i = 0; i < n; i++)
            if (!gone[i] && (!link || is_chosen_before(t, from, to, path[i].link[hop], link)))
                link = path[i].link[hop];
        for (uint32_t i = 0; i < n; i++) {
            gone[i] |= path[i].link[hop] != link;
            if (!gone[i])
                last = &path[i];
        }
        if (last->n == hop + 1)
            break;
    }
    free(gone);
    return last;
}
