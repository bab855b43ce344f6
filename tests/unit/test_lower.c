/* Lowering by hand-counted cases; prop_lower has the random ones. */
#include "graph/lower.h"

#include "base/mem.h"
#include "check.h"
#include "networks.h"
#include "simulate/engine.h"

static ss_error err;

/* Everything one case is made of. */
typedef struct world {
    ss_model *m;
    ss_topology *t;
    ss_routes *r;
    ss_strategy *s;
    ss_timer timer;
    ss_lower_options o;
    ss_lowered l;
    ss_engine *e;
    ss_timeline line;
} world;

/* Whole operators take 1 s forward and 2 s backward, parts their share; memory takes 1 s a byte. */
static ss_status share_of_second(void *context, const ss_model *m, ss_op op, ss_phase phase,
                                 const ss_box *main, ss_device device, ss_time *out, ss_error *e)
{
    (void)context, (void)device;
    double share =
        (double)ss_box_elements(main) / (double)ss_shape_elements(&m->op[op.i].def->out[0]);
    return ss_time_from_seconds(share * (phase == SS_BACKWARD ? 2 : 1), "part", out, e);
}

static ss_status second_a_byte(void *context, ss_stream what, double bytes, ss_device device, ss_time *out,
                               ss_error *e)
{
    (void)what;
    (void)context, (void)device;
    return ss_time_from_seconds(bytes, "memory", out, e);
}

static world new_world(ss_model *m, ss_topology *t)
{
    world w = {.m = m,
               .t = t,
               .timer = {.part = share_of_second, .memory = second_a_byte},
               .o = ss_lower_options_start()};
    net_must(ss_routes_new(t, &w.r, &err), &err);
    net_must(ss_strategy_new(m, t, &w.s, &err), &err);
    net_must(ss_engine_new(&w.e, &err), &err);
    return w;
}

static void end_world(world *w)
{
    ss_timeline_free(&w->line);
    ss_engine_free(w->e);
    ss_lowered_free(&w->l);
    ss_strategy_free(w->s);
    ss_routes_free(w->r);
    ss_topology_free(w->t);
    ss_model_free(w->m);
}

/* Degrees of dimensions 0 and 1; devices as many as parts. */
static void cut(world *w, ss_op op, uint32_t d0, uint32_t d1, const uint32_t *device)
{
    ss_device list[64];
    for (uint32_t p = 0; p < d0 * d1; p++)
        list[p].i = device[p];
    net_must(ss_strategy_set(w->s, op, (uint32_t[]){d0, d1}, 2, list, d0 * d1, &err), &err);
}

static ss_status lower(world *w)
{
    return ss_lower(w->m, w->t, w->r, w->s, &w->timer, &w->o, &w->l, &err);
}

static void run(world *w)
{
    net_must(lower(w), &err);
    net_must(ss_engine_run(w->e, &w->l.tasks, &w->line, &err), &err);
    net_must(ss_timeline_check(&w->l.tasks, &w->line, &err), &err);
}

static double seconds(ss_time t)
{
    return (double)t / 1e12;
}

static uint32_t count(const world *w, ss_task_kind kind, ss_cargo cargo)
{
    uint32_t n = 0;
    for (uint32_t i = 1; i <= w->l.tasks.n; i++)
        n += w->l.tasks.label[i].kind == kind && w->l.tasks.label[i].cargo == cargo &&
             w->l.tasks.label[i].hop == 0;
    return n;
}

/* The first task of the message between two parts; 0: there is none. */
static uint32_t message(const world *w, ss_cargo cargo, ss_op from, uint32_t part, ss_op to,
                        uint32_t to_part)
{
    for (uint32_t i = 1; i <= w->l.tasks.n; i++) {
        const ss_task_label *l = &w->l.tasks.label[i];
        if (l->kind == SS_TASK_TRANSFER && l->cargo == cargo && l->op == from.i &&
            l->part == part && l->to_op == to.i && l->to_part == to_part)
            return i;
    }
    return 0;
}

static uint32_t find(const world *w, ss_task_kind kind)
{
    for (uint32_t i = 1; i <= w->l.tasks.n; i++)
        if (w->l.tasks.label[i].kind == kind)
            return i;
    return 0;
}

static bool waits_for(const world *w, uint32_t task, uint32_t before)
{
    const ss_tasks *t = &w->l.tasks;
    for (uint32_t e = t->first_in[task]; e < t->first_in[task + 1]; e++)
        if (t->in[e] == before)
            return true;
    return false;
}

/* ---- FlexFlow (MLSys 2019), figure 4 ----------------------------------------------------- */

static ss_status figure_time(void *context, const ss_model *m, ss_op op, ss_phase phase,
                             const ss_box *main, ss_device device, ss_time *out, ss_error *e)
{
    (void)context, (void)phase, (void)device, (void)e;
    ss_time samples = main->hi[0] - main->lo[0];
    const char *kind = m->op[op.i].def->kind->name;
    *out = SS_PICOSECONDS * (!strcmp(kind, "embedding") ? 2 : !strcmp(kind, "lstm") ? samples : 3);
    return SS_OK;
}

/* Three devices in a row; half of a tensor, 16 bytes, crosses a link in a second. */
static ss_topology *figure_devices(void)
{
    ss_topology *t;
    ss_device d[3];
    ss_link l;
    net_must(ss_topology_new("figure 4", &t, &err), &err);
    for (int i = 0; i < 3; i++) {
        ss_device_def def = {.kind = "gpu", .speed = 1};
        char name[] = "gpu1";
        name[3] = (char)('1' + i);
        net_must(ss_topology_add_device(t, name, &def, &d[i], &err), &err);
    }
    for (int i = 0; i < 2; i++) {
        ss_link_def def = {.bytes_per_s = 16, .weight = 1};
        net_must(ss_topology_add_link(t, t->device[d[i].i].node, t->device[d[i + 1].i].node, &def,
                                      &l, &err),
                 &err);
    }
    return t;
}

/* Two embeddings, two recurrent steps, two linear layers; op[1] .. op[6] as the figure numbers
 * them. */
static world figure(ss_op *op)
{
    ss_model *m = net_new("figure 4");
    ss_tensor in[3];
    for (uint32_t i = 1; i <= 2; i++) {
        const char *name[] = {"", "words1", "words2"}, *embed[] = {"", "o1", "o2"};
        ss_tensor x = net_input(m, name[i], SS_I32, 2, (int64_t[]){2, 1});
        op[i] = net_op(m, (net_place){0}, "embedding", embed[i], &x, 1, "vocab", 9, "out", 4, NULL);
    }
    in[0] = net_out(m, op[1]);
    op[3] = net_op(m, (net_place){0}, "lstm", "o3", in, 1, "hidden", 4, NULL);
    in[0] = net_out(m, op[2]);
    in[1] = m->op[op[3].i].out[1];
    in[2] = m->op[op[3].i].out[2];
    op[4] = net_op(m, (net_place){0}, "lstm", "o4", in, 3, "hidden", 4, NULL);
    for (uint32_t i = 5; i <= 6; i++) {
        in[0] = net_out(m, op[i - 2]);
        op[i] = net_op(m, (net_place){0}, "linear", i == 5 ? "o5" : "o6", in, 1, "out", 4, NULL);
    }
    world w = new_world(m, figure_devices());
    w.timer.part = figure_time;
    w.o.training = false;
    for (uint32_t i = 1; i <= 4; i++)
        cut(&w, op[i], 2, 1, i <= 2 ? (uint32_t[]){1, 1} : (uint32_t[]){2, 2});
    cut(&w, op[5], 1, 1, (uint32_t[]){3});
    cut(&w, op[6], 1, 1, (uint32_t[]){3});
    return w;
}

static bool is_at(const world *w, uint32_t task, int ready, int start)
{
    if (task && w->line.ready[task] == ready * SS_PICOSECONDS &&
        w->line.start[task] == start * SS_PICOSECONDS)
        return true;
    printf("  task %u: ready %g, start %g, expected %d, %d\n", task,
           task ? seconds(w->line.ready[task]) : -1, task ? seconds(w->line.start[task]) : -1,
           ready, start);
    return false;
}

static bool part_at(const world *w, ss_op op, uint32_t part, int ready, int start)
{
    return is_at(w, w->l.forward[op.i].i + part, ready, start);
}

static bool sent_at(const world *w, ss_op from, uint32_t part, ss_op to, uint32_t to_part,
                    int ready, int start)
{
    return is_at(w, message(w, SS_CARGO_ACTIVATION, from, part, to, to_part), ready, start);
}

static bool embeddings_are_as_drawn(const world *w, const ss_op *op, bool o3_whole)
{
    uint32_t second = o3_whole ? 0 : 1;
    return part_at(w, op[1], 0, 0, 0) && part_at(w, op[1], 1, 0, 2) && part_at(w, op[2], 0, 0, 4) &&
           part_at(w, op[2], 1, 0, 6) && sent_at(w, op[1], 0, op[3], 0, 2, 2) &&
           sent_at(w, op[1], 1, op[3], second, 4, 4) && sent_at(w, op[2], 0, op[4], 0, 6, 6) &&
           sent_at(w, op[2], 1, op[4], 1, 8, 8);
}

static void the_published_example_has_its_times(void)
{
    ss_op op[7];
    world w = figure(op);
    run(&w);
    CHECK(w.l.tasks.n == 18, "%u tasks", w.l.tasks.n);
    CHECK(embeddings_are_as_drawn(&w, op, false));
    CHECK(part_at(&w, op[3], 0, 3, 3) && part_at(&w, op[3], 1, 5, 5));
    CHECK(part_at(&w, op[4], 0, 7, 7) && part_at(&w, op[4], 1, 9, 9));
    CHECK(sent_at(&w, op[3], 0, op[5], 0, 4, 4) && sent_at(&w, op[3], 1, op[5], 0, 6, 6));
    CHECK(sent_at(&w, op[4], 0, op[6], 0, 8, 8) && sent_at(&w, op[4], 1, op[6], 0, 10, 10));
    CHECK(part_at(&w, op[5], 0, 7, 7) && part_at(&w, op[6], 0, 11, 11));
    CHECK(w.line.makespan == 14 * SS_PICOSECONDS);
    end_world(&w);
}

static void the_published_change_has_its_times(void)
{
    ss_op op[7];
    world w = figure(op);
    run(&w);
    cut(&w, op[3], 1, 1, (uint32_t[]){2});
    run(&w);
    CHECK(w.l.tasks.n == 16, "%u tasks", w.l.tasks.n);
    CHECK(embeddings_are_as_drawn(&w, op, true));
    CHECK(part_at(&w, op[3], 0, 5, 5));
    CHECK(part_at(&w, op[4], 0, 7, 7) && part_at(&w, op[4], 1, 9, 9));
    CHECK(sent_at(&w, op[3], 0, op[5], 0, 7, 7));
    CHECK(sent_at(&w, op[4], 0, op[6], 0, 8, 9) && sent_at(&w, op[4], 1, op[6], 0, 10, 10));
    CHECK(part_at(&w, op[5], 0, 9, 9) && part_at(&w, op[6], 0, 11, 12));
    CHECK(w.line.makespan == 15 * SS_PICOSECONDS);
    end_world(&w);
}

/* ---- what travels ------------------------------------------------------------------------ */

/* x(6x8) -> a: linear(10) -> b: linear(12) on a machine of 4. */
static world two_layers(ss_op *a, ss_op *b)
{
    ss_model *m = net_new("two layers");
    ss_tensor x = net_input(m, "x", SS_F32, 2, (int64_t[]){6, 8});
    *a = net_op(m, (net_place){0}, "linear", "a", &x, 1, "out", 10, "bias", 0, NULL);
    x = net_out(m, *a);
    *b = net_op(m, (net_place){0}, "linear", "b", &x, 1, "out", 12, "bias", 0, NULL);
    return new_world(m, net_cluster(1, 4, 1000, 1000, 0));
}

static void a_channel_split_sends_the_whole_tensor_to_each_part_and_back(void)
{
    ss_op a, b;
    world w = two_layers(&a, &b);
    cut(&w, a, 2, 1, (uint32_t[]){1, 2});
    cut(&w, b, 1, 3, (uint32_t[]){2, 3, 4});
    CHECK_OK(lower(&w));
    CHECK(count(&w, SS_TASK_TRANSFER, SS_CARGO_ACTIVATION) == 5);
    CHECK(w.l.moved[SS_CARGO_ACTIVATION] == 5 * 3 * 10 * 4);
    CHECK(w.l.moved[SS_CARGO_GRADIENT] == 5 * 3 * 10 * 4);
    CHECK(!message(&w, SS_CARGO_ACTIVATION, a, 1, b, 0), "part 1 of a is where part 0 of b is");
    uint32_t back = message(&w, SS_CARGO_GRADIENT, b, 2, a, 0);
    CHECK(back && waits_for(&w, back, w.l.backward[b.i].i + 2));
    CHECK(w.l.tasks.label[back].from.i == 4 && w.l.tasks.label[back].to.i == 1);
    /* Two hops: gpu, hub, gpu; the part waits for the second. */
    CHECK(waits_for(&w, w.l.backward[a.i].i, back + 1) && waits_for(&w, back + 1, back));
    CHECK(waits_for(&w, w.l.backward[a.i].i, w.l.forward[a.i].i), "backward follows forward");
    end_world(&w);
}

static void a_convolution_sends_its_halo(void)
{
    ss_model *m = net_new("halo");
    ss_tensor x = net_input(m, "x", SS_F32, 4, (int64_t[]){2, 3, 9, 5});
    x = net_then(m, "relu", "r", x, NULL, 0);
    net_conv(m, "c", x, 4, 3, 3, 1, 1, 1);
    world w = new_world(m, net_cluster(1, 2, 1000, 1000, 0));
    ss_device device[] = {{1}, {2}};
    for (uint32_t i = 1; i <= 2; i++)
        CHECK_OK(ss_strategy_set(w.s, (ss_op){i}, (uint32_t[]){1, 1, 2}, 3, device, 2, &err));
    CHECK_OK(lower(&w));
    /* Rows 0-4 and 5-8; each side needs one more row of 2 x 3 x 5 numbers. */
    CHECK(count(&w, SS_TASK_TRANSFER, SS_CARGO_ACTIVATION) == 2);
    CHECK(w.l.moved[SS_CARGO_ACTIVATION] == 2 * (2 * 3 * 5 * 4));
    CHECK(w.l.moved[SS_CARGO_GRADIENT] == 0, "nothing before the relu has weights");
    CHECK(!w.l.backward[1].i && w.l.backward[2].i);
    end_world(&w);
}

static void what_parts_on_one_device_need_is_sent_once_if_asked(void)
{
    ss_op a, b;
    world w = two_layers(&a, &b);
    cut(&w, a, 1, 1, (uint32_t[]){1});
    cut(&w, b, 1, 4, (uint32_t[]){2, 2, 3, 3});
    CHECK_OK(lower(&w));
    CHECK(w.l.moved[SS_CARGO_ACTIVATION] == 4 * 6 * 10 * 4);
    w.o.coalesce = SS_COALESCE_PER_DEVICE;
    CHECK_OK(lower(&w));
    CHECK(w.l.moved[SS_CARGO_ACTIVATION] == 2 * 6 * 10 * 4);
    CHECK(w.l.moved[SS_CARGO_GRADIENT] == 2 * 6 * 10 * 4);
    uint32_t there = message(&w, SS_CARGO_ACTIVATION, a, 0, b, 2),
             back = message(&w, SS_CARGO_GRADIENT, b, 2, a, 0);
    CHECK(waits_for(&w, w.l.forward[b.i].i + 2, there + 1) &&
          waits_for(&w, w.l.forward[b.i].i + 3, there + 1));
    CHECK(waits_for(&w, back, w.l.backward[b.i].i + 2) &&
          waits_for(&w, back, w.l.backward[b.i].i + 3));
    end_world(&w);
}

static void overlapping_windows_are_counted_once_when_sent_together(void)
{
    ss_model *m = net_new("windows");
    ss_tensor x = net_input(m, "x", SS_F32, 4, (int64_t[]){1, 1, 8, 1});
    x = net_conv(m, "p", x, 1, 1, 1, 1, 0, 0);
    net_conv(m, "c", x, 1, 3, 1, 1, 1, 0);
    world w = new_world(m, net_cluster(1, 3, 1000, 1000, 0));
    ss_device device[] = {{2}, {3}, {3}, {2}}; /* rows 0-2 and 5-7; 1-4 and 3-6 */
    CHECK_OK(ss_strategy_set(w.s, (ss_op){2}, (uint32_t[]){1, 1, 4}, 3, device, 4, &err));
    w.o.coalesce = SS_COALESCE_PER_DEVICE;
    w.o.partial_sums = true;
    CHECK_OK(lower(&w));
    CHECK(w.l.moved[SS_CARGO_ACTIVATION] == 4 * (6 + 6));
    /* On 3, rows 3 and 4 are summed of two before they are sent: 3 numbers read or written for
     * each. On 1, rows 1, 2, 5 and 6 come from both. */
    uint32_t sum = find(&w, SS_TASK_ACCUMULATE);
    CHECK(count(&w, SS_TASK_ACCUMULATE, SS_CARGO_NONE) == 2);
    CHECK(w.l.tasks.where[sum] == 3 && w.l.tasks.hold[sum] == 2 * 3 * 4 * SS_PICOSECONDS);
    uint32_t last = w.l.backward[1].i - 1;
    CHECK(w.l.tasks.where[last] == 1 && w.l.tasks.hold[last] == 4 * 3 * 4 * SS_PICOSECONDS);
    CHECK(waits_for(&w, w.l.backward[1].i, last));
    end_world(&w);
}

static void adding_k_gradients_reads_and_writes_k_plus_one(void)
{
    ss_op a, b;
    world w = two_layers(&a, &b);
    cut(&w, b, 1, 4, (uint32_t[]){1, 2, 3, 4});
    CHECK_OK(lower(&w));
    CHECK(!find(&w, SS_TASK_ACCUMULATE), "free unless asked for");
    w.o.partial_sums = true;
    CHECK_OK(lower(&w));
    uint32_t sum = find(&w, SS_TASK_ACCUMULATE);
    CHECK(count(&w, SS_TASK_ACCUMULATE, SS_CARGO_NONE) == 1);
    CHECK(w.l.tasks.hold[sum] == 5 * 6 * 10 * 4 * SS_PICOSECONDS);
    CHECK(waits_for(&w, sum, w.l.backward[b.i].i), "the part on the same device is added too");
    CHECK(waits_for(&w, w.l.backward[a.i].i, sum));
    end_world(&w);
}

static void segments_and_paths_change_tasks_and_no_bytes(void)
{
    ss_op a, b;
    world w = two_layers(&a, &b);
    cut(&w, b, 1, 1, (uint32_t[]){3});
    w.o.training = false;
    CHECK_OK(lower(&w));
    CHECK(w.l.tasks.n == 2 + 2 && w.l.moved[SS_CARGO_ACTIVATION] == 240);
    w.o.segment_bytes = 100;
    CHECK_OK(lower(&w));
    CHECK(w.l.tasks.n == 2 + 2 * 3 && w.l.moved[SS_CARGO_ACTIVATION] == 240);
    uint32_t part = w.l.forward[b.i].i;
    CHECK(waits_for(&w, part, part - 1) && waits_for(&w, part, part - 3));
    w.o.links = SS_LINKS_FIFO_PATH;
    CHECK_OK(lower(&w));
    CHECK(w.l.tasks.n == 2 + 1 && w.l.moved[SS_CARGO_ACTIVATION] == 240);
    CHECK(ss_tasks_bytes_moved(&w.l.tasks) == 240);
    end_world(&w);
}

/* ---- how gradients meet ------------------------------------------------------------------ */

/* One layer, its samples over n of 4 devices. */
static world data_parallel(uint32_t n, ss_sync sync)
{
    ss_model *m = net_new("one layer");
    ss_tensor x = net_input(m, "x", SS_F32, 2, (int64_t[]){8, 5});
    ss_op a = net_op(m, (net_place){0}, "linear", "a", &x, 1, "out", 16, "bias", 0, NULL);
    world w = new_world(m, net_cluster(2, 2, 1000, 100, 0));
    cut(&w, a, n, 1, (uint32_t[]){2, 1, 3, 4});
    w.o.sync = sync;
    return w;
}

static void a_parameter_server_waits_for_everyone_and_for_itself(void)
{
    world w = data_parallel(4, SS_SYNC_PARAMETER_SERVER);
    w.o.update_passes = 3;
    CHECK_OK(lower(&w));
    CHECK(w.l.shards == 1 && w.l.shard[1].devices == 4 && w.l.shard[1].bytes == 320);
    uint32_t first = w.l.shard[1].first_device;
    CHECK(w.l.shard_device[first].i == 2 && w.l.shard_device[first + 1].i == 3 &&
          w.l.shard_device[first + 3].i == 1);
    uint32_t update = find(&w, SS_TASK_UPDATE);
    CHECK(count(&w, SS_TASK_UPDATE, SS_CARGO_NONE) == 1 && w.l.tasks.where[update] == 2);
    CHECK(w.l.tasks.hold[update] == 960 * SS_PICOSECONDS);
    CHECK(waits_for(&w, update, w.l.backward[1].i), "its own gradient");
    CHECK(w.l.tasks.first_in[update + 1] - w.l.tasks.first_in[update] == 4);
    CHECK(w.l.moved[SS_CARGO_WEIGHT_GRADIENT] == 3 * 320 && w.l.moved[SS_CARGO_WEIGHT] == 3 * 320);
    end_world(&w);
}

static void without_overlap_everything_waits_for_barriers(void)
{
    world w = data_parallel(4, SS_SYNC_PARAMETER_SERVER);
    w.o.overlap = false;
    CHECK_OK(lower(&w));
    CHECK(count(&w, SS_TASK_BARRIER, SS_CARGO_NONE) == 4);
    for (uint32_t i = 1; i <= w.l.tasks.n; i++)
        if (w.l.tasks.label[i].cargo == SS_CARGO_WEIGHT_GRADIENT && w.l.tasks.label[i].hop == 0)
            CHECK(w.l.tasks.label[w.l.tasks.in[w.l.tasks.first_in[i]]].kind == SS_TASK_BARRIER);
    end_world(&w);
}

static void the_closed_form_is_added_to_the_step(void)
{
    world w = data_parallel(4, SS_SYNC_NONE);
    run(&w);
    double alone = seconds(w.line.makespan);
    w.o.sync = SS_SYNC_CLOSED_FORM;
    run(&w);
    /* Two machines of two: W (2 - 1) / 1000 + W (2 - 1) / 100. */
    double both = seconds(w.line.makespan), added = 320 / 1000.0 + 320 / 100.0;
    CHECK(both - alone > added - 1e-11 && both - alone < added + 1e-11, "%.12f", both - alone);
    CHECK(w.l.charged_bytes == 2 * 3 * 320 && ss_lowered_bytes_moved(&w.l) == 2 * 3 * 320);
    CHECK(ss_tasks_bytes_moved(&w.l.tasks) == 0, "they cross no simulated link");
    end_world(&w);
}

static void a_ring_alone_on_its_links_takes_its_closed_form(void)
{
    ss_model *m = net_new("one layer");
    ss_tensor x = net_input(m, "x", SS_F32, 2, (int64_t[]){8, 5});
    ss_op a = net_op(m, (net_place){0}, "linear", "a", &x, 1, "out", 16, "bias", 0, NULL);
    ss_topology *t;
    ss_link link;
    CHECK_OK(ss_topology_new("ring", &t, &err));
    for (uint32_t i = 1; i <= 4; i++) {
        ss_device_def def = {.kind = "gpu", .speed = 1};
        char name[] = "gpu1";
        ss_device d;
        name[3] = (char)('0' + i);
        CHECK_OK(ss_topology_add_device(t, name, &def, &d, &err));
    }
    for (uint32_t i = 1; i <= 4; i++) {
        ss_link_def def = {.bytes_per_s = 40, .latency_s = 0.5, .weight = 1};
        CHECK_OK(ss_topology_add_link(t, t->device[i].node, t->device[i % 4 + 1].node, &def, &link,
                                      &err));
    }
    world w = new_world(m, t);
    cut(&w, a, 4, 1, (uint32_t[]){3, 1, 2, 4});
    w.o.sync = SS_SYNC_RING;
    run(&w);
    /* Backward ends at 3/4 s; then 2 (n - 1) rounds of a + W / n / b = 0.5 + 80 / 40. */
    CHECK(seconds(w.line.makespan) == 0.75 + 6 * 2.5, "%g", seconds(w.line.makespan));
    CHECK(w.l.moved[SS_CARGO_WEIGHT_GRADIENT] == 2 * 3 * 320);
    w.o.aggregate = true;
    run(&w);
    CHECK(seconds(w.line.makespan) == 0.75 + 6 * 2.5, "%g", seconds(w.line.makespan));
    CHECK(w.l.moved[SS_CARGO_WEIGHT_GRADIENT] == 2 * 3 * 320);
    CHECK(count(&w, SS_TASK_COLLECTIVE, SS_CARGO_WEIGHT_GRADIENT) == 1);
    end_world(&w);
}

static void steps_that_cut_their_weight_differently_meet_in_pieces(void)
{
    ss_model *m = net_new("shared");
    ss_tensor x = net_input(m, "x", SS_F32, 2, (int64_t[]){4, 5});
    ss_op a = net_op(m, (net_place){"w", 0}, "linear", "a", &x, 1, "out", 12, "bias", 0, NULL);
    ss_op b = net_op(m, (net_place){"w", 0}, "linear", "b", &x, 1, "out", 12, "bias", 0, NULL);
    world w = new_world(m, net_cluster(1, 4, 1000, 1000, 0));
    cut(&w, a, 1, 2, (uint32_t[]){1, 2});    /* rows 0-5, 6-11 */
    cut(&w, b, 1, 3, (uint32_t[]){1, 3, 2}); /* rows 0-3, 4-7, 8-11 */
    CHECK_OK(lower(&w));
    CHECK(w.l.shards == 4, "%u", w.l.shards);
    static const int64_t begin[] = {0, 4, 6, 8, 12};
    static const uint32_t devices[] = {1, 2, 2, 1};
    for (uint32_t k = 0; k < 4; k++) {
        const ss_shard *s = &w.l.shard[k + 1];
        CHECK(s->devices == devices[k] && s->bytes == (begin[k + 1] - begin[k]) * 5 * 4, "%u", k);
    }
    CHECK(w.l.moved[SS_CARGO_WEIGHT_GRADIENT] == 2 * 2 * 5 * 4);
    end_world(&w);
}

static void inference_has_one_phase_and_lumped_work_one_task(void)
{
    ss_op a, b;
    world w = two_layers(&a, &b);
    w.o.training = false;
    run(&w);
    CHECK(w.l.tasks.n == 2 && !w.l.backward[a.i].i && seconds(w.line.makespan) == 2);
    w.o.training = true;
    w.o.lumped = true;
    run(&w);
    CHECK(w.l.tasks.n == 2 && count(&w, SS_TASK_LUMPED, SS_CARGO_NONE) == 2);
    CHECK(seconds(w.line.makespan) == 6);
    end_world(&w);
}

/* ---- memory held
 * --------------------------------------------------------------------------------- */

/* The hold that is so; NULL, with a line for each that is there: none. */
static const ss_hold *held(const ss_holds *h, ss_held what, uint32_t device, int64_t bytes,
                           uint32_t from)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (h->hold[i].what == what && h->hold[i].device.i == device && h->hold[i].bytes == bytes &&
            h->hold[i].from.i == from)
            return &h->hold[i];
    for (uint32_t i = 0; i < h->n; i++)
        printf("  %s on %u: %lld bytes from %u\n", ss_held_name(h->hold[i].what),
               h->hold[i].device.i, (long long)h->hold[i].bytes, h->hold[i].from.i);
    return NULL;
}

static bool until_is(const ss_holds *h, const ss_hold *x, uint32_t a, uint32_t b)
{
    const ss_task *until = x ? h->until + x->first_until : NULL;
    uint32_t n = b ? 2 : a ? 1 : 0;
    return x && x->untils == n && (n < 1 || until[0].i == a) && (n < 2 || until[1].i == b);
}

/* Data -> relu -> flatten on 1, linear on 2: nothing but the linear layer has a backward. */
static void memory_is_held_until_the_last_reader_and_views_have_none(void)
{
    ss_model *m = net_new("views");
    ss_tensor x = net_input(m, "x", SS_F32, 4, (int64_t[]){2, 3, 2, 2});
    x = net_then(m, "relu", "r", x, NULL, 0);
    x = net_then(m, "flatten", "f", x, NULL, 0);
    net_op(m, (net_place){0}, "linear", "a", &x, 1, "out", 3, "bias", 0, NULL);
    m->optimizer_bytes_per_weight_byte = 2;
    world w = new_world(m, net_cluster(1, 2, 1000, 1000, 0));
    cut(&w, (ss_op){3}, 1, 1, (uint32_t[]){2});
    ss_holds h = {0};
    CHECK_OK(lower(&w));
    CHECK_OK(ss_lower_holds(w.m, w.s, &w.l, &h, &err));
    uint32_t r = 1, f = 2, sent = 3, arrived = 4, a = 5, back = 6;
    CHECK(w.l.backward[3].i == back && w.l.forward[3].i == a && h.n == 7, "%u holds", h.n);
    CHECK(until_is(&h, held(&h, SS_HELD_WEIGHTS, 2, 144, 0), 0, 0));
    CHECK(until_is(&h, held(&h, SS_HELD_WEIGHT_GRADIENTS, 2, 144, 0), 0, 0));
    CHECK(until_is(&h, held(&h, SS_HELD_OPTIMIZER, 2, 288, 0), 0, 0));
    CHECK(until_is(&h, held(&h, SS_HELD_ACTIVATIONS, 1, 96, 0), r, 0), "data");
    CHECK(until_is(&h, held(&h, SS_HELD_ACTIVATIONS, 1, 96, r), f, sent), "flatten adds nothing");
    CHECK(until_is(&h, held(&h, SS_HELD_ACTIVATIONS, 2, 96, arrived), back, 0),
          "kept for backward");
    CHECK(until_is(&h, held(&h, SS_HELD_ACTIVATIONS, 2, 24, a), a, 0), "nobody reads it");
    ss_holds_free(&h);
    end_world(&w);
}

static void gradients_are_held_from_sender_to_user(void)
{
    ss_op a, b;
    world w = two_layers(&a, &b);
    cut(&w, b, 1, 2, (uint32_t[]){1, 2});
    w.o.sync = SS_SYNC_NONE;
    ss_holds h = {0};
    CHECK_OK(lower(&w));
    CHECK_OK(ss_lower_holds(w.m, w.s, &w.l, &h, &err));
    uint32_t back_a = w.l.backward[a.i].i, back_b = w.l.backward[b.i].i;
    uint32_t sent = message(&w, SS_CARGO_GRADIENT, b, 1, a, 0);
    CHECK(until_is(&h, held(&h, SS_HELD_GRADIENTS, 1, 240, back_b), back_a, 0));
    CHECK(until_is(&h, held(&h, SS_HELD_GRADIENTS, 2, 240, back_b + 1), sent, 0));
    CHECK(until_is(&h, held(&h, SS_HELD_GRADIENTS, 1, 240, sent + 1), back_a, 0));
    w.o.partial_sums = true;
    CHECK_OK(lower(&w));
    CHECK_OK(ss_lower_holds(w.m, w.s, &w.l, &h, &err));
    uint32_t sum = find(&w, SS_TASK_ACCUMULATE);
    back_a = w.l.backward[a.i].i;
    CHECK(until_is(&h, held(&h, SS_HELD_GRADIENTS, 1, 240, back_b), sum, 0));
    CHECK(until_is(&h, held(&h, SS_HELD_GRADIENTS, 1, 240, sum), back_a, 0));
    ss_holds_free(&h);
    end_world(&w);
}

static void an_empty_model_takes_no_time(void)
{
    world w = new_world(net_new("nothing"), net_cluster(1, 2, 1000, 1000, 0));
    ss_holds h = {0};
    run(&w);
    CHECK(w.l.tasks.n == 0 && w.line.makespan == 0 && w.l.shards == 0);
    CHECK(!ss_lower_holds(w.m, w.s, &w.l, &h, &err) && h.n == 0);
    ss_holds_free(&h);
    end_world(&w);
}

/* ---- refusals, and memory ---------------------------------------------------------------- */

static void what_makes_no_sense_is_refused_in_words(void)
{
    ss_op a, b;
    world w = two_layers(&a, &b), other = two_layers(&a, &b);
    w.o.lumped = true;
    w.o.training = false;
    CHECK(lower(&w) == SS_EINVAL);
    CHECK_TEXT(err.text, "without training there is no backward");
    w.o = ss_lower_options_start();
    w.o.aggregate = true;
    CHECK(lower(&w) == SS_EINVAL);
    CHECK_TEXT(err.text, "sync is parameter_server");
    w.o = ss_lower_options_start();
    w.o.update_passes = -1;
    CHECK(lower(&w) == SS_EINVAL);
    w.o.update_passes = 0.0 / 0.0;
    CHECK(lower(&w) == SS_EINVAL);
    CHECK_TEXT(err.text, "update_passes");
    w.o = ss_lower_options_start();
    w.o.segment_bytes = -5;
    CHECK(lower(&w) == SS_EINVAL);
    w.o = ss_lower_options_start();
    CHECK(ss_lower(w.m, w.t, w.r, other.s, &w.timer, &w.o, &w.l, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "another model, \"two layers\"");
    ss_tensor x = net_out(w.m, b);
    net_then(w.m, "relu", "late", x, NULL, 0);
    CHECK(lower(&w) == SS_EINVAL);
    CHECK_TEXT(err.text, "had 2 operators; it has 3 now");
    end_world(&w);
    end_world(&other);
}

static void what_cannot_be_reached_is_named(void)
{
    ss_op a, b;
    world w = two_layers(&a, &b);
    ss_device_def def = {.kind = "gpu", .speed = 1};
    ss_device lonely;
    CHECK_OK(ss_topology_add_device(w.t, "lonely", &def, &lonely, &err));
    ss_routes_free(w.r);
    CHECK_OK(ss_routes_new(w.t, &w.r, &err));
    cut(&w, b, 1, 1, (uint32_t[]){5});
    CHECK(lower(&w) == SS_EINVAL);
    CHECK_TEXT(err.text, "lonely");
    cut(&w, b, 1, 1, (uint32_t[]){4});
    CHECK_OK(lower(&w));
    end_world(&w);
}

/* Every option that needs arrays of its own. */
static void set_options(world *w, int i)
{
    w->o = ss_lower_options_start();
    w->o.sync = (ss_sync)(i % SS_SYNCS);
    w->o.overlap = i & 1;
    w->o.aggregate = w->o.sync >= SS_SYNC_RING && i >= SS_SYNCS;
    w->o.partial_sums = i >= SS_SYNCS;
    w->o.update_passes = i >= SS_SYNCS ? 3 : 0;
    w->o.coalesce = i >= SS_SYNCS ? SS_COALESCE_PER_DEVICE : SS_COALESCE_NONE;
}

static void lowering_again_asks_for_no_memory(void)
{
    ss_op a, b;
    world w = two_layers(&a, &b);
    cut(&w, a, 2, 2, (uint32_t[]){1, 2, 3, 4});
    cut(&w, b, 2, 3, (uint32_t[]){4, 4, 3, 2, 1, 2});
    for (int i = 0; i < 2 * SS_SYNCS; i++) {
        set_options(&w, i);
        CHECK_OK(lower(&w));
        uint64_t requests = ss_mem_requests();
        CHECK_OK(lower(&w));
        /* Lists of messages, but the ring's, take blocks of their own for a moment. */
        uint64_t each = w.o.aggregate ? 12 : 6; /* priced, too */
        uint64_t most = w.o.sync > SS_SYNC_RING ? each * w.l.shards : 0;
        CHECK(ss_mem_requests() - requests <= most, "options %d: %llu times", i,
              (unsigned long long)(ss_mem_requests() - requests));
    }
    end_world(&w);
}

static void no_memory_leaves_nothing_behind(void)
{
    ss_op a, b;
    world w = two_layers(&a, &b);
    ss_holds holds = {0};
    cut(&w, a, 2, 2, (uint32_t[]){1, 2, 3, 4});
    cut(&w, b, 2, 3, (uint32_t[]){4, 4, 3, 2, 1, 2});
    w.o.sync = SS_SYNC_AUTO;
    CHECK_OK(lower(&w)); /* so that routes are there, and what is kept with them */
    ss_lowered_free(&w.l);
    size_t live = ss_mem_live();
    for (int i = 0; i < 2 * SS_SYNCS; i++) {
        set_options(&w, i);
        ss_status s = SS_ENOMEM;
        for (int64_t n = 0; s == SS_ENOMEM; n++) {
            ss_mem_fail_after(n);
            s = lower(&w);
            if (!s)
                s = ss_lower_holds(w.m, w.s, &w.l, &holds, &err);
            ss_mem_fail_never();
            ss_lowered_free(&w.l);
            ss_holds_free(&holds);
            CHECK(ss_mem_live() <= live + 4096, "request %d: %zu bytes", (int)n,
                  ss_mem_live() - live);
            CHECK(s == SS_OK || s == SS_ENOMEM, "%s", err.text);
        }
    }
    live = ss_mem_live();
    CHECK_OK(lower(&w));
    ss_lowered_free(&w.l);
    CHECK(ss_mem_live() == live);
    end_world(&w);
}

int main(void)
{
    RUN(what_makes_no_sense_is_refused_in_words);
    RUN(what_cannot_be_reached_is_named);
    RUN(the_published_example_has_its_times);
    RUN(the_published_change_has_its_times);
    RUN(a_channel_split_sends_the_whole_tensor_to_each_part_and_back);
    RUN(a_convolution_sends_its_halo);
    RUN(what_parts_on_one_device_need_is_sent_once_if_asked);
    RUN(overlapping_windows_are_counted_once_when_sent_together);
    RUN(adding_k_gradients_reads_and_writes_k_plus_one);
    RUN(segments_and_paths_change_tasks_and_no_bytes);
    RUN(a_parameter_server_waits_for_everyone_and_for_itself);
    RUN(without_overlap_everything_waits_for_barriers);
    RUN(the_closed_form_is_added_to_the_step);
    RUN(a_ring_alone_on_its_links_takes_its_closed_form);
    RUN(steps_that_cut_their_weight_differently_meet_in_pieces);
    RUN(inference_has_one_phase_and_lumped_work_one_task);
    RUN(memory_is_held_until_the_last_reader_and_views_have_none);
    RUN(gradients_are_held_from_sender_to_user);
    RUN(an_empty_model_takes_no_time);
    RUN(lowering_again_asks_for_no_memory);
    RUN(no_memory_leaves_nothing_behind);
    return DONE();
}
