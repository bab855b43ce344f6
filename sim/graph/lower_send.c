/* lower_send.c - a message becomes tasks on its route.
 *
 * A node that stages (topology.h) stores what passes through it.  Where a message crosses its links one
 * after the other, every node does; where it crosses them at once, the route falls into legs there, and
 * each segment of the message takes the next leg when it has arrived by the one before.
 */
#include "graph/lowering.h"

#include "base/array.h"

/* Where legs end: s->leg[0 .. *legs - 1], counts of links from the beginning of the route. */
static ss_status find_legs(ss_lowering *w, ss_device from, const ss_link *link, uint32_t links,
                           uint32_t *legs, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_topology *t = w->topology;
    ss_status e = SS_RESERVE(s->leg, s->leg_cap, links, "legs of a route", err);
    if (e)
        return e;
    *legs = ss_topology_legs(t, t->device[from.i].node, link, links, s->leg);
    return SS_OK;
}

/* All segments over the first leg, then over the second, and so on; *arrival is the first of those over the
 * last, which follow each other.  Links that are held make the segments wait for one another; flows
 * have to be told to, or they would run side by side as if they were so many messages. */
static ss_status send_staged(ss_lowering *w, const ss_link *link, uint32_t legs, int64_t bytes,
                             ss_task_label *label, const ss_task *before, uint32_t befores,
                             ss_task *arrival, uint32_t *arrivals, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_lower_options *o = &w->options;
    bool shared = o->links == SS_LINKS_SHARED;
    uint32_t segments = ss_tasks_segments(bytes, o->segment_bytes, o->max_segments);
    uint32_t n, begin = 0;
    ss_status e = SS_OK;
    for (uint32_t g = 0; g < legs && !e; g++) {
        for (uint32_t k = 0; k < segments && !e; k++) {
            int64_t share = bytes / segments + (k < bytes % segments);
            ss_task it_by_leg_before = {w->tasks->n + 1 - segments}, one_before = {w->tasks->n},
                    one;
            bool follows = shared && k; /* its predecessor waited for `before` */
            const ss_task *wait = g ? &it_by_leg_before : follows ? &one_before : before;
            uint32_t waits = g || follows ? 1 : befores;
            label->hop = (uint16_t)g;
            w->tasks->amid = g || k; /* who is in front has the message's overhead */
            e = ss_tasks_transfer(w->tasks, &link[begin].i, s->leg[g] - begin, share, 0, 0, label,
                                  wait, waits, &one, &n, err);
            if (!e && g && follows)
                e = ss_tasks_after(w->tasks, one_before, err);
            if (!e && k == 0)
                *arrival = one;
        }
        begin = s->leg[g];
    }
    w->tasks->amid = false;
    *arrivals = segments;
    return e;
}

static ss_status send_over(ss_lowering *w, ss_route route, int64_t bytes, ss_task_label *label,
                           const ss_task *before, uint32_t befores, ss_task *arrival,
                           uint32_t *arrivals, ss_error *err)
{
    const ss_topology *t = w->topology;
    uint32_t links, legs = 1;
    const ss_link *link = ss_route_links(w->routes, route, &links);
    ss_status e = SS_OK;
    if (t->stagings && !w->options.ideal_links && ss_links_are_crossed_at_once(w->options.links) &&
        links > 1)
        e = find_legs(w, label->from, link, links, &legs, err);
    if (e)
        return e;
    if (legs > 1)
        return send_staged(w, link, legs, bytes, label, before, befores, arrival, arrivals, err);
    return ss_tasks_transfer(w->tasks, &link->i, links, bytes, w->options.segment_bytes,
                             w->options.max_segments, label, before, befores, arrival, arrivals,
                             err);
}

/* A given route may give its flows another weight, and a limit. */
static void weigh(ss_lowering *w, ss_device from, ss_device to)
{
    double limit = w->options.flow_limit;
    if (w->options.links != SS_LINKS_SHARED || !w->topology->givens)
        return;
    uint32_t weight = ss_topology_flows(w->topology, from, to, &limit);
    ss_tasks_set_flows(w->tasks, weight, limit);
}

static ss_status refuse_bytes(const ss_lowering *w, int64_t bytes, ss_cargo cargo, ss_error *err)
{
    if (w->out->moved[cargo] <= INT64_MAX - bytes)
        return SS_OK;
    return ss_fail(err, SS_ERANGE, "more than 2^63 bytes of %ss would be moved",
                   ss_cargo_name(cargo));
}

/* The message whose tasks were added last, from the first of them on. */
static void note_sent(ss_lowering *w, uint32_t first, ss_task arrival, uint32_t arrivals,
                      int64_t bytes, ss_cargo cargo, uint32_t *sent)
{
    struct ss_lower_scratch *s = w->s;
    w->out->moved[cargo] += bytes;
    *sent = ++s->sents;
    s->sent[*sent] = (ss_sent){first, arrival.i, arrivals, bytes};
}

ss_status ss_lower_send(ss_lowering *w, ss_device from, ss_device to, int64_t bytes,
                        const ss_task_label *label, const ss_task *before, uint32_t befores,
                        uint32_t *sent, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_route route;
    ss_status e = ss_routes_find(w->routes, from, to, &route, err);
    if (!e)
        e = SS_RESERVE(s->sent, s->sent_cap, (size_t)s->sents + 2, "messages", err);
    if (!e)
        e = refuse_bytes(w, bytes, (ss_cargo)label->cargo, err);
    if (e)
        return e;
    uint32_t first = w->tasks->n + 1;
    ss_task_label l = *label;
    l.kind = SS_TASK_TRANSFER;
    l.from = from;
    l.to = to;
    ss_task arrival;
    uint32_t arrivals;
    weigh(w, from, to);
    e = send_over(w, route, bytes, &l, before, befores, &arrival, &arrivals, err);
    if (e == SS_ERANGE)
        ss_fail_in(err, "from %s to %s", ss_topology_device_name(w->topology, l.from),
                   ss_topology_device_name(w->topology, l.to));
    if (!e)
        note_sent(w, first, arrival, arrivals, bytes, (ss_cargo)label->cargo, sent);
    return e;
}

ss_status ss_lower_send_over_link(ss_lowering *w, ss_link link, int64_t bytes,
                                  const ss_task_label *label, const ss_task *before,
                                  uint32_t befores, uint32_t *sent, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_status e = SS_RESERVE(s->sent, s->sent_cap, (size_t)s->sents + 2, "messages", err);
    if (!e)
        e = refuse_bytes(w, bytes, (ss_cargo)label->cargo, err);
    if (e)
        return e;
    uint32_t first = w->tasks->n + 1;
    ss_task_label l = *label;
    l.kind = SS_TASK_TRANSFER;
    ss_task arrival;
    uint32_t arrivals;
    if (w->options.links == SS_LINKS_SHARED)
        ss_tasks_set_flows(w->tasks, 1, w->options.flow_limit);
    e = ss_tasks_transfer(w->tasks, &link.i, 1, bytes, w->options.segment_bytes,
                          w->options.max_segments, &l, before, befores, &arrival, &arrivals, err);
    if (!e)
        note_sent(w, first, arrival, arrivals, bytes, (ss_cargo)label->cargo, sent);
    return e;
}
