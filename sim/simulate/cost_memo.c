#include "simulate/cost_memo.h"

#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"

/* Answers kept before all are forgotten: some 120 MB.  Forgetting costs time and changes nothing.
 */
enum { MOST_ENTRIES = 1 << 20 };

struct ss_memo_def {
    const ss_op_kind *kind;
    uint64_t hash;
    uint32_t attrs, inputs;
    int64_t attr[SS_MAX_ATTRS];
    ss_shape in[]; /* [inputs] */
};

void ss_memo_free(ss_memo *m)
{
    for (uint32_t i = 1; i <= m->defs; i++)
        ss_free(m->def[i]);
    ss_free(m->def);
    ss_free(m->def_slot);
    ss_free(m->device);
    ss_free(m->entry);
    ss_free(m->slot);
    *m = (ss_memo){0};
}

void ss_memo_forget(ss_memo *m)
{
    m->entries = 0;
    if (m->slots)
        memset(m->slot, 0, m->slots * sizeof *m->slot);
}

/* --- definitions ------------------------------------------------------------------------------ */

static bool same_def(const ss_memo_def *a, const ss_op_def *b)
{
    if (a->kind != b->kind || a->inputs != b->inputs ||
        memcmp(a->attr, b->attr, a->attrs * sizeof *a->attr) != 0)
        return false;
    if (!memcmp(a->in, b->in, a->inputs * sizeof *a->in))
        return true; /* as a rule; what lies beyond their ranks may still differ */
    for (uint32_t i = 0; i < a->inputs; i++)
        if (!ss_shape_same(&a->in[i], &b->in[i]))
            return false;
    return true;
}

static uint64_t hash_def(const ss_op_def *op, uint32_t attrs)
{
    uint64_t h = ss_hash_text(SS_HASH_START, op->kind->name);
    for (uint32_t i = 0; i < attrs; i++)
        h = ss_hash_u64(h, (uint64_t)op->attr[i]);
    for (uint32_t i = 0; i < op->inputs; i++) {
        h = ss_hash_u64(h, (uint64_t)op->in[i].dtype << 32 | op->in[i].rank);
        for (uint32_t d = 0; d < op->in[i].rank; d++)
            h = ss_hash_u64(h, (uint64_t)op->in[i].extent[d]);
    }
    return h;
}

bool ss_memo_is_def(const ss_memo *m, uint32_t number, const ss_op_def *op)
{
    return number && same_def(m->def[number], op);
}

static ss_status grow_def_slots(ss_memo *m, ss_error *err)
{
    if ((m->defs + 1) * 2 <= m->def_slots)
        return SS_OK;
    uint32_t slots = m->def_slots ? m->def_slots * 2 : 64;
    uint32_t *fresh = ss_alloc_zeroed(slots, sizeof *fresh);
    if (!fresh)
        return ss_fail_memory(err, "costs", slots * sizeof *fresh);
    for (uint32_t i = 1; i <= m->defs; i++) {
        uint32_t at = (uint32_t)m->def[i]->hash & (slots - 1);
        while (fresh[at])
            at = (at + 1) & (slots - 1);
        fresh[at] = i;
    }
    ss_free(m->def_slot);
    m->def_slot = fresh;
    m->def_slots = slots;
    return SS_OK;
}

ss_status ss_memo_def_number(ss_memo *m, const ss_op_def *op, uint32_t *out, ss_error *err)
{
    uint32_t attrs = ss_op_kind_attrs(op->kind);
    uint64_t hash = hash_def(op, attrs);
    ss_status s = grow_def_slots(m, err);
    if (!s)
        s = SS_RESERVE(m->def, m->def_cap, (size_t)m->defs + 2, "costs", err);
    if (s)
        return s;
    uint32_t at = (uint32_t)hash & (m->def_slots - 1);
    for (; m->def_slot[at]; at = (at + 1) & (m->def_slots - 1))
        if (same_def(m->def[m->def_slot[at]], op)) {
            *out = m->def_slot[at];
            return SS_OK;
        }
    ss_memo_def *def = ss_alloc(sizeof *def + op->inputs * sizeof *def->in);
    if (!def)
        return ss_fail_memory(err, "costs", sizeof *def);
    def->kind = op->kind;
    def->hash = hash;
    def->attrs = attrs;
    def->inputs = op->inputs;
    memcpy(def->attr, op->attr, sizeof def->attr);
    memcpy(def->in, op->in, op->inputs * sizeof *def->in);
    m->def[++m->defs] = def;
    m->def_slot[at] = m->defs;
    *out = m->defs;
    return SS_OK;
}

/* --- devices ---------------------------------------------------------------------------------- */

static bool same_device(const ss_device_def *a, const ss_device_def *b)
{
    for (uint32_t i = 0; i < SS_DTYPES; i++)
        if (a->flop_per_s[i] != b->flop_per_s[i])
            return false;
    return !strcmp(a->kind, b->kind) && a->memory_bytes_per_s == b->memory_bytes_per_s &&
           a->speed == b->speed;
}

ss_status ss_memo_device_number(ss_memo *m, const ss_device_def *device, uint32_t *out,
                                ss_error *err)
{
    for (uint32_t i = m->devices; i > 0; i--)
        if (same_device(&m->device[i], device)) {
            *out = i;
            return SS_OK;
        }
    ss_status s = SS_RESERVE(m->device, m->device_cap, (size_t)m->devices + 2, "costs", err);
    if (s)
        return s;
    m->device[++m->devices] = *device;
    *out = m->devices;
    return SS_OK;
}

/* --- answers ---------------------------------------------------------------------------------- */

void ss_memo_place(ss_memo_key *key, const ss_op_def *op, const ss_box *main)
{
    key->box.rank = main->rank;
    for (uint32_t d = 0; d < main->rank; d++) {
        /* Where in the batch a part lies changes nothing; where in an image it lies does (halos).
         */
        int64_t move = op->dim[d].cls == SS_DIM_SAMPLE ? main->lo[d] : 0;
        key->box.lo[d] = main->lo[d] - move;
        key->box.hi[d] = main->hi[d] - move;
    }
}

/* One multiplication a word: the keys are compared whole, so a weak hash costs time at worst. */
static uint32_t hash_key(const ss_memo_key *key)
{
    uint64_t h = (uint64_t)key->def << 32 | key->device;
    h = (h ^ ((uint64_t)key->name << 16 | key->phase)) * 0x9e3779b97f4a7c15ULL;
    for (uint32_t d = 0; d < key->box.rank; d++) {
        h = (h ^ (uint64_t)key->box.hi[d]) * 0x9e3779b97f4a7c15ULL;
        h = (h ^ h >> 29 ^ (uint64_t)key->box.lo[d]) * 0xbf58476d1ce4e5b9ULL;
    }
    return (uint32_t)ss_hash_mix(h);
}

const ss_memo_entry *ss_memo_find(const ss_memo *m, const ss_memo_key *key)
{
    if (!m->slots)
        return NULL;
    for (uint32_t at = hash_key(key) & (m->slots - 1); m->slot[at]; at = (at + 1) & (m->slots - 1))
        if (ss_memo_same(&m->entry[m->slot[at] - 1].key, key))
            return &m->entry[m->slot[at] - 1];
    return NULL;
}

static void put_slot(uint32_t *slot, uint32_t slots, const ss_memo_key *key, uint32_t value)
{
    uint32_t at = hash_key(key) & (slots - 1);
    while (slot[at])
        at = (at + 1) & (slots - 1);
    slot[at] = value;
}

static ss_status grow_slots(ss_memo *m, ss_error *err)
{
    if ((m->entries + 1) * 2 <= m->slots)
        return SS_OK;
    uint32_t slots = m->slots ? m->slots * 2 : 256;
    uint32_t *fresh = ss_alloc_zeroed(slots, sizeof *fresh);
    if (!fresh)
        return ss_fail_memory(err, "costs", slots * sizeof *fresh);
    for (uint32_t i = 0; i < m->entries; i++)
        put_slot(fresh, slots, &m->entry[i].key, i + 1);
    ss_free(m->slot);
    m->slot = fresh;
    m->slots = slots;
    return SS_OK;
}

ss_status ss_memo_put(ss_memo *m, const ss_memo_entry *entry, ss_error *err)
{
    if (m->entries == MOST_ENTRIES)
        ss_memo_forget(m);
    ss_status s = SS_RESERVE(m->entry, m->entry_cap, (size_t)m->entries + 1, "costs", err);
    if (!s)
        s = grow_slots(m, err);
    if (s)
        return s;
    m->entry[m->entries] = *entry;
    put_slot(m->slot, m->slots, &entry->key, ++m->entries);
    return SS_OK;
}
