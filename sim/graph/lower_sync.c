/* lower_sync.c - how the gradients of a weight meet, and its update.
 *
 * Phases: 2 barriers, 3 messages that carry gradients, 4 updates, 5 messages that carry weights
 * back. A phase is done for all shards before the next one begins, so that ids are in structural
 * order.  There is no phase 6: a step is over when its last task is, and a barrier that takes no
 * time would not change when that is.
 *
 * Ring, tree and two-level leave the sum with everyone, and everyone updates; with a parameter
 * server the master alone does, and sends the weights back.  Who holds a shard alone has nothing to
 * wait for.
 */
#include "graph/lowering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const char *const sync_names[SS_SYNCS] = {"none", "closed_form", "parameter_server",
                                                 "ring", "tree",        "two_level"};

const char *ss_sync_name(ss_sync s)
{
    return (unsigned)s < SS_SYNCS ? sync_names[s] : "unknown";
}

/* ---- barriers ---------------------------------------------------------------------------- */

/* The task of a part after which its device has done its share of backward. */
static uint32_t last_task(const ss_lowered *out, uint32_t op, uint32_t part)
{
    return (out->backward[op].i ? out->backward[op].i : out->forward[op].i) + part;
}

static ss_status add_barrier(ss_lowering *w, uint32_t device, ss_error *err)
{
    ss_task_label label = {.kind = SS_TASK_BARRIER, .part = device};
    return ss_tasks_add(w->tasks, device ? device : 1, 0, 0, &label, &w->s->barrier[device], err);
}

/* One for each device that has tasks, after all of them; in closed form, one more after those. */
ss_status ss_lower_barriers(ss_lowering *w, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    bool all = w->options.sync == SS_SYNC_CLOSED_FORM;
    uint32_t devices = w->topology->devices;
    size_t parts = 0;
    ss_status e = SS_RESERVE(s->barrier, s->barrier_cap, (size_t)devices + 1, "barriers", err);
    if (!e)
        e = SS_RESERVE(s->count, s->count_cap, (size_t)devices + 2, "barriers", err);
    if (e)
        return e;
    memset(s->count, 0, ((size_t)devices + 2) * sizeof *s->count);
    for (uint32_t i = 1; i <= w->model->ops; i++)
        for (uint32_t p = 0; p < w->strategy->config[i].parts; p++, parts++)
            s->count[w->strategy->config[i].device[p].i + 1]++;
    if ((e = SS_RESERVE(s->before, s->before_cap, parts, "barriers", err)))
        return e;
    for (uint32_t d = 1; d <= devices + 1; d++)
        s->count[d] += s->count[d - 1];
    for (uint32_t i = 1; i <= w->model->ops; i++)
        for (uint32_t p = 0; p < w->strategy->config[i].parts; p++)
            s->before[s->count[w->strategy->config[i].device[p].i]++].i = last_task(w->out, i, p);
    for (uint32_t d = 1; d <= devices; d++) { /* count[d] is now where d's tasks end */
        s->barrier[d].i = 0;
        if (s->count[d - 1] == s->count[d] && !w->every_barrier)
            continue;
        e = add_barrier(w, d, err);
        for (uint32_t b = s->count[d - 1]; b < s->count[d] && !e; b++)
            e = ss_tasks_after(w->tasks, s->before[b], err);
        if (e)
            return e;
    }
    if (all)
        e = add_barrier(w, 0, err);
    for (uint32_t d = 1; d <= devices && all && !e; d++)
        if (s->barrier[d].i)
            e = ss_tasks_after(w->tasks, s->barrier[d], err);
    return e;
}

/* ---- what a device's own gradient of a shard waits for ----------------------------------- */

/* Puts the tasks of row r of shard_device into s->before. */
static ss_status own_sources(ss_lowering *w, uint32_t r, uint32_t *n, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    bool barrier = !w->options.overlap;
    uint32_t first = s->first_from[r], last = s->first_from[r + 1];
    *n = barrier ? 1 : last - first;
    ss_status e = SS_RESERVE(s->before, s->before_cap, *n, "dependencies", err);
    if (e)
        return e;
    if (barrier)
        s->before[0] = s->barrier[w->out->shard_device[r].i];
    for (uint32_t i = first; i < last && !barrier; i++)
        s->before[i - first].i = s->from[i];
    return SS_OK;
}

/* The task added last waits for them. */
static ss_status after_own(ss_lowering *w, uint32_t r, ss_error *err)
{
    uint32_t n;
    ss_status e = own_sources(w, r, &n, err);
    for (uint32_t i = 0; i < n && !e; i++)
        e = ss_tasks_after(w->tasks, w->s->before[i], err);
    return e;
}

/* The update of the row at hand waits for a task. */
static ss_status wait_for(struct ss_lower_scratch *s, uint32_t task, ss_error *err)
{
    ss_status e = SS_RESERVE(s->wait, s->wait_cap, (size_t)s->waits + 1, "updates", err);
    if (!e)
        s->wait[s->waits++] = task;
    return e;
}

static ss_status wait_for_sent(struct ss_lower_scratch *s, uint32_t sent, ss_error *err)
{
    ss_status e = SS_OK;
    for (uint32_t i = 0; i < s->sent[sent].arrivals && !e; i++)
        e = wait_for(s, s->sent[sent].arrival + i, err);
    return e;
}

/* ---- phase 3: gradients ------------------------------------------------------------------ */

static ss_task_label label_of(const ss_lowering *w, uint32_t shard, ss_task_kind kind,
                              ss_cargo cargo)
{
    uint32_t weight = w->out->shard[shard].weight.i;
    return (ss_task_label){.kind = (uint8_t)kind,
                           .cargo = (uint8_t)cargo,
                           .op = weight,
                           .part = shard,
                           .to_part = shard - w->s->first_shard[weight] + 1};
}

static ss_status gradients_to_master(ss_lowering *w, uint32_t shard, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_shard *x = &w->out->shard[shard];
    const ss_device *device = w->out->shard_device + x->first_device;
    ss_task_label label = label_of(w, shard, SS_TASK_TRANSFER, SS_CARGO_WEIGHT_GRADIENT);
    s->own[x->first_device] = true;
    s->first_wait[x->first_device] = s->waits;
    for (uint32_t r = 1; r < x->devices; r++) {
        uint32_t n, sent;
        ss_status e = own_sources(w, x->first_device + r, &n, err);
        if (!e)
            e = ss_lower_send(w, device[r], device[0], x->bytes, &label, s->before, n, &sent, err);
        if (!e)
            e = wait_for_sent(s, sent, err);
        if (e)
            return e;
    }
    for (uint32_t r = 1; r < x->devices; r++) {
        s->first_wait[x->first_device + r] = s->waits;
        s->own[x->first_device + r] = false;
    }
    return SS_OK;
}

static void list_machines(ss_lowering *w, const ss_shard *x)
{
    const ss_device *device = w->out->shard_device + x->first_device;
    for (uint32_t r = 0; r < x->devices; r++)
        w->s->machine[r] = w->topology->device[device[r].i].def.machine;
}

static ss_status messages_of(ss_lowering *w, const ss_shard *x, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    if (w->options.sync == SS_SYNC_RING)
        return ss_collective_ring(x->devices, x->bytes, &s->messages, err);
    if (w->options.sync == SS_SYNC_TREE)
        return ss_collective_tree(x->devices, x->bytes, &s->messages, err);
    list_machines(w, x);
    return ss_collective_two_level(x->devices, s->machine, x->bytes, &s->messages, err);
}

/* What the message waits for, in s->before: what it passes on or follows, and the sender's own
 * gradient until that is on its way.  A member that adds several times (in a ring) takes its rounds
 * in order, so its first message speaks for all of them; one that never adds is the root, whose sum
 * has its own. */
static ss_status before_message(ss_lowering *w, const ss_shard *x, const ss_message *m, uint32_t *n,
                                ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_status e = SS_OK;
    *n = 0;
    if (!s->member_added[m->from])
        e = own_sources(w, x->first_device + m->from, n, err);
    for (uint32_t a = 0; a < m->afters && !e; a++) {
        const ss_sent *sent = &s->sent[s->arrived[s->messages.after[m->first_after + a]]];
        e = SS_RESERVE(s->before, s->before_cap, (size_t)*n + sent->arrivals, "dependencies", err);
        for (uint32_t i = 0; i < sent->arrivals && !e; i++)
            s->before[(*n)++].i = sent->arrival + i;
    }
    return e;
}

/* Every update waits for the last message to its device, which follows all others there; one that
 * only adds (the root of a tree) for all of them and for its own gradient. */
static ss_status waits_of_members(ss_lowering *w, const ss_shard *x, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_status e = SS_OK;
    uint32_t *last = s->member_told; /* the last message that replaces, by receiver */
    memset(last, 0, x->devices * sizeof *last);
    for (uint32_t i = 1; i <= s->messages.n; i++)
        if (!s->messages.row[i].adds)
            last[s->messages.row[i].to] = i;
    for (uint32_t r = 0; r < x->devices && !e; r++) {
        s->first_wait[x->first_device + r] = s->waits;
        s->own[x->first_device + r] = !last[r];
        if (last[r])
            e = wait_for_sent(s, s->arrived[last[r]], err);
        for (uint32_t i = 1; i <= s->messages.n && !last[r] && !e; i++)
            if (s->messages.row[i].to == r)
                e = wait_for_sent(s, s->arrived[i], err);
    }
    return e;
}

static ss_status gradients_by_messages(ss_lowering *w, uint32_t shard, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_shard *x = &w->out->shard[shard];
    const ss_device *device = w->out->shard_device + x->first_device;
    ss_task_label label = label_of(w, shard, SS_TASK_TRANSFER, SS_CARGO_WEIGHT_GRADIENT);
    ss_status e = messages_of(w, x, err);
    if (!e)
        e = SS_RESERVE(s->arrived, s->arrived_cap, (size_t)s->messages.n + 1, "messages", err);
    memset(s->member_added, 0, x->devices * sizeof *s->member_added);
    for (uint32_t i = 1; i <= s->messages.n && !e; i++) {
        const ss_message *m = &s->messages.row[i];
        uint32_t n;
        label.turn = i;
        e = before_message(w, x, m, &n, err);
        if (!e)
            e = ss_lower_send(w, device[m->from], device[m->to], m->bytes, &label, s->before, n,
                              &s->arrived[i], err);
        s->member_added[m->from] |= m->adds;
    }
    return e ? e : waits_of_members(w, x, err);
}

/* ---- meetings as one task ---------------------------------------------------------------- */

/* What the routes of a meeting have in common: the largest latency and the least bandwidth; their
 * links are collected in s->resource. */
typedef struct span {
    double latency_s, bytes_per_s;
    uint32_t links;
} span;

static ss_status widen(ss_lowering *w, ss_device from, ss_device to, span *p, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_route route;
    uint32_t n;
    ss_status e = ss_routes_find(w->routes, from, to, &route, err);
    if (e)
        return e;
    const ss_link *link = ss_route_links(w->routes, route, &n);
    e = SS_RESERVE(s->resource, s->resource_cap, (size_t)p->links + n, "links of a meeting", err);
    for (uint32_t i = 0; i < n && !e; i++)
        s->resource[p->links++] = w->topology->devices + link[i].i;
    p->latency_s = fmax(p->latency_s, ss_route_latency_s(w->routes, route));
    p->bytes_per_s = fmin(p->bytes_per_s, ss_route_bytes_per_s(w->routes, route));
    return e;
}

static ss_status widen_both(ss_lowering *w, ss_device a, ss_device b, span *p, ss_error *err)
{
    ss_status e = widen(w, a, b, p, err);
    return e ? e : widen(w, b, a, p, err);
}

/* Two levels: the members of a machine with its first, those with the first of all. */
static ss_status widen_levels(ss_lowering *w, const ss_shard *x, span *inside, span *across,
                              ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_device *device = w->out->shard_device + x->first_device;
    ss_status e = SS_OK;
    list_machines(w, x);
    inside->bytes_per_s = across->bytes_per_s = INFINITY;
    for (uint32_t r = 0; r < x->devices && !e; r++) {
        uint32_t machine = s->machine[r], first = s->of_machine[machine];
        if (!machine || first >= r || s->machine[first] != machine)
            first = s->of_machine[machine] = r; /* what was there is of an earlier shard */
        span *p = first == r ? across : inside;
        p->links = inside->links > across->links ? inside->links : across->links;
        if (r)
            e = widen_both(w, device[first == r ? 0 : first], device[r], p, err);
    }
    return e;
}

/* The links in s->resource, each once, as what a task may hold. */
static ss_status set_of_links(ss_lowering *w, uint32_t links, uint32_t *where, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    uint32_t kept = 0;
    qsort(s->resource, links, sizeof *s->resource, ss_by_number);
    for (uint32_t i = 0; i < links; i++)
        if (!kept || s->resource[kept - 1] != s->resource[i])
            s->resource[kept++] = s->resource[i];
    return ss_tasks_set(w->tasks, s->resource, kept, where, err);
}

/* One task that holds the links `where`; all updates wait for it. */
static ss_status add_meeting(ss_lowering *w, uint32_t shard, double seconds, int64_t bytes,
                             uint32_t where, ss_task *out, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_shard *x = &w->out->shard[shard];
    ss_task_label label = label_of(w, shard, SS_TASK_COLLECTIVE, SS_CARGO_WEIGHT_GRADIENT);
    ss_time time;
    ss_status e = ss_time_from_seconds(seconds, w->model->weight[x->weight.i].name, &time, err);
    if (!e)
        e = ss_tasks_add(w->tasks, where, time, bytes, &label, out, err);
    for (uint32_t r = 0; r < x->devices && !e; r++) {
        s->first_wait[x->first_device + r] = s->waits;
        s->own[x->first_device + r] = false;
        e = wait_for(s, out->i, err);
    }
    return e;
}

/* Bytes that an all-reduce of n members moves: each but one sends once and receives once. */
static ss_status meeting_bytes(const ss_lowering *w, const ss_shard *x, int64_t *bytes,
                               ss_error *err)
{
    int64_t times = 2 * ((int64_t)x->devices - 1);
    if (x->bytes > INT64_MAX / times)
        return ss_fail(err, SS_ERANGE, "the copies of weight %s have more than 2^63 bytes",
                       w->model->weight[x->weight.i].name);
    *bytes = times * x->bytes;
    return SS_OK;
}

/* Whether the meeting before was among the same devices: then it crossed the same links. */
static bool same_members(const ss_lowering *w, const ss_shard *x)
{
    const ss_lower_meeting *last = &w->s->meeting;
    const ss_device *device = w->out->shard_device;
    return last->devices == x->devices &&
           !memcmp(device + last->first_device, device + x->first_device,
                   x->devices * sizeof *device);
}

/* What a meeting of these devices crosses: s->meeting, and its links as a set. */
static ss_status find_meeting(ss_lowering *w, const ss_shard *x, ss_error *err)
{
    ss_lower_meeting *m = &w->s->meeting;
    const ss_device *device = w->out->shard_device + x->first_device;
    uint32_t n = x->devices, links;
    span p = {.bytes_per_s = INFINITY}, across = {0};
    ss_status e = SS_OK;
    m->devices = 0; /* not of use until it is whole */
    if (w->options.sync == SS_SYNC_TWO_LEVEL) {
        e = widen_levels(w, x, &p, &across, err);
        links = p.links > across.links ? p.links : across.links;
    } else {
        bool ring = w->options.sync == SS_SYNC_RING;
        for (uint32_t r = 0; r < n && ring && !e; r++)
            e = widen(w, device[r], device[(r + 1) % n], &p, err);
        for (uint32_t r = 1; r < n && !ring && !e; r++)
            e = widen_both(w, device[r], device[(r - 1) / 2], &p, err);
        links = p.links;
    }
    if (!e)
        e = set_of_links(w, links, &m->where, err);
    if (e)
        return e;
    m->latency_s[0] = p.latency_s;
    m->latency_s[1] = across.latency_s;
    m->bytes_per_s[0] = p.bytes_per_s;
    m->bytes_per_s[1] = across.bytes_per_s;
    m->first_device = x->first_device;
    m->devices = n;
    return SS_OK;
}

static double meeting_seconds(const ss_lowering *w, const ss_shard *x)
{
    const ss_lower_meeting *m = &w->s->meeting;
    double size = (double)x->bytes;
    if (w->options.sync == SS_SYNC_TWO_LEVEL)
        return ss_collective_two_level_seconds(x->devices, w->s->machine, size, m->latency_s[0],
                                               m->bytes_per_s[0], m->latency_s[1],
                                               m->bytes_per_s[1]);
    return (w->options.sync == SS_SYNC_RING
                ? ss_collective_ring_seconds
                : ss_collective_tree_seconds)(x->devices, size, m->latency_s[0], m->bytes_per_s[0]);
}

static ss_status gradients_as_one_task(ss_lowering *w, uint32_t shard, ss_error *err)
{
    const ss_shard *x = &w->out->shard[shard];
    uint32_t n = x->devices;
    ss_status e = same_members(w, x) ? SS_OK : find_meeting(w, x, err);
    int64_t bytes = 0;
    ss_task task;
    if (!e)
        e = meeting_bytes(w, x, &bytes, err);
    if (!e && w->out->moved[SS_CARGO_WEIGHT_GRADIENT] > INT64_MAX - bytes)
        e = ss_fail(err, SS_ERANGE, "more than 2^63 bytes of weight gradients would be moved");
    if (!e)
        e = add_meeting(w, shard, meeting_seconds(w, x), bytes, w->s->meeting.where, &task, err);
    for (uint32_t r = 0; r < n && !e; r++)
        e = after_own(w, x->first_device + r, err);
    w->out->moved[SS_CARGO_WEIGHT_GRADIENT] += e ? 0 : bytes;
    return e;
}

/* The 2018 simulator adds W (g - 1) / b_inside + W (m - 1) / b_across to the step, for m machines
 * with at most g members each: half of a two-level meeting, without latencies.  So this is a task
 * that begins when all else has ended, and it holds every link, so that the meetings follow each
 * other. */
static ss_status charge_in_closed_form(ss_lowering *w, uint32_t shard, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_shard *x = &w->out->shard[shard];
    uint32_t links = w->topology->links;
    span in = {0}, across = {0};
    int64_t bytes = 0;
    ss_task task;
    ss_status e = widen_levels(w, x, &in, &across, err);
    if (!e)
        e = meeting_bytes(w, x, &bytes, err);
    if (!e)
        e = SS_RESERVE(s->resource, s->resource_cap, links, "links", err);
    if (e)
        return e;
    double seconds = ss_collective_two_level_seconds(x->devices, s->machine, (double)x->bytes, 0,
                                                     in.bytes_per_s, 0, across.bytes_per_s);
    for (uint32_t i = 0; i < links; i++)
        s->resource[i] = w->topology->devices + 1 + i;
    uint32_t where;
    e = set_of_links(w, links, &where, err);
    if (!e)
        e = add_meeting(w, shard, seconds / 2, 0, where, &task, err);
    if (!e)
        e = ss_tasks_after(w->tasks, s->barrier[0], err);
    w->out->charged_bytes += e ? 0 : (double)bytes;
    return e;
}

static ss_status meet(ss_lowering *w, uint32_t shard, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_shard *x = &w->out->shard[shard];
    if (x->devices == 1 || w->options.sync == SS_SYNC_NONE) {
        for (uint32_t r = x->first_device; r < x->first_device + x->devices; r++) {
            s->first_wait[r] = s->waits;
            s->own[r] = true;
        }
        return SS_OK;
    }
    if (w->options.sync == SS_SYNC_CLOSED_FORM)
        return charge_in_closed_form(w, shard, err);
    if (w->options.sync == SS_SYNC_PARAMETER_SERVER)
        return gradients_to_master(w, shard, err);
    return w->options.aggregate ? gradients_as_one_task(w, shard, err)
                                : gradients_by_messages(w, shard, err);
}

/* ---- phases 4 and 5: updates, and weights back ------------------------------------------- */

static ss_status add_update(ss_lowering *w, uint32_t shard, uint32_t r, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_shard *x = &w->out->shard[shard];
    ss_device device = w->out->shard_device[r];
    ss_task_label label = label_of(w, shard, SS_TASK_UPDATE, SS_CARGO_NONE);
    ss_time time = 0;
    ss_task update;
    ss_status e = SS_OK;
    if (w->options.update_passes > 0)
        e = w->timer->memory(w->timer->context, w->options.update_passes * (double)x->bytes, device,
                             &time, err);
    if (!e)
        e = ss_tasks_add(w->tasks, device.i, time, 0, &label, &update, err);
    if (e)
        return e;
    s->update[r] = update.i;
    if (s->own[r])
        e = after_own(w, r, err);
    for (uint32_t i = s->first_wait[r]; i < s->first_wait[r + 1] && !e; i++)
        e = ss_tasks_after(w->tasks, (ss_task){s->wait[i]}, err);
    return e;
}

/* An update that takes no time is left out where nothing waits for it. */
static ss_status update_shard(ss_lowering *w, uint32_t shard, ss_error *err)
{
    const ss_shard *x = &w->out->shard[shard];
    bool server = w->options.sync == SS_SYNC_PARAMETER_SERVER && x->devices > 1;
    ss_status e = SS_OK;
    for (uint32_t r = 0; r < (server ? 1 : x->devices) && !e; r++)
        if (server || w->options.update_passes > 0)
            e = add_update(w, shard, x->first_device + r, err);
    return e;
}

static ss_status weights_from_master(ss_lowering *w, uint32_t shard, ss_error *err)
{
    const ss_shard *x = &w->out->shard[shard];
    const ss_device *device = w->out->shard_device + x->first_device;
    ss_task_label label = label_of(w, shard, SS_TASK_TRANSFER, SS_CARGO_WEIGHT);
    ss_task update = {w->s->update[x->first_device]};
    ss_status e = SS_OK;
    for (uint32_t r = 1; r < x->devices && !e; r++) {
        uint32_t sent;
        e = ss_lower_send(w, device[0], device[r], x->bytes, &label, &update, 1, &sent, err);
    }
    return e;
}

static ss_status reserve_members(struct ss_lower_scratch *s, uint32_t most, ss_error *err)
{
    if (most <= s->member_cap)
        return SS_OK;
    uint32_t cap = ss_grown(s->member_cap, most);
    ss_status e;
    if ((e = SS_REGROW(s->member_added, cap, "members", err)) ||
        (e = SS_REGROW(s->member_told, cap, "members", err)) ||
        (e = SS_REGROW(s->machine, cap, "members", err)))
        return e;
    s->member_cap = cap;
    return SS_OK;
}

/* For the shards of one weight. */
static ss_status reserve_rows(ss_lowering *w, uint32_t first, uint32_t shards, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    size_t rows = (size_t)w->out->shard_devices + 2;
    uint32_t most = 0;
    for (uint32_t k = first; k < first + shards; k++)
        most = w->out->shard[k].devices > most ? w->out->shard[k].devices : most;
    ss_status e;
    if ((e = SS_RESERVE(s->first_wait, s->first_wait_cap, rows, "updates", err)) ||
        (e = SS_RESERVE(s->own, s->own_cap, rows, "updates", err)) ||
        (e = SS_RESERVE(s->update, s->update_cap, rows, "updates", err)))
        return e;
    size_t machines = (size_t)w->topology->machines + 1;
    if (machines > s->of_machine_cap) {
        uint32_t old = s->of_machine_cap;
        if ((e = SS_RESERVE(s->of_machine, s->of_machine_cap, machines, "machines", err)))
            return e;
        memset(s->of_machine + old, 0, (s->of_machine_cap - old) * sizeof *s->of_machine);
    }
    return reserve_members(s, most, err);
}

ss_status ss_lower_meet(ss_lowering *w, ss_weight weight, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    uint32_t first = s->first_shard[weight.i], n = s->shards_of[weight.i];
    ss_status e = reserve_rows(w, first, n, err);
    for (uint32_t k = first; k < first + n && !e; k++) {
        e = ss_lowering_look_up(w, "lowering the meeting of gradients", k - 1, w->out->shards, err);
        if (!e)
            e = meet(w, k, err);
    }
    if (!e && n) {
        const ss_shard *last = &w->out->shard[first + n - 1];
        s->first_wait[last->first_device + last->devices] = s->waits;
    }
    return e;
}

ss_status ss_lower_update(ss_lowering *w, ss_weight weight, ss_error *err)
{
    uint32_t first = w->s->first_shard[weight.i], n = w->s->shards_of[weight.i];
    ss_status e = SS_OK;
    for (uint32_t k = first; k < first + n && !e; k++)
        e = update_shard(w, k, err);
    return e;
}

ss_status ss_lower_send_back(ss_lowering *w, ss_weight weight, ss_error *err)
{
    uint32_t first = w->s->first_shard[weight.i], n = w->s->shards_of[weight.i];
    bool server = w->options.sync == SS_SYNC_PARAMETER_SERVER;
    ss_status e = SS_OK;
    for (uint32_t k = first; k < first + n && !e; k++) {
        e = ss_lowering_look_up(w, "lowering updates", k - 1, w->out->shards, err);
        if (!e && server && w->out->shard[k].devices > 1)
            e = weights_from_master(w, k, err);
    }
    return e;
}

bool ss_lower_has_barriers(const ss_lowering *w)
{
    return w->options.training && (w->options.sync == SS_SYNC_CLOSED_FORM || !w->options.overlap);
}
