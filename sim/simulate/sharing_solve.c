/* sharing_solve.c - the rates after a change, found again only where they can be others.
 *
 * Progressive filling reaches its levels (rate by weight) in growing order, so all that it has done
 * below the level at which a change is first felt stays as it is.  That level is
 *   where flows leave a class: the level that held the class back;
 *   where flows of weight m come to a full lane: not below level * w / (w + m), w being the weight of
 *     the flows that it holds back (a flow that something lower holds back takes its level or more
 *     from the lane, so it can be left out of the sum on both sides);
 *   where a lane has another capacity: its level, or its new capacity by the weight of all its flows.
 * Levels are rounded here, so the sum is taken a little low, which only means more work.
 *
 * Above it, full lanes are filled again as far as the change reaches (sharing_fill.c).  A lane that was not
 * full passes nothing on as long as it does not fill up: its sum is minded, and if it comes within a
 * unit a flow of the capacity, what was found is right but for that lane, which is then the next change,
 * first felt where the lane fills up.  (With more than a unit a flow to spare it can never be the next to
 * be full: each flow on it has its level or less than a unit below.)
 */
#include <assert.h>
#include <math.h>

#include "simulate/sharing_inside.h"

static const double rounded_low = 1 - 1e-9;

static bool is_full(const ss_lane *l)
{
    return l->level < INFINITY;
}

/* ---- where the change is first felt ------------------------------------------------------ */

static void count_more(ss_sharing *s, uint32_t class)
{
    const ss_flow_class *c = &s->class[class];
    for (uint32_t k = c->first; k < c->last; k++) {
        ss_lane_more *m = &s->more[s->of_class[k]];
        if (m->counted != s->settles) {
            m->counted = s->settles;
            m->came = 0;
        }
        m->came += (uint64_t)(c->count - c->counted) * c->weight;
    }
}

static double felt_on_lane(const ss_sharing *s, uint32_t lane)
{
    const ss_lane *l = &s->lane[lane];
    const ss_lane_more *m = &s->more[lane];
    if (is_full(l))
        return (l->level * (double)m->fill_open - (double)m->weight) /
               (double)(m->fill_open + m->came);
    if (l->marked && m->counted == s->settles)
        return ((double)(l->capacity - l->used) - (double)m->weight) / (double)m->came;
    return INFINITY;
}

static double felt_by_class(const ss_sharing *s, const ss_flow_class *c)
{
    double level = INFINITY;
    for (uint32_t k = c->first; k < c->last; k++) {
        uint32_t lane = s->of_class[k];
        double on_lane = ss_lane_is_cap(s, lane) ? (double)s->lane[lane].capacity / c->weight
                                                 : felt_on_lane(s, lane);
        level = fmin(level, on_lane);
    }
    return level;
}

static double first_felt(const ss_sharing *s)
{
    double level = s->felt;
    for (uint32_t i = 0; i < s->dirties; i++) {
        const ss_flow_class *c = &s->class[s->dirty[i]];
        if (c->count != c->counted)
            level = fmin(level, felt_by_class(s, c));
    }
    for (uint32_t i = 0; i < s->resets; i++) {
        const ss_lane *l = &s->lane[s->reset[i]];
        const ss_lane_more *m = &s->more[s->reset[i]];
        if (m->weight)
            level = fmin(level, fmin(l->level, (double)l->capacity / (double)m->weight));
    }
    return level * rounded_low;
}

/* Where a lane fills up that was not among those that were filled: that is a little below or at the
 * fixpoint of this, which is reached from below. */
static double level_of_overfull(const ss_sharing *s, uint32_t lane)
{
    enum { ROUNDS = 8 };
    const ss_lane *l = &s->lane[lane];
    double level = (double)l->capacity / (double)s->more[lane].weight;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t left = l->capacity;
        uint64_t open = 0;
        for (const ss_on_lane *on = s->row + l->first, *end = on + l->n; on < end; on++) {
            const ss_flow_class *c = &s->class[on->class];
            bool below = c->level < level * rounded_low;
            left -= below ? c->sum : 0;
            open += below ? 0 : c->open;
        }
        double next = (double)left / (double)open;
        if (!open || !(next > level))
            break;
        level = next;
    }
    return level * rounded_low;
}

/* ---- what wakes -------------------------------------------------------------------------- */

static void force(ss_sharing *s, uint32_t lane)
{
    if (s->lane[lane].marked)
        return;
    assert(!s->more[lane].forced); /* there is room for each lane once */
    ss_lane_mark(s, lane, true);
    s->more[lane].forced = true;
    s->forced[s->forceds++] = lane;
}

/* A class that comes to lanes of which none is full would meet nothing that holds it back; and one
 * that gets more than is left of a lane fills it. */
static void force_lanes(ss_sharing *s, const ss_flow_class *c)
{
    double level = felt_by_class(s, c);
    for (uint32_t k = c->first; k < c->last; k++) {
        const ss_lane *l = &s->lane[s->of_class[k]];
        if ((double)(l->capacity - l->used) <= level * (double)s->more[s->of_class[k]].came)
            force(s, s->of_class[k]);
    }
}

/* ---- what comes of it ---------------------------------------------------------------------- */

/* A lane whose flows others hold back is full all the same if it has no more than a unit a flow to
 * spare, at the highest of their levels. */
static void set_level_of_brimful(ss_sharing *s, uint32_t lane)
{
    ss_lane *l = &s->lane[lane];
    double level = -1;
    for (uint32_t k = l->first; k < l->first + l->n; k++) {
        const ss_flow_class *c = &s->class[s->row[k].class];
        if (!c->count || c->level <= level)
            continue;
        level = c->level;
        s->more[lane].fill_open = c->open;
    }
    l->level = level;
}

/* After the classes have their levels: which lanes are full, and marked from now on.  Those that were forced
 * stay marked while the settle goes on: one that did not fill up may when others are solved anew. */
static void mark_lanes(ss_sharing *s)
{
    for (uint32_t i = 0; i < s->solve_lanes; i++) {
        uint32_t lane = s->solve_lane[i];
        ss_lane *l = &s->lane[lane];
        int64_t weight = (int64_t)s->more[lane].weight;
        if (!is_full(l) && weight && l->capacity - l->used <= weight)
            set_level_of_brimful(s, lane);
        if (!is_full(l) && !s->more[lane].forced)
            ss_lane_mark(s, lane, false);
    }
}

/* Those that were only minded and could be full are looked into from now on: forced[return] and
 * after. */
static uint32_t force_overfull(ss_sharing *s)
{
    uint32_t first = s->forceds;
    for (uint32_t i = 0; i < s->watches; i++) {
        bool far = s->lane[s->watch[i]].limit == INT64_MAX;
        ss_lane_mark(s, s->watch[i], false); /* its limit again */
        if (far || s->lane[s->watch[i]].used > s->lane[s->watch[i]].limit)
            force(s, s->watch[i]);
    }
    s->watches = 0;
    return first;
}

/* What was forced and did not fill up. */
static void release_forced(ss_sharing *s)
{
    for (uint32_t i = 0; i < s->forceds; i++) {
        uint32_t lane = s->forced[i];
        s->more[lane].forced = false;
        if (!is_full(&s->lane[lane]))
            ss_lane_mark(s, lane, false);
    }
    s->forceds = 0;
}

static void set_ends(ss_sharing *s)
{
    for (uint32_t i = 0; i < s->changeds; i++) {
        uint32_t class = s->changed[i];
        s->class[class].changed = false;
        if (!s->class[class].dirty)
            ss_class_set_end_for_rate(s, class, s->now + 1);
    }
    s->changeds = 0;
}

static void clean(ss_sharing *s, ss_time now)
{
    for (uint32_t i = 0; i < s->dirties; i++) {
        uint32_t class = s->dirty[i];
        s->class[class].dirty = s->class[class].moved = false;
        if (!s->class[class].count) {
            ss_class_leave(s, class);
            continue;
        }
        ss_class_serve(s, class, now);
        ss_class_set_end(s, class, now + 1);
    }
    s->dirties = s->resets = 0;
}

/* What is known before anything is solved: flows that left leave their rate, those that came will
 * want some.  false: as many went as came everywhere, and no link changed. */
static bool take_stock(ss_sharing *s)
{
    bool any = s->resets > 0;
    s->settles++;
    s->felt = INFINITY;
    for (uint32_t i = 0; i < s->dirties; i++) {
        ss_flow_class *c = &s->class[s->dirty[i]];
        c->moved = c->count != c->counted;
        any |= c->moved;
        if (c->count < c->counted) {
            int64_t sum = ss_class_sum(c->rate, c->count);
            for (uint32_t k = c->first; k < c->last; k++)
                ss_lane_use(&s->lane[s->of_class[k]], (uint64_t)sum - (uint64_t)c->sum);
            s->felt = fmin(s->felt, c->level);
            c->sum = sum;
            c->counted = c->count;
            if (!c->count)
                ss_class_set_level(s, s->dirty[i], -INFINITY); /* nothing is found for it */
        } else if (c->moved) {
            count_more(s, s->dirty[i]);
        }
    }
    for (uint32_t i = 0; i < s->resets; i++)
        force(s, s->reset[i]);
    for (uint32_t i = 0; i < s->dirties; i++) {
        const ss_flow_class *c = &s->class[s->dirty[i]];
        if (c->count > c->counted)
            force_lanes(s, c);
    }
    return any;
}

/* Lanes that changed, and those of classes whose flows came or went. */
static uint32_t first_seeds(ss_sharing *s)
{
    uint32_t n = 0;
    s->settles++; /* so that `counted` tells which are in the list */
    for (uint32_t i = 0; i < s->resets; i++) {
        s->more[s->reset[i]].counted = s->settles;
        s->seed[n++] = s->reset[i];
    }
    for (uint32_t i = 0; i < s->dirties; i++) {
        const ss_flow_class *c = &s->class[s->dirty[i]];
        for (uint32_t k = c->first; c->moved && k < c->last; k++) {
            uint32_t lane = s->of_class[k];
            if (!s->lane[lane].marked || s->more[lane].counted == s->settles)
                continue;
            s->more[lane].counted = s->settles;
            s->seed[n++] = lane;
        }
    }
    return n;
}

static void solve(ss_sharing *s)
{
    double felt = first_felt(s);
    if (!ss_sharing_refill(s, felt))
        ss_sharing_fill(s, felt, s->seed, first_seeds(s));
    for (;;) {
        mark_lanes(s);
        uint32_t from = force_overfull(s);
        if (from == s->forceds)
            break;
        felt = INFINITY;
        for (uint32_t i = from; i < s->forceds; i++)
            felt = fmin(felt, level_of_overfull(s, s->forced[i]));
        if (!ss_sharing_refill(s, felt))
            ss_sharing_fill(s, felt, s->forced + from, s->forceds - from);
    }
    release_forced(s);
    set_ends(s);
}

void ss_sharing_settle(ss_sharing *s, ss_time now)
{
    s->now = now;
    s->next = 0;
    if (take_stock(s))
        solve(s);
    clean(s, now);
}
