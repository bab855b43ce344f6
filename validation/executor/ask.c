/* ask.c - what a step computed, put together from the devices. */
#include "validation/executor/execution_inside.h"

double ss_execution_loss(const ss_execution *e)
{
    double loss = 0;
    for (uint32_t i = 0; i < e->parts; i++)
        if (e->model->op[e->part[i].op.i].def->kind->is_loss)
            loss += e->part[i].loss;
    return loss;
}

void ss_execution_output(const ss_execution *e, ss_tensor t, float *out)
{
    const ss_tensor_row *row = &e->model->tensor[t.i];
    ss_box whole = ss_box_whole(&row->shape);
    for (uint32_t k = 0; row->producer.i && k < e->strategy->config[row->producer.i].parts; k++) {
        const ss_part_output *x = &ss_part_of(e, row->producer, k)->output[row->slot];
        if (ss_box_empty(&x->box))
            continue;
        ss_copy c = ss_copy_piece(SS_COPY, out, &whole, x->at, &x->box, &x->box);
        ss_copy_do(&c);
    }
}

void ss_execution_weight(const ss_execution *e, ss_weight w, uint32_t holder, bool gradient,
                         float *out)
{
    const ss_lowered *l = e->lowered;
    ss_box whole = ss_box_whole(&e->model->weight[w.i].shape);
    for (uint32_t k = 1; k <= l->shards; k++) {
        const ss_shard *s = &l->shard[k];
        if (s->weight.i != w.i)
            continue;
        const ss_holding *h = &e->holding[s->first_device + holder % s->devices];
        ss_copy c =
            ss_copy_piece(SS_COPY, out, &whole, gradient ? h->gradient : h->at, &s->box, &s->box);
        ss_copy_do(&c);
    }
}

uint32_t ss_execution_holders(const ss_execution *e, ss_weight w)
{
    uint32_t most = 0;
    for (uint32_t k = 1; k <= e->lowered->shards; k++)
        if (e->lowered->shard[k].weight.i == w.i && e->lowered->shard[k].devices > most)
            most = e->lowered->shard[k].devices;
    return most;
}
