/* What the exhaustive search refuses, finds and proves; tests/property/prop_exhaustive.c compares it
 * with trying everything. */
#include "check.h"
#include "exhaustive_fixture.h"

#include <math.h>

#include "base/mem.h"
#include "search/space.h"
#include "simulate/cost.h"

static ss_error err;

/* ---- problems ---------------------------------------------------------------------------- */

typedef struct problem {
    ss_model *model;
    ss_topology *topology;
    ss_costs *costs;
    ss_timer timer;
    ss_strategy *strategy; /* everything on device 1 */
    ss_alternatives space;
} problem; /* {0} */

static void problem_free(problem *p)
{
    ss_alternatives_free(&p->space);
    ss_strategy_free(p->strategy);
    ss_costs_free(p->costs);
    ss_topology_free(p->topology);
    ss_model_free(p->model);
    *p = (problem){0};
}

static void problem_start(problem *p)
{
    net_must(ss_costs_new(&p->costs, &err), &err);
    net_must(ss_strategy_new(p->model, p->topology, &p->strategy, &err), &err);
}

/* Roofline times, and every configuration that a move can draw. */
static void problem_by_move(problem *p, ss_move move)
{
    ss_space *space;
    ss_space_options o = ss_space_options_start();
    problem_start(p);
    net_must(ss_costs_add_roofline(p->costs, NULL, &err), &err);
    net_must(ss_costs_timer(p->costs, p->topology, &p->timer, &err), &err);
    for (unsigned m = 0; m < SS_MOVES; m++)
        o.weight[m] = m == (unsigned)move;
    net_must(ss_space_new(p->strategy, &o, &space, &err), &err);
    net_must(ss_alternatives_of_space(space, 1u << move, p->strategy, &p->space, &err), &err);
    ss_space_free(space);
}

/* Devices with a link each way between every two. */
static ss_topology *mesh(uint32_t n, double bytes_per_s, double latency_s)
{
    ss_topology *t;
    net_must(ss_topology_new("mesh", &t, &err), &err);
    for (uint32_t i = 1; i <= n; i++) {
        ss_device_def def = {.kind = "p100",
                             .flop_per_s = {[SS_F32] = 10.6e12},
                             .memory_bytes_per_s = 732e9,
                             .machine = 1,
                             .speed = 1};
        ss_link_def link_def = {.bytes_per_s = bytes_per_s, .latency_s = latency_s, .weight = 1};
        ss_device d;
        ss_link link;
        char name[20];
        snprintf(name, sizeof name, "d%u", i);
        net_must(ss_topology_add_device(t, name, &def, &d, &err), &err);
        for (uint32_t k = 1; k < i; k++) {
            ss_node a = t->device[k].node, b = t->device[i].node;
            net_must(ss_topology_add_link(t, a, b, &link_def, &link, &err), &err);
            net_must(ss_topology_add_link(t, b, a, &link_def, &link, &err), &err);
        }
    }
    return t;
}

static ss_tensor digits_conv(ss_model *m, const char *name, ss_tensor x, int out, int padding)
{
    x = net_out(m, net_op(m, (net_place){0}, "conv2d", name, &x, 1, "out", out, "kernel_h", 5,
                          "kernel_w", 5, "padding_h", padding, "padding_w", padding, "activation",
                          2, NULL));
    char pool[20];
    snprintf(pool, sizeof pool, "%s.pool", name);
    return net_out(m, net_op(m, (net_place){0}, "pool2d", pool, &x, 1, "kernel_h", 2, "kernel_w", 2,
                             "stride_h", 2, "stride_w", 2, "type", 1, NULL));
}

/* LeNet-5 as models/lenet.lua has it. */
static ss_model *lenet(int64_t batch)
{
    ss_model *m = net_new("lenet");
    ss_tensor x = net_input(m, "image", SS_F32, 4, (int64_t[]){batch, 1, 28, 28});
    x = digits_conv(m, "conv3", digits_conv(m, "conv1", x, 6, 2), 16, 0);
    x = net_out(m, net_op(m, (net_place){0}, "flatten", "flat", &x, 1, NULL));
    x = net_then(m, "linear", "linear5", x, "out", 120);
    x = net_then(m, "linear", "linear6", x, "out", 84);
    net_then(m, "linear_softmax", "linear7", x, "out", 10);
    return m;
}

/* models/rnnlm.lua with so many steps, each an operator. */
static ss_model *rnnlm(int64_t batch, int steps)
{
    ss_model *m = net_new("rnnlm");
    ss_tensor x[4];
    char name[40];
    for (int b = 0; b < steps; b++) {
        snprintf(name, sizeof name, "words%d", b);
        ss_tensor words = net_input(m, name, SS_I32, 2, (int64_t[]){batch, 1});
        snprintf(name, sizeof name, "embedding%d", b);
        x[b] = net_out(m, net_op(m, (net_place){"embedding", 1}, "embedding", name, &words, 1,
                                 "vocab", 10000, "out", 2048, NULL));
    }
    for (uint32_t l = 1; l <= 2; l++) {
        ss_tensor in[3] = {{0}};
        char share[20];
        snprintf(share, sizeof share, "lstm%u", l);
        for (int b = 0; b < steps; b++) {
            in[0] = x[b];
            snprintf(name, sizeof name, "lstm%u.%d", l, b);
            ss_op op = net_op(m, (net_place){share, l + 1}, "lstm", name, in, b ? 3 : 1, "hidden",
                              2048, NULL);
            x[b] = m->op[op.i].out[0];
            in[1] = m->op[op.i].out[1];
            in[2] = m->op[op.i].out[2];
        }
    }
    for (int b = 0; b < steps; b++) {
        snprintf(name, sizeof name, "softmax%d", b);
        net_op(m, (net_place){"softmax", 4}, "linear_softmax", name, &x[b], 1, "out", 10000, "bias",
               0, NULL);
    }
    return m;
}

static ss_status search(const problem *p, const ss_exhaustive_options *o,
                        const ss_strategy *incumbent, ss_exhaustive_result *r)
{
    return ss_exhaustive(p->model, p->topology, &p->timer, &p->space, incumbent, o, NULL, NULL, r,
                         &err);
}

static ss_time step_time(const problem *p, const ss_strategy *s, const ss_lower_options *o)
{
    ss_routes *routes;
    ss_engine *engine;
    ss_lowered lowered = {0};
    ss_timeline timeline = {0};
    net_must(ss_routes_new(p->topology, &routes, &err), &err);
    net_must(ss_engine_new(&engine, &err), &err);
    net_must(ss_lower(p->model, p->topology, routes, s, &p->timer, o, &lowered, &err), &err);
    net_must(ss_engine_run(engine, &lowered.tasks, &timeline, &err), &err);
    ss_time makespan = timeline.makespan;
    ss_timeline_free(&timeline);
    ss_lowered_free(&lowered);
    ss_engine_free(engine);
    ss_routes_free(routes);
    return makespan;
}

static double strategies_in(const ss_exhaustive_result *r)
{
    double sum = (double)r->simulated;
    for (unsigned b = 0; b < SS_BOUNDS; b++)
        sum += r->inside[b];
    return sum;
}

/* ---- lists of configurations ------------------------------------------------------------- */

static void lists_refuse_what_is_out_of_order_and_keep_each_once(void)
{
    ss_alternatives a = {0};
    ss_device device[2] = {{3}, {1}};
    ss_config c = {.degree = {2, 1, 1, 1, 1}, .parts = 2, .device = device};
    CHECK_OK(ss_alternatives_start(&a, 3, &err));
    CHECK(ss_alternatives_add(&a, (ss_op){4}, &c, &err) == SS_EINVAL, "operator 4 of 3");
    CHECK_TEXT(err.text, "operators 1 to 3");
    CHECK(ss_alternatives_add(&a, (ss_op){0}, &c, &err) == SS_EINVAL, "operator 0");
    CHECK_OK(ss_alternatives_add(&a, (ss_op){2}, &c, &err));
    CHECK_OK(ss_alternatives_add(&a, (ss_op){2}, &c, &err));
    device[0].i = 2;
    CHECK_OK(ss_alternatives_add(&a, (ss_op){2}, &c, &err));
    CHECK(ss_alternatives_add(&a, (ss_op){1}, &c, &err) == SS_EINVAL, "operator 1 after 2");
    CHECK_OK(ss_alternatives_add(&a, (ss_op){3}, &c, &err));
    CHECK(a.first[1] == 0 && a.first[2] == 0 && a.first[3] == 2 && a.first[4] == 3, "rows %u %u %u",
          a.first[2], a.first[3], a.first[4]);
    CHECK(a.config[0].device[0].i == 3 && a.config[1].device[0].i == 2, "copied");
    ss_alternatives_free(&a);
}

static void spaces_that_are_no_small_ones_are_refused(void)
{
    problem p = {.model = lenet(64), .topology = mesh(4, 18.3e9, 1e-6)};
    ss_exhaustive_options o = ss_exhaustive_options_start();
    ss_exhaustive_result r;
    ss_space *space;
    ss_space_options so = ss_space_options_start();
    problem_start(&p);
    so.max_parts = 8;
    CHECK_OK(ss_space_new(p.strategy, &so, &space, &err));
    CHECK(ss_alternatives_of_space(space, 1u << SS_MOVE_FREE, p.strategy, &p.space, &err) ==
              SS_EINVAL,
          "free");
    CHECK_TEXT(err.text, "move free can give operator conv1 ");
    CHECK_TEXT(err.text, "an exhaustive search is for 4096 at most");
    ss_space_free(space);
    CHECK_OK(ss_alternatives_start(&p.space, p.model->ops, &err));
    CHECK_OK(ss_alternatives_add(&p.space, (ss_op){1}, &p.strategy->config[1], &err));
    CHECK(search(&p, &o, p.strategy, &r) == SS_EINVAL, "an operator without configurations");
    CHECK_TEXT(err.text, "operator conv1.pool has 0 configurations");
    CHECK_OK(ss_alternatives_start(&p.space, 2, &err));
    CHECK(search(&p, &o, p.strategy, &r) == SS_EINVAL, "another model");
    CHECK_TEXT(err.text, "configurations for 2 operators; model \"lenet\" has 8");
    CHECK(!r.best, "nothing is left after a refusal");
    problem_free(&p);
}

/* ---- a machine by itself ----------------------------------------------------------------- */

/* The most, over all sets of tasks, of least head + sum + least tail: what Jackson's schedule
 * takes. */
static ss_time over_all_sets(const ss_due *due, uint32_t n)
{
    ss_time most = 0;
    for (unsigned set = 1; set < 1u << n; set++) {
        ss_time head = SS_TIME_MAX, tail = SS_TIME_MAX, sum = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (!(set >> i & 1))
                continue;
            head = due[i].head < head ? due[i].head : head;
            tail = due[i].tail < tail ? due[i].tail : tail;
            sum += due[i].hold;
        }
        most = head + sum + tail > most ? head + sum + tail : most;
    }
    return most;
}

static void one_machine_takes_what_its_hardest_set_takes(void)
{
    for (int n = 0; n < 2000; n++) {
        ss_due due[9];
        uint32_t heap[9], tasks = (uint32_t)tiny_draw(1, 9);
        for (uint32_t i = 0; i < tasks; i++)
            due[i] = (ss_due){tiny_draw(0, 20), tiny_draw(1, 7), tiny_draw(0, 20)};
        ss_time wanted = over_all_sets(due, tasks), got = ss_due_least(due, tasks, heap);
        CHECK(got == wanted, "case %d, %u tasks: %lld, not %lld", n, tasks, (long long)got,
              (long long)wanted);
    }
}

/* ---- an anomaly -------------------------------------------------------------------------- */

/* q, p, u and v0, v, w are two chains that meet on device A, where u (5) is ready before v (1), so
 * that v and the long w (10) behind it have to wait: 18.  With x beside p on device C, p is late and
 * so is u; v goes first: 14, though there is more to do.  x elsewhere changes nothing. */
enum { A = 1, B, C, D, E };

static void anomaly(problem *p, bool with_x)
{
    static const struct {
        const char *name;
        int reads;
        double microseconds;
        uint32_t device;
    } op[] = {{"q", -1, 1, D}, {"p", 0, 1, C},  {"u", 1, 5, A}, {"v0", -1, 3, B},
              {"v", 3, 1, A},  {"w", 4, 10, B}, {"x", -1, 3, E}};
    ss_tensor made[7];
    *p = (problem){.model = net_new("anomaly"), .topology = mesh(5, 1e18, 0)};
    for (int i = 0; i < 6 + with_x; i++) {
        char name[20];
        snprintf(name, sizeof name, "in%d", i);
        ss_tensor in = op[i].reads < 0 ? net_input(p->model, name, SS_F32, 2, (int64_t[]){1, 1})
                                       : made[op[i].reads];
        made[i] =
            net_out(p->model, net_op(p->model, (net_place){0}, "relu", op[i].name, &in, 1, NULL));
    }
    problem_start(p);
    net_must(ss_alternatives_start(&p->space, p->model->ops, &err), &err);
    for (uint32_t i = 0; i < p->model->ops; i++) {
        ss_config *c = &p->strategy->config[i + 1];
        c->device[0].i = op[i].device;
        net_must(
            ss_costs_add_given(p->costs, op[i].name, op[i].microseconds * 1e-6, NAN, false, &err),
            &err);
        if (i == 6) /* x may be on every device */
            for (c->device[0].i = A; c->device[0].i < E; c->device[0].i++)
                net_must(ss_alternatives_add(&p->space, (ss_op){i + 1}, c, &err), &err);
        net_must(ss_alternatives_add(&p->space, (ss_op){i + 1}, c, &err), &err);
    }
    net_must(ss_costs_timer(p->costs, p->topology, &p->timer, &err), &err);
}

static void an_optimum_whose_prefix_takes_longer_is_found(void)
{
    problem prefix, whole;
    ss_exhaustive_options o = ss_exhaustive_options_start();
    ss_exhaustive_result r;
    o.lower.training = false;
    anomaly(&prefix, false);
    anomaly(&whole, true);
    ss_time first = step_time(&prefix, prefix.strategy, &o.lower);
    ss_time elsewhere = step_time(&whole, whole.strategy, &o.lower);
    CHECK(first == 18000000 && elsewhere == 18000000, "prefix %lld, x elsewhere %lld",
          (long long)first, (long long)elsewhere);
    /* the incumbent takes 18; a search that simulated the prefix would leave all that follows out */
    CHECK_OK(search(&whole, &o, whole.strategy, &r));
    CHECK(r.cost == 14000000 && r.proven && r.better, "found %lld", (long long)r.cost);
    CHECK(r.best->config[7].device[0].i == C, "x on device %u", r.best->config[7].device[0].i);
    CHECK(r.cost < first, "an anomaly");
    ss_exhaustive_result_free(&r);
    problem_free(&prefix);
    problem_free(&whole);
}

/* ---- the published cases ----------------------------------------------------------------- */

static void lenet_on_four_devices_is_proven(void)
{
    problem p = {.model = lenet(256), .topology = mesh(4, 18.3e9, 1e-6)};
    ss_exhaustive_options o = ss_exhaustive_options_start();
    ss_exhaustive_result r;
    problem_by_move(&p, SS_MOVE_BLOCK);
    CHECK_OK(search(&p, &o, p.strategy, &r));
    CHECK(r.size == UINT64_C(111612119056), "%llu strategies", (unsigned long long)r.size);
    CHECK(r.proven && r.share == 1 && strategies_in(&r) == (double)r.size, "%g of them decided",
          strategies_in(&r));
    CHECK(r.cost < step_time(&p, p.strategy, &o.lower), "better than one device");
    CHECK(r.cost == step_time(&p, r.best, &o.lower), "the strategy takes what was said");
    CHECK_OK(ss_strategy_check(r.best, &err));
    ss_exhaustive_result again;
    CHECK_OK(search(&p, &o, r.best, &again));
    CHECK(again.proven && !again.better && again.cost == r.cost, "nothing is better");
    CHECK(ss_strategy_same(again.best, r.best), "the incumbent stays");
    ss_exhaustive_result_free(&again);
    ss_exhaustive_result_free(&r);
    problem_free(&p);
}

static void two_steps_of_rnnlm_on_four_devices_are_proven(void)
{
    problem p = {.model = rnnlm(64, 2), .topology = mesh(4, 18.3e9, 1e-6)};
    ss_exhaustive_options o = ss_exhaustive_options_start();
    ss_exhaustive_result r, plain;
    problem_by_move(&p, SS_MOVE_BLOCK);
    CHECK_OK(search(&p, &o, p.strategy, &r));
    CHECK(r.proven && strategies_in(&r) == (double)r.size && r.log10_size > 8.9, "%g of 1e%g",
          strategies_in(&r), r.log10_size);
    CHECK(r.cost == step_time(&p, r.best, &o.lower), "the strategy takes what was said");
    /* the other bounds alone have to come to the same */
    o.bounds &= ~(1u << SS_BOUND_BYTES | 1u << SS_BOUND_SYMMETRY);
    CHECK_OK(search(&p, &o, p.strategy, &plain));
    CHECK(plain.proven && plain.cost == r.cost && ss_strategy_same(plain.best, r.best),
          "%lld without bytes and symmetry, %lld with", (long long)plain.cost, (long long)r.cost);
    ss_exhaustive_result_free(&plain);
    ss_exhaustive_result_free(&r);
    problem_free(&p);
}

/* ---- symmetry ---------------------------------------------------------------------------- */

/* Whole operators on four equal devices: all permutations, since a gradient is made on at most two
 * of them; with three steps three may hold a weight, and only rotations are left. */
static void permutations_are_used_where_they_are_sound(void)
{
    for (int steps = 2; steps <= 3; steps++) {
        problem p = {.model = rnnlm(64, steps), .topology = mesh(4, 18.3e9, 1e-6)};
        ss_exhaustive_options o = ss_exhaustive_options_start();
        ss_exhaustive_result r, plain;
        problem_by_move(&p, SS_MOVE_PLACE);
        CHECK_OK(search(&p, &o, p.strategy, &r));
        CHECK(r.symmetries == (steps == 2 ? 23U : 3U), "%u with %d steps", r.symmetries, steps);
        CHECK(r.inside[SS_BOUND_SYMMETRY] > 0, "they were of use");
        o.bounds &= ~(1u << SS_BOUND_SYMMETRY);
        CHECK_OK(search(&p, &o, p.strategy, &plain));
        CHECK(plain.symmetries == 0 && plain.cost == r.cost && ss_strategy_same(plain.best, r.best),
              "%lld without, %lld with", (long long)plain.cost, (long long)r.cost);
        ss_exhaustive_result_free(&plain);
        ss_exhaustive_result_free(&r);
        problem_free(&p);
    }
}

static void unequal_devices_and_links_are_told_apart(void)
{
    for (int what = 0; what < 3; what++) {
        problem p = {.model = rnnlm(64, 2), .topology = mesh(3, 18.3e9, 1e-6)};
        ss_exhaustive_options o = ss_exhaustive_options_start();
        ss_exhaustive_result r;
        if (what == 0)
            p.topology->device[3].def.speed = 0.5;
        if (what == 1) /* from device 1 to device 2 */
            p.topology->link[1].def.bytes_per_s *= 2;
        if (what == 2)
            p.topology->device[2].def.machine = 2;
        problem_by_move(&p, SS_MOVE_PLACE);
        CHECK_OK(search(&p, &o, p.strategy, &r));
        uint32_t wanted = what == 1 ? 0 : 1;
        CHECK(r.symmetries == wanted, "%u symmetries, not %u, in case %d", r.symmetries, wanted,
              what);
        ss_exhaustive_result_free(&r);
        problem_free(&p);
    }
}

/* ---- limits ------------------------------------------------------------------------------ */

static ss_status stop_at_once(void *context, const char *what, double done, double whole,
                              ss_error *e)
{
    int *looks = context;
    (void)what, (void)done, (void)whole;
    return ++*looks > 300 ? ss_fail(e, SS_ESTOPPED, "enough") : SS_OK;
}

static void no_over(void *context)
{
    (void)context;
}

static void limits_leave_the_best_so_far_and_no_proof(void)
{
    problem p = {.model = rnnlm(256, 2), .topology = mesh(4, 18.3e9, 1e-6)};
    ss_exhaustive_options o = ss_exhaustive_options_start();
    ss_exhaustive_result r;
    int looks = 0;
    ss_watch watch = {.context = &looks, .look = stop_at_once, .over = no_over};
    problem_by_move(&p, SS_MOVE_BLOCK);
    o.simulate = 5;
    CHECK_OK(search(&p, &o, p.strategy, &r));
    CHECK(!r.proven && r.simulated == 5 && r.share > 0 && r.share < 1, "%llu simulated, share %g",
          (unsigned long long)r.simulated, r.share);
    CHECK(r.least > 0 && r.least <= r.cost, "between %lld and %lld", (long long)r.least,
          (long long)r.cost);
    CHECK(r.cost == step_time(&p, r.best, &o.lower), "the best so far");
    ss_exhaustive_result_free(&r);
    o.simulate = 0;
    o.seconds = 0.2;
    CHECK_OK(search(&p, &o, p.strategy, &r));
    CHECK(!r.proven && r.seconds < 5, "%g s", r.seconds);
    ss_exhaustive_result_free(&r);
    o.seconds = 1e-9; /* over before the tables of the bounds are there */
    CHECK_OK(search(&p, &o, p.strategy, &r));
    CHECK(!r.proven && r.nodes == 0 && r.cost == step_time(&p, p.strategy, &o.lower) && r.size > 1,
          "%llu nodes", (unsigned long long)r.nodes);
    ss_exhaustive_result_free(&r);
    o.seconds = 0;
    CHECK_OK(ss_exhaustive(p.model, p.topology, &p.timer, &p.space, p.strategy, &o, NULL, &watch,
                           &r, &err));
    CHECK(!r.proven && looks > 300, "%d looks", looks);
    ss_exhaustive_result_free(&r);
    looks = 300; /* while the tables are filled */
    CHECK_OK(ss_exhaustive(p.model, p.topology, &p.timer, &p.space, p.strategy, &o, NULL, &watch,
                           &r, &err));
    CHECK(!r.proven && r.nodes == 0 && r.cost == step_time(&p, p.strategy, &o.lower) && r.best,
          "%llu nodes", (unsigned long long)r.nodes);
    ss_exhaustive_result_free(&r);
    problem_free(&p);
}

static void an_incumbent_outside_of_the_space_may_be_best(void)
{
    problem p = {.model = lenet(1024), .topology = mesh(4, 18.3e9, 1e-6)};
    ss_exhaustive_options o = ss_exhaustive_options_start();
    ss_exhaustive_result r;
    ss_strategy *data;
    problem_by_move(&p, SS_MOVE_PLACE);
    CHECK_OK(ss_strategy_copy(p.strategy, &data, &err));
    CHECK_OK(ss_strategy_data_parallel(data, &err));
    CHECK_OK(search(&p, &o, data, &r));
    CHECK(r.proven && !r.better && r.cost == step_time(&p, data, &o.lower) &&
              ss_strategy_same(r.best, data),
          "cost %lld", (long long)r.cost);
    ss_exhaustive_result_free(&r);
    ss_strategy_free(data);
    problem_free(&p);
}

static void no_memory_at_any_request_leaves_nothing_behind(void)
{
    problem p = {.model = rnnlm(64, 2), .topology = mesh(2, 18.3e9, 1e-6)};
    ss_exhaustive_options o = ss_exhaustive_options_start();
    ss_exhaustive_result r;
    problem_by_move(&p, SS_MOVE_PLACE);
    CHECK_OK(search(&p, &o, p.strategy, &r)); /* the costs remember what they were asked */
    ss_exhaustive_result_free(&r);
    size_t blocks = ss_mem_blocks();
    bool done = false;
    for (int64_t n = 0; !done; n++) {
        ss_mem_fail_after(n);
        ss_status s = search(&p, &o, p.strategy, &r);
        ss_mem_fail_never();
        done = s == SS_OK;
        CHECK(done || s == SS_ENOMEM, "request %lld: status %d, %s", (long long)n, (int)s,
              err.text);
        ss_exhaustive_result_free(&r);
        CHECK(ss_mem_blocks() == blocks, "request %lld: %zu blocks are left", (long long)n,
              ss_mem_blocks() - blocks);
    }
    problem_free(&p);
}

int main(void)
{
    net_must(ss_rng_open(&tiny_rng, 5, "exhaustive", &err), &err);
    RUN(lists_refuse_what_is_out_of_order_and_keep_each_once);
    RUN(spaces_that_are_no_small_ones_are_refused);
    RUN(one_machine_takes_what_its_hardest_set_takes);
    RUN(an_optimum_whose_prefix_takes_longer_is_found);
    RUN(lenet_on_four_devices_is_proven);
    RUN(two_steps_of_rnnlm_on_four_devices_are_proven);
    RUN(permutations_are_used_where_they_are_sound);
    RUN(unequal_devices_and_links_are_told_apart);
    RUN(limits_leave_the_best_so_far_and_no_proof);
    RUN(an_incumbent_outside_of_the_space_may_be_best);
    RUN(no_memory_at_any_request_leaves_nothing_behind);
    ss_rng_close(&tiny_rng);
    return DONE();
}
