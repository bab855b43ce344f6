/* The expert's placement of recurrent networks: machines share the samples, devices the layers. */

#include <string.h>

#include "base/mem.h"
#include "graph/strategy_ready.h"

/* Devices by machine, machines in the order of their first device; a device without a machine is
 * one by itself. */
typedef struct placement {
    uint32_t machines;
    uint32_t *first;   /* [machines + 1]: rows of device */
    ss_device *device; /* [devices] */
    uint32_t *layer;   /* [ops + 1], from 0 */
    uint32_t *lane;    /* [ops + 1]: what is dealt over a machine's devices: layer or depth */
} placement;

static void list_machines(const ss_topology *t, uint32_t *machine_of_number, placement *p)
{
    p->machines = 0;
    for (uint32_t d = 1; d <= t->devices; d++) {
        uint32_t number = t->device[d].def.machine;
        if (number && machine_of_number[number])
            continue;
        p->machines++;
        if (number)
            machine_of_number[number] = p->machines;
    }
    uint32_t rows = 0, seen = 0;
    for (uint32_t d = 1; d <= t->devices; d++) {
        uint32_t number = t->device[d].def.machine;
        if (number && machine_of_number[number] != seen + 1)
            continue; /* listed with the first of its machine */
        p->first[seen++] = rows;
        p->device[rows++] = (ss_device){d};
        for (uint32_t mate = d + 1; number && mate <= t->devices; mate++)
            if (t->device[mate].def.machine == number)
                p->device[rows++] = (ss_device){mate};
    }
    p->first[seen] = rows;
}

static uint32_t producer_of_first_input(const ss_model *m, uint32_t op)
{
    const ss_op_row *row = &m->op[op];
    return row->def->inputs ? m->tensor[row->in[0].i].producer.i : 0;
}

/* Layers from 0. An operator without a layer goes with the producer of its first input. */
static void find_layers(const ss_model *m, uint32_t ops, uint32_t *layer)
{
    for (uint32_t i = 1; i <= ops; i++) {
        uint32_t before = producer_of_first_input(m, i);
        layer[i] = m->op[i].layer ? m->op[i].layer - 1 : before ? layer[before] : 0;
    }
}

/* The first input of a recurrent step is what comes from the layer below; its other inputs, the
 * states, come from the side (or, in a decoder, from the encoder) and do not make it deeper. */
static void find_depths(const ss_model *m, uint32_t ops, const uint32_t *layer, uint32_t *lane)
{
    for (uint32_t i = 1; i <= ops; i++) {
        uint32_t before = producer_of_first_input(m, i);
        lane[i] = before ? lane[before] + (layer[i] != layer[before]) : 0;
    }
}

static void cut_by_machine(const ss_recipe *r, ss_op op, const bool *open, uint32_t *degree)
{
    const placement *p = r->context;
    uint32_t sample = ss_first_dim(r->strategy->model->op[op.i].def, SS_DIM_SAMPLE);
    if (sample < SS_MAX_DIMS && open[sample])
        degree[sample] = p->machines;
}

static ss_device in_lane(const ss_recipe *r, ss_op op, const uint32_t *degree, uint32_t part)
{
    const placement *p = r->context;
    uint32_t sample = ss_first_dim(r->strategy->model->op[op.i].def, SS_DIM_SAMPLE);
    uint32_t machine = ss_part_index(degree, sample, part) % p->machines;
    uint32_t devices = p->first[machine + 1] - p->first[machine];
    return p->device[p->first[machine] + p->lane[op.i] % devices];
}

static ss_status check_layers(const ss_strategy *s, ss_error *err)
{
    for (uint32_t i = 1; i <= s->ops; i++)
        if (s->model->op[i].layer)
            return SS_OK;
    return ss_fail(
        err, SS_EINVAL,
        "expert_rnn places operators by their layer, and no operator of model %s has one: "
        "give `layer` where it is built",
        s->model->name);
}

ss_status ss_strategy_expert_rnn(ss_strategy *s, bool by_depth, ss_error *err)
{
    const ss_topology *t = s->topology;
    ss_status st = check_layers(s, err);
    if (st)
        return st;
    uint32_t *machine_of_number = ss_alloc_zeroed((size_t)t->machines + 1, sizeof(uint32_t));
    placement p = {.first = ss_alloc_zeroed((size_t)t->devices + 1, sizeof *p.first),
                   .device = ss_alloc_zeroed((size_t)t->devices, sizeof *p.device),
                   .layer = ss_alloc_zeroed((size_t)s->ops + 1, sizeof *p.layer),
                   .lane = ss_alloc_zeroed((size_t)s->ops + 1, sizeof *p.lane)};
    if (machine_of_number && p.first && p.device && p.layer && p.lane) {
        list_machines(t, machine_of_number, &p);
        find_layers(s->model, s->ops, p.layer);
        if (by_depth)
            find_depths(s->model, s->ops, p.layer, p.lane);
        else
            memcpy(p.lane, p.layer, ((size_t)s->ops + 1) * sizeof *p.lane);
        ss_recipe r = {.strategy = s, .context = &p, .degrees = cut_by_machine, .device = in_lane};
        st = ss_strategy_fill(s, &r, err);
    } else {
        st = ss_fail_memory(err, "the placement of layers", (size_t)s->ops + t->devices);
    }
    ss_free(machine_of_number);
    ss_free(p.first);
    ss_free(p.device);
    ss_free(p.layer);
    ss_free(p.lane);
    return st;
}
