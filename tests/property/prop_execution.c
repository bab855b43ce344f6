/* prop_execution.c - what a strategy computes is what the whole model computes: the proof of lowering.
 *
 *     prop_execution [COUNT [SEED]]
 *
 * Random models with random strategies on some devices, executed task by task with the slow kernels of
 * tests/reference: outputs of all operators, the loss, gradients of weights on every device that holds them, and
 * the weights after the update equal those of the same model executed whole on one device.  So every halo, every
 * partial sum and every share of every meeting has to be where the task graph says it is.
 */
#include "check.h"

#include <math.h>

#include "graph/op_kinds.h"
#include "random_problem.h"
#include "reference/kernel_naive.h"
#include "validation/executor/execution.h"

static uint64_t seed, count = 400, seed_of_case;

/* ---- problems ------------------------------------------------------------------------------ */

static bool is_float(ss_dtype t)
{
    return t != SS_I64 && t != SS_I32 && t != SS_I8;
}

/* Layers that slide windows over images one behind the other, as random operators hardly ever are.  None
 * normalises: such an operator is not cut here, and a second one takes away what the first one's weights do, so
 * that their gradients are rounding. */
static void add_image_layers(ss_model *m)
{
    static const char *const kinds[] = {"conv2d", "conv2d", "conv_transpose2d", "pool2d",
                                        "upsample2d"};
    ss_tensor x = {1};
    for (int i = 0, wanted = (int)draw(2, 5), layers = 0; i < 40 && layers < wanted; i++) {
        char name[20];
        snprintf(name, sizeof name, "layer%d", i);
        ss_op_spec spec = ss_op_spec_start(
            ss_op_kind_find(kinds[draw(0, (int64_t)(sizeof kinds / sizeof *kinds) - 1)]), name);
        for (uint32_t a = 0; a < ss_op_kind_attrs(spec.kind); a++)
            if (strcmp(spec.kind->attr[a].name, "norm") != 0)
                spec.attr[a] = attribute(&spec.kind->attr[a]);
        spec.inputs = 1;
        spec.in = &x;
        ss_op op;
        if (ss_model_add(m, &spec, &op, &err))
            continue;
        x = m->op[op.i].out[0];
        layers++;
        if (ss_shape_elements(&m->tensor[x.i].shape) > MOST_ELEMENTS)
            return;
    }
}

/* What nobody reads ends in a loss, so that a gradient comes back from everywhere. */
static void add_losses(ss_model *m)
{
    uint32_t tensors = m->tensors;
    for (uint32_t t = 1; t <= tensors; t++) {
        const ss_tensor_row *row = &m->tensor[t];
        char name[20];
        if (row->first_use || !row->producer.i || !is_float(row->shape.dtype) ||
            m->op[row->producer.i].def->kind->is_loss)
            continue;
        snprintf(name, sizeof name, "loss%u", t);
        net_then(m, "squared_error", name, (ss_tensor){t}, NULL, 0);
    }
}

/* Devices that reach each other over a link each way. */
static ss_topology *mesh(uint32_t devices)
{
    ss_topology *t;
    net_must(ss_topology_new("mesh", &t, &err), &err);
    for (uint32_t d = 1; d <= devices; d++) {
        char name[20];
        ss_device device;
        snprintf(name, sizeof name, "core%u", d);
        ss_device_def def = {
            .kind = "core", .speed = 1, .machine = chance(70) ? 1 : (uint32_t)draw(0, 2)};
        net_must(ss_topology_add_device(t, name, &def, &device, &err), &err);
    }
    for (uint32_t a = 1; a <= devices; a++)
        for (uint32_t b = 1; b <= devices; b++) {
            ss_link_def def = {.bytes_per_s = 1e9, .latency_s = 1e-7, .weight = 1};
            ss_link link;
            if (a != b)
                net_must(ss_topology_add_link(t, t->device[a].node, t->device[b].node, &def, &link,
                                              &err),
                         &err);
        }
    return t;
}

/* What normalises over the batch of a part, or leaves out a halo, is another function when it is cut. */
static bool may_be_cut(const ss_op_def *def)
{
    if (!strcmp(def->kind->name, "batch_norm") || def->no_halo)
        return false;
    for (uint32_t a = 0; a < ss_op_kind_attrs(def->kind); a++)
        if (!strcmp(def->kind->attr[a].name, "norm") && def->attr[a])
            return false;
    return true;
}

static void draw_strategy(ss_strategy *s)
{
    for (uint32_t i = 1; i <= s->model->ops; i++) {
        ss_device one = {(uint32_t)draw(1, s->topology->devices)};
        const ss_op_def *def = s->model->op[i].def;
        uint32_t degree[SS_MAX_DIMS] = {1, 1, 1, 1, 1};
        if (may_be_cut(def))
            random_config(s, i);
        else
            net_must(ss_strategy_set(s, (ss_op){i}, degree, def->out[0].rank, &one, 1, &err), &err);
    }
}

static ss_lower_options draw_options(void)
{
    static const ss_sync syncs[] = {SS_SYNC_PARAMETER_SERVER,
                                    SS_SYNC_RING,
                                    SS_SYNC_TREE,
                                    SS_SYNC_TWO_LEVEL,
                                    SS_SYNC_BIDIRECTIONAL_RING,
                                    SS_SYNC_DOUBLE_TREE,
                                    SS_SYNC_HALVING_DOUBLING,
                                    SS_SYNC_HIERARCHICAL,
                                    SS_SYNC_AUTO};
    ss_lower_options o = ss_lower_options_start();
    o.sync = syncs[draw(0, sizeof syncs / sizeof syncs[0] - 1)];
    o.overlap = chance(70);
    o.gather = chance(50);
    o.partial_sums = chance(50);
    o.update_passes = 3;
    o.links = (ss_links_mode)draw(0, SS_LINKS_MODES - 1);
    if (o.sync == SS_SYNC_TREE || o.sync == SS_SYNC_DOUBLE_TREE)
        o.chunk_bytes = chance(50) ? 0 : draw(1, 60);
    return o;
}

/* ---- comparing ----------------------------------------------------------------------------- */

/* Of two arrays: the largest difference, of the largest number, or of `least` where that is more. */
static double difference(const float *a, const float *b, int64_t n, double least)
{
    double most = 0, largest = least;
    for (int64_t i = 0; i < n; i++) {
        double x = fabs((double)a[i] - (double)b[i]);
        most = x > most || isnan(x) ? x : most;
        largest = fmax(largest, fabs((double)b[i]));
    }
    return largest > 0 ? most / largest : most;
}

#define RATE 0.1
enum { MOST_NUMBERS = 100000 };
static float mine[MOST_NUMBERS], whole[MOST_NUMBERS];

static const char *compare_outputs(const ss_model *m, const ss_execution *a, const ss_execution *b)
{
    static char text[200];
    for (uint32_t t = 1; t <= m->tensors; t++) {
        if (!m->tensor[t].producer.i)
            continue;
        ss_execution_output(a, (ss_tensor){t}, mine);
        ss_execution_output(b, (ss_tensor){t}, whole);
        double off = difference(mine, whole, ss_shape_elements(&m->tensor[t].shape), 0);
        if (off <= 1e-4)
            continue;
        snprintf(text, sizeof text, "output %.100s is off by %g", m->tensor[t].name, off);
        return text;
    }
    return NULL;
}

static double largest_gradient(const ss_model *m, const ss_execution *b)
{
    double most = 0;
    for (uint32_t w = 1; w <= m->weights; w++) {
        ss_execution_weight(b, (ss_weight){w}, 0, true, whole);
        for (int64_t i = 0; i < ss_shape_elements(&m->weight[w].shape); i++)
            most = fmax(most, fabs((double)whole[i]));
    }
    return most;
}

/* Of all holders, or of the first: a parameter server alone has the sum of gradients.  A gradient whose numbers are below a
 * thousandth of the model's largest is what is left where such numbers cancel, and has their rounding (the scale of a
 * normalisation of two channels, for one, whose outputs are 1 and -1). */
static const char *compare_weights(const ss_model *m, const ss_execution *a, const ss_execution *b,
                                   bool gradients, bool first)
{
    static char text[200];
    double least = gradients ? 1e-3 * largest_gradient(m, b) : 0;
    for (uint32_t w = 1; w <= m->weights; w++)
        for (uint32_t h = 0; h < (first ? 1 : ss_execution_holders(a, (ss_weight){w})); h++) {
            ss_execution_weight(a, (ss_weight){w}, h, gradients, mine);
            ss_execution_weight(b, (ss_weight){w}, 0, gradients, whole);
            double off = difference(mine, whole, ss_shape_elements(&m->weight[w].shape), least);
            if (off <= 1e-4)
                continue;
            snprintf(text, sizeof text, "%s %.100s of holder %u is off by %g",
                     gradients ? "gradient of" : "weight", m->weight[w].name, h, off);
            return text;
        }
    return NULL;
}

/* ---- one case ------------------------------------------------------------------------------ */

typedef struct side {
    ss_strategy *strategy;
    ss_routes *routes;
    ss_lowered lowered;
    ss_execution *execution;
    ss_timeline line;
} side;

static float before[MOST_NUMBERS];

/* Of the first holder, weight after weight. */
static void keep_weights(const ss_model *m, const ss_execution *e)
{
    float *to = before;
    for (uint32_t w = 1; w <= m->weights; w++) {
        ss_execution_weight(e, (ss_weight){w}, 0, false, to);
        to += ss_shape_elements(&m->weight[w].shape);
    }
}

static ss_status execute(side *s, const ss_model *m, const ss_topology *t,
                         const ss_lower_options *o)
{
    static ss_kernel_maker slow;
    slow = kernel_naive();
    ss_execution_options e = ss_execution_options_start();
    e.pinned = false;
    e.seed = seed_of_case;
    e.rate = RATE;
    net_must(ss_routes_new(t, &s->routes, &err), &err);
    net_must(ss_lower(m, t, s->routes, s->strategy, &timer, o, &s->lowered, &err), &err);
    ss_status status =
        ss_execution_new(m, t, s->strategy, &s->lowered, &slow, &e, &s->execution, &err);
    if (!status)
        status = ss_execution_step(s->execution, &s->line, &err);
    if (status)
        return status;
    keep_weights(m, s->execution);
    return ss_execution_step(s->execution, &s->line, &err);
}

/* A step takes `rate` times the gradient away, as well as floats can say of the numbers that are subtracted. */
static const char *judge_update(const ss_model *m, const ss_execution *e)
{
    const float *was = before;
    for (uint32_t w = 1; w <= m->weights; w++) {
        int64_t n = ss_shape_elements(&m->weight[w].shape);
        ss_execution_weight(e, (ss_weight){w}, 0, true, mine);
        ss_execution_weight(e, (ss_weight){w}, 0, false, whole);
        for (int64_t i = 0; i < n; i++)
            if (!(fabs((double)was[i] - RATE * (double)mine[i] - (double)whole[i]) <=
                  1e-5 * (1 + fabs((double)was[i]) + RATE * fabs((double)mine[i]))))
                return "an update took something else away";
        was += n;
    }
    return NULL;
}

/* Ready is when the last predecessor was done, and a device does one thing at a time. */
static const char *judge_line(const side *s)
{
    const ss_tasks *t = &s->lowered.tasks;
    for (uint32_t i = 1; i <= t->n; i++) {
        ss_time ready = 0;
        for (uint32_t k = t->first_in[i]; k < t->first_in[i + 1]; k++)
            ready = s->line.end[t->in[k]] > ready ? s->line.end[t->in[k]] : ready;
        if (s->line.ready[i] != ready || s->line.start[i] < ready ||
            s->line.end[i] < s->line.start[i])
            return "times of a task are out of order";
    }
    return NULL;
}

static void free_side(side *s)
{
    ss_execution_free(s->execution);
    ss_lowered_free(&s->lowered);
    ss_timeline_free(&s->line);
    ss_routes_free(s->routes);
    ss_strategy_free(s->strategy);
}

static uint32_t tried;

/* What alone may not be executed: parts that would have to exchange more than the task graph has. */
static bool splits_classes(const ss_strategy *s)
{
    for (uint32_t i = 1; i <= s->model->ops; i++) {
        const ss_op_def *def = s->model->op[i].def;
        if (strcmp(def->kind->name, "linear_softmax") == 0 &&
            s->config[i].degree[ss_op_channel(&def->out[0])] > 1)
            return true;
    }
    return false;
}

static const char *one_case(void)
{
    ss_model *m = random_model();
    if (chance(50))
        add_image_layers(m);
    add_losses(m);
    ss_topology *t = mesh((uint32_t)draw(1, 4));
    ss_lower_options o = draw_options();
    side cut = {0}, one = {0};
    const char *wrong = NULL;
    net_must(ss_strategy_new(m, t, &cut.strategy, &err), &err);
    net_must(ss_strategy_new(m, t, &one.strategy, &err), &err);
    draw_strategy(cut.strategy);
    ss_status b = execute(&one, m, t, &o), a = b ? b : execute(&cut, m, t, &o);
    if (a == SS_EUNSUPPORTED) {
        wrong = splits_classes(cut.strategy) ? NULL : err.text;
        free_side(&cut);
        free_side(&one);
        ss_topology_free(t);
        ss_model_free(m);
        return wrong;
    }
    tried++;
    if (getenv("SHOW")) {
        printf("sync %s overlap %d gather %d sums %d chunk %d links %d devices %u\n",
               ss_sync_name(o.sync), o.overlap, o.gather, o.partial_sums, (int)o.chunk_bytes,
               (int)o.links, t->devices);
        for (uint32_t i = 1; i <= m->ops; i++) {
            printf("%s %s:", m->op[i].name, m->op[i].def->kind->name);
            for (uint32_t d = 0; d < m->op[i].def->out[0].rank; d++)
                printf(" %u", cut.strategy->config[i].degree[d]);
            printf(" on");
            for (uint32_t p = 0; p < cut.strategy->config[i].parts; p++)
                printf(" %u", cut.strategy->config[i].device[p].i);
            printf("\n");
        }
        for (uint32_t k = 1; k <= cut.lowered.shards; k++) {
            const ss_shard *x = &cut.lowered.shard[k];
            printf("shard of %s algorithm %s chunks %u devices", m->weight[x->weight.i].name,
                   ss_algorithm_name(x->algorithm), x->chunks);
            for (uint32_t r = 0; r < x->devices; r++)
                printf(" %u", cut.lowered.shard_device[x->first_device + r].i);
            printf(" %lld bytes\n", (long long)x->bytes);
        }
    }
    if (a || b)
        wrong = err.text;
    if (!wrong)
        wrong = judge_line(&cut);
    if (!wrong)
        wrong = judge_update(m, cut.execution);
    if (!wrong)
        wrong = compare_outputs(m, cut.execution, one.execution);
    if (!wrong)
        wrong = compare_weights(m, cut.execution, one.execution, true,
                                o.sync == SS_SYNC_PARAMETER_SERVER);
    if (!wrong)
        wrong = compare_weights(m, cut.execution, one.execution, false, false);
    double x = wrong ? 0 : ss_execution_loss(cut.execution),
           y = wrong ? 0 : ss_execution_loss(one.execution);
    if (!wrong && !(fabs(x - y) <= 1e-4 * fabs(y)))
        wrong = "another loss";
    free_side(&cut);
    free_side(&one);
    ss_topology_free(t);
    ss_model_free(m);
    return wrong;
}

static void a_strategy_computes_what_the_whole_computes(void)
{
    for (uint64_t c = 0; c < count; c++) {
        seed_of_case = seed + c;
        net_must(ss_rng_open(&rng, seed_of_case, "prop_execution", &err), &err);
        const char *wrong = one_case();
        ss_rng_close(&rng);
        CHECK(!wrong, "%s (prop_execution 1 %llu)", wrong, (unsigned long long)seed_of_case);
    }
    printf("%u of %llu could be executed\n", tried, (unsigned long long)count);
    CHECK(tried > count * 8 / 10 || count < 100, "too few");
}

int main(int argc, char **argv)
{
    random_odd_kinds = false; /* which have no kernels */
    count = argc > 1 ? strtoull(argv[1], NULL, 10) : count;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    printf("seed %llu, %llu cases\n", (unsigned long long)seed, (unsigned long long)count);
    RUN(a_strategy_computes_what_the_whole_computes);
    return DONE();
}
