/* route_graph.c - a topology as searches for routes see it: places, and arcs in rows. */
#include "graph/route_inside.h"

#include "base/mem.h"
#include "base/units.h"

/* --- rows of arcs ------------------------------------------------------------------------------ */

static uint32_t end_of(const ss_arc *a, bool by_head)
{
    return by_head ? a->head : a->tail;
}

ss_status ss_arcs_sort(const ss_arc *list, uint32_t n, uint32_t nodes, bool by_head,
                       ss_arc_rows *out, ss_error *err)
{
    out->first = ss_alloc_zeroed((size_t)nodes + 2, sizeof *out->first);
    out->arc = ss_alloc(n * sizeof *out->arc);
    if (!out->first || !out->arc)
        return ss_fail_memory(err, "the links of a topology", n * sizeof *out->arc);
    for (uint32_t i = 0; i < n; i++)
        out->first[end_of(&list[i], by_head) + 1]++;
    for (uint32_t i = 1; i <= nodes + 1; i++)
        out->first[i] += out->first[i - 1];
    for (uint32_t i = 0; i < n; i++)
        out->arc[out->first[end_of(&list[i], by_head)]++] = list[i];
    for (uint32_t i = nodes + 1; i > 0; i--)
        out->first[i] = out->first[i - 1];
    out->first[0] = 0;
    return SS_OK;
}

void ss_arc_rows_free(ss_arc_rows *rows)
{
    ss_free(rows->first);
    ss_free(rows->arc);
    *rows = (ss_arc_rows){0};
}

uint32_t ss_ways_first(const ss_arc_rows *rows, uint32_t place, uint32_t other, bool by_head)
{
    uint32_t low = rows->first[place], high = rows->first[place + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (end_of(&rows->arc[middle], !by_head) < other)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- places ------------------------------------------------------------------------------------ */

enum { SEVERAL = UINT32_MAX };

static void note_neighbour(uint32_t *only, uint32_t node, uint32_t other)
{
    if (!only[node])
        only[node] = other;
    else if (only[node] != other)
        only[node] = SEVERAL;
}

/* By node that is passed through: the one other such node that it is joined to; 0: none. */
static void find_neighbours(const ss_topology *t, uint32_t *only)
{
    for (uint32_t i = 1; i <= t->links; i++) {
        const ss_link_row *l = &t->link[i];
        if (!t->node[l->from.i].forwards || !t->node[l->to.i].forwards ||
            !ss_topology_works(t, (ss_link){i}))
            continue;
        note_neighbour(only, l->from.i, l->to.i);
        note_neighbour(only, l->to.i, l->from.i);
    }
}

static bool in_core(const uint32_t *only, uint32_t node)
{
    return only[node] == SEVERAL || (only[node] && only[only[node]] == node);
}

static ss_status give_places(ss_ways *w, ss_error *err)
{
    const ss_topology *t = w->t;
    uint32_t *only = ss_alloc_zeroed((size_t)t->nodes + 1, sizeof *only);
    if (!only)
        return ss_fail_memory(err, "routes", t->nodes * sizeof *only);
    find_neighbours(t, only);
    for (uint32_t i = 1; i <= t->nodes; i++)
        if (t->node[i].forwards && in_core(only, i))
            w->place[i] = ++w->core;
    w->through = w->core;
    for (uint32_t i = 1; i <= t->nodes; i++)
        if (t->node[i].forwards && !w->place[i]) {
            w->place[i] = ++w->through;
            w->hangs_on[w->through] = only[i] ? w->place[only[i]] : 0;
        }
    w->nodes = w->through;
    for (uint32_t i = 1; i <= t->nodes; i++)
        if (!w->place[i])
            w->place[i] = ++w->nodes;
    ss_free(only);
    return SS_OK;
}

/* Every way across every link that works, by ascending link id. */
static uint32_t list_arcs(const ss_ways *w, ss_arc *out)
{
    uint32_t n = 0;
    for (uint32_t i = 1; i <= w->t->links; i++) {
        const ss_link_row *l = &w->t->link[i];
        uint32_t from = w->place[l->from.i], to = w->place[l->to.i];
        if (!ss_topology_works(w->t, (ss_link){i}))
            continue;
        out[n++] = (ss_arc){from, to, i};
        if (l->def.half_duplex)
            out[n++] = (ss_arc){to, from, i};
    }
    return n;
}

static ss_status build_rows(ss_ways *w, ss_error *err)
{
    ss_arc_rows by_tail = {0}, by_head = {0};
    ss_arc *list = ss_alloc(2 * (size_t)w->t->links * sizeof *list);
    if (!list)
        return ss_fail_memory(err, "the links of a topology", 2 * w->t->links * sizeof *list);
    uint32_t n = list_arcs(w, list), kept = 0;
    ss_status s = ss_arcs_sort(list, n, w->nodes, false, &by_tail, err);
    if (!s) /* stable, so by head, then tail, then link */
        s = ss_arcs_sort(by_tail.arc, n, w->nodes, true, &w->into, err);
    ss_arc_rows_free(&by_tail);
    for (uint32_t i = 0; i < n; i++)
        if (list[i].head <= w->through)
            list[kept++] = list[i];
    if (!s)
        s = ss_arcs_sort(list, kept, w->nodes, true, &by_head, err);
    if (!s)
        s = ss_arcs_sort(by_head.arc, kept, w->nodes, false, &w->out, err);
    ss_arc_rows_free(&by_head);
    ss_free(list);
    return s;
}

ss_status ss_ways_open(ss_ways *w, const ss_topology *t, ss_error *err)
{
    w->t = t;
    w->place = ss_alloc_zeroed((size_t)t->nodes + 1, sizeof *w->place);
    w->hangs_on = ss_alloc_zeroed((size_t)t->nodes + 1, sizeof *w->hangs_on);
    w->cost = ss_alloc_zeroed((size_t)t->links + 1, sizeof *w->cost);
    if (!w->place || !w->hangs_on || !w->cost)
        return ss_fail_memory(err, "routes", (size_t)t->nodes * sizeof *w->place);
    for (uint32_t i = 1; i <= t->links; i++) {
        ss_time latency;
        ss_status s = ss_time_from_seconds(t->link[i].def.latency_s, "latency", &latency, err);
        if (s)
            return s;
        w->cost[i] = (ss_way_cost){t->link[i].def.weight, (uint64_t)latency};
    }
    ss_status s = give_places(w, err);
    return s ? s : build_rows(w, err);
}

void ss_ways_close(ss_ways *w)
{
    ss_free(w->place);
    ss_free(w->hangs_on);
    ss_free(w->cost);
    ss_arc_rows_free(&w->out);
    ss_arc_rows_free(&w->into);
    *w = (ss_ways){0};
}
