#include "reference/sharing_naive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/paths.h"

void naive_start(naive_sharing *s, uint32_t links, const double *bytes_per_s, const ss_paths *paths)
{
    *s = (naive_sharing){.links = links, .paths = paths};
    double fastest = 0;
    for (uint32_t l = 1; l <= links; l++)
        fastest = fmax(fastest, bytes_per_s[l]);
    s->scale = ss_sharing_scale_for(fastest);
    for (uint32_t l = 1; l <= links; l++)
        s->capacity[l] = ss_sharing_units(bytes_per_s[l], s->scale);
}

void naive_free(naive_sharing *s)
{
    free(s->flow);
    s->flow = NULL;
}

static void serve(naive_sharing *s, ss_time now)
{
    for (uint32_t i = 0; i < s->n; i++) {
        ss_wide served = (ss_wide)(uint64_t)s->flow[i].rate * (uint64_t)(now - s->now);
        s->flow[i].left -= served < s->flow[i].left ? served : s->flow[i].left;
    }
    s->now = now;
}

void naive_begin(naive_sharing *s, ss_time now, uint32_t path, int64_t bytes, uint32_t number)
{
    serve(s, now);
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 16;
        s->flow = realloc(s->flow, s->cap * sizeof *s->flow);
        if (!s->flow)
            abort();
    }
    ss_wide left = (ss_wide)(uint64_t)bytes * SS_PICOSECONDS;
    if (s->scale >= 0)
        left <<= s->scale;
    else
        left = (left >> -s->scale) + (left >> (-s->scale - 1) & 1);
    s->flow[s->n++] =
        (naive_flow){.number = number, .path = path, .left = left, .end = SS_TIME_MAX};
}

bool naive_end(naive_sharing *s, ss_time now, uint32_t *number)
{
    uint32_t least = s->n;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->flow[i].end <= now && (least == s->n || s->flow[i].number < s->flow[least].number))
            least = i;
    if (least == s->n)
        return false;
    serve(s, now);
    *number = s->flow[least].number;
    memmove(&s->flow[least], &s->flow[least + 1], (s->n - least - 1) * sizeof *s->flow);
    s->n--;
    return true;
}

void naive_set_link(naive_sharing *s, uint32_t link, double bytes_per_s)
{
    s->capacity[link] = ss_sharing_units(bytes_per_s, s->scale);
}

static uint32_t weight_of(const naive_sharing *s, const naive_flow *f)
{
    return s->paths->weight ? s->paths->weight[f->path] : 1;
}

static bool crosses(const naive_sharing *s, const naive_flow *f, uint32_t link)
{
    for (uint32_t k = s->paths->first[f->path]; k < s->paths->first[f->path + 1]; k++)
        if (s->paths->link[k] - s->paths->link_before == link)
            return true;
    return false;
}

static int64_t cap_of(const naive_sharing *s, const naive_flow *f)
{
    double cap = s->paths->cap ? s->paths->cap[f->path] : 0;
    return cap > 0 ? ss_sharing_units(cap, s->scale) : -1;
}

/* What a link has left, and the weight of its flows without a rate. */
static void share_of(const naive_sharing *s, const bool *done, uint32_t link, int64_t *left,
                     uint64_t *open)
{
    *left = s->capacity[link];
    *open = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (!crosses(s, &s->flow[i], link))
            continue;
        if (done[i])
            *left -= s->flow[i].rate;
        else
            *open += weight_of(s, &s->flow[i]);
    }
}

static bool less(int64_t left, uint64_t open, int64_t than_left, uint64_t than_open)
{
    return (ss_wide)(uint64_t)left * than_open < (ss_wide)(uint64_t)than_left * open;
}

static void find_rates(naive_sharing *s)
{
    bool *done = calloc(s->n + 1, sizeof *done);
    if (!done)
        abort();
    for (uint32_t given = 0; given < s->n;) {
        int64_t least = 0, left;
        uint64_t least_open = 0, open;
        uint32_t link = 0, capped = s->n;
        for (uint32_t l = 1; l <= s->links; l++) {
            share_of(s, done, l, &left, &open);
            if (open && (!least_open || less(left, open, least, least_open)))
                least = left, least_open = open, link = l;
        }
        for (uint32_t i = 0; i < s->n; i++) {
            if (done[i] || cap_of(s, &s->flow[i]) < 0)
                continue;
            open = weight_of(s, &s->flow[i]);
            if (less(cap_of(s, &s->flow[i]), open, least, least_open))
                least = cap_of(s, &s->flow[i]), least_open = open, capped = i;
        }
        for (uint32_t i = 0; i < s->n; i++) {
            naive_flow *f = &s->flow[i];
            if (done[i] || (capped < s->n ? i != capped : !crosses(s, f, link)))
                continue;
            f->rate = (int64_t)((ss_wide)(uint64_t)least * weight_of(s, f) / least_open);
            f->held = capped < s->n ? 0 : link;
            done[i] = true;
            given++;
        }
    }
    free(done);
}

static ss_time end_of(const naive_flow *f, ss_time now)
{
    if (!f->rate)
        return f->left ? SS_TIME_MAX : now + 1;
    ss_wide takes = (f->left + (uint64_t)f->rate / 2) / (uint64_t)f->rate;
    if (takes >= (ss_wide)(SS_TIME_MAX - now))
        return SS_TIME_MAX;
    return takes ? now + (ss_time)takes : now + 1;
}

void naive_settle(naive_sharing *s, ss_time now)
{
    serve(s, now);
    find_rates(s);
    memset(s->used, 0, sizeof s->used);
    for (uint32_t i = 0; i < s->n; i++) {
        s->flow[i].end = end_of(&s->flow[i], now);
        for (uint32_t l = 1; l <= s->links; l++)
            s->used[l] += crosses(s, &s->flow[i], l) ? s->flow[i].rate : 0;
    }
}

ss_time naive_next(const naive_sharing *s)
{
    ss_time next = SS_TIME_MAX;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->flow[i].end < next)
            next = s->flow[i].end;
    return next;
}

/* A whole simulation: what a task is at any time. */

typedef enum stage { WAITS, STARTED, FLOWS, ENDED } stage;

typedef struct naive_run {
    const ss_tasks *t;
    ss_time *ready, *start, *end;
    stage *stage;
    ss_time *free;
    naive_sharing sharing;
    uint32_t ended;
} naive_run;

static bool may_start(const naive_run *r, uint32_t i, ss_time *ready)
{
    *ready = 0;
    for (uint32_t e = r->t->first_in[i]; e < r->t->first_in[i + 1]; e++) {
        uint32_t p = r->t->in[e];
        if (r->stage[p] != ENDED)
            return false;
        if (r->end[p] > *ready)
            *ready = r->end[p];
    }
    return r->stage[i] == WAITS;
}

static void end_now(naive_run *r, uint32_t i, ss_time now)
{
    r->stage[i] = ENDED;
    r->end[i] = now;
    r->ended++;
}

/* All that is over at `now`, but flows: true if something was. */
static bool end_or_flow(naive_run *r, ss_time now)
{
    bool any = false;
    for (uint32_t i = 1; i <= r->t->n; i++) {
        if (r->stage[i] != STARTED || r->start[i] + r->t->hold[i] != now)
            continue;
        any = true;
        if (ss_tasks_flows(r->t, (ss_task){i}) && r->t->bytes[i]) {
            r->stage[i] = FLOWS;
            naive_begin(&r->sharing, now, r->t->where[i] - r->t->devices - r->t->links,
                        r->t->bytes[i], i);
        } else {
            end_now(r, i, now);
        }
    }
    return any;
}

/* The first task that is ready. */
static bool start_one(naive_run *r)
{
    ss_time ready;
    for (uint32_t i = 1; i <= r->t->n; i++) {
        if (!may_start(r, i, &ready))
            continue;
        ss_time *free = &r->free[r->t->where[i]];
        bool flows = ss_tasks_flows(r->t, (ss_task){i});
        r->stage[i] = STARTED;
        r->ready[i] = ready;
        r->start[i] = flows || *free < ready ? ready : *free;
        if (!flows)
            *free = r->start[i] + r->t->hold[i];
        return true;
    }
    return false;
}

static ss_time next_of(const naive_run *r)
{
    ss_time next = naive_next(&r->sharing);
    for (uint32_t i = 1; i <= r->t->n; i++)
        if (r->stage[i] == STARTED && r->start[i] + r->t->hold[i] < next)
            next = r->start[i] + r->t->hold[i];
    return next;
}

uint32_t simulate_shared_naive(const ss_tasks *t, ss_time *ready, ss_time *start, ss_time *end)
{
    ss_paths paths = ss_paths_of(t);
    naive_run r = {.t = t, .ready = ready, .start = start, .end = end};
    r.stage = calloc(t->n + 1, sizeof *r.stage);
    r.free = calloc((size_t)t->devices + t->links + t->sets + 1, sizeof *r.free);
    if (!r.stage || !r.free)
        abort();
    naive_start(&r.sharing, t->links, t->bytes_per_s, &paths);
    for (ss_time now = 0; now != SS_TIME_MAX; now = next_of(&r)) {
        uint32_t i;
        end_or_flow(&r, now);
        while (naive_end(&r.sharing, now, &i))
            end_now(&r, i, now);
        while (start_one(&r))
            end_or_flow(&r, now); /* one that takes no time is over before the next starts */
        naive_settle(&r.sharing, now);
    }
    uint32_t ended = r.ended;
    naive_free(&r.sharing);
    free(r.stage);
    free(r.free);
    return ended;
}
