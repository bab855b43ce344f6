/* tasks_set.c - sets of resources that are held together, or that are the path of flows.
 *
 * The members of a set that is looked up lie behind those of the last set, reserved and not yet counted.
 */
#include "graph/tasks_inside.h"

#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"

/* What tells one set from another: a path's flows, and so a limit and a weight, are part of it. */
typedef struct set_key {
    const uint32_t *resource;
    uint32_t n, weight;
    double limit;
} set_key;

static set_key key_of_set(const ss_tasks *t, uint32_t s)
{
    return (set_key){t->of_set + t->first_of_set[s], t->first_of_set[s + 1] - t->first_of_set[s],
                     t->weight_of_set[s], t->limit_of_set[s]};
}

static uint64_t hash_key(const set_key *k)
{
    uint64_t h = SS_HASH_START;
    for (uint32_t i = 0; i < k->n; i++)
        h = ss_hash_u64(h, k->resource[i]);
    return k->weight == 1 && k->limit == 0 ? h
                                           : ss_hash_double(ss_hash_u64(h, k->weight), k->limit);
}

static bool same_key(const set_key *a, const set_key *b)
{
    return a->n == b->n && a->weight == b->weight && a->limit == b->limit &&
           !memcmp(a->resource, b->resource, a->n * sizeof *a->resource);
}

static uint32_t *find_slot(const ss_tasks *t, const set_key *k)
{
    uint32_t mask = t->set_slots - 1;
    uint32_t i = (uint32_t)hash_key(k) & mask;
    for (;; i = (i + 1) & mask) {
        uint32_t s = t->set_slot[i];
        if (!s)
            return &t->set_slot[i];
        set_key of = key_of_set(t, s);
        if (same_key(&of, k))
            return &t->set_slot[i];
    }
}

static ss_status grow_slots(ss_tasks *t, ss_error *err)
{
    uint32_t slots = t->set_slots ? t->set_slots * 2 : 64;
    uint32_t *slot = ss_alloc_zeroed(slots, sizeof *slot);
    if (!slot)
        return ss_fail_memory(err, "sets of resources", slots * sizeof *slot);
    ss_free(t->set_slot);
    t->set_slot = slot;
    t->set_slots = slots;
    for (uint32_t s = 1; s <= t->sets; s++) {
        set_key k = key_of_set(t, s);
        *find_slot(t, &k) = s;
    }
    return SS_OK;
}

/* Room for one more set of n members. */
static ss_status reserve_set(ss_tasks *t, uint32_t n, ss_error *err)
{
    ss_status s = SS_OK;
    if ((size_t)t->sets + 3 > t->set_cap) {
        uint32_t cap = ss_grown(t->set_cap, (size_t)t->sets + 3);
        if ((s = SS_REGROW(t->first_of_set, cap, "sets", err)) ||
            (s = SS_REGROW(t->weight_of_set, cap, "sets", err)) ||
            (s = SS_REGROW(t->limit_of_set, cap, "sets", err)))
            return s;
        t->set_cap = cap;
    }
    if (!t->sets)
        t->first_of_set[0] = t->first_of_set[1] = 0;
    s = SS_RESERVE(t->of_set, t->of_set_cap, (size_t)t->first_of_set[t->sets + 1] + n,
                   "resources of sets", err);
    if (!s && (uint64_t)t->sets * 2 + 2 > t->set_slots)
        s = grow_slots(t, err);
    if (!s && (uint64_t)t->devices + t->links + t->sets + 1 > UINT32_MAX)
        s = ss_fail(err, SS_ERANGE, "too many sets of resources: %u", t->sets);
    return s;
}

/* The set whose n members lie at the end of of_set, ascending: an old one, or a new one. */
static uint32_t settle_set(ss_tasks *t, uint32_t n, uint32_t weight, double limit)
{
    uint32_t first = t->first_of_set[t->sets + 1];
    set_key k = {t->of_set + first, n, weight, limit};
    uint32_t *slot = find_slot(t, &k);
    if (!*slot) {
        *slot = ++t->sets;
        t->first_of_set[t->sets + 1] = first + n;
        t->weight_of_set[t->sets] = weight;
        t->limit_of_set[t->sets] = limit;
    }
    return t->devices + t->links + *slot;
}

ss_status ss_tasks_set(ss_tasks *t, const uint32_t *resource, uint32_t n, uint32_t *where,
                       ss_error *err)
{
    if (n == 0)
        return ss_fail(err, SS_EINVAL, "a set of no resources");
    for (uint32_t i = 0; i < n; i++) {
        if (resource[i] - 1 >= t->devices + t->links)
            return ss_fail(err, SS_EINVAL, "set: resource %u does not exist; there are 1 to %u",
                           resource[i], t->devices + t->links);
        if (t->mode == SS_LINKS_SHARED && resource[i] <= t->devices)
            return ss_fail(err, SS_EINVAL,
                           "set: device %u; where links are shared, a set is the path of flows and "
                           "has links only",
                           resource[i]);
        if (i && resource[i] <= resource[i - 1])
            return ss_fail(err, SS_EINVAL, "set: resource %u comes after %u; they must ascend",
                           resource[i], resource[i - 1]);
    }
    ss_status s = reserve_set(t, n, err);
    if (s)
        return s;
    memcpy(t->of_set + t->first_of_set[t->sets + 1], resource, n * sizeof *resource);
    *where = settle_set(t, n, 1, 0);
    return SS_OK;
}

ss_status ss_tasks_set_of_route(ss_tasks *t, const uint32_t *link, uint32_t links, uint32_t weight,
                                double limit, uint32_t *where, ss_error *err)
{
    ss_status s = reserve_set(t, links, err);
    if (s)
        return s;
    uint32_t *row = t->of_set + t->first_of_set[t->sets + 1];
    for (uint32_t i = 0; i < links; i++) { /* routes are short: insertion */
        uint32_t k = i;
        for (; k && row[k - 1] > t->devices + link[i]; k--)
            row[k] = row[k - 1];
        row[k] = t->devices + link[i];
    }
    for (uint32_t i = 1; i < links; i++)
        if (row[i] == row[i - 1])
            return ss_fail(err, SS_EINVAL, "a route crosses link %u twice", row[i] - t->devices);
    *where = settle_set(t, links, weight, limit);
    return SS_OK;
}
