#include "simulate/queue.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"

enum { CACHE_LINE = 64, REFILL = SS_QUEUE_NEAR / 2, NEAR_BYTES = SS_QUEUE_NEAR * sizeof(ss_entry) };

static const ss_entry greatest = {SS_TIME_MAX, UINT32_MAX, 0};

ss_status ss_queue_clear(ss_queue *q, ss_error *err)
{
    if (!q->near_block) {
        char *block = ss_alloc(NEAR_BYTES + 2 * CACHE_LINE);
        if (!block)
            return ss_fail_memory(err, "waiting tasks", NEAR_BYTES + 2 * CACHE_LINE);
        /* near[1] at a multiple of the line, near[0] one entry before it */
        uintptr_t at = (uintptr_t)block + sizeof(ss_entry);
        uintptr_t line = (at + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
        q->near_block = block;
        q->near = (ss_entry *)(void *)(block + (line - (uintptr_t)block)) - 1;
    }
    memset(q->top, 0, sizeof q->top);
    memset(q->count, 0, sizeof q->count);
    q->n = q->later = q->chunks = q->free = 0;
    q->last = greatest;
    return SS_OK;
}

void ss_queue_free(ss_queue *q)
{
    if (!q)
        return;
    ss_free(q->near_block);
    ss_free(q->chunk);
    *q = (ss_queue){0};
}

size_t ss_queue_memory(const ss_queue *q)
{
    return (q->near_block ? NEAR_BYTES + 2 * CACHE_LINE : 0) + q->cap * sizeof *q->chunk;
}

static uint32_t bits(uint64_t x)
{
#if defined(__GNUC__)
    return x ? 64 - (uint32_t)__builtin_clzll(x) : 0;
#else
    uint32_t n = 0;
    for (; x; x >>= 1)
        n++;
    return n;
#endif
}

static inline uint32_t bucket_of(const ss_entry *base, const ss_entry *x)
{
    uint64_t ready = (uint64_t)(x->ready ^ base->ready);
    return ready ? 32 + bits(ready) : bits(x->id ^ base->id);
}

/* The greatest number that shares with x all bits but the lowest n. */
static ss_entry last_of_block(ss_entry x, uint32_t n)
{
    if (n > 32) {
        x.ready |= (ss_time)((UINT64_C(1) << (n - 32)) - 1);
        n = 32;
    }
    x.id |= (uint32_t)((UINT64_C(1) << n) - 1);
    return x;
}

/* Buckets are lists of chunks, of which the newest is filled from its beginning. */

static bool reserve_chunk(ss_queue *q)
{
    if (q->free || q->chunks + 1 < q->cap)
        return true;
    /* half as much again: the longest queue is most of what an engine holds */
    size_t cap = q->cap + q->cap / 2 + 16;
    if (cap > UINT32_MAX || SS_REGROW(q->chunk, cap, "waiting tasks", NULL))
        return false;
    q->cap = (uint32_t)cap;
    return true;
}

static bool put(ss_queue *q, uint32_t bucket, ss_entry x)
{
    uint32_t in_top = q->count[bucket] % SS_QUEUE_CHUNK;
    if (in_top == 0) {
        if (!reserve_chunk(q))
            return false;
        uint32_t c = q->free ? q->free : ++q->chunks;
        if (q->free)
            q->free = q->chunk[c].next;
        q->chunk[c].next = q->top[bucket];
        q->top[bucket] = c;
    }
    q->chunk[q->top[bucket]].entry[in_top] = x;
    q->count[bucket]++;
    q->later++;
    return true;
}

static ss_entry take(ss_queue *q, uint32_t bucket)
{
    uint32_t in_top = --q->count[bucket] % SS_QUEUE_CHUNK, c = q->top[bucket];
    ss_entry x = q->chunk[c].entry[in_top];
    if (in_top == 0) {
        q->top[bucket] = q->chunk[c].next;
        q->chunk[c].next = q->free;
        q->free = c;
    }
    q->later--;
    return x;
}

static void make_heap(ss_queue *q)
{
    if (q->n > 1)
        for (uint32_t i = (q->n - 2) / 4 + 1; i-- > 0;)
            ss_queue_sift_down(q->near, q->n, i, q->near[i]);
}

/* Moves the greater part of a full heap to buckets, told by its least.  What is in buckets already
 * differs from the old base in a higher bit than the new one does, so it stays where it is. */
static bool split(ss_queue *q)
{
    uint32_t count[SS_QUEUE_BUCKETS] = {0}, keep = 0, b = 0, n = q->n;
    q->base = q->near[0];
    for (uint32_t i = 0; i < n; i++)
        count[bucket_of(&q->base, &q->near[i])]++;
    while (keep + count[b] <= REFILL)
        keep += count[b++];
    q->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t bucket = bucket_of(&q->base, &q->near[i]);
        if (bucket < b)
            q->near[q->n++] = q->near[i];
        else if (!put(q, bucket, q->near[i]))
            return false;
    }
    q->last = last_of_block(q->base, b - 1);
    make_heap(q);
    return true;
}

bool ss_queue_push_later(ss_queue *q, ss_entry x)
{
    if (!ss_entry_before(&q->last, &x)) {
        if (!split(q))
            return false;
        if (!ss_entry_before(&q->last, &x)) {
            ss_queue_sift_up(q->near, q->n++, x);
            return true;
        }
    }
    return put(q, bucket_of(&q->base, &x), x);
}

static uint32_t lowest_bucket(const ss_queue *q)
{
    uint32_t b = 0;
    while (q->count[b] == 0)
        b++;
    return b;
}

static ss_entry least_of(const ss_queue *q, uint32_t bucket)
{
    uint32_t c = q->top[bucket], n = (q->count[bucket] - 1) % SS_QUEUE_CHUNK + 1;
    ss_entry least = q->chunk[c].entry[0];
    for (; c; c = q->chunk[c].next, n = SS_QUEUE_CHUNK)
        for (uint32_t i = 0; i < n; i++)
            if (ss_entry_before(&q->chunk[c].entry[i], &least))
                least = q->chunk[c].entry[i];
    return least;
}

bool ss_queue_refill(ss_queue *q)
{
    uint32_t b = lowest_bucket(q);
    while (q->count[b] > REFILL) { /* spread it over lower ones, told by its least */
        q->base = least_of(q, b);
        while (q->count[b]) {
            ss_entry x = take(q, b);
            if (!put(q, bucket_of(&q->base, &x), x))
                return false;
        }
        b = lowest_bucket(q);
    }
    do {
        while (q->count[b])
            q->near[q->n++] = take(q, b);
        b++;
    } while (b < SS_QUEUE_BUCKETS && q->n + q->count[b] <= REFILL);
    q->last = q->later ? last_of_block(q->base, b - 1) : greatest;
    make_heap(q);
    return true;
}
