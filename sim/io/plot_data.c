/* plot_data.c - the tables that the gnuplot scripts draw. */
#include "config.h"

#include "io/plot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/tasks.h"

enum {
    CELLS_PER_INCH = 170, /* of the figure's width: what print can show; shorter bars are merged */
    WIDEST_IN = 40,
    LABEL_WIDTH = 200, /* characters of a lane's name; the scripts shorten what they show */
    GANTT_DEVICES = 64,
    GANTT_LINKS = 16,
    GANTT_PATH_LINKS = 64, /* where the critical path runs over more than GANTT_LINKS */
    LINKS_LINKS = 24,
    COLOURS = SS_TASK_KINDS + SS_CARGOS /* what a bar may show: a kind of task, or a cargo */
};

/* ---------------------------------------------------------------------------------------- cells */

/* A field of the table: no tabs, line ends or quotes (gnuplot would take them for syntax), and
 * names cut to `width` characters. */
static void add_field(ss_text *out, const char *s, uint32_t width)
{
    uint32_t n = 0, at = 0;
    for (const char *c = s; *c; c++)
        n += ((unsigned char)*c & 0xc0) != 0x80;
    for (; *s; s++) {
        at += ((unsigned char)*s & 0xc0) != 0x80;
        if (n > width && at == width) {
            ss_text_add(out, "…");
            return;
        }
        char c = (unsigned char)*s < 0x20 || *s == 0x7f ? ' ' : *s == '"' ? '\'' : *s;
        ss_text_add_bytes(out, &c, 1);
    }
}

/* Columns of a figure that a reader could tell apart. */
static int64_t cells_of(const ss_plot_options *o)
{
    return (int64_t)(CELLS_PER_INCH * (o->width_in > 0 ? o->width_in : SS_PLOT_COLUMN_IN)) + 1;
}

static void add_seconds(ss_text *out, ss_time t)
{
    ss_text_add(out, "\t%" PRId64 ".%012" PRId64, t / SS_PICOSECONDS, t % SS_PICOSECONDS);
}

/* "12 devices", "1 device" */
static void add_count(ss_text *out, uint32_t n, const char *what)
{
    ss_text_add(out, "%u %s%s", n, what, n == 1 ? "" : "s");
}

static void add_title(const ss_view *v, ss_text *out)
{
    char b[SS_QUANTITY_TEXT];
    ss_text_add(out, "0\t");
    add_field(out, *v->model ? v->model : "task graph", 24);
    if (*v->topology)
        ss_text_add(out, " on ");
    add_field(out, v->topology, 20);
    if (*v->strategy)
        ss_text_add(out, ", ");
    add_field(out, v->strategy, 20);
    ss_text_add(out, ": %s a step\ttitle", ss_format_time(v->step_time, b, sizeof b));
}

static uint32_t colour_of(const ss_view_task *t)
{
    bool message = t->kind == SS_TASK_TRANSFER || t->kind == SS_TASK_COLLECTIVE;
    return message && t->cargo ? SS_TASK_KINDS + (uint32_t)t->cargo : t->kind;
}

static const char *colour_name(uint32_t colour)
{
    return colour < SS_TASK_KINDS ? ss_task_kind_name(colour)
                                  : ss_cargo_name(colour - SS_TASK_KINDS);
}

/* ------------------------------------------------------------------------------- choosing lanes */

typedef struct ranked {
    int64_t much;
    uint32_t lane;
    bool critical; /* comes before all that are not */
} ranked;

static int most_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->critical != y->critical)
        return x->critical ? -1 : 1;
    if (x->much != y->much)
        return x->much > y->much ? -1 : 1;
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

/* critical: [lanes + 1], or NULL where the critical path does not matter. */
static ranked *rank(const ss_view *v, uint32_t first, uint32_t last, bool by_memory,
                    const bool *critical, ss_error *err)
{
    uint32_t n = last + 1 - first;
    ranked *list = ss_alloc(n * sizeof *list);
    if (!list) {
        ss_fail_memory(err, "a figure", n * sizeof *list);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        list[i] = (ranked){by_memory ? v->lane[first + i].held_peak : v->lane[first + i].busy,
                           first + i, critical && critical[first + i]};
    qsort(list, n, sizeof *list, most_first);
    return list;
}

/* ---------------------------------------------------------------------------------- Gantt chart */

typedef struct turn {
    ss_time start;
    uint32_t lane, task;
} turn;

static int by_lane_then_start(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

typedef struct bar {
    ss_time start, end, busy;
    ss_time by[COLOURS];
    uint32_t tasks;
} bar;

typedef struct gantt {
    const ss_view *v;
    ss_time since, until, cell;
    bool *shown;   /* [lanes + 1] */
    uint32_t *row; /* [lanes + 1]: from the top; only of shown lanes */
    turn *turn;
    uint32_t turns;
    uint32_t devices_left_out, path_devices_left_out; /* the latter are of the critical path */
    uint32_t links_left_out, path_links_left_out, merged_tasks, merged_bars;
    ss_text *out;
    ss_error *err;
} gantt;

static void add_bar(gantt *g, uint32_t lane, const char *kind, ss_time start, ss_time end,
                    double filled, uint32_t tasks)
{
    ss_text_add(g->out, "%u\t", g->row[lane]);
    add_field(g->out, g->v->lane[lane].name, LABEL_WIDTH);
    ss_text_add(g->out, "\t%s", kind);
    add_seconds(g->out, start);
    add_seconds(g->out, end);
    ss_text_add(g->out, "\t%.4g\t%u\n", filled, tasks);
}

/* A run of bars too short to be told apart: as high as the lane was busy in it, in the colour of
 * what took most of that time. */
static void flush_run(gantt *g, uint32_t lane, bar *run)
{
    if (!run->tasks)
        return;
    uint32_t most = 0;
    for (uint32_t c = 1; c < COLOURS; c++)
        if (run->by[c] > run->by[most])
            most = c;
    double filled = (double)run->busy / (double)(run->end - run->start);
    add_bar(g, lane, colour_name(most), run->start, run->end, filled < 1 ? filled : 1, run->tasks);
    if (run->tasks > 1) {
        g->merged_tasks += run->tasks;
        g->merged_bars++;
    }
    *run = (bar){0};
}

static void add_lane_bars(gantt *g, const turn *at, uint32_t n)
{
    bar run = {0};
    uint32_t lane = at->lane;
    for (uint32_t i = 0; i < n; i++) {
        const ss_view_task *t = &g->v->task[at[i].task];
        ss_time start = t->start > g->since ? t->start : g->since;
        ss_time end = t->end < g->until ? t->end : g->until;
        bool small = end - start < g->cell;
        if (run.tasks &&
            (!small || (start - g->since) / g->cell != (run.start - g->since) / g->cell))
            flush_run(g, lane, &run);
        if (!run.tasks)
            run.start = run.end = start;
        run.end = end > run.end ? end : run.end;
        run.busy += end - start;
        run.by[colour_of(t)] += end - start;
        run.tasks++;
        if (!small)
            flush_run(g, lane, &run);
    }
    flush_run(g, lane, &run);
}

/* Where the critical path runs on this lane; stretches less than a cell apart are drawn as one. */
static void add_lane_path(gantt *g, const turn *at, uint32_t n)
{
    ss_time start = 0, end = -1;
    for (uint32_t i = 0; i < n; i++) {
        const ss_view_task *t = &g->v->task[at[i].task];
        if (!t->on_critical_path)
            continue;
        if (end >= 0 && t->start - end > g->cell) {
            add_bar(g, at->lane, "critical", start, end, 1, 0);
            end = -1;
        }
        if (end < 0)
            start = t->start > g->since ? t->start : g->since;
        ss_time until = t->end < g->until ? t->end : g->until;
        end = until > end ? until : end;
    }
    if (end >= 0)
        add_bar(g, at->lane, "critical", start, end, 1, 0);
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

static bool in_window(const gantt *g, const ss_view_task *t)
{
    return t->end > t->start && t->end > g->since && t->start < g->until;
}

static void list_turn(gantt *g, uint32_t lane, uint32_t task)
{
    const ss_view_task *t = &g->v->task[task];
    if (lane && g->shown[lane] && in_window(g, t))
        g->turn[g->turns++] = (turn){t->start, lane, task};
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
            list_turn(g, v->more[t->first_more + k - 1], i);
    }
    qsort(g->turn, g->turns, sizeof *g->turn, by_lane_then_start);
    return SS_OK;
}

/* critical[lane] becomes true where the critical path runs in the window. */
static void find_path(const gantt *g, bool *critical)
{
    const ss_view *v = g->v;
    for (uint32_t i = 1; i <= v->tasks; i++) {
        const ss_view_task *t = &v->task[i];
        if (!t->on_critical_path || !in_window(g, t))
            continue;
        critical[t->lane] = true;
        for (uint32_t k = 1; k < t->lanes; k++)
            critical[v->more[t->first_more + k - 1]] = true;
    }
}

static uint32_t count_critical(const ranked *list, uint32_t n)
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
    ranked *list = rank(v, 1, v->devices, false, critical, g->err);
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
    ranked *list = rank(v, v->devices + 1, v->lanes, false, critical, g->err);
    if (!list)
        return SS_ENOMEM;
    uint32_t links = v->lanes - v->devices, path = count_critical(list, links), used = path;
    while (used < links && list[used].much > 0)
        used++;
    uint32_t room = path < GANTT_PATH_LINKS ? path : GANTT_PATH_LINKS;
    uint32_t most = asked ? asked : room > GANTT_LINKS ? room : GANTT_LINKS;
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
    ss_status s = choose_devices(g, o->max_devices ? o->max_devices : GANTT_DEVICES, critical);
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
    add_title(v, g->out);
    add_seconds(g->out, g->since);
    add_seconds(g->out, g->until);
    ss_text_add(g->out, "\t0\t0\n");
    for (uint32_t l = 1; l <= v->lanes; l++)
        if (g->shown[l])
            add_bar(g, l, l <= v->devices ? "device" : "link", g->since, g->until, 0, 0);
}

static void add_gantt_note(gantt *g, const char *text)
{
    ss_text_add(g->out, "0\t%s\tnote", text);
    add_seconds(g->out, g->since);
    add_seconds(g->out, g->until);
    ss_text_add(g->out, "\t0\t0\n");
}

static void add_left_out(gantt *g, ss_text *note, uint32_t n, const char *what, const char *which)
{
    if (!n)
        return;
    ss_text_clear(note);
    ss_text_add(note, "Not shown: ");
    add_count(note, n, what);
    ss_text_add(note, "%s", which);
    add_gantt_note(g, ss_text_get(note));
}

static ss_status add_gantt_notes(gantt *g)
{
    char shortest[SS_QUANTITY_TEXT];
    ss_text note = {0};
    if (g->merged_tasks) {
        add_count(&note, g->merged_tasks, "task");
        ss_text_add(&note, " shorter than %s ", ss_format_time(g->cell, shortest, sizeof shortest));
        ss_text_add(&note, "are drawn merged into ");
        add_count(&note, g->merged_bars, "bar");
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

static ss_status gantt_data(const ss_view *v, const ss_plot_options *o, ss_text *out, ss_error *err)
{
    gantt g = {.v = v, .since = o->since, .out = out, .err = err};
    g.until = o->until && o->until < v->step_time ? o->until : v->step_time;
    if (v->step_time <= 0)
        return ss_fail(err, SS_EINVAL, "there is nothing to draw: the step takes no time");
    if (g.since < 0 || g.until <= g.since)
        return ss_fail(
            err, SS_EINVAL, "a chart from %g s to %g s of a step of %g s: the window is empty",
            ss_time_seconds(o->since), ss_time_seconds(g.until), ss_time_seconds(v->step_time));
    g.cell = (g.until - g.since) / cells_of(o) + 1;
    ss_status s = place_lanes(&g, o);
    if (!s)
        s = list_turns(&g);
    if (!s) {
        add_gantt_head(&g);
        add_turns(&g);
        s = add_gantt_notes(&g);
    }
    ss_free(g.shown);
    ss_free(g.row);
    ss_free(g.turn);
    return s;
}

/* ---------------------------------------------------------------------------------------- links */

typedef struct load {
    ss_time by[COLOURS];
} load;

static load *add_up_loads(const ss_view *v, ss_error *err)
{
    load *list = ss_alloc_zeroed(v->lanes + (size_t)1, sizeof *list);
    if (!list) {
        ss_fail_memory(err, "a figure", v->lanes * sizeof *list);
        return NULL;
    }
    for (uint32_t i = 1; i <= v->tasks; i++) {
        const ss_view_task *t = &v->task[i];
        uint32_t colour = colour_of(t);
        list[t->lane].by[colour] += t->end - t->start;
        for (uint32_t k = 1; k < t->lanes; k++)
            list[v->more[t->first_more + k - 1]].by[colour] += t->end - t->start;
    }
    return list;
}

static void add_link(const ss_view *v, uint32_t row, uint32_t lane, const load *taken, ss_text *out)
{
    double whole = (double)v->step_time;
    ss_time before = 0;
    char b[SS_QUANTITY_TEXT];
    for (uint32_t c = 0; c < COLOURS; c++) {
        if (!taken->by[c])
            continue;
        ss_time after = before + taken->by[c];
        ss_text_add(out, "%u\t", row);
        add_field(out, v->lane[lane].name, LABEL_WIDTH);
        ss_text_add(out, "\t%s\t%.6f\t%.6f\t%" PRId64 "\n", colour_name(c),
                    100 * (double)before / whole, 100 * (double)after / whole, v->lane[lane].sent);
        before = after;
    }
    ss_text_add(out, "%u\t%s\tcarried\t%.6f\t%.6f\t%" PRId64 "\n", row,
                ss_format_quantity((double)v->lane[lane].sent, SS_UNIT_BYTES, b, sizeof b),
                100 * (double)before / whole, 100 * (double)before / whole, v->lane[lane].sent);
}

static ss_status links_data(const ss_view *v, const ss_plot_options *o, ss_text *out, ss_error *err)
{
    uint32_t used = 0, links = v->lanes - v->devices,
             most = o->max_links ? o->max_links : LINKS_LINKS;
    for (uint32_t l = v->devices + 1; l <= v->lanes; l++)
        used += v->lane[l].busy > 0;
    if (!used || v->step_time <= 0)
        return ss_fail(err, SS_EINVAL, "there is nothing to draw: no link is busy in this step");
    ranked *list = rank(v, v->devices + 1, v->lanes, false, NULL, err);
    load *loads = list ? add_up_loads(v, err) : NULL;
    if (!loads) {
        ss_free(list);
        return SS_ENOMEM;
    }
    ss_text_add(out, "row\tlabel\tkind\tbegin_percent\tend_percent\tcarried_bytes\n");
    add_title(v, out);
    ss_text_add(out, "\t0\t0\t%.0f\n", v->bytes_moved);
    for (uint32_t i = 0; i < used && i < most; i++)
        add_link(v, i, list[i].lane, &loads[list[i].lane], out);
    if (used > most || links > used) {
        ss_text_add(out, "0\t");
        if (used > most)
            ss_text_add(out, "Not shown: %u less busy links. ", used - most);
        if (links > used)
            ss_text_add(out, "%u of %u links carry nothing.", links - used, links);
        ss_text_add(out, "\tnote\t0\t0\t0\n");
    }
    ss_free(list);
    ss_free(loads);
    return SS_OK;
}

/* --------------------------------------------------------------------------------------- memory */

static void add_memory(const ss_view *v, ss_text *out, uint32_t row, uint32_t lane,
                       const char *kind, ss_time at, double from, double bytes)
{
    ss_text_add(out, "%u\t", row);
    add_field(out, v->lane[lane].name, LABEL_WIDTH);
    ss_text_add(out, "\t%s", kind);
    add_seconds(out, at);
    ss_text_add(out, "\t%.17g\t%.17g\n", from, bytes);
}

/* The steps of one device.  Of those that share a cell, only the first, the least, the greatest and
 * the last are kept: what is left out lies between them. Gives how many were left out. */
static uint32_t add_held(const ss_view *v, ss_text *out, uint32_t row, uint32_t lane,
                         const char *kind, const ss_view_held *h, uint32_t n, ss_time cell)
{
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < n;) {
        uint32_t last = i, least = i, greatest = i;
        while (last + 1 < n && h[last + 1].at / cell == h[i].at / cell) {
            last++;
            least = h[last].bytes < h[least].bytes ? last : least;
            greatest = h[last].bytes > h[greatest].bytes ? last : greatest;
        }
        for (uint32_t k = i; k <= last; k++) {
            if (k == i || k == last || k == least || k == greatest)
                add_memory(v, out, row, lane, kind, h[k].at, 0, (double)h[k].bytes);
            else
                left_out++;
        }
        i = last + 1;
    }
    if (!n)
        add_memory(v, out, row, lane, kind, 0, 0, 0);
    add_memory(v, out, row, lane, kind, v->step_time, 0, n ? (double)h[n - 1].bytes : 0);
    ss_text_add(out, "\n"); /* an empty line ends a curve */
    return left_out;
}

static void add_peak(const ss_view *v, ss_text *out, uint32_t row, uint32_t lane)
{
    const ss_view_lane *device = &v->lane[lane];
    int64_t before = 0;
    for (uint32_t k = 0; k < SS_HELD_KINDS; k++) {
        if (device->held_peak_by[k])
            add_memory(v, out, row, lane, ss_held_name(k), device->held_peak_at, (double)before,
                       (double)(before + device->held_peak_by[k]));
        before += device->held_peak_by[k];
    }
    if (device->capacity_bytes > 0)
        add_memory(v, out, row, lane, "capacity", device->held_peak_at, 0, device->capacity_bytes);
}

static uint32_t add_devices_memory(const ss_view *v, const ranked *list, uint32_t n,
                                   const bool *shown, ss_time cell, ss_text *out)
{
    uint32_t left_out = 0, row = 0;
    for (uint32_t d = 1, i = 0; d <= v->devices; d++) {
        uint32_t first = i;
        while (i < v->helds && v->held[i].lane == d)
            i++;
        if (!shown[d])
            continue;
        bool emptiest = d == list[n - 1].lane && list[n - 1].much < list[0].much;
        const char *kind = d == list[0].lane ? "held by the fullest"
                           : emptiest        ? "held by the emptiest"
                                             : "held";
        add_memory(v, out, row, d, "device", 0, 0, 0);
        left_out += add_held(v, out, row, d, kind, v->held + first, i - first, cell);
        add_peak(v, out, row++, d);
    }
    return left_out;
}

static ss_status memory_data(const ss_view *v, const ss_plot_options *o, ss_text *out,
                             ss_error *err)
{
    if (!v->helds || v->step_time <= 0)
        return ss_fail(err, SS_EINVAL,
                       "there is nothing to draw: a bare task graph holds no memory");
    uint32_t most = o->max_devices ? o->max_devices : GANTT_DEVICES;
    uint32_t n = v->devices < most ? v->devices : most;
    bool *shown = ss_alloc_zeroed(v->devices + (size_t)1, sizeof *shown);
    ranked *list = shown ? rank(v, 1, v->devices, true, NULL, err) : NULL;
    if (!list) {
        ss_free(shown);
        return ss_fail_memory(err, "a figure", v->devices * sizeof *list);
    }
    for (uint32_t i = 0; i < n; i++)
        shown[list[i].lane] = true;
    ss_text_add(out, "row\tlabel\tkind\tat_s\tfrom_bytes\tbytes\n");
    add_title(v, out);
    add_seconds(out, v->step_time);
    ss_text_add(out, "\t0\t0\n");
    ss_time cell = v->step_time / cells_of(o) + 1;
    uint32_t left_out = add_devices_memory(v, list, n, shown, cell, out);
    if (left_out) {
        char length[SS_QUANTITY_TEXT];
        ss_text_add(out, "0\t%u changes less than %s apart are drawn by their extremes.\tnote",
                    left_out, ss_format_time(cell, length, sizeof length));
        add_seconds(out, 0);
        ss_text_add(out, "\t0\t0\n");
    }
    if (v->devices > n) {
        ss_text_add(out, "0\tNot shown: %u devices that hold less.\tnote", v->devices - n);
        add_seconds(out, 0);
        ss_text_add(out, "\t0\t0\n");
    }
    ss_free(shown);
    ss_free(list);
    return SS_OK;
}

ss_status ss_plot_data(const ss_view *v, ss_plot_kind kind, const ss_plot_options *o, ss_text *out,
                       ss_error *err)
{
    if (!(o->width_in >= 0 && o->width_in <= WIDEST_IN))
        return ss_fail(err, SS_EINVAL,
                       "a figure %g inches wide: from 0 (one column) to %d can be drawn",
                       o->width_in, WIDEST_IN);
    if ((kind == SS_PLOT_LINKS || kind == SS_PLOT_MEMORY) && (o->since || o->until))
        return ss_fail(
            err, SS_EINVAL,
            "a figure of %s is of the whole step: since and until choose the window of a "
            "gantt chart only; leave them out",
            ss_plot_kind_name(kind));
    ss_status s = kind == SS_PLOT_GANTT    ? gantt_data(v, o, out, err)
                  : kind == SS_PLOT_LINKS  ? links_data(v, o, out, err)
                  : kind == SS_PLOT_MEMORY ? memory_data(v, o, out, err)
                                           : ss_fail(err, SS_EINVAL, "no such figure");
    return s ? s : ss_text_status(out, err);
}
