/* plot_throughput.c - rows of throughput as curves. */
#include "config.h"

#include "io/plot_throughput.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/names.h"
#include "io/plot_curves.h"
#include "io/plot_inside.h"

typedef struct placed {
    uint32_t panel, series; /* ids of names, from 1 */
    const ss_plot_rate *row;
} placed;

typedef struct chart {
    const ss_plot_rate_options *ro;
    ss_names panels, names;
    placed *row;
    uint32_t rows;
    ss_plot_series series[SS_PLOT_MAX_SERIES];
    uint32_t n;
    const char *panel[SS_PLOT_MAX_PANELS];
    ss_arena arena;
    ss_error *err;
} chart;

/* Panel by panel, ours before what is published, series by series, by devices. */
static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->panel != y->panel)
        return x->panel < y->panel ? -1 : 1;
    if (x->row->published != y->row->published)
        return x->row->published ? 1 : -1;
    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    if (x->row->devices != y->row->devices)
        return x->row->devices < y->row->devices ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static ss_status check_row(const ss_plot_rate *r, uint32_t i, bool log_y, ss_error *err)
{
    if (!r->series || !*r->series)
        return ss_fail(err, SS_EINVAL, "row %u has no series", i + 1);
    if (!r->devices)
        return ss_fail(err, SS_EINVAL, "row %u, of %.60s: on 0 devices there is no throughput",
                       i + 1, r->series);
    if (!isfinite(r->value) || r->value < 0 || (log_y && r->value <= 0))
        return ss_fail(err, SS_EINVAL, "row %u, of %.60s on %u device%s: a throughput of %g%s",
                       i + 1, r->series, r->devices, ss_plural(r->devices), r->value,
                       log_y ? " on a logarithmic axis" : "");
    return SS_OK;
}

static ss_status place_rows(chart *c, const ss_plot_rate *row, uint32_t rows)
{
    c->row = ss_arena_take(&c->arena, rows * sizeof *c->row);
    if (!c->row)
        return ss_fail_memory(c->err, "a figure", rows * sizeof *c->row);
    for (uint32_t i = 0; i < rows; i++) {
        const char *panel = row[i].panel ? row[i].panel : "";
        ss_status s = check_row(&row[i], i, c->ro->log_y, c->err);
        if (!s)
            s = ss_names_add(&c->panels, panel, &c->row[i].panel, c->err);
        if (!s)
            s = ss_names_add(&c->names, row[i].series, &c->row[i].series, c->err);
        if (s)
            return s;
        c->row[i].row = &row[i];
    }
    c->rows = rows;
    qsort(c->row, rows, sizeof *c->row, by_place);
    for (uint32_t i = 1; i < rows; i++) {
        const placed *a = &c->row[i - 1], *b = &c->row[i];
        if (a->panel == b->panel && a->series == b->series &&
            a->row->published == b->row->published && a->row->devices == b->row->devices)
            return ss_fail(c->err, SS_EINVAL, "two rows of %.60s on %u device%s%s%.60s",
                           a->row->series, a->row->devices, ss_plural(a->row->devices),
                           a->row->panel ? " in " : "", a->row->panel ? a->row->panel : "");
    }
    return SS_OK;
}

static ss_status take_series(chart *c, ss_plot_series s, uint32_t n, double **x, double **y)
{
    if (c->n == SS_PLOT_MAX_SERIES)
        return ss_fail(c->err, SS_EINVAL, "more than %d curves in one figure", SS_PLOT_MAX_SERIES);
    *x = ss_arena_take(&c->arena, (n + (size_t)1) * sizeof **x);
    *y = ss_arena_take(&c->arena, (n + (size_t)1) * sizeof **y);
    if (!*x || !*y)
        return ss_fail_memory(c->err, "a figure", n * sizeof **x);
    s.x = *x;
    s.y = *y;
    s.n = n;
    c->series[c->n++] = s;
    return SS_OK;
}

/* The runs of rows that are one curve each.  What is published has a name in the legend where ours
 * has none. */
static ss_status add_runs(chart *c, bool published, const bool *ours)
{
    ss_status s = SS_OK;
    for (uint32_t i = 0, n; !s && i < c->rows; i += n) {
        const placed *p = &c->row[i];
        for (n = 1; i + n < c->rows && c->row[i + n].panel == p->panel &&
                    c->row[i + n].series == p->series &&
                    c->row[i + n].row->published == p->row->published;)
            n++;
        if (p->row->published != published)
            continue;
        double *x, *y;
        ss_plot_series curve = {
            .label = published && ours[p->series] ? NULL : ss_names_text(&c->names, p->series),
            .panel = p->panel - 1,
            .colour = p->series - 1,
            .look = SS_PLOT_BOTH,
            .tone = published ? SS_PLOT_PUBLISHED : SS_PLOT_PLAIN};
        s = take_series(c, curve, n, &x, &y);
        for (uint32_t k = 0; !s && k < n; k++) {
            x[k] = p[k].row->devices;
            y[k] = p[k].row->value;
        }
    }
    return s;
}

/* From the first row of the panel that has one device, which is of its first series. */
static ss_status add_ideal(chart *c)
{
    ss_status s = SS_OK;
    for (uint32_t i = 0, n; !s && i < c->rows; i += n) {
        const placed *p = &c->row[i];
        uint32_t most = 0;
        for (n = 0; i + n < c->rows && c->row[i + n].panel == p->panel; n++)
            most = p[n].row->devices > most ? p[n].row->devices : most;
        double *x, *y;
        if (p->row->devices != 1 || most == 1)
            continue;
        s = take_series(c,
                        (ss_plot_series){.panel = p->panel - 1,
                                         .colour = SS_PLOT_NO_COLOUR,
                                         .tone = SS_PLOT_PALE},
                        2, &x, &y);
        if (s)
            return s;
        x[0] = 1;
        x[1] = most;
        y[0] = y[1] = p->row->value;
    }
    return s;
}

/* In the legend, for curves of every colour; behind the others there. */
static ss_status add_entry(chart *c, const char *label, ss_plot_look look, ss_plot_tone tone)
{
    double *x, *y;
    ss_plot_series s = {.label = label, .colour = SS_PLOT_NO_COLOUR, .look = look, .tone = tone};
    return take_series(c, s, 0, &x, &y);
}

static ss_status add_series(chart *c)
{
    bool any = false, *ours = ss_arena_take(&c->arena, (c->names.n + (size_t)1) * sizeof *ours);
    if (!ours)
        return ss_fail_memory(c->err, "a figure", c->names.n * sizeof *ours);
    memset(ours, 0, (c->names.n + (size_t)1) * sizeof *ours);
    for (uint32_t i = 0; i < c->rows; i++)
        if (!c->row[i].row->published)
            ours[c->row[i].series] = true;
    for (uint32_t i = 0; i < c->rows; i++)
        any = any || (c->row[i].row->published && ours[c->row[i].series]);
    ss_status s = c->ro->ideal ? add_ideal(c) : SS_OK;
    bool ideal = c->n > 0;
    if (!s)
        s = add_runs(c, true, ours);
    if (!s)
        s = add_runs(c, false, ours);
    if (!s && any)
        s = add_entry(c, "published", SS_PLOT_BOTH, SS_PLOT_PUBLISHED);
    if (!s && ideal)
        s = add_entry(c, "ideal", SS_PLOT_LINES, SS_PLOT_PALE);
    return s;
}

static ss_status make_chart(chart *c, const ss_plot_rate *row, uint32_t rows, ss_text *out)
{
    ss_status s = place_rows(c, row, rows);
    if (!s && c->panels.n > SS_PLOT_MAX_PANELS)
        s = ss_fail(c->err, SS_EINVAL, "%u panels in one figure: there is room for %d", c->panels.n,
                    SS_PLOT_MAX_PANELS);
    if (!s)
        s = add_series(c);
    if (s)
        return s;
    for (uint32_t i = 0; i < c->panels.n; i++)
        c->panel[i] = ss_names_text(&c->panels, i + 1);
    const ss_plot_rate_options *ro = c->ro;
    ss_plot_curves curves = {.figure = "throughput",
                             .title = ro->title ? ro->title : "",
                             .x = {"devices", NULL, 2, NAN, NAN},
                             .y = {ro->y ? ro->y : "samples/s per device", NULL, ro->log_y ? 10 : 0,
                                   ro->log_y ? NAN : 0, NAN},
                             .panel = c->panel,
                             .panels = c->panels.n,
                             .columns = ro->columns,
                             .series = c->series,
                             .n = c->n,
                             .note = &ro->note,
                             .notes = ro->note ? 1 : 0,
                             .ticks_at_values = true};
    return ss_plot_curves_data(&curves, out, c->err);
}

ss_status ss_plot_throughput_data(const ss_plot_rate *row, uint32_t rows,
                                  const ss_plot_rate_options *ro, ss_text *out, ss_error *err)
{
    if (!rows)
        return ss_fail(err, SS_EINVAL, "a figure of throughput needs rows");
    chart *c = ss_alloc_zeroed(1, sizeof *c);
    if (!c)
        return ss_fail_memory(err, "a figure", sizeof *c);
    c->ro = ro;
    c->err = err;
    ss_status s = make_chart(c, row, rows, out);
    ss_names_free(&c->panels);
    ss_names_free(&c->names);
    ss_arena_free(&c->arena);
    ss_free(c);
    return s;
}

ss_status ss_plot_throughput(const ss_plot_rate *row, uint32_t rows, const char *path,
                             const ss_plot_rate_options *ro, const ss_plot_options *o,
                             ss_error *err)
{
    ss_text table = {0};
    ss_status s = ss_plot_check("throughput", path, o, err);
    if (!s)
        s = ss_plot_throughput_data(row, rows, ro, &table, err);
    if (!s)
        s = ss_plot_draw("throughput", &table, path, o, err);
    ss_text_free(&table);
    return s;
}
