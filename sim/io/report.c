#include "io/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "graph/tasks.h"

/* ------------------------------------------------------------------------------ columns of text */

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80; /* inside a UTF-8 character */
}

/* `width` columns of a name, cut with an ellipsis or filled with blanks; control bytes show as '?'.
 */
void ss_report_add_name(ss_text *out, const char *name, uint32_t width, bool fill)
{
    uint32_t columns = 0;
    for (const char *c = name; *c; c++)
        columns += !continues(*c);
    uint32_t shown = columns > width ? width - 1 : columns, at = 0;
    for (const char *c = name; *c; c++) {
        at += !continues(*c);
        if (at > shown)
            break;
        bool control = (unsigned char)*c < 0x20 || *c == 0x7f;
        ss_text_add_bytes(out, control ? "?" : c, 1);
    }
    if (columns > width)
        ss_text_add(out, "…");
    else if (fill)
        ss_text_add(out, "%*s", (int)(width - columns), "");
}

/* "weight_gradient" as a person says it. */
static const char *spoken(const char *name, char *buffer, size_t n)
{
    size_t i = 0;
    for (; name[i] && i + 1 < n; i++)
        buffer[i] = name[i] == '_' ? ' ' : name[i];
    buffer[i] = 0;
    return buffer;
}

static double share(const ss_view *v, ss_time part)
{
    return v->step_time > 0 ? 100 * (double)part / (double)v->step_time : 0;
}

static const char *bytes_text(double bytes, char *buffer)
{
    return ss_format_quantity(bytes, SS_UNIT_BYTES, buffer, SS_QUANTITY_TEXT);
}

static const char *time_text(ss_time t, char *buffer)
{
    return ss_format_time(t, buffer, SS_QUANTITY_TEXT);
}

/* Text broken at blanks so that no line passes the width; later lines are indented. */
void ss_report_add_wrapped(ss_text *out, const char *text, uint32_t indent)
{
    uint32_t column = indent;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > indent && column + 1 + word > SS_REPORT_WIDTH) {
            ss_text_add(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            ss_text_add(out, " ");
            column++;
        }
        ss_text_add_bytes(out, text, word);
        column += (uint32_t)word;
        text += word + (text[word] == ' ');
    }
    ss_text_add(out, "\n");
}

/* ----------------------------------------------------------------------------------------- head */

/* Names long as they may be are cut, but not what stands behind them: " (changed)". */
static void add_strategy_name(const char *name, uint32_t width, ss_text *out)
{
    static const char ending[] = " (changed)";
    size_t n = strlen(name), tail = sizeof ending - 1;
    ss_text front = {0};
    bool changed = n > tail && !strcmp(name + n - tail, ending);
    ss_text_add_bytes(&front, name, changed ? n - tail : n);
    ss_report_add_name(out, ss_text_get(&front), changed ? width - (uint32_t)tail : width, false);
    ss_text_add(out, "%s", changed ? ending : "");
    out->failed |= front.failed;
    ss_text_free(&front);
}

static void add_title(const ss_view *v, ss_text *out)
{
    ss_report_add_name(out, *v->model ? v->model : "task graph", 36, false);
    if (*v->topology) {
        ss_text_add(out, " on ");
        ss_report_add_name(out, v->topology, 26, false);
    }
    if (*v->strategy) {
        ss_text_add(out, ", ");
        add_strategy_name(v->strategy, 30, out);
    }
    ss_text_add(out, "\n");
}

static void add_moved(const ss_view *v, ss_text *out)
{
    char b[SS_QUANTITY_TEXT], words[SS_QUANTITY_TEXT];
    ss_text line = {0};
    const char *before = ": ";
    ss_text_add(&line, "%s", bytes_text(v->bytes_moved, b));
    for (uint32_t c = 1; c < SS_CARGOS; c++) {
        if (v->moved[c] <= 0)
            continue;
        ss_text_add(&line, "%s%s %s", before, spoken(ss_cargo_name(c), words, sizeof words),
                    bytes_text(v->moved[c], b));
        before = ", ";
    }
    ss_text_add(out, "  bytes moved  ");
    ss_report_add_wrapped(out, ss_text_get(&line), 15);
    out->failed |= line.failed;
    ss_text_free(&line);
}

static void add_head(const ss_view *v, ss_text *out)
{
    char b[SS_QUANTITY_TEXT];
    add_title(v, out);
    ss_text_add(out, "  step time    %s\n", time_text(v->step_time, b));
    if (v->samples > 0 && v->step_time > 0) {
        double rate = v->samples / ss_time_seconds(v->step_time);
        ss_text_add(out, "  throughput   %.*f samples/s, %.0f samples a step\n",
                    rate < 100    ? 2
                    : rate < 1000 ? 1
                                  : 0,
                    rate, v->samples);
    }
    add_moved(v, out);
    ss_text_add(out, "  tasks        %u on %u device%s and %u link%s\n", v->tasks, v->devices,
                ss_plural(v->devices), v->lanes - v->devices, ss_plural(v->lanes - v->devices));
    ss_text_add(out, "  assumptions  ");
    ss_report_add_wrapped(out, v->assumptions, 15);
}

/* -------------------------------------------------------------------------------------- devices */

typedef struct ranked {
    ss_time busy;
    uint32_t lane;
} ranked;

static int busiest_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->busy != y->busy)
        return x->busy > y->busy ? -1 : 1;
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

/* Lanes `first` .. `last`, busiest first. */
static ranked *rank(const ss_view *v, uint32_t first, uint32_t last)
{
    uint32_t n = last + 1 - first;
    ranked *list = ss_alloc(n * sizeof *list);
    if (!list)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        list[i] = (ranked){v->lane[first + i].busy, first + i};
    qsort(list, n, sizeof *list, busiest_first);
    return list;
}

static bool memory_known(const ss_view *v)
{
    return v->helds > 0;
}

static void add_device(const ss_view *v, uint32_t d, ss_text *out)
{
    const ss_view_lane *lane = &v->lane[d];
    char sent[SS_QUANTITY_TEXT], received[SS_QUANTITY_TEXT], peak[SS_QUANTITY_TEXT],
        capacity[SS_QUANTITY_TEXT];
    ss_text_add(out, "  ");
    ss_report_add_name(out, lane->name, 22, true);
    ss_text_add(out, " %5.1f%% %5.1f%% %5.1f%% %10s %10s", share(v, lane->busy),
                share(v, v->step_time - lane->busy), share(v, lane->communicating),
                bytes_text((double)lane->sent, sent), bytes_text((double)lane->received, received));
    if (memory_known(v))
        ss_text_add(out, " %10s", bytes_text((double)lane->held_peak, peak));
    if (memory_known(v) && lane->capacity_bytes > 0) {
        double part = 100 * (double)lane->held_peak / lane->capacity_bytes;
        ss_text_add(out, " of %s%s", bytes_text(lane->capacity_bytes, capacity),
                    part > 100 ? " OVER" : "");
    }
    ss_text_add(out, "\n");
}

static ss_status add_devices(const ss_view *v, ss_text *out, ss_error *err)
{
    if (!v->devices)
        return SS_OK;
    ranked *list = rank(v, 1, v->devices);
    if (!list)
        return ss_fail_memory(err, "a report", v->devices * sizeof *list);
    ss_text_add(out, "\n  %-22s %6s %6s %6s %10s %10s%s\n", "device", "busy", "idle", "comm.",
                "sent", "received", memory_known(v) ? "  peak memory" : "");
    uint32_t n = v->devices, half = SS_REPORT_DEVICES / 2;
    if (n <= SS_REPORT_DEVICES) {
        for (uint32_t d = 1; d <= n; d++)
            add_device(v, d, out);
    } else {
        for (uint32_t i = 0; i < half; i++)
            add_device(v, list[i].lane, out);
        ss_text_add(out, "  … %u more, %.1f%% to %.1f%% busy\n", n - 2 * half,
                    share(v, list[n - half - 1].busy), share(v, list[half].busy));
        for (uint32_t i = n - half; i < n; i++)
            add_device(v, list[i].lane, out);
    }
    ss_free(list);
    return SS_OK;
}

static ss_status add_links(const ss_view *v, ss_text *out, ss_error *err)
{
    uint32_t n = v->lanes - v->devices, used = 0;
    for (uint32_t l = v->devices + 1; l <= v->lanes; l++)
        used += v->lane[l].messages > 0 || v->lane[l].busy > 0;
    if (!used)
        return SS_OK;
    ranked *list = rank(v, v->devices + 1, v->lanes);
    if (!list)
        return ss_fail_memory(err, "a report", n * sizeof *list);
    ss_text_add(out, "\n  %-34s %6s %10s %10s %13s\n", "busiest links", "busy", "carried",
                "messages", "longest wait");
    uint32_t shown = used < SS_REPORT_LINKS ? used : SS_REPORT_LINKS;
    for (uint32_t i = 0; i < shown; i++) {
        const ss_view_lane *lane = &v->lane[list[i].lane];
        char carried[SS_QUANTITY_TEXT], wait[SS_QUANTITY_TEXT];
        ss_text_add(out, "  ");
        ss_report_add_name(out, lane->name, 34, true);
        ss_text_add(out, " %5.1f%% %10s %10u %13s\n", share(v, lane->busy),
                    bytes_text((double)lane->sent, carried), lane->messages,
                    time_text(lane->longest_wait, wait));
    }
    if (n > used)
        ss_text_add(out, "  … %u more, of which %u carry nothing\n", n - shown, n - used);
    else if (n > shown)
        ss_text_add(out, "  … %u more\n", n - shown);
    ss_free(list);
    return SS_OK;
}

/* -------------------------------------------------------------------------------- critical path */

/* "conv1 forward", "conv1.w weight gradient": what the tasks of one group do. */
static void add_contributor_name(const ss_contributor *c, ss_text *out)
{
    ss_text name = {0};
    char words[SS_QUANTITY_TEXT];
    const char *what = c->kind == SS_TASK_TRANSFER && c->cargo ? ss_cargo_name(c->cargo)
                                                               : ss_task_kind_name(c->kind);
    ss_text_add(&name, "%s", c->op);
    if (strcmp(c->op, what))
        ss_text_add(&name, " %s", spoken(what, words, sizeof words));
    ss_report_add_name(out, ss_text_get(&name), 38, true);
    out->failed |= name.failed;
    ss_text_free(&name);
}

static void add_contributor(const ss_view *v, const ss_contributor *c, ss_text *out)
{
    char active[SS_QUANTITY_TEXT], queueing[SS_QUANTITY_TEXT];
    ss_text_add(out, "  ");
    add_contributor_name(c, out);
    ss_text_add(out, " %6u %10s %10s %5.1f%%\n", c->tasks, time_text(c->active, active),
                time_text(c->queueing, queueing), share(v, c->active + c->queueing));
    if (!c->waited)
        return;
    const ss_view_task *t = &v->task[c->waited];
    uint32_t line = out->n;
    ss_text_add(out, "      longest %s for ", time_text(t->start - t->ready, queueing));
    ss_report_add_name(
        out, t->waited && t->waited <= v->lanes ? v->lane[t->waited].name : "a device", 26, false);
    if (t->behind && t->behind <= v->tasks) {
        ss_text_add(out, ", behind ");
        uint32_t used = out->n - line; /* bytes, so at least its columns */
        ss_report_add_name(out, v->task[t->behind].name, used < 80 ? SS_REPORT_WIDTH - used : 20,
                           false);
    }
    ss_text_add(out, "\n");
}

/* "  queueing: 94.0% for links, 0.8% for devices; most for hub1->root 50.1%, ..." */
static ss_status add_waited(const ss_view *v, ss_text *out, ss_error *err)
{
    ss_waited *list;
    uint32_t n;
    ss_text line = {0};
    if (!v->path_queueing)
        return SS_OK;
    ss_status s = ss_report_waited(v, &list, &n, err);
    if (s)
        return s;
    ss_text_add(&line, "%.1f%% for links, %.1f%% for devices", share(v, v->path_queueing_link),
                share(v, v->path_queueing_device));
    for (uint32_t i = 0; i < n && i < SS_REPORT_WAITED; i++) {
        if (i && share(v, list[i].queueing) < 0.05)
            break;
        ss_text_add(&line, "%s", i ? ", " : "; most for ");
        ss_report_add_name(&line, v->lane[list[i].lane].name, 26, false);
        ss_text_add(&line, " %.1f%%", share(v, list[i].queueing));
    }
    ss_text_add(out, "  queueing: ");
    ss_report_add_wrapped(out, ss_text_get(&line), 12);
    out->failed |= line.failed;
    ss_text_free(&line);
    ss_free(list);
    return SS_OK;
}

static ss_status add_critical(const ss_view *v, ss_text *out, ss_error *err)
{
    ss_contributor *list;
    uint32_t n;
    ss_status s = ss_report_contributors(v, &list, &n, err);
    if (s)
        return s;
    if (n) {
        uint32_t tasks = 0;
        for (uint32_t i = 0; i < n; i++)
            tasks += list[i].tasks;
        ss_text_add(out,
                    "\n  critical path: %.1f%% compute, %.1f%% transfer, %.1f%% queueing; %u %s\n",
                    share(v, v->path_compute), share(v, v->path_transfer),
                    share(v, v->path_queueing), tasks, tasks == 1 ? "task" : "tasks");
        if (v->path_overhead)
            ss_text_add(out, "  overhead of the step: %.1f%%\n", share(v, v->path_overhead));
        if (v->path_slowed)
            ss_text_add(out, "  shared links: %.1f%% is transfers slowed by others\n",
                        share(v, v->path_slowed));
        s = add_waited(v, out, err);
        ss_text_add(out, "  %-38s %6s %10s %10s %6s\n", "heaviest on it", "tasks", "active",
                    "queueing", "share");
    }
    uint32_t shown = n < SS_REPORT_CONTRIBUTORS ? n : SS_REPORT_CONTRIBUTORS;
    for (uint32_t i = 0; i < shown; i++)
        add_contributor(v, &list[i], out);
    if (n > shown) {
        ss_time rest = 0;
        for (uint32_t i = shown; i < n; i++)
            rest += list[i].active + list[i].queueing;
        ss_text_add(out, "  … %u more, together %.1f%%\n", n - shown, share(v, rest));
    }
    ss_free(list);
    return s;
}

/* ---------------------------------------------------------------------------------------- notes */

static void note_over_capacity(const ss_view *v, uint32_t over, uint32_t worst, ss_text *out)
{
    char held[SS_QUANTITY_TEXT], capacity[SS_QUANTITY_TEXT], at[SS_QUANTITY_TEXT],
        words[SS_QUANTITY_TEXT];
    const ss_view_lane *lane = &v->lane[worst];
    ss_text_add(out, "%u of %u device%s would run out of memory; most of all ", over, v->devices,
                ss_plural(v->devices));
    ss_report_add_name(out, lane->name, 40, false);
    ss_text_add(out, ", which holds %s of %s at %s: ", bytes_text((double)lane->held_peak, held),
                bytes_text(lane->capacity_bytes, capacity), time_text(lane->held_peak_at, at));
    const char *before = "";
    for (uint32_t k = 0; k < SS_HELD_KINDS; k++) {
        if (!lane->held_peak_by[k])
            continue;
        ss_text_add(out, "%s%s %s", before, spoken(ss_held_name(k), words, sizeof words),
                    bytes_text((double)lane->held_peak_by[k], held));
        before = ", ";
    }
    ss_text_add(out, "\n");
}

static void note_memory(const ss_view *v, ss_text *out)
{
    uint32_t over = 0, unknown = 0, worst = 0;
    double most = 1;
    for (uint32_t d = 1; d <= v->devices && memory_known(v); d++) {
        const ss_view_lane *lane = &v->lane[d];
        unknown += lane->capacity_bytes <= 0;
        if (lane->capacity_bytes <= 0 || (double)lane->held_peak <= lane->capacity_bytes)
            continue;
        over++;
        if ((double)lane->held_peak / lane->capacity_bytes > most) {
            most = (double)lane->held_peak / lane->capacity_bytes;
            worst = d;
        }
    }
    if (worst)
        note_over_capacity(v, over, worst, out);
    if (unknown)
        ss_text_add(out,
                    "the capacity of %u of %u device%s is not known: nothing is too large there\n",
                    unknown, v->devices, ss_plural(v->devices));
}

void ss_report_notes(const ss_view *v, ss_text *out)
{
    uint32_t unused = 0, endless = 0;
    note_memory(v, out);
    for (uint32_t d = 1; d <= v->devices; d++)
        unused += v->lane[d].busy == 0;
    for (uint32_t i = 1; i <= v->tasks; i++)
        endless += v->task[i].kind == SS_TASK_TRANSFER && !(v->task[i].from && v->task[i].to);
    if (unused && v->tasks)
        ss_text_add(out, "%u of %u devices compute%s nothing\n", unused, v->devices,
                    unused == 1 ? "s" : "");
    if (endless)
        ss_text_add(out, "%u transfer%s without devices: no device is charged with their bytes\n",
                    endless, ss_plural(endless));
    if (v->cautions)
        ss_text_add(out, "%s", v->cautions);
    if (v->charged_bytes > 0) {
        char bytes[SS_QUANTITY_TEXT];
        ss_text_add(out,
                    "%s of the bytes moved are charged in closed form and cross no simulated "
                    "link\n",
                    bytes_text(v->charged_bytes, bytes));
    }
}

static void add_notes(const ss_view *v, ss_text *out)
{
    ss_text notes = {0};
    ss_report_notes(v, &notes);
    char *line = notes.at;
    for (bool first = true; line && *line; first = false) {
        char *end = strchr(line, '\n');
        *end = 0;
        ss_text_add(out, first ? "\n  note: " : "  note: ");
        ss_report_add_wrapped(out, line, 8);
        line = end + 1;
    }
    out->failed |= notes.failed;
    ss_text_free(&notes);
}

ss_status ss_report_text(const ss_view *v, ss_text *out, ss_error *err)
{
    add_head(v, out);
    ss_status s = add_devices(v, out, err);
    if (!s)
        s = add_links(v, out, err);
    if (!s)
        s = add_critical(v, out, err);
    if (!s)
        add_notes(v, out);
    return s ? s : ss_text_status(out, err);
}
