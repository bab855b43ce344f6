#include "validation/executor/execution_inside.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"

ss_execution_options ss_execution_options_start(void)
{
    return (ss_execution_options){.seed = 1, .rate = 0.001, .pinned = true};
}

float *ss_execution_array(ss_execution *e, int64_t n)
{
    enum { LINE = 64 };
    ss_error err;
    if (SS_RESERVE(e->array, e->array_cap, (size_t)e->arrays + 1, "arrays", &err))
        return NULL;
    char *block = ss_alloc_zeroed((size_t)(n > 0 ? n : 1) * sizeof(float) + LINE, 1);
    if (!block)
        return NULL;
    e->array[e->arrays++] = (float *)(void *)block;
    return (float *)(void *)(block + (LINE - (uintptr_t)block % LINE) % LINE);
}

/* ---- what can be executed ------------------------------------------------------------------ */

static ss_status refuse(ss_error *err, const char *what)
{
    return ss_fail(err, SS_EUNSUPPORTED, "it cannot be executed: %s", what);
}

static ss_status check_options(const ss_lower_options *o, ss_error *err)
{
    bool server = o->sync == SS_SYNC_PARAMETER_SERVER;
    if (o->lumped)
        return refuse(err, "forward and backward are one task (lumped)");
    if (o->coalesce != SS_COALESCE_NONE)
        return refuse(err, "messages carry pieces of several parts (coalesce = \"per_device\")");
    if (o->segment_bytes > 0 && o->max_segments > 1)
        return refuse(err, "messages are cut into segments (segment)");
    if (!o->training || server || o->sync == SS_SYNC_NONE)
        return SS_OK;
    if (o->sync == SS_SYNC_CLOSED_FORM)
        return refuse(err, "gradients meet by a formula (sync = \"closed_form\")");
    if (o->sync == SS_SYNC_IN_NETWORK)
        return refuse(err, "gradients are added up in switches (sync = \"in_network\")");
    if (o->aggregate)
        return refuse(err, "each meeting of gradients is one task (aggregate)");
    return SS_OK;
}

/* Every transfer crosses one link, from one device to another. */
static ss_status check_tasks(const ss_topology *t, const ss_lowered *l, ss_error *err)
{
    for (uint32_t i = 1; i <= l->tasks.n; i++) {
        const ss_task_label *x = &l->tasks.label[i];
        uint32_t n;
        (void)ss_tasks_resources(&l->tasks, (ss_task){i}, &n);
        if (x->kind != SS_TASK_TRANSFER)
            continue;
        const char *from = ss_topology_device_name(t, x->from),
                   *to = ss_topology_device_name(t, x->to);
        if (x->hop || n > 1)
            return ss_fail(err, SS_EUNSUPPORTED,
                           "it cannot be executed: messages from %s to %s cross several links; "
                           "between threads of "
                           "one machine there is one",
                           from, to);
    }
    return SS_OK;
}

ss_status ss_execution_new(const ss_model *m, const ss_topology *t, const ss_strategy *s,
                           const ss_lowered *l, const ss_kernel_maker *maker,
                           const ss_execution_options *o, ss_execution **out, ss_error *err)
{
    ss_status status = check_options(&l->options, err);
    if (!status)
        status = check_tasks(t, l, err);
    if (status)
        return status;
    ss_execution *e = ss_alloc_zeroed(1, sizeof *e);
    if (!e)
        return ss_fail_memory(err, "an execution", sizeof *e);
    *e = (ss_execution){.model = m, .topology = t, .strategy = s, .lowered = l, .options = *o};
    if ((status = ss_execution_make_parts(e, maker, err)) ||
        (status = ss_execution_make_actions(e, err)) || (status = ss_crew_new(e, err))) {
        ss_execution_free(e);
        return status;
    }
    *out = e;
    return SS_OK;
}

void ss_execution_free(ss_execution *e)
{
    if (!e)
        return;
    ss_crew_free(e);
    for (uint32_t i = 0; i < e->parts; i++)
        ss_kernel_free(e->part[i].kernel);
    for (uint32_t i = 0; i < e->arrays; i++)
        ss_free(e->array[i]);
    ss_free(e->array);
    ss_free(e->copy);
    ss_arena_free(&e->memory);
    ss_free(e);
}
