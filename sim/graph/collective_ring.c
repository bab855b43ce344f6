#include "graph/collective_parts.h"

/* In round r member i passes on what it got in round r-1: in the first half share i - r, which then
 * has the sum of r members on it; in the second share i + 1 - r, which is complete. */
static uint32_t share_of(uint32_t round, uint32_t i, uint32_t n)
{
    bool second = round >= n - 1;
    uint32_t r = second ? round - (n - 1) : round;
    uint32_t c = i + n + second - r;
    return c < n ? c : c < 2 * n ? c - n : 0; /* modulo n, and c is at most 2 n */
}

/* Of n shares the first bytes mod n have one byte more (shape.h cuts extents alike). */
static void size_messages(ss_messages *m, uint32_t n, int64_t bytes)
{
    int64_t each = bytes / n, more = bytes % n;
    ss_message *row = m->row + 1;
    for (uint32_t round = 0; round < 2 * (n - 1); round++)
        for (uint32_t i = 0; i < n; i++, row++) {
            uint32_t c = share_of(round, i, n);
            row->bytes = each + (c < more);
            row->offset = c * each + (c < more ? c : more);
        }
    m->ring_bytes = bytes;
}

ss_status ss_collective_ring(uint32_t members, int64_t bytes, ss_messages *out, ss_error *err)
{
    uint32_t n = members;
    if (out->ring_of && out->ring_of == n && bytes > 0) {
        if (out->ring_bytes != bytes)
            size_messages(out, n, bytes);
        return SS_OK;
    }
    bool empty = n < 2 || bytes == 0;
    uint64_t messages = empty ? 0 : (uint64_t)2 * n * (n - 1);
    ss_status s = ss_messages_start(out, n, bytes, messages, 2 * messages, err);
    if (s || empty)
        return s;
    for (uint32_t round = 0; round < 2 * (n - 1); round++)
        for (uint32_t i = 0; i < n; i++) {
            ss_messages_add(out, i, (i + 1) % n, 0, 0, round < n - 1);
            if (!round)
                continue;
            uint32_t last = (round - 1) * n + 1; /* row of the first message of the round before */
            ss_messages_after(out, last + (i + n - 1) % n); /* what it passes on */
            ss_messages_after(out, last + i);               /* its own message before */
        }
    out->ring_of = n;
    size_messages(out, n, bytes);
    return SS_OK;
}

double ss_collective_ring_seconds(uint32_t members, double bytes, double a, double b)
{
    return members < 2 ? 0 : 2.0 * (members - 1) * (a + bytes / members / b);
}
