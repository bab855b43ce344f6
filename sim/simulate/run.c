/* run.c - making a run, and time. */
#include "simulate/run_inside.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "simulate/paths.h"

const char *ss_stage_name(ss_stage s)
{
    static const char *const name[] = {"waits", "queued", "runs", "flows", "arrives", "done"};
    return (unsigned)s <= SS_STAGE_DONE ? name[s] : "none";
}

/* ---- making one ---------------------------------------------------------------------------- */

static ss_status check_options(const ss_run_options *o, ss_error *err)
{
    if ((unsigned)o->order >= SS_ORDERS)
        return ss_fail(err, SS_EINVAL, "order %d does not exist", (int)o->order);
    if (o->order == SS_ORDER_PRIORITY && !o->priority)
        return ss_fail(err, SS_EINVAL, "order priority needs a priority for each task");
    if (!(o->slowed_by_copies >= 0 && o->slowed_by_copies <= 1))
        return ss_fail(err, SS_EINVAL,
                       "a device slowed by copies has %g of its speed; it must be from 0 to 1",
                       o->slowed_by_copies);
    return SS_OK;
}

/* Tasks of each device by id; those that were added later are in no program. */
static ss_status write_programs(ss_run *r, ss_error *err)
{
    const ss_tasks *t = &r->tasks;
    r->first_program = ss_alloc_zeroed((size_t)t->devices + 2, sizeof *r->first_program);
    r->program = ss_alloc(((size_t)t->n + 1) * sizeof *r->program);
    if (!r->first_program || !r->program)
        return ss_fail_memory(err, "the programs of devices", t->n * sizeof *r->program);
    for (uint32_t i = 1; i <= t->n; i++)
        if (t->where[i] <= t->devices)
            r->first_program[t->where[i] + 1]++;
    for (uint32_t d = 1; d <= t->devices + 1; d++)
        r->first_program[d] += r->first_program[d - 1];
    uint32_t *at = ss_alloc(((size_t)t->devices + 2) * sizeof *at);
    if (!at)
        return ss_fail_memory(err, "the programs of devices", t->devices * sizeof *at);
    memcpy(at, r->first_program, ((size_t)t->devices + 2) * sizeof *at);
    for (uint32_t i = 1; i <= t->n; i++)
        if (t->where[i] <= t->devices)
            r->program[at[t->where[i]]++] = i;
    ss_free(at);
    return SS_OK;
}

static ss_status set_out_resources(ss_run *r, ss_error *err)
{
    const ss_tasks *t = &r->tasks;
    r->resources = t->devices + t->links;
    r->resource = ss_alloc_zeroed((size_t)r->resources + 1, sizeof *r->resource);
    if (!r->resource)
        return ss_fail_memory(err, "resources of a run", r->resources * sizeof *r->resource);
    if (r->slowed != 1)
        r->crossed = ss_alloc((size_t)t->devices * sizeof *r->crossed);
    if (r->slowed != 1 && !r->crossed)
        return ss_fail_memory(err, "devices of a run", t->devices * sizeof *r->crossed);
    for (uint32_t i = 1; i <= r->resources; i++) {
        bool device = i <= t->devices;
        r->resource[i].room = device && r->options.streams ? r->options.streams : 1;
        r->resource[i].speed = r->resource[i].own = SS_RUN_SPEED;
        r->resource[i].latency_s = device ? 0 : t->latency_s[i - t->devices];
        r->resource[i].bytes_per_s = device ? 0 : t->bytes_per_s[i - t->devices];
    }
    return SS_OK;
}

static ss_status set_out_sharing(ss_run *r, ss_error *err)
{
    const ss_tasks *t = &r->tasks;
    if (t->mode != SS_LINKS_SHARED)
        return SS_OK;
    ss_paths paths = ss_paths_of(t);
    ss_status s = ss_sharing_new(&r->sharing, err);
    if (!s)
        s = ss_sharing_start(r->sharing, t->links, t->bytes_per_s, &paths, err);
    if (!s)
        s = SS_REGROW(r->bytes_per_s, (size_t)t->links + 1, "bandwidths of links", err);
    if (!s)
        memcpy(r->bytes_per_s, t->bytes_per_s, ((size_t)t->links + 1) * sizeof *r->bytes_per_s);
    r->paths = t->sets;
    return s;
}

static ss_status set_out_tasks(ss_run *r, ss_error *err)
{
    const ss_tasks *t = &r->tasks;
    ss_status s = SS_RESERVE(r->task, r->task_cap, (size_t)t->n + 1, "tasks of a run", err);
    r->given = t->n;
    for (uint32_t i = 0; i <= t->n && !s; i++)
        r->task[i] = (ss_run_task){.ready = i ? -1 : 0,
                                   .start = i ? -1 : 0,
                                   .end = i ? -1 : 0,
                                   .missing = i ? t->first_in[i + 1] - t->first_in[i] : 0};
    for (uint32_t i = 1; i <= t->n && !s; i++)
        if (!r->task[i].missing)
            s = ss_run_ready(r, i, err);
    return s;
}

static ss_status copy_priorities(ss_run *r, const ss_run_options *o, ss_error *err)
{
    r->options.priority = NULL;
    if (o->order != SS_ORDER_PRIORITY)
        return SS_OK;
    size_t n = (size_t)r->tasks.n + 1;
    r->priority = ss_alloc(n * sizeof *r->priority);
    if (!r->priority)
        return ss_fail_memory(err, "priorities", n * sizeof *r->priority);
    memcpy(r->priority, o->priority, n * sizeof *r->priority);
    r->priorities = (uint32_t)n;
    return SS_OK;
}

ss_status ss_run_new(const ss_tasks *t, const ss_run_options *o, ss_run **out, ss_error *err)
{
    if (!t->finished)
        return ss_fail(err, SS_EINVAL, "the task graph was not finished (ss_tasks_finish)");
    ss_status s = check_options(o, err);
    if (s)
        return s;
    ss_run *r = ss_alloc_zeroed(1, sizeof *r);
    if (!r)
        return ss_fail_memory(err, "a run", sizeof *r);
    r->options = *o;
    r->look = SS_LOOK_EVERY;
    bool slows = o->slowed_by_copies > 0 && o->slowed_by_copies < 1;
    r->slowed = slows ? o->slowed_by_copies : 1;
    if ((s = ss_tasks_copy(t, &r->tasks, err)) || (s = copy_priorities(r, o, err)) ||
        (s = set_out_resources(r, err)) || (s = ss_run_take_machines(r, o, err)) ||
        (s = set_out_sharing(r, err)) ||
        (o->order == SS_ORDER_PROGRAM && (s = write_programs(r, err))) ||
        (s = ss_run_take_plan(r, o, err)) || (s = ss_run_follow_plan(r, err)) ||
        (s = set_out_tasks(r, err)) || (s = ss_run_start_ready(r, err)) ||
        (s = ss_run_settle(r, err))) {
        ss_run_free(r);
        return s;
    }
    *out = r;
    return SS_OK;
}

void ss_run_free(ss_run *r)
{
    if (!r)
        return;
    for (uint32_t i = 1; r->resource && i <= r->resources; i++) {
        ss_free(r->resource[i].queue);
        ss_free(r->resource[i].runs);
    }
    ss_tasks_free(&r->tasks);
    ss_free(r->priority);
    ss_free(r->task);
    ss_free(r->resource);
    ss_free(r->crossed);
    ss_free(r->machine);
    ss_free(r->machine_of);
    ss_free(r->mate);
    ss_free(r->pressed);
    ss_free(r->event);
    ss_free(r->edge);
    ss_free(r->start);
    ss_free(r->ended);
    ss_free(r->program);
    ss_free(r->first_program);
    ss_free(r->held);
    ss_free(r->plan);
    ss_free(r->happened);
    ss_sharing_free(r->sharing);
    ss_free(r->bytes_per_s);
    ss_free(r);
}

void ss_run_set_names(ss_run *r, const char *const *added)
{
    r->added = added;
}

void ss_run_set_watch(ss_run *r, const ss_watch *watch)
{
    r->watch = watch;
}

ss_status ss_run_refuse_broken(const ss_run *r, ss_error *err)
{
    return r->broken ? ss_fail(err, SS_EINVAL, "the run failed before, and cannot go on") : SS_OK;
}

/* ---- events: a heap by time; equal times come together, so their order is of no account ---- */

static ss_status post(ss_run *r, uint32_t id, ss_time at, ss_error *err)
{
    ss_status s = SS_RESERVE(r->event, r->event_cap, (size_t)r->events + 1, "events", err);
    if (s)
        return s;
    ss_run_event x = {at, id, ++r->task[id].event};
    uint32_t i = r->events++;
    for (; i && r->event[(i - 1) / 2].at > at; i = (i - 1) / 2)
        r->event[i] = r->event[(i - 1) / 2];
    r->event[i] = x;
    return SS_OK;
}

static void drop_event(ss_run *r)
{
    ss_run_event x = r->event[--r->events];
    uint32_t i = 0;
    for (uint32_t k; (k = 2 * i + 1) < r->events; i = k) {
        if (k + 1 < r->events && r->event[k + 1].at < r->event[k].at)
            k++;
        if (r->event[k].at >= x.at)
            break;
        r->event[i] = r->event[k];
    }
    r->event[i] = x;
}

static bool is_void(const ss_run *r, const ss_run_event *x)
{
    return r->task[x->task].event != x->number;
}

/* ---- a task's way -------------------------------------------------------------------------- */

ss_status ss_run_refuse_overflow(uint32_t id, ss_error *err)
{
    return ss_fail(err, SS_ERANGE,
                   "task %u would end later than 106 days after the start, which times cannot hold",
                   id);
}

void ss_run_settle_task(ss_run *r, ss_run_task *x)
{
    ss_time passed = r->now - x->since, of_latency = passed < x->latency ? passed : x->latency;
    x->latency -= of_latency;
    ss_wide worked = x->work ? (ss_wide)(uint64_t)(passed - of_latency) * x->speed : 0;
    x->work -= worked < x->work ? worked : x->work;
    x->since = r->now;
}

ss_wide ss_run_units(double speed)
{
    double units = rint(ldexp(speed, 64));
    return speed > 0 && units < 1 ? 1 : (ss_wide)units;
}

/* The share of a link's bandwidth that a message of its size has. */
static double share_of(const ss_tasks *t, uint32_t id, uint32_t link)
{
    const ss_link_law *law = t->law ? t->law[link] : NULL;
    bool message = t->label[id].kind == SS_TASK_TRANSFER;
    return message ? ss_link_law_share(law, (double)t->bytes[id]) : 1;
}

/* A route that is held as a whole is as fast as its slowest link, against the one that was slowest at the start. */
static ss_wide speed_of_route(const ss_run *r, uint32_t id, const uint32_t *of, uint32_t n)
{
    const ss_tasks *t = &r->tasks;
    double now = INFINITY, begun = INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t link = of[i] - t->devices;
        double share = share_of(t, id, link);
        now = fmin(now, share * ss_run_bandwidth(r, link));
        begun = fmin(begun, share * t->bytes_per_s[link]);
    }
    return ss_run_units(now / begun);
}

/* What its resources let it have. */
static ss_wide speed_of(const ss_run *r, uint32_t id)
{
    uint32_t n;
    const uint32_t *of = ss_tasks_resources(&r->tasks, (ss_task){id}, &n);
    if (n > 1 && of[0] > r->tasks.devices)
        return speed_of_route(r, id, of, n);
    ss_wide least = ~(ss_wide)0;
    for (uint32_t i = 0; i < n; i++) {
        const ss_run_resource *x = &r->resource[of[i]];
        ss_wide speed = x->speed;
        if (of[i] <= r->tasks.devices && x->crossing)
            speed = ss_run_units(ss_wide_double(speed) * 0x1p-64 * r->slowed);
        least = speed < least ? speed : least;
    }
    return least;
}

ss_status ss_run_renew(ss_run *r, uint32_t id, ss_error *err)
{
    ss_run_task *x = &r->task[id];
    x->speed = ss_run_interfered(r, id, speed_of(r, id));
    x->event++; /* what was posted before is void, also where it stands still */
    if (x->work && !x->speed)
        return SS_OK;
    ss_wide takes = x->work ? (x->work + x->speed / 2) / x->speed : 0;
    if (takes > (ss_wide)(SS_TIME_MAX - r->now) ||
        (ss_time)takes > SS_TIME_MAX - r->now - x->latency)
        return SS_OK; /* at this speed it never ends, and ss_run_finish says so */
    return post(r, id, r->now + x->latency + (ss_time)takes, err);
}

static ss_status tell(ss_run *r, uint32_t id, ss_error *err)
{
    ss_run_task *x = &r->task[id];
    const ss_tasks *t = &r->tasks;
    ss_status s = SS_RESERVE(r->ended, r->ended_cap, (size_t)r->endeds + 1, "ended tasks", err);
    if (s)
        return s;
    x->stage = SS_STAGE_DONE;
    x->finish = r->now;
    r->ended[r->endeds++] = (ss_task){id};
    r->done++;
    r->last = r->now;
    if (id <= r->given)
        for (uint32_t o = t->first_out[id]; o < t->first_out[id + 1] && !s; o++)
            if (--r->task[t->out[o]].missing == 0)
                s = ss_run_ready(r, t->out[o], err);
    for (uint32_t e = r->task[id].more_out; e && !s; e = r->edge[e].next)
        if (--r->task[r->edge[e].to].missing == 0)
            s = ss_run_ready(r, r->edge[e].to, err);
    return s;
}

ss_status ss_run_ready(ss_run *r, uint32_t id, ss_error *err)
{
    r->task[id].ready = r->now;
    return ss_run_enqueue(r, id, err);
}

/* A device is slower while a transfer leaves or reaches it.  Its speed is found when the instant is over: a
 * transfer that follows another at once leaves it as it was. */
static void cross_device(ss_run *r, ss_device d, bool begins)
{
    if (!d.i || d.i > r->tasks.devices || r->slowed == 1)
        return;
    ss_run_resource *x = &r->resource[d.i];
    x->crossing += begins ? 1 : UINT32_MAX;
    if (!x->crossed)
        r->crossed[r->crosseds++] = d.i;
    x->crossed = true;
}

static ss_status renew_crossed(ss_run *r, ss_error *err)
{
    ss_status s = SS_OK;
    while (r->crosseds && !s) {
        uint32_t d = r->crossed[--r->crosseds];
        ss_run_resource *x = &r->resource[d];
        x->crossed = false;
        for (uint32_t i = 0; i < x->running && !s; i++) {
            ss_run_settle_task(r, &r->task[x->runs[i]]);
            if (r->tasks.where[x->runs[i]] == d)
                s = ss_run_renew(r, x->runs[i], err);
        }
    }
    return s;
}

ss_status ss_run_settle(ss_run *r, ss_error *err)
{
    ss_status s = renew_crossed(r, err);
    if (!s)
        s = ss_run_renew_machines(r, err);
    if (!s && r->sharing)
        ss_sharing_settle(r->sharing, r->now);
    return s;
}

static void cross(ss_run *r, uint32_t id, bool begins)
{
    const ss_task_label *l = &r->tasks.label[id];
    ss_run_press(r, id);
    if (r->tasks.where[id] <= r->tasks.devices)
        return;
    cross_device(r, l->from, begins);
    if (l->to.i != l->from.i)
        cross_device(r, l->to, begins);
}

static ss_status end_task(ss_run *r, uint32_t id, ss_error *err)
{
    ss_run_task *x = &r->task[id];
    ss_time lag = ss_tasks_lag(&r->tasks, (ss_task){id});
    uint32_t where = r->tasks.where[id];
    if (lag) /* of a link, which may have another latency by now */
        lag = (ss_time)llrint(r->resource[where].latency_s * (double)SS_PICOSECONDS);
    x->end = r->now;
    ss_status s = ss_run_release(r, id, err);
    if (s)
        return s;
    cross(r, id, false);
    if (!lag)
        return tell(r, id, err);
    x->stage = SS_STAGE_ARRIVES;
    return lag > SS_TIME_MAX - r->now ? ss_run_refuse_overflow(id, err)
                                      : post(r, id, r->now + lag, err);
}

static ss_status flow_or_end(ss_run *r, uint32_t id, ss_error *err)
{
    const ss_tasks *t = &r->tasks;
    int64_t bytes = ss_tasks_flow(t, (ss_task){id});
    if (!bytes)
        return end_task(r, id, err);
    r->task[id].stage = SS_STAGE_FLOWS;
    ss_status s =
        ss_sharing_begin(r->sharing, r->now, t->where[id] - t->devices - t->links, bytes, id, err);
    return s ? ss_fail_in(err, "task %u", id) : SS_OK;
}

/* How much of the hold is latency, which passes at any speed of a link. */
static ss_time latency_of(const ss_run *r, uint32_t id, double *more_s)
{
    uint32_t n;
    const ss_tasks *t = &r->tasks;
    const uint32_t *of = ss_tasks_resources(t, (ss_task){id}, &n);
    double latency_s = 0;
    *more_s = 0;
    if (t->where[id] <= t->devices || t->mode == SS_LINKS_FIFO_PIPE)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        if (of[i] <= t->devices)
            continue;
        latency_s += t->latency_s[of[i] - t->devices];
        *more_s += r->resource[of[i]].latency_s - t->latency_s[of[i] - t->devices];
    }
    ss_time latency = (ss_time)llrint(latency_s * (double)SS_PICOSECONDS);
    return latency < t->hold[id] ? latency : t->hold[id];
}

ss_status ss_run_begin_task(ss_run *r, uint32_t id, ss_error *err)
{
    ss_run_task *x = &r->task[id];
    const ss_tasks *t = &r->tasks;
    bool flows = ss_tasks_flows(t, (ss_task){id});
    double more_s;
    x->start = x->since = r->now;
    x->stage = SS_STAGE_RUNS;
    x->latency = flows ? t->hold[id] : latency_of(r, id, &more_s);
    x->work = flows ? 0 : (ss_wide)(uint64_t)(t->hold[id] - x->latency) * SS_RUN_SPEED;
    (void)latency_of(r, id, &more_s);
    x->latency += (ss_time)llrint(more_s * (double)SS_PICOSECONDS);
    cross(r, id, true);
    if (x->latency || x->work)
        return ss_run_renew(r, id, err);
    return flows ? flow_or_end(r, id, err) : end_task(r, id, err);
}

/* ---- instants ------------------------------------------------------------------------------ */

static ss_status happen(ss_run *r, uint32_t id, ss_error *err)
{
    ss_run_task *x = &r->task[id];
    if (x->stage == SS_STAGE_ARRIVES)
        return tell(r, id, err);
    x->latency = 0;
    x->work = 0;
    return ss_tasks_flows(&r->tasks, (ss_task){id}) ? flow_or_end(r, id, err)
                                                    : end_task(r, id, err);
}

static ss_status pass_once(ss_run *r, ss_time now, ss_error *err)
{
    ss_status s = SS_OK;
    r->now = now;
    for (uint32_t id; r->sharing && !s && (id = ss_sharing_end(r->sharing, now));)
        s = end_task(r, id, err); /* before any flow begins */
    while (r->events && r->event[0].at == now && !s) {
        ss_run_event x = r->event[0];
        drop_event(r);
        if (!is_void(r, &x))
            s = happen(r, x.task, err);
    }
    if (!s)
        s = ss_run_follow_plan(r, err);
    if (!s)
        s = ss_run_start_ready(r, err);
    return s ? s : ss_run_settle(r, err);
}

/* What the new rates bring to its end at once is still of this instant. */
static ss_status pass_instant(ss_run *r, ss_time now, ss_error *err)
{
    r->endeds = 0;
    ss_status s = pass_once(r, now, err);
    while (!s && ss_run_next(r) == now)
        s = pass_once(r, now, err);
    r->broken = s != SS_OK;
    return s;
}

ss_time ss_run_now(const ss_run *r)
{
    return r->now;
}

ss_time ss_run_next(ss_run *r)
{
    while (r->events && is_void(r, &r->event[0]))
        drop_event(r);
    ss_time next = r->events ? r->event[0].at : SS_TIME_MAX;
    if (r->sharing) {
        ss_time flow = ss_sharing_next(r->sharing);
        next = flow < next ? flow : next;
    }
    if (r->planned < r->plans && r->plan[r->planned].at < next)
        next = r->plan[r->planned].at;
    return next;
}

ss_status ss_run_step(ss_run *r, bool *happened, ss_error *err)
{
    ss_status s = ss_run_refuse_broken(r, err);
    if (s)
        return s;
    ss_time next = ss_run_next(r);
    *happened = next != SS_TIME_MAX;
    r->endeds = 0;
    return *happened ? pass_instant(r, next, err) : SS_OK;
}

ss_status ss_run_advance(ss_run *r, ss_time until, ss_error *err)
{
    ss_status s = ss_run_refuse_broken(r, err);
    if (!s && until < r->now)
        return ss_fail(err, SS_EINVAL, "the run is at %.12g s and cannot go back to %.12g s",
                       ss_time_seconds(r->now), ss_time_seconds(until));
    while (!s && ss_run_next(r) <= until && ss_run_next(r) != SS_TIME_MAX) {
        s = pass_instant(r, ss_run_next(r), err);
        if (!s && r->done >= r->look) {
            s = ss_look_up(r->watch, "simulating", r->done, r->tasks.n, err);
            r->look = r->done + SS_LOOK_EVERY;
        }
    }
    if (!s)
        r->now = until;
    return s;
}

ss_status ss_run_finish(ss_run *r, ss_error *err)
{
    ss_status s = ss_run_refuse_broken(r, err);
    while (!s && r->done < r->tasks.n && ss_run_next(r) != SS_TIME_MAX)
        s = ss_run_advance(r, ss_run_next(r), err);
    if (!s && r->done < r->tasks.n)
        s = ss_run_refuse_stuck(r, err);
    return s;
}

/* ---- what is ------------------------------------------------------------------------------- */

const ss_tasks *ss_run_tasks(const ss_run *r)
{
    return &r->tasks;
}

ss_stage ss_run_stage(const ss_run *r, ss_task task)
{
    return (ss_stage)r->task[task.i].stage;
}

uint32_t ss_run_done(const ss_run *r)
{
    return r->done;
}

const ss_task *ss_run_ended(const ss_run *r, uint32_t *n)
{
    *n = r->endeds;
    return r->ended;
}

void ss_run_times(const ss_run *r, ss_task task, ss_time *ready, ss_time *start, ss_time *end)
{
    *ready = r->task[task.i].ready;
    *start = r->task[task.i].start;
    *end = r->task[task.i].end;
}

ss_time ss_run_finish_of(const ss_run *r, ss_task task)
{
    const ss_run_task *x = &r->task[task.i];
    return x->stage == SS_STAGE_DONE ? x->finish : -1;
}

const ss_change *ss_run_changes(const ss_run *r, uint32_t *n)
{
    *n = r->happeneds;
    return r->happened;
}

uint32_t ss_run_given(const ss_run *r)
{
    return r->given;
}

double ss_run_rate(const ss_run *r, ss_task task)
{
    const ss_tasks *t = &r->tasks;
    if (r->task[task.i].stage != SS_STAGE_FLOWS)
        return 0;
    int64_t units = ss_sharing_rate(r->sharing, t->where[task.i] - t->devices - t->links);
    return ldexp((double)units, -ss_sharing_scale(r->sharing));
}

ss_status ss_run_timeline(const ss_run *r, ss_timeline *out, ss_error *err)
{
    const ss_tasks *t = &r->tasks;
    size_t rows = (size_t)t->n + 1;
    ss_status s = SS_OK;
    if (r->done < t->n)
        return ss_fail(err, SS_EINVAL, "%u of %u tasks are not done", t->n - r->done, t->n);
    if ((s = ss_timeline_reserve(out, t->n, err)))
        return s;
    out->n = t->n;
    out->makespan = r->last;
    ss_free(r->other_lags ? NULL : out->finish); /* of another run */
    out->finish = r->other_lags ? out->finish : NULL;
    if (r->other_lags && (s = SS_REGROW(out->finish, rows, "timeline", err)))
        return s;
    for (uint32_t i = 0; i <= t->n; i++) {
        if (r->other_lags)
            out->finish[i] = r->task[i].finish;
        out->ready[i] = r->task[i].ready;
        out->start[i] = r->task[i].start;
        out->end[i] = r->task[i].end;
    }
    return SS_OK;
}

ss_status ss_run_simulate(const ss_tasks *t, const ss_run_options *o, const ss_watch *watch,
                          ss_timeline *out, ss_error *err)
{
    ss_run *r;
    ss_status s = ss_run_new(t, o, &r, err);
    if (s)
        return s;
    ss_run_set_watch(r, watch);
    s = ss_run_finish(r, err);
    if (!s)
        s = ss_run_timeline(r, out, err);
    ss_run_free(r);
    return s;
}
