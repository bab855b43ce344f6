/* plot_data.c - what the tables of all figures share, and that of links. */
#include "config.h"

#include "io/plot_inside.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/tasks.h"

enum {
    CELLS_PER_INCH = 170, /* of the figure's width: what print can show; shorter bars are merged */
    NAME = 80,            /* letters of a name in a title, which is broken into lines */
    LINKS = 24
};

/* ---------------------------------------------------------------------------------------- cells */

/* Bytes of the letter that begins here; 0: it is no UTF-8, and SVG could not hold it. */
static uint32_t letter(const char *s)
{
    unsigned char c = (unsigned char)*s;
    uint32_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : 0;
    if (c >= 0xf0 && c < 0xf5)
        n = 4;
    for (uint32_t i = 1; i < n; i++)
        if (((unsigned char)s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

void ss_plot_add_field(ss_text *out, const char *s, uint32_t width)
{
    uint32_t n = 0, at = 0;
    for (const char *c = s; *c; c += letter(c) ? letter(c) : 1)
        n++;
    while (*s) {
        if (++at == width && n > width) {
            ss_text_add(out, "…");
            return;
        }
        uint32_t bytes = letter(s);
        unsigned char c = (unsigned char)*s;
        if (c == '\\')
            ss_text_add(out, "\\\\");
        else if (c == '"')
            ss_text_add(out, "\\042");
        else if (c < 0x20 || c == 0x7f)
            ss_text_add(out, " ");
        else
            ss_text_add_bytes(out, bytes ? s : "?", bytes ? bytes : 1);
        s += bytes ? bytes : 1;
    }
}

/* Messages and pages say "us", which any terminal can show; figures are in Unicode anyway. */
const char *ss_plot_time(ss_time t, char *b, size_t n)
{
    ss_format_time(t, b, n);
    size_t end = strlen(b);
    if (end > 3 && !strcmp(b + end - 3, " us") && end + 2 <= n)
        memcpy(b + end - 2, "µs", sizeof "µs");
    return b;
}

ss_status ss_plot_check_width(const ss_plot_options *o, ss_error *err)
{
    if (o->width_in == 0 ||
        (o->width_in >= SS_PLOT_SLIMMEST_IN && o->width_in <= SS_PLOT_WIDEST_IN))
        return SS_OK;
    return ss_fail(err, SS_EINVAL,
                   "a figure %g inches wide: from %d to %d inches can be drawn (%g is a column)",
                   o->width_in, SS_PLOT_SLIMMEST_IN, SS_PLOT_WIDEST_IN, SS_PLOT_COLUMN_IN);
}

/* Columns of a figure that a reader could tell apart. */
int64_t ss_plot_cells(const ss_plot_options *o)
{
    return (int64_t)(CELLS_PER_INCH * (o->width_in > 0 ? o->width_in : SS_PLOT_COLUMN_IN)) + 1;
}

void ss_plot_add_seconds(ss_text *out, ss_time t)
{
    ss_text_add(out, "\t%" PRId64 ".%012" PRId64, t / SS_PICOSECONDS, t % SS_PICOSECONDS);
}

/* "12 devices", "1 device" */
void ss_plot_add_count(ss_text *out, uint32_t n, const char *what)
{
    ss_text_add(out, "%u %s%s", n, what, ss_plural(n));
}

void ss_plot_add_title(const ss_view *v, const char *more, ss_text *out)
{
    char b[SS_QUANTITY_TEXT];
    ss_text_add(out, "0\t");
    ss_plot_add_field(out, *v->model ? v->model : "task graph", NAME);
    if (*v->topology)
        ss_text_add(out, " on ");
    ss_plot_add_field(out, v->topology, NAME);
    if (*v->strategy)
        ss_text_add(out, ", ");
    ss_plot_add_field(out, v->strategy, NAME);
    ss_text_add(out, ": %s a step%s\ttitle", ss_plot_time(v->step_time, b, sizeof b), more);
}

uint32_t ss_plot_colour(const ss_view_task *t)
{
    bool message = t->kind == SS_TASK_TRANSFER || t->kind == SS_TASK_COLLECTIVE;
    return message && t->cargo ? SS_TASK_KINDS + (uint32_t)t->cargo : t->kind;
}

const char *ss_plot_colour_name(uint32_t colour)
{
    return colour < SS_TASK_KINDS ? ss_task_kind_name(colour)
                                  : ss_cargo_name(colour - SS_TASK_KINDS);
}

/* ------------------------------------------------------------------------------- choosing lanes */

static int most_first(const void *a, const void *b)
{
    const ss_plot_ranked *x = a, *y = b;
    if (x->critical != y->critical)
        return x->critical ? -1 : 1;
    if (x->much != y->much)
        return x->much > y->much ? -1 : 1;
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

ss_plot_ranked *ss_plot_rank(const ss_view *v, uint32_t first, uint32_t last, bool by_memory,
                             const bool *critical, ss_error *err)
{
    uint32_t n = last + 1 - first;
    ss_plot_ranked *list = ss_alloc(n * sizeof *list);
    if (!list) {
        ss_fail_memory(err, "a figure", n * sizeof *list);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        list[i] =
            (ss_plot_ranked){by_memory ? v->lane[first + i].held_peak : v->lane[first + i].busy,
                             first + i, critical && critical[first + i]};
    qsort(list, n, sizeof *list, most_first);
    return list;
}

/* ---------------------------------------------------------------------------------------- links */

typedef struct load {
    ss_time by[SS_PLOT_COLOURS];
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
        uint32_t colour = ss_plot_colour(t);
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
    for (uint32_t c = 0; c < SS_PLOT_COLOURS; c++) {
        if (!taken->by[c])
            continue;
        ss_time after = before + taken->by[c];
        ss_text_add(out, "%u\t", row);
        ss_plot_add_field(out, v->lane[lane].name, SS_PLOT_LABEL);
        ss_text_add(out, "\t%s\t%.6f\t%.6f\t%" PRId64 "\n", ss_plot_colour_name(c),
                    100 * (double)before / whole, 100 * (double)after / whole, v->lane[lane].sent);
        before = after;
    }
    ss_text_add(out, "%u\t%s\tcarried\t%.6f\t%.6f\t%" PRId64 "\n", row,
                ss_format_quantity((double)v->lane[lane].sent, SS_UNIT_BYTES, b, sizeof b),
                100 * (double)before / whole, 100 * (double)before / whole, v->lane[lane].sent);
}

static void add_links_note(const ss_view *v, uint32_t used, uint32_t not_shown, ss_text *out)
{
    uint32_t links = v->lanes - v->devices;
    bool charged = v->charged_bytes > 0;
    char b[SS_QUANTITY_TEXT];
    if (links && used == links && !not_shown && !charged)
        return;
    ss_text_add(out, "0\t");
    if (!links)
        ss_text_add(out, "There are no links. ");
    else if (!used)
        ss_text_add(out, "No link carries anything: %u of %u are idle. ", links, links);
    else if (links > used)
        ss_text_add(out, "%u of %u links carry nothing. ", links - used, links);
    if (not_shown)
        ss_text_add(out, "Not shown: %u less busy link%s. ", not_shown, ss_plural(not_shown));
    if (charged)
        ss_text_add(out, "%s are charged in closed form, on no link. ",
                    ss_format_quantity(v->charged_bytes, SS_UNIT_BYTES, b, sizeof b));
    out->n--; /* the last blank */
    ss_text_add(out, "\tnote\t0\t0\t0\n");
}

static ss_status links_data(const ss_view *v, const ss_plot_options *o, ss_text *out, ss_error *err)
{
    uint32_t used = 0, most = o->max_links ? o->max_links : LINKS;
    for (uint32_t l = v->devices + 1; l <= v->lanes; l++)
        used += v->lane[l].busy > 0;
    ss_plot_ranked *list = ss_plot_rank(v, v->devices + 1, v->lanes, false, NULL, err);
    load *loads = list ? add_up_loads(v, err) : NULL;
    if (!loads) {
        ss_free(list);
        return SS_ENOMEM;
    }
    ss_text_add(out, "row\tlabel\tkind\tbegin_percent\tend_percent\tcarried_bytes\n");
    ss_plot_add_title(v, "", out);
    ss_text_add(out, "\t0\t0\t%.0f\n", v->bytes_moved);
    for (uint32_t i = 0; i < used && i < most; i++)
        add_link(v, i, list[i].lane, &loads[list[i].lane], out);
    add_links_note(v, used, used > most ? used - most : 0, out);
    ss_free(list);
    ss_free(loads);
    return SS_OK;
}

ss_status ss_plot_data(const ss_view *v, ss_plot_kind kind, const ss_plot_options *o, ss_text *out,
                       ss_error *err)
{
    ss_status s = ss_plot_check_width(o, err);
    if (s)
        return s;
    if ((kind == SS_PLOT_LINKS || kind == SS_PLOT_MEMORY) && (o->from || o->to))
        return ss_fail(err, SS_EINVAL,
                       "a figure of %s is of the whole step: from and to choose the window of a "
                       "gantt chart only; leave them out",
                       ss_plot_kind_name(kind));
    s = kind == SS_PLOT_GANTT    ? ss_plot_gantt_data(v, o, out, err)
        : kind == SS_PLOT_LINKS  ? links_data(v, o, out, err)
        : kind == SS_PLOT_MEMORY ? ss_plot_memory_data(v, o, out, err)
                                 : ss_fail(err, SS_EINVAL, "no such figure");
    return s ? s : ss_text_status(out, err);
}
