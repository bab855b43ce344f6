/* trajectory_chain.c - a chain of a search's log: rows that wait, configurations that were seen. */
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "io/trajectory_inside.h"

void ss_log_chain_free(ss_log_chain *c)
{
    for (uint32_t k = 0; k < SS_LOG_TABLES; k++) {
        ss_h5_grow_close(&c->rows[k].table);
        ss_free(c->rows[k].row);
    }
    ss_free(c->seen.slot);
    *c = (ss_log_chain){.begun = false};
}

uint32_t ss_log_count(const ss_log_chain *c, ss_log_kind kind)
{
    return c->rows[kind].table.rows + c->rows[kind].n;
}

ss_status ss_log_reserve(ss_log_chain *c, ss_log_kind kind, uint32_t more, ss_error *err)
{
    ss_log_rows *r = &c->rows[kind];
    return ss_reserve(&r->row, &r->cap, (size_t)r->n + more, ss_log_table[kind].stride,
                      "rows of a search's log", err);
}

void ss_log_add(ss_log_chain *c, ss_log_kind kind, const void *row, uint32_t n)
{
    ss_log_rows *r = &c->rows[kind];
    size_t stride = ss_log_table[kind].stride;
    memcpy(r->row + r->n * stride, row, n * stride);
    r->n += n;
}

ss_status ss_log_settle(ss_log_chain *c, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t k = 0; !s && k < SS_LOG_TABLES; k++) {
        ss_log_rows *r = &c->rows[k];
        if (!r->n)
            continue;
        s = ss_h5_grow_rows(&r->table, r->row, r->n, err);
        if (!s)
            s = ss_h5_grow_checksums(&r->table, err);
        r->n = 0;
    }
    return s;
}

/* ---------------------------------------------------------------------- configurations seen */

/* 96 bits of hash stand for a configuration: of 10^8 of them two are taken for one with chance 10^-13. */
typedef struct ss_log_seen_slot {
    uint64_t hash;
    uint32_t more, row; /* row 0: free */
} ss_log_seen_slot;

static ss_log_seen_slot *find_slot(const ss_log_seen *s, uint64_t hash, uint32_t more)
{
    uint32_t k = (uint32_t)hash & (s->slots - 1);
    while (s->slot[k].row && (s->slot[k].hash != hash || s->slot[k].more != more))
        k = (k + 1) & (s->slots - 1);
    return &s->slot[k];
}

ss_status ss_log_seen_reserve(ss_log_seen *s, uint32_t more, ss_error *err)
{
    uint64_t need = (uint64_t)s->n + more;
    if (need + need / 2 < s->slots)
        return SS_OK;
    uint64_t slots = s->slots ? s->slots : 1024;
    while (slots <= need + need / 2)
        slots *= 2;
    ss_log_seen wider = {.slots = (uint32_t)slots, .n = s->n};
    wider.slot = slots <= UINT32_MAX ? ss_alloc_zeroed(slots, sizeof *wider.slot) : NULL;
    if (!wider.slot)
        return ss_fail_memory(err, "the configurations of a search's log",
                              slots * sizeof *wider.slot);
    for (uint32_t k = 0; k < s->slots; k++)
        if (s->slot[k].row)
            *find_slot(&wider, s->slot[k].hash, s->slot[k].more) = s->slot[k];
    ss_free(s->slot);
    *s = wider;
    return SS_OK;
}

uint32_t ss_log_seen_find(ss_log_seen *s, uint32_t op, const uint32_t *degree,
                          const uint32_t *device, uint32_t parts, uint32_t row)
{
    uint64_t h = ss_hash_u64(SS_HASH_START, op);
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        h = ss_hash_u64(h, degree[d]);
    uint64_t g = ss_hash_u64(h, parts);
    for (uint32_t k = 0; k < parts; k++) {
        h = ss_hash_u64(h, device[k]);
        g = ss_hash_mix(g ^ device[k]) + h;
    }
    ss_log_seen_slot *at = find_slot(s, h, (uint32_t)(g >> 32));
    if (at->row)
        return at->row;
    *at = (ss_log_seen_slot){h, (uint32_t)(g >> 32), row};
    s->n++;
    return 0;
}

ss_status ss_log_seen_read(ss_h5 *f, ss_log_chain *c, ss_error *err)
{
    char group[SS_LOG_PATH];
    ss_arena a = {0};
    void *configurations = NULL, *devices = NULL;
    uint32_t n = 0, m = 0;
    const ss_record_table *t = &ss_log_table[SS_LOG_CONFIGURATIONS];
    ss_log_group(c->name, SS_LOG_CONFIGURATIONS, group, sizeof group);
    ss_status s =
        ss_h5_get_table(f, group, t->field, t->fields, t->stride, 0, &a, &configurations, &n, err);
    t = &ss_log_table[SS_LOG_DEVICES];
    ss_log_group(c->name, SS_LOG_DEVICES, group, sizeof group);
    if (!s)
        s = ss_h5_get_table(f, group, t->field, t->fields, t->stride, 0, &a, &devices, &m, err);
    if (!s)
        s = ss_log_seen_reserve(&c->seen, n, err);
    for (uint32_t i = 0; !s && i < n; i++) {
        const ss_log_configuration *row = (const ss_log_configuration *)configurations + i;
        if (row->first_device > m || row->parts > m - row->first_device)
            s = ss_fail(err, SS_EFORMAT, "%s: configuration %u of %s has no such devices",
                        ss_h5_path(f), i + 1, c->name);
        else
            (void)ss_log_seen_find(&c->seen, row->op, row->degree,
                                   (const uint32_t *)devices + row->first_device, row->parts,
                                   i + 1);
    }
    ss_arena_free(&a);
    return s;
}
