#include "reference/run_naive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Speeds are whole numbers of 2^-20 here: enough for those of a test, which ends within some thousand ps. */
enum { SPEED_1 = 1 << 20, MOST_HELD = 16 };

enum { WAITS, QUEUED, RUNS, ARRIVES, DONE };

typedef struct task {
    int stage;
    ss_time ready, start, end, finish;
    int64_t latency, work; /* work in 2^-20 ps of speed 1 */
    ss_time lag;
} task;

typedef struct resource {
    uint32_t runs, next; /* next: how many of its program have started */
    bool stopped;
    int64_t speed;   /* in 2^-20 */
    ss_time latency; /* links: now */
} resource;

typedef struct world {
    const ss_tasks *t;
    const ss_run_options *o;
    task *task;
    resource *resource;
    uint32_t *order; /* changes by time */
    uint32_t happened;
    ss_time now;
} world;

/* What a task holds: its resources, and if copies block the devices at its ends. */
static uint32_t held(const world *w, uint32_t i, uint32_t *out)
{
    uint32_t n, k = 0;
    const uint32_t *set = ss_tasks_resources(w->t, (ss_task){i}, &n);
    for (; k < n; k++)
        out[k] = set[k];
    uint32_t ends[] = {w->t->label[i].from.i, w->t->label[i].to.i};
    for (int e = 0; e < 2 && w->o->copies_block && w->t->where[i] > w->t->devices; e++) {
        ss_blocked_end skipped = e ? SS_BLOCKED_SENDER : SS_BLOCKED_RECEIVER; /* the other one's copy */
        bool there = ends[e] == 0 || w->o->blocked_end == skipped;
        for (uint32_t j = 0; j < k; j++)
            there |= out[j] == ends[e];
        if (!there)
            out[k++] = ends[e];
    }
    return k;
}

static bool in_program(const world *w, uint32_t r, uint32_t i)
{
    return r <= w->t->devices && w->t->where[i] == r;
}

static int64_t key(const world *w, uint32_t r, uint32_t i)
{
    switch (w->o->order) {
    case SS_ORDER_PROGRAM:
        return in_program(w, r, i) ? i : 0;
    case SS_ORDER_PRIORITY:
        return w->o->priority[i];
    case SS_ORDER_SHORTEST:
        return w->t->hold[i];
    case SS_ORDER_FIFO:
    case SS_ORDERS:
        break;
    }
    return 0;
}

static bool waits_at(const world *w, uint32_t r, uint32_t i)
{
    uint32_t of[MOST_HELD], n = held(w, i, of);
    bool here = false;
    for (uint32_t k = 0; k < n; k++)
        here |= of[k] == r;
    return here && w->task[i].stage == QUEUED;
}

/* The first in the queue of a resource. */
static uint32_t first_at(const world *w, uint32_t r)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i <= w->t->n; i++) {
        if (!waits_at(w, r, i))
            continue;
        int64_t a = key(w, r, i), b = first ? key(w, r, first) : 0;
        ss_time ra = w->task[i].ready, rb = w->task[first].ready;
        if (!first || a < b || (a == b && ra < rb))
            first = i;
    }
    return first;
}

static bool can_start(const world *w, uint32_t i)
{
    uint32_t of[MOST_HELD], n = held(w, i, of);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t r = of[k], room = r <= w->t->devices && w->o->streams ? w->o->streams : 1;
        const resource *x = &w->resource[r];
        if (x->runs >= room || first_at(w, r) != i)
            return false;
        if (w->o->order != SS_ORDER_PROGRAM || !in_program(w, r, i))
            continue;
        uint32_t before = 0;
        for (uint32_t j = 1; j < i; j++)
            before += w->t->where[j] == r;
        if (x->next != before)
            return false;
    }
    return true;
}

static bool slows(const world *w)
{
    return w->o->slowed_by_copies > 0 && w->o->slowed_by_copies < 1;
}

static bool is_crossed(const world *w, uint32_t device)
{
    for (uint32_t i = 1; i <= w->t->n; i++)
        if (w->task[i].stage == RUNS && w->t->where[i] > w->t->devices &&
            (w->t->label[i].from.i == device || w->t->label[i].to.i == device))
            return true;
    return false;
}

/* Of several links the one that is slowest now counts, against the one that was at the start. */
static int64_t speed_of_route(const world *w, const uint32_t *of, uint32_t n)
{
    double now = INFINITY, begun = INFINITY;
    for (uint32_t k = 0; k < n; k++) {
        const resource *x = &w->resource[of[k]];
        double own = w->t->bytes_per_s[of[k] - w->t->devices];
        now = fmin(now, x->stopped ? 0 : (double)x->speed / SPEED_1 * own);
        begun = fmin(begun, own);
    }
    return llrint(now / begun * SPEED_1);
}

/* Whether a task keeps a device busy: it computes there, or is a message that the device copies. */
static bool is_on(const world *w, uint32_t i, uint32_t device)
{
    if (w->t->where[i] <= w->t->devices)
        return w->t->where[i] == device;
    return w->o->copies_block &&
           ((w->o->blocked_end != SS_BLOCKED_RECEIVER && w->t->label[i].from.i == device) ||
            (w->o->blocked_end != SS_BLOCKED_SENDER && w->t->label[i].to.i == device));
}

/* What shares the memory with a task takes of its speed: one over this is left. */
static int64_t slowed_by_others(const world *w, uint32_t i)
{
    double others = 0;
    bool anywhere = false;
    for (uint32_t d = 1; d <= w->t->devices; d++) {
        anywhere |= is_on(w, i, d);
        for (uint32_t k = 1; k <= w->t->n && !is_on(w, i, d); k++)
            if (w->task[k].stage == RUNS && is_on(w, k, d) && w->resource[d].speed && !w->resource[d].stopped)
                others += ss_tasks_bound(w->t, (ss_task){k});
    }
    return anywhere ? 1 + llrint(w->o->interference * ss_tasks_bound(w->t, (ss_task){i}) * others) : 1;
}

static int64_t speed_of_resources(const world *w, uint32_t i)
{
    uint32_t n;
    const uint32_t *of = ss_tasks_resources(w->t, (ss_task){i}, &n);
    int64_t least = INT64_MAX;
    if (n > 1 && of[0] > w->t->devices)
        return speed_of_route(w, of, n);
    for (uint32_t k = 0; k < n; k++) {
        const resource *x = &w->resource[of[k]];
        int64_t speed = x->stopped ? 0 : x->speed;
        if (of[k] <= w->t->devices && slows(w) && is_crossed(w, of[k]))
            speed = (int64_t)((double)speed * w->o->slowed_by_copies);
        least = speed < least ? speed : least;
    }
    return least;
}

static int64_t speed_of(const world *w, uint32_t i)
{
    return speed_of_resources(w, i) / slowed_by_others(w, i);
}

static bool has_ended(const world *w, uint32_t i)
{
    const task *x = &w->task[i];
    return x->stage == RUNS && !x->latency && (!x->work || 2 * x->work < speed_of(w, i));
}

static bool are_done(const world *w, uint32_t i)
{
    for (uint32_t e = w->t->first_in[i]; e < w->t->first_in[i + 1]; e++)
        if (w->task[w->t->in[e]].stage != DONE)
            return false;
    return true;
}

static void tell(world *w, uint32_t i)
{
    w->task[i].stage = DONE;
    w->task[i].finish = w->now;
    for (uint32_t k = 1; k <= w->t->n; k++)
        if (w->task[k].stage == WAITS && are_done(w, k)) {
            w->task[k].stage = QUEUED;
            w->task[k].ready = w->now;
        }
}

static void end_task(world *w, uint32_t i)
{
    uint32_t of[MOST_HELD], n = held(w, i, of);
    for (uint32_t k = 0; k < n; k++)
        w->resource[of[k]].runs--;
    w->task[i].end = w->now;
    w->task[i].lag = 0;
    if (w->t->mode == SS_LINKS_FIFO_PIPE && ss_tasks_lag(w->t, (ss_task){i}))
        w->task[i].lag = w->resource[w->t->where[i]].latency;
    if (w->task[i].lag)
        w->task[i].stage = ARRIVES;
    else
        tell(w, i);
}

static ss_time picoseconds(double seconds)
{
    return (ss_time)llrint(seconds * 1e12);
}

static void begin(world *w, uint32_t i)
{
    uint32_t of[MOST_HELD], n = held(w, i, of);
    task *x = &w->task[i];
    for (uint32_t k = 0; k < n; k++) {
        w->resource[of[k]].runs++;
        w->resource[of[k]].next += in_program(w, of[k], i);
    }
    x->stage = RUNS;
    x->start = w->now;
    x->work = w->t->hold[i];
    x->latency = 0;
    const uint32_t *set = ss_tasks_resources(w->t, (ss_task){i}, &n);
    for (uint32_t k = 0; k < n && w->t->mode != SS_LINKS_FIFO_PIPE; k++) {
        if (set[k] <= w->t->devices)
            continue;
        x->latency += w->resource[set[k]].latency;
        x->work -= picoseconds(w->t->latency_s[set[k] - w->t->devices]);
    }
    x->work *= SPEED_1;
    if (!x->latency && !x->work)
        end_task(w, i);
}

static void change(world *w, const ss_change *c)
{
    bool link = c->kind <= SS_CHANGE_LINK_WORKS;
    resource *x = &w->resource[link ? w->t->devices + c->who : c->who];
    switch (c->kind) {
    case SS_CHANGE_LINK:
        if (c->bytes_per_s >= 0)
            x->speed = llrint(c->bytes_per_s / w->t->bytes_per_s[c->who] * SPEED_1);
        x->speed = llrint((double)x->speed * c->share);
        if (c->latency_s >= 0)
            x->latency = picoseconds(c->latency_s);
        break;
    case SS_CHANGE_SPEED:
        x->speed = llrint(c->speed * SPEED_1);
        break;
    case SS_CHANGE_DEVICE_FAILS:
        for (uint32_t i = 1; i <= w->t->n; i++)
            if (w->task[i].stage == RUNS && w->t->where[i] == c->who)
                w->task[i].work = w->t->hold[i] * SPEED_1;
        x->stopped = true;
        break;
    case SS_CHANGE_LINK_FAILS:
    case SS_CHANGE_PAUSE:
        x->stopped = true;
        break;
    case SS_CHANGE_LINK_WORKS:
    case SS_CHANGE_RESUME:
    case SS_CHANGES:
        x->stopped = false;
        break;
    }
}

static void start_all(world *w)
{
    for (;;) {
        uint32_t best = 0;
        for (uint32_t i = 1; i <= w->t->n; i++)
            if (w->task[i].stage == QUEUED && can_start(w, i) &&
                (!best || w->task[i].ready < w->task[best].ready))
                best = i;
        if (!best)
            return;
        begin(w, best);
    }
}

/* All that ends now, then what is to happen now, then what starts; again, until nothing ends. */
static void pass_instant(world *w)
{
    for (bool again = true; again;) {
        again = false;
        bool over[256] = {false}; /* who ends is told before anybody hears of it */
        for (uint32_t i = 1; i <= w->t->n; i++)
            over[i] = has_ended(w, i) ||
                      (w->task[i].stage == ARRIVES && w->task[i].end + w->task[i].lag == w->now);
        for (uint32_t i = 1; i <= w->t->n; i++) {
            if (!over[i])
                continue;
            again = true;
            if (w->task[i].stage == ARRIVES)
                tell(w, i);
            else
                end_task(w, i);
        }
        while (w->happened < w->o->changes && w->o->change[w->order[w->happened]].at <= w->now)
            change(w, &w->o->change[w->order[w->happened++]]);
        start_all(w);
        for (uint32_t i = 1; i <= w->t->n; i++)
            again |= has_ended(w, i);
    }
}

static bool pass_picosecond(world *w)
{
    bool all = true;
    int64_t speed[256];
    for (uint32_t i = 1; i <= w->t->n; i++)
        speed[i] = w->task[i].stage == RUNS ? speed_of(w, i) : 0;
    for (uint32_t i = 1; i <= w->t->n; i++) {
        task *x = &w->task[i];
        all &= x->stage == DONE;
        if (x->stage == RUNS && x->latency)
            x->latency--;
        else if (x->stage == RUNS)
            x->work = x->work < speed[i] ? 0 : x->work - speed[i];
    }
    w->now++;
    return !all;
}

static void sort_changes(world *w)
{
    for (uint32_t i = 0; i < w->o->changes; i++) {
        uint32_t k = i;
        for (; k && w->o->change[w->order[k - 1]].at > w->o->change[i].at; k--)
            w->order[k] = w->order[k - 1];
        w->order[k] = i;
    }
}

bool run_naive(const ss_tasks *t, const ss_run_options *o, ss_time until, ss_time *ready,
               ss_time *start, ss_time *end, ss_time *finish)
{
    static task tasks[256];
    static resource resources[64];
    static uint32_t order[64];
    world w = {.t = t, .o = o, .task = tasks, .resource = resources, .order = order};
    if (t->n >= 256 || t->devices + t->links >= 64 || o->changes > 64)
        abort();
    sort_changes(&w);
    for (uint32_t r = 1; r <= t->devices + t->links; r++)
        resources[r] =
            (resource){.speed = SPEED_1,
                       .latency = r > t->devices ? picoseconds(t->latency_s[r - t->devices]) : 0};
    while (w.happened < o->changes && o->change[order[w.happened]].at <= 0)
        change(&w, &o->change[order[w.happened++]]);
    for (uint32_t i = 1; i <= t->n; i++)
        tasks[i] =
            (task){.stage = t->first_in[i] == t->first_in[i + 1] ? QUEUED : WAITS, .ready = 0};
    do
        pass_instant(&w);
    while (pass_picosecond(&w) && w.now <= until);
    bool all = true;
    for (uint32_t i = 1; i <= t->n; i++) {
        all &= tasks[i].stage == DONE;
        ready[i] = tasks[i].ready;
        start[i] = tasks[i].start;
        end[i] = tasks[i].end;
        finish[i] = tasks[i].finish;
    }
    return all;
}
