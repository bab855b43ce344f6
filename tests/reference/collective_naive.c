#include "reference/collective_naive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct play {
    const ss_collective *c;
    const ss_messages *m;
    uint32_t vertices, pieces;
    int64_t *cut; /* [pieces + 1] */
    uint8_t
        *holds;    /* [vertices][pieces][members]: at a vertex, in a piece, how often of a member */
    uint8_t *gets; /* the same of an all-to-all: what was received, in a place of its own */
    uint8_t **carries; /* by message: what was read when it was sent */
    bool *sent, *arrived;
    bool *ready; /* of a member: its own data is there */
    char *why;
} play;

static uint8_t *at(const play *p, uint8_t *of, uint32_t vertex, uint32_t piece)
{
    return of + ((size_t)vertex * p->pieces + piece) * p->c->members;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void share(const play *p, uint32_t k, int64_t *lo, int64_t *hi)
{
    int64_t n = p->c->members, each = p->c->bytes / n, more = p->c->bytes % n;
    *lo = k * each + (k < more ? k : more);
    *hi = *lo + each + (k < more);
}

static bool in_share(const play *p, uint32_t k, uint32_t piece)
{
    int64_t lo, hi;
    share(p, k, &lo, &hi);
    return p->cut[piece] >= lo && p->cut[piece] < hi;
}

static void cut(play *p)
{
    uint32_t n = 0;
    int64_t *x = calloc(2 * (p->m->n + (size_t)p->c->members) + 2, sizeof *x);
    x[n++] = 0;
    x[n++] = p->c->bytes;
    for (uint32_t i = 1; i <= p->m->n; i++) {
        x[n++] = p->m->row[i].offset;
        x[n++] = p->m->row[i].offset + p->m->row[i].bytes;
    }
    for (uint32_t k = 0; k < p->c->members; k++) {
        int64_t hi;
        share(p, k, &x[n++], &hi);
    }
    qsort(x, n, sizeof *x, by_value);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!kept || x[kept - 1] != x[i])
            x[kept++] = x[i];
    p->cut = x;
    p->pieces = kept - 1;
}

/* Who has what at the beginning. */
static bool begins_with(const play *p, uint32_t member, uint32_t piece)
{
    switch (p->c->operation) {
    case SS_ALL_GATHER:
        return in_share(p, member, piece);
    case SS_BROADCAST:
    case SS_P2P:
        return member == 0;
    default:
        return true;
    }
}

static bool fits(const play *p)
{
    for (uint32_t i = 1; i <= p->m->n; i++) {
        const ss_message *x = &p->m->row[i];
        bool switches = p->c->algorithm == SS_IN_NETWORK;
        if (x->from == x->to || (!switches && (x->from >= p->c->members || x->to >= p->c->members)))
            return snprintf(p->why, 200, "message %u from %u to %u", i, x->from, x->to), false;
        if (x->bytes < 0 || x->offset < 0 || x->offset + x->bytes > p->c->bytes)
            return snprintf(p->why, 200, "message %u has bytes %lld from %lld", i,
                            (long long)x->bytes, (long long)x->offset),
                   false;
        for (uint32_t a = 0; a < x->afters; a++)
            if (p->m->after[x->first_after + a] >= i || !p->m->after[x->first_after + a])
                return snprintf(p->why, 200, "message %u waits for %u", i,
                                p->m->after[x->first_after + a]),
                       false;
    }
    return true;
}

static bool may_go(const play *p, uint32_t i)
{
    const ss_message *x = &p->m->row[i];
    for (uint32_t a = 0; a < x->afters; a++)
        if (!p->arrived[p->m->after[x->first_after + a]])
            return false;
    return !x->own || x->from >= p->c->members || p->ready[x->from];
}

/* A message that is sent before its sender's own data is there, because nothing says that it must wait,
 * finds nothing of it: members begin empty and get theirs at a time of their own. */
static void get_ready(play *p, uint32_t member)
{
    p->ready[member] = true;
    for (uint32_t k = 0; k < p->pieces; k++)
        if (begins_with(p, member, k))
            at(p, p->holds, member, k)[member]++;
}

static void carry(play *p, uint32_t i)
{
    const ss_message *x = &p->m->row[i];
    uint32_t n = p->c->members;
    if (!p->sent[i])
        p->carries[i] = calloc((size_t)p->pieces * n + 1, 1);
    for (uint32_t k = 0; k < p->pieces; k++) {
        if (p->cut[k] < x->offset || p->cut[k] >= x->offset + x->bytes)
            continue;
        uint8_t *cargo = p->carries[i] + (size_t)k * n;
        bool exchange = p->c->operation == SS_ALL_TO_ALL;
        uint8_t *there = at(p, exchange ? p->gets : p->holds, x->to, k);
        if (!p->sent[i])
            memcpy(cargo, at(p, p->holds, x->from, k), n);
        else if (exchange) /* pieces stay told apart by where they began: of `from`, for `to` */
            for (uint32_t q = 0; q < n; q++)
                at(p, p->gets, x->to, k)[q] = (uint8_t)(at(p, p->gets, x->to, k)[q] + cargo[q]);
        else if (x->adds)
            for (uint32_t q = 0; q < n; q++)
                there[q] = (uint8_t)(there[q] + cargo[q]);
        else
            memcpy(there, cargo, n);
    }
    p->arrived[i] = p->sent[i];
    p->sent[i] = true;
}

/* What is wanted of a piece at a member: of whom it is the sum.  -1: nothing is promised. */
static int wanted(const play *p, uint32_t member, uint32_t piece, uint32_t of)
{
    switch (p->c->operation) {
    case SS_ALL_REDUCE:
        return 1;
    case SS_ALL_GATHER:
        return in_share(p, of, piece);
    case SS_REDUCE_SCATTER:
        return in_share(p, member, piece) ? 1 : -1;
    case SS_ALL_TO_ALL: /* from everyone else the share that is for this one */
        return of != member && in_share(p, member, piece);
    case SS_REDUCE:
        return member == 0 ? 1 : -1;
    default:
        return of == 0;
    }
}

static bool has_all(const play *p, uint32_t member)
{
    uint8_t *of = p->c->operation == SS_ALL_TO_ALL ? p->gets : p->holds;
    for (uint32_t k = 0; k < p->pieces; k++)
        for (uint32_t q = 0; q < p->c->members; q++) {
            int w = wanted(p, member, k, q);
            if (w >= 0 && at(p, of, member, k)[q] != w)
                return snprintf(p->why, 200,
                                "member %u has bytes %lld .. of member %u %u times, not %d", member,
                                (long long)p->cut[k], q, at(p, of, member, k)[q], w),
                       false;
        }
    return true;
}

/* Whether by what the list says a member is done. */
static bool is_done(const play *p, uint32_t member)
{
    if (!p->ready[member])
        return false;
    for (uint32_t i = 1; i <= p->m->n; i++)
        if (p->m->row[i].to == member && p->m->row[i].last && !p->arrived[i])
            return false;
    return true;
}

static bool play_all(play *p, ss_rng *rng)
{
    uint32_t n = p->c->members;
    for (uint32_t left = 2 * p->m->n + n; left; left--) {
        uint32_t can = 0, taken = 0; /* messages by row, then members that get ready */
        for (uint32_t i = 1; i <= p->m->n; i++)
            if (!p->arrived[i] && (p->sent[i] || may_go(p, i)) && !ss_rng_below(rng, ++can))
                taken = i;
        for (uint32_t k = 0; k < n; k++)
            if (!p->ready[k] && !ss_rng_below(rng, ++can))
                taken = p->m->n + 1 + k;
        if (!taken)
            return snprintf(p->why, 200, "no message may go, and %u are left", left), false;
        if (taken > p->m->n)
            get_ready(p, taken - p->m->n - 1);
        else
            carry(p, taken);
        for (uint32_t k = 0; k < n; k++)
            if (is_done(p, k) && !has_all(p, k))
                return false;
    }
    return true;
}

bool collective_naive_check(const ss_collective *c, const ss_messages *m, ss_rng *rng, char *why)
{
    uint32_t vertices = c->algorithm == SS_IN_NETWORK ? c->tree->n : c->members;
    play p = {.c = c, .m = m, .vertices = vertices, .why = why};
    if (!fits(&p))
        return false;
    cut(&p);
    p.holds = calloc((size_t)vertices * p.pieces * c->members + 1, 1);
    p.gets = calloc((size_t)vertices * p.pieces * c->members + 1, 1);
    p.carries = calloc(m->n + (size_t)1, sizeof *p.carries);
    p.sent = calloc(m->n + (size_t)1, 1);
    p.arrived = calloc(m->n + (size_t)1, 1);
    p.ready = calloc(c->members, 1);
    bool right = play_all(&p, rng);
    for (uint32_t k = 0; k < c->members && right; k++)
        right = has_all(&p, k);
    for (uint32_t i = 0; i <= m->n; i++)
        free(p.carries[i]);
    free(p.carries);
    free(p.holds);
    free(p.gets);
    free(p.cut);
    free(p.sent);
    free(p.arrived);
    free(p.ready);
    return right;
}
