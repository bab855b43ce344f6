#include <math.h>

#include "base/mem.h"
#include "check.h"
#include "graph/catalog.h"
#include "graph/topology.h"

static ss_error err;

static const ss_device_def k80 = {.kind = "k80", .speed = 1, .machine = 1};
static const ss_link_def pcie = {.kind = "pcie", .bytes_per_s = 12e9, .latency_s = 1e-6};

static ss_topology *topology(void)
{
    ss_topology *t = NULL;
    if (ss_topology_new("lab", &t, &err))
        exit(99);
    return t;
}

/* Two devices behind a switch, joined by full-duplex links 1 .. 4: a->s, s->a, b->s, s->b. */
static ss_topology *pair(void)
{
    ss_topology *t = topology();
    ss_device d;
    ss_node s;
    ss_link l;
    if (ss_topology_add_device(t, "a", &k80, &d, &err) ||
        ss_topology_add_device(t, "b", &k80, &d, &err) || ss_topology_add_switch(t, "s", &s, &err))
        exit(99);
    for (uint32_t i = 1; i <= 2; i++)
        if (ss_topology_add_link(t, (ss_node){i}, s, &pcie, &l, &err) ||
            ss_topology_add_link(t, s, (ss_node){i}, &pcie, &l, &err))
            exit(99);
    return t;
}

static void names_must_be_there_and_differ(void)
{
    ss_topology *t = topology(), *none = NULL;
    ss_device d;
    ss_node s;
    char longest[SS_MAX_NAME + 2];
    memset(longest, 'x', sizeof longest);
    longest[SS_MAX_NAME + 1] = 0;
    CHECK(ss_topology_new("", &none, &err) == SS_EINVAL && !none, "no name");
    CHECK(ss_topology_add_device(t, "", &k80, &d, &err) == SS_EINVAL, "no name");
    CHECK_TEXT(err.text, "a device of topology lab needs a name");
    CHECK(ss_topology_add_switch(t, NULL, &s, &err) == SS_EINVAL, "no name");
    CHECK(ss_topology_add_switch(t, "two\nlines", &s, &err) == SS_EINVAL, "a control character");
    CHECK_TEXT(err.text, "control character 10");
    CHECK(ss_topology_add_switch(t, longest, &s, &err) == SS_EINVAL, "too long");
    CHECK_TEXT(err.text, "at most 200 bytes, this one has 201");
    CHECK_OK(ss_topology_add_device(t, "gpu0", &k80, &d, &err));
    CHECK(ss_topology_add_device(t, "gpu0", &k80, &d, &err) == SS_EINVAL, "twice");
    CHECK_TEXT(err.text, "device gpu0: topology lab has a device of that name already");
    CHECK(ss_topology_add_switch(t, "gpu0", &s, &err) == SS_EINVAL, "twice, as a switch");
    CHECK(t->nodes == 1 && t->devices == 1, "%u nodes", t->nodes);
    CHECK_OK(ss_topology_check(t, &err));
    ss_topology_free(t);
}

static void figures_of_a_device_must_make_sense(void)
{
    ss_topology *t = topology();
    const struct {
        ss_device_def def;
        const char *says;
    } bad[] = {
        {{.speed = 0}, "speed is 0; 1 is as its kind"},
        {{.speed = -0.5}, "speed is -0.5"},
        {{.speed = NAN}, "speed is"},
        {{.speed = 1, .memory_bytes = -16e9}, "memory is -14.90 GiB"},
        {{.speed = 1, .memory_bytes_per_s = INFINITY}, "memory bandwidth is inf B/s"},
        {{.speed = 1, .memory_bytes_per_s = 1e30}, "between 0 and"},
        {{.speed = 1, .flop_per_s[SS_BF16] = -1}, "peak for bf16 is -1"},
        {{.speed = 1, .flop_per_s[SS_F8] = NAN}, "peak for f8 is"},
        {{.speed = 1, .machine = 4000000000u}, "machine number 4000000000 is above"},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ss_device d = {77};
        CHECK(ss_topology_add_device(t, "gpu0", &bad[i].def, &d, &err) == SS_EINVAL, "case %u", i);
        CHECK_TEXT(err.text, bad[i].says);
        CHECK_TEXT(err.text, "gpu0");
        CHECK(d.i == 77 && t->nodes == 0 && t->devices == 0, "case %u left something", i);
    }
    ss_topology_free(t);
}

static void links_must_make_sense(void)
{
    ss_topology *t = pair();
    const struct {
        uint32_t from, to;
        ss_link_def def;
        const char *says;
    } bad[] = {
        {1, 9, pcie, "a link with node 9: topology lab has 3 nodes"},
        {0, 1, pcie, "a link with node 0"},
        {2, 2, pcie, "link b -> b: it leads back to where it begins"},
        {1, 2, {.bytes_per_s = 0}, "link a -> b: bandwidth is 0 B/s"},
        {1, 2, {.bytes_per_s = -12e9}, "bandwidth is -12.00 GB/s"},
        {1, 2, {.bytes_per_s = NAN}, "bandwidth is"},
        {1, 2, {.bytes_per_s = INFINITY}, "bandwidth is inf"},
        {1, 2, {.bytes_per_s = 1e19}, "must be above 0 and at most"},
        {1, 2, {.bytes_per_s = 1, .latency_s = -1e-9}, "latency is -1e-09 seconds"},
        {1, 2, {.bytes_per_s = 1, .latency_s = NAN}, "latency is"},
        {1, 2, {.bytes_per_s = 1, .latency_s = 1e7}, "between 0 and 1e+06"},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ss_link l = {77};
        CHECK(ss_topology_add_link(t, (ss_node){bad[i].from}, (ss_node){bad[i].to}, &bad[i].def, &l,
                                   &err) == SS_EINVAL,
              "case %u", i);
        CHECK_TEXT(err.text, bad[i].says);
        CHECK(l.i == 77 && t->links == 4, "case %u left something", i);
    }
    ss_topology *empty = topology();
    ss_link l;
    CHECK(ss_topology_add_link(empty, (ss_node){1}, (ss_node){2}, &pcie, &l, &err) == SS_EINVAL,
          "no nodes");
    CHECK_TEXT(err.text, "topology lab has no nodes yet");
    ss_topology_free(empty);
    ss_topology_free(t);
}

static void given_routes_must_lead_from_one_to_the_other(void)
{
    ss_topology *t = pair();
    ss_device a = {1}, b = {2};
    const struct {
        ss_device from, to;
        uint32_t links;
        ss_link link[4];
        const char *says;
    } bad[] = {
        {{1}, {3}, 1, {{1}}, "a route with device 3: topology lab has 2 devices"},
        {{0}, {1}, 1, {{1}}, "a route with device 0"},
        {{1}, {1}, 1, {{1}}, "route a -> a: a device reaches itself without a route"},
        {{1}, {2}, 0, {{0}}, "route a -> b: it has no links"},
        {{1}, {2}, 1, {{9}}, "route a -> b: link 9: topology lab has 4 links"},
        {{1}, {2}, 1, {{0}}, "route a -> b: link 0"},
        {{1}, {2}, 1, {{1}}, "route a -> b: it ends at s"},
        {{1}, {2}, 2, {{1}, {3}}, "its link 2 is b->s, which does not begin at s"},
        {{1}, {2}, 1, {{4}}, "it has a gap: its link 1 is s->b, which does not begin at a"},
        {{1}, {2}, 4, {{1}, {2}, {1}, {4}}, "it crosses link a->s twice"},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(ss_topology_add_route(t, bad[i].from, bad[i].to, bad[i].link, bad[i].links, &err) ==
                  SS_EINVAL,
              "case %u", i);
        CHECK_TEXT(err.text, bad[i].says);
        CHECK(t->givens == 0, "case %u left something", i);
    }
    const ss_link good[] = {{1}, {4}};
    CHECK_OK(ss_topology_add_route(t, a, b, good, 2, &err));
    CHECK(ss_topology_add_route(t, a, b, good, 2, &err) == SS_EINVAL, "given twice");
    CHECK_TEXT(err.text, "route a -> b: it was given before");
    CHECK_OK(ss_topology_check(t, &err));
    ss_topology_free(t);
}

static void devices_count_without_switches_and_links_have_names(void)
{
    ss_topology *t = topology();
    ss_device a, b;
    ss_node s, none = {0};
    ss_link l;
    char kind[] = "mine";
    ss_device_def own = {.kind = kind, .speed = 0.25, .machine = 3, .forwards = true};
    CHECK_OK(ss_topology_add_switch(t, "s", &s, &err));
    CHECK_OK(ss_topology_add_device(t, "a", &own, &a, &err));
    CHECK_OK(ss_topology_add_device(t, "b", &(ss_device_def){.speed = 1}, &b, &err));
    kind[0] = 'X'; /* the topology has a copy */
    CHECK(a.i == 1 && b.i == 2 && t->device[2].node.i == 3, "device %u", b.i);
    CHECK(!strcmp(t->device[1].def.kind, "mine") && !strcmp(t->device[2].def.kind, "device"), "%s",
          t->device[1].def.kind);
    CHECK(t->machines == 3 && t->node[2].forwards && !t->node[3].forwards, "%u", t->machines);
    CHECK(!strcmp(ss_topology_device_name(t, b), "b"), "b");
    CHECK(ss_topology_find(t, "b").i == 3 && ss_topology_find(t, "c").i == none.i, "find");

    const char *wanted[] = {"", "s->a", "s->a#2", "s->a#3", "s--a", "a->s"};
    for (uint32_t i = 1; i <= 3; i++)
        CHECK_OK(ss_topology_add_link(t, s, (ss_node){2}, &pcie, &l, &err));
    ss_link_def bus = {.bytes_per_s = 1e9, .half_duplex = true};
    CHECK_OK(ss_topology_add_link(t, s, (ss_node){2}, &bus, &l, &err));
    CHECK(ss_topology_across(t, l, s).i == 2 && ss_topology_across(t, l, (ss_node){2}).i == s.i,
          "a bus is crossed both ways");
    CHECK_OK(ss_topology_add_link(t, (ss_node){2}, s, &pcie, &l, &err));
    CHECK(ss_topology_across(t, l, s).i == 0, "a link one way");
    for (uint32_t i = 1; i <= 5; i++)
        CHECK(!strcmp(t->link[i].name, wanted[i]), "%s", t->link[i].name);
    CHECK(!strcmp(t->link[4].def.kind, "link") && t->link[4].def.weight == 1, "presets");
    CHECK_OK(ss_topology_check(t, &err));
    ss_topology_free(t);
}

/* Whatever a simulation reads changes the hash; building the same again does not. */
static void the_hash_tells_every_figure(void)
{
    enum { WAYS = 18 };
    uint64_t hash[WAYS];
    for (int way = 0; way < WAYS; way++) {
        ss_topology *t = topology();
        ss_device d;
        ss_node s;
        ss_link l;
        ss_device_def def = k80;
        ss_link_def bus = pcie;
        def.speed = way == 2 ? 0.9 : 1;
        def.flop_per_s[SS_F32] = way == 3 ? 5e12 : 4e12;
        def.machine = way == 4 ? 2 : 1;
        def.forwards = way == 5;
        bus.latency_s = way == 6 ? 2e-6 : 1e-6;
        bus.half_duplex = way == 7;
        bus.weight = way == 8 ? 2 : 1;
        bus.kind = way == 9 ? "nvlink" : "pcie";
        CHECK_OK(ss_topology_add_device(t, way == 10 ? "z" : "a", &def, &d, &err));
        CHECK_OK(ss_topology_add_device(t, "b", &def, &d, &err));
        CHECK_OK(ss_topology_add_switch(t, "s", &s, &err));
        CHECK_OK(ss_topology_add_link(t, (ss_node){1}, s, &bus, &l, &err));
        CHECK_OK(ss_topology_add_link(t, s, (ss_node){2}, &bus, &l, &err));
        if (way == 11)
            CHECK_OK(ss_topology_add_route(t, (ss_device){1}, (ss_device){2}, (ss_link[]){{1}, {2}},
                                           2, &err));
        if (way == 12 || way == 13)
            ss_topology_set_routing(t, SS_ROUTING_ECMP, way == 13 ? 7 : 0);
        if (way == 14 || way == 15)
            CHECK_OK(ss_topology_set_link_failed(t, (ss_link){way == 14 ? 1 : 2}, true, &err));
        if (way == 16)
            CHECK_OK(ss_topology_set_node_failed(t, s, true, &err));
        bus.bytes_per_s = 11e9;
        if (way == 17)
            CHECK_OK(ss_topology_set_link(t, (ss_link){1}, &bus, &err));
        hash[way] = ss_topology_hash(t);
        ss_topology_free(t);
    }
    CHECK(hash[0] == hash[1], "equal topologies");
    for (int i = 1; i < WAYS; i++)
        for (int k = 2; k < WAYS; k++)
            CHECK(i == k || hash[i] != hash[k], "ways %d and %d", i, k);
}

/* The seed means nothing to `shortest`, and a failure that was taken away nothing to anybody. */
static void what_changes_no_route_changes_no_hash(void)
{
    ss_topology *t = pair();
    uint64_t hash = ss_topology_hash(t);
    ss_topology_set_routing(t, SS_ROUTING_SHORTEST, 11);
    CHECK(ss_topology_hash(t) == hash, "the seed");
    for (int failed = 1; failed >= 0; failed--) {
        CHECK_OK(ss_topology_set_link_failed(t, (ss_link){2}, failed, &err));
        CHECK_OK(ss_topology_set_node_failed(t, (ss_node){3}, failed, &err));
        CHECK_OK(ss_topology_set_node_failed(t, (ss_node){3}, failed, &err)); /* twice is once */
        CHECK(t->failures == (failed ? 2 : 0), "%u failures", t->failures);
        CHECK((ss_topology_hash(t) == hash) == !failed, "failed %d", failed);
        CHECK_OK(ss_topology_check(t, &err));
    }
    ss_topology_free(t);
}

static void every_change_is_counted(void)
{
    ss_topology *t = pair();
    uint64_t was = t->changes;
    ss_link_def def = pcie;
    def.latency_s = 3e-6;
    CHECK_OK(ss_topology_set_link(t, (ss_link){4}, &def, &err));
    CHECK(t->changes > was && t->link[4].def.latency_s == 3e-6, "set_link");
    was = t->changes;
    CHECK_OK(ss_topology_set_link_failed(t, (ss_link){4}, true, &err));
    CHECK(t->changes > was && !ss_topology_works(t, (ss_link){4}), "set_link_failed");
    was = t->changes;
    CHECK_OK(ss_topology_set_node_failed(t, (ss_node){3}, true, &err));
    CHECK(t->changes > was && !ss_topology_works(t, (ss_link){1}), "set_node_failed");
    was = t->changes;
    ss_topology_set_routing(t, SS_ROUTING_ECMP, 0);
    CHECK(t->changes > was, "set_routing");
    ss_topology_free(t);
}

static void changes_that_make_no_sense_are_refused(void)
{
    ss_topology *t = pair();
    uint64_t hash = ss_topology_hash(t);
    ss_link_def slow = pcie;
    slow.bytes_per_s = 0;
    CHECK(ss_topology_set_link(t, (ss_link){3}, &slow, &err) == SS_EINVAL, "no bandwidth");
    CHECK_TEXT(err.text, "link b -> s: bandwidth is 0 B/s");
    CHECK(ss_topology_set_link(t, (ss_link){5}, &pcie, &err) == SS_EINVAL, "no such link");
    CHECK_TEXT(err.text, "link 5: topology lab has 4 links");
    CHECK(ss_topology_set_link_failed(t, (ss_link){0}, true, &err) == SS_EINVAL, "link 0");
    CHECK(ss_topology_set_node_failed(t, (ss_node){4}, true, &err) == SS_EINVAL, "node 4");
    CHECK_TEXT(err.text, "node 4: topology lab has 3 nodes");
    CHECK(ss_topology_set_node_failed(t, (ss_node){2}, true, &err) == SS_EINVAL, "a device");
    CHECK_TEXT(err.text, "device b: switches and links can fail; leave a device out");
    CHECK(ss_topology_hash(t) == hash, "something changed");
    ss_topology_free(t);
}

static void check_finds_broken_rows(void)
{
    ss_topology *t = pair();
    t->link[2].def.bytes_per_s = NAN;
    CHECK(ss_topology_check(t, &err), "a broken link");
    t->link[2].def.bytes_per_s = 1;
    t->node[3].forwards = false;
    CHECK(ss_topology_check(t, &err), "a switch that does not forward");
    t->node[3].forwards = true;
    t->machines = 2;
    CHECK(ss_topology_check(t, &err), "a machine too many");
    t->machines = 1;
    t->link[2].failed = true;
    CHECK(ss_topology_check(t, &err), "a failure that is not counted");
    t->link[2].failed = false;
    CHECK_OK(ss_topology_check(t, &err));
    ss_topology_free(t);
}

static ss_status build(ss_topology **t)
{
    ss_device d;
    ss_node s;
    ss_link l;
    ss_status status = ss_topology_new("lab", t, &err);
    for (uint32_t i = 1; !status && i <= 10; i++) {
        char name[8];
        snprintf(name, sizeof name, "d%u", i);
        status = ss_topology_add_device(*t, name, &k80, &d, &err);
    }
    if (!status)
        status = ss_topology_add_switch(*t, "s", &s, &err);
    for (uint32_t i = 1; !status && i <= 10; i++)
        status = ss_topology_add_link(*t, (ss_node){i}, s, &pcie, &l, &err);
    if (!status)
        status = ss_topology_add_link(*t, s, (ss_node){1}, &pcie, &l, &err);
    return status ? status
                  : ss_topology_add_route(*t, (ss_device){2}, (ss_device){1},
                                          (ss_link[]){{2}, {11}}, 2, &err);
}

static void failing_any_allocation_leaves_a_whole_topology(void)
{
    size_t before = ss_mem_blocks();
    for (int64_t n = 0;; n++) {
        ss_topology *t = NULL;
        ss_mem_fail_after(n);
        ss_status s = build(&t);
        ss_mem_fail_never();
        if (t) {
            ss_error broken;
            CHECK(!ss_topology_check(t, &broken), "request %d: %s", (int)n, broken.text);
        }
        ss_topology_free(t);
        CHECK(ss_mem_blocks() == before, "request %d leaks", (int)n);
        if (!s)
            break;
        CHECK(s == SS_ENOMEM && n < 1000, "request %d: %s", (int)n, err.text);
    }
}

static void the_catalogue_has_kinds_that_a_topology_takes(void)
{
    uint32_t n;
    const ss_device_kind *kinds = ss_device_kinds(&n);
    ss_topology *t = topology();
    ss_device d;
    CHECK(n >= 7, "%u kinds", n);
    for (uint32_t i = 0; i < n; i++) {
        const ss_device_def *def = ss_device_kind_find(kinds[i].def.kind);
        CHECK(def == &kinds[i].def, "%s is there twice", kinds[i].def.kind);
        CHECK(kinds[i].source[0] && kinds[i].summary[0], "%s has no source", def->kind);
        CHECK_OK(ss_topology_add_device(t, def->kind, def, &d, &err));
        CHECK(def->memory_bytes > 1e9 && def->memory_bytes_per_s > 1e11, "%s", def->kind);
    }
    CHECK(!ss_device_kind_find("p1000") && !ss_device_kind_find(NULL), "no such kind");
    CHECK(ss_device_kind_find("p100")->flop_per_s[SS_F32] == 10.6e12, "p100");
    ss_topology_free(t);
}

int main(void)
{
    RUN(names_must_be_there_and_differ);
    RUN(figures_of_a_device_must_make_sense);
    RUN(links_must_make_sense);
    RUN(given_routes_must_lead_from_one_to_the_other);
    RUN(devices_count_without_switches_and_links_have_names);
    RUN(the_hash_tells_every_figure);
    RUN(what_changes_no_route_changes_no_hash);
    RUN(every_change_is_counted);
    RUN(changes_that_make_no_sense_are_refused);
    RUN(check_finds_broken_rows);
    RUN(failing_any_allocation_leaves_a_whole_topology);
    RUN(the_catalogue_has_kinds_that_a_topology_takes);
    return DONE();
}
