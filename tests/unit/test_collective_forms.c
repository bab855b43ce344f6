/* Collectives as transfers over links, simulated, against their closed forms: equal in every picosecond where
 * a form is exact.  Bytes take 100 ps each at 10 GB/s and latencies are whole microseconds, so that nothing is
 * rounded. */
#include "check.h"

#include <math.h>

#include "base/mem.h"
#include "graph/collective_choose.h"
#include "graph/lower.h"
#include "networks.h"
#include "simulate/engine.h"

static const double LATENCY = 3e-6, RATE = 1e10;

static ss_error err;
static ss_engine *engine;
static ss_pricer *pricer;
static ss_messages list;
static ss_reduction_tree tree;

typedef enum shape { MESH, STAR, SHAPES } shape;

typedef struct world {
    ss_topology *t;
    ss_routes *routes;
    ss_device device[64];
    uint32_t machine[64];
} world;

static void cable(ss_topology *t, ss_node a, ss_node b, double latency, double rate)
{
    ss_link_def def = {.bytes_per_s = rate, .latency_s = latency, .weight = 1};
    ss_link link;
    net_must(ss_topology_add_link(t, a, b, &def, &link, &err), &err);
    net_must(ss_topology_add_link(t, b, a, &def, &link, &err), &err);
}

/* Every pair of devices has a cable, or each has one to a switch; a message's latency is the same. */
static world make(shape s, uint32_t n, uint32_t each)
{
    world w = {0};
    ss_node hub = {0};
    net_must(ss_topology_new("world", &w.t, &err), &err);
    if (s == STAR)
        net_must(ss_topology_add_switch(w.t, "hub", &hub, &err), &err);
    for (uint32_t i = 0; i < n; i++) {
        char name[20];
        w.machine[i] = each > 1 ? i / each + 1 : 0;
        ss_device_def def = {.kind = "mine", .machine = w.machine[i], .speed = 1};
        snprintf(name, sizeof name, "d%u", i);
        net_must(ss_topology_add_device(w.t, name, &def, &w.device[i], &err), &err);
        ss_node node = w.t->device[w.device[i].i].node;
        if (s == STAR)
            cable(w.t, node, hub, LATENCY / 2, RATE);
        for (uint32_t k = 0; k < i && s == MESH; k++)
            cable(w.t, node, w.t->device[w.device[k].i].node, LATENCY, RATE);
    }
    net_must(ss_routes_new(w.t, &w.routes, &err), &err);
    return w;
}

static void drop(world *w)
{
    ss_routes_free(w->routes);
    ss_topology_free(w->t);
}

static ss_party party(const world *w)
{
    return (ss_party){w->t, w->routes, w->device};
}

static ss_time simulate(const world *w, const ss_collective *c, ss_links_mode mode)
{
    ss_lowered lowered = {0};
    ss_timeline line = {0};
    ss_lower_options o = ss_lower_options_start();
    ss_party p = party(w);
    o.links = mode;
    net_must(ss_lower_collective(c, &p, &o, &lowered, NULL, &err), &err);
    net_must(ss_engine_run(engine, &lowered.tasks, &line, &err), &err);
    ss_time time = line.makespan;
    ss_timeline_free(&line);
    ss_lowered_free(&lowered);
    return time;
}

/* By the wires of its messages, as a caller would. */
static ss_time form(const world *w, const ss_collective *c)
{
    ss_wire inside, across;
    ss_party p = party(w);
    ss_time time;
    net_must(ss_collective_messages(c, &list, &err), &err);
    net_must(ss_collective_wires(c, &p, &list, &inside, &across, &err), &err);
    net_must(ss_time_from_seconds(ss_collective_seconds(c, inside, across), "form", &time, &err),
             &err);
    return time;
}

/* Over one port each way, or over a link of their own, and whichever way links are used where a route is one
 * task or one link.  Bidirectional rings of two meet on their links. */
static const struct exact {
    ss_operation operation;
    ss_algorithm algorithm;
    bool on_star;
    bool even; /* of equal shares; else some bytes less */
} exact[] = {
    {SS_ALL_REDUCE, SS_RING, true, false},
    {SS_ALL_REDUCE, SS_BIDIRECTIONAL_RING, false, false},
    {SS_ALL_REDUCE, SS_HALVING_DOUBLING, true, true},
    {SS_ALL_REDUCE, SS_HIERARCHICAL, true, true},
    {SS_ALL_GATHER, SS_RING, true, false},
    {SS_ALL_GATHER, SS_HALVING_DOUBLING, true, true},
    {SS_REDUCE_SCATTER, SS_RING, true, false},
    {SS_REDUCE_SCATTER, SS_HALVING_DOUBLING, true, true},
    {SS_ALL_TO_ALL, SS_PAIRWISE, true, true},
    {SS_BROADCAST, SS_RING, true, true},
    {SS_BROADCAST, SS_TREE, true, false},
    {SS_REDUCE, SS_RING, true, true},
    {SS_REDUCE, SS_TREE, true, false},
    {SS_P2P, SS_DIRECT, true, false},
};

/* Of so many bytes every share and chunk is equal. */
static int64_t even_bytes(uint32_t n)
{
    return 16 * 27 * 5 * 7 * (int64_t)n;
}

/* Hops store and forward, twice the time of the bytes, where a route has two links. */
static bool is_whole(shape s, ss_links_mode mode)
{
    return s == MESH || mode == SS_LINKS_FIFO_PATH || mode == SS_LINKS_SHARED;
}

/* Whether the form is what the simulation takes, or at most so much more; else says so. */
static bool agrees(const world *w, const ss_collective *c, ss_links_mode mode, ss_time more)
{
    ss_time wanted = form(w, c), got = simulate(w, c, mode);
    if (got <= wanted && got >= wanted - more)
        return true;
    printf("  %s by %s, %u members, %lld bytes, %u chunks, links %s: %lld ps, form %lld\n",
           ss_operation_name(c->operation), ss_algorithm_name(c->algorithm), c->members,
           (long long)c->bytes, c->chunks, ss_links_mode_name(mode), (long long)got,
           (long long)wanted);
    return false;
}

static bool agree_in_all_modes(const struct exact *x, uint32_t n, shape s)
{
    uint32_t each = x->algorithm == SS_HIERARCHICAL ? 1 + n % 4 : 1;
    const int64_t sizes[] = {1, n + 1, 123456, even_bytes(n), 7 * even_bytes(n)};
    world w = make(s, n, each);
    bool right = true;
    for (uint32_t b = 0; b < sizeof sizes / sizeof *sizes; b++)
        for (uint32_t chunks = 1; chunks <= 5; chunks += 4)
            for (ss_links_mode mode = 0; mode < SS_LINKS_MODES; mode++) {
                ss_collective c = {x->operation, x->algorithm, n,   sizes[b],
                                   chunks,       w.machine,    NULL};
                ss_time more = x->even && sizes[b] % even_bytes(n) ? 200 * (ss_time)n : 0;
                if (is_whole(s, mode))
                    right &= agrees(&w, &c, mode, more);
            }
    drop(&w);
    return right;
}

static void forms_are_exact_where_no_two_messages_meet(void)
{
    for (uint32_t k = 0; k < sizeof exact / sizeof *exact; k++)
        for (uint32_t n = exact[k].algorithm == SS_BIDIRECTIONAL_RING ? 3 : 2; n <= 19;
             n += n > 9 ? 2 : 1)
            for (shape s = MESH; s < SHAPES; s++) {
                bool is = (exact[k].operation == SS_P2P && n > 2) ||
                          (s == STAR && !exact[k].on_star) || agree_in_all_modes(&exact[k], n, s);
                CHECK(is, "shape %u", s);
            }
}

static void trees_of_one_port_a_member_take_their_forms(void)
{
    for (uint32_t n = 2; n <= 24; n++) {
        world w = make(STAR, n, 1);
        ss_collective c = {SS_ALL_REDUCE, SS_TREE, n, 12345, 1, w.machine, NULL};
        bool right = agrees(&w, &c, SS_LINKS_FIFO_PATH, 0);
        drop(&w);
        CHECK(right, "%u members", n);
    }
    for (uint32_t machines = 2; machines <= 5; machines++)
        for (uint32_t each = 2; each <= 4; each++) {
            world w = make(STAR, machines * each, each);
            ss_collective c = {SS_ALL_REDUCE, SS_TWO_LEVEL, machines * each, 12345, 1,
                               w.machine,     NULL};
            bool right = agrees(&w, &c, SS_LINKS_FIFO_PATH, 0);
            drop(&w);
            CHECK(right, "%u machines of %u", machines, each);
        }
}

/* Over shared links what a member sends at one time ends together.  In two machines of 4 the first hears 3 and 1
 * and sends 4, after which the other passes on 3; a binary tree of 8 hears 2 and 2, and passes on 2, 2 and 1. */
static void trees_over_shared_ports_take_longer_than_their_forms(void)
{
    world w = make(STAR, 8, 4);
    ss_collective tree_of_8 = {SS_ALL_REDUCE, SS_TREE, 8, 1 << 24, 1, w.machine, NULL};
    ss_collective levels = tree_of_8;
    levels.algorithm = SS_TWO_LEVEL;
    double one = (1 << 24) / RATE;
    double taken[] = {ss_time_seconds(simulate(&w, &tree_of_8, SS_LINKS_SHARED)) / one,
                      ss_time_seconds(form(&w, &tree_of_8)) / one,
                      ss_time_seconds(simulate(&w, &levels, SS_LINKS_SHARED)) / one,
                      ss_time_seconds(form(&w, &levels)) / one};
    const double wanted[] = {9, 8, 11, 8};
    drop(&w);
    for (uint32_t i = 0; i < 4; i++)
        CHECK(fabs(taken[i] - wanted[i]) < 0.02, "%u: %g messages, not %g", i, taken[i], wanted[i]);
}

static uint32_t height(uint32_t n, uint32_t t)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t d = 0;
        for (uint32_t v = i, p; (p = ss_double_tree_parent(n, t, v)) != v && d < n; v = p)
            d++;
        most = d > most ? d : most;
    }
    return most;
}

/* Nearly every member is a leaf in one of the trees, and the heights are as low as they can be, or one more. */
static void members_have_two_children_in_both_trees_together(void)
{
    for (uint32_t n = 2; n <= 200; n++) {
        uint32_t children[2][200] = {{0}}, roots[2] = {0, 0}, least = 0;
        for (uint32_t t = 0; t < 2; t++)
            for (uint32_t i = 0; i < n; i++) {
                uint32_t p = ss_double_tree_parent(n, t, i);
                children[t][p] += p != i;
                roots[t] += p == i;
            }
        for (uint32_t i = 0; i < n; i++) {
            bool root = children[0][i] && children[1][i]; /* of tree 0, n odd */
            CHECK(children[0][i] + children[1][i] <= 2, "%u members: %u has more", n, i);
            CHECK(!root || (i == 0 && n % 2), "%u members: %u has children in both", n, i);
        }
        while (2U << least <= n)
            least++;
        CHECK(roots[0] == 1 && roots[1] == 1 && height(n, 0) == height(n, 1), "%u members", n);
        CHECK(height(n, 0) >= least && height(n, 0) <= least + 1, "%u members: %u high", n,
              height(n, 0));
    }
}

static void double_trees_take_their_form_between_two(void)
{
    world w = make(STAR, 2, 1);
    bool right = true;
    for (uint32_t k = 1; k <= 9; k++) {
        ss_collective c = {SS_ALL_REDUCE, SS_DOUBLE_TREE, 2, even_bytes(18), k, w.machine, NULL};
        right &= agrees(&w, &c, SS_LINKS_SHARED, 0);
        right &= k > 1 || agrees(&w, &c, SS_LINKS_FIFO_PATH, 0);
    }
    drop(&w);
    CHECK(right, "see above");
}

static void double_trees_that_meet_on_no_link_are_pipelines(void)
{
    for (uint32_t n = 4; n <= 33; n += n > 17 ? 3 : 1) {
        world w = make(MESH, n, 1);
        uint32_t d = height(n, 0);
        for (uint32_t k = 1; k <= d; k++)
            for (ss_links_mode mode = 0; mode < SS_LINKS_MODES; mode++) {
                int64_t bytes = 2 * 5000 * (int64_t)k;
                ss_collective c = {SS_ALL_REDUCE, SS_DOUBLE_TREE, n, bytes, k, w.machine, NULL};
                ss_time got = simulate(&w, &c, mode), step = 3000000 + 500000;
                CHECK(got == (2 * d + k - 1) * step, "%u members, %u chunks, links %s: %lld ps", n,
                      k, ss_links_mode_name(mode), (long long)got);
            }
        drop(&w);
    }
}

/* What the estimates of chunks are worth over one port a member: the simulated time over theirs.  Of trees
 * latencies of the two messages that a member sends down pass together, which the form has one after the
 * other. */
static void estimates_of_trees_in_chunks_are_near(void)
{
    double least[2] = {INFINITY, INFINITY}, most[2] = {0}, most_of_many = 0, least_of_many = 9;
    for (uint32_t n = 3; n <= 33; n += n > 9 ? 5 : 2) {
        world w = make(STAR, n, 1);
        for (uint32_t k = 1; k <= 32; k *= 2)
            for (uint32_t a = 0; a < 2; a++)
                for (int64_t bytes = 10000; bytes <= 100000000; bytes *= 100) {
                    ss_algorithm by = a ? SS_TREE : SS_DOUBLE_TREE;
                    ss_collective c = {SS_ALL_REDUCE, by, n, bytes, k, w.machine, NULL};
                    double x = (double)simulate(&w, &c, SS_LINKS_SHARED) / (double)form(&w, &c);
                    least[a] = fmin(least[a], x);
                    most[a] = fmax(most[a], x);
                    most_of_many = a || k < 8 ? most_of_many : fmax(x, most_of_many);
                    least_of_many = a || k < 8 ? least_of_many : fmin(x, least_of_many);
                }
        drop(&w);
    }
    printf("  simulated over estimated: double_tree %.2f to %.2f, of 8 chunks or more %.2f to "
           "%.2f; tree "
           "%.2f to %.2f\n",
           least[0], most[0], least_of_many, most_of_many, least[1], most[1]);
    CHECK(least[0] > 0.85 && most[0] < 1.5, "double_tree %g to %g", least[0], most[0]);
    CHECK(least_of_many > 0.95 && most_of_many < 1.25, "%g to %g", least_of_many, most_of_many);
    CHECK(least[1] > 0.59 && most[1] < 1.4, "tree %g to %g", least[1], most[1]);
}

/* Leaves of two to four devices below a spine, the cables slower upwards, where the tree forks. */
static world make_leaves(uint32_t leaves)
{
    world w = {0};
    ss_node spine, leaf;
    uint32_t n = 0;
    char name[20];
    net_must(ss_topology_new("leaves", &w.t, &err), &err);
    net_must(ss_topology_add_switch(w.t, "spine", &spine, &err), &err);
    for (uint32_t l = 0; l < leaves; l++) {
        snprintf(name, sizeof name, "leaf%u", l);
        net_must(ss_topology_add_switch(w.t, name, &leaf, &err), &err);
        cable(w.t, leaf, spine, 1e-6 * (1 + l % 2), l % 3 ? RATE : RATE / 2);
        for (uint32_t k = 0; k < 2 + l % 3; k++, n++) {
            ss_device_def def = {.kind = "mine", .speed = 1};
            snprintf(name, sizeof name, "d%u", n);
            net_must(ss_topology_add_device(w.t, name, &def, &w.device[n], &err), &err);
            cable(w.t, w.t->device[w.device[n].i].node, leaf, LATENCY, RATE);
        }
    }
    net_must(ss_routes_new(w.t, &w.routes, &err), &err);
    return w;
}

static void sums_in_the_network_take_their_form_whichever_way_links_are_used(void)
{
    for (uint32_t leaves = 1; leaves <= 7; leaves++) {
        world w = make_leaves(leaves);
        uint32_t n = w.t->devices;
        bool right = true;
        CHECK_OK(ss_reduction_tree_make(w.t, w.routes, w.device, n, &tree, &err));
        CHECK(tree.n == n + leaves + (leaves > 1), "%u vertices", tree.n);
        CHECK(leaves < 2 || tree.node[tree.root].i == ss_topology_find(w.t, "spine").i, "the root");
        for (uint32_t k = 1; k <= 12; k = 2 * k + 1)
            for (ss_links_mode mode = 0; mode < SS_LINKS_MODES; mode++) {
                ss_collective c = {SS_ALL_REDUCE, SS_IN_NETWORK, n, 3360000, k, w.machine, &tree};
                right &= agrees(&w, &c, mode, 0);
            }
        drop(&w);
        CHECK(right, "%u leaves", leaves);
    }
}

static void what_cannot_add_up_is_refused(void)
{
    world mesh = make(MESH, 3, 1), star = make(STAR, 3, 1);
    ss_collective c = {SS_ALL_REDUCE, SS_IN_NETWORK, 3, 100, 1, NULL, NULL};
    CHECK(ss_reduction_tree_make(mesh.t, mesh.routes, mesh.device, 3, &tree, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "the way from d1 to d0 crosses no switch");
    CHECK(ss_reduction_tree_make(star.t, star.routes, star.device, 1, &tree, &err) == SS_EINVAL);
    CHECK(ss_collective_messages(&c, &list, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "the tree of switches of its 3 members");
    c.operation = SS_BROADCAST;
    CHECK(ss_collective_messages(&c, &list, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "broadcast has no algorithm in_network; it has ring, tree");
    c = (ss_collective){SS_P2P, SS_DIRECT, 3, 100, 1, NULL, NULL};
    CHECK(ss_collective_messages(&c, &list, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "p2p is between 2 members, not 3");
    drop(&mesh);
    drop(&star);
}

static ss_price price_of(const world *w, const ss_collective *c, ss_links_mode mode)
{
    ss_lower_options o = ss_lower_options_start();
    ss_party p = party(w);
    ss_price price;
    o.links = mode;
    net_must(ss_price_collective(pricer, c, &p, &o, &price, &err), &err);
    return price;
}

static double seconds_of(ss_price p)
{
    return p.latency_s + p.transfer_s;
}

/* Where a form is exact the price is it, and where links are stored and forwarded what that takes. */
static void prices_are_the_forms_where_no_two_messages_meet(void)
{
    for (uint32_t k = 0; k < sizeof exact / sizeof *exact; k++)
        for (uint32_t n = exact[k].algorithm == SS_BIDIRECTIONAL_RING ? 3 : 2; n <= 19; n += 3)
            for (shape s = MESH; s < SHAPES; s++) {
                if ((exact[k].operation == SS_P2P && n > 2) || (s == STAR && !exact[k].on_star))
                    continue;
                world w = make(s, n, exact[k].algorithm == SS_HIERARCHICAL ? 1 + n % 4 : 1);
                for (ss_links_mode mode = 0; mode < SS_LINKS_MODES; mode++) {
                    ss_collective c = {exact[k].operation,
                                       exact[k].algorithm,
                                       n,
                                       even_bytes(n),
                                       mode == SS_LINKS_SHARED ? 5 : 1,
                                       w.machine,
                                       NULL};
                    double taken = ss_time_seconds(simulate(&w, &c, mode));
                    double priced = seconds_of(price_of(&w, &c, mode));
                    double more = is_whole(s, mode) ? 1e-9 : 0.03; /* members run ahead of a step */
                    CHECK(priced > taken * (1 - 1e-9) && priced < taken * (1 + more),
                          "%s by %s, %u members, links %s: %g, took %g",
                          ss_operation_name(c.operation), ss_algorithm_name(c.algorithm), n,
                          ss_links_mode_name(mode), priced, taken);
                }
                drop(&w);
            }
}

/* A ring of devices that pass on, cables of 3 us. */
static world make_ring(uint32_t n)
{
    world w = {0};
    net_must(ss_topology_new("ring", &w.t, &err), &err);
    for (uint32_t i = 0; i < n; i++) {
        char name[20];
        ss_device_def def = {.kind = "mine", .speed = 1, .forwards = true};
        snprintf(name, sizeof name, "d%u", i);
        net_must(ss_topology_add_device(w.t, name, &def, &w.device[i], &err), &err);
        if (i)
            cable(w.t, w.t->device[i].node, w.t->device[i + 1].node, LATENCY, RATE);
    }
    cable(w.t, w.t->device[n].node, w.t->device[1].node, LATENCY, RATE);
    net_must(ss_routes_new(w.t, &w.routes, &err), &err);
    return w;
}

/* Between two both ways round are one link; over one port a member both ways share it; and a partner half
 * way round a ring of 16 is eight links away, each of which eight pairs cross. */
static void messages_that_meet_on_links_are_priced_with_all_that_is_there(void)
{
    const struct {
        shape s;
        uint32_t n;
    } two_ways[] = {{MESH, 2}, {STAR, 2}, {STAR, 3}, {STAR, 8}};
    for (uint32_t k = 0; k < sizeof two_ways / sizeof *two_ways; k++) {
        uint32_t n = two_ways[k].n;
        world w = make(two_ways[k].s, n, 1);
        ss_collective c = {SS_ALL_REDUCE, SS_BIDIRECTIONAL_RING, n, 2 * even_bytes(n), 1, w.machine,
                           NULL};
        double wanted = 2.0 * (n - 1) * (LATENCY + (double)c.bytes / n / RATE);
        double priced = seconds_of(price_of(&w, &c, SS_LINKS_SHARED));
        double taken = ss_time_seconds(simulate(&w, &c, SS_LINKS_SHARED));
        drop(&w);
        CHECK(fabs(priced / wanted - 1) < 1e-9 && fabs(taken / wanted - 1) < 1e-9,
              "%u members: %g, took %g, not %g", n, priced, taken, wanted);
    }
    world w = make_ring(16);
    ss_collective c = {SS_ALL_REDUCE, SS_HALVING_DOUBLING, 16, 1 << 26, 1, w.machine, NULL};
    double priced = seconds_of(price_of(&w, &c, SS_LINKS_SHARED));
    double taken = ss_time_seconds(simulate(&w, &c, SS_LINKS_SHARED));
    double alone = ss_time_seconds(form(&w, &c));
    drop(&w);
    CHECK(fabs(priced / taken - 1) < 0.01 && priced > 1.5 * alone, "%g, took %g, form %g", priced,
          taken, alone);
}

/* Chosen is what takes least on these links. */
static void the_least_price_is_chosen(void)
{
    world w = make(STAR, 48, 8), same = make(STAR, 3, 3);
    ss_lower_options o = ss_lower_options_start();
    ss_party p = party(&w);
    ss_price price;
    ss_collective c = {
        .operation = SS_ALL_REDUCE, .members = 32, .bytes = 1000, .machine = w.machine};
    o.links = SS_LINKS_SHARED;
    CHECK_OK(ss_choose_collective(pricer, &c, &p, &o, &price, &err));
    CHECK(c.algorithm == SS_HALVING_DOUBLING && c.chunks == 1, "%s",
          ss_algorithm_name(c.algorithm));
    c.members = 48; /* 16 of them would be folded in */
    c.bytes = 1 << 24;
    c.chunks = 0;
    CHECK_OK(ss_choose_collective(pricer, &c, &p, &o, &price, &err));
    CHECK(c.algorithm == SS_HIERARCHICAL, "%s", ss_algorithm_name(c.algorithm));
    c = (ss_collective){.operation = SS_BROADCAST, .members = 9, .bytes = 100000000};
    CHECK_OK(ss_choose_collective(pricer, &c, &p, &o, &price, &err));
    CHECK(c.algorithm == SS_RING && c.chunks > 9, "%s, %u chunks", ss_algorithm_name(c.algorithm),
          c.chunks);
    for (uint32_t k = 1; k < 300; k++) { /* the steps between are a third at most */
        ss_collective other = c;
        ss_price of_other;
        other.chunks = k;
        CHECK_OK(ss_price_collective(pricer, &other, &p, &o, &of_other, &err));
        CHECK(seconds_of(of_other) > 0.97 * seconds_of(price), "%u chunks", k);
    }
    p = party(&same); /* all in one machine: halving has to fold one of them in */
    c = (ss_collective){
        .operation = SS_ALL_REDUCE, .members = 3, .bytes = 1 << 20, .machine = same.machine};
    CHECK_OK(ss_choose_collective(pricer, &c, &p, &o, &price, &err));
    CHECK(c.algorithm == SS_RING, "%s", ss_algorithm_name(c.algorithm));
    drop(&w);
    drop(&same);
}

/* With routes that nobody asked before; where prices are no straight lines in bytes, by itself. */
static ss_status choose_anew(ss_collective *c, ss_party p, const ss_lower_options *o)
{
    ss_price price;
    if ((p.topology->laws && !o->ideal_links) || o->segment_bytes > 0)
        return ss_choose_collective(pricer, c, &p, o, &price, &err);
    net_must(ss_routes_new(p.topology, &p.routes, &err), &err);
    ss_status s = ss_choose_collective_again(c, &p, o, &err);
    ss_routes_free(p.routes);
    return s;
}

static bool is_chosen_anew(const ss_collective *asked, const ss_party *p, const ss_lower_options *o)
{
    ss_collective c = *asked, d = *asked;
    net_must(ss_choose_collective_again(&c, p, o, &err), &err);
    net_must(choose_anew(&d, *p, o), &err);
    return c.algorithm == d.algorithm && c.chunks == d.chunks;
}

static ss_lower_options nth_options(uint32_t i)
{
    static const ss_links_mode modes[] = {SS_LINKS_SHARED, SS_LINKS_FIFO_HOP, SS_LINKS_FIFO_PIPE};
    ss_lower_options o = ss_lower_options_start();
    o.links = modes[i % 3];
    o.ideal_links = i / 3 % 2;
    o.flow_limit = o.links == SS_LINKS_SHARED && i / 6 % 2 ? RATE / 7 : 0;
    o.segment_bytes = i / 12 % 2 ? 30000 : 0;
    o.max_segments = i / 24 % 2 ? 16 : 2;
    return o;
}

/* No two links alike; half sizes, if so. */
static world make_uneven(bool laws)
{
    world w = make(STAR, 24, 4);
    for (uint32_t l = 1; l <= w.t->links; l++) {
        ss_link_law law = {.half_bytes = 1e5 * (l % 4)};
        ss_link_def def = w.t->link[l].def;
        def.bytes_per_s = RATE / (1 + l * 5 % 7);
        def.latency_s = LATENCY * (1 + l * 3 % 13);
        def.law = laws ? &law : NULL;
        net_must(ss_topology_set_link(w.t, (ss_link){l}, &def, &err), &err);
    }
    ss_routes_free(w.routes);
    net_must(ss_routes_new(w.t, &w.routes, &err), &err);
    return w;
}

/* What was found for one size, by some options and of some members serves no others than it may: it is what
 * one finds anew.  More is asked than is kept, so that they drive each other out. */
static void a_choice_does_not_hang_on_those_before(void)
{
    static const int64_t sizes[] = {3, 1000, 70000, 100000, 5000000, 1000000007};
    for (uint32_t i = 0, seed = 1; i < 8000; i++) {
        static world w;
        ss_device members[9];
        if (i % 4000 == 0)
            w = make_uneven(i > 0);
        ss_party p = {w.t, w.routes, members};
        ss_lower_options o = nth_options(i / 7);
        seed = seed * 1664525 + 1013904223;
        uint32_t n = 3 + (seed >> 8) % 6, from = (seed >> 16) % 8;
        for (uint32_t k = 0; k < n; k++)
            members[k] = w.device[from + k * (1 + (seed >> 20) % 2)];
        ss_collective c = {.operation = SS_ALL_REDUCE,
                           .members = n,
                           .bytes = sizes[(seed >> 24) % 6],
                           .chunks = i % 11 ? 0 : 3,
                           .machine = i % 5 ? w.machine + from : NULL};
        CHECK(is_chosen_anew(&c, &p, &o), "%u, %lld bytes", i, (long long)c.bytes);
        if (i % 4000 == 3999)
            drop(&w);
    }
}

/* Far more sizes, members and machines than are kept: each drives another one out, and is not taken for it. */
static void what_is_kept_of_others_is_not_taken(void)
{
    world laws = make_uneven(true), none = make_uneven(false);
    ss_lower_options o = ss_lower_options_start();
    o.links = SS_LINKS_SHARED;
    for (uint32_t i = 0, seed = 7; i < 3000; i++) {
        ss_party p = party(&laws), q = party(&none);
        ss_collective c = {.operation = SS_ALL_REDUCE, .members = 7, .machine = laws.machine};
        c.bytes = 1 + (int64_t)exp(i * 20.0 / 3000);
        CHECK(is_chosen_anew(&c, &p, &o), "%lld bytes", (long long)c.bytes);
        ss_device members[6];
        uint32_t machine[6];
        for (uint32_t k = 0; k < 6; k++) {
            seed = seed * 1664525 + 1013904223;
            members[k] = none.device[4 * k + (seed >> 16) % 4];
            machine[k] = 1 + (i % 2 ? k / 3 : k % 3);
        }
        ss_collective d = {
            .operation = SS_ALL_REDUCE, .members = 6, .bytes = 300000, .machine = machine};
        q.device = members;
        CHECK(is_chosen_anew(&d, &q, &o), "members %u", i);
        q.device = none.device + 5;
        CHECK(is_chosen_anew(&d, &q, &o), "machines %u", i);
    }
    drop(&laws);
    drop(&none);
}

/* A chain without latencies is the faster the more chunks it has, and a tensor of five bytes has five at most. */
static void no_more_chunks_than_bytes_are_chosen(void)
{
    world w = make(STAR, 9, 1);
    for (uint32_t l = 1; l <= w.t->links; l++) {
        ss_link_def def = w.t->link[l].def;
        def.latency_s = 0;
        net_must(ss_topology_set_link(w.t, (ss_link){l}, &def, &err), &err);
    }
    ss_routes_free(w.routes);
    net_must(ss_routes_new(w.t, &w.routes, &err), &err);
    ss_lower_options o = ss_lower_options_start();
    ss_party p = party(&w);
    o.links = SS_LINKS_SHARED;
    const struct {
        int64_t bytes;
        uint32_t chunks;
    } sizes[] = {{1 << 20, 256}, {5, 4}, {257, 256}, {200, 192}, {3, 3}};
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ss_collective c = {.operation = SS_BROADCAST, .members = 9, .bytes = sizes[i].bytes};
        CHECK_OK(ss_choose_collective_again(&c, &p, &o, &err));
        CHECK(c.algorithm == SS_RING && c.chunks == sizes[i].chunks, "%lld bytes: %s, %u chunks",
              (long long)c.bytes, ss_algorithm_name(c.algorithm), c.chunks);
    }
    drop(&w);
}

/* Asked again, nothing is asked of memory. */
static void a_choice_is_kept(void)
{
    world w = make(STAR, 24, 4);
    ss_party p = party(&w);
    for (uint32_t i = 0; i < 8; i++) {
        ss_lower_options o = nth_options(i);
        ss_collective c = {
            .operation = SS_ALL_REDUCE, .members = 24, .bytes = 54321, .machine = w.machine};
        ss_collective d = c;
        CHECK_OK(ss_choose_collective_again(&c, &p, &o, &err));
        uint64_t requests = ss_mem_requests();
        CHECK_OK(ss_choose_collective_again(&d, &p, &o, &err));
        CHECK(ss_mem_requests() == requests && c.algorithm == d.algorithm && c.chunks == d.chunks,
              "options %u", i);
    }
    drop(&w);
}

/* Halving by machines: shares of 4, 2 and 1 KB, the last to the other machine; and back. */
static void a_step_inside_machines_has_the_wire_of_inside(void)
{
    ss_wire wire = {2e-6, 1e10}, slow = {5e-6, 1e9};
    uint32_t machine[8];
    for (uint32_t i = 0; i < 8; i++)
        machine[i] = 1 + i / 4;
    ss_collective c = {SS_ALL_REDUCE, SS_HALVING_DOUBLING, 8, 8000, 1, machine, NULL};
    double steps = 2 * (2e-6 + 4e-7 + 2e-6 + 2e-7 + 5e-6 + 1e-6);
    CHECK(fabs(ss_collective_seconds(&c, wire, slow) - steps) < 1e-15, "%.17g",
          ss_collective_seconds(&c, wire, slow));
}

static void bus_bandwidth_is_that_of_the_links(void)
{
    CHECK(fabs(ss_collective_bus_factor(SS_ALL_REDUCE, 8) - 1.75) < 1e-15);
    CHECK(fabs(ss_collective_bus_factor(SS_ALL_TO_ALL, 8) - 0.875) < 1e-15);
    CHECK(ss_collective_bus_factor(SS_BROADCAST, 8) == 1 &&
          ss_collective_bus_factor(SS_ALL_GATHER, 1) == 0);
}

int main(void)
{
    if (ss_engine_new(&engine, &err) || ss_pricer_new(&pricer, &err))
        return 99;
    RUN(forms_are_exact_where_no_two_messages_meet);
    RUN(trees_of_one_port_a_member_take_their_forms);
    RUN(trees_over_shared_ports_take_longer_than_their_forms);
    RUN(members_have_two_children_in_both_trees_together);
    RUN(double_trees_take_their_form_between_two);
    RUN(double_trees_that_meet_on_no_link_are_pipelines);
    RUN(estimates_of_trees_in_chunks_are_near);
    RUN(sums_in_the_network_take_their_form_whichever_way_links_are_used);
    RUN(what_cannot_add_up_is_refused);
    RUN(prices_are_the_forms_where_no_two_messages_meet);
    RUN(messages_that_meet_on_links_are_priced_with_all_that_is_there);
    RUN(the_least_price_is_chosen);
    RUN(a_choice_does_not_hang_on_those_before);
    RUN(what_is_kept_of_others_is_not_taken);
    RUN(no_more_chunks_than_bytes_are_chosen);
    RUN(a_choice_is_kept);
    RUN(a_step_inside_machines_has_the_wire_of_inside);
    RUN(bus_bandwidth_is_that_of_the_links);
    ss_engine_free(engine);
    ss_pricer_free(pricer);
    ss_messages_free(&list);
    ss_reduction_tree_free(&tree);
    return DONE();
}
