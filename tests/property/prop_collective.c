/* prop_collective [COUNT [SEED]] - random collectives, played by the twin (collective_naive.h).
 *
 * Members, bytes and chunks are few and odd, so that shares differ, are empty, or come out even; machines
 * are of different sizes and not in order; networks are trees and more than trees, under both routings.
 */
#include "check.h"

#include <stdio.h>

#include "graph/collective.h"
#include "networks.h"
#include "reference/collective_naive.h"

enum { MOST = 20 };

static uint64_t count = 1500, seed = 1;
static uint32_t machine[MOST];
static ss_error err;
static ss_rng rng;
static ss_messages list;
static ss_reduction_tree tree;

static uint32_t draw(uint32_t below)
{
    return (uint32_t)ss_rng_below(&rng, below);
}

static ss_link_def cable(void)
{
    return (ss_link_def){
        .bytes_per_s = 1e9 * (1 + draw(3)), .latency_s = 1e-6 * draw(3), .weight = 1};
}

static void join(ss_topology *t, ss_node a, ss_node b)
{
    ss_link_def def = cable();
    ss_link link;
    def.half_duplex = !draw(9);
    net_must(ss_topology_add_link(t, a, b, &def, &link, &err), &err);
    if (!def.half_duplex)
        net_must(ss_topology_add_link(t, b, a, &def, &link, &err), &err);
}

/* Switches in a random tree with some cables more, also parallel ones; devices anywhere. */
static ss_topology *network(uint32_t devices)
{
    ss_topology *t;
    ss_node node[8];
    char name[20];
    uint32_t switches = 1 + draw(8);
    net_must(ss_topology_new("net", &t, &err), &err);
    for (uint32_t i = 0; i < switches; i++) {
        snprintf(name, sizeof name, "s%u", i);
        net_must(ss_topology_add_switch(t, name, &node[i], &err), &err);
        if (i)
            join(t, node[i], node[draw(i)]);
    }
    for (uint32_t more = draw(5); more && switches > 1; more--) {
        uint32_t a = draw(switches), b = draw(switches);
        if (a != b)
            join(t, node[a], node[b]);
    }
    for (uint32_t i = 0; i < devices; i++) {
        ss_device_def def = {.kind = "mine", .machine = 1, .speed = 1};
        ss_device d;
        snprintf(name, sizeof name, "d%u", i);
        net_must(ss_topology_add_device(t, name, &def, &d, &err), &err);
        join(t, t->device[d.i].node, node[draw(switches)]);
    }
    if (draw(2))
        ss_topology_set_routing(t, SS_ROUTING_ECMP, draw(9));
    return t;
}

/* A tree whose edges are links there and back, with every member as a leaf. */
static bool is_tree(const ss_topology *t, const ss_device *device, uint32_t n)
{
    uint32_t seen = 0;
    for (uint32_t k = 0; k < tree.n; k++) {
        uint32_t v = tree.order[k], p = tree.parent[v];
        if (k == 0 ? v != tree.root : p == v)
            return false;
        bool above = k == 0;
        for (uint32_t h = 0; h < k; h++)
            above |= tree.order[h] == p;
        seen += above;
        if (k && (ss_topology_across(t, tree.up[v], tree.node[v]).i != tree.node[p].i ||
                  ss_topology_across(t, tree.down[v], tree.node[p]).i != tree.node[v].i || p < n))
            return false;
        if (v < n && tree.node[v].i != t->device[device[v].i].node.i)
            return false;
    }
    return seen == tree.n && tree.members == n;
}

static bool make_network_tree(ss_collective *c)
{
    ss_topology *t = network(c->members + draw(3));
    ss_routes *routes;
    ss_device device[MOST];
    net_must(ss_routes_new(t, &routes, &err), &err);
    for (uint32_t i = 0; i < c->members; i++)
        device[i].i = t->devices - i;
    net_must(ss_reduction_tree_make(t, routes, device, c->members, &tree, &err), &err);
    bool right = is_tree(t, device, c->members);
    c->tree = &tree;
    ss_routes_free(routes);
    ss_topology_free(t);
    return right;
}

static int64_t bytes_for(uint32_t n)
{
    static const int64_t some[] = {0, 1, 2, 3, 7, 1000003};
    return draw(3) ? some[draw(6)] : (int64_t)n * (1 + draw(40));
}

static void draw_machines(uint32_t n)
{
    uint32_t each = 1 + draw(5), kind = draw(3);
    for (uint32_t i = 0; i < n; i++)
        machine[i] = kind == 0 ? i / each + 1 : kind == 1 ? draw(4) : 1 + draw(3);
}

static void everyone_ends_with_what_was_promised(void)
{
    uint32_t tried[SS_OPERATIONS][SS_ALGORITHMS] = {{0}};
    for (uint64_t k = 0; k < count; k++) {
        ss_collective c = {.operation = (ss_operation)draw(SS_OPERATIONS),
                           .algorithm = (ss_algorithm)draw(SS_ALGORITHMS)};
        if (!ss_collective_has(c.operation, c.algorithm))
            continue;
        bool network = c.algorithm == SS_IN_NETWORK;
        c.members = c.operation == SS_P2P ? 2 : network ? 2 + draw(10) : 1 + draw(MOST);
        c.bytes = bytes_for(c.members);
        c.chunks = 1 + draw(5);
        c.machine = machine;
        draw_machines(c.members);
        char why[200] = "";
        bool right = !network || make_network_tree(&c);
        CHECK(right, "case %d, seed %d: no tree of %u members", (int)k, (int)seed, c.members);
        CHECK_OK(ss_collective_messages(&c, &list, &err));
        right = collective_naive_check(&c, &list, &rng, why);
        CHECK(right, "case %d, seed %d: %s by %s, %u members, %lld bytes, %u chunks: %s", (int)k,
              (int)seed, ss_operation_name(c.operation), ss_algorithm_name(c.algorithm), c.members,
              (long long)c.bytes, c.chunks, why);
        tried[c.operation][c.algorithm]++;
    }
    for (uint32_t o = 0; o < SS_OPERATIONS; o++)
        for (uint32_t a = 0; a < SS_ALGORITHMS; a++)
            CHECK(count < 1000 ||
                      !tried[o][a] == !ss_collective_has((ss_operation)o, (ss_algorithm)a),
                  "%s by %s: %u tried", ss_operation_name((ss_operation)o),
                  ss_algorithm_name((ss_algorithm)a), tried[o][a]);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        count = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    if (ss_rng_open(&rng, seed, "collectives", &err))
        return 99;
    RUN(everyone_ends_with_what_was_promised);
    ss_messages_free(&list);
    ss_reduction_tree_free(&tree);
    ss_rng_close(&rng);
    return DONE();
}
