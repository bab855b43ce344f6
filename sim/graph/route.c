#include "graph/route.h"

#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/pairs.h"
#include "graph/route_inside.h"

typedef struct route_row {
    const ss_link *link;
    uint32_t links;
    double bytes_per_s, latency_s;
} route_row;

/* A table of all pairs has 4 MiB at most, and is faster than hashing. */
enum { TABLE_DEVICES = 1024 };

struct ss_routes {
    const ss_topology *t;
    uint64_t changes; /* of the topology when the routes were made */
    ss_ways ways;
    ss_searches *searches; /* by core place, then by device that hangs on several */
    ss_pairs found;
    uint32_t *table; /* the same as found, by (from, to), where there are few devices; else NULL */
    uint32_t devices;
    route_row *route;
    uint32_t routes, route_cap;
    ss_way_seed *seed; /* scratch */
    uint32_t seeds, seed_cap;
    ss_link *step; /* scratch: the route being found */
    uint32_t step_cap;
    ss_arena arena; /* links of routes */
    ss_routes_kept kept;
};

ss_status ss_routes_new(const ss_topology *t, ss_routes **out, ss_error *err)
{
    ss_routes *r = ss_alloc_zeroed(1, sizeof *r);
    if (!r)
        return ss_fail_memory(err, "routes", sizeof *r);
    r->t = t;
    r->changes = t->changes;
    ss_status s = ss_ways_open(&r->ways, t, err);
    if (!s)
        s = ss_searches_open(&r->ways, r->ways.core + t->devices, &r->searches, err);
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

void ss_routes_free(ss_routes *r)
{
    if (!r)
        return;
    if (r->kept.what)
        r->kept.drop(r->kept.what);
    ss_searches_close(r->searches);
    ss_ways_close(&r->ways);
    ss_pairs_free(&r->found);
    ss_free(r->table);
    ss_free(r->route);
    ss_free(r->seed);
    ss_free(r->step);
    ss_arena_free(&r->arena);
    ss_free(r);
}

bool ss_routes_hold(const ss_routes *r)
{
    return r->t->changes == r->changes;
}

ss_routes_kept *ss_routes_keep(ss_routes *r)
{
    return &r->kept;
}

uint64_t ss_route_draw(uint64_t seed, ss_device from, ss_device to, ss_link link)
{
    uint64_t h = ss_hash_u64(SS_HASH_START, seed);
    h = ss_hash_u64(h, (uint64_t)from.i << 32 | to.i);
    return ss_hash_u64(h, link.i);
}

/* --- one pair --------------------------------------------------------------------------------- */

typedef struct query {
    ss_routes *r;
    ss_device from, to;
    uint32_t source, target; /* places */
    ss_way_search *search;   /* NULL: the core does not lead there */
    ss_way_cost offset;      /* what the search's costs lack */
} query;

/* The best way on from somewhere; link 0: there is none. */
typedef struct step {
    ss_way_cost cost; /* to the target */
    uint64_t draw;
    uint32_t link, head;
} step;

static ss_status add_seed(ss_routes *r, uint32_t place, ss_way_cost cost, ss_error *err)
{
    ss_status s = SS_RESERVE(r->seed, r->seed_cap, (size_t)r->seeds + 1, "a route's ends", err);
    if (!s)
        r->seed[r->seeds++] = (ss_way_seed){place, cost};
    return s;
}

/* Where the core is left for a target outside: its own links, and those of the edge before it. */
static ss_status list_seeds(query *q, ss_error *err)
{
    const ss_ways *w = &q->r->ways;
    ss_status s = SS_OK;
    q->r->seeds = 0;
    for (uint32_t i = w->into.first[q->target]; i < w->into.first[q->target + 1] && !s; i++) {
        const ss_arc *last = &w->into.arc[i];
        ss_way_cost cost = w->cost[last->link];
        if (last->tail > w->through)
            break;
        if (last->tail <= w->core) {
            s = add_seed(q->r, last->tail, cost, err);
            continue;
        }
        uint32_t on = w->hangs_on[last->tail];
        for (uint32_t k = on ? ss_ways_first(&w->into, last->tail, on, true) : 0;
             on && k < w->into.first[last->tail + 1] && w->into.arc[k].tail == on && !s; k++)
            s = add_seed(q->r, on, ss_way_sum(cost, w->cost[w->into.arc[k].link]), err);
    }
    return s;
}

/* Finds the search that serves the target.  Targets that hang on one core place share its own. */
static ss_status open_query(query *q, ss_error *err)
{
    ss_routes *r = q->r;
    if (q->target <= r->ways.core) {
        ss_way_seed self = {q->target, {0, 0}};
        return ss_search_get(r->searches, q->target, &self, 1, &q->search, err);
    }
    ss_status s = list_seeds(q, err);
    if (s || !r->seeds)
        return s;
    bool one = true;
    ss_way_cost least = r->seed[0].cost;
    for (uint32_t i = 1; i < r->seeds; i++) {
        one = one && r->seed[i].place == r->seed[0].place;
        if (ss_way_compare(r->seed[i].cost, least) < 0)
            least = r->seed[i].cost;
    }
    if (!one)
        return ss_search_get(r->searches, r->ways.core + q->to.i, r->seed, r->seeds, &q->search,
                             err);
    q->offset = least;
    ss_way_seed self = {r->seed[0].place, {0, 0}};
    return ss_search_get(r->searches, self.place, &self, 1, &q->search, err);
}

/* From a core place to the target; ss_no_way if it is not settled: then it is no nearer than what
 * is. */
static ss_way_cost rest_of_core(const query *q, uint32_t place)
{
    if (!q->search)
        return ss_no_way;
    ss_way_cost cost = ss_search_cost(q->search, place);
    return cost.weight == UINT64_MAX ? ss_no_way : ss_way_sum(cost, q->offset);
}

/* From a place that is passed through to the target. */
static ss_way_cost rest_of(const query *q, uint32_t place)
{
    const ss_ways *w = &q->r->ways;
    if (place == q->target)
        return (ss_way_cost){0, 0};
    if (place <= w->core)
        return rest_of_core(q, place);
    ss_way_cost least = ss_no_way, on = ss_no_way;
    for (uint32_t i = ss_ways_first(&w->into, q->target, place, true);
         i < w->into.first[q->target + 1] && w->into.arc[i].tail == place; i++) {
        ss_way_cost cost = w->cost[w->into.arc[i].link];
        least = ss_way_compare(cost, least) < 0 ? cost : least;
    }
    if (w->hangs_on[place])
        on = rest_of_core(q, w->hangs_on[place]);
    for (uint32_t i = w->out.first[place]; on.weight != UINT64_MAX && i < w->out.first[place + 1];
         i++) {
        ss_way_cost cost = ss_way_sum(on, w->cost[w->out.arc[i].link]);
        least = ss_way_compare(cost, least) < 0 ? cost : least;
    }
    return least;
}

static void offer(const query *q, const ss_arc *a, ss_way_cost rest, step *best)
{
    if (rest.weight == UINT64_MAX)
        return;
    step next = {.link = a->link, .head = a->head};
    next.cost = ss_way_sum(q->r->ways.cost[a->link], rest);
    int order = best->link ? ss_way_compare(next.cost, best->cost) : -1;
    if (order > 0 || (!order && next.link == best->link))
        return;
    if (q->r->t->routing == SS_ROUTING_ECMP)
        next.draw = ss_route_draw(q->r->t->routing_seed, q->from, q->to, (ss_link){a->link});
    if (order < 0 || next.draw > best->draw || (next.draw == best->draw && next.link < best->link))
        *best = next;
}

/* The best way on, among what is settled.  From the core to the edge only what leads to the target
 * is looked at: a switch with ten thousand adapters costs no more than one with ten. */
static step choose(const query *q, uint32_t place)
{
    const ss_ways *w = &q->r->ways;
    step best = {0};
    for (uint32_t i = ss_ways_first(&w->into, q->target, place, true);
         i < w->into.first[q->target + 1] && w->into.arc[i].tail == place; i++)
        offer(q, &w->into.arc[i], (ss_way_cost){0, 0}, &best);
    uint32_t last = place <= w->core ? w->core : w->through;
    for (uint32_t i = w->out.first[place];
         i < w->out.first[place + 1] && w->out.arc[i].head <= last; i++)
        offer(q, &w->out.arc[i], rest_of(q, w->out.arc[i].head), &best);
    if (place > w->core)
        return best;
    for (uint32_t i = ss_ways_first(&w->into, q->target, w->core + 1, true);
         i < w->into.first[q->target + 1] && w->into.arc[i].tail <= w->through; i++) {
        uint32_t edge = w->into.arc[i].tail;
        if (w->hangs_on[edge] != place)
            continue;
        for (uint32_t k = ss_ways_first(&w->into, edge, place, true);
             k < w->into.first[edge + 1] && w->into.arc[k].tail == place; k++)
            offer(q, &w->into.arc[k], rest_of(q, edge), &best);
    }
    return best;
}

/* Goes on with the search until nothing that is not settled can be on a shortest path. */
static step first_step(const query *q)
{
    const ss_ways *w = &q->r->ways;
    step best = choose(q, q->source);
    if (!q->search)
        return best;
    bool inside = q->source <= w->core;
    for (uint32_t i = w->out.first[q->source]; i < w->out.first[q->source + 1]; i++) {
        uint32_t head = w->out.arc[i].head;
        uint32_t wanted = inside ? q->source : head <= w->core ? head : w->hangs_on[head];
        if (inside && i > w->out.first[q->source])
            break;
        if (!wanted || ss_search_cost(q->search, wanted).weight != UINT64_MAX)
            continue;
        /* A way through what is further has a link more. */
        uint64_t beyond = best.link ? best.cost.weight : UINT64_MAX;
        if (beyond <= q->offset.weight)
            break;
        ss_search_settle(w, q->search, wanted, beyond - q->offset.weight - 1);
        best = choose(q, q->source);
    }
    return best;
}

static ss_status search_route(ss_routes *r, ss_device from, ss_device to, route_row *out,
                              ss_error *err)
{
    query q = {.r = r, .from = from, .to = to};
    q.source = r->ways.place[r->t->device[from.i].node.i];
    q.target = r->ways.place[r->t->device[to.i].node.i];
    ss_status s = open_query(&q, err);
    if (s)
        return s;
    step next = first_step(&q);
    if (!next.link)
        return ss_route_unreachable(r->t, from, to, err);
    uint32_t n = 0;
    for (;;) {
        s = SS_RESERVE(r->step, r->step_cap, (size_t)n + 1, "a route", err);
        if (s)
            return s;
        r->step[n++].i = next.link;
        if (next.head == q.target)
            break;
        next = choose(&q, next.head);
    }
    ss_link *link = ss_arena_take(&r->arena, n * sizeof *link);
    if (!link)
        return ss_fail_memory(err, "a route", n * sizeof *link);
    memcpy(link, r->step, n * sizeof *link);
    *out = (route_row){.link = link, .links = n};
    return SS_OK;
}

/* --- routes kept ------------------------------------------------------------------------------ */

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
    if (!ss_routes_hold(r))
        return ss_fail(err, SS_EINVAL, "topology %s was changed after its routes were made",
                       t->name);
    if (!from.i || from.i > t->devices || !to.i || to.i > t->devices)
        return ss_fail(err, SS_EINVAL, "a route from device %u to device %u: topology %s has %u",
                       from.i, to.i, t->name, t->devices);
    return SS_OK;
}

static ss_status take_given(const ss_topology *t, const ss_given_route *given, route_row *out,
                            ss_error *err)
{
    for (uint32_t i = 0; i < given->links; i++)
        if (!ss_topology_works(t, given->link[i]))
            return ss_fail(err, SS_EINVAL,
                           "route %s -> %s was given over link %s, which failed: give another "
                           "route, or none for a shortest path",
                           ss_topology_device_name(t, given->from),
                           ss_topology_device_name(t, given->to), t->link[given->link[i].i].name);
    *out = (route_row){.link = given->link, .links = given->links};
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
    s = ss_pairs_reserve(&r->found, "routes", err);
    if (!s)
        s = SS_RESERVE(r->route, r->route_cap, (size_t)r->routes + 2, "routes", err);
    if (s)
        return s;
    route_row row;
    const ss_given_route *given = ss_topology_given_route(r->t, from, to);
    s = given ? take_given(r->t, given, &row, err) : search_route(r, from, to, &row, err);
    if (s)
        return s;

    sum_links(r->t, &row);
    r->route[++r->routes] = row;
    r->route[0] = (route_row){0};
    ss_pairs_put(&r->found, from.i, to.i, r->routes);
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
    out->i = ss_pairs_find(&r->found, from.i, to.i);
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
