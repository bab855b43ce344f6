/* random_problem.h - random models, strategies, clusters and options: small, and as odd as they may be.
 *
 * Whoever includes it opens `rng` first. */
#ifndef SS_RANDOM_PROBLEM_H
#define SS_RANDOM_PROBLEM_H

#include "base/rng.h"
#include "graph/lower.h"
#include "networks.h"

enum { MOST_ELEMENTS = 400, MOST_PARTS = 9 };

static ss_error err;
static ss_rng rng;

static int64_t draw(int64_t from, int64_t to)
{
    return from + (int64_t)ss_rng_below(&rng, (uint64_t)(to - from + 1));
}

static bool chance(int percent)
{
    return draw(1, 100) <= percent;
}

/* ---- random models ----------------------------------------------------------------------- */

static int64_t attribute(const ss_attr_def *a)
{
    if (a->preset != SS_ATTR_REQUIRED && chance(50))
        return a->preset;
    if (a->choices)
        return draw(0, 1);
    int64_t lo = a->min > -3 ? a->min : -3, hi = lo + 4;
    return draw(lo, hi < a->max ? hi : a->max);
}

/* A tensor that is small enough; like another one if it may be. */
static ss_tensor pick(const ss_model *m, ss_tensor like)
{
    for (int tries = 0; tries < 60; tries++) {
        ss_tensor t = {(uint32_t)draw(1, m->tensors)};
        const ss_shape *s = &m->tensor[t.i].shape;
        if (ss_shape_elements(s) > MOST_ELEMENTS)
            continue;
        if (!like.i || tries > 30 || ss_shape_same(s, &m->tensor[like.i].shape))
            return t;
    }
    return (ss_tensor){1};
}

/* Kinds that no built-in one is like, yet: their second output is made back to front, or
 * transposed, so that it is no grid or one with other axes; the third reads indices that another
 * operator made. */

static ss_status odd_infer(ss_op_def *op, ss_error *e)
{
    static const char *const name[] = {"a", "b", "c", "d", "e"};
    if (op->in[0].rank < 2)
        return ss_fail(e, SS_EINVAL, "a matrix is wanted");
    op->outputs = op->kind->output_box ? 2 : 1;
    op->out[0] = op->out[1] = op->in[0];
    for (uint32_t d = 0; d < op->out[0].rank; d++)
        op->dim[d] = (ss_dim){name[d], d == 1 ? SS_DIM_PARAMETER : SS_DIM_ATTRIBUTE, 1};
    if (!strcmp(op->kind->name, "transposed")) {
        op->out[1].extent[0] = op->out[0].extent[1];
        op->out[1].extent[1] = op->out[0].extent[0];
    }
    op->weights = 1;
    op->weight[0] = (ss_weight_def){
        .name = "w", .shape = {op->in[0].dtype, 2, {op->in[0].extent[1], 2}}, .follows = {1, -1}};
    return SS_OK;
}

static void odd_input(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    (void)op, (void)i;
    *in = *main;
}

static void odd_forward(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    (void)op;
    work->flops = (double)ss_box_elements(main);
}

static void back_to_front(const ss_op_def *op, uint32_t o, const ss_box *main, ss_box *out)
{
    *out = *main;
    out->lo[0] = op->out[o].extent[0] - main->hi[0];
    out->hi[0] = op->out[o].extent[0] - main->lo[0];
}

static void transposed(const ss_op_def *op, uint32_t o, const ss_box *main, ss_box *out)
{
    (void)op, (void)o;
    *out = *main;
    out->lo[0] = main->lo[1];
    out->hi[0] = main->hi[1];
    out->lo[1] = main->lo[0];
    out->hi[1] = main->hi[0];
}

static const ss_op_kind odd[] = {
    {.name = "reversed",
     .min_inputs = 1,
     .max_inputs = 1,
     .infer = odd_infer,
     .input_box = odd_input,
     .output_box = back_to_front,
     .output_name = {NULL, "back"},
     .forward = odd_forward},
    {.name = "transposed",
     .min_inputs = 1,
     .max_inputs = 1,
     .infer = odd_infer,
     .input_box = odd_input,
     .output_box = transposed,
     .output_name = {NULL, "turned"},
     .forward = odd_forward},
    {.name = "indexed",
     .min_inputs = 1,
     .max_inputs = 1,
     .infer = odd_infer,
     .input_box = odd_input,
     .no_input_gradient = true,
     .forward = odd_forward},
};

static bool random_odd_kinds = true; /* also those; false: built-in ones alone */

static const ss_op_kind *random_kind(void)
{
    uint32_t kinds;
    const ss_op_kind *const *kind = ss_op_kinds(&kinds);
    return random_odd_kinds && chance(20) ? &odd[draw(0, 2)] : kind[draw(0, kinds - 1)];
}

/* The same operator once more, with the same weights: an unrolled step, maybe cut in another way.
 */
static void repeat_operator(ss_model *m, int n)
{
    const ss_op_row *row = &m->op[draw(1, m->ops)];
    char name[20];
    ss_tensor in[SS_MAX_INPUTS];
    if (!row->share)
        return;
    snprintf(name, sizeof name, "op%d", n);
    ss_op_spec spec = ss_op_spec_start(row->def->kind, name);
    memcpy(spec.attr, row->def->attr, sizeof spec.attr);
    spec.share = row->share;
    spec.inputs = row->def->inputs;
    memcpy(in, row->in, spec.inputs * sizeof *in);
    spec.in = in;
    ss_op op;
    (void)ss_model_add(m, &spec, &op, &err);
}

static void try_operator(ss_model *m, int n)
{
    char name[20];
    static const char *const shares[] = {"a", "b"};
    if (m->ops && chance(15)) {
        repeat_operator(m, n);
        return;
    }
    snprintf(name, sizeof name, "op%d", n);
    ss_op_spec spec = ss_op_spec_start(random_kind(), name);
    ss_tensor in[3];
    uint32_t most = spec.kind->max_inputs < 3 ? spec.kind->max_inputs : 3;
    spec.inputs = (uint32_t)draw(spec.kind->min_inputs, most);
    for (uint32_t v = 0; v < spec.inputs; v++)
        in[v] = pick(m, v ? in[0] : (ss_tensor){0});
    spec.in = in;
    for (uint32_t a = 0; a < ss_op_kind_attrs(spec.kind); a++)
        spec.attr[a] = attribute(&spec.kind->attr[a]);
    spec.share = chance(40) ? shares[draw(0, 1)] : NULL;
    ss_op op;
    (void)ss_model_add(m, &spec, &op, &err); /* a refusal is as good as another draw */
}

/* Unrolled steps that hand their states on, which three random inputs would hardly ever fit. */
static void add_steps(ss_model *m, int n)
{
    int64_t batch = draw(1, 4), width = draw(1, 3);
    int hidden = (int)draw(1, 3), state_steps = (int)draw(1, 2);
    ss_tensor in[3];
    char name[20];
    for (int step = 0; step < 3; step++) {
        snprintf(name, sizeof name, "x%d.%d", n, step);
        in[0] = net_input(m, name, SS_F32, 3, (int64_t[]){batch, draw(1, 2), width});
        snprintf(name, sizeof name, "step%d.%d", n, step);
        ss_op op = net_op(m, (net_place){"steps", 1}, "lstm", name, in, step ? 3 : 1, "hidden",
                          hidden, "state_steps", state_steps, NULL);
        in[1] = m->op[op.i].out[1];
        in[2] = m->op[op.i].out[2];
    }
}

static ss_model *random_model(void)
{
    ss_model *m = net_new("random");
    int64_t n = draw(1, 5);
    net_input(m, "image", SS_F32, 4, (int64_t[]){n, draw(1, 4), draw(2, 6), draw(2, 6)});
    net_input(m, "features", SS_F32, 2, (int64_t[]){n, draw(1, 6)});
    net_input(m, "sequence", SS_F32, 3, (int64_t[]){n, draw(1, 4), draw(1, 6)});
    net_input(m, "words", SS_I32, 2, (int64_t[]){n, draw(1, 4)});
    if (chance(20))
        add_steps(m, 0);
    for (int i = 0, wanted = (int)draw(2, 9); i < 200 && (int)m->ops < wanted; i++)
        try_operator(m, i);
    m->optimizer_bytes_per_weight_byte = (double)draw(0, 2);
    return m;
}

/* ---- random strategies, clusters, options ------------------------------------------------ */

static void random_config(ss_strategy *s, uint32_t op)
{
    const ss_op_def *def = s->model->op[op].def;
    uint32_t degree[SS_MAX_DIMS], parts = 1, rank = def->out[0].rank;
    ss_device device[MOST_PARTS];
    for (uint32_t d = 0; d < rank; d++) {
        int64_t grains = (def->out[0].extent[d] + def->dim[d].grain - 1) / def->dim[d].grain;
        int64_t most = def->dim[d].cls == SS_DIM_WHOLE || chance(40) ? 1 : MOST_PARTS / parts;
        degree[d] = (uint32_t)draw(1, most < grains ? most : grains);
        parts *= degree[d];
    }
    uint32_t devices = s->topology->devices, first = (uint32_t)draw(0, devices - 1);
    bool in_order = chance(40), few = chance(30);
    for (uint32_t p = 0; p < parts; p++) {
        device[p].i = in_order ? (first + p) % devices + 1 : (uint32_t)draw(1, devices);
        if (few)
            device[p].i = (device[p].i + 1) / 2;
    }
    net_must(ss_strategy_set(s, (ss_op){op}, degree, rank, device, parts, &err), &err);
}

static bool
    random_has_bus; /* of the last topology: between two devices that no switch is between */

static inline ss_topology *random_topology(void)
{
    bool many = chance(5); /* more than fit in one word of a set of devices */
    ss_topology *t =
        net_cluster((uint32_t)(many ? 20 : draw(1, 3)), (uint32_t)(many ? 10 : draw(1, 3)),
                    (double)draw(1, 9) * 1e6, (double)draw(1, 9) * 1e5, (double)draw(0, 3) * 1e-6);
    for (uint32_t d = 1; d <= t->devices; d++)
        if (chance(20))
            t->device[d].def.machine = 0; /* alone */
    random_has_bus = t->devices > 1 && chance(50);
    if (random_has_bus) { /* beside the switches */
        ss_link_def bus = {.bytes_per_s = 3e6, .latency_s = 1e-7, .half_duplex = true, .weight = 1};
        ss_link link;
        net_must(ss_topology_add_link(t, t->device[1].node, t->device[2].node, &bus, &link, &err),
                 &err);
    }
    return t;
}

static inline ss_lower_options random_options(void)
{
    ss_lower_options o = ss_lower_options_start();
    o.training = chance(85);
    o.lumped = o.training && chance(15);
    o.coalesce = chance(50) ? SS_COALESCE_PER_DEVICE : SS_COALESCE_NONE;
    o.sync = (ss_sync)draw(0, SS_SYNCS - 1);
    if (o.sync == SS_SYNC_IN_NETWORK && random_has_bus)
        o.sync = SS_SYNC_HIERARCHICAL;
    if (o.sync == SS_SYNC_TREE || o.sync == SS_SYNC_DOUBLE_TREE || o.sync == SS_SYNC_IN_NETWORK ||
        o.sync == SS_SYNC_AUTO)
        o.chunk_bytes = chance(50) ? 0 : draw(1, 60);
    o.overlap = chance(70);
    o.aggregate = o.sync >= SS_SYNC_RING && chance(40);
    o.partial_sums = chance(50);
    o.gather = chance(40);
    o.update_passes = chance(50) ? 0 : 3;
    o.links = (ss_links_mode)draw(0, SS_LINKS_SHARED - 1);
    o.segment_bytes = chance(50) ? 0 : draw(1, 40);
    o.max_segments = (uint32_t)draw(0, 4);
    return o;
}

/* Over shared links, which nobody holds. */
static inline ss_lower_options random_shared_options(void)
{
    ss_lower_options o = random_options();
    o.links = SS_LINKS_SHARED;
    o.sync = o.sync == SS_SYNC_CLOSED_FORM ? SS_SYNC_RING : o.sync;
    return o;
}

/* Distributions of every kind, most of them of a few things at once. */
static inline ss_draw random_draw(void)
{
    static const double sample[] = {1.5, 0.25, 2, 1};
    ss_draw d = {.kind = (ss_draw_kind)draw(SS_DRAW_CONSTANT, SS_DRAW_SAMPLES),
                 .mean = chance(50) ? 1 : (double)draw(1, 30) / 10,
                 .cv = (double)draw(1, 20) / 10,
                 .sample = sample,
                 .samples = 4};
    if (chance(30)) {
        d.tail_share = 0.2;
        d.tail_factor = (double)draw(1, 9);
    }
    return d;
}

/* For the options; NULL mostly.  The caller frees it. */
static inline ss_chance *random_chance(const ss_topology *t, int percent)
{
    ss_chance *c = NULL;
    if (!chance(percent))
        return NULL;
    net_must(ss_chance_new((uint64_t)draw(0, 5), &c, &err), &err);
    c->repetition = (uint32_t)draw(1, 3);
    for (uint32_t x = 0; x < SS_LUCKS; x++) {
        ss_draw d = random_draw();
        if (x >= SS_LUCK_LAUNCH) {
            d.mean *= chance(50) ? 1e-12 : 1e-7;
            d.kind = d.kind == SS_DRAW_SAMPLES ? SS_DRAW_GAMMA : d.kind;
        }
        if (chance(40))
            net_must(ss_chance_set(c, (ss_luck_of)x, &d, &err), &err);
    }
    ss_draw of = random_draw(), on = random_draw();
    if (chance(30))
        net_must(ss_chance_set_kind(c, chance(50) ? "linear" : "lstm", &of, &err), &err);
    ss_device d = {(uint32_t)draw(1, t->devices)};
    if (chance(30))
        net_must(ss_chance_set_device(c, NULL, d, &on, &err), &err);
    if (chance(30))
        net_must(ss_chance_set_slow(c, NULL, d, (double)draw(1, 30) / 10, &err), &err);
    net_must(ss_chance_bind(c, t, &err), &err);
    return c;
}

/* ---- a timer whose answers tell everything apart ----------------------------------------- */

static ss_status part_time(void *context, const ss_model *m, ss_op op, ss_phase phase,
                           const ss_box *main, ss_device device, ss_time *out, ss_error *e)
{
    (void)context, (void)e;
    ss_time time = op.i * 1000 + device.i * 10 + (phase == SS_BACKWARD);
    for (uint32_t d = 0; d < m->op[op.i].def->out[0].rank; d++)
        time = time * 7 + main->lo[d] * 3 + main->hi[d];
    *out = time % 100003 * (op.i % 4 != 3); /* some take no time */
    return SS_OK;
}

static ss_status memory_time(void *context, ss_stream what, double bytes, ss_device device, ss_time *out,
                             ss_error *e)
{
    (void)what;
    (void)context, (void)device, (void)e;
    *out = (ss_time)(bytes * 13);
    return SS_OK;
}

static const ss_timer timer = {.part = part_time, .memory = memory_time};

#endif
