/* plot_curves.c - the table of curves. */
#include "config.h"

#include "io/plot_curves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/plot_inside.h"

enum { NOTE = 2000 }; /* letters; the scripts break it into lines */

static const char *const look_names[SS_PLOT_LOOKS] = {"lines", "steps", "points", "both"};
static const char *const tone_names[SS_PLOT_TONES] = {"plain", "pale", "published"};

const char *ss_plot_look_name(ss_plot_look l)
{
    return (unsigned)l < SS_PLOT_LOOKS ? look_names[l] : "none";
}

const char *ss_plot_tone_name(ss_plot_tone t)
{
    return (unsigned)t < SS_PLOT_TONES ? tone_names[t] : "none";
}

static bool same_entry(const ss_plot_series *a, const ss_plot_series *b)
{
    return b->label && a->colour == b->colour && a->look == b->look && a->tone == b->tone &&
           !strcmp(a->label, b->label);
}

/* One for each label and look: panels share the legend. */
static bool has_entry(const ss_plot_curves *c, uint32_t k)
{
    const ss_plot_series *s = &c->series[k];
    for (uint32_t i = 0; i < k && s->label; i++)
        if (same_entry(s, &c->series[i]))
            return false;
    return s->label != NULL;
}

/* ------------------------------------------------------------------------------ what is refused */

static ss_status check_axis(const ss_plot_axis *a, const char *which, ss_error *err)
{
    if (a->log != 0 && a->log != 2 && a->log != 10)
        return ss_fail(err, SS_EINVAL,
                       "axis %s is logarithmic to the base of %u: there are 2 and 10", which,
                       a->log);
    if (isinf(a->from) || isinf(a->to) || a->from >= a->to)
        return ss_fail(err, SS_EINVAL, "axis %s goes from %g to %g", which, a->from, a->to);
    if (a->log && a->from <= 0)
        return ss_fail(err, SS_EINVAL, "from_%s is %g: an axis that is logarithmic begins above 0",
                       which, a->from);
    if (a->log && a->to <= 0)
        return ss_fail(err, SS_EINVAL, "to_%s is %g: an axis that is logarithmic ends above 0",
                       which, a->to);
    return SS_OK;
}

static ss_status check_ticks(const ss_plot_curves *c, ss_error *err)
{
    for (uint32_t i = 0; i < c->n_ticks; i++) {
        if (!isfinite(c->ticks[i]))
            return ss_fail(err, SS_EINVAL, "tick %u is %g, which is nowhere", i + 1, c->ticks[i]);
        if (c->x.log && c->ticks[i] <= 0)
            return ss_fail(err, SS_EINVAL, "tick %u is %g, and that axis is logarithmic", i + 1,
                           c->ticks[i]);
    }
    return SS_OK;
}

static ss_status check_point(const ss_plot_curves *c, uint32_t k, uint32_t i, ss_error *err)
{
    char name[80];
    const ss_plot_series *s = &c->series[k];
    if (s->label)
        snprintf(name, sizeof name, "\"%.60s\"", s->label);
    else
        snprintf(name, sizeof name, "%u", k + 1);
    double x = s->x[i], y = s->y[i];
    if (!isfinite(x) || isinf(y))
        return ss_fail(err, SS_EINVAL, "series %s, point %u: (%g, %g) is nowhere", name, i + 1, x,
                       y);
    if (c->x.log && (x < 0 || (x == 0 && !c->zero_at_left)))
        return ss_fail(err, SS_EINVAL, "series %s, point %u: x is %g, and that axis is logarithmic",
                       name, i + 1, x);
    if (c->y.log && y <= 0)
        return ss_fail(err, SS_EINVAL, "series %s, point %u: y is %g, and that axis is logarithmic",
                       name, i + 1, y);
    return SS_OK;
}

/* Whether something of what lies between two values is between the ends of an axis. */
static bool meets(const ss_plot_axis *a, double v, double w)
{
    return !(fmax(v, w) < a->from) && !(fmin(v, w) > a->to); /* an end that is not given is NAN */
}

/* Whether the axes leave something of a series: a point, or what may be a part of a line. */
static bool is_seen(const ss_plot_curves *c, const ss_plot_series *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (isnan(s->y[i]))
            continue;
        bool joined = s->look != SS_PLOT_POINTS && i && !isnan(s->y[i - 1]);
        uint32_t k = joined ? i - 1 : i;
        if (meets(&c->x, s->x[k], s->x[i]) && meets(&c->y, s->y[k], s->y[i]))
            return true;
    }
    return false;
}

static ss_status check_seen(const ss_plot_curves *c, ss_error *err)
{
    for (uint32_t k = 0; k < c->n; k++)
        if (is_seen(c, &c->series[k]))
            return SS_OK;
    double least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
    for (uint32_t k = 0; k < c->n; k++)
        for (uint32_t i = 0; i < c->series[k].n; i++) {
            double v[2] = {c->series[k].x[i], c->series[k].y[i]};
            for (int d = 0; d < 2 && !isnan(v[1]); d++) {
                least[d] = fmin(least[d], v[d]);
                most[d] = fmax(most[d], v[d]);
            }
        }
    return ss_fail(
        err, SS_EINVAL,
        "there is nothing to see between the ends of the axes that are given: x goes from "
        "%g to %g, y from %g to %g",
        least[0], most[0], least[1], most[1]);
}

static ss_status check(const ss_plot_curves *c, ss_error *err)
{
    uint32_t points = 0, entries = 0;
    ss_status s = check_axis(&c->x, "x", err);
    if (!s)
        s = check_axis(&c->y, "y", err);
    if (!s)
        s = check_ticks(c, err);
    if (!s && c->n > SS_PLOT_MAX_SERIES)
        s = ss_fail(err, SS_EINVAL, "%u series in one figure: %d can be drawn, at most", c->n,
                    SS_PLOT_MAX_SERIES);
    if (!s && (!c->panels || c->panels > SS_PLOT_MAX_PANELS))
        s = ss_fail(err, SS_EINVAL, "a figure of %u panels: there is room for 1 to %d", c->panels,
                    SS_PLOT_MAX_PANELS);
    for (uint32_t k = 0; !s && k < c->n; k++)
        for (uint32_t i = 0; !s && i < c->series[k].n; i++) {
            s = check_point(c, k, i, err);
            points += isnan(c->series[k].y[i]) ? 0 : 1;
        }
    for (uint32_t k = 0; !s && k < c->n; k++)
        entries += has_entry(c, k) ? 1 : 0;
    if (!s && entries > SS_PLOT_MAX_ENTRIES)
        s = ss_fail(err, SS_EINVAL, "%u names in one legend: %d can be told apart, at most",
                    entries, SS_PLOT_MAX_ENTRIES);
    if (!s && !points)
        s = ss_fail(err, SS_EINVAL, "there is nothing to draw: no series has a point");
    return s ? s : check_seen(c, err);
}

/* ---------------------------------------------------------------------------------- the table */

/* panel, series, kind, label, style; x and y follow. */
static void begin_row(ss_text *out, uint32_t panel, uint32_t series, const char *kind,
                      const char *label, const char *style)
{
    ss_text_add(out, "%u\t%u\t%s\t", panel, series, kind);
    ss_plot_add_field(out, label, SS_PLOT_LABEL);
    ss_text_add(out, "\t%s", style);
}

static void end_row(ss_text *out, double x, double y)
{
    char b[2][SS_DOUBLE_TEXT];
    ss_text_add(out, "\t%s\t%s\n", isnan(x) ? "0" : ss_format_double(x, b[0], sizeof b[0]),
                isnan(y) ? "0" : ss_format_double(y, b[1], sizeof b[1]));
}

static void add_axis(ss_text *out, const ss_plot_axis *a, char which, bool ticks)
{
    const char *style = a->log == 2 ? "log2" : a->log ? "log" : "linear";
    char kind[16] = {which};
    strcpy(kind + 1, "_axis");
    begin_row(out, 0, 0, kind, a->name, style);
    end_row(out, 0, 0);
    if (a->unit) {
        strcpy(kind + 1, "_unit");
        begin_row(out, 0, 0, kind, a->unit, "-");
        end_row(out, 0, 0);
    }
    if (!isnan(a->from)) {
        strcpy(kind + 1, "_from");
        begin_row(out, 0, 0, kind, "", "-");
        end_row(out, a->from, 0);
    }
    if (!isnan(a->to)) {
        strcpy(kind + 1, "_to");
        begin_row(out, 0, 0, kind, "", "-");
        end_row(out, a->to, 0);
    }
    if (ticks) {
        strcpy(kind + 1, "_ticks");
        begin_row(out, 0, 0, kind, "at the values", "-");
        end_row(out, 0, 0);
    }
}

static double colour_of(const ss_plot_series *s)
{
    return s->colour == SS_PLOT_NO_COLOUR ? -1 : (double)s->colour;
}

static void add_style(ss_text *out, const ss_plot_series *s)
{
    ss_text_add(out, "%s %s", ss_plot_look_name(s->look), ss_plot_tone_name(s->tone));
}

static void add_entries(const ss_plot_curves *c, ss_text *out)
{
    for (uint32_t k = 0; k < c->n; k++) {
        const ss_plot_series *s = &c->series[k];
        if (!has_entry(c, k))
            continue;
        begin_row(out, 0, 0, "entry", s->label, "");
        add_style(out, s);
        end_row(out, colour_of(s), 0);
    }
}

static void add_series(const ss_plot_curves *c, uint32_t k, ss_text *out)
{
    const ss_plot_series *s = &c->series[k];
    begin_row(out, s->panel, k + 1, "series", s->label ? s->label : "", "");
    add_style(out, s);
    end_row(out, colour_of(s), 0);
    for (uint32_t i = 0; i < s->n; i++) {
        if (isnan(s->y[i])) {
            ss_text_add(out, "\n"); /* an empty line interrupts a curve */
            continue;
        }
        begin_row(out, s->panel, k + 1, "point", "", "-");
        end_row(out, s->x[i], s->y[i]);
    }
    ss_text_add(out, "\n");
}

ss_status ss_plot_curves_data(const ss_plot_curves *c, ss_text *out, ss_error *err)
{
    ss_status s = check(c, err);
    if (s)
        return s;
    ss_text_add(out, "panel\tseries\tkind\tlabel\tstyle\tx\ty\n");
    begin_row(out, 0, 0, "title", c->title, "-");
    end_row(out, 0, 0);
    add_axis(out, &c->x, 'x', c->ticks_at_values);
    for (uint32_t i = 0; i < c->n_ticks; i++) {
        begin_row(out, 0, 0, "x_tick", "", "-");
        end_row(out, c->ticks[i], 0);
    }
    add_axis(out, &c->y, 'y', false);
    for (uint32_t p = 0; p < c->panels; p++) {
        begin_row(out, p, 0, "panel", c->panel ? c->panel[p] : "", "-");
        end_row(out, p == 0 ? c->columns : 0, 0);
    }
    add_entries(c, out);
    for (uint32_t k = 0; k < c->n; k++)
        if (c->series[k].n)
            add_series(c, k, out);
    for (uint32_t i = 0; i < c->notes; i++) {
        ss_text_add(out, "0\t0\tnote\t");
        ss_plot_add_field(out, c->note[i], NOTE);
        ss_text_add(out, "\t-\t0\t0\n");
    }
    return ss_text_status(out, err);
}

ss_status ss_plot_curves_draw(const ss_plot_curves *c, const char *path, const ss_plot_options *o,
                              ss_error *err)
{
    ss_text table = {0};
    ss_status s = ss_plot_check(c->figure, path, o, err);
    if (!s)
        s = ss_plot_curves_data(c, &table, err);
    if (!s)
        s = ss_plot_draw(c->figure, &table, path, o, err);
    ss_text_free(&table);
    return s;
}
