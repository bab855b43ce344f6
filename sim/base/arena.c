#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

struct ss_arena_block {
    ss_arena_block *older;
    size_t used, size;
    max_align_t at[];
};

enum { FIRST_BLOCK = 4096 };

static size_t aligned(size_t bytes)
{
    size_t step = _Alignof(max_align_t);
    return (bytes + step - 1) / step * step;
}

static ss_arena_block *new_block(ss_arena *a, size_t bytes)
{
    size_t size = a->block ? a->block->size * 2 : FIRST_BLOCK;
    while (size < bytes)
        size *= 2;
    ss_arena_block *b = ss_alloc(sizeof *b + size);
    if (!b)
        return NULL;
    b->older = a->block;
    b->used = 0;
    b->size = size;
    a->block = b;
    return b;
}

void *ss_arena_take(ss_arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 4)
        return NULL;
    bytes = aligned(bytes ? bytes : 1);
    ss_arena_block *b = a->block;
    if (!b || b->size - b->used < bytes)
        b = new_block(a, bytes);
    if (!b)
        return NULL;
    void *taken = (char *)b->at + b->used;
    b->used += bytes;
    return taken;
}

void ss_arena_drop(ss_arena *a)
{
    if (!a->block)
        return;
    for (ss_arena_block *b = a->block->older; b;) {
        ss_arena_block *older = b->older;
        ss_free(b);
        b = older;
    }
    a->block->older = NULL;
    a->block->used = 0;
}

void ss_arena_free(ss_arena *a)
{
    ss_arena_drop(a);
    ss_free(a->block);
    a->block = NULL;
}
