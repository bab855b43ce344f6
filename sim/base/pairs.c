#include "base/pairs.h"

#include "base/hash.h"
#include "base/mem.h"

static uint64_t key_of(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

static uint32_t slot_of(const ss_pairs *p, uint64_t key)
{
    uint32_t i = (uint32_t)ss_hash_mix(key) & (p->slots - 1);
    while (p->value[i] && p->key[i] != key)
        i = (i + 1) & (p->slots - 1);
    return i;
}

uint32_t ss_pairs_find(const ss_pairs *p, uint32_t a, uint32_t b)
{
    return p->slots ? p->value[slot_of(p, key_of(a, b))] : 0;
}

/* At a load of at most one half. */
ss_status ss_pairs_reserve(ss_pairs *p, const char *what, ss_error *err)
{
    if ((uint64_t)p->n * 2 + 2 <= p->slots)
        return SS_OK;
    if (p->slots > UINT32_MAX / 2)
        return ss_fail(err, SS_ERANGE, "too many %s: %u", what, p->n);
    ss_pairs grown = {.slots = p->slots ? p->slots * 2 : 64, .n = p->n};
    grown.key = ss_alloc(grown.slots * sizeof *grown.key);
    grown.value = ss_alloc_zeroed(grown.slots, sizeof *grown.value);
    if (!grown.key || !grown.value) {
        ss_free(grown.key);
        ss_free(grown.value);
        return ss_fail_memory(err, what, grown.slots * sizeof *grown.key);
    }
    for (uint32_t i = 0; i < p->slots; i++)
        if (p->value[i]) {
            uint32_t to = slot_of(&grown, p->key[i]);
            grown.key[to] = p->key[i];
            grown.value[to] = p->value[i];
        }
    ss_free(p->key);
    ss_free(p->value);
    *p = grown;
    return SS_OK;
}

void ss_pairs_put(ss_pairs *p, uint32_t a, uint32_t b, uint32_t value)
{
    uint32_t i = slot_of(p, key_of(a, b));
    p->key[i] = key_of(a, b);
    p->value[i] = value;
    p->n++;
}

void ss_pairs_free(ss_pairs *p)
{
    ss_free(p->key);
    ss_free(p->value);
    *p = (ss_pairs){0};
}
