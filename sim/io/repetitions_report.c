#include "io/repetitions_report.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "io/report.h"

/* Of a page for a person: so many pairs at most, in the order of the strategies. */
enum { PAIRS = 15, NAME = 24 };

/* ---- a page ------------------------------------------------------------------------------- */

static const char *time_text(double seconds, char b[SS_QUANTITY_TEXT])
{
    return isnan(seconds) ? "-" : ss_format_quantity(seconds, SS_UNIT_SECONDS, b, SS_QUANTITY_TEXT);
}

static void add_strategy(const ss_spread *s, const char *name, ss_text *out)
{
    char mean[SS_QUANTITY_TEXT], half[SS_QUANTITY_TEXT], q[3][SS_QUANTITY_TEXT];
    static const double p[3] = {0.05, 0.5, 0.95};
    ss_text_add(out, "  ");
    ss_report_add_name(out, name, NAME, true);
    ss_text_add(out, " %10s %10s %6.2f%%", time_text(s->mean, mean),
                time_text(s->mean_high - s->mean, half),
                s->n > 1 && s->mean > 0 ? 100 * s->deviation / s->mean : 0);
    for (int i = 0; i < 3; i++)
        ss_text_add(out, " %10s", time_text(ss_spread_quantile(s, p[i]), q[i]));
    ss_text_add(out, "\n");
}

static void add_signed(double seconds, ss_text *out)
{
    char b[SS_QUANTITY_TEXT], text[SS_QUANTITY_TEXT + 1] = "-";
    if (isnan(seconds)) {
        ss_text_add(out, " %11s", "-");
        return;
    }
    size_t sign = seconds < 0;
    strcpy(text + sign, time_text(fabs(seconds), b));
    ss_text_add(out, " %11s", text);
}

static void add_pair(const ss_repetitions *r, uint32_t pair, const char *const *name, ss_text *out)
{
    const ss_paired *p = &r->pair[pair];
    uint32_t a, b;
    ss_repetitions_pair(r, pair, &a, &b);
    ss_text both = {0};
    ss_text_add(&both, "%s - %s", name[a], name[b]);
    ss_text_add(out, "  ");
    ss_report_add_name(out, ss_text_get(&both), NAME + 10, true);
    add_signed(p->mean, out);
    add_signed(p->low, out);
    add_signed(p->high, out);
    if (isnan(p->correlation))
        ss_text_add(out, "      -");
    else
        ss_text_add(out, " %6.3f", p->correlation);
    ss_text_add(out, " %5.1f%% %5.1f%%\n", 100.0 * p->first_less / r->n,
                100.0 * p->second_less / r->n);
    out->failed |= both.failed;
    ss_text_free(&both);
}

void ss_repetitions_report(const ss_repetitions *r, const char *const *name,
                           const char *assumptions, ss_text *out)
{
    ss_text_add(out, "repetitions %u to %u; intervals of %g%%\n", r->first, r->first + r->n - 1,
                100 * r->confidence);
    ss_text_add(out, "  %-*s %10s %10s %7s %10s %10s %10s\n", NAME, "strategy", "mean", "+-", "cv",
                "5%", "median", "95%");
    for (uint32_t i = 0; i < r->strategies; i++)
        add_strategy(&r->spread[i], name[i], out);
    if (r->pairs)
        ss_text_add(out, "\n  %-*s %11s %11s %11s %6s %6s %6s\n", NAME + 10,
                    "pair, repetition by repetition", "difference", "from", "to", "corr.", "first",
                    "second");
    uint32_t shown = r->pairs < PAIRS ? r->pairs : PAIRS;
    for (uint32_t p = 0; p < shown; p++)
        add_pair(r, p, name, out);
    if (r->pairs > shown)
        ss_text_add(out, "  %u more pair%s\n", r->pairs - shown, r->pairs - shown == 1 ? "" : "s");
    ss_text_add(out, "\n  assumptions  ");
    ss_report_add_wrapped(out, assumptions, 15);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void add_number(const char *key, double x, ss_text *out)
{
    char digits[SS_DOUBLE_TEXT];
    ss_text_add(out, "\"%s\": %s", key,
                isfinite(x) ? ss_format_double(x, digits, sizeof digits) : "null");
}

static void add_interval(const char *key, double low, double high, ss_text *out)
{
    char a[SS_DOUBLE_TEXT], b[SS_DOUBLE_TEXT];
    if (isnan(low))
        ss_text_add(out, ", \"%s\": null", key);
    else
        ss_text_add(out, ", \"%s\": [%s, %s]", key, ss_format_double(low, a, sizeof a),
                    ss_format_double(high, b, sizeof b));
}

static void json_strategy(const ss_repetitions *r, uint32_t i, const char *name, ss_text *out)
{
    const ss_spread *s = &r->spread[i];
    static const double p[5] = {0.05, 0.25, 0.5, 0.75, 0.95};
    static const char *const key[5] = {"p05_s", "p25_s", "median_s", "p75_s", "p95_s"};
    char digits[SS_DOUBLE_TEXT];
    ss_text_add(out, "%s\n    {\"name\": ", i ? "," : "");
    ss_text_add_json_string(out, name);
    ss_text_add(out, ", ");
    add_number("mean_s", s->mean, out);
    ss_text_add(out, ", ");
    add_number("deviation_s", s->deviation, out);
    add_interval("mean_interval_s", s->mean_low, s->mean_high, out);
    add_interval("median_interval_s", s->median_low, s->median_high, out);
    for (int k = 0; k < 5; k++) {
        ss_text_add(out, ", ");
        add_number(key[k], ss_spread_quantile(s, p[k]), out);
    }
    ss_text_add(out, ",\n     \"step_times_s\": [");
    for (uint32_t k = 0; k < r->n; k++)
        ss_text_add(out, "%s%s", k ? ", " : "",
                    ss_format_double(r->seconds[(size_t)i * r->n + k], digits, sizeof digits));
    ss_text_add(out, "]}");
}

static void json_pair(const ss_repetitions *r, uint32_t pair, const char *const *name, ss_text *out)
{
    const ss_paired *p = &r->pair[pair];
    uint32_t a, b;
    ss_repetitions_pair(r, pair, &a, &b);
    ss_text_add(out, "%s\n    {\"first\": ", pair ? "," : "");
    ss_text_add_json_string(out, name[a]);
    ss_text_add(out, ", \"second\": ");
    ss_text_add_json_string(out, name[b]);
    ss_text_add(out, ", ");
    add_number("difference_s", p->mean, out);
    ss_text_add(out, ", ");
    add_number("deviation_s", p->deviation, out);
    add_interval("interval_s", p->low, p->high, out);
    ss_text_add(out, ", ");
    add_number("correlation", p->correlation, out);
    ss_text_add(out, ", \"first_faster\": %u, \"second_faster\": %u}", p->first_less,
                p->second_less);
}

void ss_repetitions_json(const ss_repetitions *r, const char *const *name, const char *assumptions,
                         ss_text *out)
{
    ss_text_add(out, "{\n  \"first\": %u, \"n\": %u, ", r->first, r->n);
    add_number("confidence", r->confidence, out);
    ss_text_add(out, ",\n  \"assumptions\": ");
    ss_text_add_json_string(out, assumptions);
    ss_text_add(out, ",\n  \"strategies\": [");
    for (uint32_t i = 0; i < r->strategies; i++)
        json_strategy(r, i, name[i], out);
    ss_text_add(out, "],\n  \"pairs\": [");
    for (uint32_t p = 0; p < r->pairs; p++)
        json_pair(r, p, name, out);
    ss_text_add(out, "]\n}\n");
}
