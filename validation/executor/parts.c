/* parts.c - arrays and kernels of the parts of operators, and shards of weights on devices. */
#include <string.h>

#include "base/mem.h"
#include "validation/executor/execution_inside.h"
#include "validation/executor/values.h"

static ss_status no_memory(ss_error *err)
{
    return ss_fail_memory(err, "what is executed", 0);
}

static void *take(ss_execution *e, size_t n, size_t each)
{
    void *p = ss_arena_take(&e->memory, (n + 1) * each);
    if (p)
        memset(p, 0, (n + 1) * each);
    return p;
}

static const ss_op_def *def_of(const ss_execution *e, ss_op op)
{
    return e->model->op[op.i].def;
}

static const ss_tensor_row *tensor_read(const ss_execution *e, ss_op op, uint32_t v)
{
    return &e->model->tensor[e->model->op[op.i].in[v].i];
}

bool ss_execution_carries(const ss_execution *e, ss_op op, uint32_t v)
{
    ss_op from = tensor_read(e, op, v)->producer;
    return from.i && e->lowered->backward[from.i].i && e->lowered->backward[op.i].i &&
           !def_of(e, op)->kind->no_input_gradient;
}

/* ---- parts --------------------------------------------------------------------------------- */

static ss_status list_parts(ss_execution *e, ss_error *err)
{
    const ss_model *m = e->model;
    uint32_t inputs = 0;
    e->first_part = take(e, m->ops + 2, sizeof *e->first_part);
    if (!e->first_part)
        return no_memory(err);
    for (uint32_t i = 1; i <= m->ops; i++) {
        e->first_part[i] = e->parts;
        e->parts += e->strategy->config[i].parts;
        inputs += e->strategy->config[i].parts * m->op[i].def->inputs;
    }
    e->first_part[m->ops + 1] = e->parts;
    e->part = take(e, e->parts, sizeof *e->part);
    e->first_gather = take(e, e->parts, sizeof *e->first_gather);
    e->gather = take(e, inputs, sizeof *e->gather);
    e->sum = take(e, e->parts, sizeof *e->sum);
    if (!e->part || !e->first_gather || !e->gather || !e->sum) {
        e->parts = 0;
        return no_memory(err);
    }
    inputs = 0;
    for (uint32_t i = 1; i <= m->ops; i++)
        for (uint32_t p = 0; p < e->strategy->config[i].parts; p++) {
            uint32_t row = e->first_part[i] + p;
            e->part[row] =
                (ss_part){.op = {i}, .part = p, .device = e->strategy->config[i].device[p]};
            e->first_gather[row] = inputs;
            inputs += m->op[i].def->inputs;
        }
    return SS_OK;
}

/* The part on the reader's device that makes just what is read; NULL: there is none. */
static const ss_part_output *made_whole(const ss_execution *e, const ss_part *p, uint32_t v)
{
    const ss_tensor_row *t = tensor_read(e, p->op, v);
    if (!t->producer.i)
        return NULL;
    for (uint32_t k = 0; k < e->strategy->config[t->producer.i].parts; k++) {
        const ss_part *from = ss_part_of(e, t->producer, k);
        if (from->device.i == p->device.i &&
            ss_box_same(&from->output[t->slot].box, &p->input[v].box))
            return &from->output[t->slot];
    }
    return NULL;
}

static ss_status make_outputs(ss_execution *e, ss_part *p, ss_error *err)
{
    const ss_op_def *def = def_of(e, p->op);
    ss_box main;
    ss_strategy_part_box(e->strategy, p->op, p->part, &main);
    p->output = take(e, def->outputs, sizeof *p->output);
    if (!p->output)
        return no_memory(err);
    for (uint32_t o = 0; o < def->outputs; o++) {
        ss_part_output *x = &p->output[o];
        ss_op_output_box(def, o, &main, &x->box);
        if (!(x->at = ss_execution_array(e, ss_box_elements(&x->box))))
            return no_memory(err);
        p->io.out[o] = x->at;
    }
    return SS_OK;
}

static ss_status make_inputs(ss_execution *e, ss_part *p, ss_error *err)
{
    const ss_op_def *def = def_of(e, p->op);
    ss_box main;
    ss_strategy_part_box(e->strategy, p->op, p->part, &main);
    p->input = take(e, def->inputs, sizeof *p->input);
    if (!p->input)
        return no_memory(err);
    for (uint32_t v = 0; v < def->inputs; v++) {
        ss_part_input *x = &p->input[v];
        ss_op_input_box(def, v, &main, &x->box);
        int64_t n = ss_box_elements(&x->box);
        const ss_part_output *made = made_whole(e, p, v);
        x->own = !made;
        if (!(x->at = made ? made->at : ss_execution_array(e, n)))
            return no_memory(err);
        if (!tensor_read(e, p->op, v)->producer.i && n)
            ss_values_input(e->model, e->model->op[p->op.i].in[v], e->options.seed, &x->box, x->at);
        p->io.in[v] = x->at;
        if (!ss_execution_carries(e, p->op, v))
            continue;
        if (!(x->gradient = ss_execution_array(e, n)))
            return no_memory(err);
        p->io.in_gradient[v] = x->gradient;
    }
    return SS_OK;
}

static ss_status make_label(ss_execution *e, ss_part *p, ss_error *err)
{
    ss_box main;
    ss_strategy_part_box(e->strategy, p->op, p->part, &main);
    int64_t bytes = ss_values_label_bytes(e->model, p->op, &main);
    p->io.loss = &p->loss;
    if (!bytes)
        return SS_OK;
    float *label = ss_execution_array(e, bytes / (int64_t)sizeof(float));
    if (!label)
        return no_memory(err);
    ss_values_label(e->model, p->op, e->options.seed, &main, label);
    p->io.label = label;
    return SS_OK;
}

/* ---- gradients of outputs ------------------------------------------------------------------ */

/* How many parts read something of an output, with a gradient; and the last of them. */
static uint32_t readers_of(const ss_execution *e, const ss_part *p, uint32_t slot,
                           const ss_part **last, uint32_t *input)
{
    const ss_model *m = e->model;
    uint32_t n = 0;
    for (uint32_t u = m->tensor[m->op[p->op.i].out[slot].i].first_use; u; u = m->use[u].next) {
        ss_op op = m->use[u].op;
        if (!ss_execution_carries(e, op, m->use[u].input))
            continue;
        for (uint32_t q = 0; q < e->strategy->config[op.i].parts; q++) {
            const ss_part *to = ss_part_of(e, op, q);
            ss_box both;
            if (!ss_box_intersect(&p->output[slot].box, &to->input[m->use[u].input].box, &both))
                continue;
            *last = to;
            *input = m->use[u].input;
            n++;
        }
    }
    return n;
}

static ss_status make_output_gradients(ss_execution *e, ss_part *p, ss_error *err)
{
    for (uint32_t o = 0; o < def_of(e, p->op)->outputs; o++) {
        const ss_part *to = NULL;
        uint32_t input = 0;
        ss_part_output *x = &p->output[o];
        uint32_t n = readers_of(e, p, o, &to, &input);
        if (!n)
            continue;
        bool alone =
            n == 1 && to->device.i == p->device.i && ss_box_same(&to->input[input].box, &x->box);
        x->own = !alone;
        x->gradient =
            alone ? to->input[input].gradient : ss_execution_array(e, ss_box_elements(&x->box));
        if (!x->gradient)
            return no_memory(err);
        p->io.out_gradient[o] = x->gradient;
    }
    return SS_OK;
}

/* ---- weights ------------------------------------------------------------------------------- */

static ss_status make_holdings(ss_execution *e, ss_error *err)
{
    const ss_lowered *l = e->lowered;
    e->holding = take(e, l->shard_devices, sizeof *e->holding);
    if (!e->holding)
        return no_memory(err);
    for (uint32_t k = 1; k <= l->shards; k++) {
        const ss_shard *x = &l->shard[k];
        int64_t n = ss_box_elements(&x->box);
        for (uint32_t r = x->first_device; r < x->first_device + x->devices; r++) {
            ss_holding *h = &e->holding[r];
            h->at = ss_execution_array(e, n);
            h->gradient = ss_execution_array(e, n);
            if (!h->at || !h->gradient)
                return no_memory(err);
            ss_values_weight(e->model, x->weight, e->options.seed, &x->box, h->at);
        }
    }
    return SS_OK;
}

/* A shard that a device holds: its row of shard_device, 0: none. */
static uint32_t row_at(const ss_execution *e, const ss_shard *x, ss_device d)
{
    for (uint32_t r = x->first_device; r < x->first_device + x->devices; r++)
        if (e->lowered->shard_device[r].i == d.i)
            return r;
    return 0;
}

static ss_status make_weight(ss_execution *e, ss_part *p, uint32_t w, ss_error *err)
{
    const ss_lowered *l = e->lowered;
    ss_weight weight = e->model->op[p->op.i].weight[w];
    ss_part_weight *x = &p->weight[w];
    x->own = true;
    for (uint32_t k = 1; k <= l->shards; k++) {
        uint32_t row = l->shard[k].weight.i == weight.i && ss_box_same(&l->shard[k].box, &x->box)
                           ? row_at(e, &l->shard[k], p->device)
                           : 0;
        if (!row)
            continue;
        x->own = false;
        x->at = e->holding[row].at;
        x->gradient = e->holding[row].gradient;
    }
    if (x->own) {
        int64_t n = ss_box_elements(&x->box);
        x->at = ss_execution_array(e, n);
        x->gradient = ss_execution_array(e, n);
    }
    if (!x->at || !x->gradient)
        return no_memory(err);
    p->io.weight[w] = x->at;
    p->io.weight_gradient[w] = x->gradient;
    return SS_OK;
}

static ss_status make_weights(ss_execution *e, ss_part *p, ss_error *err)
{
    const ss_op_def *def = def_of(e, p->op);
    ss_box main;
    ss_status s = SS_OK;
    ss_strategy_part_box(e->strategy, p->op, p->part, &main);
    p->weight = take(e, def->weights, sizeof *p->weight);
    if (!p->weight)
        return no_memory(err);
    for (uint32_t w = 0; w < def->weights && !s; w++) {
        ss_op_weight_box(def, w, &main, &p->weight[w].box);
        s = make_weight(e, p, w, err);
    }
    p->io.add_weight_gradient = true;
    return s;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static ss_status make_kernel(ss_execution *e, ss_part *p, const ss_kernel_maker *maker,
                             ss_error *err)
{
    ss_box main;
    ss_strategy_part_box(e->strategy, p->op, p->part, &main);
    ss_status s = maker->make(maker->context, def_of(e, p->op), &main, &p->kernel, err);
    return s ? ss_fail_in(err, "operator %s, part %u", e->model->op[p->op.i].name, p->part) : SS_OK;
}

ss_status ss_execution_make_parts(ss_execution *e, const ss_kernel_maker *maker, ss_error *err)
{
    ss_status s = list_parts(e, err);
    for (uint32_t i = 0; i < e->parts && !s; i++)
        s = make_outputs(e, &e->part[i], err);
    for (uint32_t i = 0; i < e->parts && !s; i++)
        if (!(s = make_inputs(e, &e->part[i], err)))
            s = make_label(e, &e->part[i], err);
    for (uint32_t i = 0; i < e->parts && !s; i++)
        s = make_output_gradients(e, &e->part[i], err);
    if (!s)
        s = make_holdings(e, err);
    for (uint32_t i = 0; i < e->parts && !s; i++)
        if (!(s = make_weights(e, &e->part[i], err)))
            s = make_kernel(e, &e->part[i], maker, err);
    return s;
}
