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
 * Above it, only classes that are connected with the change by lanes can have other rates: they
 * and their full lanes are filled again.  A lane that was not full connects nothing as long as it does
 * not fill up: its sum is minded, and if it comes within a unit a flow of the capacity the solve is done
 * again with that lane in it.  (With more than a unit a flow to spare it can never be the next to be
 * full: each flow on it has its level or less than a unit below.)
 */
#include <math.h>

#include "simulate/sharing_inside.h"

static const double rounded_low = 1 - 1e-9;

#if defined(__GNUC__)
static inline uint32_t first_bit(uint64_t bits)
{
    return (uint32_t)__builtin_ctzll(bits);
}
#else
static inline uint32_t first_bit(uint64_t bits)
{
    uint32_t n = 0;
    while (!(bits >> n & 1))
        n++;
    return n;
}
#endif

static bool is_full(const ss_lane *l)
{
    return l->level < INFINITY;
}

static bool is_cap(const ss_sharing *s, uint32_t lane)
{
    return lane > s->links;
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
    if (is_cap(s, lane))
        return l->level;
    if (is_full(l))
        return (l->level * m->level_weight - (double)m->weight) /
               (m->level_weight + (double)m->came);
    if (l->marked && m->counted == s->settles)
        return ((double)(l->capacity - l->used) - (double)m->weight) / (double)m->came;
    return INFINITY;
}

static double felt_by_class(const ss_sharing *s, const ss_flow_class *c)
{
    double level = INFINITY;
    for (uint32_t k = c->first; k < c->last; k++)
        level = fmin(level, felt_on_lane(s, s->of_class[k]));
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
    for (uint32_t i = 0; i < s->changeds; i++) {
        const ss_lane *l = &s->lane[s->changed[i]];
        const ss_lane_more *m = &s->more[s->changed[i]];
        if (m->weight)
            level = fmin(level, fmin(l->level, (double)l->capacity / (double)m->weight));
    }
    return level * rounded_low;
}

/* ---- what is filled again ------------------------------------------------------------------ */

/* These loops have no branches where none can be foreseen: an entry is written in any case, and
 * counted if it is wanted. */

enum { BITS = 64 };

static bool is_long(const ss_flow_class *c)
{
    return c->last - c->first > BITS;
}

static uint32_t look_into_long(const ss_sharing *s, const ss_flow_class *c, uint32_t n)
{
    for (uint32_t k = c->first; k < c->last; k++) {
        ss_lane *l = &s->lane[s->of_class[k]];
        if (!l->marked || l->stamp == s->epoch)
            continue;
        l->stamp = s->epoch;
        s->solve_lane[n++] = s->of_class[k];
    }
    return n;
}

static uint32_t look_into_lanes(const ss_sharing *s, const ss_flow_class *c, uint32_t n)
{
    ss_lane *lanes = s->lane;
    const uint32_t *of = s->of_class + c->first;
    uint32_t *list = s->solve_lane, epoch = s->epoch;
    if (is_long(c))
        return look_into_long(s, c, n);
    for (uint64_t bits = c->marked; bits; bits &= bits - 1) {
        uint32_t lane = of[first_bit(bits)];
        list[n] = lane;
        n += lanes[lane].stamp != epoch;
        lanes[lane].stamp = epoch;
    }
    return n;
}

/* What is left of a lane for those without a rate, who are taken in. */
static uint32_t open_lane(const ss_sharing *s, uint32_t lane, double felt, uint32_t n)
{
    ss_lane *l = &s->lane[lane];
    const ss_lane_more *m = &s->more[lane];
    ss_flow_class *classes = s->class;
    uint32_t *list = s->solve_class, epoch = s->epoch;
    uint64_t left = (uint64_t)(l->capacity - l->used), open = 0;
    for (const ss_on_lane *on = s->row + m->first, *end = on + m->n; on < end; on++) {
        ss_flow_class *c = &classes[on->class];
        bool in = c->level >= felt;
        uint64_t all = -(uint64_t)in; /* every bit, or none */
        left += (uint64_t)(c->rate * (int64_t)c->counted) & all;
        open += ((uint64_t)c->count * c->weight) & all;
        list[n] = on->class;
        n += in & (c->stamp != epoch);
        c->stamp += (epoch - c->stamp) & (uint32_t)all;
    }
    l->left = (int64_t)left;
    l->open = open;
    if (is_cap(s, lane)) { /* of one flow */
        l->left = l->capacity;
        l->open = open ? classes[s->row[m->first].class].weight : 0;
    }
    return n;
}

static void take_in(ss_sharing *s, uint32_t class)
{
    ss_flow_class *c = &s->class[class];
    if (c->stamp == s->epoch)
        return;
    c->stamp = s->epoch;
    s->solve_class[s->solve_classes++] = class;
}

static void gather(ss_sharing *s, double felt)
{
    s->epoch += 2;
    s->solve_classes = s->solve_lanes = s->watches = 0;
    for (uint32_t i = 0; i < s->dirties; i++)
        if (s->class[s->dirty[i]].moved)
            take_in(s, s->dirty[i]);
    for (uint32_t i = 0; i < s->changeds; i++) {
        s->lane[s->changed[i]].stamp = s->epoch;
        s->solve_lane[s->solve_lanes++] = s->changed[i];
    }
    uint32_t lanes = s->solve_lanes, classes = s->solve_classes;
    for (uint32_t i = 0, k = 0; i < lanes || k < classes;) { /* both grow */
        for (; k < classes; k++)
            lanes = look_into_lanes(s, &s->class[s->solve_class[k]], lanes);
        for (; i < lanes; i++)
            classes = open_lane(s, s->solve_lane[i], felt, classes);
    }
    s->solve_lanes = lanes;
    s->solve_classes = classes;
}

static void force(ss_sharing *s, uint32_t lane)
{
    if (s->lane[lane].marked)
        return;
    ss_lane_mark(s, lane, true);
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

/* ---- filling ------------------------------------------------------------------------------- */

static bool fills_before(const ss_filling *a, const ss_filling *b)
{
    /* each key is within 3 * 2^-53 of what it stands for */
    if (a->key < b->key * (1 - 0x1p-50))
        return true;
    if (b->key < a->key * (1 - 0x1p-50))
        return false;
    ss_wide x = (ss_wide)(uint64_t)a->left * b->open, y = (ss_wide)(uint64_t)b->left * a->open;
    return x < y || (x == y && a->lane < b->lane);
}

static ss_filling filling_of(const ss_sharing *s, uint32_t lane)
{
    const ss_lane *l = &s->lane[lane];
    return (ss_filling){(double)l->left / (double)(int64_t)l->open, l->left, l->open, lane};
}

static void sift_down(ss_sharing *s, uint32_t i, ss_filling x)
{
    ss_filling *heap = s->filling;
    uint32_t n = s->fillings;
    for (;;) {
        uint32_t k = 2 * i + 1;
        if (k >= n)
            break;
        if (k + 1 < n && fills_before(&heap[k + 1], &heap[k]))
            k++;
        if (!fills_before(&heap[k], &x))
            break;
        heap[i] = heap[k];
        i = k;
    }
    heap[i] = x;
}

static void drop_first(ss_sharing *s)
{
    if (--s->fillings)
        sift_down(s, 0, s->filling[s->fillings]);
}

/* The class has its rate, and its marked lanes have that much less to give; of the others only the sum
 * means something.  Returns how many sums are to be minded. */
static uint32_t hold_back_long(const ss_sharing *s, const ss_flow_class *c, int64_t all,
                               int64_t more, uint64_t weight, uint32_t n)
{
    for (uint32_t k = c->first; k < c->last; k++) {
        ss_lane *l = &s->lane[s->of_class[k]];
        if (l->marked) {
            l->left -= all;
            l->open -= weight;
            continue;
        }
        l->used += more;
        s->watch[n] = s->of_class[k];
        n += more > 0;
    }
    return n;
}

static inline uint64_t unmarked(const ss_flow_class *c)
{
    return ~c->marked & (UINT64_MAX >> (BITS - (c->last - c->first)));
}

static inline uint32_t hold_back(const ss_sharing *s, ss_flow_class *c, int64_t rate, uint32_t lane,
                                 uint32_t n)
{
    int64_t all = rate * (int64_t)c->count, more = all - c->rate * (int64_t)c->counted;
    uint64_t weight = (uint64_t)c->weight * c->count;
    ss_lane *lanes = s->lane;
    const uint32_t *of = s->of_class + c->first;
    c->stamp = s->epoch + 1;
    c->next_rate = rate;
    c->bottleneck = lane;
    if (is_long(c))
        return hold_back_long(s, c, all, more, weight, n);
    for (uint64_t bits = c->marked; bits; bits &= bits - 1) {
        ss_lane *l = &lanes[of[first_bit(bits)]];
        l->left -= all;
        l->open -= weight;
    }
    if (!more)
        return n;
    uint32_t *list = s->watch, grows = more > 0;
    for (uint64_t bits = unmarked(c); bits; bits &= bits - 1) {
        uint32_t k = of[first_bit(bits)];
        lanes[k].used += more;
        list[n] = k;
        n += grows;
    }
    return n;
}

static void fill_lane(ss_sharing *s, const ss_filling *at)
{
    ss_lane_more *m = &s->more[at->lane];
    ss_flow_class *classes = s->class;
    int64_t of_one = at->left / (int64_t)at->open; /* of weight 1 */
    uint32_t epoch = s->epoch, n = s->watches;
    for (const ss_on_lane *on = s->row + m->first, *end = on + m->n; on < end; on++) {
        ss_flow_class *c = &classes[on->class];
        if ((c->stamp != epoch) | !c->count)
            continue;
        int64_t rate = of_one;
        if (c->weight != 1)
            rate = (int64_t)((ss_wide)(uint64_t)at->left * c->weight / at->open);
        n = hold_back(s, c, rate, at->lane, n);
    }
    s->watches = n;
    m->filled = epoch;
    m->next_level = at->key;
    m->next_weight = (double)(int64_t)at->open;
}

/* A cap has one class, which may have its rate. */
static void fill_cap(ss_sharing *s, const ss_filling *at)
{
    ss_flow_class *c = &s->class[s->row[s->more[at->lane].first].class];
    if (c->stamp == s->epoch && c->count)
        s->watches = hold_back(s, c, s->lane[at->lane].capacity, at->lane, s->watches);
}

static void fill(ss_sharing *s)
{
    s->fillings = 0;
    for (uint32_t i = 0; i < s->solve_lanes; i++)
        if (s->lane[s->solve_lane[i]].open)
            s->filling[s->fillings++] = filling_of(s, s->solve_lane[i]);
    for (uint32_t i = s->fillings / 2; i-- > 0;)
        sift_down(s, i, s->filling[i]);
    while (s->fillings) {
        ss_filling at = s->filling[0];
        const ss_lane *l = &s->lane[at.lane];
        if (is_cap(s, at.lane)) {
            fill_cap(s, &at);
            drop_first(s);
        } else if (!l->open) {
            drop_first(s);
        } else if (l->open != at.open) { /* shares only grow, so it goes down */
            sift_down(s, 0, filling_of(s, at.lane));
        } else {
            fill_lane(s, &at);
            drop_first(s);
        }
    }
}

/* ---- what comes of it ---------------------------------------------------------------------- */

/* Whether some lane that was only minded could be full: those are left in the list. */
static bool is_overfull(ss_sharing *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->watches; i++) {
        const ss_lane *l = &s->lane[s->watch[i]];
        if (l->capacity - l->used <= (int64_t)s->more[s->watch[i]].weight)
            s->watch[n++] = s->watch[i];
    }
    s->watches = n;
    return n > 0;
}

static void add_to_sums(ss_sharing *s, const ss_flow_class *c, int64_t more)
{
    for (uint32_t k = c->first; k < c->last; k++)
        s->lane[s->of_class[k]].used += more;
}

/* The sums of lanes that were not looked into are what they were; and those that could be full will be
 * looked into. */
static void take_back(ss_sharing *s)
{
    for (uint32_t i = 0; i < s->solve_classes; i++) {
        const ss_flow_class *c = &s->class[s->solve_class[i]];
        int64_t less = c->rate * (int64_t)c->counted - c->next_rate * (int64_t)c->count;
        for (uint32_t k = c->first; k < c->last && c->count && less; k++)
            if (!s->lane[s->of_class[k]].marked)
                s->lane[s->of_class[k]].used += less;
    }
    for (uint32_t i = 0; i < s->watches; i++)
        force(s, s->watch[i]);
}

static void set_levels(ss_sharing *s)
{
    for (uint32_t i = 0; i < s->solve_lanes; i++) {
        ss_lane *l = &s->lane[s->solve_lane[i]];
        ss_lane_more *m = &s->more[s->solve_lane[i]];
        bool filled = m->filled == s->epoch;
        if (is_cap(s, s->solve_lane[i]))
            continue; /* its level is always the same */
        l->used = l->capacity - l->left;
        l->level = filled ? m->next_level : INFINITY;
        m->level_weight = filled ? m->next_weight : 0;
    }
}

/* A lane whose flows others hold back is full all the same if it has no more than a unit a flow to
 * spare, at the highest of their levels. */
static void set_level_of_brimful(ss_sharing *s, uint32_t lane)
{
    ss_lane *l = &s->lane[lane];
    ss_lane_more *m = &s->more[lane];
    double level = -1;
    for (uint32_t k = m->first; k < m->first + m->n; k++) {
        const ss_flow_class *c = &s->class[s->row[k].class];
        if (!c->count || c->level <= level)
            continue;
        level = c->level;
        m->level_weight = (double)((uint64_t)c->count * c->weight);
    }
    l->level = level;
}

/* After the classes have their levels: which lanes are full, and marked from now on. */
static void mark_lanes(ss_sharing *s)
{
    for (uint32_t i = 0; i < s->solve_lanes; i++) {
        uint32_t lane = s->solve_lane[i];
        ss_lane *l = &s->lane[lane];
        int64_t weight = (int64_t)s->more[lane].weight;
        if (!is_full(l) && weight && l->left <= weight)
            set_level_of_brimful(s, lane);
        if (l->marked != is_full(l))
            ss_lane_mark(s, lane, is_full(l));
    }
    for (uint32_t i = 0; i < s->forceds; i++) {
        uint32_t lane = s->forced[i];
        if (s->lane[lane].marked && !is_full(&s->lane[lane]))
            ss_lane_mark(s, lane, false);
    }
    s->forceds = 0;
}

static void take_over(ss_sharing *s, ss_time now)
{
    set_levels(s);
    for (uint32_t i = 0; i < s->solve_classes; i++) {
        uint32_t class = s->solve_class[i];
        ss_flow_class *c = &s->class[class];
        if (!c->count)
            continue; /* it is about to leave */
        c->level = s->lane[c->bottleneck].level;
        c->counted = c->count;
        if (c->next_rate == c->rate)
            continue;
        ss_class_serve(s, class, now);
        c->rate = c->next_rate;
        if (!c->dirty)
            ss_class_set_end(s, class, now + 1);
    }
    mark_lanes(s);
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
    s->dirties = s->changeds = 0;
}

/* What is known before anything is solved: flows that left leave their rate, those that came will
 * want some.  false: as many went as came everywhere, and no link changed. */
static bool take_stock(ss_sharing *s)
{
    bool any = s->changeds > 0;
    s->settles++;
    s->felt = INFINITY;
    for (uint32_t i = 0; i < s->dirties; i++) {
        ss_flow_class *c = &s->class[s->dirty[i]];
        c->moved = c->count != c->counted;
        any |= c->moved;
        if (c->count < c->counted) {
            s->felt = fmin(s->felt, c->level);
            add_to_sums(s, c, -c->rate * (int64_t)(c->counted - c->count));
            c->counted = c->count;
        } else if (c->moved) {
            count_more(s, s->dirty[i]);
        }
    }
    for (uint32_t i = 0; i < s->changeds; i++)
        force(s, s->changed[i]);
    for (uint32_t i = 0; i < s->dirties; i++) {
        const ss_flow_class *c = &s->class[s->dirty[i]];
        if (c->count > c->counted)
            force_lanes(s, c);
    }
    return any;
}

void ss_sharing_settle(ss_sharing *s, ss_time now)
{
    if (take_stock(s)) {
        for (;;) {
            gather(s, first_felt(s));
            fill(s);
            if (!is_overfull(s))
                break;
            take_back(s);
        }
        take_over(s, now);
    }
    clean(s, now);
}
