/* Strategies for a person. */

#include <string.h>

#include "io/strategy_file.h"

enum { MOST_TOKENS = 12, NAME_COLUMN = 34, DEGREES_COLUMN = 20 };

static void add_degrees(const ss_strategy *s, uint32_t op, ss_text *out)
{
    const ss_op_def *def = s->model->op[op].def;
    const char *comma = "";
    for (uint32_t d = 0; d < def->out[0].rank; d++) {
        if (s->config[op].degree[d] == 1)
            continue;
        ss_text_add(out, "%s%s %u", comma, def->dim[d].name, s->config[op].degree[d]);
        comma = ", ";
    }
    if (!*comma)
        ss_text_add(out, "whole");
}

/* How many parts from k on have devices that count up (or, with step 0, are the same). */
static uint32_t run_length(const ss_config *c, uint32_t k, uint32_t step)
{
    uint32_t n = 1;
    while (k + n < c->parts && c->device[k + n].i == c->device[k + n - 1].i + step)
        n++;
    return n;
}

/* "1-8", "3", "2 x4" (four parts on device 2), "1-4, 1-4, 7". */
static void add_devices(const ss_config *c, ss_text *out)
{
    uint32_t tokens = 0;
    for (uint32_t k = 0; k < c->parts;) {
        const char *comma = k ? ", " : "";
        if (tokens++ == MOST_TOKENS) {
            ss_text_add(out, "%s... (%u parts)", comma, c->parts);
            return;
        }
        uint32_t up = run_length(c, k, 1), same = run_length(c, k, 0);
        if (same > 1)
            ss_text_add(out, "%s%u x%u", comma, c->device[k].i, same);
        else if (up > 1)
            ss_text_add(out, "%s%u-%u", comma, c->device[k].i, c->device[k + up - 1].i);
        else
            ss_text_add(out, "%s%u", comma, c->device[k].i);
        k += same > 1 ? same : up;
    }
}

static void add_pins(const ss_strategy *s, uint32_t op, ss_text *out)
{
    const ss_op_def *def = s->model->op[op].def;
    const char *comma = "";
    if (s->pin[op] == SS_PIN_ALL) {
        ss_text_add(out, "all");
        return;
    }
    if (s->pin[op] & SS_PIN_DEGREES) {
        ss_text_add(out, "degrees");
        comma = ", ";
    }
    if (s->pin[op] & SS_PIN_DEVICES) {
        ss_text_add(out, "%sdevices", comma);
        comma = ", ";
    }
    for (uint32_t d = 0; d < def->out[0].rank; d++)
        if (s->pin_degree[op][d]) {
            ss_text_add(out, "%s%s", comma, def->dim[d].name);
            comma = ", ";
        }
}

void ss_config_text(const ss_strategy *s, ss_op op, ss_text *out)
{
    add_degrees(s, op.i, out);
    ss_text_add(out, " on ");
    add_devices(&s->config[op.i], out);
}

/* ---------------------------------------------------------------------------------------- table */

static void pad(ss_text *out, uint32_t from, uint32_t width)
{
    do
        ss_text_add_bytes(out, " ", 1);
    while (!out->failed && out->n < from + width);
}

/* All of an operator's line but its name. */
static void add_row(const ss_strategy *s, uint32_t op, ss_text *out)
{
    uint32_t from = out->n;
    add_degrees(s, op, out);
    pad(out, from, DEGREES_COLUMN);
    add_devices(&s->config[op], out);
    uint32_t before = out->n;
    ss_text_add(out, "  pinned: ");
    uint32_t bare = out->n;
    add_pins(s, op, out);
    if (out->n == bare && !out->failed) {
        out->n = before;
        out->at[before] = 0;
    }
}

static bool alike(const ss_strategy *s, uint32_t i, uint32_t k, ss_text *a, ss_text *b)
{
    ss_text_clear(a);
    ss_text_clear(b);
    add_row(s, i, a);
    add_row(s, k, b);
    return !a->failed && !b->failed && !strcmp(ss_text_get(a), ss_text_get(b)) &&
           ss_config_same(&s->config[i], &s->config[k]);
}

ss_status ss_strategy_print(const ss_strategy *s, ss_text *out, ss_error *err)
{
    uint64_t parts = 0;
    for (uint32_t i = 1; i <= s->ops; i++)
        parts += s->config[i].parts;
    ss_text_add(out, "strategy of %s on %s: %u operator%s in %llu part%s on %u device%s\n",
                s->model->name, s->topology->name, s->ops, ss_plural(s->ops),
                (unsigned long long)parts, ss_plural(parts), s->topology->devices,
                ss_plural(s->topology->devices));
    ss_text a = {0}, b = {0};
    for (uint32_t i = 1, next; i <= s->ops; i = next) {
        for (next = i + 1; next <= s->ops && alike(s, i, next, &a, &b);)
            next++;
        uint32_t from = out->n;
        ss_text_add(out, "  %s", s->model->op[i].name);
        if (next - i > 1)
            ss_text_add(out, " .. %s (%u)", s->model->op[next - 1].name, next - i);
        pad(out, from, NAME_COLUMN);
        add_row(s, i, out);
        ss_text_add(out, "\n");
    }
    out->failed |= a.failed || b.failed;
    ss_text_free(&a);
    ss_text_free(&b);
    return ss_text_status(out, err);
}

/* -------------------------------------------------------------------------------------- compare */

static uint32_t compare_op(const ss_strategy *a, ss_op i, const ss_strategy *b, ss_text *out)
{
    const char *name = a->model->op[i.i].name;
    ss_op k = {ss_names_find(&b->model->op_names, name)};
    if (!k.i || k.i > b->ops) {
        ss_text_add(out, "  %s: only in the first, ", name);
        ss_config_text(a, i, out);
        ss_text_add(out, "\n");
        return 1;
    }
    if (ss_config_same(&a->config[i.i], &b->config[k.i]))
        return 0;
    ss_text_add(out, "  %s: ", name);
    ss_config_text(a, i, out);
    ss_text_add(out, " -> ");
    ss_config_text(b, k, out);
    ss_text_add(out, "\n");
    return 1;
}

ss_status ss_strategy_diff(const ss_strategy *a, const ss_strategy *b, ss_text *out,
                           uint32_t *differ, ss_error *err)
{
    uint32_t lines = 0, only = 0;
    ss_text list = {0};
    for (uint32_t i = 1; i <= a->ops; i++)
        lines += compare_op(a, (ss_op){i}, b, &list);
    for (uint32_t k = 1; k <= b->ops; k++) {
        uint32_t i = ss_names_find(&a->model->op_names, b->model->op[k].name);
        if (i && i <= a->ops)
            continue;
        ss_text_add(&list, "  %s: only in the second, ", b->model->op[k].name);
        ss_config_text(b, (ss_op){k}, &list);
        ss_text_add(&list, "\n");
        only++;
    }
    lines += only;
    ss_text_add(out, "%u of %u operators differ\n", lines, a->ops + only);
    ss_text_add_bytes(out, ss_text_get(&list), list.n);
    out->failed |= list.failed;
    ss_text_free(&list);
    if (differ)
        *differ = lines;
    return ss_text_status(out, err);
}
