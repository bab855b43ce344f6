#include "io/plot_calibration.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "io/plot_inside.h"

enum {
    STEPS = 80, /* of a line that is straight on no logarithmic axis */
    NAME = 80,
    NOTE = 2000
};

static void add_row(ss_text *out, const char *kind, double bytes, double seconds, double ratio)
{
    char b[3][SS_DOUBLE_TEXT];
    ss_text_add(out, "%s\t\t%s\t%s\t%s\n", kind, ss_format_double(bytes, b[0], sizeof b[0]),
                ss_format_double(seconds, b[1], sizeof b[1]),
                ss_format_double(ratio, b[2], sizeof b[2]));
}

static void add_words(ss_text *out, const char *kind, const char *words)
{
    ss_text_add(out, "%s\t", kind);
    ss_plot_add_field(out, words, NOTE);
    ss_text_add(out, "\t0\t0\t0\n");
}

/* A quantity whose unit stays on the line of its number: with a blank that is not broken at. */
static void add_quantity(ss_text *out, const char *before, const char *quantity)
{
    size_t n = strcspn(quantity, " ");
    ss_text_add(out, "%s%.*s%s%s", before, (int)n, quantity, quantity[n] ? "\u00a0" : "",
                quantity[n] ? quantity + n + 1 : "");
}

/* "start-up 5.120 µs, 223.9 GB/s, half size 1.090 MiB" */
static void add_title(const ss_fit *f, const char *name, ss_text *out)
{
    char b[3][SS_QUANTITY_TEXT];
    ss_text_add(out, "title\t");
    ss_plot_add_field(out, name, NAME);
    ss_text_add(out, "%s", *name ? ", " : "");
    ss_pattern_say(&f->pattern, out);
    ss_text_add(out, ": ");
    ss_time latency;
    if (!f->only_streamed &&
        !ss_time_from_seconds(f->of[SS_FIT_LATENCY].value, "latency", &latency, NULL)) {
        add_quantity(out, f->apart ? "latency " : "start-up ",
                     ss_plot_time(latency, b[0], sizeof b[0]));
        ss_text_add(out, ", ");
    }
    add_quantity(out, "",
                 ss_format_quantity(f->of[SS_FIT_BANDWIDTH].value, SS_UNIT_BYTES_PER_SECOND, b[1],
                                    sizeof b[1]));
    add_quantity(out, ", half size ",
                 ss_format_quantity(f->of[SS_FIT_HALF].value, SS_UNIT_BYTES, b[2], sizeof b[2]));
    ss_text_add(out, "\t0\t0\t0\n");
}

static const char *kind_of(const ss_fit *f, const ss_fit_row *r)
{
    bool other = f->apart && r->sample.streamed;
    return r->outlier ? other ? "streamed far off" : "far off" : other ? "streamed" : "measured";
}

/* The line, from the least size above 0 to the largest. */
static void add_line(const ss_fit *f, bool streamed, ss_text *out)
{
    double least = INFINITY, most = 0;
    for (uint32_t i = 0; i < f->rows; i++) {
        double bytes = f->row[i].sample.bytes;
        least = bytes > 0 ? fmin(least, bytes) : least;
        most = fmax(most, bytes);
    }
    for (int i = 0; i <= STEPS; i++) {
        double bytes = i == STEPS ? most : least * pow(most / least, i / (double)STEPS);
        add_row(out, streamed && f->apart ? "line of streamed" : "line", bytes,
                ss_fit_seconds(f, bytes, streamed), 1);
    }
}

static ss_status add_note(const ss_fit *f, ss_text *out, ss_error *err)
{
    ss_text note = {0};
    ss_text_add(&note, "The line is off by %.1f %% in the median, %.0f %% at the 90th percentile.",
                100 * f->line.median, 100 * f->line.p90);
    if (f->outliers)
        ss_text_add(&note, " Crosses: %u of %u rows that it does not go by.", f->outliers, f->rows);
    if (f->bent)
        ss_text_add(&note,
                    " Errors of neighbouring sizes are alike: these times have another shape.");
    ss_status s = ss_text_status(&note, err);
    if (!s)
        add_words(out, "note", ss_text_get(&note));
    ss_text_free(&note);
    return s;
}

ss_status ss_plot_calibration_data(const ss_fit *f, const char *name, ss_text *out, ss_error *err)
{
    if (f->rows > SS_PLOT_MAX_SAMPLES)
        return ss_fail(err, SS_EINVAL, "%u rows in one figure: %d can be drawn, at most", f->rows,
                       SS_PLOT_MAX_SAMPLES);
    ss_text_add(out, "kind\tlabel\tbytes\tseconds\tmeasured_over_fitted\n");
    add_title(f, name, out);
    if (!f->only_streamed)
        add_line(f, false, out);
    ss_text_add(out, "\n");
    if (f->apart || f->only_streamed)
        add_line(f, true, out);
    ss_text_add(out, "\n");
    for (uint32_t i = 0; i < f->rows; i++) {
        const ss_fit_row *r = &f->row[i];
        add_row(out, kind_of(f, r), r->sample.bytes, r->sample.seconds, 1 / (1 + r->error));
    }
    ss_status s = add_note(f, out, err);
    return s ? s : ss_text_status(out, err);
}

ss_status ss_plot_calibration(const ss_fit *f, const char *name, const char *path,
                              const ss_plot_options *o, ss_error *err)
{
    ss_text table = {0};
    ss_status s = ss_plot_check("calibration", path, o, err);
    if (!s)
        s = ss_plot_calibration_data(f, name, &table, err);
    if (!s)
        s = ss_plot_draw("calibration", &table, path, o, err);
    ss_text_free(&table);
    return s;
}
