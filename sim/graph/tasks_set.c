/* tasks_set.c - sets of resources that are held together, or that are the path of flows.
 *
 * The members of a set that is looked up lie behind those of the last set, reserved and not yet counted.
 */
#include "graph/tasks_inside.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"

/* What tells one set from another: of a path also what its flows can have. */
typedef struct set_key {
    const uint32_t *resource;
    const double *share; /* NULL: all of every link */
    uint32_t n, weight;
    double limit, most;
} set_key;

static set_key key_of_set(const ss_tasks *t, uint32_t s)
{
    uint32_t first = t->first_of_set[s];
    set_key k = {.resource = t->of_set + first,
                 .n = t->first_of_set[s + 1] - first,
                 .weight = t->weight_of_set[s],
                 .limit = t->limit_of_set[s]};
    if (t->share_of_set) {
        k.share = t->share_of_set + first;
        k.most = t->most_of_set[s];
    }
    return k;
}

static uint64_t hash_key(const set_key *k)
{
    uint64_t h = SS_HASH_START;
    for (uint32_t i = 0; i < k->n; i++)
        h = ss_hash_u64(h, k->resource[i]);
    return k->weight == 1 && k->limit == 0 ? h
                                           : ss_hash_double(ss_hash_u64(h, k->weight), k->limit);
}

/* Either both have shares or none: they are of one graph. */
static bool same_key(const set_key *a, const set_key *b)
{
    return a->n == b->n && a->weight == b->weight && a->limit == b->limit && a->most == b->most &&
           !memcmp(a->resource, b->resource, a->n * sizeof *a->resource) &&
           (!a->share || !memcmp(a->share, b->share, a->n * sizeof *a->share));
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

static ss_status grow_sets(ss_tasks *t, uint32_t cap, ss_error *err)
{
    ss_status s;
    if ((s = SS_REGROW(t->first_of_set, cap, "sets", err)) ||
        (s = SS_REGROW(t->weight_of_set, cap, "sets", err)) ||
        (s = SS_REGROW(t->limit_of_set, cap, "sets", err)) ||
        (t->most_of_set && (s = SS_REGROW(t->most_of_set, cap, "sets", err))))
        return s;
    t->set_cap = cap;
    return SS_OK;
}

static ss_status grow_members(ss_tasks *t, uint32_t cap, ss_error *err)
{
    ss_status s = SS_REGROW(t->of_set, cap, "resources of sets", err);
    if (!s && t->share_of_set)
        s = SS_REGROW(t->share_of_set, cap, "shares of links", err);
    if (!s)
        t->of_set_cap = cap;
    return s;
}

/* Room for one more set of n members. */
static ss_status reserve_set(ss_tasks *t, uint32_t n, ss_error *err)
{
    ss_status s = SS_OK;
    if ((size_t)t->sets + 3 > t->set_cap &&
        (s = grow_sets(t, ss_grown(t->set_cap, (size_t)t->sets + 3), err)))
        return s;
    if (!t->sets)
        t->first_of_set[0] = t->first_of_set[1] = 0;
    size_t members = (size_t)t->first_of_set[t->sets + 1] + n;
    uint32_t cap = ss_grown(t->of_set_cap, members);
    if (!cap && members)
        return ss_fail(err, SS_ERANGE, "too many of resources of sets: %zu", members);
    if (cap > t->of_set_cap && (s = grow_members(t, cap, err)))
        return s;
    if ((uint64_t)t->sets * 2 + 2 > t->set_slots && (s = grow_slots(t, err)))
        return s;
    if ((uint64_t)t->devices + t->links + t->sets + 1 > UINT32_MAX)
        return ss_fail(err, SS_ERANGE, "too many sets of resources: %u", t->sets);
    return SS_OK;
}

/* The columns that only graphs with laws by size have; flows of sets so far have all of their links. */
static ss_status need_shares(ss_tasks *t, ss_error *err)
{
    if (t->share_of_set)
        return SS_OK;
    double *share = ss_alloc((size_t)t->of_set_cap * sizeof *share);
    double *most = ss_alloc((size_t)t->set_cap * sizeof *most);
    if (!share || !most) {
        ss_free(share);
        ss_free(most);
        return ss_fail_memory(err, "shares of links", t->of_set_cap * sizeof *share);
    }
    for (uint32_t i = 0; i < t->of_set_cap; i++)
        share[i] = 1;
    for (uint32_t i = 0; i < t->set_cap; i++)
        most[i] = 0;
    t->share_of_set = share;
    t->most_of_set = most;
    return SS_OK;
}

/* The set whose n members lie at the end of of_set, ascending: an old one, or a new one. */
static uint32_t settle_set(ss_tasks *t, uint32_t n, const ss_path_flows *flows)
{
    uint32_t first = t->first_of_set[t->sets + 1];
    set_key k = {
        .resource = t->of_set + first, .n = n, .weight = flows->weight, .limit = flows->limit};
    if (t->share_of_set) {
        k.share = t->share_of_set + first;
        k.most = flows->most;
    }
    uint32_t *slot = find_slot(t, &k);
    if (!*slot) {
        *slot = ++t->sets;
        t->first_of_set[t->sets + 1] = first + n;
        t->weight_of_set[t->sets] = flows->weight;
        t->limit_of_set[t->sets] = flows->limit;
        if (t->most_of_set)
            t->most_of_set[t->sets] = flows->most;
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
    uint32_t first = t->first_of_set[t->sets + 1];
    memcpy(t->of_set + first, resource, n * sizeof *resource);
    for (uint32_t i = 0; t->share_of_set && i < n; i++)
        t->share_of_set[first + i] = 1;
    *where = settle_set(t, n, &(ss_path_flows){.weight = 1});
    return SS_OK;
}

/* The shares of the links in the row at `first`, of flows of so many bytes. */
static void note_shares(ss_tasks *t, uint32_t first, uint32_t links, double bytes)
{
    for (uint32_t i = first; i < first + links; i++) {
        const ss_link_law *law = t->law ? t->law[t->of_set[i] - t->devices] : NULL;
        t->share_of_set[i] = ss_link_law_share(law, bytes);
    }
}

ss_status ss_tasks_set_of_route(ss_tasks *t, const uint32_t *link, uint32_t links,
                                const ss_path_flows *flows, uint32_t *where, ss_error *err)
{
    ss_status s = reserve_set(t, links, err);
    if (!s && flows->bytes > 0)
        s = need_shares(t, err);
    if (s)
        return s;
    uint32_t first = t->first_of_set[t->sets + 1], *row = t->of_set + first;
    for (uint32_t i = 0; i < links; i++) { /* routes are short: insertion */
        uint32_t k = i;
        for (; k && row[k - 1] > t->devices + link[i]; k--)
            row[k] = row[k - 1];
        row[k] = t->devices + link[i];
    }
    for (uint32_t i = 1; i < links; i++)
        if (row[i] == row[i - 1])
            return ss_fail(err, SS_EINVAL, "a route crosses link %u twice", row[i] - t->devices);
    if (t->share_of_set)
        note_shares(t, first, links, flows->bytes);
    *where = settle_set(t, links, flows);
    return SS_OK;
}

ss_path_limit ss_path_limit_of(const ss_tasks *t, uint32_t path)
{
    bool limited = t->share_of_set && t->most_of_set[path] > 0;
    return (ss_path_limit){.tasks = t,
                           .path = path,
                           .next = t->first_of_set[path],
                           .least = limited ? t->most_of_set[path] : INFINITY};
}

void ss_path_limit_next(ss_path_limit *l, double bytes_per_s)
{
    const ss_tasks *t = l->tasks;
    uint32_t i = l->next++;
    if (!t->share_of_set)
        return;
    l->by_links |= t->share_of_set[i] != 1;
    l->changed |= bytes_per_s != t->bytes_per_s[t->of_set[i] - t->devices];
    l->least = fmin(l->least, t->share_of_set[i] * bytes_per_s);
}

double ss_path_limit_end(const ss_path_limit *l)
{
    return l->by_links && l->changed ? l->least : l->tasks->limit_of_set[l->path];
}
