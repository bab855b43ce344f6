/* route_search.c - least costs over the core of a topology to where routes end: Dijkstra against the
 * arcs, taken up again where it was left. */
#include "graph/route_inside.h"

#include "base/array.h"
#include "base/mem.h"

/* Searches that were begun are kept for their next source up to this many bytes in all. */
enum { SEARCH_BYTES = 64 << 20 };

enum { UNSEEN = 0, SETTLED = UINT32_MAX };

typedef struct reach {
    ss_way_cost cost;
    uint32_t at; /* in the heap, from 1; or UNSEEN, or SETTLED */
} reach;

struct ss_way_search {
    uint32_t key;
    uint32_t waiting, settled;
    uint32_t core;
    reach *to; /* [core + 1] */
    /* [core + 1]; those waiting, least (cost, place) first, from 1; those settled from the end */
    uint32_t *heap;
};

struct ss_searches {
    const ss_ways *w;
    ss_way_search **search; /* a ring: the oldest gives way */
    uint32_t n, cap, next;
    uint32_t *of; /* by key: its row in the ring + 1; 0: none */
};

ss_status ss_searches_open(const ss_ways *w, uint32_t keys, ss_searches **out, ss_error *err)
{
    ss_searches *s = ss_alloc_zeroed(1, sizeof *s);
    uint32_t *of = ss_alloc_zeroed((size_t)keys + 1, sizeof *of);
    if (!s || !of) {
        ss_free(s);
        ss_free(of);
        return ss_fail_memory(err, "searches for routes", keys * sizeof *of);
    }
    s->w = w;
    s->of = of;
    *out = s;
    return SS_OK;
}

static void free_search(ss_way_search *s)
{
    if (!s)
        return;
    ss_free(s->to);
    ss_free(s->heap);
    ss_free(s);
}

void ss_searches_close(ss_searches *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->n; i++)
        free_search(s->search[i]);
    ss_free(s->search);
    ss_free(s->of);
    ss_free(s);
}

/* --- the heap ---------------------------------------------------------------------------------- */

static bool before(const ss_way_search *s, uint32_t a, uint32_t b)
{
    int order = ss_way_compare(s->to[a].cost, s->to[b].cost);
    return order ? order < 0 : a < b;
}

static void put_at(ss_way_search *s, uint32_t at, uint32_t v)
{
    s->heap[at] = v;
    s->to[v].at = at;
}

static void sift_up(ss_way_search *s, uint32_t v)
{
    uint32_t i = s->to[v].at;
    for (; i > 1 && before(s, v, s->heap[i / 2]); i /= 2)
        put_at(s, i, s->heap[i / 2]);
    put_at(s, i, v);
}

static uint32_t settle_least(ss_way_search *s)
{
    uint32_t least = s->heap[1], last = s->heap[s->waiting--];
    if (s->waiting) {
        uint32_t i = 1;
        for (uint32_t child = 2; child <= s->waiting; child = i * 2) {
            if (child < s->waiting && before(s, s->heap[child + 1], s->heap[child]))
                child++;
            if (!before(s, s->heap[child], last))
                break;
            put_at(s, i, s->heap[child]);
            i = child;
        }
        put_at(s, i, last);
    }
    s->to[least].at = SETTLED;
    s->heap[s->core - s->settled++] = least;
    return least;
}

static void offer(ss_way_search *s, uint32_t v, ss_way_cost cost)
{
    reach *to = &s->to[v];
    if (to->at == SETTLED || (to->at != UNSEEN && ss_way_compare(cost, to->cost) >= 0))
        return;
    if (to->at == UNSEEN)
        to->at = ++s->waiting;
    to->cost = cost;
    sift_up(s, v);
}

/* --- a search ---------------------------------------------------------------------------------- */

void ss_search_settle(const ss_ways *w, ss_way_search *s, uint32_t place, uint64_t most)
{
    while (s->waiting && s->to[place].at != SETTLED && s->to[s->heap[1]].cost.weight <= most) {
        uint32_t v = settle_least(s);
        ss_way_cost cost = s->to[v].cost;
        const ss_arc *a = &w->into.arc[w->into.first[v]];
        const ss_arc *end = &w->into.arc[w->into.first[v + 1]];
        for (; a < end && a->tail <= w->core; a++)
            if (s->to[a->tail].at != SETTLED)
                offer(s, a->tail, ss_way_sum(cost, ss_ways_across(w, a->link)));
    }
}

ss_way_cost ss_search_cost(const ss_way_search *s, uint32_t place)
{
    return s->to[place].at == SETTLED ? s->to[place].cost : ss_no_way;
}

static ss_status new_search(const ss_ways *w, ss_way_search **out, ss_error *err)
{
    ss_way_search *s = ss_alloc_zeroed(1, sizeof *s);
    size_t rows = (size_t)w->core + 1;
    if (s) {
        s->to = ss_alloc_zeroed(rows, sizeof *s->to);
        s->heap = ss_alloc(rows * sizeof *s->heap);
    }
    if (!s || !s->to || !s->heap) {
        free_search(s);
        return ss_fail_memory(err, "a search for routes", rows * sizeof *s->to);
    }
    s->core = w->core;
    *out = s;
    return SS_OK;
}

/* Forgets what was seen, at the cost of what was seen. */
static void begin(ss_way_search *s, uint32_t key, const ss_way_seed *seed, uint32_t seeds)
{
    for (uint32_t i = 1; i <= s->waiting; i++)
        s->to[s->heap[i]].at = UNSEEN;
    for (uint32_t i = 0; i < s->settled; i++)
        s->to[s->heap[s->core - i]].at = UNSEEN;
    s->waiting = s->settled = 0;
    s->key = key;
    for (uint32_t i = 0; i < seeds; i++)
        offer(s, seed[i].place, seed[i].cost);
}

static uint32_t most_searches(const ss_ways *w)
{
    size_t most = SEARCH_BYTES / (((size_t)w->core + 1) * (sizeof(reach) + sizeof(uint32_t)));
    return most < 1 ? 1 : most > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)most;
}

ss_status ss_search_get(ss_searches *s, uint32_t key, const ss_way_seed *seed, uint32_t seeds,
                        ss_way_search **out, ss_error *err)
{
    if (!s->of[key]) {
        if (s->n < most_searches(s->w)) {
            ss_status e =
                SS_RESERVE(s->search, s->cap, (size_t)s->n + 1, "searches for routes", err);
            if (!e)
                e = new_search(s->w, &s->search[s->n], err);
            if (e)
                return e;
            s->next = s->n++;
        } else {
            s->next = (s->next + 1) % s->n;
            s->of[s->search[s->next]->key] = 0;
        }
        begin(s->search[s->next], key, seed, seeds);
        s->of[key] = s->next + 1;
    }
    *out = s->search[s->of[key] - 1];
    return SS_OK;
}
