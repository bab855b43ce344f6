/* plot_gantt.c - the table of a Gantt chart: what each device and link does when. */
#include "config.h"

#include "io/plot_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/tasks.h"

enum {
    LINKS = 16,
    PATH_LINKS = 64 /* where the critical path runs over more than LINKS */
};

typedef struct bar {
    ss_time start, end, busy;
    ss_time by[SS_PLOT_COLOURS];
    uint32_t tasks;
} bar;

typedef struct gantt {
    const ss_view *v;
    ss_time from, to, cell;
    bool *shown;   /* [lanes + 1] */
    uint32_t *row; /* [lanes + 1]: from the top; only of shown lanes */
    ss_view_turn *turn;
    uint32_t turns;
    uint32_t devices_left_out, path_devices_left_out; /* the latter are of the critical path */
    uint32_t stretches;                               /* that are shown */
    uint32_t links_left_out, path_links_left_out, merged_tasks, merged_bars;
    ss_text *out;
    ss_error *err;
} gantt;

static void add_bar(gantt *g, uint32_t lane, const char *kind, ss_time start, ss_time end,
                    double filled, uint32_t tasks)
{
    ss_text_add(g->out, "%u\t", g->row[lane]);
    ss_plot_add_field(g->out, g->v->lane[lane].name, SS_PLOT_LABEL);
    ss_text_add(g->out, "\t%s", kind);
    ss_plot_add_seconds(g->out, start);
    ss_plot_add_seconds(g->out, end);
    ss_text_add(g->out, "\t%.4g\t%u\n", filled, tasks);
}

/* A run of bars too short to be told apart: as high as the lane was busy in it, in the colour of
 * what took most of that time. */
static void flush_run(gantt *g, uint32_t lane, bar *run)
{
    if (!run->tasks)
        return;
    uint32_t most = 0;
    for (uint32_t c = 1; c < SS_PLOT_COLOURS; c++)
        if (run->by[c] > run->by[most])
            most = c;
    double filled = (double)run->busy / (double)(run->end - run->start);
    add_bar(g, lane, ss_plot_colour_name(most), run->start, run->end, filled < 1 ? filled : 1,
            run->tasks);
    if (run->tasks > 1) {
        g->merged_tasks += run->tasks;
        g->merged_bars++;
    }
    *run = (bar){0};
}

static void add_lane_bars(gantt *g, const ss_view_turn *at, uint32_t n)
{
    bar run = {0};
    uint32_t lane = at->lane;
    for (uint32_t i = 0; i < n; i++) {
        const ss_view_task *t = &g->v->task[at[i].task];
        ss_time start = t->start > g->from ? t->start : g->from;
        ss_time end = t->end < g->to ? t->end : g->to;
        bool small = end - start < g->cell;
        if (run.tasks && (!small || (start - g->from) / g->cell != (run.start - g->from) / g->cell))
            flush_run(g, lane, &run);
        if (!run.tasks)
            run.start = run.end = start;
        run.end = end > run.end ? end : run.end;
        run.busy += end - start;
        run.by[ss_plot_colour(t)] += end - start;
        run.tasks++;
        if (!small)
            flush_run(g, lane, &run);
    }
    flush_run(g, lane, &run);
}

/* A mark of the critical path; those less than a cell apart are drawn as one. */
typedef struct mark {
    uint32_t lane; /* 0: none yet */
    ss_time start, end;
} mark;

static void flush_mark(gantt *g, const char *kind, mark *m)
{
    if (m->lane)
        add_bar(g, m->lane, kind, m->start, m->end, 1, 0);
    *m = (mark){0};
}

static void extend_mark(gantt *g, const char *kind, mark *m, uint32_t lane, ss_time start,
                        ss_time end)
{
    start = start > g->from ? start : g->from;
    end = end < g->to ? end : g->to;
    if (m->lane != lane || start - m->end > g->cell)
        flush_mark(g, kind, m);
    if (!m->lane)
        *m = (mark){lane, start, end};
    m->end = end > m->end ? end : m->end;
}

static void add_lane_path(gantt *g, const ss_view_turn *at, uint32_t n)
{
    mark m = {0};
    for (uint32_t i = 0; i < n; i++) {
        const ss_view_task *t = &g->v->task[at[i].task];
        if (t->on_critical_path)
            extend_mark(g, "critical", &m, at->lane, t->start, t->end);
    }
    flush_mark(g, "critical", &m);
}

static void add_turns(gantt *g)
{
    for (uint32_t i = 0; i < g->turns;) {
        uint32_t n = 1;
        while (i + n < g->turns && g->turn[i + n].lane == g->turn[i].lane)
            n++;
        add_lane_bars(g, g->turn + i, n);
        add_lane_path(g, g->turn + i, n);
        i += n;
    }
}

static uint32_t lane_of(const ss_view *v, const ss_view_task *t, uint32_t k)
{
    return k ? v->more[t->first_more + k - 1] : t->lane;
}

/* Whether the critical path stands in a queue in the window. */
static bool waits(const gantt *g, const ss_view_task *t)
{
    return t->on_critical_path && t->start > t->ready && t->start > g->from && t->ready < g->to;
}

/* Of the lanes that a task waits for, the one that the task in front of it has. */
static uint32_t lane_of_wait(const ss_view *v, const ss_view_task *t)
{
    const ss_view_task *front = &v->task[t->behind];
    if (!t->behind || t->behind > v->tasks)
        return t->lane;
    for (uint32_t k = 0; k < t->lanes; k++)
        for (uint32_t f = 0; f < front->lanes; f++)
            if (lane_of(v, t, k) == lane_of(v, front, f))
                return lane_of(v, t, k);
    return t->lane;
}

static ss_status add_waits(gantt *g)
{
    const ss_view *v = g->v;
    mark m = {0};
    uint32_t most = 0, n = 0;
    for (uint32_t i = 1; i <= v->tasks; i++)
        most += waits(g, &v->task[i]);
    ss_view_turn *list = ss_alloc(most * sizeof *list);
    if (!list)
        return ss_fail_memory(g->err, "a figure", most * sizeof *list);
    for (uint32_t i = 1; i <= v->tasks && n < most; i++) {
        const ss_view_task *t = &v->task[i];
        uint32_t lane = waits(g, t) ? lane_of_wait(v, t) : 0;
        if (lane && g->shown[lane])
            list[n++] = (ss_view_turn){t->ready, lane, i};
    }
    qsort(list, n, sizeof *list, ss_view_turn_order);
    for (uint32_t i = 0; i < n; i++)
        extend_mark(g, "waiting", &m, list[i].lane, list[i].start, v->task[list[i].task].start);
    flush_mark(g, "waiting", &m);
    ss_free(list);
    return SS_OK;
}

static bool is_shown(const gantt *g, const ss_view_stretch *s)
{
    return g->shown[s->lane] && s->to > g->from && s->from < g->to;
}

/* Where a lane stands still or has other figures; how many are shown. */
static uint32_t add_stretches(gantt *g)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->v->stretches; i++) {
        const ss_view_stretch *s = &g->v->stretch[i];
        if (!is_shown(g, s))
            continue;
        add_bar(g, s->lane, s->still ? "still" : "changed", s->from > g->from ? s->from : g->from,
                s->to < g->to ? s->to : g->to, 1, 0);
        n++;
    }
    return n;
}

static bool in_window(const gantt *g, const ss_view_task *t)
{
    return t->end > t->start && t->end > g->from && t->start < g->to;
}

static void list_turn(gantt *g, uint32_t lane, uint32_t task)
{
    const ss_view_task *t = &g->v->task[task];
    if (lane && g->shown[lane] && in_window(g, t))
        g->turn[g->turns++] = (ss_view_turn){t->start, lane, task};
}

static ss_status list_turns(gantt *g)
{
    const ss_view *v = g->v;
    size_t most = (size_t)v->tasks + v->mores;
    g->turn = ss_alloc(most * sizeof *g->turn);
    if (!g->turn)
        return ss_fail_memory(g->err, "a figure", most * sizeof *g->turn);
    for (uint32_t i = 1; i <= v->tasks; i++) {
        const ss_view_task *t = &v->task[i];
        list_turn(g, t->lane, i);
        for (uint32_t k = 1; k < t->lanes; k++)
            list_turn(g, lane_of(v, t, k), i);
    }
    qsort(g->turn, g->turns, sizeof *g->turn, ss_view_turn_order);
    return SS_OK;
}

/* critical[lane] becomes true where the critical path runs or waits in the window. */
static void find_path(const gantt *g, bool *critical)
{
    const ss_view *v = g->v;
    for (uint32_t i = 1; i <= v->tasks; i++) {
        const ss_view_task *t = &v->task[i];
        if (waits(g, t))
            critical[lane_of_wait(v, t)] = true;
        if (!t->on_critical_path || !in_window(g, t))
            continue;
        for (uint32_t k = 0; k < t->lanes; k++)
            critical[lane_of(v, t, k)] = true;
    }
}

static uint32_t count_critical(const ss_plot_ranked *list, uint32_t n)
{
    uint32_t path = 0;
    while (path < n && list[path].critical)
        path++;
    return path;
}

/* All devices, or `most`: those of the critical path, and of the others half the busiest and half
 * the idlest. */
static ss_status choose_devices(gantt *g, uint32_t most, const bool *critical)
{
    const ss_view *v = g->v;
    ss_plot_ranked *list = ss_plot_rank(v, 1, v->devices, false, critical, g->err);
    if (!list)
        return SS_ENOMEM;
    uint32_t n = v->devices < most ? v->devices : most;
    uint32_t path = count_critical(list, v->devices), kept = path < n ? path : n;
    for (uint32_t i = 0; i < n; i++)
        g->shown[list[i < kept + (n - kept + 1) / 2 ? i : v->devices - n + i].lane] = true;
    g->path_devices_left_out = path - kept;
    g->devices_left_out = v->devices - n - (path - kept);
    ss_free(list);
    return SS_OK;
}

/* Of the links that carried anything: those of the critical path, then the busiest.  A path over
 * more links than are usually shown gets room, for a path with gaps misleads; a limit that was
 * asked for holds. */
static ss_status choose_links(gantt *g, uint32_t asked, const bool *critical)
{
    const ss_view *v = g->v;
    ss_plot_ranked *list = ss_plot_rank(v, v->devices + 1, v->lanes, false, critical, g->err);
    if (!list)
        return SS_ENOMEM;
    uint32_t links = v->lanes - v->devices, path = count_critical(list, links), used = path;
    while (used < links && list[used].much > 0)
        used++;
    uint32_t room = path < PATH_LINKS ? path : PATH_LINKS;
    uint32_t most = asked ? asked : room > LINKS ? room : LINKS;
    for (uint32_t i = 0; i < used && i < most; i++)
        g->shown[list[i].lane] = true;
    g->path_links_left_out = path > most ? path - most : 0;
    g->links_left_out = (used > most ? used - most : 0) - g->path_links_left_out;
    ss_free(list);
    return SS_OK;
}

/* Devices from the top, then one empty row, then links. */
static ss_status place_lanes(gantt *g, const ss_plot_options *o)
{
    const ss_view *v = g->v;
    g->shown = ss_alloc_zeroed(v->lanes + (size_t)1, sizeof *g->shown);
    g->row = ss_alloc_zeroed(v->lanes + (size_t)1, sizeof *g->row);
    bool *critical = ss_alloc_zeroed(v->lanes + (size_t)1, sizeof *critical);
    if (!g->shown || !g->row || !critical) {
        ss_free(critical);
        return ss_fail_memory(g->err, "a figure", v->lanes * sizeof *g->row);
    }
    find_path(g, critical);
    ss_status s = choose_devices(g, o->max_devices ? o->max_devices : SS_PLOT_DEVICES, critical);
    if (!s)
        s = choose_links(g, o->max_links, critical);
    ss_free(critical);
    uint32_t row = 0;
    for (uint32_t l = 1; l <= v->lanes; l++) {
        if (l == v->devices + 1)
            row++;
        if (g->shown[l])
            g->row[l] = row++;
    }
    return s;
}

static void add_gantt_head(gantt *g)
{
    const ss_view *v = g->v;
    ss_text_add(g->out, "row\tlabel\tkind\tbegin_s\tend_s\tfilled\ttasks\n");
    char window[2 * SS_QUANTITY_TEXT + 40] = "", from[SS_QUANTITY_TEXT], to[SS_QUANTITY_TEXT];
    if (g->from > 0 || g->to < v->step_time)
        snprintf(window, sizeof window, ", of which %s to %s is shown",
                 ss_plot_time(g->from, from, sizeof from), ss_plot_time(g->to, to, sizeof to));
    ss_plot_add_title(v, window, g->out);
    ss_plot_add_seconds(g->out, g->from);
    ss_plot_add_seconds(g->out, g->to);
    ss_text_add(g->out, "\t0\t0\n");
    for (uint32_t l = 1; l <= v->lanes; l++)
        if (g->shown[l])
            add_bar(g, l, l <= v->devices ? "device" : "link", g->from, g->to, 0, 0);
}

static void add_gantt_note(gantt *g, const char *text)
{
    ss_text_add(g->out, "0\t%s\tnote", text);
    ss_plot_add_seconds(g->out, g->from);
    ss_plot_add_seconds(g->out, g->to);
    ss_text_add(g->out, "\t0\t0\n");
}

static void add_left_out(gantt *g, ss_text *note, uint32_t n, const char *what, const char *which)
{
    if (!n)
        return;
    ss_text_clear(note);
    ss_text_add(note, "Not shown: ");
    ss_plot_add_count(note, n, what);
    ss_text_add(note, "%s", which);
    add_gantt_note(g, ss_text_get(note));
}

static ss_status add_gantt_notes(gantt *g)
{
    char shortest[SS_QUANTITY_TEXT];
    ss_text note = {0};
    if (g->v->step_time <= 0)
        add_gantt_note(g, "The step takes no time.");
    if (g->stretches)
        add_gantt_note(
            g, "Hatched: stands still. Dotted: has another bandwidth, latency or speed than at "
               "first.");
    if (g->merged_tasks) {
        ss_plot_add_count(&note, g->merged_tasks, "task");
        ss_text_add(&note, " shorter than %s ", ss_plot_time(g->cell, shortest, sizeof shortest));
        ss_text_add(&note, "are drawn merged into ");
        ss_plot_add_count(&note, g->merged_bars, "bar");
        ss_text_add(&note, ": height is the share of time busy, colour what took most of it.");
        add_gantt_note(g, ss_text_get(&note));
    }
    add_left_out(g, &note, g->path_devices_left_out, "device", " of the critical path.");
    add_left_out(g, &note, g->devices_left_out, "device", " between the busiest and the idlest.");
    add_left_out(g, &note, g->path_links_left_out, "link", " of the critical path.");
    add_left_out(g, &note, g->links_left_out, "less busy link", ".");
    ss_status s = ss_text_status(&note, g->err);
    ss_text_free(&note);
    return s;
}

static ss_status check_window(const ss_view *v, const ss_plot_options *o, ss_error *err)
{
    char from[SS_QUANTITY_TEXT], to[SS_QUANTITY_TEXT];
    ss_format_time(o->from, from, sizeof from);
    ss_format_time(o->to, to, sizeof to);
    if (o->from < 0 || o->to < 0)
        return ss_fail(err, SS_EINVAL,
                       "a chart from %s to %s: times count from the begin of the step", from, to);
    if (o->to && o->to <= o->from)
        return ss_fail(err, SS_EINVAL, "a chart from %s to %s: it has to end after it begins", from,
                       to);
    if (o->from && o->from >= v->step_time)
        return ss_fail(err, SS_EINVAL, "a chart from %s on: the step is over at %s", from,
                       ss_format_time(v->step_time, to, sizeof to));
    return SS_OK;
}

ss_status ss_plot_gantt_data(const ss_view *v, const ss_plot_options *o, ss_text *out,
                             ss_error *err)
{
    ss_status s = check_window(v, o, err);
    if (s)
        return s;
    gantt g = {.v = v, .from = o->from, .out = out, .err = err};
    ss_time end = v->step_time > 0 ? v->step_time : 1; /* an axis has a length */
    g.to = o->to ? o->to : end; /* behind the end: two steps can have one axis */
    g.cell = (g.to - g.from) / ss_plot_cells(o) + 1;
    s = place_lanes(&g, o);
    if (!s)
        s = list_turns(&g);
    if (!s) {
        add_gantt_head(&g);
        add_turns(&g);
        s = add_waits(&g);
        g.stretches = add_stretches(&g);
    }
    if (!s)
        s = add_gantt_notes(&g);
    ss_free(g.shown);
    ss_free(g.row);
    ss_free(g.turn);
    return s;
}
