/* The text by which a part is found in a table of measured times. */
#include <string.h>

#include "graph/model.h"
#include "simulate/cost_sources.h"

/* How wide the output is; the shape says it too, and for the part. */
static bool says_width(const ss_attr_def *a)
{
    return !strcmp(a->name, "out") || !strcmp(a->name, "hidden") || !strcmp(a->name, "size");
}

/* Counts of equal pieces of the output's channels: a part has as many as its channels make up. */
static bool counts_pieces(const ss_attr_def *a)
{
    return !strcmp(a->name, "heads") || !strcmp(a->name, "groups");
}

static int64_t pieces_of_part(const ss_op_def *op, int64_t pieces, const ss_box *main)
{
    for (uint32_t d = 0; d < main->rank; d++) {
        int64_t whole = op->out[0].extent[d], part = main->hi[d] - main->lo[d];
        if (strcmp(op->dim[d].name, "c") != 0 || part == whole || whole % pieces)
            continue;
        int64_t size = whole / pieces;
        return part / size + (part % size != 0);
    }
    return pieces;
}

static void add_attribute(ss_text *out, const ss_attr_def *a, int64_t value)
{
    char text[SS_ATTR_TEXT];
    ss_text_add(out, "%s%s=%s", out->n ? " " : "", a->name,
                ss_attr_text(a, value, text, sizeof text));
}

static void add_extents(ss_text *out, const ss_box *box)
{
    for (uint32_t d = 0; d < box->rank; d++) {
        int64_t n = box->hi[d] - box->lo[d];
        ss_text_add(out, d ? "x%lld" : "%lld", (long long)(n > 0 ? n : 0));
    }
}

void ss_cost_key(const ss_op_def *op, const ss_box *main, ss_text *attributes, ss_text *shape)
{
    for (uint32_t i = 0; i < ss_op_kind_attrs(op->kind); i++) {
        const ss_attr_def *a = &op->kind->attr[i];
        if (counts_pieces(a))
            add_attribute(attributes, a, pieces_of_part(op, op->attr[i], main));
        else if (!says_width(a))
            add_attribute(attributes, a, op->attr[i]);
    }
    add_extents(shape, main);
    for (uint32_t i = 0; i < op->inputs; i++) {
        ss_box in;
        ss_op_input_box(op, i, main, &in);
        ss_text_add(shape, i ? ", " : " < ");
        add_extents(shape, &in);
    }
}

static ss_status unknown_attribute(const ss_op_kind *kind, const char *name, ss_error *err)
{
    const char *known[SS_MAX_ATTRS];
    uint32_t n = ss_op_kind_attrs(kind);
    for (uint32_t i = 0; i < n; i++)
        known[i] = kind->attr[i].name;
    const char *near = ss_nearest(name, known, n);
    return ss_fail(err, SS_EINVAL, "attribute %s: %s has none of that name%s%s%s", name, kind->name,
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* One "name=value" of n bytes. */
static ss_status read_attribute(const ss_op_kind *kind, const char *at, size_t n, int64_t *attr,
                                uint32_t *seen, ss_error *err)
{
    char word[128];
    if (n >= sizeof word)
        return ss_fail(err, SS_EINVAL, "attribute %.40s...: too long", at);
    memcpy(word, at, n);
    word[n] = 0;
    char *equals = strchr(word, '=');
    if (!equals)
        return ss_fail(err, SS_EINVAL, "attribute %s: name=value is wanted", word);
    *equals = 0;
    uint32_t i = 0;
    while (i < ss_op_kind_attrs(kind) && strcmp(kind->attr[i].name, word) != 0)
        i++;
    if (i == ss_op_kind_attrs(kind))
        return unknown_attribute(kind, word, err);
    if (*seen & 1u << i)
        return ss_fail(err, SS_EINVAL, "attribute %s is there twice", word);
    *seen |= 1u << i;
    return ss_attr_parse(&kind->attr[i], equals + 1, &attr[i], err);
}

ss_status ss_cost_attributes(const ss_op_kind *kind, const char *text, ss_text *canonical,
                             ss_error *err)
{
    ss_op_spec spec = ss_op_spec_start(kind, "");
    uint32_t seen = 0;
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        ss_status s = read_attribute(kind, at, n, spec.attr, &seen, err);
        if (s)
            return s;
        at += n;
    }
    for (uint32_t i = 0; i < ss_op_kind_attrs(kind); i++) {
        const ss_attr_def *a = &kind->attr[i];
        if (says_width(a))
            continue;
        if (spec.attr[i] == SS_ATTR_REQUIRED)
            return ss_fail(err, SS_EINVAL, "attribute %s is missing: %s", a->name, a->help);
        add_attribute(canonical, a, spec.attr[i]);
    }
    return ss_text_status(canonical, err);
}
