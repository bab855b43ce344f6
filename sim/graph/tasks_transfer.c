/* tasks_transfer.c - messages: what tasks one is by the mode of the graph, and how long they take. */
#include "graph/tasks_inside.h"

#include <math.h>

#include "base/text.h"
#include "graph/luck.h"

uint32_t ss_tasks_segments(int64_t bytes, int64_t segment_bytes, uint32_t max_segments)
{
    if (segment_bytes <= 0 || max_segments <= 1 || bytes <= 1)
        return 1;
    int64_t n = (bytes - 1) / segment_bytes + 1;
    return n < max_segments ? (uint32_t)n : max_segments;
}

uint64_t ss_tasks_transfer_count(ss_links_mode mode, uint32_t links, int64_t bytes,
                                 int64_t segment_bytes, uint32_t max_segments)
{
    if (links == 0)
        return 0;
    if (ss_links_are_crossed_at_once(mode))
        return 1;
    return (uint64_t)links * ss_tasks_segments(bytes, segment_bytes, max_segments);
}

static ss_status check_message(const ss_tasks *t, const uint32_t *link, uint32_t links,
                               int64_t bytes, int64_t segment_bytes, const ss_task *before,
                               uint32_t befores, ss_error *err)
{
    if (bytes < 0)
        return ss_fail(err, SS_EINVAL, "a transfer of %lld byte%s", (long long)bytes,
                       ss_plural((uint64_t)bytes));
    if (bytes > INT64_MAX - t->moved)
        return ss_fail(err, SS_ERANGE, "a transfer of %lld byte%s: more than 2^63 are moved in all",
                       (long long)bytes, ss_plural((uint64_t)bytes));
    if (segment_bytes < 0)
        return ss_fail(err, SS_EINVAL, "segments of %lld byte%s", (long long)segment_bytes,
                       ss_plural((uint64_t)segment_bytes));
    if (links > UINT16_MAX)
        return ss_fail(err, SS_ERANGE, "a route of %u links; at most %d can be crossed", links,
                       UINT16_MAX);
    for (uint32_t i = 0; i < links; i++)
        if (link[i] - 1 >= t->links)
            return ss_fail(err, SS_EINVAL, "a transfer over link %u; there are 1 to %u", link[i],
                           t->links);
    for (uint32_t i = 0; i < befores; i++)
        if (before[i].i == 0)
            return ss_fail(err, SS_EINVAL, "a transfer waits for task 0; tasks count from 1");
    return SS_OK;
}

/* Messages that follow each other over a link are often of one size.  Chance makes a message take as
 * long as if it had `factor` times its bytes. */
static ss_status link_hold(ss_tasks *t, uint32_t link, int64_t bytes, double factor, ss_time *out,
                           ss_error *err)
{
    if (t->last_bytes[link] == bytes && factor == 1) {
        *out = t->last_hold[link];
        return SS_OK;
    }
    const ss_link_law *law = t->law ? t->law[link] : NULL;
    double size = (double)bytes,
           seconds = factor * ss_link_law_seconds(law, t->bytes_per_s[link], size);
    if (t->mode == SS_LINKS_FIFO_HOP)
        seconds += ss_link_law_latency(law, t->latency_s[link], size);
    char rate[SS_QUANTITY_TEXT];
    if (ss_time_from_seconds(seconds, "transfer", out, err))
        return ss_fail_in(
            err, "%lld byte%s over link %u of %s", (long long)bytes, ss_plural((uint64_t)bytes),
            link,
            ss_format_quantity(t->bytes_per_s[link], SS_UNIT_BYTES_PER_SECOND, rate, sizeof rate));
    if (factor == 1) {
        t->last_bytes[link] = bytes;
        t->last_hold[link] = *out;
    }
    return SS_OK;
}

/* fifo-hop and fifo-pipe: hop after hop; segment s of a hop follows segment s of the hop before.
 * All times are tried before the first task is added, so that a failure adds none. */
static ss_status add_hops(ss_tasks *t, const uint32_t *link, uint32_t links, int64_t bytes,
                          uint32_t segments, const ss_task_label *label, ss_luck_message luck,
                          const ss_task *before, uint32_t befores, ss_error *err)
{
    int64_t shortest = bytes / segments, longer = bytes % segments;
    ss_time hold, hold_longer = 0;
    for (uint32_t h = 0; h < links; h++) {
        ss_status s = link_hold(t, link[h], shortest + (longer > 0), luck.factor, &hold, err);
        if (!s && !h)
            s = ss_time_add(hold, luck.more, &hold, err);
        if (s)
            return s;
    }
    ss_task_label l = *label;
    for (uint32_t h = 0; h < links; h++) {
        /* the longer one has passed */
        (void)link_hold(t, link[h], shortest, luck.factor, &hold, err);
        if (longer)
            (void)link_hold(t, link[h], shortest + 1, luck.factor, &hold_longer, err);
        l.hop = (uint16_t)h;
        for (uint32_t s = 0; s < segments; s++) {
            bool is_longer = s < longer;
            ss_time once = h == 0 && s == 0 ? luck.more : 0; /* the others queue behind it */
            uint32_t i =
                ss_tasks_push(t, t->devices + link[h], (is_longer ? hold_longer : hold) + once,
                              shortest + is_longer, &l);
            if (h)
                ss_tasks_push_edge(t, i - segments);
            else
                for (uint32_t b = 0; b < befores; b++)
                    ss_tasks_push_edge(t, before[b].i);
        }
    }
    return SS_OK;
}

/* What a message over a route as a whole takes: the sum of the latencies, and what it takes on the link that
 * is slowest for its size. */
typedef struct route_times {
    double latency_s, longest_s;
    double slowest; /* bytes a second, of any size */
    bool by_size;   /* some link falls short of its bandwidth by size */
} route_times;

static route_times times_of_route(const ss_tasks *t, const uint32_t *link, uint32_t links,
                                  double bytes)
{
    route_times x = {.slowest = INFINITY};
    for (uint32_t i = 0; i < links; i++) {
        const ss_link_law *law = t->law ? t->law[link[i]] : NULL;
        x.latency_s += ss_link_law_latency(law, t->latency_s[link[i]], bytes);
        x.longest_s = fmax(x.longest_s, ss_link_law_seconds(law, t->bytes_per_s[link[i]], bytes));
        x.slowest = fmin(x.slowest, t->bytes_per_s[link[i]]);
        x.by_size |= law && (law->half_bytes > 0 || law->curve.n);
    }
    return x;
}

/* A flow alone is as fast as the link that is slowest for its size lets it be; links are full when the
 * flows on them have all of their bandwidth, so many small messages at once use more of it than one. */
static ss_path_flows flows_of(const ss_tasks *t, const route_times *x, double bytes)
{
    ss_path_flows f = {.weight = t->flow_weight, .limit = t->flow_limit};
    if (!x->by_size || !(bytes > 0))
        return f;
    double by_size = bytes / x->longest_s;
    f.bytes = bytes;
    f.most = t->flow_limit;
    f.limit = f.most > 0 ? fmin(by_size, f.most) : by_size;
    return f;
}

/* fifo-path: one task that holds all links of the route.  shared: one task on the path of that set,
 * also if it is one link, which it does not hold. */
static ss_status add_path(ss_tasks *t, const uint32_t *link, uint32_t links, int64_t bytes,
                          const ss_task_label *label, ss_luck_message luck, const ss_task *before,
                          uint32_t befores, ss_error *err)
{
    bool shared = t->mode == SS_LINKS_SHARED;
    route_times x = times_of_route(t, link, links, (double)bytes);
    double carried = (double)bytes * luck.factor;
    ss_time hold;
    char rate[SS_QUANTITY_TEXT];
    if (carried >= 0x1p63)
        return ss_fail(err, SS_ERANGE, "%lld bytes that take as long as %g", (long long)bytes,
                       carried);
    if (ss_time_from_seconds(x.latency_s + x.longest_s * luck.factor, "transfer", &hold, err))
        return ss_fail_in(
            err, "%lld byte%s over %u link%s, the slowest of %s", (long long)bytes,
            ss_plural((uint64_t)bytes), links, ss_plural(links),
            ss_format_quantity(x.slowest, SS_UNIT_BYTES_PER_SECOND, rate, sizeof rate));

    uint32_t where = t->devices + link[0];
    if (links > 1 || shared) {
        ss_path_flows held = {.weight = 1};
        ss_path_flows flows = shared ? flows_of(t, &x, (double)bytes) : held;
        ss_status s = ss_tasks_set_of_route(t, link, links, &flows, &where, err);
        if (s)
            return s;
    }
    if (shared)
        (void)ss_time_from_seconds(x.latency_s, "latency", &hold, err); /* the longer has passed */
    ss_status s = ss_time_add(hold, luck.more, &hold, err);
    if (s)
        return s;
    uint32_t i = ss_tasks_push(t, where, hold, bytes, label);
    if (t->draws_flows && bytes && luck.factor != 1)
        t->flow[i] = (int64_t)fmax(1, nearbyint(carried));
    for (uint32_t b = 0; b < befores; b++)
        ss_tasks_push_edge(t, before[b].i);
    return SS_OK;
}

ss_status ss_tasks_transfer(ss_tasks *t, const uint32_t *link, uint32_t links, int64_t bytes,
                            int64_t segment_bytes, uint32_t max_segments,
                            const ss_task_label *label, const ss_task *before, uint32_t befores,
                            ss_task *first, uint32_t *n, ss_error *err)
{
    static const ss_task_label none = {.kind = SS_TASK_TRANSFER};
    *first = (ss_task){0};
    *n = 0;
    ss_status s = check_message(t, link, links, bytes, segment_bytes, before, befores, err);
    if (s || links == 0)
        return s;
    bool path = ss_links_are_crossed_at_once(t->mode);
    uint32_t segments = path ? 1 : ss_tasks_segments(bytes, segment_bytes, max_segments);
    uint64_t hops = path ? 1 : links;
    uint64_t tasks = hops * segments;
    uint64_t edges = (uint64_t)segments * befores + (hops - 1) * segments;
    if ((s = ss_tasks_reserve_tasks(t, tasks, err)) || (s = ss_tasks_reserve_edges(t, edges, err)))
        return s;
    label = label ? label : &none;
    ss_luck_message luck = {.factor = 1};
    if (t->luck && (s = ss_luck_of_message(t->luck, label, &luck, err)))
        return s;
    if (t->amid)
        luck.more = 0;
    s = path ? add_path(t, link, links, bytes, label, luck, before, befores, err)
             : add_hops(t, link, links, bytes, segments, label, luck, before, befores, err);
    if (s)
        return s;
    t->finished = false;
    *first = (ss_task){t->n - segments + 1};
    *n = segments;
    return SS_OK;
}
