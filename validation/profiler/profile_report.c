/* profile_report.c - what a profile says to a person, and as JSON. */
#include <string.h>

#include "base/units.h"
#include "validation/profiler/profile.h"

static const char *show(double seconds, char *buffer)
{
    return ss_format_quantity(seconds, SS_UNIT_SECONDS, buffer, SS_QUANTITY_TEXT);
}

static void add_head(const ss_profile *p, ss_text *out)
{
    ss_text_add(out, "profile of %u row%s: %s, %s, %s inputs, %s", p->rows, ss_plural(p->rows),
                p->device_kind, p->version, p->inputs, p->element);
    ss_text_add(out, "\n  %s%s%s, %llu core%s, %s\n", p->processor, *p->processor ? ", " : "",
                p->machine, (unsigned long long)p->cores, ss_plural(p->cores), p->wallclock);
}

/* What tells one operator of a kind from another is in the shape, but for some attributes. */
static int width_of(const ss_profile *p, size_t least, const char *(*text)(const ss_profile_row *r))
{
    size_t most = least;
    for (uint32_t i = 0; i < p->rows; i++)
        most = strlen(text(&p->row[i])) > most ? strlen(text(&p->row[i])) : most;
    return (int)most;
}

static const char *kind_of(const ss_profile_row *r)
{
    return r->m.kind;
}

static const char *shape_of(const ss_profile_row *r)
{
    return r->m.shape;
}

static const char *attributes_of(const ss_profile_row *r)
{
    return r->m.attributes;
}

ss_status ss_profile_report_text(const ss_profile *p, ss_text *out, ss_error *err)
{
    int kind = width_of(p, 4, kind_of), shape = width_of(p, 5, shape_of);
    int attributes = width_of(p, 0, attributes_of);
    char median[SS_QUANTITY_TEXT], low[SS_QUANTITY_TEXT], high[SS_QUANTITY_TEXT];
    attributes = attributes && attributes < 10 ? 10 : attributes;
    add_head(p, out);
    if (p->rows)
        ss_text_add(out, "  %-*s  %-*s  %-15s %10s %10s %10s %8s %7s %8s%s%s\n", kind, "kind",
                    shape, "shape", "phase", "median", "5 %", "95 %", "spread", "samples",
                    "outliers", attributes ? "  " : "", attributes ? "attributes" : "");
    for (uint32_t i = 0; i < p->rows; i++) {
        const ss_profile_row *r = &p->row[i];
        ss_text_add(out, "  %-*s  %-*s  %-15s %10s %10s %10s %6.1f %% %7u %8u%s%s\n", kind,
                    r->m.kind, shape, r->m.shape, ss_phase_name(r->m.phase),
                    show(r->s.median, median), show(r->s.q05, low), show(r->s.q95, high),
                    r->s.median > 0 ? 100 * r->s.deviation / r->s.median : 0, r->s.n, r->s.outliers,
                    *r->m.attributes ? "  " : "", r->m.attributes);
    }
    return ss_text_status(out, err);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void add_string(const char *name, const char *value, const char *before, ss_text *out)
{
    ss_text_add(out, "%s\"%s\": ", before, name);
    ss_text_add_json_string(out, value);
}

static void add_row(const ss_profile_row *r, ss_text *out)
{
    const struct {
        const char *name;
        double value;
    } number[] = {
        {"median_s", r->s.median}, {"mean_s", r->s.mean},   {"deviation_s", r->s.deviation},
        {"q05_s", r->s.q05},       {"q25_s", r->s.q25},     {"q75_s", r->s.q75},
        {"q95_s", r->s.q95},       {"least_s", r->s.least}, {"most_s", r->s.most}};
    add_string("kind", r->m.kind, "  {", out);
    add_string("attributes", r->m.attributes, ", ", out);
    add_string("shape", r->m.shape, ", ", out);
    add_string("dtype", r->m.dtype, ", ", out);
    add_string("phase", ss_phase_name(r->m.phase), ", ", out);
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
        ss_text_add(out, ", \"%s\": %.9g", number[i].name, number[i].value);
    ss_text_add(out, ", \"outliers\": %u, \"samples_s\": [", r->s.outliers);
    for (uint32_t k = 0; k < r->s.n; k++)
        ss_text_add(out, "%s%.9g", k ? ", " : "", r->sample[k]);
    ss_text_add(out, "]}");
}

ss_status ss_profile_report_json(const ss_profile *p, ss_text *out, ss_error *err)
{
    add_string("device_kind", p->device_kind, "{", out);
    add_string("library", p->version, ", ", out);
    add_string("machine", p->machine, ", ", out);
    add_string("processor", p->processor, ", ", out);
    add_string("inputs", p->inputs, ", ", out);
    add_string("element_type", p->element, ", ", out);
    add_string("wallclock", p->wallclock, ", ", out);
    ss_text_add(out, ", \"cores\": %llu, \"rounds\": %llu, \"rows\": [",
                (unsigned long long)p->cores, (unsigned long long)p->rounds);
    for (uint32_t i = 0; i < p->rows; i++) {
        ss_text_add(out, i ? ",\n" : "\n");
        add_row(&p->row[i], out);
    }
    ss_text_add(out, "]}\n");
    return ss_text_status(out, err);
}
