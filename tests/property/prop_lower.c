/* ss_lower against its slow twin on random models, strategies, clusters and options: every field of
 * every task, every edge, every byte.  And what must be true whoever is right: all that a part
 * needs arrives exactly once, the same bytes go back, every gradient reaches every update.
 *
 * prop_lower [CASES [SEED]] */
#include "graph/lowering.h"

#include "base/rng.h"
#include "check.h"
#include "networks.h"
#include "reference/lower_naive.h"

enum { MOST_ELEMENTS = 400, MOST_PARTS = 9 };

static ss_error err;
static ss_rng rng;
static uint64_t seed;

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

static const ss_op_kind *random_kind(void)
{
    uint32_t kinds;
    const ss_op_kind *const *kind = ss_op_kinds(&kinds);
    return chance(20) ? &odd[draw(0, 2)] : kind[draw(0, kinds - 1)];
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

static ss_topology *random_topology(void)
{
    bool many = chance(5); /* more than fit in one word of a set of devices */
    ss_topology *t =
        net_cluster((uint32_t)(many ? 20 : draw(1, 3)), (uint32_t)(many ? 10 : draw(1, 3)),
                    (double)draw(1, 9) * 1e6, (double)draw(1, 9) * 1e5, (double)draw(0, 3) * 1e-6);
    for (uint32_t d = 1; d <= t->devices; d++)
        if (chance(20))
            t->device[d].def.machine = 0; /* alone */
    if (t->devices > 1 && chance(50)) {   /* a bus beside the switches */
        ss_link_def bus = {.bytes_per_s = 3e6, .latency_s = 1e-7, .half_duplex = true, .weight = 1};
        ss_link link;
        net_must(ss_topology_add_link(t, t->device[1].node, t->device[2].node, &bus, &link, &err),
                 &err);
    }
    return t;
}

static ss_lower_options random_options(void)
{
    ss_lower_options o = ss_lower_options_start();
    o.training = chance(85);
    o.lumped = o.training && chance(15);
    o.coalesce = chance(50) ? SS_COALESCE_PER_DEVICE : SS_COALESCE_NONE;
    o.sync = (ss_sync)draw(0, SS_SYNCS - 1);
    o.overlap = chance(70);
    o.aggregate = o.sync >= SS_SYNC_RING && chance(40);
    o.partial_sums = chance(50);
    o.update_passes = chance(50) ? 0 : 3;
    o.links = (ss_links_mode)draw(0, SS_LINKS_MODES - 1);
    o.segment_bytes = chance(50) ? 0 : draw(1, 40);
    o.max_segments = (uint32_t)draw(0, 4);
    return o;
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

static ss_status memory_time(void *context, double bytes, ss_device device, ss_time *out,
                             ss_error *e)
{
    (void)context, (void)device, (void)e;
    *out = (ss_time)(bytes * 13);
    return SS_OK;
}

static const ss_timer timer = {.part = part_time, .memory = memory_time};

/* ---- the comparison ---------------------------------------------------------------------- */

static bool same_label(const ss_task_label *a, const ss_task_label *b)
{
    return a->kind == b->kind && a->cargo == b->cargo && a->hop == b->hop && a->op == b->op &&
           a->part == b->part && a->to_op == b->to_op && a->to_part == b->to_part &&
           a->from.i == b->from.i && a->to.i == b->to.i;
}

static bool same_resources(const ss_tasks *a, const ss_tasks *b, ss_task t)
{
    uint32_t na, nb;
    const uint32_t *ra = ss_tasks_resources(a, t, &na), *rb = ss_tasks_resources(b, t, &nb);
    return na == nb && !memcmp(ra, rb, na * sizeof *ra);
}

/* The first task in which they differ; 0: none. */
static uint32_t first_difference(const ss_tasks *a, const ss_tasks *b)
{
    for (uint32_t t = 1; t <= a->n && t <= b->n; t++) {
        uint32_t n = a->first_in[t + 1] - a->first_in[t];
        if (a->hold[t] != b->hold[t] || a->bytes[t] != b->bytes[t] || a->where[t] != b->where[t] ||
            !same_label(&a->label[t], &b->label[t]) || !same_resources(a, b, (ss_task){t}) ||
            n != b->first_in[t + 1] - b->first_in[t] ||
            (n && memcmp(a->in + a->first_in[t], b->in + b->first_in[t], n * sizeof *a->in) != 0))
            return t;
    }
    return a->n < b->n ? a->n + 1 : b->n < a->n ? b->n + 1 : 0;
}

static void show(const char *who, const ss_tasks *t, uint32_t i)
{
    if (i > t->n) {
        printf("  %s: no task %u\n", who, i);
        return;
    }
    const ss_task_label *l = &t->label[i];
    printf("  %s: %u %s %s op %u[%u] -> %u[%u] on %u hold %lld bytes %lld after", who, i,
           ss_task_kind_name((ss_task_kind)l->kind), ss_cargo_name((ss_cargo)l->cargo), l->op,
           l->part, l->to_op, l->to_part, t->where[i], (long long)t->hold[i],
           (long long)t->bytes[i]);
    for (uint32_t e = t->first_in[i]; e < t->first_in[i + 1]; e++)
        printf(" %u", t->in[e]);
    printf("\n");
}

static bool same_shards(const ss_lowered *l, const naive_lowered *n)
{
    if (l->shards != n->shards)
        return false;
    for (uint32_t k = 0; k < n->shards; k++) {
        const ss_shard *a = &l->shard[k + 1];
        const naive_shard *b = &n->shard[k];
        if (a->weight.i != b->weight || !ss_box_same(&a->box, &b->box) || a->devices != b->devices)
            return false;
        for (uint32_t r = 0; r < a->devices; r++)
            if (l->shard_device[a->first_device + r].i != b->device[r])
                return false;
    }
    return true;
}

/* ---- what must be true whoever is right -------------------------------------------------- */

static bool edges_ascend(const ss_tasks *t)
{
    for (uint32_t i = 1; i <= t->n; i++)
        for (uint32_t e = t->first_in[i]; e < t->first_in[i + 1]; e++)
            if (t->in[e] >= i)
                return false;
    return true;
}

/* Each element that a part needs comes from exactly one part: pieces add up and do not overlap. */
static bool needs_are_met(const ss_model *m, const ss_strategy *s, const ss_lowered *l)
{
    const struct ss_lower_scratch *w = l->scratch;
    for (uint32_t f = 1; f <= w->feeds; f++) {
        const ss_feed *feed = &w->feed[f];
        const ss_op_def *def = m->op[feed->to.i].def;
        for (uint32_t q = 0; q < s->config[feed->to.i].parts; q++) {
            ss_box main, need, one, other, both;
            int64_t bytes = 0;
            ss_strategy_part_box(s, feed->to, q, &main);
            ss_op_input_box(def, feed->input, &main, &need);
            for (uint32_t i = feed->first; i < feed->first + feed->pieces; i++) {
                if (w->piece[i].to != q)
                    continue;
                bytes += w->piece[i].bytes;
                ss_lower_piece_box(m, s, feed, &w->piece[i], &one);
                for (uint32_t k = feed->first; k < i; k++) {
                    ss_lower_piece_box(m, s, feed, &w->piece[k], &other);
                    if (w->piece[k].to == q && ss_box_intersect(&one, &other, &both))
                        return false;
                }
            }
            if (bytes != ss_box_elements(&need) * feed->element_bytes)
                return false;
        }
    }
    return true;
}

/* What crosses devices forward crosses them backward where a gradient is wanted, and nowhere else.
 */
static bool as_much_goes_back(const ss_model *m, const ss_lowered *l)
{
    const struct ss_lower_scratch *w = l->scratch;
    int64_t forward = 0, back = 0;
    for (uint32_t f = 1; f <= w->feeds; f++)
        for (uint32_t i = w->feed[f].first; i < w->feed[f].first + w->feed[f].pieces; i++) {
            const ss_piece *p = &w->piece[i];
            if (!p->forward || p->lead != i)
                continue;
            forward += w->sent[p->forward].bytes;
            if (w->needs[w->feed[f].from.i] && !m->op[w->feed[f].to.i].def->kind->no_input_gradient)
                back += w->sent[p->forward].bytes;
        }
    if (!l->options.training || l->options.lumped)
        back = 0;
    return forward == l->moved[SS_CARGO_ACTIVATION] && back == l->moved[SS_CARGO_GRADIENT];
}

static void mark_before(const ss_tasks *t, uint32_t task, bool *seen)
{
    memset(seen, 0, t->n + (size_t)1);
    seen[task] = true;
    for (uint32_t i = task; i > 0; i--)
        for (uint32_t e = t->first_in[i]; seen[i] && e < t->first_in[i + 1]; e++)
            seen[t->in[e]] = true;
}

/* Every gradient of a shard is in every update of it, and weights that are sent back are new. */
static bool updates_have_all(const ss_lowered *l)
{
    const ss_tasks *t = &l->tasks;
    const struct ss_lower_scratch *w = l->scratch;
    bool *seen = malloc(t->n + (size_t)1), right = seen != NULL;
    for (uint32_t i = 1; i <= t->n && right; i++) {
        const ss_task_label *label = &t->label[i];
        bool update = label->kind == SS_TASK_UPDATE;
        if (!update && label->cargo != SS_CARGO_WEIGHT)
            continue;
        const ss_shard *x = &l->shard[label->part];
        mark_before(t, i, seen);
        for (uint32_t r = x->first_device; r < x->first_device + x->devices; r++)
            for (uint32_t g = w->first_from[r]; g < w->first_from[r + 1]; g++)
                if (l->options.sync != SS_SYNC_NONE || l->shard_device[r].i == t->where[i])
                    right &= seen[w->from[g]];
    }
    free(seen);
    return right;
}

/* Each device that needs an update gets one. */
static bool updates_are_there(const ss_lowered *l)
{
    uint32_t wanted = 0, found = 0;
    for (uint32_t k = 1; k <= l->shards; k++) {
        bool server = l->options.sync == SS_SYNC_PARAMETER_SERVER && l->shard[k].devices > 1;
        if (server || l->options.update_passes > 0)
            wanted += server ? 1 : l->shard[k].devices;
    }
    for (uint32_t i = 1; i <= l->tasks.n; i++)
        found += l->tasks.label[i].kind == SS_TASK_UPDATE;
    return found == (l->options.training ? wanted : 0);
}

/* Parts do the work of the whole: more where a position's keys and values are made by all that see
 * them, never less; exactly as much where only samples are split. */
static bool work_adds_up(const ss_model *m, const ss_strategy *s)
{
    for (uint32_t i = 1; i <= m->ops; i++) {
        ss_box box = ss_box_whole(&m->op[i].def->out[0]);
        ss_work whole, part;
        double macs = 0;
        ss_op_work(m->op[i].def, SS_FORWARD, true, &box, &whole);
        for (uint32_t p = 0; p < s->config[i].parts; p++) {
            ss_strategy_part_box(s, (ss_op){i}, p, &box);
            ss_op_work(m->op[i].def, SS_FORWARD, true, &box, &part);
            macs += part.macs;
        }
        bool samples_alone = s->config[i].parts == s->config[i].degree[0];
        if (macs < whole.macs * (1 - 1e-9) || (samples_alone && macs > whole.macs * (1 + 1e-9)))
            return false;
    }
    return true;
}

/* Holds begin with tasks that are there and end with later ones, on devices that are there. */
static bool holds_are_sound(const ss_model *m, const ss_strategy *s, const ss_lowered *l,
                            ss_holds *h)
{
    if (ss_lower_holds(m, s, l, h, &err))
        return false;
    for (uint32_t i = 0; i < h->n; i++) {
        const ss_hold *x = &h->hold[i];
        if (x->bytes <= 0 || x->device.i < 1 || x->device.i > l->tasks.devices ||
            x->from.i > l->tasks.n) {
            printf("  hold %u of %s: %lld bytes on %u from %u\n", i, ss_held_name(x->what),
                   (long long)x->bytes, x->device.i, x->from.i);
            return false;
        }
        for (uint32_t u = 0; u < x->untils; u++) {
            ss_task end = h->until[x->first_until + u];
            if (end.i < 1 || end.i > l->tasks.n || end.i < x->from.i) {
                printf("  hold %u of %s on %u from %u until %u\n", i, ss_held_name(x->what),
                       x->device.i, x->from.i, end.i);
                return false;
            }
        }
    }
    return true;
}

/* What is held is what the slow twin says, in whatever order. */
static bool same_holds(const ss_holds *fast, const ss_model *m, const ss_strategy *s,
                       const ss_lower_options *o, const naive_lowered *n)
{
    naive_holds a, b;
    naive_holds_of(fast, &a);
    naive_hold(m, s, o, n, &b);
    uint32_t i = 0;
    while (i < a.n && i < b.n && !strcmp(a.line[i], b.line[i]))
        i++;
    bool same = i == a.n && i == b.n;
    if (!same)
        printf("  fast : %s\n  naive: %s\n", i < a.n ? a.line[i] : "no more",
               i < b.n ? b.line[i] : "no more");
    naive_holds_free(&a);
    naive_holds_free(&b);
    return same;
}

/* ---- one case ---------------------------------------------------------------------------- */

typedef struct world {
    ss_model *m;
    ss_topology *t;
    ss_routes *r;
    ss_strategy *s;
    ss_lower_options o;
} world;

static ss_lowered lowered; /* into which all cases are lowered, one after the other */
static ss_holds holds;

static const char *judge(const world *w, naive_lowered *n)
{
    uint32_t differs = first_difference(&lowered.tasks, &n->tasks);
    if (differs) {
        show("fast ", &lowered.tasks, differs);
        show("naive", &n->tasks, differs);
        return "a task differs";
    }
    if (!same_shards(&lowered, n))
        return "shards differ";
    if (memcmp(lowered.moved, n->moved, sizeof n->moved) != 0 ||
        lowered.charged_bytes != n->charged_bytes)
        return "bytes differ";
    if ((double)ss_tasks_bytes_moved(&lowered.tasks) + lowered.charged_bytes !=
        ss_lowered_bytes_moved(&lowered))
        return "tasks carry other bytes than were counted";
    if (!edges_ascend(&lowered.tasks))
        return "an edge goes to a smaller id";
    if (!needs_are_met(w->m, w->s, &lowered))
        return "an element arrives not once";
    if (!as_much_goes_back(w->m, &lowered))
        return "forward and backward bytes do not match";
    if (!updates_have_all(&lowered))
        return "an update lacks a gradient";
    if (!updates_are_there(&lowered))
        return "an update is missing, or one too many";
    if (!work_adds_up(w->m, w->s))
        return "parts do not do the work of the whole";
    if (!holds_are_sound(w->m, w->s, &lowered, &holds))
        return "memory is held by what is not there";
    if (!same_holds(&holds, w->m, w->s, &w->o, n))
        return "other memory is held";
    return NULL;
}

static const char *one_case(void)
{
    world w = {.m = random_model(), .t = random_topology(), .o = random_options()};
    naive_lowered n;
    net_must(ss_routes_new(w.t, &w.r, &err), &err);
    net_must(ss_strategy_new(w.m, w.t, &w.s, &err), &err);
    for (uint32_t i = 1; i <= w.m->ops; i++)
        random_config(w.s, i);
    naive_lower(w.m, w.t, w.r, w.s, &timer, &w.o, &n);
    const char *wrong = NULL;
    if (ss_lower(w.m, w.t, w.r, w.s, &timer, &w.o, &lowered, &err))
        wrong = err.text;
    if (!wrong)
        wrong = judge(&w, &n);
    naive_lowered_free(&n);
    ss_strategy_free(w.s);
    ss_routes_free(w.r);
    ss_topology_free(w.t);
    ss_model_free(w.m);
    return wrong;
}

static uint64_t cases = 5000;

static void lowering_equals_its_slow_twin(void)
{
    for (uint64_t c = 0; c < cases; c++) {
        net_must(ss_rng_open(&rng, seed + c, "prop_lower", &err), &err);
        const char *wrong = one_case();
        ss_rng_close(&rng);
        CHECK(!wrong, "%s (prop_lower 1 %llu)", wrong, (unsigned long long)(seed + c));
    }
}

int main(int argc, char **argv)
{
    cases = argc > 1 ? strtoull(argv[1], NULL, 10) : cases;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    printf("seed %llu, %llu cases\n", (unsigned long long)seed, (unsigned long long)cases);
    RUN(lowering_equals_its_slow_twin);
    ss_lowered_free(&lowered);
    ss_holds_free(&holds);
    return DONE();
}
