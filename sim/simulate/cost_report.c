/* How the times came about: a page of all of them, and a line of one simulation's. */
#include <string.h>

#include "simulate/cost_inside.h"

static void report_source(const ss_cost_slot *slot, ss_text *out)
{
    const ss_cost_source *s = slot->is;
    if (s->sort == SS_COST_GIVEN)
        ss_text_add(out, "  given times of %u operator%s", ss_cost_given_names(s->given)->n,
                    ss_plural(ss_cost_given_names(s->given)->n));
    else if (s->sort == SS_COST_TABLE)
        ss_text_add(out, "  table %s of %u time%s", ss_cost_table_name(s->table),
                    ss_cost_table_rows(s->table), ss_plural(ss_cost_table_rows(s->table)));
    else
        ss_text_add(out, "  roofline");
    if (slot->scale != 1)
        ss_text_add(out, ", times %g", slot->scale);
    if (slot->correction)
        ss_text_add(out, ",");
    if (slot->correction)
        ss_correction_say(slot->correction, out);
    if (slot->correction && slot->after != 1)
        ss_text_add(out, ", that times %g", slot->after);
    ss_text_add(out, ": %llu answered", (unsigned long long)(slot->exact + slot->interpolated));
    if (s->sort == SS_COST_TABLE)
        ss_text_add(out, ", of them %llu interpolated", (unsigned long long)slot->interpolated);
    ss_text_add(out, "\n");
}

/* The constants in force for every kind of device that was asked about. */
static void report_constants(const ss_costs *c, const ss_cost_roofline *r, ss_text *out)
{
    char launch[SS_QUANTITY_TEXT], half[SS_QUANTITY_TEXT];
    for (uint32_t i = 1; i <= c->memo.devices; i++) {
        const char *kind = c->memo.device[i].kind;
        bool before = false;
        for (uint32_t k = 1; k < i; k++)
            before = before || !strcmp(c->memo.device[k].kind, kind);
        if (before)
            continue;
        ss_roofline x = ss_cost_roofline_for(r, kind);
        ss_text_add(out,
                    "    %s: launch %s; of peak %.3g %% products, %.3g %% convolutions forward, "
                    "%.3g %% backward, half of it at %s; of memory bandwidth %.3g %% operands, "
                    "%.3g %% streams\n      %s\n",
                    kind, ss_format_quantity(x.launch_s, SS_UNIT_SECONDS, launch, sizeof launch),
                    100 * x.flop_efficiency, 100 * x.conv_efficiency,
                    100 * x.conv_backward_efficiency,
                    ss_format_quantity(x.half_flop, SS_UNIT_FLOP, half, sizeof half),
                    100 * x.operand_efficiency, 100 * x.memory_efficiency, x.source);
    }
}

/* What a table did not know, and why: left to the next source, or missing. */
static void report_unknown(const ss_cost_slot *slot, ss_text *out)
{
    if (!slot->unknowns)
        return;
    ss_text_add(out, "    did not know %llu part%s:\n", (unsigned long long)slot->unknowns,
                ss_plural(slot->unknowns));
    for (uint32_t i = 1; i <= slot->unknown.n; i++)
        ss_text_add(out, "      %s\n", ss_names_text(&slot->unknown, i));
    if (slot->unknowns > slot->unknown.n)
        ss_text_add(out, "      and %llu more\n",
                    (unsigned long long)(slot->unknowns - slot->unknown.n));
}

static void report_unasked(const ss_cost_given *g, ss_text *out)
{
    const ss_names *names = ss_cost_given_names(g);
    for (uint32_t i = 1; i <= names->n; i++)
        if (!ss_cost_given_asked(g, i))
            ss_text_add(out, "  nobody asked for the given time of %s\n", ss_names_text(names, i));
}

ss_status ss_costs_report(const ss_costs *c, ss_text *out, ss_error *err)
{
    ss_text_add(out, "costs: %llu parts asked for, %llu of them new", (unsigned long long)c->asked,
                (unsigned long long)c->fresh);
    if (c->scale != 1)
        ss_text_add(out, ", all of them times %g", c->scale);
    ss_text_add(out, "\n");
    for (uint32_t i = 0; i < c->sources; i++) {
        const ss_cost_source *s = c->source[i].is;
        report_source(&c->source[i], out);
        report_unknown(&c->source[i], out);
        if (s->sort == SS_COST_GIVEN)
            report_unasked(s->given, out);
        if (s->sort == SS_COST_ROOFLINE)
            report_constants(c, s->roofline, out);
    }
    if (c->missing.n)
        ss_text_add(out, "  not known: %u\n", c->missing.n);
    for (uint32_t i = 1; i <= c->missing.n; i++)
        ss_text_add(out, "    %s\n", ss_names_text(&c->missing, i));
    return ss_text_status(out, err);
}

/* --- one line -------------------------------------------------------------------------------- */

static void say_source(const ss_costs *c, const ss_cost_slot *slot, ss_text *out)
{
    const ss_cost_source *s = slot->is;
    double after = c->scale * (slot->correction ? slot->after : slot->scale);
    double scale = slot->correction ? slot->scale : after;
    if (s->sort == SS_COST_GIVEN)
        ss_text_add(out, "given times");
    else if (s->sort == SS_COST_TABLE)
        ss_text_add(out, "table %s", ss_cost_table_name(s->table));
    else
        ss_cost_roofline_say(s->roofline, out);
    if (scale != 1)
        ss_text_add(out, " scaled by %g", scale);
    if (slot->correction)
        ss_correction_say(slot->correction, out);
    if (slot->correction && after != 1)
        ss_text_add(out, ", that scaled by %g", after);
}

void ss_costs_count(ss_costs *c)
{
    for (uint32_t i = 0; i < c->sources; i++)
        c->source[i].told = 0;
}

ss_status ss_costs_say(const ss_costs *c, ss_text *out, ss_text *notes, ss_error *err)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < c->sources; i++)
        all += c->source[i].told;
    for (uint32_t i = 0; i < c->sources; i++) {
        const ss_cost_slot *slot = &c->source[i];
        ss_text_add(out, i ? ", " : "");
        say_source(c, slot, out);
        if (c->sources > 1 && i + 1 == c->sources && slot->told)
            ss_text_add(out, " for the rest");
        else if (c->sources > 1 && all)
            ss_text_add(out, " (%llu of %llu parts)", (unsigned long long)slot->told,
                        (unsigned long long)all);
        if (slot->is->sort == SS_COST_TABLE && all && !slot->told && slot->unknown.n)
            ss_text_add(notes, "table %s answered for none of %llu parts; the first was %s\n",
                        ss_cost_table_name(slot->is->table), (unsigned long long)all,
                        ss_names_text(&slot->unknown, 1));
    }
    ss_status s = ss_text_status(out, err);
    return s ? s : ss_text_status(notes, err);
}
