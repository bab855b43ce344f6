/* route_search.c - least costs over the core of a topology to where routes end: Dijkstra against the
 * arcs, taken up again where it was left.
 *
 * A search takes 28 bytes a core node while it is under way, so only some can be.  One that gives way
 * after it went far is finished and packed: networks have few distinct distances, and a byte a node
 * says which.  What is kept is bounded by the links, never by the pairs. */
#include "graph/route_inside.h"

#include "base/array.h"
#include "base/mem.h"

/* Searches under way take so many bytes in all, packed ones as many and some for each link. */
enum { SEARCH_BYTES = 64 << 20, PACKED_BYTES_A_LINK = 256 };

/* Distinct costs of a packed search; row 0 is "no way". */
enum { COSTS = 256 };

/* What waits is in lists by weight, a monotone radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, Journal of
 * the ACM 37(2), 1990): list 0 has the weight that is settled now, list b those whose highest bit that
 * differs from it is bit b - 1.  Links have weights of at least 1, so whatever has the least weight has
 * its least latency too, in any order. */
enum { LISTS = 65, UNSEEN = 0, SETTLED = UINT32_MAX };

typedef struct reach {
    ss_way_cost cost;
    uint32_t next,
        before; /* in its list, a circle with a row at core + 1 + list; or UNSEEN, SETTLED */
} reach;

struct ss_way_search {
    uint32_t key, core;
    uint32_t seens, settled;
    uint64_t now;      /* the weight of list 0 */
    reach *to;         /* [core + 1 + LISTS]; NULL: it is packed */
    uint32_t *seen;    /* [core + 1]; from 0, in the order of being seen */
    ss_way_cost *cost; /* packed: [COSTS], and by place which of them */
    uint8_t *which;
};

/* A ring: the oldest gives way. */
typedef struct ring {
    ss_way_search **search;
    uint32_t n, cap, most, next;
} ring;

struct ss_searches {
    const ss_ways *w;
    ring under_way, packed;
    ss_way_search **of; /* by key; NULL: none */
};

static uint32_t how_many(size_t bytes, size_t each)
{
    size_t most = bytes / each;
    return most < 1 ? 1 : most > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)most;
}

ss_status ss_searches_open(const ss_ways *w, uint32_t keys, ss_searches **out, ss_error *err)
{
    ss_searches *s = ss_alloc_zeroed(1, sizeof *s);
    ss_way_search **of = ss_alloc_zeroed((size_t)keys + 1, sizeof *of);
    if (!s || !of) {
        ss_free(s);
        ss_free(of);
        return ss_fail_memory(err, "searches for routes", keys * sizeof *of);
    }
    s->w = w;
    s->of = of;
    s->under_way.most =
        how_many(SEARCH_BYTES, ((size_t)w->core + 1 + LISTS) * (sizeof(reach) + sizeof(uint32_t)));
    s->packed.most = how_many(SEARCH_BYTES + (size_t)w->t->links * PACKED_BYTES_A_LINK,
                              w->core + 1 + COSTS * sizeof(ss_way_cost));
    *out = s;
    return SS_OK;
}

static void free_search(ss_way_search *s)
{
    if (!s)
        return;
    ss_free(s->to);
    ss_free(s->seen);
    ss_free(s->cost);
    ss_free(s->which);
    ss_free(s);
}

static void free_ring(ring *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        free_search(r->search[i]);
    ss_free(r->search);
}

void ss_searches_close(ss_searches *s)
{
    if (!s)
        return;
    free_ring(&s->under_way);
    free_ring(&s->packed);
    ss_free(s->of);
    ss_free(s);
}

/* --- the lists --------------------------------------------------------------------------------- */

static uint32_t list_of(const ss_way_search *s, uint64_t weight)
{
    uint32_t list = 0;
    uint64_t differs = weight ^ s->now;
    for (; differs > 0xff; differs >>= 8)
        list += 8;
    for (; differs; differs >>= 1)
        list++;
    return s->core + 1 + list;
}

static bool is_empty(const ss_way_search *s, uint32_t list)
{
    return s->to[list].next == list;
}

static void leave(ss_way_search *s, uint32_t v)
{
    s->to[s->to[v].before].next = s->to[v].next;
    s->to[s->to[v].next].before = s->to[v].before;
}

static void enter(ss_way_search *s, uint32_t v)
{
    uint32_t list = list_of(s, s->to[v].cost.weight), last = s->to[list].before;
    s->to[v].before = last;
    s->to[v].next = list;
    s->to[last].next = s->to[list].before = v;
}

/* The first of a list that has some; 0: nothing waits. */
static uint32_t first_list(const ss_way_search *s)
{
    for (uint32_t list = s->core + 1; list <= s->core + LISTS; list++)
        if (!is_empty(s, list))
            return list;
    return 0;
}

static uint64_t least_weight(const ss_way_search *s, uint32_t list)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t v = s->to[list].next; v != list; v = s->to[v].next)
        least = s->to[v].cost.weight < least ? s->to[v].cost.weight : least;
    return least;
}

/* Makes the least weight of a list the weight of now: all of it moves to lower lists. */
static void advance(ss_way_search *s, uint32_t list, uint64_t weight)
{
    s->now = weight;
    while (!is_empty(s, list)) {
        uint32_t v = s->to[list].next;
        leave(s, v);
        enter(s, v);
    }
}

static void offer(ss_way_search *s, uint32_t v, ss_way_cost cost)
{
    reach *to = &s->to[v];
    if (to->before == UNSEEN) {
        s->seen[s->seens++] = v;
    } else {
        if (ss_way_compare(cost, to->cost) >= 0)
            return;
        if (cost.weight == to->cost.weight) {
            to->cost = cost;
            return;
        }
        leave(s, v);
    }
    to->cost = cost;
    enter(s, v);
}

/* --- a search ---------------------------------------------------------------------------------- */

void ss_search_settle(const ss_ways *w, ss_way_search *s, uint32_t place, uint64_t most)
{
    uint32_t list;
    if (!s->to)
        return;
    while (s->to[place].before != SETTLED && (list = first_list(s))) {
        uint64_t least = list == s->core + 1 ? s->now : least_weight(s, list);
        if (least > most)
            return;
        if (least != s->now)
            advance(s, list, least);
        uint32_t v = s->to[s->core + 1].next;
        leave(s, v);
        s->to[v].before = SETTLED;
        s->settled++;
        ss_way_cost cost = s->to[v].cost;
        const ss_arc *a = &w->into.arc[w->into.first[v]];
        const ss_arc *end = &w->into.arc[w->into.first[v + 1]];
        for (; a < end && a->tail <= w->core; a++)
            if (s->to[a->tail].before != SETTLED)
                offer(s, a->tail, ss_way_sum(cost, w->cost[a->link]));
    }
}

ss_way_cost ss_search_cost(const ss_way_search *s, uint32_t place)
{
    if (!s->to)
        return s->cost[s->which[place]];
    return s->to[place].before == SETTLED ? s->to[place].cost : ss_no_way;
}

static ss_status new_search(const ss_ways *w, ss_way_search **out, ss_error *err)
{
    ss_way_search *s = ss_alloc_zeroed(1, sizeof *s);
    size_t rows = (size_t)w->core + 1 + LISTS;
    if (s) {
        s->to = ss_alloc_zeroed(rows, sizeof *s->to);
        s->seen = ss_alloc(rows * sizeof *s->seen);
    }
    if (!s || !s->to || !s->seen) {
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
    for (uint32_t i = 0; i < s->seens; i++)
        s->to[s->seen[i]].before = UNSEEN;
    for (uint32_t list = s->core + 1; list <= s->core + LISTS; list++)
        s->to[list].next = s->to[list].before = list;
    s->seens = s->settled = 0;
    s->now = 0;
    s->key = key;
    for (uint32_t i = 0; i < seeds; i++)
        offer(s, seed[i].place, seed[i].cost);
}

/* --- searches kept ----------------------------------------------------------------------------- */

/* The row of a cost among the first n; new ones are added.  COSTS: there are too many. */
static uint32_t row_of(ss_way_cost *list, uint32_t *n, uint32_t guess, ss_way_cost cost)
{
    if (!ss_way_compare(list[guess], cost))
        return guess;
    for (uint32_t i = *n; i-- > 0;)
        if (!ss_way_compare(list[i], cost))
            return i;
    if (*n < COSTS)
        list[*n] = cost;
    return *n < COSTS ? (*n)++ : COSTS;
}

/* Goes on to the end and fills in the costs; false: there are more than a byte can tell. */
static bool pack(const ss_ways *w, ss_way_search *s, ss_way_search *out)
{
    uint32_t n = 1, row = 0;
    for (uint32_t i = 0; i < s->seens; i++) /* more are seen as it goes on */
        ss_search_settle(w, s, s->seen[i], UINT64_MAX);
    out->key = s->key;
    out->cost[0] = ss_no_way;
    for (uint32_t i = 0; i < s->seens && row < COSTS; i++) {
        row = row_of(out->cost, &n, row, s->to[s->seen[i]].cost);
        out->which[s->seen[i]] = (uint8_t)row;
    }
    return row < COSTS;
}

/* An empty packed search; NULL: no memory, which only means that it will be searched again. */
static ss_way_search *packed_new(const ss_ways *w)
{
    ss_way_search *s = ss_alloc_zeroed(1, sizeof *s);
    if (s) {
        s->core = w->core;
        s->cost = ss_alloc(COSTS * sizeof *s->cost);
        s->which = ss_alloc_zeroed((size_t)w->core + 1, 1);
    }
    if (s && s->cost && s->which)
        return s;
    free_search(s);
    return NULL;
}

/* Keeps what a search that gives way knows, if it went far enough to be worth it. */
static void keep_packed(ss_searches *s, ss_way_search *old)
{
    ring *r = &s->packed;
    ss_error ignored;
    s->of[old->key] = NULL;
    if (old->settled <= old->core / 2 ||
        SS_RESERVE(r->search, r->cap, (size_t)r->n + 1, "searches for routes", &ignored))
        return;
    ss_way_search *made = packed_new(s->w);
    if (!made || !pack(s->w, old, made)) {
        free_search(made);
        return;
    }
    if (r->n < r->most) {
        r->search[r->n++] = made;
    } else {
        s->of[r->search[r->next]->key] = NULL;
        free_search(r->search[r->next]);
        r->search[r->next] = made;
        r->next = (r->next + 1) % r->n;
    }
    s->of[made->key] = made;
}

ss_status ss_search_get(ss_searches *s, uint32_t key, const ss_way_seed *seed, uint32_t seeds,
                        ss_way_search **out, ss_error *err)
{
    ring *r = &s->under_way;
    if (!s->of[key]) {
        uint32_t at = r->next;
        if (r->n < r->most) {
            ss_status e =
                SS_RESERVE(r->search, r->cap, (size_t)r->n + 1, "searches for routes", err);
            if (!e)
                e = new_search(s->w, &r->search[r->n], err);
            if (e)
                return e;
            at = r->n++;
        } else {
            keep_packed(s, r->search[at]);
            r->next = (at + 1) % r->n;
        }
        begin(r->search[at], key, seed, seeds);
        s->of[key] = r->search[at];
    }
    *out = s->of[key];
    return SS_OK;
}
