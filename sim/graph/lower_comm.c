/* lower_comm.c - pieces become edges or messages, in both directions.
 *
 * A piece between parts on one device is an edge, or, where it has to be put together with others
 * (ss_lower_options.gather), goes through a task there.  Between devices it is a message, or, with
 * SS_COALESCE_PER_DEVICE, travels with the other pieces that the same part gives to parts of the
 * same reader on the same device: the message then carries each element that any of them needs
 * once, exactly and not their bounding box.  Pieces of different inputs or readers never travel
 * together, so that what a message carries depends on two operators only.  Backward, the gradients
 * of such pieces are added up where they arise and go back as one message.
 */
#include "graph/lowering.h"

#include <string.h>

#include "base/array.h"

/* ---- messages ---------------------------------------------------------------------------- */

ss_status ss_lower_after_sent(ss_lowering *w, uint32_t sent, ss_error *err)
{
    const ss_sent *m = &w->s->sent[sent];
    for (uint32_t i = 0; i < m->arrivals; i++) {
        ss_status e = ss_tasks_after(w->tasks, (ss_task){m->arrival + i}, err);
        if (e)
            return e;
    }
    return SS_OK;
}

/* ---- pieces that travel together --------------------------------------------------------- */

static bool crosses(const ss_config *giver, const ss_config *reader, const ss_piece *p)
{
    return giver->device[p->from].i != reader->device[p->to].i;
}

/* The pieces that one part gives lie together in by_from; those for one device are chained. */
static void group_pieces(ss_lowering *w, const ss_feed *f)
{
    struct ss_lower_scratch *s = w->s;
    const ss_config *giver = ss_lowering_config(w, f->from), *reader = ss_lowering_config(w, f->to);
    uint32_t part = UINT32_MAX;
    for (uint32_t i = 0; i < f->pieces; i++) {
        uint32_t row = s->by_from[f->first + i];
        ss_piece *p = &s->piece[row];
        if (p->from != part) {
            part = p->from;
            s->stamps++;
        }
        if (!crosses(giver, reader, p))
            continue;
        uint32_t d = reader->device[p->to].i;
        if (s->stamp[d] == s->stamps) { /* at_device: the last piece for it so far */
            p->lead = s->piece[s->at_device[d]].lead;
            s->piece[s->at_device[d]].next = row;
        }
        s->stamp[d] = s->stamps;
        s->at_device[d] = row;
    }
}

static ss_status cover_piece(ss_lowering *w, const ss_feed *f, const ss_piece *p, uint32_t group,
                             bool copied, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    size_t need = (size_t)s->covers + 1;
    if (need > s->cover_cap) {
        uint32_t cap = ss_grown(s->cover_cap, need);
        ss_status e;
        if ((e = SS_REGROW(s->cover, cap, "overlaps of parts", err)) ||
            (e = SS_REGROW(s->cover_group, cap, "overlaps of parts", err)) ||
            (e = SS_REGROW(s->cover_copied, cap, "overlaps of parts", err)))
            return e;
        s->cover_cap = cap;
    }
    ss_lower_piece_box(w->model, w->strategy, f, p, &s->cover[s->covers]);
    s->cover_copied[s->covers] = copied;
    s->cover_group[s->covers++] = group;
    return SS_OK;
}

/* Bytes of a message of several pieces, and bytes read and written to add up as many gradients. */
static ss_status cover_group(ss_lowering *w, const ss_feed *f, uint32_t lead, int64_t *bytes,
                             double *added, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    if (!s->piece[lead].next) {
        *bytes = s->piece[lead].bytes;
        *added = 0;
        return SS_OK;
    }
    ss_status e = SS_OK;
    double copied;
    s->covers = 0;
    for (uint32_t i = lead; i && !e; i = s->piece[i].next)
        e = cover_piece(w, f, &s->piece[i], i, false, err);
    if (!e)
        e = ss_lower_cover(s, bytes, added, &copied, err);
    *bytes *= f->element_bytes;
    *added *= (double)f->element_bytes;
    return e;
}

/* ---- forward ----------------------------------------------------------------------------- */

static ss_status send_forward(ss_lowering *w, const ss_feed *f, uint32_t lead, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_piece *p = &s->piece[lead];
    int64_t bytes;
    double added;
    ss_status e = cover_group(w, f, lead, &bytes, &added, err);
    if (e)
        return e;
    ss_task before = {w->out->forward[f->from.i].i + p->from};
    ss_task_label label = {.cargo = SS_CARGO_ACTIVATION,
                           .op = f->from.i,
                           .part = p->from,
                           .to_op = f->to.i,
                           .to_part = p->to,
                           .turn = f->input};
    uint32_t sent = 0;
    e = ss_lower_send(w, ss_lowering_config(w, f->from)->device[p->from],
                      ss_lowering_config(w, f->to)->device[p->to], bytes, &label, &before, 1, &sent,
                      err);
    for (uint32_t i = lead; i && !e; i = s->piece[i].next)
        s->piece[i].forward = sent;
    return e;
}

/* Whether the reader of a piece reads just what its giver made. */
static bool is_all_of_both(const ss_lowering *w, const ss_feed *f, const ss_piece *p)
{
    ss_box piece, main, made, needed;
    ss_lower_piece_box(w->model, w->strategy, f, p, &piece);
    ss_strategy_part_box(w->strategy, f->from, p->from, &main);
    ss_op_output_box(w->model->op[f->from.i].def, f->slot, &main, &made);
    ss_strategy_part_box(w->strategy, f->to, p->to, &main);
    ss_op_input_box(w->model->op[f->to.i].def, f->input, &main, &needed);
    return ss_box_same(&piece, &made) && ss_box_same(&piece, &needed);
}

/* Puts the pieces `first` .. `end` - 1, of one reader, together with those of its own device. */
static ss_status gather_pieces(ss_lowering *w, const ss_feed *f, uint32_t first, uint32_t end,
                               ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_config *giver = ss_lowering_config(w, f->from), *reader = ss_lowering_config(w, f->to);
    ss_task_label label = {
        .kind = SS_TASK_GATHER, .op = f->to.i, .part = s->piece[first].to, .turn = f->input};
    ss_device device = reader->device[label.part];
    double bytes = 0;
    for (uint32_t i = first; i < end; i++)
        bytes += crosses(giver, reader, &s->piece[i]) ? 0 : 2.0 * (double)s->piece[i].bytes;
    if (bytes == 0 || (end - first == 1 && is_all_of_both(w, f, &s->piece[first])))
        return SS_OK;
    ss_task task;
    ss_status e = ss_lower_add_stream(w, SS_STREAM_COPY, bytes, device, &label, &task, err);
    for (uint32_t i = first; i < end && !e; i++) {
        ss_piece *p = &s->piece[i];
        if (crosses(giver, reader, p))
            continue;
        e = ss_tasks_after(w->tasks, (ss_task){w->out->forward[f->from.i].i + p->from}, err);
        if (!e)
            e = SS_RESERVE(s->sent, s->sent_cap, (size_t)s->sents + 2, "messages", err);
        if (!e)
            s->sent[p->forward = ++s->sents] = (ss_sent){task.i, task.i, 1, p->bytes};
    }
    return e;
}

static ss_status gather(ss_lowering *w, const ss_feed *f, ss_error *err)
{
    const ss_piece *piece = w->s->piece;
    ss_status e = SS_OK;
    uint32_t end = f->first + f->pieces;
    for (uint32_t first = f->first, next = first; first < end && !e; first = next) {
        while (next < end && piece[next].to == piece[first].to)
            next++;
        e = gather_pieces(w, f, first, next, err);
    }
    return e;
}

ss_status ss_lower_feed_forward(ss_lowering *w, uint32_t feed, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_status e = ss_lower_pieces(w, feed, err);
    if (e)
        return e;
    const ss_feed *f = &s->feed[feed];
    const ss_config *giver = ss_lowering_config(w, f->from), *reader = ss_lowering_config(w, f->to);
    if (w->options.coalesce == SS_COALESCE_PER_DEVICE)
        group_pieces(w, f);
    for (uint32_t i = 0; i < f->pieces && !e; i++) {
        uint32_t at = s->by_from[f->first + i];
        if (s->piece[at].lead == at && crosses(giver, reader, &s->piece[at]))
            e = send_forward(w, f, at, err);
    }
    return e || !w->options.gather ? e : gather(w, f, err);
}

void ss_lower_rewind(ss_lowering *w, ss_op op, bool backward)
{
    struct ss_lower_scratch *s = w->s;
    const uint32_t *first = backward ? s->first_use : s->first_feed;
    for (uint32_t i = first[op.i]; i < first[op.i + 1]; i++)
        s->cursor[i - first[op.i]] = 0;
}

ss_status ss_lower_after_inputs(ss_lowering *w, ss_op op, uint32_t part, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_status e = SS_OK;
    for (uint32_t row = s->first_feed[op.i]; row < s->first_feed[op.i + 1]; row++) {
        const ss_feed *f = &s->feed[row];
        uint32_t *at = &s->cursor[row - s->first_feed[op.i]];
        for (; *at < f->pieces && s->piece[f->first + *at].to == part && !e; ++*at) {
            const ss_piece *p = &s->piece[f->first + *at];
            e = p->forward ? ss_lower_after_sent(w, p->forward, err)
                           : ss_tasks_after(w->tasks,
                                            (ss_task){w->out->forward[f->from.i].i + p->from}, err);
        }
    }
    return e;
}

/* ---- backward ---------------------------------------------------------------------------- */

/* Adds up the gradients of pieces that go back together, on the device where they arose. */
static ss_status sum_before_sending(ss_lowering *w, const ss_feed *f, uint32_t lead, double added,
                                    ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_piece *p = &s->piece[lead];
    ss_device device = ss_lowering_config(w, f->to)->device[p->to];
    ss_task_label label = {.kind = SS_TASK_ACCUMULATE,
                           .op = f->to.i,
                           .part = p->to,
                           .to_op = f->from.i,
                           .to_part = p->from,
                           .turn = f->input};
    ss_task sum;
    ss_status e = ss_lower_add_stream(w, SS_STREAM_SUM, added, device, &label, &sum, err);
    for (uint32_t i = lead; i && !e; i = s->piece[i].next)
        e = ss_tasks_after(w->tasks, (ss_task){w->out->backward[f->to.i].i + s->piece[i].to}, err);
    s->before[0] = sum;
    return e;
}

static ss_status send_backward(ss_lowering *w, const ss_feed *f, uint32_t lead, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_piece *p = &s->piece[lead];
    int64_t bytes;
    double added;
    ss_status e = cover_group(w, f, lead, &bytes, &added, err);
    uint32_t befores = 0;
    for (uint32_t i = lead; i && !e; i = s->piece[i].next) {
        e = SS_RESERVE(s->before, s->before_cap, (size_t)befores + 1, "dependencies", err);
        if (!e)
            s->before[befores++].i = w->out->backward[f->to.i].i + s->piece[i].to;
    }
    if (!e && w->options.partial_sums && added > 0) {
        e = sum_before_sending(w, f, lead, added, err);
        befores = 1;
    }
    if (e)
        return e;
    ss_task_label label = {.cargo = SS_CARGO_GRADIENT,
                           .op = f->to.i,
                           .part = p->to,
                           .to_op = f->from.i,
                           .to_part = p->from,
                           .turn = f->input};
    uint32_t sent = 0;
    e = ss_lower_send(w, ss_lowering_config(w, f->to)->device[p->to],
                      ss_lowering_config(w, f->from)->device[p->from], bytes, &label, s->before,
                      befores, &sent, err);
    for (uint32_t i = lead; i && !e; i = s->piece[i].next)
        s->piece[i].backward = sent;
    return e;
}

bool ss_lower_carries_gradient(const ss_lowering *w, const ss_feed *f)
{
    return !w->model->op[f->to.i].def->kind->no_input_gradient;
}

ss_status ss_lower_feed_backward(ss_lowering *w, uint32_t feed, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_feed *f = &s->feed[feed];
    const ss_config *giver = ss_lowering_config(w, f->from), *reader = ss_lowering_config(w, f->to);
    ss_status e = SS_OK;
    for (uint32_t at = f->first; at < f->first + f->pieces && !e; at++)
        if (s->piece[at].lead == at && crosses(giver, reader, &s->piece[at]))
            e = send_backward(w, f, at, err);
    return e;
}

/* All gradients that reach a part, as edges into the task added last. */
static ss_status after_arrivals(ss_lowering *w, ss_op op, uint32_t part, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_status e = SS_OK;
    for (uint32_t u = s->first_use[op.i]; u < s->first_use[op.i + 1]; u++) {
        const ss_feed *f = &s->feed[s->use[u]];
        uint32_t *cursor = &s->cursor[u - s->first_use[op.i]];
        if (!ss_lower_carries_gradient(w, f))
            continue;
        for (; *cursor < f->pieces && !e; ++*cursor) {
            uint32_t at = s->by_from[f->first + *cursor];
            const ss_piece *p = &s->piece[at];
            if (p->from > part)
                break;
            if (p->from < part) /* its gradients went into a sum */
                continue;
            if (!p->backward)
                e = ss_tasks_after(w->tasks, (ss_task){w->out->backward[f->to.i].i + p->to}, err);
            else if (p->lead == at)
                e = ss_lower_after_sent(w, p->backward, err);
        }
    }
    return e;
}

static bool adds_up(const ss_lowering *w)
{
    return w->options.partial_sums || w->options.gather;
}

ss_status ss_lower_after_gradients(ss_lowering *w, ss_op op, uint32_t part, ss_error *err)
{
    if (adds_up(w) && w->s->sum[part])
        return ss_tasks_after(w->tasks, (ss_task){w->s->sum[part]}, err);
    return after_arrivals(w, op, part, err);
}

/* Whether a gradient that comes from its own device, and meets no other, is copied. */
static bool is_copied(const ss_lowering *w, const ss_feed *f, const ss_piece *p)
{
    return w->options.gather &&
           !crosses(ss_lowering_config(w, f->from), ss_lowering_config(w, f->to), p);
}

/* Whether one piece at most reaches a part, which then needs no adding, nor copying if it is all of
 * what the part made; if so the cursors move past it. */
static bool skip_single(ss_lowering *w, ss_op op, uint32_t part, uint32_t slot)
{
    struct ss_lower_scratch *s = w->s;
    uint32_t found = 0, where = 0;
    for (uint32_t u = s->first_use[op.i]; u < s->first_use[op.i + 1]; u++) {
        const ss_feed *f = &s->feed[s->use[u]];
        uint32_t at = s->cursor[u - s->first_use[op.i]];
        if (f->slot != slot || !ss_lower_carries_gradient(w, f))
            continue;
        for (; at < f->pieces && s->piece[s->by_from[f->first + at]].from == part; at++) {
            const ss_piece *p = &s->piece[s->by_from[f->first + at]];
            where = u - s->first_use[op.i];
            if (++found > 1 || (is_copied(w, f, p) && !is_all_of_both(w, f, p)))
                return false;
        }
    }
    s->cursor[where] += found;
    return true;
}

/* Bytes read and written to add up what reaches a part: everything of one message is one summand.
 * The cursors are left where the next part begins. */
static ss_status bytes_to_add(ss_lowering *w, ss_op op, uint32_t part, uint32_t slot, double *added,
                              ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_status e = SS_OK;
    int64_t element_bytes = 0, covered;
    double copied = 0;
    if (skip_single(w, op, part, slot))
        return SS_OK;
    s->covers = 0;
    for (uint32_t u = s->first_use[op.i]; u < s->first_use[op.i + 1]; u++) {
        const ss_feed *f = &s->feed[s->use[u]];
        uint32_t *cursor = &s->cursor[u - s->first_use[op.i]];
        if (f->slot != slot || !ss_lower_carries_gradient(w, f))
            continue;
        element_bytes = f->element_bytes;
        for (; *cursor < f->pieces && !e; ++*cursor) {
            uint32_t at = s->by_from[f->first + *cursor];
            if (s->piece[at].from != part)
                break;
            for (uint32_t i = s->piece[at].lead == at ? at : 0; i && !e; i = s->piece[i].next)
                e = cover_piece(w, f, &s->piece[i], at, is_copied(w, f, &s->piece[i]), err);
        }
    }
    double elements = 0;
    if (!e)
        e = ss_lower_cover(s, &covered, &elements, &copied, err);
    if (!w->options.partial_sums)
        elements = 0;
    *added += (elements + copied) * (double)element_bytes;
    return e;
}

static ss_status add_sum(ss_lowering *w, ss_op op, uint32_t part, double added, ss_error *err)
{
    ss_device device = ss_lowering_config(w, op)->device[part];
    ss_task_label label = {.kind = SS_TASK_ACCUMULATE, .op = op.i, .part = part};
    ss_task sum;
    ss_status e = ss_lower_add_stream(w, SS_STREAM_SUM, added, device, &label, &sum, err);
    if (e)
        return e;
    w->s->sum[part] = sum.i;
    return after_arrivals(w, op, part, err);
}

ss_status ss_lower_partial_sums(ss_lowering *w, ss_op op, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    uint32_t parts = ss_lowering_config(w, op)->parts;
    uint32_t outputs = w->model->op[op.i].def->outputs;
    if (!adds_up(w))
        return SS_OK;
    ss_status e = SS_RESERVE(s->sum, s->sum_cap, parts, "parts", err);
    if (!e)
        e = SS_RESERVE(s->to_add, s->to_add_cap, parts, "parts", err);
    ss_lower_rewind(w, op, true);
    for (uint32_t p = 0; p < parts && !e; p++) {
        s->to_add[p] = 0;
        for (uint32_t slot = 0; slot < outputs && !e; slot++)
            e = bytes_to_add(w, op, p, slot, &s->to_add[p], err);
    }
    ss_lower_rewind(w, op, true);
    for (uint32_t p = 0; p < parts && !e; p++) {
        s->sum[p] = 0;
        if (s->to_add[p] > 0)
            e = add_sum(w, op, p, s->to_add[p], err);
    }
    return e;
}
