/* run_interference.c - devices of one machine that share its memory slow each other.
 *
 * How far a task waits for memory is its bound (graph/tasks.h).  Where a task that has one begins or ends, or a
 * device stands still or goes on, speeds are found anew of all that runs on the machine, when the instant is over.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "simulate/run_inside.h"

typedef struct whose {
    uint64_t machine;
    uint32_t device;
} whose;

static int by_machine(const void *a, const void *b)
{
    const whose *x = a, *y = b;
    if (x->machine != y->machine)
        return x->machine < y->machine ? -1 : 1;
    return x->device < y->device ? -1 : x->device > y->device;
}

/* Machine 0 of a topology is a machine of the device's own. */
static uint64_t machine_of(const ss_run_options *o, uint32_t device)
{
    uint32_t machine = o->topology ? o->topology->device[device].def.machine : 1;
    return machine ? machine : (UINT64_C(1) << 32) + device;
}

static void number_machines(ss_run *r, const ss_run_options *o, whose *sorted)
{
    uint32_t devices = r->tasks.devices, machines = 0;
    for (uint32_t d = 1; d <= devices; d++)
        sorted[d - 1] = (whose){machine_of(o, d), d};
    qsort(sorted, devices, sizeof *sorted, by_machine);
    for (uint32_t i = 0; i < devices; i++) {
        if (!i || sorted[i].machine != sorted[i - 1].machine)
            r->machine[++machines].first = i;
        r->machine[machines].end = i + 1;
        r->mate[i] = sorted[i].device;
        r->machine_of[sorted[i].device] = machines;
    }
}

ss_status ss_run_take_machines(ss_run *r, const ss_run_options *o, ss_error *err)
{
    size_t rows = (size_t)r->tasks.devices + 1;
    if (!(o->interference >= 0 && o->interference <= 1000))
        return ss_fail(err, SS_EINVAL, "interference is %g; it must be from 0 to 1000",
                       o->interference);
    if (!(o->interference > 0))
        return SS_OK;
    whose *sorted = ss_alloc(rows * sizeof *sorted);
    r->machine = ss_alloc_zeroed(rows, sizeof *r->machine);
    r->machine_of = ss_alloc_zeroed(rows, sizeof *r->machine_of);
    r->mate = ss_alloc(rows * sizeof *r->mate);
    r->pressed = ss_alloc(rows * sizeof *r->pressed);
    bool there = sorted && r->machine && r->machine_of && r->mate && r->pressed;
    if (there)
        number_machines(r, o, sorted);
    ss_free(sorted);
    return there ? SS_OK : ss_fail_memory(err, "machines of a run", rows * sizeof *sorted);
}

/* The devices that a task keeps busy. */
static uint32_t devices_of(const ss_run *r, uint32_t id, uint32_t *device)
{
    const ss_task_label *l = &r->tasks.label[id];
    uint32_t n = 0;
    if (r->tasks.where[id] <= r->tasks.devices)
        device[n++] = r->tasks.where[id];
    else if (ss_run_options_block_sender(&r->options) && l->from.i)
        device[n++] = l->from.i;
    if (r->tasks.where[id] > r->tasks.devices && ss_run_options_block_receiver(&r->options) &&
        l->to.i && (!n || l->to.i != l->from.i))
        device[n++] = l->to.i;
    return n;
}

void ss_run_press_machine(ss_run *r, uint32_t device)
{
    ss_run_machine *m = r->machine ? &r->machine[r->machine_of[device]] : NULL;
    if (!m || m->pressed || m->end - m->first < 2)
        return;
    m->pressed = true;
    r->pressed[r->presseds++] = r->machine_of[device];
}

void ss_run_press(ss_run *r, uint32_t id)
{
    uint32_t device[2];
    if (!r->machine || !(ss_tasks_bound(&r->tasks, (ss_task){id}) > 0))
        return;
    for (uint32_t n = devices_of(r, id, device); n; n--)
        ss_run_press_machine(r, device[n - 1]);
}

/* Bounds of what runs on a device, unless it stands still. */
static double pressure_of(const ss_run *r, uint32_t device)
{
    const ss_run_resource *x = &r->resource[device];
    double sum = 0;
    for (uint32_t i = 0; i < x->running && x->speed; i++)
        sum += ss_tasks_bound(&r->tasks, (ss_task){x->runs[i]});
    return sum;
}

ss_wide ss_run_interfered(const ss_run *r, uint32_t id, ss_wide speed)
{
    double bound = r->machine ? ss_tasks_bound(&r->tasks, (ss_task){id}) : 0, others = 0;
    uint32_t device[2], n = bound > 0 && speed ? devices_of(r, id, device) : 0;
    if (!n)
        return speed;
    const ss_run_machine *m = &r->machine[r->machine_of[device[0]]];
    for (uint32_t i = m->first; i < m->end; i++)
        if (r->mate[i] != device[0] && (n < 2 || r->mate[i] != device[1]))
            others += pressure_of(r, r->mate[i]);
    if (!(others > 0))
        return speed;
    return ss_run_units(ss_wide_double(speed) * 0x1p-64 /
                        (1 + r->options.interference * bound * others));
}

ss_status ss_run_renew_machines(ss_run *r, ss_error *err)
{
    ss_status s = SS_OK;
    while (r->presseds && !s) {
        ss_run_machine *m = &r->machine[r->pressed[--r->presseds]];
        m->pressed = false;
        for (uint32_t i = m->first; i < m->end && !s; i++) {
            const ss_run_resource *x = &r->resource[r->mate[i]];
            for (uint32_t k = 0; k < x->running && !s; k++) {
                uint32_t id = x->runs[k];
                if (r->task[id].stage != SS_STAGE_RUNS ||
                    !(ss_tasks_bound(&r->tasks, (ss_task){id}) > 0))
                    continue;
                ss_run_settle_task(r, &r->task[id]);
                s = ss_run_renew(r, id, err);
            }
        }
    }
    return s;
}
