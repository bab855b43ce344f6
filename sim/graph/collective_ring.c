#include "graph/collective_parts.h"

/* What goes round: n members, one way or the other, a reduce-scatter, an all-gather, or both. */
typedef struct ring {
    uint32_t n;
    ss_share what;
    bool reduces, gathers, backwards;
} ring;

static uint32_t rounds_of(const ring *g)
{
    return (g->n - 1) * ((uint32_t)g->reduces + g->gathers);
}

/* In round r member i passes on what it got in round r-1.  While adding that is share i - r, with the
 * sum of r members on it; of a reduce-scatter share i - 1 - r, so that the last one that i hears is its
 * own.  While gathering it is share i + 1 - r after a reduction, which left i + 1 with i, else i - r. */
static uint32_t share_of(const ring *g, uint32_t round, uint32_t i)
{
    uint32_t n = g->n, r = round, shift = 0;
    if (g->reduces && round < n - 1) {
        shift = g->gathers ? 0 : n - 1;
    } else if (g->reduces) {
        r -= n - 1;
        shift = 1;
    }
    uint32_t c = i + n - r; /* modulo n; a division would be half of the work of a list */
    c = c < n ? c : c - n;
    return c + shift < n ? c + shift : c + shift - n;
}

static void size_ring(ss_messages *m, uint32_t first, const ring *g)
{
    ss_message *row = m->row + first;
    int64_t each = g->what.bytes / g->n, more = g->what.bytes % g->n;
    for (uint32_t round = 0; round < rounds_of(g); round++)
        for (uint32_t i = 0; i < g->n; i++, row++) {
            uint32_t c = share_of(g, round, i);
            row->bytes = each + (c < more);
            row->offset = g->what.offset + c * each + (c < more ? c : more);
        }
}

/* Behind what is in the list. */
static void add_ring(ss_messages *m, const ring *g)
{
    uint32_t n = g->n, rounds = rounds_of(g), first = m->n + 1;
    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t from = g->backwards ? n - 1 - i : i, next = (i + 1) % n;
            ss_message *x = ss_messages_add(m, from, g->backwards ? n - 1 - next : next, 0, 0,
                                            g->reduces && round < n - 1);
            x->own = !round;
            x->last = round + 1 == rounds;
            if (!round)
                continue;
            uint32_t last =
                first + (round - 1) * n; /* row of the first message of the round before */
            ss_messages_after(m, last + (i + n - 1) % n); /* what it passes on */
            ss_messages_after(m, last + i);               /* its own message before */
        }
    size_ring(m, first, g);
}

static uint64_t messages_of(const ring *g)
{
    return (uint64_t)g->n * (g->n - 1) * ((uint32_t)g->reduces + g->gathers);
}

ss_status ss_collective_ring(uint32_t members, int64_t bytes, ss_messages *out, ss_error *err)
{
    ring g = {members, {0, bytes}, true, true, false};
    if (out->ring_of && out->ring_of == members && bytes > 0) {
        if (out->ring_bytes != bytes)
            size_ring(out, 1, &g);
        out->ring_bytes = bytes;
        return SS_OK;
    }
    bool empty = members < 2 || bytes == 0;
    uint64_t messages = empty ? 0 : messages_of(&g);
    ss_status s = ss_messages_start(out, members, bytes, messages, 2 * messages, err);
    if (s || empty)
        return s;
    add_ring(out, &g);
    out->ring_of = members;
    out->ring_bytes = bytes;
    return SS_OK;
}

ss_status ss_make_ring(const ss_collective *c, ss_messages *out, ss_error *err)
{
    if (c->operation == SS_ALL_REDUCE)
        return ss_collective_ring(c->members, c->bytes, out, err);
    bool gathers = c->operation == SS_ALL_GATHER;
    ring g = {c->members, {0, c->bytes}, !gathers, gathers, false};
    ss_status s =
        ss_messages_start(out, c->members, c->bytes, messages_of(&g), 2 * messages_of(&g), err);
    if (!s)
        add_ring(out, &g);
    return s;
}

ss_status ss_make_bidirectional_ring(const ss_collective *c, ss_messages *out, ss_error *err)
{
    int64_t half = c->bytes - c->bytes / 2;
    ring there = {c->members, {0, half}, true, true, false};
    ring back = {c->members, {half, c->bytes - half}, true, true, true};
    uint64_t messages = messages_of(&there) * (c->bytes > 1 ? 2 : 1);
    ss_status s = ss_messages_start(out, c->members, c->bytes, messages, 2 * messages, err);
    if (s)
        return s;
    add_ring(out, &there);
    if (c->bytes > 1)
        add_ring(out, &back);
    return SS_OK;
}

double ss_collective_ring_seconds(uint32_t members, double bytes, double a, double b)
{
    return members < 2 ? 0 : 2.0 * (members - 1) * (a + bytes / members / b);
}

double ss_form_ring(const ss_collective *c, ss_wire inside, ss_wire across)
{
    ss_wire x = ss_worse_wire(inside, across);
    double rounds = (c->operation == SS_ALL_REDUCE ? 2.0 : 1.0) * (c->members - 1);
    return rounds * (x.latency_s + ss_largest_share(c->bytes, c->members) / x.bytes_per_s);
}

double ss_form_bidirectional_ring(const ss_collective *c, ss_wire inside, ss_wire across)
{
    ss_collective half = *c;
    half.bytes = c->bytes - c->bytes / 2;
    return ss_form_ring(&half, inside, across);
}

/* All rounds are alike: everyone sends a share to the next, and the other way round, too. */
ss_status ss_steps_of_ring(const ss_collective *c, ss_steps *out, ss_error *err)
{
    bool both = c->algorithm == SS_BIDIRECTIONAL_RING;
    uint32_t n = c->members, messages = both ? 2 * n : n;
    int64_t half = both ? c->bytes - c->bytes / 2 : c->bytes;
    int64_t share = half / n + (half % n > 0);
    ss_status s = ss_messages_start(&out->list, n, c->bytes, messages, 0, err);
    if (!s)
        s = ss_steps_reserve(out, 1, messages, err);
    if (s)
        return s;
    for (uint32_t i = 0; i < n; i++) {
        ss_messages_add(&out->list, i, (i + 1) % n, 0, share, true);
        if (both)
            ss_messages_add(&out->list, (i + 1) % n, i, 0, share, true);
    }
    ss_steps_end(out, (c->operation == SS_ALL_REDUCE ? 2.0 : 1.0) * (n - 1));
    return SS_OK;
}
