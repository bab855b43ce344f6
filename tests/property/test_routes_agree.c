/* Random topologies full of ties and failures: the routes found lazily are those of the naive twins,
 * to the link. */
#include "base/rng.h"
#include "check.h"
#include "graph/route.h"
#include "reference/route_naive.h"

enum { TOPOLOGIES = 2500 };

static uint64_t seed = 20240607;
static ss_rng rng;
static ss_error err;

static uint32_t draw(uint32_t n)
{
    return (uint32_t)ss_rng_below(&rng, n);
}

/* Few nodes, few weights, few latencies: most pairs have several shortest paths.  The latencies 0.1
 * and 0.3 us add up differently in different orders when they are summed in floating point. */
static ss_topology *draw_topology(void)
{
    static const double latency_s[] = {0, 1e-7, 3e-7, 7e-7};
    ss_topology *t;
    if (ss_topology_new("random", &t, &err))
        return NULL;
    uint32_t nodes = 2 + draw(12), links = draw(4 * nodes), weights = 1 + draw(3);
    for (uint32_t i = 1; i <= nodes; i++) {
        char name[20];
        snprintf(name, sizeof name, "n%u", i);
        ss_device d;
        ss_node s;
        ss_device_def def = {.kind = "p100", .speed = 1, .forwards = draw(3) == 0};
        if (i == 1 || draw(2) ? ss_topology_add_device(t, name, &def, &d, &err)
                              : ss_topology_add_switch(t, name, &s, &err))
            return NULL;
    }
    for (uint32_t i = 0; i < links; i++) {
        ss_node from = {1 + draw(nodes)}, to = {1 + draw(nodes)};
        ss_link l;
        ss_link_def def = {.bytes_per_s = 1e9 * (1 + draw(3)),
                           .latency_s = latency_s[draw(4)],
                           .half_duplex = draw(4) == 0,
                           .weight = 1 + draw(weights)};
        if (from.i != to.i && ss_topology_add_link(t, from, to, &def, &l, &err))
            return NULL;
    }
    return t;
}

static void join(ss_topology *t, uint32_t a, uint32_t b, const ss_link_def *def)
{
    ss_link l;
    CHECK_OK(ss_topology_add_link(t, (ss_node){a}, (ss_node){b}, def, &l, &err));
    if (!def->half_duplex)
        CHECK_OK(ss_topology_add_link(t, (ss_node){b}, (ss_node){a}, def, &l, &err));
}

/* Machines with crossbars and adapters under leaves and spines: what routes are chosen among is many
 * equal paths, and much of it is no way through. */
static ss_topology *draw_fabric(void)
{
    ss_topology *t;
    if (ss_topology_new("fabric", &t, &err))
        return NULL;
    uint32_t spines = 1 + draw(4), leaves = 1 + draw(4), machines = 1 + draw(3);
    uint32_t crossbars = machines, adapters = draw(5), devices = 2 + draw(7), n = 0;
    uint32_t spine = 1, leaf = spine + spines, crossbar = leaf + leaves;
    uint32_t adapter = crossbar + crossbars, device = adapter + adapters;
    ss_link_def def = {.bytes_per_s = 1e9, .latency_s = 1e-7 * draw(2), .weight = 1};
    for (; n < device + devices - 1; n++) {
        char name[20];
        snprintf(name, sizeof name, "n%u", n + 1);
        ss_device d;
        ss_node s;
        ss_device_def k = {.kind = "p100", .speed = 1, .forwards = draw(6) == 0};
        if (n + 1 < device ? ss_topology_add_switch(t, name, &s, &err)
                           : ss_topology_add_device(t, name, &k, &d, &err))
            return NULL;
    }
    for (uint32_t l = leaf; l < crossbar; l++)
        for (uint32_t s = spine; s < leaf; s++)
            for (uint32_t k = 1 + (draw(4) == 0); k > 0 && draw(8); k--)
                join(t, l, s, &def);
    for (uint32_t a = adapter; a < device; a++)
        join(t, a, leaf + draw(leaves), &def);
    for (uint32_t d = device; d < device + devices; d++)
        for (uint32_t k = 1 + draw(3); k > 0; k--) {
            uint32_t to[] = {leaf + draw(leaves), crossbar + draw(crossbars),
                             adapters ? adapter + draw(adapters) : leaf};
            def.half_duplex = draw(6) == 0;
            join(t, d, to[draw(3)], &def);
        }
    return t;
}

/* A few links and switches fail. */
static void draw_failures(ss_topology *t)
{
    for (uint32_t i = 1; i <= t->links; i++)
        if (draw(8) == 0)
            CHECK_OK(ss_topology_set_link_failed(t, (ss_link){i}, true, &err));
    for (uint32_t i = 1; i <= t->nodes; i++)
        if (!t->node[i].device.i && draw(8) == 0)
            CHECK_OK(ss_topology_set_node_failed(t, (ss_node){i}, true, &err));
}

static void same_links(const ss_topology *t, ss_routes *r, ss_device from, ss_device to,
                       const naive_path *path)
{
    const naive_path *p = &path[t->device[to.i].node.i];
    ss_route route;
    ss_status s = ss_routes_find(r, from, to, &route, &err);
    if (from.i == to.i) {
        CHECK(!s && route.i == 0, "seed %llu", (unsigned long long)seed);
        return;
    }
    CHECK((s == SS_OK) == (p->reached != 0), "%u -> %u, seed %llu: %s", from.i, to.i,
          (unsigned long long)seed, s ? err.text : "found");
    if (s)
        return;
    uint32_t n;
    const ss_link *link = ss_route_links(r, route, &n);
    double bytes_per_s = 1e30, latency_s = 0;
    CHECK(n == p->n, "%u -> %u: %u links, %u in the twin", from.i, to.i, n, p->n);
    for (uint32_t i = 0; i < n; i++) {
        CHECK(link[i].i == p->link[i], "%u -> %u: link %u is %u, %u in the twin, seed %llu", from.i,
              to.i, i, link[i].i, p->link[i], (unsigned long long)seed);
        const ss_link_def *def = &t->link[link[i].i].def;
        bytes_per_s = def->bytes_per_s < bytes_per_s ? def->bytes_per_s : bytes_per_s;
        latency_s += def->latency_s;
    }
    CHECK(ss_route_bytes_per_s(r, route) == bytes_per_s, "%g", bytes_per_s);
    CHECK(ss_route_latency_s(r, route) == latency_s, "%g", latency_s);
}

static void lazy_routes_are_those_of_the_twin_in_any_order_of_asking(void)
{
    static naive_path path[NAIVE_MAX_NODES][NAIVE_MAX_NODES];
    for (int round = 0; round < TOPOLOGIES && !check_this_failed; round++) {
        ss_topology *t = draw_topology();
        CHECK(t != NULL, "%s", err.text);
        if (draw(3) == 0)
            draw_failures(t);
        ss_routes *r;
        CHECK_OK(ss_topology_check(t, &err));
        CHECK_OK(ss_routes_new(t, &r, &err));
        for (uint32_t d = 1; d <= t->devices; d++)
            naive_routes(t, (ss_device){d}, path[d]);
        for (uint32_t i = 0; i < 3 * t->devices * t->devices; i++) {
            ss_device from = {1 + draw(t->devices)}, to = {1 + draw(t->devices)};
            same_links(t, r, from, to, path[from.i]);
            if (check_this_failed)
                break;
        }
        ss_routes_free(r);
        ss_topology_free(t);
    }
}

/* Each route is what the rule chooses of all shortest paths, hop by hop. */
static void each_routing_chooses_among_all_shortest_paths_as_it_is_defined(void)
{
    enum { MOST = 4096 };
    static naive_path path[MOST];
    uint64_t several = 0, pairs = 0;
    for (int round = 0; round < TOPOLOGIES && !check_this_failed; round++) {
        ss_topology *t = draw(3) ? draw_fabric() : draw_topology();
        CHECK(t != NULL, "%s", err.text);
        if (draw(3) == 0)
            draw_failures(t);
        ss_topology_set_routing(t, draw(4) ? SS_ROUTING_ECMP : SS_ROUTING_SHORTEST, draw(5));
        ss_routes *r;
        CHECK_OK(ss_topology_check(t, &err));
        CHECK_OK(ss_routes_new(t, &r, &err));
        for (uint32_t i = 0; i < t->devices * t->devices && !check_this_failed; i++) {
            ss_device from = {1 + draw(t->devices)}, to = {1 + draw(t->devices)};
            if (from.i == to.i)
                continue;
            uint32_t n = naive_all_routes(t, from, to, path, MOST);
            CHECK(n <= MOST, "%u paths", n);
            static const naive_path none = {0};
            const naive_path *chosen = n ? naive_choice(t, from, to, path, n) : &none;
            /* same_links looks the path up by the node of the target */
            static naive_path of_node[NAIVE_MAX_NODES];
            of_node[t->device[to.i].node.i] = *chosen;
            same_links(t, r, from, to, of_node);
            several += n > 1;
            pairs++;
        }
        ss_routes_free(r);
        ss_topology_free(t);
    }
    CHECK(several * 5 > pairs, "%llu of %llu pairs have several", (unsigned long long)several,
          (unsigned long long)pairs);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seed = strtoull(argv[1], NULL, 10);
    printf("seed %llu\n", (unsigned long long)seed);
    if (ss_rng_open(&rng, seed, "routes", &err))
        return 99;
    RUN(lazy_routes_are_those_of_the_twin_in_any_order_of_asking);
    RUN(each_routing_chooses_among_all_shortest_paths_as_it_is_defined);
    ss_rng_close(&rng);
    return DONE();
}
