#include "graph/collective_choose.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"

/* Of an operation's algorithms one at most looks at chunks; the others have a line each. */
enum { MOST_LINES = SS_MOST_PRICED + SS_ALGORITHMS, MOST_KEPT = 1024 };

/* Of so many bytes lines are found that are straight: shares and chunks are even, near enough. */
static const int64_t many_bytes = (int64_t)1 << 40;

/* Of one algorithm and number of chunks. */
typedef struct line {
    ss_algorithm algorithm;
    ss_priced of; /* the table's bytes */
} line;

/* What prices are found from, besides the members.  Compared field by field: it has holes. */
typedef struct question {
    ss_operation operation;
    uint32_t members, chunks; /* chunks: as they were asked for */
    bool by_machine;
    int64_t bytes;
    /* of the options */
    ss_links_mode links;
    bool ideal_links, as_one_task;
    double flow_limit;
    int64_t segment_bytes;
    uint32_t max_segments;
} question;

typedef struct table {
    question of;
    line line[MOST_LINES];
    uint32_t lines; /* 0: not known */
    ss_device *device;
    uint32_t *machine;
    uint32_t member_cap;
} table;

/* With routes. */
typedef struct choices {
    ss_pricer *pricer;
    table *kept[MOST_KEPT]; /* by hash of what was asked; NULL: none yet */
} choices;

/* ---- one by itself ----------------------------------------------------------------------- */

static ss_status add_lines(ss_pricer *w, const ss_collective *c, const ss_party *p,
                           const ss_lower_options *o, table *to, ss_error *err)
{
    ss_priced by[SS_MOST_PRICED];
    uint32_t n;
    ss_status s = ss_price_by_chunks(w, c, p, o, by, &n, err);
    for (uint32_t i = 0; i < n && !s && to->lines < MOST_LINES; i++)
        to->line[to->lines++] = (line){c->algorithm, by[i]};
    return s;
}

static ss_status find_lines(ss_pricer *w, const ss_collective *c, const ss_party *p,
                            const ss_lower_options *o, int64_t bytes, table *to, ss_error *err)
{
    ss_status s = SS_OK;
    to->lines = 0;
    to->of.bytes = bytes;
    for (uint32_t a = 0; a < SS_ALGORITHMS && !s; a++) {
        ss_collective x = *c;
        x.algorithm = (ss_algorithm)a;
        x.bytes = bytes;
        if (ss_collective_is_considered(&x))
            s = add_lines(w, &x, p, o, to, err);
    }
    to->lines = s ? 0 : to->lines;
    return s;
}

static ss_price share_of(ss_price p, double share)
{
    return (ss_price){p.latency_s, share * p.transfer_s};
}

/* One task takes the form, if that is more than the price. */
static ss_price price_of(const line *l, double share)
{
    ss_price price = share_of(l->of.price, share), form = share_of(l->of.form, share);
    return ss_price_seconds(form) > ss_price_seconds(price) ? form : price;
}

static void take_least(const table *t, ss_collective *c, ss_price *out)
{
    double share = (double)c->bytes / (double)t->of.bytes, least = INFINITY;
    for (uint32_t i = 0; i < t->lines; i++) {
        const line *l = &t->line[i];
        ss_price price = price_of(l, share);
        if (!(ss_price_seconds(price) < least) || (i && l->of.chunks > c->bytes))
            continue;
        least = ss_price_seconds(price);
        *out = price;
        c->algorithm = l->algorithm;
        c->chunks = l->of.chunks;
    }
}

ss_status ss_choose_collective(ss_pricer *w, ss_collective *c, const ss_party *p,
                               const ss_lower_options *o, ss_price *out, ss_error *err)
{
    table now;
    *out = (ss_price){0, 0};
    ss_status s = find_lines(w, c, p, o, c->bytes > 0 ? c->bytes : 1, &now, err);
    if (!s)
        take_least(&now, c, out);
    return s;
}

/* ---- one of many ------------------------------------------------------------------------- */

/* Whether times are straight lines in bytes.  A collective that is one task is not cut. */
static bool is_straight(const ss_topology *t, const ss_lower_options *o)
{
    return (!t->laws || o->ideal_links) && (o->segment_bytes <= 0 || o->aggregate);
}

static question question_of(const ss_collective *c, const ss_party *p, const ss_lower_options *o)
{
    bool cut = o->segment_bytes > 0 && !o->aggregate;
    return (question){.operation = c->operation,
                      .members = c->members,
                      .chunks = c->chunks,
                      .by_machine = c->machine != NULL,
                      .bytes = is_straight(p->topology, o) ? many_bytes : c->bytes,
                      .links = o->aggregate ? SS_LINKS_SHARED : o->links,
                      .as_one_task = o->aggregate,
                      .ideal_links = o->ideal_links,
                      .flow_limit = o->flow_limit,
                      .segment_bytes = cut ? o->segment_bytes : 0,
                      .max_segments = cut ? o->max_segments : 0};
}

static bool is_same(const question *a, const question *b)
{
    return a->operation == b->operation && a->members == b->members && a->chunks == b->chunks &&
           a->by_machine == b->by_machine && a->bytes == b->bytes && a->links == b->links &&
           a->ideal_links == b->ideal_links && a->as_one_task == b->as_one_task &&
           a->flow_limit == b->flow_limit && a->segment_bytes == b->segment_bytes &&
           a->max_segments == b->max_segments;
}

static uint64_t hash_of(const question *q, const ss_party *p)
{
    uint64_t h = ss_hash_u64(SS_HASH_START, (uint64_t)q->bytes);
    for (uint32_t i = 0; i < q->members; i++)
        h = ss_hash_u64(h, p->device[i].i);
    return h;
}

static bool is_of(const table *t, const question *q, const ss_collective *c, const ss_party *p)
{
    size_t n = c->members;
    return t->lines && is_same(&t->of, q) && !memcmp(t->device, p->device, n * sizeof *t->device) &&
           (!c->machine || !memcmp(t->machine, c->machine, n * sizeof *t->machine));
}

static ss_status keep_members(table *t, const ss_collective *c, const ss_party *p, ss_error *err)
{
    t->lines = 0;
    if (c->members > t->member_cap) {
        uint32_t cap = ss_grown(t->member_cap, c->members);
        ss_status s = SS_REGROW(t->device, cap, "members of a collective", err);
        if (!s)
            s = SS_REGROW(t->machine, cap, "members of a collective", err);
        if (s)
            return s;
        t->member_cap = cap;
    }
    memcpy(t->device, p->device, c->members * sizeof *t->device);
    if (c->machine)
        memcpy(t->machine, c->machine, c->members * sizeof *t->machine);
    return SS_OK;
}

static void drop(void *what)
{
    choices *k = what;
    ss_pricer_free(k->pricer);
    for (uint32_t i = 0; i < MOST_KEPT; i++)
        if (k->kept[i]) {
            ss_free(k->kept[i]->device);
            ss_free(k->kept[i]->machine);
            ss_free(k->kept[i]);
        }
    ss_free(k);
}

static ss_status choices_of(ss_routes *r, choices **out, ss_error *err)
{
    ss_routes_kept *kept = ss_routes_keep(r);
    if (!kept->what) {
        choices *made = ss_alloc_zeroed(1, sizeof *made);
        if (!made)
            return ss_fail_memory(err, "choices of collectives", sizeof *made);
        *kept = (ss_routes_kept){made, drop};
    }
    *out = kept->what;
    return SS_OK;
}

static ss_status table_of(choices *k, uint64_t hash, table **out, ss_error *err)
{
    table **at = &k->kept[hash % MOST_KEPT];
    if (!*at && !(*at = ss_alloc_zeroed(1, sizeof **at)))
        return ss_fail_memory(err, "choices of collectives", sizeof **at);
    *out = *at;
    return SS_OK;
}

static ss_status fill(choices *k, table *t, const question *q, const ss_collective *c,
                      const ss_party *p, const ss_lower_options *o, ss_error *err)
{
    ss_status s = keep_members(t, c, p, err);
    if (!s && !k->pricer)
        s = ss_pricer_new(&k->pricer, err);
    t->of = *q;
    return s ? s : find_lines(k->pricer, c, p, o, q->bytes, t, err);
}

ss_status ss_choose_collective_again(ss_collective *c, const ss_party *p, const ss_lower_options *o,
                                     ss_error *err)
{
    choices *k = NULL;
    table *t = NULL;
    ss_price price;
    question q = question_of(c, p, o);
    ss_status s = choices_of(p->routes, &k, err);
    if (!s)
        s = table_of(k, hash_of(&q, p), &t, err);
    if (!s && !is_of(t, &q, c, p))
        s = fill(k, t, &q, c, p, o, err);
    if (!s)
        take_least(t, c, &price);
    return s;
}
