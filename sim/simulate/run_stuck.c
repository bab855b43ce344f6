/* run_stuck.c - why a run cannot go on, in the names that the user gave. */
#include "simulate/run_inside.h"

#include <stdio.h>

#include "base/text.h"
#include "graph/cycle.h"

enum { NAME = 300 };

static const char *device_name(const ss_run *r, uint32_t device)
{
    const ss_topology *t = r->options.topology;
    return t && device && device <= t->devices ? ss_topology_device_name(t, (ss_device){device})
                                               : NULL;
}

static void name_resource(const ss_run *r, uint32_t resource, char *out)
{
    const ss_topology *t = r->options.topology;
    uint32_t devices = r->tasks.devices;
    const char *name = resource <= devices                   ? device_name(r, resource)
                       : t && resource - devices <= t->links ? t->link[resource - devices].name
                                                             : NULL;
    if (name)
        snprintf(out, NAME, "%s %s", resource <= devices ? "device" : "link", name);
    else
        snprintf(out, NAME, "%s %u", resource <= devices ? "device" : "link",
                 resource <= devices ? resource : resource - devices);
}

/* The operator, or the weight where its gradients meet. */
static const char *owner_name(const ss_run *r, const ss_task_label *l)
{
    const ss_model *m = r->options.model;
    bool weight = l->kind == SS_TASK_UPDATE || l->kind == SS_TASK_COLLECTIVE ||
                  l->cargo == SS_CARGO_WEIGHT_GRADIENT || l->cargo == SS_CARGO_WEIGHT;
    if (!m || !l->op || l->op > (weight ? m->weights : m->ops))
        return NULL;
    return weight ? m->weight[l->op].name : m->op[l->op].name;
}

/* "transfer 'gradients'", "transfer conv1 a -> b", "forward of conv1 on a", "task 5". */
static void name_task(const ss_run *r, uint32_t i, char *out)
{
    const ss_task_label *l = &r->tasks.label[i];
    const char *kind = ss_task_kind_name((ss_task_kind)l->kind), *owner = owner_name(r, l);
    const char *given = r->added && i > r->given ? r->added[i - r->given - 1] : NULL;
    const char *from = device_name(r, l->from.i), *to = device_name(r, l->to.i);
    const char *on = device_name(r, r->tasks.where[i]);
    if (given)
        snprintf(out, NAME, "%s '%s'", kind, given);
    else if (l->kind == SS_TASK_TRANSFER && from && to)
        snprintf(out, NAME, "%s %u%s%s (%s -> %s)", kind, i, owner ? " of " : "",
                 owner ? owner : "", from, to);
    else
        snprintf(out, NAME, "%s %u%s%s%s%s", l->kind && l->kind != SS_TASK_COMPUTE ? kind : "task",
                 i, owner ? " of " : "", owner ? owner : "", on ? " on " : "", on ? on : "");
}

/* Of how many others the same is true. */
static void tell_rest(const ss_run *r, char *out)
{
    uint32_t left = r->tasks.n - r->done;
    *out = '\0';
    if (left > 1)
        snprintf(out, NAME, "; %u of %u tasks are not done", left, r->tasks.n);
}

/* What a task that can never end waits for; 0: nothing of its own. */
static uint32_t standing_still(const ss_run *r, uint32_t i)
{
    uint32_t n;
    if (r->task[i].stage != SS_STAGE_RUNS && r->task[i].stage != SS_STAGE_FLOWS)
        return 0;
    const uint32_t *of = ss_tasks_resources(&r->tasks, (ss_task){i}, &n);
    for (uint32_t k = 0; k < n; k++)
        if (!r->resource[of[k]].speed)
            return of[k];
    return 0;
}

static uint32_t slowest(const ss_run *r, uint32_t i)
{
    uint32_t n, at = 0;
    const uint32_t *of = ss_tasks_resources(&r->tasks, (ss_task){i}, &n);
    for (uint32_t k = 1; k < n; k++)
        if (r->resource[of[k]].speed < r->resource[of[at]].speed)
            at = k;
    return of[at];
}

ss_status ss_run_refuse_stuck(const ss_run *r, ss_error *err)
{
    const ss_tasks *t = &r->tasks;
    char task[NAME], what[NAME], rest[NAME];
    if (ss_cycle_refuse(t->n, t->first_in, t->in, 1, err))
        return SS_EINVAL;
    tell_rest(r, rest);
    for (uint32_t i = 1; i <= t->n; i++) {
        uint32_t resource = standing_still(r, i);
        if (!resource)
            continue;
        name_task(r, i, task);
        name_resource(r, resource, what);
        return ss_fail(err, SS_EINVAL, "%s can never end: %s stands still%s", task, what, rest);
    }
    for (uint32_t i = 1; i <= t->n; i++) {
        if (r->task[i].stage != SS_STAGE_RUNS && r->task[i].stage != SS_STAGE_FLOWS)
            continue;
        name_task(r, i, task);
        name_resource(r, slowest(r, i), what);
        bool flows = r->task[i].stage == SS_STAGE_FLOWS && !ss_run_rate(r, (ss_task){i});
        return ss_fail(
            err, SS_ERANGE,
            "%s would end later than 106 days after the start, which times cannot "
            "hold%s; it is on %s%s",
            task, flows ? " (rates are whole multiples of about 2^-57 of the fastest link's)" : "",
            what, rest);
    }
    for (uint32_t i = 1; i <= t->n; i++) {
        if (r->task[i].stage != SS_STAGE_QUEUED)
            continue;
        name_task(r, i, task);
        return ss_fail(
            err, SS_EINVAL,
            "%s can never start: it is ready since %.12g s, and what is to run before it "
            "on its device or links waits for it in turn%s",
            task, ss_time_seconds(r->task[i].ready), rest);
    }
    return ss_fail(err, SS_ERANGE, "%u of %u tasks can never end", t->n - r->done, t->n);
}
