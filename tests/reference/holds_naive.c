/* What is held in memory, from the words of lower.h and lower_memory.c, by looking at every pair of
 * parts and every message. */
#include "reference/lower_naive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct held {
    const ss_model *m;
    const ss_strategy *s;
    const ss_lower_options *o;
    const naive_lowered *l;
    naive_holds *out;
    uint32_t *until; /* of the hold at hand */
    uint32_t untils;
} held;

/* ---- lines ------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void write_line(naive_holds *h, ss_held what, uint32_t device, int64_t bytes, uint32_t from,
                       uint32_t *until, uint32_t n)
{
    char *line = malloc(100 + 12 * (size_t)n);
    int at = sprintf(line, "%s on %u: %lld bytes from %u until", ss_held_name(what), device,
                     (long long)bytes, from);
    if (n)
        qsort(until, n, sizeof *until, by_number);
    for (uint32_t i = 0; i < n; i++)
        at += sprintf(line + at, " %u", until[i]);
    h->line = realloc(h->line, (h->n + (size_t)1) * sizeof *h->line);
    h->line[h->n++] = line;
}

void naive_holds_of(const ss_holds *h, naive_holds *out)
{
    *out = (naive_holds){0};
    for (uint32_t i = 0; i < h->n; i++) {
        const ss_hold *x = &h->hold[i];
        uint32_t *until = malloc(sizeof *until * (x->untils + (size_t)1));
        for (uint32_t u = 0; u < x->untils; u++)
            until[u] = h->until[x->first_until + u].i;
        write_line(out, x->what, x->device.i, x->bytes, x->from.i, until, x->untils);
        free(until);
    }
    if (out->n)
        qsort(out->line, out->n, sizeof *out->line, by_text);
}

void naive_holds_free(naive_holds *h)
{
    for (uint32_t i = 0; i < h->n; i++)
        free(h->line[i]);
    free(h->line);
    *h = (naive_holds){0};
}

static void until(held *h, uint32_t task)
{
    h->until = realloc(h->until, (h->untils + (size_t)1) * sizeof *h->until);
    h->until[h->untils++] = task;
}

/* Ends the hold at hand. */
static void hold(held *h, ss_held what, uint32_t device, int64_t bytes, uint32_t from)
{
    write_line(h->out, what, device, bytes, from, h->until, h->untils);
    h->untils = 0;
}

/* ---- parts ------------------------------------------------------------------------------- */

static const ss_op_def *def(const held *h, uint32_t op)
{
    return h->m->op[op].def;
}

static uint32_t parts(const held *h, uint32_t op)
{
    return h->s->config[op].parts;
}

static uint32_t device(const held *h, uint32_t op, uint32_t part)
{
    return h->s->config[op].device[part].i;
}

static uint32_t forward(const held *h, uint32_t op, uint32_t part)
{
    return h->l->forward[op] + part;
}

static uint32_t backward(const held *h, uint32_t op, uint32_t part)
{
    return h->l->backward[op] ? h->l->backward[op] + part : 0;
}

static ss_box made(const held *h, uint32_t op, uint32_t slot, uint32_t part)
{
    ss_box main, box;
    ss_strategy_part_box(h->s, (ss_op){op}, part, &main);
    ss_op_output_box(def(h, op), slot, &main, &box);
    return box;
}

static ss_box needed(const held *h, uint32_t op, uint32_t input, uint32_t part)
{
    ss_box main, box;
    ss_strategy_part_box(h->s, (ss_op){op}, part, &main);
    ss_op_input_box(def(h, op), input, &main, &box);
    return box;
}

static int64_t bytes_of(const ss_box *b, ss_dtype type)
{
    return ss_box_elements(b) * ss_dtype_bytes(type);
}

static const ss_tensor_row *read_by(const held *h, uint32_t j, uint32_t v)
{
    return &h->m->tensor[h->m->op[j].in[v].i];
}

/* Elements that part q of j reads, as input v, of what part p makes; 0: nothing. */
static int64_t joined(const held *h, uint32_t j, uint32_t v, uint32_t p, uint32_t q)
{
    const ss_tensor_row *t = read_by(h, j, v);
    ss_box a = made(h, t->producer.i, t->slot, p), b = needed(h, j, v, q), both;
    return ss_box_intersect(&a, &b, &both) ? ss_box_elements(&both) : 0;
}

/* The message between two parts, or that which it travels with; NULL: none. */
static const naive_message *message(const held *h, ss_cargo cargo, uint32_t j, uint32_t v,
                                    uint32_t p, uint32_t q)
{
    const naive_message *found = NULL;
    bool here = device(h, read_by(h, j, v)->producer.i, p) == device(h, j, q); /* a gather, if any */
    if (!joined(h, j, v, p, q))
        return NULL;
    for (uint32_t k = 0; k < h->l->messages && !found; k++) {
        const naive_message *x = &h->l->message[k];
        if (x->cargo == cargo && x->j == j && x->v == v && x->p == p &&
            device(h, j, x->q) == device(h, j, q) &&
            (x->q == q || (!here && h->o->coalesce == SS_COALESCE_PER_DEVICE)))
            found = x;
    }
    return found;
}

/* Whether part q of a view is a part of one part's output, which is then *p, or of the data. */
static bool viewed(const held *h, uint32_t j, uint32_t q, uint32_t *p)
{
    uint32_t pieces = 0, feeds = 0;
    if (!def(h, j)->kind->view)
        return false;
    for (uint32_t v = 0; v < def(h, j)->inputs; v++) {
        uint32_t i = read_by(h, j, v)->producer.i;
        feeds += i != 0;
        for (uint32_t k = 0; i && k < parts(h, i); k++)
            if (joined(h, j, v, k, q)) {
                pieces++;
                *p = k;
            }
    }
    return feeds == 0 || (feeds == 1 && pieces == 1);
}

/* ---- activations ------------------------------------------------------------------------- */

static void until_sent(held *h, const naive_message *x)
{
    for (uint32_t i = 0; i < x->segments; i++)
        until(h, x->first + i);
}

static void until_readers(held *h, uint32_t i, uint32_t slot, uint32_t p);

static void until_read(held *h, uint32_t j, uint32_t q)
{
    uint32_t p;
    until(h, def(h, j)->keeps_input && backward(h, j, q) ? backward(h, j, q) : forward(h, j, q));
    if (viewed(h, j, q, &p))
        until_readers(h, j, 0, q);
}

static void until_readers(held *h, uint32_t i, uint32_t slot, uint32_t p)
{
    if (def(h, i)->keeps_output && backward(h, i, p))
        until(h, backward(h, i, p));
    for (uint32_t j = 1; j <= h->m->ops; j++)
        for (uint32_t v = 0; v < def(h, j)->inputs; v++) {
            if (read_by(h, j, v)->producer.i != i || read_by(h, j, v)->slot != slot)
                continue;
            for (uint32_t q = 0; q < parts(h, j); q++) {
                const naive_message *x = message(h, SS_CARGO_ACTIVATION, j, v, p, q);
                if (x && x->q == q)
                    until_sent(h, x);
                else if (!x && joined(h, j, v, p, q))
                    until_read(h, j, q);
            }
        }
}

static void hold_outputs(held *h, uint32_t i, uint32_t p)
{
    uint32_t from;
    for (uint32_t slot = 0; slot < def(h, i)->outputs && !viewed(h, i, p, &from); slot++) {
        ss_box box = made(h, i, slot, p);
        until_readers(h, i, slot, p);
        if (!h->untils)
            until(h, forward(h, i, p));
        hold(h, SS_HELD_ACTIVATIONS, device(h, i, p), bytes_of(&box, def(h, i)->out[slot].dtype),
             forward(h, i, p));
    }
    ss_box main = made(h, i, 0, p);
    double saved = ss_op_saved_bytes(def(h, i), &main);
    if (saved > 0 && backward(h, i, p)) {
        until(h, backward(h, i, p));
        hold(h, SS_HELD_ACTIVATIONS, device(h, i, p), (int64_t)saved, forward(h, i, p));
    }
}

static void hold_copy(held *h, const naive_message *x)
{
    for (uint32_t q = 0; q < parts(h, x->j); q++)
        if (message(h, SS_CARGO_ACTIVATION, x->j, x->v, x->p, q) == x)
            until_read(h, x->j, q);
    hold(h, SS_HELD_ACTIVATIONS, device(h, x->j, x->q), x->bytes, x->arrival);
}

/* Data: a box that several parts on one device read is there once. */
static void hold_data(held *h, uint32_t tensor)
{
    for (uint32_t j = h->m->ops; j > 0; j--)
        for (uint32_t v = def(h, j)->inputs; v-- > 0;)
            for (uint32_t q = parts(h, j); q-- > 0;) {
                ss_box box = needed(h, j, v, q);
                bool later = false;
                if (h->m->op[j].in[v].i != tensor || ss_box_empty(&box))
                    continue;
                for (uint32_t k = 1; k <= h->m->ops; k++)
                    for (uint32_t u = 0; u < def(h, k)->inputs; u++)
                        for (uint32_t r = 0; r < parts(h, k); r++) {
                            ss_box other = needed(h, k, u, r);
                            if (h->m->op[k].in[u].i != tensor || !ss_box_same(&box, &other) ||
                                device(h, k, r) != device(h, j, q))
                                continue;
                            later |= k > j || (k == j && (u > v || (u == v && r > q)));
                            until_read(h, k, r);
                        }
                if (later) /* it has been told */
                    h->untils = 0;
                else
                    hold(h, SS_HELD_ACTIVATIONS, device(h, j, q),
                         bytes_of(&box, h->m->tensor[tensor].shape.dtype), 0);
            }
}

/* ---- gradients --------------------------------------------------------------------------- */

static uint32_t sum_of(const held *h, uint32_t i, uint32_t p)
{
    return h->l->sum[i] ? h->l->sum[i][p] : 0;
}

static void until_sent_back(held *h, const naive_message *x)
{
    if (x->sum)
        until(h, x->sum);
    else
        until_sent(h, x);
}

static void until_used(held *h, uint32_t i, uint32_t p)
{
    uint32_t from;
    until(h, sum_of(h, i, p) ? sum_of(h, i, p) : backward(h, i, p));
    if (sum_of(h, i, p) || !viewed(h, i, p, &from))
        return;
    for (uint32_t v = 0; v < def(h, i)->inputs; v++) {
        uint32_t before = read_by(h, i, v)->producer.i;
        if (!before || !h->l->backward[before])
            continue;
        const naive_message *x = message(h, SS_CARGO_GRADIENT, i, v, from, p);
        if (x)
            until_sent_back(h, x);
        else
            until_used(h, before, from);
    }
}

/* From where it arises to where it is used. */
static void hold_gradient(held *h, uint32_t j, uint32_t v, uint32_t p, uint32_t q)
{
    const naive_message *x = message(h, SS_CARGO_GRADIENT, j, v, p, q);
    uint32_t i = read_by(h, j, v)->producer.i, from;
    int64_t bytes = joined(h, j, v, p, q) * ss_dtype_bytes(def(h, j)->in[v].dtype);
    if (!viewed(h, j, q, &from) || sum_of(h, j, q)) {
        if (x)
            until_sent_back(h, x);
        else
            until_used(h, i, p);
        hold(h, SS_HELD_GRADIENTS, device(h, j, q), bytes, backward(h, j, q));
    }
    if (!x || x->q != q)
        return;
    if (x->sum) {
        until_sent(h, x);
        hold(h, SS_HELD_GRADIENTS, device(h, j, q), x->bytes, x->sum);
    }
    until_used(h, i, p);
    hold(h, SS_HELD_GRADIENTS, device(h, i, p), x->bytes, x->arrival);
}

static void hold_gradients(held *h, uint32_t j, uint32_t v)
{
    uint32_t i = read_by(h, j, v)->producer.i;
    if (!i || !h->l->backward[i] || !h->l->backward[j] || def(h, j)->kind->no_input_gradient)
        return;
    for (uint32_t p = 0; p < parts(h, i); p++)
        for (uint32_t q = 0; q < parts(h, j); q++)
            if (joined(h, j, v, p, q))
                hold_gradient(h, j, v, p, q);
}

static void hold_sum(held *h, uint32_t i, uint32_t p)
{
    int64_t bytes = 0;
    if (!sum_of(h, i, p))
        return;
    for (uint32_t slot = 0; slot < def(h, i)->outputs; slot++) {
        ss_box box = made(h, i, slot, p);
        bool wanted = false;
        for (uint32_t j = 1; j <= h->m->ops; j++)
            for (uint32_t v = 0; v < def(h, j)->inputs; v++)
                wanted |= read_by(h, j, v)->producer.i == i && read_by(h, j, v)->slot == slot &&
                          !def(h, j)->kind->no_input_gradient;
        bytes += wanted ? bytes_of(&box, def(h, i)->out[slot].dtype) : 0;
    }
    until(h, backward(h, i, p));
    hold(h, SS_HELD_GRADIENTS, device(h, i, p), bytes, sum_of(h, i, p));
}

/* ---- all --------------------------------------------------------------------------------- */

static void hold_weights(held *h)
{
    for (uint32_t k = 0; k < h->l->shards; k++) {
        const naive_shard *x = &h->l->shard[k];
        int64_t bytes = bytes_of(&x->box, h->m->weight[x->weight].shape.dtype);
        double state = (double)bytes * h->m->optimizer_bytes_per_weight_byte;
        for (uint32_t r = 0; r < x->devices; r++) {
            hold(h, SS_HELD_WEIGHTS, x->device[r], bytes, 0);
            if (h->o->training)
                hold(h, SS_HELD_WEIGHT_GRADIENTS, x->device[r], bytes, 0);
            if (h->o->training && state > 0 && (r == 0 || h->o->sync != SS_SYNC_PARAMETER_SERVER))
                hold(h, SS_HELD_OPTIMIZER, x->device[r], (int64_t)state, 0);
        }
    }
}

void naive_hold(const ss_model *m, const ss_strategy *s, const ss_lower_options *o,
                const naive_lowered *l, naive_holds *out)
{
    held h = {m, s, o, l, out, NULL, 0};
    *out = (naive_holds){0};
    hold_weights(&h);
    for (uint32_t t = 1; t <= m->tensors; t++)
        if (!m->tensor[t].producer.i)
            hold_data(&h, t);
    for (uint32_t i = 1; i <= m->ops; i++)
        for (uint32_t p = 0; p < parts(&h, i); p++)
            hold_outputs(&h, i, p);
    for (uint32_t k = 0; k < l->messages; k++)
        if (l->message[k].cargo == SS_CARGO_ACTIVATION)
            hold_copy(&h, &l->message[k]);
    for (uint32_t j = 1; j <= m->ops; j++)
        for (uint32_t v = 0; v < def(&h, j)->inputs; v++)
            hold_gradients(&h, j, v);
    for (uint32_t i = 1; i <= m->ops; i++)
        for (uint32_t p = 0; p < parts(&h, i); p++)
            hold_sum(&h, i, p);
    free(h.until);
    if (out->n)
        qsort(out->line, out->n, sizeof *out->line, by_text);
}
