/* view_changes.c - what happened to links and devices, and when they were not as at first. */
#include "io/view.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* A lane as it is, while the changes are gone through. */
typedef struct lane_now {
    double share; /* of its bandwidth at first; of a device its speed */
    double latency_s;
    bool stopped;
    bool open; /* a stretch began at `since` */
    bool still;
    ss_time since;
} lane_now;

static void obey(const ss_result *r, const ss_change *c, lane_now *x)
{
    double first;
    switch (c->kind) {
    case SS_CHANGE_LINK:
        first = r->lowered->tasks.bytes_per_s[c->who];
        x->share = c->bytes_per_s < 0 ? x->share * c->share : ss_change_bytes_per_s(c, 0) / first;
        if (c->latency_s >= 0)
            x->latency_s = c->latency_s;
        return;
    case SS_CHANGE_SPEED:
        x->share = c->speed;
        return;
    case SS_CHANGE_LINK_FAILS:
    case SS_CHANGE_PAUSE:
    case SS_CHANGE_DEVICE_FAILS:
        x->stopped = true;
        return;
    case SS_CHANGE_LINK_WORKS:
    case SS_CHANGE_RESUME:
        x->stopped = false;
        return;
    case SS_CHANGES:
        return;
    }
}

static void close_stretch(lane_now *x, uint32_t lane, ss_time at, ss_view_stretch *out, uint32_t *n)
{
    if (x->open && at > x->since)
        out[(*n)++] = (ss_view_stretch){lane, x->since, at, x->still};
    x->open = false;
}

/* All lanes as they are at first, rows from 1; the caller's to free. */
static ss_status at_first(const ss_result *r, lane_now **out, ss_error *err)
{
    const ss_tasks *t = &r->lowered->tasks;
    size_t rows = (size_t)t->devices + t->links + 1;
    *out = ss_alloc(rows * sizeof **out);
    if (!*out)
        return ss_fail_memory(err, "what changed on the way", rows * sizeof **out);
    for (size_t l = 0; l < rows; l++)
        (*out)[l] =
            (lane_now){.share = 1, .latency_s = l > t->devices ? t->latency_s[l - t->devices] : 0};
    return SS_OK;
}

static uint32_t lane_of(const ss_result *r, const ss_change *c)
{
    return c->kind <= SS_CHANGE_LINK_WORKS ? r->lowered->tasks.devices + c->who : c->who;
}

static bool is_other(const ss_result *r, const lane_now *x, uint32_t lane)
{
    const ss_tasks *t = &r->lowered->tasks;
    bool link = lane > t->devices;
    return x->share != 1 || (link && x->latency_s != t->latency_s[lane - t->devices]);
}

ss_status ss_view_stretches(const ss_result *r, ss_arena *arena, ss_view_stretch **out, uint32_t *n,
                            ss_error *err)
{
    uint32_t lanes = r->lowered->tasks.devices + r->lowered->tasks.links;
    *n = 0;
    *out = NULL;
    if (!r->changes)
        return SS_OK;
    size_t bytes = (r->changes + (size_t)lanes) * sizeof **out;
    *out = ss_arena_take(arena, bytes);
    if (!*out)
        return ss_fail_memory(err, "what changed on the way", bytes);
    lane_now *now;
    ss_status s = at_first(r, &now, err);
    if (s)
        return s;
    for (uint32_t i = 0; i < r->changes; i++) {
        const ss_change *c = &r->change[i];
        uint32_t lane = lane_of(r, c);
        lane_now *x = &now[lane];
        obey(r, c, x);
        bool still = x->stopped || !(x->share > 0), other = is_other(r, x, lane);
        if (x->open && x->still == still && (still || other))
            continue;
        close_stretch(x, lane, c->at, *out, n);
        x->open = still || other;
        x->still = still;
        x->since = c->at;
    }
    for (uint32_t l = 1; l <= lanes; l++)
        close_stretch(&now[l], l, r->step_time, *out, n);
    ss_free(now);
    return SS_OK;
}

static ss_status say_event(const ss_change *c, const ss_topology *t, ss_arena *arena,
                           const char **out, ss_error *err)
{
    ss_text text = {0};
    ss_change_say(c, t, &text);
    size_t bytes = strlen(ss_text_get(&text)) + 1;
    char *copy = text.failed ? NULL : ss_arena_take(arena, bytes);
    *out = copy ? memcpy(copy, ss_text_get(&text), bytes) : NULL;
    ss_text_free(&text);
    return copy ? SS_OK : ss_fail_memory(err, "what changed on the way", bytes);
}

ss_status ss_view_events(const ss_result *r, const ss_topology *t, ss_arena *arena,
                         ss_view_event **out, uint32_t *n, ss_error *err)
{
    const ss_tasks *tasks = &r->lowered->tasks;
    *n = 0;
    *out = NULL;
    if (!r->changes)
        return SS_OK;
    size_t bytes = r->changes * sizeof **out;
    *out = ss_arena_take(arena, bytes);
    if (!*out)
        return ss_fail_memory(err, "what changed on the way", bytes);
    lane_now *now;
    ss_status s = at_first(r, &now, err);
    for (uint32_t i = 0; i < r->changes && !s; i++) {
        const ss_change *c = &r->change[i];
        ss_view_event *e = &(*out)[(*n)++];
        *e = (ss_view_event){.at = c->at, .lane = lane_of(r, c)};
        lane_now *x = &now[e->lane];
        obey(r, c, x);
        double share = x->stopped ? 0 : x->share;
        if (e->lane > tasks->devices) {
            e->bytes_per_s = share * tasks->bytes_per_s[e->lane - tasks->devices];
            e->latency_s = x->latency_s;
        } else {
            e->speed = share;
        }
        s = say_event(c, t, arena, &e->what, err);
    }
    ss_free(now);
    return s;
}
