#include "strategy_fixture.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/rng.h"

enum { SEED = 77003 };

static ss_rng rng;
static ss_model *cnn, *rnn;
static ss_topology *four, *uneven; /* 1 machine of 4; machines of 2, 3 and 1 */

static uint32_t below(uint32_t n)
{
    return (uint32_t)ss_rng_below(&rng, n);
}

static ss_strategy *fresh(const ss_model *m, const ss_topology *t)
{
    ss_strategy *s;
    if (ss_strategy_new(m, t, &s, &err))
        fixture_failed();
    return s;
}

static ss_status set(ss_strategy *s, const char *op, const uint32_t *degree, uint32_t degrees,
                     const uint32_t *device, uint32_t n)
{
    ss_device d[16];
    for (uint32_t k = 0; k < n; k++)
        d[k].i = device[k];
    return ss_strategy_set(s, fixture_find(s->model, op), degree, degrees, d, n, &err);
}

static void a_new_strategy_is_whole_on_device_1(void)
{
    ss_strategy *s = fresh(cnn, four);
    CHECK_OK(ss_strategy_check(s, &err));
    for (uint32_t i = 1; i <= cnn->ops; i++) {
        CHECK(s->config[i].parts == 1 && s->config[i].device[0].i == 1, "operator %u", i);
        ss_box box, all = ss_box_whole(&cnn->op[i].def->out[0]);
        ss_strategy_part_box(s, (ss_op){i}, 0, &box);
        CHECK(ss_box_same(&box, &all), "operator %u", i);
    }
    ss_strategy_free(s);
    ss_strategy_free(NULL);

    ss_topology *none = fixture_cluster("none", 0, NULL);
    CHECK(ss_strategy_new(cnn, none, &s, &err) == SS_EINVAL, "no devices");
    CHECK_TEXT(err.text, "topology none has no device");
    ss_topology_free(none);
}

static void every_rule_has_its_own_sentence(void)
{
    static const struct {
        const char *op;
        uint32_t degree[5], degrees, device[8], n;
        const char *sentence;
    } wrong[] = {
        {"conv1", {0, 1, 1, 1}, 4, {1}, 1, "conv1: degree 0 on n"},
        {"conv1", {1, 1, 12, 1}, 4, {1}, 1, "conv1: degree 12 on h: its extent is 11"},
        {"conv1", {1, 11, 1, 1}, 4, {1}, 1, "conv1: degree 11 on c: its extent is 10"},
        {"flat3", {1, 200}, 2, {1}, 1, "flat3: degree 200 on "},
        {"loss7", {1, 2}, 2, {1}, 1, "may not be cut"},
        {"conv1", {1, 1, 1, 1, 2}, 5, {1}, 1, "conv1: degree 2 on dimension 5: its output has 4"},
        {"conv1",
         {2, 2},
         2,
         {1, 2, 5, 3},
         4,
         "conv1: part 3 of 4 is on device 5: topology four has devices 1 to 4"},
        {"conv1", {2, 1}, 2, {0, 1}, 2, "part 1 of 2 is on device 0"},
        {"fc4", {2, 3}, 2, {1, 2, 3}, 3, "fc4: 3 devices for 6 parts (n 2, c 3)"},
        {"fc4", {1}, 1, {1, 2}, 2, "fc4: 2 devices for 1 part (nothing is cut)"},
        {"fc4", {2}, 1, {1, 2}, 0, "fc4: 0 devices for 2 parts"},
    };
    ss_strategy *s = fresh(cnn, four), *before;
    CHECK_OK(ss_strategy_data_parallel(s, &err));
    CHECK_OK(ss_strategy_copy(s, &before, &err));
    for (uint32_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        ss_status st =
            set(s, wrong[k].op, wrong[k].degree, wrong[k].degrees, wrong[k].device, wrong[k].n);
        CHECK(st == SS_EINVAL, "case %u", k);
        CHECK_TEXT(err.text, wrong[k].sentence);
        CHECK(ss_strategy_same(s, before), "case %u changed something", k);
    }
    uint32_t one = 1;
    ss_device d = {1};
    CHECK(ss_strategy_set(s, (ss_op){0}, &one, 1, &d, 1, &err) == SS_ENOTFOUND, "operator 0");
    CHECK(ss_strategy_set(s, (ss_op){8}, &one, 1, &d, 1, &err) == SS_ENOTFOUND, "operator 8");
    CHECK_TEXT(err.text, "no operator 8: model little has operators 1 to 7");
    CHECK(ss_strategy_pin(s, (ss_op){8}, SS_PIN_ALL, &err) == SS_ENOTFOUND, "pin 8");
    CHECK(ss_strategy_pin_degree(s, (ss_op){4}, 2, &err) == SS_EINVAL, "pin a third dimension");
    CHECK_TEXT(err.text, "fc4: dimension 3 cannot be pinned: its output has 2");
    ss_strategy_free(s);
    ss_strategy_free(before);
}

static void too_many_parts_are_refused(void)
{
    ss_model *m = fixture_cnn(300);
    ss_strategy *s = fresh(m, four);
    uint32_t degree[4] = {300, 10, 11, 1}, one = 1;
    CHECK_OK(set(s, "conv1", degree, 4, &one, 1));
    degree[3] = 2;
    CHECK(set(s, "conv1", degree, 4, &one, 1) == SS_EINVAL, "66000 parts");
    CHECK_TEXT(err.text, "conv1: too many parts (n 300, c 10, h 11, w 2): an operator may have at "
                         "most 65536");
    CHECK(s->config[1].parts == 33000, "%u parts", s->config[1].parts);
    ss_strategy_free(s);
    ss_model_free(m);
}

static void a_grain_is_not_cut(void)
{
    ss_model *m;
    ss_tensor x;
    ss_shape shape = {.dtype = SS_F32, .rank = 3, .extent = {6, 5, 288}};
    CHECK_OK(ss_model_new("heads", &m, &err));
    CHECK_OK(ss_model_input(m, "x", &shape, &x, &err));
    fixture_op(m, "multihead_attention", "att", 0, &x, 1, "heads", 12, NULL, 0);
    ss_strategy *s = fresh(m, four);
    CHECK(m->op[1].def->dim[2].grain == 8, "a head of 96 channels and 12 heads");
    uint32_t degree[3] = {1, 1, 12}, one = 1;
    CHECK(ss_strategy_limit(s, (ss_op){1}, 2) == 12, "%u", ss_strategy_limit(s, (ss_op){1}, 2));
    CHECK_OK(set(s, "att", degree, 3, &one, 1));
    degree[2] = 13;
    CHECK(set(s, "att", degree, 3, &one, 1) == SS_EINVAL, "13 parts of 12 heads");
    CHECK_TEXT(err.text, "its extent 96 has 12 grains of 8, which are not cut");
    ss_strategy_free(s);
    ss_model_free(m);
}

/* Counting elements with their part proves that none is left out and none is in two parts. */
static void parts_tile_the_output_with_the_sample_slowest(void)
{
    ss_strategy *s = fresh(cnn, four);
    for (int turn = 0; turn < 60; turn++) {
        CHECK_OK(ss_strategy_random(s, &rng, 200, &err));
        ss_op op = {1 + below(4)};
        const ss_shape *shape = &cnn->op[op.i].def->out[0];
        int64_t sum = 0;
        ss_box last = {0}, box, both;
        for (uint32_t p = 0; p < s->config[op.i].parts; p++) {
            ss_strategy_part_box(s, op, p, &box);
            CHECK(!ss_box_empty(&box), "part %u is empty", p);
            sum += ss_box_elements(&box);
            CHECK(!p || !ss_box_intersect(&box, &last, &both), "part %u and the one before", p);
            CHECK(!p || box.lo[0] >= last.lo[0], "part %u goes back in the sample", p);
            for (uint32_t q = 0; q < p; q += 7) {
                ss_strategy_part_box(s, op, q, &last);
                CHECK(!ss_box_intersect(&box, &last, &both), "parts %u and %u", q, p);
            }
            ss_strategy_part_box(s, op, p, &last);
        }
        CHECK(sum == ss_shape_elements(shape), "seed %d turn %d: %lld", SEED, turn, (long long)sum);
    }
    /* n 2, c 3: parts 0 1 2 have the first samples */
    CHECK_OK(set(s, "fc4", (uint32_t[]){2, 3}, 2, (uint32_t[]){1}, 1));
    ss_box box;
    ss_strategy_part_box(s, fixture_find(cnn, "fc4"), 4, &box);
    CHECK(box.lo[0] == 19 && box.hi[0] == 37 && box.lo[1] == 26 && box.hi[1] == 52,
          "%lld-%lld %lld-%lld", (long long)box.lo[0], (long long)box.hi[0], (long long)box.lo[1],
          (long long)box.hi[1]);
    ss_strategy_free(s);
}

static void one_device_may_stand_for_all_and_arrays_may_be_the_strategys_own(void)
{
    ss_strategy *s = fresh(cnn, four);
    CHECK_OK(set(s, "conv1", (uint32_t[]){3, 1, 2}, 3, (uint32_t[]){3}, 1));
    ss_config *c = &s->config[1];
    CHECK(c->parts == 6, "%u parts", c->parts);
    for (uint32_t k = 0; k < 6; k++)
        CHECK(c->device[k].i == 3, "part %u", k);
    CHECK_OK(set(s, "conv1", (uint32_t[]){5}, 1, (uint32_t[]){4, 3, 2, 1, 4}, 5));
    CHECK_OK(ss_strategy_set(s, (ss_op){1}, c->degree, 4, c->device, 5, &err));
    CHECK(c->device[0].i == 4 && c->device[4].i == 4, "changed");
    CHECK_OK(ss_strategy_set(s, (ss_op){1}, (uint32_t[]){30, 10}, 2, c->device, 1, &err));
    CHECK(c->parts == 300 && c->device[299].i == 4, "part 300 is on %u", c->device[299].i);
    CHECK_OK(ss_strategy_check(s, &err));
    ss_strategy_free(s);
}

static void what_is_pinned_is_not_changed(void)
{
    ss_strategy *s = fresh(cnn, four);
    ss_op fc = fixture_find(cnn, "fc4");
    CHECK_OK(set(s, "fc4", (uint32_t[]){2, 2}, 2, (uint32_t[]){1, 2, 3, 4}, 4));
    CHECK_OK(ss_strategy_pin_degree(s, fc, 1, &err));
    CHECK(set(s, "fc4", (uint32_t[]){2, 3}, 2, (uint32_t[]){1}, 1) == SS_EINVAL, "c 3");
    CHECK_TEXT(err.text, "fc4: degree 3 on c: it is pinned to 2");
    CHECK_OK(set(s, "fc4", (uint32_t[]){1, 2}, 2, (uint32_t[]){4, 3}, 2));
    CHECK_OK(ss_strategy_pin(s, fc, SS_PIN_DEVICES, &err));
    CHECK(set(s, "fc4", (uint32_t[]){1, 2}, 2, (uint32_t[]){4, 2}, 2) == SS_EINVAL, "device 2");
    CHECK_TEXT(err.text, "fc4: device 2 for part 2 of 2: it is pinned to device 3");
    CHECK(set(s, "fc4", (uint32_t[]){2, 2}, 2, (uint32_t[]){4}, 1) == SS_EINVAL, "4 parts");
    CHECK_TEXT(err.text, "fc4: 4 parts: its 2 devices are pinned");
    CHECK_OK(set(s, "fc4", (uint32_t[]){1, 2}, 2, (uint32_t[]){4, 3}, 2)); /* what is there */
    CHECK_OK(ss_strategy_pin(s, fc, SS_PIN_DEGREES, &err));
    CHECK(set(s, "fc4", (uint32_t[]){2, 1}, 2, (uint32_t[]){4, 3}, 2) == SS_EINVAL, "n 2");
    CHECK_TEXT(err.text, "its degrees are pinned (c 2)");
    CHECK(s->pin[fc.i] == SS_PIN_ALL, "bits are added");
    ss_strategy_unpin(s, fc);
    CHECK_OK(set(s, "fc4", (uint32_t[]){2, 3}, 2, (uint32_t[]){1}, 1));
    ss_strategy_free(s);
}

static void a_copy_is_the_same_until_one_changes(void)
{
    ss_strategy *a = fresh(cnn, uneven), *b;
    CHECK_OK(ss_strategy_random(a, &rng, 16, &err));
    CHECK_OK(ss_strategy_pin_degree(a, (ss_op){3}, 1, &err));
    CHECK_OK(ss_strategy_copy(a, &b, &err));
    CHECK(ss_strategy_same(a, b), "copy");
    CHECK(b->pin_degree[3][1], "pins are copied");
    CHECK_OK(set(b, "conv1", (uint32_t[]){2, 1}, 2, (uint32_t[]){5, 6}, 2));
    CHECK_OK(set(a, "conv1", (uint32_t[]){2, 1}, 2, (uint32_t[]){5, 6}, 2));
    CHECK(ss_strategy_same(a, b), "both set");
    CHECK_OK(set(b, "conv1", (uint32_t[]){1, 2}, 2, (uint32_t[]){5, 6}, 2));
    CHECK(!ss_strategy_same(a, b), "degrees");
    CHECK_OK(set(b, "conv1", (uint32_t[]){2, 1}, 2, (uint32_t[]){6, 5}, 2));
    CHECK(!ss_strategy_same(a, b), "devices");
    ss_strategy_free(a);
    ss_strategy_free(b);
}

static void an_operator_added_later_is_found(void)
{
    ss_model *m = fixture_cnn(4);
    ss_strategy *s = fresh(m, four);
    ss_tensor x = m->op[6].out[0];
    fixture_op(m, "relu", "late", 0, &x, 1, NULL, 0, NULL, 0);
    CHECK(ss_strategy_check(s, &err) == SS_EINVAL, "late");
    CHECK_TEXT(err.text, "late: it was added to model little after the strategy was made");
    ss_strategy_free(s);
    ss_model_free(m);
}

/* ---------------------------------------------------------------------------------- ready-made */

static void data_parallel_cuts_the_sample_for_the_devices(void)
{
    ss_strategy *s = fresh(cnn, four);
    CHECK_OK(ss_strategy_data_parallel(s, &err));
    for (uint32_t i = 1; i <= cnn->ops; i++) {
        CHECK(s->config[i].parts == 4 && s->config[i].degree[0] == 4, "operator %u", i);
        for (uint32_t k = 0; k < 4; k++)
            CHECK(s->config[i].device[k].i == k + 1, "operator %u", i);
    }
    ss_strategy_free(s);
    ss_model *small = fixture_cnn(3);
    s = fresh(small, four);
    CHECK_OK(ss_strategy_data_parallel(s, &err));
    CHECK(s->config[1].parts == 3, "%u parts of 3 samples", s->config[1].parts);
    ss_strategy_free(s);
    ss_model_free(small);
}

static void degrees_are_chosen_around_pinned_ones(void)
{
    ss_strategy *s = fresh(cnn, four);
    CHECK_OK(set(s, "fc4", (uint32_t[]){1, 2}, 2, (uint32_t[]){1}, 1));
    CHECK_OK(ss_strategy_pin_degree(s, fixture_find(cnn, "fc4"), 1, &err));
    CHECK_OK(set(s, "fc6", (uint32_t[]){1, 3}, 2, (uint32_t[]){4, 4, 2}, 3));
    CHECK_OK(ss_strategy_pin(s, fixture_find(cnn, "fc6"), SS_PIN_DEVICES, &err));
    CHECK_OK(ss_strategy_data_parallel(s, &err));
    const ss_config *fc4 = &s->config[4], *fc6 = &s->config[6];
    CHECK(fc4->degree[0] == 2 && fc4->degree[1] == 2, "n %u, c %u", fc4->degree[0], fc4->degree[1]);
    CHECK(fc4->device[3].i == 4, "part 4 on %u", fc4->device[3].i);
    CHECK(fc6->degree[1] == 3 && fc6->device[2].i == 2, "fc6 changed");
    ss_strategy_free(s);
}

static void the_cnn_expert_splits_linear_layers_by_channel(void)
{
    ss_strategy *s = fresh(cnn, uneven); /* 6 devices */
    CHECK_OK(ss_strategy_expert_cnn(s, &err));
    for (uint32_t i = 1; i <= cnn->ops; i++) {
        bool fc = i == 4 || i == 6;
        uint32_t c = i == 6 ? 5 : 6;
        CHECK(s->config[i].degree[0] == (fc ? 1 : 6), "%s: n %u", cnn->op[i].name,
              s->config[i].degree[0]);
        CHECK(!fc || s->config[i].degree[1] == c, "%s: c %u", cnn->op[i].name,
              s->config[i].degree[1]);
        CHECK(s->config[i].device[2].i == 3, "part 3 on %u", s->config[i].device[2].i);
    }
    ss_strategy_free(s);
}

static bool on(const ss_strategy *s, const char *op, uint32_t part, uint32_t device)
{
    return s->config[fixture_find(s->model, op).i].device[part].i == device;
}

static void the_rnn_expert_deals_layers_over_each_machine(void)
{
    uint32_t each[3] = {4, 4, 4};
    ss_topology *t = fixture_cluster("3x4", 3, each);
    ss_strategy *s = fresh(rnn, t);
    CHECK_OK(ss_strategy_expert_rnn(s, false, &err));
    for (uint32_t i = 1; i <= rnn->ops; i++) {
        uint32_t layer = rnn->op[i].layer ? rnn->op[i].layer : 8;
        const ss_config *c = &s->config[i];
        CHECK(c->parts == 3 && c->degree[0] == 3, "%s has %u parts", rnn->op[i].name, c->parts);
        for (uint32_t j = 0; j < 3; j++)
            CHECK(c->device[j].i == 4 * j + (layer - 1) % 4 + 1, "%s part %u on %u",
                  rnn->op[i].name, j, c->device[j].i);
    }
    CHECK_OK(ss_strategy_expert_rnn(s, true, &err));
    CHECK(on(s, "src_embed.1", 1, 5) && on(s, "dst_embed.0", 2, 9), "embeddings, depth 0");
    CHECK(on(s, "src_lstm1.0", 0, 2) && on(s, "dst_lstm1.1", 0, 2), "first layers, depth 1");
    CHECK(on(s, "src_lstm2.1", 1, 7) && on(s, "dst_lstm2.0", 1, 7), "second layers, depth 2");
    CHECK(on(s, "dst_lstm3.0", 2, 12), "attention, depth 3");
    CHECK(on(s, "out.1", 2, 9) && on(s, "loss.0", 2, 9), "output, depth 4, and its loss");
    ss_strategy_free(s);
    ss_topology_free(t);
}

static void the_rnn_expert_takes_machines_of_different_sizes(void)
{
    ss_strategy *s = fresh(rnn, uneven); /* 1 2 | 3 4 5 | 6 */
    CHECK_OK(ss_strategy_expert_rnn(s, false, &err));
    CHECK(on(s, "src_lstm2.0", 0, 1), "layer 5 of 2 devices");
    CHECK(on(s, "src_lstm2.0", 1, 4), "layer 5 of 3 devices");
    CHECK(on(s, "src_lstm2.0", 2, 6), "layer 5 of 1 device");
    ss_strategy_free(s);
    s = fresh(cnn, uneven);
    CHECK(ss_strategy_expert_rnn(s, false, &err) == SS_EINVAL, "no layers");
    CHECK_TEXT(err.text, "no operator of model little has one: give `layer`");
    ss_strategy_free(s);
}

static void devices_without_a_machine_are_machines_by_themselves(void)
{
    ss_topology *t = fixture_cluster("mixed", 0, NULL);
    static const uint32_t machine[] = {2, 0, 2, 0, 1};
    for (uint32_t k = 0; k < 5; k++) {
        ss_device_def def = {.kind = "x", .machine = machine[k], .speed = 1};
        def.flop_per_s[SS_F32] = def.memory_bytes_per_s = 1e9;
        ss_device d;
        char name[16];
        snprintf(name, sizeof name, "d%u", k);
        CHECK_OK(ss_topology_add_device(t, name, &def, &d, &err));
    }
    ss_strategy *s = fresh(rnn, t);
    CHECK_OK(ss_strategy_expert_rnn(s, false, &err));
    CHECK(s->config[1].parts == 4, "%u machines", s->config[1].parts);
    CHECK(on(s, "dst_embed.0", 0, 3) && on(s, "dst_embed.0", 1, 2) && on(s, "dst_embed.0", 2, 4) &&
              on(s, "dst_embed.0", 3, 5),
          "machines come in the order of their first device");
    ss_strategy_free(s);
    ss_topology_free(t);
}

/* ------------------------------------------------------------------- balance against trying all */

typedef struct times {
    double by[8][8]; /* operator, device: whole numbers, so that sums are exact */
    double unit_s;
} times;

static double time_given(void *context, ss_op op, ss_device device)
{
    const times *t = context;
    return t->by[op.i][device.i] * t->unit_s;
}

/* Least possible time of the busiest device over all cuts into runs, some of them empty. */
static double least_of_all(const times *t, const ss_strategy *s, const double *pinned, uint32_t op,
                           uint32_t device, double busiest)
{
    while (op <= s->ops && (s->pin[op] & SS_PIN_DEVICES))
        op++;
    if (device > s->topology->devices)
        return op > s->ops ? busiest : 1e30;
    double load = pinned[device], best = 1e30;
    for (;; op++) {
        double here = least_of_all(t, s, pinned, op, device + 1, load > busiest ? load : busiest);
        best = here < best ? here : best;
        while (op <= s->ops && (s->pin[op] & SS_PIN_DEVICES))
            op++;
        if (op > s->ops)
            return best;
        load += t->by[op][device];
    }
}

static void model_parallel_has_the_least_busy_busiest_device(void)
{
    for (int turn = 0; turn < 300; turn++) {
        ss_strategy *s = fresh(cnn, turn % 2 ? four : uneven);
        times t = {.unit_s = 1e-12}; /* one picosecond more or less is another answer */
        double pinned[8] = {0}, load[8] = {0}, busiest = 0;
        bool same = turn % 3 == 0;
        for (uint32_t i = 1; i <= 7; i++) {
            double all = below(20);
            for (uint32_t d = 1; d <= s->topology->devices; d++)
                t.by[i][d] = same ? all : (double)below(20);
            if (below(5))
                continue;
            uint32_t d = 1 + below(s->topology->devices);
            CHECK_OK(ss_strategy_set(s, (ss_op){i}, NULL, 0, &(ss_device){d}, 1, &err));
            CHECK_OK(ss_strategy_pin(s, (ss_op){i}, SS_PIN_DEVICES, &err));
            pinned[d] += t.by[i][d];
        }
        double least = least_of_all(&t, s, pinned, 1, 1, 0);
        CHECK_OK(ss_strategy_model_parallel(s, time_given, &t, &err));
        uint32_t last = 1;
        for (uint32_t i = 1; i <= 7; i++) {
            uint32_t d = s->config[i].device[0].i;
            CHECK(s->config[i].parts == 1, "operator %u is cut", i);
            load[d] += t.by[i][d];
            busiest = load[d] > busiest ? load[d] : busiest;
            if (s->pin[i])
                continue;
            CHECK(d >= last, "runs are not in the order of devices");
            last = d;
        }
        CHECK(busiest == least, "seed %d turn %d: %g, and %g is possible", SEED, turn, busiest,
              least);
        ss_strategy_free(s);
    }
}

static void no_device_is_idle_where_all_can_work(void)
{
    ss_strategy *s = fresh(cnn, four);
    times t = {.unit_s = 1};
    for (uint32_t i = 1; i <= 7; i++)
        for (uint32_t d = 1; d <= 4; d++)
            t.by[i][d] = i == 2 ? 9 : 3;
    CHECK_OK(ss_strategy_model_parallel(s, time_given, &t, &err));
    uint32_t used[5] = {0};
    for (uint32_t i = 1; i <= 7; i++)
        used[s->config[i].device[0].i]++;
    CHECK(used[1] && used[2] && used[3] && used[4], "%u %u %u %u", used[1], used[2], used[3],
          used[4]);
    t.by[3][2] = -1;
    CHECK(ss_strategy_model_parallel(s, time_given, &t, &err) == SS_EINVAL, "negative time");
    CHECK_TEXT(err.text, "flat3 on m1.2: ");
    t.by[3][2] = NAN;
    CHECK(ss_strategy_model_parallel(s, time_given, &t, &err), "no number");
    t.by[3][2] = 9e6; /* 8 of them pass 106 days */
    CHECK(ss_strategy_model_parallel(s, time_given, &t, &err) == SS_ERANGE, "%s", err.text);
    ss_strategy_free(s);
}

static void by_flop_a_fast_device_gets_more(void)
{
    ss_model *m;
    ss_tensor x;
    ss_shape shape = {.dtype = SS_F32, .rank = 2, .extent = {8, 64}};
    CHECK_OK(ss_model_new("equal", &m, &err));
    CHECK_OK(ss_model_input(m, "x", &shape, &x, &err));
    for (int i = 0; i < 12; i++) {
        char name[16];
        snprintf(name, sizeof name, "fc%d", i);
        x = fixture_op(m, "linear", name, 0, &x, 1, "out", 64, NULL, 0);
    }
    ss_topology *t = fixture_cluster("fast and slow", 0, NULL);
    for (uint32_t k = 0; k < 2; k++) {
        ss_device_def def = {.kind = "x", .speed = k ? 1 : 3};
        def.flop_per_s[SS_F32] = def.memory_bytes_per_s = 1e9;
        ss_device d;
        CHECK_OK(ss_topology_add_device(t, k ? "slow" : "fast", &def, &d, &err));
    }
    ss_strategy *s = fresh(m, t);
    CHECK_OK(ss_strategy_model_parallel(s, NULL, NULL, &err));
    uint32_t fast = 0;
    for (uint32_t i = 1; i <= 12; i++)
        fast += s->config[i].device[0].i == 1;
    CHECK(fast == 9, "the fast device has %u of 12", fast);
    ss_strategy_free(s);
    ss_topology_free(t);
    ss_model_free(m);
}

/* --------------------------------------------------------------------------------------- random */

/* fc6 has 5 channels and 37 samples: with at most 6 parts there are 6+3+2+1+1 vectors of degrees.
 */
static void random_degrees_are_uniform(void)
{
    enum { DRAWS = 26000, VECTORS = 13 };
    uint32_t seen[7][7] = {{0}};
    ss_strategy *s = fresh(cnn, four);
    for (int k = 0; k < DRAWS; k++) {
        CHECK_OK(ss_strategy_random(s, &rng, 6, &err));
        const ss_config *c = &s->config[6];
        CHECK(c->parts <= 6, "%u parts", c->parts);
        seen[c->degree[0]][c->degree[1]]++;
    }
    double expected = (double)DRAWS / VECTORS, chi2 = 0;
    uint32_t vectors = 0;
    for (uint32_t n = 1; n <= 6; n++)
        for (uint32_t c = 1; c <= 6; c++) {
            if (!seen[n][c])
                continue;
            vectors++;
            chi2 += (seen[n][c] - expected) * (seen[n][c] - expected) / expected;
        }
    CHECK(vectors == VECTORS, "%u vectors", vectors);
    CHECK(chi2 < 32.9, "seed %d: chi-squared %g with 12 degrees of freedom", SEED, chi2);
    ss_strategy_free(s);
}

static void equal_seeds_draw_equal_strategies(void)
{
    ss_strategy *a = fresh(rnn, uneven), *b = fresh(rnn, uneven);
    ss_rng one = {0}, two = {0};
    CHECK_OK(ss_rng_open(&one, 5, "random strategy", &err));
    CHECK_OK(ss_rng_open(&two, 5, "random strategy", &err));
    CHECK_OK(ss_strategy_random(a, &one, 16, &err));
    CHECK_OK(ss_strategy_random(b, &two, 16, &err));
    CHECK(ss_strategy_same(a, b), "differ");
    CHECK_OK(ss_strategy_random(b, &two, 16, &err));
    CHECK(!ss_strategy_same(a, b), "the second draw is the first");
    CHECK(ss_strategy_random(b, &two, 0, &err) == SS_EINVAL, "0 parts");
    CHECK(ss_strategy_random(b, &two, SS_MAX_PARTS + 1, &err) == SS_EINVAL, "%s", err.text);
    CHECK_OK(ss_strategy_random(b, &two, SS_MAX_PARTS, &err));
    CHECK_OK(ss_strategy_check(b, &err));
    ss_rng_close(&one);
    ss_rng_close(&two);
    ss_strategy_free(a);
    ss_strategy_free(b);
}

/* --------------------------------------------------------------------- what all of them must do */

enum { WHOLE, DATA, MODEL, CNN, RNN, RNN_DEPTH, RANDOM, RECIPES };

static ss_status apply(ss_strategy *s, int recipe)
{
    switch (recipe) {
    case WHOLE:
        return ss_strategy_whole(s, &err);
    case DATA:
        return ss_strategy_data_parallel(s, &err);
    case MODEL:
        return ss_strategy_model_parallel(s, NULL, NULL, &err);
    case CNN:
        return ss_strategy_expert_cnn(s, &err);
    case RNN:
    case RNN_DEPTH:
        return ss_strategy_expert_rnn(s, recipe == RNN_DEPTH, &err);
    default:
        return ss_strategy_random(s, &rng, 1 + below(40), &err);
    }
}

static void pin_at_random(ss_strategy *s)
{
    for (uint32_t i = 1; i <= s->ops; i++) {
        ss_strategy_pin(s, (ss_op){i}, (ss_pin)(below(2) * below(4)), &err);
        if (!below(3))
            ss_strategy_pin_degree(s, (ss_op){i}, below(s->model->op[i].def->out[0].rank), &err);
    }
}

static void every_recipe_leaves_what_is_pinned_and_breaks_no_rule(void)
{
    for (int turn = 0; turn < 50; turn++)
        for (int recipe = 0; recipe < RECIPES; recipe++) {
            ss_strategy *s = fresh(rnn, turn % 2 ? four : uneven), *old;
            CHECK_OK(ss_strategy_random(s, &rng, 1 + below(50), &err));
            pin_at_random(s);
            CHECK_OK(ss_strategy_copy(s, &old, &err));
            CHECK_OK(apply(s, recipe));
            CHECK_OK(ss_strategy_check(s, &err));
            for (uint32_t i = 1; i <= s->ops; i++) {
                const ss_config *a = &old->config[i], *b = &s->config[i];
                for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
                    CHECK(!ss_strategy_pinned_degree(old, (ss_op){i}, d) ||
                              a->degree[d] == b->degree[d],
                          "seed %d turn %d recipe %d operator %u", SEED, turn, recipe, i);
                if (!(old->pin[i] & SS_PIN_DEVICES))
                    continue;
                CHECK(a->parts == b->parts &&
                          !memcmp(a->device, b->device, a->parts * sizeof *a->device),
                      "seed %d turn %d recipe %d operator %u", SEED, turn, recipe, i);
            }
            ss_strategy_free(s);
            ss_strategy_free(old);
        }
}

static void without_memory_everything_stays_as_it_was(void)
{
    size_t blocks = ss_mem_blocks();
    ss_strategy *s = fresh(rnn, uneven), *old;
    CHECK_OK(ss_strategy_copy(s, &old, &err));
    for (int recipe = 0; recipe < RECIPES; recipe++) {
        ss_status st = SS_ENOMEM;
        int n = 0;
        for (; st && n < 200; n++) {
            ss_mem_fail_after(n);
            st = apply(s, recipe);
            ss_mem_fail_never();
            CHECK(!st || st == SS_ENOMEM, "recipe %d: %s", recipe, err.text);
            CHECK(!st || ss_strategy_same(s, old), "recipe %d allocation %d", recipe, n);
        }
        CHECK(!st, "recipe %d still fails", recipe);
        ss_strategy_free(old);
        CHECK_OK(ss_strategy_copy(s, &old, &err));
    }
    ss_strategy_free(old);
    ss_strategy_free(s);
    for (int n = 0; n < 100; n++) {
        ss_mem_fail_after(n);
        ss_status st = ss_strategy_new(rnn, uneven, &s, &err);
        if (!st) {
            st = ss_strategy_copy(s, &old, &err);
            if (!st)
                ss_strategy_free(old);
            ss_strategy_free(s);
        }
        ss_mem_fail_never();
        CHECK(ss_mem_blocks() == blocks, "allocation %d: leak", n);
        if (!st)
            return;
        CHECK(st == SS_ENOMEM, "%s", err.text);
    }
    CHECK(false, "still fails");
}

int main(void)
{
    uint32_t each[3] = {4}, sizes[3] = {2, 3, 1};
    if (ss_rng_open(&rng, SEED, "strategies", &err))
        return 99;
    cnn = fixture_cnn(37);
    rnn = fixture_rnn(29);
    four = fixture_cluster("four", 1, each);
    uneven = fixture_cluster("uneven", 3, sizes);
    RUN(a_new_strategy_is_whole_on_device_1);
    RUN(every_rule_has_its_own_sentence);
    RUN(too_many_parts_are_refused);
    RUN(a_grain_is_not_cut);
    RUN(parts_tile_the_output_with_the_sample_slowest);
    RUN(one_device_may_stand_for_all_and_arrays_may_be_the_strategys_own);
    RUN(what_is_pinned_is_not_changed);
    RUN(a_copy_is_the_same_until_one_changes);
    RUN(an_operator_added_later_is_found);
    RUN(data_parallel_cuts_the_sample_for_the_devices);
    RUN(degrees_are_chosen_around_pinned_ones);
    RUN(the_cnn_expert_splits_linear_layers_by_channel);
    RUN(the_rnn_expert_deals_layers_over_each_machine);
    RUN(the_rnn_expert_takes_machines_of_different_sizes);
    RUN(devices_without_a_machine_are_machines_by_themselves);
    RUN(model_parallel_has_the_least_busy_busiest_device);
    RUN(no_device_is_idle_where_all_can_work);
    RUN(by_flop_a_fast_device_gets_more);
    RUN(random_degrees_are_uniform);
    RUN(equal_seeds_draw_equal_strategies);
    RUN(every_recipe_leaves_what_is_pinned_and_breaks_no_rule);
    RUN(without_memory_everything_stays_as_it_was);
    ss_model_free(cnn);
    ss_model_free(rnn);
    ss_topology_free(four);
    ss_topology_free(uneven);
    ss_rng_close(&rng);
    return DONE();
}
