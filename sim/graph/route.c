#include "graph/route.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/units.h"

/* Searches that were begun are kept for their next target up to this many bytes in all. */
enum { SEARCH_BYTES = 64 << 20 };

/* One way across a link. */
typedef struct arc {
    uint32_t tail, head; /* nodes */
    uint32_t link;
} arc;

/* Arcs in rows by one of their ends: those of node n are at first[n] .. first[n + 1] - 1. */
typedef struct rows {
    uint32_t *first;
    arc *arc;
} rows;

/* A vertex is a node that a path may pass through: 1 .. vertices; the source of a search that does
 * not forward is one more. */
enum { UNSEEN = 0, SETTLED = UINT32_MAX };

typedef struct reach {
    uint64_t weight, latency; /* sums from the source; picoseconds */
    uint32_t before, link;    /* the vertex before it and the link from there */
    uint32_t depth;           /* links from the source */
    uint32_t place;           /* in the heap, from 1; or UNSEEN, or SETTLED */
} reach;

typedef struct search {
    ss_node source;
    uint32_t root; /* vertex of the source */
    uint32_t waiting;
    reach *to; /* [vertices + 2] */
    uint32_t
        *heap; /* [vertices + 2]; vertices seen, least (weight, latency, vertex) first, from 1 */
} search;

typedef struct route_row {
    const ss_link *link;
    uint32_t links;
    double bytes_per_s, latency_s;
} route_row;

/* (from, to) -> value; value 0 is a free slot. */
typedef struct pairs {
    uint64_t *key;
    uint32_t *value;
    uint32_t slots, n;
} pairs;

/* A table of all pairs has 4 MiB at most, and is faster than hashing. */
enum { TABLE_DEVICES = 1024 };

struct ss_routes {
    const ss_topology *t;
    uint32_t nodes, links, givens; /* of the topology when the routes were made */
    uint32_t vertices;
    uint32_t *vertex;  /* by node; 0: it is not passed through */
    uint32_t *node_of; /* by vertex */
    uint64_t *latency; /* by link, picoseconds */
    rows fan;          /* by tail: arcs whose head is passed through */
    rows into;         /* by head, then tail, then link: every arc */
    search **search;   /* ring of searches begun, the oldest gives way */
    uint32_t searches, search_cap, next_search;
    uint32_t *search_of; /* by device: its place in the ring + 1; 0: none */
    pairs found, given;
    uint32_t *table; /* the same as found, by (from, to), where there are few devices; else NULL */
    uint32_t devices;
    route_row *route;
    uint32_t routes, route_cap;
    ss_arena arena; /* links of routes */
};

/* --- pairs ---------------------------------------------------------------------------------- */

static uint64_t pair_key(ss_device from, ss_device to)
{
    return (uint64_t)from.i << 32 | to.i;
}

static uint32_t pairs_slot(const pairs *p, uint64_t key)
{
    uint32_t i = (uint32_t)ss_hash_mix(key) & (p->slots - 1);
    while (p->value[i] && p->key[i] != key)
        i = (i + 1) & (p->slots - 1);
    return i;
}

static uint32_t pairs_find(const pairs *p, uint64_t key)
{
    return p->slots ? p->value[pairs_slot(p, key)] : 0;
}

/* Room for one more at a load of at most one half. */
static ss_status pairs_reserve(pairs *p, ss_error *err)
{
    if ((uint64_t)p->n * 2 + 2 <= p->slots)
        return SS_OK;
    if (p->slots > UINT32_MAX / 2)
        return ss_fail(err, SS_ERANGE, "too many routes: %u", p->n);
    pairs grown = {.slots = p->slots ? p->slots * 2 : 64, .n = p->n};
    grown.key = ss_alloc(grown.slots * sizeof *grown.key);
    grown.value = ss_alloc_zeroed(grown.slots, sizeof *grown.value);
    if (!grown.key || !grown.value) {
        ss_free(grown.key);
        ss_free(grown.value);
        return ss_fail_memory(err, "routes", grown.slots * sizeof *grown.key);
    }
    for (uint32_t i = 0; i < p->slots; i++)
        if (p->value[i]) {
            uint32_t to = pairs_slot(&grown, p->key[i]);
            grown.key[to] = p->key[i];
            grown.value[to] = p->value[i];
        }
    ss_free(p->key);
    ss_free(p->value);
    *p = grown;
    return SS_OK;
}

/* There is room, and the pair is not there yet. */
static void pairs_put(pairs *p, uint64_t key, uint32_t value)
{
    uint32_t i = pairs_slot(p, key);
    p->key[i] = key;
    p->value[i] = value;
    p->n++;
}

static void pairs_free(pairs *p)
{
    ss_free(p->key);
    ss_free(p->value);
    *p = (pairs){0};
}

/* --- the graph ------------------------------------------------------------------------------- */

static uint32_t end_of(const arc *a, bool by_head)
{
    return by_head ? a->head : a->tail;
}

/* Arcs by one of their ends, otherwise in the order they had. */
static ss_status sort_arcs(const arc *from, uint32_t n, uint32_t nodes, bool by_head, rows *out,
                           ss_error *err)
{
    out->first = ss_alloc_zeroed((size_t)nodes + 2, sizeof *out->first);
    out->arc = ss_alloc(n * sizeof *out->arc);
    if (!out->first || !out->arc)
        return ss_fail_memory(err, "the links of a topology", n * sizeof *out->arc);
    for (uint32_t i = 0; i < n; i++)
        out->first[end_of(&from[i], by_head) + 1]++;
    for (uint32_t i = 1; i <= nodes + 1; i++)
        out->first[i] += out->first[i - 1];
    for (uint32_t i = 0; i < n; i++)
        out->arc[out->first[end_of(&from[i], by_head)]++] = from[i];
    for (uint32_t i = nodes + 1; i > 0; i--)
        out->first[i] = out->first[i - 1];
    out->first[0] = 0;
    return SS_OK;
}

static void free_rows(rows *r)
{
    ss_free(r->first);
    ss_free(r->arc);
    *r = (rows){0};
}

/* Every way across every link, by ascending link id. */
static uint32_t list_arcs(const ss_topology *t, arc *out)
{
    uint32_t n = 0;
    for (uint32_t i = 1; i <= t->links; i++) {
        const ss_link_row *l = &t->link[i];
        out[n++] = (arc){l->from.i, l->to.i, i};
        if (l->def.half_duplex)
            out[n++] = (arc){l->to.i, l->from.i, i};
    }
    return n;
}

static uint32_t keep_through(const ss_routes *r, arc *list, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (r->vertex[list[i].head])
            list[kept++] = list[i];
    return kept;
}

static ss_status build_arcs(ss_routes *r, ss_error *err)
{
    const ss_topology *t = r->t;
    rows by_tail = {0};
    arc *list = ss_alloc(2 * (size_t)t->links * sizeof *list);
    if (!list)
        return ss_fail_memory(err, "the links of a topology", 2 * t->links * sizeof *list);
    uint32_t n = list_arcs(t, list);
    ss_status s = sort_arcs(list, n, t->nodes, false, &by_tail, err);
    if (!s) /* stable, so by head, then tail, then link */
        s = sort_arcs(by_tail.arc, n, t->nodes, true, &r->into, err);
    if (!s)
        s = sort_arcs(list, keep_through(r, list, n), t->nodes, false, &r->fan, err);
    free_rows(&by_tail);
    ss_free(list);
    return s;
}

static ss_status build_vertices(ss_routes *r, ss_error *err)
{
    const ss_topology *t = r->t;
    r->vertex = ss_alloc_zeroed((size_t)t->nodes + 1, sizeof *r->vertex);
    r->node_of = ss_alloc_zeroed((size_t)t->nodes + 2, sizeof *r->node_of);
    r->latency = ss_alloc_zeroed((size_t)t->links + 1, sizeof *r->latency);
    r->search_of = ss_alloc_zeroed((size_t)t->devices + 1, sizeof *r->search_of);
    if (!r->vertex || !r->node_of || !r->latency || !r->search_of)
        return ss_fail_memory(err, "routes", (size_t)t->nodes * sizeof *r->vertex);
    for (uint32_t i = 1; i <= t->nodes; i++)
        if (t->node[i].forwards) {
            r->vertex[i] = ++r->vertices;
            r->node_of[r->vertices] = i;
        }
    for (uint32_t i = 1; i <= t->links; i++) {
        ss_time latency;
        ss_status s = ss_time_from_seconds(t->link[i].def.latency_s, "latency", &latency, err);
        if (s)
            return s;
        r->latency[i] = (uint64_t)latency;
    }
    return SS_OK;
}

static ss_status list_given(ss_routes *r, ss_error *err)
{
    for (uint32_t i = 0; i < r->t->givens; i++) {
        ss_status s = pairs_reserve(&r->given, err);
        if (s)
            return s;
        pairs_put(&r->given, pair_key(r->t->given[i].from, r->t->given[i].to), i + 1);
    }
    return SS_OK;
}

ss_status ss_routes_new(const ss_topology *t, ss_routes **out, ss_error *err)
{
    ss_routes *r = ss_alloc_zeroed(1, sizeof *r);
    if (!r)
        return ss_fail_memory(err, "routes", sizeof *r);
    r->t = t;
    r->nodes = t->nodes;
    r->links = t->links;
    r->givens = t->givens;
    ss_status s = build_vertices(r, err);
    if (!s)
        s = build_arcs(r, err);
    if (!s)
        s = list_given(r, err);
    if (!s && t->devices <= TABLE_DEVICES) {
        r->devices = t->devices;
        r->table = ss_alloc_zeroed((size_t)t->devices * t->devices + 1, sizeof *r->table);
        if (!r->table)
            s = ss_fail_memory(err, "routes", (size_t)t->devices * t->devices * sizeof *r->table);
    }
    if (s) {
        ss_routes_free(r);
        return s;
    }
    *out = r;
    return SS_OK;
}

static void search_free(search *s)
{
    if (!s)
        return;
    ss_free(s->to);
    ss_free(s->heap);
    ss_free(s);
}

void ss_routes_free(ss_routes *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->searches; i++)
        search_free(r->search[i]);
    ss_free(r->search);
    ss_free(r->search_of);
    ss_free(r->vertex);
    ss_free(r->node_of);
    ss_free(r->latency);
    free_rows(&r->fan);
    free_rows(&r->into);
    pairs_free(&r->found);
    pairs_free(&r->given);
    ss_free(r->table);
    ss_free(r->route);
    ss_arena_free(&r->arena);
    ss_free(r);
}

/* --- the search ------------------------------------------------------------------------------ */

static bool before(const search *s, uint32_t a, uint32_t b)
{
    const reach *x = &s->to[a], *y = &s->to[b];
    if (x->weight != y->weight)
        return x->weight < y->weight;
    if (x->latency != y->latency)
        return x->latency < y->latency;
    return a < b;
}

static void put_at(search *s, uint32_t place, uint32_t v)
{
    s->heap[place] = v;
    s->to[v].place = place;
}

static void sift_up(search *s, uint32_t v)
{
    uint32_t i = s->to[v].place;
    for (; i > 1 && before(s, v, s->heap[i / 2]); i /= 2)
        put_at(s, i, s->heap[i / 2]);
    put_at(s, i, v);
}

static uint32_t take_least(search *s)
{
    uint32_t least = s->heap[1], last = s->heap[s->waiting--];
    s->to[least].place = SETTLED;
    if (!s->waiting)
        return least;
    uint32_t i = 1;
    for (uint32_t child = 2; child <= s->waiting; child = i * 2) {
        if (child < s->waiting && before(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!before(s, s->heap[child], last))
            break;
        put_at(s, i, s->heap[child]);
        i = child;
    }
    put_at(s, i, last);
    return least;
}

/* The best paths form a tree; of two that end in one node after equal sums, the one with the lower
 * link where they part.  Neither can be the beginning of the other, since every link has a weight.
 */
static bool lower_links(const search *s, uint32_t a, uint32_t link_a, uint32_t b, uint32_t link_b)
{
    while (a != b) {
        uint32_t depth_a = s->to[a].depth, depth_b = s->to[b].depth;
        if (depth_a >= depth_b) {
            link_a = s->to[a].link;
            a = s->to[a].before;
        }
        if (depth_b >= depth_a) {
            link_b = s->to[b].link;
            b = s->to[b].before;
        }
    }
    return link_a < link_b;
}

/* What a path by `from` and then `link` would cost; latencies that sum beyond 2^64 are all equal.
 */
static reach extended(const ss_routes *r, const search *s, uint32_t from, uint32_t link)
{
    const reach *f = &s->to[from];
    reach next = {.weight = f->weight + r->t->link[link].def.weight,
                  .latency = f->latency + r->latency[link],
                  .before = from,
                  .link = link,
                  .depth = f->depth + 1};
    if (next.latency < f->latency)
        next.latency = UINT64_MAX;
    return next;
}

static bool better(const search *s, const reach *a, const reach *b)
{
    if (a->weight != b->weight)
        return a->weight < b->weight;
    if (a->latency != b->latency)
        return a->latency < b->latency;
    return lower_links(s, a->before, a->link, b->before, b->link);
}

/* Settles v: whatever is reached through it is seen. */
static void pass_through(const ss_routes *r, search *s, uint32_t v)
{
    uint32_t node = v == s->root ? s->source.i : r->node_of[v];
    for (uint32_t i = r->fan.first[node]; i < r->fan.first[node + 1]; i++) {
        uint32_t head = r->vertex[r->fan.arc[i].head];
        reach *h = &s->to[head], next = extended(r, s, v, r->fan.arc[i].link);
        if (h->place == SETTLED)
            continue;
        next.place = h->place;
        if (h->place == UNSEEN)
            next.place = ++s->waiting;
        else if (!better(s, &next, h))
            continue;
        *h = next;
        sift_up(s, head);
    }
}

static ss_status search_new(const ss_routes *r, search **out, ss_error *err)
{
    search *s = ss_alloc_zeroed(1, sizeof *s);
    size_t rows_needed = (size_t)r->vertices + 2;
    if (s) {
        s->to = ss_alloc(rows_needed * sizeof *s->to);
        s->heap = ss_alloc(rows_needed * sizeof *s->heap);
    }
    if (!s || !s->to || !s->heap) {
        search_free(s);
        return ss_fail_memory(err, "a search for routes", rows_needed * sizeof *s->to);
    }
    *out = s;
    return SS_OK;
}

static void begin(const ss_routes *r, search *s, ss_node source)
{
    memset(s->to, 0, ((size_t)r->vertices + 2) * sizeof *s->to);
    s->source = source;
    s->root = r->vertex[source.i] ? r->vertex[source.i] : r->vertices + 1;
    s->waiting = 0;
    s->to[s->root].place = SETTLED;
    pass_through(r, s, s->root);
}

static uint32_t most_searches(const ss_routes *r)
{
    size_t each = ((size_t)r->vertices + 2) * (sizeof(reach) + sizeof(uint32_t));
    size_t most = SEARCH_BYTES / each;
    return most < 1 ? 1 : (uint32_t)most;
}

/* The search that was begun from a device, or a new one; the oldest gives way if there are too
 * many. */
static ss_status search_from(ss_routes *r, ss_device from, search **out, ss_error *err)
{
    uint32_t place = r->search_of[from.i];
    if (!place) {
        if (r->searches < most_searches(r)) {
            ss_status s = SS_RESERVE(r->search, r->search_cap, (size_t)r->searches + 1,
                                     "searches for routes", err);
            if (!s)
                s = search_new(r, &r->search[r->searches], err);
            if (s)
                return s;
            r->next_search = r->searches++;
        } else {
            r->next_search = (r->next_search + 1) % r->searches;
            ss_node old = r->search[r->next_search]->source;
            r->search_of[r->t->node[old.i].device.i] = 0;
        }
        begin(r, r->search[r->next_search], r->t->device[from.i].node);
        place = r->search_of[from.i] = r->next_search + 1;
    }
    *out = r->search[place - 1];
    return SS_OK;
}

/* --- a route --------------------------------------------------------------------------------- */

/* Where in `into` the arcs from `tail` to `head` begin. */
static uint32_t first_between(const ss_routes *r, uint32_t tail, uint32_t head)
{
    uint32_t low = r->into.first[head], high = r->into.first[head + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->into.arc[middle].tail < tail)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void offer(const ss_routes *r, const search *s, uint32_t v, uint32_t link, reach *best)
{
    reach last = extended(r, s, v, link);
    if (!best->link || better(s, &last, best))
        *best = last;
}

/* The best last step into `target`; its link is 0 if there is none. */
static reach last_step(const ss_routes *r, search *s, ss_node target)
{
    reach best = {0};
    for (uint32_t i = r->into.first[target.i]; i < r->into.first[target.i + 1]; i++) {
        uint32_t tail = r->into.arc[i].tail;
        uint32_t v = tail == s->source.i ? s->root : r->vertex[tail];
        if (v && s->to[v].place == SETTLED)
            offer(r, s, v, r->into.arc[i].link, &best);
    }
    /* What is still to be settled is no nearer than the least waiting, and a link further away. */
    while (s->waiting && (!best.link || s->to[s->heap[1]].weight < best.weight)) {
        uint32_t v = take_least(s);
        pass_through(r, s, v);
        for (uint32_t i = first_between(r, r->node_of[v], target.i);
             i < r->into.first[target.i + 1] && r->into.arc[i].tail == r->node_of[v]; i++)
            offer(r, s, v, r->into.arc[i].link, &best);
    }
    return best;
}

/* For the sentence: with every device forwarding there would be a way; the first device on it that
 * does not forward. NULL: there would be none. */
static const char *in_the_way(const ss_topology *t, ss_node from, ss_node to)
{
    uint32_t *blocker = ss_alloc_zeroed((size_t)t->nodes + 1, sizeof *blocker);
    enum { CLEAR = UINT32_MAX };
    bool changed = blocker != NULL;
    if (blocker)
        blocker[from.i] = CLEAR;
    while (changed) {
        changed = false;
        for (uint32_t i = 1; i <= t->links; i++)
            for (uint32_t back = 0; back <= t->link[i].def.half_duplex; back++) {
                uint32_t a = back ? t->link[i].to.i : t->link[i].from.i;
                uint32_t b = back ? t->link[i].from.i : t->link[i].to.i;
                if (!blocker[a] || blocker[b])
                    continue;
                bool blocks = blocker[a] == CLEAR && a != from.i && !t->node[a].forwards;
                blocker[b] = blocks ? a : blocker[a];
                changed = true;
            }
    }
    const char *name = NULL;
    if (blocker && blocker[to.i] && blocker[to.i] != CLEAR)
        name = t->node[blocker[to.i]].name;
    ss_free(blocker);
    return name;
}

static ss_status unreachable(const ss_topology *t, ss_device from, ss_device to, ss_error *err)
{
    const char *a = ss_topology_device_name(t, from), *b = ss_topology_device_name(t, to);
    const char *blocker = in_the_way(t, t->device[from.i].node, t->device[to.i].node);
    if (blocker)
        return ss_fail(err, SS_EINVAL,
                       "%s cannot be reached from %s: the way leads through device %s, which does "
                       "not forward",
                       b, a, blocker);
    return ss_fail(err, SS_EINVAL, "%s cannot be reached from %s: no links lead there", b, a);
}

static ss_status search_route(ss_routes *r, ss_device from, ss_device to, route_row *out,
                              ss_error *err)
{
    search *s;
    ss_status status = search_from(r, from, &s, err);
    if (status)
        return status;
    reach step = last_step(r, s, r->t->device[to.i].node);
    if (!step.link)
        return unreachable(r->t, from, to, err);
    ss_link *link = ss_arena_take(&r->arena, step.depth * sizeof *link);
    if (!link)
        return ss_fail_memory(err, "a route", step.depth * sizeof *link);
    *out = (route_row){.link = link, .links = step.depth};
    for (uint32_t i = out->links; i > 0; i--) {
        link[i - 1].i = step.link;
        step = s->to[step.before];
    }
    return SS_OK;
}

static void sum_links(const ss_topology *t, route_row *row)
{
    row->latency_s = 0;
    row->bytes_per_s = t->link[row->link[0].i].def.bytes_per_s;
    for (uint32_t i = 0; i < row->links; i++) {
        const ss_link_def *def = &t->link[row->link[i].i].def;
        row->latency_s += def->latency_s;
        if (def->bytes_per_s < row->bytes_per_s)
            row->bytes_per_s = def->bytes_per_s;
    }
}

static ss_status refuse_find(const ss_routes *r, ss_device from, ss_device to, ss_error *err)
{
    const ss_topology *t = r->t;
    if (t->nodes != r->nodes || t->links != r->links || t->givens != r->givens)
        return ss_fail(err, SS_EINVAL, "topology %s was changed after its routes were made",
                       t->name);
    if (!from.i || from.i > t->devices || !to.i || to.i > t->devices)
        return ss_fail(err, SS_EINVAL, "a route from device %u to device %u: topology %s has %u",
                       from.i, to.i, t->name, t->devices);
    return SS_OK;
}

/* A pair that was not asked for before. */
static ss_status new_route(ss_routes *r, ss_device from, ss_device to, ss_route *out, ss_error *err)
{
    ss_status s = refuse_find(r, from, to, err);
    if (s)
        return s;
    if (from.i == to.i) {
        out->i = 0;
        return SS_OK;
    }
    s = pairs_reserve(&r->found, err);
    if (!s)
        s = SS_RESERVE(r->route, r->route_cap, (size_t)r->routes + 2, "routes", err);
    if (s)
        return s;
    route_row row;
    uint32_t given = pairs_find(&r->given, pair_key(from, to));
    if (given)
        row =
            (route_row){.link = r->t->given[given - 1].link, .links = r->t->given[given - 1].links};
    else if ((s = search_route(r, from, to, &row, err)))
        return s;

    sum_links(r->t, &row);
    r->route[++r->routes] = row;
    r->route[0] = (route_row){0};
    pairs_put(&r->found, pair_key(from, to), r->routes);
    out->i = r->routes;
    return SS_OK;
}

ss_status ss_routes_find(ss_routes *r, ss_device from, ss_device to, ss_route *out, ss_error *err)
{
    uint32_t devices = r->devices;
    if (r->table && from.i - 1 < devices && to.i - 1 < devices) {
        uint32_t *at = &r->table[(size_t)(from.i - 1) * devices + (to.i - 1)];
        ss_status s = *at ? SS_OK : new_route(r, from, to, out, err);
        if (!*at && !s)
            *at = out->i;
        out->i = *at;
        return s;
    }
    out->i = pairs_find(&r->found, pair_key(from, to));
    return out->i ? SS_OK : new_route(r, from, to, out, err);
}

uint32_t ss_routes_count(const ss_routes *r)
{
    return r->routes;
}

static const route_row *row_of(const ss_routes *r, ss_route route)
{
    static const route_row none = {0};
    return route.i && route.i <= r->routes ? &r->route[route.i] : &none;
}

const ss_link *ss_route_links(const ss_routes *r, ss_route route, uint32_t *n)
{
    *n = row_of(r, route)->links;
    return row_of(r, route)->link;
}

double ss_route_bytes_per_s(const ss_routes *r, ss_route route)
{
    return row_of(r, route)->bytes_per_s;
}

double ss_route_latency_s(const ss_routes *r, ss_route route)
{
    return row_of(r, route)->latency_s;
}
