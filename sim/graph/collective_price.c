#include "graph/collective_price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "graph/collective_parts.h"

enum { MOST_CHUNKS = 256 };

/* A message on its way: row i of the list. */
typedef struct way {
    const ss_link *link;
    uint32_t links;
    double limit; /* bytes a second of a flow; 0: none */
} way;

/* One of a step's, while that is priced. */
typedef struct trip {
    const ss_link *link;
    uint32_t links, crossed, row; /* crossed: so many of them */
    ss_node at;                   /* where it begins; kept where nodes stage */
    double bytes, segments, limit;
    ss_price first, last; /* when the first segment is there, and the last */
} trip;

struct ss_pricer {
    ss_steps steps;
    uint32_t *level; /* by row of the list */
    uint32_t level_cap;
    way *way; /* by row */
    uint32_t way_cap;
    trip *trip;
    uint32_t trip_cap;
    double *figure; /* of the links of a tree of switches */
    uint32_t figure_cap;
    ss_price *busy; /* by link, in the step at hand; 0 between steps */
    uint32_t link_cap;
    /* of what is asked */
    const ss_topology *topology;
    const ss_lower_options *options;
};

/* As fmax, of numbers, and without a call. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static ss_price worse(ss_price a, ss_price b)
{
    return (ss_price){larger(a.latency_s, b.latency_s), larger(a.transfer_s, b.transfer_s)};
}

ss_status ss_pricer_new(ss_pricer **out, ss_error *err)
{
    *out = ss_alloc_zeroed(1, sizeof **out);
    return *out ? SS_OK : ss_fail_memory(err, "prices of collectives", sizeof **out);
}

void ss_pricer_free(ss_pricer *w)
{
    if (!w)
        return;
    ss_steps_free(&w->steps);
    ss_free(w->level);
    ss_free(w->way);
    ss_free(w->trip);
    ss_free(w->figure);
    ss_free(w->busy);
    ss_free(w);
}

/* ---- steps ------------------------------------------------------------------------------- */

/* Of a list that says what waits for what: rows by round, or where there are none by how many follow each
 * other up to them.  A round without messages is a step that takes nothing. */
static ss_status find_levels(ss_pricer *w, ss_error *err)
{
    ss_steps *x = &w->steps;
    const ss_messages *m = &x->list;
    uint32_t most = 0;
    ss_status s =
        SS_RESERVE(w->level, w->level_cap, (size_t)m->n + 1, "steps of a collective", err);
    for (uint32_t i = 1; i <= m->n && !s; i++) {
        uint32_t level = 0;
        for (uint32_t a = m->row[i].first_after; a < m->row[i].first_after + m->row[i].afters; a++)
            level = w->level[m->after[a]] > level ? w->level[m->after[a]] : level;
        level = m->row[i].round ? m->row[i].round : level + 1;
        w->level[i] = level;
        most = level > most ? level : most;
    }
    if (!s)
        s = ss_steps_reserve(x, most, m->n, err);
    if (s)
        return s;
    memset(x->first, 0, ((size_t)most + 1) * sizeof *x->first);
    for (uint32_t i = 1; i <= m->n; i++)
        x->first[w->level[i]]++;
    for (uint32_t k = 0; k < most; k++) {
        x->first[k + 1] += x->first[k];
        x->times[k] = 1;
    }
    for (uint32_t i = m->n; i >= 1; i--)
        x->order[--x->first[w->level[i]]] = i;
    for (uint32_t k = 0; k < most; k++) /* each is where the one before begins */
        x->first[k] = x->first[k + 1];
    x->first[most] = m->n;
    x->steps = most;
    return SS_OK;
}

static ss_status find_way(const ss_pricer *w, const ss_collective *c, const ss_party *p,
                          const ss_message *m, way *out, ss_error *err)
{
    out->limit = w->options->flow_limit;
    if (c->algorithm != SS_IN_NETWORK)
        (void)ss_topology_flows(p->topology, p->device[m->from], p->device[m->to], &out->limit);
    return ss_collective_way(c, p, m, &out->link, &out->links, err);
}

static ss_status find_ways(ss_pricer *w, const ss_collective *c, const ss_party *p, ss_error *err)
{
    const ss_messages *m = &w->steps.list;
    ss_status s = SS_RESERVE(w->way, w->way_cap, (size_t)m->n + 1, "ways of a collective", err);
    for (uint32_t i = 1; i <= m->n && !s; i++)
        s = find_way(w, c, p, &m->row[i], &w->way[i], err);
    return s;
}

static ss_status reserve_step(ss_pricer *w, uint32_t links, ss_error *err)
{
    ss_status s = SS_RESERVE(w->trip, w->trip_cap, (size_t)w->steps.list.n + 1,
                             "a step of a collective", err);
    if (s || links < w->link_cap)
        return s;
    ss_price *busy = ss_alloc_zeroed((size_t)links + 1, sizeof *busy);
    if (!busy)
        return ss_fail_memory(err, "links of a collective", links * sizeof *busy);
    ss_free(w->busy);
    w->busy = busy;
    w->link_cap = links + 1;
    return SS_OK;
}

static ss_status sketch(ss_pricer *w, const ss_collective *c, const ss_party *p,
                        const ss_lower_options *o, ss_error *err)
{
    bool stepped;
    ss_collective whole = *c;
    whole.chunks = 1;
    w->topology = p->topology;
    w->options = o;
    if (c->algorithm == SS_IN_NETWORK)
        return SS_OK;
    ss_status s = ss_collective_steps(&whole, &w->steps, &stepped, err);
    if (!s && !stepped)
        s = ss_collective_messages(&whole, &w->steps.list, err);
    if (!s && !stepped)
        s = find_levels(w, err);
    if (!s)
        s = find_ways(w, c, p, err);
    return s ? s : reserve_step(w, p->topology->links, err);
}

/* ---- one step ---------------------------------------------------------------------------- */

static const ss_link_law *law_of(const ss_pricer *w, uint32_t link)
{
    return w->options->ideal_links ? NULL : w->topology->link[link].def.law;
}

static double bytes_per_s(const ss_pricer *w, uint32_t link)
{
    const ss_link_law *law = law_of(w, link);
    return w->topology->link[link].def.bytes_per_s * (law ? 1 - law->load : 1);
}

static double latency_of(const ss_pricer *w, uint32_t link, double bytes)
{
    return ss_link_law_latency(law_of(w, link), w->topology->link[link].def.latency_s, bytes);
}

static double seconds_of(const ss_pricer *w, uint32_t link, double bytes)
{
    return ss_link_law_seconds(law_of(w, link), bytes_per_s(w, link), bytes);
}

/* How much of a route is crossed at once: to where a node stages.  Links first .. end - 1. */
static uint32_t leg_end(const ss_pricer *w, const trip *x, uint32_t first, ss_node *at)
{
    const ss_topology *t = w->topology;
    if (!t->stagings || w->options->ideal_links)
        return x->links;
    for (uint32_t i = first; i < x->links; i++) {
        *at = ss_topology_across(t, x->link[i], *at);
        if (t->node[at->i].stages)
            return i + 1;
    }
    return x->links;
}

static ss_node begin_of(const ss_pricer *w, const trip *x)
{
    if (!w->topology->stagings || !x->links)
        return (ss_node){0};
    const ss_link_row *l = &w->topology->link[x->link[0].i];
    if (!l->def.half_duplex || x->links < 2)
        return l->from;
    const ss_link_row *next = &w->topology->link[x->link[1].i];
    bool to = l->to.i == next->from.i || l->to.i == next->to.i;
    return to ? l->from : l->to;
}

/* A leg that is held as a whole: for so long. */
static ss_price hold_of(const ss_pricer *w, const trip *x, uint32_t first, uint32_t end,
                        double bytes)
{
    ss_price p = {0, 0};
    for (uint32_t i = first; i < end; i++) {
        p.latency_s += latency_of(w, x->link[i].i, bytes);
        p.transfer_s = larger(p.transfer_s, seconds_of(w, x->link[i].i, bytes));
    }
    return p;
}

static void clear(ss_pricer *w, const trip *x)
{
    for (uint32_t i = 0; i < x->links; i++)
        w->busy[x->link[i].i] = (ss_price){0, 0};
}

/* What is on links that are crossed at once: of shared ones all bytes over the bandwidth, of exclusive
 * ones how long all messages hold them. */
static void put(ss_pricer *w, const trip *x)
{
    bool shared = w->options->links == SS_LINKS_SHARED;
    ss_node at = x->at;
    for (uint32_t first = 0, end; first < x->links; first = end) {
        end = leg_end(w, x, first, &at);
        ss_price hold = hold_of(w, x, first, end, x->bytes / x->segments);
        for (uint32_t i = first; i < end; i++) {
            ss_price *busy = &w->busy[x->link[i].i];
            busy->latency_s += shared ? 0 : x->segments * hold.latency_s;
            busy->transfer_s +=
                shared ? x->bytes / bytes_per_s(w, x->link[i].i) : x->segments * hold.transfer_s;
        }
    }
}

/* A leg takes what the busiest of its links does, or what the message takes alone. */
static ss_price cross_at_once(const ss_pricer *w, const trip *x)
{
    bool shared = w->options->links == SS_LINKS_SHARED;
    double alone = shared && x->limit > 0 ? x->bytes / x->limit : 0;
    ss_node at = x->at;
    ss_price sum = {0, 0}, most = {0, 0};
    for (uint32_t first = 0, end; first < x->links; first = end) {
        end = leg_end(w, x, first, &at);
        ss_price own = hold_of(w, x, first, end, x->bytes / x->segments), all = {0, 0};
        all.latency_s = own.latency_s;
        all.transfer_s = larger(x->segments * own.transfer_s, alone);
        for (uint32_t i = first; i < end; i++)
            all = worse(all, w->busy[x->link[i].i]);
        all.transfer_s /= x->segments;
        all.latency_s = shared ? all.latency_s : all.latency_s / x->segments;
        sum.latency_s += all.latency_s;
        sum.transfer_s += all.transfer_s;
        most = worse(most, all);
    }
    double more = x->segments - 1; /* each right behind the one before */
    sum.latency_s += shared ? 0 : more * most.latency_s;
    sum.transfer_s += more * most.transfer_s;
    return sum;
}

static ss_price price_at_once(ss_pricer *w, uint32_t n)
{
    ss_price most = {0, 0};
    for (uint32_t i = 0; i < n; i++)
        put(w, &w->trip[i]);
    for (uint32_t i = 0; i < n; i++)
        most = worse(most, cross_at_once(w, &w->trip[i]));
    return most;
}

/* The next link of a message, behind what is there already: its first segment goes when it is free,
 * its last not before it has come. */
static void queue(ss_pricer *w, trip *x)
{
    bool pipe = w->options->links == SS_LINKS_FIFO_PIPE;
    uint32_t i = x->crossed++;
    ss_price *busy = &w->busy[x->link[i].i];
    ss_price hold = hold_of(w, x, i, i + 1, x->bytes / x->segments), begin = worse(x->first, *busy);
    double passed = pipe ? hold.latency_s : 0;
    hold.latency_s -= passed;
    busy->latency_s =
        larger(begin.latency_s + x->segments * hold.latency_s, x->last.latency_s + hold.latency_s);
    busy->transfer_s = larger(begin.transfer_s + x->segments * hold.transfer_s,
                              x->last.transfer_s + hold.transfer_s);
    x->first =
        (ss_price){begin.latency_s + hold.latency_s + passed, begin.transfer_s + hold.transfer_s};
    x->last = (ss_price){busy->latency_s + passed, busy->transfer_s};
}

static int by_arrival(const void *a, const void *b)
{
    const trip *x = a, *y = b;
    double p = ss_price_seconds(x->first), q = ss_price_seconds(y->first);
    if (p != q)
        return p < q ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Link after link, at each as messages come. */
static ss_price price_hops(ss_pricer *w, uint32_t n)
{
    ss_price most = {0, 0};
    for (uint32_t hop = 0, under_way = n; under_way; hop++) {
        under_way = 0;
        if (hop)
            qsort(w->trip, n, sizeof *w->trip, by_arrival);
        for (uint32_t i = 0; i < n; i++)
            if (w->trip[i].crossed < w->trip[i].links) {
                queue(w, &w->trip[i]);
                under_way++;
            }
    }
    for (uint32_t i = 0; i < n; i++)
        most = worse(most, w->trip[i].last);
    return most;
}

/* The same where chains that do not wait for each other go on side by side: while a message is on its
 * second link another is on the first, so what counts is how long links are held in all. */
static ss_price price_streams(ss_pricer *w, uint32_t n)
{
    bool pipe = w->options->links == SS_LINKS_FIFO_PIPE;
    ss_price most = {0, 0};
    for (uint32_t i = 0; i < n; i++) {
        trip *x = &w->trip[i];
        ss_price sum = {0, 0}, longest = {0, 0};
        for (uint32_t k = 0; k < x->links; k++) {
            ss_price hold = hold_of(w, x, k, k + 1, x->bytes / x->segments);
            ss_price *busy = &w->busy[x->link[k].i];
            busy->latency_s += pipe ? 0 : x->segments * hold.latency_s;
            busy->transfer_s += x->segments * hold.transfer_s;
            sum.latency_s += hold.latency_s;
            sum.transfer_s += hold.transfer_s;
            longest = worse(longest, hold);
        }
        sum.latency_s += pipe ? 0 : (x->segments - 1) * longest.latency_s;
        sum.transfer_s += (x->segments - 1) * longest.transfer_s;
        most = worse(most, sum);
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < w->trip[i].links; k++)
            most = worse(most, w->busy[w->trip[i].link[k].i]);
    return most;
}

static double segments_of(const ss_pricer *w, const trip *x)
{
    const ss_lower_options *o = w->options;
    if (o->segment_bytes <= 0)
        return 1;
    if (ss_links_are_crossed_at_once(o->links)) { /* what is stored nowhere goes as a whole */
        ss_node at = x->at;
        if (leg_end(w, x, 0, &at) >= x->links)
            return 1;
    }
    return ss_tasks_segments((int64_t)x->bytes, o->segment_bytes, o->max_segments);
}

/* The messages of steps from .. to - 1, each for a chunk, as they begin. */
static uint32_t begin_steps(ss_pricer *w, uint32_t from, uint32_t to, uint32_t chunks)
{
    const ss_steps *x = &w->steps;
    uint32_t n = 0;
    for (uint32_t r = x->first[from]; r < x->first[to]; r++) {
        trip *y = &w->trip[n++];
        uint32_t row = x->order[r];
        *y = (trip){.link = w->way[row].link,
                    .links = w->way[row].links,
                    .row = row,
                    .limit = w->way[row].limit};
        y->bytes = ceil((double)x->list.row[row].bytes / chunks);
        y->at = begin_of(w, y);
        y->segments = segments_of(w, y);
    }
    return n;
}

static void clear_all(ss_pricer *w, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        clear(w, &w->trip[i]);
}

/* Steps from .. to - 1 at one time, each for a chunk. */
static ss_price price_steps(ss_pricer *w, uint32_t from, uint32_t to, uint32_t chunks)
{
    uint32_t n = begin_steps(w, from, to, chunks);
    bool streams = to - from > 1 || w->steps.streams;
    ss_price most = ss_links_are_crossed_at_once(w->options->links) ? price_at_once(w, n)
                    : streams                                       ? price_streams(w, n)
                                                                    : price_hops(w, n);
    clear_all(w, n);
    return most;
}

static void add(ss_price *sum, ss_price p, double times)
{
    sum->latency_s += times * p.latency_s;
    sum->transfer_s += times * p.transfer_s;
}

/* In the network links carry nothing else, and the form of that is exact: with what each link takes for a
 * chunk, alone. */
static ss_status price_network(ss_pricer *w, const ss_collective *c, ss_price *out, ss_error *err)
{
    const ss_reduction_tree *t = c->tree;
    ss_status s = SS_RESERVE(w->figure, w->figure_cap, 5 * (size_t)t->n, "links of a tree", err);
    if (s)
        return s;
    uint32_t k = c->chunks > c->bytes ? (uint32_t)c->bytes : c->chunks ? c->chunks : 1;
    double chunk = ceil((double)c->bytes / k), limit = INFINITY, *infinite = w->figure + 4 * t->n;
    if (w->options->links == SS_LINKS_SHARED && w->options->flow_limit > 0)
        limit = w->options->flow_limit;
    ss_reduction_tree as_used = *t;
    as_used.up_latency_s = w->figure;
    as_used.up_bytes_per_s = w->figure + t->n;
    as_used.down_latency_s = w->figure + 2 * t->n;
    as_used.down_bytes_per_s = w->figure + 3 * t->n;
    for (uint32_t v = 0; v < t->n; v++) {
        infinite[v] = INFINITY;
        if (v == t->root)
            continue;
        as_used.up_latency_s[v] = latency_of(w, t->up[v].i, chunk);
        as_used.up_bytes_per_s[v] = fmin(limit, chunk / seconds_of(w, t->up[v].i, chunk));
        as_used.down_latency_s[v] = latency_of(w, t->down[v].i, chunk);
        as_used.down_bytes_per_s[v] = fmin(limit, chunk / seconds_of(w, t->down[v].i, chunk));
    }
    ss_collective x = *c;
    x.tree = &as_used;
    double both = ss_form_in_network(&x, (ss_wire){0, 0}, (ss_wire){0, 0});
    as_used.up_bytes_per_s = as_used.down_bytes_per_s = infinite;
    out->latency_s = ss_form_in_network(&x, (ss_wire){0, 0}, (ss_wire){0, 0});
    out->transfer_s = both - out->latency_s;
    return SS_OK;
}

/* Step after step.  Link after link, who came first in a step is first in the next one too, while the others are
 * still under way: what the last one waited for in the queue is paid once, and after that a step takes what a
 * message does alone, or what is on the busiest link. */
static void price_in_a_row(ss_pricer *w, bool run_ahead, ss_price *out)
{
    bool hops = run_ahead && !ss_links_are_crossed_at_once(w->options->links) && !w->steps.streams;
    ss_price queued = {0, 0};
    for (uint32_t i = 0; i < w->steps.steps; i++) {
        ss_price one = price_steps(w, i, i + 1, 1), more = one;
        if (hops) {
            uint32_t n = begin_steps(w, i, i + 1, 1);
            more = price_streams(w, n);
            clear_all(w, n);
            queued = worse(queued, (ss_price){one.latency_s - more.latency_s,
                                              one.transfer_s - more.transfer_s});
        }
        add(out, more, w->steps.times[i]);
    }
    add(out, queued, 1);
}

/* Of what was sketched.  With k chunks windows of up to k steps go at one time: first fewer, then as
 * many as there are, then fewer again. */
static ss_status price_sketch(ss_pricer *w, const ss_collective *c, ss_price *out, ss_error *err)
{
    uint32_t n = w->steps.steps, k = c->chunks ? c->chunks : 1;
    *out = (ss_price){0, 0};
    if (c->algorithm == SS_IN_NETWORK)
        return price_network(w, c, out, err);
    bool chunked = ss_collective_is_chunked(c->operation, c->algorithm);
    if (!chunked)
        k = 1;
    if (k > c->bytes)
        k = (uint32_t)c->bytes;
    if (k <= 1) {
        price_in_a_row(w, !chunked, out); /* in trees members wait for several */
        return SS_OK;
    }
    uint32_t most = k < n ? k : n; /* steps at one time */
    for (uint32_t t = 1; t < n + most; t++)
        add(out, price_steps(w, t > most ? t - most : 0, t < n ? t : n, k), 1);
    if (k > n)
        add(out, price_steps(w, 0, n, k), k - n);
    return SS_OK;
}

ss_lower_options ss_options_at_once(const ss_lower_options *o)
{
    ss_lower_options once = *o;
    once.links = SS_LINKS_SHARED;
    once.segment_bytes = 0;
    return once;
}

ss_status ss_price_collective(ss_pricer *w, const ss_collective *c, const ss_party *p,
                              const ss_lower_options *o, ss_price *out, ss_error *err)
{
    *out = (ss_price){0, 0};
    if (c->members < 2 || c->bytes <= 0)
        return SS_OK;
    ss_status s = sketch(w, c, p, o, err);
    return s ? s : price_sketch(w, c, out, err);
}

/* The fewest that are considered; where others are, it is 1. */
static uint32_t first_chunks(const ss_collective *c)
{
    return c->chunks && ss_collective_is_chunked(c->operation, c->algorithm) ? c->chunks : 1;
}

/* Its latency is what is left if every wire were as fast as can be. */
static ss_price form_of(const ss_collective *c, ss_wire inside, ss_wire across)
{
    double all = ss_collective_seconds(c, inside, across), latency;
    inside.bytes_per_s = across.bytes_per_s = INFINITY;
    latency = ss_collective_seconds(c, inside, across);
    return (ss_price){latency, all - latency};
}

ss_status ss_price_by_chunks(ss_pricer *w, const ss_collective *c, const ss_party *p,
                             const ss_lower_options *o, ss_priced *out, uint32_t *n, ss_error *err)
{
    bool many = !c->chunks && ss_collective_is_chunked(c->operation, c->algorithm);
    bool formed = o->aggregate && c->algorithm != SS_IN_NETWORK; /* whose price is the form */
    uint32_t first = first_chunks(c), last = many ? MOST_CHUNKS : first;
    ss_lower_options once = o->aggregate ? ss_options_at_once(o) : *o;
    ss_wire inside, across;
    ss_collective x = *c;
    *n = 0;
    ss_status s = sketch(w, c, p, &once, err);
    if (!s && formed) /* steps have every wire of the list */
        s = ss_collective_wires(c, p, &w->steps.list, &inside, &across, err);
    for (uint32_t k = first; k && !s; k = k < last ? ss_collective_next_chunks(k) : 0) {
        ss_priced *row = &out[(*n)++];
        *row = (ss_priced){.chunks = k};
        x.chunks = k;
        if (formed)
            row->form = form_of(&x, inside, across);
        s = price_sketch(w, &x, &row->price, err);
    }
    return s;
}

ss_status ss_price_chunks(ss_pricer *w, ss_collective *c, const ss_party *p,
                          const ss_lower_options *o, ss_price *out, ss_error *err)
{
    ss_priced by[SS_MOST_PRICED];
    uint32_t n = 0;
    ss_status s = SS_OK;
    *out = (ss_price){0, 0};
    if (c->members > 1 && c->bytes > 0)
        s = ss_price_by_chunks(w, c, p, o, by, &n, err);
    c->chunks = first_chunks(c);
    for (uint32_t i = 0; i < n && !s; i++)
        if (!i || ss_price_seconds(by[i].price) < ss_price_seconds(*out)) {
            *out = by[i].price;
            c->chunks = by[i].chunks;
        }
    return s;
}
