#include "reference/lower_naive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/collective_price.h"

/* What arrives somewhere: tasks first .. first + n - 1 of a message that began with task `began`.
 */
typedef struct arrival {
    uint32_t first, n, began;
} arrival;

typedef struct naive {
    const ss_model *m;
    const ss_topology *t;
    ss_routes *r;
    const ss_strategy *s;
    const ss_timer *timer;
    const ss_lower_options *o;
    naive_lowered *out;
    uint32_t *forward, *backward; /* those of out */
    uint32_t *barrier;            /* by device; 0: of all */
} naive;

static void must(ss_status s, const ss_error *err)
{
    if (s) {
        fprintf(stderr, "lower_naive: %s\n", err->text);
        exit(99);
    }
}

static void *room(size_t n, size_t each)
{
    void *p = calloc(n + 1, each);
    if (!p)
        exit(99);
    return p;
}

/* ---- what everything is made of ---------------------------------------------------------- */

static uint32_t parts(const naive *w, uint32_t op)
{
    return w->s->config[op].parts;
}

static uint32_t device(const naive *w, uint32_t op, uint32_t part)
{
    return w->s->config[op].device[part].i;
}

static const ss_op_def *def(const naive *w, uint32_t op)
{
    return w->m->op[op].def;
}

static ss_box made(const naive *w, uint32_t op, uint32_t slot, uint32_t part)
{
    ss_box main, box;
    ss_strategy_part_box(w->s, (ss_op){op}, part, &main);
    ss_op_output_box(def(w, op), slot, &main, &box);
    return box;
}

static ss_box needed(const naive *w, uint32_t op, uint32_t input, uint32_t part)
{
    ss_box main, box;
    ss_strategy_part_box(w->s, (ss_op){op}, part, &main);
    ss_op_input_box(def(w, op), input, &main, &box);
    return box;
}

/* Input v of operator j, if another operator makes it: *i and *slot. */
static bool feed(const naive *w, uint32_t j, uint32_t v, uint32_t *i, uint32_t *slot)
{
    const ss_tensor_row *t = &w->m->tensor[w->m->op[j].in[v].i];
    *i = t->producer.i;
    *slot = t->slot;
    return t->producer.i != 0;
}

static bool overlap(const naive *w, uint32_t i, uint32_t slot, uint32_t p, uint32_t j, uint32_t v,
                    uint32_t q, ss_box *box)
{
    ss_box a = made(w, i, slot, p), b = needed(w, j, v, q);
    return ss_box_intersect(&a, &b, box);
}

static int64_t element_bytes(const naive *w, uint32_t j, uint32_t v)
{
    return ss_dtype_bytes(def(w, j)->in[v].dtype);
}

static bool inside(const ss_box *b, const int64_t *x)
{
    for (uint32_t d = 0; d < b->rank; d++)
        if (x[d] < b->lo[d] || x[d] >= b->hi[d])
            return false;
    return true;
}

/* The next element of a box; false after the last. */
static bool next(const ss_box *b, int64_t *x)
{
    for (uint32_t d = b->rank; d-- > 0;) {
        if (++x[d] < b->hi[d])
            return true;
        x[d] = b->lo[d];
    }
    return false;
}

static bool needs_gradient(const naive *w, uint32_t op)
{
    uint32_t i, slot;
    if (def(w, op)->weights)
        return true;
    for (uint32_t v = 0; v < def(w, op)->inputs && !def(w, op)->kind->no_input_gradient; v++)
        if (feed(w, op, v, &i, &slot) && needs_gradient(w, i))
            return true;
    return false;
}

/* ---- tasks ------------------------------------------------------------------------------- */

static uint32_t add(naive *w, uint32_t resource, ss_time hold, int64_t bytes, ss_task_label label)
{
    ss_error err;
    ss_task task;
    must(ss_tasks_add(&w->out->tasks, resource, hold, bytes, &label, &task, &err), &err);
    return task.i;
}

static void after(naive *w, uint32_t before)
{
    ss_error err;
    must(ss_tasks_after(&w->out->tasks, (ss_task){before}, &err), &err);
}

static void after_arrival(naive *w, arrival a)
{
    for (uint32_t k = 0; k < a.n; k++)
        after(w, a.first + k);
}

static arrival send_over(naive *w, const ss_link *link, uint32_t links, int64_t bytes,
                         ss_task_label label, const uint32_t *before, uint32_t befores)
{
    ss_error err;
    ss_task first;
    arrival a;
    uint32_t *number = room(links, sizeof *number);
    ss_task *task = room(befores, sizeof *task);
    for (uint32_t k = 0; k < links; k++)
        number[k] = link[k].i;
    for (uint32_t k = 0; k < befores; k++)
        task[k].i = before[k];
    a.began = w->out->tasks.n + 1;
    label.kind = SS_TASK_TRANSFER;
    must(ss_tasks_transfer(&w->out->tasks, number, links, bytes, w->o->segment_bytes,
                           w->o->max_segments, &label, task, befores, &first, &a.n, &err),
         &err);
    a.first = first.i;
    w->out->moved[label.cargo] += bytes;
    free(number);
    free(task);
    return a;
}

static arrival send(naive *w, uint32_t from, uint32_t to, int64_t bytes, ss_task_label label,
                    const uint32_t *before, uint32_t befores)
{
    ss_error err;
    ss_route route;
    uint32_t links;
    must(ss_routes_find(w->r, (ss_device){from}, (ss_device){to}, &route, &err), &err);
    const ss_link *link = ss_route_links(w->r, route, &links);
    label.from.i = from;
    label.to.i = to;
    return send_over(w, link, links, bytes, label, before, befores);
}

static ss_time part_time(const naive *w, uint32_t op, ss_phase phase, uint32_t part)
{
    ss_error err;
    ss_time time;
    ss_box main;
    ss_strategy_part_box(w->s, (ss_op){op}, part, &main);
    must(w->timer->part(w->timer->context, w->m, (ss_op){op}, phase, &main,
                        w->s->config[op].device[part], &time, &err),
         &err);
    return time;
}

static ss_time memory_time(const naive *w, ss_stream what, double bytes, uint32_t dev)
{
    ss_error err;
    ss_time time;
    must(w->timer->memory(w->timer->context, what, bytes, (ss_device){dev}, &time, &err), &err);
    return time;
}

/* ---- messages between parts -------------------------------------------------------------- */

/* One input of one reader, between parts p of i and q of j. */
typedef struct wire {
    uint32_t i, slot, j, v;
} wire;

static bool joined(const naive *w, wire x, uint32_t p, uint32_t q)
{
    ss_box box;
    return overlap(w, x.i, x.slot, p, x.j, x.v, q, &box);
}

static bool crosses(const naive *w, wire x, uint32_t p, uint32_t q)
{
    return joined(w, x, p, q) && device(w, x.i, p) != device(w, x.j, q);
}

/* Whether what (p, q) carry travels with (p, r). */
static bool together(const naive *w, wire x, uint32_t p, uint32_t q, uint32_t r)
{
    if (q == r)
        return true;
    return w->o->coalesce == SS_COALESCE_PER_DEVICE && crosses(w, x, p, q) && crosses(w, x, p, r) &&
           device(w, x.j, q) == device(w, x.j, r);
}

/* The first part that (p, q) travel with. */
static uint32_t leader(const naive *w, wire x, uint32_t p, uint32_t q)
{
    for (uint32_t r = 0; r < q; r++)
        if (together(w, x, p, q, r))
            return r;
    return q;
}

/* Elements that message (p, q) carries; and, of those that several of its parts need, one more than
 * there are such parts, for each. */
static int64_t carried(const naive *w, wire x, uint32_t p, uint32_t q, int64_t *added)
{
    int64_t elements = 0, at[SS_MAX_DIMS];
    ss_box box = made(w, x.i, x.slot, p);
    *added = 0;
    if (ss_box_empty(&box))
        return 0;
    memcpy(at, box.lo, sizeof at);
    do {
        int64_t times = 0;
        for (uint32_t r = 0; r < parts(w, x.j); r++) {
            ss_box need = needed(w, x.j, x.v, r);
            times += together(w, x, p, q, r) && inside(&need, at);
        }
        elements += times > 0;
        *added += times > 1 ? times + 1 : 0;
    } while (next(&box, at));
    return elements;
}

static void note(naive *w, ss_cargo cargo, wire x, uint32_t p, uint32_t q, arrival a, int64_t bytes,
                 uint32_t sum)
{
    naive_lowered *n = w->out;
    n->message = realloc(n->message, (n->messages + (size_t)1) * sizeof *n->message);
    n->message[n->messages++] =
        (naive_message){cargo, x.j, x.v, p, q, a.began, a.first, a.n, bytes, sum};
}

/* The messages of one wire, forward, by (p, q). */
static void send_forward(naive *w, wire x, arrival *arrived)
{
    uint32_t np = parts(w, x.i), nq = parts(w, x.j);
    for (uint32_t p = 0; p < np; p++)
        for (uint32_t q = 0; q < nq; q++) {
            if (!crosses(w, x, p, q))
                continue;
            uint32_t first = leader(w, x, p, q), before = w->forward[x.i] + p;
            if (first != q) {
                arrived[p * nq + q] = arrived[p * nq + first];
                continue;
            }
            int64_t added, bytes = carried(w, x, p, q, &added) * element_bytes(w, x.j, x.v);
            ss_task_label label = {.cargo = SS_CARGO_ACTIVATION,
                                   .op = x.i,
                                   .part = p,
                                   .to_op = x.j,
                                   .to_part = q,
                                   .turn = x.v};
            arrival a = send(w, device(w, x.i, p), device(w, x.j, q), bytes, label, &before, 1);
            arrived[p * nq + q] = a;
            note(w, SS_CARGO_ACTIVATION, x, p, q, a, bytes, 0);
        }
}

/* Whether part q reads just what part p made, and nothing else is read there. */
static bool is_whole(const naive *w, wire x, uint32_t p, uint32_t q)
{
    ss_box a = made(w, x.i, x.slot, p), b = needed(w, x.j, x.v, q);
    return ss_box_same(&a, &b);
}

/* Puts together what part q reads of one wire: the pieces of its own device; 0: no need. */
static uint32_t gather(naive *w, wire x, uint32_t q)
{
    int64_t elements = 0;
    bool whole = false;
    ss_box box;
    for (uint32_t p = 0; p < parts(w, x.i); p++) {
        whole |= is_whole(w, x, p, q);
        if (!crosses(w, x, p, q) && overlap(w, x.i, x.slot, p, x.j, x.v, q, &box))
            elements += ss_box_elements(&box);
    }
    if (!elements || whole || !w->o->gather)
        return 0;
    double bytes = 2.0 * (double)(elements * element_bytes(w, x.j, x.v));
    uint32_t task = add(w, device(w, x.j, q), memory_time(w, SS_STREAM_COPY, bytes, device(w, x.j, q)), 0,
                        (ss_task_label){.kind = SS_TASK_GATHER, .op = x.j, .part = q, .turn = x.v});
    for (uint32_t p = 0; p < parts(w, x.i); p++) {
        if (crosses(w, x, p, q) || !overlap(w, x.i, x.slot, p, x.j, x.v, q, &box))
            continue;
        after(w, w->forward[x.i] + p);
        note(w, SS_CARGO_ACTIVATION, x, p, q, (arrival){task, 1, task},
             ss_box_elements(&box) * element_bytes(w, x.j, x.v), 0);
    }
    return task;
}

static void forward(naive *w, uint32_t j)
{
    uint32_t inputs = def(w, j)->inputs, nq = parts(w, j);
    arrival **arrived = room(inputs, sizeof *arrived);
    uint32_t *gathered = room((size_t)inputs * nq, sizeof *gathered);
    for (uint32_t v = 0; v < inputs; v++) {
        wire x = {.j = j, .v = v};
        if (!feed(w, j, v, &x.i, &x.slot))
            continue;
        arrived[v] = room((size_t)parts(w, x.i) * nq, sizeof **arrived);
        send_forward(w, x, arrived[v]);
        for (uint32_t q = 0; q < nq; q++)
            gathered[v * nq + q] = gather(w, x, q);
    }
    bool lumped = w->o->lumped && needs_gradient(w, j);
    for (uint32_t q = 0; q < nq; q++) {
        ss_time time =
            part_time(w, j, SS_FORWARD, q) + (lumped ? part_time(w, j, SS_BACKWARD, q) : 0);
        uint32_t task = add(
            w, device(w, j, q), time, 0,
            (ss_task_label){.kind = lumped ? SS_TASK_LUMPED : SS_TASK_FORWARD, .op = j, .part = q});
        if (q == 0)
            w->forward[j] = task;
        for (uint32_t v = 0; v < inputs; v++) {
            wire x = {.j = j, .v = v};
            if (!feed(w, j, v, &x.i, &x.slot))
                continue;
            for (uint32_t p = 0; p < parts(w, x.i); p++) {
                if (crosses(w, x, p, q))
                    after_arrival(w, arrived[v][p * nq + q]);
                else if (joined(w, x, p, q))
                    after(w, gathered[v * nq + q] ? gathered[v * nq + q] : w->forward[x.i] + p);
            }
        }
    }
    free(gathered);
    for (uint32_t v = 0; v < inputs; v++)
        free(arrived[v]);
    free(arrived);
}

/* ---- backward ---------------------------------------------------------------------------- */

static uint32_t wires_from(const naive *w, uint32_t i, wire *x)
{
    uint32_t n = 0;
    for (uint32_t j = 1; j <= w->m->ops; j++)
        for (uint32_t v = 0; v < def(w, j)->inputs && !def(w, j)->kind->no_input_gradient; v++) {
            wire y = {.j = j, .v = v};
            if (feed(w, j, v, &y.i, &y.slot) && y.i == i)
                x[n++] = y;
        }
    return n;
}

static void send_backward(naive *w, wire x, arrival *arrived)
{
    uint32_t np = parts(w, x.i), nq = parts(w, x.j);
    uint32_t *before = room(nq, sizeof *before);
    for (uint32_t q = 0; q < nq; q++)
        for (uint32_t p = 0; p < np; p++) {
            if (!crosses(w, x, p, q))
                continue;
            uint32_t first = leader(w, x, p, q), n = 0, sum = 0;
            if (first != q) {
                arrived[p * nq + q] = arrived[p * nq + first];
                continue;
            }
            for (uint32_t r = 0; r < nq; r++)
                if (together(w, x, p, q, r))
                    before[n++] = w->backward[x.j] + r;
            int64_t added, elements = carried(w, x, p, q, &added);
            if (added && w->o->partial_sums) {
                double bytes = (double)(added * element_bytes(w, x.j, x.v));
                sum = add(w, device(w, x.j, q), memory_time(w, SS_STREAM_SUM, bytes, device(w, x.j, q)), 0,
                          (ss_task_label){.kind = SS_TASK_ACCUMULATE,
                                          .op = x.j,
                                          .part = q,
                                          .to_op = x.i,
                                          .to_part = p,
                                          .turn = x.v});
                for (uint32_t b = 0; b < n; b++)
                    after(w, before[b]);
                before[0] = sum;
                n = 1;
            }
            ss_task_label label = {.cargo = SS_CARGO_GRADIENT,
                                   .op = x.j,
                                   .part = q,
                                   .to_op = x.i,
                                   .to_part = p,
                                   .turn = x.v};
            int64_t all = elements * element_bytes(w, x.j, x.v);
            arrival a = send(w, device(w, x.j, q), device(w, x.i, p), all, label, before, n);
            arrived[p * nq + q] = a;
            note(w, SS_CARGO_GRADIENT, x, p, q, a, all, sum);
        }
    free(before);
}

static void after_gradients(naive *w, const wire *x, uint32_t wires, uint32_t p, arrival **arrived)
{
    for (uint32_t k = 0; k < wires; k++)
        for (uint32_t q = 0; q < parts(w, x[k].j); q++) {
            if (!joined(w, x[k], p, q))
                continue;
            if (!crosses(w, x[k], p, q))
                after(w, w->backward[x[k].j] + q);
            else if (leader(w, x[k], p, q) == q)
                after_arrival(w, arrived[k][p * parts(w, x[k].j) + q]);
        }
}

/* How many gradients reach an element of what part p makes: parts, but messages count once. */
static int64_t summands(const naive *w, const wire *x, uint32_t wires, uint32_t slot, uint32_t p,
                        const int64_t *at)
{
    int64_t n = 0;
    for (uint32_t k = 0; k < wires; k++)
        for (uint32_t q = 0; q < parts(w, x[k].j) && x[k].slot == slot; q++) {
            if (!joined(w, x[k], p, q) || leader(w, x[k], p, q) != q)
                continue;
            bool any = false;
            for (uint32_t r = 0; r < parts(w, x[k].j); r++) {
                ss_box need = needed(w, x[k].j, x[k].v, r);
                any |= together(w, x[k], p, q, r) && inside(&need, at);
            }
            n += any;
        }
    return n;
}

/* Whether an element whose gradient comes from one part alone is copied: from its own device, unless that
 * gradient is all that reaches the part, and of no more and no less. */
static bool is_copied(const naive *w, const wire *x, uint32_t wires, uint32_t slot, uint32_t p,
                      const int64_t *at)
{
    uint32_t pieces = 0;
    bool here = false, whole = false;
    for (uint32_t k = 0; k < wires; k++)
        for (uint32_t q = 0; q < parts(w, x[k].j) && x[k].slot == slot; q++) {
            ss_box need = needed(w, x[k].j, x[k].v, q);
            pieces += joined(w, x[k], p, q);
            if (!joined(w, x[k], p, q) || !inside(&need, at))
                continue;
            here = !crosses(w, x[k], p, q);
            whole = is_whole(w, x[k], p, q);
        }
    return w->o->gather && here && !(whole && pieces == 1);
}

static double bytes_to_add(const naive *w, uint32_t i, const wire *x, uint32_t wires, uint32_t p)
{
    double bytes = 0;
    for (uint32_t slot = 0; slot < def(w, i)->outputs; slot++) {
        ss_box box = made(w, i, slot, p);
        int64_t at[SS_MAX_DIMS], n = 0;
        memcpy(at, box.lo, sizeof at);
        do {
            int64_t here = summands(w, x, wires, slot, p, at);
            if (here > 1)
                n += w->o->partial_sums ? here + 1 : 0;
            else if (here == 1 && is_copied(w, x, wires, slot, p, at))
                n += 2;
        } while (next(&box, at));
        bytes += (double)(n * ss_dtype_bytes(def(w, i)->out[slot].dtype));
    }
    return bytes;
}

static void backward(naive *w, uint32_t i)
{
    wire *x = room(w->m->uses, sizeof *x);
    uint32_t wires = wires_from(w, i, x), np = parts(w, i);
    arrival **arrived = room(wires, sizeof *arrived);
    uint32_t *sum = room(np, sizeof *sum);
    for (uint32_t k = 0; k < wires; k++) {
        arrived[k] = room((size_t)np * parts(w, x[k].j), sizeof **arrived);
        send_backward(w, x[k], arrived[k]);
    }
    for (uint32_t p = 0; p < np && (w->o->partial_sums || w->o->gather); p++) {
        double bytes = bytes_to_add(w, i, x, wires, p);
        if (bytes == 0)
            continue;
        sum[p] = add(w, device(w, i, p), memory_time(w, SS_STREAM_SUM, bytes, device(w, i, p)), 0,
                     (ss_task_label){.kind = SS_TASK_ACCUMULATE, .op = i, .part = p});
        after_gradients(w, x, wires, p, arrived);
    }
    for (uint32_t p = 0; p < np; p++) {
        uint32_t task = add(w, device(w, i, p), part_time(w, i, SS_BACKWARD, p), 0,
                            (ss_task_label){.kind = SS_TASK_BACKWARD, .op = i, .part = p});
        if (p == 0)
            w->backward[i] = task;
        after(w, w->forward[i] + p);
        if (sum[p])
            after(w, sum[p]);
        else
            after_gradients(w, x, wires, p, arrived);
    }
    for (uint32_t k = 0; k < wires; k++)
        free(arrived[k]);
    free(arrived);
    w->out->sum[i] = sum;
    free(x);
}

/* ---- weights ----------------------------------------------------------------------------- */

static bool uses(const naive *w, uint32_t op, uint32_t weight, uint32_t part, ss_box *box)
{
    for (uint32_t k = 0; k < def(w, op)->weights; k++)
        if (w->m->op[op].weight[k].i == weight) {
            ss_box main;
            ss_strategy_part_box(w->s, (ss_op){op}, part, &main);
            ss_op_weight_box(def(w, op), k, &main, box);
            return true;
        }
    return false;
}

/* Whether any part's box of the weight begins at x along d. */
static bool is_border(const naive *w, uint32_t weight, uint32_t d, int64_t x)
{
    ss_box box;
    for (uint32_t i = 1; i <= w->m->ops; i++)
        for (uint32_t p = 0; p < parts(w, i); p++)
            if (uses(w, i, weight, p, &box) && (box.lo[d] == x || box.hi[d] == x))
                return true;
    return false;
}

static void find_devices(const naive *w, naive_shard *x)
{
    uint32_t all = w->t->devices, master = 0;
    bool *holds = room(all, sizeof *holds);
    ss_box box;
    for (uint32_t i = 1; i <= w->m->ops; i++)
        for (uint32_t p = 0; p < parts(w, i); p++)
            if (uses(w, i, x->weight, p, &box) && inside(&box, x->box.lo)) {
                master = master ? master : device(w, i, p);
                holds[device(w, i, p)] = true;
            }
    x->device = room(all, sizeof *x->device);
    for (uint32_t k = 0; k < all; k++) {
        uint32_t d = (master - 1 + k) % all + 1;
        if (holds[d])
            x->device[x->devices++] = d;
    }
    free(holds);
}

static void cut_weight(naive *w, uint32_t weight)
{
    const ss_shape *shape = &w->m->weight[weight].shape;
    ss_box whole = ss_box_whole(shape);
    int64_t at[SS_MAX_DIMS] = {0};
    do {
        bool begins = true;
        for (uint32_t d = 0; d < shape->rank; d++)
            begins &= is_border(w, weight, d, at[d]);
        if (!begins)
            continue;
        w->out->shard =
            realloc(w->out->shard, (w->out->shards + (size_t)1) * sizeof *w->out->shard);
        naive_shard *x = &w->out->shard[w->out->shards++];
        *x = (naive_shard){.weight = weight, .box = whole};
        for (uint32_t d = 0; d < shape->rank; d++) {
            x->box.lo[d] = at[d];
            for (x->box.hi[d] = at[d] + 1; !is_border(w, weight, d, x->box.hi[d]);)
                x->box.hi[d]++;
        }
        find_devices(w, x);
    } while (next(&whole, at));
}

/* ---- meeting ----------------------------------------------------------------------------- */

static int64_t shard_bytes(const naive *w, const naive_shard *x)
{
    return ss_box_elements(&x->box) * ss_dtype_bytes(w->m->weight[x->weight].shape.dtype);
}

static uint32_t last_task(const naive *w, uint32_t op, uint32_t part)
{
    return (w->backward[op] ? w->backward[op] : w->forward[op]) + part;
}

/* What the gradient of a shard on a device waits for. */
static uint32_t own(const naive *w, const naive_shard *x, uint32_t dev, uint32_t *before)
{
    uint32_t n = 0;
    ss_box box;
    if (!w->o->overlap) {
        before[0] = w->barrier[dev];
        return 1;
    }
    for (uint32_t i = 1; i <= w->m->ops; i++)
        for (uint32_t p = 0; p < parts(w, i); p++)
            if (device(w, i, p) == dev && uses(w, i, x->weight, p, &box) && inside(&box, x->box.lo))
                before[n++] = last_task(w, i, p);
    return n;
}

static void barriers(naive *w)
{
    bool closed = w->o->sync == SS_SYNC_CLOSED_FORM;
    if (w->o->overlap && !closed)
        return;
    for (uint32_t d = 1; d <= w->t->devices; d++)
        for (uint32_t i = 1; i <= w->m->ops; i++)
            for (uint32_t p = 0; p < parts(w, i); p++) {
                if (device(w, i, p) != d)
                    continue;
                if (!w->barrier[d])
                    w->barrier[d] =
                        add(w, d, 0, 0, (ss_task_label){.kind = SS_TASK_BARRIER, .part = d});
                after(w, last_task(w, i, p));
            }
    if (!closed)
        return;
    w->barrier[0] = add(w, 1, 0, 0, (ss_task_label){.kind = SS_TASK_BARRIER});
    for (uint32_t d = 1; d <= w->t->devices; d++)
        if (w->barrier[d])
            after(w, w->barrier[d]);
}

/* What the update on each device waits for besides its own gradient, and whether for that. */
typedef struct waiting {
    arrival *arrived; /* [n] */
    uint32_t n;
    bool own;
} waiting;

static void wait_for(waiting *a, arrival x)
{
    a->arrived = realloc(a->arrived, (a->n + (size_t)1) * sizeof *a->arrived);
    a->arrived[a->n++] = x;
}

static ss_task_label weight_label(const naive *w, const naive_shard *x, ss_cargo cargo)
{
    uint32_t row = (uint32_t)(x - w->out->shard), of_weight = 1;
    for (uint32_t k = 0; k < row; k++)
        of_weight += w->out->shard[k].weight == x->weight;
    return (ss_task_label){
        .cargo = (uint8_t)cargo, .op = x->weight, .part = row + 1, .to_part = of_weight};
}

static uint32_t *machines(const naive *w, const naive_shard *x)
{
    uint32_t *machine = room(x->devices, sizeof *machine);
    for (uint32_t k = 0; k < x->devices; k++)
        machine[k] = w->t->device[x->device[k]].def.machine;
    return machine;
}

/* The all-reduce of a shard, and what belongs to it. */
typedef struct meeting {
    ss_collective c;
    ss_reduction_tree tree;
    ss_device *device;
    uint32_t *machine;
    ss_party party;
} meeting;

/* What it takes by the price, or as one task by the form if that is more: of as many bytes, or where times are
 * straight lines in bytes, of a share of many. */
static double seconds_by(const naive *w, const meeting *m, ss_pricer *pricer)
{
    ss_error err;
    ss_price price;
    ss_lower_options o = *w->o;
    ss_collective c = m->c;
    bool once = o.aggregate, laws = w->t->laws && !o.ideal_links;
    if (once) {
        o.links = SS_LINKS_SHARED;
        o.segment_bytes = 0;
    }
    if (!laws && o.segment_bytes <= 0)
        c.bytes = (int64_t)1 << 40;
    double share = (double)m->c.bytes / (double)c.bytes;
    must(ss_price_collective(pricer, &c, &m->party, &o, &price, &err), &err);
    double seconds = price.latency_s + share * price.transfer_s;
    if (!once)
        return seconds;
    ss_messages list = {0};
    ss_wire inside, across;
    must(ss_collective_messages(&c, &list, &err), &err);
    must(ss_collective_wires(&c, &m->party, &list, &inside, &across, &err), &err);
    ss_messages_free(&list);
    double all = ss_collective_seconds(&c, inside, across);
    inside.bytes_per_s = across.bytes_per_s = INFINITY;
    double latency = ss_collective_seconds(&c, inside, across);
    return fmax(seconds, latency + share * (all - latency));
}

/* Of all that are considered the one that takes least, the first of equal ones. */
static void choose(const naive *w, meeting *m)
{
    static const uint32_t chunks[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
    ss_error err;
    ss_pricer *pricer;
    meeting x = *m;
    double least = INFINITY;
    uint32_t asked = m->c.chunks; /* 0: nobody says how many */
    must(ss_pricer_new(&pricer, &err), &err);
    for (uint32_t a = 0; a < SS_ALGORITHMS; a++)
        for (uint32_t k = 0; k < sizeof chunks / sizeof *chunks; k++) {
            bool cut = a == SS_DOUBLE_TREE;
            x.c.algorithm = (ss_algorithm)a;
            x.c.chunks = cut && asked ? asked : chunks[k];
            if (!ss_collective_is_considered(&x.c) || (k && (asked || !cut)) ||
                (cut && x.c.chunks > m->c.bytes))
                continue;
            double seconds = seconds_by(w, &x, pricer);
            if (!(seconds < least))
                continue;
            least = seconds;
            m->c.algorithm = x.c.algorithm;
            m->c.chunks = x.c.chunks;
        }
    ss_pricer_free(pricer);
}

static void meeting_of(naive *w, const naive_shard *x, meeting *m)
{
    static const ss_algorithm by[SS_SYNCS] = {[SS_SYNC_RING] = SS_RING,
                                              [SS_SYNC_TREE] = SS_TREE,
                                              [SS_SYNC_TWO_LEVEL] = SS_TWO_LEVEL,
                                              [SS_SYNC_BIDIRECTIONAL_RING] = SS_BIDIRECTIONAL_RING,
                                              [SS_SYNC_DOUBLE_TREE] = SS_DOUBLE_TREE,
                                              [SS_SYNC_HALVING_DOUBLING] = SS_HALVING_DOUBLING,
                                              [SS_SYNC_HIERARCHICAL] = SS_HIERARCHICAL,
                                              [SS_SYNC_IN_NETWORK] = SS_IN_NETWORK};
    ss_error err;
    int64_t bytes = shard_bytes(w, x), chunk = w->o->chunk_bytes, chunks = 1;
    *m = (meeting){.device = room(x->devices, sizeof *m->device), .machine = machines(w, x)};
    for (uint32_t k = 0; k < x->devices; k++)
        m->device[k].i = x->device[k];
    m->party = (ss_party){w->t, w->r, m->device};
    while (chunk && chunks * chunk < bytes && chunks < 256)
        chunks++;
    m->c = (ss_collective){SS_ALL_REDUCE,    by[w->o->sync], x->devices, bytes,
                           (uint32_t)chunks, m->machine,     &m->tree};
    if (w->o->sync == SS_SYNC_AUTO) {
        m->c.chunks = chunk ? m->c.chunks : 0;
        choose(w, m);
    }
    if (m->c.algorithm == SS_IN_NETWORK)
        must(ss_reduction_tree_make(w->t, w->r, m->device, x->devices, &m->tree, &err), &err);
}

static void end_meeting(meeting *m)
{
    ss_reduction_tree_free(&m->tree);
    free(m->device);
    free(m->machine);
}

/* A message carries its sender's own gradient if that has not been sent before; of trees in chunks and
 * more than one branch, the list says so (prop_collective plays it). */
static bool carries_own(const meeting *m, const ss_messages *list, uint32_t i)
{
    const ss_message *x = &list->row[i];
    bool old = m->c.algorithm == SS_RING || m->c.algorithm == SS_TWO_LEVEL ||
               (m->c.algorithm == SS_TREE && m->c.chunks == 1);
    for (uint32_t k = 1; k < i && old; k++)
        if (list->row[k].from == x->from && list->row[k].adds)
            return false;
    return old || x->own;
}

/* What an update waits for: the last message that replaces, or all that add up there. */
static bool is_waited_for(const meeting *m, const ss_messages *list, uint32_t i, uint32_t member)
{
    bool old = m->c.algorithm == SS_RING || m->c.algorithm == SS_TWO_LEVEL ||
               (m->c.algorithm == SS_TREE && m->c.chunks == 1);
    uint32_t told = 0;
    if (list->row[i].to != member)
        return false;
    for (uint32_t k = 1; k <= list->n && old; k++)
        if (list->row[k].to == member && !list->row[k].adds)
            told = k;
    return !old ? list->row[i].last : !told || told == i;
}

static void by_messages(naive *w, const naive_shard *x, waiting *update, uint32_t *before)
{
    ss_error err;
    ss_messages m = {0};
    meeting g;
    meeting_of(w, x, &g);
    must(ss_collective_messages(&g.c, &m, &err), &err);
    arrival *arrived = room(m.n + (size_t)1, sizeof *arrived);
    for (uint32_t i = 1; i <= m.n; i++) {
        const ss_message *y = &m.row[i];
        uint32_t befores = 0, links, n = x->devices;
        const ss_link *link;
        if (y->from < n && carries_own(&g, &m, i))
            befores = own(w, x, x->device[y->from], before);
        for (uint32_t a = 0; a < y->afters; a++) {
            arrival z = arrived[m.after[y->first_after + a]];
            for (uint32_t k = 0; k < z.n; k++)
                before[befores++] = z.first + k;
        }
        ss_task_label label = weight_label(w, x, SS_CARGO_WEIGHT_GRADIENT);
        label.turn = i;
        label.from.i = y->from < n ? x->device[y->from] : 0;
        label.to.i = y->to < n ? x->device[y->to] : 0;
        must(ss_collective_way(&g.c, &g.party, y, &link, &links, &err), &err);
        arrived[i] = send_over(w, link, links, y->bytes, label, before, befores);
    }
    for (uint32_t k = 0; k < x->devices; k++) {
        update[k].own = true;
        for (uint32_t i = 1; i <= m.n; i++)
            if (m.row[i].from == k && m.row[i].adds)
                update[k].own = false;
        for (uint32_t i = 1; i <= m.n; i++)
            if (is_waited_for(&g, &m, i, k))
                wait_for(&update[k], arrived[i]);
    }
    ss_messages_free(&m);
    end_meeting(&g);
    free(arrived);
}

/* The links between pairs of devices, the largest latency and the least bandwidth. */
typedef struct reach {
    bool *link;
    double latency, bandwidth;
} reach;

static void span(naive *w, uint32_t a, uint32_t b, reach *x, bool *all)
{
    ss_error err;
    ss_route route;
    uint32_t n;
    must(ss_routes_find(w->r, (ss_device){a}, (ss_device){b}, &route, &err), &err);
    const ss_link *link = ss_route_links(w->r, route, &n);
    for (uint32_t k = 0; k < n; k++)
        all[link[k].i] = true;
    x->latency = fmax(x->latency, ss_route_latency_s(w->r, route));
    x->bandwidth = fmin(x->bandwidth, ss_route_bytes_per_s(w->r, route));
}

static void span_both(naive *w, uint32_t a, uint32_t b, reach *x, bool *all)
{
    span(w, a, b, x, all);
    span(w, b, a, x, all);
}

static void span_levels(naive *w, const naive_shard *x, reach *in, reach *across, bool *all)
{
    uint32_t *machine = machines(w, x);
    for (uint32_t k = 1; k < x->devices; k++) {
        uint32_t first = k;
        for (uint32_t h = k; h-- > 0;)
            if (machine[k] && machine[h] == machine[k])
                first = h;
        if (first == k)
            span_both(w, x->device[0], x->device[k], across, all);
        else
            span_both(w, x->device[first], x->device[k], in, all);
    }
    free(machine);
}

/* Of an algorithm without a form of its own here. */
static double span_messages(meeting *g, bool *all, double *latency, uint32_t *rounds)
{
    ss_error err;
    ss_messages m = {0};
    ss_wire inside, across;
    const ss_link *link;
    uint32_t links;
    must(ss_collective_messages(&g->c, &m, &err), &err);
    must(ss_collective_wires(&g->c, &g->party, &m, &inside, &across, &err), &err);
    for (uint32_t i = 1; i <= m.n; i++) {
        must(ss_collective_way(&g->c, &g->party, &m.row[i], &link, &links, &err), &err);
        for (uint32_t k = 0; k < links; k++)
            all[link[k].i] = true;
    }
    ss_messages_free(&m);
    double seconds = ss_collective_seconds(&g->c, inside, across);
    ss_wire a_second = {isfinite(inside.bytes_per_s), INFINITY},
            another = {isfinite(across.bytes_per_s), INFINITY};
    inside.bytes_per_s = across.bytes_per_s = INFINITY;
    for (uint32_t v = 0; v < g->tree.n; v++)
        g->tree.up_bytes_per_s[v] = g->tree.down_bytes_per_s[v] = INFINITY;
    *latency = ss_collective_seconds(&g->c, inside, across);
    for (uint32_t v = 0; v < g->tree.n; v++)
        g->tree.up_latency_s[v] = g->tree.down_latency_s[v] = v != g->tree.root;
    *rounds = (uint32_t)lround(ss_collective_seconds(&g->c, a_second, another));
    return seconds;
}

/* Where messages meet on links: the price of the steps, if that is more. */
static void meet_on_links(naive *w, const meeting *g, double *seconds, double *latency)
{
    ss_error err;
    ss_pricer *pricer;
    ss_price price;
    ss_collective many = g->c;
    ss_lower_options o = *w->o;
    if (g->c.algorithm == SS_IN_NETWORK || g->c.bytes <= 0)
        return;
    if (many.chunks > g->c.bytes)
        many.chunks = (uint32_t)g->c.bytes;
    many.bytes = (int64_t)1 << 40;
    o.links = SS_LINKS_SHARED;
    o.segment_bytes = 0;
    must(ss_pricer_new(&pricer, &err), &err);
    must(ss_price_collective(pricer, &many, &g->party, &o, &price, &err), &err);
    ss_pricer_free(pricer);
    price.transfer_s *= (double)g->c.bytes / (double)many.bytes;
    if (price.latency_s + price.transfer_s <= *seconds * (1 + 1e-9))
        return;
    *seconds = price.latency_s + price.transfer_s;
    *latency = price.latency_s;
}

static uint32_t one_task(naive *w, const naive_shard *x, double seconds, int64_t bytes,
                         uint32_t rounds, const bool *link, waiting *update)
{
    ss_error err;
    ss_time time;
    uint32_t n = 0, where, *resource = room(w->t->links, sizeof *resource);
    for (uint32_t l = 1; l <= w->t->links; l++)
        if (link[l])
            resource[n++] = w->t->devices + l;
    must(ss_time_from_seconds(seconds, "meeting", &time, &err), &err);
    must(ss_tasks_set(&w->out->tasks, resource, n, &where, &err), &err);
    free(resource);
    ss_task_label label = weight_label(w, x, SS_CARGO_WEIGHT_GRADIENT);
    label.kind = SS_TASK_COLLECTIVE;
    label.turn = rounds;
    uint32_t task = add(w, where, time, bytes, label);
    for (uint32_t k = 0; k < x->devices; k++)
        wait_for(&update[k], (arrival){task, 1, task});
    return task;
}

static void aggregated(naive *w, const naive_shard *x, waiting *update, uint32_t *before)
{
    meeting g;
    meeting_of(w, x, &g);
    uint32_t n = x->devices, vertices = g.c.algorithm == SS_IN_NETWORK ? g.tree.n : n;
    uint32_t rounds = 0;
    bool *link = room(w->t->links + (size_t)1, sizeof *link);
    reach one = {.bandwidth = INFINITY}, in = one, across = one;
    double seconds, latency, bytes = (double)shard_bytes(w, x);
    if (g.c.algorithm == SS_RING) {
        for (uint32_t k = 0; k < n; k++)
            span(w, x->device[k], x->device[(k + 1) % n], &one, link);
        seconds = ss_collective_ring_seconds(n, bytes, one.latency, one.bandwidth);
        latency = 2.0 * (n - 1) * one.latency;
        rounds = 2 * (n - 1);
    } else if (g.c.algorithm == SS_TREE && g.c.chunks == 1) {
        for (uint32_t k = 1; k < n; k++)
            span_both(w, x->device[k], x->device[(k - 1) / 2], &one, link);
        seconds = ss_collective_tree_seconds(n, bytes, one.latency, one.bandwidth);
        latency = ss_collective_tree_seconds(n, 0, one.latency, one.bandwidth);
        rounds = (uint32_t)lround(ss_collective_tree_seconds(n, 0, 1, 1));
    } else if (g.c.algorithm == SS_TWO_LEVEL) {
        span_levels(w, x, &in, &across, link);
        seconds = ss_collective_two_level_seconds(n, g.machine, bytes, in.latency, in.bandwidth,
                                                  across.latency, across.bandwidth);
        latency = ss_collective_two_level_seconds(n, g.machine, 0, in.latency, in.bandwidth,
                                                  across.latency, across.bandwidth);
        rounds = (uint32_t)lround(ss_collective_two_level_seconds(n, g.machine, 0, 1, 1, 1, 1));
    } else {
        seconds = span_messages(&g, link, &latency, &rounds);
    }
    meet_on_links(w, &g, &seconds, &latency);
    int64_t moved = 2 * (int64_t)(vertices - 1) * shard_bytes(w, x), held = moved;
    w->out->moved[SS_CARGO_WEIGHT_GRADIENT] += moved;
    if (w->o->links == SS_LINKS_SHARED) {
        double slowest = INFINITY;
        for (uint32_t l = 1; l <= w->t->links; l++)
            if (link[l])
                slowest = fmin(slowest, w->t->link[l].def.bytes_per_s);
        held = (int64_t)fmax(0, (seconds - latency) * slowest);
        seconds = fmax(0, seconds - (double)held / slowest);
    }
    one_task(w, x, seconds, held, rounds, link, update);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t befores = own(w, x, x->device[k], before);
        for (uint32_t b = 0; b < befores; b++)
            after(w, before[b]);
    }
    free(link);
    end_meeting(&g);
}

/* W (g - 1) / b_inside + W (m - 1) / b_across, once everything else is over. */
static void charge(naive *w, const naive_shard *x, waiting *update)
{
    uint32_t *machine = machines(w, x), groups = 0, most = 0;
    bool *link = room(w->t->links + (size_t)1, sizeof *link);
    reach in = {.bandwidth = INFINITY}, across = {.bandwidth = INFINITY};
    double bytes = (double)shard_bytes(w, x), seconds = 0;
    span_levels(w, x, &in, &across, link);
    for (uint32_t k = 0; k < x->devices; k++) {
        uint32_t here = 1, before = 0;
        for (uint32_t h = 0; h < x->devices; h++) {
            here += h != k && machine[k] && machine[h] == machine[k];
            before += h < k && machine[k] && machine[h] == machine[k];
        }
        groups += before == 0;
        most = here > most ? here : most;
    }
    if (most > 1)
        seconds += (most - 1) * (bytes / in.bandwidth);
    if (groups > 1)
        seconds += (groups - 1) * (bytes / across.bandwidth);
    memset(link, true, w->t->links + (size_t)1);
    one_task(w, x, seconds, 0, 0, link, update);
    after(w, w->barrier[0]);
    w->out->charged_bytes += 2.0 * (x->devices - 1) * bytes;
    free(link);
    free(machine);
}

static void meet(naive *w, const naive_shard *x, waiting *update, uint32_t *before)
{
    if (x->devices == 1 || w->o->sync == SS_SYNC_NONE) {
        for (uint32_t k = 0; k < x->devices; k++)
            update[k].own = true;
    } else if (w->o->sync == SS_SYNC_PARAMETER_SERVER) {
        update[0].own = true;
        for (uint32_t k = 1; k < x->devices; k++) {
            uint32_t n = own(w, x, x->device[k], before);
            wait_for(&update[0], send(w, x->device[k], x->device[0], shard_bytes(w, x),
                                      weight_label(w, x, SS_CARGO_WEIGHT_GRADIENT), before, n));
        }
    } else if (w->o->sync == SS_SYNC_CLOSED_FORM) {
        charge(w, x, update);
    } else if (w->o->aggregate) {
        aggregated(w, x, update, before);
    } else {
        by_messages(w, x, update, before);
    }
}

static void update_on(naive *w, const naive_shard *x, uint32_t dev, const waiting *a,
                      uint32_t *before, uint32_t *task)
{
    double bytes = w->o->update_passes * (double)shard_bytes(w, x);
    ss_task_label label = weight_label(w, x, SS_CARGO_NONE);
    label.kind = SS_TASK_UPDATE;
    *task = add(w, dev, bytes > 0 ? memory_time(w, SS_STREAM_UPDATE, bytes, dev) : 0, 0, label);
    uint32_t n = a->own ? own(w, x, dev, before) : 0;
    for (uint32_t b = 0; b < n; b++)
        after(w, before[b]);
    for (uint32_t k = 0; k < a->n; k++)
        after_arrival(w, a->arrived[k]);
}

static void synchronize(naive *w, uint32_t *before)
{
    uint32_t shards = w->out->shards, all = w->t->devices;
    waiting *update = room((size_t)shards * all, sizeof *update);
    uint32_t *task = room(shards, sizeof *task);
    barriers(w);
    for (uint32_t k = 0; k < shards; k++)
        meet(w, &w->out->shard[k], update + (size_t)k * all, before);
    for (uint32_t k = 0; k < shards; k++) {
        const naive_shard *x = &w->out->shard[k];
        bool server = w->o->sync == SS_SYNC_PARAMETER_SERVER && x->devices > 1;
        for (uint32_t r = 0; r < (server ? 1 : x->devices); r++)
            if (server || w->o->update_passes > 0)
                update_on(w, x, x->device[r], &update[(size_t)k * all + r], before, &task[k]);
    }
    for (uint32_t k = 0; k < shards; k++) {
        const naive_shard *x = &w->out->shard[k];
        for (uint32_t r = 1; r < x->devices && w->o->sync == SS_SYNC_PARAMETER_SERVER; r++)
            send(w, x->device[0], x->device[r], shard_bytes(w, x),
                 weight_label(w, x, SS_CARGO_WEIGHT), &task[k], 1);
    }
    for (size_t k = 0; k < (size_t)shards * all; k++)
        free(update[k].arrived);
    free(update);
    free(task);
}

/* ---- all --------------------------------------------------------------------------------- */

static void start(naive *w)
{
    ss_error err;
    double *bandwidth = room(w->t->links, sizeof *bandwidth);
    double *latency = room(w->t->links, sizeof *latency);
    for (uint32_t l = 1; l <= w->t->links; l++) {
        bandwidth[l] = w->t->link[l].def.bytes_per_s;
        latency[l] = w->t->link[l].def.latency_s;
    }
    must(ss_tasks_start(&w->out->tasks, w->t->devices, w->t->links, bandwidth, latency, w->o->links,
                        &err),
         &err);
    free(bandwidth);
    free(latency);
}

void naive_lower(const ss_model *m, const ss_topology *t, ss_routes *r, const ss_strategy *s,
                 const ss_timer *timer, const ss_lower_options *o, naive_lowered *out)
{
    naive w = {m, t, r, s, timer, o, out, NULL, NULL, NULL};
    ss_error err;
    *out = (naive_lowered){0};
    out->ops = m->ops;
    w.forward = out->forward = room(m->ops, sizeof *w.forward);
    w.backward = out->backward = room(m->ops, sizeof *w.backward);
    out->sum = room(m->ops, sizeof *out->sum);
    w.barrier = room(t->devices, sizeof *w.barrier);
    start(&w);
    for (uint32_t i = 1; i <= m->ops; i++)
        forward(&w, i);
    for (uint32_t i = m->ops; i > 0; i--)
        if (o->training && !o->lumped && needs_gradient(&w, i))
            backward(&w, i);
    for (uint32_t x = 1; x <= m->weights; x++)
        cut_weight(&w, x);
    size_t tasks = w.out->tasks.n;
    for (uint32_t i = 1; i <= m->ops; i++)
        tasks += parts(&w, i);
    /* A message waits for the gradients of its sender and for at most as many messages as there are
     * members, each in at most max_segments pieces. */
    uint32_t *before =
        room(tasks + ((size_t)t->devices + 4) * (1 + o->max_segments) + 1, sizeof *before);
    if (o->training)
        synchronize(&w, before);
    free(before);
    must(ss_tasks_finish(&out->tasks, &err), &err);
    free(w.barrier);
}

void naive_lowered_free(naive_lowered *n)
{
    ss_tasks_free(&n->tasks);
    for (uint32_t k = 0; k < n->shards; k++)
        free(n->shard[k].device);
    free(n->shard);
    for (uint32_t i = 0; i <= n->ops; i++)
        free(n->sum[i]);
    free(n->sum);
    free(n->forward);
    free(n->backward);
    free(n->message);
    *n = (naive_lowered){0};
}
