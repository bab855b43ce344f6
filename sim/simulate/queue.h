/* queue.h - tasks that are ready, least (ready, id) first.
 *
 * The engine takes and gives in an order that only grows: nothing is ever given that is less than
 * what was taken last.  So the queue is in two parts.  What comes next lies in a 4-ary heap small
 * enough for the first level of the cache; what comes later lies in buckets, by the highest bit in
 * which its (ready, id), read as one number of 96 bits, differs from that of the heap's least when
 * the bucket was begun (a radix heap: Ahuja, Mehlhorn, Orlin, Tarjan, "Faster algorithms for the
 * shortest path problem", J. ACM 1990).  A bucket is written and read in a row, so a queue of any
 * length waits for memory no more than a short one; a heap alone spends most of its time on that.
 *
 * With fewer than SS_QUEUE_NEAR tasks waiting it is a heap and nothing else.
 */
#ifndef SS_QUEUE_H
#define SS_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/units.h"
#include "base/wide.h"

enum {
    SS_QUEUE_NEAR = 1024,  /* entries in the heap: 16 KiB */
    SS_QUEUE_BUCKETS = 97, /* 0: equal; else 1 + the highest bit that differs */
    SS_QUEUE_CHUNK = 32
};

typedef struct ss_entry {
    ss_time ready;
    uint32_t id, where; /* where: the resource, carried for whoever takes it */
} ss_entry;

typedef struct ss_chunk {
    ss_entry entry[SS_QUEUE_CHUNK];
    uint32_t next; /* the chunk below it in its bucket, or in the list of free ones; 0: none */
} ss_chunk;

typedef struct ss_queue {
    ss_entry *near; /* [n] children of i are 4i+1 .. 4i+4; near[1] begins a cache line */
    uint32_t n;
    ss_entry last;  /* the greatest (ready, id) that belongs into the heap */
    ss_entry base;  /* what buckets are told by */
    uint32_t later; /* entries in buckets */
    uint32_t top[SS_QUEUE_BUCKETS], count[SS_QUEUE_BUCKETS]; /* newest chunk and entries of each */
    ss_chunk *chunk;                                         /* [chunks + 1] */
    uint32_t chunks, cap, free;
    void *near_block;
} ss_queue; /* {0}, then ss_queue_clear */

/* Empties it; memory is kept.  Fails only the first time. */
ss_status ss_queue_clear(ss_queue *q, ss_error *err);
void ss_queue_free(ss_queue *q);
size_t ss_queue_memory(const ss_queue *q);

/* The rest of ss_queue_push: the heap is full, or x lies beyond it. */
bool ss_queue_push_later(ss_queue *q, ss_entry x);

/* Fills an empty heap from the buckets, of which some are not empty. false: as for push. */
bool ss_queue_refill(ss_queue *q);

/* One comparison, no branch. */
static inline bool ss_entry_before(const ss_entry *a, const ss_entry *b)
{
    ss_wide x = (ss_wide)(uint64_t)a->ready << 64 | (uint64_t)a->id << 32;
    ss_wide y = (ss_wide)(uint64_t)b->ready << 64 | (uint64_t)b->id << 32;
    return x < y;
}

static inline void ss_queue_sift_up(ss_entry *near, uint32_t i, ss_entry x)
{
    while (i) {
        uint32_t up = (i - 1) / 4;
        if (!ss_entry_before(&x, &near[up]))
            break;
        near[i] = near[up];
        i = up;
    }
    near[i] = x;
}

static inline void ss_queue_sift_down(ss_entry *near, uint32_t n, uint32_t i, ss_entry x)
{
    for (;;) {
        uint32_t first = 4 * i + 1, least = first;
        if (first + 3 < n) {
            uint32_t a = first + ss_entry_before(&near[first + 1], &near[first]);
            uint32_t b = first + 2 + ss_entry_before(&near[first + 3], &near[first + 2]);
            least = ss_entry_before(&near[b], &near[a]) ? b : a;
        } else {
            if (first >= n)
                break;
            for (uint32_t k = first + 1; k < n; k++)
                if (ss_entry_before(&near[k], &near[least]))
                    least = k;
        }
        if (!ss_entry_before(&near[least], &x))
            break;
        near[i] = near[least];
        i = least;
    }
    near[i] = x;
}

/* x is not less than what was popped last.  false: no memory, and the queue has to be cleared. */
static inline bool ss_queue_push(ss_queue *q, ss_entry x)
{
    if (q->n == SS_QUEUE_NEAR || ss_entry_before(&q->last, &x))
        return ss_queue_push_later(q, x);
    ss_queue_sift_up(q->near, q->n++, x);
    return true;
}

/* Takes near[0], the least; q->n is not 0. If it is, and q->later is not, refill. */
static inline ss_entry ss_queue_pop(ss_queue *q)
{
    ss_entry least = q->near[0], x = q->near[--q->n];
    ss_queue_sift_down(q->near, q->n, 0, x);
    return least;
}

#endif
