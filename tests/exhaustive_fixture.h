/* exhaustive_fixture.h - random small problems for tests of exhaustive searches. */
#ifndef SS_EXHAUSTIVE_FIXTURE_H
#define SS_EXHAUSTIVE_FIXTURE_H

#include "base/hash.h"
#include "base/rng.h"
#include "networks.h"
#include "search/exhaustive_inside.h"
#include "simulate/engine.h"

enum { TINY_DEVICES = 6, TINY_PARTS = 4 };

/* Devices of one problem; `alike` as ss_timer has it. */
typedef struct tiny_clock {
    uint64_t seed;
    bool zeros; /* some parts take no time */
    uint32_t alike[TINY_DEVICES + 1];
} tiny_clock;

typedef struct tiny {
    ss_model *model;
    ss_topology *topology;
    ss_routes *routes;
    ss_strategy *strategy;
    ss_alternatives space;
    ss_lower_options options;
    ss_chance *luck; /* of the options; NULL: none */
    tiny_clock clock;
    ss_timer timer;
    ss_lowered lowered;
    ss_engine *engine;
    ss_timeline timeline;
} tiny; /* {0} */

static ss_rng tiny_rng;

static inline int64_t tiny_draw(int64_t from, int64_t to)
{
    return from + (int64_t)ss_rng_below(&tiny_rng, (uint64_t)(to - from + 1));
}

static inline bool tiny_chance(int percent)
{
    return tiny_draw(1, 100) <= percent;
}

/* A function of sizes and of where in dimensions other than the sample a part lies. */
static inline ss_status tiny_part(void *context, const ss_model *m, ss_op op, ss_phase phase,
                                  const ss_box *main, ss_device device, ss_time *out, ss_error *err)
{
    const tiny_clock *c = context;
    const ss_op_def *def = m->op[op.i].def;
    uint64_t h = ss_hash_u64(c->seed, op.i * 2 + phase);
    (void)err;
    for (uint32_t d = 0; d < def->out[0].rank; d++) {
        h = ss_hash_u64(h, (uint64_t)(main->hi[d] - main->lo[d]));
        if (def->dim[d].cls != SS_DIM_SAMPLE)
            h = ss_hash_u64(h, (uint64_t)main->lo[d]);
    }
    h = ss_hash_u64(h, c->alike[device.i]);
    *out = (ss_time)(h % 5000) * 1000;
    if (c->zeros && h >> 40 & 1)
        *out = 0;
    return SS_OK;
}

static inline ss_status tiny_memory(void *context, ss_stream what, double bytes, ss_device device, ss_time *out,
                                    ss_error *err)
{
    (void)what;
    const tiny_clock *c = context;
    (void)err;
    *out = (ss_time)(bytes * 1e4) * (1 + c->alike[device.i]);
    return SS_OK;
}

static inline ss_tensor tiny_operator(ss_model *m, int n, ss_tensor *made, int tensors)
{
    char name[20];
    snprintf(name, sizeof name, "op%d", n);
    ss_tensor x = made[tiny_draw(0, tensors - 1)];
    const ss_shape *s = &m->tensor[x.i].shape;
    if (tiny_chance(25) && tensors > 1) {
        for (int i = 0; i < tensors; i++)
            if (made[i].i != x.i && ss_shape_same(&m->tensor[made[i].i].shape, s))
                return net_out(
                    m, net_op(m, (net_place){0}, "add", name, (ss_tensor[]){x, made[i]}, 2, NULL));
    }
    if (tiny_chance(20))
        return net_out(m, net_op(m, (net_place){0}, "relu", name, &x, 1, NULL));
    bool shares = tiny_chance(35) && s->extent[1] == 4;
    return net_out(m, net_op(m, (net_place){shares ? "shared" : NULL, 0}, "linear", name, &x, 1,
                             "out", shares ? 4 : (int)tiny_draw(3, 5), NULL));
}

static inline void tiny_steps(ss_model *m)
{
    ss_tensor in[3];
    for (int step = 0; step < 2; step++) {
        char name[20];
        snprintf(name, sizeof name, "x%d", step);
        in[0] = net_input(m, name, SS_F32, 3, (int64_t[]){4, 1, 3});
        snprintf(name, sizeof name, "step%d", step);
        ss_op op =
            net_op(m, (net_place){"steps", 1}, "lstm", name, in, step ? 3 : 1, "hidden", 4, NULL);
        in[1] = m->op[op.i].out[1];
        in[2] = m->op[op.i].out[2];
        if (tiny_chance(60)) {
            snprintf(name, sizeof name, "out%d", step);
            ss_tensor y = m->op[op.i].out[0];
            net_op(m, (net_place){"outs", 2}, "linear", name, &y, 1, "out", 3, NULL);
        }
    }
}

/* 3 to `most` operators. */
static inline ss_model *tiny_model(int most)
{
    ss_model *m = net_new("tiny");
    ss_tensor made[16];
    int tensors = 0;
    if (tiny_chance(30)) {
        tiny_steps(m);
        return m;
    }
    made[tensors++] = net_input(m, "x", SS_F32, 2, (int64_t[]){tiny_draw(2, 5), 4});
    for (int n = 0, wanted = (int)tiny_draw(2, most); n < wanted; n++)
        made[tensors] = tiny_operator(m, n, made, tensors), tensors++;
    return m;
}

static inline ss_topology *tiny_topology(bool even)
{
    uint32_t machines = (uint32_t)tiny_draw(1, 2),
             each = (uint32_t)tiny_draw(machines > 1 ? 1 : 2, 3);
    ss_topology *t = net_cluster(machines, each, (double)tiny_draw(1, 9) * 1e7,
                                 (double)tiny_draw(1, 9) * 1e7, (double)tiny_draw(0, 2) * 1e-7);
    for (uint32_t d = 1; d <= t->devices && !even; d++)
        if (tiny_chance(20))
            t->device[d].def.machine = 0;
    if (t->devices > 1 && tiny_chance(even ? 0 : 50)) {
        ss_error err;
        ss_link_def bus = {.bytes_per_s = 3e7, .latency_s = 1e-7, .half_duplex = true, .weight = 1};
        ss_link link;
        net_must(ss_topology_add_link(t, t->device[1].node, t->device[2].node, &bus, &link, &err),
                 &err);
    }
    return t;
}

static inline ss_lower_options tiny_options(void)
{
    ss_lower_options o = ss_lower_options_start();
    o.training = tiny_chance(80);
    o.lumped = o.training && tiny_chance(15);
    o.coalesce = tiny_chance(50) ? SS_COALESCE_PER_DEVICE : SS_COALESCE_NONE;
    o.sync = (ss_sync)tiny_draw(0, SS_SYNCS - 1);
    if (o.sync == SS_SYNC_IN_NETWORK) /* some devices have no switch between them */
        o.sync = SS_SYNC_DOUBLE_TREE;
    o.overlap = tiny_chance(70);
    o.aggregate = o.training && o.sync >= SS_SYNC_RING && tiny_chance(40);
    o.partial_sums = tiny_chance(50);
    o.update_passes = tiny_chance(50) ? 0 : 3;
    o.links = (ss_links_mode)tiny_draw(0, SS_LINKS_SHARED - 1);
    o.segment_bytes = tiny_chance(70) ? 0 : tiny_draw(5, 40);
    o.max_segments = (uint32_t)tiny_draw(0, 4);
    return o;
}

/* A configuration that the rules allow, with at most TINY_PARTS parts. */
static inline void tiny_config(const tiny *x, uint32_t op, ss_config *c)
{
    const ss_op_def *def = x->model->op[op].def;
    c->parts = 1;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++) {
        c->degree[d] = 1;
        if (d >= def->out[0].rank || def->dim[d].cls == SS_DIM_WHOLE || tiny_chance(40))
            continue;
        int64_t most = TINY_PARTS / c->parts, grains = def->out[0].extent[d] / def->dim[d].grain;
        c->degree[d] = (uint32_t)tiny_draw(1, most < grains ? most : grains);
        c->parts *= c->degree[d];
    }
    bool in_order = tiny_chance(50);
    uint32_t first = (uint32_t)tiny_draw(0, x->topology->devices - 1);
    for (uint32_t p = 0; p < c->parts; p++)
        c->device[p].i = in_order ? (first + p) % x->topology->devices + 1
                                  : (uint32_t)tiny_draw(1, x->topology->devices);
}

/* With `closed`, every rotation of the devices of a configuration is in the space too. */
static inline void tiny_space(tiny *x, double most, bool closed)
{
    ss_error err;
    ss_device device[TINY_PARTS];
    ss_config c = {.device = device, .cap = TINY_PARTS};
    double size = 1;
    uint32_t n = x->topology->devices;
    net_must(ss_alternatives_start(&x->space, x->model->ops, &err), &err);
    for (uint32_t i = 1; i <= x->model->ops; i++) {
        int wanted = (int)tiny_draw(1, 4);
        for (int k = 0; k < wanted; k++) {
            tiny_config(x, i, &c);
            double more = x->space.rows - x->space.first[i] + (closed ? n : 1);
            if (size * more > most && k)
                break;
            for (uint32_t r = 0; r < (closed ? n : 1); r++) {
                net_must(ss_alternatives_add(&x->space, (ss_op){i}, &c, &err), &err);
                for (uint32_t p = 0; p < c.parts; p++)
                    c.device[p].i = c.device[p].i % n + 1;
            }
        }
        size *= x->space.rows - x->space.first[i];
    }
}

static inline void tiny_free(tiny *x)
{
    ss_timeline_free(&x->timeline);
    ss_engine_free(x->engine);
    ss_lowered_free(&x->lowered);
    ss_alternatives_free(&x->space);
    ss_strategy_free(x->strategy);
    ss_routes_free(x->routes);
    ss_chance_free(x->luck);
    ss_topology_free(x->topology);
    ss_model_free(x->model);
    *x = (tiny){0};
}

/* even: devices and links are all alike. */
static inline void tiny_new(tiny *x, int most_ops, double most, bool even)
{
    ss_error err;
    *x = (tiny){.model = tiny_model(most_ops), .topology = tiny_topology(even)};
    x->options = tiny_options();
    x->clock.seed = ss_rng_bits(&tiny_rng);
    x->clock.zeros = tiny_chance(40);
    for (uint32_t d = 1; d <= TINY_DEVICES; d++)
        x->clock.alike[d] = even || tiny_chance(60) ? 1 : d;
    x->timer = (ss_timer){.context = &x->clock,
                          .part = tiny_part,
                          .memory = tiny_memory,
                          .alike = x->clock.alike};
    net_must(ss_routes_new(x->topology, &x->routes, &err), &err);
    net_must(ss_strategy_new(x->model, x->topology, &x->strategy, &err), &err);
    net_must(ss_engine_new(&x->engine, &err), &err);
    tiny_space(x, most, even || tiny_chance(30));
}

/* In some cases a part of the times is drawn, or overheads are constants. */
static inline void tiny_draws_times(tiny *x)
{
    ss_error err;
    bool even = tiny_chance(40);
    if (tiny_chance(60))
        return;
    net_must(ss_chance_new((uint64_t)tiny_draw(1, 9), &x->luck, &err), &err);
    for (uint32_t k = 0; k < SS_LUCKS; k++) {
        ss_draw d = {.kind = even              ? SS_DRAW_CONSTANT
                             : tiny_chance(50) ? SS_DRAW_LOGNORMAL
                                               : SS_DRAW_GAMMA,
                     .mean = k >= SS_LUCK_LAUNCH ? 1e-7 : (double)tiny_draw(5, 15) / 10,
                     .cv = 0.7};
        if (tiny_chance(50))
            net_must(ss_chance_set(x->luck, (ss_luck_of)k, &d, &err), &err);
    }
    if (!even && tiny_chance(50))
        net_must(ss_chance_set_slow(x->luck, NULL, (ss_device){1}, 1.5, &err), &err);
    net_must(ss_chance_bind(x->luck, x->topology, &err), &err);
    x->options.chance = x->luck;
}

/* The step time. */
static inline ss_time tiny_simulate(tiny *x)
{
    ss_error err;
    ss_time step;
    net_must(ss_chance_step(x->luck, 0, &step, &err), &err);
    net_must(ss_lower(x->model, x->topology, x->routes, x->strategy, &x->timer, &x->options,
                      &x->lowered, &err),
             &err);
    net_must(ss_engine_run(x->engine, &x->lowered.tasks, &x->timeline, &err), &err);
    return x->timeline.makespan + step;
}

static inline void tiny_put(tiny *x, uint32_t op, uint32_t row)
{
    ss_error err;
    net_must(ss_config_copy(&x->space.config[row], &x->strategy->config[op], &err), &err);
}

#endif
