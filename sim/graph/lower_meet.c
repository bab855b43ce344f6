/* lower_meet.c - the meeting of a shard's gradients: an all-reduce of collective.h, as its messages or as
 * one task of its closed form. */
#include "graph/lowering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "graph/collective_route.h"

/* ---- which all-reduce -------------------------------------------------------------------- */

enum { MOST_CHUNKS = 256 };

static ss_algorithm algorithm_of(ss_sync sync)
{
    switch (sync) {
    case SS_SYNC_TREE:
        return SS_TREE;
    case SS_SYNC_TWO_LEVEL:
        return SS_TWO_LEVEL;
    case SS_SYNC_BIDIRECTIONAL_RING:
        return SS_BIDIRECTIONAL_RING;
    case SS_SYNC_DOUBLE_TREE:
        return SS_DOUBLE_TREE;
    case SS_SYNC_HALVING_DOUBLING:
        return SS_HALVING_DOUBLING;
    case SS_SYNC_HIERARCHICAL:
        return SS_HIERARCHICAL;
    case SS_SYNC_IN_NETWORK:
        return SS_IN_NETWORK;
    default:
        return SS_RING;
    }
}

/* 0: to be chosen. */
static uint32_t chunks_of(const ss_lower_options *o, int64_t bytes)
{
    if (o->chunk_bytes <= 0)
        return o->sync != SS_SYNC_AUTO;
    int64_t n = bytes > 0 ? (bytes - 1) / o->chunk_bytes + 1 : 1;
    return n < MOST_CHUNKS ? (uint32_t)n : MOST_CHUNKS;
}

static const ss_device *devices_of(const ss_lowering *w, const ss_shard *x)
{
    return w->out->shard_device + x->first_device;
}

static ss_party party_of(const ss_lowering *w, const ss_shard *x)
{
    return (ss_party){w->topology, w->routes, devices_of(w, x)};
}

static void list_machines(ss_lowering *w, const ss_shard *x)
{
    const ss_device *device = devices_of(w, x);
    for (uint32_t r = 0; r < x->devices; r++)
        w->s->machine[r] = w->topology->device[device[r].i].def.machine;
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

static ss_status find_tree(ss_lowering *w, const ss_shard *x, ss_error *err)
{
    ss_lower_meeting *m = &w->s->meeting;
    ss_status e = m->has_tree ? SS_OK
                              : ss_reduction_tree_make(w->topology, w->routes, devices_of(w, x),
                                                       x->devices, &w->s->tree, err);
    m->has_tree = !e;
    return e;
}

/* The all-reduce of a shard; what it needs of the network is looked up once for meetings of the same devices
 * that follow each other. */
static ss_status collective_of(ss_lowering *w, ss_shard *x, ss_collective *out, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    if (!same_members(w, x))
        s->meeting = (ss_lower_meeting){.first_device = x->first_device, .devices = x->devices};
    list_machines(w, x);
    *out = (ss_collective){.operation = SS_ALL_REDUCE,
                           .algorithm = algorithm_of(w->options.sync),
                           .members = x->devices,
                           .bytes = x->bytes,
                           .chunks = chunks_of(&w->options, x->bytes),
                           .machine = s->machine,
                           .tree = &s->tree};
    ss_party p = party_of(w, x);
    ss_status e = SS_OK;
    if (w->options.sync == SS_SYNC_AUTO)
        e = ss_choose_collective_again(out, &p, &w->options, err);
    else if (out->algorithm == SS_IN_NETWORK)
        e = find_tree(w, x, err);
    x->algorithm = out->algorithm;
    x->chunks = out->chunks;
    return e ? ss_fail_in(err, "the gradients of %s", w->model->weight[x->weight.i].name) : SS_OK;
}

/* ---- as messages ------------------------------------------------------------------------- */

/* What the message waits for, in s->before: what it passes on or follows, and the sender's own gradient
 * where nothing else speaks for that. */
static ss_status before_message(ss_lowering *w, const ss_shard *x, const ss_message *m, uint32_t *n,
                                ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_status e = SS_OK;
    *n = 0;
    if (m->own)
        e = ss_lower_own_sources(w, x->first_device + m->from, n, err);
    for (uint32_t a = 0; a < m->afters && !e; a++) {
        const ss_sent *sent = &s->sent[s->arrived[s->messages.after[m->first_after + a]]];
        e = SS_RESERVE(s->before, s->before_cap, (size_t)*n + sent->arrivals, "dependencies", err);
        for (uint32_t i = 0; i < sent->arrivals && !e; i++)
            s->before[(*n)++].i = sent->arrival + i;
    }
    return e;
}

/* Every update waits for the messages that its device's result is made of; and for its own gradient, if that
 * went nowhere from which a sum came back. */
static ss_status waits_of_members(ss_lowering *w, const ss_shard *x, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_status e = SS_OK;
    uint32_t *first = s->member_told, *next = s->told_next; /* lists of messages, by receiver */
    memset(first, 0, x->devices * sizeof *first);
    for (uint32_t i = s->messages.n; i > 0; i--)
        if (s->messages.row[i].last && s->messages.row[i].to < x->devices) {
            next[i] = first[s->messages.row[i].to];
            first[s->messages.row[i].to] = i;
        }
    for (uint32_t r = 0; r < x->devices && !e; r++) {
        s->first_wait[x->first_device + r] = s->waits;
        s->own[x->first_device + r] = !s->member_added[r];
        for (uint32_t i = first[r]; i && !e; i = next[i])
            e = ss_lower_wait_for_sent(s, s->arrived[i], err);
    }
    return e;
}

static ss_status send_message(ss_lowering *w, const ss_shard *x, const ss_collective *c,
                              const ss_message *m, ss_task_label *label, uint32_t befores,
                              uint32_t *sent, ss_error *err)
{
    const ss_device *device = devices_of(w, x);
    if (c->algorithm != SS_IN_NETWORK)
        return ss_lower_send(w, device[m->from], device[m->to], m->bytes, label, w->s->before,
                             befores, sent, err);
    ss_party p = party_of(w, x);
    const ss_link *link;
    uint32_t links;
    ss_status e = ss_collective_way(c, &p, m, &link, &links, err);
    label->from = m->from < x->devices ? device[m->from] : (ss_device){0};
    label->to = m->to < x->devices ? device[m->to] : (ss_device){0};
    return e ? e
             : ss_lower_send_over_link(w, *link, m->bytes, label, w->s->before, befores, sent, err);
}

ss_status ss_lower_meet_by_messages(ss_lowering *w, uint32_t shard, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_shard *x = &w->out->shard[shard];
    ss_task_label label =
        ss_lower_weight_label(w, shard, SS_TASK_TRANSFER, SS_CARGO_WEIGHT_GRADIENT);
    ss_collective c;
    ss_status e = collective_of(w, x, &c, err);
    if (!e)
        e = ss_collective_messages(&c, &s->messages, err);
    if (!e)
        e = SS_RESERVE(s->arrived, s->arrived_cap, (size_t)s->messages.n + 1, "messages", err);
    if (!e)
        e = SS_RESERVE(s->told_next, s->told_next_cap, (size_t)s->messages.n + 1, "messages", err);
    memset(s->member_added, 0, x->devices * sizeof *s->member_added);
    for (uint32_t i = 1; i <= s->messages.n && !e; i++) {
        const ss_message *m = &s->messages.row[i];
        uint32_t n;
        label.turn = i;
        e = before_message(w, x, m, &n, err);
        if (!e)
            e = send_message(w, x, &c, m, &label, n, &s->arrived[i], err);
        if (m->from < x->devices)
            s->member_added[m->from] |= m->adds;
    }
    return e ? e : waits_of_members(w, x, err);
}

/* ---- as one task ------------------------------------------------------------------------- */

/* Routes that are looked at: the largest latency and the least bandwidth; their links are collected in
 * s->resource. */
typedef struct span {
    ss_wire wire;
    uint32_t links;
} span;

static ss_status collect(ss_lowering *w, const ss_link *link, uint32_t n, span *p, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_status e =
        SS_RESERVE(s->resource, s->resource_cap, (size_t)p->links + n, "links of a meeting", err);
    for (uint32_t i = 0; i < n && !e; i++)
        s->resource[p->links++] = w->topology->devices + link[i].i;
    return e;
}

static ss_status widen(ss_lowering *w, ss_device from, ss_device to, span *p, ss_error *err)
{
    ss_route route;
    uint32_t n;
    ss_status e = ss_routes_find(w->routes, from, to, &route, err);
    if (e)
        return e;
    const ss_link *link = ss_route_links(w->routes, route, &n);
    p->wire.latency_s = fmax(p->wire.latency_s, ss_route_latency_s(w->routes, route));
    p->wire.bytes_per_s = fmin(p->wire.bytes_per_s, ss_route_bytes_per_s(w->routes, route));
    return collect(w, link, n, p, err);
}

static ss_status widen_both(ss_lowering *w, ss_device a, ss_device b, span *p, ss_error *err)
{
    ss_status e = widen(w, a, b, p, err);
    return e ? e : widen(w, b, a, p, err);
}

static span no_span(void)
{
    return (span){{0, INFINITY}, 0};
}

/* Two levels: the members of a machine with its first, those with the first of all. */
static ss_status widen_levels(ss_lowering *w, const ss_shard *x, span *inside, span *across,
                              ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_device *device = devices_of(w, x);
    ss_status e = SS_OK;
    list_machines(w, x);
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

/* Neighbours in a ring, or in the binary tree. */
static ss_status widen_ring(ss_lowering *w, const ss_shard *x, bool back, span *p, ss_error *err)
{
    const ss_device *device = devices_of(w, x);
    uint32_t n = x->devices;
    ss_status e = SS_OK;
    for (uint32_t r = 0; r < n && !e; r++)
        e = back ? widen_both(w, device[r], device[(r + 1) % n], p, err)
                 : widen(w, device[r], device[(r + 1) % n], p, err);
    return e;
}

static ss_status widen_tree(ss_lowering *w, const ss_shard *x, span *p, ss_error *err)
{
    const ss_device *device = devices_of(w, x);
    ss_status e = SS_OK;
    for (uint32_t r = 1; r < x->devices && !e; r++)
        e = widen_both(w, device[r], device[(r - 1) / 2], p, err);
    return e;
}

/* Of any other: whoever has a message for whom. */
static ss_status widen_messages(ss_lowering *w, const ss_shard *x, const ss_collective *c,
                                span *inside, span *across, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_device *device = devices_of(w, x);
    ss_party p = party_of(w, x);
    ss_collective whole = *c;
    whole.chunks = 1;
    ss_status e = ss_collective_messages(&whole, &s->messages, err);
    for (uint32_t i = 1; i <= s->messages.n && !e; i++) {
        const ss_message *m = &s->messages.row[i];
        bool network = c->algorithm == SS_IN_NETWORK;
        bool mates = !network && s->machine[m->from] && s->machine[m->from] == s->machine[m->to];
        span *to = mates ? inside : across;
        to->links = inside->links > across->links ? inside->links : across->links;
        const ss_link *link;
        uint32_t n;
        if (!network)
            e = widen(w, device[m->from], device[m->to], to, err);
        else if (!(e = ss_collective_way(c, &p, m, &link, &n, err)))
            e = collect(w, link, n, to, err);
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

/* What a meeting by this algorithm crosses: its links as a set, and the slowest of them. */
static ss_status find_links(ss_lowering *w, const ss_shard *x, const ss_collective *c,
                            ss_error *err)
{
    ss_lower_meeting *m = &w->s->meeting;
    span p = no_span(), across = no_span();
    ss_status e;
    if (m->has_links && m->algorithm == c->algorithm)
        return SS_OK;
    m->has_links = false;
    if (c->algorithm == SS_RING || c->algorithm == SS_BIDIRECTIONAL_RING)
        e = widen_ring(w, x, c->algorithm != SS_RING, &p, err);
    else if (c->algorithm == SS_TREE)
        e = widen_tree(w, x, &p, err);
    else if (c->algorithm == SS_TWO_LEVEL)
        e = widen_levels(w, x, &p, &across, err);
    else
        e = widen_messages(w, x, c, &p, &across, err);
    uint32_t links = p.links > across.links ? p.links : across.links;
    if (!e)
        e = set_of_links(w, links, &m->where, err);
    if (e)
        return e;
    m->slowest = INFINITY;
    for (uint32_t i = 0; i < links; i++) {
        uint32_t link = w->s->resource[i] - w->topology->devices;
        m->slowest = fmin(m->slowest, w->topology->link[link].def.bytes_per_s);
    }
    m->chunks = 0;
    m->wire[0] = p.wire;
    m->wire[1] = across.wire;
    m->algorithm = c->algorithm;
    m->has_links = true;
    return SS_OK;
}

/* Old names keep the numbers that they had, which know no remainder of shares. */
static double seconds_of(const ss_collective *c, ss_wire inside, ss_wire across)
{
    double bytes = (double)c->bytes;
    if (c->algorithm == SS_RING)
        return ss_collective_ring_seconds(c->members, bytes, inside.latency_s, inside.bytes_per_s);
    if (c->algorithm == SS_TREE && c->chunks <= 1)
        return ss_collective_tree_seconds(c->members, bytes, inside.latency_s, inside.bytes_per_s);
    return ss_collective_seconds(c, inside, across);
}

/* The same if every link were as fast as can be: what is left is latency; or, if each message took a second to
 * begin, how many follow each other. */
static ss_status latency_of(ss_lowering *w, const ss_collective *c, bool seconds_each, double *out,
                            ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_wire *wire = s->meeting.wire;
    ss_wire inside = {wire[0].latency_s, INFINITY}, across = {wire[1].latency_s, INFINITY};
    ss_collective x = *c;
    ss_reduction_tree tree = s->tree;
    if (seconds_each) { /* where there are any */
        inside.latency_s = isfinite(wire[0].bytes_per_s);
        across.latency_s = isfinite(wire[1].bytes_per_s);
    }
    if (c->algorithm == SS_IN_NETWORK) {
        ss_status e =
            SS_RESERVE(s->no_limit, s->no_limit_cap, 2 * (size_t)tree.n, "links of a meeting", err);
        if (e)
            return e;
        double *second = s->no_limit + tree.n;
        for (uint32_t v = 0; v < tree.n; v++) {
            s->no_limit[v] = INFINITY;
            second[v] = v != tree.root;
        }
        tree.up_bytes_per_s = tree.down_bytes_per_s = s->no_limit;
        if (seconds_each)
            tree.up_latency_s = tree.down_latency_s = second;
        x.tree = &tree;
    }
    *out = seconds_of(&x, inside, across);
    return SS_OK;
}

/* By the links that messages meet on, if there they take longer than the form knows of: a task must not
 * move more over a link than it carries.  Links are crossed at once, as the form has it. */
static ss_status price_of(ss_lowering *w, const ss_shard *x, const ss_collective *c, ss_price *out,
                          ss_error *err)
{
    ss_lower_meeting *m = &w->s->meeting;
    ss_collective many = *c;
    ss_lower_options o = ss_options_at_once(&w->options);
    ss_party p = party_of(w, x);
    ss_status e = SS_OK;
    many.bytes = (int64_t)1 << 40; /* shares are even, near enough */
    *out = (ss_price){0, 0};
    if (c->algorithm == SS_IN_NETWORK || c->bytes <= 0) /* its links carry nothing else */
        return SS_OK;
    uint32_t chunks = c->chunks > c->bytes ? (uint32_t)c->bytes : c->chunks ? c->chunks : 1;
    many.chunks = chunks;
    if (m->chunks != chunks) {
        m->chunks = 0;
        e = w->s->pricer ? SS_OK : ss_pricer_new(&w->s->pricer, err);
        if (!e)
            e = ss_price_collective(w->s->pricer, &many, &p, &o, &m->price, err);
        m->chunks = e ? 0 : chunks;
    }
    *out = m->price;
    out->transfer_s *= (double)c->bytes / (double)many.bytes;
    return e;
}

/* One task on the links `where`; all updates wait for it. */
static ss_status add_meeting(ss_lowering *w, uint32_t shard, double seconds, int64_t bytes,
                             uint32_t rounds, uint32_t where, ss_task *out, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_shard *x = &w->out->shard[shard];
    ss_task_label label =
        ss_lower_weight_label(w, shard, SS_TASK_COLLECTIVE, SS_CARGO_WEIGHT_GRADIENT);
    label.turn = rounds;
    ss_time time;
    ss_status e = ss_time_from_seconds(seconds, w->model->weight[x->weight.i].name, &time, err);
    if (!e)
        e = ss_tasks_add(w->tasks, where, time, bytes, &label, out, err);
    for (uint32_t r = 0; r < x->devices && !e; r++) {
        s->first_wait[x->first_device + r] = s->waits;
        s->own[x->first_device + r] = false;
        e = ss_lower_wait_for(s, out->i, err);
    }
    return e;
}

/* Bytes that an all-reduce moves: each member but one, and in the network each switch but the root, sends
 * all once and receives all once. */
static ss_status meeting_bytes(const ss_lowering *w, const ss_shard *x, bool network,
                               int64_t *bytes, ss_error *err)
{
    int64_t times = 2 * ((int64_t)(network ? w->s->tree.n : x->devices) - 1);
    if (x->bytes > INT64_MAX / times)
        return ss_fail(err, SS_ERANGE, "the copies of weight %s have more than 2^63 bytes",
                       w->model->weight[x->weight.i].name);
    *bytes = times * x->bytes;
    return SS_OK;
}

/* Where links are exclusive the task holds them for the whole time.  Where they are shared it is a flow over
 * all of them after the latency, of as many bytes as its slowest link carries in the rest of the time: alone it
 * takes the closed form, and what else is on one of its links slows it down and is slowed by it. */
static ss_status add_links_or_flow(ss_lowering *w, uint32_t shard, const ss_collective *c,
                                   int64_t moved, ss_task *task, ss_error *err)
{
    const ss_lower_meeting *m = &w->s->meeting;
    double seconds = seconds_of(c, m->wire[0], m->wire[1]), latency, rounds;
    ss_price price;
    ss_status e = latency_of(w, c, true, &rounds, err);
    if (!e)
        e = latency_of(w, c, false, &latency, err);
    if (!e)
        e = price_of(w, &w->out->shard[shard], c, &price, err);
    if (e)
        return e;
    if (price.latency_s + price.transfer_s > seconds * (1 + 1e-9)) { /* else it is rounding */
        seconds = price.latency_s + price.transfer_s;
        latency = price.latency_s;
    }
    uint32_t turn = (uint32_t)llrint(rounds);
    if (w->options.links != SS_LINKS_SHARED)
        return add_meeting(w, shard, seconds, moved, turn, m->where, task, err);
    double flows = (seconds - latency) * m->slowest;
    if (!(flows < 9e18))
        return ss_fail(err, SS_ERANGE, "weight %s: more than 2^63 bytes over one link",
                       w->model->weight[w->out->shard[shard].weight.i].name);
    int64_t bytes = flows > 0 ? (int64_t)flows : 0;
    double before = fmax(0, seconds - (double)bytes / m->slowest);
    return add_meeting(w, shard, before, bytes, turn, m->where, task, err);
}

ss_status ss_lower_meet_as_one_task(ss_lowering *w, uint32_t shard, ss_error *err)
{
    ss_shard *x = &w->out->shard[shard];
    ss_collective c;
    int64_t bytes = 0;
    ss_task task;
    ss_status e = collective_of(w, x, &c, err);
    if (!e)
        e = find_links(w, x, &c, err);
    if (!e)
        e = meeting_bytes(w, x, c.algorithm == SS_IN_NETWORK, &bytes, err);
    if (!e && w->out->moved[SS_CARGO_WEIGHT_GRADIENT] > INT64_MAX - bytes)
        e = ss_fail(err, SS_ERANGE, "more than 2^63 bytes of weight gradients would be moved");
    if (!e)
        e = add_links_or_flow(w, shard, &c, bytes, &task, err);
    for (uint32_t r = 0; r < x->devices && !e; r++)
        e = ss_lower_after_own(w, x->first_device + r, err);
    w->out->moved[SS_CARGO_WEIGHT_GRADIENT] += e ? 0 : bytes;
    return e;
}

/* The 2018 simulator adds W (g - 1) / b_inside + W (m - 1) / b_across to the step, for m machines
 * with at most g members each: half of a two-level meeting, without latencies.  So this is a task
 * that begins when all else has ended, and it holds every link, so that the meetings follow each
 * other. */
ss_status ss_lower_charge_in_closed_form(ss_lowering *w, uint32_t shard, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_shard *x = &w->out->shard[shard];
    uint32_t links = w->topology->links;
    span in = no_span(), across = no_span();
    int64_t bytes = 0;
    ss_task task;
    ss_status e = widen_levels(w, x, &in, &across, err);
    if (!e)
        e = meeting_bytes(w, x, false, &bytes, err);
    if (!e)
        e = SS_RESERVE(s->resource, s->resource_cap, links, "links", err);
    if (e)
        return e;
    double seconds =
        ss_collective_two_level_seconds(x->devices, s->machine, (double)x->bytes, 0,
                                        in.wire.bytes_per_s, 0, across.wire.bytes_per_s);
    for (uint32_t i = 0; i < links; i++)
        s->resource[i] = w->topology->devices + 1 + i;
    uint32_t where;
    e = set_of_links(w, links, &where, err);
    if (!e)
        e = add_meeting(w, shard, seconds / 2, 0, 0, where, &task, err);
    if (!e)
        e = ss_tasks_after(w->tasks, s->barrier[0], err);
    w->out->charged_bytes += e ? 0 : (double)bytes;
    return e;
}
