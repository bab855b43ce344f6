#include "graph/collective_choose.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"

enum { MOST_LINES = 40, MOST_KEPT = 64 };

/* Of so many bytes lines are found that are straight: shares and chunks are even, near enough. */
static const int64_t many_bytes = (int64_t)1 << 40;

/* Of one algorithm and number of chunks. */
typedef struct line {
    ss_algorithm algorithm;
    ss_priced of; /* the table's bytes */
} line;

typedef struct table {
    line line[MOST_LINES];
    uint32_t lines; /* 0: not known */
    int64_t bytes;
    /* Whose; [members], kept from one to the next. */
    ss_device *device;
    uint32_t *machine;
    uint32_t members, member_cap, chunks; /* chunks: as they were asked for */
    ss_operation operation;
} table;

struct ss_choices {
    table kept[MOST_KEPT]; /* by hash of the members, of straight lines */
};

ss_status ss_choices_new(ss_choices **out, ss_error *err)
{
    *out = ss_alloc_zeroed(1, sizeof **out);
    return *out ? SS_OK : ss_fail_memory(err, "choices of collectives", sizeof **out);
}

void ss_choices_free(ss_choices *k)
{
    for (uint32_t i = 0; k && i < MOST_KEPT; i++) {
        ss_free(k->kept[i].device);
        ss_free(k->kept[i].machine);
    }
    ss_free(k);
}

void ss_choices_forget(ss_choices *k)
{
    for (uint32_t i = 0; k && i < MOST_KEPT; i++)
        k->kept[i].lines = 0;
}

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
    to->bytes = bytes;
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

static void take_least(const table *t, ss_collective *c, ss_price *out)
{
    double share = (double)c->bytes / (double)t->bytes, least = INFINITY;
    for (uint32_t i = 0; i < t->lines; i++) {
        const line *l = &t->line[i];
        ss_price price = {l->of.price.latency_s, share * l->of.price.transfer_s};
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

/* Whether times are straight lines in bytes. */
static bool is_straight(const ss_topology *t, const ss_lower_options *o)
{
    return (!t->laws || o->ideal_links) && o->segment_bytes <= 0;
}

static uint64_t hash_of(const ss_collective *c, const ss_party *p)
{
    uint64_t h = ss_hash_u64(SS_HASH_START, c->members);
    for (uint32_t i = 0; i < c->members; i++)
        h = ss_hash_u64(h, p->device[i].i);
    return h;
}

static bool is_of(const table *t, const ss_collective *c, const ss_party *p)
{
    bool same = t->lines && t->members == c->members && t->chunks == c->chunks &&
                t->operation == c->operation && !c->machine == !t->machine[c->members];
    for (uint32_t i = 0; i < c->members && same; i++)
        same = t->device[i].i == p->device[i].i && (!c->machine || t->machine[i] == c->machine[i]);
    return same;
}

static ss_status keep_members(table *t, const ss_collective *c, const ss_party *p, ss_error *err)
{
    size_t n = (size_t)c->members + 1;
    t->lines = 0;
    if (n > t->member_cap) {
        uint32_t cap = ss_grown(t->member_cap, n);
        ss_status s = SS_REGROW(t->device, cap, "members of a collective", err);
        if (!s)
            s = SS_REGROW(t->machine, cap, "members of a collective", err);
        if (s)
            return s;
        t->member_cap = cap;
    }
    t->members = c->members;
    t->chunks = c->chunks;
    t->operation = c->operation;
    memcpy(t->device, p->device, c->members * sizeof *t->device);
    if (c->machine)
        memcpy(t->machine, c->machine, c->members * sizeof *t->machine);
    t->machine[c->members] = c->machine != NULL;
    return SS_OK;
}

ss_status ss_choose_collective_again(ss_choices *k, ss_pricer *w, ss_collective *c,
                                     const ss_party *p, const ss_lower_options *o, ss_error *err)
{
    ss_price price;
    if (!is_straight(p->topology, o))
        return ss_choose_collective(w, c, p, o, &price, err);
    table *t = &k->kept[hash_of(c, p) % MOST_KEPT];
    ss_status s = SS_OK;
    if (!is_of(t, c, p)) {
        s = keep_members(t, c, p, err);
        if (!s)
            s = find_lines(w, c, p, o, many_bytes, t, err);
    }
    if (!s)
        take_least(t, c, &price);
    return s;
}
