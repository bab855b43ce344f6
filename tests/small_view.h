/* small_view.h - a view made by hand, with something in every field. */
#ifndef SS_SMALL_VIEW_H
#define SS_SMALL_VIEW_H

#include <string.h>

#include "io/view.h"

enum { SMALL_DEVICES = 3, SMALL_LANES = 5, SMALL_TASKS = 7, SMALL_HELDS = 6, SMALL_EDGES = 6 };
enum { SMALL_STRETCHES = 2, SMALL_EVENTS = 2 };

static ss_view_lane small_lane[SMALL_LANES + 1];
static ss_view_task small_task[SMALL_TASKS + 1];
static uint32_t small_more[] = {5, 4, 5};
static ss_view_held small_held[SMALL_HELDS] = {{1, 0, 1000},    {1, 700, 4097},        {1, 7919, 0},
                                               {2, 0, 1 << 30}, {2, 5, (1 << 30) + 1}, {3, 11, 7}};
static ss_view_stretch small_stretch[SMALL_STRETCHES] = {{5, 11, 7001028, true}, {2, 0, 31, false}};
static ss_view_event small_event[SMALL_EVENTS] = {
    {11, 5, "link 2 fails at 11 ps", 0, 3e-6, 0},
    {12, 2, "device 2 at 0.5 of its speed at 12 ps", 0, 0, 0.5}};
static uint32_t small_edge[SMALL_EDGES][2] = {{1, 2}, {2, 3}, {1, 4}, {3, 5}, {4, 5}, {5, 7}};

static void small_fill_lane(uint32_t i)
{
    static const char *const name[] = {"",           "gpu0",           "gpu1", "cpu \xc3\xa4",
                                       "gpu0->gpu1", "gpu1--cpu \"x\""};
    static const char *const kind[] = {"", "p100", "p100", "", "nvlink", "pcie"};
    bool is_link = i > SMALL_DEVICES;
    small_lane[i] = (ss_view_lane){.name = name[i],
                                   .kind = kind[i],
                                   .is_link = is_link,
                                   .capacity_bytes = is_link ? 0 : 17179869184.0 / (i + 0.7),
                                   .bytes_per_s = is_link ? 2.5e10 / 3 : 0,
                                   .busy = 7919 * (int64_t)i,
                                   .communicating = 31 * (int64_t)i,
                                   .longest_wait = 17,
                                   .sent = INT64_MAX - i,
                                   .received = 4 * (int64_t)i,
                                   .messages = UINT32_MAX - i,
                                   .held_peak = 1000 + (int64_t)i,
                                   .held_peak_at = 3 * (int64_t)i};
    for (uint32_t k = 0; k < SS_HELD_KINDS; k++)
        small_lane[i].held_peak_by[k] = 100 * (int64_t)k + i;
}

static void small_fill_task(uint32_t i)
{
    static const char *const name[] = {"",
                                       "conv1.forward[0]",
                                       "conv1[0] -> fc[1]",
                                       "conv1[0] -> fc[1]",
                                       "fc.forward[3]",
                                       "fc.backward[3], the longest name of them all, by far",
                                       "",
                                       "ring"};
    int64_t at = 1000003 * (int64_t)i;
    small_task[i] = (ss_view_task){.id = i,
                                   .lane = i % SMALL_LANES + 1,
                                   .lanes = i == 7 ? 4 : 1,
                                   .kind = (uint8_t)(i + 1),
                                   .cargo = (uint8_t)(i % SS_CARGOS),
                                   .on_critical_path = i % 2,
                                   .name = name[i],
                                   .op = i < 4   ? "conv1"
                                         : i < 6 ? "fc"
                                                 : "",
                                   .from_task = i / 2,
                                   .to_task = i < 6 ? i + 1 : 0,
                                   .from = i % 4,
                                   .to = (i + 1) % 4,
                                   .hop = i % 3,
                                   .behind = i == 3 ? 1 : 0,
                                   .ready = at,
                                   .start = at + 5,
                                   .end = at + 1000,
                                   .finish = at + 1000 + 7 * (i % 2),
                                   .bytes = 4096 * (int64_t)i};
}

/* Refers to the static arrays above; nothing to free. */
static ss_view small_view(void)
{
    for (uint32_t i = 1; i <= SMALL_LANES; i++)
        small_fill_lane(i);
    for (uint32_t i = 1; i <= SMALL_TASKS; i++)
        small_fill_task(i);
    ss_view v = {.model = "nmt",
                 .topology = "p100 4x4",
                 .strategy = "data parallel",
                 .assumptions = "links fifo-hop; parameter server, overlapped",
                 .step_time = 7001028,
                 .samples = 1024,
                 .bytes_moved = 65.830078125 * (1 << 30),
                 .charged_bytes = 0.1,
                 .path_compute = 7000000,
                 .path_transfer = 1000,
                 .path_queueing = 28,
                 .devices = SMALL_DEVICES,
                 .lanes = SMALL_LANES,
                 .tasks = SMALL_TASKS,
                 .mores = sizeof small_more / sizeof small_more[0],
                 .helds = SMALL_HELDS,
                 .edges = SMALL_EDGES,
                 .stretches = SMALL_STRETCHES,
                 .events = SMALL_EVENTS,
                 .lane = small_lane,
                 .task = small_task,
                 .more = small_more,
                 .held = small_held,
                 .edge = small_edge,
                 .stretch = small_stretch,
                 .event = small_event};
    for (uint32_t k = 0; k < SS_CARGOS; k++)
        v.moved[k] = 1e9 / (k + 3);
    return v;
}

static bool small_same_text(const char *a, const char *b)
{
    return !strcmp(a, b);
}

static bool small_same_lane(const ss_view_lane *a, const ss_view_lane *b)
{
    return small_same_text(a->name, b->name) && small_same_text(a->kind, b->kind) &&
           a->is_link == b->is_link && a->capacity_bytes == b->capacity_bytes &&
           a->bytes_per_s == b->bytes_per_s && a->busy == b->busy &&
           a->communicating == b->communicating && a->longest_wait == b->longest_wait &&
           a->sent == b->sent && a->received == b->received && a->messages == b->messages &&
           a->held_peak == b->held_peak && a->held_peak_at == b->held_peak_at &&
           !memcmp(a->held_peak_by, b->held_peak_by, sizeof a->held_peak_by);
}

static bool small_same_task(const ss_view_task *a, const ss_view_task *b)
{
    return a->id == b->id && a->lane == b->lane && a->lanes == b->lanes &&
           a->first_more == b->first_more && a->kind == b->kind && a->cargo == b->cargo &&
           a->on_critical_path == b->on_critical_path && small_same_text(a->name, b->name) &&
           small_same_text(a->op, b->op) && a->from_task == b->from_task &&
           a->to_task == b->to_task && a->from == b->from && a->to == b->to && a->hop == b->hop &&
           a->behind == b->behind && a->ready == b->ready && a->start == b->start &&
           a->end == b->end && a->finish == b->finish && a->bytes == b->bytes;
}

/* NULL: the same; else what differs. */
static const char *small_difference(const ss_view *a, const ss_view *b)
{
    if (!small_same_text(a->model, b->model) || !small_same_text(a->topology, b->topology) ||
        !small_same_text(a->strategy, b->strategy) ||
        !small_same_text(a->assumptions, b->assumptions))
        return "names";
    if (a->step_time != b->step_time || a->samples != b->samples ||
        a->bytes_moved != b->bytes_moved || a->charged_bytes != b->charged_bytes ||
        a->path_compute != b->path_compute || a->path_transfer != b->path_transfer ||
        a->path_queueing != b->path_queueing || memcmp(a->moved, b->moved, sizeof a->moved) != 0)
        return "summary";
    if (a->devices != b->devices || a->lanes != b->lanes || a->tasks != b->tasks ||
        a->mores != b->mores || a->helds != b->helds || a->edges != b->edges ||
        a->stretches != b->stretches || a->events != b->events)
        return "counts";
    for (uint32_t i = 1; i <= a->lanes; i++)
        if (!small_same_lane(&a->lane[i], &b->lane[i]))
            return "lanes";
    for (uint32_t i = 1; i <= a->tasks; i++)
        if (!small_same_task(&a->task[i], &b->task[i]))
            return "tasks";
    for (uint32_t i = 0; i < a->helds; i++)
        if (a->held[i].lane != b->held[i].lane || a->held[i].at != b->held[i].at ||
            a->held[i].bytes != b->held[i].bytes)
            return "memory";
    for (uint32_t i = 0; i < a->stretches; i++)
        if (a->stretch[i].lane != b->stretch[i].lane || a->stretch[i].from != b->stretch[i].from ||
            a->stretch[i].to != b->stretch[i].to || a->stretch[i].still != b->stretch[i].still)
            return "changed";
    for (uint32_t i = 0; i < a->events; i++)
        if (a->event[i].at != b->event[i].at || a->event[i].lane != b->event[i].lane ||
            !small_same_text(a->event[i].what, b->event[i].what) ||
            a->event[i].bytes_per_s != b->event[i].bytes_per_s ||
            a->event[i].latency_s != b->event[i].latency_s ||
            a->event[i].speed != b->event[i].speed)
            return "events";
    if (memcmp(a->more, b->more, a->mores * sizeof *a->more) != 0)
        return "more";
    return memcmp(a->edge, b->edge, a->edges * sizeof *a->edge) != 0 ? "edges" : NULL;
}

#endif
