/* sharing.c - flows come and go; when the next one ends.  Rates: sharing_solve.c. */
#include "simulate/sharing_inside.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

enum { SCALED_BITS = 57 }; /* of the fastest link; four more for links that are set, one to add */

ss_status ss_sharing_new(ss_sharing **out, ss_error *err)
{
    *out = ss_alloc_zeroed(1, sizeof **out);
    return *out ? SS_OK : ss_fail_memory(err, "shared links", sizeof **out);
}

void ss_sharing_free(ss_sharing *s)
{
    if (!s)
        return;
    ss_free(s->class);
    ss_free(s->clock);
    ss_free(s->lane);
    ss_free(s->more);
    ss_free(s->of_class);
    ss_free(s->at);
    ss_free(s->row);
    ss_free(s->flow);
    ss_ends_free(&s->ends);
    ss_free(s->of_slot);
    ss_free(s->free_slot);
    ss_free(s->busy);
    ss_free(s->busy_level);
    ss_free(s->numbers_of);
    ss_free(s->dirty);
    ss_free(s->reset);
    ss_free(s->solve_lane);
    ss_free(s->fill_class);
    ss_free(s->sleeper);
    ss_free(s->changed);
    ss_free(s->watch);
    ss_free(s->forced);
    ss_free(s->seed);
    ss_free(s->filling);
    ss_free(s);
}

size_t ss_sharing_memory(const ss_sharing *s)
{
    size_t per_class = sizeof *s->class + sizeof *s->clock + sizeof *s->busy +
                       sizeof *s->busy_level + sizeof *s->numbers_of + sizeof *s->dirty +
                       sizeof *s->fill_class + sizeof *s->sleeper + sizeof *s->changed;
    size_t per_lane = sizeof *s->lane + sizeof *s->more + sizeof *s->reset + sizeof *s->solve_lane +
                      sizeof *s->forced + sizeof *s->watch + sizeof *s->seed +
                      2 * sizeof *s->filling;
    return sizeof *s + s->class_cap * per_class + s->lane_cap * per_lane +
           s->of_cap * (sizeof *s->of_class + sizeof *s->at + sizeof *s->row) +
           s->flow_cap * sizeof *s->flow + ss_ends_memory(&s->ends) +
           s->slot_cap * (sizeof *s->of_slot + sizeof *s->free_slot);
}

/* Units. */

int ss_sharing_scale_for(double fastest_bytes_per_s)
{
    int bits = 0;
    (void)frexp(fastest_bytes_per_s, &bits);
    return SCALED_BITS - bits;
}

int64_t ss_sharing_units(double bytes_per_s, int scale)
{
    double units = ldexp(bytes_per_s, scale);
    return units < 0x1p62 ? (int64_t)llrint(units) : INT64_C(1) << 62;
}

/* What a flow is served when it ends; false: no rate would do so in the time there is. */
static bool served_by_end(int64_t bytes, int scale, ss_wide *out)
{
    ss_wide units = (ss_wide)(uint64_t)bytes * SS_PICOSECONDS;
    if (ldexp(ss_wide_double(units), scale) >= 0x1p122)
        return false;
    if (scale >= 0)
        *out = units << scale;
    else if (scale > -127)
        *out = (units >> -scale) + (units >> (-scale - 1) & 1);
    else
        *out = 0;
    return true;
}

/* Setting out. */

static ss_status reserve_lanes(ss_sharing *s, size_t need, ss_error *err)
{
    if (need <= s->lane_cap)
        return SS_OK;
    ss_status e;
    if ((e = SS_REGROW(s->lane, need, "shared links", err)) ||
        (e = SS_REGROW(s->more, need, "shared links", err)) ||
        (e = SS_REGROW(s->reset, need, "shared links", err)) ||
        (e = SS_REGROW(s->solve_lane, need, "shared links", err)) ||
        (e = SS_REGROW(s->watch, need, "shared links", err)) ||
        (e = SS_REGROW(s->forced, need, "shared links", err)) ||
        (e = SS_REGROW(s->seed, need, "shared links", err)) ||
        (e = SS_REGROW(s->filling, 2 * need, "shared links", err)))
        return e;
    s->lane_cap = (uint32_t)need;
    return SS_OK;
}

static ss_status reserve_classes(ss_sharing *s, size_t need, ss_error *err)
{
    if (need <= s->class_cap)
        return SS_OK;
    ss_status e;
    if ((e = SS_REGROW(s->class, need, "flows of paths", err)) ||
        (e = SS_REGROW(s->clock, need, "flows of paths", err)) ||
        (e = SS_REGROW(s->busy, need, "flows of paths", err)) ||
        (e = SS_REGROW(s->busy_level, need, "flows of paths", err)) ||
        (e = SS_REGROW(s->numbers_of, need, "flows of paths", err)) ||
        (e = SS_REGROW(s->dirty, need, "flows of paths", err)) ||
        (e = SS_REGROW(s->fill_class, need, "flows of paths", err)) ||
        (e = SS_REGROW(s->sleeper, need, "flows of paths", err)) ||
        (e = SS_REGROW(s->changed, need, "flows of paths", err)))
        return e;
    s->class_cap = (uint32_t)need;
    return SS_OK;
}

static ss_status reserve_rows(ss_sharing *s, size_t need, ss_error *err)
{
    if (need <= s->of_cap)
        return SS_OK;
    ss_status e;
    if ((e = SS_REGROW(s->of_class, need, "links of paths", err)) ||
        (e = SS_REGROW(s->at, need, "links of paths", err)))
        return e;
    s->of_cap = (uint32_t)need;
    return SS_OK;
}

static uint32_t count_caps(const ss_paths *p)
{
    uint32_t caps = 0;
    for (uint32_t i = 1; p->cap && i <= p->n; i++)
        caps += p->cap[i] > 0;
    return caps;
}

static ss_status reserve(ss_sharing *s, uint32_t links, const ss_paths *p, ss_error *err)
{
    uint32_t caps = count_caps(p);
    size_t members = (p->n ? p->first[p->n + 1] - p->first[1] : 0) + (size_t)caps + p->n;
    if (members > UINT32_MAX || (uint64_t)links + caps >= UINT32_MAX)
        return ss_fail(err, SS_ERANGE, "paths of flows have more than 2^32 links in all");
    ss_status e = reserve_lanes(s, (size_t)links + caps + 1, err);
    if (!e)
        e = reserve_classes(s, (size_t)p->n + 1, err);
    if (!e)
        e = reserve_rows(s, members + 1, err);
    return e;
}

static uint32_t even(uint32_t n)
{
    return n + (n & 1);
}

/* The lanes of classes `from` .. p->n; those before are there. */
static void lay_out_classes(ss_sharing *s, const ss_paths *p, uint32_t from)
{
    uint32_t at = from > 1 ? even(s->class[from - 1].last) : 0;
    for (uint32_t c = from; c <= p->n; c++) {
        uint32_t weight = p->weight ? p->weight[c] : 1;
        s->class[c] = (ss_flow_class){.level = INFINITY, .weight = weight, .first = at};
        s->clock[c] = (ss_class_clock){0};
        s->numbers_of[c] = 0;
        for (uint32_t k = p->first[c]; k < p->first[c + 1]; k++)
            s->of_class[at++] = p->link[k] - p->link_before;
        if (p->cap && p->cap[c] > 0) {
            uint32_t lane = ++s->lanes;
            int64_t units = ss_sharing_units(p->cap[c], s->scale);
            s->lane[lane] = (ss_lane){.capacity = units,
                                      .level = (double)units / weight,
                                      .limit = INT64_MAX,
                                      .number = SS_NUMBERS,
                                      .marked = true};
            s->more[lane] = (ss_lane_more){0};
            s->of_class[at++] = lane;
        }
        s->class[c].last = at;
        if (at & 1)
            s->of_class[at++] = 0;
    }
    s->classes = p->n;
}

/* Each lane has room for all classes that can be on it; those that are stay in their order. */
static void lay_out_rows(ss_sharing *s, uint32_t *room, ss_on_lane *row)
{
    uint32_t members = s->classes ? even(s->class[s->classes].last) : 0, first = 0;
    for (uint32_t k = 0; k < members; k++)
        room[s->of_class[k]]++;
    for (uint32_t l = 1; l <= s->lanes; l++) {
        ss_lane *lane = &s->lane[l];
        if (lane->n)
            memcpy(row + first, s->row + lane->first, lane->n * sizeof *row);
        lane->first = first;
        first += room[l];
    }
}

static ss_status make_rows(ss_sharing *s, ss_error *err)
{
    uint32_t *room = ss_alloc_zeroed((size_t)s->lanes + 1, sizeof *room);
    ss_on_lane *row = ss_alloc(s->of_cap * sizeof *row);
    if (!room || !row) {
        ss_free(room);
        ss_free(row);
        return ss_fail_memory(err, "links of paths", s->of_cap * sizeof *row);
    }
    lay_out_rows(s, room, row);
    ss_free(room);
    ss_free(s->row);
    s->row = row;
    return SS_OK;
}

ss_status ss_sharing_add_paths(ss_sharing *s, const ss_paths *p, ss_error *err)
{
    uint32_t classes = s->classes, lanes = s->lanes;
    ss_status e = reserve(s, s->links, p, err);
    if (e)
        return e;
    lay_out_classes(s, p, s->classes + 1);
    if ((e = make_rows(s, err))) {
        s->classes = classes;
        s->lanes = lanes;
    }
    return e;
}

ss_status ss_sharing_start(ss_sharing *s, uint32_t links, const double *bytes_per_s,
                           const ss_paths *p, ss_error *err)
{
    ss_status e = reserve(s, links, p, err);
    if (e)
        return e;
    double fastest = 0;
    for (uint32_t l = 1; l <= links; l++)
        fastest = fmax(fastest, bytes_per_s[l]);
    s->links = s->lanes = links;
    s->numbers = s->unnumbered = s->busies = 0;
    ss_sharing_judge_anew(s);
    s->scale = ss_sharing_scale_for(fastest);
    s->most = INT64_C(1) << (SCALED_BITS + 4);
    s->lane[0] = (ss_lane){.limit = INT64_MAX, .look = UINT32_MAX};
    for (uint32_t l = 1; l <= links; l++) {
        s->lane[l] =
            (ss_lane){.capacity = ss_sharing_units(bytes_per_s[l], s->scale), .level = INFINITY};
        s->more[l] = (ss_lane_more){0};
        ss_lane_mark(s, l, false);
    }
    lay_out_classes(s, p, 1);
    if ((e = make_rows(s, err)))
        return e;
    s->flows = s->free_flow = s->alive = 0;
    s->slots = s->free_slots = s->next = 0;
    s->dirties = s->resets = s->changeds = s->forceds = s->watches = 0;
    s->settles = 0;
    s->epoch = UINT32_MAX - 1000; /* so that each run of some length comes past its end */
    ss_ends_clear(&s->ends);
    return SS_OK;
}

/* The heap of a class. */

static bool flow_before(const ss_flow *a, const ss_flow *b)
{
    return a->end < b->end || (a->end == b->end && a->number < b->number);
}

static uint32_t meld(ss_flow *flow, uint32_t a, uint32_t b)
{
    if (!a || !b)
        return a ? a : b;
    if (flow_before(&flow[b], &flow[a])) {
        uint32_t c = a;
        a = b;
        b = c;
    }
    flow[b].next = flow[a].child;
    flow[a].child = b;
    return a;
}

/* Children in pairs from the first on, then all pairs from the last on. */
static uint32_t without_root(ss_flow *flow, uint32_t root)
{
    uint32_t pairs = 0;
    for (uint32_t a = flow[root].child; a;) {
        uint32_t b = flow[a].next, rest = b ? flow[b].next : 0;
        flow[a].next = 0;
        if (b)
            flow[b].next = 0;
        uint32_t pair = meld(flow, a, b);
        flow[pair].next = pairs;
        pairs = pair;
        a = rest;
    }
    uint32_t all = 0;
    while (pairs) {
        uint32_t rest = flow[pairs].next;
        flow[pairs].next = 0;
        all = meld(flow, all, pairs);
        pairs = rest;
    }
    return all;
}

/* When the first flow of a class ends. */

static ss_time exact_end(const ss_sharing *s, uint32_t class)
{
    const ss_class_clock *t = &s->clock[class];
    ss_wide end = t->first, rate = (uint64_t)s->class[class].rate;
    if (end <= t->served)
        return t->since;
    if (!rate)
        return SS_TIME_MAX;
    ss_wide left = end - t->served + rate / 2, takes;
    if (left <= UINT64_MAX)
        takes = (uint64_t)left / (uint64_t)rate;
    else
        takes = left / rate;
    return takes < (ss_wide)(SS_TIME_MAX - t->since) ? t->since + (ss_time)takes : SS_TIME_MAX;
}

void ss_class_set_end(ss_sharing *s, uint32_t class, ss_time earliest)
{
    ss_flow_class *c = &s->class[class];
    ss_class_clock *t = &s->clock[class];
    ss_time at = earliest;
    ss_wide end = t->first;
    c->exact = false;
    t->fast = c->rate + c->rate / 8; /* rates change often, and most times a little */
    if (!c->rate && end > t->served) {
        at = SS_TIME_MAX;
        c->exact = true;
    } else if (end > t->served) {
        /* a little less than it can be, since the division rounds */
        double takes = ss_wide_double(end - t->served) / (double)t->fast * (1 - 0x1p-49) - 1;
        if (takes >= 0x1p63 - (double)t->since - 4096)
            at = SS_TIME_MAX - 1;
        else if (takes > 0 && t->since + (ss_time)takes > earliest)
            at = t->since + (ss_time)takes;
    }
    ss_ends_set(&s->ends, t->slot - 1, at);
}

/* The slot that ends first, if that is not after `latest`, and from 1; its time is exact then. */
static uint32_t first_to_end(ss_sharing *s, ss_time latest)
{
    for (;;) {
        if (ss_ends_least(&s->ends) > latest)
            return 0;
        uint32_t slot = ss_ends_first(&s->ends), class = s->of_slot[slot];
        if (s->class[class].exact)
            return slot + 1;
        s->class[class].exact = true;
        s->clock[class].fast = s->class[class].rate;
        ss_time exact = exact_end(s, class), since = s->clock[class].since;
        ss_ends_set(&s->ends, slot, exact > since ? exact : since + 1);
    }
}

ss_time ss_sharing_next(ss_sharing *s)
{
    s->next = first_to_end(s, SS_TIME_MAX - 1);
    return s->next ? s->ends.level[0][s->next - 1] : SS_TIME_MAX;
}

/* Coming and going. */

static ss_status take_slot(ss_sharing *s, uint32_t class, ss_error *err)
{
    if (s->free_slots) {
        s->clock[class].slot = s->free_slot[--s->free_slots] + 1;
    } else {
        uint32_t need = s->slots + 1, cap = s->slot_cap;
        if (need > cap) {
            ss_ends old = s->ends;
            s->ends = (ss_ends){0};
            cap = ss_grown(cap, need);
            ss_status e = ss_ends_reserve(&s->ends, cap, err);
            if (!e)
                e = SS_REGROW(s->of_slot, cap, "ends of flows", err);
            if (!e)
                e = SS_REGROW(s->free_slot, cap, "ends of flows", err);
            if (e) {
                ss_ends_free(&s->ends);
                s->ends = old;
                return e;
            }
            for (uint32_t i = 0; i < s->slots; i++)
                ss_ends_set(&s->ends, i, old.level[0][i]);
            ss_ends_free(&old);
            s->slot_cap = cap;
        }
        s->clock[class].slot = ++s->slots;
    }
    s->of_slot[s->clock[class].slot - 1] = class;
    return SS_OK;
}

static void go_onto_lanes(ss_sharing *s, uint32_t class)
{
    for (uint32_t k = s->class[class].first; k < s->class[class].last; k++) {
        ss_lane *l = &s->lane[s->of_class[k]];
        s->at[k] = l->n;
        s->row[l->first + l->n++] = (ss_on_lane){class, k};
        if (l->marked && l->number < SS_NUMBERS)
            s->numbers_of[class] |= UINT64_C(1) << l->number;
    }
    s->clock[class].busy = s->busies;
    s->busy_level[s->busies] = s->class[class].level;
    s->busy[s->busies++] = class;
}

void ss_class_leave(ss_sharing *s, uint32_t class)
{
    ss_flow_class *c = &s->class[class];
    for (uint32_t k = s->class[class].first; k < s->class[class].last; k++) {
        ss_lane *l = &s->lane[s->of_class[k]];
        ss_on_lane last = s->row[l->first + --l->n];
        s->row[l->first + s->at[k]] = last;
        s->at[last.k] = s->at[k];
    }
    s->numbers_of[class] = 0;
    uint32_t busy = s->clock[class].busy, other = s->busy[--s->busies];
    s->busy[busy] = other;
    s->busy_level[busy] = s->busy_level[s->busies];
    s->clock[other].busy = busy;
    uint32_t slot = s->clock[class].slot - 1;
    ss_ends_set(&s->ends, slot, SS_TIME_MAX);
    s->free_slot[s->free_slots++] = slot;
    s->clock[class].slot = 0;
    c->rate = 0;
    c->level = INFINITY;
    c->bottleneck = 0;
}

static void make_dirty(ss_sharing *s, uint32_t class)
{
    if (s->class[class].dirty)
        return;
    s->class[class].dirty = true;
    s->dirty[s->dirties++] = class;
}

/* The class has this much more weight, on each of its lanes. */
static void add_weight(ss_sharing *s, uint32_t class, int64_t weight)
{
    ss_flow_class *c = &s->class[class];
    c->open += (uint64_t)weight;
    for (uint32_t k = c->first; k < c->last; k++) {
        ss_lane *l = &s->lane[s->of_class[k]];
        s->more[s->of_class[k]].weight += (uint64_t)weight;
        l->limit -= l->marked ? 0 : weight;
    }
}

static ss_status take_flow(ss_sharing *s, uint32_t *out, ss_error *err)
{
    if (s->free_flow) {
        *out = s->free_flow;
        s->free_flow = s->flow[*out].next;
        return SS_OK;
    }
    ss_status e = SS_RESERVE(s->flow, s->flow_cap, (size_t)s->flows + 2, "flows", err);
    if (e)
        return e;
    s->flow[0] = (ss_flow){0};
    *out = ++s->flows;
    return SS_OK;
}

ss_status ss_sharing_begin(ss_sharing *s, ss_time now, uint32_t path, int64_t bytes,
                           uint32_t number, ss_error *err)
{
    ss_wide left;
    if (!served_by_end(bytes, s->scale, &left))
        return ss_fail(err, SS_ERANGE,
                       "a transfer of %lld bytes would take longer than 106 days, which times "
                       "cannot hold",
                       (long long)bytes);
    return ss_sharing_begin_left(s, now, path, left, number, err);
}

ss_status ss_sharing_begin_left(ss_sharing *s, ss_time now, uint32_t path, ss_wide left,
                                uint32_t number, ss_error *err)
{
    ss_flow_class *c = &s->class[path];
    ss_class_clock *t = &s->clock[path];
    uint32_t f;
    ss_status e = take_flow(s, &f, err);
    if (!e && !t->slot) {
        e = take_slot(s, path, err);
        if (e) {
            s->flow[f] = (ss_flow){.next = s->free_flow};
            s->free_flow = f;
        }
    }
    if (e)
        return e;
    if (!c->count && !c->counted)
        go_onto_lanes(s, path);
    ss_class_serve(s, path, now);
    s->flow[f] = (ss_flow){.end = t->served + left, .number = number, .class = path};
    t->heap = meld(s->flow, t->heap, f);
    t->first = s->flow[t->heap].end;
    c->count++;
    s->alive++;
    add_weight(s, path, c->weight);
    make_dirty(s, path);
    return SS_OK;
}

uint32_t ss_sharing_end(ss_sharing *s, ss_time now)
{
    uint32_t slot = s->next ? s->next : first_to_end(s, now);
    if (!slot || s->ends.level[0][slot - 1] > now)
        return 0;
    s->next = 0;
    uint32_t class = s->of_slot[slot - 1];
    ss_flow_class *c = &s->class[class];
    ss_class_clock *t = &s->clock[class];
    uint32_t f = t->heap, number = s->flow[f].number;
    ss_class_serve(s, class, now);
    t->heap = without_root(s->flow, f);
    t->first = s->flow[t->heap].end; /* row 0 of none */
    s->flow[f] = (ss_flow){.next = s->free_flow};
    s->free_flow = f;
    c->count--;
    s->alive--;
    add_weight(s, class, -(int64_t)c->weight);
    make_dirty(s, class);
    c->exact = true;
    ss_ends_set(&s->ends, t->slot - 1, c->count ? exact_end(s, class) : SS_TIME_MAX);
    return number;
}

static void reset_lane(ss_sharing *s, uint32_t lane, int64_t units)
{
    bool known = s->lane[lane].capacity == units;
    for (uint32_t i = 0; i < s->resets && !known; i++)
        known = s->reset[i] == lane;
    if (!known)
        s->reset[s->resets++] = lane;
    s->lane[lane].capacity = units;
}

ss_status ss_sharing_set_link(ss_sharing *s, uint32_t link, double bytes_per_s, ss_error *err)
{
    int64_t units = ss_sharing_units(bytes_per_s, s->scale);
    if (units > s->most)
        return ss_fail(err, SS_ERANGE,
                       "link %u: %g bytes a second is more than 16 times what the fastest link had "
                       "at the start",
                       link, bytes_per_s);
    reset_lane(s, link, units);
    return SS_OK;
}

void ss_sharing_set_cap(ss_sharing *s, uint32_t path, double bytes_per_s)
{
    const ss_flow_class *c = &s->class[path];
    uint32_t lane = s->of_class[c->last - 1]; /* behind its links */
    int64_t units = ss_sharing_units(bytes_per_s, s->scale);
    if (!s->lane[lane].n) /* nothing is to be solved */
        s->lane[lane].level = (double)units / c->weight;
    reset_lane(s, lane, units);
}

void ss_sharing_left(const ss_sharing *s, ss_time now, ss_flow_left *out)
{
    for (uint32_t f = 1; f <= s->flows; f++) {
        const ss_flow *x = &s->flow[f];
        if (!x->class)
            continue;
        const ss_class_clock *t = &s->clock[x->class];
        ss_wide since = (ss_wide)(uint64_t)s->class[x->class].rate * (uint64_t)(now - t->since);
        *out++ = (ss_flow_left){x->end - t->served - since, x->number};
    }
}

int64_t ss_sharing_rate(const ss_sharing *s, uint32_t path)
{
    return s->class[path].count ? s->class[path].rate : 0;
}

int64_t ss_sharing_used(const ss_sharing *s, uint32_t link)
{
    return s->lane[link].used;
}

int64_t ss_sharing_capacity(const ss_sharing *s, uint32_t link)
{
    return s->lane[link].capacity;
}

void ss_sharing_solve_by(ss_sharing *s, ss_sharing_way way)
{
    s->way = way;
}

int ss_sharing_scale(const ss_sharing *s)
{
    return s->scale;
}

uint32_t ss_sharing_flows(const ss_sharing *s)
{
    return s->alive;
}

uint32_t ss_sharing_bottleneck(const ss_sharing *s, uint32_t path)
{
    uint32_t lane = s->class[path].bottleneck;
    return lane <= s->links ? lane : 0;
}
