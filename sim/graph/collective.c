/* collective.c - which algorithms there are, and what they share: room, rounds. */
#include "graph/collective.h"

#include <math.h>

#include "base/array.h"
#include "base/mem.h"
#include "graph/collective_parts.h"

static const char *const operation_names[SS_OPERATIONS] = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "p2p"};
static const char *const algorithm_names[SS_ALGORITHMS] = {
    "ring",      "bidirectional_ring", "tree",       "double_tree", "halving_doubling",
    "two_level", "hierarchical",       "in_network", "pairwise",    "direct"};
static const char *const algorithms_of[SS_OPERATIONS] = {
    "ring, bidirectional_ring, tree, double_tree, halving_doubling, two_level, hierarchical, "
    "in_network",
    "ring, halving_doubling",
    "ring, halving_doubling",
    "pairwise",
    "ring, tree",
    "ring, tree",
    "direct"};

static const struct row {
    ss_operation operation;
    ss_algorithm algorithm;
    ss_collective_make *make;
    ss_collective_form *form;
    bool chunked; /* it looks at chunks */
    bool chosen;  /* ss_choose_collective considers it */
} rows[] = {
    {SS_ALL_REDUCE, SS_RING, ss_make_ring, ss_form_ring, false, true},
    {SS_ALL_REDUCE, SS_BIDIRECTIONAL_RING, ss_make_bidirectional_ring, ss_form_bidirectional_ring,
     false, false},
    {SS_ALL_REDUCE, SS_TREE, ss_make_tree, ss_form_tree, true, false},
    {SS_ALL_REDUCE, SS_DOUBLE_TREE, ss_make_double_tree, ss_form_double_tree, true, true},
    {SS_ALL_REDUCE, SS_HALVING_DOUBLING, ss_make_halving, ss_form_halving, false, true},
    {SS_ALL_REDUCE, SS_TWO_LEVEL, ss_make_two_level, ss_form_two_level, false, false},
    {SS_ALL_REDUCE, SS_HIERARCHICAL, ss_make_hierarchical, ss_form_hierarchical, false, true},
    {SS_ALL_REDUCE, SS_IN_NETWORK, ss_make_in_network, ss_form_in_network, true, false},
    {SS_ALL_GATHER, SS_RING, ss_make_ring, ss_form_ring, false, true},
    {SS_ALL_GATHER, SS_HALVING_DOUBLING, ss_make_halving, ss_form_halving, false, true},
    {SS_REDUCE_SCATTER, SS_RING, ss_make_ring, ss_form_ring, false, true},
    {SS_REDUCE_SCATTER, SS_HALVING_DOUBLING, ss_make_halving, ss_form_halving, false, true},
    {SS_ALL_TO_ALL, SS_PAIRWISE, ss_make_pairwise, ss_form_pairwise, false, true},
    {SS_BROADCAST, SS_RING, ss_make_chain, ss_form_chain, true, true},
    {SS_BROADCAST, SS_TREE, ss_make_binomial, ss_form_binomial, false, true},
    {SS_REDUCE, SS_RING, ss_make_chain, ss_form_chain, true, true},
    {SS_REDUCE, SS_TREE, ss_make_binomial, ss_form_binomial, false, true},
    {SS_P2P, SS_DIRECT, ss_make_direct, ss_form_direct, false, true},
};
enum { ROWS = sizeof rows / sizeof *rows };

const char *ss_operation_name(ss_operation o)
{
    return (unsigned)o < SS_OPERATIONS ? operation_names[o] : "unknown";
}

const char *ss_algorithm_name(ss_algorithm a)
{
    return (unsigned)a < SS_ALGORITHMS ? algorithm_names[a] : "unknown";
}

const char *ss_collective_algorithms(ss_operation o)
{
    return (unsigned)o < SS_OPERATIONS ? algorithms_of[o] : "";
}

static const struct row *find_row(ss_operation o, ss_algorithm a)
{
    for (uint32_t i = 0; i < ROWS; i++)
        if (rows[i].operation == o && rows[i].algorithm == a)
            return &rows[i];
    return NULL;
}

bool ss_collective_has(ss_operation o, ss_algorithm a)
{
    return find_row(o, a) != NULL;
}

bool ss_collective_is_chunked(ss_operation o, ss_algorithm a)
{
    const struct row *row = find_row(o, a);
    return row && row->chunked;
}

ss_status ss_collective_messages(const ss_collective *c, ss_messages *out, ss_error *err)
{
    const struct row *row = find_row(c->operation, c->algorithm);
    if (!row)
        return ss_fail(err, SS_EINVAL, "%s has no algorithm %s; it has %s",
                       ss_operation_name(c->operation), ss_algorithm_name(c->algorithm),
                       ss_collective_algorithms(c->operation));
    if (c->members < 2 || c->bytes <= 0)
        return ss_messages_start(out, c->members, c->bytes, 0, 0, err);
    return row->make(c, out, err);
}

double ss_collective_seconds(const ss_collective *c, ss_wire inside, ss_wire across)
{
    const struct row *row = find_row(c->operation, c->algorithm);
    return row && c->members > 1 && c->bytes >= 0 ? row->form(c, inside, across) : 0;
}

double ss_collective_bus_factor(ss_operation o, uint32_t members)
{
    double n = members > 1 ? members : 1;
    if (o == SS_BROADCAST || o == SS_REDUCE || o == SS_P2P)
        return 1;
    return (o == SS_ALL_REDUCE ? 2 : 1) * (n - 1) / n;
}

/* ---- chosen by size ---------------------------------------------------------------------- */

enum { MOST_CHUNKS = 256 };

uint32_t ss_collective_next_chunks(uint32_t k)
{
    return k & (k - 1) ? k / 3 * 4 : k < 2 ? 2 : k / 2 * 3;
}

uint32_t ss_collective_best_chunks(const ss_collective *c, ss_wire inside, ss_wire across)
{
    const struct row *row = find_row(c->operation, c->algorithm);
    if (!row || !row->chunked)
        return 1;
    ss_collective x = *c;
    uint32_t best = 1;
    double least = INFINITY;
    for (uint32_t k = 1; k <= MOST_CHUNKS; k = ss_collective_next_chunks(k)) {
        x.chunks = k;
        double seconds = row->form(&x, inside, across);
        if (seconds < least) {
            least = seconds;
            best = k;
        }
    }
    return best;
}

/* Whether several machines have several members. */
static bool has_levels(const ss_collective *c)
{
    uint32_t machine = 0;
    bool two = false;
    for (uint32_t i = 1; c->machine && i < c->members && !two; i++)
        if (c->machine[i] && c->machine[i] == c->machine[i - 1]) {
            two = machine && machine != c->machine[i];
            machine = c->machine[i];
        }
    return two;
}

bool ss_collective_is_considered(const ss_collective *c)
{
    const struct row *row = find_row(c->operation, c->algorithm);
    return row && row->chosen && (c->algorithm != SS_HIERARCHICAL || has_levels(c));
}

/* ---- lists ------------------------------------------------------------------------------- */

ss_status ss_messages_start(ss_messages *m, uint32_t members, int64_t bytes, uint64_t messages,
                            uint64_t afters, ss_error *err)
{
    if (members < 1)
        return ss_fail(err, SS_EINVAL, "a collective needs members");
    if (bytes < 0)
        return ss_fail(err, SS_EINVAL, "a collective of %lld bytes", (long long)bytes);
    ss_status s = SS_RESERVE(m->row, m->cap, messages + 1, "messages of a collective", err);
    if (!s)
        s = SS_RESERVE(m->after, m->after_cap, afters, "order of messages", err);
    if (s)
        return s;
    m->n = m->afters = m->ring_of = 0;
    return SS_OK;
}

ss_message *ss_messages_add(ss_messages *m, uint32_t from, uint32_t to, int64_t offset,
                            int64_t bytes, bool adds)
{
    m->row[++m->n] = (ss_message){.from = from,
                                  .to = to,
                                  .offset = offset,
                                  .bytes = bytes,
                                  .first_after = m->afters,
                                  .adds = adds};
    return &m->row[m->n];
}

void ss_messages_after(ss_messages *m, uint32_t row)
{
    m->after[m->afters++] = row;
    m->row[m->n].afters++;
}

void ss_messages_free(ss_messages *m)
{
    if (!m)
        return;
    ss_free(m->row);
    ss_free(m->after);
    *m = (ss_messages){0};
}

ss_share ss_share_of(ss_share whole, uint32_t n, uint32_t k)
{
    int64_t each = whole.bytes / n, more = whole.bytes % n;
    return (ss_share){whole.offset + k * each + (k < more ? k : more), each + (k < more)};
}

double ss_largest_share(int64_t bytes, uint32_t n)
{
    return (double)(bytes / n + (bytes % n > 0));
}

/* ---- rounds ------------------------------------------------------------------------------ */

ss_status ss_rounds_start(ss_rounds *r, ss_messages *m, uint32_t members, ss_error *err)
{
    uint32_t *rows_of = ss_alloc_zeroed((size_t)members, 4 * sizeof *rows_of);
    *r = (ss_rounds){m, members, rows_of, NULL, NULL, NULL, 1};
    if (!rows_of)
        return ss_fail_memory(err, "rounds of a collective", members * 4 * sizeof *rows_of);
    r->heard = rows_of + members;
    r->sent_now = rows_of + 2 * (size_t)members;
    r->heard_now = rows_of + 3 * (size_t)members;
    return SS_OK;
}

/* A member's first message carries its own data; what follows waits for that one.  Whoever hears something
 * still is sent nothing more. */
ss_message *ss_rounds_send(ss_rounds *r, uint32_t from, uint32_t to, ss_share what, bool adds)
{
    ss_message *x = ss_messages_add(r->m, from, to, what.offset, what.bytes, adds);
    x->own = !r->sent[from];
    x->round = r->round;
    if (r->sent[from])
        ss_messages_after(r->m, r->sent[from]);
    if (r->heard[from])
        ss_messages_after(r->m, r->heard[from]);
    if (r->heard[to] && r->heard[to] != r->sent[from])
        ss_messages_after(r->m, r->heard[to]);
    r->sent_now[from] = r->heard_now[to] = r->m->n;
    return x;
}

void ss_rounds_next(ss_rounds *r)
{
    r->round++;
    for (uint32_t i = 0; i < r->members; i++) {
        r->sent[i] = r->sent_now[i];
        r->heard[i] = r->heard_now[i];
    }
}

void ss_rounds_mark_last(ss_rounds *r)
{
    for (uint32_t i = 0; i < r->members; i++)
        if (r->heard[i])
            r->m->row[r->heard[i]].last = true;
}

void ss_rounds_free(ss_rounds *r)
{
    ss_free(r->sent);
}
