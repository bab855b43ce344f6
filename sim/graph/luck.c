#include "graph/luck.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"

/* ---- making ready ------------------------------------------------------------------------- */

static ss_status reserve(ss_luck *l, const ss_model *m, const ss_topology *t, ss_error *err)
{
    ss_status s = SS_RESERVE(l->of_op, l->op_cap, (size_t)m->ops + 1, "chance", err);
    size_t devices = (size_t)t->devices + 1;
    if (s || devices <= l->device_cap)
        return s;
    uint32_t cap = ss_grown(l->device_cap, devices);
    if ((s = SS_REGROW(l->on_device, cap, "chance", err)) ||
        (s = SS_REGROW(l->slow, cap, "chance", err)))
        return s;
    l->device_cap = cap;
    return SS_OK;
}

static const ss_draw *set_or_null(const ss_draw *d)
{
    return d->kind == SS_DRAW_NONE ? NULL : d;
}

static void fill_ops(ss_luck *l, const ss_model *m)
{
    const ss_chance *c = l->chance;
    l->of_op[0] = NULL;
    for (uint32_t i = 1; i <= m->ops; i++) {
        l->of_op[i] = set_or_null(&c->draw[SS_LUCK_COMPUTE]);
        for (uint32_t k = 0; k < c->kinds; k++)
            if (!strcmp(c->kind[k].kind, m->op[i].def->kind->name))
                l->of_op[i] = set_or_null(&c->kind[k].draw);
    }
}

static ss_status fill_devices(ss_luck *l, const ss_topology *t, ss_error *err)
{
    const ss_chance *c = l->chance;
    const ss_draw *each = set_or_null(&c->draw[SS_LUCK_DEVICE]);
    for (uint32_t d = 0; d <= t->devices; d++) {
        l->on_device[d] = NULL;
        l->slow[d] = each ? ss_draw_of(each, ss_hash_u64(l->key[SS_LUCK_DEVICE], d)) : 1;
    }
    for (uint32_t i = 0; i < c->devices; i++) {
        const ss_chance_device *x = &c->device[i];
        if (!x->device.i || x->device.i > t->devices)
            return ss_fail(err, SS_EINVAL, "chance names device %s%.0u, and topology %s has %u",
                           x->name ? x->name : "", x->name ? 0 : x->device.i, t->name, t->devices);
        l->on_device[x->device.i] = set_or_null(&x->draw);
        l->slow[x->device.i] *= x->slow;
    }
    return SS_OK;
}

ss_status ss_luck_start(ss_luck *l, const ss_chance *c, uint32_t repetition, const ss_model *m,
                        const ss_topology *t, ss_error *err)
{
    l->chance = NULL;
    if (!c)
        return SS_OK;
    ss_status s = reserve(l, m, t, err);
    if (s)
        return s;
    l->chance = c;
    l->repetition = repetition ? repetition : c->repetition;
    for (uint32_t x = 0; x < SS_LUCKS; x++)
        l->key[x] = ss_chance_bits(c, l->repetition, x);
    fill_ops(l, m);
    s = fill_devices(l, t, err);
    if (s)
        l->chance = NULL;
    return s;
}

void ss_luck_free(ss_luck *l)
{
    ss_free(l->of_op);
    ss_free(l->on_device);
    ss_free(l->slow);
    *l = (ss_luck){0};
}

/* ---- what is drawn ------------------------------------------------------------------------ */

static bool is_of_weight(const ss_task_label *l)
{
    return l->kind == SS_TASK_UPDATE || l->kind == SS_TASK_COLLECTIVE ||
           l->cargo == SS_CARGO_WEIGHT_GRADIENT || l->cargo == SS_CARGO_WEIGHT;
}

static uint64_t pair(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

/* Of weights the row of the shard depends on what else there is, its number in the weight does not;
 * their messages and copies are told apart by devices. */
static uint64_t bits_of(const ss_luck *l, ss_luck_of x, const ss_task_label *label, uint32_t copy)
{
    bool weight = is_of_weight(label);
    uint64_t h = ss_hash_u64(l->key[x], pair(label->kind | (uint32_t)label->cargo << 8, label->op));
    h = ss_hash_u64(h, pair(weight ? 0 : label->part, label->to_part));
    h = ss_hash_u64(h, pair(label->to_op, label->turn));
    return weight ? ss_hash_u64(h, pair(label->from.i, label->to.i) + copy) : h;
}

/* Added to what is there; both are whole picoseconds. */
static ss_status add_seconds(const ss_luck *l, ss_luck_of x, const ss_task_label *label,
                             uint32_t copy, ss_time *sum, ss_error *err)
{
    const ss_draw *d = &l->chance->draw[x];
    ss_time more;
    if (d->kind == SS_DRAW_NONE)
        return SS_OK;
    ss_status s = ss_time_from_seconds(ss_draw_of(d, bits_of(l, x, label, copy)), ss_luck_name(x),
                                       &more, err);
    return s ? s : ss_time_add(*sum, more, sum, err);
}

static ss_status scale(ss_time hold, double factor, ss_time *out, ss_error *err)
{
    *out = hold;
    if (factor == 1) /* beyond 2^53 ps too */
        return SS_OK;
    double scaled = (double)hold * factor;
    if (!(scaled < 0x1p63))
        return ss_fail(err, SS_ERANGE, "a task that takes %g times as long as %g s", factor,
                       ss_time_seconds(hold));
    *out = (ss_time)llrint(scaled);
    return SS_OK;
}

static bool is_of_op(const ss_task_label *label)
{
    return label->kind == SS_TASK_FORWARD || label->kind == SS_TASK_BACKWARD ||
           label->kind == SS_TASK_LUMPED;
}

static ss_status hold_of_compute(const ss_luck *l, const ss_task_label *label, uint32_t device,
                                 ss_time hold, ss_time *out, ss_error *err)
{
    uint32_t copy = label->kind == SS_TASK_UPDATE ? device : 0;
    const ss_draw *d = l->on_device[device];
    if (!d)
        d = is_of_op(label) ? l->of_op[label->op] : set_or_null(&l->chance->draw[SS_LUCK_COMPUTE]);
    double factor = d ? ss_draw_of(d, bits_of(l, SS_LUCK_COMPUTE, label, copy)) : 1;
    ss_status s = scale(hold, factor * l->slow[device], out, err);
    return s ? s : add_seconds(l, SS_LUCK_LAUNCH, label, copy, out, err);
}

ss_status ss_luck_of_message(const ss_luck *l, const ss_task_label *label, ss_luck_message *out,
                             ss_error *err)
{
    *out = (ss_luck_message){.factor = 1};
    if (!l || !l->chance)
        return SS_OK;
    const ss_draw *d = set_or_null(&l->chance->draw[SS_LUCK_TRANSFER]);
    if (d)
        out->factor = ss_draw_of(d, bits_of(l, SS_LUCK_TRANSFER, label, 0));
    ss_status s = add_seconds(l, SS_LUCK_MESSAGE, label, 0, &out->more, err);
    if (s || label->kind != SS_TASK_COLLECTIVE)
        return s;
    if (label->turn && out->more > SS_TIME_MAX / label->turn)
        return ss_fail(err, SS_ERANGE, "the overheads of %u messages", label->turn);
    out->more *= label->turn;
    return SS_OK;
}

ss_status ss_luck_hold(const ss_luck *l, const ss_task_label *label, uint32_t where, ss_time hold,
                       ss_time *out, ss_error *err)
{
    *out = hold;
    if (!l || !l->chance || !hold || label->kind == SS_TASK_BARRIER ||
        label->kind == SS_TASK_TRANSFER)
        return SS_OK;
    if (label->kind != SS_TASK_COLLECTIVE)
        return hold_of_compute(l, label, where, hold, out, err);
    ss_luck_message m;
    ss_status s = ss_luck_of_message(l, label, &m, err);
    if (!s)
        s = scale(hold, m.factor, out, err);
    return s ? s : ss_time_add(*out, m.more, out, err);
}
