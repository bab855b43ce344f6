/* sharing_fill.c - progressive filling: lane after lane, in the order in which they are full.
 *
 * Which is next is asked of a heap: a lane's key, left by open, only grows as others fill up, so one
 * that was looked at a while ago can stand where it is until it comes first.
 */
#include "simulate/sharing_inside.h"

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

static ss_filling filling_of(const ss_sharing *s, uint32_t lane)
{
    const ss_lane *l = &s->lane[lane];
    int64_t left = l->capacity;
    if (!ss_lane_is_cap(s, lane))
        left = (int64_t)((uint64_t)left - (uint64_t)l->used + l->held);
    return (ss_filling){(double)left / (double)(int64_t)l->open, left, l->open, lane};
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

/* ---- what it gives away ------------------------------------------------------------------- */

/* A lane that is only minded is beyond its limit: what that comes to is seen at the end, unless its sum
 * grows until it could wrap, which is too much in any case.  What one class adds is less than half of that: a lane
 * that is full holds it back, or its cap does, which looks after that. */
static const int64_t far_beyond = INT64_C(1) << 62;

static void watch(ss_sharing *s, uint32_t lane, bool far)
{
    ss_lane *l = &s->lane[lane];
    far |= l->limit == far_beyond;
    if (l->limit < far_beyond)
        s->watch[s->watches++] = lane;
    l->limit = far ? INT64_MAX : far_beyond;
}

/* Classes have their rate, and their lanes have that much less to give. */
SS_OWN_LOOP void hold_back(ss_sharing *s, const uint32_t *list, uint32_t n, int64_t of_one,
                           const ss_filling *at)
{
    ss_lane *lanes = s->lane;
    const uint32_t *of = s->of_class;
    uint32_t changeds = s->changeds, epoch = s->epoch;
    for (uint32_t i = 0; i < n; i++) {
        ss_flow_class *c = &s->class[list[i]];
        int64_t rate = of_one;
        if (c->weight != 1)
            rate = (int64_t)((ss_wide)(uint64_t)at->left * c->weight / at->open);
        uint64_t before = (uint64_t)c->sum, more = (uint64_t)rate * c->count - before;
        uint64_t open = c->open;
        for (uint32_t k = c->first; k < c->last; k += 2) {
            ss_lane *a = &lanes[of[k]], *b = &lanes[of[k + 1]];
            ss_lane_use(a, more);
            a->held -= before;
            a->open -= open;
            ss_lane_use(b, more);
            b->held -= before;
            b->open -= open;
            if (a->used > a->limit)
                watch(s, of[k], false);
            if (b->used > b->limit)
                watch(s, of[k + 1], false);
        }
        ss_class_serve(s, list[i], s->now);
        bool differs = rate != c->rate;
        s->changed[changeds] = list[i];
        changeds += differs & !c->changed;
        c->changed |= differs;
        c->rate = rate;
        c->sum = (int64_t)(before + more);
        c->counted = c->count;
        c->level = at->key;
        c->bottleneck = at->lane;
        c->stamp = epoch + 1;
    }
    s->changeds = changeds;
}

SS_OWN_LOOP void fill_lane(ss_sharing *s, const ss_filling *at)
{
    ss_lane *l = &s->lane[at->lane];
    const ss_flow_class *classes = s->class;
    uint32_t *list = s->fill_class, epoch = s->epoch, n = 0;
    for (const ss_on_lane *on = s->row + l->first, *end = on + l->n; on < end; on++) {
        list[n] = on->class;
        n += classes[on->class].stamp == epoch;
    }
    hold_back(s, list, n, at->left / (int64_t)at->open, at);
    l->level = at->key;
    s->more[at->lane].level_weight = (double)(int64_t)at->open;
}

/* A cap has one class, which may have its rate. */
static void fill_cap(ss_sharing *s, const ss_filling *at)
{
    uint32_t class = s->row[s->lane[at->lane].first].class;
    const ss_flow_class *c = &s->class[class];
    if (c->stamp != s->epoch)
        return;
    bool far = (double)at->left * c->count > (double)far_beyond / 2;
    for (uint32_t k = c->first; far && k < c->last; k++)
        if (!s->lane[s->of_class[k]].marked)
            watch(s, s->of_class[k], true);
    hold_back(s, &class, 1, at->left / (int64_t)at->open, at);
}

void ss_sharing_fill(ss_sharing *s)
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
        if (ss_lane_is_cap(s, at.lane)) {
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
