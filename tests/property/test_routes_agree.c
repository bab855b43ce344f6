/* Random topologies full of ties: the routes found lazily are those of the naive twin, to the link.
 */
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

int main(int argc, char **argv)
{
    if (argc > 1)
        seed = strtoull(argv[1], NULL, 10);
    printf("seed %llu\n", (unsigned long long)seed);
    if (ss_rng_open(&rng, seed, "routes", &err))
        return 99;
    RUN(lazy_routes_are_those_of_the_twin_in_any_order_of_asking);
    ss_rng_close(&rng);
    return DONE();
}
