/* lower_memory.c - what is held in memory, from when until when.
 *
 * Weights, gradients of weights and optimizer state are there all the time.  Everything else
 * follows from the pieces that parts give each other: what a part makes is held until the last of
 * its readers has ended or the message that carries it has left; what arrives is held from the last
 * hop of its message until its readers have ended.  Readers are forward tasks, or the backward
 * tasks of operators that keep their input.  A view (flatten) whose part is one piece of another
 * tensor has no memory of its own: its readers hold that piece, and its gradient is the one that it
 * got.
 *
 * Gradients that meet are each held until the task that adds them up, or, where adding is free,
 * until the backward task that reads the sum.  The data that a step reads are held from its
 * beginning.
 */
#include "graph/lowering.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"

static const char *const held_names[SS_HELD_KINDS] = {"weights", "weight_gradients", "optimizer",
                                                      "activations", "gradients"};

const char *ss_held_name(ss_held h)
{
    return (unsigned)h < SS_HELD_KINDS ? held_names[h] : "unknown";
}

typedef struct holding {
    const ss_model *m;
    const ss_strategy *strategy;
    const ss_lowered *l;
    const struct ss_lower_scratch *s;
    ss_holds *out;
    ss_error *err;
    ss_status status; /* once it is not SS_OK, nothing more is added */
} holding;

static ss_device device_of(const holding *h, ss_op op, uint32_t part)
{
    return h->strategy->config[op.i].device[part];
}

static uint32_t backward_of(const holding *h, ss_op op, uint32_t part)
{
    uint32_t first = h->l->backward[op.i].i;
    return first ? first + part : 0;
}

/* Opens a hold; its ends follow by until(). */
static void hold(holding *h, ss_held what, ss_device device, int64_t bytes, uint32_t from)
{
    ss_holds *o = h->out;
    if (!h->status)
        h->status = SS_RESERVE(o->hold, o->cap, (size_t)o->n + 1, "memory held", h->err);
    if (!h->status)
        o->hold[o->n++] = (ss_hold){what, device, bytes, {from}, o->untils, 0};
}

static void until(holding *h, uint32_t task)
{
    ss_holds *o = h->out;
    if (!h->status)
        h->status =
            SS_RESERVE(o->until, o->until_cap, (size_t)o->untils + 1, "memory held", h->err);
    if (h->status)
        return;
    o->until[o->untils++].i = task;
    o->hold[o->n - 1].untils++;
}

/* Until every segment of a message has left. */
static void until_sent(holding *h, uint32_t sent)
{
    const ss_sent *m = &h->s->sent[sent];
    for (uint32_t i = 0; i < m->arrivals; i++)
        until(h, m->first + i);
}

static int64_t output_bytes(const holding *h, ss_op op, uint32_t slot, uint32_t part)
{
    const ss_op_def *def = h->m->op[op.i].def;
    ss_box main, out;
    ss_strategy_part_box(h->strategy, op, part, &main);
    ss_op_output_box(def, slot, &main, &out);
    return ss_box_elements(&out) * ss_dtype_bytes(def->out[slot].dtype);
}

/* ---- pieces by their ends ---------------------------------------------------------------- */

/* The first place in by_from at which the feed's pieces are of part p or later. */
static uint32_t first_given(const struct ss_lower_scratch *s, const ss_feed *f, uint32_t p)
{
    uint32_t lo = f->first, hi = f->first + f->pieces;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (s->piece[s->by_from[mid]].from < p)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Whether a part is a view: of the one piece *at that it is made of, or, *at being 0, of the data.
 * A view that is put together from several pieces is a copy like any other output. */
static bool is_view(const holding *h, ss_op op, uint32_t part, uint32_t *at)
{
    const struct ss_lower_scratch *s = h->s;
    uint32_t row = s->first_feed[op.i], feeds = s->first_feed[op.i + 1] - row;
    *at = 0;
    if (!h->m->op[op.i].def->kind->view || feeds > 1)
        return false;
    if (!feeds)
        return true;
    uint32_t end = s->feed[row].first + s->feed[row].pieces;
    uint32_t lo = s->feed[row].first, hi = end;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (s->piece[mid].to < part)
            lo = mid + 1;
        else
            hi = mid;
    }
    *at = lo;
    return lo < end && s->piece[lo].to == part && (lo + 1 == end || s->piece[lo + 1].to != part);
}

/* ---- activations ------------------------------------------------------------------------- */

static void until_readers(holding *h, ss_op op, uint32_t slot, uint32_t p);

/* Until part q has read its input, now and in backward; if it is a view, until its readers have. */
static void until_read(holding *h, ss_op op, uint32_t q)
{
    uint32_t at, back = h->m->op[op.i].def->keeps_input ? backward_of(h, op, q) : 0;
    until(h, back ? back : h->l->forward[op.i].i + q);
    if (is_view(h, op, q, &at))
        until_readers(h, op, 0, q);
}

/* Until all that read a slot of part p have, or have been sent it. */
static void until_readers(holding *h, ss_op op, uint32_t slot, uint32_t p)
{
    const struct ss_lower_scratch *s = h->s;
    if (h->m->op[op.i].def->keeps_output && backward_of(h, op, p))
        until(h, backward_of(h, op, p));
    for (uint32_t u = s->first_use[op.i]; u < s->first_use[op.i + 1]; u++) {
        const ss_feed *f = &s->feed[s->use[u]];
        if (f->slot != slot)
            continue;
        for (uint32_t i = first_given(s, f, p); i < f->first + f->pieces; i++) {
            uint32_t at = s->by_from[i];
            const ss_piece *piece = &s->piece[at];
            if (piece->from != p)
                break;
            if (!piece->forward)
                until_read(h, f->to, piece->to);
            else if (piece->lead == at)
                until_sent(h, piece->forward);
        }
    }
}

static void hold_outputs(holding *h, ss_op op, uint32_t p)
{
    const ss_op_def *def = h->m->op[op.i].def;
    uint32_t forward = h->l->forward[op.i].i + p, back = backward_of(h, op, p), at;
    uint32_t outputs = is_view(h, op, p, &at) ? 0 : def->outputs;
    for (uint32_t slot = 0; slot < outputs; slot++) {
        hold(h, SS_HELD_ACTIVATIONS, device_of(h, op, p), output_bytes(h, op, slot, p), forward);
        until_readers(h, op, slot, p);
        if (!h->status && !h->out->hold[h->out->n - 1].untils)
            until(h, forward); /* nobody wants it */
    }
    ss_box main;
    ss_strategy_part_box(h->strategy, op, p, &main);
    double saved = ss_op_saved_bytes(def, &main);
    if (back && saved > 0) {
        hold(h, SS_HELD_ACTIVATIONS, device_of(h, op, p), (int64_t)saved, forward);
        until(h, back);
    }
}

/* What arrives through a feed. */
static void hold_copies(holding *h, const ss_feed *f)
{
    const struct ss_lower_scratch *s = h->s;
    for (uint32_t at = f->first; at < f->first + f->pieces; at++) {
        const ss_piece *piece = &s->piece[at];
        if (!piece->forward || piece->lead != at)
            continue;
        const ss_sent *sent = &s->sent[piece->forward];
        hold(h, SS_HELD_ACTIVATIONS, device_of(h, f->to, piece->to), sent->bytes, sent->arrival);
        for (uint32_t i = at; i; i = s->piece[i].next)
            until_read(h, f->to, s->piece[i].to);
    }
}

/* ---- gradients of activations ------------------------------------------------------------ */

/* The task that adds up what reaches part p, or 0. */
static uint32_t sum_of(const holding *h, ss_op op, uint32_t p)
{
    const ss_tasks *t = &h->l->tasks;
    uint32_t back = backward_of(h, op, p), second = t->first_in[back] + 1;
    bool sums = h->l->options.partial_sums || h->l->options.gather;
    if (!sums || second >= t->first_in[back + 1])
        return 0;
    const ss_task_label *l = &t->label[t->in[second]];
    return l->kind == SS_TASK_ACCUMULATE && l->op == op.i && l->part == p && !l->to_op
               ? t->in[second]
               : 0;
}

/* The task that adds up a message's gradients before it leaves, or 0. */
static uint32_t sum_before(const holding *h, uint32_t sent)
{
    const ss_tasks *t = &h->l->tasks;
    uint32_t before = t->in[t->first_in[h->s->sent[sent].first]];
    return t->label[before].kind == SS_TASK_ACCUMULATE ? before : 0;
}

/* Until a gradient that goes back as part of a message has left, or gone into a sum. */
static void until_sent_back(holding *h, uint32_t sent)
{
    uint32_t sum = sum_before(h, sent);
    if (sum)
        until(h, sum);
    else
        until_sent(h, sent);
}

/* Until part p has used the gradient of its output: a view hands it on. */
static void until_used(holding *h, ss_op op, uint32_t p)
{
    uint32_t sum = sum_of(h, op, p), at;
    until(h, sum ? sum : backward_of(h, op, p));
    if (sum || !is_view(h, op, p, &at))
        return;
    const ss_feed *f = &h->s->feed[h->s->first_feed[op.i]]; /* of a view that has a gradient */
    if (!h->s->needs[f->from.i])
        return;
    if (h->s->piece[at].backward)
        until_sent_back(h, h->s->piece[at].backward);
    else
        until_used(h, f->from, h->s->piece[at].from);
}

/* The gradient of one piece where it arises. */
static void hold_gradient(holding *h, const ss_feed *f, const ss_piece *piece)
{
    uint32_t at;
    if (is_view(h, f->to, piece->to, &at) && !sum_of(h, f->to, piece->to))
        return;
    hold(h, SS_HELD_GRADIENTS, device_of(h, f->to, piece->to), piece->bytes,
         backward_of(h, f->to, piece->to));
    if (piece->backward)
        until_sent_back(h, piece->backward);
    else
        until_used(h, f->from, piece->from);
}

static void hold_gradients(holding *h, const ss_feed *f)
{
    const struct ss_lower_scratch *s = h->s;
    if (!s->needs[f->from.i] || h->m->op[f->to.i].def->kind->no_input_gradient)
        return;
    for (uint32_t at = f->first; at < f->first + f->pieces; at++) {
        const ss_piece *piece = &s->piece[at];
        hold_gradient(h, f, piece);
        if (!piece->backward || piece->lead != at)
            continue;
        const ss_sent *sent = &s->sent[piece->backward];
        uint32_t sum = sum_before(h, piece->backward);
        if (sum) {
            hold(h, SS_HELD_GRADIENTS, device_of(h, f->to, piece->to), sent->bytes, sum);
            until_sent(h, piece->backward);
        }
        hold(h, SS_HELD_GRADIENTS, device_of(h, f->from, piece->from), sent->bytes, sent->arrival);
        until_used(h, f->from, piece->from);
    }
}

/* Bytes of the outputs of a part that a gradient comes back for. */
static int64_t gradient_bytes(const holding *h, ss_op op, uint32_t p)
{
    const struct ss_lower_scratch *s = h->s;
    bool counted[SS_MAX_OUTPUTS] = {false};
    int64_t bytes = 0;
    for (uint32_t u = s->first_use[op.i]; u < s->first_use[op.i + 1]; u++) {
        const ss_feed *f = &s->feed[s->use[u]];
        if (counted[f->slot] || h->m->op[f->to.i].def->kind->no_input_gradient)
            continue;
        counted[f->slot] = true;
        bytes += output_bytes(h, op, f->slot, p);
    }
    return bytes;
}

/* The sums themselves, each as large as what it is the gradient of. */
static void hold_sums(holding *h, ss_op op)
{
    for (uint32_t p = 0; p < h->strategy->config[op.i].parts; p++) {
        uint32_t sum = sum_of(h, op, p);
        if (!sum)
            continue;
        hold(h, SS_HELD_GRADIENTS, device_of(h, op, p), gradient_bytes(h, op, p), sum);
        until(h, backward_of(h, op, p));
    }
}

/* ---- data that the step reads ------------------------------------------------------------ */

/* A part that reads an input of the model. */
typedef struct reader {
    ss_op op;
    uint32_t part;
    ss_box box;
    uint32_t next; /* on the same device, from 1 */
    bool held;     /* with an equal box before it */
} reader;

static uint32_t count_readers(const holding *h, ss_tensor t)
{
    uint32_t n = 0;
    for (uint32_t u = h->m->tensor[t.i].first_use; u; u = h->m->use[u].next)
        n += h->strategy->config[h->m->use[u].op.i].parts;
    return n;
}

/* Fills row[1 ..], chained by device from last[device] backwards. */
static void list_readers(const holding *h, ss_tensor t, reader *row, uint32_t *last)
{
    uint32_t n = 0;
    for (uint32_t u = h->m->tensor[t.i].first_use; u; u = h->m->use[u].next) {
        ss_op op = h->m->use[u].op;
        for (uint32_t p = 0; p < h->strategy->config[op.i].parts; p++) {
            reader *r = &row[++n];
            ss_box main;
            ss_strategy_part_box(h->strategy, op, p, &main);
            ss_op_input_box(h->m->op[op.i].def, h->m->use[u].input, &main, &r->box);
            r->op = op;
            r->part = p;
            r->held = false;
            r->next = last[device_of(h, op, p).i];
            last[device_of(h, op, p).i] = n;
        }
    }
}

/* On one device, parts that read the same box read the same memory. */
static void hold_boxes(holding *h, ss_tensor t, reader *row, uint32_t last)
{
    int64_t element = ss_dtype_bytes(h->m->tensor[t.i].shape.dtype);
    for (uint32_t i = last; i; i = row[i].next) {
        if (row[i].held || ss_box_empty(&row[i].box))
            continue;
        hold(h, SS_HELD_ACTIVATIONS, device_of(h, row[i].op, row[i].part),
             ss_box_elements(&row[i].box) * element, 0);
        for (uint32_t k = i; k; k = row[k].next) {
            if (row[k].held || !ss_box_same(&row[k].box, &row[i].box))
                continue;
            row[k].held = true;
            until_read(h, row[k].op, row[k].part);
        }
    }
}

static void hold_data(holding *h, ss_tensor t)
{
    uint32_t n = count_readers(h, t), devices = h->strategy->topology->devices;
    size_t bytes = ((size_t)n + 1) * sizeof(reader);
    reader *row = ss_alloc(bytes);
    uint32_t *last = ss_alloc_zeroed((size_t)devices + 1, sizeof *last);
    if (!row || !last)
        h->status = ss_fail_memory(h->err, "memory held", bytes);
    if (!h->status) {
        list_readers(h, t, row, last);
        for (uint32_t d = 1; d <= devices; d++)
            hold_boxes(h, t, row, last[d]);
    }
    ss_free(row);
    ss_free(last);
}

/* ---- all --------------------------------------------------------------------------------- */

static void hold_weights(holding *h)
{
    const ss_lowered *l = h->l;
    double state = h->m->optimizer_bytes_per_weight_byte;
    for (uint32_t k = 1; k <= l->shards; k++) {
        const ss_shard *x = &l->shard[k];
        for (uint32_t r = 0; r < x->devices; r++) {
            ss_device d = l->shard_device[x->first_device + r];
            bool updates = l->options.sync != SS_SYNC_PARAMETER_SERVER || r == 0;
            hold(h, SS_HELD_WEIGHTS, d, x->bytes, 0);
            if (!l->options.training)
                continue;
            hold(h, SS_HELD_WEIGHT_GRADIENTS, d, x->bytes, 0);
            if (updates && state > 0)
                hold(h, SS_HELD_OPTIMIZER, d, (int64_t)((double)x->bytes * state), 0);
        }
    }
}

ss_status ss_lower_holds(const ss_model *m, const ss_strategy *s, const ss_lowered *l,
                         ss_holds *out, ss_error *err)
{
    holding h = {.m = m, .strategy = s, .l = l, .s = l->scratch, .out = out, .err = err};
    const struct ss_lower_scratch *w = l->scratch;
    bool backward = l->options.training && !l->options.lumped;
    out->n = out->untils = 0;
    hold_weights(&h);
    for (uint32_t t = 1; t <= m->tensors && !h.status; t++)
        if (!m->tensor[t].producer.i)
            hold_data(&h, (ss_tensor){t});
    for (uint32_t i = 1; i <= m->ops && !h.status; i++)
        for (uint32_t p = 0; p < s->config[i].parts && !h.status; p++)
            hold_outputs(&h, (ss_op){i}, p);
    for (uint32_t f = 1; f <= w->feeds && !h.status; f++)
        hold_copies(&h, &w->feed[f]);
    for (uint32_t f = 1; f <= w->feeds && backward && !h.status; f++)
        hold_gradients(&h, &w->feed[f]);
    for (uint32_t i = 1; i <= m->ops && backward && !h.status; i++)
        if (l->backward[i].i)
            hold_sums(&h, (ss_op){i});
    return h.status;
}

void ss_holds_free(ss_holds *h)
{
    if (!h)
        return;
    ss_free(h->hold);
    ss_free(h->until);
    *h = (ss_holds){0};
}
