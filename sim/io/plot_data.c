/* plot_data.c - what the tables of all figures share. */
#include "config.h"

#include "io/plot_inside.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/tasks.h"

enum {
    CELLS_PER_INCH = 170, /* of the figure's width: what print can show; shorter bars are merged */
    NAME = 80             /* letters of a name in a title, which is broken into lines */
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
    return ss_view_is_message(t) && t->cargo ? SS_TASK_KINDS + (uint32_t)t->cargo : t->kind;
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

/* In the table alone: nothing draws it. */
static void add_assumptions(const ss_view *v, ss_plot_kind kind, ss_text *out)
{
    if (!v->assumptions || !*v->assumptions)
        return;
    ss_text_add(out, "0\t");
    ss_plot_add_field(out, v->assumptions, UINT32_MAX);
    ss_text_add(out, "\tassumptions\t0\t0\t0%s\n", kind == SS_PLOT_GANTT ? "\t0" : "");
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
        : kind == SS_PLOT_LINKS  ? ss_plot_links_data(v, o, out, err)
        : kind == SS_PLOT_MEMORY ? ss_plot_memory_data(v, o, out, err)
                                 : ss_fail(err, SS_EINVAL, "no such figure");
    if (!s)
        add_assumptions(v, kind, out);
    return s ? s : ss_text_status(out, err);
}
