#include "simulate/steps.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/units.h"

/* A task after which a weight is new on a device, as far as that task is concerned. */
typedef struct ss_renewal {
    uint64_t place; /* weight and device */
    uint32_t task;
} ss_renewal;

typedef struct ss_renewals {
    ss_renewal *row;
    uint32_t n, cap;
} ss_renewals;

static uint64_t place_of(uint32_t weight, uint32_t device)
{
    return (uint64_t)weight << 32 | device;
}

static int by_place(const void *a, const void *b)
{
    const ss_renewal *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

static ss_status add(ss_renewals *to, uint32_t weight, uint32_t device, uint32_t task,
                     ss_error *err)
{
    ss_status s = SS_RESERVE(to->row, to->cap, (size_t)to->n + 1, "weights of steps", err);
    if (!s)
        to->row[to->n++] = (ss_renewal){place_of(weight, device), task};
    return s;
}

/* A device's own gradients of an operator's weights. */
static ss_status add_own(ss_renewals *to, const ss_model *m, const ss_lowered *l, uint32_t task,
                         ss_error *err)
{
    const ss_op_row *op = &m->op[l->tasks.label[task].op];
    ss_status s = SS_OK;
    for (uint32_t k = 0; k < SS_MAX_WEIGHTS && !s; k++)
        if (op->weight[k].i)
            s = add(to, op->weight[k].i, l->tasks.where[task], task, err);
    return s;
}

/* A meeting that is one task, on each device that it is of. */
static ss_status add_meeting(ss_renewals *to, const ss_lowered *l, uint32_t task, ss_error *err)
{
    const ss_shard *x = &l->shard[l->tasks.label[task].part];
    ss_status s = SS_OK;
    for (uint32_t r = x->first_device; r < x->first_device + x->devices && !s; r++)
        s = add(to, l->tasks.label[task].op, l->shard_device[r].i, task, err);
    return s;
}

static bool is_last_of_device(const ss_lowered *l, const ss_task_label *x)
{
    return x->kind == SS_TASK_BACKWARD || x->kind == SS_TASK_LUMPED ||
           (x->kind == SS_TASK_FORWARD && !l->backward[x->op].i);
}

static ss_status add_renewals(ss_renewals *to, const ss_model *m, const ss_lowered *l,
                              uint32_t task, ss_error *err)
{
    const ss_task_label *x = &l->tasks.label[task];
    bool of_weight = x->cargo == SS_CARGO_WEIGHT_GRADIENT || x->cargo == SS_CARGO_WEIGHT;
    if (is_last_of_device(l, x))
        return add_own(to, m, l, task, err);
    if (x->kind == SS_TASK_BARRIER) /* weight 0: of all */
        return add(to, 0, l->tasks.where[task], task, err);
    if (x->kind == SS_TASK_UPDATE)
        return add(to, x->op, l->tasks.where[task], task, err);
    if (x->kind == SS_TASK_COLLECTIVE)
        return add_meeting(to, l, task, err);
    if (x->kind == SS_TASK_TRANSFER && of_weight && x->to.i)
        return add(to, x->op, x->to.i, task, err);
    return SS_OK;
}

/* In place of a weight: a device has done its part of a step. */
enum { DEVICE_IS_DONE = 0x7fffffff };

static bool is_of_operator(const ss_task_label *x)
{
    return x->kind == SS_TASK_FORWARD || x->kind == SS_TASK_BACKWARD || x->kind == SS_TASK_LUMPED ||
           x->kind == SS_TASK_ACCUMULATE || x->kind == SS_TASK_GATHER;
}

/* A task of an operator that is followed by none on its device. */
static bool is_last_there(const ss_tasks *t, uint32_t task)
{
    bool last = is_of_operator(&t->label[task]);
    for (uint32_t o = t->first_out[task]; o < t->first_out[task + 1] && last; o++)
        last = t->where[t->out[o]] != t->where[task] || !is_of_operator(&t->label[t->out[o]]);
    return last;
}

static ss_status find_renewals(ss_renewals *to, const ss_model *m, const ss_lowered *l,
                               ss_error *err)
{
    const ss_tasks *t = &l->tasks;
    ss_status s = SS_OK;
    for (uint32_t i = 1; i <= t->n && !s; i++) {
        if (l->options.training)
            s = add_renewals(to, m, l, i, err);
        if (!s && is_last_there(t, i))
            s = add(to, DEVICE_IS_DONE, t->where[i], i, err);
    }
    if (!s && to->n)
        qsort(to->row, to->n, sizeof *to->row, by_place);
    return s;
}

static uint32_t first_at(const ss_renewals *x, uint64_t place)
{
    uint32_t low = 0, high = x->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (x->row[middle].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What the forward tasks of a step wait for in the step before: rows of all tasks. */
typedef struct ss_waits {
    uint32_t *first, *task; /* [tasks + 2], [first[tasks + 1]] */
    uint32_t cap, n;
} ss_waits;

static ss_status wait_for(ss_waits *w, const ss_renewals *of, uint64_t place, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t i = first_at(of, place); i < of->n && of->row[i].place == place && !s; i++) {
        s = SS_RESERVE(w->task, w->cap, (size_t)w->n + 1, "weights of steps", err);
        if (!s)
            w->task[w->n++] = of->row[i].task;
    }
    return s;
}

static ss_status find_waits(ss_waits *w, const ss_renewals *of, const ss_model *m,
                            const ss_lowered *l, ss_error *err)
{
    const ss_tasks *t = &l->tasks;
    ss_status s = SS_REGROW(w->first, (size_t)t->n + 2, "weights of steps", err);
    if (s)
        return s;
    w->first[0] = w->first[1] = 0;
    for (uint32_t i = 1; i <= t->n && !s; i++) {
        const ss_task_label *x = &t->label[i];
        bool forward = x->kind == SS_TASK_FORWARD || x->kind == SS_TASK_LUMPED, any = false;
        for (uint32_t k = 0; k < SS_MAX_WEIGHTS && forward && !s; k++) {
            uint32_t weight = m->op[x->op].weight[k].i;
            any |= weight > 0;
            if (weight)
                s = wait_for(w, of, place_of(weight, t->where[i]), err);
        }
        if (any && !s)
            s = wait_for(w, of, place_of(0, t->where[i]), err);
        if (forward && !s && t->first_in[i] == t->first_in[i + 1])
            s = wait_for(w, of, place_of(DEVICE_IS_DONE, t->where[i]), err);
        w->first[i + 1] = w->n;
    }
    return s;
}

static ss_status repeat(const ss_lowered *l, const ss_model *m, uint32_t steps, ss_tasks *out,
                        const ss_watch *watch, ss_error *err)
{
    ss_renewals renewals = {0};
    ss_waits waits = {0};
    ss_status s = find_renewals(&renewals, m, l, err);
    if (!s)
        s = find_waits(&waits, &renewals, m, l, err);
    if (!s)
        s = ss_tasks_copy(&l->tasks, out, err);
    if (!s)
        s = ss_tasks_repeat(out, steps, waits.first, waits.task, watch, err);
    if (!s)
        s = ss_tasks_finish(out, err);
    ss_free(renewals.row);
    ss_free(waits.first);
    ss_free(waits.task);
    return s;
}

/* That a computer has no memory is found late, when it has none left for others either. */
static ss_status refuse_size(uint32_t tasks, uint32_t steps, ss_error *err)
{
    uint64_t all = (uint64_t)tasks * steps;
    char bytes[SS_QUANTITY_TEXT];
    if (all <= SS_STEPS_MOST_TASKS)
        return SS_OK;
    ss_format_quantity((double)all * SS_STEPS_BYTES_A_TASK, SS_UNIT_BYTES, bytes, sizeof bytes);
    return ss_fail(err, SS_ERANGE,
                   "%u steps of %u tasks each would be %llu tasks, and take some %s of memory; %d "
                   "tasks at most are simulated in a row, that is %u such steps",
                   steps, tasks, (unsigned long long)all, bytes, SS_STEPS_MOST_TASKS,
                   SS_STEPS_MOST_TASKS / tasks);
}

static ss_status refuse(const ss_result *r, uint32_t steps, ss_error *err)
{
    if (steps < 2 || steps > SS_STEPS_MOST)
        return ss_fail(err, SS_EINVAL, "%u steps in a row; from 2 to %d can be asked for", steps,
                       SS_STEPS_MOST);
    if (r->added)
        return ss_fail(err, SS_EINVAL,
                       "a script added tasks while this ran, and only it knows what for");
    if (r->lowered->options.run.order == SS_ORDER_PRIORITY)
        return ss_fail(err, SS_EINVAL, "the priorities of this run are not kept");
    if (r->lowered->options.training && r->lowered->options.sync == SS_SYNC_CLOSED_FORM)
        return ss_fail(
            err, SS_EINVAL,
            "gradients that meet in closed form (sync = \"closed_form\") are charged to the "
            "whole step: take a sync of messages");
    return refuse_size(r->lowered->tasks.n, steps, err);
}

static void find_ends(const ss_tasks *t, const ss_timeline *l, uint32_t steps, ss_time *end)
{
    uint32_t of_step = t->n / steps;
    for (uint32_t k = 0; k < steps; k++) {
        end[k] = 0;
        for (uint32_t i = k * of_step + 1; i <= (k + 1) * of_step; i++) {
            ss_time finish = ss_timeline_finish(t, l, (ss_task){i});
            end[k] = finish > end[k] ? finish : end[k];
        }
    }
}

/* What happened in the step, at the times it had, and what was to happen after it. */
static ss_status take_changes(const ss_result *r, ss_run_options *order, ss_change **out,
                              ss_error *err)
{
    uint32_t n = r->changes, given = order->changes;
    ss_change *all = ss_alloc(((size_t)n + given + 1) * sizeof *all);
    *out = all;
    if (!all)
        return ss_fail_memory(err, "what happens on the way", (n + given) * sizeof *all);
    for (uint32_t i = 0; i < n; i++)
        all[i] = r->change[i];
    for (uint32_t i = 0; i < given; i++)
        if (order->change[i].at > r->timeline.makespan)
            all[n++] = order->change[i];
    order->change = all;
    order->changes = n;
    return SS_OK;
}

ss_status ss_steps_of_result(const ss_result *r, const ss_model *m, ss_engine *e, uint32_t steps,
                             ss_time *end, ss_error *err)
{
    ss_run_options order = r->lowered->options.run;
    ss_timeline line = {0};
    ss_tasks all = {0};
    ss_change *changes = NULL;
    ss_status s = refuse(r, steps, err);
    if (!s)
        s = repeat(r->lowered, m, steps, &all, ss_engine_watch(e), err);
    if (!s)
        s = take_changes(r, &order, &changes, err);
    if (!s)
        s = ss_run_options_published(&order)
                ? ss_engine_run(e, &all, &line, err)
                : ss_run_simulate(&all, &order, ss_engine_watch(e), &line, err);
    if (!s)
        find_ends(&all, &line, steps, end);
    ss_time overhead = 0; /* of all steps so far */
    for (uint32_t k = 0; k < steps && !s; k++) {
        s = ss_time_add(overhead, r->overhead, &overhead, err);
        if (!s)
            s = ss_time_add(end[k], overhead, &end[k], err);
    }
    ss_timeline_free(&line);
    ss_tasks_free(&all);
    ss_free(changes);
    return s;
}

double ss_steps_period(const ss_time *end, uint32_t steps, ss_time alone)
{
    ss_time last = 0;
    for (uint32_t k = 0; k < steps; k++)
        last = end[k] > last ? end[k] : last;
    return ss_time_seconds(last - alone) / (steps - 1);
}
