#include "graph/strategy_ready.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"

uint32_t ss_part_index(const uint32_t *degree, uint32_t dim, uint32_t part)
{
    for (uint32_t d = SS_MAX_DIMS - 1; d > dim; d--)
        part /= degree[d];
    return dim < SS_MAX_DIMS ? part % degree[dim] : 0;
}

uint32_t ss_first_dim(const ss_op_def *def, ss_dim_class cls)
{
    for (uint32_t d = 0; d < def->out[0].rank; d++)
        if (def->dim[d].cls == cls)
            return d;
    return SS_MAX_DIMS;
}

uint32_t ss_degree_product(const uint32_t *degree)
{
    uint64_t product = 1;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++) {
        product *= degree[d];
        if (product > SS_MAX_PARTS)
            return SS_MAX_PARTS + 1;
    }
    return (uint32_t)product;
}

/* Lowers the open degrees, the last dimension first, until the parts are few enough. */
static void cut_down(const ss_strategy *s, ss_op op, const bool *open, uint32_t *degree)
{
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++) {
        uint32_t limit = ss_strategy_limit(s, op, d);
        if (open[d] && degree[d] > limit)
            degree[d] = limit;
    }
    for (uint32_t d = SS_MAX_DIMS; d-- > 0 && ss_degree_product(degree) > SS_MAX_PARTS;) {
        if (!open[d])
            continue;
        degree[d] = 1;
        uint32_t others = ss_degree_product(degree);
        degree[d] = others > SS_MAX_PARTS ? 1 : SS_MAX_PARTS / others;
    }
}

static void choose_degrees(const ss_strategy *s, const ss_recipe *r, ss_op op, uint32_t *degree)
{
    const ss_config *now = &s->config[op.i];
    bool open[SS_MAX_DIMS];
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++) {
        open[d] = !ss_strategy_pinned_degree(s, op, d);
        degree[d] = open[d] ? 1 : now->degree[d];
    }
    if (r->degrees)
        r->degrees(r, op, open, degree);
    cut_down(s, op, open, degree);
    if ((s->pin[op.i] & SS_PIN_DEVICES) && ss_degree_product(degree) != now->parts)
        memcpy(degree, now->degree, sizeof now->degree);
}

static void assign(ss_strategy *s, const ss_recipe *r, ss_op op, const uint32_t *degree)
{
    ss_config *c = &s->config[op.i];
    memcpy(c->degree, degree, sizeof c->degree);
    c->parts = ss_degree_product(degree);
    if (s->pin[op.i] & SS_PIN_DEVICES)
        return;
    for (uint32_t part = 0; part < c->parts; part++)
        c->device[part] = r->device(r, op, degree, part);
}

ss_status ss_strategy_fill(ss_strategy *s, const ss_recipe *r, ss_error *err)
{
    size_t bytes = sizeof(uint32_t) * SS_MAX_DIMS;
    uint32_t(*degree)[SS_MAX_DIMS] = ss_alloc_zeroed((size_t)s->ops + 1, bytes);
    if (!degree)
        return ss_fail_memory(err, "a strategy's degrees", (s->ops + 1) * bytes);
    ss_status st = SS_OK;
    for (uint32_t i = 1; i <= s->ops && !st; i++) {
        choose_degrees(s, r, (ss_op){i}, degree[i]);
        ss_config *c = &s->config[i];
        st = SS_RESERVE(c->device, c->cap, ss_degree_product(degree[i]),
                        "the devices of an operator's parts", err);
    }
    for (uint32_t i = 1; i <= s->ops && !st; i++)
        assign(s, r, (ss_op){i}, degree[i]);
    ss_free(degree);
    return st;
}

/* ---------------------------------------------------------------------------------------- whole */

static ss_device first_device(const ss_recipe *r, ss_op op, const uint32_t *degree, uint32_t part)
{
    (void)r, (void)op, (void)degree, (void)part;
    return (ss_device){1};
}

ss_status ss_strategy_whole(ss_strategy *s, ss_error *err)
{
    ss_recipe r = {.strategy = s, .device = first_device};
    return ss_strategy_fill(s, &r, err);
}

/* -------------------------------------------------------------------------------- data parallel */

/* Parts for the devices that pinned degrees leave over: with 4 channel parts pinned and 64 devices
 * the sample is cut 16 times. */
static void cut_for_devices(const ss_recipe *r, uint32_t dim, const bool *open, uint32_t *degree)
{
    if (dim == SS_MAX_DIMS || !open[dim])
        return;
    uint32_t wanted = r->strategy->topology->devices / ss_degree_product(degree);
    degree[dim] = wanted > 1 ? wanted : 1;
}

static const ss_op_def *def_of(const ss_recipe *r, ss_op op)
{
    return r->strategy->model->op[op.i].def;
}

static void cut_sample(const ss_recipe *r, ss_op op, const bool *open, uint32_t *degree)
{
    cut_for_devices(r, ss_first_dim(def_of(r, op), SS_DIM_SAMPLE), open, degree);
}

static ss_device device_in_turn(const ss_recipe *r, ss_op op, const uint32_t *degree, uint32_t part)
{
    (void)op, (void)degree;
    return (ss_device){part % r->strategy->topology->devices + 1};
}

ss_status ss_strategy_data_parallel(ss_strategy *s, ss_error *err)
{
    ss_recipe r = {.strategy = s, .degrees = cut_sample, .device = device_in_turn};
    return ss_strategy_fill(s, &r, err);
}

/* ----------------------------------------------------------------------------------- CNN expert */

/* Every weight meets every sample once: splitting by sample moves all weights, by channel none. */
static bool fully_connected(const ss_op_def *def)
{
    return !strcmp(def->kind->name, "linear") || !strcmp(def->kind->name, "linear_softmax");
}

static void cut_channels_of_linear(const ss_recipe *r, ss_op op, const bool *open, uint32_t *degree)
{
    const ss_op_def *def = def_of(r, op);
    uint32_t dim = fully_connected(def) ? ss_first_dim(def, SS_DIM_PARAMETER) : SS_MAX_DIMS;
    if (dim == SS_MAX_DIMS)
        dim = ss_first_dim(def, SS_DIM_SAMPLE);
    cut_for_devices(r, dim, open, degree);
}

ss_status ss_strategy_expert_cnn(ss_strategy *s, ss_error *err)
{
    ss_recipe r = {.strategy = s, .degrees = cut_channels_of_linear, .device = device_in_turn};
    return ss_strategy_fill(s, &r, err);
}
