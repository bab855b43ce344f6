#include "simulate/pattern.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "graph/collective_parts.h"
#include "graph/collective_price.h"

enum {
    MOST_CHUNKS = 65536, /* as of a collective */
    BEST_CHUNKS = 256    /* likewise, of those that are tried */
};

/* The first of an operation is what it does unless told otherwise. */
static const struct row {
    ss_operation of;
    ss_algorithm by;
} rows[] = {
    {SS_P2P, SS_DIRECT},
    {SS_ALL_REDUCE, SS_RING},
    {SS_ALL_REDUCE, SS_TREE},
    {SS_ALL_REDUCE, SS_DOUBLE_TREE},
    {SS_ALL_REDUCE, SS_HALVING_DOUBLING},
    {SS_ALL_GATHER, SS_RING},
    {SS_ALL_GATHER, SS_HALVING_DOUBLING},
    {SS_REDUCE_SCATTER, SS_RING},
    {SS_REDUCE_SCATTER, SS_HALVING_DOUBLING},
    {SS_ALL_TO_ALL, SS_PAIRWISE},
    {SS_BROADCAST, SS_RING},
    {SS_BROADCAST, SS_TREE},
    {SS_REDUCE, SS_RING},
    {SS_REDUCE, SS_TREE},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- what is refused ----------------------------------------------------------------------- */

/* What there is, each once, for a refusal. */
static ss_status refuse_operation(const char *operation, ss_error *err)
{
    const char *names[ROWS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        if (!n || strcmp(names[n - 1], ss_operation_name(rows[i].of)))
            names[n++] = ss_operation_name(rows[i].of);
    const char *near = ss_nearest(operation, names, n);
    if (near)
        return ss_fail(err, SS_EINVAL, "there is no operation '%s'; did you mean '%s'?", operation,
                       near);
    return ss_fail(err, SS_EINVAL,
                   "there is no operation '%s'; there are p2p, all_reduce, all_gather, "
                   "reduce_scatter, all_to_all, broadcast and reduce",
                   operation);
}

static bool needs_places(ss_operation o, const char *algorithm)
{
    for (int a = 0; a < SS_ALGORITHMS; a++)
        if (!strcmp(algorithm, ss_algorithm_name((ss_algorithm)a)))
            return ss_collective_has(o, (ss_algorithm)a);
    return false;
}

static ss_status refuse_algorithm(ss_operation o, const char *algorithm, ss_error *err)
{
    char known[120] = "";
    for (uint32_t i = 0; i < ROWS; i++) {
        if (rows[i].of != o)
            continue;
        size_t n = strlen(known);
        strncat(known, n ? ", " : "", sizeof known - n - 1);
        strncat(known, ss_algorithm_name(rows[i].by), sizeof known - strlen(known) - 1);
    }
    if (needs_places(o, algorithm))
        return ss_fail(err, SS_EINVAL,
                       "%s of %s goes by machines, switches or links each way round, and times do "
                       "not say which rank was where: there is %s",
                       algorithm, ss_operation_name(o), known);
    return ss_fail(err, SS_EINVAL, "%s has no algorithm '%s': there is %s", ss_operation_name(o),
                   algorithm, known);
}

static const struct row *find_row(const char *operation, const char *algorithm)
{
    for (uint32_t i = 0; i < ROWS; i++)
        if (!strcmp(ss_operation_name(rows[i].of), operation) &&
            (!algorithm || !strcmp(ss_algorithm_name(rows[i].by), algorithm)))
            return &rows[i];
    return NULL;
}

static ss_status check_ranks(ss_operation o, uint32_t ranks, ss_error *err)
{
    if (o == SS_P2P && ranks && ranks != 2)
        return ss_fail(err, SS_EINVAL, "p2p is between 2 ranks, not %u", ranks);
    if (o != SS_P2P && ranks < 2)
        return ss_fail(err, SS_EINVAL,
                       "%s is between %u ranks: how many of them there were, 2 or more, must be "
                       "given",
                       ss_operation_name(o), ranks);
    return SS_OK;
}

ss_status ss_pattern_find(const char *operation, const char *algorithm, uint32_t ranks,
                          uint32_t chunks, ss_pattern *out, ss_error *err)
{
    const struct row *row = find_row(operation, NULL);
    if (!row)
        return refuse_operation(operation, err);
    ss_operation o = row->of;
    row = find_row(operation, algorithm);
    if (!row)
        return refuse_algorithm(o, algorithm, err);
    ss_status s = check_ranks(o, ranks, err);
    if (s)
        return s;
    bool chunked = ss_collective_is_chunked(o, row->by);
    if (chunks > MOST_CHUNKS || (chunks > 1 && !chunked))
        return chunked ? ss_fail(err, SS_EINVAL, "%u chunks are more than %d", chunks, MOST_CHUNKS)
                       : ss_fail(err, SS_EINVAL, "%s of %s is not passed on in chunks",
                                 ss_algorithm_name(row->by), ss_operation_name(o));
    *out = (ss_pattern){.operation = ss_operation_name(o),
                        .algorithm = ss_algorithm_name(row->by),
                        .of = o,
                        .by = row->by,
                        .ranks = o == SS_P2P ? 2 : ranks,
                        .chunks = chunked ? chunks : 1};
    return SS_OK;
}

/* ---- trees --------------------------------------------------------------------------------- */

static bool is_tree(const ss_pattern *p)
{
    return p->of == SS_ALL_REDUCE && (p->by == SS_TREE || p->by == SS_DOUBLE_TREE);
}

/* Ranks on a switch, a second and a byte a second from each to each. */
typedef struct star {
    ss_topology *topology;
    ss_routes *routes;
    ss_device *device;
    ss_pricer *pricer;
} star;

static void free_star(star *s)
{
    ss_pricer_free(s->pricer);
    ss_routes_free(s->routes);
    ss_topology_free(s->topology);
    ss_free(s->device);
}

static ss_status make_star(uint32_t ranks, star *out, ss_error *err)
{
    ss_node hub;
    ss_link link;
    char name[24];
    const ss_device_def device = {.speed = 1};
    const ss_link_def half = {.bytes_per_s = 1, .latency_s = 0.5};
    ss_status s = ss_topology_new("star", &out->topology, err);
    if (!s)
        s = ss_topology_add_switch(out->topology, "hub", &hub, err);
    out->device = s ? NULL : ss_alloc(ranks * sizeof *out->device);
    if (!s && !out->device)
        s = ss_fail_memory(err, "a star of ranks", ranks * sizeof *out->device);
    for (uint32_t i = 0; i < ranks && !s; i++) {
        snprintf(name, sizeof name, "%u", i);
        s = ss_topology_add_device(out->topology, name, &device, &out->device[i], err);
        ss_node node = s ? hub : out->topology->device[out->device[i].i].node;
        if (!s)
            s = ss_topology_add_link(out->topology, node, hub, &half, &link, err);
        if (!s)
            s = ss_topology_add_link(out->topology, hub, node, &half, &link, err);
    }
    if (!s)
        s = ss_routes_new(out->topology, &out->routes, err);
    return s ? s : ss_pricer_new(&out->pricer, err);
}

static ss_status find_lines(ss_pattern *p, const star *on, ss_error *err)
{
    const ss_party party = {on->topology, on->routes, on->device};
    ss_lower_options o = ss_lower_options_start();
    ss_status s = SS_OK;
    o.links = SS_LINKS_SHARED;
    p->lines = 0;
    for (uint32_t k = p->chunks ? p->chunks : 1; !s && p->lines < SS_PATTERN_LINES;
         k = ss_collective_next_chunks(k)) {
        ss_collective c = {.operation = p->of,
                           .algorithm = p->by,
                           .members = p->ranks,
                           .bytes = (int64_t)2 * k << 20, /* even, in each half and chunk */
                           .chunks = k};
        ss_price price;
        s = ss_price_collective(on->pricer, &c, &party, &o, &price, err);
        if (s)
            break;
        p->line[p->lines].chunks = k;
        p->line[p->lines].steps = price.latency_s;
        p->line[p->lines++].bytes = price.transfer_s / (double)c.bytes;
        if (p->chunks || k >= BEST_CHUNKS)
            break;
    }
    return s;
}

ss_status ss_pattern_prepare(ss_pattern *p, ss_error *err)
{
    star on = {NULL};
    if (!is_tree(p) || p->lines)
        return SS_OK;
    if (p->ranks > SS_PATTERN_RANKS)
        return ss_fail(err, SS_EINVAL, "%s of %u ranks: there is a limit of %d", p->algorithm,
                       p->ranks, SS_PATTERN_RANKS);
    ss_status s = make_star(p->ranks, &on, err);
    if (!s)
        s = find_lines(p, &on, err);
    free_star(&on);
    return s;
}

static ss_path path_of_tree(const ss_pattern *p, double bytes, double start_s, double bytes_per_s)
{
    ss_path best = {0, 0};
    double least = INFINITY;
    for (uint32_t i = 0; i < p->lines; i++) {
        ss_path x = {p->line[i].steps, p->line[i].bytes * bytes};
        double seconds = x.steps * start_s + x.bytes / bytes_per_s;
        if (seconds < least) {
            least = seconds;
            best = x;
        }
    }
    return best;
}

/* ---- what it asks -------------------------------------------------------------------------- */

bool ss_pattern_chooses(const ss_pattern *p)
{
    return !p->chunks;
}

void ss_pattern_say(const ss_pattern *p, ss_text *out)
{
    ss_text_add(out, "%s", p->operation);
    if (p->of == SS_P2P)
        return;
    ss_text_add(out, " of %u ranks (%s", p->ranks, p->algorithm);
    if (p->chunks > 1)
        ss_text_add(out, ", %u chunks", p->chunks);
    ss_text_add(out, ")");
}

/* A form is a sum of latencies and of bytes over the bandwidth: with the other of the two for nothing it
 * says how many. */
ss_path ss_pattern_path(const ss_pattern *p, double bytes, double start_s, double bytes_per_s)
{
    const ss_wire link = {start_s, bytes_per_s}, only_start = {1, INFINITY}, only_bytes = {0, 1};
    ss_collective c = {.operation = p->of,
                       .algorithm = p->by,
                       .members = p->ranks,
                       .bytes = llround(bytes),
                       .chunks = p->chunks};
    if (p->of == SS_P2P)
        return (ss_path){1, bytes}; /* also of a mean of sizes */
    if (is_tree(p))
        return path_of_tree(p, bytes, start_s, bytes_per_s);
    if (!c.chunks)
        c.chunks = ss_collective_best_chunks(&c, link, link);
    return (ss_path){ss_collective_seconds(&c, only_start, only_start),
                     ss_collective_seconds(&c, only_bytes, only_bytes)};
}
