/* sharing_refill.c - progressive filling of all that is reached at a level or later, whether it is touched or not.
 *
 * The filling of sharing_fill.c finds out what a change touches, and lets the rest sleep. Where a few tens of classes
 * cross a few links that are full, as on a machine of some tens of devices, a change touches most of that anyway, and to
 * do all of it without questions is less work: links and classes fit in the bits of a word, and there is no order to
 * keep, since all links are looked at when the next one is to fill up.  Which of both it is shows in how many of the
 * classes that a refill went through have another rate after it.
 *
 * A full link that is reached before the level stays as it is: what it holds back is reached before, too.
 */
#include "simulate/sharing_inside.h"

#include <math.h>
#include <string.h>

enum {
    MOST_CLASSES = 128, /* without a rate */
    WORDS = MOST_CLASSES / 64,
    MOST_BUSY = 512,   /* classes with flows */
    NONE = SS_NUMBERS, /* the place of a lane that is not filled; nothing is read from it */
    AT_ONCE = 4,       /* keys; behind the last one there are others that never come first */
    SAMPLE = 8,        /* refills, in which a quarter of the classes should change, */
    FIRST_REST = 64,   /* else so many times none is tried, twice as many the next time, */
    MOST_REST = 1 << 16,
    SHORT_REST = 8 /* and so many after one that would have been too much */
};

/* A marked link that can fill up. */
typedef struct open_lane {
    uint64_t left;          /* for its classes without a rate */
    uint64_t open;          /* their weight; 0: none, and it is not filled any more */
    uint64_t member[WORDS]; /* bits of classes */
} open_lane;

/* A class without a rate, or with its new one. */
typedef struct open_class {
    uint64_t sum; /* of its flows */
    int64_t rate;
    uint64_t numbers; /* of its links that can fill up, and NONE */
    uint32_t class, busy;
    uint32_t both; /* places of those links, exclusive or, if there are two at most; else 64 */
} open_class;

typedef struct refill {
    /* By place of a lane: left / open as the bits of a double, which order as such numbers do, and the place in the last
     * six of them. */
    uint64_t key[SS_NUMBERS + AT_ONCE];
    open_lane lane[SS_NUMBERS + 1];
    uint32_t link[SS_NUMBERS + 1];
    uint32_t lanes, classes, differs;
    uint64_t numbers;              /* of the marked links that can fill up */
    uint8_t place[SS_NUMBERS + 1]; /* by number */
    open_class class[MOST_CLASSES];
    uint64_t todo[WORDS];                /* bits of classes without a rate */
    uint8_t differing[MOST_CLASSES + 1]; /* [differs]: those with another rate, or sum */
    uint16_t busy[MOST_BUSY + 1];        /* [classes] */
} refill;

static const uint64_t none = UINT64_C(1) << NONE;
static const uint64_t never = UINT64_C(0x7ff) << 52; /* of keys: infinite, or not a number */
static const uint64_t close =
    UINT64_C(128); /* of keys: a part in 2^45, far more than they are rounded by */

static uint32_t lowest_bit(uint64_t bits)
{
    return (uint32_t)__builtin_ctzll(bits);
}

/* ---- numbers of marked links ---------------------------------------------------------------- */

void ss_lane_number(ss_sharing *s, uint32_t lane, bool marked)
{
    ss_lane *l = &s->lane[lane];
    if (marked) {
        uint64_t others = ~s->numbers & (none - 1);
        l->number = others ? lowest_bit(others) : SS_NUMBERS;
    }
    if (l->number == SS_NUMBERS) {
        s->unnumbered += marked ? 1 : UINT32_MAX;
        return;
    }
    uint64_t bit = UINT64_C(1) << l->number;
    s->numbers ^= bit;
    s->numbered[l->number] = lane;
    for (const ss_on_lane *on = s->row + l->first, *end = on + l->n; on < end; on++)
        s->numbers_of[on->class] ^= bit;
}

/* ---- what loses its rate ------------------------------------------------------------------- */

SS_OWN_LOOP bool find_classes(const ss_sharing *s, double felt, refill *w)
{
    const double *level = s->busy_level;
    uint32_t n = 0, all = s->busies;
    for (uint32_t i = 0; i < all; i++) {
        w->busy[n] = (uint16_t)i;
        n += level[i] >= felt;
    }
    w->classes = n;
    return n <= MOST_CLASSES;
}

static void find_lanes(ss_sharing *s, double felt, refill *w)
{
    uint64_t numbers = 0;
    uint32_t n = 0;
    for (uint64_t bits = s->numbers; bits; bits &= bits - 1) {
        uint32_t number = lowest_bit(bits), link = s->numbered[number];
        const ss_lane *l = &s->lane[link];
        uint64_t in = l->level >= felt;
        numbers |= in << number;
        w->place[number] = (uint8_t)n;
        w->lane[n] = (open_lane){(uint64_t)l->capacity - (uint64_t)l->used, 0, {0}};
        w->link[n] = link;
        n += (uint32_t)in;
    }
    w->place[NONE] = NONE;
    w->lane[NONE] = (open_lane){0};
    w->numbers = numbers;
    w->lanes = n;
}

static inline void open_on(open_lane *l, uint64_t sum, uint64_t weight, uint64_t bit, uint32_t word)
{
    l->left += sum;
    l->open += weight;
    l->member[word] |= bit;
}

/* Most classes have two lanes at most that can fill up: for those there is no branch. */
SS_OWN_LOOP void open_classes(const ss_sharing *s, refill *w)
{
    for (uint32_t i = 0; i < w->classes; i++) {
        open_class *x = &w->class[i];
        uint32_t busy = w->busy[i], class = s->busy[busy], word = i / 64;
        const ss_flow_class *c = &s->class[class];
        uint64_t sum = (uint64_t)c->sum, weight = c->open, bit = UINT64_C(1) << i % 64;
        uint64_t numbers = (s->numbers_of[class] & w->numbers) | none;
        uint64_t others = (numbers & (numbers - 1)) | none;
        uint32_t a = w->place[lowest_bit(numbers)], b = w->place[lowest_bit(others)];
        x->numbers = numbers;
        x->both = a ^ b;
        x->class = class;
        x->busy = busy;
        open_on(&w->lane[a], sum, weight, bit, word);
        open_on(&w->lane[b], sum, weight, bit, word);
        for (others &= (others - 1) & ~none; others; others &= others - 1) {
            open_on(&w->lane[w->place[lowest_bit(others)]], sum, weight, bit, word);
            x->both = 64;
        }
    }
}

/* ---- which lane is next --------------------------------------------------------------------- */

static inline uint64_t key_of(const open_lane *l, uint32_t place)
{
    double key = (double)(int64_t)l->left / (double)(int64_t)l->open;
    uint64_t bits;
    memcpy(&bits, &key, sizeof bits);
    return (bits & ~UINT64_C(63)) | place;
}

static bool fills_before(const refill *w, uint32_t a, uint32_t b)
{
    const open_lane *p = &w->lane[a], *q = &w->lane[b];
    ss_wide x = (ss_wide)p->left * q->open, y = (ss_wide)q->left * p->open;
    return x < y || (x == y && w->link[a] < w->link[b]);
}

/* Of lanes that are about equal. */
static uint32_t first_of(const refill *w, uint64_t high)
{
    uint32_t best = NONE;
    for (uint32_t i = 0; i < w->lanes; i++)
        if (w->key[i] <= high && (best == NONE || fills_before(w, i, best)))
            best = i;
    return best;
}

typedef struct two_least {
    uint64_t first, second;
} two_least;

static inline two_least with_key(two_least x, uint64_t key)
{
    uint64_t other = key > x.first ? key : x.first;
    return (two_least){key < x.first ? key : x.first, other < x.second ? other : x.second};
}

/* The place of the lane that fills up next, or NONE. */
SS_OWN_LOOP uint32_t next_lane(const refill *w)
{
    two_least x = {UINT64_MAX, UINT64_MAX}, y = x;
    for (const uint64_t *key = w->key, *end = key + w->lanes; key < end; key += AT_ONCE) {
        x = with_key(x, key[0]);
        y = with_key(y, key[1]);
        x = with_key(x, key[2]);
        y = with_key(y, key[3]);
    }
    x = with_key(x, y.first);
    if (x.first >= never)
        return NONE;
    uint64_t high = x.first + close, second = y.second < x.second ? y.second : x.second;
    return second > high ? x.first & 63 : first_of(w, high);
}

/* ---- filling -------------------------------------------------------------------------------- */

static inline void take_from(refill *w, uint32_t place, uint64_t sum, uint64_t weight)
{
    open_lane *l = &w->lane[place];
    l->left -= sum;
    l->open -= weight;
    w->key[place] = key_of(l, place);
}

static inline void take_from_all(refill *w, const open_class *x, uint64_t sum, uint64_t weight)
{
    for (uint64_t numbers = x->numbers; numbers; numbers &= numbers - 1)
        take_from(w, w->place[lowest_bit(numbers)], sum, weight);
}

/* A lane that has these left for classes of that weight. */
typedef struct full_lane {
    uint64_t left, open;
    int64_t of_one;
    double level;
    uint32_t place, link;
} full_lane;

/* Those of 64 classes have their rates. */
SS_OWN_LOOP void hold_back(ss_sharing *s, refill *w, const full_lane *at, uint32_t from,
                           uint64_t bits)
{
    uint32_t differs = w->differs;
    for (; bits; bits &= bits - 1) {
        uint32_t i = from + lowest_bit(bits);
        open_class *x = &w->class[i];
        ss_flow_class *c = &s->class[x->class];
        int64_t rate = at->of_one;
        if (c->weight != 1)
            rate = (int64_t)((ss_wide)at->left * c->weight / at->open);
        uint64_t sum = (uint64_t)rate * c->count;
        x->rate = rate;
        x->sum = sum;
        if (x->both < 64) /* the lane itself needs nothing any more */
            take_from(w, x->both ^ at->place, sum, c->open);
        else
            take_from_all(w, x, sum, c->open);
        c->level = at->level;
        s->busy_level[x->busy] = at->level;
        c->bottleneck = at->link;
        c->counted = c->count;
        w->differing[differs] = (uint8_t)i;
        differs += (rate != c->rate) | (sum != (uint64_t)c->sum);
    }
    w->differs = differs;
}

static void fill(ss_sharing *s, refill *w, uint32_t place)
{
    const open_lane *l = &w->lane[place];
    double level = (double)(int64_t)l->left / (double)(int64_t)l->open;
    full_lane at = {l->left, l->open, (int64_t)l->left / (int64_t)l->open,
                    level,   place,   w->link[place]};
    ss_lane_fill(s, at.link, level, (int64_t)at.left, at.open);
    for (uint32_t word = 0; word < WORDS; word++) {
        uint64_t bits = l->member[word] & w->todo[word];
        w->todo[word] &= ~bits;
        hold_back(s, w, &at, 64 * word, bits);
    }
    w->key[place] = UINT64_MAX;
}

static void fill_all(ss_sharing *s, refill *w)
{
    w->differs = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        w->todo[i] = UINT64_MAX;
    s->solve_lanes = w->lanes;
    for (uint32_t i = 0; i < w->lanes; i++) {
        w->key[i] = key_of(&w->lane[i], i);
        s->lane[w->link[i]].level = INFINITY;
        s->solve_lane[i] = w->link[i];
    }
    for (uint32_t i = 0; i + 1 < AT_ONCE; i++)
        w->key[w->lanes + i] = UINT64_MAX;
    for (uint32_t place; (place = next_lane(w)) != NONE;)
        fill(s, w, place);
}

/* ---- what comes of it ----------------------------------------------------------------------- */

SS_OWN_LOOP void take_rates(ss_sharing *s, const refill *w)
{
    for (uint32_t i = 0; i < w->differs; i++) {
        const open_class *x = &w->class[w->differing[i]];
        ss_flow_class *c = &s->class[x->class];
        ss_lanes_use(s, c, x->sum - (uint64_t)c->sum);
        ss_class_serve(s, x->class, s->now);
        s->changed[s->changeds] = x->class;
        s->changeds += !c->changed;
        c->changed = true;
        c->rate = x->rate;
        c->sum = (int64_t)x->sum;
    }
}

/* Where little of what was done was needed, the other way is better for a while. */
static void judge(ss_sharing *s, const refill *w)
{
    s->refilled += w->classes;
    s->refilled_anew += w->differs;
    if (++s->refills < SAMPLE)
        return;
    if (4 * s->refilled_anew < s->refilled) {
        s->refill_rest = s->refill_next_rest;
        s->refill_next_rest = s->refill_rest < MOST_REST ? 2 * s->refill_rest : MOST_REST;
    } else {
        s->refill_next_rest = FIRST_REST;
    }
    s->refills = s->refilled = s->refilled_anew = 0;
}

void ss_sharing_judge_anew(ss_sharing *s)
{
    s->refills = s->refilled = s->refilled_anew = s->refill_rest = 0;
    s->refill_next_rest = FIRST_REST;
}

/* It is better, as far as is known. */
static bool is_wanted(ss_sharing *s)
{
    if (s->way != SS_SHARING_BEST)
        return s->way == SS_SHARING_ALL;
    if (!s->refill_rest)
        return true;
    s->refill_rest--;
    return false;
}

bool ss_sharing_refill(ss_sharing *s, double felt)
{
    refill w;
    bool capped = s->lanes != s->links;
    if (capped || s->unnumbered || s->busies > MOST_BUSY || !is_wanted(s))
        return false;
    if (!find_classes(s, felt, &w)) {
        s->refill_rest = SHORT_REST;
        return false;
    }
    find_lanes(s, felt, &w);
    open_classes(s, &w);
    fill_all(s, &w);
    take_rates(s, &w);
    judge(s, &w);
    return true;
}
