#include "graph/collective_parts.h"

/* Up, from the last member to the first, so that children come before their parent; then down, from
 * the first to the last.  A member's two messages down do not wait for each other: they are ready
 * together, and where they share a link it takes them in the order of their ids. */
ss_status ss_collective_tree(uint32_t members, int64_t bytes, ss_messages *out, ss_error *err)
{
    uint32_t n = members;
    bool empty = n < 2 || bytes == 0;
    uint64_t messages = empty ? 0 : (uint64_t)2 * (n - 1);
    ss_status s = ss_messages_start(out, n, bytes, messages, 2 * messages, err);
    if (s || empty)
        return s;
    /* Member i sends up in row n - i and hears from above in row n - 1 + i. */
    for (uint32_t i = n - 1; i >= 1; i--) {
        ss_messages_add(out, i, (i - 1) / 2, 0, bytes, true);
        for (uint64_t child = (uint64_t)2 * i + 1; child <= (uint64_t)2 * i + 2 && child < n;
             child++)
            ss_messages_after(out, n - (uint32_t)child);
    }
    for (uint32_t i = 1; i < n; i++) {
        uint32_t parent = (i - 1) / 2;
        ss_messages_add(out, parent, i, 0, bytes, false);
        if (parent)
            ss_messages_after(out, n - 1 + parent);
        else
            for (uint32_t child = 1; child <= 2 && child < n; child++)
                ss_messages_after(out, n - child);
    }
    return SS_OK;
}

/* Messages one after the other until the root of a tree of `size` members has all (up), or until
 * its last member has it (down).  In a tree filled from the left at least one of the two subtrees
 * is complete, so this takes as many steps as the tree has levels, squared at most. */
typedef struct span {
    double up, down;
} span;

static uint64_t left_size(uint64_t size)
{
    uint64_t full = 1; /* members of the complete levels */
    while (2 * full + 1 <= size)
        full = 2 * full + 1;
    uint64_t last = size - full, half = (full + 1) / 2;
    return (full - 1) / 2 + (last < half ? last : half);
}

static span tree_span(uint64_t size)
{
    if (size <= 1)
        return (span){0, 0};
    uint64_t left = left_size(size), right = size - 1 - left;
    span l = tree_span(left);
    if (!right)
        return (span){l.up + 1, l.down + 1};
    span r = left == right ? l : tree_span(right);
    double first = l.up < r.up ? l.up : r.up, second = l.up < r.up ? r.up : l.up;
    double arrived = first + 1; /* then the root's port is free for the other */
    double up = (arrived > second ? arrived : second) + 1;
    double down = l.down + 1 > r.down + 2 ? l.down + 1 : r.down + 2;
    return (span){up, down};
}

double ss_collective_tree_seconds(uint32_t members, double bytes, double a, double b)
{
    span s = tree_span(members);
    return (s.up + s.down) * (a + bytes / b);
}
