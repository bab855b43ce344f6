#include "base/mem.h"
#include "check.h"
#include "graph/route.h"

static ss_error err;

static ss_topology *topology(void)
{
    ss_topology *t = NULL;
    if (ss_topology_new("lab", &t, &err))
        exit(99);
    return t;
}

static ss_device device(ss_topology *t, const char *name, bool forwards)
{
    ss_device d = {0};
    ss_device_def def = {.kind = "k80", .speed = 1, .forwards = forwards};
    if (ss_topology_add_device(t, name, &def, &d, &err))
        exit(99);
    return d;
}

static ss_node hub(ss_topology *t, const char *name)
{
    ss_node n = {0};
    if (ss_topology_add_switch(t, name, &n, &err))
        exit(99);
    return n;
}

static ss_link join(ss_topology *t, ss_node a, ss_node b, ss_link_def def)
{
    ss_link l = {0};
    if (!def.bytes_per_s)
        def.bytes_per_s = 7e9;
    if (ss_topology_add_link(t, a, b, &def, &l, &err))
        exit(99);
    return l;
}

static ss_node at(const ss_topology *t, ss_device d)
{
    return t->device[d.i].node;
}

static void an_unknown_device_is_refused(void)
{
    ss_topology *t = topology();
    ss_device a = device(t, "a", false);
    ss_routes *r;
    ss_route route;
    CHECK_OK(ss_routes_new(t, &r, &err));
    CHECK(ss_routes_find(r, a, (ss_device){2}, &route, &err) == SS_EINVAL, "device 2");
    CHECK_TEXT(err.text, "a route from device 1 to device 2: topology lab has 1");
    CHECK(ss_routes_find(r, (ss_device){0}, a, &route, &err) == SS_EINVAL, "device 0");
    CHECK_OK(ss_routes_find(r, a, a, &route, &err));
    CHECK(route.i == 0, "%u", route.i);
    ss_routes_free(r);
    ss_topology_free(t);
}

static void the_sentence_for_an_unreachable_device_names_both_and_what_is_in_the_way(void)
{
    ss_topology *t = topology();
    ss_device a = device(t, "a", false), b = device(t, "b", false), c = device(t, "c", false);
    ss_device lonely = device(t, "lonely", false);
    join(t, at(t, a), at(t, b), (ss_link_def){0});
    join(t, at(t, b), at(t, c), (ss_link_def){0});
    ss_routes *r;
    ss_route route;
    CHECK_OK(ss_routes_new(t, &r, &err));
    CHECK(ss_routes_find(r, a, c, &route, &err) == SS_EINVAL, "b does not forward");
    CHECK_TEXT(err.text, "c cannot be reached from a: the way leads through device b, which does "
                         "not forward");
    CHECK(ss_routes_find(r, lonely, a, &route, &err) == SS_EINVAL, "no link leads out");
    CHECK_TEXT(err.text, "a cannot be reached from lonely: no links lead there");
    CHECK(ss_routes_find(r, b, a, &route, &err) == SS_EINVAL, "the link is one way");
    CHECK(ss_routes_count(r) == 0, "%u routes", ss_routes_count(r));
    ss_routes_free(r);
    ss_topology_free(t);
}

static void a_topology_that_changed_is_refused(void)
{
    ss_topology *t = topology();
    ss_device a = device(t, "a", false), b = device(t, "b", false);
    ss_routes *r;
    ss_route route;
    CHECK_OK(ss_routes_new(t, &r, &err));
    join(t, at(t, a), at(t, b), (ss_link_def){0});
    CHECK(ss_routes_find(r, a, b, &route, &err) == SS_EINVAL, "changed");
    CHECK_TEXT(err.text, "topology lab was changed after its routes were made");
    ss_routes_free(r);
    ss_topology_free(t);
}

static void weight_comes_before_latency_and_latency_before_link_numbers(void)
{
    ss_topology *t = topology();
    ss_device a = device(t, "a", false), b = device(t, "b", false);
    ss_node s = hub(t, "s"), u = hub(t, "u");
    join(t, at(t, a), at(t, b), (ss_link_def){.weight = 3, .latency_s = 0});
    join(t, at(t, a), s, (ss_link_def){.latency_s = 5e-6});
    join(t, s, at(t, b), (ss_link_def){.latency_s = 1e-6});
    ss_link first = join(t, at(t, a), u, (ss_link_def){.latency_s = 2e-6});
    ss_link second = join(t, u, at(t, b), (ss_link_def){.latency_s = 3e-6, .bytes_per_s = 3e9});
    ss_routes *r;
    ss_route route;
    uint32_t n;
    CHECK_OK(ss_routes_new(t, &r, &err));
    CHECK_OK(ss_routes_find(r, a, b, &route, &err));
    const ss_link *link = ss_route_links(r, route, &n);
    CHECK(n == 2 && link[0].i == first.i && link[1].i == second.i, "%u links, %u first", n,
          link[0].i);
    CHECK(ss_route_bytes_per_s(r, route) == 3e9, "%g", ss_route_bytes_per_s(r, route));
    CHECK(ss_route_latency_s(r, route) == 2e-6 + 3e-6, "%g", ss_route_latency_s(r, route));
    ss_routes_free(r);
    ss_topology_free(t);
}

/* s -> u -> v and s -> v are equally heavy; the lower link where they part decides, though the
 * first of them ends in the lowest link of all. */
static void paths_of_different_length_are_compared_where_they_part(void)
{
    ss_topology *t = topology();
    ss_device a = device(t, "a", false), b = device(t, "b", false);
    ss_node s = hub(t, "s"), u = hub(t, "u");
    ss_link u_to_b = join(t, u, at(t, b), (ss_link_def){0});
    join(t, at(t, a), s, (ss_link_def){0});
    ss_link straight = join(t, s, at(t, b), (ss_link_def){.weight = 2});
    join(t, s, u, (ss_link_def){0});
    ss_routes *r;
    ss_route route;
    uint32_t n;
    CHECK(u_to_b.i < straight.i, "the trap is set");
    CHECK_OK(ss_routes_new(t, &r, &err));
    CHECK_OK(ss_routes_find(r, a, b, &route, &err));
    const ss_link *link = ss_route_links(r, route, &n);
    CHECK(n == 2 && link[1].i == straight.i, "%u links", n);
    ss_routes_free(r);
    ss_topology_free(t);
}

static void a_half_duplex_link_serves_both_ways_and_a_switch_is_passed_through(void)
{
    ss_topology *t = topology();
    ss_device a = device(t, "a", false), b = device(t, "b", false);
    ss_node bus = hub(t, "bus");
    ss_link x = join(t, at(t, a), bus, (ss_link_def){.half_duplex = true});
    ss_link y = join(t, at(t, b), bus, (ss_link_def){.half_duplex = true});
    ss_routes *r;
    ss_route route;
    uint32_t n;
    CHECK_OK(ss_routes_new(t, &r, &err));
    CHECK_OK(ss_routes_find(r, a, b, &route, &err));
    const ss_link *link = ss_route_links(r, route, &n);
    CHECK(n == 2 && link[0].i == x.i && link[1].i == y.i, "a -> b");
    CHECK_OK(ss_routes_find(r, b, a, &route, &err));
    link = ss_route_links(r, route, &n);
    CHECK(n == 2 && link[0].i == y.i && link[1].i == x.i, "b -> a");
    ss_routes_free(r);
    ss_topology_free(t);
}

static void a_given_route_goes_before_a_shorter_one(void)
{
    ss_topology *t = topology();
    ss_device a = device(t, "a", false), b = device(t, "b", false), c = device(t, "c", false);
    join(t, at(t, a), at(t, b), (ss_link_def){0});
    ss_link around[2];
    around[0] = join(t, at(t, a), at(t, c), (ss_link_def){.bytes_per_s = 2e9});
    around[1] = join(t, at(t, c), at(t, b), (ss_link_def){0});
    CHECK_OK(ss_topology_add_route(t, a, b, around, 2, &err));
    ss_routes *r;
    ss_route route, again;
    uint32_t n;
    CHECK_OK(ss_routes_new(t, &r, &err));
    CHECK_OK(ss_routes_find(r, a, b, &route, &err));
    const ss_link *link = ss_route_links(r, route, &n);
    CHECK(n == 2 && link[0].i == around[0].i, "%u links", n);
    CHECK(ss_route_bytes_per_s(r, route) == 2e9, "%g", ss_route_bytes_per_s(r, route));
    CHECK_OK(ss_routes_find(r, a, b, &again, &err));
    CHECK(again.i == route.i && ss_routes_count(r) == 1, "asked twice, kept once");
    ss_routes_free(r);
    ss_topology_free(t);
}

/* Ten thousand devices on one switch, each asked for its neighbour only. */
static void few_pairs_of_many_devices_are_cheap_and_pointers_stay(void)
{
    enum { N = 10000 };
    ss_topology *t = topology();
    ss_node s = hub(t, "s");
    for (uint32_t i = 1; i <= N; i++) {
        char name[20];
        snprintf(name, sizeof name, "d%u", i);
        ss_device d = device(t, name, false);
        join(t, at(t, d), s, (ss_link_def){.half_duplex = true});
    }
    ss_routes *r;
    ss_route route, first;
    uint32_t n;
    size_t before = ss_mem_live();
    CHECK_OK(ss_routes_new(t, &r, &err));
    CHECK_OK(ss_routes_find(r, (ss_device){1}, (ss_device){2}, &first, &err));
    const ss_link *link = ss_route_links(r, first, &n);
    for (uint32_t i = 1; i <= N; i++) {
        CHECK_OK(ss_routes_find(r, (ss_device){i}, (ss_device){i % N + 1}, &route, &err));
        (void)ss_route_links(r, route, &n);
        CHECK(n == 2, "%u", n);
    }
    CHECK(link == ss_route_links(r, first, &n) && link[0].i == 1 && link[1].i == 2, "moved");
    CHECK(ss_routes_count(r) == N, "%u", ss_routes_count(r));
    CHECK(ss_mem_live() - before < 600 * N, "%zu bytes", ss_mem_live() - before);
    ss_routes_free(r);
    ss_topology_free(t);
}

static uint32_t apart(uint32_t a, uint32_t b, uint32_t n)
{
    uint32_t d = a > b ? a - b : b - a;
    return d < n - d ? d : n - d;
}

/* A torus of N by N devices; so many forward that a hundred searches do not fit beside each other. */
enum { TORUS = 200, SOURCES = 100 };

static ss_topology *big_torus(void)
{
    ss_topology *t = topology();
    for (uint32_t i = 0; i < TORUS * TORUS; i++) {
        char name[20];
        snprintf(name, sizeof name, "d%u", i);
        device(t, name, true);
    }
    for (uint32_t y = 0; y < TORUS; y++)
        for (uint32_t x = 0; x < TORUS; x++) {
            ss_node here = {y * TORUS + x + 1}, right = {y * TORUS + (x + 1) % TORUS + 1};
            ss_node below = {(y + 1) % TORUS * TORUS + x + 1};
            join(t, here, right, (ss_link_def){.half_duplex = true});
            join(t, here, below, (ss_link_def){.half_duplex = true});
        }
    return t;
}

static void searches_that_give_way_are_begun_again_or_packed(void)
{
    enum { N = TORUS };
    ss_topology *t = big_torus();
    ss_routes *r;
    CHECK_OK(ss_routes_new(t, &r, &err));
    for (uint32_t i = 0; i < 3 * SOURCES; i++) {
        uint32_t a = i % SOURCES * 37, b = (a + 1 + i / SOURCES * 403) % (N * N), n;
        ss_route route;
        CHECK_OK(ss_routes_find(r, (ss_device){b + 1}, (ss_device){a + 1}, &route, &err));
        (void)ss_route_links(r, route, &n);
        CHECK(n == apart(a % N, b % N, N) + apart(a / N, b / N, N), "%u -> %u: %u", b, a, n);
    }
    ss_routes_free(r);
    ss_topology_free(t);
}

/* Asked target by target, and so that every search has given way before it is asked again: some of them
 * are packed then, since they went to the far side. */
static void packed_searches_give_the_same_routes(void)
{
    enum { N = TORUS * TORUS, EACH = 4 };
    ss_topology *t = big_torus();
    ss_topology_set_routing(t, SS_ROUTING_ECMP, 21);
    ss_routes *once, *often;
    CHECK_OK(ss_routes_new(t, &once, &err));
    CHECK_OK(ss_routes_new(t, &often, &err));
    ss_route route;
    for (uint32_t i = 0; i < SOURCES * EACH; i++) {
        ss_device to = {i % SOURCES * 391 + 1};
        ss_device from = {(to.i + N / 2 + TORUS / 2 + i / SOURCES * 17) % N + 1};
        CHECK_OK(ss_routes_find(often, from, to, &route, &err));
    }
    for (uint32_t k = 0; k < SOURCES; k++)
        for (uint32_t i = 0; i < EACH; i++) {
            ss_device to = {k * 391 + 1}, from = {(to.i + N / 2 + TORUS / 2 + i * 17) % N + 1};
            ss_route other;
            uint32_t n, m;
            CHECK_OK(ss_routes_find(once, from, to, &route, &err));
            CHECK_OK(ss_routes_find(often, from, to, &other, &err));
            const ss_link *a = ss_route_links(once, route, &n),
                          *b = ss_route_links(often, other, &m);
            CHECK(n == m && !memcmp(a, b, n * sizeof *a), "%u -> %u", from.i, to.i);
        }
    ss_routes_free(once);
    ss_routes_free(often);
    ss_topology_free(t);
}

static ss_link named(const ss_topology *t, const char *name)
{
    ss_link l = {ss_names_find(&t->link_names, name)};
    if (!l.i)
        exit(99);
    return l;
}

static void both_ways(ss_topology *t, ss_node a, ss_node b)
{
    join(t, a, b, (ss_link_def){.latency_s = 1e-6});
    join(t, b, a, (ss_link_def){.latency_s = 1e-6});
}

/* Devices a1 .. aN on leaf A, b1 .. bN on leaf B, and spines between the leaves. */
static ss_topology *two_leaves(uint32_t devices, uint32_t spines)
{
    ss_topology *t = topology();
    ss_node leaf[] = {hub(t, "A"), hub(t, "B")};
    char name[20];
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t i = 1; i <= devices; i++) {
            snprintf(name, sizeof name, "%c%u", "ab"[side], i);
            both_ways(t, at(t, device(t, name, false)), leaf[side]);
        }
    for (uint32_t i = 1; i <= spines; i++) {
        snprintf(name, sizeof name, "s%u", i);
        ss_node spine = hub(t, name);
        both_ways(t, leaf[0], spine);
        both_ways(t, leaf[1], spine);
    }
    return t;
}

/* Which link is the n-th (from 0) of the route between two devices. */
static uint32_t hop(ss_routes *r, uint32_t from, uint32_t to, uint32_t n)
{
    ss_route route;
    uint32_t links;
    if (ss_routes_find(r, (ss_device){from}, (ss_device){to}, &route, &err))
        return 0;
    const ss_link *link = ss_route_links(r, route, &links);
    return n < links ? link[n].i : 0;
}

static void shortest_sends_every_pair_over_the_first_spine_and_ecmp_over_all(void)
{
    enum { N = 16, SPINES = 4 };
    ss_topology *t = two_leaves(N, SPINES);
    for (uint32_t ecmp = 0; ecmp < 2; ecmp++) {
        uint32_t used = 0, first = named(t, "A->s1").i;
        ss_routes *r;
        ss_topology_set_routing(t, ecmp ? SS_ROUTING_ECMP : SS_ROUTING_SHORTEST, 5);
        CHECK_OK(ss_routes_new(t, &r, &err));
        for (uint32_t i = 1; i <= N; i++)
            for (uint32_t k = 1; k <= N; k++) {
                uint32_t up = hop(r, i, N + k, 1), spine = (up - first) / 4;
                CHECK(up >= first && spine < SPINES && (up - first) % 4 == 0, "link %u", up);
                used |= 1u << spine;
            }
        CHECK(used == (ecmp ? (1u << SPINES) - 1 : 1), "%x", used);
        ss_routes_free(r);
    }
    ss_topology_free(t);
}

/* Pearson's statistic over equally likely cells. */
static double chi_square(const uint32_t *count, uint32_t cells, uint32_t n)
{
    double sum = 0, expected = (double)n / cells;
    for (uint32_t i = 0; i < cells; i++)
        sum += (count[i] - expected) * (count[i] - expected) / expected;
    return sum;
}

/* 1024 pairs over 8 spines: with 7 degrees of freedom the statistic has mean 7 and variance 14, so its
 * mean over 200 seeds is within 4 standard errors of 7. */
static void ecmp_spreads_pairs_evenly_over_equal_paths(void)
{
    enum { N = 32, SPINES = 8, SEEDS = 200 };
    double mean = 0;
    ss_topology *t = two_leaves(N, SPINES);
    uint32_t first = named(t, "A->s1").i;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        uint32_t count[SPINES] = {0};
        ss_routes *r;
        ss_topology_set_routing(t, SS_ROUTING_ECMP, seed);
        CHECK_OK(ss_routes_new(t, &r, &err));
        for (uint32_t i = 1; i <= N; i++)
            for (uint32_t k = 1; k <= N; k++)
                count[(hop(r, i, N + k, 1) - first) / 4]++;
        mean += chi_square(count, SPINES, N * N) / SEEDS;
        ss_routes_free(r);
    }
    CHECK(mean > 7 - 1.06 && mean < 7 + 1.06, "mean %g", mean);
    ss_topology_free(t);
}

/* What one switch chose says nothing of what the next one does: no polarization.  Four ways at the
 * first and four at the second, 16 cells, 15 degrees of freedom. */
static void switches_one_after_the_other_choose_independently(void)
{
    enum { N = 24, WAYS = 4, SEEDS = 100 };
    ss_topology *t = topology();
    ss_node leaf[] = {hub(t, "A"), hub(t, "B")}, core[WAYS];
    char name[20];
    for (uint32_t i = 0; i < 2 * N; i++) {
        snprintf(name, sizeof name, "d%u", i);
        both_ways(t, at(t, device(t, name, false)), leaf[i / N]);
    }
    for (uint32_t i = 0; i < WAYS; i++) {
        snprintf(name, sizeof name, "core%u", i);
        core[i] = hub(t, name);
        both_ways(t, core[i], leaf[1]);
    }
    uint32_t first = t->links + 1;
    for (uint32_t i = 0; i < WAYS; i++) {
        snprintf(name, sizeof name, "agg%u", i);
        ss_node agg = hub(t, name);
        join(t, leaf[0], agg, (ss_link_def){0});
        for (uint32_t k = 0; k < WAYS; k++)
            join(t, agg, core[k], (ss_link_def){0});
    }
    double mean = 0;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        uint32_t count[WAYS * WAYS] = {0};
        ss_routes *r;
        ss_topology_set_routing(t, SS_ROUTING_ECMP, 1000 + seed);
        CHECK_OK(ss_routes_new(t, &r, &err));
        for (uint32_t i = 1; i <= N; i++)
            for (uint32_t k = 1; k <= N; k++) {
                uint32_t up = hop(r, i, N + k, 1) - first, on = hop(r, i, N + k, 2) - first;
                CHECK(up % (WAYS + 1) == 0 && up / (WAYS + 1) == on / (WAYS + 1), "%u %u", up, on);
                count[up / (WAYS + 1) * WAYS + on % (WAYS + 1) - 1]++;
            }
        mean += chi_square(count, WAYS * WAYS, N * N) / SEEDS;
        ss_routes_free(r);
    }
    CHECK(mean > 15 - 4 * 0.548 && mean < 15 + 4 * 0.548, "mean %g", mean);
    ss_topology_free(t);
}

static void routes_of_ecmp_do_not_depend_on_what_was_asked_before(void)
{
    enum { N = 20 };
    ss_topology *t = two_leaves(N, 5);
    ss_routes *a, *b;
    ss_topology_set_routing(t, SS_ROUTING_ECMP, 3);
    CHECK_OK(ss_routes_new(t, &a, &err));
    CHECK_OK(ss_routes_new(t, &b, &err));
    for (uint32_t i = 1; i <= 2 * N; i++)
        for (uint32_t k = 1; k <= 2 * N; k++)
            (void)hop(a, i, k, 0);
    for (uint32_t i = 2 * N; i >= 1; i--)
        for (uint32_t k = 1; k <= 2 * N; k++)
            for (uint32_t n = 0; n < 4; n++)
                CHECK(hop(a, k, i, n) == hop(b, k, i, n), "%u -> %u, link %u", k, i, n);
    ss_routes_free(a);
    ss_routes_free(b);
    ss_topology_free(t);
}

static void a_link_that_fails_moves_only_the_routes_over_it(void)
{
    enum { N = 20, SPINES = 4 };
    ss_topology *t = two_leaves(N, SPINES);
    ss_link broken = named(t, "A->s3");
    ss_routes *before, *after;
    ss_topology_set_routing(t, SS_ROUTING_ECMP, 9);
    CHECK_OK(ss_routes_new(t, &before, &err));
    uint32_t was[N][N], moved = 0;
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t k = 0; k < N; k++)
            was[i][k] = hop(before, i + 1, N + k + 1, 1);
    ss_routes_free(before);
    CHECK_OK(ss_topology_set_link_failed(t, broken, true, &err));
    CHECK_OK(ss_routes_new(t, &after, &err));
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t k = 0; k < N; k++) {
            uint32_t now = hop(after, i + 1, N + k + 1, 1);
            CHECK(now && now != broken.i, "over the link that failed");
            CHECK(was[i][k] == broken.i || was[i][k] == now, "%u -> %u moved", i, k);
            moved += was[i][k] == broken.i;
        }
    CHECK(moved > N * N / SPINES / 2, "%u", moved);
    ss_routes_free(after);
    ss_topology_free(t);
}

static void refused(const ss_topology *t, const char *from, const char *to, const char *says)
{
    ss_routes *r;
    ss_route route;
    CHECK_OK(ss_routes_new(t, &r, &err));
    ss_device a = t->node[ss_topology_find(t, from).i].device;
    ss_device b = t->node[ss_topology_find(t, to).i].device;
    CHECK(ss_routes_find(r, a, b, &route, &err) == SS_EINVAL, "%s -> %s is found", from, to);
    CHECK_TEXT(err.text, says);
    ss_routes_free(r);
}

static void a_pair_that_failures_cut_is_refused_and_what_failed_is_named(void)
{
    ss_topology *t = two_leaves(2, 3);
    CHECK_OK(ss_topology_set_link_failed(t, named(t, "A->s1"), true, &err));
    CHECK_OK(ss_topology_set_node_failed(t, ss_topology_find(t, "s2"), true, &err));
    CHECK_OK(ss_topology_set_link_failed(t, named(t, "s3->B"), true, &err));
    refused(t, "a1", "b2",
            "b2 cannot be reached from a1 any more: link A->s1, switch s2, link s3->B failed");
    ss_routes *r;
    CHECK_OK(ss_routes_new(t, &r, &err));
    CHECK(hop(r, 3, 1, 1) == named(t, "B->s1").i, "the way back is there");
    ss_routes_free(r);
    CHECK_OK(ss_topology_set_node_failed(t, ss_topology_find(t, "s2"), false, &err));
    CHECK_OK(ss_routes_new(t, &r, &err));
    CHECK(hop(r, 1, 3, 1) == named(t, "A->s2").i, "it works again");
    ss_routes_free(r);
    /* The link behind the one that cuts is not the cause; what leads nowhere is not either. */
    CHECK_OK(ss_topology_set_link_failed(t, named(t, "a1->A"), true, &err));
    CHECK_OK(ss_topology_set_node_failed(t, ss_topology_find(t, "s2"), true, &err));
    CHECK_OK(ss_topology_set_node_failed(t, ss_topology_find(t, "s3"), true, &err));
    refused(t, "a1", "a2", "a2 cannot be reached from a1 any more: link a1->A failed");
    CHECK_OK(ss_topology_check(t, &err));
    ss_topology_free(t);
}

static void many_failures_are_counted(void)
{
    ss_topology *t = two_leaves(2, 9);
    char name[20];
    for (uint32_t i = 1; i <= 9; i++) {
        snprintf(name, sizeof name, "A->s%u", i);
        CHECK_OK(ss_topology_set_link_failed(t, named(t, name), true, &err));
    }
    refused(t, "a1", "b1", "link A->s1, link A->s2, link A->s3 and 6 more failed");
    ss_topology_free(t);
}

static void a_route_given_over_a_link_that_failed_is_refused(void)
{
    ss_topology *t = two_leaves(1, 2);
    ss_device a = {1}, b = {2};
    ss_link way[] = {named(t, "a1->A"), named(t, "A->s2"), named(t, "s2->B"), named(t, "B->b1")};
    ss_link back[] = {named(t, "b1->B"), named(t, "B->s2"), named(t, "s2->A"), named(t, "A->a1")};
    CHECK_OK(ss_topology_add_route(t, a, b, way, 4, &err));
    CHECK_OK(ss_topology_set_node_failed(t, ss_topology_find(t, "s2"), true, &err));
    refused(t, "a1", "b1", "route a1 -> b1 was given over link A->s2, which failed: give another");
    CHECK(ss_topology_add_route(t, b, a, back, 4, &err) == SS_EINVAL, "taken");
    CHECK_TEXT(err.text, "route b1 -> a1: its link 2, B->s2, failed");
    ss_routes *r;
    CHECK_OK(ss_routes_new(t, &r, &err));
    CHECK(hop(r, 2, 1, 1) == named(t, "B->s1").i, "without a given route it goes round");
    ss_routes_free(r);
    ss_topology_free(t);
}

/* Ten thousand adapters on one switch, each with a device, and a crossbar for every eight devices:
 * none of them is a way through, and a route costs what it crosses. */
static void adapters_and_crossbars_are_not_searched(void)
{
    enum { MACHINES = 1250, GPUS = 8, N = MACHINES * GPUS, PAIRS = 20000 };
    ss_topology *t = topology();
    ss_node network = hub(t, "network");
    for (uint32_t m = 0; m < MACHINES; m++) {
        char name[30];
        snprintf(name, sizeof name, "m%u.crossbar", m);
        ss_node crossbar = hub(t, name);
        for (uint32_t g = 0; g < GPUS; g++) {
            snprintf(name, sizeof name, "m%u.gpu%u", m, g);
            ss_node gpu = at(t, device(t, name, false));
            snprintf(name, sizeof name, "m%u.nic%u", m, g);
            ss_node nic = hub(t, name);
            both_ways(t, gpu, crossbar);
            both_ways(t, gpu, nic);
            both_ways(t, nic, network);
        }
    }
    ss_routes *r;
    size_t before = ss_mem_live();
    CHECK_OK(ss_routes_new(t, &r, &err));
    size_t empty = ss_mem_live() - before;
    for (uint32_t i = 0; i < PAIRS; i++) {
        uint32_t a = i * 7919u % N, b = (i * 104729u + 13) % N, n;
        ss_route route;
        if (a == b)
            continue;
        CHECK_OK(ss_routes_find(r, (ss_device){a + 1}, (ss_device){b + 1}, &route, &err));
        (void)ss_route_links(r, route, &n);
        CHECK(n == (a / GPUS == b / GPUS ? 2 : 4), "%u -> %u: %u links", a, b, n);
    }
    size_t grown = ss_mem_live() - before - empty;
    CHECK(grown < 200 * PAIRS, "%zu bytes for %d routes", grown, PAIRS);
    ss_routes_free(r);
    ss_topology_free(t);
}

static void failing_any_allocation_leaks_nothing(void)
{
    ss_topology *t = topology();
    ss_device a = device(t, "a", false), b = device(t, "b", false);
    join(t, at(t, a), at(t, b), (ss_link_def){0});
    size_t before = ss_mem_blocks();
    for (int64_t n = 0;; n++) {
        ss_routes *r = NULL;
        ss_route route;
        ss_mem_fail_after(n);
        ss_status s = ss_routes_new(t, &r, &err);
        if (!s)
            s = ss_routes_find(r, a, b, &route, &err);
        ss_mem_fail_never();
        if (r)
            ss_routes_free(r);
        CHECK(ss_mem_blocks() == before, "request %d leaks", (int)n);
        if (!s)
            break;
        CHECK(s == SS_ENOMEM && n < 1000, "request %d: %s", (int)n, err.text);
    }
    ss_topology_free(t);
}

int main(void)
{
    RUN(an_unknown_device_is_refused);
    RUN(the_sentence_for_an_unreachable_device_names_both_and_what_is_in_the_way);
    RUN(a_topology_that_changed_is_refused);
    RUN(weight_comes_before_latency_and_latency_before_link_numbers);
    RUN(paths_of_different_length_are_compared_where_they_part);
    RUN(a_half_duplex_link_serves_both_ways_and_a_switch_is_passed_through);
    RUN(a_given_route_goes_before_a_shorter_one);
    RUN(few_pairs_of_many_devices_are_cheap_and_pointers_stay);
    RUN(searches_that_give_way_are_begun_again_or_packed);
    RUN(packed_searches_give_the_same_routes);
    RUN(shortest_sends_every_pair_over_the_first_spine_and_ecmp_over_all);
    RUN(ecmp_spreads_pairs_evenly_over_equal_paths);
    RUN(switches_one_after_the_other_choose_independently);
    RUN(routes_of_ecmp_do_not_depend_on_what_was_asked_before);
    RUN(a_link_that_fails_moves_only_the_routes_over_it);
    RUN(a_pair_that_failures_cut_is_refused_and_what_failed_is_named);
    RUN(many_failures_are_counted);
    RUN(a_route_given_over_a_link_that_failed_is_refused);
    RUN(adapters_and_crossbars_are_not_searched);
    RUN(failing_any_allocation_leaks_nothing);
    return DONE();
}
