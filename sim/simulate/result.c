#include "config.h"

#include "simulate/result_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/watch.h"
#include "graph/collective_route.h"

/* ------------------------------------------------------------------------------------------ bytes
 */

/* What a message did to its ends.  The totals are sums over every message, so they are the one
 * place where bytes could pass 2^63. */
static ss_status add_bytes(int64_t *sum, int64_t more, ss_error *err)
{
    if (__builtin_add_overflow(*sum, more, sum))
        return ss_fail(err, SS_ERANGE, "more than 2^63 bytes in one place");
    return SS_OK;
}

static ss_status charge_ends(ss_result *r, ss_device from, ss_device to, int64_t bytes,
                             ss_error *err)
{
    ss_status s = SS_OK;
    if (from.i && from.i <= r->devices)
        s = add_bytes(&r->device[from.i].sent, bytes, err);
    if (!s && to.i && to.i <= r->devices)
        s = add_bytes(&r->device[to.i].received, bytes, err);
    return s;
}

/* ---------------------------------------------------------------- collectives that are one task */

/* What a collective task knows of its messages: an aggregated meeting is one task on all its links,
 * so who sends what to whom is drawn up again from the shard and the algorithm. */
typedef struct meeting {
    const ss_shard *shard;
    const ss_device *member; /* [shard->devices] */
} meeting;

static meeting meeting_of(const ss_result *r, const ss_task_label *label)
{
    const ss_lowered *l = r->lowered;
    if (label->part < 1 || label->part > l->shards)
        return (meeting){0};
    const ss_shard *shard = &l->shard[label->part];
    return (meeting){shard, &l->shard_device[shard->first_device]};
}

static ss_status charge_links(ss_result *r, const ss_link *link, uint32_t links, int64_t bytes,
                              uint32_t messages, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < links && !s; i++) {
        r->link[link[i].i].messages += messages;
        s = add_bytes(&r->link[link[i].i].bytes, bytes, err);
    }
    return s;
}

static ss_status charge_message(ss_result *r, ss_routes *routes, ss_device from, ss_device to,
                                int64_t bytes, uint32_t messages, ss_error *err)
{
    ss_route route = {0};
    ss_status s = charge_ends(r, from, to, bytes, err);
    if (!s)
        s = ss_routes_find(routes, from, to, &route, err);
    if (s || !route.i)
        return s;
    uint32_t n = 0;
    const ss_link *link = ss_route_links(routes, route, &n);
    return charge_links(r, link, n, bytes, messages, err);
}

/* In a ring each member sends every share but two, twice around: all messages of one pair are
 * charged together, since a ring over n members has 2 n (n - 1) of them. */
static ss_status charge_ring(ss_result *r, ss_routes *routes, const meeting *m, ss_error *err)
{
    uint32_t n = m->shard->devices;
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < n && !s; i++) {
        int64_t unsent = 0;
        for (uint32_t k = 1; k <= 2; k++) {
            int64_t lo, hi;
            ss_part_range(m->shard->bytes, 1, n, (i + k) % n, &lo, &hi);
            unsent += hi - lo;
        }
        s = charge_message(r, routes, m->member[i], m->member[(i + 1) % n],
                           2 * m->shard->bytes - unsent, 2 * (n - 1), err);
    }
    return s;
}

static ss_status charge_messages(ss_result *r, const ss_collective *c, const ss_party *p,
                                 ss_error *err)
{
    ss_messages list = {0};
    ss_status s = ss_collective_messages(c, &list, err);
    for (uint32_t i = 1; i <= list.n && !s; i++) {
        const ss_message *m = &list.row[i];
        const ss_link *link;
        uint32_t n;
        ss_device from = m->from < c->members ? p->device[m->from] : (ss_device){0};
        ss_device to = m->to < c->members ? p->device[m->to] : (ss_device){0};
        s = charge_ends(r, from, to, m->bytes, err);
        if (!s)
            s = ss_collective_way(c, p, m, &link, &n, err);
        if (!s)
            s = charge_links(r, link, n, m->bytes, 1, err);
    }
    ss_messages_free(&list);
    return s;
}

static ss_status charge_shard(ss_result *r, const ss_topology *t, ss_routes *routes,
                              const meeting *m, ss_error *err)
{
    uint32_t n = m->shard->devices;
    ss_reduction_tree tree = {0};
    ss_party party = {t, routes, m->member};
    ss_collective c = {
        SS_ALL_REDUCE, m->shard->algorithm, n, m->shard->bytes, m->shard->chunks, NULL, &tree};
    uint32_t *machine = ss_alloc(n * sizeof *machine);
    ss_status s = SS_OK;
    if (!machine)
        return ss_fail_memory(err, "machines of a meeting", n * sizeof *machine);
    for (uint32_t i = 0; i < n; i++)
        machine[i] = t->device[m->member[i].i].def.machine;
    c.machine = machine;
    if (c.algorithm == SS_IN_NETWORK)
        s = ss_reduction_tree_make(t, routes, m->member, n, &tree, err);
    if (!s)
        s = charge_messages(r, &c, &party, err);
    ss_reduction_tree_free(&tree);
    ss_free(machine);
    return s;
}

static ss_status charge_collective(ss_result *r, const ss_topology *t, ss_routes *routes,
                                   const ss_task_label *label, ss_error *err)
{
    meeting m = meeting_of(r, label);
    if (!m.shard || !routes || m.shard->devices < 2 || r->lowered->options.sync < SS_SYNC_RING)
        return SS_OK; /* a closed form crosses no link */
    return m.shard->algorithm == SS_RING ? charge_ring(r, routes, &m, err)
                                         : charge_shard(r, t, routes, &m, err);
}

/* ---------------------------------------------------------------------- devices, links, messages
 */

static bool is_message(const ss_task_label *label)
{
    return label->kind == SS_TASK_TRANSFER || label->kind == SS_TASK_COLLECTIVE;
}

/* `wait` is how long it waited for links, or was slowed on shared ones. */
static ss_status use_resource(ss_result *r, uint32_t resource, ss_task task, ss_time wait,
                              ss_error *err)
{
    const ss_tasks *t = &r->lowered->tasks;
    ss_time took = r->timeline.end[task.i] - r->timeline.start[task.i];
    if (resource <= r->devices)
        return ss_time_add(r->device[resource].busy, took, &r->device[resource].busy, err);
    ss_link_use *link = &r->link[resource - r->devices];
    if (!ss_tasks_flows(t, task))
        link->busy += took; /* exclusive: no more than the makespan */
    if (wait > link->longest_wait)
        link->longest_wait = wait;
    if (t->label[task.i].kind != SS_TASK_TRANSFER)
        return SS_OK; /* charge_collective knows its messages */
    link->messages++;
    return add_bytes(&link->bytes, t->bytes[task.i], err);
}

static ss_status use_task(ss_result *r, const ss_topology *topology, ss_routes *routes,
                          const ss_slowed *slowed, ss_task task, ss_error *err)
{
    const ss_tasks *t = &r->lowered->tasks;
    const ss_task_label *label = &t->label[task.i];
    uint32_t n = 0;
    const uint32_t *resource = ss_tasks_resources(t, task, &n);
    ss_time wait = ss_tasks_flows(t, task) ? ss_slowed_of(slowed, task)
                                           : r->timeline.start[task.i] - r->timeline.ready[task.i];
    ss_status s = SS_OK;
    for (uint32_t k = 0; k < n && !s; k++)
        s = use_resource(r, resource[k], task, wait, err);
    if (!s && label->kind == SS_TASK_COLLECTIVE)
        s = charge_collective(r, topology, routes, label, err);
    else if (!s && label->kind == SS_TASK_TRANSFER && label->hop == 0)
        s = charge_ends(r, label->from, label->to, t->bytes[task.i], err);
    return s;
}

/* ------------------------------------------------------------------------------- communication */

typedef struct crossing {
    ss_time at;
    uint32_t task;
} crossing;

static int by_time_then_task(const void *a, const void *b)
{
    const crossing *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

/* The union of intervals that come in order of their beginning needs only where it ends so far. */
static void extend_union(ss_result *r, ss_time *covered, ss_device d, ss_time start, ss_time finish)
{
    if (!d.i || d.i > r->devices)
        return;
    if (start < covered[d.i])
        start = covered[d.i];
    if (finish <= start)
        return;
    r->device[d.i].communicating += finish - start;
    covered[d.i] = finish;
}

static void cover(ss_result *r, ss_time *covered, const crossing *c)
{
    const ss_task_label *label = &r->lowered->tasks.label[c->task];
    ss_time finish = ss_timeline_finish(&r->lowered->tasks, &r->timeline, (ss_task){c->task});
    if (label->kind == SS_TASK_COLLECTIVE) {
        meeting m = meeting_of(r, label);
        for (uint32_t i = 0; m.shard && i < m.shard->devices; i++)
            extend_union(r, covered, m.member[i], c->at, finish);
        return;
    }
    extend_union(r, covered, label->from, c->at, finish);
    if (label->to.i != label->from.i)
        extend_union(r, covered, label->to, c->at, finish);
}

/* With several streams a device is busy while it has any task. */
static ss_status account_streams(ss_result *r, ss_error *err)
{
    const ss_tasks *t = &r->lowered->tasks;
    uint32_t n = 0;
    crossing *list = ss_alloc(t->n * sizeof *list);
    ss_time *covered = ss_alloc_zeroed(r->devices + 1, sizeof *covered);
    ss_status s = SS_OK;
    if (!list || !covered)
        s = ss_fail_memory(err, "the account of streams", t->n * sizeof *list);
    for (uint32_t i = 1; i <= t->n && !s; i++)
        if (t->where[i] <= r->devices)
            list[n++] = (crossing){r->timeline.start[i], i};
    if (!s)
        qsort(list, n, sizeof *list, by_time_then_task);
    for (uint32_t d = 1; d <= r->devices; d++)
        r->device[d].busy = 0;
    for (uint32_t k = 0; k < n && !s; k++) {
        uint32_t d = t->where[list[k].task];
        ss_time start = list[k].at > covered[d] ? list[k].at : covered[d];
        ss_time end = r->timeline.end[list[k].task];
        if (end <= start)
            continue;
        r->device[d].busy += end - start;
        covered[d] = end;
    }
    ss_free(list);
    ss_free(covered);
    return s;
}

static ss_status account_communication(ss_result *r, ss_error *err)
{
    const ss_tasks *t = &r->lowered->tasks;
    uint32_t n = 0;
    for (uint32_t i = 1; i <= t->n; i++)
        n += is_message(&t->label[i]);
    crossing *list = ss_alloc(n * sizeof *list);
    ss_time *covered = ss_alloc_zeroed(r->devices + 1, sizeof *covered);
    ss_status s = SS_OK;
    if (!list || !covered) {
        s = ss_fail_memory(err, "the account of communication", n * sizeof *list);
        goto done;
    }
    n = 0;
    for (uint32_t i = 1; i <= t->n; i++)
        if (is_message(&t->label[i]))
            list[n++] = (crossing){r->timeline.start[i], i};
    qsort(list, n, sizeof *list, by_time_then_task);
    for (uint32_t i = 0; i < n; i++)
        cover(r, covered, &list[i]);
done:
    ss_free(list);
    ss_free(covered);
    return s;
}

/* --------------------------------------------------------------------------------------- memory */

/* The result takes over the arrays of the account that it keeps. */
static void keep_account(ss_result *r, ss_held_account *a)
{
    ss_free(r->held_first);
    r->held = a->change;
    r->held_first = a->first;
    a->change = NULL;
    a->first = NULL;
    for (uint32_t d = 1; d <= r->devices; d++) {
        ss_device_use *use = &r->device[d];
        use->held_peak = a->peak[d].bytes;
        use->held_peak_at = a->peak[d].at;
        memcpy(use->held_peak_by, a->peak[d].by, sizeof use->held_peak_by);
    }
}

ss_status ss_result_hold(ss_result *r, const ss_topology *t, const ss_holds *holds, ss_error *err)
{
    ss_held_account account = {0};
    ss_status status = ss_held_account_make(holds, &r->timeline, r->devices, &account, err);
    if (!status) {
        r->over_capacity = ss_held_excess(&account, t) > 0;
        keep_account(r, &account);
    }
    ss_held_account_free(&account);
    return status;
}

/* --------------------------------------------------------------------------------------- result */

static ss_status start_account(ss_result *r, ss_error *err)
{
    const ss_tasks *t = &r->lowered->tasks;
    r->devices = t->devices;
    r->links = t->links;
    r->device = ss_alloc_zeroed(r->devices + (size_t)1, sizeof *r->device);
    r->link = ss_alloc_zeroed(r->links + (size_t)1, sizeof *r->link);
    r->held_first = ss_alloc_zeroed(r->devices + (size_t)2, sizeof *r->held_first);
    if (!r->device || !r->link || !r->held_first)
        return ss_fail_memory(err, "a result", (r->devices + (size_t)1) * sizeof *r->device);
    return SS_OK;
}

/* Bytes that flows have by chance, by link. */
static void add_drawn(const ss_tasks *t, double *carried)
{
    for (uint32_t i = 1; i <= t->n; i++) {
        uint32_t n = 0;
        const uint32_t *link =
            ss_tasks_flows(t, (ss_task){i}) ? ss_tasks_resources(t, (ss_task){i}, &n) : NULL;
        for (uint32_t k = 0; k < n; k++)
            carried[link[k] - t->devices] += (double)ss_tasks_flow(t, (ss_task){i});
    }
}

/* A shared link is busy for what its bytes take at its bandwidth, on average, so that busy by step time is how
 * much of it was used; ends are whole picoseconds, so the sum may pass the step by as many as it had messages. */
static ss_status account_shared_links(ss_result *r, ss_error *err)
{
    const ss_tasks *t = &r->lowered->tasks;
    double *drawn = NULL;
    if (t->mode != SS_LINKS_SHARED)
        return SS_OK;
    if (t->draws_flows) {
        if (!(drawn = ss_alloc_zeroed(r->links + (size_t)1, sizeof *drawn)))
            return ss_fail_memory(err, "a result", r->links * sizeof *drawn);
        add_drawn(t, drawn);
    }
    for (uint32_t l = 1; l <= r->links; l++) {
        double at = r->mean_bytes_per_s ? r->mean_bytes_per_s[l] : t->bytes_per_s[l];
        double carried = drawn ? drawn[l] : (double)r->link[l].bytes;
        double busy = at > 0 ? carried / at * SS_PICOSECONDS : 0;
        double most = (double)r->timeline.makespan;
        r->link[l].busy = busy < most ? (ss_time)llrint(busy) : r->timeline.makespan;
    }
    ss_free(drawn);
    return SS_OK;
}

/* Everything but memory held. */
ss_status ss_result_account(ss_result *r, const ss_topology *topology, ss_routes *routes,
                            const ss_watch *watch, ss_error *err)
{
    const ss_tasks *t = &r->lowered->tasks;
    ss_slowed slowed;
    ss_status s = ss_slowed_start(&slowed, t, &r->timeline, r->change, r->changes, err);
    if (!s)
        s = start_account(r, err);
    for (uint32_t i = 1; i <= t->n && !s; i++) {
        if (i % SS_LOOK_EVERY == 0)
            s = ss_look_up(watch, "adding up", i, t->n, err);
        if (!s)
            s = use_task(r, topology, routes, &slowed, (ss_task){i}, err);
    }
    if (!s)
        s = account_shared_links(r, err);
    if (!s)
        s = account_communication(r, err);
    if (!s && r->lowered->options.run.streams > 1)
        s = account_streams(r, err);
    if (!s)
        s = ss_critical_find_in_run(&slowed, &r->lowered->options.run, &r->critical, err);
    ss_slowed_free(&slowed);
    const ss_lower_options *o = &r->lowered->options;
    if (!s)
        s = ss_chance_step(o->chance, o->repetition, &r->overhead, err);
    if (!s)
        s = ss_time_add(r->timeline.makespan, r->overhead, &r->step_time, err);
    for (uint32_t d = 1; d <= r->devices && !s; d++) {
        r->device[d].idle = r->step_time - r->device[d].busy;
        s = ss_time_add(r->compute, r->device[d].busy, &r->compute, err);
    }
    return s;
}
