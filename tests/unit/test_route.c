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

/* So many devices forward that a hundred searches do not fit beside each other. */
static void searches_that_give_way_are_begun_again(void)
{
    enum { N = 200, SOURCES = 100 };
    ss_topology *t = topology();
    for (uint32_t i = 0; i < N * N; i++) {
        char name[20];
        snprintf(name, sizeof name, "d%u", i);
        device(t, name, true);
    }
    for (uint32_t y = 0; y < N; y++)
        for (uint32_t x = 0; x < N; x++) {
            ss_node here = {y * N + x + 1}, right = {y * N + (x + 1) % N + 1};
            ss_node below = {(y + 1) % N * N + x + 1};
            join(t, here, right, (ss_link_def){.half_duplex = true});
            join(t, here, below, (ss_link_def){.half_duplex = true});
        }
    ss_routes *r;
    CHECK_OK(ss_routes_new(t, &r, &err));
    for (uint32_t i = 0; i < 3 * SOURCES; i++) {
        uint32_t a = i % SOURCES * 37, b = (a + 1 + i / SOURCES * 403) % (N * N), n;
        ss_route route;
        CHECK_OK(ss_routes_find(r, (ss_device){a + 1}, (ss_device){b + 1}, &route, &err));
        (void)ss_route_links(r, route, &n);
        CHECK(n == apart(a % N, b % N, N) + apart(a / N, b / N, N), "%u -> %u: %u", a, b, n);
    }
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
    RUN(searches_that_give_way_are_begun_again);
    RUN(failing_any_allocation_leaks_nothing);
    return DONE();
}
