#include "io/fit_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"

enum { WIDTH = 100, INDENT = 13 };

static const ss_unit units[SS_FIT_ESTIMATES] = {SS_UNIT_SECONDS, SS_UNIT_BYTES_PER_SECOND,
                                                SS_UNIT_BYTES};

/* -- notes ------------------------------------------------------------------------------------ */

static void note_what_is_open(const ss_fit *f, ss_text *out)
{
    const ss_estimate *e = f->of;
    if (!f->apart && !f->only_streamed)
        ss_text_add(out,
                    "times of single messages do not tell latency from half size: give a link the "
                    "one or the other, not both\n");
    if (f->only_streamed)
        ss_text_add(out,
                    "streamed messages hide the latency: times of single ones would tell it\n");
    if (!f->only_streamed && !e[SS_FIT_LATENCY].told)
        ss_text_add(out, "the latency cannot be told from 0: smaller messages would tell it\n");
    if (!e[SS_FIT_BANDWIDTH].told)
        ss_text_add(out, "the bandwidth cannot be told: larger messages would tell it\n");
    if ((f->apart || f->only_streamed) && !e[SS_FIT_HALF].told)
        ss_text_add(
            out, "the half size cannot be told from 0: smaller streamed messages would tell it\n");
}

void ss_fit_report_notes(const ss_fit *f, ss_text *out)
{
    note_what_is_open(f, out);
    if (f->bent)
        ss_text_add(
            out,
            "errors of neighbouring sizes are alike (correlation %.2f): no line is the shape of "
            "these times, its standard errors say too little, and what it calls outliers may be "
            "a bend; the curve follows it\n",
            f->drift);
}

/* -- the page --------------------------------------------------------------------------------- */

static void add_estimate(const ss_fit *f, ss_fit_of which, const char *what, const char *more,
                         ss_text *out)
{
    char value[SS_QUANTITY_TEXT], error[SS_QUANTITY_TEXT];
    const ss_estimate *e = &f->of[which];
    if (isnan(e->value)) {
        ss_text_add(out, "  %-10s not known%s\n", what, more);
        return;
    }
    ss_text_add(out, "  %-10s %s, standard error %s%s\n", what,
                ss_format_quantity(e->value, units[which], value, sizeof value),
                ss_format_quantity(e->error, units[which], error, sizeof error), more);
}

static void add_accuracy(const ss_accuracy *a, const char *what, const char *more, ss_text *out)
{
    if (!a->rows)
        return;
    ss_text_add(
        out,
        "  %-10s median error %.1f %%, 90th percentile %.1f %%, worst %.0f %%, mean %+.1f %%\n"
        "  %-10s within 5 %% %.0f %%, within 10 %% %.0f %%, within 20 %% %.0f %% of %u row%s%s\n",
        what, 100 * a->median, 100 * a->p90, 100 * a->worst, 100 * a->mean, "", 100 * a->within_5,
        100 * a->within_10, 100 * a->within_20, a->rows, ss_plural(a->rows), more);
}

static int furthest_first(const void *a, const void *b)
{
    const ss_fit_row *x = *(const ss_fit_row *const *)a, *y = *(const ss_fit_row *const *)b;
    double p = fabs(log1p(x->error)), q = fabs(log1p(y->error));
    return p > q ? -1 : p < q ? 1 : x < y ? -1 : x > y;
}

static ss_status add_outliers(const ss_fit *f, ss_text *out, ss_error *err)
{
    uint32_t n = 0;
    char bytes[SS_QUANTITY_TEXT], seconds[SS_QUANTITY_TEXT];
    if (!f->outliers)
        return SS_OK;
    const ss_fit_row **far = ss_alloc(f->outliers * sizeof *far);
    if (!far)
        return ss_fail_memory(err, "a report", f->outliers * sizeof *far);
    for (uint32_t i = 0; i < f->rows; i++)
        if (f->row[i].outlier)
            far[n++] = &f->row[i];
    qsort(far, n, sizeof *far, furthest_first);
    ss_text_add(out, "  %-10s %u of %u rows%s\n", "far off", n, f->rows,
                n > SS_FIT_REPORT_OUTLIERS ? ", the furthest of them:" : ":");
    for (uint32_t i = 0; i < n && i < SS_FIT_REPORT_OUTLIERS; i++)
        ss_text_add(
            out, "  %-10s row %u: %s in %s, %.3g times the line\n", "",
            (uint32_t)(far[i] - f->row) + 1,
            ss_format_quantity(far[i]->sample.bytes, SS_UNIT_BYTES, bytes, sizeof bytes),
            ss_format_quantity(far[i]->sample.seconds, SS_UNIT_SECONDS, seconds, sizeof seconds),
            1 / (1 + far[i]->error));
    ss_free(far);
    return SS_OK;
}

/* "  note       words ...", broken between words. */
static void add_wrapped(const char *words, size_t n, ss_text *out)
{
    const char *head = "note";
    while (n) {
        size_t line = n;
        if (line > WIDTH - INDENT) {
            line = WIDTH - INDENT;
            while (line > 1 && words[line] != ' ')
                line--;
        }
        ss_text_add(out, "  %-10s %.*s\n", head, (int)line, words);
        head = "";
        line += line < n; /* the blank */
        words += line;
        n -= line;
    }
}

static void add_head(const ss_fit *f, const char *name, ss_text *out)
{
    ss_text_add(out, "fit of %s%s", name, *name ? ": " : "");
    ss_pattern_say(&f->pattern, out);
    ss_text_add(out, ", %u rows of %u size%s\n", f->rows, f->sizes, ss_plural(f->sizes));
}

ss_status ss_fit_report_text(const ss_fit *f, const char *name, ss_text *out, ss_error *err)
{
    bool one = !f->apart && !f->only_streamed;
    ss_text notes = {0};
    add_head(f, name, out);
    add_estimate(f, SS_FIT_LATENCY, "latency", one ? " (a message's whole start-up)" : "", out);
    add_estimate(f, SS_FIT_BANDWIDTH, "bandwidth", "", out);
    add_estimate(f, SS_FIT_HALF, "half size", one ? " (the start-up, told as bytes)" : "", out);
    ss_text_add(out, "  %-10s %.2g %% of a time\n", "spread", 100 * f->spread);
    add_accuracy(&f->line, "line", "", out);
    add_accuracy(&f->curve, "curve", ", each size left out in turn", out);
    ss_status s = add_outliers(f, out, err);
    ss_fit_report_notes(f, &notes);
    for (const char *at = ss_text_get(&notes); *at;) {
        size_t n = strcspn(at, "\n");
        add_wrapped(at, n, out);
        at += n + (at[n] != 0);
    }
    if (!s)
        s = ss_text_status(&notes, err);
    ss_text_free(&notes);
    return s ? s : ss_text_status(out, err);
}

/* -- JSON ------------------------------------------------------------------------------------- */

static void add_number(ss_text *out, double x)
{
    char digits[SS_DOUBLE_TEXT];
    ss_text_add(out, "%s", isfinite(x) ? ss_format_double(x, digits, sizeof digits) : "null");
}

static void add_named(ss_text *out, const char *before, const char *name, double x)
{
    ss_text_add(out, "%s\"%s\":", before, name);
    add_number(out, x);
}

static void add_accuracy_json(const ss_accuracy *a, const char *name, ss_text *out)
{
    ss_text_add(out, ",\"%s\":{\"rows\":%u", name, a->rows);
    add_named(out, ",", "median_error", a->median);
    add_named(out, ",", "p90_error", a->p90);
    add_named(out, ",", "worst_error", a->worst);
    add_named(out, ",", "mean_error", a->mean);
    add_named(out, ",", "within_5_percent", a->within_5);
    add_named(out, ",", "within_10_percent", a->within_10);
    add_named(out, ",", "within_20_percent", a->within_20);
    ss_text_add(out, "}");
}

static void add_rows_json(const ss_fit *f, ss_text *out)
{
    ss_text_add(out, ",\"rows\":[");
    for (uint32_t i = 0; i < f->rows; i++) {
        const ss_fit_row *r = &f->row[i];
        add_named(out, i ? ",{" : "{", "bytes", r->sample.bytes);
        add_named(out, ",", "seconds", r->sample.seconds);
        add_named(out, ",", "fitted_s", r->fitted_s);
        add_named(out, ",", "error", r->error);
        ss_text_add(out, ",\"method\":\"%s\",\"outlier\":%s}",
                    r->sample.streamed ? "streamed" : "one_way", r->outlier ? "true" : "false");
    }
    ss_text_add(out, "]");
}

static ss_status add_curve_json(const ss_fit *f, ss_text *out, ss_error *err)
{
    ss_efficiency e = {0};
    ss_status s = ss_fit_curve(f, 0, false, &e, err);
    if (s == SS_ENOMEM)
        return s;
    if (s) { /* no size is left that a curve could be made of */
        ss_text_add(out, ",\"efficiency\":null");
        return SS_OK;
    }
    add_named(out, ",\"efficiency\":{", "bytes_per_s", e.bytes_per_s);
    ss_text_add(out, ",\"points\":[");
    for (uint32_t i = 0; i < e.n; i++) {
        ss_text_add(out, "%s[", i ? "," : "");
        add_number(out, e.bytes[i]);
        ss_text_add(out, ",");
        add_number(out, e.share[i]);
        ss_text_add(out, "]");
    }
    ss_text_add(out, "]}");
    ss_efficiency_free(&e);
    return SS_OK;
}

ss_status ss_fit_report_json(const ss_fit *f, const char *name, ss_text *out, ss_error *err)
{
    static const char *const keys[] = {"latency_s", "bytes_per_s", "half_bytes"};
    ss_text_add(out, "{\"curve\":");
    ss_text_add_json_string(out, name);
    ss_text_add(out, ",\"operation\":\"%s\",\"algorithm\":\"%s\",\"ranks\":%u,\"chunks\":%u",
                f->pattern.operation, f->pattern.algorithm, f->pattern.ranks, f->pattern.chunks);
    for (int e = 0; e < SS_FIT_ESTIMATES; e++) {
        ss_text_add(out, ",\"%s\":{", keys[e]);
        add_named(out, "", "value", f->of[e].value);
        add_named(out, ",", "standard_error", f->of[e].error);
        ss_text_add(out, ",\"told\":%s}", f->of[e].told ? "true" : "false");
    }
    ss_text_add(out, ",\"covariance\":[");
    for (int a = 0; a < SS_FIT_ESTIMATES; a++)
        for (int b = 0; b < SS_FIT_ESTIMATES; b++) {
            ss_text_add(out, "%s", b ? "," : a ? "],[" : "[");
            add_number(out, f->covariance[a][b]);
        }
    ss_text_add(out, "]],\"apart\":%s,\"bent\":%s", f->apart ? "true" : "false",
                f->bent ? "true" : "false");
    add_named(out, ",", "drift", f->drift);
    add_named(out, ",", "spread", f->spread);
    ss_text_add(out, ",\"freedom\":%u,\"sizes\":%u,\"outliers\":%u", f->freedom, f->sizes,
                f->outliers);
    add_accuracy_json(&f->line, "line", out);
    add_accuracy_json(&f->curve, "curve_left_out", out);
    add_rows_json(f, out);
    ss_status s = add_curve_json(f, out, err);
    ss_text_add(out, "}");
    return s ? s : ss_text_status(out, err);
}
