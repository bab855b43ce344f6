/* actions.c - what each task does.
 *
 * Copies are listed first, by the task that makes them, and then put in order of tasks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "graph/collective.h"
#include "validation/executor/execution_inside.h"

/* A copy that some task makes, before or after its kernel; `number` keeps the order in which they were listed. */
typedef struct listed {
    uint32_t task, number;
    bool after;
    ss_copy copy;
} listed;

typedef struct lister {
    ss_execution *e;
    listed *row;
    uint32_t rows, cap;
    ss_messages messages; /* of the shard at hand */
    uint32_t shard;
    ss_error *err;
    ss_status status;
} lister;

static void add(lister *l, uint32_t task, bool after, const ss_copy *c)
{
    if (l->status ||
        (l->status = SS_RESERVE(l->row, l->cap, (size_t)l->rows + 1, "copies", l->err)))
        return;
    l->row[l->rows] = (listed){task, l->rows, after, *c};
    l->rows++;
}

static void add_piece(lister *l, uint32_t task, ss_copy_mode mode, float *to, const ss_box *to_box,
                      const float *from, const ss_box *from_box, const ss_box *piece)
{
    ss_copy c = ss_copy_piece(mode, to, to_box, from, from_box, piece);
    add(l, task, false, &c);
}

static void add_row(lister *l, uint32_t task, ss_copy_mode mode, float *to, const float *from,
                    const float *and, int64_t n)
{
    ss_copy c = ss_copy_row(mode, to, from, and, n);
    if (n > 0)
        add(l, task, false, &c);
}

static const ss_lowered *lowered(const lister *l)
{
    return l->e->lowered;
}

static uint32_t forward_task(const ss_execution *e, const ss_part *p)
{
    return e->lowered->forward[p->op.i].i + p->part;
}

static uint32_t backward_task(const ss_execution *e, const ss_part *p)
{
    uint32_t first = e->lowered->backward[p->op.i].i;
    return first ? first + p->part : 0;
}

/* ---- inputs -------------------------------------------------------------------------------- */

/* What a part reads that its own device made. */
static void gather_input(lister *l, ss_part *p, uint32_t v)
{
    ss_execution *e = l->e;
    const ss_tensor_row *t = &e->model->tensor[e->model->op[p->op.i].in[v].i];
    ss_part_input *x = &p->input[v];
    uint32_t task = e->gather[e->first_gather[p - e->part] + v];
    if (!t->producer.i || !x->own)
        return;
    for (uint32_t k = 0; k < e->strategy->config[t->producer.i].parts; k++) {
        const ss_part *from = ss_part_of(e, t->producer, k);
        const ss_part_output *made = &from->output[t->slot];
        ss_box piece;
        if (from->device.i == p->device.i && ss_box_intersect(&made->box, &x->box, &piece))
            add_piece(l, task ? task : forward_task(e, p), SS_COPY, x->at, &x->box, made->at,
                      &made->box, &piece);
    }
}

/* ---- gradients of outputs ------------------------------------------------------------------ */

/* A gradient of what a part made, where a reader of it has it or its message puts it. */
typedef struct arrival {
    const ss_part *reader;
    uint32_t input;
    ss_box piece;
    bool here;     /* the reader is on the same device */
    bool overlaps; /* another one */
    float *
        at; /* of a message: an array of its own, where gradients overlap; NULL: it is written where it is
                    * wanted */
} arrival;

static uint32_t list_arrivals(const ss_execution *e, const ss_part *p, uint32_t slot, arrival *out)
{
    const ss_model *m = e->model;
    uint32_t n = 0;
    for (uint32_t u = m->tensor[m->op[p->op.i].out[slot].i].first_use; u; u = m->use[u].next) {
        ss_op op = m->use[u].op;
        uint32_t v = m->use[u].input;
        for (uint32_t q = 0; ss_execution_carries(e, op, v) && q < e->strategy->config[op.i].parts;
             q++) {
            const ss_part *to = ss_part_of(e, op, q);
            arrival a = {.reader = to, .input = v, .here = to->device.i == p->device.i};
            if (!ss_box_intersect(&p->output[slot].box, &to->input[v].box, &a.piece))
                continue;
            if (out)
                out[n] = a;
            n++;
        }
    }
    return n;
}

static bool find_overlaps(arrival *a, uint32_t n)
{
    ss_box both;
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < n; k++)
            a[i].overlaps |= i != k && ss_box_intersect(&a[i].piece, &a[k].piece, &both);
        any |= a[i].overlaps;
    }
    return any;
}

/* Where the gradient lies when the sum is made, and in which box. */
static const float *source_of(const arrival *a, const ss_part_output *x, const ss_box **box)
{
    *box = a->here ? &a->reader->input[a->input].box : a->at ? &a->piece : &x->box;
    return a->here ? a->reader->input[a->input].gradient : a->at ? a->at : x->gradient;
}

/* The task that carries a gradient from a reader to a part. */
static uint32_t message_task(const lister *l, const ss_part *p, const arrival *a)
{
    const ss_tasks *t = &lowered(l)->tasks;
    uint32_t first = backward_task(l->e, a->reader);
    for (uint32_t i = t->first_out[first]; i < t->first_out[first + 1]; i++) {
        const ss_task_label *x = &t->label[t->out[i]];
        if (x->kind == SS_TASK_TRANSFER && x->cargo == SS_CARGO_GRADIENT &&
            x->op == a->reader->op.i && x->part == a->reader->part && x->to_op == p->op.i &&
            x->to_part == p->part && x->turn == a->input)
            return t->out[i];
    }
    return 0;
}

static void bring(lister *l, const ss_part *p, const ss_part_output *x, bool apart, arrival *a)
{
    const ss_part_input *from = &a->reader->input[a->input];
    if (apart && !(a->at = ss_execution_array(l->e, ss_box_elements(&a->piece)))) {
        l->status = ss_fail_memory(l->err, "an array of a gradient", 0);
        return;
    }
    float *to = a->at ? a->at : x->gradient;
    add_piece(l, message_task(l, p, a), SS_COPY, to, a->at ? &a->piece : &x->box, from->gradient,
              &from->box, &a->piece);
}

static bool covers(const arrival *a, const ss_part_output *x)
{
    const ss_box *box;
    (void)source_of(a, x, &box);
    return ss_box_same(&a->piece, &x->box) && ss_box_same(box, &x->box);
}

/* Of gradients that cover the output, and lie as it does, the first two at once; then the others, one by one. */
static void add_up(lister *l, uint32_t task, ss_part_output *x, arrival *a, uint32_t n, bool first)
{
    const ss_box *box;
    for (uint32_t i = 0; i < n; i++) {
        const float *from = source_of(&a[i], x, &box);
        if (first && i + 1 < n && covers(&a[i], x) && covers(&a[i + 1], x)) {
            add_row(l, task, SS_COPY_SUM, x->gradient, from, source_of(&a[i + 1], x, &box),
                    ss_box_elements(&x->box));
            i++;
        } else if (from != x->gradient) {
            bool copies = first && covers(&a[i], x);
            add_piece(l, task, copies || !a[i].overlaps ? SS_COPY : SS_COPY_ADD, x->gradient,
                      &x->box, from, box, &a[i].piece);
        }
        first = false;
    }
}

static int covering_first(const void *a, const void *b)
{
    const arrival *x = a, *y = b;
    int64_t m = ss_box_elements(&x->piece), n = ss_box_elements(&y->piece);
    if (m != n)
        return m > n ? -1 : 1;
    if (x->reader->op.i != y->reader->op.i)
        return x->reader->op.i < y->reader->op.i ? -1 : 1;
    if (x->reader->part != y->reader->part)
        return x->reader->part < y->reader->part ? -1 : 1;
    return x->input < y->input ? -1 : x->input > y->input;
}

static void gather_gradient(lister *l, ss_part *p, uint32_t slot)
{
    ss_part_output *x = &p->output[slot];
    uint32_t n = list_arrivals(l->e, p, slot, NULL), sum = l->e->sum[p - l->e->part];
    uint32_t task = sum ? sum : backward_task(l->e, p);
    arrival *a = n ? ss_alloc(n * sizeof *a) : NULL;
    if (n && !a)
        l->status = ss_fail_memory(l->err, "gradients of a part", n * sizeof *a);
    if (l->status || !n)
        return;
    list_arrivals(l->e, p, slot, a);
    qsort(a, n, sizeof *a, covering_first);
    bool overlap = find_overlaps(a, n), covered = covers(&a[0], x);
    for (uint32_t i = 0; i < n && !l->status; i++)
        if (!a[i].here)
            bring(l, p, x, overlap, &a[i]);
    /* What no gradient reaches stays 0, as it was made; what several reach begins at 0 unless one covers all. */
    if (x->own && overlap && !covered)
        add_row(l, task, SS_COPY_ZERO, x->gradient, NULL, NULL, ss_box_elements(&x->box));
    if (x->own)
        add_up(l, task, x, a, n, !overlap || covered);
    ss_free(a);
}

/* ---- weights that are no shard as they are ------------------------------------------------- */

static void gather_weight(lister *l, ss_part *p, uint32_t w)
{
    const ss_execution *e = l->e;
    ss_part_weight *x = &p->weight[w];
    ss_weight weight = e->model->op[p->op.i].weight[w];
    for (uint32_t k = 1; k <= lowered(l)->shards && x->own; k++) {
        const ss_shard *s = &lowered(l)->shard[k];
        ss_box piece;
        if (s->weight.i != weight.i || !ss_box_intersect(&s->box, &x->box, &piece))
            continue;
        for (uint32_t r = s->first_device; r < s->first_device + s->devices; r++) {
            if (lowered(l)->shard_device[r].i != p->device.i)
                continue;
            add_piece(l, forward_task(e, p), SS_COPY, x->at, &x->box, e->holding[r].at, &s->box,
                      &piece);
            if (!backward_task(e, p))
                continue;
            ss_copy back = ss_copy_piece(SS_COPY_ADD, e->holding[r].gradient, &s->box, x->gradient,
                                         &x->box, &piece);
            add(l, backward_task(e, p), true, &back);
        }
    }
    if (x->own && backward_task(e, p))
        add_row(l, backward_task(e, p), SS_COPY_ZERO, x->gradient, NULL, NULL,
                ss_box_elements(&x->box));
}

/* ---- messages ------------------------------------------------------------------------------ */

static void send_activation(lister *l, uint32_t task, const ss_task_label *x)
{
    const ss_execution *e = l->e;
    const ss_part *from = ss_part_of(e, (ss_op){x->op}, x->part),
                  *to = ss_part_of(e, (ss_op){x->to_op}, x->to_part);
    uint32_t slot = e->model->tensor[e->model->op[x->to_op].in[x->turn].i].slot;
    const ss_part_output *made = &from->output[slot];
    const ss_part_input *in = &to->input[x->turn];
    ss_box piece;
    if (ss_box_intersect(&made->box, &in->box, &piece))
        add_piece(l, task, SS_COPY, in->at, &in->box, made->at, &made->box, &piece);
}

static uint32_t row_of(const ss_lowered *l, const ss_shard *s, ss_device d)
{
    for (uint32_t r = s->first_device; r < s->first_device + s->devices; r++)
        if (l->shard_device[r].i == d.i)
            return r;
    return 0;
}

/* The list of messages that the meeting of a shard was made of. */
static void list_messages(lister *l, uint32_t shard)
{
    const ss_shard *s = &lowered(l)->shard[shard];
    if (l->shard == shard || l->status)
        return;
    uint32_t *machine = ss_alloc(s->devices * sizeof *machine);
    if (!machine) {
        l->status = ss_fail_memory(l->err, "machines of a meeting", s->devices * sizeof *machine);
        return;
    }
    for (uint32_t i = 0; i < s->devices; i++)
        machine[i] =
            l->e->topology->device[lowered(l)->shard_device[s->first_device + i].i].def.machine;
    ss_collective c = {.operation = SS_ALL_REDUCE,
                       .algorithm = s->algorithm,
                       .members = s->devices,
                       .bytes = s->bytes,
                       .chunks = s->chunks,
                       .machine = machine};
    l->status = ss_collective_messages(&c, &l->messages, l->err);
    l->shard = shard;
    ss_free(machine);
}

/* Shares of a tensor are cut by bytes; a number goes with its first byte. */
static void send_share(lister *l, uint32_t task, const ss_task_label *x, const ss_message *m)
{
    enum { EACH = sizeof(float) };
    const ss_shard *s = &lowered(l)->shard[x->part];
    const ss_holding *from = &l->e->holding[row_of(lowered(l), s, x->from)],
                     *to = &l->e->holding[row_of(lowered(l), s, x->to)];
    int64_t all = ss_box_elements(&s->box), each = s->bytes / all;
    int64_t lo = (m->offset + each - 1) / each, hi = (m->offset + m->bytes + each - 1) / each;
    add_row(l, task, m->adds ? SS_COPY_ADD : SS_COPY, to->gradient + lo, from->gradient + lo, NULL,
            hi - lo);
}

static void send_gradient(lister *l, uint32_t task, const ss_task_label *x)
{
    const ss_shard *s = &lowered(l)->shard[x->part];
    if (lowered(l)->options.sync == SS_SYNC_PARAMETER_SERVER) {
        send_share(l, task, x, &(ss_message){.bytes = s->bytes, .adds = true});
        return;
    }
    list_messages(l, x->part);
    if (!l->status)
        send_share(l, task, x, &l->messages.row[x->turn]);
}

static void send_weight(lister *l, uint32_t task, const ss_task_label *x)
{
    const ss_shard *s = &lowered(l)->shard[x->part];
    const ss_holding *from = &l->e->holding[row_of(lowered(l), s, x->from)],
                     *to = &l->e->holding[row_of(lowered(l), s, x->to)];
    add_row(l, task, SS_COPY, to->at, from->at, NULL, ss_box_elements(&s->box));
}

/* ---- tasks --------------------------------------------------------------------------------- */

static void find_gathers_and_sums(ss_execution *e)
{
    const ss_tasks *t = &e->lowered->tasks;
    for (uint32_t i = 1; i <= t->n; i++) {
        const ss_task_label *x = &t->label[i];
        if (x->kind == SS_TASK_GATHER)
            e->gather[e->first_gather[e->first_part[x->op] + x->part] + x->turn] = i;
        if (x->kind == SS_TASK_ACCUMULATE)
            e->sum[e->first_part[x->op] + x->part] = i;
    }
}

static void list_task(lister *l, uint32_t i)
{
    ss_execution *e = l->e;
    const ss_tasks *t = &lowered(l)->tasks;
    const ss_task_label *x = &t->label[i];
    ss_action *a = &e->action[i];
    a->device = t->where[i];
    switch ((ss_task_kind)x->kind) {
    case SS_TASK_FORWARD:
    case SS_TASK_BACKWARD:
        a->kind = x->kind == SS_TASK_FORWARD ? SS_DO_FORWARD : SS_DO_BACKWARD;
        a->of = e->first_part[x->op] + x->part;
        return;
    case SS_TASK_UPDATE:
        a->kind = SS_DO_UPDATE;
        a->of = row_of(lowered(l), &lowered(l)->shard[x->part], (ss_device){a->device});
        return;
    case SS_TASK_TRANSFER:
        a->device = x->to.i;
        if (x->cargo == SS_CARGO_ACTIVATION)
            send_activation(l, i, x);
        else if (x->cargo == SS_CARGO_WEIGHT_GRADIENT)
            send_gradient(l, i, x);
        else if (x->cargo == SS_CARGO_WEIGHT)
            send_weight(l, i, x);
        return;
    default:
        return;
    }
}

static int by_task(const void *a, const void *b)
{
    const listed *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->after != y->after)
        return x->after ? 1 : -1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static ss_status hand_out(lister *l)
{
    ss_execution *e = l->e;
    if (l->rows)
        qsort(l->row, l->rows, sizeof *l->row, by_task);
    ss_status s = SS_RESERVE(e->copy, e->copy_cap, (size_t)l->rows + 1, "copies", l->err);
    for (uint32_t i = 0; i < l->rows && !s; i++) {
        const listed *x = &l->row[i];
        ss_action *a = &e->action[x->task];
        uint32_t *first = x->after ? &a->first_after : &a->first_before,
                 *n = x->after ? &a->after : &a->before;
        if (!(*n)++)
            *first = i;
        e->copy[e->copies++] = x->copy;
    }
    return s;
}

ss_status ss_execution_make_actions(ss_execution *e, ss_error *err)
{
    uint32_t n = e->lowered->tasks.n;
    size_t bytes = ((size_t)n + 1) * sizeof *e->action;
    e->action = ss_arena_take(&e->memory, bytes);
    if (!e->action)
        return ss_fail_memory(err, "what tasks do", bytes);
    memset(e->action, 0, bytes);
    lister l = {.e = e, .err = err};
    find_gathers_and_sums(e);
    for (uint32_t i = 1; i <= n && !l.status; i++)
        list_task(&l, i);
    for (uint32_t k = 0; k < e->parts && !l.status; k++) {
        ss_part *p = &e->part[k];
        const ss_op_def *def = e->model->op[p->op.i].def;
        for (uint32_t v = 0; v < def->inputs && !l.status; v++)
            gather_input(&l, p, v);
        for (uint32_t w = 0; w < def->weights && !l.status; w++)
            gather_weight(&l, p, w);
        for (uint32_t o = 0; o < def->outputs && !l.status; o++)
            if (p->output[o].gradient)
                gather_gradient(&l, p, o);
    }
    if (!l.status)
        l.status = hand_out(&l);
    ss_free(l.row);
    ss_messages_free(&l.messages);
    return l.status;
}

/* ---- doing it ------------------------------------------------------------------------------ */

static void update(const ss_execution *e, uint32_t row)
{
    const ss_lowered *l = e->lowered;
    for (uint32_t k = 1; k <= l->shards; k++) {
        const ss_shard *s = &l->shard[k];
        if (row < s->first_device || row >= s->first_device + s->devices)
            continue;
        ss_copy step = ss_copy_row(SS_COPY_STEP, e->holding[row].at, e->holding[row].gradient, NULL,
                                   ss_box_elements(&s->box));
        step.rate = (float)e->options.rate;
        ss_copy_do(&step);
        return;
    }
}

static unsigned wanted(const ss_execution *e, const ss_part *p)
{
    const ss_op_def *def = e->model->op[p->op.i].def;
    unsigned what = def->weights ? SS_OF_WEIGHTS : 0;
    for (uint32_t v = 0; v < def->inputs; v++)
        what |= p->input[v].gradient ? SS_OF_INPUTS : 0;
    return what;
}

static ss_status compute(ss_execution *e, const ss_action *a, ss_error *err)
{
    ss_part *p = &e->part[a->of];
    ss_status s = a->kind == SS_DO_FORWARD
                      ? p->kernel->forward(p->kernel, &p->io, err)
                      : p->kernel->backward(p->kernel, &p->io, wanted(e, p), err);
    return s ? ss_fail_in(err, "operator %s, part %u", e->model->op[p->op.i].name, p->part) : SS_OK;
}

ss_status ss_action_do(ss_execution *e, const ss_action *a, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t i = a->first_before; i < a->first_before + a->before; i++)
        ss_copy_do(&e->copy[i]);
    if (a->kind == SS_DO_UPDATE)
        update(e, a->of);
    else if (a->kind != SS_DO_NOTHING)
        s = compute(e, a, err);
    for (uint32_t i = a->first_after; i < a->first_after + a->after; i++)
        ss_copy_do(&e->copy[i]);
    return s;
}
