/* run_change.c - links and devices that change on the way, and tasks that are added. */
#include <math.h>

#include "base/array.h"
#include "simulate/run_inside.h"

static const double most_speed = 1000;

/* All that runs on a resource goes on at its new speed. */
static ss_status renew_all(ss_run *r, uint32_t resource, uint64_t speed, ss_error *err)
{
    ss_run_resource *x = &r->resource[resource];
    ss_status s = SS_OK;
    if (x->speed == speed)
        return SS_OK;
    x->speed = speed;
    for (uint32_t i = 0; i < x->running && !s; i++) {
        if (r->task[x->runs[i]].stage != SS_STAGE_RUNS)
            continue; /* a flow that blocks the device */
        ss_run_settle_task(r, &r->task[x->runs[i]]);
        s = ss_run_renew(r, x->runs[i], err);
    }
    r->broken = s != SS_OK;
    return s;
}

static ss_status set_shared_link(ss_run *r, uint32_t link, double bytes_per_s, ss_error *err)
{
    ss_status s = ss_sharing_set_link(r->sharing, r->now, link, bytes_per_s, err);
    if (!s)
        ss_sharing_settle(r->sharing, r->now);
    return s;
}

ss_status ss_run_set_link(ss_run *r, uint32_t link, double bytes_per_s, double latency_s,
                          ss_error *err)
{
    ss_status s = ss_run_refuse_broken(r, err);
    if (s)
        return s;
    if (link < 1 || link > r->tasks.links)
        return ss_fail(err, SS_EINVAL, "link %u does not exist; there are 1 to %u", link,
                       r->tasks.links);
    if (!(bytes_per_s >= 0) || isinf(bytes_per_s))
        return ss_fail(err, SS_EINVAL,
                       "link %u: bandwidth is %g B/s; it must be 0 or more, and "
                       "finite",
                       link, bytes_per_s);
    if (!(latency_s >= 0) || latency_s > 1e6)
        return ss_fail(err, SS_EINVAL, "link %u: latency is %g s; it must be from 0 to 1e6", link,
                       latency_s);
    double speed = bytes_per_s / r->tasks.bytes_per_s[link];
    if (speed > most_speed)
        return ss_fail(err, SS_ERANGE,
                       "link %u: %g B/s is more than %g times what it had at the start", link,
                       bytes_per_s, most_speed);
    uint32_t resource = r->tasks.devices + link;
    if (r->sharing)
        s = set_shared_link(r, link, bytes_per_s, err);
    if (!s) {
        r->resource[resource].latency_s = latency_s;
        s = renew_all(r, resource, (uint64_t)llrint(speed * (double)SS_RUN_SPEED), err);
    }
    return s;
}

static ss_status refuse_device(const ss_run *r, ss_device d, ss_error *err)
{
    ss_status s = ss_run_refuse_broken(r, err);
    if (!s && (d.i < 1 || d.i > r->tasks.devices))
        s = ss_fail(err, SS_EINVAL, "device %u does not exist; there are 1 to %u", d.i,
                    r->tasks.devices);
    return s;
}

ss_status ss_run_set_speed(ss_run *r, ss_device device, double speed, ss_error *err)
{
    ss_status s = refuse_device(r, device, err);
    if (!s && !(speed >= 0 && speed <= most_speed))
        s = ss_fail(err, SS_EINVAL, "device %u: speed is %g; it must be from 0 to %g", device.i,
                    speed, most_speed);
    return s ? s : renew_all(r, device.i, (uint64_t)llrint(speed * (double)SS_RUN_SPEED), err);
}

ss_status ss_run_restart(ss_run *r, ss_device device, ss_error *err)
{
    ss_status s = refuse_device(r, device, err);
    ss_run_resource *x = &r->resource[s ? 0 : device.i];
    for (uint32_t i = 0; i < x->running && !s; i++) {
        uint32_t id = x->runs[i];
        if (r->tasks.where[id] != device.i)
            continue;
        r->task[id].work = (ss_wide)(uint64_t)r->tasks.hold[id] * SS_RUN_SPEED;
        r->task[id].since = r->now;
        s = ss_run_renew(r, id, err);
    }
    r->broken |= s != SS_OK;
    return s;
}

/* ---- adding -------------------------------------------------------------------------------- */

static ss_status refuse_befores(const ss_run *r, const ss_task *before, uint32_t befores,
                                ss_error *err)
{
    ss_status s = ss_run_refuse_broken(r, err);
    for (uint32_t i = 0; i < befores && !s; i++)
        if (before[i].i < 1 || before[i].i > r->tasks.n)
            s = ss_fail(err, SS_EINVAL, "a new task waits for task %u; there are 1 to %u",
                        before[i].i, r->tasks.n);
    return s;
}

/* Tasks `first` .. n of the graph are new to the run. */
static ss_status take_over(ss_run *r, uint32_t first, ss_error *err)
{
    const ss_tasks *t = &r->tasks;
    ss_status s = SS_RESERVE(r->task, r->task_cap, (size_t)t->n + 1, "tasks of a run", err);
    for (uint32_t i = first; i <= t->n && !s; i++) {
        r->task[i] = (ss_run_task){.ready = -1, .start = -1, .end = -1};
        s = SS_RESERVE(r->edge, r->edge_cap,
                       (size_t)r->edges + 1 + t->first_in[i + 1] - t->first_in[i], "dependencies",
                       err);
        for (uint32_t e = t->first_in[i]; e < t->first_in[i + 1] && !s; e++) {
            ss_run_task *p = &r->task[t->in[e]];
            if (p->stage == SS_STAGE_DONE)
                continue;
            r->edge[++r->edges] = (ss_run_edge){i, p->more_out};
            p->more_out = r->edges;
            r->task[i].missing++;
        }
    }
    for (uint32_t i = first; i <= t->n && !s; i++)
        if (!r->task[i].missing)
            s = ss_run_ready(r, i, err);
    if (!s)
        s = ss_run_start_ready(r, err);
    if (!s && r->sharing)
        ss_sharing_settle(r->sharing, r->now);
    r->broken = s != SS_OK;
    return s;
}

ss_status ss_run_add(ss_run *r, ss_device device, ss_time hold, const ss_task_label *label,
                     const ss_task *before, uint32_t befores, ss_task *out, ss_error *err)
{
    ss_status s = refuse_device(r, device, err);
    if (!s)
        s = refuse_befores(r, before, befores, err);
    if (!s)
        s = ss_tasks_reserve_more(&r->tasks, 1, befores, err);
    if (!s)
        s = ss_tasks_add(&r->tasks, device.i, hold, 0, label, out, err);
    if (s)
        return s;
    for (uint32_t i = 0; i < befores; i++)
        (void)ss_tasks_after(&r->tasks, before[i], err); /* there is room */
    return take_over(r, out->i, err);
}

static ss_status tell_sharing_of_paths(ss_run *r, ss_error *err)
{
    const ss_tasks *t = &r->tasks;
    ss_paths paths = {t->sets, t->first_of_set, t->of_set, t->devices, NULL, NULL};
    if (!r->sharing || r->paths == t->sets)
        return SS_OK;
    ss_status s = ss_sharing_add_paths(r->sharing, &paths, err);
    if (!s)
        r->paths = t->sets;
    return s;
}

ss_status ss_run_send(ss_run *r, const uint32_t *link, uint32_t links, int64_t bytes,
                      const ss_task_label *label, const ss_task *before, uint32_t befores,
                      ss_task *out, ss_error *err)
{
    uint32_t first = r->tasks.n + 1, n = 0;
    ss_status s = refuse_befores(r, before, befores, err);
    if (!s && !links)
        s = ss_fail(err, SS_EINVAL, "a message over no links");
    if (!s)
        s = ss_tasks_transfer(&r->tasks, link, links, bytes, 0, 0, label, before, befores, out, &n,
                              err);
    if (s)
        return s;
    s = tell_sharing_of_paths(r, err);
    r->broken = s != SS_OK; /* the tasks are there, and nobody would run them */
    return s ? s : take_over(r, first, err);
}
