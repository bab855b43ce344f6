/* sharing_fill.c - progressive filling, of what a change touches.
 *
 * Lanes fill up in the order of (left / open, number).  A lane that a change does not touch is asleep: at
 * its place in that order it holds back again what it held back.  Awake are the lanes where a change
 * begins, and then each lane of a class
 *   whose rate, or what holds it back, is found to be another;
 *   which its old bottleneck has to let go, since that fills up later than it did.
 * What a lane that wakes has to give is shared by its classes without a rate, some of which a lane that is
 * asleep will hold back: that one is put in the order at its old place, to say so.
 *
 * An awake lane has two places in the order, and is asked at the first of them: where it would be full now,
 * and where it was, as long as classes rely on being held back there.  No lane is woken too late: what is
 * on a full lane is held back there or before, so a class that changes does so before the place of each
 * lane of its that sleeps.
 *
 * Most instants touch some tens of classes on a few lanes, so what counts is that loops over rows have no
 * branches where none can be foreseen: an entry is written in any case, and counted if it is wanted;
 * marked lanes and others are treated alike, two at a time.
 */
#include "simulate/sharing_inside.h"

#include <math.h>

/* ---- which lane is next ------------------------------------------------------------------- */

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

/* What a link has left for those that are open. */
static inline int64_t left_of(const ss_lane *l)
{
    return (int64_t)((uint64_t)l->capacity - (uint64_t)l->used + l->held);
}

/* A cap has all of it for each flow. */
static ss_filling filling_of(const ss_sharing *s, uint32_t lane)
{
    const ss_lane *l = &s->lane[lane];
    int64_t left = left_of(l);
    uint64_t open = l->open;
    if (ss_lane_is_cap(s, lane)) {
        left = l->capacity;
        open = s->class[s->row[l->first].class].weight;
    }
    return (ss_filling){(double)left / (double)(int64_t)open, left, open, lane};
}

/* When it was full last. */
static ss_filling filled(const ss_sharing *s, uint32_t lane)
{
    const ss_lane_more *m = &s->more[lane];
    return (ss_filling){m->fill_key, m->fill_left, m->fill_open, lane};
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

static void push(ss_sharing *s, ss_filling x)
{
    ss_filling *heap = s->filling;
    uint32_t i = s->fillings++;
    for (; i && fills_before(&x, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = x;
}

/* ---- waking ------------------------------------------------------------------------------- */

/* A place in the order: all that is reached before it is settled. */
typedef struct ss_place {
    double before, after; /* levels below and above which that is sure */
    const ss_filling *at; /* which says it of those between; NULL: there are none */
} ss_place;

static ss_place place_of(const ss_filling *at)
{
    return (ss_place){at->key * (1 - 0x1p-50), at->key * (1 + 0x1p-50), at};
}

static bool is_before(const ss_sharing *s, const ss_flow_class *c, const ss_filling *at)
{
    ss_filling x = filled(s, c->bottleneck);
    return fills_before(&x, at);
}

/* The lanes that hold the classes back that are taken in, of those that sleep and have no place yet. */
typedef struct ss_taken {
    uint64_t held, open;
    uint32_t own, doubts, sleeping; /* those in s->sleeper */
} ss_taken;

/* Classes of which the level tells that they are not settled, and how many it does not tell of. */
SS_OWN_LOOP ss_taken take_in(const ss_sharing *s, uint32_t lane, const ss_place *now)
{
    const ss_lane *l = &s->lane[lane], *lanes = s->lane;
    ss_flow_class *classes = s->class;
    uint32_t *list = s->sleeper, epoch = s->epoch, n = 0, own = 0, doubts = 0;
    double before = now->before, after = now->after;
    uint64_t held = 0, open = 0;
    for (const ss_on_lane *on = s->row + l->first, *end = on + l->n; on < end; on++) {
        ss_flow_class *c = &classes[on->class];
        uint32_t stamp = c->stamp, waits = stamp < epoch, bottleneck = c->bottleneck;
        uint32_t in = (stamp == epoch) | (waits & (c->level > after));
        doubts += waits & (c->level >= before) & (c->level <= after);
        uint64_t all = -(uint64_t)in; /* every bit, or none */
        held += (uint64_t)c->sum & all;
        open += c->open & all;
        c->stamp = stamp + ((epoch - stamp) & (uint32_t)all);
        own |= in & (bottleneck == lane);
        list[n] = bottleneck;
        n += in & (lanes[bottleneck].look < epoch);
    }
    return (ss_taken){held, open, own, doubts, n};
}

static void take_in_exactly(const ss_sharing *s, uint32_t lane, const ss_place *now, ss_taken *x)
{
    const ss_lane *l = &s->lane[lane];
    for (const ss_on_lane *on = s->row + l->first, *end = on + l->n; on < end; on++) {
        ss_flow_class *c = &s->class[on->class];
        if (c->stamp >= s->epoch || c->level < now->before || is_before(s, c, now->at))
            continue;
        c->stamp = s->epoch;
        x->held += (uint64_t)c->sum;
        x->open += c->open;
        x->own |= c->bottleneck == lane;
        s->sleeper[x->sleeping++] = c->bottleneck;
    }
}

static void wake(ss_sharing *s, uint32_t lane, const ss_place *now)
{
    ss_lane *l = &s->lane[lane];
    s->solve_lane[s->solve_lanes++] = lane;
    l->look = s->epoch + 1;
    ss_taken x = take_in(s, lane, now);
    if (x.doubts && now->at)
        take_in_exactly(s, lane, now, &x);
    for (uint32_t i = 0; i < x.sleeping; i++) {
        ss_lane *b = &s->lane[s->sleeper[i]];
        if (b->look >= s->epoch)
            continue;
        b->look = s->epoch;
        push(s, filled(s, s->sleeper[i]));
    }
    l->held = x.held;
    l->open = x.open;
    l->own = x.own;
    l->level = INFINITY;
    if (ss_lane_is_cap(s, lane)) /* its level needs no filling */
        l->level = (double)l->capacity / (l->n ? s->class[s->row[l->first].class].weight : 1);
    if (!x.open)
        return;
    ss_filling at = filling_of(s, lane), old = l->own ? filled(s, lane) : at;
    push(s, fills_before(&old, &at) ? old : at);
}

static void wake_lanes(ss_sharing *s, const ss_flow_class *c, const ss_place *now)
{
    for (uint32_t k = c->first; k < c->last; k++)
        if (s->lane[s->of_class[k]].look <= s->epoch)
            wake(s, s->of_class[k], now);
}

/* ---- what a lane gives away ---------------------------------------------------------------- */

/* A lane that is only minded is beyond its limit: what that comes to is seen at the end, unless its sum
 * grows until it could wrap, which is too much in any case.  What one class adds is less than half of that: a lane
 * that is full holds it back, or its cap does, which looks after that. */
static const int64_t far_beyond = INT64_C(1) << 62;

void ss_lane_watch(ss_sharing *s, uint32_t lane, bool far)
{
    ss_lane *l = &s->lane[lane];
    far |= l->limit == far_beyond;
    if (l->limit < far_beyond)
        s->watch[s->watches++] = lane;
    l->limit = far ? INT64_MAX : far_beyond;
}

/* Classes have their rate, and their lanes have that much less to give.  Those for which anything is new
 * while some of their lanes sleep stay in the list; returns how many. */
SS_OWN_LOOP uint32_t hold_back(ss_sharing *s, uint32_t *list, uint32_t n, int64_t of_one,
                               const ss_filling *at)
{
    ss_lane *lanes = s->lane;
    const uint32_t *of = s->of_class;
    uint32_t changeds = s->changeds, epoch = s->epoch, news = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t class = list[i];
        ss_flow_class *c = &s->class[class];
        int64_t rate = of_one;
        if (c->weight != 1)
            rate = (int64_t)((ss_wide)(uint64_t)at->left * c->weight / at->open);
        uint64_t before = (uint64_t)c->sum, more = (uint64_t)rate * c->count - before;
        uint64_t open = c->open;
        uint32_t asleep = 0;
        for (uint32_t k = c->first; k < c->last; k += 2) {
            ss_lane *a = &lanes[of[k]], *b = &lanes[of[k + 1]];
            ss_lane_use(a, more);
            a->held -= before;
            a->open -= open;
            ss_lane_use(b, more);
            b->held -= before;
            b->open -= open;
            asleep |= (a->look <= epoch) | (b->look <= epoch);
            if (a->used > a->limit)
                ss_lane_watch(s, of[k], false);
            if (b->used > b->limit)
                ss_lane_watch(s, of[k + 1], false);
        }
        ss_class_serve(s, class, s->now);
        bool differs = rate != c->rate;
        s->changed[changeds] = class;
        changeds += differs & !c->changed;
        c->changed |= differs;
        list[news] = class;
        news += asleep & (differs | (c->bottleneck != at->lane));
        c->rate = rate;
        c->sum = (int64_t)(before + more);
        c->counted = c->count;
        ss_class_set_level(s, class, at->key);
        c->bottleneck = at->lane;
        c->stamp = epoch + 1;
    }
    s->changeds = changeds;
    return news;
}

SS_OWN_LOOP uint32_t open_classes(const ss_sharing *s, const ss_lane *l, uint32_t *list)
{
    const ss_flow_class *classes = s->class;
    uint32_t epoch = s->epoch, n = 0;
    for (const ss_on_lane *on = s->row + l->first, *end = on + l->n; on < end; on++) {
        list[n] = on->class;
        n += classes[on->class].stamp == epoch;
    }
    return n;
}

/* A cap holds back each flow of its class, so its sum has no bounds. */
static void watch_capped(ss_sharing *s, const ss_flow_class *c)
{
    bool far =
        (double)s->lane[s->of_class[c->last - 1]].capacity * c->count > (double)far_beyond / 2;
    for (uint32_t k = c->first; far && k < c->last; k++)
        if (!s->lane[s->of_class[k]].marked)
            ss_lane_watch(s, s->of_class[k], true);
}

static void fill_lane(ss_sharing *s, const ss_filling *at)
{
    ss_lane *l = &s->lane[at->lane];
    ss_place now = place_of(at);
    uint32_t *list = s->fill_class, n = open_classes(s, l, list);
    if (ss_lane_is_cap(s, at->lane))
        watch_capped(s, &s->class[list[0]]);
    n = hold_back(s, list, n, at->left / (int64_t)at->open, at);
    ss_lane_fill(s, at->lane, at->key, at->left, at->open);
    l->open = 0;
    for (uint32_t i = 0; i < n; i++)
        wake_lanes(s, &s->class[list[i]], &now);
}

/* Its open classes that it held back before. */
SS_OWN_LOOP uint32_t own_classes(const ss_sharing *s, uint32_t lane, uint32_t *list)
{
    const ss_lane *l = &s->lane[lane];
    const ss_flow_class *classes = s->class;
    uint32_t epoch = s->epoch, n = 0;
    for (const ss_on_lane *on = s->row + l->first, *end = on + l->n; on < end; on++) {
        const ss_flow_class *c = &classes[on->class];
        list[n] = on->class;
        n += (c->stamp == epoch) & (c->bottleneck == lane);
    }
    return n;
}

/* Asleep, it holds back what it held back; and is done. */
static void hold_back_again(ss_sharing *s, uint32_t lane)
{
    uint32_t n = own_classes(s, lane, s->fill_class);
    s->lane[lane].look = s->epoch + 1;
    for (uint32_t i = 0; i < n; i++) {
        ss_flow_class *c = &s->class[s->fill_class[i]];
        c->stamp = s->epoch + 1;
        for (uint32_t k = c->first; k < c->last; k++) {
            ss_lane *a = &s->lane[s->of_class[k]];
            a->held -= (uint64_t)c->sum;
            a->open -= c->open;
        }
    }
}

/* It fills up later than it did: what it held back goes on. */
static void let_go(ss_sharing *s, const ss_filling *at)
{
    ss_place now = place_of(at);
    uint32_t n = own_classes(s, at->lane, s->fill_class);
    s->lane[at->lane].own = false;
    for (uint32_t i = 0; i < n; i++)
        wake_lanes(s, &s->class[s->fill_class[i]], &now);
}

static bool is_as_it_was(const ss_sharing *s, const ss_lane *l, const ss_filling *at)
{
    if (ss_lane_is_cap(s, at->lane))
        return l->capacity == at->left;
    return l->open == at->open && left_of(l) == at->left;
}

/* What is to be done at the first place in the order. */
static void pass(ss_sharing *s, ss_filling at)
{
    ss_lane *l = &s->lane[at.lane];
    if (l->look == s->epoch) {
        drop_first(s);
        hold_back_again(s, at.lane);
        return;
    }
    if (!l->open) {
        drop_first(s);
        return;
    }
    if (l->own) {
        ss_filling now = filling_of(s, at.lane), old = filled(s, at.lane);
        bool lets_go = fills_before(&old, &now);
        const ss_filling *place = lets_go ? &old : &now;
        if (at.left != place->left || at.open != place->open) {
            sift_down(s, 0, *place);
            return;
        }
        if (lets_go) {
            sift_down(s, 0, now);
            let_go(s, &old);
            return;
        }
    } else if (!is_as_it_was(s, l, &at)) {
        sift_down(s, 0, filling_of(s, at.lane)); /* shares only grow: it goes down */
        return;
    }
    drop_first(s);
    fill_lane(s, &at);
}

/* Stamps of earlier solves are less than the epoch, and there are fewer numbers than solves in a
 * long run. */
static void next_epoch(ss_sharing *s)
{
    if (s->epoch > UINT32_MAX - 4) {
        for (uint32_t i = 1; i <= s->classes; i++)
            s->class[i].stamp = 0;
        for (uint32_t i = 1; i <= s->lanes; i++)
            s->lane[i].look = s->lane[i].marked ? 0 : UINT32_MAX;
        s->epoch = 0;
    }
    s->epoch += 2;
}

void ss_sharing_fill(ss_sharing *s, double felt, const uint32_t *seed, uint32_t seeds)
{
    double last = nextafter(felt, -INFINITY);
    ss_place now = {last, last, NULL};
    next_epoch(s);
    s->solve_lanes = s->fillings = 0;
    for (uint32_t i = 0; i < seeds; i++)
        if (s->lane[seed[i]].look <= s->epoch)
            wake(s, seed[i], &now);
    while (s->fillings)
        pass(s, s->filling[0]);
}
