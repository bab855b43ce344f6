#include "reference/route_naive.h"

#include <math.h>
#include <string.h>

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
            changed |= extend(t, source, l->from.i, l->to.i, i, path);
            if (l->def.half_duplex)
                changed |= extend(t, source, l->to.i, l->from.i, i, path);
        }
    }
}
