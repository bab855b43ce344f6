#include "graph/strategy.h"

#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"

static ss_status reserve_devices(ss_config *c, uint32_t parts, ss_error *err)
{
    return SS_RESERVE(c->device, c->cap, parts, "the devices of an operator's parts", err);
}

static ss_status make(const ss_model *m, const ss_topology *t, uint32_t ops, ss_strategy **out,
                      ss_error *err)
{
    ss_strategy *s = ss_alloc_zeroed(1, sizeof *s);
    if (!s)
        return ss_fail_memory(err, "a strategy", sizeof *s);
    s->model = m;
    s->topology = t;
    s->config = ss_alloc_zeroed((size_t)ops + 1, sizeof *s->config);
    s->pin = ss_alloc_zeroed((size_t)ops + 1, sizeof *s->pin);
    s->pin_degree = ss_alloc_zeroed((size_t)ops + 1, sizeof *s->pin_degree);
    if (!s->config || !s->pin || !s->pin_degree) {
        ss_strategy_free(s);
        return ss_fail_memory(err, "a strategy", ops * sizeof *s->config);
    }
    s->ops = ops;
    *out = s;
    return SS_OK;
}

ss_status ss_strategy_new(const ss_model *m, const ss_topology *t, ss_strategy **out, ss_error *err)
{
    if (!t->devices)
        return ss_fail(err, SS_EINVAL, "topology %s has no device to run model %s on", t->name,
                       m->name);
    ss_strategy *s;
    ss_status st = make(m, t, m->ops, &s, err);
    if (st)
        return st;
    for (uint32_t i = 1; i <= s->ops; i++) {
        ss_config *c = &s->config[i];
        st = reserve_devices(c, 1, err);
        if (st) {
            ss_strategy_free(s);
            return st;
        }
        for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
            c->degree[d] = 1;
        c->parts = 1;
        c->device[0] = (ss_device){1};
    }
    *out = s;
    return SS_OK;
}

ss_status ss_strategy_copy(const ss_strategy *from, ss_strategy **out, ss_error *err)
{
    ss_strategy *s;
    ss_status st = make(from->model, from->topology, from->ops, &s, err);
    if (st)
        return st;
    for (uint32_t i = 1; i <= s->ops; i++) {
        st = ss_config_copy(&from->config[i], &s->config[i], err);
        if (st) {
            ss_strategy_free(s);
            return st;
        }
    }
    memcpy(s->pin, from->pin, ((size_t)s->ops + 1) * sizeof *s->pin);
    memcpy(s->pin_degree, from->pin_degree, ((size_t)s->ops + 1) * sizeof *s->pin_degree);
    *out = s;
    return SS_OK;
}

void ss_strategy_free(ss_strategy *s)
{
    if (!s)
        return;
    for (uint32_t i = 1; i <= s->ops; i++)
        ss_free(s->config[i].device);
    ss_free(s->config);
    ss_free(s->pin);
    ss_free(s->pin_degree);
    ss_free(s);
}

ss_status ss_strategy_set(ss_strategy *s, ss_op op, const uint32_t *degree, uint32_t degrees,
                          const ss_device *device, uint32_t n, ss_error *err)
{
    uint32_t parts;
    ss_status st = ss_strategy_allows(s, op, degree, degrees, device, n, &parts, err);
    if (st)
        return st;
    ss_config *c = &s->config[op.i];
    ss_device first = device[0]; /* `device` may be c->device, which may move */
    st = reserve_devices(c, parts, err);
    if (st)
        return st;

    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        c->degree[d] = d < degrees ? degree[d] : 1;
    c->parts = parts;
    if (n == parts && n > 1)
        memmove(c->device, device, n * sizeof *device);
    else
        for (uint32_t k = 0; k < parts; k++)
            c->device[k] = first;
    return SS_OK;
}

static ss_status check_pinnable(const ss_strategy *s, ss_op op, ss_error *err)
{
    if (op.i < 1 || op.i > s->ops)
        return ss_fail(err, SS_ENOTFOUND, "there is no operator %u: model %s has operators 1 to %u",
                       op.i, s->model->name, s->ops);
    return SS_OK;
}

ss_status ss_strategy_pin(ss_strategy *s, ss_op op, ss_pin what, ss_error *err)
{
    ss_status st = check_pinnable(s, op, err);
    if (!st)
        s->pin[op.i] = (uint8_t)(s->pin[op.i] | (what & SS_PIN_ALL));
    return st;
}

ss_status ss_strategy_pin_degree(ss_strategy *s, ss_op op, uint32_t dim, ss_error *err)
{
    ss_status st = check_pinnable(s, op, err);
    if (st)
        return st;
    const ss_op_row *row = &s->model->op[op.i];
    uint32_t rank = row->def->out[0].rank;
    if (dim >= rank)
        return ss_fail(err, SS_EINVAL, "%s: dimension %u cannot be pinned: its output has %u",
                       row->name, dim + 1, rank);
    s->pin_degree[op.i][dim] = 1;
    return SS_OK;
}

void ss_strategy_unpin(ss_strategy *s, ss_op op)
{
    if (op.i < 1 || op.i > s->ops)
        return;
    s->pin[op.i] = SS_PIN_NONE;
    memset(s->pin_degree[op.i], 0, sizeof s->pin_degree[op.i]);
}

bool ss_strategy_pinned_degree(const ss_strategy *s, ss_op op, uint32_t dim)
{
    return (s->pin[op.i] & SS_PIN_DEGREES) || (dim < SS_MAX_DIMS && s->pin_degree[op.i][dim]);
}

void ss_strategy_part_box(const ss_strategy *s, ss_op op, uint32_t part, ss_box *out)
{
    const ss_op_def *def = s->model->op[op.i].def;
    const ss_config *c = &s->config[op.i];
    assert(part < c->parts);
    out->rank = def->out[0].rank;
    for (uint32_t d = out->rank; d-- > 0;) {
        ss_part_range(def->out[0].extent[d], def->dim[d].grain, c->degree[d], part % c->degree[d],
                      &out->lo[d], &out->hi[d]);
        part /= c->degree[d];
    }
}

bool ss_config_same(const ss_config *a, const ss_config *b)
{
    return a->parts == b->parts && !memcmp(a->degree, b->degree, sizeof a->degree) &&
           !memcmp(a->device, b->device, a->parts * sizeof *a->device);
}

ss_status ss_config_copy(const ss_config *from, ss_config *to, ss_error *err)
{
    ss_status st = reserve_devices(to, from->parts, err);
    if (st)
        return st;
    memcpy(to->degree, from->degree, sizeof to->degree);
    memcpy(to->device, from->device, from->parts * sizeof *to->device);
    to->parts = from->parts;
    return SS_OK;
}

bool ss_strategy_same(const ss_strategy *a, const ss_strategy *b)
{
    if (a->ops != b->ops)
        return false;
    for (uint32_t i = 1; i <= a->ops; i++)
        if (!ss_config_same(&a->config[i], &b->config[i]))
            return false;
    return true;
}
