#include "base/mem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A block's size sits in front of it.  max_align_t keeps what follows aligned for every type. */
typedef union header {
    size_t bytes;
    max_align_t align;
} header;

static atomic_size_t live, blocks, peak;
static _Atomic uint64_t requests;
static _Atomic int64_t until_failure = -1;

static int must_fail(void)
{
    atomic_fetch_add_explicit(&requests, 1, memory_order_relaxed);
    int64_t left = atomic_load_explicit(&until_failure, memory_order_relaxed);
    while (left > 0 && !atomic_compare_exchange_weak(&until_failure, &left, left - 1))
        ;
    return left == 0;
}

static void count_up(size_t bytes)
{
    size_t now = atomic_fetch_add_explicit(&live, bytes, memory_order_relaxed) + bytes;
    size_t old = atomic_load_explicit(&peak, memory_order_relaxed);
    while (now > old && !atomic_compare_exchange_weak(&peak, &old, now))
        ;
}

void *ss_realloc(void *block, size_t bytes)
{
    header *old = block ? (header *)block - 1 : NULL;
    size_t before = old ? old->bytes : 0;
    bool smaller = old && bytes <= before; /* which never fails: it may stay where it is */
    if (!smaller && (must_fail() || bytes > SIZE_MAX / 2 - sizeof(header)))
        return NULL;
    header *h = realloc(old, sizeof *h + (bytes ? bytes : 1));
    if (!h && smaller)
        h = old;
    if (!h)
        return NULL;
    h->bytes = bytes;
    if (!old)
        atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&live, before, memory_order_relaxed);
    count_up(bytes);
    return h + 1;
}

void *ss_alloc(size_t bytes)
{
    return ss_realloc(NULL, bytes);
}

void *ss_alloc_zeroed(size_t count, size_t bytes_each)
{
    if (bytes_each && count > SIZE_MAX / bytes_each) {
        (void)must_fail();
        return NULL;
    }
    if (must_fail() || count * bytes_each > SIZE_MAX / 2 - sizeof(header))
        return NULL;
    size_t bytes = count * bytes_each;
    header *h = calloc(1, sizeof *h + (bytes ? bytes : 1));
    if (!h)
        return NULL;
    h->bytes = bytes;
    atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
    count_up(h->bytes);
    return h + 1;
}

void ss_free(void *block)
{
    if (!block)
        return;
    header *h = (header *)block - 1;
    atomic_fetch_sub_explicit(&live, h->bytes, memory_order_relaxed);
    atomic_fetch_sub_explicit(&blocks, 1, memory_order_relaxed);
    free(h);
}

char *ss_strdup(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = ss_alloc(n);
    return copy ? memcpy(copy, text, n) : NULL;
}

size_t ss_mem_live(void)
{
    return atomic_load(&live);
}

size_t ss_mem_blocks(void)
{
    return atomic_load(&blocks);
}

size_t ss_mem_peak(void)
{
    return atomic_load(&peak);
}

void ss_mem_peak_reset(void)
{
    atomic_store(&peak, atomic_load(&live));
}

uint64_t ss_mem_requests(void)
{
    return atomic_load(&requests);
}

void ss_mem_fail_after(int64_t n)
{
    atomic_store(&until_failure, n);
}

void ss_mem_fail_never(void)
{
    atomic_store(&until_failure, -1);
}
