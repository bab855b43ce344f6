/* fresh.h - the tasks that are ready at one instant, least key first: a heap that is mostly empty. */
#ifndef SS_FRESH_H
#define SS_FRESH_H

#include <stdint.h>

#include "base/array.h"

typedef struct ss_fresh {
    uint64_t *key; /* [n] */
    uint32_t n, cap;
} ss_fresh; /* {0}; ss_free(f.key) */

static inline ss_status ss_fresh_push(ss_fresh *f, uint64_t key, ss_error *err)
{
    ss_status s = SS_RESERVE(f->key, f->cap, (size_t)f->n + 1, "ready tasks", err);
    if (s)
        return s;
    uint32_t i = f->n++;
    for (; i && f->key[(i - 1) / 2] > key; i = (i - 1) / 2)
        f->key[i] = f->key[(i - 1) / 2];
    f->key[i] = key;
    return SS_OK;
}

/* n is not 0. */
static inline uint64_t ss_fresh_pop(ss_fresh *f)
{
    uint64_t least = f->key[0], key = f->key[--f->n];
    uint32_t i = 0;
    for (uint32_t k; (k = 2 * i + 1) < f->n; i = k) {
        if (k + 1 < f->n && f->key[k + 1] < f->key[k])
            k++;
        if (f->key[k] >= key)
            break;
        f->key[i] = f->key[k];
    }
    f->key[i] = key;
    return least;
}

#endif
