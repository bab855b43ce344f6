/* cost_roofline.c - times from arithmetic and bytes as a source of costs: constants that replace the built-in ones, and answers.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "graph/catalog.h"
#include "simulate/cost_sources.h"

struct ss_cost_roofline {
    ss_roofline *override; /* in the order given; texts are the source's own */
    uint32_t n, cap;
    ss_names texts;
};

ss_status ss_cost_roofline_new(ss_cost_roofline **out, ss_error *err)
{
    *out = ss_alloc_zeroed(1, sizeof **out);
    return *out ? SS_OK : ss_fail_memory(err, "a roofline", sizeof **out);
}

void ss_cost_roofline_free(ss_cost_roofline *r)
{
    if (!r)
        return;
    ss_free(r->override);
    ss_names_free(&r->texts);
    ss_free(r);
}

static const char *whose(const char *kind)
{
    return !strcmp(kind, "*") ? "every kind of device" : kind;
}

static ss_status refuse_constants(const ss_roofline *r, ss_error *err)
{
    if (!r->kind || !*r->kind)
        return ss_fail(err, SS_EINVAL, "a roofline needs the device kind it is for, or \"*\"");
    for (int i = 0; i < SS_ROOFLINE_CONSTANTS; i++) {
        const ss_roofline_constant *x = ss_roofline_describe(i);
        double value = ss_roofline_get(r, i);
        if (!isnan(value) && !(value >= x->least && value <= x->most))
            return ss_fail(err, SS_EINVAL, "roofline of %s: %s is %g; it must be %g to %g", whose(r->kind), x->noun,
                           value, x->least, x->most);
    }
    return SS_OK;
}

ss_status ss_cost_roofline_add(ss_cost_roofline *r, const ss_roofline *override, ss_error *err)
{
    ss_status s = refuse_constants(override, err);
    for (uint32_t i = 0; !s && i < r->n; i++)
        if (!strcmp(r->override[i].kind, override->kind))
            return ss_fail(err, SS_EINVAL, "roofline of %s: it was given before",
                           whose(override->kind));
    uint32_t kind, source;
    if (!s)
        s = SS_RESERVE(r->override, r->cap, (size_t)r->n + 1, "rooflines", err);
    if (!s)
        s = ss_names_add(&r->texts, override->kind, &kind, err);
    if (!s)
        s = ss_names_add(&r->texts, override->source ? override->source : "given by the script",
                         &source, err);
    if (s)
        return s;
    ss_roofline *row = &r->override[r->n++];
    *row = *override;
    row->kind = ss_names_text(&r->texts, kind);
    row->source = ss_names_text(&r->texts, source);
    return SS_OK;
}

static void lay_over(ss_roofline *below, const ss_roofline *above)
{
    for (int i = 0; i < SS_ROOFLINE_CONSTANTS; i++)
        if (!isnan(ss_roofline_get(above, i)))
            ss_roofline_set(below, i, ss_roofline_get(above, i));
    below->source = above->source;
}

ss_roofline ss_cost_roofline_for(const ss_cost_roofline *r, const char *kind)
{
    ss_roofline constants = *ss_roofline_builtin(kind);
    for (uint32_t i = 0; r && i < r->n; i++)
        if (!strcmp(r->override[i].kind, "*"))
            lay_over(&constants, &r->override[i]);
    for (uint32_t i = 0; r && i < r->n; i++)
        if (strcmp(kind, "*") != 0 && !strcmp(r->override[i].kind, kind))
            lay_over(&constants, &r->override[i]);
    return constants;
}

/* A kind that is nobody's may be a slip of the pen. */
static void say_what_lacks(const ss_device_def *device, const char *what, ss_cost_answer *answer)
{
    const char *known[64], *near = NULL;
    uint32_t n;
    const ss_device_kind *kinds = ss_device_kinds(&n);
    for (uint32_t i = 0; i < n && i < 64; i++)
        known[i] = kinds[i].def.kind;
    if (!ss_device_kind_find(device->kind))
        near = ss_nearest(device->kind, known, n < 64 ? n : 64);
    snprintf(answer->why_not, sizeof answer->why_not, "%s has no %s%s%s%s", device->kind, what,
             near ? "; was " : "", near ? near : "", near ? " meant?" : "");
}

/* "peak for bf16, only for f32, f16: ..." */
static void name_peak(const ss_device_def *device, ss_dtype dtype, char *what, size_t n)
{
    int used = snprintf(what, n, "peak for %s", ss_dtype_name(dtype)), found = 0;
    for (int d = 0; d < SS_DTYPES && used > 0 && (size_t)used < n; d++)
        if (device->flop_per_s[d] > 0)
            used += snprintf(what + used, n - (size_t)used, "%s%s", found++ ? ", " : ", only for ",
                             ss_dtype_name((ss_dtype)d));
    if (found && used > 0 && (size_t)used < n)
        snprintf(what + used, n - (size_t)used, ": choose the model's dtype or another device");
}

void ss_cost_roofline_ask(const ss_cost_roofline *r, const ss_cost_part *part,
                          ss_cost_answer *answer)
{
    ss_roofline_work work = ss_roofline_work_of(part->op, part->phase, part->input_gradient, part->main);
    *answer = (ss_cost_answer){0};
    if (!(work.flops > 0) && !(work.bytes > 0)) {
        answer->found = SS_COST_EXACT;
        return;
    }
    ss_dtype dtype = part->op->out[0].dtype;
    double peak = ss_roofline_peak(part->device, dtype), bandwidth = part->device->memory_bytes_per_s;
    if (work.flops > 0 && !(peak > 0)) {
        char what[120];
        name_peak(part->device, dtype, what, sizeof what);
        say_what_lacks(part->device, what, answer);
        return;
    }
    if (work.bytes > 0 && !(bandwidth > 0)) {
        say_what_lacks(part->device, "memory bandwidth", answer);
        return;
    }
    ss_roofline c = ss_cost_roofline_for(r, part->device->kind);
    answer->found = SS_COST_EXACT;
    answer->seconds = ss_roofline_seconds(&c, &work, peak, bandwidth);
}

double ss_cost_roofline_bound(const ss_cost_roofline *r, const ss_cost_part *part, double seconds)
{
    ss_roofline_work work = ss_roofline_work_of(part->op, part->phase, part->input_gradient, part->main);
    ss_roofline c = ss_cost_roofline_for(r, part->device->kind);
    if (!(part->device->memory_bytes_per_s > 0) || !(seconds > 0))
        return 0;
    double reached = ss_roofline_get(&c, ss_roofline_moves_by(work.sort));
    return fmin(1, work.bytes / (part->device->memory_bytes_per_s * reached) / seconds);
}

static void say_constants(const ss_roofline *o, ss_text *out)
{
    char text[SS_QUANTITY_TEXT];
    const char *before = "";
    for (int i = 0; i < SS_ROOFLINE_CONSTANTS; i++) {
        const ss_roofline_constant *x = ss_roofline_describe(i);
        double value = ss_roofline_get(o, i);
        if (isnan(value))
            continue;
        ss_text_add(out, "%s %s ", before, x->name);
        before = ",";
        if (x->unit == SS_UNIT_NONE)
            ss_text_add(out, "%g", value);
        else
            ss_text_add(out, "%s", ss_format_quantity(value, x->unit, text, sizeof text));
    }
    if (strcmp(o->kind, "*") != 0)
        ss_text_add(out, " of %s", o->kind);
}

const char *ss_cost_roofline_kind(const ss_cost_roofline *r, uint32_t i)
{
    return i < r->n ? r->override[i].kind : NULL;
}

void ss_cost_roofline_say(const ss_cost_roofline *r, ss_text *out)
{
    ss_text_add(out, "roofline");
    for (uint32_t i = 0; i < r->n; i++) {
        ss_text_add(out, i ? " and" : " with");
        say_constants(&r->override[i], out);
    }
}

uint64_t ss_cost_roofline_hash(const ss_cost_roofline *r, uint64_t h)
{
    h = ss_hash_u64(h, r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        const ss_roofline *o = &r->override[i];
        h = ss_hash_text(h, o->kind);
        for (int k = 0; k < SS_ROOFLINE_CONSTANTS; k++)
            h = ss_hash_double(h, ss_roofline_get(o, k));
    }
    return h;
}
