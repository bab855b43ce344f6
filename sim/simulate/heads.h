/* heads.h - tasks that are ready, least (ready, structural key) first, for graphs kept in place.
 *
 * What a resource ends, it ends in order: the tasks that its tasks make ready are ready in order too.
 * So those wait in one list for each resource, and only the first of each list lies in a heap; most
 * tasks are written behind a list and never see the heap before they are its first.  A task that
 * would come before the last of its list (it was held up by another predecessor, or its own took no
 * time) lies in the heap by itself.
 *
 * The heap's first place may be a hole, left by the task taken last: the next that comes fills it, so
 * that taking one and giving one is one way down the heap and not two.
 */
#ifndef SS_HEADS_H
#define SS_HEADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

typedef struct ss_head {
    ss_time ready;
    uint64_t key; /* block << 32 | slot: grows with structural order, and ends in the slot */
} ss_head;

typedef struct ss_heads {
    ss_head *heap; /* [n], children of i are 4i+1 .. 4i+4 */
    uint32_t n, cap;
    bool hole; /* heap[0] is taken already */
} ss_heads;

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 ss_head_wide;

static inline bool ss_head_before(ss_head a, ss_head b)
{
    return ((ss_head_wide)(uint64_t)a.ready << 64 | a.key) <
           ((ss_head_wide)(uint64_t)b.ready << 64 | b.key);
}
#else
static inline bool ss_head_before(ss_head a, ss_head b)
{
    return (a.ready < b.ready) | ((a.ready == b.ready) & (a.key < b.key));
}
#endif

static inline void ss_heads_down(ss_head *heap, uint32_t n, ss_head x)
{
    uint32_t i = 0;
    for (;;) {
        uint32_t first = 4 * i + 1, least = first;
        if (first + 3 < n) {
            uint32_t a = first + ss_head_before(heap[first + 1], heap[first]);
            uint32_t b = first + 2 + ss_head_before(heap[first + 3], heap[first + 2]);
            least = ss_head_before(heap[b], heap[a]) ? b : a;
        } else {
            if (first >= n)
                break;
            for (uint32_t k = first + 1; k < n; k++)
                if (ss_head_before(heap[k], heap[least]))
                    least = k;
        }
        if (!ss_head_before(heap[least], x))
            break;
        heap[i] = heap[least];
        i = least;
    }
    heap[i] = x;
}

/* There must be room for one more. */
static inline void ss_heads_push(ss_heads *h, ss_head x)
{
    if (h->hole) {
        h->hole = false;
        ss_heads_down(h->heap, h->n, x);
        return;
    }
    uint32_t i = h->n++;
    while (i) {
        uint32_t up = (i - 1) / 4;
        if (!ss_head_before(x, h->heap[up]))
            break;
        h->heap[i] = h->heap[up];
        i = up;
    }
    h->heap[i] = x;
}

/* Closes a hole that nobody filled. */
static inline void ss_heads_close(ss_heads *h)
{
    if (h->hole) {
        h->hole = false;
        h->n--;
        if (h->n)
            ss_heads_down(h->heap, h->n, h->heap[h->n]);
    }
}

#endif
