/* run_change.c - links and devices that change on the way, and tasks that are added. */
#include <math.h>

#include "base/array.h"
#include "base/mem.h"
#include "simulate/paths.h"
#include "simulate/run_inside.h"

static const double most_speed = 1000;

/* All that runs on a resource goes on at its new speed. */
static ss_status renew_all(ss_run *r, uint32_t resource, ss_wide speed, ss_error *err)
{
    ss_run_resource *x = &r->resource[resource];
    ss_status s = SS_OK;
    if (x->speed == speed)
        return SS_OK;
    bool stands = !x->speed != !speed;
    x->speed = speed;
    for (uint32_t i = 0; i < x->running && !s; i++) {
        if (r->task[x->runs[i]].stage != SS_STAGE_RUNS)
            continue; /* a flow that blocks the device */
        ss_run_settle_task(r, &r->task[x->runs[i]]);
        s = ss_run_renew(r, x->runs[i], err);
    }
    if (!s && stands && resource <= r->tasks.devices) {
        ss_run_press_machine(r, resource);
        s = ss_run_renew_machines(r, err);
    }
    r->broken = s != SS_OK;
    return s;
}

/* What it offered until now is added up. */
static void settle_offered(ss_run *r, uint32_t link)
{
    ss_run_resource *x = &r->resource[r->tasks.devices + link];
    x->offered += ss_run_bandwidth(r, link) * ss_time_seconds(r->now - x->since);
    x->since = r->now;
    x->changed = true;
}

/* What flows can have where links fall short by size, of paths behind `from`. */
static void renew_limits(ss_run *r, uint32_t from)
{
    const ss_tasks *t = &r->tasks;
    for (uint32_t p = from + 1; p <= r->paths && t->share_of_set; p++) {
        ss_path_limit limit = ss_path_limit_of(t, p);
        for (uint32_t i = t->first_of_set[p]; i < t->first_of_set[p + 1]; i++)
            ss_path_limit_next(&limit, r->bytes_per_s[t->of_set[i] - t->devices]);
        if (limit.by_links)
            ss_sharing_set_cap(r->sharing, p, ss_path_limit_end(&limit));
    }
}

/* The link has what is its own, or nothing if it failed. */
static ss_status obey_link(ss_run *r, uint32_t link, double bytes_per_s, bool stopped,
                           ss_error *err)
{
    ss_run_resource *x = &r->resource[r->tasks.devices + link];
    double now = stopped ? 0 : bytes_per_s;
    if (r->sharing) {
        ss_status s = ss_sharing_set_link(r->sharing, link, now, err);
        if (s)
            return s;
        r->bytes_per_s[link] = now;
        renew_limits(r, 0);
        ss_sharing_settle(r->sharing, r->now);
    }
    settle_offered(r, link);
    x->bytes_per_s = bytes_per_s;
    x->stopped = stopped;
    x->own = ss_run_units(bytes_per_s / r->tasks.bytes_per_s[link]);
    return renew_all(r, r->tasks.devices + link, stopped ? 0 : x->own, err);
}

static ss_status refuse_link(const ss_run *r, uint32_t link, ss_error *err)
{
    if (link < 1 || link > r->tasks.links)
        return ss_fail(err, SS_EINVAL, "link %u does not exist; there are 1 to %u", link,
                       r->tasks.links);
    return SS_OK;
}

static ss_status refuse_figures(const ss_run *r, uint32_t link, double bytes_per_s,
                                double latency_s, ss_error *err)
{
    ss_status s = refuse_link(r, link, err);
    if (s)
        return s;
    if (!(bytes_per_s >= 0) || isinf(bytes_per_s))
        return ss_fail(err, SS_EINVAL,
                       "link %u: bandwidth is %g B/s; it must be 0 or more, and "
                       "finite",
                       link, bytes_per_s);
    if (!(latency_s >= 0) || latency_s > 1e6)
        return ss_fail(err, SS_EINVAL, "link %u: latency is %g s; it must be from 0 to 1e6", link,
                       latency_s);
    if (bytes_per_s / r->tasks.bytes_per_s[link] > most_speed)
        return ss_fail(err, SS_ERANGE,
                       "link %u: %g B/s is more than %g times what it had at the start", link,
                       bytes_per_s, most_speed);
    return SS_OK;
}

ss_status ss_run_set_link(ss_run *r, uint32_t link, double bytes_per_s, double latency_s,
                          ss_error *err)
{
    ss_status s = ss_run_refuse_broken(r, err);
    if (!s)
        s = refuse_figures(r, link, bytes_per_s, latency_s, err);
    if (s)
        return s;
    ss_run_resource *x = &r->resource[r->tasks.devices + link];
    s = obey_link(r, link, bytes_per_s, x->stopped, err);
    if (s)
        return s;
    r->other_lags |= r->tasks.mode == SS_LINKS_FIFO_PIPE && latency_s != x->latency_s;
    x->latency_s = latency_s;
    return SS_OK;
}

static ss_status refuse_device(const ss_run *r, ss_device d, ss_error *err)
{
    ss_status s = ss_run_refuse_broken(r, err);
    if (!s && (d.i < 1 || d.i > r->tasks.devices))
        s = ss_fail(err, SS_EINVAL, "device %u does not exist; there are 1 to %u", d.i,
                    r->tasks.devices);
    return s;
}

static ss_status refuse_speed(ss_device device, double speed, ss_error *err)
{
    if (!(speed >= 0 && speed <= most_speed))
        return ss_fail(err, SS_EINVAL, "device %u: speed is %g; it must be from 0 to %g", device.i,
                       speed, most_speed);
    return SS_OK;
}

ss_status ss_run_set_speed(ss_run *r, ss_device device, double speed, ss_error *err)
{
    ss_status s = refuse_device(r, device, err);
    if (!s)
        s = refuse_speed(device, speed, err);
    if (s)
        return s;
    ss_run_resource *x = &r->resource[device.i];
    x->own = ss_run_units(speed);
    return renew_all(r, device.i, x->stopped ? 0 : x->own, err);
}

static ss_status stop(ss_run *r, ss_device device, bool stopped, ss_error *err)
{
    ss_run_resource *x = &r->resource[device.i];
    x->stopped = stopped;
    return renew_all(r, device.i, stopped ? 0 : x->own, err);
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

/* ---- changes as things that happen --------------------------------------------------------- */

static double bytes_per_s_of(const ss_run *r, const ss_change *c)
{
    double own = r->resource[r->tasks.devices + c->who].bytes_per_s;
    return ss_change_bytes_per_s(c, own);
}

static double latency_of(const ss_run *r, const ss_change *c)
{
    return c->latency_s < 0 ? r->resource[r->tasks.devices + c->who].latency_s : c->latency_s;
}

/* As far as can be known before it happens. */
static ss_status refuse_change(const ss_run *r, const ss_change *c, ss_error *err)
{
    if ((unsigned)c->kind >= SS_CHANGES)
        return ss_fail(err, SS_EINVAL, "change %d does not exist", (int)c->kind);
    ss_status s = c->kind <= SS_CHANGE_LINK_WORKS ? refuse_link(r, c->who, err)
                                                  : refuse_device(r, (ss_device){c->who}, err);
    if (!s && c->kind == SS_CHANGE_LINK)
        s = refuse_figures(r, c->who, bytes_per_s_of(r, c), latency_of(r, c), err);
    if (!s && c->kind == SS_CHANGE_SPEED)
        s = refuse_speed((ss_device){c->who}, c->speed, err);
    return s;
}

static ss_status obey(ss_run *r, const ss_change *c, ss_error *err)
{
    ss_device device = {c->who};
    ss_status s;
    switch (c->kind) {
    case SS_CHANGE_LINK:
        return ss_run_set_link(r, c->who, bytes_per_s_of(r, c), latency_of(r, c), err);
    case SS_CHANGE_LINK_FAILS:
    case SS_CHANGE_LINK_WORKS:
        return obey_link(r, c->who, r->resource[r->tasks.devices + c->who].bytes_per_s,
                         c->kind == SS_CHANGE_LINK_FAILS, err);
    case SS_CHANGE_SPEED:
        return ss_run_set_speed(r, device, c->speed, err);
    case SS_CHANGE_DEVICE_FAILS:
        s = stop(r, device, true, err);
        return s ? s : ss_run_restart(r, device, err);
    case SS_CHANGE_PAUSE:
    case SS_CHANGE_RESUME:
        return stop(r, device, c->kind == SS_CHANGE_PAUSE, err);
    case SS_CHANGES:
        break;
    }
    return SS_OK;
}

ss_status ss_run_change(ss_run *r, const ss_change *c, ss_error *err)
{
    ss_status s = ss_run_refuse_broken(r, err);
    if (!s)
        s = refuse_change(r, c, err);
    if (!s)
        s = SS_RESERVE(r->happened, r->happened_cap, (size_t)r->happeneds + 1, "changes of a run",
                       err);
    if (s)
        return s;
    ss_change now = *c;
    now.at = r->now;
    s = obey(r, c, err);
    if (!s)
        r->happened[r->happeneds++] = now;
    return s;
}

ss_status ss_run_take_plan(ss_run *r, const ss_run_options *o, ss_error *err)
{
    r->options.change = NULL; /* the caller's */
    r->plan = ss_alloc(((size_t)o->changes + 1) * sizeof *r->plan);
    if (!r->plan)
        return ss_fail_memory(err, "what is to happen", o->changes * sizeof *r->plan);
    for (uint32_t i = 0; i < o->changes; i++) {
        const ss_change *c = &o->change[i];
        ss_status s = refuse_change(r, c, err);
        if (!s && c->at < 0)
            s = ss_fail(err, SS_EINVAL, "change %u is to happen at %.12g s, before the start",
                        i + 1, ss_time_seconds(c->at));
        if (s)
            return s;
        uint32_t k = r->plans++;
        for (; k && r->plan[k - 1].at > c->at; k--)
            r->plan[k] = r->plan[k - 1];
        r->plan[k] = *c;
    }
    return SS_OK;
}

ss_status ss_run_follow_plan(ss_run *r, ss_error *err)
{
    ss_status s = SS_OK;
    while (!s && r->planned < r->plans && r->plan[r->planned].at <= r->now)
        s = ss_run_change(r, &r->plan[r->planned++], err);
    return s;
}

/* ---- what links and devices have now -------------------------------------------------------- */

double ss_run_bandwidth(const ss_run *r, uint32_t link)
{
    const ss_run_resource *x = &r->resource[r->tasks.devices + link];
    return x->stopped ? 0 : x->bytes_per_s;
}

double ss_run_latency(const ss_run *r, uint32_t link)
{
    return r->resource[r->tasks.devices + link].latency_s;
}

double ss_run_speed(const ss_run *r, ss_device device)
{
    return ss_wide_double(r->resource[device.i].speed) * 0x1p-64;
}

double ss_run_mean_bandwidth(const ss_run *r, uint32_t link, ss_time until)
{
    const ss_run_resource *x = &r->resource[r->tasks.devices + link];
    if (!x->changed)
        return r->tasks.bytes_per_s[link];
    until = until > x->since ? until : x->since;
    if (!until)
        return ss_run_bandwidth(r, link);
    return (x->offered + ss_run_bandwidth(r, link) * ss_time_seconds(until - x->since)) /
           ss_time_seconds(until);
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
static ss_status take_over(ss_run *r, uint32_t first, bool stays, ss_error *err)
{
    const ss_tasks *t = &r->tasks;
    ss_status s = SS_RESERVE(r->task, r->task_cap, (size_t)t->n + 1, "tasks of a run", err);
    for (uint32_t i = first; i <= t->n && !s; i++) {
        r->task[i] = (ss_run_task){.ready = -1, .start = -1, .end = -1, .stays = stays};
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
    if (!s)
        s = ss_run_settle(r, err);
    r->broken = s != SS_OK;
    return s;
}

static ss_status add_one(ss_run *r, ss_device device, ss_time hold, const ss_task_label *label,
                         const ss_task *before, uint32_t befores, ss_task *out, ss_error *err)
{
    ss_status s = refuse_device(r, device, err);
    if (!s)
        s = refuse_befores(r, before, befores, err);
    if (!s)
        s = ss_tasks_reserve_more(&r->tasks, 1, befores, err);
    if (!s)
        s = ss_tasks_add(&r->tasks, device.i, hold, 0, label, out, err);
    for (uint32_t i = 0; i < befores && !s; i++)
        (void)ss_tasks_after(&r->tasks, before[i], err); /* there is room */
    return s;
}

ss_status ss_run_add(ss_run *r, ss_device device, ss_time hold, const ss_task_label *label,
                     const ss_task *before, uint32_t befores, ss_task *out, ss_error *err)
{
    ss_status s = add_one(r, device, hold, label, before, befores, out, err);
    return s ? s : take_over(r, out->i, false, err);
}

static ss_status tell_sharing_of_paths(ss_run *r, ss_error *err)
{
    const ss_tasks *t = &r->tasks;
    ss_paths paths = ss_paths_of(t);
    if (!r->sharing || r->paths == t->sets)
        return SS_OK;
    ss_status s = ss_sharing_add_paths(r->sharing, &paths, err);
    if (s)
        return s;
    uint32_t known = r->paths;
    r->paths = t->sets;
    renew_limits(r, known);
    return SS_OK;
}

/* Leg after leg, each when all of the message has come by the one before. */
static ss_status add_legs(ss_run *r, const ss_run_message *m, const ss_task_label *label,
                          const ss_task *before, uint32_t befores, ss_task *out, ss_error *err)
{
    const uint32_t whole[] = {m->links}, *leg = m->legs ? m->leg : whole;
    uint32_t legs = m->legs ? m->legs : 1, begin = 0, n;
    ss_task_label l = label ? *label : (ss_task_label){.kind = SS_TASK_TRANSFER};
    ss_task last = {0};
    ss_status s = SS_OK;
    double of_all = r->tasks.flow_limit, limit = m->limit;
    ss_tasks_set_flows(&r->tasks, m->weight,
                       limit > 0 && !(of_all > 0 && of_all < limit) ? limit : of_all);
    for (uint32_t g = 0; g < legs && !s; begin = leg[g++]) {
        r->tasks.amid = g > 0;
        l.hop = (uint16_t)g;
        s = ss_tasks_transfer(&r->tasks, m->link + begin, leg[g] - begin, m->bytes, 0, 0, &l,
                              g ? &last : before, g ? 1 : befores, out, &n, err);
        r->broken |= s && g; /* the tasks are there, and nobody would run them */
        last = *out;
    }
    r->tasks.amid = false;
    ss_tasks_set_flows(&r->tasks, 1, of_all);
    return s;
}

ss_status ss_run_send(ss_run *r, const ss_run_message *m, const ss_task_label *label,
                      const ss_task *before, uint32_t befores, ss_task *out, ss_error *err)
{
    uint32_t first = r->tasks.n + 1;
    if (!m->links) {
        ss_status s =
            add_one(r, label ? label->from : (ss_device){0}, 0, label, before, befores, out, err);
        return s ? s : take_over(r, first, true, err);
    }
    ss_status s = refuse_befores(r, before, befores, err);
    if (!s)
        s = add_legs(r, m, label, before, befores, out, err);
    if (s)
        return s;
    s = tell_sharing_of_paths(r, err);
    r->broken = s != SS_OK;
    return s ? s : take_over(r, first, false, err);
}
