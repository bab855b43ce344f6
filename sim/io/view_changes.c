/* view_changes.c - when links and devices stood still or had other figures than at first. */
#include "io/view.h"

#include "base/mem.h"

/* A lane as it is, while the changes are gone through. */
typedef struct lane_now {
    double share; /* of its bandwidth at first; of a device its speed */
    bool other_latency, stopped;
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
        x->share = (c->bytes_per_s < 0 ? x->share : c->bytes_per_s / first) * c->share;
        if (c->latency_s >= 0)
            x->other_latency = c->latency_s != r->lowered->tasks.latency_s[c->who];
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

ss_status ss_view_stretches(const ss_result *r, ss_arena *arena, ss_view_stretch **out, uint32_t *n,
                            ss_error *err)
{
    uint32_t devices = r->lowered->tasks.devices, lanes = devices + r->lowered->tasks.links;
    *n = 0;
    *out = NULL;
    if (!r->changes)
        return SS_OK;
    size_t bytes = (r->changes + (size_t)lanes) * sizeof **out;
    *out = ss_arena_take(arena, bytes);
    lane_now *now = ss_alloc(((size_t)lanes + 1) * sizeof *now);
    if (!*out || !now) {
        ss_free(now);
        return ss_fail_memory(err, "what changed on the way", bytes);
    }
    for (uint32_t l = 0; l <= lanes; l++)
        now[l] = (lane_now){.share = 1};
    for (uint32_t i = 0; i < r->changes; i++) {
        const ss_change *c = &r->change[i];
        uint32_t lane = c->kind <= SS_CHANGE_LINK_WORKS ? devices + c->who : c->who;
        lane_now *x = &now[lane];
        obey(r, c, x);
        bool still = x->stopped || !(x->share > 0), other = x->share != 1 || x->other_latency;
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
