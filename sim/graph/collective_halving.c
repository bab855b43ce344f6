/* collective_halving.c - recursive halving and doubling, and what is done with members beyond a power of two. */
#include "graph/collective_parts.h"

/* Members that take part: p, a power of two.  Of n = p + r the first 2 r go in pairs, of which the second
 * one takes part for both. */
typedef struct halving {
    ss_rounds rounds;
    uint32_t n, p, r;
    int64_t bytes;
    bool whole; /* all_reduce: p shares, else n, of which those of a pair go together */
} halving;

static uint32_t member_of(const halving *h, uint32_t v)
{
    return v < h->r ? 2 * v + 1 : v + h->r;
}

/* Where share v begins; of v = p the end. */
static int64_t border(const halving *h, uint32_t v)
{
    uint32_t k = h->whole ? v : v < h->r ? 2 * v : v + h->r, n = h->whole ? h->p : h->n;
    int64_t each = h->bytes / n, more = h->bytes % n;
    return k * each + (k < more ? k : more);
}

static ss_share shares(const halving *h, uint32_t lo, uint32_t hi)
{
    return (ss_share){border(h, lo), border(h, hi) - border(h, lo)};
}

/* With a step for each bit of a member's number, in the order of which the tensor is cut: for all_reduce the
 * lowest first, so that the largest messages go to neighbours; else the highest first, so that each share ends
 * where it belongs.  After `steps` steps member v has shares lo .. lo + size - 1. */
static uint32_t bit_of(const halving *h, uint32_t step)
{
    return h->whole ? 1U << step : h->p >> (step + 1);
}

static uint32_t lowest(const halving *h, uint32_t v, uint32_t steps)
{
    uint32_t lo = 0;
    for (uint32_t s = 0; s < steps; s++)
        if (v & bit_of(h, s))
            lo += h->p >> (s + 1);
    return lo;
}

static void halve(halving *h)
{
    for (uint32_t s = 0; h->p >> (s + 1); s++) {
        for (uint32_t v = 0; v < h->p; v++) {
            uint32_t to = v ^ bit_of(h, s), lo = lowest(h, to, s + 1);
            ss_rounds_send(&h->rounds, member_of(h, v), member_of(h, to),
                           shares(h, lo, lo + (h->p >> (s + 1))), true);
        }
        ss_rounds_next(&h->rounds);
        if (!h->whole) /* else a member's later messages speak for what it heard */
            ss_rounds_mark_last(&h->rounds);
    }
    ss_rounds_mark_last(&h->rounds);
}

static void double_up(halving *h)
{
    uint32_t steps = 0;
    while (h->p >> (steps + 1))
        steps++;
    for (uint32_t s = steps; s-- > 0;) {
        for (uint32_t v = 0; v < h->p; v++) {
            uint32_t to = v ^ bit_of(h, s), lo = lowest(h, v, s + 1);
            ss_rounds_send(&h->rounds, member_of(h, v), member_of(h, to),
                           shares(h, lo, lo + (h->p >> (s + 1))), false);
        }
        ss_rounds_next(&h->rounds);
        ss_rounds_mark_last(&h->rounds);
    }
}

static ss_share share_of_member(const halving *h, uint32_t i)
{
    return ss_share_of((ss_share){0, h->bytes}, h->n, i);
}

/* The first of a pair gives to the second what is needed of it: all, or in an all-gather its share. */
static void fold(halving *h, bool gathers)
{
    for (uint32_t i = 0; i < h->r; i++)
        ss_rounds_send(&h->rounds, 2 * i, 2 * i + 1,
                       gathers ? share_of_member(h, 2 * i) : (ss_share){0, h->bytes}, !gathers);
    ss_rounds_next(&h->rounds);
    if (!h->whole)
        ss_rounds_mark_last(&h->rounds);
}

static void unfold(halving *h, bool scatters)
{
    for (uint32_t i = 0; i < h->r; i++)
        ss_rounds_send(&h->rounds, 2 * i + 1, 2 * i,
                       scatters ? share_of_member(h, 2 * i) : (ss_share){0, h->bytes}, false);
    ss_rounds_next(&h->rounds);
    ss_rounds_mark_last(&h->rounds);
}

static uint32_t power_of_two(uint32_t n)
{
    uint32_t p = 1;
    while (p <= n / 2)
        p *= 2;
    return p;
}

ss_status ss_make_halving(const ss_collective *c, ss_messages *out, ss_error *err)
{
    uint32_t p = power_of_two(c->members), steps = 0;
    while (p >> (steps + 1))
        steps++;
    halving h = {.n = c->members,
                 .p = p,
                 .r = c->members - p,
                 .bytes = c->bytes,
                 .whole = c->operation == SS_ALL_REDUCE};
    uint64_t messages = (uint64_t)p * steps * 2 + 2 * (uint64_t)h.r;
    ss_status s = ss_messages_start(out, c->members, c->bytes, messages, 3 * messages, err);
    if (!s)
        s = ss_rounds_start(&h.rounds, out, c->members, err);
    if (s)
        return s;
    fold(&h, c->operation == SS_ALL_GATHER);
    if (c->operation != SS_ALL_GATHER)
        halve(&h);
    if (c->operation != SS_REDUCE_SCATTER)
        double_up(&h);
    unfold(&h, c->operation == SS_REDUCE_SCATTER);
    ss_rounds_free(&h.rounds);
    return SS_OK;
}

/* The wire of a step: inside machines if all of its pairs are. */
static ss_wire wire_of_step(const halving *h, const uint32_t *machine, uint32_t bit, ss_wire inside,
                            ss_wire across)
{
    for (uint32_t v = 0; v < h->p; v++) {
        uint32_t a = member_of(h, v), b = member_of(h, v ^ bit);
        if (!machine || !machine[a] || machine[a] != machine[b])
            return ss_worse_wire(inside, across);
    }
    return inside;
}

/* In each step the largest of the messages; the first shares are, and the pairs'. */
double ss_form_halving(const ss_collective *c, ss_wire inside, ss_wire across)
{
    ss_wire worse = ss_worse_wire(inside, across);
    uint32_t p = power_of_two(c->members);
    halving h = {.n = c->members,
                 .p = p,
                 .r = c->members - p,
                 .bytes = c->bytes,
                 .whole = c->operation == SS_ALL_REDUCE};
    double seconds = 0, share = (double)share_of_member(&h, 0).bytes, all = (double)c->bytes;
    for (uint32_t s = 0; p >> (s + 1); s++) {
        ss_wire x = wire_of_step(&h, c->machine, bit_of(&h, s), inside, across);
        seconds += x.latency_s + (double)shares(&h, 0, p >> (s + 1)).bytes / x.bytes_per_s;
    }
    if (h.whole)
        seconds *= 2;
    if (h.r)
        seconds += 2 * worse.latency_s + (h.whole ? 2 * all : share + all) / worse.bytes_per_s;
    return seconds;
}
