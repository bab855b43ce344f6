/* report.c - what a trace says to a person, and as JSON. */
#include <string.h>

#include "base/units.h"
#include "validation/torch/trace.h"

static const char *show(double seconds, char *buffer)
{
    return ss_format_quantity(seconds, SS_UNIT_SECONDS, buffer, SS_QUANTITY_TEXT);
}

static double share(const ss_torch_trace *t, double seconds)
{
    return t->total_s > 0 ? 100 * seconds / t->total_s : 0;
}

/* "linear forward", or why it is none of ours. */
static void add_what(const ss_torch_row *r, ss_text *out)
{
    if (r->kind)
        ss_text_add(out, "%s %s", r->kind, ss_phase_name(r->phase));
    else
        ss_text_add(out, "- %s", r->why);
}

static void add_head(const ss_torch_trace *t, ss_text *out)
{
    char total[SS_QUANTITY_TEXT];
    ss_text_add(out, "trace %s: %llu call%s of operators, %s%s%s\n", t->path,
                (unsigned long long)t->operators, ss_plural(t->operators),
                *t->device ? t->device : "no device named", t->several ? " and others" : "",
                t->of_device ? ""
                             : ", no kernels: times are of the host, each without what it calls");
    ss_text_add(out, "  %s in all", show(t->total_s, total));
    if (t->of_device)
        ss_text_add(out, " in %llu kernel%s and copies", (unsigned long long)t->works,
                    ss_plural(t->works));
    ss_text_add(out, "; %.1f %% is of operators of ours, %.1f %% of others", share(t, t->mapped_s),
                share(t, t->total_s - t->mapped_s - t->untied_s));
    if (t->untied_s > 0)
        ss_text_add(out, ", %.1f %% was launched by no operator", share(t, t->untied_s));
    ss_text_add(out, "\n");
}

static int width_of(const ss_torch_trace *t, uint32_t n, bool shapes)
{
    size_t most = shapes ? 6 : 8;
    for (uint32_t i = 0; i < n; i++) {
        size_t length = strlen(shapes ? t->row[i].shapes : t->row[i].name);
        most = length > most ? length : most;
    }
    return most < 48 ? (int)most : 48;
}

static void add_cut(ss_text *out, const char *text, int width)
{
    if (strlen(text) <= (size_t)width)
        ss_text_add(out, "%-*s", width, text);
    else
        ss_text_add(out, "%.*s...", width - 3, text);
}

static bool alike(const ss_torch_row *a, const ss_torch_row *b)
{
    return !a->kind && !b->kind && !strcmp(a->name, b->name) && !strcmp(a->why, b->why);
}

/* What is none of ours, by name and reason: all of it, however short the table above is. */
static void add_others(const ss_torch_trace *t, ss_text *out)
{
    bool any = false;
    for (uint32_t i = 0; i < t->rows; i++) {
        double sum = 0;
        bool before = t->row[i].kind != NULL;
        for (uint32_t k = 0; k < i && !before; k++)
            before = alike(&t->row[k], &t->row[i]);
        for (uint32_t k = i; k < t->rows && !before; k++)
            sum += alike(&t->row[k], &t->row[i]) ? t->row[k].total_s : 0;
        if (before)
            continue;
        ss_text_add(out, "%s    %5.1f %%  %s: %s\n", any ? "" : "  of no operator of ours:\n",
                    share(t, sum), t->row[i].name, t->row[i].why);
        any = true;
    }
}

ss_status ss_torch_trace_text(const ss_torch_trace *t, uint32_t most, ss_text *out, ss_error *err)
{
    uint32_t n = most && most < t->rows ? most : t->rows;
    int name = width_of(t, n, false), shapes = width_of(t, n, true);
    char total[SS_QUANTITY_TEXT], median[SS_QUANTITY_TEXT], low[SS_QUANTITY_TEXT],
        high[SS_QUANTITY_TEXT];
    double rest = 0;
    add_head(t, out);
    ss_text_add(out, "  %-*s  %-*s  %6s %10s %7s %10s %10s %10s  %s\n", name, "operator", shapes,
                "shapes", "calls", "total", "share", "median", "5 %", "95 %", "is");
    for (uint32_t i = 0; i < n; i++) {
        const ss_torch_row *r = &t->row[i];
        ss_text_add(out, "  ");
        add_cut(out, r->name, name);
        ss_text_add(out, "  ");
        add_cut(out, r->shapes, shapes);
        ss_text_add(out, "  %6u %10s %5.1f %% %10s %10s %10s  ", r->s.n, show(r->total_s, total),
                    share(t, r->total_s), show(r->s.median, median), show(r->s.q05, low),
                    show(r->s.q95, high));
        add_what(r, out);
        ss_text_add(out, "\n");
    }
    for (uint32_t i = n; i < t->rows; i++)
        rest += t->row[i].total_s;
    if (n < t->rows)
        ss_text_add(out, "  and %u more with %.1f %%\n", t->rows - n, share(t, rest));
    add_others(t, out);
    return ss_text_status(out, err);
}

/* ---- JSON ---------------------------------------------------------------------------------------------------- */

static void add_string(const char *name, const char *value, const char *before, ss_text *out)
{
    ss_text_add(out, "%s\"%s\": ", before, name);
    if (value)
        ss_text_add_json_string(out, value);
    else
        ss_text_add(out, "null");
}

static void add_statistics(const ss_statistics *s, ss_text *out)
{
    ss_text_add(
        out,
        ", \"calls\": %u, \"median_s\": %.9g, \"mean_s\": %.9g, \"deviation_s\": %.9g, \"q05_s\": "
        "%.9g, "
        "\"q25_s\": %.9g, \"q75_s\": %.9g, \"q95_s\": %.9g, \"least_s\": %.9g, \"most_s\": %.9g}",
        s->n, s->median, s->mean, s->deviation, s->q05, s->q25, s->q75, s->q95, s->least, s->most);
}

static void add_row(const ss_torch_trace *t, const ss_torch_row *r, ss_text *out)
{
    add_string("operator", r->name, "  {", out);
    add_string("shapes", r->shapes, ", ", out);
    add_string("types", r->types, ", ", out);
    add_string("kind", r->kind, ", ", out);
    add_string("phase", r->kind ? ss_phase_name(r->phase) : NULL, ", ", out);
    add_string("why", r->kind ? NULL : r->why, ", ", out);
    ss_text_add(out, ", \"total_s\": %.9g, \"share\": %.6g", r->total_s,
                share(t, r->total_s) / 100);
    add_statistics(&r->s, out);
}

static void add_part(const ss_torch_part *p, ss_text *out)
{
    add_string("kind", p->kind, "  {", out);
    add_string("attributes", p->attributes, ", ", out);
    add_string("shape", p->shape, ", ", out);
    add_string("dtype", ss_dtype_name(p->dtype), ", ", out);
    add_string("phase", ss_phase_name(p->phase), ", ", out);
    add_statistics(&p->s, out);
}

ss_status ss_torch_trace_json(const ss_torch_trace *t, ss_text *out, ss_error *err)
{
    add_string("file", t->path, "{", out);
    add_string("device", *t->device ? t->device : NULL, ", ", out);
    add_string("times", t->of_device ? "device" : "host", ", ", out);
    ss_text_add(out,
                ", \"operators\": %llu, \"kernels\": %llu, \"total_s\": %.9g, \"mapped_s\": %.9g, "
                "\"untied_s\": %.9g, "
                "\"rows\": [",
                (unsigned long long)t->operators, (unsigned long long)t->works, t->total_s,
                t->mapped_s, t->untied_s);
    for (uint32_t i = 0; i < t->rows; i++) {
        ss_text_add(out, i ? ",\n" : "\n");
        add_row(t, &t->row[i], out);
    }
    ss_text_add(out, "], \"parts\": [");
    for (uint32_t i = 0; i < t->parts; i++) {
        ss_text_add(out, i ? ",\n" : "\n");
        add_part(&t->part[i], out);
    }
    ss_text_add(out, "]}\n");
    return ss_text_status(out, err);
}
