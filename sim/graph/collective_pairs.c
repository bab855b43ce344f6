/* collective_pairs.c - messages between two members that nobody passes on in shares: point to point, all to
 * all, and the binomial trees of broadcast and reduce. */
#include "graph/collective_parts.h"

ss_status ss_make_direct(const ss_collective *c, ss_messages *out, ss_error *err)
{
    if (c->members != 2)
        return ss_fail(err, SS_EINVAL, "p2p is between 2 members, not %u", c->members);
    ss_status s = ss_messages_start(out, 2, c->bytes, 1, 0, err);
    if (s)
        return s;
    ss_message *x = ss_messages_add(out, 0, 1, 0, c->bytes, false);
    x->own = x->last = true;
    return SS_OK;
}

double ss_form_direct(const ss_collective *c, ss_wire inside, ss_wire across)
{
    ss_wire x = ss_worse_wire(inside, across);
    return x.latency_s + (double)c->bytes / x.bytes_per_s;
}

/* Each begins with its neighbour, so that no two send to one at a time. */
ss_status ss_make_pairwise(const ss_collective *c, ss_messages *out, ss_error *err)
{
    uint32_t n = c->members;
    uint64_t messages = (uint64_t)n * (n - 1);
    ss_status s = ss_messages_start(out, n, c->bytes, messages, messages, err);
    if (s)
        return s;
    for (uint32_t round = 1; round < n; round++)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t to = (uint32_t)(((uint64_t)i + round) % n);
            ss_share what = ss_share_of((ss_share){0, c->bytes}, n, to);
            ss_message *x = ss_messages_add(out, i, to, what.offset, what.bytes, false);
            x->own = round == 1;
            x->last = true;
            if (round > 1)
                ss_messages_after(out, out->n - n);
        }
    return SS_OK;
}

/* The member whose share is largest hears it n - 1 times, once from each. */
double ss_form_pairwise(const ss_collective *c, ss_wire inside, ss_wire across)
{
    ss_wire x = ss_worse_wire(inside, across);
    return ((double)c->members - 1) *
           (x.latency_s + ss_largest_share(c->bytes, c->members) / x.bytes_per_s);
}

/* Broadcast: with every step those who have it send to as many who have not, the furthest first.  Reduce is
 * that backwards; then who hears several hears them one after the other. */
ss_status ss_make_binomial(const ss_collective *c, ss_messages *out, ss_error *err)
{
    uint32_t n = c->members, top = 1;
    while (top < n)
        top *= 2;
    ss_rounds r;
    ss_status s = ss_messages_start(out, n, c->bytes, n, 3 * (uint64_t)n, err);
    if (!s)
        s = ss_rounds_start(&r, out, n, err);
    if (s)
        return s;
    bool reduces = c->operation == SS_REDUCE;
    ss_share all = {0, c->bytes};
    for (uint32_t d = reduces ? 1 : top / 2; d && d < top; d = reduces ? 2 * d : d / 2) {
        for (uint64_t i = 0; i + d < n; i += 2 * (uint64_t)d) {
            uint32_t near = (uint32_t)i, far = near + d;
            ss_message *x =
                ss_rounds_send(&r, reduces ? far : near, reduces ? near : far, all, reduces);
            x->last = reduces ? near == 0 : true;
        }
        ss_rounds_next(&r);
    }
    ss_rounds_free(&r);
    return SS_OK;
}

double ss_form_binomial(const ss_collective *c, ss_wire inside, ss_wire across)
{
    ss_wire x = ss_worse_wire(inside, across);
    double levels = 0;
    for (uint64_t d = 1; d < c->members; d *= 2)
        levels++;
    return levels * (x.latency_s + (double)c->bytes / x.bytes_per_s);
}
