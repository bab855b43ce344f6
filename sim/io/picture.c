/* picture.c - a strategy's picture from the strategy itself. */
#include "io/picture.h"

#include <string.h>

#include "base/text.h"

void ss_picture_free(ss_picture *p)
{
    if (p)
        ss_arena_free(&p->arena);
    if (p)
        *p = (ss_picture){0};
}

char ss_picture_class(const ss_picture_op *op, uint32_t dim)
{
    const char *at = op->dimensions;
    for (uint32_t d = 0; at; d++) {
        const char *colon = strchr(at, ':');
        if (d == dim)
            return colon && colon[1] ? colon[1] : SS_DIM_WHOLE;
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return SS_DIM_WHOLE;
}

static void *take(ss_arena *a, size_t n, size_t each, ss_error *err)
{
    size_t bytes = (n ? n : 1) * each;
    void *at = ss_arena_take(a, bytes);
    if (at)
        memset(at, 0, bytes);
    else
        ss_fail_memory(err, "the picture of a strategy", bytes);
    return at;
}

static const char *keep(ss_arena *a, const char *text, ss_error *err)
{
    size_t n = strlen(text) + 1;
    char *at = take(a, n, 1, err);
    return at ? memcpy(at, text, n) : NULL;
}

static ss_status describe_op(ss_picture *p, const ss_strategy *s, uint32_t i, ss_error *err)
{
    const ss_op_row *row = &s->model->op[i];
    const ss_config *c = &s->config[i];
    ss_picture_op *op = &p->op[i];
    ss_text text = {0};
    for (uint32_t d = 0; d < row->def->out[0].rank; d++)
        ss_text_add(&text, "%s%s:%c", d ? " " : "", row->def->dim[d].name,
                    (char)row->def->dim[d].cls);
    ss_status status = ss_text_status(&text, err);
    op->name = status ? NULL : keep(&p->arena, row->name, err);
    op->share = status ? NULL : keep(&p->arena, row->share ? row->share : "", err);
    op->dimensions = status ? NULL : keep(&p->arena, ss_text_get(&text), err);
    ss_text_free(&text);
    if (!op->name || !op->share || !op->dimensions)
        return status ? status : SS_ENOMEM;
    memcpy(op->degree, c->degree, sizeof op->degree);
    op->layer = row->layer;
    op->parts = c->parts;
    op->first = p->parts;
    for (uint32_t k = 0; k < c->parts; k++)
        p->part[p->parts++] = c->device[k].i;
    return SS_OK;
}

static void add_edges(ss_picture *p, const ss_model *m)
{
    for (uint32_t t = 1; t <= m->tensors; t++)
        for (uint32_t u = m->tensor[t].first_use; u; u = m->use[u].next)
            p->edge[p->edges++] = (ss_picture_edge){m->tensor[t].producer.i, m->use[u].op.i};
}

static ss_status fill(ss_picture *p, const ss_strategy *s, const char *name, ss_error *err)
{
    const ss_model *m = s->model;
    const ss_topology *t = s->topology;
    size_t parts = 0;
    for (uint32_t i = 1; i <= s->ops; i++)
        parts += s->config[i].parts;
    p->model = keep(&p->arena, m->name, err);
    p->topology = keep(&p->arena, t->name, err);
    p->strategy = keep(&p->arena, name, err);
    p->op = take(&p->arena, s->ops + (size_t)1, sizeof *p->op, err);
    p->device = take(&p->arena, t->devices + (size_t)1, sizeof *p->device, err);
    p->part = take(&p->arena, parts, sizeof *p->part, err);
    p->edge = take(&p->arena, m->uses, sizeof *p->edge, err);
    if (!p->model || !p->topology || !p->strategy || !p->op || !p->device || !p->part || !p->edge)
        return SS_ENOMEM;
    ss_status status = SS_OK;
    p->ops = s->ops;
    p->devices = t->devices;
    for (uint32_t d = 1; !status && d <= t->devices; d++) {
        const char *device = keep(&p->arena, ss_topology_device_name(t, (ss_device){d}), err);
        status = device ? SS_OK : SS_ENOMEM;
        p->device[d] = (ss_picture_device){device, t->device[d].def.machine};
    }
    for (uint32_t i = 1; !status && i <= s->ops; i++)
        status = describe_op(p, s, i, err);
    if (!status)
        add_edges(p, m);
    return status;
}

ss_status ss_picture_of(const ss_strategy *s, const char *name, ss_picture *out, ss_error *err)
{
    ss_picture p = {0};
    ss_status status = fill(&p, s, name, err);
    if (status)
        ss_picture_free(&p);
    else
        *out = p;
    return status;
}
