/* collective_hierarchical.c - rings in machines, and across them. */
#include "base/mem.h"
#include "graph/collective_parts.h"

/* Machines in the order of their first members, and members of each in theirs. */
typedef struct levels {
    uint32_t n, machines, least, most; /* members of the smallest machine, and of the largest */
    uint32_t *member;                  /* by machine, then place */
    uint32_t *first;                   /* [machines + 1] */
    uint32_t *group;                   /* of a member */
} levels;

static ss_status find_levels(const ss_collective *c, levels *l, ss_error *err)
{
    uint32_t n = c->members;
    *l = (levels){.n = n, .least = UINT32_MAX};
    l->member = ss_alloc_zeroed((size_t)n + 1, 3 * sizeof *l->member);
    if (!l->member)
        return ss_fail_memory(err, "machines of a collective", n * 3 * sizeof *l->member);
    l->first = l->member + n;
    l->group = l->member + 2 * (size_t)n + 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t mate = c->machine ? ss_mate_before(c->machine, i) : i;
        l->group[i] = mate == i ? l->machines++ : l->group[mate];
        l->first[l->group[i] + 1]++;
    }
    for (uint32_t g = 0; g < l->machines; g++) {
        uint32_t size = l->first[g + 1];
        l->least = size < l->least ? size : l->least;
        l->most = size > l->most ? size : l->most;
        l->first[g + 1] += l->first[g];
    }
    for (uint32_t i = 0; i < n; i++)
        l->member[l->first[l->group[i]]++] = i;
    for (uint32_t g = l->machines; g > 0; g--)
        l->first[g] = l->first[g - 1];
    l->first[0] = 0;
    return SS_OK;
}

static uint32_t member_at(const levels *l, uint32_t machine, uint32_t place)
{
    return l->member[l->first[machine] + place];
}

/* Members beyond the smallest machine's number give all they have to one that has a place, as many at a
 * time as there are places; or hear the result from it. */
static void fold(ss_rounds *r, const levels *l, ss_share all, bool back)
{
    uint32_t rounds = (l->most - 1) / l->least;
    for (uint32_t q = 1; q <= rounds; q++) {
        uint32_t lo = (back ? rounds + 1 - q : q) * l->least;
        for (uint32_t g = 0; g < l->machines; g++)
            for (uint32_t k = lo; k < lo + l->least && k < l->first[g + 1] - l->first[g]; k++) {
                uint32_t extra = member_at(l, g, k), place = member_at(l, g, k - lo);
                ss_rounds_send(r, back ? place : extra, back ? extra : place, all, !back);
            }
        ss_rounds_next(r);
    }
}

static void ring_inside(ss_rounds *r, const levels *l, ss_share all, bool gathers)
{
    for (uint32_t t = 0; t + 1 < l->least; t++) {
        for (uint32_t g = 0; g < l->machines; g++)
            for (uint32_t k = 0; k < l->least; k++) {
                uint32_t share = (k + 2 * l->least - t - !gathers) % l->least;
                ss_rounds_send(r, member_at(l, g, k), member_at(l, g, (k + 1) % l->least),
                               ss_share_of(all, l->least, share), !gathers);
            }
        ss_rounds_next(r);
    }
}

/* Members at the same place of all machines, for the share of that place. */
static void ring_across(ss_rounds *r, const levels *l, ss_share all)
{
    uint32_t m = l->machines;
    for (uint32_t t = 0; t < 2 * (m - 1); t++) {
        bool gathers = t >= m - 1;
        for (uint32_t g = 0; g < m; g++) {
            uint32_t piece = (g + gathers + m - (gathers ? t - (m - 1) : t)) % m;
            for (uint32_t k = 0; k < l->least; k++)
                ss_rounds_send(r, member_at(l, g, k), member_at(l, (g + 1) % m, k),
                               ss_share_of(ss_share_of(all, l->least, k), m, piece), !gathers);
        }
        ss_rounds_next(r);
    }
}

ss_status ss_make_hierarchical(const ss_collective *c, ss_messages *out, ss_error *err)
{
    levels l;
    ss_status s = find_levels(c, &l, err);
    if (s)
        return s;
    uint64_t places = (uint64_t)l.least * l.machines;
    uint64_t messages =
        2 * (l.n - places) + 2 * places * (l.least - 1) + 2 * places * (l.machines - 1);
    ss_rounds r = {0};
    s = ss_messages_start(out, l.n, c->bytes, messages, 3 * messages, err);
    if (!s)
        s = ss_rounds_start(&r, out, l.n, err);
    if (!s) {
        ss_share all = {0, c->bytes};
        fold(&r, &l, all, false);
        ring_inside(&r, &l, all, false);
        ring_across(&r, &l, all);
        ss_rounds_mark_last(&r);
        ring_inside(&r, &l, all, true);
        ss_rounds_mark_last(&r);
        fold(&r, &l, all, true);
        ss_rounds_mark_last(&r);
    }
    ss_rounds_free(&r);
    ss_free(l.member);
    return s;
}

static void add_steps(ss_steps *x, const levels *l, ss_share all)
{
    ss_messages *m = &x->list;
    uint32_t places = l->least, machines = l->machines, rounds = (l->most - 1) / places;
    for (uint32_t back = 0; back < 2; back++)
        for (uint32_t q = 1; q <= rounds; q++) {
            for (uint32_t g = 0; g < machines; g++)
                for (uint32_t k = q * places;
                     k < (q + 1) * places && k < l->first[g + 1] - l->first[g]; k++) {
                    uint32_t extra = member_at(l, g, k), place = member_at(l, g, k - q * places);
                    ss_messages_add(m, back ? place : extra, back ? extra : place, 0, all.bytes,
                                    !back);
                }
            ss_steps_end(x, 1);
        }
    ss_share share = ss_share_of(all, places, 0), piece = ss_share_of(share, machines, 0);
    for (uint32_t g = 0; g < machines && places > 1; g++)
        for (uint32_t k = 0; k < places; k++)
            ss_messages_add(m, member_at(l, g, k), member_at(l, g, (k + 1) % places), 0,
                            share.bytes, true);
    ss_steps_end(x, 2.0 * (places - 1));
    for (uint32_t g = 0; g < machines && machines > 1; g++)
        for (uint32_t k = 0; k < places; k++)
            ss_messages_add(m, member_at(l, g, k), member_at(l, (g + 1) % machines, k), 0,
                            piece.bytes, true);
    ss_steps_end(x, 2.0 * (machines - 1));
}

ss_status ss_steps_of_hierarchical(const ss_collective *c, ss_steps *out, ss_error *err)
{
    levels l;
    ss_status s = find_levels(c, &l, err);
    if (s)
        return s;
    uint32_t messages = 4 * l.n, rounds = (l.most - 1) / l.least;
    s = ss_messages_start(&out->list, l.n, c->bytes, messages, 0, err);
    if (!s)
        s = ss_steps_reserve(out, 2 * rounds + 2, messages, err);
    if (!s)
        add_steps(out, &l, (ss_share){0, c->bytes});
    ss_free(l.member);
    return s;
}

double ss_form_hierarchical(const ss_collective *c, ss_wire inside, ss_wire across)
{
    levels l;
    ss_error err;
    if (find_levels(c, &l, &err))
        return 0;
    double share = ss_largest_share(c->bytes, l.least), all = (double)c->bytes;
    double piece = ss_largest_share((int64_t)share, l.machines);
    double extra = (l.most - 1) / l.least, rounds = l.least - 1, others = l.machines - 1;
    double seconds = 0;
    if (extra > 0)
        seconds += 2 * extra * (inside.latency_s + all / inside.bytes_per_s);
    if (rounds > 0)
        seconds += 2 * rounds * (inside.latency_s + share / inside.bytes_per_s);
    if (others > 0)
        seconds += 2 * others * (across.latency_s + piece / across.bytes_per_s);
    ss_free(l.member);
    return seconds;
}
